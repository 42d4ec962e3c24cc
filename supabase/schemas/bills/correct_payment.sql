-- Corrects the payment of a settled date in one call: its amount, day or note.

create or replace function app.correct_payment(bill app.expenses,
  occurrence app.expense_occurrences, amount_minor bigint, paid_on date, note text)
returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments := app.latest_payment(occurrence.id);
  wanted_minor constant bigint := coalesce(correct_payment.amount_minor, payment.amount_minor);
  wanted_on constant date := coalesce(correct_payment.paid_on, payment.paid_on);
begin
  if (correct_payment.amount_minor is null and correct_payment.paid_on is null and correct_payment.note is null)
    or payment.id is null or (
      (wanted_minor, wanted_on) = (payment.amount_minor, payment.paid_on)
      and not (payment.is_estimate and correct_payment.amount_minor is not null)
      and coalesce(correct_payment.note, payment.note) is not distinct from payment.note
    ) then
    perform app.fail_already_paid('already_paid.date', bill, payment, occurrence.due_on);
  elsif payment.amount_minor <> occurrence.paid_minor then
    perform app.fail_already_paid('already_paid.in_parts', bill, payment, occurrence.due_on);
  end if;
  if (wanted_minor, wanted_on) <> (payment.amount_minor, payment.paid_on) then
    update app.payments as p
    set amount_minor = wanted_minor, paid_on = wanted_on,
      tax_minor = app.follow_tax(p.tax_minor, p.tax_percent, wanted_minor)
    where p.id = payment.id;
  end if;
  update app.payments as p
  set note = coalesce(correct_payment.note, p.note),
    is_estimate = p.is_estimate and correct_payment.amount_minor is null
  where p.id = payment.id
    returning * into payment;
  update app.expense_occurrences as o set expected_minor = wanted_minor, amount_source = 'override'
    where o.id = occurrence.id and o.expected_minor is distinct from wanted_minor;
  return payment;
end
$$;
comment on function app.correct_payment is
  'Corrects the payment of a settled date; omitted arguments keep their values. Ends the tool with already_paid if '
  'nothing would change or several payments settled the date.';
