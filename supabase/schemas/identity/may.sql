create type identity.standing as (
  organization_id text,
  rights text[],
  sees text
);
comment on type identity.standing is
  'A person''s organization, their rights there, and the records they see: everything, everything except private '
  'records (open), or only their own records.';

create or replace function identity.find_standing() returns identity.standing
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  -- The rights of a role that a read-only app keeps.
  reading constant text[] := array['books:private', 'books:export', 'approvals:decide'];
  only_reads constant boolean := exists (
    select from oauth.grants as g where g.id = (claims ->> 'grant_id')::uuid and g.access = 'read'
  );
  standing identity.standing;
begin
  -- security definer: policies on the tables that it reads call it, and a person without access must not learn whether
  -- a private category exists.
  select m.organization_id, own.rights, case
    when o.own_only and m.role = 'member' then 'own'
    when 'books:private' = any (own.rights)
      or not exists (select from app.categories as c where c.organization_id = m.organization_id and c.is_private)
      then 'everything'
    else 'open' end
  into standing
  from identity.memberships as m
  join identity.organizations as o on o.id = m.organization_id
  cross join lateral (
    select array(
      select r."right" from identity.role_rights as r
      where r.role = m.role and (not only_reads or r."right" = any (reading))
    )
      || case when m.sees_private then array['books:private'] end as rights
  ) as own
  where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
    and identity.is_active(m.user_id, app.instant());
  return standing;
end
$$;
comment on function identity.find_standing is
  'Returns the standing of the request''s person, read from the tables; all null without an active membership. '
  'Through a read-only app, it has only the reading rights.';

create or replace function identity.note_standing() returns void
language plpgsql volatile set search_path = '' as $$
declare
  standing constant identity.standing := identity.find_standing();
begin
  perform set_config('app.member_of', standing.organization_id, true),
    set_config('app.rights', standing.rights::text, true),
    set_config('app.sees', standing.sees, true),
    set_config('app.standing_of', case when standing.organization_id is not null
      then current_setting('request.jwt.claims', true) end, true);
end
$$;
comment on function identity.note_standing is
  'Looks up the standing of the person in the request''s claims once for the rest of the tool.';

create or replace function identity.may(wanted text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  if identity.is_standing_noted() then
    return wanted = any (current_setting('app.rights')::text[]);
  end if;
  return coalesce(wanted = any ((identity.find_standing()).rights), false);
end
$$;
comment on function identity.may is
  'Whether the person of the request''s claims has a right in its organization; false without a membership.';

create or replace function identity.sees() returns text
language plpgsql stable set search_path = '' as $$
begin
  if identity.is_standing_noted() then
    return current_setting('app.sees');
  end if;
  return (identity.find_standing()).sees;
end
$$;
comment on function identity.sees is
  'Returns the records a person sees (identity.standing); null without a membership.';

create or replace function identity.sees_own_only() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(identity.sees() = 'own', false);
end
$$;
comment on function identity.sees_own_only is
  'Whether the person of the request''s claims sees only records that they recorded or are responsible for.';

create or replace function identity.sees_everything() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(identity.sees() = 'everything', false);
end
$$;
comment on function identity.sees_everything is
  'Whether the person of the request''s claims sees everything in the organization. Policies check this first, so '
  'that the other conditions cost nothing if no data is hidden.';
grant execute on function identity.find_standing, identity.note_standing, identity.may, identity.sees,
  identity.sees_own_only, identity.sees_everything to authenticated;
