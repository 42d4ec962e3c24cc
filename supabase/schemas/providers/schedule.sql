-- When amounts are fetched: on the 2nd, when most providers have closed the month before, and daily until the 10th for
-- what was not ready by then. A run that finds nothing to ask costs next to nothing.

select cron.schedule('provider-sync', '0 6 2 * *', $$select jobs.call_function('cron-provider-sync')$$);
select cron.schedule('provider-sync-catch-up', '0 6 3-10 * *', $$select jobs.call_function('cron-provider-sync')$$);
