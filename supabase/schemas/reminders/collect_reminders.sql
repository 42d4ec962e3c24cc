create or replace function public.collect_reminders(at timestamptz, after jsonb default null, size int default 2000)
  returns jsonb
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
  select array_agg(distinct r.owner_id),
    (array_agg(jsonb_build_array(r.due_on, r.expense_id) order by r.due_on, r.expense_id))[size] into owners, latest
  from (
    select o.owner_id, d.due_on, d.expense_id
    from (
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.due_on between jobs.latest_today(at) - 2 and jobs.latest_today(at) + 7
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      -- Who is told earlier than most is looked up by themselves: one long lead must not widen the search for
      -- everybody.
      select c.expense_id, c.due_on
      from identity.profiles as l
      join identity.organizations as o on o.owner_id = l.user_id
      cross join lateral (
        select c.expense_id, c.due_on
        from app.expense_occurrences as c
        where c.organization_id = o.id and c.status = 'open'
          and c.due_on between jobs.latest_today(at) + 8 and jobs.latest_today(at)
            + l.default_lead_days
        offset 0
      ) as c
      where l.default_lead_days > 7 and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.snoozed_until between jobs.latest_today(at)
        - 5 and jobs.latest_today(at)
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select e.id, e.next_due
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
        and e.remind_days_before > 7
        and e.next_due is not null and (after is null or (e.next_due, e.id) > ((after ->> 0)::date, after ->> 1))
    ) as d
    -- Bill by bill: twice as fast (2.1) on tables that were never analyzed, as after an import.
    cross join lateral (select e as bill from app.expenses as e where e.id = d.expense_id offset 0) as e
    join identity.organizations as o on o.id = (e.bill).organization_id
    join identity.profiles as p on p.user_id = o.owner_id
    cross join lateral jobs.reminder_due(e.bill, d.due_on, o, p, at)
    order by d.due_on, d.expense_id
    limit size
  ) as r;

  -- Whoever is locked here cannot change their time zone under us. Had somebody a digest today? By the calendar they
  -- have now, so that travelling makes neither two digests of a day nor a day without one.
  with free as materialized (
    select p.user_id, (at at time zone p.timezone)::date as today
    from identity.profiles as p
    where p.user_id = any (owners) and not exists (
      select from jobs.reminder_digests as d
      where d.owner_id = p.user_id
        and (d.created_at at time zone p.timezone)::date >= (at at time zone p.timezone)::date
    )
    for no key update of p skip locked
  ), made as (
    insert into jobs.reminder_digests as d (owner_id, local_on, next_attempt_at, created_at)
    select f.user_id, greatest(f.today, latest_digest.local_on + 1), at, at
    from free as f
    cross join lateral (select max(d.local_on) as local_on from jobs.reminder_digests as d where d.owner_id = f.user_id)
      as latest_digest
    on conflict (owner_id, local_on) do nothing
    returning d.id, d.owner_id
  ), logged as (
    insert into jobs.reminder_log (organization_id, expense_id, due_on, snoozed_until, digest_id)
    select (b.bill).organization_id, (b.bill).id, b.due_on, r.snoozed_until, m.id
    from made as m
    -- Everything else of theirs that is due, organization by organization: 1.3 and more than 20 times as fast.
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
        where e.organization_id = (o.organization).id and e.kind = 'bill' and e.status = 'active'
          and e.deleted_at is null
          and e.next_due between jobs.latest_today(at) - 2 and jobs.latest_today(at)
            + 90
        union
        select c.expense_id, c.due_on from app.expense_occurrences as c
        where c.organization_id = (o.organization).id and c.status = 'open'
          and c.due_on < jobs.latest_today(at)
          and c.snoozed_until between jobs.latest_today(at)
            - 5 and jobs.latest_today(at)
      ) as d
      join app.expenses as e on e.id = d.id
      offset 0
    ) as b
    cross join lateral jobs.reminder_due(b.bill, b.due_on, o.organization, o.owner, at) as r
    on conflict (expense_id, due_on, snoozed_until) where voided_at is null do nothing
    returning 1
  )
  select (select count(*) from made), (select count(*) from logged) into digest_count, reminder_count;
  return jsonb_build_object('digests', digest_count, 'reminders', reminder_count, 'given_up', given_up, 'next', latest);
end
$$;
comment on function public.collect_reminders is
  'Makes the digests of one page of the bills that are due for a reminder: {"digests","reminders","given_up": how many '
  'earlier ones ended without an answer,"next": where the following page begins, or null}.';
