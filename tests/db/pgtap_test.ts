/** Every pgTAP file in this folder, on PGlite or on the server that `TEST_DATABASE_URL` names. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { assertTap, rolledBack, runTap, splitStatements } from "../_support/tap.ts";

const FOLDER = new URL("./", import.meta.url);

const database = await sharedDatabase();

const names = (await Array.fromAsync(Deno.readDir(FOLDER), ({ name }) => name)).filter((name) => name.endsWith(".sql"));
for (const name of names.toSorted()) {
  const sql = await Deno.readTextFile(new URL(name, FOLDER));
  Deno.test(`pgTAP file ${name}`, async () => assertTap(await rolledBack(database, (session) => runTap(session, sql))));
}

Deno.test("splitStatements() leaves semicolons in quotes, dollar quotes and comments alone", () => {
  assertEquals(
    splitStatements(`select ';' as "a;b"; -- one; two
      do $x$ begin perform 'it''s'; end $x$; /* a; b */ select 1 - 2 / 3;`),
    [`select ';' as "a;b"`, `do $x$ begin perform 'it''s'; end $x$`, "select 1 - 2 / 3"],
  );
});
