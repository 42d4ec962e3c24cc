create or replace function app.review_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  horizon_days constant int := coalesce((arguments ->> 'horizon_days')::int, 45);
  since constant date := context.today - make_interval(months => coalesce((arguments ->> 'lookback_months')::int, 12));
  data jsonb;
begin
  with findings as (
    select 'overdue' as section, f.* from app.find_overdue(context) as f
    union all
    select 'price_rises', f.* from app.find_price_rises(context, since) as f
    union all
    select 'unusual_amounts', f.* from app.find_unusual_amounts(context, since) as f
    union all
    select 'possible_duplicates', f.* from app.find_duplicates(context) as f
    union all
    select 'double_charges', f.* from app.find_double_charges(context, since) as f
    union all
    select 'trials_ending', f.* from app.find_trials(context, horizon_days) as f
    union all
    select 'trials_charged', f.* from app.find_charged_trials(context) as f
    union all
    select 'cancel_by', f.* from app.find_cancel_dates(context, horizon_days) as f
    union all
    select 'charged_after_end', f.* from app.find_charged_after_end(context, since) as f
    union all
    select 'savings', f.* from app.find_savings(context, since) as f
    union all
    select 'recurring_charges', f.* from app.find_recurring_charges(context, '-infinity') as f
    union all
    select 'stopped_charges', f.* from app.find_stopped_charges(context) as f
    union all
    select 'provider_attention', f.* from app.find_provider_trouble(context) as f
  ), placed as (
    select *, row_number() over (
      partition by section
      -- Past findings sort latest first, future ones nearest first.
      order by case when section in ('price_rises', 'unusual_amounts', 'double_charges', 'recurring_charges',
          'trials_charged', 'savings', 'charged_after_end')
        then (context.today - rank)::int
        else (rank - context.today)::int end,
        finding ->> 'name' collate "C", finding ->> 'bill_id' collate "C", finding ->> 'other_bill_id' collate "C"
    ) as place
    from findings
  ), sections as (
    select name, coalesce(f.findings, '[]') as findings, coalesce(f.count, 0) as count
    from unnest(
      array['overdue', 'price_rises', 'unusual_amounts', 'possible_duplicates', 'double_charges', 'trials_ending',
      'trials_charged', 'cancel_by', 'charged_after_end', 'savings', 'recurring_charges', 'stopped_charges',
      'provider_attention']) as name
    left join (
      select section, jsonb_agg(jsonb_strip_nulls(finding) order by place) filter (where place <= 50) as findings,
        count(*) as count
      from placed
      group by section
    ) as f on f.section = name
  )
  select jsonb_object_agg(name, findings) || jsonb_build_object('counts', jsonb_object_agg(name, count)) into data
    from sections;
  return jsonb_build_object(
    'data', data,
    'warnings', app.warn_of_own_only() || app.warn_of_expected_income(context, '-infinity', context.today - 1)
      || app.warn_of_unpaired(context, since)
  );
end
$$;
comment on function app.review_bills is
  'Tool review_bills: data {overdue, price_rises, unusual_amounts, possible_duplicates, double_charges, trials_ending, '
  'trials_charged, cancel_by, charged_after_end, savings, recurring_charges, stopped_charges, provider_attention, '
  'counts}.';
