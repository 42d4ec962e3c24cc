create or replace function app.find_import(context app.context, import_id text) returns app.import_batches
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
declare
  batch app.import_batches;
begin
  select * into batch from app.import_batches as b
  where b.id = find_import.import_id and b.expires_at > context.at
  for update;
  if not found then
    perform app.fail('not_found.import', field => 'import_id');
  end if;
  return batch;
exception when lock_not_available then
  perform app.fail('busy');
end
$$;
comment on function app.find_import is
  'Returns an import of the person, locked until the step ends. Ends the tool with not_found when it is expired or '
  'another person''s, and with busy after 2 seconds.';

create or replace function app.describe_import(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  counted record;
begin
  select count(*) as staged, count(*) filter (where r.line <= batch.matched_through) as matched into counted
  from app.import_rows as r
  where r.import_id = batch.id;
  return jsonb_strip_nulls(jsonb_build_object(
    'import_id', batch.id, 'state', batch.state, 'expires_at', batch.expires_at,
    'revision', coalesce((batch.read ->> 'revision')::int, 0),
    'row_count', batch.row_count, 'staged_through', batch.staged_through, 'matched_through', batch.matched_through,
    'done', counted.staged + counted.matched, 'total', 2 * batch.row_count,
    'organization', context.organization_name,
    'account', (select jsonb_build_object('id', a.id, 'name', a.name) from app.accounts as a
      where a.id = batch.account_id),
    'name', batch.read ->> 'name', 'left_out', batch.read -> 'left_out'
  ));
end
$$;
comment on function app.describe_import is
  'Returns the progress of an import: {import_id, state, revision, staged_through, matched_through, row_count, done, '
  'total, …}. Staging a row and matching it count as one each in done and total.';
