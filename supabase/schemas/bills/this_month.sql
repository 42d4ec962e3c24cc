-- Helpers for showing a bill in answers, as of now.

create or replace function app.default_lead_days(context app.context) returns int
language plpgsql stable set search_path = '' as $$
begin
  return (select p.default_lead_days from identity.profiles as p where p.user_id = context.owner_id);
end
$$;
comment on function app.default_lead_days is
  'Returns the default number of days between a bill''s first reminder and its due date.';

create or replace function app.times_a_month(frequency text, every int, month_days int) returns numeric
language sql immutable
  -- A mean Gregorian year has 365.2425 days, a month a twelfth.
  return case frequency
    when 'daily' then 365.2425 / 12 / every
    when 'weekly' then 365.2425 / 84 / every
    when 'monthly' then coalesce(month_days, 1)::numeric / every
    when 'yearly' then 1.0 / 12 / every
  end;
comment on function app.times_a_month is
  'Returns the average number of a bill''s periods per month, however many days each has; null for a one-time bill.';

create or replace function app.bill_state(status text, earliest_due date, next_due date, is_amount_known boolean,
  today date, lead_days int, is_settled boolean, within_days int, is_awaited boolean)
returns text
language sql immutable
  return case
    when status = 'ended' then 'paid'
    when earliest_due < today then 'overdue'
    when status <> 'active' and coalesce(next_due, 'infinity') > today + lead_days and not is_awaited then null
    when next_due <= today + lead_days and is_amount_known then 'due'
    when next_due <= today + lead_days or is_awaited then 'amount_missing'
    when next_due is null or is_settled and next_due > today + greatest(within_days, 7) then 'paid'
    when is_amount_known then 'upcoming'
    else 'amount_missing'
  end;
comment on function app.bill_state is
  'Returns overdue: an open date has passed. due: the next date is today or within the lead days. paid: all dates of '
  'this calendar month are settled, at least one by a payment, and the next date is not within a week or the '
  'requested days; or no unpaid date is left. upcoming: everything else. amount_missing replaces due or upcoming '
  'while the next date has no known amount, or an automatic payment waits for its amount. Null for a paused or '
  'cancelled bill without a due date.';

create or replace function app.this_month(bill_id text, autopay boolean, next_due date, earliest_due date, today date)
  returns table (is_settled boolean)
language sql stable rows 1
begin atomic
  -- Compare dates, because an index on dates can't serve instants.
  select earliest_due >= (date_trunc('month', today) + interval '1 month')::date and (
    exists (
      select from app.expense_occurrences as o
      -- The weekend rule moves a date by at most two days; the bounds on the scheduled date let the index serve the
      -- query.
      where o.expense_id = bill_id and o.status = 'paid'
        and o.scheduled_on between date_trunc('month', today)::date
          - 2 and (date_trunc('month', today) + interval '1 month')::date + 1
        and o.due_on >= date_trunc('month', today)::date
          and o.due_on < (date_trunc('month', today) + interval '1 month')::date
    )
    or autopay and next_due < today and exists (
      select
      from app.expenses as b
      cross join lateral app.scheduled_dates(b, app.due_index(b, today) - 1, app.due_index(b, today) - 1) as s
      where b.id = bill_id and s.due_on >= date_trunc('month', today)::date
        and app.is_paid_by_autopay(b, s.due_on, today)
        and (select u.minor from app.usual_amount(b.id, b.amount_minor, b.currency) as u) is not null
    )
  );
end;
comment on function app.this_month is
  'Whether a bill has no open date until the end of the calendar month and at least one payment in it. Includes '
  'automatic payments that are not recorded yet.';

create or replace function app.next_price_from(bill app.expenses, today date) returns date
language plpgsql stable set search_path = '' as $$
declare
  last_old constant date := (
    select max(o.scheduled_on) from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= today and o.amount_source = 'rule'
      and o.currency = bill.currency
      and o.expected_minor <> bill.amount_minor
  );
  n constant int := app.schedule_index(bill, last_old + 1);
begin
  return case when n <= coalesce(app.last_index(bill), n)
    then app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) end;
end
$$;
comment on function app.next_price_from is
  'Returns the first due date with the bill''s amount, if earlier upcoming dates still have another amount; otherwise '
  'null.';
