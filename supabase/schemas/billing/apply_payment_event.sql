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
  'Applies one verified event: {"outcome": applied | duplicate | stale | ignored | parked, "organization_id"?, '
  '"no_effect"?, "reason"?}. no_effect is the reason that an applied event changed nothing. reason is the reason for '
  'parking, or reports that the notes name a different organization from the bound one. body_hash alone identifies '
  'duplicates.';

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
  -- Locks all subscriptions before any organization, in the same order as events do, to avoid a deadlock with an event.
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
  'Applies parked events after their plan or organization has become known: {"replayed","parked"}. With both '
  'arguments it first binds an unbound subscription to an organization; it never rebinds one.';
select cron.schedule('replay-payment-events', '4-59/15 * * * *', 'select public.replay_parked_events()');
