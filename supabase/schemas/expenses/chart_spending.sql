-- show_spending_chart: the data of a chart, which the presenter lays out. The sums equal those of summarize_spending
-- and list_bills.

create or replace function app.chart_spending(context app.context, args jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  chart constant text := coalesce(args ->> 'chart', 'by_category');
  filter app.expense_filter := app.parse_expense_filter(context, args);
  period constant app.period := app.parse_period(context, args, filter);
  days constant int := period.to_on - period.from_on + 1;
  earlier constant app.period := app.compared_period(period, 'previous_period', context.today);
  books_begin constant date := app.books_begin(earlier);
  period_name constant text :=
    case when not args ?| array['from', 'to'] then coalesce(args ->> 'period', 'this_month') end;
  -- The step of the time axis: days for about six weeks, weeks for half a year, otherwise months.
  unit constant text := case when chart <> 'by_category' then
    case when days <= 45 then 'day' when days <= 186 then 'week' else 'month' end
  end;
  -- Budgets apply to one whole month or calendar year only.
  budgeted constant text := case when chart = 'by_category' then case app.whole_months(period)
    when 1 then 'month' when 12 then case when extract(month from period.from_on) = 1 then 'year' end end end;
  dimensions constant text[] := array_remove(array[case when chart <> 'over_time' then 'category' end, unit], null);
  target constant text := coalesce(args ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  spending app.spending;
  sums record;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  spending := app.sum_spending(context, filter, earlier, null, dimensions, target);
  select coalesce(sum(g.once_minor), 0) as minor, coalesce(sum(g.once_count), 0) as count,
    coalesce(sum(g.once_earlier_minor), 0) as earlier_minor, array_agg(g) filter (where g.count > 0) as drawn
  into sums
  from unnest(spending.groups) as g;
  spending.groups := sums.drawn;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', chart,
      'today', context.today,
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'name', period_name),
      'currency', target,
      'unit', unit,
      'rows',
      app.rank_spending(spending, dimensions, case chart when 'by_category' then 12 else 5 end, target, false),
      'total',
      jsonb_build_object('amount', app.format_minor(sums.minor, exponent), 'currency', target, 'count', sums.count),
      'compared', case when sums.earlier_minor > 0 and books_begin is null then jsonb_build_object(
        'from', earlier.from_on, 'to', earlier.to_on, 'amount', app.format_minor(sums.earlier_minor, exponent)
      ) end,
      'budgets', case when budgeted is not null then (
        select jsonb_agg(b.value)
        from jsonb_array_elements(app.describe_budgets(context, period.from_on, filter.category_ids)) as b
        where b.value ->> 'per' = budgeted and b.value ->> 'currency' = target
      ) end,
      -- Explains a missing comparison.
      'books_begin', case when sums.earlier_minor > 0 then books_begin end,
      'unconverted', spending.unconverted
    ),
    'warnings', case
      when spending.unconverted = '[]' then '[]'::jsonb
      else jsonb_build_array(app.warning('rate_missing.of_chart', jsonb_build_object('into', target)))
    end || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
  );
end
$$;
comment on function app.chart_spending is
  'Returns a chart of spending by category, over time, or both, with rows of app.rank_spending.';
