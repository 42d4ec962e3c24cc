create or replace function app.quota_key(grant_id text, kind text) returns text
language sql immutable set search_path = '' as $$
  select 'connector_' || kind || ':' || grant_id
$$;
comment on function app.quota_key is
  'Returns the quota bucket of a grant''s reads or writes. A new access token of the grant uses the same bucket.';

create or replace function app.authenticate(token_hash text, resource text, kind text, limits jsonb, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal record;
  organization identity.organizations;
  wait integer := 0;
begin
  perform set_config('application_name', app.request_name(), true);
  select * into principal from oauth.resolve_access_token(decode(authenticate.token_hash, 'hex'), resource, at);
  if principal.outcome is distinct from 'ok' then
    -- Only a token that we never issued counts as a guess. An expired or revoked token must get its own error, even if
    -- many clients share the address.
    if limits is not null
      and not exists (select from oauth.tokens as t where t.token_hash = decode(authenticate.token_hash, 'hex')) then
      wait := oauth.draw_quotas(limits -> 'caller', at);
    end if;
    return case when wait = 0 then '{"outcome": "invalid_token"}' else oauth.limited(wait) end;
  end if;
  if limits -> kind is not null then
    wait := oauth.wait_for_bucket(
      app.quota_key(principal.grant_id::text, kind), (limits #>> array[kind, 'at_most'])::integer,
      (limits #>> array[kind, 'seconds'])::double precision, at
    );
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  select * into strict organization from identity.organizations as o where o.id = principal.organization_id;
  if organization.deletes_at is not null then
    perform app.count_request(principal.grant_id::text, kind, limits, at);
    return jsonb_build_object(
      'outcome', 'organization_deleting', 'deletes_on', (organization.deletes_at at time zone 'UTC')::date,
      'organization', jsonb_build_object('id', organization.id, 'name', organization.name)
    );
  end if;
  if not identity.organization_has_feature(organization.id, 'ai:connector', at) then
    perform app.count_request(principal.grant_id::text, kind, limits, at);
    return jsonb_build_object(
      'outcome', 'feature_not_in_plan', 'required_plan', 'pro', 'plan', identity.effective_plan(organization, at),
      'owner', case when organization.owner_id <> principal.user_id then app.member_name(organization.owner_id) end,
      'organization', jsonb_build_object('id', organization.id, 'name', organization.name)
    );
  end if;
  return jsonb_build_object(
    'outcome', 'ok',
    'organization', jsonb_build_object('id', organization.id, 'name', organization.name),
    'claims', jsonb_build_object(
      'sub', principal.user_id, 'role', 'authenticated', 'organization_id', organization.id,
      'grant_id', principal.grant_id, 'client_name', principal.client_name
    )
  ) || case
    when principal.last_used_at > at - interval '1 hour' then '{}'
    else '{"first_use_in_hour": true}'
  end::jsonb;
end
$$;
comment on function app.authenticate is
  'Returns the person and rights of a bearer token at an instant, by its SHA-256 in hex: outcome ok, invalid_token, '
  'feature_not_in_plan, organization_deleting or limited. kind: read or write. limits: {"caller": quotas, "read": '
  '{"at_most","seconds"}, "write": …}; null for no limits.';
revoke all on function app.authenticate, app.quota_key from authenticated;
