-- add_bill: a bill that comes again, or once on a day to come.

create function app.parse_month_days(month_days jsonb) returns smallint[]
language sql immutable
  return (
    select array_agg(d order by (d + 32) % 32)
    from (select distinct case value::int when 31 then -1 else value::int end as d from jsonb_array_elements_text(month_days)) as days
  );
comment on function app.parse_month_days is 'Days of the month as they are kept: each once, in order, the 31st as the last day; null stays null.';

create function app.first_month_day(bill app.expenses) returns date
language plpgsql immutable set search_path = '' as $$
begin
  -- The schedule starts on the first of the days, in whatever month that is; only from there on months may be left out.
  bill.every := 1;
  return app.scheduled_on(bill, 0);
end
$$;
comment on function app.first_month_day is 'The first of a bill''s month days on or after its anchor.';

create function app.parse_bill_schedule(context app.context, arguments jsonb, bill app.expenses) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  first_due constant date := app.parse_date(context, arguments ->> 'first_due', 'first_due');
begin
  bill.frequency := coalesce(arguments ->> 'frequency', 'monthly');
  bill.every := case bill.frequency when 'once' then 1 else coalesce((arguments ->> 'every')::int, 1) end;
  bill.weekend_rule := coalesce(arguments ->> 'weekend_rule', 'none');
  bill.month_days := app.parse_month_days(arguments -> 'month_days');
  if bill.month_days is not null and bill.frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument.month_days_not_monthly', jsonb_build_object('frequency', bill.frequency), 'month_days'
    );
  end if;
  if first_due is null and bill.month_days is null then
    perform app.fail('invalid_argument.first_due_missing', jsonb_build_object('name', bill.name), 'first_due');
  end if;
  bill.anchor_on := coalesce(first_due, context.today);
  if bill.month_days is not null then
    bill.anchor_on := app.first_month_day(bill);
  end if;
  if bill.frequency <> 'once' then
    bill.ends_on := app.parse_date(context, arguments ->> 'ends_on', 'ends_on');
    bill.ends_after := (arguments ->> 'ends_after')::int;
  end if;
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument.ends_before_first_due', jsonb_build_object(
      'name', bill.name, 'ends_on', bill.ends_on, 'first_due', bill.anchor_on
    ), 'ends_on');
  end if;
  if bill.frequency = 'once' then
    bill.tracked_from := bill.anchor_on;
  elsif app.due_index(bill, context.today) > app.last_index(bill) then
    perform app.fail('invalid_argument.bill_over', jsonb_build_object(
      'name', bill.name, 'last_due', app.due_on(app.scheduled_on(bill, app.last_index(bill)), bill.weekend_rule)
    ), 'first_due');
  else
    bill.tracked_from := app.scheduled_on(bill, app.due_index(bill, context.today));
  end if;
  return bill;
end
$$;
comment on function app.parse_bill_schedule is 'The schedule of a new bill from its arguments; the anchor is always a scheduled date. What was due before today is not watched.';

create function app.parse_share(percent numeric, field text) returns int
language plpgsql stable set search_path = '' as $$
begin
  if percent * 100 <> trunc(percent * 100) then
    perform app.fail('invalid_argument.share_too_fine', jsonb_build_object('percent', trim_scale(percent)), field);
  end if;
  return percent * 100;
end
$$;
comment on function app.parse_share is 'A share in percent as hundredths of a percent.';

create function app.parse_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
begin
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
  if bill.notice_days is not null and bill.renews_on is null then
    perform app.fail('invalid_argument.notice_without_renewal', field => 'renews_on');
  end if;
  bill.category_id := (app.choose_category(context, arguments ->> 'category', bill.payee, bill.name, 'category')).id;
  bill.tags := app.clean_tags(arguments -> 'tags', 'tags');
  bill.note := nullif(btrim(arguments ->> 'note'), '');
  bill.autopay := coalesce((arguments ->> 'autopay')::boolean, false);
  bill.reminder_enabled := coalesce((arguments ->> 'reminder_enabled')::boolean, true);
  bill.remind_days_before := (arguments ->> 'remind_days_before')::smallint;
  return bill;
end
$$;
comment on function app.parse_bill is 'A new bill from the arguments of add_bill, not yet written.';

create function app.find_same_bill(bill app.expenses) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  found app.expenses;
begin
  select * into found
  from app.expenses as e
  where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
    and lower(e.name) = lower(bill.name) and e.amount_minor is not distinct from bill.amount_minor and e.currency = bill.currency
    and e.frequency = bill.frequency and e.every = bill.every and e.month_days is not distinct from bill.month_days
    -- The same days, whenever the counting began.
    and app.scheduled_on(e, app.schedule_index(e, bill.tracked_from)) = bill.tracked_from
  order by e.recorded_seq
  limit 1;
  return found;
end
$$;
comment on function app.find_same_bill is 'The active bill of the same name, amount, currency and schedule; all null when there is none.';

create function app.warn_of_first_due(bill app.expenses, first_due date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  latest_closed constant date := (
    select max(o.due_on) from app.expense_occurrences as o where o.expense_id = bill.id and o.status <> 'open' and o.due_on >= first_due
  );
begin
  if bill.next_due > app.due_on(first_due, bill.weekend_rule) and (bill.anchor_on <> first_due or latest_closed is not null) then
    return jsonb_build_array(app.warning('first_due_moved', jsonb_build_object(
      'name', bill.name, 'next_due', bill.next_due, 'first_due', first_due,
      -- Else the day that was given is not one of the days of the month.
      'closed_until', case when bill.anchor_on = first_due then latest_closed end
    )));
  end if;
  return '[]';
end
$$;
comment on function app.warn_of_first_due is 'A warning when a bill is not due on the day from today on that was given as its first due date, and why.';

create function app.warn_of_share(bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when bill.share_bp < 10000 then jsonb_build_array(app.warning('share_is_a_note', jsonb_build_object(
    'percent', trim_scale(bill.share_bp / 100.0), 'name', bill.name
  ))) else '[]' end;
end
$$;
comment on function app.warn_of_share is 'A warning about what a share does not do.';

create function app.warn_of_same_name(bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  other app.expenses;
begin
  select * into other
  from app.expenses as e
  where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status in ('active', 'paused') and e.deleted_at is null
    and lower(e.name) = lower(bill.name) and e.id <> bill.id
  order by e.recorded_seq
  limit 1;
  return case when found then jsonb_build_array(app.warning('same_name', jsonb_build_object(
    'name', other.name, 'amount', app.format_amount(other.amount_minor, other.currency), 'currency', other.currency,
    'schedule', app.describe_schedule(other), 'id', other.id
  ))) else '[]' end;
end
$$;
comment on function app.warn_of_same_name is 'A warning when another bill has the name of a new one: the first of them.';

create function app.add_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := app.parse_bill(context, arguments);
  existing app.expenses;
  warnings jsonb := '[]';
  max_bills constant int := 5000;
  has_reminders constant boolean := bill.reminder_enabled and identity.organization_has_feature(context.organization_id, 'reminders:email', context.at);
begin
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    existing := app.find_same_bill(bill);
  end if;
  if existing.id is not null then
    return jsonb_build_object(
      'data', jsonb_build_object('status', 'duplicate', 'bill', app.describe_bills(context, array[existing.id]) -> 0, 'next_dates', app.next_due_dates(context, existing, 3)),
      'warnings', jsonb_build_array(app.warning('duplicate.bill', jsonb_build_object('name', existing.name)))
    );
  end if;

  -- Every run of the jobs looks at all of them.
  if (select count(*) from app.expenses as e where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null) >= max_bills then
    perform app.fail('invalid_argument.too_many_bills', jsonb_build_object(
      'organization', context.organization_name, 'most', max_bills
    ));
  end if;
  insert into app.expenses as e (
    id, organization_id, kind, name, payee, category_id, tags, note, amount_mode, amount_minor, currency, share_bp,
    frequency, every, anchor_on, month_days, weekend_rule, ends_on, ends_after, tracked_from, next_due, autopay, trial_ends_on, renews_on, notice_days,
    status, reminder_enabled, remind_days_before, created_by
  ) values (
    app.new_id('bill'), context.organization_id, 'bill', bill.name, bill.payee, bill.category_id, bill.tags, bill.note,
    bill.amount_mode, bill.amount_minor, bill.currency, bill.share_bp,
    bill.frequency, bill.every, bill.anchor_on, bill.month_days, bill.weekend_rule, bill.ends_on, bill.ends_after, bill.tracked_from,
    app.due_on(bill.tracked_from, bill.weekend_rule), bill.autopay, bill.trial_ends_on, bill.renews_on, bill.notice_days,
    'active', bill.reminder_enabled, bill.remind_days_before, context.actor_id
  ) returning e.id into bill.id;
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;

  if bill.reminder_enabled and not has_reminders then
    warnings := warnings || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if app.parse_date(context, arguments ->> 'first_due', 'first_due') >= context.today then
    warnings := warnings || app.warn_of_first_due(bill, app.parse_date(context, arguments ->> 'first_due', 'first_due'));
  end if;
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    warnings := warnings || app.warn_of_same_name(bill);
  end if;
  warnings := warnings || app.warn_of_share(bill);
  if bill.anchor_on < bill.tracked_from then
    warnings := warnings || app.warning('past_dates_not_tracked', jsonb_build_object('next_due', bill.next_due));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'status', 'created',
      -- A preview's bill is gone afterwards, and its id means nothing.
      'bill', (app.describe_bills(context, array[bill.id]) -> 0) - case when (arguments ->> 'dry_run')::boolean then 'id' else '' end,
      'next_dates', app.next_due_dates(context, bill, 3),
      'first_reminder_on', case when has_reminders and bill.next_due >= context.today then
        greatest(bill.next_due - coalesce(bill.remind_days_before, app.default_lead_days(context)), context.today)
      end
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

revoke all on function
  app.parse_month_days, app.first_month_day, app.parse_bill_schedule, app.parse_share, app.parse_bill, app.find_same_bill, app.warn_of_first_due, app.warn_of_share, app.warn_of_same_name, app.add_bill from public, anon;
grant execute on function
  app.parse_month_days, app.first_month_day, app.parse_bill_schedule, app.parse_share, app.parse_bill, app.find_same_bill, app.warn_of_first_due, app.warn_of_share, app.warn_of_same_name, app.add_bill to authenticated, service_role;
