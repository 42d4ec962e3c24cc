create or replace function app.last_index(bill app.expenses) returns int
language sql immutable
  return case
    when (bill).frequency = 'once' then 0
    -- If both ends are set, the earlier one counts. least() ignores a null.
    else
      least((bill).ends_after - 1,
      case when (bill).ends_on is not null then app.schedule_index(bill, (bill).ends_on + 1) - 1 end)
  end;
comment on function app.last_index is
  'Returns the number of the last scheduled date, considering both ends; null when the schedule never ends.';

create or replace function app.due_on(scheduled_on date, weekend_rule text) returns date
language sql immutable
  return case
    when weekend_rule = 'none' or extract(isodow from scheduled_on) < 6 then scheduled_on
    when weekend_rule = 'before' then scheduled_on - (extract(isodow from scheduled_on)::int - 5)
    else scheduled_on + (8 - extract(isodow from scheduled_on)::int)
  end;
comment on function app.due_on is
  'Returns the due day of a scheduled date: under the rule before or after, a weekend date moves to the Friday before '
  'or the Monday after.';

create or replace function app.first_scheduled_due(day date, weekend_rule text) returns date
language sql immutable
  return case
    when weekend_rule = 'before' and extract(isodow from day) > 5 then day + (8 - extract(isodow from day)::int)
    when weekend_rule = 'after' and extract(isodow from day) in (7, 1)
      then day - (1 + extract(isodow from day)::int % 7)
    else day
  end;
comment on function app.first_scheduled_due is
  'Returns the earliest date that, if scheduled, would be due on or after a day: the inverse of app.due_on.';

create or replace function app.due_index(bill app.expenses, day date) returns int
language plpgsql immutable set search_path = '' as $$
declare
  -- Use a variable, because the planner does not inline a function if it would have to repeat an argument.
  first_day constant date := app.first_scheduled_due(day, bill.weekend_rule);
begin
  return app.schedule_index(bill, first_day);
end
$$;
comment on function app.due_index is 'Returns the number of the first scheduled date that is due on or after a day.';

create or replace function app.scheduled_dates(bill app.expenses, first int, last int)
  returns table (scheduled_on date, due_on date)
language plpgsql immutable rows 2 set search_path = '' as $$
begin
  for n in first..last loop
    scheduled_on := app.scheduled_on(bill, n);
    due_on := app.due_on(scheduled_on, bill.weekend_rule);
    return next;
  end loop;
end
$$;
comment on function app.scheduled_dates is
  'Returns the dates with these numbers in a bill''s schedule; empty if a number is null.';
