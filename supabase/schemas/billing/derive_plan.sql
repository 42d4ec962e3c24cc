create or replace function billing.parked_reason(event billing.payment_events, at timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when event.subscription_id is null or event.occurred_at is null then 'incomplete'
    -- A future event would make every later real event stale. Clocks may differ by up to five minutes.
    when event.occurred_at > at + interval '5 minutes' then 'dated_ahead'
    when not exists (select from billing.subscriptions as s
      where s.id = event.subscription_id and s.organization_id is not null) then 'unknown_organization'
    -- The end of a subscription needs no plan, so it must not wait until its plan is listed.
    when event.status <> 'canceled'
      and not exists (select from billing.billing_plans as p where p.provider_plan_id = event.provider_plan_id)
      then 'unknown_plan'
    else 'replayable'
  end;
end
$$;
comment on function billing.parked_reason is
  'Returns the reason that a parked event waits at an instant, or replayable if it no longer waits.';

create or replace view billing.parked_events with (security_invoker = true) as
select e.id, e.event_id, e.type, e.subscription_id, e.provider_plan_id, e.claimed_organization_id, e.occurred_at,
  e.received_at,
  billing.parked_reason(e, now()) as reason
from billing.payment_events as e
where e.outcome = 'parked';
comment on view billing.parked_events is
  'Events that wait, with the reason. The schedule applies them after their plan is in billing.billing_plans, or on '
  'the day of an event dated ahead. For an unbound subscription, run select public.replay_parked_events(…).';
grant select on billing.parked_events to service_role;

create or replace function billing.subscriptions_with_a_say(organization identity.organizations, at timestamptz)
  returns setof billing.subscriptions
language plpgsql stable set search_path = '' as $$
begin
  return query
  select s.*
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
    s.past_due_since desc, s.period_ends_at desc nulls last, s.id;
end
$$;
comment on function billing.subscriptions_with_a_say is
  'Returns the subscriptions that can determine an organization''s plan, best first. The caller must check that a plan '
  'set by hand outranks subscriptions that were never active.';

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
  -- A second subscription in its grace period can add a larger plan, or extend the same or a smaller one.
  select * into second
  from billing.subscriptions_with_a_say(organization, at) as s
  where s.status = 'past_due' and (s.plan > best.plan or s.past_due_since > best.past_due_since)
  order by s.past_due_since desc
  limit 1;
  update identity.organizations as o
  set plan = case when best.status = 'canceled' then 'free' else best.plan end, plan_status = best.status,
    past_due_since = best.past_due_since,
    second_plan = second.plan, second_past_due_since = second.past_due_since, updated_at = at,
    -- A plan whose grace period is over has already ended.
    plan_ended_at = case
      when best.status = 'canceled' and second.id is null
        and (o.plan <> 'free' and (o.plan_status <> 'past_due' or at < billing.grace_ends_at(o.past_due_since))
          or at < billing.grace_ends_at(o.second_past_due_since)) then at
      else o.plan_ended_at
    end
  where o.id = organization.id
  returning * into organization;
  return organization;
end
$$;
comment on function billing.derive_plan is
  'Sets an organization''s plan from its best eligible subscription and returns it. The end of an old subscription '
  'must not remove the plan of a newer one.';
