create table identity.audit_events (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor_id uuid,
  organization_id text collate "C",
  event text not null constraint audit_events_event_format check (event ~ '^[a-z_]+(\.[a-z_]+)+$'),
  detail jsonb not null default '{}'
);
comment on table identity.audit_events is
  'Events of accounts and grants. Insert only. Contains no tokens, codes or amounts. Rows outlive the people and '
  'organizations that they name, but lose their details once these are purged.';
create index audit_events_organization_id_idx on identity.audit_events (organization_id, at desc);
create index audit_events_actor_id_idx on identity.audit_events (actor_id, at desc);
