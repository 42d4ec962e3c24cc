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

revoke all on function identity.member_may from authenticated;
