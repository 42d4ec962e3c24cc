-- Billing: what the payment provider said, and the plan that follows from it.
-- Invariants: an event counts once; a subscription is what its latest event by the logical clock made it, whatever order the events arrived in;
-- a subscription belongs to one organization for ever; an organization has the plan of its best subscription that has a say.
--
-- Which subscriptions have a say. Whoever may edit a subscription's notes can name any organization in them, so one that nobody ever paid for
-- must not be able to take anything away:
-- * One that was active once (an event activated, resumed or charged it; all three say that it is active) has a say for ever.
-- * One that never was has a say only where there is nothing to lose: no plan set by hand, no running trial, no live subscription (one that was
--   active once, and has not ended). Elsewhere its events are kept and change nothing.
-- * A plan set by hand is told by being active without a subscription that is. The first subscription that was ever active replaces it.
-- * A trial is beside all this: its end is never moved, and while it runs it only adds features (identity.effective_plan).
-- Of those with a say the best one counts. A second one that is past due adds its plan until its grace period ends (organizations.second_plan),
-- so that one more subscription never makes it less.

create type billing.event_clock as (
  occurred_at timestamptz,
  is_terminal boolean,
  paid_count int,
  auth_attempts int,
  rank smallint,
  body_hash bytea
);
comment on type billing.event_clock is
  'Orders the events of one subscription, field by field. The provider''s instants are whole seconds: within one, an end beats everything, then more payments, then more failed attempts.';

create table billing.payment_events (
  id bigint generated always as identity primary key,
  event_id text constraint payment_events_event_id_length check (length(event_id) between 1 and 128),
  body_hash bytea not null unique,
  type text not null constraint payment_events_type_length check (length(type) between 1 and 100),
  status text constraint payment_events_status_known check (status in ('active', 'past_due', 'canceled')),
  subscription_id text constraint payment_events_subscription_id_length check (length(subscription_id) between 1 and 64),
  provider_plan_id text constraint payment_events_provider_plan_id_length check (length(provider_plan_id) between 1 and 64),
  claimed_organization_id text collate "C",
  occurred_at timestamptz,
  period_ends_at timestamptz,
  paid_count int not null,
  auth_attempts int not null,
  rank smallint not null,
  clock billing.event_clock not null generated always as
    (row(occurred_at, status is not distinct from 'canceled', paid_count, auth_attempts, rank, body_hash)::billing.event_clock) stored,
  outcome text not null constraint payment_events_outcome_known check (outcome in ('applied', 'stale', 'ignored', 'parked')),
  organization_id text collate "C",
  no_effect text constraint payment_events_no_effect_known check (no_effect in ('never_active')),
  received_at timestamptz not null,
  constraint payment_events_ignored_has_no_status check ((outcome = 'ignored') = (status is null)),
  constraint payment_events_settled_is_complete check (
    outcome not in ('applied', 'stale') or (subscription_id is not null and occurred_at is not null and organization_id is not null)
  )
);
comment on table billing.payment_events is
  'Every event of the payment provider that carried a valid signature, once. Keeps what decides about plans, never the body: that names people and cards.';
comment on column billing.payment_events.event_id is 'The provider''s own id of the event, where it sends one: a note for people. It is outside the signature, so only the hash of the body tells a duplicate.';
comment on column billing.payment_events.status is 'What the event means for its subscription; null for kinds that mean nothing to us.';
comment on column billing.payment_events.claimed_organization_id is 'The organization named in the subscription''s notes. Whoever can edit notes wrote it; it counts for the first binding only.';
comment on column billing.payment_events.outcome is
  'applied: it became the latest word on its subscription. stale: a later one was already there. parked: it waits, see billing.parked_events. ignored: a kind without effect.';
comment on column billing.payment_events.no_effect is
  'Why an applied event left the organization as it was. never_active: until then nobody had paid for its subscription, and there was something to lose.';
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
  constraint subscriptions_past_due_dated check ((status is not distinct from 'past_due') = (past_due_since is not null)),
  constraint subscriptions_running_has_plan check (plan is not null or status is null or status = 'canceled')
);
comment on table billing.subscriptions is 'A subscription at the payment provider, as its latest event left it.';
comment on column billing.subscriptions.organization_id is 'Null until an operator or an event names an organization that exists; never changed after that.';
comment on column billing.subscriptions.status is 'Null until the first event counts.';
comment on column billing.subscriptions.past_due_since is
  'When the first of the failures since the last good payment happened, at most a day before we were told.';
comment on column billing.subscriptions.was_active is 'Whether an event that counted ever said that it is active, whatever came later.';
comment on column billing.subscriptions.clock is 'Of the event that left it so.';
create index subscriptions_organization_id_idx on billing.subscriptions (organization_id);

-- Service only: people see their plan on pages that the service renders.
alter table billing.payment_events enable row level security;
alter table billing.subscriptions enable row level security;
grant select, insert, update (outcome, organization_id, no_effect) on billing.payment_events to service_role;
grant select, insert, update on billing.subscriptions to service_role;

create function billing.parked_reason(event billing.payment_events, at timestamptz) returns text
language sql stable set search_path = '' as $$
  select case
    when event.subscription_id is null or event.occurred_at is null then 'incomplete'
    -- Once it counted, every event that really happened would be older than it.
    when event.occurred_at > at + interval '1 day' then 'dated_ahead'
    when not exists (select from billing.subscriptions as s where s.id = event.subscription_id and s.organization_id is not null) then 'unknown_organization'
    -- An end needs no plan: it must not wait because somebody forgot to list one.
    when event.status <> 'canceled' and not exists (select from billing.billing_plans as p where p.provider_plan_id = event.provider_plan_id) then 'unknown_plan'
    else 'replayable'
  end
$$;
comment on function billing.parked_reason is 'What a parked event waits for at an instant; replayable: for nothing any more.';

create view billing.parked_events with (security_invoker = true) as
select e.id, e.event_id, e.type, e.subscription_id, e.provider_plan_id, e.claimed_organization_id, e.occurred_at, e.received_at,
  billing.parked_reason(e, now()) as reason
from billing.payment_events as e
where e.outcome = 'parked';
comment on view billing.parked_events is
  'Events that wait for an operator, and for what. After adding the plan to billing.billing_plans, once the day of one dated ahead has come, or for naming the organization: select public.replay_parked_events(…).';
grant select on billing.parked_events to service_role;

create function billing.subscriptions_with_a_say(organization identity.organizations, at timestamptz) returns setof billing.subscriptions
language sql stable set search_path = '' as $$
  select s
  from billing.subscriptions as s
  where s.organization_id = organization.id and s.status is not null and (
    s.was_active
    or not (
      coalesce(at < organization.trial_ends_at, false)
      or exists (
        select from billing.subscriptions as l where l.organization_id = organization.id and l.was_active and l.status in ('active', 'past_due')
      )
    )
  )
  order by array_position(array['active', 'past_due', 'canceled'], s.status), array_position(array['team', 'pro'], s.plan),
    s.past_due_since desc, s.period_ends_at desc nulls last, s.id
$$;
comment on function billing.subscriptions_with_a_say is
  'The subscriptions that an organization''s plan may come from, best first. That a plan set by hand counts for more than one that never was active is for the caller to see to.';

create function billing.derive_plan(organization identity.organizations, at timestamptz) returns identity.organizations
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
  set plan = case when best.status = 'canceled' then 'free' else best.plan end, plan_status = best.status, past_due_since = best.past_due_since,
    second_plan = second.plan, second_past_due_since = second.past_due_since, updated_at = derive_plan.at
  where o.id = organization.id
  returning * into organization;
  return organization;
end
$$;
comment on function billing.derive_plan is
  'Gives an organization the plan of its best subscription that has a say, and says what it is now. The end of an old one must not take the plan that a newer one pays for.';

create function billing.settle_subscription(subscription_id text, at timestamptz) returns void
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
  insert into billing.subscriptions (id) values (settle_subscription.subscription_id) on conflict do nothing;
  select * into subscription from billing.subscriptions as s where s.id = settle_subscription.subscription_id for update;
  if subscription.organization_id is null then
    update billing.subscriptions as s
    set organization_id = (
      select o.id
      from billing.payment_events as e join identity.organizations as o on o.id = e.claimed_organization_id
      where e.subscription_id = s.id and e.outcome = 'parked' and billing.parked_reason(e, settle_subscription.at) = 'unknown_organization'
      order by e.id
      limit 1
    )
    where s.id = subscription.id
    returning * into subscription;
  end if;
  -- Locked before its other subscriptions are read for the plan: two that change at once would each miss the other.
  select * into organization from identity.organizations as o where o.id = subscription.organization_id for no key update;
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
    where e.subscription_id = subscription.id and e.outcome = 'parked' and billing.parked_reason(e, settle_subscription.at) = 'replayable'
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
      plan = coalesce((select p.plan from billing.billing_plans as p where p.provider_plan_id = latest.provider_plan_id), s.plan),
      past_due_since = case when latest.status = 'past_due' then latest.occurred_at end,
      period_ends_at = latest.period_ends_at,
      clock = latest.clock
    where s.id = subscription.id;
  end if;
  -- A failure that arrives late may be the first of its row; a payment that arrives late may end the row before it. The provider repeats for
  -- a day what it cannot deliver: what is older was sent again by hand, and the grace period must not have passed before anybody knew.
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
    select from billing.payment_events as e where e.subscription_id = s.id and e.outcome in ('applied', 'stale') and e.status = 'active'
  )
  where s.id = subscription.id
  returning * into subscription;
  if subscription is not distinct from before then
    return;
  end if;

  if (is_by_hand and not subscription.was_active)
    or not exists (select from billing.subscriptions_with_a_say(organization, settle_subscription.at) as s where s.id = subscription.id) then
    update billing.payment_events as e set no_effect = 'never_active' where e.id = latest.id and e.outcome = 'applied';
    return;
  end if;
  derived := billing.derive_plan(organization, settle_subscription.at);
  if latest.outcome = 'applied' then
    insert into identity.audit_events (at, organization_id, event, detail)
    values (settle_subscription.at, organization.id, 'payment.' || latest.type, jsonb_build_object(
      'subscription_id', latest.subscription_id, 'plan', derived.plan, 'plan_status', derived.plan_status,
      'was', jsonb_build_object('plan', organization.plan, 'plan_status', organization.plan_status)
    ));
  end if;
end
$$;
comment on function billing.settle_subscription is
  'Lets the parked events of a subscription count, where its organization and their plan are known: binding, state by the logical clock, then the organization''s plan and one audit row where the subscription has a say.';

create function public.apply_payment_event(event jsonb, body_hash text, event_id text, at timestamptz) returns jsonb
language plpgsql set search_path = '' as $$
declare
  ledger_id bigint;
  settled billing.payment_events;
begin
  insert into billing.payment_events as l (
    event_id, body_hash, type, status, subscription_id, provider_plan_id, claimed_organization_id, occurred_at, period_ends_at,
    paid_count, auth_attempts, rank, outcome, received_at
  )
  select apply_payment_event.event_id, decode(apply_payment_event.body_hash, 'hex'), e.type, e.status, e.subscription_id, e.provider_plan_id,
    e.organization_id, e.occurred_at, e.period_ends_at, e.paid_count, e.auth_attempts, e.rank,
    case when e.status is null then 'ignored' else 'parked' end, apply_payment_event.at
  from jsonb_to_record(apply_payment_event.event) as e (
    type text, status text, subscription_id text, provider_plan_id text, organization_id text, occurred_at timestamptz, period_ends_at timestamptz,
    paid_count int, auth_attempts int, rank smallint
  )
  on conflict on constraint payment_events_body_hash_key do nothing
  returning l.id into ledger_id;
  if not found then
    return '{"outcome":"duplicate"}';
  end if;

  if event ->> 'status' is not null and event ->> 'subscription_id' is not null then
    perform billing.settle_subscription(event ->> 'subscription_id', apply_payment_event.at);
  end if;
  select * into settled from billing.payment_events as l where l.id = ledger_id;
  return jsonb_strip_nulls(jsonb_build_object(
    'outcome', settled.outcome,
    'organization_id', settled.organization_id,
    'no_effect', settled.no_effect,
    'reason', case
      when settled.outcome = 'parked' then billing.parked_reason(settled, apply_payment_event.at)
      when settled.claimed_organization_id <> settled.organization_id then 'other_organization'
    end
  ));
end
$$;
comment on function public.apply_payment_event is
  'Takes one verified event: {"outcome": applied | duplicate | stale | ignored | parked, "organization_id"?, "no_effect"?, "reason"?}. no_effect says why it was applied and changed nothing; the reason why an event is parked, or that its notes name another organization than the one it is bound to. body_hash alone tells a duplicate.';

create function public.replay_parked_events(
  subscription_id text default null, organization_id text default null, at timestamptz default now()
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  waiting text[];
  one text;
  parked_before bigint;
  parked_after bigint;
begin
  if replay_parked_events.organization_id is not null then
    insert into billing.subscriptions as s (id, organization_id) values (replay_parked_events.subscription_id, replay_parked_events.organization_id)
    on conflict on constraint subscriptions_pkey do update set organization_id = excluded.organization_id
      where s.organization_id is null or s.organization_id = excluded.organization_id;
    if not found then
      raise exception 'Subscription % belongs to another organization', replay_parked_events.subscription_id using errcode = 'PT409';
    end if;
  end if;

  select count(*) into parked_before from billing.payment_events as e where e.outcome = 'parked';
  waiting := array(
    select distinct p.subscription_id
    from billing.payment_events as p
    where p.outcome = 'parked' and p.subscription_id is not null and p.subscription_id = coalesce(replay_parked_events.subscription_id, p.subscription_id)
    order by p.subscription_id
  );
  -- All of them before any organization, as each event has its own first: else an event and this would wait for each other.
  insert into billing.subscriptions (id) select w.id from unnest(waiting) as w (id) order by w.id on conflict do nothing;
  perform from billing.subscriptions as s where s.id = any (waiting) order by s.id for update;
  foreach one in array waiting loop
    perform billing.settle_subscription(one, replay_parked_events.at);
  end loop;
  select count(*) into parked_after from billing.payment_events as e where e.outcome = 'parked';
  return jsonb_build_object('replayed', parked_before - parked_after, 'parked', parked_after);
end
$$;
comment on function public.replay_parked_events is
  'Lets parked events count now that their plan or organization is known: {"replayed","parked"}. With both arguments it first binds an unbound subscription to an organization; it never binds one anew.';

revoke all on function billing.parked_reason, billing.subscriptions_with_a_say, billing.derive_plan, billing.settle_subscription from public, anon, authenticated;
grant execute on function billing.parked_reason, billing.subscriptions_with_a_say, billing.derive_plan, billing.settle_subscription to service_role;
revoke all on function public.apply_payment_event, public.replay_parked_events from public, anon, authenticated;
grant execute on function public.apply_payment_event, public.replay_parked_events to service_role;
