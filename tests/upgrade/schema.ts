/**
 * The schema's source and the migrations, on PostgreSQL: both create the same database, a change to the source becomes
 * the next migration, and released files remain unchanged. Part of `deno task suite migrations`.
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { readSchemaFiles, ROOT } from "../../local/sql/schema_files.ts";
import { startCluster } from "../_support/cluster.ts";
import { copy } from "../_support/copy.ts";
import { brokenReleases, migrationsIn, readChecksums, writeChecksums } from "./checksums.ts";
import { fromSchemaFiles, migrated } from "./databases.ts";
import { differenceOf } from "./difference.ts";
import { release } from "./release.ts";
import { writeBaseline, writeMigration } from "./write_migration.ts";

const cluster = await startCluster();
const project = new URL(`file://${await Deno.makeTempDir({ prefix: "expense-schema-" })}/`);
for (const path of ["supabase", "shared/schema_version.ts"]) {
  await Deno.mkdir(new URL("shared", project), { recursive: true });
  await copy(new URL(path, ROOT).pathname, new URL(path, project).pathname);
}
// The copy begins before the first release.
await writeChecksums(project, { schemas: "", released: {} });
await writeBaseline(project);
Deno.test.afterAll(async () => {
  await cluster.stop();
  await Deno.remove(project, { recursive: true });
});

const from = await migrated(cluster, await migrationsIn(ROOT));

Deno.test("the migrations and the schema files make the same database", async () => {
  const { lines, rows } = await differenceOf({ from, to: await fromSchemaFiles(cluster, await readSchemaFiles()) });
  assertEquals([...lines, ...rows], [], "write the migration: deno task db:migration -- <name>");
});

/** Changes to a database, with the expected report of each. */
const PLANTED: Record<string, [sql: string, shows: RegExp]> = {
  "a body": [
    "create or replace function jobs.latest_today(at timestamptz) returns date language sql immutable return at::date",
    /latest_today/,
  ],
  "a setting of a function": ["alter function app.instant set jit = off", /"instant"/],
  "a comment": ["comment on column app.expenses.note is 'planted'", /planted/],
  "a grant": ["grant select on oauth.tokens to authenticated", /"tokens".*authenticated|authenticated.*"tokens"/],
  "a revoked grant": ["revoke execute on function public.ping from service_role", /"ping"/],
  "a policy": ["create policy planted_policy on app.expenses for select to anon using (false)", /planted_policy/],
  "row-level security switched off": ["alter table app.fx_rates disable row level security", /"fx_rates"/],
  "a trigger": [
    "create trigger planted_trigger before delete on app.expenses for each row execute function app.capture_change()",
    /planted_trigger/,
  ],
  "an index": ["create index planted_index on app.expenses (note)", /planted_index/],
  "a type": ["alter type app.rate add attribute planted_attribute int", /planted_attribute/],
  "a constraint": ["alter table app.expenses add constraint planted_check check (length(note) < 9)", /planted_check/],
  "a default": ["alter table app.payments alter note set default 'planted_default'", /planted_default/],
  "a row": ["insert into app.currencies values ('XXX', 2)", /lacks app\.currencies.*XXX/],
  "a job": ["select cron.schedule('planted_job', '* * * * *', 'select 1')", /lacks cron\.job.*planted_job/],
};

Deno.test("test of the test: each planted difference is found", async () => {
  const to = await migrated(cluster, await migrationsIn(ROOT));
  const database = postgresDatabase(to, { max: 1 });
  for (const [sql] of Object.values(PLANTED)) await database.exec(sql);
  await database.close();
  const { lines, rows } = await differenceOf({ from, to });
  const unseen = Object.entries(PLANTED).filter(([, [, shows]]) =>
    ![...lines, ...rows].some((line) => shows.test(line))
  );
  assertEquals(unseen.map(([what]) => what), [], lines.join("\n"));
});

const read = (path: string) => Deno.readTextFile(new URL(path, project));
async function edit(path: string, change: (text: string) => string): Promise<void> {
  const before = await read(path);
  const after = change(before);
  assert(after !== before, `${path} does not contain the text to replace`);
  await Deno.writeTextFile(new URL(path, project), after);
}
const schemaOf = async (what: string) => {
  const file = (await readSchemaFiles(project)).find(({ sql }) => sql.includes(what));
  if (!file) throw new Error(`no schema file has ${what}`);
  return file.path;
};

Deno.test("db:migration writes nothing without a change, and the baseline until the first release", async () => {
  assertMatch((await write("nothing")).join("\n"), /^Nothing changed/);
  const [baseline] = await migrationsIn(project);
  await edit(
    await schemaOf("function public.ping"),
    (sql) => sql.replace("for the health check", "for selfcheck too"),
  );
  assertMatch(await writeBaseline(project), /matches supabase\/schemas/);
  const [again, ...more] = await migrationsIn(project);
  assertEquals([again!.version, more], [baseline!.version, []]);
  assertStringIncludes(again!.sql, "for selfcheck too");
});

const write = (name: string, now = new Date()) => writeMigration(cluster, { root: project, name, now });

Deno.test("a release freezes the migrations: edits, missing files and a new baseline are refused", async () => {
  assertMatch((await release(cluster, project)).join("\n"), /^1 migrations are frozen/);
  assertEquals(await brokenReleases(project), []);
  await assertRejects(() => writeBaseline(project), Error, "The baseline is released");
  const [file] = Object.keys((await readChecksums(project)).released);
  const path = `supabase/migrations/${file}`;
  const sql = await read(path);

  await edit(path, (text) => `${text}-- harmless?\n`);
  assertEquals(await brokenReleases(project), [
    `${file} was released and is not what it was: write a further migration`,
  ]);
  await Deno.remove(new URL(path, project));
  assertEquals(await brokenReleases(project), [`${file} was released and is gone`]);
  await Deno.writeTextFile(new URL(path, project), sql);

  const early = new URL("supabase/migrations/20200101000000_early.sql", project);
  await Deno.writeTextFile(early, "select 1;\n");
  assertMatch((await brokenReleases(project)).join(), /^20200101000000_early\.sql comes before/);
  await Deno.remove(early);
});

Deno.test("db:migration writes changes in tables, functions, rights and policies, and reports those that need a person", async () => {
  const tables = await schemaOf("create table app.expenses (");
  const unplanted = await read(tables);
  await edit(
    tables,
    (sql) => sql.replace("create table app.expenses (", "create table app.expenses (\n  planted text,"),
  );
  await assertRejects(() => write("planted"), Error, "New columns go last: move app.expenses.planted down");
  await Deno.writeTextFile(new URL(tables, project), unplanted);
  await edit(
    tables,
    (sql) =>
      sql.replace(/(create table app\.expenses \([^;]*?\n {2}contract [^\n]*,)/, "$1\n  planted text,") +
      `
comment on column app.expenses.planted is 'A further one.';
create index expenses_planted_idx on app.expenses (planted);
create policy "Nobody reads the planted" on app.expenses as restrictive for delete to authenticated using (false);
insert into app.currencies (code, exponent) values ('XXX', 2);
create function app.planted_secret() returns int language sql set search_path = '' as 'select 1';
revoke all on function app.planted_secret from authenticated;
`,
  );
  await edit(
    await schemaOf("function public.ping"),
    (sql) =>
      sql.replaceAll("public.ping()", "public.ping(more boolean default false)") +
      "\nrevoke all on function public.ping from public;\ngrant execute on function public.ping to authenticated;\n",
  );
  await edit(await schemaOf("function jobs.latest_today"), (sql) => sql.replace("'14 hours'", "'15 hours'"));

  const lines = await write("planted", new Date("2027-01-01T00:00:00Z"));
  const sql = await read("supabase/migrations/20270101000000_planted.sql");
  for (
    const part of [
      "set local lock_timeout",
      "planted",
      "A further one",
      "expenses_planted_idx",
      "Nobody reads the planted",
      "latest_today",
    ]
  ) {
    assertStringIncludes(sql, part);
  }
  assertMatch(lines[0]!, /leads to schema 2/);
  assertMatch(lines.join("\n"), /Review this statement: it drops: DROP FUNCTION "?public"?\."?ping/);
  assertMatch(lines.join("\n"), /Add by hand.*lacks app\.currencies.*XXX/);
  assertMatch(await read("shared/schema_version.ts"), /SCHEMA_VERSION = 2;/);
  assertEquals(await brokenReleases(project), [], "a new migration after the released ones is fine");

  const database = postgresDatabase(await migrated(cluster, await migrationsIn(project)), { max: 1 });
  assertEquals(await database.query("select public.ping()"), [{ ping: { schema: 2 } }]);
  assertEquals(
    await database.query(
      "select has_function_privilege(r, 'app.planted_secret()', 'execute') as may from unnest(array['anon', 'authenticated', 'service_role']) as r",
    ),
    [{ may: false }, { may: false }, { may: true }],
  );
  await database.close();
});

Deno.test("db:migration refuses an invalid name and a time before the last migration's", async () => {
  await assertRejects(() => write("Add URL!"), Error, "is not a valid name");
  await assertRejects(() => write("late", new Date("2026-12-01T00:00:00Z")), Error, "is not after 20270101000000");
});
