-- The position of each account: its last known balance, the statement lines since, and its usual flow.

create type app.forecast_position as (
  account_id text,
  account text,
  kind text,
  currency text,
  true_on date,
  source text,
  stated_minor bigint,
  covered_on date,
  minor bigint,
  weeks int,
  day_minor float8,
  week_variance float8,
  outside_minor float8,
  outside_variance float8,
  in_base float8
);
comment on type app.forecast_position is
  'An account in one currency. minor: its last balance and the lines since, until covered_on. day_minor: the average '
  'daily sum of its lines in the last weeks, without bills and income; week_variance: the variance of this sum between '
  'weeks; outside_ leaves out transfers to other positions. in_base: the value of a minor unit in the base currency, '
  'null without a rate.';

create or replace function app.signed_minor(direction text, minor bigint) returns bigint
language sql immutable
  return case direction when 'out' then -minor else minor end;
comment on function app.signed_minor is 'Returns an amount as a change of a balance.';

create or replace function app.worth_in(base_currency text, currency text, day date) returns float8
language plpgsql stable set search_path = '' as $$
begin
  return case when currency = base_currency then 1 else (
    select t.per_euro * 10::numeric ^ base.exponent / (f.per_euro * 10::numeric ^ c.exponent)
    from app.currencies as c
    cross join app.currencies as base
    cross join lateral app.rates_as_of(c.code, day) as f
    cross join lateral app.rates_as_of(base.code, day) as t
    where c.code = worth_in.currency and base.code = worth_in.base_currency
  ) end;
end
$$;
comment on function app.worth_in is
  'Returns the value of a currency''s minor unit in another currency; null without a rate.';

create or replace function app.find_positions(context app.context) returns setof app.forecast_position
language plpgsql stable set search_path = '' set jit = 'off' as $$
declare
  max_days constant int := 182;
  -- Kinds of lines that do not move the balance.
  unmoved constant text[] := array['pending', 'declined', 'reverted', 'balance', 'split', 'unreadable'];
begin
  return query
    with positions as materialized (
      select a.id, a.name, a.kind, b.currency, b.true_on, b.source, b.amount_minor,
        least(greatest(b.true_on, since.last_on), context.today) as covered_on, b.amount_minor + since.minor as minor
      from app.accounts as a
      cross join lateral (
        select distinct on (s.currency) s.*
        from app.balances as s
        where s.account_id = a.id and s.deleted_at is null
        order by s.currency, s.true_on desc, s.source = 'statement' desc, s.recorded_seq desc
      ) as b
      cross join lateral (
        select max(l.booked_on) as last_on,
          coalesce(sum(app.signed_minor(l.direction, l.amount_minor)), 0)::bigint as minor
        from app.statement_lines as l
        where l.account_id = a.id and l.currency = b.currency and l.kind <> all (unmoved)
          and l.booked_on >= b.true_on
          -- A file made during a day lacks the day's later lines.
          and (l.booked_on > b.true_on or b.source = 'statement' and l.created_at > b.updated_at)
      ) as since
      where a.organization_id = context.organization_id
    ), bill_lines as materialized (
      select distinct k.line_id
      from app.payments as p
      join app.statement_links as k on k.payment_id = p.id
      where p.organization_id = context.organization_id and p.deleted_at is null and p.expense_id like 'bill\_%'
        and p.paid_on > context.today - max_days * 2
    ), lines as materialized (
      select p.id, p.currency,
        (max(l.booked_on) over (partition by p.id, p.currency) - l.booked_on) / 7 as week, l.booked_on, l.text,
        l.direction, l.amount_minor, app.signed_minor(l.direction, l.amount_minor) as minor, l.kind, l.id as line_id,
        -- The other half changes another known balance.
        exists (select from positions as o where o.id = coalesce(half.account_id, other.account_id)) as is_inside,
        half.id is not null or other.id is not null as is_transfer
      from positions as p
      join app.statement_lines as l on l.account_id = p.id and l.currency = p.currency
        and l.booked_on between p.covered_on - max_days + 1 and p.covered_on and l.kind <> all (unmoved)
      left join app.statement_lines as half on half.id = l.other_half_id
      left join app.statement_lines as other on other.other_half_id = l.id
    ), flows as materialized (
      select l.* from lines as l
      where (l.kind <> 'income' or l.is_transfer)
        and not exists (select from bill_lines as b where b.line_id = l.line_id)
        and not exists (select from app.incomes as i where i.line_id = l.line_id and i.deleted_at is null)
    ), bills as materialized (
      select b.currency, b.amount_mode, usual.minor, app.descriptor_words(t.text) as words
      from app.expenses as b
      cross join lateral app.usual_amount(b.id, b.amount_minor, b.currency) as usual
      cross join lateral (
        select b.name as text
        union
        select b.payee
        union
        (select l.text
          from app.payments as p
          join app.statement_links as k on k.payment_id = p.id
          join app.statement_lines as l on l.id = k.line_id
          where p.expense_id = b.id and p.deleted_at is null
          order by p.paid_on desc limit 1)
      ) as t
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.status = 'active'
        and b.deleted_at is null and t.text is not null and usual.minor is not null
    ), spelled as materialized (
      -- Numbers differ on every line, so they aren't words of a name.
      select t.text, app.descriptor_words(t.text) as words
      from (
        select distinct regexp_replace(f.text, '\S*\d\S*', '', 'g') as text from flows as f where f.direction = 'out'
      ) as t
      where exists (select from bills)
    ), resembling as materialized (
      select s.text, b.currency, b.minor, b.amount_mode
      from spelled as s
      join bills as b on b.words && s.words
      where app.compare_names(b.words, s.words) >= 2
    ), billed as materialized (
      -- Skip charges from before a bill was added, because its dates represent them.
      select distinct f.line_id
      from resembling as r
      join flows as f on regexp_replace(f.text, '\S*\d\S*', '', 'g') = r.text and f.direction = 'out'
        and f.currency = r.currency
        and app.same_amount(f.amount_minor, r.minor, case r.amount_mode when 'fixed' then 30 else 60 end)
    ), weeks as (
      select f.id, f.currency, f.week, sum(f.minor) as minor,
        coalesce(sum(f.minor) filter (where not f.is_inside), 0) as outside
      from flows as f
      where not exists (select from billed as b where b.line_id = f.line_id)
      group by f.id, f.currency, f.week
    ), spans as (
      select l.id, l.currency, (max(l.booked_on) - min(l.booked_on) + 1) / 7 as weeks
      from lines as l group by l.id, l.currency
    )
    select p.id, p.name, p.kind, p.currency, p.true_on, p.source, p.amount_minor, p.covered_on, p.minor,
      coalesce(s.weeks, 0), coalesce(u.day_minor, 0), coalesce(u.week_variance, 0), coalesce(u.outside_minor, 0),
      coalesce(u.outside_variance, 0),
      app.worth_in(context.base_currency, p.currency, context.today)
    from positions as p
    left join spans as s on s.id = p.id and s.currency = p.currency
    cross join lateral (
      select coalesce(sum(w.minor), 0)::float8 / nullif(s.weeks, 0) / 7 as day_minor,
        greatest(coalesce(sum(w.minor ^ 2), 0) - coalesce(sum(w.minor), 0) ^ 2 / nullif(s.weeks, 0), 0)::float8
          / nullif(greatest(s.weeks - 1, 1), 0) as week_variance,
        coalesce(sum(w.outside), 0)::float8 / nullif(s.weeks, 0) / 7 as outside_minor,
        greatest(coalesce(sum(w.outside ^ 2), 0) - coalesce(sum(w.outside), 0) ^ 2 / nullif(s.weeks, 0), 0)::float8
          / nullif(greatest(s.weeks - 1, 1), 0) as outside_variance
      from weeks as w
      where w.id = p.id and w.currency = p.currency and w.week < s.weeks
    ) as u;
end
$$;
comment on function app.find_positions is
  'Returns the accounts with a balance that the person sees, one row per account and currency.';
