-- Finds the date of a payment. If the person names no date, only a plausible one is paid: reporting a payment twice
-- must not pay the next date.

create or replace function app.latest_payment(occurrence_id text) returns app.payments
language plpgsql stable set search_path = '' as $$
begin
  return (
    select p from app.payments as p
    where p.occurrence_id = latest_payment.occurrence_id and p.deleted_at is null
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.latest_payment is
  'Returns the payment that was recorded last for a date; null without payments.';

create or replace function app.is_ahead(bill app.expenses, due_on date, today date, lead_days int) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- Between two dates, choose the nearer one, regardless of when the next reminder comes.
  return is_ahead.due_on > today + lead_days or exists (
    select from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'paid' and o.due_on < is_ahead.due_on
      and today - o.due_on < is_ahead.due_on - today
  );
end
$$;
comment on function app.is_ahead is
  'Whether a date is so far ahead that "it is paid" cannot mean it: outside its lead days, or further away than a '
  'paid date before it.';

create or replace function app.next_open_occurrence(context app.context, bill app.expenses, amount text,
  in_advance boolean, paid_on date) returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  lead_days constant int := coalesce(bill.remind_days_before, app.default_lead_days(context));
  occurrence app.expense_occurrences;
  latest app.payments;
  paid app.expense_occurrences;
  is_ahead boolean;
begin
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open'
  order by not in_advance and o.due_on = next_open_occurrence.paid_on desc, o.due_on, o.scheduled_on
  limit 1;
  if occurrence.id is null and bill.status in ('paused', 'cancelled') then
    perform app.fail('invalid_argument.bill_inactive', jsonb_build_object('name', bill.name, 'status', bill.status),
      'bill_id');
  elsif occurrence.id is null then
    perform app.fail_already_paid(
      'already_paid.all', bill,
      (select p from app.payments as p where p.expense_id = bill.id and p.deleted_at is null
        order by p.paid_on desc, p.recorded_seq desc limit 1)
    );
  end if;
  -- After a partial payment, a further payment is for the rest of that date, however far ahead.
  is_ahead := occurrence.paid_minor = 0 and app.is_ahead(bill, occurrence.due_on, context.today, lead_days);
  if in_advance and not is_ahead then
    perform app.fail('invalid_argument.not_in_advance', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on
    ), 'advance');
  end if;

  -- When two people report it, or a client retries after a lost answer, they mean the previous date. A different amount
  -- distinguishes another partial payment from a retry.
  select * into latest
  from app.payments as p
  where p.expense_id = bill.id and p.source = 'assistant' and p.deleted_at is null
    and p.created_at > context.at - interval '24 hours'
  order by p.recorded_seq desc
  limit 1;
  select * into paid from app.expense_occurrences as o where o.id = latest.occurrence_id;
  if not in_advance and (
    paid.status = 'paid' or latest.amount_minor = app.parse_amount(amount, occurrence.currency, 'amount')
  ) then
    perform app.fail_already_paid('already_paid.just_now', bill, latest, paid.due_on, occurrence.due_on);
  end if;
  select * into paid
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'paid' and o.due_on < occurrence.due_on
  order by o.due_on desc, o.scheduled_on desc
  limit 1;
  -- A bill with one date is unambiguous.
  if is_ahead and not in_advance and paid.id is null and bill.frequency <> 'once' then
    perform app.fail('not_due', jsonb_build_object(
      'name', bill.name, 'details', jsonb_build_object('bill_id', bill.id, 'next_due', occurrence.due_on)
    ), 'due_on');
  elsif is_ahead and not in_advance and paid.id is not null then
    perform app.fail_already_paid(
      'already_paid.until_next', bill, app.latest_payment(paid.id), paid.due_on, occurrence.due_on
    );
  elsif is_ahead and app.is_ahead(bill, paid.due_on, context.today, lead_days) then
    -- Fail, so that a repeated call does not pay one date after the other.
    perform app.fail_already_paid(
      'already_paid.in_advance', bill, app.latest_payment(paid.id), paid.due_on, occurrence.due_on
    );
  end if;
  return occurrence;
end
$$;
comment on function app.next_open_occurrence is
  'Returns the open date for a payment: the date due on the payment''s day, otherwise the earliest date that is '
  'overdue or within its lead days. With in_advance, returns the next one. Ends the tool when that date is not open or '
  'was paid within 24 hours, with the payer, the payment and the next date.';

create or replace function app.check_days_apart(bill app.expenses, due_on date, paid_on date, confirmed int)
  returns void
language plpgsql immutable set search_path = '' as $$
declare
  most constant int := 180;
begin
  if abs(paid_on - due_on) > most and abs(paid_on - due_on) is distinct from confirmed then
    perform app.fail('date_out_of_range.far_from_due', jsonb_build_object(
      'name', bill.name, 'due_on', check_days_apart.due_on, 'paid_on', check_days_apart.paid_on,
      'days', abs(paid_on - due_on)
    ), 'paid_on');
  end if;
end
$$;
comment on function app.check_days_apart is
  'Ends the tool if a payment is half a year from its date, because the year is usually wrong. The caller can confirm '
  'the distance.';
