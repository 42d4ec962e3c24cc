-- The helpers of schema auth as the identity provider defines them, and the columns and the table that the embedded one
-- lacks. Run after every start of @supabase/lite, which each time restores its own helpers: those read
-- request.jwt.claim.sub only, so that a function acting for another user by request.jwt.claims would act for nobody.
-- Unlike the hosted helpers they prefer request.jwt.claims: the embedded API sets claim.sub from the outer request,
-- PostgREST never does.

create or replace function auth.uid() returns uuid language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
    nullif(current_setting('request.jwt.claim.sub', true), ''))::uuid
$$;

create or replace function auth.role() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role',
    nullif(current_setting('request.jwt.claim.role', true), ''))
$$;

create or replace function auth.email() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email',
    nullif(current_setting('request.jwt.claim.email', true), ''))
$$;

create or replace function auth.jwt() returns jsonb language sql stable as $$
  select coalesce(nullif(current_setting('request.jwt.claims', true), ''), '{}')::jsonb
$$;

alter table auth.users
  add column if not exists instance_id uuid,
  add column if not exists is_super_admin boolean;

-- How each session began, for the `amr` claim of its access tokens.
create table if not exists auth.mfa_amr_claims (
  session_id uuid not null references auth.sessions (id) on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  authentication_method text not null,
  id uuid not null primary key,
  constraint mfa_amr_claims_session_id_authentication_method_pkey unique (session_id, authentication_method)
);

-- Hosted generates confirmed_at from email_confirmed_at; the embedded provider writes and reads confirmed_at alone.
create or replace function auth.keep_confirmation() returns trigger language plpgsql set search_path = '' as $$
begin
  new.email_confirmed_at := coalesce(new.email_confirmed_at, new.confirmed_at);
  new.confirmed_at := new.email_confirmed_at;
  return new;
end $$;

create or replace trigger keep_confirmation before insert or update on auth.users
  for each row execute function auth.keep_confirmation();
