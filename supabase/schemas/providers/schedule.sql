-- Amounts are fetched on the 2nd, when most providers have closed the previous month, and daily until the 10th for the
-- rest. Runs without work are cheap.

select cron.schedule('provider-sync', '0 6 2 * *', $$select jobs.call_function('cron-provider-sync')$$);
select cron.schedule('provider-sync-catch-up', '0 6 3-10 * *', $$select jobs.call_function('cron-provider-sync')$$);
