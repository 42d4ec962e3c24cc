-- Events that will change the balances: bills, income, and payments since the balances.

create type app.forecast_event as (
  account_id text,
  currency text,
  due_on date,
  minor numeric,
  down float8,
  up float8,
  kind text,
  name text,
  id text
);
comment on type app.forecast_event is
  'A change of a balance: minor is the likely amount; down and up are its margins of error. kind: bill or income, '
  'which are expected; paid (bill), received (income) or recorded (spending), which no statement shows yet; unplaced '
  '(income), which a balance may already include. Without account_id, only the total changes.';

create or replace function app.sole_account(positions app.forecast_position[]) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select min(p.account_id) from unnest(positions) as p where p.kind = 'account'
    having count(distinct p.account_id) = 1
  );
end
$$;
comment on function app.sole_account is 'Returns the only account that isn''t a card; null with several.';

create or replace function app.find_bill_events(context app.context, until date, positions app.forecast_position[],
  known app.forecast_position[]) returns app.forecast_event[]
language plpgsql stable set search_path = '' set jit = 'off' set plan_cache_mode = 'force_generic_plan' as $$
declare
  -- Nine of ten amounts lie within this many standard deviations.
  deviations constant float8 := 1.7;
  sole_id constant text := app.sole_account(positions);
  covered_on constant date := (select max(p.covered_on) from unnest(positions) as p);
begin
  return array(
    with due as materialized (
      select x.* from app.expected_in_period(context, null, until) as x
    ), paid as materialized (
      select p.expense_id, p.currency, p.paid_on, app.signed_minor(p.direction, p.amount_minor) as minor
      from app.payments as p
      where p.organization_id = context.organization_id and p.deleted_at is null and p.expense_id like 'bill\_%'
        and p.paid_on > (select min(p.covered_on) from unnest(positions) as p) and p.paid_on <= context.today + 1
        and not exists (select from app.statement_links as k where k.payment_id = p.id)
    ), homes as materialized (
      select b.id, b.name, coalesce(m.account_id, (
        select l.account_id
        from (
          select p.id, p.paid_on, p.recorded_seq from app.payments as p
          where p.expense_id = b.id and p.deleted_at is null
          -- Older payments add little, and row-level security checks every link.
          order by p.paid_on desc, p.recorded_seq desc limit 3
        ) as p
        join app.statement_links as k on k.payment_id = p.id
        join app.statement_lines as l on l.id = k.line_id
        order by p.paid_on desc, p.recorded_seq desc limit 1
      )) as account_id
      from app.expenses as b
      left join (select k.account_id, unnest(k.bill_ids) as bill_id from unnest(known) as k) as m on m.bill_id = b.id
      where b.id in (select d.expense_id from due as d union select p.expense_id from paid as p)
    ), placed as materialized (
      select h.id, h.name,
        case when h.account_id is null or c.account_id is not null then coalesce(c.heir_id, sole_id)
          else h.account_id end as account_id,
        -- Payments to that account, such as to a card, are part of the usual flow.
        h.account_id is not null and c.account_id is null and not exists (
          select from unnest(positions) as p where p.account_id = h.account_id
        ) as is_elsewhere
      from homes as h
      left join lateral (
        select o.account_id, o.heir_id from unnest(known) as o
        where o.account_id = h.account_id and o.kind = 'closed' limit 1
      ) as c on true
    ), varied as materialized (
      select d.expense_id, d.currency, (
        select case when count(*) >= 3 then stddev_samp(o.expected_minor) * deviations end
        from (
          select o.expected_minor from app.expense_occurrences as o
          where o.expense_id = d.expense_id and o.expected_minor is not null and o.currency = d.currency
            and o.due_on < context.today
          order by o.scheduled_on desc limit 12
        ) as o
      )::float8 as spread
      from (select distinct d.expense_id, d.currency from due as d where d.is_estimate) as d
    )
    select x::app.forecast_event
    from (
      select b.account_id, d.currency, d.due_on, -d.expected_minor::numeric as minor, s.spread as down,
        s.spread as up, 'bill' as kind, b.name, b.id
      from due as d
      join placed as b on b.id = d.expense_id and b.is_elsewhere is not true
      left join varied as v on v.expense_id = d.expense_id and v.currency = d.currency
      cross join lateral (
        select case when d.is_estimate then coalesce(v.spread, d.expected_minor * 0.2) else 0 end as spread
      ) as s
      union all
      select b.account_id, p.currency, p.paid_on, p.minor, 0, 0, 'paid', b.name, b.id
      from paid as p
      join placed as b on b.id = p.expense_id and b.is_elsewhere is not true
      where p.paid_on > coalesce(
        (select max(o.covered_on) from unnest(positions) as o where o.account_id = b.account_id), covered_on
      )
    ) as x
  );
end
$$;
comment on function app.find_bill_events is
  'Returns the open and future dates of bills until a day, and bill payments later than the balances. A bill belongs '
  'to the account of its latest charge; if that one is closed, to its heir, otherwise to the only account. Leaves out '
  'bills of accounts without a balance. A date without an amount has no minor.';

create or replace function app.find_income_account(context app.context, income app.incomes) returns text
language plpgsql stable set search_path = '' as $$
declare
  days constant int := 420;
  words constant text[] := app.income_words(income.name);
begin
  return (
    select i.account_id
    from app.incomes as i
    where i.organization_id = context.organization_id and i.deleted_at is null and i.account_id is not null
      and i.received_on >= income.received_on - days and i.currency = income.currency
      and app.compare_names(app.income_words(i.name), words) >= 2
    order by i.received_on desc, i.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_income_account is 'Returns the account of the latest income from the payer of an income.';

create or replace function app.find_income_events(context app.context, until date, positions app.forecast_position[],
  closed app.forecast_position[]) returns app.forecast_event[]
language plpgsql stable set search_path = '' set jit = 'off' set plan_cache_mode = 'force_generic_plan' as $$
declare
  -- A salary may arrive this many days late.
  late_days constant int := 5;
  sole_id constant text := app.sole_account(positions);
  first_on constant date := (select min(p.covered_on) from unnest(positions) as p);
  covered_on constant date := (select max(p.covered_on) from unnest(positions) as p);
begin
  if first_on is null then
    return '{}';
  end if;
  return array(
    select x::app.forecast_event
    from (
      select h.account_id, i.currency, i.day as due_on, i.likely::numeric as minor, (i.likely - i.low)::float8 as down,
        (i.high - i.likely)::float8 as up,
        case when i.kind = 'received' and h.account_id is null and i.day <= covered_on then 'unplaced' else i.kind end
          as kind, i.name, i.income_id as id
      from (
        select e.account_id, e.currency, e.day, e.low, e.likely, e.high, 'income' as kind, e.name, e.income_id
        from app.expected_incomes(context, first_on - late_days, until) as e
        where e.source <> 'stopped'
        union all
        select coalesce(r.account_id, app.find_income_account(context, r)), r.currency, r.received_on, r.amount_minor,
          r.amount_minor, r.amount_minor, 'received', r.name, r.id
        from app.incomes as r
        where r.organization_id = context.organization_id and r.deleted_at is null and r.line_id is null
          and r.received_on > first_on and r.received_on <= context.today + 1
      ) as i
      cross join lateral (
        select coalesce(
          (select o.heir_id from unnest(closed) as o where o.account_id = i.account_id limit 1),
          (
            select p.account_id from unnest(positions) as p
            where p.account_id = i.account_id and p.kind <> 'closed' limit 1
          ),
          sole_id
        ) as account_id
      ) as h
      where i.day > coalesce(
        (select max(p.covered_on) from unnest(positions) as p where p.account_id = h.account_id), covered_on
      ) - case i.kind when 'income' then late_days else 0 end
        or i.kind = 'received' and h.account_id is null
    ) as x
  );
end
$$;
comment on function app.find_income_events is
  'Returns outstanding income expected until a day, and income later than the balances that no statement shows yet. '
  'Income without an account is unplaced if it is later than only some of the balances.';
