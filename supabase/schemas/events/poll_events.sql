-- Apps read the outbox in chronological order. A place in it is an instant and an id: {at, id}.

create or replace function app.events_before(at timestamptz) returns timestamptz
language sql immutable
  return at - interval '90 seconds';
comment on function app.events_before is
  'Returns the instant at the end of the readable events. No transaction runs long enough to insert an earlier event '
  'afterwards.';

create or replace function app.visible_records(event text, about text[]) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  -- People and apps that can only read get no events.
  if not identity.may('books:write') then
    return '{}';
  end if;
  return array(
    select i.id
    from unnest(about) with ordinality as i (id, place)
    cross join lateral (
      select from app.expenses as e where e.id = i.id and e.deleted_at is null
      union all
      select from app.budgets as b where b.id = i.id and b.deleted_at is null
      union all
      select from app.import_batches as m where m.id = i.id
      union all
      select from app.documents as d where d.id = i.id and d.deleted_at is null
      union all
      select from app.proposals as p where p.id = i.id and (p.state = 'pending') = (event = 'proposal.waiting')
      offset 0
    ) as r
    order by i.place
  );
end
$$;
comment on function app.visible_records is
  'Returns the records of an event that the person in the request''s claims may see.';

create or replace function app.describe_event(event app.events, claims jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most_named constant int := 100;
  ids text[];
begin
  if event.user_id <> (claims ->> 'sub')::uuid then
    return null;
  end if;
  perform jobs.act_as(claims);
  ids := app.visible_records(event.name, event.about);
  perform jobs.act_as('{}');
  return case when ids <> '{}' then jsonb_build_object(
    'id', event.id, 'name', event.name, 'at', event.created_at, 'organization_id', event.organization_id,
    'ids', to_jsonb(ids[:most_named]), 'count', cardinality(ids)
  ) end;
end
$$;
comment on function app.describe_event is
  'Returns an event for an app, {id, name, at, organization_id, ids, count}; null when its person may not see it.';
revoke all on function app.describe_event, app.events_before from authenticated;

create or replace function public.poll_events(token_hash text, resource text, name text, after jsonb, at_most int,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal constant jsonb := app.authenticate(token_hash, resource, 'read', null, at);
  oldest constant timestamptz := at - app.kept_for('events');
  place_at timestamptz := (after ->> 'at')::timestamptz;
  place_id text collate "C" := after ->> 'id';
  event app.events;
  said jsonb;
  found_events jsonb := '[]';
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  end if;
  perform set_config('app.at', at::text, true);
  if after is null then
    place_at := at;
    place_id := '';
  end if;
  for event in
    select * from app.events as e
    where e.organization_id = principal #>> '{organization,id}' and e.name = poll_events.name
      and (e.created_at, e.id) > (place_at, place_id)
      and e.created_at > oldest and e.created_at <= app.events_before(at)
    order by e.created_at, e.id
  loop
    if jsonb_array_length(found_events) = at_most then
      exit;
    end if;
    place_at := event.created_at;
    place_id := event.id;
    said := app.describe_event(event, principal -> 'claims');
    if said is not null then
      found_events := found_events || said;
    end if;
    event := null;
  end loop;
  return jsonb_build_object(
    'outcome', 'ok', 'events', found_events, 'has_more', event.id is not null,
    'place', jsonb_build_object('at', place_at, 'id', place_id),
    'truncated', coalesce((after ->> 'at')::timestamptz < oldest, false)
  );
end
$$;
comment on function public.poll_events is
  'Returns the next events of a name for an app, after a place or from now on: {outcome, events (app.describe_event), '
  'has_more, place, truncated: older ones are gone}, or a refusal from app.authenticate.';

-- Set the role last, as for app.run_tool.
alter function app.visible_records set role = 'authenticated';
