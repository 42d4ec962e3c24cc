-- Roles: the rights of members, as one table that policies and functions read.
-- Invariants: everybody who can write can read; the owner has every right; private records are visible to roles with
-- that right and to viewers whom the owner gave access; "own only" restricts members and nobody else.

create table identity.role_rights (
  role text not null constraint role_rights_role_known check (role in ('owner', 'manager', 'member', 'viewer')),
  "right" text not null constraint role_rights_right_known check ("right" in (
    'books:write', 'books:private', 'books:export', 'settings:write', 'members:manage', 'providers:manage',
    'plan:manage', 'organization:manage', 'approvals:decide', 'approvals:manage'
  )),
  primary key (role, "right")
);
comment on table identity.role_rights is
  'What each role may do beyond reading: a row is a right. Its one screen for people is docs/roles.md.';
alter table identity.role_rights enable row level security;
create policy "Signed-in people can read what a role may do" on identity.role_rights
  for select to authenticated using ((select auth.uid()) is not null);
grant select on identity.role_rights to authenticated, service_role;

insert into identity.role_rights (role, "right") values
  ('owner', 'books:write'),
  ('owner', 'books:private'),
  ('owner', 'books:export'),
  ('owner', 'settings:write'),
  ('owner', 'members:manage'),
  ('owner', 'providers:manage'),
  ('owner', 'plan:manage'),
  ('owner', 'organization:manage'),
  ('owner', 'approvals:decide'),
  ('owner', 'approvals:manage'),
  ('manager', 'books:write'),
  ('manager', 'books:private'),
  ('manager', 'books:export'),
  ('manager', 'settings:write'),
  ('manager', 'members:manage'),
  ('manager', 'approvals:decide'),
  ('member', 'books:write'),
  ('viewer', 'books:export');

create or replace function identity.member_may(organization_id text, user_id uuid, wanted text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.memberships as m
    where m.organization_id = member_may.organization_id and m.user_id = member_may.user_id and (
      exists (select from identity.role_rights as r where r.role = m.role and r."right" = wanted)
      or wanted = 'books:private' and m.sees_private
    )
  );
end
$$;
comment on function identity.member_may is
  'Whether a member has a right in an organization. Pages and jobs use this function; policies use identity.may.';

create or replace function identity.describe_state(organization_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'name', o.name, 'deletes_at', o.deletes_at, 'owner', p.email, 'is_owner', o.owner_id = describe_state.user_id,
      -- Plans include nothing while the organization is being deleted.
      'takes_changes', identity.organization_has_feature(o.id, 'ai:connector', describe_state.at),
      'writes', identity.member_may(o.id, describe_state.user_id, 'books:write')
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = describe_state.organization_id
  );
end
$$;
comment on function identity.describe_state is
  'The header of an organization''s pages: {name, deletes_at, owner, is_owner, takes_changes: whether anything can be '
  'written, writes: whether their role may}.';

create or replace function identity.refuse_change(organization_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('outcome', 'no_changes', 'id', m.organization_id, 'state', s.state)
    from identity.memberships as m
    cross join lateral (
      select identity.describe_state(m.organization_id, m.user_id, refuse_change.at) as state
    ) as s
    where m.organization_id = refuse_change.organization_id and m.user_id = refuse_change.user_id
      and not (s.state ->> 'takes_changes')::boolean
  );
end
$$;
comment on function identity.refuse_change is
  'The answer when an organization accepts no changes: {"outcome":"no_changes","id","state"}, with state from '
  'identity.describe_state; null when it accepts them, and for non-members.';

create or replace function identity.refuse_deleting(organization_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  refusal constant jsonb := identity.refuse_change(organization_id, user_id, at);
begin
  return case when refusal #>> '{state,deletes_at}' is not null then refusal end;
end
$$;
comment on function identity.refuse_deleting is
  'identity.refuse_change for what every plan includes: only of an organization that is being deleted.';
revoke all on function identity.describe_state, identity.refuse_change, identity.refuse_deleting from authenticated;

create type identity.standing as (
  organization_id text,
  rights text[],
  sees text
);
comment on type identity.standing is
  'A person''s organization, their rights there, and what they see: everything, everything except private records '
  '(open), or only their own.';

create or replace function identity.find_standing() returns identity.standing
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  standing identity.standing;
begin
  -- security definer: policies on the tables it reads call it, and a person without access must not learn whether a
  -- private category exists.
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
    select array(select r."right" from identity.role_rights as r where r.role = m.role)
      || case when m.sees_private then array['books:private'] end as rights
  ) as own
  where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
    and identity.is_active(m.user_id, app.instant());
  return standing;
end
$$;
comment on function identity.find_standing is
  'The standing of the person of the request''s claims, read from the tables; all null without an active membership.';

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
  'Looks up the standing of the person of the request''s claims once for the rest of the tool.';

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
  'How much the person of the request''s claims sees (identity.standing); null without a membership.';

create or replace function identity.sees_own_only() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(identity.sees() = 'own', false);
end
$$;
comment on function identity.sees_own_only is
  'Whether the person of the request''s claims sees only records that they recorded or look after.';

create or replace function identity.sees_everything() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(identity.sees() = 'everything', false);
end
$$;
comment on function identity.sees_everything is
  'Whether the person of the request''s claims sees everything in the organization. Policies check this first, so that '
  'the other conditions cost nothing without hidden data.';
grant execute on function identity.find_standing, identity.note_standing, identity.may, identity.sees,
  identity.sees_own_only, identity.sees_everything to authenticated;
revoke all on function identity.member_may from authenticated;

create policy "Owners and managers can change their organization" on identity.organizations
  for update to authenticated
  using (id = (select identity.current_organization_id()) and (select identity.may('settings:write')));
