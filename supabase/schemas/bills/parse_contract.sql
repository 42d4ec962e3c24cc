create or replace function app.parse_notice(given text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  parts constant text[] := regexp_match(given, '^(\d+) (day|week|month)s?(?: to (term|month|quarter|day))?$');
begin
  return parts[1]::int || ' ' || parts[2] || 's' || coalesce(' to ' || parts[3], '');
end
$$;
comment on function app.parse_notice is 'Returns a notice period in the stored form: "1 month" becomes "1 months".';

create or replace function app.parse_contract(context app.context, given jsonb, kept jsonb, field text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  contract jsonb := coalesce(kept, '{}') || coalesce(given, '{}');
  key text;
begin
  foreach key in array array['started_on', 'confirmed_on'] loop
    if given ? key then
      contract := contract
        || jsonb_build_object(key, app.parse_date(context, given ->> key, field || '.' || key));
    end if;
  end loop;
  if (contract ->> 'confirmed_on')::date > context.today and given ? 'confirmed_on' then
    perform app.fail('date_out_of_range.not_confirmed_yet', jsonb_build_object('date', contract -> 'confirmed_on'),
      field || '.confirmed_on');
  end if;
  if given ? 'notice' then
    contract := contract || jsonb_build_object('notice', app.parse_notice(given ->> 'notice'));
  end if;
  if given ? 'customer_number' then
    contract := contract || jsonb_build_object('customer_number', app.clean_text(given ->> 'customer_number'));
  end if;
  if given ? 'address' then
    contract := contract || jsonb_build_object('address', nullif(btrim(given ->> 'address', e' \n\r\t'), ''));
  end if;
  return nullif(jsonb_strip_nulls(contract), '{}');
end
$$;
comment on function app.parse_contract is
  'Returns a bill''s contract with the given fields changed; an empty text removes a field. Null if no field is left.';

create or replace function app.warn_of_contract(bill app.expenses, today date) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  missing constant text[] := app.missing_of_contract(bill, today);
begin
  return case when missing = '{}'
      or not coalesce(bill.contract ?| array['started_on', 'term_months', 'renewal_months', 'notice'], false)
    then '[]' else app.warning('contract_incomplete',
    jsonb_build_object('name', bill.name, 'missing', missing)) end;
end
$$;
comment on function app.warn_of_contract is
  'Returns a warning about missing facts that determine the last day to cancel.';
