create or replace function app.choose_by_known_payee(context app.context, said app.category_choice, text text)
  returns app.category_choice
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  words constant text[] := app.descriptor_words(choose_by_known_payee.text);
  most constant int := 4;
  -- Words that occur in the names of many shops: "Market Hall" isn't "Market".
  generic constant text[] := array['market', 'super', 'supermarket', 'supermarkt', 'supermercado', 'hyper', 'shop',
    'store', 'laden', 'tienda', 'boutique', 'cafe', 'coffee', 'restaurant', 'ristorante', 'bistro', 'brasserie',
    'pizza', 'pizzeria', 'sushi', 'burger', 'bakery', 'backerei', 'boulangerie', 'panaderia', 'butcher', 'metzgerei',
    'hotel', 'hostel', 'motel', 'taxi', 'parking', 'parkhaus', 'pharmacy', 'pharmacie', 'apotheke', 'farmacia',
    'kiosk', 'garage', 'tankstelle', 'station', 'city', 'stadt', 'central', 'grand', 'royal', 'golden', 'green',
    'blue', 'house', 'haus', 'casa', 'club', 'school', 'schule', 'studio', 'salon', 'travel', 'books', 'food',
    'fresh', 'first', 'united', 'north', 'south', 'east', 'west', 'saint', 'world', 'euro', 'bank', 'dental',
    'zahnarzt', 'praxis', 'doctor', 'insurance', 'versicherung', 'rent', 'miete', 'water', 'power', 'energy'];
  -- "NOBU BERLIN" matches Nobu. Three letters are too few.
  names constant text[] := array(
    select array_to_string(words[1:n], ' ') from generate_series(1, least(cardinality(words), most)) as n
    where length(array_to_string(words[1:n], ' ')) > 3
      and (n = cardinality(words) or array_to_string(words[1:n], ' ') <> all (generic))
  );
  choice app.category_choice;
begin
  if said.source not in ('keyword', 'none') or names = '{}' then
    return said;
  end if;
  select latest.category_id, 'payee_history' into choice
  from unnest(names) as n (name)
  cross join lateral (
    -- Look up one name at a time: for several, the planner may scan all expenses.
    select c.id as category_id
    from app.expenses as e
    join app.categories as c on c.id = e.category_id and c.archived_at is null
    where e.organization_id = context.organization_id and e.match_key = n.name and e.deleted_at is null
    order by e.recorded_seq desc
    limit 1
  ) as latest
  order by length(n.name) desc
  limit 1;
  return case when found then choice else said end;
end
$$;
comment on function app.choose_by_known_payee is
  'Returns the category of the known payee whose name begins a statement''s text, otherwise the previous choice.';

create or replace function app.choose_import_categories(context app.context, batch app.import_batches, first int,
  last int) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(r.payee || chr(10) || r.name, to_jsonb(chosen)), '{}')
    from (
      select distinct coalesce(app.clean_text(i.item ->> 'payee'), '') as payee,
        coalesce(app.clean_text(i.item ->> 'name'), '') as name, i.item ->> 'subject' as subject
      from app.import_rows as i
      where i.import_id = batch.id and i.line between first and last and i.draft is null and i.error is null
        and i.kind in ('expense', 'refund')
    ) as r
    cross join lateral (
      select k.id, k.source
      from app.choose_category(context, null, nullif(r.payee, ''), r.name, 'csv') as c
      -- The bank's own words aren't keywords: "MOBILE PAYMENT 1234" isn't a phone bill.
      cross join lateral (
        select case when r.subject is null or c.source not in ('keyword', 'payee_history') then c
          when r.subject = '' and r.payee = '' then (null, 'none')::app.category_choice
          when c.source = 'keyword' then app.choose_category(context, null, nullif(r.payee, ''), r.subject, 'csv')
          else c end as choice
        offset 0
      ) as s
      cross join lateral app.choose_by_known_payee(
        context, s.choice, coalesce(nullif(r.payee, ''), r.subject, r.name)
      ) as k
    ) as chosen
  );
end
$$;
comment on function app.choose_import_categories is
  'Returns the category of each payee and name in these lines. Looks each up once, because a statement repeats the '
  'same shops.';

-- Custom plans, because a generic plan doesn't know the number of rows in a page.
create or replace function app.write_drafts(batch app.import_batches, lines int[], drafts jsonb[], errors jsonb[])
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  update app.import_rows as r set draft = d.draft, error = d.error
  from unnest(lines, drafts, errors) as d (line, draft, error)
  where r.import_id = batch.id and r.line = d.line;
end
$$;
comment on function app.write_drafts is 'Stores the drafts or errors of these lines.';

create or replace function app.draft_import_rows(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  known constant text[] := array(
    select lower(c.name) from app.categories as c
    where c.organization_id = context.organization_id and c.archived_at is null
  );
  chosen constant jsonb := app.choose_import_categories(context, batch, first, last);
  lines int[] := '{}';
  drafts jsonb[] := '{}';
  errors jsonb[] := '{}';
  draft jsonb;
  problem text;
  row record;
begin
  for row in
    select r.line, r.item
      -- Categories are checked when the row is written; all other fields must be valid now.
      - case when lower(app.clean_text(r.item ->> 'category')) <> all (known || 'uncategorized'::text)
        then 'category' else '' end
      -- An amount in the base currency is its own value, so the charge to an account in another currency is dropped.
      - case when r.item ->> 'currency' = context.base_currency then 'charged' else '' end as item
    from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.draft is null and r.error is null
      and r.kind in ('expense', 'refund')
    order by r.line
  loop
    draft := null;
    problem := null;
    begin
      draft := app.parse_expense_item(context, row.item, 'csv', false,
        case when app.clean_text(row.item ->> 'category') is null
          then jsonb_populate_record(null::app.category_choice, chosen -> (
            coalesce(app.clean_text(row.item ->> 'payee'), '') || chr(10) || app.clean_text(row.item ->> 'name')
          )) end
      ) || jsonb_build_object('place', row.line);
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
    end;
    lines := lines || row.line;
    drafts := drafts || draft;
    errors := errors || problem::jsonb;
  end loop;
  perform app.write_drafts(batch, lines, drafts, errors);
  perform app.apply_import_rules(context, batch, first, last);
end
$$;
comment on function app.draft_import_rows is
  'Parses the rows of these lines that have no draft yet. Each gets a draft or an error.';

create or replace function app.account_currency(context app.context, account_id text) returns text
language plpgsql stable set search_path = '' as $$
declare
  said constant text := (select a.currency from app.accounts as a where a.id = account_currency.account_id);
begin
  return coalesce(said, (
    select min(l.currency) from (
      select s.currency from app.statement_lines as s
      where s.account_id = account_currency.account_id and s.organization_id = context.organization_id
      limit 100
    ) as l
    having count(distinct l.currency) = 1
  ));
end
$$;
comment on function app.account_currency is
  'Returns the currency of an account, from its file or its earlier statements; null if unknown.';

create or replace function app.stage_import_rows(context app.context, batch app.import_batches, arguments jsonb)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  after constant int := (arguments ->> 'after')::int;
  through constant int := (arguments ->> 'through')::int;
  new_read jsonb := batch.read || coalesce(arguments -> 'read', '{}');
  known constant text := coalesce(batch.read ->> 'default_currency', app.account_currency(context, batch.account_id));
  home constant text := coalesce(known, context.base_currency);
  suggested jsonb;
begin
  -- Another caller is ahead, or the file must be read again because of an answer.
  if batch.state <> 'reading' or batch.staged_through <> after or arguments -> 'revision' <> batch.read -> 'revision'
    then
    return batch;
  end if;
  if after = 0 then
    delete from app.import_rows as r where r.import_id = batch.id;
    if known is null and jsonb_path_exists(arguments -> 'rows', '$[*] ? (!exists(@.currency))') then
      new_read := jsonb_set(new_read, '{mapping,assumed}', coalesce(new_read #> '{mapping,assumed}', '[]')
        || jsonb_build_object('code', 'currency_assumed', 'params', jsonb_build_object('currency', home)));
      suggested := new_read -> 'suggests';
      if not suggested @> to_jsonb(home) then
        suggested := jsonb_path_query_array(suggested, '$[0 to 4]');
        new_read := jsonb_set(new_read, '{questions}', new_read -> 'questions' || jsonb_build_object(
          'id', 'default_currency', 'about', jsonb_build_object('home', home, 'suggested', suggested),
          'options', suggested || to_jsonb(home)
        ));
      end if;
    end if;
  end if;
  insert into app.import_rows (import_id, organization_id, line, kind, item)
  select batch.id, context.organization_id, (i ->> 'line')::int,
    case when (i ->> 'is_refund')::boolean then 'refund' else 'expense' end,
    i || jsonb_build_object('currency', app.currency_of_sign(coalesce(i ->> 'currency', home), home))
  from jsonb_array_elements(arguments -> 'rows') as i;
  insert into app.import_rows (import_id, organization_id, line, item, error)
  select batch.id, context.organization_id, (b ->> 'line')::int, b - array['line', 'error'] || jsonb_build_object(
    'currency', app.currency_of_sign(coalesce(b ->> 'currency', home), home)
  ), b -> 'error'
  from jsonb_array_elements(arguments -> 'rows_bad') as b;
  insert into app.import_rows (import_id, organization_id, line, kind, item)
  select batch.id, context.organization_id, (i ->> 'line')::int, i ->> 'kind',
    i || jsonb_build_object('currency', app.currency_of_sign(coalesce(i ->> 'currency', home), home))
  from jsonb_array_elements(arguments -> 'left_out_rows') as i;
  update app.import_batches as b
  set read = new_read, staged_through = through, matched_through = 0,
    row_count = coalesce((arguments ->> 'row_count')::int, b.row_count),
    state = case when (arguments ->> 'is_last')::boolean then 'matching' else 'reading' end
  where b.id = batch.id
  returning b.* into batch;
  perform app.correct_import_rows(batch, after + 1, through);
  perform app.draft_import_rows(context, batch, after + 1, through);
  return batch;
end
$$;
comment on function app.stage_import_rows is
  'Step stage: stores a page of rows {revision, after, through, rows, rows_bad, left_out_rows, is_last}. The first '
  'page also has the result of reading the file, {read, row_count}. A page out of order changes nothing.';
