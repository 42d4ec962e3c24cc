-- The activity page: changes with their effects, reads by apps, and events of accounts and grants. The queries of
-- changes and reads run as the person. The audit trail has no policy, so the service queries it with an explicit
-- filter.

create or replace function app.describe_activity(change app.change_sets, most_effects int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', change.id, 'at', change.created_at, 'change', app.change_facts(change), 'tool', change.tool,
    'by', app.member_name(change.actor_id),
    'is_automatic', change.tool in ('autopay', 'provider_sync'),
    'client_name', app.plain_words(change.client_name, 60), 'is_emptied', change.is_emptied,
    'undone_by', change.undone_by, 'undoes', change.undoes, 'proposal_id', change.proposal_id,
    'approved_by', (select app.member_name(p.decided_by) from app.proposals as p where p.id = change.proposal_id)
  ) || case when change.is_emptied then '{}' else app.read_effects(change.id, most_effects) end;
end
$$;
comment on function app.describe_activity is
  'Returns a change for the activity page: {id, at, change, tool, by, is_automatic, client_name, is_emptied, '
  'undone_by, undoes, proposal_id, approved_by, effects?: the first few, effects_count?}.';

create or replace function app.read_activity_page(filter jsonb, before bigint, timezone text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  rows_at_once constant int := 20;
  -- The maximum number of changes that a search scans for one page.
  most_looked constant int := 2000;
  organization constant text := identity.current_organization_id();
  page record;
begin
  if organization is null then
    return null;
  end if;
  with looked as (
    select s.* from app.change_sets as s
    where s.organization_id = organization and (before is null or s.recorded_seq < before)
      and (filter ->> 'id' is null or s.id = filter ->> 'id')
      and (filter ->> 'by' is null or s.actor_id = (filter ->> 'by')::uuid)
      and (filter ->> 'app' is null or s.client_name = filter ->> 'app')
      and (filter ->> 'tool' is null or s.tool = filter ->> 'tool')
      and (filter ->> 'from' is null or s.created_at >= (filter ->> 'from')::timestamp at time zone timezone)
      and (filter ->> 'to' is null
        or s.created_at < ((filter ->> 'to')::date + 1)::timestamp at time zone timezone)
    order by s.recorded_seq desc
    limit case when filter ->> 'query' is null then rows_at_once else most_looked end
  ), found as (
    select l.* from looked as l
    where filter ->> 'query' is null or exists (
      select from jsonb_path_query(l.facts, 'strict $.**') as told (value)
      where jsonb_typeof(told.value) = 'string' and strpos(lower(told.value #>> '{}'), lower(filter ->> 'query')) > 0
    )
    order by l.recorded_seq desc
    limit rows_at_once
  )
  select
    (
      select jsonb_agg(app.describe_activity(s, case when filter ->> 'id' is null then 10 else 100 end)
      order by f.recorded_seq desc)
      from found as f join app.change_sets as s on s.id = f.id) as changes,
    case when (select count(*) from found) = rows_at_once then (select min(f.recorded_seq) from found as f)
      when (select count(*) from looked) = most_looked then (select min(l.recorded_seq) from looked as l) end as next
  into page;
  return jsonb_build_object('changes', coalesce(page.changes, '[]'), 'next', page.next::text) || case
    when before is not null then '{}'
    else jsonb_build_object(
      'reads', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'day', r.day, 'by', app.member_name(r.user_id), 'client_name', app.plain_words(r.client_name, 60), 'count',
          r.count
        ) order by r.day desc, r.count desc), '[]')
        from (
          select t.day, t.user_id, t.client_name, sum(t.count) as count from app.tool_reads as t
          where t.organization_id = organization and t.day > app.instant()::date - 30
          group by t.day, t.user_id, t.client_name
          order by t.day desc
          limit 100
        ) as r
      ),
      'people', (
        select jsonb_agg(jsonb_build_object('id', m.user_id, 'name', app.member_name(m.user_id))
          order by m.created_at, m.user_id)
        from identity.memberships as m
        where m.organization_id = organization
      ),
      'apps', (
        select coalesce(jsonb_agg(distinct c.client_name), '[]')
        from (
          select s.client_name from app.change_sets as s
          where s.organization_id = organization
          order by s.recorded_seq desc
          limit most_looked
        ) as c
        where c.client_name is not null
      )
    )
  end;
end
$$;
comment on function app.read_activity_page is
  'Returns a page of the organization''s activity: {changes, next?}, plus {reads, people, apps} on the first page. '
  'filter: {id?, by?, app?, tool?, from?, to?, query?}, with days in the time zone. Returns null without an active '
  'membership.';

create or replace function app.read_security_events(organization_id text, user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 50;
  sees_all constant boolean := identity.member_may(organization_id, user_id, 'members:manage');
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'at', e.at, 'event', e.event, 'by', p.email, 'detail', e.detail || case when e.detail ? 'client_name'
        then jsonb_build_object('client_name', app.plain_words(e.detail ->> 'client_name', 60)) else '{}' end
    ) order by e.at desc, e.id desc), '[]')
    from (
      select * from identity.audit_events as e
      where e.organization_id = read_security_events.organization_id
        and (sees_all or e.actor_id = read_security_events.user_id)
        or e.actor_id = read_security_events.user_id and e.organization_id is null
      order by e.at desc, e.id desc
      limit most
    ) as e
    -- Name current members only.
    left join identity.memberships as m
      on m.organization_id = read_security_events.organization_id and m.user_id = e.actor_id
    left join identity.profiles as p on p.user_id = m.user_id
  );
end
$$;
comment on function app.read_security_events is
  'Returns the latest events of accounts and grants: the person''s own, and all of the organization''s for people with '
  'the right members:manage.';
revoke all on function app.read_security_events from authenticated;

create or replace function public.read_activity(user_id uuid, organization_id text, filter jsonb, before text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  mine jsonb;
  chosen record;
  page jsonb;
  state jsonb;
begin
  mine := case when identity.is_active(user_id, at) then identity.list_organizations(user_id) else '[]' end;
  select o.id, o.name, reader.country, reader.timezone, m.role into chosen
  from identity.memberships as m
  join identity.organizations as o on o.id = m.organization_id
  join identity.profiles as reader on reader.user_id = m.user_id
  where m.user_id = read_activity.user_id and mine <> '[]'
    and o.id = coalesce(read_activity.organization_id, mine #>> '{0,id}');
  if not found then
    return jsonb_build_object('outcome', 'unknown', 'organizations', mine);
  end if;
  state := identity.describe_state(chosen.id, user_id, at);
  perform app.act_as(user_id, chosen.id), set_config('app.at', at::text, true);
  page := app.read_activity_page(filter, before::bigint, chosen.timezone);
  return jsonb_build_object(
    'outcome', 'found', 'organizations', mine, 'organization', jsonb_build_object('id', chosen.id, 'name', chosen.name),
    'country', chosen.country, 'timezone', chosen.timezone,
    'state', state, 'may_write', (state ->> 'writes')::boolean and (state ->> 'takes_changes')::boolean,
    'events', case when before is null then app.read_security_events(chosen.id, user_id) end
  ) || page;
end
$$;
comment on function public.read_activity is
  'Returns a page of the activity of the given organization, or of the person''s first one if null: {outcome: '
  'found | unknown, organizations, organization, country, timezone, state, may_write, changes, next, reads?, people?, '
  'apps?, events?}.';

alter function app.read_activity_page set role = 'authenticated';
alter function app.read_activity_page set jit = off;
