/** Reports of money that the books already contain: the calls, the totals after them, and the answers. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks, readChange } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";
import { refresh } from "./occurrence_bills.ts";

const RENT = { name: "Rent", payee: "Hausverwaltung Lang", amount: "1150.00", frequency: "monthly" };
const TELEKOM = { name: "Internet", payee: "Telekom", amount: "44.95", frequency: "monthly", first_due: "2026-12-01" };
const ELECTRICITY = {
  name: "Electricity",
  payee: "Stadtwerke",
  amount: "84.00",
  frequency: "monthly",
  first_due: "2026-11-28",
};
const SHE_PAID = { name: "Stadtwerke", amount: "84.00", date: "2026-11-26", note: "by card" };
const HER_RENT = { name: "Miete", payee: "Hausverwaltung Lang", amount: "1150", date: "2026-11-02" };

const addBill = async (books: Books, bill: Json): Promise<string> => (await books.ok("add_bill", bill)).bill.id;
const total = async (books: Books): Promise<string | undefined> =>
  (await books.call("list_expenses")).totals_by_currency.EUR;
const log = (books: Books, item: Json, more: Json = {}) => books.call("log_expenses", { items: [item], ...more });
const warned = ({ warnings }: Json, code: string): string =>
  warnings.find((warning: Json) => warning.code === code)?.message ?? "";
const importLine = async (books: Books, line: string) => {
  const { preview } = await books.ok("import_expenses", {
    ...importOfFile(`Date,Name,Amount\n${line}\n`, { account: "Giro", mapping: { negative_is_expense: true } }),
  });
  return await books.ok("import_expenses", preview.commit_with);
};

/** Books in which November's rent is paid. */
async function withRent(books: Books): Promise<string> {
  books.goTo("2026-11-01");
  const id = await addBill(books, { ...RENT, first_due: "2026-11-01" });
  await books.ok("mark_bill_paid", { bill_id: id });
  books.goTo("2026-11-27");
  return id;
}

testBooks("duplicates", { day: "2026-11-27" }, {
  "the Telekom bill went off my account today, 44.95": async (books) => {
    const bill_id = await addBill(books, TELEKOM);
    const said = { name: "Telekom", amount: "44.95" };
    for (const _ of [1, 2]) {
      const answer = await log(books, said);
      const [result] = answer.data.results;
      assertEquals([result.status, result.id, answer.change_id], ["likely_bill", undefined, undefined]);
      assertEquals(result.bill, {
        id: bill_id,
        name: "Internet",
        due_on: "2026-12-01",
        amount: "44.95",
        currency: "EUR",
      });
      assertEquals(
        warned(answer, "likely_bill"),
        '"Telekom" looks like the payment of the bill "Internet" due 2026-12-01. Nothing was written for it. If an open ' +
          'bill was paid, call mark_bill_paid with its due_on. If it is other spending, repeat only that with on_duplicate "allow".',
      );
      assertEquals(await total(books), undefined);
    }
    await books.ok("mark_bill_paid", { bill_id, due_on: "2026-12-01" });
    assertEquals(await total(books), "44.95");
    // Two days before, under another name.
    const after = await log(books, { name: "Internet", amount: "44.95", date: "2026-11-25" });
    assertEquals([after.data.results[0].status, after.data.results[0].bill.paid_on], ["likely_bill", "2026-11-27"]);
    assertStringIncludes(
      warned(after, "likely_bill"),
      "which is recorded as paid on 2026-11-27. Nothing was written for it. If it is",
    );
    assertEquals(await total(books), "44.95");
  },

  "add these from my bank: 02.11. Miete Hausverwaltung Lang 1.150,00": async (books) => {
    await withRent(books);
    const answer = await books.call("log_expenses", { items: [HER_RENT, { name: "Milk", amount: "1.20" }] });
    assertEquals(answer.data.results.map(({ status }: Json) => status), ["likely_bill", "created"]);
    assertEquals(answer.data.results[0].bill.paid_on, "2026-11-01");
    assertEquals(await total(books), "1151.20");
  },

  "log the rent of November, 1150 on the 1st": async (books) => {
    await withRent(books);
    const answer = await log(books, { name: "Rent", amount: "1150", date: "2026-11-01" });
    assertEquals(answer.data.results[0].status, "likely_bill");
    assertEquals(await total(books), "1150.00");
  },

  "an unrelated payment is logged without a question": async (books) => {
    await withRent(books);
    await addBill(books, { name: "Loan 2", amount: "80.00", frequency: "monthly", first_due: "2026-11-28" });
    for (
      const item of [
        { ...HER_RENT, amount: "1150.01" },
        { ...HER_RENT, date: "2026-11-07" },
        { ...HER_RENT, currency: "USD" },
        { name: "Sofa", amount: "1150", date: "2026-11-02" },
        { name: "Loan 1", amount: "80" },
        { name: "Rent", amount: "1150", date: "2026-11-01", is_refund: true },
      ]
    ) {
      assertEquals((await log(books, item)).data.results[0].status, "created", JSON.stringify(item));
    }
  },

  "the electricity is paid, and the books already have it as an expense": async (books) => {
    const [{ id }] = (await log(books, SHE_PAID)).data.results;
    const added = await books.call("add_bill", ELECTRICITY);
    assertEquals(
      warned(added, "already_spent"),
      '"Stadtwerke", 84.00 EUR on 2026-11-26, is in the books as an expense. Paying Electricity due 2026-11-28 links ' +
        "it, so that it counts once.",
    );
    const paid = await books.call("mark_bill_paid", { bill_name: "Electricity" });
    assertEquals(
      warned(paid, "linked"),
      '"Stadtwerke", 84.00 EUR on 2026-11-26, was in the books as a separate expense. It is now the payment of ' +
        "Electricity due 2026-11-28 and counts once. If it was other spending, undo this and call again with on_duplicate " +
        '"allow".',
    );
    assertEquals([paid.data.payment.paid_on, paid.data.occurrence.status], ["2026-11-26", "paid"]);
    let { rows } = await books.ok("list_expenses");
    assertEquals(rows.map(({ kind, note }: Json) => [kind, note]), [["bill_payment", "by card"]]);
    await books.fails("already_paid", "mark_bill_paid", { bill_name: "Electricity", due_on: "2026-11-28" });
    assertEquals((await log(books, SHE_PAID)).data.results[0].status, "duplicate");
    await books.ok("undo_change", { change_id: paid.change_id });
    ({ rows } = await books.ok("list_expenses"));
    assertEquals(rows.map((row: Json) => [row.id, row.kind]), [[id, "one_off"]]);
    const apart = await books.call("mark_bill_paid", { bill_name: "Electricity", on_duplicate: "allow" });
    assertEquals([warned(apart, "linked"), await total(books)], ["", "168.00"]);
  },

  "the payment that takes over an expense keeps its tax, link and tags": async (books) => {
    const url = "https://shop.example/r/1";
    await log(books, { ...SHE_PAID, tax: "13.41", url, tags: ["Office", "home"] });
    await addBill(books, { ...ELECTRICITY, tags: ["Home"] });
    const fields = async () =>
      (await books.ok("list_expenses")).rows.map((
        row: Json,
      ) => [row.kind, row.tax, row.tax_percent, row.note, row.url]);
    const before = await fields();
    assertEquals(before, [["one_off", "13.41", 19, "by card", url]]);
    const paid = await books.call("mark_bill_paid", { bill_name: "Electricity" });
    assertEquals(await fields(), [["bill_payment", "13.41", 19, `by card\n${url}\n#Office`, undefined]]);
    // The amount was wrong, and so was the tax.
    const corrected = await books.call("mark_bill_paid", {
      bill_name: "Electricity",
      due_on: "2026-11-28",
      amount: "11.90",
    });
    assertEquals((await books.ok("list_expenses")).rows.map(({ tax }: Json) => tax), ["1.90"]);
    await books.ok("undo_change", { change_id: corrected.change_id });
    await books.ok("undo_change", { change_id: paid.change_id });
    assertEquals(await fields(), before);
    assertEquals((await books.ok("list_expenses", { tags: ["Office"] })).rows.length, 1);
    await books.ok("mark_bill_paid", { bill_name: "Electricity", paid_on: "2026-11-27" });
    assertEquals(await total(books), "84.00");
  },

  "the payment in euros takes over the tax share of the dollar expense": async (books) => {
    const charged = { amount: "84.00", currency: "EUR" };
    await log(books, { ...SHE_PAID, amount: "90.00", currency: "USD", tax_percent: 19, charged });
    await addBill(books, ELECTRICITY);
    await books.ok("mark_bill_paid", { bill_name: "Electricity" });
    const [{ amount, tax, tax_percent }] = (await books.ok("list_expenses")).rows;
    assertEquals([amount, tax, tax_percent], ["84.00", "13.41", 19]);
  },

  "a split or reimbursed expense that resembles a bill is named, and counts beside its payment": async (
    books,
    database,
  ) => {
    const also = { split: [{ amount: "50.00" }, {}] };
    for (const [more, why] of [[{ reimbursement: "open" }, "somebody reimburses"], [also, "is split"]] as const) {
      const said = await log(books, { ...SHE_PAID, ...more });
      const [{ id }] = (await books.ok("list_expenses", { order: "asc" })).rows;
      const added = await books.call("add_bill", ELECTRICITY);
      const known = `"Stadtwerke" (${id}), 84.00 EUR on 2026-11-26, is recorded already as an expense that ${why}. ` +
        "Electricity due 2026-11-28 cannot take it over: both ";
      const ask = "Ask the person whether this is one payment. If so, delete that expense, or ";
      assertEquals(
        warned(added, "already_spent"),
        `${known}will count once it is paid. ${ask}skip that date (update_bill).`,
      );
      const paid = await books.call("mark_bill_paid", { bill_name: "Electricity", amount: "84.00" });
      assertEquals(
        warned(paid, "already_spent"),
        `${known}count now. ${ask}undo this and skip that date (update_bill).`,
      );
      assertEquals([await total(books), warned(paid, "linked")], ["168.00", ""]);
      await books.ok("undo_change", { change_id: paid.change_id });
      const sure = await books.call("mark_bill_paid", { bill_name: "Electricity", on_duplicate: "allow" });
      assertEquals(warned(sure, "already_spent"), "");
      for (const { change_id } of [sure, added, said]) await books.ok("undo_change", { change_id });
    }
    await log(books, { ...SHE_PAID, reimbursement: "open" });
    await refresh(database, await addBill(books, { ...ELECTRICITY, autopay: true }), "2026-11-29");
    const [change] = await database.query<{ id: string }>(
      "select id from app.change_sets where tool = 'autopay' and organization_id = $1",
      [books.organizationId],
    );
    assertEquals(
      (await readChange(database, change!.id)).summary,
      "Electricity paid automatically on 2026-11-28: 84.00 EUR, beside the equal expense of 2026-11-26",
    );
  },

  "the payment of a bill takes over no expense that somebody reimburses": async (books) => {
    await addBill(books, ELECTRICITY);
    const { payment } = await books.ok("mark_bill_paid", { bill_name: "Electricity" });
    const [{ id }] = (await log(books, { ...SHE_PAID, reimbursement: "open" }, { on_duplicate: "allow" })).data.results;
    const merge = { ids: [id], merge_into: payment.id };
    const { hint } = await books.fails("invalid_argument", "update_expenses", merge);
    assertStringIncludes(hint, 'set reimbursement "none" first');
    await books.ok("update_expenses", { ids: [id], set: { reimbursement: "none" } });
    await books.ok("update_expenses", merge);
    assertEquals(await total(books), "84.00");
  },

  "the electricity was 84.00, and the books had estimated 80": async (books) => {
    await log(books, SHE_PAID);
    await books.ok("add_bill", { ...ELECTRICITY, amount: "80.00", amount_mode: "estimated" });
    const paid = await books.call("mark_bill_paid", { bill_name: "Electricity" });
    assertEquals([paid.data.payment.amount, await total(books)], ["84.00", "84.00"]);
  },

  "the electricity bill this month was 91.37": async (books) => {
    await importLine(books, "2026-11-26,STADTWERKE 4711,-84.00");
    await addBill(books, { ...ELECTRICITY, amount_mode: "estimated" });
    const pay = { bill_name: "Electricity", due_on: "this_month", amount: "91.37" };
    const { message, hint } = await books.fails("duplicate", "mark_bill_paid", pay);
    assertEquals(
      message,
      '"STADTWERKE 4711", 84.00 EUR on 2026-11-26, is in the books and may be the payment of Electricity due 2026-11-28. ' +
        "Nothing was written.",
    );
    assertStringIncludes(hint, 'call again with amount "84.00"');
    assertEquals(await total(books), "84.00");
    await books.ok("mark_bill_paid", { ...pay, amount: "84.00" });
    assertEquals(await total(books), "84.00");
    assertEquals(
      (await log(books, { name: "Stadtwerke", amount: "91.37", date: "2026-11-27" })).data.results[0].status,
      "created",
    );
  },

  "the bill was paid with another amount, and then logged": async (books) => {
    await addBill(books, { ...ELECTRICITY, amount_mode: "estimated" });
    await books.ok("mark_bill_paid", { bill_name: "Electricity", amount: "91.37" });
    const [result] = (await log(books, { name: "Stadtwerke", amount: "91.37", date: "2026-11-27" })).data.results;
    assertEquals([result.status, await total(books)], ["duplicate", "91.37"]);
  },

  "a bill is charged automatically after it was logged": async (books, database) => {
    await log(books, SHE_PAID);
    const id = await addBill(books, { ...ELECTRICITY, autopay: true });
    await refresh(database, id, "2026-11-29");
    books.goTo("2026-11-29");
    assertEquals(await total(books), "84.00");
    const [change] = await database.query<{ id: string }>(
      "select id from app.change_sets where tool = 'autopay' and organization_id = $1",
      [books.organizationId],
    );
    assertEquals(
      (await readChange(database, change!.id)).summary,
      "Electricity paid automatically on 2026-11-28: 84.00 EUR, linked with the expense of 2026-11-26",
    );
    await books.ok("undo_change", { change_id: change!.id });
    assertEquals((await books.ok("list_expenses")).rows.map(({ kind }: Json) => kind), ["one_off"]);
  },

  "it was something else": async (books, database) => {
    const id = await addBill(books, { ...ELECTRICITY, autopay: true });
    const apart = await log(books, SHE_PAID, { on_duplicate: "allow" });
    assertEquals(apart.data.results[0].status, "created");
    await refresh(database, id, "2026-11-29");
    books.goTo("2026-11-29");
    assertEquals(await total(books), "168.00");
  },

  "a bill was charged automatically before it was logged": async (books) => {
    await addBill(books, { ...ELECTRICITY, autopay: true });
    books.goTo("2026-11-29");
    // The bill is not rolled yet.
    const [result] = (await log(books, SHE_PAID)).data.results;
    assertEquals([result.status, result.bill.paid_on, await total(books)], ["likely_bill", "2026-11-28", "84.00"]);
  },

  "a bank's row exists already, then the bill is paid and reported": async (books) => {
    await importLine(books, "2026-11-26,STADTWERKE 4711,-84.00");
    await addBill(books, ELECTRICITY);
    assertEquals((await log(books, { ...SHE_PAID, date: "2026-11-25" })).data.results[0].status, "duplicate");
    await books.ok("mark_bill_paid", { bill_name: "Electricity" });
    assertEquals(await total(books), "84.00");
    const { preview } = await books.ok(
      "import_expenses",
      importOfFile("Date,Name,Amount\n2026-11-26,STADTWERKE 4711,-84.00\n", {
        account: "Giro",
        mapping: { negative_is_expense: true },
      }),
    );
    assertEquals(preview.counts?.to_write ?? 0, 0);
    assertEquals((await log(books, { ...SHE_PAID, date: "2026-11-28" })).data.results[0].status, "likely_bill");
    assertEquals(await total(books), "84.00");
  },

  "a month is closed": async (books) => {
    books.goTo("2026-12-01");
    await log(books, { ...SHE_PAID, date: "2026-11-30" });
    await addBill(books, { ...ELECTRICITY, first_due: "2026-12-01" });
    await books.ok("update_settings", { closed_through: "2026-11" });
    const error = await books.fails("month_closed", "mark_bill_paid", { bill_name: "Electricity" });
    assertStringIncludes(error.message, "2026-11");
    assertEquals(await total(books), "84.00");
  },

  "an automatic bill waits for a person if its expense is in a closed month": async (books, database) => {
    books.goTo("2026-12-01");
    await log(books, { ...SHE_PAID, date: "2026-11-30" });
    const id = await addBill(books, { ...ELECTRICITY, first_due: "2026-12-01", autopay: true });
    await books.ok("update_settings", { closed_through: "2026-11" });
    await refresh(database, id, "2026-12-02");
    books.goTo("2026-12-02");
    assertEquals(await total(books), "84.00");
    assertEquals((await books.ok("list_bills", { bill_id: id })).bills[0].overdue.length, 1);
  },

  "hints never reveal hidden records": async (books, database) => {
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    const member = await books.join();
    const id = await addBill(books, { ...ELECTRICITY, category: "Payroll", autopay: true });
    const [said] = (await log(member, { ...SHE_PAID, category: "Food" })).data.results;
    assertEquals([said.status, said.bill], ["created", undefined]);
    assertEquals((await log(books, { ...SHE_PAID, date: "2026-11-27" })).data.results[0].status, "likely_bill");
    // A public expense is never merged into a private bill, or a private one into a public bill.
    await refresh(database, id, "2026-11-29");
    books.goTo("2026-11-29");
    assertEquals([await total(member), await total(books)], ["84.00", "168.00"]);
    await log(books, { name: "Kino", amount: "20.00", category: "Payroll", note: "secret", date: "2026-11-28" });
    await books.ok("add_bill", {
      name: "Kino",
      amount: "20.00",
      frequency: "once",
      first_due: "2026-11-29",
      category: "Food",
    });
    const paid = await member.call("mark_bill_paid", { bill_name: "Kino" });
    assertEquals(warned(paid, "linked"), "");
    assert(!JSON.stringify(await member.call("list_expenses")).includes("secret"));
  },

  "hints ignore other organizations' bills and expenses": async (books, database) => {
    const other = await openBooks(database, { day: "2026-11-27" });
    await addBill(other, ELECTRICITY);
    assertEquals((await log(books, SHE_PAID)).data.results[0].status, "created");
    await addBill(books, { ...ELECTRICITY, name: "Power" });
    const paid = await other.call("mark_bill_paid", { bill_name: "Electricity" });
    assertEquals([warned(paid, "linked"), await total(other), await total(books)], ["", "84.00", "84.00"]);
  },

  "under own-only access, one member's expense is not the payment of another's bill": async (books) => {
    await books.ok("update_settings", { own_only: true });
    const member = await books.join();
    await log(member, SHE_PAID);
    await addBill(books, ELECTRICITY);
    const paid = await books.call("mark_bill_paid", { bill_name: "Electricity" });
    assertEquals([warned(paid, "linked"), await total(member)], ["", "84.00"]);
  },

  "the payment of a bill is recognized under its payee's name, or with a month after the bill's name": async (
    books,
  ) => {
    books.goTo("2026-11-08");
    const bill = { frequency: "monthly", first_due: "2026-11-08" };
    await addBill(books, { name: "Music family plan", payee: "Spotify", amount: "17.99", ...bill });
    await addBill(books, { name: "Rent", amount: "1450", ...bill });
    await books.ok("mark_bill_paid", { bill_name: "Music family plan" });
    await books.ok("mark_bill_paid", { bill_name: "Rent", amount: "725" });
    await books.ok("mark_bill_paid", { bill_name: "Rent", amount: "725", due_on: "2026-11-08", paid_on: "2026-11-07" });
    books.goTo("2026-11-28");
    const named = async (item: Json) =>
      warned(await log(books, { date: "2026-11-22", ...item }), "named_like_bill").split(", last")[0];
    assertEquals(await named({ name: "Spotify", amount: "17.99" }), 'There is also a bill called "Music family plan"');
    assertEquals(await named({ name: "Rent November", amount: "1450.00" }), 'There is also a bill called "Rent"');
    assertEquals(await named({ name: "Spotify gift card", amount: "30" }), "");
    const { double_charges } = await books.ok("review_bills");
    assertEquals(double_charges.map(({ text }: Json) => text), [
      "17.99 EUR was paid twice where Music family plan is due once: on 2026-11-08 and on 2026-11-22. If both are one " +
      "payment, merge them with update_expenses.",
      "1450.00 EUR was paid twice where Rent is due once: on 2026-11-08 and on 2026-11-22, once in 2 parts. If both " +
      "are the same money, delete the separate expense with delete_records.",
    ]);
    await books.ok("delete_records", { ids: double_charges[1].ids, confirm: { count: 1, total: "1450.00" } });
    assertEquals((await books.ok("review_bills")).double_charges.length, 1);
  },

  "Netflix again? I thought that was paid on the 8th": async (books) => {
    books.goTo("2026-11-08");
    await addBill(books, { name: "Netflix", amount: "17.99", frequency: "monthly", first_due: "2026-11-08" });
    await books.ok("mark_bill_paid", { bill_name: "Netflix" });
    books.goTo("2026-11-28");
    const answer = await log(books, { name: "netflix", amount: "17.99", date: "2026-11-27" });
    assertEquals(answer.data.results[0].status, "created");
    assertEquals(
      warned(answer, "named_like_bill"),
      'There is also a bill called "Netflix", last paid on 2026-11-08 and next due on 2026-12-08. The expense counts ' +
        "in addition to the bill. Ask the user; if it was the bill's payment, undo this and call mark_bill_paid.",
    );
    const { double_charges } = await books.ok("review_bills");
    assertEquals(double_charges.map(({ first_on, second_on }: Json) => [first_on, second_on]), [
      ["2026-11-08", "2026-11-27"],
    ]);
    const refused = await books.fails("already_paid", "mark_bill_paid", { bill_name: "Netflix", amount: "19.99" });
    assertStringIncludes(refused.hint, 'To correct the recorded payment, call again with due_on "2026-11-08"');
    await books.ok("mark_bill_paid", { bill_name: "Netflix", due_on: "2026-11-08", amount: "19.99" });
  },

  "wczoraj zapłaciłem 38 za pizzę z Anną": async (books) => {
    const ben = await books.join();
    await log(books, { name: "Pizza", amount: "38", date: "2026-11-26" });
    assertEquals(
      warned(await log(books, { name: "Cinema", amount: "38", date: "2026-11-26" }), "resembles_another"),
      "",
    );
    const answer = await log(ben, { name: "pizza z Anną", amount: "38", date: "2026-11-26" });
    assertEquals(answer.data.results[0].status, "created");
    assertMatch(
      warned(answer, "resembles_another"),
      /^\S+@example\.com recorded "Pizza", 38\.00 EUR, on the day of "pizza z Anną"\. Both count\. Ask the user;/,
    );
    for (const other of [{ amount: "38.01" }, { date: "2026-11-25" }, { currency: "USD" }, { is_refund: true }]) {
      const item = { name: "pizza z Anną", amount: "38", date: "2026-11-26", ...other };
      assertEquals(warned(await log(ben, item), "resembles_another"), "", JSON.stringify(other));
    }
    await books.ok("update_settings", { own_only: true });
    const hidden = await log(ben, { name: "calzone", amount: "38", date: "2026-11-26" }, { on_duplicate: "allow" });
    assertEquals(warned(hidden, "resembles_another"), "");
  },

  "pause the internet for now": async (books) => {
    await addBill(books, TELEKOM);
    const { warnings } = await books.call("update_bill", { bill_name: "Internet", set: { status: "paused" } });
    assertEquals(
      warned({ warnings }, "contract_goes_on"),
      "Internet is paused in these books only. The contract continues until somebody cancels it with Telekom.",
    );
  },

  "did anybody charge us twice this month?": async (books) => {
    books.goTo("2026-11-15");
    await addBill(books, {
      name: "Gym",
      payee: "FitX",
      amount: "29.90",
      frequency: "monthly",
      first_due: "2026-11-15",
    });
    await books.ok("mark_bill_paid", { bill_name: "Gym" });
    books.goTo("2026-11-27");
    for (const [date, name] of [["2026-11-16", "FITX 4711"], ["2026-11-02", "Coffee"], ["2026-11-03", "Coffee"]]) {
      await log(books, { name, amount: "29.90", date });
    }
    assertEquals((await books.ok("review_bills")).double_charges, []);
    await importLine(books, "2026-11-24,FITX 4711,-29.90");
    const { double_charges, counts } = await books.ok("review_bills");
    assertEquals([double_charges.map(({ text }: Json) => text), counts.double_charges], [[
      "29.90 EUR was paid twice where Gym is due once: on 2026-11-15 and on 2026-11-24. If both are one payment, merge them " +
      "with update_expenses.",
    ], 1]);
  },

  "Netflix hat im November zweimal abgebucht": async (books) => {
    books.goTo("2026-11-05");
    await addBill(books, { name: "Netflix", amount: "13.99", frequency: "monthly", first_due: "2026-11-05" });
    await books.ok("mark_bill_paid", { bill_name: "Netflix" });
    books.goTo("2026-11-18");
    for (const due of [{}, { due_on: "2026-11-05" }]) {
      const { hint } = await books.fails("already_paid", "mark_bill_paid", { bill_name: "Netflix", ...due });
      assertStringIncludes(
        hint,
        'If it was charged a second time, record that with log_expenses, payee "Netflix" and on_duplicate "allow".',
      );
    }
    const second = { name: "Second charge", payee: "Netflix", amount: "13.99", date: "2026-11-05" };
    const answer = await log(books, second, { on_duplicate: "allow" });
    assertEquals(answer.data.results[0].status, "created");
    const { double_charges } = await books.ok("review_bills");
    assertEquals(double_charges.map(({ text }: Json) => text), [
      "13.99 EUR was paid twice where Netflix is due once: on 2026-11-05 and on 2026-11-05. Both were recorded as real " +
      "payments; if the second was charged by mistake, ask the payee for it.",
    ]);
  },

  "I moved 200 to my savings account": async (books) => {
    const codes = async (name: string) =>
      (await log(books, { name, amount: "200" }, { dry_run: true })).warnings.map(({ code }: Json) => code);
    const moved = await log(books, { name: "Überweisung aufs Sparkonto", amount: "200" });
    assertEquals(
      warned(moved, "own_transfer"),
      '"Überweisung aufs Sparkonto" looks like money moved between own accounts. Such a transfer is not spending, but was ' +
        "counted. Ask the person; if it is one, remove it with delete_records.",
    );
    assertEquals(moved.data.results[0].status, "created");
    for (
      const name of [
        ...["Transfer to savings account", "Moved to savings", "Transferencia a la cuenta de ahorro"],
        ...["Virement sur le compte d'épargne", "Livret A", "Przelew na konto oszczędnościowe", "Conto deposito"],
        ...["Transferência para a poupança", "Między własnymi kontami"],
      ]
    ) {
      assertEquals(await codes(name), ["own_transfer", "dry_run"], name);
    }
    for (
      const name of [
        ...[
          "Savings account fee",
          "Gebühren fürs Sparbuch",
          "Frais du compte épargne",
          "Book on savings",
          "Livret de famille",
        ],
        ...["Bank transfer to Anna", "Miete überwiesen"],
      ]
    ) {
      assertEquals(await codes(name), ["dry_run"], name);
    }
  },

  "200 aus dem Geldautomaten": async (books) => {
    const codes = async (name: string) =>
      (await log(books, { name, amount: "200" }, { dry_run: true })).warnings.map(({ code }: Json) => code);
    assertEquals(
      warned(await log(books, { name: "Geldautomat", amount: "200" }), "cash_withdrawn"),
      '"Geldautomat" looks like cash from a machine, and counts as spending. Tell the person: what the cash buys must not ' +
        "be logged as well, or it counts twice.",
    );
    for (
      const name of [
        ...["Cash withdrawal", "ATM", "Retrait DAB Paris", "Reintegro cajero", "Prelievo contanti", "Geldopname"],
        ...["Wypłata z bankomatu", "Levantamento ATM", "Kontantuttag", "Barabhebung"],
      ]
    ) {
      assertEquals(await codes(name), ["cash_withdrawn", "dry_run"], name);
    }
    for (
      const name of ["OTTO", "ATM fee", "Pagamento bancomat", "Kortköp uttag", "Frais de retrait DAB", "Cash & Carry"]
    ) {
      assertEquals(await codes(name), ["dry_run"], name);
    }
  },

  "got my salary, and a gift from grandma": async (books) => {
    const status = async (item: Json) => {
      const call = { items: [{ amount: "3200", ...item }], dry_run: true, create_missing_categories: true };
      const { data, error } = await books.call("log_expenses", call);
      return error?.code ?? data.results[0].status;
    };
    for (
      const name of [
        ...["got my salary", "Received my wages", "Gehalt bekommen", "cobré mi nómina", "reçu mon salaire"],
        ...["wpłynęła pensja", "Dostałam wypłatę", "recebi o salário", "ricevuto lo stipendio", "salaris ontvangen"],
      ]
    ) {
      assertEquals(await status({ name }), "invalid_argument", name);
      assertEquals(await status({ name, category: "Other" }), "invalid_argument", name);
    }
    for (
      const name of [
        ...["Geschenk von Oma", "Kindergeld", "Prezent od babci", "child benefit", "Gift from grandma", "Dividend SAP"],
        ...["Cadeau de mamie", "Regalo de la abuela", "Presente da avó", "Regalo dalla nonna", "pension", "Interest"],
      ]
    ) {
      assertEquals(await status({ name, is_refund: true }), "invalid_argument", name);
      assertEquals(await status({ name }), "would_create", name);
    }
    for (
      const name of [
        ...["Pension Edelweiss", "Interest on the overdraft", "Cadeau de Noël", "Regalo de Navidad", "Kindergarten"],
        ...["Geschenkpapier", "Prezent", "Loan received"],
      ]
    ) {
      assertEquals(await status({ name, is_refund: true }), "would_create", name);
    }
    assertEquals(await status({ name: "Interest", is_refund: true, category: "Bank fees" }), "would_create");
    assertEquals(await status({ name: "Child benefit", is_refund: true, category: "Kids" }), "invalid_argument");
    for (const name of ["Gehalt", "salary", "Paid wages to Eva"]) {
      assertEquals(await status({ name }), "would_create", name);
    }
  },

  "my salary, 3200": async (books) => {
    const asked =
      '"Salary" is booked as spending. If the person received it, undo this. Log income, such as a salary, with ' +
      'log_expenses and kind "income".';
    const cases: [Json, string][] = [
      [{ name: "Salary" }, asked],
      [{ name: "Salary", category: "Salary" }, asked],
      [{ name: "Salary", category: "Staff" }, ""],
      [{ name: "Lohnsteuer" }, ""],
      [{ name: "Salary of Eve", is_refund: true, category: "Payroll" }, ""],
    ];
    for (const [item, warning] of cases) {
      const answer = await log(books, { ...item, amount: "3200" }, { create_missing_categories: true });
      assertEquals([answer.data?.results[0].status, warned(answer, "like_income")], ["created", warning]);
      await books.ok("undo_change", { change_id: answer.change_id });
    }
  },

  "my salary of 3200 comes on the 25th": async (books) => {
    const bill = async (more: Json) =>
      warned(await books.call("add_bill", { amount: "3200", month_days: [25], ...more }), "like_income");
    assertStringIncludes(await bill({ name: "Salary" }), '"Salary" is booked as spending. If the person received it,');
    await books.ok("update_settings", { category: { action: "create", name: "Staff" } });
    assertEquals(await bill({ name: "Salary of Eve", category: "Staff" }), "");
    assertEquals(await bill({ name: "Gym" }), "");
  },

  "I earned 3200 salary today": async (books) => {
    for (
      const item of [
        { name: "Salary", is_refund: true },
        { name: "Gehalt November", is_refund: true },
        { name: "Nómina", is_refund: true, category: "Salary" },
        { name: "ACME", category: "Income" },
      ]
    ) {
      const error = await books.fails("invalid_argument", "log_expenses", {
        items: [{ ...item, amount: "3200" }],
        create_missing_categories: true,
      });
      assertStringIncludes(error.hint, 'Log income, such as a salary, with log_expenses and kind "income".');
    }
    await books.fails("invalid_argument", "add_bill", {
      ...RENT,
      first_due: "2026-12-01",
      name: "ACME",
      category: "Income",
    });
    const { id } = (await log(books, { name: "Gehalt Eva", amount: "3200" })).data.results[0];
    await books.ok("update_settings", { category: { action: "create", name: "Income" } });
    for (const set of [{ is_refund: true }, { category: "Income" }]) {
      const { hint } = await books.fails("invalid_argument", "update_expenses", { ids: [id], set });
      assertStringIncludes(hint, 'Log income, such as a salary, with log_expenses and kind "income".');
    }
    for (
      const item of [
        { name: "Salary of Eve" },
        { name: "Salary of Eve", is_refund: true, category: "Payroll" },
        { name: "Income tax", is_refund: true },
        { name: "Lohnsteuer", is_refund: true },
      ]
    ) {
      const answer = await log(books, { ...item, amount: "3200" }, { create_missing_categories: true });
      assertEquals(answer.data?.results[0].status, "created", JSON.stringify(item));
    }
  },
});
