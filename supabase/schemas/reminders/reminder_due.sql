create or replace function app.hears_all(member identity.memberships) returns boolean
language sql immutable
  return case (member).mails when 'all' then true when 'none' then false else (member).role = 'owner' end;
comment on function app.hears_all is
  'Whether a member gets mail about all bills and budgets of the organization: the owner, and members who chose it.';

create or replace function app.concerns(bill app.expenses, member identity.memberships) returns boolean
language sql immutable
  return app.hears_all(member)
    or (member).mails <> 'none' and coalesce((bill).assignee_id = (member).user_id, false);
comment on function app.concerns is
  'Whether a member gets mail about a bill, because it is assigned to them or they get mail about all bills. Every '
  'check uses this function.';

create or replace function jobs.wants_mail(recipient identity.profiles) returns boolean
language sql immutable
  return (recipient).email_enabled and identity.reminder_address(recipient) is distinct from (recipient).refused_email;
comment on function jobs.wants_mail is 'Whether a person gets mails, judging by their row.';

create or replace function jobs.wants_mail_of(bill app.expenses, member identity.memberships,
  recipient identity.profiles)
returns boolean
language sql immutable
  return (bill).kind = 'bill' and (bill).deleted_at is null and (bill).reminder_enabled
    and app.concerns(bill, member) and jobs.wants_mail(recipient);
comment on function jobs.wants_mail_of is
  'Whether a bill has reminders and a person gets mail about it, judging by their rows.';

create or replace function jobs.reminders_of(bill_id text, due_on date, member identity.memberships)
returns table (snoozed_until date, digest_id uuid)
language sql stable rows 1
begin atomic
  select l.snoozed_until, l.digest_id
  from jobs.reminder_log as l
  where (member).role = 'owner' and l.expense_id = bill_id and l.due_on = reminders_of.due_on and l.voided_at is null
  union all
  select case l.kind when 'snoozed' then l.tell_on end, l.digest_id
  from jobs.notice_log as l
  where (member).role <> 'owner' and l.expense_id = bill_id and l.recipient_id = (member).user_id
    and l.kind in ('reminder', 'snoozed') and l.about_on = reminders_of.due_on and l.voided_at is null;
end;
comment on function jobs.reminders_of is
  'Returns the digests that remind a member of a due date: from the reminder log for the owner, from the notice log '
  'for others.';

-- The body is parsed at creation and inlined. The window has several days, so that a later run makes up for a missed
-- one. A bill snoozed beyond its due date has its reminder on the chosen day, even if its next date has begun.
create or replace function jobs.reminder_due(bill app.expenses, due_on date, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (snoozed_until date)
language sql stable rows 1
begin atomic
  select c.snoozed_until
  from (select (at at time zone (recipient).timezone)::date as today) as t
  -- Look up bill by bill: 1.5 to more than 20 times as fast on tables that were never analyzed.
  cross join lateral (
    select c.snoozed_until
    from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = reminder_due.due_on
      and c.status = 'open'
    offset 0
  ) as c
  where jobs.wants_mail_of(bill, member, recipient)
    and case
      when reminder_due.due_on >= t.today then reminder_due.due_on = (bill).next_due
        and reminder_due.due_on <= t.today + coalesce((bill).remind_days_before, (recipient).default_lead_days)
          and (c.snoozed_until is null or c.snoozed_until <= t.today)
      else c.snoozed_until > reminder_due.due_on and c.snoozed_until between t.today - 3 and t.today
    end
    and not exists (
      select from jobs.reminders_of((bill).id, reminder_due.due_on, member) as l
      where l.snoozed_until is not distinct from c.snoozed_until
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.reminder_due is
  'Returns one row, with the end of its snooze, for a due date inside its lead window at an instant or snoozed to that '
  'day. Returns none once a digest of the person contains it.';

create or replace function jobs.drop_outdated_digests(at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- Deletes their rows of the log, too.
  delete from jobs.reminder_digests as d
  using identity.profiles as p
  where d.status = 'pending' and d.batch_id is null and p.user_id = d.recipient_id
    and (d.created_at at time zone p.timezone)::date < (at at time zone p.timezone)::date;
end
$$;
comment on function jobs.drop_outdated_digests is
  'Deletes unsent digests of earlier days; today''s digests cover their content.';

create or replace function jobs.is_unknown(batch jobs.reminder_batches, at timestamptz) returns boolean
language sql immutable
  -- The mail service remembers a key for 24 hours. After that, a retry might send a mail twice.
  return coalesce(
    case when (batch).lease_token is null then (batch).unsure_since
      else coalesce((batch).unsure_since, (batch).leased_at) end < at - interval '23 hours', false
  );
comment on function jobs.is_unknown is
  'Whether a batch was sent so long ago without an answer that it must not be sent again.';

create or replace function jobs.void_log(digest_ids uuid[], at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update jobs.reminder_log as l set voided_at = at
    where l.digest_id = any (digest_ids) and l.sent_at is null and l.voided_at is null;
  update jobs.notice_log as l set voided_at = at
    where l.digest_id = any (digest_ids) and l.sent_at is null and l.voided_at is null;
end
$$;
comment on function jobs.void_log is
  'Voids the log rows of digests, so that another digest may repeat their content: it is unknown whether the earlier '
  'ones arrived.';

create or replace function jobs.give_up_batches(at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
begin
  with closed as (
    update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null,
      content = null
    from jobs.reminder_batches as b
    where b.id = d.batch_id and b.next_attempt_at <= at and d.status = 'pending'
      and jobs.is_unknown(b, at)
    returning d.id
  )
  select array_agg(id) into digest_ids from closed;
  perform jobs.void_log(digest_ids, at);
  delete from jobs.reminder_batches as b
  where b.next_attempt_at <= at
    and not exists (select from jobs.reminder_digests as d where d.batch_id = b.id);
  return coalesce(cardinality(digest_ids), 0);
end
$$;
comment on function jobs.give_up_batches is
  'Ends digests that were sent a day ago without an answer. Returns their number.';
