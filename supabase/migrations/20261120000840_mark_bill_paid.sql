-- mark_bill_paid: a payment for one due date of a bill. The bill's row is locked before anything is read that decides, so that two calls at
-- once pay once.

create function app.find_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  wanted constant text := lower(app.clean_text(arguments ->> 'bill_name'));
  bill app.expenses;
  candidates app.expenses[];
begin
  if arguments ? 'bill_id' then
    bill := app.require_bill(context, arguments ->> 'bill_id');
    if wanted is not null and lower(bill.name) <> wanted and (
      strpos(lower(concat_ws(E'\n', bill.name, bill.payee)), wanted) = 0
      or exists (
        select from app.expenses as e
        where e.organization_id = context.organization_id and e.kind = 'bill' and e.status in ('active', 'paused') and e.deleted_at is null
          and lower(e.name) = wanted
      )
    ) then
      perform app.fail('invalid_argument.id_and_name_differ', jsonb_build_object(
        'name', bill.name, 'bill_name', app.clean_text(arguments ->> 'bill_name'),
        'details', jsonb_build_object('bill_id', bill.id, 'name', bill.name)
      ), 'bill_id');
    end if;
    return bill;
  end if;
  if wanted is null then
    perform app.fail('invalid_argument.bill_not_named', field => 'bill_id');
  end if;
  -- The best kind of match decides: an active bill before one that is over, the exact name before a part of it, names before payees.
  select array_agg(m.bill order by m.recorded_seq) into candidates
  from (
    select e as bill, e.recorded_seq, rank() over (order by
      e.status not in ('active', 'paused'), lower(e.name) <> wanted, strpos(lower(e.name), wanted) = 0
    ) as place
    from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      and strpos(lower(concat_ws(E'\n', e.name, e.payee)), wanted) > 0
  ) as m
  where m.place = 1;
  if candidates is null then
    perform app.fail('not_found.bill_name', jsonb_build_object(
      'bill_name', app.clean_text(arguments ->> 'bill_name'), 'organization', context.organization_name,
      'details', jsonb_build_object('suggestions', (
        select coalesce(jsonb_agg(s.name order by s.likeness desc, s.name), '[]')
        from (
          select e.name, app.text_likeness(e.name, wanted) as likeness
          from app.expenses as e
          where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
          order by likeness desc, e.name
          limit 3
        ) as s
      ))
    ), 'bill_name');
  elsif cardinality(candidates) > 1 then
    perform app.fail('ambiguous_name', jsonb_build_object(
      'count', cardinality(candidates), 'bill_name', app.clean_text(arguments ->> 'bill_name'),
      'details', jsonb_build_object('candidates', (
        select jsonb_agg(jsonb_build_object(
          'id', b ->> 'id', 'name', b ->> 'name', 'payee', b ->> 'payee', 'amount', b ->> 'amount', 'currency', b ->> 'currency',
          'next_due', b ->> 'next_due'
        ))
        from jsonb_array_elements(app.describe_bills(context, array(select (c).id from unnest(candidates[:10]) as c))) as b
      ))
    ), 'bill_name');
  end if;
  return candidates[1];
end
$$;
comment on function app.find_bill is 'The bill of a bill_id, or the only one of a bill_name; both must mean the same. Ends the tool with not_found or ambiguous_name.';

create function app.fail_already_paid(
  code text, bill app.expenses, payment app.payments, due_on date default null, next_due date default null, field text default 'due_on'
) returns void
language plpgsql stable set search_path = '' as $$
declare
  details constant jsonb := jsonb_build_object('bill_id', bill.id, 'name', bill.name, 'due_on', due_on) || case
    when payment.id is null then '{}'
    else jsonb_build_object('payment', jsonb_build_object(
      'id', payment.id, 'amount', app.format_amount(payment.amount_minor, payment.currency), 'currency', payment.currency,
      'paid_on', payment.paid_on
    ))
  end;
begin
  perform app.fail(code, details || jsonb_build_object('next_due', next_due, 'details', details), field);
end
$$;
comment on function app.fail_already_paid is 'Ends the tool with already_paid, and tells the payment that did it.';

create function app.fail_not_due(bill app.expenses, day date, field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  open_dates constant date[] := array(
    select o.due_on from app.expense_occurrences as o where o.expense_id = bill.id and o.status = 'open' order by o.due_on
  );
begin
  perform app.fail('invalid_argument.not_due', jsonb_build_object(
    'name', bill.name, 'date', day, 'details', jsonb_build_object('open_dates', open_dates)
  ), field);
end
$$;
comment on function app.fail_not_due is 'Ends the tool because a bill has no such date; says which ones are open.';

create function app.find_occurrence(bill app.expenses, day date, field text default 'due_on') returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  n int := app.due_index(bill, day);
begin
  -- A person may name the scheduled date where the weekend rule has moved the due one.
  if app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) is distinct from day then
    n := app.schedule_index(bill, day);
  end if;
  if bill.status in ('active', 'ended') and n <= coalesce(app.last_index(bill), n)
    and day in (app.scheduled_on(bill, n), app.due_on(app.scheduled_on(bill, n), bill.weekend_rule)) then
    perform app.materialize_occurrences(bill, n, n);
  end if;
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and day in (o.due_on, o.scheduled_on)
  order by o.status <> 'open', o.due_on <> day, o.scheduled_on
  limit 1;
  if not found then
    perform app.fail_not_due(bill, day, field);
  end if;
  return occurrence;
end
$$;
comment on function app.find_occurrence is 'The occurrence of a bill on a day, made when the schedule has that day; else an error that says what is open.';

create function app.occurrence_due_on(bill app.expenses, day date) returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence constant app.expense_occurrences := app.find_occurrence(bill, day);
begin
  if occurrence.status = 'skipped' then
    perform app.fail('invalid_argument.skipped', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on), 'due_on');
  elsif occurrence.status = 'paid' then
    perform app.fail_already_paid(
      'already_paid.date', bill,
      (select p from app.payments as p where p.occurrence_id = occurrence.id and p.deleted_at is null order by p.recorded_seq desc limit 1),
      occurrence.due_on
    );
  end if;
  return occurrence;
end
$$;
comment on function app.occurrence_due_on is 'The open occurrence of a bill on a day; ends the tool when it is closed.';

create function app.next_open_occurrence(context app.context, bill app.expenses, amount_minor bigint) returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  latest app.payments;
  paid app.expense_occurrences;
begin
  -- An answer that got lost is asked for again, and the second call must not pay the next due date. Another part payment is told from a
  -- repeated one by its amount.
  select * into latest
  from app.payments as p
  where p.expense_id = bill.id and p.paid_by = context.actor_id and p.source = 'assistant' and p.deleted_at is null
    and p.created_at > context.at - interval '24 hours'
  order by p.recorded_seq desc
  limit 1;
  select * into paid from app.expense_occurrences as o where o.id = latest.occurrence_id;
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open'
  order by o.due_on, o.scheduled_on
  limit 1;
  if paid.status = 'paid' or latest.amount_minor = next_open_occurrence.amount_minor then
    perform app.fail_already_paid('already_paid.just_now', bill, latest, paid.due_on, occurrence.due_on);
  elsif occurrence.id is null and bill.status in ('paused', 'cancelled') then
    perform app.fail('invalid_argument.bill_inactive', jsonb_build_object('name', bill.name, 'status', bill.status), 'bill_id');
  elsif occurrence.id is null then
    perform app.fail_already_paid(
      'already_paid.all', bill,
      (select p from app.payments as p where p.expense_id = bill.id and p.deleted_at is null order by p.paid_on desc, p.recorded_seq desc limit 1)
    );
  end if;
  return occurrence;
end
$$;
comment on function app.next_open_occurrence is 'The earliest open occurrence of a bill; already_paid when this person paid the bill within 24 hours, or nothing is open.';

create function app.settle_occurrence(context app.context, bill app.expenses, occurrence app.expense_occurrences, given_minor bigint, paid_on date, note text)
returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  paid constant bigint := app.paid_minor(occurrence.id);
  remaining constant bigint := occurrence.expected_minor - paid;
  -- An estimate gives way to what was really charged; a fixed price, an amount set by hand or fetched from the provider stands.
  is_exact constant boolean := occurrence.expected_minor is not null and (bill.amount_mode = 'fixed' or occurrence.amount_source <> 'rule');
  charged_minor constant bigint := coalesce(given_minor, remaining);
  payment app.payments;
begin
  if charged_minor is null then
    perform app.fail(
      'invalid_argument.amount_unknown', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on), 'amount'
    );
  elsif is_exact and charged_minor > remaining then
    perform app.fail('overpayment', jsonb_build_object(
      'name', bill.name, 'whole', app.format_amount(paid + charged_minor, bill.currency),
      'due_on', occurrence.due_on, 'remaining', app.format_amount(remaining, bill.currency), 'currency', bill.currency,
      'details', jsonb_build_object(
        'due_on', occurrence.due_on, 'remaining', app.format_amount(remaining, bill.currency), 'currency', bill.currency
      )
    ), 'amount');
  end if;
  payment := app.pay_occurrence(occurrence, charged_minor, paid_on, 'assistant', context.actor_id, note);
  if not is_exact or charged_minor = remaining then
    update app.expense_occurrences as o
    set status = 'paid', closed_at = context.at, expected_minor = paid + charged_minor,
      amount_source = case when is_exact or paid + charged_minor = o.expected_minor then o.amount_source else 'override' end
    where o.id = occurrence.id;
  end if;
  return payment;
end
$$;
comment on function app.settle_occurrence is 'Pays an occurrence: what remains, or a given amount; one less than what remains leaves it open.';

create function app.mark_bill_paid(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  paid_on date := app.parse_date(context, coalesce(arguments ->> 'paid_on', 'today'), 'paid_on');
  due_on constant date := app.parse_date(context, arguments ->> 'due_on', 'due_on');
  bill app.expenses := app.find_bill(context, arguments);
  amount_minor constant bigint := app.parse_amount(arguments ->> 'amount', bill.currency, 'amount');
  occurrence app.expense_occurrences;
  payment app.payments;
  remaining text;
  still_open date[];
  warnings jsonb := '[]';
begin
  if paid_on > context.today then
    perform app.fail('date_out_of_range.paid_in_future', jsonb_build_object('date', paid_on), 'paid_on');
  end if;
  paid_on := app.parse_paid_on(context, paid_on::text, 'paid_on');
  if arguments ->> 'currency' <> bill.currency then
    perform app.fail('invalid_argument.other_currency', jsonb_build_object(
      'name', bill.name, 'currency', bill.currency, 'given', arguments ->> 'currency'
    ), 'currency');
  end if;
  perform from app.expenses as e where e.id = bill.id for update;
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;
  occurrence := case
    when due_on is not null then app.occurrence_due_on(bill, due_on)
    else app.next_open_occurrence(context, bill, amount_minor)
  end;
  payment := app.settle_occurrence(context, bill, occurrence, amount_minor, paid_on, nullif(btrim(arguments ->> 'note'), ''));
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;

  if occurrence.status = 'open' then
    remaining := app.format_amount(occurrence.expected_minor - app.paid_minor(occurrence.id), bill.currency);
  end if;
  if occurrence.status = 'open' then
    warnings := warnings || app.warning('partly_paid', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'remaining', remaining, 'currency', bill.currency,
      'paid', app.format_amount(app.paid_minor(occurrence.id), bill.currency)
    ));
  end if;
  if payment.base_minor is null then
    warnings := warnings || app.warning('rate_missing.of_payment', jsonb_build_object(
      'currency', bill.currency, 'into', context.base_currency, 'date', paid_on
    ));
  end if;
  if occurrence.due_on > context.today + coalesce(bill.remind_days_before, app.default_lead_days(context)) then
    warnings := warnings || app.warning('paid_in_advance', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'days', occurrence.due_on - context.today
    ));
  end if;
  still_open := array(
    select o.due_on from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on < context.today and o.id <> occurrence.id
    order by o.due_on
  );
  if still_open <> '{}' then
    warnings := warnings || app.warning('overdue', jsonb_build_object('name', bill.name, 'dates', still_open));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'payment', jsonb_build_object(
        'id', payment.id, 'amount', app.format_amount(payment.amount_minor, bill.currency), 'currency', bill.currency, 'paid_on', payment.paid_on,
        'base_amount', app.format_amount(payment.base_minor, payment.base_currency)
      ),
      'occurrence', jsonb_build_object('due_on', occurrence.due_on, 'status', occurrence.status, 'remaining', remaining),
      'next_due', case when bill.next_due >= context.today then bill.next_due end,
      'bill_id', bill.id,
      'name', bill.name
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(payment.amount_minor, bill.currency),
      'currency', bill.currency, 'remaining', remaining
    ))
  );
end
$$;
comment on function app.mark_bill_paid is 'Tool mark_bill_paid: data {payment, occurrence, next_due?, bill_id, name}.';

revoke all on function
  app.find_bill, app.fail_already_paid, app.fail_not_due, app.find_occurrence, app.occurrence_due_on, app.next_open_occurrence, app.settle_occurrence, app.mark_bill_paid from public, anon;
grant execute on function
  app.find_bill, app.fail_already_paid, app.fail_not_due, app.find_occurrence, app.occurrence_due_on, app.next_open_occurrence, app.settle_occurrence, app.mark_bill_paid to authenticated, service_role;
