-- Identity: people, their organizations, the features of plans, the audit trail. Invariants: an organization has one
-- owner, who is a member; past_due_since is set only while the plan is past due; each plan includes the features of the
-- smaller one.

create table billing.plan_features (
  plan text not null constraint plan_features_plan_known check (plan in ('free', 'pro', 'team')),
  feature text not null
    constraint plan_features_feature_known check (feature in ('ai:connector', 'reminders:email', 'bills:variable')),
  primary key (plan, feature)
);
comment on table billing.plan_features is
  'The features of each plan: free < pro < team, each with all features of the previous one.';
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
comment on table billing.billing_plans is 'Maps the payment provider''s plans to ours.';
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
comment on table identity.profiles is 'A person: their country, time zone and reminder settings.';
comment on column identity.profiles.email is 'The sign-in address at the identity provider as of the last sign-in.';
comment on column identity.profiles.timezone is
  'IANA name; every calendar date of the organizations they own is a date in this zone.';
comment on column identity.profiles.reminder_email is
  'Another address for reminders, used once it is confirmed; until then reminders go to the sign-in address.';
comment on column identity.profiles.refused_email is
  'An address whose mail server refused it permanently. It gets no reminders until the settings are saved again.';
comment on column identity.profiles.deletes_at is
  'The time when the purge will delete the person; until then they can cancel the deletion.';
create index profiles_deletes_at_idx on identity.profiles (deletes_at) where deletes_at is not null;
comment on column identity.profiles.trial_started_at is
  'Set with the first organization, because a person has one trial.';

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
  plan_ended_at timestamptz,
  own_only boolean not null default false,
  assistants_may_approve boolean not null default false,
  closed_through date
    constraint organizations_closed_through_month_end check (extract(day from closed_through + 1) = 1),
  owner_id uuid not null references identity.profiles (user_id) on delete restrict,
  deletes_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  relabel_closed boolean not null default false,
  datev jsonb
    constraint organizations_datev_object check (jsonb_typeof(datev) = 'object')
    constraint organizations_datev_size check (length(datev::text) <= 40000),
  low_balance_minor bigint
    constraint organizations_low_balance_minor_not_negative check (low_balance_minor >= 0),
  low_balance_currency text references app.currencies (code),
  low_balance_since timestamptz,
  -- The currency that values payments; app.payments refers to both columns.
  unique (id, base_currency),
  constraint organizations_past_due_dated check ((plan_status = 'past_due') = (past_due_since is not null)),
  constraint organizations_canceled_is_free check (plan_status <> 'canceled' or plan = 'free'),
  constraint organizations_low_balance_whole check (
    (low_balance_minor is null) = (low_balance_currency is null)
    and (low_balance_minor is null or low_balance_since is not null)
  ),
  constraint organizations_second_plan_dated check ((second_plan is null) = (second_past_due_since is null))
);
comment on table identity.organizations is 'Owners of expenses and bills: a household, a business.';
comment on column identity.organizations.owner_id is
  'The owner always gets reminders, and dates are in the owner''s time zone. An owner can''t be deleted before the '
  'organization.';
comment on column identity.organizations.plan is
  'The paid plan, from the best subscription. A value set by hand counts until the first subscription becomes active.';
comment on column identity.organizations.second_plan is
  'The plan of another, past-due subscription, which also counts until its grace period ends. Set only while it '
  'includes more than the column plan, or lasts longer.';
comment on column identity.organizations.trial_ends_at is
  'Until then all Team features are available. Payments never change this date.';
comment on column identity.organizations.plan_ended_at is
  'The last time a subscription ended without leaving a paid plan.';
-- Finds plans that end around now.
create index organizations_trial_ends_at_idx on identity.organizations (trial_ends_at);
create index organizations_past_due_since_idx on identity.organizations (past_due_since)
  where past_due_since is not null;
create index organizations_second_past_due_since_idx on identity.organizations (second_past_due_since)
  where second_past_due_since is not null;
create index organizations_plan_ended_at_idx on identity.organizations (plan_ended_at) where plan_ended_at is not null;
comment on column identity.organizations.assistants_may_approve is
  'Whether people who can approve may also do so through an app, and not only on the page.';
comment on column identity.organizations.own_only is
  'Whether members see only records that they recorded or are responsible for. Owner, managers and viewers see '
  'everything.';
comment on column identity.organizations.closed_through is
  'Payments up to this day, the last of a month, cannot change (app.refuse_closed_month).';
comment on column identity.organizations.relabel_closed is
  'Whether notes, tags and categories may change in closed months (app.is_relabeling).';
comment on column identity.organizations.datev is
  'The accounts of a DATEV export (shared/export/datev_settings.ts), with categories by id.';
comment on column identity.organizations.low_balance_minor is
  'A digest warns when a balance is expected to fall below this amount.';
comment on column identity.organizations.low_balance_since is
  'The time when the limit was set. Notices about an earlier limit don''t count.';
create index organizations_low_balance_idx on identity.organizations (id) where low_balance_minor is not null;
create index organizations_low_balance_currency_idx on identity.organizations (low_balance_currency);
comment on column identity.organizations.deletes_at is
  'The time when the purge will delete the organization with all its data. Until then, people can read its pages and '
  'the owner can cancel the deletion, but nothing is written or mailed.';
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
  low_balance_checked_on date,
  primary key (organization_id, user_id)
);
comment on table identity.memberships is
  'The members of organizations. Without a row here, a person''s tokens for the organization are invalid from the '
  'next request on.';
comment on column identity.memberships.sees_private is
  'Whether the owner opened private categories to this member, whose role does not include them.';
comment on column identity.memberships.mails is
  'The bills covered by the member''s mail. mine: all bills for the owner, the assigned bills for others.';
comment on column identity.memberships.low_balance_checked_on is
  'The member''s latest day with a forecast of balances for a notice.';
create index memberships_user_id_idx on identity.memberships (user_id);
create unique index memberships_one_owner_idx on identity.memberships (organization_id) where role = 'owner';
