-- Prepares a PostgreSQL server for `task start -- --production`, once, as its superuser:
--   sudo -u postgres psql -v ON_ERROR_STOP=1 -v password=… -f local/database/server.sql
-- It creates the database `expenses`, its owner of the same name, and the roles that policies name. The owner is an
-- ordinary role: only the first migration needs createrole, which the guide then revokes.

select format('create role %I %s', name, attributes) from (values
  ('anon', 'nologin noinherit'), ('authenticated', 'nologin noinherit'), ('service_role', 'nologin noinherit bypassrls'),
  ('supabase_auth_admin', 'nologin noinherit'), ('purger', 'nologin noinherit'), ('authenticator', 'nologin noinherit'),
  ('expenses', 'login createrole')
) as roles (name, attributes)
where to_regrole(name) is null \gexec

alter role expenses createrole password :'password';
grant anon, authenticated, service_role, purger to expenses with admin option;
-- Restoring a backup skips triggers and foreign keys, since its rows are consistent.
grant set on parameter session_replication_role to expenses;
-- The first migration grants a role to postgres, although a server's superuser may have another name.
select 'create role postgres nologin' where to_regrole('postgres') is null \gexec
create database expenses owner expenses;
revoke connect on database expenses from public;
