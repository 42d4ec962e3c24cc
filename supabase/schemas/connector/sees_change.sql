-- To hide changes about hidden rows, policies need access to all rows. So these functions run as definer, limited to
-- the current organization, and return only ids.

create or replace function app.list_subjects(change app.change_sets) returns table (expense_id text,
  category_id text, settlement_id text, document_id text)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    with kept as (
      select i.table_name, i.row_id, v.row
      from app.change_items as i
      cross join lateral (values (i.before), (i.after)) as v (row)
      where i.change_id = change.id and i.organization_id = identity.current_organization_id()
    )
    select case k.table_name when 'expenses' then k.row_id else k.row ->> 'expense_id' end,
      case when k.table_name = 'categories' then k.row_id
        when k.row @> jsonb_build_object('creator_sees', true, 'created_by', auth.uid()) then null
        else k.row ->> 'category_id' end,
      case k.table_name when 'settlements' then k.row_id end,
      case k.table_name when 'documents' then k.row_id end
    from kept as k
    union
    select p.expense_id, p.category_id, null, null
    from kept as k
    join app.payments as p on p.id = k.row ->> 'merged_into'
    union
    select null, named.id #>> '{}', null, null
    from jsonb_path_query(change.facts, '$.**.about[*]') as named (id);
end
$$;
comment on function app.list_subjects is
  'Returns the ids of the expenses, categories, settlements and documents that a change concerns, before and after '
  'it. Includes merge targets, and categories that its facts mention.';

create or replace function app.list_own_subjects(change app.change_sets) returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select i.row_id from app.change_items as i
    where i.change_id = change.id and i.organization_id = identity.current_organization_id()
      and i.table_name in ('balances', 'incomes')
  );
end
$$;
comment on function app.list_own_subjects is
  'Returns the ids of a change''s balances and income, which have their own policies.';

create or replace function app.sees_change(change app.change_sets) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- A change without its purged contents has no subjects.
  if change.is_emptied then
    return change.actor_id = auth.uid();
  end if;
  return not exists (
    select from app.list_subjects(change) as s
    where s.expense_id is not null and not exists (select from app.expenses as e where e.id = s.expense_id)
      or s.category_id is not null and not exists (select from app.categories as c where c.id = s.category_id)
      or s.settlement_id is not null and not exists (select from app.settlements as t where t.id = s.settlement_id)
      or s.document_id is not null and not exists (select from app.documents as d where d.id = s.document_id)
  ) and not exists (
    select from unnest(app.list_own_subjects(change)) as own (id)
    where not exists (select from app.balances as b where b.id = own.id)
      and not exists (select from app.incomes as n where n.id = own.id)
  );
end
$$;
comment on function app.sees_change is
  'Whether the person sees everything that a change concerns. Its facts name every record, so a change is shown '
  'completely or not at all. After its contents are purged, only its author sees it.';

create or replace function app.has_items(change_id text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  return exists (
    select from app.change_items as i
    where i.change_id = has_items.change_id and i.organization_id = identity.current_organization_id()
  );
end
$$;
comment on function app.has_items is 'Whether a change wrote anything, including rows hidden from the person.';

create or replace function app.find_own_latest(grant_id uuid) returns text
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select s.id from app.change_sets as s
    where s.organization_id = identity.current_organization_id() and s.actor_id = auth.uid()
      and s.grant_id is not distinct from find_own_latest.grant_id and s.tool not in ('autopay', 'provider_sync')
      and s.id is distinct from nullif(current_setting('app.change_id', true), '') and not s.is_emptied
    order by s.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_own_latest is
  'Returns the person''s latest change through a connection, even if its subject is now hidden from them. Otherwise '
  '"undo that" would revert an earlier change.';
