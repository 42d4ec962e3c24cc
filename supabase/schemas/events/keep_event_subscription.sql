create or replace function app.subscription_id(grant_id text, name text, url text) returns text
language sql immutable
  return 'sub_' || left(encode(sha256(convert_to(grant_id || ' ' || name || ' ' || url, 'UTF8')), 'hex'), 32);
comment on function app.subscription_id is
  'Returns the same id for the same grant, event and address, so that subscribing again renews the subscription.';
revoke all on function app.subscription_id from authenticated;

create or replace function app.has_room_for(subscription_id text, grant_id text, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 10;
begin
  return (
    select count(*) from app.event_subscriptions as s
    where s.grant_id = has_room_for.grant_id::uuid and s.expires_at > at and s.id <> has_room_for.subscription_id
  ) < most;
end
$$;
comment on function app.has_room_for is 'Whether a grant may have this subscription in addition to its others.';
revoke all on function app.has_room_for from authenticated;

create or replace function public.find_event_subscription(token_hash text, resource text, name text, url text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal constant jsonb := app.authenticate(token_hash, resource, 'read', null, at);
  subscription_id constant text := app.subscription_id(principal #>> '{claims,grant_id}', name, url);
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  elsif not exists (
    select from oauth.grants as g where g.id = (principal #>> '{claims,grant_id}')::uuid and g.may_subscribe
  ) then
    return '{"outcome": "stopped"}';
  elsif not app.has_room_for(subscription_id, principal #>> '{claims,grant_id}', at) then
    return '{"outcome": "too_many"}';
  end if;
  return jsonb_build_object('outcome', 'ok', 'id', subscription_id);
end
$$;
comment on function public.find_event_subscription is
  'Returns the id of an app''s existing or new subscription: {outcome: ok | stopped (by its person) | too_many, id?}, '
  'or a refusal of app.authenticate.';

create or replace function public.keep_event_subscription(token_hash text, resource text, name text, url text,
  secret jsonb, after jsonb, expires_at timestamptz, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal constant jsonb := app.authenticate(token_hash, resource, 'read', null, at);
  kept app.event_subscriptions;
  may_subscribe boolean;
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  end if;
  kept.grant_id := principal #>> '{claims,grant_id}';
  kept.id := app.subscription_id(kept.grant_id::text, name, url);
  -- The lock ensures that concurrent calls can't exceed the limit together or outlive the end of the grant.
  select g.may_subscribe into may_subscribe from oauth.grants as g
  where g.id = kept.grant_id and g.revoked_at is null
  for no key update;
  if not found then
    return '{"outcome": "invalid_token"}';
  elsif not may_subscribe then
    return '{"outcome": "stopped"}';
  elsif not app.has_room_for(kept.id, kept.grant_id::text, at) then
    return '{"outcome": "too_many"}';
  end if;
  delete from app.event_subscriptions as s
  where s.id = kept.id and s.expires_at <= keep_event_subscription.at;
  insert into app.event_subscriptions as s
    (id, grant_id, name, url, secret, place_at, place_id, leased_until, created_at, expires_at)
  values (
    kept.id, kept.grant_id, name, url, secret, coalesce((after ->> 'at')::timestamptz, at),
    coalesce(after ->> 'id', ''), at, at, keep_event_subscription.expires_at
  )
  -- The receiver has just answered, so retry a failed event once no sender can hold it.
  on conflict (id) do update set secret = excluded.secret, expires_at = excluded.expires_at,
    leased_until = least(s.leased_until, at + interval '1 minute'),
    place_at = case when after is null then s.place_at else excluded.place_at end,
    place_id = case when after is null then s.place_id else excluded.place_id end,
    attempts = case when after is null then s.attempts else 0 end
  returning s.* into kept;
  return jsonb_build_object(
    'outcome', 'ok', 'place', jsonb_build_object('at', kept.place_at, 'id', kept.place_id),
    'truncated', kept.place_at < at - app.kept_for('events')
  );
end
$$;
comment on function public.keep_event_subscription is
  'Subscribes an app to an event, or renews its subscription: {outcome: ok | stopped | too_many, place, truncated}, or '
  'a refusal of app.authenticate.';

create or replace function public.drop_event_subscription(token_hash text, resource text, name text, url text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal constant jsonb := app.authenticate(token_hash, resource, 'read', null, at);
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  end if;
  delete from app.event_subscriptions as s
  where s.id = app.subscription_id(principal #>> '{claims,grant_id}', drop_event_subscription.name,
    drop_event_subscription.url);
  return jsonb_build_object('outcome', case when found then 'ok' else 'unknown' end);
end
$$;
comment on function public.drop_event_subscription is
  'Ends a subscription of an app: {outcome: ok | unknown}, or a refusal of app.authenticate.';
