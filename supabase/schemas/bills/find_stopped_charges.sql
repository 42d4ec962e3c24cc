-- Finds bills whose charges stopped.

create or replace function app.find_stopped_charges(context app.context) returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' as $$
declare
  -- A charge may be booked some days early or late.
  days constant int := 10;
  kept_days constant int := 420;
begin
  return query
    with unproven as materialized (
      select d.expense_id, d.due_on, null::bigint as minor from app.passed_occurrences(context) as d
      union all
      -- An automatic payment is only an assumption until a statement shows it.
      select o.expense_id, o.due_on, p.amount_minor
      from app.payments as p
      join app.expense_occurrences as o on o.id = p.occurrence_id
      where p.organization_id = context.organization_id and p.source = 'autopay' and p.deleted_at is null
        and p.paid_on between context.today - kept_days and context.today and app.is_assumed(p)
    ), charged as materialized (
      select b.id, l.account_id, l.booked_on
      from (select distinct u.expense_id from unproven as u) as u
      join app.expenses as b on b.id = u.expense_id
      cross join lateral (
        select x.id
        from (
          select p.id, p.paid_on, p.recorded_seq
          from app.payments as p
          where p.expense_id = b.id and p.deleted_at is null
          union all
          -- Earlier charges may be expenses, from before the bill was added.
          select p.id, p.paid_on, p.recorded_seq
          from app.expenses as e
          join app.payments as p on p.expense_id = e.id and p.deleted_at is null
          where e.organization_id = context.organization_id and e.match_key = b.match_key and e.kind = 'one_off'
            and e.deleted_at is null
        ) as x
        where exists (select from app.statement_links as k where k.payment_id = x.id)
        order by x.paid_on desc, x.recorded_seq desc
        limit 1
      ) as latest
      join app.statement_links as k on k.payment_id = latest.id
      join app.statement_lines as l on l.id = k.line_id
    ), missed as (
      select c.id, c.account_id, u.due_on, count(u.minor) over later as paid_count,
        sum(u.minor) over later as paid_minor
      from charged as c
      join unproven as u on u.expense_id = c.id and u.due_on > c.booked_on
      window later as (partition by c.id order by u.due_on rows between current row and unbounded following)
    )
    -- The statements may cover only a later date.
    select distinct on (o.id) o.due_on, jsonb_strip_nulls(jsonb_build_object(
      'bill_id', b.id, 'name', b.name, 'due_on', o.due_on, 'account', a.name,
      'statements_to', greatest(lines.through, shown.proven_to),
      'recorded', nullif(o.paid_count, 0), 'amount', app.format_amount(o.paid_minor::bigint, b.currency),
      'currency', case when o.paid_minor is not null then b.currency end
    ))
    from missed as o
    join app.expenses as b on b.id = o.id
    join app.accounts as a on a.id = o.account_id
    cross join lateral (
      select max(n.booked_on) as through,
        bool_or(n.booked_on between o.due_on - days and o.due_on) and
          bool_or(n.booked_on between o.due_on and o.due_on + days) as is_covered,
        bool_or(n.booked_on between o.due_on - days and o.due_on + days and n.direction = 'out' and (
          n.amount_minor = b.amount_minor or app.names_resemble(n.text, null, b.name, b.payee)
        )) as is_charged
      from app.statement_lines as n
      where n.account_id = a.id and n.booked_on >= o.due_on - days
    ) as lines
    cross join lateral (
      -- The lines between two balances are complete if they add up.
      select case when bool_and(s.difference = 0) and min(s.since) <= o.due_on - days then max(s.true_on) end
        as proven_to
      from (
        select r.*, lag(r.true_on) over (partition by r.currency order by r.true_on) as since
        from app.read_balances(a.id) as r
      ) as s
      where s.currency = b.currency and s.since < o.due_on + days and s.true_on > o.due_on - days
    ) as shown
    where identity.sees_everything() and (b.status = 'active' or o.paid_count > 0)
      and not coalesce(lines.is_charged, false)
      and (lines.is_covered and lines.through >= o.due_on + days or shown.proven_to >= o.due_on + days)
      and not exists (
        select from app.payments as p
        join app.expense_occurrences as x on x.id = p.occurrence_id
        where x.expense_id = b.id and x.due_on = o.due_on and p.deleted_at is null and not app.is_assumed(p)
      )
    order by o.id, o.due_on;
end
$$;
comment on function app.find_stopped_charges is
  'Returns active bills, and others with automatic payments, with a charge in an account''s statements and a later '
  'date without one, although the statements cover that date. recorded and amount describe the automatic payments from '
  'that date on. Returns nothing to people who can''t see every line.';

create or replace function app.warn_of_disproven(context app.context, filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  -- Most organizations have no statements, or only proven payments.
  if not exists (select from app.statement_links as k where k.organization_id = context.organization_id)
    or not exists (
      select from app.expenses as b
      join app.payments as p on p.expense_id = b.id
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.autopay and b.deleted_at is null
        and p.paid_on between coalesce(filter.from_on, '-infinity') and coalesce(filter.to_on, 'infinity')
        and p.deleted_at is null and app.is_assumed(p)
    ) then
    return '[]';
  end if;
  return (
    select case when count(*) = 0 then '[]'
      else jsonb_build_array(app.warning('not_in_statements', jsonb_build_object('bills', jsonb_agg(x.bill)))) end
    from (
      select jsonb_build_object(
        'name', s.finding -> 'name', 'account', s.finding -> 'account',
        'dates', jsonb_agg(p.paid_on order by p.paid_on),
        'amount', app.format_amount(sum(p.amount_minor), p.currency), 'currency', p.currency
      ) as bill
      from app.find_stopped_charges(context) as s
      join app.find_payments(filter) as f on f.expense_id = s.finding ->> 'bill_id'
      join app.payments as p on p.id = f.payment_id
      join app.expense_occurrences as o on o.id = p.occurrence_id
      where o.due_on between s.rank and (s.finding ->> 'statements_to')::date and app.is_assumed(p)
      group by s.finding, p.currency
      order by min(p.paid_on), s.finding ->> 'name'
    ) as x
  );
end
$$;
comment on function app.warn_of_disproven is
  'Returns a warning about automatic payments that match a filter but are missing in the statements: {bills: [{name, '
  'account, dates, amount, currency}]}.';
