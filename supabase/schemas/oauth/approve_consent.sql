create or replace function oauth.consent_of(client_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'client', (
      select
        jsonb_build_object('client_id', c.client_id, 'client_name', c.client_name, 'redirect_uris', c.redirect_uris)
      from oauth.clients as c where c.client_id = consent_of.client_id
    ),
    'approved', (
      select coalesce(jsonb_agg(distinct g.redirect_uri), '[]')
      from oauth.grants as g
      where g.user_id = consent_of.user_id and g.client_id = consent_of.client_id and g.revoked_at is null
    ),
    'narrowed', exists (
      select from oauth.grants as g
      where g.user_id = consent_of.user_id and g.client_id = consent_of.client_id and g.access = 'read'
        and g.revoked_at is null and g.expires_at > consent_of.at
    ),
    'onboarded',
    exists (select from identity.profiles as p where p.user_id = consent_of.user_id and p.country is not null),
    'plans_enabled', billing.plans_enabled(),
    'organizations', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'name', o.name, 'role', m.role, 'plan', identity.effective_plan(o, at),
        'has_connector', identity.organization_has_feature(o.id, 'ai:connector', at),
        'may_decide', o.assistants_may_approve and identity.member_may(o.id, m.user_id, 'approvals:decide'),
        'trial_ended_at', case when o.trial_ends_at <= at then o.trial_ends_at end
      ) order by m.created_at, o.id), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = consent_of.user_id and identity.is_active(m.user_id, at)
    )
  );
end
$$;
comment on function oauth.consent_of is
  'Returns the data for judging an authorization request: the client (null when unknown) and, for a signed-in person, '
  'their organizations, their connections of this client, and whether one of these is read-only.';

create or replace function public.open_consent(client_id text, user_id uuid, at timestamptz, quotas jsonb default null)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return coalesce(oauth.limited(oauth.draw_quotas(quotas, at)), oauth.consent_of(client_id, user_id, at));
end
$$;
comment on function public.open_consent is
  'Returns the data for judging an authorization request of a registered client: '
  '{"client","approved","narrowed","onboarded","plans_enabled","organizations"}.';

create or replace function public.approve_consent(consent_id uuid, client_id text, user_id uuid, organization_id text,
  at timestamptz, access text default 'write') returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  consent oauth.consents;
begin
  if not exists (select from oauth.clients as c where c.client_id = approve_consent.client_id) then
    return '{"outcome": "unknown_client"}';
  end if;
  if not identity.hold_account(user_id) then
    return '{"outcome": "not_a_member"}';
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

  insert into oauth.consents (id, user_id, organization_id, approved_at, access)
    values (consent_id, user_id, organization_id, at, access)
  on conflict on constraint consents_pkey do nothing;
  select * into strict consent from oauth.consents as c where c.id = consent_id;
  if consent.approved_at + interval '30 seconds' < at
    or exists (select from oauth.used_codes as u where u.id = consent_id and u.used_at is not null) then
    return '{"outcome": "already_decided"}';
  end if;
  return jsonb_build_object('outcome', 'approved', 'organization_id', consent.organization_id, 'approved_at',
    consent.approved_at, 'access', consent.access);
end
$$;
comment on function public.approve_consent is
  'Records that a person clicked Allow on a consent page: outcome approved (for 30 seconds and while the code is '
  'unused, a repetition returns the first answer), already_decided, unknown_client, not_a_member or '
  'feature_not_in_plan.';
