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
        when r.kind not in ('expense', 'refund') then
          case when m.state = 'asked' or r.kind = 'income' and m.state = 'transfer' then m.state else 'left_out' end
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
      select case when r.match ->> 'state' = 'likely' then 'asked'
          when r.match ->> 'state' = 'linked' and r.match ? 'bill_id' then 'pays'
          else r.match ->> 'state' end as state,
        r.match ->> 'state' = 'transfer' or r.match -> 'candidates' @> '[{"state": "transfer"}]' as is_transfer
    ) as m
    where r.import_id = batch.id;
end
$$;
comment on function app.judge_import_rows is
  'Returns the outcome of each row: left_out, skipped, bad, known (imported before, or a duplicate), linked to a '
  'record, pays (an open due date), transfer (between own accounts), asked, closed (in a closed month), or new. New '
  'rows are written.';

create or replace function app.list_effects(context app.context, batch app.import_batches)
returns
  table (line int, effect text, id text, name text, on_day date, before_minor bigint, after_minor bigint, currency text)
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  return query
    -- Look up laterally, because joins would read the records of all organizations.
    select r.line, 'pays', e.id, e.name, o.due_on, 0::bigint, case e.currency
        when r.draft ->> 'currency' then (r.draft ->> 'amount_minor')::bigint
        when r.item #>> '{charged,currency}'
          then app.statement_minor(r.item #>> '{charged,amount}', r.item #>> '{charged,currency}')
        else o.expected_minor - o.paid_minor
      end, e.currency
    from app.import_rows as r
    cross join lateral (select b.* from app.expenses as b where b.id = r.match ->> 'bill_id' offset 0) as e
    cross join lateral (
      select d.* from app.expense_occurrences as d
      where d.expense_id = e.id and d.due_on = (r.match ->> 'due_on')::date
      limit 1
    ) as o
    where r.import_id = batch.id and r.match ->> 'state' = 'linked' and r.match ? 'bill_id' and not r.is_skipped
    union all
    select s.line, 'corrects', app.shown_id(p.id), e.name, p.paid_on, p.amount_minor, s.minor, p.currency
    from (
      select r.line, r.match,
        coalesce(r.item #>> '{charged,currency}', r.draft ->> 'currency') as currency,
        coalesce(app.statement_minor(r.item #>> '{charged,amount}', r.item #>> '{charged,currency}'),
          (r.draft ->> 'amount_minor')::bigint) as minor
      from app.import_rows as r
      where r.import_id = batch.id and r.match ->> 'state' = 'linked' and not r.is_skipped
        and jsonb_array_length(r.match -> 'payment_ids') = 1
    ) as s
    cross join lateral (
      select q.* from app.payments as q
      where q.id = s.match #>> '{payment_ids,0}' and (q.is_estimate or s.match ? 'answer' and q.occurrence_id is null)
      offset 0
    ) as p
    cross join lateral (select b.name from app.expenses as b where b.id = p.expense_id offset 0) as e
    where p.currency = s.currency and p.amount_minor <> s.minor
      and (p.occurrence_id is null or p.amount_minor = (
        select d.paid_minor from app.expense_occurrences as d where d.id = p.occurrence_id
      ))
      and not app.is_closed(context.organization_id, p.paid_on)
    union all
    select r.line, 'removes', app.shown_id(p.id), e.name, p.paid_on,
      case p.direction when 'out' then p.amount_minor else -p.amount_minor end, 0::bigint, p.currency
    from app.import_rows as r
    cross join lateral (select o.* from app.payments as o where o.id = r.match #>> '{payment_ids,0}' offset 0) as p
    cross join lateral (select b.name from app.expenses as b where b.id = p.expense_id offset 0) as e
    where r.import_id = batch.id and r.match ->> 'state' = 'transfer' and r.match ? 'half_id';
end
$$;
comment on function app.list_effects is
  'Returns the effects of a commit besides new expenses. It pays due dates of bills, corrects estimates and amounts '
  'entered without a tip, and removes expenses that turn out to be transfers.';

create or replace function app.count_import(context app.context, batch app.import_batches, on_duplicate text,
  after int default 0) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  page_rows constant int := 50;
  most constant int := 100;
begin
  return (
    with judged as materialized (
      select * from app.judge_import_rows(context, batch, on_duplicate)
    ), effects as materialized (
      select e.*
      from app.list_effects(context, batch) as e
      join judged as j on j.line = e.line and j.outcome <> 'new'
    )
    select jsonb_build_object(
      'outcomes',
      (select coalesce(jsonb_object_agg(o.outcome, o.count), '{}')
        from (select j.outcome, count(*) as count from judged as j group by j.outcome) as o),
      'totals', (
        select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}')
        from (
          select w.currency, sum(w.net) as net
          from (
            select j.currency, case j.direction when 'out' then j.amount_minor else -j.amount_minor end as net
            from judged as j
            where j.outcome = 'new'
            union all
            select e.currency, e.after_minor - e.before_minor from effects as e
          ) as w
          group by w.currency
        ) as s
      ),
      'effects', (
        select coalesce(jsonb_object_agg(g.effect, g.list), '{}')
        from (
          select e.effect, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'line', e.line, case e.effect when 'pays' then 'bill_id' else 'id' end, e.id, 'name', e.name,
            case e.effect when 'pays' then 'due_on' else 'date' end, e.on_day,
            'amount',
            app.format_amount(case e.effect when 'removes' then e.before_minor else e.after_minor end, e.currency),
            'was', case e.effect when 'corrects' then app.format_amount(e.before_minor, e.currency) end,
            'currency', e.currency
          )) order by e.line) as list
          from effects as e
          group by e.effect
        ) as g
      ),
      'new', (select coalesce(jsonb_agg(j.line order by j.line), '[]') from judged as j where j.outcome = 'new'),
      'in_books', (
        select coalesce(jsonb_agg(b.line order by b.line), '[]')
        from (select j.line from judged as j where j.is_in_books order by j.line limit most) as b
      ),
      'in_books_count', (select count(*) from judged as j where j.is_in_books),
      'page', (
        select coalesce(jsonb_agg(jsonb_build_array(p.line, p.outcome) order by p.line), '[]')
        from (
          select j.line, j.outcome from judged as j where j.line > count_import.after order by j.line limit page_rows
        ) as p
      ),
      'last_line', (select max(j.line) from judged as j),
      'listed', (
        select coalesce(jsonb_object_agg(l.outcome, l.lines), '{}')
        from (
          select p.outcome, jsonb_agg(p.line order by p.line) as lines
          from (
            select j.outcome, j.line, row_number() over (partition by j.outcome order by j.line) as place
            from judged as j
            where j.outcome <> 'left_out'
          ) as p
          where p.place <= most
          group by p.outcome
        ) as l
      )
    )
  );
end
$$;
comment on function app.count_import is
  'Counts an import by the outcomes of its rows: {outcomes: {outcome: count}, totals of all written rows, effects (see '
  'app.list_effects), new (lines), in_books and in_books_count, page (outcomes of the next lines), last_line, listed: '
  '{outcome: first lines}}.';

create or replace function app.import_questions(batch app.import_batches, lines jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(batch.read -> 'questions', '[]') || (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', 'row_' || r.line,
      'about', jsonb_build_object(
        'line', r.line, 'date', coalesce(r.draft -> 'paid_on', r.item -> 'date'),
        'name', coalesce(r.draft -> 'name', r.item -> 'name'),
        'payee', r.draft -> 'payee', 'kind', case when r.kind <> 'expense' then r.kind end,
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
  'Returns the open questions about a file and about these rows: [{id, about, options, default?}].';
