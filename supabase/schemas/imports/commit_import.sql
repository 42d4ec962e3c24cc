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
  'Whether two sets of totals have the same amounts, regardless of trailing zeros.';

create or replace function app.lock_imports(organization_id text) returns void
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('imports of ' || lock_imports.organization_id, 0));
exception when lock_not_available then
  perform app.fail('busy');
end
$$;
comment on function app.lock_imports is
  'Lets one transaction at a time publish an import in an organization; other writes continue. Ends the tool with busy '
  'after 2 seconds.';

create or replace function app.check_import_expected(batch app.import_batches, counted jsonb, arguments jsonb)
  returns void
language plpgsql stable set search_path = '' as $$
declare
  count constant int := jsonb_array_length(counted -> 'new');
  skipped constant int := app.count_in_books(counted);
  is_count constant boolean := (arguments ->> 'expected_count')::numeric = count;
begin
  if is_count and app.same_totals(arguments -> 'expected_totals', counted -> 'totals') then
    return;
  end if;
  perform app.fail(
    'expectation_mismatch.of_import',
    jsonb_build_object(
      'count', count, 'totals', counted -> 'totals', 'skipped', skipped, 'details', jsonb_build_object(
        'commit_with', jsonb_strip_nulls(jsonb_build_object(
          'import_id', batch.id, 'expected_count', count, 'expected_totals', counted -> 'totals',
          -- The error rolls back this call, so the next call must repeat its arguments.
          'answers', arguments -> 'answers', 'skip_lines', arguments -> 'skip_lines',
          'corrections', arguments -> 'corrections', 'rules', arguments -> 'rules'
        )),
        'skipped', skipped
      )
    ),
    case when is_count then 'expected_totals' else 'expected_count' end
  );
end
$$;
comment on function app.check_import_expected is
  'Ends the tool with expectation_mismatch when the count or totals of an import differ from the expected ones.';

create or replace function app.count_in_books(counted jsonb) returns int
language plpgsql immutable set search_path = '' as $$
begin
  return coalesce((counted #>> '{outcomes,known}')::int, 0) + coalesce((counted #>> '{outcomes,linked}')::int, 0);
end
$$;
comment on function app.count_in_books is 'Returns the number of rows that are already in the books.';

create or replace function app.give_categories(context app.context, batch app.import_batches, arguments jsonb)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  unknown constant jsonb := app.list_unknown_categories(context, batch);
begin
  if unknown = '[]' then
    return;
  elsif not coalesce((arguments ->> 'create_missing_categories')::boolean, false) then
    perform app.fail('category_not_found.in_file', jsonb_build_object(
      'name', unknown #> '{0,name}', 'details', app.describe_unknown_categories(unknown)
    ), 'create_missing_categories');
  end if;
  perform app.find_category(context, u ->> 'name', 'create_missing_categories', true)
  from jsonb_array_elements(unknown) as u;
  update app.import_rows as r
  set draft = r.draft || jsonb_build_object('category_id', c.id, 'category_source', 'given')
  from jsonb_array_elements(unknown) as u
  join app.categories as c
    on c.organization_id = context.organization_id and lower(c.name) = lower(u ->> 'name')
  where r.import_id = batch.id and r.draft is not null
    and lower(app.clean_text(r.item ->> 'category')) = lower(u ->> 'name');
end
$$;
comment on function app.give_categories is
  'Creates the missing categories of an import and assigns them to its rows. Ends the tool with category_not_found '
  'when the caller did not ask to create them.';

create or replace function app.publish_rows(context app.context, batch app.import_batches, lines int[]) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  page_rows constant int := 2000;
  page int[];
  drafts jsonb;
  -- The fields that the answer and its warnings need.
  written jsonb := '[]';
begin
  for place in 1..cardinality(lines) by page_rows loop
    page := lines[place : place + page_rows - 1];
    with given as (
      update app.import_rows as r
      set draft = r.draft || jsonb_build_object('id', app.new_id('exp'))
          -- A person confirmed that the row is new, although it resembles a record.
          || case when r.match ? 'answer' then '{"stands_alone": true}' else '{}'::jsonb end,
        match = jsonb_strip_nulls(jsonb_build_object(
          'state', 'new', 'line_id', r.match -> 'line_id', 'answer', r.match -> 'answer',
          'candidates', case when r.match ? 'answer' then r.match -> 'candidates' end
        ))
      where r.import_id = batch.id and r.line between page[1] and page[cardinality(page)] and r.line = any (page)
      returning r.line, r.draft
    )
    select jsonb_agg(g.draft order by g.line) into drafts from given as g;
    perform app.write_expenses(context, drafts, 'import');
    written := written || (
      select jsonb_agg(jsonb_build_object(
        'place', d -> 'place', 'id', d -> 'id', 'name', d -> 'name', 'paid_on', d -> 'paid_on'
      ))
      from jsonb_array_elements(drafts) as d
    );
  end loop;
  return written;
end
$$;
comment on function app.publish_rows is
  'Writes rows of an import as expenses, page by page, and adds their ids to the drafts. Returns [{place, id, name, '
  'paid_on}].';

create or replace function app.summarize_effects(effects jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(e.key, jsonb_build_object(
      'count', jsonb_array_length(e.value), 'first', jsonb_path_query_array(e.value, '$[0 to 3]')
    )), '{}')
    from jsonb_each(effects) as e
  );
end
$$;
comment on function app.summarize_effects is
  'Returns an import''s effects for the list of changes: {pays?, corrects?, removes?: {count, first}}.';

create or replace function app.warn_of_recurring_charges(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case when count(*) = 0 then '[]'::jsonb else jsonb_build_array(app.warning('recurring_charges',
      jsonb_build_object('count', count(*), 'names', (array_agg(f.finding ->> 'name' order by f.rank desc))[:5])
    )) end
    from app.find_recurring_charges(context, (
      select min((r.draft ->> 'paid_on')::date) from app.import_rows as r where r.import_id = batch.id
    )) as f
  );
end
$$;
comment on function app.warn_of_recurring_charges is
  'Warns of charges in this statement that recurred and belong to no bill.';

create or replace function app.commit_import(context app.context, batch app.import_batches, arguments jsonb)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  counted jsonb;
  lines int[];
  written jsonb;
  warnings jsonb;
  answer jsonb;
  incomes jsonb;
begin
  perform app.lock_import_bills(batch);
  batch := app.refresh_import(context, batch);
  counted := app.count_import(context, batch, arguments ->> 'on_duplicate');
  if coalesce(batch.read -> 'questions', '[]') <> '[]' or counted #> '{outcomes,asked}' is not null then
    perform app.fail('needs_answer.import', jsonb_build_object('details', jsonb_build_object(
      'questions', app.import_questions(batch, coalesce(counted #> '{listed,asked}', '[]'))
    )), 'answers');
  end if;
  perform app.give_categories(context, batch, arguments);
  perform app.check_import_expected(batch, counted, arguments);
  perform app.change_payee_rules(context, coalesce(batch.read -> 'rules', '[]'));
  lines := array(select l::int from jsonb_array_elements_text(counted -> 'new') as l);
  written := app.publish_rows(context, batch, lines);

  perform app.link_import_rows(context, batch);
  warnings := app.warn_of_drafts(context, written) || app.warn_of_recurring_charges(context, batch);
  -- Lock the books last, so that other writers wait only briefly. The rows written so far are new or individually
  -- locked.
  perform app.lock_books_last(context.organization_id);
  if app.find_changed_rows(context, batch, true) <> '{}' then
    perform app.fail('expectation_mismatch.books_changed', field => 'import_id');
  end if;
  perform app.remember_layout(context, batch);
  perform app.keep_balance(context, batch);
  incomes := app.keep_incomes(context, batch);

  answer := jsonb_build_object(
    'data', jsonb_build_object(
      'created', cardinality(lines),
      'linked', coalesce((counted #>> '{outcomes,linked}')::int, 0) + coalesce((counted #>> '{outcomes,pays}')::int, 0),
      'skipped', coalesce((counted #>> '{outcomes,known}')::int, 0), 'totals', counted -> 'totals',
      'not_written', nullif((counted -> 'outcomes') - array['new', 'known', 'linked', 'pays'], '{}'),
      'income', incomes
    ) || (counted -> 'effects'),
    'warnings', warnings || coalesce((
      select app.warn_of_gaps(a, (batch.read #>> '{balances,closing_on}')::date, null)
      from app.accounts as a
      where a.id = batch.account_id and batch.read #> '{balances,closing_on}' is not null
    ), '[]')
  );
  if cardinality(lines) > 0 or exists (
    select from app.change_items as i where i.change_id = current_setting('app.change_id', true)
  ) then
    answer := answer || jsonb_build_object('change_id', current_setting('app.change_id'));
  end if;
  delete from app.import_rows as r where r.import_id = batch.id;
  update app.import_batches as b
  set state = 'committed', result = answer, change_id = answer ->> 'change_id', file = null, read = '{}'
  where b.id = batch.id;
  return answer || jsonb_build_object('facts', jsonb_build_object(
    'count', cardinality(lines), 'totals_by_currency', counted -> 'totals',
    'names', jsonb_path_query_array(written, '$[0 to 3].name'), 'incomes', incomes -> 'created'
  ) || app.summarize_effects(counted -> 'effects'));
end
$$;
comment on function app.commit_import is
  'Publishes an import in one change and deletes its staged rows. Returns data {created, linked, skipped, totals, '
  'not_written?} with the effects on existing records. not_written counts the unwritten rows: left_out, transfer, '
  'closed, bad, skipped.';
