/** Which bills a digest includes, for which owner and on which of their days: once each. */
import { assertEquals } from "@std/assert";
import { type Books, openBooks } from "../_support/books.ts";
import { openDatabase } from "../_support/database.ts";
import { rollAll } from "../_support/roll_bills.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());

interface Digest {
  id: string;
  owner_id: string;
  content: {
    today: string;
    address: string;
    organizations: { name: string; bills: { name: string; days: number; dates: number; amount: string | null }[] }[];
  };
}

/** The database's part of a run: roll, collect, claim and mark everything as sent. Returns the digests. */
async function run(at: string): Promise<Digest[]> {
  await rollAll(database, at);
  await database.asService("collect_reminders", { at });
  const sent: Digest[] = [];
  for (;;) {
    const batch = await database.asService<{ id: string; lease_token: string; digests: Digest[] } | null>(
      "claim_reminders",
      { size: 100, at },
    );
    if (!batch) return sent;
    sent.push(...batch.digests);
    const results = batch.digests.map(({ id }) => ({ id, outcome: "sent" }));
    await database.asService("settle_reminders", {
      batch_id: batch.id,
      lease_token: batch.lease_token,
      results,
      is_last: true,
      retry_at: at,
      at,
    });
  }
}

/** A run's digests: names by days left, negative when overdue. */
const said = (digests: Digest[]) =>
  digests.map(({ content }) =>
    content.organizations.flatMap(({ bills }) => bills.map(({ name, days }) => `${name} ${days}`)).join(", ")
  );

const addBill = async (books: Books, name: string, first_due: string, more: Record<string, unknown> = {}) =>
  (await books.ok("add_bill", { name, amount: "10", first_due, ...more })).bill.id as string;

async function fresh(options: Parameters<typeof openBooks>[1] = {}): Promise<Books> {
  await database.reset();
  return await openBooks(database, { day: "2026-11-10", ...options });
}

const at = (day: string, time = "08:00") => `${day}T${time}:00Z`;

Deno.test("a reminder is sent inside the lead window: the bill's own, else the owner's, else three days", async () => {
  const books = await fresh();
  await addBill(books, "Default", "2026-11-23");
  await addBill(books, "Own", "2026-11-27", { remind_days_before: 7 });
  await addBill(books, "On the day", "2026-11-20", { remind_days_before: 0 });
  await addBill(books, "Too far", "2026-11-24");
  assertEquals(said(await run(at("2026-11-19"))), []);
  assertEquals(said(await run(at("2026-11-20"))), ["On the day 0, Default 3, Own 7"]);
  assertEquals(said(await run(at("2026-11-20", "08:10"))), []);
  assertEquals(said(await run(at("2026-11-21"))), ["On the day -1, Too far 3"]);
  await database.query("update identity.profiles set default_lead_days = 30");
  await addBill(books, "Far", "2026-12-20");
  assertEquals(said(await run(at("2026-11-22"))), ["On the day -2, Far 28"]);
});

Deno.test("missed days are caught up within the window, and not after", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-20", { frequency: "yearly" });
  await addBill(books, "Water", "2026-11-18", { frequency: "yearly" });
  assertEquals(said(await run(at("2026-11-19"))), ["Water -1, Rent 1"]);
  const later = await fresh();
  await addBill(later, "Rent", "2026-11-20", { frequency: "yearly" });
  assertEquals(said(await run(at("2026-11-21"))), []);
});

Deno.test("overdue bills are listed with due ones, one line each, and alone send nothing", async () => {
  const books = await fresh({ day: "2026-09-01" });
  await addBill(books, "Water", "2026-09-05");
  assertEquals(said(await run(at("2026-11-20"))), []);
  await addBill(books, "Rent", "2026-11-21");
  const [digest] = await run(at("2026-11-20"));
  assertEquals(
    digest!.content.organizations[0]!.bills.map(({ name, days, dates, amount }) => [name, days, dates, amount]),
    [
      ["Water", -76, 3, "30.00"],
      ["Rent", 1, 1, "10.00"],
    ],
  );
});

Deno.test("paid, skipped, snoozed, paused and muted bills get no reminder; a snooze ends", async () => {
  const books = await fresh();
  for (const name of ["Paid", "Snoozed", "Paused", "Silent", "Kept"]) await addBill(books, name, "2026-11-22");
  const idOf = async (name: string) =>
    (await database.query<{ id: string }>("select id from app.expenses where name = $1", [name]))[0]!.id;
  await books.ok("mark_bill_paid", { bill_id: await idOf("Paid"), due_on: "2026-11-22" });
  await database.query("update app.expense_occurrences set snoozed_until = '2026-11-21' where expense_id = $1", [
    await idOf("Snoozed"),
  ]);
  await database.query("update app.expenses set status = 'paused', next_due = null where name = 'Paused'");
  await database.query("update app.expenses set reminder_enabled = false where name = 'Silent'");
  assertEquals(said(await run(at("2026-11-20"))), ["Kept 2"]);
  assertEquals(said(await run(at("2026-11-21"))), ["Snoozed 1"]);
});

Deno.test("a snoozed reminder comes again once, on the chosen day", async () => {
  const books = await fresh();
  const rent = await addBill(books, "Rent", "2026-11-25", { remind_days_before: 7 });
  await addBill(books, "Water", "2026-11-25", { remind_days_before: 7 });
  const snooze = (due_on: string, snooze_until: string) =>
    books.ok("update_bill", { bill_id: rent, occurrence: { due_on, action: "snooze", snooze_until } });
  assertEquals(said(await run(at("2026-11-18"))), ["Rent 7, Water 7"]);
  await snooze("2026-11-25", "2026-11-20");
  assertEquals(said(await run(at("2026-11-19"))), []);
  assertEquals(said(await run(at("2026-11-20"))), ["Rent 5"]);
  assertEquals(said(await run(at("2026-11-20", "08:10"))), []);
  assertEquals(said(await run(at("2026-11-21"))), []);
  // The same day again is not another reminder; a different day is, and is caught up after a missed run.
  await snooze("2026-11-25", "2026-11-20");
  assertEquals(said(await run(at("2026-11-22"))), []);
  await snooze("2026-11-25", "2026-11-23");
  assertEquals(said(await run(at("2026-11-24"))), ["Rent 1"]);
  assertEquals(said(await run(at("2026-11-25"))), []);
});

Deno.test("snoozing beyond the due date gives one reminder, on that day", async () => {
  const books = await fresh();
  const rent = await addBill(books, "Rent", "2026-11-20");
  const once = await addBill(books, "Once", "2026-11-20", { frequency: "once" });
  await addBill(books, "Water", "2026-11-18");
  assertEquals(said(await run(at("2026-11-18"))), ["Water 0, Once 2, Rent 2"]);
  for (const snooze_until of ["2026-11-22", "2026-11-24"]) {
    const occurrence = { due_on: "2026-11-20", action: "snooze", snooze_until };
    await books.ok("update_bill", { bill_id: rent, occurrence });
    await books.ok("update_bill", { bill_id: once, occurrence });
    const day = Number(snooze_until.slice(8));
    assertEquals(said(await run(at(`2026-11-${day - 1}`))), []);
    assertEquals(said(await run(at(snooze_until))), [`Water ${18 - day}, Once ${20 - day}, Rent ${20 - day}`]);
    assertEquals(said(await run(at(snooze_until, "08:10"))), []);
  }
  assertEquals(said(await run(at("2026-11-25"))), []);
  const [log] = await database.query(
    "select array_agg(coalesce(snoozed_until::text, 'never') order by id) as until from jobs.reminder_log where expense_id = $1",
    [rent],
  );
  assertEquals(log!.until, ["never", "2026-11-22", "2026-11-24"]);
});

Deno.test("a snoozed bill that was paid meanwhile, or stopped, sends nothing", async () => {
  const books = await fresh();
  for (const name of ["Paid", "Stopped", "Overdue"]) await addBill(books, name, "2026-11-20");
  await run(at("2026-11-18"));
  await database.query("update app.expense_occurrences set snoozed_until = '2026-11-22'");
  await database.query("update app.expenses set reminder_enabled = false where name = 'Stopped'");
  await database.query(
    "update app.expense_occurrences set snoozed_until = null where expense_id = (select id from app.expenses where name = 'Overdue')",
  );
  const [paid] = await database.query<{ id: string }>("select id from app.expenses where name = 'Paid'");
  await books.ok("mark_bill_paid", { bill_id: paid!.id, due_on: "2026-11-20" });
  assertEquals(said(await run(at("2026-11-22"))), []);
});

Deno.test("one digest over all organizations that have reminders, none from the others", async () => {
  const home = await fresh();
  const [other, free] = await Promise.all([
    openBooks(database, { day: "2026-11-10" }),
    openBooks(database, { day: "2026-11-10" }),
  ]);
  for (const [books, name] of [[home, "Rent"], [other, "Studio"], [free, "Car"]] as const) {
    await addBill(books, name, "2026-11-22");
  }
  await database.query("update identity.organizations set owner_id = $1, name = 'Studio' where id = $2", [
    home.userId,
    other.organizationId,
  ]);
  await database.query("update identity.organizations set owner_id = $1, plan = 'free' where id = $2", [
    home.userId,
    free.organizationId,
  ]);
  await database.query("update identity.memberships set user_id = $1 where role = 'owner'", [home.userId]);
  assertEquals(await database.asService("count_reminder_candidates", { at: at("2026-11-20") }), 2);
  const digests = await run(at("2026-11-20"));
  assertEquals(digests.map(({ content }) => content.organizations.map(({ name }) => name)), [["Household", "Studio"]]);
  // Past due counts for seven days.
  await database.query(
    "update identity.organizations set plan = 'pro', plan_status = 'past_due', past_due_since = '2026-11-14T08:00Z' where id = $1",
    [free.organizationId],
  );
  assertEquals(await database.asService("count_reminder_candidates", { at: at("2026-11-21", "07:00") }), 3);
  assertEquals(await database.asService("count_reminder_candidates", { at: at("2026-11-21", "09:00") }), 2);
});

Deno.test("mails go to the confirmed reminder address, else to the sign-in address, and to nobody who turned them off", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-22");
  await database.query("update identity.profiles set email_enabled = false");
  assertEquals(await run(at("2026-11-20")), []);
  await database.query("update identity.profiles set email_enabled = true, reminder_email = 'bills@example.com'");
  const [first] = await run(at("2026-11-20"));
  assertEquals(first!.content.address, `${books.userId}@example.com`);
  await addBill(books, "Water", "2026-11-23");
  await database.query("update identity.profiles set reminder_email_confirmed_at = now()");
  const [second] = await run(at("2026-11-21"));
  assertEquals(second!.content.address, "bills@example.com");
});

Deno.test("the day is the owner's: Kolkata, New York, Kiritimati and Apia, across daylight saving", async () => {
  // At 08:00 UTC, and at the end of the catch-up at 11:50 UTC.
  const days: [zone: string, at: string, today: string][] = [
    ["Asia/Kolkata", "2026-11-20T08:00Z", "2026-11-20"],
    ["Asia/Kolkata", "2026-11-20T18:29Z", "2026-11-20"],
    ["Asia/Kolkata", "2026-11-20T18:31Z", "2026-11-21"],
    ["America/New_York", "2026-11-20T04:59Z", "2026-11-19"],
    ["America/New_York", "2026-11-20T05:01Z", "2026-11-20"],
    // DST ends on 1 November and begins on 14 March.
    ["America/New_York", "2026-10-31T04:01Z", "2026-10-31"],
    ["America/New_York", "2026-11-01T03:59Z", "2026-10-31"],
    ["America/New_York", "2026-11-02T04:59Z", "2026-11-01"],
    ["America/New_York", "2027-03-14T04:59Z", "2027-03-13"],
    ["America/New_York", "2027-03-15T04:01Z", "2027-03-15"],
    ["Pacific/Kiritimati", "2026-11-20T08:00Z", "2026-11-20"],
    ["Pacific/Kiritimati", "2026-11-20T11:50Z", "2026-11-21"],
    // No DST since 2021; UTC+13 all year.
    ["Pacific/Apia", "2026-11-20T10:50Z", "2026-11-20"],
    ["Pacific/Apia", "2026-11-20T11:10Z", "2026-11-21"],
    ["Pacific/Apia", "2026-06-20T11:10Z", "2026-06-21"],
    ["Europe/Berlin", "2026-10-24T22:30Z", "2026-10-25"],
    ["Europe/Berlin", "2026-10-25T22:30Z", "2026-10-25"],
    ["Europe/Berlin", "2027-03-27T22:59Z", "2027-03-27"],
    ["Europe/Berlin", "2027-03-28T22:01Z", "2027-03-29"],
  ];
  for (const [timezone, instant, today] of days) {
    const books = await fresh({ timezone, day: "2026-06-01" });
    await addBill(books, "Today", today, { remind_days_before: 0, frequency: "once" });
    const [digest] = await run(instant);
    assertEquals([timezone, instant, digest?.content.today], [timezone, instant, today]);
    assertEquals(said([digest!]), ["Today 0"]);
  }
});

Deno.test("changing time zone mid-day gives one digest that day, and one the next", async () => {
  const journeys: [from: string, to: string][] = [
    ["Pacific/Kiritimati", "Pacific/Honolulu"],
    ["Pacific/Honolulu", "Pacific/Kiritimati"],
    ["Pacific/Apia", "Pacific/Pago_Pago"],
    ["Pacific/Pago_Pago", "Pacific/Apia"],
    ["Europe/Berlin", "America/New_York"],
    ["Asia/Kolkata", "America/Los_Angeles"],
    ["America/New_York", "Asia/Kolkata"],
  ];
  for (const [from, to] of journeys) {
    const books = await fresh({ timezone: from });
    await addBill(books, "Before", "2026-11-22");
    assertEquals((await run(at("2026-11-20"))).length, 1, `${from}, at home`);
    await database.query("update identity.profiles set timezone = $1", [to]);
    await addBill(books, "After", "2026-11-23");
    for (const time of ["08:10", "09:00", "09:50"]) {
      assertEquals((await run(at("2026-11-20", time))).length, 0, `${from} to ${to} at ${time}`);
    }
    assertEquals(
      (await run(at("2026-11-21"))).map((digest) => said([digest])[0]!.split(" ")[0]),
      ["After"],
      `${to}, the next day`,
    );
    await addBill(books, "Later", "2026-11-24");
    assertEquals((await run(at("2026-11-22"))).length, 1, `${to}, the day after`);
  }
});

Deno.test("another run's lease marks nothing", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  type Batch = { id: string; lease_token: string; digests: Digest[] };
  const first = await database.asService<Batch>("claim_reminders", { size: 10, at: at("2026-11-20") });
  assertEquals(await database.asService("claim_reminders", { size: 10, at: at("2026-11-20", "08:01") }), null);
  const second = await database.asService<Batch>("claim_reminders", { size: 10, at: at("2026-11-20", "08:02") });
  assertEquals([second.id, second.digests], [first.id, first.digests]);
  const settle = (batch: Batch) =>
    database.asService<{ outcome: string }>("settle_reminders", {
      batch_id: batch.id,
      lease_token: batch.lease_token,
      results: [{ id: batch.digests[0]!.id, outcome: "sent" }],
      is_last: true,
      retry_at: at("2026-11-20", "08:03"),
      at: at("2026-11-20", "08:02"),
    });
  assertEquals(await settle(first), { outcome: "lost" });
  assertEquals(await settle(second), { outcome: "settled", digests: 1, reminders: 1 });
  assertEquals(await settle(second), { outcome: "lost" });
});

Deno.test("a batch whose owners are gone ends, and one unanswered for a day is not sent again", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  type Batch = { id: string; lease_token: string; digests: Digest[] };
  const claim = (day: string, time: string) =>
    database.asService<Batch | null>("claim_reminders", { size: 10, at: at(day, time) });
  assertEquals((await claim("2026-11-20", "08:00"))!.digests.length, 1);
  assertEquals((await claim("2026-11-21", "06:59"))!.digests.length, 1);
  assertEquals(await claim("2026-11-21", "10:00"), null);

  await database.query("delete from jobs.reminder_digests where true");
  await database.query("update jobs.reminder_batches set unsure_since = null, leased_at = $1", [
    at("2026-11-21", "09:00"),
  ]);
  const empty = await claim("2026-11-21", "11:00");
  assertEquals(empty!.digests, []);
  await database.asService("settle_reminders", {
    batch_id: empty!.id,
    lease_token: empty!.lease_token,
    results: [],
    is_last: true,
    retry_at: at("2026-11-21", "12:00"),
    at: at("2026-11-21", "11:00"),
  });
  assertEquals(await database.query("select from jobs.reminder_batches"), []);
});

Deno.test("a digest lists up to a hundred due and overdue bills each, and counts them all", async () => {
  const books = await fresh({ day: "2026-11-15" });
  await addBill(books, "Due 1", "2026-11-21", { frequency: "yearly" });
  await addBill(books, "Late 1", "2026-11-16", { frequency: "yearly" });
  const columns =
    `organization_id, kind, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due, status,
    reminder_enabled`;
  const dates = "organization_id, scheduled_on, due_on, expected_minor, currency";
  await database.exec(`
    create temporary table copies as
      select app.new_id('bill') as id, e.id as of, split_part(name, ' ', 1) || ' ' || n as name from app.expenses as e, generate_series(2, 103) as n;
    insert into app.expenses (id, name, ${columns}) select c.id, c.name, ${columns} from copies as c join app.expenses as e on e.id = c.of;
    insert into app.expense_occurrences (expense_id, ${dates})
      select c.id, ${dates} from copies as c join app.expense_occurrences as o on o.expense_id = c.of;
    drop table copies`);
  const [digest] = await run(at("2026-11-20"));
  const [{ bills, unlisted, total }] = digest!.content.organizations as unknown as [
    { bills: { days: number }[]; unlisted: unknown; total: string },
  ];
  assertEquals([bills.filter(({ days }) => days < 0).length, bills.length], [100, 200]);
  assertEquals([unlisted, total], [{ overdue: 3, due: 3, due_until: "2026-11-21" }, "2060.00"]);
  assertEquals(await database.query("select count(*)::int as sent from jobs.reminder_log where sent_at is not null"), [{
    sent: 103,
  }]);
  assertEquals(await run(at("2026-11-21")), []);
});

Deno.test("a digest that cannot be rendered is set aside, and the others are sent", async () => {
  const one = await fresh();
  const other = await openBooks(database, { day: "2026-11-10" });
  for (const books of [one, other]) await addBill(books, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  const [row] = await database.query<{ source: string }>(
    "select pg_get_functiondef('jobs.describe_digest'::regproc) as source",
  );
  const planted =
    `if digest.owner_id = '${one.userId}' then raise exception 'planted'; end if;\n  if not owner.email_enabled`;
  await database.exec(row!.source.replace("if not owner.email_enabled", planted));
  const claims = [];
  for (let i = 0; i < 3; i++) {
    claims.push(
      await database.asService<{ set_aside?: string; digests?: Digest[] } | null>("claim_reminders", {
        size: 10,
        at: at("2026-11-20"),
      }),
    );
  }
  await database.exec(row!.source);
  assertEquals(claims.flatMap((claim) => claim?.digests ?? []).map(({ owner_id }) => owner_id), [other.userId]);
  assertEquals(claims.filter((claim) => claim?.set_aside).length, 1);
  assertEquals(claims[2], null);
  assertEquals((await run(at("2026-11-20", "08:59"))).length, 1);
  assertEquals((await run(at("2026-11-20", "09:00"))).map(({ owner_id }) => owner_id), [one.userId]);
});
