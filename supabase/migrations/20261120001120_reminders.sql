-- Reminders: which bills are due for one, the digests that carry them, and the log that keeps each from being sent twice.

-- Which bills' own lead reaches further than the usual ones?
create index expenses_long_lead_idx on app.expenses (id)
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and remind_days_before > 7;
-- And whose?
create index profiles_long_lead_idx on identity.profiles (user_id) where default_lead_days > 7;

create function identity.reminder_address(profile identity.profiles) returns text
language sql immutable
  return case when (profile).reminder_email_confirmed_at is not null then (profile).reminder_email else (profile).email end;
comment on function identity.reminder_address is 'Where a person''s reminders go: the address they chose once it is confirmed, until then the one they sign in with.';

create table jobs.reminder_batches (
  id uuid primary key,
  lease_token uuid,
  leased_at timestamptz not null,
  next_attempt_at timestamptz not null,
  attempts int not null default 1,
  unsure_since timestamptz
);
comment on table jobs.reminder_batches is 'Digests that are being sent together: always the same ones, in the same words, until it is known what became of them.';
comment on column jobs.reminder_batches.lease_token is 'Who is sending it; still there after next_attempt_at, the sender is gone and nobody knows how far it came.';
comment on column jobs.reminder_batches.unsure_since is 'When it was first sent without an answer.';
create index reminder_batches_next_attempt_at_idx on jobs.reminder_batches (next_attempt_at);

create table jobs.reminder_digests (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid not null references identity.profiles (user_id) on delete cascade,
  local_on date not null,
  status text not null default 'pending' constraint reminder_digests_status_known check (status in ('pending', 'sent', 'dead', 'unknown')),
  batch_id uuid references jobs.reminder_batches (id) on delete set null,
  content jsonb,
  sent_alone boolean not null default false,
  attempts int not null default 0,
  next_attempt_at timestamptz not null,
  failure_code text,
  created_at timestamptz not null,
  closed_at timestamptz,
  unique (owner_id, local_on),
  constraint reminder_digests_closed_dated check ((status = 'pending') = (closed_at is null))
);
comment on table jobs.reminder_digests is 'One mail to an owner about what falls due, over all their organizations; at most one a local day.';
comment on column jobs.reminder_digests.local_on is 'The owner''s date when it was made; one more than the last where they travelled back to a date that had its digest.';
comment on column jobs.reminder_digests.status is 'dead: refused for good; unknown: sent, and nobody answered for a day.';
comment on column jobs.reminder_digests.content is 'What the mail says and to whom, from the first attempt until it is known what became of it.';
-- Which are past their time?
create index reminder_digests_created_at_idx on jobs.reminder_digests (created_at);
create index reminder_digests_batch_id_idx on jobs.reminder_digests (batch_id);
create index reminder_digests_pending_idx on jobs.reminder_digests (next_attempt_at, id) where status = 'pending' and batch_id is null;

create table jobs.reminder_log (
  id bigint primary key generated always as identity,
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  due_on date not null,
  snoozed_until date,
  digest_id uuid not null references jobs.reminder_digests (id) on delete cascade,
  sent_at timestamptz,
  voided_at timestamptz,
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint reminder_log_sent_or_void check (sent_at is null or voided_at is null)
);
comment on table jobs.reminder_log is
  'One row for each expense, due date and day that it was snoozed to that a digest reminds of; the reminder was sent when sent_at says so. A void row stands for nothing.';
comment on column jobs.reminder_log.snoozed_until is 'The day that the reminder was put off to; null when it was not.';
create unique index reminder_log_once_idx on jobs.reminder_log (expense_id, due_on, snoozed_until) nulls not distinct where voided_at is null;
create index reminder_log_expense_id_idx on jobs.reminder_log (expense_id, organization_id);
create index reminder_log_digest_id_idx on jobs.reminder_log (digest_id);

alter table jobs.reminder_batches enable row level security;
alter table jobs.reminder_digests enable row level security;
alter table jobs.reminder_log enable row level security;
grant select, insert, update, delete on jobs.reminder_batches, jobs.reminder_digests, jobs.reminder_log to service_role;

-- Which bills

create function public.count_reminder_candidates(at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(sum(c.bills), 0)
    from (
      select e.organization_id, count(*) as bills
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled and e.next_due is not null
      group by 1
    ) as c
    where identity.organization_has_feature(c.organization_id, 'reminders:email', count_reminder_candidates.at)
  );
end
$$;
comment on function public.count_reminder_candidates is
  'How many active expenses have reminders on and a next due date, in organizations whose plan includes reminder mails.';

-- Parsed when it was created, and inlined. A window and not a day: a missed day is caught up. Who snoozes beyond the due date is reminded on the day
-- they chose, though the bill waits for its next date by then.
create function jobs.reminder_due(bill app.expenses, due_on date, organization identity.organizations, owner identity.profiles, at timestamptz)
returns table (snoozed_until date)
language sql stable rows 1
begin atomic
  select c.snoozed_until
  from (select (at at time zone (owner).timezone)::date as today offset 0) as t
  -- This and the log are looked up for each bill, whatever the planner guesses: neither is ever read as a whole.
  cross join lateral (
    select c.snoozed_until
    from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = reminder_due.due_on and c.status = 'open'
    offset 0
  ) as c
  where (bill).kind = 'bill' and (bill).status = 'active' and (bill).deleted_at is null and (bill).reminder_enabled
    and (organization).reminders_enabled and (owner).email_enabled and identity.reminder_address(owner) is distinct from (owner).refused_email
    and case
      when reminder_due.due_on >= t.today then reminder_due.due_on = (bill).next_due
        and reminder_due.due_on <= t.today + coalesce((bill).remind_days_before, (owner).default_lead_days) and (c.snoozed_until is null or c.snoozed_until <= t.today)
      else c.snoozed_until > reminder_due.due_on and c.snoozed_until between t.today - 3 and t.today
    end
    and not exists (
      select from jobs.reminder_log as l
      where l.expense_id = (bill).id and l.due_on = reminder_due.due_on and l.snoozed_until is not distinct from c.snoozed_until and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.reminder_due is
  'One row for a due date of a bill that is inside its lead window at an instant, or was snoozed to that day, and that no digest reminds of yet; else none. Says until when it was snoozed.';

-- Making digests

create function jobs.drop_outdated_digests(at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- With their rows of the log.
  delete from jobs.reminder_digests as d
  using identity.profiles as p
  where d.status = 'pending' and d.batch_id is null and p.user_id = d.owner_id
    and (d.created_at at time zone p.timezone)::date < (drop_outdated_digests.at at time zone p.timezone)::date;
end
$$;
comment on function jobs.drop_outdated_digests is 'Removes digests of earlier days that surely never left, for today''s to say what they would have said.';

create function jobs.is_unknown(batch jobs.reminder_batches, at timestamptz) returns boolean
language sql immutable
  -- The mail service remembers a key for 24 hours: after that, sending again might say everything twice.
  return coalesce(
    case when (batch).lease_token is null then (batch).unsure_since else coalesce((batch).unsure_since, (batch).leased_at) end < at - interval '23 hours', false
  );
comment on function jobs.is_unknown is 'Whether a batch was sent so long ago without an answer that it must not be sent again.';

create function jobs.give_up_batches(at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
begin
  with closed as (
    update jobs.reminder_digests as d set status = 'unknown', closed_at = give_up_batches.at, batch_id = null, content = null
    from jobs.reminder_batches as b
    where b.id = d.batch_id and b.next_attempt_at <= give_up_batches.at and d.status = 'pending' and jobs.is_unknown(b, give_up_batches.at)
    returning d.id
  )
  select array_agg(id) into digest_ids from closed;
  update jobs.reminder_log as l set voided_at = at where l.digest_id = any (digest_ids) and l.sent_at is null and l.voided_at is null;
  delete from jobs.reminder_batches as b
  where b.next_attempt_at <= give_up_batches.at and not exists (select from jobs.reminder_digests as d where d.batch_id = b.id);
  return coalesce(cardinality(digest_ids), 0);
end
$$;
comment on function jobs.give_up_batches is 'Ends digests that were sent a day ago without an answer; answers how many.';

create function public.collect_reminders(at timestamptz, after jsonb default null, size int default 2000) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  owners uuid[];
  latest jsonb;
  given_up int := 0;
  digest_count int;
  reminder_count int;
begin
  if after is null then
    perform jobs.drop_outdated_digests(at);
    given_up := jobs.give_up_batches(at);
  end if;
  select array_agg(distinct r.owner_id), (array_agg(jsonb_build_array(r.due_on, r.expense_id) order by r.due_on, r.expense_id))[size] into owners, latest
  from (
    select o.owner_id, d.due_on, d.expense_id
    from (
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.due_on between jobs.latest_today(collect_reminders.at) - 2 and jobs.latest_today(collect_reminders.at) + 7
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      -- Who is told earlier than most is looked up by themselves: one long lead must not widen the search for everybody.
      select c.expense_id, c.due_on
      from identity.profiles as l
      join identity.organizations as o on o.owner_id = l.user_id
      cross join lateral (
        select c.expense_id, c.due_on
        from app.expense_occurrences as c
        where c.organization_id = o.id and c.status = 'open'
          and c.due_on between jobs.latest_today(collect_reminders.at) + 8 and jobs.latest_today(collect_reminders.at) + l.default_lead_days
        offset 0
      ) as c
      where l.default_lead_days > 7 and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open' and c.snoozed_until between jobs.latest_today(collect_reminders.at) - 5 and jobs.latest_today(collect_reminders.at)
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select e.id, e.next_due
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled and e.remind_days_before > 7
        and e.next_due is not null and (after is null or (e.next_due, e.id) > ((after ->> 0)::date, after ->> 1))
    ) as d
    -- Bill by bill as well: on tables that nobody has counted yet all bills were held against all dates.
    cross join lateral (select e as bill from app.expenses as e where e.id = d.expense_id offset 0) as e
    join identity.organizations as o on o.id = (e.bill).organization_id
    join identity.profiles as p on p.user_id = o.owner_id
    cross join lateral jobs.reminder_due(e.bill, d.due_on, o, p, collect_reminders.at)
    order by d.due_on, d.expense_id
    limit size
  ) as r;

  -- Whoever is locked here cannot change their time zone under us. Had somebody a digest today? By the calendar they have now, so that
  -- travelling makes neither two digests of a day nor a day without one.
  with free as materialized (
    select p.user_id, (collect_reminders.at at time zone p.timezone)::date as today
    from identity.profiles as p
    where p.user_id = any (owners) and not exists (
      select from jobs.reminder_digests as d
      where d.owner_id = p.user_id and (d.created_at at time zone p.timezone)::date >= (collect_reminders.at at time zone p.timezone)::date
    )
    for no key update of p skip locked
  ), made as (
    insert into jobs.reminder_digests as d (owner_id, local_on, next_attempt_at, created_at)
    select f.user_id, greatest(f.today, latest_digest.local_on + 1), collect_reminders.at, collect_reminders.at
    from free as f
    cross join lateral (select max(d.local_on) as local_on from jobs.reminder_digests as d where d.owner_id = f.user_id) as latest_digest
    on conflict (owner_id, local_on) do nothing
    returning d.id, d.owner_id
  ), logged as (
    insert into jobs.reminder_log (organization_id, expense_id, due_on, snoozed_until, digest_id)
    select (b.bill).organization_id, (b.bill).id, b.due_on, r.snoozed_until, m.id
    from made as m
    -- Everything else of theirs that is due, looked up organization by organization.
    cross join lateral (
      select o as organization, p as owner
      from identity.organizations as o join identity.profiles as p on p.user_id = o.owner_id
      where o.owner_id = m.owner_id
      offset 0
    ) as o
    cross join lateral (
      select e as bill, d.due_on
      from (
        select e.id, e.next_due as due_on from app.expenses as e
        where e.organization_id = (o.organization).id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
          and e.next_due between jobs.latest_today(collect_reminders.at) - 2 and jobs.latest_today(collect_reminders.at) + 90
        union
        select c.expense_id, c.due_on from app.expense_occurrences as c
        where c.organization_id = (o.organization).id and c.status = 'open' and c.due_on < jobs.latest_today(collect_reminders.at)
          and c.snoozed_until between jobs.latest_today(collect_reminders.at) - 5 and jobs.latest_today(collect_reminders.at)
      ) as d
      join app.expenses as e on e.id = d.id
      offset 0
    ) as b
    cross join lateral jobs.reminder_due(b.bill, b.due_on, o.organization, o.owner, collect_reminders.at) as r
    on conflict (expense_id, due_on, snoozed_until) where voided_at is null do nothing
    returning 1
  )
  select (select count(*) from made), (select count(*) from logged) into digest_count, reminder_count;
  return jsonb_build_object('digests', digest_count, 'reminders', reminder_count, 'given_up', given_up, 'next', latest);
end
$$;
comment on function public.collect_reminders is
  'Makes the digests of one page of the bills that are due for a reminder: {"digests","reminders","given_up": how many earlier ones ended without an answer,"next": where the following page begins, or null}.';

revoke all on function
  identity.reminder_address, jobs.reminder_due, jobs.drop_outdated_digests, jobs.is_unknown, jobs.give_up_batches
  from public, anon, authenticated;
grant execute on function
  identity.reminder_address, jobs.reminder_due, jobs.drop_outdated_digests, jobs.is_unknown, jobs.give_up_batches
  to service_role;
revoke all on function
  public.count_reminder_candidates, public.collect_reminders
  from public, anon, authenticated;
grant execute on function
  public.count_reminder_candidates, public.collect_reminders
  to service_role;
