-- When the reminders job runs: once a day, and again until noon for what is left by then: a run stops after 50 seconds, a mail service
-- may be down, a trigger may get lost. A run that finds nothing to do costs next to nothing.

do $$
declare
  command constant text := $command$
    select net.http_get(
      url := (select decrypted_secret from vault.decrypted_secrets where name = 'project_url') || '/functions/v1/cron-reminders',
      headers := jsonb_build_object(
        'Authorization', 'Bearer ' || split_part((select decrypted_secret from vault.decrypted_secrets where name = 'cron_secret'), ',', 1)
      ),
      timeout_milliseconds := 65000
    )
  $command$;
begin
  perform cron.schedule('reminders', '0 8 * * *', command);
  perform cron.schedule('reminders-catch-up', '*/10 8-11 * * *', command);
end
$$;
