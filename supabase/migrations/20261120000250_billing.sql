-- Billing: what the payment provider said, and the plan that follows from it.
-- Invariants: an event counts once; a subscription is what its latest event by the logical clock made it, whatever order the events arrived in;
-- a subscription belongs to one organization for ever; an organization has the plan of its best subscription.

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
  event_id text unique constraint payment_events_event_id_length check (length(event_id) between 1 and 128),
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
  received_at timestamptz not null,
  constraint payment_events_ignored_has_no_status check ((outcome = 'ignored') = (status is null)),
  constraint payment_events_settled_is_complete check (
    outcome not in ('applied', 'stale') or (subscription_id is not null and occurred_at is not null and organization_id is not null)
  )
);
comment on table billing.payment_events is
  'Every event of the payment provider that carried a valid signature, once. Keeps what decides about plans, never the body: that names people and cards.';
comment on column billing.payment_events.event_id is 'The provider''s own id of the event, where it sends one. It is outside the signature, so the hash of the body counts too.';
comment on column billing.payment_events.status is 'What the event means for its subscription; null for kinds that mean nothing to us.';
comment on column billing.payment_events.claimed_organization_id is 'The organization named in the subscription''s notes. Whoever can edit notes wrote it; it counts for the first binding only.';
comment on column billing.payment_events.outcome is
  'applied: it became the latest word on its subscription. stale: a later one was already there. parked: we do not know its organization or plan. ignored: a kind without effect.';
create index payment_events_subscription_id_idx on billing.payment_events (subscription_id);
create index payment_events_parked_idx on billing.payment_events (subscription_id) where outcome = 'parked';

create table billing.subscriptions (
  id text primary key constraint subscriptions_id_length check (length(id) between 1 and 64),
  organization_id text collate "C" references identity.organizations (id) on delete cascade,
  plan text constraint subscriptions_plan_paid check (plan in ('pro', 'team')),
  status text constraint subscriptions_status_known check (status in ('active', 'past_due', 'canceled')),
  past_due_since timestamptz,
  period_ends_at timestamptz,
  clock billing.event_clock,
  constraint subscriptions_past_due_dated check ((status is not distinct from 'past_due') = (past_due_since is not null)),
  constraint subscriptions_running_has_plan check (plan is not null or status is null or status = 'canceled')
);
comment on table billing.subscriptions is 'A subscription at the payment provider, as its latest event left it.';
comment on column billing.subscriptions.organization_id is 'Null until an operator or an event names an organization that exists; never changed after that.';
comment on column billing.subscriptions.status is 'Null until the first event counts.';
comment on column billing.subscriptions.past_due_since is
  'When the first of the failures since the last good payment happened, at most a day before we were told.';
comment on column billing.subscriptions.clock is 'Of the event that left it so.';
create index subscriptions_organization_id_idx on billing.subscriptions (organization_id);

-- Service only: people see their plan on pages that the service renders.
alter table billing.payment_events enable row level security;
alter table billing.subscriptions enable row level security;
grant select, insert, update (outcome, organization_id) on billing.payment_events to service_role;
grant select, insert, update on billing.subscriptions to service_role;

create view billing.parked_events with (security_invoker = true) as
select e.id, e.event_id, e.type, e.subscription_id, e.provider_plan_id, e.claimed_organization_id, e.occurred_at, e.received_at,
  case
    when e.subscription_id is null or e.occurred_at is null then 'incomplete'
    when s.organization_id is null then 'unknown_organization'
    when p.plan is null and e.status <> 'canceled' then 'unknown_plan'
    else 'replayable'
  end as reason
from billing.payment_events as e
left join billing.subscriptions as s on s.id = e.subscription_id
left join billing.billing_plans as p on p.provider_plan_id = e.provider_plan_id
where e.outcome = 'parked';
comment on view billing.parked_events is
  'Events that wait for an operator, and for what. After adding the plan to billing.billing_plans, or for naming the organization: select public.replay_parked_events(…).';
grant select on billing.parked_events to service_role;

create function billing.best_subscription(organization_id text) returns billing.subscriptions
language sql stable set search_path = '' as $$
  select s
  from billing.subscriptions as s
  where s.organization_id = best_subscription.organization_id and s.status is not null
  order by array_position(array['active', 'past_due', 'canceled'], s.status), array_position(array['team', 'pro'], s.plan),
    s.past_due_since desc, s.period_ends_at desc nulls last, s.id
  limit 1
$$;
comment on function billing.best_subscription is
  'The subscription that an organization''s plan comes from, null when it has none. The end of an old one must not take the plan that a newer one pays for.';

create function billing.derive_plan(organization_id text, at timestamptz) returns void
language plpgsql set search_path = '' as $$
declare
  best billing.subscriptions := billing.best_subscription(derive_plan.organization_id);
  paid_plan text := case when best.status = 'canceled' then 'free' else best.plan end;
begin
  update identity.organizations as o
  set plan = paid_plan, plan_status = best.status, past_due_since = best.past_due_since, trial_ends_at = null, updated_at = derive_plan.at
  where o.id = derive_plan.organization_id
    and (o.plan, o.plan_status, o.past_due_since, o.trial_ends_at) is distinct from (paid_plan, best.status, best.past_due_since, null::timestamptz);
end
$$;
comment on function billing.derive_plan is 'Gives an organization the plan of its best subscription. The trial ends here: the payment provider has spoken.';

create function billing.settle_subscription(subscription_id text, at timestamptz) returns void
language plpgsql set search_path = '' as $$
declare
  subscription billing.subscriptions;
  organization identity.organizations;
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
      where e.subscription_id = s.id and e.outcome = 'parked'
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

  with settled as (
    update billing.payment_events as e
    set outcome = 'stale', organization_id = organization.id
    where e.subscription_id = subscription.id and e.outcome = 'parked' and e.occurred_at is not null
      -- An end needs no plan: it must not wait because somebody forgot to list one.
      and (e.status = 'canceled' or exists (select from billing.billing_plans as p where p.provider_plan_id = e.provider_plan_id))
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

  perform billing.derive_plan(organization.id, settle_subscription.at);
  if latest.outcome = 'applied' then
    insert into identity.audit_events (at, organization_id, event, detail)
    select settle_subscription.at, o.id, 'payment.' || latest.type, jsonb_build_object(
      'subscription_id', latest.subscription_id, 'plan', o.plan, 'plan_status', o.plan_status,
      'was', jsonb_build_object('plan', organization.plan, 'plan_status', organization.plan_status)
    )
    from identity.organizations as o
    where o.id = organization.id;
  end if;
end
$$;
comment on function billing.settle_subscription is
  'Lets the parked events of a subscription count, where its organization and their plan are known: binding, state by the logical clock, the organization''s plan, one audit row.';

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
  on conflict do nothing
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
    'reason', case
      when settled.outcome = 'parked' then (select p.reason from billing.parked_events as p where p.id = ledger_id)
      when settled.claimed_organization_id <> settled.organization_id then 'other_organization'
    end
  ));
end
$$;
comment on function public.apply_payment_event is
  'Takes one verified event: {"outcome": applied | duplicate | stale | ignored | parked, "organization_id"?, "reason"?}. The reason says why an event is parked, or that its notes name another organization than the one it is bound to.';

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

  select count(*) into parked_before from billing.parked_events;
  waiting := array(
    select distinct p.subscription_id
    from billing.parked_events as p
    where p.reason <> 'incomplete' and p.subscription_id = coalesce(replay_parked_events.subscription_id, p.subscription_id)
    order by p.subscription_id
  );
  -- All of them before any organization, as each event has its own first: else an event and this would wait for each other.
  insert into billing.subscriptions (id) select w.id from unnest(waiting) as w (id) order by w.id on conflict do nothing;
  perform from billing.subscriptions as s where s.id = any (waiting) order by s.id for update;
  foreach one in array waiting loop
    perform billing.settle_subscription(one, replay_parked_events.at);
  end loop;
  select count(*) into parked_after from billing.parked_events;
  return jsonb_build_object('replayed', parked_before - parked_after, 'parked', parked_after);
end
$$;
comment on function public.replay_parked_events is
  'Lets parked events count now that their plan or organization is known: {"replayed","parked"}. With both arguments it first binds an unbound subscription to an organization; it never binds one anew.';

revoke all on function billing.best_subscription, billing.derive_plan, billing.settle_subscription from public, anon, authenticated;
grant execute on function billing.best_subscription, billing.derive_plan, billing.settle_subscription to service_role;
revoke all on function public.apply_payment_event, public.replay_parked_events from public, anon, authenticated;
grant execute on function public.apply_payment_event, public.replay_parked_events to service_role;
