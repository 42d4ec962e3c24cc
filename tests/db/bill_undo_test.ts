/** Changes to bills can be undone, and their schedules continue. */
import { assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase, type TestDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const withBooks = (work: (books: Books, rent: Json, database: TestDatabase) => Promise<void>) => async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-12-01" });
  await work(books, bill, database);
};
const shown = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];

Deno.test(
  "undo_change of bills: undoing a payment reopens its date and moves next_due back",
  withBooks(async (books, rent) => {
    const before = await shown(books, rent.id);
    await books.ok("mark_bill_paid", { advance: true, bill_id: rent.id });
    await books.ok("undo_change");
    assertEquals(await shown(books, rent.id), { ...before, version: (await shown(books, rent.id)).version });
    assertEquals(
      (await books.ok("mark_bill_paid", { advance: true, bill_id: rent.id })).occurrence.due_on,
      "2026-12-01",
    );
  }),
);

Deno.test(
  "undo_change of bills: undoing a payment months later makes its date overdue and leaves later ones unchanged",
  withBooks(async (books, rent) => {
    const { change_id } = await books.call("mark_bill_paid", { bill_id: rent.id, advance: true });
    books.goTo("2026-12-02");
    await books.ok("mark_bill_paid", { bill_id: rent.id, due_on: "2027-01-01" });
    await books.ok("undo_change", { change_id });
    const bill = await shown(books, rent.id);
    assertEquals([bill.overdue, bill.next_due], [[{ due_on: "2026-12-01", amount: "1200.00" }], "2027-02-01"]);
  }),
);

Deno.test(
  "undo_change of bills: a part payment can be undone only after the payment that settled the date",
  withBooks(async (books, rent) => {
    const part = await books.call("mark_bill_paid", { bill_id: rent.id, advance: true, amount: "500" });
    const rest = await books.call("mark_bill_paid", { bill_id: rent.id, due_on: "2026-12-01" });
    const before = await shown(books, rent.id);
    const error = await books.fails("undo_conflict", "undo_change", { change_id: part.change_id });
    assertEquals(error.details.rows.map(({ what }: Json) => what), ["Rent due 2026-12-01"]);
    assertEquals(error.details.later.change_id, rest.change_id);
    assertEquals(await shown(books, rent.id), before);
    await books.ok("undo_change", { change_id: rest.change_id });
    assertEquals((await shown(books, rent.id)).remaining, "700.00");
    await books.ok("undo_change", { change_id: part.change_id });
    assertEquals((await shown(books, rent.id)).remaining, undefined);
  }),
);

Deno.test(
  "undo_change of bills: undoing the payment that ended a bill makes it active again",
  withBooks(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Deposit",
      amount: "5",
      frequency: "once",
      first_due: "2026-11-25",
    });
    await books.ok("mark_bill_paid", { advance: true, bill_id: bill.id });
    await books.ok("undo_change");
    const again = await shown(books, bill.id);
    assertEquals([again.status, again.next_due], ["active", "2026-11-25"]);
  }),
);

Deno.test(
  "undo_change of bills: undoing a new bill deletes it, and undoing that restores it",
  withBooks(async (books, rent) => {
    const { change_id } = await books.call("undo_change");
    await books.fails("not_found", "list_bills", { bill_id: rent.id });
    await books.ok("undo_change", { change_id });
    assertEquals((await shown(books, rent.id)).next_due, "2026-12-01");
  }),
);

Deno.test(
  "undo_change of bills: an undo names the bill that blocks it, whatever changed on the bill",
  withBooks(async (books, rent) => {
    const change = (note: string, amount: string) => ({
      bill_id: rent.id,
      set: { note },
      occurrence: { due_on: "2026-12-01", action: "set_amount", amount },
    });
    const { change_id } = await books.call("update_bill", change("x", "1"));
    await books.ok("update_bill", change("y", "2"));
    const { details } = await books.fails("undo_conflict", "undo_change", { change_id });
    assertEquals(details.rows.map(({ what }: Json) => what), ["Rent"]);
  }),
);

Deno.test(
  "undo_change of bills: an undo cannot remove a bill that was paid in the meantime",
  withBooks(async (books, rent) => {
    const [added] = await database.query<{ id: string }>(
      "select id from app.change_sets where tool = 'add_bill' and organization_id = $1",
      [
        books.organizationId,
      ],
    );
    await books.ok("mark_bill_paid", { advance: true, bill_id: rent.id });
    await books.fails("undo_conflict", "undo_change", { change_id: added!.id });
    assertEquals((await shown(books, rent.id)).next_due, "2027-01-01");
  }),
);

Deno.test(
  'undo_change of bills: undoing an automatic payment leaves its date open, and "undo that" skips it',
  withBooks(async (books, rent) => {
    const { bill } = await books.ok("add_bill", {
      name: "Netflix",
      amount: "15",
      first_due: "2026-12-05",
      autopay: true,
    });
    books.goTo("2026-12-10");
    await books.ok("mark_bill_paid", { advance: true, bill_id: bill.id });
    const [automatic] = await database.query<{ id: string }>(
      "select id from app.change_sets where tool = 'autopay' and organization_id = $1",
      [books.organizationId],
    );
    assertEquals((await books.ok("undo_change")).undone.summary, "Paid 15.00 EUR for Netflix due 2027-01-05");
    await books.ok("undo_change", { change_id: automatic!.id });
    books.goTo("2026-12-20");
    await books.ok("mark_bill_paid", { bill_id: rent.id });
    const open = await shown(books, bill.id);
    assertEquals([open.overdue, open.next_due], [[{ due_on: "2026-12-05", amount: "15.00" }], "2027-01-05"]);
  }),
);
