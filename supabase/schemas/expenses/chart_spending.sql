create or replace function app.describe_columns(
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
        'x', s.step, 'y', app.format_minor(coalesce(p.minor, 0), exponent), 'partial',
        case when s.step = any (parts) then true end
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
  'Series of points, one a step, in the order in which they are drawn: the largest first and the rest last; totals has '
  'the sum of each step.';

create or replace function app.chart_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  chart constant text := coalesce(arguments ->> 'chart', 'by_category');
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  earlier constant app.period := app.compared_period(period, 'previous_period', context.today);
  books_begin constant date := app.books_begin(period, earlier);
  -- Null for dates.
  period_name constant text :=
    case when not arguments ?| array['from', 'to'] then coalesce(arguments ->> 'period', 'this_month') end;
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
      (select max(case when unit = 'month' then to_date(p.step, 'YYYY-MM') else p.step::date end)
        from unnest(points) as p)
    ));
  end if;
  if unit is null then
    series := app.describe_bars(points, exponent);
  else
    select c.series, c.totals into series, step_totals
    from app.describe_columns(points, steps, app.chart_parts(period, unit, steps, context.today), exponent) as c;
  end if;
  select coalesce(sum(g.once_minor), 0) as minor, coalesce(sum(g.once_count), 0) as count,
    coalesce(sum(g.once_earlier_minor), 0) as earlier_minor
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
      'total',
      jsonb_build_object('amount', app.format_minor(sums.minor, exponent), 'currency', target, 'count', sums.count),
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
