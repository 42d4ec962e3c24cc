create or replace function oauth.resolve_access_token(
  token_hash bytea, resource text, at timestamptz,
  out outcome text, out user_id uuid, out organization_id text, out grant_id uuid, out client_id text,
  out client_name text,
  out last_used_at timestamptz
) language plpgsql stable set search_path = '' as $$
begin
  select 'ok', g.user_id, g.organization_id, g.id, c.client_id, c.client_name, g.last_used_at
  into outcome, user_id, organization_id, grant_id, client_id, client_name, last_used_at
  from oauth.tokens as t
  join oauth.grants as g on g.id = t.grant_id
  join oauth.clients as c on c.client_id = g.client_id
  join identity.memberships as m on m.organization_id = g.organization_id and m.user_id = g.user_id
  where t.token_hash = resolve_access_token.token_hash and t.kind = 'access'
    and t.revoked_at is null and t.expires_at > at
    and g.revoked_at is null and g.resource = resolve_access_token.resource
    and identity.is_active(g.user_id, at);
  if not found then
    outcome := 'invalid_token';
  end if;
end
$$;
comment on function oauth.resolve_access_token is
  'Returns the person and grant of an access token: outcome ok, or only invalid_token. The caller checks the plan.';

create or replace function oauth.issue_tokens(of_grant oauth.grants, access_token_hash text, refresh_token_hash text,
  at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  access_expires_at timestamptz := least(at + interval '3600 seconds', of_grant.expires_at);
begin
  insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at) values
    (decode(access_token_hash, 'hex'), 'access', of_grant.id, at, access_expires_at),
    (decode(refresh_token_hash, 'hex'), 'refresh', of_grant.id, at,
      least(at + interval '30 days', of_grant.expires_at));
  return ceil(extract(epoch from access_expires_at - at));
end
$$;
comment on function oauth.issue_tokens is 'Stores a pair of tokens. Returns the access token''s lifetime in seconds.';
