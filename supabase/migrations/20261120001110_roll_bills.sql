-- Rolling bills forward, many at once: what app.refresh_bill does for one bill, for every recurring bill whose due date has passed. Dates and
-- payments come from the same functions; rows are made from the last roll on, so that the cost follows what is due. No two pages have a due date of
-- a bill in common, and a bill waits for one date only, so that several pages may be rolled at once.

create function jobs.latest_today(at timestamptz) returns date
language sql immutable
  return (at at time zone 'UTC' + interval '14 hours')::date;
comment on function jobs.latest_today is 'The latest calendar date that an instant is anywhere.';

create function jobs.rolled_until(at timestamptz) returns date
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone 'UTC')::date;
  latest date;
begin
  select max(r.period) into latest
  from jobs.job_runs as r
  where r.job = 'reminders' and r.stage = 'roll' and r.status = 'ok' and (r.counts ->> 'complete')::boolean and r.period between today - 30 and today;
  -- A complete run leaves nothing behind that had passed everywhere; the day before its own may still be today in the west. Once a week everything
  -- is looked at, whatever was done before.
  return case when extract(isodow from today) <> 1 or latest = today then latest - 1 end;
end
$$;
comment on function jobs.rolled_until is 'Until which due date no bill can be left to roll; null when that is not known.';

create type jobs.stale_bill as (
  id text,
  place tid,
  due_on date,
  today date
);
comment on type jobs.stale_bill is 'A bill that waits for a date that has passed: where its row lies, that date, and the date for its owner.';

create function public.find_rolling_pages(at timestamptz, size int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- The date that a bill waits for is always one of an open row. Walked in the order of the index alone, so that looking costs next to nothing.
  return (
    -- Latest first: what passed yesterday must not wait for years of dates that nobody marked as paid.
    select coalesce(jsonb_agg(jsonb_build_object('from', p.first, 'until', p.until) order by p.place desc), '[]')
    from (
      select c.place, jsonb_build_array(c.due_on, c.expense_id) as first, lead(jsonb_build_array(c.due_on, c.expense_id)) over (order by c.place) as until
      from (
        select o.due_on, o.expense_id, row_number() over (order by o.due_on, o.expense_id) - 1 as place
        from app.expense_occurrences as o
        where o.status = 'open'
          and o.due_on between coalesce(jobs.rolled_until(find_rolling_pages.at), '-infinity') and jobs.latest_today(find_rolling_pages.at) - 1
      ) as c
      where c.place % size = 0
    ) as p
  );
end
$$;
comment on function public.find_rolling_pages is
  'The due dates that have passed and are open, in pages of so many, the latest first: [{"from": the first of the page,"until": the first of the page after it, or null}]. Pages have nothing in common and may be rolled at once.';

create function jobs.lock_stale_bills(at timestamptz, page jsonb, out stale jobs.stale_bill[], out passed_over int) returns record
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
        and (c.due_on, c.expense_id) < (coalesce((page #>> '{until,0}')::date, 'infinity'), coalesce(page #>> '{until,1}', ''))
      order by c.due_on, c.expense_id
      offset 0
    ) as c
    cross join lateral (
      select e.id, e.ctid as place, (lock_stale_bills.at at time zone p.timezone)::date as today
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      join identity.profiles as p on p.user_id = o.owner_id
      -- Only bills have a next date. Saying so would let the planner read an index of all bills, where it does not know yet how many there are.
      where e.id = c.expense_id and e.next_due = c.due_on and e.status = 'active' and e.deleted_at is null
        -- A one-time bill does not roll; one that is paid automatically is over.
        and (e.frequency <> 'once' or e.autopay and e.amount_mode = 'fixed')
        and c.due_on < (lock_stale_bills.at at time zone p.timezone)::date
      offset 0
    ) as e
  )
  select coalesce(array_agg((w.id, e.place, w.due_on, w.today)::jobs.stale_bill) filter (where e.place is not null), '{}'), count(*) filter (where e.place is null)
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
  'The bills of a page that still wait for their passed date, locked, and how many others somebody is writing to: those may be waiting, or were when this began.';

create function jobs.roll_bills(stale jobs.stale_bill[], at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  rolled int;
  automatic jobs.stale_bill[];
  one jobs.stale_bill;
  bill app.expenses;
begin
  perform set_config('app.change_id', '', true);
  -- The arithmetic stands where the planner writes it into the statement: on the columns of the table, each argument a column.
  with page as materialized (
    select e.ctid as place, e.id, e.organization_id, e.currency, app.rule_amount(e) as expected_minor, n.first, n.current, l.last, next.scheduled_on,
      app.due_on(next.scheduled_on, e.weekend_rule) as due_on, ahead.latest, ahead.open_on, case when e.autopay and e.amount_mode = 'fixed' then s end as automatic
    from unnest(stale) as s
    join app.expenses as e on e.ctid = s.place
    cross join lateral (
      -- A weekend moves a date by two days at most.
      select max(o.scheduled_on) as latest, count(*) filter (where o.status <> 'open') as closed,
        min(o.due_on) filter (where o.status = 'open' and o.due_on >= s.today) as open_on
      from app.expense_occurrences as o
      where o.organization_id = e.organization_id and o.expense_id = e.id and o.scheduled_on >= s.today - 2
    ) as ahead
    cross join lateral (
      select app.first_scheduled_due(s.due_on, e.weekend_rule) as passed, app.first_scheduled_due(s.today, e.weekend_rule) as today, app.last_index(e) as last
      offset 0
    ) as l
    cross join lateral (
      select greatest(app.schedule_index(e, l.passed) + 1, app.schedule_index(e, e.tracked_from)) as first,
        case when ahead.closed > 0 then (select i from app.open_indexes(e, s.today, 1) as i)
        else greatest(app.schedule_index(e, l.today), app.schedule_index(e, e.tracked_from)) end as current
      offset 0
    ) as n
    cross join lateral (select case when n.current <= coalesce(l.last, n.current) then app.scheduled_on(e, n.current) end as scheduled_on offset 0) as next
    where e.id = s.id and e.next_due = s.due_on and e.status = 'active'
  ), made as (
    insert into app.expense_occurrences (id, organization_id, expense_id, scheduled_on, due_on, expected_minor, currency, created_at, updated_at)
    select app.spell_id('occ', d.bits), d.organization_id, d.expense_id, d.scheduled_on, d.due_on, d.expected_minor, d.currency, roll_bills.at, roll_bills.at
    from (
      select p.organization_id, p.id as expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.currency, p.latest, app.new_id_bits() as bits
      from page as p
      where p.scheduled_on is not null and p.first <= p.current
      union all
      -- Those that were missed in between.
      select p.organization_id, p.id, d.scheduled_on, app.due_on(d.scheduled_on, e.weekend_rule), p.expected_minor, p.currency, p.latest, app.new_id_bits()
      from (
        select p.*, generate_series(p.first, coalesce(least(p.current - 1, p.last), p.last)) as i from page as p
        where p.first <= coalesce(least(p.current - 1, p.last), p.last)
      ) as p
      join app.expenses as e on e.ctid = p.place
      cross join lateral (select app.scheduled_on(e, p.i) as scheduled_on offset 0) as d
    ) as d
    -- Nobody else can make them meanwhile: who writes to a bill's dates locks the bill.
    where d.scheduled_on > d.latest or not exists (
      select from app.expense_occurrences as o
      where o.organization_id = d.organization_id and o.expense_id = d.expense_id and o.scheduled_on = d.scheduled_on
    )
  ), moved as (
    update app.expenses as e set next_due = least(p.open_on, p.due_on) from page as p where e.ctid = p.place
    returning 1
  )
  select (select count(*) from moved), coalesce(array_agg(p.automatic) filter (where p.automatic is not null), '{}')
  into rolled, automatic
  from page as p;
  foreach one in array automatic loop
    select * into bill from app.expenses as e where e.id = one.id;
    -- As it was before: next_due says since when nothing was paid.
    bill.next_due := one.due_on;
    perform app.record_autopay(bill, one.today);
  end loop;
  update app.expenses as e set next_due = null, status = 'ended'
  where e.id in (select a.id from unnest(automatic) as a)
    and not exists (select from app.expense_occurrences as o where o.organization_id = e.organization_id and o.expense_id = e.id and o.status = 'open');
  return rolled;
end
$$;
comment on function jobs.roll_bills is
  'Brings bills that are locked and still wait for their passed date to the date of their owners, as app.refresh_bill does one; answers how many.';

-- Long texts that are done soon: compiling them, or planning them for every page, takes longer than running them.
create function public.roll_bills(at timestamptz, page jsonb) returns jsonb
language plpgsql volatile set search_path = '' set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  stale jobs.stale_bill[];
  one jobs.stale_bill;
  passed_over int;
  advanced int := 0;
  failed jsonb := '[]';
begin
  perform set_config('app.at', at::text, true);
  begin
    select * into stale, passed_over from jobs.lock_stale_bills(at, page);
    advanced := jobs.roll_bills(stale, at);
  exception when others then
    if stale is null then
      raise;
    end if;
    -- One of them cannot be rolled, and must not keep the others from it.
    foreach one in array stale loop
      begin
        perform from app.expenses as e where e.ctid = one.place and e.id = one.id for no key update of e skip locked;
        if not found then
          passed_over := passed_over + 1;
          continue;
        end if;
        advanced := advanced + jobs.roll_bills(array[one], at);
      exception when others then
        failed := failed || jsonb_build_object('ref', one.id, 'code', sqlstate);
      end;
    end loop;
  end;
  return jsonb_build_object('advanced', advanced, 'failed', failed, 'passed_over', passed_over);
end
$$;
comment on function public.roll_bills is
  'Rolls the recurring bills of a page of public.find_rolling_pages() whose due date has passed: {"advanced","failed":[{"ref","code"}],"passed_over": how many somebody else is writing to, to be looked at again}.';

revoke all on function jobs.latest_today, jobs.rolled_until, jobs.lock_stale_bills, jobs.roll_bills from public, anon, authenticated;
grant execute on function jobs.latest_today, jobs.rolled_until, jobs.lock_stale_bills, jobs.roll_bills to service_role;
revoke all on function public.find_rolling_pages, public.roll_bills from public, anon, authenticated;
grant execute on function public.find_rolling_pages, public.roll_bills to service_role;
