-- When the reminders job runs: once a day, and again until noon for what is left by then: a run stops after 50 seconds,
-- a mail service may be down, a trigger may get lost. A run that finds nothing to do costs next to nothing. Not at the
-- full hour: two runs at once share the work, but take four connections.

select cron.schedule('reminders', '0 8 * * *', $$select jobs.call_function('cron-reminders')$$);
select cron.schedule('reminders-catch-up', '5-55/10 8-11 * * *', $$select jobs.call_function('cron-reminders')$$);
