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
  -- All events of a subscription wait for this lock. A row for an unknown subscription reserves its binding.
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
  -- Locks the organization before reading its other subscriptions: two concurrent changes would each miss the other.
  select * into organization from identity.organizations as o
    where o.id = subscription.organization_id for no key update;
  if not found then
    return;
  end if;
  before := subscription;
  is_by_hand := organization.plan <> 'free' and organization.plan_status = 'active' and not exists (
    select from billing.subscriptions as s where s.organization_id = organization.id and s.status = 'active'
  );

  with due as (
    select e.id, e.clock
    from billing.payment_events as e
    where e.subscription_id = subscription.id and e.outcome = 'parked'
      and billing.parked_reason(e, at) = 'replayable'
  ), settled as (
    update billing.payment_events as e
    set organization_id = organization.id, outcome = case
      when e.id = (select d.id from due as d order by d.clock desc limit 1)
        and (subscription.clock is null or subscription.clock < e.clock) then 'applied'
      else 'stale'
    end
    from due
    where e.id = due.id
    returning e.*
  )
  select * into latest from settled as e order by e.clock desc limit 1;
  if not found then
    return;
  end if;

  if latest.outcome = 'applied' then
    subscription.status := latest.status;
    subscription.plan := coalesce(
      (select p.plan from billing.billing_plans as p where p.provider_plan_id = latest.provider_plan_id),
      subscription.plan
    );
    subscription.period_ends_at := latest.period_ends_at;
    subscription.clock := latest.clock;
  end if;
  -- Search again with each event, because a late failure can start a series of failures, and a late payment can end
  -- one. The provider retries for a day, so a failure counts from at most a day before its arrival. Without this limit,
  -- resending an old event by hand could end the grace period at once.
  subscription.past_due_since := case when subscription.status = 'past_due' then (
    select min(greatest(e.occurred_at, e.received_at - interval '1 day'))
    from billing.payment_events as e
    where e.subscription_id = subscription.id and e.outcome in ('applied', 'stale') and e.status = 'past_due'
      and e.clock > all (
        select o.clock
        from billing.payment_events as o
        where o.subscription_id = subscription.id and o.outcome in ('applied', 'stale') and o.status <> 'past_due'
      )
  ) end;
  subscription.was_active := subscription.was_active or exists (
    select from billing.payment_events as e
    where e.subscription_id = subscription.id and e.outcome in ('applied', 'stale') and e.status = 'active'
  );
  if subscription is not distinct from before then
    return;
  end if;
  update billing.subscriptions as s
  set status = subscription.status, plan = subscription.plan, past_due_since = subscription.past_due_since,
    period_ends_at = subscription.period_ends_at, was_active = subscription.was_active, clock = subscription.clock
  where s.id = subscription.id;

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
  'Applies the parked events of a subscription if its organization and plan are known. Updates its binding, its state '
  'by the logical clock, and the organization''s plan, and adds one audit row if the subscription determines the '
  'plan.';
