-- Balances of accounts at the end of a day, stored for that day and never extrapolated.

create or replace function app.read_balances(account_id text)
returns table (true_on date, currency text, amount_minor bigint, source text, difference bigint)
language plpgsql stable set search_path = '' as $$
begin
  return query
    with stated as (
      -- A statement takes precedence over a person's figure.
      select distinct on (b.currency, b.true_on) b.currency, b.true_on, b.amount_minor, b.source, b.updated_at
      from app.balances as b
      where b.account_id = read_balances.account_id and b.deleted_at is null
      order by b.currency, b.true_on, b.source = 'statement' desc, b.recorded_seq desc
    ), steps as (
      select s.*, lag(s.true_on) over w as since, lag(s.amount_minor) over w as before,
        lag(s.updated_at) over w as before_at, lag(s.source) over w as before_source
      from stated as s
      window w as (partition by s.currency order by s.true_on)
    )
    select s.true_on, s.currency, s.amount_minor, s.source, case
      -- Differences are meaningful only if all lines are visible.
      when s.before is null or not identity.sees_everything() then null
      when s.amount_minor - s.before in (moved.booked, moved.booked + moved.reverted) then 0
      else s.amount_minor - s.before - moved.booked end
    from steps as s
    cross join lateral (
      select coalesce(sum(v.minor) filter (where v.kind <> 'reverted'), 0)::bigint as booked,
        coalesce(sum(v.minor) filter (where v.kind = 'reverted'), 0)::bigint as reverted
      from (
        select l.kind, case l.direction when 'out' then -l.amount_minor else l.amount_minor end as minor
        from app.statement_lines as l
        where l.account_id = read_balances.account_id and l.currency = s.currency
          and l.kind not in ('pending', 'declined', 'balance', 'split')
          and l.booked_on between s.since and s.true_on
          -- A file created during a day lacks later lines of that day, which the next file has.
          and (l.booked_on > s.since or s.before_source = 'statement' and l.created_at > s.before_at)
          and (l.booked_on < s.true_on or s.source = 'person' or l.created_at <= s.updated_at)
      ) as v
    ) as moved
    order by s.true_on desc, s.currency;
end
$$;
comment on function app.read_balances is
  'The balances of an account that the person sees, newest first. difference: how much a balance differs from the '
  'previous one plus the statement lines between; null for the first one, and for people who can''t see every line.';

create or replace function app.describe_balance_rows(account_id text, first date, last date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 24;
begin
  return (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'on', b.true_on, 'amount', app.format_amount(b.amount_minor, b.currency), 'currency', b.currency,
      'source', b.source, 'difference', app.format_amount(nullif(b.difference, 0), b.currency)
    )) order by b.true_on, b.currency), '[]')
    from (
      select * from app.read_balances(account_id) as r
      where r.true_on >= coalesce(first, r.true_on) and r.true_on <= coalesce(last, r.true_on)
      limit max_listed
    ) as b
  );
end
$$;
comment on function app.describe_balance_rows is
  'Returns the latest balances of an account in a period, oldest first: [{on, amount, currency, source, '
  'difference?}].';

create or replace function app.describe_balances_around(context app.context, account_id text, day date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_accounts constant int := 10;
begin
  return (
    select jsonb_agg(k.around order by k.name, k.currency)
    from (
      select a.name, b.currency, jsonb_strip_nulls(jsonb_build_object(
        'account', a.name, 'currency', b.currency,
        'before', max(array[b.true_on::text, app.format_amount(b.amount_minor, b.currency)])
          filter (where b.true_on <= day),
        'after', min(array[b.true_on::text, app.format_amount(b.amount_minor, b.currency)])
          filter (where b.true_on > day)
      )) as around
      from app.accounts as a
      cross join lateral app.read_balances(a.id) as b
      where a.organization_id = context.organization_id
        and (describe_balances_around.account_id is null or a.id = describe_balances_around.account_id)
      group by a.id, a.name, b.currency
      order by lower(a.name), b.currency
      limit max_accounts
    ) as k
  );
end
$$;
comment on function app.describe_balances_around is
  'Returns the last known balance on or before a day and the first one after it, of each account and currency: '
  '[{account, currency, before?: [day, amount], after?}]; null for none. At most ten.';

create or replace function app.warn_of_gaps(account app.accounts, first date, last date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  gaps constant jsonb := jsonb_path_query_array(
    app.describe_balance_rows(account.id, first, last), '$[*] ? (exists(@.difference))'
  );
begin
  return case when gaps = '[]' then '[]' else jsonb_build_array(app.warning('balance_gap', jsonb_build_object(
    'account', account.name, 'balances', jsonb_path_query_array(gaps, '$[0 to 4]')
  ))) end;
end
$$;
comment on function app.warn_of_gaps is
  'Returns a warning about balances of a period that differ from the previous balance plus the lines between.';

create or replace function app.warn_of_unknown_balance(context app.context, account app.accounts, day date)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  known constant jsonb := app.describe_balances_around(context, account.id, day);
begin
  return case when known is null or known @> jsonb_build_array(jsonb_build_object('before', jsonb_build_array(day)))
    then '[]' else jsonb_build_array(
      app.warning('balance_of_day_unknown', jsonb_build_object('day', day, 'known', known))
    ) end;
end
$$;
comment on function app.warn_of_unknown_balance is
  'Returns a warning with the known balances around a day for which the account has none.';

create or replace function app.describe_accounts(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'account', a.name, 'kind', a.kind, 'amount', app.format_amount(b.amount_minor, b.currency),
      'currency', b.currency, 'on', b.true_on, 'source', b.source
    ) order by lower(a.name), b.currency), '[]')
    from app.accounts as a
    cross join lateral (
      select distinct on (r.currency) r.* from app.read_balances(a.id) as r order by r.currency, r.true_on desc
    ) as b
    where a.organization_id = context.organization_id
  );
end
$$;
comment on function app.describe_accounts is
  'Returns the last known balance of each account and currency that the person may see: [{account, kind, amount, '
  'currency, on, source}]. kind is account or card. The balance of a debt is negative.';

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
  'Returns warnings about a stated balance in an unexpected currency, or beside a different one of a statement.';

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
  'Ends the tool if a stated balance may be the limit of an overdraft: by its name, or as round as a limit. '
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
