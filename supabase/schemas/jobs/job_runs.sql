-- The log of the scheduled functions: one row per stage of a run.

create table jobs.job_runs (
  id bigint primary key generated always as identity,
  job text not null constraint job_runs_job_known check (job in ('reminders', 'provider-sync')),
  period date not null,
  stage text not null constraint job_runs_stage_format check (stage ~ '^[a-z_]{1,40}$'),
  status text not null constraint job_runs_status_known check (status in ('ok', 'failed')),
  counts jsonb not null default '{}',
  error_code text,
  started_at timestamptz not null,
  finished_at timestamptz not null
);
comment on table jobs.job_runs is
  'Each stage of each run of a scheduled function: its time, its completeness and its counts.';
comment on column jobs.job_runs.period is
  'The run''s period: the day (UTC) of the reminders, the first of the month of a provider sync.';
create index job_runs_latest_idx on jobs.job_runs (job, period, id);
alter table jobs.job_runs enable row level security;
grant select, insert, update, delete on jobs.job_runs to service_role;

create or replace function public.record_job_run(
  job text, period date, stage text, status text, counts jsonb, error_code text, started_at timestamptz,
  finished_at timestamptz
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into jobs.job_runs (job, period, stage, status, counts, error_code, started_at, finished_at)
  values (
    job, period, stage, status, counts,
    error_code, started_at, finished_at
  );
end
$$;
comment on function public.record_job_run is 'Stores the result of a stage of a scheduled function. Returns nothing.';
