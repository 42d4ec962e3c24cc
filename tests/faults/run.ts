/**
 * `deno task suite faults`: failures during operation on a throw-away PostgreSQL server, at a size that ordinary tests
 * avoid. The short form takes a minute or two; `-- --long` produces the figures for a release.
 */
import { startCluster } from "../_support/cluster.ts";

const isLong = Deno.args.includes("--long");
const cluster = await startCluster();
const { success } = await new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "--lock=tests/deno.lock",
    "--no-prompt",
    "--no-check",
    "-A",
    ...Deno.args.filter((arg) => !/^--(long)?$/.test(arg)),
    "tests/faults/memory.ts",
    "tests/functions/cron-reminders/crash_test.ts",
  ],
  env: { TEST_DATABASE_URL: cluster.urlOf("postgres", "supabase_exposed"), FAULTS: isLong ? "long" : "short" },
}).spawn().status;
await cluster.stop();
Deno.exit(success ? 0 : 1);
