-- Identity: people, their organizations, what a plan includes, the audit trail.
-- Invariants: an organization has one owner, who is a member; past_due_since is set exactly while past due; each plan includes what the one before it does.

create table billing.plan_features (
  plan text not null constraint plan_features_plan_known check (plan in ('free', 'pro', 'team')),
  feature text not null constraint plan_features_feature_known check (feature in ('ai:connector', 'reminders:email', 'bills:variable')),
  primary key (plan, feature)
);
comment on table billing.plan_features is 'What each plan includes: free < pro < team, and each everything of the one before it.';
alter table billing.plan_features enable row level security;
create policy "Signed-in people can read what a plan includes" on billing.plan_features
  for select to authenticated using ((select auth.uid()) is not null);
grant select on billing.plan_features to authenticated, service_role;

insert into billing.plan_features (plan, feature) values
  ('pro', 'ai:connector'),
  ('pro', 'reminders:email'),
  ('team', 'ai:connector'),
  ('team', 'reminders:email'),
  ('team', 'bills:variable');

create table billing.billing_plans (
  provider_plan_id text primary key constraint billing_plans_provider_plan_id_length check (length(provider_plan_id) between 1 and 64),
  plan text not null constraint billing_plans_plan_paid check (plan in ('pro', 'team')),
  created_at timestamptz not null default now()
);
comment on table billing.billing_plans is 'Which of our plans a plan of the payment provider stands for.';
alter table billing.billing_plans enable row level security;
grant select, insert, update, delete on billing.billing_plans to service_role;

create table identity.profiles (
  user_id uuid primary key references auth.users (id) on delete cascade,
  email text not null constraint profiles_email_length check (length(email) between 3 and 320),
  country text constraint profiles_country_format check (country ~ '^[A-Z]{2}$'),
  timezone text not null default 'UTC' constraint profiles_timezone_length check (length(timezone) between 1 and 64),
  reminder_email text constraint profiles_reminder_email_length check (length(reminder_email) between 3 and 320),
  reminder_email_confirmed_at timestamptz,
  email_enabled boolean not null default true,
  default_lead_days smallint not null default 3 constraint profiles_default_lead_days_range check (default_lead_days between 0 and 90),
  hide_amounts_in_email boolean not null default false,
  refused_email text,
  refused_at timestamptz,
  trial_started_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint profiles_refused_dated check ((refused_email is null) = (refused_at is null))
);
comment on table identity.profiles is 'A person: where they live, which day it is for them, where their reminders go.';
comment on column identity.profiles.email is 'The sign-in address, as the identity provider knew it at the last sign-in.';
comment on column identity.profiles.timezone is 'IANA name; every calendar date of the organizations they own is a date in this zone.';
comment on column identity.profiles.reminder_email is 'Another address for reminders; used once confirmed, until then the sign-in address is.';
comment on column identity.profiles.refused_email is 'An address that its mail server refused for good: no reminders go there until the settings are saved again.';
comment on column identity.profiles.trial_started_at is 'Set with the first organization: a person has one trial.';

create table identity.organizations (
  id text collate "C" primary key default app.new_id('org') constraint organizations_id_format check (id ~ '^org_[0-9a-z]+$' and length(id) between 12 and 36),
  name text not null constraint organizations_name_length check (length(btrim(name)) between 1 and 120),
  base_currency text not null references app.currencies (code),
  plan text not null default 'free' constraint organizations_plan_known check (plan in ('free', 'pro', 'team')),
  plan_status text not null default 'active' constraint organizations_plan_status_known check (plan_status in ('active', 'past_due', 'canceled')),
  past_due_since timestamptz,
  second_plan text constraint organizations_second_plan_paid check (second_plan in ('pro', 'team')),
  second_past_due_since timestamptz,
  trial_ends_at timestamptz,
  reminders_enabled boolean not null default true,
  owner_id uuid not null references identity.profiles (user_id) on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint organizations_past_due_dated check ((plan_status = 'past_due') = (past_due_since is not null)),
  constraint organizations_canceled_is_free check (plan_status <> 'canceled' or plan = 'free'),
  constraint organizations_second_plan_dated check ((second_plan is null) = (second_past_due_since is null))
);
comment on table identity.organizations is 'Whose expenses and bills these are: a household, a business.';
comment on column identity.organizations.owner_id is 'Reminders go to the owner and dates are the owner''s. A person who owns an organization cannot be deleted before it.';
comment on column identity.organizations.plan is
  'What is paid for, as the best subscription has it. Set by hand it counts until the first subscription that was ever active.';
comment on column identity.organizations.second_plan is
  'Of another subscription, past due: it counts too until its grace period ends. Set only while it includes more than plan does, or for longer.';
comment on column identity.organizations.trial_ends_at is 'Until then there is everything of the Team plan, whatever is paid for. Payments never change it.';
comment on column identity.organizations.reminders_enabled is 'Whether the owner wants reminders of this organization''s bills.';
create index organizations_owner_id_idx on identity.organizations (owner_id);
create index organizations_base_currency_idx on identity.organizations (base_currency);

create table identity.memberships (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  user_id uuid not null references identity.profiles (user_id) on delete cascade,
  role text not null constraint memberships_role_known check (role in ('owner', 'member')),
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
comment on table identity.memberships is 'Who belongs to an organization. Without a row here every token for it is dead at the next request.';
create index memberships_user_id_idx on identity.memberships (user_id);
create unique index memberships_one_owner_idx on identity.memberships (organization_id) where role = 'owner';

create table identity.audit_events (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor_id uuid,
  organization_id text collate "C",
  event text not null constraint audit_events_event_format check (event ~ '^[a-z_]+(\.[a-z_]+)+$'),
  detail jsonb not null default '{}'
);
comment on table identity.audit_events is 'What happened to accounts and grants. Insert only; keeps no tokens, codes or amounts; outlives the rows it names.';
create index audit_events_organization_id_idx on identity.audit_events (organization_id, at desc);
create index audit_events_actor_id_idx on identity.audit_events (actor_id, at desc);

create function identity.is_active(user_id uuid, at timestamptz) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Definer, because on the platform `postgres` may read auth.users and none of the API roles may. It says yes or no, nothing else.
  return exists (
    select from auth.users as u
    where u.id = is_active.user_id and u.deleted_at is null and (u.banned_until is null or u.banned_until <= is_active.at)
  );
end
$$;
comment on function identity.is_active is
  'Whether the identity provider lets a person in at an instant: not banned, not deleted. The only judge of it; who is not active is no member of anything
   and gets no mail. Nothing of theirs is ended, so that all of it works again when a ban is over.';
revoke all on function identity.is_active from public, anon, authenticated;
grant execute on function identity.is_active to service_role;

-- Which organization the running request acts for. The token was bound to one at consent; a person's other organizations stay out of reach.
create function identity.current_organization_id() returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  found_id text;
begin
  -- Definer, because the policy of memberships itself asks this question: as the caller it would ask it for ever.
  select m.organization_id into found_id
  from identity.memberships as m
  where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
    and identity.is_active(m.user_id, app.instant());
  return found_id;
end
$$;
comment on function identity.current_organization_id is 'The organization of the request''s claims when the person is an active member of it, else null.';
revoke all on function identity.current_organization_id from public, anon;
grant execute on function identity.current_organization_id to authenticated, service_role;

create function identity.effective_plan(organization identity.organizations, at timestamptz) returns text
language sql immutable set search_path = '' as $$
  -- The names sort as the plans do, and greatest() passes over nulls.
  select greatest(
    case when organization.plan_status <> 'past_due' or at < organization.past_due_since + interval '7 days' then organization.plan else 'free' end,
    case when at < organization.second_past_due_since + interval '7 days' then organization.second_plan end,
    case when at < organization.trial_ends_at then 'team' end
  )
$$;
comment on function identity.effective_plan is
  'The plan whose features count at an instant: the best of what is paid for, of what is past due for less than 7 days, and of a running trial.';
revoke all on function identity.effective_plan from public, anon;
grant execute on function identity.effective_plan to authenticated, service_role;

create function identity.organization_has_feature(organization_id text, feature text, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.organizations as o
    join billing.plan_features as f on f.plan = identity.effective_plan(o, organization_has_feature.at)
    where o.id = organization_has_feature.organization_id and f.feature = organization_has_feature.feature
  );
end
$$;
comment on function identity.organization_has_feature is 'Whether an organization''s plan includes a feature at an instant. The only judge of it.';
revoke all on function identity.organization_has_feature from public, anon;
grant execute on function identity.organization_has_feature to authenticated, service_role;

alter table identity.profiles enable row level security;
alter table identity.organizations enable row level security;
alter table identity.memberships enable row level security;
alter table identity.audit_events enable row level security;

create policy "People can read the profiles of their organization" on identity.profiles
  for select to authenticated using (
    user_id in (select m.user_id from identity.memberships as m where m.organization_id = (select identity.current_organization_id()))
  );
create policy "People can change their own profile" on identity.profiles
  for update to authenticated using (user_id = (select auth.uid())) with check (user_id = (select auth.uid()));
create policy "Members can read their organization" on identity.organizations
  for select to authenticated using (id = (select identity.current_organization_id()));
create policy "Owners can change their organization" on identity.organizations
  for update to authenticated
  using (id = (select identity.current_organization_id()) and owner_id = (select auth.uid()))
  with check (id = (select identity.current_organization_id()) and owner_id = (select auth.uid()));
create policy "Members can read the members of their organization" on identity.memberships
  for select to authenticated using (organization_id = (select identity.current_organization_id()));

grant select, insert, update, delete on identity.profiles, identity.organizations, identity.memberships to service_role;
grant select, insert on identity.audit_events to service_role;
grant select on identity.profiles, identity.organizations, identity.memberships to authenticated;
grant update (timezone, email_enabled, default_lead_days, hide_amounts_in_email, updated_at) on identity.profiles to authenticated;
grant update (base_currency, updated_at) on identity.organizations to authenticated;
