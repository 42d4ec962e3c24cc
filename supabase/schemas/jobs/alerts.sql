-- For operators: the last run of each stage, and open problems. /api/health/jobs names late jobs for a monitor.

create or replace view jobs.latest_runs with (security_invoker = true) as
select distinct on (r.job, r.stage)
  r.job, r.stage, r.period, r.status, r.error_code, r.counts, r.started_at, r.finished_at
from jobs.job_runs as r
order by r.job, r.stage, r.id desc;
comment on view jobs.latest_runs is 'The latest run of each stage of each scheduled function.';
grant select on jobs.latest_runs to service_role;

create or replace view jobs.alerts with (security_invoker = true) as
select 'stage_failed' as alert, r.job || ' ' || r.stage as about, r.finished_at as since, r.error_code as reason
from jobs.latest_runs as r
where r.status = 'failed'
union all
select 'event_parked', coalesce(p.subscription_id, p.event_id), p.received_at, p.reason
from billing.parked_events as p
union all
select 'provider_fails', l.id, l.asked_at, l.last_error_code
from app.provider_links as l
where l.status = 'active' and l.consecutive_failures >= 3;
comment on view jobs.alerts is
  'Problems for the operator: stages whose latest run failed, payment events that can''t be applied, and connected '
  'providers that failed at least three times in a row. Empty without problems.';
grant select on jobs.alerts to service_role;
