-- When amounts are fetched: on the 2nd, when most providers have closed the month before, and daily until the 10th for what was not ready by
-- then. A run that finds nothing to ask costs next to nothing.

do $$
declare
  command constant text := $command$
    select net.http_get(
      url := (select decrypted_secret from vault.decrypted_secrets where name = 'project_url') || '/functions/v1/cron-provider-sync',
      headers := jsonb_build_object(
        'Authorization', 'Bearer ' || split_part((select decrypted_secret from vault.decrypted_secrets where name = 'cron_secret'), ',', 1)
      ),
      timeout_milliseconds := 65000
    )
  $command$;
begin
  perform cron.schedule('provider-sync', '0 6 2 * *', command);
  perform cron.schedule('provider-sync-catch-up', '0 6 3-10 * *', command);
end
$$;
