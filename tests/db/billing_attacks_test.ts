/**
 * Anybody who can edit a subscription's notes can name any organization in them. Two organizations receive the same
 * events, but strangers' subscriptions name only one of them. At every instant, that one must have at least the other's
 * features.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { effectOf } from "../../shared/billing/effects.ts";
import { PLANS, resetBilling } from "../_support/billing.ts";
import { sharedDatabase } from "../_support/database.ts";

const STREAMS = Deno.env.get("TEST_DATABASE_URL") ? 1_000 : 150;

const database = await sharedDatabase();
Deno.test.beforeEach(() => resetBilling(database));

const START = Date.UTC(2026, 9, 1);
const instant = (day: number) => new Date(START + day * 24 * 3600_000).toISOString();

interface Step {
  subscription: string;
  day: number;
  type: string;
  plan: "pro" | "team";
}
const HOLDERS = {
  "nothing": { plan: "free", trialEndsAt: null },
  "a trial": { plan: "free", trialEndsAt: instant(10) },
  "a plan set by hand": { plan: "team", trialEndsAt: null },
  "a lesser plan set by hand, and a trial": { plan: "pro", trialEndsAt: instant(10) },
};
type Holder = keyof typeof HOLDERS;

const STARTS = ["activated", "charged", "resumed"];
const FAILURES = ["pending", "halted", "cancelled", "completed", "expired"];
const OWN = ["own_1", "own_2"];
const paidPlan = fc.constantFrom<Step["plan"]>("pro", "team");
const stepOf = (subscriptions: string[], types: string[]) =>
  fc.record<Step>({
    subscription: fc.constantFrom(...subscriptions),
    day: fc.integer({ min: 1, max: 20 }),
    type: fc.constantFrom(...types),
    plan: paidPlan,
  });

const attack = fc.constantFrom(...Object.keys(HOLDERS) as Holder[]).chain((holder) => {
  // The first subscription that was ever active replaces a manually set plan, so in this test strangers may do anything
  // except pay.
  const isByHand = HOLDERS[holder].plan !== "free";
  return fc.record({
    holder: fc.constant(holder),
    // Its own subscriptions were active first: an unpaid grace period yields to a paid plan.
    own: fc.record({
      owned: fc.subarray(OWN),
      plans: fc.tuple(paidPlan, paidPlan),
      later: fc.array(stepOf(OWN, [...STARTS, ...FAILURES]), { maxLength: 4 }),
    }).map(({ owned, plans, later }) => [
      ...owned.map((subscription, index) => ({ subscription, day: 0, type: "activated", plan: plans[index]! })),
      ...later.filter(({ subscription }) => owned.includes(subscription)),
    ]),
    strangers: fc.array(stepOf(["theirs_1", "theirs_2"], isByHand ? FAILURES : [...STARTS, ...FAILURES]), {
      minLength: 1,
      maxLength: 5,
    }),
  });
});
type Attack = typeof attack extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Delivers the calls in order and compares, after each, the features of both organizations now and on each day until
 * everything has ended.
 */
const PLAY = `
  create function billing.play_attack(calls jsonb, alone text, named text) returns jsonb language plpgsql set search_path = '' as $$
  declare
    call jsonb;
    lost jsonb;
  begin
    for call in select c from jsonb_array_elements(calls) as c loop
      perform public.apply_payment_event(call -> 'event', call ->> 'body_hash', null, (call ->> 'at')::timestamptz);
      continue when (call ->> 'is_half')::boolean;
      select jsonb_build_object('after', call -> 'event', 'at', min(t.at)) into lost
      from generate_series((call ->> 'at')::timestamptz, '2026-10-29', '1 day') as t (at)
      join identity.organizations as a on a.id = alone
      join identity.organizations as n on n.id = named
      where identity.effective_plan(a, t.at) > identity.effective_plan(n, t.at);
      if lost -> 'at' <> 'null' then
        return lost;
      end if;
    end loop;
    return null;
  end
  $$`;

async function play({ holder, own, strangers }: Attack, stream: number): Promise<unknown> {
  const id = (letter: string) => `org_${letter}${String(stream).padStart(11, "0")}`;
  const [alone, named] = [id("a"), id("n")];
  const steps = [
    ...own.flatMap((step) => [
      { ...step, organization: alone, isHalf: true },
      { ...step, organization: named, isHalf: false },
    ]),
    ...strangers.map((step) => ({ ...step, organization: named, isHalf: false })),
  ].toSorted((a, b) => a.day - b.day);
  const calls = steps.map(({ subscription, day, type, plan, organization, isHalf }, index) => ({
    event: {
      type: `subscription.${type}`,
      ...effectOf(`subscription.${type}`),
      subscription_id: `${organization}_${subscription}`,
      provider_plan_id: PLANS[plan],
      organization_id: organization,
      occurred_at: instant(day),
      paid_count: 0,
      auth_attempts: 0,
    },
    body_hash: `${String(stream).padStart(8, "0")}${String(index).padStart(2, "0")}`,
    at: instant(day),
    // Its own events reach both before the comparison.
    is_half: isHalf,
  }));
  const { plan, trialEndsAt } = HOLDERS[holder];
  await database.query(
    `insert into identity.organizations (id, name, base_currency, plan, trial_ends_at, owner_id)
     select i, 'Household', 'EUR', $2, $3, p.user_id from identity.profiles as p, unnest($1::text[]) as i`,
    [[alone, named], plan, trialEndsAt],
  );
  const [row] = await database.query<{ lost: unknown }>("select billing.play_attack($1, $2, $3) as lost", [
    JSON.stringify(calls),
    alone,
    named,
  ]);
  return row!.lost;
}

Deno.test(`a stranger's subscription never reduces a plan (${STREAMS} streams)`, async () => {
  await database.exec(PLAY);
  for (const [index, stream] of fc.sample(attack, STREAMS).entries()) {
    assertEquals(await play(stream, index), null, JSON.stringify(stream));
  }
});
