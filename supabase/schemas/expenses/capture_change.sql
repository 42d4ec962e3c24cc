create or replace function app.bump_version() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.version := old.version + 1;
  new.updated_at := app.instant();
  return new;
end
$$;
comment on function app.bump_version is
  'Increments the version. Triggers call it only when a column that isn''t derived changes.';

-- Records every write of every tool, so that undo can revert all of them.
create or replace function app.capture_change() returns trigger
language plpgsql set search_path = '' as $$
declare
  change text := nullif(current_setting('app.change_id', true), '');
begin
  -- An unchanged version means that only derived columns changed.
  if change is not null and (tg_op <> 'UPDATE' or new.version <> old.version) then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    values (
      change, coalesce(new.organization_id, old.organization_id), tg_table_name, coalesce(new.id, old.id),
      case when tg_op <> 'INSERT' then to_jsonb(old) end,
      case when tg_op <> 'DELETE' then to_jsonb(new) end
    );
  end if;
  return null;
end
$$;
create or replace function app.copy_category() returns trigger
language plpgsql set search_path = '' as $$
begin
  select e.category_id into new.category_id from app.expenses as e where e.id = new.expense_id;
  return new;
end
$$;

create or replace function app.propagate_category() returns trigger
language plpgsql set search_path = '' as $$
begin
  update app.payments as p set category_id = new.category_id
    where p.expense_id = new.id and p.category_id is distinct from new.category_id
      -- Payments of bills in closed months keep their category.
      and not (new.kind = 'bill' and app.is_closed(p.organization_id, p.paid_on));
  return null;
end
$$;
