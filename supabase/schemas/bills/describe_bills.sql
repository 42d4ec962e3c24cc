create or replace function app.assignee_name(bill app.expenses) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select app.member_name(m.user_id)
    from identity.memberships as m
    where m.organization_id = bill.organization_id and m.user_id = bill.assignee_id
  );
end
$$;
comment on function app.assignee_name is
  'Returns the assignee of a bill; null without one, or when their membership has ended.';

create or replace function app.status_on(bill app.expenses, day date) returns text
language sql immutable
  return case when (bill).status = 'active' and (bill).paused_until > day then 'paused' else (bill).status end;
comment on function app.status_on is
  'Returns the status of a bill as people see it. A bill with pause_until is paused even if its next date is known.';

create type app.bill_position as (
  id text,
  sort_on date,
  recorded_seq bigint,
  due_count bigint,
  due_minor numeric
);
comment on type app.bill_position is
  'A bill, its position in the list (by earliest open date, then by recording order), and its part of the due total.';

create or replace function app.has_date_document(bill_id text, day date) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from app.documents as d
    join app.expense_occurrences as o on o.id = d.occurrence_id
    where d.expense_id = bill_id and d.deleted_at is null and o.due_on = day
  );
end
$$;
comment on function app.has_date_document is 'Whether a document is attached to a bill''s date with this due day.';

-- Uses one generic plan per session, because each bill is looked up by its id anyway.
create or replace function app.describe_bills(context app.context, bill_ids text[], within_days int default null,
  due app.bill_position[] default null) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  default_lead_days constant int := app.default_lead_days(context);
  -- Report only the number of dates: a daily bill may be unpaid for a year.
  max_overdue_shown constant int := 24;
  documented constant text[] := array(
    select distinct d.expense_id from app.documents as d where d.expense_id = any (bill_ids) and d.deleted_at is null
  );
begin
  return (
    with passed as (
      select * from app.passed_occurrences(context, bill_ids)
    ), overdue as (
      select o.expense_id, min(o.due_on) as earliest_due, count(*) as dates_count,
        jsonb_agg(jsonb_build_object(
          'due_on', o.due_on, 'amount', app.format_minor(o.remaining_minor, c.exponent),
          'currency', nullif(o.currency, b.currency),
          'is_estimate', case when b.amount_mode = 'estimated' and o.is_by_rule then true end
        ) order by o.position)
          filter (where o.position <= max_overdue_shown) as dates
      from (select *, row_number() over (partition by o.expense_id order by o.due_on, o.scheduled_on) as position
        from passed as o) as o
      join app.currencies as c on c.code = o.currency
      cross join lateral (
        select b.currency, b.amount_mode from app.expenses as b where b.id = o.expense_id offset 0
      ) as b
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
      'amount', app.format_minor(
        coalesce(u.expected_minor, case when b.price_from > context.today then b.earlier_minor end,
        app.rule_amount(b.bill)), coalesce(own.exponent, c.exponent)
      ),
      'is_estimate', case when b.amount_mode = 'estimated' and coalesce(u.is_by_rule, true) then true end,
      'remaining',
      app.format_minor(nullif(u.remaining_minor, u.expected_minor), coalesce(own.exponent, c.exponent)),
      'due_currency', own.code,
      'next_price', case when b.price_from > context.today then
        jsonb_build_object('amount', app.format_minor(b.amount_minor, c.exponent), 'from', b.price_from)
      when b.amount_mode = 'fixed' and u.expected_minor <> b.amount_minor then (
        select jsonb_build_object('amount', app.format_minor(b.amount_minor, c.exponent), 'from', f.day)
        from app.next_price_from(b.bill, context.today) as f (day)
        where f.day is not null
      ) end,
      'usual_amount', case when b.amount_mode = 'variable' then app.format_minor(usual.minor, c.exponent) end,
      'currency', b.currency,
      'amount_mode', b.amount_mode,
      'schedule', app.describe_schedule(b.bill),
      'next_due', u.due_on,
      'days_until', u.due_on - context.today,
      'state', app.bill_state(
        as_of.status, coalesce(overdue.earliest_due, u.due_on), u.due_on, u.expected_minor is not null, context.today,
        lead.days,
        this_month.is_settled, within_days, awaited.dates is not null
      ),
      'snoozed_until', case when u.snoozed_until > context.today then u.snoozed_until end,
      'overdue', coalesce(overdue.dates, '[]'),
      'awaiting_amount', to_jsonb(awaited.dates),
      'has_document', case when b.id = any (documented)
        then nullif(app.has_date_document(b.id, coalesce(overdue.earliest_due, u.due_on)), false) end,
      'overdue_count', case when overdue.dates_count > max_overdue_shown then overdue.dates_count end,
      'status', as_of.status,
      'paused_until', case when as_of.status = 'paused' then b.paused_until end,
      'autopay', b.autopay,
      'reminder',
      jsonb_build_object('enabled', b.reminder_enabled, 'days_before', lead.days, 'again',
        nullif(to_jsonb(b.remind_again), '[]')),
      'monthly_equivalent',
      case when as_of.status = 'active'
        then
        app.format_minor(usual.minor * app.times_a_month(b.frequency, b.every, cardinality(b.month_days)),
        c.exponent) end,
      'assignee', case when b.assignee_id is not null then app.assignee_name(b.bill) end,
      'paid_by', case when b.payer_id is not null then app.member_name(b.payer_id) end,
      'shared', case when b.sharing is not null then app.describe_sharing(b.sharing) end,
      'trial_ends_on', b.trial_ends_on,
      'renews_on', case when b.renews_on is not null or b.contract is not null
        then app.next_renewal(b.bill, context.today) end,
      'cancel_by', exit.cancel_by,
      'contract', case when b.contract is not null then b.contract || jsonb_build_object(
        'can_end_on', exit.leaves_on - 1,
        'notice', regexp_replace(b.contract ->> 'notice', '^1 (day|week|month)s', '1 \1'),
        'missing', nullif(app.missing_of_contract(b.bill, context.today), '{}')
      ) end,
      'share_note', case when b.share_bp < 10000 then jsonb_build_object(
        'percent', trim_scale(b.share_bp / 100.0), 'amount',
        app.format_minor(round(coalesce(u.expected_minor, usual.minor) * b.share_bp / 10000.0),
          coalesce(own.exponent, c.exponent)),
        'currency', coalesce(own.code, b.currency)
      ) end,
      'provider', case when link.id is not null then app.describe_link(context, link) end,
      'due_in_window', case when due[ids.position].due_count > 0 then jsonb_build_object(
        'count', due[ids.position].due_count, 'amount', app.format_minor(due[ids.position].due_minor, c.exponent)
      ) end,
      'version', b.version
    )) order by ids.position), '[]')
    from unnest(bill_ids) with ordinality as ids (id, position)
    -- Look up one by one: a join read all expenses, which took most of the time of a short list.
    cross join lateral (select e.*, e as bill from app.expenses as e where e.id = ids.id offset 0) as b
    join app.currencies as c on c.code = b.currency
    cross join lateral (select app.status_on(b.bill, context.today) as status) as as_of
    cross join lateral (select coalesce(b.remind_days_before, default_lead_days) as days) as lead
    -- Without offset, the planner would call the function before it tests the condition.
    left join lateral (
      select x.* from app.next_exit(b.bill, context.today) as x
      where b.renews_on is not null or b.contract is not null
      offset 0
    ) as exit on true
    left join app.categories as category on category.id = b.category_id
    left join app.provider_links as link on link.expense_id = b.id and link.status <> 'revoked'
    left join overdue on overdue.expense_id = b.id
    left join lateral (
      select o.due_on, o.scheduled_on, o.expected_minor, o.expected_minor - o.paid_minor as remaining_minor,
        o.snoozed_until, o.currency, o.amount_source = 'rule' as is_by_rule
      from app.expense_occurrences as o
      -- The weekend rule moves a date by two days at most, so a bound on the scheduled date lets the index serve the
      -- query.
      where o.expense_id = b.id and o.scheduled_on >= context.today - 2 and o.status = 'open'
        and o.due_on >= context.today
      union all
      select p.due_on, p.scheduled_on, p.expected_minor, p.remaining_minor, null, p.currency, p.is_by_rule
        from passed as p
        where p.expense_id = b.id and p.due_on >= context.today
      order by due_on, scheduled_on
      limit 1
    ) as u on true
    left join app.currencies as own on own.code = u.currency and u.currency <> b.currency
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, coalesce(overdue.earliest_due, u.due_on),
      context.today) as this_month
    -- next_price is a price that applies later; until then the bill costs as much as its next date.
    cross join lateral app.usual_amount(
      b.id,
      case when b.price_from > context.today then b.earlier_minor
        when b.amount_mode = 'fixed' and u.is_by_rule and own.code is null then u.expected_minor
        else b.amount_minor end,
      b.currency
    ) as usual
    cross join lateral app.awaited_dates(b.id, b.autopay and b.status = 'active', b.next_due, usual.minor,
      context.today) as awaited
  );
end
$$;
comment on function app.describe_bills is
  'Returns the bills with these ids, in the given order, in the form that all tools share. Amounts of overdue dates '
  'are the unpaid rest. due_currency: the currency of the next date, if it was partly paid before the bill changed its '
  'currency. contract: the recorded facts, can_end_on (the last day after cancelling by cancel_by) and missing '
  '(app.missing_of_contract). awaiting_amount: dates of automatic payments without an amount. next_price {amount, '
  'from}: a price that applies later. share_note {percent, amount?, currency}: the share by my_share_percent, while '
  'totals count the whole amount. due_in_window: the corresponding entry of the argument due. Dates within the given '
  'number of days count as due.';
