-- mark_bill_paid: records a payment for one due date of a bill. Locks the bill before reading its dates, so that two
-- concurrent calls pay once.

create or replace function app.find_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  wanted constant text := app.fold_text(app.clean_text(arguments ->> 'bill_name'));
  words constant text[] := app.word_patterns(wanted);
  bill app.expenses;
  candidates app.expenses[];
  suggestions jsonb;
begin
  if arguments ? 'bill_id' then
    bill := app.require_bill(context, arguments ->> 'bill_id');
    if wanted is not null and app.fold_text(bill.name) <> wanted and (
      not app.fold_text(concat_ws(' ', bill.name, bill.payee)) like all (words)
      or exists (
        select from app.expenses as e
        where e.organization_id = context.organization_id and e.kind = 'bill' and e.status in ('active', 'paused')
          and e.deleted_at is null
          and app.fold_text(e.name) = wanted
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
  -- Better matches win: active bills before ended ones, exact names before parts, names before payees.
  select array_agg(m.bill order by m.recorded_seq) into candidates
  from (
    select e as bill, e.recorded_seq, rank() over (order by
      e.status not in ('active', 'paused'), app.fold_text(e.name) <> wanted,
      not app.fold_text(e.name) like all (words)
    ) as place
    from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      and app.fold_text(concat_ws(' ', e.name, e.payee)) like all (words)
  ) as m
  where m.place = 1;
  if candidates is null then
    -- Texts that contain the name, such as "Plumber bill".
    select array_agg(e order by e.recorded_seq) into candidates
    from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      and e.status in ('active', 'paused')
      and starts_with(wanted || ' ', app.fold_text(e.name) || ' ');
  end if;
  if candidates is null then
    suggestions := (
      select coalesce(jsonb_agg(s.name order by s.likeness desc, s.name), '[]')
      from (
        select e.name, app.text_likeness(app.fold_text(e.name), wanted) as likeness
        from app.expenses as e
        where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
        order by likeness desc, e.name
        limit 3
      ) as s
      -- Names that only share some letters do not count.
      where s.likeness >= 0.4
    );
    perform app.fail('not_found.bill_name', jsonb_build_object(
      'bill_name', app.clean_text(arguments ->> 'bill_name'), 'organization', context.organization_name,
      'details', jsonb_build_object('suggestions', suggestions) || case
        when suggestions = '[]' then coalesce(app.find_near_bills(context, words), '{}') else '{}' end
    ), 'bill_name');
  elsif cardinality(candidates) > 1 then
    perform app.fail('ambiguous_name', jsonb_build_object(
      'count', cardinality(candidates), 'bill_name', app.clean_text(arguments ->> 'bill_name'),
      'details', jsonb_build_object('candidates', (
        select jsonb_agg(jsonb_build_object(
          'id', b ->> 'id', 'name', b ->> 'name', 'payee', b ->> 'payee', 'amount', b ->> 'amount', 'currency',
          b ->> 'currency',
          'next_due', b ->> 'next_due'
        ))
        from jsonb_array_elements(app.describe_bills(context, array(select (c).id from unnest(candidates[:10]) as c)))
          as b
      ))
    ), 'bill_name');
  end if;
  return candidates[1];
end
$$;
comment on function app.find_bill is
  'Returns the bill of a bill_id, or the only one with a bill_name; if both are given, they must match. Ends the tool '
  'with not_found or ambiguous_name.';

create or replace function app.fail_already_paid(
  code text, bill app.expenses, payment app.payments, due_on date default null, next_due date default null,
  field text default 'due_on'
) returns void
language plpgsql stable set search_path = '' as $$
declare
  parts int;
  paid_minor bigint;
  details jsonb := jsonb_build_object('bill_id', bill.id, 'name', bill.name, 'due_on', due_on);
begin
  if payment.id is not null then
    select count(*), sum(p.amount_minor) into parts, paid_minor
    from app.payments as p
    where p.occurrence_id = payment.occurrence_id and p.deleted_at is null;
    details := details || jsonb_build_object('payment', jsonb_build_object(
      'id', payment.id, 'amount', app.format_amount(paid_minor, payment.currency), 'currency',
      payment.currency,
      'paid_on', payment.paid_on, 'by', app.member_name(payment.paid_by),
      'is_automatic', nullif(payment.source = 'autopay', false),
      'parts', nullif(parts, 1)
    ));
  end if;
  perform app.fail(code, details || jsonb_build_object(
    'next_due', next_due, 'payee', coalesce(bill.payee, bill.name), 'details', details
  ), field);
end
$$;
comment on function app.fail_already_paid is
  'Ends the tool with already_paid and the payment or payments for the date: amount, last day and payer.';

create or replace function app.fail_not_due(bill app.expenses, day text, field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  open_dates constant date[] := array(
    select o.due_on from app.expense_occurrences as o where o.expense_id = bill.id and o.status = 'open'
      order by o.due_on
  );
begin
  perform app.fail('invalid_argument.not_due', jsonb_build_object(
    'name', bill.name, 'date', day, 'details', jsonb_build_object('open_dates', open_dates)
  ), field);
end
$$;
comment on function app.fail_not_due is 'Ends the tool because a bill has no such date, and lists its open ones.';

create or replace function app.require_bill(context app.context, bill_id text) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses;
begin
  select * into bill from app.expenses as e
  where e.id = require_bill.bill_id and e.organization_id = context.organization_id and e.kind = 'bill'
    and e.deleted_at is null;
  if not found then
    perform app.fail(
      'not_found.bill', jsonb_build_object('id', bill_id, 'organization', context.organization_name), 'bill_id'
    );
  end if;
  return bill;
end
$$;
comment on function app.require_bill is
  'Returns the organization''s bill with this id; ends the tool with not_found if missing.';
