/** A budget that reaches 80 or 100 percent is mailed to the owner, once each per month or year. */
import { assertEquals } from "@std/assert";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import { addBill, at, collect, database, type Digest, fresh, run, said } from "./reminder_run.ts";

const log = (books: Books, amount: string, more: Json = {}) =>
  books.call("log_expenses", {
    items: [{ name: "Market", category: "Groceries", amount, ...more }],
    create_missing_categories: true,
    on_duplicate: "allow",
  });
const set = (books: Books, amount: string, more: Json = {}) =>
  books.ok("update_settings", { budget: { action: "set", category: "Groceries", amount, ...more } });

/** Books with spending on groceries, at noon of a day. */
async function shopper(day: string, amount: string): Promise<Books> {
  const books = await fresh({ day });
  await log(books, amount);
  return books;
}

/** Each budget in a run's digests: spending, limit and percentage. */
const used = (digests: Digest[]) =>
  digests.flatMap(({ content }) =>
    content.organizations.flatMap(({ budgets }) =>
      budgets.map(({ category, spent, available, used_percent, is_over }) =>
        `${category ?? "*"} ${spent}/${available} ${used_percent}%${is_over ? " over" : ""}`
      )
    )
  );

Deno.test("a suspended person gets no mail and doesn't block others", async () => {
  const people = [await shopper("2026-11-10", "400")];
  // PostgreSQL switches to generic plans after this many.
  for (let n = 0; n < 8; n++) {
    const books = await openBooks(database, { day: "2026-11-10" });
    await log(books, "400");
    people.push(books);
  }
  for (const books of people) await set(books, "500");
  const inOrder = people.toSorted((one, other) => one.organizationId < other.organizationId ? -1 : 1);
  const suspended = inOrder.at(-2)!;
  await database.query("update auth.users set banned_until = 'infinity' where id = $1", [suspended.userId]);
  const told = (await run(at("2026-11-11"))).map(({ recipient_id }) => recipient_id);
  assertEquals(told.toSorted(), inOrder.filter((one) => one !== suspended).map(({ userId }) => userId).toSorted());
});

Deno.test("80 and 100 percent of a budget are mailed once each, even if payments change later", async () => {
  const books = await shopper("2026-11-10", "399.99");
  await set(books, "500");
  assertEquals(await run(at("2026-11-11")), []);
  await log(books, "0.01");
  const digests = await run(at("2026-11-11"));
  assertEquals(digests.map(({ recipient_id }) => recipient_id), [books.userId]);
  assertEquals(digests[0]!.content.organizations[0]!.budgets, [{
    category: "Groceries",
    per: "month",
    is_over: false,
    used_percent: 80,
    currency: "EUR",
    spent: "400.00",
    available: "500.00",
    limit: "500.00",
    carried: null,
    carried_from: null,
    is_partial: false,
  }]);
  assertEquals(await run(at("2026-11-11", "09:00")), []);
  assertEquals(await run(at("2026-11-12")), []);
  // A payment that is undone and made again.
  const { change_id } = await log(books, "100");
  await books.ok("undo_change", { change_id });
  assertEquals(await run(at("2026-11-13")), []);
  await log(books, "20");
  assertEquals(await run(at("2026-11-14")), []);
  await log(books, "80");
  assertEquals(used(await run(at("2026-11-15"))), ["Groceries 500.00/500.00 100%"]);
  const { change_id: more } = await log(books, "50");
  assertEquals(await run(at("2026-11-16")), []);
  await books.ok("undo_change", { change_id: more });
  // Another budget amount doesn't cause another notice either.
  await set(books, "510");
  assertEquals(await run(at("2026-11-17")), []);
  await set(books, "400");
  assertEquals(await run(at("2026-11-18")), []);
  // The next month counts separately.
  books.goTo("2026-12-02");
  await log(books, "330");
  assertEquals(used(await run(at("2026-12-03"))), ["Groceries 330.00/400.00 82%"]);
});

Deno.test("reaching 80 and 100 percent at once causes one line, and falling below 100 causes no mail", async () => {
  const books = await shopper("2026-11-10", "300");
  await set(books, "500");
  const { change_id } = await log(books, "300");
  assertEquals(used(await run(at("2026-11-11"))), ["Groceries 600.00/500.00 120%"]);
  await books.ok("undo_change", { change_id });
  await log(books, "120");
  assertEquals(await run(at("2026-11-12")), []);
  assertEquals(
    await database.query("select kind, about_on::text, sent_at is not null as sent from jobs.notice_log order by kind"),
    [{ kind: "budget_100", about_on: "2026-11-01", sent: true }, {
      kind: "budget_80",
      about_on: "2026-11-01",
      sent: true,
    }],
  );
});

Deno.test("a corrected budget is omitted from an unsent mail and can be reported later", async () => {
  const books = await shopper("2026-11-10", "300");
  await set(books, "500");
  const { change_id } = await log(books, "300");
  await collect(at("2026-11-11"));
  await books.ok("undo_change", { change_id });
  await log(books, "100");
  assertEquals(used(await run(at("2026-11-11"))), ["Groceries 400.00/500.00 80%"]);
  await log(books, "100");
  assertEquals(used(await run(at("2026-11-12"))), ["Groceries 500.00/500.00 100%"]);
});

Deno.test("notices about a month's last days arrive on the first days of the next month", async () => {
  const books = await shopper("2026-11-30", "490");
  await set(books, "500");
  await set(books, "490", { per: "year" });
  assertEquals(used(await run(at("2026-12-01"))), ["Groceries 490.00/490.00 100%", "Groceries 490.00/500.00 98% over"]);
  books.goTo("2026-12-02");
  await set(books, "1", { category: undefined });
  assertEquals(used(await run(at("2026-12-02"))), []);
  await log(books, "10", { date: "2026-11-30" });
  assertEquals(used(await run(at("2026-12-04"))), []);
  const late = await shopper("2026-11-30", "490");
  await set(late, "500");
  assertEquals(used(await run(at("2026-12-04"))), []);
});

Deno.test("carry-over counts, even for spending beyond it", async () => {
  const books = await shopper("2026-11-10", "900");
  await set(books, "500", { carry_over: true });
  assertEquals(used(await run(at("2026-11-20"))), ["Groceries 900.00/500.00 180%"]);
  books.goTo("2026-12-05");
  await log(books, "81");
  assertEquals(used(await run(at("2026-12-06"))), ["Groceries 81.00/100.00 81%"]);
  books.goTo("2026-12-07");
  await log(books, "900");
  await run(at("2026-12-08"));
  books.goTo("2027-01-05");
  assertEquals(await run(at("2027-01-05")), []);
  await log(books, "1");
  assertEquals(used(await run(at("2027-01-06"))), ["Groceries 1.00/-381.00 null%"]);
});

Deno.test("a notice joins the day's mail, or the next one once that was sent", async () => {
  const books = await shopper("2026-11-10", "450");
  await addBill(books, "Rent", "2026-11-12");
  await set(books, "500");
  const digests = await run(at("2026-11-11"));
  assertEquals([said(digests), used(digests)], [["Rent 1"], ["Groceries 450.00/500.00 90%"]]);
  await log(books, "60");
  assertEquals(await run(at("2026-11-11", "20:00")), []);
  assertEquals(used(await run(at("2026-11-12"))), ["Groceries 510.00/500.00 102%"]);
});

Deno.test("payments without a rate are omitted and counted", async () => {
  const books = await shopper("2026-11-10", "400");
  await set(books, "500");
  await log(books, "100", { currency: "CHF" });
  const [digest] = await run(at("2026-11-11"));
  const [budget] = digest!.content.organizations[0]!.budgets;
  assertEquals([budget!.spent, budget!.is_partial], ["400.00", true]);
  await addRate(database, "CHF", "2026-11-10", "1");
});

Deno.test("a notice contains no hidden amounts", async () => {
  const books = await shopper("2026-11-10", "400");
  await set(books, "500");
  await database.query("update identity.profiles set hide_amounts_in_email = true where user_id = $1", [books.userId]);
  assertEquals(used(await run(at("2026-11-11"))), ["Groceries null/null 80%"]);
});

Deno.test("only recipients with mails, a plan with reminders and a budget get notices", async () => {
  const books = await shopper("2026-11-10", "500");
  const member = await books.join();
  await set(member, "500");
  const other = await openBooks(database, { day: "2026-11-10" });
  await log(other, "20");
  await set(other, "500");
  const digestsOf = (userId: string) =>
    database.query("select 1 from jobs.reminder_digests where recipient_id = $1", [userId]);
  await collect(at("2026-11-11"));
  assertEquals(await digestsOf(member.userId), []);
  assertEquals((await run(at("2026-11-11"))).map(({ recipient_id }) => recipient_id), [books.userId]);
  for (
    const [change, back] of [
      ["identity.memberships set mails = 'none'", "identity.memberships set mails = 'mine'"],
      ["identity.organizations set plan = 'free'", "identity.organizations set plan = 'pro'"],
      ["identity.profiles set email_enabled = false", "identity.profiles set email_enabled = true"],
      ["app.budgets set deleted_at = now()", "app.budgets set deleted_at = null"],
      ["app.categories set archived_at = now()", "app.categories set archived_at = null"],
    ]
  ) {
    await database.query(`delete from jobs.notice_log`);
    await database.query(`update ${change}`);
    assertEquals(await run(at("2026-11-12")), [], change);
    await database.query(`update ${back}`);
  }
  assertEquals((await run(at("2026-11-12"))).map(({ recipient_id }) => recipient_id), [books.userId]);
  // Recipients who chose only their own bills after the digest was created get no notices either.
  const wants = (mails: string) =>
    database.query("update identity.memberships set mails = $2 where user_id = $1", [member.userId, mails]);
  await wants("all");
  await collect(at("2026-11-13"));
  assertEquals((await digestsOf(member.userId)).length, 1);
  await wants("mine");
  assertEquals(await run(at("2026-11-13")), []);
  // A member who chose all mails.
  await database.query("update identity.memberships set mails = 'all' where user_id = $1", [member.userId]);
  assertEquals((await run(at("2026-11-13"))).map(({ recipient_id }) => recipient_id), [member.userId]);
});

Deno.test("budgets are collected page by page", async () => {
  await database.reset();
  const all: string[] = [];
  for (let n = 0; n < 5; n++) {
    const books = await openBooks(database, { day: "2026-11-10" });
    await log(books, "500");
    await set(books, "500");
    all.push(books.userId);
  }
  for (const size of [2, 5]) {
    await database.query("delete from jobs.reminder_digests");
    await collect(at("2026-11-11"), size);
    assertEquals((await run(at("2026-11-11"))).map(({ recipient_id }) => recipient_id).toSorted(), all.toSorted());
  }
});

Deno.test("spending is summed only for organizations with a budget and recipients without a notice", async () => {
  const books = await shopper("2026-11-10", "500");
  await addBill(books, "Rent", "2026-11-12");
  const scans = (time: string) =>
    database.asRole("service_role", {}, async (session) => {
      const count = async () =>
        (await session.query<{ scans: number }>(
          "select coalesce(sum(seq_scan + idx_scan), 0)::int as scans from pg_stat_xact_user_tables where relname = 'payments'",
        ))[0]!.scans;
      const before = await count();
      await session.query('select public.collect_reminders($1, \'["infinity", "org_"]\')', [at("2026-11-11", time)]);
      return await count() - before;
    });
  assertEquals(await scans("06:00"), 0);
  await database.query("delete from jobs.reminder_digests");
  await set(books, "500");
  const looked = await scans("07:00");
  assertEquals(looked > 0, true, "test of the test: with a budget it is counted");
  await run(at("2026-11-11", "07:10"));
  await log(books, "500");
  assertEquals(await scans("08:00"), 0);
});
