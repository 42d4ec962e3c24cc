/** Income is separate from spending, and expected from rules and from rhythms. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

/** Adds an income, or a rule with `frequency` and `anchor_on`. */
async function add(database: TestDatabase, books: Books, row: Json): Promise<void> {
  await database.query(
    `insert into app.incomes (organization_id, name, sort, amount_minor, currency, received_on, frequency, every,
      anchor_on, ends_on, source, created_by)
    select $1, r.name, 'salary', r.amount_minor, coalesce(r.currency, 'EUR'), r.received_on, r.frequency, r.every,
      r.anchor_on, r.ends_on, 'assistant', $2
    from jsonb_populate_record(null::app.incomes, $3::text::jsonb) as r`,
    [books.organizationId, books.userId, JSON.stringify(row)],
  );
}
const salary = (database: TestDatabase, books: Books, day: string, minor: number, name = "Work GmbH") =>
  add(database, books, { name, amount_minor: minor, received_on: day });
const rule = (database: TestDatabase, books: Books, day: string, minor: number, more: Json = {}) =>
  add(database, books, {
    name: "Salary",
    amount_minor: minor,
    frequency: "monthly",
    every: 1,
    anchor_on: day,
    ...more,
  });

/** [day, name, low, likely, high, source] of each expected income. */
const expected = (database: TestDatabase, books: Books, first: string, last: string): Promise<Json[]> =>
  database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    async (session) => {
      const rows = await session.query<Json>(
        `select e.day::text, e.name, e.low::int, e.likely::int, e.high::int, e.source
        from app.read_context($1::timestamptz) as c
        cross join lateral app.expected_incomes(c, $2, $3) as e`,
        [`${books.today()}T12:00:00Z`, first, last],
      );
      return rows.map(({ day, name, low, likely, high, source }: Json) => [day, name, low, likely, high, source]);
    },
  );

testBooks("expected_incomes()", { day: "2026-10-06" }, {
  "returns the dates of a rule, except those already received": async (books, database) => {
    await rule(database, books, "2026-08-31", 245000, { ends_on: "2026-12-15" });
    const all = () => expected(database, books, "2026-10-06", "2027-01-31");
    const rows = (...days: string[]) => days.map((day) => [day, "Salary", 245000, 245000, 245000, "said"]);
    assertEquals(await all(), rows("2026-10-31", "2026-11-30"));
    books.goTo("2026-10-29");
    // The statement names the payer, so the amount and the day decide.
    await salary(database, books, "2026-10-29", 248000);
    assertEquals(await all(), [["2026-11-30", "Salary", 245000, 245000, 248000, "said"]]);
  },
  "matches an income to the rule of its payer before one with its amount": async (books, database) => {
    await rule(database, books, "2026-10-28", 245000, { name: "Salary Ana" });
    await rule(database, books, "2026-10-28", 250000, { name: "Salary Ben" });
    books.goTo("2026-10-28");
    await salary(database, books, "2026-10-28", 245000, "Salary Ben");
    assertEquals(
      (await expected(database, books, "2026-10-20", "2026-11-01")).map(([day, name]: Json) => [day, name]),
      [["2026-10-28", "Salary Ana"]],
    );
  },
  "matches one income to each date of a rule, so that equal salaries keep their own": async (books, database) => {
    await rule(database, books, "2026-10-28", 245000, { name: "Ana's salary" });
    await rule(database, books, "2026-10-28", 245000, { name: "Ben's salary" });
    books.goTo("2026-10-28");
    await salary(database, books, "2026-10-28", 245000, "Work GmbH");
    assertEquals((await expected(database, books, "2026-10-20", "2026-11-01")).length, 1);
    await salary(database, books, "2026-10-27", 245000, "Globex Inc");
    assertEquals(await expected(database, books, "2026-10-20", "2026-11-01"), []);
  },
  "finds a payer who paid three times in a rhythm, with the range of the amounts": async (books, database) => {
    await salary(database, books, "2026-07-31", 240000);
    await salary(database, books, "2026-08-31", 245000);
    const october = () => expected(database, books, "2026-10-06", "2026-11-30");
    assertEquals(await october(), []);
    // A weekend moves it into the next month.
    await salary(database, books, "2026-10-01", 245000);
    assertEquals(await october(), [
      ["2026-10-31", "Work GmbH", 240000, 245000, 245000, "found"],
      ["2026-11-30", "Work GmbH", 240000, 245000, 245000, "found"],
    ]);
  },
  "keeps the rhythm of a salary despite a bonus of its payer": async (books, database) => {
    for (const day of ["2026-06-28", "2026-07-28", "2026-08-28", "2026-09-28"]) {
      await salary(database, books, day, 245000);
    }
    await salary(database, books, "2026-09-15", 100000);
    assertEquals(await expected(database, books, "2026-10-06", "2026-11-01"), [
      ["2026-10-28", "Work GmbH", 245000, 245000, 245000, "found"],
    ]);
  },
  "expects nothing of a payer who stopped, and returns the latest income instead": async (books, database) => {
    for (const day of ["2026-05-28", "2026-06-28", "2026-07-28"]) await salary(database, books, day, 245000);
    assertEquals(await expected(database, books, "2026-10-06", "2026-12-01"), [
      ["2026-07-28", "Work GmbH", 245000, 245000, 245000, "stopped"],
    ]);
  },
  "hides others' income from members who see only their own records": async (books, database) => {
    const member = await books.join();
    await rule(database, books, "2026-10-28", 245000);
    const seen = async () => (await expected(database, member, "2026-10-06", "2026-11-01")).length;
    assertEquals(await seen(), 1);
    await database.query("update identity.organizations set own_only = true where id = $1", [books.organizationId]);
    assertEquals(await seen(), 0);
    await rule(database, member, "2026-10-15", 100000);
    assertEquals(await seen(), 1);
  },
  "shows no other organization's income": async (books, database) => {
    const other = await openBooks(database, { day: books.today() });
    await rule(database, other, "2026-10-28", 245000);
    assertEquals(await expected(database, books, "2026-10-06", "2026-12-01"), []);
  },
});
