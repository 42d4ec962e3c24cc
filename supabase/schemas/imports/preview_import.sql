create or replace function app.describe_left_out(batch app.import_batches, home text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- app.describe_transfers counts these instead.
  halves constant jsonb := (
    select coalesce(jsonb_agg(r.item), '[]') from app.import_rows as r
    where r.import_id = batch.id and r.kind = 'income' and r.match ->> 'state' = 'transfer'
  );
begin
  return (
    select coalesce(jsonb_agg(k || jsonb_build_object(
      'count', (k -> 'count')::int - jsonb_array_length(gone),
      'lines', (
        select coalesce(jsonb_agg(l), '[]') from jsonb_array_elements(k -> 'lines') as l
        where not jsonb_path_query_array(gone, '$[*].line') @> l
      ),
      'totals', (
        select coalesce(jsonb_object_agg(s.currency, s.total), '{}')
        from (
          select app.currency_of_sign(coalesce(nullif(t.key, ''), home), home) as currency,
            sum(t.value)::text as total
          from (
            select t.key, t.value::numeric as value from jsonb_each_text(k -> 'totals') as t
            union all
            select g ->> 'currency', -(g ->> 'amount')::numeric from jsonb_array_elements(gone) as g
          ) as t
          group by 1
        ) as s
      )
    )), '[]')
    from jsonb_array_elements(batch.read -> 'left_out') as k
    cross join lateral (select case k ->> 'kind' when 'income' then halves else '[]' end as gone) as h
    where (k -> 'count')::int > jsonb_array_length(gone)
  );
end
$$;
comment on function app.describe_left_out is
  'Returns the left-out rows of a file by kind, income without the halves of transfers. Totals without a currency are '
  'in the home currency.';

create or replace function app.list_unknown_categories(context app.context, batch app.import_batches) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      jsonb_build_object('name', u.name, 'rows', u.rows) order by u.rows desc, u.name collate "C"
    ), '[]')
    from (
      select min(r.category collate "C") as name, count(*) as rows
      from (
        select app.clean_text(i.item ->> 'category') as category from app.import_rows as i
        where i.import_id = batch.id and i.item ->> 'category' is not null and i.draft is not null
          and not i.is_skipped
        offset 0
      ) as r
      where not app.means_uncategorized(r.category)
      group by lower(r.category)
    ) as u
    where not exists (
      select from app.categories as c
      where c.organization_id = context.organization_id and c.archived_at is null and lower(c.name) = lower(u.name)
    )
  );
end
$$;
comment on function app.list_unknown_categories is
  'Returns the categories in rows that the organization lacks, most frequent first: [{name, rows}].';

create or replace function app.describe_unknown_categories(unknown jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 20;
  -- Limit the suggestions, because each name is compared with every category.
  max_suggested constant int := 10;
begin
  return jsonb_build_object(
    'unknown_categories', (
      select coalesce(jsonb_agg(
        u.value
          || case when u.ordinality <= max_suggested
          then jsonb_build_object('suggestions', app.suggest_categories(u.value ->> 'name')) else '{}' end
        order by u.ordinality
      ), '[]')
      from jsonb_array_elements(unknown) with ordinality as u
      where u.ordinality <= max_listed
    ),
    'unknown_categories_count', jsonb_array_length(unknown)
  );
end
$$;
comment on function app.describe_unknown_categories is
  'Returns the first unknown categories and their number: {unknown_categories: [{name, rows, suggestions?}], '
  'unknown_categories_count}. Only the first ten have suggestions.';

create or replace function app.describe_import_rows(batch app.import_batches, lines jsonb)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'line', r.line, 'date', d.paid_on, 'name', d.name, 'payee', d.payee,
      'amount', app.format_amount(d.amount_minor, d.currency), 'currency', d.currency,
      'is_refund', case d.direction when 'refund' then true end,
      'category', coalesce(
        case when d.category_source is distinct from 'payee_rule' then app.clean_text(r.item ->> 'category') end,
        (select c.name from app.categories as c where c.id = d.category_id)
      ),
      'category_source', d.category_source, 'note', d.note, 'url', d.url,
      'existing_id', app.shown_id(r.match #>> '{payment_ids,0}'),
      'bill_id', r.match -> 'bill_id', 'due_on', r.match -> 'due_on'
    )) order by r.line), '[]')
    from jsonb_array_elements_text(lines) as listed
    join app.import_rows as r on r.import_id = batch.id and r.line = listed::int
    cross join lateral jsonb_to_record(r.draft) as d (
      name text, payee text, category_id text, category_source text, note text, url text, direction text,
      amount_minor bigint, currency text, paid_on date
    )
  );
end
$$;
comment on function app.describe_import_rows is 'Returns rows in the format of a preview, with their matched records.';

create or replace function app.describe_page(batch app.import_batches, page jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'line', r.line, 'as', case p.value ->> 1 when 'left_out' then r.kind else p.value ->> 1 end,
      'date', coalesce(r.draft -> 'paid_on', r.item -> 'date'), 'name',
      coalesce(r.draft -> 'name', r.item -> 'name', r.item -> 'text'),
      'amount', app.format_amount(
        coalesce((r.draft ->> 'amount_minor')::bigint,
          app.statement_minor(r.item ->> 'amount', r.item ->> 'currency'))::numeric,
        coalesce(r.draft ->> 'currency', r.item ->> 'currency')
      ),
      'currency', coalesce(r.draft -> 'currency', r.item -> 'currency'),
      'is_refund', case r.kind when 'refund' then true end,
      -- The name of the matched record, if the person sees it.
      'of', (
        -- Extract the ids first: under row-level security, a JSON expression can't use the index.
        select e.name
        from (select r.match ->> 'bill_id' as bill_id, r.match #>> '{payment_ids,0}' as payment_id offset 0) as m
        cross join lateral (
          select m.bill_id as id where m.bill_id is not null
          union all
          select paid.expense_id from app.payments as paid where m.bill_id is null and paid.id = m.payment_id
          offset 0
        ) as known
        cross join lateral (select x.name from app.expenses as x where x.id = known.id offset 0) as e
      )
    )) order by r.line), '[]')
    from jsonb_array_elements(page) as p
    join app.import_rows as r on r.import_id = batch.id and r.line = (p.value ->> 0)::int
  );
end
$$;
comment on function app.describe_page is
  'Returns the rows of a page with their outcomes: [{line, as, date, name, amount, currency, of?}]. as: an outcome, '
  'or the kind of a left-out row. of: the name of the matched or paid record.';

create or replace function app.describe_bad_rows(batch app.import_batches, counted jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 100;
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'line', r.line, 'error', coalesce(r.error, jsonb_build_object(
        'code', 'month_closed', 'params', app.closed_month((r.draft ->> 'paid_on')::date)
      ))
    ) order by r.line), '[]')
    from (
      select l::int as line
      from jsonb_array_elements_text(
        coalesce(counted #> '{listed,bad}', '[]') || coalesce(counted #> '{listed,closed}', '[]')
      ) as l
      order by 1
      limit max_listed
    ) as listed
    join app.import_rows as r on r.import_id = batch.id and r.line = listed.line
  );
end
$$;
comment on function app.describe_bad_rows is
  'Returns the first rows that cannot be written, including those in closed months: [{line, error}].';

create or replace function app.preview_import(context app.context, batch app.import_batches, arguments jsonb)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  home constant text := coalesce(
    batch.read ->> 'default_currency', app.account_currency(context, batch.account_id), context.base_currency
  );
  unknown constant jsonb := app.list_unknown_categories(context, batch);
  after constant int := coalesce((arguments ->> 'after_line')::int, 0);
  counted constant jsonb := app.count_import(context, batch, arguments ->> 'on_duplicate', after);
  outcomes constant jsonb := counted -> 'outcomes';
  count constant int := jsonb_array_length(counted -> 'new');
  bad constant jsonb := app.describe_bad_rows(batch, counted);
  bad_count constant int := coalesce((outcomes ->> 'bad')::int, 0) + coalesce((outcomes ->> 'closed')::int, 0);
  questions constant jsonb := app.import_questions(batch, coalesce(counted #> '{listed,asked}', '[]'));
  questions_count constant int :=
    jsonb_array_length(coalesce(batch.read -> 'questions', '[]')) + coalesce((outcomes ->> 'asked')::int, 0);
  closed record;
begin
  if bad_count > 0 and outcomes - array['bad', 'closed', 'left_out'] = '{}' then
    select min((r.draft ->> 'paid_on')::date) as first_on, max((r.draft ->> 'paid_on')::date) as last_on into closed
    from app.import_rows as r
    where r.import_id = batch.id and outcomes ? 'closed' and r.error is null and r.draft is not null
      and not r.is_skipped;
    perform app.fail(
      case when closed.first_on is null then 'invalid_argument.no_row_readable' else 'month_closed.of_import' end,
      jsonb_build_object('details', jsonb_build_object('rows_bad', bad, 'mapping', batch.read -> 'mapping'))
        || app.closed_month(closed.first_on) || jsonb_build_object('to', app.month_name(closed.last_on)), 'csv'
    );
  end if;
  return jsonb_build_object('data', jsonb_build_object('preview', jsonb_strip_nulls(jsonb_build_object(
    'import_id', batch.id,
    'account', (select jsonb_build_object('id', a.id, 'name', a.name) from app.accounts as a
      where a.id = batch.account_id),
    'rows_ok', count,
    'rows_bad', bad,
    'rows_bad_count', bad_count,
    'left_out', app.describe_left_out(batch, home)
      || app.describe_transfers(batch, counted #> '{listed,transfer}', (outcomes ->> 'transfer')::int),
    'questions', questions,
    'questions_count', case when questions_count > jsonb_array_length(questions) then questions_count end,
    'duplicates', app.describe_import_rows(batch, counted -> 'in_books'),
    'duplicates_count', counted -> 'in_books_count',
    'skipped_count', outcomes -> 'skipped',
    'totals', counted -> 'totals',
    'period', (
      select jsonb_build_object('from', min(r.draft ->> 'paid_on'), 'to', max(r.draft ->> 'paid_on'))
      from app.import_rows as r
      where r.import_id = batch.id and r.draft is not null and not r.is_skipped
    ),
    'balances', batch.read -> 'balances',
    'rows', app.describe_page(batch, counted -> 'page'),
    'next_line', case when (counted #>> '{page,-1,0}')::int < (counted ->> 'last_line')::int
      then counted #> '{page,-1,0}' end,
    'sample',
    app.describe_import_rows(batch, jsonb_path_query_array(counted -> 'new', '$[0 to 4]')),
    'mapping',
    (batch.read -> 'mapping') || jsonb_strip_nulls(jsonb_build_object('encoding', batch.read -> 'encoding')),
    'commit_with',
    jsonb_build_object('import_id', batch.id, 'expected_count', count, 'expected_totals', counted -> 'totals')
  )) || (counted -> 'effects') || app.describe_unknown_categories(unknown)), 'warnings',
    coalesce(batch.read -> 'warnings', '[]')
    || case when unknown = '[]' then '[]'::jsonb else jsonb_build_array(app.warning('category_not_found',
      jsonb_build_object('names', jsonb_path_query_array(unknown, '$[*].name')))) end
    || case when batch.account_id is null and batch.read ? 'header'
      and (batch.read -> 'questions' <> '[]' or (batch.read -> 'given') || (batch.read -> 'answers') <> '{}')
    then jsonb_build_array(app.warning('layout_forgotten')) else '[]' end
    || app.warn_of_unspent(context, batch, counted -> 'new') || app.warn_of_recalled(batch));
end
$$;
comment on function app.preview_import is
  'Returns {preview}: the effect of an import, with its questions and notes. Writes nothing into the books. Ends the '
  'tool with invalid_argument when no row is readable, and with month_closed when all readable rows lie in closed '
  'months.';
