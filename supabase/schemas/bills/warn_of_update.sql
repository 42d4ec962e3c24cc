create or replace function app.check_pause(context app.context, bill app.expenses, until date) returns void
language plpgsql stable set search_path = '' as $$
begin
  if until <= context.today then
    perform app.fail('date_out_of_range.not_in_future', jsonb_build_object('date', until), 'pause_until');
  elsif bill.status in ('ended', 'cancelled') then
    perform app.fail('invalid_argument.bill_inactive', jsonb_build_object('name', bill.name, 'status', bill.status),
      'bill_id');
  elsif bill.frequency = 'once' then
    perform app.fail('invalid_argument.pause_of_one_date', jsonb_build_object(
      'name', bill.name, 'due_on', bill.anchor_on
    ), 'pause_until');
  end if;
end
$$;
comment on function app.check_pause is 'Checks the rules for a pause until a day.';

create or replace function app.check_bill_update(context app.context, bill app.expenses, arguments jsonb) returns void
language plpgsql stable set search_path = '' as $$
begin
  if not arguments ?| array['set', 'occurrence', 'pause_until', 'provider'] then
    perform app.fail('invalid_argument.nothing_to_change_of_bill', field => 'set');
  end if;
  if arguments ? 'apply_from' and not arguments ? 'set' then
    perform app.fail('invalid_argument.apply_from_without_set', field => 'apply_from');
  end if;
  if app.parse_date(context, arguments ->> 'apply_from', 'apply_from') > context.today
    and arguments -> 'set' ?| array['status', 'autopay', 'paid_by', 'shared'] then
    perform app.fail('invalid_argument.counts_at_once', jsonb_build_object(
      'name', bill.name, 'is_ending', arguments #>> '{set,status}' = 'cancelled',
      'apply_from', app.parse_date(context, arguments ->> 'apply_from', 'apply_from')
    ), 'apply_from');
  end if;
  if arguments ? 'pause_until' then
    perform app.check_pause(context, bill, app.parse_date(context, arguments ->> 'pause_until', 'pause_until'));
  end if;
  if bill.version <> (arguments ->> 'expected_version')::numeric then
    perform app.fail('stale_version', jsonb_build_object(
      'name', bill.name, 'version', bill.version, 'details', jsonb_build_object(
        'id', bill.id, 'version', bill.version, 'current', app.describe_bills(context, array[bill.id]) -> 0
      )
    ), 'expected_version');
  end if;
end
$$;
comment on function app.check_bill_update is
  'Checks the rules of update_bill''s contract, and the version that the caller saw.';

create or replace function app.describe_touched(bill_id text, occurrence_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with touched as (
      select i.row_id as id, (array_agg(i.before order by i.position))[1] as before
      from app.change_items as i
      where i.change_id = current_setting('app.change_id', true) and i.table_name = 'expense_occurrences'
      group by i.row_id
    )
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'due_on', coalesce(o.due_on, (t.before ->> 'due_on')::date),
      'status', coalesce(o.status, 'removed'),
      'amount', app.format_amount(o.expected_minor, o.currency),
      'remaining',
      case when o.status = 'open' and app.paid_minor(o.id) <> 0
        then app.format_amount(o.expected_minor - app.paid_minor(o.id), o.currency) end,
      'snoozed_until', o.snoozed_until
    )) order by coalesce(o.due_on, (t.before ->> 'due_on')::date), o.id), '[]')
    from touched as t
    full join (
      select * from app.expense_occurrences as o
      where o.expense_id = describe_touched.bill_id
        and (o.id = describe_touched.occurrence_id or o.id in (select x.id from touched as x))
    ) as o on o.id = t.id
  );
end
$$;
comment on function app.describe_touched is
  'Returns the dates that the running change touched, and the given one, in their current state.';

create or replace function app.warn_of_open_dates(context app.context, bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_dates constant int := 12;
  dates jsonb;
  date_count int;
begin
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'due_on', o.due_on, 'amount', app.format_amount(o.remaining_minor, o.currency), 'currency', o.currency,
    'paid', case when o.remaining_minor < o.expected_minor
      then app.format_amount(o.expected_minor - o.remaining_minor, o.currency) end
  )) order by o.due_on) filter (where o.place <= max_dates), count(*)
  into dates, date_count
  from (
    select *, row_number() over (order by p.due_on, p.scheduled_on) as place
    from app.open_occurrences(context, array[bill.id]) as p
  ) as o;
  return case when date_count = 0 then '[]' else app.warning('still_open', jsonb_build_object(
    'name', bill.name, 'status', bill.status, 'dates', dates, 'count', date_count
  )) end;
end
$$;
comment on function app.warn_of_open_dates is
  'Returns questions about a paused or cancelled bill: earlier due dates that are still open or partly paid.';

create or replace function app.describe_exit(bill app.expenses, today date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  exit constant app.contract_exit := app.next_exit(bill, today);
begin
  return case when exit.cancel_by is null then '{}' else jsonb_strip_nulls(jsonb_build_object(
    'cancel_by', exit.cancel_by, 'today', today,
    'leave_on', case when app.next_renewal(bill, today) is null then exit.leaves_on - 1 end
  )) end;
end
$$;
comment on function app.describe_exit is
  'Returns the next deadline for cancelling a bill: {cancel_by?, today?, leave_on?}. leave_on is the last day of a '
  'contract that never renews. Empty without a known notice period.';

create or replace function app.warn_of_update(context app.context, bill app.expenses, old app.expenses, arguments jsonb,
  occurrence app.expense_occurrences) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  warnings jsonb := '[]';
  first_day constant date := app.parse_date(context, arguments ->> 'apply_from', 'apply_from');
  dates date[];
  near app.expense_occurrences := occurrence;
  spending app.payments;
begin
  if arguments #>> '{set,reminder_enabled}' = 'true'
    and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if (bill.assignee_id, bill.category_id) is distinct from (old.assignee_id, old.category_id) then
    warnings := warnings || app.warn_of_assignee(bill);
  end if;
  if (bill.amount_minor, bill.currency) is distinct from (old.amount_minor, old.currency)
    and coalesce(bill.next_due, case when bill.price_from > context.today then context.today end)
      < app.parse_date(context, arguments ->> 'apply_from', 'apply_from') then
    warnings := warnings || app.warning('applies_later', jsonb_build_object(
      'name', bill.name, 'from', app.parse_date(context, arguments ->> 'apply_from', 'apply_from'),
      'amount', app.format_amount(coalesce(bill.earlier_minor, old.amount_minor), old.currency),
      'currency', old.currency
    ));
  end if;
  if arguments -> 'set' ? 'amount' and first_day < context.today then
    dates := array(
      select o.due_on from app.expense_occurrences as o
      where o.expense_id = bill.id and o.status = 'paid' and o.due_on >= first_day
        and o.expected_minor <> bill.amount_minor and o.currency = bill.currency
      order by o.due_on
    );
    if dates <> '{}' then
      warnings := warnings || app.warning('applies_later.paid', jsonb_build_object('name', bill.name, 'dates', dates));
    end if;
  end if;
  if (bill.sharing, bill.payer_id) is distinct from (old.sharing, old.payer_id)
    and exists (select from app.payments as p where p.expense_id = bill.id and p.deleted_at is null) then
    warnings := warnings || app.warning('applies_later.split', jsonb_build_object(
      'name', bill.name, 'next_due', bill.next_due
    ));
  end if;
  if app.parse_date(context, arguments #>> '{set,first_due}', 'set.first_due') >= context.today
    and not app.same_schedule(old, bill) then
    warnings := warnings
      || app.warn_of_first_due(bill, app.parse_date(context, arguments #>> '{set,first_due}', 'set.first_due'));
  end if;
  if (bill.anchor_on, bill.frequency, bill.every) is distinct from (old.anchor_on, old.frequency, old.every)
    and not arguments -> 'set' ? 'renews_on' and not arguments -> 'set' ? 'contract'
    and app.next_renewal(bill, context.today) is not null then
    warnings := warnings || app.warning('renewal_unmoved', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'renews_on', app.next_renewal(bill, context.today),
      'cancel_by', app.next_cancel_by(bill, context.today)
    )));
  end if;
  if arguments -> 'set' ? 'contract' then
    warnings := warnings || app.warn_of_contract(bill, context.today);
  end if;
  if bill.status = arguments #>> '{set,status}' and bill.status <> 'active' then
    warnings := warnings || app.warn_of_open_dates(context, bill);
  end if;
  if arguments #>> '{set,status}' in ('cancelled', 'paused') and bill.status = arguments #>> '{set,status}'
    and old.status <> bill.status and not arguments ? 'pause_until'
    and not coalesce(bill.contract ? 'confirmed_on', false) then
    warnings := warnings || app.warning('contract_goes_on', jsonb_build_object(
      'name', bill.name, 'payee', bill.payee, 'status', bill.status
    ) || case when bill.status = 'cancelled' then app.describe_exit(old, context.today) else '{}' end);
  end if;
  if bill.contract ? 'confirmed_on' then
    if bill.contract -> 'confirmed_on' is distinct from old.contract -> 'confirmed_on' and bill.ends_on is null
      and bill.status = 'active' then
      warnings := warnings || app.warning('confirmed_without_end', jsonb_build_object('name', bill.name));
    end if;
  elsif arguments #>> '{set,ends_on}' <> '' and bill.ends_on is distinct from old.ends_on and bill.status = 'active'
  then
    warnings := warnings || app.warning('ends_here', jsonb_build_object(
      'name', bill.name, 'payee', bill.payee, 'ends_on', bill.ends_on
    ) || app.describe_exit(old, context.today));
  end if;
  if arguments ? 'pause_until' then
    warnings := warnings || app.warning('paused_until', jsonb_build_object(
      'name', bill.name, 'until', app.parse_date(context, arguments ->> 'pause_until', 'pause_until'),
      'next_due', bill.next_due
    ));
  end if;
  if arguments ? 'pause_until' or arguments #>> '{set,status}' = 'active' and old.status = 'active' then
    dates := array(
      select o.due_on from app.expense_occurrences as o
      where o.expense_id = bill.id and o.status = 'skipped' and o.due_on < bill.next_due
        and o.due_on
          >= coalesce(app.parse_date(context, arguments ->> 'pause_until', 'pause_until'), context.today)
      order by o.due_on
    );
    if dates <> '{}' then
      warnings := warnings || app.warning('still_skipped', jsonb_build_object('name', bill.name, 'dates', dates));
    end if;
  end if;
  if arguments #>> '{occurrence,action}' = 'set_amount' and occurrence.status = 'paid' then
    -- Treat the amount as an estimate, because the expense may have another one.
    near.paid_minor := 0;
    near.amount_source := 'rule';
    spending := app.find_spending(bill, near, null, array[occurrence.due_on]);
    if spending.id is not null then
      warnings := warnings || app.warning('already_spent', app.describe_spending(bill, occurrence.due_on, spending)
        || '{"is_paid":true}');
    end if;
  end if;
  if bill.share_bp <> old.share_bp then
    warnings := warnings || app.warn_of_share(bill);
  end if;
  if bill.status = 'ended' and arguments #>> '{set,status}' = 'active' then
    warnings := warnings || app.warning('still_ended', jsonb_build_object('name', bill.name));
  end if;
  case arguments #>> '{occurrence,action}'
    when 'snooze' then
      warnings := warnings || app.warning('snoozed', jsonb_build_object(
        'name', bill.name, 'due_on', occurrence.due_on, 'until', occurrence.snoozed_until
      ));
    when 'reopen' then
      if exists (
        select from app.change_items as i
        where i.change_id = current_setting('app.change_id', true) and i.table_name = 'payments'
          and i.after ->> 'deleted_at' is not null
      ) then
        warnings := warnings || app.warning(
          'payments_removed', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on)
        );
      end if;
    else null;
  end case;
  return warnings;
end
$$;
comment on function app.warn_of_update is 'Returns warnings about a change of a bill.';
