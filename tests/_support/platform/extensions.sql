-- Who may use what pg_cron, pg_net and Vault bring: the same for the extensions themselves and for the stand-ins of
-- local/database, which are loaded before it where an extension is not installed. A role that is no superuser cannot
-- create these extensions here.

grant usage on schema cron, vault to postgres;
grant execute on all functions in schema cron, vault to postgres;
-- Jobs are changed by the functions alone, and each role sees its own; the stand-in has neither rule and lets postgres
-- keep its tables.
grant select on cron.job, cron.job_run_details to postgres;
grant select, delete on vault.secrets, vault.decrypted_secrets to postgres;

do $$
begin
  if not exists (select from pg_extension where extname = 'pg_cron') then
    grant all on cron.job, cron.job_run_details to postgres;
  end if;
  if not exists (select from pg_extension where extname = 'supabase_vault') then
    -- Secrets are written by these two only: a direct insert fails.
    alter function vault.create_secret security definer set search_path = '';
    alter function vault.update_secret security definer set search_path = '';
  end if;
end $$;
