/** Bills in a separate database, with their stored and expected dates. */
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";

export const TODAY = "2026-11-20";

export function test(name: string, work: (database: TestDatabase, books: Books) => Promise<void>): void {
  Deno.test(name, async () => {
    await using database = await openDatabase();
    await work(database, await openBooks(database, { day: TODAY }));
  });
}

export const addBill = async (books: Books, args: Record<string, unknown>): Promise<Json> =>
  (await books.ok("add_bill", { name: "Bill", amount: "10", on_duplicate: "allow", ...args })).bill;
export const showBill = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];
export const rowsOf = (database: TestDatabase, id: string) =>
  database.query<{ scheduled_on: string; due_on: string; status: string }>(
    "select scheduled_on, due_on, status from app.expense_occurrences where expense_id = $1 order by scheduled_on",
    [id],
  );
export const refresh = (database: TestDatabase, id: string, day: string) =>
  database.query("select app.refresh_bill($1, $2)", [id, day]);
export const overdueOf = (bill: Json): string[] => bill.overdue.map((open: Json) => open.due_on);

export function expected(database: TestDatabase, books: Books, from: string, to: string): Promise<Json[]> {
  return database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    (session) =>
      session.query(
        // If inlined, expected_in_period() would read the context once per row.
        `with context as materialized (select app.read_context($1) as context)
         select payee, due_on, expected_minor
         from context, app.expected_in_period(context.context, $2, $3) order by due_on, payee`,
        [`${books.today()}T12:00:00Z`, from, to],
      ),
  );
}
