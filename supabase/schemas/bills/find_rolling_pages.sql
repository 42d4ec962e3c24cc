-- Rolls many bills forward at once: like app.refresh_bill, but for every recurring bill whose due date has passed.
-- Dates and payments come from the same functions; rows are created from the last roll on, so the cost depends only on
-- due dates. Pages are disjoint, and a bill waits for one date only, so several pages can be rolled concurrently.

create or replace function jobs.latest_today(at timestamptz) returns date
language sql immutable
  return (at at time zone 'UTC' + interval '14 hours')::date;
comment on function jobs.latest_today is 'Returns the latest calendar date anywhere in the world at an instant.';

create or replace function jobs.rolled_until(at timestamptz) returns date
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone 'UTC')::date;
  latest date;
begin
  select max(r.period) into latest
  from jobs.job_runs as r
  where r.job = 'reminders' and r.stage = 'roll' and r.status = 'ok' and (r.counts ->> 'complete')::boolean
    and r.period between today - 30 and today;
  -- A complete run handles every date that has passed in all time zones; the day before may still be today in the west.
  -- Once a week the roll checks everything.
  return case when extract(isodow from today) <> 1 or latest = today then latest - 1 end;
end
$$;
comment on function jobs.rolled_until is 'Returns the latest due date that is rolled for all bills; null when unknown.';

create type jobs.stale_bill as (
  id text,
  place tid,
  due_on date,
  today date
);
comment on type jobs.stale_bill is
  'A bill that waits for a passed date: the location of its row, that date, and the current date of its owner.';

create or replace function public.find_rolling_pages(at timestamptz, size int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- A bill always waits for the date of one of its open rows. Reading in index order makes this check almost free.
  return (
    -- Latest first, so that yesterday's dates do not wait behind years of unpaid ones.
    select coalesce(jsonb_agg(jsonb_build_object('from', p.first, 'until', p.until) order by p.place desc), '[]')
    from (
      select c.place, jsonb_build_array(c.due_on, c.expense_id) as first,
        lead(jsonb_build_array(c.due_on, c.expense_id)) over (order by c.place) as until
      from (
        select o.due_on, o.expense_id, row_number() over (order by o.due_on, o.expense_id) - 1 as place
        from app.expense_occurrences as o
        where o.status = 'open'
          and o.due_on between
            coalesce(jobs.rolled_until(find_rolling_pages.at), '-infinity')
            and jobs.latest_today(find_rolling_pages.at) - 1
      ) as c
      where c.place % size = 0
    ) as p
  );
end
$$;
comment on function public.find_rolling_pages is
  'Splits the passed open due dates into pages of at most this many, latest first: [{"from": the first date of the '
  'page,"until": the first date after it, or null}]. Pages are disjoint and may be rolled concurrently.';

create or replace function jobs.lock_stale_bills(at timestamptz, page jsonb, out stale jobs.stale_bill[],
  out passed_over int) returns record
language plpgsql volatile set search_path = '' as $$
begin
  with waiting as materialized (
    select e.id, e.place, c.due_on, e.today
    from (
      -- Several dates of a bill may fall due on one day, after a weekend.
      select distinct c.due_on, c.expense_id
      from app.expense_occurrences as c
      where c.status = 'open' and c.due_on < jobs.latest_today(lock_stale_bills.at)
        and (c.due_on, c.expense_id) >= ((page #>> '{from,0}')::date, page #>> '{from,1}')
        and (c.due_on, c.expense_id) < (coalesce((page #>> '{until,0}')::date, 'infinity'),
          coalesce(page #>> '{until,1}', ''))
      order by c.due_on, c.expense_id
      offset 0
    ) as c
    cross join lateral (
      select e.id, e.ctid as place, (lock_stale_bills.at at time zone p.timezone)::date as today
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      join identity.profiles as p on p.user_id = o.owner_id
      -- Only bills have a next date. A condition on the kind would make the planner read an index of all bills.
      where e.id = c.expense_id and e.next_due = c.due_on and e.status = 'active' and e.deleted_at is null
        -- One-time bills do not roll: an unpaid one stays due, and an automatic one is paid.
        and (e.frequency <> 'once' or e.autopay and e.amount_minor is not null)
        and c.due_on < (lock_stale_bills.at at time zone p.timezone)::date
      offset 0
    ) as e
  )
  select
    coalesce(array_agg((w.id, e.place, w.due_on, w.today)::jobs.stale_bill) filter (where e.place is not null), '{}'),
    count(*) filter (where e.place is null)
  into stale, passed_over
  from waiting as w
  left join lateral (
    select e.ctid as place
    from app.expenses as e
    where e.ctid = w.place and e.id = w.id and e.next_due = w.due_on and e.status = 'active' and e.deleted_at is null
    for no key update of e skip locked
  ) as e on true;
end
$$;
comment on function jobs.lock_stale_bills is
  'Locks and returns the bills of a page that still wait for their passed date. Also returns the number of bills that '
  'another writer has locked; they may be waiting, too.';
