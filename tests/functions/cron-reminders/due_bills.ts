/** Many owners with due bills, created in bulk in the database. */
import type { TestDatabase } from "../../_support/database.ts";

export interface DueBills {
  owners: number;
  /** Bills per owner, all due three days from `today`. */
  each: number;
  today: string;
  timezone?: string;
}

/** One additional member in each organization, who wants all mails: `member1@example.com`, …. */
export async function addMembers(database: TestDatabase) {
  await database.exec(`
    with people as (
      select o.id as organization_id, gen_random_uuid() as id, 'member' || split_part(o.name, ' ', 2) || '@example.com' as email
      from identity.organizations as o
    ), users as (
      insert into auth.users (id, email) select id, email from people
    ), profiles as (
      insert into identity.profiles (user_id, email, country) select id, email, 'DE' from people
    )
    insert into identity.memberships (organization_id, user_id, role, mails)
    select organization_id, id, 'member', 'all' from people`);
}

/** Bills are called `Bill 1.1`, `Bill 1.2`, … by owner, whose addresses are `owner1@example.com`, …. */
export async function addDueBills(database: TestDatabase, { owners, each, today, timezone = "UTC" }: DueBills) {
  await database.exec(`
    with people as (
      select n, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid as id, 'org_' || lpad(n::text, 12, '0') as organization_id,
        'owner' || n || '@example.com' as email
      from generate_series(1, ${owners}) as n
    ), users as (
      insert into auth.users (id, email) select id, email from people
    ), profiles as (
      insert into identity.profiles (user_id, email, country, timezone) select id, email, 'DE', '${timezone}' from people returning user_id
    ), organizations as (
      insert into identity.organizations (id, name, base_currency, plan, owner_id) select organization_id, 'Household ' || n, 'EUR', 'team', id from people
      returning id
    ), memberships as (
      insert into identity.memberships (organization_id, user_id, role) select organization_id, id, 'owner' from people
    ), bills as (
      insert into app.expenses (
        id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due,
        status, reminder_enabled
      )
      select 'bill_' || lpad(n::text, 8, '0') || lpad(b::text, 4, '0'), organization_id, 'bill', format('Bill %s.%s', n, b), 'fixed', 1000 + b, 'EUR',
        'monthly', 1, due.day, 'none', due.day, due.day, 'active', true
      from people cross join generate_series(1, ${each}) as b cross join (select date '${today}' + 3 as day) as due
      returning id, organization_id, next_due, amount_minor
    )
    insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
    select organization_id, id, next_due, next_due, amount_minor, 'EUR' from bills`);
}
