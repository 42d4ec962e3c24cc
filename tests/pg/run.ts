/**
 * `deno task test:pg`: a throw-away PostgreSQL server like a Supabase project, with the database tests in both modes of
 * default privileges, the end-to-end tests, races and real schedules. `--long` adds what takes minutes; further
 * arguments go to `deno test`.
 */
import { startCluster, type Template } from "../_support/cluster.ts";

// Each file has its own database.
const DATABASE = ["--parallel", "tests/_support/", "tests/db/", "tests/canary/"];
const FUNCTIONS = ["--parallel", "tests/functions/"];
// These start stacks, and some measure time.
const RUNNING = [
  "tests/e2e/",
  "tests/local/",
  "tests/pg/races.ts",
  "tests/pg/bookkeeping_races.ts",
  "tests/pg/import_races.ts",
  "tests/pg/large_import.ts",
  "tests/pg/registrations.ts",
  "tests/pg/purge_races.ts",
  "tests/pg/busy_books.ts",
  "tests/pg/large_digests.ts",
  "tests/pg/provider_sync.ts",
  "tests/pg/modes.ts",
  "tests/pg/plans.ts",
  "tests/pg/growth.ts",
  "tests/pg/job_costs.ts",
  "tests/pg/same_answers.ts",
];

const LONG = ["tests/pg/recurrence.ts"];
const isLong = Deno.args.includes("--long");
const further = Deno.args.filter((arg) => arg !== "--long" && arg !== "--");

const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const cluster = await startCluster();
print(
  `PostgreSQL ${cluster.version}, ${cluster.hasCron ? "with pg_cron" : "without pg_cron: real schedules are left out"}`,
);
const passed = [
  await run("supabase_exposed", DATABASE),
  await run("supabase_closed", DATABASE),
  await run("supabase_exposed", FUNCTIONS),
  await run("supabase_exposed", [
    ...RUNNING,
    ...(cluster.hasCron ? ["tests/pg/schedules.ts"] : []),
    ...(isLong ? LONG : []),
  ]),
];
await cluster.stop();
Deno.exit(passed.every(Boolean) ? 0 : 1);

async function run(template: Template, files: string[]): Promise<boolean> {
  print(`\nDefault privileges ${template.replace("supabase_", "")}: ${files.join(" ")}`);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", "--no-prompt", "-A", ...further, ...files],
    env: { TEST_DATABASE_URL: cluster.urlOf("postgres", template), ...(isLong && { TEST_LONG: "1" }) },
  }).spawn().status;
  return success;
}
