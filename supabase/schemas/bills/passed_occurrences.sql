create or replace function app.passed_occurrences(context app.context, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint,
  currency text, is_by_rule boolean)
language plpgsql stable rows 50 set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return query
    with passed as (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor,
        o.expected_minor - o.paid_minor as remaining_minor, o.currency, o.amount_source = 'rule' as is_by_rule
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on < context.today
        and (bill_ids is null or o.expense_id = any (bill_ids))
    ), late as (
      -- Only a bill with a passed open row can be due for a roll. Look up the bills one by one: under row-level
      -- security the planner expects few rows everywhere and would scan all bills for each row.
      select e.bill
      from (select distinct p.expense_id from passed as p) as p
      cross join lateral (select b as bill from app.expenses as b where b.id = p.expense_id offset 0) as e
      where (e.bill).deleted_at is null
    )
    select p.*
    from passed as p
    -- Use a full join, as in app.open_occurrences: it is 1.6 times as fast for 5,000 bills that are half a year behind.
    full join late as l on (l.bill).id = p.expense_id
    where coalesce(p.expense_id, '') <> '' and coalesce((l.bill).id, '') <> ''
      and app.is_paid_by_autopay(l.bill, p.due_on, context.today) is not true
      and not (app.awaits_amount(l.bill) and p.due_on < context.today and p.expected_minor is null)
    union all
    select (l.bill).id, s.scheduled_on, s.due_on, app.rule_amount(l.bill), app.rule_amount(l.bill), (l.bill).currency,
      true
    from late as l
    cross join lateral app.current_index(l.bill, context.today) as current
    cross join lateral app.scheduled_dates(
      l.bill, app.due_index(l.bill, app.first_watched(l.bill, (l.bill).next_due)),
      least(current.n, app.last_index(l.bill))
    ) as s
    where (l.bill).next_due < context.today and (l.bill).frequency <> 'once'
      and not app.is_paid_by_autopay(l.bill, s.due_on, context.today)
      and (select true from app.expense_occurrences as o
        where o.expense_id = (l.bill).id and o.scheduled_on = s.scheduled_on) is null;
end
$$;
comment on function app.passed_occurrences is
  'Returns the passed open dates with their unpaid amounts. Includes paused and cancelled bills, whose dates before '
  'the pause stay due until they are paid or skipped. For active bills that were not rolled yet, includes the dates '
  'that a roll would add, up to the current one.';

create or replace function app.open_occurrences(context app.context, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint,
  currency text, is_by_rule boolean)
language sql stable
begin atomic
  -- Use a full join, but keep only complete pairs. Under row-level security the planner expects few rows on both sides,
  -- and would scan all of one side for each row of the other; it can only hash or merge a full join. "offset 0" keeps
  -- the caller's conditions out, which would turn it into another kind of join. With 5,000 bills, summarize_spending
  -- with upcoming bills is 5.6 times as fast, and its chart more than a hundred times.
  select coming.*
  from (
    select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.expected_minor - o.paid_minor, o.currency,
      o.is_by_rule
    from (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.paid_minor, o.currency,
        o.amount_source = 'rule' as is_by_rule
        from app.expense_occurrences as o
      where o.organization_id = (context).organization_id and o.status = 'open'
        and (bill_ids is null or o.expense_id = any (bill_ids))
      offset 0
    ) as o
    full join (
      select e.id from app.expenses as e
      where e.organization_id = (context).organization_id and e.kind = 'bill' and e.deleted_at is null
        and (bill_ids is null or e.id = any (bill_ids))
      offset 0
    ) as b on b.id = o.expense_id
    where coalesce(o.due_on, '-infinity') >= (context).today and coalesce(b.id, '') <> ''
    offset 0
  ) as coming
  union all
  select p.expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.remaining_minor, p.currency, p.is_by_rule
    from app.passed_occurrences(context, bill_ids) as p;
end;
comment on function app.open_occurrences is
  'Returns the open dates of all bills as of now, with their unpaid amounts (null if unknown): overdue dates, the '
  'current dates of active bills, and partly paid dates.';

create or replace function app.future_spans(context app.context, last_day date, bill_ids text[] default null)
returns table (bill app.expenses, first int, last int, first_day date, end_day date)
language sql stable
begin atomic
  -- Compute in steps, because the planner inlines a function only if its arguments are simple. "offset 0" ends a step.
  -- The step that computes days makes list_bills over a year 2.2 times as fast (bench/sql/planner_hints.ts).
  select b, span.first, span.last, day.of_today, day.of_end
  from app.expenses as b
  cross join lateral (select app.first_watched(b, b.next_due) as current_on offset 0) as watched
  cross join lateral (
    select app.first_scheduled_due((context).today, b.weekend_rule) as of_today,
      app.first_scheduled_due(watched.current_on, b.weekend_rule) as of_current,
      app.first_scheduled_due(last_day + 1, b.weekend_rule) as of_end
    offset 0
  ) as day
  cross join lateral (
    select case
        when b.next_due >= (context).today then app.schedule_index(b, day.of_current)
        else (select c.n + 1 from app.current_index(b, (context).today) as c)
      end as first,
      least(app.last_index(b), app.schedule_index(b, day.of_end) - 1) as last
    offset 0
  ) as span
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null
    and (bill_ids is null or b.id = any (bill_ids))
    and b.frequency <> 'once' and greatest((context).today, b.next_due) + app.shortest_gap(b) <= last_day;
end;
comment on function app.future_spans is
  'Returns the numbers of scheduled dates of each active bill from about its current one until a day, and the range of '
  'their scheduled days. Some of these dates may have rows.';
