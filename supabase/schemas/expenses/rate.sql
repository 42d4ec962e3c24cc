-- The rate of a day is the newest one on or before it, at most 7 days old (weekends, holidays). Rates of the central
-- bank come before other sources'. Offline, the embedded stack uses a dated snapshot, and those values are provisional.
-- Rates are per euro, so every pair converts through the euro.

create type app.rate as (
  per_euro numeric,
  rate_on date,
  source text
);
comment on type app.rate is
  'The amount of a currency that one euro buys, with its source and day. The euro itself has no source.';

-- A parsed body can be inlined: a query over many days then finds all its rates in one plan.
create or replace function app.rates_as_of(currency text, day date) returns setof app.rate
language sql stable rows 1
begin atomic
  select case currency when 'EUR' then 1 else coalesce(f.rate, s.rate) end,
    case currency when 'EUR' then day else coalesce(f.rate_on, s.rate_on) end, coalesce(f.source, s.source)
  from (select) as once
  left join lateral (
    select r.rate, r.rate_on, r.source
    from app.fx_rates as r
    where r.quote = currency and r.rate_on between day - 7 and day and r.source <> 'snapshot'
    -- The central bank's sources first, then all others.
    order by r.source not in ('ecb', 'frankfurter'), r.rate_on desc, r.source
    limit 1
  ) as f on true
  left join lateral (
    select r.rate, r.rate_on, r.source
    from app.fx_rates as r
    where f.rate is null and r.quote = currency and r.source = 'snapshot'
    order by r.rate_on desc
    limit 1
  ) as s on true
  where currency = 'EUR' or f.rate is not null or s.rate is not null;
end;
comment on function app.rates_as_of is
  'Returns the rate of a currency as of a day in one row, or no row when none is known.';

create or replace function app.find_rate(currency text, day date) returns app.rate
language plpgsql stable set search_path = '' as $$
declare
  found app.rate;
begin
  select * into found from app.rates_as_of(currency, day);
  return found;
end
$$;
comment on function app.find_rate is 'Returns the rate of a currency as of a day; all null when none is known.';

create or replace function app.rates_snapshot(day date) returns date
language plpgsql stable set search_path = '' as $$
declare
  -- Every source quotes USD.
  rate constant app.rate := app.find_rate('USD', day);
begin
  return case when rate.source = 'snapshot' then rate.rate_on end;
end
$$;
comment on function app.rates_snapshot is
  'Returns the day of the snapshot that replaces the rates as of a day; null when real rates are known.';
