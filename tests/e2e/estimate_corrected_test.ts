/** An automatic payment is recorded with an estimate, and a later statement corrects it. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ProviderError } from "../../shared/providers/provider_error.ts";
import { openDatabase } from "../_support/database.ts";
import { rollAll } from "../_support/roll_bills.ts";
import { asDatabase } from "../functions/cron-reminders/harness.ts";
import { addLink, createSync, fakeProvider, registryOf } from "../functions/cron-provider-sync/harness.ts";
import { type Json, newMember } from "./connector_harness.ts";

Deno.test("a later statement corrects the estimate, unless a person undid it", async () => {
  await using database = await openDatabase();
  let now = "2026-10-20T09:00:00Z";
  const clock = () => new Date(now);
  const statements = new Map<string, string>();
  const asked: string[] = [];
  const cloud = fakeProvider("cloud", ({ month }) => {
    asked.push(month.start);
    const amount = statements.get(month.start);
    if (!amount) throw new ProviderError("not_ready", "Not yet");
    return { amount, currency: "EUR" };
  });
  /** A day's work: bills roll, and at 06:00 the job queries the provider. */
  const day = async (date: string, period?: string) => {
    now = `${date}T06:00:00Z`;
    await rollAll(database, now);
    const job = createSync({ database: asDatabase(database), registry: registryOf(cloud), now: clock });
    const answer = await job.run(period);
    now = `${date}T09:00:00Z`;
    return answer;
  };
  const mira = await newMember(database, { plan: "team", clock });
  const other = await newMember(database, { plan: "team", clock });
  const { ok } = mira;
  const { bill } = (await ok("add_bill", {
    name: "Cloud",
    amount_mode: "variable",
    amount: "80",
    first_due: "2026-11-05",
    autopay: true,
  })).data;
  await addLink(database, { organizationId: mira.organizationId, billId: bill.id, provider: "cloud" });
  const paid = async () =>
    (await ok("list_bills", { bill_id: bill.id })).data.payments.map((
      { due_on, amount, is_estimate, amount_from }: Json,
    ) => [due_on, amount, is_estimate ?? false, amount_from ?? null]);
  const spent = async () => (await ok("summarize_spending", { from: "2026-11-01", to: "2026-11-30" }));
  let changeId = "";

  // On its date the payment is recorded, and marked as an estimate everywhere.
  {
    assertEquals((await day("2026-11-02")).errors.map(({ code }) => code), ["not_ready"]);
    assertEquals((await day("2026-11-06")).synced, 0);
    assertEquals(await paid(), [["2026-11-05", "80.00", true, null]]);
    const { data, warnings } = await spent();
    assertEquals([data.total.amount, warnings.map(({ code }: Json) => code)], ["80.00", ["amount_estimated"]]);
    assertEquals((await ok("list_expenses")).data.rows[0].is_estimate, true);
    assertEquals((await ok("list_bills")).data.bills[0].overdue, []);
  }

  // The statement corrects it in source, totals and the list of changes.
  {
    statements.set("2026-10-01", "71.30");
    assertEquals((await day("2026-11-07")).synced, 1);
    assertEquals(await paid(), [["2026-11-05", "71.30", false, "The cloud company"]]);
    const { data, warnings } = await spent();
    assertEquals([data.total.amount, warnings], ["71.30", []]);
    assertEquals((await ok("list_expenses")).data.rows[0].is_estimate, undefined);
    const [change] = (await ok("get_context", { include: ["recent_changes"] })).data.recent_changes;
    assertEquals(
      change.summary,
      "Fetched from The cloud company: Cloud due 2026-11-05 was 71.30 EUR, not the " +
        "estimated 80.00; the payment is corrected.",
    );
    changeId = change.change_id;
  }

  // Undo restores the estimate, syncing keeps it, and others can't undo it.
  {
    assertEquals((await other.call("undo_change", { change_id: changeId })).envelope.ok, false);
    await ok("undo_change", { change_id: changeId });
    assertEquals((await mira.call("undo_change", { change_id: changeId })).envelope.error.code, "already_undone");
    assertEquals(await paid(), [["2026-11-05", "80.00", true, null]]);
    const before = asked.length;
    await day("2026-11-08");
    assertEquals(asked.length, before, "the statement is known");
    await day("2026-11-09", "2026-10");
    assertEquals(await paid(), [["2026-11-05", "80.00", true, null]], "the same again is no news");
  }

  // A month later only the new month is fetched.
  {
    statements.set("2026-11-01", "75");
    const before = asked.length;
    assertEquals((await day("2026-12-02")).synced, 1);
    assertEquals(asked.slice(before), ["2026-11-01"]);
    await day("2026-12-06");
    assertEquals(await paid(), [
      ["2026-12-05", "75.00", false, "The cloud company"],
      ["2026-11-05", "80.00", true, null],
    ]);
  }

  // A corrected statement replaces the amount.
  {
    statements.set("2026-10-01", "72");
    await day("2026-12-07", "2026-10");
    assertEquals((await paid())[1], ["2026-11-05", "72.00", false, "The cloud company"]);
    const { text } = await mira.call("list_bills", { bill_id: bill.id });
    assertStringIncludes(text, "The cloud company");
  }
});
