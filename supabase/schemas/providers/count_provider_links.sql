create or replace function public.count_provider_links(period date, again boolean, before timestamptz, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with able as materialized (
      -- Check once per organization, however many links it has.
      select o.organization_id
      from (select distinct l.organization_id from app.provider_links as l where l.status <> 'revoked' offset 0) as o
      where jobs.may_fetch(o.organization_id, at)
    )
    select jsonb_build_object(
      'links', count(*),
      'synced', count(s.id) filter (where l.may_fetch),
      'waiting', count(*) filter (
        where l.may_fetch and l.status = 'active' and e.status = 'active' and e.amount_mode = 'variable'
          and e.deleted_at is null
          and (again or l.last_success_period is null or l.last_success_period < count_provider_links.period
            or l.backlog <> '{}' or jobs.lost_its_occurrence(s))
          and (l.asked_at is null or l.asked_at < before)
            and (l.ask_after is null or l.ask_after <= at)
      )
    )
    -- Use a subquery, because the planner would expect only a few organizations from a join.
    from (select l.*, l.organization_id in (select a.organization_id from able as a) as may_fetch
      from app.provider_links as l) as l
    join app.expenses as e on e.id = l.expense_id
    left join app.provider_statements as s on s.link_id = l.id and s.period = count_provider_links.period
      and s.status <> 'superseded'
    where l.status <> 'revoked'
  );
end
$$;
comment on function public.count_provider_links is
  'Returns {"links": all active links, "synced": those with a stored statement of the month, "waiting": those not '
  'queried since an instant that lack the statement, have a backlog, or have a statement that lost its date (with '
  'again, also those with a statement)}. The last two count only links that satisfy jobs.may_fetch.';
