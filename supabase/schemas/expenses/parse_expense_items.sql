-- log_expenses records all items or none, and recognizes duplicates.

-- A draft is an item before it is written: an object with columns of app.expenses and app.payments. It also has place
-- (in the call or file), match_key, category_source, and existing_id for a duplicate. A split draft has the fields of
-- each part in parts. Empty fields are absent.

create or replace function app.parse_url(value text, field text) returns text
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
comment on function app.parse_url is
  'Returns a link argument; null when blank. Ends the tool with invalid_argument when it isn''t an http(s) link.';

create or replace function app.parse_paid_on(context app.context, value text, field text) returns date
language plpgsql stable set search_path = '' as $$
declare
  paid_on constant date := app.parse_date(context, value, field, true);
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
comment on function app.parse_paid_on is
  'Returns the day of a payment. Allows 10 years back, and one day ahead for people east of the owner''s time zone; '
  'otherwise ends the tool with date_out_of_range.';

create or replace function app.refuse_income(item jsonb, field text) returns void
language plpgsql stable set search_path = '' as $$
begin
  if app.is_income(item ->> 'name', app.clean_text(item ->> 'category'), (item ->> 'is_refund')::boolean) then
    perform app.fail('invalid_argument.income', jsonb_build_object('name', app.clean_text(item ->> 'name')), field);
  end if;
end
$$;
comment on function app.refuse_income is 'Ends the tool with invalid_argument if an item is income.';

create or replace function app.parse_expense_item(context app.context, item jsonb, field text,
  create_missing_categories boolean, chosen app.category_choice default null) returns jsonb
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
  charged record;
  tax record;
  reimbursed record;
  draft jsonb;
begin
  if name is null then
    perform app.fail('invalid_argument.expense_without_name', field => parse_expense_item.field || '.name');
  end if;
  perform app.refuse_income(item, field || '.name');
  if item ->> 'repeats' is not null then
    perform app.fail('invalid_argument.repeats_without_income', field => field || '.repeats');
  end if;
  amount_minor := app.parse_amount(item ->> 'amount', currency, field || '.amount');
  charged := app.parse_charged(context, item -> 'charged', currency, field || '.charged');
  tax := app.parse_tax(item, amount_minor, currency, field);
  reimbursed := app.parse_reimbursement(context, item, field);
  paid_on := app.parse_paid_on(context, coalesce(item ->> 'date', 'today'), field || '.date');
  tags := app.clean_tags(item -> 'tags', field || '.tags');
  url := app.parse_url(item ->> 'url', field || '.url');
  category := coalesce(chosen, app.choose_category(
    context, item ->> 'category', payee, name, field || '.category', create_missing_categories
  ));
  draft := jsonb_strip_nulls(jsonb_build_object(
    'name', name, 'payee', payee, 'match_key', lower(coalesce(payee, name)), 'category_id', category.id,
    'category_source',
    category.source,
    'tags', tags, 'note', nullif(btrim(item ->> 'note'), ''), 'url', url, 'external_id',
    nullif(btrim(item ->> 'external_id'), ''),
    'direction', case when (item ->> 'is_refund')::boolean then 'refund' else 'out' end,
    'amount_minor', amount_minor, 'currency', currency, 'charged_minor', charged.minor,
    'charged_currency', charged.charged_currency, 'paid_on', paid_on, 'tax_minor', tax.minor, 'tax_percent', tax.rate,
    'reimbursement', reimbursed.reimbursement, 'reimbursed_by', reimbursed.reimbursed_by,
    'reimbursed_on', reimbursed.reimbursed_on, 'paid_by',
    app.parse_payer(context, item ->> 'paid_by', field || '.paid_by'),
    'sharing', case when item ? 'shared'
      then app.parse_sharing(context, item -> 'shared', amount_minor, currency, field || '.shared') end
  ));
  perform app.check_shared(
    draft -> 'sharing', coalesce((draft ->> 'paid_by')::uuid, context.actor_id), category.id, field || '.shared'
  );
  return draft || case when item ? 'split' then jsonb_build_object('parts', app.parse_split(
    context, item -> 'split', draft, field || '.split', create_missing_categories
  )) else '{}' end;
end
$$;
comment on function app.parse_expense_item is
  'Returns one item as a draft. field is its path in the arguments, for errors. A chosen category replaces the '
  'item''s.';

create or replace function app.fail_items(invalid jsonb, count int) returns void
language plpgsql stable set search_path = '' as $$
declare
  first constant jsonb := invalid #> '{0,error}';
begin
  perform app.fail(
    first ->> 'code',
    coalesce(first -> 'params', '{}') || jsonb_build_object('of_items', jsonb_build_object(
      'failed', jsonb_array_length(invalid), 'all', fail_items.count,
      'first', (invalid #>> '{0,index}')::int + 1, 'name', invalid #>> '{0,name}', 'results', invalid
    )),
    first ->> 'field'
  );
end
$$;
comment on function app.fail_items is
  'Ends the call with the error of its first invalid item. invalid is [{index, status: invalid, name, error}], and '
  'details.results repeats it.';

create or replace function app.parse_expense_items(context app.context, items jsonb, create_missing_categories boolean)
  returns jsonb[]
language plpgsql volatile set search_path = '' as $$
declare
  drafts jsonb[] := '{}';
  invalid jsonb := '[]';
  item jsonb;
  index int;
  problem text;
begin
  for item, index in
    select i.value, i.ordinality - 1 from jsonb_array_elements(items) with ordinality as i
    where not i.value ? 'kind'
  loop
    begin
      drafts := drafts || (
        app.parse_expense_item(context, item, format('items[%s]', index), create_missing_categories)
          || jsonb_build_object('place', index)
      );
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
      invalid := invalid || jsonb_build_object(
        'index', index, 'status', 'invalid', 'name', item ->> 'name', 'error', problem::jsonb
      );
    end;
  end loop;
  if invalid <> '[]' then
    perform app.fail_items(invalid, jsonb_array_length(items));
  end if;
  return drafts;
end
$$;
comment on function app.parse_expense_items is 'Returns all items as drafts; ends the call when any is invalid.';
