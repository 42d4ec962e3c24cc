/** The real pg_cron triggers a function of a running stack on schedule, through the stand-ins for pg_net and Vault. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { SCHEMA_VERSION } from "../../shared/schema_version.ts";
import { withParts } from "../_support/new_database.ts";
import { startStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";

/** pg_cron starts jobs on the full minute; the function then has a moment to answer. */
const DEADLINE_MS = 75_000;

const COMMAND = `
  select net.http_get(
    url := (select decrypted_secret from vault.decrypted_secrets where name = 'project_url') || '/functions/v1/oauth/api/health',
    headers := jsonb_build_object('authorization',
      'Bearer ' || (select decrypted_secret from vault.decrypted_secrets where name = 'cron_secret')),
    timeout_milliseconds := 5000)`;

/** One transaction, so that nobody else sees the empty vault. */
const CALL_WITHOUT_URL =
  "delete from vault.secrets where name = 'project_url'; select jobs.call_function('cron-reminders')";

Deno.test("a schedule calls a function with a secret from Vault; one without a URL leaks no secret", async () => {
  // pg_cron runs the jobs of one database per server.
  const url = withParts(Deno.env.get("TEST_DATABASE_URL")!, { database: "postgres" });
  const stack = await startStack({ args: ["--db", url, "--no-demo"] });
  const database = postgresDatabase(url, { max: 1 });
  try {
    const [job] = await database.query<{ id: number }>("select cron.schedule('test', '* * * * *', $1) as id", [
      COMMAND,
    ]);
    // In the same minute, a job starts without a PROJECT_URL, as in a project without that setting.
    const [forgotten] = await database.query<{ id: number }>(
      "select cron.schedule('forgotten', '* * * * *', $1) as id",
      [
        CALL_WITHOUT_URL,
      ],
    );
    const response = await waitFor(
      async () => (await database.query("select status_code, content from net._http_response"))[0],
      { deadlineMs: DEADLINE_MS },
    );
    assertEquals(response, { status_code: 200, content: JSON.stringify({ ok: true, schema: SCHEMA_VERSION }) });
    const [run] = await database.query("select status, username from cron.job_run_details where jobid = $1", [job!.id]);
    assertEquals(run, { status: "succeeded", username: "postgres" });
    const failed = await waitFor(async () =>
      (await database.query<{ status: string; return_message: string }>(
        "select status, return_message from cron.job_run_details where jobid = $1 and status = 'failed'",
        [forgotten!.id],
      ))[0]
    );
    assertMatch(failed.return_message, /cannot call cron-reminders: the vault has no project_url/);
    assert(!failed.return_message.includes(stack.cron_secret), failed.return_message);
    await database.query("select cron.unschedule('test'), cron.unschedule('forgotten')");
  } finally {
    await database.close();
    await stack.stop();
  }
});
