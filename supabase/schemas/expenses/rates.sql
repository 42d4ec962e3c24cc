-- Exchange rates as of a day. A rate is the newest on or before the day and at most 7 days old (weekends, holidays);
-- where there is none, an amount has no value in the other currency, never the same one. Rates say what one euro buys,
-- so every pair crosses through the euro.
-- Exact arithmetic: multiplied first, divided once, rounded half away from zero to the minor unit of the target, once
-- an amount.

create type app.rate as (
  per_euro numeric,
  rate_on date,
  source text
);
comment on type app.rate is
  'What one euro buys of a currency, by a source, as of a day; the euro itself has no source.';

-- Parsed when it was created, and inlined: a query over many days finds all its rates in one plan.
create or replace function app.rates_as_of(currency text, day date) returns setof app.rate
language sql stable rows 1
begin atomic
  select case currency when 'EUR' then 1 else f.rate end, case currency when 'EUR' then day else f.rate_on end, f.source
  from (select) as once
  left join lateral (
    select r.rate, r.rate_on, r.source
    from app.fx_rates as r
    where r.quote = currency and r.rate_on between day - 7 and day
    -- The central bank before those who quote it, on the same day.
    order by r.rate_on desc, r.source <> 'ecb', r.source
    limit 1
  ) as f on true
  where currency = 'EUR' or f.rate is not null;
end;
comment on function app.rates_as_of is 'The rate of a currency as of a day, as the one row; no row when none is known.';

create or replace function app.find_rate(currency text, day date) returns app.rate
language plpgsql stable set search_path = '' as $$
declare
  found app.rate;
begin
  select * into found from app.rates_as_of(currency, day);
  return found;
end
$$;
comment on function app.find_rate is 'The rate of a currency as of a day; all null when none is known.';

-- Both were parsed when they were created, and are inlined. div() truncates the exact quotient, so nothing is rounded
-- on the way; amounts are never negative.
create or replace function app.scale_minor(amount_minor numeric, numerator numeric, denominator numeric) returns numeric
language sql immutable
  return div(2 * amount_minor * numerator + denominator, 2 * denominator);
comment on function app.scale_minor is 'An amount times a fraction, rounded half up.';

create or replace function app.convert_minor(amount_minor numeric, from_rate numeric, from_exponent int,
  to_rate numeric, to_exponent int) returns numeric
language sql immutable
  return app.scale_minor(amount_minor, to_rate * 10::numeric ^ to_exponent, from_rate * 10::numeric ^ from_exponent);
comment on function app.convert_minor is
  'Minor units of one currency in minor units of another by what one euro buys of each; null when a rate is.';

create type app.base_value as (
  base_currency text,
  base_minor bigint,
  fx_rate numeric(20, 10),
  fx_rate_on date,
  fx_source text
);
comment on type app.base_value is
  'What a payment keeps of its value in the organization''s base currency: all or nothing.';

create or replace function app.value_in_base(base_currency text, amount_minor bigint, currency text, paid_on date)
  returns app.base_value
language plpgsql stable set search_path = '' as $$
declare
  from_rate app.rate;
  to_rate app.rate;
  base_minor numeric;
begin
  if currency = base_currency then
    return (base_currency, amount_minor, 1, paid_on, 'same')::app.base_value;
  end if;
  from_rate := app.find_rate(currency, paid_on);
  to_rate := app.find_rate(base_currency, paid_on);
  base_minor := app.convert_minor(
    amount_minor, from_rate.per_euro, app.currency_exponent(currency, 'currency'),
    to_rate.per_euro, app.currency_exponent(base_currency, 'currency')
  );
  -- More than the column holds is as good as unknown.
  if base_minor is null or base_minor > 1000000000000000000 then
    return null;
  end if;
  return (
    base_currency, base_minor, to_rate.per_euro / from_rate.per_euro, least(from_rate.rate_on, to_rate.rate_on),
    array_to_string(
      array(select distinct s from unnest(array[from_rate.source, to_rate.source]) as s where s is not null order by s),
      '+')
  )::app.base_value;
end
$$;
comment on function app.value_in_base is
  'A payment''s value in the base currency at the rate of its day, for the columns of app.payments; all null when no '
  'rate is known.';
