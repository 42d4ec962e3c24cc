-- Privileges on pg_cron, pg_net and Vault, for the extensions themselves and for the stand-ins of local/database, which
-- are loaded first if an extension is not installed. Here only superusers can create these extensions.

grant usage on schema cron, vault to postgres;
grant execute on all functions in schema cron, vault to postgres;
-- Only functions change jobs, and each role sees its own. The stand-in has neither rule and lets postgres keep its
-- tables.
grant select on cron.job, cron.job_run_details to postgres;
grant select, delete on vault.secrets, vault.decrypted_secrets to postgres;

do $$
begin
  if not exists (select from pg_extension where extname = 'pg_cron') then
    grant all on cron.job, cron.job_run_details to postgres;
  end if;
  if not exists (select from pg_extension where extname = 'supabase_vault') then
    -- Only these two functions write secrets; a direct insert fails.
    alter function vault.create_secret security definer set search_path = '';
    alter function vault.update_secret security definer set search_path = '';
  end if;
end $$;
