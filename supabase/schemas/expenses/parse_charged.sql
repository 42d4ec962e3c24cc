create or replace function app.parse_charged(context app.context, charged jsonb, currency text, field text,
  out minor bigint, out charged_currency text) returns record
language plpgsql stable set search_path = '' as $$
begin
  if not coalesce(charged ? 'amount', false) then
    return;
  end if;
  charged_currency := coalesce(charged ->> 'currency', context.base_currency);
  if currency = context.base_currency or currency = charged_currency then
    perform app.fail('invalid_argument.charged_needless', jsonb_build_object(
      'currency', currency, 'base', context.base_currency
    ), field);
  end if;
  minor := app.parse_amount(charged ->> 'amount', charged_currency, field || '.amount');
end
$$;
comment on function app.parse_charged is
  'Returns the amount in minor units and the currency that the bank charged, from {amount, currency}; null without an '
  'amount. Ends the tool with invalid_argument when the payment needs no conversion.';

create or replace function app.charge_payment(context app.context, payment app.payments, charged jsonb)
  returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  taken constant record := app.parse_charged(context, charged, payment.currency, 'charged');
begin
  if taken.minor is not null then
    update app.payments as p set charged_minor = taken.minor, charged_currency = taken.charged_currency
    where p.id = payment.id
    returning p.* into payment;
  end if;
  return payment;
end
$$;
comment on function app.charge_payment is
  'Stores the amount that the bank charged for a payment, if given. Returns the payment.';

create or replace function app.warn_of_charge(kept_minor bigint, currency text, field text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when kept_minor is null then '[]' else app.warning('charge_kept', jsonb_build_object(
    'amount', app.format_amount(kept_minor, currency), 'currency', currency, 'field', field
  )) end;
end
$$;
comment on function app.warn_of_charge is
  'Returns a warning that a payment with a changed amount still counts with the bank''s earlier charge; field is the '
  'argument for the new charge.';
