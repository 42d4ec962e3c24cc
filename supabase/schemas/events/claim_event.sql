create or replace function app.find_waiting_subscriptions(at timestamptz) returns setof text
language plpgsql stable set search_path = '' as $$
declare
  oldest constant timestamptz := at - app.kept_for('events');
begin
  return query
    select s.id
    from app.event_subscriptions as s
    join oauth.grants as g on g.id = s.grant_id
    cross join lateral (
      select from app.events as e
      where e.organization_id = g.organization_id and e.name = s.name
        and (e.created_at, e.id) > (s.place_at, s.place_id)
        and e.created_at > oldest and e.created_at <= app.events_before(at)
      limit 1
    ) as e
    where s.leased_until <= at and s.expires_at > at;
end
$$;
comment on function app.find_waiting_subscriptions is
  'Returns subscriptions with an event that no sender holds and that is not waiting for a retry.';

create or replace function app.has_waiting_events(at timestamptz) returns boolean
language sql stable
  return exists (select from app.find_waiting_subscriptions(at));
comment on function app.has_waiting_events is 'Whether any event is ready to send.';

create or replace function app.claims_of(of_grant oauth.grants, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('sub', of_grant.user_id, 'role', 'authenticated', 'organization_id', o.id, 'grant_id',
      of_grant.id, 'client_name', c.client_name)
    from identity.organizations as o
    join identity.memberships as m on m.organization_id = o.id and m.user_id = of_grant.user_id
    join oauth.clients as c on c.client_id = of_grant.client_id
    where o.id = of_grant.organization_id and o.deletes_at is null and of_grant.revoked_at is null
      and of_grant.expires_at > at and identity.is_active(of_grant.user_id, at)
      and identity.organization_has_feature(o.id, 'ai:connector', at)
      and exists (
        select from oauth.tokens as t
        where t.grant_id = of_grant.id and t.rotated_at is null and t.revoked_at is null and t.expires_at > at
      )
  );
end
$$;
comment on function app.claims_of is
  'Returns the claims that app.authenticate would return for a grant''s token; null if it would refuse.';

create or replace function public.claim_event(at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  lease constant interval := '1 minute';
  oldest constant timestamptz := at - app.kept_for('events');
  subscription app.event_subscriptions;
  of_grant oauth.grants;
  claims jsonb;
  event app.events;
  said jsonb;
begin
  perform set_config('app.at', at::text, true);
  loop
    select s.* into subscription
    from app.event_subscriptions as s
    where s.id in (select app.find_waiting_subscriptions(at)) and s.leased_until <= at
    -- Longest waiting first.
    order by s.leased_until, s.id
    limit 1
    for update skip locked;
    if not found then
      return null;
    end if;
    select * into of_grant from oauth.grants as g where g.id = subscription.grant_id;
    claims := app.claims_of(of_grant, at);
    for event in
      select * from app.events as e
      where e.organization_id = of_grant.organization_id and e.name = subscription.name
        and (e.created_at, e.id) > (subscription.place_at, subscription.place_id)
        and e.created_at > oldest and e.created_at <= app.events_before(at)
      order by e.created_at, e.id
    loop
      said := case when claims is not null then app.describe_event(event, claims) end;
      exit when said is not null;
      subscription.place_at := event.created_at;
      subscription.place_id := event.id;
      subscription.attempts := 0;
    end loop;
    update app.event_subscriptions as s
    set place_at = subscription.place_at, place_id = subscription.place_id,
      attempts = subscription.attempts + (said is not null)::int,
      leased_until = case when said is not null then at + lease else s.leased_until end
    where s.id = subscription.id;
    if said is not null then
      return jsonb_build_object(
        'subscription_id', subscription.id, 'url', subscription.url, 'secret', subscription.secret, 'event', said
      );
    end if;
  end loop;
end
$$;
comment on function public.claim_event is
  'Claims the next event to send, leased for a minute: {subscription_id, url, secret, event: app.describe_event}; '
  'null when none waits. An event that its person may not see now is skipped permanently.';

create or replace function public.settle_event(subscription_id text, place jsonb, is_done boolean, at timestamptz)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.event_subscriptions as s
  set place_at = case when is_done then (place ->> 'at')::timestamptz else s.place_at end,
    place_id = case when is_done then place ->> 'id' else s.place_id end,
    attempts = case when is_done then 0 else s.attempts end,
    leased_until = case when is_done then at else app.next_attempt(s.attempts, at) end
  where s.id = settle_event.subscription_id
    -- After the lease expired, another run may have sent the event and moved on, or a renewal may have moved back.
    and (s.place_at, s.place_id) < ((place ->> 'at')::timestamptz, place ->> 'id') and s.attempts > 0;
end
$$;
comment on function public.settle_event is
  'Records that the app accepted a claimed event, permanently refused it, or must receive it later.';
revoke all on function app.find_waiting_subscriptions, app.has_waiting_events, app.claims_of from authenticated;
