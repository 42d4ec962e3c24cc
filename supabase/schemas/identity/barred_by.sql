create or replace function identity.barred_by() returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when identity.may('books:write') or identity.current_organization_id() is null then null
    when exists (
      select from identity.memberships as m
      join identity.role_rights as r on r.role = m.role and r."right" = 'books:write'
      where m.organization_id = identity.current_organization_id() and m.user_id = auth.uid()
    ) then 'grant'
    else 'role'
  end;
end
$$;
comment on function identity.barred_by is
  'Returns the obstacle to writing for the person of the request''s claims: their role, otherwise their app''s grant; '
  'null if they may write.';
grant execute on function identity.barred_by to authenticated;

create or replace function app.refuse_reader() returns void
language plpgsql stable set search_path = '' as $$
begin
  case identity.barred_by()
    when 'role' then perform app.fail('forbidden_role.read_only', app.list_who_may('books:write'));
    when 'grant' then perform app.fail('insufficient_scope');
    else null;
  end case;
end
$$;
comment on function app.refuse_reader is
  'Ends a writing tool with forbidden_role when the person''s role is read-only, or insufficient_scope when their app '
  'may only read.';
