-- The renewals of a contract, the last days to cancel before them, and the earliest end, each computed from the first
-- recorded day. Only recorded facts count: an unknown term, renewal or notice leaves the answer empty.

create or replace function app.term_years(bill app.expenses) returns int
language sql immutable
  return case when (bill).frequency = 'yearly' then (bill).every else 1 end;
comment on function app.term_years is
  'Returns the usual renewal term: the bill''s period if it is yearly or longer, otherwise one year.';

create or replace function app.term_months(bill app.expenses) returns int
language sql immutable
  return case
    when (bill).contract ? 'renewal_months' then ((bill).contract ->> 'renewal_months')::int
    when (bill).renews_on is not null then 12 * app.term_years(bill)
  end;
comment on function app.term_months is
  'Returns the renewal term of a contract: as recorded (0: continues until it is cancelled), otherwise the usual one '
  'if it is known to renew. Null if unknown.';

create or replace function app.next_term_on(started_on date, months int) returns date
language plpgsql immutable set search_path = '' as $$
declare
  day constant date := started_on + make_interval(months => months);
begin
  return day + case when extract(day from day) < extract(day from started_on) then 1 else 0 end;
end
$$;
comment on function app.next_term_on is
  'Returns the first day after a term of this many months. The term ends the day before the same day of the month, or '
  'on the last day of a month without that day (section 188 of the German Civil Code).';

create or replace function app.first_renewal(bill app.expenses) returns date
language sql immutable
  return coalesce((bill).renews_on,
    app.next_term_on(((bill).contract ->> 'started_on')::date, ((bill).contract ->> 'term_months')::int));
comment on function app.first_renewal is
  'Returns the first day after the recorded term: renews_on, or the end of the minimum term. Null if unknown.';

create or replace function app.nth_renewal(bill app.expenses, n int) returns date
language sql immutable
  -- Count from the first day, so that the 31st and 29 February come back after a shorter month.
  return case when (bill).renews_on is not null
    then app.next_term_on((bill).renews_on, n * app.term_months(bill))
    else app.next_term_on(((bill).contract ->> 'started_on')::date,
      ((bill).contract ->> 'term_months')::int + n * app.term_months(bill)) end;
comment on function app.nth_renewal is 'Returns renewal number n of a contract, from 0.';

create or replace function app.next_term_start(bill app.expenses, day date) returns date
language plpgsql immutable set search_path = '' as $$
declare
  first constant date := app.first_renewal(bill);
  months constant int := app.term_months(bill);
  n int;
begin
  if first >= day or first is null then
    return first;
  elsif coalesce(months, 0) = 0 then
    return null;
  end if;
  -- A renewal may fall on the first day after its month.
  n := greatest((app.month_of(day) - app.month_of(first)) / months - 1, 0);
  while app.nth_renewal(bill, n) < day loop
    n := n + 1;
  end loop;
  return app.nth_renewal(bill, n);
end
$$;
comment on function app.next_term_start is
  'Returns the first day, on or after a day, that follows the end of a term of the contract; null if unknown or if '
  'none follows.';

create or replace function app.is_running(bill app.expenses) returns boolean
language sql immutable
  return (bill).status = 'active' and not coalesce((bill).contract ? 'confirmed_on', false);
comment on function app.is_running is 'Whether a bill continues: it is active, and no cancellation is confirmed.';

create or replace function app.next_renewal(bill app.expenses, day date) returns date
language plpgsql immutable set search_path = '' as $$
declare
  renews_on date;
begin
  if not app.is_running(bill) or coalesce(app.term_months(bill), 0) = 0 then
    return null;
  end if;
  renews_on := app.next_term_start(bill, day);
  return case when renews_on <= coalesce(bill.ends_on, 'infinity') then renews_on end;
end
$$;
comment on function app.next_renewal is
  'Returns the first renewal of an active bill on or after a day; null if it no longer renews or no renewal was '
  'recorded.';

create or replace function app.notice_given_on(last_day date, count int, unit text) returns date
language sql immutable
  return case unit
    when 'days' then last_day - count
    when 'weeks' then last_day - count * 7
    else least(
      (date_trunc('month', last_day) - make_interval(months => count - 1))::date - 1,
      case when last_day < (date_trunc('month', last_day) + interval '1 month')::date - 1
        then (last_day - make_interval(months => count))::date end
    )
  end;
comment on function app.notice_given_on is
  'Returns the last day to give notice so that the notice period ends by last_day. A month''s notice ends on the same '
  'day of the next month, or on its last day.';

create or replace function app.cancel_by(bill app.expenses, leaves_on date) returns date
language sql immutable
  return case when (bill).contract ? 'notice'
    then app.notice_given_on(leaves_on - 1, split_part((bill).contract ->> 'notice', ' ', 1)::int,
      split_part((bill).contract ->> 'notice', ' ', 2))
    -- notice_days counts back from the renewal itself.
    else leaves_on - (bill).notice_days end;
comment on function app.cancel_by is
  'Returns the last day to cancel so that the contract is over on a day; null without a known notice period.';

create or replace function app.next_notice_end(day date, until text) returns date
language sql immutable
  return case until
    when 'month' then date_trunc('month', day - 1) + interval '1 month'
    when 'quarter' then date_trunc('quarter', day - 1) + interval '3 months'
    else day end::date;
comment on function app.next_notice_end is
  'Returns the first day, from a day on, that follows the end of a month or quarter; every day for "day".';

create type app.contract_exit as (
  leaves_on date,
  cancel_by date,
  ends_term boolean
);
comment on type app.contract_exit is
  'An exit from a contract: the first day without the contract, and the last day to cancel for it. ends_term: the '
  'minimum term or a term of more than two months ends, so missing the day is expensive.';

create or replace function app.next_exit(bill app.expenses, today date) returns app.contract_exit
language plpgsql immutable set search_path = '' as $$
declare
  first constant date := app.first_renewal(bill);
  months constant int := app.term_months(bill);
  count constant int := split_part(bill.contract ->> 'notice', ' ', 1)::int;
  unit constant text := split_part(bill.contract ->> 'notice', ' ', 2);
  until constant text := coalesce(
    nullif(split_part(bill.contract ->> 'notice', ' to ', 2), ''),
    case when months <> 0 or first >= today then 'term' end
  );
  earliest date;
  found app.contract_exit;
begin
  if not app.is_running(bill) or count is null and bill.notice_days is null then
    return null;
  end if;
  earliest := today + 1 + case when count is null then make_interval(days => bill.notice_days - 1)
    when unit = 'months' then interval '0' else make_interval(days => count * case unit when 'weeks' then 7 else 1 end)
    end;
  if unit = 'months' then
    earliest := (today + make_interval(months => count))::date + 1;
  end if;
  if until = 'term' then
    found.leaves_on := app.next_term_start(bill, earliest);
    found.ends_term := found.leaves_on = first or months > 2;
  elsif until is not null and (first is not null or (bill.contract ->> 'term_months')::int = 0) then
    found.leaves_on := app.next_notice_end(greatest(earliest, first), until);
    -- A minimum term that ends within a month lasts until the end of that month.
    found.ends_term := until = 'quarter' or coalesce(found.leaves_on = app.next_notice_end(first, until), false);
  end if;
  found.leaves_on := case when found.leaves_on <= coalesce(bill.ends_on, 'infinity') then found.leaves_on end;
  found.cancel_by := app.cancel_by(bill, found.leaves_on);
  found.ends_term := case when found.leaves_on is not null then found.ends_term end;
  return found;
end
$$;
comment on function app.next_exit is
  'Returns the earliest exit from an active bill''s contract from a day; all null if unknown.';

create or replace function app.next_cancel_by(bill app.expenses, today date) returns date
language sql immutable
  return (app.next_exit(bill, today)).cancel_by;
comment on function app.next_cancel_by is
  'Returns the last day to cancel a bill before its next term; null without a known notice period.';

create or replace function app.missing_of_contract(bill app.expenses, today date) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  first constant date := app.first_renewal(bill);
  months constant int := app.term_months(bill);
  least_months constant int := bill.contract ->> 'term_months';
  is_to_term constant boolean :=
    coalesce(nullif(split_part(bill.contract ->> 'notice', ' to ', 2), ''), 'term') = 'term';
begin
  bill.ends_on := null;
  if not app.is_running(bill) or (app.next_exit(bill, today)).leaves_on is not null then
    return '{}';
  end if;
  return array_remove(array[
    case when not coalesce(bill.contract ? 'notice', false) and bill.notice_days is null then 'notice' end,
    case when first is null and least_months is null then 'term_months' end,
    case when first is null and (least_months > 0 or least_months = 0 and is_to_term and months > 0)
      then 'started_on' end,
    case when is_to_term and months is null then 'renewal_months' end,
    case when is_to_term and months = 0 then 'notice_to' end
  ], null);
end
$$;
comment on function app.missing_of_contract is
  'Returns the unrecorded facts that determine the earliest end of a contract: notice, term_months, started_on, '
  'renewal_months, notice_to (a day other than the end of the term). Empty if the end is known or the contract is '
  'over.';
