/**
 * Cheap checks without a server: the migrations follow the schema files, versions agree, and released files are
 * unchanged.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { readSchemaFiles, ROOT } from "../../local/sql/schema_files.ts";
import { SCHEMA_VERSION } from "../../shared/schema_version.ts";
import { openDatabase } from "../_support/database.ts";
import { brokenReleases, digestOf, migrationsIn, readChecksums } from "./checksums.ts";
import { RELEASES } from "./release.ts";

const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

Deno.test("no schema file changed since the last migration was written", async () => {
  const { schemas, released } = await readChecksums(ROOT);
  const isReleased = Object.keys(released).length > 0;
  const task = `deno task db:migration -- ${isReleased ? "<name>" : "--baseline"}`;
  assert(digestOf(await readSchemaFiles()) === schemas, `supabase/migrations lags behind supabase/schemas: ${task}`);
});

Deno.test("the code expects the schema version of the migrations", async () => {
  assertEquals(SCHEMA_VERSION, (await migrationsIn(ROOT)).length);
  await using database = await openDatabase();
  assertEquals(await database.asService("ping", {}), { schema: SCHEMA_VERSION });
});

Deno.test("released migrations are unchanged", async () => {
  assertEquals(await brokenReleases(ROOT), []);
});

Deno.test("a version dated in the changelog is frozen, with a dump of its database", async () => {
  const { version } = JSON.parse(await read("deno.json"));
  const changelog = await read("CHANGELOG.md");
  assertMatch(version, /^\d+\.\d+\.\d+$/);
  const [, date] = new RegExp(`^## \\[${version.replaceAll(".", "\\.")}\\] - (\\S+)$`, "m").exec(changelog) ?? [];
  assert(date, `CHANGELOG.md has no section for ${version}`);
  if (date === "Unreleased") return;
  const { released } = await readChecksums(ROOT);
  const files = (await migrationsIn(ROOT)).map(({ version, name }) => `${version}_${name}.sql`);
  assertEquals(Object.keys(released), files, "deno task db:migration -- --release");
  assert(await Deno.stat(new URL(`${RELEASES}${files.length}.sql.gz`, ROOT)).then(() => true, () => false));
});
