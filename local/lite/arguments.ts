/**
 * Passes a function's arguments as PostgREST does (`json_to_record`): each argument's type parses its text. lite
 * passes a JSON string unquoted to a jsonb argument, so `"exp_1"` is invalid and `"5"` becomes the number 5. It also
 * fails on numbers for text and on strings for booleans.
 */
import type { Connection } from "@supabase/lite";

/** The part of lite's parsed request that concerns functions. */
interface Call {
  type: string;
  schema?: string;
  function?: string;
  args?: unknown;
}
type Reader = (call: Call, context: unknown) => Promise<Call>;

export function correctArguments(connection: Connection): void {
  const hooked = connection as unknown as { onPostgrestAST: Reader };
  const read = hooked.onPostgrestAST.bind(connection);
  hooked.onPostgrestAST = async (request, context) => {
    const call = await read(request, context);
    if (call.type !== "rpc" || !isRecord(call.args)) return call;
    const types = await typesOf(connection, call);
    const args = Object.entries(call.args).map(([name, value]) => [name, asText(value, types.get(name))]);
    return { ...call, args: Object.fromEntries(args) };
  };
}

async function typesOf(connection: Connection, { schema, function: name }: Call): Promise<Map<string, string>> {
  const { functions } = await connection.introspect({ useCache: true });
  const known = (functions ?? []).filter((one) => one.name === name && one.schema === (schema ?? "public"));
  return new Map(known.flatMap(({ arg_names, arg_types }) => arg_names.map((arg, at) => [arg, arg_types[at]!])));
}

function asText(value: unknown, type = "text"): string | null {
  if (value === null || value === undefined) return null;
  if (type === "json" || type === "jsonb") return JSON.stringify(value);
  if (typeof value === "string") return value;
  if (type.endsWith("[]") && Array.isArray(value)) return asArray(value, type.slice(0, -2));
  return JSON.stringify(value);
}

/** A literal of an array type. */
const asArray = (values: unknown[], type: string): string =>
  `{${
    values.map((value) =>
      Array.isArray(value) && !type.startsWith("json") ? asArray(value, type) : quoted(asText(value, type))
    ).join()
  }}`;

const quoted = (text: string | null) => text === null ? "null" : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
