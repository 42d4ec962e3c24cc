create or replace function public.allow_subscriptions(user_id uuid, grant_id uuid, is_allowed boolean, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  changed oauth.grants;
begin
  -- The same lock as for renewing, so that no renewal follows the end.
  select * into changed from oauth.grants as g
  where g.id = allow_subscriptions.grant_id and g.user_id = allow_subscriptions.user_id and g.revoked_at is null
    and g.expires_at > at
  for no key update;
  if not found then
    return '{"outcome": "unknown_grant"}';
  end if;
  if changed.may_subscribe <> is_allowed then
    update oauth.grants as g set may_subscribe = is_allowed where g.id = changed.id;
    perform oauth.audit_grant(
      changed, case when is_allowed then 'grant.events_allowed' else 'grant.events_stopped' end, at
    );
  end if;
  if not is_allowed then
    delete from app.event_subscriptions as s where s.grant_id = changed.id;
  end if;
  return '{"outcome": "changed"}';
end
$$;
comment on function public.allow_subscriptions is
  'Ends the subscriptions of an app at its owner''s request and refuses new ones, or allows them again. Outcome '
  'changed (also if nothing changed), or unknown_grant (also for another person''s or an ended grant).';
