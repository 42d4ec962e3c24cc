/** Alerts that operators read in the database: the last run of each stage, and events that wait for an operator. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const record = (stage: string, status: string, day: number) =>
  database.asService("record_job_run", {
    job: "reminders",
    period: `2026-11-0${day}`,
    stage,
    status,
    counts: {},
    error_code: status === "failed" ? "unavailable" : null,
    started_at: `2026-11-0${day}T08:00:00Z`,
    finished_at: `2026-11-0${day}T08:00:05Z`,
  });
const alerts = () => database.query("select alert, about, reason from jobs.alerts order by about");

Deno.test("a failed stage is an alert until its latest run succeeds", async () => {
  await database.reset();
  assertEquals(await alerts(), []);
  await record("roll", "failed", 1);
  await record("rates", "failed", 1);
  await record("roll", "ok", 2);
  assertEquals(await alerts(), [{ alert: "stage_failed", about: "reminders rates", reason: "unavailable" }]);
  assertEquals(await database.query("select stage, status from jobs.latest_runs order by stage"), [
    { stage: "rates", status: "failed" },
    { stage: "roll", status: "ok" },
  ]);
});

Deno.test("a parked payment event is an alert that names its reason", async () => {
  await database.reset();
  await database.exec(`insert into billing.payment_events
    (body_hash, type, status, subscription_id, provider_plan_id, occurred_at, received_at, outcome, paid_count,
      auth_attempts, rank)
    values ('\\x00', 'subscription.charged', 'active', 'sub_1', 'plan_1', '2026-11-01', '2026-11-01', 'parked', 0, 0, 0)`);
  assertEquals(await alerts(), [{ alert: "event_parked", about: "sub_1", reason: "unknown_organization" }]);
});
