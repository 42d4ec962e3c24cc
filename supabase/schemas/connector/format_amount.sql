-- The body is parsed, so search_path can't change its meaning, and the planner can inline it.
create or replace function app.format_minor(minor numeric, exponent int) returns text
language sql immutable
  return round(minor / 10::numeric ^ exponent, exponent)::text;
comment on function app.format_minor is
  'Returns minor units as a decimal string in major units with this number of decimals.';

create or replace function app.format_amount(minor numeric, currency text) returns text
language plpgsql stable set search_path = '' as $$
declare
  -- Use a variable, because the planner would not inline app.format_minor with a query as its argument.
  exponent constant int := (select c.exponent from app.currencies as c where c.code = currency);
begin
  return app.format_minor(minor, exponent);
end
$$;
comment on function app.format_amount is
  'Returns minor units as a decimal string in major units, with the currency''s own number of decimals.';
