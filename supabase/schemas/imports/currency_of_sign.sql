-- import_expenses: imports the rows of a file. TypeScript reads the file into rows. SQL stages and matches them in
-- pages that nobody else sees. A preview shows the result, and one transaction writes it once the caller repeats the
-- count and totals.

create or replace function app.currency_of_sign(sign text, home text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  users constant text[] := case sign
    when '$'
      then
      array['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'TWD', 'MXN', 'ARS', 'CLP', 'COP', 'UYU', 'JMD', 'TTD', 'BBD',
      'BSD', 'BZD', 'FJD']
    when '¥' then array['JPY', 'CNY']
    when 'kr' then array['SEK', 'NOK', 'DKK', 'ISK']
    when 'Rs' then array['INR', 'PKR', 'LKR', 'NPR', 'MUR']
  end;
begin
  return case when users is null then sign when home = any (users) then home else users[1] end;
end
$$;
comment on function app.currency_of_sign is
  'Returns the currency of an ambiguous sign: the home currency if it uses the sign, otherwise the best-known one. '
  'Returns other text unchanged.';
