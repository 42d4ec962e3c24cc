/**
 * Moves the reminder clock over the change of daylight saving time, in steps and with one jump back, while owners in
 * several zones have a bill due each day. Each gets one reminder, on their own calendar day.
 */
import { localDay } from "../../e2e/year/days.ts";
import type { Traffic } from "../model/traffic.ts";
import type { World } from "../world/world.ts";

/** All of them change at 01:00 UTC on this day. */
const ZONES = ["Europe/Berlin", "Europe/London", "Atlantic/Azores"];
const FROM = "2027-03-26T21:10:00Z";
const CHANGE = "2027-03-28T01:00:00Z";
/** Due dates whose reminders fall on the day before, the day itself, and the day after. */
const DUE = ["2027-03-30", "2027-03-31", "2027-04-01"];
const HOUR_MS = 3600_000;

/** Every three hours; around the change every half hour, and once ten minutes back. */
function* instants(): Generator<number> {
  const change = Date.parse(CHANGE);
  for (let at = Date.parse(FROM); at < change - 2 * HOUR_MS; at += 3 * HOUR_MS) yield at;
  for (let at = change - HOUR_MS; at <= change + HOUR_MS; at += HOUR_MS / 2) {
    yield at;
    yield at - HOUR_MS / 6;
  }
  for (let at = change + 3 * HOUR_MS; at < Date.parse(DUE[0]!); at += 3 * HOUR_MS) yield at;
}

/** @returns the reminders sent twice, never, or on a wrong day. The clock does not go back afterwards */
export async function checkSummerTime(world: World, traffic: Traffic): Promise<string[]> {
  for (const [zone, timezone] of ZONES.entries()) {
    for (const [day, due] of DUE.entries()) await world.admin.query(OWNER, [zone, day, timezone, due]);
  }
  const { port } = world.functions.instanceOf("cron-reminders");
  const told = new Map<string, string[]>();
  for (const at of instants()) {
    const before = world.outside.delivered.length;
    await (await fetch(`http://127.0.0.1:${port}/.load/clock?ms=${at - Date.now()}`)).body?.cancel();
    await traffic.send({
      kind: "job in spring",
      slug: "cron-reminders",
      path: "/api/cron/reminders",
      method: "GET",
      deadlineMs: 65_000,
      headers: { authorization: `Bearer ${world.secrets.cron[0]}` },
    });
    for (const { text } of world.outside.delivered.slice(before)) {
      for (const [, name] of text.matchAll(/^ {2}(Spring \d-\d) /gm)) {
        const zone = ZONES[Number(name!.at(-3))]!;
        told.set(name!, [...told.get(name!) ?? [], localDay(new Date(at), zone)]);
      }
    }
  }
  return ZONES.flatMap((_, zone) =>
    DUE.flatMap((due, day) => {
      const expected = new Date(Date.parse(due) - 3 * 24 * HOUR_MS).toISOString().slice(0, 10);
      const days = told.get(`Spring ${zone}-${day}`) ?? [];
      return days.join() === expected
        ? []
        : [`in ${ZONES[zone]}, what is due on ${due} was told on ${days.join() || "no day"}`];
    })
  );
}

const OWNER = `
  with person as (
    select gen_random_uuid() as id, 'org_spring' || $1::int || $2::int as organization_id,
      'spring' || $1::int || '.' || $2::int || '@example.com' as email
  ), users as (
    insert into auth.users (id, email) select id, email from person
  ), profiles as (
    insert into identity.profiles (user_id, email, country, timezone) select id, email, 'DE', $3 from person
  ), organizations as (
    insert into identity.organizations (id, name, base_currency, plan, owner_id)
    select organization_id, 'Household', 'EUR', 'team', id from person
  ), memberships as (
    insert into identity.memberships (organization_id, user_id, role) select organization_id, id, 'owner' from person
  ), bills as (
    insert into app.expenses (
      id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule,
      tracked_from, next_due, status, reminder_enabled
    )
    select app.new_id('bill'), organization_id, 'bill', format('Spring %s-%s', $1::int, $2::int), 'fixed', 1000, 'EUR',
      'yearly', 1, $4::date, 'none', $4::date, $4::date, 'active', true
    from person returning id, organization_id, next_due
  )
  insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
  select organization_id, id, next_due, next_due, 1000, 'EUR' from bills`;
