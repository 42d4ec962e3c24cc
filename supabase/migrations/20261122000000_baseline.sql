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
  reminders_enabled boolean not null default true,
  owner_id uuid not null references identity.profiles (user_id) on delete restrict,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint organizations_past_due_dated check ((plan_status = 'past_due') = (past_due_since is not null)),
  constraint organizations_canceled_is_free check (plan_status <> 'canceled' or plan = 'free'),
  constraint organizations_second_plan_dated check ((second_plan is null) = (second_past_due_since is null))
);
comment on table identity.organizations is 'Whose expenses and bills these are: a household, a business.';
comment on column identity.organizations.owner_id is
  'Reminders go to the owner and dates are the owner''s. A person who owns an organization cannot be deleted before '
  'it.';
comment on column identity.organizations.plan is
  'What is paid for, as the best subscription has it. Set by hand it counts until the first subscription that was ever '
  'active.';
comment on column identity.organizations.second_plan is
  'Of another subscription, past due: it counts too until its grace period ends. Set only while it includes more than '
  'plan does, or for longer.';
comment on column identity.organizations.trial_ends_at is
  'Until then there is everything of the Team plan, whatever is paid for. Payments never change it.';
comment on column identity.organizations.reminders_enabled is
  'Whether the owner wants reminders of this organization''s bills.';
create index organizations_owner_id_idx on identity.organizations (owner_id);
create index organizations_base_currency_idx on identity.organizations (base_currency);

create table identity.memberships (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  user_id uuid not null references identity.profiles (user_id) on delete cascade,
  role text not null constraint memberships_role_known check (role in ('owner', 'member')),
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
comment on table identity.memberships is
  'Who belongs to an organization. Without a row here every token for it is dead at the next request.';
create index memberships_user_id_idx on identity.memberships (user_id);
create unique index memberships_one_owner_idx on identity.memberships (organization_id) where role = 'owner';

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
  'What happened to accounts and grants. Insert only; keeps no tokens, codes or amounts; outlives the rows it names.';
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
language sql immutable set search_path = '' as $$
  -- The names sort as the plans do, and greatest() passes over nulls.
  select greatest(
    case when organization.plan_status <> 'past_due' or at < organization.past_due_since + interval '7 days'
      then organization.plan else 'free' end,
    case when at < organization.second_past_due_since + interval '7 days' then organization.second_plan end,
    case when at < organization.trial_ends_at then 'team' end
  )
$$;
comment on function identity.effective_plan is
  'The plan whose features count at an instant: the best of what is paid for, of what is past due for less than 7 '
  'days, and of a running trial.';

create or replace function identity.organization_has_feature(organization_id text, feature text, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.organizations as o
    join billing.plan_features as f on f.plan = identity.effective_plan(o, at)
    where o.id = organization_id and f.feature = organization_has_feature.feature
  );
end
$$;
comment on function identity.organization_has_feature is
  'Whether an organization''s plan includes a feature at an instant. The only judge of it.';

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
create policy "Owners can change their organization" on identity.organizations
  for update to authenticated
  using (id = (select identity.current_organization_id()) and owner_id = (select auth.uid()))
  with check (id = (select identity.current_organization_id()) and owner_id = (select auth.uid()));
create policy "Members can read the members of their organization" on identity.memberships
  for select to authenticated using (organization_id = (select identity.current_organization_id()));

grant select, insert, update, delete on identity.profiles, identity.organizations, identity.memberships to service_role;
grant select, insert on identity.audit_events to service_role;
grant select on identity.profiles, identity.organizations, identity.memberships to authenticated;
grant update (timezone, email_enabled, default_lead_days, hide_amounts_in_email, updated_at) on identity.profiles
  to authenticated;
grant update (base_currency, updated_at) on identity.organizations to authenticated;
grant execute on function
  identity.current_organization_id, identity.effective_plan, identity.organization_has_feature to authenticated;

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
  '{"client","approved","onboarded","organizations"}.';

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
  if not found then
    return oauth.refuse('not_a_member', client_id, limits, at);
  end if;

  insert into oauth.used_codes as u (id, used_at, grant_id, code_expires_at)
    values (code_id, at, gen_random_uuid(), code_expires_at)
  on conflict on constraint used_codes_pkey do update set used_at = excluded.used_at, grant_id = excluded.grant_id
  where u.used_at is null and u.wrong_verifiers < 5
  returning u.* into spent;
  if not found then
    select * into strict spent from oauth.used_codes as u where u.id = code_id;
    if spent.used_at is null then
      return oauth.refuse('burnt', client_id, limits, at);
    end if;
    -- Whoever gets here has proven the verifier: the code leaked together with it, or the client is broken (RFC 6749
    -- section 4.1.2).
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
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id)
);
comment on table app.categories is 'What money is spent on, in the organization''s own words.';
create unique index categories_name_idx on app.categories (organization_id, lower(name));

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
      and -1 <= all (month_days) and 31 >= all (month_days) and not 0 = any (month_days)
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

  source text not null default 'assistant'
    constraint expenses_source_known check (source in ('assistant', 'import', 'provider')),
  external_id text constraint expenses_external_id_length check (length(external_id) between 1 and 128),
  created_by uuid,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),

  unique (id, organization_id),
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
comment on column app.expenses.month_days is 'Days of the month, -1 for the last; null: the day of the anchor.';
comment on column app.expenses.tracked_from is
  'Scheduled dates before this day were never ours to watch and are neither open nor overdue.';
comment on column app.expenses.next_due is
  'Due date of the earliest open occurrence on or after today in the owner''s zone; derived, kept by app.refresh_bill.';
comment on column app.expenses.share_bp is
  'The organization''s share in hundredths of a percent; payments keep the full amount.';
comment on column app.expenses.external_id is 'The caller''s own id of the thing, unique per source.';
comment on column app.expenses.match_key is
  'To whom the money goes, else what for: what makes two expenses the same. A column, since under row-level security '
  'no index on an expression is used.';
comment on column app.expenses.recorded_seq is
  'Counts up in the order of recording: which of two came later, whatever the clock said.';
create unique index expenses_external_id_idx on app.expenses (organization_id, source, external_id)
  where external_id is not null and deleted_at is null;
create index expenses_organization_id_idx on app.expenses (organization_id);
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
  base_currency text references app.currencies (code),
  base_minor bigint,
  sort_minor bigint not null generated always as (coalesce(base_minor, amount_minor)) stored,
  fx_rate numeric(20, 10) constraint payments_fx_rate_positive check (fx_rate > 0),
  fx_rate_on date,
  fx_source text,
  note text constraint payments_note_length check (length(note) between 1 and 2000),
  source text not null default 'assistant'
    constraint payments_source_known check (source in ('assistant', 'import', 'autopay')),
  paid_by uuid,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id) references app.expense_occurrences (id, organization_id),
  constraint payments_base_is_whole check (
    (base_minor is null) = (fx_rate is null) and (base_minor is null) = (base_currency is null)
    and (base_minor is null) = (fx_rate_on is null) and (base_minor is null) = (fx_source is null)
  )
);
comment on table app.payments is 'Money that left or came back: the only table that totals are made of.';
comment on column app.payments.base_minor is
  'The amount in the organization''s base currency at the rate of the payment date; null when no rate was known, never '
  '1:1.';
comment on column app.payments.sort_minor is
  'What payments of several currencies are ordered by: their value when they were recorded.';
comment on column app.payments.category_id is
  'Derived: the category of the expense or bill, so that totals by category are read from one index.';
comment on column app.payments.recorded_seq is
  'Counts up in the order of recording: the order of payments within a day.';
-- What was paid lately, and how much in a time? The included columns answer totals without the table.
create index payments_newest_idx
  on app.payments (organization_id, paid_on, recorded_seq) include (currency, direction, amount_minor, category_id)
  where deleted_at is null;
-- What were the largest?
create index payments_largest_idx on app.payments (organization_id, sort_minor, recorded_seq) where deleted_at is null;
create index payments_expense_id_idx on app.payments (expense_id, organization_id);
create index payments_occurrence_id_idx on app.payments (occurrence_id, organization_id);
create index payments_currency_idx on app.payments (currency);
create index payments_base_currency_idx on app.payments (base_currency);

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
  client_name text,
  tool text not null,
  facts jsonb not null default '{}',
  undoes text references app.change_sets (id) on delete set null,
  undone_by text references app.change_sets (id) on delete set null,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant()
);
comment on table app.change_sets is
  'One write of one tool, by whom and with which client; undone as a whole or not at all.';
comment on column app.change_sets.facts is
  'What it did, by tool: counts, names, totals by currency. Words are made of it when it is shown.';
comment on column app.change_sets.recorded_seq is
  'Counts up in the order of recording: the latest change is the one with the highest.';
create index change_sets_newest_idx on app.change_sets (organization_id, recorded_seq);
create index change_sets_undoes_idx on app.change_sets (undoes);
create index change_sets_undone_by_idx on app.change_sets (undone_by);

create table app.change_items (
  change_id text not null references app.change_sets (id) on delete cascade,
  position bigint generated always as identity,
  organization_id text collate "C" not null,
  table_name text not null constraint change_items_table_name_known check (
    table_name in ('categories', 'expenses', 'expense_occurrences', 'payments', 'provider_links', 'settings')
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
comment on table app.idempotency_keys is 'First result of a call that carried a key, for 24 hours.';
create index idempotency_keys_expires_at_idx on app.idempotency_keys (expires_at);

-- Columns that follow from other rows or from the calendar, and what counts their changes.
create or replace function app.derived_columns(table_name text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array['next_due', 'version', 'updated_at'] || case table_name
    when 'payments' then array['category_id', 'sort_minor']
    when 'expenses' then array['match_key']
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
    where p.expense_id = new.id and p.category_id is distinct from new.category_id;
  return null;
end
$$;

-- schemas/expenses/sync_paid_minor.sql

create or replace function app.sync_paid_minor() returns trigger
language plpgsql set search_path = '' as $$
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
  foreach tracked in array array['categories', 'expenses', 'expense_occurrences', 'payments'] loop
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
alter table app.categories enable row level security;
alter table app.expenses enable row level security;
alter table app.expense_occurrences enable row level security;
alter table app.payments enable row level security;
alter table app.fx_rates enable row level security;
alter table app.provider_links enable row level security;
alter table app.change_sets enable row level security;
alter table app.change_items enable row level security;
alter table app.idempotency_keys enable row level security;

create policy "Members can use their organization's categories" on app.categories
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can use their organization's expenses" on app.expenses
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can use their organization's occurrences" on app.expense_occurrences
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can use their organization's payments" on app.payments
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Signed-in people can read the exchange rates" on app.fx_rates
  for select to authenticated using ((select auth.uid()) is not null);
create policy "Members can read their organization's provider links" on app.provider_links
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can read their organization's changes" on app.change_sets
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can record their own changes" on app.change_sets
  for insert to authenticated
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "Members can describe and undo their organization's changes" on app.change_sets
  for update to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can drop a change of theirs that wrote nothing" on app.change_sets
  for delete to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "Members can read their organization's change items" on app.change_items
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can record items of their organization's changes" on app.change_items
  for insert to authenticated with check (organization_id = (select identity.current_organization_id()));
create policy "People can use their own idempotency keys" on app.idempotency_keys
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));

grant select, insert, update, delete on
  app.categories, app.expenses, app.expense_occurrences, app.payments, app.fx_rates, app.provider_links,
  app.change_sets, app.change_items, app.idempotency_keys to service_role;
grant select, insert, update, delete on app.categories, app.expenses, app.expense_occurrences, app.payments,
  app.idempotency_keys to authenticated;
grant select on app.fx_rates, app.provider_links to authenticated;
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
  add column lease_token uuid,
  add column leased_until timestamptz;
comment on column app.provider_links.provider_name is
  'What people call the provider, as its adapter said when it was asked or connected last.';
comment on column app.provider_links.asked_at is 'When the provider was asked last, whatever came of it.';
comment on column app.provider_links.ask_after is 'Not asked before then: the provider asked for a pause.';
comment on column app.provider_links.lease_token is
  'Who is asking; nobody else may say what came of it. Past leased_until whoever it was is gone.';
comment on column app.provider_links.last_success_period is
  'The latest month of which a statement came; the first of it.';
-- Who was asked longest ago?
create index provider_links_asked_at_idx on app.provider_links (asked_at nulls first, id) where status = 'active';
grant
  update (provider_name, asked_at, ask_after, lease_token, leased_until, last_success_period, last_error_code,
  consecutive_failures)
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
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can keep what providers say" on app.provider_statements
  for insert to authenticated with check (organization_id = (select identity.current_organization_id()));
create policy "Members can say which statement counts" on app.provider_statements
  for update to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
grant select, insert, update, delete on app.provider_statements to service_role;
grant select, insert, update (status, reason, usual_minor, occurrence_id, fetched_at) on app.provider_statements
  to authenticated;

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
  return jsonb_build_object('onboarded', exists (
    select from identity.profiles as p where p.user_id = note_sign_in.user_id and p.country is not null
  ));
end
$$;
comment on function public.note_sign_in is
  'Takes over the address that somebody signed in with, where it is another than the last time: {"onboarded": whether '
  'they have been through onboarding}.';

create or replace function public.complete_onboarding(
  user_id uuid, email text, country text, organization_name text, timezone text, base_currency text,
  reminder_email text, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  gets_trial boolean;
  new_organization_id text;
begin
  if not exists (select from app.currencies as c where c.code = base_currency) then
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
    nullif(reminder_email, email), at,
    at, at
  )
  on conflict on constraint profiles_pkey do update
    set country = excluded.country, timezone = excluded.timezone, reminder_email = excluded.reminder_email,
      updated_at = excluded.updated_at,
      trial_started_at = coalesce(p.trial_started_at, excluded.trial_started_at)
    where p.country is null
  returning p.trial_started_at = at into gets_trial;
  if not found then
    return '{"outcome":"already"}';
  end if;

  insert into identity.organizations (name, base_currency, trial_ends_at, owner_id, created_at, updated_at)
  values (
    btrim(organization_name), base_currency,
    case when gets_trial then at + interval '14 days' end,
    user_id, at, at
  )
  returning id into new_organization_id;
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (new_organization_id, user_id, 'owner', at);
  perform app.create_default_categories(new_organization_id, at);
  perform identity.record_event('account.created', user_id, new_organization_id,
    jsonb_build_object('trial', gets_trial), at);
  return jsonb_build_object('outcome', 'created', 'organization_id', new_organization_id);
end
$$;
comment on function public.complete_onboarding is
  'Creates profile, organization, membership and categories, once a person: {"outcome":"created","organization_id"}, '
  '{"outcome":"already"} or {"outcome":"invalid","field"}.';

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
          'id', o.id, 'name', o.name, 'role', m.role, 'base_currency', o.base_currency, 'plan', o.plan, 'plan_status',
          o.plan_status,
          'reminders_enabled', o.reminders_enabled, 'effective_plan', identity.effective_plan(o, at),
          'trial_ends_at', o.trial_ends_at,
          'is_trial', coalesce(at < o.trial_ends_at, false), 'grace_ends_at',
          o.past_due_since + interval '7 days',
          'second_plan', o.second_plan, 'second_grace_ends_at', o.second_past_due_since + interval '7 days',
          'period_ends_at', case when o.plan_status = 'canceled' then (s.clock).occurred_at else s.period_ends_at end,
          'features_off', (
            select coalesce(jsonb_agg(distinct f.feature), '[]')
            from billing.plan_features as f
            where not identity.organization_has_feature(o.id, f.feature, at)
          )
        ) order by m.created_at, o.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        -- Of a plan that was set by hand none is paid for.
        left join lateral (select * from billing.subscriptions_with_a_say(o, at) limit 1) as s on s.status
          = o.plan_status
        where m.user_id = p.user_id
      ), '[]'),
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
        join app.expenses as e on e.id = l.expense_id
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
  client_name text
);
comment on type app.context is 'For whom and when a tool runs; today is the calendar date in the owner''s zone.';

create or replace function app.read_context(at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (read_context.at at time zone p.timezone)::date,
    read_context.at,
    m.user_id, m.role, auth.jwt() ->> 'client_name'
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
  insert into app.change_sets (organization_id, actor_id, client_name, tool)
  values (context.organization_id, context.actor_id, context.client_name, begin_change.tool)
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
    not in ('get_context', 'list_expenses', 'summarize_spending', 'show_spending_chart', 'list_bills', 'review_bills');
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
  raise exception using errcode = 'EX002', detail = app.perform_tool(context, tool, arguments)::text;
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
    -- What was undone since is asked for anew.
    and not exists (select from app.change_sets as s where s.id = k.result ->> 'change_id' and s.undone_by is not null);
  if found then
    if earlier.arguments_hash <> own_hash then
      perform app.fail('idempotency_conflict', field => 'idempotency_key');
    end if;
    return earlier.result || jsonb_build_object('replayed', true);
  end if;
  result := app.perform_tool(context, tool, arguments);
  insert into app.idempotency_keys as k (organization_id, actor_id, tool, key, arguments_hash, result, expires_at)
  values (context.organization_id, context.actor_id, tool, own_key, own_hash, result, context.at + interval '24 hours')
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
exception when lock_not_available then
  -- Who waits holds a connection that everybody else needs as well.
  perform app.fail('busy');
end
$$;
comment on function app.lock_books is
  'Makes this transaction the only one that writes in an organization; ends the tool with busy when another one takes '
  'long.';

-- schemas/connector/authenticate.sql

create or replace function app.run_tool(tool text, arguments jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  if app.is_write(tool) then
    -- One write at a time in an organization: of two equal calls the second sees what the first wrote, a version that
    -- was checked cannot change before the write, and the numbers of changes rise in the order in which they take
    -- effect. Different organizations never wait.
    perform app.lock_books(identity.current_organization_id());
  end if;
  -- After the lock: whoever held it may have changed the currency, the time zone or who is a member.
  context := app.read_context(at);
  if context.organization_id is null then
    return null;
  end if;
  result := case
    when (arguments ->> 'dry_run')::boolean then app.preview_tool(context, tool, arguments)
    when arguments ? 'idempotency_key' then app.perform_once(context, tool, arguments)
    else app.perform_tool(context, tool, arguments)
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
  'Who a bearer token speaks for at an instant, by its SHA-256 in hex: outcome ok, invalid_token, feature_not_in_plan '
  'or limited. kind: read or write. limits: {"caller": quotas, "read": {"at_most","seconds"}, "write": …}; null limits '
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
  'For requests that run no tool: {outcome: ok | invalid_token | feature_not_in_plan | limited, organization?, plan?, '
  'required_plan?, retry_after?, first_use_in_hour?}.';

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
  perform app.count_request(principal #>> '{claims,grant_id}', kind, limits, at);
  return principal - 'claims' - 'organization' || jsonb_build_object('result', result);
end
$$;
comment on function public.call_tool is
  'Authenticates a bearer and runs one tool, in one call: {outcome, result?, first_use_in_hour?}; result is the '
  'tool''s envelope. first_use_in_hour asks for record_use after the answer: once an hour a grant, so that no call of '
  'a tool writes the grant.';

-- From here on the person acts, not the service: the role is set on entry and restored by itself. It is added last,
-- since setting it asks for `authenticated`'s right to execute; no function that leads here may be SECURITY DEFINER,
-- where roles cannot be set.
alter function app.run_tool set role = 'authenticated';
-- Compiling a statement takes longer than running it in any tool.
alter function app.run_tool set jit = off;
revoke all on function app.count_request from authenticated;

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

create or replace function app.parse_date(context app.context, value text, field text) returns date
language plpgsql stable set search_path = '' as $$
begin
  if value ~ '^(199\d|20\d\d)-\d\d-\d\d$' then
    return value::date;
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
comment on function app.parse_date is 'A date argument as a calendar date of the owner; null stays null.';

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
    from (select * from app.change_sets as s order by s.recorded_seq desc limit changes_limit) as s
  );
end
$$;
comment on function app.list_changes is 'The latest changes of the organization, whoever made them.';

create or replace function app.read_settings(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'timezone', p.timezone, 'base_currency', context.base_currency,
      'reminders', jsonb_build_object(
        'email_enabled', p.email_enabled, 'email',
        case when p.reminder_email_confirmed_at is not null then p.reminder_email else p.email end,
        'default_days_before', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email
      )
    )
    from identity.profiles as p
    where p.user_id = context.owner_id
  );
end
$$;
comment on function app.read_settings is
  'What update_settings can change: the owner''s and the organization''s preferences.';

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
    'role', context.role,
    'plan', jsonb_build_object(
      'name', case when t.adds then 'team' else o.plan end,
      'status', case when t.adds and o.plan_status = 'canceled' then 'active' else o.plan_status end,
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
  cross join lateral (select context.at < o.trial_ends_at and (o.plan, o.plan_status) <> ('team', 'active') as adds)
    as t
  where o.id = context.organization_id;

  if included ? 'categories' then
    data := data || jsonb_build_object('categories', (
      select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name) order by lower(c.name)), '[]')
      from app.categories as c
      where c.archived_at is null
    ));
  end if;
  if included ? 'payees' then
    data := data || jsonb_build_object('payees', app.list_payees());
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
  'Tool get_context: data {user, role, plan, features, fx_as_of?} and the lists asked for: without include the '
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
    where c.organization_id = context.organization_id and lower(c.name) = lower(wanted);
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
  'Id of the category of this name in whatever case; null for Uncategorized or a blank name; else category_not_found '
  'with suggestions, or a new category.';

create type app.category_choice as (
  id text,
  source text
);
comment on type app.category_choice is 'A category, null for none, and why: given, payee_history, keyword or none.';

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
  select c.id, 'payee_history' into choice
  from app.expenses as e
  join app.categories as c on c.id = e.category_id and c.archived_at is null
  where e.match_key = lower(coalesce(choose_category.payee, choose_category.name)) and e.deleted_at is null
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
  'The category that was given, else the last one of the same payee (or name, where there is no payee), else the one a '
  'keyword points to, else none.';

-- schemas/expenses/rates.sql

-- Exchange rates as of a day. A rate is the newest on or before the day and at most 7 days old (weekends, holidays);
-- where there is none, an amount has no value in the other currency, never the same one. Rates say what one euro buys,
-- so every pair crosses through the euro.
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
    -- The central bank before those who quote it, on the same day.
    order by r.rate_on desc, r.source <> 'ecb', r.source
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
  fx_source text
);
comment on type app.base_value is
  'What a payment keeps of its value in the organization''s base currency: all or nothing.';

create or replace function app.value_in_base(base_currency text, amount_minor bigint, currency text, paid_on date)
  returns app.base_value
language plpgsql stable set search_path = '' as $$
declare
  from_rate app.rate;
  to_rate app.rate;
  base_minor numeric;
begin
  if currency = base_currency then
    return (base_currency, amount_minor, 1, paid_on, 'same')::app.base_value;
  end if;
  from_rate := app.find_rate(currency, paid_on);
  to_rate := app.find_rate(base_currency, paid_on);
  base_minor := app.convert_minor(
    amount_minor, from_rate.per_euro, app.currency_exponent(currency, 'currency'),
    to_rate.per_euro, app.currency_exponent(base_currency, 'currency')
  );
  -- More than the column holds is as good as unknown.
  if base_minor is null or base_minor > 1000000000000000000 then
    return null;
  end if;
  return (
    base_currency, base_minor, to_rate.per_euro / from_rate.per_euro, least(from_rate.rate_on, to_rate.rate_on),
    array_to_string(
      array(select distinct s from unnest(array[from_rate.source, to_rate.source]) as s where s is not null order by s),
      '+')
  )::app.base_value;
end
$$;
comment on function app.value_in_base is
  'A payment''s value in the base currency at the rate of its day, for the columns of app.payments; all null when no '
  'rate is known.';

-- schemas/expenses/parse_expense_items.sql

-- log_expenses: writes down money that left, or came back. All items or none; what is already in the books is not
-- written twice.
-- Row-level security keeps every statement inside the organization of the request, here and in the tools that follow.

-- An item on its way into the books is a draft, an object by name: columns of app.expenses and of app.payments, and
-- beside them place (in the call, or its line in a file), match_key, category_source, and existing_id when it is in the
-- books already. What it does not have is not there.

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
  paid_on constant date := app.parse_date(context, value, field);
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
begin
  if name is null then
    perform app.fail('invalid_argument.expense_without_name', field => parse_expense_item.field || '.name');
  end if;
  amount_minor := app.parse_amount(item ->> 'amount', currency, field || '.amount');
  paid_on := app.parse_paid_on(context, coalesce(item ->> 'date', 'today'), field || '.date');
  tags := app.clean_tags(item -> 'tags', field || '.tags');
  url := app.parse_url(item ->> 'url', field || '.url');
  category :=
    app.choose_category(context, item ->> 'category', payee, name, field || '.category', create_missing_categories);
  return jsonb_strip_nulls(jsonb_build_object(
    'name', name, 'payee', payee, 'match_key', lower(coalesce(payee, name)), 'category_id', category.id,
    'category_source',
    category.source,
    'tags', tags, 'note', nullif(btrim(item ->> 'note'), ''), 'url', url, 'external_id',
    nullif(btrim(item ->> 'external_id'), ''),
    'direction', case when (item ->> 'is_refund')::boolean then 'refund' else 'out' end,
    'amount_minor', amount_minor, 'currency', currency, 'paid_on', paid_on
  ) || coalesce(to_jsonb(app.value_in_base(context.base_currency, amount_minor, currency, paid_on)), '{}'));
end
$$;
comment on function app.parse_expense_item is 'One item as a draft; field is its place in the arguments, for errors.';

create or replace function app.parse_expense_items(context app.context, items jsonb, create_missing_categories boolean)
  returns jsonb[]
language plpgsql volatile set search_path = '' as $$
declare
  drafts jsonb[] := '{}';
  invalid jsonb := '[]';
  item jsonb;
  index int;
  problem text;
  first jsonb;
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
    first := invalid #> '{0,error}';
    perform app.fail(
      first ->> 'code',
      coalesce(first -> 'params', '{}') || jsonb_build_object('of_items', jsonb_build_object(
        'failed', jsonb_array_length(invalid), 'all', jsonb_array_length(items),
        'first', (invalid #>> '{0,index}')::int + 1, 'name', invalid #>> '{0,name}', 'results', invalid
      )),
      first ->> 'field'
    );
  end if;
  return drafts;
end
$$;
comment on function app.parse_expense_items is
  'All items as drafts; when some cannot be, the error is that of the first and details.results lists each.';

-- schemas/expenses/describe_drafts.sql

create or replace function app.find_external(external_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select e.id
    from app.expenses as e
    where e.external_id = find_external.external_id and e.source = 'assistant' and e.deleted_at is null
  );
end
$$;
comment on function app.find_external is 'The expense in the books with this external id, else null.';

create or replace function app.find_same_payment(draft jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    -- A payment of a bill counts too: who marks the rent paid and then logs it has paid it once.
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.paid_on = (draft ->> 'paid_on')::date and p.amount_minor = (draft ->> 'amount_minor')::bigint
      and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
      and p.deleted_at is null and e.match_key = draft ->> 'match_key'
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
    write_expenses.source, d.external_id, context.actor_id
  from jsonb_populate_recordset(null::app.expenses, drafts) with ordinality as d
  order by d.ordinality;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, paid_on, base_currency, base_minor, fx_rate,
    fx_rate_on, fx_source, source, paid_by
  )
  select context.organization_id, d.id, d.direction, d.amount_minor, d.currency, d.paid_on,
    d.base_currency, d.base_minor, d.fx_rate, d.fx_rate_on, d.fx_source, write_expenses.source, context.actor_id
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
      'status', case when d.id is null then 'duplicate' else 'created' end,
      'id', case when not is_preview then d.id end,
      'existing_id', d.existing_id,
      'name', d.name,
      'date', d.paid_on,
      'amount', app.format_minor(d.amount_minor, c.exponent),
      'currency', d.currency,
      'category', category.name,
      'category_source', d.category_source,
      'base_amount', app.format_minor(d.base_minor, base.exponent)
    ) order by d.place)
    from jsonb_to_recordset(drafts) as d (
      place int, id text, existing_id text, name text, paid_on date, amount_minor bigint, currency text,
      category_id text, category_source text, base_minor bigint
    )
    join app.currencies as c on c.code = d.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = d.category_id
  );
end
$$;
comment on function app.describe_drafts is 'What becomes of each item of log_expenses.';

-- schemas/expenses/log_expenses.sql

create or replace function app.warn_of_drafts(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  skipped text[];
  unrated text[];
  early text[];
  warnings jsonb := '[]';
begin
  select array_agg(d.name order by d.place) filter (where d.id is null),
    array_agg(distinct d.currency) filter (where d.id is not null and d.base_minor is null),
    array_agg(d.name order by d.place) filter (where d.id is not null and d.paid_on > context.today)
  into skipped, unrated, early
  from jsonb_to_recordset(drafts) as d (place int, id text, name text, paid_on date, currency text, base_minor bigint);
  if skipped is not null then
    warnings := warnings || app.warning('duplicate.expenses', jsonb_build_object('names', skipped));
  end if;
  if early is not null then
    warnings := warnings
      || app.warning('dated_tomorrow', jsonb_build_object('names', early, 'date', context.today + 1));
  end if;
  if unrated is not null then
    warnings := warnings
      || app.warning('rate_missing.of_day', jsonb_build_object('currencies', unrated, 'into', context.base_currency));
  end if;
  return warnings;
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
  -- Ids of this call by external id.
  own_ids jsonb := '{}';
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
    drafts[i] := drafts[i] || jsonb_build_object('id', app.new_id('exp'));
    if known_id is not null then
      drafts[i] := drafts[i] - 'external_id';
    elsif drafts[i] ? 'external_id' then
      own_ids := own_ids || jsonb_build_object(drafts[i] ->> 'external_id', drafts[i] -> 'id');
    end if;
  end loop;

  written := jsonb_path_query_array(to_jsonb(drafts), '$[*] ? (exists(@.id))');
  perform app.write_expenses(context, written, 'assistant');
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
  tags text[],
  payee text,
  min_amount numeric,
  max_amount numeric,
  currency text,
  kind text
);
comment on type app.expense_filter is
  'Which payments are meant. Texts are in lower case, Uncategorized is the empty category id, amounts are major units '
  'of each payment''s own currency.';

create or replace function app.parse_expense_filter(context app.context, arguments jsonb) returns app.expense_filter
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter;
  wanted text;
  category_id text;
begin
  filter.from_on := app.parse_date(context, arguments ->> 'from', 'from');
  filter.to_on := app.parse_date(context, arguments ->> 'to', 'to');
  if filter.from_on > filter.to_on then
    perform app.fail('invalid_argument.period_backwards',
      jsonb_build_object('from', filter.from_on, 'to', filter.to_on), 'to');
  end if;
  filter.query := lower(app.clean_text(arguments ->> 'query'));
  filter.payee := lower(app.clean_text(arguments ->> 'payee'));
  filter.kind := arguments ->> 'kind';
  filter.currency := arguments ->> 'currency';
  if filter.currency is not null then
    perform app.currency_exponent(filter.currency, 'currency');
  end if;
  filter.min_amount := (arguments ->> 'min_amount')::numeric;
  filter.max_amount := (arguments ->> 'max_amount')::numeric;
  if filter.min_amount > filter.max_amount then
    perform app.fail('invalid_argument.amounts_backwards', field => 'max_amount');
  end if;
  filter.tags := array(select lower(t) from unnest(nullif(app.clean_tags(arguments -> 'tags', 'tags'), '{}')) as t);
  for wanted in select app.clean_text(c) from jsonb_array_elements_text(arguments -> 'categories') as c loop
    -- Archived ones included: what was spent on them stays in the books.
    select c.id into category_id from app.categories as c where lower(c.name) = lower(wanted);
    if category_id is null and lower(wanted) <> 'uncategorized' then
      perform app.fail_without_category(wanted, 'categories');
    end if;
    filter.category_ids := filter.category_ids || coalesce(category_id, '');
  end loop;
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
    and ((filter).payee is null or match_key = (filter).payee)
    and ((filter).tags = '{}' or lower(tags::text)::text[] && (filter).tags)
    and ((filter).query is null or name is not null
      and strpos(lower(concat_ws(E'\n', name, payee, note, payment_note)), (filter).query) > 0);
comment on function app.matches_filter is 'Whether an expense or bill is one that a filter asks for.';

create or replace function app.find_payments(filter app.expense_filter)
returns table (
  payment_id text, recorded_seq bigint, paid_on date, currency text, direction text, amount_minor bigint,
  sort_minor bigint, paid_by uuid,
  expense_id text, name text, payee text, category_id text, tags text[], note text, url text, version int
)
language sql stable
begin atomic
  select p.id, p.recorded_seq, p.paid_on, p.currency, p.direction, p.amount_minor, p.sort_minor, p.paid_by,
    p.expense_id, e.name, e.payee, p.category_id, e.tags,
    case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, e.url,
    -- What is shown as one row counts the changes to both of its rows.
    case when starts_with(p.expense_id, 'bill_') then p.version else e.version + p.version - 1 end
  from app.payments as p
  left join app.expenses as e on e.id = p.expense_id
  left join app.currencies as c on c.code = p.currency
  where p.deleted_at is null
    and ((filter).from_on is null or p.paid_on >= (filter).from_on)
    and ((filter).to_on is null or p.paid_on <= (filter).to_on)
    and ((filter).currency is null or p.currency = (filter).currency)
    and ((filter).kind is null or (filter).kind = case
      when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
        else 'one_off'
    end)
    and ((filter).min_amount is null or p.amount_minor >= (filter).min_amount * 10::numeric ^ c.exponent)
    and ((filter).max_amount is null or p.amount_minor <= (filter).max_amount * 10::numeric ^ c.exponent)
    and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note);
end;
comment on function app.find_payments is
  'Payments in the books that a filter lets through, with the expense or bill that each belongs to.';

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
  total_count bigint;
  totals jsonb;
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
          sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end) as net
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
        array(
          select jsonb_build_object(
            'id', case when starts_with(p.expense_id, 'bill_') then p.payment_id else p.expense_id end,
            'kind',
            case when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
              else 'one_off' end,
            'date', p.paid_on, 'name', p.name, 'payee', p.payee, 'category', category.name, 'tags',
            nullif(p.tags, '{}'), 'note', p.note, 'url', p.url,
            'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
            'base_amount', app.format_minor(value.base_minor, base.exponent),
            'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end, 'version', p.version,
            -- Where it stands in the order.
            'key', jsonb_build_array(p.sort_key, p.recorded_seq)
          )
          from page as p
          join app.currencies as c on c.code = p.currency
          join app.currencies as base on base.code = $4
          left join app.categories as category on category.id = p.category_id
          cross join app.value_in_base($4, p.amount_minor, p.currency, p.paid_on) as value
          order by p.sort_key %2$s, p.recorded_seq %2$s
        )
    $query$,
    case when is_by_amount then 'p.sort_minor' else 'p.paid_on' end,
    case when is_ascending then 'asc' else 'desc' end,
    case when is_ascending then '>' else '<' end,
    case when is_by_amount then 'bigint' else 'date' end,
    case when num_nonnulls(filter.payee, filter.query) > 0 or filter.tags <> '{}' then 'materialized'
      else 'not materialized' end
  ) into total_count, totals, page using filter, key, page_size, context.base_currency;

  if cardinality(page) > page_size then
    page := page[:page_size];
    next_cursor := app.write_cursor(scope, page[page_size] -> 'key');
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(case when is_csv then 'csv' else 'rows' end, (
      select coalesce(jsonb_agg(r.shown - 'key' order by r.place), '[]')
      from unnest(page) with ordinality as r (shown, place)
    )),
    'next_cursor', next_cursor, 'total_count', total_count, 'totals_by_currency', totals
  );
end
$$;
comment on function app.list_expenses is
  'Tool list_expenses: data {rows}, or the same rows as {csv} for a file to be written of, with totals of all that '
  'match.';

-- schemas/expenses/periods.sql

-- Periods: the days that "last month" means for the owner, and the days to compare them with.

create type app.period as (
  from_on date,
  to_on date,
  shift interval
);
comment on type app.period is
  'Days from the first to the last; shift moves those of an earlier period onto the one it is compared with.';

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
      return (today - 29, today, null)::app.period;
    when 'last_12_months' then
      return ((today + 1 - interval '12 months')::date, today, null)::app.period;
    else
      -- Weeks begin on Monday (ISO 8601).
      first := date_trunc(unit, today::timestamp) - case when name like 'last%' then step else interval '0' end;
      return (first, (first + step)::date - 1, null)::app.period;
  end case;
end
$$;
comment on function app.named_period is
  'The period that a word such as last_month means on a day: whole weeks, months, quarters and years; the others end '
  'on that day.';

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
  return period;
end
$$;
comment on function app.parse_period is
  'The period that is meant: this month unless said; from alone reaches to today, to alone back to the first payment.';

create or replace function app.earlier_period(period app.period, compare text) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  months constant int := app.whole_months(period);
begin
  case compare
    when 'same_period_last_year' then
      return (
        (period.from_on - interval '1 year')::date,
        -- February as a whole stays one in leap years.
        case when months is null then (period.to_on - interval '1 year')::date
          else (period.to_on + 1 - interval '1 year')::date - 1 end,
        interval '1 year'
      )::app.period;
    when 'previous_period' then
      if months is null then
        return (period.from_on - (period.to_on - period.from_on + 1), period.from_on - 1,
          make_interval(days => period.to_on - period.from_on + 1))::app.period;
      end if;
      return ((period.from_on - make_interval(months => months))::date, period.from_on - 1,
        make_interval(months => months))::app.period;
    else
      return null;
  end case;
end
$$;
comment on function app.earlier_period is
  'The period to compare with: as many months, or days, right before, or the same days a year before; null for none.';

create or replace function app.compared_period(period app.period, compare text, today date) returns app.period
language plpgsql immutable set search_path = '' as $$
declare
  earlier app.period := app.earlier_period(period, compare);
begin
  if today between period.from_on and period.to_on then
    earlier.to_on := least(earlier.to_on, earlier.from_on + (today - period.from_on));
  end if;
  return earlier;
end
$$;
comment on function app.compared_period is
  'The period to compare what was spent with: of one that still runs, as many days as have passed.';

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

-- schemas/expenses/group_label.sql

-- summarize_spending: totals of a period in one currency, grouped, ranked and compared. Each payment is converted at
-- the rate of its own day and rounded once; what cannot be converted is named, never counted as if it were the other
-- currency. Refunds subtract.

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
  as_of date
);
comment on type app.spending is
  'All groups of a question, what could not be converted, whether that is so in any period, and by which rates the '
  'rest was.';

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
  earlier_filter app.expense_filter := filter;
  spending app.spending;
begin
  earlier_filter.from_on := earlier.from_on;
  earlier_filter.to_on := earlier.to_on;
  with payments as not materialized (
    select 'current' as part, p.paid_on as on_day, p.paid_on as rate_on, p.currency,
      case p.direction when 'out' then 1 else -1 end as sign,
      p.amount_minor, p.category_id, coalesce(p.payee, p.name) as payee, case when is_tagged then p.tags end as tags,
      p.paid_by as member_id
    from app.find_payments(filter) as p
    union all
    select 'earlier', (p.paid_on + earlier.shift)::date, p.paid_on, p.currency,
      case p.direction when 'out' then 1 else -1 end,
      p.amount_minor, p.category_id, coalesce(p.payee, p.name), case when is_tagged then p.tags end, p.paid_by
    from app.find_payments(earlier_filter) as p
    where earlier.from_on is not null
    union all
    -- What is still to come has no rate yet; today's is the nearest.
    select 'upcoming', x.due_on, least(x.due_on, context.today), x.currency, 1,
      x.expected_minor, e.category_id, coalesce(e.payee, e.name), case when is_tagged then e.tags end, e.created_by
    from jsonb_to_recordset(expected) as x (expense_id text, due_on date, expected_minor bigint, currency text)
    join app.expenses as e on e.id = x.expense_id
    join app.currencies as c on c.code = x.currency
    where expected is not null and x.expected_minor is not null
      and (filter.currency is null or x.currency = filter.currency)
      and (filter.min_amount is null or x.expected_minor >= filter.min_amount * 10::numeric ^ c.exponent)
      and (filter.max_amount is null or x.expected_minor <= filter.max_amount * 10::numeric ^ c.exponent)
      and app.matches_filter(filter, e.category_id, e.tags, e.match_key, e.name, e.payee, e.note, null)
  ),
  -- One of the two halves is nothing, as the planner sees.
  moves as (
    select p.*, null as tag, true as is_first from payments as p where not is_tagged
    union all
    select p.*, t.tag, coalesce(t.position, 1) = 1 from payments as p
      left join lateral unnest(p.tags) with ordinality as t (tag, position) on true where is_tagged
  ),
  -- What is in the target currency needs no rate; of what is not, each amount is kept, since each is rounded by itself.
  cells as materialized (
    select c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rate_on, min(c.spelling_1 collate "C") as spelling_1,
      min(c.spelling_2 collate "C") as spelling_2, sum(c.net_minor) as net_minor, count(*) as count,
      array_agg(c.net_minor) filter (where c.currency <> target) as net_amounts
    from (
      select m.part, m.is_first, m.currency,
        app.group_key(dimensions[1], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id) as key_1,
        app.group_key(dimensions[2], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id) as key_2,
        case dimensions[1] when 'payee' then m.payee when 'tag' then m.tag end as spelling_1,
        case dimensions[2] when 'payee' then m.payee when 'tag' then m.tag end as spelling_2,
        case when m.currency <> target then m.rate_on end as rate_on,
        m.sign * m.amount_minor as net_minor
      from moves as m
    ) as c
    group by c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rate_on
  ),
  foreign_days as materialized (
    select c.currency, c.rate_on,
      sum(c.net_minor) filter (where c.part <> 'earlier' and c.is_first) as minor,
      sum(c.count) filter (where c.part <> 'earlier' and c.is_first) as count
    from cells as c
    where c.currency <> target
    group by c.currency, c.rate_on
  ),
  rates as materialized (
    select d.currency, d.rate_on, t.per_euro * 10::numeric ^ into_currency.exponent as numerator,
      f.per_euro * 10::numeric ^ c.exponent as denominator,
      least(f.rate_on, t.rate_on) as as_of, array[f.source, t.source] as sources
    from foreign_days as d
    join app.currencies as c on c.code = d.currency
    join app.currencies as into_currency on into_currency.code = target
    cross join lateral app.rates_as_of(d.currency, d.rate_on) as f
    cross join lateral app.rates_as_of(target, d.rate_on) as t
  ),
  unconverted as (
    select d.currency, sum(d.minor) as minor, sum(d.count) as count
    from foreign_days as d
    where d.count > 0 and not exists (select from rates as r where r.currency = d.currency and r.rate_on = d.rate_on)
    group by d.currency
  ),
  sums as (
    select c.key_1, c.key_2, c.part, c.is_first, min(c.spelling_1 collate "C") as spelling_1,
      min(c.spelling_2 collate "C") as spelling_2,
      -- Without a rate there is no value, in the sum and in its count.
      sum(
        case when c.currency = target then c.net_minor
        else sign(n.minor) * app.scale_minor(abs(n.minor), r.numerator, r.denominator) end) as minor,
      sum(case when c.currency = target then c.count when r.currency is not null then 1 else 0 end) as count
    from cells as c
    left join rates as r on r.currency = c.currency and r.rate_on = c.rate_on
    left join lateral unnest(c.net_amounts) as n (minor) on true
    group by c.key_1, c.key_2, c.part, c.is_first
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
    (select count(*) from foreign_days) > (select count(*) from rates),
    array(select distinct s from rates as r cross join unnest(r.sources) as s where s is not null order by s),
    (select max(r.as_of) from rates as r)
  into spending;
  return spending;
end
$$;
comment on function app.sum_spending is
  'Sums by up to two dimensions, each payment converted to the target at the rate of its day; expected are rows of '
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
      select f.*, sum(f.minor) over () as total_minor, row_number() over (order by
        case when is_time_1 then f.name_1 #>> '{}' end, f.is_rest,
        case when not is_time_1 then f.head_minor end desc, case when not is_time_1 then f.head end,
        case when is_time_2 then f.name_2 #>> '{}' end, f.minor desc, f.head
      ) as place
      from folded as f
    ),
    -- Tenths of a percent that add up to 100: rounded down, and what is left goes to those that lost most.
    shares as (
      select o.*, floor(o.exact) as tenths,
        row_number() over (order by o.exact - floor(o.exact) desc, o.place) as turn,
        1000 - sum(floor(o.exact)) over () as left_over
      from (select o.*, case when o.total_minor > 0 then o.minor * 1000 / o.total_minor end as exact from ordered as o)
        as o
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'group', case
        when s.name_1 is null and s.name_2 is null then jsonb_build_array(rest)
        when cardinality(dimensions) = 1 then jsonb_build_array(s.name_1)
        else jsonb_build_array(coalesce(s.name_1, rest), coalesce(s.name_2, rest))
      end,
      'amount', app.format_minor(s.minor, exponent),
      'share_percent', round((s.tenths + case when s.turn <= s.left_over then 1 else 0 end) / 10, 1),
      'count', s.count,
      'upcoming', app.format_minor(s.upcoming_minor, exponent),
      'previous', case when is_compared then app.format_minor(s.earlier_minor, exponent) end,
      'change_percent',
      case when is_compared then round((s.minor - s.earlier_minor) * 100 / nullif(abs(s.earlier_minor), 0), 1) end
    ) order by s.place), '[]')
    from shares as s
  );
end
$$;
comment on function app.rank_spending is
  'Rows of summarize_spending: the largest groups, the rest as one ({none: "rest"}), periods of time in their order; '
  'shares are of what the rows add up to.';

-- schemas/expenses/summarize_spending.sql

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
  if (arguments ->> 'include_upcoming')::boolean and coalesce(filter.kind, 'bill_payment') = 'bill_payment' then
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

  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on) || case when is_compared then
        jsonb_build_object('previous', jsonb_build_object('from', earlier.from_on, 'to', earlier.to_on)) else '{}' end,
      'rows', rows,
      'total', total,
      'fx', jsonb_build_object(
        'sources', spending.sources, 'as_of', spending.as_of
      ),
      'unconverted', spending.unconverted
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.summarize_spending is 'Tool summarize_spending: data {period, rows, total, fx, unconverted}.';

-- schemas/expenses/change_expenses.sql

-- update_expenses and delete_records: change what is in the books. All that is named or nothing; what was changed since
-- it was shown stays.

create or replace function app.read_expenses(ids text[]) returns table (id text, name text, fields jsonb, version int)
language sql stable
begin atomic
  select e.id, e.name, jsonb_strip_nulls(jsonb_build_object(
    'name', e.name, 'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency, 'date', p.paid_on,
    'payee', e.payee,
    'category', category.name, 'tags', nullif(e.tags, '{}'), 'note', e.note, 'url', e.url
  )), e.version + p.version - 1
  from unnest(ids) as wanted (id)
  join app.expenses as e on e.id = wanted.id and e.kind = 'one_off' and e.deleted_at is null
  join app.payments as p on p.expense_id = e.id and p.deleted_at is null
  join app.currencies as c on c.code = p.currency
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
  if changes = '{}' and app.clean_tags(arguments -> 'add_tags', 'add_tags') = '{}' then
    perform app.fail('invalid_argument.nothing_to_change', field => 'set');
  end if;
  if changes ? 'name' and app.clean_text(changes ->> 'name') is null then
    perform app.fail('invalid_argument.expense_without_name', field => 'set.name');
  end if;
  if cardinality(ids) > 1 and changes - array['category', 'payee', 'note', 'url', 'tags'] <> '{}' then
    perform app.fail('invalid_argument.one_at_a_time', field => 'set');
  end if;
  if cardinality(ids) > 1 and arguments ? 'expected_version' then
    perform app.fail('invalid_argument.version_of_several', field => 'expected_version');
  end if;
end
$$;
comment on function app.check_update is 'What the contract of update_expenses says in words.';

create or replace function app.update_payment(context app.context, expense_id text, changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  base app.base_value;
begin
  select * into strict payment from app.payments as p
    where p.expense_id = update_payment.expense_id and p.deleted_at is null for update;
  -- A new currency without a new amount: the same figures, where that currency has as many decimals.
  payment.amount_minor := app.parse_amount(
    coalesce(changes ->> 'amount', app.format_amount(payment.amount_minor, payment.currency)),
    coalesce(changes ->> 'currency', payment.currency),
    'set.amount'
  );
  payment.currency := coalesce(changes ->> 'currency', payment.currency);
  payment.paid_on := coalesce(app.parse_paid_on(context, changes ->> 'date', 'set.date'), payment.paid_on);
  base := app.value_in_base(context.base_currency, payment.amount_minor, payment.currency, payment.paid_on);
  update app.payments as p
  set amount_minor = payment.amount_minor, currency = payment.currency, paid_on = payment.paid_on,
    base_currency = base.base_currency,
    base_minor = base.base_minor, fx_rate = base.fx_rate, fx_rate_on = base.fx_rate_on, fx_source = base.fx_source
  where p.id = payment.id
    and (p.amount_minor, p.currency, p.paid_on) is distinct from (payment.amount_minor, payment.currency,
      payment.paid_on);
end
$$;
comment on function app.update_payment is
  'Gives the payment of a one-off expense the amount, currency and date that are to change.';

create or replace function app.update_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(arguments -> 'ids'));
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
  new_category_id text;
  before jsonb;
  stale record;
  updated jsonb;
  changed text[];
begin
  perform app.check_update(arguments, ids);
  perform app.require_records(context, ids);
  select b.* into stale from app.read_expenses(ids) as b where b.version <> (arguments ->> 'expected_version')::numeric;
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
    tags
      = app.clean_tags(coalesce(changes -> 'tags', to_jsonb(e.tags)) || coalesce(arguments -> 'add_tags', '[]'),
      'add_tags')
  where e.id = any (ids);
  if changes ?| array['amount', 'currency', 'date'] then
    perform app.update_payment(context, ids[1], changes);
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
    'data', jsonb_build_object('updated', updated),
    'facts', jsonb_build_object('count', cardinality(changed), 'names', to_jsonb(changed[:4]), 'fields', (
      select jsonb_agg(distinct key)
      from jsonb_array_elements(updated) as u
      cross join jsonb_object_keys((u -> 'before') || (u -> 'after')) as key
    ))
  );
end
$$;
comment on function app.update_expenses is
  'Tool update_expenses: data {updated}, each with the fields that changed, before and after.';

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
  ids constant text[] := array(select jsonb_array_elements_text(arguments -> 'ids'));
  names text[];
  payments jsonb;
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
  names := array(select e.name from app.expenses as e where e.id = any (ids) order by array_position(ids, e.id));
  return jsonb_build_object(
    'data', jsonb_build_object(
      'deleted', (
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', e.id, 'name', e.name, 'payments', payments))
          order by array_position(ids, e.id))
        from app.expenses as e where e.id = any (ids)
      ),
      'restorable_until', ((context.at + interval '30 days') at time zone context.timezone)::date
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'count', cardinality(names), 'names', to_jsonb(names[:4]), 'reason', app.clean_text(arguments ->> 'reason')
    ))
  );
end
$$;
comment on function app.delete_records is
  'Tool delete_records: data {deleted, restorable_until}. Payments go with what they paid for, and come back with it; '
  'of a bill their number and totals are told: payments {count, totals}.';

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
language plpgsql volatile set search_path = '' as $$
begin
  if table_name = 'settings' then
    return query
      select w.row_id, p.current, p.current @> w.kept
      from unnest(ids, compare_rows.kept) as w (row_id, kept)
      cross join lateral (select app.read_preferences(w.row_id) as current offset 0) as p;
    return;
  end if;
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
  'happens to it, or which fields go back.';

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
    when table_name = 'settings' then jsonb_build_object('kind', 'settings')
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
    select case key when 'paid_on' then 'date' else regexp_replace(key, '_(minor|id|on)$', '') end
    from jsonb_object_keys(wanted) as key
    where wanted -> key is distinct from kept -> key and key <> all (app.derived_columns(table_name))
      and key !~ '^(base|fx)_'
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
    return current - 'id';
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

create or replace function app.find_change_to_undo(context app.context, change_id text) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  target app.change_sets;
begin
  if change_id is null then
    -- "Undo that": neither an undo, nor what was paid or fetched automatically on the way.
    select * into target from app.change_sets as s
    where s.actor_id = context.actor_id and s.undoes is null and s.undone_by is null
      and s.tool not in ('undo_change', 'autopay', 'provider_sync')
    order by s.recorded_seq desc
    limit 1;
    if not found then
      perform app.fail('not_found.own_change', jsonb_build_object('organization', context.organization_name),
        'change_id');
    end if;
  else
    select * into target from app.change_sets as s where s.id = find_change_to_undo.change_id;
    if not found then
      perform app.fail(
        'not_found.change', jsonb_build_object('id', change_id, 'organization', context.organization_name), 'change_id'
      );
    end if;
  end if;
  if target.undone_by is not null then
    perform app.fail('undo_conflict.undone_already', jsonb_build_object(
      'change', app.change_facts(target), 'details', jsonb_build_object('undone_by', target.undone_by)
    ), 'change_id');
  end if;
  if target.created_at < context.at - interval '30 days' then
    perform app.fail('undo_expired', jsonb_build_object('change', app.change_facts(target), 'days', 30), 'change_id');
  end if;
  return target;
end
$$;
comment on function app.find_change_to_undo is
  'The change that is meant: the one named, else the caller''s latest that still stands.';

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

-- schemas/connector/undo_change.sql

create or replace function app.undo_change(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  target constant app.change_sets := app.find_change_to_undo(context, arguments ->> 'change_id');
  batch record;
  rows app.kept_row[];
  differing app.kept_row[];
  removed text[];
  expense_ids text[];
  conflicts app.kept_row[] := '{}';
  reversed app.kept_row[] := '{}';
  kept jsonb := '[]';
begin
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
    -- Within a step as they were recorded, so that what was taken back in one is told in the order of the books.
    select s.table_name, s.before is null as is_new,
      array_agg(s.row_id order by s.recorded_seq desc, s.position desc) as ids,
      array_agg(s.before order by s.recorded_seq desc, s.position desc) as befores,
      array_agg(s.after order by s.recorded_seq desc, s.position desc) as afters
    from steps as s
    group by s.table_name, s.before is null, s.step
    order by max(s.position) desc
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
      reversed := reversed || array(
        select (r.table_name, r.row_id, r.before, r.after, r.current)::app.kept_row
        from unnest(rows) with ordinality as r
        where r.row_id = any (removed)
        order by r.ordinality
      );
      kept := kept || (
        select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'why', 'in_use', 'subject', d.subject)), '[]')
        from unnest(rows) as r
        cross join lateral app.describe_reversal(r.table_name, r.after, r.before, r.current) as d
        where r.row_id <> all (removed)
      );
    else
      perform app.write_rows(batch.table_name, batch.ids, batch.befores);
      reversed := reversed || rows;
    end if;
  end loop;

  if conflicts = '{}' then
    conflicts := array(
      -- A bill cannot go while money that was paid for it since stays.
      select ('payments', p.id, to_jsonb(p), to_jsonb(p), to_jsonb(p))::app.kept_row
      from (select distinct id from unnest(expense_ids) as id) as x
      -- Looked up one by one: of how many an undo touched the planner knows nothing.
      cross join lateral (select e.deleted_at from app.expenses as e where e.id = x.id offset 0) as e
      cross join lateral (select p.* from app.payments as p where p.expense_id = x.id and p.deleted_at is null offset 0)
        as p
      where e.deleted_at is not null
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
    ) || app.describe_reversals(reversed),
    -- Undoing an undo does the first change again.
    'facts', case
      when target.undoes is null then jsonb_build_object('verb', 'undid', 'change', app.change_facts(target))
      else jsonb_build_object(
        'verb', case target.facts ->> 'verb' when 'undid' then 'redid' else 'undid' end, 'change',
        target.facts -> 'change'
      )
    end
  );
exception when unique_violation then
  perform app.fail('undo_conflict.name_taken', jsonb_build_object('change', app.change_facts(target)), 'change_id');
end
$$;
comment on function app.undo_change is 'Tool undo_change: data {undone, reversed, reversed_count?, not_reversible}.';

-- schemas/expenses/import.sql

-- import_expenses: rows of a file into the books in two steps. The first keeps what was read for a day and shows it;
-- the second writes all of it as one change, when the caller says the count and the totals it was shown. Reading the
-- file itself is done before: here are only its rows.

create table app.import_batches (
  id text collate "C" primary key default app.new_id('imp')
    constraint import_batches_id_format check (id ~ '^imp_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  rows jsonb not null constraint import_batches_rows_count check (jsonb_array_length(rows) between 1 and 2000),
  change_id text references app.change_sets (id) on delete set null,
  result jsonb,
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null
);
comment on table app.import_batches is
  'Rows of a file that were shown and wait for a yes, for 24 hours; after it, what the import answered.';
comment on column app.import_batches.rows is
  'Items as log_expenses takes them, each with its line in the file: [{line, name, amount, currency, date, payee?, '
  'category?, note?, url?, is_refund?}].';
comment on column app.import_batches.result is
  'What committing answered, so that a repeated call answers it again; null before.';
create index import_batches_organization_id_idx on app.import_batches (organization_id);
create index import_batches_change_id_idx on app.import_batches (change_id);
create index import_batches_expires_at_idx on app.import_batches (expires_at);

alter table app.import_batches enable row level security;
create policy "People can use their own imports" on app.import_batches
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
grant select, insert, update, delete on app.import_batches to service_role;
grant select, insert, update (change_id, result) on app.import_batches to authenticated;

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

create or replace function app.read_import_rows(
  context app.context, items jsonb, create_missing_categories boolean, out drafts jsonb, out bad jsonb
) returns record
language plpgsql volatile set search_path = '' as $$
declare
  good jsonb[] := '{}';
  refused jsonb[] := '{}';
  item jsonb;
  problem text;
begin
  for item in select i from jsonb_array_elements(items) as i loop
    begin
      good := good
        || (app.parse_expense_item(context, item, 'csv', create_missing_categories)
        || jsonb_build_object('place', item -> 'line'));
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
      refused := refused || jsonb_build_object('line', item -> 'line', 'error', problem::jsonb);
    end;
  end loop;
  drafts := to_jsonb(good);
  bad := to_jsonb(refused);
end
$$;
comment on function app.read_import_rows is
  'Rows as drafts whose place is their line, and those that cannot be, with why: [{line, error}].';

create or replace function app.find_imported(drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  return (
    with incoming as (
      -- Two equal lines are two expenses: the second one is in the books only when the books have two.
      select i.draft, d.*,
        row_number() over (partition by d.paid_on, d.amount_minor, d.currency, d.direction, d.match_key
        order by d.place) as nth
      from jsonb_array_elements(drafts) as i (draft)
      cross join lateral jsonb_to_record(i.draft)
        as d (place int, paid_on date, amount_minor bigint, currency text, direction text, match_key text)
    ), keys as (
      select distinct i.paid_on, i.amount_minor, i.currency, i.direction from incoming as i
    ), known as (
      select k.paid_on, k.amount_minor, k.currency, k.direction, e.match_key,
        case e.kind when 'bill' then p.id else e.id end as id,
        row_number() over (partition by k.paid_on, k.amount_minor, k.currency, k.direction, e.match_key
          order by p.recorded_seq) as nth
      from (select distinct k.paid_on from keys as k) as d
      -- Day by day, since the planner cannot know how few days of all the payments a file is about.
      cross join lateral (select p.* from app.payments as p
        where p.paid_on = d.paid_on and p.deleted_at is null offset 0) as p
      join keys as k
        on k.paid_on = p.paid_on and k.amount_minor = p.amount_minor and k.currency = p.currency
          and k.direction = p.direction
      cross join lateral (select e.* from app.expenses as e where e.id = p.expense_id offset 0) as e
    )
    select
      coalesce(jsonb_agg(i.draft || jsonb_strip_nulls(jsonb_build_object('existing_id', k.id)) order by i.place), '[]')
    from incoming as i
    left join known as k
      on k.paid_on = i.paid_on and k.amount_minor = i.amount_minor and k.currency = i.currency
      and k.direction = i.direction and k.match_key = i.match_key and k.nth = i.nth
  );
end
$$;
comment on function app.find_imported is
  'The drafts, each with the id of the expense or payment in the books that it repeats, if any: by the rule of '
  'log_expenses, counted.';

-- schemas/expenses/find_near_bills.sql

create or replace function app.find_near_bills(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  -- Banks book a day or a weekend later than people pay.
  days constant int := 5;
  first_day constant date := (select min(d.paid_on) from jsonb_to_recordset(drafts) as d (paid_on date)) - days;
  last_day constant date := (select max(d.paid_on) from jsonb_to_recordset(drafts) as d (paid_on date)) + days;
begin
  return (
    with known as materialized (
      select p.expense_id, p.amount_minor, p.currency, p.paid_on as day, true as is_paid
      from app.payments as p
      where p.paid_on between first_day and last_day and p.deleted_at is null and p.direction = 'out'
        and starts_with(p.expense_id, 'bill_')
      union all
      select o.expense_id, o.expected_minor, o.currency, o.due_on, false
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open'
        and o.due_on between first_day and last_day
    ), near as (
      select distinct on (d.place) d.*, k.day, k.is_paid, b.id as bill_id, b.name as bill
      from jsonb_to_recordset(drafts) as d (
        place int, name text, payee text, direction text, amount_minor bigint, currency text, paid_on date,
        existing_id text
      )
      join known as k on k.amount_minor = d.amount_minor and k.currency = d.currency
        and k.day between d.paid_on - days and d.paid_on + days
      join app.expenses as b on b.id = k.expense_id and b.status <> 'cancelled' and b.deleted_at is null
      where d.existing_id is null and d.direction = 'out'
        -- What comes every few days is near to anything of its amount, unless it is called alike.
        and (b.frequency not in ('daily', 'weekly')
          or app.text_likeness(b.name, d.name) > 0.5
            or app.text_likeness(coalesce(b.payee, b.name), coalesce(d.payee, d.name)) > 0.5)
      order by d.place, app.text_likeness(b.name, d.name) desc, abs(k.day - d.paid_on), k.is_paid desc, b.id
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'line', n.place, 'date', n.paid_on, 'name', n.name, 'amount', app.format_amount(n.amount_minor, n.currency),
      'currency', n.currency, 'bill_id', n.bill_id, 'bill', n.bill,
      case when n.is_paid then 'paid_on' else 'due_on' end, n.day
    ) order by n.place), '[]')
    from near as n
  );
end
$$;
comment on function app.find_near_bills is
  'Rows that may be the payment of a bill which is in the books on another day or still open: [{line, date, name, '
  'amount, currency, bill_id, bill, paid_on or due_on}].';

create or replace function app.list_unknown_categories(context app.context, items jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      jsonb_build_object('name', u.name, 'rows', u.rows) order by u.rows desc, u.name collate "C"
    ), '[]')
    from (
      select min(r.category collate "C") as name, count(*) as rows
      from (select app.clean_text(i ->> 'category') as category from jsonb_array_elements(items) as i offset 0) as r
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

create or replace function app.drafts_to_write(drafts jsonb, arguments jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case when arguments ->> 'on_duplicate' = 'allow' then drafts
    else jsonb_path_query_array(drafts, '$[*] ? (!exists(@.existing_id))') end;
end
$$;
comment on function app.drafts_to_write is
  'The drafts of a file that go into the books: without those that are there, unless the caller wants them twice.';

-- schemas/expenses/preview_import.sql

create or replace function app.preview_import(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  home constant text := coalesce(arguments ->> 'default_currency', context.base_currency);
  unknown constant jsonb := app.list_unknown_categories(context, arguments -> 'rows');
  unknown_names constant text[] := array(select lower(u ->> 'name') from jsonb_array_elements(unknown) as u);
  max_listed constant int := 100;
  items jsonb;
  readable jsonb;
  drafts jsonb;
  bad jsonb;
  import_id text;
  written jsonb;
  duplicates jsonb;
  near_bills jsonb;
  totals jsonb;
  warnings jsonb := coalesce(arguments -> 'warnings', '[]');
begin
  perform app.currency_exponent(home, 'default_currency');
  select jsonb_agg(i || jsonb_build_object('currency', app.currency_of_sign(coalesce(i ->> 'currency', home), home)))
  into items
  from jsonb_array_elements(arguments -> 'rows') as i;
  -- Whether its category exists is asked when the row is written; everything else must hold now.
  select
    jsonb_agg(case when lower(app.clean_text(i ->> 'category')) = any (unknown_names) then i - 'category' else i end)
  into readable
  from jsonb_array_elements(items) as i;
  select r.drafts, r.bad into drafts, bad from app.read_import_rows(context, readable, false) as r;
  select coalesce(jsonb_agg(b order by (b ->> 'line')::int), '[]') into bad
  from jsonb_array_elements(coalesce(arguments -> 'rows_bad', '[]') || bad) as b;
  if drafts = '[]' then
    perform app.fail('invalid_argument.no_row_readable', jsonb_build_object('details', jsonb_build_object(
      'rows_bad', (select jsonb_agg(b) from (select b from jsonb_array_elements(bad) as b limit max_listed) as b),
      'mapping', arguments -> 'mapping'
    )), 'csv');
  end if;
  drafts := app.find_imported(drafts);
  written := app.drafts_to_write(drafts, arguments);
  totals := app.total_drafts(written);
  select coalesce(jsonb_agg(jsonb_build_object(
    'line', d.place, 'date', d.paid_on, 'name', d.name, 'amount', app.format_amount(d.amount_minor, d.currency),
    'currency', d.currency, 'existing_id', d.existing_id
  ) order by d.place), '[]') into duplicates
  from jsonb_to_recordset(drafts)
    as d (place int, paid_on date, name text, amount_minor bigint, currency text, existing_id text)
  where d.existing_id is not null;

  near_bills := app.find_near_bills(context, drafts);
  if near_bills <> '[]' then
    warnings := warnings || app.warning('may_be_bill_payment', jsonb_build_object(
      'count', jsonb_array_length(near_bills), 'rows', jsonb_path_query_array(near_bills, '$[0 to 2]')
    ));
  end if;

  insert into app.import_batches (organization_id, actor_id, rows, expires_at)
  select context.organization_id, context.actor_id, jsonb_agg(i order by (i ->> 'line')::int),
    context.at + interval '24 hours'
  from jsonb_array_elements(items) as i
  where (i ->> 'line')::int in (select d.place from jsonb_to_recordset(drafts) as d (place int))
  returning id into import_id;

  if unknown <> '[]' then
    warnings := warnings || app.warning('category_not_found', jsonb_build_object(
      'names', jsonb_path_query_array(unknown, '$[*].name')
    ));
  end if;
  return jsonb_build_object('data', jsonb_build_object('preview', jsonb_build_object(
    'import_id', import_id,
    'rows_ok', jsonb_array_length(written),
    'rows_bad',
    (select coalesce(jsonb_agg(b), '[]') from (select b from jsonb_array_elements(bad) as b limit max_listed) as b),
    'rows_bad_count', jsonb_array_length(bad),
    'duplicates',
    (select coalesce(jsonb_agg(d), '[]')
      from (select d from jsonb_array_elements(duplicates) as d limit max_listed) as d),
    'duplicates_count', jsonb_array_length(duplicates),
    'may_be_bills',
    (select jsonb_agg(b) from (select b from jsonb_array_elements(near_bills) as b limit max_listed) as b),
    'totals', totals,
    'sample', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'line', s.place, 'date', s.paid_on, 'name', s.name, 'payee', s.payee,
        'amount', app.format_amount(s.amount_minor, s.currency), 'currency', s.currency,
        'is_refund', case s.direction when 'refund' then true end,
        'category', coalesce(
          (select i ->> 'category' from jsonb_array_elements(items) as i where (i ->> 'line')::int = s.place),
          (select c.name from app.categories as c where c.id = s.category_id)
        ), 'category_source', s.category_source, 'note', s.note, 'url', s.url
      ) order by s.place), '[]')
      from (
        select d.*
        from jsonb_to_recordset(drafts) as d (
          place int, paid_on date, name text, payee text, amount_minor bigint, currency text, direction text,
          category_id text, category_source text, note text, url text
        )
        order by d.place
        limit 5
      ) as s
    ),
    'mapping', arguments -> 'mapping',
    'commit_with',
    jsonb_build_object('import_id', import_id, 'expected_count', jsonb_array_length(written), 'expected_totals', totals)
  ) || app.describe_unknown_categories(unknown)), 'warnings', warnings);
end
$$;
comment on function app.preview_import is
  'Step 1: keeps the rows that can be written for 24 hours and answers what they are, {preview}; nothing is in the '
  'books.';

-- schemas/expenses/commit_import.sql

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

create or replace function app.commit_import(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches;
  unknown jsonb;
  drafts jsonb;
  written jsonb;
  count int;
  totals jsonb;
  skipped int;
  answer jsonb;
begin
  select * into batch from app.import_batches as b where b.id = arguments ->> 'import_id' and b.expires_at > context.at;
  if not found then
    perform app.fail('not_found.import', field => 'import_id');
  end if;
  -- A call that is repeated answers what the first one did, unless that was undone in between.
  if batch.result is not null
    and not exists (select from app.change_sets as s where s.id = batch.change_id and s.undone_by is not null) then
    return batch.result || '{"replayed": true}';
  end if;
  unknown := app.list_unknown_categories(context, batch.rows);
  if unknown <> '[]' and not coalesce((arguments ->> 'create_missing_categories')::boolean, false) then
    perform app.fail('category_not_found.in_file', jsonb_build_object(
      'name', unknown #> '{0,name}', 'details', app.describe_unknown_categories(unknown)
    ), 'create_missing_categories');
  end if;
  select app.find_imported(r.drafts) into drafts from app.read_import_rows(context, batch.rows, true) as r;
  written := app.drafts_to_write(drafts, arguments);
  count := jsonb_array_length(written);
  totals := app.total_drafts(written);
  skipped := jsonb_array_length(drafts) - count;
  if (arguments ->> 'expected_count')::numeric is distinct from count
    or not app.same_totals(arguments -> 'expected_totals', totals) then
    perform app.fail(
      'expectation_mismatch.of_import',
      jsonb_build_object('count', count, 'totals', totals, 'skipped', skipped, 'details', jsonb_build_object(
        'commit_with', jsonb_build_object('import_id', batch.id, 'expected_count', count, 'expected_totals', totals),
        'skipped', skipped
      )),
      case when (arguments ->> 'expected_count')::numeric is distinct from count then 'expected_count'
        else 'expected_totals' end
    );
  end if;

  select coalesce(jsonb_agg(d || jsonb_build_object('id', app.new_id('exp'))), '[]') into written
    from jsonb_array_elements(written) as d;
  perform app.write_expenses(context, written, 'import');

  answer := jsonb_build_object(
    'data', jsonb_build_object('created', count, 'skipped', skipped, 'totals', totals),
    'change_id', case when count > 0 then current_setting('app.change_id') end,
    'warnings', app.warn_of_drafts(context, written)
  );
  update app.import_batches as b
  set result = answer, change_id = answer ->> 'change_id'
  where b.id = batch.id;
  return answer || jsonb_build_object('facts', jsonb_build_object(
    'count', count, 'totals_by_currency', totals,
    'names', jsonb_path_query_array(written, '$[0 to 3].name')
  ));
end
$$;
comment on function app.commit_import is
  'Step 2: writes the rows of a preview as one change, {created, skipped, totals}; a second time it answers the same '
  'and writes nothing.';

create or replace function app.import_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return case when arguments ? 'import_id' then app.commit_import(context, arguments)
    else app.preview_import(context, arguments) end;
end
$$;
comment on function app.import_expenses is
  'Tool import_expenses: data {preview}, then {created, skipped, totals}. Arguments of the first step: {rows, '
  'rows_bad, mapping, warnings}, read from the file.';

-- schemas/expenses/spending_chart.sql

-- show_spending_chart: what the chart draws, as series of points. Sums are those of summarize_spending and list_bills;
-- nothing is added up differently here.

create or replace function app.chart_unit(period app.period) returns text
language plpgsql immutable set search_path = '' as $$
declare
  days constant int := period.to_on - period.from_on + 1;
begin
  return case when days <= 45 then 'day' when days <= 186 then 'week' else 'month' end;
end
$$;
comment on function app.chart_unit is
  'The step of a time axis: at most about six weeks of days, half a year of weeks, else months.';

create or replace function app.chart_steps(period app.period, unit text, last_day date) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select app.group_key(unit, null, null, null, d::date, null, null)
    from generate_series(date_trunc(unit, period.from_on::timestamp), last_day::timestamp, ('1 ' || unit)::interval)
      as d
    order by d
  );
end
$$;
comment on function app.chart_steps is
  'The keys of every step of a time axis, those in which nothing happened included.';

create or replace function app.chart_parts(period app.period, unit text, steps text[], today date) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array(
    select s.step
    from unnest(steps) as s (step)
    cross join lateral (select case when unit = 'month' then to_date(s.step, 'YYYY-MM') else s.step::date end
      as begins_on) as b
    where unit <> 'day'
      and (b.begins_on < period.from_on
        or (b.begins_on + ('1 ' || unit)::interval)::date > least(period.to_on, today) + 1)
  );
end
$$;
comment on function app.chart_parts is
  'The steps that are not whole: of which the period has only a part, or which still run. A day is always whole.';

create type app.chart_point as (
  label text,
  head_minor numeric,
  is_rest boolean,
  step text,
  minor numeric
);
comment on type app.chart_point is
  'A sum of one series at one step; head_minor is the sum of its series, by which series are ordered.';

create or replace function app.chart_points(spending app.spending, dimensions text[], top int) returns app.chart_point[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    with named as (
      select case when dimensions[1] = 'category' then (select c.name from app.categories as c where c.id = g.key_1) end
        as label,
        case when dimensions[1] = 'category' then g.key_2 else g.key_1 end as step, g.minor
      from unnest(spending.groups) as g
      where g.count > 0
    ), ranked as (
      select h.*, dense_rank() over (order by h.head_minor desc, h.label) > top as is_rest
      from (select n.*, sum(n.minor) over (partition by n.label) as head_minor from named as n) as h
    ), folded as (
      select case when not r.is_rest then r.label end as label, r.is_rest, r.step, sum(r.minor) as minor
      from ranked as r
      group by 1, 2, 3
    )
    select (f.label, sum(f.minor) over (partition by f.is_rest, f.label), f.is_rest, f.step, f.minor)::app.chart_point
    from folded as f
  );
end
$$;
comment on function app.chart_points is
  'Sums by series and step; categories beyond the largest ones are one series, the rest. Without a label: what has no '
  'category, or everything.';

create or replace function app.describe_bars(points app.chart_point[], exponent int) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_array(jsonb_build_object('points', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'x', p.label, 'is_rest', nullif(p.is_rest, false), 'y', app.format_minor(p.minor, exponent),
      'share', case when p.total > 0 and p.minor >= 0 then round(p.minor * 100 / p.total) end
    )) order by p.is_rest, p.minor desc, p.label), '[]')
    from (select p.*, sum(p.minor) over () as total from unnest(points) as p) as p
  )));
end
$$;
comment on function app.describe_bars is
  'One bar a category, the largest first and the rest last: one series, whose points are the categories; share is in '
  'percent.';

-- schemas/expenses/chart_spending.sql

create or replace function app.describe_columns(
  points app.chart_point[], steps text[], parts text[], exponent int, out series jsonb, out totals jsonb
) returns record
language plpgsql immutable set search_path = '' as $$
begin
  select
    coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'label', l.label, 'is_rest', nullif(l.is_rest, false), 'points', l.points
    )) order by l.is_rest, l.head_minor desc, l.label), '[]')
  into series
  from (
    select l.label, l.is_rest, l.head_minor, jsonb_agg(
      jsonb_build_object(
        'x', s.step, 'y', app.format_minor(coalesce(p.minor, 0), exponent), 'partial',
        case when s.step = any (parts) then true end
      ) order by s.place
    ) as points
    from (select distinct p.label, p.is_rest, p.head_minor from unnest(points) as p) as l
    cross join unnest(steps) with ordinality as s (step, place)
    left join unnest(points) as p on p.label is not distinct from l.label and p.is_rest = l.is_rest and p.step = s.step
    group by l.label, l.is_rest, l.head_minor
  ) as l;
  select jsonb_agg(app.format_minor(coalesce(t.minor, 0), exponent) order by s.place) into totals
  from unnest(steps) with ordinality as s (step, place)
  left join (select p.step, sum(p.minor) as minor from unnest(points) as p group by p.step) as t on t.step = s.step;
end
$$;
comment on function app.describe_columns is
  'Series of points, one a step, in the order in which they are drawn: the largest first and the rest last; totals has '
  'the sum of each step.';

create or replace function app.chart_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  chart constant text := coalesce(arguments ->> 'chart', 'by_category');
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  earlier constant app.period := app.compared_period(period, 'previous_period', context.today);
  books_begin constant date := app.books_begin(period, earlier);
  -- Null for dates.
  period_name constant text :=
    case when not arguments ?| array['from', 'to'] then coalesce(arguments ->> 'period', 'this_month') end;
  unit constant text := case when chart <> 'by_category' then app.chart_unit(period) end;
  dimensions constant text[] := array_remove(array[case when chart <> 'over_time' then 'category' end, unit], null);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  spending app.spending;
  points app.chart_point[];
  steps text[];
  series jsonb;
  step_totals jsonb;
  sums record;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  spending := app.sum_spending(context, filter, earlier, null, dimensions, target);
  points := app.chart_points(spending, dimensions, case chart when 'by_category' then 12 else 5 end);
  if unit is not null then
    steps := app.chart_steps(period, unit, greatest(
      least(period.to_on, context.today), period.from_on,
      (select max(case when unit = 'month' then to_date(p.step, 'YYYY-MM') else p.step::date end)
        from unnest(points) as p)
    ));
  end if;
  if unit is null then
    series := app.describe_bars(points, exponent);
  else
    select c.series, c.totals into series, step_totals
    from app.describe_columns(points, steps, app.chart_parts(period, unit, steps, context.today), exponent) as c;
  end if;
  select coalesce(sum(g.once_minor), 0) as minor, coalesce(sum(g.once_count), 0) as count,
    coalesce(sum(g.once_earlier_minor), 0) as earlier_minor
  into sums
  from unnest(spending.groups) as g;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', chart,
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'name', period_name),
      'currency', target,
      'unit', unit,
      'series', series,
      'step_totals', step_totals,
      'total',
      jsonb_build_object('amount', app.format_minor(sums.minor, exponent), 'currency', target, 'count', sums.count),
      'compared', case when sums.earlier_minor > 0 and books_begin is null then jsonb_build_object(
        'from', earlier.from_on, 'to', earlier.to_on, 'amount', app.format_minor(sums.earlier_minor, exponent),
        'change_percent', round((sums.minor - sums.earlier_minor) * 100 / sums.earlier_minor, 1),
        'whole_percent', round((sums.minor - sums.earlier_minor) * 100 / sums.earlier_minor)
      ) end,
      -- Said where a comparison would stand otherwise.
      'books_begin', case when sums.earlier_minor > 0 then books_begin end,
      'unconverted', spending.unconverted
    ),
    'warnings', case
      when spending.unconverted = '[]' then '[]'::jsonb
      else jsonb_build_array(app.warning('rate_missing.of_chart', jsonb_build_object('into', target)))
    end
  );
end
$$;
comment on function app.chart_spending is 'Charts of what was spent: by category, over time, or both.';

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
  ), shown as (
    select l.*, row_number() over (order by l.due_on, l.name, l.expense_id) as place from lines as l
  ), bills as (
    select s.expense_id, s.name, min(s.place) as place, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'x', s.due_on, 'y', app.format_minor(s.minor, into_exponent), 'overdue',
      case when s.due_on < context.today then true end,
      'dates', nullif(s.dates, 1), 'to', nullif(s.last_on, s.due_on)
    )) order by s.place) as points
    from shown as s
    where s.place <= max_lines
    group by s.expense_id, s.name
  )
  select
    coalesce(
      (
      select jsonb_agg(jsonb_build_object('label', b.name, 'bill_id', b.expense_id, 'points', b.points)
      order by b.place) from bills as b), '[]') as series,
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
      'currency', target,
      'unit', 'day',
      'series', due.series,
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
  'Tool show_spending_chart: data {chart, period, currency, unit?, series, step_totals?, total, compared?, '
  'books_begin?, unconverted}.';

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

create or replace function app.month_dates(month int, days int[]) returns date[]
language plpgsql immutable set search_path = '' as $$
declare
  dates date[] := '{}';
  day int;
  candidate date;
  latest date;
begin
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
  'Several days of a month as dates in order; days that fall together on the last day of a short month are one.';

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
    if day >= 28 then
      total := total - app.count_short_months(first, step, terms, day);
    end if;
  end loop;
  return total;
end
$$;
comment on function app.count_month_dates is
  'How many dates these days (ascending, 1 to 31) have in the months first, first + step, ….';

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
  'Days of the month of a monthly or yearly schedule, ascending; 31 is the last day.';

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
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'frequency', bill.frequency, 'every', bill.every, 'anchor_on', bill.anchor_on,
    'month_days', case when bill.frequency = 'monthly' then to_jsonb(app.schedule_days(bill)) end,
    'weekend_rule', nullif(bill.weekend_rule, 'none'), 'ends_on', bill.ends_on, 'ends_after', bill.ends_after
  ));
end
$$;
comment on function app.describe_schedule is
  'A bill''s schedule as facts: {frequency, every, anchor_on, month_days?, weekend_rule?, ends_on?, ends_after?}; '
  'month_days are in order, 31 for the last day.';

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
  return (bill).autopay and (bill).amount_mode = 'fixed' and due_on < today and due_on >= (bill).next_due;
comment on function app.is_paid_by_autopay is
  'Whether an open occurrence passes for paid: automatic, of a known amount, and passed since the bill was rolled '
  'last.';

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
    with passed as materialized (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor,
        o.expected_minor - o.paid_minor as remaining_minor, o.currency
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on < context.today
        and (bill_ids is null or o.expense_id = any (bill_ids))
    ), late as materialized (
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
    -- Full, as in app.open_occurrences.
    full join late as l on (l.bill).id = p.expense_id
    where coalesce(p.expense_id, '') <> '' and coalesce((l.bill).id, '') <> ''
      and app.is_paid_by_autopay(l.bill, p.due_on, context.today) is not true
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
  -- "offset 0" keeps conditions of the caller out of it, which would make it another kind of join.
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
  -- a step.
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
  note text default null
) returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  base app.base_value;
  payment app.payments;
begin
  select v.* into base
  from identity.organizations as o
  cross join lateral app.value_in_base(o.base_currency, pay_occurrence.amount_minor, occurrence.currency,
    pay_occurrence.paid_on) as v
  where o.id = occurrence.organization_id;
  insert into app.payments as p (
    organization_id, expense_id, occurrence_id, amount_minor, currency, paid_on,
    base_currency, base_minor, fx_rate, fx_rate_on, fx_source, note, source, paid_by
  ) values (
    occurrence.organization_id, occurrence.expense_id, occurrence.id, pay_occurrence.amount_minor, occurrence.currency,
    pay_occurrence.paid_on,
    base.base_currency, base.base_minor, base.fx_rate, base.fx_rate_on, base.fx_source,
    pay_occurrence.note, pay_occurrence.source, pay_occurrence.paid_by
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
  remaining bigint;
begin
  for occurrence in
    select * from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and app.is_paid_by_autopay(bill, o.due_on, today)
    order by o.scheduled_on
  loop
    -- A change of its own, so that it can be undone without the change that happened to roll the bill.
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    select o.id, coalesce(auth.uid(), o.owner_id), 'autopay', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on,
      'amount', app.format_amount(occurrence.expected_minor, bill.currency), 'currency', bill.currency
    )
    from identity.organizations as o
    where o.id = bill.organization_id
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    remaining := occurrence.expected_minor - app.paid_minor(occurrence.id);
    if remaining > 0 then
      perform app.pay_occurrence(occurrence, remaining, occurrence.due_on, 'autopay');
    end if;
    update app.expense_occurrences as o set status = 'paid', closed_at = app.instant() where o.id = occurrence.id;
  end loop;
  perform set_config('app.change_id', coalesce(outer_change, ''), true);
end
$$;
comment on function app.record_autopay is
  'Records the open occurrences that pass for paid (app.is_paid_by_autopay) as paid on their due dates, each as a '
  'change that can be undone.';

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
  today date, lead_days int, is_settled boolean)
returns text
language sql immutable
  return case
    when status = 'ended' then 'paid'
    when status <> 'active' then null
    when earliest_due < today then 'overdue'
    when next_due <= today + lead_days and is_amount_known then 'due'
    when next_due <= today + lead_days then 'amount_missing'
    when next_due is null or is_settled then 'paid'
    when is_amount_known then 'upcoming'
    else 'amount_missing'
  end;
comment on function app.bill_state is
  'overdue: an open date has passed. due: the next one is today or within the lead days. paid: all that was due this '
  'calendar month is settled, and some of it by paying; or nothing is left to pay. upcoming: everything else. '
  'amount_missing instead of due or upcoming while the amount of the next date is not known. Null for a paused or '
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

-- schemas/bills/describe_bills.sql

-- Planned once a session: whatever the ids, each bill is looked up by its own.
create or replace function app.describe_bills(context app.context, bill_ids text[]) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  default_lead_days constant int := app.default_lead_days(context);
  -- A daily bill that nobody paid for a year is told by its number.
  max_overdue_shown constant int := 24;
begin
  return (
    with passed as materialized (
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
        this_month.is_settled
      ),
      'snoozed_until', case when u.snoozed_until > context.today then u.snoozed_until end,
      'overdue', coalesce(overdue.dates, '[]'),
      'overdue_count', case when overdue.dates_count > max_overdue_shown then overdue.dates_count end,
      'status', b.status,
      'autopay', b.autopay,
      'reminder', jsonb_build_object('enabled', b.reminder_enabled, 'days_before', lead.days),
      'monthly_equivalent',
      case when b.status = 'active'
        then
        app.format_minor(usual.minor * app.times_a_month(b.frequency, b.every, cardinality(b.month_days)),
        c.exponent) end,
      'trial_ends_on', b.trial_ends_on,
      'renews_on', b.renews_on,
      'cancel_by', b.renews_on - b.notice_days,
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
      from (
        -- The weekend rule moves a date by two days at most; the bound on the scheduled date is there for the index.
        select * from app.expense_occurrences as o
        where o.expense_id = b.id and o.scheduled_on >= context.today - 2
        offset 0
      ) as o
      where b.status = 'active' and o.status = 'open' and o.due_on >= context.today
      union all
      select p.due_on, p.scheduled_on, p.expected_minor, p.remaining_minor, null from passed as p
        where p.expense_id = b.id and p.due_on >= context.today
      order by due_on, scheduled_on
      limit 1
    ) as u on true
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, coalesce(overdue.earliest_due, u.due_on),
      context.today) as this_month
    cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
  );
end
$$;
comment on function app.describe_bills is
  'Bills in this order as every tool shows them, as of now; amounts of overdue dates are what remains to be paid. '
  'next_price {amount, from} is a price that was set and holds later; my_share_amount is what my_share_percent makes '
  'of the amount, which totals count whole.';

-- schemas/bills/parse_bill_schedule.sql

-- add_bill: a bill that comes again, or once on a day to come.

create or replace function app.parse_month_days(month_days jsonb) returns smallint[]
language sql immutable
  return (
    select array_agg(d order by (d + 32) % 32)
    from (select distinct case value::int when 31 then -1 else value::int end as d
      from jsonb_array_elements_text(month_days)) as days
  );
comment on function app.parse_month_days is
  'Days of the month as they are kept: each once, in order, the 31st as the last day; null stays null.';

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
  bill.month_days := app.parse_month_days(arguments -> 'month_days');
  if bill.month_days is not null and bill.frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument.month_days_not_monthly', jsonb_build_object('frequency', bill.frequency), 'month_days'
    );
  end if;
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
  bill.reminder_enabled := coalesce((arguments ->> 'reminder_enabled')::boolean, true);
  bill.remind_days_before := (arguments ->> 'remind_days_before')::smallint;
  return bill;
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
    status, reminder_enabled, remind_days_before, created_by
  ) values (
    app.new_id('bill'), context.organization_id, 'bill', bill.name, bill.payee, bill.category_id, bill.tags, bill.note,
    bill.amount_mode, bill.amount_minor, bill.currency, bill.share_bp,
    bill.frequency, bill.every, bill.anchor_on, bill.month_days, bill.weekend_rule, bill.ends_on, bill.ends_after,
    bill.tracked_from,
    app.due_on(bill.tracked_from, bill.weekend_rule), bill.autopay, bill.trial_ends_on, bill.renews_on,
    bill.notice_days,
    'active', bill.reminder_enabled, bill.remind_days_before, context.actor_id
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
      'status', 'created',
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
  price_changes jsonb;
begin
  select jsonb_agg(jsonb_build_object(
    'id', p.id, 'paid_on', p.paid_on, 'due_on', p.due_on, 'amount', app.format_minor(p.amount_minor, c.exponent),
    'currency', p.currency,
    'base_amount', app.format_amount(p.base_minor, p.base_currency), 'source', p.source, 'note', p.note
  ) order by p.paid_on desc, p.recorded_seq desc) into payments
  from (
    select p.*, o.due_on
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
    'price_changes', coalesce(price_changes, '[]'),
    'next_dates', app.next_due_dates(context, bill, 6)
  );
end
$$;
comment on function app.describe_bill_history is
  'Of one bill: its last 12 payments, each change of its fixed price by the due date from which it held, its next 6 '
  'due dates.';

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
    where c.organization_id = context.organization_id and lower(c.name) = lower(wanted_category));
  due_within constant date := context.today + (filter ->> 'due_within_days')::int;
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
      from (
        select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor, o.paid_minor
        from app.expense_occurrences as o
        where o.organization_id = context.organization_id and o.status = 'open'
          and (wanted_ids is null or o.expense_id = any (wanted_ids))
        offset 0
      ) as o
      where o.due_on >= context.today
      union all
      select p.expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.remaining_minor, 0
        from app.passed_occurrences(context, wanted_ids) as p
      union all
      select f.expense_id, null, null, null, null, f.dates from app.future_counts(context, until, wanted_ids) as f
    ) as o
    group by o.expense_id
  ), matched as materialized (
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
    -- Full, with a condition that leaves only the left rows: the planner takes both sides for a handful, and would walk
    -- all of the one for each of the other; a full join it can only hash or merge.
    full join open_bills as o on o.expense_id = case when b.status = 'active' then b.id end
    cross join lateral app.usual_amount(b.id, b.amount_minor) as usual
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, o.earliest_due, context.today) as this_month
    where coalesce(b.recorded_seq, 0) > 0
      and (due_within is null or coalesce(o.earliest_due, 'infinity') <= due_within)
      and (wanted_state is null or wanted_state = app.bill_state(
        b.status, o.earliest_due, o.next_due, o.is_amount_known, context.today, b.lead_days, this_month.is_settled
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
    context, array(select r.id from unnest(page.rows[:page_size]) with ordinality as r order by r.ordinality)
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
  end if;
  return jsonb_build_object(
    'data', data, 'warnings', warnings, 'total_count', page.total_count, 'totals_by_currency',
    app.describe_sums(page.due_sums),
    'next_cursor', case when cardinality(page.rows) > page_size then
      app.write_cursor(scope, jsonb_build_array((page.rows[page_size]).sort_on, (page.rows[page_size]).recorded_seq))
    end
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
      'paid_on', payment.paid_on
    ))
  end;
begin
  perform app.fail(code, details || jsonb_build_object('next_due', next_due, 'details', details), field);
end
$$;
comment on function app.fail_already_paid is 'Ends the tool with already_paid, and tells the payment that did it.';

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

create or replace function app.occurrence_due_on(bill app.expenses, day date) returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence constant app.expense_occurrences := app.find_occurrence(bill, day);
begin
  if occurrence.status = 'skipped' then
    perform app.fail('invalid_argument.skipped', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on),
      'due_on');
  elsif occurrence.status = 'paid' then
    perform app.fail_already_paid(
      'already_paid.date', bill,
      (select p from app.payments as p where p.occurrence_id = occurrence.id and p.deleted_at is null
        order by p.recorded_seq desc limit 1),
      occurrence.due_on
    );
  end if;
  return occurrence;
end
$$;
comment on function app.occurrence_due_on is 'The open occurrence of a bill on a day; ends the tool when it is closed.';

create or replace function app.next_open_occurrence(context app.context, bill app.expenses, amount_minor bigint)
  returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  latest app.payments;
  paid app.expense_occurrences;
begin
  -- An answer that got lost is asked for again, and the second call must not pay the next due date. Another part
  -- payment is told from a repeated one by its amount.
  select * into latest
  from app.payments as p
  where p.expense_id = bill.id and p.paid_by = context.actor_id and p.source = 'assistant' and p.deleted_at is null
    and p.created_at > context.at - interval '24 hours'
  order by p.recorded_seq desc
  limit 1;
  select * into paid from app.expense_occurrences as o where o.id = latest.occurrence_id;
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open'
  order by o.due_on, o.scheduled_on
  limit 1;
  if paid.status = 'paid' or latest.amount_minor = next_open_occurrence.amount_minor then
    perform app.fail_already_paid('already_paid.just_now', bill, latest, paid.due_on, occurrence.due_on);
  elsif occurrence.id is null and bill.status in ('paused', 'cancelled') then
    perform app.fail('invalid_argument.bill_inactive', jsonb_build_object('name', bill.name, 'status', bill.status),
      'bill_id');
  elsif occurrence.id is null then
    perform app.fail_already_paid(
      'already_paid.all', bill,
      (select p from app.payments as p where p.expense_id = bill.id and p.deleted_at is null
        order by p.paid_on desc, p.recorded_seq desc limit 1)
    );
  end if;
  return occurrence;
end
$$;
comment on function app.next_open_occurrence is
  'The earliest open occurrence of a bill; already_paid when this person paid the bill within 24 hours, or nothing is '
  'open.';

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

-- schemas/bills/mark_bill_paid.sql

create or replace function app.mark_bill_paid(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  paid_on date := app.parse_date(context, coalesce(arguments ->> 'paid_on', 'today'), 'paid_on');
  due_on constant date := app.parse_date(context, arguments ->> 'due_on', 'due_on');
  bill app.expenses := app.find_bill(context, arguments);
  amount_minor constant bigint := app.parse_amount(arguments ->> 'amount', bill.currency, 'amount');
  occurrence app.expense_occurrences;
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
    when due_on is not null then app.occurrence_due_on(bill, due_on)
    else app.next_open_occurrence(context, bill, amount_minor)
  end;
  payment :=
    app.settle_occurrence(context, bill, occurrence, amount_minor, paid_on, nullif(btrim(arguments ->> 'note'), ''));
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
      'currency', bill.currency, 'into', context.base_currency, 'date', paid_on
    ));
  end if;
  if occurrence.due_on > context.today + coalesce(bill.remind_days_before, app.default_lead_days(context)) then
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
      'name', bill.name
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(payment.amount_minor, bill.currency),
      'currency', bill.currency, 'remaining', remaining
    ))
  );
end
$$;
comment on function app.mark_bill_paid is 'Tool mark_bill_paid: data {payment, occurrence, next_due?, bill_id, name}.';

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
    when changes ? 'month_days' then app.parse_month_days(changes -> 'month_days')
    when bill.frequency = 'monthly' and first_due is null then old.month_days
  end;
  if bill.month_days is not null and bill.frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument.month_days_not_monthly', jsonb_build_object('frequency', bill.frequency), 'set.month_days'
    );
  end if;
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
    organization_id = (select identity.current_organization_id()) and (
      status in ('active', 'needs_reauth')
      or exists (select from identity.organizations as o
        where o.id = organization_id and o.owner_id = (select auth.uid()))
    )
  )
  with check (
    organization_id = (select identity.current_organization_id()) and (
      status in ('active', 'needs_reauth')
      or status = 'revoked'
        and exists (select from identity.organizations as o
        where o.id = organization_id and o.owner_id = (select auth.uid()))
    )
  );
grant update (status, updated_at) on app.provider_links to authenticated;

create or replace function app.change_provider(context app.context, bill app.expenses, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  link app.provider_links;
begin
  if context.role <> 'owner' then
    perform app.fail('forbidden_role.provider', field => 'provider');
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
    reminder_enabled = bill.reminder_enabled, remind_days_before = bill.remind_days_before
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
        when b.key = 'amount_minor' then 'amount'
        when b.key = 'share_bp' then 'my_share_percent'
        when b.key in ('frequency', 'every', 'anchor_on', 'month_days', 'weekend_rule', 'ends_on', 'ends_after')
          then 'schedule'
        when b.key in ('reminder_enabled', 'remind_days_before') then 'reminder'
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
    'bill_id', b.id, 'name', b.name, 'cancel_by', d.cancel_by, 'renews_on', b.renews_on, 'days_left',
    d.cancel_by - (context).today
  )
  from app.expenses as b
  cross join lateral (select b.renews_on - coalesce(b.notice_days, 0)::int as cancel_by) as d
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

-- schemas/expenses/write_preferences.sql

-- update_settings: the owner's preferences, and the categories, which are everybody's. Every change of either can be
-- undone: categories by their rows, preferences as if they were one row of the organization (read_preferences), of
-- which a change keeps only what it changed.

create or replace function app.read_preferences(organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'timezone', p.timezone, 'base_currency', o.base_currency, 'email_enabled', p.email_enabled,
      'default_lead_days', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = read_preferences.organization_id
  );
end
$$;
comment on function app.read_preferences is
  'What of the owner and the organization update_settings can change, as one row with the organization''s id.';

create or replace function app.write_preferences(organization_id text, wanted jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  before constant jsonb := app.read_preferences(organization_id);
  change constant text := nullif(current_setting('app.change_id', true), '');
  after jsonb;
begin
  -- Without the rights of an owner nothing is written: row-level security passes over what is not one's own.
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
  where o.id = write_preferences.organization_id and o.owner_id = (select auth.uid())
    and o.base_currency <> wanted ->> 'base_currency';
  after := app.read_preferences(organization_id);
  if not after @> wanted then
    perform app.fail_without_ownership();
  end if;
  if change is not null and after <> before then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    select change, write_preferences.organization_id, 'settings', write_preferences.organization_id,
      jsonb_object_agg(b.key, b.value), jsonb_object_agg(b.key, after -> b.key)
    from jsonb_each(before) as b
    where b.value is distinct from after -> b.key;
  end if;
end
$$;
comment on function app.write_preferences is
  'Sets the preferences that are given, and keeps for the undo what changed; ends the tool with forbidden_role for '
  'whoever is not the owner.';

create or replace function app.fail_without_ownership() returns void
language plpgsql stable set search_path = '' as $$
begin
  perform app.fail('forbidden_role.settings');
end
$$;
comment on function app.fail_without_ownership is 'Ends the tool because it is the owner''s to do.';

create or replace function app.change_preferences(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  reminders constant jsonb := coalesce(arguments -> 'reminders', '{}');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(arguments ->> 'timezone'), 'base_currency', arguments -> 'base_currency', 'email_enabled',
    reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email',
    reminders -> 'hide_amounts_in_email'
  ));
  before constant jsonb := app.read_preferences(context.organization_id);
begin
  if wanted = '{}' then
    return '{}';
  end if;
  if context.role <> 'owner' then
    perform app.fail_without_ownership();
  end if;
  if wanted ? 'timezone' and not identity.is_timezone(wanted ->> 'timezone') then
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)),
      'timezone');
  end if;
  if wanted ? 'base_currency' then
    perform app.currency_exponent(wanted ->> 'base_currency', 'base_currency');
  end if;
  perform app.write_preferences(context.organization_id, wanted);
  return (
    select coalesce(jsonb_object_agg(w.key, w.value), '{}')
    from jsonb_each(wanted) as w
    where before -> w.key <> w.value
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
    where c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(require_category.name));
  if not found then
    perform app.fail_without_category(app.clean_text(require_category.name), field);
  end if;
  return category;
end
$$;
comment on function app.require_category is
  'The category of a name, archived or not; ends the tool with category_not_found when there is none.';

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
        where c.organization_id = context.organization_id and lower(c.name) = lower(wanted);
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
  end case;
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'id', c.id, 'name', c.name, 'archived', case when c.archived_at is not null then true end, 'moved', moved,
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
  'Creates, renames, merges (at most 2,000 expenses) or archives a category: {id, name, archived?, moved?, '
  'left_bills?, facts}. What was spent in an archived one stays there; deleted expenses keep theirs.';

create or replace function app.update_settings(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  category constant jsonb :=
    case when arguments ? 'category' then app.change_category(context, arguments -> 'category') end;
  changed constant jsonb := app.change_preferences(context, arguments);
  warnings jsonb := '[]';
begin
  select * into context from app.read_context(context.at);
  if arguments #>> '{reminders,email_enabled}' = 'true'
    and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if changed ? 'base_currency' then
    warnings := warnings || app.warning('from_now_on', jsonb_build_object('currency', context.base_currency));
  end if;
  if category ? 'left_bills' then
    warnings := warnings || app.warning('category_in_use', jsonb_build_object(
      'category', category -> 'name', 'names', category -> 'left_bills'
    ));
  end if;
  return jsonb_build_object(
    'data',
    jsonb_build_object('settings', app.read_settings(context), 'category', category - array['facts', 'left_bills']),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object('changed', nullif(changed, '{}'), 'category', category -> 'facts'))
  );
end
$$;
comment on function app.update_settings is 'Tool update_settings: data {settings, category?}.';

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
    when app.paid_minor(occurrence.id) > amount_minor then 'paid'
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

create or replace function app.sync_fact(code text, params jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('code', code, 'params', jsonb_strip_nulls(params));
end
$$;
comment on function app.sync_fact is
  'What became of asking a provider, as a code of a closed list with its facts; the words are TypeScript''s.';

-- schemas/providers/keep_statement.sql

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
  statement := app.rejudge_statement(statement, occurrence);
  is_new := kept.payload_sha256 is distinct from statement.payload_sha256;
  lost_its_occurrence := kept.id is not null and kept.occurrence_id is null;
  -- The same again is no news: what a person made of it stands, until a person asks for it. It is for a date that was
  -- made anew since.
  is_taken := statement.reason is null and occurrence.expected_minor is distinct from statement.amount_minor
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
    update app.expense_occurrences as o
    set expected_minor = statement.amount_minor, amount_source = 'provider',
      status = case when o.paid_minor = statement.amount_minor then 'paid' else 'open' end,
      closed_at = case when o.paid_minor = statement.amount_minor then context.at end
    where o.id = occurrence.id;
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
  is_asked_for boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Null for a statement.
  code constant text := case
    when answer ->> 'outcome' <> 'statement' then coalesce(answer ->> 'code', 'upstream')
    when app.statement_minor(answer ->> 'amount', answer ->> 'currency') is null then 'bad_shape'
  end;
  bill app.expenses;
begin
  update app.provider_links as l
  set provider_name = coalesce(answer ->> 'provider_name', l.provider_name),
    last_success_period
      = case when code is null then greatest(l.last_success_period, period) else l.last_success_period end,
    last_error_code = code,
    consecutive_failures = case when code is null or code = 'not_ready' then 0 else l.consecutive_failures + 1 end,
    status = case when code = 'auth' then 'needs_reauth' else l.status end,
    -- At most until the next run, whatever they ask for, and an hour when they do not say.
    ask_after
      = case when code = 'rate_limited'
      then context.at + least(coalesce((answer ->> 'retry_after')::int, 3600), 82800) * interval '1 second' end,
    asked_at = context.at, lease_token = null, leased_until = null, updated_at = context.at
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
  '"failed", code, retry_after?}, and ends the lease: {bill_id, name, status, said, …}. Whoever calls it holds the '
  'lease.';

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
    set lease_token = gen_random_uuid(), leased_until = context.at + interval '90 seconds'
    from chosen as c
    where l.id = c.id
    returning l.id
  )
  select coalesce(array_agg(id), '{}') into asked from free;

  select jsonb_build_object(
    'bills', coalesce(jsonb_agg(app.describe_unasked(context, e, l, statement_month) order by e.name collate "C", e.id)
      filter (where l.id is null or l.id <> all (asked)), '[]'),
    'pending', coalesce(jsonb_agg(jsonb_build_object(
      'link_id', l.id, 'provider_key', l.provider_key, 'lease_token', l.lease_token, 'period', statement_month
    ) order by e.name collate "C", e.id) filter (where l.id = any (asked)), '[]')
  ) into result
  from app.expenses as e
  left join app.provider_links as l on l.expense_id = e.id and l.status <> 'revoked'
  where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
    and (e.id = any (wanted) or wanted = '{}' and l.id is not null);
  return jsonb_build_object('data', result);
end
$$;
comment on function app.sync_bill_amounts is
  'First call of tool sync_bill_amounts: data {bills, pending [{link_id, provider_key, lease_token, period}]}, period '
  'being the first of the month of the statement. bills is the answer for those that are not asked, 20 at most are at '
  'once.';

create or replace function app.store_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bills jsonb := coalesce(arguments -> 'bills', '[]');
  result jsonb;
  stored jsonb;
  link app.provider_links;
  updated text[] := '{}';
begin
  for result in select * from jsonb_array_elements(arguments -> 'results') loop
    select * into link from app.provider_links as l
    where l.id = result ->> 'link_id' and l.lease_token = (result ->> 'lease_token')::uuid and l.status = 'active'
    for update;
    if found then
      stored := app.keep_answer(context, link, (result ->> 'period')::date, result -> 'answer', true)
        - array['code', 'reason'];
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
    if stored ->> 'status' = 'updated' then
      updated := updated || (stored ->> 'name');
    end if;
  end loop;
  return jsonb_build_object('data', jsonb_build_object('bills', bills), 'facts', jsonb_build_object('names', updated));
end
$$;
comment on function app.store_bill_amounts is
  'Second call of tool sync_bill_amounts, with what came of asking: results [{link_id, lease_token, period, answer}], '
  'answer as app.keep_answer takes it. Answers data {bills}.';

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
language plpgsql volatile set search_path = '' as $$
declare
  removed jsonb := '{}';
  count bigint;
  target text;
  condition text;
begin
  for target, condition in
    values
      ('app.idempotency_keys', 'expires_at < $1'),
      ('app.import_batches', 'expires_at < $1'),
      -- A code and a consent page are good for minutes and a signature refuses them afterwards; tokens keep answering a
      -- replay for a while.
      ('oauth.used_codes', 'code_expires_at < $1 - interval ''1 day'''),
      ('oauth.consents', 'approved_at < $1 - interval ''1 day'''),
      ('oauth.tokens', 'expires_at < $1 - interval ''7 days'''),
      -- Of a replay its person must have heard before it is forgotten; an alert that nobody looks at for half a year
      -- will not be.
      ('oauth.grants', 'least(expires_at, revoked_at) < $1 - interval ''30 days''
        and (coalesce(revocation_reason, '''') not like ''%_replayed''
        or alert_seen_at is not null or revoked_at < $1 - interval ''180 days'')'),
      -- Documents of clients are read again when they are wanted; a bucket that is full says nothing.
      ('oauth.client_documents', 'fresh_until < $1 - interval ''1 day'''),
      ('oauth.rate_buckets', 'full_at < $1'),
      ('identity.attempts', 'not $1 - interval ''1 day'' < any (attempted_at)'),
      -- 30 days to undo a change and to restore what was deleted. A bill takes its occurrences and payments with it.
      ('app.change_sets', 'created_at < $1 - interval ''30 days'''),
      ('app.payments', 'deleted_at < $1 - interval ''30 days'''),
      ('app.expenses', 'deleted_at < $1 - interval ''30 days'''),
      ('jobs.job_runs', 'finished_at < $1 - interval ''90 days'''),
      -- With their log. Longer than a year, so that the last reminder of a yearly bill is still known when the next one
      -- goes out.
      ('jobs.reminder_digests', 'created_at < $1 - interval ''400 days'''),
      ('cron.job_run_details', 'end_time < $1 - interval ''7 days'''),
      -- Never authorized: a client asks within minutes, and one that comes back later registers again. Six days and the
      -- day between two runs are seven. Last of all, since every registration waits for their count while this holds
      -- it.
      ('oauth.clients', 'granted_at is null and created_at < $1 - interval ''6 days''
        and not exists (select from oauth.grants as g where g.client_id = clients.client_id)')
  loop
    execute
      format('delete from %1$s where ctid = any (array(select ctid from %1$s where %2$s limit $2))', target, condition)
      using at, most;
    get diagnostics count = row_count;
    removed := removed || jsonb_build_object(target, count);
  end loop;
  return removed;
end
$$;
comment on function jobs.purge_expired is
  'Removes what is past its time at an instant, of each table at most so many rows (with what hangs on them), so that '
  'no run holds its locks for long; answers how many by table.';

-- Six times, for what one run leaves.
select cron.schedule('purge-expired', '7-57/10 3 * * *', 'select jobs.purge_expired(now())');

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
        and (e.frequency <> 'once' or e.autopay and e.amount_mode = 'fixed')
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
      case when e.autopay and e.amount_mode = 'fixed' then s end as automatic
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
  owner_id uuid not null references identity.profiles (user_id) on delete cascade,
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
  unique (owner_id, local_on),
  constraint reminder_digests_closed_dated check ((status = 'pending') = (closed_at is null))
);
comment on table jobs.reminder_digests is
  'One mail to an owner about what falls due, over all their organizations; at most one a local day.';
comment on column jobs.reminder_digests.local_on is
  'The owner''s date when it was made; one more than the last where they travelled back to a date that had its digest.';
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
  'One row for each expense, due date and day that it was snoozed to that a digest reminds of; the reminder was sent '
  'when sent_at says so. A void row stands for nothing.';
comment on column jobs.reminder_log.snoozed_until is 'The day that the reminder was put off to; null when it was not.';
create unique index reminder_log_once_idx
  on jobs.reminder_log (expense_id, due_on, snoozed_until) nulls not distinct where voided_at is null;
create index reminder_log_expense_id_idx on jobs.reminder_log (expense_id, organization_id);
create index reminder_log_digest_id_idx on jobs.reminder_log (digest_id);

alter table jobs.reminder_batches enable row level security;
alter table jobs.reminder_digests enable row level security;
alter table jobs.reminder_log enable row level security;
grant select, insert, update, delete on jobs.reminder_batches, jobs.reminder_digests, jobs.reminder_log to service_role;

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

-- Parsed when it was created, and inlined. A window and not a day: a missed day is caught up. Who snoozes beyond the
-- due date is reminded on the day they chose, though the bill waits for its next date by then.
create or replace function jobs.reminder_due(bill app.expenses, due_on date, organization identity.organizations,
  owner identity.profiles, at timestamptz)
returns table (snoozed_until date)
language sql stable rows 1
begin atomic
  select c.snoozed_until
  from (select (at at time zone (owner).timezone)::date as today) as t
  -- Looked up for each bill, as is the log: more than 20 and 1.5 times as fast on tables that were never analyzed.
  cross join lateral (
    select c.snoozed_until
    from app.expense_occurrences as c
    where c.organization_id = (bill).organization_id and c.expense_id = (bill).id and c.due_on = reminder_due.due_on
      and c.status = 'open'
    offset 0
  ) as c
  where (bill).kind = 'bill' and (bill).status = 'active' and (bill).deleted_at is null and (bill).reminder_enabled
    and (organization).reminders_enabled and (owner).email_enabled
      and identity.reminder_address(owner) is distinct from (owner).refused_email
    and case
      when reminder_due.due_on >= t.today then reminder_due.due_on = (bill).next_due
        and reminder_due.due_on <= t.today + coalesce((bill).remind_days_before, (owner).default_lead_days)
          and (c.snoozed_until is null or c.snoozed_until <= t.today)
      else c.snoozed_until > reminder_due.due_on and c.snoozed_until between t.today - 3 and t.today
    end
    and not exists (
      select from jobs.reminder_log as l
      where l.expense_id = (bill).id and l.due_on = reminder_due.due_on
        and l.snoozed_until is not distinct from c.snoozed_until and l.voided_at is null
      offset 0
    )
    and identity.organization_has_feature((bill).organization_id, 'reminders:email', at);
end;
comment on function jobs.reminder_due is
  'One row for a due date of a bill that is inside its lead window at an instant, or was snoozed to that day, and that '
  'no digest reminds of yet; else none. Says until when it was snoozed.';

-- Making digests

create or replace function jobs.drop_outdated_digests(at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- With their rows of the log.
  delete from jobs.reminder_digests as d
  using identity.profiles as p
  where d.status = 'pending' and d.batch_id is null and p.user_id = d.owner_id
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
  update jobs.reminder_log as l set voided_at = at
    where l.digest_id = any (digest_ids) and l.sent_at is null and l.voided_at is null;
  delete from jobs.reminder_batches as b
  where b.next_attempt_at <= at
    and not exists (select from jobs.reminder_digests as d where d.batch_id = b.id);
  return coalesce(cardinality(digest_ids), 0);
end
$$;
comment on function jobs.give_up_batches is
  'Ends digests that were sent a day ago without an answer; answers how many.';

-- schemas/reminders/collect_reminders.sql

create or replace function public.collect_reminders(at timestamptz, after jsonb default null, size int default 2000)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  owners uuid[];
  latest jsonb;
  given_up int := 0;
  digest_count int;
  reminder_count int;
begin
  if after is null then
    perform jobs.drop_outdated_digests(at);
    given_up := jobs.give_up_batches(at);
  end if;
  select array_agg(distinct r.owner_id),
    (array_agg(jsonb_build_array(r.due_on, r.expense_id) order by r.due_on, r.expense_id))[size] into owners, latest
  from (
    select o.owner_id, d.due_on, d.expense_id
    from (
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.due_on between jobs.latest_today(at) - 2 and jobs.latest_today(at) + 7
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      -- Who is told earlier than most is looked up by themselves: one long lead must not widen the search for
      -- everybody.
      select c.expense_id, c.due_on
      from identity.profiles as l
      join identity.organizations as o on o.owner_id = l.user_id
      cross join lateral (
        select c.expense_id, c.due_on
        from app.expense_occurrences as c
        where c.organization_id = o.id and c.status = 'open'
          and c.due_on between jobs.latest_today(at) + 8 and jobs.latest_today(at)
            + l.default_lead_days
        offset 0
      ) as c
      where l.default_lead_days > 7 and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select c.expense_id, c.due_on
      from app.expense_occurrences as c
      where c.status = 'open'
        and c.snoozed_until between jobs.latest_today(at)
        - 5 and jobs.latest_today(at)
        and (after is null or (c.due_on, c.expense_id) > ((after ->> 0)::date, after ->> 1))
      union
      select e.id, e.next_due
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
        and e.remind_days_before > 7
        and e.next_due is not null and (after is null or (e.next_due, e.id) > ((after ->> 0)::date, after ->> 1))
    ) as d
    -- Bill by bill: twice as fast (2.1) on tables that were never analyzed, as after an import.
    cross join lateral (select e as bill from app.expenses as e where e.id = d.expense_id offset 0) as e
    join identity.organizations as o on o.id = (e.bill).organization_id
    join identity.profiles as p on p.user_id = o.owner_id
    cross join lateral jobs.reminder_due(e.bill, d.due_on, o, p, at)
    order by d.due_on, d.expense_id
    limit size
  ) as r;

  -- Whoever is locked here cannot change their time zone under us. Had somebody a digest today? By the calendar they
  -- have now, so that travelling makes neither two digests of a day nor a day without one.
  with free as materialized (
    select p.user_id, (at at time zone p.timezone)::date as today
    from identity.profiles as p
    where p.user_id = any (owners) and not exists (
      select from jobs.reminder_digests as d
      where d.owner_id = p.user_id
        and (d.created_at at time zone p.timezone)::date >= (at at time zone p.timezone)::date
    )
    for no key update of p skip locked
  ), made as (
    insert into jobs.reminder_digests as d (owner_id, local_on, next_attempt_at, created_at)
    select f.user_id, greatest(f.today, latest_digest.local_on + 1), at, at
    from free as f
    cross join lateral (select max(d.local_on) as local_on from jobs.reminder_digests as d where d.owner_id = f.user_id)
      as latest_digest
    on conflict (owner_id, local_on) do nothing
    returning d.id, d.owner_id
  ), logged as (
    insert into jobs.reminder_log (organization_id, expense_id, due_on, snoozed_until, digest_id)
    select (b.bill).organization_id, (b.bill).id, b.due_on, r.snoozed_until, m.id
    from made as m
    -- Everything else of theirs that is due, organization by organization: 1.3 and more than 20 times as fast.
    cross join lateral (
      select o as organization, p as owner
      from identity.organizations as o join identity.profiles as p on p.user_id = o.owner_id
      where o.owner_id = m.owner_id
      offset 0
    ) as o
    cross join lateral (
      select e as bill, d.due_on
      from (
        select e.id, e.next_due as due_on from app.expenses as e
        where e.organization_id = (o.organization).id and e.kind = 'bill' and e.status = 'active'
          and e.deleted_at is null
          and e.next_due between jobs.latest_today(at) - 2 and jobs.latest_today(at)
            + 90
        union
        select c.expense_id, c.due_on from app.expense_occurrences as c
        where c.organization_id = (o.organization).id and c.status = 'open'
          and c.due_on < jobs.latest_today(at)
          and c.snoozed_until between jobs.latest_today(at)
            - 5 and jobs.latest_today(at)
      ) as d
      join app.expenses as e on e.id = d.id
      offset 0
    ) as b
    cross join lateral jobs.reminder_due(b.bill, b.due_on, o.organization, o.owner, at) as r
    on conflict (expense_id, due_on, snoozed_until) where voided_at is null do nothing
    returning 1
  )
  select (select count(*) from made), (select count(*) from logged) into digest_count, reminder_count;
  return jsonb_build_object('digests', digest_count, 'reminders', reminder_count, 'given_up', given_up, 'next', latest);
end
$$;
comment on function public.collect_reminders is
  'Makes the digests of one page of the bills that are due for a reminder: {"digests","reminders","given_up": how many '
  'earlier ones ended without an answer,"next": where the following page begins, or null}.';

-- schemas/reminders/describe_digests.sql

-- What a digest says: described when it is claimed, by what is true then. Each organization is read as its owner, under
-- row-level security:
-- a condition that is missing here puts nobody else's bills into a mail.

create or replace function app.describe_statement(occurrence_id text, owner identity.profiles, out fetched jsonb,
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
    'on', (statement.fetched_at at time zone owner.timezone)::date, 'provider', app.provider_name(link), 'currency',
    statement.currency,
    'amount',
    case when not owner.hide_amounts_in_email then app.format_amount(statement.amount_minor, statement.currency) end,
    'usual', case when not owner.hide_amounts_in_email and statement.currency = occurrence.currency
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
  owner identity.profiles, organization identity.organizations, reminded jobs.reminder_log[], at timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone owner.timezone)::date;
  base_exponent constant int := (select c.exponent from app.currencies as c where c.code = organization.base_currency);
  base_per_euro constant numeric := (app.find_rate(organization.base_currency, today)).per_euro;
  -- Of what is overdue, and as many of what falls due: a mail is no list of everything.
  max_listed constant int := 100;
begin
  return (
    with open_dates as (
      -- Still due: it may have been paid, snoozed or changed since the digest was made.
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source,
        l.id as log_id
      from unnest(reminded) as l
      join app.expenses as e on e.id = l.expense_id and e.status = 'active' and e.deleted_at is null
        and e.reminder_enabled
      join app.expense_occurrences as c on c.organization_id = organization.id and c.expense_id = e.id
        and c.due_on = l.due_on and c.status = 'open'
      where l.due_on >= today and (c.snoozed_until is null or c.snoozed_until <= today)
      union all
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source, l.id
      from app.expense_occurrences as c
      join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.deleted_at is null
        and e.reminder_enabled
      left join unnest(reminded) as l on l.expense_id = c.expense_id and l.due_on = c.due_on
        and l.snoozed_until = c.snoozed_until
      where c.organization_id = organization.id and c.status = 'open' and c.due_on < today
        and (c.snoozed_until is null or c.snoozed_until <= today)
          and app.is_paid_by_autopay(e, c.due_on, today) is not true
    ), lines as (
      -- One for what falls due of a bill, one for what is overdue of it.
      select d.expense_id as id, d.due_on < today as is_overdue, min(d.due_on) as due_on,
        min(d.scheduled_on) as scheduled_on, count(*) as dates,
        case when not owner.hide_amounts_in_email and count(*) = count(d.expected_minor)
          then sum(d.expected_minor - d.paid_minor) end as minor,
        bool_and(d.amount_source = 'rule') as is_by_rule, case when count(*) = 1 then min(d.id) end as occurrence_id
      from open_dates as d
      group by d.expense_id, d.due_on < today
    ), placed as (
      select l.*, e.name, e.currency, e.autopay, e.amount_mode, e.frequency = 'daily' and e.every = 1 as is_daily,
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
          and o.expected_minor is not null and not owner.hide_amounts_in_email
        order by o.scheduled_on desc
        limit 1
      ) as earlier on true
      -- Of a single date only: which of several would a statement be about?
      left join lateral app.describe_statement(
        case when v.amount_mode = 'variable' and v.dates = 1 then v.occurrence_id end, owner) as said on true
    )
    select jsonb_build_object(
      'id', organization.id, 'name', organization.name, 'base_currency', organization.base_currency,
      'bills', (
        select jsonb_agg(jsonb_build_object(
          'bill_id', v.id, 'name', v.name, 'due_on', v.due_on, 'days', v.due_on - today, 'dates', v.dates, 'autopay',
          v.autopay, 'is_daily', v.is_daily,
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
      'reminds_of', (select coalesce(jsonb_agg(d.log_id), '[]') from open_dates as d where d.log_id is not null)
    )
    from valued as v
    having count(*) > 0
  );
end
$$;
comment on function app.describe_due_bills is
  'The bills of one organization that a digest tells of: what it reminds of and what is overdue; the first by name, '
  'all in the counts and the total. reminds_of: their rows of the log. Null when there are none.';

-- The owner reads, not the service, as in app.run_tool.
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

-- schemas/reminders/describe_digest.sql

create or replace function jobs.describe_digest(digest jobs.reminder_digests, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  owner identity.profiles;
  organization identity.organizations;
  section jsonb;
  sections jsonb := '[]';
  reminds_of jsonb := '[]';
  reconnects jsonb := '[]';
begin
  select p.* into owner from identity.profiles as p where p.user_id = digest.owner_id;
  if not owner.email_enabled or identity.reminder_address(owner) = owner.refused_email
    or not identity.is_active(owner.user_id, at) then
    return null;
  end if;
  for organization in
    select o.* from identity.organizations as o
    where o.owner_id = digest.owner_id and o.reminders_enabled
      and identity.organization_has_feature(o.id, 'reminders:email', at)
    order by o.name, o.id
  loop
    perform jobs.act_as(
      jsonb_build_object('sub', owner.user_id, 'role', 'authenticated', 'organization_id', organization.id));
    section := app.describe_due_bills(owner, organization, array(
      select l from jobs.reminder_log as l
        where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
    ), at);
    if section is not null then
      sections := sections || (section - 'reminds_of');
      reminds_of := reminds_of || (section -> 'reminds_of');
    end if;
    if identity.organization_has_feature(organization.id, 'bills:variable', at) then
      reconnects := reconnects || app.describe_reconnects(organization);
    end if;
  end loop;
  perform jobs.act_as('{}');
  -- What else is overdue, or has to be connected again, is said on the way; alone it sends nothing.
  if reminds_of = '[]' then
    return null;
  end if;
  return jsonb_build_object(
    'address', identity.reminder_address(owner), 'country', owner.country, 'today',
    (at at time zone owner.timezone)::date,
    'hides_amounts', owner.hide_amounts_in_email, 'organizations', sections, 'reconnect',
    jsonb_path_query_array(reconnects, '$[0 to 19]'),
    'reminds_of', reminds_of
  );
end
$$;
comment on function jobs.describe_digest is
  'What a digest says at an instant: to whom, and the bills by organization; reminds_of: the rows of the log that it '
  'stands for. Null when it has nothing to say, or nobody to say it to.';

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

    insert into jobs.reminder_batches (id, leased_at, next_attempt_at) values (batch_id, at, at);
    update jobs.reminder_digests as d set batch_id = open_batch.batch_id, content = said.content - 'reminds_of',
      attempts = d.attempts + 1
    from unnest(digest_ids, contents) as said (id, content)
    where d.id = said.id and said.content is not null;
    -- Nothing is left to say, or the owner wants no mail any more, or is to get none. What their log would have said
    -- may be said another day.
    delete from jobs.reminder_digests as d where d.id = any (digest_ids) and d.batch_id is null;
    delete from jobs.reminder_log as l
    where l.digest_id = any (digest_ids) and not exists (select from unnest(reminded) as r (id) where r.id = l.id);
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
language plpgsql volatile set search_path = '' as $$
declare
  token constant uuid := gen_random_uuid();
  opened constant record := jobs.open_batch(size, at);
  chosen uuid := opened.batch_id;
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
    -- Who was suspended since gets no second attempt; whether the first one reached them, nobody knows.
    with closed as (
      update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null,
        content = null
      where d.batch_id = chosen and d.status = 'pending' and not identity.is_active(d.owner_id, at)
      returning d.id
    )
    update jobs.reminder_log as l set voided_at = at
    from closed as c
    where l.digest_id = c.id and l.sent_at is null and l.voided_at is null;
  end if;
  -- Longer than a run may take.
  update jobs.reminder_batches as b
  set lease_token = token, leased_at = at, next_attempt_at = at + interval '90 seconds'
  where b.id = chosen;
  return (
    select jsonb_build_object(
      'id', b.id, 'lease_token', b.lease_token, 'attempts', b.attempts,
      'digests', (
        -- None are left of owners who are gone since; the batch then ends with its sender.
        select
          coalesce(
          jsonb_agg(jsonb_build_object('id', d.id, 'owner_id', d.owner_id, 'content', d.content) order by d.id), '[]')
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
  '{"id","lease_token","attempts","digests":[{"id","owner_id","content"}]}, or null when there is nothing to send. '
  '{"set_aside": id} says that one could not be described and waits for an hour: ask again.';

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
    where s.refused and d.batch_id = batch.id and p.user_id = d.owner_id
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
  )
  select (select count(*) from closed where status = 'sent'), (select count(*) from logged where status = 'sent')
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

create or replace function public.store_rates(source text, published_on date, per_euro jsonb, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  added int;
begin
  -- The digits of the source as they are: text to numeric.
  insert into app.fx_rates (quote, rate_on, source, rate, fetched_at)
  select c.code, published_on, source, r.value::numeric, at
  from jsonb_each_text(per_euro) as r
  join app.currencies as c on c.code = r.key
  on conflict on constraint fx_rates_pkey do nothing;
  get diagnostics added = row_count;
  return jsonb_build_object('added', added);
end
$$;
comment on function public.store_rates is
  'Keeps one day''s rates of a source, {"USD":"1.0944"} per euro, where they are not kept already: {"added": how '
  'many}.';

-- schemas/reminders/schedule.sql

-- When the reminders job runs: once a day, and again until noon for what is left by then: a run stops after 50 seconds,
-- a mail service may be down, a trigger may get lost. A run that finds nothing to do costs next to nothing. Not at the
-- full hour: two runs at once share the work, but take four connections.

select cron.schedule('reminders', '0 8 * * *', $$select jobs.call_function('cron-reminders')$$);
select cron.schedule('reminders-catch-up', '5-55/10 8-11 * * *', $$select jobs.call_function('cron-reminders')$$);

-- schemas/reminders/unsubscribe.sql

-- Ending reminders from a mail: all of them, those of one organization, or of one bill. Whoever holds the signed link
-- may end the first two; bills are for its owner's eyes. The functions check that what is named is the owner's.

create or replace function public.read_unsubscribing(owner_id uuid, with_bills boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('email_enabled', p.email_enabled, 'organizations', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', o.id, 'name', o.name, 'reminders_enabled', o.reminders_enabled)
          || case when with_bills then jsonb_build_object('bills', (
            select
              coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name) order by b.next_due, b.name, b.id),
              '[]')
            from (
              select e.id, e.name, e.next_due from app.expenses as e
              where e.organization_id = o.id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
                and e.reminder_enabled
              order by e.next_due, e.name, e.id
              limit 200
            ) as b
          )) else '{}' end
        order by o.name, o.id
      ), '[]')
      from identity.organizations as o
      where o.owner_id = p.user_id
    ))
    from identity.profiles as p
    where p.user_id = owner_id
  );
end
$$;
comment on function public.read_unsubscribing is
  'What an owner can end: {"email_enabled","organizations":[{"id","name","reminders_enabled"}]}, each organization '
  'with its reminding "bills":[{"id","name"}] if asked for; null when there is no such person.';

create or replace function public.unsubscribe(owner_id uuid, scope text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
  change text;
begin
  case
    when scope = 'all' then
      update identity.profiles as p set email_enabled = false, updated_at = at
        where p.user_id = owner_id;
    when scope like 'org\_%' then
      update identity.organizations as o set reminders_enabled = false, updated_at = at
      where o.id = scope and o.owner_id = unsubscribe.owner_id;
    else
      select e.* into bill
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      where e.id = scope and o.owner_id = unsubscribe.owner_id and e.deleted_at is null;
  end case;
  if not found then
    return '{"outcome":"unknown"}';
  end if;

  if bill.reminder_enabled then
    -- A change like any other, which the assistant can undo.
    perform set_config('app.at', at::text, true);
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    values (bill.organization_id, owner_id, 'unsubscribe', jsonb_build_object('name', bill.name))
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    update app.expenses as e set reminder_enabled = false where e.id = bill.id;
    perform set_config('app.change_id', '', true);
  end if;
  perform identity.record_event(
    'reminders.unsubscribed', owner_id, coalesce(bill.organization_id, case when scope like 'org\_%' then scope end),
    jsonb_build_object('scope', scope), at
  );
  return '{"outcome":"unsubscribed"}';
end
$$;
comment on function public.unsubscribe is
  'Ends reminders: scope is "all", or the id of an organization or a bill of the owner''s: {"outcome":"unsubscribed"} '
  'or {"outcome":"unknown"}.';

create or replace function public.resume_reminders(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.organizations as o set reminders_enabled = true, updated_at = at
  where o.id = organization_id and o.owner_id = user_id;
  if not found then
    return '{"outcome":"not_owner"}';
  end if;
  perform identity.record_event('reminders.resumed', user_id, organization_id, '{}', at);
  return '{"outcome":"resumed"}';
end
$$;
comment on function public.resume_reminders is
  'Reminds the owner of an organization''s bills again: {"outcome":"resumed"} or {"outcome":"not_owner"}.';

-- schemas/providers/provider_sync.sql

-- What the job that fetches amounts asks of the database: one link at a time is leased, asked after commit, and settled
-- by its lease. Whoever dies in between leaves a lease that runs out, and the link is asked again.

create or replace function jobs.lost_its_occurrence(statement app.provider_statements) returns boolean
language sql immutable
  return (statement).status in ('applied', 'needs_review') and (statement).occurrence_id is null;
comment on function jobs.lost_its_occurrence is
  'Whether the date that a statement was kept for is gone: it was made anew without the amount, when the bill was '
  'resumed or is due on another day now.';

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
    leased_until = at + interval '90 seconds'
  where l.id = (
    select c.id
    from app.provider_links as c
    join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.amount_mode = 'variable'
      and e.deleted_at is null
    where c.status = 'active' and (c.asked_at is null or c.asked_at < before)
      and (c.leased_until is null or c.leased_until <= at)
        and (c.ask_after is null or c.ask_after <= at)
      and (again or c.last_success_period is null or c.last_success_period < period or exists (
        select from app.provider_statements as s
        where s.link_id = c.id and s.period = claim_provider_link.period and s.status <> 'superseded'
          and jobs.lost_its_occurrence(s)
      ))
      and jobs.may_fetch(c.organization_id, at)
    order by c.asked_at nulls first, c.id
    limit 1
    for update of c skip locked
  )
  returning l.* into claimed;
  return case when claimed.id is not null then jsonb_build_object(
    'link_id', claimed.id, 'provider_key', claimed.provider_key, 'lease_token', claimed.lease_token, 'period',
    period,
    'envelope', (select c.envelope from app.provider_credentials as c where c.link_id = claimed.id)
  ) end;
end
$$;
comment on function public.claim_provider_link is
  'Leases the link that was asked longest ago, before an instant, of those whose statement of the month has not come, '
  'or has lost its date (again: or has come): {link_id, provider_key, lease_token, period, envelope}, null when there '
  'is none. Only links that jobs.may_fetch.';

create or replace function jobs.provider_context(organization_id text, at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (at at time zone p.timezone)::date,
    at, o.owner_id, 'owner', null
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
  at timestamptz) returns jsonb
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
  kept := app.keep_answer(context, link, period, answer, false);
  perform app.finish_change(change, jsonb_build_object(
    'provider', coalesce(answer ->> 'provider_name', app.provider_name(link)), 'bill', kept
  ));
  return jsonb_build_object('outcome', 'kept', 'status', kept ->> 'status', 'code', kept ->> 'code');
end
$$;
comment on function public.keep_provider_answer is
  'Keeps what came of asking a leased link, as app.keep_answer does, as a change of its own: {outcome: "kept", status, '
  'code?}, or {outcome: "lost"} when the lease is another''s or the link has ended.';

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
            or jobs.lost_its_occurrence(s))
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
  'one, or whose one has lost its date (again: or with) that were not asked since an instant; both where '
  'jobs.may_fetch.}';

-- schemas/providers/schedule.sql

-- When amounts are fetched: on the 2nd, when most providers have closed the month before, and daily until the 10th for
-- what was not ready by then. A run that finds nothing to ask costs next to nothing.

select cron.schedule('provider-sync', '0 6 2 * *', $$select jobs.call_function('cron-provider-sync')$$);
select cron.schedule('provider-sync-catch-up', '0 6 3-10 * *', $$select jobs.call_function('cron-provider-sync')$$);

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
