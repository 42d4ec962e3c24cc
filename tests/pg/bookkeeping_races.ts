/** Concurrent splits, merges, deletions by filter, calendar addresses and budget mails. */
import { assertEquals } from "@std/assert";
import { type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { rollAll } from "../_support/roll_bills.ts";
import { newHash } from "./household.ts";

const database = await sharedDatabase();

const CALLERS = 8;
const together = <Result>(call: (caller: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
const open = () => openBooks(database, { day: "2026-11-20" });
const log = async (books: Awaited<ReturnType<typeof open>>, ...items: Json[]): Promise<string[]> =>
  (await books.ok("log_expenses", { items, on_duplicate: "allow" })).results.map(({ id }: Json) => id);

Deno.test("concurrent splits of one record apply one after the other, to the cent", async () => {
  const books = await open();
  const [id] = await log(books, { name: "Shop", amount: "100.01", tax_percent: 19 });
  const answers = await together((caller) =>
    books.call("update_expenses", { ids: [id], set: { split: [{ amount: `${caller + 1}.07` }, { amount: "3" }, {}] } })
  );
  assertEquals(answers.filter(({ ok, error }) => !ok && error.code !== "busy"), []);
  const { rows, tax_by_currency } = await books.ok("list_expenses");
  assertEquals([rows.length, new Set(rows.map(({ split_id }: Json) => split_id)).size], [3, 1]);
  assertEquals((await books.call("list_expenses")).totals_by_currency, { EUR: "100.01" });
  assertEquals(tax_by_currency.EUR.amount, "15.97");
});

Deno.test("concurrent merges of one record: one succeeds", async () => {
  const books = await open();
  const [gone, ...kept] = await log(
    books,
    ...Array.from({ length: CALLERS + 1 }, (_, n) => ({ name: `Lidl ${n}`, amount: "23.45" })),
  );
  const answers = await together((caller) => books.call("update_expenses", { ids: [gone], merge_into: kept[caller] }));
  assertEquals(answers.filter(({ ok }) => ok).length, 1);
  assertEquals((await books.call("list_expenses")).total_count, CALLERS);
  const [merge] = answers.filter(({ ok }) => ok);
  await books.ok("undo_change", { change_id: merge!.change_id });
  assertEquals((await books.call("list_expenses")).total_count, CALLERS + 1);
});

Deno.test("concurrent deletions by filter delete once, and one undo restores it", async () => {
  const books = await open();
  await log(books, ...Array.from({ length: 30 }, (_, n) => ({ name: `Trip ${n}`, amount: "10" })));
  const args = { filter: { query: "Trip" }, confirm: { count: 30, total: "300.00" } };
  const answers = await together(() => books.call("delete_records", args));
  assertEquals(answers.filter(({ ok }) => ok).map(({ data }) => data.count), [30]);
  assertEquals((await books.call("list_expenses")).total_count, 0);
  await books.ok("undo_change", { change_id: answers.find(({ ok }) => ok)!.change_id });
  assertEquals((await books.call("list_expenses")).totals_by_currency, { EUR: "300.00" });
});

Deno.test("a payment that is logged, marked paid and charged automatically at once counts once", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const bill = { name: "Power", payee: "Stadtwerke", amount: "84.00", frequency: "monthly", first_due: "2026-11-20" };
  const { bill: { id } } = await books.ok("add_bill", { ...bill, autopay: true });
  books.goTo("2026-11-21");
  const item = { name: "Stadtwerke", amount: "84.00", date: "2026-11-20" };
  await Promise.all([
    together((caller) =>
      caller % 2
        ? books.call("log_expenses", { items: [item] })
        : books.call("mark_bill_paid", { bill_id: id, due_on: "2026-11-20", paid_on: "2026-11-20" })
    ),
    rollAll(database, "2026-11-21T03:00:00Z"),
  ]);
  assertEquals((await books.call("list_expenses")).totals_by_currency, { EUR: "84.00" });
});

Deno.test("concurrent requests for a calendar address leave one, shown to its caller", async () => {
  const books = await open();
  const hashes = Array.from({ length: CALLERS }, newHash);
  const answers = await together((caller) =>
    database.asService<{ outcome: string }>("create_calendar", {
      user_id: books.userId,
      organization_id: books.organizationId,
      token_hash: hashes[caller],
      at: `2026-11-20T08:00:0${caller}Z`,
    })
  );
  const rows = await database.query<{ hash: string }>(
    "select encode(token_hash, 'hex') as hash from identity.calendar_feeds where user_id = $1",
    [books.userId],
  );
  assertEquals(rows, [{ hash: hashes.at(-1)! }]);
  assertEquals(answers.at(-1), { outcome: "created" });
});

Deno.test("concurrent runs mail an exceeded budget once", async () => {
  await database.reset();
  const owners = 12;
  for (let n = 0; n < owners; n++) {
    const books = await open();
    await log(books, { name: "Shop", amount: "450", category: "Groceries", date: "2026-11-19" });
    await books.ok("update_settings", {
      budget: { action: "set", category: "Groceries", amount: "500", per: "month" },
    });
  }
  const mail = mailService();
  const run = (at: string) =>
    Promise.all(
      Array.from({ length: 4 }, () =>
        createJob({
          database: asDatabase(database),
          fetch: withRates(mail.fetch),
          now: () => new Date(at),
        }).run()),
    );
  await run("2026-11-20T09:00:00Z");
  await run("2026-11-21T09:00:00Z");
  assertEquals([mail.delivered.length, new Set(mail.delivered.map(({ to }) => to)).size], [owners, owners]);
  const [{ count }] = await database.query<Json>("select count(*)::int as count from jobs.notice_log") as [Json];
  assertEquals(count, owners);
});

Deno.test("concurrent runs warn each person of a low balance once", async () => {
  await database.reset();
  const owners = 12;
  const people = await Promise.all(Array.from({ length: owners }, async () => {
    const books = await open();
    const manager = await books.join("manager");
    await database.query(
      "update identity.memberships set mails = 'all' where organization_id = $1 and user_id = $2",
      [books.organizationId, manager.userId],
    );
    await log(books, { name: "Giro", amount: "1000", kind: "balance" });
    await books.ok("add_bill", {
      ...{ name: "Rent", amount: "800", frequency: "monthly", first_due: "2026-12-10", reminder: { enabled: false } },
    });
    await books.ok("update_settings", { low_balance_limit: "500" });
    return [books, manager];
  }));
  const mail = mailService();
  for (const day of ["2026-11-21", "2026-11-22"]) {
    await Promise.all(Array.from({ length: 4 }, () =>
      createJob({
        database: asDatabase(database),
        fetch: withRates(mail.fetch),
        now: () => new Date(`${day}T09:00:00Z`),
      }).run()));
  }
  const recipients = people.flat().length;
  assertEquals([mail.delivered.length, new Set(mail.delivered.map(({ to }) => to)).size], [recipients, recipients]);
  assertEquals(
    mail.delivered.map(({ text }) => text.split("possibly as low as").length - 1),
    Array(recipients).fill(1),
  );
});
