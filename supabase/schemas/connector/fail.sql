create or replace function app.fail(code text, params jsonb default '{}', field text default null) returns void
language plpgsql set search_path = '' as $$
begin
  raise exception using errcode = 'EX001', message = fail.code, detail = jsonb_strip_nulls(
    jsonb_build_object('code', fail.code, 'params', fail.params, 'field', fail.field)
  )::text;
end
$$;
comment on function app.fail is
  'Ends the tool and rolls back everything it wrote. The code comes from a closed list, and its first part is public '
  '(invalid_argument in invalid_argument.tags_too_many). params are the facts for the message in shared/words; '
  'params.details go to the client.';

create or replace function app.warning(code text, params jsonb default '{}') returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('code', warning.code, 'params', jsonb_strip_nulls(warning.params));
end
$$;
comment on function app.warning is
  'Returns a warning to add to the result: a code from a closed list, and the facts for its message.';
