-- The schedule's entries in the vault: the functions' address and the scheduler's secret. `supabase db push` writes
-- them only while a migration is pending, so the deploy command calls these functions.

create or replace function jobs.vault_matches(project_url text, cron_secret_hashes text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  site constant text := btrim(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'project_url'));
  secret constant text := btrim(split_part(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'cron_secret'), ',', 1));
begin
  return jsonb_build_object(
    'project_url', coalesce(site = vault_matches.project_url, false),
    'cron_secret', coalesce(encode(sha256(convert_to(secret, 'UTF8')), 'hex') = any (cron_secret_hashes), false)
  );
end
$$;
comment on function jobs.vault_matches is
  'Returns whether the vault holds this address and one of the secrets with these SHA-256 digests (hex): '
  '{project_url, cron_secret}, each true or false, so that no value is revealed.';

create or replace function jobs.fill_vault(project_url text, cron_secret text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  secret_name text;
  value text;
  kept_id uuid;
begin
  -- Serialize calls, because the second of two concurrent inserts of a name would fail.
  perform pg_advisory_xact_lock(hashtext('jobs.fill_vault'));
  for secret_name, value in values ('project_url', project_url), ('cron_secret', cron_secret)
  loop
    if coalesce(btrim(value), '') = '' then
      raise exception 'blank %', secret_name using errcode = 'invalid_parameter_value';
    end if;
    select s.id into kept_id from vault.decrypted_secrets as s where s.name = secret_name;
    if kept_id is null then
      perform vault.create_secret(value, secret_name);
    else
      perform vault.update_secret(kept_id, value);
    end if;
  end loop;
end
$$;
comment on function jobs.fill_vault is 'Stores the schedule''s secrets in the vault, replacing earlier values.';
revoke all on function jobs.vault_matches from service_role;
revoke all on function jobs.fill_vault from service_role;
