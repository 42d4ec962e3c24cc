-- So many bills, five to an owner, each with its current occurrence: monthly, weekly and yearly; about one in 23 fell due yesterday.
-- Today is 20 November 2026.
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
insert into app.expenses (
  id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due,
  status, reminder_enabled
)
select 'bill_' || lpad(n::text, 12, '0'), 'org_' || lpad((1 + (n - 1) / 5)::text, 12, '0'), 'bill', 'Bill ' || n, 'fixed', 1000 + n % 5000, 'EUR',
  f.frequency, 1, a.anchor_on, 'none', a.anchor_on, d.next_due, 'active', true
from generate_series(1, :bills) as n
cross join lateral (select case when n % 10 < 8 then 'monthly' when n % 10 = 8 then 'weekly' else 'yearly' end as frequency) as f
cross join lateral (
  select case f.frequency when 'weekly' then date '2025-11-20' + (n / 10) % 7 when 'monthly' then date '2025-11-01' + (n / 10) % 28
    else date '2025-01-01' + (n / 10) % 365 end as anchor_on
) as a
cross join lateral (
  select case f.frequency
    when 'monthly' then (a.anchor_on + case when a.anchor_on + interval '12 months' < '2026-11-19' then interval '13 months' else interval '12 months' end)::date
    when 'weekly' then a.anchor_on + (date '2026-11-19' - a.anchor_on + 6) / 7 * 7
    else (a.anchor_on + case when a.anchor_on + interval '1 year' < '2026-11-19' then interval '2 years' else interval '1 year' end)::date
  end as next_due
) as d;
insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
select organization_id, id, next_due, next_due, amount_minor, currency from app.expenses;
set session_replication_role = origin;
