/**
 * `deno task test:pg`: a throw-away PostgreSQL server like a Supabase project, with the database tests, the access
 * tests in both modes of default privileges, races and real schedules. `--long` adds the endpoints, stories and slow
 * tests; `--short` omits the database tests that `deno task test` runs on the embedded PostgreSQL. Further arguments
 * go to `deno test`. With paths of tests among them, only those run.
 */
import { startCluster, type Template } from "../_support/cluster.ts";
import { inGroups, testsBelow } from "../_support/test_files.ts";
import { reachingDatabase } from "./reaching.ts";

// Each file has its own database and connections.
const DATABASE = ["tests/_support/", "tests/db/", "tests/canary/"];
const FILES_IN_A_GROUP = 4;
// Both modes lead to the same grants (modes.ts), so the other tests run in one mode.
const CLOSED = ["tests/pg/modes.ts", "tests/db/access_matrix_test.ts", "tests/db/hygiene_test.ts"];
// Tests that start stacks, run races, or take long. Measurements run alone.
const RUNNING = [
  "tests/local/arguments_test.ts",
  "tests/local/jobs_test.ts",
  "tests/local/migrations_test.ts",
  "tests/local/start_test.ts",
  "tests/pg/lost_connections.ts",
  "tests/pg/lock_order.ts",
  "tests/pg/races.ts",
  "tests/pg/oauth_races.ts",
  "tests/pg/tool_races.ts",
  "tests/pg/bookkeeping_races.ts",
  "tests/pg/member_races.ts",
  "tests/pg/approval_races.ts",
  "tests/pg/books_races.ts",
  "tests/pg/document_races.ts",
  "tests/pg/sharing_races.ts",
  "tests/pg/import_races.ts",
  "tests/pg/transfer_races.ts",
  "tests/pg/registrations.ts",
  "tests/pg/plan_end_races.ts",
  "tests/pg/purge_races.ts",
  "tests/pg/event_races.ts",
  "tests/pg/inbound_races.ts",
  "tests/pg/busy_books.ts",
  "tests/pg/large_digests.ts",
  "tests/pg/provider_sync.ts",
  "tests/pg/plans.ts",
  "tests/pg/statistics.ts",
  "tests/pg/growth.ts",
  "tests/pg/job_costs.ts",
  "tests/pg/same_answers.ts",
  "tests/pg/request_id.ts",
  "tests/pg/rotation.ts",
  "tests/pg/backup.ts",
  "tests/pg/plain_owner.ts",
];

const MEASURED = ["tests/pg/large_import.ts"];
const LONG = ["tests/pg/recurrence.ts"];
// Tests among these that reach a database. `test` and `suite e2e` run them embedded, and `suite load` checks the same
// on a server.
const ENDPOINTS = ["tests/functions/", "tests/e2e/"];
const isLong = Deno.args.includes("--long");
const isShort = Deno.args.includes("--short");
const chosen = Deno.args.filter((arg) => arg.startsWith("tests/"));
const further = Deno.args.filter((arg) => !["--long", "--short", "--", ...chosen].includes(arg));

const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const cluster = await startCluster({ settings: { max_connections: "400" } });
print(
  `PostgreSQL ${cluster.version}, ${cluster.hasCron ? "with pg_cron" : "without pg_cron: real schedules are left out"}`,
);
const passed = chosen.length > 0 ? [await run("supabase_exposed", chosen)] : [
  ...isShort ? [] : [await runInGroups("supabase_exposed", DATABASE)],
  ...isLong ? [await run("supabase_exposed", ["--parallel", ...await reachingDatabase(ENDPOINTS)])] : [],
  await run("supabase_closed", ["--parallel", ...CLOSED]),
  await run("supabase_exposed", [
    "--parallel",
    // First, because it waits for the clock.
    ...(cluster.hasCron ? ["tests/pg/schedules.ts"] : []),
    ...RUNNING,
    ...(isLong ? LONG : []),
  ]),
  await run("supabase_exposed", MEASURED),
];
await cluster.stop();
Deno.exit(passed.every(Boolean) ? 0 : 1);

async function runInGroups(template: Template, folders: string[]): Promise<boolean> {
  const files = (await Promise.all(folders.map((folder) => testsBelow(folder)))).flat();
  const groups = await inGroups(files, FILES_IN_A_GROUP);
  try {
    return await run(template, ["--parallel", ...groups.args], folders);
  } finally {
    await groups.remove();
  }
}

async function run(template: Template, files: string[], shown = files): Promise<boolean> {
  print(`\nDefault privileges ${template.replace("supabase_", "")}: ${shown.join(" ")}`);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A", ...further, ...files],
    env: { TEST_DATABASE_URL: cluster.urlOf("postgres", template), ...(isLong && { TEST_LONG: "1" }) },
  }).spawn().status;
  return success;
}
