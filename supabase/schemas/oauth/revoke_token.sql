create or replace function public.revoke_token(token_hash text, client_id text, at timestamptz,
  limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  token oauth.tokens;
begin
  select t.* into token
  from oauth.tokens as t
  join oauth.grants as g on g.id = t.grant_id
  where t.token_hash = decode(revoke_token.token_hash, 'hex') and g.client_id = revoke_token.client_id;
  if not found then
    return oauth.refuse('unknown_token', client_id, limits, at);
  end if;
  if token.kind = 'refresh' then
    perform oauth.end_grant(token.grant_id, 'revoked_by_client', at);
  else
    update oauth.tokens as t set revoked_at = at where t.token_hash = token.token_hash and t.revoked_at is null;
  end if;
  return jsonb_build_object('outcome', 'revoked', 'grant_id', token.grant_id);
end
$$;
comment on function public.revoke_token is
  'RFC 7009: a refresh token ends its grant, an access token only itself. Outcome revoked, unknown_client, or '
  'unknown_token (also for another client''s).';
