create or replace function app.with_leads(bill app.expenses, again jsonb, default_lead_days int)
  returns app.expenses
language plpgsql immutable set search_path = '' as $$
begin
  if again is not null then
    bill.remind_again := array(select jsonb_array_elements_text(again)::smallint);
  end if;
  if cardinality(bill.remind_again) > 0 then
    -- The longest lead is the first reminder, regardless of its position. The others are further reminders.
    bill.remind_again := array(
      select distinct days
        from unnest(bill.remind_again || coalesce(bill.remind_days_before, default_lead_days)::smallint) as days
      order by days desc
    );
    bill.remind_days_before := bill.remind_again[1];
    bill.remind_again := bill.remind_again[2:];
  end if;
  return bill;
end
$$;
comment on function app.with_leads is
  'Returns a bill with its further reminders in order, as days before the due date, in addition to '
  'remind_days_before; null keeps the current ones.';

create or replace function app.parse_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
begin
  perform app.refuse_income(arguments, 'name');
  bill.organization_id := context.organization_id;
  bill.name := app.clean_text(arguments ->> 'name');
  if bill.name is null then
    perform app.fail('invalid_argument.bill_without_name', field => 'name');
  end if;
  bill.payee := app.clean_text(arguments ->> 'payee');
  bill.amount_mode := coalesce(arguments ->> 'amount_mode', 'fixed');
  bill.currency := coalesce(arguments ->> 'currency', context.base_currency);
  bill.amount_minor := app.parse_amount(arguments ->> 'amount', bill.currency, 'amount');
  if bill.amount_minor is null and bill.amount_mode <> 'variable' then
    perform app.fail('invalid_argument.bill_amount_missing', jsonb_build_object('name', bill.name), 'amount');
  end if;
  bill := app.parse_bill_schedule(context, arguments, bill);
  bill.share_bp := app.parse_share(coalesce((arguments ->> 'my_share_percent')::numeric, 100), 'my_share_percent');
  bill.trial_ends_on := app.parse_date(context, arguments ->> 'trial_ends_on', 'trial_ends_on');
  bill.renews_on := app.parse_date(context, arguments ->> 'renews_on', 'renews_on');
  bill.notice_days := (arguments ->> 'notice_days')::smallint;
  bill.contract := app.parse_contract(context, arguments -> 'contract', null, 'contract');
  if bill.notice_days is not null and app.first_renewal(bill) is null then
    perform app.fail('invalid_argument.notice_without_renewal', field => 'renews_on');
  end if;
  bill.category_id := (app.choose_category(context, arguments ->> 'category', bill.payee, bill.name, 'category')).id;
  bill.tags := app.clean_tags(arguments -> 'tags', 'tags');
  bill.note := nullif(btrim(arguments ->> 'note'), '');
  bill.autopay := coalesce((arguments ->> 'autopay')::boolean, false);
  bill.assignee_id := coalesce(app.find_member(context, app.clean_text(arguments ->> 'assignee'), 'assignee'),
    app.find_asker(context, arguments));
  bill.payer_id := app.parse_payer(context, arguments ->> 'paid_by', 'paid_by');
  if arguments ? 'shared' then
    bill.sharing := app.parse_sharing(context, arguments -> 'shared', bill.amount_minor, bill.currency, 'shared');
    bill.payer_id := coalesce(bill.payer_id, case when bill.sharing is not null then context.actor_id end);
    perform app.check_shared(bill.sharing, bill.payer_id, bill.category_id, 'shared');
  end if;
  bill.reminder_enabled := coalesce((arguments ->> 'reminder_enabled')::boolean, true);
  bill.remind_days_before := (arguments ->> 'remind_days_before')::smallint;
  return app.with_leads(bill, coalesce(arguments -> 'remind_again', '[]'), app.default_lead_days(context));
end
$$;
comment on function app.parse_bill is 'Returns a new bill from the arguments of add_bill, not yet written.';

create or replace function app.find_same_bill(bill app.expenses) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  found app.expenses;
begin
  select * into found
  from app.expenses as e
  where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
    and lower(e.name) = lower(bill.name) and e.amount_minor is not distinct from bill.amount_minor
      and e.currency = bill.currency
    and e.frequency = bill.frequency and e.every = bill.every and e.month_days is not distinct from bill.month_days
    -- The same days, even if the anchors differ.
    and app.scheduled_on(e, app.schedule_index(e, bill.tracked_from)) = bill.tracked_from
  order by e.recorded_seq
  limit 1;
  return found;
end
$$;
comment on function app.find_same_bill is
  'Returns the active bill with the same name, amount, currency and schedule; all null without one.';

create or replace function app.warn_of_first_due(bill app.expenses, first_due date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  latest_closed constant date := (
    select max(o.due_on) from app.expense_occurrences as o
      where o.expense_id = bill.id and o.status <> 'open' and o.due_on >= first_due
  );
begin
  if bill.next_due > app.due_on(first_due, bill.weekend_rule)
    and (bill.anchor_on <> first_due or latest_closed is not null) then
    return jsonb_build_array(app.warning('first_due_moved', jsonb_build_object(
      'name', bill.name, 'next_due', bill.next_due, 'first_due', first_due,
      -- Name it only if the given day is one of the schedule's days.
      'closed_until', case when bill.anchor_on = first_due then latest_closed end
    )));
  end if;
  return '[]';
end
$$;
comment on function app.warn_of_first_due is
  'Returns a warning, with the reason, if the given first due date is today or later and is not one of the bill''s due '
  'dates.';

create or replace function app.warn_of_share(bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when bill.share_bp < 10000 then jsonb_build_array(app.warning('share_is_a_note', jsonb_build_object(
    'percent', trim_scale(bill.share_bp / 100.0), 'name', bill.name
  ))) else '[]' end;
end
$$;
comment on function app.warn_of_share is 'Returns a warning that a share does not reduce totals.';
