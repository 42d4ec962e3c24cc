create or replace function app.mark_bill_paid(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  paid_on date := app.parse_date(context, coalesce(arguments ->> 'paid_on', 'today'), 'paid_on');
  note constant text := nullif(btrim(arguments ->> 'note'), '');
  due_on date;
  bill app.expenses := app.find_bill(context, arguments);
  amount_minor bigint;
  payer constant uuid := app.parse_payer(context, arguments ->> 'paid_by', 'paid_by');
  occurrence app.expense_occurrences;
  before app.payments;
  payment app.payments;
  spending app.payments;
  apart app.payments;
  remaining text;
  still_open date[];
  warnings jsonb := '[]';
begin
  if paid_on > context.today then
    perform app.fail('date_out_of_range.paid_in_future', jsonb_build_object('date', paid_on), 'paid_on');
  end if;
  paid_on := app.parse_paid_on(context, paid_on::text, 'paid_on');
  perform from app.expenses as e where e.id = bill.id for no key update;
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;
  due_on := app.parse_due_on(context, bill, arguments ->> 'due_on', 'due_on');
  occurrence := case
    when due_on is not null then app.find_occurrence(bill, due_on)
    else app.next_open_occurrence(
      context, bill, arguments ->> 'amount', coalesce((arguments ->> 'advance')::boolean, false), paid_on
    )
  end;
  -- If the bill changed its currency after the date was settled, the date keeps its payment's currency.
  amount_minor := app.parse_amount(arguments ->> 'amount', occurrence.currency, 'amount');
  if arguments ->> 'currency' <> occurrence.currency then
    perform app.fail('invalid_argument.other_currency', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'currency', occurrence.currency,
      'given', arguments ->> 'currency'
    ), 'currency');
  end if;
  if occurrence.status = 'skipped' then
    perform app.fail('invalid_argument.skipped', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on),
      'due_on');
  elsif occurrence.status = 'open' or arguments ? 'paid_on' then
    perform app.check_days_apart(bill, occurrence.due_on, paid_on, (arguments ->> 'confirm_days')::int);
  end if;
  if occurrence.status = 'paid' then
    before := app.latest_payment(occurrence.id);
    payment := case
      when (payer is distinct from before.paid_by and payer is not null or arguments ? 'charged')
        and num_nonnulls(amount_minor, note) = 0 and not arguments ? 'paid_on' then before
      else app.correct_payment(
        bill, occurrence, amount_minor, case when arguments ? 'paid_on' then paid_on end, note
      )
    end;
  else
    if arguments ->> 'on_duplicate' is distinct from 'allow' then
      spending := app.find_spending(bill, occurrence, amount_minor, array[paid_on, occurrence.due_on]);
      if spending.id is null and amount_minor is not null then
        spending := app.find_spending(bill, occurrence, null, array[paid_on, occurrence.due_on]);
        if spending.id is not null then
          perform app.fail(
            'duplicate.other_amount', app.describe_spending(bill, occurrence.due_on, spending), 'amount'
          );
        end if;
      end if;
      if spending.id is null then
        apart := app.find_spending(bill, occurrence, amount_minor, array[paid_on, occurrence.due_on], false);
      end if;
    end if;
    if not arguments ? 'paid_on' then
      paid_on := coalesce(spending.paid_on, paid_on);
    end if;
    payment := app.settle_occurrence(context, bill, occurrence, amount_minor, paid_on, note, payer, spending);
  end if;
  if payer is not null and payer is distinct from payment.paid_by then
    update app.payments as p set paid_by = payer where p.id = payment.id returning p.* into payment;
  end if;
  payment := app.charge_payment(context, payment, arguments -> 'charged');
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;

  if occurrence.status = 'open' then
    remaining := app.format_amount(occurrence.expected_minor - app.paid_minor(occurrence.id), occurrence.currency);
  end if;
  if occurrence.status = 'open' then
    warnings := warnings || app.warning('partly_paid', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'remaining', remaining, 'currency', occurrence.currency,
      'paid', app.format_amount(app.paid_minor(occurrence.id), occurrence.currency)
    ));
  end if;
  if payment.base_minor is null then
    warnings := warnings || app.warning('rate_missing.of_payment', jsonb_build_object(
      'currency', payment.currency, 'into', context.base_currency, 'date', paid_on, 'is_awaited', not payment.is_final
    ));
  end if;
  warnings := warnings || app.warn_of_pending(
    not payment.is_final and payment.base_minor is not null, context.base_currency, paid_on
  );
  if spending.id is not null then
    warnings := warnings || app.warning('linked', app.describe_spending(bill, occurrence.due_on, spending));
  end if;
  if apart.id is not null then
    warnings := warnings || app.warning('already_spent', app.describe_spending(bill, occurrence.due_on, apart)
      || '{"is_paid":true}');
  end if;
  if before.amount_minor <> payment.amount_minor and not arguments ? 'charged' then
    warnings := warnings || app.warn_of_charge(payment.charged_minor, payment.charged_currency, 'charged');
  end if;
  if before.id is not null then
    warnings := warnings || app.warning('corrected', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(before.amount_minor, before.currency),
      'currency', before.currency, 'paid_on', before.paid_on, 'by', app.member_name(before.paid_by),
      'is_automatic', nullif(before.source = 'autopay', false)
    ));
  elsif occurrence.due_on > context.today + coalesce(bill.remind_days_before, app.default_lead_days(context)) then
    warnings := warnings || app.warning('paid_in_advance', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'days', occurrence.due_on - context.today
    ));
  end if;
  still_open := array(
    select o.due_on from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.id <> occurrence.id and (
      o.due_on < context.today
      -- The person may have meant the coming date, if the payment is nearer to it.
      or not arguments ? 'due_on' and occurrence.due_on < o.due_on
        and abs(o.due_on - paid_on) < abs(paid_on - occurrence.due_on)
        and o.due_on <= context.today + coalesce(bill.remind_days_before, app.default_lead_days(context))
    )
    order by o.due_on
  );
  if still_open <> '{}' then
    warnings := warnings || app.warning('overdue', jsonb_build_object(
      'name', bill.name, 'dates', still_open, 'took', case when not arguments ? 'due_on' then occurrence.due_on end,
      'is_of_day', nullif(occurrence.due_on = paid_on, false)
    ));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'payment', jsonb_build_object(
        'id', payment.id, 'amount', app.format_amount(payment.amount_minor, payment.currency),
        'currency', payment.currency, 'paid_on', payment.paid_on,
        'base_amount', app.format_amount(payment.base_minor, payment.base_currency),
        'paid_by', case when payment.paid_by <> context.actor_id then app.member_name(payment.paid_by) end,
        'shared', app.describe_shares(payment.id)
      ),
      'occurrence',
      jsonb_build_object('due_on', occurrence.due_on, 'status', occurrence.status, 'remaining', remaining),
      'next_due', case when bill.next_due >= context.today then bill.next_due end,
      'bill_id', bill.id,
      'name', bill.name,
      'before', case when before.id is not null then jsonb_build_object(
        'amount', app.format_amount(before.amount_minor, before.currency), 'paid_on', before.paid_on
      ) end
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on,
      'amount', app.format_amount(payment.amount_minor, payment.currency), 'currency', payment.currency,
      'remaining', remaining, 'paid_on', payment.paid_on,
      'before', case when before.id is not null then jsonb_build_object(
        'amount', app.format_amount(before.amount_minor, before.currency), 'paid_on', before.paid_on
      ) end
    ))
  );
end
$$;
comment on function app.mark_bill_paid is
  'Tool mark_bill_paid. Returns data {payment, occurrence, next_due?, bill_id, name, before?}; before {amount, '
  'paid_on} is the earlier payment of a corrected date.';
