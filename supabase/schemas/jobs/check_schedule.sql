-- Reports to a monitor whether the schedule can reach the functions, and when each job last succeeded.

-- security definer: the API's roles cannot read the tables of pg_cron.
create or replace function public.check_schedule(project_url text, cron_secret_hashes text[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  schedules jsonb;
  runs jsonb;
begin
  -- Leaves out the message that pg_cron stores for a run, which may quote anything.
  select coalesce(jsonb_agg(jsonb_build_object(
    'name', j.jobname,
    'is_active', j.active,
    'last_started_at', d.start_time,
    'last_status', d.status,
    'last_succeeded_at', (
      select max(e.start_time) from cron.job_run_details as e where e.jobid = j.jobid and e.status = 'succeeded')
  ) order by j.jobname), '[]') into schedules
  from cron.job as j
  left join lateral (
    select r.start_time, r.status from cron.job_run_details as r
    where r.jobid = j.jobid and r.start_time is not null
    order by r.start_time desc
    limit 1
  ) as d on true;
  -- A run is complete after its last stage, and successful only if no stage failed.
  select coalesce(jsonb_agg(jsonb_build_object(
    'job', r.job, 'last_finished_at', r.finished_at, 'last_ok_at', r.ok_at, 'failed_stages', r.failed
  ) order by r.job), '[]') into runs
  from (
    select
      s.job,
      max(s.finished_at) filter (where s.stage in ('past_rates', 'sync')) as finished_at,
      max(s.finished_at) filter (where s.stage in ('past_rates', 'sync') and s.status = 'ok') as ok_at,
      (select coalesce(jsonb_agg(l.stage order by l.stage), '[]') from (
        select distinct on (n.stage) n.stage, n.status from jobs.job_runs as n
        where n.job = s.job
          and n.period = (select max(p.period) from jobs.job_runs as p where p.job = s.job)
        order by n.stage, n.id desc
      ) as l where l.status = 'failed') as failed
    from jobs.job_runs as s
    group by s.job
  ) as r;
  return jsonb_build_object(
    'at', clock_timestamp(),
    'vault', jobs.vault_matches(project_url, cron_secret_hashes),
    'schedules', schedules,
    'runs', runs
  );
end
$$;
comment on function public.check_schedule is
  'Returns the database''s clock, the comparison of the vault with the schedule''s secrets (jobs.vault_matches), and '
  'each schedule with its last run. Also returns each scheduled function with its last runs and the failed stages of '
  'the latest one.';
