-- The records that a statement row can match: a payment, its charge, its form before a merge, a split as one payment,
-- or an unpaid date of a bill.

create type app.book_entry as (
  key text,
  payment_ids text[],
  bill_id text,
  due_on date,
  expense_id text,
  day date,
  amount_minor bigint,
  currency text,
  direction text,
  base_minor bigint,
  is_open boolean,
  is_frequent boolean,
  seq bigint
);
comment on type app.book_entry is
  'A record that a statement row can match; each key is matched once. is_open: the amount is an estimate, or null if '
  'the date of a bill has none. is_frequent: the bill is due every few days, so one of its dates is near any day.';

create or replace function app.list_entries(context app.context, first_day date, last_day date)
  returns setof app.book_entry
language plpgsql stable rows 2000 set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  return query
    with paid as materialized (
      select p.*
      from app.payments as p
      where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
        and p.deleted_at is null
    )
    select p.id, array[p.id], null::text, null::date, p.expense_id, p.paid_on, p.amount_minor, p.currency, p.direction,
      p.base_minor, p.is_estimate and not app.is_closed(context.organization_id, p.paid_on), false, p.recorded_seq
    from paid as p
    where p.split_id is null
    union all
    select p.id, array[p.id], null, null, p.expense_id, p.paid_on, p.charged_minor, p.charged_currency, p.direction,
      p.base_minor, false, false, p.recorded_seq
    from paid as p
    where p.split_id is null and p.charged_minor > 0
    union all
    select k.id, array[k.id], null, null, p.expense_id, p.paid_on, p.amount_minor, p.currency, p.direction,
      p.base_minor, false, false, p.recorded_seq
    from app.payments as p
    cross join lateral (
      select k.id from app.payments as k
      where k.id = p.merged_into and k.deleted_at is null and k.split_id is null
      offset 0
    ) as k
    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.merged_into is not null
    union all
    select p.split_id, array_agg(p.id order by p.recorded_seq), null, null, min(p.expense_id), p.paid_on,
      sum(f.minor)::bigint, f.currency, p.direction, sum(p.base_minor)::bigint, false, false, min(p.recorded_seq)
    from paid as p
    cross join lateral (
      select p.amount_minor as minor, p.currency union all select p.charged_minor, p.charged_currency
    ) as f
    where p.split_id is not null and f.minor is not null
    group by p.split_id, p.paid_on, p.direction, f.currency
    union all
    select b.id || ':' || o.due_on, null, b.id, o.due_on, b.id, o.due_on, m.minor, o.currency, 'out',
      (app.value_in_base(context.base_currency, m.minor, o.currency, o.due_on)).base_minor,
      m.minor is null or b.amount_mode <> 'fixed' and o.amount_source = 'rule', b.frequency in ('daily', 'weekly'),
      b.recorded_seq
    from app.expense_occurrences as o
    cross join lateral (
      select b.* from app.expenses as b
      where b.id = o.expense_id and b.deleted_at is null
      offset 0
    ) as b
    cross join lateral (
      select coalesce(o.expected_minor - o.paid_minor, case when o.currency = b.currency then u.minor end) as minor
      from app.usual_amount(b.id, b.amount_minor, b.currency) as u
    ) as m
    where o.organization_id = context.organization_id and o.status = 'open' and o.due_on between first_day and last_day
      and (m.minor > 0 or m.minor is null);
end
$$;
comment on function app.list_entries is
  'Returns the payments of some days in every form that a statement may show, and the open due dates of bills.';
