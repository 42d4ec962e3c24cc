/** Fetched amounts are applied once, to the right date, corrected, and never over a person's own amount. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Json, openBooks } from "../../_support/books.ts";
import { addLink, amounts, fakeProvider, registryOf, written } from "./harness.ts";
import { addBill, database, job, later, scriptedProvider, setUp } from "./scripted_job.ts";

Deno.test("last month's amount is fetched once and becomes this month's, as a separate change", async () => {
  const { registry, asked, books, billId } = await setUp();
  const sync = job({ registry });
  assertEquals(await sync.run(), { ok: true, period: "2026-09-01", links: 1, synced: 1, errors: [] });
  assertEquals(asked, [{ account: "acme", month: "2026-09-01" }]);
  assertEquals(await amounts(database), ["2026-10-25 84.20 provider"]);
  assertEquals((await books.ok("list_bills", { bill_id: billId })).bills[0].provider, {
    name: "The power company",
    status: "active",
  });
  const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
  assertEquals([change.summary, change.by], [
    "Fetched from The power company: Power due 2026-10-25 is 84.20 EUR.",
    "automatic",
  ]);
  assertEquals(
    await database.query("select job, period::text, stage, status, counts from jobs.job_runs"),
    [{
      job: "provider-sync",
      period: "2026-09-01",
      stage: "sync",
      status: "ok",
      counts: { links: 1, synced: 1, updated: 1 },
    }],
  );

  const before = await written(database);
  const again = job({ registry, now: () => later(1) });
  assertEquals((await again.run()).synced, 1);
  assertEquals(asked.length, 1, "what is kept is not asked for by the schedule");
  assertEquals((await again.run("2026-09")).synced, 1);
  assertEquals((await job({ registry, now: () => later(2) }).run("2026-09-01")).synced, 1);
  assertEquals(asked.length, 3, "whoever names the month asks again");
  assertEquals(await written(database), before);
});

Deno.test("the tool fetches the same statement, but nothing within an hour of the job", async () => {
  const { registry, books, billId } = await setUp();
  await job({ registry }).run();
  books.goTo("2026-10-02");
  await database.query("update app.provider_links set asked_at = '2026-10-02T11:30:00Z'");
  const soon = await books.ok("sync_bill_amounts");
  assertEquals([soon.pending, soon.bills[0].status], [undefined, "unchanged"]);
  books.goTo("2026-10-03");
  const { pending: [link] } = await books.ok("sync_bill_amounts", { bill_ids: [billId] });
  assertEquals([link.period, link.provider_key], ["2026-09-01", "power"]);
});

Deno.test("a past month is fetched for the date due after it, and once paid it stays unchanged", async () => {
  const { registry, script, books, billId } = await setUp();
  await books.ok("update_bill", { bill_id: billId, set: { first_due: "2026-10-25" } });
  books.goTo("2026-12-05");
  await books.ok("mark_bill_paid", { bill_id: billId, due_on: "2026-10-25", amount: "80", paid_on: "2026-10-25" });
  const now = () => new Date("2026-12-06T06:00:00Z");
  script.amount = "90";
  const answer = await job({ registry, now }).run("2026-09");
  assertEquals([answer.period, answer.synced], ["2026-09-01", 1]);
  assertEquals(await amounts(database), ["2026-11-25 - rule", "2026-12-25 - rule"]);
  assertEquals(
    await database.query(
      "select expected_minor::int as minor, paid_minor::int as paid from app.expense_occurrences where status = 'paid'",
    ),
    [{ minor: 8000, paid: 8000 }],
  );
  const [finding] = (await books.ok("review_bills")).provider_attention;
  assertEquals(finding.needs_review, { due_on: "2026-10-25", amount: "90.00", currency: "EUR", reason: "paid" });
  await job({ registry, now: () => new Date("2026-12-06T06:01:00Z") }).run("2026-10");
  assertEquals(await amounts(database), ["2026-11-25 90.00 provider", "2026-12-25 - rule"]);
});

Deno.test("a statement is not applied to the first day of the next month once its own date is paid", async () => {
  await database.reset();
  const registry = registryOf(scriptedProvider().provider);
  const books = await openBooks(database, { day: "2026-10-01" });
  const bill_id = await addBill(books, "Power", "2026-10-01");
  await addLink(database, { organizationId: books.organizationId, billId: bill_id, provider: "power" });
  await books.ok("mark_bill_paid", { bill_id, due_on: "2026-10-01", amount: "80" });
  await job({ registry }).run();
  assertEquals(await amounts(database), ["2026-11-01 - rule"]);
});

Deno.test("the new month's date is found even where it is still the previous month", async () => {
  await database.reset();
  const registry = registryOf(scriptedProvider().provider);
  const books = await openBooks(database, { day: "2026-10-20", timezone: "Pacific/Honolulu" });
  const billId = await addBill(books, "Power", "2026-10-30");
  await addLink(database, { organizationId: books.organizationId, billId, provider: "power" });
  // It is 30 November there, and a date is due on that day.
  await job({ registry, now: () => new Date("2026-12-01T06:00:00Z") }).run();
  assertEquals(await amounts(database), [
    "2026-10-30 84.20 provider",
    "2026-11-30 - rule",
    "2026-12-30 84.20 provider",
  ]);
});

Deno.test("a corrected statement replaces the first, and a large jump waits for a person", async () => {
  const { registry, script, books, billId } = await setUp();
  await job({ registry }).run();
  script.amount = "90";
  await job({ registry, now: () => later(1) }).run("2026-09");
  assertEquals(await amounts(database), ["2026-10-25 90.00 provider"]);
  books.goTo("2026-10-05");
  await books.ok("mark_bill_paid", { bill_id: billId, advance: true });
  script.amount = "500";
  const november = () => new Date("2026-11-02T06:00:00Z");
  assertEquals((await job({ registry, now: november }).run()).synced, 1);
  assertEquals(await amounts(database), ["2026-11-25 - rule"]);
  books.goTo("2026-11-03");
  assertEquals((await books.ok("list_bills", { bill_id: billId })).bills[0].provider.needs_review.usual, "90.00");
  assertEquals(
    await database.query(
      "select period::text, amount_minor::int as minor, status from app.provider_statements order by period, fetched_at",
    ),
    [
      { period: "2026-09-01", minor: 8420, status: "superseded" },
      { period: "2026-09-01", minor: 9000, status: "applied" },
      { period: "2026-10-01", minor: 50000, status: "needs_review" },
    ],
  );
});

Deno.test("a recreated date gets its predecessor's amount back on the next run", async () => {
  const rescheduled: Json[][] = [[{ status: "paused" }, { status: "active" }], [{ first_due: "2026-10-20" }]];
  for (const sets of rescheduled) {
    const { registry, asked, books, billId } = await setUp();
    await job({ registry }).run();
    books.goTo("2026-10-02");
    for (const set of sets) await books.ok("update_bill", { bill_id: billId, set });
    assertStringIncludes((await amounts(database)).join(), " - rule");
    assertEquals((await job({ registry, now: () => later(1) }).run()).synced, 1);
    const found = await amounts(database);
    assert(found.length === 1 && found[0]!.endsWith(" 84.20 provider"), String(found));
    await job({ registry, now: () => later(2) }).run();
    assertEquals(asked.length, 2, "then it has its date and is not asked for");
  }
});

Deno.test("a bill that becomes fixed during the provider's call keeps its amount", async () => {
  const { books, billId } = await setUp();
  const slow = fakeProvider("power", async () => {
    await books.ok("update_bill", { bill_id: billId, set: { amount_mode: "fixed", amount: "50" } });
    return { amount: "84.20", currency: "EUR" };
  });
  assertEquals((await job({ registry: registryOf(slow) }).run()).errors, []);
  assertEquals(await amounts(database), ["2026-10-25 50.00 rule"]);
  assertEquals((await books.ok("review_bills")).counts.provider_attention, 0);
});

Deno.test("an undone amount stays undone, however often the job runs", async () => {
  const { registry, books, billId } = await setUp();
  await job({ registry }).run();
  books.goTo("2026-10-02");
  const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
  await books.ok("undo_change", { change_id: change.change_id });
  await job({ registry, now: () => later(1) }).run();
  await job({ registry, now: () => later(1) }).run("2026-09");
  assertEquals(await amounts(database), ["2026-10-25 - rule"]);
  await books.ok("update_bill", { bill_id: billId, set: { note: "Meter in the cellar" } });
  const undone = await books.ok("undo_change");
  assertEquals(undone.undone.summary, "Changed Power: note", "the latest change of a person is their own");
});
