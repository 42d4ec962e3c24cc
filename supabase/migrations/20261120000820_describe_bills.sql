-- How every tool shows a bill: as of now, in words and decimal strings.

create function app.default_lead_days(context app.context) returns int
language plpgsql stable set search_path = '' as $$
begin
  return (select p.default_lead_days from identity.profiles as p where p.user_id = context.owner_id);
end
$$;
comment on function app.default_lead_days is 'Days before the due date on which the owner wants to hear of a bill that says nothing else.';

create function app.times_a_month(frequency text, every int, month_days int) returns numeric
language sql immutable
  -- A year has 365.2425 days (Gregorian mean), a month a twelfth of it.
  return case frequency
    when 'daily' then 365.2425 / 12 / every
    when 'weekly' then 365.2425 / 84 / every
    when 'monthly' then coalesce(month_days, 1)::numeric / every
    when 'yearly' then 1.0 / 12 / every
  end;
comment on function app.times_a_month is 'How often a bill comes in a month on average, month_days times in one; null for a one-time bill.';

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

create function app.this_month(bill_id text, autopay boolean, next_due date, earliest_due date, today date) returns table (is_settled boolean)
language sql stable rows 1
begin atomic
  -- As dates all the way, since an index of dates is not searched for instants.
  select earliest_due >= (date_trunc('month', today) + interval '1 month')::date and (
    exists (
      select from app.expense_occurrences as o
      -- The weekend rule moves a date by two days at most; the bounds on the scheduled date are there for the index.
      where o.expense_id = bill_id and o.status = 'paid'
        and o.scheduled_on between date_trunc('month', today)::date - 2 and (date_trunc('month', today) + interval '1 month')::date + 1
        and o.due_on >= date_trunc('month', today)::date and o.due_on < (date_trunc('month', today) + interval '1 month')::date
    )
    or autopay and next_due < today and exists (
      select
      from app.expenses as b
      cross join lateral app.scheduled_dates(b, app.due_index(b, today) - 1, app.due_index(b, today) - 1) as s
      where b.id = bill_id and s.due_on >= date_trunc('month', today)::date and app.is_paid_by_autopay(b, s.due_on, today)
    )
  );
end;
comment on function app.this_month is
  'Whether nothing of a bill is open until the end of the calendar month and something of it was paid, automatic payments not yet recorded included.';

create function app.next_price_from(bill app.expenses, today date) returns date
language plpgsql stable set search_path = '' as $$
declare
  last_old constant date := (
    select max(o.scheduled_on) from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= today and o.amount_source = 'rule' and o.currency = bill.currency
      and o.expected_minor <> bill.amount_minor
  );
  n constant int := app.schedule_index(bill, last_old + 1);
begin
  return case when n <= coalesce(app.last_index(bill), n) then app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) end;
end
$$;
comment on function app.next_price_from is 'The first due date that has the amount of a bill, when dates to come still have an earlier one; else null.';

-- Planned once a session: whatever the ids, each bill is looked up by its own.
create function app.describe_bills(context app.context, bill_ids text[]) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  default_lead_days constant int := app.default_lead_days(context);
  -- A daily bill that nobody paid for a year is told by its number.
  max_overdue_shown constant int := 24;
begin
  return (
    with passed as materialized (
      select * from app.passed_occurrences(context, bill_ids)
    ), overdue as (
      select o.expense_id, min(o.due_on) as earliest_due, count(*) as dates_count,
        jsonb_agg(jsonb_build_object('due_on', o.due_on, 'amount', app.format_minor(o.remaining_minor, c.exponent)) order by o.position)
          filter (where o.position <= max_overdue_shown) as dates
      from (select *, row_number() over (partition by o.expense_id order by o.due_on, o.scheduled_on) as position from passed as o) as o
      join app.currencies as c on c.code = o.currency
      where o.due_on < context.today
      group by o.expense_id
    )
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', b.id,
      'name', b.name,
      'payee', b.payee,
      'category', category.name,
      'tags', case when b.tags <> '{}' then to_jsonb(b.tags) end,
      'note', b.note,
      'amount', app.format_minor(coalesce(u.expected_minor, app.rule_amount(b)), c.exponent),
      'remaining', app.format_minor(nullif(u.remaining_minor, u.expected_minor), c.exponent),
      'next_price', case when b.amount_mode = 'fixed' and u.expected_minor <> b.amount_minor then (
        select jsonb_build_object('amount', app.format_minor(b.amount_minor, c.exponent), 'from', f.day)
        from app.next_price_from(b, context.today) as f (day)
        where f.day is not null
      ) end,
      'usual_amount', case when b.amount_mode = 'variable' then app.format_minor(usual.minor, c.exponent) end,
      'currency', b.currency,
      'amount_mode', b.amount_mode,
      'schedule', app.describe_schedule(b),
      'next_due', u.due_on,
      'days_until', u.due_on - context.today,
      'state', app.bill_state(
        b.status, coalesce(overdue.earliest_due, u.due_on), u.due_on, u.expected_minor is not null, context.today, lead.days,
        this_month.is_settled
      ),
      'snoozed_until', case when u.snoozed_until > context.today then u.snoozed_until end,
      'overdue', coalesce(overdue.dates, '[]'),
      'overdue_count', case when overdue.dates_count > max_overdue_shown then overdue.dates_count end,
      'status', b.status,
      'autopay', b.autopay,
      'reminder', jsonb_build_object('enabled', b.reminder_enabled, 'days_before', lead.days),
      'monthly_equivalent', case when b.status = 'active' then app.format_minor(usual.minor * app.times_a_month(b.frequency, b.every, cardinality(b.month_days)), c.exponent) end,
      'trial_ends_on', b.trial_ends_on,
      'renews_on', b.renews_on,
      'cancel_by', b.renews_on - b.notice_days,
      'my_share_percent', case when b.share_bp < 10000 then trim_scale(b.share_bp / 100.0) end,
      'my_share_amount', case when b.share_bp < 10000 then app.format_minor(round(coalesce(u.expected_minor, usual.minor) * b.share_bp / 10000.0), c.exponent) end,
      'provider', case when link.id is not null then app.describe_link(context, link) end,
      'version', b.version
    )) order by ids.position), '[]')
    from unnest(bill_ids) with ordinality as ids (id, position)
    join app.expenses as b on b.id = ids.id
    join app.currencies as c on c.code = b.currency
    cross join lateral (select coalesce(b.remind_days_before, default_lead_days) as days) as lead
    left join app.categories as category on category.id = b.category_id
    left join app.provider_links as link on link.expense_id = b.id and link.status <> 'revoked'
    left join overdue on overdue.expense_id = b.id
    left join lateral (
      select o.due_on, o.scheduled_on, o.expected_minor, o.expected_minor - o.paid_minor as remaining_minor, o.snoozed_until
      from (
        -- The weekend rule moves a date by two days at most; the bound on the scheduled date is there for the index.
        select * from app.expense_occurrences as o
        where o.expense_id = b.id and o.scheduled_on >= context.today - 2
        offset 0
      ) as o
      where b.status = 'active' and o.status = 'open' and o.due_on >= context.today
      union all
      select p.due_on, p.scheduled_on, p.expected_minor, p.remaining_minor, null from passed as p where p.expense_id = b.id and p.due_on >= context.today
      order by due_on, scheduled_on
      limit 1
    ) as u on true
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, coalesce(overdue.earliest_due, u.due_on), context.today) as this_month
    cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
  );
end
$$;
comment on function app.describe_bills is 'Bills in this order as every tool shows them, as of now; amounts of overdue dates are what remains to be paid. next_price {amount, from} is a price that was set and holds later; my_share_amount is what my_share_percent makes of the amount, which totals count whole.';

revoke all on function
  app.default_lead_days, app.times_a_month, app.bill_state, app.this_month, app.next_price_from, app.describe_bills from public, anon;
grant execute on function
  app.default_lead_days, app.times_a_month, app.bill_state, app.this_month, app.next_price_from, app.describe_bills to authenticated, service_role;
