create or replace function app.chart_upcoming_bills(context app.context, args jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, args);
  last_day constant date := coalesce(
    filter.to_on, (app.named_period(args ->> 'period', context.today)).to_on,
    -- The default is 30 days, because "this month" would show one day on the 30th.
    greatest(filter.from_on, context.today) + 30
  );
  target constant text := coalesce(args ->> 'in_currency', context.base_currency);
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
      x.is_estimate,
      case x.currency when target then x.expected_minor
        else app.convert_minor(x.expected_minor, rate.per_euro, c.exponent, into_rate.per_euro, into_exponent) end
        as minor
    from app.expected_in_period(context, filter.from_on, last_day) as x
    join app.expenses as b on b.id = x.expense_id
    join app.currencies as c on c.code = x.currency
    left join lateral app.rates_as_of(x.currency, context.today) as rate on x.currency <> target
    where filter.category_ids is null or coalesce(x.category_id, '') = any (filter.category_ids)
  ), lines as (
    -- A daily bill gets one line, because its dates would hide the other bills.
    select e.expense_id, e.name, min(e.due_on) as due_on, max(e.due_on) as last_on, count(*) as dates,
      sum(e.minor) as minor, bool_or(e.is_estimate) as is_estimate
    from expected as e
    where e.minor is not null
    group by e.expense_id, e.name, e.due_on < context.today, case when not e.is_daily then e.due_on end
  )
  select
    array(
      select jsonb_build_object('bill_id', s.expense_id, 'label', s.name, 'x', s.due_on, 'to', s.last_on,
        'dates', s.dates, 'y', app.format_minor(s.minor, into_exponent), 'is_estimate', s.is_estimate)
      from lines as s
      order by s.due_on, s.name, s.expense_id
      limit max_lines
    ) as shown,
    (select coalesce(sum(e.minor), 0) from expected as e) as minor,
    (select sum(e.minor) from expected as e where e.is_estimate) as estimated_minor,
    array(select distinct e.name from expected as e where e.is_estimate and e.expected_minor is not null
      order by e.name)
      as estimated_names,
    array(
      select (e.currency, sum(e.expected_minor))::app.money_sum from expected as e
      where e.is_estimate and e.expected_minor is not null group by e.currency
    ) as estimated_sums,
    (select count(*) from lines) as line_count,
    (select coalesce(sum(l.dates), 0) from lines as l) as count,
    (select coalesce(sum(l.dates), 0) from lines as l where l.due_on < context.today) as overdue_count,
    (select min(l.due_on) from lines as l) as first_on,
    array(select distinct e.name from expected as e where e.expected_minor is null order by e.name) as unknown_amounts,
    (
      select
        coalesce(
        jsonb_agg(
        jsonb_build_object('currency', u.currency, 'amount', app.format_amount(u.minor, u.currency), 'count', u.count)
        order by u.currency), '[]')
      from (
        select e.currency, sum(e.expected_minor) as minor, count(*) as count from expected as e
        where e.minor is null and e.expected_minor is not null group by e.currency
      ) as u
    ) as unconverted
  into due;
  if due.unconverted <> '[]' then
    warnings := warnings || app.warning('rate_missing.of_upcoming', jsonb_build_object('into', target));
  end if;
  warnings := warnings || app.warn_of_estimates(due.estimated_names, due.estimated_sums);
  if due.unknown_amounts <> '{}' then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', due.unknown_amounts));
  end if;
  if due.line_count > max_lines then
    warnings := warnings || app.warning('truncated', jsonb_build_object('shown', max_lines, 'lines', due.line_count));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', 'upcoming_bills',
      'period',
      jsonb_build_object('from', least(due.first_on, coalesce(filter.from_on, context.today), last_day), 'to',
        last_day),
      'today', context.today,
      'currency', target,
      'unit', 'day',
      'lines', due.shown,
      'total',
      jsonb_build_object('amount', app.format_minor(due.minor, into_exponent), 'currency', target, 'count', due.count,
        'overdue', due.overdue_count, 'estimated', app.format_minor(due.estimated_minor, into_exponent)),
      'unconverted', due.unconverted,
      'unknown_amounts', to_jsonb(due.unknown_amounts)
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.chart_upcoming_bills is 'Returns a chart of overdue and upcoming bill dates at today''s rates.';
