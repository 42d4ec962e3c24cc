/** Drafting a cancellation, its confirmation, and the proof that charges stopped. */
import { assert, assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

const TODAY = "2026-01-02";
const GYM = { started_on: "2025-03-01", term_months: 12, renewal_months: 12, notice: "1 month", form: "email" };
const addGym = async (books: Books, more: Json = {}): Promise<string> =>
  (await books.ok("add_bill", { name: "Gym", payee: "Fit GmbH", amount: "12.99", first_due: "2026-01-05", ...more }))
    .bill.id;
const textsOf = async (books: Books, section: string): Promise<string[]> =>
  (await books.ok("review_bills"))[section].map(({ text }: Json) => text);

async function importStatement(books: Books, rows: [day: string, text: string, amount: string][]): Promise<void> {
  const lines = rows.map(([date, text, amount]) => `${date},${text},${amount},,EUR`).join("\n");
  const file = importOfFile(`Date,Description,Debit,Credit,Currency\n${lines}\n`, { account: "Giro" });
  const { preview } = await books.ok("import_expenses", file);
  await books.ok("import_expenses", preview.commit_with);
}

testBooks("draft_cancellation", { day: TODAY }, {
  "writes the letter, stores its day, sends nothing and lists the missing facts": async (books) => {
    const id = await addGym(books, { contract: GYM });
    const { data, warnings } = await books.call("draft_cancellation", {
      bill_name: "gym",
      language: "de",
      words: "Wir ziehen um.",
      contract: { customer_number: "K-17" },
    });
    const { letter, missing, next, bill } = data;
    assertEquals([letter.ends_on, letter.arrives_by, letter.form, warnings], ["2026-02-28", "2026-01-31", "email", []]);
    assert(letter.text.includes("zum 28. Februar 2026") && letter.text.includes("Wir ziehen um."), letter.text);
    assert(letter.subject.includes("K-17"), letter.subject);
    assertEquals(missing.length, 2);
    assert(next.startsWith("Nothing was sent."), next);
    assertEquals([bill.id, bill.status, bill.contract.drafted_on, bill.contract.customer_number], [
      id,
      "active",
      TODAY,
      "K-17",
    ]);
    assertEquals(await textsOf(books, "cancel_by"), [
      "Gym renews on 2026-03-01; to end it on 2026-02-28, cancel by email by 2026-01-31. A letter was drafted on 2026-01-02; no confirmation is recorded. If it came, set contract.confirmed_on.",
    ]);
  },
  "writes the same letter again, and undo_change() reverts the draft": async (books) => {
    const id = await addGym(books, { contract: GYM });
    const draft = () => books.call("draft_cancellation", { bill_id: id });
    const first = await draft();
    assertEquals((await draft()).data.letter, first.data.letter);
    await books.ok("undo_change", { change_id: first.change_id });
    assertEquals((await books.ok("list_bills", { bill_id: id })).bills[0].contract.drafted_on, undefined);
  },
  "drafts without any contract, for the earliest possible date": async (books) => {
    const id = await addGym(books);
    const { letter, missing, next } = await books.ok("draft_cancellation", { bill_id: id });
    assertEquals([letter.ends_on, letter.arrives_by], [undefined, undefined]);
    assert(letter.text.includes("on the earliest possible date"), letter.text);
    assertEquals(missing.length, 4);
    assert(next.includes("The required form of the cancellation is unknown"), next);
  },
  "warns of a day that the notice does not allow, and refuses a past one": async (books) => {
    const id = await addGym(books, { contract: GYM });
    const { warnings, data } = await books.call("draft_cancellation", { bill_id: id, leave_on: "2026-01-31" });
    assertEquals(warnings.map(({ code }: Json) => code), ["other_end"]);
    assertEquals([data.letter.ends_on, data.letter.arrives_by], ["2026-01-31", "2026-01-31"]);
    assert(!data.letter.text.includes("required notice"), data.letter.text);
    assertEquals((await books.call("draft_cancellation", { bill_id: id, leave_on: "2027-02-28" })).warnings, []);
    await books.fails("date_out_of_range", "draft_cancellation", { bill_id: id, leave_on: "2026-01-01" });
  },
  "does not claim to be in time while the term is unknown, and forgets the day of an earlier draft": async (books) => {
    const id = await addGym(books, { contract: { notice: "1 month" } });
    const leave_on = "2026-06-30";
    const { letter, bill } = await books.ok("draft_cancellation", { bill_id: id, leave_on });
    assert(letter.text.includes("30 June 2026") && !letter.text.includes("required notice"), letter.text);
    assertEquals(bill.contract.leave_on, leave_on);
    assertEquals((await books.ok("draft_cancellation", { bill_id: id })).bill.contract.leave_on, undefined);
  },
  "finds the end of a contract whose bill is no longer active": async (books) => {
    const id = await addGym(books, { contract: GYM });
    for (const set of [{ status: "paused" }, { status: "cancelled" }]) {
      await books.ok("update_bill", { bill_id: id, set });
      const { letter, next } = await books.ok("draft_cancellation", { bill_id: id });
      assertEquals([letter.ends_on, letter.arrives_by], ["2026-02-28", "2026-01-31"]);
      assert(!next.includes("stays active") && next.includes("set.contract.confirmed_on"), next);
    }
  },
  "names a last day that passes without a confirmation, with the next possible end": async (books) => {
    const id = await addGym(books, { contract: GYM });
    await books.ok("draft_cancellation", { bill_id: id });
    books.goTo("2026-01-31");
    assert((await textsOf(books, "cancel_by"))[0]!.includes(
      "by today, 2026-01-31: it has to arrive today. A letter was drafted on 2026-01-02",
    ));
    books.goTo("2026-02-01");
    assertEquals(await textsOf(books, "cancel_by"), [
      "The notice period of Gym passed on 2026-01-31: the letter of 2026-01-02, which ends it on 2026-02-28, had to arrive by then, and no confirmation is recorded. If it arrived in time, set contract.confirmed_on and ends_on. If not, the next possible end is 2027-02-28: cancel by email by 2027-01-31, with a new draft_cancellation.",
    ]);
    const { change_id } = await books.call("draft_cancellation", { bill_id: id });
    assertEquals(await textsOf(books, "cancel_by"), [], "a new letter asks for the next end");
    await books.ok("undo_change", { change_id });
    await books.ok("update_bill", {
      bill_id: id,
      set: { contract: { confirmed_on: "2026-01-30" }, ends_on: "2026-02-28" },
    });
    assertEquals(await textsOf(books, "cancel_by"), []);
  },
  "on the last day warns that the cancellation must arrive today, and names the forms that still can": async (
    books,
  ) => {
    const id = await addGym(books, { contract: { ...GYM, form: "letter" } });
    books.goTo("2026-01-31");
    const [text] = await textsOf(books, "cancel_by");
    const late = "it has to arrive today, so a letter by post comes too late: somebody has to hand it over.";
    assert(text!.endsWith(`cancel by letter by today, 2026-01-31: ${late}`), text);
    const draft = async (contract: Json) => (await books.ok("draft_cancellation", { bill_id: id, contract })).next;
    const today = "Today, 2026-01-31, is the last day for that end: it has to arrive today";
    assert((await draft({ form: "letter" })).includes(`${today}, so a letter by post comes too late: somebody`));
    assert((await draft({ form: "email" })).includes(`${today}. Gym stays active`));
    assert((await draft({ form: "any" })).includes(`${today}, so a letter by post comes too late: use an email`));
    const { warnings } = await books.call("update_bill", { bill_id: id, set: { status: "cancelled" } });
    const told = warnings.map(({ message }: Json) => message).join(" ");
    assert(told.includes("It renews unless somebody cancels it by today, 2026-01-31: it has to arrive today"), told);
  },
  "is a write: viewers, strangers and other organizations cannot": async (books, database) => {
    const id = await addGym(books, { contract: GYM });
    const viewer = await books.join("viewer");
    await viewer.fails("forbidden_role", "draft_cancellation", { bill_id: id });
    const { openBooks } = await import("../_support/books.ts");
    const other = await openBooks(database, { day: TODAY });
    await other.fails("not_found", "draft_cancellation", { bill_id: id });
    await books.ok("update_settings", { category: { action: "create", name: "Own" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Own" } });
    await books.ok("update_bill", { bill_id: id, set: { category: "Own" } });
    await (await books.join()).fails("not_found", "draft_cancellation", { bill_id: id });
    assertEquals((await books.ok("list_bills", { bill_id: id })).bills[0].contract.drafted_on, undefined);
  },
});

testBooks("after a cancellation", { day: TODAY }, {
  "statements prove that charges stopped, and a new charge is reported first": async (books) => {
    const id = await addGym(books, { contract: GYM });
    books.goTo("2026-02-01");
    await importStatement(books, [["2026-01-05", "FIT GMBH", "12.99"], ["2026-01-31", "Kiosk", "3.00"]]);
    await books.ok("draft_cancellation", { bill_id: id });
    await books.ok("update_bill", {
      bill_id: id,
      set: { contract: { confirmed_on: "today" }, ends_on: "2026-02-28" },
    });
    books.goTo("2026-05-20");
    await importStatement(books, [["2026-02-05", "FIT GMBH", "12.99"], ["2026-02-24", "Kiosk", "3.00"]]);
    assertEquals(await textsOf(books, "savings"), [
      "Gym ended on 2026-02-28. Nothing is proven yet: no statement of Giro covers 3 dates yet.",
    ]);
    await importStatement(books, [["2026-03-10", "Kiosk", "3.00"], ["2026-04-01", "Kiosk", "4.00"]]);
    await importStatement(books, [["2026-04-15", "Kiosk", "3.00"]]);
    assertEquals(await textsOf(books, "savings"), [
      "2 payments of 12.99 EUR for Gym have not been charged since 2026-03-05: 25.98 EUR saved, according to the statements of Giro up to 2026-04-15. No statement of Giro covers 1 date yet.",
    ]);
    assertEquals(await textsOf(books, "charged_after_end"), []);
    const member = await books.join();
    await books.ok("update_settings", { own_only: true });
    assertEquals(await textsOf(member, "savings"), []);
    await books.ok("update_settings", { own_only: false });
    await importStatement(books, [["2026-05-05", "FIT GMBH", "12.99"], ["2026-05-18", "Kiosk", "3.00"]]);
    assertEquals(await textsOf(books, "charged_after_end"), [
      "A charge like Gym came after its confirmed end: 12.99 EUR on 2026-05-05, though it ended on 2026-02-28 (confirmed on 2026-02-01). A final bill for the time before may be right; otherwise ask for a refund. If the contract continues after all, set the bill active again with update_bill.",
    ]);
    assertEquals((await textsOf(books, "savings"))[0]!.startsWith("2 payments of 12.99 EUR"), true);
  },
  "a late payment and another bill of the company aren't new charges": async (books) => {
    const id = await addGym(books, { contract: GYM });
    await importStatement(books, [["2026-01-02", "Kiosk", "3.00"]]);
    books.goTo("2026-01-06");
    await importStatement(books, [["2026-01-05", "FIT GMBH", "12.99"]]);
    const set = { contract: { confirmed_on: "today" }, ends_on: "2026-02-28" };
    await books.ok("update_bill", { bill_id: id, set });
    books.goTo("2026-03-03");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-02-05", paid_on: "2026-03-02" });
    books.goTo("2026-03-20");
    await importStatement(books, [["2026-03-03", "FIT GMBH", "12.99"]]);
    await addGym(books, { name: "Yoga", first_due: "2026-03-18", on_duplicate: "allow" });
    await books.ok("mark_bill_paid", { bill_name: "Yoga", due_on: "2026-03-18", paid_on: "2026-03-18" });
    await importStatement(books, [["2026-03-19", "FIT GMBH", "12.99"]]);
    assertEquals(await textsOf(books, "charged_after_end"), []);
  },
  "a payment and its line count as one charge, and a paid date isn't a saving": async (books) => {
    const id = await addGym(books, { contract: GYM });
    books.goTo("2026-01-06");
    await importStatement(books, [["2026-01-05", "FIT GMBH", "12.99"]]);
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-02-05", paid_on: "2026-01-06" });
    books.goTo("2026-04-20");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-03-05", paid_on: "2026-03-05" });
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-04-05", paid_on: "2026-04-05" });
    await importStatement(books, [
      ["2026-02-24", "Kiosk", "5.00"],
      ["2026-03-06", "FIT GMBH", "12.99"],
      ["2026-03-18", "Kiosk", "6.00"],
      ["2026-04-01", "Kiosk", "3.00"],
      ["2026-04-09", "Kiosk", "7.00"],
      ["2026-04-19", "Kiosk", "4.00"],
    ]);
    await books.ok("update_bill", {
      bill_id: id,
      set: { contract: { confirmed_on: "2026-02-01" }, ends_on: "2026-02-28" },
    });
    const [text] = await textsOf(books, "charged_after_end");
    assert(text!.includes("12.99 EUR on 2026-04-05 (2 charges)"), text);
    assertEquals(await textsOf(books, "savings"), []);
  },
  "a charge after the end is named but not proposed, although no payment was ever linked to the bill": async (
    books,
  ) => {
    const id = await addGym(books);
    await importStatement(books, [["2026-01-02", "Kiosk", "2.00"]]);
    books.goTo("2026-04-20");
    const rows: [string, string, string][] = ["01", "02", "03", "04"].map((month) => [
      `2026-${month}-12`,
      "FIT GMBH BERLIN",
      "12.99",
    ]);
    await importStatement(books, [...rows, ["2026-04-19", "Kiosk", "3.00"]]);
    await books.ok("update_bill", {
      bill_id: id,
      set: { contract: { confirmed_on: "2026-02-20" }, ends_on: "2026-02-28" },
    });
    const review = async () => {
      const { charged_after_end, recurring_charges, savings } = await books.ok("review_bills");
      return [
        charged_after_end.map(({ charges, last_on }: Json) => [charges, last_on]),
        recurring_charges.length,
        savings.length,
      ];
    };
    assertEquals(await review(), [[[2, "2026-04-12"]], 0, 0]);
    await books.ok("update_bill", { bill_id: id, set: { payee: "Fit" } });
    assertEquals(await review(), [[[2, "2026-04-12"]], 0, 0]);
    await addGym(books, { first_due: "2026-05-12", on_duplicate: "allow" });
    assertEquals(await review(), [[], 0, 0], "another bill covers it");
  },
  "a charge after the end of a bill without a confirmation is named too": async (books) => {
    const id = await addGym(books, { ends_on: "2026-01-10" });
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-01-05", paid_on: "2026-01-02" });
    for (const [day, amount] of [["2026-02-05", "12.99"], ["2026-03-05", "13.99"], ["2026-04-06", "40.00"]]) {
      books.goTo(day!);
      await books.ok("log_expenses", { items: [{ name: "Fit GmbH", amount }] });
    }
    assertEquals(await textsOf(books, "charged_after_end"), [
      "A charge like Gym came after its end: 13.99 EUR on 2026-03-05 (2 charges), though it ended on 2026-01-10 (no confirmation is recorded). A final bill for the time before may be right; otherwise ask for a refund. If the contract continues after all, set the bill active again with update_bill.",
    ]);
    const other = await books.join();
    await books.ok("update_settings", { own_only: true });
    assertEquals(await textsOf(other, "charged_after_end"), [], "the charges of others stay hidden");
  },
  "a cancelled bill without an end day ends on the day of its cancellation": async (books) => {
    const id = await addGym(books);
    await books.ok("update_bill", { bill_id: id, set: { status: "cancelled" } });
    books.goTo("2026-01-08");
    await books.ok("log_expenses", { items: [{ name: "Fit GmbH", amount: "12.99" }] });
    assertEquals(await textsOf(books, "charged_after_end"), [], "the last charge may be late");
    books.goTo("2026-02-05");
    await books.ok("log_expenses", { items: [{ name: "Fit GmbH", amount: "12.99" }] });
    assertEquals((await textsOf(books, "charged_after_end")).length, 1);
    await books.ok("update_bill", { bill_id: id, set: { status: "active" } });
    assertEquals(await textsOf(books, "charged_after_end"), []);
  },
  "no savings are reported before a confirmation": async (books) => {
    const id = await addGym(books, { contract: GYM });
    await books.ok("update_bill", { bill_id: id, set: { status: "cancelled" } });
    books.goTo("2026-06-01");
    assertEquals(await textsOf(books, "savings"), []);
  },
});

testBooks("a trial", { day: TODAY }, {
  "that became a charge is reported for 45 days": async (books) => {
    const id = await addGym(books, { trial_ends_on: "2026-01-04" });
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-01-05", paid_on: "2026-01-02" });
    assertEquals(await textsOf(books, "trials_charged"), []);
    books.goTo("2026-02-06");
    await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-02-05", paid_on: "2026-02-05" });
    assertEquals(await textsOf(books, "trials_charged"), [
      "The trial of Gym ended on 2026-01-04, and it charged 12.99 EUR on 2026-02-05, as it will every month on the 5th. To cancel it, draft_cancellation writes the letter.",
    ]);
    books.goTo("2026-03-25");
    assertEquals(await textsOf(books, "trials_charged"), []);
  },
});
