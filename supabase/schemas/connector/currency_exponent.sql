create or replace function app.currency_exponent(code text, field text) returns smallint
language plpgsql stable set search_path = '' as $$
declare
  found_exponent smallint;
begin
  select c.exponent into found_exponent from app.currencies as c where c.code = currency_exponent.code;
  if not found then
    perform app.fail('currency_unknown', jsonb_build_object('currency', code), field);
  end if;
  return found_exponent;
end
$$;
comment on function app.currency_exponent is
  'Returns the number of decimals of a currency; ends the tool with currency_unknown for an unknown code.';
