create or replace function app.count_month_dates(days int[], first int, step int, terms int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  total int := cardinality(days) * terms;
  day int;
begin
  -- A day coincides with the previous one in the list in months that end on the previous day or earlier.
  foreach day in array trim_array(days, 1) loop
    if day between 28 and 30 then
      total := total - app.count_short_months(first, step, terms, day);
    end if;
  end loop;
  return total;
end
$$;
comment on function app.count_month_dates is
  'Returns the number of dates that these days (ascending, 1 to 31, or weekdays) have in the months first, first + '
  'step, ….';

create or replace function app.schedule_days(bill app.expenses) returns int[]
language plpgsql immutable set search_path = '' as $$
begin
  if bill.month_days is null then
    return array[extract(day from bill.anchor_on)::int];
  end if;
  return array(select distinct case d when -1 then 31 else d end from unnest(bill.month_days) as d order by 1);
end
$$;
comment on function app.schedule_days is
  'Returns the days of the month of a monthly or yearly schedule, ascending; 31 is the last day, and larger numbers '
  'are weekdays (app.month_weekday).';

create or replace function app.nth_month_date(bill app.expenses, n int) returns date
language plpgsql immutable set search_path = '' as $$
declare
  first constant int := app.month_of(bill.anchor_on);
  days constant int[] := app.schedule_days(bill);
  -- Count from the start of the anchor's month. Dates of that month before the anchor aren't part of the schedule.
  rest constant int := n + width_bucket(bill.anchor_on - 1, app.month_dates(first, days));
  months int := rest / cardinality(days);
  dates date[];
  missing int;
begin
  loop
    -- The first result is exact unless earlier dates coincided. Then add months for the missing dates.
    missing := rest - app.count_month_dates(days, first, bill.every, months);
    dates := app.month_dates(first + months * bill.every, days);
    if missing < cardinality(dates) then
      return dates[missing + 1];
    end if;
    months := months + greatest(1, missing / cardinality(days));
  end loop;
end
$$;
comment on function app.nth_month_date is
  'app.scheduled_on for a schedule with several days a month or with the last day.';

create or replace function app.scheduled_on(bill app.expenses, n int) returns date
language sql immutable
  -- Adding months to a date stops at the last day of a shorter month.
  return case (bill).frequency
    when 'once' then case when n = 0 then (bill).anchor_on end
    when 'daily' then (bill).anchor_on + n * (bill).every
    when 'weekly' then (bill).anchor_on + n * (bill).every * 7
    when 'yearly' then ((bill).anchor_on + make_interval(years => n * (bill).every))::date
    else case when (bill).month_days is null then ((bill).anchor_on + make_interval(months => n * (bill).every))::date
      else app.nth_month_date(bill, n) end
  end;
comment on function app.scheduled_on is
  'Returns the date of number n (from 0) of a bill''s schedule, whether or not the schedule ends earlier.';

create or replace function app.month_date_index(bill app.expenses, day date) returns int
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
comment on function app.month_date_index is
  'app.schedule_index for a schedule with several days a month or with the last day.';

create or replace function app.step_index(anchor_on date, step int, day date) returns int
language sql immutable
  return (app.month_of(day) - app.month_of(anchor_on)) / step
    + (
      (anchor_on
      + make_interval(months => (app.month_of(day) - app.month_of(anchor_on)) / step * step))::date < day)::int;
comment on function app.step_index is
  'Returns the number of the first date on or after a day, among dates that are a number of months apart, starting at '
  'the anchor.';

create or replace function app.schedule_index(bill app.expenses, day date) returns int
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
comment on function app.schedule_index is
  'Returns the number of the first scheduled date on or after a day, which is also the number of earlier dates.';
