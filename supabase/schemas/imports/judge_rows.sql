create or replace function app.judge_import_rows(context app.context, batch app.import_batches, on_duplicate text)
returns
  table (line int, outcome text, is_in_books boolean, direction text, amount_minor bigint, currency text)
language plpgsql stable set search_path = '' as $$
declare
  last_closed date;
begin
  select o.closed_through into last_closed from identity.organizations as o where o.id = context.organization_id;
  return query
    select r.line,
      case
        when r.kind not in ('expense', 'refund') then case m.state when 'asked' then 'asked' else 'left_out' end
        when r.is_skipped then 'skipped'
        when r.error is not null then 'bad'
        when (on_duplicate is distinct from 'allow' or m.is_transfer) and m.state <> 'new' then m.state
        when d.paid_on <= last_closed then 'closed'
        else 'new'
      end,
      coalesce(m.state in ('known', 'linked'), false), d.direction, d.amount_minor, d.currency
    from app.import_rows as r
    cross join lateral jsonb_to_record(coalesce(r.draft, '{}'))
      as d (paid_on date, direction text, amount_minor bigint, currency text)
    cross join lateral (
      select case r.match ->> 'state' when 'likely' then 'asked' else r.match ->> 'state' end as state,
        r.match ->> 'state' = 'transfer' or r.match -> 'candidates' @> '[{"state": "transfer"}]' as is_transfer
    ) as m
    where r.import_id = batch.id;
end
$$;
comment on function app.judge_import_rows is
  'What becomes of each row: left_out, skipped, bad, known (a line that was imported before, or repeats the books), '
  'linked to what it pays, transfer (between own accounts), asked, closed (in a month that is), or new, which is '
  'written.';

create or replace function app.count_import(context app.context, batch app.import_batches, on_duplicate text)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with judged as materialized (
      select * from app.judge_import_rows(context, batch, on_duplicate)
    )
    select jsonb_build_object(
      'outcomes',
      (select coalesce(jsonb_object_agg(o.outcome, o.count), '{}')
        from (select j.outcome, count(*) as count from judged as j group by j.outcome) as o),
      'totals', (
        select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}')
        from (
          select j.currency, sum(case j.direction when 'out' then j.amount_minor else -j.amount_minor end) as net
          from judged as j
          where j.outcome = 'new'
          group by j.currency
        ) as s
      ),
      'new', (select coalesce(jsonb_agg(j.line order by j.line), '[]') from judged as j where j.outcome = 'new'),
      'in_books', (
        select coalesce(jsonb_agg(b.line order by b.line), '[]')
        from (select j.line from judged as j where j.is_in_books order by j.line limit 100) as b
      ),
      'in_books_count', (select count(*) from judged as j where j.is_in_books),
      -- The first of each, to be listed.
      'listed', (
        select coalesce(jsonb_object_agg(l.outcome, l.lines), '{}')
        from (
          select p.outcome, jsonb_agg(p.line order by p.line) as lines
          from (
            select j.outcome, j.line, row_number() over (partition by j.outcome order by j.line) as place
            from judged as j
            where j.outcome <> 'left_out'
          ) as p
          where p.place <= 100
          group by p.outcome
        ) as l
      )
    )
  );
end
$$;
comment on function app.count_import is
  'An import by outcomes of its rows: {outcomes: {outcome: count}, totals and new (lines) of what is written, in_books '
  'and in_books_count, listed: {outcome: the first lines}}.';

create or replace function app.import_questions(batch app.import_batches, lines jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(batch.read -> 'questions', '[]') || (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', 'row_' || r.line,
      'about', jsonb_build_object(
        'line', r.line, 'date', coalesce(r.draft -> 'paid_on', r.item -> 'date'),
        'name', coalesce(r.draft -> 'name', r.item -> 'name'),
        'payee', r.draft -> 'payee', 'kind', case when r.kind not in ('expense', 'refund') then r.kind end,
        'amount', app.format_amount(
          coalesce((r.draft ->> 'amount_minor')::bigint,
            app.statement_minor(r.item ->> 'amount', r.item ->> 'currency'))::numeric,
          coalesce(r.draft ->> 'currency', r.item ->> 'currency')
        ),
        'currency', coalesce(r.draft -> 'currency', r.item -> 'currency'), 'candidates', (
          select jsonb_agg(c - array['payment_ids', 'bill_id', 'due_on', 'half_id', 'state'] || case when c ? 'due_on'
            then jsonb_build_object('due_on', c -> 'due_on') else '{}' end)
          from jsonb_array_elements(r.match -> 'candidates') as c
        )
      ),
      'options', app.match_options(r.match), 'default', r.match -> 'default'
    )) order by r.line), '[]')
    from jsonb_array_elements_text(lines) as asked
    join app.import_rows as r on r.import_id = batch.id and r.line = asked::int
  );
end
$$;
comment on function app.import_questions is
  'What is open about a file and about these of its rows: [{id, about, options, default?}].';
