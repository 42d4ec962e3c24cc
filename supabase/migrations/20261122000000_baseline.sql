-- Generated from supabase/schemas by `deno task db:migration -- --baseline`; do not edit.

-- schemas/foundation.sql

-- Foundation: schemas, who may use them, ids, the instant of a request, currencies.
-- `public` holds functions only (the database's API for `service_role`); tables live in schemas of their own, none of
-- which is exposed.

-- Functions are executable by everybody unless the default itself is taken away; the `in schema` form would change
-- nothing.
alter default privileges revoke execute on functions from public;
-- The platform may grant new objects in `public` to the API roles by default.
alter default privileges in schema public revoke all on functions from anon, authenticated;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;

create schema identity;
create schema oauth;
create schema billing;
create schema app;
create schema jobs;
comment on schema identity is 'People, organizations, memberships, the audit trail.';
comment on schema oauth is 'Clients, grants, used codes and hashed tokens of the authorization server. Service only.';
comment on schema billing is 'Plans, their features, and what the payment provider said.';
comment on schema app is 'Expenses, bills, payments and the changes made to them; the connector''s tools.';
comment on schema jobs is 'Scheduled work.';

grant usage on schema identity, oauth, billing, app, jobs to service_role;
-- The tools run as `authenticated` under row-level security; these schemas hold what they may see.
grant usage on schema identity, billing, app to authenticated;

-- Who may execute a function follows from its schema; the few exceptions say so where they are made.
alter default privileges in schema public, identity, oauth, billing, jobs grant execute on functions to service_role;
alter default privileges in schema app grant execute on functions to authenticated, service_role;

create sequence app.id_number;
grant usage on sequence app.id_number to authenticated, service_role;

create or replace function app.new_id_bits() returns bigint
language sql volatile
  -- Time first, in 32nds of a second since 2024 (35 bits, 34 years): rows made together lie together in every index,
  -- and a month of a large organization is read from a few neighbouring pages. Then a counter (25 bits), so that no two
  -- are equal, multiplied so that none can be counted.
  return ((((date_part('epoch', clock_timestamp()) - 1704067200) * 32)::bigint & 34359738367) << 25)
    | (((nextval('app.id_number') & 33554431) * 20241203) & 33554431);
comment on function app.new_id_bits is 'The 60 bits of a new public id, as app.spell_id() writes them.';

create or replace function app.spell_id(prefix text, bits bigint) returns text
language sql immutable
  return prefix || '_' || lpad(to_hex(bits), 15, '0');
comment on function app.spell_id is 'An id of 60 bits as text: the prefix, an underscore and 15 hexadecimal digits.';

create or replace function app.new_id(prefix text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  bits constant bigint := app.new_id_bits();
begin
  return app.spell_id(prefix, bits);
end
$$;
comment on function app.new_id is 'A new public id, later ones after earlier ones. Names a thing and is no secret.';

create or replace function app.instant() returns timestamptz
language sql stable
  return coalesce(nullif(current_setting('app.at', true), '')::timestamptz, now());
comment on function app.instant is
  'The instant of the running request as its function handed it in (setting app.at), else the transaction''s own.';

create table app.currencies (
  code text primary key constraint currencies_code_format check (code ~ '^[A-Z]{3}$'),
  exponent smallint not null constraint currencies_exponent_range check (exponent between 0 and 4)
);
comment on table app.currencies is 'ISO 4217 currencies in use and the number of decimals of each.';
alter table app.currencies enable row level security;
create policy "Signed-in people can read the currencies" on app.currencies
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.currencies to authenticated, service_role;

insert into app.currencies (code, exponent)
  select
    regexp_split_to_table(
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC
    CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR
    JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD
    NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN
    SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG', '\s+'), 2
  union all
  select regexp_split_to_table('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', '\s+'), 0
  union all
  select regexp_split_to_table('BHD IQD JOD KWD LYD OMR TND', '\s+'), 3
  union all
  select regexp_split_to_table('CLF UYW', '\s+'), 4;

-- schemas/retention.sql

-- How long what is kept: every number once. The purge reads them, and the tools that promise one.

create table app.retention (
  what text primary key,
  keep interval not null constraint retention_keep_positive check (keep >= interval '0')
);
comment on table app.retention is
  'How long each kind of row is kept after it has served. docs/retention.md says it to people.';
alter table app.retention enable row level security;
create policy "Signed-in people can read how long what is kept" on app.retention
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.retention to authenticated, service_role;

insert into app.retention (what, keep) values
  ('deleted_organizations', '14 days'),
  ('deleted_accounts', '14 days'),
  ('deleted_records', '30 days'),
  ('change_contents', '30 days'),
  ('changes', '400 days'),
  ('idempotency_keys', '24 hours'),
  ('imports', '24 hours'),
  ('invitations', '30 days'),
  ('used_codes', '1 day'),
  ('consents', '1 day'),
  ('tokens', '30 days'),
  ('grants', '30 days'),
  ('unseen_alerts', '180 days'),
  ('client_documents', '1 day'),
  ('clients', '6 days'),
  ('attempts', '1 day'),
  ('job_runs', '90 days'),
  ('digests', '400 days'),
  ('proposals', '90 days'),
  ('payment_events', '400 days'),
  ('cron_runs', '7 days');

create or replace function app.kept_for(what text) returns interval
language plpgsql stable set search_path = '' as $$
declare
  kept interval;
begin
  select r.keep into strict kept from app.retention as r where r.what = kept_for.what;
  return kept;
end
$$;
comment on function app.kept_for is 'How long a kind of row is kept; an unknown kind is an error.';

-- schemas/identity/people.sql

-- Identity: people, their organizations, what a plan includes, the audit trail.
-- Invariants: an organization has one owner, who is a member; past_due_since is set exactly while past due; each plan
-- includes what the one before it does.

create table billing.plan_features (
  plan text not null constraint plan_features_plan_known check (plan in ('free', 'pro', 'team')),
  feature text not null
    constraint plan_features_feature_known check (feature in ('ai:connector', 'reminders:email', 'bills:variable')),
  primary key (plan, feature)
);
comment on table billing.plan_features is
  'What each plan includes: free < pro < team, and each everything of the one before it.';
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
  provider_plan_id text primary key
    constraint billing_plans_provider_plan_id_length check (length(provider_plan_id) between 1 and 64),
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
  default_lead_days smallint not null default 3
    constraint profiles_default_lead_days_range check (default_lead_days between 0 and 90),
  hide_amounts_in_email boolean not null default false,
  refused_email text,
  refused_at timestamptz,
  trial_started_at timestamptz,
  deletes_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint profiles_refused_dated check ((refused_email is null) = (refused_at is null))
);
comment on table identity.profiles is 'A person: where they live, which day it is for them, where their reminders go.';
comment on column identity.profiles.email is
  'The sign-in address, as the identity provider knew it at the last sign-in.';
comment on column identity.profiles.timezone is
  'IANA name; every calendar date of the organizations they own is a date in this zone.';
comment on column identity.profiles.reminder_email is
  'Another address for reminders; used once confirmed, until then the sign-in address is.';
comment on column identity.profiles.refused_email is
  'An address that its mail server refused for good: no reminders go there until the settings are saved again.';
comment on column identity.profiles.deletes_at is
  'From then on the purge removes the person; until then they can take it back.';
create index profiles_deletes_at_idx on identity.profiles (deletes_at) where deletes_at is not null;
comment on column identity.profiles.trial_started_at is 'Set with the first organization: a person has one trial.';

create table identity.organizations (
  id text collate "C" primary key default app.new_id('org')
    constraint organizations_id_format check (id ~ '^org_[0-9a-z]+$' and length(id) between 12 and 36),
  name text not null constraint organizations_name_length check (length(btrim(name)) between 1 and 120),
  base_currency text not null references app.currencies (code),
  plan text not null default 'free' constraint organizations_plan_known check (plan in ('free', 'pro', 'team')),
  plan_status text not null default 'active'
    constraint organizations_plan_status_known check (plan_status in ('active', 'past_due', 'canceled')),
  past_due_since timestamptz,
  second_plan text constraint organizations_second_plan_paid check (second_plan in ('pro', 'team')),
  second_past_due_since timestamptz,
  trial_ends_at timestamptz,
  own_only boolean not null default false,
  assistants_may_approve boolean not null default false,
  closed_through date
    constraint organizations_closed_through_month_end check (extract(day from closed_through + 1) = 1),
  owner_id uuid not null references identity.profiles (user_id) on delete restrict,
  deletes_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- What payments are valued in: app.payments refers to both.
  unique (id, base_currency),
  constraint organizations_past_due_dated check ((plan_status = 'past_due') = (past_due_since is not null)),
  constraint organizations_canceled_is_free check (plan_status <> 'canceled' or plan = 'free'),
  constraint organizations_second_plan_dated check ((second_plan is null) = (second_past_due_since is null))
);
comment on table identity.organizations is 'Whose expenses and bills these are: a household, a business.';
comment on column identity.organizations.owner_id is
  'Reminders go to the owner, whoever else gets them, and dates are the owner''s. A person who owns an organization '
  'cannot be deleted before '
  'it.';
comment on column identity.organizations.plan is
  'What is paid for, as the best subscription has it. Set by hand it counts until the first subscription that was ever '
  'active.';
comment on column identity.organizations.second_plan is
  'Of another subscription, past due: it counts too until its grace period ends. Set only while it includes more than '
  'plan does, or for longer.';
comment on column identity.organizations.trial_ends_at is
  'Until then there is everything of the Team plan, whatever is paid for. Payments never change it.';
comment on column identity.organizations.assistants_may_approve is
  'Whether who may approve may do so through an app of theirs, and not only on the page.';
comment on column identity.organizations.own_only is
  'Whether members see only what they recorded or look after themselves. Owner, managers and viewers see everything.';
comment on column identity.organizations.closed_through is
  'What was paid until this day, the last of a month, stays as it is (app.refuse_closed_month).';
comment on column identity.organizations.deletes_at is
  'From then on the purge removes it with all that it has. Until then its pages can be read, nothing writes or mails, '
  'and the owner can take it back.';
create index organizations_deletes_at_idx on identity.organizations (deletes_at) where deletes_at is not null;
create index organizations_owner_id_idx on identity.organizations (owner_id);
create index organizations_base_currency_idx on identity.organizations (base_currency);

create table identity.memberships (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  user_id uuid not null references identity.profiles (user_id) on delete cascade,
  role text not null constraint memberships_role_known check (role in ('owner', 'manager', 'member', 'viewer')),
  sees_private boolean not null default false,
  mails text not null default 'mine' constraint memberships_mails_known check (mails in ('mine', 'all', 'none')),
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
comment on table identity.memberships is
  'Who belongs to an organization. Without a row here every token for it is dead at the next request.';
comment on column identity.memberships.sees_private is
  'Whether the owner opened private categories to this member, whose role alone would not show them.';
comment on column identity.memberships.mails is
  'Which bills they get mails of: mine are all of them for the owner, for a member those assigned to them.';
create index memberships_user_id_idx on identity.memberships (user_id);
create unique index memberships_one_owner_idx on identity.memberships (organization_id) where role = 'owner';

-- schemas/billing/settings.sql

-- What the operator of this service decided about plans. Invariants: one row, always; no request writes it, so that
-- nobody who reaches the API gives themselves what others pay for.

create table billing.settings (
  is_only boolean primary key default true constraint settings_one_row check (is_only),
  plans_enabled boolean not null
);
comment on table billing.settings is
  'One row, changed by the operator as the owner of the database (deno task plans); no API role may write it.';
comment on column billing.settings.plans_enabled is
  'Whether plans decide what an organization may use. Off: everybody has everything, for good, and pages say nothing '
  'of '
  'plans.';
alter table billing.settings enable row level security;
create policy "Signed-in people can read whether there are plans" on billing.settings
  for select to authenticated using ((select auth.uid()) is not null);
grant select on billing.settings to authenticated, service_role;
insert into billing.settings (plans_enabled) values (true);

create or replace function billing.plans_enabled() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce((select s.plans_enabled from billing.settings as s), true);
end
$$;
comment on function billing.plans_enabled is 'Whether plans decide what an organization may use.';
grant execute on function billing.plans_enabled to authenticated;

-- schemas/identity/current_organization_id.sql

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
  -- Definer, because on the platform `postgres` may read auth.users and none of the API roles may. It says yes or no,
  -- nothing else.
  return exists (
    select from auth.users as u
    where u.id = is_active.user_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until <= is_active.at)
  );
end
$$;
comment on function identity.is_active is
  'Whether the identity provider lets a person in at an instant: not banned, not deleted. The only judge of it; who is '
  'not active is no member of anything and gets no mail. Nothing of theirs is ended, so that all of it works again '
  'when a ban is over.';

-- Which organization the running request acts for. The token was bound to one at consent; a person's other
-- organizations stay out of reach.
create or replace function identity.current_organization_id() returns text
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
comment on function identity.current_organization_id is
  'The organization of the request''s claims when the person is an active member of it, else null.';

create or replace function identity.effective_plan(organization identity.organizations, at timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  if not billing.plans_enabled() then
    return 'team';
  end if;
  -- The names sort as the plans do, and greatest() passes over nulls.
  return greatest(
    case when organization.plan_status <> 'past_due' or at < organization.past_due_since + interval '7 days'
      then organization.plan else 'free' end,
    case when at < organization.second_past_due_since + interval '7 days' then organization.second_plan end,
    case when at < organization.trial_ends_at then 'team' end
  );
end
$$;
comment on function identity.effective_plan is
  'The plan whose features count at an instant: the best of what is paid for, of what is past due for less than 7 '
  'days, and of a running trial; the largest where plans are off.';

create or replace function identity.organization_has_feature(organization_id text, feature text, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.organizations as o
    join billing.plan_features as f on f.plan = identity.effective_plan(o, at)
    where o.id = organization_id and o.deletes_at is null and f.feature = organization_has_feature.feature
  );
end
$$;
comment on function identity.organization_has_feature is
  'Whether an organization''s plan includes a feature at an instant; nothing of one that is being deleted. The only '
  'judge of it.';

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
  for update to authenticated using (user_id = (select auth.uid())) with check (user_id = (select auth.uid()));
create policy "Members can read their organization" on identity.organizations
  for select to authenticated using (id = (select identity.current_organization_id()));
create policy "Members can read the members of their organization" on identity.memberships
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can change their own membership" on identity.memberships
  for update to authenticated
  using (organization_id = (select identity.current_organization_id()) and user_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and user_id = (select auth.uid()));

grant select, insert, update, delete on identity.profiles, identity.organizations, identity.memberships to service_role;
grant select, insert on identity.audit_events to service_role;
grant select on identity.profiles, identity.organizations, identity.memberships to authenticated;
grant update (timezone, email_enabled, default_lead_days, hide_amounts_in_email, updated_at) on identity.profiles
  to authenticated;
grant update (base_currency, closed_through, own_only, updated_at) on identity.organizations to authenticated;
grant update (mails) on identity.memberships to authenticated;
grant execute on function
  identity.current_organization_id, identity.effective_plan, identity.organization_has_feature to authenticated;

-- schemas/identity/roles.sql

-- Roles: what a member may do, as one table that policies and functions read.
-- Invariants: whoever may write may read; the owner may do everything; what is private is seen by those roles that
-- may, and by members to whom the owner opened it; "own only" narrows what members see, and nobody else.

create table identity.role_rights (
  role text not null constraint role_rights_role_known check (role in ('owner', 'manager', 'member', 'viewer')),
  "right" text not null constraint role_rights_right_known check ("right" in (
    'books:write', 'books:private', 'books:export', 'settings:write', 'members:manage', 'providers:manage',
    'plan:manage', 'organization:manage', 'approvals:decide', 'approvals:manage'
  )),
  primary key (role, "right")
);
comment on table identity.role_rights is
  'What each role may do beyond reading: a row is a right. Its one screen for people is docs/roles.md.';
alter table identity.role_rights enable row level security;
create policy "Signed-in people can read what a role may do" on identity.role_rights
  for select to authenticated using ((select auth.uid()) is not null);
grant select on identity.role_rights to authenticated, service_role;

insert into identity.role_rights (role, "right") values
  ('owner', 'books:write'),
  ('owner', 'books:private'),
  ('owner', 'books:export'),
  ('owner', 'settings:write'),
  ('owner', 'members:manage'),
  ('owner', 'providers:manage'),
  ('owner', 'plan:manage'),
  ('owner', 'organization:manage'),
  ('owner', 'approvals:decide'),
  ('owner', 'approvals:manage'),
  ('manager', 'books:write'),
  ('manager', 'books:private'),
  ('manager', 'books:export'),
  ('manager', 'settings:write'),
  ('manager', 'members:manage'),
  ('manager', 'approvals:decide'),
  ('member', 'books:write'),
  ('viewer', 'books:export');

create or replace function identity.member_may(organization_id text, user_id uuid, wanted text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.memberships as m
    where m.organization_id = member_may.organization_id and m.user_id = member_may.user_id and (
      exists (select from identity.role_rights as r where r.role = m.role and r."right" = wanted)
      or wanted = 'books:private' and m.sees_private
    )
  );
end
$$;
comment on function identity.member_may is
  'Whether a member of an organization has a right there. The only judge of it, for pages and jobs; policies ask '
  'identity.may.';

create or replace function identity.may(wanted text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Definer, because policies of memberships may ask it too.
  return identity.member_may(identity.current_organization_id(), auth.uid(), wanted);
end
$$;
comment on function identity.may is
  'Whether the person of the request''s claims has a right in its organization; false for who is no member.';

create or replace function identity.sees_own_only() returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  -- Definer, as all of these: policies of what they read ask them.
  return exists (
    select
    from identity.memberships as m
    join identity.organizations as o on o.id = m.organization_id and o.own_only
    where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
      and m.role = 'member'
  );
end
$$;
comment on function identity.sees_own_only is
  'Whether the person of the request''s claims sees only what they recorded or look after.';

create or replace function identity.sees_everything() returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  -- One query, since each statement of a member asks it. Whoever does not see a private category must not be asked
  -- whether there is one.
  return exists (
    select
    from identity.memberships as m
    join identity.organizations as o on o.id = m.organization_id
    where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
      and not (o.own_only and m.role = 'member')
      and (
        m.sees_private
        or exists (select from identity.role_rights as r where r.role = m.role and r."right" = 'books:private')
        or not exists (select from app.categories as c where c.organization_id = m.organization_id and c.is_private)
      )
  );
end
$$;
comment on function identity.sees_everything is
  'Whether nothing in the organization is kept from the person of the request''s claims: what policies ask first, so '
  'that the other conditions cost nothing where there is nothing to keep.';
grant execute on function identity.may, identity.sees_own_only, identity.sees_everything to authenticated;
revoke all on function identity.member_may from authenticated;

create policy "Owners and managers can change their organization" on identity.organizations
  for update to authenticated
  using (id = (select identity.current_organization_id()) and (select identity.may('settings:write')))
  with check (id = (select identity.current_organization_id()) and (select identity.may('settings:write')));

-- schemas/identity/access_token_hook.sql

-- The identity provider's custom access token hook: it is asked before each access token, at sign-in and at every
-- refresh, and may refuse it.

create or replace function identity.refuse_passwords(event jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  -- Anybody can sign a stranger's address up with a password, and the identity provider keeps that password when the
  -- stranger confirms the address by a link of ours. amr as well: a session that began by a password before this hook
  -- was on is refreshed as token_refresh.
  if event ->> 'authentication_method' = 'password' or event @? '$.claims.amr[*] ? (@.method == "password")' then
    return '{"error": {"http_code": 403, "message": "Sign in with a link or code we email you."}}';
  end if;
  return event;
end
$$;
comment on function identity.refuse_passwords is
  'Custom access token hook: the event {user_id, claims, authentication_method} as it came, or {"error": {"http_code", '
  '"message"}} for a session that a password began.';

grant usage on schema identity to supabase_auth_admin;
revoke all on function identity.refuse_passwords from service_role;
grant execute on function identity.refuse_passwords to supabase_auth_admin;

-- schemas/billing/plans.sql

-- Billing: what the payment provider said, and the plan that follows from it.
-- Invariants: an event counts once; a subscription is what its latest event by the logical clock made it, whatever
-- order the events arrived in; a subscription belongs to one organization for ever; an organization has the plan of its
-- best subscription that has a say.
--  Which subscriptions have a say. Whoever may edit a subscription's notes can name any organization in them, so one
-- that nobody ever paid for must not be able to take anything away:
-- * One that was active once (an event activated, resumed or charged it; all three say that it is active) has a say for
-- ever.
-- * One that never was has a say only where there is nothing to lose: no plan set by hand, no running trial, no live
-- subscription (one that was active once, and has not ended). Elsewhere its events are kept and change nothing.
-- * A plan set by hand is told by being active without a subscription that is. The first subscription that was ever
-- active replaces it.
-- * A trial is beside all this: its end is never moved, and while it runs it only adds features
-- (identity.effective_plan).
-- Of those with a say the best one counts. A second one that is past due adds its plan until its grace period ends
-- (organizations.second_plan), so that one more subscription never makes it less.

create type billing.event_clock as (
  occurred_at timestamptz,
  is_terminal boolean,
  paid_count int,
  auth_attempts int,
  rank smallint,
  body_hash bytea
);
comment on type billing.event_clock is
  'Orders the events of one subscription, field by field. The provider''s instants are whole seconds: within one, an '
  'end beats everything, then more payments, then more failed attempts.';

create table billing.payment_events (
  id bigint generated always as identity primary key,
  event_id text constraint payment_events_event_id_length check (length(event_id) between 1 and 128),
  body_hash bytea not null unique,
  type text not null constraint payment_events_type_length check (length(type) between 1 and 100),
  status text constraint payment_events_status_known check (status in ('active', 'past_due', 'canceled')),
  subscription_id text
    constraint payment_events_subscription_id_length check (length(subscription_id) between 1 and 64),
  provider_plan_id text
    constraint payment_events_provider_plan_id_length check (length(provider_plan_id) between 1 and 64),
  claimed_organization_id text collate "C",
  occurred_at timestamptz,
  period_ends_at timestamptz,
  paid_count int not null,
  auth_attempts int not null,
  rank smallint not null,
  clock billing.event_clock not null generated always as
    (
      row(occurred_at, status is not distinct from 'canceled', paid_count, auth_attempts, rank,
      body_hash)::billing.event_clock) stored,
  outcome text not null
    constraint payment_events_outcome_known check (outcome in ('applied', 'stale', 'ignored', 'parked')),
  organization_id text collate "C",
  no_effect text constraint payment_events_no_effect_known check (no_effect in ('never_active')),
  received_at timestamptz not null,
  constraint payment_events_ignored_has_no_status check ((outcome = 'ignored') = (status is null)),
  constraint payment_events_settled_is_complete check (
    outcome not in ('applied', 'stale')
      or (subscription_id is not null and occurred_at is not null and organization_id is not null)
  )
);
comment on table billing.payment_events is
  'Every event of the payment provider that carried a valid signature, once. Keeps what decides about plans, never the '
  'body: that names people and cards.';
comment on column billing.payment_events.event_id is
  'The provider''s own id of the event, where it sends one: a note for people. It is outside the signature, so only '
  'the hash of the body tells a duplicate.';
comment on column billing.payment_events.status is
  'What the event means for its subscription; null for kinds that mean nothing to us.';
comment on column billing.payment_events.claimed_organization_id is
  'The organization named in the subscription''s notes. Whoever can edit notes wrote it; it counts for the first '
  'binding only.';
comment on column billing.payment_events.outcome is
  'applied: it became the latest word on its subscription. stale: a later one was already there. parked: it waits, see '
  'billing.parked_events. ignored: a kind without effect.';
comment on column billing.payment_events.no_effect is
  'Why an applied event left the organization as it was. never_active: until then nobody had paid for its '
  'subscription, and there was something to lose.';
create index payment_events_subscription_id_idx on billing.payment_events (subscription_id);
create index payment_events_parked_idx on billing.payment_events (subscription_id) where outcome = 'parked';

create table billing.subscriptions (
  id text primary key constraint subscriptions_id_length check (length(id) between 1 and 64),
  organization_id text collate "C" references identity.organizations (id) on delete cascade,
  plan text constraint subscriptions_plan_paid check (plan in ('pro', 'team')),
  status text constraint subscriptions_status_known check (status in ('active', 'past_due', 'canceled')),
  past_due_since timestamptz,
  period_ends_at timestamptz,
  was_active boolean not null default false,
  clock billing.event_clock,
  constraint subscriptions_past_due_dated
    check ((status is not distinct from 'past_due') = (past_due_since is not null)),
  constraint subscriptions_running_has_plan check (plan is not null or status is null or status = 'canceled')
);
comment on table billing.subscriptions is 'A subscription at the payment provider, as its latest event left it.';
comment on column billing.subscriptions.organization_id is
  'Null until an operator or an event names an organization that exists; never changed after that.';
comment on column billing.subscriptions.status is 'Null until the first event counts.';
comment on column billing.subscriptions.past_due_since is
  'When the first of the failures since the last good payment happened, at most a day before we were told.';
comment on column billing.subscriptions.was_active is
  'Whether an event that counted ever said that it is active, whatever came later.';
comment on column billing.subscriptions.clock is 'Of the event that left it so.';
create index subscriptions_organization_id_idx on billing.subscriptions (organization_id);

-- Service only: people see their plan on pages that the service renders.
alter table billing.payment_events enable row level security;
alter table billing.subscriptions enable row level security;
grant select, insert, update (outcome, organization_id, no_effect) on billing.payment_events to service_role;
grant select, insert, update on billing.subscriptions to service_role;

-- schemas/billing/derive_plan.sql

create or replace function billing.parked_reason(event billing.payment_events, at timestamptz) returns text
language sql stable set search_path = '' as $$
  select case
    when event.subscription_id is null or event.occurred_at is null then 'incomplete'
    -- Once it counted, every event that really happened would be older than it.
    when event.occurred_at > at + interval '1 day' then 'dated_ahead'
    when not exists (select from billing.subscriptions as s
      where s.id = event.subscription_id and s.organization_id is not null) then 'unknown_organization'
    -- An end needs no plan: it must not wait because somebody forgot to list one.
    when event.status <> 'canceled'
      and not exists (select from billing.billing_plans as p where p.provider_plan_id = event.provider_plan_id)
      then 'unknown_plan'
    else 'replayable'
  end
$$;
comment on function billing.parked_reason is
  'What a parked event waits for at an instant; replayable: for nothing any more.';

create or replace view billing.parked_events with (security_invoker = true) as
select e.id, e.event_id, e.type, e.subscription_id, e.provider_plan_id, e.claimed_organization_id, e.occurred_at,
  e.received_at,
  billing.parked_reason(e, now()) as reason
from billing.payment_events as e
where e.outcome = 'parked';
comment on view billing.parked_events is
  'Events that wait for an operator, and for what. After adding the plan to billing.billing_plans, once the day of one '
  'dated ahead has come, or for naming the organization: select public.replay_parked_events(…).';
grant select on billing.parked_events to service_role;

create or replace function billing.subscriptions_with_a_say(organization identity.organizations, at timestamptz)
  returns setof billing.subscriptions
language sql stable set search_path = '' as $$
  select s
  from billing.subscriptions as s
  where s.organization_id = organization.id and s.status is not null and (
    s.was_active
    or not (
      coalesce(at < organization.trial_ends_at, false)
      or exists (
        select from billing.subscriptions as l
          where l.organization_id = organization.id and l.was_active and l.status in ('active', 'past_due')
      )
    )
  )
  order by array_position(array['active', 'past_due', 'canceled'], s.status),
    array_position(array['team', 'pro'], s.plan),
    s.past_due_since desc, s.period_ends_at desc nulls last, s.id
$$;
comment on function billing.subscriptions_with_a_say is
  'The subscriptions that an organization''s plan may come from, best first. That a plan set by hand counts for more '
  'than one that never was active is for the caller to see to.';

create or replace function billing.derive_plan(organization identity.organizations, at timestamptz)
  returns identity.organizations
language plpgsql set search_path = '' as $$
declare
  best billing.subscriptions;
  second billing.subscriptions;
begin
  select * into best from billing.subscriptions_with_a_say(organization, at) limit 1;
  if not found then
    return organization;
  end if;
  -- What another one's grace period adds to the best one: a better plan, or the same and less for longer.
  select * into second
  from billing.subscriptions_with_a_say(organization, at) as s
  where s.status = 'past_due' and (s.plan > best.plan or s.past_due_since > best.past_due_since)
  order by s.past_due_since desc
  limit 1;
  update identity.organizations as o
  set plan = case when best.status = 'canceled' then 'free' else best.plan end, plan_status = best.status,
    past_due_since = best.past_due_since,
    second_plan = second.plan, second_past_due_since = second.past_due_since, updated_at = at
  where o.id = organization.id
  returning * into organization;
  return organization;
end
$$;
comment on function billing.derive_plan is
  'Gives an organization the plan of its best subscription that has a say, and says what it is now. The end of an old '
  'one must not take the plan that a newer one pays for.';

-- schemas/billing/settle_subscription.sql

create or replace function billing.settle_subscription(subscription_id text, at timestamptz) returns void
language plpgsql set search_path = '' as $$
declare
  subscription billing.subscriptions;
  before billing.subscriptions;
  organization identity.organizations;
  derived identity.organizations;
  is_by_hand boolean;
  latest billing.payment_events;
begin
  -- All events of a subscription queue here. A row for one that nobody knows yet holds the place of its binding.
  insert into billing.subscriptions (id) values (subscription_id) on conflict do nothing;
  select * into subscription from billing.subscriptions as s
    where s.id = subscription_id for update;
  if subscription.organization_id is null then
    update billing.subscriptions as s
    set organization_id = (
      select o.id
      from billing.payment_events as e join identity.organizations as o on o.id = e.claimed_organization_id
      where e.subscription_id = s.id and e.outcome = 'parked'
        and billing.parked_reason(e, at) = 'unknown_organization'
      order by e.id
      limit 1
    )
    where s.id = subscription.id
    returning * into subscription;
  end if;
  -- Locked before its other subscriptions are read for the plan: two that change at once would each miss the other.
  select * into organization from identity.organizations as o
    where o.id = subscription.organization_id for no key update;
  if not found then
    return;
  end if;
  before := subscription;
  is_by_hand := organization.plan <> 'free' and organization.plan_status = 'active' and not exists (
    select from billing.subscriptions as s where s.organization_id = organization.id and s.status = 'active'
  );

  with settled as (
    update billing.payment_events as e
    set outcome = 'stale', organization_id = organization.id
    where e.subscription_id = subscription.id and e.outcome = 'parked'
      and billing.parked_reason(e, at) = 'replayable'
    returning e.*
  )
  select * into latest from settled as e order by e.clock desc limit 1;
  if not found then
    return;
  end if;

  if subscription.clock is null or subscription.clock < latest.clock then
    update billing.payment_events as e set outcome = 'applied' where e.id = latest.id returning * into latest;
    update billing.subscriptions as s
    set status = latest.status,
      plan
        = coalesce((select p.plan from billing.billing_plans as p where p.provider_plan_id = latest.provider_plan_id),
        s.plan),
      past_due_since = case when latest.status = 'past_due' then latest.occurred_at end,
      period_ends_at = latest.period_ends_at,
      clock = latest.clock
    where s.id = subscription.id;
  end if;
  -- A failure that arrives late may be the first of its row; a payment that arrives late may end the row before it. The
  -- provider repeats for a day what it cannot deliver: what is older was sent again by hand, and the grace period must
  -- not have passed before anybody knew.
  update billing.subscriptions as s
  set past_due_since = (
    select min(greatest(e.occurred_at, e.received_at - interval '1 day'))
    from billing.payment_events as e
    where e.subscription_id = s.id and e.outcome in ('applied', 'stale') and e.status = 'past_due'
      and e.clock > all (
        select o.clock
        from billing.payment_events as o
        where o.subscription_id = s.id and o.outcome in ('applied', 'stale') and o.status <> 'past_due'
      )
  )
  where s.id = subscription.id and s.status = 'past_due';

  -- Also one that arrives after the end.
  update billing.subscriptions as s
  set was_active = s.was_active or exists (
    select from billing.payment_events as e
      where e.subscription_id = s.id and e.outcome in ('applied', 'stale') and e.status = 'active'
  )
  where s.id = subscription.id
  returning * into subscription;
  if subscription is not distinct from before then
    return;
  end if;

  if (is_by_hand and not subscription.was_active)
    or not exists (select from billing.subscriptions_with_a_say(organization, at) as s
      where s.id = subscription.id) then
    update billing.payment_events as e set no_effect = 'never_active' where e.id = latest.id and e.outcome = 'applied';
    return;
  end if;
  derived := billing.derive_plan(organization, at);
  if latest.outcome = 'applied' then
    insert into identity.audit_events (at, organization_id, event, detail)
    values (at, organization.id, 'payment.' || latest.type, jsonb_build_object(
      'subscription_id', latest.subscription_id, 'plan', derived.plan, 'plan_status', derived.plan_status,
      'was', jsonb_build_object('plan', organization.plan, 'plan_status', organization.plan_status)
    ));
  end if;
end
$$;
comment on function billing.settle_subscription is
  'Lets the parked events of a subscription count, where its organization and their plan are known: binding, state by '
  'the logical clock, then the organization''s plan and one audit row where the subscription has a say.';

-- schemas/billing/apply_payment_event.sql

create or replace function public.apply_payment_event(event jsonb, body_hash text, event_id text, at timestamptz)
  returns jsonb
language plpgsql set search_path = '' as $$
declare
  ledger_id bigint;
  settled billing.payment_events;
begin
  insert into billing.payment_events as l (
    event_id, body_hash, type, status, subscription_id, provider_plan_id, claimed_organization_id, occurred_at,
    period_ends_at,
    paid_count, auth_attempts, rank, outcome, received_at
  )
  select event_id, decode(body_hash, 'hex'), e.type, e.status,
    e.subscription_id, e.provider_plan_id,
    e.organization_id, e.occurred_at, e.period_ends_at, e.paid_count, e.auth_attempts, e.rank,
    case when e.status is null then 'ignored' else 'parked' end, at
  from jsonb_to_record(event) as e (
    type text, status text, subscription_id text, provider_plan_id text, organization_id text, occurred_at timestamptz,
    period_ends_at timestamptz,
    paid_count int, auth_attempts int, rank smallint
  )
  on conflict on constraint payment_events_body_hash_key do nothing
  returning l.id into ledger_id;
  if not found then
    return '{"outcome":"duplicate"}';
  end if;

  if event ->> 'status' is not null and event ->> 'subscription_id' is not null then
    perform billing.settle_subscription(event ->> 'subscription_id', at);
  end if;
  select * into settled from billing.payment_events as l where l.id = ledger_id;
  return jsonb_strip_nulls(jsonb_build_object(
    'outcome', settled.outcome,
    'organization_id', settled.organization_id,
    'no_effect', settled.no_effect,
    'reason', case
      when settled.outcome = 'parked' then billing.parked_reason(settled, at)
      when settled.claimed_organization_id <> settled.organization_id then 'other_organization'
    end
  ));
end
$$;
comment on function public.apply_payment_event is
  'Takes one verified event: {"outcome": applied | duplicate | stale | ignored | parked, "organization_id"?, '
  '"no_effect"?, "reason"?}. no_effect says why it was applied and changed nothing; the reason why an event is parked, '
  'or that its notes name another organization than the one it is bound to. body_hash alone tells a duplicate.';

create or replace function public.replay_parked_events(
  subscription_id text default null, organization_id text default null, at timestamptz default now()
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  waiting text[];
  one text;
  parked_before bigint;
  parked_after bigint;
begin
  if organization_id is not null then
    insert into billing.subscriptions as s (id, organization_id)
      values (subscription_id, organization_id)
    on conflict on constraint subscriptions_pkey do update set organization_id = excluded.organization_id
      where s.organization_id is null or s.organization_id = excluded.organization_id;
    if not found then
      raise exception 'Subscription % belongs to another organization',
        subscription_id using errcode = 'PT409';
    end if;
  end if;

  select count(*) into parked_before from billing.payment_events as e where e.outcome = 'parked';
  waiting := array(
    select distinct p.subscription_id
    from billing.payment_events as p
    where p.outcome = 'parked' and p.subscription_id is not null
      and p.subscription_id = coalesce(replay_parked_events.subscription_id, p.subscription_id)
    order by p.subscription_id
  );
  -- All of them before any organization, as each event has its own first: else an event and this would wait for each
  -- other.
  insert into billing.subscriptions (id) select w.id from unnest(waiting) as w (id)
    order by w.id on conflict do nothing;
  perform from billing.subscriptions as s where s.id = any (waiting) order by s.id for update;
  foreach one in array waiting loop
    perform billing.settle_subscription(one, at);
  end loop;
  select count(*) into parked_after from billing.payment_events as e where e.outcome = 'parked';
  return jsonb_build_object('replayed', parked_before - parked_after, 'parked', parked_after);
end
$$;
comment on function public.replay_parked_events is
  'Lets parked events count now that their plan or organization is known: {"replayed","parked"}. With both arguments '
  'it first binds an unbound subscription to an organization; it never binds one anew.';

-- schemas/oauth/rate_limits.sql

-- Rate limits, both kinds. Token buckets for what programs do: they are drawn from inside the very call that they
-- protect, so that a limit costs no round trip of its own. Attempts, counted one by one, for what a person may try a
-- few times an hour.

-- Unlogged: after a crash every bucket is full again, which harms nobody, and no limit writes to the log of the
-- database.
create unlogged table oauth.rate_buckets (
  key text primary key constraint rate_buckets_key_length check (length(key) between 1 and 200),
  full_at timestamptz not null
) with (fillfactor = 50);
comment on table oauth.rate_buckets is
  'How far limits are used up, by name of the limit and keyed hash of whom it is for. What is not here is unused.';
comment on column oauth.rate_buckets.full_at is
  'When the bucket will be full again if nothing more is drawn. After that the row says nothing.';
alter table oauth.rate_buckets enable row level security;
grant select, insert, update, delete on oauth.rate_buckets to service_role;

create or replace function oauth.wait_for_bucket(key text, at_most integer, seconds double precision, at timestamptz)
  returns integer
language plpgsql stable set search_path = '' as $$
declare
  span constant interval := make_interval(secs => seconds);
  full_again constant timestamptz := (select b.full_at from oauth.rate_buckets as b where b.key = wait_for_bucket.key);
  missing constant interval := full_again + make_interval(secs => seconds / at_most) - (at + span);
begin
  -- Further ahead than any draw can lead: the clock was set back, and what it said before counts no more.
  if full_again is null or full_again > at + 2 * span or missing <= interval '1 millisecond' then
    return 0;
  end if;
  return greatest(1, ceil(extract(epoch from missing)));
end
$$;
comment on function oauth.wait_for_bucket is
  'Seconds until one more can be drawn from a bucket of at_most that fills within so many seconds; 0 when it can now. '
  'Draws nothing and locks nothing.';

create or replace function oauth.draw_from_bucket(key text, at_most integer, seconds double precision, at timestamptz)
  returns integer
language plpgsql volatile set search_path = '' as $$
declare
  span constant interval := make_interval(secs => seconds);
  -- What one costs: the bucket is full again that much later.
  cost constant interval := make_interval(secs => seconds / at_most);
  wait constant integer := oauth.wait_for_bucket(key, at_most, seconds, at);
begin
  -- Whoever is refused neither waits for the row nor writes it, so that a flood is cheaper than what it asks for.
  if wait > 0 then
    return wait;
  end if;
  insert into oauth.rate_buckets as b (key, full_at) values (key, at + cost)
  on conflict on constraint rate_buckets_pkey do update
    set full_at = case when b.full_at > at + 2 * span then at else greatest(b.full_at, at) end + cost
    where b.full_at > at + 2 * span or greatest(b.full_at, at) + cost <= at + span + interval '1 millisecond';
  if found then
    return 0;
  end if;
  -- Somebody else has drawn the last one meanwhile.
  return greatest(1, oauth.wait_for_bucket(key, at_most, seconds, at));
end
$$;
comment on function oauth.draw_from_bucket is
  'Draws one from a bucket of at_most that fills within so many seconds: 0, or the seconds until there is one. What is '
  'refused is not counted.';

create or replace function oauth.share_of_bucket(key text, at_most integer, seconds double precision, at timestamptz)
  returns integer
language plpgsql stable strict set search_path = '' as $$
declare
  until_full constant double precision :=
    extract(epoch from (select b.full_at from oauth.rate_buckets as b where b.key = share_of_bucket.key) - at);
begin
  -- Further ahead than any draw can lead: the clock was set back, and the bucket counts as full.
  return greatest(1,
    floor(at_most * (1 - case when until_full between 0 and 2 * seconds then until_full else 0 end / seconds) / 10));
end
$$;
comment on function oauth.share_of_bucket is
  'What one caller may take of a bucket that all share: a tenth of what is left in it, so that callers together come '
  'near to its end and never get there; and one.';

-- schemas/oauth/claim_attempt.sql

create or replace function oauth.draw_quotas(quotas jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  quota record;
  wait integer;
begin
  for quota in
    select q.key, q.seconds, least(q.at_most, oauth.share_of_bucket(s.key, s.at_most, s.seconds, at)) as at_most
    from jsonb_to_recordset(quotas) as q (key text, at_most integer, seconds double precision, share_of jsonb),
      jsonb_to_record(q.share_of) as s (key text, at_most integer, seconds double precision)
  loop
    wait := oauth.draw_from_bucket(quota.key, quota.at_most, quota.seconds, at);
    exit when wait > 0;
  end loop;
  return coalesce(wait, 0);
end
$$;
comment on function oauth.draw_quotas is
  'Draws one from each bucket of [{"key","at_most","seconds"}], in this order, up to the first that is empty: 0, or '
  'the seconds until that one is not. The narrowest comes first: who is stopped there must not use up what is left to '
  'others. One with "share_of", a bucket of the same form, holds no more than a caller''s share of what is left in '
  'that.';

create or replace function oauth.limited(wait integer) returns jsonb
language sql immutable set search_path = '' as $$
  select case when wait > 0 then jsonb_build_object('outcome', 'limited', 'retry_after', wait) end
$$;
comment on function oauth.limited is 'The outcome of a call that has so many seconds to wait; null when it has none.';

-- Attempts: sign-in mails, typed codes, confirmation mails

create table identity.attempts (
  key_hash text primary key,
  attempted_at timestamptz[] not null
);
comment on table identity.attempts is
  'When something that is limited by the hour was last tried, by keyed hash of an address or of a sign-in. A row is '
  'worthless an hour after its last attempt.';
alter table identity.attempts enable row level security;
grant select, insert, update, delete on identity.attempts to service_role;

create or replace function public.claim_attempt(key_hash text, at_most integer, seconds_apart integer, quotas jsonb,
  at timestamptz) returns jsonb
language plpgsql set search_path = '' as $$
declare
  -- The caller first: who is stopped there must not use up what is left to others.
  limited constant jsonb := oauth.limited(oauth.draw_quotas(quotas, at));
  since constant timestamptz := at - interval '1 hour';
  apart constant interval := make_interval(secs => seconds_apart);
  earlier timestamptz[];
begin
  if limited is not null then
    return limited;
  end if;
  -- One conditional statement: the row it locks is the queue of everybody who asks at once.
  insert into identity.attempts as a (key_hash, attempted_at) values (key_hash, array[at])
  on conflict on constraint attempts_pkey do update
    set attempted_at = array(select t from unnest(a.attempted_at) as t where t > since) || at
    where (select count(*) from unnest(a.attempted_at) as t where t > since) < at_most
      and not exists (select from unnest(a.attempted_at) as t where t > at - apart);
  if found then
    return '{"outcome":"allowed"}';
  end if;
  select array_agg(t order by t desc) into earlier
  from identity.attempts as a, unnest(a.attempted_at) as t
  where a.key_hash = claim_attempt.key_hash and t > since;
  -- Room comes when the oldest of the last `at_most` is an hour old, and not before the pause is over.
  -- At least a second, whatever the limits are: who was refused has to wait.
  return oauth.limited(greatest(
    1, ceil(extract(epoch from greatest(earlier[1] + apart, earlier[at_most] + interval '1 hour') - at))::integer));
end
$$;
comment on function public.claim_attempt is
  'Counts one attempt within the last hour, key_hash telling at what: {"outcome":"allowed"} or {"outcome":"limited", '
  '"retry_after": seconds until there is room}; what is refused is not counted. quotas: of the caller.';

-- schemas/oauth/tables.sql

-- OAuth: which clients may ask, what a person decided and granted, which codes are spent, which tokens live.
-- Invariants: neither tokens nor codes are stored, only SHA-256 digests and code ids; a grant cannot outlive the
-- membership it was given under, nor a token its grant; a code is redeemed once; a refresh token has one successor.
-- Row-level security is on without policies: these tables are the service's own.

create table oauth.clients (
  client_id text primary key
    constraint clients_client_id_format check (client_id ~ '^(client_|https://)' and octet_length(client_id) <= 512),
  client_name text not null constraint clients_client_name_length check (length(client_name) between 1 and 200),
  redirect_uris text[] not null
    constraint clients_redirect_uris_count check (cardinality(redirect_uris) between 1 and 10),
  registered_by text constraint clients_registered_by_length check (length(registered_by) <= 100),
  created_at timestamptz not null,
  granted_at timestamptz,
  -- Anybody may leave these here: with the id, which a document's client has in four places, and the indexes, a row
  -- stays under 4 kB.
  constraint clients_metadata_size
    check (octet_length(client_name) + octet_length(array_to_string(redirect_uris, '')) <= 2048),
  constraint clients_registered_by_forgotten check (granted_at is null or registered_by is null)
);
comment on table oauth.clients is
  'Public clients: self-registered (RFC 7591), or known by the metadata that they publish. They have no secret, and '
  'what they say of themselves is their word.';
comment on column oauth.clients.client_id is
  'client_… as issued at registration, or the https URL of a metadata document, whose host vouches for what it says.';
comment on column oauth.clients.client_name is 'As the client calls itself, without control and direction marks.';
comment on column oauth.clients.redirect_uris is
  'Compared exactly, but for the port of http on loopback (RFC 8252 section 7.3).';
comment on column oauth.clients.registered_by is
  'Keyed hash of the caller that it counts against until somebody authorizes it; null for nobody.';
comment on column oauth.clients.granted_at is
  'When somebody first authorized it. Until then it makes room for newer ones (oauth.make_room) and goes within a '
  'week; from then on it stays.';
create index clients_oldest_ungranted_idx on oauth.clients (created_at) where granted_at is null;
create index clients_registered_by_idx on oauth.clients (registered_by, created_at) where granted_at is null;

create table oauth.ungranted_counts (
  caller text collate "C" primary key,
  kept integer not null
);
comment on table oauth.ungranted_counts is
  'How many clients are kept that nobody has authorized: in all, and of each caller. Counting them for each '
  'registration would cost most when somebody floods us.';
comment on column oauth.ungranted_counts.caller is
  'As clients.registered_by; * for all, also those that count against nobody.';

create table oauth.grants (
  id uuid primary key default gen_random_uuid(),
  client_id text not null constraint grants_client_id_fkey references oauth.clients (client_id) on delete cascade,
  user_id uuid not null,
  organization_id text collate "C" not null,
  redirect_uri text not null,
  resource text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revocation_reason text constraint grants_revocation_reason_known
    check (
      revocation_reason
      in ('code_replayed', 'refresh_token_replayed', 'revoked_by_client', 'revoked_by_user', 'too_many')),
  alert_seen_at timestamptz,
  constraint grants_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint grants_revocation_explained check ((revoked_at is null) = (revocation_reason is null))
);
comment on table oauth.grants is
  'One consent: what one person allowed one client to do in one organization. Grants to the same client live side by '
  'side.';
comment on column oauth.grants.redirect_uri is
  'Where the code was sent; tells installations of one client apart on the account page.';
comment on column oauth.grants.resource is
  'The canonical resource identifier; tokens are good for nothing else (RFC 8707).';
comment on column oauth.grants.expires_at is 'The end of every token of the grant, however often it was refreshed.';
comment on column oauth.grants.last_used_at is
  'When the client last asked the connector for something, to within an hour; null when it never has.';
comment on column oauth.grants.revocation_reason is
  'too_many: the one that idled longest had to go when its person connected more than 20 clients to the organization.';
comment on column oauth.grants.alert_seen_at is 'When the person said that they know that the grant ended by a replay.';
create index grants_client_id_idx on oauth.grants (client_id);
create index grants_membership_idx on oauth.grants (user_id, organization_id);

create table oauth.consents (
  id uuid primary key,
  user_id uuid not null,
  organization_id text collate "C" not null,
  approved_at timestamptz not null,
  constraint consents_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade
);
comment on table oauth.consents is
  'Consent pages that were answered with Allow, so that a second press gets the same answer or none. Of no use after '
  'an hour.';
comment on column oauth.consents.id is 'Id of the signed page, and of the authorization code that it led to.';
create index consents_membership_idx on oauth.consents (user_id, organization_id);

create table oauth.used_codes (
  id uuid primary key,
  used_at timestamptz,
  wrong_verifiers smallint not null default 0
    constraint used_codes_wrong_verifiers_range check (wrong_verifiers between 0 and 5),
  -- Deferred: the code is spent first, in the one statement that decides a race, and the grant follows in the same
  -- transaction.
  grant_id uuid
    constraint used_codes_grant_id_fkey references oauth.grants (id) on delete set null deferrable initially deferred,
  code_expires_at timestamptz not null
);
comment on table oauth.used_codes is
  'Authorization codes that were redeemed or guessed at. The codes themselves are signed and self-contained.';
comment on column oauth.used_codes.wrong_verifiers is 'Failed PKCE proofs; the fifth burns the code.';
comment on column oauth.used_codes.grant_id is 'What the code was redeemed for; a replay ends it.';
comment on column oauth.used_codes.code_expires_at is
  'After that the signature alone refuses the code and the row may go.';
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
comment on column oauth.tokens.rotated_at is
  'When a refresh token was exchanged; from then on only a retry within the grace period is answered.';
comment on column oauth.tokens.successor_hash is
  'The refresh token it was exchanged for, which the function derives again from the presented one.';
create index tokens_grant_id_idx on oauth.tokens (grant_id);

-- schemas/oauth/count_ungranted.sql

create or replace function oauth.count_ungranted() returns trigger
language plpgsql set search_path = '' as $$
declare
  step constant integer := case tg_op when 'INSERT' then 1 else -1 end;
  callers text[];
begin
  if tg_op = 'UPDATE' then
    callers := array[coalesce(old.registered_by, '')];
  else
    callers := array(select coalesce(c.registered_by, '') from changed as c where c.granted_at is null);
  end if;
  if callers = '{}' then
    return null;
  end if;
  -- The row of all comes first: whoever has it may have the others.
  insert into oauth.ungranted_counts as u (caller, kept)
  select k.caller, step * k.count
  from (
    select '*' as caller, cardinality(callers) as count
    union all
    select c, count(*) from unnest(callers) as c where c <> '' group by c
  ) as k
  order by k.caller <> '*'
  on conflict on constraint ungranted_counts_pkey do update set kept = u.kept + excluded.kept;
  delete from oauth.ungranted_counts as u where u.caller = any (callers) and u.kept <= 0;
  return null;
end
$$;
comment on function oauth.count_ungranted is
  'Keeps oauth.ungranted_counts. Registrations queue at its row of all, from here to the end of their transactions: '
  'nothing may wait for a client after that.';

create trigger count_added after insert on oauth.clients referencing new table as changed
  for each statement execute function oauth.count_ungranted();
create trigger count_removed after delete on oauth.clients referencing old table as changed
  for each statement execute function oauth.count_ungranted();
create trigger count_granted after update on oauth.clients
  for each row when (old.granted_at is null and new.granted_at is not null) execute function oauth.count_ungranted();

alter table oauth.clients enable row level security;
alter table oauth.ungranted_counts enable row level security;
alter table oauth.grants enable row level security;
alter table oauth.consents enable row level security;
alter table oauth.used_codes enable row level security;
alter table oauth.tokens enable row level security;
grant select, insert, update, delete
  on oauth.clients, oauth.ungranted_counts, oauth.grants, oauth.consents, oauth.used_codes, oauth.tokens
  to service_role;

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
  'Whom an access token speaks for: outcome ok, or invalid_token and nothing else. The plan is the caller''s to judge.';

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
comment on function oauth.issue_tokens is
  'Stores a pair of tokens and answers the access token''s lifetime in seconds.';

create or replace function oauth.audit_grant(of_grant oauth.grants, event text, at timestamptz) returns void
language sql volatile set search_path = '' as $$
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  select at, of_grant.user_id, of_grant.organization_id, event, jsonb_strip_nulls(jsonb_build_object(
    'grant_id', of_grant.id, 'client_id', of_grant.client_id, 'reason', of_grant.revocation_reason,
    'client_name', (select c.client_name from oauth.clients as c where c.client_id = of_grant.client_id)
  ))
$$;
comment on function oauth.audit_grant is 'Writes down what happened to a grant; of a revocation also why.';

create or replace function oauth.end_grant(grant_id uuid, reason text, at timestamptz) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  ended oauth.grants;
begin
  update oauth.grants as g set revoked_at = at, revocation_reason = reason
  where g.id = grant_id and g.revoked_at is null
  returning g.* into ended;
  if not found then
    return false;
  end if;
  perform oauth.audit_grant(ended, 'grant.revoked', at);
  return true;
end
$$;
comment on function oauth.end_grant is 'Ends a grant and with it all its tokens; false when it had ended before.';

-- schemas/oauth/register_client.sql

-- The authorization server's calls: one a request, the client looked up in the same transaction. Refusals are returned
-- as outcomes, never raised: a raise would undo the revocation that a replay must leave behind. Where two requests may
-- meet, one conditional statement decides.
-- Any of them may answer {"outcome": "limited", "retry_after": seconds}. What `limits` and `quotas` name is drawn here,
-- in the same call; without them nothing is limited. Refusals draw on the caller's bucket and successes on the grant's,
-- and a dead token has its own bucket. So nobody with a good code or token is turned away because of what others sent,
-- be it from the same address or with a token that was theirs once.

create or replace function oauth.refuse(outcome text, client_id text, limits jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return coalesce(oauth.limited(oauth.draw_quotas(limits -> 'caller', at)), jsonb_build_object('outcome', case
    when exists (select from oauth.clients as c where c.client_id = refuse.client_id) then outcome
    else 'unknown_client'
  end));
end
$$;
comment on function oauth.refuse is
  'A refusal, for which the caller pays: this outcome, unknown_client when there is no such client, or limited.';

create or replace function oauth.draw_allowance(subject text, limits jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
begin
  if limits -> 'grant' is null then
    return 0;
  end if;
  return oauth.draw_from_bucket(subject, (limits #>> '{grant,at_most}')::integer,
    (limits #>> '{grant,seconds}')::double precision, at);
end
$$;
comment on function oauth.draw_allowance is
  'Draws one from what a grant, or a token that died in it, may ask of the token endpoint: 0, or the seconds until it '
  'may again. subject: which of them.';

create or replace function oauth.make_room(room jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  at_most constant integer := room ->> 'at_most';
  settling constant interval := make_interval(secs => (room ->> 'seconds')::double precision);
  caller constant text := room ->> 'caller';
  kept constant integer := coalesce((select u.kept from oauth.ungranted_counts as u where u.caller = '*'), 0);
  own constant integer :=
    coalesce((select u.kept from oauth.ungranted_counts as u where u.caller = room ->> 'caller'), 0);
  oldest timestamptz;
begin
  if room is null then
    return 0;
  end if;
  -- A twentieth of what is free, so that callers together come near to everything and never get there; and one, whoever
  -- else is here.
  if caller is null or own < greatest(1, (at_most - kept) / 20.0) then
    if kept >= at_most then
      delete from oauth.clients as c where c.client_id = (
        select o.client_id from oauth.clients as o where o.granted_at is null order by o.created_at
          limit 1 for update skip locked
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
  'Makes room for one more client that nobody has authorized, of {"caller","at_most","seconds"}: 0, or the seconds '
  'until there is. at_most are kept. A caller within its share takes the place of the oldest when they are all there; '
  'one over it takes its own oldest one''s, once that is so many seconds old. Callers that meet may exceed at_most by '
  'as many as they are.';

create or replace function public.register_client(
  client_id text, client_name text, redirect_uris text[], at timestamptz, quotas jsonb default null,
  room jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  limited constant jsonb :=
    coalesce(oauth.limited(oauth.draw_quotas(quotas, at)), oauth.limited(oauth.make_room(room, at)));
begin
  if limited is not null then
    return limited;
  end if;
  insert into oauth.clients (client_id, client_name, redirect_uris, registered_by, created_at)
  values (client_id, client_name, redirect_uris, room ->> 'caller', at);
  return '{"outcome": "registered"}';
end
$$;
comment on function public.register_client is
  'Stores a client that registered itself, under the id that the function made up, where oauth.make_room finds room. '
  'Registering the same twice makes two.';

-- schemas/oauth/approve_consent.sql

create or replace function public.find_client(client_id text, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return oauth.refuse('found', client_id, limits, at);
end
$$;
comment on function public.find_client is
  'For requests that are refused whoever the client is: outcome found or unknown_client.';

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
    'onboarded',
    exists (select from identity.profiles as p where p.user_id = consent_of.user_id and p.country is not null),
    'plans_enabled', billing.plans_enabled(),
    'organizations', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'organization_id', o.id, 'name', o.name, 'role', m.role, 'plan', identity.effective_plan(o, at),
        'has_connector', identity.organization_has_feature(o.id, 'ai:connector', at),
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
  'All that an authorization request is judged by: the client (null when unknown) and, for a signed-in person, where '
  'they have it connected and their organizations.';

create or replace function public.open_consent(client_id text, user_id uuid, at timestamptz, quotas jsonb default null)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return coalesce(oauth.limited(oauth.draw_quotas(quotas, at)), oauth.consent_of(client_id, user_id, at));
end
$$;
comment on function public.open_consent is
  'What an authorization request of a registered client is judged by: '
  '{"client","approved","onboarded","plans_enabled","organizations"}.';

create or replace function public.approve_consent(consent_id uuid, client_id text, user_id uuid, organization_id text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  consent oauth.consents;
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

  insert into oauth.consents (id, user_id, organization_id, approved_at)
    values (consent_id, user_id, organization_id, at)
  on conflict on constraint consents_pkey do nothing;
  select * into strict consent from oauth.consents as c where c.id = consent_id;
  if consent.approved_at + interval '30 seconds' < at
    or exists (select from oauth.used_codes as u where u.id = consent_id and u.used_at is not null) then
    return '{"outcome": "already_decided"}';
  end if;
  return jsonb_build_object('outcome', 'approved', 'organization_id', consent.organization_id, 'approved_at',
    consent.approved_at);
end
$$;
comment on function public.approve_consent is
  'Records that a consent page was answered with Allow: outcome approved (again, for 30 seconds while the code is '
  'unused: the first answer), already_decided, unknown_client, not_a_member or feature_not_in_plan.';

-- schemas/oauth/redeem_authorization_code.sql

create or replace function public.redeem_authorization_code(
  code_id uuid, code_expires_at timestamptz, client_id text, redirect_uri text, user_id uuid, organization_id text,
  resource text,
  access_token_hash text, refresh_token_hash text, at timestamptz, limits jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  new_grant oauth.grants;
  spent oauth.used_codes;
  is_member boolean;
begin
  perform from oauth.clients as c where c.client_id = redeem_authorization_code.client_id for key share;
  if not found then
    return oauth.refuse('unknown_client', client_id, limits, at);
  end if;
  -- One at a time of a person in an organization: their grants are counted below.
  perform from identity.memberships as m
  where m.organization_id = redeem_authorization_code.organization_id and m.user_id = redeem_authorization_code.user_id
    and identity.is_active(m.user_id, at)
  for no key update;
  is_member := found;

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
    -- Whoever gets here has proven the verifier: the code leaked together with it, or the client is broken (RFC 6749
    -- section 4.1.2). It counts while its person is suspended too: they may be back before the grant ends.
    perform oauth.end_grant(spent.grant_id, 'code_replayed', at);
    return oauth.refuse('replayed', client_id, limits, at);
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
  'Spends a code that passed every check of its contents, and stores the grant and its first tokens: outcome redeemed, '
  'unknown_client, not_a_member, burnt, or replayed, which ends the grant that the code was first redeemed for.';

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
  'Counts a failed PKCE proof without spending the code: whoever saw a code in transit must be able neither to use it '
  'nor to end a session by it.';

-- schemas/oauth/rotate_refresh_token.sql

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
  -- Of all who present it at once, one gets the row while it is not rotated yet; the others wait here and then find
  -- that it is.
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
    return oauth.refuse('unknown_token', client_id, limits, at);
  end if;
  outcome := case
    when of_grant.revoked_at is not null then 'revoked'
    when old.expires_at <= at then 'expired'
    when old.rotated_at + interval '60 seconds' < at then 'replayed'
    -- Not rotated either: the token is as good as before when the ban ends.
    when not identity.is_active(of_grant.user_id, at) then 'suspended'
  end;
  if outcome = 'replayed' then
    perform oauth.end_grant(of_grant.id, 'refresh_token_replayed', at);
  elsif outcome is not null then
    -- A dead token of a living client must be told so, whatever comes from the same address; one that keeps asking
    -- waits on its own account.
    wait := oauth.draw_allowance('token_dead:' || token_hash, limits, at);
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  else
    -- Processes that share a login refresh at the same time, and answers get lost: within the grace period a retry gets
    -- the same successor.
    select t.* into strict successor from oauth.tokens as t where t.token_hash = old.successor_hash;
    if successor.rotated_at is null then
      return jsonb_build_object(
        'outcome', 'rotated', 'grant_id', of_grant.id, 'successor_hash', encode(old.successor_hash, 'hex'),
        'expires_in', ceil(
          extract(epoch from least(successor.issued_at + interval '3600 seconds', of_grant.expires_at) - at))::integer
      );
    end if;
    outcome := 'superseded';
  end if;
  return jsonb_build_object('outcome', outcome, 'grant_id', of_grant.id);
end
$$;
comment on function public.rotate_refresh_token is
  'Exchanges a refresh token for the successor derived from it. Outcome rotated: with the successor that stands, which '
  'for 60 seconds is the same however often it is asked for. Outcomes without effect: unknown_client, unknown_token '
  '(also another client''s), revoked, expired, suspended (the person is), superseded (the successor was used). Outcome '
  'replayed: reuse after the grace period, which ends the grant (RFC 9700 section 4.14.2).';

-- schemas/oauth/revoke_token.sql

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
  'unknown_token, also for another client''s.';

create or replace function public.list_connected_apps(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'grant_id', g.id, 'client_id', c.client_id, 'client_name', c.client_name, 'redirect_uri', g.redirect_uri,
      'organization_id', o.id, 'organization_name', o.name, 'created_at', g.created_at, 'last_used_at', g.last_used_at,
      'last_change', (
        select jsonb_build_object('tool', s.tool, 'at', s.created_at)
        from app.change_sets as s
        where s.grant_id = g.id and s.organization_id = g.organization_id
        order by s.recorded_seq desc
        limit 1
      )
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
comment on function public.list_connected_apps is
  'The grants of a person that still hold a live token, newest first: an array for the account page.';

create or replace function public.list_grant_alerts(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'grant_id', g.id, 'client_name', c.client_name, 'organization_name', o.name, 'ended_at', g.revoked_at, 'reason',
      g.revocation_reason
    ) order by g.revoked_at desc, g.id), '[]')
    from oauth.grants as g
    join oauth.clients as c on c.client_id = g.client_id
    join identity.organizations as o on o.id = g.organization_id
    where g.user_id = list_grant_alerts.user_id and g.revocation_reason in ('code_replayed', 'refresh_token_replayed')
      and g.alert_seen_at is null
  );
end
$$;
comment on function public.list_grant_alerts is
  'The grants of a person that ended because a code or token of theirs came back, until the person has said that they '
  'know: an array, newest first.';

create or replace function public.dismiss_grant_alerts(user_id uuid, until timestamptz, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update oauth.grants as g set alert_seen_at = at
  where g.user_id = dismiss_grant_alerts.user_id and g.revocation_reason in ('code_replayed', 'refresh_token_replayed')
    and g.alert_seen_at is null and g.revoked_at <= until;
  return '{"outcome": "dismissed"}';
end
$$;
comment on function public.dismiss_grant_alerts is
  'Notes that a person has seen the alerts of grants that ended until an instant; later ones stay.';

create or replace function public.record_use(token_hash text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update oauth.grants as g set last_used_at = at
  where g.id
    = (select t.grant_id from oauth.tokens as t
    where t.token_hash = decode(record_use.token_hash, 'hex') and t.kind = 'access')
    and (g.last_used_at is null or g.last_used_at <= at - interval '1 hour');
  return jsonb_build_object('outcome', case when found then 'recorded' else 'recent' end);
end
$$;
comment on function public.record_use is
  'Notes that the client of an access token is in use, at most once an hour a grant: outcome recorded or recent.';

create or replace function public.revoke_grant(user_id uuid, grant_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if exists (select from oauth.grants as g where g.id = grant_id and g.user_id = revoke_grant.user_id)
    and oauth.end_grant(grant_id, 'revoked_by_user', at) then
    return '{"outcome": "revoked"}';
  end if;
  return '{"outcome": "unknown_grant"}';
end
$$;
comment on function public.revoke_grant is
  'Disconnects an app on its owner''s word: outcome revoked, or unknown_grant, also for another person''s and for one '
  'that has ended.';

-- schemas/oauth/client_documents.sql

-- Clients that publish their metadata at an https URL, which is their id: what was last read there, and until when it
-- counts. Fetching is the function's part; when to, and how often at most, is decided here, in the call that reads what
-- is known.

create table oauth.client_documents (
  client_id text primary key
    constraint client_documents_client_id_fkey references oauth.clients (client_id) on delete cascade,
  fetched_at timestamptz not null,
  fresh_until timestamptz not null,
  constraint client_documents_fresh_for_a_while
    check (fresh_until between fetched_at + interval '5 minutes' and fetched_at + interval '24 hours')
);
comment on table oauth.client_documents is
  'Metadata documents of clients: when they were read. What they say stands with the client; what could not be read, '
  'or was no good, leaves nothing here.';
comment on column oauth.client_documents.fresh_until is
  'As its owner said, within 5 minutes and 24 hours. For another 24 hours it serves people who use the client already, '
  'while it cannot be read again.';
alter table oauth.client_documents enable row level security;
grant select, insert, update, delete on oauth.client_documents to service_role;

create or replace function public.open_document_consent(
  client_id text, user_id uuid, quotas jsonb, at timestamptz, page_quotas jsonb default null,
  known_quotas jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  fresh_until timestamptz;
  wait integer := oauth.draw_quotas(page_quotas, at);
begin
  if wait > 0 then
    return oauth.limited(wait);
  end if;
  select d.fresh_until into fresh_until from oauth.client_documents as d
    where d.client_id = open_document_consent.client_id;
  if fresh_until is null or fresh_until <= at then
    -- Whoever floods us with documents of their own takes none of what is there for clients that people use.
    wait := oauth.draw_quotas(case
      when exists (select from oauth.clients as c
        where c.client_id = open_document_consent.client_id and c.granted_at is not null) then known_quotas
      else quotas
    end, at);
  end if;
  return oauth.consent_of(client_id, user_id, at) || jsonb_build_object(
    'document', case when fresh_until > at then 'fresh' when wait = 0 then 'due' else 'limited' end,
    'retry_after', wait,
    'serves_stale', coalesce(fresh_until + interval '24 hours' > at, false) and exists (
      select from oauth.grants as g
      where g.client_id = open_document_consent.client_id and g.revoked_at is null and g.expires_at > at
    )
  );
end
$$;
comment on function public.open_document_consent is
  'As open_consent, for a client whose id is the URL of its metadata, with what is known of its document: fresh; due, '
  'to be fetched now, for which the quotas were drawn from, or known_quotas when somebody has connected the client; or '
  'limited, not to be fetched for retry_after seconds. serves_stale: known well enough to do without, should fetching '
  'fail.';

create or replace function public.store_client_document(
  client_id text, client_name text, redirect_uris text[], fresh_until timestamptz, user_id uuid, at timestamptz,
  room jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wait integer;
begin
  if not exists (select from oauth.clients as c where c.client_id = store_client_document.client_id) then
    wait := oauth.make_room(room, at);
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  insert into oauth.clients as c (client_id, client_name, redirect_uris, registered_by, created_at)
  values (client_id, client_name, redirect_uris, room ->> 'caller', at)
  on conflict on constraint clients_pkey do update set client_name = excluded.client_name,
    redirect_uris = excluded.redirect_uris
  where (c.client_name, c.redirect_uris) is distinct from (excluded.client_name, excluded.redirect_uris);
  insert into oauth.client_documents (client_id, fetched_at, fresh_until) values (client_id, at, fresh_until)
  on conflict on constraint client_documents_pkey do update set fetched_at = excluded.fetched_at,
    fresh_until = excluded.fresh_until;
  return oauth.consent_of(client_id, user_id, at);
end
$$;
comment on function public.store_client_document is
  'Takes over what a client''s document says, a new one''s where oauth.make_room finds room, and answers as '
  'open_consent. Grants that it has stay as they are; what it may ask for from now on is what it says now.';

-- schemas/expenses/tables.sql

-- What the product keeps: categories, expenses and bills, occurrences, payments, exchange rates, provider links, and
-- every change made to them.
-- Invariants: no row points into another organization (composite keys); money is positive minor units, its direction a
-- column; a one-off expense has no schedule and a bill always has one; an occurrence is closed exactly when it is not
-- open.
-- Ids that rows are joined by compare as bytes: under a language's rules a lookup costs three times as much, and no id
-- is in a language.

create table app.categories (
  id text collate "C" primary key default app.new_id('cat')
    constraint categories_id_format check (id ~ '^cat_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null constraint categories_name_length check (length(btrim(name)) between 1 and 60),
  archived_at timestamptz,
  is_private boolean not null default false,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id)
);
comment on table app.categories is 'What money is spent on, in the organization''s own words.';
comment on column app.categories.is_private is
  'Whether only those see it, and what is in it, who have the right books:private.';
-- One of each name that is private, one that is not: who sees only the one must not learn of the other by its name.
create unique index categories_name_idx on app.categories (organization_id, lower(name), is_private);

create table app.expenses (
  id text collate "C" primary key
    constraint expenses_id_format check (id ~ '^(exp|bill)_[0-9a-z]+$' and length(id) between 12 and 37),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  kind text not null constraint expenses_kind_known check (kind in ('one_off', 'bill')),
  name text not null constraint expenses_name_length check (length(btrim(name)) between 1 and 120),
  payee text constraint expenses_payee_length check (length(payee) between 1 and 120),
  match_key text not null generated always as (lower(coalesce(payee, name))) stored,
  category_id text collate "C",
  tags text[] not null default '{}' constraint expenses_tags_count check (cardinality(tags) <= 10),
  note text constraint expenses_note_length check (length(note) between 1 and 2000),
  url text constraint expenses_url_shape check (length(url) <= 2000 and url ~ '^https?://[^\s/?#@\\]+([/?#]\S*)?$'),

  amount_mode text constraint expenses_amount_mode_known check (amount_mode in ('fixed', 'estimated', 'variable')),
  amount_minor bigint constraint expenses_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text references app.currencies (code),
  share_bp int not null default 10000 constraint expenses_share_bp_range check (share_bp between 1 and 10000),
  frequency text
    constraint expenses_frequency_known check (frequency in ('once', 'daily', 'weekly', 'monthly', 'yearly')),
  every smallint constraint expenses_every_range check (every between 1 and 120),
  anchor_on date,
  month_days smallint[] constraint expenses_month_days_shape check (
    month_days is null or (
      frequency = 'monthly' and cardinality(month_days) between 1 and 4
      and (
        -1 <= all (month_days) and 31 >= all (month_days) and not 0 = any (month_days)
        or 101 <= all (month_days) and 507 >= all (month_days)
      )
    )
  ),
  weekend_rule text constraint expenses_weekend_rule_known check (weekend_rule in ('none', 'before', 'after')),
  ends_on date,
  ends_after int constraint expenses_ends_after_range check (ends_after between 1 and 1200),
  tracked_from date,
  next_due date,
  autopay boolean not null default false,
  trial_ends_on date,
  renews_on date,
  notice_days smallint constraint expenses_notice_days_range check (notice_days between 0 and 365),
  status text constraint expenses_status_known check (status in ('active', 'paused', 'ended', 'cancelled')),
  reminder_enabled boolean not null default false,
  remind_days_before smallint constraint expenses_remind_days_before_range check (remind_days_before between 0 and 90),
  remind_again smallint[] not null default '{}'
    constraint expenses_remind_again_shape check (
      cardinality(remind_again) <= 4 and 0 <= all (remind_again) and remind_days_before > all (remind_again)
    ),
  assignee_id uuid,

  source text not null default 'assistant'
    constraint expenses_source_known check (source in ('assistant', 'import', 'provider')),
  external_id text constraint expenses_external_id_length check (length(external_id) between 1 and 128),
  created_by uuid,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),

  -- In this order it also serves who reads all of an organization: were there an index for that alone, lookups of rows
  -- by both could be planned through it, and on a table that the planner knows nothing of they are.
  unique (organization_id, id),
  foreign key (category_id, organization_id) references app.categories (id, organization_id),
  constraint expenses_id_says_kind check ((kind = 'bill') = (id like 'bill\_%')),
  constraint expenses_one_off_has_no_schedule check (
    kind = 'bill' or (
      amount_mode is null and amount_minor is null and currency is null and frequency is null and every is null
        and anchor_on is null and month_days is null
      and weekend_rule is null and ends_on is null and ends_after is null and tracked_from is null and next_due is null
        and status is null and not reminder_enabled
    )
  ),
  constraint expenses_bill_has_schedule check (
    kind = 'one_off' or (
      amount_mode is not null and currency is not null and frequency is not null and every is not null
        and anchor_on is not null
      and weekend_rule is not null and tracked_from is not null and status is not null
    )
  ),
  constraint expenses_bill_has_amount check (kind = 'one_off' or amount_mode = 'variable' or amount_minor is not null),
  constraint expenses_ended_has_no_due check (status in ('active', 'paused') or next_due is null),
  constraint expenses_ends_after_start check (ends_on >= anchor_on)
) with (fillfactor = 85);
comment on table app.expenses is
  'An expense that happened once, or a bill that comes again. What was paid is in payments, what is due in '
  'expense_occurrences.';
comment on column app.expenses.url is
  'A link to the receipt or the order: http or https, without a name or password in it.';
comment on column app.expenses.anchor_on is
  'First scheduled date; every later one is counted from here, never from the one before.';
comment on column app.expenses.month_days is
  'Days of the month, -1 for the last, or weekdays of it (app.month_weekday); null: the day of the anchor.';
comment on column app.expenses.tracked_from is
  'Scheduled dates before this day were never ours to watch and are neither open nor overdue.';
comment on column app.expenses.next_due is
  'Due date of the earliest open occurrence on or after today in the owner''s zone; derived, kept by app.refresh_bill.';
comment on column app.expenses.share_bp is
  'The organization''s share in hundredths of a percent; payments keep the full amount.';
comment on column app.expenses.remind_again is
  'Further reminders, this many days before: fewer than remind_days_before, the most first.';
comment on column app.expenses.assignee_id is
  'The member who looks after the bill and is reminded of it too; counts while they are one.';
comment on column app.expenses.external_id is 'The caller''s own id of the thing, unique per source.';
comment on column app.expenses.match_key is
  'To whom the money goes, else what for: what makes two expenses the same. A column, since under row-level security '
  'no index on an expression is used.';
comment on column app.expenses.recorded_seq is
  'Counts up in the order of recording: which of two came later, whatever the clock said.';
-- Once for whoever recorded it, in a category: an id that is taken by what is kept from a person must not say so.
create unique index expenses_external_id_idx
  on app.expenses (organization_id, source, external_id, created_by, coalesce(category_id, '')) nulls not distinct
  where external_id is not null and deleted_at is null;
create index expenses_category_id_idx on app.expenses (category_id, organization_id);
create index expenses_currency_idx on app.expenses (currency);
-- Which bills are active? Not by next_due: a bill that rolls moves within its page, and no index, as long as none has
-- the date in it.
create index expenses_active_idx on app.expenses (organization_id)
  where kind = 'bill' and status = 'active' and deleted_at is null;
-- Which bills are there at all?
create index expenses_bills_idx on app.expenses (organization_id, status, recorded_seq)
  where kind = 'bill' and deleted_at is null;
-- Which category did this payee, or a thing of this name, have last time?
create index expenses_match_key_idx on app.expenses (organization_id, match_key, recorded_seq) where deleted_at is null;

-- schemas/expenses/payments.sql

create table app.expense_occurrences (
  id text collate "C" default app.new_id('occ')
    constraint expense_occurrences_id_format check (id ~ '^occ_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  scheduled_on date not null,
  due_on date not null,
  expected_minor bigint
    constraint expense_occurrences_expected_minor_range check (expected_minor between 1 and 1000000000000000),
  currency text not null,
  amount_source text not null default 'rule'
    constraint expense_occurrences_amount_source_known check (amount_source in ('rule', 'override', 'provider')),
  status text not null default 'open'
    constraint expense_occurrences_status_known check (status in ('open', 'paid', 'skipped')),
  snoozed_until date,
  paid_minor bigint not null default 0,
  closed_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  -- Not of the id alone and of both besides: the table with the most writes has one index fewer.
  primary key (id, organization_id),
  unique (expense_id, organization_id, scheduled_on),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint expense_occurrences_closed_dated check ((status = 'open') = (closed_at is null))
);
comment on table app.expense_occurrences is
  'One due date of a bill: expected, then paid or skipped. Rows exist up to the current due date; later dates are '
  'computed.';
comment on column app.expense_occurrences.scheduled_on is 'Identity: the date by the schedule alone.';
comment on column app.expense_occurrences.currency is
  'Copied from the bill, whose currency is checked: checking it again takes the job that makes occurrences a tenth '
  'longer.';
comment on column app.expense_occurrences.due_on is 'The scheduled date after the weekend rule.';
comment on column app.expense_occurrences.paid_minor is
  'Derived: what was paid of it less what came back, so that what is open is read without the payments.';
comment on column app.expense_occurrences.expected_minor is 'Null while the amount of a variable bill is not known.';
create index expense_occurrences_open_idx on app.expense_occurrences (organization_id, due_on) where status = 'open';
-- What is due on a day, whoever's it is?
create index expense_occurrences_due_idx on app.expense_occurrences (due_on, expense_id) where status = 'open';
-- What waits for its amount?
create index expense_occurrences_unknown_idx on app.expense_occurrences (due_on, expense_id)
  where status = 'open' and expected_minor is null;
-- What is to be reminded of again on a day?
create index expense_occurrences_snoozed_until_idx on app.expense_occurrences (snoozed_until)
  where status = 'open' and snoozed_until is not null;

create table app.payments (
  id text collate "C" primary key default app.new_id('pay')
    constraint payments_id_format check (id ~ '^pay_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  occurrence_id text collate "C",
  category_id text collate "C",
  direction text not null default 'out' constraint payments_direction_known check (direction in ('out', 'refund')),
  amount_minor bigint not null
    constraint payments_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  paid_on date not null,
  tax_minor bigint,
  tax_percent numeric(6, 3) constraint payments_tax_percent_range check (tax_percent between 0 and 100),
  reimbursement text constraint payments_reimbursement_known check (reimbursement in ('open', 'done')),
  reimbursed_by text constraint payments_reimbursed_by_length check (length(reimbursed_by) between 1 and 120),
  reimbursed_on date,
  split_id text collate "C"
    constraint payments_split_id_format check (split_id ~ '^spl_[0-9a-z]+$' and length(split_id) between 12 and 36),
  -- The share of a small part of a split may round to nothing.
  charged_minor bigint
    constraint payments_charged_minor_range check (charged_minor between 0 and 1000000000000000),
  charged_currency text references app.currencies (code),
  base_currency text not null,
  base_minor bigint,
  sort_minor bigint not null generated always as (coalesce(base_minor, amount_minor)) stored,
  fx_rate numeric(20, 10) constraint payments_fx_rate_positive check (fx_rate > 0),
  fx_rate_on date,
  fx_source text,
  is_final boolean not null default false,
  note text constraint payments_note_length check (length(note) between 1 and 2000),
  source text not null default 'assistant'
    constraint payments_source_known check (source in ('assistant', 'import', 'autopay')),
  is_estimate boolean not null default false,
  paid_by uuid,
  merged_into text collate "C",
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id) references app.expense_occurrences (id, organization_id),
  foreign key (merged_into, organization_id) references app.payments (id, organization_id) on delete cascade,
  constraint payments_merged_is_deleted check (merged_into is null or deleted_at is not null),
  -- A change of the base currency reaches every payment, and a payment that is written meanwhile waits for it.
  foreign key (organization_id, base_currency) references identity.organizations (id, base_currency)
    on update cascade on delete cascade,
  constraint payments_tax_within_amount check (tax_minor between 0 and amount_minor),
  constraint payments_tax_percent_has_tax check (tax_percent is null or tax_minor is not null),
  constraint payments_reimbursement_is_whole check (
    (reimbursed_by is null or reimbursement is not null)
    and (reimbursed_on is null) = (reimbursement is distinct from 'done')
  ),
  constraint payments_charged_is_whole check ((charged_minor is null) = (charged_currency is null)),
  constraint payments_rate_is_whole check (
    (fx_rate is null) = (fx_rate_on is null) and (fx_rate is null) = (fx_source is null)
    and (fx_rate is null or base_minor is not null)
  )
);
comment on table app.payments is 'Money that left or came back: the only table that totals are made of.';
comment on column app.payments.tax_minor is 'The tax that the amount contains, of the same direction.';
comment on column app.payments.tax_percent is
  'In percent of the amount without tax; null where several rates or none fit.';
comment on column app.payments.reimbursement is
  'Whether somebody pays it back: open until they did. It stays money that left; what came back is a refund.';
comment on column app.payments.split_id is
  'The same for all parts of one payment that was split over several categories; they add up to it.';
comment on column app.payments.charged_minor is
  'What the bank took for it in another currency, where somebody said so: then the value is made of this.';
comment on column app.payments.base_minor is
  'Derived, as are all base_ and fx_ columns: what it is worth in the organization''s base currency, in every answer '
  'and total. Null while no rate is known, never 1:1.';
comment on column app.payments.is_final is
  'Derived: whether the value stands. Until then the rate of the day is not published yet, or not fetched.';
comment on column app.payments.is_estimate is
  'Recorded automatically with the amount that was known; the statement, or a person, puts it right.';
comment on column app.payments.merged_into is
  'The payment that stays, of two that are one: this one is deleted, and still recognized when it comes again.';
comment on column app.payments.sort_minor is
  'What payments of several currencies are ordered by: their value.';
comment on column app.payments.category_id is
  'Derived: the category of the expense or bill, so that totals by category are read from one index.';
comment on column app.payments.recorded_seq is
  'Counts up in the order of recording: the order of payments within a day.';
-- What was paid lately, and how much in a time? The included columns answer totals without the table.
create index payments_newest_idx
  on app.payments (organization_id, paid_on, recorded_seq) include (
    currency, direction, amount_minor, category_id, base_minor, fx_rate_on, fx_source, is_final, charged_minor,
    charged_currency, tax_minor, expense_id
  )
  where deleted_at is null;
-- What were the largest?
create index payments_largest_idx on app.payments (organization_id, sort_minor, recorded_seq) where deleted_at is null;
create index payments_expense_id_idx on app.payments (expense_id, organization_id);
create index payments_occurrence_id_idx on app.payments (occurrence_id, organization_id);
create index payments_merged_into_idx on app.payments (merged_into, organization_id);
-- Which of a day were merged into others?
create index payments_merged_on_idx on app.payments (organization_id, paid_on) where merged_into is not null;
create index payments_currency_idx on app.payments (currency);
create index payments_charged_currency_idx on app.payments (charged_currency);
create index payments_base_currency_idx on app.payments (organization_id, base_currency);
-- Which wait for their statement?
create index payments_estimates_idx on app.payments (organization_id, paid_on)
  where is_estimate and deleted_at is null;
-- What are the other parts of a split?
create index payments_split_id_idx on app.payments (split_id) where split_id is not null;
-- Which wait for the rate of their day?
create index payments_pending_idx on app.payments (paid_on, id) where not is_final;

-- schemas/expenses/provider_links.sql

create table app.fx_rates (
  quote text not null references app.currencies (code),
  rate_on date not null,
  source text not null constraint fx_rates_source_length check (length(source) between 1 and 40),
  rate numeric(20, 10) not null constraint fx_rates_rate_positive check (rate > 0),
  fetched_at timestamptz not null default app.instant(),
  primary key (quote, rate_on, source)
);
comment on table app.fx_rates is 'How much of a currency one euro bought on a day, by source. Never updated in place.';

create table app.fx_days (
  day date primary key,
  attempts int not null default 0 constraint fx_days_attempts_positive check (attempts >= 0),
  settled_at timestamptz
);
comment on table app.fx_days is
  'Days whose rates the sources were asked for. One that is settled gets no more of them: on a day without rates of '
  'its '
  'own the last ones before it stand.';

create table app.provider_links (
  id text collate "C" primary key default app.new_id('lnk')
    constraint provider_links_id_format check (id ~ '^lnk_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  provider_key text not null constraint provider_links_provider_key_format check (provider_key ~ '^[a-z0-9_]{2,40}$'),
  account_label text not null
    constraint provider_links_account_label_length check (length(account_label) between 1 and 120),
  status text not null default 'pending'
    constraint provider_links_status_known check (status in ('pending', 'active', 'needs_reauth', 'paused', 'revoked')),
  last_success_period date
    constraint provider_links_last_success_period_first check (extract(day from last_success_period) = 1),
  last_error_code text,
  consecutive_failures int not null default 0,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade
);
comment on table app.provider_links is
  'Where a variable bill''s amount comes from. The label is masked; the credential is not kept here.';
create unique index provider_links_one_per_bill_idx on app.provider_links (expense_id) where status <> 'revoked';
create index provider_links_expense_id_idx on app.provider_links (expense_id, organization_id);

create table app.change_sets (
  id text collate "C" primary key default app.new_id('chg')
    constraint change_sets_id_format check (id ~ '^chg_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  grant_id uuid,
  client_name text,
  tool text not null,
  facts jsonb not null default '{}',
  undoes text references app.change_sets (id) on delete set null,
  undone_by text references app.change_sets (id) on delete set null,
  is_emptied boolean not null default false,
  proposal_id text collate "C",
  moved jsonb,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant()
);
comment on column app.change_sets.proposal_id is
  'The proposal that was approved, when it was one; it may be gone since.';
comment on column app.change_sets.moved is 'How much it changed (app.measure_change), where limits were looked at.';
comment on table app.change_sets is
  'One write of one tool, by whom and with which client; undone as a whole or not at all.';
comment on column app.change_sets.grant_id is
  'The connection that made it, which may be gone since: what "undo that" means there.';
comment on column app.change_sets.facts is
  'What it did, by tool: counts, names, totals by currency. Words are made of it when it is shown.';
comment on column app.change_sets.recorded_seq is
  'Counts up in the order of recording: the latest change is the one with the highest.';
create index change_sets_newest_idx on app.change_sets (organization_id, recorded_seq);
create index change_sets_grant_id_idx on app.change_sets (grant_id, recorded_seq) where grant_id is not null;
comment on column app.change_sets.is_emptied is
  'Whether it is too old to undo: its rows and facts are gone, and who did it, when and with what stays.';
create index change_sets_full_idx on app.change_sets (created_at) where not is_emptied;
create index change_sets_created_at_idx on app.change_sets (created_at);
create index change_sets_undoes_idx on app.change_sets (undoes);
create index change_sets_undone_by_idx on app.change_sets (undone_by);

create table app.change_items (
  change_id text not null references app.change_sets (id) on delete cascade,
  position bigint generated always as identity,
  organization_id text collate "C" not null,
  table_name text not null constraint change_items_table_name_known check (
    table_name
      in ('budgets', 'categories', 'expenses', 'expense_occurrences', 'payee_rules', 'payments', 'provider_links',
      'settings')
  ),
  row_id text not null,
  before jsonb,
  after jsonb,
  primary key (change_id, position)
);
comment on table app.change_items is
  'Each row of a change as it was and as it became. Written by the capture trigger; by a tool only what is no row that '
  'it could put back: settings and ended provider links.';

create table app.idempotency_keys (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  tool text not null,
  key text not null constraint idempotency_keys_key_length check (length(key) between 8 and 128),
  arguments_hash bytea not null,
  result jsonb not null,
  expires_at timestamptz not null,
  primary key (organization_id, actor_id, tool, key)
);
comment on table app.idempotency_keys is
  'First result of a call that carried a key, for as long as app.retention says.';
create index idempotency_keys_expires_at_idx on app.idempotency_keys (expires_at);

-- Columns that follow from other rows or from the calendar, and what counts their changes.
create or replace function app.derived_columns(table_name text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array['next_due', 'version', 'updated_at'] || case table_name
    when 'payments' then array['category_id', 'sort_minor', 'base_currency', 'base_minor', 'fx_rate', 'fx_rate_on',
      'fx_source', 'is_final']
    when 'expenses' then array['match_key']
    when 'payee_rules' then array['words']
    when 'expense_occurrences' then array['paid_minor']
    else '{}'
  end;
end
$$;

-- schemas/expenses/capture_change.sql

-- A version says that somebody changed a row: derived columns do not count.
create or replace function app.bump_version() returns trigger
language plpgsql set search_path = '' as $$
declare
  derived constant text[] := app.derived_columns(tg_table_name);
begin
  if to_jsonb(new) - derived is distinct from to_jsonb(old) - derived then
    new.version := old.version + 1;
    new.updated_at := app.instant();
  end if;
  return new;
end
$$;

-- Records what a tool's write did, whatever tool it is: nothing can be written in a change and escape its undo.
create or replace function app.capture_change() returns trigger
language plpgsql set search_path = '' as $$
declare
  change text := nullif(current_setting('app.change_id', true), '');
begin
  -- An unchanged version means that only derived columns moved: nothing that anybody did.
  if change is not null and (tg_op <> 'UPDATE' or new.version <> old.version) then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    values (
      change, coalesce(new.organization_id, old.organization_id), tg_table_name, coalesce(new.id, old.id),
      case when tg_op <> 'INSERT' then to_jsonb(old) end,
      case when tg_op <> 'DELETE' then to_jsonb(new) end
    );
  end if;
  return null;
end
$$;
create or replace function app.copy_category() returns trigger
language plpgsql set search_path = '' as $$
begin
  select e.category_id into new.category_id from app.expenses as e where e.id = new.expense_id;
  return new;
end
$$;

create or replace function app.propagate_category() returns trigger
language plpgsql set search_path = '' as $$
begin
  update app.payments as p set category_id = new.category_id
    where p.expense_id = new.id and p.category_id is distinct from new.category_id
      -- What a bill was paid for in a closed month counts where it counted.
      and not (new.kind = 'bill' and app.is_closed(p.organization_id, p.paid_on));
  return null;
end
$$;

-- schemas/expenses/budgets.sql

-- Budgets: how much may be spent on a category, or on everything, in a month or a year, and what is left of it.

create table app.budgets (
  id text collate "C" primary key default app.new_id('bud')
    constraint budgets_id_format check (id ~ '^bud_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  category_id text collate "C",
  per text not null constraint budgets_per_known check (per in ('month', 'year')),
  amount_minor bigint not null
    constraint budgets_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  carries_over boolean not null default false,
  starts_on date not null constraint budgets_starts_on_first check (extract(day from starts_on) = 1),
  deleted_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  foreign key (category_id, organization_id) references app.categories (id, organization_id)
);
comment on table app.budgets is
  'What may be spent on a category in each month or year; without a category, on everything.';
comment on column app.budgets.starts_on is
  'The first month or year that it was set for: what is left of one is carried over from here on.';
create unique index budgets_one_each_idx on app.budgets (organization_id, coalesce(category_id, ''), per)
  where deleted_at is null;
create index budgets_organization_id_idx on app.budgets (organization_id);
create index budgets_category_id_idx on app.budgets (category_id, organization_id);
create index budgets_currency_idx on app.budgets (currency);

-- schemas/expenses/payee_rules.sql

-- Payee rules: "REWE is Groceries", said once and kept.

create or replace function app.payee_words(value text) returns text
language sql immutable
  return btrim(regexp_replace(
    regexp_replace(lower(normalize(value, nfkd)), '[\u0300-\u036f]+', '', 'g'), '[[:space:][:punct:]]+', ' ', 'g'
  ));
comment on function app.payee_words is
  'The words of a payee or name without case, accents and punctuation, a space between them.';

create table app.payee_rules (
  id text collate "C" primary key default app.new_id('rul')
    constraint payee_rules_id_format check (id ~ '^rul_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  payee text not null constraint payee_rules_payee_length check (length(payee) between 1 and 120),
  words text not null generated always as (app.payee_words(payee)) stored
    constraint payee_rules_words_given check (words <> ''),
  category_id text collate "C" not null,
  deleted_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  foreign key (category_id, organization_id) references app.categories (id, organization_id)
);
comment on table app.payee_rules is
  'The category of what is paid to a payee, or called so, where none is given: it begins with these words.';
-- Whoever does not see a rule, since its category is private, may keep another one for the same words.
create unique index payee_rules_one_each_idx on app.payee_rules (organization_id, words, category_id)
  where deleted_at is null;
create index payee_rules_organization_id_idx on app.payee_rules (organization_id);
create index payee_rules_category_id_idx on app.payee_rules (category_id, organization_id);

-- schemas/imports/tables.sql

-- What imports keep: the accounts that statements are of, a file on its way into the books with its rows, and
-- afterwards the lines of statements with the payments that they are.

create table app.accounts (
  id text collate "C" primary key default app.new_id('acc')
    constraint accounts_id_format check (id ~ '^acc_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null constraint accounts_name_length check (length(btrim(name)) between 1 and 60),
  key text not null constraint accounts_key_length check (length(key) between 1 and 120),
  kind text not null default 'account' constraint accounts_kind_known check (kind in ('account', 'card')),
  currency text references app.currencies (code),
  answers jsonb not null default '{}',
  balance jsonb,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id)
);
comment on table app.accounts is 'The accounts and cards that statements are of.';
comment on column app.accounts.key is
  'How files say which account they are of: the hash of its number and the export''s name, never the number.';
comment on column app.accounts.answers is
  'What a person answered about its files, by question, such as {negative_is_expense: false}.';
comment on column app.accounts.balance is
  'What its latest statement says it had: {from, to, opening?, closing, currency, proven?, change_id}; proven: the '
  'lines '
  'lead from the one to the other.';
create unique index accounts_key_idx on app.accounts (organization_id, key);
create unique index accounts_name_idx on app.accounts (organization_id, lower(name));
create index accounts_currency_idx on app.accounts (currency);

create table app.import_batches (
  id text collate "C" primary key default app.new_id('imp')
    constraint import_batches_id_format check (id ~ '^imp_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  account_id text collate "C",
  state text not null
    constraint import_batches_state_known check (state in ('waiting', 'reading', 'matching', 'ready', 'committed')),
  file text constraint import_batches_file_length check (length(file) <= 12000000),
  read jsonb not null default '{}',
  row_count int not null default 0 constraint import_batches_row_count_range check (row_count between 0 and 50000),
  staged_through int not null default 0,
  matched_through int not null default 0,
  change_id text references app.change_sets (id) on delete set null,
  result jsonb,
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null,
  unique (id, organization_id),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id)
);
comment on table app.import_batches is
  'A file on its way into the books, for 24 hours: asked for, read, matched, ready, and what committing it answered.';
comment on column app.import_batches.file is 'Its text, so that it can be read again by what was answered.';
comment on column app.import_batches.read is
  'What reading it said of the whole: {name?, mapping, default_currency?, answers, questions, warnings, left_out, '
  'balances?}.';
comment on column app.import_batches.staged_through is 'The last line whose rows are in import_rows.';
comment on column app.import_batches.result is
  'What committing answered, so that a repeated call answers it again; null before.';
create index import_batches_organization_id_idx on app.import_batches (organization_id);
create index import_batches_account_id_idx on app.import_batches (account_id, organization_id);
create index import_batches_change_id_idx on app.import_batches (change_id);
create index import_batches_expires_at_idx on app.import_batches (expires_at);

create table app.import_rows (
  import_id text collate "C" not null,
  organization_id text collate "C" not null,
  line int not null,
  kind text not null default 'expense' constraint import_rows_kind_length check (length(kind) between 1 and 20),
  item jsonb not null,
  draft jsonb,
  error jsonb,
  is_skipped boolean not null default false,
  match jsonb,
  -- The organization second, as row-level security asks for it: so the foreign key needs no index of its own.
  primary key (import_id, organization_id, line),
  foreign key (import_id, organization_id) references app.import_batches (id, organization_id) on delete cascade
);
-- Which rows were found in the books? Asked again in each pass of matching, of which most rows are none.
create index import_rows_found_idx on app.import_rows (import_id, organization_id)
  where match ->> 'state' in ('known', 'linked');
comment on table app.import_rows is
  'A row of a file before it is in the books: seen by no answer but those of its import.';
comment on column app.import_rows.kind is 'expense, refund, or the kind of what is left out.';
comment on column app.import_rows.item is
  'As read, an item of log_expenses with text, the bank''s words for it: {name, amount, currency, charged?, date, '
  'payee?, category?, note?, url?, is_refund?, tax?, text?, balance?}.';
comment on column app.import_rows.draft is 'The item as app.parse_expense_item read it; null with an error.';
comment on column app.import_rows.match is
  'What it is in the books: {state: known | linked | likely | new, payment_ids?, bill_id?, due_on?, answer?}.';

create table app.statement_lines (
  id text collate "C" primary key default app.new_id('lin')
    constraint statement_lines_id_format check (id ~ '^lin_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  account_id text collate "C" not null,
  booked_on date not null,
  text text not null constraint statement_lines_text_length check (length(text) between 1 and 500),
  kind text not null constraint statement_lines_kind_length check (length(kind) between 1 and 20),
  direction text not null constraint statement_lines_direction_known check (direction in ('out', 'refund')),
  amount_minor bigint not null
    constraint statement_lines_amount_minor_range check (amount_minor between 0 and 1000000000000000),
  currency text not null references app.currencies (code),
  nth smallint not null default 1,
  is_skipped boolean not null default false,
  change_id text references app.change_sets (id) on delete set null,
  created_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id) on delete cascade
);
comment on table app.statement_lines is
  'What a bank has: each line of a committed statement once, also those that are no spending.';
comment on column app.statement_lines.nth is 'Of several equal lines of a day the first, the second, and so on.';
comment on column app.statement_lines.direction is 'As payments have it: refund is money that came in.';
comment on column app.statement_lines.change_id is 'The change that brought it, whose undo takes it along.';
-- A line that comes again, in a file that overlaps, is the same one.
create unique index statement_lines_once_idx
  on app.statement_lines (account_id, booked_on, amount_minor, currency, direction, md5(text), nth);
create index statement_lines_organization_id_idx on app.statement_lines (organization_id, booked_on);
create index statement_lines_account_id_idx on app.statement_lines (account_id, organization_id);
create index statement_lines_currency_idx on app.statement_lines (currency);
create index statement_lines_change_id_idx on app.statement_lines (change_id);

create table app.statement_links (
  line_id text collate "C" not null,
  payment_id text collate "C" not null,
  organization_id text collate "C" not null,
  primary key (line_id, payment_id),
  foreign key (line_id, organization_id) references app.statement_lines (id, organization_id) on delete cascade,
  foreign key (payment_id, organization_id) references app.payments (id, organization_id) on delete cascade
);
comment on table app.statement_links is
  'Which payments a line of a statement is: one, several of a day, or one with other lines.';
create index statement_links_line_id_idx on app.statement_links (line_id, organization_id);
create index statement_links_payment_id_idx on app.statement_links (payment_id, organization_id);

alter table app.accounts enable row level security;
alter table app.import_batches enable row level security;
alter table app.import_rows enable row level security;
alter table app.statement_lines enable row level security;
alter table app.statement_links enable row level security;
create policy "Members can use their organization's accounts" on app.accounts
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "People can use their own imports" on app.import_batches
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "People can use the rows of their own imports" on app.import_rows
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and import_id in (select b.id from app.import_batches as b)
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and import_id in (select b.id from app.import_batches as b)
  );
create policy "Members can use their organization's statement links" on app.statement_links
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.payments as p where p.id = payment_id)
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.payments as p where p.id = payment_id)
    )
  );
grant select, insert, update, delete on
  app.accounts, app.import_batches, app.import_rows, app.statement_lines, app.statement_links to service_role;
grant select, insert, update, delete on
  app.accounts, app.import_batches, app.import_rows, app.statement_lines, app.statement_links to authenticated;

-- schemas/expenses/kept_from_members.sql

-- What is kept from some members, beyond the rows that are: the changes that tell of them, and the lines of statements
-- that are them. Both can only be judged by somebody who sees all of it, so these look for themselves, in the
-- organization at hand, and answer ids.

create or replace function app.list_subjects(change_id text) returns table (expense_id text, category_id text)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select distinct case i.table_name when 'expenses' then i.row_id else kept.row ->> 'expense_id' end,
      case i.table_name when 'categories' then i.row_id else kept.row ->> 'category_id' end
    from app.change_items as i
    cross join lateral (values (i.before), (i.after)) as kept (row)
    where i.change_id = list_subjects.change_id and i.organization_id = identity.current_organization_id();
end
$$;
comment on function app.list_subjects is
  'What a change is about, as it was and as it became: expenses and categories, by their ids.';

create or replace function app.sees_change(change_id text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return not exists (
    select from app.list_subjects(change_id) as s
    where s.expense_id is not null and not exists (select from app.expenses as e where e.id = s.expense_id)
      or s.category_id is not null and not exists (select from app.categories as c where c.id = s.category_id)
  );
end
$$;
comment on function app.sees_change is
  'Whether the person sees everything that a change is about. Its facts name all of it, so they are shown whole or not '
  'at all.';

create or replace function app.find_own_latest(grant_id uuid) returns text
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select s.id from app.change_sets as s
    where s.organization_id = identity.current_organization_id() and s.actor_id = auth.uid()
      and s.grant_id is not distinct from find_own_latest.grant_id and s.tool not in ('autopay', 'provider_sync')
      and s.id is distinct from nullif(current_setting('app.change_id', true), '') and not s.is_emptied
    order by s.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_own_latest is
  'The latest change of the person with a connection, also one whose subject is kept from them since: "undo that" must '
  'not mean an earlier one then.';

create or replace function app.list_line_payments(line_id text) returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select k.payment_id from app.statement_links as k
    where k.line_id = list_line_payments.line_id and k.organization_id = identity.current_organization_id()
  );
end
$$;
comment on function app.list_line_payments is 'The ids of the payments that a line of a statement is.';

create or replace function app.sees_line(line_id text, change_id text) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  payment_ids constant text[] := app.list_line_payments(line_id);
begin
  if exists (
    select from unnest(payment_ids) as l (id) where not exists (select from app.payments as p where p.id = l.id)
  ) then
    return false;
  end if;
  return payment_ids <> '{}' or not identity.sees_own_only()
    or exists (select from app.change_sets as s where s.id = sees_line.change_id and s.actor_id = auth.uid());
end
$$;
comment on function app.sees_line is
  'Whether the person sees all payments that a line is. One that is none is seen by whoever imported it, where only '
  'one''s own is.';

create policy "Members can use their organization's statement lines" on app.statement_lines
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_line(id, change_id))
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_line(id, change_id))
  );

create or replace function app.list_known_lines(account_id text, first date, last date)
  returns setof app.statement_lines
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select l.* from app.statement_lines as l
    where l.account_id = list_known_lines.account_id and l.organization_id = identity.current_organization_id()
      and l.booked_on between list_known_lines.first and list_known_lines.last;
end
$$;
comment on function app.list_known_lines is
  'The lines of an account, also those that are kept from the person: whoever has the file in hand sees the line, and '
  'it must not come into the books twice. What it is there is not told.';

create or replace function app.guard_private() returns trigger
language plpgsql set search_path = '' as $$
begin
  if current_user = 'authenticated' and new.is_private is distinct from (case tg_op when 'UPDATE' then old.is_private
    else false end) and not identity.may('settings:write') then
    perform app.fail('forbidden_role.private_category', app.list_who_may('settings:write'));
  end if;
  return new;
end
$$;
comment on function app.guard_private is
  'Ends whatever would make a category private, or open one, by somebody who may not decide that: a call, or an undo.';
create trigger guard_private before insert or update of is_private on app.categories
  for each row execute function app.guard_private();

create or replace function app.list_who_may(wanted text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('who', (
    select jsonb_agg(w.email) from (
      select p.email
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      join identity.role_rights as r on r.role = m.role and r."right" = wanted
      where m.organization_id = identity.current_organization_id() and m.role in ('owner', 'manager')
      order by m.role = 'owner' desc, m.created_at, m.user_id
      limit 2
    ) as w
  ));
end
$$;
comment on function app.list_who_may is
  'Whom to ask for what one''s role does not allow: {who: the addresses of the owner and a manager, as far as theirs '
  'do}.';

create or replace function app.refuse_reader(tool text) returns void
language plpgsql stable set search_path = '' as $$
begin
  if app.is_write(tool) and not identity.may('books:write') and identity.current_organization_id() is not null then
    perform app.fail('forbidden_role.read_only', app.list_who_may('books:write'));
  end if;
end
$$;
comment on function app.refuse_reader is 'Ends a tool that writes, of somebody whose role only reads.';

create or replace function app.member_sees(expense app.expenses, member identity.memberships) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    identity.member_may(member.organization_id, member.user_id, 'books:private')
    or not exists (select from app.categories as c where c.id = expense.category_id and c.is_private)
  ) and (
    member.role <> 'member' or member.user_id in (expense.created_by, expense.assignee_id)
    or not exists (select from identity.organizations as o where o.id = member.organization_id and o.own_only)
  );
end
$$;
comment on function app.member_sees is
  'Whether a member sees an expense or bill of their organization, for pages that the service reads for them; policies '
  'have the same conditions.';
revoke all on function app.member_sees from authenticated;

-- schemas/expenses/sync_paid_minor.sql

-- Its owner's rights: the sum is of all payments, also of those that whoever writes one does not see.
create or replace function app.sync_paid_minor() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  touched text;
begin
  foreach touched in array
    array_remove(
    array[case when tg_op <> 'DELETE' then new.occurrence_id end,
    case when tg_op <> 'INSERT' then old.occurrence_id end], null) loop
    update app.expense_occurrences as o set paid_minor = paid.minor
    from (
      select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)::bigint as minor
      from app.payments as p
      where p.occurrence_id = touched and p.deleted_at is null
    ) as paid
    where o.id = touched and o.paid_minor <> paid.minor;
  end loop;
  return null;
end
$$;

create trigger copy_category before insert on app.payments for each row execute function app.copy_category();
create trigger sync_paid_minor after insert or delete or update of occurrence_id, amount_minor, direction,
  deleted_at on app.payments
  for each row execute function app.sync_paid_minor();
create trigger propagate_category after update of category_id on app.expenses
  for each row execute function app.propagate_category();

do $$
declare
  tracked text;
  columns text;
begin
  foreach tracked in array array['budgets', 'categories', 'expenses', 'expense_occurrences', 'payee_rules', 'payments']
    loop
    -- Updates of derived columns alone, such as rolling a million bills, are nobody's change and need not be looked at.
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) into columns
    from pg_attribute as a
    where a.attrelid = ('app.' || tracked)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and a.attname <> all (app.derived_columns(tracked));
    execute
      format(
      'create trigger bump_version before update of %s on app.%I for each row execute function app.bump_version()',
      columns, tracked);
    execute format(
      $trigger$create trigger capture_change after insert or delete or update of %s on app.%I for each row
        when (nullif(current_setting('app.change_id', true), '') is not null) execute
          function app.capture_change()$trigger$, columns, tracked
    );
  end loop;
end
$$;

-- Access: members reach the rows of the organization their token is bound to, and nothing else.
alter table app.budgets enable row level security;
alter table app.categories enable row level security;
alter table app.expenses enable row level security;
alter table app.expense_occurrences enable row level security;
alter table app.payee_rules enable row level security;
alter table app.payments enable row level security;
alter table app.fx_rates enable row level security;
alter table app.fx_days enable row level security;
alter table app.provider_links enable row level security;
alter table app.change_sets enable row level security;
alter table app.change_items enable row level security;
alter table app.idempotency_keys enable row level security;

-- What is kept from a person (identity.sees_everything): private categories with all that is in them, and where only
-- one's own is seen, what others recorded. Whatever belongs to an expense is seen by who sees that, and asks so.
create policy "Members can use their organization's budgets" on app.budgets
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or category_id is null or category_id in (select c.id from app.categories as c)
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or category_id is null or category_id in (select c.id from app.categories as c)
    )
  );
create policy "Members can use their organization's categories" on app.categories
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (not is_private or (select identity.may('books:private')))
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (not is_private or (select identity.may('books:private')))
  );
create policy "Members can use their organization's expenses" on app.expenses
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or (category_id is null or category_id in (select c.id from app.categories as c))
        and (
          not (select identity.sees_own_only())
          or created_by = (select auth.uid()) or assignee_id = (select auth.uid())
        )
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or (category_id is null or category_id in (select c.id from app.categories as c))
        and (
          not (select identity.sees_own_only())
          or created_by = (select auth.uid()) or assignee_id = (select auth.uid())
        )
    )
  );
create policy "Members can use their organization's occurrences" on app.expense_occurrences
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.expenses as e where e.id = expense_id)
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.expenses as e where e.id = expense_id)
    )
  );
create policy "Members can use their organization's payee rules" on app.payee_rules
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or category_id in (select c.id from app.categories as c)
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or category_id in (select c.id from app.categories as c)
    )
  );
create policy "Members can use their organization's payments" on app.payments
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.expenses as e where e.id = expense_id)
        and (category_id is null or category_id in (select c.id from app.categories as c))
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.expenses as e where e.id = expense_id)
        and (category_id is null or category_id in (select c.id from app.categories as c))
    )
  );
create policy "Signed-in people can read the exchange rates" on app.fx_rates
  for select to authenticated using ((select auth.uid()) is not null);
create policy "Signed-in people can read which days are settled" on app.fx_days
  for select to authenticated using ((select auth.uid()) is not null);
create policy "Members can read their organization's provider links" on app.provider_links
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.expenses as e where e.id = expense_id)
    )
  );
create policy "Members can read their organization's changes" on app.change_sets
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(id))
  );
create policy "Members can record their own changes" on app.change_sets
  for insert to authenticated
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "Members can describe and undo their organization's changes" on app.change_sets
  for update to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(id))
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(id))
  );
create policy "Members can drop a change of theirs that wrote nothing" on app.change_sets
  for delete to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(id))
    and actor_id = (select auth.uid())
  );
create policy "Members can read their organization's change items" on app.change_items
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(change_id))
  );
create policy "Members can record items of their organization's changes" on app.change_items
  for insert to authenticated with check (organization_id = (select identity.current_organization_id()));
create policy "People can use their own idempotency keys" on app.idempotency_keys
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));

grant select, insert, update, delete on
  app.budgets, app.categories, app.expenses, app.expense_occurrences, app.payee_rules, app.payments, app.fx_rates,
  app.fx_days,
  app.provider_links, app.change_sets, app.change_items, app.idempotency_keys to service_role;
grant select, insert, update, delete on
  app.budgets, app.categories, app.expenses, app.expense_occurrences, app.payee_rules, app.payments,
  app.idempotency_keys
    to authenticated;
grant select on app.fx_rates, app.fx_days, app.provider_links to authenticated;
grant select, insert, update (facts, undoes, undone_by), delete on app.change_sets to authenticated;
grant select, insert on app.change_items to authenticated;

-- schemas/providers/provider_credentials.sql

-- Credentials of provider links: ciphertext that only the functions can open, bound to its link (shared/credentials),
-- and gone at once when the link ends. Nobody who signs in may read it, not even their own: what was entered once is
-- never shown again.

create table app.provider_credentials (
  link_id text collate "C" primary key references app.provider_links (id) on delete cascade,
  envelope jsonb not null constraint provider_credentials_envelope_shape check (
    envelope ?& array['key_id', 'alg', 'nonce', 'data'] and envelope ->> 'key_id' ~ '^[0-9a-f]{8}$'
      and length(envelope ->> 'nonce') = 16
  ),
  updated_at timestamptz not null
);
comment on table app.provider_credentials is
  'What a provider is asked with, encrypted under a key that is derived for this very link: '
  '{"key_id","alg","nonce","data"}. Never kept for a link that has ended.';
alter table app.provider_credentials enable row level security;
grant select, insert, update, delete on app.provider_credentials to service_role;

-- As its owner: links are also ended by a signed-in owner (tool update_bill), who must not be able to reach
-- credentials. It looks at nothing but the row that was ended, so whoever may end a link does no more by it than that.
create or replace function app.forget_credential() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from app.provider_credentials as c where c.link_id = new.id;
  return null;
end
$$;
comment on function app.forget_credential is 'Removes the credential of a link that has ended.';

create trigger forget_credential after update of status on app.provider_links
  for each row when (new.status = 'revoked') execute function app.forget_credential();

create or replace function public.read_provider_credentials(link_ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('link_id', c.link_id, 'envelope', c.envelope)), '[]')
    from app.provider_credentials as c
    where c.link_id = any (link_ids)
  );
end
$$;
comment on function public.read_provider_credentials is
  'The envelopes of these links: [{"link_id","envelope"}]; a link without one is left out.';

create or replace function public.reseal_provider_credential(link_id text, replaced jsonb, envelope jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update app.provider_credentials as c set envelope = reseal_provider_credential.envelope,
    updated_at = at
  where c.link_id = reseal_provider_credential.link_id and c.envelope = replaced;
  return jsonb_build_object('outcome', case when found then 'resealed' else 'changed' end);
end
$$;
comment on function public.reseal_provider_credential is
  'Puts the same credential under the current key: {"outcome":"resealed"}, or "changed" when another was entered, or '
  'the link ended, since the replaced one was read.';
revoke all on function app.forget_credential from authenticated, service_role;

-- schemas/providers/provider_statements.sql

-- What providers said: one row for each link, month and wording, and on the link what is known of asking it. Whether an
-- amount becomes that of a due date is not decided here (0865).

alter table app.provider_links
  add column provider_name text
    constraint provider_links_provider_name_length check (length(provider_name) between 1 and 60),
  add column asked_at timestamptz,
  add column ask_after timestamptz,
  add column backlog date[] not null default '{}',
  add column lease_token uuid,
  add column leased_until timestamptz;
comment on column app.provider_links.provider_name is
  'What people call the provider, as its adapter said when it was asked or connected last.';
comment on column app.provider_links.asked_at is 'When the provider was asked last, whatever came of it.';
comment on column app.provider_links.ask_after is 'Not asked before then: the provider asked for a pause.';
comment on column app.provider_links.backlog is
  'Months before the last one, by their first day, that are still to be asked for: their dates have no amount. Found '
  'when the provider is first asked in a month.';
comment on column app.provider_links.lease_token is
  'Who is asking; nobody else may say what came of it. Past leased_until whoever it was is gone.';
comment on column app.provider_links.last_success_period is
  'The latest month of which a statement came; the first of it.';
-- Who was asked longest ago?
create index provider_links_asked_at_idx on app.provider_links (asked_at nulls first, id) where status = 'active';
grant
  update (provider_name, asked_at, ask_after, backlog, lease_token, leased_until, last_success_period,
  last_error_code, consecutive_failures)
  on app.provider_links to authenticated;

create table app.provider_statements (
  id text collate "C" primary key default app.new_id('stm')
    constraint provider_statements_id_format check (id ~ '^stm_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  link_id text collate "C" not null,
  period date not null constraint provider_statements_period_first check (extract(day from period) = 1),
  amount_minor bigint not null
    constraint provider_statements_amount_minor_range check (amount_minor between 0 and 1000000000000000),
  currency text not null references app.currencies (code),
  due_on date,
  payload_sha256 text not null
    constraint provider_statements_payload_sha256_format check (payload_sha256 ~ '^[0-9a-f]{64}$'),
  status text not null
    constraint provider_statements_status_known check (status in ('applied', 'needs_review', 'superseded', 'ignored')),
  reason text
    constraint provider_statements_reason_known
    check (reason in ('unusual', 'other_currency', 'paid', 'skipped', 'nothing_to_pay', 'not_due')),
  usual_minor bigint,
  occurrence_id text collate "C",
  fetched_at timestamptz not null,
  unique (link_id, period, payload_sha256),
  foreign key (link_id, organization_id) references app.provider_links (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id)
    references app.expense_occurrences (id, organization_id) on delete set null (occurrence_id),
  constraint provider_statements_reason_given check (status = 'superseded' or (status = 'applied') = (reason is null))
);
comment on table app.provider_statements is
  'What a provider said an account owes for a month. At most one of a link and month counts; the others were '
  'superseded by it.';
comment on column app.provider_statements.period is
  'The calendar month in UTC that was consumed, by its first day: the bill is due in the month after it.';
comment on column app.provider_statements.due_on is
  'When it is due, where the provider says so; the bill keeps its own dates.';
comment on column app.provider_statements.payload_sha256 is
  'Hex digest of amount, currency and due date: the same statement again is no news.';
comment on column app.provider_statements.status is
  'applied: it is the amount of the occurrence. needs_review: shown, and not taken over, for the reason given. '
  'ignored: there is no due date for it. superseded: another one counts.';
comment on column app.provider_statements.usual_minor is 'The median of the amounts that it was compared with.';
create unique index provider_statements_one_counts_idx on app.provider_statements (link_id, period)
  where status <> 'superseded';
create index provider_statements_link_id_idx on app.provider_statements (link_id, organization_id);
create index provider_statements_occurrence_id_idx on app.provider_statements (occurrence_id, organization_id);
create index provider_statements_currency_idx on app.provider_statements (currency);

alter table app.provider_statements enable row level security;
create policy "Members can read their organization's statements" on app.provider_statements
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  );
create policy "Members can keep what providers say" on app.provider_statements
  for insert to authenticated with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  );
create policy "Members can say which statement counts" on app.provider_statements
  for update to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  );
grant select, insert, update, delete on app.provider_statements to service_role;
grant select, insert, update (status, reason, usual_minor, occurrence_id, fetched_at) on app.provider_statements
  to authenticated;

-- schemas/approvals/tables.sql

-- What an organization wants asked before it is written: rules, and the writes that wait for an answer.
-- Invariants: a proposal never changes but for its answer, which is given once; what it would do was seen by whoever
-- approves it, and nothing else is written. Households have no rules, and pay for none.

create table app.approval_rules (
  id text collate "C" primary key default app.new_id('rule')
    constraint approval_rules_id_format check (id ~ '^rule_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  tool text,
  roles text[] not null constraint approval_rules_roles_known check (
    cardinality(roles) between 1 and 3 and roles <@ array['owner', 'manager', 'member']
  ),
  over_minor bigint constraint approval_rules_over_minor_range check (over_minor between 0 and 1000000000000000),
  currency text references app.currencies (code),
  over_records int constraint approval_rules_over_records_range check (over_records between 0 and 1000000),
  approver text not null constraint approval_rules_approver_known check (approver in ('manager', 'owner')),
  created_at timestamptz not null default app.instant(),
  constraint approval_rules_amount_has_currency check ((over_minor is null) = (currency is null))
);
comment on table app.approval_rules is
  'Which writes need approval: those of a tool (any, when null) by these roles; with an amount or a number of records '
  'only what exceeds it, added up per person over 24 hours.';
comment on column app.approval_rules.approver is
  'Who may approve: whoever has the right approvals:decide, or only the owner.';
create index approval_rules_organization_id_idx on app.approval_rules (organization_id);
create index approval_rules_currency_idx on app.approval_rules (currency);

create table app.proposals (
  id text collate "C" primary key default app.new_id('prop')
    constraint proposals_id_format check (id ~ '^prop_[0-9a-z]+$' and length(id) between 12 and 37),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  grant_id uuid,
  client_name text,
  tool text not null,
  arguments jsonb not null,
  proposed_on date not null,
  reasons jsonb not null,
  approver text not null constraint proposals_approver_known check (approver in ('manager', 'owner')),
  facts jsonb not null,
  effects jsonb not null,
  fingerprint text not null,
  hash text not null,
  state text not null default 'pending' constraint proposals_state_known check (
    state in ('pending', 'approved', 'refused', 'withdrawn', 'stale')
  ),
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  decided_through text constraint proposals_decided_through_known check (decided_through in ('page', 'assistant')),
  change_id text references app.change_sets (id) on delete set null,
  problem jsonb,
  result jsonb,
  constraint proposals_decided_once check ((state = 'pending') = (decided_at is null))
);
comment on table app.proposals is
  'Writes that wait for approval, or waited: what was asked for, by whom, and exactly what it would do.';
comment on column app.proposals.proposed_on is 'Today, when it was proposed: what "yesterday" in it means.';
comment on column app.proposals.reasons is 'Which rules it exceeds, as facts: app.judge_moved.';
comment on column app.proposals.facts is 'What it would do, as the facts of its change.';
comment on column app.proposals.effects is 'The same, thing by thing, before and after: app.read_effects.';
comment on column app.proposals.fingerprint is
  'The rows that it would write and those that it would replace, without what is new each time: what runs later is '
  'held against it.';
comment on column app.proposals.hash is 'Names all of it: whoever answers says which they saw.';
comment on column app.proposals.problem is 'Why it could not be written any more, as the code of an error.';
comment on column app.proposals.result is 'What the tool answered when it was written.';
create index proposals_organization_id_idx on app.proposals (organization_id, created_at desc);
create index proposals_pending_idx on app.proposals (organization_id, actor_id) where state = 'pending';
create index proposals_change_id_idx on app.proposals (change_id);
create index proposals_expires_at_idx on app.proposals (expires_at);

-- What did somebody write in a day?
create index change_sets_actor_id_idx on app.change_sets (organization_id, actor_id, created_at);

alter table app.approval_rules enable row level security;
alter table app.proposals enable row level security;
create policy "Members can read what their organization wants approved" on app.approval_rules
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "People can read their proposals, and those they may decide" on app.proposals
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (actor_id = (select auth.uid()) or (select identity.may('approvals:decide')))
  );
create policy "People can propose" on app.proposals
  for insert to authenticated with check (
    organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid())
    and state = 'pending' and (select identity.may('books:write'))
  );
grant select on app.approval_rules to authenticated;
grant select, insert on app.proposals to authenticated;
grant update (moved) on app.change_sets to authenticated;
grant select, insert, update, delete on app.approval_rules, app.proposals to service_role;

-- schemas/expenses/writing_roles.sql

-- Who only reads writes nothing, whatever the other policies of a table let through: these restrict all of them.

do $$
declare
  written text;
begin
  foreach written in array array[
    'accounts', 'budgets', 'categories', 'change_items', 'change_sets', 'expense_occurrences', 'expenses',
    'idempotency_keys', 'import_batches', 'import_rows', 'payee_rules', 'payments', 'provider_links',
    'provider_statements', 'statement_lines', 'statement_links'
  ] loop
    execute format($policy$
      create policy "Only roles that may write add rows" on app.%I as restrictive
        for insert to authenticated with check ((select identity.may('books:write')))$policy$, written);
    execute format($policy$
      create policy "Only roles that may write change rows" on app.%I as restrictive
        for update to authenticated using ((select identity.may('books:write')))
        with check ((select identity.may('books:write')))$policy$, written);
    execute format($policy$
      create policy "Only roles that may write remove rows" on app.%I as restrictive
        for delete to authenticated using ((select identity.may('books:write')))$policy$, written);
  end loop;
end
$$;

-- schemas/calendar/tables.sql

-- Calendar feeds: which addresses answer with what is due, and for whom.
-- Invariants: the token in the address is not stored, only its SHA-256; a person has one address an organization; none
-- outlives the membership.
-- Row-level security is on without policies: the table is the service's own.

create table identity.calendar_feeds (
  organization_id text collate "C" not null,
  user_id uuid not null,
  token_hash bytea not null unique constraint calendar_feeds_token_hash_length check (octet_length(token_hash) = 32),
  show_amounts boolean not null default false,
  created_at timestamptz not null,
  primary key (organization_id, user_id),
  constraint calendar_feeds_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade
);
comment on table identity.calendar_feeds is
  'Addresses that a calendar app reads what is due from. Whether one still answers is judged at every read.';
comment on column identity.calendar_feeds.show_amounts is
  'Whether the calendar names amounts: who is shown a calendar need not know them.';
create index calendar_feeds_user_id_idx on identity.calendar_feeds (user_id);
alter table identity.calendar_feeds enable row level security;
grant select, insert, update, delete on identity.calendar_feeds to service_role;

-- schemas/identity/accounts.sql

-- Accounts: what the identity pages read and change, one function a page view or change.
-- The pages decide nothing: expected outcomes come back as {"outcome": …} and every change leaves an audit event.

create or replace function identity.record_event(event text, actor_id uuid, organization_id text, detail jsonb,
  at timestamptz) returns void
language plpgsql set search_path = '' as $$
begin
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  values (at, actor_id, organization_id, event,
    detail);
end
$$;
comment on function identity.record_event is 'Adds one line to the audit trail.';

-- Onboarding

create or replace function public.read_onboarding(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'onboarded',
    exists (select from identity.profiles as p where p.user_id = read_onboarding.user_id and p.country is not null),
    'currencies', (select jsonb_agg(c.code order by c.code) from app.currencies as c)
  );
end
$$;
comment on function public.read_onboarding is
  'Whether a person has been through onboarding ("onboarded") and the currencies that can be chosen there.';

create or replace function public.note_sign_in(user_id uuid, email text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p
  set email = note_sign_in.email,
    -- Its own address needs no confirmation by mail: the identity provider has asked there.
    reminder_email = nullif(p.reminder_email, note_sign_in.email),
    reminder_email_confirmed_at
      = case when p.reminder_email <> note_sign_in.email then p.reminder_email_confirmed_at end,
    -- A mail server that refused the old address knows nothing of the new one.
    refused_email = nullif(p.refused_email, p.email),
    refused_at = case when p.refused_email <> p.email then p.refused_at end,
    updated_at = at
  where p.user_id = note_sign_in.user_id and p.email <> note_sign_in.email;
  if found then
    perform identity.record_event('account.address_changed', user_id, null, '{}', at);
  end if;
  return jsonb_build_object(
    'onboarded',
    exists (select from identity.profiles as p where p.user_id = note_sign_in.user_id and p.country is not null)
  ) || case
    when exists (select from identity.profiles as p where p.user_id = note_sign_in.user_id and p.deletes_at is not null)
      then '{"leaving": true}'
    else '{}'
  end::jsonb;
end
$$;
comment on function public.note_sign_in is
  'Takes over the address that somebody signed in with, where it is another than the last time: {"onboarded": whether '
  'they have been through onboarding, "leaving": true while their account is being deleted}.';

create or replace function identity.found_organization(
  owner_id uuid, name text, base_currency text, gets_trial boolean, at timestamptz
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  new_id text;
begin
  insert into identity.organizations (name, base_currency, trial_ends_at, owner_id, created_at, updated_at)
  values (
    btrim(name), base_currency,
    case when gets_trial then at + interval '14 days' end,
    owner_id, at, at
  )
  returning id into new_id;
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (new_id, owner_id, 'owner', at);
  perform app.create_default_categories(new_id, at);
  return new_id;
end
$$;
comment on function identity.found_organization is
  'An organization with its owner and its first categories; answers its id.';

create or replace function public.complete_onboarding(
  user_id uuid, email text, country text, organization_name text, timezone text, base_currency text,
  reminder_email text, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  gets_trial boolean;
  new_organization_id text;
begin
  if organization_name is not null
    and not exists (select from app.currencies as c where c.code = base_currency) then
    return '{"outcome":"invalid","field":"base_currency"}';
  end if;
  if not identity.is_timezone(timezone) then
    return '{"outcome":"invalid","field":"timezone"}';
  end if;

  -- Once: whoever gives the profile its country creates the rest. A second press waits for the row and finds it taken.
  insert into identity.profiles
    as p (user_id, email, country, timezone, reminder_email, trial_started_at, created_at, updated_at)
  values (
    user_id, email, country, timezone,
    nullif(reminder_email, email), case when organization_name is not null then at end,
    at, at
  )
  on conflict on constraint profiles_pkey do update
    set country = excluded.country, timezone = excluded.timezone, reminder_email = excluded.reminder_email,
      updated_at = excluded.updated_at,
      trial_started_at = coalesce(p.trial_started_at, excluded.trial_started_at)
    where p.country is null
  returning coalesce(p.trial_started_at = at, false) into gets_trial;
  if not found then
    return '{"outcome":"already"}';
  end if;

  if organization_name is not null then
    new_organization_id := identity.found_organization(user_id, organization_name, base_currency, gets_trial, at);
  end if;
  perform identity.record_event('account.created', user_id, new_organization_id,
    jsonb_build_object('trial', gets_trial), at);
  return jsonb_build_object('outcome', 'created', 'organization_id', new_organization_id);
end
$$;
comment on function public.complete_onboarding is
  'Creates profile, organization, membership and categories, once a person: {"outcome":"created","organization_id"}, '
  '{"outcome":"already"} or {"outcome":"invalid","field"}. Without a name, for who is invited to another''s, no '
  'organization, and their trial stays for one of their own.';

-- schemas/identity/organizations.sql

create or replace function public.create_organization(user_id uuid, name text, base_currency text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most_owned constant int := 20;
  gets_trial boolean;
  new_id text;
begin
  if not exists (select from app.currencies as c where c.code = base_currency) then
    return '{"outcome":"invalid","field":"base_currency"}';
  end if;
  -- Locked, so that a second press waits for the first one, and one person gets one trial.
  select p.trial_started_at is null into gets_trial
  from identity.profiles as p
  where p.user_id = create_organization.user_id and p.country is not null and identity.is_active(p.user_id, at)
  for no key update;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  select o.id into new_id
  from identity.organizations as o
  where o.owner_id = user_id and o.name = btrim(create_organization.name)
    and o.base_currency = create_organization.base_currency and o.created_at > at - interval '1 minute';
  if found then
    return jsonb_build_object('outcome', 'created', 'organization_id', new_id);
  end if;
  if (select count(*) from identity.organizations as o where o.owner_id = user_id) >= most_owned then
    return jsonb_build_object('outcome', 'too_many', 'most', most_owned);
  end if;
  new_id := identity.found_organization(user_id, name, base_currency, gets_trial, at);
  if gets_trial then
    update identity.profiles as p set trial_started_at = at where p.user_id = create_organization.user_id;
  end if;
  perform identity.record_event('organization.created', user_id, new_id, jsonb_build_object('trial', gets_trial), at);
  return jsonb_build_object('outcome', 'created', 'organization_id', new_id);
end
$$;
comment on function public.create_organization is
  'Creates another organization of a person, with a trial if they never had one; pressed twice, one: '
  '{"outcome":"created","organization_id"}, {"outcome":"invalid","field"}, too_many, or unknown before onboarding.';

create or replace function public.read_new_organization(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'country', p.country, 'gets_trial', p.trial_started_at is null,
      'currencies', (select jsonb_agg(c.code order by c.code) from app.currencies as c)
    )
    from identity.profiles as p
    where p.user_id = read_new_organization.user_id and p.country is not null
      and identity.is_active(p.user_id, at)
  );
end
$$;
comment on function public.read_new_organization is
  'What the form for another organization needs to know of a person: {"country","gets_trial","currencies"}; null '
  'before onboarding.';

-- schemas/identity/invitations.sql

-- Invitations: who is asked to join an organization, as what, and by whom.
-- Invariants: an address has one open invitation to an organization; the token in its link is not stored, only its
-- SHA-256; it is accepted once, by whoever signs in with the invited address, while the one who invited still may.
-- Row-level security is on without policies: the table is the service's own.

create table identity.invitations (
  id text collate "C" primary key default app.new_id('inv')
    constraint invitations_id_format check (id ~ '^inv_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  address text not null
    constraint invitations_address_format
      check (address = lower(address) and address like '_%@_%' and length(address) <= 320),
  role text not null constraint invitations_role_known check (role in ('manager', 'member', 'viewer')),
  invited_by uuid not null references identity.profiles (user_id) on delete cascade,
  token_hash bytea not null unique constraint invitations_token_hash_length check (octet_length(token_hash) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  withdrawn_at timestamptz,
  constraint invitations_settled_once check (accepted_at is null or withdrawn_at is null)
);
comment on table identity.invitations is
  'Invitations to organizations by mail. Sent again, one gets another link, and the one before stops working.';
comment on column identity.invitations.address is 'In lower case. The link works only for who signs in with it.';
create index invitations_organization_id_idx on identity.invitations (organization_id);
create index invitations_invited_by_idx on identity.invitations (invited_by);
create unique index invitations_open_idx on identity.invitations (organization_id, address)
  where accepted_at is null and withdrawn_at is null;
alter table identity.invitations enable row level security;
grant select, insert, update, delete on identity.invitations to service_role;

create or replace function identity.may_grow(organization_id text, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from identity.organizations as o
    where o.id = may_grow.organization_id and identity.effective_plan(o, at) = 'team'
  );
end
$$;
comment on function identity.may_grow is
  'Whether an organization''s plan lets further people join at an instant. The only judge of it; who is a member stays '
  'one under any plan.';

create or replace function identity.may_give_role(organization_id text, user_id uuid, role text, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return role in ('manager', 'member', 'viewer')
    and identity.is_active(user_id, at)
    and identity.member_may(organization_id, user_id, 'members:manage')
    and (role <> 'manager' or exists (
      select from identity.organizations as o
      where o.id = may_give_role.organization_id and o.owner_id = may_give_role.user_id
    ));
end
$$;
comment on function identity.may_give_role is
  'Whether a person may make others something in an organization, or take it from them: managers only the owner may.';

create or replace function identity.lock_members(organization_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from identity.organizations as o where o.id = lock_members.organization_id for no key update;
end
$$;
comment on function identity.lock_members is
  'Makes this transaction the only one that changes who belongs to an organization. Each that does takes it first.';

create or replace function public.invite_member(
  user_id uuid, organization_id text, address text, role text, token_hash text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most_open constant int := 20;
  invited constant text := lower(address);
  new_hash constant bytea := decode(token_hash, 'hex');
begin
  perform identity.lock_members(organization_id);
  if not identity.may_give_role(organization_id, user_id, role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  if not identity.may_grow(organization_id, at) then
    return '{"outcome":"plan"}';
  end if;
  if exists (
    select from identity.memberships as m
    join identity.profiles as p on p.user_id = m.user_id
    where m.organization_id = invite_member.organization_id and lower(p.email) = invited
  ) then
    return '{"outcome":"already_member"}';
  end if;
  -- Invited again, they get another link, and perhaps another role; there is never a second invitation.
  update identity.invitations as i
  set role = invite_member.role, invited_by = user_id, token_hash = new_hash,
    created_at = at, expires_at = at + interval '7 days'
  where i.organization_id = invite_member.organization_id and i.address = invited
    and i.accepted_at is null and i.withdrawn_at is null
    and identity.may_give_role(i.organization_id, user_id, i.role, at);
  if not found then
    if exists (
      select from identity.invitations as i
      where i.organization_id = invite_member.organization_id and i.address = invited
        and i.accepted_at is null and i.withdrawn_at is null
    ) then
      -- Of a manager, by somebody who may not take that back.
      return '{"outcome":"not_allowed"}';
    end if;
    if (
      select count(*) from identity.invitations as i
      where i.organization_id = invite_member.organization_id
        and i.accepted_at is null and i.withdrawn_at is null and i.expires_at > at
    ) >= most_open then
      return jsonb_build_object('outcome', 'too_many', 'most', most_open);
    end if;
    insert into identity.invitations (organization_id, address, role, invited_by, token_hash, created_at, expires_at)
    values (organization_id, invited, role, user_id, new_hash, at, at + interval '7 days');
  end if;
  perform identity.record_event('member.invited', user_id, organization_id, jsonb_build_object('role', role), at);
  return jsonb_build_object('outcome', 'invited', 'organization_name',
    (select o.name from identity.organizations as o where o.id = invite_member.organization_id));
end
$$;
comment on function public.invite_member is
  'Invites an address to an organization for 7 days, or again, which ends the link before: '
  '{"outcome":"invited","organization_name"}, or outcome not_allowed, plan, already_member or too_many.';

create or replace function public.resend_invitation(user_id uuid, invitation_id text, token_hash text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  sent identity.invitations;
begin
  select * into sent from identity.invitations as i
  where i.id = invitation_id and identity.member_may(i.organization_id, user_id, 'members:manage');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.lock_members(sent.organization_id);
  if not identity.may_give_role(sent.organization_id, user_id, sent.role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  if not identity.may_grow(sent.organization_id, at) then
    return '{"outcome":"plan"}';
  end if;
  update identity.invitations as i
  set invited_by = user_id, token_hash = decode(resend_invitation.token_hash, 'hex'), created_at = at,
    expires_at = at + interval '7 days'
  where i.id = invitation_id and i.accepted_at is null and i.withdrawn_at is null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('member.invited', user_id, sent.organization_id,
    jsonb_build_object('role', sent.role, 'again', true), at);
  return jsonb_build_object('outcome', 'invited', 'address', sent.address, 'role', sent.role, 'organization_name',
    (select o.name from identity.organizations as o where o.id = sent.organization_id));
end
$$;
comment on function public.resend_invitation is
  'Gives an open or expired invitation another link and 7 more days; the link before stops working: '
  '{"outcome":"invited","address","role","organization_name"}, or outcome unknown, not_allowed or plan.';

create or replace function public.withdraw_invitation(user_id uuid, invitation_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  withdrawn identity.invitations;
begin
  select * into withdrawn from identity.invitations as i
  where i.id = invitation_id and identity.member_may(i.organization_id, user_id, 'members:manage');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.lock_members(withdrawn.organization_id);
  if not identity.may_give_role(withdrawn.organization_id, user_id, withdrawn.role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  update identity.invitations as i set withdrawn_at = at
  where i.id = invitation_id and i.accepted_at is null and i.withdrawn_at is null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('member.invitation_withdrawn', user_id, withdrawn.organization_id, '{}', at);
  return '{"outcome":"withdrawn"}';
end
$$;
comment on function public.withdraw_invitation is
  'Ends an invitation before it is accepted: outcome withdrawn, not_allowed, or unknown, also for one that has ended.';

create or replace function identity.withdraw_invitations_of(organization_id text, user_id uuid, at timestamptz)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  update identity.invitations as i set withdrawn_at = at
  where i.organization_id = withdraw_invitations_of.organization_id and i.invited_by = user_id
    and i.accepted_at is null and i.withdrawn_at is null
    and not identity.may_give_role(i.organization_id, user_id, i.role, at);
end
$$;
comment on function identity.withdraw_invitations_of is
  'Ends the invitations of a member who may no longer invite anybody to that: after every loss of a role.';

-- schemas/identity/accept_invitation.sql

create or replace function identity.judge_invitation(
  invitation identity.invitations, user_id uuid, email text, at timestamptz
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when (invitation).address <> lower(email) then 'for_another'
    when exists (
      select from identity.memberships as m
      where m.organization_id = (invitation).organization_id and m.user_id = judge_invitation.user_id
    ) then 'already_member'
    when (invitation).accepted_at is not null then 'used'
    when (invitation).withdrawn_at is not null
      or not identity.may_give_role((invitation).organization_id, (invitation).invited_by, (invitation).role, at)
      then 'withdrawn'
    when (invitation).expires_at <= at then 'expired'
    when not identity.may_grow((invitation).organization_id, at) then 'plan'
    else 'open'
  end;
end
$$;
comment on function identity.judge_invitation is
  'Whether a person, signed in with an address, may accept an invitation: open, or why not. The only judge of it.';

create or replace function identity.mask_address(address text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return regexp_replace(address, '^(.)[^@]*@(.).*?(\.[^.]*)?$', '\1…@\2…\3');
end
$$;
comment on function identity.mask_address is
  'An address of which its owner recognizes it and nobody else learns it: a…@e….com.';

create or replace function public.read_invitation(token_hash text, user_id uuid, email text, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  invitation identity.invitations;
  judged text;
begin
  select * into invitation from identity.invitations as i
  where i.token_hash = decode(read_invitation.token_hash, 'hex');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  judged := identity.judge_invitation(invitation, user_id, email, at);
  if judged = 'for_another' then
    return jsonb_build_object('outcome', judged, 'masked_address', identity.mask_address(invitation.address));
  end if;
  return (
    select jsonb_build_object(
      'outcome', judged, 'organization_id', o.id, 'organization_name', o.name, 'inviter', p.email,
      'role', invitation.role, 'expires_at', invitation.expires_at,
      'onboarded', exists (
        select from identity.profiles as own
        where own.user_id = read_invitation.user_id and own.country is not null
      )
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = invitation.invited_by
    where o.id = invitation.organization_id
  );
end
$$;
comment on function public.read_invitation is
  'What the page behind an invitation''s link shows to a signed-in person: {"outcome":"open","organization_id",'
  '"organization_name","inviter","role","expires_at","onboarded"}, the same with outcome already_member, used, '
  'withdrawn, expired or plan, {"outcome":"for_another","masked_address"}, or {"outcome":"unknown"}.';

create or replace function public.accept_invitation(token_hash text, user_id uuid, email text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  own_hash constant bytea := decode(accept_invitation.token_hash, 'hex');
  invitation identity.invitations;
  judged text;
begin
  select * into invitation from identity.invitations as i where i.token_hash = own_hash;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.lock_members(invitation.organization_id);
  -- Read again: it may have been accepted, withdrawn or sent anew while this one waited.
  select * into invitation from identity.invitations as i where i.token_hash = own_hash for no key update;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  judged := identity.judge_invitation(invitation, user_id, email, at);
  if judged <> 'open' then
    return jsonb_build_object('outcome', judged) || case judged
      when 'for_another' then '{}' else jsonb_build_object('organization_id', invitation.organization_id) end;
  end if;
  if not exists (
    select from identity.profiles as p where p.user_id = accept_invitation.user_id and p.country is not null
  ) then
    return '{"outcome":"not_onboarded"}';
  end if;
  update identity.invitations as i set accepted_at = at where i.id = invitation.id;
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (invitation.organization_id, user_id, invitation.role, at);
  perform identity.record_event('member.joined', user_id, invitation.organization_id,
    jsonb_build_object('role', invitation.role, 'invited_by', invitation.invited_by), at);
  return jsonb_build_object('outcome', 'accepted', 'organization_id', invitation.organization_id);
end
$$;
comment on function public.accept_invitation is
  'Makes a person a member by an invitation to the address they signed in with, once: '
  '{"outcome":"accepted","organization_id"}, not_onboarded, or why not as read_invitation has it.';

-- schemas/identity/handovers.sql

-- How an organization gets another owner. There is always one, who is a member.

create table identity.handovers (
  organization_id text collate "C" primary key,
  from_id uuid not null,
  to_id uuid not null,
  id uuid not null default gen_random_uuid() unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint handovers_from_fkey foreign key (organization_id, from_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint handovers_to_fkey foreign key (organization_id, to_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint handovers_of_two_people check (from_id <> to_id)
);
comment on table identity.handovers is
  'Owners who want to hand their organization over, and to which member, who has to confirm it; one at a time.';
comment on column identity.handovers.id is 'Names this proposal, so that nobody confirms a later one by an old page.';
create index handovers_from_idx on identity.handovers (organization_id, from_id);
create index handovers_to_idx on identity.handovers (organization_id, to_id);
alter table identity.handovers enable row level security;
grant select, insert, update, delete on identity.handovers to service_role;

create or replace function public.propose_owner(
  user_id uuid, organization_id text, member_id uuid, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform identity.lock_members(organization_id);
  if not exists (
    select from identity.organizations as o
    where o.id = propose_owner.organization_id and o.owner_id = propose_owner.user_id
  ) or not exists (
    select from identity.memberships as m
    where m.organization_id = propose_owner.organization_id and m.user_id = member_id and m.role <> 'owner'
      and identity.is_active(m.user_id, at)
  ) then
    return '{"outcome":"unknown"}';
  end if;
  -- The latest counts: the one before can no longer be confirmed.
  delete from identity.handovers as h where h.organization_id = propose_owner.organization_id;
  insert into identity.handovers (organization_id, from_id, to_id, created_at, expires_at)
  values (organization_id, user_id, member_id, at, at + interval '7 days');
  perform identity.record_event('organization.handover_proposed', user_id, organization_id,
    jsonb_build_object('member_id', member_id), at);
  return (
    select jsonb_build_object('outcome', 'proposed', 'address', p.email, 'organization_name', o.name)
    from identity.organizations as o
    join identity.profiles as p on p.user_id = member_id
    where o.id = propose_owner.organization_id
  );
end
$$;
comment on function public.propose_owner is
  'Asks a member to take an organization over, for its owner only, instead of whoever was asked before; for 7 days: '
  '{"outcome":"proposed","address","organization_name"} or {"outcome":"unknown"}.';

create or replace function public.end_handover(user_id uuid, organization_id text, handover_id uuid, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ended identity.handovers;
begin
  delete from identity.handovers as h
  where h.organization_id = end_handover.organization_id and h.id = handover_id
    and end_handover.user_id in (h.from_id, h.to_id)
  returning h.* into ended;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event(
    case when ended.from_id = user_id then 'organization.handover_withdrawn' else 'organization.handover_declined' end,
    user_id, organization_id, '{}', at
  );
  return '{"outcome":"ended"}';
end
$$;
comment on function public.end_handover is
  'Withdraws or declines a hand-over that waits to be confirmed: outcome ended or unknown.';

create or replace function public.accept_handover(user_id uuid, organization_id text, handover_id uuid,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  accepted identity.handovers;
begin
  perform identity.lock_members(organization_id);
  -- Once, and only while the one who asked is still the owner.
  delete from identity.handovers as h
  where h.organization_id = accept_handover.organization_id and h.id = handover_id and h.to_id = user_id
    and h.expires_at > at and identity.is_active(h.to_id, at)
    and h.from_id = (select o.owner_id from identity.organizations as o where o.id = h.organization_id)
  returning h.* into accepted;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  -- In this order, since there is never a second owner.
  update identity.memberships as m set role = 'manager'
  where m.organization_id = accept_handover.organization_id and m.user_id = accepted.from_id;
  update identity.memberships as m set role = 'owner', sees_private = false
  where m.organization_id = accept_handover.organization_id and m.user_id = accepted.to_id;
  update identity.organizations as o set owner_id = accepted.to_id, updated_at = at
  where o.id = accept_handover.organization_id;
  perform identity.withdraw_invitations_of(organization_id, accepted.from_id, at);
  perform jobs.stop_digests_of(organization_id, accepted.from_id, at);
  perform identity.record_event('organization.handed_over', user_id, organization_id,
    jsonb_build_object('from', accepted.from_id), at);
  return '{"outcome":"accepted"}';
end
$$;
comment on function public.accept_handover is
  'Makes the member who was asked the owner, and the owner a manager, once: outcome accepted or unknown.';

-- schemas/identity/members.sql

-- Members: who belongs to an organization and as what, and how somebody leaves.

create or replace function public.read_members(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  manages constant boolean := identity.member_may(organization_id, user_id, 'members:manage');
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'role', own.role, 'may_manage', manages,
      'may_grow', identity.may_grow(o.id, at),
      'country', (select p.country from identity.profiles as p where p.user_id = own.user_id),
      'members', (
        select jsonb_agg(jsonb_build_object(
          'user_id', m.user_id, 'email', p.email, 'role', m.role, 'sees_private', m.sees_private,
          'may_change', m.user_id <> own.user_id and m.role <> 'owner'
            and identity.may_give_role(o.id, own.user_id, m.role, at)
        ) order by m.role <> 'owner', p.email, m.user_id)
        from identity.memberships as m
        join identity.profiles as p on p.user_id = m.user_id
        where m.organization_id = o.id
      ),
      'invitations', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', i.id, 'address', i.address, 'role', i.role, 'expires_at', i.expires_at, 'is_expired',
          i.expires_at <= at, 'may_change', identity.may_give_role(o.id, own.user_id, i.role, at)
        ) order by i.created_at desc, i.id)
        from identity.invitations as i
        where manages and i.organization_id = o.id and i.accepted_at is null and i.withdrawn_at is null
      ), '[]'),
      'handover', (
        select jsonb_build_object('id', h.id, 'from', f.email, 'to', t.email, 'to_me', h.to_id = own.user_id,
          'expires_at', h.expires_at)
        from identity.handovers as h
        join identity.profiles as f on f.user_id = h.from_id
        join identity.profiles as t on t.user_id = h.to_id
        where h.organization_id = o.id and h.expires_at > at and own.user_id in (h.from_id, h.to_id)
      )
    )
    from identity.organizations as o
    join identity.memberships as own on own.organization_id = o.id and own.user_id = read_members.user_id
    where o.id = read_members.organization_id and identity.is_active(own.user_id, at)
  );
end
$$;
comment on function public.read_members is
  'The members of an organization as one of them sees them, with the open invitations for who may invite, and a '
  'hand-over that is theirs to confirm or to withdraw; null for everybody else.';

create or replace function public.change_member_role(
  user_id uuid, organization_id text, member_id uuid, role text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  member identity.memberships;
begin
  perform identity.lock_members(organization_id);
  select * into member from identity.memberships as m
  where m.organization_id = change_member_role.organization_id and m.user_id = member_id
    and identity.member_may(m.organization_id, change_member_role.user_id, 'members:manage');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  -- The owner's changes only by a hand-over, and nobody's by themselves.
  if member.role = 'owner' or member_id = user_id
    or not identity.may_give_role(organization_id, user_id, member.role, at)
    or not identity.may_give_role(organization_id, user_id, role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  if member.role = role then
    return '{"outcome":"changed"}';
  end if;
  update identity.memberships as m set role = change_member_role.role, sees_private = false
  where m.organization_id = change_member_role.organization_id and m.user_id = member_id;
  perform identity.withdraw_invitations_of(organization_id, member_id, at);
  perform jobs.stop_digests_of(organization_id, member_id, at);
  perform identity.record_event('member.role_changed', user_id, organization_id,
    jsonb_build_object('member_id', member_id, 'role', role), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_member_role is
  'Makes a member a manager, member or viewer: outcome changed, not_allowed, or unknown, also for who may manage none.';

create or replace function public.open_private(
  user_id uuid, organization_id text, member_id uuid, sees_private boolean, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform identity.lock_members(organization_id);
  if not exists (
    select from identity.organizations as o
    where o.id = open_private.organization_id and o.owner_id = open_private.user_id
  ) then
    return '{"outcome":"unknown"}';
  end if;
  update identity.memberships as m set sees_private = open_private.sees_private
  where m.organization_id = open_private.organization_id and m.user_id = member_id and m.role = 'viewer';
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  if not sees_private then
    perform jobs.stop_digests_of(organization_id, member_id, at);
  end if;
  perform identity.record_event('member.private_changed', user_id, organization_id,
    jsonb_build_object('member_id', member_id, 'sees_private', sees_private), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.open_private is
  'Opens private categories to a viewer, or closes them, for the owner only: outcome changed or unknown.';

create or replace function identity.may_remove(organization_id text, user_id uuid, member_id uuid, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.memberships as m
    where m.organization_id = may_remove.organization_id and m.user_id = member_id and m.role <> 'owner'
      and (m.user_id = may_remove.user_id and identity.is_active(m.user_id, at)
        or identity.may_give_role(m.organization_id, may_remove.user_id, m.role, at))
  );
end
$$;
comment on function identity.may_remove is
  'Whether a person may remove a member, or leave: anybody but the owner leaves, and nobody removes the owner.';

create or replace function public.read_removal(user_id uuid, organization_id text, member_id uuid, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not identity.may_remove(organization_id, user_id, member_id, at) then
    return null;
  end if;
  return (
    select jsonb_build_object(
      'organization_name', o.name, 'email', p.email,
      -- Names only to who may see all of them: what is private must not show here either.
      'assigned', (
        select count(*) from app.expenses as e
        where e.organization_id = o.id and e.assignee_id = member_id and e.deleted_at is null
      ),
      'apps', (
        select count(*) from oauth.grants as g
        where g.organization_id = o.id and g.user_id = member_id and g.revoked_at is null and g.expires_at > at
      ),
      'has_calendar', exists (
        select from identity.calendar_feeds as f where f.organization_id = o.id and f.user_id = member_id
      ),
      'imports', (
        select count(*) from app.import_batches as b
        where b.organization_id = o.id and b.actor_id = member_id and b.state <> 'committed'
      ),
      'links', (
        select count(*) from app.provider_links as l where l.organization_id = o.id and l.status <> 'revoked'
      ),
      'proposals', (
        select count(*) from app.provider_statements as s
        where s.organization_id = o.id and s.status = 'needs_review'
      ),
      'invitations', (
        select count(*) from identity.invitations as i
        where i.organization_id = o.id and i.invited_by = member_id and i.accepted_at is null
          and i.withdrawn_at is null and i.expires_at > at
      )
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = member_id
    where o.id = read_removal.organization_id
  );
end
$$;
comment on function public.read_removal is
  'What removing a member would end, by counts, and what would stay as it is; null for who may not remove them.';

-- No one waits long for the books: who has them that long has an import, and the page can be submitted again.
create or replace function public.remove_member(user_id uuid, organization_id text, member_id uuid, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' set lock_timeout = '5s' as $$
declare
  unassigned bigint;
begin
  if not identity.may_remove(organization_id, user_id, member_id, at) then
    return '{"outcome":"unknown"}';
  end if;
  -- The books before the members, as closing a month takes them.
  perform pg_advisory_xact_lock(app.books_key(organization_id));
  perform identity.lock_members(organization_id);
  if not identity.may_remove(organization_id, user_id, member_id, at) then
    return '{"outcome":"unknown"}';
  end if;
  update app.expenses as e set assignee_id = null, updated_at = at
  where e.organization_id = remove_member.organization_id and e.assignee_id = member_id;
  get diagnostics unassigned = row_count;
  delete from app.import_batches as b
  where b.organization_id = remove_member.organization_id and b.actor_id = member_id and b.state <> 'committed';
  delete from app.idempotency_keys as k
  where k.organization_id = remove_member.organization_id and k.actor_id = member_id;
  perform app.withdraw_proposals_of(organization_id, member_id, at);
  perform jobs.stop_digests_of(organization_id, member_id, at);
  -- With it go their grants and tokens, their calendar, and a hand-over to them, so that none comes back with them.
  delete from identity.memberships as m
  where m.organization_id = remove_member.organization_id and m.user_id = member_id;
  perform identity.withdraw_invitations_of(organization_id, member_id, at);
  perform identity.record_event(case when user_id = member_id then 'member.left' else 'member.removed' end, user_id,
    organization_id, jsonb_build_object('member_id', member_id, 'unassigned', unassigned), at);
  return '{"outcome":"removed"}';
end
$$;
comment on function public.remove_member is
  'Removes a member with their grants, calendar, waiting imports, proposals, invitations and mails; bills assigned to '
  'them are '
  'nobody''s then. For who leaves as well. Outcome removed, or unknown, also for who may not.';

-- schemas/identity/read_account.sql

create or replace function identity.is_timezone(name text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- Places only. `at time zone` would also take offsets, POSIX rules and abbreviations, which mean another place to
  -- each (IST) or forget the summer (BST).
  return name = 'UTC'
    or (strpos(name, '/') > 0
    and exists (select from pg_catalog.pg_timezone_names as z where z.name = is_timezone.name));
end
$$;
comment on function identity.is_timezone is
  'Whether the database knows an IANA time zone of a place by this name; UTC is one.';

-- Account

create or replace function public.read_account(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'profile', jsonb_build_object(
        'email', p.email, 'country', p.country, 'timezone', p.timezone, 'email_enabled', p.email_enabled,
        'default_lead_days', p.default_lead_days,
        'reminder_email', p.reminder_email, 'reminder_email_confirmed', p.reminder_email_confirmed_at is not null,
        'refused_email', p.refused_email
      ),
      'organizations', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', o.id, 'name', o.name, 'role', m.role, 'deletes_at', o.deletes_at, 'base_currency', o.base_currency,
          'plan', o.plan, 'plan_status',
          o.plan_status,
          'mails', m.mails, 'effective_plan', identity.effective_plan(o, at),
          'trial_ends_at', o.trial_ends_at,
          'is_trial', coalesce(at < o.trial_ends_at, false), 'rights', (
            select coalesce(jsonb_agg(r."right" order by r."right"), '[]')
            from identity.role_rights as r
            where r.role = m.role
          ),
          'owner_email', (select w.email from identity.profiles as w where w.user_id = o.owner_id),
          'grace_ends_at',
          o.past_due_since + interval '7 days',
          'second_plan', o.second_plan, 'second_grace_ends_at', o.second_past_due_since + interval '7 days',
          'period_ends_at', case when o.plan_status = 'canceled' then (s.clock).occurred_at else s.period_ends_at end,
          'features_off', (
            select coalesce(jsonb_agg(distinct f.feature), '[]')
            from billing.plan_features as f
            where not identity.organization_has_feature(o.id, f.feature, at)
          ),
          'proposals_waiting', (
            select count(*)
            from app.proposals as q
            where q.organization_id = o.id and q.state = 'pending' and q.expires_at > at
              and app.may_decide(q, p.user_id, 'page')
          ),
          'calendar', (
            select jsonb_build_object('show_amounts', f.show_amounts, 'created_at', f.created_at)
            from identity.calendar_feeds as f
            where f.organization_id = o.id and f.user_id = p.user_id
          )
        ) order by m.created_at, o.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        -- Of a plan that was set by hand none is paid for.
        left join lateral (select * from billing.subscriptions_with_a_say(o, at) limit 1) as s on s.status
          = o.plan_status
        where m.user_id = p.user_id
      ), '[]'),
      'plans_enabled', billing.plans_enabled(),
      'plan_features', (
        select jsonb_object_agg(f.plan, f.features)
        from (
          select t.plan, jsonb_agg(t.feature order by t.feature) as features
          from billing.plan_features as t
          group by t.plan
        ) as f
      ),
      'first_steps', jsonb_build_object(
        'app', exists (select from oauth.grants as g where g.user_id = p.user_id),
        'expense', exists (
          select
          from identity.memberships as m
          join app.expenses as e on e.organization_id = m.organization_id
          where m.user_id = p.user_id and e.kind = 'one_off'
        ),
        'bill', exists (
          select
          from identity.memberships as m
          join app.expenses as e on e.organization_id = m.organization_id
          where m.user_id = p.user_id and e.kind = 'bill'
        )
      ),
      'connected_apps', public.list_connected_apps(p.user_id, at),
      'grant_alerts', public.list_grant_alerts(p.user_id),
      'provider_links', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', l.id, 'provider_key', l.provider_key, 'account_label', l.account_label,
          'status', app.link_status(l, at), 'bill', e.name, 'bill_id', e.id,
          'bill_is_over', e.deleted_at is not null or e.status not in ('active', 'paused'), 'bill_is_variable',
          e.amount_mode = 'variable',
          'organization', o.name, 'role', m.role, 'last_success_period', l.last_success_period
        ) order by o.name, e.name, l.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        join app.provider_links as l on l.organization_id = o.id and l.status <> 'revoked'
        join app.expenses as e on e.id = l.expense_id and app.member_sees(e, m)
        where m.user_id = p.user_id
      ), '[]'),
      'connectable_bills', coalesce((
        select jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name, 'organization', b.organization)
          order by b.organization, b.name, b.id)
        from (
          select e.id, e.name, o.name as organization
          from identity.organizations as o
          join app.expenses as e on e.organization_id = o.id
          where o.owner_id = p.user_id and e.kind = 'bill' and e.deleted_at is null and e.status = 'active'
            and e.amount_mode = 'variable'
            and identity.organization_has_feature(o.id, 'bills:variable', at)
            and not exists (select from app.provider_links as l where l.expense_id = e.id and l.status <> 'revoked')
          order by e.recorded_seq desc
          limit 20
        ) as b
      ), '[]')
    )
    from identity.profiles as p
    where p.user_id = read_account.user_id and p.country is not null
  );
end
$$;
comment on function public.read_account is 'Everything the account page shows of a person; null before onboarding.';

create or replace function public.change_country(user_id uuid, country text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p set country = change_country.country, updated_at = at
  where p.user_id = change_country.user_id and p.country is not null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('account.country_changed', user_id, null, '{}', at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_country is
  'Where a person lives now; currency and time zone stay as they are: {"outcome":"changed"}, or {"outcome":"unknown"} '
  'before onboarding.';
grant execute on function identity.is_timezone to authenticated;

-- schemas/identity/update_reminders.sql

create or replace function public.rename_organization(user_id uuid, organization_id text, name text, at timestamptz)
  returns jsonb
language plpgsql set search_path = '' as $$
begin
  update identity.organizations as o set name = btrim(rename_organization.name), updated_at = at
  where o.id = organization_id and o.owner_id = user_id;
  if not found then
    return '{"outcome":"not_owner"}';
  end if;
  perform identity.record_event('organization.renamed', user_id, organization_id, '{}', at);
  return '{"outcome":"renamed"}';
end
$$;
comment on function public.rename_organization is
  'Gives an organization another name, for its owner only: {"outcome":"renamed"} or {"outcome":"not_owner"}.';

create or replace function public.update_reminders(
  user_id uuid, reminder_email text, timezone text, default_lead_days integer, email_enabled boolean, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  unconfirmed text;
begin
  if not identity.is_timezone(timezone) then
    return '{"outcome":"invalid","field":"timezone"}';
  end if;
  update identity.profiles as p
  set timezone = update_reminders.timezone,
    default_lead_days = update_reminders.default_lead_days,
    email_enabled = update_reminders.email_enabled,
    reminder_email = nullif(update_reminders.reminder_email, p.email),
    -- A confirmation belongs to the address it was given for.
    reminder_email_confirmed_at
      = case when update_reminders.reminder_email = p.reminder_email then p.reminder_email_confirmed_at end,
    -- Whoever saves an address again wants it tried again.
    refused_email = null, refused_at = null,
    updated_at = at
  where p.user_id = update_reminders.user_id
  returning case when p.reminder_email_confirmed_at is null then p.reminder_email end into unconfirmed;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('reminders.changed', user_id, null, jsonb_build_object('email_enabled', email_enabled),
    at);
  return jsonb_build_object('outcome', 'updated', 'unconfirmed', unconfirmed);
end
$$;
comment on function public.update_reminders is
  'Changes when and where reminders go: {"outcome":"updated","unconfirmed": address that must be confirmed first, or '
  'null}, {"outcome":"invalid","field"} or {"outcome":"unknown"}.';

create or replace function public.confirm_reminder_email(user_id uuid, reminder_email text, at timestamptz)
  returns jsonb
language plpgsql set search_path = '' as $$
begin
  update identity.profiles as p
  set reminder_email_confirmed_at = coalesce(p.reminder_email_confirmed_at, at),
    refused_email = null, refused_at = null, updated_at = at
  where p.user_id = confirm_reminder_email.user_id and p.reminder_email = confirm_reminder_email.reminder_email;
  if not found then
    return '{"outcome":"stale"}';
  end if;
  perform identity.record_event('reminders.address_confirmed', user_id, null, '{}', at);
  return '{"outcome":"confirmed"}';
end
$$;
comment on function public.confirm_reminder_email is
  'Confirms the reminder address while it is still the one that was asked for: {"outcome":"confirmed"} or '
  '{"outcome":"stale"}.';

-- schemas/identity/deletion.sql

-- Deletion: organizations and people say when they go, and take it back until then. The purge does the rest
-- (jobs/purge_deleted.sql).

create or replace function public.read_deletion(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'country', (select p.country from identity.profiles as p where p.user_id = read_deletion.user_id),
    'deletes_at', (select p.deletes_at from identity.profiles as p where p.user_id = read_deletion.user_id),
    'organizations', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', o.id, 'name', o.name, 'is_owner', o.owner_id = m.user_id, 'deletes_at', o.deletes_at,
        'is_paid', o.plan <> 'free', 'members', (
          select count(*) from identity.memberships as c where c.organization_id = o.id and c.user_id <> m.user_id
        ),
        'may_delete', identity.member_may(o.id, m.user_id, 'organization:manage')
      ) order by m.created_at, o.id), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = read_deletion.user_id
    )
  );
end
$$;
comment on function public.read_deletion is
  'What the pages that delete show a person: {"country","deletes_at","organizations": [{"id","name","is_owner",'
  '"deletes_at","is_paid","members","may_delete"}]}.';

create or replace function identity.others_in(organization_id text, user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(p.email order by m.created_at, p.user_id), '[]')
    from identity.memberships as m
    join identity.profiles as p on p.user_id = m.user_id
    where m.organization_id = others_in.organization_id and m.user_id <> others_in.user_id
  );
end
$$;
comment on function identity.others_in is 'The sign-in addresses of everybody else in an organization.';

create or replace function public.delete_organization(user_id uuid, organization_id text, name text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization identity.organizations;
begin
  select * into organization from identity.organizations as o
  where o.id = delete_organization.organization_id
    and identity.member_may(o.id, delete_organization.user_id, 'organization:manage')
  for update;
  if not found then
    return '{"outcome": "forbidden"}';
  elsif organization.deletes_at is not null then
    return '{"outcome": "already"}';
  elsif btrim(organization.name) <> btrim(delete_organization.name) then
    return '{"outcome": "wrong_name"}';
  end if;
  organization.deletes_at := at + app.kept_for('deleted_organizations');
  update identity.organizations as o set deletes_at = organization.deletes_at, updated_at = at
  where o.id = organization.id;
  perform identity.record_event('organization.deletion_asked', user_id, organization.id, '{}', at);
  return jsonb_build_object(
    'outcome', 'scheduled', 'name', organization.name, 'deletes_at', organization.deletes_at,
    'members', identity.others_in(organization.id, user_id)
  );
end
$$;
comment on function public.delete_organization is
  'Has an organization deleted after its grace by who may: {"outcome":"scheduled","name","deletes_at","members": '
  'addresses of the others}, or outcome already, wrong_name or forbidden.';

create or replace function public.keep_organization(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization identity.organizations;
begin
  select * into organization from identity.organizations as o
  where o.id = keep_organization.organization_id
    and identity.member_may(o.id, keep_organization.user_id, 'organization:manage')
  for update;
  -- Whose account is being deleted keeps that first: an organization needs an owner.
  if not found or exists (
    select from identity.profiles as p where p.user_id = keep_organization.user_id and p.deletes_at is not null
  ) then
    return '{"outcome": "forbidden"}';
  elsif organization.deletes_at is null then
    return '{"outcome": "already"}';
  elsif organization.deletes_at <= at then
    -- Part of it may be gone.
    return '{"outcome": "too_late"}';
  end if;
  update identity.organizations as o set deletes_at = null, updated_at = at where o.id = organization.id;
  perform identity.record_event('organization.deletion_stopped', user_id, organization.id, '{}', at);
  return jsonb_build_object(
    'outcome', 'kept', 'name', organization.name, 'members', identity.others_in(organization.id, user_id)
  );
end
$$;
comment on function public.keep_organization is
  'Takes the deletion of an organization back: {"outcome":"kept","name","members"}, or outcome already, too_late or '
  'forbidden.';

create or replace function public.delete_account(user_id uuid, email text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  leaves_at constant timestamptz := at + app.kept_for('deleted_accounts');
begin
  -- Also who never went through onboarding; nobody becomes an owner under us.
  insert into identity.profiles (user_id, email, created_at, updated_at) values (user_id, email, at, at)
  on conflict on constraint profiles_pkey do nothing;
  perform from identity.profiles as p where p.user_id = delete_account.user_id for update;
  if exists (
    select from identity.organizations as o where o.owner_id = delete_account.user_id and o.deletes_at is null
  ) then
    return '{"outcome": "owner"}';
  end if;
  update identity.profiles as p set deletes_at = leaves_at, updated_at = at
  where p.user_id = delete_account.user_id and p.deletes_at is null;
  if not found then
    return '{"outcome": "already"}';
  end if;
  -- Their bills of others go back to all of them; with a membership go its grants, consents and calendar.
  update app.expenses as e set assignee_id = null
  where e.assignee_id = delete_account.user_id and e.organization_id in (
    select m.organization_id from identity.memberships as m where m.user_id = delete_account.user_id
  );
  delete from oauth.grants as g where g.user_id = delete_account.user_id;
  delete from identity.memberships as m where m.user_id = delete_account.user_id and m.role <> 'owner';
  perform identity.record_event('account.deletion_asked', user_id, null, '{}', at);
  return jsonb_build_object('outcome', 'scheduled', 'deletes_at', leaves_at);
end
$$;
comment on function public.delete_account is
  'Has a person deleted after their grace, and ends their memberships and connections now: '
  '{"outcome":"scheduled","deletes_at"}, or outcome already, or owner while they own an organization that stays.';

create or replace function public.keep_account(user_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p set deletes_at = null, updated_at = at
  where p.user_id = keep_account.user_id and p.deletes_at > at;
  if not found then
    return '{"outcome": "already"}';
  end if;
  perform identity.record_event('account.deletion_stopped', user_id, null, '{}', at);
  return '{"outcome": "kept"}';
end
$$;
comment on function public.keep_account is
  'Takes the deletion of an account back: {"outcome":"kept"}, or outcome already. What was left stays left.';

-- schemas/connector/context.sql

-- The connector's database side: one call authenticates a bearer, becomes the person under row-level security, runs one
-- tool and answers its envelope.
-- What every tool shares is here once: the context, change sets, dry runs, idempotency keys. It knows no tool but by
-- name.
-- A tool is `app.<tool>(context app.context, arguments jsonb) returns jsonb` and answers {data, warnings?,
-- next_cursor?, total_count?, totals_by_currency?}, a writing one also {facts}: what it did, as facts from which
-- TypeScript makes the words of the list of recent changes.

create type app.context as (
  organization_id text,
  organization_name text,
  base_currency text,
  owner_id uuid,
  timezone text,
  today date,
  at timestamptz,
  actor_id uuid,
  role text,
  client_name text,
  grant_id uuid
);
comment on type app.context is 'For whom and when a tool runs; today is the calendar date in the owner''s zone.';

create or replace function app.read_context(at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (read_context.at at time zone p.timezone)::date,
    read_context.at,
    m.user_id, m.role, auth.jwt() ->> 'client_name', (auth.jwt() ->> 'grant_id')::uuid
  into context
  from identity.organizations as o
  join identity.profiles as p on p.user_id = o.owner_id
  join identity.memberships as m on m.organization_id = o.id and m.user_id = (select auth.uid())
  where o.id = (select identity.current_organization_id());
  return context;
end
$$;
comment on function app.read_context is
  'The context of the running request, read as the person; null when they are no member of its organization.';

-- Changes

create or replace function app.begin_change(context app.context, tool text) returns text
language plpgsql set search_path = '' as $$
declare
  change text;
begin
  insert into app.change_sets (organization_id, actor_id, grant_id, client_name, tool, proposal_id)
  values (
    context.organization_id, context.actor_id, context.grant_id, context.client_name, begin_change.tool,
    nullif(current_setting('app.proposal_id', true), '')
  )
  returning id into change;
  perform set_config('app.change_id', change, true);
  return change;
end
$$;
comment on function app.begin_change is
  'Opens a change set: from here on the capture trigger records every row that is written.';

create or replace function app.finish_change(change text, facts jsonb) returns text
language plpgsql set search_path = '' as $$
begin
  perform set_config('app.change_id', '', true);
  if exists (select from app.change_items as i where i.change_id = change) then
    update app.change_sets as s set facts = finish_change.facts where s.id = change;
    return change;
  end if;
  delete from app.change_sets as s where s.id = change;
  return null;
end
$$;
comment on function app.finish_change is
  'Closes a change set; one that wrote nothing leaves no trace and answers null. One that wrote must say what it did: '
  'null breaks a constraint.';

-- Running a tool

create or replace function app.is_write(tool text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return tool
    not in ('get_context', 'list_expenses', 'summarize_spending', 'show_spending_chart', 'list_bills', 'review_bills',
      'reconcile');
end
$$;
comment on function app.is_write is
  'Whether a tool changes the books; a tool that is not known to read counts as a write.';

create or replace function app.dispatch_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
begin
  case tool
    when 'get_context' then return app.get_context(context, arguments);
    when 'list_expenses' then return app.list_expenses(context, arguments);
    when 'summarize_spending' then return app.summarize_spending(context, arguments);
    when 'show_spending_chart' then return app.show_spending_chart(context, arguments);
    when 'list_bills' then return app.list_bills(context, arguments);
    when 'review_bills' then return app.review_bills(context, arguments);
    when 'reconcile' then return app.reconcile(context, arguments);
    when 'log_expenses' then return app.log_expenses(context, arguments);
    when 'import_expenses' then return app.import_expenses(context, arguments);
    when 'update_expenses' then return app.update_expenses(context, arguments);
    when 'add_bill' then return app.add_bill(context, arguments);
    when 'update_bill' then return app.update_bill(context, arguments);
    when 'mark_bill_paid' then return app.mark_bill_paid(context, arguments);
    when 'sync_bill_amounts' then return app.sync_bill_amounts(context, arguments);
    -- No tool of a client: what the connector fetched for the one above.
    when 'store_bill_amounts' then return app.store_bill_amounts(context, arguments);
    when 'delete_records' then return app.delete_records(context, arguments);
    when 'undo_change' then return app.undo_change(context, arguments);
    when 'update_settings' then return app.update_settings(context, arguments);
    when 'decide_proposal' then return app.decide_proposal(context, arguments);
  end case;
end
$$;
comment on function app.dispatch_tool is 'The tools by name; an unknown name is an error of the caller.';

-- schemas/connector/perform_once.sql

create or replace function app.perform_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  change text;
  result jsonb;
begin
  if not app.is_write(tool) then
    return app.dispatch_tool(context, tool, arguments);
  end if;
  change := app.begin_change(context, tool);
  result := app.dispatch_tool(context, tool, arguments);
  change := app.finish_change(change, result -> 'facts');
  -- A tool that did its work in an earlier call names the change of that one itself.
  return result - 'facts' || jsonb_build_object('change_id', coalesce(change, result ->> 'change_id'));
end
$$;
comment on function app.perform_tool is 'A tool, inside a change set when it writes.';

create or replace function app.preview_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  preview text;
begin
  -- The tool really runs, so a preview cannot differ from the write; leaving the block by an error takes everything
  -- back.
  raise exception using errcode = 'EX002', detail = app.preview_judged(context, tool, arguments)::text;
exception when sqlstate 'EX002' then
  get stacked diagnostics preview = pg_exception_detail;
  return preview::jsonb - 'change_id' || jsonb_build_object(
    'warnings', coalesce(preview::jsonb -> 'warnings', '[]') || app.warning('dry_run')
  );
end
$$;
comment on function app.preview_tool is 'What a tool would do (dry_run); writes nothing.';

create or replace function app.perform_once(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  own_key constant text := arguments ->> 'idempotency_key';
  own_hash constant bytea := sha256(convert_to(arguments::text, 'UTF8'));
  earlier app.idempotency_keys;
  result jsonb;
begin
  select * into earlier from app.idempotency_keys as k
  where k.organization_id = context.organization_id and k.actor_id = context.actor_id and k.tool = perform_once.tool
    and k.key = own_key
    and k.expires_at > context.at
    -- What was undone since is asked for anew, but nothing is undone twice.
    and (perform_once.tool = 'undo_change'
      or not exists (select from app.change_sets as s
      where s.id = k.result ->> 'change_id' and s.undone_by is not null));
  if found then
    if earlier.arguments_hash <> own_hash then
      perform app.fail('idempotency_conflict', field => 'idempotency_key');
    end if;
    return coalesce((
      -- What waited for approval then may have been written since.
      select coalesce(p.result, case p.state when 'pending' then app.answer_proposal(p) end)
      from app.proposals as p
      where p.id = earlier.result ->> 'proposal_id'
    ), earlier.result) || jsonb_build_object('replayed', true);
  end if;
  result := app.perform_judged(context, tool, arguments);
  insert into app.idempotency_keys as k (organization_id, actor_id, tool, key, arguments_hash, result, expires_at)
  values (context.organization_id, context.actor_id, tool, own_key, own_hash, result,
    context.at + app.kept_for('idempotency_keys'))
  on conflict on constraint idempotency_keys_pkey do update
    set arguments_hash = excluded.arguments_hash, result = excluded.result, expires_at = excluded.expires_at;
  return result;
end
$$;
comment on function app.perform_once is
  'A tool whose call carries an idempotency key: the same key and arguments answer the first result, as long as what '
  'it wrote was not undone.';

create or replace function app.books_key(organization_id text) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return hashtextextended('books of ' || books_key.organization_id, 0);
end
$$;
comment on function app.books_key is
  'The advisory lock of an organization: whoever holds it is the only one who writes in its books.';

create or replace function app.lock_books(organization_id text) returns void
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
begin
  perform pg_advisory_xact_lock(app.books_key(lock_books.organization_id));
exception when lock_not_available or deadlock_detected then
  -- Who waits holds a connection that everybody else needs as well. What is long comes here with rows locked, for which
  -- the one who has the books may wait.
  perform app.fail('busy');
end
$$;
comment on function app.lock_books is
  'Makes this transaction the only one that writes in an organization; ends the tool with busy when another one takes '
  'long.';

-- schemas/connector/authenticate.sql

create or replace function app.is_long(tool text, arguments jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  many constant int := 1000;
  target_id text := arguments ->> 'change_id';
begin
  if tool <> 'undo_change' then
    return tool = 'import_expenses';
  end if;
  if target_id is null then
    -- The latest of this connection, as app.find_latest_change has it.
    target_id := app.find_own_latest((auth.jwt() ->> 'grant_id')::uuid);
  end if;
  return exists (select from app.change_items as i where i.change_id = target_id offset many);
end
$$;
comment on function app.is_long is
  'Whether a write may take so long that nobody else may wait for all of it: an import, or the undo of one.';

create or replace function app.run_tool(tool text, arguments jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  -- Before anything runs, and again after the wait: a role may have changed meanwhile.
  perform app.refuse_reader(tool);
  if app.is_write(tool) then
    -- One write at a time in an organization: of two equal calls the second sees what the first wrote, a version that
    -- was checked cannot change before the write, and the numbers of changes rise in the order in which they take
    -- effect. Different organizations never wait. What is long takes its turn itself, when most of it is done.
    if not app.is_long(tool, arguments) then
      perform app.lock_books(identity.current_organization_id());
    end if;
  end if;
  -- After the lock: whoever held it may have changed the currency, the time zone or who is a member.
  context := app.read_context(at);
  if context.organization_id is null then
    return null;
  end if;
  perform app.refuse_reader(tool);
  result := case
    when (arguments ->> 'dry_run')::boolean then app.preview_tool(context, tool, arguments)
    when arguments ? 'idempotency_key' then app.perform_once(context, tool, arguments)
    else app.perform_judged(context, tool, arguments)
  end;
  if app.is_write(tool) then
    -- A write, or the undo of one, may have set the time zone or the currency that the answer names.
    context := app.read_context(at);
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'ok', true,
    'context', jsonb_build_object(
      'organization', jsonb_build_object('id', context.organization_id, 'name', context.organization_name),
      'today', context.today, 'timezone', context.timezone, 'base_currency', context.base_currency
    ),
    'warnings', '[]'::jsonb
  ) || result);
exception when sqlstate 'EX001' then
  get stacked diagnostics problem = pg_exception_detail;
  return jsonb_build_object('ok', false, 'error', problem::jsonb);
end
$$;
comment on function app.run_tool is
  'Runs one tool as the person of the request''s claims, under row-level security, and answers its envelope; null for '
  'who is no member.';

-- The database's API of the connector

create or replace function app.quota_key(grant_id text, kind text) returns text
language sql immutable set search_path = '' as $$
  select 'connector_' || kind || ':' || grant_id
$$;
comment on function app.quota_key is
  'The bucket of what a grant reads or writes. A new access token of the grant is no new bucket.';

create or replace function app.authenticate(token_hash text, resource text, kind text, limits jsonb, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal record;
  organization identity.organizations;
  wait integer := 0;
begin
  select * into principal from oauth.resolve_access_token(decode(authenticate.token_hash, 'hex'), resource, at);
  if principal.outcome is distinct from 'ok' then
    -- Only a token that was never ours is a guess. One that has expired or was revoked must hear that it did, however
    -- many others of the same hosted client come from the same address; and who holds a good one never comes here.
    if limits is not null
      and not exists (select from oauth.tokens as t where t.token_hash = decode(authenticate.token_hash, 'hex')) then
      wait := oauth.draw_quotas(limits -> 'caller', at);
    end if;
    return case when wait = 0 then '{"outcome": "invalid_token"}' else oauth.limited(wait) end;
  end if;
  if limits -> kind is not null then
    wait := oauth.wait_for_bucket(
      app.quota_key(principal.grant_id::text, kind), (limits #>> array[kind, 'at_most'])::integer,
      (limits #>> array[kind, 'seconds'])::double precision, at
    );
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  select * into strict organization from identity.organizations as o where o.id = principal.organization_id;
  if organization.deletes_at is not null then
    perform app.count_request(principal.grant_id::text, kind, limits, at);
    return jsonb_build_object(
      'outcome', 'organization_deleting', 'deletes_on', (organization.deletes_at at time zone 'UTC')::date,
      'organization', jsonb_build_object('id', organization.id, 'name', organization.name)
    );
  end if;
  if not identity.organization_has_feature(organization.id, 'ai:connector', at) then
    perform app.count_request(principal.grant_id::text, kind, limits, at);
    return jsonb_build_object(
      'outcome', 'feature_not_in_plan', 'required_plan', 'pro', 'plan', identity.effective_plan(organization, at),
      'organization', jsonb_build_object('id', organization.id, 'name', organization.name)
    );
  end if;
  return jsonb_build_object(
    'outcome', 'ok',
    'organization', jsonb_build_object('id', organization.id, 'name', organization.name),
    'claims', jsonb_build_object(
      'sub', principal.user_id, 'role', 'authenticated', 'organization_id', organization.id,
      'grant_id', principal.grant_id, 'client_name', principal.client_name
    )
  ) || case
    when principal.last_used_at > at - interval '1 hour' then '{}'
    else '{"first_use_in_hour": true}'
  end::jsonb;
end
$$;
comment on function app.authenticate is
  'Who a bearer token speaks for at an instant, by its SHA-256 in hex: outcome ok, invalid_token, feature_not_in_plan, '
  'organization_deleting or limited. kind: read or write. limits: {"caller": quotas, "read": {"at_most","seconds"}, '
  '"write": …}; null limits '
  'nothing.';
revoke all on function app.authenticate, app.quota_key from authenticated;

-- schemas/connector/call_tool.sql

create or replace function app.count_request(grant_id text, kind text, limits jsonb, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if limits -> kind is not null then
    perform oauth.draw_from_bucket(
      app.quota_key(grant_id, kind), (limits #>> array[kind, 'at_most'])::integer,
      (limits #>> array[kind, 'seconds'])::double precision, at
    );
  end if;
end
$$;
comment on function app.count_request is
  'Counts what a grant was given. It comes last in its transaction: the row stays locked until the end of that, and '
  'calls of one client must not wait for each other''s tools. So what is under way at the same time is not counted '
  'yet; that is as exact as this limit needs to be.';

create or replace function public.authenticate_bearer(token_hash text, resource text, at timestamptz,
  limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal constant jsonb := app.authenticate(token_hash, resource, 'read', limits, at);
begin
  if principal ->> 'outcome' = 'ok' then
    perform app.count_request(principal #>> '{claims,grant_id}', 'read', limits, at);
  end if;
  return principal - 'claims';
end
$$;
comment on function public.authenticate_bearer is
  'For requests that run no tool: {outcome: ok | invalid_token | feature_not_in_plan | organization_deleting | '
  'limited, '
  'organization?, plan?, required_plan?, deletes_on?, '
  'retry_after?, first_use_in_hour?}.';

create or replace function public.call_tool(token_hash text, resource text, tool text, arguments jsonb, at timestamptz,
  limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  kind constant text := case when app.is_write(tool) then 'write' else 'read' end;
  principal constant jsonb := app.authenticate(token_hash, resource, kind, limits, at);
  result jsonb;
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  end if;
  -- auth.uid() reads the one or the other, depending on the platform's age.
  perform set_config('request.jwt.claims', (principal -> 'claims')::text, true),
    set_config('request.jwt.claim.sub', principal #>> '{claims,sub}', true);
  result := app.run_tool(tool, coalesce(arguments, '{}'), at);
  if result is null then
    -- No member any more since the token was looked at.
    return '{"outcome": "invalid_token"}';
  end if;
  if tool = 'decide_proposal' and (result ->> 'ok')::boolean then
    -- Somebody else's write: here the service acts again, which the person's role could not.
    result := app.decide_as_assistant(result, (principal #>> '{claims,sub}')::uuid, at);
  end if;
  perform app.count_request(principal #>> '{claims,grant_id}', kind, limits, at);
  return principal - 'claims' - 'organization' || jsonb_build_object('result', result);
end
$$;
comment on function public.call_tool is
  'Authenticates a bearer and runs one tool, in one call: {outcome, result?, first_use_in_hour?}; result is the '
  'tool''s envelope. first_use_in_hour asks for record_use after the answer: once an hour a grant, so that no call of '
  'a tool writes the grant.';

create or replace function public.call_long_tool(token_hash text, resource text, tool text, arguments jsonb,
  at timestamptz, limits jsonb default null) returns jsonb
-- PostgREST gives a call the timeout of its function: https://docs.postgrest.org/en/v12/references/transactions.html
language plpgsql volatile set search_path = '' set statement_timeout = '55s' as $$
begin
  return public.call_tool(token_hash, resource, tool, arguments, at, limits);
end
$$;
comment on function public.call_long_tool is
  'The same for what may take longer than other statements may: publishing an import of many rows, or undoing one.';

-- From here on the person acts, not the service: the role is set on entry and restored by itself. It is added last,
-- since setting it asks for `authenticated`'s right to execute; no function that leads here may be SECURITY DEFINER,
-- where roles cannot be set.
alter function app.run_tool set role = 'authenticated';
-- Compiling a statement takes longer than running it in any tool.
alter function app.run_tool set jit = off;
revoke all on function app.count_request from authenticated;

-- schemas/connector/run_page_tool.sql

create or replace function app.act_as(user_id uuid, organization_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- auth.uid() reads the one or the other, depending on the platform's age.
  perform set_config('request.jwt.claims', jsonb_build_object(
      'sub', user_id, 'role', 'authenticated', 'organization_id', organization_id
  )::text, true),
    set_config('request.jwt.claim.sub', user_id::text, true);
end
$$;
comment on function app.act_as is
  'For whom functions that run as signed-in people run from here on: a person of our pages, without an app.';
revoke all on function app.act_as from authenticated;

create or replace function public.run_page_tool(user_id uuid, organization_id text, tool text, arguments jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb;
begin
  -- What is in the books stays readable without a plan.
  if app.is_write(tool) and not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return '{"outcome": "refused"}';
  end if;
  perform app.act_as(user_id, organization_id);
  result := app.run_tool(tool, arguments, at);
  -- No member, or suspended, since the page was shown.
  return case when result is null then '{"outcome": "refused"}'
    else jsonb_build_object('outcome', 'ok', 'result', result) end;
end
$$;
comment on function public.run_page_tool is
  'A tool for a page, as its signed-in person under row-level security: {outcome: ok | refused, result?}, judged anew '
  'for each call; result is the tool''s envelope. A write needs a plan that includes the connector.';

-- schemas/connector/read_expense_file.sql

create or replace function public.read_expense_file(user_id uuid, organization_id text, arguments jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rows_at_once constant int := 2000;
  result jsonb;
begin
  if not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return '{"outcome": "refused"}';
  end if;
  perform app.act_as(user_id, organization_id);
  result := app.run_tool(
    'list_expenses', arguments || jsonb_build_object('format', 'csv', 'limit', rows_at_once), at
  );
  -- No member, or suspended, since the link was made.
  return case when result is null then '{"outcome": "refused"}'
    else jsonb_build_object('outcome', 'ok', 'result', result - 'page') end;
end
$$;
comment on function public.read_expense_file is
  'A part of a file of expenses, read as a signed-in person under row-level security: {outcome: ok | refused, '
  'result?}, '
  'judged anew for each part; result is the envelope of list_expenses.';

-- schemas/connector/arguments.sql

-- What tools read and write at their edges: errors, text, dates, amounts, cursors.
-- Arguments arrive checked against the contract; here is what a schema cannot know: the calendar, the currencies, the
-- owner's day.

create or replace function app.fail(code text, params jsonb default '{}', field text default null) returns void
language plpgsql set search_path = '' as $$
begin
  raise exception using errcode = 'EX001', message = fail.code, detail = jsonb_strip_nulls(
    jsonb_build_object('code', fail.code, 'params', fail.params, 'field', fail.field)
  )::text;
end
$$;
comment on function app.fail is
  'Ends the tool and rolls back everything it wrote. The code is one of a closed list, its first part what a client '
  'sees (invalid_argument.tags_too_many); params are the facts that its words are made of, params.details what a '
  'client is given beside them. The words are TypeScript''s (shared/words).';

create or replace function app.warning(code text, params jsonb default '{}') returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('code', warning.code, 'params', jsonb_strip_nulls(warning.params));
end
$$;
comment on function app.warning is
  'What a person should hear beside the result, as facts: a code of a closed list, and what its words are made of.';

-- Text

create or replace function app.clean_text(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(btrim(regexp_replace(value, '\s+', ' ', 'g')), '');
end
$$;
comment on function app.clean_text is 'One line of typed text with single spaces; blank is null.';

create or replace function app.plain_words(value text, at_most int) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(rtrim(left(btrim(regexp_replace(regexp_replace(
    value,
    -- What is drawn as nothing or turns the text around: format characters, variation selectors, tags.
    '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f'
    '\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]', '', 'g'
  ), '[\s\u0001-\u001f\u007f-\u009f<>{}[\]`*#|~"\\]+', ' ', 'g')), at_most)), '');
end
$$;
comment on function app.plain_words is
  'The first characters of what a stranger calls something, as words in one line: nothing invisible, no markup, no '
  'quotes. Nothing legible is null.';

create or replace function app.clean_tags(tags jsonb, field text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  cleaned text[];
begin
  select coalesce(array_agg(t.tag order by t.position), '{}') into cleaned
  from (
    select distinct on (lower(app.clean_text(t.tag))) app.clean_text(t.tag) as tag, t.position
    from jsonb_array_elements_text(coalesce(tags, '[]')) with ordinality as t (tag, position)
    order by lower(app.clean_text(t.tag)), t.position
  ) as t
  where t.tag is not null;
  if cardinality(cleaned) > 10 then
    perform app.fail('invalid_argument.tags_too_many', jsonb_build_object('count', cardinality(cleaned), 'most', 10),
      field);
  end if;
  return cleaned;
end
$$;
comment on function app.clean_tags is
  'Tags as typed, each once whatever its case, in the order of their first mention.';

-- Dates

create or replace function app.nearest_day(context app.context, month_and_day text, field text, is_past boolean)
  returns date
language plpgsql stable set search_path = '' as $$
declare
  days constant date[] := array(
    select context.today + d from generate_series(-366, 366) as d
    where to_char(context.today + d, 'MM-DD') = month_and_day order by abs(d)
  );
begin
  if days = '{}' then
    perform app.fail('date_out_of_range.no_such_day', jsonb_build_object('value', month_and_day), field);
  end if;
  -- Further away than a season, last year's may be meant as well as next year's.
  if abs(days[1] - context.today) > 92 or (is_past and days[1] > context.today + 1) then
    perform app.fail('date_out_of_range.which_year', jsonb_build_object(
      'days', (select jsonb_agg(d order by d) from unnest(days) as d)
    ), field);
  end if;
  return days[1];
end
$$;
comment on function app.nearest_day is
  'The day that MM-DD means near today, where only one can be meant; else ends the tool and asks for the year.';

create or replace function app.parse_date(context app.context, value text, field text, is_past boolean default false)
  returns date
language plpgsql stable set search_path = '' as $$
begin
  if value ~ '^(199\d|20\d\d)-\d\d-\d\d$' then
    return value::date;
  end if;
  if value ~ '^--\d\d-\d\d$' then
    return app.nearest_day(context, substr(value, 3), field, is_past);
  end if;
  case value
    when 'today' then return context.today;
    when 'yesterday' then return context.today - 1;
    when 'tomorrow' then return context.today + 1;
    else null;
  end case;
  if value is not null then
    perform app.fail('date_out_of_range.not_a_date', jsonb_build_object('value', left(value, 40)), field);
  end if;
  return null;
exception when datetime_field_overflow then
  perform app.fail('date_out_of_range.no_such_day', jsonb_build_object('value', value), field);
end
$$;
comment on function app.parse_date is
  'A date argument as a calendar date of the owner, one of the past if it is that of a payment; null stays null.';

-- Amounts

create or replace function app.currency_exponent(code text, field text) returns smallint
language plpgsql stable set search_path = '' as $$
declare
  found_exponent smallint;
begin
  select c.exponent into found_exponent from app.currencies as c where c.code = currency_exponent.code;
  if not found then
    perform app.fail('currency_unknown', jsonb_build_object('currency', code), field);
  end if;
  return found_exponent;
end
$$;
comment on function app.currency_exponent is
  'Number of decimals of a currency; ends the tool with currency_unknown when there is none.';

-- schemas/connector/parse_amount.sql

create or replace function app.parse_amount(amount text, currency text, field text) returns bigint
language plpgsql stable set search_path = '' as $$
declare
  exponent constant smallint := app.currency_exponent(currency, regexp_replace(field, '[a-z_]*$', 'currency'));
  minor numeric;
begin
  if amount is null then
    return null;
  end if;
  if amount !~ '^\d{1,12}(\.\d{1,4})?$' then
    perform app.fail('invalid_argument.not_an_amount', jsonb_build_object('value', left(amount, 40)), field);
  end if;
  minor := amount::numeric * 10::numeric ^ exponent;
  if minor <> trunc(minor) then
    perform app.fail(
      'amount_precision', jsonb_build_object('amount', amount, 'currency', currency, 'decimals', exponent), field
    );
  end if;
  if minor = 0 then
    perform app.fail('invalid_argument.amount_zero', field => parse_amount.field);
  end if;
  if minor > 1000000000000000 then
    perform app.fail('invalid_argument.amount_too_large', jsonb_build_object('amount', amount, 'currency', currency),
      field);
  end if;
  return minor::bigint;
end
$$;
comment on function app.parse_amount is
  'A decimal string in major units as exact minor units of a currency; null stays null.';

-- Its body was parsed when it was created, so that no search_path changes its meaning, and the planner may inline it.
create or replace function app.format_minor(minor numeric, exponent int) returns text
language sql immutable
  return round(minor / 10::numeric ^ exponent, exponent)::text;
comment on function app.format_minor is 'Minor units as a decimal string in major units with this number of decimals.';

create or replace function app.format_amount(minor numeric, currency text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return app.format_minor(minor, (select c.exponent from app.currencies as c where c.code = currency));
end
$$;
comment on function app.format_amount is
  'Minor units as a decimal string in major units, with the currency''s own number of decimals.';

-- Cursors

create or replace function app.write_cursor(scope jsonb, key jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  -- Base64url without padding (RFC 4648 section 5). The digest finds a cursor that was changed, or taken to another
  -- list; it keeps no secret.
  return translate(
    encode(
      convert_to(
      jsonb_build_array(left(encode(sha256(convert_to(scope::text || key::text, 'UTF8')), 'hex'), 16), key)::text,
      'UTF8'), 'base64'),
    E'+/=\n', '-_'
  );
end
$$;
comment on function app.write_cursor is
  'An opaque cursor for the sort key of the last row shown; scope is what makes the list that list, such as its '
  'filter.';

create or replace function app.read_cursor(scope jsonb, cursor text, sorts_by regtype default 'date') returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  key jsonb;
begin
  if cursor is null then
    return null;
  end if;
  begin
    key :=
      convert_from(decode(rpad(translate(cursor, '-_', '+/'), (length(cursor) + 3) / 4 * 4, '='), 'base64'),
      'UTF8')::jsonb -> 1;
    -- The digest can be made by anybody; what the list will cast must be what it says it is.
    execute format('select ($1 ->> 0)::%s, ($1 ->> 1)::bigint', sorts_by) using key;
  exception when data_exception then
    key := null;
  end;
  if key is null or app.write_cursor(scope, key) <> cursor then
    perform app.fail('invalid_argument.cursor_of_another_list', field => 'cursor');
  end if;
  return key;
end
$$;
comment on function app.read_cursor is
  'The sort key in a cursor, [value of type sorts_by, number]; null stays null; a cursor that was not written for this '
  'scope ends the tool with invalid_argument.';

-- schemas/connector/plan_warnings.sql

-- get_context: who is asking, for which organization, under which plan, and the words to use: categories, payees,
-- recent changes.

create or replace function app.member_name(user_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (select p.email from identity.profiles as p where p.user_id = member_name.user_id);
end
$$;
comment on function app.member_name is 'What to call a person of the organization; null for a former one.';

create or replace function app.list_payees() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      coalesce(
      jsonb_agg(jsonb_build_object('name', p.payee, 'category', c.name) order by p.paid_on desc, p.recorded_seq desc),
      '[]')
    from (
      select distinct on (lower(e.payee)) e.payee, e.category_id, latest.paid_on, latest.recorded_seq
      from (select p.expense_id, p.paid_on, p.recorded_seq from app.payments as p where p.deleted_at is null
        order by p.paid_on desc, p.recorded_seq desc limit 1000) as latest
      join app.expenses as e on e.id = latest.expense_id
      where e.payee is not null
      order by lower(e.payee), latest.paid_on desc, latest.recorded_seq desc
    ) as p
    left join app.categories as c on c.id = p.category_id
  );
end
$$;
comment on function app.list_payees is 'Payees of the last 1000 payments, the latest first, each with its category.';

create or replace function app.list_changes(changes_limit int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'change_id', s.id, 'facts', s.facts, 'tool', s.tool,
      'at', to_char(s.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'by', case when s.tool not in ('autopay', 'provider_sync') then app.member_name(s.actor_id) end,
      -- Anybody can register a client under any name, and other members' assistants read it here.
      'client', app.plain_words(s.client_name, 60), 'undone', s.undone_by is not null
    ) order by s.recorded_seq desc), '[]')
    from (select * from app.change_sets as s where not s.is_emptied order by s.recorded_seq desc limit changes_limit)
      as s
  );
end
$$;
comment on function app.list_changes is
  'The latest changes of the organization, whoever made them, as far back as they can be undone.';

create or replace function app.read_settings(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'timezone', p.timezone, 'base_currency', context.base_currency,
      'reminders', jsonb_build_object(
        'email_enabled', p.email_enabled, 'email',
        case when p.reminder_email_confirmed_at is not null then p.reminder_email else p.email end,
        'default_days_before', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email,
        'my_mails', (select m.mails from identity.memberships as m
          where m.organization_id = context.organization_id and m.user_id = context.actor_id)
      )
    ) || case when o.closed_through is null then '{}'
      else jsonb_build_object('closed_through', app.month_name(o.closed_through)) end
      || case when o.own_only then '{"own_only":true}' else '{}' end::jsonb
    from identity.profiles as p
    join identity.organizations as o on o.id = context.organization_id
    where p.user_id = context.owner_id
  );
end
$$;
comment on function app.read_settings is
  'What update_settings can change: the owner''s and the organization''s preferences, and who asks''s own mails.';

create or replace function app.plan_warnings(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      coalesce(
      jsonb_agg(
      app.warning(case when e.is_trial then 'plan_ending.trial' else 'plan_ending.past_due' end, jsonb_build_object(
      'plan', e.plan, 'ends_on', (e.ends_at at time zone context.timezone)::date, 'organization', o.name, 'features',
      lost.features
      )) order by e.ends_at), '[]')
    from identity.organizations as o
    cross join lateral (
      values (true, 'team', o.trial_ends_at),
        (false, o.plan, o.past_due_since + interval '7 days'),
        (false, o.second_plan, o.second_past_due_since + interval '7 days')
    ) as e (is_trial, plan, ends_at)
    cross join lateral (
      select jsonb_agg(f.feature order by f.feature) as features
      from billing.plan_features as f
      where f.plan = identity.effective_plan(o, e.ends_at - interval '1 microsecond')
        and not identity.organization_has_feature(o.id, f.feature, e.ends_at)
    ) as lost
    where o.id = context.organization_id and e.ends_at > context.at and e.ends_at <= context.at + interval '7 days'
      and lost.features is not null
  );
end
$$;
comment on function app.plan_warnings is
  'What ends within a week with a trial or a grace period, and nothing else includes, as warnings.';

-- schemas/connector/get_context.sql

create or replace function app.get_context(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  included constant jsonb := coalesce(arguments -> 'include', '["categories", "settings"]');
  data jsonb;
begin
  select jsonb_build_object(
    'user', jsonb_build_object('id', context.actor_id, 'email', app.member_name(context.actor_id)),
    'role', context.role, 'read_only', case when not identity.may('books:write') then true end,
    'plan', jsonb_build_object(
      'name', case when t.adds or not t.plans_enabled then 'team' else o.plan end,
      'status', case when t.adds and o.plan_status = 'canceled' or not t.plans_enabled then 'active'
        else o.plan_status end,
      'trial_ends_on', case when t.adds then (o.trial_ends_at at time zone context.timezone)::date end
    ),
    'features', (
      select coalesce(jsonb_agg(f.feature order by f.feature), '[]')
      from billing.plan_features as f
      where f.plan = identity.effective_plan(o, context.at)
    ),
    'fx_as_of', (
      select max(latest.rate_on)
      from app.currencies as c
      cross join lateral (select f.rate_on from app.fx_rates as f where f.quote = c.code order by f.rate_on desc
        limit 1) as latest
    )
  ) into data
  from identity.organizations as o
  cross join lateral (
    select e.plans_enabled,
      e.plans_enabled and context.at < o.trial_ends_at and (o.plan, o.plan_status) <> ('team', 'active') as adds
    from (select billing.plans_enabled()) as e (plans_enabled)
  ) as t
  where o.id = context.organization_id;

  data := data || jsonb_strip_nulls(jsonb_build_object('proposals', app.list_open_proposals(context)));
  if included ? 'categories' then
    data := data || jsonb_build_object('categories', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', c.id, 'name', c.name)
          || case when c.is_private then '{"private":true}' else '{}' end::jsonb
        order by lower(c.name), c.is_private
      ), '[]')
      from app.categories as c
      where c.archived_at is null
    ));
  end if;
  if included ? 'payees' then
    data := data || jsonb_build_object('payees', app.list_payees(), 'payee_rules', app.list_payee_rules());
  end if;
  if included ? 'settings' then
    data := data || jsonb_build_object('settings', app.read_settings(context));
  end if;
  if included ? 'recent_changes' then
    data := data
      || jsonb_build_object('recent_changes', app.list_changes(coalesce((arguments ->> 'changes_limit')::int, 10)));
  end if;
  if included ? 'provider_links' then
    data := data || jsonb_build_object('provider_links', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', l.id, 'bill_id', l.expense_id, 'name', e.name, 'provider', app.provider_name(l), 'account',
        l.account_label, 'status', app.link_status(l, context.at),
        'last_success_period', to_char(l.last_success_period, 'YYYY-MM')
      ) order by e.name, l.id), '[]')
      from app.provider_links as l
      join app.expenses as e on e.id = l.expense_id
      where l.status <> 'revoked' and e.deleted_at is null
    ));
  end if;
  if included ? 'members' then
    data := data || jsonb_build_object('members', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.user_id, 'email', app.member_name(m.user_id), 'role', m.role
      ) order by m.created_at, m.user_id), '[]')
      from identity.memberships as m
    ));
  end if;
  return jsonb_build_object('data', data, 'warnings', app.plan_warnings(context));
end
$$;
comment on function app.get_context is
  'Tool get_context: data {user, role, read_only?, plan, features, fx_as_of?} and the lists asked for: without include '
  'the '
  'categories and settings.';

-- schemas/expenses/categories.sql

-- Categories: what an organization starts with, how a name that was typed is found, and what is assumed when none was
-- given.
-- "Uncategorized" is no category but the absence of one, and may be asked for by that name.

create table app.category_keywords (
  keyword text primary key constraint category_keywords_keyword_format check (keyword ~ '^[a-z]{3,20}$'),
  category text not null constraint category_keywords_category_length check (length(category) between 1 and 60)
);
comment on table app.category_keywords is
  'A word in the name or payee of an expense, and the category that it points to where the organization has one of '
  'that name.';
alter table app.category_keywords enable row level security;
create policy "Signed-in people can read the category keywords" on app.category_keywords
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.category_keywords to authenticated, service_role;

insert into app.category_keywords (category, keyword)
  select lists.category, regexp_split_to_table(lists.keywords, '\s+')
  from (values
    ('Food',
      'lunch dinner breakfast brunch coffee cafe restaurant pizza burger sushi takeaway takeout snack drinks bar pub '
      'bakery starbucks mcdonalds swiggy zomato doordash'),
    ('Groceries',
      'grocery groceries supermarket vegetables fruit milk bread lidl aldi tesco walmart carrefour rewe edeka '
      'bigbasket'),
    ('Housing', 'rent mortgage furniture ikea plumber cleaning repair'),
    ('Utilities', 'electricity power gas water heating waste'),
    ('Internet and phone', 'internet broadband wifi phone mobile sim telekom vodafone verizon airtel jio'),
    ('Transport',
      'taxi cab uber lyft bolt ola bus metro subway tram train parking toll fuel petrol diesel gasoline car bicycle'),
    ('Travel', 'flight airline hotel hostel airbnb booking visa luggage ryanair lufthansa indigo'),
    ('Health', 'doctor dentist pharmacy medicine hospital gym fitness optician therapy'),
    ('Insurance', 'insurance premium'),
    ('Shopping', 'clothes shoes electronics amazon flipkart zalando'),
    ('Subscriptions', 'subscription netflix spotify disney youtube icloud audible patreon membership'),
    ('Software', 'software hosting domain github openai anthropic vercel digitalocean figma adobe notion slack'),
    ('Entertainment', 'movie cinema concert theatre theater museum game games steam'),
    ('Education', 'course tuition school university books book udemy training'),
    ('Gifts', 'gift present flowers donation charity'),
    ('Taxes and fees', 'tax taxes fee fees fine bank')
  ) as lists (category, keywords);

create or replace function app.create_default_categories(organization_id text, at timestamptz) returns void
language plpgsql set search_path = '' as $$
begin
  insert into app.categories as c (organization_id, name, created_at, updated_at)
  select distinct create_default_categories.organization_id, k.category, create_default_categories.at,
    create_default_categories.at
  from app.category_keywords as k
  on conflict do nothing;
end
$$;
comment on function app.create_default_categories is
  'The categories that a new organization starts with: those that the keywords point to.';

create or replace function app.text_likeness(one text, other text) returns numeric
language plpgsql immutable set search_path = '' as $$
declare
  a constant text := lower(one);
  b constant text := lower(other);
begin
  if strpos(' ' || a, ' ' || b) > 0 or strpos(' ' || b, ' ' || a) > 0 then
    return 1;
  end if;
  -- Shared pairs of neighbouring letters, word ends included (Dice's coefficient).
  return (
    with one_pairs
      as (select distinct substr(' ' || a || ' ', i, 2) as pair from generate_series(1, length(a) + 1) as i),
      other_pairs as (select distinct substr(' ' || b || ' ', i, 2) as pair from generate_series(1, length(b) + 1) as i)
    select 2.0 * count(*) / ((select count(*) from one_pairs) + (select count(*) from other_pairs))
    from one_pairs join other_pairs using (pair)
  );
end
$$;
comment on function app.text_likeness is 'How alike two names are, 0 to 1; 1 when a word of one begins with the other.';

create or replace function app.suggest_categories(name text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select l.name
    -- Nobody keeps more apart; each costs a comparison, and many names may be asked for at once.
    from (select a.name from app.categories as a where a.archived_at is null order by a.created_at desc, a.id limit 200)
      as c
    cross join lateral (
      select c.name, app.text_likeness(c.name, suggest_categories.name) as likeness, exists (
        select from app.category_keywords as k
        where k.category = c.name
          and k.keyword = any (regexp_split_to_array(lower(suggest_categories.name), '[^[:alnum:]]+'))
      ) as is_meant
      offset 0
    ) as l
    -- What only shares some letters was not meant.
    where l.is_meant or l.likeness >= 0.4
    order by l.is_meant desc, l.likeness desc, l.name
    limit 3
  );
end
$$;
comment on function app.suggest_categories is
  'Up to three categories that may be meant by a name that is none, the likeliest first.';
revoke all on function app.create_default_categories from authenticated;

-- schemas/expenses/apply_payee_rules.sql

create or replace function app.find_payee_rule(context app.context, payee text, name text) returns text
language plpgsql stable set search_path = '' as $$
declare
  by_payee constant text := app.payee_words(payee) || ' ';
  by_name constant text := app.payee_words(name) || ' ';
begin
  return (
    select c.id
    from app.payee_rules as r
    join app.categories as c on c.id = r.category_id and c.archived_at is null
    where r.organization_id = context.organization_id and r.deleted_at is null
      and (starts_with(by_payee, r.words || ' ') or starts_with(by_name, r.words || ' '))
    -- Of two for the same words the private one: the other is by somebody who does not see it.
    order by length(r.words) desc, r.words, c.is_private desc, r.created_at desc, r.id
    limit 1
  );
end
$$;
comment on function app.find_payee_rule is
  'The category of the rule with the most words that a payee, or a name, begins with; null without one.';

create or replace function app.list_payee_rules() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('payee', r.payee, 'category', c.name) order by r.words), '[]')
    from app.payee_rules as r
    join app.categories as c on c.id = r.category_id
    where r.deleted_at is null
  );
end
$$;
comment on function app.list_payee_rules is 'The payee rules of the organization: [{payee, category}].';

create or replace function app.change_payee_rules(context app.context, rules jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Each is compared with every expense that is logged or imported.
  max_rules constant int := 200;
  rule jsonb;
  place int;
  wanted text;
  category text;
  field text;
  found_id text;
  kept_id text;
  changed jsonb := '[]';
begin
  for rule, place in select r.value, r.ordinality - 1 from jsonb_array_elements(rules) with ordinality as r loop
    wanted := app.clean_text(rule ->> 'payee');
    category := app.clean_text(rule ->> 'category');
    field := format('payee_rules[%s]', place);
    if coalesce(app.payee_words(wanted), '') = '' then
      perform app.fail('invalid_argument.rule_without_payee', field => field || '.payee');
    end if;
    if category is null then
      update app.payee_rules as r set deleted_at = context.at
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.deleted_at is null;
      if not found then
        perform app.fail('not_found.payee_rule', jsonb_build_object('payee', wanted), field || '.payee');
      end if;
    else
      found_id := app.find_category(context, category, field || '.category');
      if found_id is null then
        perform app.fail_without_category(category, field || '.category');
      end if;
      -- Of two for the same words, one of them in a private category, one stays: what was said last is so.
      select r.id into kept_id from app.payee_rules as r
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted) and r.deleted_at is null
      order by r.category_id = found_id desc, r.created_at, r.id
      limit 1;
      if kept_id is null then
        insert into app.payee_rules as r (organization_id, payee, category_id)
        values (context.organization_id, wanted, found_id);
      end if;
      update app.payee_rules as r set deleted_at = context.at
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.deleted_at is null and r.id <> kept_id;
      update app.payee_rules as r set payee = wanted, category_id = found_id
      where r.id = kept_id and (r.payee, r.category_id) is distinct from (wanted, found_id);
    end if;
    changed := changed || jsonb_strip_nulls(jsonb_build_object('payee', wanted, 'category', category));
  end loop;
  if (select count(*) from app.payee_rules as r where r.deleted_at is null) > max_rules then
    perform app.fail('invalid_argument.too_many_rules', jsonb_build_object('most', max_rules), 'payee_rules');
  end if;
  return changed;
end
$$;
comment on function app.change_payee_rules is
  'Keeps rules, and removes those that are given without a category; the facts of it [{payee, category?}].';

-- schemas/expenses/choose_category.sql

create or replace function app.fail_without_category(name text, field text, is_filter boolean default true) returns void
language plpgsql stable set search_path = '' as $$
begin
  perform app.fail('category_not_found', jsonb_build_object(
    'name', name,
    -- How a new one would be made, where one may.
    'make_by',
    case when is_filter then null when starts_with(field, 'items') then 'create_missing_categories'
      else 'update_settings' end,
    'details', jsonb_build_object('suggestions', app.suggest_categories(name))
  ), field);
end
$$;
comment on function app.fail_without_category is
  'Ends the tool with category_not_found and what may have been meant; what is only looked for is not to be made.';

create or replace function app.find_category(context app.context, name text, field text,
  create_missing boolean default false) returns text
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := app.clean_text(name);
  found app.categories;
begin
  select * into found from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(wanted)
        order by c.is_private desc limit 1;
  if found.id is not null and found.archived_at is null then
    return found.id;
  end if;
  if wanted is null or (found.id is null and lower(wanted) = 'uncategorized') then
    return null;
  end if;
  if found.id is not null and not coalesce(create_missing, false) then
    perform app.fail('category_not_found.archived', jsonb_build_object(
      'name', found.name, 'details', jsonb_build_object('suggestions', app.suggest_categories(wanted))
    ), field);
  elsif not coalesce(create_missing, false) then
    perform app.fail_without_category(wanted, field, false);
  end if;
  if found.id is not null then
    update app.categories as c set archived_at = null where c.id = found.id;
  else
    insert into app.categories as c (organization_id, name) values (context.organization_id, wanted)
      returning c.id into found.id;
  end if;
  return found.id;
end
$$;
comment on function app.find_category is
  'Id of the category of this name in whatever case, the private one where there are two; null for Uncategorized or a '
  'blank name; else category_not_found '
  'with suggestions, or a new category.';

create type app.category_choice as (
  id text,
  source text
);
comment on type app.category_choice is
  'A category, null for none, and why: given, payee_rule, payee_history, keyword or none.';

create or replace function app.choose_category(context app.context, given text, payee text, name text, field text,
  create_missing boolean default false)
returns app.category_choice
language plpgsql volatile set search_path = '' as $$
declare
  choice app.category_choice;
begin
  if app.clean_text(given) is not null then
    return (app.find_category(context, given, field, create_missing), 'given')::app.category_choice;
  end if;
  choice := (app.find_payee_rule(context, payee, name), 'payee_rule')::app.category_choice;
  if choice.id is not null then
    return choice;
  end if;
  select c.id, 'payee_history' into choice
  from app.expenses as e
  join app.categories as c on c.id = e.category_id and c.archived_at is null
  where e.match_key = lower(coalesce(choose_category.payee, choose_category.name)) and e.deleted_at is null
    -- A part says nothing of the whole.
    and not exists (select from app.payments as p where p.expense_id = e.id and p.split_id is not null)
  order by e.recorded_seq desc
  limit 1;
  if not found then
    -- What the thing is says more than who sold it, and a longer word more than a shorter one.
    select c.id, 'keyword' into choice
    from (values (choose_category.name, 1), (choose_category.payee, 2)) as texts (text, rank)
    cross join regexp_split_to_table(lower(texts.text), '[^[:alnum:]]+') as word
    join app.category_keywords as k on k.keyword in (word, rtrim(word, 's'))
    join app.categories as c on lower(c.name) = lower(k.category) and c.archived_at is null
    order by texts.rank, length(k.keyword) desc, k.keyword
    limit 1;
  end if;
  if not found then
    choice.source := 'none';
  end if;
  return choice;
end
$$;
comment on function app.choose_category is
  'The category that was given, else that of a payee rule, else the last one of the same payee (or name, where there '
  'is no payee), else the one a '
  'keyword points to, else none.';

-- schemas/expenses/rates.sql

-- Exchange rates as of a day. A rate is the newest on or before the day and at most 7 days old (weekends, holidays),
-- the central bank's before that of a source which has more currencies. Where there is none, an amount has no value in
-- the other currency, never the same one. Rates say what one euro buys, so every pair crosses through the euro.
-- Exact arithmetic: multiplied first, divided once, rounded half away from zero to the minor unit of the target, once
-- an amount.

create type app.rate as (
  per_euro numeric,
  rate_on date,
  source text
);
comment on type app.rate is
  'What one euro buys of a currency, by a source, as of a day; the euro itself has no source.';

-- Parsed when it was created, and inlined: a query over many days finds all its rates in one plan.
create or replace function app.rates_as_of(currency text, day date) returns setof app.rate
language sql stable rows 1
begin atomic
  select case currency when 'EUR' then 1 else f.rate end, case currency when 'EUR' then day else f.rate_on end, f.source
  from (select) as once
  left join lateral (
    select r.rate, r.rate_on, r.source
    from app.fx_rates as r
    where r.quote = currency and r.rate_on between day - 7 and day
    -- The central bank, those who quote it, then everybody else.
    order by r.source not in ('ecb', 'frankfurter'), r.rate_on desc, r.source
    limit 1
  ) as f on true
  where currency = 'EUR' or f.rate is not null;
end;
comment on function app.rates_as_of is 'The rate of a currency as of a day, as the one row; no row when none is known.';

create or replace function app.find_rate(currency text, day date) returns app.rate
language plpgsql stable set search_path = '' as $$
declare
  found app.rate;
begin
  select * into found from app.rates_as_of(currency, day);
  return found;
end
$$;
comment on function app.find_rate is 'The rate of a currency as of a day; all null when none is known.';

-- Both were parsed when they were created, and are inlined. div() truncates the exact quotient, so nothing is rounded
-- on the way; amounts are never negative.
create or replace function app.scale_minor(amount_minor numeric, numerator numeric, denominator numeric) returns numeric
language sql immutable
  return div(2 * amount_minor * numerator + denominator, 2 * denominator);
comment on function app.scale_minor is 'An amount times a fraction, rounded half up.';

create or replace function app.convert_minor(amount_minor numeric, from_rate numeric, from_exponent int,
  to_rate numeric, to_exponent int) returns numeric
language sql immutable
  return app.scale_minor(amount_minor, to_rate * 10::numeric ^ to_exponent, from_rate * 10::numeric ^ from_exponent);
comment on function app.convert_minor is
  'Minor units of one currency in minor units of another by what one euro buys of each; null when a rate is.';

create type app.base_value as (
  base_currency text,
  base_minor bigint,
  fx_rate numeric(20, 10),
  fx_rate_on date,
  fx_source text,
  is_final boolean
);
comment on type app.base_value is
  'What a payment is worth in the organization''s base currency, by which rate of which day and source, and whether '
  'that stands. An amount in that currency needs no rate.';

create or replace function app.value_in_base(
  base_currency text, amount_minor bigint, currency text, paid_on date, charged_minor bigint default null,
  charged_currency text default null
) returns app.base_value
language plpgsql stable set search_path = '' as $$
declare
  -- What the bank took says more than what was asked for, but the asked amount is exact where no rate is between.
  is_charge constant boolean := currency <> base_currency and charged_minor is not null;
  from_currency constant text := case when is_charge then charged_currency else currency end;
  from_minor constant bigint := case when is_charge then charged_minor else amount_minor end;
  value record;
  is_final boolean;
begin
  if from_currency = base_currency then
    return (base_currency, from_minor, null, null, null, true)::app.base_value;
  end if;
  -- All in one query: a change of the base currency asks for every payment.
  select app.convert_minor(from_minor, f.per_euro, c.exponent, t.per_euro, base.exponent) as minor,
    t.per_euro / f.per_euro as rate, least(f.rate_on, t.rate_on) as rate_on,
    case when f.source <> t.source then least(f.source, t.source) || '+' || greatest(f.source, t.source)
      else coalesce(f.source, t.source) end as source
  into value
  from app.currencies as c
  cross join app.currencies as base
  cross join lateral app.rates_as_of(c.code, paid_on) as f
  cross join lateral app.rates_as_of(base.code, paid_on) as t
  where c.code = from_currency and base.code = value_in_base.base_currency;
  is_final := coalesce(value.rate_on = paid_on, false)
    or exists (select from app.fx_days as d where d.day = paid_on and d.settled_at is not null);
  -- More than the column holds is as good as unknown.
  if value.minor <= 1000000000000000000 then
    return (base_currency, value.minor, value.rate, value.rate_on, value.source, is_final)::app.base_value;
  end if;
  return (base_currency, null, null, null, null, is_final)::app.base_value;
end
$$;
comment on function app.value_in_base is
  'What a payment is worth in the base currency at the rate of its day: the one rule, for the columns of app.payments.';

-- Whoever writes a payment, its value is given to it here and nowhere else.
create or replace function app.value_payment() returns trigger
language plpgsql set search_path = '' as $$
declare
  value app.base_value;
begin
  if tg_op = 'INSERT' then
    -- Of an organization that is not theirs they see none, and row-level security refuses the payment next.
    new.base_currency := coalesce(
      (select o.base_currency from identity.organizations as o where o.id = new.organization_id), new.currency
    );
  elsif old.is_final and (new.amount_minor, new.currency, new.charged_minor, new.charged_currency, new.paid_on,
    new.base_currency) is not distinct from (old.amount_minor, old.currency, old.charged_minor, old.charged_currency,
      old.paid_on, old.base_currency) then
    return new;
  end if;
  value := app.value_in_base(
    new.base_currency, new.amount_minor, new.currency, new.paid_on, new.charged_minor, new.charged_currency
  );
  new.base_minor := value.base_minor;
  new.fx_rate := value.fx_rate;
  new.fx_rate_on := value.fx_rate_on;
  new.fx_source := value.fx_source;
  new.is_final := value.is_final;
  return new;
end
$$;
create trigger value_payment before insert or update of amount_minor, currency, charged_minor, charged_currency,
  paid_on, base_currency, is_final on app.payments
  for each row execute function app.value_payment();

create or replace function app.parse_charged(context app.context, charged jsonb, currency text, field text,
  out minor bigint, out charged_currency text) returns record
language plpgsql stable set search_path = '' as $$
begin
  if not coalesce(charged ? 'amount', false) then
    return;
  end if;
  charged_currency := coalesce(charged ->> 'currency', context.base_currency);
  if currency = context.base_currency or currency = charged_currency then
    perform app.fail('invalid_argument.charged_needless', jsonb_build_object(
      'currency', currency, 'base', context.base_currency
    ), field);
  end if;
  minor := app.parse_amount(charged ->> 'amount', charged_currency, field || '.amount');
end
$$;
comment on function app.parse_charged is
  'What the bank took for an amount in a foreign currency, {amount, currency}; null without an amount.';

create or replace function app.charge_payment(context app.context, payment app.payments, charged jsonb)
  returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  taken constant record := app.parse_charged(context, charged, payment.currency, 'charged');
begin
  if taken.minor is not null then
    update app.payments as p set charged_minor = taken.minor, charged_currency = taken.charged_currency
    where p.id = payment.id
    returning p.* into payment;
  end if;
  return payment;
end
$$;
comment on function app.charge_payment is 'Says of a payment what the bank took for it, when that is given.';

create or replace function app.warn_of_pending(is_pending boolean, currency text, since date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when is_pending then
      jsonb_build_array(app.warning('rate_pending', jsonb_build_object('into', currency, 'since', since)))
    else '[]'::jsonb
  end;
end
$$;
comment on function app.warn_of_pending is
  'Says of an answer that its values in a currency will change: the rates of days since one are not published yet.';

-- schemas/expenses/tax.sql

-- Tax is contained in an amount: 19% of tax in 119.00 are 19.00. Minor units, multiplied first, divided once, rounded
-- half up.

create or replace function app.tax_of(amount_minor bigint, rate numeric) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return app.scale_minor(amount_minor, rate, 100 + rate);
end
$$;
comment on function app.tax_of is 'The tax that an amount contains at a rate in percent.';

create or replace function app.find_tax_rate(amount_minor bigint, tax_minor bigint) returns numeric
language plpgsql immutable set search_path = '' as $$
declare
  rate constant numeric := round(tax_minor * 1000::numeric / nullif(amount_minor - tax_minor, 0)) / 10;
begin
  -- A small amount fits several rates, a receipt with two rates none, and no country takes more than 27%.
  if tax_minor > 0 and rate between 0.1 and 30 and app.tax_of(amount_minor, rate) = tax_minor
    and app.tax_of(amount_minor, rate - 0.1) <> tax_minor and app.tax_of(amount_minor, rate + 0.1) <> tax_minor then
    return rate;
  end if;
  return null;
end
$$;
comment on function app.find_tax_rate is
  'The only rate in tenths of a percent by which an amount contains this tax; null when none or several do.';

create or replace function app.parse_tax(given jsonb, amount_minor bigint, currency text, field text,
  out minor bigint, out rate numeric) returns record
language plpgsql stable set search_path = '' as $$
declare
  right_minor bigint;
begin
  rate := round((given ->> 'tax_percent')::numeric, 3);
  minor := case when given ->> 'tax' ~ '^0+(\.0+)?$' then 0
    else app.parse_amount(given ->> 'tax', currency, parse_tax.field || '.tax') end;
  if minor > amount_minor then
    perform app.fail('invalid_argument.tax_above_amount', jsonb_build_object(
      'tax', app.format_amount(minor, currency), 'amount', app.format_amount(amount_minor, currency),
      'currency', currency
    ), parse_tax.field || '.tax');
  end if;
  if rate is null then
    rate := app.find_tax_rate(amount_minor, minor);
    minor := nullif(minor, 0);
    return;
  end if;
  right_minor := app.tax_of(amount_minor, rate);
  if minor <> right_minor then
    perform app.fail('invalid_argument.tax_contradicts', jsonb_build_object(
      'rate', trim_scale(rate), 'tax', app.format_amount(minor, currency),
      'right', app.format_amount(right_minor, currency), 'amount', app.format_amount(amount_minor, currency),
      'currency', currency,
      -- It was put on top of the amount, which is then without it.
      'whole', case when minor = app.scale_minor(amount_minor, rate, 100)
        then app.format_amount(amount_minor + minor, currency) end
    ), parse_tax.field || '.tax');
  end if;
  minor := right_minor;
end
$$;
comment on function app.parse_tax is
  'The tax in an amount from {tax?, tax_percent?}: what is not given follows from the other; a tax of zero without a '
  'rate '
  'is none.';

-- schemas/expenses/reimbursement.sql

create or replace function app.parse_reimbursement(
  context app.context, given jsonb, field text, inout reimbursement text default null,
  inout reimbursed_by text default null, inout reimbursed_on date default null
) returns record
language plpgsql stable set search_path = '' as $$
declare
  new_by constant text := app.clean_text(given ->> 'reimbursed_by');
  new_on constant date := app.parse_paid_on(context, given ->> 'reimbursed_on', field || '.reimbursed_on');
begin
  reimbursement := case when given ? 'reimbursement' then nullif(given ->> 'reimbursement', 'none')
    when new_on is not null then 'done' when new_by is not null then coalesce(reimbursement, 'open')
    else reimbursement end;
  if reimbursement is distinct from 'done' and new_on is not null or reimbursement is null and new_by is not null then
    perform app.fail('invalid_argument.reimbursement_contradicts', jsonb_build_object(
      'status', given ->> 'reimbursement'
    ), parse_reimbursement.field || '.reimbursement');
  end if;
  reimbursed_by := case when reimbursement is not null and given ? 'reimbursed_by' then new_by
    when reimbursement is not null then reimbursed_by end;
  reimbursed_on := case when reimbursement = 'done' then coalesce(new_on, reimbursed_on, context.today) end;
end
$$;
comment on function app.parse_reimbursement is
  'What is paid back, by whom and when, from {reimbursement?, reimbursed_by?, reimbursed_on?}: a name alone waits for '
  'it, a day has it. What is not given stays; what is done without a day was done today.';

-- schemas/expenses/split_payment.sql

-- One payment over several categories: records of their own that share a split_id, so that lists, charts, budgets and
-- sums know nothing of it. The parts add up to the whole: amounts, tax and charge, each to the minor unit.

create or replace function app.spread_minor(whole_minor bigint, weights bigint[]) returns bigint[]
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select array_agg(s.minor + case when s.turn <= whole_minor - s.given then 1 else 0 end order by s.place)
    from (
      select w.place, w.minor, sum(w.minor) over () as given,
        row_number() over (order by w.lost desc, w.place) as turn
      from (
        select u.place, div(whole_minor * u.weight::numeric, t.weight) as minor,
          mod(whole_minor * u.weight::numeric, t.weight) as lost
        from unnest(weights) with ordinality as u (weight, place)
        cross join (select sum(w) as weight from unnest(weights) as w) as t
      ) as w
    ) as s
    where whole_minor is not null
  );
end
$$;
comment on function app.spread_minor is
  'An amount in proportion to weights, exactly: rounded down, and what is left goes to those that lost most; null '
  'stays null.';

create or replace function app.parse_split(context app.context, parts jsonb, whole jsonb, field text,
  create_missing_categories boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  whole_minor constant bigint := whole ->> 'amount_minor';
  currency constant text := whole ->> 'currency';
  amounts bigint[] := '{}';
  taxes bigint[];
  charges bigint[];
  given_minor numeric;
  rest int;
  part jsonb;
  result jsonb := '[]';
begin
  for i in 1..jsonb_array_length(parts) loop
    amounts := amounts
      || app.parse_amount(parts -> (i - 1) ->> 'amount', currency, format('%s[%s].amount', field, i - 1));
  end loop;
  rest := array_position(amounts, null);
  given_minor := (select coalesce(sum(a), 0) from unnest(amounts) as a);
  if cardinality(array_positions(amounts, null)) > 1 then
    perform app.fail('invalid_argument.split_without_amounts', field => parse_split.field);
  end if;
  if given_minor > whole_minor or (rest is null) <> (given_minor = whole_minor) then
    perform app.fail('invalid_argument.split_does_not_add_up', jsonb_build_object(
      'sum', app.format_amount(given_minor, currency), 'amount', app.format_amount(whole_minor, currency),
      'currency', currency, 'difference', app.format_amount(abs(whole_minor - given_minor), currency),
      'is_over', given_minor > whole_minor
    ), parse_split.field);
  end if;
  if rest is not null then
    amounts[rest] := whole_minor - given_minor;
  end if;
  taxes := app.spread_minor((whole ->> 'tax_minor')::bigint, amounts);
  charges := app.spread_minor((whole ->> 'charged_minor')::bigint, amounts);
  for i in 1..cardinality(amounts) loop
    part := parts -> (i - 1);
    result := result || jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
      'amount_minor', amounts[i], 'tax_minor', taxes[i], 'charged_minor', charges[i],
      'note', coalesce(nullif(btrim(part ->> 'note'), ''), whole ->> 'note'),
      'category_id', case when app.clean_text(part ->> 'category') is null then whole ->> 'category_id'
        else app.find_category(
          context, part ->> 'category', format('%s[%s].category', field, i - 1), create_missing_categories
        )
      end
    )));
  end loop;
  return result;
end
$$;
comment on function app.parse_split is
  'The parts of a draft as what they have of their own, [{amount_minor, category_id?, note?, tax_minor?, '
  'charged_minor?}]; one may leave its amount out, and has the rest.';

create or replace function app.draft_parts(draft jsonb) returns setof jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- What the whole has and a part has not is not the part's, and an external id is that of the first.
  return query
    select draft - 'parts' - case p.ordinality when 1 then array['category_id', 'note']
      else array['category_id', 'note', 'external_id'] end || p.value
    from jsonb_array_elements(draft -> 'parts') with ordinality as p
    where draft ? 'parts'
    union all
    select draft where not draft ? 'parts';
end
$$;
comment on function app.draft_parts is 'A draft as the drafts that are written for it: itself, or its parts.';

create or replace function app.identify_parts(draft jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not draft ? 'parts' then
    return draft;
  end if;
  return draft || jsonb_build_object(
    'split_id', case when jsonb_array_length(draft -> 'parts') > 1 then app.new_id('spl') end,
    'parts', (
      select jsonb_agg(p.value || jsonb_build_object(
        'id', case p.ordinality when 1 then draft ->> 'id' else app.new_id('exp') end
      ) order by p.ordinality)
      from jsonb_array_elements(draft -> 'parts') with ordinality as p
    )
  );
end
$$;
comment on function app.identify_parts is
  'A draft that has an id, its parts with one each: the first has that of the whole.';

create or replace function app.find_split(expense_id text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select other.expense_id
    from app.payments as p
    join app.payments as other on other.id = p.id or other.split_id = p.split_id
    where p.expense_id = find_split.expense_id and p.deleted_at is null and other.deleted_at is null
    order by other.recorded_seq
  );
end
$$;
comment on function app.find_split is 'All parts of the split that an expense is one of, or that expense alone.';

create or replace function app.split_payment(context app.context, ids text[], changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_reimbursement constant boolean := changes ?| array['reimbursement', 'reimbursed_by', 'reimbursed_on'];
  whole app.payments;
  expense app.expenses;
  parts jsonb;
  rates numeric[];
  drafts jsonb;
begin
  select p.* into strict whole from app.payments as p where p.expense_id = ids[1] and p.deleted_at is null;
  select e.* into strict expense from app.expenses as e where e.id = ids[1];
  select sum(p.amount_minor), sum(p.tax_minor), sum(p.charged_minor), array_agg(distinct p.tax_percent)
  into whole.amount_minor, whole.tax_minor, whole.charged_minor, rates
  from app.payments as p
  where p.expense_id = any (ids) and p.deleted_at is null;
  whole.tax_percent := case when cardinality(rates) = 1 then rates[1] end;
  whole := app.change_payment(context, whole, changes);
  parts := app.parse_split(context, changes -> 'split', to_jsonb(whole) || jsonb_build_object(
    'category_id', expense.category_id, 'note', null
  ), 'set.split', false);
  whole.split_id := case when jsonb_array_length(parts) > 1 then coalesce(whole.split_id, app.new_id('spl')) end;

  update app.expenses as e
  set category_id = p.value ->> 'category_id', note = coalesce(p.value ->> 'note', e.note)
  from jsonb_array_elements(parts) with ordinality as p
  where e.id = ids[p.ordinality];
  update app.payments as p
  set amount_minor = part.amount_minor, currency = whole.currency, paid_on = whole.paid_on,
    direction = whole.direction, charged_minor = part.charged_minor, charged_currency = whole.charged_currency,
    tax_minor = part.tax_minor, tax_percent = whole.tax_percent, split_id = whole.split_id,
    reimbursement = case when is_reimbursement then whole.reimbursement else p.reimbursement end,
    reimbursed_by = case when is_reimbursement then whole.reimbursed_by else p.reimbursed_by end,
    reimbursed_on = case when is_reimbursement then whole.reimbursed_on else p.reimbursed_on end
  from jsonb_array_elements(parts) with ordinality as v
  cross join lateral jsonb_populate_record(null::app.payments, v.value) as part
  where p.expense_id = ids[v.ordinality] and p.deleted_at is null;
  update app.payments as p set deleted_at = context.at
  where p.expense_id = any (ids[jsonb_array_length(parts) + 1:]) and p.deleted_at is null;
  update app.expenses as e set deleted_at = context.at
  where e.id = any (ids[jsonb_array_length(parts) + 1:]);

  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'name', expense.name, 'payee', expense.payee, 'tags', expense.tags, 'note', expense.note, 'url', expense.url,
    'created_by', expense.created_by, 'direction', whole.direction, 'currency', whole.currency,
    'charged_currency', whole.charged_currency, 'paid_on', whole.paid_on, 'tax_percent', whole.tax_percent,
    'reimbursement', whole.reimbursement, 'reimbursed_by', whole.reimbursed_by,
    'reimbursed_on', whole.reimbursed_on, 'split_id', whole.split_id, 'paid_by', whole.paid_by
  )) || p.value || jsonb_build_object('id', app.new_id('exp')) order by p.ordinality) into drafts
  from jsonb_array_elements(parts) with ordinality as p
  where p.ordinality > cardinality(ids);
  if drafts is not null then
    perform app.write_expenses(context, drafts, whole.source);
  end if;
end
$$;
comment on function app.split_payment is
  'Spreads a one-off expense, or all parts of a split anew, over the parts in changes: the records there are keep '
  'their ids, further ones are added, and those left over are deleted. One part is no split.';

create or replace function app.describe_split(ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', p.expense_id, 'category', category.name, 'amount', app.format_amount(p.amount_minor, p.currency),
      'currency', p.currency, 'tax', app.format_amount(p.tax_minor, p.currency),
      'base_amount', app.format_amount(p.base_minor, p.base_currency), 'note', e.note
    )) order by p.recorded_seq)
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    left join app.categories as category on category.id = p.category_id
    where p.expense_id = any (ids) and p.deleted_at is null
  );
end
$$;
comment on function app.describe_split is 'The parts of a payment as an answer says them.';

create or replace function app.warn_of_parts(ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  left_over record;
begin
  select array_agg(distinct e.name) as names, count(*) as count into left_over
  from app.payments as p
  join app.expenses as e on e.id = p.expense_id
  where p.deleted_at is null
    and p.split_id in (select gone.split_id from app.payments as gone where gone.expense_id = any (ids));
  return case when left_over.count > 0 then jsonb_build_array(app.warning('split_left_over', to_jsonb(left_over)))
    else '[]'::jsonb end;
end
$$;
comment on function app.warn_of_parts is 'Says of what was deleted that other parts of the same split stay.';

-- schemas/expenses/parse_expense_items.sql

-- log_expenses: writes down money that left, or came back. All items or none; what is already in the books is not
-- written twice.
-- Row-level security keeps every statement inside the organization of the request, here and in the tools that follow.

-- An item on its way into the books is a draft, an object by name: columns of app.expenses and of app.payments, and
-- beside them place (in the call, or its line in a file), match_key, category_source, and existing_id when it is in the
-- books already. One that is split has what is each part's own in parts. What it does not have is not there.

create or replace function app.parse_url(value text, field text) returns text
language plpgsql stable set search_path = '' as $$
declare
  url constant text := nullif(btrim(value), '');
begin
  if url !~ '^https?://[^\s/?#@\\]+([/?#]\S*)?$' or length(url) > 2000 then
    perform app.fail('invalid_argument.not_a_link', jsonb_build_object('value', left(url, 40)), field);
  end if;
  return url;
end
$$;
comment on function app.parse_url is 'A link argument; blank is null.';

create or replace function app.parse_paid_on(context app.context, value text, field text) returns date
language plpgsql stable set search_path = '' as $$
declare
  paid_on constant date := app.parse_date(context, value, field, true);
begin
  if paid_on > context.today + 1 then
    perform app.fail('date_out_of_range.ahead', jsonb_build_object('date', paid_on), field);
  end if;
  if paid_on < context.today - interval '10 years' then
    perform app.fail('date_out_of_range.long_ago', jsonb_build_object('date', paid_on, 'years', 10), field);
  end if;
  return paid_on;
end
$$;
comment on function app.parse_paid_on is
  'The day of a payment: at most 10 years back and, for who is ahead of the owner''s clock, one day ahead.';

create or replace function app.parse_expense_item(context app.context, item jsonb, field text,
  create_missing_categories boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  name constant text := app.clean_text(item ->> 'name');
  payee constant text := app.clean_text(item ->> 'payee');
  currency constant text := coalesce(item ->> 'currency', context.base_currency);
  amount_minor bigint;
  paid_on date;
  tags text[];
  url text;
  category app.category_choice;
  charged record;
  tax record;
  reimbursed record;
  draft jsonb;
begin
  if name is null then
    perform app.fail('invalid_argument.expense_without_name', field => parse_expense_item.field || '.name');
  end if;
  amount_minor := app.parse_amount(item ->> 'amount', currency, field || '.amount');
  charged := app.parse_charged(context, item -> 'charged', currency, field || '.charged');
  tax := app.parse_tax(item, amount_minor, currency, field);
  reimbursed := app.parse_reimbursement(context, item, field);
  paid_on := app.parse_paid_on(context, coalesce(item ->> 'date', 'today'), field || '.date');
  tags := app.clean_tags(item -> 'tags', field || '.tags');
  url := app.parse_url(item ->> 'url', field || '.url');
  category :=
    app.choose_category(context, item ->> 'category', payee, name, field || '.category', create_missing_categories);
  draft := jsonb_strip_nulls(jsonb_build_object(
    'name', name, 'payee', payee, 'match_key', lower(coalesce(payee, name)), 'category_id', category.id,
    'category_source',
    category.source,
    'tags', tags, 'note', nullif(btrim(item ->> 'note'), ''), 'url', url, 'external_id',
    nullif(btrim(item ->> 'external_id'), ''),
    'direction', case when (item ->> 'is_refund')::boolean then 'refund' else 'out' end,
    'amount_minor', amount_minor, 'currency', currency, 'charged_minor', charged.minor,
    'charged_currency', charged.charged_currency, 'paid_on', paid_on, 'tax_minor', tax.minor, 'tax_percent', tax.rate,
    'reimbursement', reimbursed.reimbursement, 'reimbursed_by', reimbursed.reimbursed_by,
    'reimbursed_on', reimbursed.reimbursed_on
  ));
  return draft || case when item ? 'split' then jsonb_build_object('parts', app.parse_split(
    context, item -> 'split', draft, field || '.split', create_missing_categories
  )) else '{}' end;
end
$$;
comment on function app.parse_expense_item is 'One item as a draft; field is its place in the arguments, for errors.';

create or replace function app.fail_items(invalid jsonb, count int) returns void
language plpgsql stable set search_path = '' as $$
declare
  first constant jsonb := invalid #> '{0,error}';
begin
  perform app.fail(
    first ->> 'code',
    coalesce(first -> 'params', '{}') || jsonb_build_object('of_items', jsonb_build_object(
      'failed', jsonb_array_length(invalid), 'all', fail_items.count,
      'first', (invalid #>> '{0,index}')::int + 1, 'name', invalid #>> '{0,name}', 'results', invalid
    )),
    first ->> 'field'
  );
end
$$;
comment on function app.fail_items is
  'Ends a call because of some of its items, [{index, status: invalid, name, error}], with the error of the first; '
  'details.results lists each.';

create or replace function app.parse_expense_items(context app.context, items jsonb, create_missing_categories boolean)
  returns jsonb[]
language plpgsql volatile set search_path = '' as $$
declare
  drafts jsonb[] := '{}';
  invalid jsonb := '[]';
  item jsonb;
  index int;
  problem text;
begin
  for item, index in select i.value, i.ordinality - 1 from jsonb_array_elements(items) with ordinality as i loop
    begin
      drafts := drafts || (
        app.parse_expense_item(context, item, format('items[%s]', index), create_missing_categories)
          || jsonb_build_object('place', index)
      );
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
      invalid := invalid || jsonb_build_object(
        'index', index, 'status', 'invalid', 'name', item ->> 'name', 'error', problem::jsonb
      );
    end;
  end loop;
  if invalid <> '[]' then
    perform app.fail_items(invalid, jsonb_array_length(items));
  end if;
  return drafts;
end
$$;
comment on function app.parse_expense_items is 'All items as drafts; ends the call when some cannot be.';

-- schemas/expenses/describe_drafts.sql

create or replace function app.shown_id(payment_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.id = payment_id
  );
end
$$;
comment on function app.shown_id is 'The id under which people see a payment: that of the expense, where it is one.';

create or replace function app.former_payments(day date)
returns
  table (kept_id text, expense_id text, amount_minor bigint, currency text, direction text, recorded_seq bigint)
language sql stable
begin atomic
  select p.merged_into, p.expense_id, p.amount_minor, p.currency, p.direction, p.recorded_seq
  from app.payments as p
  where p.paid_on = day and p.merged_into is not null
    and exists (select from app.payments as k where k.id = p.merged_into and k.deleted_at is null)
  union all
  select (array_agg(p.id order by p.recorded_seq))[1], (array_agg(p.expense_id order by p.recorded_seq))[1],
    sum(p.amount_minor)::bigint, p.currency, p.direction, min(p.recorded_seq)
  from app.payments as p
  where p.paid_on = day and p.deleted_at is null and p.split_id is not null
  group by p.split_id, p.currency, p.direction;
end;
comment on function app.former_payments is
  'What a statement knows of a day in another form than the books: payments that were merged into one that stands, and '
  'each split as the one payment it was. What each looked like, and the payment that stands for it.';

create or replace function app.find_external(external_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    (
      select e.id
      from app.expenses as e
      where e.external_id = find_external.external_id and e.source = 'assistant' and e.deleted_at is null
      order by e.recorded_seq desc
      limit 1
    ),
    (
      select app.shown_id(k.id)
      from app.payments as p
      join app.payments as k on k.id = p.merged_into and k.deleted_at is null
      join app.expenses as e on e.id = p.expense_id
      where p.merged_into is not null and e.external_id = find_external.external_id and e.source = 'assistant'
      order by p.recorded_seq desc
      limit 1
    )
  );
end
$$;
comment on function app.find_external is
  'The expense in the books with this external id, or the record that one was merged into, else null.';

create or replace function app.find_same_payment(draft jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    -- A payment of a bill counts too: who marks the rent paid and then logs it has paid it once.
    select app.shown_id(p.kept_id)
    from (
      (
        select p.id as kept_id, p.recorded_seq
        from app.payments as p
        join app.expenses as e on e.id = p.expense_id
        where p.paid_on = (draft ->> 'paid_on')::date and p.amount_minor = (draft ->> 'amount_minor')::bigint
          and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
          and p.deleted_at is null and e.match_key = draft ->> 'match_key'
        order by p.recorded_seq desc
        limit 1
      )
      union all
      select p.kept_id, p.recorded_seq
      from app.former_payments((draft ->> 'paid_on')::date) as p
      -- Not a join: it would add up the splits of the day for each expense of this name.
      cross join lateral (select e.match_key from app.expenses as e where e.id = p.expense_id offset 0) as e
      where p.amount_minor = (draft ->> 'amount_minor')::bigint
        and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
        and e.match_key = draft ->> 'match_key'
    ) as p
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_same_payment is
  'The expense or bill payment in the books of the same day, amount, currency, direction and payee (name, where there '
  'is no payee), else null.';

create or replace function app.write_expenses(context app.context, drafts jsonb, source text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into app.expenses (id, organization_id, kind, name, payee, category_id, tags, note, url, source, external_id,
    created_by)
  select d.id, context.organization_id, 'one_off', d.name, d.payee, d.category_id, d.tags, d.note, d.url,
    write_expenses.source, d.external_id, coalesce(d.created_by, context.actor_id)
  from jsonb_populate_recordset(null::app.expenses, drafts) with ordinality as d
  order by d.ordinality;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, charged_minor, charged_currency, paid_on, tax_minor,
    tax_percent, reimbursement, reimbursed_by, reimbursed_on, split_id, source, paid_by
  )
  select context.organization_id, d.id, d.direction, d.amount_minor, d.currency, d.charged_minor, d.charged_currency,
    d.paid_on, d.tax_minor, d.tax_percent, d.reimbursement, d.reimbursed_by, d.reimbursed_on, d.split_id,
    write_expenses.source, coalesce(d.paid_by, context.actor_id)
  from jsonb_populate_recordset(null::app.payments, drafts) with ordinality as d
  order by d.ordinality;
end
$$;
comment on function app.write_expenses is
  'Writes drafts that have an id, each as an expense and its payment, in their order: the only writer of new one-off '
  'expenses (undo puts kept rows back).';

create or replace function app.total_drafts(drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}')
    from (
      select d.currency, sum(case d.direction when 'out' then d.amount_minor else -d.amount_minor end) as net
      from jsonb_to_recordset(drafts) as d (currency text, direction text, amount_minor bigint)
      group by d.currency
    ) as s
  );
end
$$;
comment on function app.total_drafts is 'Sums by currency, refunds subtracted: {"EUR": "12.00"}.';

create or replace function app.describe_drafts(context app.context, drafts jsonb, is_preview boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object(
      'index', d.place,
      'status', case when d.id is null then 'duplicate' when is_preview then 'would_create' else 'created' end,
      'id', case when not is_preview then d.id end,
      'existing_id', d.existing_id,
      'name', d.name,
      'date', d.paid_on,
      'amount', app.format_minor(d.amount_minor, c.exponent),
      'currency', d.currency,
      'tax', app.format_minor(d.tax_minor, c.exponent),
      'tax_percent', trim_scale(d.tax_percent),
      'split', own.parts,
      'category', category.name,
      'category_source', case when own.parts is null then d.category_source end,
      'base_amount', app.format_minor(own.base_minor, base.exponent)
    ) order by d.place)
    from jsonb_array_elements(drafts) as i (draft)
    cross join lateral jsonb_to_record(i.draft) as d (
      place int, id text, existing_id text, name text, paid_on date, amount_minor bigint, currency text,
      category_id text, category_source text, tax_minor bigint, tax_percent numeric
    )
    join app.currencies as c on c.code = d.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = d.category_id and not i.draft ? 'parts'
    cross join lateral (
      select sum(value.base_minor) as base_minor,
        case when i.draft ? 'parts' then jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'id', case when not is_preview then part.id end, 'category', its.name,
          'amount', app.format_minor(part.amount_minor, c.exponent),
          'tax', app.format_minor(part.tax_minor, c.exponent),
          'base_amount', app.format_minor(value.base_minor, base.exponent), 'note', part.note
        )) order by p.place) end as parts
      from app.draft_parts(i.draft) with ordinality as p (draft, place)
      cross join lateral jsonb_to_record(p.draft) as part (
        id text, category_id text, note text, amount_minor bigint, tax_minor bigint, charged_minor bigint,
        charged_currency text
      )
      cross join lateral app.value_in_base(
        context.base_currency, part.amount_minor, d.currency, d.paid_on, part.charged_minor, part.charged_currency
      ) as value
      left join app.categories as its on its.id = part.category_id
    ) as own
  );
end
$$;
comment on function app.describe_drafts is 'What becomes of each item of log_expenses.';

-- schemas/expenses/log_expenses.sql

create or replace function app.warn_of_drafts(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  skipped text[];
  unrated record;
  early text[];
  warnings jsonb := '[]';
begin
  select array_agg(d.name order by d.place) filter (where d.id is null),
    array_agg(d.name order by d.place) filter (where d.id is not null and d.paid_on > context.today)
  into skipped, early
  from jsonb_to_recordset(drafts) as d (place int, id text, name text, paid_on date);
  select array_agg(distinct p.currency order by p.currency) filter (where p.base_minor is null) as currencies,
    coalesce(bool_or(not p.is_final) filter (where p.base_minor is null), false) as is_awaited,
    coalesce(bool_or(not p.is_final) filter (where p.base_minor is not null), false) as is_pending,
    min(p.paid_on) filter (where not p.is_final and p.base_minor is not null) as since
  into unrated
  from jsonb_to_recordset(drafts) as d (id text)
  cross join lateral (select p.* from app.payments as p where p.expense_id = d.id offset 0) as p;
  if skipped is not null then
    warnings := warnings || app.warning('duplicate.expenses', jsonb_build_object('names', skipped));
  end if;
  if early is not null then
    warnings := warnings
      || app.warning('dated_tomorrow', jsonb_build_object('names', early, 'date', context.today + 1));
  end if;
  if unrated.currencies is not null then
    warnings := warnings || app.warning('rate_missing.of_day', jsonb_build_object(
      'currencies', unrated.currencies, 'into', context.base_currency, 'is_awaited', unrated.is_awaited
    ));
  end if;
  return warnings || app.warn_of_pending(unrated.is_pending, context.base_currency, unrated.since);
end
$$;
comment on function app.warn_of_drafts is
  'What a person should hear about what was logged: items left out, days to come, amounts without a value in the base '
  'currency.';

create or replace function app.log_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  is_duplicate_allowed constant boolean := coalesce(arguments ->> 'on_duplicate' = 'allow', false);
  drafts jsonb[] := app.parse_expense_items(
    context, arguments -> 'items', coalesce((arguments ->> 'create_missing_categories')::boolean, false)
  );
  last_closed constant date := (
    select o.closed_through from identity.organizations as o where o.id = context.organization_id
  );
  -- Ids of this call by external id.
  own_ids jsonb := '{}';
  closed jsonb := '[]';
  known_id text;
  existing_id text;
  written jsonb;
  totals jsonb;
begin
  -- Judged against the books as they were before the call: two equal items in one call are two expenses, but an
  -- external id stands for one.
  for i in 1..cardinality(drafts) loop
    known_id := coalesce(app.find_external(drafts[i] ->> 'external_id'), own_ids ->> (drafts[i] ->> 'external_id'));
    existing_id := coalesce(known_id, app.find_same_payment(drafts[i]));
    if existing_id is not null and not is_duplicate_allowed then
      drafts[i] := drafts[i] || jsonb_build_object('existing_id', existing_id);
      continue;
    end if;
    if (drafts[i] ->> 'paid_on')::date <= last_closed then
      closed := closed || jsonb_build_object(
        'index', i - 1, 'status', 'invalid', 'name', drafts[i] -> 'name', 'error', jsonb_build_object(
          'code', 'month_closed', 'params', app.closed_month((drafts[i] ->> 'paid_on')::date),
          'field', format('items[%s].date', i - 1)
        )
      );
    end if;
    drafts[i] := app.identify_parts(drafts[i] || jsonb_build_object('id', app.new_id('exp')));
    if known_id is not null then
      drafts[i] := drafts[i] - 'external_id';
    elsif drafts[i] ? 'external_id' then
      own_ids := own_ids || jsonb_build_object(drafts[i] ->> 'external_id', drafts[i] -> 'id');
    end if;
  end loop;
  if closed <> '[]' then
    perform app.fail_items(closed, cardinality(drafts));
  end if;

  written := jsonb_path_query_array(to_jsonb(drafts), '$[*] ? (exists(@.id))');
  perform app.write_expenses(context, (
    select coalesce(jsonb_agg(part order by d.ordinality), '[]')
    from jsonb_array_elements(written) with ordinality as d
    cross join lateral app.draft_parts(d.value) as part
  ), 'assistant');
  totals := app.total_drafts(written);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'results', app.describe_drafts(context, to_jsonb(drafts), coalesce((arguments ->> 'dry_run')::boolean, false)),
      'totals_by_currency', totals
    ),
    'warnings', app.warn_of_drafts(context, to_jsonb(drafts)),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(written),
      -- The first few are enough for people, and are kept a month.
      'written', (
        select
          coalesce(jsonb_agg(jsonb_build_object('name', d -> 'name', 'is_refund', d ->> 'direction' = 'refund')), '[]')
        from jsonb_array_elements(jsonb_path_query_array(written, '$[0 to 3]')) as d
      ),
      'totals_by_currency', totals
    )
  );
end
$$;
comment on function app.log_expenses is
  'Tool log_expenses: data {results, totals_by_currency}; the totals are of what is written.';

-- schemas/expenses/parse_expense_filter.sql

-- list_expenses: what left and what came back, row by row, with totals over the whole filter whatever the page.

create type app.expense_filter as (
  from_on date,
  to_on date,
  query text,
  category_ids text[],
  not_category_ids text[],
  tags text[],
  payee text,
  member_id uuid,
  min_minor numeric,
  max_minor numeric,
  amount_currency text,
  currency text,
  kind text,
  reimbursement text
);
comment on type app.expense_filter is
  'Which payments are meant. Texts are in lower case, Uncategorized is the empty category id, amounts are minor units '
  'of amount_currency, in which each payment is valued.';

create or replace function app.find_filter_categories(names jsonb, field text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  ids text[];
  category_id text;
  wanted text;
begin
  for wanted in select app.clean_text(n) from jsonb_array_elements_text(names) as n loop
    -- Archived ones included: what was spent on them stays in the books.
    select c.id into category_id from app.categories as c where lower(c.name) = lower(wanted)
    order by c.is_private desc limit 1;
    if category_id is null and lower(wanted) <> 'uncategorized' then
      perform app.fail_without_category(wanted, field);
    end if;
    ids := ids || coalesce(category_id, '');
  end loop;
  return ids;
end
$$;
comment on function app.find_filter_categories is 'Ids of the categories that a filter names; null without names.';

create or replace function app.find_member(context app.context, wanted text, field text) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  near jsonb;
begin
  if wanted is null or lower(wanted) = 'me' then
    return case when wanted is not null then context.actor_id end;
  end if;
  select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email) order by m.email) into near
  from (
    select m.user_id, m.email, rank() over (order by lower(m.email) <> lower(wanted)) as place
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where strpos(lower(m.email), lower(wanted)) > 0
  ) as m
  where m.place = 1;
  if jsonb_array_length(near) = 1 then
    return near #>> '{0,id}';
  end if;
  perform app.fail('not_found.member', jsonb_build_object(
    'member', wanted,
    'details', jsonb_build_object('members', coalesce(
      jsonb_path_query_array(near, '$[*].email'),
      (select jsonb_agg(app.member_name(m.user_id) order by m.created_at) from identity.memberships as m)
    ))
  ), field);
  return null;
end
$$;
comment on function app.find_member is
  'A member by address, or the only one with this in theirs; null stays null. Ends the tool with not_found and who may '
  'be meant.';

create or replace function app.parse_expense_filter(context app.context, arguments jsonb) returns app.expense_filter
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter;
  exponent int;
begin
  filter.from_on := app.parse_date(context, arguments ->> 'from', 'from', true);
  filter.to_on := app.parse_date(context, arguments ->> 'to', 'to', true);
  if filter.from_on > filter.to_on then
    perform app.fail('invalid_argument.period_backwards',
      jsonb_build_object('from', filter.from_on, 'to', filter.to_on), 'to');
  end if;
  filter.query := lower(app.clean_text(arguments ->> 'query'));
  filter.payee := lower(app.clean_text(arguments ->> 'payee'));
  filter.kind := arguments ->> 'kind';
  filter.reimbursement := arguments ->> 'reimbursement';
  filter.currency := arguments ->> 'currency';
  filter.amount_currency := coalesce(filter.currency, context.base_currency);
  exponent := app.currency_exponent(filter.amount_currency, 'currency');
  filter.min_minor := (arguments ->> 'min_amount')::numeric * 10::numeric ^ exponent;
  filter.max_minor := (arguments ->> 'max_amount')::numeric * 10::numeric ^ exponent;
  if filter.min_minor > filter.max_minor then
    perform app.fail('invalid_argument.amounts_backwards', field => 'max_amount');
  end if;
  filter.tags := array(select lower(t) from unnest(nullif(app.clean_tags(arguments -> 'tags', 'tags'), '{}')) as t);
  filter.category_ids := app.find_filter_categories(arguments -> 'categories', 'categories');
  filter.not_category_ids := app.find_filter_categories(arguments -> 'not_categories', 'not_categories');
  filter.member_id := app.find_member(context, app.clean_text(arguments ->> 'member'), 'member');
  return filter;
end
$$;
comment on function app.parse_expense_filter is 'The filter arguments of list_expenses and summarize_spending.';

-- The next two were parsed when they were created, so that no search_path changes their meaning, and are inlined into
-- the query that asks:
-- a condition that is not set is gone before planning, and with the last condition on a joined table so is the join. A
-- condition that is set is false without the joined row, and says so, that the planner may begin there.

create or replace function app.matches_filter(filter app.expense_filter, category_id text, tags text[], match_key text,
  name text, payee text, note text, payment_note text)
returns boolean
language sql stable
  return ((filter).category_ids is null or coalesce(category_id, '') = any ((filter).category_ids))
    and ((filter).not_category_ids is null or coalesce(category_id, '') <> all ((filter).not_category_ids))
    and ((filter).payee is null or match_key = (filter).payee)
    and ((filter).tags = '{}' or lower(tags::text)::text[] && (filter).tags)
    and ((filter).query is null or name is not null
      and strpos(lower(concat_ws(E'\n', name, payee, note, payment_note)), (filter).query) > 0);
comment on function app.matches_filter is 'Whether an expense or bill is one that a filter asks for.';

create or replace function app.is_amount_within(filter app.expense_filter, minor bigint, currency text,
  base_minor bigint,
  base_currency text) returns boolean
language sql stable
  -- What has no value in the currency of the filter is no answer to how much.
  return ((filter).min_minor is null or case (filter).amount_currency
      when currency then minor when base_currency then base_minor end >= (filter).min_minor)
    and ((filter).max_minor is null or case (filter).amount_currency
      when currency then minor when base_currency then base_minor end <= (filter).max_minor);
comment on function app.is_amount_within is 'Whether an amount, valued in the one currency of a filter, is within it.';

create or replace function app.find_payments(filter app.expense_filter)
returns table (
  payment_id text, recorded_seq bigint, paid_on date, currency text, direction text, amount_minor bigint,
  base_minor bigint, fx_rate_on date, fx_source text, is_final boolean, charged_minor bigint, charged_currency text,
  sort_minor bigint, paid_by uuid, tax_minor bigint, tax_percent numeric, reimbursement text, reimbursed_by text,
  reimbursed_on date, split_id text,
  expense_id text, name text, payee text, category_id text, tags text[], note text, url text, version int
)
language sql stable
begin atomic
  select p.id, p.recorded_seq, p.paid_on, p.currency, p.direction, p.amount_minor, p.base_minor,
    p.fx_rate_on, p.fx_source, p.is_final, p.charged_minor, p.charged_currency, p.sort_minor, p.paid_by, p.tax_minor,
    p.tax_percent, p.reimbursement, p.reimbursed_by, p.reimbursed_on, p.split_id,
    p.expense_id, e.name, e.payee, p.category_id, e.tags,
    case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, e.url,
    -- What is shown as one row counts the changes to both of its rows.
    case when starts_with(p.expense_id, 'bill_') then p.version else e.version + p.version - 1 end
  from app.payments as p
  left join app.expenses as e on e.id = p.expense_id
  where p.deleted_at is null
    and ((filter).from_on is null or p.paid_on >= (filter).from_on)
    and ((filter).to_on is null or p.paid_on <= (filter).to_on)
    and ((filter).currency is null or p.currency = (filter).currency)
    and ((filter).kind is null or (filter).kind = case
      when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
        else 'one_off'
    end)
    and ((filter).reimbursement is null or coalesce(p.reimbursement, 'none') = (filter).reimbursement)
    and ((filter).member_id is null or p.paid_by = (filter).member_id)
    and app.is_amount_within(filter, p.amount_minor, p.currency, p.base_minor, p.base_currency)
    and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note);
end;
comment on function app.find_payments is
  'Payments in the books that a filter lets through, with the expense or bill that each belongs to.';

create or replace function app.warn_of_unvalued(filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  without_amounts app.expense_filter := filter;
  unvalued int;
begin
  if num_nonnulls(filter.min_minor, filter.max_minor) = 0 then
    return '[]';
  end if;
  without_amounts.min_minor := null;
  without_amounts.max_minor := null;
  select count(*) into unvalued
  from app.find_payments(without_amounts) as p
  where p.base_minor is null and p.currency <> filter.amount_currency;
  return case when unvalued = 0 then '[]' else jsonb_build_array(
    app.warning('rate_missing.of_filter', jsonb_build_object('count', unvalued, 'into', filter.amount_currency))
  ) end;
end
$$;
comment on function app.warn_of_unvalued is
  'Warnings that some payments could not be compared with the amounts of a filter, since no rate is known.';

-- schemas/expenses/list_expenses.sql

create or replace function app.list_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set random_page_cost = 1.1 as $$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  is_csv constant boolean := coalesce(arguments ->> 'format' = 'csv', false);
  is_by_amount constant boolean := coalesce(arguments ->> 'sort' = 'amount', false);
  is_ascending constant boolean := coalesce(arguments ->> 'order' = 'asc', false);
  page_size constant int := coalesce((arguments ->> 'limit')::int, case when is_csv then 500 else 25 end);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_expenses', arguments - 'cursor' - 'limit');
  key constant jsonb :=
    app.read_cursor(scope, arguments ->> 'cursor', case when is_by_amount then 'bigint'::regtype else 'date' end);
  page jsonb[];
  next_cursor text;
  cursors text[];
  total_count bigint;
  totals jsonb;
  taxes jsonb;
  pending_since date;
begin
  -- Put together from fixed words alone. An order that an index can follow cannot be a parameter. Matches that only the
  -- text of each row can tell are found once; others are counted in one index and read, page by page, along another.
  execute format(
    $query$
      with matching as %5$s (
        select p.*, %1$s as sort_key from app.find_payments($1) as p
      ),
      sums as (
        select m.currency, count(*) as count,
          sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end) as net,
          count(m.tax_minor) as taxed,
          sum(case m.direction when 'out' then m.tax_minor else -m.tax_minor end) as tax
        from matching as m
        group by m.currency
      ),
      page as (
        select m.*
        from matching as m
        where $2 is null or (m.sort_key, m.recorded_seq) %3$s (($2 ->> 0)::%4$s, ($2 ->> 1)::bigint)
        order by m.sort_key %2$s, m.recorded_seq %2$s
        limit $3 + 1
      )
      select
        (select coalesce(sum(s.count), 0) from sums as s),
        (
          select coalesce(jsonb_object_agg(s.currency, app.format_minor(s.net, c.exponent)), '{}')
          from sums as s join app.currencies as c on c.code = s.currency
        ),
        (
          select jsonb_object_agg(s.currency, jsonb_build_object(
            'amount', app.format_minor(s.tax, c.exponent), 'count', s.taxed
          ))
          from sums as s join app.currencies as c on c.code = s.currency
          where s.taxed > 0
        ),
        array(
          select jsonb_build_object(
            'id', case when starts_with(p.expense_id, 'bill_') then p.payment_id else p.expense_id end,
            'kind',
            case when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
              else 'one_off' end,
            'date', p.paid_on, 'name', p.name, 'payee', p.payee, 'category', category.name, 'tags',
            nullif(p.tags, '{}'), 'note', p.note, 'url', p.url,
            'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
            'charged', case when p.charged_minor is not null then jsonb_build_object(
              'amount', app.format_amount(p.charged_minor, p.charged_currency), 'currency', p.charged_currency
            ) end,
            'tax', app.format_minor(p.tax_minor, c.exponent), 'tax_percent', trim_scale(p.tax_percent),
            'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
            'split_id', p.split_id, 'base_amount', app.format_minor(p.base_minor, base.exponent),
            -- Asked of a page, not of all that match.
            'is_estimate', (select true from app.payments as e where e.id = p.payment_id and e.is_estimate),
            'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end, 'version', p.version,
            -- Where it stands in the order.
            'key', jsonb_build_array(p.sort_key, p.recorded_seq),
            'pending_on', case when not p.is_final and p.base_minor is not null then p.paid_on end
          )
          from page as p
          join app.currencies as c on c.code = p.currency
          join app.currencies as base on base.code = $4
          left join app.categories as category on category.id = p.category_id
          order by p.sort_key %2$s, p.recorded_seq %2$s
        )
    $query$,
    case when is_by_amount then 'p.sort_minor' else 'p.paid_on' end,
    case when is_ascending then 'asc' else 'desc' end,
    case when is_ascending then '>' else '<' end,
    case when is_by_amount then 'bigint' else 'date' end,
    case when num_nonnulls(filter.payee, filter.query) > 0 or filter.tags <> '{}' then 'materialized'
      else 'not materialized' end
  ) into total_count, totals, taxes, page using filter, key, page_size, context.base_currency;

  if cardinality(page) > page_size then
    page := page[:page_size];
    next_cursor := app.write_cursor(scope, page[page_size] -> 'key');
  end if;
  cursors := array(select app.write_cursor(scope, r -> 'key') from unnest(page) as r);
  pending_since := (select min((r ->> 'pending_on')::date) from unnest(page) as r);
  return jsonb_build_object(
    'data', jsonb_build_object(case when is_csv then 'csv' else 'rows' end, (
      select coalesce(jsonb_agg(r.shown - array['key', 'pending_on'] order by r.place), '[]')
      from unnest(page) with ordinality as r (shown, place)
    ), 'tax_by_currency', taxes),
    'next_cursor', next_cursor, 'total_count', total_count, 'totals_by_currency', totals,
    'page', jsonb_build_object('list', case when is_csv then 'csv' else 'rows' end, 'cursors', cursors),
    -- Without a page of its own a file is all that matches, whatever day it is read.
    'file', case when is_csv and not arguments ?| array['limit', 'cursor'] then jsonb_build_object(
      'user_id', context.actor_id,
      'filter', jsonb_strip_nulls((arguments - 'format') || jsonb_build_object(
        'from', filter.from_on, 'to', filter.to_on
      ))
    ) end,
    'warnings', app.warn_of_pending(pending_since is not null, context.base_currency, pending_since)
      || app.warn_of_unvalued(filter)
  );
end
$$;
comment on function app.list_expenses is
  'Tool list_expenses: data {rows, tax_by_currency?}, or the same rows as {csv} for a file to be written of, with '
  'totals of all that '
  'match. page has a cursor for each row, for who can show only some; file says who asked for all of what.';

-- schemas/expenses/periods.sql

-- Periods: the days that "last month" means for the owner, and the days to compare them with.

create type app.period as (
  from_on date,
  to_on date,
  shift interval
);
comment on type app.period is
  'Days from the first to the last; shift is how far back the period before lies, of an earlier period how far back it '
  'lies itself.';

create or replace function app.whole_months(period app.period) returns int
language plpgsql immutable set search_path = '' as $$
declare
  next_on constant date := period.to_on + 1;
begin
  if extract(day from period.from_on) = 1 and extract(day from next_on) = 1 then
    return (extract(year from next_on) - extract(year from period.from_on)) * 12 + extract(month from next_on)
      - extract(month from period.from_on);
  end if;
  return null;
end
$$;
comment on function app.whole_months is
  'How many months of the calendar a period is; null when it is not made of whole months.';

create or replace function app.named_period(name text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  unit constant text := substring(name from '^(?:this|last)_(week|month|quarter|year)$');
  step constant interval := case unit when 'quarter' then interval '3 months' else ('1 ' || unit)::interval end;
  first date;
begin
  case name
    when 'last_30_days' then
      return (today - 29, today, interval '30 days')::app.period;
    when 'last_12_months' then
      return ((today + 1 - interval '12 months')::date, today, interval '12 months')::app.period;
    else
      -- Weeks begin on Monday (ISO 8601).
      first := date_trunc(unit, today::timestamp) - case when name like 'last%' then step else interval '0' end;
      return (first, (first + step)::date - 1, step)::app.period;
  end case;
end
$$;
comment on function app.named_period is
  'The period that a word such as last_month means on a day: whole weeks, months, quarters and years; the others end '
  'on that day.';

create or replace function app.step_of_days(from_on date, to_on date, today date) returns interval
language plpgsql immutable set search_path = '' as $$
declare
  is_whole constant boolean := extract(day from to_on + 1) = 1;
  months constant int := (extract(year from to_on) - extract(year from from_on)) * 12
    + extract(month from to_on) - extract(month from from_on) + 1;
begin
  return case
    when extract(day from from_on) <> 1 then make_interval(days => to_on - from_on + 1)
    -- A year so far. One month of it is a month so far, and whole months that are over are months like any other.
    when extract(month from from_on) = 1 and months between 2 and 12 and (not is_whole or to_on = today)
      then interval '1 year'
    -- What is due on a day of the month is in both as often.
    else make_interval(months => months)
  end;
end
$$;
comment on function app.step_of_days is
  'How far before given days those lie that they are compared with: of a year so far a year, of what begins with a '
  'month '
  'as many months as it reaches into, else as many days.';

create or replace function app.parse_period(context app.context, arguments jsonb, filter app.expense_filter)
  returns app.period
language plpgsql stable set search_path = '' as $$
declare
  period app.period;
begin
  if arguments ? 'period' and num_nonnulls(filter.from_on, filter.to_on) > 0 then
    perform app.fail('invalid_argument.period_and_dates', field => 'period');
  end if;
  if num_nonnulls(filter.from_on, filter.to_on) = 0 then
    return app.named_period(coalesce(arguments ->> 'period', 'this_month'), context.today);
  end if;
  period.to_on := coalesce(filter.to_on, greatest(context.today, filter.from_on));
  period.from_on := coalesce(
    filter.from_on,
    (select p.paid_on from app.payments as p where p.deleted_at is null and p.paid_on <= filter.to_on order by p.paid_on
      limit 1),
    filter.to_on
  );
  if period.to_on - period.from_on > 3660 then
    perform app.fail(
      'date_out_of_range.period_too_long', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'years', 10),
      'from'
    );
  end if;
  period.shift := app.step_of_days(period.from_on, period.to_on, context.today);
  return period;
end
$$;
comment on function app.parse_period is
  'The period that is meant: this month unless said; from alone reaches to today, to alone back to the first payment.';

create or replace function app.earlier_period(period app.period, compare text) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  shift constant interval := case compare when 'same_period_last_year' then interval '1 year'
    when 'previous_period' then period.shift end;
begin
  return case when shift is not null then (
    (period.from_on - shift)::date,
    least(
      period.from_on - 1,
      -- The end of a month with the end of the other, and February as a whole stays one in leap years.
      case when extract(day from period.from_on) = 1
        then greatest((period.to_on - shift)::date, (period.to_on + 1 - shift)::date - 1)
        else (period.to_on - shift)::date end
    ),
    shift
  )::app.period end;
end
$$;
comment on function app.earlier_period is
  'The period to compare with: the one before, or the same days a year before; null for none.';

create or replace function app.compared_period(period app.period, compare text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  earlier app.period := app.earlier_period(period, compare);
begin
  if today between period.from_on and period.to_on then
    -- The same days of each month, and the end of one with the end of the other: what is due on the 1st or the last day
    -- is in both or in neither.
    earlier.to_on :=
      least(earlier.to_on, greatest((today - earlier.shift)::date, (today + 1 - earlier.shift)::date - 1));
  end if;
  return earlier;
end
$$;
comment on function app.compared_period is
  'The period to compare what was spent with: of one that still runs, the same days as have passed.';

create or replace function app.books_begin(period app.period, earlier app.period) returns date
language plpgsql stable set search_path = '' as $$
declare
  first_on constant date :=
    (select p.paid_on from app.payments as p where p.deleted_at is null order by p.paid_on limit 1);
begin
  -- Who begins on the second of a month can compare with it all the same.
  return case when first_on > earlier.from_on + (period.to_on - period.from_on + 1) / 10 then first_on end;
end
$$;
comment on function app.books_begin is
  'The day of the first payment, when it lies so far into an earlier period, or after it, that the two cannot be '
  'compared; else null.';

-- schemas/expenses/warn_of_borders.sql

create or replace function app.warn_of_borders(filter app.expense_filter, period app.period, earlier app.period)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  days_apart constant int := 7;
  names text[];
begin
  select array_agg(distinct e.name order by e.name) into names
  from unnest(array[period.from_on, period.to_on, earlier.from_on, earlier.to_on]) as border
  cross join lateral jsonb_populate_record(filter, jsonb_build_object(
    'from_on', border - days_apart, 'to_on', border + days_apart
  )) as near
  cross join lateral app.find_payments(near) as f
  join app.payments as p on p.id = f.payment_id
  join app.expense_occurrences as o on o.id = p.occurrence_id and o.organization_id = p.organization_id
  join app.expenses as e on e.id = p.expense_id
  where abs(p.paid_on - o.due_on) <= days_apart and (
    (p.paid_on between period.from_on and period.to_on) <> (o.due_on between period.from_on and period.to_on)
    or (p.paid_on between earlier.from_on and earlier.to_on) <> (o.due_on between earlier.from_on and earlier.to_on)
  );
  return case when names is null then '[]' else jsonb_build_array(
    app.warning('paid_across_border', jsonb_build_object('names', names))
  ) end;
end
$$;
comment on function app.warn_of_borders is
  'Warnings that bills were paid in one of two compared periods and due in another, up to a week apart.';

-- schemas/expenses/group_label.sql

-- summarize_spending: totals of a period in one currency, grouped, ranked and compared. Each payment counts by its
-- value, into another currency than the base one converted at the rate of its own day and rounded once; what cannot be
-- converted is named, never counted as if it were the other currency. Refunds subtract.

-- Parsed when it was created, and inlined: with a constant dimension one branch is left.
create or replace function app.group_key(dimension text, category_id text, payee text, tag text, on_day date,
  currency text, member_id uuid) returns text
language sql stable
  return case dimension
    when 'category' then category_id
    when 'payee' then lower(payee)
    when 'tag' then lower(tag)
    when 'month' then to_char(on_day::timestamp, 'YYYY-MM')
    when 'week' then to_char(date_trunc('week', on_day::timestamp), 'YYYY-MM-DD')
    when 'day' then to_char(on_day::timestamp, 'YYYY-MM-DD')
    when 'currency' then currency
    when 'member' then member_id::text
  end;
comment on function app.group_key is
  'What a payment is grouped by: ids where there are some, weeks by their Monday; null for none.';

create or replace function app.group_label(dimension text, key text, spelling text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  name text;
begin
  case dimension
    when 'category' then
      name := (select c.name from app.categories as c where c.id = key);
    when 'member' then
      name := (select p.email from identity.profiles as p where p.user_id = key::uuid);
    else
      name := coalesce(spelling, key);
  end case;
  return coalesce(to_jsonb(name),
    jsonb_build_object('none',
    case when dimension = 'member' and key is not null then 'former_member' else dimension end));
end
$$;
comment on function app.group_label is
  'What a group is called, spelling being one of those that were typed; {none: dimension} for what has no such thing, '
  '{none: "former_member"} for who has left.';

create type app.spending_group as (
  key_1 text,
  key_2 text,
  spelling_1 text,
  spelling_2 text,
  minor numeric,
  count bigint,
  upcoming_minor numeric,
  earlier_minor numeric,
  earlier_count bigint,
  -- The same without what other tags of the same payment count already.
  once_minor numeric,
  once_count bigint,
  once_upcoming_minor numeric,
  once_earlier_minor numeric
);
comment on type app.spending_group is
  'Sums of one group in minor units of the target currency; earlier ones are of the period compared with, upcoming '
  'ones are part of minor.';

create type app.spending as (
  groups app.spending_group[],
  unconverted jsonb,
  is_partial boolean,
  sources text[],
  as_of date,
  pending_since date
);
comment on type app.spending is
  'All groups of a question, what could not be converted, whether that is so in any period, and by which rates the '
  'rest was, and since when values are not final.';

-- schemas/expenses/sum_spending.sql

-- Planned for the values at hand; its tables are in memory as far as they are asked for, and its rates and groups
-- always fit a hash.
create or replace function app.sum_spending(
  context app.context, filter app.expense_filter, earlier app.period, expected jsonb, dimensions text[], target text
) returns app.spending
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_custom_plan set random_page_cost = 1.1 set enable_mergejoin = off set enable_sort
    = off as $$
declare
  is_tagged constant boolean := 'tag' = any (dimensions);
  -- Values are kept in the base currency alone.
  is_base constant boolean := target = context.base_currency;
  earlier_filter app.expense_filter := filter;
  spending app.spending;
begin
  earlier_filter.from_on := earlier.from_on;
  earlier_filter.to_on := earlier.to_on;
  with payments as not materialized (
    select 'current' as part, p.paid_on as on_day, p.paid_on as rate_on, p.currency,
      case p.direction when 'out' then 1 else -1 end as sign, p.amount_minor,
      -- The charge counts for the amount wherever a rate is needed.
      case when p.currency = target then p.amount_minor when is_base then p.base_minor
        when p.charged_currency = target then p.charged_minor end as value_minor,
      case when not is_base and p.currency <> target and p.charged_currency is distinct from target
        then coalesce(p.charged_currency, p.currency) end as rated_currency,
      case when not is_base then coalesce(p.charged_minor, p.amount_minor) end as rated_minor,
      case when is_base then p.fx_source end as fx_source, case when is_base then p.fx_rate_on end as fx_rate_on,
      is_base and not p.is_final and p.base_minor is not null as is_pending,
      p.category_id, coalesce(p.payee, p.name) as payee, case when is_tagged then p.tags end as tags,
      p.paid_by as member_id
    from app.find_payments(filter) as p
    union all
    select 'earlier', (p.paid_on + earlier.shift)::date, p.paid_on, p.currency,
      case p.direction when 'out' then 1 else -1 end, p.amount_minor,
      case when p.currency = target then p.amount_minor when is_base then p.base_minor
        when p.charged_currency = target then p.charged_minor end,
      case when not is_base and p.currency <> target and p.charged_currency is distinct from target
        then coalesce(p.charged_currency, p.currency) end,
      case when not is_base then coalesce(p.charged_minor, p.amount_minor) end,
      case when is_base then p.fx_source end, case when is_base then p.fx_rate_on end,
      is_base and not p.is_final and p.base_minor is not null,
      p.category_id, coalesce(p.payee, p.name), case when is_tagged then p.tags end, p.paid_by
    from app.find_payments(earlier_filter) as p
    where earlier.from_on is not null
    union all
    -- What is still to come has no rate yet; today's is the nearest.
    select 'upcoming', x.due_on, least(x.due_on, context.today), x.currency, 1, x.expected_minor,
      case when x.currency = target then x.expected_minor end, case when x.currency <> target then x.currency end,
      x.expected_minor, null, null, false,
      e.category_id, coalesce(e.payee, e.name), case when is_tagged then e.tags end, e.created_by
    from jsonb_to_recordset(expected) as x (expense_id text, due_on date, expected_minor bigint, currency text)
    join app.expenses as e on e.id = x.expense_id
    where expected is not null and x.expected_minor is not null
      and (filter.currency is null or x.currency = filter.currency)
      and (filter.member_id is null or e.created_by = filter.member_id)
      and app.is_amount_within(filter, x.expected_minor, x.currency, (app.value_in_base(
        filter.amount_currency, x.expected_minor, x.currency, least(x.due_on, context.today)
      )).base_minor, filter.amount_currency)
      and app.matches_filter(filter, e.category_id, e.tags, e.match_key, e.name, e.payee, e.note, null)
  ),
  -- One of the two halves is nothing, as the planner sees.
  moves as (
    select p.*, null as tag, true as is_first from payments as p where not is_tagged
    union all
    select p.*, t.tag, coalesce(t.position, 1) = 1 from payments as p
      left join lateral unnest(p.tags) with ordinality as t (tag, position) on true where is_tagged
  ),
  -- What has a value needs no rate; of what has none, each amount is kept, since each is rounded by itself.
  cells as materialized (
    select c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rated_currency, c.rate_on, c.fx_source,
      min(c.spelling_1 collate "C") as spelling_1, min(c.spelling_2 collate "C") as spelling_2,
      sum(c.sign * c.amount_minor) as net_minor, count(*) as count,
      sum(c.sign * c.value_minor) as value_minor, count(c.value_minor) as value_count,
      max(c.fx_rate_on) as fx_rate_on, min(c.pending_on) as pending_since,
      array_agg(c.sign * c.rated_minor) filter (where c.rated_currency is not null) as rated_amounts,
      coalesce(sum(c.sign * c.amount_minor) filter (where c.value_minor is null), 0) as valueless_minor
    from (
      select m.part, m.is_first, m.currency, case when m.is_pending then m.rate_on end as pending_on,
        app.group_key(dimensions[1], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id) as key_1,
        app.group_key(dimensions[2], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id) as key_2,
        case dimensions[1] when 'payee' then m.payee when 'tag' then m.tag end as spelling_1,
        case dimensions[2] when 'payee' then m.payee when 'tag' then m.tag end as spelling_2,
        case when m.rated_currency is not null then m.rate_on end as rate_on,
        m.rated_currency, m.rated_minor, m.sign, m.amount_minor, m.value_minor, m.fx_source, m.fx_rate_on
      from moves as m
    ) as c
    group by c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rated_currency, c.rate_on, c.fx_source
  ),
  rated_days as materialized (
    select c.rated_currency, c.rate_on, bool_or(c.part <> 'upcoming') as is_paid
    from cells as c
    where c.rated_currency is not null
    group by c.rated_currency, c.rate_on
  ),
  rates as materialized (
    select d.rated_currency, d.rate_on, t.per_euro * 10::numeric ^ into_currency.exponent as numerator,
      f.per_euro * 10::numeric ^ c.exponent as denominator,
      least(f.rate_on, t.rate_on) as as_of, array[f.source, t.source] as sources,
      d.is_paid and least(f.rate_on, t.rate_on) < d.rate_on
        and not exists (select from app.fx_days as s where s.day = d.rate_on and s.settled_at is not null) as is_pending
    from rated_days as d
    join app.currencies as c on c.code = d.rated_currency
    join app.currencies as into_currency on into_currency.code = target
    cross join lateral app.rates_as_of(d.rated_currency, d.rate_on) as f
    cross join lateral app.rates_as_of(target, d.rate_on) as t
  ),
  valued as materialized (
    select c.*, r.numerator, r.denominator,
      case when r.numerator is not null then c.count else c.value_count end as valued_count
    from cells as c
    left join rates as r on r.rated_currency = c.rated_currency and r.rate_on = c.rate_on
  ),
  unconverted as (
    select v.currency, sum(v.valueless_minor) as minor, sum(v.count - v.valued_count) as count
    from valued as v
    where v.part <> 'earlier' and v.is_first and v.valued_count < v.count
    group by v.currency
  ),
  sums as (
    select v.key_1, v.key_2, v.part, v.is_first, v.spelling_1, v.spelling_2,
      -- Without a rate there is no value, in the sum and in its count.
      case when v.rated_currency is null then v.value_minor else (
        select sum(sign(n.minor) * app.scale_minor(abs(n.minor), v.numerator, v.denominator))
        from unnest(v.rated_amounts) as n (minor)
      ) end as minor,
      v.valued_count as count
    from valued as v
  ),
  groups as (
    select s.key_1, s.key_2, min(s.spelling_1 collate "C") as spelling_1, min(s.spelling_2 collate "C") as spelling_2,
      coalesce(sum(s.minor) filter (where s.part <> 'earlier'), 0) as minor,
      coalesce(sum(s.count) filter (where s.part <> 'earlier'), 0) as count,
      sum(s.minor) filter (where s.part = 'upcoming') as upcoming_minor,
      coalesce(sum(s.minor) filter (where s.part = 'earlier'), 0) as earlier_minor,
      coalesce(sum(s.count) filter (where s.part = 'earlier'), 0) as earlier_count,
      coalesce(sum(s.minor) filter (where s.part <> 'earlier' and s.is_first), 0) as once_minor,
      coalesce(sum(s.count) filter (where s.part <> 'earlier' and s.is_first), 0) as once_count,
      sum(s.minor) filter (where s.part = 'upcoming' and s.is_first) as once_upcoming_minor,
      coalesce(sum(s.minor) filter (where s.part = 'earlier' and s.is_first), 0) as once_earlier_minor
    from sums as s
    group by s.key_1, s.key_2
  )
  select
    array(select g::app.spending_group from groups as g where g.count > 0 or g.earlier_count > 0),
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'currency', u.currency, 'amount', app.format_minor(u.minor, c.exponent), 'count', u.count
      ) order by u.currency), '[]')
      from unconverted as u join app.currencies as c on c.code = u.currency
    ),
    exists (select from valued as v where v.valued_count < v.count),
    array(
      select distinct s.name
      from (
        select unnest(r.sources) as name from rates as r
        union all
        select unnest(string_to_array(c.fx_source, '+')) from cells as c
      ) as s
      where s.name is not null order by s.name
    ),
    greatest((select max(r.as_of) from rates as r), (select max(c.fx_rate_on) from cells as c)),
    least(
      (select min(c.pending_since) from cells as c), (select min(r.rate_on) from rates as r where r.is_pending)
    )
  into spending;
  return spending;
end
$$;
comment on function app.sum_spending is
  'Sums by up to two dimensions of what each payment is worth in the target currency; expected are rows of '
  'app.expected_in_period, or null.';

-- schemas/expenses/rank_spending.sql

create or replace function app.rank_spending(spending app.spending, dimensions text[], top int, target text,
  is_compared boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  times constant text[] := array['month', 'week', 'day'];
  is_time_1 constant boolean := dimensions[1] = any (times);
  is_time_2 constant boolean := coalesce(dimensions[2] = any (times), false);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  rest constant jsonb := '{"none": "rest"}';
begin
  return (
    with named as (
      select g.*, app.group_label(dimensions[1], g.key_1, g.spelling_1) as name_1,
        case when dimensions[2] is not null then app.group_label(dimensions[2], g.key_2, g.spelling_2) end as name_2
      from unnest(spending.groups) as g
    ),
    heads as (
      -- What competes for a place: everything but time, whose groups are a sequence and are never folded.
      select n.*,
        concat_ws(E'\n', case when not is_time_1 then n.name_1 #>> '{}' end,
        case when not is_time_2 then n.name_2 #>> '{}' end) collate "C" as head
      from named as n
    ),
    placed as (
      select p.*, dense_rank() over (order by p.head_minor desc, p.head) > top as is_rest
      from (select h.*, sum(h.minor) over (partition by h.head) as head_minor from heads as h) as p
    ),
    folded as (
      select p.is_rest, f.name_1, f.name_2,
        max(p.head_minor) filter (where not p.is_rest) as head_minor, min(p.head) filter (where not p.is_rest) as head,
        sum(p.minor) as minor, sum(p.count) as count, sum(p.upcoming_minor) as upcoming_minor,
        sum(p.earlier_minor) as earlier_minor
      from placed as p
      cross join lateral (
        select case when p.is_rest and not is_time_1 then null else p.name_1 end as name_1,
          case when p.is_rest and not is_time_2 then null else p.name_2 end as name_2
      ) as f
      group by p.is_rest, f.name_1, f.name_2
    ),
    ordered as (
      select f.*, row_number() over (order by
        case when is_time_1 then f.name_1 #>> '{}' end, f.is_rest,
        case when not is_time_1 then f.head_minor end desc, case when not is_time_1 then f.head end,
        case when is_time_2 then f.name_2 #>> '{}' end, f.minor desc, f.head
      ) as place
      from folded as f
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'group', case
        when s.name_1 is null and s.name_2 is null then jsonb_build_array(rest)
        when cardinality(dimensions) = 1 then jsonb_build_array(s.name_1)
        else jsonb_build_array(coalesce(s.name_1, rest), coalesce(s.name_2, rest))
      end,
      'amount', app.format_minor(s.minor, exponent),
      'count', s.count,
      'upcoming', app.format_minor(s.upcoming_minor, exponent),
      'previous', case when is_compared then app.format_minor(s.earlier_minor, exponent) end,
      'change_percent',
      case when is_compared then round((s.minor - s.earlier_minor) * 100 / nullif(abs(s.earlier_minor), 0), 1) end
    ) order by s.place), '[]')
    from ordered as s
  );
end
$$;
comment on function app.rank_spending is
  'Rows of summarize_spending: the largest groups, the rest as one ({none: "rest"}), periods of time in their order.';

-- schemas/expenses/summarize_spending.sql

create or replace function app.warn_of_unsettled(context app.context, filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  warnings jsonb := '[]';
  estimates jsonb;
  awaited text[];
begin
  select jsonb_build_object('count', sum(s.count), 'totals_by_currency',
    jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))) into estimates
  from (
    select p.currency, count(*) as count, sum(p.amount_minor) as minor
    -- Few, and found by an index of their own.
    from (
      select p.* from app.payments as p
      where p.organization_id = context.organization_id and p.is_estimate and p.deleted_at is null
        and p.paid_on between filter.from_on and filter.to_on
      offset 0
    ) as p
    join app.expenses as e on e.id = p.expense_id
    where (filter.currency is null or p.currency = filter.currency)
      and (filter.member_id is null or p.paid_by = filter.member_id)
      and app.is_amount_within(filter, p.amount_minor, p.currency, p.base_minor, p.base_currency)
      and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note)
    group by p.currency
  ) as s
  where coalesce(filter.kind, 'bill_payment') = 'bill_payment';
  if (estimates ->> 'count')::int > 0 then
    warnings := warnings || app.warning('amount_estimated', estimates);
  end if;
  select array_agg(distinct e.name) into awaited
  from app.expenses as e
  cross join lateral app.usual_amount(e.id, e.amount_minor) as usual
  cross join lateral app.awaited_dates(e.id, e.autopay, e.next_due, usual.minor, context.today) as a
  where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active'
    and e.deleted_at is null and e.autopay and e.amount_mode = 'variable'
    and coalesce(filter.kind, 'bill_payment') = 'bill_payment'
    and num_nonnulls(filter.member_id, filter.min_minor, filter.max_minor) = 0
    and (filter.currency is null or e.currency = filter.currency)
    and app.matches_filter(filter, e.category_id, e.tags, e.match_key, e.name, e.payee, e.note, null)
    and exists (select from unnest(a.dates) as day where day between filter.from_on and filter.to_on);
  if awaited is not null then
    warnings := warnings || app.warning('amount_awaited', jsonb_build_object('names', awaited));
  end if;
  return warnings;
end
$$;
comment on function app.warn_of_unsettled is
  'What a total of a period says of amounts that will change: automatic payments recorded with an estimate, and those '
  'that wait for an amount and are not in it.';

create or replace function app.summarize_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  -- With what is still to come a period is whole, and compared with a whole one.
  earlier constant app.period :=
    case when (arguments ->> 'include_upcoming')::boolean then app.earlier_period(period, arguments ->> 'compare')
    else app.compared_period(period, arguments ->> 'compare', context.today) end;
  is_compared constant boolean := earlier.from_on is not null;
  books_begin constant date := case when is_compared then app.books_begin(period, earlier) end;
  -- Only then do a budget and the rows speak of the same spending.
  is_about_categories constant boolean := filter.tags = '{}' and num_nonnulls(
    filter.query, filter.payee, filter.member_id, filter.not_category_ids, filter.min_minor, filter.max_minor,
    filter.currency, filter.kind, filter.reimbursement
  ) = 0;
  dimensions constant text[] := array(
    select d.value
      from jsonb_array_elements_text(coalesce(arguments -> 'group_by', '["category"]')) with ordinality as d
    group by d.value order by min(d.ordinality)
  );
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  expected jsonb;
  unknown_amounts text[];
  spending app.spending;
  rows jsonb;
  warnings jsonb := '[]';
  total jsonb;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  if (arguments ->> 'include_upcoming')::boolean and coalesce(filter.kind, 'bill_payment') = 'bill_payment'
    and coalesce(filter.reimbursement, 'none') = 'none' then
    select jsonb_agg(to_jsonb(x)) into expected from app.expected_in_period(context, period.from_on, period.to_on) as x;
    select array_agg(distinct e.name) into unknown_amounts
    from jsonb_to_recordset(expected) as x (expense_id text, expected_minor bigint)
    join app.expenses as e on e.id = x.expense_id
    where x.expected_minor is null;
  end if;
  spending := app.sum_spending(context, filter, earlier, expected, dimensions, target);
  rows := app.rank_spending(spending, dimensions, coalesce((arguments ->> 'top')::int, 20), target, is_compared);
  if jsonb_array_length(rows) > 1000 then
    perform app.fail('invalid_argument.too_many_rows', jsonb_build_object('count', jsonb_array_length(rows)),
      'group_by');
  end if;

  if books_begin is not null then
    rows :=
      (select coalesce(jsonb_agg(r.value - 'change_percent' order by r.ordinality), '[]')
      from jsonb_array_elements(rows) with ordinality as r);
    warnings := warnings || app.warning(
      'books_begin', jsonb_build_object('on', books_begin, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  elsif is_compared and period.to_on > context.today
    and not coalesce((arguments ->> 'include_upcoming')::boolean, false) then
    warnings := warnings || app.warning(
      'period_running', jsonb_build_object('until', period.to_on, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  end if;

  select jsonb_build_object(
    'amount', app.format_minor(coalesce(sum(g.once_minor), 0), exponent), 'currency', target, 'count',
    coalesce(sum(g.once_count), 0),
    'upcoming', app.format_minor(sum(g.once_upcoming_minor), exponent),
    'previous', case when is_compared then app.format_minor(coalesce(sum(g.once_earlier_minor), 0), exponent) end,
    'change_percent', case when is_compared and books_begin is null then
      round((sum(g.once_minor) - sum(g.once_earlier_minor)) * 100 / nullif(abs(sum(g.once_earlier_minor)), 0), 1)
    end
  ) into total
  from unnest(spending.groups) as g;
  if 'tag' = any (dimensions) and exists (select from unnest(spending.groups) as g where g.count > g.once_count) then
    warnings := warnings || app.warning('tags_overlap');
  end if;
  if spending.is_partial then
    warnings := warnings || app.warning('rate_missing.of_payments', jsonb_build_object('into', target));
  end if;
  if unknown_amounts is not null then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', unknown_amounts));
  end if;

  warnings := warnings || app.warn_of_unsettled(context, filter)
    || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
    || app.warn_of_unvalued(filter)
    || case when is_compared and books_begin is null then app.warn_of_borders(filter, period, earlier) else '[]' end;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on) || case when is_compared then
        jsonb_build_object('previous', jsonb_build_object('from', earlier.from_on, 'to', earlier.to_on)) else '{}' end,
      'rows', rows,
      'total', total,
      'budgets', case when is_about_categories then
        app.describe_budgets(context, greatest(period.from_on, least(context.today, period.to_on)), filter.category_ids)
      end,
      'fx', jsonb_build_object(
        'sources', spending.sources, 'as_of', spending.as_of
      ),
      'unconverted', spending.unconverted
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.summarize_spending is
  'Tool summarize_spending: data {period, rows, total, budgets?, fx, unconverted}.';

-- schemas/expenses/choose_records.sql

-- Which records update_expenses and delete_records are about, and what has to be said back before many are touched.

create or replace function app.find_records(context app.context, arguments jsonb) returns text[]
language plpgsql volatile set search_path = '' as $$
declare
  filter app.expense_filter;
  max_found constant int := 500;
  found_ids text[];
begin
  if (arguments ? 'ids') = (arguments ? 'filter') or arguments -> 'filter' = '{}' then
    perform app.fail('invalid_argument.ids_or_filter', field => 'ids');
  end if;
  if arguments ? 'ids' then
    return array(select jsonb_array_elements_text(arguments -> 'ids'));
  end if;
  filter := app.parse_expense_filter(context, arguments -> 'filter');
  -- Found, held still and found again: what changed meanwhile may be meant no more.
  for turn in 1..2 loop
    -- What was paid for a bill is as the bill says.
    found_ids := array(
      select p.expense_id from app.find_payments(filter) as p where not starts_with(p.expense_id, 'bill_')
      order by p.paid_on desc, p.recorded_seq desc limit max_found + 1
    );
    perform from app.expenses as e where e.id = any (found_ids) order by e.id for update;
  end loop;
  if found_ids = '{}' then
    perform app.fail('not_found.by_filter', field => 'filter');
  end if;
  if cardinality(found_ids) > max_found then
    perform app.fail('invalid_argument.too_many_records', jsonb_build_object('most', max_found), 'filter');
  end if;
  return found_ids;
end
$$;
comment on function app.find_records is
  'Ids of the records to change: those that are named, or the one-off expenses that a filter of list_expenses lets '
  'through, latest first and locked.';

create or replace function app.weigh_records(context app.context, ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      -- A bill goes with its payments, each of which is a record; an expense and its payment are one.
      'count', case when starts_with(ids[1], 'bill_') then 1 + count(*) else cardinality(ids) end,
      'minor', coalesce(sum(p.minor), 0),
      'unknown', array_agg(distinct p.currency) filter (where p.minor is null)
    )
    from (
      select p.currency, p.base_minor as minor
      from app.payments as p
      where p.expense_id = any (ids) and p.deleted_at is null
    ) as p
  );
end
$$;
comment on function app.weigh_records is
  'What goes with records: {count, minor, unknown}: how many, their payments'' worth in the base currency whatever '
  'their direction, and the currencies whose worth is not known.';

create or replace function app.confirm_records(context app.context, arguments jsonb, ids text[], action text)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_count constant int := 20;
  max_total constant int := 1000;
  weight constant jsonb := app.weigh_records(context, ids);
  total constant text := app.format_amount((weight ->> 'minor')::numeric, context.base_currency);
  wanted constant jsonb := jsonb_build_object('count', weight -> 'count', 'total', total);
begin
  if not arguments ? 'filter' and (action = 'update' or (
    (weight ->> 'count')::int <= max_count and total::numeric <= max_total and weight ->> 'unknown' is null
  )) then
    return null;
  end if;
  if coalesce((arguments ->> 'dry_run')::boolean, false) or (
    (arguments #>> '{confirm,count}')::int = (weight ->> 'count')::int
    and (arguments #>> '{confirm,total}')::numeric = total::numeric
  ) then
    return wanted;
  end if;
  perform app.fail('confirmation_required', jsonb_build_object(
    'action', action, 'count', weight -> 'count', 'amount', total, 'currency', context.base_currency,
    'unknown', weight -> 'unknown',
    'details', jsonb_build_object('confirm', wanted, 'currency', context.base_currency)
  ), 'confirm');
end
$$;
comment on function app.confirm_records is
  'What has to be said back before records that a filter found are changed (action update or delete), or before many '
  'or much is deleted, {count, total}; else null. Ends the tool with confirmation_required when it was not said, or '
  'differently.';

create or replace function app.warn_of_unfound(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when arguments ? 'filter'
    then app.warn_of_unvalued(app.parse_expense_filter(context, arguments -> 'filter')) else '[]' end;
end
$$;
comment on function app.warn_of_unfound is 'Warnings of what a filter that found records could not judge.';

create or replace function app.first_few(rows jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  max_shown constant int := 10;
  few_shown constant int := 3;
begin
  return case when jsonb_array_length(rows) <= max_shown then rows
    else jsonb_path_query_array(rows, '$[0 to $n]', jsonb_build_object('n', few_shown - 1)) end;
end
$$;
comment on function app.first_few is
  'Of many changed records, the first few show what was done; all of them would fill the conversation.';

-- schemas/expenses/merge_expenses.sql

-- Two records that are one, such as what was said and the bank's row of the next day: one stays with its amount and
-- date, and takes what it lacks; the other goes, and is still recognized when it is logged or imported again.

create or replace function app.read_kept(payment_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'name', e.name, 'amount', app.format_amount(p.amount_minor, p.currency), 'currency', p.currency,
      'charged', case when p.charged_minor is not null then jsonb_build_object(
        'amount', app.format_amount(p.charged_minor, p.charged_currency), 'currency', p.charged_currency
      ) end,
      'tax', app.format_amount(p.tax_minor, p.currency), 'tax_percent', trim_scale(p.tax_percent),
      'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
      'date', p.paid_on, 'category', c.name, 'tags', nullif(e.tags, '{}'),
      'note', case e.kind when 'bill' then p.note else e.note end, 'url', e.url
    ))
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    left join app.categories as c on c.id = e.category_id
    where p.id = payment_id
  );
end
$$;
comment on function app.read_kept is 'What a merge can change of the record that stays.';

create or replace function app.find_kept(context app.context, arguments jsonb, ids text[]) returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := arguments ->> 'merge_into';
  kept app.payments;
  other text;
begin
  if ids = '{}' or arguments - array['ids', 'merge_into', 'dry_run'] <> '{}' then
    perform app.fail('invalid_argument.merge_alone', field => 'merge_into');
  end if;
  select * into kept from app.payments as p
  where (p.id = wanted or p.expense_id = wanted and starts_with(wanted, 'exp_')) and p.deleted_at is null;
  if wanted = any (ids) or kept.expense_id = any (ids) then
    perform app.fail('invalid_argument.merge_into_itself', field => 'merge_into');
  end if;
  perform app.require_records(context, ids || coalesce(kept.expense_id, wanted));
  select e.name into other from app.payments as p join app.expenses as e on e.id = p.expense_id
  where p.expense_id = any (ids) and p.deleted_at is null and p.direction <> kept.direction;
  if found then
    perform app.fail('invalid_argument.merge_refund', jsonb_build_object('name', other), 'merge_into');
  end if;
  select e.name into other from app.payments as p join app.expenses as e on e.id = p.expense_id
  where p.expense_id = any (ids) and p.deleted_at is null and p.split_id is not null;
  if found then
    perform app.fail('invalid_argument.merge_part', jsonb_build_object('name', other), 'ids');
  end if;
  select * into kept from app.payments as p where p.id = kept.id for update;
  return kept;
end
$$;
comment on function app.find_kept is
  'The payment that stays: of a one-off expense, or for a bill. Locks what is merged; ends the tool when it is not '
  'there or cannot be one with the others.';

create or replace function app.take_over(context app.context, kept app.payments, gone app.payments) returns void
language plpgsql volatile set search_path = '' as $$
declare
  source app.expenses;
begin
  select * into source from app.expenses as e where e.id = gone.expense_id;
  update app.expenses as e
  set note = coalesce(e.note, source.note), url = coalesce(e.url, source.url),
    category_id = coalesce(e.category_id, source.category_id),
    tags = app.clean_tags(to_jsonb(e.tags) || to_jsonb(source.tags), 'merge_into')
  where e.id = kept.expense_id and e.kind = 'one_off';
  update app.payments as p set note = coalesce(p.note, source.note)
  from app.expenses as e
  where p.id = kept.id and e.id = p.expense_id and e.kind = 'bill';
  -- The same money in another currency is what the bank took for it.
  update app.payments as p
  set charged_minor = case when gone.currency <> p.currency then gone.amount_minor else gone.charged_minor end,
    charged_currency = case when gone.currency <> p.currency then gone.currency else gone.charged_currency end
  -- Of a part of a split only the whole was charged.
  where p.id = kept.id and p.charged_minor is null and p.split_id is null and p.currency <> context.base_currency
    and (gone.currency <> p.currency or gone.charged_minor is not null);
  update app.payments as p
  set reimbursement = gone.reimbursement, reimbursed_by = gone.reimbursed_by, reimbursed_on = gone.reimbursed_on
  where p.id = kept.id and p.occurrence_id is null and p.reimbursement is null and gone.reimbursement is not null;
  update app.payments as p set tax_minor = gone.tax_minor, tax_percent = gone.tax_percent
  where p.id = kept.id and p.occurrence_id is null and p.tax_minor is null and gone.tax_minor is not null
    and (p.amount_minor, p.currency) = (gone.amount_minor, gone.currency);
  update app.payments as p set merged_into = kept.id where p.merged_into = gone.id;
  update app.payments as p set merged_into = kept.id, deleted_at = context.at where p.id = gone.id;
  update app.expenses as e set deleted_at = context.at where e.id = gone.expense_id;
end
$$;
comment on function app.take_over is
  'Merges one payment into another: what the other lacks, and what was merged into the one before.';

create or replace function app.merge_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(coalesce(arguments -> 'ids', '[]')));
  kept constant app.payments := app.find_kept(context, arguments, ids);
  before constant jsonb := app.read_kept(kept.id);
  gone app.payments[] := array(
    select p from app.payments as p where p.expense_id = any (ids) and p.deleted_at is null
    order by array_position(ids, p.expense_id)
  );
  one app.payments;
  merged jsonb := '[]';
  after jsonb;
begin
  foreach one in array gone loop
    merged := merged || (jsonb_build_object('id', one.expense_id) || app.read_kept(one.id));
    perform app.take_over(context, kept, one);
  end loop;
  after := app.read_kept(kept.id);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'updated', jsonb_build_array(jsonb_build_object(
        'id', app.shown_id(kept.id),
        'before', (select coalesce(jsonb_object_agg(f.key, f.value), '{}') from jsonb_each(before) as f
          where f.value is distinct from after -> f.key),
        'after', (select coalesce(jsonb_object_agg(f.key, f.value), '{}') from jsonb_each(after) as f
          where f.value is distinct from before -> f.key),
        'version', (
          select e.version + p.version - 1 from app.expenses as e join app.payments as p on p.expense_id = e.id
            where p.id = kept.id
        )
      )),
      'count', jsonb_array_length(merged), 'merged', merged
    ),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(merged), 'names', jsonb_path_query_array(merged, '$[0 to 3].name'),
      'into', after -> 'name'
    )
  );
end
$$;
comment on function app.merge_expenses is
  'Tool update_expenses with merge_into: data {updated, count, merged}: the record that stays, and those that went as '
  'they were.';

-- schemas/expenses/change_expenses.sql

-- update_expenses and delete_records: change what is in the books. All that is named or nothing; what was changed since
-- it was shown stays.

create or replace function app.read_expenses(ids text[]) returns table (id text, name text, fields jsonb, version int)
language sql stable
begin atomic
  select e.id, e.name, jsonb_strip_nulls(jsonb_build_object(
    'name', e.name, 'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
    'charged', case when p.charged_minor is not null then jsonb_build_object(
      'amount', app.format_minor(p.charged_minor, taken.exponent), 'currency', p.charged_currency
    ) end,
    'date', p.paid_on, 'payee', e.payee,
    'category', category.name, 'tags', nullif(e.tags, '{}'), 'note', e.note, 'url', e.url,
    'is_refund', case when p.direction = 'refund' then true end, 'tax', app.format_minor(p.tax_minor, c.exponent),
    'tax_percent', trim_scale(p.tax_percent), 'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by,
    'reimbursed_on', p.reimbursed_on, 'split_id', p.split_id
  )), e.version + p.version - 1
  from unnest(ids) as wanted (id)
  join app.expenses as e on e.id = wanted.id and e.kind = 'one_off' and e.deleted_at is null
  join app.payments as p on p.expense_id = e.id and p.deleted_at is null
  join app.currencies as c on c.code = p.currency
  left join app.currencies as taken on taken.code = p.charged_currency
  left join app.categories as category on category.id = e.category_id;
end;
comment on function app.read_expenses is 'One-off expenses as list_expenses shows them, and their versions.';

create or replace function app.require_records(context app.context, ids text[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  missing text[];
  deleted text[];
begin
  -- Jobs write beside the tools: what is about to change holds still from here on.
  perform from app.expenses as e where e.id = any (ids) order by e.id for update;
  missing := array(
    select wanted.id
    from unnest(ids) with ordinality as wanted (id, place)
    where not exists (select from app.expenses as e where e.id = wanted.id and e.deleted_at is null)
    order by wanted.place
  );
  if missing = '{}' then
    return;
  end if;
  deleted :=
    array(select e.name from app.expenses as e where e.id = any (missing) order by array_position(missing, e.id));
  perform app.fail('not_found.records', jsonb_build_object(
    'missing', missing, 'asked', cardinality(ids), 'deleted', deleted, 'organization', context.organization_name,
    'details', jsonb_build_object('ids', missing)
  ), 'ids');
end
$$;
comment on function app.require_records is
  'Locks expenses and bills by id; ends the tool with not_found when one is not there.';

create or replace function app.check_update(arguments jsonb, ids text[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
begin
  if changes = '{}' and app.clean_tags(arguments -> 'add_tags', 'add_tags') = '{}'
    and app.clean_tags(arguments -> 'remove_tags', 'remove_tags') = '{}' then
    perform app.fail('invalid_argument.nothing_to_change', field => 'set');
  end if;
  if changes ? 'name' and app.clean_text(changes ->> 'name') is null then
    perform app.fail('invalid_argument.expense_without_name', field => 'set.name');
  end if;
  if cardinality(ids) > 1 and changes - array[
    'category', 'payee', 'note', 'url', 'tags', 'reimbursement', 'reimbursed_by', 'reimbursed_on'
  ] <> '{}' then
    perform app.fail('invalid_argument.one_at_a_time', field => 'set');
  end if;
  if cardinality(ids) > 1 and arguments ? 'expected_version' then
    perform app.fail('invalid_argument.version_of_several', field => 'expected_version');
  end if;
end
$$;
comment on function app.check_update is 'What the contract of update_expenses says in words.';

create or replace function app.change_payment(context app.context, payment app.payments, changes jsonb)
  returns app.payments
language plpgsql stable set search_path = '' as $$
declare
  old constant app.payments := payment;
begin
  -- A new currency without a new amount: the same figures, where that currency has as many decimals.
  payment.amount_minor := app.parse_amount(
    coalesce(changes ->> 'amount', app.format_amount(payment.amount_minor, payment.currency)),
    coalesce(changes ->> 'currency', payment.currency),
    'set.amount'
  );
  payment.currency := coalesce(changes ->> 'currency', payment.currency);
  payment.direction := case (changes ->> 'is_refund')::boolean when true then 'refund' when false then 'out'
    else payment.direction end;
  payment.paid_on := coalesce(app.parse_paid_on(context, changes ->> 'date', 'set.date'), payment.paid_on);
  if changes ? 'charged' then
    select c.minor, c.charged_currency into payment.charged_minor, payment.charged_currency
    from app.parse_charged(context, changes -> 'charged', payment.currency, 'set.charged') as c;
  elsif changes ? 'currency' and payment.currency in (payment.charged_currency, context.base_currency) then
    payment.charged_minor := null;
    payment.charged_currency := null;
  end if;
  if changes ?| array['tax', 'tax_percent'] then
    select t.minor, t.rate into payment.tax_minor, payment.tax_percent
    from app.parse_tax(changes, payment.amount_minor, payment.currency, 'set') as t;
  elsif payment.tax_minor is not null
    and (payment.amount_minor, payment.currency) <> (old.amount_minor, old.currency) then
    -- A rate stays what it was; a tax without one stays the same figures.
    select t.minor, t.rate into payment.tax_minor, payment.tax_percent
    from app.parse_tax(
      case when payment.tax_percent is not null then jsonb_build_object('tax_percent', payment.tax_percent)
        else jsonb_build_object('tax', app.format_amount(payment.tax_minor, old.currency)) end,
      payment.amount_minor, payment.currency, 'set'
    ) as t;
  end if;
  select r.* into payment.reimbursement, payment.reimbursed_by, payment.reimbursed_on
  from app.parse_reimbursement(
    context, changes, 'set', payment.reimbursement, payment.reimbursed_by, payment.reimbursed_on
  ) as r;
  return payment;
end
$$;
comment on function app.change_payment is
  'The payment of a one-off expense with the amount, currency, date, direction, charge, tax and reimbursement that are '
  'to change.';

create or replace function app.update_payments(context app.context, ids text[], changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  changed app.payments;
begin
  for payment in
    select p.* from app.payments as p where p.expense_id = any (ids) and p.deleted_at is null order by p.id for update
  loop
    if payment.split_id is not null and changes ?| array['amount', 'currency', 'date', 'is_refund', 'charged'] then
      perform app.fail('invalid_argument.part_of_split', jsonb_build_object(
        'parts', cardinality(app.find_split(payment.expense_id)),
        'details', jsonb_build_object('split', app.describe_split(app.find_split(payment.expense_id)))
      ), 'set');
    end if;
    changed := app.change_payment(context, payment, changes);
    continue when changed = payment;
    update app.payments as p
    set amount_minor = changed.amount_minor, currency = changed.currency, paid_on = changed.paid_on,
      direction = changed.direction, charged_minor = changed.charged_minor,
      charged_currency = changed.charged_currency, tax_minor = changed.tax_minor, tax_percent = changed.tax_percent,
      reimbursement = changed.reimbursement, reimbursed_by = changed.reimbursed_by,
      reimbursed_on = changed.reimbursed_on
    where p.id = payment.id;
  end loop;
end
$$;
comment on function app.update_payments is
  'Gives the payments of one-off expenses what is to change of them. What all parts of a split have in common changes '
  'with the split.';

create or replace function app.update_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- A merge reads its own.
  asked constant text[] :=
    case when not arguments ? 'merge_into' then app.find_records(context, arguments) end;
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
  is_split constant boolean := changes ? 'split' and cardinality(asked) = 1;
  -- All parts of what was split before are split anew.
  ids constant text[] := case when is_split then coalesce(nullif(app.find_split(asked[1]), '{}'), asked) else asked end;
  removed_tags constant text[] := array(
    select lower(t) from unnest(app.clean_tags(arguments -> 'remove_tags', 'remove_tags')) as t
  );
  confirmed jsonb;
  new_category_id text;
  before jsonb;
  stale record;
  updated jsonb;
  changed text[];
begin
  if arguments ? 'merge_into' then
    return app.merge_expenses(context, arguments);
  end if;
  perform app.check_update(arguments, asked);
  perform app.require_records(context, ids);
  confirmed := app.confirm_records(context, arguments, ids, 'update');
  select b.* into stale from app.read_expenses(asked) as b
    where b.version <> (arguments ->> 'expected_version')::numeric;
  if found then
    perform app.fail('stale_version', jsonb_build_object(
      'name', stale.name, 'version', stale.version,
      'details', jsonb_build_object('id', stale.id, 'version', stale.version, 'current', stale.fields)
    ), 'expected_version');
  end if;
  if changes ? 'category' then
    new_category_id := app.find_category(context, changes ->> 'category', 'set.category');
  end if;

  select jsonb_object_agg(b.id, b.fields) into before from app.read_expenses(ids) as b;
  update app.expenses as e
  set name = coalesce(app.clean_text(changes ->> 'name'), e.name),
    payee = case when changes ? 'payee' then app.clean_text(changes ->> 'payee') else e.payee end,
    category_id = case when changes ? 'category' then new_category_id else e.category_id end,
    note = case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else e.note end,
    url = case when changes ? 'url' then app.parse_url(changes ->> 'url', 'set.url') else e.url end,
    tags = app.clean_tags((
      select coalesce(jsonb_agg(t.value order by t.ordinality), '[]')
      from jsonb_array_elements_text(coalesce(changes -> 'tags', to_jsonb(e.tags))) with ordinality as t
      where lower(app.clean_text(t.value)) <> all (removed_tags)
    ) || coalesce(arguments -> 'add_tags', '[]'), 'add_tags')
  where e.id = any (ids);
  if is_split then
    perform app.split_payment(context, ids, changes);
  elsif changes - array['name', 'category', 'payee', 'note', 'url', 'tags'] <> '{}' then
    perform app.update_payments(context, ids, changes);
  end if;

  select
    jsonb_agg(jsonb_build_object('id', a.id, 'before', old.fields, 'after', new.fields, 'version', a.version)
      order by array_position(ids, a.id)),
    array_agg(a.name order by array_position(ids, a.id)) filter (where old.fields <> new.fields)
  into updated, changed
  from app.read_expenses(ids) as a
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(before -> a.id) as f where f.value is distinct from a.fields -> f.key
  ) as old
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(a.fields) as f where f.value is distinct from before -> a.id -> f.key
  ) as new;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'updated', app.first_few(updated),
      'split', case when is_split then app.describe_split(app.find_split(ids[1])) end,
      'count', coalesce(cardinality(changed), 0),
      'confirm', case when (arguments ->> 'dry_run')::boolean then confirmed end
    ),
    'warnings', app.warn_of_unfound(context, arguments),
    'facts', jsonb_build_object('count', cardinality(changed), 'names', to_jsonb(changed[:4]), 'fields', (
      select jsonb_agg(distinct key)
      from jsonb_array_elements(updated) as u
      cross join jsonb_object_keys((u -> 'before') || (u -> 'after')) as key
    ))
  );
end
$$;
comment on function app.update_expenses is
  'Tool update_expenses: data {updated, split?, count, confirm?, merged?}: the fields that changed, before and after, '
  'of the '
  'first few '
  'where they are many; count is how many changed, confirm what a preview asks to be said back.';

-- schemas/expenses/delete_records.sql

create or replace function app.check_expected(context app.context, ids text[], expected jsonb) returns void
language plpgsql stable set search_path = '' as $$
declare
  stray text;
  mismatches jsonb;
begin
  select x ->> 'id' into stray from jsonb_array_elements(expected) as x where x ->> 'id' <> all (ids);
  if found then
    perform app.fail('invalid_argument.expected_of_another', jsonb_build_object('id', stray), 'expected');
  end if;
  select jsonb_agg(jsonb_build_object(
    'id', e.id, 'name', e.name, 'expected', x - 'id',
    'current', jsonb_build_object('amount', shown.amount, 'currency', shown.currency, 'date', shown.on_day)
  )) into mismatches
  from jsonb_array_elements(expected) as x
  join app.expenses as e on e.id = x ->> 'id'
  left join app.payments as p on p.expense_id = e.id and e.kind = 'one_off' and p.deleted_at is null
  cross join lateral (
    select coalesce(p.currency, e.currency) as currency, coalesce(p.paid_on, e.next_due) as on_day,
      app.format_amount(coalesce(p.amount_minor, e.amount_minor), coalesce(p.currency, e.currency)) as amount
  ) as shown
  where (x ? 'amount' and (x ->> 'amount')::numeric is distinct from shown.amount::numeric)
    or (x ? 'date' and app.parse_date(context, x ->> 'date', 'expected') is distinct from shown.on_day);
  if mismatches is not null then
    perform app.fail('expectation_mismatch.of_record', jsonb_build_object(
      'name', mismatches #> '{0,name}', 'current', mismatches #> '{0,current}',
      'details', jsonb_build_object('mismatches', mismatches)
    ), 'expected');
  end if;
end
$$;
comment on function app.check_expected is
  'Ends the tool with expectation_mismatch when an amount or date differs from what the person was shown; of a bill '
  'that is its amount and next due date.';

create or replace function app.delete_records(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := app.find_records(context, arguments);
  names text[];
  payments jsonb;
  confirmed jsonb;
  warnings jsonb := '[]';
begin
  if cardinality(ids) > 1 and exists (select from unnest(ids) as id where starts_with(id, 'bill_')) then
    perform app.fail('invalid_argument.bill_among_others', field => 'ids');
  end if;
  perform app.require_records(context, ids);
  if starts_with(ids[1], 'bill_') then
    perform app.refresh_bill(ids[1], context.today);
  end if;
  perform app.check_expected(context, ids, coalesce(arguments -> 'expected', '[]'));
  confirmed := app.confirm_records(context, arguments, ids, 'delete');

  if starts_with(ids[1], 'bill_') then
    select
      jsonb_build_object('count', coalesce(sum(s.count), 0), 'totals',
      coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}'))
    into payments
    from (
      select p.currency, count(*) as count,
        sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) as net
      from app.payments as p
      where p.expense_id = ids[1] and p.deleted_at is null
      group by p.currency
    ) as s;
    if payments ->> 'count' <> '0' then
      warnings := warnings || app.warning('payments_deleted', payments);
    end if;
  end if;
  update app.payments as p set deleted_at = context.at where p.expense_id = any (ids) and p.deleted_at is null;
  update app.expenses as e set deleted_at = context.at where e.id = any (ids);
  warnings := warnings || app.warn_of_parts(ids);
  names := array(select e.name from app.expenses as e where e.id = any (ids) order by array_position(ids, e.id));
  return jsonb_build_object(
    'data', jsonb_build_object(
      'deleted', app.first_few((
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', e.id, 'name', e.name, 'payments', payments))
          order by array_position(ids, e.id))
        from app.expenses as e where e.id = any (ids)
      )),
      'count', cardinality(ids),
      'restorable_until', ((context.at + interval '30 days') at time zone context.timezone)::date,
      'confirm', case when (arguments ->> 'dry_run')::boolean then confirmed end
    ),
    'warnings', warnings || app.warn_of_unfound(context, arguments),
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'count', cardinality(names), 'names', to_jsonb(names[:4]), 'reason', app.clean_text(arguments ->> 'reason')
    ))
  );
end
$$;
comment on function app.delete_records is
  'Tool delete_records: data {deleted, count, restorable_until, confirm?}: the first few where they are many; count is '
  'how many, confirm {count, total} what a preview asks to be said back. Payments go with what they paid for, and come '
  'back with it; of a bill their number and totals are told: payments {count, totals}.';

-- schemas/connector/kept_rows.sql

-- Kept rows: what the capture trigger wrote down of a row, compared with the row as it is, and put back. It works for
-- every table that is captured, and for the settings, which are kept as if they were a row of the organization.

create type app.kept_row as (
  table_name text,
  row_id text,
  before jsonb,
  after jsonb,
  current jsonb
);
comment on type app.kept_row is
  'A row as it was before a change, as the change left it, and as it is now; null where it was not or is not there.';

create or replace function app.same_content(kept jsonb, typed jsonb, current jsonb, derived text[]) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  if kept is null or current is null then
    return kept is null and current is null;
  end if;
  return typed - derived = current - derived or not exists (
    select
    from jsonb_object_keys(kept) as key
    where key <> all (derived) and typed -> key is distinct from current -> key
      -- A bill that has run out ends by itself, and lives again when a payment is taken back.
      and not (key = 'status' and array[typed ->> key, current ->> key] <@ array['active', 'ended'])
  );
end
$$;
comment on function app.same_content is
  'Whether a row still says what it said when it was kept; typed is that with the columns that the table has now.';

create or replace function app.compare_rows(table_name text, ids text[], kept jsonb[])
  returns table (row_id text, current jsonb, is_same boolean)
language plpgsql volatile set search_path = '' set enable_nestloop = off as $$
begin
  if table_name = 'settings' then
    return query
      select w.row_id, p.current, p.current @> w.kept
      from unnest(ids, compare_rows.kept) as w (row_id, kept)
      cross join lateral (select app.read_preferences(w.row_id) as current offset 0) as p;
    return;
  end if;
  -- Hashed, not walked: of how many rows it is the planner knows nothing.
  -- Written anew from typed values, so that neither a session's time zone nor a column added since makes a difference.
  return query execute format(
    $query$
      select w.row_id, t.current,
        app.same_content(w.kept, to_jsonb(jsonb_populate_record(null::app.%1$I, w.kept)), t.current, $3)
      from unnest($1, $2) as w (row_id, kept)
      left join (select t.id, to_jsonb(t) as current from app.%1$I as t where t.id = any ($1) for update) as t on t.id
        = w.row_id
    $query$, table_name
  ) using ids, kept, app.derived_columns(table_name);
end
$$;
comment on function app.compare_rows is
  'Rows as they are now, locked, null where one is not there, and whether each still says what it said when it was '
  'kept.';

create or replace function app.write_rows(table_name text, ids text[], wanted jsonb[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  fixed constant text[] := array['id', 'organization_id', 'created_at'] || app.derived_columns(table_name);
  changing text;
  stored text;
  written text[];
begin
  if table_name = 'settings' then
    perform app.write_preferences(w.row_id, w.wanted) from unnest(ids, write_rows.wanted) as w (row_id, wanted);
    return;
  end if;
  select string_agg(format('%I', a.attname), ', ') filter (where a.attidentity = '' and a.attname <> all (fixed)),
    string_agg(format('%I', a.attname), ', ')
  into changing, stored
  from pg_attribute as a
  where a.attrelid = format('app.%I', table_name)::regclass and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '';
  execute format(
    $query$
      with written as (
        update app.%1$I as t set (%2$s) = (select %2$s from jsonb_populate_record(t, w.wanted))
        from unnest($1, $2) as w (row_id, wanted)
        where t.id = w.row_id
        returning t.id
      )
      select array_agg(w.id) from written as w
    $query$, table_name, changing
  ) into written using ids, wanted;
  if coalesce(cardinality(written), 0) < cardinality(ids) then
    execute format(
      $query$
        insert into app.%1$I (%2$s) overriding system value
        select %2$s
        from unnest($1, $2) with ordinality as w (row_id, wanted, place)
        cross join lateral jsonb_populate_record(null::app.%1$I, w.wanted)
        where $3 is null or w.row_id <> all ($3)
        order by w.place
      $query$, table_name, stored
    ) using ids, wanted, written;
  end if;
end
$$;
comment on function app.write_rows is
  'Makes rows say what they said when they were kept: a restore, with ids and versions as they were, of any table. New '
  'expenses are app.write_expenses'' to write.';

create or replace function app.remove_rows(table_name text, ids text[]) returns text[]
language plpgsql volatile set search_path = '' as $$
declare
  removed text[];
begin
  case table_name
    when 'payments' then
      update app.payments as p set deleted_at = app.instant() where p.id = any (ids);
    when 'expenses' then
      update app.expenses as e set deleted_at = app.instant() where e.id = any (ids);
    when 'budgets' then
      update app.budgets as b set deleted_at = app.instant() where b.id = any (ids);
    when 'payee_rules' then
      update app.payee_rules as r set deleted_at = app.instant() where r.id = any (ids);
    when 'categories' then
      with archived as (
        update app.categories as c set archived_at = app.instant()
        where c.id = any (ids)
          and not exists (select from app.expenses as e where e.category_id = c.id and e.deleted_at is null)
        returning c.id
      )
      select array_agg(a.id) into removed from archived as a;
      return coalesce(removed, '{}');
    when 'expense_occurrences' then
      delete from app.expense_occurrences as o
      where o.id = any (ids) and not exists (select from app.payments as p where p.occurrence_id = o.id);
      update app.expense_occurrences as o set status = 'open', closed_at = null where o.id = any (ids);
  end case;
  return ids;
end
$$;
comment on function app.remove_rows is
  'Takes back that rows were made: deleted or archived where there is such a thing, an occurrence with payments '
  'opened. Answers which; a category in use stays.';

-- schemas/connector/describe_reversal.sql

-- undo_change: takes one earlier write back as a whole, from the rows that the capture trigger kept of it. An undo is a
-- change like any other:
-- its rows are kept as well, so that undoing it brings the first change back.

create type app.reversal as (
  id text,
  subject jsonb,
  verb text,
  fields text[]
);
comment on type app.reversal is
  'What taking back a change does to one row: the id and the thing that people know it by, {kind, name?, …}, and what '
  'happens to it, or which columns go back.';

create or replace function app.describe_reversal(table_name text, kept jsonb, wanted jsonb, current jsonb)
  returns app.reversal
language plpgsql stable set search_path = '' as $$
declare
  latest constant jsonb := coalesce(current, kept, wanted);
  is_gone constant boolean := wanted is null or coalesce(wanted ->> 'deleted_at', wanted ->> 'archived_at') is not null;
  was_gone constant boolean := kept is null or coalesce(kept ->> 'deleted_at', kept ->> 'archived_at') is not null;
  reversal app.reversal;
  expense app.expenses;
begin
  select * into expense from app.expenses as e where e.id = latest ->> 'expense_id';
  reversal.id :=
    case when table_name = 'expense_occurrences' or expense.kind = 'one_off' then expense.id else latest ->> 'id' end;
  reversal.subject := case
    when table_name = 'categories' then jsonb_build_object('kind', 'category', 'name', latest -> 'name')
    when table_name = 'payee_rules' then jsonb_build_object('kind', 'payee_rule', 'name', latest -> 'payee')
    when table_name = 'settings' then jsonb_build_object('kind', 'settings')
    when table_name = 'budgets' then jsonb_build_object(
      'kind', 'budget', 'per', latest -> 'per',
      'category', (select c.name from app.categories as c where c.id = latest ->> 'category_id')
    )
    when table_name = 'expense_occurrences' then
      jsonb_build_object('kind', 'date', 'name', expense.name, 'due_on', latest -> 'due_on')
    when expense.kind = 'bill' then jsonb_build_object(
      'kind', 'payment', 'name', expense.name, 'currency', latest -> 'currency',
      'amount', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency')
    )
    else jsonb_build_object('kind', 'expense', 'name', coalesce(expense.name, latest ->> 'name'))
  end;
  reversal.verb := case
    when table_name = 'expense_occurrences' then coalesce(wanted ->> 'status', 'open')
    when is_gone and not was_gone then 'removed'
    when was_gone and not is_gone then 'restored'
  end;
  reversal.fields := array(
    select key
    from jsonb_object_keys(wanted) as key
    where wanted -> key is distinct from kept -> key and key <> all (app.derived_columns(table_name))
  );
  return reversal;
end
$$;
comment on function app.describe_reversal is
  'What becomes of a row that is now current, was kept by the change that goes, and is wanted as it was before.';

create or replace function app.describe_current(current jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if current is null or current ->> 'deleted_at' is not null then
    return '{"deleted":true}';
  end if;
  if current ? 'timezone' then
    return current - '{id,mails}'::text[];
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'name', current ->> 'name', 'amount',
    app.format_amount(coalesce(current ->> 'amount_minor', current ->> 'expected_minor')::numeric,
      current ->> 'currency'),
    'currency', current ->> 'currency', 'date', current ->> 'paid_on', 'due_on',
    coalesce(current ->> 'due_on', current ->> 'next_due'),
    'payee', current ->> 'payee', 'status', current ->> 'status'
  ));
end
$$;
comment on function app.describe_current is 'What stands in the way of an undo, as it is now.';

create or replace function app.change_facts(change app.change_sets) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('tool', change.tool, 'facts', change.facts);
end
$$;
comment on function app.change_facts is 'A change as facts, of which words are made: {tool, facts}.';

-- schemas/connector/find_change_to_undo.sql

create or replace function app.fail_already_undone(target app.change_sets) returns void
language plpgsql stable set search_path = '' as $$
declare
  root app.change_sets := target;
begin
  -- An undo stands for what it undid: undoing the same again would only take it back.
  while root.undoes is not null loop
    select * into root from app.change_sets as s where s.id = root.undoes;
  end loop;
  perform app.fail(
    case when root.undone_by is null then 'already_undone.and_redone' else 'already_undone' end,
    jsonb_build_object(
      'change', app.change_facts(root),
      'details', jsonb_build_object('change_id', root.id, 'undone_by', root.undone_by)
    ), 'change_id'
  );
end
$$;
comment on function app.fail_already_undone is
  'Ends the tool with already_undone, of the change that was undone, and possibly redone.';

create or replace function app.find_latest_change(context app.context) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  max_minutes constant int := 30;
  latest app.change_sets;
begin
  -- Not what was paid or fetched automatically on the way. Undos count: after one of them "undo that" is a repeated
  -- call, and must not go on to what was done before.
  select * into latest from app.change_sets as s where s.id = app.find_own_latest(context.grant_id);
  if not found then
    perform app.fail('not_found.own_change', jsonb_build_object('organization', context.organization_name),
      'change_id');
  elsif latest.undoes is not null then
    perform app.fail_already_undone(latest);
  elsif latest.created_at < context.at - max_minutes * interval '1 minute' and latest.undone_by is null then
    perform app.fail('not_found.recent_change', jsonb_build_object(
      'change', app.change_facts(latest), 'minutes', max_minutes,
      'details', jsonb_build_object('change_id', latest.id)
    ), 'change_id');
  end if;
  return latest;
end
$$;
comment on function app.find_latest_change is
  'What "undo that" means: the latest change of this connection, made within half an hour and no undo.';

create or replace function app.find_change_to_undo(context app.context, change_id text) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  days constant int := extract(day from app.kept_for('change_contents'));
  target app.change_sets;
begin
  if change_id is null then
    target := app.find_latest_change(context);
  else
    select * into target from app.change_sets as s where s.id = find_change_to_undo.change_id;
    if not found then
      perform app.fail(
        'not_found.change', jsonb_build_object('id', change_id, 'organization', context.organization_name), 'change_id'
      );
    end if;
  end if;
  if target.is_emptied then
    perform app.fail('undo_expired.emptied', jsonb_build_object('days', days), 'change_id');
  end if;
  if target.undone_by is not null then
    perform app.fail('already_undone', jsonb_build_object(
      'change', app.change_facts(target),
      'details', jsonb_build_object('change_id', target.id, 'undone_by', target.undone_by)
    ), 'change_id');
  end if;
  if target.created_at < context.at - app.kept_for('change_contents') then
    perform app.fail('undo_expired', jsonb_build_object('change', app.change_facts(target), 'days', days), 'change_id');
  end if;
  return target;
end
$$;
comment on function app.find_change_to_undo is
  'The change that is meant: the one named, else the latest of this connection.';

-- schemas/connector/describe_reversals.sql

create or replace function app.mark_undone(target app.change_sets, undo_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.change_sets as s set undoes = target.id where s.id = undo_id;
  -- When an undo is undone, what it had undone stands again, and so on down the chain.
  loop
    update app.change_sets as s set undone_by = undo_id where s.id = target.id;
    exit when target.undoes is null;
    undo_id := case when undo_id is null then target.id end;
    select * into target from app.change_sets as s where s.id = target.undoes;
  end loop;
end
$$;
comment on function app.mark_undone is
  'Notes that a change no longer stands, and whatever follows from that for the changes it had undone.';

create or replace function app.fail_undo(target app.change_sets, conflicts app.kept_row[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  rows jsonb;
begin
  -- One row for what people see as one thing.
  select jsonb_agg(jsonb_build_object('id', r.id, 'subject', r.subject, 'current', r.current)
    order by r.place) into rows
  from (
    select d.id, (array_agg(d.subject order by d.subject ->> 'due_on' nulls first))[1] as subject,
      jsonb_object_agg(f.key, f.value) as current, min(x.place) as place
    from unnest(conflicts[:100]) with ordinality as x (table_name, row_id, before, after, current, place)
    cross join lateral app.describe_reversal(x.table_name, x.after, x.before, x.current) as d
    cross join jsonb_each(app.describe_current(x.current)) as f
    group by d.id
  ) as r;
  perform app.fail('undo_conflict.changed_since', jsonb_build_object(
    'change', app.change_facts(target), 'details', jsonb_build_object('rows', rows)
  ), 'change_id');
end
$$;
comment on function app.fail_undo is 'Ends the tool with undo_conflict and what stands in the way, as it is now.';

create or replace function app.describe_reversals(reversed app.kept_row[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 100;
begin
  return (
    with things as (
      -- An expense and its payment are one thing to people.
      select r.*,
        case when starts_with(coalesce(r.before, r.after) ->> 'expense_id', 'exp_')
        then coalesce(r.before, r.after) ->> 'expense_id' else r.row_id end as thing
      from unnest(reversed) with ordinality as r (table_name, row_id, before, after, current, place)
    ), listed as (
      select t.thing, min(t.place) as place from things as t group by t.thing order by place desc limit max_listed
    ), described as (
      select d.id, d.subject, max(d.verb) as verb, jsonb_agg(distinct field) filter (where field is not null) as fields,
        min(t.place) as place
      from listed as l
      join things as t on t.thing = l.thing
      cross join lateral app.describe_reversal(t.table_name, t.after, t.before, t.current) as d
      left join lateral unnest(d.fields) as field on true
      group by d.id, d.subject
    )
    select jsonb_build_object(
      'reversed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', d.id, 'subject', d.subject, 'verb', d.verb, 'fields', d.fields
        ) order by d.place desc), '[]')
        from described as d
      ),
      'reversed_count', (select nullif(count(distinct t.thing), (select count(*) from listed)) from things as t)
    )
  );
end
$$;
comment on function app.describe_reversals is
  'What was taken back, {reversed, reversed_count}: at most 100 are listed, and the count is there when there were '
  'more.';

-- schemas/connector/describe_effects.sql

-- What a change did to rows, before and after, as people know them: for pages and proposals. undo_change tells the
-- same of what it took back, without values.

create or replace function app.describe_value(kept jsonb, key text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if coalesce(kept -> key, 'null') in ('null', '[]', '{}') then
    return null;
  end if;
  return case
    when key in ('amount_minor', 'expected_minor', 'tax_minor') then jsonb_build_object(
      'amount', app.format_amount((kept ->> key)::numeric, kept ->> 'currency'), 'currency', kept -> 'currency'
    )
    when key = 'charged_minor' then jsonb_build_object(
      'amount', app.format_amount((kept ->> key)::numeric, kept ->> 'charged_currency'),
      'currency', kept -> 'charged_currency'
    )
    when key = 'category_id' then jsonb_build_object(
      'category', (select c.name from app.categories as c where c.id = kept ->> key)
    )
    when key in ('assignee_id', 'created_by') then jsonb_build_object('person', app.member_name((kept ->> key)::uuid))
    -- Only what is unusual is worth a word.
    when key = 'direction' then case kept ->> key when 'refund' then to_jsonb(true) end
    when key = 'status' then case when kept ->> key <> 'active' then kept -> key end
    else kept -> key
  end;
end
$$;
comment on function app.describe_value is
  'A column of a kept row as people know it: {amount, currency}, {category}, {person}, else the value itself; null '
  'for nothing.';

create or replace function app.describe_effects(touched app.kept_row[], at_most int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Where a thing comes or goes, these say what it is; where it changes, every column that did.
  telling constant text[] := array[
    'amount_minor', 'expected_minor', 'paid_on', 'due_on', 'anchor_on', 'frequency', 'every', 'payee', 'category_id',
    'tags', 'note', 'per', 'direction'
  ];
  untold constant text[] := array[
    'id', 'organization_id', 'created_at', 'recorded_seq', 'kind', 'source', 'expense_id', 'occurrence_id', 'split_id',
    'scheduled_on', 'amount_source', 'closed_at', 'tracked_from', 'charged_currency', 'deleted_at', 'archived_at'
  ];
begin
  return (
    with things as (
      select r.*,
        -- An expense and its payment are one thing to people.
        case when starts_with(coalesce(r.after, r.before) ->> 'expense_id', 'exp_')
        then coalesce(r.after, r.before) ->> 'expense_id' else r.row_id end as thing,
        r.before is null or coalesce(r.before ->> 'deleted_at', r.before ->> 'archived_at') is not null as was_gone,
        r.after is null or coalesce(r.after ->> 'deleted_at', r.after ->> 'archived_at') is not null as is_gone
      from unnest(touched) with ordinality as r (table_name, row_id, before, after, current, place)
    ), told as (
      select t.*, d.subject, f.key, app.describe_value(v.was, f.key) as was, app.describe_value(v.becomes, f.key)
        as becomes
      from things as t
      -- What is deleted is still there, but not to people.
      cross join lateral (
        select case when not t.was_gone then t.before end as was, case when not t.is_gone then t.after end as becomes
      ) as v
      cross join lateral app.describe_reversal(t.table_name, t.after, t.before, coalesce(t.after, t.before)) as d
      left join lateral (
        select key from jsonb_object_keys(coalesce(t.after, t.before)) as key
        where key <> all (app.derived_columns(t.table_name) || untold)
          and v.was -> key is distinct from v.becomes -> key
          -- The amount says the currency.
          and not (key = 'currency' and coalesce(t.after, t.before) ->> 'amount_minor' is not null)
          and (not (t.was_gone or t.is_gone) or key = any (telling))
      ) as f on true
      where t.thing in (select w.thing from things as w group by w.thing order by min(w.place) limit at_most)
        -- Only what follows from others moved.
        and (f.key is not null or t.was_gone <> t.is_gone)
    ), fields as (
      -- A payment says again what its expense says.
      select distinct on (t.thing, t.key) t.thing, t.key, t.was, t.becomes
      from told as t
      where t.was is distinct from t.becomes
      order by t.thing, t.key, t.table_name = 'expenses' desc, t.place
    )
    select jsonb_build_object(
      'effects', coalesce(jsonb_agg(shown.effect order by shown.place), '[]'),
      'effects_count', (select count(distinct t.thing) from things as t)
    )
    from (
      select min(t.place) as place, jsonb_strip_nulls(jsonb_build_object(
        'id', t.thing,
        'subject', (array_agg(t.subject order by t.table_name = 'expenses' desc, t.place))[1],
        'verb', case when bool_and(t.was_gone) and not bool_and(t.is_gone) then 'added'
          when bool_and(t.is_gone) and not bool_and(t.was_gone) then 'deleted' end,
        'fields', (
          select jsonb_agg(jsonb_build_object('field', f.key, 'before', f.was, 'after', f.becomes)
            order by array_position(telling, f.key), f.key)
          from fields as f where f.thing = t.thing
        )
      )) as effect
      from told as t
      group by t.thing
    ) as shown
  );
end
$$;
comment on function app.describe_effects is
  'What becomes of rows, {effects: [{id, subject, verb? (added or deleted), fields?: [{field, before?, after?}]}], '
  'effects_count}: at most so many things are told, and the count is of all.';

create or replace function app.read_effects(change_id text, at_most int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A thing is rarely more than three rows.
  rows_read constant int := at_most * 4;
  told jsonb;
begin
  with items as (
    select i.* from app.change_items as i where i.change_id = read_effects.change_id order by i.position
      limit rows_read
  ), folded as (
    select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before,
      (array_agg(i.after order by i.position desc))[1] as after, min(i.position) as position
    from items as i
    group by i.table_name, i.row_id
  )
  select app.describe_effects(
    coalesce(array_agg((r.table_name, r.row_id, r.before, r.after, null)::app.kept_row order by r.position), '{}'),
    at_most
  ) into told
  from folded as r;
  if (select count(*) from (
    select from app.change_items as i where i.change_id = read_effects.change_id limit rows_read + 1
  ) as i) > rows_read then
    -- More than was read: things are told apart by what they belong to.
    told := told || jsonb_build_object('effects_count', (
      select count(distinct case when starts_with(coalesce(i.after, i.before) ->> 'expense_id', 'exp_')
        then coalesce(i.after, i.before) ->> 'expense_id' else i.row_id end)
      from app.change_items as i
      where i.change_id = read_effects.change_id
    ));
  end if;
  return told;
end
$$;
comment on function app.read_effects is
  'What a change did, as app.describe_effects tells it: each row as it was before all of it and after.';

-- schemas/connector/undo_change.sql

create or replace function app.undo_change(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rows_at_once constant int := 2000;
  is_long constant boolean := app.is_long('undo_change', arguments);
  target app.change_sets;
  batch record;
  rows app.kept_row[];
  differing app.kept_row[];
  removed text[];
  expense_ids text[];
  conflicts app.kept_row[] := '{}';
  reversal app.kept_row;
  reversed app.kept_row[] := '{}';
  kept jsonb := '[]';
  described jsonb;
begin
  if is_long then
    perform app.lock_imports(context.organization_id);
  end if;
  target := app.find_change_to_undo(context, arguments ->> 'change_id');
  -- A bill before its dates, as everybody locks them: the job that rolls bills waits for nobody, and must not be waited
  -- for half-way.
  perform
  from app.expenses as e
  where e.id in (
    select case i.table_name when 'expenses' then i.row_id else coalesce(i.before, i.after) ->> 'expense_id' end
    from app.change_items as i
    where i.change_id = target.id
  ) and e.kind = 'bill'
  order by e.id
  for update;

  -- Backwards: what was made last goes first, and what others refer to comes back before them. Rows of one kind that
  -- follow each other are one step.
  for batch in
    with touched as (
      select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before,
        (array_agg(i.after order by i.position desc))[1] as after,
        max(i.position) as position
      from app.change_items as i
      where i.change_id = target.id
      group by i.table_name, i.row_id
    ), steps as (
      select t.*, (coalesce(t.before, t.after) ->> 'recorded_seq')::bigint as recorded_seq,
        row_number() over (order by t.position desc)
        - row_number() over (partition by t.table_name, t.before is null order by t.position desc) as step
      from touched as t
      where t.before is not null or t.after is not null
    )
    , pages as (
      select s.*, (row_number() over (
        partition by s.table_name, s.before is null, s.step order by s.recorded_seq desc, s.position desc
      ) - 1) / rows_at_once as page
      from steps as s
    )
    -- Within a step as they were recorded, so that what was taken back in one is told in the order of the books.
    select s.table_name, s.before is null as is_new,
      array_agg(s.row_id order by s.recorded_seq desc, s.position desc) as ids,
      array_agg(s.before order by s.recorded_seq desc, s.position desc) as befores,
      array_agg(s.after order by s.recorded_seq desc, s.position desc) as afters
    from pages as s
    group by s.table_name, s.before is null, s.step, s.page
    order by max(max(s.position)) over (partition by s.table_name, s.before is null, s.step) desc, s.page
  loop
    if batch.table_name = 'provider_links' then
      select kept || jsonb_agg(jsonb_build_object(
        'id', w.row_id, 'why', 'connection_ended', 'subject',
        jsonb_build_object('kind', 'connection', 'name', w.before ->> 'provider_key')
      )) into kept
      from unnest(batch.ids, batch.befores) as w (row_id, before);
      continue;
    end if;
    select
      array_agg((batch.table_name, w.row_id, w.before, w.after, c.current)::app.kept_row order by w.place),
      array_agg((batch.table_name, w.row_id, w.before, w.after, c.current)::app.kept_row order by w.place) filter (
        where not c.is_same)
    into rows, differing
    from unnest(batch.ids, batch.befores, batch.afters) with ordinality as w (row_id, before, after, place)
    join app.compare_rows(batch.table_name, batch.ids, batch.afters) as c on c.row_id = w.row_id;
    expense_ids := expense_ids || array(
      select distinct case batch.table_name when 'expenses' then r.row_id
        else coalesce(r.before, r.after) ->> 'expense_id' end from unnest(rows) as r
    );
    conflicts := conflicts || differing;
    continue when conflicts <> '{}';
    if batch.is_new then
      removed := app.remove_rows(batch.table_name, batch.ids);
      kept := kept || (
        select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'why', 'in_use', 'subject', d.subject)), '[]')
        from unnest(rows) as r
        cross join lateral app.describe_reversal(r.table_name, r.after, r.before, r.current) as d
        where r.row_id <> all (removed)
      );
      rows := array(
        select (r.table_name, r.row_id, r.before, r.after, r.current)::app.kept_row
        from unnest(rows) with ordinality as r
        where r.row_id = any (removed)
        order by r.ordinality
      );
    else
      perform app.write_rows(batch.table_name, batch.ids, batch.befores);
    end if;
    -- One by one, which adds in place; joining arrays copies all that was reversed before.
    foreach reversal in array rows loop
      reversed := reversed || reversal;
    end loop;
  end loop;

  -- What a statement brought may be imported again, then anew.
  delete from app.statement_lines as l where l.change_id = target.id;
  update app.accounts as a set balance = null
  where a.organization_id = context.organization_id and a.balance ->> 'change_id' = target.id;
  described := app.describe_reversals(reversed);
  if is_long then
    -- Only now does everybody else wait; what is undone was locked row by row.
    perform app.lock_books(context.organization_id);
  end if;
  if conflicts = '{}' then
    conflicts := array(
      -- A bill cannot go while money that was paid for it since stays.
      select ('payments', p.id, to_jsonb(p), to_jsonb(p), to_jsonb(p))::app.kept_row
      from (select distinct id from unnest(expense_ids) as id) as x
      -- Looked up one by one: of how many an undo touched the planner knows nothing.
      cross join lateral (select e.deleted_at from app.expenses as e where e.id = x.id offset 0) as e
      cross join lateral (select p.* from app.payments as p where p.expense_id = x.id offset 0) as p
      where e.deleted_at is not null and p.deleted_at is null
      order by p.recorded_seq
    ) || array(
      -- Nor can a part of what was paid for a date, when a later payment settled the date on the strength of it.
      select ('expense_occurrences', o.id, to_jsonb(o), to_jsonb(o), to_jsonb(o))::app.kept_row
      from (
        select distinct coalesce(i.before, i.after) ->> 'occurrence_id' as id from app.change_items as i
          where i.change_id = target.id and i.table_name = 'payments'
      ) as x
      cross join lateral (select o.* from app.expense_occurrences as o where o.id = x.id offset 0) as o
      where o.status = 'paid' and o.paid_minor < o.expected_minor
      order by o.due_on
    ) || array(
      -- Nor can what another record was merged into since: neither would be left.
      select ('payments', p.id, to_jsonb(p), to_jsonb(p), to_jsonb(p))::app.kept_row
      from app.change_items as i
      join app.payments as p on p.merged_into = i.row_id
      where i.change_id = target.id and i.table_name = 'payments' and i.before is null
      order by p.recorded_seq
    );
  end if;
  if conflicts <> '{}' then
    perform app.fail_undo(target, conflicts);
  end if;
  perform app.mark_undone(target, current_setting('app.change_id', true));
  perform app.restore_bill(i.row_id, target.created_at, context.today) from app.change_items as i
    where i.change_id = target.id and i.table_name = 'expenses' and starts_with(i.row_id, 'bill_');
  perform app.refresh_bill(b.id, context.today)
    from (select distinct id from unnest(expense_ids) as id where starts_with(id, 'bill_') order by id) as b;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'undone',
      jsonb_build_object('change_id', target.id, 'change', app.change_facts(target), 'by',
        app.member_name(target.actor_id)),
      'not_reversible', kept
    ) || described,
    -- Undoing an undo does the first change again.
    'facts', case
      when target.undoes is null then jsonb_build_object('verb', 'undid', 'change', app.change_facts(target))
      else jsonb_build_object(
        'verb', case target.facts ->> 'verb' when 'undid' then 'redid' else 'undid' end, 'change',
        target.facts -> 'change'
      )
    end
  );
exception
  when unique_violation then
    perform app.fail('undo_conflict.name_taken', jsonb_build_object('change', app.change_facts(target)), 'change_id');
  when insufficient_privilege then
    -- What one looks after would be somebody else's again, and out of sight.
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'), 'change_id');
end
$$;
comment on function app.undo_change is 'Tool undo_change: data {undone, reversed, reversed_count?, not_reversible}.';

-- schemas/approvals/measure_change.sql

-- How much a change moved: what limits are held against. Read from the rows that were written, never from what was
-- asked for, so that every way to the same effect counts the same.

create or replace function app.add_sums(sums jsonb, further jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.key, s.minor), '{}')
    from (
      select a.key, sum(a.value::numeric) as minor
      from (select * from jsonb_each_text(sums) union all select * from jsonb_each_text(further)) as a
      group by a.key
    ) as s
  );
end
$$;
comment on function app.add_sums is 'Minor units by currency, added up.';

create or replace function app.measure_change(change_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with net as (
      select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before,
        (array_agg(i.after order by i.position desc))[1] as after
      from app.change_items as i
      where i.change_id = measure_change.change_id
      group by i.table_name, i.row_id
    ), seen as (
      select n.table_name, n.row_id,
        case when coalesce(n.before ->> 'deleted_at', n.before ->> 'archived_at') is null then n.before end as was,
        case when coalesce(n.after ->> 'deleted_at', n.after ->> 'archived_at') is null then n.after end as becomes,
        case when starts_with(coalesce(n.after, n.before) ->> 'expense_id', 'exp_')
        then coalesce(n.after, n.before) ->> 'expense_id' else n.row_id end as thing
      from net as n
      where n.before is distinct from n.after
    ), moved as (
      -- A row of money is worth its amount and its direction; one that is not there, nothing. Of two currencies both
      -- count.
      select m.currency, sum(m.minor) as minor
      from seen as s
      cross join lateral (
        select w.currency, w.minor
        from (
          select coalesce(b.currency, a.currency) as currency, abs(coalesce(a.minor, 0) - coalesce(b.minor, 0)) as minor
          from (
            select s.was ->> 'currency' as currency, (s.was ->> 'amount_minor')::numeric
              * case s.was ->> 'direction' when 'refund' then -1 else 1 end as minor
            where s.was ->> 'amount_minor' is not null
          ) as b
          full join (
            select s.becomes ->> 'currency' as currency, (s.becomes ->> 'amount_minor')::numeric
              * case s.becomes ->> 'direction' when 'refund' then -1 else 1 end as minor
            where s.becomes ->> 'amount_minor' is not null
          ) as a on a.currency = b.currency
        ) as w
        where w.minor <> 0
      ) as m
      where s.table_name in ('payments', 'expenses')
      group by m.currency
    )
    select jsonb_build_object(
      'records', (select count(distinct s.thing) from seen as s where s.was is not null or s.becomes is not null),
      'gone', (
        select count(*) from (
          select from seen as s group by s.thing having bool_and(s.becomes is null) and bool_or(s.was is not null)
        ) as gone
      ),
      'settings', (
        select count(distinct s.thing) from seen as s
        where s.table_name in ('settings', 'categories', 'budgets', 'payee_rules')
      ),
      'sums', (select coalesce(jsonb_object_agg(m.currency, m.minor), '{}') from moved as m)
    )
  );
end
$$;
comment on function app.measure_change is
  'What a change moved: {records, gone, settings (of these, what is no expense or bill), sums: minor units by '
  'currency}.';

-- schemas/approvals/judge_change.sql

create or replace function app.tools_of_change(change_id text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  -- Taking something back, or doing it again, is as much as doing it.
  return array(
    with recursive undone as (
      select s.tool, s.undoes from app.change_sets as s where s.id = change_id
      union all
      select s.tool, s.undoes from undone as u join app.change_sets as s on s.id = u.undoes
    )
    select distinct u.tool from undone as u
  );
end
$$;
comment on function app.tools_of_change is 'The tool of a change, and of an undo also those of what it undoes.';

create or replace function app.exceeds_amount(sums jsonb, rule app.approval_rules, day date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  total numeric := 0;
  limited constant jsonb := jsonb_build_object(
    'limit', app.format_amount(rule.over_minor, rule.currency), 'currency', rule.currency
  );
  unknown text[] := '{}';
  part record;
begin
  for part in
    select s.key as currency, app.convert_minor(s.value::numeric, f.per_euro, c.exponent, t.per_euro, l.exponent)
      as minor, s.value::numeric as own
    from jsonb_each_text(sums) as s
    join app.currencies as c on c.code = s.key
    join app.currencies as l on l.code = rule.currency
    left join lateral app.rates_as_of(c.code, day) as f on true
    left join lateral app.rates_as_of(l.code, day) as t on true
  loop
    if part.currency = rule.currency then
      total := total + part.own;
    elsif part.minor is null then
      unknown := unknown || part.currency;
    else
      total := total + part.minor;
    end if;
  end loop;
  return case
    -- What nobody can value may be anything.
    when unknown <> '{}' then limited || jsonb_build_object('reason', 'unconvertible', 'currencies', unknown)
    when total > rule.over_minor then limited || jsonb_build_object(
      'reason', 'amount', 'total', app.format_amount(total, rule.currency)
    )
  end;
end
$$;
comment on function app.exceeds_amount is
  'Why sums are more than a rule lets pass, in its currency at the rates of a day: {reason: amount | unconvertible, '
  '…}; null '
  'when they are not.';

create or replace function app.judge_moved(context app.context, tools text[], moved jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  rule app.approval_rules;
  day record;
  count bigint;
  sums jsonb;
  reason jsonb;
  reasons jsonb := '[]';
begin
  for rule in
    select * from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles) order by r.created_at, r.id
  loop
    -- A deletion is one whatever tool makes it, and so is a change of the settings.
    continue when not (
      rule.tool is null or rule.tool = any (tools) or rule.tool = 'delete_records' and (moved ->> 'gone')::bigint > 0
      or rule.tool = 'update_settings' and (moved ->> 'settings')::bigint > 0
    );
    count := 0;
    sums := moved -> 'sums';
    for day in
      select coalesce(s.moved, app.measure_change(s.id)) as moved, app.tools_of_change(s.id) as tools
      from app.change_sets as s
      where s.organization_id = context.organization_id and s.actor_id = context.actor_id
        and s.created_at > context.at - interval '24 hours' and s.proposal_id is null
        and s.id is distinct from nullif(current_setting('app.judged_change', true), '')
        and (rule.over_minor is not null or rule.over_records is not null)
        and s.tool not in ('autopay', 'provider_sync', 'store_bill_amounts')
    loop
      continue when not (
        rule.tool is null or rule.tool = any (day.tools)
        or rule.tool = 'delete_records' and (day.moved ->> 'gone')::bigint > 0
        or rule.tool = 'update_settings' and (day.moved ->> 'settings')::bigint > 0
      );
      count := count + app.counted_records(rule, day.moved);
      sums := app.add_sums(sums, day.moved -> 'sums');
    end loop;
    reason := null;
    if rule.over_minor is null and rule.over_records is null then
      reason := jsonb_build_object('reason', 'any');
    end if;
    if reason is null and rule.over_minor is not null then
      reason := app.exceeds_amount(sums, rule, context.today);
    end if;
    if reason is null and rule.over_records is not null
      and count + app.counted_records(rule, moved) > rule.over_records then
      reason := jsonb_build_object(
        'reason', 'records', 'records', count + app.counted_records(rule, moved), 'limit', rule.over_records
      );
    end if;
    if reason is not null then
      reasons := reasons || (reason || jsonb_build_object('approver', rule.approver));
    end if;
  end loop;
  return reasons;
end
$$;
comment on function app.judge_moved is
  'Which rules a write of tools that moved so much exceeds, with what its person wrote in the last 24 hours without '
  'approval: [{reason: any | records | amount | unconvertible, approver, …}].';

create or replace function app.counted_records(rule app.approval_rules, moved jsonb) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return (moved ->> case rule.tool when 'delete_records' then 'gone' when 'update_settings' then 'settings'
    else 'records' end)::bigint;
end
$$;
comment on function app.counted_records is 'The records of a change that a rule counts: of a deletion those that went.';

-- schemas/approvals/propose.sql

-- The gate: a write that exceeds what its organization lets pass is taken back and kept as a proposal. What it would do
-- is what it did before it was taken back.

create or replace function app.fingerprint_change(change_id text) returns text
language plpgsql stable set search_path = '' as $$
declare
  unsteady constant text[] := array[
    'id', 'version', 'created_at', 'updated_at', 'recorded_seq', 'split_id', 'closed_at', 'deleted_at', 'archived_at'
  ];
  content text;
  place int := 0;
  new_id text;
begin
  with net as (
    select i.table_name, i.row_id, min(i.position) as position, (array_agg(i.before order by i.position))[1] as before,
      (array_agg(i.after order by i.position desc))[1] as after
    from app.change_items as i
    where i.change_id = fingerprint_change.change_id
    group by i.table_name, i.row_id
  )
  select jsonb_agg(jsonb_build_array(
    n.table_name, n.row_id,
    n.before - unsteady - app.derived_columns(n.table_name),
    coalesce(n.before ->> 'deleted_at', n.before ->> 'archived_at') is not null,
    n.after - unsteady - app.derived_columns(n.table_name),
    coalesce(n.after ->> 'deleted_at', n.after ->> 'archived_at') is not null
  ) order by n.position)::text into content
  from net as n;
  -- What is new has another id each time.
  for new_id in
    select i.row_id from app.change_items as i
    where i.change_id = fingerprint_change.change_id and i.table_name <> 'settings'
    group by i.row_id having bool_or(i.before is null) order by min(i.position)
  loop
    place := place + 1;
    content := replace(content, '"' || new_id || '"', '"' || place || '"');
  end loop;
  return encode(sha256(convert_to(coalesce(content, ''), 'UTF8')), 'hex');
end
$$;
comment on function app.fingerprint_change is
  'The same for two changes that find the same rows and leave the same: without the ids, times and counters that are '
  'new each time, and without what follows from other rows.';

create or replace function app.find_approvers(organization_id text, approver text, except_id uuid) returns uuid[]
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Definer, since the tables that say who is suspended are not for members to read.
  return array(
    select m.user_id
    from identity.memberships as m
    join identity.role_rights as r on r.role = m.role and r."right" = 'approvals:decide'
    where m.organization_id = find_approvers.organization_id and m.user_id <> except_id
      and (approver = 'manager' or m.role = 'owner') and identity.is_active(m.user_id, app.instant())
    order by m.role = 'owner' desc, m.created_at, m.user_id
  );
end
$$;
comment on function app.find_approvers is
  'Who may approve what somebody proposes: not they themselves. None where they are the only one.';

create or replace function app.answer_proposal(proposal app.proposals) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  asked constant text[] := array(
    select p.email from unnest(app.find_approvers(proposal.organization_id, proposal.approver, proposal.actor_id))
      with ordinality as a (user_id, place)
    join identity.profiles as p on p.user_id = a.user_id
    order by a.place
  );
begin
  return jsonb_build_object('ok', false, 'proposal_id', proposal.id, 'error', jsonb_build_object(
    'code', 'awaiting_approval', 'params', jsonb_build_object(
      'asked', to_jsonb(asked), 'reasons', proposal.reasons, 'details', jsonb_build_object(
        'proposal_id', proposal.id, 'asked', to_jsonb(asked), 'expires_at', proposal.expires_at
      )
    )
  ));
end
$$;
comment on function app.answer_proposal is
  'What a call answers that waits for approval: an error, so that no assistant takes it for done.';

create or replace function app.propose(context app.context, tool text, arguments jsonb, would jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  days constant int := 7;
  most_pending constant int := 50;
  asked_for constant jsonb := arguments - 'idempotency_key';
  proposal app.proposals;
begin
  select * into proposal from app.proposals as p
  where p.organization_id = context.organization_id and p.actor_id = context.actor_id and p.state = 'pending'
    and p.expires_at > context.at and p.tool = propose.tool and p.arguments = asked_for
    and p.fingerprint = would ->> 'fingerprint' and p.proposed_on = context.today;
  if found then
    return app.answer_proposal(proposal);
  end if;
  if (
    select count(*) from app.proposals as p
    where p.organization_id = context.organization_id and p.actor_id = context.actor_id and p.state = 'pending'
      and p.expires_at > context.at
  ) >= most_pending then
    perform app.fail('too_many_proposals', jsonb_build_object('most', most_pending));
  end if;
  proposal.id := app.new_id('prop');
  insert into app.proposals (
    id, organization_id, actor_id, grant_id, client_name, tool, arguments, proposed_on, reasons, approver, facts,
    effects, fingerprint, hash, created_at, expires_at
  ) values (
    proposal.id, context.organization_id, context.actor_id, context.grant_id, context.client_name, tool, asked_for,
    context.today, would -> 'reasons',
    case when would -> 'reasons' @> '[{"approver": "owner"}]' then 'owner' else 'manager' end,
    would -> 'facts', would -> 'effects', would ->> 'fingerprint',
    encode(sha256(convert_to(jsonb_build_array(
      proposal.id, context.actor_id, tool, asked_for, context.today, would -> 'fingerprint', would -> 'effects'
    )::text, 'UTF8')), 'hex'),
    context.at, context.at + days * interval '1 day'
  )
  returning * into proposal;
  if tool = 'import_expenses' then
    -- The file stays for as long as the question does.
    update app.import_batches as b set expires_at = greatest(b.expires_at, proposal.expires_at)
      where b.id = arguments ->> 'import_id';
  end if;
  return app.answer_proposal(proposal);
end
$$;
comment on function app.propose is
  'Keeps a write that was taken back as a proposal, the same one when it is the same; would: {reasons, facts, effects, '
  'fingerprint}.';

create or replace function app.judge_import(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches;
  counted jsonb;
  moved jsonb;
begin
  if not arguments ? 'expected_count' then
    return null;
  end if;
  batch := app.find_import(context, arguments ->> 'import_id');
  if batch.state <> 'ready' then
    return null;
  end if;
  batch := app.answer_import(context, batch, arguments);
  if batch.state <> 'ready' then
    return null;
  end if;
  counted := app.count_import(context, app.refresh_import(context, batch), arguments ->> 'on_duplicate');
  if coalesce(batch.read -> 'questions', '[]') <> '[]' or counted #> '{outcomes,asked}' is not null then
    -- The tool asks first.
    return null;
  end if;
  perform app.check_import_expected(batch, counted, arguments);
  moved := jsonb_build_object(
    'records', jsonb_array_length(counted -> 'new'), 'gone', 0, 'settings', 0, 'sums', (
      select coalesce(jsonb_object_agg(t.key, abs(t.value::numeric) * 10::numeric ^ c.exponent), '{}')
      from jsonb_each_text(counted -> 'totals') as t
      join app.currencies as c on c.code = t.key
    )
  );
  return jsonb_build_object(
    'reasons', app.judge_moved(context, array['import_expenses'], moved),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(counted -> 'new'), 'totals_by_currency', counted -> 'totals', 'names', '[]'::jsonb
    ),
    'effects', '{"effects": [], "effects_count": 0}'::jsonb,
    'fingerprint', encode(sha256(convert_to(counted::text, 'UTF8')), 'hex')
  );
end
$$;
comment on function app.judge_import is
  'Which rules committing an import would exceed, from what it would write: nothing is published to find out. Null for '
  'a call that commits nothing.';

create or replace function app.perform_judged(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  change text;
  result jsonb;
  measured jsonb;
  would jsonb;
  kept text;
begin
  -- What a provider said is written by the job as well, without anybody.
  if not app.is_write(tool) or tool = 'store_bill_amounts' or not exists (
    select from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles)
  ) then
    return app.perform_tool(context, tool, arguments);
  end if;
  if tool = 'import_expenses' then
    begin
      would := app.judge_import(context, arguments);
      if would is not null then
        -- Answers are given again when it is committed.
        raise exception using errcode = 'EX003', detail = would::text;
      end if;
    exception when sqlstate 'EX003' then
      get stacked diagnostics kept = pg_exception_detail;
    end;
    if kept::jsonb -> 'reasons' <> '[]' then
      return app.propose(context, tool, arguments, kept::jsonb);
    end if;
    return app.perform_tool(context, tool, arguments);
  end if;
  begin
    result := app.perform_tool(context, tool, arguments);
    change := result ->> 'change_id';
    if change is not null then
      measured := app.measure_change(change);
      perform set_config('app.judged_change', change, true);
      would := jsonb_build_object('reasons', app.judge_moved(context, app.tools_of_change(change), measured));
      if would -> 'reasons' <> '[]' then
        raise exception using errcode = 'EX003', detail = (would || jsonb_build_object(
          'facts', (select s.facts from app.change_sets as s where s.id = change),
          'effects', app.read_effects(change, 100), 'fingerprint', app.fingerprint_change(change)
        ))::text;
      end if;
      update app.change_sets as s set moved = measured where s.id = change;
    end if;
    return result;
  exception when sqlstate 'EX003' then
    get stacked diagnostics kept = pg_exception_detail;
  end;
  return app.propose(context, tool, arguments, kept::jsonb);
end
$$;
comment on function app.perform_judged is
  'A tool, unless what it writes needs approval: then everything is taken back and kept as a proposal.';

create or replace function app.preview_judged(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb := app.perform_tool(context, tool, arguments);
  change constant text := result ->> 'change_id';
  reasons jsonb;
begin
  if change is null or not exists (
    select from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles)
  ) then
    return result;
  end if;
  perform set_config('app.judged_change', change, true);
  reasons := app.judge_moved(context, app.tools_of_change(change), app.measure_change(change));
  if reasons <> '[]' then
    result := result || jsonb_build_object('warnings', coalesce(result -> 'warnings', '[]')
      || app.warning('needs_approval', jsonb_build_object('reasons', reasons)));
  end if;
  return result;
end
$$;
comment on function app.preview_judged is 'A tool that is about to be taken back, with a warning if it needs approval.';

-- schemas/approvals/decide_proposal.sql

-- Answering a proposal: once, by somebody else, who saw what it does. What is approved runs with the rights that its
-- proposer has at that moment, and only if it still does exactly what was shown.

create or replace function app.run_approved(proposal app.proposals, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  context := app.read_context(at);
  if context.organization_id is null then
    return jsonb_build_object('ok', false, 'error', jsonb_build_object('code', 'proposer_gone'));
  end if;
  perform app.refuse_reader(proposal.tool);
  -- "Yesterday" is the day that it was when it was said.
  context.today := proposal.proposed_on;
  perform set_config('app.proposal_id', proposal.id, true);
  result := app.perform_tool(context, proposal.tool, proposal.arguments);
  perform set_config('app.proposal_id', '', true);
  if proposal.tool <> 'import_expenses'
    and proposal.fingerprint is distinct from app.fingerprint_change(result ->> 'change_id') then
    perform app.fail('not_decided.stale');
  end if;
  return jsonb_build_object('ok', true) || result;
exception when sqlstate 'EX001' then
  get stacked diagnostics problem = pg_exception_detail;
  return jsonb_build_object('ok', false, 'error', problem::jsonb);
end
$$;
comment on function app.run_approved is
  'Runs what was approved as the person of the request''s claims, its proposer: the tool''s envelope, or {ok: false, '
  'error} when it fails or would do something else than what was shown. Then nothing is written.';

create or replace function app.may_decide(proposal app.proposals, user_id uuid, through text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return identity.member_may(proposal.organization_id, user_id, 'approvals:decide')
    and identity.is_active(user_id, app.instant())
    and (proposal.approver = 'manager' or exists (
      select from identity.memberships as m
      where m.organization_id = proposal.organization_id and m.user_id = may_decide.user_id and m.role = 'owner'
    ))
    and case when proposal.actor_id = user_id
      -- Nobody answers for themselves, unless there is nobody else to ask: then on the page, where no assistant is.
      then through = 'page' and app.find_approvers(proposal.organization_id, proposal.approver, user_id) = '{}'
      else through = 'page' or exists (
        select from identity.organizations as o
        where o.id = proposal.organization_id and o.assistants_may_approve
      )
    end;
end
$$;
comment on function app.may_decide is
  'Whether a person may approve or refuse a proposal through the page or through an assistant of theirs.';
revoke all on function app.may_decide, app.run_approved from authenticated;

create or replace function app.settle_proposal(proposal_id text, user_id uuid, through text, hash text, decision text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  claims constant text := current_setting('request.jwt.claims', true);
  sub constant text := current_setting('request.jwt.claim.sub', true);
  proposal app.proposals;
  answer jsonb;
begin
  select * into proposal from app.proposals as p where p.id = settle_proposal.proposal_id;
  if not found or identity.member_may(proposal.organization_id, user_id, 'approvals:decide') is not true
    and proposal.actor_id is distinct from user_id then
    return '{"outcome": "unknown"}';
  end if;
  -- The books first, as every write takes them; then what two might answer at once.
  perform app.lock_books(proposal.organization_id);
  select * into proposal from app.proposals as p where p.id = settle_proposal.proposal_id for update;
  if not found then
    return '{"outcome": "unknown"}';
  elsif proposal.state <> 'pending' then
    return jsonb_build_object('outcome', 'already', 'state', proposal.state);
  elsif proposal.expires_at <= at then
    return '{"outcome": "expired"}';
  elsif proposal.hash <> settle_proposal.hash then
    return '{"outcome": "changed"}';
  elsif decision = 'withdraw' and proposal.actor_id <> user_id
    or decision <> 'withdraw' and not app.may_decide(proposal, user_id, through) then
    return '{"outcome": "not_allowed"}';
  end if;
  if decision = 'approve' then
    perform set_config('request.jwt.claims', jsonb_strip_nulls(jsonb_build_object(
        'sub', proposal.actor_id, 'role', 'authenticated', 'organization_id', proposal.organization_id,
        'grant_id', proposal.grant_id, 'client_name', proposal.client_name
    ))::text, true),
      set_config('request.jwt.claim.sub', proposal.actor_id::text, true);
    answer := app.run_approved(proposal, at);
    perform set_config('request.jwt.claims', claims, true), set_config('request.jwt.claim.sub', sub, true);
  end if;
  update app.proposals as p
  set state = case decision when 'refuse' then 'refused' when 'withdraw' then 'withdrawn'
      else case when (answer ->> 'ok')::boolean then 'approved' else 'stale' end end,
    decided_at = at, decided_by = user_id, decided_through = through, change_id = answer ->> 'change_id',
    problem = answer -> 'error', result = case when (answer ->> 'ok')::boolean then answer - 'facts' end
  where p.id = proposal.id
  returning * into proposal;
  perform identity.record_event('approval.' || proposal.state, user_id, proposal.organization_id, jsonb_build_object(
    'proposal_id', proposal.id, 'tool', proposal.tool, 'proposer_id', proposal.actor_id, 'through', through
  ), at);
  return jsonb_strip_nulls(jsonb_build_object(
    'outcome', proposal.state, 'organization_id', proposal.organization_id, 'change_id', proposal.change_id,
    'problem', proposal.problem, 'result', proposal.result
  ));
exception when sqlstate 'EX001' then
  -- Only the lock fails here.
  return '{"outcome": "busy"}';
end
$$;
comment on function app.settle_proposal is
  'Answers a proposal: {outcome: approved | refused | withdrawn | stale, change_id?, problem?, result?}, or what keeps '
  'it from being answered: unknown, already, expired, changed (another hash), not_allowed (somebody else''s '
  'to answer), busy.';
revoke all on function app.settle_proposal from authenticated;

create or replace function public.decide_proposal(user_id uuid, proposal_id text, hash text, decision text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('app.at', at::text, true);
  return app.settle_proposal(proposal_id, user_id, 'page', hash, decision, at) - array['result', 'organization_id'];
end
$$;
comment on function public.decide_proposal is
  'The page''s press. decision: approve, refuse or withdraw; hash: of what the page showed. Outcomes of '
  'app.settle_proposal.';

create or replace function app.decide_proposal(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- As the person: whoever may not see it hears that it is not there. public.call_tool does the rest, as the service.
  if not exists (select from app.proposals as p where p.id = decide_proposal.arguments ->> 'proposal_id') then
    perform app.fail('not_found.proposal', jsonb_build_object(
      'id', arguments -> 'proposal_id', 'organization', context.organization_name
    ), 'proposal_id');
  end if;
  return jsonb_build_object('data', jsonb_build_object('decides', arguments));
end
$$;
comment on function app.decide_proposal is
  'Tool decide_proposal: what public.call_tool is to decide, {decides}, where there is such a proposal to the person.';

create or replace function app.decide_as_assistant(envelope jsonb, user_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  arguments constant jsonb := envelope #> '{data,decides}';
  decided constant jsonb := app.settle_proposal(
    arguments ->> 'proposal_id', user_id, 'assistant', arguments ->> 'hash', arguments ->> 'decision', at
  );
  outcome constant text := decided ->> 'outcome';
begin
  if outcome in ('approved', 'refused', 'withdrawn') then
    return envelope || jsonb_strip_nulls(jsonb_build_object(
      'data', jsonb_build_object(
        'proposal_id', arguments -> 'proposal_id', 'state', outcome, 'written', decided #> '{result,data}'
      ),
      'change_id', decided -> 'change_id'
    ));
  end if;
  return jsonb_build_object('ok', false, 'error', case outcome
    when 'busy' then '{"code": "busy"}'
    else jsonb_build_object('code', 'not_decided.' || outcome, 'params', decided - 'outcome')
  end);
end
$$;
comment on function app.decide_as_assistant is
  'The answer of the tool decide_proposal, once its person was found to see the proposal.';
revoke all on function app.decide_as_assistant from authenticated;

alter function app.run_approved set role = 'authenticated';
alter function app.run_approved set jit = off;

create or replace function app.withdraw_proposals_of(organization_id text, member_id uuid, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.proposals as p
  set state = 'withdrawn', decided_at = at, decided_by = member_id, decided_through = 'page'
  where p.organization_id = withdraw_proposals_of.organization_id and p.actor_id = member_id and p.state = 'pending';
end
$$;
comment on function app.withdraw_proposals_of is 'Withdraws what somebody proposed who is going.';
revoke all on function app.withdraw_proposals_of from authenticated;

-- schemas/approvals/read_proposals.sql

-- Proposals and rules for pages: read by the service for whoever is signed in, so each filters by hand.

create or replace function app.describe_proposal(proposal app.proposals, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
    'id', proposal.id, 'hash', proposal.hash,
    'organization', (select jsonb_build_object('id', o.id, 'name', o.name) from identity.organizations as o
      where o.id = proposal.organization_id),
    'state', case when proposal.state = 'pending' and proposal.expires_at <= at then 'expired'
      else proposal.state end,
    'tool', proposal.tool, 'facts', proposal.facts, 'effects', proposal.effects -> 'effects',
    'effects_count', proposal.effects -> 'effects_count', 'reasons', proposal.reasons,
    'country', reader.country, 'timezone', reader.timezone, 'approver', proposal.approver,
    'proposer', app.member_name(proposal.actor_id), 'is_mine', proposal.actor_id = reader.user_id,
    'client_name', proposal.client_name, 'created_at', proposal.created_at, 'expires_at', proposal.expires_at,
    'asked', (
      select coalesce(jsonb_agg(p.email order by a.place), '[]')
      from unnest(app.find_approvers(proposal.organization_id, proposal.approver, proposal.actor_id))
        with ordinality as a (user_id, place)
      join identity.profiles as p on p.user_id = a.user_id
    ),
    'may_decide', app.may_decide(proposal, reader.user_id, 'page'), 'may_withdraw', proposal.actor_id = reader.user_id,
    'decided_by', app.member_name(proposal.decided_by), 'decided_at', proposal.decided_at,
    'decided_through', proposal.decided_through, 'change_id', proposal.change_id,
    'problem', proposal.problem -> 'code'
    )
    from identity.profiles as reader
    where reader.user_id = describe_proposal.user_id
  );
end
$$;
comment on function app.describe_proposal is
  'A proposal for somebody who may see it: {id, hash, organization, state, tool, facts, effects, effects_count, '
  'reasons, country, timezone, proposer, is_mine, client_name, created_at, expires_at, asked, may_decide, '
  'may_withdraw, decided_by?, …}.';

create or replace function app.sees_proposal(proposal app.proposals, user_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return identity.member_may(proposal.organization_id, user_id, 'approvals:decide')
    or proposal.actor_id = user_id and exists (
      select from identity.memberships as m
      where m.organization_id = proposal.organization_id and m.user_id = sees_proposal.user_id
    );
end
$$;
comment on function app.sees_proposal is
  'Whether a member sees a proposal: their own, and all if they may decide. The policy of app.proposals says the same.';
revoke all on function app.describe_proposal, app.sees_proposal from authenticated;

create or replace function public.read_proposal(user_id uuid, proposal_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  proposal app.proposals;
begin
  select * into proposal from app.proposals as p where p.id = read_proposal.proposal_id;
  if not found or not app.sees_proposal(proposal, user_id) or not identity.is_active(user_id, at) then
    return '{"outcome": "unknown"}';
  end if;
  return jsonb_build_object('outcome', 'found', 'proposal', app.describe_proposal(proposal, user_id, at));
end
$$;
comment on function public.read_proposal is
  'A proposal for its page: {outcome: found | unknown, proposal?}. Unknown to everybody but its proposer and those who '
  'may decide it.';

create or replace function public.read_proposals(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 100;
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'country', reader.country, 'timezone', reader.timezone, 'proposals', (
        select coalesce(jsonb_agg(
          app.describe_proposal(p, reader.user_id, at) - array['effects', 'hash'] order by p.created_at desc
        ), '[]')
        from (
          select * from app.proposals as p
          where p.organization_id = o.id and p.created_at > at - interval '30 days'
            and app.sees_proposal(p, reader.user_id)
          order by p.created_at desc
          limit most
        ) as p
      )
    )
    from identity.organizations as o
    join identity.memberships as m on m.organization_id = o.id and m.user_id = read_proposals.user_id
    join identity.profiles as reader on reader.user_id = m.user_id
    where o.id = read_proposals.organization_id and identity.is_active(m.user_id, at)
  );
end
$$;
comment on function public.read_proposals is
  'The proposals of the last 30 days that a person may see, newest first, without what each changes: {id, name, '
  'country, timezone, proposals}; null for who is no member.';

create or replace function public.read_approval_policy(user_id uuid, organization_id text, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'country', reader.country, 'base_currency', o.base_currency,
      'may_change', identity.member_may(o.id, reader.user_id, 'approvals:manage'),
      'assistants_may_approve', o.assistants_may_approve, 'rules', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', r.id, 'tool', r.tool, 'roles', to_jsonb(r.roles), 'over_records', r.over_records,
          'over', app.format_amount(r.over_minor, r.currency), 'currency', r.currency, 'approver', r.approver
        ) order by r.created_at, r.id), '[]')
        from app.approval_rules as r
        where r.organization_id = o.id
      )
    )
    from identity.organizations as o
    join identity.profiles as reader on reader.user_id = read_approval_policy.user_id
    where o.id = read_approval_policy.organization_id and identity.is_active(reader.user_id, at)
      and identity.member_may(o.id, reader.user_id, 'approvals:decide')
  );
end
$$;
comment on function public.read_approval_policy is
  'What an organization wants approved, for who may decide about proposals: {id, name, country, base_currency, '
  'may_change, assistants_may_approve, rules: [{id, tool, roles, over, currency, over_records, approver}]}; null for '
  'others.';

create or replace function public.change_approval_policy(user_id uuid, organization_id text, rules jsonb,
  assistants_may_approve boolean, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most constant int := 20;
begin
  if not identity.is_active(user_id, at) or not identity.member_may(organization_id, user_id, 'approvals:decide') then
    return '{"outcome": "unknown"}';
  elsif not identity.member_may(organization_id, user_id, 'approvals:manage') then
    return '{"outcome": "not_allowed"}';
  end if;
  perform set_config('app.at', at::text, true);
  -- What is being written is judged by the one policy or the other, not by half of one.
  perform app.lock_books(organization_id);
  if jsonb_array_length(rules) > most then
    return jsonb_build_object('outcome', 'too_many', 'most', most);
  end if;
  delete from app.approval_rules as r where r.organization_id = change_approval_policy.organization_id;
  insert into app.approval_rules (organization_id, tool, roles, over_minor, currency, over_records, approver,
    created_at)
  select change_approval_policy.organization_id, r ->> 'tool',
    array(select jsonb_array_elements_text(r -> 'roles')),
    ((r ->> 'over')::numeric * 10::numeric ^ c.exponent)::bigint, c.code, (r ->> 'over_records')::int,
    r ->> 'approver', at + place * interval '1 microsecond'
  from jsonb_array_elements(rules) with ordinality as x (r, place)
  left join app.currencies as c on c.code = r ->> 'currency';
  update identity.organizations as o
  set assistants_may_approve = change_approval_policy.assistants_may_approve, updated_at = at
  where o.id = change_approval_policy.organization_id;
  perform identity.record_event('approval.policy_changed', user_id, organization_id,
    jsonb_build_object('rules', rules, 'assistants_may_approve', assistants_may_approve), at);
  return '{"outcome": "changed"}';
exception
  when sqlstate 'EX001' then
    return '{"outcome": "busy"}';
  when check_violation or not_null_violation or invalid_text_representation or numeric_value_out_of_range then
    return jsonb_build_object('outcome', 'invalid', 'field', 'rules');
end
$$;
comment on function public.change_approval_policy is
  'Replaces what an organization wants approved, for whoever has the right approvals:manage: outcome changed, unknown, '
  'not_allowed, invalid, too_many or busy. rules: as public.read_approval_policy says them.';

create or replace function app.list_open_proposals(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 20;
begin
  return (
    select jsonb_agg(jsonb_build_object(
      'id', p.id, 'hash', p.hash, 'by', app.member_name(p.actor_id), 'change',
      jsonb_build_object('tool', p.tool, 'facts', p.facts),
      'effects', jsonb_path_query_array(p.effects -> 'effects', '$[0 to 9]'),
      'effects_count', p.effects -> 'effects_count', 'asked_at', p.created_at, 'expires_at', p.expires_at,
      'is_own', p.actor_id = context.actor_id
    ) order by p.created_at)
    from (
      select * from app.proposals as p
      where p.organization_id = context.organization_id and p.state = 'pending' and p.expires_at > context.at
      order by p.created_at desc
      limit most
    ) as p
  );
end
$$;
comment on function app.list_open_proposals is
  'What waits for approval and the person may see, as their policies let them; null when nothing does.';

-- schemas/approvals/mails.sql

-- Mails about proposals: to whoever is asked, and to the proposer once there is an answer. Who has to hear is worked
-- out when somebody sends; a row is made when a mail is taken on, so that it goes once.

create table app.proposal_mails (
  id bigint generated always as identity primary key,
  proposal_id text collate "C" not null references app.proposals (id) on delete cascade,
  user_id uuid not null,
  kind text not null constraint proposal_mails_kind_known check (kind in ('asked', 'decided')),
  attempts int not null default 0,
  leased_until timestamptz not null,
  sent_at timestamptz,
  unique (proposal_id, user_id, kind)
);
comment on table app.proposal_mails is
  'Which mails about proposals somebody is sending, or sent. A sender that dies leaves a lease that ends.';
create index proposal_mails_leased_until_idx on app.proposal_mails (leased_until) where sent_at is null;
alter table app.proposal_mails enable row level security;
grant select, insert, update, delete on app.proposal_mails to service_role;

create or replace function public.claim_proposal_mails(proposal_id text, at_most int, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  lease constant interval := '2 minutes';
  max_attempts constant int := 5;
  claimed jsonb;
begin
  perform set_config('app.at', at::text, true);
    with due as (
      select p.id, a.user_id, 'asked' as kind
      from app.proposals as p
      cross join lateral app.find_approvers(p.organization_id, p.approver, p.actor_id) as who (ids)
      -- Who has nobody to ask is asked.
      cross join lateral unnest(case who.ids when '{}' then array[p.actor_id] else who.ids end) as a (user_id)
      where p.state = 'pending' and p.expires_at > at
        and (claim_proposal_mails.proposal_id is null or p.id = claim_proposal_mails.proposal_id)
      union all
      select p.id, p.actor_id, 'decided'
      from app.proposals as p
      where p.state in ('approved', 'refused', 'stale') and p.decided_by <> p.actor_id
        and p.decided_at > at - interval '2 days'
        and (claim_proposal_mails.proposal_id is null or p.id = claim_proposal_mails.proposal_id)
    ), open as (
      select d.*
      from due as d
      where exists (
          select from app.proposals as p
          join identity.memberships as m on m.organization_id = p.organization_id and m.user_id = d.user_id
          join identity.organizations as o on o.id = p.organization_id and o.deletes_at is null
          where p.id = d.id and identity.is_active(d.user_id, at)
      )
        and not exists (
          select from app.proposal_mails as w
          where w.proposal_id = d.id and w.user_id = d.user_id and w.kind = d.kind
            and (w.sent_at is not null or w.leased_until > at or w.attempts >= max_attempts)
        )
      order by d.id, d.kind, d.user_id
      limit at_most
    ), taken as (
      insert into app.proposal_mails as w (proposal_id, user_id, kind, attempts, leased_until)
      select o.id, o.user_id, o.kind, 1, at + lease from open as o
      on conflict on constraint proposal_mails_proposal_id_user_id_kind_key do update
        set attempts = w.attempts + 1, leased_until = excluded.leased_until
        -- Of two senders at once the second finds it taken.
        where w.sent_at is null and w.leased_until <= at
      returning w.*
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', c.id::text, 'kind', c.kind, 'to', p.email, 'hides_amounts', p.hide_amounts_in_email,
      'proposal', app.describe_proposal(q, c.user_id, at)
    ) order by c.id), '[]') into claimed
    from taken as c
    join app.proposals as q on q.id = c.proposal_id
    join identity.profiles as p on p.user_id = c.user_id;
  return claimed;
end
$$;
comment on function public.claim_proposal_mails is
  'Mails about proposals (one, or all when null) for one sender, leased for two minutes: [{id, kind: asked | decided, '
  'to, hides_amounts, proposal}].';

create or replace function public.settle_proposal_mail(mail_id text, is_sent boolean, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.proposal_mails as w
  set sent_at = case when is_sent then at end,
    leased_until = case when is_sent then at else at + interval '5 minutes' end
  where w.id = mail_id::bigint and w.sent_at is null;
end
$$;
comment on function public.settle_proposal_mail is
  'Notes that a mail was taken by the mail service, or that it is to be tried again, not at once.';

-- schemas/imports/currency_of_sign.sql

-- import_expenses: rows of a file into the books. A file is kept, its rows are staged in pages and matched with the
-- books in pages, seen by nobody; a preview shows what they are, and one transaction writes them when the caller says
-- the count and the totals it was shown. Reading the file itself is done before: here are only its rows.

create or replace function app.currency_of_sign(sign text, home text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  users constant text[] := case sign
    when '$'
      then
      array['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'TWD', 'MXN', 'ARS', 'CLP', 'COP', 'UYU', 'JMD', 'TTD', 'BBD',
      'BSD', 'BZD', 'FJD']
    when '¥' then array['JPY', 'CNY']
    when 'kr' then array['SEK', 'NOK', 'DKK', 'ISK']
    when 'Rs' then array['INR', 'PKR', 'LKR', 'NPR', 'MUR']
  end;
begin
  return case when users is null then sign when home = any (users) then home else users[1] end;
end
$$;
comment on function app.currency_of_sign is
  'The currency that a sign shared by several stands for: the one at home if it uses the sign, else its best-known; '
  'anything else as it is.';

-- schemas/imports/accounts.sql

create or replace function app.account_key(context app.context, name text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return encode(sha256(convert_to(context.organization_id || ' ' || account_key.name, 'UTF8')), 'hex');
end
$$;
comment on function app.account_key is
  'What an account is found by: a hash of its number, else of what its export or its person calls it.';

create or replace function app.make_account(context app.context, name text, key text, facts jsonb) returns text
language plpgsql volatile set search_path = '' as $$
declare
  max_accounts constant int := 100;
  account_id text;
begin
  if (select count(*) from app.accounts as a where a.organization_id = context.organization_id) >= max_accounts then
    perform app.fail('invalid_argument.too_many_accounts', jsonb_build_object('most', max_accounts), 'account');
  end if;
  for i in 1..max_accounts + 1 loop
    insert into app.accounts (organization_id, name, key, kind, currency)
    select context.organization_id,
      case i when 1 then left(make_account.name, 60) else left(make_account.name, 54) || format(' (%s)', i) end,
      make_account.key, case when facts ->> 'kind' = 'card' then 'card' else 'account' end,
      (select c.code from app.currencies as c where c.code = facts ->> 'currency')
    -- Of the same key, or of the same name.
    on conflict do nothing;
    select a.id into account_id from app.accounts as a
    where a.organization_id = context.organization_id and a.key = make_account.key;
    exit when found;
  end loop;
  return account_id;
end
$$;
comment on function app.make_account is
  'The account of a key, which is made under a name of its own where there is none.';

create or replace function app.find_account(context app.context, given text, facts jsonb) returns text
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := app.clean_text(given);
  number constant text := nullif(upper(regexp_replace(facts ->> 'number', '[^[:alnum:]]+', '', 'g')), '');
  export constant text := app.clean_text(left(facts ->> 'name', 40));
  key_of_file constant text := app.account_key(context, coalesce(number, lower(export)));
  key_of_name constant text := app.account_key(context, 'named ' || lower(wanted));
  account app.accounts;
begin
  select * into account from app.accounts as a
  where a.organization_id = context.organization_id
    and case when wanted is null then a.key = key_of_file
      else a.id = wanted or lower(a.name) = lower(wanted) end;
  if found then
    -- The next file of it is found by itself.
    update app.accounts as a set key = key_of_file, updated_at = context.at
    where a.id = account.id and a.key = key_of_name and number is not null
      and not exists (
        select from app.accounts as other
        where other.organization_id = context.organization_id and other.key = key_of_file
      );
    return account.id;
  elsif wanted ~ '^acc_[0-9a-z]+$' then
    perform app.fail('not_found.account', jsonb_build_object('id', wanted), 'account');
  elsif wanted is not null then
    return app.make_account(context, wanted, key_of_name, facts);
  elsif key_of_file is not null then
    return app.make_account(context, concat_ws(' ', export, '…' || right(number, 4)), key_of_file, facts);
  end if;
  return null;
end
$$;
comment on function app.find_account is
  'The account that was given, by id or name, else the one a file says it is of; a new one where there is none. Null '
  'when nothing says so: a list of expenses is of no account.';

-- schemas/imports/find_import.sql

create or replace function app.find_import(context app.context, import_id text) returns app.import_batches
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
declare
  batch app.import_batches;
begin
  select * into batch from app.import_batches as b
  where b.id = find_import.import_id and b.expires_at > context.at
  for update;
  if not found then
    perform app.fail('not_found.import', field => 'import_id');
  end if;
  return batch;
exception when lock_not_available then
  perform app.fail('busy');
end
$$;
comment on function app.find_import is
  'An import of the person, locked, so that each step sees what the one before left: it is theirs alone, and waits for '
  'a day.';

create or replace function app.describe_import(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  counted record;
begin
  select count(*) as staged, count(*) filter (where r.line <= batch.matched_through) as matched into counted
  from app.import_rows as r
  where r.import_id = batch.id;
  return jsonb_strip_nulls(jsonb_build_object(
    'import_id', batch.id, 'state', batch.state, 'expires_at', batch.expires_at,
    'revision', coalesce((batch.read ->> 'revision')::int, 0),
    'row_count', batch.row_count, 'staged_through', batch.staged_through, 'matched_through', batch.matched_through,
    'done', counted.staged + counted.matched, 'total', 2 * batch.row_count,
    'organization', context.organization_name,
    'account', (select jsonb_build_object('id', a.id, 'name', a.name) from app.accounts as a
      where a.id = batch.account_id),
    'name', batch.read ->> 'name', 'left_out', batch.read -> 'left_out', 'questions', batch.read -> 'questions'
  ));
end
$$;
comment on function app.describe_import is
  'How far an import is: {import_id, state, revision, staged_through, matched_through, row_count, done, total, …}; '
  'staging a row and matching it count as one each.';

-- schemas/imports/keep_file.sql

create or replace function app.start_import(context app.context, arguments jsonb) returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  max_kept constant int := 20;
  batch app.import_batches;
begin
  if arguments ? 'default_currency' then
    perform app.currency_exponent(arguments ->> 'default_currency', 'default_currency');
  end if;
  -- Files are large: the oldest that nobody came back to make room.
  delete from app.import_batches as b
  where b.id in (
    select old.id from app.import_batches as old
    where old.actor_id = context.actor_id and old.state <> 'committed'
    order by old.created_at desc, old.id
    offset max_kept - 1
  );
  insert into app.import_batches (organization_id, actor_id, state, read, expires_at)
  values (
    context.organization_id, context.actor_id, 'waiting', jsonb_strip_nulls(jsonb_build_object(
      'account_given', arguments -> 'account', 'default_currency', arguments -> 'default_currency'
    )),
    context.at + interval '30 minutes'
  )
  returning * into batch;
  return batch;
end
$$;
comment on function app.start_import is 'Step start: an import that waits half an hour for its file.';

create or replace function app.learned_answers(account_id text, questions jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(q ->> 'id', a.answers -> (q ->> 'id')), '{}')
    from jsonb_array_elements(questions) as q
    join app.accounts as a on a.id = learned_answers.account_id and a.answers ? (q ->> 'id')
  );
end
$$;
comment on function app.learned_answers is 'What a person answered to these questions about an account before.';

create or replace function app.keep_import_file(context app.context, arguments jsonb) returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches := case when arguments ? 'import_id'
    then app.find_import(context, arguments ->> 'import_id') else app.start_import(context, arguments) end;
  found_id text;
  learned jsonb;
begin
  if batch.state <> 'waiting' then
    perform app.fail('invalid_argument.upload_used', field => 'import_id');
  end if;
  found_id := app.find_account(
    context, coalesce(arguments ->> 'account', batch.read ->> 'account_given'), arguments #> '{read,account}'
  );
  learned := app.learned_answers(found_id, arguments #> '{read,questions}');
  update app.import_batches as b
  set state = 'reading', file = arguments ->> 'file', account_id = found_id,
    row_count = (arguments ->> 'row_count')::int, expires_at = context.at + app.kept_for('imports'),
    read = b.read || (arguments -> 'read') || jsonb_build_object(
      'given', coalesce(arguments -> 'mapping', '{}'), 'answers', learned,
      'revision', case learned when '{}' then 1 else 2 end
    )
  where b.id = batch.id
  returning b.* into batch;
  return batch;
end
$$;
comment on function app.keep_import_file is
  'Step keep: the text of a file and what reading it said, once for each import. Its revision is 2 when the account '
  'has learned an answer, which asks for another reading.';

create or replace function app.load_import(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return app.describe_import(context, batch) || case batch.state when 'reading' then jsonb_build_object(
    'file', batch.file,
    'mapping', coalesce(batch.read -> 'given', '{}') || coalesce(batch.read -> 'answers', '{}')
  ) else '{}' end;
end
$$;
comment on function app.load_import is
  'Step load: how far an import is, and what reading its file again takes, {file, mapping}.';

-- schemas/imports/correct_rows.sql

-- What a person says of an import is kept with it, and given to its rows again whenever these are read or matched anew.

create or replace function app.correct_import_rows(batch app.import_batches, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
declare
  skipped constant int[] := array(
    select s::int from jsonb_array_elements_text(coalesce(batch.read -> 'skip_lines', '[]')) as s
  );
begin
  update app.import_rows as r set is_skipped = r.line = any (skipped)
  where r.import_id = batch.id and r.line between first and last and r.is_skipped <> (r.line = any (skipped));
  update app.import_rows as r
  set item = corrected.item, draft = null, match = null,
    error = case when not corrected.item ?& array['name', 'amount', 'date'] then r.error end
  from jsonb_each(coalesce(batch.read -> 'corrections', '{}')) as c (line, correction)
  join app.import_rows as given on given.import_id = batch.id and given.line = c.line::int
  cross join lateral (
    select given.item - case when c.correction ?| array['amount', 'currency'] then 'charged' else '' end
      -- What the bank wrote stays what its line is known by.
      || jsonb_build_object('as_read', coalesce(given.item -> 'as_read', given.item)) || c.correction as item
  ) as corrected
  where r.import_id = batch.id and r.line = given.line and r.line between first and last;
end
$$;
comment on function app.correct_import_rows is
  'Skips and corrects the rows of these lines as their import says; a row that could not be read can be once its '
  'name, amount and date are given.';

create or replace function app.apply_import_rules(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  if coalesce(batch.read -> 'rules', '[]') = '[]' then
    return;
  end if;
  update app.import_rows as r
  set draft = r.draft || jsonb_build_object('category_id', chosen.category_id, 'category_source', 'payee_rule')
  from app.import_rows as given
  cross join lateral (
    select app.payee_words(given.draft ->> 'payee') || ' ' as payee,
      app.payee_words(given.draft ->> 'name') || ' ' as name
    offset 0
  ) as by
  cross join lateral (
    select c.id as category_id
    from jsonb_array_elements(batch.read -> 'rules') as rule
    cross join lateral (select app.payee_words(rule ->> 'payee') || ' ' as words) as w
    join app.categories as c
      on c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(rule ->> 'category'))
    where starts_with(by.payee, w.words) or starts_with(by.name, w.words)
    order by length(w.words) desc, w.words, c.is_private desc
    limit 1
  ) as chosen
  where r.import_id = batch.id and r.line = given.line and given.import_id = batch.id
    and given.line between first and last and given.draft ->> 'category_source' <> 'given';
end
$$;
comment on function app.apply_import_rules is
  'Gives the rows of these lines the categories of the payee rules that came with their import.';

create or replace function app.answer_import_rows(batch app.import_batches, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.import_rows as r set match = r.match || jsonb_build_object('answer', a.value)
  from jsonb_each(coalesce(batch.read -> 'row_answers', '{}')) as a
  where r.import_id = batch.id and r.line = a.key::int and r.line between first and last
    and r.match ->> 'state' = 'likely' and app.match_options(r.match) @> a.value;
end
$$;
comment on function app.answer_import_rows is
  'Gives the rows of these lines what was answered about them, where it is still asked and still an option.';

create or replace function app.match_options(match jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case jsonb_array_length(match -> 'candidates') when 1 then '["same"]'
    else coalesce(jsonb_path_query_array(match, '$.candidates[*].id'), '[]') end || '"new"';
end
$$;
comment on function app.match_options is
  'What can be answered about a row that is likely in the books: that it is the same or which, or that it is new.';

-- schemas/imports/stage_rows.sql

create or replace function app.choose_import_categories(context app.context, batch app.import_batches, first int,
  last int) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(r.payee || chr(10) || r.name, to_jsonb(chosen)), '{}')
    from (
      select distinct coalesce(app.clean_text(i.item ->> 'payee'), '') as payee,
        coalesce(app.clean_text(i.item ->> 'name'), '') as name
      from app.import_rows as i
      where i.import_id = batch.id and i.line between first and last and i.draft is null and i.error is null
        and i.kind in ('expense', 'refund')
    ) as r
    cross join lateral (
      select c.id as category_id, c.source as category_source
      from app.choose_category(context, null, nullif(r.payee, ''), r.name, 'csv') as c
    ) as chosen
  );
end
$$;
comment on function app.choose_import_categories is
  'The category of each payee and name of these lines, looked for once: a statement names the same shops again and '
  'again.';

-- Planned each time: of how many rows a page has, a plan kept for all knows nothing.
create or replace function app.write_drafts(batch app.import_batches, lines int[], drafts jsonb[], errors jsonb[])
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  update app.import_rows as r set draft = d.draft, error = d.error
  from unnest(lines, drafts, errors) as d (line, draft, error)
  where r.import_id = batch.id and r.line = d.line;
end
$$;
comment on function app.write_drafts is 'Keeps the drafts of these lines, or why there is none.';

create or replace function app.draft_import_rows(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  known constant text[] := array(
    select lower(c.name) from app.categories as c
    where c.organization_id = context.organization_id and c.archived_at is null
  );
  chosen constant jsonb := app.choose_import_categories(context, batch, first, last);
  lines int[] := '{}';
  drafts jsonb[] := '{}';
  errors jsonb[] := '{}';
  draft jsonb;
  problem text;
  row record;
begin
  for row in
    select r.line, r.item
      -- Whether its category exists is asked when the row is written; everything else must hold now.
      - case when lower(app.clean_text(r.item ->> 'category')) <> all (known || 'uncategorized'::text)
        then 'category' else '' end
      -- In the base currency an amount is its own value, whatever an account in another one was charged for it.
      - case when r.item ->> 'currency' = context.base_currency then 'charged' else '' end as item
    from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.draft is null and r.error is null
      and r.kind in ('expense', 'refund')
    order by r.line
  loop
    draft := null;
    problem := null;
    begin
      draft := case when app.clean_text(row.item ->> 'category') is not null
        then app.parse_expense_item(context, row.item, 'csv', false)
        else app.parse_expense_item(context, row.item || '{"category": "Uncategorized"}', 'csv', false)
          || jsonb_strip_nulls(chosen -> (
            coalesce(app.clean_text(row.item ->> 'payee'), '') || chr(10) || app.clean_text(row.item ->> 'name')
          ))
      end || jsonb_build_object('place', row.line);
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
    end;
    lines := lines || row.line;
    drafts := drafts || draft;
    errors := errors || problem::jsonb;
  end loop;
  perform app.write_drafts(batch, lines, drafts, errors);
  perform app.apply_import_rules(context, batch, first, last);
end
$$;
comment on function app.draft_import_rows is
  'Parses the rows of these lines that have no draft yet, each into one or the reason why it cannot be.';

create or replace function app.stage_import_rows(context app.context, batch app.import_batches, arguments jsonb)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  after constant int := (arguments ->> 'after')::int;
  through constant int := (arguments ->> 'through')::int;
  new_read constant jsonb := batch.read || coalesce(arguments -> 'read', '{}');
  home constant text := coalesce(
    batch.read ->> 'default_currency',
    (select a.currency from app.accounts as a where a.id = batch.account_id), context.base_currency
  );
begin
  -- Another caller went on with it, or an answer asks for another reading.
  if batch.state <> 'reading' or batch.staged_through <> after or arguments -> 'revision' <> batch.read -> 'revision'
    then
    return batch;
  end if;
  if after = 0 then
    delete from app.import_rows as r where r.import_id = batch.id;
  end if;
  insert into app.import_rows (import_id, organization_id, line, kind, item)
  select batch.id, context.organization_id, (i ->> 'line')::int,
    case when (i ->> 'is_refund')::boolean then 'refund' else 'expense' end,
    i || jsonb_build_object('currency', app.currency_of_sign(coalesce(i ->> 'currency', home), home))
  from jsonb_array_elements(arguments -> 'rows') as i;
  insert into app.import_rows (import_id, organization_id, line, item, error)
  select batch.id, context.organization_id, (b ->> 'line')::int, '{}', b -> 'error'
  from jsonb_array_elements(arguments -> 'rows_bad') as b;
  insert into app.import_rows (import_id, organization_id, line, kind, item)
  select batch.id, context.organization_id, (i ->> 'line')::int, i ->> 'kind',
    i || jsonb_build_object('currency', app.currency_of_sign(coalesce(i ->> 'currency', home), home))
  from jsonb_array_elements(arguments -> 'left_out_rows') as i;
  update app.import_batches as b
  set read = new_read, staged_through = through, matched_through = 0,
    row_count = coalesce((arguments ->> 'row_count')::int, b.row_count),
    state = case when (arguments ->> 'is_last')::boolean then 'matching' else 'reading' end
  where b.id = batch.id
  returning b.* into batch;
  perform app.correct_import_rows(batch, after + 1, through);
  perform app.draft_import_rows(context, batch, after + 1, through);
  return batch;
end
$$;
comment on function app.stage_import_rows is
  'Step stage: a page of rows, {revision, after, through, rows, rows_bad, left_out_rows, is_last}, with the first one '
  'what reading said of the whole, {read, row_count}. A page that does not follow what there is changes nothing.';

-- schemas/imports/match_import.sql

create or replace function app.oldest_running() returns bigint
language plpgsql volatile set search_path = '' as $$
begin
  return pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
end
$$;
comment on function app.oldest_running is
  'The oldest transaction that had not ended: all before it are seen from here on.';

create or replace function app.list_recent_payments(context app.context, batch app.import_batches, since bigint)
  returns jsonb
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  days constant int := 5;
  first_day date;
  last_day date;
begin
  select min((r.draft ->> 'paid_on')::date) - days, max((r.draft ->> 'paid_on')::date) + days into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id;
  return (
    select coalesce(jsonb_agg(p.id || ':' || p.xmin), '[]')
    from app.payments as p
    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.deleted_at is null and age(p.xmin) <= pg_current_xact_id()::text::bigint - list_recent_payments.since
  );
end
$$;
comment on function app.list_recent_payments is
  'Versions of payments around the days of an import that are seen although a transaction as old as theirs still runs.';

create or replace function app.match_import_page(context app.context, batch app.import_batches)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  page_rows constant int := 2000;
  seen constant bigint := app.oldest_running();
  recent constant jsonb := case batch.matched_through when 0 then app.list_recent_payments(context, batch, seen) end;
  last int;
begin
  if batch.state <> 'matching' then
    return batch;
  end if;
  select max(page.line) into last
  from (
    select r.line from app.import_rows as r
    where r.import_id = batch.id and r.line > batch.matched_through
    order by r.line
    limit page_rows
  ) as page;
  if last is not null then
    perform app.match_import_rows(context, batch, batch.matched_through + 1, last);
    perform app.answer_import_rows(batch, batch.matched_through + 1, last);
  end if;
  update app.import_batches as b
  set matched_through = coalesce(last, b.staged_through),
    state = case when last < b.staged_through then 'matching' else 'ready' end,
    read
      = case batch.matched_through when 0 then b.read || jsonb_build_object('seen', seen, 'recent', recent) else b.read
      end
  where b.id = batch.id
  returning b.* into batch;
  return batch;
end
$$;
comment on function app.match_import_page is 'Step match: finds what the next page of rows is in the books.';

create or replace function app.find_changed_rows(context app.context, batch app.import_batches, is_published boolean)
  returns int[]
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan'
  -- Of rows that were just staged the planner knows nothing.
  set enable_nestloop = off as $$
declare
  days constant int := 5;
  -- Transactions are counted round and round: how many ago is all that can be compared.
  since constant bigint := pg_current_xact_id()::text::bigint - (batch.read ->> 'seen')::bigint;
  matched constant text[] := array(
    select jsonb_array_elements_text(r.match -> 'payment_ids') from app.import_rows as r
    where r.import_id = batch.id and r.match ? 'payment_ids'
  );
  recent constant text[] := array(select jsonb_array_elements_text(batch.read -> 'recent'));
  first_day date;
  last_day date;
  touched text[];
  changed text[];
begin
  select min((r.draft ->> 'paid_on')::date) - days, max((r.draft ->> 'paid_on')::date) + days into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id;
  touched := array(
    select p.id from app.payments as p
    where p.id = any (matched) and (p.deleted_at is not null
      or not is_published and age(p.xmin) <= since and p.id || ':' || p.xmin <> all (recent))
  );
  changed := array(
    select p.id from app.payments as p
    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.deleted_at is null and age(p.xmin) <= since and p.id || ':' || p.xmin <> all (recent)
      -- Of imports this is the only one that is being published.
      and (not is_published or p.source <> 'import' and p.id <> all (matched))
  );
  return array(
    select r.line
    from app.import_rows as r
    where touched <> '{}' and r.import_id = batch.id and r.match -> 'payment_ids' ?| touched
    union
    select r.line
    from app.import_rows as r
    join app.payments as p
      on p.id = any (changed) and p.amount_minor = (r.draft ->> 'amount_minor')::bigint
        and p.currency = r.draft ->> 'currency'
        and p.paid_on between (r.draft ->> 'paid_on')::date - days and (r.draft ->> 'paid_on')::date + days
    where changed <> '{}' and r.import_id = batch.id
    union
    select r.line
    from app.import_rows as r
    join app.payments as p on p.id = any (changed) and p.expense_id = r.match ->> 'bill_id'
    where changed <> '{}' and r.import_id = batch.id
  );
end
$$;
comment on function app.find_changed_rows is
  'The lines of an import that may be something else in the books than when they were matched, because of what others '
  'wrote or deleted since; once it is published, without what itself wrote.';

create or replace function app.refresh_import(context app.context, batch app.import_batches)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  seen constant bigint := app.oldest_running();
  recent constant jsonb := app.list_recent_payments(context, batch, seen);
  lines constant int[] := app.find_changed_rows(context, batch, false);
begin
  perform app.match_lines(context, batch, lines);
  update app.import_batches as b set read = b.read || jsonb_build_object('seen', seen, 'recent', recent)
  where b.id = batch.id
  returning b.* into batch;
  return batch;
end
$$;
comment on function app.refresh_import is 'Matches again what the books have changed for since.';

create or replace function app.match_lines(context app.context, batch app.import_batches, lines int[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- Of many, all between them: a match looks at what the other rows were matched with.
  few constant int := 20;
  page_rows constant int := 2000;
  part record;
begin
  update app.import_rows as r set match = null where r.import_id = batch.id and r.line = any (lines);
  for part in
    select min(r.line) as first, max(r.line) as last
    from (
      select chosen.line, row_number() over (order by chosen.line) - 1 as place
      from app.import_rows as chosen
      where chosen.import_id = batch.id
        and case when cardinality(lines) <= few then chosen.line = any (lines)
          else chosen.line between (select min(l) from unnest(lines) as l) and (select max(l) from unnest(lines) as l)
        end
    ) as r
    group by r.place / case when cardinality(lines) <= few then 1 else page_rows end
    order by 1
  loop
    perform app.match_import_rows(context, batch, part.first, part.last);
    perform app.answer_import_rows(batch, part.first, part.last);
  end loop;
end
$$;
comment on function app.match_lines is 'Matches rows again, by their lines.';

-- schemas/imports/judge_rows.sql

create or replace function app.judge_import_rows(context app.context, batch app.import_batches, on_duplicate text)
returns
  table (line int, outcome text, is_in_books boolean, direction text, amount_minor bigint, currency text)
language plpgsql stable set search_path = '' as $$
declare
  last_closed date;
begin
  select o.closed_through into last_closed from identity.organizations as o where o.id = context.organization_id;
  return query
    select r.line,
      case
        when r.kind not in ('expense', 'refund') then 'left_out'
        when r.is_skipped then 'skipped'
        when r.error is not null then 'bad'
        when on_duplicate is distinct from 'allow' and m.state <> 'new' then m.state
        when d.paid_on <= last_closed then 'closed'
        else 'new'
      end,
      coalesce(m.state in ('known', 'linked'), false), d.direction, d.amount_minor, d.currency
    from app.import_rows as r
    cross join lateral jsonb_to_record(coalesce(r.draft, '{}'))
      as d (paid_on date, direction text, amount_minor bigint, currency text)
    cross join lateral (
      select case
        when r.match ->> 'state' <> 'likely' then r.match ->> 'state'
        when r.match ->> 'answer' is null then 'asked'
        when r.match ->> 'answer' = 'new' then 'new'
        else 'linked'
      end as state
    ) as m
    where r.import_id = batch.id;
end
$$;
comment on function app.judge_import_rows is
  'What becomes of each row: left_out, skipped, bad, known (a line that was imported before, or repeats the books), '
  'linked to what it pays, asked, closed (in a month that is), or new, which is written.';

create or replace function app.count_import(context app.context, batch app.import_batches, on_duplicate text)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with judged as materialized (
      select * from app.judge_import_rows(context, batch, on_duplicate)
    )
    select jsonb_build_object(
      'outcomes',
      (select coalesce(jsonb_object_agg(o.outcome, o.count), '{}')
        from (select j.outcome, count(*) as count from judged as j group by j.outcome) as o),
      'totals', (
        select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}')
        from (
          select j.currency, sum(case j.direction when 'out' then j.amount_minor else -j.amount_minor end) as net
          from judged as j
          where j.outcome = 'new'
          group by j.currency
        ) as s
      ),
      'new', (select coalesce(jsonb_agg(j.line order by j.line), '[]') from judged as j where j.outcome = 'new'),
      'in_books', (
        select coalesce(jsonb_agg(b.line order by b.line), '[]')
        from (select j.line from judged as j where j.is_in_books order by j.line limit 100) as b
      ),
      'in_books_count', (select count(*) from judged as j where j.is_in_books),
      -- The first of each, to be listed.
      'listed', (
        select coalesce(jsonb_object_agg(l.outcome, l.lines), '{}')
        from (
          select p.outcome, jsonb_agg(p.line order by p.line) as lines
          from (
            select j.outcome, j.line, row_number() over (partition by j.outcome order by j.line) as place
            from judged as j
            where j.outcome <> 'left_out'
          ) as p
          where p.place <= 100
          group by p.outcome
        ) as l
      )
    )
  );
end
$$;
comment on function app.count_import is
  'An import by outcomes of its rows: {outcomes: {outcome: count}, totals and new (lines) of what is written, in_books '
  'and in_books_count, listed: {outcome: the first lines}}.';

create or replace function app.import_questions(batch app.import_batches, lines jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(batch.read -> 'questions', '[]') || (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', 'row_' || r.line,
      'about', jsonb_build_object(
        'line', r.line, 'date', r.draft -> 'paid_on', 'name', r.draft -> 'name',
        'amount', app.format_amount((r.draft ->> 'amount_minor')::numeric, r.draft ->> 'currency'),
        'currency', r.draft -> 'currency', 'candidates', (
          select jsonb_agg(c - array['payment_ids', 'bill_id', 'due_on'] || case when c ? 'due_on'
            then jsonb_build_object('due_on', c -> 'due_on') else '{}' end)
          from jsonb_array_elements(r.match -> 'candidates') as c
        )
      ),
      'options', app.match_options(r.match), 'default', r.match -> 'default'
    )) order by r.line), '[]')
    from jsonb_array_elements_text(lines) as asked
    join app.import_rows as r on r.import_id = batch.id and r.line = asked::int
  );
end
$$;
comment on function app.import_questions is
  'What is open about a file and about these of its rows: [{id, about, options, default?}].';

-- schemas/imports/answer_import.sql

create or replace function app.read_answers(batch app.import_batches, answers jsonb, out of_file jsonb,
  out of_rows jsonb) returns record
language plpgsql stable set search_path = '' as $$
declare
  id text;
  answer jsonb;
  options jsonb;
begin
  of_file := '{}';
  of_rows := '{}';
  for id, answer in select a.key, a.value from jsonb_each(answers) as a loop
    if id ~ '^row_\d{1,9}$' then
      select app.match_options(r.match) into options from app.import_rows as r
      where r.import_id = batch.id and r.line = substr(id, 5)::int and r.match ->> 'state' = 'likely';
    else
      options := case id
        when 'negative_is_expense' then '[true, false]'::jsonb
        when 'decimal' then '[".", ","]'
        when 'date_format' then '["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY"]'
      end;
    end if;
    if options is null then
      perform app.fail('invalid_argument.no_such_question', jsonb_build_object('id', left(id, 40)), 'answers');
    elsif not options @> answer or jsonb_typeof(answer) in ('array', 'object') then
      perform app.fail('invalid_argument.no_such_answer', jsonb_build_object(
        'id', id, 'options', jsonb_path_query_array(options, '$[0 to 9]')
      ), 'answers');
    elsif id ~ '^row_' then
      of_rows := of_rows || jsonb_build_object(substr(id, 5), answer);
    else
      of_file := of_file || jsonb_build_object(id, answer);
    end if;
    options := null;
  end loop;
end
$$;
comment on function app.read_answers is
  'Answers by question, {id: option}, as those about the whole file and those about rows by line.';

create or replace function app.check_lines(batch app.import_batches, lines int[], field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  line int;
begin
  select l into line from unnest(lines) as l
  where not exists (
    select from app.import_rows as r
    where r.import_id = batch.id and r.line = l and r.kind in ('expense', 'refund')
  )
  limit 1;
  if line is not null then
    perform app.fail('invalid_argument.no_such_line', jsonb_build_object('line', line), field);
  end if;
end
$$;
comment on function app.check_lines is 'Ends the tool when a line is none of the rows that are imported.';

create or replace function app.join_rules(context app.context, known jsonb, given jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rule jsonb;
  place int;
begin
  for rule, place in select r.value, r.ordinality - 1 from jsonb_array_elements(given) with ordinality as r loop
    if coalesce(app.payee_words(rule ->> 'payee'), '') = '' then
      perform app.fail('invalid_argument.rule_without_payee', field => format('rules[%s].payee', place));
    end if;
    if app.find_category(context, rule ->> 'category', format('rules[%s].category', place)) is null then
      perform app.fail_without_category(rule ->> 'category', format('rules[%s].category', place));
    end if;
  end loop;
  return (
    select coalesce(jsonb_agg(k), '[]') || given
    from jsonb_array_elements(known) as k
    where not exists (
      select from jsonb_array_elements(given) as g
      where app.payee_words(g ->> 'payee') = app.payee_words(k ->> 'payee')
    )
  );
end
$$;
comment on function app.join_rules is 'The payee rules of an import with those that were given since.';

create or replace function app.answer_import(context app.context, batch app.import_batches, arguments jsonb)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  skipped constant int[] := array(select s::int from jsonb_array_elements_text(arguments -> 'skip_lines') as s);
  corrected constant int[] :=
    array(select (c ->> 'line')::int from jsonb_array_elements(arguments -> 'corrections') as c);
  is_staged constant boolean := batch.state in ('matching', 'ready');
  changes jsonb := '{}';
  answers record;
begin
  if arguments ? 'answers' then
    answers := app.read_answers(batch, arguments -> 'answers');
    changes := jsonb_build_object(
      'answers', coalesce(batch.read -> 'answers', '{}') || answers.of_file,
      'row_answers', coalesce(batch.read -> 'row_answers', '{}') || answers.of_rows
    );
  end if;
  if arguments ? 'mapping' then
    changes := changes
      || jsonb_build_object('given', coalesce(batch.read -> 'given', '{}') || (arguments -> 'mapping'));
  end if;
  if arguments ? 'rules' then
    changes := changes || jsonb_build_object(
      'rules', app.join_rules(context, coalesce(batch.read -> 'rules', '[]'), arguments -> 'rules')
    );
  end if;
  if is_staged then
    perform app.check_lines(batch, skipped, 'skip_lines');
    perform app.check_lines(batch, corrected, 'corrections');
  end if;
  if arguments ? 'skip_lines' then
    changes := changes || jsonb_build_object('skip_lines', to_jsonb(skipped));
  end if;
  if arguments ? 'corrections' then
    changes := changes || jsonb_build_object('corrections', coalesce(batch.read -> 'corrections', '{}') || (
      select coalesce(jsonb_object_agg(c ->> 'line', coalesce(batch.read #> array['corrections', c ->> 'line'], '{}')
        || (c - 'line')), '{}') from jsonb_array_elements(arguments -> 'corrections') as c
    ));
  end if;
  if changes = '{}' then
    return batch;
  end if;
  -- The file means something else now, so it is read again.
  if changes -> 'answers' is distinct from coalesce(batch.read -> 'answers', '{}') and changes ? 'answers'
    or changes ? 'given' then
    update app.import_batches as b
    set read = b.read || changes || jsonb_build_object('revision', (b.read ->> 'revision')::int + 1),
      state = 'reading', staged_through = 0, matched_through = 0
    where b.id = batch.id
    returning b.* into batch;
    return batch;
  end if;
  update app.import_batches as b set read = b.read || changes where b.id = batch.id
  returning b.* into batch;
  if is_staged then
    perform app.correct_import_rows(batch, 1, batch.staged_through);
    perform app.draft_import_rows(context, batch, 1, batch.staged_through);
    perform app.answer_import_rows(batch, 1, batch.staged_through);
    perform app.match_lines(context, batch, array(
      select r.line from app.import_rows as r
      where r.import_id = batch.id and r.line <= batch.matched_through and r.draft is not null and r.match is null
    ));
  end if;
  return batch;
end
$$;
comment on function app.answer_import is
  'Takes up what a person says of an import: {answers, mapping, skip_lines, corrections, rules}. Answers about the '
  'whole file, and columns, ask for another reading of it.';

-- schemas/imports/preview_import.sql

create or replace function app.describe_left_out(kinds jsonb, home text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(k || jsonb_build_object('totals', (
      select coalesce(jsonb_object_agg(s.currency, s.total), '{}')
      from (
        select app.currency_of_sign(coalesce(nullif(t.key, ''), home), home) as currency,
          sum(t.value::numeric)::text as total
        from jsonb_each_text(k -> 'totals') as t
        group by 1
      ) as s
    ))), '[]')
    from jsonb_array_elements(kinds) as k
  );
end
$$;
comment on function app.describe_left_out is
  'What a file has besides spending, by kind, with the totals that name no currency in the one at home.';

create or replace function app.list_unknown_categories(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      jsonb_build_object('name', u.name, 'rows', u.rows) order by u.rows desc, u.name collate "C"
    ), '[]')
    from (
      select min(r.category collate "C") as name, count(*) as rows
      from (
        select app.clean_text(i.item ->> 'category') as category from app.import_rows as i
        where i.import_id = batch.id and i.item ->> 'category' is not null and i.draft is not null
          and not i.is_skipped
        offset 0
      ) as r
      where lower(r.category) <> 'uncategorized'
      group by lower(r.category)
    ) as u
    where not exists (
      select from app.categories as c
      where c.organization_id = context.organization_id and c.archived_at is null and lower(c.name) = lower(u.name)
    )
  );
end
$$;
comment on function app.list_unknown_categories is
  'Category names in rows that are none of the organization''s, those of most rows first: [{name, rows}].';

create or replace function app.describe_unknown_categories(unknown jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 20;
  -- Each is compared with every category.
  max_suggested constant int := 10;
begin
  return jsonb_build_object(
    'unknown_categories', (
      select coalesce(jsonb_agg(
        u.value
          || case when u.ordinality <= max_suggested
          then jsonb_build_object('suggestions', app.suggest_categories(u.value ->> 'name')) else '{}' end
        order by u.ordinality
      ), '[]')
      from jsonb_array_elements(unknown) with ordinality as u
      where u.ordinality <= max_listed
    ),
    'unknown_categories_count', jsonb_array_length(unknown)
  );
end
$$;
comment on function app.describe_unknown_categories is
  'The first of the unknown categories and how many there are, {unknown_categories: [{name, rows, suggestions?}], '
  'unknown_categories_count}; for the very first what may have been meant.';

create or replace function app.describe_import_rows(context app.context, batch app.import_batches, lines jsonb)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'line', r.line, 'date', d.paid_on, 'name', d.name, 'payee', d.payee,
      'amount', app.format_amount(d.amount_minor, d.currency), 'currency', d.currency,
      'is_refund', case d.direction when 'refund' then true end,
      'category', coalesce(
        case when d.category_source is distinct from 'payee_rule' then app.clean_text(r.item ->> 'category') end,
        (select c.name from app.categories as c where c.id = d.category_id)
      ),
      'category_source', d.category_source, 'note', d.note, 'url', d.url,
      'existing_id', app.shown_id(r.match #>> '{payment_ids,0}'),
      'bill_id', r.match -> 'bill_id', 'due_on', r.match -> 'due_on'
    )) order by r.line), '[]')
    from jsonb_array_elements_text(lines) as listed
    join app.import_rows as r on r.import_id = batch.id and r.line = listed::int
    cross join lateral jsonb_to_record(r.draft) as d (
      name text, payee text, category_id text, category_source text, note text, url text, direction text,
      amount_minor bigint, currency text, paid_on date
    )
  );
end
$$;
comment on function app.describe_import_rows is 'Rows as a preview lists them, with what they are in the books.';

create or replace function app.describe_bad_rows(batch app.import_batches, counted jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 100;
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'line', r.line, 'error', coalesce(r.error, jsonb_build_object(
        'code', 'month_closed', 'params', app.closed_month((r.draft ->> 'paid_on')::date)
      ))
    ) order by r.line), '[]')
    from (
      select l::int as line
      from jsonb_array_elements_text(
        coalesce(counted #> '{listed,bad}', '[]') || coalesce(counted #> '{listed,closed}', '[]')
      ) as l
      order by 1
      limit max_listed
    ) as listed
    join app.import_rows as r on r.import_id = batch.id and r.line = listed.line
  );
end
$$;
comment on function app.describe_bad_rows is
  'The first rows that cannot be written and why: [{line, error}]; those of closed months are among them.';

create or replace function app.preview_import(context app.context, batch app.import_batches, arguments jsonb)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  home constant text := coalesce(batch.read ->> 'default_currency', context.base_currency);
  unknown constant jsonb := app.list_unknown_categories(context, batch);
  counted constant jsonb := app.count_import(context, batch, arguments ->> 'on_duplicate');
  outcomes constant jsonb := counted -> 'outcomes';
  count constant int := jsonb_array_length(counted -> 'new');
  bad constant jsonb := app.describe_bad_rows(batch, counted);
  bad_count constant int := coalesce((outcomes ->> 'bad')::int, 0) + coalesce((outcomes ->> 'closed')::int, 0);
  questions constant jsonb := app.import_questions(batch, coalesce(counted #> '{listed,asked}', '[]'));
  questions_count constant int :=
    jsonb_array_length(coalesce(batch.read -> 'questions', '[]')) + coalesce((outcomes ->> 'asked')::int, 0);
begin
  if bad_count > 0 and outcomes - array['bad', 'closed', 'left_out'] = '{}' then
    perform app.fail('invalid_argument.no_row_readable', jsonb_build_object('details', jsonb_build_object(
      'rows_bad', bad, 'mapping', batch.read -> 'mapping'
    )), 'csv');
  end if;
  return jsonb_build_object('data', jsonb_build_object('preview', jsonb_strip_nulls(jsonb_build_object(
    'import_id', batch.id,
    'account', (select jsonb_build_object('id', a.id, 'name', a.name) from app.accounts as a
      where a.id = batch.account_id),
    'rows_ok', count,
    'rows_bad', bad,
    'rows_bad_count', bad_count,
    'left_out', app.describe_left_out(coalesce(batch.read -> 'left_out', '[]'), home),
    'questions', questions,
    'questions_count', case when questions_count > jsonb_array_length(questions) then questions_count end,
    'duplicates', app.describe_import_rows(context, batch, counted -> 'in_books'),
    'duplicates_count', counted -> 'in_books_count',
    'skipped_count', outcomes -> 'skipped',
    'totals', counted -> 'totals',
    'period', (
      select jsonb_build_object('from', min(r.draft ->> 'paid_on'), 'to', max(r.draft ->> 'paid_on'))
      from app.import_rows as r
      where r.import_id = batch.id and r.draft is not null and not r.is_skipped
    ),
    'balances', batch.read -> 'balances',
    'sample',
    app.describe_import_rows(context, batch, jsonb_path_query_array(counted -> 'new', '$[0 to 4]')),
    'mapping', batch.read -> 'mapping',
    'commit_with',
    jsonb_build_object('import_id', batch.id, 'expected_count', count, 'expected_totals', counted -> 'totals')
  )) || app.describe_unknown_categories(unknown)), 'warnings', coalesce(batch.read -> 'warnings', '[]')
    || case when unknown = '[]' then '[]'::jsonb else jsonb_build_array(app.warning('category_not_found',
      jsonb_build_object('names', jsonb_path_query_array(unknown, '$[*].name')))) end);
end
$$;
comment on function app.preview_import is
  'What an import would write, and what is to be asked or said of it, {preview}; nothing is in the books.';

-- schemas/imports/commit_import.sql

create or replace function app.same_totals(expected jsonb, actual jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return not exists (
    select from jsonb_each_text(expected) as e full join jsonb_each_text(actual) as a on a.key = e.key
    where
      coalesce(case when e.value ~ '^-?\d{1,18}(\.\d{1,4})?$' then e.value::numeric end,
      case when e.value is null then 0 end) is distinct from coalesce(a.value::numeric, 0)
  );
end
$$;
comment on function app.same_totals is
  'Whether two sets of totals are the same amounts, however many zeros they are written with.';

create or replace function app.lock_imports(organization_id text) returns void
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('imports of ' || lock_imports.organization_id, 0));
exception when lock_not_available then
  perform app.fail('busy');
end
$$;
comment on function app.lock_imports is
  'Makes this transaction the only one that publishes an import in an organization; other writes go on.';

create or replace function app.check_import_expected(batch app.import_batches, counted jsonb, arguments jsonb)
  returns void
language plpgsql stable set search_path = '' as $$
declare
  count constant int := jsonb_array_length(counted -> 'new');
  skipped constant int := app.count_in_books(counted);
  is_count constant boolean := (arguments ->> 'expected_count')::numeric = count;
begin
  if is_count and app.same_totals(arguments -> 'expected_totals', counted -> 'totals') then
    return;
  end if;
  perform app.fail(
    'expectation_mismatch.of_import',
    jsonb_build_object(
      'count', count, 'totals', counted -> 'totals', 'skipped', skipped, 'details', jsonb_build_object(
        'commit_with', jsonb_strip_nulls(jsonb_build_object(
          'import_id', batch.id, 'expected_count', count, 'expected_totals', counted -> 'totals',
          -- Nothing of this call was kept.
          'answers', arguments -> 'answers', 'skip_lines', arguments -> 'skip_lines',
          'corrections', arguments -> 'corrections', 'rules', arguments -> 'rules'
        )),
        'skipped', skipped
      )
    ),
    case when is_count then 'expected_totals' else 'expected_count' end
  );
end
$$;
comment on function app.check_import_expected is
  'Ends the tool when an import would write something else than the caller was shown.';

create or replace function app.count_in_books(counted jsonb) returns int
language plpgsql immutable set search_path = '' as $$
begin
  return coalesce((counted #>> '{outcomes,known}')::int, 0) + coalesce((counted #>> '{outcomes,linked}')::int, 0);
end
$$;
comment on function app.count_in_books is 'How many rows of an import are in the books already.';

create or replace function app.give_categories(context app.context, batch app.import_batches, arguments jsonb)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  unknown constant jsonb := app.list_unknown_categories(context, batch);
begin
  if unknown = '[]' then
    return;
  elsif not coalesce((arguments ->> 'create_missing_categories')::boolean, false) then
    perform app.fail('category_not_found.in_file', jsonb_build_object(
      'name', unknown #> '{0,name}', 'details', app.describe_unknown_categories(unknown)
    ), 'create_missing_categories');
  end if;
  perform app.find_category(context, u ->> 'name', 'create_missing_categories', true)
  from jsonb_array_elements(unknown) as u;
  update app.import_rows as r
  set draft = r.draft || jsonb_build_object('category_id', c.id, 'category_source', 'given')
  from jsonb_array_elements(unknown) as u
  join app.categories as c
    on c.organization_id = context.organization_id and lower(c.name) = lower(u ->> 'name')
  where r.import_id = batch.id and r.draft is not null
    and lower(app.clean_text(r.item ->> 'category')) = lower(u ->> 'name');
end
$$;
comment on function app.give_categories is
  'Makes the categories of an import that there are none of, where the caller said so, and gives them to its rows.';

create or replace function app.publish_rows(context app.context, batch app.import_batches, lines int[]) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  page_rows constant int := 2000;
  page int[];
  drafts jsonb;
  -- What can be said of it afterwards.
  written jsonb := '[]';
begin
  for place in 1..cardinality(lines) by page_rows loop
    page := lines[place : place + page_rows - 1];
    with given as (
      update app.import_rows as r
      set draft = r.draft || jsonb_build_object('id', app.new_id('exp')),
        match = case r.match ->> 'state' when 'likely' then r.match else '{"state": "new"}' end
      where r.import_id = batch.id and r.line between page[1] and page[cardinality(page)] and r.line = any (page)
      returning r.line, r.draft
    )
    select jsonb_agg(g.draft order by g.line) into drafts from given as g;
    perform app.write_expenses(context, drafts, 'import');
    written := written || (
      select jsonb_agg(jsonb_build_object(
        'place', d -> 'place', 'id', d -> 'id', 'name', d -> 'name', 'paid_on', d -> 'paid_on'
      ))
      from jsonb_array_elements(drafts) as d
    );
  end loop;
  return written;
end
$$;
comment on function app.publish_rows is
  'Writes rows of an import as expenses, page by page; their drafts then have the id. Answers [{place, id, name, '
  'paid_on}].';

create or replace function app.keep_balance(batch app.import_batches) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.accounts as a
  set balance = (batch.read -> 'balances') || jsonb_build_object(
    'from', file.first_day, 'to', file.last_day, 'change_id', current_setting('app.change_id', true)
  )
  from (
    select min(r.item ->> 'date') as first_day, max(r.item ->> 'date') as last_day
    from app.import_rows as r
    where r.import_id = batch.id
  ) as file
  where a.id = batch.account_id and batch.read #> '{balances,closing}' is not null
    and (a.balance is null or a.balance ->> 'to' <= file.last_day);
end
$$;
comment on function app.keep_balance is 'Keeps what the bank says an account had, unless a later statement is known.';

create or replace function app.commit_import(context app.context, batch app.import_batches, arguments jsonb)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  counted jsonb;
  lines int[];
  written jsonb;
  answer jsonb;
begin
  batch := app.refresh_import(context, batch);
  counted := app.count_import(context, batch, arguments ->> 'on_duplicate');
  if coalesce(batch.read -> 'questions', '[]') <> '[]' or counted #> '{outcomes,asked}' is not null then
    perform app.fail('needs_answer.import', jsonb_build_object('details', jsonb_build_object(
      'questions', app.import_questions(batch, coalesce(counted #> '{listed,asked}', '[]'))
    )), 'answers');
  end if;
  perform app.give_categories(context, batch, arguments);
  perform app.check_import_expected(batch, counted, arguments);
  perform app.change_payee_rules(context, coalesce(batch.read -> 'rules', '[]'));
  lines := array(select l::int from jsonb_array_elements_text(counted -> 'new') as l);
  written := app.publish_rows(context, batch, lines);

  perform app.link_import_rows(context, batch);
  -- Only now does everybody else wait: what was written so far is new, or was locked row by row.
  perform app.lock_books(context.organization_id);
  if app.find_changed_rows(context, batch, true) <> '{}' then
    perform app.fail('expectation_mismatch.books_changed', field => 'import_id');
  end if;
  update app.accounts as a
  set answers = a.answers || (batch.read -> 'answers'), updated_at = context.at
  where a.id = batch.account_id and not a.answers @> (batch.read -> 'answers');

  perform app.keep_balance(batch);

  answer := jsonb_build_object(
    'data', jsonb_build_object(
      'created', cardinality(lines), 'linked', coalesce((counted #>> '{outcomes,linked}')::int, 0),
      'skipped', coalesce((counted #>> '{outcomes,known}')::int, 0), 'totals', counted -> 'totals'
    ),
    'warnings', app.warn_of_drafts(context, written)
  );
  if cardinality(lines) > 0 or exists (
    select from app.change_items as i where i.change_id = current_setting('app.change_id', true)
  ) then
    answer := answer || jsonb_build_object('change_id', current_setting('app.change_id'));
  end if;
  delete from app.import_rows as r where r.import_id = batch.id;
  update app.import_batches as b
  set state = 'committed', result = answer, change_id = answer ->> 'change_id', file = null, read = '{}'
  where b.id = batch.id;
  return answer || jsonb_build_object('facts', jsonb_build_object(
    'count', cardinality(lines), 'totals_by_currency', counted -> 'totals',
    'names', jsonb_path_query_array(written, '$[0 to 3].name')
  ));
end
$$;
comment on function app.commit_import is
  'Publishes an import in one change, {created, linked, skipped, totals}; nothing of it is kept but that.';

-- schemas/imports/descriptor_words.sql

-- Names the way cards write them: "LIDL SAGT DANKE 4411", "UBER *TRIP", "SQ *BLUE BOTTLE", "AMZN Mktp DE*2K3".

create or replace function app.descriptor_words(value text) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  -- Who passes money on, and what kind of booking it is, before the name of the one who gets it.
  processors constant text :=
    '^(paypal|pp|ppl|sq|square|sumup|zettle|izettle|iz|tst|sp|stripe|klarna|mollie|adyen|payu)'
    || '( europe)?( s ?a ?r ?l)?( et cie)?( s ?c ?a)? ?[*:.] ?';
  bookings constant text := '^((pos|ec|visa|debit|card|purchase|payment|contactless|kartenzahlung|lastschrift|paiement|'
    || 'carte|cb|compra|pagamento|betaling) )+';
  -- What a subscription or a ride is called besides its name.
  extras constant text[] := array['subscr', 'subscription', 'membership', 'plus', 'premium', 'pro', 'abo', 'monthly',
    'trip', 'ride', 'rides', 'online', 'order', 'bestellung', 'invoice', 'rechnung', 'bill'];
  plain text := translate(lower(normalize(left(value, 500), nfkd)), 'ß''’&', 's');
  words text[];
  kept text[] := '{}';
  word text;
begin
  plain := regexp_replace(plain, '[\u0300-\u036f]+', '', 'g');
  plain := regexp_replace(btrim(plain), bookings, '');
  plain := regexp_replace(regexp_replace(plain, '\s+', ' ', 'g'), processors, '');
  plain := regexp_replace(plain, '^paypal .* (einkauf bei|purchase at|achat chez|compra en|aankoop bij) ', '');
  -- The end of an address on the web is nobody's name.
  plain := regexp_replace(plain, '\.(com|net|org|io|co|app|de|fr|es|it|nl|at|ch|uk|eu|in)\M', ' ', 'g');
  words := array_remove(regexp_split_to_array(plain, '[^[:alnum:]]+'), '');
  if words[1] = 'the' and cardinality(words) > 1 then
    words := words[2:];
  end if;
  -- Numbers are of branches, cards and bookings; what is short and not the first word is a country or a legal form.
  foreach word in array words loop
    exit when cardinality(kept) = 8;
    if word !~ '[0-9]' and (kept = '{}' or length(word) > 2 and word <> all (extras)) then
      kept := kept || word;
    end if;
  end loop;
  return case when kept = '{}' then words[1:8] else kept end;
end
$$;
comment on function app.descriptor_words is
  'The words of a name that tell it from others, at most eight: without case, accents, the processor before it, '
  'numbers and codes.';

create or replace function app.same_word(one text, other text) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  short constant text := case when length(one) < length(other) then one else other end;
  long constant text := case when length(one) < length(other) then other else one end;
begin
  return one = other
    -- Cut off, or without its vowels: "netfli", "amzn".
    or length(short) >= 5 and starts_with(long, short)
    or length(short) >= 4 and left(long, 1) || regexp_replace(substr(long, 2), '[aeiou]', '', 'g') = short
    or length(short) >= 6 and left(short, 2) = left(long, 2) and app.text_likeness(one, other) >= 0.75;
end
$$;
comment on function app.same_word is 'Whether two words of names are one, as it is spelled on a statement.';

create or replace function app.compare_names(one text[], other text[]) returns int
language plpgsql immutable set search_path = '' as $$
declare
  short constant text[] := case when cardinality(one) <= cardinality(other) then one else other end;
  long constant text[] := case when cardinality(one) <= cardinality(other) then other else one end;
  joined constant text := array_to_string(short, '');
  word text;
  place int;
  first_place int;
  found int := 0;
  is_shared boolean := false;
begin
  if cardinality(short) = 0 then
    return 0;
  elsif one = other then
    return 3;
  end if;
  foreach word in array short loop
    place := array_position(long, word);
    for i in 1..cardinality(long) loop
      exit when place is not null;
      place := case when app.same_word(word, long[i]) then i end;
    end loop;
    if place is not null then
      found := found + 1;
      first_place := coalesce(first_place, place);
      is_shared := is_shared or length(word) > 3;
    end if;
  end loop;
  if found = cardinality(short) and (first_place <= 2 or found > 1)
    or length(joined) >= 5 and starts_with(array_to_string(long, ''), joined) then
    return 2;
  end if;
  return case when is_shared then 1 else 0 end;
end
$$;
comment on function app.compare_names is
  'How two names agree, by their words: 3 all of them, 2 all of the shorter one''s, 1 some, 0 none.';

-- schemas/imports/statement_rows.sql

-- Rows of an import as the lines of a statement that they are.

create or replace function app.statement_rows(context app.context, batch app.import_batches, days text[] default null)
returns
  table (line int, kind text, booked_on date, text text, direction text, amount_minor bigint, currency text, nth bigint,
  is_skipped boolean, match jsonb, draft jsonb)
language plpgsql stable set search_path = '' as $$
#variable_conflict use_column
declare
  home constant text := coalesce(
    batch.read ->> 'default_currency',
    (select a.currency from app.accounts as a where a.id = batch.account_id), context.base_currency
  );
begin
  return query
    with staged as (
      select r.line, r.kind, r.is_skipped, r.match, r.draft,
        coalesce(substring(b.item ->> 'date' from '^\d{4}-\d\d-\d\d$'), r.draft ->> 'paid_on') as day,
        left(coalesce(nullif(b.item ->> 'text', ''), b.item ->> 'name', r.kind), 500) as text,
        -- What the account was charged is its line, whatever the price tag said.
        case when b.item #> '{charged,amount}' is not null then b.item -> 'charged' else b.item end as money,
        coalesce(
          case b.item ->> 'direction' when 'out' then 'out' when 'in' then 'refund' end,
          case r.kind when 'refund' then 'refund' end, 'out'
        ) as direction
      from app.import_rows as r
      -- Corrected or not, the line is the bank's.
      cross join lateral (select coalesce(r.item -> 'as_read', r.item) as item) as b
      where r.import_id = batch.id and r.error is null
        and (days is null or coalesce(r.draft ->> 'paid_on', r.item ->> 'date') = any (days))
    ), named as (
      select s.*, case when c.code ~ '^[A-Z]{3}$' then c.code else app.currency_of_sign(c.code, home) end as currency
      from staged as s
      cross join lateral (
        select coalesce(nullif(s.money ->> 'currency', ''), s.draft ->> 'currency', home) as code
      ) as c
    ), valued as (
      select n.*, coalesce(
        case when n.money ->> 'amount' ~ '^\d{1,12}(\.\d{1,4})?$'
          then trunc((n.money ->> 'amount')::numeric * 10::numeric ^ c.exponent)::bigint end,
        (n.draft ->> 'amount_minor')::bigint
      ) as amount_minor
      from named as n
      join app.currencies as c on c.code = n.currency
    )
    select v.line, v.kind, v.day::date, v.text, v.direction, v.amount_minor, v.currency,
      row_number() over (
        partition by v.day, v.amount_minor, v.currency, v.direction, v.text order by v.line
      ),
      v.is_skipped, v.match, v.draft
    from valued as v
    where v.day is not null and v.amount_minor is not null;
end
$$;
comment on function app.statement_rows is
  'The rows of an import, of some days or all, as lines of its account: what was booked there, and of equal lines of a '
  'day which one. Rows that cannot be read are none.';

create or replace function app.match_known_rows(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop
  = 'off' as $$
declare
  days constant text[] := array(
    select distinct r.draft ->> 'paid_on' from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.draft is not null
  );
begin
  update app.import_rows as r
  set match = jsonb_build_object('state', 'known', 'line_id', found.id, 'payment_ids', array(
    select k.payment_id from app.statement_links as k join app.payments as p on p.id = k.payment_id
    where k.line_id = found.id and p.deleted_at is null
  ))
  from (
    select s.line, l.id,
      row_number() over (partition by s.line order by l.text = s.text desc, l.nth, l.id) as choice,
      row_number() over (partition by l.id order by l.text = s.text desc, s.line) as turn
    from app.statement_rows(context, batch, days) as s
    join (
      select k.* from app.list_known_lines(
        batch.account_id, (select min(d::date) from unnest(days) as d), (select max(d::date) from unnest(days) as d)
      ) as k
      offset 0
    ) as l on l.booked_on = s.booked_on and l.amount_minor = s.amount_minor and l.currency = s.currency
      and l.direction = s.direction
    where l.text = s.text and l.nth = s.nth
      -- In another export the bank says it in other words.
      or l.text <> s.text and app.compare_names(app.descriptor_words(l.text), app.descriptor_words(s.text)) > 1
  ) as found
  where r.import_id = batch.id and r.line = found.line and r.line between first and last and r.draft is not null
    and not r.is_skipped and r.match is null and found.choice = 1 and found.turn = 1;
end
$$;
comment on function app.match_known_rows is
  'Rows that are lines which were committed before: the same account, day, amount and text, counted, or a line of that '
  'day that is the same in other words.';

-- schemas/imports/pair_in_order.sql

-- Rows and entries that are alike are paired by their days: as many as possible, then the nearest. The coffee of each
-- day, booked a day later, must not take the one of the day after and leave the first and the last alone.

create or replace function app.pair_in_order(rows int, entries int, costs int[], skips int[]) returns int[]
language plpgsql immutable set search_path = '' as $$
declare
  -- More than any better pairs can save.
  alone constant int := 10000;
  width constant int := entries + 1;
  -- The least cost of the first so many rows with the first so many entries.
  least_costs int[] := array_fill(0, array[(rows + 1) * (entries + 1)]);
  pairs int[] := array_fill(null::int, array[rows]);
  i int := rows;
  j int := entries;
begin
  for m in 1..entries loop
    least_costs[m + 1] := least_costs[m] + skips[m];
  end loop;
  for n in 1..rows loop
    least_costs[n * width + 1] := n * alone;
    for m in 1..entries loop
      -- Least passes over null, a pair that cannot be.
      least_costs[n * width + m + 1] := least(
        least_costs[(n - 1) * width + m + 1] + alone, least_costs[n * width + m] + skips[m],
        least_costs[(n - 1) * width + m] + costs[(n - 1) * entries + m]
      );
    end loop;
  end loop;
  while i > 0 and j > 0 loop
    -- Of equal rows the first ones are paired.
    if least_costs[i * width + j + 1] = least_costs[(i - 1) * width + j + 1] + alone then
      i := i - 1;
    elsif least_costs[i * width + j + 1] = least_costs[i * width + j] + skips[j] then
      j := j - 1;
    else
      pairs[i] := j;
      i := i - 1;
      j := j - 1;
    end if;
  end loop;
  return pairs;
end
$$;
comment on function app.pair_in_order is
  'Of each row the entry it is paired with, or null: none crosses another, as many as possible, at the least cost. '
  'costs are row by row, null cannot be paired; skips are what leaving an entry alone costs.';

-- schemas/imports/match_sums.sql

-- One row of a statement that is several expenses of a day, and several rows of a day that are one expense.

create type app.sum_item as (
  id text,
  day date,
  amount_minor bigint,
  currency text,
  direction text,
  name text,
  grouped_by text
);
comment on type app.sum_item is
  'What may be a sum, or a part of one: a row of a statement, or a payment. grouped_by is the same for parts that may '
  'belong together.';

create or replace function app.list_sums(amounts bigint[]) returns table (places int[], total bigint)
language plpgsql immutable set search_path = '' as $$
begin
  return query
    with recursive sums as (
      select array[i] as places, amounts[i] as total from generate_subscripts(amounts, 1) as i
      union all
      select s.places || i, s.total + amounts[i]
      from sums as s
      cross join generate_subscripts(amounts, 1) as i
      where i > s.places[cardinality(s.places)] and cardinality(s.places) < 4
    )
    -- Of those with the same amounts one is as good as another.
    select min(s.places), s.total
    from sums as s
    where cardinality(s.places) > 1
    group by s.total
    having count(distinct array(select amounts[p] from unnest(s.places) as p order by 1)) = 1;
end
$$;
comment on function app.list_sums is
  'The sums of two to four of some amounts, each with the places of its parts; not those that different amounts make.';

create or replace function app.find_sums(wholes app.sum_item[], parts app.sum_item[])
  returns table (whole_id text, part_ids text[])
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  days constant int := 5;
  -- More of one payee on one day are no longer told apart.
  most constant int := 6;
  found record;
  used text[] := '{}';
begin
  for found in
    with crowds as materialized (
      select (p).day, (p).currency, (p).direction, array_agg((p).id order by (p).id) as ids,
        array_agg((p).amount_minor order by (p).id) as amounts, array_agg(distinct (p).name) as names
      from unnest(parts) as p
      group by (p).day, (p).currency, (p).direction, (p).grouped_by
      having count(*) between 2 and most
    ), sums as materialized (
      select c.day, c.currency, c.direction, c.names, s.total, array(select c.ids[p] from unnest(s.places) as p) as ids
      from crowds as c
      cross join lateral app.list_sums(c.amounts) as s
    )
    select (w).id as whole, s.ids
    from unnest(wholes) as w
    join sums as s on s.total = (w).amount_minor and s.currency = (w).currency and s.direction = (w).direction
    where abs((w).day - s.day) <= days and not exists (
      select from unnest(s.names) as n
      where app.compare_names(app.descriptor_words(n), app.descriptor_words((w).name)) < 2
    )
    order by (w).day, (w).id, abs((w).day - s.day), cardinality(s.ids), s.ids
  loop
    if not used && (found.whole || found.ids) then
      used := used || found.whole || found.ids;
      whole_id := found.whole;
      part_ids := found.ids;
      return next;
    end if;
  end loop;
end
$$;
comment on function app.find_sums is
  'Which of the one are the sum of two to four of the others that are of one day not far away and called alike.';

create or replace function app.match_sums(context app.context, batch app.import_batches, first int, last int,
  taken text[]) returns void
-- Its caller turns nested loops off: the price of the one that remains here would outweigh which index is read.
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop
  = 'on' as $$
declare
  days constant int := 5;
  lines app.sum_item[] := array(
    select (r.line::text, d.paid_on, d.amount_minor, d.currency, d.direction,
      coalesce(d.payee, d.name), split_part(lower(coalesce(d.payee, d.name)), ' ', 1))::app.sum_item
    from app.import_rows as r
    cross join lateral jsonb_to_record(r.draft) as d (
      paid_on date, amount_minor bigint, currency text, direction text, name text, payee text
    )
    where r.import_id = batch.id and r.line between first and last and r.draft is not null and not r.is_skipped
      and r.match is null and r.kind in ('expense', 'refund')
  );
  -- Values, not subqueries: the planner then knows how few days it is about.
  first_day constant date := (select min((l).day) from unnest(lines) as l) - days;
  last_day constant date := (select max((l).day) from unnest(lines) as l) + days;
  paid app.sum_item[];
begin
  if lines = '{}' then
    return;
  end if;
  paid := array(
    select (p.id, p.paid_on, p.amount_minor, p.currency, p.direction,
      coalesce(e.payee, e.name), e.match_key)::app.sum_item
    from app.payments as p
    cross join lateral (select e.name, e.payee, e.match_key from app.expenses as e where e.id = p.expense_id offset 0)
      as e
    where p.organization_id = context.organization_id and p.deleted_at is null and p.split_id is null
      and not p.is_estimate
      and p.paid_on between first_day and last_day
      and not exists (select from app.statement_links as k where k.payment_id = p.id)
      and p.id <> all (taken)
  );
  update app.import_rows as r
  set match = jsonb_build_object('state', 'linked', 'payment_ids', s.part_ids)
  from app.find_sums(lines, paid) as s
  where r.import_id = batch.id and r.line = s.whole_id::int;
  update app.import_rows as r
  set match = jsonb_build_object('state', 'linked', 'payment_ids', jsonb_build_array(s.whole_id))
  from app.find_sums(
    paid, array(
      select l from unnest(lines) as l
      where exists (select from app.import_rows as o
        where o.import_id = batch.id and o.line = (l).id::int and o.match is null)
    )
  ) as s
  where r.import_id = batch.id and r.line = any (s.part_ids::int[]);
end
$$;
comment on function app.match_sums is
  'Rows that are several payments of a day to the same payee, and rows of a day that are one payment. taken are '
  'payments that are matched already.';

-- schemas/imports/run_import_step.sql

create or replace function app.answer_preview(context app.context, batch app.import_batches, arguments jsonb)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return case when batch.state = 'ready' then app.preview_import(context, batch, arguments)
    else jsonb_build_object('data', jsonb_build_object('import', app.describe_import(context, batch))) end;
end
$$;
comment on function app.answer_preview is 'The preview of an import, or how far it is.';

create or replace function app.import_whole_file(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches := app.keep_import_file(context, arguments);
begin
  batch := app.answer_import(context, batch, arguments - array['mapping', 'answers']);
  -- Of another revision when the account has learned an answer: then it stays at what the file says.
  batch :=
    app.stage_import_rows(context, batch, arguments || jsonb_build_object('after', 0, 'revision', 1, 'is_last', true));
  while batch.state = 'matching' loop
    batch := app.match_import_page(context, batch);
  end loop;
  return app.answer_preview(context, batch, arguments);
end
$$;
comment on function app.import_whole_file is 'Step all: a short file from its text to the preview, in one call.';

create or replace function app.run_import_step(context app.context, step text, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches := case when step in ('open', 'load', 'stage', 'match')
    then app.find_import(context, arguments ->> 'import_id') end;
begin
  case step
    when 'start' then
      batch := app.start_import(context, arguments);
      return jsonb_build_object('upload', jsonb_build_object('import_id', batch.id, 'expires_at', batch.expires_at));
    when 'open' then null;
    when 'load' then return jsonb_build_object('import', app.load_import(context, batch));
    when 'keep' then batch := app.keep_import_file(context, arguments);
    when 'stage' then batch := app.stage_import_rows(context, batch, arguments);
    when 'match' then batch := app.match_import_page(context, batch);
  end case;
  return jsonb_build_object('import', app.describe_import(context, batch));
end
$$;
comment on function app.run_import_step is
  'One step of getting a file to its preview: start, open, keep, load, stage or match. Answers {upload} or {import}.';

create or replace function app.import_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  step constant text := arguments ->> 'step';
  batch app.import_batches;
begin
  if step = 'all' then
    return app.import_whole_file(context, arguments);
  elsif step is not null then
    return jsonb_build_object('data', app.run_import_step(context, step, arguments));
  end if;
  if arguments ? 'expected_count' then
    perform app.lock_imports(context.organization_id);
  end if;
  batch := app.find_import(context, arguments ->> 'import_id');
  -- A call that is repeated answers what the first one did, unless that was undone in between.
  if batch.state = 'committed' then
    if exists (select from app.change_sets as s where s.id = batch.change_id and s.undone_by is not null) then
      perform app.fail('not_found.import_undone', field => 'import_id');
    end if;
    return batch.result || '{"replayed": true}';
  elsif batch.state = 'waiting' then
    perform app.fail('not_found.import_file', jsonb_build_object('expires_at', batch.expires_at), 'import_id');
  end if;
  batch := app.answer_import(context, batch, arguments);
  if batch.state = 'ready' and arguments ? 'expected_count' then
    return app.commit_import(context, batch, arguments);
  elsif batch.state = 'ready' then
    batch := app.refresh_import(context, batch);
  end if;
  return app.answer_preview(context, batch, arguments);
end
$$;
comment on function app.import_expenses is
  'Tool import_expenses: data {upload}, {import} (how far it is), {preview}, and with expected_count {created, linked, '
  'skipped, totals}. Only our own code names a step.';

-- schemas/imports/open_upload.sql

create or replace function public.open_upload(user_id uuid, import_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization_id text;
begin
  -- Whoever has a link names only the import; whose books it is of, nobody else learns.
  select b.organization_id into organization_id
  from app.import_batches as b
  where b.id = open_upload.import_id and b.actor_id = open_upload.user_id;
  if not found then
    return '{"outcome": "unknown"}';
  end if;
  return public.run_page_tool(
    open_upload.user_id, organization_id, 'import_expenses',
    jsonb_build_object('step', 'open', 'import_id', open_upload.import_id), at
  );
end
$$;
comment on function public.open_upload is
  'What a signed-in person''s import is, for the page that takes its file: {outcome: ok | refused | unknown, result?}; '
  'result is the envelope of import_expenses with step open.';

-- schemas/expenses/chart_spending.sql

-- show_spending_chart: what the chart draws, which the presenter lays out. Sums are those of summarize_spending and
-- list_bills; nothing is added up differently here.

create or replace function app.chart_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  chart constant text := coalesce(arguments ->> 'chart', 'by_category');
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  days constant int := period.to_on - period.from_on + 1;
  earlier constant app.period := app.compared_period(period, 'previous_period', context.today);
  books_begin constant date := app.books_begin(period, earlier);
  -- Null for dates.
  period_name constant text :=
    case when not arguments ?| array['from', 'to'] then coalesce(arguments ->> 'period', 'this_month') end;
  -- A step of a time axis: at most about six weeks of days, half a year of weeks, else months.
  unit constant text := case when chart <> 'by_category' then
    case when days <= 45 then 'day' when days <= 186 then 'week' else 'month' end
  end;
  -- A budget is of a whole month or year.
  budgeted constant text := case when chart = 'by_category' then case app.whole_months(period)
    when 1 then 'month' when 12 then case when extract(month from period.from_on) = 1 then 'year' end end end;
  dimensions constant text[] := array_remove(array[case when chart <> 'over_time' then 'category' end, unit], null);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  spending app.spending;
  sums record;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  spending := app.sum_spending(context, filter, earlier, null, dimensions, target);
  select coalesce(sum(g.once_minor), 0) as minor, coalesce(sum(g.once_count), 0) as count,
    coalesce(sum(g.once_earlier_minor), 0) as earlier_minor, array_agg(g) filter (where g.count > 0) as drawn
  into sums
  from unnest(spending.groups) as g;
  spending.groups := sums.drawn;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', chart,
      'today', context.today,
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'name', period_name),
      'currency', target,
      'unit', unit,
      'rows',
      app.rank_spending(spending, dimensions, case chart when 'by_category' then 12 else 5 end, target, false),
      'total',
      jsonb_build_object('amount', app.format_minor(sums.minor, exponent), 'currency', target, 'count', sums.count),
      'compared', case when sums.earlier_minor > 0 and books_begin is null then jsonb_build_object(
        'from', earlier.from_on, 'to', earlier.to_on, 'amount', app.format_minor(sums.earlier_minor, exponent)
      ) end,
      'budgets', case when budgeted is not null then (
        select jsonb_agg(b.value)
        from jsonb_array_elements(app.describe_budgets(context, period.from_on, filter.category_ids)) as b
        where b.value ->> 'per' = budgeted and b.value ->> 'currency' = target
      ) end,
      -- Said where a comparison would stand otherwise.
      'books_begin', case when sums.earlier_minor > 0 then books_begin end,
      'unconverted', spending.unconverted
    ),
    'warnings', case
      when spending.unconverted = '[]' then '[]'::jsonb
      else jsonb_build_array(app.warning('rate_missing.of_chart', jsonb_build_object('into', target)))
    end || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
  );
end
$$;
comment on function app.chart_spending is
  'Charts of what was spent: by category, over time, or both, as rows of app.rank_spending.';

-- schemas/expenses/chart_upcoming_bills.sql

create or replace function app.chart_upcoming_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  -- A month from now unless days are given: on the 30th, "this month" would show one day.
  last_day constant date := coalesce(filter.to_on, greatest(filter.from_on, context.today) + 30);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  into_exponent constant int := app.currency_exponent(target, 'in_currency');
  into_rate constant app.rate := app.find_rate(target, context.today);
  max_lines constant int := 60;
  due record;
  warnings jsonb := '[]';
begin
  if last_day > context.today + 3660 then
    perform app.fail('date_out_of_range.chart_too_long', jsonb_build_object('date', last_day, 'years', 10), 'to');
  end if;
  with expected as materialized (
    select x.expense_id, b.name, b.frequency = 'daily' as is_daily, x.due_on, x.currency, x.expected_minor,
      case x.currency when target then x.expected_minor
        else app.convert_minor(x.expected_minor, rate.per_euro, c.exponent, into_rate.per_euro, into_exponent) end
        as minor
    from app.expected_in_period(context, filter.from_on, last_day) as x
    join app.expenses as b on b.id = x.expense_id
    join app.currencies as c on c.code = x.currency
    left join lateral app.rates_as_of(x.currency, context.today) as rate on x.currency <> target
    where filter.category_ids is null or coalesce(x.category_id, '') = any (filter.category_ids)
  ), lines as (
    -- What falls due day by day is one line: a month of breakfast rolls would bury the rent.
    select e.expense_id, e.name, min(e.due_on) as due_on, max(e.due_on) as last_on, count(*) as dates,
      sum(e.minor) as minor
    from expected as e
    where e.minor is not null
    group by e.expense_id, e.name, e.due_on < context.today, case when not e.is_daily then e.due_on end
  )
  select
    array(
      select jsonb_build_object('bill_id', s.expense_id, 'label', s.name, 'x', s.due_on, 'to', s.last_on,
        'dates', s.dates, 'y', app.format_minor(s.minor, into_exponent))
      from lines as s
      order by s.due_on, s.name, s.expense_id
      limit max_lines
    ) as shown,
    (select coalesce(sum(e.minor), 0) from expected as e) as minor,
    (select count(*) from lines) as line_count,
    (select coalesce(sum(l.dates), 0) from lines as l) as count,
    (select coalesce(sum(l.dates), 0) from lines as l where l.due_on < context.today) as overdue_count,
    (select min(l.due_on) from lines as l) as first_on,
    array(select distinct e.name from expected as e where e.expected_minor is null order by e.name) as unknown_amounts,
    (
      select
        coalesce(
        jsonb_agg(
        jsonb_build_object('currency', u.currency, 'amount', app.format_amount(u.minor, u.currency), 'count', u.count)
        order by u.currency), '[]')
      from (
        select e.currency, sum(e.expected_minor) as minor, count(*) as count from expected as e
        where e.minor is null and e.expected_minor is not null group by e.currency
      ) as u
    ) as unconverted
  into due;
  if due.unconverted <> '[]' then
    warnings := warnings || app.warning('rate_missing.of_upcoming', jsonb_build_object('into', target));
  end if;
  if due.unknown_amounts <> '{}' then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', due.unknown_amounts));
  end if;
  if due.line_count > max_lines then
    warnings := warnings || app.warning('truncated', jsonb_build_object('shown', max_lines, 'lines', due.line_count));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', 'upcoming_bills',
      'period',
      jsonb_build_object('from', least(due.first_on, coalesce(filter.from_on, context.today)), 'to', last_day),
      'today', context.today,
      'currency', target,
      'unit', 'day',
      'lines', due.shown,
      'total',
      jsonb_build_object('amount', app.format_minor(due.minor, into_exponent), 'currency', target, 'count', due.count,
        'overdue', due.overdue_count),
      'unconverted', due.unconverted
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.chart_upcoming_bills is
  'Chart of what is overdue and what bills will take from now on, date by date, at today''s rates.';

create or replace function app.show_spending_chart(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The contract gives the period a value even when dates are given; dates say more.
  meant constant jsonb := case when arguments ?| array['from', 'to'] then arguments - 'period' else arguments end;
begin
  return case when arguments ->> 'chart' = 'upcoming_bills' then app.chart_upcoming_bills(context, meant)
    else app.chart_spending(context, meant) end;
end
$$;
comment on function app.show_spending_chart is
  'Tool show_spending_chart: data {chart, today, period, currency, unit?, rows or lines, total, compared?, '
  'budgets?, books_begin?, '
  'unconverted}, of which the presenter makes the series.';

-- schemas/bills/recurrence.sql

-- Recurrence: on which days a bill comes, by arithmetic from its anchor alone. It knows no rows, no payments and no
-- clock.
-- A schedule is numbered from 0, its first date on or after the anchor; every date is counted from the anchor and never
-- from the one before, so 31 January is followed by 28 February and then by 31 March again. The weekend rule moves what
-- is due, never what is scheduled.
-- Bodies that are expressions were parsed when they were created: no search_path changes their meaning, and the planner
-- may inline them.

-- Months

create or replace function app.month_of(day date) returns int
language sql immutable
  return extract(year from day)::int * 12 + extract(month from day)::int - 1;
comment on function app.month_of is
  'The month of a day as a number that months can be added to: 12 * year + 0 for January to 11 for December.';

create or replace function app.month_day(month int, day int) returns date
language sql immutable
  return least(
    make_date(month / 12, month % 12 + 1, 1) + (day - 1),
    (make_date(month / 12, month % 12 + 1, 1) + interval '1 month' - interval '1 day')::date
  );
comment on function app.month_day is 'A day of a month (app.month_of); in a shorter month its last day.';

create or replace function app.month_weekday(month int, weekday int) returns date
language plpgsql immutable set search_path = '' as $$
declare
  first_day constant date := make_date(month / 12, month % 12 + 1, 1);
  last_day constant date := (first_day + interval '1 month' - interval '1 day')::date;
begin
  return case weekday / 100
    when 5 then last_day - (extract(isodow from last_day)::int - weekday % 100 + 7) % 7
    else first_day + (weekday % 100 - extract(isodow from first_day)::int + 7) % 7 + (weekday / 100 - 1) * 7
  end;
end
$$;
comment on function app.month_weekday is
  'A weekday of a month (app.month_of): 100 times which one, 5 for the last, and its ISO number; 302 is the third '
  'Tuesday.';

create or replace function app.month_dates(month int, days int[]) returns date[]
language plpgsql immutable set search_path = '' as $$
declare
  dates date[] := '{}';
  day int;
  candidate date;
  latest date;
begin
  if days[1] > 31 then
    return array(select app.month_weekday(month, d) as candidate from unnest(days) as d order by candidate);
  end if;
  foreach day in array days loop
    candidate := app.month_day(month, day);
    if candidate is distinct from latest then
      dates := dates || candidate;
      latest := candidate;
    end if;
  end loop;
  return dates;
end
$$;
comment on function app.month_dates is
  'Several days or weekdays of a month as dates in order; days that fall together on the last day of a short month are '
  'one.';

-- Counting dates of several days a month: one a day, less those that fall together in short months.

create or replace function app.count_congruent(first int, step int, terms int, modulus int, residue int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  common constant int := gcd(step, modulus);
  period constant int := modulus / common;
  distance constant int := residue - first;
  position int;
begin
  if distance % common <> 0 then
    return 0;
  end if;
  -- The first such term solves position * step = distance modulo the period, where every unit is its own inverse, since
  -- the modulus divides 24.
  position := (distance / common * (step / common) % period + period) % period;
  return greatest(0, (terms - position + period - 1) / period);
end
$$;
comment on function app.count_congruent is
  'How many terms of first, first + step, … leave this residue modulo a divisor of 24.';

create or replace function app.count_leap_years(first int, step int, terms int) returns int
language sql immutable
  return app.count_congruent(first, step, terms, 4, 0) - (
    select count(*) from generate_series(21, (first + step * (terms - 1)) / 100) as century
    where century % 4 <> 0 and century * 100 >= first and (century * 100 - first) % step = 0
  );
comment on function app.count_leap_years is
  'How many of the years first, first + step, … are leap years; from 1901 on.';

create or replace function app.count_short_months(first int, step int, terms int, days int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  februaries constant int := app.count_congruent(first, step, terms, 12, 1);
  years_apart constant int := step / gcd(step, 12);
  first_february int;
begin
  case days
    when 30 then
      return februaries + app.count_congruent(first, step, terms, 12, 3)
        + app.count_congruent(first, step, terms, 12, 5)
        + app.count_congruent(first, step, terms, 12, 8) + app.count_congruent(first, step, terms, 12, 10);
    when 29 then
      return februaries;
    when 28 then
      if februaries = 0 then
        return 0;
      end if;
      -- Within 12 steps, since the months of the year repeat.
      select min(first + step * i) into first_february from generate_series(0, 11) as i
        where (first + step * i) % 12 = 1;
      return februaries - app.count_leap_years(first_february / 12, years_apart, februaries);
  end case;
end
$$;
comment on function app.count_short_months is
  'How many of the months first, first + step, … have at most 28, 29 or 30 days.';

-- schemas/bills/nth_month_date.sql

create or replace function app.count_month_dates(days int[], first int, step int, terms int) returns int
language plpgsql immutable set search_path = '' as $$
declare
  total int := cardinality(days) * terms;
  day int;
begin
  -- A day falls together with the day before it in the list wherever the month ends on that one or earlier.
  foreach day in array trim_array(days, 1) loop
    if day between 28 and 30 then
      total := total - app.count_short_months(first, step, terms, day);
    end if;
  end loop;
  return total;
end
$$;
comment on function app.count_month_dates is
  'How many dates these days (ascending, 1 to 31, or weekdays) have in the months first, first + step, ….';

-- The schedule of a bill

create or replace function app.schedule_days(bill app.expenses) returns int[]
language plpgsql immutable set search_path = '' as $$
begin
  if bill.month_days is null then
    return array[extract(day from bill.anchor_on)::int];
  end if;
  return array(select distinct case d when -1 then 31 else d end from unnest(bill.month_days) as d order by 1);
end
$$;
comment on function app.schedule_days is
  'Days of the month of a monthly or yearly schedule, ascending; 31 is the last day, above it are weekdays '
  '(app.month_weekday).';

create or replace function app.nth_month_date(bill app.expenses, n int) returns date
language plpgsql immutable set search_path = '' as $$
declare
  first constant int := app.month_of(bill.anchor_on);
  days constant int[] := app.schedule_days(bill);
  -- Counted from the start of the anchor's month, whose dates before the anchor are no part of the schedule.
  rest constant int := n + width_bucket(bill.anchor_on - 1, app.month_dates(first, days));
  months int := rest / cardinality(days);
  dates date[];
  missing int;
begin
  loop
    -- Exact at once unless days fell together in months before; then as many months are added as hold what is missing.
    missing := rest - app.count_month_dates(days, first, bill.every, months);
    dates := app.month_dates(first + months * bill.every, days);
    if missing < cardinality(dates) then
      return dates[missing + 1];
    end if;
    months := months + greatest(1, missing / cardinality(days));
  end loop;
end
$$;
comment on function app.nth_month_date is 'app.scheduled_on of a schedule of several days a month, or of its last.';

create or replace function app.scheduled_on(bill app.expenses, n int) returns date
language sql immutable
  -- Adding months to a date ends on the last day of a shorter month.
  return case (bill).frequency
    when 'once' then case when n = 0 then (bill).anchor_on end
    when 'daily' then (bill).anchor_on + n * (bill).every
    when 'weekly' then (bill).anchor_on + n * (bill).every * 7
    when 'yearly' then ((bill).anchor_on + make_interval(years => n * (bill).every))::date
    else case when (bill).month_days is null then ((bill).anchor_on + make_interval(months => n * (bill).every))::date
      else app.nth_month_date(bill, n) end
  end;
comment on function app.scheduled_on is
  'The date of number n (from 0) of a bill''s schedule, whether or not the schedule ends before.';

create or replace function app.month_date_index(bill app.expenses, day date) returns int
language plpgsql immutable set search_path = '' as $$
declare
  first constant int := app.month_of(bill.anchor_on);
  months constant int := (app.month_of(day) - first) / bill.every;
  days constant int[] := app.schedule_days(bill);
begin
  return app.count_month_dates(days, first, bill.every, months)
    + width_bucket(day - 1, app.month_dates(first + months * bill.every, days))
    - width_bucket(bill.anchor_on - 1, app.month_dates(first, days));
end
$$;
comment on function app.month_date_index is 'app.schedule_index of a schedule of several days a month, or of its last.';

create or replace function app.step_index(anchor_on date, step int, day date) returns int
language sql immutable
  return (app.month_of(day) - app.month_of(anchor_on)) / step
    + (
      (anchor_on
      + make_interval(months => (app.month_of(day) - app.month_of(anchor_on)) / step * step))::date < day)::int;
comment on function app.step_index is
  'Which of the dates so many months apart is the first on or after a day, from the anchor on.';

create or replace function app.schedule_index(bill app.expenses, day date) returns int
language sql immutable
  return case
    when day <= (bill).anchor_on then 0
    when (bill).frequency = 'once' then 1
    when (bill).frequency = 'daily' then (day - (bill).anchor_on + (bill).every - 1) / (bill).every
    when (bill).frequency = 'weekly' then (day - (bill).anchor_on + (bill).every * 7 - 1) / ((bill).every * 7)
    when (bill).frequency = 'yearly' then app.step_index((bill).anchor_on, (bill).every * 12, day)
    when (bill).month_days is null then app.step_index((bill).anchor_on, (bill).every, day)
    else app.month_date_index(bill, day)
  end;
comment on function app.schedule_index is
  'The number of the first scheduled date on or after a day, which is also how many come before it.';

-- schemas/bills/describe_schedule.sql

create or replace function app.last_index(bill app.expenses) returns int
language sql immutable
  return case
    when (bill).frequency = 'once' then 0
    -- Both ends may be given; the earlier one counts, and least() passes over the one that is not.
    else
      least((bill).ends_after - 1,
      case when (bill).ends_on is not null then app.schedule_index(bill, (bill).ends_on + 1) - 1 end)
  end;
comment on function app.last_index is
  'The number of the last scheduled date, both ends counted by the schedule; null when it never ends.';

-- The weekend rule

create or replace function app.due_on(scheduled_on date, weekend_rule text) returns date
language sql immutable
  return case
    when weekend_rule = 'none' or extract(isodow from scheduled_on) < 6 then scheduled_on
    when weekend_rule = 'before' then scheduled_on - (extract(isodow from scheduled_on)::int - 5)
    else scheduled_on + (8 - extract(isodow from scheduled_on)::int)
  end;
comment on function app.due_on is
  'When a scheduled date is due: with the rule before or after, a weekend''s moves to the Friday before or the Monday '
  'after it.';

create or replace function app.first_scheduled_due(day date, weekend_rule text) returns date
language sql immutable
  return case
    when weekend_rule = 'before' and extract(isodow from day) > 5 then day + (8 - extract(isodow from day)::int)
    when weekend_rule = 'after' and extract(isodow from day) in (7, 1)
      then day - (1 + extract(isodow from day)::int % 7)
    else day
  end;
comment on function app.first_scheduled_due is
  'The earliest date that, were it scheduled, would be due on or after a day: app.due_on backwards.';

create or replace function app.due_index(bill app.expenses, day date) returns int
language plpgsql immutable set search_path = '' as $$
declare
  -- A variable, since the planner inlines no function whose argument it would have to write out more than once.
  first_day constant date := app.first_scheduled_due(day, bill.weekend_rule);
begin
  return app.schedule_index(bill, first_day);
end
$$;
comment on function app.due_index is 'The number of the first scheduled date that is due on or after a day.';

create or replace function app.scheduled_dates(bill app.expenses, first int, last int)
  returns table (scheduled_on date, due_on date)
language plpgsql immutable rows 2 set search_path = '' as $$
begin
  for n in first..last loop
    scheduled_on := app.scheduled_on(bill, n);
    due_on := app.due_on(scheduled_on, bill.weekend_rule);
    return next;
  end loop;
end
$$;
comment on function app.scheduled_dates is
  'The dates of these numbers of a bill''s schedule; none when one of them is null.';

-- In words

create or replace function app.describe_schedule(bill app.expenses) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  days constant int[] := case when bill.frequency = 'monthly' then app.schedule_days(bill) end;
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'frequency', bill.frequency, 'every', bill.every, 'anchor_on', bill.anchor_on,
    'month_days', case when days[1] <= 31 then to_jsonb(days) end,
    'month_weekdays', case when days[1] > 31 then array(
      select case d / 100 when 5 then -1 else d / 100 end || substr('MOTUWETHFRSASU', d % 100 * 2 - 1, 2)
      from unnest(days) with ordinality as given (d, position)
      order by position
    ) end,
    'weekend_rule', nullif(bill.weekend_rule, 'none'), 'ends_on', bill.ends_on, 'ends_after', bill.ends_after
  ));
end
$$;
comment on function app.describe_schedule is
  'A bill''s schedule as facts: {frequency, every, anchor_on, month_days or month_weekdays?, weekend_rule?, ends_on?, '
  'ends_after?}; month_days are in order, 31 for the last day, month_weekdays as in RFC 5545: -1FR is the last Friday.';

-- schemas/bills/occurrences.sql

-- Occurrences: which due dates of a bill are open now. Rows exist from the first date that we watch through the current
-- one, which is the first that is due today or later and neither paid nor skipped; what comes after is computed.
-- Nothing here writes: what a roll (0815) would add is added to the answer, so that reading is right however long
-- nothing was rolled.

create or replace function app.rule_amount(bill app.expenses) returns bigint
language sql immutable
  return case when (bill).amount_mode <> 'variable' then (bill).amount_minor end;
comment on function app.rule_amount is
  'What an occurrence is expected to cost by the bill alone: nothing known for a variable one, whose amount is only '
  'its usual one.';

-- A table, since the planner puts those of one row into the query that asks; each look at a table by itself costs a
-- check of the membership.
create or replace function app.usual_amount(bill_id text, amount_minor bigint) returns table (minor bigint)
language sql stable rows 1
begin atomic
  select coalesce(amount_minor, (
    select o.expected_minor
    from app.expense_occurrences as o
    where o.expense_id = bill_id and o.expected_minor is not null
    order by o.scheduled_on desc
    limit 1
  ));
end;
comment on function app.usual_amount is
  'What a bill costs as far as anybody knows: its amount, else the latest that was known, else null.';

create or replace function app.is_paid_by_autopay(bill app.expenses, due_on date, today date) returns boolean
language sql immutable
  -- next_due says how far the bill was rolled: an earlier occurrence that is open was reopened by somebody, and stays
  -- so.
  return (bill).autopay and due_on < today and due_on >= (bill).next_due;
comment on function app.is_paid_by_autopay is
  'Whether an open occurrence passes for paid: automatic, and passed since the bill was rolled last. Without any known '
  'amount it waits for one when it is rolled.';

create or replace function app.awaited_dates(bill_id text, autopay boolean, next_due date, usual_minor bigint,
  today date) returns table (dates date[])
language sql stable rows 1
begin atomic
  select array_agg(o.due_on order by o.due_on)
  from app.expense_occurrences as o
  where autopay and o.expense_id = bill_id and o.status = 'open' and o.expected_minor is null and o.due_on < today
    -- With an amount to go by, the next roll records it.
    and (usual_minor is null or o.due_on < coalesce(awaited_dates.next_due, today));
end;
comment on function app.awaited_dates is
  'The dates of an automatic bill that have passed and wait for their amount, which nobody can estimate: neither paid '
  'nor overdue. Null when there are none.';

create or replace function app.first_watched(bill app.expenses, day date) returns date
language sql immutable
  return greatest(day, app.due_on((bill).tracked_from, (bill).weekend_rule));
comment on function app.first_watched is
  'A day, or the first due date that is ours to watch, when that is later: a new schedule may begin in the future.';

create or replace function app.open_indexes(bill app.expenses, today date, wanted int) returns setof int
language plpgsql stable set search_path = '' as $$
declare
  first constant int := greatest(app.due_index(bill, today), app.schedule_index(bill, bill.tracked_from));
  closed_ahead int;
begin
  select count(*) into closed_ahead
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.scheduled_on >= app.scheduled_on(bill, first) and o.status <> 'open';
  return query
    select n
    from generate_series(first, least(first + wanted + closed_ahead - 1, app.last_index(bill))) as n
    where closed_ahead = 0 or not exists (
      select from app.expense_occurrences as o
      where o.expense_id = bill.id and o.scheduled_on = app.scheduled_on(bill, n) and o.status <> 'open'
    )
    order by n
    limit wanted;
end
$$;
comment on function app.open_indexes is
  'The numbers of the next scheduled dates that are due today or later and neither paid nor skipped, as many as '
  'wanted.';

create or replace function app.current_index(bill app.expenses, today date) returns table (n int)
language sql stable rows 1
begin atomic
  select case
    when exists (
      select from app.expense_occurrences as o
      where o.expense_id = (bill).id and o.scheduled_on >= app.first_scheduled_due(today, (bill).weekend_rule)
        and o.status <> 'open'
    ) then (select i from app.open_indexes(bill, today, 1) as i)
    else app.due_index(bill, app.first_watched(bill, today))
  end;
end;
comment on function app.current_index is
  'The number of the current date of an active bill: due today or later, neither paid nor skipped; past the last one, '
  'or null, when the schedule is over.';

create or replace function app.shortest_gap(bill app.expenses) returns int
language sql immutable
  return case (bill).frequency
    when 'monthly' then case when cardinality((bill).month_days) > 1 then 1 else (bill).every * 28 end
    when 'weekly' then (bill).every * 7
    when 'yearly' then (bill).every * 365
    when 'daily' then (bill).every
  end - case (bill).weekend_rule when 'none' then 0 else 4 end;
comment on function app.shortest_gap is
  'Days between two due dates of a bill, at least: spares the arithmetic where only one can fall into a period.';

-- schemas/bills/passed_occurrences.sql

-- Reading

create or replace function app.passed_occurrences(context app.context, bill_ids text[] default null)
returns
  table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint, currency text)
language plpgsql stable rows 50 set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return query
    with passed as (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor,
        o.expected_minor - o.paid_minor as remaining_minor, o.currency
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on < context.today
        and (bill_ids is null or o.expense_id = any (bill_ids))
    ), late as (
      -- What a bill waits for is always one of its open rows, so only those of which one has passed can be due for a
      -- roll. They are looked up one by one: under row-level security the planner takes everything for a handful, and
      -- would walk all bills for each row.
      select e.bill
      from (select distinct p.expense_id from passed as p) as p
      cross join lateral (select b as bill from app.expenses as b where b.id = p.expense_id offset 0) as e
      where (e.bill).status = 'active' and (e.bill).deleted_at is null
    )
    select p.*
    from passed as p
    -- Full, as in app.open_occurrences: 1.6 times as fast for 5,000 bills that are half a year behind.
    full join late as l on (l.bill).id = p.expense_id
    where coalesce(p.expense_id, '') <> '' and coalesce((l.bill).id, '') <> ''
      and app.is_paid_by_autopay(l.bill, p.due_on, context.today) is not true
      -- It waits for its amount.
      and not ((l.bill).autopay and p.due_on < context.today and p.expected_minor is null)
    union all
    select (l.bill).id, s.scheduled_on, s.due_on, app.rule_amount(l.bill), app.rule_amount(l.bill), (l.bill).currency
    from late as l
    cross join lateral app.current_index(l.bill, context.today) as current
    cross join lateral app.scheduled_dates(
      l.bill, app.due_index(l.bill, app.first_watched(l.bill, (l.bill).next_due)),
      least(current.n, app.last_index(l.bill))
    ) as s
    where (l.bill).next_due < context.today and (l.bill).frequency <> 'once'
      and not app.is_paid_by_autopay(l.bill, s.due_on, context.today)
      and (select true from app.expense_occurrences as o
        where o.expense_id = (l.bill).id and o.scheduled_on = s.scheduled_on) is null;
end
$$;
comment on function app.passed_occurrences is
  'What is open in the active bills of dates that have passed, with what remains to be paid, and of bills that were '
  'not rolled since, the dates that a roll would add: the current one included.';

create or replace function app.open_occurrences(context app.context, bill_ids text[] default null)
returns
  table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, remaining_minor bigint, currency text)
language sql stable
begin atomic
  -- A full join that keeps only whole pairs: under row-level security the planner takes both sides for a handful,
  -- however many there are, and would walk all of the one for each of the other; a full join it can only hash or merge.
  -- "offset 0" keeps conditions of the caller out of it, which would make it another kind of join. With 5,000 bills,
  -- summarize_spending with what is to come is 5.6 times as fast, the chart of it more than a hundred times.
  select coming.*
  from (
    select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.expected_minor - o.paid_minor, o.currency
    from (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.paid_minor, o.currency
        from app.expense_occurrences as o
      where o.organization_id = (context).organization_id and o.status = 'open'
        and (bill_ids is null or o.expense_id = any (bill_ids))
      offset 0
    ) as o
    full join (
      select e.id from app.expenses as e
      where e.organization_id = (context).organization_id and e.kind = 'bill' and e.status = 'active'
        and e.deleted_at is null
        and (bill_ids is null or e.id = any (bill_ids))
      offset 0
    ) as b on b.id = o.expense_id
    where coalesce(o.due_on, '-infinity') >= (context).today and coalesce(b.id, '') <> ''
    offset 0
  ) as coming
  union all
  select p.expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.remaining_minor, p.currency
    from app.passed_occurrences(context, bill_ids) as p;
end;
comment on function app.open_occurrences is
  'What is open in the active bills as of now: every overdue date and the current one, with what remains to be paid '
  '(null while not known).';

create or replace function app.future_spans(context app.context, last_day date, bill_ids text[] default null)
returns table (bill app.expenses, first int, last int, first_day date, end_day date)
language sql stable
begin atomic
  -- Step by step, since the planner writes out no function whose argument is more than a few operators; "offset 0" ends
  -- a step: that of the days makes list_bills over a year 2.2 times as fast (bench/sql/planner_hints.ts).
  select b, span.first, span.last, day.of_today, day.of_end
  from app.expenses as b
  cross join lateral (select app.first_watched(b, b.next_due) as current_on offset 0) as watched
  cross join lateral (
    select app.first_scheduled_due((context).today, b.weekend_rule) as of_today,
      app.first_scheduled_due(watched.current_on, b.weekend_rule) as of_current,
      app.first_scheduled_due(last_day + 1, b.weekend_rule) as of_end
    offset 0
  ) as day
  cross join lateral (
    select case
        when b.next_due >= (context).today then app.schedule_index(b, day.of_current)
        else (select c.n + 1 from app.current_index(b, (context).today) as c)
      end as first,
      least(app.last_index(b), app.schedule_index(b, day.of_end) - 1) as last
    offset 0
  ) as span
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null
    and (bill_ids is null or b.id = any (bill_ids))
    and b.frequency <> 'once' and greatest((context).today, b.next_due) + app.shortest_gap(b) <= last_day;
end;
comment on function app.future_spans is
  'Numbers of the scheduled dates from about the current one of each active bill until a day, which may have rows '
  'already, and the days from and before which those are scheduled.';

-- schemas/bills/next_due_dates.sql

create or replace function app.future_occurrences(context app.context, last_day date, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, currency text)
language sql stable
begin atomic
  select (f.bill).id, s.scheduled_on, s.due_on, app.rule_amount(f.bill), (f.bill).currency
  from app.future_spans(context, last_day, bill_ids) as f
  -- Looked up once a bill: as a join it would be planned by guesses about how many there are.
  cross join lateral (
    select coalesce(array_agg(o.scheduled_on), '{}') as dates
    from app.expense_occurrences as o
    where o.expense_id = (f.bill).id and o.scheduled_on >= f.first_day and o.scheduled_on < f.end_day
    offset 0
  ) as known
  cross join lateral app.scheduled_dates(f.bill, f.first, f.last) as s
  where s.scheduled_on <> all (known.dates);
end;
comment on function app.future_occurrences is
  'What follows the current date of each active bill until a day, as far as it is not paid or skipped in advance.';

create or replace function app.future_counts(context app.context, last_day date, bill_ids text[] default null)
  returns table (expense_id text, dates bigint)
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return query
    select (f.bill).id, f.last - f.first + 1 - known.dates
    from app.future_spans(context, last_day, bill_ids) as f
    cross join lateral (
      select count(*) as dates
      from app.expense_occurrences as o
      where o.expense_id = (f.bill).id and o.scheduled_on >= f.first_day and o.scheduled_on < f.end_day
        and app.schedule_index(f.bill, o.scheduled_on) between f.first and f.last
        -- Not of an earlier schedule: the day after has another number.
        and app.schedule_index(f.bill, o.scheduled_on + 1) > app.schedule_index(f.bill, o.scheduled_on)
      offset 0
    ) as known
    where f.last - f.first + 1 > known.dates;
end
$$;
comment on function app.future_counts is
  'How many dates app.future_occurrences has of each bill, without computing them.';

create or replace function app.expected_in_period(context app.context, first_day date, last_day date)
returns table (expense_id text, category_id text, payee text, due_on date, expected_minor bigint, currency text)
language sql stable
begin atomic
  select b.id, b.category_id, coalesce(b.payee, b.name), e.due_on, coalesce(e.minor, usual.minor), b.currency
  from (
    select o.expense_id, o.due_on, o.remaining_minor as minor from app.open_occurrences(context) as o
    union all
    select f.expense_id, f.due_on, f.expected_minor from app.future_occurrences(context, last_day) as f
  ) as e
  join app.expenses as b on b.id = e.expense_id
  cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
  where (first_day is null or e.due_on >= first_day) and e.due_on <= last_day;
end;
comment on function app.expected_in_period is
  'What the active bills will take from first_day (null: whatever is overdue) to last_day: what remains of each due '
  'date; for a variable bill its usual amount, null when none is known.';

create or replace function app.next_due_dates(context app.context, bill app.expenses, wanted int) returns date[]
language plpgsql stable set search_path = '' as $$
begin
  if bill.status <> 'active' then
    return '{}';
  end if;
  return array(
    select coalesce(o.due_on, app.due_on(app.scheduled_on(bill, n), bill.weekend_rule)) as due_on
    from app.open_indexes(bill, context.today, wanted) as n
    left join app.expense_occurrences as o on o.expense_id = bill.id and o.scheduled_on = app.scheduled_on(bill, n)
    union all
    -- What is left of the schedule that it had before.
    select o.due_on
    from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= context.today
      and o.scheduled_on < bill.tracked_from
    order by due_on
    limit wanted
  );
end
$$;
comment on function app.next_due_dates is
  'The next due dates of a bill that are not paid or skipped, today''s included; none while it is not active.';

-- schemas/bills/roll_forward.sql

-- Rolling a bill forward: what the calendar does to it, written down. Every tool that changes a bill does this first; a
-- job does it daily.
--  Which dates are ours: tracked_from is the scheduled date of the first occurrence that was due on or after the day
-- the bill was added. A first due date further back only anchors the schedule: what was due then was settled elsewhere.
-- A one-time bill is watched in any case.

create or replace function app.materialize_occurrences(bill app.expenses, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
declare
  change constant text := current_setting('app.change_id', true);
begin
  -- Not part of anybody's change: rows follow from the schedule and the calendar, and undoing a payment must not take a
  -- due date with it.
  perform set_config('app.change_id', '', true);
  insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
  select bill.organization_id, bill.id, s.scheduled_on, s.due_on, app.rule_amount(bill), bill.currency
  from app.scheduled_dates(bill, first, last) as s
  where not exists (select from app.expense_occurrences as o
    where o.expense_id = bill.id and o.scheduled_on = s.scheduled_on);
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.materialize_occurrences is
  'Makes the rows that are missing among these numbers of a bill''s schedule.';

create or replace function app.pay_occurrence(
  occurrence app.expense_occurrences, amount_minor bigint, paid_on date, source text, paid_by uuid default null,
  note text default null, is_estimate boolean default false
) returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
begin
  insert into app.payments as p (
    organization_id, expense_id, occurrence_id, amount_minor, currency, paid_on, note, source, paid_by, is_estimate
  ) values (
    occurrence.organization_id, occurrence.expense_id, occurrence.id, pay_occurrence.amount_minor, occurrence.currency,
    pay_occurrence.paid_on, pay_occurrence.note, pay_occurrence.source, pay_occurrence.paid_by,
    pay_occurrence.is_estimate
  ) returning p.* into payment;
  return payment;
end
$$;
comment on function app.pay_occurrence is
  'Records a payment for an occurrence; whether that closes it is the caller''s to say.';

create or replace function app.paid_minor(occurrence_id text) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (select o.paid_minor from app.expense_occurrences as o where o.id = paid_minor.occurrence_id);
end
$$;
comment on function app.paid_minor is 'What was paid for an occurrence so far, less what came back.';

create or replace function app.record_autopay(bill app.expenses, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  outer_change constant text := current_setting('app.change_id', true);
  change text;
  occurrence app.expense_occurrences;
  is_estimate boolean;
  expected bigint;
begin
  for occurrence in
    select * from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and app.is_paid_by_autopay(bill, o.due_on, today)
      -- It waits for a person, as any date that has passed.
      and not app.is_closed(o.organization_id, o.due_on)
    order by o.scheduled_on
  loop
    expected :=
      coalesce(occurrence.expected_minor, (select u.minor from app.usual_amount(bill.id, bill.amount_minor) as u));
    continue when expected is null;
    is_estimate := bill.amount_mode <> 'fixed'
      and (occurrence.expected_minor is null or occurrence.amount_source = 'rule');
    -- A change of its own, so that it can be undone without the change that happened to roll the bill.
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    select o.id, coalesce(auth.uid(), o.owner_id), 'autopay', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on,
      'amount', app.format_amount(expected, bill.currency), 'currency', bill.currency,
      'is_estimate', nullif(is_estimate, false)
    ))
    from identity.organizations as o
    where o.id = bill.organization_id
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    if expected > occurrence.paid_minor then
      perform app.pay_occurrence(
        occurrence, expected - occurrence.paid_minor, occurrence.due_on, 'autopay', is_estimate => is_estimate
      );
    end if;
    update app.expense_occurrences as o set status = 'paid', closed_at = app.instant(), expected_minor = expected
      where o.id = occurrence.id;
  end loop;
  perform set_config('app.change_id', coalesce(outer_change, ''), true);
end
$$;
comment on function app.record_autopay is
  'Records the open occurrences that pass for paid (app.is_paid_by_autopay) as paid on their due dates, with the '
  'amount '
  'that is known or was last, each as a change that can be undone. Those without any wait.';

create or replace function app.pay_awaited(bill app.expenses, occurrence app.expense_occurrences, today date)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- What an automatic payment was taken back of is a person's to pay.
  if bill.autopay and occurrence.status = 'open' and occurrence.expected_minor is null and occurrence.due_on < today
    and not app.is_closed(occurrence.organization_id, occurrence.due_on) and not exists (
      select from app.payments as p where p.occurrence_id = occurrence.id and p.source = 'autopay'
    ) then
    select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;
    if occurrence.status = 'open' and occurrence.expected_minor > occurrence.paid_minor then
      perform app.pay_occurrence(
        occurrence, occurrence.expected_minor - occurrence.paid_minor, occurrence.due_on, 'autopay'
      );
      update app.expense_occurrences as o set status = 'paid', closed_at = app.instant() where o.id = occurrence.id;
    end if;
  end if;
end
$$;
comment on function app.pay_awaited is
  'Records the automatic payment of a date that has passed and waited for its amount, now that it is there; takes the '
  'date as it was before.';

create or replace function app.refresh_bill(bill_id text, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  change constant text := current_setting('app.change_id', true);
  bill app.expenses;
  current_index int;
  upcoming_due date;
  is_over boolean;
begin
  select * into bill from app.expenses as e
  where e.id = refresh_bill.bill_id and e.kind = 'bill' and e.status in ('active', 'ended') and e.deleted_at is null
  for update;
  if not found then
    return;
  end if;
  select i into current_index from app.open_indexes(bill, today, 1) as i;
  -- From the first watched date, not from the last roll: a row that went missing comes back.
  perform app.materialize_occurrences(bill, app.schedule_index(bill, bill.tracked_from),
    coalesce(current_index, app.last_index(bill)));
  perform app.record_autopay(bill, today);

  -- A one-time bill does not roll: it is due on its day until it is paid.
  select min(o.due_on) filter (where o.due_on >= today or bill.frequency = 'once'), current_index is null
    and count(*) = 0
  into upcoming_due, is_over
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open';
  perform set_config('app.change_id', '', true);
  update app.expenses as e set next_due = upcoming_due, status = case when is_over then 'ended' else 'active' end
  where e.id = bill.id
    and (e.next_due, e.status) is distinct from (upcoming_due, case when is_over then 'ended' else 'active' end);
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.refresh_bill is
  'Brings a bill up to a day: its rows, automatic payments, next_due, and whether it has ended: no scheduled date is '
  'left and nothing is open. Overdue dates keep a bill active. Locks the bill; paused and cancelled ones are left '
  'alone.';

-- schemas/bills/describe_links.sql

-- How a bill's connection to its provider is told: its name, how it stands, and what its provider says that somebody
-- has to look at.

create or replace function app.provider_name(link app.provider_links) returns text
language sql immutable
  return coalesce((link).provider_name, (link).provider_key);
comment on function app.provider_name is 'What to call the provider of a link.';

create or replace function app.link_status(link app.provider_links, at timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when link.resumes_as is not null
      or link.status in ('pending', 'active', 'needs_reauth')
        and not identity.organization_has_feature(link.organization_id, 'bills:variable', link_status.at)
      then 'paused_by_plan'
    else link.status
  end;
end
$$;
comment on function app.link_status is
  'How a link stands: its status, or paused_by_plan while the organization''s plan does not include fetching.';

create or replace function app.rejudge_statement(statement app.provider_statements, occurrence app.expense_occurrences)
  returns app.provider_statements
language plpgsql stable set search_path = '' as $$
begin
  statement.usual_minor := app.usual_statement(occurrence);
  statement.reason :=
    app.judge_statement(occurrence, statement.amount_minor, statement.currency, statement.usual_minor);
  return statement;
end
$$;
comment on function app.rejudge_statement is
  'A statement with the reason and the usual amount of now: its date may have been reopened since, a payment undone, '
  'the bill''s currency changed.';

create or replace function app.open_question(link app.provider_links)
  returns table (statement app.provider_statements, occurrence app.expense_occurrences)
language sql stable rows 1
begin atomic
  select j, o
  from app.provider_statements as s
  join app.expense_occurrences as o on o.id = s.occurrence_id
  cross join lateral app.rejudge_statement(s, o) as j
  where s.link_id = (link).id and s.status = 'needs_review'
    -- Whoever set the amount, or paid, has answered.
    and not (o.amount_source = 'override' and o.updated_at >= s.fetched_at)
    and case
      when o.status = 'open'
        then j.reason is not null or o.expected_minor is distinct from s.amount_minor and o.amount_source <> 'override'
      -- What is settled needs nobody: that it was settled by another amount is said until the next statement.
      else s.reason in ('paid', 'skipped') and j.reason = s.reason and s.period = (link).last_success_period
    end
  order by s.period desc
  limit 1;
end;
comment on function app.open_question is
  'The latest statement of a link that waits for somebody to look at it, and the due date that it is about; none when '
  'none does. reason is why it is no amount to take over now; null when it is one by now.';

create or replace function app.describe_link(context app.context, link app.provider_links) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  question record;
begin
  select * into question from app.open_question(link);
  return jsonb_strip_nulls(jsonb_build_object(
    'name', app.provider_name(link), 'status', app.link_status(link, context.at),
    'needs_review', case when question is not null then jsonb_build_object(
      'due_on', (question.occurrence).due_on, 'amount',
      app.format_amount((question.statement).amount_minor, (question.statement).currency),
      'period', to_char((question.statement).period, 'YYYY-MM'),
      'currency', (question.statement).currency, 'reason', (question.statement).reason,
      'usual', app.format_amount((question.statement).usual_minor, (question.statement).currency)
    ) end
  ));
end
$$;
comment on function app.describe_link is
  'A link as tools show it: {name, status, needs_review?: {due_on, amount, currency, reason?, usual?}}, the last being '
  'what the provider says and nobody took over; without a reason sync_bill_amounts takes it over now.';

-- schemas/bills/this_month.sql

-- How every tool shows a bill: as of now, in words and decimal strings.

create or replace function app.default_lead_days(context app.context) returns int
language plpgsql stable set search_path = '' as $$
begin
  return (select p.default_lead_days from identity.profiles as p where p.user_id = context.owner_id);
end
$$;
comment on function app.default_lead_days is
  'Days before the due date on which the owner wants to hear of a bill that says nothing else.';

create or replace function app.times_a_month(frequency text, every int, month_days int) returns numeric
language sql immutable
  -- A year has 365.2425 days (Gregorian mean), a month a twelfth of it.
  return case frequency
    when 'daily' then 365.2425 / 12 / every
    when 'weekly' then 365.2425 / 84 / every
    when 'monthly' then coalesce(month_days, 1)::numeric / every
    when 'yearly' then 1.0 / 12 / every
  end;
comment on function app.times_a_month is
  'How often a bill comes in a month on average, month_days times in one; null for a one-time bill.';

create or replace function app.bill_state(status text, earliest_due date, next_due date, is_amount_known boolean,
  today date, lead_days int, is_settled boolean, within_days int, is_awaited boolean)
returns text
language sql immutable
  return case
    when status = 'ended' then 'paid'
    when status <> 'active' then null
    when earliest_due < today then 'overdue'
    when next_due <= today + lead_days and is_amount_known then 'due'
    when next_due <= today + lead_days or is_awaited then 'amount_missing'
    when next_due is null or is_settled and next_due > today + greatest(within_days, 7) then 'paid'
    when is_amount_known then 'upcoming'
    else 'amount_missing'
  end;
comment on function app.bill_state is
  'overdue: an open date has passed. due: the next one is today or within the lead days. paid: all that was due this '
  'calendar month is settled, and some of it by paying, and the next date is not among those of a week or of the days '
  'that were asked for; or nothing is left to pay. upcoming: everything else. '
  'amount_missing instead of due or upcoming while the amount of the next date is not known, or an automatic payment '
  'waits for its amount. Null for a paused or '
  'cancelled bill, of which nothing is expected.';

create or replace function app.this_month(bill_id text, autopay boolean, next_due date, earliest_due date, today date)
  returns table (is_settled boolean)
language sql stable rows 1
begin atomic
  -- As dates all the way, since an index of dates is not searched for instants.
  select earliest_due >= (date_trunc('month', today) + interval '1 month')::date and (
    exists (
      select from app.expense_occurrences as o
      -- The weekend rule moves a date by two days at most; the bounds on the scheduled date are there for the index.
      where o.expense_id = bill_id and o.status = 'paid'
        and o.scheduled_on between date_trunc('month', today)::date
          - 2 and (date_trunc('month', today) + interval '1 month')::date + 1
        and o.due_on >= date_trunc('month', today)::date
          and o.due_on < (date_trunc('month', today) + interval '1 month')::date
    )
    or autopay and next_due < today and exists (
      select
      from app.expenses as b
      cross join lateral app.scheduled_dates(b, app.due_index(b, today) - 1, app.due_index(b, today) - 1) as s
      where b.id = bill_id and s.due_on >= date_trunc('month', today)::date
        and app.is_paid_by_autopay(b, s.due_on, today)
        and (select u.minor from app.usual_amount(b.id, b.amount_minor) as u) is not null
    )
  );
end;
comment on function app.this_month is
  'Whether nothing of a bill is open until the end of the calendar month and something of it was paid, automatic '
  'payments not yet recorded included.';

create or replace function app.next_price_from(bill app.expenses, today date) returns date
language plpgsql stable set search_path = '' as $$
declare
  last_old constant date := (
    select max(o.scheduled_on) from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= today and o.amount_source = 'rule'
      and o.currency = bill.currency
      and o.expected_minor <> bill.amount_minor
  );
  n constant int := app.schedule_index(bill, last_old + 1);
begin
  return case when n <= coalesce(app.last_index(bill), n)
    then app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) end;
end
$$;
comment on function app.next_price_from is
  'The first due date that has the amount of a bill, when dates to come still have an earlier one; else null.';

-- schemas/bills/renewals.sql

-- When a contract renews, and the last day to end it before: from the one renewal that was recorded, term after term.

create or replace function app.term_years(bill app.expenses) returns int
language sql immutable
  return case when (bill).frequency = 'yearly' then (bill).every else 1 end;
comment on function app.term_years is
  'For how long a contract renews: what a yearly bill pays for, a year of any other.';

create or replace function app.next_renewal(bill app.expenses, day date) returns date
language sql immutable
begin atomic
  select r.renews_on
  from (
    select extract(year from day)::int - extract(year from (bill).renews_on)::int as years, app.term_years(bill) as term
  ) as t
  cross join lateral (
    -- Each from the first one: 29 February comes back.
    select ((bill).renews_on + make_interval(years => greatest(t.years / t.term, 0) * t.term))::date as latest,
      ((bill).renews_on + make_interval(years => (greatest(t.years / t.term, 0) + 1) * t.term))::date as following
  ) as n
  cross join lateral (select case when n.latest >= day then n.latest else n.following end as renews_on) as r
  where (bill).status = 'active' and r.renews_on <= coalesce((bill).ends_on, 'infinity');
end;
comment on function app.next_renewal is
  'The first renewal of an active bill on or after a day; null when it renews no more, or nobody said that it does.';

create or replace function app.next_cancel_by(bill app.expenses, today date) returns date
language sql immutable
  return app.next_renewal(bill, today + (bill).notice_days) - (bill).notice_days;
comment on function app.next_cancel_by is
  'The last day to end a bill before its next term that has not passed; null when no notice is known.';

-- schemas/bills/describe_bills.sql

create or replace function app.assignee_name(bill app.expenses) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select app.member_name(m.user_id)
    from identity.memberships as m
    where m.organization_id = bill.organization_id and m.user_id = bill.assignee_id
  );
end
$$;
comment on function app.assignee_name is
  'Who looks after a bill; null when nobody does, or who did is no member any more.';

-- Planned once a session: whatever the ids, each bill is looked up by its own.
create or replace function app.describe_bills(context app.context, bill_ids text[], within_days int default null)
  returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  default_lead_days constant int := app.default_lead_days(context);
  -- A daily bill that nobody paid for a year is told by its number.
  max_overdue_shown constant int := 24;
begin
  return (
    with passed as (
      select * from app.passed_occurrences(context, bill_ids)
    ), overdue as (
      select o.expense_id, min(o.due_on) as earliest_due, count(*) as dates_count,
        jsonb_agg(jsonb_build_object('due_on', o.due_on, 'amount', app.format_minor(o.remaining_minor, c.exponent))
          order by o.position)
          filter (where o.position <= max_overdue_shown) as dates
      from (select *, row_number() over (partition by o.expense_id order by o.due_on, o.scheduled_on) as position
        from passed as o) as o
      join app.currencies as c on c.code = o.currency
      where o.due_on < context.today
      group by o.expense_id
    )
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', b.id,
      'name', b.name,
      'payee', b.payee,
      'category', category.name,
      'tags', case when b.tags <> '{}' then to_jsonb(b.tags) end,
      'note', b.note,
      'amount', app.format_minor(coalesce(u.expected_minor, app.rule_amount(b)), c.exponent),
      'remaining', app.format_minor(nullif(u.remaining_minor, u.expected_minor), c.exponent),
      'next_price', case when b.amount_mode = 'fixed' and u.expected_minor <> b.amount_minor then (
        select jsonb_build_object('amount', app.format_minor(b.amount_minor, c.exponent), 'from', f.day)
        from app.next_price_from(b, context.today) as f (day)
        where f.day is not null
      ) end,
      'usual_amount', case when b.amount_mode = 'variable' then app.format_minor(usual.minor, c.exponent) end,
      'currency', b.currency,
      'amount_mode', b.amount_mode,
      'schedule', app.describe_schedule(b),
      'next_due', u.due_on,
      'days_until', u.due_on - context.today,
      'state', app.bill_state(
        b.status, coalesce(overdue.earliest_due, u.due_on), u.due_on, u.expected_minor is not null, context.today,
        lead.days,
        this_month.is_settled, within_days, awaited.dates is not null
      ),
      'snoozed_until', case when u.snoozed_until > context.today then u.snoozed_until end,
      'overdue', coalesce(overdue.dates, '[]'),
      'awaiting_amount', to_jsonb(awaited.dates),
      'overdue_count', case when overdue.dates_count > max_overdue_shown then overdue.dates_count end,
      'status', b.status,
      'autopay', b.autopay,
      'reminder',
      jsonb_build_object('enabled', b.reminder_enabled, 'days_before', lead.days, 'again',
        nullif(to_jsonb(b.remind_again), '[]')),
      'monthly_equivalent',
      case when b.status = 'active'
        then
        app.format_minor(usual.minor * app.times_a_month(b.frequency, b.every, cardinality(b.month_days)),
        c.exponent) end,
      'assignee', app.assignee_name(b),
      'trial_ends_on', b.trial_ends_on,
      'renews_on', app.next_renewal(b, context.today),
      'cancel_by', app.next_cancel_by(b, context.today),
      'my_share_percent', case when b.share_bp < 10000 then trim_scale(b.share_bp / 100.0) end,
      'my_share_amount',
      case when b.share_bp < 10000
        then app.format_minor(round(coalesce(u.expected_minor, usual.minor) * b.share_bp / 10000.0), c.exponent) end,
      'provider', case when link.id is not null then app.describe_link(context, link) end,
      'version', b.version
    )) order by ids.position), '[]')
    from unnest(bill_ids) with ordinality as ids (id, position)
    join app.expenses as b on b.id = ids.id
    join app.currencies as c on c.code = b.currency
    cross join lateral (select coalesce(b.remind_days_before, default_lead_days) as days) as lead
    left join app.categories as category on category.id = b.category_id
    left join app.provider_links as link on link.expense_id = b.id and link.status <> 'revoked'
    left join overdue on overdue.expense_id = b.id
    left join lateral (
      select o.due_on, o.scheduled_on, o.expected_minor, o.expected_minor - o.paid_minor as remaining_minor,
        o.snoozed_until
      from app.expense_occurrences as o
      -- The weekend rule moves a date by two days at most; the bound on the scheduled date is there for the index.
      where o.expense_id = b.id and o.scheduled_on >= context.today - 2 and b.status = 'active' and o.status = 'open'
        and o.due_on >= context.today
      union all
      select p.due_on, p.scheduled_on, p.expected_minor, p.remaining_minor, null from passed as p
        where p.expense_id = b.id and p.due_on >= context.today
      order by due_on, scheduled_on
      limit 1
    ) as u on true
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, coalesce(overdue.earliest_due, u.due_on),
      context.today) as this_month
    cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
    cross join lateral app.awaited_dates(b.id, b.autopay and b.status = 'active', b.next_due, usual.minor,
      context.today) as awaited
  );
end
$$;
comment on function app.describe_bills is
  'Bills in this order as every tool shows them, as of now, to who asks for the dates within so many days; amounts of '
  'overdue dates are what remains to be paid. awaiting_amount: dates of automatic payments without an amount. '
  'next_price {amount, from} is a price that was set and holds later; my_share_amount is what my_share_percent makes '
  'of the amount, which totals count whole.';

-- schemas/bills/parse_bill_schedule.sql

-- add_bill: a bill that comes again, or once on a day to come.

create or replace function app.parse_month_days(arguments jsonb, frequency text, path text default '')
  returns smallint[]
language plpgsql stable set search_path = '' as $$
declare
  field constant text := case when arguments ? 'month_days' then 'month_days' else 'month_weekdays' end;
  days constant smallint[] := (
    select array_agg(d order by (d + 32) % 32, d)
    from (
      select distinct case
        when field = 'month_weekdays'
          then (case left(value, -2) when '-1' then 5 else left(value, -2)::int end) * 100
            + (strpos('MOTUWETHFRSASU', right(value, 2)) + 1) / 2
        when value = '31' then -1
        else value::int
      end as d
      from jsonb_array_elements_text(arguments -> field)
    ) as days
  );
begin
  if days is not null and frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument.month_days_not_monthly', jsonb_build_object('frequency', frequency, 'field', field),
      path || field
    );
  end if;
  if arguments ?& array['month_days', 'month_weekdays'] then
    perform app.fail('invalid_argument.days_and_weekdays', field => path || 'month_weekdays');
  end if;
  if exists (select from unnest(days) as d where d > 500 and d - 100 = any (days)) then
    perform app.fail('invalid_argument.fourth_and_last', field => path || field);
  end if;
  return days;
end
$$;
comment on function app.parse_month_days is
  'Days or weekdays of the month from the arguments, as they are kept: each once, the 31st as the last day; null when '
  'none are given.';

create or replace function app.first_month_day(bill app.expenses) returns date
language plpgsql immutable set search_path = '' as $$
begin
  -- The schedule starts on the first of the days, in whatever month that is; only from there on months may be left out.
  bill.every := 1;
  return app.scheduled_on(bill, 0);
end
$$;
comment on function app.first_month_day is 'The first of a bill''s month days on or after its anchor.';

create or replace function app.parse_bill_schedule(context app.context, arguments jsonb, bill app.expenses)
  returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  first_due constant date := app.parse_date(context, arguments ->> 'first_due', 'first_due');
begin
  bill.frequency := coalesce(arguments ->> 'frequency', 'monthly');
  bill.every := case bill.frequency when 'once' then 1 else coalesce((arguments ->> 'every')::int, 1) end;
  bill.weekend_rule := coalesce(arguments ->> 'weekend_rule', 'none');
  bill.month_days := app.parse_month_days(arguments, bill.frequency);
  if first_due is null and bill.month_days is null then
    perform app.fail('invalid_argument.first_due_missing', jsonb_build_object('name', bill.name), 'first_due');
  end if;
  bill.anchor_on := coalesce(first_due, context.today);
  if bill.month_days is not null then
    bill.anchor_on := app.first_month_day(bill);
  end if;
  if bill.frequency <> 'once' then
    bill.ends_on := app.parse_date(context, arguments ->> 'ends_on', 'ends_on');
    bill.ends_after := (arguments ->> 'ends_after')::int;
  end if;
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument.ends_before_first_due', jsonb_build_object(
      'name', bill.name, 'ends_on', bill.ends_on, 'first_due', bill.anchor_on
    ), 'ends_on');
  end if;
  if bill.frequency = 'once' then
    bill.tracked_from := bill.anchor_on;
  elsif app.due_index(bill, context.today) > app.last_index(bill) then
    perform app.fail('invalid_argument.bill_over', jsonb_build_object(
      'name', bill.name, 'last_due', app.due_on(app.scheduled_on(bill, app.last_index(bill)), bill.weekend_rule)
    ), 'first_due');
  else
    bill.tracked_from := app.scheduled_on(bill, app.due_index(bill, context.today));
  end if;
  return bill;
end
$$;
comment on function app.parse_bill_schedule is
  'The schedule of a new bill from its arguments; the anchor is always a scheduled date. What was due before today is '
  'not watched.';

create or replace function app.parse_share(percent numeric, field text) returns int
language plpgsql stable set search_path = '' as $$
begin
  if percent * 100 <> trunc(percent * 100) then
    perform app.fail('invalid_argument.share_too_fine', jsonb_build_object('percent', trim_scale(percent)), field);
  end if;
  return percent * 100;
end
$$;
comment on function app.parse_share is 'A share in percent as hundredths of a percent.';

-- schemas/bills/parse_bill.sql

create or replace function app.with_leads(bill app.expenses, again jsonb, default_lead_days int)
  returns app.expenses
language plpgsql immutable set search_path = '' as $$
begin
  if again is not null then
    bill.remind_again := array(select jsonb_array_elements_text(again)::smallint);
  end if;
  if cardinality(bill.remind_again) > 0 then
    -- The longest is the reminder, wherever it was said; the others come again.
    bill.remind_again := array(
      select distinct days
        from unnest(bill.remind_again || coalesce(bill.remind_days_before, default_lead_days)::smallint) as days
      order by days desc
    );
    bill.remind_days_before := bill.remind_again[1];
    bill.remind_again := bill.remind_again[2:];
  end if;
  return bill;
end
$$;
comment on function app.with_leads is
  'A bill with further reminders, in order: how many days before, besides remind_days_before; null for those it has.';

create or replace function app.parse_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
begin
  bill.organization_id := context.organization_id;
  bill.name := app.clean_text(arguments ->> 'name');
  if bill.name is null then
    perform app.fail('invalid_argument.bill_without_name', field => 'name');
  end if;
  bill.payee := app.clean_text(arguments ->> 'payee');
  bill.amount_mode := coalesce(arguments ->> 'amount_mode', 'fixed');
  bill.currency := coalesce(arguments ->> 'currency', context.base_currency);
  bill.amount_minor := app.parse_amount(arguments ->> 'amount', bill.currency, 'amount');
  if bill.amount_minor is null and bill.amount_mode <> 'variable' then
    perform app.fail('invalid_argument.bill_amount_missing', jsonb_build_object('name', bill.name), 'amount');
  end if;
  bill := app.parse_bill_schedule(context, arguments, bill);
  bill.share_bp := app.parse_share(coalesce((arguments ->> 'my_share_percent')::numeric, 100), 'my_share_percent');
  bill.trial_ends_on := app.parse_date(context, arguments ->> 'trial_ends_on', 'trial_ends_on');
  bill.renews_on := app.parse_date(context, arguments ->> 'renews_on', 'renews_on');
  bill.notice_days := (arguments ->> 'notice_days')::smallint;
  if bill.notice_days is not null and bill.renews_on is null then
    perform app.fail('invalid_argument.notice_without_renewal', field => 'renews_on');
  end if;
  bill.category_id := (app.choose_category(context, arguments ->> 'category', bill.payee, bill.name, 'category')).id;
  bill.tags := app.clean_tags(arguments -> 'tags', 'tags');
  bill.note := nullif(btrim(arguments ->> 'note'), '');
  bill.autopay := coalesce((arguments ->> 'autopay')::boolean, false);
  bill.assignee_id := app.find_member(context, app.clean_text(arguments ->> 'assignee'), 'assignee');
  bill.reminder_enabled := coalesce((arguments ->> 'reminder_enabled')::boolean, true);
  bill.remind_days_before := (arguments ->> 'remind_days_before')::smallint;
  return app.with_leads(bill, coalesce(arguments -> 'remind_again', '[]'), app.default_lead_days(context));
end
$$;
comment on function app.parse_bill is 'A new bill from the arguments of add_bill, not yet written.';

create or replace function app.find_same_bill(bill app.expenses) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  found app.expenses;
begin
  select * into found
  from app.expenses as e
  where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
    and lower(e.name) = lower(bill.name) and e.amount_minor is not distinct from bill.amount_minor
      and e.currency = bill.currency
    and e.frequency = bill.frequency and e.every = bill.every and e.month_days is not distinct from bill.month_days
    -- The same days, whenever the counting began.
    and app.scheduled_on(e, app.schedule_index(e, bill.tracked_from)) = bill.tracked_from
  order by e.recorded_seq
  limit 1;
  return found;
end
$$;
comment on function app.find_same_bill is
  'The active bill of the same name, amount, currency and schedule; all null when there is none.';

create or replace function app.warn_of_first_due(bill app.expenses, first_due date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  latest_closed constant date := (
    select max(o.due_on) from app.expense_occurrences as o
      where o.expense_id = bill.id and o.status <> 'open' and o.due_on >= first_due
  );
begin
  if bill.next_due > app.due_on(first_due, bill.weekend_rule)
    and (bill.anchor_on <> first_due or latest_closed is not null) then
    return jsonb_build_array(app.warning('first_due_moved', jsonb_build_object(
      'name', bill.name, 'next_due', bill.next_due, 'first_due', first_due,
      -- Else the day that was given is not one of the days of the month.
      'closed_until', case when bill.anchor_on = first_due then latest_closed end
    )));
  end if;
  return '[]';
end
$$;
comment on function app.warn_of_first_due is
  'A warning when a bill is not due on the day from today on that was given as its first due date, and why.';

create or replace function app.warn_of_share(bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when bill.share_bp < 10000 then jsonb_build_array(app.warning('share_is_a_note', jsonb_build_object(
    'percent', trim_scale(bill.share_bp / 100.0), 'name', bill.name
  ))) else '[]' end;
end
$$;
comment on function app.warn_of_share is 'A warning about what a share does not do.';

-- schemas/bills/add_bill.sql

create or replace function app.warn_of_same_name(bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  other app.expenses;
begin
  select * into other
  from app.expenses as e
  where e.organization_id = bill.organization_id and e.kind = 'bill' and e.status in ('active', 'paused')
    and e.deleted_at is null
    and lower(e.name) = lower(bill.name) and e.id <> bill.id
  order by e.recorded_seq
  limit 1;
  return case when found then jsonb_build_array(app.warning('same_name', jsonb_build_object(
    'name', other.name, 'amount', app.format_amount(other.amount_minor, other.currency), 'currency', other.currency,
    'schedule', app.describe_schedule(other), 'id', other.id
  ))) else '[]' end;
end
$$;
comment on function app.warn_of_same_name is
  'A warning when another bill has the name of a new one: the first of them.';

create or replace function app.add_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := app.parse_bill(context, arguments);
  existing app.expenses;
  warnings jsonb := '[]';
  max_bills constant int := 5000;
  has_reminders constant boolean := bill.reminder_enabled
    and identity.organization_has_feature(context.organization_id, 'reminders:email', context.at);
begin
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    existing := app.find_same_bill(bill);
  end if;
  if existing.id is not null then
    return jsonb_build_object(
      'data',
      jsonb_build_object('status', 'duplicate', 'bill', app.describe_bills(context, array[existing.id]) -> 0,
        'next_dates', app.next_due_dates(context, existing, 3)),
      'warnings', jsonb_build_array(app.warning('duplicate.bill', jsonb_build_object('name', existing.name)))
    );
  end if;

  -- Every run of the jobs looks at all of them.
  if (select count(*) from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null) >= max_bills then
    perform app.fail('invalid_argument.too_many_bills', jsonb_build_object(
      'organization', context.organization_name, 'most', max_bills
    ));
  end if;
  insert into app.expenses as e (
    id, organization_id, kind, name, payee, category_id, tags, note, amount_mode, amount_minor, currency, share_bp,
    frequency, every, anchor_on, month_days, weekend_rule, ends_on, ends_after, tracked_from, next_due, autopay,
    trial_ends_on, renews_on, notice_days,
    status, reminder_enabled, remind_days_before, remind_again, assignee_id, created_by
  ) values (
    app.new_id('bill'), context.organization_id, 'bill', bill.name, bill.payee, bill.category_id, bill.tags, bill.note,
    bill.amount_mode, bill.amount_minor, bill.currency, bill.share_bp,
    bill.frequency, bill.every, bill.anchor_on, bill.month_days, bill.weekend_rule, bill.ends_on, bill.ends_after,
    bill.tracked_from,
    app.due_on(bill.tracked_from, bill.weekend_rule), bill.autopay, bill.trial_ends_on, bill.renews_on,
    bill.notice_days,
    'active', bill.reminder_enabled, bill.remind_days_before, bill.remind_again, bill.assignee_id, context.actor_id
  ) returning e.id into bill.id;
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;

  if bill.reminder_enabled and not has_reminders then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if app.parse_date(context, arguments ->> 'first_due', 'first_due') >= context.today then
    warnings := warnings
      || app.warn_of_first_due(bill, app.parse_date(context, arguments ->> 'first_due', 'first_due'));
  end if;
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    warnings := warnings || app.warn_of_same_name(bill);
  end if;
  warnings := warnings || app.warn_of_share(bill);
  if bill.anchor_on < bill.tracked_from then
    warnings := warnings || app.warning('past_dates_not_tracked', jsonb_build_object('next_due', bill.next_due));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'status', case when (arguments ->> 'dry_run')::boolean then 'would_create' else 'created' end,
      -- A preview's bill is gone afterwards, and its id means nothing.
      'bill',
      (app.describe_bills(context, array[bill.id]) -> 0)
        - case when (arguments ->> 'dry_run')::boolean then 'id' else '' end,
      'next_dates', app.next_due_dates(context, bill, 3),
      'first_reminder_on', case when has_reminders and bill.next_due >= context.today then
        greatest(bill.next_due - coalesce(bill.remind_days_before, app.default_lead_days(context)), context.today)
      end
    ),
    'warnings', warnings,
    'facts', jsonb_build_object(
      'name', bill.name, 'amount', app.format_amount(bill.amount_minor, bill.currency), 'currency', bill.currency,
      'schedule', app.describe_schedule(bill)
    )
  );
end
$$;
comment on function app.add_bill is 'Tool add_bill: data {status, bill, next_dates, first_reminder_on?}.';

-- schemas/bills/describe_bill_history.sql

-- list_bills: what comes again, what is open of it, and what it takes; one bill with its history when asked for.

create type app.money_sum as (
  currency text,
  minor numeric
);
comment on type app.money_sum is 'A total in one currency.';

create type app.bill_position as (
  id text,
  sort_on date,
  recorded_seq bigint,
  due_count bigint,
  due_minor numeric
);
comment on type app.bill_position is
  'A bill and where it stands in the list: by its earliest open date, then in the order of recording; and what the '
  'total of what is due has of it.';

create or replace function app.convert_sums(sums app.money_sum[], into_currency text, day date, out minor numeric,
  out unconverted text[]) returns record
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  into_exponent constant int := app.currency_exponent(into_currency, 'in_currency');
begin
  select coalesce(sum(v.minor), 0), array_agg(v.currency order by v.currency) filter (where v.minor is null)
  into minor, unconverted
  from (
    select s.currency, case s.currency when into_currency then s.minor else app.convert_minor(
      round(s.minor), f.per_euro, c.exponent, t.per_euro, into_exponent
    ) end as minor
    from unnest(sums) as s
    join app.currencies as c on c.code = s.currency
    left join lateral app.rates_as_of(s.currency, day) as f on s.currency <> into_currency
    left join lateral app.rates_as_of(into_currency, day) as t on s.currency <> into_currency
  ) as v;
end
$$;
comment on function app.convert_sums is
  'Totals of several currencies as one, at the rates of a day, and the currencies for which there is no rate.';

create or replace function app.describe_sums(sums app.money_sum[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency)), '{}')
    from unnest(sums) as s);
end
$$;
comment on function app.describe_sums is 'Totals by currency: {"EUR": "12.00"}.';

create or replace function app.describe_bill_history(context app.context, bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  exponent constant int := app.currency_exponent(bill.currency, 'currency');
  payments jsonb;
  pending_since date;
  price_changes jsonb;
begin
  select jsonb_agg(jsonb_build_object(
    'id', p.id, 'paid_on', p.paid_on, 'due_on', p.due_on, 'amount', app.format_minor(p.amount_minor, c.exponent),
    'currency', p.currency,
    'base_amount', app.format_amount(p.base_minor, p.base_currency), 'source', p.source, 'is_estimate',
    nullif(p.is_estimate, false), 'amount_from', p.amount_from, 'note', p.note
  ) order by p.paid_on desc, p.recorded_seq desc),
    min(p.paid_on) filter (where not p.is_final and p.base_minor is not null)
  into payments, pending_since
  from (
    select p.*, o.due_on, case when o.amount_source = 'provider' then (
      select app.provider_name(l)
      from app.provider_statements as s
      join app.provider_links as l on l.id = s.link_id
      where s.occurrence_id = o.id and s.organization_id = o.organization_id and s.status = 'applied'
      order by s.fetched_at desc
      limit 1
    ) end as amount_from
    from app.payments as p
    left join app.expense_occurrences as o on o.id = p.occurrence_id
    where p.expense_id = bill.id and p.deleted_at is null
    order by p.paid_on desc, p.recorded_seq desc
    limit 12
  ) as p
  join app.currencies as c on c.code = p.currency;
  -- Only a fixed price can change; other amounts differ by nature. One date priced by hand is no change of the price.
  if bill.amount_mode = 'fixed' then
    select jsonb_agg(jsonb_build_object(
      'due_on', o.due_on, 'old', app.format_minor(o.old_minor, exponent), 'new',
      app.format_minor(o.expected_minor, exponent),
      'change_percent', round((o.expected_minor - o.old_minor) * 100.0 / o.old_minor, 1)
    ) order by o.due_on desc) into price_changes
    from (
      select o.due_on, o.expected_minor, lag(o.expected_minor) over (order by o.scheduled_on) as old_minor
      from app.expense_occurrences as o
      where o.expense_id = bill.id and o.amount_source = 'rule' and o.currency = bill.currency
    ) as o
    where o.expected_minor <> o.old_minor;
  end if;
  return jsonb_build_object(
    'payments', coalesce(payments, '[]'),
    'warnings', app.warn_of_pending(pending_since is not null, context.base_currency, pending_since),
    'price_changes', coalesce(price_changes, '[]'),
    'next_dates', app.next_due_dates(context, bill, 6)
  );
end
$$;
comment on function app.describe_bill_history is
  'Of one bill: its last 12 payments, amount_from being the provider that said the amount, a warning when the value of '
  'one is not final, each change of its fixed price by '
  'the due date from which it held, its next 6 due dates.';

-- schemas/bills/list_bills.sql

create or replace function app.require_bill(context app.context, bill_id text) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses;
begin
  select * into bill from app.expenses as e
  where e.id = require_bill.bill_id and e.organization_id = context.organization_id and e.kind = 'bill'
    and e.deleted_at is null;
  if not found then
    perform app.fail(
      'not_found.bill', jsonb_build_object('id', bill_id, 'organization', context.organization_name), 'bill_id'
    );
  end if;
  return bill;
end
$$;
comment on function app.require_bill is
  'The bill of this id in the organization; ends the tool with not_found when there is none.';

create or replace function app.list_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  bill constant app.expenses :=
    case when arguments ? 'bill_id' then app.require_bill(context, arguments ->> 'bill_id') end;
  wanted_ids constant text[] := case when bill.id is not null then array[bill.id] end;
  -- An id says it all: with one, nothing else narrows the list.
  filter constant jsonb := case when bill.id is null then arguments else '{"status": "all"}' end;
  wanted_status constant text := nullif(coalesce(filter ->> 'status', 'active'), 'all');
  wanted_state constant text := filter ->> 'state';
  query constant text := lower(app.clean_text(filter ->> 'query'));
  wanted_category constant text := app.clean_text(filter ->> 'category');
  -- Archived ones included: what is in them goes on.
  wanted_category_id constant text :=
    (select c.id from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(wanted_category)
    order by c.is_private desc limit 1);
  within_days constant int := (filter ->> 'due_within_days')::int;
  due_within constant date := context.today + within_days;
  until constant date :=
    coalesce(due_within, date_trunc('month', context.today) + interval '1 month' - interval '1 day');
  into_currency constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  into_exponent constant int := app.currency_exponent(into_currency, 'in_currency');
  default_lead_days constant int := app.default_lead_days(context);
  page_size constant int := coalesce((arguments ->> 'limit')::int, 25);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_bills', arguments - 'cursor' - 'limit');
  key constant jsonb := app.read_cursor(scope, arguments ->> 'cursor');
  page record;
  due record;
  monthly record;
  data jsonb;
  warnings jsonb := '[]';
  cursors text[];
begin
  if wanted_category_id is null and lower(wanted_category) <> 'uncategorized' then
    perform app.fail_without_category(wanted_category, 'category');
  end if;
  with open_bills as (
    select o.expense_id, min(o.due_on) as earliest_due,
      min(o.due_on) filter (where o.due_on >= context.today) as next_due,
      (
        array_agg(o.expected_minor order by o.due_on, o.scheduled_on) filter (
        where o.due_on >= context.today))[1] is not null as is_amount_known,
      count(*) filter (where o.due_on <= until) as due_count,
      sum(o.remaining_minor) filter (where o.due_on <= until) as due_minor,
      count(*) filter (where o.due_on <= until and o.remaining_minor is null) as unknown,
      max(o.future_dates) as future_dates
    from (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor,
        o.expected_minor - o.paid_minor as remaining_minor, 0 as future_dates
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on >= context.today
        and (wanted_ids is null or o.expense_id = any (wanted_ids))
      union all
      select p.expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.remaining_minor, 0
        from app.passed_occurrences(context, wanted_ids) as p
      union all
      select f.expense_id, null, null, null, null, f.dates from app.future_counts(context, until, wanted_ids) as f
    ) as o
    group by o.expense_id
  ), matched as (
    select b.id, b.recorded_seq, b.currency, coalesce(o.earliest_due, 'infinity') as sort_on,
      b.frequency, b.every, b.month_days, case when b.status = 'active' then usual.minor end as usual_minor,
      coalesce(o.due_count + o.future_dates, 0) as due_count,
      -- A variable bill says no more of its later dates than how many there are.
      case when o.future_dates > 0
        then coalesce(o.due_minor + o.future_dates * b.rule_minor, o.due_minor, o.future_dates * b.rule_minor)
        else o.due_minor end as due_minor,
      coalesce(o.unknown, 0) + case when b.rule_minor is null then coalesce(o.future_dates, 0) else 0 end as unknown
    from (
      select b.id, b.recorded_seq, b.currency, b.status, b.frequency, b.every, cardinality(b.month_days) as month_days,
        b.amount_minor,
        app.rule_amount(b) as rule_minor, b.autopay, b.next_due,
        coalesce(b.remind_days_before, default_lead_days) as lead_days
      from app.expenses as b
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and (wanted_ids is null or b.id = any (wanted_ids))
        and (wanted_status is null or b.status = wanted_status)
        and (query is null or strpos(lower(concat_ws(E'\n', b.name, b.payee, b.note)), query) > 0)
        and (wanted_category is null or b.category_id is not distinct from wanted_category_id)
      offset 0
    ) as b
    left join open_bills as o on o.expense_id = b.id and b.status = 'active'
    cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, o.earliest_due, context.today) as this_month
    where (due_within is null or coalesce(o.earliest_due, 'infinity') <= due_within)
      and (wanted_state is null or wanted_state = app.bill_state(
        b.status, o.earliest_due, o.next_due, o.is_amount_known, context.today, b.lead_days, this_month.is_settled,
        within_days,
        (select a.dates from app.awaited_dates(b.id, b.autopay, b.next_due, usual.minor, context.today) as a)
          is not null
      ))
  ), sums as (
    -- How often a month is asked once a rhythm, not once a bill.
    select r.currency, sum(r.count) as count,
      sum(r.usual_minor * app.times_a_month(r.frequency, r.every, r.month_days)) as monthly_minor,
      sum(r.due_minor) as due_minor, sum(r.unknown) as unknown
    from (
      select m.currency, m.frequency, m.every, m.month_days, count(*) as count, sum(m.usual_minor) as usual_minor,
        sum(m.due_minor) as due_minor,
        sum(m.unknown) as unknown
      from matched as m
      group by m.currency, m.frequency, m.every, m.month_days
    ) as r
    group by r.currency
  )
  select
    array(
      select (m.id, m.sort_on, m.recorded_seq, m.due_count, m.due_minor)::app.bill_position
      from matched as m
      where key is null or (m.sort_on, m.recorded_seq) > ((key ->> 0)::date, (key ->> 1)::bigint)
      order by m.sort_on, m.recorded_seq
      limit page_size + 1
    ) as rows,
    coalesce(sum(s.count), 0) as total_count,
    array_agg((s.currency, s.due_minor)::app.money_sum) filter (where s.due_minor is not null) as due_sums,
    array_agg((s.currency, s.monthly_minor)::app.money_sum) filter (where s.monthly_minor is not null) as monthly_sums,
    sum(s.unknown) as unknown_amounts
  into page
  from sums as s;

  due := app.convert_sums(page.due_sums, into_currency, context.today);
  monthly := app.convert_sums(page.monthly_sums, into_currency, context.today);
  if due.unconverted is not null or monthly.unconverted is not null then
    warnings := warnings || app.warning('rate_missing.of_bills', jsonb_build_object(
      'into', into_currency,
      'currencies', array(select distinct c from unnest(due.unconverted || monthly.unconverted) as c order by c)
    ));
  end if;
  if page.unknown_amounts > 0 then
    warnings := warnings || app.warning('amount_missing.of_dates', jsonb_build_object('count', page.unknown_amounts));
  end if;
  data := jsonb_build_object('bills', app.describe_bills(
    context, array(select r.id from unnest(page.rows[:page_size]) with ordinality as r order by r.ordinality),
    within_days
  ));
  if bill.id is null then
    -- What the total is made of: a bill may have several dates in the window, and is shown once.
    data := jsonb_build_object('bills', (
      select
        coalesce(
        jsonb_agg(b.value || case when r.due_count > 0 then jsonb_build_object('due_in_window', jsonb_build_object(
        'count', r.due_count, 'amount', app.format_minor(r.due_minor, c.exponent)
        )) else '{}' end order by b.ordinality), '[]')
      from jsonb_array_elements(data -> 'bills') with ordinality as b
      join unnest(page.rows) as r on r.id = b.value ->> 'id'
      join app.currencies as c on c.code = b.value ->> 'currency'
    ));
  end if;
  data := data || jsonb_build_object(
    'totals', jsonb_build_object(
      'due',
      jsonb_build_object('amount', app.format_minor(due.minor, into_exponent), 'currency', into_currency, 'until',
        until),
      'monthly', jsonb_build_object('amount', app.format_minor(monthly.minor, into_exponent), 'currency', into_currency)
    )
  );
  if bill.id is not null then
    data := data || app.describe_bill_history(context, bill);
    warnings := warnings || (data -> 'warnings');
    data := data - 'warnings';
  end if;
  cursors := array(
    select app.write_cursor(scope, jsonb_build_array(r.sort_on, r.recorded_seq))
    from unnest(page.rows[:page_size]) with ordinality as r order by r.ordinality
  );
  return jsonb_build_object(
    'data', data, 'warnings', warnings, 'total_count', page.total_count, 'totals_by_currency',
    app.describe_sums(page.due_sums),
    'next_cursor', case when cardinality(page.rows) > page_size then cursors[page_size] end,
    'page', jsonb_build_object('list', 'bills', 'cursors', cursors)
  );
end
$$;
comment on function app.list_bills is
  'Tool list_bills: data {bills, totals {due, monthly}}, with bill_id also its history. Totals cover all that match: '
  'due is what is overdue or due until the end of the window, without one until the end of the calendar month; '
  'due_in_window {count, amount} of a bill is its part of that.';

-- schemas/bills/find_bill.sql

-- mark_bill_paid: a payment for one due date of a bill. The bill's row is locked before anything is read that decides,
-- so that two calls at once pay once.

create or replace function app.find_bill(context app.context, arguments jsonb) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  wanted constant text := lower(app.clean_text(arguments ->> 'bill_name'));
  bill app.expenses;
  candidates app.expenses[];
begin
  if arguments ? 'bill_id' then
    bill := app.require_bill(context, arguments ->> 'bill_id');
    if wanted is not null and lower(bill.name) <> wanted and (
      strpos(lower(concat_ws(E'\n', bill.name, bill.payee)), wanted) = 0
      or exists (
        select from app.expenses as e
        where e.organization_id = context.organization_id and e.kind = 'bill' and e.status in ('active', 'paused')
          and e.deleted_at is null
          and lower(e.name) = wanted
      )
    ) then
      perform app.fail('invalid_argument.id_and_name_differ', jsonb_build_object(
        'name', bill.name, 'bill_name', app.clean_text(arguments ->> 'bill_name'),
        'details', jsonb_build_object('bill_id', bill.id, 'name', bill.name)
      ), 'bill_id');
    end if;
    return bill;
  end if;
  if wanted is null then
    perform app.fail('invalid_argument.bill_not_named', field => 'bill_id');
  end if;
  -- The best kind of match decides: an active bill before one that is over, the exact name before a part of it, names
  -- before payees.
  select array_agg(m.bill order by m.recorded_seq) into candidates
  from (
    select e as bill, e.recorded_seq, rank() over (order by
      e.status not in ('active', 'paused'), lower(e.name) <> wanted, strpos(lower(e.name), wanted) = 0
    ) as place
    from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      and strpos(lower(concat_ws(E'\n', e.name, e.payee)), wanted) > 0
  ) as m
  where m.place = 1;
  if candidates is null then
    perform app.fail('not_found.bill_name', jsonb_build_object(
      'bill_name', app.clean_text(arguments ->> 'bill_name'), 'organization', context.organization_name,
      'details', jsonb_build_object('suggestions', (
        select coalesce(jsonb_agg(s.name order by s.likeness desc, s.name), '[]')
        from (
          select e.name, app.text_likeness(e.name, wanted) as likeness
          from app.expenses as e
          where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active'
            and e.deleted_at is null
          order by likeness desc, e.name
          limit 3
        ) as s
        -- What only shares some letters was not meant.
        where s.likeness >= 0.4
      ))
    ), 'bill_name');
  elsif cardinality(candidates) > 1 then
    perform app.fail('ambiguous_name', jsonb_build_object(
      'count', cardinality(candidates), 'bill_name', app.clean_text(arguments ->> 'bill_name'),
      'details', jsonb_build_object('candidates', (
        select jsonb_agg(jsonb_build_object(
          'id', b ->> 'id', 'name', b ->> 'name', 'payee', b ->> 'payee', 'amount', b ->> 'amount', 'currency',
          b ->> 'currency',
          'next_due', b ->> 'next_due'
        ))
        from jsonb_array_elements(app.describe_bills(context, array(select (c).id from unnest(candidates[:10]) as c)))
          as b
      ))
    ), 'bill_name');
  end if;
  return candidates[1];
end
$$;
comment on function app.find_bill is
  'The bill of a bill_id, or the only one of a bill_name; both must mean the same. Ends the tool with not_found or '
  'ambiguous_name.';

create or replace function app.fail_already_paid(
  code text, bill app.expenses, payment app.payments, due_on date default null, next_due date default null,
  field text default 'due_on'
) returns void
language plpgsql stable set search_path = '' as $$
declare
  details constant jsonb := jsonb_build_object('bill_id', bill.id, 'name', bill.name, 'due_on', due_on) || case
    when payment.id is null then '{}'
    else jsonb_build_object('payment', jsonb_build_object(
      'id', payment.id, 'amount', app.format_amount(payment.amount_minor, payment.currency), 'currency',
      payment.currency,
      'paid_on', payment.paid_on, 'by', app.member_name(payment.paid_by),
      'is_automatic', nullif(payment.source = 'autopay', false)
    ))
  end;
begin
  perform app.fail(code, details || jsonb_build_object('next_due', next_due, 'details', details), field);
end
$$;
comment on function app.fail_already_paid is
  'Ends the tool with already_paid, and tells the payment that did it: how much, when and by whom.';

create or replace function app.fail_not_due(bill app.expenses, day date, field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  open_dates constant date[] := array(
    select o.due_on from app.expense_occurrences as o where o.expense_id = bill.id and o.status = 'open'
      order by o.due_on
  );
begin
  perform app.fail('invalid_argument.not_due', jsonb_build_object(
    'name', bill.name, 'date', day, 'details', jsonb_build_object('open_dates', open_dates)
  ), field);
end
$$;
comment on function app.fail_not_due is 'Ends the tool because a bill has no such date; says which ones are open.';

-- schemas/bills/settle_occurrence.sql

create or replace function app.find_occurrence(bill app.expenses, day date, field text default 'due_on')
  returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  n int := app.due_index(bill, day);
begin
  -- A person may name the scheduled date where the weekend rule has moved the due one.
  if app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) is distinct from day then
    n := app.schedule_index(bill, day);
  end if;
  if bill.status in ('active', 'ended') and n <= coalesce(app.last_index(bill), n)
    and day in (app.scheduled_on(bill, n), app.due_on(app.scheduled_on(bill, n), bill.weekend_rule)) then
    perform app.materialize_occurrences(bill, n, n);
  end if;
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and day in (o.due_on, o.scheduled_on)
  order by o.status <> 'open', o.due_on <> day, o.scheduled_on
  limit 1;
  if not found then
    perform app.fail_not_due(bill, day, field);
  end if;
  return occurrence;
end
$$;
comment on function app.find_occurrence is
  'The occurrence of a bill on a day, made when the schedule has that day; else an error that says what is open.';

create or replace function app.settle_occurrence(context app.context, bill app.expenses,
  occurrence app.expense_occurrences, given_minor bigint, paid_on date, note text)
returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  paid constant bigint := app.paid_minor(occurrence.id);
  remaining constant bigint := occurrence.expected_minor - paid;
  -- An estimate gives way to what was really charged; a fixed price, an amount set by hand or fetched from the provider
  -- stands.
  is_exact constant boolean := occurrence.expected_minor is not null
    and (bill.amount_mode = 'fixed' or occurrence.amount_source <> 'rule');
  charged_minor constant bigint := coalesce(given_minor, remaining);
  payment app.payments;
begin
  if charged_minor is null then
    perform app.fail(
      'invalid_argument.amount_unknown', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on), 'amount'
    );
  elsif is_exact and charged_minor > remaining then
    perform app.fail('overpayment', jsonb_build_object(
      'name', bill.name, 'whole', app.format_amount(paid + charged_minor, bill.currency),
      'due_on', occurrence.due_on, 'remaining', app.format_amount(remaining, bill.currency), 'currency', bill.currency,
      'details', jsonb_build_object(
        'due_on', occurrence.due_on, 'remaining', app.format_amount(remaining, bill.currency), 'currency', bill.currency
      )
    ), 'amount');
  end if;
  payment := app.pay_occurrence(occurrence, charged_minor, paid_on, 'assistant', context.actor_id, note);
  if not is_exact or charged_minor = remaining then
    update app.expense_occurrences as o
    set status = 'paid', closed_at = context.at, expected_minor = paid + charged_minor,
      amount_source
        = case when is_exact or paid + charged_minor = o.expected_minor then o.amount_source else 'override' end
    where o.id = occurrence.id;
  end if;
  return payment;
end
$$;
comment on function app.settle_occurrence is
  'Pays an occurrence: what remains, or a given amount; one less than what remains leaves it open.';

-- schemas/bills/choose_occurrence.sql

-- Which date a payment is for. Without a named date only one that may well be meant is paid: whoever says again that
-- the bill is paid must not pay the next date.

create or replace function app.latest_payment(occurrence_id text) returns app.payments
language plpgsql stable set search_path = '' as $$
begin
  return (
    select p from app.payments as p
    where p.occurrence_id = latest_payment.occurrence_id and p.deleted_at is null
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.latest_payment is 'The payment of a date that was recorded last; null when nothing was paid.';

create or replace function app.is_ahead(bill app.expenses, due_on date, today date, lead_days int) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- Between two dates the nearer one is meant, however early the reminder of the next one comes.
  return is_ahead.due_on > today + lead_days or exists (
    select from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'paid' and o.due_on < is_ahead.due_on
      and today - o.due_on < is_ahead.due_on - today
  );
end
$$;
comment on function app.is_ahead is
  'Whether a date is so far ahead that "it is paid" cannot mean it: outside its lead days, or further away than a date '
  'before it that is paid.';

create or replace function app.next_open_occurrence(context app.context, bill app.expenses, amount_minor bigint,
  in_advance boolean) returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  lead_days constant int := coalesce(bill.remind_days_before, app.default_lead_days(context));
  occurrence app.expense_occurrences;
  latest app.payments;
  paid app.expense_occurrences;
  is_ahead boolean;
begin
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open'
  order by o.due_on, o.scheduled_on
  limit 1;
  if occurrence.id is null and bill.status in ('paused', 'cancelled') then
    perform app.fail('invalid_argument.bill_inactive', jsonb_build_object('name', bill.name, 'status', bill.status),
      'bill_id');
  elsif occurrence.id is null then
    perform app.fail_already_paid(
      'already_paid.all', bill,
      (select p from app.payments as p where p.expense_id = bill.id and p.deleted_at is null
        order by p.paid_on desc, p.recorded_seq desc limit 1)
    );
  end if;
  is_ahead := app.is_ahead(bill, occurrence.due_on, context.today, lead_days);
  if in_advance and not is_ahead then
    perform app.fail('invalid_argument.not_in_advance', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on
    ), 'advance');
  end if;

  -- Two people say it, or an answer that got lost is asked for again: the date before was meant then. Another part
  -- payment is told from a repeated one by its amount.
  select * into latest
  from app.payments as p
  where p.expense_id = bill.id and p.source = 'assistant' and p.deleted_at is null
    and p.created_at > context.at - interval '24 hours'
  order by p.recorded_seq desc
  limit 1;
  select * into paid from app.expense_occurrences as o where o.id = latest.occurrence_id;
  if not in_advance and (paid.status = 'paid' or latest.amount_minor = next_open_occurrence.amount_minor) then
    perform app.fail_already_paid('already_paid.just_now', bill, latest, paid.due_on, occurrence.due_on);
  end if;
  select * into paid
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'paid' and o.due_on < occurrence.due_on
  order by o.due_on desc, o.scheduled_on desc
  limit 1;
  if is_ahead and not in_advance and paid.id is null then
    perform app.fail('not_due', jsonb_build_object(
      'name', bill.name, 'details', jsonb_build_object('bill_id', bill.id, 'next_due', occurrence.due_on)
    ), 'due_on');
  elsif is_ahead and not in_advance then
    perform app.fail_already_paid(
      'already_paid.until_next', bill, app.latest_payment(paid.id), paid.due_on, occurrence.due_on
    );
  elsif is_ahead and app.is_ahead(bill, paid.due_on, context.today, lead_days) then
    -- Once: a repeated call must not pay one date after the other.
    perform app.fail_already_paid(
      'already_paid.in_advance', bill, app.latest_payment(paid.id), paid.due_on, occurrence.due_on
    );
  end if;
  return occurrence;
end
$$;
comment on function app.next_open_occurrence is
  'The earliest open date of a bill that is overdue or within its lead days, or in_advance the one that follows. Ends '
  'the tool when that is not open, or was paid within 24 hours: who paid what, and what is due next.';

create or replace function app.check_days_apart(bill app.expenses, due_on date, paid_on date, confirmed int)
  returns void
language plpgsql immutable set search_path = '' as $$
declare
  most constant int := 180;
begin
  if abs(paid_on - due_on) > most and abs(paid_on - due_on) is distinct from confirmed then
    perform app.fail('date_out_of_range.far_from_due', jsonb_build_object(
      'name', bill.name, 'due_on', check_days_apart.due_on, 'paid_on', check_days_apart.paid_on,
      'days', abs(paid_on - due_on)
    ), 'paid_on');
  end if;
end
$$;
comment on function app.check_days_apart is
  'Ends the tool when a payment lies half a year from the date that it is for, unless just that was confirmed: mostly '
  'the year is wrong.';

-- schemas/bills/correct_payment.sql

-- A date that is settled is put right in one call: what was paid for it, when, or the note.

create or replace function app.correct_payment(context app.context, bill app.expenses,
  occurrence app.expense_occurrences, amount_minor bigint, paid_on date, note text)
returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments := app.latest_payment(occurrence.id);
  wanted_minor constant bigint := coalesce(correct_payment.amount_minor, payment.amount_minor);
  wanted_on constant date := coalesce(correct_payment.paid_on, payment.paid_on);
begin
  if (correct_payment.amount_minor is null and correct_payment.paid_on is null and correct_payment.note is null)
    or payment.id is null or (
      (wanted_minor, wanted_on) = (payment.amount_minor, payment.paid_on)
      and not (payment.is_estimate and correct_payment.amount_minor is not null)
      and coalesce(correct_payment.note, payment.note) is not distinct from payment.note
    ) then
    perform app.fail_already_paid('already_paid.date', bill, payment, occurrence.due_on);
  elsif payment.amount_minor <> occurrence.paid_minor then
    perform app.fail_already_paid('already_paid.in_parts', bill, payment, occurrence.due_on);
  end if;
  if (wanted_minor, wanted_on) <> (payment.amount_minor, payment.paid_on) then
    update app.payments as p set amount_minor = wanted_minor, paid_on = wanted_on where p.id = payment.id;
  end if;
  update app.payments as p
  set note = coalesce(correct_payment.note, p.note),
    is_estimate = p.is_estimate and correct_payment.amount_minor is null
  where p.id = payment.id
    returning * into payment;
  update app.expense_occurrences as o set expected_minor = wanted_minor, amount_source = 'override'
    where o.id = occurrence.id and o.expected_minor is distinct from wanted_minor;
  return payment;
end
$$;
comment on function app.correct_payment is
  'Puts right what was paid for a settled date; what is not given stays. Ends the tool with already_paid when it is so '
  'already, or when several payments settled the date.';

-- schemas/bills/mark_bill_paid.sql

create or replace function app.mark_bill_paid(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  paid_on date := app.parse_date(context, coalesce(arguments ->> 'paid_on', 'today'), 'paid_on');
  note constant text := nullif(btrim(arguments ->> 'note'), '');
  due_on constant date := app.parse_date(context, arguments ->> 'due_on', 'due_on');
  bill app.expenses := app.find_bill(context, arguments);
  amount_minor constant bigint := app.parse_amount(arguments ->> 'amount', bill.currency, 'amount');
  occurrence app.expense_occurrences;
  before app.payments;
  payment app.payments;
  remaining text;
  still_open date[];
  warnings jsonb := '[]';
begin
  if paid_on > context.today then
    perform app.fail('date_out_of_range.paid_in_future', jsonb_build_object('date', paid_on), 'paid_on');
  end if;
  paid_on := app.parse_paid_on(context, paid_on::text, 'paid_on');
  if arguments ->> 'currency' <> bill.currency then
    perform app.fail('invalid_argument.other_currency', jsonb_build_object(
      'name', bill.name, 'currency', bill.currency, 'given', arguments ->> 'currency'
    ), 'currency');
  end if;
  perform from app.expenses as e where e.id = bill.id for update;
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;
  occurrence := case
    when due_on is not null then app.find_occurrence(bill, due_on)
    else app.next_open_occurrence(context, bill, amount_minor, coalesce((arguments ->> 'advance')::boolean, false))
  end;
  if occurrence.status = 'skipped' then
    perform app.fail('invalid_argument.skipped', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on),
      'due_on');
  elsif occurrence.status = 'open' or arguments ? 'paid_on' then
    perform app.check_days_apart(bill, occurrence.due_on, paid_on, (arguments ->> 'confirm_days')::int);
  end if;
  if occurrence.status = 'paid' then
    before := app.latest_payment(occurrence.id);
    payment := app.correct_payment(
      context, bill, occurrence, amount_minor, case when arguments ? 'paid_on' then paid_on end, note
    );
  else
    payment := app.settle_occurrence(context, bill, occurrence, amount_minor, paid_on, note);
  end if;
  payment := app.charge_payment(context, payment, arguments -> 'charged');
  perform app.refresh_bill(bill.id, context.today);
  select * into bill from app.expenses as e where e.id = bill.id;
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;

  if occurrence.status = 'open' then
    remaining := app.format_amount(occurrence.expected_minor - app.paid_minor(occurrence.id), bill.currency);
  end if;
  if occurrence.status = 'open' then
    warnings := warnings || app.warning('partly_paid', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'remaining', remaining, 'currency', bill.currency,
      'paid', app.format_amount(app.paid_minor(occurrence.id), bill.currency)
    ));
  end if;
  if payment.base_minor is null then
    warnings := warnings || app.warning('rate_missing.of_payment', jsonb_build_object(
      'currency', bill.currency, 'into', context.base_currency, 'date', paid_on, 'is_awaited', not payment.is_final
    ));
  end if;
  warnings := warnings || app.warn_of_pending(
    not payment.is_final and payment.base_minor is not null, context.base_currency, paid_on
  );
  if before.id is not null then
    warnings := warnings || app.warning('corrected', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(before.amount_minor, before.currency),
      'currency', before.currency, 'paid_on', before.paid_on, 'by', app.member_name(before.paid_by),
      'is_automatic', nullif(before.source = 'autopay', false)
    ));
  elsif occurrence.due_on > context.today + coalesce(bill.remind_days_before, app.default_lead_days(context)) then
    warnings := warnings || app.warning('paid_in_advance', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'days', occurrence.due_on - context.today
    ));
  end if;
  still_open := array(
    select o.due_on from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on < context.today and o.id <> occurrence.id
    order by o.due_on
  );
  if still_open <> '{}' then
    warnings := warnings || app.warning('overdue', jsonb_build_object('name', bill.name, 'dates', still_open));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'payment', jsonb_build_object(
        'id', payment.id, 'amount', app.format_amount(payment.amount_minor, bill.currency), 'currency', bill.currency,
        'paid_on', payment.paid_on,
        'base_amount', app.format_amount(payment.base_minor, payment.base_currency)
      ),
      'occurrence',
      jsonb_build_object('due_on', occurrence.due_on, 'status', occurrence.status, 'remaining', remaining),
      'next_due', case when bill.next_due >= context.today then bill.next_due end,
      'bill_id', bill.id,
      'name', bill.name,
      'before', case when before.id is not null then jsonb_build_object(
        'amount', app.format_amount(before.amount_minor, before.currency), 'paid_on', before.paid_on
      ) end
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(payment.amount_minor, bill.currency),
      'currency', bill.currency, 'remaining', remaining, 'paid_on', payment.paid_on,
      'before', case when before.id is not null then jsonb_build_object(
        'amount', app.format_amount(before.amount_minor, before.currency), 'paid_on', before.paid_on
      ) end
    ))
  );
end
$$;
comment on function app.mark_bill_paid is
  'Tool mark_bill_paid: data {payment, occurrence, next_due?, bill_id, name, before?}; before {amount, paid_on} of a '
  'settled date that was put right.';

-- schemas/bills/replan_bills.sql

-- What a changed bill means for its dates: a new schedule, a new price, a pause. What was paid, skipped or partly paid
-- stays as it was.
--  Rows due before tracked_from belong to earlier schedules of the bill and are left alone; from there on every open
-- row is on the schedule.

create or replace function app.change_schedule(context app.context, old app.expenses, changes jsonb, next_open date)
  returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses := old;
  first_due constant date := app.parse_date(context, changes ->> 'first_due', 'set.first_due');
  is_other_rhythm boolean;
begin
  bill.frequency := coalesce(changes ->> 'frequency', old.frequency);
  bill.every := case
    when bill.frequency = 'once' then 1
    when changes ? 'every' then (changes ->> 'every')::int
    when bill.frequency = old.frequency then old.every
    else 1
  end;
  bill.weekend_rule := coalesce(changes ->> 'weekend_rule', old.weekend_rule);
  is_other_rhythm := (bill.frequency, bill.every) is distinct from (old.frequency, old.every);
  bill.month_days := case
    when changes ?| array['month_days', 'month_weekdays'] then app.parse_month_days(changes, bill.frequency, 'set.')
    when bill.frequency = 'monthly' and first_due is null then old.month_days
  end;
  bill.anchor_on := coalesce(first_due, case when is_other_rhythm then next_open end, old.anchor_on);
  -- The 31st stays the last day of the month, though the next one is the 28th.
  if is_other_rhythm and first_due is null and bill.month_days is null
    and (old.frequency, bill.frequency) = ('monthly', 'monthly')
    and extract(day from bill.anchor_on) <> extract(day from old.anchor_on) then
    bill.month_days := array[extract(day from old.anchor_on)::smallint];
  end if;
  if bill.month_days is not null then
    bill.anchor_on := app.first_month_day(bill);
  end if;
  if bill.frequency = 'once' then
    bill.ends_on := null;
    bill.ends_after := null;
    return bill;
  end if;
  bill.ends_on := coalesce(app.parse_date(context, changes ->> 'ends_on', 'set.ends_on'), old.ends_on);
  bill.ends_after := coalesce(
    (changes ->> 'ends_after')::int,
    -- As many times as were left, when the counting begins anew.
    case when bill.anchor_on > old.anchor_on and is_other_rhythm and old.ends_after is not null
      then greatest(1, old.ends_after - app.schedule_index(old, bill.anchor_on)) else old.ends_after end
  );
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument.ends_before_first_due', jsonb_build_object(
      'name', bill.name, 'ends_on', bill.ends_on, 'first_due', bill.anchor_on
    ), 'set.ends_on');
  end if;
  return bill;
end
$$;
comment on function app.change_schedule is
  'A bill with the schedule fields of a change, not yet written; next_open is its next scheduled date that is open. A '
  'new rhythm counts from there unless first_due says from where.';

create or replace function app.same_schedule(one app.expenses, other app.expenses) returns boolean
language sql immutable
  return ((one).frequency, (one).every, (one).anchor_on, (one).month_days, (one).weekend_rule, (one).ends_on,
    (one).ends_after)
    is not distinct from ((other).frequency, (other).every, (other).anchor_on, (other).month_days, (other).weekend_rule,
      (other).ends_on, (other).ends_after);
comment on function app.same_schedule is 'Whether two bills are due on the same days.';

create or replace function app.watch_from(bill app.expenses, day date) returns date
language sql immutable
  return case when (bill).frequency = 'once' then (bill).anchor_on
    else app.scheduled_on(bill, app.due_index(bill, day)) end;
comment on function app.watch_from is
  'tracked_from of a bill of which nothing before a day is ours to watch; a one-time bill is watched in any case.';

create or replace function app.is_scheduled(bill app.expenses, day date) returns boolean
language sql immutable
  return coalesce(
    app.scheduled_on(bill, app.schedule_index(bill, day)) = day
      and app.schedule_index(bill, day) <= coalesce(app.last_index(bill), app.schedule_index(bill, day)),
    false
  );
comment on function app.is_scheduled is 'Whether the schedule of a bill has a day.';

-- schemas/bills/reprice_bill.sql

create or replace function app.replan_bill(bill app.expenses, first_day date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_live constant boolean := bill.status in ('active', 'ended');
begin
  update app.expense_occurrences as o set due_on = app.due_on(o.scheduled_on, bill.weekend_rule)
  where o.expense_id = bill.id and o.status = 'open' and o.scheduled_on >= bill.tracked_from
    and app.is_scheduled(bill, o.scheduled_on)
    and o.due_on <> app.due_on(o.scheduled_on, bill.weekend_rule);
  delete from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open' and o.due_on >= first_day
    and not (is_live and app.is_scheduled(bill, o.scheduled_on))
    and not exists (select from app.payments as p where p.occurrence_id = o.id);
  -- A payment that was taken back still names its date, which therefore cannot go.
  update app.expense_occurrences as o set status = 'skipped', closed_at = app.instant()
  where o.expense_id = bill.id and o.status = 'open' and o.due_on >= first_day
    and not (is_live and app.is_scheduled(bill, o.scheduled_on)) and app.paid_minor(o.id) = 0;
end
$$;
comment on function app.replan_bill is
  'Takes away the open dates from a day on that a bill does not have: of an active one those off its schedule, of a '
  'paused or cancelled one all. Partly paid ones stay.';

create or replace function app.reprice_bill(bill app.expenses, from_day date, made_since timestamptz default null)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  with priced as (
    select o.id, paid.minor as paid_minor,
      case
        when o.amount_source <> 'rule' and o.currency = bill.currency
          then greatest(o.expected_minor, nullif(paid.minor, 0))
        when app.rule_amount(bill) is null then case when paid.minor > 0 then o.expected_minor end
        else greatest(app.rule_amount(bill), paid.minor)
      end as expected_minor
    from app.expense_occurrences as o
    cross join lateral (select app.paid_minor(o.id) as minor) as paid
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= from_day
      and (made_since is null or o.created_at >= made_since)
  )
  update app.expense_occurrences as o
  set expected_minor = p.expected_minor, currency = bill.currency,
    amount_source = case when o.currency = bill.currency then o.amount_source else 'rule' end,
    -- Nothing remains of a date whose amount fell to what was paid of it.
    status = case when p.expected_minor = p.paid_minor then 'paid' else 'open' end,
    closed_at = case when p.expected_minor = p.paid_minor then app.instant() end
  from priced as p
  where o.id = p.id
    and ((o.expected_minor, o.currency) is distinct from (p.expected_minor, bill.currency)
    or p.expected_minor = p.paid_minor);
end
$$;
comment on function app.reprice_bill is
  'Gives the open dates of a bill that are due from a day on (and made since an instant) its amount and currency; an '
  'amount set for one date or fetched from a provider stands.';

create or replace function app.restore_bill(bill_id text, changed_at timestamptz, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
begin
  select * into bill from app.expenses as e
    where e.id = restore_bill.bill_id and e.kind = 'bill' and e.deleted_at is null;
  if found then
    perform app.replan_bill(bill,
      case when bill.status in ('active', 'ended') then app.due_on(bill.tracked_from, bill.weekend_rule) else today
      end);
    -- Dates that came up after the change have its price; what had another before was put back row by row.
    perform app.reprice_bill(bill, '-infinity', changed_at);
  end if;
end
$$;
comment on function app.restore_bill is
  'Makes the dates of a bill follow from it again, after a change of it was taken back.';

-- schemas/bills/change_occurrence.sql

-- What update_bill does beside the bill itself: to one of its dates, and to the link to its provider.

create or replace function app.change_occurrence(context app.context, bill app.expenses, change jsonb)
  returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  action constant text := change ->> 'action';
  day constant date := app.parse_date(context, change ->> 'due_on', 'occurrence.due_on');
  amount_minor constant bigint := app.parse_amount(change ->> 'amount', bill.currency, 'occurrence.amount');
  snooze_until constant date := app.parse_date(context, change ->> 'snooze_until', 'occurrence.snooze_until');
  occurrence app.expense_occurrences := app.find_occurrence(bill, day, 'occurrence.due_on');
  paid constant bigint := app.paid_minor(occurrence.id);
begin
  if occurrence.status = 'paid' and action <> 'reopen' then
    perform app.fail_already_paid(
      'already_paid.to_reopen', bill,
      (select p from app.payments as p where p.occurrence_id = occurrence.id and p.deleted_at is null
        order by p.recorded_seq desc limit 1),
      occurrence.due_on, field => 'occurrence.due_on'
    );
  elsif occurrence.status = 'skipped' and action in ('snooze', 'set_amount') then
    perform app.fail(
      'invalid_argument.skipped_to_reopen', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on),
      'occurrence.due_on'
    );
  elsif action = 'skip' and paid <> 0 then
    perform app.fail('invalid_argument.skip_partly_paid', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(paid, bill.currency), 'currency',
      bill.currency
    ), 'occurrence.action');
  elsif action = 'set_amount' and amount_minor is null then
    perform app.fail('invalid_argument.date_amount_missing', field => 'occurrence.amount');
  elsif action = 'snooze' and snooze_until is null then
    perform app.fail('invalid_argument.snooze_until_missing', field => 'occurrence.snooze_until');
  elsif action = 'snooze' and snooze_until <= context.today then
    perform app.fail('date_out_of_range.not_in_future', jsonb_build_object('date', snooze_until),
      'occurrence.snooze_until');
  end if;

  case action
    when 'skip' then
      update app.expense_occurrences as o set status = 'skipped', closed_at = context.at
        where o.id = occurrence.id and o.status = 'open';
    when 'snooze' then
      update app.expense_occurrences as o set snoozed_until = snooze_until
        where o.id = occurrence.id and o.snoozed_until is distinct from snooze_until;
    when 'set_amount' then
      update app.expense_occurrences as o
      set expected_minor = greatest(amount_minor, paid), amount_source = 'override',
        status = case when paid >= amount_minor then 'paid' else 'open' end,
        closed_at = case when paid >= amount_minor then context.at end
      where o.id = occurrence.id
        and (o.expected_minor is distinct from amount_minor or o.amount_source <> 'override' or paid >= amount_minor);
      perform app.pay_awaited(bill, occurrence, context.today);
    when 'reopen' then
      update app.payments as p set deleted_at = context.at
        where p.occurrence_id = occurrence.id and p.deleted_at is null and occurrence.status = 'paid';
      update app.expense_occurrences as o
      set status = 'open', closed_at = null, snoozed_until = null,
        -- An estimate gave way to what was charged, and that is gone.
        expected_minor
          = case when o.status = 'paid' and bill.amount_mode <> 'fixed' and o.amount_source = 'override'
          then app.rule_amount(bill) else o.expected_minor end,
        amount_source
          = case when o.status = 'paid' and bill.amount_mode <> 'fixed' and o.amount_source = 'override' then 'rule'
          else o.amount_source end
      where o.id = occurrence.id and o.status <> 'open';
  end case;
  perform app.refresh_bill(bill.id, context.today);
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;
  return occurrence;
end
$$;
comment on function app.change_occurrence is
  'Skips, snoozes, prices or reopens one date of a bill. Reopening a paid one takes its payments out of the books. A '
  'date that is as wanted already stays as it is.';

-- Any member may note what a provider answered; only owners end a connection, and that is all they can make of it.
create policy "Members can note answers of providers, owners can end a link" on app.provider_links
  for update to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or exists (select from app.expenses as e where e.id = expense_id))
    and (
      status in ('active', 'needs_reauth')
      or (select identity.may('providers:manage'))
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or exists (select from app.expenses as e where e.id = expense_id))
    and (
      status in ('active', 'needs_reauth')
      or status = 'revoked' and (select identity.may('providers:manage'))
    )
  );
grant update (status, updated_at) on app.provider_links to authenticated;

create or replace function app.change_provider(context app.context, bill app.expenses, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  link app.provider_links;
begin
  if not identity.may('providers:manage') then
    perform app.fail('forbidden_role.provider', app.list_who_may('providers:manage'), 'provider');
  end if;
  select * into link from app.provider_links as l where l.expense_id = bill.id and l.status <> 'revoked';
  if change ->> 'action' = 'disconnect' then
    update app.provider_links as l set status = 'revoked', updated_at = context.at where l.id = link.id;
    if found then
      -- Kept for the list of what an undo cannot bring back: the credential is gone with the link.
      insert into app.change_items (change_id, organization_id, table_name, row_id, before)
      values (current_setting('app.change_id'), context.organization_id, 'provider_links', link.id, to_jsonb(link));
    end if;
    return null;
  end if;
  if not identity.organization_has_feature(context.organization_id, 'bills:variable', context.at) then
    perform app.fail('feature_not_in_plan.providers', jsonb_build_object(
      'organization', context.organization_name,
      'details', jsonb_build_object('feature', 'bills:variable', 'required_plan', 'team')
    ), 'provider');
  end if;
  if bill.amount_mode <> 'variable' then
    perform app.fail('invalid_argument.not_variable', jsonb_build_object('name', bill.name), 'provider');
  end if;
  return jsonb_strip_nulls(jsonb_build_object('bill', bill.id, 'provider', app.clean_text(change ->> 'provider')));
end
$$;
comment on function app.change_provider is
  'Ends the connection of a bill to its provider, or answers what the address to connect it is about: {bill, '
  'provider?}. Nothing secret passes through here.';

-- schemas/bills/apply_changes.sql

-- update_bill: changes a bill and the dates that are to come, or one date of it. What was paid never changes.

create or replace function app.change_bill(context app.context, old app.expenses, changes jsonb) returns app.expenses
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := old;
begin
  bill.name := coalesce(app.clean_text(changes ->> 'name'), case when not changes ? 'name' then old.name end);
  if bill.name is null then
    perform app.fail('invalid_argument.bill_without_name', field => 'set.name');
  end if;
  bill.payee := case when changes ? 'payee' then app.clean_text(changes ->> 'payee') else old.payee end;
  bill.note := case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else old.note end;
  bill.tags := case when changes ? 'tags' then app.clean_tags(changes -> 'tags', 'set.tags') else old.tags end;
  if changes ? 'category' then
    bill.category_id := app.find_category(context, changes ->> 'category', 'set.category');
  end if;
  bill.amount_mode := coalesce(changes ->> 'amount_mode', old.amount_mode);
  bill.currency := coalesce(changes ->> 'currency', old.currency);
  if bill.currency <> old.currency and old.amount_minor is not null and not changes ? 'amount' then
    perform app.fail('invalid_argument.amount_in_new_currency', jsonb_build_object(
      'name', old.name, 'amount', app.format_amount(old.amount_minor, old.currency), 'currency', old.currency,
      'new_currency', bill.currency
    ), 'set.amount');
  end if;
  bill.amount_minor := coalesce(app.parse_amount(changes ->> 'amount', bill.currency, 'set.amount'), old.amount_minor);
  if bill.amount_minor is null and bill.amount_mode <> 'variable' then
    perform app.fail('invalid_argument.bill_amount_missing', jsonb_build_object('name', bill.name), 'set.amount');
  end if;
  bill.autopay := coalesce((changes ->> 'autopay')::boolean, old.autopay);
  bill.reminder_enabled := coalesce((changes ->> 'reminder_enabled')::boolean, old.reminder_enabled);
  bill.remind_days_before := coalesce((changes ->> 'remind_days_before')::smallint, old.remind_days_before);
  bill := app.with_leads(bill, changes -> 'remind_again', app.default_lead_days(context));
  if changes ? 'assignee' then
    bill.assignee_id := app.find_member(context, app.clean_text(changes ->> 'assignee'), 'set.assignee');
    if identity.sees_own_only() and (select auth.uid()) not in (old.created_by, bill.assignee_id) is not false then
      perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'), 'set.assignee');
    end if;
  end if;
  bill.trial_ends_on :=
    coalesce(app.parse_date(context, changes ->> 'trial_ends_on', 'set.trial_ends_on'), old.trial_ends_on);
  bill.renews_on := coalesce(app.parse_date(context, changes ->> 'renews_on', 'set.renews_on'), old.renews_on);
  bill.notice_days := coalesce((changes ->> 'notice_days')::smallint, old.notice_days);
  if bill.notice_days is not null and bill.renews_on is null then
    perform app.fail('invalid_argument.notice_without_renewal', field => 'set.renews_on');
  end if;
  if changes ? 'my_share_percent' then
    bill.share_bp := app.parse_share((changes ->> 'my_share_percent')::numeric, 'set.my_share_percent');
  end if;
  bill.status := coalesce(nullif(changes ->> 'status', case old.status when 'ended' then 'active' end), old.status);
  return bill;
end
$$;
comment on function app.change_bill is 'A bill with the fields of a change but those of its schedule, not yet written.';

create or replace function app.write_bill(bill app.expenses) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.expenses as e
  set name = bill.name, payee = bill.payee, category_id = bill.category_id, tags = bill.tags, note = bill.note,
    amount_mode = bill.amount_mode, amount_minor = bill.amount_minor, currency = bill.currency,
    share_bp = bill.share_bp,
    frequency = bill.frequency, every = bill.every, anchor_on = bill.anchor_on, month_days = bill.month_days,
    weekend_rule = bill.weekend_rule,
    ends_on = bill.ends_on, ends_after = bill.ends_after, tracked_from = bill.tracked_from, next_due = bill.next_due,
    autopay = bill.autopay,
    trial_ends_on = bill.trial_ends_on, renews_on = bill.renews_on, notice_days = bill.notice_days,
    status = bill.status,
    reminder_enabled = bill.reminder_enabled, remind_days_before = bill.remind_days_before,
    remind_again = bill.remind_again, assignee_id = bill.assignee_id
  where e.id = bill.id and e is distinct from bill;
end
$$;
comment on function app.write_bill is 'Writes what can change of a bill; nothing when nothing did.';

create or replace function app.apply_changes(context app.context, old app.expenses, changes jsonb, apply_from date)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  next_index constant int := app.open_indexes(old, context.today, 1);
  next_scheduled constant date := app.scheduled_on(old, least(next_index, app.last_index(old)));
  next_due constant date := coalesce(old.next_due, app.due_on(next_scheduled, old.weekend_rule));
  bill app.expenses := app.change_bill(context, old, changes);
  rescheduled constant app.expenses := app.change_schedule(context, bill, changes, next_scheduled);
  is_replanned constant boolean := not app.same_schedule(old, rescheduled);
  is_repriced constant boolean :=
    (bill.amount_mode, bill.amount_minor, bill.currency) is distinct from (old.amount_mode, old.amount_minor,
    old.currency);
  is_resumed constant boolean := bill.status = 'active' and old.status in ('paused', 'cancelled');
  first_day date := coalesce(apply_from, greatest(next_due, context.today), context.today);
  latest_closed date;
begin
  if apply_from > context.today + 731 then
    perform app.fail('date_out_of_range.far_ahead', jsonb_build_object('date', apply_from), 'apply_from');
  end if;
  if (is_replanned or is_repriced) and apply_from > next_due and old.status = 'active' then
    -- What comes before keeps the price and the days that it had.
    perform app.materialize_occurrences(old, app.due_index(old, context.today),
      coalesce(least(app.due_index(old, apply_from) - 1, app.last_index(old)), app.due_index(old, apply_from) - 1));
  end if;
  if is_replanned then
    bill := rescheduled;
    if apply_from is null then
      select max(o.due_on) into latest_closed
      from app.expense_occurrences as o
      where o.expense_id = old.id and o.status <> 'open' and o.due_on >= context.today;
      -- Days that were paid ahead stay paid: the new ones begin nearer to the next open day than to the last closed
      -- one, or where somebody says that they begin.
      first_day := coalesce(
        latest_closed
          + case when app.parse_date(context, changes ->> 'first_due', 'set.first_due') >= context.today then 1
          else (next_due - latest_closed + 1) / 2 end,
        context.today
      );
    end if;
    first_day := greatest(first_day, context.today, case when changes ? 'first_due' then bill.anchor_on end);
    bill.tracked_from := app.watch_from(bill, first_day);
  elsif is_resumed then
    -- What fell into the pause was not ours to pay.
    bill.tracked_from := greatest(bill.tracked_from, app.watch_from(bill, context.today));
  end if;
  if bill.currency <> old.currency and exists (
    select from app.expense_occurrences as o
    where o.expense_id = old.id and o.status = 'open' and (o.due_on < first_day or app.paid_minor(o.id) <> 0)
  ) then
    perform app.fail(
      'invalid_argument.open_in_old_currency', jsonb_build_object('name', old.name, 'currency', old.currency),
      'set.currency'
    );
  end if;
  if bill.status in ('paused', 'cancelled') then
    bill.next_due := null;
  end if;

  perform app.write_bill(bill);
  if is_replanned or bill.status is distinct from old.status then
    perform app.replan_bill(bill,
      case when apply_from > context.today and is_replanned then apply_from else context.today end);
  end if;
  if is_repriced then
    perform app.reprice_bill(bill, first_day);
  end if;
  perform app.refresh_bill(bill.id, context.today);
end
$$;
comment on function app.apply_changes is
  'Changes a bill and its open dates. A price holds from apply_from on, else from the next open date; a schedule from '
  'there, else from today; overdue dates keep both.';

-- schemas/bills/warn_of_update.sql

create or replace function app.check_bill_update(context app.context, bill app.expenses, arguments jsonb) returns void
language plpgsql stable set search_path = '' as $$
begin
  if not arguments ?| array['set', 'occurrence', 'provider'] then
    perform app.fail('invalid_argument.nothing_to_change_of_bill', field => 'set');
  end if;
  if arguments ? 'apply_from' and not arguments ? 'set' then
    perform app.fail('invalid_argument.apply_from_without_set', field => 'apply_from');
  end if;
  if bill.version <> (arguments ->> 'expected_version')::numeric then
    perform app.fail('stale_version', jsonb_build_object(
      'name', bill.name, 'version', bill.version, 'details', jsonb_build_object(
        'id', bill.id, 'version', bill.version, 'current', app.describe_bills(context, array[bill.id]) -> 0
      )
    ), 'expected_version');
  end if;
end
$$;
comment on function app.check_bill_update is
  'What the contract of update_bill says in words, and the version that the caller has seen.';

create or replace function app.describe_touched(bill_id text, occurrence_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with touched as (
      select i.row_id as id, (array_agg(i.before order by i.position))[1] as before
      from app.change_items as i
      where i.change_id = current_setting('app.change_id', true) and i.table_name = 'expense_occurrences'
      group by i.row_id
    )
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'due_on', coalesce(o.due_on, (t.before ->> 'due_on')::date),
      'status', coalesce(o.status, 'removed'),
      'amount', app.format_amount(o.expected_minor, o.currency),
      'remaining',
      case when o.status = 'open' and app.paid_minor(o.id) <> 0
        then app.format_amount(o.expected_minor - app.paid_minor(o.id), o.currency) end,
      'snoozed_until', o.snoozed_until
    )) order by coalesce(o.due_on, (t.before ->> 'due_on')::date), o.id), '[]')
    from touched as t
    full join (
      select * from app.expense_occurrences as o
      where o.expense_id = describe_touched.bill_id
        and (o.id = describe_touched.occurrence_id or o.id in (select x.id from touched as x))
    ) as o on o.id = t.id
  );
end
$$;
comment on function app.describe_touched is 'The dates that the running change touched, and one more, as they are now.';

create or replace function app.warn_of_update(context app.context, bill app.expenses, old app.expenses, arguments jsonb,
  occurrence app.expense_occurrences) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  warnings jsonb := '[]';
begin
  if arguments #>> '{set,reminder_enabled}' = 'true'
    and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if (bill.amount_minor, bill.currency) is distinct from (old.amount_minor, old.currency)
    and bill.next_due < app.parse_date(context, arguments ->> 'apply_from', 'apply_from') then
    warnings := warnings || app.warning('applies_later', jsonb_build_object(
      'name', bill.name, 'from', app.parse_date(context, arguments ->> 'apply_from', 'apply_from'),
      'amount', app.format_amount(old.amount_minor, old.currency), 'currency', old.currency
    ));
  end if;
  if app.parse_date(context, arguments #>> '{set,first_due}', 'set.first_due') >= context.today
    and not app.same_schedule(old, bill) then
    warnings := warnings
      || app.warn_of_first_due(bill, app.parse_date(context, arguments #>> '{set,first_due}', 'set.first_due'));
  end if;
  if bill.share_bp <> old.share_bp then
    warnings := warnings || app.warn_of_share(bill);
  end if;
  if bill.status = 'ended' and arguments #>> '{set,status}' = 'active' then
    warnings := warnings || app.warning('still_ended', jsonb_build_object('name', bill.name));
  end if;
  case arguments #>> '{occurrence,action}'
    when 'snooze' then
      warnings := warnings || app.warning('snoozed', jsonb_build_object(
        'name', bill.name, 'due_on', occurrence.due_on, 'until', occurrence.snoozed_until
      ));
    when 'reopen' then
      if exists (
        select from app.change_items as i
        where i.change_id = current_setting('app.change_id', true) and i.table_name = 'payments'
          and i.after ->> 'deleted_at' is not null
      ) then
        warnings := warnings || app.warning(
          'payments_removed', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on)
        );
      end if;
    else null;
  end case;
  return warnings;
end
$$;
comment on function app.warn_of_update is 'What a person should hear about a change of a bill beside its result.';

-- schemas/bills/update_bill.sql

create or replace function app.sum_up_update(context app.context, bill app.expenses, old app.expenses, arguments jsonb,
  occurrence app.expense_occurrences)
returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Of the bill as it is written down: what is shown of it may not have changed yet.
  fields constant jsonb := (
    select jsonb_agg(distinct f.field order by f.field)
    from jsonb_each(to_jsonb(bill)) as b
    cross join lateral (
      select case
        when b.key in ('name', 'payee', 'tags', 'note', 'currency', 'autopay', 'amount_mode') then b.key
        when b.key in ('trial_ends_on', 'renews_on', 'notice_days') then b.key
        when b.key = 'category_id' then 'category'
        when b.key = 'assignee_id' then 'assignee'
        when b.key = 'amount_minor' then 'amount'
        when b.key = 'share_bp' then 'my_share_percent'
        when b.key in ('frequency', 'every', 'anchor_on', 'month_days', 'weekend_rule', 'ends_on', 'ends_after')
          then 'schedule'
        when b.key in ('reminder_enabled', 'remind_days_before', 'remind_again') then 'reminder'
      end as field
    ) as f
    where f.field is not null and b.value is distinct from to_jsonb(old) -> b.key
  );
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', bill.name,
    'status', case when bill.status <> old.status then bill.status end,
    'fields', case when arguments ? 'set' then fields end,
    'from', case when arguments ? 'set' then app.parse_date(context, arguments ->> 'apply_from', 'apply_from') end,
    'occurrence', case when arguments ? 'occurrence' then jsonb_build_object(
      'action', arguments #>> '{occurrence,action}', 'due_on', occurrence.due_on, 'until', occurrence.snoozed_until,
      'amount', app.format_amount(occurrence.expected_minor, occurrence.currency), 'currency', occurrence.currency
    ) end,
    'is_disconnected', case when arguments #>> '{provider,action}' = 'disconnect' then true end
  ));
end
$$;
comment on function app.sum_up_update is
  'What was done to a bill: {name, status?, fields?, from?, occurrence? {action, due_on, until?, amount?, currency}, '
  'is_disconnected?}.';

create or replace function app.update_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  old app.expenses := app.require_bill(context, arguments ->> 'bill_id');
  bill app.expenses;
  occurrence app.expense_occurrences;
  connect jsonb;
  shown_before jsonb;
  shown jsonb;
  before jsonb;
begin
  perform from app.expenses as e where e.id = old.id for update;
  select * into old from app.expenses as e where e.id = old.id;
  perform app.check_bill_update(context, old, arguments);
  perform app.refresh_bill(old.id, context.today);
  select * into old from app.expenses as e where e.id = old.id;
  shown_before := app.describe_bills(context, array[old.id]) -> 0;

  if arguments ? 'set' then
    perform app.apply_changes(context, old, arguments -> 'set',
      app.parse_date(context, arguments ->> 'apply_from', 'apply_from'));
  end if;
  select * into bill from app.expenses as e where e.id = old.id;
  if arguments ? 'occurrence' then
    occurrence := app.change_occurrence(context, bill, arguments -> 'occurrence');
  end if;
  if arguments ? 'provider' then
    connect := app.change_provider(context, bill, arguments -> 'provider');
  end if;
  select * into bill from app.expenses as e where e.id = old.id;
  shown := app.describe_bills(context, array[bill.id]) -> 0;
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') into before from jsonb_each(shown_before) as b
    where b.value is distinct from shown -> b.key;
  return jsonb_build_object(
    'data',
    jsonb_build_object('bill', shown, 'before', before, 'occurrences', app.describe_touched(bill.id, occurrence.id),
      'connect', connect),
    'warnings', app.warn_of_update(context, bill, old, arguments, occurrence),
    'facts', app.sum_up_update(context, bill, old, arguments, occurrence)
  );
end
$$;
comment on function app.update_bill is
  'Tool update_bill: data {bill, before, occurrences, connect?}. before has the old values of what changed; the '
  'connector makes connect_url of connect.';

-- schemas/bills/find_price_rises.sql

-- review_bills: what is worth saying about the bills, found by rules. A section shows 50 findings at most;
-- counts say how many there are.

create or replace function app.change_percent(old_minor numeric, new_minor numeric) returns numeric
language sql immutable
  return round((new_minor - old_minor) * 100.0 / old_minor, 1);
comment on function app.change_percent is 'By how much an amount differs from another, in percent with one decimal.';

create or replace function app.find_overdue(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select min(o.due_on), jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'due_on', min(o.due_on), 'days_overdue', (context).today - min(o.due_on), 'dates',
    count(*),
    'amount', app.format_minor(sum(o.remaining_minor), c.exponent), 'currency', b.currency
  )
  from app.passed_occurrences(context) as o
  join app.expenses as b on b.id = o.expense_id
  join app.currencies as c on c.code = b.currency
  where o.due_on < (context).today
  group by b.id, b.name, b.currency, c.exponent;
end;
comment on function app.find_overdue is
  'Bills with open dates that have passed; amount is what remains of all of them.';

create or replace function app.find_price_rises(context app.context, since date)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select p.from_on, jsonb_build_object(
    'bill_id', p.id, 'name', p.name, 'old', app.format_minor(p.old_minor, c.exponent), 'new',
    app.format_minor(p.new_minor, c.exponent),
    'currency', p.currency, 'change_percent', app.change_percent(p.old_minor, p.new_minor), 'since', p.from_on,
    'upcoming', case when p.from_on > (context).today then true end
  )
  from (
    select distinct on (b.id) b.id, b.name, b.currency, r.old_minor, r.new_minor, r.from_on
    from app.expenses as b
    cross join lateral (
      select * from (
        select o.due_on, o.status, o.expected_minor, o.currency,
          lag(o.expected_minor) over dates as old_minor, lag(o.currency) over dates as old_currency,
          lead(o.scheduled_on) over dates is null as is_last
        from app.expense_occurrences as o
        where o.expense_id = b.id and o.amount_source = 'rule' and o.expected_minor is not null
          and o.scheduled_on >= (since - interval '13 months')::date
        window dates as (order by o.scheduled_on)
      ) as o
      where (o.is_last or o.expected_minor > o.old_minor) and o.currency = b.currency
    ) as o
    cross join lateral (
      select o.old_minor, o.expected_minor as new_minor, o.due_on as from_on
      where o.expected_minor > o.old_minor and o.currency = o.old_currency and o.due_on >= since
      union all
      -- Set already, and not yet on any date that is written down.
      select o.expected_minor, b.amount_minor, app.next_price_from(b, (context).today)
      where o.is_last and o.status = 'open' and o.due_on >= (context).today and o.expected_minor < b.amount_minor
    ) as r
    where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
      and b.deleted_at is null and b.amount_mode = 'fixed'
      -- What nobody ever changed costs what it always did.
      and b.version > 1
      and r.from_on is not null
    order by b.id, r.from_on desc
  ) as p
  join app.currencies as c on c.code = p.currency;
end;
comment on function app.find_price_rises is
  'The latest rise of each fixed price that took effect since a day, or that is set and takes effect later (upcoming).';

create or replace function app.find_unusual_amounts(context app.context, since date)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  -- Three amounts make a habit; 40 % from their median is out of it.
  select l.due_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'due_on', l.due_on, 'amount', app.format_minor(l.expected_minor, c.exponent),
    'usual', app.format_minor(u.usual_minor, c.exponent), 'currency', b.currency, 'change_percent',
    app.change_percent(u.usual_minor, l.expected_minor)
  )
  from app.expenses as b
  join app.currencies as c on c.code = b.currency
  cross join lateral (
    select o.id, o.due_on, o.expected_minor, o.scheduled_on
    from app.expense_occurrences as o
    where o.expense_id = b.id and o.status <> 'skipped' and o.expected_minor is not null and o.currency = b.currency
      and o.due_on >= since
      and (o.amount_source <> 'rule' or b.amount_mode = 'variable')
    order by o.scheduled_on desc
    limit 1
  ) as l
  cross join lateral (
    select round(percentile_cont(0.5) within group (order by o.expected_minor)::numeric) as usual_minor,
      count(*) as amounts
    from app.expense_occurrences as o
    where o.expense_id = b.id and o.status <> 'skipped' and o.expected_minor is not null and o.currency = b.currency
      and o.scheduled_on < l.scheduled_on
      and o.due_on >= since
  ) as u
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null and b.amount_mode <> 'fixed'
    and u.amounts >= 3 and abs(l.expected_minor - u.usual_minor) > u.usual_minor * 0.4;
end;
comment on function app.find_unusual_amounts is
  'Bills whose amounts differ, and whose latest is far from the median of those before it since a day.';

-- schemas/bills/find_provider_trouble.sql

create or replace function app.find_duplicates(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  -- Grouped and not joined: each bill is compared with the one before it of the same payee, rhythm and currency, and
  -- with the first of the same name.
  select null::date, jsonb_build_object(
    'bill_id', two.id, 'name', two.name, 'other_bill_id', one.id, 'other_name', one.name,
    'amount',
    app.format_minor(two.amount_minor, (select c.exponent from app.currencies as c where c.code = two.currency)),
    'currency', two.currency,
    'other_amount', case when one.amount_minor <> two.amount_minor
      then
        app.format_minor(one.amount_minor,
        (select c.exponent from app.currencies as c where c.code = two.currency)) end,
    'schedule', app.describe_schedule(two)
  )
  from (
    select b.id, coalesce(
      lag(b.id) over (partition by b.match_key, b.frequency, b.every, b.currency, b.amount_minor
        order by b.recorded_seq),
      lag(b.id) over (partition by b.match_key, b.frequency, b.every, b.currency, lower(b.name) order by b.recorded_seq)
    ) as earlier_id
    from app.expenses as b
    where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
      and b.deleted_at is null and b.frequency <> 'once'
  ) as pair
  cross join lateral (select * from app.expenses as b where b.id = pair.id offset 0) as two
  cross join lateral (select * from app.expenses as b where b.id = pair.earlier_id offset 0) as one
  where pair.earlier_id is not null and (two.amount_minor is not null or lower(two.name) = lower(one.name));
end;
comment on function app.find_duplicates is
  'Active bills of the same payee, rhythm and currency as an earlier one that has the same amount or the same name; '
  'the later one is named first.';

create or replace function app.find_trials(context app.context, horizon_days int)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select b.trial_ends_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'trial_ends_on', b.trial_ends_on, 'days_left', b.trial_ends_on - (context).today,
    'amount', app.format_minor(b.amount_minor, c.exponent), 'currency', b.currency,
    'schedule', app.describe_schedule(b)
  )
  from app.expenses as b
  join app.currencies as c on c.code = b.currency
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null
    and b.trial_ends_on between (context).today and (context).today + horizon_days;
end;
comment on function app.find_trials is 'Bills whose trial ends within so many days.';

create or replace function app.find_cancel_dates(context app.context, horizon_days int)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select d.cancel_by, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'cancel_by', d.cancel_by, 'renews_on', d.renews_on, 'days_left',
    d.cancel_by - (context).today
  )
  from app.expenses as b
  cross join lateral (select coalesce(b.notice_days, 0)::int as days) as notice
  cross join lateral (select app.next_renewal(b, (context).today + notice.days) as renews_on) as renewal
  cross join lateral (select renewal.renews_on, renewal.renews_on - notice.days as cancel_by) as d
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null
    and d.cancel_by between (context).today and (context).today + horizon_days;
end;
comment on function app.find_cancel_dates is
  'Bills that renew, and can be ended for the last time within so many days.';

create or replace function app.find_provider_trouble(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select l.last_success_period, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'provider', app.provider_name(l), 'account', l.account_label, 'status', f.status,
    'last_success_period', to_char(l.last_success_period, 'YYYY-MM'), 'kind', f.kind,
    'needs_review', case when f.kind = 'needs_review' then app.describe_link(context, l) -> 'needs_review' end,
    'missing_period', case when f.kind = 'amount_missing' then to_char(month.start, 'YYYY-MM') end
  )
  from app.provider_links as l
  join app.expenses as b on b.id = l.expense_id and b.deleted_at is null
  cross join lateral (select (date_trunc('month', (context).today) - interval '1 month')::date as start) as month
  left join lateral app.open_question(l) as q on true
  cross join lateral (select app.link_status(l, (context).at) as status) as s
  cross join lateral (
    select s.status, case
      when s.status in ('needs_reauth', 'paused', 'paused_by_plan') then s.status
      when s.status = 'active' and l.consecutive_failures > 0 then 'failed'
      when (q.statement).id is not null then 'needs_review'
      -- Asked for daily until the 10th; what has not come by then is missed, where a date of this month waits for it.
      when s.status = 'active' and extract(day from (context).today) > 10
        and l.created_at < month.start + interval '1 month 10 days'
        and coalesce(l.last_success_period < month.start, true) and exists (
          select from app.expense_occurrences as o
          where o.expense_id = b.id and o.status = 'open' and o.expected_minor is null
            and o.scheduled_on >= month.start + interval '1 month'
              and o.scheduled_on < month.start + interval '2 months'
        ) then 'amount_missing'
    end as kind
  ) as f
  where l.organization_id = (context).organization_id and l.status <> 'revoked' and b.status = 'active'
    and b.amount_mode = 'variable' and f.kind is not null;
end;
comment on function app.find_provider_trouble is
  'Provider links of variable bills that need somebody, by kind: needs_reauth, paused, paused_by_plan, failed, '
  'needs_review (what the provider says was not taken over) or amount_missing (no statement by the 10th).';

-- schemas/bills/review_bills.sql

create or replace function app.review_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  horizon_days constant int := coalesce((arguments ->> 'horizon_days')::int, 45);
  since constant date := context.today - make_interval(months => coalesce((arguments ->> 'lookback_months')::int, 12));
  data jsonb;
begin
  with findings as (
    select 'overdue' as section, f.* from app.find_overdue(context) as f
    union all
    select 'price_rises', f.* from app.find_price_rises(context, since) as f
    union all
    select 'unusual_amounts', f.* from app.find_unusual_amounts(context, since) as f
    union all
    select 'possible_duplicates', f.* from app.find_duplicates(context) as f
    union all
    select 'trials_ending', f.* from app.find_trials(context, horizon_days) as f
    union all
    select 'cancel_by', f.* from app.find_cancel_dates(context, horizon_days) as f
    union all
    select 'provider_attention', f.* from app.find_provider_trouble(context) as f
  ), placed as (
    select *, row_number() over (
      partition by section
      -- What has been is told from the latest, what is to come from the nearest.
      order by case when section in ('price_rises', 'unusual_amounts') then (context.today - rank)::int
        else (rank - context.today)::int end,
        finding ->> 'name' collate "C", finding ->> 'bill_id' collate "C", finding ->> 'other_bill_id' collate "C"
    ) as place
    from findings
  ), sections as (
    select name, coalesce(f.findings, '[]') as findings, coalesce(f.count, 0) as count
    from unnest(
      array['overdue', 'price_rises', 'unusual_amounts', 'possible_duplicates', 'trials_ending', 'cancel_by',
      'provider_attention']) as name
    left join (
      select section, jsonb_agg(jsonb_strip_nulls(finding) order by place) filter (where place <= 50) as findings,
        count(*) as count
      from placed
      group by section
    ) as f on f.section = name
  )
  select jsonb_object_agg(name, findings) || jsonb_build_object('counts', jsonb_object_agg(name, count)) into data
    from sections;
  return jsonb_build_object('data', data);
end
$$;
comment on function app.review_bills is
  'Tool review_bills: data {overdue, price_rises, unusual_amounts, possible_duplicates, trials_ending, cancel_by, '
  'provider_attention, counts}.';

-- schemas/expenses/closed_months.sql

-- Closed months: what was paid in them stays as it is until they are reopened. One trigger on each table that keeps
-- money or what it was for, whoever writes it: a tool, an undo or a job.

create or replace function app.month_name(day date) returns text
language sql immutable set search_path = ''
  return to_char(day, 'YYYY-MM');
comment on function app.month_name is 'A month as it is said and shown.';

create or replace function app.is_closed(organization_id text, day date) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from identity.organizations as o
    where o.id = is_closed.organization_id and o.closed_through >= is_closed.day
  );
end
$$;
comment on function app.is_closed is
  'Whether a day lies in a closed month: for who leaves such a day alone rather than being refused.';

create or replace function app.closed_month(day date) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object(
    'month', app.month_name(day), 'reopened_by', app.month_name((day - interval '1 month')::date)
  );
end
$$;
comment on function app.closed_month is
  'Of a day in a closed month, that month and the last one that may stay closed when it is reopened.';

-- Its owner's rights, because under row-level security only the owner of an organization may lock it. Whoever writes
-- holds it still, but not from others who write: a month is closed before or after, and never in between.
create or replace function app.refuse_closed_month() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
declare
  organization_id constant text := coalesce(new.organization_id, old.organization_id);
  days date[];
  last_closed date;
  day date;
begin
  if tg_table_name = 'expenses' then
    -- By the expense first: of a table without statistics the planner takes hardly any row to be undeleted, and reads
    -- all of those instead.
    days := array(
      select p.paid_on
      from (select p.* from app.payments as p where p.expense_id = new.id offset 0) as p
      where p.deleted_at is null
    );
  else
    if tg_op <> 'INSERT' and old.deleted_at is null then
      days := days || old.paid_on;
    end if;
    if tg_op <> 'DELETE' and new.deleted_at is null then
      days := days || new.paid_on;
    end if;
  end if;
  if days <> '{}' then
    select o.closed_through into last_closed from identity.organizations as o
    where o.id = organization_id for share;
    select min(d) into day from unnest(days) as d where d <= last_closed;
    if day is not null then
      perform app.fail('month_closed', app.closed_month(day));
    end if;
  end if;
  return coalesce(new, old);
end
$$;
comment on function app.refuse_closed_month is
  'Ends whatever would change what was paid in a closed month, or the expense that it was paid for.';
revoke all on function app.refuse_closed_month from authenticated;

create trigger refuse_closed_month before insert or delete on app.payments
  for each row execute function app.refuse_closed_month();
-- Its name comes after bump_version, which says whether anything but derived columns changed: a new rate or base
-- currency gives a new value to what stays as it was recorded.
create trigger refuse_closed_month_on_update before update on app.payments
  for each row when (new.version <> old.version) execute function app.refuse_closed_month();
-- What a bill is called is nobody's record of a month: its category stays with what was paid (app.propagate_category).
create trigger refuse_closed_month_on_update before update on app.expenses
  for each row when (new.kind = 'one_off' and new.version <> old.version) execute function app.refuse_closed_month();

create or replace function app.parse_closed_through(context app.context, month text) returns date
language plpgsql stable set search_path = '' as $$
begin
  if month = '' then
    return null;
  elsif month !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or month >= app.month_name(context.today) then
    perform app.fail('date_out_of_range.month_not_over', jsonb_build_object('month', left(month, 40)),
      'closed_through');
  end if;
  return ((month || '-01')::date + interval '1 month')::date - 1;
end
$$;
comment on function app.parse_closed_through is 'The last day of the last month to be closed; blank is null: none.';

create or replace function app.prepare_closing(context app.context, closed_through date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  waiting record;
begin
  -- What was paid automatically until today belongs into the month. Bills first, as everybody locks them.
  perform app.refresh_bill(b.id, context.today)
  from (
    select e.id from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active' and e.autopay
      and e.deleted_at is null and e.next_due < context.today
    order by e.id
  ) as b;
  perform from identity.organizations as o where o.id = context.organization_id for no key update;
  -- A value that is final moves only with the base currency.
  select count(*) as count, min(p.paid_on) as since into waiting
  from app.payments as p
  where not p.is_final and p.paid_on <= closed_through and p.deleted_at is null;
  if waiting.count > 0 then
    perform app.fail('values_pending', jsonb_build_object(
      'count', waiting.count, 'since', waiting.since, 'month', app.month_name(closed_through)
    ), 'closed_through');
  end if;
end
$$;
comment on function app.prepare_closing is
  'Records what passes for paid, holds back everybody else who writes, and ends the tool while a value in these months '
  'waits for the rate of its day.';

create or replace function app.list_open_dates(context app.context, until date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('name', e.name, 'due_on', o.due_on) order by o.due_on, e.name)
    from app.passed_occurrences(context) as o
    join app.expenses as e on e.id = o.expense_id
    where o.due_on <= until
  );
end
$$;
comment on function app.list_open_dates is 'Dates of bills until a day that nothing was paid for: [{name, due_on}].';

-- schemas/imports/book_entries.sql

-- What a row of a statement may be in the books: a payment as it stands, what was charged for it, the form it had
-- before it was merged, a split as the one payment it was, or a bill's date that nothing was paid for yet.

create type app.book_entry as (
  key text,
  payment_ids text[],
  bill_id text,
  due_on date,
  expense_id text,
  day date,
  amount_minor bigint,
  currency text,
  direction text,
  base_minor bigint,
  is_open boolean,
  is_frequent boolean,
  seq bigint
);
comment on type app.book_entry is
  'Something in the books that a statement may have: key is what is matched only once. is_open: its amount is not '
  'settled, an estimate; is_frequent: a bill of every few days, near to anything.';

create or replace function app.list_entries(context app.context, first_day date, last_day date)
  returns setof app.book_entry
language plpgsql stable rows 2000 set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  return query
    with paid as materialized (
      select p.*
      from app.payments as p
      where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
        and p.deleted_at is null
    )
    select p.id, array[p.id], null::text, null::date, p.expense_id, p.paid_on, p.amount_minor, p.currency, p.direction,
      p.base_minor, p.is_estimate and not app.is_closed(context.organization_id, p.paid_on), false, p.recorded_seq
    from paid as p
    where p.split_id is null
    union all
    select p.id, array[p.id], null, null, p.expense_id, p.paid_on, p.charged_minor, p.charged_currency, p.direction,
      p.base_minor, false, false, p.recorded_seq
    from paid as p
    where p.split_id is null and p.charged_minor > 0
    union all
    select k.id, array[k.id], null, null, p.expense_id, p.paid_on, p.amount_minor, p.currency, p.direction,
      p.base_minor, false, false, p.recorded_seq
    from app.payments as p
    cross join lateral (
      select k.id from app.payments as k
      where k.id = p.merged_into and k.deleted_at is null and k.split_id is null
      offset 0
    ) as k
    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.merged_into is not null
    union all
    select p.split_id, array_agg(p.id order by p.recorded_seq), null, null, min(p.expense_id), p.paid_on,
      sum(f.minor)::bigint, f.currency, p.direction, sum(p.base_minor)::bigint, false, false, min(p.recorded_seq)
    from paid as p
    cross join lateral (
      select p.amount_minor as minor, p.currency union all select p.charged_minor, p.charged_currency
    ) as f
    where p.split_id is not null and f.minor is not null
    group by p.split_id, p.paid_on, p.direction, f.currency
    union all
    select b.id || ':' || o.due_on, null, b.id, o.due_on, b.id, o.due_on, m.minor, o.currency, 'out',
      (app.value_in_base(context.base_currency, m.minor, o.currency, o.due_on)).base_minor,
      b.amount_mode <> 'fixed' and o.amount_source = 'rule', b.frequency in ('daily', 'weekly'), b.recorded_seq
    from app.expense_occurrences as o
    cross join lateral (
      select b.* from app.expenses as b
      where b.id = o.expense_id and b.deleted_at is null and b.status <> 'cancelled'
      offset 0
    ) as b
    cross join lateral (
      select coalesce(o.expected_minor - o.paid_minor, u.minor) as minor
      from app.usual_amount(b.id, b.amount_minor) as u
    ) as m
    where o.organization_id = context.organization_id and o.status = 'open' and o.due_on between first_day and last_day
      and m.minor > 0;
end
$$;
comment on function app.list_entries is
  'What the books have of some days, in every form that a statement may know, and the open dates of bills.';

-- schemas/imports/match_pairs.sql

-- Which rows of an import may be which entries of the books, and how sure that is.

create type app.match_pair as (
  line int,
  entry app.book_entry,
  tier int,
  gap int,
  cost int,
  row_day date,
  row_name text,
  entry_name text
);
comment on type app.match_pair is
  'A row and an entry that may be one. tier 1 to 4 is certain, the lowest most: the same name on the same day, the '
  'same '
  'words, one name in the other, an amount that is about right; 6 to 8 is to be asked. gap is in days.';

create or replace function app.same_amount(one_minor bigint, other_minor bigint, percent int) returns boolean
language sql immutable
  return abs(one_minor - other_minor) * 100::numeric <= percent * greatest(one_minor, other_minor)::numeric;
comment on function app.same_amount is 'Whether two amounts differ by no more than so many percent of the larger.';

-- Hashed, not walked: under row-level security the planner takes rows and books for a handful.
create or replace function app.find_pairs(context app.context, batch app.import_batches, first int, last int)
  returns app.match_pair[]
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  days constant int := 5;
  -- More of one amount on one day are no longer told apart.
  most constant int := 50;
  exchange_percent constant int := 4;
  estimate_percent constant int := 10;
  first_day date;
  last_day date;
  currencies text[];
begin
  select min(r.draft ->> 'paid_on')::date - days, max(r.draft ->> 'paid_on')::date + days,
    array_agg(distinct coalesce(r.item #>> '{charged,currency}', r.draft ->> 'currency'))
  into first_day, last_day, currencies
  from app.import_rows as r
  where r.import_id = batch.id and r.line between first and last and r.draft is not null and r.match is null
    and not r.is_skipped;
  return (
    with staged as materialized (
      select r.line, d.paid_on as day, d.direction, d.amount_minor, d.currency, d.match_key,
        app.statement_minor(r.item #>> '{charged,amount}', r.item #>> '{charged,currency}') as charged_minor,
        r.item #>> '{charged,currency}' as charged_currency,
        array_remove(array[d.payee, d.name, r.item ->> 'text'], null) as names
      from app.import_rows as r
      cross join lateral jsonb_to_record(r.draft) as d (
        paid_on date, direction text, amount_minor bigint, currency text, match_key text, name text, payee text
      )
      where r.import_id = batch.id and r.line between first and last and r.draft is not null and r.match is null
        and not r.is_skipped and r.kind in ('expense', 'refund')
    ), priced as materialized (
      select s.*, s.amount_minor as minor, s.currency as in_currency from staged as s
      union all
      select s.*, s.charged_minor, s.charged_currency from staged as s where s.charged_minor is not null
    ), entries as materialized (
      select e.*, (e.entry).*, e.entry as whole
      from (
        select l as entry, row_number() over (
          partition by (l).day, (l).amount_minor, (l).currency, (l).direction order by (l).seq
        ) as nth
        from app.list_entries(context, first_day, last_day) as l
      ) as e
      where e.nth <= most
    ), odd as materialized (
      -- Not settled, or in another currency than some row.
      select e.* from entries as e
      where e.is_open or cardinality(currencies) > 1 or e.currency <> currencies[1]
    ), spread as materialized (
      -- Each row on the days around its own: days are hashed, ranges are not.
      select p.*, p.day + g.step as near_day, case when p.in_currency = context.base_currency then p.minor else (
        app.value_in_base(context.base_currency, p.minor, p.in_currency, p.day)
      ).base_minor end as base_minor
      from priced as p
      cross join generate_series(-days, days) as g (step)
      where p.minor = coalesce(p.charged_minor, p.amount_minor) and exists (select from odd)
    ), near as (
      select p.line, p.day, p.match_key, p.names, e.whole, true as is_exact, false as is_open, p.minor
      from priced as p
      join entries as e on e.amount_minor = p.minor and e.currency = p.in_currency and e.direction = p.direction
      where abs(p.day - e.day) <= days
      union all
      select v.line, v.day, v.match_key, v.names, e.whole, false, e.is_open and e.currency = v.in_currency, v.minor
      from spread as v
      join odd as e on e.day = v.near_day and e.direction = v.direction
      where e.is_open and e.currency = v.in_currency and e.amount_minor <> v.minor
          and app.same_amount(e.amount_minor, v.minor, 50)
        or e.currency <> v.in_currency and app.same_amount(e.base_minor, v.base_minor, exchange_percent)
    ), free as materialized (
      select n.*, row_number() over () as id, x.name, x.payee, x.match_key as entry_key, link.is_linked
      from near as n
      cross join lateral (
        select x.name, x.payee, x.match_key from app.expenses as x where x.id = (n.whole).expense_id offset 0
      ) as x
      cross join lateral (
        select coalesce(bool_or(l.account_id = batch.account_id), false) as is_own,
          count(*) > 0 and batch.account_id is not null as is_linked
        from app.statement_links as k
        cross join lateral (select l.account_id from app.statement_lines as l where l.id = k.line_id offset 0) as l
        where k.payment_id = any ((n.whole).payment_ids)
        offset 0
      ) as link
      where not link.is_own
    ), named as materialized (
      select f.id, one.text as one, other.text as other, one.place < cardinality(f.names) or cardinality(f.names) = 1
        or f.names[1] ~* '^(paypal|klarna)' as counts
      from free as f
      cross join lateral unnest(f.names) with ordinality as one (text, place)
      cross join lateral unnest(array[f.name, f.payee]) as other (text)
      where other.text is not null
    ), words as materialized (
      select t.text, app.descriptor_words(t.text) as words
      from (select n.one as text from named as n union select n.other from named as n) as t
    ), agreeing as materialized (
      select c.one, c.other, app.compare_names(a.words, b.words) as agree
      from (select distinct n.one, n.other from named as n) as c
      join words as a on a.text = c.one
      join words as b on b.text = c.other
    ), judged as (
      select f.*, abs(f.day - (f.whole).day) as gap, f.day - (f.whole).day as later, f.names[1] as row_name, a.agree
      from free as f
      join (
        -- All that the bank says has many words by chance: it counts where nothing else names anybody.
        select n.id, max(case when n.counts or a.agree = 3 then a.agree else 0 end) as agree
        from named as n
        join agreeing as a on a.one = n.one and a.other = n.other
        group by n.id
      ) as a on a.id = f.id
    ), tiered as (
      select j.*, case
        -- What was paid in a closed month is not written any more.
        when (j.whole).bill_id is not null and app.is_closed(context.organization_id, j.day) then null
        when j.is_linked then case when j.is_exact and j.agree > 1 and j.gap <= 3 then 6 end
        when j.is_exact and j.gap = 0 and j.match_key = j.entry_key then 1
        when j.is_exact and j.agree = 3 then 2
        when j.is_exact and j.agree = 2 then 3
        when j.is_open and j.agree > 1
          then case when app.same_amount((j.whole).amount_minor, j.minor, estimate_percent) then 4 else 6 end
        when not j.is_exact and not j.is_open and j.agree > 1 then 4
        when j.is_exact and j.agree = 1 then 7
        when j.is_exact and not (j.whole).is_frequent and j.later between -1 and 3
            or not j.is_exact and not j.is_open and j.agree = 1 then 8
      end as tier
      from judged as j
    )
    select array_agg(
      (t.line, t.whole, t.tier, t.gap, t.gap
        -- Banks book on the same day or the next working one, hardly before anybody paid.
        + 10 * case when t.later < 0 then 2 - t.later else (array[0, 0, 1, 1, 3, 4])[t.later + 1] end
        -- What is paid already is rather meant than what is due.
        + case when (t.whole).bill_id is not null then 200 else 0 end, t.day, t.row_name,
        t.entry_key)::app.match_pair
      order by t.tier, t.line, t.gap, (t.whole).seq
    )
    from tiered as t
    where t.tier is not null
  );
end
$$;
comment on function app.find_pairs is
  'The pairs of rows, which are not matched yet, with entries of five days before and after: of the same amount, about '
  'the amount where it is an estimate, or a foreign one at the rate of its day.';

-- schemas/imports/assign_pairs.sql

create or replace function app.group_pairs(pairs app.match_pair[]) returns table (label int, members app.match_pair[])
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  lines int[] := array(select (p).line from unnest(pairs) as p);
  keys constant text[] := array(select ((p).entry).key from unnest(pairs) as p);
  labels int[] := lines;
  spread int[];
begin
  -- What shares a row or an entry belongs together; each round reaches one further.
  for round in 1..400 loop
    spread := array(
      select min(e.label) over (partition by e.line)
      from (
        select u.place, u.line, min(u.label) over (partition by u.key) as label
        from unnest(lines, keys, labels) with ordinality as u (line, key, label, place)
      ) as e
      order by e.place
    );
    exit when spread = labels;
    labels := spread;
  end loop;
  return query
    select l.label, array_agg(p.pair order by (p.pair).row_day, (p.pair).line)
    from unnest(labels) with ordinality as l (label, place)
    join (select u as pair, row_number() over () as place from unnest(pairs) as u) as p on p.place = l.place
    group by l.label;
end
$$;
comment on function app.group_pairs is 'Pairs by what hangs together: two groups share neither a row nor an entry.';

create or replace function app.assign_pairs(pairs app.match_pair[]) returns app.match_pair[]
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  -- So many rows at a time bound the work of a day on which all is alike.
  most constant int := 300;
  days constant int := 5;
  chosen app.match_pair[];
  crowded app.match_pair[];
  members app.match_pair[];
  part app.match_pair[];
  lines int[];
  keys text[];
  costs int[];
  skips int[];
  found int[];
begin
  -- Most pairs are alone.
  chosen := array(
    select p
    from unnest(pairs) as p
    join (
      select (u).line from unnest(pairs) as u group by 1 having count(*) = 1
    ) as l on l.line = (p).line
    join (
      select ((u).entry).key from unnest(pairs) as u group by 1 having count(*) = 1
    ) as k on k.key = ((p).entry).key
  );
  crowded := array(
    select p from unnest(pairs) as p
    where not exists (select from unnest(chosen) as c where (c).line = (p).line)
  );
  for members in select g.members from app.group_pairs(crowded) as g order by g.label loop
    loop
      lines := array(select (m).line from unnest(members) as m group by 1 order by min((m).row_day), 1 limit most);
      exit when lines = '{}';
      part := array(select m from unnest(members) as m where (m).line = any (lines));
      keys := array(
        select ((m).entry).key from unnest(part) as m
        group by 1 order by min(((m).entry).day), min(((m).entry).seq), 1
      );
      costs := array(
        select min((m).cost)
        from unnest(lines) with ordinality as l (line, i)
        cross join unnest(keys) with ordinality as k (key, j)
        left join unnest(part) as m on (m).line = l.line and ((m).entry).key = k.key
        group by l.i, k.j
        order by l.i, k.j
      );
      -- What the bank should have had by now is left alone less gladly than what may still come.
      skips := array(
        select 60 * greatest(0, least(latest.row_day - min(((m).entry).day), days))
        from unnest(keys) with ordinality as k (key, j)
        join unnest(part) as m on ((m).entry).key = k.key
        cross join (select max((m).row_day) as row_day from unnest(part) as m) as latest
        group by k.j, latest.row_day
        order by k.j
      );
      found := app.pair_in_order(cardinality(lines), cardinality(keys), costs, skips);
      part := array(
        select distinct on (l.line) m
        from unnest(lines, found) as l (line, j)
        join unnest(part) as m on (m).line = l.line and ((m).entry).key = keys[l.j]
        order by l.line, (m).cost
      );
      chosen := chosen || part;
      members := array(
        select m from unnest(members) as m
        where (m).line <> all (lines) and ((m).entry).key <> all (array(select ((p).entry).key from unnest(part) as p))
      );
    end loop;
  end loop;
  return chosen;
end
$$;
comment on function app.assign_pairs is 'The pairs that are taken: each row and each entry once.';

-- schemas/imports/match_rows.sql

-- Rows of a statement and what is in the books: what is certainly the same is linked, what is likely is asked, the rest
-- is new. The strongest sign goes first, and nothing is matched twice.

create or replace function app.describe_entry(entry app.book_entry) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', coalesce(entry.bill_id, app.shown_id(entry.payment_ids[1])),
    'name', (select e.name from app.expenses as e where e.id = entry.expense_id), 'date', entry.day,
    'amount', app.format_amount(entry.amount_minor, entry.currency), 'currency', entry.currency,
    'payment_ids', to_jsonb(entry.payment_ids), 'bill_id', entry.bill_id, 'due_on', entry.due_on
  ));
end
$$;
comment on function app.describe_entry is
  'An entry as a candidate of a question: {id, name, date, amount, currency, payment_ids | bill_id, due_on}.';

create or replace function app.taken_entries(batch app.import_batches) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select jsonb_array_elements_text(r.match -> 'payment_ids') from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' in ('known', 'linked')
    union
    select (r.match ->> 'bill_id') || ':' || (r.match ->> 'due_on') from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' in ('known', 'linked')
      and r.match ->> 'state' = 'linked' and r.match ? 'bill_id'
  );
end
$$;
comment on function app.taken_entries is 'What rows of an import are linked with: payments, and dates of bills.';

create or replace function app.write_matches(batch app.import_batches, pairs app.match_pair[], chosen app.match_pair[])
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop
  = 'off' as $$
declare
  -- What else a row may be: as near, not taken by another, and called otherwise where the name is what is sure.
  others constant app.match_pair[] := array(
    select p
    from unnest(pairs) as p
    join unnest(chosen) as c on (c).line = (p).line
    where ((p).entry).key <> ((c).entry).key
      and ((c).tier > 5 or (p).gap <= (c).gap and (p).entry_name <> (c).entry_name)
      and not exists (select from unnest(chosen) as o where ((o).entry).key = ((p).entry).key)
  );
begin
  update app.import_rows as r
  set match = jsonb_strip_nulls(jsonb_build_object(
    -- A list of no account has no lines to link: what repeats the books is known.
    'state', case when c.tier = 1 and batch.account_id is null then 'known' else 'linked' end, 'payment_ids',
    to_jsonb((c.entry).payment_ids), 'bill_id', (c.entry).bill_id,
    'due_on', (c.entry).due_on
  ))
  from unnest(chosen) as c
  where r.import_id = batch.id and r.line = c.line and c.tier < 6
    and not exists (select from unnest(others) as o where (o).line = c.line);
  update app.import_rows as r
  set match = jsonb_build_object('state', 'likely', 'candidates', found.candidates)
  from (
    select p.line, jsonb_agg(app.describe_entry(p.entry) order by p.place) as candidates
    from (
      select a.line, a.entry, row_number() over (partition by a.line order by a.turn, a.gap, (a.entry).seq) as place
      from (
        select (c).line, (c).entry, (c).gap, 1 as turn from unnest(chosen) as c
        where (c).tier > 5 or exists (select from unnest(others) as o where (o).line = (c).line)
        union all
        select (o).line, (o).entry, (o).gap, 2 from unnest(others) as o
      ) as a
    ) as p
    where p.place <= 3
    group by p.line
  ) as found
  where r.import_id = batch.id and r.line = found.line and r.match is null;
end
$$;
comment on function app.write_matches is
  'Writes the pairs that were taken: linked, or likely with what else may be meant.';

create or replace function app.match_import_rows(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop
  = 'off' as $$
declare
  pairs app.match_pair[];
  near app.match_pair[];
  taken text[];
  gone text[];
  lines int[];
  step int;
begin
  update app.import_rows as r set match = null
  where r.import_id = batch.id and r.line between first and last and r.match is not null;
  -- What passes for paid by today is a payment to be matched, not an open date.
  perform app.refresh_bill(b.id, context.today)
  from (
    select e.id from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active'
      and e.deleted_at is null and e.next_due < context.today
    order by e.id
  ) as b;
  perform app.match_known_rows(context, batch, first, last);
  pairs := app.find_pairs(context, batch, first, last);
  foreach step in array array[1, 2, 3, 4, 5, 6, 7, 8] loop
    taken := app.taken_entries(batch);
    if step = 5 then
      perform app.match_sums(context, batch, first, last, taken);
      continue;
    end if;
    gone := array(
      select distinct ((p).entry).key
      from unnest(pairs) as p
      cross join lateral unnest(((p).entry).key || coalesce(((p).entry).payment_ids, '{}')) as u (id)
      join unnest(taken) as t (id) on t.id = u.id
    );
    lines := array(
      select r.line from app.import_rows as r
      where r.import_id = batch.id and r.line between first and last and r.match is null
    );
    pairs := array(
      select p
      from unnest(pairs) as p
      join unnest(lines) as l (line) on l.line = (p).line
      left join unnest(gone) as g (key) on g.key = ((p).entry).key
      where g.key is null
    );
    near := array(select p from unnest(pairs) as p where (p).tier = step);
    if near <> '{}' then
      perform app.write_matches(batch, near, app.assign_pairs(near));
    end if;
  end loop;
  update app.import_rows as r set match = '{"state": "new"}'
  where r.import_id = batch.id and r.line between first and last and r.match is null and r.draft is not null
    and not r.is_skipped and r.kind in ('expense', 'refund');
end
$$;
comment on function app.match_import_rows is
  'Says of each row of some lines of an import what it is in the books, in match: known, linked, likely or new.';

-- schemas/imports/link_rows.sql

-- Committing a statement: each of its lines is kept once, with the payments that it is. What a line is the payment of
-- becomes paid, an estimate becomes the bank's amount, and a foreign payment gets what was charged for it.

create or replace function app.settle_match(match jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case
    when match ->> 'state' <> 'likely' then match
    when match ->> 'answer' = 'same' then match #> '{candidates,0}' || '{"state": "linked"}'
    else coalesce(
      (
        select c || '{"state": "linked"}' from jsonb_array_elements(match -> 'candidates') as c
        where c ->> 'id' = match ->> 'answer'
        limit 1
      ), '{"state": "new"}'
    )
  end;
end
$$;
comment on function app.settle_match is
  'What a row is in the books after its question was answered: {state: known | linked | new, payment_ids?, bill_id?, '
  'due_on?}.';

create or replace function app.pay_matched_date(context app.context, row_match jsonb, draft jsonb, line_minor bigint,
  line_currency text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
  occurrence app.expense_occurrences;
  automatic app.payments;
begin
  perform from app.expenses as e where e.id = row_match ->> 'bill_id' for update;
  perform app.refresh_bill(row_match ->> 'bill_id', context.today);
  select * into bill from app.expenses as e where e.id = row_match ->> 'bill_id' and e.deleted_at is null;
  if found then
    occurrence := app.find_occurrence(bill, (row_match ->> 'due_on')::date, 'import_id');
  end if;
  automatic := app.latest_payment(occurrence.id);
  if occurrence.status = 'paid' and automatic.source = 'autopay' then
    -- Recorded by the calendar since.
    return automatic.id;
  elsif occurrence.status is distinct from 'open' then
    perform app.fail('expectation_mismatch.books_changed', field => 'import_id');
  end if;
  return (
    app.settle_occurrence(context, bill, occurrence, case bill.currency
      when draft ->> 'currency' then (draft ->> 'amount_minor')::bigint
      when line_currency then line_minor
    end, (draft ->> 'paid_on')::date, null)
  ).id;
end
$$;
comment on function app.pay_matched_date is
  'Pays the date of a bill with what the bank took for it, on the bank''s day; one in another currency with its own '
  'amount. Answers the payment.';

create or replace function app.correct_matched(context app.context, payment_ids text[], line_minor bigint,
  line_currency text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  bill app.expenses;
  occurrence app.expense_occurrences;
begin
  select * into payment from app.payments as p where p.id = payment_ids[1];
  if app.is_closed(context.organization_id, payment.paid_on) then
    return;
  end if;
  if payment.is_estimate and cardinality(payment_ids) = 1 and payment.currency = line_currency then
    select * into bill from app.expenses as e where e.id = payment.expense_id for update;
    select * into occurrence from app.expense_occurrences as o where o.id = payment.occurrence_id;
    if occurrence.paid_minor = payment.amount_minor then
      perform app.correct_payment(context, bill, occurrence, line_minor, null, null);
    end if;
  elsif payment.currency <> line_currency and payment.currency <> context.base_currency then
    update app.payments as p
    set charged_minor = s.minor, charged_currency = line_currency
    from (
      select array_agg(p.id order by p.id) as ids,
        app.spread_minor(line_minor, array_agg(p.amount_minor order by p.id)) as shares
      from app.payments as p
      where p.id = any (payment_ids)
    ) as w
    cross join lateral unnest(w.ids, w.shares) as s (id, minor)
    where p.id = s.id and (p.charged_minor, p.charged_currency) is distinct from (s.minor, line_currency);
  end if;
end
$$;
comment on function app.correct_matched is
  'Gives payments that a line is what the bank knows better: the amount of an estimate, and what was charged in '
  'another currency. What is in a closed month stays.';

create or replace function app.refuse_matched_twice(batch app.import_batches) returns void
language plpgsql stable set search_path = '' as $$
declare
  twice record;
begin
  select array_agg(r.line order by r.line) as lines into twice
  from app.import_rows as r
  cross join lateral (select case when r.draft ? 'id' then '{"state": "new"}' else app.settle_match(r.match) end
    as settled offset 0) as m
  left join lateral jsonb_array_elements_text(m.settled -> 'payment_ids') as w (id) on true
  where r.import_id = batch.id and not r.is_skipped and m.settled ->> 'state' = 'linked'
  group by coalesce(w.id, (m.settled ->> 'bill_id') || (m.settled ->> 'due_on'))
  -- Several rows may be one expense, but nobody says so of a row alone.
  having count(*) > 1 and bool_or(r.match ->> 'state' = 'likely')
  order by 1
  limit 1;
  if found then
    perform app.fail('invalid_argument.matched_twice', jsonb_build_object('lines', twice.lines), 'answers');
  end if;
end
$$;
comment on function app.refuse_matched_twice is
  'Ends the tool when two rows were answered to be the same expense.';

-- Hashed, not walked: of rows that were just staged the planner knows nothing.
create or replace function app.write_statement_lines(context app.context, batch app.import_batches) returns int
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop
  = 'off' as $$
declare
  change constant text := nullif(current_setting('app.change_id', true), '');
  missing int;
begin
  with staged as materialized (
    select s.*, m.settled, app.new_id('lin') as id
    from app.statement_rows(context, batch) as s
    cross join lateral (select case when s.draft ? 'id' then '{"state": "new"}' else app.settle_match(s.match) end
      as settled offset 0) as m
    where m.settled ->> 'state' is distinct from 'known'
      -- A row that is new has been written, or is none that was to be.
      and (m.settled ->> 'state' is distinct from 'new' or s.draft ? 'id' or s.is_skipped)
  ), written as (
    insert into app.statement_lines (
      id, organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency, nth, is_skipped,
      change_id
    )
    select s.id, batch.organization_id, batch.account_id, s.booked_on, s.text, s.kind, s.direction, s.amount_minor,
      s.currency, s.nth, s.is_skipped, change
    from staged as s
    where batch.account_id is not null
    on conflict do nothing
    returning id
  ), linked as (
    insert into app.statement_links (line_id, payment_id, organization_id)
    select s.id, p.id, batch.organization_id
    from staged as s
    join written as w on w.id = s.id
    cross join lateral (
      select p.id from app.payments as p
      where p.id in (select jsonb_array_elements_text(s.settled -> 'payment_ids'))
        and s.settled ->> 'state' = 'linked'
      union all
      select p.id
      from app.payments as p
      where s.settled ->> 'state' = 'new' and p.deleted_at is null and p.expense_id in (
        select s.draft ->> 'id' union select part ->> 'id' from jsonb_array_elements(s.draft -> 'parts') as part
      )
      offset 0
    ) as p
    where not s.is_skipped
    returning line_id
  )
  select count(*) into missing
  from staged as s
  where batch.account_id is not null and s.settled is not null and not s.is_skipped
    and not exists (select from linked as l where l.line_id = s.id);
  return missing;
end
$$;
comment on function app.write_statement_lines is
  'Writes the lines of an import''s rows and which payments they are; answers how many came to none.';

create or replace function app.link_import_rows(context app.context, batch app.import_batches) returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  matched record;
  payment_id text;
begin
  perform app.refuse_matched_twice(batch);
  -- Bills in one order, as everybody locks them.
  for matched in
    select s.line, s.draft, s.amount_minor, s.currency, m.settled, paid.ids
    from app.statement_rows(context, batch) as s
    cross join lateral (select case when s.draft ? 'id' then '{"state": "new"}' else app.settle_match(s.match) end
      as settled offset 0) as m
    cross join lateral (
      select array_agg(p.id) as ids, coalesce(bool_or(p.is_estimate or p.currency <> s.currency), false) as is_open
      from app.payments as p
      where p.id in (select jsonb_array_elements_text(m.settled -> 'payment_ids'))
      offset 0
    ) as paid
    where not s.is_skipped and m.settled ->> 'state' = 'linked' and (m.settled ? 'bill_id' or paid.is_open)
    order by m.settled ->> 'bill_id', s.line
  loop
    if matched.settled ? 'bill_id' then
      payment_id := app.pay_matched_date(
        context, matched.settled, matched.draft, matched.amount_minor, matched.currency
      );
      matched.ids := array[payment_id];
      update app.import_rows as r
      set match = matched.settled || jsonb_build_object('payment_ids', matched.ids)
      where r.import_id = batch.id and r.line = matched.line;
    end if;
    perform app.correct_matched(context, matched.ids, matched.amount_minor, matched.currency);
  end loop;
  perform app.refresh_bill(b.id, context.today)
  from (
    select distinct r.match ->> 'bill_id' as id from app.import_rows as r
    where r.import_id = batch.id and r.match ? 'bill_id' and not r.is_skipped
    order by 1
  ) as b;

  if app.write_statement_lines(context, batch) > 0 then
    perform app.fail('expectation_mismatch.books_changed', field => 'import_id');
  end if;
end
$$;
comment on function app.link_import_rows is
  'Keeps what a committed import''s rows are as lines of the account, linked with their payments: those that were '
  'there, '
  'those that are paid by it, and those that were just written, whose draft has the id. Ends the tool when the books '
  'have changed since the rows were matched.';

-- schemas/imports/reconcile.sql

-- reconcile: what the bank has and the books do not, and the other way round.

create or replace function app.require_account(context app.context, wanted text, field text) returns app.accounts
language plpgsql stable set search_path = '' as $$
declare
  account app.accounts;
begin
  select * into account from app.accounts as a
  where a.organization_id = context.organization_id
    and (a.id = require_account.wanted or lower(a.name) = lower(app.clean_text(require_account.wanted)));
  if not found then
    perform app.fail('not_found.statement_account', jsonb_build_object(
      'name', left(require_account.wanted, 60),
      'names', array(
        select a.name from app.accounts as a where a.organization_id = context.organization_id
        order by lower(a.name) limit 20
      )
    ), require_account.field);
  end if;
  return account;
end
$$;
comment on function app.require_account is 'An account by its name or id; ends the tool with the names there are.';

create or replace function app.sum_by_currency(amounts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency)), '{}')
    from (
      select a.currency, sum(a.minor) as minor from jsonb_to_recordset(amounts) as a (currency text, minor bigint)
      group by a.currency
    ) as s
  );
end
$$;
comment on function app.sum_by_currency is 'Amounts [{currency, minor}] added up: {"EUR": "12.00"}.';

create or replace function app.reconcile(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  most constant int := 100;
  account constant app.accounts := app.require_account(context, arguments ->> 'account', 'account');
  first_day date := app.parse_date(context, arguments ->> 'from', 'from');
  last_day date := app.parse_date(context, arguments ->> 'to', 'to');
  account_currency constant text := coalesce(account.currency, (
    select l.currency from app.statement_lines as l where l.account_id = account.id
    group by l.currency order by count(*) desc, l.currency limit 1
  ), context.base_currency);
  bank jsonb;
  books jsonb;
  found record;
begin
  select coalesce(first_day, min(l.booked_on)), coalesce(last_day, max(l.booked_on)) into first_day, last_day
  from app.statement_lines as l
  where l.account_id = account.id;
  if last_day < first_day then
    perform app.fail('invalid_argument.period_backwards', jsonb_build_object('from', first_day, 'to', last_day), 'to');
  end if;
  with lines as materialized (
    select l.*, paid.ids
    from app.statement_lines as l
    cross join lateral (
      -- What was merged since stands as the record that it is part of.
      select array_agg(coalesce(p.merged_into, p.id)) as ids
      from app.statement_links as k
      join app.payments as p on p.id = k.payment_id
      where k.line_id = l.id and (p.deleted_at is null
        or exists (select from app.payments as o where o.id = p.merged_into and o.deleted_at is null))
      offset 0
    ) as paid
    where l.account_id = account.id and l.booked_on between first_day and last_day and l.kind in ('expense', 'refund')
  ), linked as (
    select p.id, coalesce(p.merged_into, p.id) as standing
    from app.statement_links as k join app.payments as p on p.id = k.payment_id
    where k.organization_id = context.organization_id
  ), loose as (
    select p.*, case when p.currency = account_currency then p.amount_minor else p.charged_minor end as minor
    from app.payments as p

    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.deleted_at is null and account_currency in (p.currency, p.charged_currency)
      and p.id not in (select l.id from linked as l union all select l.standing from linked as l)
  ), counted as (
    select p.id, case
        when p.currency = l.currency then p.amount_minor
        when p.charged_currency = l.currency then p.charged_minor
      end * case p.direction when 'out' then 1 else -1 end as minor, l.currency
    from (select distinct u.id, l.currency from lines as l cross join lateral unnest(l.ids) as u (id)) as l
    join app.payments as p on p.id = l.id
  )
  select
    (
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'date', b.booked_on, 'text', b.text, 'amount', app.format_amount(b.amount_minor, b.currency),
        'currency', b.currency, 'kind', b.kind, 'skipped', nullif(b.is_skipped, false)
      )) order by b.booked_on, b.id)
      from (select * from lines as l where l.ids is null order by l.booked_on, l.id limit most) as b
    ) as bank_only,
    (select count(*) from lines as l where l.ids is null) as bank_count,
    (
      select jsonb_agg(jsonb_build_object(
        'id', app.shown_id(b.id), 'date', b.paid_on, 'name', e.name, 'amount',
        app.format_amount(b.minor, account_currency),
        'currency', account_currency, 'is_refund', case b.direction when 'refund' then true end
      ) order by b.paid_on, b.recorded_seq)
      from (select * from loose as p order by p.paid_on, p.recorded_seq limit most) as b
      cross join lateral (select e.name from app.expenses as e where e.id = b.expense_id offset 0) as e
    ) as books_only,
    (select count(*) from loose) as books_count,
    (select count(*) from lines as l where l.ids is not null) as linked_count,
    (
      select jsonb_agg(jsonb_build_object('currency', l.currency, 'minor',
        case l.direction when 'out' then l.amount_minor else -l.amount_minor end))
      from lines as l
    ) as bank,
    (
      select jsonb_agg(jsonb_build_object('currency', a.currency, 'minor', a.minor))
      from (
        select c.currency, c.minor from counted as c
        union all
        select account_currency, case p.direction when 'out' then p.minor else -p.minor end from loose as p
      ) as a
    ) as books
  into found;
  bank := coalesce(found.bank, '[]');
  books := coalesce(found.books, '[]');
  return jsonb_build_object('data', jsonb_build_object(
    'account', account.name, 'from', first_day, 'to', last_day, 'bank_only', coalesce(found.bank_only, '[]'),
    'books_only', coalesce(found.books_only, '[]'),
    'balance', account.balance - 'change_id',
    'bank_only_count', found.bank_count, 'books_only_count', found.books_count, 'linked_count', found.linked_count,
    'totals', jsonb_build_object(
      'bank', app.sum_by_currency(bank), 'books', app.sum_by_currency(books),
      'difference', app.sum_by_currency(bank || (
        select coalesce(jsonb_agg(b || jsonb_build_object('minor', -(b ->> 'minor')::bigint)), '[]')
        from jsonb_array_elements(books) as b
      ))
    )
  ));
end
$$;
comment on function app.reconcile is
  'Tool reconcile: data {account, from, to, bank_only, books_only, their counts, linked_count, balance?, totals}.';

-- schemas/expenses/write_preferences.sql

-- update_settings: the owner's preferences, the organization's, which mails each member gets, and the categories, which
-- are everybody's.
-- Every change of either can be undone: categories by their rows, preferences as if they were one row of the
-- organization (read_preferences), of which a change keeps only what it changed.

create or replace function app.read_preferences(organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'timezone', p.timezone, 'base_currency', o.base_currency, 'own_only', o.own_only, 'email_enabled',
      p.email_enabled,
      'default_lead_days', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email, 'closed_through',
      o.closed_through,
      'mails', (select jsonb_object_agg(m.user_id, m.mails) from identity.memberships as m where m.organization_id
        = o.id)
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = read_preferences.organization_id
  );
end
$$;
comment on function app.read_preferences is
  'What of the owner, the organization and its members'' mails update_settings can change, as one row with the '
  'organization''s id.';

create or replace function app.shared_preferences() returns text[]
language sql immutable
  return array['base_currency', 'closed_through', 'own_only'];
comment on function app.shared_preferences is
  'Preferences that are the organization''s, not its owner''s own: what the right settings:write is about.';

create or replace function app.narrow_mails(value jsonb, key text, wanted jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case when key <> 'mails' then value else (
    select jsonb_object_agg(m.key, m.value) from jsonb_each(value) as m where wanted -> 'mails' ? m.key
  ) end;
end
$$;
comment on function app.narrow_mails is 'A preference; of everybody''s mails those that a change is about.';

create or replace function app.write_preferences(organization_id text, wanted jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  before constant jsonb := app.read_preferences(organization_id);
  change constant text := nullif(current_setting('app.change_id', true), '');
  after jsonb;
begin
  -- Without the right to it nothing is written: row-level security passes over it. The base
  -- currency reaches every payment by its foreign key, and values it anew.
  update identity.profiles as p
  set timezone = coalesce(wanted ->> 'timezone', p.timezone),
    email_enabled = coalesce((wanted ->> 'email_enabled')::boolean, p.email_enabled),
    default_lead_days = coalesce((wanted ->> 'default_lead_days')::smallint, p.default_lead_days),
    hide_amounts_in_email = coalesce((wanted ->> 'hide_amounts_in_email')::boolean, p.hide_amounts_in_email),
    updated_at = app.instant()
  from identity.organizations as o
  where o.id = write_preferences.organization_id and p.user_id = o.owner_id and p.user_id = (select auth.uid())
    and not before @> wanted;
  update identity.organizations as o set base_currency = wanted ->> 'base_currency', updated_at = app.instant()
  where o.id = write_preferences.organization_id and o.base_currency <> wanted ->> 'base_currency';
  update identity.organizations as o set own_only = (wanted ->> 'own_only')::boolean, updated_at = app.instant()
  where o.id = write_preferences.organization_id and o.own_only <> (wanted ->> 'own_only')::boolean;
  update identity.memberships as m set mails = wanted -> 'mails' ->> m.user_id::text
  where m.organization_id = write_preferences.organization_id and m.user_id = (select auth.uid())
    and m.mails <> wanted -> 'mails' ->> m.user_id::text;
  update identity.organizations as o
  set closed_through = (wanted ->> 'closed_through')::date, updated_at = app.instant()
  where o.id = write_preferences.organization_id and wanted ? 'closed_through'
    and o.closed_through is distinct from (wanted ->> 'closed_through')::date;
  after := app.read_preferences(organization_id);
  if wanted ? 'mails' and not after -> 'mails' @> (wanted -> 'mails') then
    perform app.fail('forbidden_role.mails');
  end if;
  if not after @> (wanted - 'mails') then
    if after @> (wanted - app.shared_preferences()) then
      perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
    end if;
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  end if;
  if change is not null and after <> before then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    select change, write_preferences.organization_id, 'settings', write_preferences.organization_id,
      jsonb_object_agg(b.key, app.narrow_mails(b.value, b.key, wanted)),
      jsonb_object_agg(b.key, app.narrow_mails(after -> b.key, b.key, wanted))
    from jsonb_each(before) as b
    where b.value is distinct from after -> b.key;
  end if;
end
$$;
comment on function app.write_preferences is
  'Sets the preferences that are given, and keeps for the undo what changed; ends the tool with forbidden_role for '
  'whoever may not set one of them.';

create or replace function app.change_preferences(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  reminders constant jsonb := coalesce(arguments -> 'reminders', '{}');
  closed_through constant date := app.parse_closed_through(context, arguments ->> 'closed_through');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(arguments ->> 'timezone'), 'base_currency', arguments -> 'base_currency', 'own_only',
    arguments -> 'own_only', 'email_enabled',
    reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email',
    reminders -> 'hide_amounts_in_email',
    'mails',
    case when reminders ? 'my_mails' then jsonb_build_object(context.actor_id, reminders -> 'my_mails') end
  )) || case when arguments ? 'closed_through' then jsonb_build_object('closed_through', closed_through)
    else '{}' end;
  before constant jsonb := app.read_preferences(context.organization_id);
begin
  if wanted = '{}' then
    return '{}';
  end if;
  if context.role <> 'owner' and wanted - 'mails' - app.shared_preferences() <> '{}' then
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  elsif wanted ?| app.shared_preferences() and not identity.may('settings:write') then
    perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
  end if;
  if wanted ? 'timezone' and not identity.is_timezone(wanted ->> 'timezone') then
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)),
      'timezone');
  end if;
  if wanted ? 'base_currency' then
    perform app.currency_exponent(wanted ->> 'base_currency', 'base_currency');
  end if;
  if closed_through > coalesce((before ->> 'closed_through')::date, '-infinity') then
    perform app.prepare_closing(context, closed_through);
  end if;
  perform app.write_preferences(context.organization_id, wanted);
  return (
    -- That no month is closed any more is a fact as well, and no fact is null.
    select coalesce(jsonb_object_agg(w.key, case
      when w.key = 'mails' then reminders -> 'my_mails' when w.value = 'null' then '""' else w.value end), '{}')
    from jsonb_each(wanted) as w
    where not before -> w.key @> w.value
  );
end
$$;
comment on function app.change_preferences is
  'Sets the preferences in the arguments of update_settings; answers what changed, as {name: new value}.';

create or replace function app.require_category(context app.context, name text, field text) returns app.categories
language plpgsql stable set search_path = '' as $$
declare
  category app.categories;
begin
  select * into category from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(require_category.name))
    order by c.is_private desc limit 1;
  if not found then
    perform app.fail_without_category(app.clean_text(require_category.name), field);
  end if;
  return category;
end
$$;
comment on function app.require_category is
  'The category of a name, archived or not; ends the tool with category_not_found when there is none.';

-- schemas/expenses/describe_budgets.sql

create type app.budget_state as (
  budget app.budgets,
  category text,
  from_on date,
  to_on date,
  carried_minor numeric,
  spent_minor numeric,
  available_minor numeric,
  is_partial boolean
);
comment on type app.budget_state is
  'A budget in one of its months or years: available is what may be spent in it, what was carried over included. '
  'Partial '
  'is what has payments that cannot be converted.';

create or replace function app.read_budgets(context app.context, day date, category_ids text[] default null)
  returns setof app.budget_state
language plpgsql stable set search_path = '' as $$
declare
  everything constant app.expense_filter := app.parse_expense_filter(context, '{}');
begin
  return query
    with live as (
      select b as budget, b.currency, b.category_id, b.per, b.amount_minor, b.carries_over, c.name as category,
        date_trunc(b.per, day)::date as from_on,
        (date_trunc(b.per, day) + ('1 ' || b.per)::interval)::date - 1 as to_on,
        date_trunc(b.per, b.starts_on)::date as counted_from
      from app.budgets as b
      left join app.categories as c on c.id = b.category_id
      where b.deleted_at is null and c.archived_at is null
        and (category_ids is null or b.category_id = any (category_ids))
    ),
    -- Each period is summed once, however many budgets it has.
    windows as (
      select l.currency, l.from_on, l.to_on from live as l
      union
      select l.currency, l.counted_from, l.from_on - 1 from live as l
      where l.carries_over and l.counted_from < l.from_on
    ),
    sums as materialized (
      select w.currency, w.from_on, w.to_on, s.groups, s.is_partial
      from windows as w
      cross join lateral
        jsonb_populate_record(everything, jsonb_build_object('from_on', w.from_on, 'to_on', w.to_on)) as f
      cross join lateral app.sum_spending(context, f, null, null, array['category'], w.currency) as s
    ),
    spent as (
      select l.budget, s.to_on < l.from_on as is_past, s.is_partial and (
          -- In the base currency it is known whose they are.
          l.category_id is null or l.currency <> context.base_currency or exists (
            select from app.payments as p
            where p.category_id = l.category_id and p.paid_on between s.from_on and s.to_on and p.base_minor is null
              and p.deleted_at is null
          )
      ) as is_partial, (
          select coalesce(sum(g.minor), 0) from unnest(s.groups) as g
          where l.category_id is null or g.key_1 = l.category_id
      ) as minor
      from live as l
      join sums as s on s.currency = l.currency
        and (s.from_on, s.to_on) in ((l.from_on, l.to_on), (l.counted_from, l.from_on - 1))
    )
    select l.budget, l.category, l.from_on, l.to_on, carried.minor, s.minor,
      l.amount_minor + coalesce(carried.minor, 0),
      s.is_partial
    from live as l
    cross join lateral (
      select sum(s.minor) filter (where not s.is_past) as minor,
        coalesce(sum(s.minor) filter (where s.is_past), 0) as past_minor, bool_or(s.is_partial) as is_partial
      from spent as s where (s.budget).id = (l.budget).id
    ) as s
    cross join lateral (
      select case when l.carries_over and l.counted_from <= l.from_on then l.amount_minor * (
        case l.per when 'year' then extract(year from l.from_on) - extract(year from l.counted_from)
        else app.month_of(l.from_on) - app.month_of(l.counted_from) end
      ) - s.past_minor end as minor
    ) as carried;
end
$$;
comment on function app.read_budgets is
  'The budgets of these categories (without: all, and those of everything), in the month and year of a day.';

create or replace function app.describe_budgets(context app.context, day date, category_ids text[] default null)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'category', s.category, 'per', (s.budget).per, 'from', s.from_on, 'to', s.to_on,
      'amount', app.format_minor((s.budget).amount_minor, c.exponent), 'currency', c.code,
      'carried', app.format_minor(s.carried_minor, c.exponent),
      'spent', app.format_minor(s.spent_minor, c.exponent),
      'left', app.format_minor(s.available_minor - s.spent_minor, c.exponent),
      'used_percent', case when s.available_minor > 0 then trunc(s.spent_minor * 100 / s.available_minor) end,
      'is_partial', case when s.is_partial then true end
    )) order by (s.budget).per, lower(s.category) nulls first)
    from app.read_budgets(context, day, category_ids) as s
    join app.currencies as c on c.code = (s.budget).currency
  );
end
$$;
comment on function app.describe_budgets is
  'app.read_budgets in words of the contract: [{category?, per, from, to, amount, currency, carried?, spent, left, '
  'used_percent?, is_partial?}], null for none.';

create or replace function app.change_budget(context app.context, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  unit constant text := coalesce(change ->> 'per', 'month');
  category constant app.categories :=
    case when change ? 'category' then app.require_category(context, change ->> 'category', 'budget.category') end;
  first_day constant date := date_trunc(unit, context.today::timestamp)::date;
  minor constant bigint := app.parse_amount(change ->> 'amount', context.base_currency, 'budget.amount');
  budget app.budgets;
begin
  if category.archived_at is not null then
    perform app.fail_without_category(category.name, 'budget.category');
  end if;
  select * into budget from app.budgets as b
  where b.organization_id = context.organization_id and b.category_id is not distinct from category.id
    and b.per = unit and b.deleted_at is null
  for update;
  if change ->> 'action' = 'remove' then
    if budget.id is null then
      perform app.fail('not_found.budget', jsonb_build_object('category', category.name, 'per', unit),
        'budget.category');
    end if;
    update app.budgets as b set deleted_at = context.at where b.id = budget.id;
  elsif minor is null then
    perform app.fail('invalid_argument.budget_amount_missing', field => 'budget.amount');
  else
    insert into app.budgets as b (organization_id, category_id, per, amount_minor, currency, carries_over, starts_on)
    values (
      context.organization_id, category.id, unit, minor, context.base_currency,
      coalesce((change ->> 'carry_over')::boolean, budget.carries_over, false), first_day
    )
    on conflict (organization_id, coalesce(category_id, ''), per) where deleted_at is null
    do update set amount_minor = excluded.amount_minor, currency = excluded.currency,
      carries_over = excluded.carries_over
    where (b.amount_minor, b.currency, b.carries_over)
      is distinct from (excluded.amount_minor, excluded.currency, excluded.carries_over);
  end if;
  return jsonb_strip_nulls(jsonb_build_object('action', change ->> 'action', 'category', category.name, 'per', unit)
    || case when change ->> 'action' = 'set'
      then jsonb_build_object(
        'amount', app.format_amount(minor, context.base_currency), 'currency', context.base_currency
      )
      else '{}' end);
end
$$;
comment on function app.change_budget is
  'Sets or removes the budget of a category, or of everything, in the base currency: the facts of it {action, '
  'category?, per, amount?, currency?}.';

-- schemas/expenses/update_settings.sql

create or replace function app.change_category(context app.context, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  action constant text := change ->> 'action';
  wanted constant text := app.clean_text(change ->> 'name');
  new_name constant text := app.clean_text(change ->> 'new_name');
  category app.categories;
  target app.categories;
  moved int;
  merged_name text;
  left_bills text[];
  -- As many as an import writes: all of them are kept for the undo.
  max_moved constant int := 2000;
begin
  if wanted is null or lower(coalesce(case action when 'create' then wanted else new_name end, '')) = 'uncategorized'
    then
    perform app.fail('invalid_argument.category_without_name', field => 'category.name');
  elsif action = 'rename' and new_name is null then
    perform app.fail('invalid_argument.new_name_missing', jsonb_build_object('name', wanted), 'category.new_name');
  elsif action = 'merge' and app.clean_text(change ->> 'into') is null then
    perform app.fail('invalid_argument.merge_target_missing', jsonb_build_object('name', wanted), 'category.into');
  end if;

  case action
    when 'create' then
      category.id := app.find_category(context, wanted, 'category.name', true);
    when 'rename' then
      select * into target from app.categories as c
        where c.organization_id = context.organization_id and lower(c.name) = lower(new_name);
      select * into category from app.categories as c
        where c.organization_id = context.organization_id and lower(c.name) = lower(wanted)
        order by c.is_private desc limit 1;
      if category.id is null and target.id is not null then
        -- Asked for again after it was done.
        category := target;
      elsif target.id is not null and target.id <> category.id then
        perform app.fail('duplicate.category', jsonb_build_object('name', target.name), 'category.new_name');
      else
        category := app.require_category(context, wanted, 'category.name');
        update app.categories as c set name = new_name where c.id = category.id and c.name <> new_name;
      end if;
    when 'merge' then
      category := app.require_category(context, wanted, 'category.name');
      target := app.require_category(context, change ->> 'into', 'category.into');
      if target.archived_at is not null or target.id = category.id then
        perform app.fail(
          'invalid_argument.cannot_merge', jsonb_build_object('name', category.name, 'into', target.name),
          'category.into'
        );
      end if;
      select count(*) into moved
        from (select from app.expenses as e where e.category_id = category.id and e.deleted_at is null
        limit max_moved + 1) as e;
      if moved > max_moved then
        perform app.fail('invalid_argument.too_many_to_merge', jsonb_build_object(
          'most', max_moved, 'name', category.name, 'into', target.name
        ), 'category.name');
      end if;
      update app.expenses as e set category_id = target.id where e.category_id = category.id and e.deleted_at is null;
      get diagnostics moved = row_count;
      -- Where both are private and not, each may have had a rule for the same words.
      update app.payee_rules as r set deleted_at = context.at
        where r.category_id = category.id and r.deleted_at is null and exists (
          select from app.payee_rules as o
          where o.category_id = target.id and o.words = r.words and o.deleted_at is null
        );
      update app.payee_rules as r set category_id = target.id
        where r.category_id = category.id and r.deleted_at is null;
      update app.categories as c set archived_at = context.at where c.id = category.id and c.archived_at is null;
      merged_name := category.name;
      category := target;
    when 'archive' then
      category := app.require_category(context, wanted, 'category.name');
      update app.categories as c set archived_at = context.at where c.id = category.id and c.archived_at is null;
      left_bills := array(
        select e.name from app.expenses as e
        where e.category_id = category.id and e.kind = 'bill' and e.status in ('active', 'paused')
          and e.deleted_at is null order by e.recorded_seq
      );
    when 'make_private', 'make_shared' then
      if not identity.may('settings:write') then
        perform app.fail('forbidden_role.private_category', app.list_who_may('settings:write'));
      end if;
      category := app.require_category(context, wanted, 'category.name');
      if exists (
        select from app.categories as c
        where c.organization_id = context.organization_id and lower(c.name) = lower(category.name)
          and c.id <> category.id and c.is_private = (action = 'make_private')
      ) then
        perform app.fail('duplicate.category', jsonb_build_object('name', category.name), 'category.name');
      end if;
      update app.categories as c set is_private = (action = 'make_private')
        where c.id = category.id and c.is_private <> (action = 'make_private');
  end case;
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'id', c.id, 'name', c.name, 'private', case when c.is_private then true end, 'archived',
      case when c.archived_at is not null then true end, 'moved', moved,
      'left_bills', to_jsonb(nullif(left_bills, '{}')),
      'facts',
      jsonb_build_object('action', action, 'name',
        coalesce(merged_name, case action when 'rename' then wanted else c.name end), 'into', c.name, 'moved', moved)
    ))
    from app.categories as c
    where c.id = category.id
  );
end
$$;
comment on function app.change_category is
  'Creates, renames, merges (at most 2,000 expenses) or archives a category, makes it private or shares it: {id, name, '
  'private?, archived?, moved?, left_bills?, facts}. What was spent in an archived one stays there; deleted expenses '
  'keep theirs.';

create or replace function app.count_values(organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'moved', count(*), 'without_rate', count(*) filter (where p.base_minor is null),
      'pending', count(*) filter (where not p.is_final)
    )
    from app.payments as p
    where p.organization_id = count_values.organization_id and p.deleted_at is null
  );
end
$$;
comment on function app.count_values is
  'How many payments have a value in the base currency, {moved, without_rate, pending}: those that no rate is known '
  'for, and those that wait for one.';

create or replace function app.update_settings(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  category constant jsonb :=
    case when arguments ? 'category' then app.change_category(context, arguments -> 'category') end;
  changed constant jsonb := app.change_preferences(context, arguments);
  budget jsonb;
  rules jsonb;
  revalued jsonb;
  open_dates jsonb;
  warnings jsonb := '[]';
begin
  select * into context from app.read_context(context.at);
  if arguments ? 'budget' then
    budget := app.change_budget(context, arguments -> 'budget');
  end if;
  if arguments ? 'payee_rules' then
    rules := app.change_payee_rules(context, arguments -> 'payee_rules');
  end if;
  if (arguments #>> '{reminders,email_enabled}' = 'true' or arguments #>> '{reminders,my_mails}' <> 'none')
    and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if arguments #>> '{reminders,my_mails}' <> 'none'
    and exists (select from identity.profiles as p where p.user_id = context.actor_id and not p.email_enabled) then
    warnings := warnings || app.warning('mails_off', '{}');
  end if;
  if changed ? 'base_currency' then
    revalued := app.count_values(context.organization_id);
    warnings := warnings
      || app.warning('revalued', revalued || jsonb_build_object('currency', context.base_currency));
  end if;
  open_dates := case when changed ->> 'closed_through' <> ''
    then app.list_open_dates(context, (changed ->> 'closed_through')::date) end;
  if open_dates is not null then
    warnings := warnings || app.warning('open_in_closed_month', jsonb_build_object('dates', open_dates));
  end if;
  if category ? 'left_bills' then
    warnings := warnings || app.warning('category_in_use', jsonb_build_object(
      'category', category -> 'name', 'names', category -> 'left_bills'
    ));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'settings', app.read_settings(context), 'category', category - array['facts', 'left_bills'],
      'budgets', case when budget is not null then coalesce(app.describe_budgets(context, context.today), '[]') end,
      'payee_rules', case when rules is not null then app.list_payee_rules() end, 'revalued', revalued
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'changed', nullif(changed, '{}'), 'category', category -> 'facts', 'budget', budget,
      'payee_rules', rules
    ))
  );
end
$$;
comment on function app.update_settings is
  'Tool update_settings: data {settings, category?, budgets?, payee_rules?, revalued?}.';

-- schemas/providers/take_over_statements.sql

-- What becomes of a provider's answer: the one rule by which an amount is taken over, for the job as for the tool. A
-- statement of a month is the amount of the bill's date due in the month after it. It never changes what is paid, nor
-- without a person's eyes what it would change a lot.

create or replace function app.statement_minor(amount text, currency text) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select a.minor
    from app.currencies as c
    cross join lateral (select amount::numeric * 10::numeric ^ c.exponent as minor
      where amount ~ '^\d{1,16}(\.\d{1,16})?$') as a
    where c.code = currency and a.minor = trunc(a.minor) and a.minor <= 1000000000000000
  );
end
$$;
comment on function app.statement_minor is
  'The amount of a statement in minor units; null when it is none: negative, too large, too fine, in no currency in '
  'use.';

create or replace function app.usual_statement(occurrence app.expense_occurrences) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select round(percentile_cont(0.5) within group (order by o.expected_minor)::numeric)
    from (
      select o.expected_minor
      from app.expense_occurrences as o
      where o.expense_id = occurrence.expense_id and o.id <> occurrence.id and o.currency = occurrence.currency
        and o.expected_minor is not null and o.status <> 'skipped'
      order by abs(o.scheduled_on - occurrence.scheduled_on), o.scheduled_on
      limit 6
    ) as o
  );
end
$$;
comment on function app.usual_statement is
  'The median of the six amounts nearest to a due date; null when none is known.';

create or replace function app.judge_statement(occurrence app.expense_occurrences, amount_minor bigint, currency text,
  usual_minor bigint) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when occurrence.id is null then 'not_due'
    when occurrence.expected_minor = amount_minor and occurrence.currency = currency
      and occurrence.status <> 'skipped' then null
    when occurrence.status <> 'open' then occurrence.status
    when currency <> occurrence.currency then 'other_currency'
    when amount_minor = 0 then 'nothing_to_pay'
    when occurrence.paid_minor > amount_minor then 'paid'
    when abs(amount_minor - usual_minor) > usual_minor * 0.4 then 'unusual'
  end;
end
$$;
comment on function app.judge_statement is
  'Why a statement is not the amount of a due date without anybody looking at it; null when it is.';

create or replace function app.find_statement_date(bill app.expenses, kept app.provider_statements, due_month date)
  returns app.expense_occurrences
language plpgsql stable set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
begin
  select * into occurrence
  from app.expense_occurrences as o
  -- By the schedule: a date that the weekend rule moves into another month is still that of its own.
  -- The bill may have been made a fixed one while its provider was asked.
  where o.expense_id = bill.id and bill.amount_mode = 'variable' and bill.deleted_at is null
    and o.scheduled_on >= due_month and o.scheduled_on < due_month + interval '1 month'
  -- A corrected statement is about the date that the first one was about.
  order by o.id is distinct from kept.occurrence_id, o.status <> 'open', o.due_on
  limit 1;
  return occurrence;
end
$$;
comment on function app.find_statement_date is
  'The date of a bill in a month that a statement is about: that of the statement kept before, else the first open '
  'one; null when it is not due then, or has no amounts to fetch.';

create or replace function app.write_statement_date(context app.context, bill app.expenses, due_month date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- What has passed has its row, or is not ours to watch.
  n constant int :=
    greatest(app.schedule_index(bill, greatest(due_month, bill.tracked_from)), app.due_index(bill, context.today));
begin
  if bill.status = 'active' and bill.amount_mode = 'variable' and bill.deleted_at is null
    and n <= coalesce(app.last_index(bill), n) and app.scheduled_on(bill, n) < due_month + interval '1 month' then
    perform app.materialize_occurrences(bill, n, n);
  end if;
end
$$;
comment on function app.write_statement_date is
  'Makes the row of a bill''s date in a month that has none yet: it follows the current date, which the weekend rule '
  'moved into that month, or whose day is still the last of the month before.';

create or replace function app.missing_months(link app.provider_links, last_month date) returns date[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select distinct m.month
    from app.expense_occurrences as o
    cross join lateral (select (date_trunc('month', o.scheduled_on) - interval '1 month')::date as month) as m
    where o.organization_id = link.organization_id and o.expense_id = link.expense_id
      -- With the last month, a year.
      and o.scheduled_on >= last_month - interval '10 months' and o.scheduled_on < last_month + interval '1 month'
      and (
        o.status = 'open' and o.expected_minor is null
        or o.status = 'paid' and exists (
          select from app.payments as p where p.occurrence_id = o.id and p.is_estimate and p.deleted_at is null
        )
      )
      -- What was said is no news, whatever a person made of it; but its date may have been made anew.
      and not exists (
        select from app.provider_statements as s
        where s.link_id = link.id and s.period = m.month
          and (s.status = 'ignored' or s.status <> 'superseded' and s.occurrence_id is not null)
      )
    order by m.month desc
  );
end
$$;
comment on function app.missing_months is
  'The eleven months before the last one, latest first, as far as a date of the bill waits for its statement: it has '
  'no '
  'amount, or was paid with an estimate.';

create or replace function app.sync_fact(code text, params jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('code', code, 'params', jsonb_strip_nulls(params));
end
$$;
comment on function app.sync_fact is
  'What became of asking a provider, as a code of a closed list with its facts; the words are TypeScript''s.';

-- schemas/providers/keep_statement.sql

create or replace function app.settle_estimate(context app.context, estimate app.payments, amount_minor bigint)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.payments as p set amount_minor = settle_estimate.amount_minor, is_estimate = false
  where p.id = estimate.id;
end
$$;
comment on function app.settle_estimate is
  'Makes a payment that was recorded with an estimate one of the real amount.';

create or replace function app.keep_statement(context app.context, link app.provider_links, bill app.expenses,
  period date, said jsonb, is_asked_for boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  due_month constant date := period + interval '1 month';
  statement app.provider_statements;
  kept app.provider_statements;
  occurrence app.expense_occurrences;
  old_minor bigint;
  is_new boolean;
  lost_its_occurrence boolean;
  is_taken boolean;
  found_date app.expense_occurrences;
  estimate app.payments;
begin
  statement.amount_minor := app.statement_minor(said ->> 'amount', said ->> 'currency');
  statement.currency := said ->> 'currency';
  statement.due_on := said ->> 'due_on';
  statement.payload_sha256 := encode(sha256(convert_to(
    concat_ws('|', statement.amount_minor, statement.currency, coalesce(statement.due_on::text, '')), 'UTF8'
  )), 'hex');
  perform app.refresh_bill(bill.id, context.today);
  select * into kept from app.provider_statements as s
  where s.link_id = link.id and s.period = keep_statement.period and s.status <> 'superseded' for update;
  occurrence := app.find_statement_date(bill, kept, due_month);
  if occurrence.id is null then
    perform app.write_statement_date(context, bill, due_month);
    occurrence := app.find_statement_date(bill, kept, due_month);
  end if;
  old_minor := occurrence.expected_minor;
  found_date := occurrence;
  select * into estimate from app.payments as p
  where p.occurrence_id = occurrence.id and p.is_estimate and p.deleted_at is null
    and p.amount_minor = occurrence.paid_minor and occurrence.status = 'paid'
    -- In a closed month it stands, and a person hears of the difference.
    and not app.is_closed(p.organization_id, p.paid_on);
  if estimate.id is not null then
    -- What was recorded in its place does not stand in the way of the real amount.
    occurrence.status := 'open';
    occurrence.paid_minor := 0;
  end if;
  statement := app.rejudge_statement(statement, occurrence);
  is_new := kept.payload_sha256 is distinct from statement.payload_sha256;
  lost_its_occurrence := kept.id is not null and kept.occurrence_id is null;
  -- The same again is no news: what a person made of it stands, until a person asks for it. It is for a date that was
  -- made anew since.
  is_taken := statement.reason is null
    and (occurrence.expected_minor is distinct from statement.amount_minor or estimate.id is not null)
    and (is_new or (is_asked_for or lost_its_occurrence) and occurrence.amount_source <> 'override');
  if is_new or is_taken or lost_its_occurrence and kept.status <> 'ignored' then
    update app.provider_statements as s set status = 'superseded', reason = null where s.id = kept.id and is_new;
    insert into app.provider_statements as s (
      organization_id, link_id, period, amount_minor, currency, due_on, payload_sha256, status, reason, usual_minor,
      occurrence_id, fetched_at
    ) values (
      link.organization_id, link.id, period, statement.amount_minor, statement.currency,
      statement.due_on, statement.payload_sha256,
      case statement.reason when 'not_due' then 'ignored'
        else case when statement.reason is null then 'applied' else 'needs_review' end end,
      statement.reason, statement.usual_minor, occurrence.id, context.at
    )
    on conflict on constraint provider_statements_link_id_period_payload_sha256_key do update
      set status = excluded.status, reason = excluded.reason, usual_minor = excluded.usual_minor,
        occurrence_id = excluded.occurrence_id, fetched_at = excluded.fetched_at;
  end if;
  if is_taken then
    if estimate.id is not null then
      perform app.settle_estimate(context, estimate, statement.amount_minor);
    end if;
    update app.expense_occurrences as o
    set expected_minor = statement.amount_minor, amount_source = 'provider',
      status = case when o.paid_minor = statement.amount_minor then 'paid' else 'open' end,
      closed_at = case when o.paid_minor = statement.amount_minor then context.at end
    where o.id = occurrence.id;
    perform app.pay_awaited(bill, found_date, context.today);
    perform app.refresh_bill(bill.id, context.today);
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'status',
    case when is_taken then 'updated' when statement.reason is null or statement.reason = 'not_due' then 'unchanged'
      else 'needs_review' end,
    'due_on', occurrence.due_on, 'old', app.format_amount(old_minor, occurrence.currency),
    'new', app.format_amount(statement.amount_minor, statement.currency), 'currency', statement.currency,
    'usual', app.format_amount(statement.usual_minor, occurrence.currency), 'reason', statement.reason,
    'said', case
      when is_taken and estimate.id is not null then
        app.sync_fact('corrected', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on))
      when is_taken then app.sync_fact('taken', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on))
      when bill.amount_mode <> 'variable' then app.sync_fact('same_amount', jsonb_build_object('name', bill.name))
      when statement.reason = 'not_due' then
        app.sync_fact('not_due', jsonb_build_object('name', bill.name, 'month', to_char(due_month, 'YYYY-MM')))
      when statement.reason is not null then app.sync_fact('question', jsonb_build_object(
        'name', bill.name, 'provider', app.provider_name(link), 'reason', statement.reason
      ))
      when occurrence.expected_minor is distinct from statement.amount_minor then
        app.sync_fact('set_by_hand', jsonb_build_object('name', bill.name))
      else app.sync_fact('unchanged', jsonb_build_object('name', bill.name))
    end
  ));
end
$$;
comment on function app.keep_statement is
  'Keeps a statement {amount, currency, due_on?} of a month and takes its amount over unless app.judge_statement says '
  'otherwise: {status: updated, unchanged or needs_review, due_on?, old?, new, currency, usual?, reason?, said}. The '
  'same statement again changes nothing, but when a person asks for it.';

create or replace function app.keep_answer(context app.context, link app.provider_links, period date, answer jsonb,
  is_asked_for boolean, is_last boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Null for a statement.
  code constant text := case
    when answer ->> 'outcome' <> 'statement' then coalesce(answer ->> 'code', 'upstream')
    when app.statement_minor(answer ->> 'amount', answer ->> 'currency') is null then 'bad_shape'
  end;
  -- How a link stands is told by the month that ended last.
  is_current constant boolean := period >= date_trunc('month', context.at at time zone 'UTC') - interval '1 month';
  bill app.expenses;
begin
  update app.provider_links as l
  set provider_name = coalesce(answer ->> 'provider_name', l.provider_name),
    last_success_period
      = case when code is null then greatest(l.last_success_period, period) else l.last_success_period end,
    last_error_code = case when is_current then code else l.last_error_code end,
    consecutive_failures = case when not is_current then l.consecutive_failures
      when code is null or code = 'not_ready' then 0 else l.consecutive_failures + 1 end,
    backlog
      = case when code is null or code = 'not_ready' then array_remove(l.backlog, period) else l.backlog end,
    status = case when code = 'auth' then 'needs_reauth' else l.status end,
    -- At most until the next run, whatever they ask for, and an hour when they do not say.
    ask_after
      = case when code = 'rate_limited'
      then context.at + least(coalesce((answer ->> 'retry_after')::int, 3600), 82800) * interval '1 second' end,
    asked_at = context.at, lease_token = case when not is_last then l.lease_token end,
    leased_until = case when not is_last then l.leased_until end, updated_at = context.at
  where l.id = link.id
  returning l.* into link;
  select * into strict bill from app.expenses as e where e.id = link.expense_id;
  return jsonb_build_object('bill_id', bill.id, 'name', bill.name) || case
    when code is null then app.keep_statement(context, link, bill, period, answer, is_asked_for)
    else jsonb_build_object(
      'status', case code when 'not_ready' then 'not_ready' when 'auth' then 'needs_reauth' else 'failed' end, 'code',
      code,
      'said', app.sync_fact(
        case when code in ('not_ready', 'auth', 'rate_limited', 'no_adapter') then code else 'failed' end,
        jsonb_build_object('name', bill.name, 'provider', app.provider_name(link), 'month', to_char(period, 'YYYY-MM'))
      )
    )
  end;
end
$$;
comment on function app.keep_answer is
  'Keeps what became of asking a provider for a month, {outcome: "statement", amount, currency, due_on?} or {outcome: '
  '"failed", code, retry_after?}: {bill_id, name, status, said, …}. Whoever calls it holds the lease, which the last '
  'answer ends.';

-- schemas/providers/sync_bill_amounts.sql

-- sync_bill_amounts: the database's part of fetching amounts from providers, in two calls. The first says which links
-- may be asked now and leases them, so that nobody else asks at the same time and none is asked twice in an hour; the
-- second keeps what came.

create or replace function app.describe_unasked(context app.context, bill app.expenses, link app.provider_links,
  statement_month date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  provider constant text := app.provider_name(link);
  -- Where the owner's month begins before that of the providers, which count in UTC.
  is_over constant boolean := statement_month + interval '1 month' <= context.at at time zone 'UTC';
begin
  return (
    select
      jsonb_build_object('bill_id', bill.id, 'name', bill.name, 'status', u.status, 'said',
      app.sync_fact(u.code, jsonb_build_object(
      'name', bill.name, 'provider', provider, 'status', bill.status, 'month', to_char(statement_month, 'YYYY-MM')
      )))
    from (
      select case
        when link.id is null then array['failed', 'not_connected']
        when link.status = 'needs_reauth' then array['needs_reauth', 'auth']
        when link.status <> 'active' then array['failed', 'connection_not_ready']
        when bill.status <> 'active' then array['failed', 'bill_inactive']
        when bill.amount_mode <> 'variable' then array['failed', 'same_amount_not_asked']
        when not is_over then array['not_ready', 'not_ready']
        when link.ask_after > context.at then array['failed', 'rate_limited']
        when link.leased_until > context.at then array['unchanged', 'being_asked']
        when link.asked_at > context.at - interval '1 hour' then array['unchanged', 'asked_lately']
        else array['unchanged', 'not_asked_yet']
      end as kind
    ) as k
    cross join lateral (select k.kind[1] as status, k.kind[2] as code) as u
  );
end
$$;
comment on function app.describe_unasked is
  'The answer for a bill whose provider is not asked now: {bill_id, name, status, said}.';

create or replace function app.sync_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text[] := array(select jsonb_array_elements_text(arguments -> 'bill_ids'));
  due_month constant text := coalesce(arguments ->> 'period', to_char(context.today, 'YYYY-MM'));
  -- The month that the statement is of: the one before the bill is due.
  statement_month date;
  missing text;
  asked text[] := '{}';
  result jsonb;
begin
  if not identity.organization_has_feature(context.organization_id, 'bills:variable', context.at) then
    perform app.fail('feature_not_in_plan.providers', jsonb_build_object(
      'organization', context.organization_name,
      'details', jsonb_build_object('feature', 'bills:variable', 'required_plan', 'team')
    ));
  end if;
  if due_month !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or due_month > to_char(context.today, 'YYYY-MM') then
    perform app.fail('date_out_of_range.month_to_come', jsonb_build_object('month', due_month), 'period');
  end if;
  statement_month := (due_month || '-01')::date - interval '1 month';
  select w into missing from unnest(wanted) as w
  where not exists (select from app.expenses as e where e.id = w and e.kind = 'bill' and e.deleted_at is null);
  if found then
    perform app.fail(
      'not_found.bill', jsonb_build_object('id', missing, 'organization', context.organization_name), 'bill_ids'
    );
  end if;

  -- Chosen once: a plan that chose for each link anew would choose others each time, since the first are leased by
  -- then.
  with chosen as materialized (
    select c.id
    from app.provider_links as c
    join app.expenses as e on e.id = c.expense_id
    where c.organization_id = context.organization_id and c.status = 'active'
      and (wanted = '{}' or c.expense_id = any (wanted))
      and e.status = 'active' and e.amount_mode = 'variable' and e.deleted_at is null
        and statement_month + interval '1 month' <= context.at at time zone 'UTC'
      and (c.asked_at is null or c.asked_at <= context.at - interval '1 hour')
      and (c.ask_after is null or c.ask_after <= context.at)
        and (c.leased_until is null or c.leased_until <= context.at)
    order by c.asked_at nulls first, c.id
    limit 20
    for update of c skip locked
  ), free as (
    update app.provider_links as l
    -- That they were asked is noted with the answers: should the second call fail, they wait for their lease to end and
    -- not for an hour.
    set lease_token = gen_random_uuid(), leased_until = context.at + interval '90 seconds',
      backlog = case when arguments ? 'period' then l.backlog else app.missing_months(l, statement_month) end
    from chosen as c
    where l.id = c.id
    returning l.id
  )
  select coalesce(array_agg(id), '{}') into asked from free;

  select jsonb_build_object(
    'bills', coalesce(jsonb_agg(app.describe_unasked(context, e, l, statement_month) order by e.name collate "C", e.id)
      filter (where l.id is null or l.id <> all (asked)), '[]'),
    'pending', (
      select jsonb_agg(to_jsonb(p) - array['name', 'place'] order by p.place, p.name collate "C", p.link_id)
      from (
        select e.name, l.id as link_id, l.provider_key, l.lease_token, m.period, m.place
        from app.provider_links as l
        join app.expenses as e on e.id = l.expense_id
        cross join lateral unnest(
          statement_month || case when arguments ? 'period' then '{}' else l.backlog end
        ) with ordinality as m (period, place)
        where l.id = any (asked)
        order by m.place, e.name collate "C", l.id
        limit 60
      ) as p
    )
  ) into result
  from app.expenses as e
  left join app.provider_links as l on l.expense_id = e.id and l.status <> 'revoked'
  where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
    and (e.id = any (wanted) or wanted = '{}' and l.id is not null);
  return jsonb_build_object('data', result);
end
$$;
comment on function app.sync_bill_amounts is
  'First call of tool sync_bill_amounts: data {bills, pending? [{link_id, provider_key, lease_token, period}]}, period '
  'being the first of the month of a statement: without an argument period also months before that lack an amount. '
  'bills is the answer for those that are not asked; 20 links and 60 months at most are at once.';

create or replace function app.store_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bills jsonb := coalesce(arguments -> 'bills', '[]');
  result jsonb;
  stored jsonb;
  link app.provider_links;
  updated text[] := '{}';
  is_last boolean;
begin
  for result, is_last in
    select r.value, row_number() over (partition by r.value ->> 'link_id' order by r.place desc) = 1
    from jsonb_array_elements(arguments -> 'results') with ordinality as r (value, place)
    order by r.place
  loop
    select * into link from app.provider_links as l
    where l.id = result ->> 'link_id' and l.lease_token = (result ->> 'lease_token')::uuid and l.status = 'active'
    for update;
    if found then
      stored := app.keep_answer(context, link, (result ->> 'period')::date, result -> 'answer', true,
        is_last) - array['code', 'reason'];
    else
      -- It took so long that another call asked, or the connection ended meanwhile.
      select jsonb_build_object(
        'bill_id', e.id, 'name', e.name, 'status', 'failed', 'said',
        app.sync_fact('connection_changed', jsonb_build_object('name', e.name))
      )
      into stored
      from app.provider_links as l join app.expenses as e on e.id = l.expense_id
      where l.id = result ->> 'link_id';
    end if;
    bills := bills || stored;
    if stored ->> 'status' = 'updated' and stored ->> 'name' <> all (updated) then
      updated := updated || (stored ->> 'name');
    end if;
  end loop;
  return jsonb_build_object('data', jsonb_build_object('bills', bills), 'facts', jsonb_build_object('names', updated));
end
$$;
comment on function app.store_bill_amounts is
  'Second call of tool sync_bill_amounts, with what came of asking: results [{link_id, lease_token, period, answer}], '
  'answer as app.keep_answer takes it. Answers data {bills}.';

-- schemas/calendar/change_calendar.sql

create or replace function public.create_calendar(user_id uuid, organization_id text, token_hash text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return '{"outcome":"refused"}';
  end if;
  insert into identity.calendar_feeds as f (organization_id, user_id, token_hash, created_at)
  select m.organization_id, m.user_id, decode(create_calendar.token_hash, 'hex'), at
  from identity.memberships as m
  where m.organization_id = create_calendar.organization_id and m.user_id = create_calendar.user_id
  -- Of two presses the later one's address stays, which is the one that the browser shows.
  on conflict on constraint calendar_feeds_pkey do update
    set token_hash = excluded.token_hash, show_amounts = false, created_at = excluded.created_at
    where f.created_at <= excluded.created_at;
  if not found then
    return '{"outcome":"refused"}';
  end if;
  perform identity.record_event('calendar.created', user_id, organization_id, '{}', at);
  return '{"outcome":"created"}';
end
$$;
comment on function public.create_calendar is
  'Gives a member a calendar address, without amounts, which ends the one before: {"outcome":"created"}, or '
  '{"outcome":"refused"} for who is no member, without the feature, and for the earlier of two presses.';

create or replace function public.change_calendar(user_id uuid, organization_id text, show_amounts boolean,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.calendar_feeds as f set show_amounts = change_calendar.show_amounts
  where f.organization_id = change_calendar.organization_id and f.user_id = change_calendar.user_id;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('calendar.changed', user_id, organization_id,
    jsonb_build_object('show_amounts', show_amounts), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_calendar is
  'Shows or hides the amounts in a person''s calendar: {"outcome":"changed"} or {"outcome":"unknown"}.';

create or replace function public.end_calendar(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from identity.calendar_feeds as f
  where f.organization_id = end_calendar.organization_id and f.user_id = end_calendar.user_id;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('calendar.ended', user_id, organization_id, '{}', at);
  return '{"outcome":"ended"}';
end
$$;
comment on function public.end_calendar is
  'Ends a person''s calendar address: {"outcome":"ended"} or {"outcome":"unknown"}.';

-- schemas/calendar/read_calendar.sql

-- What a calendar app is told: the open dates of a year, read as the person whose address it has.

create or replace function app.list_calendar(show_amounts boolean, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  context constant app.context := app.read_context(at);
  -- An app reads all of it each time.
  most_overdue constant int := 100;
  most_to_come constant int := 500;
  last_day date := context.today + 365;
  nearer_day date;
begin
  if context.organization_id is null then
    return null;
  end if;
  -- Where many bills fill it sooner, a year of dates is not computed for its first month: at least 5 times as fast with
  -- 5,000 bills.
  foreach nearer_day in array array[context.today + 31, context.today + 92] loop
    if (select sum(f.dates) from app.future_counts(context, nearer_day) as f) > most_to_come then
      last_day := nearer_day;
      exit;
    end if;
  end loop;
  return (
    with open_dates as (
      select o.expense_id, o.due_on, o.expected_minor, o.remaining_minor
      from app.open_occurrences(context) as o
      union all
      select f.expense_id, f.due_on, f.expected_minor, f.expected_minor
      from app.future_occurrences(context, last_day) as f
      where f.due_on <= last_day
    ), days as (
      -- By the weekend rule several dates of a bill may be due on one day, which is one entry.
      select d.expense_id, d.due_on, count(*) as dates, sum(d.remaining_minor) as known_minor,
        count(*) filter (where d.remaining_minor is null) as unknown, array_agg(d.expected_minor) as expected,
        d.due_on < context.today as is_overdue,
        row_number() over (
          partition by d.due_on < context.today order by abs(d.due_on - context.today), d.expense_id
        ) as place
      from open_dates as d
      group by d.expense_id, d.due_on
    ), shown as (
      select d.*, b.name, b.autopay, b.currency, greatest(b.updated_at, kept.changed_at) as changed_at,
        case when d.unknown = 0 then d.known_minor else coalesce(d.known_minor, 0) + d.unknown * usual.minor end
          as minor,
        d.unknown > 0 or b.amount_mode = 'estimated' and b.amount_minor = any (d.expected) as is_estimate
      from (
        select * from days as d
        where d.place <= case when d.is_overdue then most_overdue else most_to_come end
      ) as d
      join app.expenses as b on b.id = d.expense_id
      cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
      left join lateral (
        select max(o.updated_at) as changed_at
        from app.expense_occurrences as o
        where o.organization_id = context.organization_id and o.expense_id = d.expense_id and o.due_on = d.due_on
          -- A weekend moves a date by two days at most; this is what the index is by.
          and o.scheduled_on between d.due_on - 4 and d.due_on + 4
      ) as kept on true
    )
    select jsonb_build_object(
      'organization', context.organization_name,
      'country', (select p.country from identity.profiles as p where p.user_id = context.actor_id),
      'is_cut', last_day < context.today + 365
        or exists (select from days as d where d.place > most_to_come and not d.is_overdue),
      'dates', coalesce(jsonb_agg(jsonb_build_object(
        'bill_id', s.expense_id, 'name', s.name, 'due_on', s.due_on, 'dates', s.dates, 'autopay', s.autopay,
        'changed_at', s.changed_at
      ) || case when show_amounts and s.minor is not null then jsonb_build_object(
        'amount', app.format_amount(s.minor, s.currency), 'currency', s.currency, 'is_estimate', s.is_estimate
      ) else '{}' end order by s.due_on, s.name, s.expense_id), '[]')
    )
    from shown as s
  );
end
$$;
comment on function app.list_calendar is
  'What is overdue and what falls due within a year in the organization of the request''s claims: {organization, '
  'country, is_cut, dates: [{bill_id, name, due_on, dates, autopay, changed_at, amount?, currency?, is_estimate?}]}, '
  'the nearest; null for who is no member.';

create or replace function public.read_calendar(token_hash text, limits jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  feed identity.calendar_feeds;
  wait integer := 0;
  calendar jsonb;
begin
  select * into feed from identity.calendar_feeds as f where f.token_hash = decode(read_calendar.token_hash, 'hex');
  if feed.user_id is null then
    wait := oauth.draw_quotas(limits -> 'caller', at);
    return case when wait = 0 then '{"outcome": "unknown"}' else oauth.limited(wait) end;
  end if;
  if limits ? 'feed' then
    wait := oauth.draw_from_bucket(
      format('calendar_feed:%s:%s', feed.organization_id, feed.user_id), (limits #>> '{feed,at_most}')::integer,
      (limits #>> '{feed,seconds}')::double precision, at
    );
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  if not identity.organization_has_feature(feed.organization_id, 'ai:connector', at) then
    return '{"outcome": "unknown"}';
  end if;
  perform set_config('app.at', at::text, true),
    set_config('request.jwt.claims', jsonb_build_object(
      'sub', feed.user_id, 'role', 'authenticated', 'organization_id', feed.organization_id
    )::text, true),
    set_config('request.jwt.claim.sub', feed.user_id::text, true);
  calendar := app.list_calendar(feed.show_amounts, at);
  return case when calendar is null then '{"outcome": "unknown"}'
    else jsonb_build_object('outcome', 'ok', 'calendar', calendar) end;
end
$$;
comment on function public.read_calendar is
  'What is due, by the SHA-256 in hex of the token in a calendar''s address, read as its person under row-level '
  'security: {outcome: ok | unknown | limited, calendar?, retry_after?}. Membership, suspension and plan are judged '
  'each time, and who may not read it any more hears what a stranger hears. limits: {"caller": quotas of wrong '
  'tokens, "feed": {"at_most","seconds"}}.';

-- As app.run_tool: from here on the person acts.
alter function app.list_calendar set role = 'authenticated';
alter function app.list_calendar set jit = off;

-- schemas/jobs/purge_expired.sql

-- Scheduled work inside the database: what is past its time is removed once a day. The jobs that run in functions come
-- with those.

-- Hosted projects have the extensions and create them here; the embedded stack brings stand-ins of the same functions,
-- and where neither is, a schedule that never runs would be worse than a migration that fails. Being available is not
-- enough: pg_cron must also be preloaded.
do $$
begin
  if to_regprocedure('cron.schedule(text, text, text)') is null
    and exists (select from pg_available_extensions where name = 'pg_cron') then
    create extension if not exists pg_cron;
  end if;
  if to_regprocedure('net.http_get(text, jsonb, jsonb, integer)') is null
    and exists (select from pg_available_extensions where name = 'pg_net') then
    create extension if not exists pg_net with schema extensions;
  end if;
  if to_regprocedure('cron.schedule(text, text, text)') is null
    or to_regprocedure('net.http_get(text, jsonb, jsonb, integer)') is null then
    raise exception 'This database has no pg_cron or no pg_net, which the scheduled jobs need'
      using hint = 'Enable both extensions, or start the embedded stack, which brings stand-ins.';
  end if;
end
$$;

create or replace function jobs.purge_expired(at timestamptz, most int default 50000) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  removed jsonb := '{}';
  count bigint;
  what text;
  target text;
  condition text;
begin
  -- Definer, so that the role purger may do this and nothing else. $1 is the instant before which what was kept goes.
  for what, target, condition in
    values
      -- What carries its own end was given it by the same table.
      (null, 'app.idempotency_keys', 'expires_at < $1'),
      (null, 'app.import_batches', 'expires_at < $1'),
      -- Whom somebody once invited is nobody's business for longer than it takes to explain an old link.
      ('invitations', 'identity.invitations', 'expires_at < $1'),
      (null, 'identity.handovers', 'expires_at < $1'),
      -- A code and a consent page are good for minutes and a signature refuses them afterwards; tokens keep answering a
      -- replay for a while.
      ('used_codes', 'oauth.used_codes', 'code_expires_at < $1'),
      ('consents', 'oauth.consents', 'approved_at < $1'),
      ('tokens', 'oauth.tokens', 'expires_at < $1'),
      -- Of a replay its person must have heard before it is forgotten; an alert that nobody looks at for half a year
      -- will not be.
      ('grants', 'oauth.grants', 'least(expires_at, revoked_at) < $1
        and (coalesce(revocation_reason, '''') not like ''%_replayed'' or alert_seen_at is not null)'),
      ('unseen_alerts', 'oauth.grants', 'revoked_at < $1'),
      -- Documents of clients are read again when they are wanted; a bucket that is full says nothing.
      ('client_documents', 'oauth.client_documents', 'fresh_until < $1'),
      (null, 'oauth.rate_buckets', 'full_at < $1'),
      ('attempts', 'identity.attempts', 'not $1 <= any (attempted_at)'),
      -- What a change did goes when it can no longer be undone; that somebody made it stays for the audit. Items first,
      -- so that an import of many rows takes as many runs as it needs.
      ('change_contents', 'app.change_items', 'change_id in (
        select s.id from app.change_sets as s where not s.is_emptied and s.created_at < $1
      )'),
      ('changes', 'app.change_sets', 'created_at < $1'),
      -- A bill takes its occurrences and payments with it. What was merged is known again for as long as the payment
      -- that stayed, and goes with it.
      ('deleted_records', 'app.payments', 'deleted_at < $1 and merged_into is null'),
      ('deleted_records', 'app.expenses', 'deleted_at < $1
        and not exists (select from app.payments as p where p.expense_id = expenses.id and p.merged_into is not null)'),
      ('proposals', 'app.proposals', 'expires_at < $1'),
      ('job_runs', 'jobs.job_runs', 'finished_at < $1'),
      -- With their log. Longer than a year, so that the last reminder of a yearly bill is still known when the next one
      -- goes out.
      ('digests', 'jobs.reminder_digests', 'created_at < $1'),
      -- What an event decided stands in its subscription, whose clock also refuses it when it comes again.
      ('payment_events', 'billing.payment_events', 'received_at < $1'),
      ('cron_runs', 'cron.job_run_details', 'end_time < $1'),
      -- Never authorized: a client asks within minutes, and one that comes back later registers again. Six days and the
      -- day between two runs are seven. Last of all, since every registration waits for their count while this holds
      -- it.
      ('clients', 'oauth.clients', 'granted_at is null and created_at < $1
        and not exists (select from oauth.grants as g where g.client_id = clients.client_id)')
  loop
    execute
      format('delete from %1$s where ctid = any (array(select ctid from %1$s where %2$s limit $2))', target, condition)
      using at - case when what is null then interval '0' else app.kept_for(what) end, most;
    get diagnostics count = row_count;
    removed := removed || jsonb_build_object(target, count + coalesce((removed ->> target)::bigint, 0));
  end loop;
  update app.change_sets as s set facts = '{}', is_emptied = true
  where s.id = any (array(
    select c.id from app.change_sets as c
    where not c.is_emptied and c.created_at < at - app.kept_for('change_contents')
      and not exists (select from app.change_items as i where i.change_id = c.id)
    order by c.created_at
    limit most
  ));
  get diagnostics count = row_count;
  return removed || jsonb_build_object('emptied_changes', count);
end
$$;
comment on function jobs.purge_expired is
  'Removes what is past its time at an instant, of each table at most so many rows (with what hangs on them), so that '
  'no run holds its locks for long; answers how many by table, and of how many changes the contents went.';

-- schemas/jobs/purge_deleted.sql

-- The purge: what was deleted for good, and the role that alone may do it.
-- Invariants: it removes only what is past its grace, in pages, and each run goes on where the last one ended, however
-- that one ended; nobody who calls a function of ours, service_role included, may call it or do what it does.

-- Nobody signs in with it. Its only right is to execute the functions below, which do what is due at their instant.
do $$
begin
  create role purger nologin noinherit;
exception when duplicate_object or unique_violation then
  null; -- roles are shared by all databases of a server
end
$$;
grant purger to postgres;
grant usage on schema jobs to purger;

create or replace function jobs.purge_organizations(at timestamptz, most int default 50000) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  gone text[] := '{}';
  rows_left int := most;
  organization record;
  target text;
  condition text;
  count int;
begin
  <<organizations>>
  for organization in
    -- Whoever writes there holds it; then it is the next run's.
    select o.id from identity.organizations as o where o.deletes_at <= at order by o.deletes_at, o.id
    for update skip locked
  loop
    continue when not pg_try_advisory_xact_lock(app.books_key(organization.id));
    -- Closed months refuse that what was paid in them goes.
    update identity.organizations as o set closed_through = null
    where o.id = organization.id and o.closed_through is not null;
    -- What others refer to comes last; what hangs on a row goes with it.
    for target, condition in
      values
        ('app.change_items', 'change_id in (select s.id from app.change_sets as s where s.organization_id = $1)'),
        ('app.change_sets', 'organization_id = $1'),
        ('app.import_rows', 'organization_id = $1'),
        ('app.import_batches', 'organization_id = $1'),
        ('app.statement_links', 'organization_id = $1'),
        ('app.statement_lines', 'organization_id = $1'),
        ('app.provider_statements', 'organization_id = $1'),
        ('app.provider_links', 'organization_id = $1'),
        ('jobs.reminder_log', 'organization_id = $1'),
        ('jobs.notice_log', 'organization_id = $1'),
        ('app.payments', 'organization_id = $1'),
        ('app.expense_occurrences', 'organization_id = $1'),
        ('app.expenses', 'organization_id = $1'),
        ('app.idempotency_keys', 'organization_id = $1'),
        ('billing.payment_events', '$1 in (organization_id, claimed_organization_id)
          or subscription_id in (select s.id from billing.subscriptions as s where s.organization_id = $1)')
    loop
      execute
        format('delete from %1$s where ctid = any (array(select ctid from %1$s where %2$s limit $2))', target,
          condition)
        using organization.id, rows_left;
      get diagnostics count = row_count;
      rows_left := rows_left - count;
      exit organizations when rows_left <= 0;
    end loop;
    -- Few by now: what is left hangs on the organization or its members.
    delete from oauth.rate_buckets as b where strpos(b.key, organization.id) > 0 or exists (
      select from oauth.grants as g where g.organization_id = organization.id and strpos(b.key, g.id::text) > 0
    );
    update jobs.reminder_digests as d set content = null
    where exists (
      select from jsonb_array_elements(d.content -> 'organizations') as o where o ->> 'id' = organization.id
    );
    delete from identity.organizations as o where o.id = organization.id;
    perform identity.record_event('organization.deleted', null, organization.id, '{}', at);
    update identity.audit_events as e set detail = '{}' where e.organization_id = organization.id and e.detail <> '{}';
    gone := gone || organization.id;
  end loop;
  return jsonb_build_object('organizations', cardinality(gone), 'rows', most - greatest(rows_left, 0));
end
$$;
comment on function jobs.purge_organizations is
  'Removes the organizations whose grace is over, at most so many rows: {"organizations": how many are gone, "rows"}. '
  'One that is larger than that takes several runs.';

create or replace function jobs.purge_people(at timestamptz, most int default 500) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  person record;
  gone int := 0;
begin
  for person in
    select p.user_id, p.email from identity.profiles as p
    where p.deletes_at <= at
      -- Who was made an owner meanwhile, or whose organization is still being purged, waits.
      and not exists (select from identity.organizations as o where o.owner_id = p.user_id)
    order by p.deletes_at, p.user_id
    limit most
    for update skip locked
  loop
    -- The identity provider's own notes carry addresses and no foreign key. Not every version of it has them.
    if to_regclass('auth.audit_log_entries') is not null then
      execute
        'delete from auth.audit_log_entries where payload ->> ''actor_id'' = $1 or payload #>> ''{traits,user_id}'' = '
        '$1'
      using person.user_id::text;
    end if;
    if to_regclass('auth.flow_state') is not null then
      execute 'delete from auth.flow_state where user_id = $1' using person.user_id;
    end if;
    delete from oauth.rate_buckets as b where strpos(b.key, person.user_id::text) > 0;
    delete from identity.invitations as i where i.address = lower(person.email);
    -- With the profile, and through it memberships, grants, calendars and mails.
    delete from auth.users as u where u.id = person.user_id;
    delete from identity.profiles as p where p.user_id = person.user_id;
    perform identity.record_event('account.deleted', person.user_id, null, '{}', at);
    update identity.audit_events as e set detail = '{}' where e.actor_id = person.user_id and e.detail <> '{}';
    gone := gone + 1;
  end loop;
  return jsonb_build_object('people', gone);
end
$$;
comment on function jobs.purge_people is
  'Removes the people whose grace is over, with what the identity provider knows of them: {"people": how many}.';

-- Not even the service: these rows go when they are due, and only then.
revoke all on function jobs.purge_expired, jobs.purge_organizations, jobs.purge_people from service_role;
grant execute on function jobs.purge_expired, jobs.purge_organizations, jobs.purge_people to purger;

create or replace function jobs.purge(at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jobs.purge_organizations(at) || jobs.purge_people(at) || jobs.purge_expired(at);
end
$$;
comment on function jobs.purge is 'One run of all three, as the role purger; answers what they answer.';
revoke all on function jobs.purge from service_role;
grant execute on function jobs.purge to purger;
-- Set last, as app.run_tool's: it asks for the role's right to execute.
alter function jobs.purge set role = 'purger';

-- Six times, for what one run leaves.
select cron.schedule('purge-expired', '7-57/10 3 * * *', 'select jobs.purge(now())');

-- schemas/billing/billing_links.sql

-- Provider links follow the plan: the end of it pauses them and deletes nothing, the next payment resumes what it
-- paused. During a trial nothing ends with a plan; once the trial is over nothing is fetched either (app.link_status).

alter table app.provider_links
  add column resumes_as text
    constraint provider_links_resumes_as_known check (resumes_as in ('pending', 'active', 'needs_reauth')),
  add constraint provider_links_resumes_when_paused check (resumes_as is null or status in ('paused', 'revoked'));
comment on column app.provider_links.resumes_as is
  'Set while the link is paused because the organization''s plan ended: what it was. Null when a person paused it, and '
  'then it stays paused.';
create index provider_links_organization_id_idx on app.provider_links (organization_id);

create or replace function app.pause_links_without_plan() returns trigger
language plpgsql set search_path = '' as $$
begin
  if new.plan_status = 'canceled' and coalesce(new.trial_ends_at <= new.updated_at, true) then
    update app.provider_links as l
    set resumes_as = l.status, status = 'paused', updated_at = new.updated_at
    where l.organization_id = new.id and l.status in ('pending', 'active', 'needs_reauth');
  else
    update app.provider_links as l
    set status = l.resumes_as, resumes_as = null, updated_at = new.updated_at
    where l.organization_id = new.id and l.status = 'paused' and l.resumes_as is not null;
  end if;
  return null;
end
$$;

create trigger pause_links_without_plan after update of plan_status on identity.organizations
  for each row
    when (old.plan_status is distinct from new.plan_status and 'canceled' in (old.plan_status, new.plan_status))
  execute function app.pause_links_without_plan();
revoke all on function app.pause_links_without_plan from authenticated, service_role;

-- schemas/providers/connect_providers.sql

-- Connecting a bill to its provider, on the page that the tool update_bill leads to, and what the account page does
-- with a link: pause, resume, remove. What a credential is, and whether the provider takes it, is the functions' part:
-- here are the right to do it, and the rows.

create or replace function app.judge_connection(user_id uuid, bill_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses;
  organization identity.organizations;
  described jsonb;
begin
  select e.* into bill from app.expenses as e where e.id = bill_id and e.kind = 'bill' and e.deleted_at is null;
  select o.* into organization
  from identity.organizations as o
  join identity.memberships as m on m.organization_id = o.id and m.user_id = judge_connection.user_id
  where o.id = bill.organization_id;
  -- Bills of others are as unknown as those that never were.
  if organization.id is null then
    return '{"outcome":"unknown_bill"}';
  end if;
  described := jsonb_build_object(
    'bill', bill.name, 'organization', organization.name, 'organization_id', organization.id,
    'owner_email', (select p.email from identity.profiles as p where p.user_id = organization.owner_id)
  );
  return described || jsonb_build_object('outcome', case
    when organization.owner_id <> user_id then 'not_owner'
    when bill.status not in ('active', 'paused') then 'ended'
    when bill.amount_mode <> 'variable' then 'not_variable'
    when not identity.organization_has_feature(organization.id, 'bills:variable', at) then 'feature_not_in_plan'
    else 'open'
  end);
end
$$;
comment on function app.judge_connection is
  'Whether a person may connect a bill now: {"outcome": open, unknown_bill, not_owner, ended, not_variable or '
  'feature_not_in_plan} with bill, organization and who owns it, all but for an unknown one.';

create or replace function public.open_connection(user_id uuid, bill_id text, provider_key text, quotas jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  judged constant jsonb := app.judge_connection(user_id, bill_id, at);
  link app.provider_links;
  wait integer;
begin
  if judged ->> 'outcome' <> 'open' then
    return judged;
  end if;
  wait := oauth.draw_quotas(quotas, at);
  if wait > 0 then
    return oauth.limited(wait);
  end if;
  select l.* into link from app.provider_links as l where l.expense_id = bill_id and l.status <> 'revoked';
  return judged || jsonb_build_object(
    'link', case when link.id is not null then jsonb_build_object(
      'provider_key', link.provider_key, 'account_label', link.account_label, 'status', link.status
    ) end,
    'link_id', case when link.provider_key = provider_key then link.id else app.new_id('lnk') end
  );
end
$$;
comment on function public.open_connection is
  'What the connect page shows of a bill: app.judge_connection, and when it is open "link" as it is now, or null, and '
  '"link_id", for which the credential is to be sealed. quotas: what trying a credential draws on.';
revoke all on function app.judge_connection from authenticated;

-- schemas/providers/connect_provider.sql

create or replace function public.connect_provider(
  user_id uuid, bill_id text, provider_key text, provider_name text, link_id text, account_label text, envelope jsonb,
  at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  judged constant jsonb := app.judge_connection(user_id, bill_id, at);
  link app.provider_links;
begin
  if judged ->> 'outcome' <> 'open' then
    return judged;
  end if;
  -- Whoever connects the same bill at the same time waits here, or at the one link that a bill may have.
  select l.* into link from app.provider_links as l where l.expense_id = bill_id and l.status <> 'revoked' for update;
  if link.provider_key = provider_key and link.id <> link_id
    or link.id is distinct from link_id
      and exists (select from app.provider_links as l where l.id = link_id) then
    return '{"outcome":"moved"}';
  end if;
  if link.id = link_id then
    -- It may be asked at once; what came of asking with the old credential, should that be under way, is nobody's word
    -- any more.
    update app.provider_links as l
    set status = 'active', resumes_as = null, provider_name = connect_provider.provider_name,
      account_label = connect_provider.account_label,
      last_error_code = null, consecutive_failures = 0, asked_at = null, ask_after = null, lease_token = null,
      leased_until = null,
      updated_at = at
    where l.id = link.id;
  else
    update app.provider_links as l set status = 'revoked', updated_at = at where l.id = link.id;
    insert into app.provider_links (id, organization_id, expense_id, provider_key, provider_name, account_label, status,
      created_at, updated_at)
    values (
      link_id, judged ->> 'organization_id', bill_id, provider_key,
      provider_name,
      account_label, 'active', at, at
    )
    on conflict (expense_id) where status <> 'revoked' do nothing;
    if not found then
      return '{"outcome":"moved"}';
    end if;
  end if;
  insert into app.provider_credentials as c (link_id, envelope, updated_at)
  values (link_id, envelope, at)
  on conflict on constraint provider_credentials_pkey do update set envelope = excluded.envelope,
    updated_at = excluded.updated_at;
  perform identity.record_event(
    case when link.id = link_id then 'provider.reconnected' else 'provider.connected' end, user_id,
      judged ->> 'organization_id',
    jsonb_strip_nulls(jsonb_build_object(
      'link', link_id, 'bill', bill_id, 'provider', provider_key,
      'replaced', case when link.id <> link_id then link.id end
    )), at
  );
  return judged || '{"outcome":"connected"}';
end
$$;
comment on function public.connect_provider is
  'Keeps a tested credential, sealed for link_id: a bill''s link to the same provider gets it, one to another provider '
  'ends. {"outcome":"connected"}, what app.judge_connection answers else, or "moved" when somebody connected the bill '
  'meanwhile and it has to be sealed for another link.';

create or replace function public.change_provider_link(user_id uuid, link_id text, action text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  link app.provider_links;
begin
  select l.* into link
  from app.provider_links as l
  join identity.memberships as m on m.organization_id = l.organization_id and m.user_id = change_provider_link.user_id
  where l.id = link_id
  for update of l;
  if link.id is null then
    return '{"outcome":"unknown_link"}';
  elsif not exists (select from identity.organizations as o
    where o.id = link.organization_id and o.owner_id = user_id) then
    return '{"outcome":"not_owner"}';
  elsif link.status = 'revoked' then
    return '{"outcome":"ended"}';
  end if;
  case action
    when 'pause' then
      -- Also what the plan has paused already: then the next payment does not resume it.
      update app.provider_links as l set status = 'paused', resumes_as = null, updated_at = at
      where l.id = link.id and (l.status <> 'paused' or l.resumes_as is not null);
    when 'resume' then
      if link.resumes_as is not null then
        return '{"outcome":"paused_by_plan"}';
      end if;
      update app.provider_links as l
      set status
        = case when exists (select from app.provider_credentials as c where c.link_id = l.id) then 'active'
        else 'needs_reauth' end,
        updated_at = at
      where l.id = link.id and l.status = 'paused';
    when 'remove' then
      update app.provider_links as l set status = 'revoked', updated_at = at where l.id = link.id;
  end case;
  if found then
    perform identity.record_event(
      case action when 'pause' then 'provider.paused' when 'resume' then 'provider.resumed' else 'provider.removed' end,
        user_id, link.organization_id,
      jsonb_build_object('link', link.id, 'bill', link.expense_id, 'provider', link.provider_key),
      at
    );
  end if;
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_provider_link is
  'action: pause, resume or remove a link, for the owner of its organization: {"outcome":"changed"}, also when it was '
  'so already; "ended" when it was removed before, "paused_by_plan" when only the plan can resume it, "not_owner" or '
  '"unknown_link".';

-- schemas/jobs/call_function.sql

-- How a schedule reaches a function: by its address and the scheduler's secret, both out of the vault.

create or replace function jobs.call_function(slug text) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  site constant text := btrim(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'project_url'));
  -- The first of a list is the one in use; the others are accepted while it is being changed.
  secret constant text := btrim(split_part(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'cron_secret'), ',', 1));
begin
  if coalesce(site, '') = '' or coalesce(secret, '') = '' then
    raise exception 'cannot call %: the vault has no %', slug,
      case when coalesce(site, '') = '' then 'project_url' else 'cron_secret' end
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  begin
    -- In a header: an address ends up in the logs of every server on the way.
    return net.http_get(
      url := site || '/functions/v1/' || slug,
      headers := jsonb_build_object('Authorization', 'Bearer ' || secret),
      -- The platform ends a call after 60 s.
      timeout_milliseconds := 65000
    );
  exception when others then
    -- pg_cron keeps whole errors in cron.job_run_details, and those of pg_net quote the row with the header in it:
    -- only the code may leave.
    raise exception 'cannot call %: pg_net did not take the request (%)', slug, sqlstate;
  end;
end
$$;
comment on function jobs.call_function is
  'Asks for a scheduled function to be called, by its slug; answers the id of the request, whose answer '
  'net._http_response has.';
revoke all on function jobs.call_function from service_role;

-- schemas/jobs/job_runs.sql

-- What the scheduled functions did: one row for each stage of each run.

create table jobs.job_runs (
  id bigint primary key generated always as identity,
  job text not null constraint job_runs_job_known check (job in ('reminders', 'provider-sync')),
  period date not null,
  stage text not null constraint job_runs_stage_format check (stage ~ '^[a-z_]{1,40}$'),
  status text not null constraint job_runs_status_known check (status in ('ok', 'failed')),
  counts jsonb not null default '{}',
  error_code text,
  started_at timestamptz not null,
  finished_at timestamptz not null
);
comment on table jobs.job_runs is
  'Each stage of each run of a scheduled function: when it ran, whether as a whole, and how much it did.';
comment on column jobs.job_runs.period is
  'What the run was about: the day (UTC) of the reminders, the first of the month of a provider sync.';
create index job_runs_latest_idx on jobs.job_runs (job, period, id);
alter table jobs.job_runs enable row level security;
grant select, insert, update, delete on jobs.job_runs to service_role;

create or replace function public.record_job_run(
  job text, period date, stage text, status text, counts jsonb, error_code text, started_at timestamptz,
  finished_at timestamptz
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into jobs.job_runs (job, period, stage, status, counts, error_code, started_at, finished_at)
  values (
    job, period, stage, status, counts,
    error_code, started_at, finished_at
  );
end
$$;
comment on function public.record_job_run is 'Keeps what a stage of a scheduled function did; answers nothing.';

-- schemas/bills/find_rolling_pages.sql

-- Rolling bills forward, many at once: what app.refresh_bill does for one bill, for every recurring bill whose due date
-- has passed. Dates and payments come from the same functions; rows are made from the last roll on, so that the cost
-- follows what is due. No two pages have a due date of a bill in common, and a bill waits for one date only, so that
-- several pages may be rolled at once.

create or replace function jobs.latest_today(at timestamptz) returns date
language sql immutable
  return (at at time zone 'UTC' + interval '14 hours')::date;
comment on function jobs.latest_today is 'The latest calendar date that an instant is anywhere.';

create or replace function jobs.rolled_until(at timestamptz) returns date
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone 'UTC')::date;
  latest date;
begin
  select max(r.period) into latest
  from jobs.job_runs as r
  where r.job = 'reminders' and r.stage = 'roll' and r.status = 'ok' and (r.counts ->> 'complete')::boolean
    and r.period between today - 30 and today;
  -- A complete run leaves nothing behind that had passed everywhere; the day before its own may still be today in the
  -- west. Once a week everything is looked at, whatever was done before.
  return case when extract(isodow from today) <> 1 or latest = today then latest - 1 end;
end
$$;
comment on function jobs.rolled_until is
  'Until which due date no bill can be left to roll; null when that is not known.';

create type jobs.stale_bill as (
  id text,
  place tid,
  due_on date,
  today date
);
comment on type jobs.stale_bill is
  'A bill that waits for a date that has passed: where its row lies, that date, and the date for its owner.';

create or replace function public.find_rolling_pages(at timestamptz, size int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- The date that a bill waits for is always one of an open row. Walked in the order of the index alone, so that
  -- looking costs next to nothing.
  return (
    -- Latest first: what passed yesterday must not wait for years of dates that nobody marked as paid.
    select coalesce(jsonb_agg(jsonb_build_object('from', p.first, 'until', p.until) order by p.place desc), '[]')
    from (
      select c.place, jsonb_build_array(c.due_on, c.expense_id) as first,
        lead(jsonb_build_array(c.due_on, c.expense_id)) over (order by c.place) as until
      from (
        select o.due_on, o.expense_id, row_number() over (order by o.due_on, o.expense_id) - 1 as place
        from app.expense_occurrences as o
        where o.status = 'open'
          and o.due_on between
            coalesce(jobs.rolled_until(find_rolling_pages.at), '-infinity')
            and jobs.latest_today(find_rolling_pages.at) - 1
      ) as c
      where c.place % size = 0
    ) as p
  );
end
$$;
comment on function public.find_rolling_pages is
  'The due dates that have passed and are open, in pages of so many, the latest first: [{"from": the first of the '
  'page,"until": the first of the page after it, or null}]. Pages have nothing in common and may be rolled at once.';

create or replace function jobs.lock_stale_bills(at timestamptz, page jsonb, out stale jobs.stale_bill[],
  out passed_over int) returns record
language plpgsql volatile set search_path = '' as $$
begin
  with waiting as materialized (
    select e.id, e.place, c.due_on, e.today
    from (
      -- Several dates of a bill may fall due on one day, after a weekend.
      select distinct c.due_on, c.expense_id
      from app.expense_occurrences as c
      where c.status = 'open' and c.due_on < jobs.latest_today(lock_stale_bills.at)
        and (c.due_on, c.expense_id) >= ((page #>> '{from,0}')::date, page #>> '{from,1}')
        and (c.due_on, c.expense_id) < (coalesce((page #>> '{until,0}')::date, 'infinity'),
          coalesce(page #>> '{until,1}', ''))
      order by c.due_on, c.expense_id
      offset 0
    ) as c
    cross join lateral (
      select e.id, e.ctid as place, (lock_stale_bills.at at time zone p.timezone)::date as today
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      join identity.profiles as p on p.user_id = o.owner_id
      -- Only bills have a next date. Saying so would let the planner read an index of all bills, where it does not know
      -- yet how many there are.
      where e.id = c.expense_id and e.next_due = c.due_on and e.status = 'active' and e.deleted_at is null
        -- A one-time bill does not roll; one that is paid automatically is over.
        and (e.frequency <> 'once' or e.autopay and e.amount_minor is not null)
        and c.due_on < (lock_stale_bills.at at time zone p.timezone)::date
      offset 0
    ) as e
  )
  select
    coalesce(array_agg((w.id, e.place, w.due_on, w.today)::jobs.stale_bill) filter (where e.place is not null), '{}'),
    count(*) filter (where e.place is null)
  into stale, passed_over
  from waiting as w
  left join lateral (
    select e.ctid as place
    from app.expenses as e
    where e.ctid = w.place and e.id = w.id and e.next_due = w.due_on and e.status = 'active' and e.deleted_at is null
    for no key update of e skip locked
  ) as e on true;
end
$$;
comment on function jobs.lock_stale_bills is
  'The bills of a page that still wait for their passed date, locked, and how many others somebody is writing to: '
  'those may be waiting, or were when this began.';

-- schemas/bills/roll_bills.sql

create or replace function jobs.roll_bills(stale jobs.stale_bill[], at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  rolled int;
  automatic jobs.stale_bill[];
  one jobs.stale_bill;
  bill app.expenses;
begin
  perform set_config('app.change_id', '', true);
  -- The arithmetic stands where the planner writes it into the statement: on the columns of the table, each argument a
  -- column.
  with page as materialized (
    select e.ctid as place, e.id, e.organization_id, e.currency, app.rule_amount(e) as expected_minor, n.first,
      n.current, l.last, next.scheduled_on,
      app.due_on(next.scheduled_on, e.weekend_rule) as due_on, ahead.latest, ahead.open_on,
      case when e.autopay then s end as automatic
    from unnest(stale) as s
    join app.expenses as e on e.ctid = s.place
    cross join lateral (
      -- A weekend moves a date by two days at most.
      select max(o.scheduled_on) as latest, count(*) filter (where o.status <> 'open') as closed,
        min(o.due_on) filter (where o.status = 'open' and o.due_on >= s.today) as open_on
      from app.expense_occurrences as o
      where o.organization_id = e.organization_id and o.expense_id = e.id and o.scheduled_on >= s.today - 2
    ) as ahead
    cross join lateral (
      select app.first_scheduled_due(s.due_on, e.weekend_rule) as passed,
        app.first_scheduled_due(s.today, e.weekend_rule) as today, app.last_index(e) as last
      offset 0
    ) as l
    cross join lateral (
      select greatest(app.schedule_index(e, l.passed) + 1, app.schedule_index(e, e.tracked_from)) as first,
        case when ahead.closed > 0 then (select i from app.open_indexes(e, s.today, 1) as i)
        else greatest(app.schedule_index(e, l.today), app.schedule_index(e, e.tracked_from)) end as current
      offset 0
    ) as n
    cross join lateral (
      select case when n.current <= coalesce(l.last, n.current) then app.scheduled_on(e, n.current) end
      as scheduled_on offset 0) as next
    where e.id = s.id and e.next_due = s.due_on and e.status = 'active'
  ), made as (
    insert into app.expense_occurrences (id, organization_id, expense_id, scheduled_on, due_on, expected_minor,
      currency, created_at, updated_at)
    select app.spell_id('occ', d.bits), d.organization_id, d.expense_id, d.scheduled_on, d.due_on, d.expected_minor,
      d.currency, roll_bills.at, roll_bills.at
    from (
      select p.organization_id, p.id as expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.currency, p.latest,
        app.new_id_bits() as bits
      from page as p
      where p.scheduled_on is not null and p.first <= p.current
      union all
      -- Those that were missed in between.
      select p.organization_id, p.id, d.scheduled_on, app.due_on(d.scheduled_on, e.weekend_rule), p.expected_minor,
        p.currency, p.latest, app.new_id_bits()
      from (
        select p.*, generate_series(p.first, coalesce(least(p.current - 1, p.last), p.last)) as i from page as p
        where p.first <= coalesce(least(p.current - 1, p.last), p.last)
      ) as p
      join app.expenses as e on e.ctid = p.place
      cross join lateral (select app.scheduled_on(e, p.i) as scheduled_on offset 0) as d
    ) as d
    -- Nobody else can make them meanwhile: who writes to a bill's dates locks the bill.
    where d.scheduled_on > d.latest or not exists (
      select from app.expense_occurrences as o
      where o.organization_id = d.organization_id and o.expense_id = d.expense_id and o.scheduled_on = d.scheduled_on
    )
  ), moved as (
    update app.expenses as e set next_due = least(p.open_on, p.due_on) from page as p where e.ctid = p.place
    returning 1
  )
  select (select count(*) from moved), coalesce(array_agg(p.automatic) filter (where p.automatic is not null), '{}')
  into rolled, automatic
  from page as p;
  foreach one in array automatic loop
    select * into bill from app.expenses as e where e.id = one.id;
    -- As it was before: next_due says since when nothing was paid.
    bill.next_due := one.due_on;
    perform app.record_autopay(bill, one.today);
  end loop;
  update app.expenses as e set next_due = null, status = 'ended'
  where e.id in (select a.id from unnest(automatic) as a)
    and not exists (select from app.expense_occurrences as o
      where o.organization_id = e.organization_id and o.expense_id = e.id and o.status = 'open');
  return rolled;
end
$$;
comment on function jobs.roll_bills is
  'Brings bills that are locked and still wait for their passed date to the date of their owners, as app.refresh_bill '
  'does one; answers how many.';

-- Long texts that are done soon: compiling them, or planning them for every page, takes longer than running them.
create or replace function public.roll_bills(at timestamptz, page jsonb) returns jsonb
language plpgsql volatile set search_path = '' set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  stale jobs.stale_bill[];
  one jobs.stale_bill;
  passed_over int;
  advanced int := 0;
  failed jsonb := '[]';
begin
  perform set_config('app.at', at::text, true);
  begin
    select * into stale, passed_over from jobs.lock_stale_bills(at, page);
    advanced := jobs.roll_bills(stale, at);
  exception when others then
    if stale is null then
      raise;
    end if;
    -- One of them cannot be rolled, and must not keep the others from it.
    foreach one in array stale loop
      begin
        perform from app.expenses as e where e.ctid = one.place and e.id = one.id for no key update of e skip locked;
        if not found then
          passed_over := passed_over + 1;
          continue;
        end if;
        advanced := advanced + jobs.roll_bills(array[one], at);
      exception when others then
        failed := failed || jsonb_build_object('ref', one.id, 'code', sqlstate);
      end;
    end loop;
  end;
  return jsonb_build_object('advanced', advanced, 'failed', failed, 'passed_over', passed_over);
end
$$;
comment on function public.roll_bills is
  'Rolls the recurring bills of a page of public.find_rolling_pages() whose due date has passed: '
  '{"advanced","failed":[{"ref","code"}],"passed_over": how many somebody else is writing to, to be looked at again}.';

-- schemas/reminders/tables.sql

-- Reminders: which bills are due for one, the digests that carry them, and the log that keeps each from being sent
-- twice.

-- Which bills' own lead reaches further than the usual ones?
create index expenses_long_lead_idx on app.expenses (id)
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and remind_days_before > 7;
-- And whose?
create index profiles_long_lead_idx on identity.profiles (user_id) where default_lead_days > 7;

-- Which trials end? Which contracts renew about this time of a year, or can be ended, and which yearly bills come
-- again?
create or replace function app.day_of_year(day date) returns int
language sql immutable
  return (extract(month from day)::int - 1) * 31 + extract(day from day)::int - 1;
comment on function app.day_of_year is 'Counts days as if every month had 31: the same for a date in every year.';
create index expenses_trial_ends_on_idx on app.expenses (trial_ends_on)
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and trial_ends_on is not null;
create index expenses_renewal_day_idx on app.expenses (app.day_of_year(renews_on))
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and renews_on is not null;
create index expenses_cancel_day_idx on app.expenses (app.day_of_year(renews_on - notice_days))
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and notice_days is not null;
create index expenses_yearly_day_idx on app.expenses (app.day_of_year(anchor_on))
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and frequency = 'yearly'
    and renews_on is null;

create or replace function identity.reminder_address(profile identity.profiles) returns text
language sql immutable
  return case when (profile).reminder_email_confirmed_at is not null then (profile).reminder_email else (profile).email
    end;
comment on function identity.reminder_address is
  'Where a person''s reminders go: the address they chose once it is confirmed, until then the one they sign in with.';

create table jobs.reminder_batches (
  id uuid primary key,
  lease_token uuid,
  leased_at timestamptz not null,
  next_attempt_at timestamptz not null,
  attempts int not null default 1,
  unsure_since timestamptz
);
comment on table jobs.reminder_batches is
  'Digests that are being sent together: always the same ones, in the same words, until it is known what became of '
  'them.';
comment on column jobs.reminder_batches.lease_token is
  'Who is sending it; still there after next_attempt_at, the sender is gone and nobody knows how far it came.';
comment on column jobs.reminder_batches.unsure_since is 'When it was first sent without an answer.';
create index reminder_batches_next_attempt_at_idx on jobs.reminder_batches (next_attempt_at);

create table jobs.reminder_digests (
  id uuid primary key default gen_random_uuid(),
  recipient_id uuid not null references identity.profiles (user_id) on delete cascade,
  local_on date not null,
  status text not null default 'pending'
    constraint reminder_digests_status_known check (status in ('pending', 'sent', 'dead', 'unknown')),
  batch_id uuid references jobs.reminder_batches (id) on delete set null,
  content jsonb,
  sent_alone boolean not null default false,
  attempts int not null default 0,
  next_attempt_at timestamptz not null,
  failure_code text,
  created_at timestamptz not null,
  closed_at timestamptz,
  unique (recipient_id, local_on),
  constraint reminder_digests_closed_dated check ((status = 'pending') = (closed_at is null))
);
comment on table jobs.reminder_digests is
  'One mail to a person about what falls due, over all their organizations; at most one a local day.';
comment on column jobs.reminder_digests.local_on is
  'The recipient''s date when it was made; one more than the last where they travelled back to a date that had its '
  'digest.';
comment on column jobs.reminder_digests.status is
  'dead: refused for good; unknown: sent, and nobody answered for a day.';
comment on column jobs.reminder_digests.content is
  'What the mail says and to whom, from the first attempt until it is known what became of it.';
-- Which are past their time?
create index reminder_digests_created_at_idx on jobs.reminder_digests (created_at);
create index reminder_digests_batch_id_idx on jobs.reminder_digests (batch_id);
create index reminder_digests_pending_idx on jobs.reminder_digests (next_attempt_at, id)
  where status = 'pending' and batch_id is null;

create table jobs.reminder_log (
  id bigint primary key generated always as identity,
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  due_on date not null,
  snoozed_until date,
  digest_id uuid not null references jobs.reminder_digests (id) on delete cascade,
  sent_at timestamptz,
  voided_at timestamptz,
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint reminder_log_sent_or_void check (sent_at is null or voided_at is null)
);
comment on table jobs.reminder_log is
  'One row for each expense, due date and day that it was snoozed to that a digest reminds the owner of; the reminder '
  'was sent when sent_at says so. A void row stands for nothing.';
comment on column jobs.reminder_log.snoozed_until is 'The day that the reminder was put off to; null when it was not.';
create unique index reminder_log_once_idx
  on jobs.reminder_log (expense_id, due_on, snoozed_until) nulls not distinct where voided_at is null;
create index reminder_log_expense_id_idx on jobs.reminder_log (expense_id, organization_id);
create index reminder_log_digest_id_idx on jobs.reminder_log (digest_id);

create table jobs.notice_log (
  id bigint primary key generated always as identity,
  recipient_id uuid not null references identity.profiles (user_id) on delete cascade,
  organization_id text collate "C" not null,
  expense_id text collate "C",
  budget_id text collate "C" references app.budgets (id) on delete cascade,
  kind text not null
    constraint notice_log_kind_known check (
      kind in (
        'trial', 'cancel_by', 'renewal', 'price_rise', 'awaited', 'overdue', 'due', 'reminder', 'snoozed', 'budget_80',
        'budget_100'
      )
    ),
  about_on date not null,
  tell_on date not null,
  digest_id uuid not null references jobs.reminder_digests (id) on delete cascade,
  sent_at timestamptz,
  voided_at timestamptz,
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint notice_log_sent_or_void check (sent_at is null or voided_at is null),
  constraint notice_log_about_one check ((budget_id is null) = (expense_id is not null)
    and (budget_id is null) = (kind not in ('budget_80', 'budget_100')))
);
comment on table jobs.notice_log is
  'One row for whatever else a digest says once to a person: of a bill or a budget, of a kind, about a date. A void '
  'row stands for nothing.';
comment on column jobs.notice_log.kind is
  'reminder and snoozed: to a member, what the reminder log has a row for to the owner.';
comment on column jobs.notice_log.about_on is 'Of a budget the first day of its month or year.';
comment on column jobs.notice_log.tell_on is 'From when on it is to be said: about a date, more than once.';
create unique index notice_log_once_idx on jobs.notice_log (expense_id, recipient_id, kind, about_on, tell_on)
  where voided_at is null;
create unique index notice_log_budget_once_idx on jobs.notice_log (budget_id, recipient_id, kind, about_on)
  where voided_at is null;
create index notice_log_budget_id_idx on jobs.notice_log (budget_id);
create index notice_log_expense_id_idx on jobs.notice_log (expense_id, organization_id);
create index notice_log_recipient_id_idx on jobs.notice_log (recipient_id);
create index notice_log_digest_id_idx on jobs.notice_log (digest_id);

alter table jobs.reminder_batches enable row level security;
alter table jobs.reminder_digests enable row level security;
alter table jobs.reminder_log enable row level security;
alter table jobs.notice_log enable row level security;
grant select, insert, update, delete on
  jobs.reminder_batches, jobs.reminder_digests, jobs.reminder_log, jobs.notice_log to service_role;

-- Which bills

create or replace function public.count_reminder_candidates(at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(sum(c.bills), 0)
    from (
      select e.organization_id, count(*) as bills
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
        and e.next_due is not null
      group by 1
    ) as c
    where identity.organization_has_feature(c.organization_id, 'reminders:email', at)
  );
end
$$;
comment on function public.count_reminder_candidates is
  'How many active expenses have reminders on and a next due date, in organizations whose plan includes reminder '
  'mails.';

-- schemas/reminders/reminder_due.sql

create or replace function app.hears_all(member identity.memberships) returns boolean
language sql immutable
  return case (member).mails when 'all' then true when 'none' then false else (member).role = 'owner' end;
comment on function app.hears_all is
  'Whether a member is told of all bills and budgets of the organization: the owner, and others who want that.';

create or replace function app.concerns(bill app.expenses, member identity.memberships) returns boolean
language sql immutable
  return app.hears_all(member)
    or (member).mails <> 'none' and coalesce((bill).assignee_id = (member).user_id, false);
comment on function app.concerns is
  'Whether a member is told of a bill of the organization: of each, or of those assigned to them. The only judge of '
  'it.';

create or replace function jobs.wants_mail(recipient identity.profiles) returns boolean
language sql immutable
  return (recipient).email_enabled and identity.reminder_address(recipient) is distinct from (recipient).refused_email;
comment on function jobs.wants_mail is 'Whether a person gets mails, as far as their row says.';

create or replace function jobs.wants_mail_of(bill app.expenses, member identity.memberships,
  recipient identity.profiles)
returns boolean
language sql immutable
  return (bill).kind = 'bill' and (bill).status = 'active' and (bill).deleted_at is null and (bill).reminder_enabled
    and app.concerns(bill, member) and jobs.wants_mail(recipient);
comment on function jobs.wants_mail_of is
  'Whether a bill is one to be reminded of, and a person gets mails of it, as far as their rows say.';

create or replace function jobs.reminders_of(bill_id text, due_on date, member identity.memberships)
returns table (snoozed_until date, digest_id uuid)
language sql stable rows 1
begin atomic
  select l.snoozed_until, l.digest_id
  from jobs.reminder_log as l
  where (member).role = 'owner' and l.expense_id = bill_id and l.due_on = reminders_of.due_on and l.voided_at is null
  union all
  select case l.kind when 'snoozed' then l.tell_on end, l.digest_id
  from jobs.notice_log as l
  where (member).role <> 'owner' and l.expense_id = bill_id and l.recipient_id = (member).user_id
    and l.kind in ('reminder', 'snoozed') and l.about_on = reminders_of.due_on and l.voided_at is null;
end;
comment on function jobs.reminders_of is
  'The digests that remind a member of a due date: the owner''s by the reminder log, others'' by the notice log.';

-- Parsed when it was created, and inlined. A window and not a day: a missed day is caught up. Who snoozes beyond the
-- due date is reminded on the day they chose, though the bill waits for its next date by then.
create or replace function jobs.reminder_due(bill app.expenses, due_on date, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (snoozed_until date)
language sql stable rows 1
begin atomic
  select c.snoozed_until
  from (select (at at time zone (recipient).timezone)::date as today) as t
  -- Looked up for each bill, as is the log: more than 20 and 1.5 times as fast on tables that were never analyzed.
  cross join lateral (
    select c.snoozed_until
    from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = reminder_due.due_on
      and c.status = 'open'
    offset 0
  ) as c
  where jobs.wants_mail_of(bill, member, recipient)
    and case
      when reminder_due.due_on >= t.today then reminder_due.due_on = (bill).next_due
        and reminder_due.due_on <= t.today + coalesce((bill).remind_days_before, (recipient).default_lead_days)
          and (c.snoozed_until is null or c.snoozed_until <= t.today)
      else c.snoozed_until > reminder_due.due_on and c.snoozed_until between t.today - 3 and t.today
    end
    and not exists (
      select from jobs.reminders_of((bill).id, reminder_due.due_on, member) as l
      where l.snoozed_until is not distinct from c.snoozed_until
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.reminder_due is
  'One row for a due date of a bill that is inside its lead window at an instant, or was snoozed to that day, and that '
  'no digest reminds a person of yet; else none. Says until when it was snoozed.';

-- Making digests

create or replace function jobs.drop_outdated_digests(at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- With their rows of the log.
  delete from jobs.reminder_digests as d
  using identity.profiles as p
  where d.status = 'pending' and d.batch_id is null and p.user_id = d.recipient_id
    and (d.created_at at time zone p.timezone)::date < (at at time zone p.timezone)::date;
end
$$;
comment on function jobs.drop_outdated_digests is
  'Removes digests of earlier days that surely never left, for today''s to say what they would have said.';

create or replace function jobs.is_unknown(batch jobs.reminder_batches, at timestamptz) returns boolean
language sql immutable
  -- The mail service remembers a key for 24 hours: after that, sending again might say everything twice.
  return coalesce(
    case when (batch).lease_token is null then (batch).unsure_since
      else coalesce((batch).unsure_since, (batch).leased_at) end < at - interval '23 hours', false
  );
comment on function jobs.is_unknown is
  'Whether a batch was sent so long ago without an answer that it must not be sent again.';

create or replace function jobs.void_log(digest_ids uuid[], at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update jobs.reminder_log as l set voided_at = at
    where l.digest_id = any (digest_ids) and l.sent_at is null and l.voided_at is null;
  update jobs.notice_log as l set voided_at = at
    where l.digest_id = any (digest_ids) and l.sent_at is null and l.voided_at is null;
end
$$;
comment on function jobs.void_log is
  'What digests would have said may be said another day: nobody knows whether they arrived.';

create or replace function jobs.give_up_batches(at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
begin
  with closed as (
    update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null,
      content = null
    from jobs.reminder_batches as b
    where b.id = d.batch_id and b.next_attempt_at <= at and d.status = 'pending'
      and jobs.is_unknown(b, at)
    returning d.id
  )
  select array_agg(id) into digest_ids from closed;
  perform jobs.void_log(digest_ids, at);
  delete from jobs.reminder_batches as b
  where b.next_attempt_at <= at
    and not exists (select from jobs.reminder_digests as d where d.batch_id = b.id);
  return coalesce(cardinality(digest_ids), 0);
end
$$;
comment on function jobs.give_up_batches is
  'Ends digests that were sent a day ago without an answer; answers how many.';

-- schemas/reminders/notice_dates.sql

-- What is to be said of a bill besides that it is due: by its own dates, whoever hears it. A window and not a day, as
-- of reminders: a missed day is caught up.

create or replace function app.notice_dates(bill app.expenses, today date, lead_days int)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select 'trial', (bill).trial_ends_on,
    (bill).trial_ends_on - case when (bill).trial_ends_on - today <= 1 then 1 else 7 end
  where (bill).trial_ends_on between today and today + 7
  union all
  select 'cancel_by', c.cancel_by, c.cancel_by - case when c.cancel_by - today <= 3 then 3 else 14 end
  from (
    select case when (bill).notice_days is not null then app.next_cancel_by(bill, today) end as cancel_by
  ) as c
  where c.cancel_by <= today + 14
  union all
  -- As long as it can be ended, the day to do so is what counts.
  select 'renewal', r.renews_on, r.renews_on - 14
  from (
    select case when (bill).renews_on is not null then app.next_renewal(bill, today) end as renews_on
  ) as r
  where r.renews_on <= today + 14 and coalesce(r.renews_on - (bill).notice_days < today, true)
  union all
  -- A yearly bill comes again; its first date is no surprise, and what is due is said as such.
  select 'renewal', (bill).next_due, (bill).next_due - 14
  where (bill).frequency = 'yearly' and (bill).renews_on is null
    and (bill).next_due > app.due_on((bill).anchor_on, (bill).weekend_rule)
    and (bill).next_due between today + lead_days + 1 and today + 14
  union all
  -- A provider is asked until the 10th, and of what is charged daily nobody wants to hear daily.
  select 'awaited', a.due_on, a.due_on + 1
  from app.usual_amount((bill).id, (bill).amount_minor) as usual
  cross join lateral app.awaited_dates((bill).id, (bill).autopay, (bill).next_due, usual.minor, today) as awaited
  cross join lateral unnest(awaited.dates) as a (due_on)
  where (bill).autopay and (bill).amount_mode = 'variable' and not ((bill).frequency = 'daily' and (bill).every = 1)
    and a.due_on >= today - 14
    and (
      extract(day from today) > 10 or a.due_on < date_trunc('month', today)
      or not exists (select from app.provider_links as l where l.expense_id = (bill).id and l.status = 'active')
    )
  union all
  select 'price_rise', (bill).next_due, (bill).next_due - 7
  from app.expense_occurrences as c
  cross join lateral (
    select o.expected_minor, o.currency
    from app.expense_occurrences as o
    where o.organization_id = (bill).organization_id and o.expense_id = (bill).id and o.scheduled_on < c.scheduled_on
      and o.status <> 'skipped' and o.amount_source = 'rule'
    order by o.scheduled_on desc
    limit 1
  ) as earlier
  -- What nobody ever changed costs what it always did.
  where (bill).version > 1 and (bill).amount_mode = 'fixed' and (bill).next_due between today and today + 7
    and c.organization_id = (bill).organization_id and c.expense_id = (bill).id
    and c.scheduled_on between (bill).next_due - 2 and (bill).next_due + 2
    and c.due_on = (bill).next_due and c.status = 'open' and c.amount_source = 'rule'
    and c.currency = earlier.currency and c.expected_minor > earlier.expected_minor;
end;
comment on function app.notice_dates is
  'What is to be said of a bill on a day, and since when: kind (trial, cancel_by, renewal, price_rise, awaited), the '
  'date '
  'it is about, and the day it is to be told from. lead_days: from when on a due date is said anyway.';

-- schemas/reminders/notices_due.sql

create or replace function jobs.notices_due(bill app.expenses, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select n.kind, n.about_on, n.tell_on
  from (select (at at time zone (recipient).timezone)::date as today) as t
  cross join lateral app.notice_dates(bill, t.today,
    coalesce((bill).remind_days_before, (recipient).default_lead_days)) as n
  where jobs.wants_mail_of(bill, member, recipient)
    and not exists (
      select from jobs.notice_log as l
      where l.expense_id = (bill).id and l.recipient_id = (recipient).user_id and l.kind = n.kind
        and l.about_on = n.about_on and l.tell_on = n.tell_on and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.notices_due is
  'What is to be said of a bill to a person at an instant, besides what is due, and that no digest of theirs says yet.';

create or replace function jobs.nudge_due(bill app.expenses, due_on date, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select 'overdue', nudge_due.due_on, w.since + w.step
  from (select (at at time zone (recipient).timezone)::date as today) as t
  cross join lateral (
    select greatest(c.due_on, c.snoozed_until) as since
    from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = nudge_due.due_on
      and c.status = 'open' and not ((bill).autopay and c.expected_minor is null)
    offset 0
  ) as c
  cross join lateral (
    select c.since, case when t.today - c.since < 7 then 3 else 7 + (t.today - c.since - 7) / 14 * 14 end as step
  ) as w
  where jobs.wants_mail_of(bill, member, recipient)
    and t.today - w.since - w.step between 0 and 2 and w.step <= 735
    and app.is_paid_by_autopay(bill, nudge_due.due_on, t.today) is not true
    and not exists (
      select from jobs.notice_log as l
      where l.expense_id = (bill).id and l.recipient_id = (recipient).user_id and l.kind = 'overdue'
        and l.about_on = nudge_due.due_on and l.tell_on = w.since + w.step and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.nudge_due is
  'One row for an open date of a bill that passed, or that a snooze of ended, 3, 7, 21, 35 … days ago or up to two '
  'days '
  'more, and that no digest says again yet to a person; else none. For two years. '
  'What is due every day is not asked about: it is in a mail every day.';

create or replace function jobs.due_again(bill app.expenses, due_on date, member identity.memberships,
  recipient identity.profiles, at timestamptz)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select 'due', due_again.due_on, w.tell_on
  from (select (at at time zone (recipient).timezone)::date as today) as t
  cross join lateral (
    -- The latest of them that has come.
    select max(due_again.due_on - days) as tell_on from unnest((bill).remind_again) as days
    where due_again.due_on - days <= t.today
  ) as w
  cross join lateral (
    select from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = due_again.due_on
      and c.status = 'open' and (c.snoozed_until is null or c.snoozed_until <= t.today)
    offset 0
  ) as c
  where jobs.wants_mail_of(bill, member, recipient) and cardinality((bill).remind_again) > 0
    and w.tell_on is not null and due_again.due_on = (bill).next_due and due_again.due_on >= t.today
    -- After the first one, and unless something was said of it since.
    and exists (select from jobs.reminders_of((bill).id, due_again.due_on, member) offset 0)
    and not exists (
      select from jobs.reminders_of((bill).id, due_again.due_on, member) as l
      join jobs.reminder_digests as d on d.id = l.digest_id
      where d.local_on >= w.tell_on
      offset 0
    )
    and not exists (
      select from jobs.notice_log as l
      where l.expense_id = (bill).id and l.recipient_id = (recipient).user_id and l.kind = 'due'
        and l.about_on = due_again.due_on and l.tell_on >= w.tell_on and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.due_again is
  'One row for a due date of a bill that a digest reminded of, of which a later reminder has come since that no digest '
  'says yet to a person; else none.';

create or replace function jobs.nudged_days(at timestamptz) returns date[]
language sql immutable
  return array(
    select jobs.latest_today(at) - step - late
    from unnest(array[3] || array(select generate_series(7, 735, 14))) as step,
      -- Two days of time zones, and two that may have been missed.
      generate_series(0, 4) as late
  );
comment on function jobs.nudged_days is 'The days since which a date may be overdue that jobs.nudge_due has a row for.';

-- Whose contracts renew, and whose yearly bills come again, is asked by the day of a year: a roll moves no index so.
create or replace function jobs.find_noticed(at timestamptz) returns table (id text)
language plpgsql stable set search_path = '' as $$
declare
  -- Time zones, 14 days ahead, a leap day, and what a weekend moves.
  first constant int := app.day_of_year(jobs.latest_today(at) - 5);
  last constant int := app.day_of_year(jobs.latest_today(at) + 17);
  days constant int[] := array(
    select n % 372 from generate_series(first, last + case when last < first then 372 else 0 end) as n
  );
begin
  return query
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.trial_ends_on between jobs.latest_today(at) - 2 and jobs.latest_today(at) + 7
    union
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.renews_on is not null and app.day_of_year(e.renews_on) = any (days)
    union
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.notice_days is not null and app.day_of_year(e.renews_on - e.notice_days) = any (days)
    union
    select e.id from app.expenses as e
    where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      and e.frequency = 'yearly' and e.renews_on is null and app.day_of_year(e.anchor_on) = any (days)
    union
    select c.expense_id from app.expense_occurrences as c
    where c.status = 'open' and c.expected_minor is null
      and c.due_on between jobs.latest_today(at) - 16 and jobs.latest_today(at)
      and (select e.autopay from app.expenses as e where e.id = c.expense_id);
end
$$;
comment on function jobs.find_noticed is
  'The bills of everybody of which a notice may be due at an instant, by what the indexes know.';

-- schemas/reminders/collect_reminders.sql

-- Not compiled: by its estimated cost it would be, which takes five times as long as running it.
create or replace function public.collect_reminders(at timestamptz, after jsonb default null, size int default 2000)
  returns jsonb
language plpgsql volatile set search_path = '' set jit = 'off' as $$
declare
  nudged constant date[] := jobs.nudged_days(at);
  people uuid[];
  latest jsonb;
  budgets jsonb;
  given_up int := 0;
  digest_count int;
  reminder_count int;
begin
  if after is null then
    perform jobs.drop_outdated_digests(at);
    given_up := jobs.give_up_batches(at);
  end if;
  -- The last pages are of budgets.
  if starts_with(after ->> 1, 'org_') then
    return jobs.collect_budgets(at, after ->> 1, size);
  end if;
  with page as (
    select d.due_on, d.expense_id, r.recipients
    from (
      select c.expense_id, c.due_on, 'due' as reason
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.due_on between jobs.latest_today(at) - 2 and jobs.latest_today(at) + 7
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      -- Who is told earlier than most is looked up by themselves: one long lead must not widen the search for
      -- everybody.
      select c.expense_id, c.due_on, 'due'
      from identity.profiles as l
      join identity.memberships as m on m.user_id = l.user_id and m.mails <> 'none'
      cross join lateral (
        select c.expense_id, c.due_on
        from app.expense_occurrences as c
        where c.organization_id = m.organization_id and c.status = 'open'
          and c.due_on between jobs.latest_today(at) + 8 and jobs.latest_today(at)
            + l.default_lead_days
        offset 0
      ) as c
      where l.default_lead_days > 7 and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select c.expense_id, c.due_on, 'due'
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.snoozed_until between jobs.latest_today(at)
        - 5 and jobs.latest_today(at)
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select e.id, e.next_due, 'due'
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
        and e.remind_days_before > 7
        and e.next_due is not null and (after is null or (e.next_due, e.id) > ((after ->> 0)::date, after ->> 1))
      union
      select c.expense_id, c.due_on, 'overdue'
      from app.expense_occurrences as c
      -- Looked up one by one: a join would read all bills.
      cross join lateral (
        select from app.expenses as e where e.id = c.expense_id and not (e.frequency = 'daily' and e.every = 1) offset 0
      ) as e
      where c.status = 'open' and c.due_on = any (nudged)
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select c.expense_id, c.due_on, 'overdue'
      from app.expense_occurrences as c
      -- Looked up one by one: a join would read all bills.
      cross join lateral (
        select from app.expenses as e where e.id = c.expense_id and not (e.frequency = 'daily' and e.every = 1) offset 0
      ) as e
      where c.status = 'open' and c.snoozed_until = any (nudged)
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      -- Of these not a due date counts; they come last.
      select n.id, 'infinity', 'notice' from jobs.find_noticed(at) as n
      where after is null or ('infinity', n.id) > ((after ->> 0)::date, after ->> 1)
    ) as d
    -- Bill by bill: twice as fast (2.1) on tables that were never analyzed, as after an import.
    cross join lateral (select e as bill from app.expenses as e where e.id = d.expense_id offset 0) as e
    cross join lateral (
      select array_agg(m.user_id) as recipients
      from identity.memberships as m
      -- Person by person: else all of them may be read for each bill.
      cross join lateral (select p as person from identity.profiles as p where p.user_id = m.user_id offset 0) as p
      where m.organization_id = (e.bill).organization_id and app.concerns(e.bill, m) and case d.reason
        when 'due' then exists (select from jobs.reminder_due(e.bill, d.due_on, m, p.person, at))
          or exists (select from jobs.due_again(e.bill, d.due_on, m, p.person, at))
          -- A price rises with a due date, of a bill that somebody changed: asking costs more than all else here.
          or (e.bill).version > 1 and exists (select from jobs.notices_due(e.bill, m, p.person, at))
        when 'overdue' then exists (select from jobs.nudge_due(e.bill, d.due_on, m, p.person, at))
        else exists (select from jobs.notices_due(e.bill, m, p.person, at))
      end
    ) as r
    where r.recipients is not null
    order by d.due_on, d.expense_id
    limit size
  )
  select (select array_agg(distinct u) from page as r cross join unnest(r.recipients) as u),
    (
      select jsonb_build_array(r.due_on, r.expense_id)
      from page as r
      order by r.due_on, r.expense_id
      offset size - 1
      limit 1
    )
  into people, latest;

  -- Whoever is locked here cannot change their time zone under us. Had somebody a digest today? By the calendar they
  -- have now, so that travelling makes neither two digests of a day nor a day without one.
  with free as materialized (
    select p.user_id, (at at time zone p.timezone)::date as today
    from identity.profiles as p
    where p.user_id = any (people) and not exists (
      select from jobs.reminder_digests as d
      where d.recipient_id = p.user_id
        and (d.created_at at time zone p.timezone)::date >= (at at time zone p.timezone)::date
    )
    for no key update of p skip locked
  ), made as (
    insert into jobs.reminder_digests as d (recipient_id, local_on, next_attempt_at, created_at)
    select f.user_id, greatest(f.today, latest_digest.local_on + 1), at, at
    from free as f
    cross join lateral (
      select max(d.local_on) as local_on from jobs.reminder_digests as d where d.recipient_id = f.user_id
    ) as latest_digest
    on conflict (recipient_id, local_on) do nothing
    returning d.id, d.recipient_id
  ), due as materialized (
    select m.id as digest_id, (b.bill).organization_id, (b.bill).id as expense_id, b.due_on, r.snoozed_until,
      o.member
    from made as m
    -- Everything else of theirs that is due, organization by organization: 1.3 and more than 20 times as fast.
    cross join lateral (
      select h as member, p as recipient
      from identity.memberships as h join identity.profiles as p on p.user_id = h.user_id
      where h.user_id = m.recipient_id and h.mails <> 'none'
      offset 0
    ) as o
    cross join lateral (
      select e as bill, d.due_on
      from (
        select e.id, e.next_due as due_on from app.expenses as e
        where e.organization_id = (o.member).organization_id and e.kind = 'bill' and e.status = 'active'
          and e.deleted_at is null
          and e.next_due between jobs.latest_today(at) - 2 and jobs.latest_today(at)
            + 90
        union
        select c.expense_id, c.due_on from app.expense_occurrences as c
        where c.organization_id = (o.member).organization_id and c.status = 'open'
          and c.due_on < jobs.latest_today(at)
          and c.snoozed_until between jobs.latest_today(at)
            - 5 and jobs.latest_today(at)
      ) as d
      join app.expenses as e on e.id = d.id
      offset 0
    ) as b
    cross join lateral jobs.reminder_due(b.bill, b.due_on, o.member, o.recipient, at) as r
  ), logged as (
    insert into jobs.reminder_log (organization_id, expense_id, due_on, snoozed_until, digest_id)
    select d.organization_id, d.expense_id, d.due_on, d.snoozed_until, d.digest_id
    from due as d
    where (d.member).role = 'owner'
    on conflict (expense_id, due_on, snoozed_until) where voided_at is null do nothing
    returning 1
  ), told as (
    insert into jobs.notice_log (recipient_id, organization_id, expense_id, kind, about_on, tell_on, digest_id)
    select (d.member).user_id, d.organization_id, d.expense_id,
      case when d.snoozed_until is null then 'reminder' else 'snoozed' end, d.due_on,
      coalesce(d.snoozed_until, d.due_on), d.digest_id
    from due as d
    where (d.member).role <> 'owner'
    union all
    select m.recipient_id, (b.bill).organization_id, (b.bill).id, n.kind, n.about_on, n.tell_on, m.id
    from made as m
    cross join lateral (
      select h as member, p as recipient
      from identity.memberships as h join identity.profiles as p on p.user_id = h.user_id
      where h.user_id = m.recipient_id and h.mails <> 'none'
      offset 0
    ) as o
    cross join lateral (
      select e as bill from app.expenses as e
      where e.organization_id = (o.member).organization_id and e.kind = 'bill' and e.status = 'active'
        and e.deleted_at is null
        and (e.trial_ends_on is not null or e.renews_on is not null or e.frequency = 'yearly' or e.version > 1
          or e.remind_again <> '{}' or e.autopay and e.amount_mode = 'variable')
      offset 0
    ) as b
    cross join lateral (
      select * from jobs.notices_due(b.bill, o.member, o.recipient, at)
      union all
      select * from jobs.due_again(b.bill, (b.bill).next_due, o.member, o.recipient, at)
    ) as n
    union all
    select m.recipient_id, (b.bill).organization_id, (b.bill).id, n.kind, n.about_on, n.tell_on, m.id
    from made as m
    cross join lateral (
      select h as member, p as recipient
      from identity.memberships as h join identity.profiles as p on p.user_id = h.user_id
      where h.user_id = m.recipient_id and h.mails <> 'none'
      offset 0
    ) as o
    cross join lateral (
      select e as bill, c.due_on
      from app.expense_occurrences as c
      join app.expenses as e on e.id = c.expense_id and not (e.frequency = 'daily' and e.every = 1)
      where c.organization_id = (o.member).organization_id and c.status = 'open' and c.due_on < jobs.latest_today(at)
        and (c.due_on = any (nudged) or c.snoozed_until = any (nudged))
      offset 0
    ) as b
    cross join lateral jobs.nudge_due(b.bill, b.due_on, o.member, o.recipient, at) as n
    on conflict (expense_id, recipient_id, kind, about_on, tell_on) where voided_at is null do nothing
    returning 1
  )
  select (select count(*) from made), (select count(*) from logged) + (select count(*) from told)
  into digest_count, reminder_count;
  if latest is null then
    budgets := jobs.collect_budgets(at, '', size);
    latest := nullif(budgets -> 'next', 'null');
  end if;
  return jsonb_build_object(
    'digests', digest_count + coalesce((budgets ->> 'digests')::int, 0),
    'reminders', reminder_count + coalesce((budgets ->> 'reminders')::int, 0), 'given_up', given_up, 'next', latest
  );
end
$$;
comment on function public.collect_reminders is
  'Makes the digests of one page of the bills, then budgets, that something is to be said of: {"digests","reminders",'
  '"given_up": how many earlier ones ended without an answer,"next": where the following page begins, or null}.';

-- schemas/reminders/budget_notices.sql

-- Budgets of which 80 or 100 percent are used: said once each to whoever hears of all, for a month or year, whatever
-- becomes of the payments. Only organizations that have a budget are looked at.

create or replace function app.passed_budgets(at timestamptz) returns table (state app.budget_state, kinds text[])
language plpgsql stable set search_path = '' as $$
declare
  context constant app.context := app.read_context(at);
  -- What was bought on the last days of a month is known on the first ones of the next.
  days_after constant int := 3;
begin
  return query
    select p.state, p.kinds
    from (
      select distinct on ((s.budget).id, s.from_on) s as state, array(
        select 'budget_' || percent from unnest(array[80, 100]) as percent
        where s.spent_minor > 0 and s.spent_minor * 100 >= s.available_minor * percent
      ) as kinds
      from (
        select distinct date_trunc('month', day)::date as day
        from unnest(array[context.today, context.today - days_after]) as day
      ) as months
      cross join lateral app.read_budgets(context, months.day) as s
      where s.from_on >= (s.budget).starts_on and s.to_on >= context.today - days_after
    ) as p
    where p.kinds <> '{}';
end
$$;
comment on function app.passed_budgets is
  'The budgets of the organization at hand of which 80 or 100 percent are used, with the kinds of notices that this '
  'makes, in the running month and year and in those that ended within three days.';
alter function app.passed_budgets set role = 'authenticated';

create or replace function jobs.open_digest(recipient identity.profiles, at timestamptz) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  digest_id uuid;
begin
  -- Whoever is locked here cannot change their time zone under us, nor is the digest sent meanwhile.
  perform from identity.profiles as p where p.user_id = recipient.user_id for no key update skip locked;
  if not found then
    return null;
  end if;
  select d.id into digest_id from jobs.reminder_digests as d
  where d.recipient_id = recipient.user_id and d.status = 'pending' and d.batch_id is null
    and (d.created_at at time zone recipient.timezone)::date >= today
  for no key update skip locked;
  if digest_id is null then
    insert into jobs.reminder_digests as d (recipient_id, local_on, next_attempt_at, created_at)
    select recipient.user_id, greatest(today, max(d.local_on) + 1), at, at
    from jobs.reminder_digests as d
    where d.recipient_id = recipient.user_id
    having coalesce(max((d.created_at at time zone recipient.timezone)::date) < today, true)
    on conflict (recipient_id, local_on) do nothing
    returning d.id into digest_id;
  end if;
  return digest_id;
end
$$;
comment on function jobs.open_digest is
  'The digest of a person''s day that did not leave yet, made if there was none; null when it left, or is leaving.';

create or replace function jobs.collect_budgets(at timestamptz, after text, size int) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Each adds up a month or more.
  page_size constant int := least(size, 200);
  place record;
  passed jobs.notice_log[];
  todays_digest uuid;
  is_new boolean;
  looked_at int := 0;
  latest text;
  digest_count int := 0;
  notice_count int := 0;
begin
  for place in
    select b.organization_id, p as recipient, jobs.wants_mail(p)
      and identity.organization_has_feature(b.organization_id, 'reminders:email', at)
      -- Of those whose mail of the day is gone nothing is added up.
      and not exists (
        select from jobs.reminder_digests as d
        where d.recipient_id = p.user_id and not (d.status = 'pending' and d.batch_id is null)
          and (d.created_at at time zone p.timezone)::date >= (at at time zone p.timezone)::date
      ) as is_free
    from (
      select distinct b.organization_id from app.budgets as b
      where b.deleted_at is null and b.organization_id > after
      order by b.organization_id
      limit page_size
    ) as b
    -- Also organizations in which nobody is to be told: they count as looked at.
    left join identity.memberships as m on m.organization_id = b.organization_id and app.hears_all(m)
    left join identity.profiles as p on p.user_id = m.user_id
    order by b.organization_id, p.user_id
  loop
    looked_at := looked_at + (place.organization_id is distinct from latest)::int;
    latest := place.organization_id;
    continue when place.is_free is not true;
    perform jobs.act_as(jsonb_build_object(
      'sub', (place.recipient).user_id, 'role', 'authenticated', 'organization_id', place.organization_id
    ));
    passed := array(
      select jsonb_populate_record(null::jobs.notice_log, jsonb_build_object(
        'budget_id', ((p.state).budget).id, 'kind', kind, 'about_on', (p.state).from_on
      ))
      from app.passed_budgets(at) as p
      cross join unnest(p.kinds) as kind
    );
    continue when not exists (
      select from unnest(passed) as p
      where not exists (
        select from jobs.notice_log as l
        where l.budget_id = p.budget_id and l.recipient_id = (place.recipient).user_id and l.kind = p.kind
          and l.about_on = p.about_on and l.voided_at is null
      )
    );
    is_new := not exists (
      select from jobs.reminder_digests as d
      where d.recipient_id = (place.recipient).user_id and d.status = 'pending' and d.batch_id is null
    );
    todays_digest := jobs.open_digest(place.recipient, at);
    continue when todays_digest is null;
    with told as (
      insert into jobs.notice_log (recipient_id, organization_id, budget_id, kind, about_on, tell_on, digest_id)
      select (place.recipient).user_id, place.organization_id, p.budget_id, p.kind, p.about_on, p.about_on,
        todays_digest
      from unnest(passed) as p
      on conflict (budget_id, recipient_id, kind, about_on) where voided_at is null do nothing
      returning 1
    )
    select notice_count + count(*) into notice_count from told;
    digest_count := digest_count + is_new::int;
  end loop;
  perform jobs.act_as('{}');
  return jsonb_build_object(
    'digests', digest_count, 'reminders', notice_count, 'given_up', 0,
    'next', case when looked_at = page_size then jsonb_build_array('infinity', latest) end
  );
end
$$;
comment on function jobs.collect_budgets is
  'Puts what is to be said of the budgets of the next organizations into the digests of the day, as '
  'public.collect_reminders, whose last pages these are: next is ["infinity", the id of an organization], or null.';

create or replace function app.describe_budget_notices(recipient identity.profiles, member identity.memberships,
  noticed jobs.notice_log[], at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  shows_amounts constant boolean := not recipient.hide_amounts_in_email;
  -- The others count: a mail is no list of everything.
  max_listed constant int := 20;
begin
  if not (app.hears_all(member) and exists (select from unnest(noticed) as l where l.budget_id is not null)) then
    return null;
  end if;
  return (
    with said as (
      -- Still so: payments may have been corrected since the digest was made.
      select p.state, p.log_ids, row_number() over (
        order by (p.state).from_on, lower((p.state).category) nulls first
      ) as place
      from (
        select p.state, array(
          select l.id from unnest(noticed) as l
          where l.budget_id = ((p.state).budget).id and l.about_on = (p.state).from_on and l.kind = any (p.kinds)
        ) as log_ids
        from app.passed_budgets(at) as p
      ) as p
      where p.log_ids <> '{}'
    )
    select jsonb_build_object(
      'budgets', jsonb_agg(jsonb_build_object(
        'category', (s.state).category, 'per', ((s.state).budget).per, 'is_over', (s.state).to_on < today,
        'used_percent', case when (s.state).available_minor > 0
          then trunc((s.state).spent_minor * 100 / (s.state).available_minor) end,
        'currency', c.code,
        'spent', case when shows_amounts then app.format_minor((s.state).spent_minor, c.exponent) end,
        'available', case when shows_amounts then app.format_minor((s.state).available_minor, c.exponent) end,
        'is_partial', coalesce((s.state).is_partial, false)
      ) order by s.place) filter (where s.place <= max_listed),
      'unlisted', count(*) filter (where s.place > max_listed),
      'tells_of', (select jsonb_agg(id) from said as s, unnest(s.log_ids) as id)
    )
    from said as s
    join app.currencies as c on c.code = ((s.state).budget).currency
    having count(*) > 0
  );
end
$$;
comment on function app.describe_budget_notices is
  'What a digest says of the budgets of one organization: {budgets, unlisted, tells_of: their rows of the log}; '
  'is_over says that the month or year has ended. Null when there is nothing.';
alter function app.describe_budget_notices set role = 'authenticated';

-- schemas/reminders/describe_digests.sql

-- What a digest says: described when it is claimed, by what is true then. Each organization is read as the recipient,
-- under row-level security:
-- a condition that is missing here puts nobody else's bills into a mail.

create or replace function app.describe_statement(occurrence_id text, recipient identity.profiles, out fetched jsonb,
  out not_taken jsonb) returns record
language plpgsql stable strict set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  statement app.provider_statements;
  link app.provider_links;
  is_taken boolean;
  told jsonb;
begin
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence_id;
  -- The one that its amount came from, or the one that counts and is not its amount, as far as nobody set it since.
  select * into statement
  from app.provider_statements as s
  where s.occurrence_id = occurrence.id and s.organization_id = occurrence.organization_id and case
    when s.amount_minor = occurrence.expected_minor and s.currency = occurrence.currency
      then occurrence.amount_source = 'provider' and s.status <> 'ignored'
    else s.status = 'needs_review'
      and not (occurrence.amount_source = 'override' and occurrence.updated_at >= s.fetched_at)
      -- A provider that the bill is no longer connected to asks nothing.
      and exists (select from app.provider_links as l where l.id = s.link_id and l.status <> 'revoked')
  end
  order by (s.amount_minor = occurrence.expected_minor and s.currency = occurrence.currency) is true, s.fetched_at desc
  limit 1;
  if not found then
    return;
  end if;
  select * into link from app.provider_links as l where l.id = statement.link_id;
  is_taken := statement.amount_minor = occurrence.expected_minor and statement.currency = occurrence.currency;
  if is_taken is not true then
    -- The bill's currency may have changed since.
    statement.usual_minor := app.usual_statement(occurrence);
  end if;
  told := jsonb_build_object(
    'on', (statement.fetched_at at time zone recipient.timezone)::date, 'provider', app.provider_name(link), 'currency',
    statement.currency,
    'amount',
    case when not recipient.hide_amounts_in_email
      then app.format_amount(statement.amount_minor, statement.currency) end,
    'usual', case when not recipient.hide_amounts_in_email and statement.currency = occurrence.currency
      then app.format_amount(statement.usual_minor, statement.currency) end
  );
  if is_taken then
    fetched := told;
  else
    not_taken := told;
  end if;
end
$$;
comment on function app.describe_statement is
  'What a provider said of a due date, {on, provider, amount, currency, usual}: fetched when it is the amount, '
  'not_taken when somebody has to look at it.';

create or replace function app.describe_reconnects(organization identity.organizations) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The others are said once these are connected.
  max_listed constant int := 20;
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(r) order by r.name, r.bill_id), '[]')
    from (
      select b.id as bill_id, b.name, organization.id as organization_id, organization.name as organization,
        l.provider_key,
        app.provider_name(l) as provider
      from app.provider_links as l
      join app.expenses as b on b.id = l.expense_id and b.status = 'active' and b.amount_mode = 'variable'
        and b.deleted_at is null
      where l.organization_id = organization.id and l.status = 'needs_reauth'
      order by b.name, b.id
      limit max_listed
    ) as r
  );
end
$$;
comment on function app.describe_reconnects is
  'The variable bills of an organization whose provider no longer accepts the credential.';

-- schemas/reminders/describe_due_bills.sql

create or replace function app.describe_due_bills(
  recipient identity.profiles, member identity.memberships, organization identity.organizations,
  reminded jobs.reminder_log[], noticed jobs.notice_log[],
  at timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  base_exponent constant int := (select c.exponent from app.currencies as c where c.code = organization.base_currency);
  base_per_euro constant numeric := (app.find_rate(organization.base_currency, today)).per_euro;
  -- Of what is overdue, and as many of what falls due: a mail is no list of everything.
  max_listed constant int := 100;
begin
  return (
    with open_dates as (
      -- Still due: it may have been paid, snoozed or changed since the digest was made.
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source,
        l.log_id
      from (
        select l.expense_id, l.due_on, l.id as log_id from unnest(reminded) as l
        union all
        select l.expense_id, l.about_on, null from unnest(noticed) as l
        where l.kind in ('due', 'reminder', 'snoozed')
      ) as l
      join app.expenses as e on e.id = l.expense_id and e.status = 'active' and e.deleted_at is null
        and e.reminder_enabled and app.concerns(e, member)
      join app.expense_occurrences as c on c.organization_id = organization.id and c.expense_id = e.id
        and c.due_on = l.due_on and c.status = 'open'
      where l.due_on >= today and (c.snoozed_until is null or c.snoozed_until <= today)
      union all
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source, l.id
      from app.expense_occurrences as c
      join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.deleted_at is null
        and e.reminder_enabled and app.concerns(e, member)
      left join unnest(reminded) as l on l.expense_id = c.expense_id and l.due_on = c.due_on
        and l.snoozed_until = c.snoozed_until
      where c.organization_id = organization.id and c.status = 'open' and c.due_on < today
        and (c.snoozed_until is null or c.snoozed_until <= today)
          and app.is_paid_by_autopay(e, c.due_on, today) is not true and not (e.autopay and c.expected_minor is null)
    ), lines as (
      -- One for what falls due of a bill, one for what is overdue of it.
      select d.expense_id as id, d.due_on < today as is_overdue, min(d.due_on) as due_on,
        min(d.scheduled_on) as scheduled_on, count(*) as dates,
        case when not recipient.hide_amounts_in_email and count(*) = count(d.expected_minor)
          then sum(d.expected_minor - d.paid_minor) end as minor,
        bool_and(d.amount_source = 'rule') as is_by_rule, case when count(*) = 1 then min(d.id) end as occurrence_id
      from open_dates as d
      group by d.expense_id, d.due_on < today
    ), placed as (
      select l.*, e.name, e.currency, e.autopay, e.amount_mode, e.frequency = 'daily' and e.every = 1 as is_daily,
        case when e.assignee_id <> recipient.user_id then app.assignee_name(e) end as assignee,
        row_number() over (partition by l.is_overdue order by l.due_on, e.name, l.id) as place
      from lines as l
      join app.expenses as e on e.id = l.id
    ), rates as (
      select c.code, c.exponent, r.per_euro, r.rate_on
      from app.currencies as c
      left join lateral app.rates_as_of(c.code, today) as r on c.code <> organization.base_currency
      where c.code in (select p.currency from placed as p)
    ), valued as (
      select p.*, r.exponent, r.rate_on,
        case when p.currency = organization.base_currency then p.minor
          else app.convert_minor(p.minor, r.per_euro, r.exponent, base_per_euro, base_exponent) end as base_minor
      from placed as p
      join rates as r on r.code = p.currency
    ), listed as (
      select v.*, earlier.minor as earlier_minor, said.*
      from (select v.* from valued as v where v.place <= max_listed offset 0) as v
      left join lateral (
        select o.expected_minor as minor
        from app.expense_occurrences as o
        where o.organization_id = organization.id and o.expense_id = v.id and o.scheduled_on < v.scheduled_on
          and o.status = 'paid' and o.currency = v.currency
          and o.expected_minor is not null and not recipient.hide_amounts_in_email
        order by o.scheduled_on desc
        limit 1
      ) as earlier on true
      -- Of a single date only: which of several would a statement be about?
      left join lateral app.describe_statement(
        case when v.amount_mode = 'variable' and v.dates = 1 then v.occurrence_id end, recipient) as said on true
    )
    select jsonb_build_object(
      'bills', (
        select jsonb_agg(jsonb_build_object(
          'bill_id', v.id, 'name', v.name, 'due_on', v.due_on, 'days', v.due_on - today, 'dates', v.dates, 'autopay',
          v.autopay, 'is_daily', v.is_daily, 'assignee', v.assignee,
          'currency', v.currency, 'amount', app.format_minor(v.minor, v.exponent), 'is_estimate',
          v.amount_mode = 'estimated' and v.is_by_rule,
          'fetched', v.fetched, 'not_taken', v.not_taken,
          'earlier_amount', app.format_minor(v.earlier_minor, v.exponent),
          'base_amount',
          case when v.currency <> organization.base_currency then app.format_minor(v.base_minor, base_exponent) end
        ) order by v.due_on, v.name, v.id)
        from listed as v
      ),
      'unlisted', jsonb_build_object(
        'overdue', count(*) filter (where v.is_overdue and v.place > max_listed),
        'due', count(*) filter (where not v.is_overdue and v.place > max_listed),
        'due_until', max(v.due_on) filter (where not v.is_overdue and v.place > max_listed)
      ),
      'total', case when count(*) = count(v.base_minor) then app.format_minor(sum(v.base_minor), base_exponent) end,
      'rates_on', min(v.rate_on),
      'tells_of', (
        select coalesce(jsonb_agg(l.id), '[]') from unnest(noticed) as l
        where exists (select from open_dates as d where d.expense_id = l.expense_id and d.due_on = l.about_on)
          and l.kind in ('overdue', 'due', 'reminder', 'snoozed')
      ),
      'reminds_of', (select coalesce(jsonb_agg(d.log_id), '[]') from open_dates as d where d.log_id is not null)
    )
    from valued as v
    having count(*) > 0
  );
end
$$;
comment on function app.describe_due_bills is
  'The bills of one organization that a digest tells a member of: what it reminds of and what is overdue; the first by '
  'name, '
  'all in the counts and the total. reminds_of and tells_of: their rows of the logs. Null when there are none.';

-- The recipient reads, not the service, as in app.run_tool.
alter function app.describe_reconnects set role = 'authenticated';
alter function app.describe_due_bills set role = 'authenticated';

create or replace function jobs.act_as(person jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- auth.uid() reads the one or the other, depending on the platform's age.
  perform set_config('request.jwt.claims', person::text, true),
    set_config('request.jwt.claim.sub', coalesce(person ->> 'sub', ''), true);
end
$$;
comment on function jobs.act_as is
  'Whom functions that run as signed-in people read for from here on: the claims of a request, {} for nobody.';

-- schemas/reminders/describe_notices.sql

create or replace function app.describe_notices(recipient identity.profiles, member identity.memberships,
  organization identity.organizations, noticed jobs.notice_log[], at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  shows_amounts constant boolean := not recipient.hide_amounts_in_email;
  -- The others count: a mail is no list of everything.
  max_listed constant int := 50;
begin
  return (
    with notices as (
      -- Still so: it may have been changed since the digest was made.
      select l.id as log_id, l.kind, l.about_on, e as bill, c.exponent,
        row_number() over (order by l.about_on, e.name, e.id, l.kind) as place
      from unnest(noticed) as l
      join app.expenses as e on e.id = l.expense_id and e.organization_id = organization.id and e.status = 'active'
        and e.deleted_at is null and e.reminder_enabled and app.concerns(e, member)
      join app.currencies as c on c.code = e.currency
      where exists (
        select from app.notice_dates(e, today, -1) as n where n.kind = l.kind and n.about_on = l.about_on
      )
    )
    select jsonb_build_object(
      'notices', jsonb_agg(jsonb_build_object(
        'kind', n.kind, 'bill_id', (n.bill).id, 'name', (n.bill).name, 'on', n.about_on, 'days', n.about_on - today,
        'assignee', case when (n.bill).assignee_id <> recipient.user_id then app.assignee_name(n.bill) end,
        'currency', (n.bill).currency, 'frequency', (n.bill).frequency, 'every', (n.bill).every,
        'term_years', app.term_years(n.bill), 'is_contract', (n.bill).renews_on is not null,
        'renews_on', case when n.kind = 'cancel_by' then n.about_on + (n.bill).notice_days end,
        'amount', case when shows_amounts then app.format_minor(a.minor, n.exponent) end,
        'earlier_amount', case when shows_amounts then app.format_minor(a.earlier_minor, n.exponent) end
      ) order by n.place) filter (where n.place <= max_listed),
      'unlisted', count(*) filter (where n.place > max_listed),
      'tells_of', jsonb_agg(n.log_id)
    )
    from notices as n
    cross join lateral app.usual_amount((n.bill).id, (n.bill).amount_minor) as usual
    cross join lateral (
      select o.minor, o.earlier_minor
      from (
        select c.expected_minor as minor, (
          select o.expected_minor from app.expense_occurrences as o
          where o.organization_id = c.organization_id and o.expense_id = c.expense_id
            and o.scheduled_on < c.scheduled_on and o.status <> 'skipped' and o.amount_source = 'rule'
          order by o.scheduled_on desc
          limit 1
        ) as earlier_minor
        from app.expense_occurrences as c
        where n.kind = 'price_rise' and c.organization_id = organization.id and c.expense_id = (n.bill).id
          and c.due_on = n.about_on
        union all
        -- What it costs to miss the day: the whole term.
        select case when n.kind in ('cancel_by', 'renewal') and (n.bill).frequency not in ('once', 'yearly')
          then round(usual.minor * 12
            * app.times_a_month((n.bill).frequency, (n.bill).every, cardinality((n.bill).month_days)))
          else usual.minor end, null
        where n.kind <> 'price_rise'
      ) as o
      limit 1
    ) as a
    having count(*) > 0
  );
end
$$;
comment on function app.describe_notices is
  'What a digest says of the bills of one organization besides what is due: {notices, unlisted, tells_of: their rows '
  'of '
  'the log}. The amount of a contract is that of its next term. Null when there is nothing.';
alter function app.describe_notices set role = 'authenticated';

-- schemas/reminders/describe_digest.sql

create or replace function jobs.describe_digest(digest jobs.reminder_digests, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  recipient identity.profiles;
  place record;
  organization identity.organizations;
  member identity.memberships;
  noticed jobs.notice_log[];
  due jsonb;
  told jsonb;
  used jsonb;
  sections jsonb := '[]';
  reminds_of jsonb := '[]';
  tells_of jsonb := '[]';
  reconnects jsonb := '[]';
begin
  select p.* into recipient from identity.profiles as p where p.user_id = digest.recipient_id;
  if not recipient.email_enabled or identity.reminder_address(recipient) = recipient.refused_email
    or not identity.is_active(recipient.user_id, at) then
    return null;
  end if;
  for place in
    select o as organization, m as member
    from identity.memberships as m
    join identity.organizations as o on o.id = m.organization_id
    where m.user_id = digest.recipient_id and m.mails <> 'none'
      and identity.organization_has_feature(o.id, 'reminders:email', at)
    order by o.name, o.id
  loop
    organization := place.organization;
    member := place.member;
    perform jobs.act_as(
      jsonb_build_object('sub', recipient.user_id, 'role', 'authenticated', 'organization_id', organization.id));
    noticed := array(
      select l from jobs.notice_log as l
        where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
    );
    due := app.describe_due_bills(recipient, member, organization, array(
      select l from jobs.reminder_log as l
        where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
    ), noticed, at);
    told := app.describe_notices(recipient, member, organization, noticed, at);
    used := app.describe_budget_notices(recipient, member, noticed, at);
    if due is not null or told is not null or used is not null then
      sections := sections || jsonb_build_object(
        'id', organization.id, 'name', organization.name, 'hears',
        case when member.role = 'owner' then 'owner' else member.mails end, 'base_currency', organization.base_currency,
          'bills',
        coalesce(due -> 'bills', '[]'), 'unlisted',
        coalesce(due -> 'unlisted', '{"overdue":0,"due":0,"due_until":null}'), 'total', due -> 'total', 'rates_on',
        due -> 'rates_on',
        'notices', coalesce(told -> 'notices', '[]'), 'unlisted_notices', coalesce(told -> 'unlisted', '0'),
        'budgets', coalesce(used -> 'budgets', '[]'), 'unlisted_budgets', coalesce(used -> 'unlisted', '0')
      );
      reminds_of := reminds_of || coalesce(due -> 'reminds_of', '[]');
      tells_of := tells_of || coalesce(due -> 'tells_of', '[]') || coalesce(told -> 'tells_of', '[]')
        || coalesce(used -> 'tells_of', '[]');
    end if;
    if member.role = 'owner' and identity.organization_has_feature(organization.id, 'bills:variable', at) then
      reconnects := reconnects || app.describe_reconnects(organization);
    end if;
  end loop;
  perform jobs.act_as('{}');
  -- What else is overdue, or has to be connected again, is said on the way; alone it sends nothing.
  if reminds_of = '[]' and tells_of = '[]' then
    return null;
  end if;
  return jsonb_build_object(
    'address', identity.reminder_address(recipient), 'country', recipient.country, 'today',
    (at at time zone recipient.timezone)::date,
    'hides_amounts', recipient.hide_amounts_in_email, 'organizations', sections, 'reconnect',
    jsonb_path_query_array(reconnects, '$[0 to 19]'),
    'reminds_of', reminds_of, 'tells_of', tells_of
  );
end
$$;
comment on function jobs.describe_digest is
  'What a digest says at an instant: to whom, and the bills by organization; reminds_of and tells_of: the rows of '
  'the logs that it stands for. Null when it has nothing to say, or nobody to say it to.';

-- schemas/reminders/send_digests.sql

-- Sending digests: claimed in a batch under a lease, sent after commit, and marked by that lease. A batch that may have
-- reached the mail service keeps its members and their words, so that the service knows a repeated one by its key; one
-- that surely did not is dissolved.

create or replace function jobs.open_batch(size int, at timestamptz, out batch_id uuid, out set_aside uuid)
  returns record
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
  digest_id uuid;
  contents jsonb[];
  reminded bigint[];
  told bigint[];
begin
  batch_id := gen_random_uuid();
  loop
    select array_agg(d.id order by d.next_attempt_at, d.id) into digest_ids
    from (
      select d.id, d.next_attempt_at from jobs.reminder_digests as d
      where d.status = 'pending' and d.batch_id is null and d.next_attempt_at <= at and not d.sent_alone
      order by d.next_attempt_at, d.id
      limit size
      for update skip locked
    ) as d;
    if digest_ids is null then
      select array_agg(d.id) into digest_ids
      from (
        select d.id from jobs.reminder_digests as d
        where d.status = 'pending' and d.batch_id is null and d.next_attempt_at <= at
        order by d.next_attempt_at, d.id
        limit 1
        for update skip locked
      ) as d;
    end if;
    exit when digest_ids is null;

    contents := '{}';
    foreach digest_id in array digest_ids loop
      begin
        select array_append(contents, jobs.describe_digest(d, at)) into contents
          from jobs.reminder_digests as d where d.id = digest_id;
      -- Also when the time of the call is over: what is described by then goes out.
      exception when query_canceled or others then
        exit;
      end;
    end loop;
    if contents = '{}' then
      -- It had all the time there is. The others must not wait behind it.
      set_aside := digest_ids[1];
      update jobs.reminder_digests as d
      set next_attempt_at = at + interval '1 hour', attempts = d.attempts + 1, failure_code = 'not_described'
      where d.id = set_aside;
      exit;
    end if;
    digest_ids := digest_ids[:cardinality(contents)];
    reminded := array(select jsonb_array_elements_text(c -> 'reminds_of')::bigint from unnest(contents) as c);
    told := array(select jsonb_array_elements_text(c -> 'tells_of')::bigint from unnest(contents) as c);

    insert into jobs.reminder_batches (id, leased_at, next_attempt_at) values (batch_id, at, at);
    update jobs.reminder_digests as d set batch_id = open_batch.batch_id,
      content = said.content - '{reminds_of,tells_of}'::text[],
      attempts = d.attempts + 1
    from unnest(digest_ids, contents) as said (id, content)
    where d.id = said.id and said.content is not null;
    -- Nothing is left to say, or who it is to wants no mail any more, or is to get none. What their log would have said
    -- may be said another day.
    delete from jobs.reminder_digests as d where d.id = any (digest_ids) and d.batch_id is null;
    delete from jobs.reminder_log as l
    where l.digest_id = any (digest_ids) and not exists (select from unnest(reminded) as r (id) where r.id = l.id);
    delete from jobs.notice_log as l
    where l.digest_id = any (digest_ids) and not exists (select from unnest(told) as t (id) where t.id = l.id);
    if exists (select from jobs.reminder_digests as d where d.batch_id = open_batch.batch_id) then
      return;
    end if;
    delete from jobs.reminder_batches as b where b.id = batch_id;
  end loop;
  batch_id := null;
end
$$;
comment on function jobs.open_batch is
  'Puts pending digests together into a batch and writes down what they say; null when there are none. set_aside: one '
  'that could not be described, left for an hour.';

create or replace function public.claim_reminders(size int, at timestamptz) returns jsonb
-- What budgets add up is compiled longer than it runs.
language plpgsql volatile set search_path = '' set jit = off as $$
declare
  token constant uuid := gen_random_uuid();
  opened constant record := jobs.open_batch(size, at);
  chosen uuid := opened.batch_id;
  suspended uuid[];
begin
  if opened.set_aside is not null then
    return jsonb_build_object('set_aside', opened.set_aside);
  end if;
  -- New ones first: a batch that ends whoever sends it must not keep the others waiting.
  if chosen is null then
    select b.id into chosen
    from jobs.reminder_batches as b
    where b.next_attempt_at <= at and not jobs.is_unknown(b, at)
    order by b.next_attempt_at
    limit 1
    for update skip locked;
    update jobs.reminder_batches as b
    set attempts = b.attempts + 1,
      unsure_since = case when b.lease_token is null then b.unsure_since else coalesce(b.unsure_since, b.leased_at) end
    where b.id = chosen;
    -- Who was suspended since, or left an organization that it tells of, gets no second attempt; whether the first one
    -- reached them, nobody knows.
    with closed as (
      update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null,
        content = null
      where d.batch_id = chosen and d.status = 'pending' and (
        not identity.is_active(d.recipient_id, at) or exists (
          select from jsonb_array_elements(d.content -> 'organizations') as o
          where not exists (
            select from identity.memberships as m
            where m.organization_id = o ->> 'id' and m.user_id = d.recipient_id and m.mails <> 'none'
          )
        )
      )
      returning d.id
    )
    select array_agg(c.id) into suspended from closed as c;
    perform jobs.void_log(suspended, at);
  end if;
  -- Longer than a run may take.
  update jobs.reminder_batches as b
  set lease_token = token, leased_at = at, next_attempt_at = at + interval '90 seconds'
  where b.id = chosen;
  return (
    select jsonb_build_object(
      'id', b.id, 'lease_token', b.lease_token, 'attempts', b.attempts,
      'digests', (
        -- None are left of people who are gone since; the batch then ends with its sender.
        select
          coalesce(
          jsonb_agg(jsonb_build_object('id', d.id, 'recipient_id', d.recipient_id, 'content', d.content) order by d.id),
          '[]')
        from jobs.reminder_digests as d
        where d.batch_id = b.id and d.status = 'pending'
      )
    )
    from jobs.reminder_batches as b
    where b.id = chosen
  );
end
$$;
comment on function public.claim_reminders is
  'Leases a batch of at most so many digests for 90 seconds: '
  '{"id","lease_token","attempts","digests":[{"id","recipient_id","content"}]}, or null when there is nothing to send. '
  '{"set_aside": id} says that one could not be described and waits for an hour: ask again.';

create or replace function jobs.stop_digests_of(organization_id text, user_id uuid, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
declare
  stopped uuid[];
begin
  -- What was not described yet will be by what they may see then. What was, says what they could see before: it gets no
  -- second attempt, and whether the first one reached them, nobody knows.
  with closed as (
    update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null, content = null
    where d.recipient_id = stop_digests_of.user_id and d.status = 'pending' and d.batch_id is not null
      and exists (
        select from jsonb_array_elements(d.content -> 'organizations') as o
        where o ->> 'id' = stop_digests_of.organization_id
      )
    returning d.id
  )
  select array_agg(c.id) into stopped from closed as c;
  perform jobs.void_log(stopped, at);
end
$$;
comment on function jobs.stop_digests_of is
  'Ends waiting mails to a member that were written before they lost a role in an organization.';

-- schemas/reminders/settle_reminders.sql

create or replace function public.settle_reminders(
  batch_id uuid, lease_token uuid, results jsonb, is_last boolean, retry_at timestamptz, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch jobs.reminder_batches;
  digest_count int;
  reminder_count int;
begin
  select * into batch from jobs.reminder_batches as b
  where b.id = batch_id and b.lease_token = settle_reminders.lease_token
  for update;
  if not found then
    return '{"outcome":"lost"}';
  end if;

  with said as (
    select r ->> 'id' as id, r ->> 'outcome' as outcome, r ->> 'code' as code,
      coalesce((r ->> 'refused')::boolean, false) as refused,
      coalesce((r ->> 'alone')::boolean, false) as alone
    from jsonb_array_elements(results) as r
  ), refused as (
    update identity.profiles as p set refused_email = d.content ->> 'address', refused_at = at
    from said as s
    join jobs.reminder_digests as d on d.id = s.id::uuid
    where s.refused and d.batch_id = batch.id and p.user_id = d.recipient_id
      and identity.reminder_address(p) = d.content ->> 'address'
    returning identity.record_event('reminders.address_refused', p.user_id, null, '{}', at)
  ), closed as (
    update jobs.reminder_digests as d
    set status = s.outcome, closed_at = at, failure_code = s.code, batch_id = null, content = null
    from said as s
    where d.id = s.id::uuid and d.batch_id = batch.id and d.status = 'pending' and s.outcome in ('sent', 'dead')
    returning d.id, d.status
  ), held as (
    -- Surely not taken now, nor before: it may be said anew, in other company. Who refuses a key's mails for good has
    -- not taken them under it before.
    update jobs.reminder_digests as d
    set batch_id = null, content = null, next_attempt_at = retry_at, failure_code = s.code, sent_alone = d.sent_alone
      or s.alone
    from said as s
    where d.id = s.id::uuid and d.batch_id = batch.id and d.status = 'pending' and s.outcome = 'held'
      and (batch.unsure_since is null or s.alone)
    returning d.id
  ), logged as (
    update jobs.reminder_log as l
    set sent_at = case c.status when 'sent' then at end,
      voided_at = case c.status when 'dead' then at end
    from closed as c
    where l.digest_id = c.id and l.voided_at is null
    returning c.status
  ), told as (
    update jobs.notice_log as l
    set sent_at = case c.status when 'sent' then at end,
      voided_at = case c.status when 'dead' then at end
    from closed as c
    where l.digest_id = c.id and l.voided_at is null
    returning c.status
  )
  select (select count(*) from closed where status = 'sent'),
    (select count(*) from (select status from logged union all select status from told) as l where status = 'sent')
  into digest_count, reminder_count
  from (select count(*) from held) as h, (select count(*) from refused) as r;

  if not exists (select from jobs.reminder_digests as d where d.batch_id = batch.id) then
    delete from jobs.reminder_batches as b where b.id = batch.id;
  elsif is_last then
    update jobs.reminder_batches as b
    set lease_token = null, next_attempt_at = retry_at, unsure_since = case
        when exists (select from jsonb_array_elements(results) as r where r ->> 'outcome' = 'unsure')
          then coalesce(b.unsure_since, b.leased_at)
        else b.unsure_since
      end
    where b.id = batch.id;
  end if;
  return jsonb_build_object('outcome', 'settled', 'digests', digest_count, 'reminders', reminder_count);
end
$$;
comment on function public.settle_reminders is
  'Says what became of digests of a leased batch, each {"id","outcome": sent, dead, held (surely not taken) or '
  'unsure,"code","refused","alone"}: {"outcome":"settled","digests","reminders"} as sent, or {"outcome":"lost"} when '
  'the lease is another''s. With is_last the lease ends, and what is left waits until retry_at.';

create or replace function public.count_waiting_reminders(at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*)
    from jobs.reminder_digests as d
    left join jobs.reminder_batches as b on b.id = d.batch_id
    where d.status = 'pending' and (b.lease_token is null or b.next_attempt_at <= at)
  );
end
$$;
comment on function public.count_waiting_reminders is
  'How many digests wait for a later run; those that another run is sending do not.';

-- schemas/jobs/store_rates.sql

-- Keeping the rates that the job fetched. Whether a set is believed is decided before it comes here; nothing is ever
-- updated in place.

create or replace function public.read_newest_rates() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      jsonb_build_object('rates_on', max(r.rate_on), 'per_euro',
      coalesce(jsonb_object_agg(c.code, r.rate::text) filter (where r.rate is not null), '{}'))
    from app.currencies as c
    cross join lateral (
      select f.rate_on, f.rate from app.fx_rates as f where f.quote = c.code and f.source in ('ecb', 'frankfurter')
      order by f.rate_on desc, f.source <> 'ecb'
      limit 1
    ) as r
  );
end
$$;
comment on function public.read_newest_rates is
  'The newest rate of every currency: {"rates_on": the newest day, or null, "per_euro": {"USD":"1.0944000000"}}.';

create or replace function public.store_rates(source text, published_on date, per_euro jsonb, days jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  added int;
begin
  -- The digits of the source as they are: text to numeric.
  insert into app.fx_rates (quote, rate_on, source, rate, fetched_at)
  select c.code, coalesce((days ->> r.key)::date, published_on), source, r.value::numeric, at
  from jsonb_each_text(per_euro) as r
  join app.currencies as c on c.code = r.key
  where r.value::numeric > 0
  on conflict on constraint fx_rates_pkey do nothing;
  get diagnostics added = row_count;
  return jsonb_build_object('added', added);
end
$$;
comment on function public.store_rates is
  'Keeps one day''s rates of a source, {"USD":"1.0944"} per euro, where they are not kept already; days has those that '
  'are of another one: {"added": how many}.';

create or replace function public.find_days_to_rate(at timestamptz, size int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone 'utc')::date;
begin
  return (
    select coalesce(jsonb_agg(d.day order by d.attempts, d.day desc), '[]')
    from (
      select w.day, coalesce(f.attempts, 0) as attempts
      from (
        select distinct p.paid_on as day from app.payments as p
        where not p.is_final and p.paid_on < today and p.deleted_at is null
        union
        -- What is to come is valued at the newest rates, whatever is in the books.
        select today - 1
      ) as w
      left join app.fx_days as f on f.day = w.day
      where f.settled_at is null
      order by attempts, w.day desc
      limit size
    ) as d
  );
end
$$;
comment on function public.find_days_to_rate is
  'Past days with payments that wait for a rate, and yesterday, as far as they are not settled: those asked for least '
  'first, then the newest. Of all organizations.';

create or replace function public.read_rates_of_day(day date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(c.code, r.per_euro::text), '{}')
    from app.currencies as c cross join lateral app.rates_as_of(c.code, read_rates_of_day.day) as r
    where c.code <> 'EUR'
  );
end
$$;
comment on function public.read_rates_of_day is 'The rates that hold on a day: {"USD":"1.0944000000"}.';

create or replace function public.settle_day(day date, is_answered boolean, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  max_attempts constant int := 10;
  settled timestamptz;
begin
  insert into app.fx_days as d (day, attempts, settled_at)
  values (settle_day.day, 1, case when is_answered then at end)
  on conflict on constraint fx_days_pkey do update
    set attempts = d.attempts + 1,
      settled_at = coalesce(d.settled_at, case when is_answered or d.attempts + 1 >= max_attempts then at end)
  returning d.settled_at into settled;
  return jsonb_build_object('settled', settled is not null);
end
$$;
comment on function public.settle_day is
  'Notes that the sources were asked for a day, which is settled when they answered, or after the tenth time: '
  '{"settled": whether}.';

create or replace function public.settle_values(after jsonb, size int) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids text[];
  last_one jsonb;
  settled int;
begin
  select array_agg(w.id order by w.paid_on, w.id),
    (array_agg(jsonb_build_array(w.paid_on, w.id) order by w.paid_on desc, w.id desc))[1]
  into ids, last_one
  from (
    select p.id, p.paid_on from app.payments as p
    where not p.is_final and (after is null or (p.paid_on, p.id) > ((after ->> 0)::date, after ->> 1))
    order by p.paid_on, p.id
    limit size
  ) as w;
  -- What somebody is changing is valued by that change.
  ids := array(select p.id from app.payments as p where p.id = any (ids) order by p.id for update skip locked);
  -- The trigger values a payment whose value is not final, whatever is written to it.
  with written as (
    update app.payments as p set is_final = false where p.id = any (ids) returning p.is_final
  )
  select count(*) into settled from written as w where w.is_final;
  return jsonb_build_object('settled', settled, 'next', last_one);
end
$$;
comment on function public.settle_values is
  'Values anew a page of the payments that wait for the rate of their day, of all organizations: {settled: how many '
  'wait no more, next: where the next page starts, null after the last}.';

-- schemas/reminders/schedule.sql

-- When the reminders job runs: once a day, and again until noon for what is left by then: a run stops after 50 seconds,
-- a mail service may be down, a trigger may get lost. A run that finds nothing to do costs next to nothing. Not at the
-- full hour: two runs at once share the work, but take four connections.

select cron.schedule('reminders', '0 8 * * *', $$select jobs.call_function('cron-reminders')$$);
select cron.schedule('reminders-catch-up', '5-55/10 8-11 * * *', $$select jobs.call_function('cron-reminders')$$);

-- schemas/reminders/unsubscribe.sql

-- Ending reminders from a mail: all of them, those of one organization, or of one bill. Whoever holds the signed link
-- may end the first two for the person that it names; bills are for their owner's eyes, since ending one's reminders
-- ends them for everybody. The functions check that what is named is the person's.

create or replace function public.read_unsubscribing(user_id uuid, with_bills boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('email_enabled', p.email_enabled, 'organizations', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', o.id, 'name', o.name, 'mails', m.mails)
          || case when with_bills then jsonb_build_object('bills', (
            select
              coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name) order by b.next_due, b.name, b.id),
              '[]')
            from (
              select e.id, e.name, e.next_due from app.expenses as e
              where e.organization_id = o.id and m.role = 'owner' and e.kind = 'bill' and e.status = 'active'
                and e.deleted_at is null and e.reminder_enabled
              order by e.next_due, e.name, e.id
              limit 200
            ) as b
          )) else '{}' end
        order by o.name, o.id
      ), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = p.user_id
    ))
    from identity.profiles as p
    where p.user_id = read_unsubscribing.user_id
  );
end
$$;
comment on function public.read_unsubscribing is
  'What a person can end: {"email_enabled","organizations":[{"id","name","mails"}]}, each organization with the '
  'reminding "bills":[{"id","name"}] that they own if asked for; null when there is no such person.';

create or replace function public.unsubscribe(user_id uuid, scope text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
  change text;
begin
  case
    when scope = 'all' then
      update identity.profiles as p set email_enabled = false, updated_at = at
        where p.user_id = unsubscribe.user_id;
    when scope like 'org\_%' then
      update identity.memberships as m set mails = 'none'
      where m.organization_id = scope and m.user_id = unsubscribe.user_id;
    else
      select e.* into bill
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      where e.id = scope and o.owner_id = unsubscribe.user_id and e.deleted_at is null;
  end case;
  if not found then
    return '{"outcome":"unknown"}';
  end if;

  if bill.reminder_enabled then
    -- A change like any other, which the assistant can undo.
    perform set_config('app.at', at::text, true);
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    values (bill.organization_id, user_id, 'unsubscribe', jsonb_build_object('name', bill.name))
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    update app.expenses as e set reminder_enabled = false where e.id = bill.id;
    perform set_config('app.change_id', '', true);
  end if;
  perform identity.record_event(
    'reminders.unsubscribed', user_id, coalesce(bill.organization_id, case when scope like 'org\_%' then scope end),
    jsonb_build_object('scope', scope), at
  );
  return '{"outcome":"unsubscribed"}';
end
$$;
comment on function public.unsubscribe is
  'Ends reminders to a person: scope is "all", or the id of an organization of theirs or of a bill that they own: '
  '{"outcome":"unsubscribed"} or {"outcome":"unknown"}.';

create or replace function public.choose_mails(user_id uuid, organization_id text, mails text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.memberships as m set mails = choose_mails.mails
  where m.organization_id = choose_mails.organization_id and m.user_id = choose_mails.user_id;
  if not found then
    return '{"outcome":"not_member"}';
  end if;
  perform identity.record_event('reminders.mails_chosen', user_id, organization_id,
    jsonb_build_object('mails', mails), at);
  return '{"outcome":"chosen"}';
end
$$;
comment on function public.choose_mails is
  'Which bills of an organization a member gets mails of, mine, all or none: {"outcome":"chosen"} or '
  '{"outcome":"not_member"}.';

-- schemas/providers/provider_sync.sql

-- What the job that fetches amounts asks of the database: one link at a time is leased, asked after commit, and settled
-- by its lease. Whoever dies in between leaves a lease that runs out, and the link is asked again.

create or replace function jobs.lost_its_occurrence(statement app.provider_statements) returns boolean
language sql immutable
  return (statement).status in ('applied', 'needs_review') and (statement).occurrence_id is null;
comment on function jobs.lost_its_occurrence is
  'Whether the date that a statement was kept for is gone: it was made anew without the amount, when the bill was '
  'resumed or is due on another day now.';

create or replace function jobs.lacks_month(link app.provider_links, period date) returns boolean
language sql stable
begin atomic
  select (link).last_success_period is null or (link).last_success_period < lacks_month.period or exists (
    select from app.provider_statements as s
    where s.link_id = (link).id and s.period = lacks_month.period and s.status <> 'superseded'
      and jobs.lost_its_occurrence(s)
  );
end;
comment on function jobs.lacks_month is
  'Whether a link has no statement of the last month yet, or one that has lost its date.';

create or replace function jobs.may_fetch(organization_id text, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- The job asks in the owner's name, with what the owner entered.
  return identity.organization_has_feature(organization_id, 'bills:variable', at)
    and identity.is_active((select o.owner_id from identity.organizations as o where o.id = organization_id),
      at);
end
$$;
comment on function jobs.may_fetch is
  'Whether the job may ask the providers of an organization: its plan includes it, and its owner is not suspended.';

create or replace function public.claim_provider_link(period date, again boolean, before timestamptz, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  claimed app.provider_links;
begin
  update app.provider_links as l
  -- Longer than a provider may take, and the answer after it.
  set asked_at = at, lease_token = gen_random_uuid(),
    leased_until = at + interval '90 seconds',
    backlog = case when again then l.backlog else array(
      select m.month
      from unnest(app.missing_months(l, period)) with ordinality as m (month, place)
      where l.asked_at is null or l.asked_at < (period + interval '1 month') at time zone 'UTC'
        or m.month = any (l.backlog)
      order by m.place
    ) end
  where l.id = (
    select c.id
    from app.provider_links as c
    join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.amount_mode = 'variable'
      and e.deleted_at is null
    where c.status = 'active' and (c.asked_at is null or c.asked_at < before)
      and (c.leased_until is null or c.leased_until <= at)
        and (c.ask_after is null or c.ask_after <= at)
      and (again or jobs.lacks_month(c, period) or c.backlog <> '{}')
      and jobs.may_fetch(c.organization_id, at)
    order by c.asked_at nulls first, c.id
    limit 1
    for update of c skip locked
  )
  returning l.* into claimed;
  return case when claimed.id is not null then jsonb_build_object(
    'link_id', claimed.id, 'provider_key', claimed.provider_key, 'lease_token', claimed.lease_token,
    'periods', case when again then array[period]
      when jobs.lacks_month(claimed, period) then period || claimed.backlog else claimed.backlog end,
    'envelope', (select c.envelope from app.provider_credentials as c where c.link_id = claimed.id)
  ) end;
end
$$;
comment on function public.claim_provider_link is
  'Leases the link that was asked longest ago, before an instant, of those whose statement of the month, or of one in '
  'their backlog, has not come, or that has lost its date (again: or has come): {link_id, provider_key, lease_token, '
  'periods: to ask for in this order, envelope}, null when there is none. Only links that jobs.may_fetch.';

create or replace function jobs.provider_context(organization_id text, at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (at at time zone p.timezone)::date,
    at, o.owner_id, 'owner', null, null
  into strict context
  from identity.organizations as o
  join identity.profiles as p on p.user_id = o.owner_id
  where o.id = organization_id;
  return context;
end
$$;
comment on function jobs.provider_context is
  'The context in which the job keeps an answer: for the owner, on their day.';

-- schemas/providers/count_provider_links.sql

create or replace function public.keep_provider_answer(link_id text, lease_token uuid, period date, answer jsonb,
  at timestamptz, is_last boolean default true) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization constant text :=
    (select l.organization_id from app.provider_links as l where l.id = link_id);
  link app.provider_links;
  context app.context;
  change text;
  kept jsonb;
begin
  perform set_config('app.at', at::text, true);
  -- One write at a time in an organization, as app.run_tool does it; nobody waits for this answer, so it may take its
  -- turn late.
  perform pg_advisory_xact_lock(app.books_key(organization));
  select * into link from app.provider_links as l
  where l.id = link_id and l.lease_token = keep_provider_answer.lease_token and l.status = 'active'
  for update;
  if not found then
    return '{"outcome": "lost"}';
  end if;
  context := jobs.provider_context(organization, at);
  change := app.begin_change(context, 'provider_sync');
  kept := app.keep_answer(context, link, period, answer, false, is_last);
  perform app.finish_change(change, jsonb_build_object(
    'provider', coalesce(answer ->> 'provider_name', app.provider_name(link)), 'bill', kept
  ));
  return jsonb_build_object('outcome', 'kept', 'status', kept ->> 'status', 'code', kept ->> 'code');
end
$$;
comment on function public.keep_provider_answer is
  'Keeps what came of asking a leased link, as app.keep_answer does, as a change of its own: {outcome: "kept", status, '
  'code?}, or {outcome: "lost"} when the lease is another''s or the link has ended. The last answer ends the lease.';

create or replace function public.count_provider_links(period date, again boolean, before timestamptz, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with able as materialized (
      -- Asked once an organization, however many links it has.
      select o.organization_id
      from (select distinct l.organization_id from app.provider_links as l where l.status <> 'revoked' offset 0) as o
      where jobs.may_fetch(o.organization_id, at)
    )
    select jsonb_build_object(
      'links', count(*),
      'synced', count(s.id) filter (where l.may_fetch),
      'waiting', count(*) filter (
        where l.may_fetch and l.status = 'active' and e.status = 'active' and e.amount_mode = 'variable'
          and e.deleted_at is null
          and (again or l.last_success_period is null or l.last_success_period < count_provider_links.period
            or l.backlog <> '{}' or jobs.lost_its_occurrence(s))
          and (l.asked_at is null or l.asked_at < before)
            and (l.ask_after is null or l.ask_after <= at)
      )
    )
    -- Not a join, whose planner would take the organizations for a handful.
    from (select l.*, l.organization_id in (select a.organization_id from able as a) as may_fetch
      from app.provider_links as l) as l
    join app.expenses as e on e.id = l.expense_id
    left join app.provider_statements as s on s.link_id = l.id and s.period = count_provider_links.period
      and s.status <> 'superseded'
    where l.status <> 'revoked'
  );
end
$$;
comment on function public.count_provider_links is
  '{"links": all that were not ended, "synced": those with a kept statement of the month, "waiting": those without '
  'one, or whose one has lost its date (again: or with), or with a backlog, that were not asked since an instant; '
  'both where '
  'jobs.may_fetch.}';

-- schemas/providers/schedule.sql

-- When amounts are fetched: on the 2nd, when most providers have closed the month before, and daily until the 10th for
-- what was not ready by then. A run that finds nothing to ask costs next to nothing.

select cron.schedule('provider-sync', '0 6 2 * *', $$select jobs.call_function('cron-provider-sync')$$);
select cron.schedule('provider-sync-catch-up', '0 6 3-10 * *', $$select jobs.call_function('cron-provider-sync')$$);

-- schemas/exports/export_books.sql

-- Pages of the books for an export: each kind of record in an order of its own, what follows a key, as the person may
-- see it. What was deleted is not in the books. Amounts are decimals, and negative where money came back; who did
-- something is named by the address, as long as they are a member.

create or replace function app.export_payments(after jsonb, from_on date, to_on date, at_most int)
  returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
begin
  return query
  select jsonb_build_array(p.paid_on, p.recorded_seq), jsonb_build_object(
    'id', p.id,
    'kind', case when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
      else 'one_off' end,
    'date', p.paid_on, 'name', e.name, 'payee', e.payee, 'category', category.name, 'category_id', p.category_id,
    'tags', e.tags, 'note', case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, 'url', e.url,
    'amount', app.format_minor(d.sign * p.amount_minor, c.exponent),
    'tax', app.format_minor(d.sign * p.tax_minor, c.exponent), 'tax_percent', trim_scale(p.tax_percent)::text,
    'net', app.format_minor(d.sign * (p.amount_minor - p.tax_minor), c.exponent), 'currency', p.currency
  ) || jsonb_build_object(
    'charged_amount', app.format_minor(d.sign * p.charged_minor, charged.exponent),
    'charged_currency', p.charged_currency,
    'base_amount', app.format_minor(d.sign * p.base_minor, base.exponent), 'base_currency', p.base_currency,
    'fx_rate', trim_scale(p.fx_rate)::text, 'fx_rate_on', p.fx_rate_on, 'fx_source', p.fx_source,
    'is_final', p.is_final, 'is_estimate', p.is_estimate,
    'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
    'split_id', p.split_id,
    'expense_id', case when not starts_with(p.expense_id, 'bill_') then p.expense_id end,
    'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end,
    'occurrence_id', p.occurrence_id, 'paid_by', person.email, 'source', p.source, 'version', p.version,
    'created_at', p.created_at, 'updated_at', p.updated_at
  )
  from app.payments as p
  join app.currencies as c on c.code = p.currency
  join app.currencies as base on base.code = p.base_currency
  cross join lateral (select case p.direction when 'out' then 1 else -1 end) as d (sign)
  left join app.currencies as charged on charged.code = p.charged_currency
  left join app.expenses as e on e.id = p.expense_id
  left join app.categories as category on category.id = p.category_id
  left join identity.profiles as person on person.user_id = p.paid_by
  where p.organization_id = (select identity.current_organization_id()) and p.deleted_at is null
    and (from_on is null or p.paid_on >= from_on) and (to_on is null or p.paid_on <= to_on)
    and (after is null or (p.paid_on, p.recorded_seq) > ((after ->> 0)::date, (after ->> 1)::bigint))
  order by p.paid_on, p.recorded_seq
  limit at_most;
end
$$;
comment on function app.export_payments is
  'Payments of a period, oldest first: the rows that totals are made of, each with what its expense or bill says of '
  'it.';

create or replace function app.export_bills(after text, at_most int) returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
begin
  return query
  select to_jsonb(e.id), jsonb_build_object(
    'id', e.id, 'name', e.name, 'payee', e.payee, 'category', category.name, 'category_id', e.category_id,
    'tags', e.tags, 'note', e.note, 'url', e.url,
    'amount_mode', e.amount_mode, 'amount', app.format_minor(e.amount_minor, c.exponent), 'currency', e.currency,
    'share_percent', trim_scale(e.share_bp / 100.0)::text,
    'frequency', e.frequency, 'every', e.every, 'anchor_on', e.anchor_on, 'month_days', e.month_days,
    'weekend_rule', e.weekend_rule, 'ends_on', e.ends_on, 'ends_after', e.ends_after, 'tracked_from', e.tracked_from,
    'next_due', e.next_due
  ) || jsonb_build_object(
    'autopay', e.autopay, 'trial_ends_on', e.trial_ends_on, 'renews_on', e.renews_on, 'notice_days', e.notice_days,
    'status', e.status, 'reminder_enabled', e.reminder_enabled, 'remind_days_before', e.remind_days_before,
    'remind_again', e.remind_again, 'assignee', assignee.email, 'created_by', person.email, 'version', e.version,
    'created_at', e.created_at, 'updated_at', e.updated_at
  )
  from app.expenses as e
  join app.currencies as c on c.code = e.currency
  left join app.categories as category on category.id = e.category_id
  left join identity.profiles as person on person.user_id = e.created_by
  left join identity.profiles as assignee on assignee.user_id = e.assignee_id
  where e.organization_id = (select identity.current_organization_id()) and e.kind = 'bill' and e.deleted_at is null
    and (after is null or e.id > after)
  order by e.id
  limit at_most;
end
$$;

create or replace function app.export_books(part text, after jsonb, at_most int) returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  organization constant text := identity.current_organization_id();
  last_id constant text := after #>> '{}';
begin
  case part
    when 'categories' then return query
      select to_jsonb(c.id), jsonb_build_object(
        'id', c.id, 'name', c.name, 'is_private', c.is_private, 'archived_at', c.archived_at, 'version', c.version,
        'created_at', c.created_at, 'updated_at', c.updated_at
      )
      from app.categories as c
      where c.organization_id = organization and (last_id is null or c.id > last_id)
      order by c.id
      limit at_most;
    when 'expenses' then return query
      select to_jsonb(e.id), jsonb_build_object(
        'id', e.id, 'name', e.name, 'payee', e.payee, 'category', category.name, 'category_id', e.category_id,
        'tags', e.tags, 'note', e.note, 'url', e.url, 'source', e.source, 'external_id', e.external_id,
        'created_by', person.email, 'version', e.version, 'created_at', e.created_at, 'updated_at', e.updated_at
      )
      from app.expenses as e
      left join app.categories as category on category.id = e.category_id
      left join identity.profiles as person on person.user_id = e.created_by
      where e.organization_id = organization and e.kind = 'one_off' and e.deleted_at is null
        and (last_id is null or e.id > last_id)
      order by e.id
      limit at_most;
    when 'occurrences' then return query
      select jsonb_build_array(o.expense_id, o.scheduled_on), jsonb_build_object(
        'id', o.id, 'bill_id', o.expense_id, 'bill', e.name, 'scheduled_on', o.scheduled_on, 'due_on', o.due_on,
        'expected_amount', app.format_minor(o.expected_minor, c.exponent),
        'paid_amount', app.format_minor(o.paid_minor, c.exponent), 'currency', o.currency,
        'amount_source', o.amount_source, 'status', o.status, 'snoozed_until', o.snoozed_until,
        'closed_at', o.closed_at, 'version', o.version, 'created_at', o.created_at, 'updated_at', o.updated_at
      )
      from app.expense_occurrences as o
      join app.expenses as e on e.id = o.expense_id
      join app.currencies as c on c.code = o.currency
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and o.organization_id = organization
        and (after is null or e.id >= (after ->> 0))
        and (after is null or (o.expense_id, o.scheduled_on) > ((after ->> 0), (after ->> 1)::date))
      order by o.expense_id, o.scheduled_on
      limit at_most;
    when 'payee_rules' then return query
      select to_jsonb(r.id), jsonb_build_object(
        'id', r.id, 'payee', r.payee, 'category', category.name, 'category_id', r.category_id, 'version', r.version,
        'created_at', r.created_at, 'updated_at', r.updated_at
      )
      from app.payee_rules as r
      join app.categories as category on category.id = r.category_id
      where r.organization_id = organization and r.deleted_at is null and (last_id is null or r.id > last_id)
      order by r.id
      limit at_most;
    when 'budgets' then return query
      select to_jsonb(b.id), jsonb_build_object(
        'id', b.id, 'category', category.name, 'category_id', b.category_id, 'per', b.per,
        'amount', app.format_minor(b.amount_minor, c.exponent), 'currency', b.currency,
        'carries_over', b.carries_over, 'starts_on', b.starts_on, 'version', b.version,
        'created_at', b.created_at, 'updated_at', b.updated_at
      )
      from app.budgets as b
      join app.currencies as c on c.code = b.currency
      left join app.categories as category on category.id = b.category_id
      where b.organization_id = organization and b.deleted_at is null and (last_id is null or b.id > last_id)
        -- A budget of a category that the reader may not see would say that there is one.
        and (b.category_id is null or category.id is not null)
      order by b.id
      limit at_most;
    when 'exchange_rates' then return query
      select jsonb_build_array(u.rate_on, u.from_currency, u.source, u.rate), jsonb_build_object(
        'from_currency', u.from_currency, 'to_currency', u.to_currency, 'rate_on', u.rate_on, 'source', u.source,
        'rate', trim_scale(u.rate)::text
      )
      from (
        select distinct coalesce(p.charged_currency, p.currency) as from_currency, p.base_currency as to_currency,
          p.fx_rate_on as rate_on, p.fx_source as source, p.fx_rate as rate
        from app.payments as p
        where p.organization_id = organization and p.deleted_at is null and p.fx_rate is not null
      ) as u
      where after is null or (u.rate_on, u.from_currency, u.source, u.rate)
        > ((after ->> 0)::date, (after ->> 1), (after ->> 2), (after ->> 3)::numeric)
      order by u.rate_on, u.from_currency, u.source, u.rate
      limit at_most;
  end case;
end
$$;
comment on function app.export_books is
  'Categories, one-off expenses, due dates, payee rules, budgets, and the rates by which payments were valued.';

-- schemas/exports/export_statements.sql

-- Pages of what banks and providers said, for an export: never what a file is recognized by, nor a credential.

create or replace function app.export_statements(part text, after jsonb, at_most int)
  returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  organization constant text := identity.current_organization_id();
  last_id constant text := after #>> '{}';
begin
  case part
    when 'accounts' then return query
      select to_jsonb(a.id), jsonb_build_object(
        'id', a.id, 'name', a.name, 'kind', a.kind, 'currency', a.currency, 'answers', a.answers,
        'balance', a.balance, 'created_at', a.created_at, 'updated_at', a.updated_at
      )
      from app.accounts as a
      where a.organization_id = organization and (last_id is null or a.id > last_id)
      order by a.id
      limit at_most;
    when 'statement_lines' then return query
      select jsonb_build_array(l.booked_on, l.id), jsonb_build_object(
        'id', l.id, 'account_id', l.account_id, 'account', a.name, 'booked_on', l.booked_on, 'text', l.text,
        'kind', l.kind,
        'amount', app.format_minor(case l.direction when 'out' then 1 else -1 end * l.amount_minor, c.exponent),
        'currency', l.currency, 'is_skipped', l.is_skipped,
        'payment_ids', array(
          select k.payment_id
          from app.statement_links as k
          join app.payments as p on p.id = k.payment_id and p.deleted_at is null
          where k.line_id = l.id
          order by k.payment_id
        ),
        'change_id', l.change_id, 'created_at', l.created_at
      )
      from app.statement_lines as l
      join app.accounts as a on a.id = l.account_id
      join app.currencies as c on c.code = l.currency
      where l.organization_id = organization
        and (after is null or (l.booked_on, l.id) > ((after ->> 0)::date, (after ->> 1)))
      order by l.booked_on, l.id
      limit at_most;
    when 'provider_links' then return query
      select to_jsonb(k.id), jsonb_build_object(
        'id', k.id, 'bill_id', k.expense_id, 'bill', e.name, 'provider', k.provider_key,
        'provider_name', k.provider_name, 'account', k.account_label, 'status', k.status,
        'last_success_period', k.last_success_period, 'asked_at', k.asked_at,
        'created_at', k.created_at, 'updated_at', k.updated_at
      )
      from app.expenses as e
      join app.provider_links as k on k.expense_id = e.id
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and k.organization_id = organization and (last_id is null or k.id > last_id)
      order by k.id
      limit at_most;
    when 'provider_statements' then return query
      select to_jsonb(s.id), jsonb_build_object(
        'id', s.id, 'link_id', s.link_id, 'bill_id', k.expense_id, 'period', s.period,
        'amount', app.format_minor(s.amount_minor, c.exponent), 'currency', s.currency, 'due_on', s.due_on,
        'status', s.status, 'reason', s.reason, 'usual_amount', app.format_minor(s.usual_minor, c.exponent),
        'occurrence_id', s.occurrence_id, 'fetched_at', s.fetched_at
      )
      from app.expenses as e
      join app.provider_links as k on k.expense_id = e.id
      join app.provider_statements as s on s.link_id = k.id
      join app.currencies as c on c.code = s.currency
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and k.organization_id = organization and s.organization_id = organization
        and (last_id is null or s.id > last_id)
      order by s.id
      limit at_most;
  end case;
end
$$;
comment on function app.export_statements is
  'Accounts, the lines of their statements with the payments that they are, connections to providers, and what those '
  'said.';

-- schemas/exports/export_organization.sql

-- Pages of what an organization is, for an export: its settings, its members, and what was changed by whom.

create or replace function app.export_organization(part text, after jsonb, at_most int)
  returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  organization constant text := identity.current_organization_id();
begin
  case part
    when 'settings' then return query
      select to_jsonb(o.id), jsonb_build_object(
        'id', o.id, 'name', o.name, 'base_currency', o.base_currency, 'timezone', p.timezone,
        'closed_through', o.closed_through, 'own_only', o.own_only,
        'plan', identity.effective_plan(o, app.instant()), 'trial_ends_at', o.trial_ends_at,
        'created_at', o.created_at
      )
      from identity.organizations as o
      join identity.profiles as p on p.user_id = o.owner_id
      where o.id = organization and after is null;
    when 'members' then return query
      select to_jsonb(m.user_id), jsonb_build_object(
        'email', p.email, 'role', m.role, 'sees_private', m.sees_private, 'mails', m.mails, 'since', m.created_at
      )
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      where m.organization_id = organization and (after is null or m.user_id > (after #>> '{}')::uuid)
      order by m.user_id
      limit at_most;
    when 'changes' then return query
      select to_jsonb(s.recorded_seq), jsonb_build_object(
        'id', s.id, 'at', s.created_at, 'by', p.email, 'client', s.client_name, 'tool', s.tool, 'facts', s.facts,
        'undoes', s.undoes, 'undone_by', s.undone_by
      )
      from app.change_sets as s
      left join identity.profiles as p on p.user_id = s.actor_id
      where s.organization_id = organization and (after is null or s.recorded_seq > (after #>> '{}')::bigint)
      order by s.recorded_seq
      limit at_most;
  end case;
end
$$;
comment on function app.export_organization is
  'The settings, the members by address, and the changes with what they did as facts.';

-- schemas/exports/read_export.sql

-- Exports, for people whose role may: reading stays possible without a plan, and who has left reads nothing more, from
-- the next page on.

create or replace function app.read_export_page(part text, after jsonb, from_on date, to_on date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  rows_at_once constant int := 1000;
  organization constant text := identity.current_organization_id();
  page record;
begin
  if organization is null then
    return null;
  end if;
  case
    when part = 'payments' then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_payments(after, from_on, to_on, rows_at_once) with ordinality as e (key, shown, place);
    when part = 'bills' then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_bills(after #>> '{}', rows_at_once) with ordinality as e (key, shown, place);
    when part in ('accounts', 'statement_lines', 'provider_links', 'provider_statements') then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_statements(part, after, rows_at_once) with ordinality as e (key, shown, place);
    when part in ('settings', 'members', 'changes') then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_organization(part, after, rows_at_once) with ordinality as e (key, shown, place);
    else
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_books(part, after, rows_at_once) with ordinality as e (key, shown, place);
  end case;
  return jsonb_build_object(
    'rows', coalesce(to_jsonb(page.rows), '[]'),
    'next', case when cardinality(page.rows) = rows_at_once then page.last_key end,
    'latest_change', (
      select s.id from app.change_sets as s where s.organization_id = organization
      order by s.recorded_seq desc limit 1
    )
  );
end
$$;
comment on function app.read_export_page is
  'A page of one part of the books, as the person of the request''s claims sees them: {rows, next?, latest_change?}; '
  'null for who is no active member.';

create or replace function public.open_export(user_id uuid, organization_id text, wanted text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization record;
begin
  select o.name, (open_export.at at time zone p.timezone)::date as today into organization
  from identity.memberships as m
  join identity.organizations as o on o.id = m.organization_id
  join identity.profiles as p on p.user_id = o.owner_id
  where m.organization_id = open_export.organization_id and m.user_id = open_export.user_id
    and identity.is_active(m.user_id, open_export.at);
  if not found then
    return '{"outcome": "unknown"}';
  end if;
  if not identity.member_may(organization_id, user_id, 'books:export') then
    return '{"outcome": "refused"}';
  end if;
  if wanted is not null then
    insert into identity.audit_events (at, actor_id, organization_id, event, detail)
    values (
      open_export.at, open_export.user_id, open_export.organization_id, 'books.exported',
      jsonb_build_object('what', wanted)
    );
  end if;
  return jsonb_build_object(
    'outcome', 'ok', 'organization', jsonb_build_object('name', organization.name, 'today', organization.today)
  );
end
$$;
comment on function public.open_export is
  'Whether a person may export an organization''s books: {outcome: ok | refused | unknown, organization?: {name, '
  'today}}. With what is wanted it goes to the audit trail.';

create or replace function public.read_export(user_id uuid, organization_id text, part text, after jsonb, from_on date,
  to_on date, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  page jsonb;
begin
  if not identity.member_may(organization_id, user_id, 'books:export') then
    return '{"outcome": "refused"}';
  end if;
  perform app.act_as(user_id, organization_id), set_config('app.at', at::text, true);
  page := app.read_export_page(part, after, from_on, to_on);
  return case when page is null then '{"outcome": "refused"}'
    else jsonb_build_object('outcome', 'ok', 'page', page) end;
end
$$;
comment on function public.read_export is
  'A page of an export, read as a signed-in person under row-level security: {outcome: ok | refused, page?}, judged '
  'anew for each page. The plan is not asked: what is in the books stays readable.';

-- As app.run_tool: the person reads, not the service.
alter function app.read_export_page set role = 'authenticated';
alter function app.read_export_page set jit = off;

-- schemas/schema_version.sql

-- The version of the schema: how many migrations it takes. Functions of version N also work on N - 1 and N + 1, so that
-- functions and schema need not change at the same moment.

create or replace function public.ping() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('schema', 1);
end
$$;
comment on function public.ping is 'Answers with the version of the schema: the health check asks.';
