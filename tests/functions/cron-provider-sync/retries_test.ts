/** Retries after an answer without an amount, and their end. */
import { assertEquals } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { amounts } from "./harness.ts";
import { database, job, later, setUp } from "./scripted_job.ts";

Deno.test("an amount that is not ready is retried daily and reported missing after the 10th", async () => {
  const { registry, script, asked, books } = await setUp();
  script.error = new ProviderError("not_ready", "Not yet");
  for (let day = 0; day < 9; day++) {
    const answer = await job({ registry, now: () => later(day) }).run();
    assertEquals([answer.ok, answer.synced, answer.errors.map(({ code, count }) => [code, count])], [
      true,
      0,
      [["not_ready", 1]],
    ]);
  }
  assertEquals(asked.length, 9);
  assertEquals(await amounts(database), ["2026-10-25 - rule"]);
  books.goTo("2026-10-10");
  assertEquals((await books.ok("review_bills")).counts.provider_attention, 0);
  books.goTo("2026-10-11");
  const [finding] = (await books.ok("review_bills")).provider_attention;
  assertEquals([finding.kind, finding.text], [
    "amount_missing",
    "The amount of Power is missing: The power company has no statement for 2026-09. Set it with update_bill once it is known.",
  ]);
});

Deno.test("a refused credential stops fetching at once; reconnecting starts it again", async () => {
  const { registry, script, asked, linkId } = await setUp();
  script.error = new ProviderError("auth", "No");
  const first = await job({ registry }).run();
  assertEquals(first.errors, [{
    stage: "sync",
    code: "auth",
    message: "A provider no longer accepts the credential; the owner has to reconnect the bill.",
    ref: linkId,
    count: 1,
  }]);
  assertEquals(await database.query("select status from app.provider_links"), [{ status: "needs_reauth" }]);
  await job({ registry, now: () => later(1) }).run();
  assertEquals(asked.length, 1);
  assertEquals(
    await database.query(
      "select event, detail ->> 'link' as link from identity.audit_events where event like 'provider.%'",
    ),
    [{ event: "provider.refused", link: linkId }],
  );
  script.error = undefined;
  await database.query("update app.provider_links set status = 'active', asked_at = null");
  assertEquals((await job({ registry, now: () => later(1) }).run()).synced, 1);
});

Deno.test("a short database outage makes no link lose its day", async () => {
  const { registry, asked } = await setUp();
  const real = asDatabase(database);
  let failures = 2;
  const reached: typeof real = {
    call: (name, args, options) =>
      name === "claim_provider_link" && failures-- > 0
        ? Promise.reject(new AppError("unavailable", "away"))
        : real.call(name, args, options),
  };
  const answer = await job({ registry, database: reached }).run();
  assertEquals([answer.ok, answer.synced, asked.length], [true, 1, 1]);
});

Deno.test("a run keeps the pause that a provider requests", async () => {
  const { registry, script, asked } = await setUp();
  script.error = new ProviderError("rate_limited", "Slow down", 3 * 3600);
  await job({ registry }).run();
  script.error = undefined;
  const hours = (count: number) => () => later(count / 24);
  await job({ registry, now: hours(2.9) }).run();
  assertEquals(asked.length, 1);
  assertEquals((await job({ registry, now: hours(3) }).run()).synced, 1);
});

Deno.test("a one-day pause ends before the next day's run, which starts slightly earlier", async () => {
  const { registry, script } = await setUp();
  script.error = new ProviderError("rate_limited", "Slow down", 86_400);
  await job({ registry }).run();
  script.error = undefined;
  assertEquals((await job({ registry, now: () => later(1 - 1 / 86_400) }).run()).synced, 1);
});
