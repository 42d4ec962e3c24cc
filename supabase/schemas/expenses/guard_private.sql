create or replace function app.guard_private() returns trigger
language plpgsql set search_path = '' as $$
begin
  if current_user = 'authenticated' and new.is_private is distinct from (case tg_op when 'UPDATE' then old.is_private
    else false end) and not identity.may('settings:write') then
    perform app.fail('forbidden_role.private_category', app.list_who_may('settings:write'));
  end if;
  return new;
end
$$;
comment on function app.guard_private is
  'Rejects making a category private or public, by a call or an undo, without the right settings:write.';
create trigger guard_private before insert or update of is_private on app.categories
  for each row execute function app.guard_private();
