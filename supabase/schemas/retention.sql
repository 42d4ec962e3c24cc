-- Retention periods by kind of row. The purge and the tools that state a period read them from here.

create table app.retention (
  what text primary key,
  keep interval not null constraint retention_keep_positive check (keep >= interval '0')
);
comment on table app.retention is
  'The retention period of each kind of row after its use. docs/retention.md lists the periods.';
alter table app.retention enable row level security;
create policy "Signed-in people can read how long what is kept" on app.retention
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.retention to authenticated, service_role;

insert into app.retention (what, keep) values
  ('deleted_organizations', '14 days'),
  ('deleted_accounts', '14 days'),
  ('deleted_records', '30 days'),
  ('documents', '400 days'),
  ('inbound_mails', '14 days'),
  ('change_contents', '30 days'),
  ('changes', '400 days'),
  ('idempotency_keys', '24 hours'),
  ('imports', '24 hours'),
  ('invitations', '30 days'),
  ('used_codes', '1 day'),
  ('consents', '1 day'),
  ('tokens', '30 days'),
  ('grants', '30 days'),
  ('unseen_alerts', '180 days'),
  ('client_documents', '1 day'),
  ('clients', '6 days'),
  ('attempts', '1 day'),
  ('job_runs', '90 days'),
  ('digests', '400 days'),
  ('proposals', '90 days'),
  ('events', '1 day'),
  ('tool_reads', '90 days'),
  ('payment_events', '400 days'),
  ('cron_runs', '7 days');

create or replace function app.kept_for(what text) returns interval
language plpgsql stable set search_path = '' as $$
declare
  kept interval;
begin
  select r.keep into strict kept from app.retention as r where r.what = kept_for.what;
  return kept;
end
$$;
comment on function app.kept_for is
  'Returns the retention period of a kind of row; raises an error for an unknown kind.';
