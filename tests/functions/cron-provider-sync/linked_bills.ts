/** Many bills with links, created in bulk in the database. */
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { KEY } from "./harness.ts";

export interface LinkedBill {
  provider: string;
  credential: Record<string, string>;
}

/**
 * The n-th bill, from 1, is `Bill n` with link `linkId(n)`, monthly on the 25th in dollars, ten per organization on the
 * Team plan.
 */
export const linkId = (n: number) => `lnk_${String(n).padStart(8, "0")}`;

/** @param firstDue the first due date of all bills */
export async function addLinkedBills(
  database: TestDatabase,
  bills: readonly LinkedBill[],
  { firstDue = "2026-10-25" }: { firstDue?: string } = {},
): Promise<void> {
  const links = await Promise.all(bills.map(async ({ provider, credential }, index) => ({
    n: index + 1,
    id: linkId(index + 1),
    provider,
    envelope: await sealCredential([KEY], linkId(index + 1), credential),
  })));
  await database.exec(`
    with people as (
      select n, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid as id, 'org_' || lpad(n::text, 12, '0') as organization_id
      from generate_series(1, ${Math.ceil(bills.length / 10)}) as n
    ), users as (
      insert into auth.users (id, email) select id, 'owner' || n || '@example.com' from people
    ), profiles as (
      insert into identity.profiles (user_id, email, country) select id, 'owner' || n || '@example.com', 'DE' from people returning user_id
    )
    insert into identity.organizations (id, name, base_currency, plan, owner_id)
    select p.organization_id, 'Organization ' || p.n, 'USD', 'team', p.id from people as p join profiles as f on f.user_id = p.id`);
  await database.exec(`
    insert into identity.memberships (organization_id, user_id, role) select id, owner_id, 'owner' from identity.organizations`);
  await database.query(
    `with given as (
      select *, 'bill_' || lpad(n::text, 8, '0') as bill_id, 'org_' || lpad((1 + (n - 1) / 10)::text, 12, '0') as organization_id
      from jsonb_to_recordset($1::text::jsonb) as l (n int, id text, provider text, envelope jsonb)
    ), bills as (
      insert into app.expenses (
        id, organization_id, kind, name, amount_mode, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due, status
      )
      select bill_id, organization_id, 'bill', 'Bill ' || n, 'variable', 'USD', 'monthly', 1, $2::date, 'none', $2::date, $2::date, 'active' from given
      returning id
    ), links as (
      insert into app.provider_links (id, organization_id, expense_id, provider_key, account_label, status, created_at)
      select g.id, g.organization_id, g.bill_id, g.provider, '…01', 'active', '2026-01-01' from given as g join bills as b on b.id = g.bill_id
      returning id
    )
    insert into app.provider_credentials (link_id, envelope, updated_at)
    select g.id, g.envelope, '2026-01-01' from given as g join links as l on l.id = g.id`,
    [JSON.stringify(links), firstDue],
  );
}

/** By link number: the amount of its bill, if fetched, and the number of its statements. */
export const fetched = async (database: TestDatabase) =>
  new Map(
    (await database.query<{ n: number; amount: string | null; statements: number }>(
      `select right(l.id, 8)::int as n, app.format_amount(o.expected_minor, o.currency) as amount,
         (select count(*)::int from app.provider_statements as s where s.link_id = l.id) as statements
       from app.provider_links as l
       left join app.expense_occurrences as o on o.expense_id = l.expense_id
       order by 1`,
    )).map(({ n, amount, statements }) => [n, { amount, statements }]),
  );
