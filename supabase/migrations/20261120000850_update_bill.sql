-- update_bill: changes a bill and the dates that are to come, or one date of it. What was paid never changes.

create function app.change_bill(context app.context, old app.expenses, changes jsonb) returns app.expenses
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := old;
begin
  bill.name := coalesce(app.clean_text(changes ->> 'name'), case when not changes ? 'name' then old.name end);
  if bill.name is null then
    perform app.fail('invalid_argument.bill_without_name', field => 'set.name');
  end if;
  bill.payee := case when changes ? 'payee' then app.clean_text(changes ->> 'payee') else old.payee end;
  bill.note := case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else old.note end;
  bill.tags := case when changes ? 'tags' then app.clean_tags(changes -> 'tags', 'set.tags') else old.tags end;
  if changes ? 'category' then
    bill.category_id := app.find_category(context, changes ->> 'category', 'set.category');
  end if;
  bill.amount_mode := coalesce(changes ->> 'amount_mode', old.amount_mode);
  bill.currency := coalesce(changes ->> 'currency', old.currency);
  if bill.currency <> old.currency and old.amount_minor is not null and not changes ? 'amount' then
    perform app.fail('invalid_argument.amount_in_new_currency', jsonb_build_object(
      'name', old.name, 'amount', app.format_amount(old.amount_minor, old.currency), 'currency', old.currency,
      'new_currency', bill.currency
    ), 'set.amount');
  end if;
  bill.amount_minor := coalesce(app.parse_amount(changes ->> 'amount', bill.currency, 'set.amount'), old.amount_minor);
  if bill.amount_minor is null and bill.amount_mode <> 'variable' then
    perform app.fail('invalid_argument.bill_amount_missing', jsonb_build_object('name', bill.name), 'set.amount');
  end if;
  bill.autopay := coalesce((changes ->> 'autopay')::boolean, old.autopay);
  bill.reminder_enabled := coalesce((changes ->> 'reminder_enabled')::boolean, old.reminder_enabled);
  bill.remind_days_before := coalesce((changes ->> 'remind_days_before')::smallint, old.remind_days_before);
  bill.trial_ends_on := coalesce(app.parse_date(context, changes ->> 'trial_ends_on', 'set.trial_ends_on'), old.trial_ends_on);
  bill.renews_on := coalesce(app.parse_date(context, changes ->> 'renews_on', 'set.renews_on'), old.renews_on);
  bill.notice_days := coalesce((changes ->> 'notice_days')::smallint, old.notice_days);
  if bill.notice_days is not null and bill.renews_on is null then
    perform app.fail('invalid_argument.notice_without_renewal', field => 'set.renews_on');
  end if;
  if changes ? 'my_share_percent' then
    bill.share_bp := app.parse_share((changes ->> 'my_share_percent')::numeric, 'set.my_share_percent');
  end if;
  bill.status := coalesce(nullif(changes ->> 'status', case old.status when 'ended' then 'active' end), old.status);
  return bill;
end
$$;
comment on function app.change_bill is 'A bill with the fields of a change but those of its schedule, not yet written.';

create function app.write_bill(bill app.expenses) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.expenses as e
  set name = bill.name, payee = bill.payee, category_id = bill.category_id, tags = bill.tags, note = bill.note,
    amount_mode = bill.amount_mode, amount_minor = bill.amount_minor, currency = bill.currency, share_bp = bill.share_bp,
    frequency = bill.frequency, every = bill.every, anchor_on = bill.anchor_on, month_days = bill.month_days, weekend_rule = bill.weekend_rule,
    ends_on = bill.ends_on, ends_after = bill.ends_after, tracked_from = bill.tracked_from, next_due = bill.next_due, autopay = bill.autopay,
    trial_ends_on = bill.trial_ends_on, renews_on = bill.renews_on, notice_days = bill.notice_days, status = bill.status,
    reminder_enabled = bill.reminder_enabled, remind_days_before = bill.remind_days_before
  where e.id = bill.id and e is distinct from bill;
end
$$;
comment on function app.write_bill is 'Writes what can change of a bill; nothing when nothing did.';

create function app.apply_changes(context app.context, old app.expenses, changes jsonb, apply_from date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  next_index constant int := app.open_indexes(old, context.today, 1);
  next_scheduled constant date := app.scheduled_on(old, least(next_index, app.last_index(old)));
  next_due constant date := coalesce(old.next_due, app.due_on(next_scheduled, old.weekend_rule));
  bill app.expenses := app.change_bill(context, old, changes);
  rescheduled constant app.expenses := app.change_schedule(context, bill, changes, next_scheduled);
  is_replanned constant boolean := not app.same_schedule(old, rescheduled);
  is_repriced constant boolean := (bill.amount_mode, bill.amount_minor, bill.currency) is distinct from (old.amount_mode, old.amount_minor, old.currency);
  is_resumed constant boolean := bill.status = 'active' and old.status in ('paused', 'cancelled');
  first_day date := coalesce(apply_from, greatest(next_due, context.today), context.today);
  latest_closed date;
begin
  if apply_from > context.today + 731 then
    perform app.fail('date_out_of_range.far_ahead', jsonb_build_object('date', apply_from), 'apply_from');
  end if;
  if (is_replanned or is_repriced) and apply_from > next_due and old.status = 'active' then
    -- What comes before keeps the price and the days that it had.
    perform app.materialize_occurrences(old, app.due_index(old, context.today), coalesce(least(app.due_index(old, apply_from) - 1, app.last_index(old)), app.due_index(old, apply_from) - 1));
  end if;
  if is_replanned then
    bill := rescheduled;
    if apply_from is null then
      select max(o.due_on) into latest_closed
      from app.expense_occurrences as o
      where o.expense_id = old.id and o.status <> 'open' and o.due_on >= context.today;
      -- Days that were paid ahead stay paid: the new ones begin nearer to the next open day than to the last closed one, or where somebody
      -- says that they begin.
      first_day := coalesce(
        latest_closed + case when app.parse_date(context, changes ->> 'first_due', 'set.first_due') >= context.today then 1 else (next_due - latest_closed + 1) / 2 end,
        context.today
      );
    end if;
    first_day := greatest(first_day, context.today, case when changes ? 'first_due' then bill.anchor_on end);
    bill.tracked_from := app.watch_from(bill, first_day);
  elsif is_resumed then
    -- What fell into the pause was not ours to pay.
    bill.tracked_from := greatest(bill.tracked_from, app.watch_from(bill, context.today));
  end if;
  if bill.currency <> old.currency and exists (
    select from app.expense_occurrences as o
    where o.expense_id = old.id and o.status = 'open' and (o.due_on < first_day or app.paid_minor(o.id) <> 0)
  ) then
    perform app.fail(
      'invalid_argument.open_in_old_currency', jsonb_build_object('name', old.name, 'currency', old.currency), 'set.currency'
    );
  end if;
  if bill.status in ('paused', 'cancelled') then
    bill.next_due := null;
  end if;

  perform app.write_bill(bill);
  if is_replanned or bill.status is distinct from old.status then
    perform app.replan_bill(bill, case when apply_from > context.today and is_replanned then apply_from else context.today end);
  end if;
  if is_repriced then
    perform app.reprice_bill(bill, first_day);
  end if;
  perform app.refresh_bill(bill.id, context.today);
end
$$;
comment on function app.apply_changes is
  'Changes a bill and its open dates. A price holds from apply_from on, else from the next open date; a schedule from there, else from today; overdue dates keep both.';

create function app.check_bill_update(context app.context, bill app.expenses, arguments jsonb) returns void
language plpgsql stable set search_path = '' as $$
begin
  if not arguments ?| array['set', 'occurrence', 'provider'] then
    perform app.fail('invalid_argument.nothing_to_change_of_bill', field => 'set');
  end if;
  if arguments ? 'apply_from' and not arguments ? 'set' then
    perform app.fail('invalid_argument.apply_from_without_set', field => 'apply_from');
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
comment on function app.check_bill_update is 'What the contract of update_bill says in words, and the version that the caller has seen.';

create function app.describe_touched(bill_id text, occurrence_id text) returns jsonb
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
      'remaining', case when o.status = 'open' and app.paid_minor(o.id) <> 0 then app.format_amount(o.expected_minor - app.paid_minor(o.id), o.currency) end,
      'snoozed_until', o.snoozed_until
    )) order by coalesce(o.due_on, (t.before ->> 'due_on')::date), o.id), '[]')
    from touched as t
    full join (
      select * from app.expense_occurrences as o
      where o.expense_id = describe_touched.bill_id and (o.id = describe_touched.occurrence_id or o.id in (select x.id from touched as x))
    ) as o on o.id = t.id
  );
end
$$;
comment on function app.describe_touched is 'The dates that the running change touched, and one more, as they are now.';

create function app.warn_of_update(context app.context, bill app.expenses, old app.expenses, arguments jsonb, occurrence app.expense_occurrences) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  warnings jsonb := '[]';
begin
  if arguments #>> '{set,reminder_enabled}' = 'true' and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if (bill.amount_minor, bill.currency) is distinct from (old.amount_minor, old.currency) and bill.next_due < app.parse_date(context, arguments ->> 'apply_from', 'apply_from') then
    warnings := warnings || app.warning('applies_later', jsonb_build_object(
      'name', bill.name, 'from', app.parse_date(context, arguments ->> 'apply_from', 'apply_from'),
      'amount', app.format_amount(old.amount_minor, old.currency), 'currency', old.currency
    ));
  end if;
  if app.parse_date(context, arguments #>> '{set,first_due}', 'set.first_due') >= context.today and not app.same_schedule(old, bill) then
    warnings := warnings || app.warn_of_first_due(bill, app.parse_date(context, arguments #>> '{set,first_due}', 'set.first_due'));
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
        where i.change_id = current_setting('app.change_id', true) and i.table_name = 'payments' and i.after ->> 'deleted_at' is not null
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
comment on function app.warn_of_update is 'What a person should hear about a change of a bill beside its result.';

create function app.sum_up_update(context app.context, bill app.expenses, old app.expenses, arguments jsonb, occurrence app.expense_occurrences)
returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Of the bill as it is written down: what is shown of it may not have changed yet.
  fields constant jsonb := (
    select jsonb_agg(distinct f.field order by f.field)
    from jsonb_each(to_jsonb(bill)) as b
    cross join lateral (
      select case
        when b.key in ('name', 'payee', 'tags', 'note', 'currency', 'autopay', 'amount_mode') then b.key
        when b.key in ('trial_ends_on', 'renews_on', 'notice_days') then b.key
        when b.key = 'category_id' then 'category'
        when b.key = 'amount_minor' then 'amount'
        when b.key = 'share_bp' then 'my_share_percent'
        when b.key in ('frequency', 'every', 'anchor_on', 'month_days', 'weekend_rule', 'ends_on', 'ends_after') then 'schedule'
        when b.key in ('reminder_enabled', 'remind_days_before') then 'reminder'
      end as field
    ) as f
    where f.field is not null and b.value is distinct from to_jsonb(old) -> b.key
  );
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', bill.name,
    'status', case when bill.status <> old.status then bill.status end,
    'fields', case when arguments ? 'set' then fields end,
    'from', case when arguments ? 'set' then app.parse_date(context, arguments ->> 'apply_from', 'apply_from') end,
    'occurrence', case when arguments ? 'occurrence' then jsonb_build_object(
      'action', arguments #>> '{occurrence,action}', 'due_on', occurrence.due_on, 'until', occurrence.snoozed_until,
      'amount', app.format_amount(occurrence.expected_minor, occurrence.currency), 'currency', occurrence.currency
    ) end,
    'is_disconnected', case when arguments #>> '{provider,action}' = 'disconnect' then true end
  ));
end
$$;
comment on function app.sum_up_update is
  'What was done to a bill: {name, status?, fields?, from?, occurrence? {action, due_on, until?, amount?, currency}, is_disconnected?}.';

create function app.update_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  old app.expenses := app.require_bill(context, arguments ->> 'bill_id');
  bill app.expenses;
  occurrence app.expense_occurrences;
  connect jsonb;
  shown_before jsonb;
  shown jsonb;
  before jsonb;
begin
  perform from app.expenses as e where e.id = old.id for update;
  select * into old from app.expenses as e where e.id = old.id;
  perform app.check_bill_update(context, old, arguments);
  perform app.refresh_bill(old.id, context.today);
  select * into old from app.expenses as e where e.id = old.id;
  shown_before := app.describe_bills(context, array[old.id]) -> 0;

  if arguments ? 'set' then
    perform app.apply_changes(context, old, arguments -> 'set', app.parse_date(context, arguments ->> 'apply_from', 'apply_from'));
  end if;
  select * into bill from app.expenses as e where e.id = old.id;
  if arguments ? 'occurrence' then
    occurrence := app.change_occurrence(context, bill, arguments -> 'occurrence');
  end if;
  if arguments ? 'provider' then
    connect := app.change_provider(context, bill, arguments -> 'provider');
  end if;
  select * into bill from app.expenses as e where e.id = old.id;
  shown := app.describe_bills(context, array[bill.id]) -> 0;
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') into before from jsonb_each(shown_before) as b where b.value is distinct from shown -> b.key;
  return jsonb_build_object(
    'data', jsonb_build_object('bill', shown, 'before', before, 'occurrences', app.describe_touched(bill.id, occurrence.id), 'connect', connect),
    'warnings', app.warn_of_update(context, bill, old, arguments, occurrence),
    'facts', app.sum_up_update(context, bill, old, arguments, occurrence)
  );
end
$$;
comment on function app.update_bill is
  'Tool update_bill: data {bill, before, occurrences, connect?}. before has the old values of what changed; the connector makes connect_url of connect.';

revoke all on function
  app.change_bill, app.write_bill, app.apply_changes, app.check_bill_update, app.describe_touched,
  app.warn_of_update, app.sum_up_update, app.update_bill from public, anon;
grant execute on function
  app.change_bill, app.write_bill, app.apply_changes, app.check_bill_update, app.describe_touched,
  app.warn_of_update, app.sum_up_update, app.update_bill to authenticated, service_role;
