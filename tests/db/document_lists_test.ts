/** Lists mark payments and due dates with documents, and filter those without. */
import { assertEquals } from "@std/assert";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
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

async function importExpense(books: Books, csv: string): Promise<Json> {
  const parsed = importExpenses.parse({ csv, account: "Giro", mapping: { negative_is_expense: true } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return (await books.ok("import_expenses", parsed.value)).preview;
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

testBooks("list tools mark records with documents", {}, {
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

  "belong to all parts of a split, in lists, reconcile and the export": async (ana, database) => {
    const split = [{ amount: "60", category: "Food" }, { category: "Travel" }];
    const [first] = await log(ana, { name: "Shop", amount: "84.50", date: "2026-11-14", split }, taxi);
    const id = await attach(ana, "receipt", first!);
    assertEquals([await listed(ana, true), await listed(ana, false)], [[["Shop", "Shop"], 2], [["Taxi"], 1]]);
    const { rows } = await ana.ok("list_expenses");
    assertEquals(rows.map(({ name, has_document: has }: Json) => [name, has]), [
      ["Taxi", undefined],
      ["Shop", true],
      ["Shop", true],
    ]);
    await ana.ok("import_expenses", {
      ...(await importExpense(ana, "Date,Name,Amount\n2026-11-20,Rewe,-1.00\n")).commit_with,
    });
    const agreed = await ana.ok("reconcile", { account: "Giro", from: "2026-11-01", to: "2026-11-30" });
    // The taxi and the imported line have no documents.
    assertEquals([agreed.books_only_count, agreed.without_document_count], [3, 2]);
    const { page } = await database.asService<Json>("read_export", {
      user_id: ana.userId,
      organization_id: ana.organizationId,
      part: "payments",
      after: null,
      from_on: null,
      to_on: null,
      at: "2026-11-20T12:00:00Z",
    });
    assertEquals(
      page.rows.map(({ name, document_ids: ids }: Json) => [name, ids]).toSorted(),
      [["Rewe", []], ["Shop", [id]], ["Shop", [id]], ["Taxi", []]],
    );
  },

  "match a split by its sum, and stay when their part ends": async (ana) => {
    const split = [{ amount: "60", category: "Food" }, { category: "Travel" }];
    const [first] = await log(ana, { name: "Shop", payee: "Shop", amount: "84.50", date: "2026-11-14", split });
    const { document } = await ana.ok("attach_document", {
      step: "keep",
      content: btoa("sum"),
      name: "receipt.pdf",
      type: "application/pdf",
      facts: {
        ...{ kind: "receipt", format: "pdf", payee: "Shop GmbH", gross: "84.50", currency: "EUR" },
        ...{ issued_on: "2026-11-14", questions: [] },
      },
    });
    const { document: { filed } } = await ana.ok("attach_document", { document_id: document.id });
    assertEquals(filed, { id: first, name: "Shop" });
    const { rows } = await ana.ok("list_expenses");
    const other = rows.map(({ id }: Json) => id).find((id: string) => id !== first);
    await ana.ok("attach_document", { document_id: document.id, to: other });
    assertEquals(await listed(ana, true), [["Shop", "Shop"], 2]);
    const { change_id } = await ana.call("update_expenses", { ids: [first], set: { split: [{ amount: "84.50" }] } });
    assertEquals(await listed(ana, true), [["Shop"], 1]);
    await ana.ok("undo_change", { change_id });
    const [back] = (await ana.ok("list_documents")).documents;
    assertEquals(back.filed.id, other);
  },

  "of a hidden part are not revealed by the other parts": async (ana) => {
    const ben = await ana.join();
    await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    const split = [{ amount: "60", category: "Payroll" }, { category: "Travel" }];
    const [first] = await log(ana, { name: "Shop", amount: "84.50", date: "2026-11-14", split });
    await attach(ana, "receipt", first!);
    await ana.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    assertEquals([await listed(ana, true), await listed(ben, true)], [[["Shop", "Shop"], 2], [[], 0]]);
    assertEquals(await listed(ben, false), [["Shop"], 1]);
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
