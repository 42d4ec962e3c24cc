-- The authorization server's calls: one a request, the client looked up in the same transaction. Refusals are returned as outcomes, never
-- raised: a raise would undo the revocation that a replay must leave behind. Where two requests may meet, one conditional statement decides.
-- Any of them may answer {"outcome": "limited", "retry_after": seconds}. What `limits` and `quotas` name is drawn here, in the same call; without
-- them nothing is limited. A caller's bucket pays for refusals, a grant's for what it is given and a dead token's own for hearing that it is dead, so
-- that nobody who holds a good code or token is turned away because of what others sent: from the same address, or of what was theirs once.

create function oauth.refused(refusal jsonb, quotas jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wait constant integer := oauth.draw_quotas(quotas, at);
begin
  return case when wait = 0 then refusal else oauth.limited(wait) end;
end
$$;
comment on function oauth.refused is 'A refusal, paid for by these quotas; limited when they are used up.';
revoke all on function oauth.refused from public, anon, authenticated;
grant execute on function oauth.refused to service_role;

create function oauth.draw_allowance(subject text, limits jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
begin
  if limits -> 'grant' is null then
    return 0;
  end if;
  return oauth.draw_from_bucket(subject, (limits #>> '{grant,at_most}')::integer, (limits #>> '{grant,seconds}')::double precision, at);
end
$$;
comment on function oauth.draw_allowance is
  'Draws one from what a grant, or a token that died in it, may ask of the token endpoint: 0, or the seconds until it may again. subject: which of them.';
revoke all on function oauth.draw_allowance from public, anon, authenticated;
grant execute on function oauth.draw_allowance to service_role;

create function oauth.make_room(room jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  at_most constant integer := room ->> 'at_most';
  settling constant interval := make_interval(secs => (room ->> 'seconds')::double precision);
  caller constant text := room ->> 'caller';
  kept constant integer := coalesce((select u.kept from oauth.ungranted_counts as u where u.caller = '*'), 0);
  own constant integer := coalesce((select u.kept from oauth.ungranted_counts as u where u.caller = room ->> 'caller'), 0);
  oldest timestamptz;
begin
  if room is null then
    return 0;
  end if;
  -- A twentieth of what is free, so that callers together come near to everything and never get there; and one, whoever else is here.
  if caller is null or own < greatest(1, (at_most - kept) / 20.0) then
    if kept >= at_most then
      delete from oauth.clients as c where c.client_id = (
        select o.client_id from oauth.clients as o where o.granted_at is null order by o.created_at limit 1 for update skip locked
      );
    end if;
    return 0;
  end if;
  -- Over it, a caller makes room by its own. A person may be looking at the consent page of a new one.
  delete from oauth.clients as c where c.client_id = (
    select o.client_id from oauth.clients as o
    where o.granted_at is null and o.registered_by = caller and o.created_at <= at - settling
    order by o.created_at limit 1 for update skip locked
  );
  if found then
    return 0;
  end if;
  select min(c.created_at) into oldest from oauth.clients as c where c.registered_by = caller and c.granted_at is null;
  return greatest(1, ceil(extract(epoch from least(oldest + settling - at, settling))));
end
$$;
comment on function oauth.make_room is
  'Makes room for one more client that nobody has authorized, of {"caller","at_most","seconds"}: 0, or the seconds until there is. at_most are kept. A
   caller within its share takes the place of the oldest when they are all there; one over it takes its own oldest one''s, once that is so many seconds old.
   Callers that meet may exceed at_most by as many as they are.';
revoke all on function oauth.make_room from public, anon, authenticated;
grant execute on function oauth.make_room to service_role;

create function public.register_client(
  client_id text, client_name text, redirect_uris text[], at timestamptz, quotas jsonb default null, room jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wait integer := oauth.draw_quotas(quotas, at);
begin
  if wait = 0 then
    wait := oauth.make_room(room, at);
  end if;
  if wait > 0 then
    return oauth.limited(wait);
  end if;
  insert into oauth.clients (client_id, client_name, redirect_uris, registered_by, created_at)
  values (client_id, client_name, redirect_uris, room ->> 'caller', at);
  return '{"outcome": "registered"}';
end
$$;
comment on function public.register_client is
  'Stores a client that registered itself, under the id that the function made up, where oauth.make_room finds room. Registering the same twice makes two.';
revoke all on function public.register_client from public, anon, authenticated;
grant execute on function public.register_client to service_role;

create function public.find_client(client_id text, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return oauth.refused(case
    when exists (select from oauth.clients as c where c.client_id = find_client.client_id) then '{"outcome": "found"}'
    else '{"outcome": "unknown_client"}'
  end::jsonb, limits -> 'caller', at);
end
$$;
comment on function public.find_client is 'For requests that are refused whoever the client is: outcome found or unknown_client.';
revoke all on function public.find_client from public, anon, authenticated;
grant execute on function public.find_client to service_role;

create function oauth.consent_of(client_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'client', (
      select jsonb_build_object('client_id', c.client_id, 'client_name', c.client_name, 'redirect_uris', c.redirect_uris)
      from oauth.clients as c where c.client_id = consent_of.client_id
    ),
    'approved', (
      select coalesce(jsonb_agg(distinct g.redirect_uri), '[]')
      from oauth.grants as g
      where g.user_id = consent_of.user_id and g.client_id = consent_of.client_id and g.revoked_at is null
    ),
    'onboarded', exists (select from identity.profiles as p where p.user_id = consent_of.user_id and p.country is not null),
    'organizations', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'name', o.name, 'role', m.role, 'plan', identity.effective_plan(o, at),
        'has_connector', identity.organization_has_feature(o.id, 'ai:connector', at)
      ) order by m.created_at, o.id), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = consent_of.user_id and identity.is_active(m.user_id, at)
    )
  );
end
$$;
comment on function oauth.consent_of is 'All that an authorization request is judged by: the client (null when unknown) and, for a signed-in person, where they have it connected and their organizations.';
revoke all on function oauth.consent_of from public, anon, authenticated;
grant execute on function oauth.consent_of to service_role;

create function public.open_consent(client_id text, user_id uuid, at timestamptz, quotas jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wait constant integer := oauth.draw_quotas(quotas, at);
begin
  return case when wait = 0 then oauth.consent_of(client_id, user_id, at) else oauth.limited(wait) end;
end
$$;
comment on function public.open_consent is 'What an authorization request of a registered client is judged by: {"client","approved","onboarded","organizations"}.';
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
    and identity.is_active(m.user_id, at)
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
  access_token_hash text, refresh_token_hash text, at timestamptz, limits jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  new_grant oauth.grants;
  spent oauth.used_codes;
begin
  perform from oauth.clients as c where c.client_id = redeem_authorization_code.client_id for key share;
  if not found then
    return oauth.refused('{"outcome": "unknown_client"}', limits -> 'caller', at);
  end if;
  -- One at a time of a person in an organization: their grants are counted below.
  perform from identity.memberships as m
  where m.organization_id = redeem_authorization_code.organization_id and m.user_id = redeem_authorization_code.user_id
    and identity.is_active(m.user_id, at)
  for no key update;
  if not found then
    return oauth.refused('{"outcome": "not_a_member"}', limits -> 'caller', at);
  end if;

  insert into oauth.used_codes as u (id, used_at, grant_id, code_expires_at) values (code_id, at, gen_random_uuid(), code_expires_at)
  on conflict on constraint used_codes_pkey do update set used_at = excluded.used_at, grant_id = excluded.grant_id
  where u.used_at is null and u.wrong_verifiers < 5
  returning u.* into spent;
  if not found then
    select * into strict spent from oauth.used_codes as u where u.id = code_id;
    if spent.used_at is null then
      return oauth.refused('{"outcome": "burnt"}', limits -> 'caller', at);
    end if;
    -- Whoever gets here has proven the verifier: the code leaked together with it, or the client is broken (RFC 6749 section 4.1.2).
    perform oauth.end_grant(spent.grant_id, 'code_replayed', at);
    return oauth.refused('{"outcome": "replayed"}', limits -> 'caller', at);
  end if;

  insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
  values (spent.grant_id, client_id, user_id, organization_id, redirect_uri, resource, at, at + interval '180 days')
  returning * into new_grant;
  perform oauth.audit_grant(new_grant, 'grant.created', at);
  update oauth.clients as c set granted_at = at, registered_by = null
  where c.client_id = redeem_authorization_code.client_id and c.granted_at is null;
  -- Clients that forget their grant, or take a new one with every start, leave the old ones behind.
  perform oauth.end_grant(surplus.id, 'too_many', at)
  from (
    select g.id from oauth.grants as g
    where g.user_id = redeem_authorization_code.user_id and g.organization_id = redeem_authorization_code.organization_id
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
  'Spends a code that passed every check of its contents, and stores the grant and its first tokens: outcome redeemed, unknown_client,
   not_a_member, burnt, or replayed, which ends the grant that the code was first redeemed for.';
revoke all on function public.redeem_authorization_code from public, anon, authenticated;
grant execute on function public.redeem_authorization_code to service_role;

create function public.count_wrong_verifier(code_id uuid, code_expires_at timestamptz, client_id text, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not exists (select from oauth.clients as c where c.client_id = count_wrong_verifier.client_id) then
    return oauth.refused('{"outcome": "unknown_client"}', limits -> 'caller', at);
  end if;
  insert into oauth.used_codes as u (id, wrong_verifiers, code_expires_at) values (code_id, 1, code_expires_at)
  on conflict on constraint used_codes_pkey do update set wrong_verifiers = u.wrong_verifiers + 1
  where u.used_at is null and u.wrong_verifiers < 5;
  return oauth.refused('{"outcome": "counted"}', limits -> 'caller', at);
end
$$;
comment on function public.count_wrong_verifier is
  'Counts a failed PKCE proof without spending the code: whoever saw a code in transit must be able neither to use it nor to end a session by it.';
revoke all on function public.count_wrong_verifier from public, anon, authenticated;
grant execute on function public.count_wrong_verifier to service_role;

create function public.rotate_refresh_token(
  token_hash text, client_id text, successor_hash text, access_token_hash text, at timestamptz, limits jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  old oauth.tokens;
  of_grant oauth.grants;
  successor oauth.tokens;
  is_suspended boolean;
  wait integer;
begin
  if not exists (select from oauth.clients as c where c.client_id = rotate_refresh_token.client_id) then
    return oauth.refused('{"outcome": "unknown_client"}', limits -> 'caller', at);
  end if;

  -- Of all who present it at once, one gets the row while it is not rotated yet; the others wait here and then find that it is.
  select t.* into old
  from oauth.tokens as t join oauth.grants as g on g.id = t.grant_id
  where t.token_hash = decode(rotate_refresh_token.token_hash, 'hex') and t.kind = 'refresh'
    and t.rotated_at is null and t.expires_at > at
    and g.client_id = rotate_refresh_token.client_id and g.revoked_at is null
    and identity.is_active(g.user_id, at)
  for no key update of t;
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
    return oauth.refused('{"outcome": "unknown_token"}', limits -> 'caller', at);
  end if;
  -- A dead token of a living client must be told so, whatever comes from the same address; one that keeps asking waits on its own account.
  is_suspended := not identity.is_active(of_grant.user_id, at);
  if of_grant.revoked_at is not null or old.expires_at <= at or is_suspended then
    wait := oauth.draw_allowance('token_dead:' || token_hash, limits, at);
    if wait > 0 then
      return oauth.limited(wait);
    end if;
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
  if is_suspended then
    -- Not rotated either: the token is as good as before when the ban ends.
    return jsonb_build_object('outcome', 'suspended', 'grant_id', of_grant.id);
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
   expired, suspended (the person is), superseded (the successor was used). Outcome replayed: reuse after the grace period, which ends the grant (RFC 9700 section 4.14.2).';
revoke all on function public.rotate_refresh_token from public, anon, authenticated;
grant execute on function public.rotate_refresh_token to service_role;

create function public.revoke_token(token_hash text, client_id text, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  token oauth.tokens;
begin
  if not exists (select from oauth.clients as c where c.client_id = revoke_token.client_id) then
    return oauth.refused('{"outcome": "unknown_client"}', limits -> 'caller', at);
  end if;
  select t.* into token
  from oauth.tokens as t
  join oauth.grants as g on g.id = t.grant_id
  where t.token_hash = decode(revoke_token.token_hash, 'hex') and g.client_id = revoke_token.client_id;
  if not found then
    return oauth.refused('{"outcome": "unknown_token"}', limits -> 'caller', at);
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

create function public.list_grant_alerts(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'grant_id', g.id, 'client_name', c.client_name, 'organization_name', o.name, 'ended_at', g.revoked_at, 'reason', g.revocation_reason
    ) order by g.revoked_at desc, g.id), '[]')
    from oauth.grants as g
    join oauth.clients as c on c.client_id = g.client_id
    join identity.organizations as o on o.id = g.organization_id
    where g.user_id = list_grant_alerts.user_id and g.revocation_reason in ('code_replayed', 'refresh_token_replayed') and g.alert_seen_at is null
  );
end
$$;
comment on function public.list_grant_alerts is 'The grants of a person that ended because a code or token of theirs came back, until the person has said that they know: an array, newest first.';
revoke all on function public.list_grant_alerts from public, anon, authenticated;
grant execute on function public.list_grant_alerts to service_role;

create function public.dismiss_grant_alerts(user_id uuid, until timestamptz, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update oauth.grants as g set alert_seen_at = at
  where g.user_id = dismiss_grant_alerts.user_id and g.revocation_reason in ('code_replayed', 'refresh_token_replayed')
    and g.alert_seen_at is null and g.revoked_at <= until;
  return '{"outcome": "dismissed"}';
end
$$;
comment on function public.dismiss_grant_alerts is 'Notes that a person has seen the alerts of grants that ended until an instant; later ones stay.';
revoke all on function public.dismiss_grant_alerts from public, anon, authenticated;
grant execute on function public.dismiss_grant_alerts to service_role;

create function public.record_use(token_hash text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update oauth.grants as g set last_used_at = at
  where g.id = (select t.grant_id from oauth.tokens as t where t.token_hash = decode(record_use.token_hash, 'hex') and t.kind = 'access')
    and (g.last_used_at is null or g.last_used_at <= at - interval '1 hour');
  return jsonb_build_object('outcome', case when found then 'recorded' else 'recent' end);
end
$$;
comment on function public.record_use is 'Notes that the client of an access token is in use, at most once an hour a grant: outcome recorded or recent.';
revoke all on function public.record_use from public, anon, authenticated;
grant execute on function public.record_use to service_role;

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
