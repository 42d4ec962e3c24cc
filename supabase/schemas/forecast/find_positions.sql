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
  in_base float8,
  heir_id text,
  bill_ids text[]
);
comment on type app.forecast_position is
  'An account in one currency. minor: its last balance plus the lines since, until covered_on. day_minor: the average '
  'daily sum of its lines in the last months, without bills and income; week_variance: the variance of this sum '
  'between weeks; the outside_ fields leave out transfers to other positions. in_base: the value of a minor unit in '
  'the base currency, null without a rate. kind: account, card or closed. heir_id: the account that received the rest '
  'of a closed one. bill_ids: the bills whose latest charges are in its lines.';

create or replace function app.signed_minor(direction text, minor bigint) returns bigint
language sql immutable
  return case direction when 'out' then -minor else minor end;
comment on function app.signed_minor is 'Returns an amount as a change of a balance.';

create or replace function app.worth_in(base_currency text, currency text, day date) returns float8
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  if currency = base_currency then
    return 1;
  end if;
  return (
    select t.per_euro * 10::numeric ^ base.exponent / (f.per_euro * 10::numeric ^ c.exponent)
    from app.currencies as c
    cross join app.currencies as base
    cross join lateral app.rates_as_of(c.code, day) as f
    cross join lateral app.rates_as_of(base.code, day) as t
    where c.code = worth_in.currency and base.code = worth_in.base_currency
  );
end
$$;
comment on function app.worth_in is
  'Returns the value of a currency''s minor unit in another currency; null without a rate.';

-- Avoid nested loops: under row-level security the planner expects only a few lines.
create or replace function app.find_positions(context app.context) returns setof app.forecast_position
language plpgsql stable set search_path = '' set jit = 'off' set plan_cache_mode = 'force_generic_plan'
  set enable_nestloop = 'off' set enable_mergejoin = 'off' as $$
declare
  max_days constant int := 182;
  max_age constant int := 45;
  -- Kinds of lines that do not move the balance.
  unmoved constant text[] := array['pending', 'declined', 'reverted', 'balance', 'split', 'unreadable'];
begin
  return query
    with balances as materialized (
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
    ), recent as materialized (
      select l.id, l.account_id, l.currency, l.booked_on, l.text, l.direction, l.amount_minor, l.kind, l.other_half_id
      from app.statement_lines as l
      where l.organization_id = context.organization_id
        and l.booked_on between context.today - max_days - max_age * 2 and context.today
    ), pairs as materialized (
      select r.id, r.account_id, o.id as other_id, o.account_id as other_account_id
      from recent as r
      join recent as o on o.id = r.other_half_id
      where r.other_half_id is not null
    ), halves as materialized (
      select p.id, p.other_account_id from pairs as p
      union
      select p.other_id, p.account_id from pairs as p
    ), emptied as materialized (
      -- A paid card has a balance of 0, too, but its last line is incoming.
      select distinct on (b.id, b.currency) b.id, b.currency, h.other_account_id as heir_id
      from balances as b
      join recent as r on r.account_id = b.id and r.currency = b.currency and r.booked_on = b.covered_on
        and r.direction = 'out' and r.kind <> all (unmoved)
      left join halves as h on h.id = r.id
      where b.minor = 0
      order by b.id, b.currency, r.amount_minor desc
    ), positions as materialized (
      select b.*, e.heir_id, e.id is not null or b.minor = 0 and b.covered_on < context.today - max_age as is_closed
      from balances as b
      left join emptied as e on e.id = b.id and e.currency = b.currency
    ), bill_lines as materialized (
      -- Looks up each payment's links, because a join would read the links of all organizations.
      select unnest(array(select k.line_id from app.statement_links as k where k.payment_id = p.id)) as line_id,
        p.expense_id as bill_id
      from app.payments as p
      where p.organization_id = context.organization_id and p.deleted_at is null and p.expense_id like 'bill\_%'
        and p.paid_on > context.today - max_days - max_age * 2
    ), lines as materialized (
      select p.id, p.currency, r.booked_on, r.text, r.direction, r.amount_minor, r.kind, r.id as line_id,
        h.id is not null as is_transfer,
        -- The other half of the transfer is in another account with a known balance.
        o.id is not null as is_inside, b.bill_id
      from recent as r
      join positions as own on own.id = r.account_id and own.currency = r.currency
      -- The lines of a closed account count for its heir.
      join positions as p on p.id = coalesce(own.heir_id, own.id) and p.currency = r.currency
      left join halves as h on h.id = r.id
      left join (select distinct b.id from balances as b) as o on o.id = h.other_account_id
      left join (select b.line_id, max(b.bill_id) as bill_id from bill_lines as b group by b.line_id) as b
        on b.line_id = r.id
      where r.booked_on between p.covered_on - max_days + 1 and p.covered_on and r.kind <> all (unmoved)
    ), flows as materialized (
      -- Numbers differ on every line, so they aren't words of a name.
      select l.id, l.currency, l.booked_on, l.amount_minor, app.signed_minor(l.direction, l.amount_minor) as minor,
        l.line_id, l.is_inside,
        case when l.direction = 'out' then regexp_replace(l.text, '\S*\d\S*', '', 'g') end as spelling
      from lines as l
      left join (
        select i.line_id from app.incomes as i
        where i.organization_id = context.organization_id and i.deleted_at is null and i.line_id is not null
      ) as i on i.line_id = l.line_id
      where (l.kind <> 'income' or l.is_transfer) and l.bill_id is null and i.line_id is null
    ), bills as materialized (
      select b.id, b.name, b.payee, b.currency, b.amount_mode, usual.minor
      from app.expenses as b
      cross join lateral app.usual_amount(b.id, b.amount_minor, b.currency) as usual
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.status = 'active'
        and b.deleted_at is null and usual.minor is not null
    ), names as materialized (
      select t.words, t.currency, t.amount_mode, t.minor, array_agg(distinct t.id) as bill_ids
      from (
        select b.id, app.descriptor_words(n.text) as words, b.currency, b.amount_mode, b.minor
        from bills as b
        cross join lateral (values (b.name), (b.payee)) as n (text)
        where n.text is not null
        union all
        select b.id, app.descriptor_words(l.text), b.currency, b.amount_mode, b.minor
        from (select distinct on (l.bill_id) l.bill_id, l.text from lines as l
          where l.bill_id is not null order by l.bill_id, l.booked_on desc) as l
        join bills as b on b.id = l.bill_id
      ) as t
      group by t.words, t.currency, t.amount_mode, t.minor
    ), spelled as materialized (
      select t.spelling, app.descriptor_words(t.spelling) as words
      from (select distinct f.spelling from flows as f where f.spelling is not null) as t
      where exists (select from bills)
    ), near as materialized (
      select distinct s.spelling, s.words, n.words as bill_words
      from (select s.*, unnest(s.words) as word from spelled as s) as s
      join (
        select distinct n.words, w.word from names as n cross join lateral unnest(n.words) as w (word)
      ) as n on n.word = s.word
    ), resembling as materialized (
      select r.spelling, n.currency, n.minor, n.amount_mode, n.bill_ids
      from (
        select r.* from near as r where app.compare_names(r.bill_words, r.words) >= 2
      ) as r
      join names as n on n.words = r.bill_words
    ), billed as materialized (
      -- Skip charges from before a bill was added, because its dates represent them.
      select f.line_id, f.id, f.currency, f.booked_on, r.bill_ids
      from resembling as r
      join flows as f on f.spelling = r.spelling and f.currency = r.currency
        and app.same_amount(f.amount_minor, r.minor, case r.amount_mode when 'fixed' then 30 else 60 end)
    ), homes as materialized (
      select h.id, h.currency, array_agg(h.bill_id) as bill_ids
      from (
        select distinct on (x.bill_id) x.bill_id, x.id, x.currency
        from (
          select l.bill_id, l.id, l.currency, l.booked_on, true as is_linked from lines as l where l.bill_id is not null
          union all
          select unnest(b.bill_ids), b.id, b.currency, b.booked_on, false from billed as b
        ) as x
        order by x.bill_id, x.is_linked desc, x.booked_on desc
      ) as h
      group by h.id, h.currency
    ), spans as materialized (
      select e.id, e.currency, e.last_on, x.days, round(x.days / 7)::int as weeks
      from (
        select l.id, l.currency, max(l.booked_on) as last_on, max(l.booked_on) - min(l.booked_on) as days
        from lines as l group by l.id, l.currency
      ) as e
      cross join lateral (
        -- Most charges are monthly, and whole months contain each one equally often.
        select case when e.days >= 26 then floor((e.days + 5) / 30.4375) * 30.4375
          else (e.days + 1) / 7 * 7 end::float8 as days
      ) as x
      where x.days > 0
    ), weeks as materialized (
      select f.id, f.currency, floor((s.last_on - f.booked_on) * s.weeks / s.days) as week,
        sum(f.minor)::float8 as minor,
        coalesce(sum(f.minor) filter (where not f.is_inside), 0)::float8 as outside
      from flows as f
      left join (select distinct x.line_id from billed as x) as b on b.line_id = f.line_id
      join spans as s on s.id = f.id and s.currency = f.currency
      where b.line_id is null and s.last_on - f.booked_on < s.days
      group by 1, 2, 3
    ), usual as materialized (
      select s.id, s.currency, s.weeks, coalesce(sum(w.minor), 0) / s.days as day_minor,
        coalesce(sum(w.outside), 0) / s.days as outside_minor,
        greatest(coalesce(sum(w.minor ^ 2) - sum(w.minor) ^ 2 / s.weeks, 0), 0) / greatest(s.weeks - 1, 1)
          as week_variance,
        greatest(coalesce(sum(w.outside ^ 2) - sum(w.outside) ^ 2 / s.weeks, 0), 0) / greatest(s.weeks - 1, 1)
          as outside_variance
      from spans as s
      left join weeks as w on w.id = s.id and w.currency = s.currency
      group by s.id, s.currency, s.days, s.weeks
    )
    select p.id, p.name, case when p.is_closed then 'closed' else p.kind end, p.currency, p.true_on, p.source,
      p.amount_minor, p.covered_on, p.minor, coalesce(u.weeks, 0), coalesce(u.day_minor, 0),
      coalesce(u.week_variance, 0), coalesce(u.outside_minor, 0), coalesce(u.outside_variance, 0),
      app.worth_in(context.base_currency, p.currency, context.today), p.heir_id, h.bill_ids
    from positions as p
    left join usual as u on u.id = p.id and u.currency = p.currency and not p.is_closed
    left join homes as h on h.id = p.id and h.currency = p.currency;
end
$$;
comment on function app.find_positions is
  'Returns the accounts with a balance that the person sees, one row per account and currency.';
