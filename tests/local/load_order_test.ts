/** The schema files load in an order computed from their references, which `supabase/config.toml` repeats for the CLI. */
import { assertEquals, assertThrows } from "@std/assert";
import { inLoadOrder } from "../../local/sql/load_order.ts";
import { listSchemaFiles, readSchemaFiles, ROOT } from "../../local/sql/schema_files.ts";

const order = (files: Record<string, string>) =>
  inLoadOrder(Object.entries(files).map(([path, sql]) => ({ path, sql }))).map(({ path }) => path).join();

const body = (variables: string, call: string) =>
  `create function jobs.a() returns int\nlanguage plpgsql as $$\ndeclare\n  x ${variables};\nbegin\n  ${call};\nend\n$$;\n`;

/** The SQL of file a, and the order; file b creates a schema, a table and a function. */
const NEEDED: Record<string, [sql: string, expected: string]> = {
  "needs a table that a key refers to": ["create table jobs.a (id text references app.b (id));", "b,a"],
  "needs a schema": ["create table app.a (id text);", "b,a"],
  "needs a function of a policy": ["create policy p on jobs.a using (app.f());", "b,a"],
  "needs a function of a parsed body": ["create function jobs.a() returns int language sql\n  return app.f();", "b,a"],
  "needs a type of a variable": [body("constant app.b", "return 1"), "b,a"],
  "needs a table of a block": ["do $$\nbegin\n  execute format('drop table app.%I', 'b');\nend\n$$;", "b,a"],
  "ignores a call in plpgsql": [body("int := app.f()", "perform app.f()"), "a,b"],
  "ignores a mention in a description": ["comment on schema jobs is 'Not app.b; ''app.f''.';", "a,b"],
  "ignores a mention in a comment": ["-- Like app.b.\ncreate table jobs.a (id text);", "a,b"],
};
for (const [what, [sql, expected]] of Object.entries(NEEDED)) {
  Deno.test(`the load order ${what}`, () => {
    const b = "create schema app;\ncreate table app.b (id text);\ncreate function app.f() returns int return 1;";
    assertEquals(order({ a: sql, b }), expected);
    assertEquals(
      order({ a: sql.toUpperCase().replaceAll(/[\w.]*\.[\w.]*/g, (name) => name.toLowerCase()), b }),
      expected,
    );
  });
}

Deno.test("circular references are reported with the files", () => {
  const files = { a: "create view app.a as select 1 from app.b;", b: "create view app.b as select 1 from app.a;" };
  assertThrows(() => order(files), Error, "a needs b needs a");
});

Deno.test("config.toml lists every schema file in the computed order", async () => {
  const config = await Deno.readTextFile(new URL("supabase/config.toml", ROOT));
  assertEquals(listSchemaFiles(config, await readSchemaFiles()), config, "write it: deno task fmt:sql");
});
