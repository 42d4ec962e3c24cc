/**
 * One run fetches the months before the last one, up to a year, in turns with other links, and each once despite
 * interruptions.
 */
import { assertEquals } from "@std/assert";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import type { MonthRequest } from "../../../shared/providers/provider.ts";
import { type Json, openBooks } from "../../_support/books.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { addLink, createSync, fakeProvider, registryOf } from "./harness.ts";
import { addLinkedBills, fetched, linkId } from "./linked_bills.ts";
import { database, later } from "./scripted_job.ts";

const YEAR = Array.from({ length: 12 }, (_, ago) => new Date(Date.UTC(2026, 8 - ago, 1)).toISOString().slice(0, 10));

/** Returns 80.00 plus the number of the month, or a test's error for that month; records the requested months. */
function monthlyProvider(fail: (month: string) => Error | undefined = () => undefined) {
  const asked: string[] = [];
  const provider = fakeProvider("power", ({ month }: MonthRequest) => {
    asked.push(month.start);
    const error = fail(month.start);
    if (error) throw error;
    return { amount: `${80 + Number(month.start.slice(5, 7))}.00`, currency: "EUR" };
  });
  return { asked, registry: registryOf(provider) };
}
const run = (registry: ReturnType<typeof monthlyProvider>["registry"], days = 0) =>
  createSync({ database: asDatabase(database), registry, now: () => later(days) }).run();

/** A bill without an amount for a year, connected since yesterday. */
async function setUp({ autopay = true } = {}) {
  await database.reset();
  const books = await openBooks(database, { day: "2025-09-20" });
  const { bill } = await books.ok("add_bill", {
    name: "Power",
    amount_mode: "variable",
    first_due: "2025-09-25",
    autopay,
  });
  books.goTo("2026-10-02");
  await database.query("select app.refresh_bill($1, '2026-10-02')", [bill.id]);
  await addLink(database, { organizationId: books.organizationId, billId: bill.id, provider: "power" });
  return { books, billId: bill.id as string };
}
const paid = (billId: string) =>
  database.query<{ paid_on: string; minor: number; is_estimate: boolean }>(
    `select p.paid_on::text, p.amount_minor::int as minor, p.is_estimate from app.payments as p
     where p.expense_id = $1 and p.deleted_at is null order by p.paid_on desc`,
    [billId],
  );

Deno.test("a bill connected after a year gets twelve months in one run, latest first, each a change", async () => {
  const { asked, registry } = monthlyProvider();
  const { books, billId } = await setUp();
  assertEquals(await run(registry), { ok: true, period: "2026-09-01", links: 1, synced: 1, errors: [] });
  assertEquals(asked, YEAR);
  const payments = await paid(billId);
  assertEquals(payments.slice(0, 2), [
    { paid_on: "2026-09-25", minor: 8800, is_estimate: false },
    { paid_on: "2026-08-25", minor: 8700, is_estimate: false },
  ]);
  // The last month's date is in the future; the thirteenth month is never requested.
  assertEquals([payments.length, payments.at(-1)!.paid_on], [11, "2025-11-25"]);
  assertEquals((await books.ok("list_bills", { bill_id: billId })).bills[0].overdue, []);
  assertEquals((await run(registry, 1)).synced, 1);
  assertEquals(asked.length, 12, "what is there is not asked for again");

  const { change_id } = await oneChange("Power due 2026-08-25");
  await books.ok("undo_change", { change_id });
  for (const days of [2, 31]) await run(registry, days);
  assertEquals(asked.slice(12), ["2026-10-01"], "what a person undid is asked for no more");
  assertEquals((await paid(billId)).some(({ paid_on }) => paid_on === "2026-08-25"), false);
});

const oneChange = async (text: string): Promise<Json> => {
  const changes = await database.query<Json>(
    "select id as change_id, facts from app.change_sets where tool = 'provider_sync' order by recorded_seq",
  );
  const due = text.slice(-10);
  return changes.find(({ facts }) => facts.bill.due_on === due)!;
};

Deno.test("paid, priced and skipped dates are not fetched", async () => {
  const { asked, registry } = monthlyProvider();
  const { books, billId } = await setUp({ autopay: false });
  await books.ok("mark_bill_paid", { bill_id: billId, due_on: "2026-08-25", amount: "85", paid_on: "2026-08-25" });
  await books.ok("update_bill", {
    bill_id: billId,
    occurrence: { due_on: "2026-07-25", action: "set_amount", amount: "90" },
  });
  await books.ok("update_bill", { bill_id: billId, occurrence: { due_on: "2026-06-25", action: "skip" } });
  await run(registry);
  assertEquals(asked, YEAR.filter((month) => !["2026-07-01", "2026-06-01", "2026-05-01"].includes(month)));
  assertEquals((await paid(billId)).length, 1);
});

Deno.test("a month without a statement blocks no other and is fetched again a month later", async () => {
  const { asked, registry } = monthlyProvider((month) =>
    month < "2026-05-01"
      ? new ProviderError("not_ready", "No data")
      : month === "2026-07-01"
      ? new ProviderError("bad_shape", "Two currencies")
      : undefined
  );
  const { billId } = await setUp();
  const answer = await run(registry);
  assertEquals([answer.synced, answer.errors.map(({ code, count }) => [code, count])], [1, [["bad_shape", 1]]]);
  assertEquals(asked, YEAR);
  assertEquals((await paid(billId)).map(({ paid_on }) => paid_on), ["2026-09-25", "2026-07-25", "2026-06-25"]);
  const [link] = await database.query("select status, last_error_code, consecutive_failures from app.provider_links");
  assertEquals(link, { status: "active", last_error_code: null, consecutive_failures: 0 });
  await run(registry, 1);
  assertEquals(asked.slice(12), ["2026-07-01"], "daily only what was no answer");
  await run(registry, 31);
  assertEquals(asked.slice(13), [
    "2026-10-01",
    "2026-07-01",
    ...YEAR.filter((m) => m >= "2025-11-01" && m < "2026-05-01"),
  ]);
});

Deno.test("a pause, timeout or rejected credential ends the run; fetched months stay, the rest follows", async () => {
  for (const code of ["rate_limited", "timeout", "upstream", "auth"] as const) {
    let calls = 0;
    const { asked, registry } = monthlyProvider(() => ++calls === 4 ? new ProviderError(code, "No", 60) : undefined);
    const { billId } = await setUp();
    const answer = await run(registry);
    assertEquals(answer.errors.map(({ code, count }) => [code, count]), [[code, 1]]);
    assertEquals([asked.length, (await paid(billId)).length], [4, 2], code);
    if (code === "auth") {
      assertEquals(await database.query("select status from app.provider_links"), [{ status: "needs_reauth" }]);
      await database.query("update app.provider_links set status = 'active', asked_at = null");
    }
    assertEquals((await run(registry, 1)).errors, []);
    assertEquals(asked.slice(4), YEAR.slice(3), code);
    assertEquals((await paid(billId)).length, 11);
  }
});

Deno.test("a killed run keeps fetched months, and the next run fetches the rest", async () => {
  let isAlive = true;
  const { asked, registry } = monthlyProvider();
  const { billId } = await setUp();
  const real = asDatabase(database);
  const dying = createSync({
    database: {
      call: (name, args) => {
        if (name === "keep_provider_answer" && asked.length === 5) isAlive = false;
        return isAlive ? real.call(name, args) : Promise.reject(new Error("killed"));
      },
    },
    registry,
    now: () => later(0),
  });
  await dying.run();
  assertEquals([asked, (await paid(billId)).length], [YEAR.slice(0, 5), 3]);
  // Its lease must expire.
  assertEquals((await run(registry, 1 / 1440)).errors.map(({ code }) => code), ["left_for_next_run"]);
  await run(registry, 1);
  assertEquals(asked.slice(5), YEAR.slice(4));
  assertEquals((await paid(billId)).length, 11);
});

Deno.test("one link with a year to fetch does not delay two hundred others", async () => {
  await database.reset();
  const bills = Array.from({ length: 201 }, (_, n) => ({ provider: "slow", credential: { account: String(n + 1) } }));
  await addLinkedBills(database, bills);
  await database.exec(`
    update app.expenses set anchor_on = '2025-10-25', tracked_from = '2025-10-25', next_due = '2025-10-25'
    where id = 'bill_00000001';
    select app.refresh_bill('bill_00000001', '2026-10-02')`);
  const asked: string[] = [];
  const slow = fakeProvider("slow", async ({ credential: { account }, month }) => {
    asked.push(`${account} ${month.start}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    return { amount: "80", currency: "USD" };
  });
  const sync = (limits = {}) =>
    createSync({ database: asDatabase(database), registry: registryOf(slow), now: () => later(0), limits });
  const answer = await sync({ concurrency: 2 }).run();
  assertEquals([answer.synced, answer.errors], [201, []]);
  // The other worker may still be fetching the last month.
  assertEquals(asked.slice(0, 200).filter((text) => !text.endsWith("2026-09-01")), []);
  assertEquals(asked.filter((text) => text.startsWith("1 ")), YEAR.map((month) => `1 ${month}`));
  assertEquals(asked.length, 201 + 11);
  for (const [n, { amount }] of await fetched(database)) if (n > 1) assertEquals(amount, "80.00", linkId(n));
});

Deno.test("two links with a backlog take turns, and postponed months are reported and kept", async () => {
  await database.reset();
  await addLinkedBills(database, [1, 2].map((n) => ({ provider: "slow", credential: { account: String(n) } })), {
    firstDue: "2025-10-25",
  });
  await database.exec("select app.refresh_bill(id, '2026-10-02') from app.expenses");
  const asked: string[] = [];
  const workMs = 3_000;
  const slow = fakeProvider("slow", async ({ credential: { account }, month }) => {
    asked.push(`${account} ${month.start}`);
    await Promise.resolve();
    return { amount: "80", currency: "USD" };
  });
  const sync = (days: number) =>
    createSync({
      database: asDatabase(database),
      registry: registryOf(slow),
      now: () => later(days),
      limits: { workMs, concurrency: 1, elapsed: () => days === 0 && asked.length >= 5 ? workMs : 0 },
    }).run();
  const answer = await sync(0);
  assertEquals(asked, YEAR.flatMap((month) => [`1 ${month}`, `2 ${month}`]).slice(0, 5));
  assertEquals(answer.errors.map(({ code, count }) => [code, count]), [["left_for_next_run", 2]]);
  assertEquals((await sync(1)).errors, []);
  assertEquals([asked.length, new Set(asked).size], [24, 24]);
});
