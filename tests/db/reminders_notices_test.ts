/** Notices in a digest besides due dates: trials, cancel-by dates, renewals and price rises, once each. */
import { assertEquals } from "@std/assert";
import { daysAfter } from "../../shared/iso_day.ts";
import { openBooks } from "../_support/books.ts";
import { addBill, at, database, type Digest, fresh, noticed, run } from "./reminder_run.ts";

/** The notices of each day that had a mail. */
async function daysOf(first: string, days: number): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  for (let n = 0; n < days; n++) {
    const day = daysAfter(first, n);
    const digests = await run(at(day));
    const [line] = noticed(digests);
    if (line) said[day.slice(5)] = line;
    assertEquals(await run(at(day, "08:10")), [], `${day}, a second time`);
  }
  return said;
}

const SOON = "2026-11-10";
/** Due on days outside the test. */
const FAR = "2027-06-20";

Deno.test("the end of a trial is announced 7 days and 1 day before, never afterwardswards", async () => {
  const books = await fresh({ day: SOON });
  await addBill(books, "Zoom", FAR, { trial_ends_on: "2026-11-20" });
  assertEquals(await daysOf(SOON, 14), { "11-13": "trial Zoom 7", "11-19": "trial Zoom 1" });
  await database.query("update app.expenses set trial_ends_on = '2026-11-25'");
  assertEquals(await daysOf("2026-11-24", 3), { "11-24": "trial Zoom 1" });
});

Deno.test("a run catches up on a missed day: the trial that ends today, and the last day to cancel", async () => {
  const books = await fresh({ day: SOON });
  await addBill(books, "Zoom", FAR, { trial_ends_on: "2026-11-20" });
  await addBill(books, "Gym", FAR, { renews_on: "2026-12-20", notice_days: 30 });
  assertEquals(noticed(await run(at("2026-11-20"))), ["cancel_by Gym 0, trial Zoom 0"]);
  assertEquals(noticed(await run(at("2026-11-21"))), []);
});

Deno.test("cancel-by dates are announced 14 and 3 days before with the term's cost, then roll", async () => {
  const books = await fresh({ day: SOON });
  const id = await addBill(books, "Gym", FAR, { renews_on: "2027-01-10", notice_days: 30 });
  assertEquals(await daysOf("2026-11-25", 1), {});
  const [digest] = await run(at("2026-11-27"));
  assertEquals(
    digest!.content.organizations[0]!.notices.map(({ kind, on, days, amount, renews_on, term_years }) => (
      { kind, on, days, amount, renews_on, term_years }
    )),
    [{ kind: "cancel_by", on: "2026-12-11", days: 14, amount: "120.00", renews_on: "2027-01-10", term_years: 1 }],
  );
  // It can no longer be cancelled, so the notice announces the renewal.
  assertEquals(await daysOf("2026-11-28", 60), { "12-08": "cancel_by Gym 3", "12-27": "renewal Gym 14" });
  assertEquals(await daysOf("2027-11-20", 20), { "11-27": "cancel_by Gym 14", "12-08": "cancel_by Gym 3" });
  books.goTo("2026-12-12");
  const { bills: [bill] } = await books.ok("list_bills");
  assertEquals([bill.id, bill.cancel_by, bill.renews_on], [id, "2027-12-11", "2027-01-10"]);
  books.goTo("2027-01-11");
  const { bills: [later] } = await books.ok("list_bills");
  assertEquals([later.cancel_by, later.renews_on], ["2027-12-11", "2028-01-10"]);
});

Deno.test("a contract renews after each paid term, keeps 29 February, and ends with its bill", async () => {
  const books = await fresh({ day: SOON });
  const add = (name: string, more: Record<string, unknown>) => addBill(books, name, FAR, more);
  await add("Leap", { renews_on: "2028-02-29", notice_days: 0 });
  await add("Domain", { renews_on: "2027-02-01", notice_days: 10, frequency: "yearly", every: 2 });
  await add("Ending", { renews_on: "2026-12-01", notice_days: 5, ends_on: "2027-07-20" });
  const shown = async (day: string) => {
    books.goTo(day);
    const { bills } = await books.ok("list_bills");
    return Object.fromEntries(bills.map((b: Record<string, string>) => [b.name, `${b.cancel_by} ${b.renews_on}`]));
  };
  assertEquals(await shown("2027-02-01"), {
    Leap: "2028-02-29 2028-02-29",
    Domain: "2029-01-22 2027-02-01",
    Ending: "undefined undefined",
  });
  const { cancel_by } = await books.ok("review_bills", { horizon_days: 365 * 2 - 5 });
  assertEquals(cancel_by.map(({ name, cancel_by: day }: Record<string, string>) => `${name} ${day}`), [
    "Leap 2028-02-29",
    "Domain 2029-01-22",
  ]);
  books.goTo("2028-03-01");
  assertEquals((await shown("2028-03-01")).Leap, "2029-03-01 2029-03-01");
  assertEquals((await shown("2031-03-02")).Leap, "2032-02-29 2032-02-29");
});

Deno.test("a yearly bill is announced two weeks before each date except the first", async () => {
  const books = await fresh({ day: SOON });
  await addBill(books, "Domain", "2026-12-05", { frequency: "yearly" });
  await addBill(books, "Insurance", "2026-12-05", { frequency: "yearly", remind_days_before: 30 });
  await addBill(books, "Rent", "2026-12-05");
  assertEquals(await daysOf("2026-11-10", 25), {});
  assertEquals(await daysOf("2027-11-15", 14), { "11-21": "renewal Domain 14" });
});

Deno.test("a higher price is announced once, a week before; lower and first prices are not", async () => {
  const books = await fresh({ day: SOON });
  const add = (name: string) => addBill(books, name, "2026-11-12", { remind_days_before: 0 });
  const [rises, falls] = [await add("Music"), await add("Phone")];
  await add("Rent");
  await run(at("2026-11-12"));
  books.goTo("2026-11-13");
  await books.ok("update_bill", { bill_id: rises, set: { amount: "12" }, apply_from: "2026-12-01" });
  await books.ok("update_bill", { bill_id: falls, set: { amount: "9" }, apply_from: "2026-12-01" });
  assertEquals(await daysOf("2026-11-14", 25), { "12-05": "price_rise Music 7" });
  const [row] = await database.query(
    "select about_on::text, tell_on::text, sent_at is not null as sent from jobs.notice_log where kind = 'price_rise'",
  );
  assertEquals(row, { about_on: "2026-12-12", tell_on: "2026-12-05", sent: true });
});

Deno.test("an automatic payment without an amount is reported once, the day after", async () => {
  const books = await fresh({ day: SOON });
  const automatic = { amount: undefined, amount_mode: "variable", autopay: true, remind_days_before: 0 };
  const power = await addBill(books, "Power", "2026-11-12", { ...automatic, frequency: "once" });
  await addBill(books, "Meter", "2026-11-12", { ...automatic, frequency: "daily" });
  await addBill(books, "Gas", "2026-11-12", { ...automatic, frequency: "once" });
  await addBill(books, "Rent", "2026-11-12", { ...automatic, autopay: false, frequency: "once" });
  const days: Record<string, string> = {};
  for (let n = 12; n < 41; n++) {
    const day = new Date(Date.UTC(2026, 10, n)).toISOString().slice(0, 10);
    if (n === 13) {
      books.goTo(day);
      const { bill } = await books.ok("add_bill", {
        name: "Late",
        first_due: "2026-11-12",
        ...automatic,
        frequency: "once",
      });
      const set = { due_on: "2026-11-12", action: "set_amount", amount: "9" };
      await books.ok("update_bill", { bill_id: bill.id, occurrence: set });
    }
    const digests = await run(at(day));
    const [line] = noticed(digests);
    if (line) days[day.slice(5)] = line;
    for (const { content } of digests) {
      const late = content.organizations.flatMap(({ bills }) => bills).filter(({ days }) => days < 0);
      assertEquals(late.filter(({ name }) => name !== "Rent"), [], day);
    }
  }
  assertEquals(days, { "11-13": "awaited Gas -1, awaited Power -1" });
  const [row] = await database.query(
    "select kind, about_on::text, count(*)::int as count from jobs.notice_log where expense_id = $1 group by 1, 2",
    [power],
  );
  assertEquals(row, { kind: "awaited", about_on: "2026-11-12", count: 1 });
});

Deno.test("a missing provider amount is reported once polling ends", async () => {
  const books = await fresh({ day: "2026-11-01" });
  for (const name of ["Cloud", "Power"]) {
    const id = await addBill(books, name, "2026-11-02", {
      amount: undefined,
      amount_mode: "variable",
      autopay: true,
      remind_days_before: 0,
    });
    await database.query(
      `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
       values ($1, $2, 'power', '…01', 'active')`,
      [books.organizationId, id],
    );
  }
  assertEquals(await daysOf("2026-11-03", 5), {});
  books.goTo("2026-11-08");
  const { bills } = await books.ok("list_bills", { query: "cloud" });
  const set = { due_on: "2026-11-02", action: "set_amount", amount: "9" };
  await books.ok("update_bill", { bill_id: bills[0].id, occurrence: set });
  assertEquals(await daysOf("2026-11-08", 10), { "11-11": "awaited Power -9" });
});

Deno.test("muted, cancelled or deleted bills, and plans without reminders, cause no notice", async () => {
  const books = await fresh({ day: SOON });
  const trial = { trial_ends_on: "2026-11-20" };
  const [muted, cancelled, deleted] = [
    await addBill(books, "Muted", FAR, trial),
    await addBill(books, "Cancelled", FAR, trial),
    await addBill(books, "Deleted", FAR, trial),
  ];
  await books.ok("update_bill", { bill_id: muted, set: { reminder_enabled: false } });
  await books.ok("update_bill", { bill_id: cancelled, set: { status: "cancelled" } });
  await books.ok("delete_records", { ids: [deleted] });
  assertEquals(await run(at("2026-11-13")), []);
  await addBill(books, "Zoom", FAR, trial);
  await database.query("update identity.organizations set plan = 'free'");
  assertEquals(await run(at("2026-11-13")), []);
  await database.query("update identity.organizations set plan = 'pro'");
  await database.query("update identity.memberships set mails = 'none'");
  assertEquals(await run(at("2026-11-13")), []);
});

Deno.test("a digest names only the recipient's trials and drops outdated notices", async () => {
  const one = await fresh({ day: SOON });
  const other = await openBooks(database, { day: SOON });
  await addBill(one, "Zoom", FAR, { trial_ends_on: "2026-11-20" });
  await addBill(other, "Figma", FAR, { trial_ends_on: "2026-11-20" });
  const id = await addBill(other, "Slack", FAR, { trial_ends_on: "2026-11-20" });
  await database.asService("collect_reminders", { at: at("2026-11-13") });
  other.goTo("2026-11-13");
  await other.ok("update_bill", { bill_id: id, set: { trial_ends_on: "2026-11-30" } });
  const digests: Digest[] = await run(at("2026-11-13"));
  const saidTo = (userId: string) => noticed(digests.filter(({ recipient_id }) => recipient_id === userId));
  assertEquals([saidTo(one.userId), saidTo(other.userId)], [["trial Zoom 7"], ["trial Figma 7"]]);
  // Its log row is deleted too, so that the new end is announced again.
  assertEquals(noticed(await run(at("2026-11-23"))), ["trial Slack 7"]);
});

Deno.test("a trial that became a charge is announced once", async () => {
  const books = await fresh({ day: SOON });
  const id = await addBill(books, "Zoom", "2026-11-21", { trial_ends_on: "2026-11-20", remind_days_before: 0 });
  books.goTo("2026-11-22");
  await books.ok("mark_bill_paid", { bill_id: id, due_on: "2026-11-21", paid_on: "2026-11-21" });
  assertEquals(await daysOf("2026-11-22", 30), { "11-22": "trial_charged Zoom -2" });
});

Deno.test("a contract is announced 14 and 3 days before its last day to cancel, with its form and end", async () => {
  const books = await fresh({ day: SOON });
  const contract = { started_on: "2025-01-01", term_months: 24, renewal_months: 12, notice: "1 month", form: "letter" };
  await addBill(books, "Gym", FAR, { contract });
  const [digest] = await run(at("2026-11-16"));
  assertEquals(
    digest!.content.organizations[0]!.notices.map(({ kind, on, renews_on, ends_on, form, term_months, amount }) => (
      { kind, on, renews_on, ends_on, form, term_months, amount }
    )),
    [{
      ...{ kind: "cancel_by", on: "2026-11-30", renews_on: "2027-01-01", ends_on: "2026-12-31" },
      ...{ form: "letter", term_months: 12, amount: "120.00" },
    }],
  );
  assertEquals(await daysOf("2026-11-17", 40), { "11-27": "cancel_by Gym 3", "12-18": "renewal Gym 14" });
});

Deno.test("a contract without a known renewal has a last day to cancel, and an automatic charge is marked as assumed", async () => {
  const books = await fresh({ day: SOON });
  const contract = { started_on: "2025-12-15", term_months: 12 };
  await addBill(books, "Club", FAR, { contract, notice_days: 14 });
  await addBill(books, "Zoom", "2026-11-21", { trial_ends_on: "2026-11-20", autopay: true });
  const told = (await run(at("2026-11-22")))
    .flatMap(({ content }) => content.organizations).flatMap(({ notices }) => notices);
  assertEquals(told.map(({ name, ends_on, term_months, is_assumed }) => [name, ends_on, term_months, is_assumed]), [
    ["Zoom", null, null, true],
    ["Club", "2026-12-14", null, null],
  ]);
});

Deno.test("an open-ended contract is announced before its minimum term ends, and never again", async () => {
  const books = await fresh({ day: SOON });
  const contract = { started_on: "2025-12-15", term_months: 12, renewal_months: 0, notice: "2 weeks to day" };
  await addBill(books, "Phone", FAR, { contract });
  assertEquals(await daysOf(SOON, 60), { "11-16": "cancel_by Phone 14", "11-27": "cancel_by Phone 3" });
});

Deno.test("a price rise is compared with the last date that was not skipped", async () => {
  const books = await fresh({ day: "2026-10-10" });
  const bill_id = await addBill(books, "Music", "2026-10-12", { remind_days_before: 0 });
  await run(at("2026-10-12"));
  books.goTo("2026-10-13");
  await books.ok("mark_bill_paid", { bill_id, due_on: "2026-10-12" });
  await run(at("2026-11-12"));
  books.goTo("2026-11-13");
  await books.ok("update_bill", { bill_id, set: { amount: "12" }, apply_from: "2026-11-12" });
  await books.ok("update_bill", { bill_id, occurrence: { action: "skip", due_on: "2026-11-12" } });
  const [digest] = await run(at("2026-12-05"));
  assertEquals(
    digest!.content.organizations[0]!.notices.map(({ kind, amount, earlier_amount }) => [kind, amount, earlier_amount]),
    [["price_rise", "12.00", "10.00"]],
  );
});
