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
  -- 1.200 may mean 1200.
  if minor <> trunc(minor) or exponent <> 3 and amount ~ '^[1-9]\d{0,2}\.\d{3}$' then
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
  'Parses a decimal string in major units into exact minor units of a currency; null stays null.';
