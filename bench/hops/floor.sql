-- The minimum work of a service with a database, for bench/hops/floor.ts: each function is one statement.

create schema floor;
grant usage on schema floor to service_role;
create table floor.clients (client_id uuid primary key default gen_random_uuid(), name text, redirect_uris text[] not null);
create table floor.codes (code_hash text primary key, challenge text not null, user_id bigint not null, used_at timestamptz);
create table floor.tokens (
  token_hash text primary key, user_id bigint not null, expires_at timestamptz not null, used_at timestamptz
);
create table floor.people (user_id bigint primary key, name text not null, plan text not null);
create table floor.events (id text primary key, payload jsonb not null, received_at timestamptz not null default now());
grant select, insert, update on all tables in schema floor to service_role;
insert into floor.people select n, 'Person ' || n, 'pro' from generate_series(1, 100000) as n;
insert into floor.tokens
select encode(sha256(('token_' || n)::bytea), 'hex'), n, now() + interval '1 day', null from generate_series(1, 100000) as n;
analyze floor.people, floor.tokens;

create function public.floor_register(name text, redirect_uris text[]) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb;
begin
  insert into floor.clients as c (name, redirect_uris) values (floor_register.name, floor_register.redirect_uris)
  returning jsonb_build_object('client_id', c.client_id) into result;
  return result;
end
$$;

create function public.floor_exchange(code_hash text, challenge text, access_hash text, refresh_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb;
begin
  with spent as (
    update floor.codes as c set used_at = now()
    where c.code_hash = floor_exchange.code_hash and c.challenge = floor_exchange.challenge and c.used_at is null
    returning c.user_id
  ), issued as (
    insert into floor.tokens (token_hash, user_id, expires_at)
    select t.hash, s.user_id, now() + interval '1 hour' from spent as s, unnest(array[access_hash, refresh_hash]) as t (hash)
  )
  select jsonb_build_object('expires_in', 3600) into result from spent;
  return result;
end
$$;

create function public.floor_refresh(token_hash text, access_hash text, refresh_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb;
begin
  with spent as (
    update floor.tokens as t set used_at = now()
    where t.token_hash = floor_refresh.token_hash and t.used_at is null and t.expires_at > now()
    returning t.user_id
  ), issued as (
    insert into floor.tokens (token_hash, user_id, expires_at)
    select t.hash, s.user_id, now() + interval '1 hour' from spent as s, unnest(array[access_hash, refresh_hash]) as t (hash)
  )
  select jsonb_build_object('expires_in', 3600) into result from spent;
  return result;
end
$$;

create function public.floor_call(token_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb;
begin
  select jsonb_build_object('user_id', p.user_id, 'name', p.name, 'plan', p.plan) into result
  from floor.tokens as t join floor.people as p on p.user_id = t.user_id
  where t.token_hash = floor_call.token_hash and t.expires_at > now();
  return result;
end
$$;

create function public.floor_event(id text, payload jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  insert into floor.events (id, payload) values (floor_event.id, floor_event.payload) on conflict do nothing;
  return '{"outcome": "stored"}';
end
$$;
grant execute on function public.floor_register, public.floor_exchange, public.floor_refresh, public.floor_call, public.floor_event
  to service_role;
