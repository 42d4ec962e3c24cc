-- The authorization server's calls: one per request, which also looks up the client. Rejections are outcomes, not
-- exceptions, because an exception would roll back the revocation that a replay causes. Concurrent requests are decided
-- by one conditional statement. Each can return {"outcome": "limited", "retry_after": seconds}. Calls draw from the
-- buckets in `limits` and `quotas`, and have no limit without them. Rejections draw from the caller's bucket and
-- successes from the grant's, and an invalid token has its own. So a valid code or token is never rejected because of
-- other requests, whether from the same address or with an old token of the same person.

create or replace function oauth.refuse(outcome text, client_id text, limits jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return coalesce(oauth.limited(oauth.draw_quotas(limits -> 'caller', at)), jsonb_build_object('outcome', case
    when exists (select from oauth.clients as c where c.client_id = refuse.client_id) then outcome
    else 'unknown_client'
  end));
end
$$;
comment on function oauth.refuse is
  'Returns a rejection that draws from the caller''s quotas: this outcome, unknown_client for an unknown client, or '
  'limited.';

create or replace function oauth.draw_allowance(subject text, limits jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
begin
  if limits -> 'grant' is null then
    return 0;
  end if;
  return oauth.draw_from_bucket(subject, (limits #>> '{grant,at_most}')::integer,
    (limits #>> '{grant,seconds}')::double precision, at);
end
$$;
comment on function oauth.draw_allowance is
  'Draws one from the token endpoint''s allowance of a grant, or of an invalid token of the grant. Returns 0, or the '
  'seconds to wait. subject: the grant or the token.';

create or replace function oauth.make_room(room jsonb, at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  at_most constant integer := room ->> 'at_most';
  settling constant interval := make_interval(secs => (room ->> 'seconds')::double precision);
  caller constant text := room ->> 'caller';
  kept constant integer := coalesce((select sum(u.kept) from oauth.ungranted_counts as u where u.caller = '*'), 0);
  own constant integer :=
    coalesce((select u.kept from oauth.ungranted_counts as u where u.caller = room ->> 'caller'), 0);
  oldest timestamptz;
begin
  if room is null then
    return 0;
  end if;
  -- A twentieth of the free slots, but at least one, so that no caller can fill them alone.
  if caller is null or own < greatest(1, (at_most - kept) / 20.0) then
    if kept >= at_most then
      delete from oauth.clients as c where c.client_id = (
        select o.client_id from oauth.clients as o where o.granted_at is null order by o.created_at
          limit 1 for update skip locked
      );
    end if;
    return 0;
  end if;
  -- A caller over its share displaces its own clients. A person may be looking at the consent page of a new one.
  delete from oauth.clients as c where c.client_id = (
    select o.client_id from oauth.clients as o
    where o.granted_at is null and o.registered_by = caller and o.created_at <= at - settling
    order by o.created_at limit 1 for update skip locked
  );
  if found then
    return 0;
  end if;
  select min(c.created_at) into oldest from oauth.clients as c where c.registered_by = caller and c.granted_at is null;
  return greatest(1, ceil(extract(epoch from least(oldest + settling - at, settling))));
end
$$;
comment on function oauth.make_room is
  'Makes room for one more unauthorized client within {"caller","at_most","seconds"}. Returns 0, or the seconds to '
  'wait. At most at_most are kept. When full, a caller within its share displaces the oldest client; a caller over '
  'its share displaces its own oldest one, once that is old enough. Concurrent callers may exceed at_most by their '
  'number.';

create or replace function public.register_client(
  client_id text, client_name text, redirect_uris text[], at timestamptz, quotas jsonb default null,
  room jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  limited constant jsonb :=
    coalesce(oauth.limited(oauth.draw_quotas(quotas, at)), oauth.limited(oauth.make_room(room, at)));
begin
  if limited is not null then
    return limited;
  end if;
  insert into oauth.clients (client_id, client_name, redirect_uris, registered_by, created_at)
  values (client_id, client_name, redirect_uris, room ->> 'caller', at);
  return '{"outcome": "registered"}';
end
$$;
comment on function public.register_client is
  'Stores a client that registered itself, under the id that the function generated, if oauth.make_room finds room. '
  'Two equal registrations create two clients.';
