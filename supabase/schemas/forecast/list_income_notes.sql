-- The notes of a forecast about its income, its accounts and charges without a bill.

create or replace function app.list_income_notes(context app.context, events app.forecast_event[], until date)
  returns jsonb
language plpgsql stable set search_path = '' set jit = 'off' as $$
declare
  -- A forecast ignores older balances.
  past_days constant int := 45;
  ahead_days constant int := 366;
begin
  return (
    with expected as materialized (
      select e.* from app.expected_incomes(context, context.today - past_days, until + ahead_days) as e
    ), late as (
      select distinct on (e.income_id) e.*, exists (
        select from unnest(events) as v where v.kind = 'income' and v.id = e.income_id and v.due_on = e.day
      ) as is_counted
      from expected as e
      where e.day < context.today and e.source <> 'stopped'
      order by e.income_id, e.day desc
    ), notes as (
      select 1 as place, l.day as sort_on, jsonb_build_object(
        'code', 'income_late', 'name', l.name, 'amount', app.format_amount(l.likely, l.currency),
        'currency', l.currency, 'on', l.day, 'is_counted', l.is_counted
      ) as said
      from late as l
      union all
      select 2, s.day, jsonb_build_object(
        'code', 'income_stopped', 'name', s.name, 'amount', app.format_amount(s.likely, s.currency),
        'currency', s.currency, 'on', s.day
      )
      from expected as s
      where s.source = 'stopped'
      union all
      select 3, a.day, jsonb_build_object('code', 'income_alike', 'name', u.name, 'other', a.name, 'on', a.day)
      from (
        select from expected as e having count(distinct e.income_id) > 1 and bool_or(e.source = 'said')
      ) as q
      cross join lateral app.find_similar_incomes(context, context.today, until) as a
      join app.incomes as u on u.id = a.rule_id
      union all
      (
        select 4, e.day, jsonb_build_object(
          'code', 'income_later', 'name', e.name, 'amount', app.format_amount(e.likely, e.currency),
          'currency', e.currency, 'on', e.day
        )
        from expected as e
        where e.day > until and not exists (select from unnest(events) as v where v.kind = 'income')
        order by e.day, e.name
        limit 1
      )
    )
    select case when exists (select from unnest(events) as v where v.kind = 'income') or exists (select from notes)
      then coalesce((select jsonb_agg(n.said order by n.place, n.sort_on, n.said ->> 'name') from notes as n), '[]')
      else '[{"code":"no_income"}]' end
  );
end
$$;
comment on function app.list_income_notes is
  'Returns the notes about income: [{code: income_late (overdue) | income_stopped (a regular payer stopped paying) | '
  'income_alike (possibly counted twice) | income_later (the next one is after the forecast) | no_income}].';

create or replace function app.compare_forecast_sums(context app.context, basis app.forecast_basis,
  days app.forecast_day[], until date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case when round(s.total) <> round(s.accounts) then jsonb_build_array(jsonb_build_object(
      'code', 'accounts_differ', 'amount', app.format_amount(round(s.accounts)::bigint, context.base_currency),
      'total', app.format_amount(round(s.total)::bigint, context.base_currency), 'currency', context.base_currency
    )) else '[]' end
    from (
      select max(d.likely) filter (where d.account_id is null) as total,
        sum(d.likely * p.in_base) filter (where d.account_id is not null) as accounts
      from unnest(days) as d
      left join unnest(basis.positions) as p on p.account_id = d.account_id and p.currency = d.currency
      where d.day = until
    ) as s
  );
end
$$;
comment on function app.compare_forecast_sums is
  'Returns a note if the accounts of a forecast do not add up to its total: [{code: accounts_differ, amount: their '
  'sum, total, currency}], otherwise [].';

create or replace function app.list_unplanned_charges(context app.context, basis app.forecast_basis) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 10;
begin
  -- Without a usual flow, a forecast does not include these charges.
  if not exists (select from unnest(basis.positions) as p where p.weeks > 0)
    or basis.left_out @> '[{"code":"budgets_instead"}]' then
    return '[]';
  end if;
  return (
    select coalesce(jsonb_agg(x.said), '[]')
    from (
      select jsonb_build_object(
        'code', 'recurring_unplanned', 'count', count(*),
        'items', jsonb_agg(f.finding - array['lowest', 'highest', 'charges', 'first_on', 'last_on', 'category', 'ids']
          order by f.place) filter (where f.place <= most)
      ) as said
      from (
        select r.finding, row_number() over (order by (r.finding ->> 'amount')::numeric desc, r.finding ->> 'name')
          as place
        from app.find_recurring_charges(context, '-infinity') as r
        where r.finding ->> 'frequency' <> 'weekly'
      ) as f
      having count(*) > 0
    ) as x
  );
end
$$;
comment on function app.list_unplanned_charges is
  'Returns a note about recurring charges without a bill, which the usual flow spreads over the days: [{code: '
  'recurring_unplanned, count, items: [{name, amount, currency, frequency, every, next_on}]}], otherwise [].';
