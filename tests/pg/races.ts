/**
 * Concurrent calls. PGlite runs one transaction after another and hides every race, so these run on a PostgreSQL server
 * (`deno task test:pg`). Each caller has its own session and logs in like PostgREST.
 */
import { assert, assertEquals } from "@std/assert";
import type { RolledPage, RollingPage } from "../../shared/db/reminders_store.ts";
import { deliver, PLANS } from "../_support/billing.ts";
import { openBooks } from "../_support/books.ts";
import { openDatabase, sharedDatabase, type TestDatabase } from "../_support/database.ts";
import { rollAll } from "../_support/roll_bills.ts";
import { addDueBills, addMembers } from "../functions/cron-reminders/due_bills.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { AT, createHousehold, newHash, newPerson } from "./household.ts";

const CALLERS = 10;

const database = await sharedDatabase();
const household = await createHousehold(database);

const together = <Result>(call: (caller: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));

/** Count of each outcome. */
function tally(answers: { outcome: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of answers) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

async function count(from: string, params: unknown[] = []): Promise<number> {
  const [row] = await database.query<{ count: number }>(`select count(*)::int as count from ${from}`, params);
  return row!.count;
}

/** Redeems one code many times, each for its own tokens. */
async function raceForCode(database: TestDatabase): Promise<Record<string, number>> {
  const code = (await createHousehold(database)).newCode();
  return tally(
    await together(() =>
      database.asService<{ outcome: string }>("redeem_authorization_code", {
        ...code,
        access_token_hash: newHash(),
        refresh_token_hash: newHash(),
      })
    ),
  );
}

Deno.test("test of the test: a redemption that checks before it inserts fails these races", async () => {
  const plant = async (into: TestDatabase) => {
    const [row] = await into.query<{ source: string }>(
      "select pg_get_functiondef('public.redeem_authorization_code'::regproc) as source",
    );
    const planted = row!.source
      .replace(
        "insert into oauth.used_codes",
        `if exists (select from oauth.used_codes as u where u.id = code_id and u.used_at is not null) then
           return '{"outcome": "replayed"}';
         end if;
         perform pg_sleep(0.5);
         insert into oauth.used_codes`,
      )
      .replace("where u.used_at is null and u.wrong_verifiers < 5", "")
      // The lock for counting a person's connections would hide the race.
      .replace("for no key update", "for key share");
    assert(planted.length > row!.source.length, "the redemption no longer has the statement that this test breaks");
    await into.exec(planted);
  };
  await using onServer = await openDatabase();
  await using inMemory = await openDatabase("");
  await plant(onServer);
  await plant(inMemory);
  assertEquals(await raceForCode(inMemory), { redeemed: 1, replayed: CALLERS - 1 });
  const { redeemed } = await raceForCode(onServer);
  assert(redeemed! > 1, "the planted race did not show");
});

Deno.test("concurrent onboarding creates a person once", async () => {
  const person = await newPerson(database);
  const answers = await together(() => database.asService<{ outcome: string }>("complete_onboarding", person));
  assertEquals(tally(answers), { created: 1, already: CALLERS - 1 });
  assertEquals(await count("identity.organizations where owner_id = $1", [person.user_id]), 1);
});

Deno.test("concurrent attempts are counted one by one", async () => {
  const attempt = {
    key_hash: newHash(),
    at_most: 3,
    seconds_apart: 0,
    quotas: [{ key: newHash(), at_most: 100, seconds: 3600 }],
    at: AT,
  };
  const answers = await together(() => database.asService<{ outcome: string }>("claim_attempt", attempt));
  assertEquals(tally(answers), { allowed: 3, limited: CALLERS - 3 });
});

Deno.test("a payment event delivered many times counts once", async () => {
  await database.query(
    "insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'pro'), ($2, 'team') on conflict do nothing",
    [PLANS.pro, PLANS.team],
  );
  const about = { organizationId: household.organizationId, planId: PLANS.team, subscriptionId: "sub_race" };
  const answers = await together(() => deliver(database, "subscription.charged", { ...about, eventId: "evt_race" }));
  assertEquals(tally(answers), { applied: 1, duplicate: CALLERS - 1 });
});

Deno.test("two subscriptions changing concurrently leave the better plan", async () => {
  const { organizationId } = await createHousehold(database);
  for (let round = 0; round < 5; round++) {
    const at = new Date(Date.parse(AT) + round * 60_000);
    await Promise.all([
      deliver(database, "subscription.cancelled", {
        organizationId,
        planId: PLANS.pro,
        subscriptionId: `old_${round}`,
        at,
      }),
      deliver(database, "subscription.charged", {
        organizationId,
        planId: PLANS.team,
        subscriptionId: `new_${round}`,
        at,
      }),
    ]);
    const [organization] = await database.query("select plan, plan_status from identity.organizations where id = $1", [
      organizationId,
    ]);
    assertEquals(organization, { plan: "team", plan_status: "active" });
  }
});

Deno.test("a replay and a concurrent event do not deadlock", async () => {
  const { organizationId } = await createHousehold(database);
  const parked = ["parked_1", "parked_2"];
  for (const subscriptionId of parked) {
    await deliver(database, "subscription.charged", { organizationId, planId: "plan_not_listed", subscriptionId });
  }
  await database.exec("insert into billing.billing_plans (provider_plan_id, plan) values ('plan_not_listed', 'pro')");
  // An event's writes in that second, with a pause in which the replay proceeds as far as it can.
  const replayed = await database.asRole("service_role", {}, async (event) => {
    await event.query("select from billing.subscriptions where id = $1 for update", [parked[1]]);
    const replay = database.asService<{ parked: number }>("replay_parked_events", { at: AT });
    const failed = replay.catch((thrown) => thrown);
    while (await count("pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()") === 0);
    await event.query("select from identity.organizations where id = $1 for no key update", [organizationId]);
    return { failed };
  });
  assertEquals(await replayed.failed, { replayed: 2, parked: 0 });
});

Deno.test("concurrent rolls share the bills and skip locked ones", async () => {
  await database.reset();
  await addDueBills(database, { owners: 400, each: 5, today: "2026-11-20" });
  const roll = () => rollAll(database, "2026-12-01T08:00:00Z", 150);
  const held = await database.transaction(async (somebody) => {
    const rows = await somebody.query("select from app.expenses where name like 'Bill 1.%' for update");
    const totals = await together(roll);
    assertEquals(totals.reduce((sum, { advanced }) => sum + advanced, 0), 400 * 5 - rows.length);
    assertEquals(totals.flatMap(({ failed }) => failed), []);
    return rows.length;
  });
  assertEquals((await roll()).advanced, held);
  assertEquals(await count("app.expenses where next_due <> '2026-12-23'"), 0);
  assertEquals(await count("app.expense_occurrences"), 2 * 400 * 5);
});

Deno.test("a run sends reminders for bills that another run is still rolling", async () => {
  await database.reset();
  const owners = 20;
  await addDueBills(database, { owners, each: 2, today: "2026-11-20" });
  // Each owner has a bill due in three days, and a daily bill that must roll from yesterday to today.
  await database.exec(`
    update app.expenses set frequency = 'daily', anchor_on = '2026-11-19', tracked_from = '2026-11-19', next_due = '2026-11-19', remind_days_before = 0
    where name like '%.2';
    update app.expense_occurrences as o set scheduled_on = '2026-11-19', due_on = '2026-11-19'
    from app.expenses as e where e.id = o.expense_id and e.frequency = 'daily'`);
  const at = "2026-11-20T08:00:00Z";
  const mail = mailService();
  const job = createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: () => new Date(at) });
  const [page] = await database.asService<RollingPage[]>("find_rolling_pages", { at, size: 2000 });
  const run = await database.transaction(async (other) => {
    const [row] = await other.query<{ rolled: RolledPage }>("select public.roll_bills($1, $2) as rolled", [at, page]);
    assertEquals(row!.rolled.advanced, owners);
    const answer = job.run();
    await new Promise((resolve) => setTimeout(resolve, 700));
    return { answer };
  });
  const { nextDueAdvanced, digestsSent, remindersSent, errors } = await run.answer;
  assertEquals([nextDueAdvanced, digestsSent, remindersSent], [0, owners, 2 * owners]);
  assertEquals(errors.filter(({ stage }) => stage !== "rates"), []);
});

Deno.test("concurrent runs make one digest per recipient and send each once", async () => {
  await database.reset();
  const owners = 60;
  await addDueBills(database, { owners, each: 2, today: "2026-11-20" });
  await addMembers(database);
  const at = "2026-11-20T08:00:00Z";
  const mail = mailService();
  const jobs = Array.from(
    { length: 4 },
    () => createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: () => new Date(at) }),
  );
  const answers = await Promise.all(jobs.map((job) => job.run()));
  assertEquals(answers.reduce((sum, { digestsSent }) => sum + digestsSent, 0), 2 * owners);
  assertEquals(answers.reduce((sum, { remindersSent }) => sum + remindersSent, 0), 2 * owners * 2);
  assertEquals([mail.delivered.length, new Set(mail.delivered.map(({ to }) => to)).size], [2 * owners, 2 * owners]);
  assertEquals([await count("jobs.reminder_log"), await count("jobs.notice_log")], [2 * owners, 2 * owners]);
});

Deno.test("an undo waits for the page that rolls its bill, and neither aborts", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-19", timezone: "UTC" });
  const gym = { name: "Gym", amount: "10", frequency: "weekly", first_due: "2026-11-19", autopay: true };
  const { bill } = await books.ok("add_bill", gym);
  const occurrence = { due_on: "2026-11-19", action: "set_amount", amount: "12" };
  const { change_id } = await books.call("update_bill", { bill_id: bill.id, occurrence });
  books.goTo("2026-11-20");
  const at = "2026-11-20T08:00:00Z";
  const [page] = await database.asService<RollingPage[]>("find_rolling_pages", { at, size: 2000 });
  const undo = await database.transaction(async (job) => {
    await job.query("select set_config('app.at', $1, true)", [at]);
    const [row] = await job.query<{ stale: string }>("select stale::text from jobs.lock_stale_bills($1, $2)", [
      at,
      page,
    ]);
    const answer = books.call("undo_change", { change_id });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await job.query("select jobs.roll_bills($1::text::jobs.stale_bill[], $2)", [row!.stale, at]);
    return { answer };
  });
  const { error } = await undo.answer;
  assertEquals(error.code, "undo_conflict");
  assertEquals(await count("app.payments where amount_minor = 1200 and source = 'autopay'"), 1);
});

Deno.test("a payment is written before its month closes or refused, and payments don't wait for each other", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-19", timezone: "UTC" });
  const { results: [{ id }] } = await books.ok("log_expenses", {
    items: [{ name: "Before", amount: "8", date: "2026-10-01" }],
  });
  // Works like a job, without the tools' lock.
  const pay = (session: Pick<TestDatabase, "query"> = database) =>
    session.query(
      `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
       values ($1, $2, 1600, 'EUR', '2026-10-31')`,
      [books.organizationId, id],
    ).then(() => "paid", ({ code }) => code);
  const isWaiting = async () =>
    await count("pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()") > 0;

  const { closing } = await database.transaction(async (writer) => {
    assertEquals(await pay(writer), "paid");
    assertEquals(await pay(), "paid");
    const closing = books.call("update_settings", { closed_through: "2026-10" });
    while (!await isWaiting());
    return { closing };
  });
  assertEquals((await closing).ok, true);
  assertEquals([await pay(), await count("app.payments where paid_on = '2026-10-31'")], ["EX001", 2]);

  const close = (session: Pick<TestDatabase, "query">, day: string | null) =>
    session.query("update identity.organizations set closed_through = $2 where id = $1", [books.organizationId, day]);
  await close(database, null);
  const { late } = await database.transaction(async (owner) => {
    await close(owner, "2026-10-31");
    const late = pay();
    while (!await isWaiting());
    return { late };
  });
  assertEquals([await late, await count("app.payments where paid_on = '2026-10-31'")], ["EX001", 2]);
});

Deno.test("a payment written while the base currency changes is never left with a value in the old one", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-19", timezone: "UTC" });
  await database.query(
    "insert into app.fx_rates (quote, rate_on, source, rate) values ('USD', '2026-11-19', 'ecb', 1.25)",
  );
  const { results: [{ id }] } = await books.ok("log_expenses", { items: [{ name: "Before", amount: "8" }] });
  // Works like a job, without the tools' lock.
  const pay = () =>
    database.query(
      `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
       values ($1, $2, 1600, 'EUR', '2026-11-19')`,
      [books.organizationId, id],
    ).then(() => "paid", ({ code }) => code);
  const { answer } = await database.transaction(async (owner) => {
    await owner.query("update identity.organizations set base_currency = 'USD' where id = $1", [books.organizationId]);
    const answer = pay();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { answer };
  });
  // The payment waits for the organization before it is valued.
  assertEquals(await answer, "paid");
  assertEquals(
    await database.query("select base_currency, base_minor, is_final from app.payments order by recorded_seq"),
    [
      { base_currency: "USD", base_minor: 1000, is_final: true },
      { base_currency: "USD", base_minor: 2000, is_final: true },
    ],
  );
});
