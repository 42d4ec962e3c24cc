create or replace function app.statement_rows(context app.context, batch app.import_batches, days text[] default null)
returns
  table (line int, kind text, booked_on date, text text, direction text, amount_minor bigint, currency text, nth bigint,
  is_skipped boolean, match jsonb, draft jsonb)
language plpgsql stable set search_path = '' as $$
#variable_conflict use_column
declare
  home constant text := coalesce(
    batch.read ->> 'default_currency', app.account_currency(context, batch.account_id), context.base_currency
  );
  -- The day for rows without a readable one.
  last_day constant text := case when days is null then (
    select max(coalesce(r.draft ->> 'paid_on', substring(r.item ->> 'date' from '^\d{4}-\d\d-\d\d$')))
    from app.import_rows as r
    where r.import_id = batch.id
  ) end;
begin
  return query
    with staged as (
      select r.line, r.kind, r.is_skipped, r.match, r.draft, r.error is not null as is_bad,
        coalesce(
          substring(b.item ->> 'date' from '^\d{4}-\d\d-\d\d$'), r.draft ->> 'paid_on',
          case when r.error is not null then last_day end
        ) as day,
        left(coalesce(nullif(b.item ->> 'text', ''), b.item ->> 'name', r.kind), 500) as text,
        -- The line has the amount charged to the account, not the price in another currency.
        case when b.item #> '{charged,amount}' is not null then b.item -> 'charged' else b.item end as money,
        coalesce(
          case b.item ->> 'direction' when 'out' then 'out' when 'in' then 'refund' end,
          case r.kind when 'refund' then 'refund' end, 'out'
        ) as direction
      from app.import_rows as r
      -- The line keeps the bank's text, even after a correction.
      cross join lateral (select coalesce(r.item -> 'as_read', r.item) as item) as b
      where r.import_id = batch.id
        and (days is null or coalesce(r.draft ->> 'paid_on', r.item ->> 'date') = any (days))
    ), named as (
      select s.*, case when c.code ~ '^[A-Z]{3}$' then c.code else app.currency_of_sign(c.code, home) end as currency
      from staged as s
      cross join lateral (
        select coalesce(nullif(s.money ->> 'currency', ''), s.draft ->> 'currency', home) as code
      ) as c
    ), valued as (
      select n.*, coalesce(
        case when n.money ->> 'amount' ~ '^\d{1,12}(\.\d{1,4})?$'
          then trunc((n.money ->> 'amount')::numeric * 10::numeric ^ c.exponent)::bigint end,
        (n.draft ->> 'amount_minor')::bigint, case when n.is_bad then 0 end
      ) as amount_minor
      from named as n
      join app.currencies as c on c.code = n.currency
    )
    select v.line,
      -- A half of a transfer keeps its kind, because an undo may delete the other half.
      case when v.match ->> 'state' = 'transfer' and not v.match ? 'half_id'
          and v.kind in ('expense', 'refund', 'income') then 'own_transfer'
        when v.is_bad and v.amount_minor = 0 then 'unreadable'
          else v.kind end, v.day::date, v.text, v.direction, v.amount_minor, v.currency,
      row_number() over (
        partition by v.day, v.amount_minor, v.currency, v.direction, v.text order by v.line
      ),
      v.is_skipped, v.match, v.draft
    from valued as v
    where v.day is not null and v.amount_minor <= 1000000000000000
      -- Skip unreadable rows with a zero amount, because no money moved.
      and (not v.is_bad or v.money ->> 'amount' ~ '[1-9]' or not v.money ? 'amount');
end
$$;
comment on function app.statement_rows is
  'Returns the rows of an import, for some days or all, as lines of its account. Equal lines of a day are numbered. A '
  'row without a readable amount is unreadable, and one without a day gets the file''s last day.';

create or replace function app.match_known_rows(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan'
  set enable_nestloop = 'off' as $$
declare
  days constant text[] := array(
    select distinct coalesce(r.draft ->> 'paid_on', r.item ->> 'date') from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last
      and (r.draft is not null or r.kind = 'income' and r.item ->> 'date' ~ '^\d{4}-\d\d-\d\d$')
  );
begin
  update app.import_rows as r
  -- A row of income keeps only its line, since it has no payment to show.
  set match = jsonb_build_object('line_id', found.id) || case
    when r.draft is null and not found.is_transfer then '{}'
    else jsonb_build_object('state', case when found.is_transfer then 'transfer' else 'known' end, 'payment_ids', array(
      select k.payment_id from app.statement_links as k join app.payments as p on p.id = k.payment_id
      where k.line_id = found.id and p.deleted_at is null
    ))
  end
  from (
    select s.line, l.id, l.kind = 'own_transfer' or l.other_half_id is not null or exists (
        select from app.statement_lines as o where o.other_half_id = l.id
    ) as is_transfer,
      row_number() over (partition by s.line order by l.text = s.text desc, l.nth = s.nth desc, l.nth, l.id)
        as choice,
      row_number() over (partition by l.id order by l.text = s.text desc, l.nth = s.nth desc, s.line)
        as turn
    from app.statement_rows(context, batch, days) as s
    join (
      select k.* from app.list_known_lines(
        batch.account_id, (select min(d::date) from unnest(days) as d), (select max(d::date) from unnest(days) as d)
      ) as k
      offset 0
    ) as l on l.booked_on = s.booked_on and l.amount_minor = s.amount_minor and l.currency = s.currency
      and l.direction = s.direction
    where l.text = s.text and l.nth = s.nth
      -- Another export of the bank may word the line differently.
      or l.text <> s.text and app.compare_names(app.descriptor_words(l.text), app.descriptor_words(s.text)) > 1
  ) as found
  where r.import_id = batch.id and r.line = found.line and r.line between first and last
    and (r.draft is not null or r.kind = 'income' and r.item ->> 'date' ~ '^\d{4}-\d\d-\d\d$')
    and not r.is_skipped and r.match is null and found.choice = 1 and found.turn = 1;
end
$$;
comment on function app.match_known_rows is
  'Marks rows that an earlier commit stored as lines. Such a line has the same account, day, amount, text and number '
  'among equal lines. A line of that day with a similar text also counts.';
