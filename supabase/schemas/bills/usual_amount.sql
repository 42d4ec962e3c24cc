-- Occurrences: the open due dates of a bill. Rows exist from the first tracked date through the current one, which is
-- the first date due today or later that is neither paid nor skipped; later dates are computed. Nothing here writes:
-- the answer includes the rows that the next roll would add, so reads are correct even if bills were not rolled for a
-- while.

create or replace function app.rule_amount(bill app.expenses) returns bigint
language sql immutable
  return case when (bill).amount_mode <> 'variable' then (bill).amount_minor end;
comment on function app.rule_amount is
  'Returns the cost of an occurrence as set in the bill; null for a variable bill, which has only a usual amount.';

-- Returns a table because the planner inlines single-row functions into the calling query, and every separate table
-- access costs a membership check.
create or replace function app.usual_amount(bill_id text, amount_minor bigint, currency text)
  returns table (minor bigint)
language sql stable rows 1
begin atomic
  select coalesce(amount_minor, (
    select o.expected_minor
    from app.expense_occurrences as o
    where o.expense_id = bill_id and o.expected_minor is not null and o.currency = usual_amount.currency
    order by o.scheduled_on desc
    limit 1
  ));
end;
comment on function app.usual_amount is
  'Returns the best estimate of a bill''s cost: its amount, otherwise the latest known one in its currency, otherwise '
  'null.';

create or replace function app.is_paid_by_autopay(bill app.expenses, due_on date, today date) returns boolean
language sql immutable
  -- An open occurrence before next_due was reopened by a person and stays open.
  return (bill).autopay and due_on < today and due_on >= (bill).next_due;
comment on function app.is_paid_by_autopay is
  'Whether an open occurrence counts as paid: the bill is automatic, and the date has passed since the last roll. If '
  'no amount is known, the roll leaves it open.';

create or replace function app.awaits_amount(bill app.expenses) returns boolean
language sql immutable
  return (bill).autopay and (bill).status = 'active';
comment on function app.awaits_amount is
  'Whether a passed date of an automatic bill waits for its amount. A paused or cancelled bill''s date doesn''t wait, '
  'because nobody queries its provider.';

create or replace function app.awaited_dates(bill_id text, autopay boolean, next_due date, usual_minor bigint,
  today date) returns table (dates date[])
language sql stable rows 1
begin atomic
  select array_agg(o.due_on order by o.due_on)
  from app.expense_occurrences as o
  where autopay and o.expense_id = bill_id and o.status = 'open' and o.expected_minor is null and o.due_on < today
    -- If there is an amount, the next roll records it.
    and (usual_minor is null or o.due_on < coalesce(awaited_dates.next_due, today));
end;
comment on function app.awaited_dates is
  'Returns the past dates of an automatic bill without an amount or estimate, which are neither paid nor overdue; '
  'null for none.';

create or replace function app.first_watched(bill app.expenses, day date) returns date
language sql immutable
  return greatest(day, app.due_on((bill).tracked_from, (bill).weekend_rule));
comment on function app.first_watched is
  'Returns the later of a day and the first tracked due date, because a new schedule may begin in the future.';

create or replace function app.open_indexes(bill app.expenses, today date, wanted int) returns setof int
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
comment on function app.open_indexes is
  'Returns the numbers of the next scheduled dates, up to the requested count, that are due today or later and '
  'neither paid nor skipped.';

create or replace function app.current_index(bill app.expenses, today date) returns table (n int)
language sql stable rows 1
begin atomic
  select case
    when exists (
      select from app.expense_occurrences as o
      where o.expense_id = (bill).id and o.scheduled_on >= app.first_scheduled_due(today, (bill).weekend_rule)
        and o.status <> 'open'
    ) then (select i from app.open_indexes(bill, today, 1) as i)
    else app.due_index(bill, app.first_watched(bill, today))
  end;
end;
comment on function app.current_index is
  'Returns the number of the current date of an active bill: due today or later, neither paid nor skipped. After the '
  'end of the schedule, returns the number after the last one, or null.';

create or replace function app.shortest_gap(bill app.expenses) returns int
language sql immutable
  return case (bill).frequency
    when 'monthly' then case when cardinality((bill).month_days) > 1 then 1 else (bill).every * 28 end
    when 'weekly' then (bill).every * 7
    when 'yearly' then (bill).every * 365
    when 'daily' then (bill).every
  end - case (bill).weekend_rule when 'none' then 0 else 4 end;
comment on function app.shortest_gap is
  'Returns the minimum number of days between two due dates of a bill. Callers skip arithmetic if a period can '
  'contain only one.';
