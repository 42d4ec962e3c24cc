-- Amounts include tax: at 19%, 119.00 includes 19.00. Computed in minor units: multiply first, divide once, round half
-- up.

create or replace function app.tax_of(amount_minor bigint, rate numeric) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return app.scale_minor(amount_minor, rate, 100 + rate);
end
$$;
comment on function app.tax_of is 'Returns the tax included in an amount, in minor units, at a rate in percent.';

create or replace function app.follow_tax(tax_minor bigint, tax_percent numeric, amount_minor bigint) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return case when tax_percent is not null then app.tax_of(amount_minor, tax_percent)
    when tax_minor <= amount_minor then tax_minor end;
end
$$;
comment on function app.follow_tax is
  'Returns the tax of a payment, in minor units, after its amount changes. A rate still applies; without one the tax '
  'stays, or becomes null when it exceeds the amount.';

create or replace function app.find_tax_rate(amount_minor bigint, tax_minor bigint) returns numeric
language plpgsql immutable set search_path = '' as $$
declare
  rate constant numeric := round(tax_minor * 1000::numeric / nullif(amount_minor - tax_minor, 0)) / 10;
begin
  -- Small amounts fit several rates, and receipts with two rates fit none. No country charges more than 27%.
  if tax_minor > 0 and rate between 0.1 and 30 and app.tax_of(amount_minor, rate) = tax_minor
    and app.tax_of(amount_minor, rate - 0.1) <> tax_minor and app.tax_of(amount_minor, rate + 0.1) <> tax_minor then
    return rate;
  end if;
  return null;
end
$$;
comment on function app.find_tax_rate is
  'Returns the rate in percent, with one decimal, that gives this tax; null when none or several do.';

create or replace function app.parse_tax(given jsonb, amount_minor bigint, currency text, field text,
  out minor bigint, out rate numeric) returns record
language plpgsql stable set search_path = '' as $$
declare
  right_minor bigint;
begin
  rate := round((given ->> 'tax_percent')::numeric, 3);
  minor := case when given ->> 'tax' ~ '^0+(\.0+)?$' then 0
    else app.parse_amount(given ->> 'tax', currency, parse_tax.field || '.tax') end;
  if minor > amount_minor then
    perform app.fail('invalid_argument.tax_above_amount', jsonb_build_object(
      'tax', app.format_amount(minor, currency), 'amount', app.format_amount(amount_minor, currency),
      'currency', currency
    ), parse_tax.field || '.tax');
  end if;
  if rate is null then
    rate := app.find_tax_rate(amount_minor, minor);
    minor := nullif(minor, 0);
    return;
  end if;
  right_minor := app.tax_of(amount_minor, rate);
  if minor <> right_minor then
    perform app.fail('invalid_argument.tax_contradicts', jsonb_build_object(
      'rate', trim_scale(rate), 'tax', app.format_amount(minor, currency),
      'right', app.format_amount(right_minor, currency), 'amount', app.format_amount(amount_minor, currency),
      'currency', currency,
      -- The caller gave a net amount; this is the gross one.
      'whole', case when minor = app.scale_minor(amount_minor, rate, 100)
        then app.format_amount(amount_minor + minor, currency) end
    ), parse_tax.field || '.tax');
  end if;
  minor := right_minor;
end
$$;
comment on function app.parse_tax is
  'Returns the tax in an amount and its rate from {tax?, tax_percent?}, deriving one from the other. Zero tax without '
  'a rate means none. Ends the tool with invalid_argument when they contradict each other.';
