create or replace function oauth.count_ungranted() returns trigger
language plpgsql set search_path = '' as $$
declare
  step constant integer := case tg_op when 'INSERT' then 1 else -1 end;
  callers text[];
begin
  if tg_op = 'UPDATE' then
    callers := array[coalesce(old.registered_by, '')];
  else
    callers := array(select coalesce(c.registered_by, '') from changed as c where c.granted_at is null);
  end if;
  if callers = '{}' then
    return null;
  end if;
  insert into oauth.ungranted_counts as u (caller, part, kept)
  values ('*', pg_backend_pid() % 16, step * cardinality(callers))
  on conflict on constraint ungranted_counts_pkey do update set kept = u.kept + excluded.kept;
  -- In one order, so that two who remove clients of the same callers don't wait for each other.
  insert into oauth.ungranted_counts as u (caller, part, kept)
  select c, 0, step * count(*) from unnest(callers) as c where c <> '' group by c order by c
  on conflict on constraint ungranted_counts_pkey do update set kept = u.kept + excluded.kept;
  if step < 0 then
    delete from oauth.ungranted_counts as u where u.caller = any (callers) and u.kept <= 0;
  end if;
  return null;
end
$$;
comment on function oauth.count_ungranted is
  'Keeps oauth.ungranted_counts. Its rows are locked from here to the end of the transaction: nothing may wait for a '
  'client after that.';

create trigger count_added after insert on oauth.clients referencing new table as changed
  for each statement execute function oauth.count_ungranted();
create trigger count_removed after delete on oauth.clients referencing old table as changed
  for each statement execute function oauth.count_ungranted();
create trigger count_granted after update on oauth.clients
  for each row when (old.granted_at is null and new.granted_at is not null) execute function oauth.count_ungranted();

alter table oauth.clients enable row level security;
alter table oauth.ungranted_counts enable row level security;
alter table oauth.grants enable row level security;
alter table oauth.consents enable row level security;
alter table oauth.used_codes enable row level security;
alter table oauth.tokens enable row level security;
grant select, insert, update, delete
  on oauth.clients, oauth.ungranted_counts, oauth.grants, oauth.consents, oauth.used_codes, oauth.tokens
  to service_role;

create or replace function oauth.resolve_access_token(
  token_hash bytea, resource text, at timestamptz,
  out outcome text, out user_id uuid, out organization_id text, out grant_id uuid, out client_id text,
  out client_name text,
  out last_used_at timestamptz
) language plpgsql stable set search_path = '' as $$
begin
  select 'ok', g.user_id, g.organization_id, g.id, c.client_id, c.client_name, g.last_used_at
  into outcome, user_id, organization_id, grant_id, client_id, client_name, last_used_at
  from oauth.tokens as t
  join oauth.grants as g on g.id = t.grant_id
  join oauth.clients as c on c.client_id = g.client_id
  join identity.memberships as m on m.organization_id = g.organization_id and m.user_id = g.user_id
  where t.token_hash = resolve_access_token.token_hash and t.kind = 'access'
    and t.revoked_at is null and t.expires_at > at
    and g.revoked_at is null and g.resource = resolve_access_token.resource
    and identity.is_active(g.user_id, at);
  if not found then
    outcome := 'invalid_token';
  end if;
end
$$;
comment on function oauth.resolve_access_token is
  'Whom an access token speaks for: outcome ok, or invalid_token and nothing else. The plan is the caller''s to judge.';

create or replace function oauth.issue_tokens(of_grant oauth.grants, access_token_hash text, refresh_token_hash text,
  at timestamptz) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  access_expires_at timestamptz := least(at + interval '3600 seconds', of_grant.expires_at);
begin
  insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at) values
    (decode(access_token_hash, 'hex'), 'access', of_grant.id, at, access_expires_at),
    (decode(refresh_token_hash, 'hex'), 'refresh', of_grant.id, at,
      least(at + interval '30 days', of_grant.expires_at));
  return ceil(extract(epoch from access_expires_at - at));
end
$$;
comment on function oauth.issue_tokens is
  'Stores a pair of tokens and answers the access token''s lifetime in seconds.';

create or replace function oauth.audit_grant(of_grant oauth.grants, event text, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  values (at, of_grant.user_id, of_grant.organization_id, event, jsonb_strip_nulls(jsonb_build_object(
    'grant_id', of_grant.id, 'client_id', of_grant.client_id, 'reason', of_grant.revocation_reason,
    'client_name', (select c.client_name from oauth.clients as c where c.client_id = of_grant.client_id)
  )));
end
$$;
comment on function oauth.audit_grant is 'Writes down what happened to a grant; of a revocation also why.';

create or replace function oauth.end_grant(grant_id uuid, reason text, at timestamptz) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  ended oauth.grants;
begin
  update oauth.grants as g set revoked_at = at, revocation_reason = reason
  where g.id = grant_id and g.revoked_at is null
  returning g.* into ended;
  if not found then
    return false;
  end if;
  perform oauth.audit_grant(ended, 'grant.revoked', at);
  perform app.withdraw_proposals_through(grant_id, at);
  return true;
end
$$;
comment on function oauth.end_grant is
  'Ends a grant and with it all its tokens, and withdraws what it proposed; false when it had ended before.';
