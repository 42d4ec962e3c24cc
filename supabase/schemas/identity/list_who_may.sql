create or replace function app.list_who_may(wanted text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('who', (
    select jsonb_agg(w.email) from (
      select p.email
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      join identity.role_rights as r on r.role = m.role and r."right" = wanted
      where m.organization_id = identity.current_organization_id() and m.role in ('owner', 'manager')
      order by m.role = 'owner' desc, m.created_at, m.user_id
      limit 2
    ) as w
  ));
end
$$;
comment on function app.list_who_may is
  'Returns the people to ask when a role lacks a right: {who: up to two addresses of the owner and a manager with the '
  'right}.';
