create or replace function oauth.audit_grant(of_grant oauth.grants, event text, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  values (at, of_grant.user_id, of_grant.organization_id, event, jsonb_strip_nulls(jsonb_build_object(
    'grant_id', of_grant.id, 'client_id', of_grant.client_id, 'reason', of_grant.revocation_reason,
    'access', of_grant.access,
    'client_name', (select c.client_name from oauth.clients as c where c.client_id = of_grant.client_id)
  )));
end
$$;
comment on function oauth.audit_grant is 'Records the event of a grant; for a revocation, also the reason.';

create or replace function oauth.end_grant(grant_id uuid, reason text, at timestamptz) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  ended oauth.grants;
begin
  update oauth.grants as g set revoked_at = at, revocation_reason = reason
  where g.id = grant_id and g.revoked_at is null
  returning g.* into ended;
  if not found then
    return false;
  end if;
  perform oauth.audit_grant(ended, 'grant.revoked', at);
  perform app.withdraw_proposals_through(grant_id, at);
  delete from app.event_subscriptions as s where s.grant_id = end_grant.grant_id;
  return true;
end
$$;
comment on function oauth.end_grant is
  'Ends a grant with all its tokens and subscriptions, and withdraws its proposals; false when it had already ended.';
