-- Periods: the days of "last month" for the owner, and of comparable periods.

create type app.period as (
  from_on date,
  to_on date,
  shift interval
);
comment on type app.period is
  'A range of days, both ends included. shift is the distance to the previous period; for an earlier period, the '
  'distance from the period compared with it.';

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
  'Returns the number of calendar months in a period; null unless it consists of whole months.';

create or replace function app.named_period(name text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  unit constant text := substring(name from '^(?:this|last|next)_(week|month|quarter|year)$');
  step constant interval := case unit when 'quarter' then interval '3 months' else ('1 ' || unit)::interval end;
  counted constant interval := replace(substring(name from '^last_(\d{1,3}_(?:days|weeks|months|years))$'), '_', ' ');
  first date;
begin
  case
    when counted is not null then
      return ((today + 1 - counted)::date, today, counted)::app.period;
    else
      -- Weeks begin on Monday (ISO 8601).
      first := date_trunc(unit, today::timestamp)
        + step * case substr(name, 1, 4) when 'last' then -1 when 'next' then 1 else 0 end;
      return (first, (first + step)::date - 1, step)::app.period;
  end case;
end
$$;
comment on function app.named_period is
  'Returns the period that a word such as last_month means on a day. this_, last_ and next_ mean whole weeks, months, '
  'quarters or years; last_30_days and the like end on that day.';

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
    -- A year to date. January alone counts as a month to date, and complete past months as months.
    when extract(doy from from_on) = 1 and months between 2 and 12 and (not is_whole or to_on = today)
      then interval '1 year'
    -- Monthly due dates then fall into both periods equally often.
    else make_interval(months => months)
  end;
end
$$;
comment on function app.step_of_days is
  'Returns the distance between a period and its comparison period. A year to date shifts by a year, and whole months '
  'from any day by as many months. A period that starts on the 1st shifts by the months it touches, any other by its '
  'days.';

create or replace function app.parse_period(context app.context, arguments jsonb, filter app.expense_filter)
  returns app.period
language plpgsql stable set search_path = '' as $$
declare
  period app.period;
begin
  -- Allow dates that merely repeat the period.
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
  'Returns the requested period, by default this month. from alone ends today; to alone starts at the first payment.';

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
        -- A whole step ends the day before this period, even if the 31st shifts into a shorter month.
        when (period.from_on + shift)::date = period.to_on + 1 then period.from_on - 1
        -- Month ends shift to month ends, and a full February stays full in leap years.
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
  'Returns the comparison period: the previous one, or the same days a year earlier; null for none.';

create or replace function app.compared_period(period app.period, compare text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  earlier app.period := app.earlier_period(period, compare);
begin
  if today >= period.from_on and today < period.to_on then
    -- Align days of the month, and month ends with month ends. Dates on the 1st or the last day then fall into both
    -- periods or neither.
    earlier.to_on :=
      least(earlier.to_on, greatest((today - earlier.shift)::date, (today + 1 - earlier.shift)::date - 1));
  end if;
  return earlier;
end
$$;
comment on function app.compared_period is
  'Returns the comparison period for spending. For a running period, it covers the same elapsed days.';

create or replace function app.books_begin(earlier app.period) returns date
language plpgsql stable set search_path = '' as $$
declare
  first_on constant date :=
    (select p.paid_on from app.payments as p where p.deleted_at is null order by p.paid_on limit 1);
begin
  -- Tolerate a gap of up to a tenth of the period.
  return case when first_on > earlier.from_on + (earlier.to_on - earlier.from_on + 1) / 10 then first_on end;
end
$$;
comment on function app.books_begin is
  'Returns the day of the first payment when it is too late for a comparison with an earlier period, otherwise null.';
