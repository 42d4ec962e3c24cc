-- Schema auth as the identity provider leaves it: its own role owns the tables, `postgres` may use but not change them,
-- and the API roles reach only the helpers. Run after @supabase/lite and local/database/auth.sql have created tables
-- and helpers.

-- Unlike those of local/database/auth.sql, these prefer the older settings, one for each claim, like the hosted ones.
create or replace function auth.uid() returns uuid language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid
$$;

create or replace function auth.role() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
$$;

create or replace function auth.email() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email')
$$;

create or replace function auth.jwt() returns jsonb language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), ''))::jsonb
$$;

grant usage, create on schema auth to supabase_auth_admin;

do $$
declare
  object record;
begin
  for object in select oid::regclass as name from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r' loop
    execute format('alter table %s owner to supabase_auth_admin', object.name);
    execute format('alter table %s enable row level security', object.name);
    execute format('grant all on %s to postgres', object.name);
    execute format('grant select on %s to postgres with grant option', object.name);
  end loop;
  for object in select oid::regprocedure as name from pg_proc where pronamespace = 'auth'::regnamespace loop
    execute format('alter function %s owner to supabase_auth_admin', object.name);
  end loop;
end $$;

-- The role that applies migrations owns their history.
drop schema supabase_migrations cascade;
