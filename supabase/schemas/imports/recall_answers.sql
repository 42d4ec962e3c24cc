-- Remembers a person's answers about the rows of an account, so that a standing order is not asked about every month.

create or replace function app.list_subjects_of(match jsonb) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select case when c.value ->> 'state' = 'transfer' then 'transfer' else coalesce(c.value ->> 'bill_id', (
      select p.expense_id from app.payments as p
      where p.id = c.value #>> '{payment_ids,0}' and starts_with(p.expense_id, 'bill_')
    )) end
    from jsonb_array_elements(match -> 'candidates') with ordinality as c
    order by c.ordinality
  );
end
$$;
comment on function app.list_subjects_of is
  'Returns the subject of each candidate of a question: transfer, the id of a bill, or null for another record.';

create or replace function app.describe_answer(match jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  subjects text[];
  chosen int;
begin
  if (match ? 'answer') is not true or coalesce(jsonb_array_length(match -> 'candidates'), 0) = 0 then
    return null;
  end if;
  subjects := app.list_subjects_of(match);
  -- A single record says nothing about the next month.
  if array_position(subjects, null) is not null then
    return null;
  end if;
  chosen := (
    select min(c.ordinality) from jsonb_array_elements(match -> 'candidates') with ordinality as c
    where match -> 'answer' in ('"same"', c.value -> 'id')
  );
  return jsonb_build_object('of', subjects, 'is', coalesce(subjects[chosen], 'new'));
end
$$;
comment on function app.describe_answer is
  'Returns a person''s answer about a row for later rows like it: {of: the subjects of the question, is: one of them '
  'or new}; null without an answer, and for a question about a single record.';

create or replace function app.recall_answers(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' set enable_nestloop = 'off' as $$
declare
  percent constant int := 30;
  -- Ignore earlier lines with the same words.
  most constant int := 50;
  question constant jsonb := '{"state":"likely","candidates":[{"id":"transfer","state":"transfer"}]}';
  transfers constant text[] := array(
    select l.id from app.statement_lines as l
    where l.account_id = batch.account_id and l.organization_id = batch.organization_id
      and (l.answered ->> 'is' = 'transfer' or l.other_half_id is not null or l.id in (
        select o.other_half_id from app.statement_lines as o
        where o.organization_id = batch.organization_id and o.other_half_id is not null
      ))
  );
  days constant text[] := array(
    select distinct coalesce(r.draft ->> 'paid_on', r.item ->> 'date') from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last
      and (r.match ->> 'state' = 'likely' or r.match is null and transfers <> '{}')
  );
begin
  if days = '{}' or batch.account_id is null then
    return;
  end if;
  update app.import_rows as r
  set match = case when w.is_doubtful then w.match
    else app.settle_match(w.match, w.answer) || '{"remembered": true}' end
  from (
    with asked as materialized (
      select s.line, s.match is null as is_open, q.match, s.direction, s.currency, s.amount_minor,
        app.list_subjects_of(q.match) as subjects, app.without_months(app.descriptor_words(s.text)) as words
      from app.statement_rows(context, batch, days) as s
      cross join lateral (select coalesce(s.match, question) as match) as q
      where s.line between first and last and q.match ->> 'state' = 'likely' and not s.is_skipped
        and (s.match is not null or s.kind = 'income' or s.draft is not null and s.kind in ('expense', 'refund'))
    ), answered as materialized (
      select d.*, row_number() over (
          partition by d.words, d.direction, d.currency order by d.booked_on desc, d.id desc
      ) as place
      from (
        select l.direction, l.currency, l.amount_minor, l.booked_on, l.id,
          case when t.id is null then l.answered ->> 'is' else 'transfer' end as answer,
          array(select jsonb_array_elements_text(l.answered -> 'of')) || case when t.id is not null then 'transfer' end
            as subjects,
          app.without_months(app.descriptor_words(l.text)) as words
        from app.statement_lines as l
        left join unnest(transfers) as t (id) on t.id = l.id
        where l.account_id = batch.account_id and l.organization_id = batch.organization_id
          and (l.answered is not null or t.id is not null)
      ) as d
    ), latest as materialized (
      select distinct on (a.line) a.*, p.answer, p.amount_minor as answered_minor, p.booked_on, p.id
      from asked as a
      join answered as p on p.words = a.words and p.direction = a.direction and p.currency = a.currency
      where p.place <= most and app.same_amount(p.amount_minor, a.amount_minor, percent) and p.subjects @> a.subjects
        and array_position(a.subjects, null) is null
      order by a.line, p.booked_on desc, p.id desc
    ), others as materialized (
      -- Reading words takes the most time, so only those of similar amounts are read.
      select l.direction, l.currency, l.words, max(l.booked_on) as last_on
      from (
        select l.direction, l.currency, l.booked_on, app.without_months(app.descriptor_words(l.text)) as words
        from app.statement_lines as l
        join (
          select a.direction, a.currency, min(a.booked_on) as since,
            min(a.amount_minor) * (100 - percent) / 100 as least,
            max(a.amount_minor) * 100 / (100 - percent) as most
          from latest as a where a.is_open group by a.direction, a.currency
        ) as a on a.direction = l.direction and a.currency = l.currency
        where l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.booked_on > a.since
          and l.amount_minor between a.least and a.most and not l.is_skipped
          and not exists (select from answered as p where p.id = l.id)
      ) as l
      group by l.direction, l.currency, l.words
    )
    select l.line, l.match, case l.answer when 'new' then '"new"'::jsonb
      else l.match -> 'candidates' -> (array_position(l.subjects, l.answer) - 1) -> 'id' end as answer, d.is_doubtful
    from latest as l
    -- A later line with the words of a transfer may be a purchase, or its other half may not be imported yet.
    cross join lateral (
      select l.is_open and exists (
        select from others as o
        where o.words = l.words and o.direction = l.direction and o.currency = l.currency and o.last_on > l.booked_on
      ) as is_doubtful
    ) as d
    where (not l.is_open and l.answer = 'new' or cardinality(array_positions(l.subjects, l.answer)) = 1)
      and not (d.is_doubtful and l.answered_minor <> l.amount_minor)
      -- Two rows can't be the other half of one line, or pay one date.
      and not exists (
        select from asked as o
        cross join lateral jsonb_array_elements(o.match -> 'candidates') as theirs
        cross join lateral jsonb_array_elements(l.match -> 'candidates') as ours
        where not l.is_open and not o.is_open and o.line <> l.line and theirs - 'state' = ours - 'state'
          and ours ?| array['half_id', 'payment_ids', 'due_on']
      )
  ) as w
  where r.import_id = batch.id and r.line = w.line;
end
$$;
comment on function app.recall_answers is
  'Answers a question about a row with a person''s last answer to the same question, for a line of the account with '
  'the same words and a similar amount. A row without a question is a transfer if the latest such line was one, and a '
  'question if an undecided line of the same amount followed.';

create or replace function app.warn_of_recalled(batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 10;
begin
  return (
    select case when count(*) = 0 then '[]'::jsonb else jsonb_build_array(app.warning('answers_recalled',
      jsonb_build_object('count', count(*), 'rows', jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'line', r.line, 'name', coalesce(r.draft -> 'name', r.item -> 'name'), 'as', r.state, 'of', (
          select e.name from app.expenses as e where e.id = r.bill_id
        )
      )) order by r.line) filter (where r.place <= most))
    )) end
    from (
      select i.*, i.match ->> 'state' as state, coalesce(i.match ->> 'bill_id', (
        select p.expense_id from app.payments as p where p.id = i.match #>> '{payment_ids,0}'
      )) as bill_id, row_number() over (order by i.line) as place
      from app.import_rows as i
      where i.import_id = batch.id and i.match ? 'remembered' and not i.is_skipped
    ) as r
  );
end
$$;
comment on function app.warn_of_recalled is
  'Warns of rows that earlier answers decide: {count, rows: the first {line, name, as: new, transfer or linked, of?: '
  'the bill}}.';
