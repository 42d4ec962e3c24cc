-- Judges an import by its draft, before its rows are written.

create or replace function app.draft_effects(import_id text, lines jsonb, at_most int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with drafts as (
      select 'exp_' || r.line as thing, r.draft, r.line
      from jsonb_array_elements_text(lines) with ordinality as l (line, place)
      join app.import_rows as r on r.import_id = draft_effects.import_id and r.line = l.line::int
      where l.place <= at_most
    )
    select app.describe_effects(
      coalesce(array_agg((k.table_name, d.thing, null, k.after, null)::app.kept_row order by d.line, k.table_name),
        '{}'),
      at_most
    )
    from drafts as d
    cross join lateral (
      values
        ('expenses', jsonb_build_object('kind', 'one_off') || jsonb_build_object(
          'name', d.draft -> 'name', 'payee', d.draft -> 'payee', 'category_id', d.draft -> 'category_id',
          'note', d.draft -> 'note', 'tags', d.draft -> 'tags'
        )),
        ('payments', jsonb_build_object(
          'expense_id', d.thing, 'amount_minor', d.draft -> 'amount_minor', 'currency', d.draft -> 'currency',
          'paid_on', d.draft -> 'paid_on', 'direction', d.draft -> 'direction'
        ))
    ) as k (table_name, after)
  ) || jsonb_build_object('effects_count', jsonb_array_length(lines));
end
$$;
comment on function app.draft_effects is
  'Returns the effects of publishing these lines of an import, in the format of app.describe_effects. It describes '
  'the first lines and counts all.';

create or replace function app.judge_import(context app.context, args jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  at_most constant int := 100;
  batch app.import_batches;
  counted jsonb;
begin
  if not args ? 'expected_count' then
    return null;
  end if;
  batch := app.find_import(context, args ->> 'import_id');
  if batch.state <> 'ready' then
    return null;
  end if;
  batch := app.answer_import(context, batch, args);
  if batch.state <> 'ready' then
    return null;
  end if;
  batch := app.refresh_import(context, batch);
  counted := app.count_import(context, batch, args ->> 'on_duplicate');
  if coalesce(batch.read -> 'questions', '[]') <> '[]' or counted #> '{outcomes,asked}' is not null then
    -- The tool asks its questions first.
    return null;
  end if;
  perform app.check_import_expected(batch, counted, args);
  return jsonb_build_object(
    'reasons', app.judge_moved(context, array['import_expenses'], jsonb_build_object(
      'records', jsonb_array_length(counted -> 'new'),
      'acts', jsonb_build_object('log_expenses', jsonb_array_length(counted -> 'new')), 'sums', (
        -- Sum row by row, so that refunds don't offset payments.
        select coalesce(jsonb_object_agg(s.currency, s.minor), '{}')
        from (
          select j.currency, sum(abs(j.amount_minor)) as minor
          from app.judge_import_rows(context, batch, args ->> 'on_duplicate') as j
          where j.outcome = 'new'
          group by j.currency
        ) as s
      )
    )),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(counted -> 'new'), 'totals_by_currency', counted -> 'totals', 'names', '[]'::jsonb
    ),
    'effects', app.draft_effects(batch.id, counted -> 'new', at_most),
    -- Include the rows, because imports with the same totals can differ in names and days.
    'fingerprint', encode(sha256(convert_to(jsonb_build_array(
      counted, batch.account_id, batch.read -> 'rules', batch.read -> 'answers', (
        select string_agg(md5(jsonb_build_array(
          r.line, r.kind, r.item, r.draft, r.error, r.is_skipped, r.match
        )::text), '' order by r.line)
        from app.import_rows as r
        where r.import_id = batch.id
      )
    )::text, 'UTF8')), 'hex')
  );
end
$$;
comment on function app.judge_import is
  'Returns the rules that publishing an import would exceed and the records that it would write, computed from its '
  'staged rows. Null unless the call publishes the import.';

create or replace function app.foresee_import(context app.context, args jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  would jsonb;
  kept text;
begin
  would := app.judge_import(context, args);
  if would is null then
    -- Nothing would be published: the tool answers or asks by itself.
    raise exception using errcode = 'EX003', detail = 'null';
  end if;
  -- The commit applies the answers again.
  raise exception using errcode = 'EX003', detail = would::text;
exception when sqlstate 'EX003' then
  get stacked diagnostics kept = pg_exception_detail;
  return nullif(kept::jsonb, 'null');
end
$$;
comment on function app.foresee_import is
  'Returns the result of app.judge_import and rolls back all writes of the call.';
