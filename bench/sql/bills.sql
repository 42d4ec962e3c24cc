-- So many bills, five per owner, each with its current occurrence. The mix is that of the floor (roll_floor.sql): one
-- in 20 is yearly, one in 7 of the rest weekly, the others monthly. Days are spread by hash over all pages, so that
-- 4.66 % fell due yesterday. Today is 20 November 2026.
set session_replication_role = replica;
insert into auth.users (id, email)
select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'owner' || n || '@example.com' from generate_series(1, :bills / 5) as n;
insert into identity.profiles (user_id, email, country, timezone)
select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'owner' || n || '@example.com', 'DE',
  (array['Europe/Berlin', 'Asia/Kolkata', 'America/New_York', 'UTC'])[1 + n % 4]
from generate_series(1, :bills / 5) as n;
insert into identity.organizations (id, name, base_currency, plan, owner_id)
select 'org_' || lpad(n::text, 12, '0'), 'Household', 'EUR', 'team', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
from generate_series(1, :bills / 5) as n;
insert into identity.memberships (organization_id, user_id, role)
select id, owner_id, 'owner' from identity.organizations where id ~ '^org_[0-9]+$';
insert into app.expenses (
  id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due,
  status, reminder_enabled
)
select 'bill_' || lpad(n::text, 12, '0'), 'org_' || lpad((1 + (n - 1) / 5)::text, 12, '0'), 'bill', 'Bill ' || n, 'fixed', 1000 + n % 5000, 'EUR',
  f.frequency, 1, a.anchor_on, 'none', a.anchor_on, d.next_due, 'active', true
from generate_series(1, :bills) as n
cross join lateral (select case when n % 20 = 0 then 'yearly' when n % 7 = 0 then 'weekly' else 'monthly' end as frequency) as f
cross join lateral (
  select date '2026-11-19' + (hashint8(n) & 2147483647) % case f.frequency when 'yearly' then 365 when 'weekly' then 7 else 30 end as next_due
) as d
cross join lateral (
  select case f.frequency when 'yearly' then (d.next_due - interval '1 year')::date when 'weekly' then d.next_due - 70 else (d.next_due - interval '14 months')::date end
    as anchor_on
) as a;
insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
select organization_id, id, next_due, next_due, amount_minor, currency from app.expenses where id < 'bill_x';
set session_replication_role = origin;
