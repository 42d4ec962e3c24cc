create or replace function public.list_connected_apps(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'grant_id', g.id, 'client_id', c.client_id, 'client_name', c.client_name, 'redirect_uri', g.redirect_uri,
      'organization_id', o.id, 'organization_name', o.name, 'created_at', g.created_at, 'last_used_at', g.last_used_at,
      'access', g.access, 'role_writes', identity.member_may(o.id, g.user_id, 'books:write'),
      'last_change', (
        select jsonb_build_object('tool', s.tool, 'at', s.created_at)
        from app.change_sets as s
        where s.grant_id = g.id and s.organization_id = g.organization_id
        order by s.recorded_seq desc
        limit 1
      ),
      'may_subscribe', g.may_subscribe, 'subscriptions', (
        select coalesce(jsonb_agg(jsonb_build_object('url', s.url, 'name', s.name, 'expires_at', s.expires_at)
          order by s.url, s.name), '[]')
        from app.event_subscriptions as s
        where s.grant_id = g.id and s.expires_at > at
      )
    ) order by g.created_at desc, g.id), '[]')
    from oauth.grants as g
    join oauth.clients as c on c.client_id = g.client_id
    join identity.organizations as o on o.id = g.organization_id
    where g.user_id = list_connected_apps.user_id and g.revoked_at is null
      and exists (
        select from oauth.tokens as t
        where t.grant_id = g.id and t.rotated_at is null and t.revoked_at is null and t.expires_at > at
      )
  );
end
$$;
comment on function public.list_connected_apps is
  'Returns the grants of a person that still hold a live token, newest first: an array for the account page.';

create or replace function public.list_grant_alerts(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'grant_id', g.id, 'client_name', c.client_name, 'organization_name', o.name, 'ended_at', g.revoked_at, 'reason',
      g.revocation_reason
    ) order by g.revoked_at desc, g.id), '[]')
    from oauth.grants as g
    join oauth.clients as c on c.client_id = g.client_id
    join identity.organizations as o on o.id = g.organization_id
    where g.user_id = list_grant_alerts.user_id and g.revocation_reason in ('code_replayed', 'refresh_token_replayed')
      and g.alert_seen_at is null
  );
end
$$;
comment on function public.list_grant_alerts is
  'Returns a person''s grants that ended because a code or token was used twice, until the person dismisses them: an '
  'array, newest first.';

create or replace function public.dismiss_grant_alerts(user_id uuid, until timestamptz, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update oauth.grants as g set alert_seen_at = at
  where g.user_id = dismiss_grant_alerts.user_id and g.revocation_reason in ('code_replayed', 'refresh_token_replayed')
    and g.alert_seen_at is null and g.revoked_at <= until;
  return '{"outcome": "dismissed"}';
end
$$;
comment on function public.dismiss_grant_alerts is
  'Records that a person has seen the alerts of grants that ended until an instant; later ones stay.';

create or replace function public.record_use(token_hash text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update oauth.grants as g set last_used_at = at
  where g.id
    = (select t.grant_id from oauth.tokens as t
    where t.token_hash = decode(record_use.token_hash, 'hex') and t.kind = 'access')
    and (g.last_used_at is null or g.last_used_at <= at - interval '1 hour');
  return jsonb_build_object('outcome', case when found then 'recorded' else 'recent' end);
end
$$;
comment on function public.record_use is
  'Records that the client of an access token is in use, at most once per hour and grant: outcome recorded or recent.';

create or replace function public.revoke_grant(user_id uuid, grant_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if exists (select from oauth.grants as g where g.id = grant_id and g.user_id = revoke_grant.user_id)
    and oauth.end_grant(grant_id, 'revoked_by_user', at) then
    return '{"outcome": "revoked"}';
  end if;
  return '{"outcome": "unknown_grant"}';
end
$$;
comment on function public.revoke_grant is
  'Disconnects an app at its owner''s request: outcome revoked, or unknown_grant (also for another person''s or an '
  'ended grant).';
