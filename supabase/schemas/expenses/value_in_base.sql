-- An amount without a rate has no value in the other currency and never counts 1:1. Arithmetic is exact: it multiplies
-- first, divides once, and rounds once per amount, half away from zero.

-- Both functions have parsed bodies and are inlined. div() truncates the exact quotient, so no intermediate result is
-- rounded. Amounts are never negative.
create or replace function app.scale_minor(amount_minor numeric, numerator numeric, denominator numeric) returns numeric
language sql immutable
  return div(2 * amount_minor * numerator + denominator, 2 * denominator);
comment on function app.scale_minor is 'Returns an amount times a fraction, rounded half up.';

create or replace function app.convert_minor(amount_minor numeric, from_rate numeric, from_exponent int,
  to_rate numeric, to_exponent int) returns numeric
language sql immutable
  return app.scale_minor(amount_minor, to_rate * 10::numeric ^ to_exponent, from_rate * 10::numeric ^ from_exponent);
comment on function app.convert_minor is
  'Converts minor units between two currencies, with rates per euro; null without a rate.';

create type app.base_value as (
  base_currency text,
  base_minor bigint,
  fx_rate numeric(20, 10),
  fx_rate_on date,
  fx_source text,
  is_final boolean
);
comment on type app.base_value is
  'The value of a payment in the organization''s base currency: the rate with its day and source, and whether the '
  'value is final. An amount in the base currency needs no rate.';

create or replace function app.value_in_base(
  base_currency text, amount_minor bigint, currency text, paid_on date, charged_minor bigint default null,
  charged_currency text default null
) returns app.base_value
language plpgsql stable set search_path = '' as $$
declare
  -- Prefer the bank's charge, except when the entered amount needs no conversion and is exact.
  is_charge constant boolean := currency <> base_currency and charged_minor is not null;
  from_currency constant text := case when is_charge then charged_currency else currency end;
  from_minor constant bigint := case when is_charge then charged_minor else amount_minor end;
  value record;
  is_final boolean;
begin
  if from_currency = base_currency then
    return (base_currency, from_minor, null, null, null, true)::app.base_value;
  end if;
  -- Use one query, because a change of the base currency values every payment.
  select app.convert_minor(from_minor, f.per_euro, c.exponent, t.per_euro, base.exponent) as minor,
    t.per_euro / f.per_euro as rate, least(f.rate_on, t.rate_on) as rate_on,
    case when f.source <> t.source then least(f.source, t.source) || '+' || greatest(f.source, t.source)
      else coalesce(f.source, t.source) end as source
  into value
  from app.currencies as c
  cross join app.currencies as base
  cross join lateral app.rates_as_of(c.code, paid_on) as f
  cross join lateral app.rates_as_of(base.code, paid_on) as t
  where c.code = from_currency and base.code = value_in_base.base_currency;
  is_final := coalesce(value.source not like '%snapshot%', true) and (
    coalesce(value.rate_on = paid_on, false)
    or exists (select from app.fx_days as d where d.day = paid_on and d.settled_at is not null)
  );
  -- Treat a value beyond the range of the column as unknown.
  if value.minor <= 1000000000000000000 then
    return (base_currency, value.minor, value.rate, value.rate_on, value.source, is_final)::app.base_value;
  end if;
  return (base_currency, null, null, null, null, is_final)::app.base_value;
end
$$;
comment on function app.value_in_base is
  'Returns the value of a payment in the base currency at the rate of its day. All value columns of app.payments come '
  'from this function.';

-- Sets the value of a payment on every write.
create or replace function app.value_payment() returns trigger
language plpgsql set search_path = '' as $$
declare
  value app.base_value;
begin
  if tg_op = 'INSERT' then
    -- Another organization is invisible here. Row-level security then rejects such a payment.
    new.base_currency := coalesce(
      (select o.base_currency from identity.organizations as o where o.id = new.organization_id), new.currency
    );
  elsif old.is_final and (new.amount_minor, new.currency, new.charged_minor, new.charged_currency, new.paid_on,
    new.base_currency) is not distinct from (old.amount_minor, old.currency, old.charged_minor, old.charged_currency,
      old.paid_on, old.base_currency) then
    return new;
  end if;
  value := app.value_in_base(
    new.base_currency, new.amount_minor, new.currency, new.paid_on, new.charged_minor, new.charged_currency
  );
  new.base_minor := value.base_minor;
  new.fx_rate := value.fx_rate;
  new.fx_rate_on := value.fx_rate_on;
  new.fx_source := value.fx_source;
  new.is_final := value.is_final;
  return new;
end
$$;
create trigger value_payment before insert or update of amount_minor, currency, charged_minor, charged_currency,
  paid_on, base_currency, is_final on app.payments
  for each row execute function app.value_payment();

create or replace function app.warn_of_pending(is_pending boolean, currency text, since date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  snapshot_on date;
begin
  if not coalesce(is_pending, false) then
    return '[]';
  end if;
  snapshot_on := app.rates_snapshot(since);
  return jsonb_build_array(
    case when snapshot_on is null
      then app.warning('rate_pending', jsonb_build_object('into', currency, 'since', since))
    else app.warning('rate_snapshot', jsonb_build_object('into', currency, 'of', snapshot_on)) end
  );
end
$$;
comment on function app.warn_of_pending is
  'Returns a warning that values in a currency will change, because rates since a day are not published yet or come '
  'from a snapshot.';
