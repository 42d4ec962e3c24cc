create or replace function app.show_spending_chart(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Explicit dates override the period.
  meant constant jsonb := case when arguments ?| array['from', 'to'] then arguments - 'period' else arguments end;
begin
  return case when arguments ->> 'chart' = 'upcoming_bills' then app.chart_upcoming_bills(context, meant)
    else app.chart_spending(context, meant) end;
end
$$;
comment on function app.show_spending_chart is
  'Tool show_spending_chart. Returns data {chart, today, period, currency, unit?, rows or lines, total, compared?, '
  'budgets?, books_begin?, unconverted}; the presenter builds the series.';
