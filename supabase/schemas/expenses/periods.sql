-- Periods: the days that "last month" means for the owner, and the days to compare them with.

create type app.period as (
  from_on date,
  to_on date,
  shift interval
);
comment on type app.period is
  'Days from the first to the last; shift is how far back the period before lies, of an earlier period how far back it '
  'lies itself.';

create or replace function app.whole_months(period app.period) returns int
language plpgsql immutable set search_path = '' as $$
declare
  next_on constant date := period.to_on + 1;
begin
  if extract(day from period.from_on) = 1 and extract(day from next_on) = 1 then
    return (extract(year from next_on) - extract(year from period.from_on)) * 12 + extract(month from next_on)
      - extract(month from period.from_on);
  end if;
  return null;
end
$$;
comment on function app.whole_months is
  'How many months of the calendar a period is; null when it is not made of whole months.';

create or replace function app.named_period(name text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  unit constant text := substring(name from '^(?:this|last)_(week|month|quarter|year)$');
  step constant interval := case unit when 'quarter' then interval '3 months' else ('1 ' || unit)::interval end;
  counted constant interval := replace(substring(name from '^last_(\d{1,3}_(?:days|weeks|months|years))$'), '_', ' ');
  first date;
begin
  case
    when counted is not null then
      return ((today + 1 - counted)::date, today, counted)::app.period;
    else
      -- Weeks begin on Monday (ISO 8601).
      first := date_trunc(unit, today::timestamp) - case when name like 'last%' then step else interval '0' end;
      return (first, (first + step)::date - 1, step)::app.period;
  end case;
end
$$;
comment on function app.named_period is
  'The period that a word such as last_month means on a day: whole weeks, months, quarters and years; the others end '
  'on that day.';

create or replace function app.step_of_days(from_on date, to_on date, today date) returns interval
language plpgsql immutable set search_path = '' as $$
declare
  next_on constant date := to_on + 1;
  borders constant int := (extract(year from next_on) - extract(year from from_on)) * 12
    + extract(month from next_on) - extract(month from from_on);
  is_whole constant boolean := from_on + make_interval(months => borders) = next_on;
  months constant int := borders + case when is_whole then 0 else 1 end;
begin
  return case
    when extract(day from from_on) <> 1 and not is_whole then make_interval(days => next_on - from_on)
    -- The current year so far. A single month of it is a month so far; past months are complete.
    when extract(doy from from_on) = 1 and months between 2 and 12 and (not is_whole or to_on = today)
      then interval '1 year'
    -- What is due on a day of the month is in both as often.
    else make_interval(months => months)
  end;
end
$$;
comment on function app.step_of_days is
  'How far before given days those lie that they are compared with: of a year so far a year, of whole months from any '
  'day as many, of what begins with a month as many as it reaches into, else as many days.';

create or replace function app.parse_period(context app.context, arguments jsonb, filter app.expense_filter)
  returns app.period
language plpgsql stable set search_path = '' as $$
declare
  period app.period;
begin
  -- Dates beside the period that they are of say the same twice.
  if arguments ? 'period' and num_nonnulls(filter.from_on, filter.to_on) > 0 then
    period := app.named_period(arguments ->> 'period', context.today);
    if coalesce(filter.from_on, period.from_on) = period.from_on and coalesce(filter.to_on, period.to_on) = period.to_on
    then
      return period;
    end if;
    perform app.fail('invalid_argument.period_and_dates', field => 'period');
  end if;
  if num_nonnulls(filter.from_on, filter.to_on) = 0 then
    return app.named_period(coalesce(arguments ->> 'period', 'this_month'), context.today);
  end if;
  period.to_on := coalesce(filter.to_on, greatest(context.today, filter.from_on));
  period.from_on := coalesce(
    filter.from_on,
    (select p.paid_on from app.payments as p where p.deleted_at is null and p.paid_on <= filter.to_on order by p.paid_on
      limit 1),
    filter.to_on
  );
  if period.to_on - period.from_on > 3660 then
    perform app.fail(
      'date_out_of_range.period_too_long', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'years', 10),
      'from'
    );
  end if;
  period.shift := app.step_of_days(period.from_on, period.to_on, context.today);
  return period;
end
$$;
comment on function app.parse_period is
  'The requested period: this month by default; from alone ends today, to alone starts at the first payment.';

create or replace function app.earlier_period(period app.period, compare text) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  shift constant interval := case compare when 'same_period_last_year' then interval '1 year'
    when 'previous_period' then period.shift end;
begin
  return case when shift is not null then (
    (period.from_on - shift)::date,
    least(
      period.from_on - 1,
      case
        -- Up to the day before, also where what begins on the 31st began sooner in a shorter month.
        when (period.from_on + shift)::date = period.to_on + 1 then period.from_on - 1
        -- The end of a month with the end of the other, and February as a whole stays one in leap years.
        when extract(day from period.from_on) = 1
          then greatest((period.to_on - shift)::date, (period.to_on + 1 - shift)::date - 1)
        else (period.to_on - shift)::date
      end
    ),
    shift
  )::app.period end;
end
$$;
comment on function app.earlier_period is
  'The period to compare with: the one before, or the same days a year before; null for none.';

create or replace function app.compared_period(period app.period, compare text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  earlier app.period := app.earlier_period(period, compare);
begin
  if today >= period.from_on and today < period.to_on then
    -- The same days of each month, and month ends with month ends, so that dates on the 1st or the last day are in both
    -- or in neither.
    earlier.to_on :=
      least(earlier.to_on, greatest((today - earlier.shift)::date, (today + 1 - earlier.shift)::date - 1));
  end if;
  return earlier;
end
$$;
comment on function app.compared_period is
  'The period to compare spending with; for a running period, the same elapsed days.';

create or replace function app.books_begin(earlier app.period) returns date
language plpgsql stable set search_path = '' as $$
declare
  first_on constant date :=
    (select p.paid_on from app.payments as p where p.deleted_at is null order by p.paid_on limit 1);
begin
  -- Books that begin within the first tenth of a period can be compared with it.
  return case when first_on > earlier.from_on + (earlier.to_on - earlier.from_on + 1) / 10 then first_on end;
end
$$;
comment on function app.books_begin is
  'The day of the first payment, when it lies so far into an earlier period, or after it, that the two cannot be '
  'compared; else null.';
