create or replace function public.read_members(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  state constant jsonb := identity.describe_state(organization_id, user_id, at);
  manages constant boolean := identity.member_may(organization_id, user_id, 'members:manage')
    and state ->> 'deletes_at' is null;
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'role', own.role, 'may_manage', manages, 'state', state,
      'may_grow', identity.may_grow(o.id, at),
      'country', (select p.country from identity.profiles as p where p.user_id = own.user_id),
      'members', (
        select jsonb_agg(jsonb_build_object(
          'user_id', m.user_id, 'email', p.email, 'role', m.role, 'sees_private', m.sees_private,
          'may_change', m.user_id <> own.user_id and m.role <> 'owner' and o.deletes_at is null
            and identity.may_give_role(o.id, own.user_id, m.role, at)
        ) order by m.role <> 'owner', p.email, m.user_id)
        from identity.memberships as m
        join identity.profiles as p on p.user_id = m.user_id
        where m.organization_id = o.id
      ),
      'invitations', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', i.id, 'address', i.address, 'role', i.role, 'expires_at', i.expires_at, 'is_expired',
          i.expires_at <= at, 'may_change', identity.may_give_role(o.id, own.user_id, i.role, at)
        ) order by i.created_at desc, i.id)
        from identity.invitations as i
        where manages and i.organization_id = o.id and i.accepted_at is null and i.withdrawn_at is null
      ), '[]'),
      'handover', (
        select jsonb_build_object('id', h.id, 'from', f.email, 'to', t.email, 'to_me', h.to_id = own.user_id,
          'expires_at', h.expires_at)
        from identity.handovers as h
        join identity.profiles as f on f.user_id = h.from_id
        join identity.profiles as t on t.user_id = h.to_id
        where h.organization_id = o.id and h.expires_at > at and own.user_id in (h.from_id, h.to_id)
      )
    )
    from identity.organizations as o
    join identity.memberships as own on own.organization_id = o.id and own.user_id = read_members.user_id
    where o.id = read_members.organization_id and identity.is_active(own.user_id, at)
  );
end
$$;
comment on function public.read_members is
  'Returns the members of an organization for one of them. Includes open invitations for people who may invite, and a '
  'hand-over that the person can confirm or withdraw. Null for non-members.';

create or replace function public.change_member_role(
  user_id uuid, organization_id text, member_id uuid, role text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  member identity.memberships;
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  select * into member from identity.memberships as m
  where m.organization_id = change_member_role.organization_id and m.user_id = member_id
    and identity.member_may(m.organization_id, change_member_role.user_id, 'members:manage');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  -- Only a hand-over changes the owner's role, and people can't change their own role.
  if member.role = 'owner' or member_id = user_id
    or not identity.may_give_role(organization_id, user_id, member.role, at)
    or not identity.may_give_role(organization_id, user_id, role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  if member.role = role then
    return '{"outcome":"changed"}';
  end if;
  update identity.memberships as m set role = change_member_role.role, sees_private = false
  where m.organization_id = change_member_role.organization_id and m.user_id = member_id;
  perform identity.withdraw_invitations_of(organization_id, member_id, at);
  perform jobs.stop_digests_of(organization_id, member_id, at);
  perform identity.record_event('member.role_changed', user_id, organization_id,
    jsonb_build_object('member_id', member_id, 'role', role), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_member_role is
  'Makes a member a manager, member or viewer: outcome changed, not_allowed, or unknown (also without the right to '
  'manage members).';
