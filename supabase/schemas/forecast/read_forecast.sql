create type app.forecast_basis as (
  positions app.forecast_position[],
  events app.forecast_event[],
  left_out jsonb
);
comment on type app.forecast_basis is 'The inputs of a forecast. left_out lists the omitted facts: [{code, ...}].';

create or replace function app.find_spoken_flow(context app.context, max_days int, out weeks int,
  out day_minor float8, out week_variance float8)
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  with paid as materialized (
    select p.paid_on, app.signed_minor(p.direction, p.base_minor) as minor
    from app.payments as p
    where p.organization_id = context.organization_id and p.deleted_at is null and p.base_minor is not null
      and p.expense_id not like 'bill\_%' and p.paid_on between context.today - max_days + 1 and context.today
      and not exists (select from app.statement_links as k where k.payment_id = p.id)
  ), span as (
    select (context.today - min(p.paid_on) + 1) / 7 as weeks from paid as p
  ), sums as (
    select (context.today - p.paid_on) / 7 as week, sum(p.minor)::float8 as minor from paid as p group by 1
  )
  select s.weeks, coalesce(sum(w.minor), 0) / nullif(s.weeks, 0) / 7,
    greatest(coalesce(sum(w.minor ^ 2), 0) - coalesce(sum(w.minor), 0) ^ 2 / nullif(s.weeks, 0), 0)
      / nullif(greatest(s.weeks - 1, 1), 0)
  into weeks, day_minor, week_variance
  from span as s
  left join sums as w on w.week < s.weeks
  group by s.weeks;
end
$$;
comment on function app.find_spoken_flow is
  'Returns facts about payments without a statement line or a bill, in the base currency: the weeks of history, the '
  'average per day, and the variance between weeks.';

create or replace function app.add_spoken_flow(context app.context, basis app.forecast_basis)
  returns app.forecast_basis
language plpgsql stable set search_path = '' as $$
declare
  -- A shorter history is not representative of a month.
  min_weeks constant int := 4;
  has_lines constant boolean := exists (select from unnest(basis.positions) as p where p.weeks > 0);
  covered_on constant date := (select max(p.covered_on) from unnest(basis.positions) as p);
  -- With statement lines, this flow is only reported, so two months are enough.
  flow record := app.find_spoken_flow(context, case when has_lines then 61 else 182 end);
  since_minor float8;
  budget_minor float8;
  changed app.forecast_position;
  is_sole constant boolean := cardinality(basis.positions) = 1
    and (basis.positions[1]).currency = context.base_currency;
begin
  if has_lines then
    if flow.weeks >= min_weeks and flow.day_minor < 0 then
      basis.left_out := basis.left_out || jsonb_build_object(
        'code', 'payments_without_line', 'currency', context.base_currency,
        'amount', app.format_amount(round(-flow.day_minor * 30)::numeric, context.base_currency)
      );
    end if;
    return basis;
  end if;
  if coalesce(flow.weeks, 0) < min_weeks then
    -- Budgets of all spending include bills.
    budget_minor := (
      select sum(b.amount_minor * app.worth_in(context.base_currency, b.currency, context.today)
        / case b.per when 'year' then 365.25 else 30.4375 end)
      from app.budgets as b
      where b.deleted_at is null and b.organization_id = context.organization_id
        and (b.category_id is null) = exists (
          select from app.budgets as o
          where o.deleted_at is null and o.organization_id = context.organization_id and o.category_id is null
        )
    );
    if budget_minor is null then
      flow.weeks := 0;
      flow.day_minor := 0;
      basis.left_out := basis.left_out || '{"code":"spending_unknown"}'::jsonb;
    else
      flow.weeks := min_weeks;
      flow.day_minor := least(-budget_minor + coalesce((
        select sum(app.times_a_month(e.frequency, e.every, cardinality(e.month_days)) * e.amount_minor
          * app.worth_in(context.base_currency, e.currency, context.today) / 30.4375)
        from app.expenses as e
        where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active'
          and e.deleted_at is null and (select bool_or(b.category_id is null) from app.budgets as b
            where b.deleted_at is null and b.organization_id = context.organization_id)
      ), 0), 0);
      flow.week_variance := (flow.day_minor * 7 * 0.3) ^ 2;
      basis.left_out := basis.left_out || jsonb_build_object(
        'code', 'budgets_instead', 'currency', context.base_currency,
        'amount', app.format_amount(round(-flow.day_minor * 30)::numeric, context.base_currency)
      );
    end if;
  end if;
  -- Of the payments recorded since the balance, count only the excess over the usual flow.
  since_minor := coalesce((
    select sum(app.signed_minor(p.direction, p.base_minor)) from app.payments as p
    where p.organization_id = context.organization_id and p.deleted_at is null
      and p.expense_id not like 'bill\_%' and p.paid_on > covered_on and p.paid_on <= context.today
      and not exists (select from app.statement_links as k where k.payment_id = p.id)
  ), 0);
  since_minor := least(since_minor - flow.day_minor * (context.today - covered_on), 0);
  if since_minor < 0 then
    basis.events := basis.events || jsonb_populate_record(null::app.forecast_event, jsonb_build_object(
      'account_id', case when is_sole then (basis.positions[1]).account_id end, 'currency', context.base_currency,
      'due_on', context.today, 'minor', since_minor, 'down', 0, 'up', 0, 'kind', 'recorded'
    ));
  end if;
  if flow.weeks = 0 then
    return basis;
  end if;
  changed := case when is_sole then basis.positions[1] end;
  changed.currency := context.base_currency;
  changed.covered_on := covered_on;
  changed.minor := coalesce(changed.minor, 0);
  changed.weeks := flow.weeks;
  changed.day_minor := flow.day_minor;
  changed.outside_minor := flow.day_minor;
  changed.week_variance := flow.week_variance;
  changed.outside_variance := flow.week_variance;
  changed.in_base := 1;
  if is_sole then
    basis.positions := array[changed];
  else
    basis.positions := basis.positions || changed;
    basis.left_out := basis.left_out || '{"code":"spending_in_total_only"}'::jsonb;
  end if;
  return basis;
end
$$;
comment on function app.add_spoken_flow is
  'Adds the usual spending of people without statements, from their recorded payments, otherwise from their budgets. '
  'It counts for the only account, otherwise for the total. Statement lines already contain this spending.';

create or replace function app.read_forecast(context app.context, until date,
  found_positions app.forecast_position[] default null) returns app.forecast_basis
language plpgsql stable set search_path = '' as $$
declare
  max_age constant int := 45;
  known constant app.forecast_position[] := array(
    select p::app.forecast_position
    from unnest(coalesce(found_positions, array(
      select p::app.forecast_position from app.find_positions(context) as p
    ))) as p
    order by lower(p.account), p.currency
  );
  closed constant app.forecast_position[] := array(
    select p::app.forecast_position from unnest(known) as p where p.kind = 'closed'
  );
  basis app.forecast_basis;
  found app.forecast_event[];
begin
  basis.positions := array(
    select p::app.forecast_position from unnest(known) as p where p.covered_on >= context.today - max_age
  );
  found := app.find_bill_events(context, until, basis.positions, known)
    || app.find_income_events(context, until, basis.positions, closed);
  basis.events := array(
    select e::app.forecast_event from unnest(found) as e where e.minor is not null and e.kind <> 'unplaced'
  );
  basis.left_out := coalesce((
    select jsonb_agg(x.said order by x.place)
    from (
      select 1 as place,
        jsonb_build_object('code', 'no_balance', 'names', jsonb_agg(a.name order by lower(a.name))) as said
      from app.accounts as a
      where a.organization_id = context.organization_id and app.sees_account(a)
        and not exists (select from unnest(known) as p where p.account_id = a.id)
      having count(*) > 0
      union all
      -- An empty account without movements counts as closed.
      select 2, jsonb_build_object(
        'code', 'old_balance', 'name', p.account, 'amount', app.format_amount(p.minor, p.currency),
        'currency', p.currency, 'on', p.covered_on
      )
      from unnest(known) as p
      where p.covered_on < context.today - max_age and p.minor <> 0
      union all
      select 3, jsonb_build_object('code', 'no_rate', 'currencies', jsonb_agg(distinct p.currency))
      from (
        select o.currency from unnest(basis.positions) as o where o.in_base is null
        union
        select e.currency from (select distinct x.currency from unnest(basis.events) as x offset 0) as e
        where app.worth_in(context.base_currency, e.currency, context.today) is null
      ) as p
      having count(*) > 0
      union all
      select 4, jsonb_build_object('code', 'bill_without_amount', 'names', jsonb_agg(distinct e.name))
      from unnest(found) as e where e.minor is null having count(*) > 0
      union all
      select 5, jsonb_build_object('code', 'in_total_only', 'names', jsonb_agg(distinct e.name))
      from unnest(basis.events) as e where e.account_id is null having count(*) > 0
      union all
      select 6, jsonb_build_object('code', 'income_unplaced', 'items', jsonb_agg(jsonb_build_object(
        'name', e.name, 'amount', app.format_amount(e.minor, e.currency), 'currency', e.currency, 'on', e.due_on
      ) order by e.due_on, e.name))
      from unnest(found) as e where e.kind = 'unplaced' having count(*) > 0
    ) as x
  ), '[]');
  return app.add_spoken_flow(context, basis);
end
$$;
comment on function app.read_forecast is
  'Returns the inputs of a forecast until a day. Leaves out balances older than 45 days.';
