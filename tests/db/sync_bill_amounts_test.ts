/** Amounts from providers, the database's part: who is asked, how often, and what is taken over. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

async function connect(database: TestDatabase, books: Books, name = "Power", status = "active"): Promise<string> {
  const { bill } = await books.ok("add_bill", { name, amount_mode: "variable", first_due: "2026-11-25" });
  await database.query(
    "insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status) values ($1, $2, 'utility', 'Ac…01', $3)",
    [books.organizationId, bill.id, status],
  );
  return bill.id;
}
/** Both calls, with what the provider of every pending link says. */
async function sync(books: Books, answer: Record<string, unknown>, args: Record<string, unknown> = {}): Promise<Json> {
  const { bills, pending } = await books.ok("sync_bill_amounts", args);
  const results = pending.map(({ link_id, period }: Json) => ({ link_id, period, ...answer }));
  return await books.call("store_bill_amounts", { bills, results });
}
const statement = (amount: string, currency = "EUR") => ({ outcome: "statement", amount, currency });
const open = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];

testBooks("sync_bill_amounts", { day: "2026-11-20" }, {
  "takes over an amount, once an hour, and is undone": async (books, database) => {
    const id = await connect(database, books);
    const { data, change_id } = await sync(books, statement("84.20"));
    assertEquals(data.bills.map(({ bill_id, status, new: amount }: Json) => [bill_id, status, amount]), [[
      id,
      "updated",
      "84.20",
    ]]);
    assertEquals((await open(books, id)).amount, "84.20");
    const again = await books.ok("sync_bill_amounts");
    assertEquals([again.pending, again.bills[0].status], [[], "unchanged"]);
    await books.ok("undo_change", { change_id });
    assertEquals((await open(books, id)).amount, undefined);
    books.goTo("2026-11-21");
    assertEquals((await sync(books, statement("84.20"), { bill_ids: [id] })).data.bills[0].status, "updated");
    books.goTo("2026-11-22");
    assertEquals((await sync(books, statement("84.20"))).data.bills[0].status, "unchanged");
  },
  "does not take over what is far from usual, in another currency, or paid": async (books, database) => {
    const id = await connect(database, books);
    await books.ok("mark_bill_paid", { bill_id: id, amount: "80", due_on: "2026-12-25" });
    const unusual = (await sync(books, statement("130"))).data.bills[0];
    assertEquals([unusual.status, unusual.usual, unusual.new], ["needs_review", "80.00", "130.00"]);
    assertEquals((await open(books, id)).amount, undefined);
    books.goTo("2026-11-21");
    assertEquals((await sync(books, statement("81", "USD"))).data.bills[0].status, "needs_review");
    await books.ok("mark_bill_paid", { bill_id: id, amount: "82", due_on: "2026-11-25" });
    books.goTo("2026-11-22");
    assertEquals((await sync(books, statement("83"))).data.bills[0].status, "needs_review");
  },
  "says what went wrong, and when the owner has to connect again": async (books, database) => {
    const id = await connect(database, books);
    assertEquals(
      (await sync(books, { outcome: "error", code: "no_adapter" })).data.bills[0].text,
      "Amounts cannot be fetched from utility yet; enter the amount of Power by hand.",
    );
    books.goTo("2026-11-21");
    assertEquals((await sync(books, { outcome: "not_ready" })).data.bills[0].status, "not_ready");
    books.goTo("2026-11-22");
    assertEquals((await sync(books, { outcome: "auth_error" })).data.bills[0].status, "failed");
    books.goTo("2026-11-23");
    assertEquals((await sync(books, { outcome: "auth_error" })).data.bills[0].status, "needs_reauth");
    books.goTo("2026-11-24");
    const { bills, pending } = await books.ok("sync_bill_amounts", { bill_ids: [id] });
    assertEquals([bills[0].status, pending], ["needs_reauth", []]);
  },
  "needs a plan that fetches, a bill and a month": async (books, database) => {
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "5", first_due: "2026-12-01" });
    assertEquals(
      (await books.ok("sync_bill_amounts", { bill_ids: [bill.id] })).bills[0].text,
      "Rent is not connected to a provider.",
    );
    await books.fails("not_found", "sync_bill_amounts", { bill_ids: ["bill_00000000"] });
    await books.fails("date_out_of_range", "sync_bill_amounts", { period: "2026-13" });
    await books.fails("date_out_of_range", "sync_bill_amounts", { period: "2026-12" });
    await database.query("update identity.organizations set plan = 'pro' where id = $1", [books.organizationId]);
    await books.fails("feature_not_in_plan", "sync_bill_amounts");
  },
});
