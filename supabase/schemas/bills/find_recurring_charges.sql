-- Finds recurring charges that belong to no bill.

create or replace function app.find_rhythm(gap int) returns text
language sql immutable
  -- Weekends and holidays move a charge by a few days.
  return case
    when gap between 6 and 8 then 'weekly/1'
    when gap between 13 and 15 then 'weekly/2'
    when gap between 26 and 35 then 'monthly/1'
    when gap between 57 and 66 then 'monthly/2'
    when gap between 86 and 97 then 'monthly/3'
    when gap between 176 and 189 then 'monthly/6'
    when gap between 356 and 374 then 'yearly/1'
  end;
comment on function app.find_rhythm is
  'Returns the frequency and interval of two charges this many days apart, such as "monthly/3"; null for none.';

create or replace function app.find_recurring_charges(context app.context, since date)
  returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' set jit = 'off' set work_mem = '32MB' as $$
declare
  -- The period contains two yearly charges, even if the second is a month old.
  kept_days constant int := 420;
  -- Limits the run time for large organizations, at the cost of their oldest days.
  most_rows constant int := 50000;
  most_monthly constant int := 17;
  most_proofs constant int := 12;
  no_bills constant text[] := array(select app.list_no_bills());
begin
  return query
    with paid as materialized (
      select p.id, p.amount_minor as minor, p.currency, p.paid_on, p.recorded_seq, coalesce(e.payee, e.name) as text
      from (
        select p.* from app.payments as p
        where p.organization_id = context.organization_id and p.deleted_at is null and p.direction = 'out'
          and p.occurrence_id is null and p.split_id is null
          and p.paid_on between context.today - kept_days and context.today
        order by p.paid_on desc, p.recorded_seq desc
        limit most_rows
      ) as p
      cross join lateral (select x.name, x.payee from app.expenses as x where x.id = p.expense_id offset 0) as e
    ), spelled as materialized (
      select t.text, t.words, dense_rank() over (order by array_to_string(t.words, ' ') collate "C")::int as key
      from (
        select d.text, app.without_months(app.descriptor_words(d.text)) as words
        from (select distinct p.text from paid as p) as d
        -- Without offset, each use of the words would compute them again.
        offset 0
      ) as t
      where t.words <> '{}'
    ), charges as materialized (
      -- Charges with the same amount and day, such as those of two tickets, count once.
      select n.key, p.currency, p.minor, p.paid_on, min(p.recorded_seq) as seq, min(p.id) as id
      from paid as p
      join spelled as n on n.text = p.text
      group by n.key, p.currency, p.minor, p.paid_on
    ), steps as materialized (
      -- Each charge belongs to the stream of its payee and amount, and to the stream of its payee (amount 0). Only
      -- streams that can recur are sorted: most amounts occur once, and most shops charge too often.
      select c.*, c.minor as stream, app.find_rhythm(c.paid_on - lag(c.paid_on) over near) as rhythm
      from charges as c
      join (
        select c.key, c.currency, c.minor from charges as c group by c.key, c.currency, c.minor having count(*) > 1
      ) as k on k.key = c.key and k.currency = c.currency and k.minor = c.minor
      window near as (partition by c.key, c.currency, c.minor order by c.paid_on)
      union all
      select c.*, 0, app.find_rhythm(c.paid_on - lag(c.paid_on) over near)
      from charges as c
      join (
        select c.key, c.currency from charges as c group by c.key, c.currency
        having count(*) between 2 and most_monthly and (max(c.minor) <= 3 * min(c.minor)
          or count(*) > 2 and max(c.minor) * (count(*) - 1) <= 1.25 * (sum(c.minor) - min(c.minor)))
      ) as k on k.key = c.key and k.currency = c.currency
      window near as (partition by c.key, c.currency order by c.paid_on, c.seq)
    ), placed as materialized (
      select s.*, row_number() over latest as place, first_value(s.rhythm) over latest as last_rhythm
      from steps as s
      window latest as (partition by s.key, s.currency, s.stream order by s.paid_on desc, s.seq desc)
    ), runs as materialized (
      -- The first charge of a run has a different gap before it, or none.
      select p.*, split_part(p.last_rhythm, '/', 1) as frequency, split_part(p.last_rhythm, '/', 2)::int as every,
        count(*) over stream as count,
        min(p.place) filter (where p.rhythm is distinct from p.last_rhythm) over stream as length
      from placed as p
      where p.last_rhythm is not null
      window stream as (partition by p.key, p.currency, p.stream)
    ), recurring as materialized (
      select r.key, r.currency, r.stream, r.frequency, r.every, r.length,
        min(r.paid_on) as first_on, max(r.paid_on) as last_on, min(r.minor) as least,
        max(r.minor) as most, array_agg(r.id order by r.place) as ids,
        (array_agg(r.minor order by r.place))[1] as minor,
        mode() within group (order by extract(day from r.paid_on)::int) as day
      from runs as r
      where r.place <= r.length and r.length >= case r.frequency when 'yearly' then 2 when 'weekly' then 4 else 3 end
        -- Shopping recurs, too, so differing amounts count only if the payee has no other charges.
        and (r.stream > 0 or r.length = r.count and r.frequency <> 'weekly')
      group by r.key, r.currency, r.stream, r.frequency, r.every, r.length
      having max(r.paid_on) >= greatest(since, context.today - 10
          - r.every * case r.frequency when 'weekly' then 7 when 'monthly' then 31 else 366 end)
        and (r.stream > 0
          or max(r.minor) <= min(r.minor) * case r.frequency when 'yearly' then 1.25 else 3 end
          -- The first charge may be that of a trial.
          or r.length > 2 and max(r.minor) <= 1.25 * min(r.minor) filter (where r.place < r.length))
    ), texts as materialized (
      select t.key, s.words, bool_or(app.is_cash_withdrawal(s.text) or exists (
          select from unnest(no_bills) as words where starts_with(app.payee_words(s.text) || ' ', words || ' ')
      )) as is_no_bill
      from (select distinct r.key from recurring as r) as t
      join spelled as s on s.key = t.key
      group by t.key, s.words
    ), found as materialized (
      select r.*, row_number() over () as no, t.words, e.name, e.payee, e.category_id
      from recurring as r
      join texts as t on t.key = r.key and not t.is_no_bill
      cross join lateral (
        select x.payee, x.category_id,
          -- A purpose such as "Subscription" does not name the payee.
          case when x.payee is not null and app.compare_names(
              app.descriptor_words(x.name), app.descriptor_words(x.payee)) = 0
            then left(x.payee || ' (' || app.rhythm_name(x.name) || ')', 120) else x.name end as name
        from app.payments as p
        join app.expenses as x on x.id = p.expense_id
        where p.id = r.ids[1] offset 0
      ) as e
      -- The payee of a cash withdrawal may be the bank.
      where not exists (
        select from unnest(r.ids[:most_proofs]) as i (id)
        join app.payments as p on p.id = i.id
        join app.expenses as x on x.id = p.expense_id
        left join app.statement_links as k on k.payment_id = p.id
        left join app.statement_lines as l on l.id = k.line_id
        where app.is_cash_withdrawal(x.name) or app.is_cash_withdrawal(l.text)
      )
    ), bills as materialized (
      select b.amount_mode, b.amount_minor as minor, b.currency, b.frequency, b.every,
        b.status in ('cancelled', 'ended') or coalesce(b.ends_on < context.today, false) as is_over, w.words
      from app.expenses as b
      cross join lateral (values (b.name), (b.payee)) as t (text)
      cross join lateral (select app.descriptor_words(t.text) as words) as w
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and t.text is not null and (b.frequency <> 'once' or b.status in ('active', 'paused'))
        and exists (select from found)
    ), covered as materialized (
      select k.no
      from (
        -- Names that agree have words with the same first letter. Checking this first avoids most of the slow
        -- comparisons.
        select distinct f.no, f.words, b.words as bill_words
        from (select distinct f.no, left(w, 1) as letter from found as f cross join unnest(f.words) as w) as l
        join (
          select distinct b.*, left(w, 1) as letter from bills as b cross join unnest(b.words) as w
        ) as b on b.letter = l.letter
        join found as f on f.no = l.no
        -- app.find_charged_after_end reports charges after the end of a bill.
        where case when b.is_over then b.currency = f.currency
              and (b.amount_mode <> 'fixed' or app.same_amount(b.minor, f.minor, 30))
            else f.stream = 0 or b.amount_mode <> 'fixed' or b.currency <> f.currency
              or app.same_amount(b.minor, f.minor, 30) end
      ) as k
      where app.compare_names(k.bill_words, k.words) >= 2
      union
      select f.no
      from found as f
      join bills as b on b.minor = f.minor and b.currency = f.currency and b.frequency = f.frequency
        and b.every = f.every
      where not b.is_over
    )
    select f.last_on, jsonb_build_object(
      'name', app.rhythm_name(f.name), 'payee', f.payee,
      'amount', app.format_amount(f.minor, f.currency), 'currency', f.currency,
      'lowest', case when f.least < f.most then app.format_amount(f.least, f.currency) end,
      'highest', case when f.least < f.most then app.format_amount(f.most, f.currency) end,
      'frequency', f.frequency, 'every', f.every, 'charges', f.length, 'first_on', f.first_on, 'last_on', f.last_on,
      'next_on', case when n.next_on >= context.today then n.next_on end,
      'category', (select c.name from app.categories as c where c.id = f.category_id),
      'ids', array(select app.shown_id(i) from unnest(f.ids[:most_proofs]) as i)
    )
    from found as f
    -- A charge due on the 31st is booked in the next month if the 31st falls on a weekend.
    cross join lateral (
      select date_trunc('month', f.last_on) + make_interval(months => f.every + case
        when f.day - extract(day from f.last_on) > 15 then -1 when extract(day from f.last_on) - f.day > 15 then 1
        else 0 end) as month
    ) as m
    cross join lateral (
      select case f.frequency
        when 'weekly' then f.last_on + 7 * f.every
        when 'yearly' then (f.last_on + interval '1 year')::date
        else m.month::date - 1 + least(f.day, extract(day from m.month + interval '1 month - 1 day')::int)
      end as next_on
    ) as n
    where not (f.stream = 0 and exists (
        select from found as o where o.key = f.key and o.currency = f.currency and o.stream > 0
    ))
      and not exists (select from covered as k where k.no = f.no);
end
$$;
comment on function app.find_recurring_charges is
  'Returns payments without a bill that recur weekly to yearly, with the latest one since a day. A payee needs at '
  'least three of them in one currency (four weekly ones, two yearly ones). Differing amounts count only if the payee '
  'has no other charges. Excludes cash, charges that match a bill''s name or an active bill''s amount, and payees with '
  'a no_bill rule. Reads at most the latest 50,000 charges.';
