-- One organization with :payments payments over :months months before :today and :bills bills, into an empty migrated
-- database. The owner of the tables writes it, with ids that app.new_id will not produce soon. Nine in ten bills are
-- monthly, one in ten variable, one in a hundred overdue; three in ten payments are of bills.

insert into auth.users (id, email) values ('00000000-0000-4000-8000-0000000000ff', 'large@example.com');
insert into identity.profiles (user_id, email, country, timezone) values ('00000000-0000-4000-8000-0000000000ff', 'large@example.com', 'DE', 'Europe/Berlin');
insert into identity.organizations (id, name, base_currency, plan, owner_id)
values ('org_00000000large', 'Large', 'EUR', 'team', '00000000-0000-4000-8000-0000000000ff');
insert into identity.memberships (organization_id, user_id, role) values ('org_00000000large', '00000000-0000-4000-8000-0000000000ff', 'owner');
select app.create_default_categories('org_00000000large', now());
insert into app.fx_rates (quote, rate_on, source, rate) select 'USD', :today - n, 'ecb', 1.1 from generate_series(0, 1860) as n;

alter table app.expenses disable trigger user;
alter table app.expense_occurrences disable trigger user;
alter table app.payments disable trigger user;

insert into app.expenses (
  id, organization_id, kind, name, payee, category_id, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule,
  tracked_from, next_due, autopay, status, reminder_enabled
)
select 'bill_x' || lpad(n::text, 12, '0'), 'org_00000000large', 'bill', 'Bill ' || n, 'Payee ' || n % 400, c.id,
  case when n % 10 = 3 then 'variable' else 'fixed' end, case when n % 10 <> 3 then 500 + n % 20000 end, case when n % 10 = 7 then 'USD' else 'EUR' end,
  case when n % 20 = 0 then 'weekly' when n % 20 = 10 then 'yearly' else 'monthly' end, 1, s.anchor_on, case when n % 5 = 0 then 'after' else 'none' end,
  s.anchor_on, null, n % 4 = 0, 'active', true
from generate_series(1, :bills) as n
cross join lateral (select (:today - interval ':months months')::date + n % 28 as anchor_on) as s
join (select id, row_number() over (order by name) as place from app.categories where organization_id = 'org_00000000large') as c on c.place = 1 + n % 16;

-- The current date of each bill, and for one in a hundred the previous date, too.
insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
select e.organization_id, e.id, s.scheduled_on, s.due_on, app.rule_amount(e), e.currency
from app.expenses as e
cross join lateral app.scheduled_dates(e, app.due_index(e, :today) - (right(e.id, 2) = '50')::int, app.due_index(e, :today)) as s
where e.kind = 'bill';
update app.expenses as e set next_due = o.due_on
from (select expense_id, max(due_on) as due_on from app.expense_occurrences group by 1) as o where o.expense_id = e.id;

insert into app.expense_occurrences (id, organization_id, expense_id, scheduled_on, due_on, expected_minor, currency, status, closed_at, amount_source, paid_minor)
select 'occ_x' || lpad((row_number() over (order by s.due_on, e.id))::text, 12, '0'), e.organization_id, e.id, s.scheduled_on, s.due_on,
  price.minor, e.currency, 'paid', s.due_on, 'rule', price.minor
from app.expenses as e
cross join lateral (
  select d.*, row_number() over () as n
  from app.scheduled_dates(e, greatest(0, app.due_index(e, :today) - :months), app.due_index(e, :today) - 1 - (right(e.id, 2) = '50')::int) as d
) as s
cross join lateral (select coalesce(e.amount_minor, 4000 + s.n * 37 % 900) as minor) as price
where e.kind = 'bill';
-- PostgreSQL plans foreign key checks once, at which point the tables must not be empty.
analyze app.expenses;
analyze app.expense_occurrences;
insert into app.payments (id, organization_id, expense_id, occurrence_id, category_id, amount_minor, currency, paid_on, base_currency, base_minor, fx_rate, fx_rate_on, fx_source, is_final)
select 'pay_' || substr(o.id, 5), o.organization_id, o.expense_id, o.id, e.category_id, o.expected_minor, o.currency, o.due_on,
  'EUR', round(o.expected_minor / coalesce(r.rate, 1)), 1 / r.rate, case when r.rate > 0 then o.due_on end,
  case when r.rate > 0 then 'ecb' end, true
from app.expense_occurrences as o
join app.expenses as e on e.id = o.expense_id
cross join lateral (select case o.currency when 'USD' then 1.1 end as rate) as r
where o.status = 'paid'
order by o.due_on;

insert into app.expenses (id, organization_id, kind, name, payee, category_id)
select 'exp_x' || lpad(n::text, 12, '0'), 'org_00000000large', 'one_off', 'Thing ' || n % 5000, case when n % 3 > 0 then 'Shop ' || n % 2000 end, c.id
from generate_series(1, :payments - (select count(*) from app.payments)) as n
join (select id, row_number() over (order by name) as place from app.categories where organization_id = 'org_00000000large') as c on c.place = 1 + n % 16
order by n;
analyze app.expenses;
insert into app.payments (id, organization_id, expense_id, category_id, direction, amount_minor, currency, paid_on, base_currency, base_minor, fx_rate, fx_rate_on, fx_source, is_final)
select 'pay_y' || substr(e.id, 6), e.organization_id, e.id, e.category_id, case when n % 50 = 0 then 'refund' else 'out' end, 100 + n * 7919 % 20000,
  case when n % 10 = 7 then 'USD' else 'EUR' end, d.paid_on, 'EUR', round((100 + n * 7919 % 20000) / coalesce(r.rate, 1)), 1 / r.rate,
  case when r.rate > 0 then d.paid_on end, case when r.rate > 0 then 'ecb' end, true
from app.expenses as e
cross join lateral (select substr(e.id, 6)::bigint as n) as k
cross join lateral (select :today - :days + (n * :days / (select count(*) from app.expenses where kind = 'one_off'))::int as paid_on) as d
cross join lateral (select case when n % 10 = 7 then 1.1 end as rate) as r
where e.kind = 'one_off'
order by d.paid_on;

alter table app.expenses enable trigger user;
alter table app.expense_occurrences enable trigger user;
alter table app.payments enable trigger user;
