create or replace function app.same_totals(expected jsonb, actual jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return not exists (
    select from jsonb_each_text(expected) as e full join jsonb_each_text(actual) as a on a.key = e.key
    where
      coalesce(case when e.value ~ '^-?\d{1,18}(\.\d{1,4})?$' then e.value::numeric end,
      case when e.value is null then 0 end) is distinct from coalesce(a.value::numeric, 0)
  );
end
$$;
comment on function app.same_totals is
  'Whether two sets of totals are the same amounts, however many zeros they are written with.';

create or replace function app.commit_import(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches;
  unknown jsonb;
  drafts jsonb;
  written jsonb;
  count int;
  totals jsonb;
  skipped int;
  answer jsonb;
begin
  select * into batch from app.import_batches as b where b.id = arguments ->> 'import_id' and b.expires_at > context.at;
  if not found then
    perform app.fail('not_found.import', field => 'import_id');
  end if;
  -- A call that is repeated answers what the first one did, unless that was undone in between.
  if batch.result is not null
    and not exists (select from app.change_sets as s where s.id = batch.change_id and s.undone_by is not null) then
    return batch.result || '{"replayed": true}';
  end if;
  unknown := app.list_unknown_categories(context, batch.rows);
  if unknown <> '[]' and not coalesce((arguments ->> 'create_missing_categories')::boolean, false) then
    perform app.fail('category_not_found.in_file', jsonb_build_object(
      'name', unknown #> '{0,name}', 'details', app.describe_unknown_categories(unknown)
    ), 'create_missing_categories');
  end if;
  select app.find_imported(r.drafts) into drafts from app.read_import_rows(context, batch.rows, true) as r;
  written := app.drafts_to_write(drafts, arguments);
  count := jsonb_array_length(written);
  totals := app.total_drafts(written);
  skipped := jsonb_array_length(drafts) - count;
  if (arguments ->> 'expected_count')::numeric is distinct from count
    or not app.same_totals(arguments -> 'expected_totals', totals) then
    perform app.fail(
      'expectation_mismatch.of_import',
      jsonb_build_object('count', count, 'totals', totals, 'skipped', skipped, 'details', jsonb_build_object(
        'commit_with', jsonb_build_object('import_id', batch.id, 'expected_count', count, 'expected_totals', totals),
        'skipped', skipped
      )),
      case when (arguments ->> 'expected_count')::numeric is distinct from count then 'expected_count'
        else 'expected_totals' end
    );
  end if;

  select coalesce(jsonb_agg(d || jsonb_build_object('id', app.new_id('exp'))), '[]') into written
    from jsonb_array_elements(written) as d;
  perform app.write_expenses(context, written, 'import');

  answer := jsonb_build_object(
    'data', jsonb_build_object('created', count, 'skipped', skipped, 'totals', totals),
    'change_id', case when count > 0 then current_setting('app.change_id') end,
    'warnings', app.warn_of_drafts(context, written)
  );
  update app.import_batches as b
  set result = answer, change_id = answer ->> 'change_id'
  where b.id = batch.id;
  return answer || jsonb_build_object('facts', jsonb_build_object(
    'count', count, 'totals_by_currency', totals,
    'names', jsonb_path_query_array(written, '$[0 to 3].name')
  ));
end
$$;
comment on function app.commit_import is
  'Step 2: writes the rows of a preview as one change, {created, skipped, totals}; a second time it answers the same '
  'and writes nothing.';

create or replace function app.import_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return case when arguments ? 'import_id' then app.commit_import(context, arguments)
    else app.preview_import(context, arguments) end;
end
$$;
comment on function app.import_expenses is
  'Tool import_expenses: data {preview}, then {created, skipped, totals}. Arguments of the first step: {rows, '
  'rows_bad, mapping, warnings}, read from the file.';
