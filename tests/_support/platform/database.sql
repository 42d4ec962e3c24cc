-- The contents of a Supabase server's database before the first migration, in addition to local/database/bootstrap.sql,
-- which runs first. Default privileges are the image's own ("auto expose"): everybody can use the objects that
-- `postgres` creates in `public`.

alter schema extensions owner to postgres;
create extension "uuid-ossp" with schema extensions;
create extension pg_stat_statements with schema extensions;

create schema storage;
create schema realtime;
create schema graphql_public;
grant usage on schema storage, graphql_public to postgres, anon, authenticated, service_role;
grant usage on schema realtime, auth to postgres;
create publication supabase_realtime;

alter default privileges for role postgres in schema public grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on sequences to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on functions to postgres, anon, authenticated, service_role;
