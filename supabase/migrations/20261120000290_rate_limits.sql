-- Rate limits, both kinds. Token buckets for what programs do: they are drawn from inside the very call that they protect, so that a limit costs
-- no round trip of its own. Attempts, counted one by one, for what a person may try a few times an hour.

-- Unlogged: after a crash every bucket is full again, which harms nobody, and no limit writes to the log of the database.
create unlogged table oauth.rate_buckets (
  key text primary key constraint rate_buckets_key_length check (length(key) between 1 and 200),
  full_at timestamptz not null
) with (fillfactor = 50);
comment on table oauth.rate_buckets is 'How far limits are used up, by name of the limit and keyed hash of whom it is for. What is not here is unused.';
comment on column oauth.rate_buckets.full_at is 'When the bucket will be full again if nothing more is drawn. After that the row says nothing.';
alter table oauth.rate_buckets enable row level security;
grant select, insert, update, delete on oauth.rate_buckets to service_role;

create function oauth.wait_for_bucket(key text, at_most integer, seconds double precision, at timestamptz) returns integer
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
comment on function oauth.wait_for_bucket is 'Seconds until one more can be drawn from a bucket of at_most that fills within so many seconds; 0 when it can now. Draws nothing and locks nothing.';
revoke all on function oauth.wait_for_bucket from public, anon, authenticated;
grant execute on function oauth.wait_for_bucket to service_role;

create function oauth.draw_from_bucket(key text, at_most integer, seconds double precision, at timestamptz) returns integer
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
  insert into oauth.rate_buckets as b (key, full_at) values (draw_from_bucket.key, at + cost)
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
  'Draws one from a bucket of at_most that fills within so many seconds: 0, or the seconds until there is one. What is refused is not counted.';
revoke all on function oauth.draw_from_bucket from public, anon, authenticated;
grant execute on function oauth.draw_from_bucket to service_role;

create function oauth.share_of_bucket(key text, at_most integer, seconds double precision, at timestamptz) returns integer
language plpgsql stable set search_path = '' as $$
declare
  until_full constant double precision := extract(epoch from (select b.full_at from oauth.rate_buckets as b where b.key = share_of_bucket.key) - at);
begin
  -- Further ahead than any draw can lead: the clock was set back, and the bucket counts as full.
  return greatest(1, floor(at_most * (1 - case when until_full between 0 and 2 * seconds then until_full else 0 end / seconds) / 10));
end
$$;
comment on function oauth.share_of_bucket is
  'What one caller may take of a bucket that all share: a tenth of what is left in it, so that callers together come near to its end and never get there; and one.';
revoke all on function oauth.share_of_bucket from public, anon, authenticated;
grant execute on function oauth.share_of_bucket to service_role;

create function oauth.draw_quotas(quotas jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  quota record;
  wait integer;
begin
  for quota in
    select q.*, p.key as shared, p.at_most as shared_at_most, p.seconds as shared_seconds
    from jsonb_to_recordset(coalesce(quotas, '[]')) as q (key text, at_most integer, seconds double precision, share_of jsonb),
      jsonb_to_record(coalesce(q.share_of, '{}')) as p (key text, at_most integer, seconds double precision)
  loop
    if quota.shared is not null then
      quota.at_most := least(quota.at_most, oauth.share_of_bucket(quota.shared, quota.shared_at_most, quota.shared_seconds, at));
    end if;
    wait := oauth.draw_from_bucket(quota.key, quota.at_most, quota.seconds, at);
    exit when wait > 0;
  end loop;
  return coalesce(wait, 0);
end
$$;
comment on function oauth.draw_quotas is
  'Draws one from each bucket of [{"key","at_most","seconds"}], in this order, up to the first that is empty: 0, or the seconds until that one is not.
   The narrowest comes first: who is stopped there must not use up what is left to others. One with "share_of", a bucket of the same form, holds no more
   than a caller''s share of what is left in that.';
revoke all on function oauth.draw_quotas from public, anon, authenticated;
grant execute on function oauth.draw_quotas to service_role;

create function oauth.limited(wait integer) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_build_object('outcome', 'limited', 'retry_after', wait)
$$;
comment on function oauth.limited is 'The outcome of a call that was made too often.';
revoke all on function oauth.limited from public, anon, authenticated;
grant execute on function oauth.limited to service_role;

-- Attempts: sign-in mails, typed codes, confirmation mails

create table identity.attempts (
  key_hash text primary key,
  attempted_at timestamptz[] not null
);
comment on table identity.attempts is 'When something that is limited by the hour was last tried, by keyed hash of an address or of a sign-in. A row is worthless an hour after its last attempt.';
alter table identity.attempts enable row level security;
grant select, insert, update, delete on identity.attempts to service_role;

create function identity.claim_attempt(key_hash text, at_most integer, apart interval, at timestamptz) returns integer
language plpgsql set search_path = '' as $$
declare
  since timestamptz := claim_attempt.at - interval '1 hour';
  earlier timestamptz[];
begin
  -- One conditional statement: the row it locks is the queue of everybody who asks at once.
  insert into identity.attempts as a (key_hash, attempted_at) values (claim_attempt.key_hash, array[claim_attempt.at])
  on conflict on constraint attempts_pkey do update
    set attempted_at = array(select t from unnest(a.attempted_at) as t where t > since) || claim_attempt.at
    where (select count(*) from unnest(a.attempted_at) as t where t > since) < claim_attempt.at_most
      and not exists (select from unnest(a.attempted_at) as t where t > claim_attempt.at - claim_attempt.apart);
  if found then
    return 0;
  end if;
  select array_agg(t order by t desc) into earlier
  from identity.attempts as a, unnest(a.attempted_at) as t
  where a.key_hash = claim_attempt.key_hash and t > since;
  -- Room comes when the oldest of the last `at_most` is an hour old, and not before the pause is over.
  return ceil(extract(epoch from greatest(earlier[1] + claim_attempt.apart, earlier[claim_attempt.at_most] + interval '1 hour') - claim_attempt.at));
end
$$;
comment on function identity.claim_attempt is 'Counts one attempt within the last hour: 0 when there is room, else the seconds until there is; what is refused is not counted.';
revoke all on function identity.claim_attempt from public, anon;
grant execute on function identity.claim_attempt to service_role;

create function public.claim_attempt(key_hash text, at_most integer, seconds_apart integer, quotas jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- The caller first: who is stopped there must not use up what is left to others.
  wait integer := oauth.draw_quotas(quotas, at);
begin
  if wait = 0 then
    wait := identity.claim_attempt(key_hash, at_most, make_interval(secs => seconds_apart), at);
  end if;
  return case when wait = 0 then '{"outcome":"allowed"}' else oauth.limited(wait) end;
end
$$;
comment on function public.claim_attempt is
  'Whether something may be tried once more by who asks, key_hash telling what: {"outcome":"allowed"} or {"outcome":"limited","retry_after":seconds}. quotas: of the caller.';
revoke all on function public.claim_attempt from public, anon, authenticated;
grant execute on function public.claim_attempt to service_role;
