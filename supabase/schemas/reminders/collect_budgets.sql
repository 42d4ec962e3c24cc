-- Collects notices about budgets and balances. A recipient gets one notice when a budget reaches 80 or 100 percent in a
-- month or year, even if payments change later. Balances cause notices when they are expected to fall below the limit.
-- Only organizations with budgets or a limit are scanned.

create or replace function app.passed_budgets(at timestamptz) returns table (state app.budget_state, kinds text[])
language plpgsql stable set search_path = '' as $$
declare
  context constant app.context := app.read_context(at);
  -- Payments of a month's last days may be recorded in the first days of the next.
  days_after constant int := 3;
begin
  if context.organization_id is null then
    return;
  end if;
  return query
    select p.state, p.kinds
    from (
      select distinct on ((s.budget).id, s.from_on) s as state, array(
        select 'budget_' || percent from unnest(array[80, 100]) as percent
        where s.spent_minor > 0 and s.spent_minor * 100 >= s.available_minor * percent
      ) as kinds
      from (
        select distinct date_trunc('month', day)::date as day
        from unnest(array[context.today, context.today - days_after]) as day
      ) as months
      cross join lateral app.read_budgets(context, months.day) as s
      where s.from_on >= (s.budget).starts_on and s.to_on >= context.today - days_after
    ) as p
    where p.kinds <> '{}';
end
$$;
comment on function app.passed_budgets is
  'Returns the current organization''s budgets that reached 80 or 100 percent, with their notice kinds. Covers the '
  'current month and year, and periods that ended within three days.';
alter function app.passed_budgets set role = 'authenticated';

create or replace function jobs.open_digest(recipient identity.profiles, at timestamptz) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  digest_id uuid;
begin
  -- The lock prevents a concurrent change of time zone, and sending the digest meanwhile.
  perform from identity.profiles as p where p.user_id = recipient.user_id for no key update skip locked;
  if not found then
    return null;
  end if;
  select d.id into digest_id from jobs.reminder_digests as d
  where d.recipient_id = recipient.user_id and d.status = 'pending' and d.batch_id is null
    and (d.created_at at time zone recipient.timezone)::date >= today
  for no key update skip locked;
  if digest_id is null then
    insert into jobs.reminder_digests as d (recipient_id, local_on, next_attempt_at, created_at)
    select recipient.user_id, greatest(today, max(d.local_on) + 1), at, at
    from jobs.reminder_digests as d
    where d.recipient_id = recipient.user_id
    having coalesce(max((d.created_at at time zone recipient.timezone)::date) < today, true)
    on conflict (recipient_id, local_on) do nothing
    returning d.id into digest_id;
  end if;
  return digest_id;
end
$$;
comment on function jobs.open_digest is
  'Returns the person''s digest of the day, created if missing; null once it was sent or is being sent.';

create or replace function jobs.collect_budgets(at timestamptz, after text, size int) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Limit the page, because each budget sums a month or more.
  page_size constant int := least(size, 200);
  -- A forecast reads half a year of statements; a page must end long before the statement timeout.
  ends_at constant timestamptz := clock_timestamp() + interval '2 seconds';
  has_forecast boolean := false;
  is_full boolean := false;
  complete text := after;
  place record;
  passed jobs.notice_log[];
  todays_digest uuid;
  is_new boolean;
  looked_at int := 0;
  latest text;
  digest_count int := 0;
  notice_count int := 0;
begin
  for place in
    select b.organization_id, p as recipient, jobs.wants_mail(p) and identity.is_active(p.user_id, at)
      and identity.organization_has_feature(b.organization_id, 'reminders:email', at)
      -- Skip people whose mail of the day was sent.
      and not exists (
        select from jobs.reminder_digests as d
        where d.recipient_id = p.user_id and not (d.status = 'pending' and d.batch_id is null)
          and (d.created_at at time zone p.timezone)::date >= (at at time zone p.timezone)::date
      ) as is_free,
      b.has_limit and m.low_balance_checked_on is distinct from (at at time zone p.timezone)::date as is_unchecked
    from (
      select w.organization_id, bool_or(w.has_limit) as has_limit
      from (
        (
          select distinct b.organization_id, false as has_limit from app.budgets as b
          where b.deleted_at is null and b.organization_id > after
          order by b.organization_id
          limit page_size
        )
        union all
        (
          select o.id, true from identity.organizations as o
          where o.low_balance_minor is not null and o.id > after
          order by o.id
          limit page_size
        )
      ) as w
      group by w.organization_id
      order by w.organization_id
      limit page_size
    ) as b
    -- Includes organizations without recipients, which count as checked.
    left join identity.memberships as m on m.organization_id = b.organization_id and app.hears_all(m)
    left join identity.profiles as p on p.user_id = m.user_id
    order by b.organization_id, p.user_id
  loop
    if place.organization_id is distinct from latest then
      complete := coalesce(latest, after);
      has_forecast := false;
    end if;
    -- The next page repeats an organization with many members, without those whose forecasts are done.
    is_full := clock_timestamp() > ends_at and (complete = latest or has_forecast);
    exit when is_full;
    looked_at := looked_at + (place.organization_id is distinct from latest)::int;
    latest := place.organization_id;
    continue when place.is_free is not true;
    perform jobs.act_as(jsonb_build_object(
      'sub', (place.recipient).user_id, 'role', 'authenticated', 'organization_id', place.organization_id
    ));
    passed := '{}';
    begin
      passed := array(
        select jsonb_populate_record(null::jobs.notice_log, jsonb_build_object(
          'budget_id', ((p.state).budget).id, 'kind', kind, 'about_on', (p.state).from_on
        ))
        from app.passed_budgets(at) as p
        cross join unnest(p.kinds) as kind
      );
      if place.is_unchecked then
        passed := passed || jobs.new_low_balances((place.recipient).user_id, place.organization_id, at);
      end if;
    -- Includes a timeout: one organization must not stop the others.
    exception when query_canceled or others then
      raise warning 'budgets_not_checked: % %', place.organization_id, sqlstate;
    end;
    if exists (
      select from unnest(passed) as p
      where not exists (
        select from jobs.notice_log as l
        where l.budget_id = p.budget_id and l.recipient_id = (place.recipient).user_id and l.kind = p.kind
          and l.about_on = p.about_on and l.voided_at is null
      )
    ) then
      is_new := not exists (
        select from jobs.reminder_digests as d
        where d.recipient_id = (place.recipient).user_id and d.status = 'pending' and d.batch_id is null
      );
      todays_digest := jobs.open_digest(place.recipient, at);
      continue when todays_digest is null;
      with told as (
        insert into jobs.notice_log (
          recipient_id, organization_id, budget_id, account_id, kind, about_on, tell_on, digest_id
        )
        select (place.recipient).user_id, place.organization_id, p.budget_id, p.account_id, p.kind, p.about_on,
          coalesce(p.tell_on, p.about_on), todays_digest
        from unnest(passed) as p
        on conflict do nothing
        returning 1
      )
      select notice_count + count(*) into notice_count from told;
      digest_count := digest_count + is_new::int;
    end if;
    if place.is_unchecked then
      -- Another transaction that holds the membership may delete it; waiting for it could be a deadlock.
      update identity.memberships as m set low_balance_checked_on = (at at time zone (place.recipient).timezone)::date
      from (
        select o.organization_id, o.user_id from identity.memberships as o
        where o.organization_id = place.organization_id and o.user_id = (place.recipient).user_id
        for no key update skip locked
      ) as o
      where m.organization_id = o.organization_id and m.user_id = o.user_id;
      has_forecast := has_forecast or found;
    end if;
  end loop;
  perform jobs.act_as('{}');
  return jsonb_build_object(
    'digests', digest_count, 'reminders', notice_count, 'given_up', 0,
    'next', case when is_full or looked_at = page_size then jsonb_build_array(
      'infinity', case when is_full then complete else latest end
    ) end
  );
end
$$;
comment on function jobs.collect_budgets is
  'Adds the notices about budgets and balances of the next organizations to the day''s digests. These are the '
  'last pages of public.collect_reminders: next is ["infinity", organization id], or null. The first page is after '
  '"org_".';

create or replace function app.describe_budget_notices(recipient identity.profiles, member identity.memberships,
  noticed jobs.notice_log[], at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  shows_amounts constant boolean := not recipient.hide_amounts_in_email;
  -- All are counted, but a mail lists only the first.
  max_listed constant int := 20;
begin
  if not (app.hears_all(member) and exists (select from unnest(noticed) as l where l.budget_id is not null)) then
    return null;
  end if;
  return (
    with said as (
      -- Check again, because payments may have been corrected since the digest was created.
      select p.state, p.log_ids, row_number() over (
        order by (p.state).from_on, lower((p.state).category) nulls first
      ) as place
      from (
        select p.state, array(
          select l.id from unnest(noticed) as l
          where l.budget_id = ((p.state).budget).id and l.about_on = (p.state).from_on and l.kind = any (p.kinds)
        ) as log_ids
        from app.passed_budgets(at) as p
      ) as p
      where p.log_ids <> '{}'
    )
    select jsonb_build_object(
      'budgets', jsonb_agg(jsonb_build_object(
        'category', (s.state).category, 'per', ((s.state).budget).per, 'is_over', (s.state).to_on < today,
        'used_percent', case when (s.state).available_minor > 0
          then trunc((s.state).spent_minor * 100 / (s.state).available_minor) end,
        'currency', c.code,
        'spent', case when shows_amounts then app.format_minor((s.state).spent_minor, c.exponent) end,
        'available', case when shows_amounts then app.format_minor((s.state).available_minor, c.exponent) end,
        'limit', case when shows_amounts then app.format_minor(((s.state).budget).amount_minor, c.exponent) end,
        'carried', case when shows_amounts then app.format_minor((s.state).carried_minor, c.exponent) end,
        -- Name the previous month or year if the carry-over comes from it alone.
        'carried_from', case
          when ((s.state).budget).opening_minor = 0 and date_trunc(((s.state).budget).per, ((s.state).budget).starts_on)
            = (s.state).from_on - ('1 ' || ((s.state).budget).per)::interval
            then date_trunc(((s.state).budget).per, ((s.state).budget).starts_on)::date
        end,
        'is_partial', coalesce((s.state).is_partial, false)
      ) order by s.place) filter (where s.place <= max_listed),
      'unlisted', count(*) filter (where s.place > max_listed),
      'tells_of', (select jsonb_agg(id) from said as s, unnest(s.log_ids) as id)
    )
    from said as s
    join app.currencies as c on c.code = ((s.state).budget).currency
    having count(*) > 0
  );
end
$$;
comment on function app.describe_budget_notices is
  'Returns the budget notices of one organization in a digest: {budgets, unlisted, tells_of: their log rows}; '
  'is_over: the month or year has ended. Null without notices.';
alter function app.describe_budget_notices set role = 'authenticated';
