create type app.forecast_day as (
  account_id text,
  currency text,
  day date,
  low float8,
  likely float8,
  high float8
);
comment on type app.forecast_day is
  'The expected balance of an account at the end of a day or, without account_id, of all accounts in the base '
  'currency. Nine of ten real balances lie between low and high.';

create or replace function app.flow_variance(week_variance float8, weeks int, days int) returns float8
language sql immutable
  -- The sum of two errors: weeks differ, and the mean of few weeks is uncertain. With few weeks, their variance is
  -- uncertain, too.
  return case when weeks > 0 and days > 0 then
    (1.645 * (1 + 2.0 / weeks)) ^ 2 * week_variance * (days / 7.0 + (days / 7.0) ^ 2 / weeks)
    else 0 end;
comment on function app.flow_variance is
  'Returns the square of the usual flow''s margin of error over some days; nine of ten real sums stay within that '
  'margin.';

create or replace function app.forecast_days(context app.context, positions app.forecast_position[],
  events app.forecast_event[], until date) returns setof app.forecast_day
language plpgsql stable set search_path = '' set jit = 'off' set plan_cache_mode = 'force_generic_plan' as $$
declare
  -- Banks book debits late and salaries early or late, by a weekend at most.
  shift_days constant int := 3;
begin
  return query
    with places as materialized (
      select p.*, (p.place)::int as n
      from unnest(positions) with ordinality as p (account_id, account, kind, currency, true_on, source, stated_minor,
        covered_on, minor, weeks, day_minor, week_variance, outside_minor, outside_variance, in_base, heir_id, bill_ids,
        place)
      union all
      -- Events without an account.
      select null, null, null, context.base_currency, null, null, 0, context.today, 0, 0, 0, 0, 0, 0, 1, null, null,
        0, 0
    ), worth as materialized (
      select c.currency, app.worth_in(context.base_currency, c.currency, context.today) as in_base
      from (select distinct e.currency from unnest(events) as e) as c
    ), changes as materialized (
      select p.n, e.kind = 'income' as is_income, e.due_on,
        -- Overdue income may not come, nor may the next payment of a payer who is late by more than a weekend.
        e.kind = 'income' and (e.due_on < context.today
          or min(e.due_on) over (partition by e.kind, e.id) + shift_days < context.today) as is_doubtful,
        e.minor * r.rate as minor, (e.down * r.rate) ^ 2 as down, (e.up * r.rate) ^ 2 as up
      from unnest(events) as e
      join worth as w on w.currency = e.currency
      cross join lateral (
        select o.n, o.currency, o.in_base from places as o
        where o.account_id = e.account_id or o.n = 0
        order by o.n = 0, o.currency = e.currency desc, o.in_base is null, o.n limit 1
      ) as p
      cross join lateral (
        select case when p.currency = e.currency then 1 else w.in_base / p.in_base end as rate
      ) as r
      where r.rate is not null
    ), steps as materialized (
      select s.n, greatest(s.day, context.today) as day, sum(s.likely) as likely, sum(s.low) as low,
        sum(s.high) as high, sum(s.down) as down, sum(s.up) as up
      from (
        select c.n, c.due_on as day, c.minor as likely, 0 as low, 0 as high, c.down, c.up from changes as c
        union all
        select c.n, c.due_on + case when c.is_income then shift_days else 0 end, 0, c.minor, 0, 0, 0 from changes as c
        where not c.is_doubtful
        union all
        select c.n, c.due_on + case when c.is_income then -shift_days when c.minor < 0 then shift_days else 0 end, 0, 0,
          c.minor, 0, 0
        from changes as c
      ) as s
      group by 1, 2
    ), own as materialized (
      select p.account_id, p.currency, p.in_base, d.day, p.minor, p.day_minor * h.days as flow,
        p.outside_minor * h.days as outside,
        app.flow_variance(p.week_variance, p.weeks, h.days) as variance,
        app.flow_variance(p.outside_variance, p.weeks, h.days) as outside_variance,
        sum(coalesce(s.likely, 0)) over so_far as likely, sum(coalesce(s.low, 0)) over so_far as low,
        sum(coalesce(s.high, 0)) over so_far as high, sum(coalesce(s.down, 0)) over so_far as down,
        sum(coalesce(s.up, 0)) over so_far as up
      from places as p
      cross join (select context.today + g as day from generate_series(0, until - context.today) as g) as d
      cross join lateral (select d.day - p.covered_on as days) as h
      left join steps as s on s.n = p.n and s.day = d.day
      window so_far as (partition by p.n order by d.day)
    )
    select o.account_id, o.currency, o.day, o.minor + o.flow + o.low - sqrt(o.variance + o.down),
      o.minor + o.flow + o.likely, o.minor + o.flow + o.high + sqrt(o.variance + o.up)
    from own as o
    where o.account_id is not null
    union all
    select null, context.base_currency, o.day,
      sum(o.in_base * (o.minor + o.outside + o.low)) - sqrt(sum(o.in_base ^ 2 * (o.outside_variance + o.down))),
      sum(o.in_base * (o.minor + o.outside + o.likely)),
      sum(o.in_base * (o.minor + o.outside + o.high)) + sqrt(sum(o.in_base ^ 2 * (o.outside_variance + o.up)))
    from own as o
    where o.in_base is not null
    group by o.day;
end
$$;
comment on function app.forecast_days is
  'Returns the expected balances of each day from today to another day, from the last balances, the usual flow and '
  'events. Transfers between the positions don''t change the total.';
