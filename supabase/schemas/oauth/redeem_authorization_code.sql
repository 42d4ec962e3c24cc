create or replace function public.redeem_authorization_code(
  code_id uuid, code_expires_at timestamptz, client_id text, redirect_uri text, user_id uuid, organization_id text,
  resource text,
  access_token_hash text, refresh_token_hash text, at timestamptz, limits jsonb default null,
  access text default 'write'
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  new_grant oauth.grants;
  spent oauth.used_codes;
  is_member boolean;
  first_granted_at timestamptz;
  stays constant boolean := identity.hold_account(user_id);
begin
  select c.granted_at into first_granted_at
    from oauth.clients as c where c.client_id = redeem_authorization_code.client_id for key share;
  if not found then
    return oauth.refuse('unknown_client', client_id, limits, at);
  end if;
  -- Serializes the grants of a person in an organization, because they are counted below.
  perform from identity.memberships as m
  where m.organization_id = redeem_authorization_code.organization_id and m.user_id = redeem_authorization_code.user_id
    and identity.is_active(m.user_id, at)
  for no key update;
  is_member := found and stays;

  insert into oauth.used_codes as u (id, used_at, grant_id, code_expires_at)
    select code_id, at, gen_random_uuid(), code_expires_at where is_member
  on conflict on constraint used_codes_pkey do update set used_at = excluded.used_at, grant_id = excluded.grant_id
  where u.used_at is null and u.wrong_verifiers < 5
  returning u.* into spent;
  if not found then
    select * into spent from oauth.used_codes as u where u.id = code_id;
    if spent.used_at is null then
      return oauth.refuse(case when is_member then 'burnt' else 'not_a_member' end, client_id, limits, at);
    end if;
    -- The caller has proven the verifier: either the code leaked together with it, or the client is broken (RFC 6749
    -- section 4.1.2). This counts for suspended people too, who may return before the grant ends.
    perform oauth.end_grant(spent.grant_id, 'code_replayed', at);
    return oauth.refuse('replayed', client_id, limits, at);
  end if;

  insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at,
    access)
  values (spent.grant_id, client_id, user_id, organization_id, redirect_uri, resource, at, at + interval '180 days',
    access)
  returning * into new_grant;
  perform oauth.audit_grant(new_grant, 'grant.created', at);
  if first_granted_at is null then
    update oauth.clients as c set granted_at = at, registered_by = null
    where c.client_id = redeem_authorization_code.client_id and c.granted_at is null;
  end if;
  -- Clients that forget their grant, or request a new one at every start, leave old grants behind.
  perform oauth.end_grant(surplus.id, 'too_many', at)
  from (
    select g.id from oauth.grants as g
    where g.user_id = redeem_authorization_code.user_id
      and g.organization_id = redeem_authorization_code.organization_id
      and g.revoked_at is null and g.expires_at > at
    order by g.id = new_grant.id desc, coalesce(g.last_used_at, g.created_at) desc, g.created_at desc, g.id
    offset 20
  ) as surplus;
  return jsonb_build_object(
    'outcome', 'redeemed', 'grant_id', new_grant.id,
    'expires_in', oauth.issue_tokens(new_grant, access_token_hash, refresh_token_hash, at)
  );
end
$$;
comment on function public.redeem_authorization_code is
  'Spends a code that passed every check of its contents, and stores the grant and its first tokens: outcome '
  'redeemed, unknown_client, not_a_member, burnt, or replayed, which ends the grant of the first redemption.';

create or replace function public.count_wrong_verifier(code_id uuid, code_expires_at timestamptz, client_id text,
  at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  insert into oauth.used_codes as u (id, wrong_verifiers, code_expires_at)
  select code_id, 1, code_expires_at from oauth.clients as c where c.client_id = count_wrong_verifier.client_id
  on conflict on constraint used_codes_pkey do update set wrong_verifiers = u.wrong_verifiers + 1
  where u.used_at is null and u.wrong_verifiers < 5;
  return oauth.refuse('counted', client_id, limits, at);
end
$$;
comment on function public.count_wrong_verifier is
  'Counts a failed PKCE proof without spending the code, so that somebody who intercepted a code can neither use it '
  'nor end a session with it.';
