-- Recurrence: the dates of a bill, computed from its anchor alone, without rows, payments or a clock. A schedule is
-- numbered from 0, its first date on or after the anchor. No date is computed from the previous one, so 31 January is
-- followed by 28 February and 31 March. The weekend rule moves due dates, never scheduled dates. Expression bodies are
-- parsed at creation: no search_path changes their meaning, and the planner can inline them.

create or replace function app.month_of(day date) returns int
language sql immutable
  return extract(year from day)::int * 12 + extract(month from day)::int - 1;
comment on function app.month_of is
  'Returns the month of a day as a number for adding months: 12 * year + 0 for January to 11 for December.';

create or replace function app.month_day(month int, day int) returns date
language sql immutable
  return least(
    make_date(month / 12, month % 12 + 1, 1) + (day - 1),
    (make_date(month / 12, month % 12 + 1, 1) + interval '1 month' - interval '1 day')::date
  );
comment on function app.month_day is 'Returns a day of a month (app.month_of), or the last day of a shorter month.';

create or replace function app.month_weekday(month int, weekday int) returns date
language plpgsql immutable set search_path = '' as $$
declare
  first_day constant date := make_date(month / 12, month % 12 + 1, 1);
  last_day constant date := (first_day + interval '1 month' - interval '1 day')::date;
begin
  return case weekday / 100
    when 5 then last_day - (extract(isodow from last_day)::int - weekday % 100 + 7) % 7
    else first_day + (weekday % 100 - extract(isodow from first_day)::int + 7) % 7 + (weekday / 100 - 1) * 7
  end;
end
$$;
comment on function app.month_weekday is
  'Returns the date of a weekday code in a month (app.month_of). A code is 100 times the position in the month (5 for '
  'the last) plus the ISO number of the weekday: 302 is the third Tuesday.';

create or replace function app.month_dates(month int, days int[]) returns date[]
language plpgsql immutable set search_path = '' as $$
declare
  dates date[] := '{}';
  day int;
  candidate date;
  latest date;
begin
  if days[1] > 31 then
    return array(select app.month_weekday(month, d) as candidate from unnest(days) as d order by candidate);
  end if;
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
comment on function app.month_dates is
  'Returns several days or weekdays of a month as dates in order; days that coincide on the last day of a short month '
  'count once.';

-- Counts the dates of several days a month: one per day, minus those that coincide in short months.

create or replace function app.count_congruent(first int, step int, terms int, modulus int, residue int) returns int
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
  -- The index of the first such term solves position * step = distance modulo the period, where every unit is its own
  -- inverse, since the modulus divides 24.
  position := (distance / common * (step / common) % period + period) % period;
  return greatest(0, (terms - position + period - 1) / period);
end
$$;
comment on function app.count_congruent is
  'Returns the number of terms first, first + step, … with this residue modulo a divisor of 24.';

create or replace function app.count_leap_years(first int, step int, terms int) returns int
language sql immutable
  return app.count_congruent(first, step, terms, 4, 0) - (
    select count(*) from generate_series(21, (first + step * (terms - 1)) / 100) as century
    where century % 4 <> 0 and century * 100 >= first and (century * 100 - first) % step = 0
  );
comment on function app.count_leap_years is
  'Returns the number of leap years among the years first, first + step, …, from 1901 on.';

create or replace function app.count_short_months(first int, step int, terms int, days int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  februaries constant int := app.count_congruent(first, step, terms, 12, 1);
  years_apart constant int := step / gcd(step, 12);
  first_february int;
begin
  case days
    when 30 then
      return februaries + app.count_congruent(first, step, terms, 12, 3)
        + app.count_congruent(first, step, terms, 12, 5)
        + app.count_congruent(first, step, terms, 12, 8) + app.count_congruent(first, step, terms, 12, 10);
    when 29 then
      return februaries;
    when 28 then
      if februaries = 0 then
        return 0;
      end if;
      -- The months of the year repeat after at most 12 steps.
      select min(first + step * i) into first_february from generate_series(0, 11) as i
        where (first + step * i) % 12 = 1;
      return februaries - app.count_leap_years(first_february / 12, years_apart, februaries);
  end case;
end
$$;
comment on function app.count_short_months is
  'Returns the number of months among first, first + step, … with at most 28, 29 or 30 days.';
