-- Tool forecast: the expected balances of accounts, starting from their last known ones.

create or replace function app.forecast_point(day app.forecast_day, less float8 default 0) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  exponent constant int := (select c.exponent from app.currencies as c where c.code = day.currency);
begin
  return case when day.day is not null then jsonb_build_object(
    'on', day.day, 'low', app.format_minor(round((day.low - less)::numeric), exponent),
    'likely', app.format_minor(round((day.likely - less)::numeric), exponent),
    'high', app.format_minor(round((day.high - less)::numeric), exponent)
  ) end;
end
$$;
comment on function app.forecast_point is 'Returns a day of a forecast minus an amount: {on, low, likely, high}.';

create or replace function app.describe_forecast(days app.forecast_day[], spend_minor bigint default null,
  spend_on date default null) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  ending constant app.forecast_day := days[cardinality(days)];
  lowest app.forecast_day;
  spent app.forecast_day;
begin
  select d.* into lowest from unnest(days) as d order by round(d.likely), d.day limit 1;
  select d.* into spent from unnest(days) as d where d.day >= spend_on order by round(d.likely), d.day limit 1;
  return jsonb_strip_nulls(jsonb_build_object(
    'currency', ending.currency, 'lowest', app.forecast_point(lowest), 'end', app.forecast_point(ending),
    'after_spending', case when spend_minor is not null then jsonb_build_object(
      'amount', app.format_amount(spend_minor, ending.currency), 'on', spend_on,
      'lowest', app.forecast_point(spent, spend_minor), 'end', app.forecast_point(ending, spend_minor)
    ) end
  ));
end
$$;
comment on function app.describe_forecast is
  'Returns the day with the lowest balance and the last day of a forecast: {currency, lowest, end, after_spending?}.';

create or replace function app.list_forecast_days(days app.forecast_day[], events app.forecast_event[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 40;
  shown_id constant text := (days[1]).account_id;
  first constant date := (days[1]).day;
  until constant date := (days[cardinality(days)]).day;
  lowest_on constant date := (select d.day from unnest(days) as d order by round(d.likely), d.day limit 1);
begin
  return (
    with named as (
      select e.*, greatest(e.due_on, first) as day, row_number() over (
        partition by greatest(e.due_on, first) order by abs(e.minor) desc, e.name
      ) as place
      from unnest(events) as e
      where (shown_id is null or e.account_id = shown_id) and e.name is not null
    ), moved as (
      select n.day, sum(abs(n.minor)) as minor,
        array_agg(n.name || ' ' || app.format_amount(n.minor, n.currency) || ' ' || n.currency order by n.place)
          filter (where n.place <= 4) as whys
      from named as n
      group by n.day
    ), ranked as (
      select d::app.forecast_day as day, m.whys, row_number() over (
        order by d.day in (first, lowest_on, until) desc, m.minor desc nulls last, d.day
      ) as place
      from unnest(days) as d
      left join moved as m on m.day = d.day
      where m.day is not null or d.day in (first, lowest_on, until)
        -- The ends of weeks, or of months when there are many.
        or case when until - first > 92 then extract(day from d.day + 1) = 1 else extract(isodow from d.day) = 7 end
    )
    select jsonb_agg(
      app.forecast_point(r.day) || case when r.whys is null then '{}' else jsonb_build_object('changes', r.whys) end
      order by (r.day).day
    )
    from ranked as r where r.place <= max_listed
  );
end
$$;
comment on function app.list_forecast_days is
  'Returns at most 40 days, those with changes and the ends of weeks: [{on, low, likely, high, changes?}].';

create or replace function app.list_assumptions(context app.context, basis app.forecast_basis, account_id text,
  until date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 3;
begin
  return (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'what', a.what, 'name', a.name, 'currency', a.currency, 'since', a.since, 'weeks', a.weeks,
      'amount', app.format_amount(round(a.minor::numeric), a.currency),
      'give_or_take', app.format_amount(round(a.spread::numeric), a.currency)
    )) order by a.worth desc), '[]')
    from (
      select * from (
        select case when list_assumptions.account_id is null then 'usual_spending' else 'usual_flow' end as what,
          p.account as name, p.currency, p.covered_on as since, p.weeks, f.minor,
          f.spread, f.spread * coalesce(p.in_base, 1) as worth
        from unnest(basis.positions) as p
        cross join lateral (
          select until - p.covered_on as days
        ) as h
        cross join lateral (
          select
            case when list_assumptions.account_id is null then p.outside_minor else p.day_minor end * h.days as minor,
            sqrt(app.flow_variance(
              case when list_assumptions.account_id is null then p.outside_variance else p.week_variance end,
              p.weeks, h.days
            )) as spread
        ) as f
        where p.weeks > 0 and (list_assumptions.account_id is null or p.account_id = list_assumptions.account_id)
        union all
        select s.kind, s.name, s.currency, null, null, s.minor, s.spread,
          s.spread * coalesce(app.worth_in(context.base_currency, s.currency, context.today), 1)
        from (
          select e.kind, min(e.name) as name, e.currency, sum(e.minor)::float8 as minor,
            sqrt(sum(((e.down + e.up) / 2) ^ 2)) as spread
          from unnest(basis.events) as e
          where e.id is not null
            and (list_assumptions.account_id is null or e.account_id = list_assumptions.account_id)
          group by e.kind, e.id, e.currency
        ) as s
      ) as x
      where x.spread >= 1
      order by x.worth desc limit most
    ) as a
  );
end
$$;
comment on function app.list_assumptions is
  'Returns the assumptions that cause most of the spread: [{what: usual_spending | usual_flow (of one account, with '
  'transfers) | bill | income, name?, currency, since?, weeks?, amount, give_or_take}].';

create or replace function app.spend_from(context app.context, basis app.forecast_basis, days app.forecast_day[],
  account_id text, arguments jsonb, spend_on date) returns app.forecast_day[]
language plpgsql stable set search_path = '' as $$
declare
  payer app.forecast_position;
  spend_currency text := context.base_currency;
  spend_minor bigint;
begin
  if not arguments ? 'spend' then
    return days;
  end if;
  -- The requested account pays, or the only one.
  select p.* into payer from unnest(basis.positions) as p
  where p.account_id = coalesce(spend_from.account_id, (
    select min(o.account_id) from unnest(basis.positions) as o where o.kind <> 'closed'
    having count(distinct o.account_id) = 1
  ))
  order by p.currency = context.base_currency desc, p.currency limit 1;
  if account_id is not null then
    spend_currency := payer.currency;
  end if;
  spend_minor := app.parse_amount(arguments ->> 'spend', spend_currency, 'spend');
  return array(
    select row(d.account_id, d.currency, d.day, d.low - s.minor, d.likely - s.minor, d.high - s.minor)::app.forecast_day
    from unnest(days) as d
    cross join lateral (
      select case
        when d.day >= spend_on
          and (d.account_id is null or d.account_id = payer.account_id and d.currency = payer.currency)
        then spend_minor * coalesce(app.worth_in(d.currency, spend_currency, context.today), 0) else 0 end as minor
    ) as s
  );
end
$$;
comment on function app.spend_from is
  'Subtracts the argument spend from the days of the total and of the paying account, from its day on.';

create or replace function app.forecast(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_days constant int := 366;
  account constant app.accounts :=
    case when arguments ? 'account' then app.require_account(context, arguments ->> 'account', 'account') end;
  spend_on constant date := case when arguments ? 'spend'
    then coalesce(app.parse_date(context, arguments ->> 'on', 'on'), context.today) end;
  until constant date := coalesce(
    app.parse_date(context, arguments ->> 'until', 'until'),
    date_trunc('month', greatest(context.today + interval '1 month', spend_on)) + interval '1 month - 1 day'
  );
  basis app.forecast_basis;
  days app.forecast_day[];
  shown_id text;
  shown_currency text;
begin
  if until <= context.today or until > context.today + max_days then
    perform app.fail('date_out_of_range.forecast', jsonb_strip_nulls(jsonb_build_object(
      'from', context.today + 1, 'to', context.today + max_days, 'day', until,
      'known', case when until <= context.today then app.describe_balances_around(context, account.id, until) end
    )), 'until');
  elsif spend_on not between context.today and until then
    perform app.fail('date_out_of_range.forecast', jsonb_build_object('from', context.today, 'to', until), 'on');
  end if;
  basis := app.read_forecast(context, until);
  if not exists (
    select from unnest(basis.positions) as p
    where p.account_id is not null and (account.id is null or p.account_id = account.id)
  ) then
    perform app.fail('not_found.balance', jsonb_strip_nulls(jsonb_build_object(
      'account', account.name, 'is_partial', nullif(not identity.sees_everything(), false), 'old', (
        select o from jsonb_array_elements(basis.left_out) as o
        where o ->> 'code' = 'old_balance' and (account.name is null or o ->> 'name' = account.name) limit 1
      )
    )), case when account.id is not null then 'account' end);
  end if;
  days := array(
    select d::app.forecast_day from app.forecast_days(context, basis.positions, basis.events, until) as d
    order by d.account_id nulls first, d.currency, d.day
  );
  -- A single account equals the total.
  select p.account_id, p.currency into shown_id, shown_currency from unnest(basis.positions) as p
  where account.id is not null and p.account_id = account.id
  order by p.currency = context.base_currency desc, p.currency limit 1;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'until', until, 'today', context.today,
      'total', app.describe_forecast(
        array(select d::app.forecast_day from unnest(days) as d where d.account_id is null),
        case when shown_id is null then app.parse_amount(arguments ->> 'spend', context.base_currency, 'spend') end,
        spend_on
      ),
      'accounts', (
        select jsonb_agg(jsonb_build_object(
          'account', p.account, 'known', jsonb_build_object(
            'amount', app.format_amount(p.stated_minor, p.currency), 'on', p.true_on, 'source', p.source
          )
        ) || app.describe_forecast(
          array(
            select d::app.forecast_day from unnest(days) as d
            where d.account_id = p.account_id and d.currency = p.currency
          ),
          case when p.account_id = shown_id and p.currency = shown_currency
            then app.parse_amount(arguments ->> 'spend', p.currency, 'spend') end, spend_on
        ) order by lower(p.account), p.currency)
        from unnest(basis.positions) as p
        where p.account_id is not null and (account.id is null or p.account_id = account.id)
      ),
      'days', app.list_forecast_days(array(
        select d::app.forecast_day from unnest(days) as d
        where d.account_id is not distinct from shown_id and (shown_id is null or d.currency = shown_currency)
      ), basis.events),
      'assumptions', app.list_assumptions(context, basis, shown_id, until),
      'left_out', basis.left_out || app.list_income_notes(context, basis.events, until)
        || case when account.id is null then app.compare_forecast_sums(context, basis, days, until) else '[]' end
        || app.list_unplanned_charges(context, basis)
    ) || coalesce(app.describe_low_balances(context, basis.positions,
      app.spend_from(context, basis, days, account.id, arguments, spend_on), account.id), '{}'),
    'warnings', case when identity.sees_everything() then '[]'
      else jsonb_build_array(app.warning('forecast_partial')) end
  );
end
$$;
comment on function app.forecast is
  'Tool forecast: data {until, today, total, accounts, days, assumptions, left_out, limit?}. days describe the total, '
  'or the requested account.';
