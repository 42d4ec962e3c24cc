-- Kept rows: what the capture trigger wrote down of a row, compared with the row as it is, and put back. It works for every table that is captured,
-- and for the settings, which are kept as if they were a row of the organization.

create function app.same_content(table_name text, kept jsonb, current jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  one jsonb;
begin
  if kept is null or current is null then
    return kept is null and current is null;
  end if;
  if table_name = 'settings' then
    return current @> kept;
  end if;
  -- Written anew from typed values, so that neither a session's time zone nor a column added since makes a difference.
  execute format('select to_jsonb(jsonb_populate_record(null::app.%I, $1))', table_name) into one using kept;
  return not exists (
    select
    from jsonb_object_keys(kept) as key
    where key <> all (app.derived_columns(table_name)) and one -> key is distinct from current -> key
      -- A bill that has run out ends by itself, and lives again when a payment is taken back.
      and not (key = 'status' and array[one ->> key, current ->> key] <@ array['active', 'ended'])
  );
end
$$;
comment on function app.same_content is 'Whether a row still says what it said when it was kept; versions and derived columns aside.';

create function app.read_row(table_name text, row_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  current jsonb;
begin
  if table_name = 'settings' then
    return app.read_preferences(row_id);
  end if;
  execute format('select to_jsonb(t) from app.%I as t where t.id = $1 for update', table_name) into current using row_id;
  return current;
end
$$;
comment on function app.read_row is 'A row as it is now, locked; null when it is not there.';

create function app.write_row(table_name text, row_id text, wanted jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  fixed constant text[] := array['id', 'organization_id', 'created_at'] || app.derived_columns(table_name);
  changing text;
  stored text;
  written int;
begin
  if table_name = 'settings' then
    perform app.write_preferences(row_id, wanted);
    return;
  end if;
  select string_agg(format('%I', a.attname), ', ') filter (where a.attidentity = '' and a.attname <> all (fixed)), string_agg(format('%I', a.attname), ', ')
  into changing, stored
  from pg_attribute as a
  where a.attrelid = format('app.%I', table_name)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '';
  execute format(
    'update app.%1$I as t set (%2$s) = (select %2$s from jsonb_populate_record(t, $2)) where t.id = $1', table_name, changing
  ) using row_id, wanted;
  get diagnostics written = row_count;
  if written = 0 then
    execute format(
      'insert into app.%1$I (%2$s) overriding system value select %2$s from jsonb_populate_record(null::app.%1$I, $1)', table_name, stored
    ) using wanted;
  end if;
end
$$;
comment on function app.write_row is 'Makes a row say what it said when it was kept.';

create function app.remove_row(table_name text, row_id text) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  case table_name
    when 'payments' then
      update app.payments as p set deleted_at = app.instant() where p.id = row_id;
    when 'expenses' then
      update app.expenses as e set deleted_at = app.instant() where e.id = row_id;
    when 'categories' then
      update app.categories as c set archived_at = app.instant()
      where c.id = row_id and not exists (select from app.expenses as e where e.category_id = c.id and e.deleted_at is null);
    when 'expense_occurrences' then
      delete from app.expense_occurrences as o
      where o.id = row_id and not exists (select from app.payments as p where p.occurrence_id = o.id);
      if not found then
        update app.expense_occurrences as o set status = 'open', closed_at = null where o.id = row_id;
      end if;
  end case;
  return found;
end
$$;
comment on function app.remove_row is
  'Takes back that a row was made: deleted or archived where there is such a thing, an occurrence with payments opened. False for a category in use, which stays.';

revoke all on function app.same_content, app.read_row, app.write_row, app.remove_row from public, anon;
grant execute on function app.same_content, app.read_row, app.write_row, app.remove_row to authenticated, service_role;
