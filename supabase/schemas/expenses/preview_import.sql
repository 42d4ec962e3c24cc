create or replace function app.preview_import(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  home constant text := coalesce(arguments ->> 'default_currency', context.base_currency);
  unknown constant jsonb := app.list_unknown_categories(context, arguments -> 'rows');
  unknown_names constant text[] := array(select lower(u ->> 'name') from jsonb_array_elements(unknown) as u);
  max_listed constant int := 100;
  items jsonb;
  readable jsonb;
  drafts jsonb;
  bad jsonb;
  import_id text;
  written jsonb;
  duplicates jsonb;
  near_bills jsonb;
  totals jsonb;
  warnings jsonb := coalesce(arguments -> 'warnings', '[]');
begin
  perform app.currency_exponent(home, 'default_currency');
  select jsonb_agg(i || jsonb_build_object('currency', app.currency_of_sign(coalesce(i ->> 'currency', home), home)))
  into items
  from jsonb_array_elements(arguments -> 'rows') as i;
  -- Whether its category exists is asked when the row is written; everything else must hold now.
  select
    jsonb_agg(case when lower(app.clean_text(i ->> 'category')) = any (unknown_names) then i - 'category' else i end)
  into readable
  from jsonb_array_elements(items) as i;
  select r.drafts, r.bad into drafts, bad from app.read_import_rows(context, readable, false) as r;
  select coalesce(jsonb_agg(b order by (b ->> 'line')::int), '[]') into bad
  from jsonb_array_elements(coalesce(arguments -> 'rows_bad', '[]') || bad) as b;
  if drafts = '[]' then
    perform app.fail('invalid_argument.no_row_readable', jsonb_build_object('details', jsonb_build_object(
      'rows_bad', (select jsonb_agg(b) from (select b from jsonb_array_elements(bad) as b limit max_listed) as b),
      'mapping', arguments -> 'mapping'
    )), 'csv');
  end if;
  drafts := app.find_imported(drafts);
  written := app.drafts_to_write(drafts, arguments);
  totals := app.total_drafts(written);
  select coalesce(jsonb_agg(jsonb_build_object(
    'line', d.place, 'date', d.paid_on, 'name', d.name, 'amount', app.format_amount(d.amount_minor, d.currency),
    'currency', d.currency, 'existing_id', d.existing_id
  ) order by d.place), '[]') into duplicates
  from jsonb_to_recordset(drafts)
    as d (place int, paid_on date, name text, amount_minor bigint, currency text, existing_id text)
  where d.existing_id is not null;

  near_bills := app.find_near_bills(context, drafts);
  if near_bills <> '[]' then
    warnings := warnings || app.warning('may_be_bill_payment', jsonb_build_object(
      'count', jsonb_array_length(near_bills), 'rows', jsonb_path_query_array(near_bills, '$[0 to 2]')
    ));
  end if;

  insert into app.import_batches (organization_id, actor_id, rows, expires_at)
  select context.organization_id, context.actor_id, jsonb_agg(i order by (i ->> 'line')::int),
    context.at + interval '24 hours'
  from jsonb_array_elements(items) as i
  where (i ->> 'line')::int in (select d.place from jsonb_to_recordset(drafts) as d (place int))
  returning id into import_id;

  if unknown <> '[]' then
    warnings := warnings || app.warning('category_not_found', jsonb_build_object(
      'names', jsonb_path_query_array(unknown, '$[*].name')
    ));
  end if;
  return jsonb_build_object('data', jsonb_build_object('preview', jsonb_build_object(
    'import_id', import_id,
    'rows_ok', jsonb_array_length(written),
    'rows_bad',
    (select coalesce(jsonb_agg(b), '[]') from (select b from jsonb_array_elements(bad) as b limit max_listed) as b),
    'rows_bad_count', jsonb_array_length(bad),
    'duplicates',
    (select coalesce(jsonb_agg(d), '[]')
      from (select d from jsonb_array_elements(duplicates) as d limit max_listed) as d),
    'duplicates_count', jsonb_array_length(duplicates),
    'may_be_bills',
    (select jsonb_agg(b) from (select b from jsonb_array_elements(near_bills) as b limit max_listed) as b),
    'totals', totals,
    'sample', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'line', s.place, 'date', s.paid_on, 'name', s.name, 'payee', s.payee,
        'amount', app.format_amount(s.amount_minor, s.currency), 'currency', s.currency,
        'is_refund', case s.direction when 'refund' then true end,
        'category', coalesce(
          (select i ->> 'category' from jsonb_array_elements(items) as i where (i ->> 'line')::int = s.place),
          (select c.name from app.categories as c where c.id = s.category_id)
        ), 'category_source', s.category_source, 'note', s.note, 'url', s.url
      ) order by s.place), '[]')
      from (
        select d.*
        from jsonb_to_recordset(drafts) as d (
          place int, paid_on date, name text, payee text, amount_minor bigint, currency text, direction text,
          category_id text, category_source text, note text, url text
        )
        order by d.place
        limit 5
      ) as s
    ),
    'mapping', arguments -> 'mapping',
    'commit_with',
    jsonb_build_object('import_id', import_id, 'expected_count', jsonb_array_length(written), 'expected_totals', totals)
  ) || app.describe_unknown_categories(unknown)), 'warnings', warnings);
end
$$;
comment on function app.preview_import is
  'Step 1: keeps the rows that can be written for 24 hours and answers what they are, {preview}; nothing is in the '
  'books.';
