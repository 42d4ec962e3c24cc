-- Rate limits of two kinds. Token buckets limit programs: the protected call itself draws from them, so a limit costs
-- no round trip. Attempts are counted one by one and limit a person to a few an hour.

-- Unlogged: a crash refills every bucket, which is harmless, and limits write no WAL.
create unlogged table oauth.rate_buckets (
  key text primary key constraint rate_buckets_key_length check (length(key) between 1 and 200),
  full_at timestamptz not null
) with (fillfactor = 50);
comment on table oauth.rate_buckets is
  'The usage of limits, by name of the limit and keyed hash of its subject. A missing row means unused.';
comment on column oauth.rate_buckets.full_at is
  'The time when the bucket will be full again without further draws. After that, the row can be deleted.';
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
  -- Draws never lead this far ahead. The clock was set back, so the row starts over.
  if full_again is null or full_again > at + 2 * span or missing <= interval '1 millisecond' then
    return 0;
  end if;
  return greatest(1, ceil(extract(epoch from missing)));
end
$$;
comment on function oauth.wait_for_bucket is
  'Returns the seconds until one more can be drawn from a bucket of at_most that refills within this many seconds; 0 '
  'if it can be drawn now. Draws nothing and locks nothing.';

create or replace function oauth.draw_from_bucket(key text, at_most integer, seconds double precision, at timestamptz)
  returns integer
language plpgsql volatile set search_path = '' as $$
declare
  span constant interval := make_interval(secs => seconds);
  -- The cost of a draw, which delays the refill by this much.
  cost constant interval := make_interval(secs => seconds / at_most);
  wait constant integer := oauth.wait_for_bucket(key, at_most, seconds, at);
begin
  -- A rejected draw neither waits for the row nor writes it, so that a flood stays cheap.
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
  -- A concurrent call drew the last one.
  return greatest(1, oauth.wait_for_bucket(key, at_most, seconds, at));
end
$$;
comment on function oauth.draw_from_bucket is
  'Draws one from a bucket of at_most that refills within this many seconds. Returns 0, or the seconds until one is '
  'available. Rejected draws are not counted.';

create or replace function oauth.share_of_bucket(key text, at_most integer, seconds double precision, at timestamptz)
  returns integer
language plpgsql stable strict set search_path = '' as $$
declare
  until_full constant double precision :=
    extract(epoch from (select b.full_at from oauth.rate_buckets as b where b.key = share_of_bucket.key) - at);
begin
  -- If the bucket is further ahead than draws can bring it, the clock was set back; treat the bucket as full.
  return greatest(1,
    floor(at_most * (1 - case when until_full between 0 and 2 * seconds then until_full else 0 end / seconds) / 10));
end
$$;
comment on function oauth.share_of_bucket is
  'Returns one caller''s limit in a shared bucket: a tenth of the rest, but at least one, so that no caller can drain '
  'the bucket alone.';
