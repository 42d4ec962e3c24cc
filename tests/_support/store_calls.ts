/** The stores' database calls, read from their sources, and checked against a database. */
import type { Session } from "../../local/database/sql.ts";

const STORES = new URL("../../shared/db/", import.meta.url);

export interface StoreCall {
  name: string;
  /** Undefined unless the arguments are written inline. */
  args?: string[];
}

/** `….call("name", { … })`, `ask("name", { … })` and `asking(…)("name", { … })` in a source. */
export function callsIn(path: string, source: string): StoreCall[] {
  const calls: StoreCall[] = [];
  const create = (): Deno.lint.LintVisitor => ({
    CallExpression({ callee, arguments: [name, args] }) {
      const called = callee.type === "MemberExpression"
        ? callee.property
        : callee.type === "CallExpression"
        ? callee.callee
        : callee;
      if (called.type !== "Identifier" || !["call", "ask", "asking"].includes(called.name)) return;
      if (name?.type !== "Literal" || typeof name.value !== "string") return;
      const properties = args?.type === "ObjectExpression" ? args.properties : [];
      const isWhole = args?.type === "ObjectExpression" && properties.every(({ type }) => type === "Property");
      const names = properties.flatMap((one) =>
        one.type === "Property" && one.key.type === "Identifier" ? [one.key.name] : []
      );
      calls.push({ name: name.value, args: isWhole ? names.toSorted() : undefined });
    },
  });
  Deno.lint.runPlugin({ name: "stores", rules: { read: { create } } }, path, source);
  return calls;
}

/** Problems with a call, given the arguments of all functions. */
export function problemOf(
  { name, args }: StoreCall,
  functions: Functions,
): string | null {
  const known = functions.get(name);
  if (!known) return `there is no function public.${name}`;
  const unknown = args?.filter((argument) => !known.all.includes(argument)) ?? [];
  if (unknown.length > 0) return `${name} takes no ${unknown.join(", ")}`;
  const missing = args ? known.needed.filter((argument) => !args.includes(argument)) : [];
  return missing.length > 0 ? `${name} is not given ${missing.join(", ")}` : null;
}

/** The API functions by name: all arguments, and those without a default. */
export type Functions = Map<string, { all: string[]; needed: string[] }>;

export async function functionsOf(database: Session): Promise<Functions> {
  const rows = await database.query<{ name: string; args: string[]; needed: number }>(
    `select proname as name, coalesce(proargnames[:pronargs], '{}') as args, pronargs - pronargdefaults as needed
     from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  return new Map(rows.map(({ name, args, needed }) => [name, { all: args, needed: args.slice(0, needed) }]));
}

/** Every call of every store, with its file. */
export async function storeCalls(): Promise<(StoreCall & { file: string })[]> {
  const files = (await Array.fromAsync(Deno.readDir(STORES), ({ name }) => name)).filter((name) =>
    name.endsWith("_store.ts")
  );
  const calls = await Promise.all(
    files.map(async (file) =>
      callsIn(file, await Deno.readTextFile(new URL(file, STORES))).map((call) => ({ ...call, file }))
    ),
  );
  return calls.flat();
}
