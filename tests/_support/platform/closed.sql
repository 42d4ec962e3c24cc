-- The other mode of default privileges: a project created without "default privileges for new entities". Even
-- service_role then gets no useful grants, and PostgreSQL's default EXECUTE for PUBLIC on functions stays.

alter default privileges for role postgres in schema public revoke select, insert, update, delete on tables from anon, authenticated, service_role;
alter default privileges for role postgres in schema public revoke usage, select on sequences from anon, authenticated, service_role;
alter default privileges for role postgres in schema public revoke execute on functions from anon, authenticated, service_role;
