create or replace function oauth.count_ungranted() returns trigger
language plpgsql set search_path = '' as $$
declare
  step constant integer := case tg_op when 'INSERT' then 1 else -1 end;
  callers text[];
begin
  if tg_op = 'UPDATE' then
    callers := array[coalesce(old.registered_by, '')];
  else
    callers := array(select coalesce(c.registered_by, '') from changed as c where c.granted_at is null);
  end if;
  if callers = '{}' then
    return null;
  end if;
  insert into oauth.ungranted_counts as u (caller, part, kept)
  values ('*', pg_backend_pid() % 16, step * cardinality(callers))
  on conflict on constraint ungranted_counts_pkey do update set kept = u.kept + excluded.kept;
  -- Lock in one order to avoid deadlocks between concurrent removals.
  insert into oauth.ungranted_counts as u (caller, part, kept)
  select c, 0, step * count(*) from unnest(callers) as c where c <> '' group by c order by c
  on conflict on constraint ungranted_counts_pkey do update set kept = u.kept + excluded.kept;
  if step < 0 then
    delete from oauth.ungranted_counts as u where u.caller = any (callers) and u.kept <= 0;
  end if;
  return null;
end
$$;
comment on function oauth.count_ungranted is
  'Updates oauth.ungranted_counts. Its rows are locked from here to the end of the transaction, so the caller must '
  'not wait for a client afterwards.';

create trigger count_added after insert on oauth.clients referencing new table as changed
  for each statement execute function oauth.count_ungranted();
create trigger count_removed after delete on oauth.clients referencing old table as changed
  for each statement execute function oauth.count_ungranted();
create trigger count_granted after update on oauth.clients
  for each row when (old.granted_at is null and new.granted_at is not null) execute function oauth.count_ungranted();
