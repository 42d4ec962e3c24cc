create or replace function app.warn_of_balance(account app.accounts, day date, minor bigint, code text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  facts constant jsonb := jsonb_build_object(
    'name', account.name, 'date', day, 'amount', app.format_amount(minor, code), 'currency', code
  );
  other text;
  stated app.balances;
  warnings jsonb := '[]';
begin
  -- An earlier balance in the currency settles the question.
  if not exists (
    select from app.balances as b
    where b.account_id = account.id and b.deleted_at is null and b.currency = code offset 1
  ) then
    other := coalesce((
      select b.currency from app.balances as b
      where b.account_id = account.id and b.deleted_at is null and b.currency <> code
      order by b.true_on desc, b.recorded_seq desc
      limit 1
    ), nullif(account.currency, code), (
      select c.code from app.currencies as c
      where c.code = any (regexp_split_to_array(account.name, '[^A-Z]+')) and c.code <> warn_of_balance.code
      limit 1
    ));
  end if;
  if other is not null then
    warnings := warnings || app.warning('balance_currency', facts || jsonb_build_object('other', other));
  end if;
  select * into stated from app.balances as b
  where b.account_id = account.id and b.true_on = day and b.currency = code and b.source = 'statement'
    and b.deleted_at is null and b.amount_minor <> minor
  order by b.recorded_seq desc
  limit 1;
  if found then
    warnings := warnings || app.warning('balance_of_statement', facts || jsonb_build_object(
      'stated', app.format_amount(stated.amount_minor, code)
    ));
  end if;
  return warnings;
end
$$;
comment on function app.warn_of_balance is
  'Returns warnings about a stated balance in an unexpected currency, or different from the balance in a statement.';

create or replace function app.check_no_limit(context app.context, item jsonb, minor bigint, code text,
  is_confirmed boolean, field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  round_units constant int := 100;
  limits constant text := '\m(limits?|overdraft|uberziehung(skredit|srahmen)?|dispo(limit|kredit|rahmen)?|kreditrahmen|'
    || 'kreditlimit|decouvert|descubierto|fido|scoperto|cheque especial|roodstand)\M';
  facts constant jsonb := jsonb_build_object(
    'name', left(item ->> 'name', 60), 'amount', app.format_amount(abs(minor), code), 'currency', code
  );
begin
  if exists (
    select from app.accounts as a
    where a.organization_id = context.organization_id and lower(a.name) = lower(app.clean_text(item ->> 'name'))
      and (a.kind = 'card' or app.fold_text(a.name) ~ limits)
  ) then
    return;
  elsif app.fold_text(item ->> 'name') ~ limits then
    perform app.fail('invalid_argument.limit_as_account', facts, field || '.name');
  elsif item ->> 'kind' = 'overdraft' and not is_confirmed and minor <> 0
    and minor % (round_units * 10 ^ app.currency_exponent(code, 'currency'))::bigint = 0 then
    perform app.fail('invalid_argument.limit_as_balance', facts, field || '.amount');
  end if;
end
$$;
comment on function app.check_no_limit is
  'Ends the tool if a stated balance may be the limit of an overdraft, judging by its name or its round amount. '
  'is_confirmed: the person said that the account is overdrawn by a round amount. Cards owe round amounts.';

create or replace function app.log_balance(context app.context, item jsonb, field text, is_confirmed boolean)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  code constant text := coalesce(item ->> 'currency', context.base_currency);
  others constant text[] := array(
    select a.name from app.accounts as a where a.organization_id = context.organization_id and app.sees_account(a)
    order by lower(a.name) limit 20
  );
  day date;
  -- Unlike other amounts, a balance can be zero.
  minor constant bigint := case when item ->> 'amount' ~ '^0+(\.0+)?$' then 0
    else app.parse_amount(item ->> 'amount', code, field || '.amount') end
    * case item ->> 'kind' when 'overdraft' then -1 else 1 end;
  found_id text;
  account app.accounts;
  written record;
begin
  perform app.check_no_limit(context, item, minor, code, is_confirmed, field);
  found_id := app.find_account(context, left(item ->> 'name', 60), '{}');
  if app.clean_text(item ->> 'name') is null then
    perform app.fail('invalid_argument.expense_without_name', field => field || '.name');
  end if;
  day := app.parse_date(context, coalesce(item ->> 'date', 'today'), field || '.date');
  if day > context.today + 1 then
    perform app.fail('date_out_of_range.balance_ahead', jsonb_build_object('date', day), field || '.date');
  end if;
  day := app.parse_paid_on(context, day::text, field || '.date');
  perform app.currency_exponent(code, field || '.currency');
  select * into account from app.accounts as a where a.id = found_id;
  written := app.write_balance(context, account.id, day, minor, code, 'person');
  return jsonb_build_object(
    'result', jsonb_strip_nulls(jsonb_build_object(
      'kind', 'balance', 'status', written.status, 'id', written.id, 'name', account.name, 'date', day,
      'amount', app.format_amount(minor, code), 'currency', code
    )),
    'warnings', case when account.name = any (others) or others = '{}' then '[]'
        else jsonb_build_array(app.warning('account_new', jsonb_build_object(
          'name', account.name, 'names', to_jsonb(others)
        ))) end
      || app.warn_of_balance(account, day, minor, code)
      || app.warn_of_gaps(account, day, null)
  );
end
$$;
comment on function app.log_balance is
  'Stores a balance stated by a person, and creates a missing account. Returns {result, warnings}.';

create or replace function app.log_balances(context app.context, items jsonb, is_preview boolean,
  is_confirmed boolean default false) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  logged jsonb;
  results jsonb := '[]';
  warnings jsonb := '[]';
  item jsonb;
  index int;
begin
  for item, index in
    select i.value, i.ordinality - 1 from jsonb_array_elements(items) with ordinality as i
    where i.value ->> 'kind' in ('balance', 'overdraft')
  loop
    logged := app.log_balance(context, item, format('items[%s]', index), is_confirmed);
    results := results || ((logged -> 'result') || jsonb_build_object('index', index) || case
      when is_preview and logged #>> '{result,status}' = 'created'
        then '{"status":"would_create","id":null}' else '{}' end::jsonb);
    warnings := warnings || (logged -> 'warnings');
  end loop;
  return jsonb_build_object('results', results, 'warnings', warnings, 'facts', coalesce((
    select jsonb_build_object('balances', jsonb_agg(jsonb_build_object(
      'name', r -> 'name', 'date', r -> 'date', 'amount', r -> 'amount', 'currency', r -> 'currency'
    )))
    from jsonb_path_query(results, '$[0 to 3] ? (@.status != "duplicate")') as r
    having count(*) > 0
  ), '{}'));
end
$$;
comment on function app.log_balances is
  'Stores the balances among the items of log_expenses: {results, warnings, facts}.';
