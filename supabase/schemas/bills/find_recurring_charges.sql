-- Finds recurring charges that belong to no bill, and bills whose charges stopped.

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
  'Returns the frequency and interval of two charges so many days apart, such as "monthly/3"; null for none.';

create or replace function app.find_recurring_charges(context app.context, since date)
  returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' set jit = 'off' as $$
declare
  -- The period contains two yearly charges, even if the second is a month old.
  kept_days constant int := 420;
begin
  return query
    with paid as materialized (
      select p.id, p.amount_minor, p.currency, p.paid_on, p.recorded_seq, e.name, e.category_id,
        coalesce(e.payee, e.name) as text
      from app.payments as p
      cross join lateral (
        select x.name, x.payee, x.category_id from app.expenses as x where x.id = p.expense_id offset 0
      ) as e
      where p.organization_id = context.organization_id and p.deleted_at is null and p.direction = 'out'
        and p.occurrence_id is null and p.split_id is null
        and p.paid_on between context.today - kept_days and context.today
    ), spelled as materialized (
      select t.text, app.descriptor_words(t.text) as words, app.payee_words(t.text) || ' ' as plain
      from (select distinct p.text from paid as p) as t
    ), named as materialized (
      select s.*, array_to_string(s.words, ' ') collate "C" as key
      from spelled as s
      where s.words <> '{}' and not app.is_cash_withdrawal(s.text) and not exists (
        select from app.payee_rules as r
        where r.organization_id = context.organization_id and r.category_id is null and r.deleted_at is null
          and starts_with(s.plain, r.words || ' ')
      )
    ), charges as materialized (
      -- Charges with the same amount and day, such as those of two tickets, count once.
      select distinct on (n.key, p.currency, p.amount_minor, p.paid_on) p.*, n.key
      from paid as p
      join named as n on n.text = p.text
      order by n.key, p.currency, p.amount_minor, p.paid_on, p.recorded_seq
    ), steps as materialized (
      -- Each charge belongs to the stream of its payee and amount, and to the stream of its payee (amount 0).
      select c.*, c.amount_minor as stream, app.find_rhythm(c.paid_on - lag(c.paid_on) over near) as rhythm
      from charges as c
      window near as (partition by c.key, c.currency, c.amount_minor order by c.paid_on)
      union all
      select c.*, 0, app.find_rhythm(c.paid_on - lag(c.paid_on) over near)
      from charges as c
      window near as (partition by c.key, c.currency order by c.paid_on, c.recorded_seq)
    ), placed as materialized (
      select s.*, row_number() over latest as place, first_value(s.rhythm) over latest as last_rhythm
      from steps as s
      window latest as (partition by s.key, s.currency, s.stream order by s.paid_on desc, s.recorded_seq desc)
    ), runs as materialized (
      -- The first charge of a run has a different gap before it, or none.
      select p.*, split_part(p.last_rhythm, '/', 1) as frequency, split_part(p.last_rhythm, '/', 2)::int as every,
        count(*) over stream as count,
        min(p.place) filter (where p.rhythm is distinct from p.last_rhythm) over stream as length
      from placed as p
      where p.last_rhythm is not null
      window stream as (partition by p.key, p.currency, p.stream)
    ), found as materialized (
      select r.key, r.currency, r.stream, r.frequency, r.every, r.length, string_to_array(r.key, ' ') as words,
        min(r.paid_on) as first_on, max(r.paid_on) as last_on, min(r.amount_minor) as least,
        max(r.amount_minor) as most, array_agg(r.id order by r.place) as ids,
        (array_agg(r.amount_minor order by r.place))[1] as minor, (array_agg(r.name order by r.place))[1] as name,
        (array_agg(r.category_id order by r.place))[1] as category_id,
        mode() within group (order by extract(day from r.paid_on)::int) as day
      from runs as r
      where r.place <= r.length and r.length >= case r.frequency when 'yearly' then 2 when 'weekly' then 4 else 3 end
        -- Shopping also recurs. Differing amounts therefore count only if the payee has no other charges.
        and (r.stream > 0 or r.length = r.count and r.frequency <> 'weekly')
      group by r.key, r.currency, r.stream, r.frequency, r.every, r.length
      having max(r.paid_on) >= greatest(since, context.today - 10
          - r.every * case r.frequency when 'weekly' then 7 when 'monthly' then 31 else 366 end)
        and (r.stream > 0
          or max(r.amount_minor) <= min(r.amount_minor) * case r.frequency when 'yearly' then 1.25 else 3 end)
    ), bills as materialized (
      select b.amount_mode, b.amount_minor, b.currency, b.frequency, b.every, app.descriptor_words(t.text) as words
      from app.expenses as b
      cross join lateral (values (b.name), (b.payee)) as t (text)
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and b.status in ('active', 'paused') and t.text is not null
    )
    select f.last_on, jsonb_build_object(
      'name', f.name, 'amount', app.format_amount(f.minor, f.currency), 'currency', f.currency,
      'lowest', case when f.least < f.most then app.format_amount(f.least, f.currency) end,
      'highest', case when f.least < f.most then app.format_amount(f.most, f.currency) end,
      'frequency', f.frequency, 'every', f.every, 'charges', f.length, 'first_on', f.first_on, 'last_on', f.last_on,
      'next_on', case when n.next_on >= context.today then n.next_on end,
      'category', (select c.name from app.categories as c where c.id = f.category_id),
      'ids', array(select app.shown_id(i) from unnest(f.ids[:12]) as i)
    )
    from found as f
    -- A charge of the 31st is booked in the next month when a weekend follows.
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
      and not exists (
        select from bills as b
        where app.compare_names(b.words, f.words) >= 2
            and (f.stream = 0 or b.amount_mode <> 'fixed' or b.currency <> f.currency
              or app.same_amount(b.amount_minor, f.minor, 30))
          or b.amount_minor = f.minor and b.currency = f.currency and b.frequency = f.frequency
            and b.every = f.every
      );
end
$$;
comment on function app.find_recurring_charges is
  'Returns payments without a bill that recur weekly to yearly, the latest since a day: at least three (four weekly, '
  'two yearly) of one payee and currency. Differing amounts count only if the payee has no other charges. Excludes '
  'cash, charges that match an active bill''s name or amount, and payees with a no_bill rule.';

create or replace function app.find_stopped_charges(context app.context) returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' as $$
declare
  -- A charge may be booked some days early or late.
  days constant int := 10;
begin
  return query
    select o.due_on, jsonb_build_object(
      'bill_id', b.id, 'name', b.name, 'due_on', o.due_on, 'account', a.name, 'statements_to', lines.through
    )
    from (
      select d.expense_id, min(d.due_on) as due_on from app.passed_occurrences(context) as d group by d.expense_id
    ) as o
    join app.expenses as b on b.id = o.expense_id
    cross join lateral (
      select p.id from app.payments as p
      where p.expense_id = b.id and p.deleted_at is null
      order by p.paid_on desc, p.recorded_seq desc limit 1
    ) as latest
    join app.statement_links as k on k.payment_id = latest.id
    join app.statement_lines as l on l.id = k.line_id
    join app.accounts as a on a.id = l.account_id
    cross join lateral (
      select max(n.booked_on) as through,
        bool_or(n.booked_on between o.due_on - days and o.due_on) and
          bool_or(n.booked_on between o.due_on and o.due_on + days) as is_covered,
        bool_or(n.booked_on between o.due_on - days and o.due_on + days and n.direction = 'out' and (
          n.amount_minor = b.amount_minor or app.names_resemble(n.text, null, b.name, b.payee)
        )) as is_charged
      from app.statement_lines as n
      where n.account_id = a.id and n.booked_on >= o.due_on - days
    ) as lines
    where identity.sees_everything() and lines.through >= o.due_on + days and lines.is_covered
      and not coalesce(lines.is_charged, false)
      and not exists (
        select from app.payments as p
        join app.expense_occurrences as x on x.id = p.occurrence_id
        where x.expense_id = b.id and x.due_on = o.due_on and p.deleted_at is null
      );
end
$$;
comment on function app.find_stopped_charges is
  'Returns bills whose latest payment is in an account''s statements, and whose open date has no payment or similar '
  'line in statements that cover it. Returns nothing to people who can''t see every line.';
