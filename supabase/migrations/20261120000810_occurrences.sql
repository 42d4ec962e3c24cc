-- Occurrences: which due dates of a bill are open now. Rows exist from the first date that we watch through the current one, which is the
-- first that is due today or later and neither paid nor skipped; what comes after is computed.
-- Writes bring the rows up to date first (app.refresh_bill). Reads never write: they add what a roll would have added (app.open_occurrences),
-- so both see the same however long nothing was rolled.
--
-- Which dates are ours: tracked_from is the scheduled date of the first occurrence that was due on or after the day the bill was added. A
-- first due date further back only anchors the schedule: what was due then was settled elsewhere. A one-time bill is watched in any case.

create function app.rule_amount(bill app.expenses) returns bigint
language sql immutable
  return case when (bill).amount_mode <> 'variable' then (bill).amount_minor end;
comment on function app.rule_amount is 'What an occurrence is expected to cost by the bill alone: nothing known for a variable one, whose amount is only its usual one.';

-- A table, since the planner puts those of one row into the query that asks; each look at a table by itself costs a check of the membership.
create function app.usual_amount(bill app.expenses) returns table (minor bigint)
language sql stable rows 1
begin atomic
  select coalesce((bill).amount_minor, (
    select o.expected_minor
    from app.expense_occurrences as o
    where o.expense_id = (bill).id and o.expected_minor is not null
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
    else app.due_index(bill, today)
  end;
end;
comment on function app.current_index is
  'The number of the current date of an active bill: due today or later, neither paid nor skipped; past the last one, or null, when the schedule is over.';

create function app.shortest_gap(bill app.expenses) returns int
language sql immutable
  return case (bill).frequency
    when 'daily' then (bill).every
    when 'weekly' then (bill).every * 7
    when 'monthly' then case when cardinality((bill).month_days) > 1 then 1 else (bill).every * 28 end
    when 'yearly' then (bill).every * 365
  end - case (bill).weekend_rule when 'none' then 0 else 4 end;
comment on function app.shortest_gap is 'Days between two due dates of a bill, at least: spares the arithmetic where only one can fall into a period.';

-- Reading

create function app.open_occurrences(context app.context, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint, currency text)
language sql stable
begin atomic
  select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.expected_minor - paid.minor, o.currency
  from app.expense_occurrences as o
  join app.expenses as b on b.id = o.expense_id
  cross join lateral (
    select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)::bigint as minor
    from app.payments as p
    where p.occurrence_id = o.id and p.deleted_at is null
  ) as paid
  where o.organization_id = (context).organization_id and o.status = 'open' and b.status = 'active' and b.deleted_at is null
    and (bill_ids is null or o.expense_id = any (bill_ids))
    and app.is_paid_by_autopay(b, o.due_on, (context).today) is not true
  union all
  select b.id, s.scheduled_on, s.due_on, app.rule_amount(b), app.rule_amount(b), b.currency
  from app.expenses as b
  cross join lateral app.current_index(b, (context).today) as current
  cross join lateral app.scheduled_dates(b, app.due_index(b, b.next_due), least(current.n, app.last_index(b))) as s
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null
    and b.next_due < (context).today and b.frequency <> 'once'
    and (bill_ids is null or b.id = any (bill_ids))
    and not app.is_paid_by_autopay(b, s.due_on, (context).today)
    and not exists (select from app.expense_occurrences as o where o.expense_id = b.id and o.scheduled_on = s.scheduled_on);
end;
comment on function app.open_occurrences is
  'What is open in the active bills as of now: every overdue date and the current one, with what remains to be paid (null while not known).';

create function app.future_occurrences(context app.context, last_day date, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, currency text)
language sql stable
begin atomic
  select b.id, s.scheduled_on, s.due_on, app.rule_amount(b), b.currency
  from app.expenses as b
  cross join lateral app.current_index(b, (context).today) as current
  cross join lateral app.scheduled_dates(
    b, case when b.next_due >= (context).today then app.due_index(b, b.next_due) else current.n + 1 end,
    least(app.last_index(b), app.due_index(b, last_day + 1) - 1)
  ) as s
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null
    and (bill_ids is null or b.id = any (bill_ids))
    and b.frequency <> 'once' and greatest((context).today, b.next_due) + app.shortest_gap(b) <= last_day
    and not exists (select from app.expense_occurrences as o where o.expense_id = b.id and o.scheduled_on = s.scheduled_on);
end;
comment on function app.future_occurrences is 'What follows the current date of each active bill until a day, as far as it is not paid or skipped in advance.';

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
  cross join lateral app.usual_amount(b) as usual
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
    select coalesce(o.due_on, app.due_on(app.scheduled_on(bill, n), bill.weekend_rule))
    from app.open_indexes(bill, context.today, wanted) as n
    left join app.expense_occurrences as o on o.expense_id = bill.id and o.scheduled_on = app.scheduled_on(bill, n)
    order by 1
  );
end
$$;
comment on function app.next_due_dates is 'The next due dates of a bill that are not paid or skipped, today''s included; none while it is not active.';

-- Writing

create function app.materialize_occurrences(bill app.expenses, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
declare
  change constant text := current_setting('app.change_id', true);
begin
  -- Not part of anybody's change: rows follow from the schedule and the calendar, and undoing a payment must not take a due date with it.
  perform set_config('app.change_id', '', true);
  insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
  select bill.organization_id, bill.id, s.scheduled_on, s.due_on, app.rule_amount(bill), bill.currency
  from app.scheduled_dates(bill, first, last) as s
  where not exists (select from app.expense_occurrences as o where o.expense_id = bill.id and o.scheduled_on = s.scheduled_on);
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.materialize_occurrences is 'Makes the rows that are missing among these numbers of a bill''s schedule.';

create function app.pay_occurrence(
  occurrence app.expense_occurrences, amount_minor bigint, paid_on date, source text, paid_by uuid default null, note text default null
) returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  base app.base_value;
  payment app.payments;
begin
  select v.* into base
  from identity.organizations as o
  cross join lateral app.value_in_base(o.base_currency, pay_occurrence.amount_minor, occurrence.currency, pay_occurrence.paid_on) as v
  where o.id = occurrence.organization_id;
  insert into app.payments as p (
    organization_id, expense_id, occurrence_id, amount_minor, currency, paid_on,
    base_currency, base_minor, fx_rate, fx_rate_on, fx_source, note, source, paid_by
  ) values (
    occurrence.organization_id, occurrence.expense_id, occurrence.id, pay_occurrence.amount_minor, occurrence.currency, pay_occurrence.paid_on,
    base.base_currency, base.base_minor, base.fx_rate, base.fx_rate_on, base.fx_source,
    pay_occurrence.note, pay_occurrence.source, pay_occurrence.paid_by
  ) returning p.* into payment;
  return payment;
end
$$;
comment on function app.pay_occurrence is 'Records a payment for an occurrence; whether that closes it is the caller''s to say.';

create function app.paid_minor(occurrence_id text) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)
    from app.payments as p
    where p.occurrence_id = paid_minor.occurrence_id and p.deleted_at is null
  );
end
$$;
comment on function app.paid_minor is 'What was paid for an occurrence so far, less what came back.';

create function app.record_autopay(bill app.expenses, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  outer_change constant text := current_setting('app.change_id', true);
  change text;
  occurrence app.expense_occurrences;
  remaining bigint;
begin
  for occurrence in
    select * from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and app.is_paid_by_autopay(bill, o.due_on, today)
    order by o.scheduled_on
  loop
    -- A change of its own, so that it can be undone without the change that happened to roll the bill.
    insert into app.change_sets as s (organization_id, actor_id, tool, summary)
    select o.id, coalesce(auth.uid(), o.owner_id), 'autopay',
      format('%s paid automatically on %s: %s %s', bill.name, occurrence.due_on, bill.currency, app.format_amount(occurrence.expected_minor, bill.currency))
    from identity.organizations as o
    where o.id = bill.organization_id
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    remaining := occurrence.expected_minor - app.paid_minor(occurrence.id);
    if remaining > 0 then
      perform app.pay_occurrence(occurrence, remaining, occurrence.due_on, 'autopay');
    end if;
    update app.expense_occurrences as o set status = 'paid', closed_at = app.instant() where o.id = occurrence.id;
  end loop;
  perform set_config('app.change_id', coalesce(outer_change, ''), true);
end
$$;
comment on function app.record_autopay is 'Records the open occurrences that pass for paid (app.is_paid_by_autopay) as paid on their due dates, each as a change that can be undone.';

create function app.refresh_bill(bill_id text, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  change constant text := current_setting('app.change_id', true);
  bill app.expenses;
  current_index int;
  upcoming_due date;
  is_over boolean;
begin
  select * into bill from app.expenses as e
  where e.id = refresh_bill.bill_id and e.kind = 'bill' and e.status in ('active', 'ended') and e.deleted_at is null
  for update;
  if not found then
    return;
  end if;
  select i into current_index from app.open_indexes(bill, today, 1) as i;
  -- From the first watched date, not from the last roll: a row that went missing comes back.
  perform app.materialize_occurrences(bill, app.schedule_index(bill, bill.tracked_from), coalesce(current_index, app.last_index(bill)));
  perform app.record_autopay(bill, today);

  -- A one-time bill does not roll: it is due on its day until it is paid.
  select min(o.due_on) filter (where o.due_on >= today or bill.frequency = 'once'), current_index is null and count(*) = 0
  into upcoming_due, is_over
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open';
  perform set_config('app.change_id', '', true);
  update app.expenses as e set next_due = upcoming_due, status = case when is_over then 'ended' else 'active' end
  where e.id = bill.id and (e.next_due, e.status) is distinct from (upcoming_due, case when is_over then 'ended' else 'active' end);
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.refresh_bill is
  'Brings a bill up to a day: its rows, automatic payments, next_due, and whether it has ended: no scheduled date is left and nothing is open. Overdue dates keep a bill active. Locks the bill; paused and cancelled ones are left alone.';

revoke all on function
  app.rule_amount, app.usual_amount, app.is_paid_by_autopay, app.open_indexes, app.current_index, app.shortest_gap, app.open_occurrences, app.future_occurrences,
  app.expected_in_period, app.next_due_dates, app.materialize_occurrences, app.pay_occurrence, app.paid_minor, app.record_autopay, app.refresh_bill from public, anon;
grant execute on function
  app.rule_amount, app.usual_amount, app.is_paid_by_autopay, app.open_indexes, app.current_index, app.shortest_gap, app.open_occurrences, app.future_occurrences,
  app.expected_in_period, app.next_due_dates, app.materialize_occurrences, app.pay_occurrence, app.paid_minor, app.record_autopay, app.refresh_bill to authenticated, service_role;
