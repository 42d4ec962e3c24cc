create or replace function app.warn_of_twin(context app.context, bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  other app.expenses;
  facts jsonb;
  found_by text := 'name';
  near_days constant int := 3;
begin
  select * into other
  from app.expenses as e
  where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status in ('active', 'paused')
    and e.deleted_at is null
    and lower(e.name) = lower(bill.name) and e.id <> bill.id
  order by e.recorded_seq
  limit 1;
  if not found then
    select e.* into other
    from app.find_duplicates(context, bill.match_key) as f
    cross join lateral (select e.* from app.expenses as e where e.id = f.finding ->> 'other_bill_id' offset 0) as e
    where f.finding ->> 'bill_id' = bill.id;
    found_by := 'payee';
  end if;
  if other.id is null then
    -- Finds one cost under two names: "Miete" and "Rent", or "Electricity" and "Power".
    select * into other
    from app.expenses as e
    where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
      and e.id <> bill.id and e.amount_minor = bill.amount_minor and e.currency = bill.currency
      and e.frequency = bill.frequency and e.every = bill.every
      and (e.payee is null or bill.payee is null or app.names_resemble(e.payee, null, bill.payee, null))
      and (e.category_id is null or bill.category_id is null or e.category_id = bill.category_id)
      and app.scheduled_on(e, app.schedule_index(e, bill.tracked_from - near_days)) <= bill.tracked_from + near_days
    order by e.recorded_seq
    limit 1;
    found_by := 'cost';
  end if;
  facts := jsonb_build_object(
    'name', other.name, 'amount', app.format_amount(other.amount_minor, other.currency), 'currency', other.currency,
    'schedule', app.describe_schedule(other), 'id', other.id
  );
  return case when other.id is null then '[]' else jsonb_build_array(app.warning(
    case found_by when 'name' then 'same_name' when 'payee' then 'same_name.of_payee' else 'same_name.of_cost' end,
    facts || case found_by when 'name' then '{}' else jsonb_build_object('new_name', bill.name) end
  )) end;
end
$$;
comment on function app.warn_of_twin is
  'Returns a warning about a bill that may be the same as a new one. It has the same name, app.find_duplicates reports '
  'it for the payee, or it has the same amount and frequency and is due within three days. The last case excludes '
  'bills with a different payee or category.';

create or replace function app.warn_of_assignee(bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce((
    select jsonb_build_array(app.warning('assignee_sees_nothing', jsonb_build_object('assignee', p.email)))
    from identity.memberships as m
    join identity.profiles as p on p.user_id = m.user_id
    join app.categories as c on c.id = bill.category_id and c.is_private
    where m.organization_id = bill.organization_id and m.user_id = bill.assignee_id and not m.sees_private
      and not exists (select from identity.role_rights as r where r.role = m.role and r."right" = 'books:private')
  ), '[]');
end
$$;
comment on function app.warn_of_assignee is
  'Returns a warning if a bill in a private category is assigned to a member who can''t see it and so gets no mail.';

create or replace function app.add_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := app.parse_bill(context, arguments);
  existing app.expenses;
  warnings jsonb := '[]';
  mailed record;
  first app.expense_occurrences;
  spending app.payments;
  max_bills constant int := 5000;
  has_reminders constant boolean := bill.reminder_enabled
    and identity.organization_has_feature(context.organization_id, 'reminders:email', context.at);
begin
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    existing := app.find_same_bill(bill);
  end if;
  if existing.id is not null then
    return jsonb_build_object(
      'data',
      jsonb_build_object('status', 'duplicate', 'bill', app.describe_bills(context, array[existing.id]) -> 0,
        'next_dates', app.next_due_dates(context, existing, 3)),
      'warnings', jsonb_build_array(app.warning('duplicate.bill', jsonb_build_object('name', existing.name)))
    );
  end if;

  -- Limits the number of bills, because every job run scans them all.
  if (select count(*) from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null) >= max_bills then
    perform app.fail('invalid_argument.too_many_bills', jsonb_build_object(
      'organization', context.organization_name, 'most', max_bills
    ));
  end if;
  insert into app.expenses as e (
    id, organization_id, kind, name, payee, category_id, tags, note, amount_mode, amount_minor, currency, share_bp,
    frequency, every, anchor_on, month_days, weekend_rule, ends_on, ends_after, tracked_from, next_due, autopay,
    trial_ends_on, renews_on, notice_days, contract,
    status, reminder_enabled, remind_days_before, remind_again, assignee_id, payer_id, sharing,
    created_by
  ) values (
    app.new_id('bill'), context.organization_id, 'bill', bill.name, bill.payee, bill.category_id, bill.tags, bill.note,
    bill.amount_mode, bill.amount_minor, bill.currency, bill.share_bp,
    bill.frequency, bill.every, bill.anchor_on, bill.month_days, bill.weekend_rule, bill.ends_on, bill.ends_after,
    bill.tracked_from,
    app.due_on(bill.tracked_from, bill.weekend_rule), bill.autopay, bill.trial_ends_on, bill.renews_on,
    bill.notice_days, bill.contract,
    'active', bill.reminder_enabled, bill.remind_days_before, bill.remind_again, bill.assignee_id,
    bill.payer_id, bill.sharing, context.actor_id
  ) returning e.id into bill.id;
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;

  mailed := app.find_first_mail(context, bill);
  if has_reminders and mailed.user_id is distinct from context.actor_id
    and (arguments ?| array['remind_days_before', 'remind_again'] or (arguments ->> 'reminder_enabled')::boolean) then
    warnings := warnings || app.warning('reminders_to_others', jsonb_strip_nulls(jsonb_build_object(
      'who', app.member_name(mailed.user_id)
    )));
  end if;
  if bill.reminder_enabled and not has_reminders then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if app.parse_date(context, arguments ->> 'first_due', 'first_due') >= context.today then
    warnings := warnings
      || app.warn_of_first_due(bill, app.parse_date(context, arguments ->> 'first_due', 'first_due'));
  end if;
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    warnings := warnings || app.warn_of_twin(context, bill);
  end if;
  select * into first from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open' and o.due_on <= context.today + 5
  order by o.due_on
  limit 1;
  spending := case when found then app.find_spending(bill, first, null, array[first.due_on]) end;
  if first.id is not null and spending.id is null then
    spending := app.find_spending(bill, first, null, array[first.due_on], false);
  end if;
  if spending.id is not null then
    warnings := warnings || app.warning('already_spent', app.describe_spending(bill, first.due_on, spending));
  end if;
  warnings := warnings || app.warn_of_share(bill) || app.warn_of_assignee(bill)
    || app.warn_of_contract(bill, context.today);
  if app.is_income(bill.name, (select c.name from app.categories as c where c.id = bill.category_id), true) then
    warnings := warnings || app.warning('like_income', jsonb_build_object('names', jsonb_build_array(bill.name)));
  end if;
  if not arguments ?| array['frequency', 'month_days', 'month_weekdays'] then
    warnings := warnings || app.warning('repeats_by_default', jsonb_build_object(
      'name', bill.name, 'schedule', app.describe_schedule(bill)
    ));
  end if;
  if bill.anchor_on < bill.tracked_from then
    warnings := warnings || app.warning('past_dates_not_tracked', jsonb_build_object('next_due', bill.next_due));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'status', case when (arguments ->> 'dry_run')::boolean then 'would_create' else 'created' end,
      -- A preview rolls its bill back, so it returns no id.
      'bill',
      (app.describe_bills(context, array[bill.id]) -> 0)
        - case when (arguments ->> 'dry_run')::boolean then 'id' else '' end,
      'next_dates', app.next_due_dates(context, bill, 3),
      'first_reminder_on', case when has_reminders and bill.next_due >= context.today then mailed.first_on end
    ),
    'warnings', warnings,
    'facts', jsonb_build_object(
      'name', bill.name, 'amount', app.format_amount(bill.amount_minor, bill.currency), 'currency', bill.currency,
      'schedule', app.describe_schedule(bill)
    )
  );
end
$$;
comment on function app.add_bill is 'Tool add_bill: data {status, bill, next_dates, first_reminder_on?}.';
