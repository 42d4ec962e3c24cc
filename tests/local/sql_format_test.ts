/** The SQL formatter never changes the meaning of SQL, and leaves some code unchanged. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { formatSql, tooWide, WIDTH } from "../../local/sql/format.ts";
import { readSchemaFiles } from "../../local/sql/schema_files.ts";
import { meaningOf } from "../../local/sql/tokens.ts";

const CASES: Record<string, [before: string, after: string]> = {
  "words are lower case, even in bodies; names in quotes, literals and patterns remain unchanged": [
    `CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$\nBEGIN\n  RETURN format('SELECT %I', "Name");\nEND\n$$;`,
    `create function f() returns text language plpgsql as $$\nbegin\n  return format('SELECT %I', "Name");\nend\n$$;\n`,
  ],
  "arguments of format() keep their case": [
    "select format($query$ SELECT %1$I FROM %I WHERE id = %L $query$, t);",
    "select format($query$ select %1$I from %I where id = %L $query$, t);\n",
  ],
  "one space after a comma, none inside parentheses, one blank line, none at the end": [
    "select  f( a,b )  ,c ;\n\n\n\nselect 1;\n\n",
    "select f(a, b), c;\n\nselect 1;\n",
  ],
  "a closing parenthesis lies under the line that opened it": [
    "create table t (\n  id int\n    );",
    "create table t (\n  id int\n);\n",
  ],
};

for (const [name, [before, after]] of Object.entries(CASES)) {
  Deno.test(`formatSql(): ${name}`, () => {
    assertEquals(formatSql(before), after);
    assertEquals(formatSql(after), after, "formatted twice is formatted once");
  });
}

Deno.test("meaningOf() distinguishes differences beyond layout", () => {
  const same = (a: string, b: string) => assertEquals(meaningOf(a), meaningOf(b));
  const other = (a: string, b: string) => assert(meaningOf(a).join("\0") !== meaningOf(b).join("\0"), `${a} ~ ${b}`);
  same("SELECT 'a'\n  'b' -- why", "select 'ab'");
  other("select 'a b'", "select 'ab'");
  other('select "A"', "select a");
  other("select 1 - -1", "select 1");
  other("select a, b", "select a b");
  other("$$ begin a; end $$", "$$ begin b; end $$");
});

Deno.test("formatSql() refuses unterminated SQL", () => {
  for (const sql of ["select 'a", 'select "a', "do $$ begin"]) assertThrows(() => formatSql(sql), Error, "not closed");
});

Deno.test("tooWide() names the lines that a person has to break", () => {
  assertEquals(tooWide(formatSql(`select 1,\n  ${"a".repeat(WIDTH)};`)), [2]);
});

Deno.test("the schema files are formatted, and no line is wider than 120 columns", async () => {
  for (const { path, sql } of await readSchemaFiles()) {
    assert(formatSql(sql) === sql, `${path} is not formatted: deno task fmt:sql`);
    assertEquals(tooWide(sql), [], path);
  }
});
