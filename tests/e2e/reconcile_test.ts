/** Spoken expenses and the bank's later statement become one set of books, exact to the cent. */
import { assertEquals, assertMatch } from "@std/assert";
import { addRate } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { joinMember, type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A household on a team plan, on 6 October at 11:00. */
const household = () => newMember(database, { plan: "team" });

const say = (member: Member, ...items: Json[]) => member.ok("log_expenses", { items, on_duplicate: "allow" });
const total = async (member: Member) => (await member.ok("list_expenses")).totals_by_currency;
const compare = async (member: Member, args: Json = {}) =>
  (await member.ok("reconcile", { account: "Visa", ...args })).data;

async function importRows(member: Member, rows: string[], more: Json = {}): Promise<Json> {
  const csv = ["Date,Description,Amount,Balance", ...rows].join("\n");
  const { data: { preview } } = await member.ok("import_expenses", {
    csv,
    account: "Visa",
    mapping: { negative_is_expense: true },
    ...more,
  });
  assertEquals(preview.questions, []);
  return { preview, ...(await member.ok("import_expenses", preview.commit_with)) };
}

const STATEMENT = [
  "2026-10-02,LIDL SAGT DANKE 4411,-23.45,976.55",
  "2026-10-02,STARBUCKS 12345 BERLIN,-4.20,972.35",
  "2026-10-03,UBER *TRIP,-17.30,955.05",
  "2026-10-04,OPENAI *CHATGPT SUBSCR,-17.94,937.11",
  "2026-10-05,BAECKEREI KAMPS,-9.95,927.16",
];

/** Lidl, Starbucks and Uber were reported on the day; the dollars of ChatGPT are a paid bill. */
async function voice(member: Member): Promise<void> {
  await addRate(database, "USD", "2026-10-05", "1.1150");
  await say(
    member,
    { name: "Lidl", amount: "23.45", date: "2026-10-01" },
    { name: "Starbucks", amount: "4.20", date: "2026-10-01" },
    { name: "Uber", amount: "17.30", date: "2026-10-02" },
  );
  const { data: { bill } } = await member.ok("add_bill", {
    name: "ChatGPT Plus",
    amount: "20",
    currency: "USD",
    first_due: "2026-10-06",
  });
  await member.ok("mark_bill_paid", { bill_id: bill.id });
}

Deno.test("books and statement both total 54.90; the 20-dollar bill matches the card's 17.94", async () => {
  const member = await household();
  await voice(member);
  const { data, change_id } = await importRows(member, STATEMENT);
  assertEquals([data.created, data.linked], [1, 4]);
  assertEquals(await total(member), { EUR: "54.90", USD: "20.00" });
  const paid = (await member.ok("list_expenses", { kind: "bill_payment" })).data.rows[0];
  assertEquals([paid.amount, paid.charged, paid.base_amount], [
    "20.00",
    { amount: "17.94", currency: "EUR" },
    "17.94",
  ]);
  const agreed = await compare(member);
  assertEquals(agreed, {
    account: "Visa",
    from: "2026-10-02",
    to: "2026-10-05",
    bank_only: [],
    books_only: [],
    bank_only_count: 0,
    books_only_count: 0,
    linked_count: 5,
    without_document_count: 5,
    transfers: [],
    balance: {
      from: "2026-10-02",
      to: "2026-10-05",
      opening: "1000.00",
      closing: "927.16",
      closing_on: "2026-10-05",
      proven: true,
    },
    balances: [{ on: "2026-10-05", amount: "927.16", currency: "EUR", source: "statement" }],
    totals: { bank: { EUR: "72.84" }, books: { EUR: "72.84" }, difference: { EUR: "0.00" } },
  });
  // The file again, and one that overlaps.
  const again = await importRows(member, STATEMENT.slice(1));
  assertEquals([again.data.created, again.data.linked, await total(member)], [0, 0, { EUR: "54.90", USD: "20.00" }]);
  await member.ok("undo_change", { change_id });
  assertEquals(await total(member), { EUR: "44.95", USD: "20.00" });
  const undone = await compare(member, { from: "2026-10-01", to: "2026-10-05" });
  // The later file's statement stays in effect.
  assertEquals([undone.linked_count, undone.balance.opening], [0, "976.55"]);
});

Deno.test("reconcile names one-sided entries and the difference", async () => {
  const member = await household();
  await voice(member);
  await say(member, { name: "Market", amount: "8.00", date: "2026-10-03" });
  await importRows(member, STATEMENT, { skip_lines: [6] });
  const [uber] = (await member.ok("list_expenses", { query: "Uber" })).data.rows;
  await member.ok("delete_records", { ids: [uber.id] });
  const found = await compare(member);
  assertEquals(found.bank_only.map(({ text, amount, skipped }: Json) => [text, amount, skipped]), [
    ["UBER *TRIP", "17.30", undefined],
    ["BAECKEREI KAMPS", "9.95", true],
  ]);
  assertEquals(found.books_only.map(({ name, amount }: Json) => [name, amount]), [["Market", "8.00"]]);
  assertEquals([found.books_only[0].has_document, found.without_document_count], [undefined, 4]);
  assertEquals(found.totals, {
    bank: { EUR: "72.84" },
    books: { EUR: "53.59" },
    difference: { EUR: "19.25" },
  });
  const told = async () =>
    (await member.ok("reconcile", { account: "Visa" })).warnings.map(({ message }: Json) => message);
  assertEquals(await told(), [
    "1 record in books_only, 8.00 EUR, is in no statement. The books do not know which account paid, so this includes " +
    "cash, other accounts and other members’ cards. Without books_only, the difference to Visa is 27.25 EUR.",
  ]);
  // An amount that has changed since also differs.
  const [lidl] = (await member.ok("list_expenses", { query: "Lidl" })).data.rows;
  await member.ok("update_expenses", { ids: [lidl.id], set: { amount: "20.00" } });
  assertEquals((await compare(member)).totals.difference, { EUR: "22.70" });
  // The lines of another account's statement don't count here.
  const { data: { preview } } = await member.ok("import_expenses", {
    csv: "Date,Description,Amount\n2026-10-04,Market,-8.00\n",
    account: "Giro",
    mapping: { negative_is_expense: true },
  });
  await member.ok("import_expenses", preview.commit_with);
  assertEquals([(await compare(member)).books_only, await told()], [[], []]);
  // Another member's payment is attributed to that member.
  const ben = await joinMember(database, { organizationId: member.organizationId });
  await say(ben, { name: "Bakery", amount: "3.00", date: "2026-10-04" });
  assertEquals((await compare(member)).books_only.map(({ paid_by }: Json) => paid_by), [ben.email]);
  assertEquals((await compare(ben)).books_only.map(({ paid_by }: Json) => paid_by), [undefined]);
});

Deno.test("an import that was split later still reconciles", async () => {
  const member = await household();
  await importRows(member, STATEMENT);
  const [lidl] = (await member.ok("list_expenses", { query: "Lidl" })).data.rows;
  const parts = [{ amount: "20.00" }, { amount: "3.45", category: "Shopping" }];
  const { change_id } = await member.ok("update_expenses", { ids: [lidl.id], set: { split: parts } });
  const found = await compare(member);
  assertEquals([found.bank_only, found.books_only, found.totals.difference], [[], [], { EUR: "0.00" }]);
  await member.ok("undo_change", { change_id });
  assertEquals((await compare(member)).totals.difference, { EUR: "0.00" });
});

Deno.test("reconcile rejects unknown accounts and other organizations", async () => {
  const [member, stranger] = [await household(), await household()];
  const undone = await importRows(member, STATEMENT);
  await member.ok("undo_change", { change_id: undone.change_id });
  assertEquals((await compare(member)).balance, undefined);
  await importRows(member, STATEMENT);
  assertMatch((await member.fails("reconcile", { account: "Amex" })).hint, /Visa/);
  assertMatch((await stranger.fails("reconcile", { account: "Visa" })).hint, /first statement/);
  const backwards = await member.ok("reconcile", { account: "visa", from: "2026-10-05", to: "2026-10-01" });
  assertEquals([backwards.data.from, backwards.data.to], ["2026-10-01", "2026-10-05"]);
  const theirs = await member.ok("reconcile", { account: "visa" });
  const [{ id }] = await database.query<{ id: string }>("select id from app.accounts where organization_id = $1", [
    member.organizationId,
  ]) as [{ id: string }];
  assertEquals((await member.ok("reconcile", { account: id })).data, theirs.data);
  assertEquals((await stranger.fails("reconcile", { account: id })).code, "not_found");
});

Deno.test("reconcile reports a period without a statement instead of an empty result", async () => {
  const member = await household();
  await say(member, { name: "Market", amount: "8.00", date: "2026-09-03" });
  const { change_id } = await importRows(member, STATEMENT);
  const warned = async (args: Json = {}) =>
    (await member.ok("reconcile", { account: "Visa", ...args })).warnings.map(({ message }: Json) => message);
  assertEquals(await warned(), []);
  assertEquals(await warned({ from: "2026-10-01", to: "2026-10-31" }), [
    "No balance of 2026-10-31 is known. Visa: 927.16 EUR on 2026-10-05; nothing after it is known.",
  ]);
  assertEquals(await warned({ from: "2026-09-01", to: "2026-09-30" }), [
    "The imported statements of Visa have rows from 2026-10-02 to 2026-10-05 only. Outside of these days nothing was " +
    "compared: rows of books_only there may be at the bank too.",
    "No balance of 2026-09-30 is known. Visa: 927.16 EUR on 2026-10-05; nothing before it is known.",
  ]);
  assertEquals((await warned({ from: "2026-09-20" })).length, 1);
  await member.ok("undo_change", { change_id });
  assertEquals(await warned(), [
    "No statement of Visa is in the books, so nothing was compared. Import one first (import_expenses).",
  ]);
});
