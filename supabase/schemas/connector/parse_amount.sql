create or replace function app.parse_amount(amount text, currency text, field text) returns bigint
language plpgsql stable set search_path = '' as $$
declare
  exponent constant smallint := app.currency_exponent(currency, regexp_replace(field, '[a-z_]*$', 'currency'));
  minor numeric;
begin
  if amount is null then
    return null;
  end if;
  if amount !~ '^\d{1,12}(\.\d{1,4})?$' then
    perform app.fail('invalid_argument.not_an_amount', jsonb_build_object('value', left(amount, 40)), field);
  end if;
  minor := amount::numeric * 10::numeric ^ exponent;
  if minor <> trunc(minor) then
    perform app.fail(
      'amount_precision', jsonb_build_object('amount', amount, 'currency', currency, 'decimals', exponent), field
    );
  end if;
  if minor = 0 then
    perform app.fail('invalid_argument.amount_zero', field => parse_amount.field);
  end if;
  if minor > 1000000000000000 then
    perform app.fail('invalid_argument.amount_too_large', jsonb_build_object('amount', amount, 'currency', currency),
      field);
  end if;
  return minor::bigint;
end
$$;
comment on function app.parse_amount is
  'A decimal string in major units as exact minor units of a currency; null stays null.';

-- Its body was parsed when it was created, so that no search_path changes its meaning, and the planner may inline it.
create or replace function app.format_minor(minor numeric, exponent int) returns text
language sql immutable
  return round(minor / 10::numeric ^ exponent, exponent)::text;
comment on function app.format_minor is 'Minor units as a decimal string in major units with this number of decimals.';

create or replace function app.format_amount(minor numeric, currency text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return app.format_minor(minor, (select c.exponent from app.currencies as c where c.code = currency));
end
$$;
comment on function app.format_amount is
  'Minor units as a decimal string in major units, with the currency''s own number of decimals.';

-- Cursors

create or replace function app.write_cursor(scope jsonb, key jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  -- Base64url without padding (RFC 4648 section 5). The digest finds a cursor that was changed, or taken to another
  -- list; it keeps no secret.
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
  'An opaque cursor for the sort key of the last row shown; scope is what makes the list that list, such as its '
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
  'The sort key in a cursor, [value of type sorts_by, number]; null stays null; a cursor that was not written for this '
  'scope ends the tool with invalid_argument.';
