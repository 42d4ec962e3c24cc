-- Adjusts a changed bill's dates to a new schedule, price or pause. Paid, skipped and partly paid dates stay. Rows due
-- before tracked_from belong to earlier schedules and stay; every later open row is on the schedule.

create or replace function app.change_schedule(context app.context, old app.expenses, changes jsonb, next_open date)
  returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses := old;
  first_due constant date := app.parse_date(context, changes ->> 'first_due', 'set.first_due');
  is_other_rhythm boolean;
begin
  if not changes ?| array['frequency', 'every', 'first_due', 'month_days', 'month_weekdays', 'weekend_rule', 'ends_on',
    'ends_after'] then
    return old;
  end if;
  bill.frequency := coalesce(changes ->> 'frequency', old.frequency);
  bill.every := case
    when bill.frequency = 'once' then 1
    when changes ? 'every' then (changes ->> 'every')::int
    when bill.frequency = old.frequency then old.every
    else 1
  end;
  bill.weekend_rule := coalesce(changes ->> 'weekend_rule', old.weekend_rule);
  is_other_rhythm := (bill.frequency, bill.every) is distinct from (old.frequency, old.every);
  bill.month_days := case
    when changes ?| array['month_days', 'month_weekdays'] then app.parse_month_days(changes, bill.frequency, 'set.')
    when bill.frequency = 'monthly' and first_due is null then old.month_days
  end;
  bill.anchor_on := coalesce(first_due, case when is_other_rhythm then next_open end, old.anchor_on);
  -- The 31st stays the last day of the month, even if the next date is the 28th.
  if is_other_rhythm and first_due is null and bill.month_days is null
    and (old.frequency, bill.frequency) = ('monthly', 'monthly')
    and extract(day from bill.anchor_on) <> extract(day from old.anchor_on) then
    bill.month_days := array[extract(day from old.anchor_on)::smallint];
  end if;
  if bill.month_days is not null then
    if first_due is null and not is_other_rhythm then
      bill.anchor_on := date_trunc('month', bill.anchor_on);
    end if;
    bill.anchor_on := app.first_month_day(bill);
  end if;
  if bill.frequency = 'once' then
    bill.ends_on := null;
    bill.ends_after := null;
    return bill;
  end if;
  bill.ends_on := coalesce(app.parse_date(context, changes ->> 'ends_on', 'set.ends_on'), old.ends_on);
  bill.ends_after := coalesce((changes ->> 'ends_after')::int, old.ends_after);
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument.ends_before_first_due', jsonb_build_object(
      'name', bill.name, 'ends_on', bill.ends_on, 'first_due', bill.anchor_on
    ), 'set.ends_on');
  end if;
  return bill;
end
$$;
comment on function app.change_schedule is
  'Returns a bill with the schedule fields of a change, and next_open, the next scheduled date that the change '
  'affects. A new frequency starts there, or at first_due if given. Does not write the bill.';

create or replace function app.same_schedule(one app.expenses, other app.expenses) returns boolean
language sql immutable
  return ((one).frequency, (one).every, (one).anchor_on, (one).month_days, (one).weekend_rule, (one).ends_on,
    (one).ends_after)
    is not distinct from ((other).frequency, (other).every, (other).anchor_on, (other).month_days, (other).weekend_rule,
      (other).ends_on, (other).ends_after);
comment on function app.same_schedule is 'Whether two bills are due on the same days.';

create or replace function app.watch_from(bill app.expenses, day date) returns date
language sql immutable
  return case when (bill).frequency = 'once' then (bill).anchor_on
    else app.scheduled_on(bill, app.due_index(bill, day)) end;
comment on function app.watch_from is
  'Returns tracked_from for a bill that is tracked from a day on; one-time bills are always tracked.';

create or replace function app.is_scheduled(bill app.expenses, day date) returns boolean
language sql immutable
  return coalesce(
    app.scheduled_on(bill, app.schedule_index(bill, day)) = day
      and app.schedule_index(bill, day) <= coalesce(app.last_index(bill), app.schedule_index(bill, day)),
    false
  );
comment on function app.is_scheduled is 'Whether the schedule of a bill contains a day.';
