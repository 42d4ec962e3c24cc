-- Organizations and people schedule their deletion and can cancel it until the date. jobs/purge.sql then deletes the
-- data.

create or replace function identity.others_in(organization_id text, user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(p.email order by m.created_at, p.user_id), '[]')
    from identity.memberships as m
    join identity.profiles as p on p.user_id = m.user_id
    where m.organization_id = others_in.organization_id and m.user_id <> others_in.user_id
  );
end
$$;
comment on function identity.others_in is 'Returns the sign-in addresses of everybody else in an organization.';

create or replace function public.delete_organization(user_id uuid, organization_id text, name text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization identity.organizations;
begin
  select * into organization from identity.organizations as o
  where o.id = delete_organization.organization_id
    and identity.member_may(o.id, delete_organization.user_id, 'organization:manage')
  for update;
  if not found then
    return '{"outcome": "forbidden"}';
  elsif organization.deletes_at is not null then
    return '{"outcome": "already"}';
  elsif btrim(organization.name) <> btrim(delete_organization.name) then
    return '{"outcome": "wrong_name"}';
  end if;
  organization.deletes_at := at + app.kept_for('deleted_organizations');
  update identity.organizations as o set deletes_at = organization.deletes_at, updated_at = at
  where o.id = organization.id;
  perform identity.record_event('organization.deletion_asked', user_id, organization.id, '{}', at);
  return jsonb_build_object(
    'outcome', 'scheduled', 'name', organization.name, 'deletes_at', organization.deletes_at,
    'members', identity.others_in(organization.id, user_id)
  );
end
$$;
comment on function public.delete_organization is
  'Schedules the deletion of an organization: {"outcome":"scheduled","name","deletes_at","members": addresses of the '
  'others}, or outcome already, wrong_name or forbidden.';

create or replace function public.keep_organization(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization identity.organizations;
begin
  select * into organization from identity.organizations as o
  where o.id = keep_organization.organization_id
    and identity.member_may(o.id, keep_organization.user_id, 'organization:manage')
  for update;
  -- An owner must first cancel the deletion of their account, because an organization needs an owner.
  if not found or not identity.hold_account(user_id) then
    return '{"outcome": "forbidden"}';
  elsif organization.deletes_at is null then
    return '{"outcome": "already"}';
  elsif organization.deletes_at <= at then
    -- The purge may have deleted part of it.
    return '{"outcome": "too_late"}';
  end if;
  update identity.organizations as o set deletes_at = null, updated_at = at where o.id = organization.id;
  perform identity.record_event('organization.deletion_stopped', user_id, organization.id, '{}', at);
  return jsonb_build_object(
    'outcome', 'kept', 'name', organization.name, 'members', identity.others_in(organization.id, user_id)
  );
end
$$;
comment on function public.keep_organization is
  'Cancels the deletion of an organization: {"outcome":"kept","name","members"}, or outcome already, too_late or '
  'forbidden.';
