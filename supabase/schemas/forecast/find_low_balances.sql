-- Balances that are expected to fall below the limit of the organization.

create type app.low_balance as (
  account_id text,
  account text,
  currency text,
  due_on date,
  low bigint,
  likely bigint,
  limit_minor bigint,
  covered_on date
);
comment on type app.low_balance is
  'A balance, the limit in its currency, and the first day when the balance is likely below the limit. Without '
  'account_id, the balance is the sum of all accounts. covered_on: the last day with a known balance, for the sum the '
  'earliest of all accounts.';

create type app.limited_balance as (
  account_id text,
  account text,
  currency text,
  covered_on date,
  minor float8,
  limit_minor float8
);
comment on type app.limited_balance is
  'Today''s balance and the limit in its currency, null without a rate. Without account_id, the sum of all accounts.';

create or replace function app.compare_with_limit(context app.context, positions app.forecast_position[])
  returns setof app.limited_balance
language plpgsql stable set search_path = '' as $$
declare
  organization constant identity.organizations := (
    select o from identity.organizations as o where o.id = context.organization_id
  );
begin
  -- A forecast from part of the payments would be wrong.
  if organization.low_balance_minor is null or not identity.sees_everything() then
    return;
  end if;
  return query
    with starts as materialized (
      -- Leave out cards and other debts: their balances were never above zero.
      select p.account_id, p.account, p.currency, p.covered_on, p.minor::float8 as minor
      from unnest(positions) as p
      where p.kind = 'account' and (p.minor > 0 or exists (
        select from app.balances as b
        where b.account_id = p.account_id and b.currency = p.currency and b.amount_minor > 0 and b.deleted_at is null
      ))
      union all
      select null, null, context.base_currency, min(p.covered_on), sum(p.minor * p.in_base)
      from unnest(positions) as p
      having count(distinct p.account_id) filter (where p.kind <> 'closed' and p.in_base is not null) > 1
    ), limits as materialized (
      select c.currency, round(organization.low_balance_minor
        * app.worth_in(c.currency, organization.low_balance_currency, context.today)) as minor
      from (select distinct s.currency from starts as s) as c
    )
    select s.account_id, s.account, s.currency, s.covered_on, s.minor, l.minor
    from starts as s
    join limits as l on l.currency = s.currency;
end
$$;
comment on function app.compare_with_limit is
  'Returns the balances to compare with the limit; none without a limit, and for people who do not see everything.';

create or replace function app.find_low_balances(context app.context, positions app.forecast_position[],
  days app.forecast_day[]) returns setof app.low_balance
language plpgsql stable set search_path = '' as $$
begin
  return query
    select distinct on (lower(s.account), s.account_id, s.currency) s.account_id, s.account, s.currency, d.day,
      round(d.low)::bigint, round(d.likely)::bigint, s.limit_minor::bigint, s.covered_on
    from app.compare_with_limit(context, positions) as s
    join unnest(days) as d on d.account_id is not distinct from s.account_id and d.currency = s.currency
      and round(d.likely) < s.limit_minor
    where s.minor >= s.limit_minor
    order by lower(s.account) nulls last, s.account_id, s.currency, d.day;
end
$$;
comment on function app.find_low_balances is
  'Returns the balances of a forecast that are not below the limit and are expected to fall below it.';

create or replace function app.describe_unwatched(context app.context, positions app.forecast_position[],
  account_id text default null) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'already_below', jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'account', s.account, 'amount', app.format_amount(round(s.minor)::bigint, s.currency), 'currency', s.currency
      )) order by lower(s.account), s.currency) filter (where s.minor < s.limit_minor),
      'no_rate', jsonb_agg(jsonb_strip_nulls(jsonb_build_object('account', s.account, 'currency', s.currency))
        order by lower(s.account), s.currency) filter (where s.limit_minor is null)
    ))
    from app.compare_with_limit(context, positions) as s
    where describe_unwatched.account_id is null or s.account_id = describe_unwatched.account_id
  );
end
$$;
comment on function app.describe_unwatched is
  'Returns the balances that can''t cause a notice: {already_below?: [{account?, amount, currency}], no_rate?: '
  '[{account?, currency}]}. no_rate: the limit has no rate in the account''s currency.';

create or replace function app.describe_low_balances(context app.context, positions app.forecast_position[],
  days app.forecast_day[], account_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('limit', jsonb_build_object(
      'amount', app.format_amount(o.low_balance_minor, o.low_balance_currency), 'currency', o.low_balance_currency,
      'below', (
        select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'account', b.account, 'on', b.due_on, 'low', app.format_amount(b.low, b.currency), 'likely',
          app.format_amount(b.likely, b.currency), 'currency', b.currency
        ))), '[]')
        from app.find_low_balances(context, positions, days) as b
        where describe_low_balances.account_id is null or b.account_id = describe_low_balances.account_id
      )
    ) || app.describe_unwatched(context, positions, account_id))
    from identity.organizations as o
    where o.id = context.organization_id and o.low_balance_minor is not null and identity.sees_everything()
  );
end
$$;
comment on function app.describe_low_balances is
  'Returns {limit: {amount, currency, below: [{account?, on, low, likely, currency}], already_below?, no_rate?}} of a '
  'forecast; null without a limit, and for people who do not see everything.';

create or replace function app.expect_low_balances(at timestamptz) returns setof app.low_balance
language plpgsql stable set search_path = '' as $$
declare
  context constant app.context := app.read_context(at);
  days_ahead constant int := 31;
  until date;
  known app.forecast_position[];
  basis app.forecast_basis;
begin
  if context.organization_id is null or not identity.sees_everything() then
    return;
  end if;
  known := array(select p::app.forecast_position from app.find_positions(context) as p);
  -- Check first, because the forecast itself is expensive.
  if not exists (select from app.compare_with_limit(context, known) as s where s.minor >= s.limit_minor) then
    return;
  end if;
  until := context.today + days_ahead;
  basis := app.read_forecast(context, until, known);
  return query
    select b.* from app.find_low_balances(context, basis.positions, array(
      select d::app.forecast_day from app.forecast_days(context, basis.positions, basis.events, until) as d
    )) as b;
end
$$;
comment on function app.expect_low_balances is
  'Returns the current organization''s balances that are expected to fall below its limit within 31 days.';
alter function app.expect_low_balances set role = 'authenticated';
