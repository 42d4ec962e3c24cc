-- Finds pairs of import rows and book entries that may match, and rates their certainty.

create type app.match_pair as (
  line int,
  entry app.book_entry,
  tier int,
  gap int,
  cost int,
  row_day date,
  row_name text,
  entry_name text
);
comment on type app.match_pair is
  'A row and an entry that may match. Tiers 1 to 4 are certain, from the strongest: the same name on the same day, the '
  'same words, one name within the other, and an approximate amount or an exact foreign one. Tiers 6 to 8 become '
  'questions. gap is in days.';

create or replace function app.same_amount(one_minor bigint, other_minor bigint, percent int) returns boolean
language sql immutable
  return abs(one_minor - other_minor) * 100::numeric <= percent * greatest(one_minor, other_minor)::numeric;
comment on function app.same_amount is 'Whether two amounts differ by at most this percentage of the larger one.';

create or replace function app.takes_tips(names text, category_id text) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  words constant text :=
    '\m(restaurant|ristorante|restaurante|diner|dinner|lunch|brunch|bistro|brasserie|trattoria|osteria|'
    || 'pizzeria|pizza|sushi|grill|steakhouse|taverna|tavern|gasthaus|gasthof|wirtshaus|cafe|caf[eé]|coffee|bar|pub|'
    || 'hotel|hostel|inn|resort|pension|taxi|cab|uber|lyft|bolt)\M';
begin
  return names ~* words or exists (
    select from app.categories as c where c.id = category_id and lower(c.name) in ('food', 'travel')
  );
end
$$;
comment on function app.takes_tips is
  'Whether the names or category of an expense suggest a restaurant, a hotel or a taxi.';

-- Avoid nested loops: under row-level security the planner expects only a few rows and entries.
create or replace function app.find_pairs(context app.context, batch app.import_batches, first int, last int)
  returns app.match_pair[]
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  days constant int := 5;
  -- Ignore further entries with the same amount on one day.
  most constant int := 50;
  exchange_percent constant int := 4;
  estimate_percent constant int := 10;
  tip_percent constant int := 30;
  price_percent constant int := 30;
  first_day date;
  last_day date;
  currencies text[];
begin
  select min(r.draft ->> 'paid_on')::date - days, max(r.draft ->> 'paid_on')::date + days,
    array_agg(distinct coalesce(r.item #>> '{charged,currency}', r.draft ->> 'currency'))
  into first_day, last_day, currencies
  from app.import_rows as r
  where r.import_id = batch.id and r.line between first and last and r.draft is not null and r.match is null
    and not r.is_skipped;
  return (
    with staged as materialized (
      select r.line, d.paid_on as day, d.direction, d.amount_minor, d.currency, d.match_key,
        app.statement_minor(r.item #>> '{charged,amount}', r.item #>> '{charged,currency}') as charged_minor,
        r.item #>> '{charged,currency}' as charged_currency,
        array_remove(array[d.payee, d.name, r.item ->> 'text'], null) as names
      from app.import_rows as r
      cross join lateral jsonb_to_record(r.draft) as d (
        paid_on date, direction text, amount_minor bigint, currency text, match_key text, name text, payee text
      )
      where r.import_id = batch.id and r.line between first and last and r.draft is not null and r.match is null
        and not r.is_skipped and r.kind in ('expense', 'refund')
    ), priced as materialized (
      select s.*, s.amount_minor as minor, s.currency as in_currency from staged as s
      union all
      select s.*, s.charged_minor, s.charged_currency from staged as s where s.charged_minor is not null
    ), entries as materialized (
      select e.*, (e.entry).*, e.entry as whole
      from (
        select l as entry, row_number() over (
          partition by (l).day, (l).amount_minor, (l).currency, (l).direction order by (l).seq
        ) as nth
        from app.list_entries(context, first_day, last_day) as l
      ) as e
      where e.nth <= most
    ), odd as materialized (
      -- Estimates, and entries whose currency differs from a row's.
      select e.* from entries as e
      where e.is_open or cardinality(currencies) > 1 or e.currency <> currencies[1]
    ), spread as materialized (
      -- Repeat each row for the days around its own, because a hash join needs equal days.
      select p.*, p.day + g.step as near_day, case when p.in_currency = context.base_currency then p.minor else (
        app.value_in_base(context.base_currency, p.minor, p.in_currency, p.day)
      ).base_minor end as base_minor
      from priced as p
      cross join generate_series(-days, days) as g (step)
      where p.minor = coalesce(p.charged_minor, p.amount_minor) and exists (select from odd)
    ), tipped as materialized (
      select e.*
      from entries as e
      cross join lateral (
        select x.name, x.payee, x.category_id from app.expenses as x
        where x.id = e.expense_id and x.kind = 'one_off'
        offset 0
      ) as x
      cross join lateral (
        select from app.payments as q
        where q.id = e.key and q.sharing ->> 'how' is distinct from 'amounts' and q.currency = e.currency
        offset 0
      ) as q
      where e.direction = 'out' and not e.is_open and not app.is_closed(context.organization_id, e.day)
        and app.takes_tips(concat_ws(' ', x.name, x.payee), x.category_id)
    ), billed as materialized (
      -- The price of these bills may have changed.
      select e.*
      from entries as e
      where e.direction = 'out' and not e.is_open and not e.is_frequent and (e.bill_id is not null or exists (
        select from app.payments as q where q.id = e.key and q.source = 'autopay'
      ))
    ), near as (
      select p.line, p.day, p.match_key, p.names, e.whole, true as is_exact, false as is_open, p.minor,
        -- Within these days, an exact price in its own currency is unlikely to be a coincidence.
        p.charged_minor is not null and p.in_currency = p.currency and p.currency <> p.charged_currency
          and p.currency <> context.base_currency as is_foreign, false as is_unequal
      from priced as p
      join entries as e on e.amount_minor = p.minor and e.currency = p.in_currency and e.direction = p.direction
      where abs(p.day - e.day) <= days
      union all
      select v.line, v.day, v.match_key, v.names, e.whole, false, e.is_open and e.currency = v.in_currency, v.minor,
        false, false
      from spread as v
      join odd as e on e.day = v.near_day and e.direction = v.direction
      where e.is_open and e.currency = v.in_currency and (e.amount_minor is null
          or e.amount_minor <> v.minor and app.same_amount(e.amount_minor, v.minor, 50))
        or e.currency <> v.in_currency and app.same_amount(e.base_minor, v.base_minor, exchange_percent)
      union all
      select p.line, p.day, p.match_key, p.names, t.whole, false, false, p.minor, false, true
      from priced as p
      cross join generate_series(-days, days) as g (step)
      join tipped as t on t.day = p.day + g.step and t.currency = p.in_currency and t.direction = p.direction
      where p.minor > t.amount_minor and p.minor * 100 <= t.amount_minor * (100 + tip_percent)
      union all
      select p.line, p.day, p.match_key, p.names, b.whole, false, false, p.minor, false, true
      from priced as p
      cross join generate_series(-days, days) as g (step)
      join billed as b on b.day = p.day + g.step and b.currency = p.in_currency and b.direction = p.direction
      where p.minor <> b.amount_minor and app.same_amount(b.amount_minor, p.minor, price_percent)
    ), free as materialized (
      select n.*, row_number() over () as id, x.name, x.payee, x.match_key as entry_key, link.is_linked
      from near as n
      cross join lateral (
        select x.name, x.payee, x.match_key from app.expenses as x where x.id = (n.whole).expense_id offset 0
      ) as x
      cross join lateral (
        select coalesce(bool_or(l.account_id = batch.account_id), false) as is_own,
          count(*) > 0 and batch.account_id is not null as is_linked
        from app.statement_links as k
        cross join lateral (select l.account_id from app.statement_lines as l where l.id = k.line_id offset 0) as l
        where k.payment_id = any ((n.whole).payment_ids)
        offset 0
      ) as link
      where not link.is_own
    ), named as materialized (
      select f.id, one.text as one, other.text as other, one.place < cardinality(f.names) or cardinality(f.names) = 1
        or f.names[1] ~* '^(paypal|klarna)' as counts
      from free as f
      cross join lateral unnest(f.names) with ordinality as one (text, place)
      cross join lateral unnest(array[f.name, f.payee]) as other (text)
      where other.text is not null
    ), words as materialized (
      select t.text, app.descriptor_words(t.text) as words
      from (select n.one as text from named as n union select n.other from named as n) as t
    ), agreeing as materialized (
      select c.one, c.other, app.compare_names(a.words, b.words) as agree
      from (select distinct n.one, n.other from named as n) as c
      join words as a on a.text = c.one
      join words as b on b.text = c.other
    ), judged as (
      select f.*, abs(f.day - (f.whole).day) as gap, f.day - (f.whole).day as later, f.names[1] as row_name, a.agree,
        count(*) filter (where a.agree > 1) over (partition by (f.whole).key) as rows_near
      from free as f
      join (
        -- The bank's full text can share words by chance. It counts only if all words agree or no other name identifies
        -- the payee.
        select n.id, max(case when n.counts or a.agree = 3 then a.agree else 0 end) as agree
        from named as n
        join agreeing as a on a.one = n.one and a.other = n.other
        group by n.id
      ) as a on a.id = f.id
    ), tiered as (
      select j.*, case
        -- A date of a bill can't be paid in a closed month.
        when (j.whole).bill_id is not null and app.is_closed(context.organization_id, j.day) then null
        when j.is_linked then case when j.is_exact and j.agree > 1 and j.gap <= 3 then 6 end
        when j.is_unequal then case when j.agree > 1 then 6 end
        when j.is_exact and j.gap = 0 and j.match_key = j.entry_key then 1
        when j.is_exact and j.agree = 3 then 2
        when j.is_exact and j.agree = 2 then 3
        -- A date without an amount takes the only row of a payee that has just this bill.
        when (j.whole).amount_minor is null and j.agree = 3 and j.rows_near = 1 and j.later between -1 and 3
            and not (j.whole).is_frequent and not exists (
              select from app.expenses as x
              where x.organization_id = context.organization_id and x.match_key in (j.match_key, j.entry_key)
                and x.id <> (j.whole).bill_id and x.deleted_at is null
            ) then 4
        when j.is_open and j.agree > 1
          then case when app.same_amount((j.whole).amount_minor, j.minor, estimate_percent) then 4 else 6 end
        when not j.is_exact and not j.is_open and j.agree > 1 or j.is_foreign then 4
        when j.is_exact and j.agree = 1 then 7
        when j.is_exact and not (j.whole).is_frequent and j.later between -1 and 3
            or not j.is_exact and not j.is_open and j.agree = 1 then 8
      end as tier
      from judged as j
    )
    select array_agg(p::app.match_pair order by p.tier, p.line, p.gap, (p.entry).seq)
    from (
      select t.line, t.whole as entry, t.tier, t.gap, t.gap
          -- Banks book on the same or the next working day, and hardly ever before the payment.
          + 10 * case when t.later < 0 then 2 - t.later else (array[0, 0, 1, 1, 3, 4])[t.later + 1] end
          -- Prefer a paid record to a due date.
          + case when (t.whole).bill_id is not null then 200 else 0 end as cost,
        t.day as row_day, t.row_name, t.entry_key as entry_name
      from tiered as t
      where t.tier is not null
    ) as p
  );
end
$$;
comment on function app.find_pairs is
  'Returns the pairs of unmatched rows with entries up to five days before or after. The amounts are equal, close to '
  'an estimate, equal at the day''s exchange rate, or differ by a tip or the new price of a bill. Any amount matches a '
  'date without one.';
