/**
 * Every call that a store makes: the function exists, takes the arguments by these names, and gets all that have no default.
 * PostgREST finds a function by the names of its arguments, so that a wrong one is an answer 404 and nothing earlier.
 */
import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../_support/database.ts";

const STORES = new URL("../../shared/db/", import.meta.url);

interface StoreCall {
  name: string;
  /** Undefined where the arguments are not written at the call. */
  args?: string[];
}

/** `….call("name", { … })` in a source, whatever `call` is called on. */
function callsIn(path: string, source: string): StoreCall[] {
  const calls: StoreCall[] = [];
  const create = (): Deno.lint.LintVisitor => ({
    CallExpression({ callee, arguments: [name, args] }) {
      const called = callee.type === "MemberExpression" ? callee.property : callee;
      if (called.type !== "Identifier" || called.name !== "call") return;
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

/** What is wrong with a call, by the arguments of the functions there are. */
function problemOf(
  { name, args }: StoreCall,
  functions: Map<string, { all: string[]; needed: string[] }>,
): string | null {
  const known = functions.get(name);
  if (!known) return `there is no function public.${name}`;
  const unknown = args?.filter((argument) => !known.all.includes(argument)) ?? [];
  if (unknown.length > 0) return `${name} takes no ${unknown.join(", ")}`;
  const missing = args ? known.needed.filter((argument) => !args.includes(argument)) : [];
  return missing.length > 0 ? `${name} is not given ${missing.join(", ")}` : null;
}

async function functionsOf(): Promise<Map<string, { all: string[]; needed: string[] }>> {
  const database = await openDatabase();
  try {
    const rows = await database.query<{ name: string; args: string[]; needed: number }>(
      `select proname as name, coalesce(proargnames[:pronargs], '{}') as args, pronargs - pronargdefaults as needed
       from pg_proc where pronamespace = 'public'::regnamespace`,
    );
    return new Map(rows.map(({ name, args, needed }) => [name, { all: args, needed: args.slice(0, needed) }]));
  } finally {
    await database.close();
  }
}

Deno.test("stores call functions that there are, by the names of their arguments", async () => {
  const functions = await functionsOf();
  const files = (await Array.fromAsync(Deno.readDir(STORES), ({ name }) => name)).filter((name) =>
    name.endsWith("_store.ts")
  );
  const called = new Set<string>();
  const problems: string[] = [];
  for (const file of files) {
    for (const call of callsIn(file, await Deno.readTextFile(new URL(file, STORES)))) {
      called.add(call.name);
      const problem = problemOf(call, functions);
      if (problem) problems.push(`${file}: ${problem}`);
    }
  }
  assertEquals(problems, []);
  assert(called.size > 20, `only ${called.size} calls were found`);
  const uncalled = [...functions.keys()].filter((name) => !called.has(name)).toSorted();
  assertEquals(uncalled, UNCALLED, "functions of the database that no store calls");
});

/** Parts of read_account, and what an operator calls. */
const UNCALLED = ["list_connected_apps", "list_grant_alerts", "replay_parked_events"];

Deno.test("test of the test: a misspelled function, an unknown and a missing argument are found", () => {
  const functions = new Map([["read_account", { all: ["user_id", "at"], needed: ["user_id", "at"] }]]);
  const problems = callsIn(
    "planted_store.ts",
    `database.call<Account>("read_acount", { user_id, at }); call("read_account", { user, at }); database.call("read_account", { at });`,
  ).map((call) => problemOf(call, functions));
  assertEquals(problems, [
    "there is no function public.read_acount",
    "read_account takes no user",
    "read_account is not given user_id",
  ]);
});
