-- log_expenses: writes down money that left, or came back. All items or none; what is already in the books is not written twice.
-- Row-level security keeps every statement inside the organization of the request, here and in the tools that follow.

-- An item on its way into the books is a draft, an object by name: columns of app.expenses and of app.payments, and beside them place (in the call,
-- or its line in a file), match_key, category_source, and existing_id when it is in the books already. What it does not have is not there.

create function app.parse_url(value text, field text) returns text
language plpgsql stable set search_path = '' as $$
declare
  url constant text := nullif(btrim(value), '');
begin
  if url !~ '^https?://[^\s/?#@\\]+([/?#]\S*)?$' or length(url) > 2000 then
    perform app.fail('invalid_argument.not_a_link', jsonb_build_object('value', left(url, 40)), field);
  end if;
  return url;
end
$$;
comment on function app.parse_url is 'A link argument; blank is null.';

create function app.parse_paid_on(context app.context, value text, field text) returns date
language plpgsql stable set search_path = '' as $$
declare
  paid_on constant date := app.parse_date(context, value, field);
begin
  if paid_on > context.today + 1 then
    perform app.fail('date_out_of_range.ahead', jsonb_build_object('date', paid_on), field);
  end if;
  if paid_on < context.today - interval '10 years' then
    perform app.fail('date_out_of_range.long_ago', jsonb_build_object('date', paid_on, 'years', 10), field);
  end if;
  return paid_on;
end
$$;
comment on function app.parse_paid_on is 'The day of a payment: at most 10 years back and, for who is ahead of the owner''s clock, one day ahead.';

create function app.parse_expense_item(context app.context, item jsonb, field text, create_missing_categories boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  name constant text := app.clean_text(item ->> 'name');
  payee constant text := app.clean_text(item ->> 'payee');
  currency constant text := coalesce(item ->> 'currency', context.base_currency);
  amount_minor bigint;
  paid_on date;
  tags text[];
  url text;
  category app.category_choice;
begin
  if name is null then
    perform app.fail('invalid_argument.expense_without_name', field => parse_expense_item.field || '.name');
  end if;
  amount_minor := app.parse_amount(item ->> 'amount', currency, field || '.amount');
  paid_on := app.parse_paid_on(context, coalesce(item ->> 'date', 'today'), field || '.date');
  tags := app.clean_tags(item -> 'tags', field || '.tags');
  url := app.parse_url(item ->> 'url', field || '.url');
  category := app.choose_category(context, item ->> 'category', payee, name, field || '.category', create_missing_categories);
  return jsonb_strip_nulls(jsonb_build_object(
    'name', name, 'payee', payee, 'label', lower(coalesce(payee, name)), 'category_id', category.id, 'category_source', category.source,
    'tags', tags, 'note', nullif(btrim(item ->> 'note'), ''), 'url', url, 'external_id', nullif(btrim(item ->> 'external_id'), ''),
    'direction', case when (item ->> 'is_refund')::boolean then 'refund' else 'out' end,
    'amount_minor', amount_minor, 'currency', currency, 'paid_on', paid_on
  ) || coalesce(to_jsonb(app.value_in_base(context.base_currency, amount_minor, currency, paid_on)), '{}'));
end
$$;
comment on function app.parse_expense_item is 'One item as a draft; field is its place in the arguments, for errors.';

create function app.parse_expense_items(context app.context, items jsonb, create_missing_categories boolean) returns jsonb[]
language plpgsql volatile set search_path = '' as $$
declare
  drafts jsonb[] := '{}';
  invalid jsonb := '[]';
  item jsonb;
  index int;
  problem text;
  first jsonb;
begin
  for item, index in select i.value, i.ordinality - 1 from jsonb_array_elements(items) with ordinality as i loop
    begin
      drafts := drafts || (
        app.parse_expense_item(context, item, format('items[%s]', index), create_missing_categories) || jsonb_build_object('place', index)
      );
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
      invalid := invalid || jsonb_build_object(
        'index', index, 'status', 'invalid', 'name', item ->> 'name', 'error', problem::jsonb
      );
    end;
  end loop;
  if invalid <> '[]' then
    first := invalid #> '{0,error}';
    perform app.fail(
      first ->> 'code',
      coalesce(first -> 'params', '{}') || jsonb_build_object('of_items', jsonb_build_object(
        'failed', jsonb_array_length(invalid), 'all', jsonb_array_length(items),
        'first', (invalid #>> '{0,index}')::int + 1, 'name', invalid #>> '{0,name}', 'results', invalid
      )),
      first ->> 'field'
    );
  end if;
  return drafts;
end
$$;
comment on function app.parse_expense_items is 'All items as drafts; when some cannot be, the error is that of the first and details.results lists each.';

create function app.find_external(external_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select e.id
    from app.expenses as e
    where e.external_id = find_external.external_id and e.source = 'assistant' and e.deleted_at is null
  );
end
$$;
comment on function app.find_external is 'The expense in the books with this external id, else null.';

create function app.find_same_payment(draft jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    -- A payment of a bill counts too: who marks the rent paid and then logs it has paid it once.
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.paid_on = (draft ->> 'paid_on')::date and p.amount_minor = (draft ->> 'amount_minor')::bigint
      and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
      and p.deleted_at is null and e.match_key = draft ->> 'label'
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_same_payment is
  'The expense or bill payment in the books of the same day, amount, currency, direction and payee (name, where there is no payee), else null.';

create function app.write_expenses(context app.context, drafts jsonb, source text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into app.expenses (id, organization_id, kind, name, payee, category_id, tags, note, url, source, external_id, created_by)
  select d.id, context.organization_id, 'one_off', d.name, d.payee, d.category_id, d.tags, d.note, d.url, write_expenses.source, d.external_id, context.actor_id
  from jsonb_populate_recordset(null::app.expenses, drafts) with ordinality as d
  order by d.ordinality;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, paid_on, base_currency, base_minor, fx_rate, fx_rate_on, fx_source, source, paid_by
  )
  select context.organization_id, d.id, d.direction, d.amount_minor, d.currency, d.paid_on,
    d.base_currency, d.base_minor, d.fx_rate, d.fx_rate_on, d.fx_source, write_expenses.source, context.actor_id
  from jsonb_populate_recordset(null::app.payments, drafts) with ordinality as d
  order by d.ordinality;
end
$$;
comment on function app.write_expenses is
  'Writes drafts that have an id, each as an expense and its payment, in their order: the only writer of new one-off expenses (undo puts kept rows back).';

create function app.total_drafts(drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}')
    from (
      select d.currency, sum(case d.direction when 'out' then d.amount_minor else -d.amount_minor end) as net
      from jsonb_to_recordset(drafts) as d (currency text, direction text, amount_minor bigint)
      group by d.currency
    ) as s
  );
end
$$;
comment on function app.total_drafts is 'Sums by currency, refunds subtracted: {"EUR": "12.00"}.';

create function app.describe_drafts(context app.context, drafts jsonb, is_preview boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object(
      'index', d.place,
      'status', case when d.id is null then 'duplicate' else 'created' end,
      'id', case when not is_preview then d.id end,
      'existing_id', d.existing_id,
      'name', d.name,
      'date', d.paid_on,
      'amount', app.format_minor(d.amount_minor, c.exponent),
      'currency', d.currency,
      'category', category.name,
      'category_source', d.category_source,
      'base_amount', app.format_minor(d.base_minor, base.exponent)
    ) order by d.place)
    from jsonb_to_recordset(drafts) as d (
      place int, id text, existing_id text, name text, paid_on date, amount_minor bigint, currency text, category_id text, category_source text, base_minor bigint
    )
    join app.currencies as c on c.code = d.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = d.category_id
  );
end
$$;
comment on function app.describe_drafts is 'What becomes of each item of log_expenses.';

create function app.warn_of_drafts(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  skipped text[];
  unrated text[];
  early text[];
  warnings jsonb := '[]';
begin
  select array_agg(d.name order by d.place) filter (where d.id is null),
    array_agg(distinct d.currency) filter (where d.id is not null and d.base_minor is null),
    array_agg(d.name order by d.place) filter (where d.id is not null and d.paid_on > context.today)
  into skipped, unrated, early
  from jsonb_to_recordset(drafts) as d (place int, id text, name text, paid_on date, currency text, base_minor bigint);
  if skipped is not null then
    warnings := warnings || app.warning('duplicate.expenses', jsonb_build_object('names', skipped));
  end if;
  if early is not null then
    warnings := warnings || app.warning('dated_tomorrow', jsonb_build_object('names', early, 'date', context.today + 1));
  end if;
  if unrated is not null then
    warnings := warnings || app.warning('rate_missing.of_day', jsonb_build_object('currencies', unrated, 'into', context.base_currency));
  end if;
  return warnings;
end
$$;
comment on function app.warn_of_drafts is 'What a person should hear about what was logged: items left out, days to come, amounts without a value in the base currency.';

create function app.log_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  is_duplicate_allowed constant boolean := coalesce(arguments ->> 'on_duplicate' = 'allow', false);
  drafts jsonb[] := app.parse_expense_items(
    context, arguments -> 'items', coalesce((arguments ->> 'create_missing_categories')::boolean, false)
  );
  -- Ids of this call by external id.
  own_ids jsonb := '{}';
  known_id text;
  existing_id text;
  written jsonb;
  totals jsonb;
begin
  -- Judged against the books as they were before the call: two equal items in one call are two expenses, but an external id stands for one.
  for i in 1..cardinality(drafts) loop
    known_id := coalesce(app.find_external(drafts[i] ->> 'external_id'), own_ids ->> (drafts[i] ->> 'external_id'));
    existing_id := coalesce(known_id, app.find_same_payment(drafts[i]));
    if existing_id is not null and not is_duplicate_allowed then
      drafts[i] := drafts[i] || jsonb_build_object('existing_id', existing_id);
      continue;
    end if;
    drafts[i] := drafts[i] || jsonb_build_object('id', app.new_id('exp'));
    if known_id is not null then
      drafts[i] := drafts[i] - 'external_id';
    elsif drafts[i] ? 'external_id' then
      own_ids := own_ids || jsonb_build_object(drafts[i] ->> 'external_id', drafts[i] -> 'id');
    end if;
  end loop;

  written := jsonb_path_query_array(to_jsonb(drafts), '$[*] ? (exists(@.id))');
  perform app.write_expenses(context, written, 'assistant');
  totals := app.total_drafts(written);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'results', app.describe_drafts(context, to_jsonb(drafts), coalesce((arguments ->> 'dry_run')::boolean, false)),
      'totals_by_currency', totals
    ),
    'warnings', app.warn_of_drafts(context, to_jsonb(drafts)),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(written),
      -- The first few are enough for people, and are kept a month.
      'written', (
        select coalesce(jsonb_agg(jsonb_build_object('name', d -> 'name', 'is_refund', d ->> 'direction' = 'refund')), '[]')
        from jsonb_array_elements(jsonb_path_query_array(written, '$[0 to 3]')) as d
      ),
      'totals_by_currency', totals
    )
  );
end
$$;
comment on function app.log_expenses is 'Tool log_expenses: data {results, totals_by_currency}; the totals are of what is written.';

revoke all on function
  app.parse_url, app.parse_paid_on, app.parse_expense_item, app.parse_expense_items, app.find_external, app.find_same_payment, app.write_expenses,
  app.total_drafts, app.describe_drafts, app.warn_of_drafts, app.log_expenses
  from public, anon;
grant execute on function
  app.parse_url, app.parse_paid_on, app.parse_expense_item, app.parse_expense_items, app.find_external, app.find_same_payment, app.write_expenses,
  app.total_drafts, app.describe_drafts, app.warn_of_drafts, app.log_expenses
  to authenticated, service_role;
