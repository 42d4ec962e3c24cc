-- The reminders job runs once a day, and every ten minutes until noon for unsent mails: a run stops after 50 seconds,
-- and a mail service may be down. Concurrent runs share the work, but take four connections, so the catch-up avoids the
-- full hour. Bills roll every quarter of an hour, because totals of the new day need its automatic payments.

select cron.schedule('reminders', '0 8 * * *', $$select jobs.call_function('cron-reminders')$$);
select cron.schedule('reminders-catch-up', '5-55/10 8-11 * * *', $$select jobs.call_function('cron-reminders')$$);
select cron.schedule('roll-bills', '1-59/15 * * * *', $$select jobs.call_function('cron-reminders?only=roll')$$);
-- Calls nothing while no event waits.
select cron.schedule('send-events', '* * * * *',
  $$select jobs.call_function('cron-reminders?only=events') where app.has_waiting_events(now())$$);
-- Calls nothing while no mail waits to be read.
select cron.schedule('read-mail', '* * * * *',
  $$select jobs.call_function('cron-reminders?only=inbound') where app.has_mail_to_read(now())$$);
