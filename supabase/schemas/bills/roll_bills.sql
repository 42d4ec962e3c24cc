create or replace function jobs.roll_bills(stale jobs.stale_bill[], at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  rolled int;
  automatic jobs.stale_bill[];
  one jobs.stale_bill;
  bill app.expenses;
begin
  perform set_config('app.change_id', '', true);
  -- The planner inlines this arithmetic only on plain columns, so each argument is a column.
  with page as materialized (
    select e.ctid as place, e.id, e.organization_id, e.currency, app.rule_amount(e) as expected_minor, n.first,
      n.current, l.last, next.scheduled_on,
      app.due_on(next.scheduled_on, e.weekend_rule) as due_on, ahead.latest, ahead.open_on,
      case when e.autopay then s end as automatic
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
      select app.first_scheduled_due(s.due_on, e.weekend_rule) as passed,
        app.first_scheduled_due(s.today, e.weekend_rule) as today, app.last_index(e) as last
      offset 0
    ) as l
    cross join lateral (
      select greatest(app.schedule_index(e, l.passed) + 1, app.schedule_index(e, e.tracked_from)) as first,
        case when ahead.closed > 0 then (select i from app.open_indexes(e, s.today, 1) as i)
        else greatest(app.schedule_index(e, l.today), app.schedule_index(e, e.tracked_from)) end as current
      offset 0
    ) as n
    cross join lateral (
      select case when n.current <= coalesce(l.last, n.current) then app.scheduled_on(e, n.current) end
      as scheduled_on offset 0) as next
    where e.id = s.id and e.next_due = s.due_on and e.status = 'active'
  ), made as (
    insert into app.expense_occurrences (id, organization_id, expense_id, scheduled_on, due_on, expected_minor,
      currency, created_at, updated_at)
    select app.spell_id('occ', d.bits), d.organization_id, d.expense_id, d.scheduled_on, d.due_on, d.expected_minor,
      d.currency, roll_bills.at, roll_bills.at
    from (
      select p.organization_id, p.id as expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.currency, p.latest,
        app.new_id_bits() as bits
      from page as p
      where p.scheduled_on is not null and p.first <= p.current
      union all
      select p.organization_id, p.id, d.scheduled_on, app.due_on(d.scheduled_on, e.weekend_rule), p.expected_minor,
        p.currency, p.latest, app.new_id_bits()
      from (
        select p.*, generate_series(p.first, coalesce(least(p.current - 1, p.last), p.last)) as i from page as p
        where p.first <= coalesce(least(p.current - 1, p.last), p.last)
      ) as p
      join app.expenses as e on e.ctid = p.place
      cross join lateral (select app.scheduled_on(e, p.i) as scheduled_on offset 0) as d
    ) as d
    -- Nobody else can create them meanwhile, because writers lock the bill.
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
    -- next_due is the first unpaid date.
    bill.next_due := one.due_on;
    perform app.record_autopay(bill, one.today);
  end loop;
  update app.expenses as e set next_due = null, status = 'ended'
  where e.id in (select a.id from unnest(automatic) as a)
    and not exists (select from app.expense_occurrences as o
      where o.organization_id = e.organization_id and o.expense_id = e.id and o.status = 'open');
  return rolled;
end
$$;
comment on function jobs.roll_bills is
  'Rolls locked bills that still wait for a passed date forward to their owners'' current date, as app.refresh_bill '
  'does for one bill. Returns their number.';

-- JIT compilation or planning per page would take longer than these statements run.
create or replace function public.roll_bills(at timestamptz, page jsonb) returns jsonb
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
    -- A bill that fails to roll must not block the others.
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
  'Rolls the recurring bills of a page of public.find_rolling_pages(): '
  '{"advanced","failed":[{"ref","code"}],"passed_over": the number of bills that another writer has locked, to be '
  'retried}.';
