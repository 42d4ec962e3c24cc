create or replace function app.describe_month_days(days int[]) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  -- Either all are days of the month, or all are weekdays.
  return case
    when days[1] <= 31 then jsonb_build_object('month_days', days)
    when days[1] > 31 then jsonb_build_object('month_weekdays', array(
      select case d / 100 when 5 then -1 else d / 100 end || substr('MOTUWETHFRSASU', d % 100 * 2 - 1, 2)
      from unnest(days) with ordinality as given (d, position)
      order by position
    ))
    else '{}'
  end;
end
$$;
comment on function app.describe_month_days is
  'Returns days of app.schedule_days as facts: {month_days}, 31 for the last day, or {month_weekdays} as in RFC 5545: '
  '-1FR is the last Friday; {} for none.';

create or replace function app.describe_schedule(bill app.expenses) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'frequency', bill.frequency, 'every', bill.every, 'anchor_on', bill.anchor_on,
    'weekend_rule', nullif(bill.weekend_rule, 'none'), 'ends_on', bill.ends_on, 'ends_after', bill.ends_after
  )) || app.describe_month_days(case when bill.frequency = 'monthly' then app.schedule_days(bill) end);
end
$$;
comment on function app.describe_schedule is
  'Returns a bill''s schedule as facts: {frequency, every, anchor_on, month_days or month_weekdays?, weekend_rule?, '
  'ends_on?, ends_after?}, with ordered days.';
