create or replace function public.open_private(
  user_id uuid, organization_id text, member_id uuid, sees_private boolean, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  if not exists (
    select from identity.organizations as o
    where o.id = open_private.organization_id and o.owner_id = open_private.user_id
  ) then
    return '{"outcome":"unknown"}';
  end if;
  update identity.memberships as m set sees_private = open_private.sees_private
  where m.organization_id = open_private.organization_id and m.user_id = member_id and m.role = 'viewer';
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  if not sees_private then
    perform jobs.stop_digests_of(organization_id, member_id, at);
  end if;
  perform identity.record_event('member.private_changed', user_id, organization_id,
    jsonb_build_object('member_id', member_id, 'sees_private', sees_private), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.open_private is
  'Opens private categories to a viewer, or closes them, for the owner only: outcome changed or unknown.';
