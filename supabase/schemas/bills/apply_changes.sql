-- update_bill: changes a bill and its future dates, or one of its dates. Paid dates never change.

create or replace function app.change_bill(context app.context, old app.expenses, changes jsonb) returns app.expenses
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
  bill := app.with_leads(bill, changes -> 'remind_again', app.default_lead_days(context));
  bill.assignee_id := coalesce(old.assignee_id, app.find_asker(context, changes));
  if changes ? 'assignee' then
    bill.assignee_id := app.find_member(context, app.clean_text(changes ->> 'assignee'), 'set.assignee');
  end if;
  bill.payer_id := coalesce(app.parse_payer(context, changes ->> 'paid_by', 'set.paid_by'), old.payer_id);
  if changes ? 'shared' then
    bill.sharing := app.parse_sharing(context, changes -> 'shared', bill.amount_minor, bill.currency, 'set.shared');
    bill.payer_id := coalesce(bill.payer_id, case when bill.sharing is not null then context.actor_id end);
  end if;
  if changes ?| array['assignee', 'shared', 'paid_by'] and identity.sees_own_only()
    and (select auth.uid()) not in (old.created_by, bill.assignee_id) is not false
    and not app.is_party(bill, (select auth.uid()))
    -- A person who paid part of a bill can still see it.
    and (app.is_party(old, (select auth.uid())) or changes ? 'assignee') then
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'),
      case when changes ? 'assignee' then 'set.assignee' else 'set.shared' end);
  end if;
  if changes ?| array['shared', 'paid_by'] then
    perform app.check_shared(bill.sharing, bill.payer_id, bill.category_id, 'set.shared');
  end if;
  bill.trial_ends_on :=
    coalesce(app.parse_date(context, changes ->> 'trial_ends_on', 'set.trial_ends_on'), old.trial_ends_on);
  bill.renews_on := coalesce(app.parse_date(context, changes ->> 'renews_on', 'set.renews_on'), old.renews_on);
  bill.contract := case when changes ? 'contract'
    then app.parse_contract(context, changes -> 'contract', old.contract, 'set.contract') else old.contract end;
  bill.notice_days := coalesce((changes ->> 'notice_days')::smallint,
    case when not coalesce(bill.contract ? 'notice', false) then old.notice_days end);
  if changes ? 'notice_days' then
    bill.contract := nullif(bill.contract - 'notice', '{}');
  end if;
  if bill.notice_days is not null and app.first_renewal(bill) is null then
    perform app.fail('invalid_argument.notice_without_renewal', field => 'set.renews_on');
  end if;
  if changes ? 'my_share_percent' then
    bill.share_bp := app.parse_share((changes ->> 'my_share_percent')::numeric, 'set.my_share_percent');
  end if;
  bill.status := coalesce(nullif(changes ->> 'status', case old.status when 'ended' then 'active' end), old.status);
  -- A status replaces a pause, and a new pause replaces an earlier one.
  bill.paused_until := case
    when changes ?| array['status', 'pause_until']
      then app.parse_date(context, changes ->> 'pause_until', 'pause_until')
    else old.paused_until
  end;
  return bill;
end
$$;
comment on function app.change_bill is
  'Returns a bill with the fields of a change except its schedule. Does not write it.';

create or replace function app.write_bill(bill app.expenses) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.expenses as e
  set name = bill.name, payee = bill.payee, category_id = bill.category_id, tags = bill.tags, note = bill.note,
    amount_mode = bill.amount_mode, amount_minor = bill.amount_minor, currency = bill.currency,
    earlier_minor = bill.earlier_minor, price_from = bill.price_from,
    share_bp = bill.share_bp,
    frequency = bill.frequency, every = bill.every, anchor_on = bill.anchor_on, month_days = bill.month_days,
    weekend_rule = bill.weekend_rule,
    ends_on = bill.ends_on, ends_after = bill.ends_after, tracked_from = bill.tracked_from, next_due = bill.next_due,
    autopay = bill.autopay,
    trial_ends_on = bill.trial_ends_on, renews_on = bill.renews_on, notice_days = bill.notice_days,
    contract = bill.contract,
    status = bill.status, paused_until = bill.paused_until,
    reminder_enabled = bill.reminder_enabled, remind_days_before = bill.remind_days_before,
    remind_again = bill.remind_again, assignee_id = bill.assignee_id, payer_id = bill.payer_id, sharing = bill.sharing
  where e.id = bill.id and e is distinct from bill;
end
$$;
comment on function app.write_bill is 'Writes the changed columns of a bill, if any.';

create or replace function app.clear_next_due() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.next_due := null;
  return new;
end
$$;
comment on function app.clear_next_due is
  'Clears next_due of a paused or cancelled bill. It is a trigger because an undo can also pause a bill and does not '
  'write derived columns.';
create trigger clear_next_due before update of status on app.expenses
  for each row when (new.status in ('paused', 'cancelled') and new.next_due is not null)
    execute function app.clear_next_due();

create or replace function app.apply_changes(context app.context, old app.expenses, changes jsonb, apply_from date)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  next_index constant int := app.open_indexes(old, context.today, 1);
  next_scheduled constant date := app.scheduled_on(old, least(next_index, app.last_index(old)));
  -- The first date that the change affects.
  from_index constant int := greatest(next_index, case when apply_from is not null then app.due_index(old, apply_from)
    end);
  next_due constant date := coalesce(old.next_due, app.due_on(next_scheduled, old.weekend_rule));
  bill app.expenses := app.change_bill(context, old, changes);
  rescheduled constant app.expenses := app.change_schedule(
    context, bill, changes, app.scheduled_on(old, least(from_index, app.last_index(old)))
  );
  is_replanned constant boolean := not app.same_schedule(old, rescheduled);
  first_day date := coalesce(apply_from, greatest(next_due, context.today), context.today);
  -- A scheduled price change can move to an earlier or a later date.
  pending_from constant date := case when changes ? 'amount' then app.next_price_from(old, context.today) end;
  is_repriced constant boolean :=
    (bill.amount_mode, bill.amount_minor, bill.currency) is distinct from (old.amount_mode, old.amount_minor,
    old.currency) or pending_from > first_day;
  is_postponed constant boolean := not is_repriced and pending_from < apply_from;
  is_stopped constant boolean := bill.status in ('paused', 'cancelled');
  was_stopped constant boolean := old.status in ('paused', 'cancelled');
  is_paused_anew constant boolean := bill.paused_until is distinct from old.paused_until;
  -- Only the earlier dates record that a price starts later. A new schedule or a pause removes these dates.
  price_from constant date := case
    when is_repriced then case when was_stopped and bill.currency = old.currency then apply_from end
    when was_stopped then old.price_from
    when is_postponed then apply_from
    when is_replanned or is_stopped or is_paused_anew then app.next_price_from(old, context.today)
  end;
  earlier_minor constant bigint := case when was_stopped and price_from > context.today
    then case when old.price_from > context.today then old.earlier_minor else old.amount_minor end
    when price_from > context.today then (
      select o.expected_minor from app.expense_occurrences as o
      where o.expense_id = old.id and o.status = 'open' and o.due_on >= context.today
        and o.amount_source = 'rule' and o.expected_minor <> old.amount_minor
      order by o.due_on
      limit 1
    ) end;
  latest_closed date;
begin
  if apply_from > context.today + 731 then
    perform app.fail('date_out_of_range.far_ahead', jsonb_build_object('date', apply_from), 'apply_from');
  end if;
  if (is_replanned or is_repriced) and apply_from > next_due and old.status = 'active' then
    -- Earlier dates keep their price and days.
    perform app.materialize_occurrences(old, app.due_index(old, context.today),
      coalesce(least(app.due_index(old, apply_from) - 1, app.last_index(old)), app.due_index(old, apply_from) - 1));
  end if;
  if is_replanned then
    bill := rescheduled;
    if apply_from is null then
      select max(o.due_on) into latest_closed
      from app.expense_occurrences as o
      where o.expense_id = old.id and o.status <> 'open' and o.due_on >= context.today;
      -- Days paid in advance stay paid. The new schedule starts closer to the next open day than to the last closed
      -- one, or on the requested day.
      first_day := coalesce(
        latest_closed
          + case when app.parse_date(context, changes ->> 'first_due', 'set.first_due') >= context.today then 1
          else (next_due - latest_closed + 1) / 2 end,
        context.today
      );
    end if;
    first_day :=
      greatest(first_day, context.today, bill.paused_until, case when changes ? 'first_due' then bill.anchor_on
      end);
    bill.tracked_from := app.watch_from(bill, first_day);
    if old.ends_after is not null and not changes ? 'ends_after' and bill.frequency <> 'once' then
      -- Keeps the number of remaining dates.
      bill.ends_after := greatest(
        1, case when next_index is null then 0 else greatest(0, old.ends_after - from_index) end
          + app.schedule_index(bill, bill.tracked_from)
      );
    end if;
  elsif was_stopped and not is_stopped or is_paused_anew then
    -- Dates during the pause were not due.
    bill.tracked_from := greatest(
      case when old.paused_until > context.today then null else bill.tracked_from end,
      app.watch_from(bill, greatest(context.today, bill.paused_until))
    );
  end if;
  if bill.currency <> old.currency and exists (
    select from app.expense_occurrences as o
    where o.expense_id = old.id and o.status = 'open' and (o.due_on < first_day or app.paid_minor(o.id) <> 0)
  ) then
    perform app.fail(
      'invalid_argument.open_in_old_currency', jsonb_build_object('name', old.name, 'currency', old.currency),
      'set.currency'
    );
  end if;
  bill.earlier_minor := case when is_stopped then earlier_minor end;
  bill.price_from := case when bill.earlier_minor is not null then price_from end;

  perform app.write_bill(bill);
  if is_replanned or is_paused_anew or bill.status is distinct from old.status then
    perform app.replan_bill(bill,
      case when apply_from > context.today and is_replanned then apply_from else context.today end);
  end if;
  if is_repriced then
    perform app.reprice_bill(bill, first_day);
  elsif earlier_minor is not null and not is_stopped then
    perform app.materialize_occurrences(
      bill, case when is_postponed then app.due_index(bill, pending_from)
        else app.schedule_index(bill, bill.tracked_from) end, app.due_index(bill, price_from) - 1
    );
    update app.expense_occurrences as o set expected_minor = earlier_minor
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= least(
      first_day, pending_from, case when is_paused_anew then app.due_on(bill.tracked_from, bill.weekend_rule) end
    )
      and o.due_on < price_from
      and o.amount_source = 'rule' and o.expected_minor = bill.amount_minor;
  end if;
  if changes ->> 'status' = 'cancelled' then
    update app.payments as p set deleted_at = context.at
    from app.expense_occurrences as o
    where o.id = p.occurrence_id and o.expense_id = bill.id and o.due_on >= apply_from and p.deleted_at is null
      and app.is_assumed(p);
    update app.expense_occurrences as o set status = 'skipped', closed_at = context.at
    where o.expense_id = bill.id and o.due_on >= apply_from and o.status <> 'skipped' and o.paid_minor = 0;
  end if;
  perform app.refresh_bill(bill.id, context.today);
end
$$;
comment on function app.apply_changes is
  'Changes a bill and its open dates. A price applies from apply_from, by default the next open date; a schedule from '
  'apply_from, by default today. Overdue dates keep both. A bill cancelled from an earlier day on loses its open dates '
  'and its automatic payments since then, except those that a statement shows.';
