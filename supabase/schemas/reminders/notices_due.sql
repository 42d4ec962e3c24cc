create or replace function jobs.notices_due(bill app.expenses, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select n.kind, n.about_on, n.tell_on
  from (select (at at time zone (recipient).timezone)::date as today) as t
  cross join lateral app.notice_dates(bill, t.today,
    coalesce((bill).remind_days_before, (recipient).default_lead_days)) as n
  where (bill).status = 'active' and jobs.wants_mail_of(bill, member, recipient)
    and not exists (
      select from jobs.notice_log as l
      where l.expense_id = (bill).id and l.recipient_id = (recipient).user_id and l.kind = n.kind
        and l.about_on = n.about_on and l.tell_on = n.tell_on and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.notices_due is
  'Returns the notices about a bill for a person at an instant that no digest of theirs contains yet.';

create or replace function jobs.nudge_due(bill app.expenses, due_on date, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select 'overdue', nudge_due.due_on, w.since + w.step
  from (select (at at time zone (recipient).timezone)::date as today) as t
  cross join lateral (
    select greatest(c.due_on, c.snoozed_until) as since
    from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = nudge_due.due_on
      and c.status = 'open' and not (app.awaits_amount(bill) and c.expected_minor is null)
    offset 0
  ) as c
  cross join lateral (
    select c.since, case when t.today - c.since < 7 then 3 else 7 + (t.today - c.since - 7) / 14 * 14 end as step
  ) as w
  where jobs.wants_mail_of(bill, member, recipient)
    and t.today - w.since - w.step between 0 and 2 and w.step <= 735
    and app.is_paid_by_autopay(bill, nudge_due.due_on, t.today) is not true
    and not exists (
      select from jobs.notice_log as l
      where l.expense_id = (bill).id and l.recipient_id = (recipient).user_id and l.kind = 'overdue'
        and l.about_on = nudge_due.due_on and l.tell_on = w.since + w.step and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.nudge_due is
  'Returns one row if an open date or its snooze passed 3, 7, 21, 35 … days ago and no digest of the person contains '
  'it yet. A run may be up to two days late. Ends after two years. Skips daily bills, which are in every mail.';

create or replace function jobs.due_again(bill app.expenses, due_on date, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select 'due', due_again.due_on, w.tell_on
  from (select (at at time zone (recipient).timezone)::date as today) as t
  cross join lateral (
    -- The latest reminder whose day has come.
    select max(due_again.due_on - days) as tell_on from unnest((bill).remind_again) as days
    where due_again.due_on - days <= t.today
  ) as w
  cross join lateral (
    select from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = due_again.due_on
      and c.status = 'open' and (c.snoozed_until is null or c.snoozed_until <= t.today)
    offset 0
  ) as c
  where jobs.wants_mail_of(bill, member, recipient) and cardinality((bill).remind_again) > 0
    and w.tell_on is not null and due_again.due_on = (bill).next_due and due_again.due_on >= t.today
    -- Remind again only after the first reminder, unless a mail has mentioned the date since.
    and exists (select from jobs.reminders_of((bill).id, due_again.due_on, member) offset 0)
    and not exists (
      select from jobs.reminders_of((bill).id, due_again.due_on, member) as l
      join jobs.reminder_digests as d on d.id = l.digest_id
      where d.local_on >= w.tell_on
      offset 0
    )
    and not exists (
      select from jobs.notice_log as l
      where l.expense_id = (bill).id and l.recipient_id = (recipient).user_id and l.kind = 'due'
        and l.about_on = due_again.due_on and l.tell_on >= w.tell_on and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.due_again is
  'Returns one row for a due date after its first reminder, if a later reminder is due and no digest of the person '
  'contains it yet.';

create or replace function jobs.nudged_days(at timestamptz) returns date[]
language sql immutable
  return array(
    select jobs.latest_today(at) - step - late
    from unnest(array[3] || array(select generate_series(7, 735, 14))) as step,
      -- Allow two days for time zones and two for missed runs.
      generate_series(0, 4) as late
  );
comment on function jobs.nudged_days is 'Returns the due days that jobs.nudge_due can report.';

-- Find renewals and yearly bills by day of the year, so that rolling a bill moves no index entry.
create or replace function jobs.find_noticed(at timestamptz) returns table (id text)
language plpgsql stable set search_path = '' as $$
declare
  -- The margins cover time zones, 14 days ahead, a leap day, and moves by the weekend rule.
  first constant int := app.day_of_year(jobs.latest_today(at) - 5);
  last constant int := app.day_of_year(jobs.latest_today(at) + 17);
  days constant int[] := array(
    select n % 372 from generate_series(first, last + case when last < first then 372 else 0 end) as n
  );
begin
  return query
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.trial_ends_on between jobs.latest_today(at) - 47 and jobs.latest_today(at) + 7
    union
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.renews_on is not null and app.day_of_year(e.renews_on) = any (days)
    union
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.notice_days is not null and app.day_of_year(e.renews_on - e.notice_days) = any (days)
    union
    -- Contract terms and notice periods recur on no fixed day of the year, so read all bills with a contract.
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.contract is not null
    union
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.frequency = 'yearly' and e.renews_on is null and app.day_of_year(e.anchor_on) = any (days)
    union
    select c.expense_id from app.expense_occurrences as c
    where c.status = 'open' and c.expected_minor is null
      and c.due_on between jobs.latest_today(at) - 16 and jobs.latest_today(at)
      and (select e.autopay from app.expenses as e where e.id = c.expense_id);
end
$$;
comment on function jobs.find_noticed is
  'Returns all bills that may have a notice at an instant, according to the indexes.';
