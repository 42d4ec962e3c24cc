/** How schedules reach functions. */
import { assertEquals } from "@std/assert";
import { openDatabase } from "../_support/database.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());

Deno.test("a schedule asks for its function with the secret in use, in a header, and waits as long as it may take", async () => {
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

Deno.test("each scheduled function has its schedules, and they ask for nothing else", async () => {
  assertEquals(
    await database.query(
      "select jobname, schedule, command from cron.job where command like '%call_function%' order by jobname",
    ),
    [
      ["provider-sync", "0 6 2 * *", "cron-provider-sync"],
      ["provider-sync-catch-up", "0 6 3-10 * *", "cron-provider-sync"],
      ["reminders", "0 8 * * *", "cron-reminders"],
      ["reminders-catch-up", "5-55/10 8-11 * * *", "cron-reminders"],
    ].map(([jobname, schedule, slug]) => ({ jobname, schedule, command: `select jobs.call_function('${slug}')` })),
  );
});
