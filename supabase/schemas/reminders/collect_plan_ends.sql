-- Announces the end of a plan in the digests of the week before. One mail on the day itself lists the ending features
-- and the bills due afterwards.

create or replace function jobs.stopped_services(organization identity.organizations, member identity.memberships,
  features text[]) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array_remove(array[
    case when 'reminders:email' = any (features) then 'reminders' end,
    case when 'ai:connector' = any (features) and exists (
      select from identity.calendar_feeds as f
      where f.organization_id = organization.id and f.user_id = member.user_id
    ) then 'calendar' end,
    case when 'bills:variable' = any (features) and app.hears_all(member) and exists (
      select from app.provider_links as l
      where l.organization_id = organization.id
        and (l.status in ('pending', 'active', 'needs_reauth') or l.resumes_as is not null)
    ) then 'amounts' end,
    case when 'ai:connector' = any (features) then 'assistants' end
  ], null);
end
$$;
comment on function jobs.stopped_services is
  'Returns the services that a member loses with the plan: reminders, their calendar, amounts from providers, '
  'assistants.';

create or replace function jobs.relies_on_mails(organization identity.organizations, member identity.memberships)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return app.hears_all(member) or member.mails <> 'none' and (
    exists (
      select from app.expenses as e
      where e.organization_id = organization.id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
        and e.reminder_enabled and e.assignee_id = member.user_id
    )
    or exists (
      select from identity.calendar_feeds as f
      where f.organization_id = organization.id and f.user_id = member.user_id
    )
  );
end
$$;
comment on function jobs.relies_on_mails is
  'Whether a member gets mails of an organization or has its calendar.';

create or replace function jobs.plan_ends_today(at timestamptz)
returns table (organization_id text, recipient identity.profiles, about_on date)
language plpgsql stable set search_path = '' as $$
declare
  -- Covers time zones ahead of UTC and up to two missed days.
  first constant timestamptz := at - interval '3 days';
  until constant timestamptz := at + interval '1 day';
begin
  return query
    select o.id, p, (e.ends_at at time zone 'UTC')::date
    from (
      select t.* from identity.organizations as t where t.trial_ends_at between first and until
      union
      select t.* from identity.organizations as t
      where t.past_due_since between first - interval '7 days' and until - interval '7 days'
      union
      select t.* from identity.organizations as t
      where t.second_past_due_since between first - interval '7 days' and until - interval '7 days'
      union
      select t.* from identity.organizations as t where t.plan_ended_at between first and until
    ) as u
    join identity.organizations as o on o.id = u.id
    cross join lateral billing.plan_endings(o, first, until) as e
    join identity.memberships as m on m.organization_id = o.id
    join identity.profiles as p on p.user_id = m.user_id
    where (e.ends_at at time zone p.timezone)::date <= (at at time zone p.timezone)::date
      and jobs.wants_mail(p) and identity.is_active(p.user_id, at) and jobs.relies_on_mails(o, m)
      and jobs.stopped_services(o, m, e.features) && '{reminders,calendar,amounts}';
end
$$;
comment on function jobs.plan_ends_today is
  'Returns the people to mail about a plan that ends today in their time zone or ended up to two days ago. about_on is '
  'the day in UTC, which is the same for all of them.';

create or replace function jobs.collect_plan_ends(at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ended record;
  todays_digest uuid;
  is_new boolean;
  is_told boolean;
  digest_count int := 0;
  notice_count int := 0;
begin
  for ended in
    select * from jobs.plan_ends_today(at) as e order by e.organization_id, (e.recipient).user_id
  loop
    continue when exists (
      select from jobs.notice_log as l
      where l.organization_id = ended.organization_id and l.recipient_id = (ended.recipient).user_id
        and l.kind = 'plan_end' and l.about_on = ended.about_on and l.voided_at is null
    );
    is_new := not exists (
      select from jobs.reminder_digests as d
      where d.recipient_id = (ended.recipient).user_id and d.status = 'pending' and d.batch_id is null
    );
    todays_digest := jobs.open_digest(ended.recipient, at);
    continue when todays_digest is null;
    insert into jobs.notice_log (recipient_id, organization_id, kind, about_on, tell_on, digest_id)
    values ((ended.recipient).user_id, ended.organization_id, 'plan_end', ended.about_on, ended.about_on,
      todays_digest)
    on conflict (organization_id, recipient_id, about_on) where kind = 'plan_end' and voided_at is null do nothing
    returning true into is_told;
    notice_count := notice_count + (is_told is true)::int;
    digest_count := digest_count + is_new::int;
  end loop;
  return jsonb_build_object('digests', digest_count, 'reminders', notice_count);
end
$$;
comment on function jobs.collect_plan_ends is
  'Adds the ends of plans to the digests of the day, after the bills, because an earlier digest would exclude the '
  'bills: {digests, reminders}.';

create or replace function app.due_after(member identity.memberships, first_day date, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  context constant app.context := app.read_context(at);
  last_day constant date := first_day + 30;
  -- All are counted, but a mail lists only the first.
  max_listed constant int := 20;
begin
  return (
    with dates as (
      select o.expense_id, o.due_on, o.remaining_minor as minor, o.currency from app.open_occurrences(context) as o
      union all
      select f.expense_id, f.due_on, f.expected_minor, f.currency from app.future_occurrences(context, last_day) as f
    ), firsts as (
      select distinct on (d.expense_id) d.*, e.name
      from dates as d
      join app.expenses as e on e.id = d.expense_id and e.reminder_enabled and app.concerns(e, member)
      where d.due_on between first_day and last_day
      order by d.expense_id, d.due_on
    ), placed as (
      select f.*, row_number() over (order by f.due_on, f.name, f.expense_id) as line from firsts as f
    )
    select jsonb_build_object(
      'bills', coalesce(jsonb_agg(jsonb_build_object(
        'name', p.name, 'due_on', p.due_on, 'currency', p.currency, 'amount', app.format_amount(p.minor, p.currency)
      ) order by p.line) filter (where p.line <= max_listed), '[]'),
      'unlisted', count(*) filter (where p.line > max_listed)
    )
    from placed as p
  );
end
$$;
comment on function app.due_after is
  'Returns the bills that are due within a month from a day and concern a member, each once: {bills, unlisted}.';
alter function app.due_after set role = 'authenticated';

create or replace function jobs.describe_plan_end(recipient identity.profiles, member identity.memberships,
  organization identity.organizations, noticed jobs.notice_log[], at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  notice jobs.notice_log;
  ending record;
  stops text[];
  ends_on date;
  has_ended boolean;
  due jsonb;
begin
  select * into notice from unnest(noticed) as l where l.kind = 'plan_end' limit 1;
  select e.* into ending
  from billing.plan_endings(organization, case when notice.id is null then at else at - interval '4 days' end,
    at + interval '7 days') as e
  where (notice.id is null or (e.ends_at at time zone 'UTC')::date = notice.about_on)
    and jobs.stopped_services(organization, member, e.features) && '{reminders,calendar,amounts}'
  order by e.ends_at
  limit 1;
  if not found then
    return null;
  end if;
  stops := jobs.stopped_services(organization, member, ending.features);
  ends_on := (ending.ends_at at time zone recipient.timezone)::date;
  has_ended := ending.ends_at <= at;
  due := app.due_after(member, ends_on + (not has_ended)::int, at);
  if recipient.hide_amounts_in_email then
    due := jsonb_set(due, '{bills}',
      (select coalesce(jsonb_agg(b || '{"amount": null}'), '[]') from jsonb_array_elements(due -> 'bills') as b));
  end if;
  return jsonb_build_object(
    'reason', ending.reason, 'on', ends_on, 'days', ends_on - (at at time zone recipient.timezone)::date,
    'has_ended', has_ended, 'is_day', notice.id is not null, 'stops', stops,
    'may_change', member.role = 'owner',
    'owner', (select p.email from identity.profiles as p where p.user_id = organization.owner_id),
    'due', due, 'tells_of', case when notice.id is null then '[]' else jsonb_build_array(notice.id) end
  );
end
$$;
comment on function jobs.describe_plan_end is
  'Returns a digest''s notice of the end of an organization''s plan, on the day itself or within a week before it: '
  '{reason, on, days, has_ended, is_day, stops, may_change, owner, due, tells_of}. Null if no plan ends, or a payment '
  'prevented the end.';
