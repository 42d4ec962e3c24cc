-- show_spending_chart: what the chart draws, as series of points. Sums are those of summarize_spending and list_bills;
-- nothing is added up differently here.

create or replace function app.chart_unit(period app.period) returns text
language plpgsql immutable set search_path = '' as $$
declare
  days constant int := period.to_on - period.from_on + 1;
begin
  return case when days <= 45 then 'day' when days <= 186 then 'week' else 'month' end;
end
$$;
comment on function app.chart_unit is
  'The step of a time axis: at most about six weeks of days, half a year of weeks, else months.';

create or replace function app.chart_steps(period app.period, unit text, last_day date) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select app.group_key(unit, null, null, null, d::date, null, null)
    from generate_series(date_trunc(unit, period.from_on::timestamp), last_day::timestamp, ('1 ' || unit)::interval)
      as d
    order by d
  );
end
$$;
comment on function app.chart_steps is
  'The keys of every step of a time axis, those in which nothing happened included.';

create or replace function app.chart_parts(period app.period, unit text, steps text[], today date) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array(
    select s.step
    from unnest(steps) as s (step)
    cross join lateral (select case when unit = 'month' then to_date(s.step, 'YYYY-MM') else s.step::date end
      as begins_on) as b
    where unit <> 'day'
      and (b.begins_on < period.from_on
        or (b.begins_on + ('1 ' || unit)::interval)::date > least(period.to_on, today) + 1)
  );
end
$$;
comment on function app.chart_parts is
  'The steps that are not whole: of which the period has only a part, or which still run. A day is always whole.';

create type app.chart_point as (
  label text,
  head_minor numeric,
  is_rest boolean,
  step text,
  minor numeric
);
comment on type app.chart_point is
  'A sum of one series at one step; head_minor is the sum of its series, by which series are ordered.';

create or replace function app.chart_points(spending app.spending, dimensions text[], top int) returns app.chart_point[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    with named as (
      select case when dimensions[1] = 'category' then (select c.name from app.categories as c where c.id = g.key_1) end
        as label,
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
  'Sums by series and step; categories beyond the largest ones are one series, the rest. Without a label: what has no '
  'category, or everything.';

create or replace function app.describe_bars(points app.chart_point[], exponent int) returns jsonb
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
comment on function app.describe_bars is
  'One bar a category, the largest first and the rest last: one series, whose points are the categories; share is in '
  'percent.';
