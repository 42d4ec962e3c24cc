-- Balances of accounts at the end of a day, stored for that day and never extrapolated.

create or replace function app.read_balances(account_id text, day date default null)
returns table (
  true_on date, currency text, amount_minor bigint, source text, difference bigint, minor_on_day bigint
)
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
      else s.amount_minor - s.before - moved.booked end,
      case when day >= s.since and day < s.true_on and identity.sees_everything() then
        s.before + case s.amount_minor - s.before
          when moved.booked then moved.booked_by_day
          when moved.booked + moved.reverted then moved.booked_by_day + moved.reverted_by_day
        end
      end
    from steps as s
    cross join lateral (
      select coalesce(sum(v.minor) filter (where v.kind <> 'reverted'), 0)::bigint as booked,
        coalesce(sum(v.minor) filter (where v.kind = 'reverted'), 0)::bigint as reverted,
        coalesce(sum(v.minor) filter (where v.kind <> 'reverted' and v.booked_on <= day), 0)::bigint as booked_by_day,
        coalesce(sum(v.minor) filter (where v.kind = 'reverted' and v.booked_on <= day), 0)::bigint as reverted_by_day
      from (
        select l.kind, l.booked_on, case l.direction when 'out' then -l.amount_minor else l.amount_minor end as minor
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
  'Returns the balances of an account that the person sees, newest first. difference: the balance minus the previous '
  'one and the statement lines in between; null for the first one, and for people who can''t see every line. '
  'minor_on_day: the balance of a day before this one, if the lines since the previous balance add up.';

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
          filter (where b.true_on > day),
        'computed', app.format_amount(max(b.minor_on_day), b.currency)
      )) as around
      from app.accounts as a
      cross join lateral app.read_balances(a.id, day) as b
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
  '[{account, currency, before?: [day, amount], after?, computed?: the balance of the day if the lines between both '
  'add up}]; null for none. At most ten.';

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
  'Returns a warning about balances of a period that differ from the previous balance plus the lines in between.';

create or replace function app.warn_of_unknown_balance(context app.context, account app.accounts, day date)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  known constant jsonb := app.describe_balances_around(context, account.id, day);
begin
  return case when known is null or known @> jsonb_build_array(jsonb_build_object('before', jsonb_build_array(day)))
    then '[]' else jsonb_build_array(
      app.warning(case when known @? '$[*].computed' then 'balance_of_day' else 'balance_of_day_unknown' end,
        jsonb_build_object('day', day, 'known', known))
    ) end;
end
$$;
comment on function app.warn_of_unknown_balance is
  'Returns a warning about a day without a balance: its balance computed from lines, or the known ones around it.';

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
