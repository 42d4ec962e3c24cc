/** The scheduler: runs both jobs again and again, while new reminders become due. */
import type { Traffic } from "../model/traffic.ts";
import type { World } from "../world/world.ts";

const OWNERS = 20;
const BILLS = 2;
/** The platform ends a call after a minute. */
const JOB_MS = 65_000;

export class Scheduler {
  /** Names of bills whose owner must get a mail, once. */
  readonly due: string[] = [];
  #waves = 0;

  constructor(private readonly traffic: Traffic, private readonly world: World) {}

  /** New owners whose bills are due in three days. */
  async addReminders(): Promise<void> {
    const wave = ++this.#waves;
    await this.world.admin.query(WAVE, [wave, OWNERS, BILLS]);
    for (let owner = 1; owner <= OWNERS; owner++) {
      for (let bill = 1; bill <= BILLS; bill++) this.due.push(`Wave ${wave}-${owner}-${bill}`);
    }
  }

  async run(job: "reminders" | "provider-sync"): Promise<void> {
    await this.traffic.send({
      kind: `job ${job}`,
      slug: `cron-${job}`,
      path: `/api/cron/${job}`,
      method: "GET",
      deadlineMs: JOB_MS,
      headers: { authorization: `Bearer ${this.world.secrets.cron.at(-1)}` },
    });
  }

  /** Runs the job until all due reminders are mailed; leases of dead runs must expire first. */
  async finish(isDone: () => boolean): Promise<void> {
    for (let tries = 0; !isDone() && tries < 6; tries++) {
      await this.run("reminders");
      if (isDone()) return;
      // A lease lasts minutes, so the job's clock moves ahead.
      const { port } = this.world.functions.instanceOf("cron-reminders");
      await (await fetch(`http://127.0.0.1:${port}/.load/clock?ms=${(tries + 1) * 5 * 60_000}`)).body?.cancel();
    }
  }
}

const WAVE = `
  with people as (
    select n, gen_random_uuid() as id, 'org_wave' || lpad($1::int::text, 5, '0') || lpad(n::text, 4, '0') as organization_id,
      'wave' || $1::int || '.' || n || '@example.com' as email
    from generate_series(1, $2::int) as n
  ), users as (
    insert into auth.users (id, email) select id, email from people
  ), profiles as (
    insert into identity.profiles (user_id, email, country, timezone) select id, email, 'DE', 'UTC' from people
  ), organizations as (
    insert into identity.organizations (id, name, base_currency, plan, owner_id)
    select organization_id, 'Household', 'EUR', 'team', id from people
  ), memberships as (
    insert into identity.memberships (organization_id, user_id, role) select organization_id, id, 'owner' from people
  ), bills as (
    insert into app.expenses (
      id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule,
      tracked_from, next_due, status, reminder_enabled
    )
    select app.new_id('bill'), organization_id, 'bill', format('Wave %s-%s-%s', $1::int, n, b), 'fixed', 1000, 'EUR', 'monthly', 1, day, 'none',
      day, day, 'active', true
    from people cross join generate_series(1, $3::int) as b cross join (select (now() at time zone 'UTC')::date + 3 as day) as due
    returning id, organization_id, next_due
  )
  insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
  select organization_id, id, next_due, next_due, 1000, 'EUR' from bills`;
