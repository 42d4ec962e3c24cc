create or replace function app.answer_preview(context app.context, batch app.import_batches, arguments jsonb)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return case when batch.state = 'ready' then app.preview_import(context, batch, arguments)
    else jsonb_build_object('data', jsonb_build_object('import', app.describe_import(context, batch))) end;
end
$$;
comment on function app.answer_preview is 'Returns the preview of an import, or its progress until it is ready.';

create or replace function app.import_whole_file(context app.context, args jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches := app.keep_import_file(context, args);
begin
  batch := app.answer_import(context, batch, args - array['mapping', 'answers']);
  -- Without rows, the file waits for an answer. At revision 2 staging ignores them, because a learned answer requires
  -- reading the file again.
  batch := case when args ? 'rows' then
    app.stage_import_rows(context, batch, args || jsonb_build_object('after', 0, 'revision', 1, 'is_last', true))
    else batch end;
  while batch.state = 'matching' loop
    batch := app.match_import_page(context, batch);
  end loop;
  return app.answer_preview(context, batch, args);
end
$$;
comment on function app.import_whole_file is 'Step all: takes a short file from its text to the preview in one call.';

create or replace function app.run_import_step(context app.context, step text, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches := case when step in ('open', 'load', 'stage', 'match')
    then app.find_import(context, arguments ->> 'import_id') end;
begin
  case step
    when 'start' then
      batch := app.start_import(context, arguments);
      return jsonb_build_object('upload', jsonb_build_object('import_id', batch.id, 'expires_at', batch.expires_at));
    when 'open' then null;
    when 'load' then return jsonb_build_object('import', app.load_import(context, batch));
    when 'keep' then batch := app.keep_import_file(context, arguments);
    when 'stage' then batch := app.stage_import_rows(context, batch, arguments);
    when 'match' then batch := app.match_import_page(context, batch);
  end case;
  return jsonb_build_object('import', app.describe_import(context, batch));
end
$$;
comment on function app.run_import_step is
  'Runs one step of an import before its preview: start, open, keep, load, stage or match. Returns {upload} or '
  '{import}.';

create or replace function app.import_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  step constant text := arguments ->> 'step';
  batch app.import_batches;
begin
  if step = 'all' then
    return app.import_whole_file(context, arguments);
  elsif step is not null then
    return jsonb_build_object('data', app.run_import_step(context, step, arguments));
  end if;
  if arguments ? 'expected_count' then
    perform app.lock_imports(context.organization_id);
  end if;
  batch := app.find_import(context, arguments ->> 'import_id');
  -- A repeated call returns the result of the first one, unless that was undone in between.
  if batch.state = 'committed' then
    if exists (select from app.change_sets as s where s.id = batch.change_id and s.undone_by is not null) then
      perform app.fail('not_found.import_undone', field => 'import_id');
    end if;
    return batch.result || '{"replayed": true}';
  elsif batch.state = 'waiting' then
    perform app.fail('not_found.import_file', jsonb_build_object(
      'expires_at', to_char(batch.expires_at at time zone context.timezone, 'YYYY-MM-DD HH24:MI')
    ), 'import_id');
  end if;
  -- A rejected commit may have asked questions that the last preview did not have.
  if batch.state = 'ready' and arguments ? 'answers' then
    batch := app.refresh_import(context, batch);
  end if;
  batch := app.answer_import(context, batch, arguments);
  if batch.state = 'ready' and arguments ? 'expected_count' then
    return app.commit_import(context, batch, arguments);
  elsif batch.state = 'ready' then
    batch := app.refresh_import(context, batch);
  end if;
  return app.answer_preview(context, batch, arguments);
end
$$;
comment on function app.import_expenses is
  'Tool import_expenses. Returns data {upload}, {import} (its progress), {preview}, or with expected_count {created, '
  'linked, skipped, totals}. Only our own code passes a step.';
