-- Recurrence: on which days a bill comes, by arithmetic from its anchor alone. It knows no rows, no payments and no clock.
-- A schedule is numbered from 0, its first date on or after the anchor; every date is counted from the anchor and never from the one before,
-- so 31 January is followed by 28 February and then by 31 March again. The weekend rule moves what is due, never what is scheduled.
-- Bodies that are expressions were parsed when they were created: no search_path changes their meaning, and the planner may inline them.

-- Months

create function app.month_of(day date) returns int
language sql immutable
  return extract(year from day)::int * 12 + extract(month from day)::int - 1;
comment on function app.month_of is 'The month of a day as a number that months can be added to: 12 * year + 0 for January to 11 for December.';

create function app.month_day(month int, day int) returns date
language sql immutable
  return least(
    make_date(month / 12, month % 12 + 1, 1) + (day - 1),
    (make_date(month / 12, month % 12 + 1, 1) + interval '1 month' - interval '1 day')::date
  );
comment on function app.month_day is 'A day of a month (app.month_of); in a shorter month its last day.';

create function app.month_dates(month int, days int[]) returns date[]
language plpgsql immutable set search_path = '' as $$
declare
  dates date[] := '{}';
  day int;
  candidate date;
  latest date;
begin
  foreach day in array days loop
    candidate := app.month_day(month, day);
    if candidate is distinct from latest then
      dates := dates || candidate;
      latest := candidate;
    end if;
  end loop;
  return dates;
end
$$;
comment on function app.month_dates is 'Several days of a month as dates in order; days that fall together on the last day of a short month are one.';

-- Counting dates of several days a month: one a day, less those that fall together in short months.

create function app.count_congruent(first int, step int, terms int, modulus int, residue int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  common constant int := gcd(step, modulus);
  period constant int := modulus / common;
  distance constant int := residue - first;
  position int;
begin
  if distance % common <> 0 then
    return 0;
  end if;
  -- The first such term solves position * step = distance modulo the period, where every unit is its own inverse, since the modulus divides 24.
  position := (distance / common * (step / common) % period + period) % period;
  return greatest(0, (terms - position + period - 1) / period);
end
$$;
comment on function app.count_congruent is 'How many terms of first, first + step, … leave this residue modulo a divisor of 24.';

create function app.count_leap_years(first int, step int, terms int) returns int
language sql immutable
  return app.count_congruent(first, step, terms, 4, 0) - (
    select count(*) from generate_series(21, (first + step * (terms - 1)) / 100) as century
    where century % 4 <> 0 and century * 100 >= first and (century * 100 - first) % step = 0
  );
comment on function app.count_leap_years is 'How many of the years first, first + step, … are leap years; from 1901 on.';

create function app.count_short_months(first int, step int, terms int, days int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  februaries constant int := app.count_congruent(first, step, terms, 12, 1);
  years_apart constant int := step / gcd(step, 12);
  first_february int;
begin
  case days
    when 30 then
      return februaries + app.count_congruent(first, step, terms, 12, 3) + app.count_congruent(first, step, terms, 12, 5)
        + app.count_congruent(first, step, terms, 12, 8) + app.count_congruent(first, step, terms, 12, 10);
    when 29 then
      return februaries;
    when 28 then
      if februaries = 0 then
        return 0;
      end if;
      -- Within 12 steps, since the months of the year repeat.
      select min(first + step * i) into first_february from generate_series(0, 11) as i where (first + step * i) % 12 = 1;
      return februaries - app.count_leap_years(first_february / 12, years_apart, februaries);
  end case;
end
$$;
comment on function app.count_short_months is 'How many of the months first, first + step, … have at most 28, 29 or 30 days.';

create function app.count_month_dates(days int[], first int, step int, terms int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  total int := cardinality(days) * terms;
  day int;
begin
  -- A day falls together with the day before it in the list wherever the month ends on that one or earlier.
  foreach day in array trim_array(days, 1) loop
    if day >= 28 then
      total := total - app.count_short_months(first, step, terms, day);
    end if;
  end loop;
  return total;
end
$$;
comment on function app.count_month_dates is 'How many dates these days (ascending, 1 to 31) have in the months first, first + step, ….';

-- The schedule of a bill

create function app.schedule_days(bill app.expenses) returns int[]
language plpgsql immutable set search_path = '' as $$
begin
  if bill.month_days is null then
    return array[extract(day from bill.anchor_on)::int];
  end if;
  return array(select distinct case d when -1 then 31 else d end from unnest(bill.month_days) as d order by 1);
end
$$;
comment on function app.schedule_days is 'Days of the month of a monthly or yearly schedule, ascending; 31 is the last day.';

create function app.nth_month_date(bill app.expenses, n int) returns date
language plpgsql immutable set search_path = '' as $$
declare
  first constant int := app.month_of(bill.anchor_on);
  days constant int[] := app.schedule_days(bill);
  -- Counted from the start of the anchor's month, whose dates before the anchor are no part of the schedule.
  rest constant int := n + width_bucket(bill.anchor_on - 1, app.month_dates(first, days));
  months int := rest / cardinality(days);
  dates date[];
  missing int;
begin
  loop
    -- Exact at once unless days fell together in months before; then as many months are added as hold what is missing.
    missing := rest - app.count_month_dates(days, first, bill.every, months);
    dates := app.month_dates(first + months * bill.every, days);
    if missing < cardinality(dates) then
      return dates[missing + 1];
    end if;
    months := months + greatest(1, missing / cardinality(days));
  end loop;
end
$$;
comment on function app.nth_month_date is 'app.scheduled_on of a schedule of several days a month, or of its last.';

create function app.scheduled_on(bill app.expenses, n int) returns date
language sql immutable
  -- Adding months to a date ends on the last day of a shorter month.
  return case (bill).frequency
    when 'once' then case when n = 0 then (bill).anchor_on end
    when 'daily' then (bill).anchor_on + n * (bill).every
    when 'weekly' then (bill).anchor_on + n * (bill).every * 7
    when 'yearly' then ((bill).anchor_on + make_interval(years => n * (bill).every))::date
    else case when (bill).month_days is null then ((bill).anchor_on + make_interval(months => n * (bill).every))::date else app.nth_month_date(bill, n) end
  end;
comment on function app.scheduled_on is 'The date of number n (from 0) of a bill''s schedule, whether or not the schedule ends before.';

create function app.month_date_index(bill app.expenses, day date) returns int
language plpgsql immutable set search_path = '' as $$
declare
  first constant int := app.month_of(bill.anchor_on);
  months constant int := (app.month_of(day) - first) / bill.every;
  days constant int[] := app.schedule_days(bill);
begin
  return app.count_month_dates(days, first, bill.every, months)
    + width_bucket(day - 1, app.month_dates(first + months * bill.every, days))
    - width_bucket(bill.anchor_on - 1, app.month_dates(first, days));
end
$$;
comment on function app.month_date_index is 'app.schedule_index of a schedule of several days a month, or of its last.';

create function app.step_index(anchor_on date, step int, day date) returns int
language sql immutable
  return (app.month_of(day) - app.month_of(anchor_on)) / step
    + ((anchor_on + make_interval(months => (app.month_of(day) - app.month_of(anchor_on)) / step * step))::date < day)::int;
comment on function app.step_index is 'Which of the dates so many months apart is the first on or after a day, from the anchor on.';

create function app.schedule_index(bill app.expenses, day date) returns int
language sql immutable
  return case
    when day <= (bill).anchor_on then 0
    when (bill).frequency = 'once' then 1
    when (bill).frequency = 'daily' then (day - (bill).anchor_on + (bill).every - 1) / (bill).every
    when (bill).frequency = 'weekly' then (day - (bill).anchor_on + (bill).every * 7 - 1) / ((bill).every * 7)
    when (bill).frequency = 'yearly' then app.step_index((bill).anchor_on, (bill).every * 12, day)
    when (bill).month_days is null then app.step_index((bill).anchor_on, (bill).every, day)
    else app.month_date_index(bill, day)
  end;
comment on function app.schedule_index is 'The number of the first scheduled date on or after a day, which is also how many come before it.';

create function app.last_index(bill app.expenses) returns int
language sql immutable
  return case
    when (bill).frequency = 'once' then 0
    -- Both ends may be given; the earlier one counts, and least() passes over the one that is not.
    else least((bill).ends_after - 1, case when (bill).ends_on is not null then app.schedule_index(bill, (bill).ends_on + 1) - 1 end)
  end;
comment on function app.last_index is 'The number of the last scheduled date, both ends counted by the schedule; null when it never ends.';

-- The weekend rule

create function app.due_on(scheduled_on date, weekend_rule text) returns date
language sql immutable
  return case
    when weekend_rule = 'none' or extract(isodow from scheduled_on) < 6 then scheduled_on
    when weekend_rule = 'before' then scheduled_on - (extract(isodow from scheduled_on)::int - 5)
    else scheduled_on + (8 - extract(isodow from scheduled_on)::int)
  end;
comment on function app.due_on is 'When a scheduled date is due: with the rule before or after, a weekend''s moves to the Friday before or the Monday after it.';

create function app.first_scheduled_due(day date, weekend_rule text) returns date
language sql immutable
  return case
    when weekend_rule = 'before' and extract(isodow from day) > 5 then day + (8 - extract(isodow from day)::int)
    when weekend_rule = 'after' and extract(isodow from day) in (7, 1) then day - (1 + extract(isodow from day)::int % 7)
    else day
  end;
comment on function app.first_scheduled_due is 'The earliest date that, were it scheduled, would be due on or after a day: app.due_on backwards.';

create function app.due_index(bill app.expenses, day date) returns int
language plpgsql immutable set search_path = '' as $$
declare
  -- A variable, since the planner inlines no function whose argument it would have to write out more than once.
  first_day constant date := app.first_scheduled_due(day, bill.weekend_rule);
begin
  return app.schedule_index(bill, first_day);
end
$$;
comment on function app.due_index is 'The number of the first scheduled date that is due on or after a day.';

create function app.scheduled_dates(bill app.expenses, first int, last int) returns table (scheduled_on date, due_on date)
language plpgsql immutable rows 2 set search_path = '' as $$
begin
  for n in first..last loop
    scheduled_on := app.scheduled_on(bill, n);
    due_on := app.due_on(scheduled_on, bill.weekend_rule);
    return next;
  end loop;
end
$$;
comment on function app.scheduled_dates is 'The dates of these numbers of a bill''s schedule; none when one of them is null.';

-- In words

create function app.describe_schedule(bill app.expenses) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'frequency', bill.frequency, 'every', bill.every, 'anchor_on', bill.anchor_on,
    'month_days', case when bill.frequency = 'monthly' then to_jsonb(app.schedule_days(bill)) end,
    'weekend_rule', nullif(bill.weekend_rule, 'none'), 'ends_on', bill.ends_on, 'ends_after', bill.ends_after
  ));
end
$$;
comment on function app.describe_schedule is
  'A bill''s schedule as facts: {frequency, every, anchor_on, month_days?, weekend_rule?, ends_on?, ends_after?}; month_days are in order, 31 for the last day.';

revoke all on function
  app.month_of, app.month_day, app.month_dates, app.count_congruent, app.count_leap_years, app.count_short_months, app.count_month_dates,
  app.schedule_days, app.nth_month_date, app.scheduled_on, app.month_date_index, app.step_index, app.schedule_index, app.last_index, app.due_on,
  app.first_scheduled_due, app.due_index, app.scheduled_dates, app.describe_schedule from public, anon;
grant execute on function
  app.month_of, app.month_day, app.month_dates, app.count_congruent, app.count_leap_years, app.count_short_months, app.count_month_dates,
  app.schedule_days, app.nth_month_date, app.scheduled_on, app.month_date_index, app.step_index, app.schedule_index, app.last_index, app.due_on,
  app.first_scheduled_due, app.due_index, app.scheduled_dates, app.describe_schedule to authenticated, service_role;
