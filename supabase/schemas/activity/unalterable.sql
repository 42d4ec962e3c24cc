-- What was done stays written: no role that serves requests or runs jobs can change or remove a change, what it did, or
-- an event of the audit trail. The purge has a role of its own, for what is past its time.

revoke update, delete on app.change_items from service_role;
revoke update, delete on app.change_sets from service_role;
grant update (facts, undoes, undone_by, moved), delete on app.change_sets to service_role;

create or replace function app.keep_change() returns trigger
language plpgsql set search_path = '' as $$
begin
  if current_user not in ('authenticated', 'service_role') then
    return coalesce(new, old);
  end if;
  if tg_op = 'DELETE' then
    return case when not exists (select from app.change_items as i where i.change_id = old.id) then old end;
  end if;
  if old.facts <> '{}' and new.facts <> old.facts or old.moved is not null and new.moved <> old.moved then
    raise exception using errcode = 'insufficient_privilege', message = 'a change is kept';
  end if;
  return new;
end
$$;
comment on function app.keep_change is
  'Lets a change say once what it did, and be dropped only while it did nothing. That it was undone is noted later.';
create trigger keep_change before update or delete on app.change_sets
  for each row execute function app.keep_change();
