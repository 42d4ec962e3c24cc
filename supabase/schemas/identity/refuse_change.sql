create or replace function identity.list_organizations(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'name', o.name) order by m.created_at, o.id), '[]')
    from identity.memberships as m
    join identity.organizations as o on o.id = m.organization_id
    where m.user_id = list_organizations.user_id
  );
end
$$;
comment on function identity.list_organizations is
  'Returns a person''s organizations in the order of joining: [{id, name}].';

create or replace function identity.describe_state(organization_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'name', o.name, 'deletes_at', o.deletes_at, 'owner', p.email, 'is_owner', o.owner_id = describe_state.user_id,
      -- While the organization is being deleted, plans include nothing.
      'takes_changes', identity.organization_has_feature(o.id, 'ai:connector', describe_state.at),
      'writes', identity.member_may(o.id, describe_state.user_id, 'books:write'),
      'tabs', jsonb_build_object(
        'exports', identity.member_may(o.id, describe_state.user_id, 'books:export'),
        'plans', billing.plans_enabled(), 'organizations', identity.list_organizations(describe_state.user_id)
      )
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = describe_state.organization_id
  );
end
$$;
comment on function identity.describe_state is
  'Returns the header of an organization''s pages: {name, deletes_at, owner, is_owner, takes_changes: whether the '
  'organization accepts changes, writes: whether their role may write, tabs: {exports: whether they may export, '
  'plans: whether plans are on, organizations: theirs}}.';

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
  'Returns the answer if an organization accepts no changes: {"outcome":"no_changes","id","state"}, with state from '
  'identity.describe_state. Returns null if it accepts changes, and for non-members.';

create or replace function identity.refuse_deleting(organization_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  refusal constant jsonb := identity.refuse_change(organization_id, user_id, at);
begin
  return case when refusal #>> '{state,deletes_at}' is not null then refusal end;
end
$$;
comment on function identity.refuse_deleting is
  'identity.refuse_change for features of every plan: refuses only while the organization is being deleted.';
revoke all on function identity.list_organizations, identity.describe_state, identity.refuse_change,
  identity.refuse_deleting from authenticated;
