/** A bill with its dates, and a helper that repeats each change. */
import { assertEquals } from "@std/assert";
import type { Books, Json } from "../_support/books.ts";

export const TODAY = "2026-11-20";

export const addRent = async (books: Books, more: Record<string, unknown> = {}): Promise<string> =>
  (await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-12-05", ...more })).bill.id;
export const show = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];
export const nextDates = async (books: Books, id: string): Promise<string[]> =>
  (await books.ok("list_bills", { bill_id: id })).next_dates;
export const overdueOf = (bill: Json): string[] => bill.overdue.map((open: Json) => open.due_on);
/** A change that must have the same effect when repeated. */
export async function change(books: Books, id: string, args: Record<string, unknown>): Promise<Json> {
  const first = await books.call("update_bill", { bill_id: id, ...args });
  assertEquals(first.ok, true, JSON.stringify(first.error));
  const again = await books.call("update_bill", { bill_id: id, ...args });
  assertEquals(again.ok, true, JSON.stringify(again.error));
  assertEquals([again.change_id, again.data.bill], [undefined, first.data.bill], "made again, it changes nothing");
  return first;
}
