-- The authorization server's calls: one a request, the client looked up in the same transaction. Refusals are returned as outcomes, never
-- raised: a raise would undo the revocation that a replay must leave behind. Where two requests may meet, one conditional statement decides.

create function public.register_client(client_id text, client_name text, redirect_uris text[], at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  insert into oauth.clients (client_id, client_name, redirect_uris, created_at) values (client_id, client_name, redirect_uris, at);
  return '{"outcome": "registered"}';
end
$$;
comment on function public.register_client is 'Stores a client that registered itself, under the id that the function made up.';
revoke all on function public.register_client from public, anon, authenticated;
grant execute on function public.register_client to service_role;

create function public.find_client(client_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when exists (select from oauth.clients as c where c.client_id = find_client.client_id) then '{"outcome": "found"}'
    else '{"outcome": "unknown_client"}'
  end::jsonb;
end
$$;
comment on function public.find_client is 'Whether there is such a client: outcome found or unknown_client.';
revoke all on function public.find_client from public, anon, authenticated;
grant execute on function public.find_client to service_role;

create function public.open_consent(client_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'client', (
      select jsonb_build_object('client_id', c.client_id, 'client_name', c.client_name, 'redirect_uris', c.redirect_uris)
      from oauth.clients as c where c.client_id = open_consent.client_id
    ),
    'onboarded', exists (select from identity.profiles as p where p.user_id = open_consent.user_id and p.country is not null),
    'organizations', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'name', o.name, 'role', m.role, 'plan', identity.effective_plan(o, at),
        'has_connector', identity.organization_has_feature(o.id, 'ai:connector', at)
      ) order by m.created_at, o.id), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = open_consent.user_id
    )
  );
end
$$;
comment on function public.open_consent is 'All that an authorization request is judged by: the client (null when unknown) and, for a signed-in person, their organizations.';
revoke all on function public.open_consent from public, anon, authenticated;
grant execute on function public.open_consent to service_role;

create function public.approve_consent(consent_id uuid, client_id text, user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  earlier oauth.consents;
begin
  if not exists (select from oauth.clients as c where c.client_id = approve_consent.client_id) then
    return '{"outcome": "unknown_client"}';
  end if;
  -- The lock keeps the membership until the row below refers to it.
  perform from identity.memberships as m
  where m.organization_id = approve_consent.organization_id and m.user_id = approve_consent.user_id
  for key share;
  if not found then
    return '{"outcome": "not_a_member"}';
  end if;
  if not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return '{"outcome": "feature_not_in_plan"}';
  end if;

  insert into oauth.consents (id, user_id, organization_id, approved_at) values (consent_id, user_id, organization_id, at)
  on conflict on constraint consents_pkey do nothing;
  if found then
    return jsonb_build_object('outcome', 'approved', 'organization_id', organization_id, 'approved_at', at);
  end if;
  select * into strict earlier from oauth.consents as c where c.id = consent_id;
  if earlier.approved_at + interval '30 seconds' < at
    or exists (select from oauth.used_codes as u where u.id = consent_id and u.used_at is not null) then
    return '{"outcome": "already_decided"}';
  end if;
  return jsonb_build_object('outcome', 'approved', 'organization_id', earlier.organization_id, 'approved_at', earlier.approved_at);
end
$$;
comment on function public.approve_consent is
  'Records that a consent page was answered with Allow: outcome approved (again, for 30 seconds while the code is unused: the first answer),
   already_decided, unknown_client, not_a_member or feature_not_in_plan.';
revoke all on function public.approve_consent from public, anon, authenticated;
grant execute on function public.approve_consent to service_role;

create function public.redeem_authorization_code(
  code_id uuid, code_expires_at timestamptz, client_id text, redirect_uri text, user_id uuid, organization_id text, resource text,
  access_token_hash text, refresh_token_hash text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  new_grant oauth.grants;
  spent oauth.used_codes;
begin
  perform from oauth.clients as c where c.client_id = redeem_authorization_code.client_id for key share;
  if not found then
    return '{"outcome": "unknown_client"}';
  end if;
  perform from identity.memberships as m
  where m.organization_id = redeem_authorization_code.organization_id and m.user_id = redeem_authorization_code.user_id
  for key share;
  if not found then
    return '{"outcome": "not_a_member"}';
  end if;

  insert into oauth.used_codes as u (id, used_at, grant_id, code_expires_at) values (code_id, at, gen_random_uuid(), code_expires_at)
  on conflict on constraint used_codes_pkey do update set used_at = excluded.used_at, grant_id = excluded.grant_id
  where u.used_at is null and u.wrong_verifiers < 5
  returning u.* into spent;
  if not found then
    select * into strict spent from oauth.used_codes as u where u.id = code_id;
    if spent.used_at is null then
      return '{"outcome": "burnt"}';
    end if;
    -- Whoever gets here has proven the verifier: the code leaked together with it, or the client is broken (RFC 6749 section 4.1.2).
    perform oauth.end_grant(spent.grant_id, 'code_replayed', at);
    return '{"outcome": "replayed"}';
  end if;

  insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
  values (spent.grant_id, client_id, user_id, organization_id, redirect_uri, resource, at, at + interval '180 days')
  returning * into new_grant;
  perform oauth.audit_grant(new_grant, 'grant.created', at);
  return jsonb_build_object(
    'outcome', 'redeemed', 'grant_id', new_grant.id,
    'expires_in', oauth.issue_tokens(new_grant, access_token_hash, refresh_token_hash, at)
  );
end
$$;
comment on function public.redeem_authorization_code is
  'Spends a code that passed every check of its contents, and stores the grant and its first tokens: outcome redeemed, unknown_client,
   not_a_member, burnt, or replayed, which ends the grant that the code was first redeemed for.';
revoke all on function public.redeem_authorization_code from public, anon, authenticated;
grant execute on function public.redeem_authorization_code to service_role;

create function public.count_wrong_verifier(code_id uuid, code_expires_at timestamptz, client_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not exists (select from oauth.clients as c where c.client_id = count_wrong_verifier.client_id) then
    return '{"outcome": "unknown_client"}';
  end if;
  insert into oauth.used_codes as u (id, wrong_verifiers, code_expires_at) values (code_id, 1, code_expires_at)
  on conflict on constraint used_codes_pkey do update set wrong_verifiers = u.wrong_verifiers + 1
  where u.used_at is null and u.wrong_verifiers < 5;
  return '{"outcome": "counted"}';
end
$$;
comment on function public.count_wrong_verifier is
  'Counts a failed PKCE proof without spending the code: whoever saw a code in transit must be able neither to use it nor to end a session by it.';
revoke all on function public.count_wrong_verifier from public, anon, authenticated;
grant execute on function public.count_wrong_verifier to service_role;

create function public.rotate_refresh_token(
  token_hash text, client_id text, successor_hash text, access_token_hash text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  old oauth.tokens;
  of_grant oauth.grants;
  successor oauth.tokens;
begin
  if not exists (select from oauth.clients as c where c.client_id = rotate_refresh_token.client_id) then
    return '{"outcome": "unknown_client"}';
  end if;

  update oauth.tokens as t set rotated_at = at, successor_hash = decode(rotate_refresh_token.successor_hash, 'hex')
  from oauth.grants as g
  where t.token_hash = decode(rotate_refresh_token.token_hash, 'hex') and t.kind = 'refresh'
    and t.rotated_at is null and t.expires_at > at
    and g.id = t.grant_id and g.client_id = rotate_refresh_token.client_id and g.revoked_at is null
  returning t.grant_id into old.grant_id;
  if found then
    update oauth.grants as g set last_used_at = at where g.id = old.grant_id returning g.* into of_grant;
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
    return '{"outcome": "unknown_token"}';
  end if;
  if of_grant.revoked_at is not null then
    return jsonb_build_object('outcome', 'revoked', 'grant_id', of_grant.id);
  end if;
  if old.expires_at <= at then
    return jsonb_build_object('outcome', 'expired', 'grant_id', of_grant.id);
  end if;
  if old.rotated_at + interval '60 seconds' < at then
    perform oauth.end_grant(of_grant.id, 'refresh_token_replayed', at);
    return jsonb_build_object('outcome', 'replayed', 'grant_id', of_grant.id);
  end if;

  -- Processes that share a login refresh at the same time, and answers get lost: within the grace period a retry gets the same successor.
  select t.* into strict successor from oauth.tokens as t where t.token_hash = old.successor_hash;
  if successor.rotated_at is not null then
    return jsonb_build_object('outcome', 'superseded', 'grant_id', of_grant.id);
  end if;
  return jsonb_build_object(
    'outcome', 'rotated', 'grant_id', of_grant.id, 'successor_hash', encode(old.successor_hash, 'hex'),
    'expires_in', ceil(extract(epoch from least(successor.issued_at + interval '3600 seconds', of_grant.expires_at) - at))::integer
  );
end
$$;
comment on function public.rotate_refresh_token is
  'Exchanges a refresh token for the successor derived from it. Outcome rotated: with the successor that stands, which for 60 seconds is
   the same however often it is asked for. Outcomes without effect: unknown_client, unknown_token (also another client''s), revoked,
   expired, superseded (the successor was used). Outcome replayed: reuse after the grace period, which ends the grant (RFC 9700 section 4.14.2).';
revoke all on function public.rotate_refresh_token from public, anon, authenticated;
grant execute on function public.rotate_refresh_token to service_role;

create function public.revoke_token(token_hash text, client_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  token oauth.tokens;
begin
  if not exists (select from oauth.clients as c where c.client_id = revoke_token.client_id) then
    return '{"outcome": "unknown_client"}';
  end if;
  select t.* into token
  from oauth.tokens as t
  join oauth.grants as g on g.id = t.grant_id
  where t.token_hash = decode(revoke_token.token_hash, 'hex') and g.client_id = revoke_token.client_id;
  if not found then
    return '{"outcome": "unknown_token"}';
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
  'RFC 7009: a refresh token ends its grant, an access token only itself. Outcome revoked, unknown_client, or unknown_token, also for another client''s.';
revoke all on function public.revoke_token from public, anon, authenticated;
grant execute on function public.revoke_token to service_role;

create function public.list_connected_apps(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'grant_id', g.id, 'client_id', c.client_id, 'client_name', c.client_name, 'redirect_uri', g.redirect_uri,
      'organization_id', o.id, 'organization_name', o.name, 'created_at', g.created_at, 'last_used_at', g.last_used_at
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
comment on function public.list_connected_apps is 'The grants of a person that still hold a live token, newest first: an array for the account page.';
revoke all on function public.list_connected_apps from public, anon, authenticated;
grant execute on function public.list_connected_apps to service_role;

create function public.revoke_grant(user_id uuid, grant_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if exists (select from oauth.grants as g where g.id = revoke_grant.grant_id and g.user_id = revoke_grant.user_id)
    and oauth.end_grant(grant_id, 'revoked_by_user', at) then
    return '{"outcome": "revoked"}';
  end if;
  return '{"outcome": "unknown_grant"}';
end
$$;
comment on function public.revoke_grant is 'Disconnects an app on its owner''s word: outcome revoked, or unknown_grant, also for another person''s and for one that has ended.';
revoke all on function public.revoke_grant from public, anon, authenticated;
grant execute on function public.revoke_grant to service_role;

create function public.ping() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return true;
end
$$;
comment on function public.ping is 'Answers: the authorization server''s health check asks.';
revoke all on function public.ping from public, anon, authenticated;
grant execute on function public.ping to service_role;
