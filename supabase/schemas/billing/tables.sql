-- Billing: the payment provider's events, and the plan that follows from them. Invariants: an event counts once; a
-- subscription has the state of its latest event by the logical clock, in any order of arrival; a subscription belongs
-- to one organization forever; an organization has the plan of its best eligible subscription. Anybody who can edit a
-- subscription's notes can name any organization in them, so an unpaid subscription must not harm an organization.
-- These rules decide which subscriptions are eligible:
-- * A subscription that was once active (an event activated, resumed or charged it) is eligible forever.
-- * A subscription that never was active is eligible only if the organization has nothing to lose: no plan set by hand,
-- no running trial, no live subscription (once active and not ended). Otherwise its events are stored without effect.
-- * A plan set by hand is active without an active subscription. The first subscription that was ever active replaces
-- it.
-- * Trials are independent: subscriptions never move their end, and a running trial only adds features
-- (identity.effective_plan). The best eligible subscription counts. A second one that is past due adds its plan until
-- its grace period ends (organizations.second_plan), so that a further subscription never reduces the plan.

create type billing.event_clock as (
  occurred_at timestamptz,
  is_terminal boolean,
  paid_count int,
  auth_attempts int,
  rank smallint,
  body_hash bytea
);
comment on type billing.event_clock is
  'Orders the events of one subscription, field by field. The provider''s instants are whole seconds: within one '
  'second, an end counts most, then more payments, then more failed attempts.';

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
  'The payment provider''s events with a valid signature, each stored once. Only fields that determine plans are '
  'stored, never the body, which contains names and cards.';
comment on column billing.payment_events.event_id is
  'The provider''s id of the event, if it sends one; for operators only. The signature does not cover it, so the hash '
  'of the body identifies duplicates.';
comment on column billing.payment_events.status is
  'The subscription status that the event reports; null for events that report none.';
comment on column billing.payment_events.claimed_organization_id is
  'The organization named in the subscription''s notes. Anybody who can edit notes can write it, so it counts for the '
  'first binding only.';
comment on column billing.payment_events.outcome is
  'applied: it is the latest event of its subscription. stale: a later one had already been applied. parked: it waits '
  '(billing.parked_events). ignored: events of this kind have no effect.';
comment on column billing.payment_events.no_effect is
  'The reason that an applied event did not change the organization. never_active: its subscription was never paid, '
  'and the organization had a plan to lose.';
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
comment on table billing.subscriptions is 'A subscription at the payment provider, in the state of its latest event.';
comment on column billing.subscriptions.organization_id is
  'Null until an operator or an event names an organization that exists; never changed after that.';
comment on column billing.subscriptions.status is 'Null until the first event counts.';
comment on column billing.subscriptions.past_due_since is
  'The time of the first failure since the last good payment, at most a day before we received it.';
comment on column billing.subscriptions.was_active is
  'Whether a counted event ever reported the subscription as active, regardless of later events.';
comment on column billing.subscriptions.clock is 'The clock of the event that set this state.';
create index subscriptions_organization_id_idx on billing.subscriptions (organization_id);

-- For the service only: people see their plan on pages that the service renders.
alter table billing.payment_events enable row level security;
alter table billing.subscriptions enable row level security;
grant select, insert, update (outcome, organization_id, no_effect) on billing.payment_events to service_role;
grant select, insert, update on billing.subscriptions to service_role;
