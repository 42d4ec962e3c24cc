/**
 * `deno task suite migrations`: squawk lints the migrations, then the Supabase CLI applies them twice to a server like
 * a hosted one and lints the result.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { startCluster } from "../_support/cluster.ts";
import { copy } from "../_support/copy.ts";
import { newDatabase } from "../_support/new_database.ts";
import { supabase } from "../deploy/supabase_cli.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const SCHEMAS = "public,identity,oauth,billing,app,jobs";

const cluster = await startCluster();
const { url } = await newDatabase(cluster.urlOf("postgres", "supabase_closed"));
const project = await Deno.makeTempDir({ prefix: "expense-migrations-" });
await copy(`${ROOT}supabase`, `${project}/supabase`);
Deno.test.afterAll(async () => {
  await cluster.stop();
  await Deno.remove(project, { recursive: true });
});

const cli = (...args: string[]) => supabase(project, [...args, `--remote=${url}?sslmode=disable`]);

/** The JSON list in a command's output. */
const listIn = <Item>(output: string): Item[] =>
  output.includes("[") ? JSON.parse(output.slice(output.indexOf("["), output.lastIndexOf("]") + 1)) : [];

async function squawk(...files: string[]): Promise<{ ok: boolean; output: string }> {
  const { success, stdout } = await new Deno.Command("npx", {
    args: ["-y", "squawk-cli@2.66.0", "--config", `${ROOT}.squawk.toml`, "--reporter", "gcc", ...files],
    cwd: `${ROOT}supabase/migrations`,
  }).output();
  return { ok: success, output: new TextDecoder().decode(stdout) };
}

/**
 * The baseline runs on an empty database, where nothing waits for a lock and no table is scanned. The option replaces
 * the exclusions of `.squawk.toml`.
 */
const EXCLUDED_IN_BASELINE = [
  "prefer-bigint-over-int",
  "prefer-bigint-over-smallint",
  "require-lock-timeout",
  "require-statement-timeout",
  "require-concurrent-index-creation",
  "constraint-missing-not-valid",
];

Deno.test("squawk finds nothing wrong with the migrations", async () => {
  const files = await Array.fromAsync(Deno.readDir(`${ROOT}supabase/migrations`), ({ name }) => name);
  const [baseline, ...later] = files.toSorted();
  const first = await squawk(`--exclude=${EXCLUDED_IN_BASELINE.join()}`, baseline!);
  assert(first.ok, first.output);
  if (later.length > 0) assertEquals((await squawk(...later)).output, "");
});

Deno.test("test of the test: squawk objects to dropping a column", async () => {
  const planted = `${project}/planted.sql`;
  await Deno.writeTextFile(planted, "alter table app.expenses drop column note;\n");
  const { ok, output } = await squawk(planted);
  assert(!ok && output.includes("ban-drop-column"), output);
});

Deno.test("db push applies every migration as postgres, and a second run applies none", async () => {
  const first = await cli("db", "push", "--yes");
  assert(first.ok && first.output.includes("Applying migration"), first.output);
  const second = await cli("db", "push", "--yes");
  assert(second.ok && !second.output.includes("Applying migration"), second.output);
  assertMatch(second.output, /up to date/);
});

Deno.test("migration list shows each migration on both sides", async () => {
  const { ok, output } = await cli("migration", "list");
  assert(ok, output);
  const rows = [...output.matchAll(/^\s*`?(\d{14})?`?\s*\|\s*`?(\d{14})?`?/gm)].filter(([, local, remote]) =>
    local || remote
  );
  const files = await Array.fromAsync(Deno.readDir(`${ROOT}supabase/migrations`), ({ name }) => name.slice(0, 14));
  assertEquals(rows.map(([, local]) => local), files.toSorted());
  assertEquals(rows.map(([, , remote]) => remote), files.toSorted());
});

interface Lint {
  function: string;
  issues: { level: string; message: string; statement?: { lineNumber: string } }[];
}

/** False positives of plpgsql_check. */
const FALSE_POSITIVES = [
  "target type is different type than source type", // a JSON literal returned as jsonb
  "control reached end of function without RETURN", // after a case or loop in which every branch returns or raises
  'unused parameter "context"', // all tools have the same signature
  'unused parameter "arguments"',
];

async function lint(): Promise<string[]> {
  const { ok, stdout, output } = await cli("db", "lint", "--schema", SCHEMAS, "--level", "warning");
  // Without plpgsql_check the command fails and lists nothing.
  assert(ok || stdout !== "", output);
  return listIn<Lint>(stdout).flatMap(({ function: name, issues }) =>
    issues.filter(({ message }) => !FALSE_POSITIVES.includes(message)).map(({ level, message, statement }) =>
      `${name} line ${statement?.lineNumber ?? "?"}: ${level}: ${message}`
    )
  );
}

Deno.test("db lint finds nothing wrong with a function", async () => {
  assertEquals(await lint(), []);
});

Deno.test("test of the test: db lint finds a misspelled column", async () => {
  await withSql(
    "create function app.planted() returns int language plpgsql as 'begin return (select nothing from app.expenses); end'",
  );
  assert((await lint()).some((issue) => issue.startsWith("app.planted")));
  await withSql("drop function app.planted()");
});

interface Advice {
  name: string;
  detail: string;
  metadata?: { name?: string; schema?: string };
}

async function advise(): Promise<string[]> {
  const { stdout } = await cli("db", "advisors", "--fail-on", "warn");
  // Names in a body that is parsed at creation do not depend on the search path.
  const resolved = new Set(
    (await withSql(
      "select pronamespace::regnamespace || '.' || proname as name from pg_proc where prosqlbody is not null",
    ))
      .map(({ name }) => name),
  );
  return listIn<Advice>(stdout)
    .filter(({ name, metadata }) =>
      name !== "function_search_path_mutable" || !resolved.has(`${metadata?.schema}.${metadata?.name}`)
    )
    .map(({ name, detail }) => `${name}: ${detail}`);
}

Deno.test("db advisors have no warning", async () => {
  assertEquals(await advise(), []);
});

Deno.test("test of the test: db advisors see a definer function without search_path and a policy evaluated per row", async () => {
  await withSql(`
    create function public.planted() returns int language sql security definer as 'select 1';
    create policy planted on app.fx_rates for select to authenticated using (auth.uid() is not null)`);
  const advice = await advise();
  assert(
    advice.some((line) => line.startsWith("function_search_path_mutable") && line.includes("planted")),
    advice.join("\n"),
  );
  assert(advice.some((line) => line.startsWith("auth_rls_initplan")), advice.join("\n"));
  await withSql("drop policy planted on app.fx_rates; drop function public.planted()");
});

async function withSql(sql: string): Promise<{ name?: string }[]> {
  const database = postgresDatabase(url, { max: 1 });
  return await database.query<{ name?: string }>(sql).finally(() => database.close());
}
