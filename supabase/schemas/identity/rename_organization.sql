create or replace function public.rename_organization(user_id uuid, organization_id text, name text, at timestamptz)
  returns jsonb
language plpgsql set search_path = '' as $$
declare
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  update identity.organizations as o set name = btrim(rename_organization.name), updated_at = at
  where o.id = organization_id and o.owner_id = user_id;
  if not found then
    return '{"outcome":"not_owner"}';
  end if;
  perform identity.record_event('organization.renamed', user_id, organization_id, '{}', at);
  return '{"outcome":"renamed"}';
end
$$;
comment on function public.rename_organization is
  'Gives an organization another name, for its owner only: {"outcome":"renamed"} or {"outcome":"not_owner"}.';
