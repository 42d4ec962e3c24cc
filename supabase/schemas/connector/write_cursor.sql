create or replace function app.write_cursor(scope jsonb, key jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  -- Base64url without padding (RFC 4648 section 5). The digest detects a changed cursor and one of another list. It is
  -- not a signature.
  return translate(
    encode(
      convert_to(
      jsonb_build_array(left(encode(sha256(convert_to(scope::text || key::text, 'UTF8')), 'hex'), 16), key)::text,
      'UTF8'), 'base64'),
    E'+/=\n', '-_'
  );
end
$$;
comment on function app.write_cursor is
  'Returns an opaque cursor for the sort key of the last shown row. scope identifies the list, for example by its '
  'filter.';

create or replace function app.read_cursor(scope jsonb, cursor text, sorts_by regtype default 'date') returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  key jsonb;
begin
  if cursor is null then
    return null;
  end if;
  begin
    key :=
      convert_from(decode(rpad(translate(cursor, '-_', '+/'), (length(cursor) + 3) / 4 * 4, '='), 'base64'),
      'UTF8')::jsonb -> 1;
    -- Anybody can compute the digest, so the list's values must have the right types.
    execute format('select ($1 ->> 0)::%s, ($1 ->> 1)::bigint', sorts_by) using key;
  exception when data_exception then
    key := null;
  end;
  if key is null or app.write_cursor(scope, key) <> cursor then
    perform app.fail('invalid_argument.cursor_of_another_list', field => 'cursor');
  end if;
  return key;
end
$$;
comment on function app.read_cursor is
  'Returns the sort key in a cursor, [value of type sorts_by, number]; null stays null. Ends the tool with '
  'invalid_argument for a cursor of another scope.';
