/** A contract's fields by path (`items[].name`), and arguments with one of them set. */
import type { JsonSchema } from "../../../shared/connector/schema.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** Fields with a value; an object is represented by its own fields. */
export function fieldsOf(schema: JsonSchema, path = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path ? `${path}.${name}` : name;
    if (field.properties) return fieldsOf(field, here);
    return field.items?.properties ? fieldsOf(field.items, `${here}[]`) : [here];
  });
}

/** A copy with the field set, in the first element of each list on the path; undefined removes it. */
export function withField(args: Json, path: string, value: unknown): Json {
  const [step, ...rest] = path.split(".");
  const name = step!.replace("[]", "");
  if (rest.length === 0) {
    const { [name]: _, ...others } = args ?? {};
    return value === undefined ? others : { ...others, [name]: value };
  }
  const inner = (of: Json) => withField(of, rest.join("."), value);
  const [first, ...more] = step === name ? [] : args?.[name] ?? [];
  return { ...args, [name]: step === name ? inner(args?.[name]) : [inner(first), ...more] };
}
