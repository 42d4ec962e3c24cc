-- Kept rows: compares a row that the capture trigger stored with the current one, and restores it. Works for every
-- captured table and for the settings, which are stored as one row of the organization.

create type app.kept_row as (
  table_name text,
  row_id text,
  before jsonb,
  after jsonb,
  current jsonb
);
comment on type app.kept_row is 'A row before a change, after it, and now. A state is null if the row did not exist.';

create or replace function app.same_content(kept jsonb, typed jsonb, current jsonb, derived text[]) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  if kept is null or current is null then
    return kept is null and current is null;
  end if;
  return typed - derived = current - derived or not exists (
    select
    from jsonb_object_keys(kept) as key
    where key <> all (derived) and typed -> key is distinct from current -> key
      -- A bill without remaining dates ends by itself, and becomes active again when a payment is undone.
      and not (key = 'status' and array[typed ->> key, current ->> key] <@ array['active', 'ended'])
  );
end
$$;
comment on function app.same_content is
  'Whether a row still has its captured content; typed is the captured content with the table''s current columns.';

create or replace function app.compare_rows(table_name text, ids text[], kept jsonb[])
  returns table (row_id text, current jsonb, is_same boolean)
language plpgsql volatile set search_path = '' set enable_nestloop = off as $$
begin
  if table_name = 'settings' then
    return query
      select w.row_id, p.current, p.current @> w.kept
      from unnest(ids, compare_rows.kept) as w (row_id, kept)
      cross join lateral (select app.read_preferences(w.row_id) as current offset 0) as p;
    return;
  end if;
  -- Use hash joins, because the planner can't estimate the number of rows. Rows that differ textually are compared
  -- again as typed values, so that time zones and new columns make no difference.
  return query execute format(
    $query$
      select w.row_id, t.current,
        -- Both states of a purged row are unknown, so they must not count as equal.
        w.kept is not distinct from t.current
          or app.same_content(w.kept, to_jsonb(jsonb_populate_record(null::app.%1$I, w.kept)), t.current, $3)
      from unnest($1, $2) as w (row_id, kept)
      left join (
        select t.id, to_jsonb(t) as current from app.%1$I as t where t.id = any ($1) for no key update
      ) as t on t.id = w.row_id
    $query$, table_name
  ) using ids, kept, app.derived_columns(table_name);
end
$$;
comment on function app.compare_rows is
  'Returns the current rows, locked (null for missing ones), and whether each still has its captured content.';

create or replace function app.write_rows(table_name text, ids text[], wanted jsonb[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  fixed constant text[] := array['id', 'organization_id', 'created_at'] || app.derived_columns(table_name);
  changing text;
  stored text;
  written text[];
begin
  if table_name = 'settings' then
    perform app.write_preferences(w.row_id, w.wanted) from unnest(ids, write_rows.wanted) as w (row_id, wanted);
    return;
  end if;
  select string_agg(format('%I', a.attname), ', ') filter (where a.attidentity = '' and a.attname <> all (fixed)),
    string_agg(format('%I', a.attname), ', ')
  into changing, stored
  from pg_attribute as a
  where a.attrelid = format('app.%I', table_name)::regclass and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '';
  -- The retention of a row that is deleted again starts today.
  execute format(
    $query$
      with written as (
        update app.%1$I as t set (%2$s) = (select %2$s from jsonb_populate_record(t, case
          when w.wanted ->> 'deleted_at' is null then w.wanted
          else jsonb_set(w.wanted, '{deleted_at}', to_jsonb(app.instant()))
        end))
        from unnest($1, $2) as w (row_id, wanted)
        where t.id = w.row_id
        returning t.id
      )
      select array_agg(w.id) from written as w
    $query$, table_name, changing
  ) into written using ids, wanted;
  if coalesce(cardinality(written), 0) < cardinality(ids) then
    execute format(
      $query$
        insert into app.%1$I (%2$s) overriding system value
        select %2$s
        from unnest($1, $2) with ordinality as w (row_id, wanted, place)
        cross join lateral jsonb_populate_record(null::app.%1$I, w.wanted)
        where $3 is null or w.row_id <> all ($3)
        order by w.place
      $query$, table_name, stored
    ) using ids, wanted, written;
  end if;
end
$$;
comment on function app.write_rows is
  'Restores captured rows of any table with their ids and versions. New expenses are written by app.write_expenses.';

create or replace function app.remove_rows(table_name text, ids text[]) returns text[]
language plpgsql volatile set search_path = '' as $$
declare
  removed text[];
begin
  case table_name
    when 'categories' then
      with archived as (
        update app.categories as c set archived_at = app.instant()
        where c.id = any (ids)
          and not exists (select from app.expenses as e where e.category_id = c.id and e.deleted_at is null)
          and not exists (select from app.incomes as n where n.category_id = c.id and n.deleted_at is null)
        returning c.id
      )
      select array_agg(a.id) into removed from archived as a;
      return coalesce(removed, '{}');
    when 'expense_occurrences' then
      delete from app.expense_occurrences as o
      where o.id = any (ids) and not exists (select from app.payments as p where p.occurrence_id = o.id);
      update app.expense_occurrences as o set status = 'open', closed_at = null where o.id = any (ids);
    else
      execute format('update app.%I as t set deleted_at = app.instant() where t.id = any ($1)', table_name) using ids;
  end case;
  return ids;
end
$$;
comment on function app.remove_rows is
  'Reverts the creation of rows: deletes or archives them if possible, and reopens an occurrence with payments. '
  'Returns the reverted rows, without categories that are in use.';
