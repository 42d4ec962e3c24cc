/** Lists mark payments and due dates with documents, and filter those without. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";

/** Attaches a document without facts to a record. */
async function attach(books: Books, name: string, to: string, more: Json = {}): Promise<string> {
  const { document } = await books.ok("attach_document", {
    step: "keep",
    content: btoa(name),
    name: `${name}.pdf`,
    type: "application/pdf",
    facts: { kind: "other", format: "pdf", questions: [] },
  });
  await books.ok("attach_document", { document_id: document.id, to, ...more });
  return document.id;
}

const names = (rows: Json[]) => rows.map(({ name }) => name).toSorted();

async function listed(books: Books, has_document: boolean, more: Json = {}): Promise<[string[], number]> {
  const { data, total_count } = await books.call("list_expenses", { has_document, ...more });
  return [names(data.rows), total_count];
}

const log = async (books: Books, ...items: Json[]) =>
  (await books.ok("log_expenses", { items })).results.map(({ id }: Json) => id as string);

const lunch = { name: "Lunch", amount: "14.50", date: "2026-11-14" };
const taxi = { name: "Taxi", amount: "30.00", date: "2026-11-15" };
const rent = { name: "Rent", amount: "900.00", frequency: "monthly", first_due: "2026-11-25" };

testBooks("documents in lists", {}, {
  "distinguish expenses with one from those without": async (ana) => {
    const [first] = await log(ana, lunch, taxi);
    assertEquals(await listed(ana, false), [["Lunch", "Taxi"], 2]);
    const id = await attach(ana, "lunch", first!);
    assertEquals([await listed(ana, true), await listed(ana, false)], [[["Lunch"], 1], [["Taxi"], 1]]);
    const { rows } = await ana.ok("list_expenses");
    assertEquals(rows.map(({ name, has_document: has }: Json) => [name, has]), [["Taxi", undefined], ["Lunch", true]]);
    await ana.ok("attach_document", { document_id: id, to: "none" });
    assertEquals(await listed(ana, true), [[], 0]);
  },

  "belong to one date of a bill, and to its payment": async (ana) => {
    const { bill } = await ana.ok("add_bill", rent);
    const state = async (has_document: boolean) => names((await ana.ok("list_bills", { has_document })).bills);
    assertEquals([await state(true), await state(false)], [[], ["Rent"]]);
    await attach(ana, "rent", bill.id, { due_on: "2026-11-25" });
    assertEquals([await state(true), await state(false)], [["Rent"], []]);
    const { bills: [shown] } = await ana.ok("list_bills", { bill_id: bill.id });
    assertEquals(shown.has_document, true);
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25", advance: true });
    // The payment keeps the document, and the next date has none.
    assertEquals([await state(true), await state(false)], [[], ["Rent"]]);
    assertEquals(await listed(ana, true, { kind: "bill_payment" }), [["Rent"], 1]);
    const { payments: [paid] } = await ana.ok("list_bills", { bill_id: bill.id });
    assertEquals(paid.has_document, true);
  },

  "stay with the record that takes over another one, and return with an undo": async (ana) => {
    const [first, second] = await log(ana, lunch, { ...lunch, name: "CARD LUNCH" });
    await attach(ana, "lunch", first!);
    const { change_id } = await ana.call("update_expenses", { ids: [first], merge_into: second });
    assertEquals([await listed(ana, true), await listed(ana, false)], [[["CARD LUNCH"], 1], [[], 0]]);
    await ana.ok("undo_change", { change_id });
    assertEquals([await listed(ana, true), await listed(ana, false)], [[["Lunch"], 1], [["CARD LUNCH"], 1]]);
  },

  "are found only where the person sees the record": async (ana, database) => {
    const ben = await ana.join();
    await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    const [secret, open] = await log(ana, { ...lunch, category: "Payroll" }, taxi);
    await attach(ana, "secret", secret!);
    await attach(ana, "open", open!);
    await ana.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    assertEquals([await listed(ana, true), await listed(ben, true)], [[["Lunch", "Taxi"], 2], [["Taxi"], 1]]);
    const other = await openBooks(database);
    assertEquals([await listed(other, true), await listed(other, false)], [[[], 0], [[], 0]]);
  },
});
