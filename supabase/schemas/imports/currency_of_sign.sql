-- import_expenses: rows of a file into the books. A file is kept, its rows are staged in pages and matched with the
-- books in pages, seen by nobody; a preview shows what they are, and one transaction writes them when the caller says
-- the count and the totals it was shown. Reading the file itself is done before: here are only its rows.

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
  'The currency that a sign shared by several stands for: the one at home if it uses the sign, else its best-known; '
  'anything else as it is.';
