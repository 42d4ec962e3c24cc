create table identity.audit_events (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor_id uuid,
  organization_id text collate "C",
  event text not null constraint audit_events_event_format check (event ~ '^[a-z_]+(\.[a-z_]+)+$'),
  detail jsonb not null default '{}'
);
comment on table identity.audit_events is
  'What happened to accounts and grants. Insert only; keeps no tokens, codes or amounts; outlives the rows it names, '
  'without its detail once they are deleted for good.';
create index audit_events_organization_id_idx on identity.audit_events (organization_id, at desc);
create index audit_events_actor_id_idx on identity.audit_events (actor_id, at desc);

create or replace function identity.is_active(user_id uuid, at timestamptz) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Security definer, because on the platform only `postgres` can read auth.users. It returns only yes or no.
  return exists (
    select from auth.users as u
    where u.id = is_active.user_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until <= is_active.at)
  );
end
$$;
comment on function identity.is_active is
  'Whether a person is neither banned nor deleted at an instant. Every check uses this function. An inactive person '
  'counts as no member and gets no mail. Their grants and memberships stay, so everything works again after the ban.';

-- The organization of the current request. Consent binds a token to one organization; the person's others stay out of
-- reach.
create or replace function identity.find_organization_id() returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  -- Security definer, because the policy of memberships calls it: as the caller it would recurse forever.
  return (
    select m.organization_id
    from identity.memberships as m
    where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
      and identity.is_active(m.user_id, app.instant())
  );
end
$$;
comment on function identity.find_organization_id is
  'The organization of the request''s claims, read from the tables; null unless the person is an active member.';

-- Every policy needs the same person's rights. identity.note_standing() looks them up once per tool and after each
-- wait, and stores them in a setting beside the claims. The setting is as trustworthy as the claims: the same roles can
-- write both.
create or replace function identity.is_standing_noted() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return nullif(current_setting('app.standing_of', true), '') = current_setting('request.jwt.claims', true);
end
$$;
comment on function identity.is_standing_noted is
  'Whether the setting holds the rights of the person in the request''s claims; null or false when they must be looked '
  'up.';

create or replace function identity.current_organization_id() returns text
language plpgsql stable set search_path = '' as $$
begin
  if identity.is_standing_noted() then
    return current_setting('app.member_of');
  end if;
  return identity.find_organization_id();
end
$$;
comment on function identity.current_organization_id is
  'The organization of the request''s claims; null unless the person is an active member.';

create or replace function billing.grace_ends_at(past_due_since timestamptz) returns timestamptz
language sql immutable
  return past_due_since + interval '7 days';
comment on function billing.grace_ends_at is 'Until when a plan counts whose payment is overdue; null where none is.';

create or replace function identity.effective_plan(organization identity.organizations, at timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  if not billing.plans_enabled() then
    return 'team';
  end if;
  -- Names sort in the order of the plans, and greatest() ignores nulls.
  return greatest(
    case when organization.plan_status <> 'past_due' or at < billing.grace_ends_at(organization.past_due_since)
      then organization.plan else 'free' end,
    case when at < billing.grace_ends_at(organization.second_past_due_since) then organization.second_plan end,
    case when at < organization.trial_ends_at then 'team' end
  );
end
$$;
comment on function identity.effective_plan is
  'The plan whose features apply at an instant: the best of the paid plan, a past-due plan in its grace period, and a '
  'running trial; the largest when plans are off.';

create or replace function identity.organization_has_feature(organization_id text, feature text, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
declare
  organization identity.organizations;
  counting_plan text;
begin
  select * into organization from identity.organizations as o where o.id = organization_id and o.deletes_at is null;
  if not found then
    return false;
  end if;
  counting_plan := identity.effective_plan(organization, at);
  return exists (
    select from billing.plan_features as f
    where f.plan = counting_plan and f.feature = organization_has_feature.feature
  );
end
$$;
comment on function identity.organization_has_feature is
  'Whether an organization''s plan includes a feature at an instant; false while it is being deleted. Every check uses '
  'this function.';

alter table identity.profiles enable row level security;
alter table identity.organizations enable row level security;
alter table identity.memberships enable row level security;
alter table identity.audit_events enable row level security;

create policy "People can read the profiles of their organization" on identity.profiles
  for select to authenticated using (
    user_id in (select m.user_id from identity.memberships as m
      where m.organization_id = (select identity.current_organization_id()))
  );
create policy "People can change their own profile" on identity.profiles
  for update to authenticated using (user_id = (select auth.uid()));
create policy "Members can read their organization" on identity.organizations
  for select to authenticated using (id = (select identity.current_organization_id()));
create policy "Members can read the members of their organization" on identity.memberships
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can change their own membership" on identity.memberships
  for update to authenticated
  using (organization_id = (select identity.current_organization_id()) and user_id = (select auth.uid()));

grant select, insert, update, delete on identity.profiles, identity.organizations, identity.memberships to service_role;
grant select, insert on identity.audit_events to service_role;
grant select on identity.profiles, identity.organizations, identity.memberships to authenticated;
grant update (timezone, email_enabled, default_lead_days, hide_amounts_in_email, updated_at) on identity.profiles
  to authenticated;
grant update (base_currency, closed_through, own_only, relabel_closed, updated_at) on identity.organizations
  to authenticated;
grant update (mails) on identity.memberships to authenticated;
grant execute on function
  identity.current_organization_id, identity.find_organization_id, identity.is_standing_noted, identity.effective_plan,
  identity.organization_has_feature, billing.grace_ends_at to authenticated;
