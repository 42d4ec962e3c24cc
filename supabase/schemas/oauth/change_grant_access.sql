create or replace function public.change_grant_access(user_id uuid, grant_id uuid, access text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' set lock_timeout = '5s' as $$
declare
  changed oauth.grants;
begin
  select * into changed from oauth.grants as g
  where g.id = change_grant_access.grant_id and g.user_id = change_grant_access.user_id;
  -- This waits for a running write; a waiting write is refused afterwards.
  perform pg_advisory_xact_lock(app.books_key(changed.organization_id));
  select * into changed from oauth.grants as g
  where g.id = changed.id and g.revoked_at is null and g.expires_at > at
  for no key update;
  if not found then
    return '{"outcome": "unknown_grant"}';
  end if;
  if changed.access = change_grant_access.access then
    return '{"outcome": "changed"}';
  end if;
  update oauth.grants as g set access = change_grant_access.access where g.id = changed.id
  returning * into changed;
  perform oauth.audit_grant(changed, 'grant.access_changed', at);
  if changed.access = 'read' then
    perform app.withdraw_proposals_through(changed.id, at);
  end if;
  return '{"outcome": "changed"}';
end
$$;
comment on function public.change_grant_access is
  'Sets an app''s access to read or write at its owner''s request, from its next call on. Changing it to read '
  'withdraws its proposals. Outcome changed (also if nothing changed), or unknown_grant (also for another person''s '
  'or an ended grant).';
