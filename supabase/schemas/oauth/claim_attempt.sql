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
  'Draws one from each bucket of [{"key","at_most","seconds"}], in order, up to the first empty one. Returns 0, or '
  'the seconds until that bucket has room. The narrowest bucket comes first, so that a rejected caller doesn''t drain '
  'the shared ones. A bucket with "share_of" (another bucket) holds at most a caller''s share of the rest of that '
  'bucket.';

create or replace function oauth.limited(wait integer) returns jsonb
language sql immutable set search_path = '' as $$
  select case when wait > 0 then jsonb_build_object('outcome', 'limited', 'retry_after', wait) end
$$;
comment on function oauth.limited is 'Returns the outcome of a call that must wait this many seconds; null for none.';

-- Attempts to send sign-in mails and confirmation mails, or to type codes.

create table identity.attempts (
  key_hash text primary key,
  attempted_at timestamptz[] not null
);
comment on table identity.attempts is
  'The latest attempts of an action with an hourly limit, by keyed hash of an address or a sign-in. A row has no '
  'effect an hour after its last attempt.';
alter table identity.attempts enable row level security;
grant select, insert, update, delete on identity.attempts to service_role;

create or replace function public.claim_attempt(key_hash text, at_most integer, seconds_apart integer, quotas jsonb,
  at timestamptz) returns jsonb
language plpgsql set search_path = '' as $$
declare
  -- The caller's bucket comes first, so that a rejected caller doesn't drain the shared ones.
  limited constant jsonb := oauth.limited(oauth.draw_quotas(quotas, at));
  since constant timestamptz := at - interval '1 hour';
  apart constant interval := make_interval(secs => seconds_apart);
  earlier timestamptz[];
begin
  if limited is not null then
    return limited;
  end if;
  -- Use one conditional statement, because its row lock serializes concurrent attempts.
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
  -- The next attempt is possible when the oldest of the last `at_most` is an hour old and the pause is over. Wait at
  -- least a second, so that a refused person always waits.
  return oauth.limited(greatest(
    1, ceil(extract(epoch from greatest(earlier[1] + apart, earlier[at_most] + interval '1 hour') - at))::integer));
end
$$;
comment on function public.claim_attempt is
  'Counts an attempt against the hourly limit of key_hash: {"outcome":"allowed"} or {"outcome":"limited", '
  '"retry_after": seconds until there is room}. Rejected attempts are not counted. quotas: those of the caller.';
