/** The vault is filled and compared without revealing a value, and the schedule reports its runs. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const SITE = "https://project.example";
const SECRET = "the-secret-of-the-scheduler-in-this-test";
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

const empty = () => database.query("delete from vault.secrets where name in ('project_url', 'cron_secret')");
const fill = (site: string, secret: string) => database.query("select jobs.fill_vault($1, $2)", [site, secret]);
async function matches(site: string, ...hashes: string[]): Promise<{ project_url: boolean; cron_secret: boolean }> {
  const [row] = await database.query<{ answer: { project_url: boolean; cron_secret: boolean } }>(
    "select jobs.vault_matches($1, $2) as answer",
    [site, hashes],
  );
  return row!.answer;
}

Deno.test("an empty vault matches no value, not even an empty one", async () => {
  await empty();
  assertEquals(await matches("", hash("")), { project_url: false, cron_secret: false });
  assertEquals(await matches(SITE), { project_url: false, cron_secret: false });
});

Deno.test("vault_matches() is true only for stored values", async () => {
  await empty();
  await fill(SITE, SECRET);
  assertEquals(await matches(SITE, hash("another"), hash(SECRET)), { project_url: true, cron_secret: true });
  assertEquals(await matches(`${SITE}/`, hash(`${SECRET}x`)), { project_url: false, cron_secret: false });
});

Deno.test("a rotated secret replaces the old one, and the first of a list is current", async () => {
  await fill(SITE, SECRET);
  await fill(SITE, `a-new-secret, ${SECRET}`);
  assertEquals(await matches(SITE, hash(SECRET)), { project_url: true, cron_secret: false });
  assertEquals(await matches(SITE, hash("a-new-secret")), { project_url: true, cron_secret: true });
  const [{ count }] = await database.query<{ count: number }>(
    "select count(*)::int as count from vault.secrets where name in ('project_url', 'cron_secret')",
  ) as [{ count: number }];
  assertEquals(count, 2);
});

Deno.test("a blank value is rejected, changes nothing, and the error contains no value", async () => {
  await fill(SITE, SECRET);
  for (const [site, secret] of [["", SECRET], [SITE, "  "]] as const) {
    const error = await assertRejects(() => fill(site, secret), Error, "blank");
    assert(!error.message.includes(SECRET));
  }
  assertEquals(await matches(SITE, hash(SECRET)), { project_url: true, cron_secret: true });
});

Deno.test("the report names every schedule and its last run, without messages", async () => {
  await fill(SITE, SECRET);
  await database.query("delete from cron.job_run_details");
  await database.query(
    `insert into cron.job_run_details (jobid, status, return_message, start_time, end_time)
    select jobid, 'failed', 'a message with ' || $1, '2026-11-20T08:00:00Z', '2026-11-20T08:00:01Z' from cron.job
    where jobname = 'reminders'`,
    [SECRET],
  );
  await database.asService("record_job_run", {
    job: "reminders",
    period: "2026-11-20",
    stage: "roll",
    status: "failed",
    counts: {},
    error_code: "unavailable",
    started_at: "2026-11-20T08:00:00Z",
    finished_at: "2026-11-20T08:00:02Z",
  });
  const report = await database.asService("check_schedule", {
    project_url: SITE,
    cron_secret_hashes: [hash(SECRET)],
  }) as Record<string, never>;
  assert(!JSON.stringify(report).includes(SECRET));
  assertEquals(report.vault, { project_url: true, cron_secret: true });
  const { schedules, runs } = report as unknown as {
    schedules: { name: string; last_status: string | null; last_succeeded_at: string | null }[];
    runs: { job: string; last_ok_at: string | null; failed_stages: string[] }[];
  };
  assertEquals(
    schedules.map(({ name }) => name),
    [
      "provider-sync",
      "provider-sync-catch-up",
      "purge-expired",
      "read-mail",
      "reminders",
      "reminders-catch-up",
      "replay-payment-events",
      "roll-bills",
      "send-events",
    ],
  );
  const reminders = schedules.find(({ name }) => name === "reminders")!;
  assertEquals([reminders.last_status, reminders.last_succeeded_at], ["failed", null]);
  assertEquals(runs.map(({ job, last_ok_at, failed_stages }) => ({ job, last_ok_at, failed_stages })), [
    { job: "reminders", last_ok_at: null, failed_stages: ["roll"] },
  ]);
});

Deno.test("a run that stopped before its last stage doesn't count as a success", async () => {
  await database.reset();
  const note = (stage: string, at: string) =>
    database.asService("record_job_run", {
      job: "reminders",
      period: at.slice(0, 10),
      stage,
      status: "ok",
      counts: {},
      error_code: null,
      started_at: at,
      finished_at: at,
    });
  const stages = ["candidates", "roll", "proposals", "reminders", "rates", "past_rates"];
  for (const stage of stages) await note(stage, "2026-11-19T08:00:00Z");
  // Killed while it sent mails.
  for (const stage of stages.slice(0, 3)) await note(stage, "2026-11-20T08:00:00Z");
  const report = await database.asService<{ runs: { last_finished_at: string; last_ok_at: string }[] }>(
    "check_schedule",
    { project_url: SITE, cron_secret_hashes: [hash(SECRET)] },
  );
  const [{ last_finished_at, last_ok_at }] = report.runs as [{ last_finished_at: string; last_ok_at: string }];
  assertEquals([last_finished_at, last_ok_at].map((at) => at.slice(0, 10)), ["2026-11-19", "2026-11-19"]);
});
