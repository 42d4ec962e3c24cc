/** How scheduled jobs call functions. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

Deno.test("a schedule calls its function with the current secret in a header, and waits as long as the function may run", async () => {
  await database.query("delete from vault.secrets where name in ('project_url', 'cron_secret')");
  await database.query(
    "select vault.create_secret('https://project.example', 'project_url'), vault.create_secret('new-secret,old-secret', 'cron_secret')",
  );
  await database.query("select jobs.call_function('cron-reminders')");
  const [request] = await database.query(
    "select method, url, headers, timeout_milliseconds from net.http_request_queue order by id desc limit 1",
  );
  assertEquals(request, {
    method: "GET",
    url: "https://project.example/functions/v1/cron-reminders",
    headers: { Authorization: "Bearer new-secret" },
    timeout_milliseconds: 65_000,
  });
});

const SECRET = "the-secret-of-the-scheduler-in-this-test";

/** The full error of the call, as `cron.job_run_details` stores it. */
async function failureOfCall(slug: string | null = "cron-reminders"): Promise<{ message: string; all: string }> {
  await database.query(`
    create or replace function pg_temp.failure_of_call(slug text) returns jsonb language plpgsql as $$
    declare
      message text; detail text; hint text; context text;
    begin
      perform jobs.call_function(slug);
      return jsonb_build_object('message', 'it did not fail', 'all', '');
    exception when others then
      get stacked diagnostics message = message_text, detail = pg_exception_detail, hint = pg_exception_hint,
        context = pg_exception_context;
      return jsonb_build_object('message', message, 'all', concat_ws(E'\\n', message, detail, hint, context));
    end $$`);
  const [row] = await database.query<{ failure: { message: string; all: string } }>(
    "select pg_temp.failure_of_call($1) as failure",
    [slug],
  );
  return row!.failure;
}

async function fillVault(values: Record<string, string>): Promise<void> {
  await database.query("delete from vault.secrets where name in ('project_url', 'cron_secret')");
  for (const [name, value] of Object.entries(values)) {
    await database.query("select vault.create_secret($1, $2)", [value, name]);
  }
}

Deno.test("a schedule without its vault value fails with an error that names the value and contains no secret", async () => {
  for (
    const [values, missing] of [
      [{ cron_secret: SECRET }, "project_url"],
      [{ cron_secret: SECRET, project_url: "" }, "project_url"],
      [{ project_url: "https://project.example" }, "cron_secret"],
      [{ project_url: "https://project.example", cron_secret: ` ,${SECRET}` }, "cron_secret"],
      [{}, "project_url"],
    ] as const
  ) {
    await fillVault(values);
    const { message, all } = await failureOfCall();
    assertEquals(message, `cannot call cron-reminders: the vault has no ${missing}`);
    assert(!all.includes(SECRET), all);
  }
});

Deno.test("cron.job_run_details gets only the code of a pg_net error, since its message quotes secrets", async () => {
  await fillVault({ project_url: "https://project.example", cron_secret: SECRET });
  // The error without a URL, as a missing value once caused it.
  const raw = await database.query(
    "select net.http_get(null, headers := jsonb_build_object('Authorization', $1::text))",
    [SECRET],
  ).then(() => "", (error) => `${error.message} ${error.detail}`);
  assert(raw.includes(SECRET), `the test's own fault does not quote the row: ${raw}`);
  const { message, all } = await failureOfCall(null);
  assertEquals(message, "cannot call <NULL>: pg_net did not take the request (23502)");
  assert(!all.includes(SECRET), all);
});

Deno.test("each scheduled function has its schedules, which call nothing else", async () => {
  assertEquals(
    await database.query(
      "select jobname, schedule, command from cron.job where command like '%call_function%' order by jobname",
    ),
    [
      ["provider-sync", "0 6 2 * *", "cron-provider-sync"],
      ["provider-sync-catch-up", "0 6 3-10 * *", "cron-provider-sync"],
      ["read-mail", "* * * * *", "cron-reminders?only=inbound", " where app.has_mail_to_read(now())"],
      ["reminders", "0 8 * * *", "cron-reminders"],
      ["reminders-catch-up", "5-55/10 8-11 * * *", "cron-reminders"],
      ["roll-bills", "1-59/15 * * * *", "cron-reminders?only=roll"],
      ["send-events", "* * * * *", "cron-reminders?only=events", " where app.has_waiting_events(now())"],
    ].map(([jobname, schedule, slug, when = ""]) => ({
      jobname,
      schedule,
      command: `select jobs.call_function('${slug}')${when}`,
    })),
  );
});
