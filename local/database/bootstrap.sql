-- The parts that a Supabase image provides before the first migration: roles, schemas and default privileges. The default
-- privileges are the image's "auto expose" ones, the stricter case for us, because it exposes a forgotten revoke at
-- once. It runs at every start and must therefore be repeatable.

do $$
declare
  role_name text;
  attributes text;
begin
  for role_name, attributes in
    values ('anon', 'nologin noinherit'), ('authenticated', 'nologin noinherit'),
           ('service_role', 'nologin noinherit bypassrls'), ('authenticator', 'login noinherit'),
           ('supabase_auth_admin', 'nologin noinherit')
  loop
    -- An ordinary owner of the database may not create roles; server.sql created them.
    continue when to_regrole(role_name) is not null;
    begin
      execute format('create role %I %s', role_name, attributes);
    exception when duplicate_object or unique_violation then
      null; -- roles are shared by all databases of a server, and two of them may start together
    end;
  end loop;
end $$;

create schema if not exists extensions;
create schema if not exists auth;
grant usage on schema extensions, auth, public to anon, authenticated, service_role;
create extension if not exists pgcrypto with schema extensions;

alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
