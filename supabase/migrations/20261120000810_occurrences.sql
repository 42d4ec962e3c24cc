-- Occurrences: which due dates of a bill are open now. Rows exist from the first date that we watch through the current one, which is the
-- first that is due today or later and neither paid nor skipped; what comes after is computed.
-- Nothing here writes: what a roll (0815) would add is added to the answer, so that reading is right however long nothing was rolled.

create function app.rule_amount(bill app.expenses) returns bigint
language sql immutable
  return case when (bill).amount_mode <> 'variable' then (bill).amount_minor end;
comment on function app.rule_amount is 'What an occurrence is expected to cost by the bill alone: nothing known for a variable one, whose amount is only its usual one.';

-- A table, since the planner puts those of one row into the query that asks; each look at a table by itself costs a check of the membership.
create function app.usual_amount(bill_id text, amount_minor bigint) returns table (minor bigint)
language sql stable rows 1
begin atomic
  select coalesce(amount_minor, (
    select o.expected_minor
    from app.expense_occurrences as o
    where o.expense_id = bill_id and o.expected_minor is not null
    order by o.scheduled_on desc
    limit 1
  ));
end;
comment on function app.usual_amount is 'What a bill costs as far as anybody knows: its amount, else the latest that was known, else null.';

create function app.is_paid_by_autopay(bill app.expenses, due_on date, today date) returns boolean
language sql immutable
  -- next_due says how far the bill was rolled: an earlier occurrence that is open was reopened by somebody, and stays so.
  return (bill).autopay and (bill).amount_mode = 'fixed' and due_on < today and due_on >= (bill).next_due;
comment on function app.is_paid_by_autopay is 'Whether an open occurrence passes for paid: automatic, of a known amount, and passed since the bill was rolled last.';

create function app.first_watched(bill app.expenses, day date) returns date
language sql immutable
  return greatest(day, app.due_on((bill).tracked_from, (bill).weekend_rule));
comment on function app.first_watched is 'A day, or the first due date that is ours to watch, when that is later: a new schedule may begin in the future.';

create function app.open_indexes(bill app.expenses, today date, wanted int) returns setof int
language plpgsql stable set search_path = '' as $$
declare
  first constant int := greatest(app.due_index(bill, today), app.schedule_index(bill, bill.tracked_from));
  closed_ahead int;
begin
  select count(*) into closed_ahead
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.scheduled_on >= app.scheduled_on(bill, first) and o.status <> 'open';
  return query
    select n
    from generate_series(first, least(first + wanted + closed_ahead - 1, app.last_index(bill))) as n
    where closed_ahead = 0 or not exists (
      select from app.expense_occurrences as o
      where o.expense_id = bill.id and o.scheduled_on = app.scheduled_on(bill, n) and o.status <> 'open'
    )
    order by n
    limit wanted;
end
$$;
comment on function app.open_indexes is 'The numbers of the next scheduled dates that are due today or later and neither paid nor skipped, as many as wanted.';

create function app.current_index(bill app.expenses, today date) returns table (n int)
language sql stable rows 1
begin atomic
  select case
    when exists (
      select from app.expense_occurrences as o
      where o.expense_id = (bill).id and o.scheduled_on >= app.first_scheduled_due(today, (bill).weekend_rule) and o.status <> 'open'
    ) then (select i from app.open_indexes(bill, today, 1) as i)
    else app.due_index(bill, app.first_watched(bill, today))
  end;
end;
comment on function app.current_index is
  'The number of the current date of an active bill: due today or later, neither paid nor skipped; past the last one, or null, when the schedule is over.';

create function app.shortest_gap(bill app.expenses) returns int
language sql immutable
  return case (bill).frequency
    when 'monthly' then case when cardinality((bill).month_days) > 1 then 1 else (bill).every * 28 end
    when 'weekly' then (bill).every * 7
    when 'yearly' then (bill).every * 365
    when 'daily' then (bill).every
  end - case (bill).weekend_rule when 'none' then 0 else 4 end;
comment on function app.shortest_gap is 'Days between two due dates of a bill, at least: spares the arithmetic where only one can fall into a period.';

-- Reading

create function app.passed_occurrences(context app.context, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint, currency text)
language plpgsql stable rows 50 set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return query
    with passed as materialized (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.expected_minor - o.paid_minor as remaining_minor, o.currency
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on < context.today
        and (bill_ids is null or o.expense_id = any (bill_ids))
    ), late as materialized (
      -- What a bill waits for is always one of its open rows, so only those of which one has passed can be due for a roll. They are looked up one
      -- by one: under row-level security the planner takes everything for a handful, and would walk all bills for each row.
      select e.bill
      from (select distinct p.expense_id from passed as p) as p
      cross join lateral (select b as bill from app.expenses as b where b.id = p.expense_id offset 0) as e
      where (e.bill).status = 'active' and (e.bill).deleted_at is null
    )
    select p.*
    from passed as p
    -- Full, as in app.open_occurrences.
    full join late as l on (l.bill).id = p.expense_id
    where coalesce(p.expense_id, '') <> '' and coalesce((l.bill).id, '') <> ''
      and app.is_paid_by_autopay(l.bill, p.due_on, context.today) is not true
    union all
    select (l.bill).id, s.scheduled_on, s.due_on, app.rule_amount(l.bill), app.rule_amount(l.bill), (l.bill).currency
    from late as l
    cross join lateral app.current_index(l.bill, context.today) as current
    cross join lateral app.scheduled_dates(
      l.bill, app.due_index(l.bill, app.first_watched(l.bill, (l.bill).next_due)), least(current.n, app.last_index(l.bill))
    ) as s
    where (l.bill).next_due < context.today and (l.bill).frequency <> 'once'
      and not app.is_paid_by_autopay(l.bill, s.due_on, context.today)
      and (select true from app.expense_occurrences as o where o.expense_id = (l.bill).id and o.scheduled_on = s.scheduled_on) is null;
end
$$;
comment on function app.passed_occurrences is
  'What is open in the active bills of dates that have passed, with what remains to be paid, and of bills that were not rolled since, the dates that a roll would add: the current one included.';

create function app.open_occurrences(context app.context, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint, currency text)
language sql stable
begin atomic
  -- A full join that keeps only whole pairs: under row-level security the planner takes both sides for a handful, however many there are, and
  -- would walk all of the one for each of the other; a full join it can only hash or merge. "offset 0" keeps conditions of the caller out of it,
  -- which would make it another kind of join.
  select coming.*
  from (
    select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.expected_minor - o.paid_minor, o.currency
    from (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.paid_minor, o.currency from app.expense_occurrences as o
      where o.organization_id = (context).organization_id and o.status = 'open' and (bill_ids is null or o.expense_id = any (bill_ids))
      offset 0
    ) as o
    full join (
      select e.id from app.expenses as e
      where e.organization_id = (context).organization_id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
        and (bill_ids is null or e.id = any (bill_ids))
      offset 0
    ) as b on b.id = o.expense_id
    where coalesce(o.due_on, '-infinity') >= (context).today and coalesce(b.id, '') <> ''
    offset 0
  ) as coming
  union all
  select p.expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.remaining_minor, p.currency from app.passed_occurrences(context, bill_ids) as p;
end;
comment on function app.open_occurrences is
  'What is open in the active bills as of now: every overdue date and the current one, with what remains to be paid (null while not known).';

create function app.future_spans(context app.context, last_day date, bill_ids text[] default null)
returns table (bill app.expenses, first int, last int, first_day date, end_day date)
language sql stable
begin atomic
  -- Step by step, since the planner writes out no function whose argument is more than a few operators; "offset 0" ends a step.
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
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null
    and (bill_ids is null or b.id = any (bill_ids))
    and b.frequency <> 'once' and greatest((context).today, b.next_due) + app.shortest_gap(b) <= last_day;
end;
comment on function app.future_spans is
  'Numbers of the scheduled dates from about the current one of each active bill until a day, which may have rows already, and the days from and before which those are scheduled.';

create function app.future_occurrences(context app.context, last_day date, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, currency text)
language sql stable
begin atomic
  select (f.bill).id, s.scheduled_on, s.due_on, app.rule_amount(f.bill), (f.bill).currency
  from app.future_spans(context, last_day, bill_ids) as f
  -- Looked up once a bill: as a join it would be planned by guesses about how many there are.
  cross join lateral (
    select coalesce(array_agg(o.scheduled_on), '{}') as dates
    from app.expense_occurrences as o
    where o.expense_id = (f.bill).id and o.scheduled_on >= f.first_day and o.scheduled_on < f.end_day
    offset 0
  ) as known
  cross join lateral app.scheduled_dates(f.bill, f.first, f.last) as s
  where s.scheduled_on <> all (known.dates);
end;
comment on function app.future_occurrences is 'What follows the current date of each active bill until a day, as far as it is not paid or skipped in advance.';

create function app.future_counts(context app.context, last_day date, bill_ids text[] default null) returns table (expense_id text, dates bigint)
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return query
    select (f.bill).id, f.last - f.first + 1 - known.dates
    from app.future_spans(context, last_day, bill_ids) as f
    cross join lateral (
      select count(*) as dates
      from app.expense_occurrences as o
      where o.expense_id = (f.bill).id and o.scheduled_on >= f.first_day and o.scheduled_on < f.end_day
        and app.schedule_index(f.bill, o.scheduled_on) between f.first and f.last
        -- Not of an earlier schedule: the day after has another number.
        and app.schedule_index(f.bill, o.scheduled_on + 1) > app.schedule_index(f.bill, o.scheduled_on)
      offset 0
    ) as known
    where f.last - f.first + 1 > known.dates;
end
$$;
comment on function app.future_counts is 'How many dates app.future_occurrences has of each bill, without computing them.';

create function app.expected_in_period(context app.context, first_day date, last_day date)
returns table (expense_id text, category_id text, payee text, due_on date, expected_minor bigint, currency text)
language sql stable
begin atomic
  select b.id, b.category_id, coalesce(b.payee, b.name), e.due_on, coalesce(e.minor, usual.minor), b.currency
  from (
    select o.expense_id, o.due_on, o.remaining_minor as minor from app.open_occurrences(context) as o
    union all
    select f.expense_id, f.due_on, f.expected_minor from app.future_occurrences(context, last_day) as f
  ) as e
  join app.expenses as b on b.id = e.expense_id
  cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
  where (first_day is null or e.due_on >= first_day) and e.due_on <= last_day;
end;
comment on function app.expected_in_period is
  'What the active bills will take from first_day (null: whatever is overdue) to last_day: what remains of each due date; for a variable bill its usual amount, null when none is known.';

create function app.next_due_dates(context app.context, bill app.expenses, wanted int) returns date[]
language plpgsql stable set search_path = '' as $$
begin
  if bill.status <> 'active' then
    return '{}';
  end if;
  return array(
    select coalesce(o.due_on, app.due_on(app.scheduled_on(bill, n), bill.weekend_rule)) as due_on
    from app.open_indexes(bill, context.today, wanted) as n
    left join app.expense_occurrences as o on o.expense_id = bill.id and o.scheduled_on = app.scheduled_on(bill, n)
    union all
    -- What is left of the schedule that it had before.
    select o.due_on
    from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= context.today and o.scheduled_on < bill.tracked_from
    order by due_on
    limit wanted
  );
end
$$;
comment on function app.next_due_dates is 'The next due dates of a bill that are not paid or skipped, today''s included; none while it is not active.';

revoke all on function
  app.rule_amount, app.usual_amount, app.is_paid_by_autopay, app.first_watched, app.open_indexes, app.current_index, app.shortest_gap, app.passed_occurrences, app.open_occurrences,
  app.future_spans, app.future_occurrences, app.future_counts, app.expected_in_period, app.next_due_dates from public, anon;
grant execute on function
  app.rule_amount, app.usual_amount, app.is_paid_by_autopay, app.first_watched, app.open_indexes, app.current_index, app.shortest_gap, app.passed_occurrences, app.open_occurrences,
  app.future_spans, app.future_occurrences, app.future_counts, app.expected_in_period, app.next_due_dates to authenticated, service_role;
