/** Rolling many bills at once gives the same result as rolling each alone, and touches only stale ones. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { RollingPage } from "../../shared/db/reminders_store.ts";
import { daysAfter } from "../../shared/iso_day.ts";
import { type Books, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import type { Session } from "../../local/database/sql.ts";
import { IS_SHORT } from "../_support/short_form.ts";
import { rollAll } from "../_support/roll_bills.ts";
import { rolledBack } from "../_support/tap.ts";

const database = await sharedDatabase();

/** Everything a roll may change in an organization's bills, by name. */
const stateOf = (books: Books, session: Session = database) =>
  session.query(
    `select e.name, e.next_due, e.status, e.version,
       (select jsonb_agg(jsonb_build_array(o.scheduled_on, o.due_on, o.status, o.expected_minor) order by o.scheduled_on)
        from app.expense_occurrences as o where o.expense_id = e.id) as dates,
       (select jsonb_agg(jsonb_build_array(p.paid_on, p.amount_minor, p.source) order by p.paid_on)
        from app.payments as p where p.expense_id = e.id) as payments
     from app.expenses as e where e.organization_id = $1 order by e.name`,
    [books.organizationId],
  );

const TODAY = "2026-11-20";
const bills = fc.record({
  frequency: fc.constantFrom("once", "daily", "weekly", "monthly", "yearly"),
  every: fc.integer({ min: 1, max: 5 }),
  first: fc.integer({ min: -60, max: 40 }),
  month_days: fc.option(fc.uniqueArray(fc.constantFrom(1, 15, 28, 30, 31, -1), { minLength: 1, maxLength: 3 })),
  month_weekdays: fc.option(fc.uniqueArray(fc.constantFrom("1MO", "2TU", "-1FR"), { minLength: 1, maxLength: 3 })),
  weekend_rule: fc.constantFrom("none", "before", "after"),
  amount_mode: fc.constantFrom("fixed", "estimated", "variable"),
  autopay: fc.boolean(),
  ends_after: fc.option(fc.integer({ min: 1, max: 4 })),
  /** The number of next dates that are paid in advance. */
  paid: fc.integer({ min: 0, max: 2 }),
});

Deno.test("roll_bills() has the same effect on each bill as refresh_bill()", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(bills, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 400 }),
      async (drawn, later) => {
        await database.reset();
        const books = await openBooks(database, { day: TODAY });
        for (const [index, { first, paid, month_days, month_weekdays, ends_after, ...rest }] of drawn.entries()) {
          const days = month_days ? { month_days } : month_weekdays && { month_weekdays };
          const added = await books.call("add_bill", {
            name: `Bill ${index}`,
            ...rest,
            every: rest.frequency === "once" ? 1 : rest.every,
            ...(rest.amount_mode !== "variable" && { amount: "10" }),
            first_due: daysAfter(TODAY, first),
            ...(rest.frequency === "monthly" && days),
            ...(ends_after && rest.frequency !== "once" && { ends_after }),
            on_duplicate: "allow",
          });
          if (!added.ok) continue; // Such as a first date that is not in the schedule.
          for (const due_on of (added.data.next_dates ?? []).slice(0, paid)) {
            await books.call("mark_bill_paid", { bill_id: added.data.bill.id, due_on, amount: "10" });
          }
        }
        const day = daysAfter(TODAY, later);
        const stale = await database.query<{ id: string }>(
          `select id from app.expenses where organization_id = $1 and kind = 'bill' and status = 'active' and next_due < $2
           and (frequency <> 'once' or autopay and amount_minor is not null)`,
          [books.organizationId, day],
        );
        let refreshed: Awaited<ReturnType<typeof stateOf>> = [];
        await rolledBack(database, async (session) => {
          for (const { id } of stale) await session.query("select app.refresh_bill($1, $2)", [id, day]);
          refreshed = await stateOf(books, session);
        });
        const { advanced, failed } = await rollAll(database, `${day}T12:00:00Z`, 3);
        assertEquals(failed, []);
        assertEquals(advanced, stale.length);
        assertEquals(await stateOf(books), refreshed);
        assertEquals((await rollAll(database, `${day}T12:00:00Z`)).advanced, 0);
      },
    ),
    { numRuns: IS_SHORT ? 8 : 25 },
  );
});

Deno.test("a bill becomes stale by its owner's date, not the server's", async () => {
  await database.reset();
  const far = { day: "2026-11-18" };
  const kiritimati = await openBooks(database, { ...far, timezone: "Pacific/Kiritimati" });
  const honolulu = await openBooks(database, { ...far, timezone: "Pacific/Honolulu" });
  for (const books of [kiritimati, honolulu]) {
    await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-11-20" });
  }
  // Already the 21st on Kiritimati, still the 20th in Honolulu.
  assertEquals((await rollAll(database, "2026-11-20T11:00:00Z")).advanced, 1);
  assertEquals((await stateOf(kiritimati))[0]!.next_due, "2026-12-20");
  assertEquals((await stateOf(honolulu))[0]!.next_due, "2026-11-20");
  assertEquals((await rollAll(database, "2026-11-21T10:00:00Z")).advanced, 1);
});

Deno.test("a date that was paid in advance does not become the next date again", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-10" });
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-11-20" });
  await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-20" });
  await rollAll(database, "2026-12-20T12:00:00Z");
  assertEquals((await stateOf(books))[0]!.next_due, "2027-01-20");
});

Deno.test("a bill that cannot be rolled is named and blocks no other", async () => {
  await database.reset();
  const books = await openBooks(database, { day: TODAY });
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    ids.push(
      (await books.ok("add_bill", { name: `Bill ${n}`, amount: "10", first_due: "2026-11-25", on_duplicate: "allow" }))
        .bill.id,
    );
  }
  await database.exec(`
    create function app.planted() returns trigger language plpgsql set search_path = '' as $$ begin raise exception 'planted'; end $$;
    create trigger planted before insert on app.expense_occurrences for each row
      when (new.expense_id = '${ids[2]}') execute function app.planted();`);
  try {
    const { advanced, failed } = await rollAll(database, "2026-12-01T12:00:00Z", 2);
    assertEquals(advanced, 4);
    assertEquals(failed, [{ ref: ids[2]!, code: "P0001" }]);
  } finally {
    await database.exec("drop trigger planted on app.expense_occurrences; drop function app.planted()");
  }
  assertEquals((await rollAll(database, "2026-12-01T12:00:00Z")).advanced, 1);
});

Deno.test("a bill with several dates on one day, after a weekend, is rolled once", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-13" });
  const meals = { name: "Meals", amount: "10", frequency: "daily", weekend_rule: "after", first_due: "2026-11-14" };
  await books.ok("add_bill", meals);
  // Saturday's, Sunday's and Monday's dates are open, and all are due on Monday.
  await database.query("select app.materialize_occurrences(e, 0, 2) from app.expenses as e");
  const at = "2026-11-17T12:00:00Z";
  const page = '{"from": ["2026-11-16", ""], "until": null}';
  const stale = "select (s).due_on from jobs.lock_stale_bills($1, $2) as l, unnest(l.stale) as s";
  assertEquals(await database.query(stale, [at, page]), [{ due_on: "2026-11-16" }]);
  // The division into pages does not matter.
  assertEquals(await rollAll(database, at, 1), { advanced: 1, failed: [], passedOver: 0, pages: 3 });
  const [rolled] = await stateOf(books);
  assertEquals(rolled!.next_due, "2026-11-17");
  const dates = rolled!.dates as [string, string, string][];
  assertEquals(dates.map(([scheduled, due]) => [scheduled, due]), [
    ["2026-11-14", "2026-11-16"],
    ["2026-11-15", "2026-11-16"],
    ["2026-11-16", "2026-11-16"],
    ["2026-11-17", "2026-11-17"],
  ]);
});

Deno.test("the run rolls the latest passed bill first, and each due date is on one page", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-10" });
  const due = ["2026-11-11", "2026-11-15", "2026-11-15", "2026-11-18"];
  for (const first_due of due) {
    await books.ok("add_bill", { name: "Bill", amount: "10", first_due, on_duplicate: "allow" });
  }
  const pages = await database.asService<RollingPage[]>("find_rolling_pages", { at: "2026-11-20T12:00:00Z", size: 1 });
  const froms = pages.map(({ from }) => from as [date: string, id: string]);
  assertEquals(froms.map(([date]) => date), due.toReversed());
  assertEquals(pages.map(({ until }) => until), [null, ...froms.slice(0, -1)]);
});

Deno.test("several missed periods are rolled in one step, and each passed date stays open", async () => {
  await database.reset();
  const books = await openBooks(database, { day: TODAY });
  await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-11-30" });
  assertEquals((await rollAll(database, "2027-03-31T12:00:00Z")).advanced, 1);
  const [rent] = await stateOf(books);
  assertEquals(rent!.next_due, "2027-04-30");
  const dates = rent!.dates as [string, string, string][];
  assertEquals(dates.map(([, due]) => due), [
    "2026-11-30",
    "2026-12-30",
    "2027-01-30",
    "2027-02-28",
    "2027-03-30",
    "2027-04-30",
  ]);
  assert(dates.every(([, , status]) => status === "open"));
  assertEquals(rent!.version, 1);
});

Deno.test("a run looks back to the last complete one, and checks every bill once a week", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-10-01" });
  await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-10-15" });
  const record = (period: string, complete: boolean) =>
    database.asService("record_job_run", {
      job: "reminders",
      period,
      stage: "roll",
      status: "ok",
      counts: { complete },
      error_code: null,
      started_at: `${period}T08:00:00Z`,
      finished_at: `${period}T08:00:01Z`,
    });
  // Future-dated or incomplete runs do not count.
  await record("2027-05-01", true);
  await record("2026-11-19", false);
  const until = async (at: string) => (await database.query("select jobs.rolled_until($1) as day", [at]))[0]!.day;
  assertEquals(await until("2026-11-20T08:00:00Z"), null);
  await record("2026-11-18", true);
  assertEquals([await until("2026-11-20T08:00:00Z"), await until("2026-11-23T08:00:00Z")], ["2026-11-17", null]);
  assertEquals((await rollAll(database, "2026-11-20T08:00:00Z")).advanced, 0);
  assertEquals((await rollAll(database, "2026-11-23T08:00:00Z")).advanced, 1);
  await record("2026-11-23", true);
  assertEquals(await until("2026-11-23T08:05:00Z"), "2026-11-22");
});
