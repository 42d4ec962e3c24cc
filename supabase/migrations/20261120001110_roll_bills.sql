-- Rolling bills forward, many at once: what app.refresh_bill does for one bill, for every recurring bill whose due date has passed. Dates and
-- payments come from the same functions; rows are made from the last roll on, so that the cost follows what is due.

create function jobs.latest_today(at timestamptz) returns date
language sql immutable
  return (at at time zone 'UTC' + interval '14 hours')::date;
comment on function jobs.latest_today is 'The latest calendar date that an instant is anywhere.';

create function jobs.rolled_until(at timestamptz) returns date
language plpgsql stable set search_path = '' as $$
begin
  -- A run leaves nothing behind that had passed anywhere: the day before its own is still today in the west, and owners move. Once a week
  -- everything is looked at, whatever was done before.
  return case when extract(isodow from at at time zone 'UTC') <> 1 then (
    select max(r.period) - 3
    from jobs.job_runs as r
    where r.job = 'reminders' and r.stage = 'roll' and r.status = 'ok' and (r.counts ->> 'complete')::boolean
      and r.period between (rolled_until.at at time zone 'UTC')::date - 30 and (rolled_until.at at time zone 'UTC')::date
  ) end;
end
$$;
comment on function jobs.rolled_until is 'Until which due date no bill can be left to roll; null when that is not known.';

create type jobs.stale_bill as (
  bill app.expenses,
  today date
);
comment on type jobs.stale_bill is 'A bill as it was before it is rolled, and the date for its owner.';

create function jobs.roll_bills(bill_ids text[], at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  stale jobs.stale_bill[];
  rolled int;
begin
  -- A bill that somebody is writing to is brought up to date by that write.
  select array_agg((l.bill, l.today)::jobs.stale_bill) into stale
  from (
    select e as bill, t.today
    from app.expenses as e
    join identity.organizations as o on o.id = e.organization_id
    join identity.profiles as p on p.user_id = o.owner_id
    cross join lateral (select (roll_bills.at at time zone p.timezone)::date as today) as t
    where e.id = any (bill_ids) and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
      and (e.frequency <> 'once' or e.autopay and e.amount_mode = 'fixed') and e.next_due < t.today
    for update of e skip locked
  ) as l;
  if stale is null then
    return 0;
  end if;

  perform set_config('app.change_id', '', true);
  insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
  select (s.bill).organization_id, (s.bill).id, d.scheduled_on, d.due_on, app.rule_amount(s.bill), (s.bill).currency
  from unnest(stale) as s
  cross join lateral app.current_index(s.bill, s.today) as current
  cross join lateral app.scheduled_dates(
    s.bill, app.due_index(s.bill, app.first_watched(s.bill, (s.bill).next_due)), coalesce(least(current.n, app.last_index(s.bill)), app.last_index(s.bill))
  ) as d
  on conflict (expense_id, scheduled_on) do nothing;

  perform app.record_autopay(s.bill, s.today)
  from unnest(stale) as s
  where (s.bill).autopay and (s.bill).amount_mode = 'fixed';

  with upcoming as (
    select (s.bill).id, min(o.due_on) filter (where o.due_on >= s.today) as due_on, count(o.due_on) = 0 as is_over
    from unnest(stale) as s
    left join app.expense_occurrences as o on o.expense_id = (s.bill).id and o.status = 'open'
    group by 1
  ), advanced as (
    update app.expenses as e set next_due = u.due_on from upcoming as u where e.id = u.id and not u.is_over
    returning e.id
  ), ended as (
    update app.expenses as e set next_due = null, status = 'ended' from upcoming as u where e.id = u.id and u.is_over
    returning e.id
  )
  select (select count(*) from advanced) + (select count(*) from ended) into rolled;
  return rolled;
end
$$;
comment on function jobs.roll_bills is
  'Brings those of the bills whose due date has passed to the date of their owners, as app.refresh_bill does one; answers how many. Locked ones are passed over.';

create function public.roll_bills(at timestamptz, after jsonb default null, size int default 2000) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  earliest constant date := coalesce(jobs.rolled_until(at), '-infinity');
  ids text[];
  latest jsonb;
  bill_id text;
  advanced int := 0;
  failed jsonb := '[]';
begin
  perform set_config('app.at', at::text, true);
  select array_agg(distinct s.id), (array_agg(jsonb_build_array(s.due_on, s.id) order by s.due_on, s.id))[size] into ids, latest
  from (
    -- The date that a bill waits for is always one of an open row. Walked in the order of the index, so that a page costs what is on it.
    select e.id, c.due_on
    from (
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open' and c.due_on between earliest and jobs.latest_today(roll_bills.at) - 1
        and (c.due_on, c.expense_id) > (coalesce((after ->> 0)::date, '-infinity'), coalesce(after ->> 1, ''))
      order by c.due_on, c.expense_id
      offset 0
    ) as c
    cross join lateral (
      select e.id
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      join identity.profiles as p on p.user_id = o.owner_id
      where e.id = c.expense_id and e.next_due = c.due_on and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
        -- A one-time bill does not roll; one that is paid automatically is over.
        and (e.frequency <> 'once' or e.autopay and e.amount_mode = 'fixed')
        and c.due_on < (roll_bills.at at time zone p.timezone)::date
      offset 0
    ) as e
    limit size
  ) as s;
  begin
    advanced := jobs.roll_bills(ids, at);
  exception when others then
    -- One of them cannot be rolled, and must not keep the others from it.
    foreach bill_id in array ids loop
      begin
        advanced := advanced + jobs.roll_bills(array[bill_id], at);
      exception when others then
        failed := failed || jsonb_build_object('ref', bill_id, 'code', sqlstate);
      end;
    end loop;
  end;
  return jsonb_build_object('advanced', advanced, 'failed', failed, 'next', latest);
end
$$;
comment on function public.roll_bills is
  'Rolls one page of the recurring bills whose due date has passed: {"advanced","failed":[{"ref","code"}],"next": where the following page begins, or null}.';

revoke all on function jobs.latest_today, jobs.rolled_until, jobs.roll_bills, public.roll_bills from public, anon, authenticated;
grant execute on function jobs.latest_today, jobs.rolled_until, jobs.roll_bills, public.roll_bills to service_role;
