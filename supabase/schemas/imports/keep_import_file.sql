create or replace function app.start_import(context app.context, arguments jsonb) returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  max_kept constant int := 20;
  batch app.import_batches;
begin
  if arguments ? 'default_currency' then
    perform app.currency_exponent(arguments ->> 'default_currency', 'default_currency');
  end if;
  -- Files are large, so delete the person's oldest unfinished imports.
  delete from app.import_batches as b
  where b.id in (
    select old.id from app.import_batches as old
    where old.actor_id = context.actor_id and old.state <> 'committed'
    order by old.created_at desc, old.id
    offset max_kept - 1
  );
  insert into app.import_batches (organization_id, actor_id, state, read, expires_at)
  values (
    context.organization_id, context.actor_id, 'waiting', jsonb_strip_nulls(jsonb_build_object(
      'account_given', arguments -> 'account', 'default_currency', arguments -> 'default_currency'
    )),
    context.at + interval '30 minutes'
  )
  returning * into batch;
  return batch;
end
$$;
comment on function app.start_import is 'Step start: creates an import that waits half an hour for its file.';

create or replace function app.home_currency(context app.context, batch app.import_batches, account_id text)
  returns text
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    batch.read ->> 'default_currency', app.account_currency(context, home_currency.account_id), context.base_currency
  );
end
$$;
comment on function app.home_currency is
  'Returns the currency of rows without one: the given currency, otherwise the account''s or the organization''s.';

create or replace function app.keep_import_file(context app.context, arguments jsonb) returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches := case when arguments ? 'import_id'
    then app.find_import(context, arguments ->> 'import_id') else app.start_import(context, arguments) end;
  given constant jsonb := coalesce(arguments -> 'mapping', '{}');
  found_id text;
begin
  if batch.state <> 'waiting' then
    perform app.fail('invalid_argument.upload_used', field => 'import_id');
  end if;
  found_id := app.find_account(
    context, coalesce(arguments ->> 'account', batch.read ->> 'account_given'), arguments #> '{read,account}'
  );
  update app.import_batches as b
  set state = 'reading', file = arguments ->> 'file', account_id = found_id,
    row_count = (arguments ->> 'row_count')::int, expires_at = context.at + app.kept_for('imports'),
    read = b.read || (arguments -> 'read') || jsonb_build_object(
      'given', given, 'answers', '{}'::jsonb,
      'revision', case when given @> app.learned_of(found_id, arguments #>> '{read,header}')
        and not (arguments #> '{read,questions}' @> '[{"id": "decimal"}]'
          and app.currency_exponent(app.home_currency(context, batch, found_id), 'default_currency') <> 2)
        then 1 else 2 end
    )
  where b.id = batch.id
  returning b.* into batch;
  return batch;
end
$$;
comment on function app.keep_import_file is
  'Step keep: stores the text of a file and the result of reading it, once for each import. The revision is 2 when the '
  'file must be read again, because the account has learned an answer that the call lacks or its currency settles the '
  'decimal separator.';

create or replace function app.load_import(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return app.describe_import(context, batch) || case batch.state when 'reading' then jsonb_build_object(
    'file', batch.file,
    'mapping', coalesce(batch.read -> 'given', '{}') || coalesce(batch.read -> 'answers', '{}'),
    'learned', app.learned_of(batch.account_id, batch.read ->> 'header'),
    'home', app.home_currency(context, batch, batch.account_id)
  ) else '{}' end;
end
$$;
comment on function app.load_import is
  'Step load: returns the progress of an import and the inputs for reading its file again: {file, mapping, learned, '
  'home}.';
