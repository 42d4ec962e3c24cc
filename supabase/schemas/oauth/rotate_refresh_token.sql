create or replace function public.rotate_refresh_token(
  token_hash text, client_id text, successor_hash text, access_token_hash text, at timestamptz,
  limits jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  old oauth.tokens;
  of_grant oauth.grants;
  successor oauth.tokens;
  outcome text;
  wait integer;
begin
  -- One of several concurrent callers gets the unrotated row; the others wait here and then find it rotated.
  select t.* into old
  from oauth.tokens as t join oauth.grants as g on g.id = t.grant_id
  where t.token_hash = decode(rotate_refresh_token.token_hash, 'hex') and t.kind = 'refresh'
    and t.rotated_at is null and t.expires_at > at
    and g.client_id = rotate_refresh_token.client_id and g.revoked_at is null
    and identity.is_active(g.user_id, at)
  -- Locks the grant first, like everything that ends grants.
  for key share of g for no key update of t;
  if found then
    wait := oauth.draw_allowance('token_grant:' || old.grant_id, limits, at);
    if wait > 0 then
      return oauth.limited(wait);
    end if;
    update oauth.tokens as t set rotated_at = at, successor_hash = decode(rotate_refresh_token.successor_hash, 'hex')
    where t.token_hash = old.token_hash;
    select g.* into strict of_grant from oauth.grants as g where g.id = old.grant_id;
    return jsonb_build_object(
      'outcome', 'rotated', 'grant_id', of_grant.id, 'successor_hash', successor_hash,
      'expires_in', oauth.issue_tokens(of_grant, access_token_hash, successor_hash, at)
    );
  end if;

  select t.* into old from oauth.tokens as t
  where t.token_hash = decode(rotate_refresh_token.token_hash, 'hex') and t.kind = 'refresh';
  select g.* into of_grant from oauth.grants as g
  where g.id = old.grant_id and g.client_id = rotate_refresh_token.client_id;
  if of_grant.id is null then
    return oauth.refuse('unknown_token', client_id, limits, at);
  end if;
  outcome := case
    when of_grant.revoked_at is not null then 'revoked'
    when old.expires_at <= at then 'expired'
    -- Two parties hold the token: a client that retries does not know the successor, so it cannot have used it.
    when old.rotated_at + interval '60 seconds' < at
      or exists (select from oauth.tokens as t where t.token_hash = old.successor_hash and t.rotated_at is not null)
      then 'replayed'
    -- A suspended person's token is not rotated, so it works again after the ban.
    when not identity.is_active(of_grant.user_id, at) then 'suspended'
  end;
  if outcome = 'replayed' then
    perform oauth.end_grant(of_grant.id, 'refresh_token_replayed', at);
  elsif outcome is not null then
    -- A client with an invalid token must get the refusal, regardless of other requests from its address. A client that
    -- repeats the request draws from its own bucket.
    wait := oauth.draw_allowance('token_dead:' || token_hash, limits, at);
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  else
    -- Processes that share a login refresh at the same time, and answers get lost, so a retry within the grace period
    -- gets the same successor.
    select t.* into strict successor from oauth.tokens as t where t.token_hash = old.successor_hash;
    return jsonb_build_object(
      'outcome', 'rotated', 'grant_id', of_grant.id, 'successor_hash', encode(old.successor_hash, 'hex'),
      'expires_in', ceil(
        extract(epoch from least(successor.issued_at + interval '3600 seconds', of_grant.expires_at) - at))::integer
    );
  end if;
  return jsonb_build_object('outcome', outcome, 'grant_id', of_grant.id);
end
$$;
comment on function public.rotate_refresh_token is
  'Exchanges a refresh token for the successor derived from it. Outcome rotated: every retry within 60 seconds gets '
  'the same successor until it is used. Outcomes without effect: unknown_client, unknown_token (also another '
  'client''s), revoked, expired, suspended (the person). Outcome replayed: reuse after the grace period or after the '
  'successor was used, which ends the grant (RFC 9700 section 4.14.2).';
