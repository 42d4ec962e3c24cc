/** A spoken expense and the bank's row of the next day are merged, recognized again, and separated. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A household on a team plan, on 6 October at 11:00. */
const household = () => newMember(database, { plan: "team" });

const log = async (member: Member, item: Json): Promise<string> =>
  (await member.ok("log_expenses", { items: [item], on_duplicate: "allow" })).data.results[0].id;
const rows = async (member: Member, args: Json = {}): Promise<Json[]> =>
  (await member.ok("list_expenses", args)).data.rows;
const total = async (member: Member) => (await member.ok("list_expenses")).totals_by_currency;

/** All stored data of an organization, except the times and counts of writes. */
const books = async ({ organizationId }: Member) =>
  await database.query(
    `select 'e' as of, e.id, to_jsonb(e) - 'version' - 'updated_at' as row from app.expenses as e where e.organization_id = $1
     union all
     select 'p', p.id, to_jsonb(p) - 'version' - 'updated_at' from app.payments as p where p.organization_id = $1
     order by 1, 2`,
    [organizationId],
  );

const CSV = "Date,Payee,Description,Amount\n2026-10-04,LIDL SAGT DANKE,Card,-23.45\n2026-10-05,Bakery,Rolls,-4.20";

async function importCsv(member: Member): Promise<Json> {
  const { data: { preview } } = await member.ok("import_expenses", { csv: CSV });
  if (preview.rows_ok > 0) await member.ok("import_expenses", preview.commit_with);
  return preview;
}

Deno.test("a spoken expense and a bank row merge into one, and the bank's file is still recognized", async () => {
  const member = await household();
  // Reported only after the import.
  await importCsv(member);
  const voice = await log(member, { name: "Lidl", amount: "23.45", date: "2026-10-03", tags: ["home"] });
  const bank = (await rows(member, { query: "LIDL SAGT" }))[0].id;
  await member.ok("update_expenses", {
    ids: [bank],
    set: { note: "card 1234", url: "https://bank.example/1", tags: ["card", "Home"], category: "Groceries" },
  });
  assertEquals(await total(member), { EUR: "51.10" });
  const before = await books(member);

  const preview = await member.ok("update_expenses", { ids: [bank], merge_into: voice, dry_run: true });
  assertEquals(preview.data.merged.map(({ id, amount, date }: Json) => [id, amount, date]), [
    [bank, "23.45", "2026-10-04"],
  ]);
  assertEquals(await books(member), before);

  const merged = await member.ok("update_expenses", { ids: [bank], merge_into: voice });
  assertEquals(merged.data.updated[0].after, {
    note: "card 1234",
    tags: ["home", "card"],
    url: "https://bank.example/1",
  });
  const [kept] = await rows(member, { query: "Lidl" });
  assertEquals([kept.id, kept.amount, kept.date, kept.note, kept.category], [
    voice,
    "23.45",
    "2026-10-03",
    "card 1234",
    "Groceries",
  ]);
  assertEquals(await total(member), { EUR: "27.65" });

  // The same file again, and the same row by hand.
  const again = await importCsv(member);
  assertEquals([again.rows_ok, again.duplicates.map(({ existing_id }: Json) => existing_id).includes(voice)], [
    0,
    true,
  ]);
  const said = await member.ok("log_expenses", {
    items: [{ name: "Card", payee: "Lidl sagt Danke", amount: "23.45", date: "2026-10-04" }],
  });
  assertEquals(said.data.results[0].existing_id, voice);

  const { data: { recent_changes: [change] } } = await member.ok("get_context", { include: ["recent_changes"] });
  assertEquals(change.summary, "Merged LIDL SAGT DANKE into Lidl");
  await member.ok("undo_change", { change_id: merged.change_id });
  assertEquals(await books(member), before);
});

Deno.test("an external id is still recognized after its record was merged once or twice", async () => {
  const member = await household();
  const one = await log(member, { name: "Uber", amount: "17.30", date: "2026-10-01" });
  const two = await log(member, { name: "Ride", amount: "17.30", date: "2026-10-02", external_id: "ride-0001" });
  const three = await log(member, { name: "Taxi", amount: "17.30", date: "2026-10-02" });
  await member.ok("update_expenses", { ids: [two], merge_into: three });
  const second = await member.ok("update_expenses", { ids: [three], merge_into: one });
  const relog = async () =>
    (await member.ok("log_expenses", {
      items: [{ name: "Other", amount: "9", external_id: "ride-0001" }],
      dry_run: true,
    })).data.results[0].existing_id;
  assertEquals([await relog(), await total(member)], [one, { EUR: "17.30" }]);
  await member.ok("undo_change", { change_id: second.change_id });
  assertEquals(await relog(), three);
  // After the kept record is purged, the expense may be logged again.
  await member.ok("delete_records", { ids: [three] });
  assertEquals(await relog(), undefined);
});

Deno.test("the card's euros become the charge of the dollar subscription", async () => {
  const member = await household();
  const { data: { bill } } = await member.ok("add_bill", {
    name: "ChatGPT Plus",
    amount: "20",
    currency: "USD",
    first_due: "2026-10-06",
  });
  const { data: { payment } } = await member.ok("mark_bill_paid", { bill_id: bill.id });
  const card = await log(member, { name: "OPENAI *CHATGPT", amount: "17.94", date: "2026-10-05" });
  const before = await books(member);
  const merged = await member.ok("update_expenses", { ids: [card], merge_into: payment.id });
  assertEquals(merged.data.updated[0].after, { charged: { amount: "17.94", currency: "EUR" } });
  const [row, ...others] = await rows(member);
  assertEquals([row.id, row.amount, row.currency, row.base_amount, others], [payment.id, "20.00", "USD", "17.94", []]);
  const { data: { results: [again] } } = await member.ok("log_expenses", {
    items: [{ name: "openai *chatgpt", amount: "17.94", date: "2026-10-05" }],
  });
  assertEquals([again.status, again.existing_id], ["duplicate", payment.id]);
  await member.ok("undo_change", { change_id: merged.change_id });
  assertEquals(await books(member), before);
  // The same with a merge into another expense.
  const dollars = await log(member, { name: "ChatGPT", amount: "20", currency: "USD", date: "2026-10-05" });
  const { data: { updated } } = await member.ok("update_expenses", { ids: [card], merge_into: dollars });
  assertEquals(updated[0].after, { category: "Software", charged: { amount: "17.94", currency: "EUR" } });
});

Deno.test("records that can't be merged are rejected", async () => {
  const member = await household();
  const stranger = await household();
  const foreign = await log(stranger, { name: "Lidl", amount: "23.45" });
  const one = await log(member, { name: "Lidl", amount: "23.45" });
  const two = await log(member, { name: "Lidl", amount: "23.45" });
  const refund = await log(member, { name: "Lidl back", amount: "23.45", is_refund: true });
  const deleted = await log(member, { name: "Lidl", amount: "1" });
  await member.ok("delete_records", { ids: [deleted] });
  const whole = await log(member, { name: "Lidl", amount: "30", split: [{ amount: "20" }, {}] });
  const before = await books(member);
  const refuse = async (args: Json) => (await member.fails("update_expenses", args)).message;
  assertMatch(await refuse({ ids: [one], merge_into: one }), /into itself/);
  assertMatch(await refuse({ ids: [one, two], merge_into: two }), /into itself/);
  assertMatch(await refuse({ ids: [one], merge_into: two, set: { note: "x" } }), /takes only ids/);
  assertMatch(await refuse({ filter: { query: "Lidl" }, merge_into: two }), /takes only ids/);
  assertMatch(await refuse({ ids: [one], merge_into: refund }), /one is a refund/);
  assertMatch(await refuse({ ids: [whole], merge_into: one }), /one part of a split/);
  assertMatch(await refuse({ ids: [one], merge_into: deleted }), /Already deleted: Lidl/);
  assertMatch(await refuse({ ids: [one], merge_into: foreign }), /not in Home/);
  assertMatch(await refuse({ ids: [foreign], merge_into: one }), /not in Home/);
  assertMatch(await refuse({ ids: [one], merge_into: "pay_000000000000" }), /not in Home/);
  assertEquals(await books(member), before);
  await member.ok("update_expenses", { ids: [two], merge_into: one });
  assertMatch(await refuse({ ids: [two], merge_into: one }), /Already deleted|not in Home/);
});

Deno.test("a merge copies missing tax and reimbursement to the remaining record", async () => {
  const member = await household();
  const said = await log(member, { name: "Train", amount: "119", tax: "19.00", reimbursement: "open" });
  const bank = await log(member, { name: "DB VERTRIEB", amount: "119", reimbursement: "done", reimbursed_by: "Acme" });
  const other = await log(member, { name: "Train home", amount: "120" });
  const fields = async (id: string) => {
    const row = (await rows(member)).find((row) => row.id === id)!;
    return [row.tax, row.tax_percent, row.reimbursement, row.reimbursed_by].map((value) => value ?? null);
  };
  await member.ok("update_expenses", { ids: [said], merge_into: bank });
  assertEquals(await fields(bank), ["19.00", 19, "done", "Acme"]);
  await member.ok("undo_change");
  assertEquals(await fields(bank), [null, null, "done", "Acme"]);
  // A different amount has a different tax.
  await member.ok("update_expenses", { ids: [said], merge_into: other });
  assertEquals(await fields(other), [null, null, "open", null]);
});

Deno.test("logging cannot be undone for the target of a merge", async () => {
  const member = await household();
  const logged = await member.ok("log_expenses", { items: [{ name: "Lidl", amount: "23.45", note: "milk" }] });
  const two = await log(member, { name: "Lidl Berlin", amount: "23.45" });
  const merged = await member.ok("update_expenses", { ids: [two], merge_into: logged.data.results[0].id });
  assertEquals((await member.fails("undo_change", { change_id: logged.change_id })).code, "undo_conflict");
  assertEquals(await total(member), { EUR: "23.45" });
  await member.ok("undo_change", { change_id: merged.change_id });
  await member.ok("undo_change", { change_id: logged.change_id });
  assertEquals((await rows(member)).map(({ id }) => id), [two]);
});

Deno.test("a merged record is retained as long as its target", async () => {
  const member = await household();
  const one = await log(member, { name: "Lidl", amount: "23.45", date: "2026-10-05" });
  const two = await log(member, { name: "Lidl Berlin", amount: "23.45", date: "2026-10-06" });
  await member.ok("update_expenses", { ids: [two], merge_into: one });
  const purge = async (day: string) => {
    for (let run = 0; run < 2; run++) await database.query("select jobs.purge_expired($1)", [day]);
    const [{ count }] = await database.query<Json>(
      "select count(*)::int as count from app.expenses where organization_id = $1",
      [member.organizationId],
    );
    return count;
  };
  assertEquals(await purge("2027-02-01"), 2);
  await member.ok("delete_records", { ids: [one] });
  assertEquals(await purge("2027-03-01"), 0);
});
