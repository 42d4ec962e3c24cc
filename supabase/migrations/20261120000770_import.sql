-- import_expenses: rows of a file into the books in two steps. The first keeps what was read for a day and shows it; the second writes all of it
-- as one change, when the caller says the count and the totals it was shown. Reading the file itself is done before: here are only its rows.

create table app.import_batches (
  id text collate "C" primary key default app.new_id('imp') constraint import_batches_id_format check (id ~ '^imp_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  rows jsonb not null constraint import_batches_rows_count check (jsonb_array_length(rows) between 1 and 2000),
  change_id text references app.change_sets (id) on delete set null,
  result jsonb,
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null
);
comment on table app.import_batches is 'Rows of a file that were shown and wait for a yes, for 24 hours; after it, what the import answered.';
comment on column app.import_batches.rows is 'Items as log_expenses takes them, each with its line in the file: [{line, name, amount, currency, date, payee?, category?, note?, url?, is_refund?}].';
comment on column app.import_batches.result is 'What committing answered, so that a repeated call answers it again; null before.';
create index import_batches_organization_id_idx on app.import_batches (organization_id);
create index import_batches_change_id_idx on app.import_batches (change_id);
create index import_batches_expires_at_idx on app.import_batches (expires_at);

alter table app.import_batches enable row level security;
create policy "People can use their own imports" on app.import_batches
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
grant select, insert, update, delete on app.import_batches to service_role;
grant select, insert, update (change_id, result) on app.import_batches to authenticated;

create function app.currency_of_sign(sign text, home text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  users constant text[] := case sign
    when '$' then array['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'TWD', 'MXN', 'ARS', 'CLP', 'COP', 'UYU', 'JMD', 'TTD', 'BBD', 'BSD', 'BZD', 'FJD']
    when '¥' then array['JPY', 'CNY']
    when 'kr' then array['SEK', 'NOK', 'DKK', 'ISK']
    when 'Rs' then array['INR', 'PKR', 'LKR', 'NPR', 'MUR']
  end;
begin
  return case when users is null then sign when home = any (users) then home else users[1] end;
end
$$;
comment on function app.currency_of_sign is 'The currency that a sign shared by several stands for: the one at home if it uses the sign, else its best-known; anything else as it is.';

create function app.read_import_rows(
  context app.context, items jsonb, create_missing_categories boolean, out drafts jsonb, out bad jsonb
) returns record
language plpgsql volatile set search_path = '' as $$
declare
  good jsonb[] := '{}';
  refused jsonb[] := '{}';
  item jsonb;
  problem text;
begin
  for item in select i from jsonb_array_elements(items) as i loop
    begin
      good := good || (app.parse_expense_item(context, item, 'csv', create_missing_categories) || jsonb_build_object('place', item -> 'line'));
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
      refused := refused || jsonb_build_object('line', item -> 'line', 'error', problem::jsonb);
    end;
  end loop;
  drafts := to_jsonb(good);
  bad := to_jsonb(refused);
end
$$;
comment on function app.read_import_rows is 'Rows as drafts whose place is their line, and those that cannot be, with why: [{line, error}].';

create function app.find_imported(drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  return (
    with incoming as (
      -- Two equal lines are two expenses: the second one is in the books only when the books have two.
      select i.draft, d.*, row_number() over (partition by d.paid_on, d.amount_minor, d.currency, d.direction, d.match_key order by d.place) as nth
      from jsonb_array_elements(drafts) as i (draft)
      cross join lateral jsonb_to_record(i.draft) as d (place int, paid_on date, amount_minor bigint, currency text, direction text, match_key text)
    ), keys as (
      select distinct i.paid_on, i.amount_minor, i.currency, i.direction from incoming as i
    ), known as (
      select k.paid_on, k.amount_minor, k.currency, k.direction, e.match_key, case e.kind when 'bill' then p.id else e.id end as id,
        row_number() over (partition by k.paid_on, k.amount_minor, k.currency, k.direction, e.match_key order by p.recorded_seq) as nth
      from (select distinct k.paid_on from keys as k) as d
      -- Day by day, since the planner cannot know how few days of all the payments a file is about.
      cross join lateral (select p.* from app.payments as p where p.paid_on = d.paid_on and p.deleted_at is null offset 0) as p
      join keys as k
        on k.paid_on = p.paid_on and k.amount_minor = p.amount_minor and k.currency = p.currency and k.direction = p.direction
      cross join lateral (select e.* from app.expenses as e where e.id = p.expense_id offset 0) as e
    )
    select coalesce(jsonb_agg(i.draft || jsonb_strip_nulls(jsonb_build_object('existing_id', k.id)) order by i.place), '[]')
    from incoming as i
    left join known as k
      on k.paid_on = i.paid_on and k.amount_minor = i.amount_minor and k.currency = i.currency
      and k.direction = i.direction and k.match_key = i.match_key and k.nth = i.nth
  );
end
$$;
comment on function app.find_imported is 'The drafts, each with the id of the expense or payment in the books that it repeats, if any: by the rule of log_expenses, counted.';

create function app.find_near_bills(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  -- Banks book a day or a weekend later than people pay.
  days constant int := 5;
  first_day constant date := (select min(d.paid_on) from jsonb_to_recordset(drafts) as d (paid_on date)) - days;
  last_day constant date := (select max(d.paid_on) from jsonb_to_recordset(drafts) as d (paid_on date)) + days;
begin
  return (
    with known as materialized (
      select p.expense_id, p.amount_minor, p.currency, p.paid_on as day, true as is_paid
      from app.payments as p
      where p.paid_on between first_day and last_day and p.deleted_at is null and p.direction = 'out' and starts_with(p.expense_id, 'bill_')
      union all
      select o.expense_id, o.expected_minor, o.currency, o.due_on, false
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on between first_day and last_day
    ), near as (
      select distinct on (d.place) d.*, k.day, k.is_paid, b.id as bill_id, b.name as bill
      from jsonb_to_recordset(drafts) as d (
        place int, name text, payee text, direction text, amount_minor bigint, currency text, paid_on date, existing_id text
      )
      join known as k on k.amount_minor = d.amount_minor and k.currency = d.currency and k.day between d.paid_on - days and d.paid_on + days
      join app.expenses as b on b.id = k.expense_id and b.status <> 'cancelled' and b.deleted_at is null
      where d.existing_id is null and d.direction = 'out'
        -- What comes every few days is near to anything of its amount, unless it is called alike.
        and (b.frequency not in ('daily', 'weekly')
          or app.text_likeness(b.name, d.name) > 0.5 or app.text_likeness(coalesce(b.payee, b.name), coalesce(d.payee, d.name)) > 0.5)
      order by d.place, app.text_likeness(b.name, d.name) desc, abs(k.day - d.paid_on), k.is_paid desc, b.id
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'line', n.place, 'date', n.paid_on, 'name', n.name, 'amount', app.format_amount(n.amount_minor, n.currency),
      'currency', n.currency, 'bill_id', n.bill_id, 'bill', n.bill, case when n.is_paid then 'paid_on' else 'due_on' end, n.day
    ) order by n.place), '[]')
    from near as n
  );
end
$$;
comment on function app.find_near_bills is
  'Rows that may be the payment of a bill which is in the books on another day or still open: [{line, date, name, amount, currency, bill_id, bill, paid_on or due_on}].';

create function app.list_unknown_categories(context app.context, items jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(
      jsonb_build_object('name', u.name, 'rows', u.rows) order by u.rows desc, u.name collate "C"
    ), '[]')
    from (
      select min(r.category collate "C") as name, count(*) as rows
      from (select app.clean_text(i ->> 'category') as category from jsonb_array_elements(items) as i offset 0) as r
      where lower(r.category) <> 'uncategorized'
      group by lower(r.category)
    ) as u
    where not exists (
      select from app.categories as c
      where c.organization_id = context.organization_id and c.archived_at is null and lower(c.name) = lower(u.name)
    )
  );
end
$$;
comment on function app.list_unknown_categories is 'Category names in rows that are none of the organization''s, those of most rows first: [{name, rows}].';

create function app.describe_unknown_categories(unknown jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 20;
  -- Each is compared with every category.
  max_suggested constant int := 10;
begin
  return jsonb_build_object(
    'unknown_categories', (
      select coalesce(jsonb_agg(
        u.value || case when u.ordinality <= max_suggested then jsonb_build_object('suggestions', app.suggest_categories(u.value ->> 'name')) else '{}' end
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
  'The first of the unknown categories and how many there are, {unknown_categories: [{name, rows, suggestions?}], unknown_categories_count}; for the very first what may have been meant.';

create function app.drafts_to_write(drafts jsonb, arguments jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case when arguments ->> 'on_duplicate' = 'allow' then drafts else jsonb_path_query_array(drafts, '$[*] ? (!exists(@.existing_id))') end;
end
$$;
comment on function app.drafts_to_write is 'The drafts of a file that go into the books: without those that are there, unless the caller wants them twice.';

create function app.preview_import(context app.context, arguments jsonb) returns jsonb
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
  select jsonb_agg(case when lower(app.clean_text(i ->> 'category')) = any (unknown_names) then i - 'category' else i end)
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
  from jsonb_to_recordset(drafts) as d (place int, paid_on date, name text, amount_minor bigint, currency text, existing_id text)
  where d.existing_id is not null;

  near_bills := app.find_near_bills(context, drafts);
  if near_bills <> '[]' then
    warnings := warnings || app.warning('may_be_bill_payment', jsonb_build_object(
      'count', jsonb_array_length(near_bills), 'rows', jsonb_path_query_array(near_bills, '$[0 to 2]')
    ));
  end if;

  insert into app.import_batches (organization_id, actor_id, rows, expires_at)
  select context.organization_id, context.actor_id, jsonb_agg(i order by (i ->> 'line')::int), context.at + interval '24 hours'
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
    'rows_bad', (select coalesce(jsonb_agg(b), '[]') from (select b from jsonb_array_elements(bad) as b limit max_listed) as b),
    'rows_bad_count', jsonb_array_length(bad),
    'duplicates', (select coalesce(jsonb_agg(d), '[]') from (select d from jsonb_array_elements(duplicates) as d limit max_listed) as d),
    'duplicates_count', jsonb_array_length(duplicates),
    'may_be_bills', (select jsonb_agg(b) from (select b from jsonb_array_elements(near_bills) as b limit max_listed) as b),
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
          place int, paid_on date, name text, payee text, amount_minor bigint, currency text, direction text, category_id text, category_source text, note text, url text
        )
        order by d.place
        limit 5
      ) as s
    ),
    'mapping', arguments -> 'mapping',
    'commit_with', jsonb_build_object('import_id', import_id, 'expected_count', jsonb_array_length(written), 'expected_totals', totals)
  ) || app.describe_unknown_categories(unknown)), 'warnings', warnings);
end
$$;
comment on function app.preview_import is 'Step 1: keeps the rows that can be written for 24 hours and answers what they are, {preview}; nothing is in the books.';

create function app.same_totals(expected jsonb, actual jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return not exists (
    select from jsonb_each_text(expected) as e full join jsonb_each_text(actual) as a on a.key = e.key
    where coalesce(case when e.value ~ '^-?\d{1,18}(\.\d{1,4})?$' then e.value::numeric end, case when e.value is null then 0 end) is distinct from coalesce(a.value::numeric, 0)
  );
end
$$;
comment on function app.same_totals is 'Whether two sets of totals are the same amounts, however many zeros they are written with.';

create function app.commit_import(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch app.import_batches;
  unknown jsonb;
  drafts jsonb;
  written jsonb;
  count int;
  totals jsonb;
  skipped int;
  answer jsonb;
begin
  select * into batch from app.import_batches as b where b.id = arguments ->> 'import_id' and b.expires_at > context.at;
  if not found then
    perform app.fail('not_found.import', field => 'import_id');
  end if;
  -- A call that is repeated answers what the first one did, unless that was undone in between.
  if batch.result is not null and not exists (select from app.change_sets as s where s.id = batch.change_id and s.undone_by is not null) then
    return batch.result || '{"replayed": true}';
  end if;
  unknown := app.list_unknown_categories(context, batch.rows);
  if unknown <> '[]' and not coalesce((arguments ->> 'create_missing_categories')::boolean, false) then
    perform app.fail('category_not_found.in_file', jsonb_build_object(
      'name', unknown #> '{0,name}', 'details', app.describe_unknown_categories(unknown)
    ), 'create_missing_categories');
  end if;
  select app.find_imported(r.drafts) into drafts from app.read_import_rows(context, batch.rows, true) as r;
  written := app.drafts_to_write(drafts, arguments);
  count := jsonb_array_length(written);
  totals := app.total_drafts(written);
  skipped := jsonb_array_length(drafts) - count;
  if (arguments ->> 'expected_count')::numeric is distinct from count or not app.same_totals(arguments -> 'expected_totals', totals) then
    perform app.fail(
      'expectation_mismatch.of_import',
      jsonb_build_object('count', count, 'totals', totals, 'skipped', skipped, 'details', jsonb_build_object(
        'commit_with', jsonb_build_object('import_id', batch.id, 'expected_count', count, 'expected_totals', totals),
        'skipped', skipped
      )),
      case when (arguments ->> 'expected_count')::numeric is distinct from count then 'expected_count' else 'expected_totals' end
    );
  end if;

  select coalesce(jsonb_agg(d || jsonb_build_object('id', app.new_id('exp'))), '[]') into written from jsonb_array_elements(written) as d;
  perform app.write_expenses(context, written, 'import');

  answer := jsonb_build_object(
    'data', jsonb_build_object('created', count, 'skipped', skipped, 'totals', totals),
    'change_id', case when count > 0 then current_setting('app.change_id') end,
    'warnings', app.warn_of_drafts(context, written)
  );
  update app.import_batches as b
  set result = answer, change_id = answer ->> 'change_id'
  where b.id = batch.id;
  return answer || jsonb_build_object('facts', jsonb_build_object(
    'count', count, 'totals_by_currency', totals,
    'names', jsonb_path_query_array(written, '$[0 to 3].name')
  ));
end
$$;
comment on function app.commit_import is 'Step 2: writes the rows of a preview as one change, {created, skipped, totals}; a second time it answers the same and writes nothing.';

create function app.import_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return case when arguments ? 'import_id' then app.commit_import(context, arguments) else app.preview_import(context, arguments) end;
end
$$;
comment on function app.import_expenses is 'Tool import_expenses: data {preview}, then {created, skipped, totals}. Arguments of the first step: {rows, rows_bad, mapping, warnings}, read from the file.';

revoke all on function
  app.currency_of_sign, app.read_import_rows, app.find_imported, app.find_near_bills, app.list_unknown_categories,
  app.describe_unknown_categories, app.drafts_to_write, app.preview_import, app.same_totals, app.commit_import, app.import_expenses from public, anon;
grant execute on function
  app.currency_of_sign, app.read_import_rows, app.find_imported, app.find_near_bills, app.list_unknown_categories,
  app.describe_unknown_categories, app.drafts_to_write, app.preview_import, app.same_totals, app.commit_import, app.import_expenses to authenticated, service_role;
