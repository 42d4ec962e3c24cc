-- Income in list_expenses.

create or replace function app.find_incomes(filter app.expense_filter) returns setof app.incomes
language plpgsql stable set search_path = '' as $$
declare
  words constant text[] := filter.words || app.word_patterns(filter.payee);
begin
  return query
    select i.*
    from app.incomes as i
    where i.organization_id = identity.current_organization_id() and i.deleted_at is null
      and i.received_on >= coalesce(filter.from_on, '-infinity') and i.received_on <= coalesce(filter.to_on, 'infinity')
      and (filter.currency is null or i.currency = filter.currency)
      and (filter.category_ids is null or coalesce(i.category_id, '') = any (filter.category_ids))
      and (filter.not_category_ids is null or coalesce(i.category_id, '') <> all (filter.not_category_ids))
      and (filter.recorded_by is null or i.created_by = filter.recorded_by)
      -- The employer may appear only in the statement line.
      and (words is null or app.fold_text(concat_ws(' ', i.name, i.note, app.sort_words(i.sort), (
        select l.text from app.statement_lines as l where l.id = i.line_id and l.organization_id = i.organization_id
      ))) like all (words));
end
$$;
comment on function app.find_incomes is 'Returns the received income that matches a filter.';

create or replace function app.list_incomes(context app.context, request jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter;
  page_size constant int := coalesce((request ->> 'limit')::int, 25);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_expenses', request - 'cursor' - 'limit');
  key constant jsonb := app.read_cursor(scope, request ->> 'cursor');
  rows app.incomes[];
  cursors text[];
  total_count bigint;
  totals jsonb;
  rules jsonb;
begin
  perform app.refuse_income_fields(
    -- These arguments may only have their default values.
    request - array(
      select a.key from jsonb_each_text(request) as a
      where (a.key, a.value) in (('sort', 'date'), ('order', 'desc'), ('format', 'json'))
    ),
    array['kind', 'from', 'to', 'query', 'categories', 'not_categories', 'payee', 'recorded_by', 'currency', 'limit',
      'cursor'], null
  );
  filter := app.parse_expense_filter(context, request);
  select coalesce(sum(s.count), 0), coalesce(jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency)), '{}')
  into total_count, totals
  from (
    select i.currency, count(*) as count, sum(i.amount_minor) as minor
    from app.find_incomes(filter) as i
    group by i.currency
  ) as s;
  rows := array(
    select i
    from app.find_incomes(filter) as i
    where key is null or (i.received_on, i.recorded_seq) < ((key ->> 0)::date, (key ->> 1)::bigint)
    order by i.received_on desc, i.recorded_seq desc
    limit page_size + 1
  );
  cursors := array(
    select app.write_cursor(scope, jsonb_build_array(r.received_on, r.recorded_seq))
    from unnest(rows[:page_size]) as r
  );
  select jsonb_agg(app.describe_income(context, i) order by i.recorded_seq) into rules
  from app.incomes as i
  where i.organization_id = context.organization_id and i.anchor_on is not null and i.deleted_at is null
    and key is null and app.is_expected(context, i);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'rows', (
        select coalesce(jsonb_agg(app.describe_income(context, rows[n]) order by n), '[]')
        from generate_series(1, least(page_size, cardinality(rows))) as n
      ),
      'repeating', rules
    ),
    'next_cursor', case when cardinality(rows) > page_size then cursors[page_size] end,
    'total_count', total_count, 'totals_by_currency', totals,
    'page', jsonb_build_object('list', 'rows', 'cursors', cursors),
    'warnings', app.warn_of_hidden_income() || case
      when key is null and num_nonnulls(filter.category_ids, filter.not_category_ids, filter.recorded_by) = 0
        then app.warn_of_expected_income(
          context, coalesce(filter.from_on, '-infinity'), coalesce(filter.to_on, context.today),
          filter.words || app.word_patterns(filter.payee)
        )
      else '[]' end
  );
end
$$;
comment on function app.list_incomes is
  'Returns income for list_expenses: {rows, repeating?: the rules for recurring income}.';

create or replace function app.warn_of_hidden_income() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when identity.sees_everything() then '[]' else jsonb_build_array(app.warning('income_partly_known')) end;
end
$$;
comment on function app.warn_of_hidden_income is
  'Warns people who may not see all income, without revealing whether hidden income exists.';
