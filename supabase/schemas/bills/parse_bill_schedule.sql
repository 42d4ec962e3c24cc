-- add_bill: a recurring bill, or a one-time bill on a future day.

create or replace function app.parse_month_days(arguments jsonb, frequency text, path text default '')
  returns smallint[]
language plpgsql stable set search_path = '' as $$
declare
  field constant text := case when arguments ? 'month_days' then 'month_days' else 'month_weekdays' end;
  days constant smallint[] := (
    select array_agg(d order by (d + 32) % 32, d)
    from (
      select distinct case
        when field = 'month_weekdays'
          then (case left(value, -2) when '-1' then 5 else left(value, -2)::int end) * 100
            + (strpos('MOTUWETHFRSASU', right(value, 2)) + 1) / 2
        when value = '31' then -1
        else value::int
      end as d
      from jsonb_array_elements_text(arguments -> field)
    ) as days
  );
begin
  if days is not null and frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument.month_days_not_monthly', jsonb_build_object('frequency', frequency, 'field', field),
      path || field
    );
  end if;
  if arguments ?& array['month_days', 'month_weekdays'] then
    perform app.fail('invalid_argument.days_and_weekdays', field => path || 'month_weekdays');
  end if;
  if exists (select from unnest(days) as d where d > 500 and d - 100 = any (days)) then
    perform app.fail('invalid_argument.fourth_and_last', field => path || field);
  end if;
  return days;
end
$$;
comment on function app.parse_month_days is
  'Returns days or weekdays of the month from the arguments, as stored: each once, the 31st as the last day; null if '
  'none are given.';

create or replace function app.first_month_day(bill app.expenses) returns date
language plpgsql immutable set search_path = '' as $$
begin
  -- The interval applies only after the first date.
  bill.every := 1;
  return app.scheduled_on(bill, 0);
end
$$;
comment on function app.first_month_day is 'Returns the first of a bill''s month days on or after its anchor.';

create or replace function app.parse_bill_schedule(context app.context, arguments jsonb, bill app.expenses)
  returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  first_due constant date := app.parse_date(context, arguments ->> 'first_due', 'first_due');
begin
  bill.frequency := coalesce(arguments ->> 'frequency', 'monthly');
  bill.every := case bill.frequency when 'once' then 1 else coalesce((arguments ->> 'every')::int, 1) end;
  bill.weekend_rule := coalesce(arguments ->> 'weekend_rule', 'none');
  bill.month_days := app.parse_month_days(arguments, bill.frequency);
  if first_due is null and bill.month_days is null then
    perform app.fail('invalid_argument.first_due_missing', jsonb_build_object('name', bill.name), 'first_due');
  end if;
  bill.anchor_on := coalesce(first_due, context.today);
  if bill.month_days is not null then
    bill.anchor_on := app.first_month_day(bill);
  end if;
  if bill.frequency <> 'once' then
    bill.ends_on := app.parse_date(context, arguments ->> 'ends_on', 'ends_on');
    bill.ends_after := (arguments ->> 'ends_after')::int;
  end if;
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument.ends_before_first_due', jsonb_build_object(
      'name', bill.name, 'ends_on', bill.ends_on, 'first_due', bill.anchor_on
    ), 'ends_on');
  end if;
  if bill.frequency = 'once' then
    bill.tracked_from := bill.anchor_on;
  elsif app.due_index(bill, context.today) > app.last_index(bill) then
    perform app.fail('invalid_argument.bill_over', jsonb_build_object(
      'name', bill.name, 'last_due', app.due_on(app.scheduled_on(bill, app.last_index(bill)), bill.weekend_rule)
    ), 'first_due');
  else
    bill.tracked_from := app.scheduled_on(bill, app.due_index(bill, context.today));
  end if;
  return bill;
end
$$;
comment on function app.parse_bill_schedule is
  'Returns the schedule of a new bill from its arguments; the anchor is always a scheduled date. Dates before today '
  'are not tracked.';

create or replace function app.parse_share(percent numeric, field text) returns int
language plpgsql stable set search_path = '' as $$
begin
  if percent * 100 <> trunc(percent * 100) then
    perform app.fail('invalid_argument.share_too_fine', jsonb_build_object('percent', trim_scale(percent)), field);
  end if;
  return percent * 100;
end
$$;
comment on function app.parse_share is 'Returns a share in percent as hundredths of a percent.';
