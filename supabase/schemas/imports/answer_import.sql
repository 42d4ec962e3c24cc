create or replace function app.read_answers(batch app.import_batches, answers jsonb, out of_file jsonb,
  out of_rows jsonb) returns record
language plpgsql stable set search_path = '' as $$
declare
  id text;
  answer jsonb;
  options jsonb;
begin
  of_file := '{}';
  of_rows := '{}';
  for id, answer in select a.key, a.value from jsonb_each(answers) as a loop
    if id ~ '^row_\d{1,9}$' then
      select app.match_options(r.match) into options from app.import_rows as r
      where r.import_id = batch.id and r.line = substr(id, 5)::int and r.match ? 'candidates';
    else
      options := case id
        when 'negative_is_expense' then '[true, false]'::jsonb
        when 'decimal' then '[".", ","]'
        when 'default_currency' then jsonb_path_query_first(
          batch.read, '$.questions[*] ? (@.id == "default_currency").options'
        )
        when 'date_format' then '["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY"]'
      end;
    end if;
    if options is null then
      perform app.fail('invalid_argument.no_such_question', jsonb_build_object('id', left(id, 40)), 'answers');
    elsif not options @> answer or jsonb_typeof(answer) in ('array', 'object') then
      perform app.fail('invalid_argument.no_such_answer', jsonb_build_object(
        'id', id, 'options', jsonb_path_query_array(options, '$[0 to 9]')
      ), 'answers');
    elsif id ~ '^row_' then
      of_rows := of_rows || jsonb_build_object(substr(id, 5), answer);
    else
      of_file := of_file || jsonb_build_object(id, answer);
    end if;
    options := null;
  end loop;
end
$$;
comment on function app.read_answers is
  'Splits answers {id: option} into those about the whole file and those about rows, by line. Ends the tool with '
  'invalid_argument for an unknown question or option.';

create or replace function app.check_lines(batch app.import_batches, lines int[], field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  line int;
begin
  select l into line from unnest(lines) as l
  where not exists (
    select from app.import_rows as r
    where r.import_id = batch.id and r.line = l and r.kind in ('expense', 'refund')
  )
  limit 1;
  if line is not null then
    perform app.fail('invalid_argument.no_such_line', jsonb_build_object('line', line), field);
  end if;
end
$$;
comment on function app.check_lines is
  'Ends the tool with invalid_argument when a line isn''t one of the imported rows.';

create or replace function app.join_rules(context app.context, known jsonb, given jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rule jsonb;
  place int;
begin
  for rule, place in select r.value, r.ordinality - 1 from jsonb_array_elements(given) with ordinality as r loop
    if coalesce(app.payee_words(rule ->> 'payee'), '') = '' then
      perform app.fail('invalid_argument.rule_without_payee', field => format('rules[%s].payee', place));
    end if;
    if app.find_category(context, rule ->> 'category', format('rules[%s].category', place)) is null then
      perform app.fail_without_category(rule ->> 'category', format('rules[%s].category', place));
    end if;
  end loop;
  return (
    select coalesce(jsonb_agg(k), '[]') || given
    from jsonb_array_elements(known) as k
    where not exists (
      select from jsonb_array_elements(given) as g
      where app.payee_words(g ->> 'payee') = app.payee_words(k ->> 'payee')
    )
  );
end
$$;
comment on function app.join_rules is
  'Returns the payee rules of an import with the given ones, which replace rules for the same words. Ends the tool '
  'when a rule has no payee or an unknown category.';

create or replace function app.answer_import(context app.context, batch app.import_batches, arguments jsonb)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  skipped constant int[] := array(select s::int from jsonb_array_elements_text(arguments -> 'skip_lines') as s);
  corrected constant int[] :=
    array(select (c ->> 'line')::int from jsonb_array_elements(arguments -> 'corrections') as c);
  is_staged constant boolean := batch.state in ('matching', 'ready');
  found_id text := batch.account_id;
  changes jsonb := '{}';
  answers record;
begin
  if arguments ? 'answers' then
    answers := app.read_answers(batch, arguments -> 'answers');
    -- Stored apart from the account's remembered answers, because later files take the currency from the account's
    -- lines.
    changes := jsonb_strip_nulls(jsonb_build_object('default_currency', answers.of_file -> 'default_currency'))
      || jsonb_build_object(
      'answers', coalesce(batch.read -> 'answers', '{}') || (answers.of_file - 'default_currency'),
      'row_answers', coalesce(batch.read -> 'row_answers', '{}') || answers.of_rows
      );
  end if;
  if arguments ? 'account' then
    found_id := app.find_account(context, arguments ->> 'account', coalesce(batch.read -> 'account', '{}'));
    changes := changes || jsonb_build_object('account_given', arguments -> 'account');
  end if;
  if arguments ? 'mapping' then
    changes := changes
      || jsonb_build_object('given', coalesce(batch.read -> 'given', '{}') || (arguments -> 'mapping'));
  end if;
  if arguments ? 'rules' then
    changes := changes || jsonb_build_object(
      'rules', app.join_rules(context, coalesce(batch.read -> 'rules', '[]'), arguments -> 'rules')
    );
  end if;
  if is_staged then
    perform app.check_lines(batch, skipped, 'skip_lines');
    perform app.check_lines(batch, corrected, 'corrections');
  end if;
  if arguments ? 'skip_lines' then
    changes := changes || jsonb_build_object('skip_lines', to_jsonb(skipped));
  end if;
  if arguments ? 'corrections' then
    changes := changes || jsonb_build_object('corrections', coalesce(batch.read -> 'corrections', '{}') || (
      select coalesce(jsonb_object_agg(c ->> 'line', coalesce(batch.read #> array['corrections', c ->> 'line'], '{}')
        || (c - 'line')), '{}') from jsonb_array_elements(arguments -> 'corrections') as c
    ));
  end if;
  if changes = '{}' then
    return batch;
  end if;
  -- These changes affect the meaning of the file, so it is read again.
  if changes -> 'answers' is distinct from coalesce(batch.read -> 'answers', '{}') and changes ? 'answers'
    or changes ? 'given' or changes ? 'default_currency' or found_id is distinct from batch.account_id then
    update app.import_batches as b
    set account_id = found_id,
      read = b.read || changes || jsonb_build_object('revision', (b.read ->> 'revision')::int + 1),
      state = 'reading', staged_through = 0, matched_through = 0
    where b.id = batch.id
    returning b.* into batch;
    return batch;
  end if;
  update app.import_batches as b set read = b.read || changes where b.id = batch.id
  returning b.* into batch;
  if is_staged then
    perform app.correct_import_rows(batch, 1, batch.staged_through);
    perform app.draft_import_rows(context, batch, 1, batch.staged_through);
    perform app.answer_import_rows(batch, 1, batch.staged_through);
    perform app.match_lines(context, batch, array(
      select r.line from app.import_rows as r
      where r.import_id = batch.id and r.line <= batch.matched_through and r.draft is not null and r.match is null
    ));
  end if;
  return batch;
end
$$;
comment on function app.answer_import is
  'Applies a person''s answers about an import: {answers, account, mapping, skip_lines, corrections, rules}. Answers '
  'about the whole file, its account or its columns cause it to be read again.';
