-- Corrections by a person are stored with the import and applied again whenever its rows are read or matched.

create or replace function app.correct_import_rows(batch app.import_batches, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
declare
  skipped constant int[] := array(
    select s::int from jsonb_array_elements_text(coalesce(batch.read -> 'skip_lines', '[]')) as s
  );
begin
  update app.import_rows as r set is_skipped = r.line = any (skipped)
  where r.import_id = batch.id and r.line between first and last and r.is_skipped <> (r.line = any (skipped));
  update app.import_rows as r
  set item = corrected.item, draft = null, match = null,
    error = case when not corrected.item ?& array['name', 'amount', 'date'] then r.error end
  from jsonb_each(coalesce(batch.read -> 'corrections', '{}')) as c (line, correction)
  join app.import_rows as given on given.import_id = batch.id and given.line = c.line::int
  cross join lateral (
    select given.item - case when c.correction ?| array['amount', 'currency'] then 'charged' else '' end
      -- Keep the row as the bank wrote it, which identifies its line.
      || jsonb_build_object('as_read', coalesce(given.item -> 'as_read', given.item)) || c.correction as item
  ) as corrected
  where r.import_id = batch.id and r.line = given.line and r.line between first and last;
end
$$;
comment on function app.correct_import_rows is
  'Skips and corrects rows as requested. An unreadable row becomes readable once it has a name, amount and date.';

create or replace function app.apply_import_rules(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  if coalesce(batch.read -> 'rules', '[]') = '[]' then
    return;
  end if;
  update app.import_rows as r
  set draft = r.draft || jsonb_build_object('category_id', chosen.category_id, 'category_source', 'payee_rule')
  from app.import_rows as given
  cross join lateral (
    select app.payee_words(given.draft ->> 'payee') || ' ' as payee,
      app.payee_words(given.draft ->> 'name') || ' ' as name
    offset 0
  ) as by
  cross join lateral (
    select c.id as category_id
    from jsonb_array_elements(batch.read -> 'rules') as rule
    cross join lateral (select app.payee_words(rule ->> 'payee') || ' ' as words) as w
    join app.categories as c
      on c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(rule ->> 'category'))
    where starts_with(by.payee, w.words) or starts_with(by.name, w.words)
    order by length(w.words) desc, w.words, c.is_private desc
    limit 1
  ) as chosen
  where r.import_id = batch.id and r.line = given.line and given.import_id = batch.id
    and given.line between first and last and given.draft ->> 'category_source' <> 'given';
end
$$;
comment on function app.apply_import_rules is
  'Gives rows the categories of the payee rules that came with their import, unless the file gives a category.';

create or replace function app.settle_match(match jsonb, answer jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return match - array['payment_ids', 'bill_id', 'due_on', 'half_id', 'remembered']
    || jsonb_build_object('answer', answer) || coalesce(
    (
      select '{"state": "linked"}' || c - array['id', 'name', 'date', 'amount', 'currency']
      from jsonb_array_elements(match -> 'candidates') with ordinality as l (c, place)
      where answer = '"same"' and place = 1 or c -> 'id' = answer
      order by place
      limit 1
    ),
    '{"state": "new"}'
    );
end
$$;
comment on function app.settle_match is
  'Returns a match with a person''s answer applied. The candidates stay, so that the answer can change.';

create or replace function app.answer_import_rows(batch app.import_batches, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.import_rows as r set match = app.settle_match(r.match, a.value)
  from jsonb_each(coalesce(batch.read -> 'row_answers', '{}')) as a
  where r.import_id = batch.id and r.line = a.key::int and r.line between first and last
    and r.match ? 'candidates' and app.match_options(r.match) @> a.value;
end
$$;
comment on function app.answer_import_rows is
  'Applies a person''s answers to rows whose question still has that option.';

create or replace function app.match_options(match jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case when jsonb_array_length(match -> 'candidates') = 1 and match #>> '{candidates,0,id}' <> 'transfer'
    then '["same"]'
    else coalesce(jsonb_path_query_array(match, '$.candidates[*].id'), '[]') end || '"new"';
end
$$;
comment on function app.match_options is
  'Returns the possible answers about a likely match: "same" or the id of a candidate, and "new".';
