/** review_bills names price rises that charges show, before and after the bill exists. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

type Row = [day: string, text: string, amount: string];

async function importStatement(books: Books, rows: Row[], answer = "new"): Promise<void> {
  const lines = rows.map(([date, text, amount]) => `${date},${text},${amount},,EUR`).join("\n");
  const file = importOfFile(`Date,Description,Debit,Credit,Currency\n${lines}\n`, { account: "Visa" });
  let { preview } = await books.ok("import_expenses", file);
  if (preview.questions.length > 0) {
    const answers = Object.fromEntries(preview.questions.map(({ id }: Json) => [id, answer]));
    ({ preview } = await books.ok("import_expenses", { import_id: preview.import_id, answers }));
  }
  await books.ok("import_expenses", preview.commit_with);
}
const rises = async (books: Books, more: Json = {}): Promise<Json[]> =>
  (await books.ok("review_bills", more)).price_rises.map((
    { name, old, new: now, since, recorded }: Json,
  ) => [name, old, now, since, recorded]);
const netflix = (amounts: string[]): Row[] =>
  amounts.map((amount, n) => [`2026-${String(n + 1).padStart(2, "0")}-05`, "NETFLIX.COM", amount]);
const addNetflix = (books: Books, amount: string, first_due: string) =>
  books.ok("add_bill", { name: "Netflix", amount, first_due, autopay: true });

testBooks("price_rises", { day: "2026-04-20" }, {
  "a charge whose name fits more than five bills belongs to none": async (books, database) => {
    await importStatement(books, netflix(["13.99", "13.99", "17.99", "17.99"]));
    const add = (count: number) =>
      books.ok("add_bill", {
        name: `Netflix ${count}`,
        amount: "17.99",
        first_due: "2026-05-05",
        autopay: true,
        on_duplicate: "allow",
      });
    for (let count = 1; count <= 5; count++) await add(count);
    assertEquals((await rises(books)).length, 5);
    await add(6);
    assertEquals(await rises(books), []);
    const [{ bills }] = await database.query<{ bills: number }>(
      "select count(*)::int as bills from app.match_bill_texts($1, array_fill('Netflix'::text, array[$2::int]), '{NETFLIX.COM,Kiosk}')",
      [["a", "b", "c", "d", "e"], 5],
    ) as [{ bills: number }];
    assertEquals(bills, 5);
  },
  "names a rise in charges from before the bill existed": async (books) => {
    await importStatement(books, netflix(["13.99", "13.99", "17.99", "17.99"]));
    await addNetflix(books, "17.99", "2026-05-05");
    assertEquals(await rises(books), [["Netflix", "13.99", "17.99", "2026-03-05", undefined]]);
    assertEquals(await rises(books, { lookback_months: 1 }), [], "it is older");
  },
  "dates a rise by its first charge, whenever the bill is corrected": async (books) => {
    await importStatement(books, netflix(["13.99", "13.99"]));
    await addNetflix(books, "13.99", "2026-05-05");
    books.goTo("2026-07-20");
    await importStatement(books, [["2026-05-05", "NETFLIX.COM", "17.99"], ["2026-06-05", "NETFLIX.COM", "17.99"]]);
    assertEquals(await rises(books), [["Netflix", "13.99", "17.99", "2026-05-05", "13.99"]]);
    await books.ok("update_bill", { bill_name: "Netflix", set: { amount: "17.99" } });
    assertEquals(await rises(books), [["Netflix", "13.99", "17.99", "2026-05-05", undefined]]);
    books.goTo("2026-09-20");
    assertEquals(await rises(books), [["Netflix", "13.99", "17.99", "2026-05-05", undefined]]);
    await books.ok("update_bill", { bill_name: "Netflix", set: { amount: "12.99" } });
    assertEquals(await rises(books), [], "it costs less again");
  },
  "names a rise that mark_bill_paid corrects, and forgets it when the price falls again": async (books) => {
    await addNetflix(books, "13.99", "2026-05-05");
    const pay = (month: string, amount: string) =>
      books.ok("mark_bill_paid", {
        bill_name: "Netflix",
        due_on: `2026-${month}-05`,
        paid_on: `2026-${month}-05`,
        amount,
      });
    books.goTo("2026-08-20");
    assertEquals(await rises(books), [], "automatic payments prove no price");
    await pay("05", "13.99").catch(() => undefined);
    await pay("06", "14.50");
    await books.ok("mark_bill_paid", { bill_name: "Netflix", due_on: "2026-07-05", amount: "15.99" });
    assertEquals(await rises(books), [["Netflix", "14.50", "15.99", "2026-07-05", "13.99"]]);
    await pay("08", "13.50");
    assertEquals(await rises(books), []);
  },
  "does not take other purchases from the payee for a price": async (books) => {
    await importStatement(books, [
      ...netflix(["13.99", "13.99", "13.99"]),
      ["2026-03-17", "NETFLIX.COM", "19.99"],
      ["2026-04-05", "NETFLIX.COM", "99.00"],
    ]);
    await addNetflix(books, "13.99", "2026-05-05");
    assertEquals(await rises(books), []);
  },
  "shows no one the charges of others": async (books) => {
    await importStatement(books, netflix(["13.99", "13.99", "17.99"]));
    await addNetflix(books, "17.99", "2026-05-05");
    const member = await books.join();
    await books.ok("update_settings", { own_only: true });
    assertEquals(await rises(member), []);
  },
});
