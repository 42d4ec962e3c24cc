-- add_bill: a bill that comes again, or once on a day to come; and how every tool shows a bill.

-- How a bill is shown

create function app.default_lead_days(context app.context) returns int
language plpgsql stable set search_path = '' as $$
begin
  return (select p.default_lead_days from identity.profiles as p where p.user_id = context.owner_id);
end
$$;
comment on function app.default_lead_days is 'Days before the due date on which the owner wants to hear of a bill that says nothing else.';

create function app.times_a_month(bill app.expenses) returns numeric
language sql immutable
  -- A year has 365.2425 days (Gregorian mean), a month a twelfth of it.
  return case (bill).frequency
    when 'daily' then 365.2425 / 12 / (bill).every
    when 'weekly' then 365.2425 / 84 / (bill).every
    when 'monthly' then coalesce(cardinality((bill).month_days), 1)::numeric / (bill).every
    when 'yearly' then 1.0 / 12 / (bill).every
  end;
comment on function app.times_a_month is 'How often a bill comes in a month on average; null for a one-time bill.';

create function app.bill_state(status text, earliest_due date, next_due date, is_amount_known boolean, today date, lead_days int, is_settled boolean)
returns text
language sql immutable
  return case
    when status = 'ended' then 'paid'
    when status <> 'active' then null
    when earliest_due < today then 'overdue'
    when next_due <= today + lead_days and is_amount_known then 'due'
    when next_due <= today + lead_days then 'amount_missing'
    when next_due is null or is_settled then 'paid'
    when is_amount_known then 'upcoming'
    else 'amount_missing'
  end;
comment on function app.bill_state is
  'overdue: an open date has passed. due: the next one is today or within the lead days. paid: all that was due this calendar month is settled, and some of it by paying; or nothing is left to pay. upcoming: everything else. amount_missing instead of due or upcoming while the amount of the next date is not known. Null for a paused or cancelled bill, of which nothing is expected.';

create function app.this_month(bill app.expenses, earliest_due date, today date) returns table (is_settled boolean)
language sql stable rows 1
begin atomic
  select earliest_due >= date_trunc('month', today) + interval '1 month' and (
    exists (
      select from app.expense_occurrences as o
      -- The weekend rule moves a date by two days at most; the bounds on the scheduled date are there for the index.
      where o.expense_id = (bill).id and o.status = 'paid'
        and o.scheduled_on >= date_trunc('month', today) - interval '2 days' and o.scheduled_on < date_trunc('month', today) + interval '1 month 2 days'
        and o.due_on >= date_trunc('month', today) and o.due_on < date_trunc('month', today) + interval '1 month'
    )
    or (bill).autopay and (bill).next_due < today and exists (
      select from app.scheduled_dates(bill, app.due_index(bill, today) - 1, app.due_index(bill, today) - 1) as s
      where s.due_on >= date_trunc('month', today) and app.is_paid_by_autopay(bill, s.due_on, today)
    )
  );
end;
comment on function app.this_month is
  'Whether nothing of a bill is open until the end of the calendar month and something of it was paid, automatic payments not yet recorded included.';

create function app.describe_bills(context app.context, bill_ids text[]) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  default_lead_days constant int := app.default_lead_days(context);
  -- A daily bill that nobody paid for a year is told by its number.
  max_overdue_shown constant int := 24;
begin
  return (
    with open_now as materialized (
      select * from app.open_occurrences(context, bill_ids)
    ), overdue as (
      select o.expense_id, min(o.due_on) as earliest_due, count(*) as dates_count,
        jsonb_agg(jsonb_build_object('due_on', o.due_on, 'amount', app.format_minor(o.remaining_minor, c.exponent)) order by o.position)
          filter (where o.position <= max_overdue_shown) as dates
      from (select *, row_number() over (partition by o.expense_id order by o.due_on, o.scheduled_on) as position from open_now as o) as o
      join app.currencies as c on c.code = o.currency
      where o.due_on < context.today
      group by o.expense_id
    ), upcoming as (
      select distinct on (o.expense_id) o.*
      from open_now as o
      where o.due_on >= context.today
      order by o.expense_id, o.due_on, o.scheduled_on
    )
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', b.id,
      'name', b.name,
      'payee', b.payee,
      'category', coalesce(category.name, 'Uncategorized'),
      'tags', case when b.tags <> '{}' then to_jsonb(b.tags) end,
      'note', b.note,
      'amount', app.format_minor(coalesce(u.expected_minor, app.rule_amount(b)), c.exponent),
      'remaining', app.format_minor(nullif(u.remaining_minor, u.expected_minor), c.exponent),
      'usual_amount', case when b.amount_mode = 'variable' then app.format_minor(usual.minor, c.exponent) end,
      'currency', b.currency,
      'amount_mode', b.amount_mode,
      'schedule_text', app.schedule_text(b),
      'next_due', u.due_on,
      'days_until', u.due_on - context.today,
      'state', app.bill_state(
        b.status, coalesce(overdue.earliest_due, u.due_on), u.due_on, u.expected_minor is not null, context.today, lead.days,
        this_month.is_settled
      ),
      'overdue', coalesce(overdue.dates, '[]'),
      'overdue_count', case when overdue.dates_count > max_overdue_shown then overdue.dates_count end,
      'status', b.status,
      'autopay', b.autopay,
      'reminder', jsonb_build_object('enabled', b.reminder_enabled, 'days_before', lead.days),
      'monthly_equivalent', case when b.status = 'active' then app.format_minor(usual.minor * app.times_a_month(b), c.exponent) end,
      'trial_ends_on', b.trial_ends_on,
      'renews_on', b.renews_on,
      'cancel_by', b.renews_on - b.notice_days,
      'my_share_percent', case when b.share_bp < 10000 then trim_scale(b.share_bp / 100.0) end,
      'provider', case when link.id is not null then jsonb_build_object('name', link.provider_key, 'status', link.status) end,
      'version', b.version
    )) order by ids.position), '[]')
    from unnest(bill_ids) with ordinality as ids (id, position)
    join app.expenses as b on b.id = ids.id
    join app.currencies as c on c.code = b.currency
    cross join lateral (select coalesce(b.remind_days_before, default_lead_days) as days) as lead
    left join app.categories as category on category.id = b.category_id
    left join app.provider_links as link on link.expense_id = b.id and link.status <> 'revoked'
    left join overdue on overdue.expense_id = b.id
    left join upcoming as u on u.expense_id = b.id
    cross join lateral app.this_month(b, coalesce(overdue.earliest_due, u.due_on), context.today) as this_month
    cross join lateral app.usual_amount(b) as usual
  );
end
$$;
comment on function app.describe_bills is 'Bills in this order as every tool shows them, as of now; amounts of overdue dates are what remains to be paid.';

-- add_bill

create function app.parse_bill_schedule(context app.context, arguments jsonb, bill app.expenses) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  first_due constant date := app.parse_date(context, arguments ->> 'first_due', 'first_due');
  day_by_day app.expenses;
begin
  bill.frequency := coalesce(arguments ->> 'frequency', 'monthly');
  bill.every := case bill.frequency when 'once' then 1 else coalesce((arguments ->> 'every')::int, 1) end;
  bill.weekend_rule := coalesce(arguments ->> 'weekend_rule', 'none');
  bill.month_days := (
    select array_agg(d order by (d + 32) % 32)
    from (select distinct case value::int when 31 then -1 else value::int end as d from jsonb_array_elements_text(arguments -> 'month_days')) as days
  );
  if bill.month_days is not null and bill.frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument', 'Days of the month go with a monthly bill.', 'month_days',
      format('Leave month_days out and give first_due: a %s bill counts from it.', case bill.frequency when 'once' then 'one-time' else bill.frequency end)
    );
  end if;
  if first_due is null and bill.month_days is null then
    perform app.fail(
      'invalid_argument', format('It is not said when %s is due first.', bill.name), 'first_due',
      'Ask for the day. Give first_due, or month_days for a monthly bill, e.g. [5].'
    );
  end if;
  bill.anchor_on := coalesce(first_due, context.today);
  if bill.month_days is not null then
    -- The schedule starts on the first of these days, in whatever month that is; only from there on months may be left out.
    day_by_day := bill;
    day_by_day.every := 1;
    bill.anchor_on := app.scheduled_on(day_by_day, 0);
  end if;
  if bill.frequency <> 'once' then
    bill.ends_on := app.parse_date(context, arguments ->> 'ends_on', 'ends_on');
    bill.ends_after := (arguments ->> 'ends_after')::int;
  end if;
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument', format('%s would end on %s, before it is due first on %s.', bill.name, bill.ends_on, bill.anchor_on), 'ends_on', 'Check both dates.');
  end if;
  if bill.frequency = 'once' then
    bill.tracked_from := bill.anchor_on;
  elsif app.due_index(bill, context.today) > app.last_index(bill) then
    perform app.fail(
      'invalid_argument',
      format('%s would be over already: it was due last on %s.', bill.name, app.due_on(app.scheduled_on(bill, app.last_index(bill)), bill.weekend_rule)),
      'first_due', 'For what was paid in the past use log_expenses.'
    );
  else
    bill.tracked_from := app.scheduled_on(bill, app.due_index(bill, context.today));
  end if;
  return bill;
end
$$;
comment on function app.parse_bill_schedule is 'The schedule of a new bill from its arguments; the anchor is always a scheduled date. What was due before today is not watched.';

create function app.parse_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql volatile set search_path = '' as $$
declare
  share_percent constant numeric := coalesce((arguments ->> 'my_share_percent')::numeric, 100);
  bill app.expenses;
begin
  bill.organization_id := context.organization_id;
  bill.name := app.clean_text(arguments ->> 'name');
  if bill.name is null then
    perform app.fail('invalid_argument', 'A bill needs a name.', 'name', 'Give a short label, e.g. "Rent".');
  end if;
  bill.payee := app.clean_text(arguments ->> 'payee');
  bill.amount_mode := coalesce(arguments ->> 'amount_mode', 'fixed');
  bill.currency := coalesce(arguments ->> 'currency', context.base_currency);
  bill.amount_minor := app.parse_amount(arguments ->> 'amount', bill.currency, 'amount');
  if bill.amount_minor is null and bill.amount_mode <> 'variable' then
    perform app.fail(
      'invalid_argument', format('It is not said how much %s is.', bill.name), 'amount',
      'Ask for the amount. If it differs each time, give amount_mode "variable".'
    );
  end if;
  bill := app.parse_bill_schedule(context, arguments, bill);
  if share_percent * 100 <> trunc(share_percent * 100) then
    perform app.fail('invalid_argument', format('%s %% is too fine a share.', trim_scale(share_percent)), 'my_share_percent', 'Use at most two decimals.');
  end if;
  bill.share_bp := share_percent * 100;
  bill.trial_ends_on := app.parse_date(context, arguments ->> 'trial_ends_on', 'trial_ends_on');
  bill.renews_on := app.parse_date(context, arguments ->> 'renews_on', 'renews_on');
  bill.notice_days := (arguments ->> 'notice_days')::smallint;
  if bill.notice_days is not null and bill.renews_on is null then
    perform app.fail('invalid_argument', 'A notice period counts back from the renewal, and no renewal is given.', 'renews_on', 'Give renews_on as well, or leave notice_days out.');
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
  order by e.entry
  limit 1;
  return found;
end
$$;
comment on function app.find_same_bill is 'The active bill of the same name, amount, currency and schedule; all null when there is none.';

create function app.add_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := app.parse_bill(context, arguments);
  existing app.expenses;
  warnings jsonb := '[]';
  has_reminders constant boolean := bill.reminder_enabled and identity.organization_has_feature(context.organization_id, 'reminders:email', context.at);
begin
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    existing := app.find_same_bill(bill);
  end if;
  if existing.id is not null then
    return jsonb_build_object(
      'data', jsonb_build_object('status', 'duplicate', 'bill', app.describe_bills(context, array[existing.id]) -> 0, 'next_dates', app.next_due_dates(context, existing, 3)),
      'warnings', jsonb_build_array(jsonb_build_object('code', 'duplicate', 'message', format(
        '%s is there already and was not added again. If it really is a second one, call again with on_duplicate "allow".', existing.name
      ))),
      'summary', 'Added nothing: ' || existing.name || ' is there already'
    );
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
    warnings := warnings || jsonb_build_object('code', 'reminders_inactive', 'message', format(
      'The reminder is set but will not be sent: the plan of %s does not include reminder e-mails.', context.organization_name
    ));
  end if;
  if bill.anchor_on < bill.tracked_from then
    warnings := warnings || jsonb_build_object('code', 'past_dates_not_tracked', 'message', format(
      'What was due before today counts as settled. The first due date that is watched is %s.', bill.next_due
    ));
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
    'summary', format('Added %s: ', bill.name) || concat_ws(' ', bill.currency || ' ' || app.format_amount(bill.amount_minor, bill.currency), app.schedule_text(bill))
  );
end
$$;
comment on function app.add_bill is 'Tool add_bill: data {status, bill, next_dates, first_reminder_on?}.';

revoke all on function
  app.default_lead_days, app.times_a_month, app.bill_state, app.this_month, app.describe_bills,
  app.parse_bill_schedule, app.parse_bill, app.find_same_bill, app.add_bill from public, anon;
grant execute on function
  app.default_lead_days, app.times_a_month, app.bill_state, app.this_month, app.describe_bills,
  app.parse_bill_schedule, app.parse_bill, app.find_same_bill, app.add_bill to authenticated, service_role;
