/** The SQL formatter never changes the meaning of SQL, and leaves some code alone. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { formatSql, tooWide, WIDTH } from "../../local/sql/format.ts";
import { readSchemaFiles } from "../../local/sql/schema_files.ts";
import { meaningOf } from "../../local/sql/tokens.ts";

const long = (text: string, times: number) => Array(times).fill(text);

const CASES: Record<string, [before: string, after: string]> = {
  "words are lower case, also in bodies; names in quotes, literals and patterns are left alone": [
    `CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$\nBEGIN\n  RETURN format('SELECT %I', "Name");\nEND\n$$;`,
    `create function f() returns text language plpgsql as $$\nbegin\n  return format('SELECT %I', "Name");\nend\n$$;\n`,
  ],
  "what format() fills in keeps its case": [
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
  "a comment that is too long is filled anew, and one that is not is left": [
    `-- short\n-- lines\n\n-- ${long("word", 30).join(" ")}\nselect 1;`,
    `-- short\n-- lines\n\n-- ${long("word", 23).join(" ")}\n-- ${long("word", 7).join(" ")}\nselect 1;\n`,
  ],
  "a comment at the end of a line that is too long goes above it": [
    `select ${long("aaaa", 15).join(", ")}; -- ${long("why", 10).join(" ")}`,
    `-- ${long("why", 10).join(" ")}\nselect ${long("aaaa", 15).join(", ")};\n`,
  ],
  "a long line is broken where the least belongs together, never inside of between": [
    `  where ${long("a", 1)}.name = '${"x".repeat(60)}' and b between ${"y".repeat(15)} and z and c = '${
      "w".repeat(20)
    }';`,
    `  where a.name = '${"x".repeat(60)}' and b between ${"y".repeat(15)} and z\n    and c = '${"w".repeat(20)}';\n`,
  ],
  "a setting stays in one piece": [
    `language plpgsql set search_path = '' set ${"p".repeat(50)} = 'x' set ${"q".repeat(20)} = 'off';`,
    `language plpgsql set search_path = '' set ${"p".repeat(50)} = 'x'\n  set ${"q".repeat(20)} = 'off';\n`,
  ],
  "adjacent literals of prose are refilled, and others are left": [
    `select\n  'two '\n  'that ${long("go", 30).join(" ")} '\n  'together',\n  '^a|'\n  'b$';`,
    `select\n  'two that ${long("go", 30).join(" ")} together',\n  '^a|'\n  'b$';\n`,
  ],
  "a long literal becomes several, which SQL reads as one": [
    `comment on table t is '${long("it''s", 30).join(" ")}';`,
    `comment on table t is\n  '${long("it''s", 19).join(" ")} '\n  '${long("it''s", 11).join(" ")}';\n`,
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

Deno.test("tooWide() names a line that cannot be broken", () => {
  assertEquals(tooWide(formatSql(`select 1,\n  ${"a".repeat(WIDTH)};`)), [2]);
});

Deno.test("the schema files are formatted, and no line is wider than 120 columns", async () => {
  for (const { path, sql } of await readSchemaFiles()) {
    assert(formatSql(sql) === sql, `${path} is not formatted: deno task fmt:sql`);
    assertEquals(tooWide(sql), [], path);
  }
});
