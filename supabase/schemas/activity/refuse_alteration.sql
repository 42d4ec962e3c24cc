-- The audit trail is append-only. No role that serves requests or runs jobs can change or delete a change, its effects,
-- a count of reads or an event. The purge has its own role for expired rows.

create or replace function app.keep_change() returns trigger
language plpgsql set search_path = '' as $$
begin
  if current_user not in ('authenticated', 'service_role') then
    return coalesce(new, old);
  end if;
  if tg_op = 'DELETE' then
    return case when not old.is_emptied and not exists (
      select from app.change_items as i where i.change_id = old.id
    ) then old end;
  end if;
  -- Each column can be set once. Only undone_by can change again: undoing the undo clears it.
  if (old.is_emptied or old.facts <> '{}') and new.facts <> old.facts
    or (old.is_emptied or old.moved is not null) and new.moved is distinct from old.moved
    or old.undoes is not null and new.undoes is distinct from old.undoes
    or new.undone_by is distinct from old.undone_by and not exists (
      select from app.change_sets as s
      where case when new.undone_by is null then s.id = old.undone_by and s.undone_by is not null
        else s.id = new.undone_by and s.undoes = old.id end
    ) then
    raise exception using errcode = 'insufficient_privilege', message = 'change_is_kept';
  end if;
  return new;
end
$$;
comment on function app.keep_change is
  'Allows a change to record its effects once, and to be deleted only while it has no items.';
create trigger keep_change before update or delete on app.change_sets
  for each row execute function app.keep_change();

create or replace function app.refuse_alteration() returns trigger
language plpgsql set search_path = '' as $$
begin
  raise exception using errcode = 'insufficient_privilege', message = 'change_is_kept';
end
$$;
comment on function app.refuse_alteration is
  'Raises insufficient_privilege for items of any change other than the current one, and for a read count that falls '
  'or rises by more than one.';
create trigger refuse_alteration before insert on app.change_items
  for each row when (
    current_user in ('authenticated', 'service_role')
    and new.change_id is distinct from current_setting('app.change_id', true)
  )
  execute function app.refuse_alteration();
create trigger refuse_alteration before update on app.tool_reads
  for each row when (current_user in ('authenticated', 'service_role') and new.count - old.count not in (0, 1))
  execute function app.refuse_alteration();
