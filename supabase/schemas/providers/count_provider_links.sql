create or replace function public.keep_provider_answer(link_id text, lease_token uuid, period date, answer jsonb,
  at timestamptz, is_last boolean default true) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization constant text :=
    (select l.organization_id from app.provider_links as l where l.id = link_id);
  link app.provider_links;
  context app.context;
  change text;
  kept jsonb;
begin
  perform set_config('app.at', at::text, true);
  -- One write at a time in an organization, as app.run_tool does it; nobody waits for this answer, so it may take its
  -- turn late.
  perform pg_advisory_xact_lock(app.books_key(organization));
  perform app.hold_organization(organization);
  select * into link from app.provider_links as l
  where l.id = link_id and l.lease_token = keep_provider_answer.lease_token and l.status = 'active'
  for update;
  if not found then
    return '{"outcome": "lost"}';
  end if;
  context := jobs.provider_context(organization, at);
  change := app.begin_change(context, 'provider_sync');
  kept := app.keep_answer(context, link, period, answer, false, is_last);
  perform app.finish_change(change, jsonb_build_object(
    'provider', coalesce(answer ->> 'provider_name', app.provider_name(link)), 'bill', kept
  ));
  return jsonb_build_object('outcome', 'kept', 'status', kept ->> 'status', 'code', kept ->> 'code');
end
$$;
comment on function public.keep_provider_answer is
  'Keeps what came of asking a leased link, as app.keep_answer does, as a change of its own: {outcome: "kept", status, '
  'code?}, or {outcome: "lost"} when the lease is another''s or the link has ended. The last answer ends the lease.';

create or replace function public.count_provider_links(period date, again boolean, before timestamptz, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with able as materialized (
      -- Asked once an organization, however many links it has.
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
    -- Not a join, whose planner would take the organizations for a handful.
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
  '{"links": all that were not ended, "synced": those with a kept statement of the month, "waiting": those without '
  'one, or whose one has lost its date (again: or with), or with a backlog, that were not asked since an instant; '
  'both where '
  'jobs.may_fetch.}';
