-- Income in update_expenses and delete_records.

create or replace function app.is_about_income(request jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(request -> 'ids'));
begin
  if not exists (select from unnest(ids) as id where starts_with(id, 'inc_')) then
    return false;
  elsif exists (select from unnest(ids) as id where not starts_with(id, 'inc_')) then
    perform app.fail('invalid_argument.income_among_others', field => 'ids');
  end if;
  return true;
end
$$;
comment on function app.is_about_income is
  'Whether the ids belong to income. Ends the tool with invalid_argument if only some are.';

create or replace function app.require_incomes(context app.context, ids text[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  missing text[];
begin
  perform from app.incomes as i where i.id = any (ids) order by i.id for no key update;
  missing := array(
    select wanted.id
    from unnest(ids) with ordinality as wanted (id, place)
    where not exists (select from app.incomes as i where i.id = wanted.id and i.deleted_at is null)
    order by wanted.place
  );
  if missing <> '{}' then
    perform app.fail('not_found.records', jsonb_build_object(
      'missing', missing, 'asked', cardinality(ids), 'deleted', array(
        select i.name from app.incomes as i where i.id = any (missing) order by array_position(missing, i.id)
      ), 'organization', context.organization_name, 'details', jsonb_build_object('ids', missing)
    ), 'ids');
  end if;
end
$$;
comment on function app.require_incomes is 'Locks income by id. Ends the tool with not_found when one is missing.';

create or replace function app.update_incomes(context app.context, request jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(request -> 'ids'));
  changes constant jsonb := coalesce(request -> 'set', '{}');
  income app.incomes;
  day date;
  changed jsonb;
  updated jsonb := '[]';
  new_category_id text;
begin
  perform app.refuse_income_fields(request, array['ids', 'set', 'expected_version', 'dry_run'], null);
  perform app.check_update(request, ids);
  perform app.refuse_income_fields(changes, array['name', 'amount', 'currency', 'date', 'category', 'note'], 'set');
  perform app.require_incomes(context, ids);
  new_category_id := app.find_category(context, changes ->> 'category', 'set.category');
  for income in select i.* from app.incomes as i where i.id = any (ids) order by array_position(ids, i.id) loop
    if income.version <> (request ->> 'expected_version')::numeric then
      perform app.fail('stale_version', jsonb_build_object(
        'name', income.name, 'version', income.version, 'details', jsonb_build_object(
          'id', income.id, 'version', income.version, 'current', app.describe_income(context, income)
        )
      ), 'expected_version');
    end if;
    day := app.parse_received_on(context, changes ->> 'date', 'set.date', income.anchor_on is not null);
    changed := app.describe_income(context, income);
    update app.incomes as i
    set name = coalesce(app.clean_text(changes ->> 'name'), i.name),
      sort = case when changes ? 'name' then app.income_sort(changes ->> 'name') else i.sort end,
      currency = coalesce(changes ->> 'currency', i.currency),
      -- A new currency without a new amount keeps the figure.
      amount_minor = app.parse_amount(
        coalesce(changes ->> 'amount', app.format_amount(i.amount_minor, i.currency)),
        coalesce(changes ->> 'currency', i.currency), 'set.amount'
      ),
      received_on = case when i.received_on is not null then coalesce(day, i.received_on) end,
      anchor_on = case when i.anchor_on is not null then coalesce(day, i.anchor_on) end,
      ends_on = case when i.ends_on = i.anchor_on then coalesce(day, i.ends_on) else i.ends_on end,
      category_id = case when changes ? 'category' then new_category_id else i.category_id end,
      note = case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else i.note end,
      creator_sees = i.creator_sees and i.created_by = context.actor_id and not changes ? 'category'
    where i.id = income.id
    returning i.* into income;
    updated := updated || (
      select jsonb_build_object(
        'id', n.fields -> 'id', 'name', n.fields -> 'name', 'amount', n.fields -> 'amount',
        'currency', n.fields -> 'currency', 'version', n.fields -> 'version',
        'before', coalesce(jsonb_object_agg(f.key, changed -> f.key) filter (where changed ? f.key), '{}'),
        'after', coalesce(jsonb_object_agg(f.key, n.fields -> f.key) filter (where n.fields ? f.key), '{}')
      )
      from (select app.describe_income(context, income) as fields) as n
      left join lateral jsonb_object_keys(n.fields || changed) as f (key)
        on changed -> f.key is distinct from n.fields -> f.key and f.key <> 'version'
      group by n.fields
    );
  end loop;
  return jsonb_build_object(
    'data', jsonb_build_object('updated', app.first_few(updated), 'count', (
      select count(*) from jsonb_array_elements(updated) as u where u -> 'before' <> u -> 'after'
    )),
    'facts', (
      select jsonb_build_object(
        'count', count(*), 'names', coalesce(jsonb_agg(u -> 'name') filter (where place <= 4), '[]'), 'fields', (
          select coalesce(jsonb_agg(distinct key), '[]')
          from jsonb_array_elements(updated) as w
          cross join jsonb_object_keys((w -> 'before') || (w -> 'after')) as key
          where key not in ('base_amount', 'next_on', 'sort')
        )
      )
      from jsonb_array_elements(updated) with ordinality as c (u, place)
    )
  );
end
$$;
comment on function app.update_incomes is
  'Changes income by the arguments of update_expenses. For a rule, date is its first date.';

create or replace function app.delete_incomes(context app.context, request jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(request -> 'ids'));
  deleted jsonb;
  kept jsonb;
  differing jsonb;
begin
  perform app.require_incomes(context, ids);
  select jsonb_agg(app.describe_income(context, i) order by array_position(ids, i.id)) into deleted
  from app.incomes as i
  where i.id = any (ids);
  select jsonb_build_object('name', d -> 'name', 'current', d - 'id' - 'version') into differing
  from jsonb_array_elements(request -> 'expected') as x
  join jsonb_array_elements(deleted) as d on d ->> 'id' = x ->> 'id'
  where x ? 'amount' and (x ->> 'amount')::numeric <> (d ->> 'amount')::numeric
    or x ? 'date' and app.parse_date(context, x ->> 'date', 'expected')::text <> coalesce(d ->> 'date', d ->> 'next_on')
  limit 1;
  if differing is not null then
    perform app.fail('expectation_mismatch.of_record', differing || jsonb_build_object(
      'details', jsonb_build_object('mismatches', jsonb_build_array(differing))
    ), 'expected');
  end if;
  update app.incomes as i set deleted_at = context.at where i.id = any (ids);
  select jsonb_agg(app.describe_income(context, i) order by i.recorded_seq) into kept
  from app.incomes as i
  where i.organization_id = context.organization_id and i.anchor_on is not null and i.deleted_at is null
    and app.is_expected(context, i)
    and lower(i.name) in (select lower(d ->> 'name') from jsonb_array_elements(deleted) as d where d ? 'date');
  return jsonb_build_object(
    'data', jsonb_build_object(
      'deleted', app.first_few(deleted), 'count', cardinality(ids),
      'restorable_until', ((context.at + app.kept_for('deleted_records')) at time zone context.timezone)::date
    ),
    'warnings', case when kept is null then '[]'
      else jsonb_build_array(app.warning('income_still_expected', jsonb_build_object('rules', kept))) end,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'count', cardinality(ids), 'names', jsonb_path_query_array(deleted, '$[0 to 3].name'),
      'reason', app.clean_text(request ->> 'reason')
    ))
  );
end
$$;
comment on function app.delete_incomes is
  'Deletes income by the arguments of delete_records. The statement line stays, so no later import adds the income '
  'again.';
