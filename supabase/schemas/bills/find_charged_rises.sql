-- review_bills: price rises that charges show, even before the bill was added or corrected.

create or replace function app.find_charged_rises(context app.context, since date)
  returns table (bill_id text, old_minor bigint, new_minor bigint, from_on date)
language plpgsql stable set search_path = '' set jit = 'off' as $$
declare
  -- The charge before the rise may be a year older.
  first_day constant date := since - 400;
  -- Limits the run time for large organizations, at the cost of their oldest days.
  most_rows constant int := 50000;
begin
  return query
    with bills as materialized (
      select b.id, b.name, b.payee, b.currency, b.amount_minor as minor,
        b.every * case b.frequency when 'weekly' then 7 when 'monthly' then 30 else 365 end as days
      from app.expenses as b
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.status = 'active'
        and b.deleted_at is null and b.amount_mode = 'fixed' and b.frequency in ('weekly', 'monthly', 'yearly')
        and coalesce(cardinality(b.month_days), 1) = 1
    ), spent as materialized (
      select p.paid_on, p.amount_minor as minor, p.currency, e.name, e.payee
      from (
        select p.expense_id, p.paid_on, p.amount_minor, p.currency
        from app.payments as p
        where p.organization_id = context.organization_id and p.deleted_at is null and p.direction = 'out'
          and p.occurrence_id is null and p.split_id is null and p.paid_on between first_day and context.today
          and exists (select from bills)
        order by p.paid_on desc, p.recorded_seq desc
        limit most_rows
      ) as p
      cross join lateral (select x.name, x.payee from app.expenses as x where x.id = p.expense_id offset 0) as e
    ), alike as materialized (
      select m.bill_id as id, m.text
      from app.match_bill_texts(
        array(select b.id from bills as b) || array(select b.id from bills as b),
        array(select b.name from bills as b) || array(select b.payee from bills as b),
        array(select s.name from spent as s) || array(select s.payee from spent as s)
      ) as m
    ), own as materialized (
      select p.expense_id as id, max(p.paid_on) as paid_on, sum(p.amount_minor)::bigint as minor
      from app.payments as p
      join app.expense_occurrences as o on o.id = p.occurrence_id and o.status = 'paid'
      join bills as b on b.id = p.expense_id and b.currency = p.currency
      where p.organization_id = context.organization_id and p.deleted_at is null and p.direction = 'out'
        and p.paid_on between first_day and context.today
        -- Assumed payments don't prove a price.
        and (p.source <> 'autopay' or o.amount_source <> 'rule'
          or exists (select from app.statement_links as k where k.payment_id = p.id))
      group by p.expense_id, p.occurrence_id
    ), charges as materialized (
      select o.id, o.paid_on, max(o.minor) as minor from own as o group by o.id, o.paid_on
      union all
      select b.id, s.paid_on, max(s.minor)
      from spent as s
      cross join lateral (values (s.name), (s.payee)) as n (text)
      join alike as a on a.text = n.text
      join bills as b on b.id = a.id and b.currency = s.currency and s.minor between b.minor / 2 and b.minor * 2
      where not exists (
        select from own as o where o.id = b.id and abs(o.paid_on - s.paid_on) <= least(10, b.days / 3)
      )
      group by b.id, s.paid_on
    ), steps as (
      select c.id, c.paid_on, c.minor, lag(c.minor) over dates as old,
        -- The payee charges for other things, too.
        c.paid_on - lag(c.paid_on) over dates < b.days * 0.7 as is_early
      from charges as c
      join bills as b on b.id = c.id
      window dates as (partition by c.id order by c.paid_on)
    ), latest as (
      select distinct on (s.id) s.*
      from steps as s
      where s.minor is distinct from s.old or s.is_early
      order by s.id, s.paid_on desc
    )
    select l.id, l.old, l.minor, l.paid_on from latest as l where l.minor > l.old and not l.is_early;
end
$$;
comment on function app.find_charged_rises is
  'Returns the latest change of each fixed price in its charges, if it is a rise. Charges are payments of the bill, '
  'except assumed ones, and expenses with its name and half to twice its amount.';
