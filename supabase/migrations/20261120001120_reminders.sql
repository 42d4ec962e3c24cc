-- Reminders: which bills are due for one, the digests that carry them, and the log that keeps each from being sent twice.
-- A digest is made, claimed in a batch under a lease, sent after commit, and marked by that lease. A batch that may have reached the mail service
-- keeps its members and their words, so that the service knows a repeated one by its key; one that surely did not is dissolved.

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

create function jobs.give_up_batches(at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
begin
  -- The mail service remembers a key for 24 hours: after that, sending again might say everything twice.
  with closed as (
    update jobs.reminder_digests as d set status = 'unknown', closed_at = give_up_batches.at, batch_id = null, content = null
    from jobs.reminder_batches as b
    where b.id = d.batch_id and b.next_attempt_at <= give_up_batches.at and d.status = 'pending'
      and case when b.lease_token is null then b.unsure_since else coalesce(b.unsure_since, b.leased_at) end < give_up_batches.at - interval '23 hours'
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

-- What a digest says

create function jobs.describe_statement(occurrence_id text, owner identity.profiles, out fetched jsonb, out not_taken jsonb) returns record
language plpgsql stable set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  statement app.provider_statements;
  link app.provider_links;
  told jsonb;
begin
  select * into occurrence from app.expense_occurrences as o where o.id = describe_statement.occurrence_id;
  -- The one that its amount came from, or the one that counts and was not taken over.
  select * into statement
  from app.provider_statements as s
  where s.occurrence_id = occurrence.id and s.organization_id = occurrence.organization_id and (
    s.status = 'needs_review' and not (occurrence.amount_source = 'override' and occurrence.updated_at >= s.fetched_at)
    or occurrence.amount_source = 'provider' and s.status in ('applied', 'superseded') and s.amount_minor = occurrence.expected_minor
  )
  order by s.status = 'needs_review' desc, s.fetched_at desc
  limit 1;
  if not found then
    return;
  end if;
  select * into link from app.provider_links as l where l.id = statement.link_id;
  told := jsonb_build_object(
    'on', (statement.fetched_at at time zone owner.timezone)::date, 'provider', app.provider_name(link), 'currency', statement.currency,
    'amount', case when not owner.hide_amounts_in_email then app.format_amount(statement.amount_minor, statement.currency) end,
    'usual', case when not owner.hide_amounts_in_email and statement.currency = occurrence.currency
      then app.format_amount(statement.usual_minor, statement.currency) end
  );
  if statement.status = 'needs_review' then
    not_taken := told;
  else
    fetched := told;
  end if;
end
$$;
comment on function jobs.describe_statement is
  'What a provider said of a due date, {on, provider, amount, currency, usual}: fetched when it is the amount, not_taken when somebody has to look at it.';

create function jobs.describe_reconnects(owner identity.profiles, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The others are said once these are connected.
  max_listed constant int := 20;
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(r) order by r.organization, r.name, r.bill_id), '[]')
    from (
      select b.id as bill_id, b.name, o.id as organization_id, o.name as organization, l.provider_key, app.provider_name(l) as provider
      from identity.organizations as o
      join app.provider_links as l on l.organization_id = o.id and l.status = 'needs_reauth'
      join app.expenses as b on b.id = l.expense_id and b.status = 'active' and b.deleted_at is null
      where o.owner_id = owner.user_id and o.reminders_enabled
        and identity.organization_has_feature(o.id, 'reminders:email', describe_reconnects.at)
        and identity.organization_has_feature(o.id, 'bills:variable', describe_reconnects.at)
      order by o.name, b.name, b.id
      limit max_listed
    ) as r
  );
end
$$;
comment on function jobs.describe_reconnects is 'The bills of an owner whose provider no longer accepts the credential.';

create function jobs.describe_bills(owner identity.profiles, organization identity.organizations, digest_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone owner.timezone)::date;
  base_exponent constant int := (select c.exponent from app.currencies as c where c.code = organization.base_currency);
  base_per_euro constant numeric := (app.find_rate(organization.base_currency, today)).per_euro;
  -- Of what is overdue, and as many of what falls due: a mail is no list of everything.
  max_listed constant int := 100;
begin
  return (
    with open_dates as (
      -- Still due: it may have been paid, snoozed or changed since the digest was made.
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source, l.id as log_id
      from jobs.reminder_log as l
      join app.expenses as e on e.id = l.expense_id and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      join app.expense_occurrences as c on c.organization_id = organization.id and c.expense_id = e.id and c.due_on = l.due_on and c.status = 'open'
      where l.digest_id = describe_bills.digest_id and l.organization_id = organization.id and l.voided_at is null and l.due_on >= today
        and (c.snoozed_until is null or c.snoozed_until <= today)
      union all
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source, case when c.snoozed_until is not null then (
        select l.id from jobs.reminder_log as l
        where l.digest_id = describe_bills.digest_id and l.expense_id = e.id and l.due_on = c.due_on and l.snoozed_until = c.snoozed_until and l.voided_at is null
      ) end
      from app.expense_occurrences as c
      join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      where c.organization_id = organization.id and c.status = 'open' and c.due_on < today
        and (c.snoozed_until is null or c.snoozed_until <= today) and app.is_paid_by_autopay(e, c.due_on, today) is not true
    ), lines as (
      -- One for what falls due of a bill, one for what is overdue of it.
      select d.expense_id as id, d.due_on < today as is_overdue, min(d.due_on) as due_on, min(d.scheduled_on) as scheduled_on, count(*) as dates,
        case when not owner.hide_amounts_in_email and count(*) = count(d.expected_minor) then sum(d.expected_minor - d.paid_minor) end as minor,
        bool_and(d.amount_source = 'rule') as is_by_rule, case when count(*) = 1 then min(d.id) end as occurrence_id
      from open_dates as d
      group by d.expense_id, d.due_on < today
    ), placed as (
      select l.*, e.name, e.currency, e.autopay, e.amount_mode, e.frequency = 'daily' and e.every = 1 as is_daily,
        row_number() over (partition by l.is_overdue order by l.due_on, e.name, l.id) as place
      from lines as l
      join app.expenses as e on e.id = l.id
    ), rates as (
      select c.code, c.exponent, r.per_euro, r.rate_on
      from app.currencies as c
      left join lateral app.rates_as_of(c.code, today) as r on c.code <> organization.base_currency
      where c.code in (select p.currency from placed as p)
    ), valued as (
      select p.*, r.exponent, r.rate_on,
        case when p.currency = organization.base_currency then p.minor
          else app.convert_minor(p.minor, r.per_euro, r.exponent, base_per_euro, base_exponent) end as base_minor
      from placed as p
      join rates as r on r.code = p.currency
    ), listed as (
      select v.*, earlier.minor as earlier_minor, said.*
      from (select v.* from valued as v where v.place <= max_listed offset 0) as v
      left join lateral (
        select o.expected_minor as minor
        from app.expense_occurrences as o
        where o.organization_id = organization.id and o.expense_id = v.id and o.scheduled_on < v.scheduled_on and o.status = 'paid' and o.currency = v.currency
          and o.expected_minor is not null and not owner.hide_amounts_in_email
        order by o.scheduled_on desc
        limit 1
      ) as earlier on true
      -- Of a single date only: which of several would a statement be about?
      left join lateral jobs.describe_statement(v.occurrence_id, owner) as said on v.amount_mode = 'variable' and v.dates = 1
    )
    select jsonb_build_object(
      'id', organization.id, 'name', organization.name, 'base_currency', organization.base_currency,
      'bills', (
        select jsonb_agg(jsonb_build_object(
          'bill_id', v.id, 'name', v.name, 'due_on', v.due_on, 'days', v.due_on - today, 'dates', v.dates, 'autopay', v.autopay, 'is_daily', v.is_daily,
          'currency', v.currency, 'amount', app.format_minor(v.minor, v.exponent), 'is_estimate', v.amount_mode = 'estimated' and v.is_by_rule,
          'fetched', v.fetched, 'not_taken', v.not_taken,
          'earlier_amount', app.format_minor(v.earlier_minor, v.exponent),
          'base_amount', case when v.currency <> organization.base_currency then app.format_minor(v.base_minor, base_exponent) end
        ) order by v.due_on, v.name, v.id)
        from listed as v
      ),
      'unlisted', jsonb_build_object(
        'overdue', count(*) filter (where v.is_overdue and v.place > max_listed),
        'due', count(*) filter (where not v.is_overdue and v.place > max_listed),
        'due_until', max(v.due_on) filter (where not v.is_overdue and v.place > max_listed)
      ),
      'total', case when count(*) = count(v.base_minor) then app.format_minor(sum(v.base_minor), base_exponent) end,
      'rates_on', min(v.rate_on),
      'reminds_of', (select coalesce(jsonb_agg(d.log_id), '[]') from open_dates as d where d.log_id is not null)
    )
    from valued as v
    having count(*) > 0
  );
end
$$;
comment on function jobs.describe_bills is
  'The bills of one organization that a digest tells of: what it reminds of and what is overdue; the first by name, all in the counts and the total. reminds_of: their rows of the log. Null when there are none.';

create function jobs.describe_digest(digest jobs.reminder_digests, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  owner identity.profiles;
  sections jsonb;
  reminds_of jsonb;
begin
  select p.* into owner from identity.profiles as p where p.user_id = digest.owner_id;
  if not owner.email_enabled or identity.reminder_address(owner) = owner.refused_email then
    return null;
  end if;
  select jsonb_agg(s.section - 'reminds_of' order by o.name, o.id), jsonb_path_query_array(jsonb_agg(s.section -> 'reminds_of'), '$[*][*]')
  into sections, reminds_of
  from identity.organizations as o
  cross join lateral jobs.describe_bills(owner, o, digest.id, describe_digest.at) as s (section)
  where o.owner_id = digest.owner_id and o.reminders_enabled and s.section is not null
    and identity.organization_has_feature(o.id, 'reminders:email', describe_digest.at);
  -- What else is overdue, or has to be connected again, is said on the way; alone it sends nothing.
  if coalesce(reminds_of, '[]') = '[]' then
    return null;
  end if;
  return jsonb_build_object(
    'address', identity.reminder_address(owner), 'today', (at at time zone owner.timezone)::date,
    'hides_amounts', owner.hide_amounts_in_email, 'organizations', sections, 'reconnect', jobs.describe_reconnects(owner, at),
    'reminds_of', reminds_of
  );
end
$$;
comment on function jobs.describe_digest is 'What a digest says at an instant: to whom, and the bills by organization; reminds_of: the rows of the log that it stands for. Null when it has nothing to say, or nobody to say it to.';

-- Sending

create function jobs.open_batch(size int, at timestamptz, out batch_id uuid, out set_aside uuid) returns record
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
  digest_id uuid;
  contents jsonb[];
  reminded bigint[];
begin
  batch_id := gen_random_uuid();
  loop
    select array_agg(d.id order by d.next_attempt_at, d.id) into digest_ids
    from (
      select d.id, d.next_attempt_at from jobs.reminder_digests as d
      where d.status = 'pending' and d.batch_id is null and d.next_attempt_at <= open_batch.at and not d.sent_alone
      order by d.next_attempt_at, d.id
      limit size
      for update skip locked
    ) as d;
    if digest_ids is null then
      select array_agg(d.id) into digest_ids
      from (
        select d.id from jobs.reminder_digests as d
        where d.status = 'pending' and d.batch_id is null and d.next_attempt_at <= open_batch.at
        order by d.next_attempt_at, d.id
        limit 1
        for update skip locked
      ) as d;
    end if;
    exit when digest_ids is null;

    contents := '{}';
    foreach digest_id in array digest_ids loop
      begin
        select array_append(contents, jobs.describe_digest(d, open_batch.at)) into contents from jobs.reminder_digests as d where d.id = digest_id;
      -- Also when the time of the call is over: what is described by then goes out.
      exception when query_canceled or others then
        exit;
      end;
    end loop;
    if contents = '{}' then
      -- It had all the time there is. The others must not wait behind it.
      set_aside := digest_ids[1];
      update jobs.reminder_digests as d
      set next_attempt_at = open_batch.at + interval '1 hour', attempts = d.attempts + 1, failure_code = 'not_described'
      where d.id = set_aside;
      exit;
    end if;
    digest_ids := digest_ids[:cardinality(contents)];
    reminded := array(select jsonb_array_elements_text(c -> 'reminds_of')::bigint from unnest(contents) as c);

    insert into jobs.reminder_batches (id, leased_at, next_attempt_at) values (batch_id, at, at);
    update jobs.reminder_digests as d set batch_id = open_batch.batch_id, content = said.content - 'reminds_of', attempts = d.attempts + 1
    from unnest(digest_ids, contents) as said (id, content)
    where d.id = said.id and said.content is not null;
    -- Nothing is left to say, or the owner wants no mail any more. What their log would have said may be said another day.
    delete from jobs.reminder_digests as d where d.id = any (digest_ids) and d.batch_id is null;
    delete from jobs.reminder_log as l
    where l.digest_id = any (digest_ids) and not exists (select from unnest(reminded) as r (id) where r.id = l.id);
    if exists (select from jobs.reminder_digests as d where d.batch_id = open_batch.batch_id) then
      return;
    end if;
    delete from jobs.reminder_batches as b where b.id = batch_id;
  end loop;
  batch_id := null;
end
$$;
comment on function jobs.open_batch is
  'Puts pending digests together into a batch and writes down what they say; null when there are none. set_aside: one that could not be described, left for an hour.';

create function public.claim_reminders(size int, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  token constant uuid := gen_random_uuid();
  opened constant record := jobs.open_batch(size, at);
  chosen uuid := opened.batch_id;
begin
  if opened.set_aside is not null then
    return jsonb_build_object('set_aside', opened.set_aside);
  end if;
  -- New ones first: a batch that ends whoever sends it must not keep the others waiting.
  if chosen is null then
    select b.id into chosen
    from jobs.reminder_batches as b
    where b.next_attempt_at <= claim_reminders.at
    order by b.next_attempt_at
    limit 1
    for update skip locked;
    update jobs.reminder_batches as b
    set attempts = b.attempts + 1, unsure_since = case when b.lease_token is null then b.unsure_since else coalesce(b.unsure_since, b.leased_at) end
    where b.id = chosen;
  end if;
  -- Longer than a run may take.
  update jobs.reminder_batches as b
  set lease_token = token, leased_at = claim_reminders.at, next_attempt_at = claim_reminders.at + interval '90 seconds'
  where b.id = chosen;
  return (
    select jsonb_build_object(
      'id', b.id, 'lease_token', b.lease_token, 'attempts', b.attempts,
      'digests', (
        select jsonb_agg(jsonb_build_object('id', d.id, 'owner_id', d.owner_id, 'content', d.content) order by d.id)
        from jobs.reminder_digests as d
        where d.batch_id = b.id and d.status = 'pending'
      )
    )
    from jobs.reminder_batches as b
    where b.id = chosen
  );
end
$$;
comment on function public.claim_reminders is
  'Leases a batch of at most so many digests for 90 seconds: {"id","lease_token","attempts","digests":[{"id","owner_id","content"}]}, or null when there is nothing to send. {"set_aside": id} says that one could not be described and waits for an hour: ask again.';

create function public.settle_reminders(
  batch_id uuid, lease_token uuid, results jsonb, is_last boolean, retry_at timestamptz, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch jobs.reminder_batches;
  digest_count int;
  reminder_count int;
begin
  select * into batch from jobs.reminder_batches as b
  where b.id = settle_reminders.batch_id and b.lease_token = settle_reminders.lease_token
  for update;
  if not found then
    return '{"outcome":"lost"}';
  end if;

  with said as (
    select r ->> 'id' as id, r ->> 'outcome' as outcome, r ->> 'code' as code, coalesce((r ->> 'refused')::boolean, false) as refused,
      coalesce((r ->> 'alone')::boolean, false) as alone
    from jsonb_array_elements(results) as r
  ), refused as (
    update identity.profiles as p set refused_email = d.content ->> 'address', refused_at = settle_reminders.at
    from said as s
    join jobs.reminder_digests as d on d.id = s.id::uuid
    where s.refused and d.batch_id = batch.id and p.user_id = d.owner_id and identity.reminder_address(p) = d.content ->> 'address'
    returning identity.record_event('reminders.address_refused', p.user_id, null, '{}', settle_reminders.at)
  ), closed as (
    update jobs.reminder_digests as d
    set status = s.outcome, closed_at = settle_reminders.at, failure_code = s.code, batch_id = null, content = null
    from said as s
    where d.id = s.id::uuid and d.batch_id = batch.id and d.status = 'pending' and s.outcome in ('sent', 'dead')
    returning d.id, d.status
  ), held as (
    -- Surely not taken now, nor before: it may be said anew, in other company.
    update jobs.reminder_digests as d
    set batch_id = null, content = null, next_attempt_at = retry_at, failure_code = s.code, sent_alone = d.sent_alone or s.alone
    from said as s
    where d.id = s.id::uuid and d.batch_id = batch.id and d.status = 'pending' and s.outcome = 'held' and batch.unsure_since is null
    returning d.id
  ), logged as (
    update jobs.reminder_log as l
    set sent_at = case c.status when 'sent' then settle_reminders.at end, voided_at = case c.status when 'dead' then settle_reminders.at end
    from closed as c
    where l.digest_id = c.id and l.voided_at is null
    returning c.status
  )
  select (select count(*) from closed where status = 'sent'), (select count(*) from logged where status = 'sent')
  into digest_count, reminder_count
  from (select count(*) from held) as h, (select count(*) from refused) as r;

  if not exists (select from jobs.reminder_digests as d where d.batch_id = batch.id) then
    delete from jobs.reminder_batches as b where b.id = batch.id;
  elsif is_last then
    update jobs.reminder_batches as b
    set lease_token = null, next_attempt_at = retry_at, unsure_since = case
        when exists (select from jsonb_array_elements(results) as r where r ->> 'outcome' = 'unsure') then coalesce(b.unsure_since, b.leased_at)
        else b.unsure_since
      end
    where b.id = batch.id;
  end if;
  return jsonb_build_object('outcome', 'settled', 'digests', digest_count, 'reminders', reminder_count);
end
$$;
comment on function public.settle_reminders is
  'Says what became of digests of a leased batch, each {"id","outcome": sent, dead, held (surely not taken) or unsure,"code","refused","alone"}: {"outcome":"settled","digests","reminders"} as sent, or {"outcome":"lost"} when the lease is another''s. With is_last the lease ends, and what is left waits until retry_at.';

create function public.count_waiting_reminders(at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*)
    from jobs.reminder_digests as d
    left join jobs.reminder_batches as b on b.id = d.batch_id
    where d.status = 'pending' and (b.lease_token is null or b.next_attempt_at <= count_waiting_reminders.at)
  );
end
$$;
comment on function public.count_waiting_reminders is 'How many digests wait for a later run; those that another run is sending do not.';

revoke all on function
  identity.reminder_address, jobs.reminder_due, jobs.drop_outdated_digests, jobs.describe_statement, jobs.describe_reconnects, jobs.describe_bills, jobs.describe_digest, jobs.open_batch, jobs.give_up_batches
  from public, anon, authenticated;
grant execute on function
  identity.reminder_address, jobs.reminder_due, jobs.drop_outdated_digests, jobs.describe_statement, jobs.describe_reconnects, jobs.describe_bills, jobs.describe_digest, jobs.open_batch, jobs.give_up_batches
  to service_role;
revoke all on function
  public.count_reminder_candidates, public.collect_reminders, public.claim_reminders, public.settle_reminders, public.count_waiting_reminders
  from public, anon, authenticated;
grant execute on function
  public.count_reminder_candidates, public.collect_reminders, public.claim_reminders, public.settle_reminders, public.count_waiting_reminders
  to service_role;
