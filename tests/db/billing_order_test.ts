/**
 * Events may arrive in any order, repeatedly and concurrently, and the final state is the same. A small model of the
 * rules predicts that state. On a real PostgreSQL (`TEST_DATABASE_URL`), the test runs more streams and delivers the
 * events of each concurrently.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { effectOf } from "../../shared/billing/effects.ts";
import { PLANS, type PlanState, resetBilling } from "../_support/billing.ts";
import { sharedDatabase } from "../_support/database.ts";

const SERVER = Deno.env.get("TEST_DATABASE_URL");
const STREAMS = SERVER ? 5_000 : 300;
/** Streams per round trip; each has its own organization. */
const BATCH = 50;

const database = await sharedDatabase();
Deno.test.beforeEach(() => resetBilling(database));

interface Step {
  type: string;
  subscription: number;
  /** Seconds; few, so that many events share one. */
  second: number;
  paidCount: number;
  authAttempts: number;
  plan: "pro" | "team";
  /** Whether the notes name the organization. */
  named: boolean;
}

const TYPES = ["activated", "charged", "resumed", "pending", "halted", "cancelled", "completed", "expired", "updated"];
const step = fc.record<Step>({
  type: fc.constantFrom(...TYPES.map((type) => `subscription.${type}`)),
  subscription: fc.integer({ min: 0, max: 1 }),
  second: fc.integer({ min: 0, max: 3 }),
  paidCount: fc.integer({ min: 0, max: 1 }),
  authAttempts: fc.integer({ min: 0, max: 1 }),
  plan: fc.constantFrom("pro", "team"),
  named: fc.boolean(),
});

/** Five events, and a delivery order that contains each at least once. */
const stream = fc.record({
  steps: fc.array(step, { minLength: 5, maxLength: 5 }),
  again: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
}).chain(({ steps, again }) => {
  const deliveries = [0, 1, 2, 3, 4, ...again];
  return fc.shuffledSubarray(deliveries, { minLength: deliveries.length }).map((order) => ({ steps, order }));
});
type Stream = { steps: Step[]; order: number[] };

const START = Date.UTC(2026, 9, 1);
const WEEK = 7 * 24 * 3600_000;
/** Some of its seconds fall between the ends of a stream's grace periods. */
const TRIAL_ENDS_AT = new Date(START + WEEK + 1_000).toISOString().replace(".000Z", "+00:00");
const HOLDERS = [
  { plan: "free", trial_ends_at: null },
  { plan: "free", trial_ends_at: TRIAL_ENDS_AT },
  { plan: "team", trial_ends_at: null },
  { plan: "pro", trial_ends_at: TRIAL_ENDS_AT },
];
/** The initial state of the stream with an index. */
const holderOf = (stream: number) => HOLDERS[stream % HOLDERS.length]!;
/** Now, and between the ends of the grace periods and the trial. */
const INSTANTS = [START + 10_000, ...[-0.5, 0.5, 1.5, 2.5, 3.5].map((second) => START + WEEK + second * 1000)];

interface State extends PlanState {
  /** The effective plan at each of `INSTANTS`. */
  effective: string[];
}
const organizationOf = (index: number) => `org_${String(index).padStart(12, "0")}`;

/** Arguments of `apply_payment_event`. The hashes ascend in step order, because they break ties last. */
function argumentsOf(step: Step, { stream, index }: { stream: number; index: number }) {
  const effect = effectOf(step.type);
  return {
    event: {
      type: step.type,
      status: effect?.status ?? null,
      rank: effect?.rank ?? 0,
      subscription_id: `sub_${stream}_${step.subscription}`,
      provider_plan_id: PLANS[step.plan],
      organization_id: step.named ? organizationOf(stream) : null,
      occurred_at: new Date(START + step.second * 1000).toISOString(),
      paid_count: step.paidCount,
      auth_attempts: step.authAttempts,
    },
    body_hash: `${String(stream).padStart(8, "0")}0${index}`,
    event_id: `evt_${stream}_${index}`,
  };
}

const better = (a: string, b: string) =>
  ["free", "pro", "team"].indexOf(a) < ["free", "pro", "team"].indexOf(b) ? b : a;

/** The rules again, applied to all events at once. */
function expectedState(steps: Step[], { plan, trial_ends_at }: (typeof HOLDERS)[number]): State {
  const subscriptions = [0, 1].flatMap((subscription) => {
    const events = steps.map((step, index) => ({ ...step, index, effect: effectOf(step.type) }))
      .filter((event) => event.subscription === subscription && event.effect);
    if (!events.some(({ named }) => named)) return [];
    const clock = ({ second, effect, paidCount, authAttempts, index }: (typeof events)[number]) =>
      [second, Number(effect!.status === "canceled"), paidCount, authAttempts, effect!.rank, index]
        .map((part) => String(part).padStart(3, "0")).join();
    const ordered = events.toSorted((a, b) => clock(a) < clock(b) ? -1 : 1);
    const lastGood = ordered.findLastIndex(({ effect }) => effect!.status !== "past_due");
    const { effect, plan } = ordered.at(-1)!;
    const second = Math.min(...ordered.slice(lastGood + 1).map((event) => event.second));
    const wasActive = events.some(({ effect }) => effect!.status === "active");
    return [{ status: effect!.status, plan, wasActive, since: effect!.status === "past_due" ? second : 0 }];
  });
  const wereActive = subscriptions.filter(({ wasActive }) => wasActive);
  const isByHand = plan !== "free" && wereActive.length === 0;
  const hasSomething = trial_ends_at !== null || isByHand || wereActive.some(({ status }) => status !== "canceled");
  const withASay = hasSomething ? wereActive : subscriptions;

  const value = ({ status, plan }: (typeof subscriptions)[number]) =>
    ["canceled", "past_due", "active"].indexOf(status) * 2 + Number(plan === "team");
  const [best] = withASay.toSorted((a, b) => value(b) - value(a) || b.since - a.since);
  const effective = INSTANTS.map((instant) => {
    const paid = withASay.filter(({ status, since }) =>
      status === "active" || status === "past_due" && instant < START + since * 1000 + WEEK
    ).map(({ plan }) => plan);
    const other = [best ? "free" : plan, trial_ends_at && instant < Date.parse(trial_ends_at) ? "team" : "free"];
    return [...paid, ...other].reduce(better);
  });
  if (!best) return { plan, plan_status: "active", past_due_since: null, trial_ends_at, effective };
  return {
    plan: best.status === "canceled" ? "free" : best.plan,
    plan_status: best.status,
    past_due_since: best.status === "past_due" ? `2026-10-01T00:00:0${best.since}+00:00` : null,
    trial_ends_at,
    effective,
  };
}

const addOrganizations = (first: number, count: number) =>
  database.query(
    `insert into identity.organizations (id, name, base_currency, plan, trial_ends_at, owner_id)
     select 'org_' || lpad(n::text, 12, '0'), 'Household', 'EUR', h ->> 'plan', (h ->> 'trial_ends_at')::timestamptz, (select user_id from identity.profiles)
     from generate_series($1::int, $2::int) as n
     cross join lateral (select $3::jsonb -> (n % $4::int) as h) as holder`,
    [first, first + count - 1, JSON.stringify(HOLDERS), HOLDERS.length],
  );

const APPLY = `
  select public.apply_payment_event(call -> 'event', call ->> 'body_hash', call ->> 'event_id', '2026-10-01T00:00:10Z') ->> 'outcome' as outcome
  from jsonb_array_elements($1) as call`;

const statesOf = (first: number, count: number) =>
  database.query<State>(
    `select plan, plan_status, past_due_since, trial_ends_at,
       array(select identity.effective_plan(o, i.at) from unnest($3::timestamptz[]) with ordinality as i (at, n) order by i.n) as effective
     from identity.organizations as o
     where id between $1 and $2 order by id`,
    [
      organizationOf(first),
      organizationOf(first + count - 1),
      INSTANTS.map((instant) => new Date(instant).toISOString()),
    ],
  );

const callsOf = ({ steps, order }: Stream, stream: number) =>
  order.map((index) => argumentsOf(steps[index]!, { stream, index }));

async function check(streams: Stream[], first: number): Promise<void> {
  await addOrganizations(first, streams.length);
  const calls = streams.flatMap((stream, index) => callsOf(stream, first + index));
  const rows = await database.asRole(
    "service_role",
    {},
    (session) => session.query<{ outcome: string }>(APPLY, [JSON.stringify(calls)]),
  );
  const repeated = streams.reduce((sum, { order }) => sum + order.length - 5, 0);
  assertEquals(rows.filter(({ outcome }) => outcome === "duplicate").length, repeated);
  const states = await statesOf(first, streams.length);
  for (const [index, stream] of streams.entries()) {
    assertEquals(states[index], expectedState(stream.steps, holderOf(first + index)), JSON.stringify(stream));
  }
}

Deno.test(`any order of a stream of 5 events, with duplicates, ends in one state (${STREAMS} streams)`, async () => {
  const streams = fc.sample(stream, STREAMS);
  for (let first = 0; first < streams.length; first += BATCH) {
    await check(streams.slice(first, first + BATCH), first);
  }
});

Deno.test("all 120 orders of a stream end in one state", async () => {
  const step = (type: string, second: number, more: Partial<Step> = {}): Step => ({
    type: `subscription.${type}`,
    subscription: 0,
    second,
    paidCount: 0,
    authAttempts: 0,
    plan: "pro",
    named: false,
    ...more,
  });
  const steps = [
    step("activated", 0, { named: true }),
    step("pending", 1, { authAttempts: 1 }),
    step("charged", 1, { paidCount: 1 }),
    step("halted", 2, { authAttempts: 1 }),
    step("activated", 2, { named: true, subscription: 1, plan: "team" }),
  ];
  const streams = permutations([0, 1, 2, 3, 4]).map((order) => ({ steps, order: [...order, order[0]!] }));
  assertEquals(streams.length, 120);
  await check(streams, 0);
});

function permutations(values: number[]): number[][] {
  if (values.length === 0) return [[]];
  return values.flatMap((value) =>
    permutations(values.filter((other) => other !== value)).map((rest) => [value, ...rest])
  );
}

/** As many sessions as the test database's server allows, or PGlite's one. */
async function openPool(max: number): Promise<Pick<SqlDatabase, "query" | "close">> {
  if (!SERVER) return { query: database.query, close: () => Promise.resolve() };
  const [row] = await database.query<{ name: string }>("select current_database() as name");
  const url = new URL(SERVER);
  url.pathname = row!.name;
  return postgresDatabase(url.href, { max });
}

Deno.test("200 identical concurrent events apply once", async () => {
  await addOrganizations(1, 1);
  const step = { second: 0, paidCount: 1, authAttempts: 0 };
  const charged: Step = { ...step, type: "subscription.charged", subscription: 0, plan: "pro", named: true };
  const call = JSON.stringify([argumentsOf(charged, { stream: 1, index: 0 })]);
  const pool = await openPool(80);
  const calls = Array.from({ length: 200 }, () => pool.query<{ outcome: string }>(APPLY, [call]));
  const outcomes = (await Promise.all(calls)).map(([row]) => row!.outcome);
  await pool.close();
  assertEquals(outcomes.toSorted(), ["applied", ...Array(199).fill("duplicate")]);
  assertEquals(await statesOf(1, 1), [expectedState([charged], holderOf(1))]);
  const [counted] = await database.query(
    `select (select count(*)::int from billing.payment_events) as ledger,
       (select count(*)::int from identity.audit_events) as audit`,
  );
  assertEquals(counted, { ledger: 1, audit: 1 });
});

Deno.test("concurrent events of a stream end in the same state", async () => {
  const streams = fc.sample(stream, SERVER ? 500 : 50);
  await addOrganizations(0, streams.length);
  const pool = await openPool(20);
  for (let first = 0; first < streams.length; first += 10) {
    const calls = streams.slice(first, first + 10).flatMap((stream, index) => callsOf(stream, first + index));
    await Promise.all(calls.map((call) => pool.query(APPLY, [JSON.stringify([call])])));
  }
  await pool.close();
  const states = await statesOf(0, streams.length);
  for (const [index, stream] of streams.entries()) {
    assertEquals(states[index], expectedState(stream.steps, holderOf(index)), JSON.stringify(stream));
  }
});
