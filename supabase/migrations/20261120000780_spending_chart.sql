-- show_spending_chart: what the chart draws, as series of points. Sums are those of summarize_spending and list_bills; nothing is added up here
-- that they would add up otherwise.

create function app.chart_unit(period app.period) returns text
language plpgsql immutable set search_path = '' as $$
declare
  days constant int := period.to_on - period.from_on + 1;
begin
  return case when days <= 45 then 'day' when days <= 186 then 'week' else 'month' end;
end
$$;
comment on function app.chart_unit is 'The step of a time axis: at most about six weeks of days, half a year of weeks, else months.';

create function app.chart_steps(period app.period, unit text, last_day date) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select app.group_key(unit, null, null, null, d::date, null, null)
    from generate_series(date_trunc(unit, period.from_on::timestamp), last_day::timestamp, ('1 ' || unit)::interval) as d
    order by d
  );
end
$$;
comment on function app.chart_steps is 'The keys of every step of a time axis, those in which nothing happened included.';

create function app.chart_parts(period app.period, unit text, steps text[], today date) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array(
    select s.step
    from unnest(steps) as s (step)
    cross join lateral (select case when unit = 'month' then to_date(s.step, 'YYYY-MM') else s.step::date end as begins_on) as b
    where unit <> 'day'
      and (b.begins_on < period.from_on or (b.begins_on + ('1 ' || unit)::interval)::date > least(period.to_on, today) + 1)
  );
end
$$;
comment on function app.chart_parts is 'The steps that are not whole: of which the period has only a part, or which still run. A day is always whole.';

create type app.chart_point as (
  label text,
  head_minor numeric,
  is_rest boolean,
  step text,
  minor numeric
);
comment on type app.chart_point is 'A sum of one series at one step; head_minor is the sum of its series, by which series are ordered.';

create function app.chart_points(spending app.spending, dimensions text[], top int) returns app.chart_point[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    with named as (
      select case when dimensions[1] = 'category' then (select c.name from app.categories as c where c.id = g.key_1) end as label,
        case when dimensions[1] = 'category' then g.key_2 else g.key_1 end as step, g.minor
      from unnest(spending.groups) as g
      where g.count > 0
    ), ranked as (
      select h.*, dense_rank() over (order by h.head_minor desc, h.label) > top as is_rest
      from (select n.*, sum(n.minor) over (partition by n.label) as head_minor from named as n) as h
    ), folded as (
      select case when not r.is_rest then r.label end as label, r.is_rest, r.step, sum(r.minor) as minor
      from ranked as r
      group by 1, 2, 3
    )
    select (f.label, sum(f.minor) over (partition by f.is_rest, f.label), f.is_rest, f.step, f.minor)::app.chart_point
    from folded as f
  );
end
$$;
comment on function app.chart_points is
  'Sums by series and step; categories beyond the largest ones are one series, the rest. Without a label: what has no category, or everything.';

create function app.describe_bars(points app.chart_point[], exponent int) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_array(jsonb_build_object('points', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'x', p.label, 'is_rest', nullif(p.is_rest, false), 'y', app.format_minor(p.minor, exponent),
      'share', case when p.total > 0 and p.minor >= 0 then round(p.minor * 100 / p.total) end
    )) order by p.is_rest, p.minor desc, p.label), '[]')
    from (select p.*, sum(p.minor) over () as total from unnest(points) as p) as p
  )));
end
$$;
comment on function app.describe_bars is 'One bar a category, the largest first and the rest last: one series, whose points are the categories; share is in percent.';

create function app.describe_columns(
  points app.chart_point[], steps text[], parts text[], exponent int, out series jsonb, out totals jsonb
) returns record
language plpgsql immutable set search_path = '' as $$
begin
  select
    coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'label', l.label, 'is_rest', nullif(l.is_rest, false), 'points', l.points
    )) order by l.is_rest, l.head_minor desc, l.label), '[]')
  into series
  from (
    select l.label, l.is_rest, l.head_minor, jsonb_agg(
      jsonb_build_object(
        'x', s.step, 'y', app.format_minor(coalesce(p.minor, 0), exponent), 'partial', case when s.step = any (parts) then true end
      ) order by s.place
    ) as points
    from (select distinct p.label, p.is_rest, p.head_minor from unnest(points) as p) as l
    cross join unnest(steps) with ordinality as s (step, place)
    left join unnest(points) as p on p.label is not distinct from l.label and p.is_rest = l.is_rest and p.step = s.step
    group by l.label, l.is_rest, l.head_minor
  ) as l;
  select jsonb_agg(app.format_minor(coalesce(t.minor, 0), exponent) order by s.place) into totals
  from unnest(steps) with ordinality as s (step, place)
  left join (select p.step, sum(p.minor) as minor from unnest(points) as p group by p.step) as t on t.step = s.step;
end
$$;
comment on function app.describe_columns is
  'Series of points, one a step, in the order in which they are drawn: the largest first and the rest last; totals has the sum of each step.';

create function app.chart_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  chart constant text := coalesce(arguments ->> 'chart', 'by_category');
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  earlier constant app.period := app.compared_period(period, 'previous_period', context.today);
  books_begin constant date := app.books_begin(period, earlier);
  -- Null for dates.
  period_name constant text := case when not arguments ?| array['from', 'to'] then coalesce(arguments ->> 'period', 'this_month') end;
  unit constant text := case when chart <> 'by_category' then app.chart_unit(period) end;
  dimensions constant text[] := array_remove(array[case when chart <> 'over_time' then 'category' end, unit], null);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  spending app.spending;
  points app.chart_point[];
  steps text[];
  series jsonb;
  step_totals jsonb;
  sums record;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  spending := app.sum_spending(context, filter, earlier, null, dimensions, target);
  points := app.chart_points(spending, dimensions, case chart when 'by_category' then 12 else 5 end);
  if unit is not null then
    steps := app.chart_steps(period, unit, greatest(
      least(period.to_on, context.today), period.from_on,
      (select max(case when unit = 'month' then to_date(p.step, 'YYYY-MM') else p.step::date end) from unnest(points) as p)
    ));
  end if;
  if unit is null then
    series := app.describe_bars(points, exponent);
  else
    select c.series, c.totals into series, step_totals
    from app.describe_columns(points, steps, app.chart_parts(period, unit, steps, context.today), exponent) as c;
  end if;
  select coalesce(sum(g.once_minor), 0) as minor, coalesce(sum(g.once_count), 0) as count, coalesce(sum(g.once_earlier_minor), 0) as earlier_minor
  into sums
  from unnest(spending.groups) as g;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', chart,
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'name', period_name),
      'currency', target,
      'unit', unit,
      'series', series,
      'step_totals', step_totals,
      'total', jsonb_build_object('amount', app.format_minor(sums.minor, exponent), 'currency', target, 'count', sums.count),
      'compared', case when sums.earlier_minor > 0 and books_begin is null then jsonb_build_object(
        'from', earlier.from_on, 'to', earlier.to_on, 'amount', app.format_minor(sums.earlier_minor, exponent),
        'change_percent', round((sums.minor - sums.earlier_minor) * 100 / sums.earlier_minor, 1),
        'whole_percent', round((sums.minor - sums.earlier_minor) * 100 / sums.earlier_minor)
      ) end,
      -- Said where a comparison would stand otherwise.
      'books_begin', case when sums.earlier_minor > 0 then books_begin end,
      'unconverted', spending.unconverted
    ),
    'warnings', case
      when spending.unconverted = '[]' then '[]'::jsonb
      else jsonb_build_array(app.warning('rate_missing.of_chart', jsonb_build_object('into', target)))
    end
  );
end
$$;
comment on function app.chart_spending is 'Charts of what was spent: by category, over time, or both.';

create function app.chart_upcoming_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  -- A month from now unless days are given: on the 30th, "this month" would show one day.
  last_day constant date := coalesce(filter.to_on, greatest(filter.from_on, context.today) + 30);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  into_exponent constant int := app.currency_exponent(target, 'in_currency');
  into_rate constant app.rate := app.find_rate(target, context.today);
  max_lines constant int := 60;
  due record;
  warnings jsonb := '[]';
begin
  if last_day > context.today + 3660 then
    perform app.fail('date_out_of_range.chart_too_long', jsonb_build_object('date', last_day, 'years', 10), 'to');
  end if;
  with expected as materialized (
    select x.expense_id, b.name, b.frequency = 'daily' as is_daily, x.due_on, x.currency, x.expected_minor,
      case x.currency when target then x.expected_minor else app.convert_minor(x.expected_minor, rate.per_euro, c.exponent, into_rate.per_euro, into_exponent) end as minor
    from app.expected_in_period(context, filter.from_on, last_day) as x
    join app.expenses as b on b.id = x.expense_id
    join app.currencies as c on c.code = x.currency
    left join lateral app.rates_as_of(x.currency, context.today) as rate on x.currency <> target
    where filter.category_ids is null or coalesce(x.category_id, '') = any (filter.category_ids)
  ), lines as (
    -- What falls due day by day is one line: a month of breakfast rolls would bury the rent.
    select e.expense_id, e.name, min(e.due_on) as due_on, max(e.due_on) as last_on, count(*) as dates, sum(e.minor) as minor
    from expected as e
    where e.minor is not null
    group by e.expense_id, e.name, e.due_on < context.today, case when not e.is_daily then e.due_on end
  ), shown as (
    select l.*, row_number() over (order by l.due_on, l.name, l.expense_id) as place from lines as l
  ), bills as (
    select s.expense_id, s.name, min(s.place) as place, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'x', s.due_on, 'y', app.format_minor(s.minor, into_exponent), 'overdue', case when s.due_on < context.today then true end,
      'dates', nullif(s.dates, 1), 'to', nullif(s.last_on, s.due_on)
    )) order by s.place) as points
    from shown as s
    where s.place <= max_lines
    group by s.expense_id, s.name
  )
  select
    coalesce((select jsonb_agg(jsonb_build_object('label', b.name, 'bill_id', b.expense_id, 'points', b.points) order by b.place) from bills as b), '[]') as series,
    (select coalesce(sum(e.minor), 0) from expected as e) as minor,
    (select count(*) from lines) as line_count,
    (select coalesce(sum(l.dates), 0) from lines as l) as count,
    (select coalesce(sum(l.dates), 0) from lines as l where l.due_on < context.today) as overdue_count,
    (select min(l.due_on) from lines as l) as first_on,
    array(select distinct e.name from expected as e where e.expected_minor is null order by e.name) as unknown_amounts,
    (
      select coalesce(jsonb_agg(jsonb_build_object('currency', u.currency, 'amount', app.format_amount(u.minor, u.currency), 'count', u.count) order by u.currency), '[]')
      from (
        select e.currency, sum(e.expected_minor) as minor, count(*) as count from expected as e
        where e.minor is null and e.expected_minor is not null group by e.currency
      ) as u
    ) as unconverted
  into due;
  if due.unconverted <> '[]' then
    warnings := warnings || app.warning('rate_missing.of_upcoming', jsonb_build_object('into', target));
  end if;
  if due.unknown_amounts <> '{}' then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', due.unknown_amounts));
  end if;
  if due.line_count > max_lines then
    warnings := warnings || app.warning('truncated', jsonb_build_object('shown', max_lines, 'lines', due.line_count));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', 'upcoming_bills',
      'period', jsonb_build_object('from', least(due.first_on, coalesce(filter.from_on, context.today)), 'to', last_day),
      'currency', target,
      'unit', 'day',
      'series', due.series,
      'total', jsonb_build_object('amount', app.format_minor(due.minor, into_exponent), 'currency', target, 'count', due.count, 'overdue', due.overdue_count),
      'unconverted', due.unconverted
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.chart_upcoming_bills is 'Chart of what is overdue and what bills will take from now on, date by date, at today''s rates.';

create function app.show_spending_chart(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The contract gives the period a value even when dates are given; dates say more.
  meant constant jsonb := case when arguments ?| array['from', 'to'] then arguments - 'period' else arguments end;
begin
  return case when arguments ->> 'chart' = 'upcoming_bills' then app.chart_upcoming_bills(context, meant) else app.chart_spending(context, meant) end;
end
$$;
comment on function app.show_spending_chart is 'Tool show_spending_chart: data {chart, period, currency, unit?, series, step_totals?, total, compared?, books_begin?, unconverted}.';

revoke all on function
  app.chart_unit, app.chart_steps, app.chart_parts, app.chart_points, app.describe_bars, app.describe_columns,
  app.chart_spending, app.chart_upcoming_bills, app.show_spending_chart from public, anon;
grant execute on function
  app.chart_unit, app.chart_steps, app.chart_parts, app.chart_points, app.describe_bars, app.describe_columns,
  app.chart_spending, app.chart_upcoming_bills, app.show_spending_chart to authenticated, service_role;
