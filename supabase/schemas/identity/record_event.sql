create or replace function identity.record_event(event text, actor_id uuid, organization_id text, detail jsonb,
  at timestamptz) returns void
language plpgsql set search_path = '' as $$
begin
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  values (at, actor_id, organization_id, event,
    detail);
end
$$;
comment on function identity.record_event is 'Adds one line to the audit trail.';
