-- OAuth: which clients may ask, what a person decided and granted, which codes are spent, which tokens live.
-- Invariants: neither tokens nor codes are stored, only SHA-256 digests and code ids; a grant cannot outlive the membership it was
-- given under; a code is redeemed once; a refresh token has one successor. Refusals are returned, never raised: a raise would undo
-- the revocation that a replay must leave behind. Row-level security is on without policies: these tables are the service's own.

create table oauth.clients (
  client_id text primary key constraint clients_client_id_format check (client_id ~ '^(client_|https://)' and length(client_id) <= 2048),
  client_name text not null constraint clients_client_name_length check (length(client_name) between 1 and 200),
  redirect_uris text[] not null constraint clients_redirect_uris_count check (cardinality(redirect_uris) between 1 and 10),
  created_at timestamptz not null
);
comment on table oauth.clients is 'Public clients: self-registered (RFC 7591). They have no secret, and what they say of themselves is unverified.';
comment on column oauth.clients.client_id is 'client_… as issued at registration.';
comment on column oauth.clients.client_name is 'As the client calls itself, without control and direction marks.';
comment on column oauth.clients.redirect_uris is 'Compared exactly, but for the port of http on loopback (RFC 8252 section 7.3).';

create table oauth.grants (
  id uuid primary key default gen_random_uuid(),
  client_id text not null constraint grants_client_id_fkey references oauth.clients (client_id) on delete cascade,
  user_id uuid not null,
  organization_id text not null,
  redirect_uri text not null,
  resource text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revocation_reason text constraint grants_revocation_reason_known
    check (revocation_reason in ('code_replayed', 'refresh_token_replayed', 'revoked_by_client', 'revoked_by_user')),
  constraint grants_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint grants_revocation_explained check ((revoked_at is null) = (revocation_reason is null))
);
comment on table oauth.grants is 'One consent: what one person allowed one client to do in one organization. Grants to the same client live side by side.';
comment on column oauth.grants.redirect_uri is 'Where the code was sent; tells installations of one client apart on the account page.';
comment on column oauth.grants.resource is 'The canonical resource identifier; tokens are good for nothing else (RFC 8707).';
comment on column oauth.grants.expires_at is 'The end of every token of the grant, however often it was refreshed.';
comment on column oauth.grants.last_used_at is 'When the client last renewed its tokens; null when it never has.';
create index grants_client_id_idx on oauth.grants (client_id);
create index grants_membership_idx on oauth.grants (user_id, organization_id);

create table oauth.consents (
  id uuid primary key,
  user_id uuid not null,
  organization_id text not null,
  approved_at timestamptz not null,
  constraint consents_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade
);
comment on table oauth.consents is 'Consent pages that were answered with Allow, so that a second press gets the same answer or none. Of no use after an hour.';
comment on column oauth.consents.id is 'Id of the signed page, and of the authorization code that it led to.';
create index consents_membership_idx on oauth.consents (user_id, organization_id);

create table oauth.used_codes (
  id uuid primary key,
  used_at timestamptz,
  wrong_verifiers smallint not null default 0 constraint used_codes_wrong_verifiers_range check (wrong_verifiers between 0 and 5),
  -- Deferred: the code is spent first, in the one statement that decides a race, and the grant follows in the same transaction.
  grant_id uuid constraint used_codes_grant_id_fkey references oauth.grants (id) on delete set null deferrable initially deferred,
  code_expires_at timestamptz not null
);
comment on table oauth.used_codes is 'Authorization codes that were redeemed or guessed at. The codes themselves are signed and self-contained.';
comment on column oauth.used_codes.wrong_verifiers is 'Failed PKCE proofs; the fifth burns the code.';
comment on column oauth.used_codes.grant_id is 'What the code was redeemed for; a replay ends it.';
comment on column oauth.used_codes.code_expires_at is 'After that the signature alone refuses the code and the row may go.';
create index used_codes_grant_id_idx on oauth.used_codes (grant_id);

create table oauth.tokens (
  token_hash bytea primary key constraint tokens_token_hash_length check (octet_length(token_hash) = 32),
  kind text not null constraint tokens_kind_known check (kind in ('access', 'refresh')),
  grant_id uuid not null constraint tokens_grant_id_fkey references oauth.grants (id) on delete cascade,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  rotated_at timestamptz,
  successor_hash bytea constraint tokens_successor_hash_length check (octet_length(successor_hash) = 32),
  constraint tokens_rotation_complete check ((rotated_at is null) = (successor_hash is null)),
  constraint tokens_rotation_of_refresh check (kind = 'refresh' or rotated_at is null)
);
comment on table oauth.tokens is 'Bearer tokens by SHA-256. Whom they speak for stands in the grant.';
comment on column oauth.tokens.rotated_at is 'When a refresh token was exchanged; from then on only a retry within the grace period is answered.';
comment on column oauth.tokens.successor_hash is 'The refresh token it was exchanged for, which the function derives again from the presented one.';
create index tokens_grant_id_idx on oauth.tokens (grant_id);

alter table oauth.clients enable row level security;
alter table oauth.grants enable row level security;
alter table oauth.consents enable row level security;
alter table oauth.used_codes enable row level security;
alter table oauth.tokens enable row level security;
grant select, insert, update, delete on oauth.clients, oauth.grants, oauth.consents, oauth.used_codes, oauth.tokens to service_role;

create function oauth.resolve_access_token(
  token_hash bytea, resource text, at timestamptz,
  out outcome text, out user_id uuid, out organization_id text, out grant_id uuid, out client_id text, out client_name text
) language plpgsql stable set search_path = '' as $$
begin
  select 'ok', g.user_id, g.organization_id, g.id, c.client_id, c.client_name
  into outcome, user_id, organization_id, grant_id, client_id, client_name
  from oauth.tokens as t
  join oauth.grants as g on g.id = t.grant_id
  join oauth.clients as c on c.client_id = g.client_id
  join identity.memberships as m on m.organization_id = g.organization_id and m.user_id = g.user_id
  where t.token_hash = resolve_access_token.token_hash and t.kind = 'access'
    and t.revoked_at is null and t.expires_at > at
    and g.revoked_at is null and g.expires_at > at
    and g.resource = resolve_access_token.resource;
  if not found then
    outcome := 'invalid_token';
  end if;
end
$$;
comment on function oauth.resolve_access_token is 'Whom an access token speaks for: outcome ok, or invalid_token and nothing else. The plan is the caller''s to judge.';
revoke all on function oauth.resolve_access_token from public, anon, authenticated;
grant execute on function oauth.resolve_access_token to service_role;

create function oauth.issue_tokens(of_grant oauth.grants, access_token_hash text, refresh_token_hash text, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  access_expires_at timestamptz := least(at + interval '3600 seconds', of_grant.expires_at);
begin
  insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at) values
    (decode(access_token_hash, 'hex'), 'access', of_grant.id, at, access_expires_at),
    (decode(refresh_token_hash, 'hex'), 'refresh', of_grant.id, at, least(at + interval '30 days', of_grant.expires_at));
  return ceil(extract(epoch from access_expires_at - at));
end
$$;
comment on function oauth.issue_tokens is 'Stores a pair of tokens and answers the access token''s lifetime in seconds.';
revoke all on function oauth.issue_tokens from public, anon, authenticated;
grant execute on function oauth.issue_tokens to service_role;

create function oauth.audit_grant(of_grant oauth.grants, event text, at timestamptz) returns void
language sql volatile set search_path = '' as $$
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  select at, of_grant.user_id, of_grant.organization_id, event, jsonb_strip_nulls(jsonb_build_object(
    'grant_id', of_grant.id, 'client_id', of_grant.client_id, 'reason', of_grant.revocation_reason,
    'client_name', (select c.client_name from oauth.clients as c where c.client_id = of_grant.client_id)
  ))
$$;
comment on function oauth.audit_grant is 'Writes down what happened to a grant; of a revocation also why.';
revoke all on function oauth.audit_grant from public, anon, authenticated;
grant execute on function oauth.audit_grant to service_role;

create function oauth.end_grant(grant_id uuid, reason text, at timestamptz) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  ended oauth.grants;
begin
  update oauth.grants as g set revoked_at = at, revocation_reason = reason
  where g.id = end_grant.grant_id and g.revoked_at is null
  returning g.* into ended;
  if not found then
    return false;
  end if;
  perform oauth.audit_grant(ended, 'grant.revoked', at);
  return true;
end
$$;
comment on function oauth.end_grant is 'Ends a grant and with it all its tokens; false when it had ended before.';
revoke all on function oauth.end_grant from public, anon, authenticated;
grant execute on function oauth.end_grant to service_role;

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
    and g.id = t.grant_id and g.client_id = rotate_refresh_token.client_id
    and g.revoked_at is null and g.expires_at > at
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
  if least(old.expires_at, of_grant.expires_at) <= at then
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
    where g.user_id = list_connected_apps.user_id and g.revoked_at is null and g.expires_at > at
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
