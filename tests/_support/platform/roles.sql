-- The roles of a Supabase server that matter for migrations and the API. Run once per server, as its superuser
-- supabase_admin. Without the image's own libraries, three things are missing: reserved roles that nobody may alter
-- (supautils), refusal of update and delete without `where` (safeupdate), and extensions that roles other than
-- superusers may create (supautils).

create role postgres login nosuperuser createdb createrole replication bypassrls;
create role anon nologin;
create role authenticated nologin;
create role service_role nologin bypassrls;
create role authenticator login noinherit;
create role supabase_auth_admin login noinherit;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role, pg_monitor, pg_read_all_data, pg_signal_backend to postgres;

alter role supabase_admin set search_path = "$user", public, auth, extensions;
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_auth_admin set search_path = auth;
alter role supabase_auth_admin set idle_in_transaction_session_timeout = '60s';
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';

alter database postgres owner to postgres;
