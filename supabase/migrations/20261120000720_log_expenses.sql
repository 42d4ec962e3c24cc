-- log_expenses: writes down money that left, or came back. All items or none; what is already in the books is not written twice.
-- Row-level security keeps every statement inside the organization of the request, here and in the tools that follow.

create type app.expense_draft as (
  name text,
  payee text,
  amount_minor bigint,
  currency text,
  direction text,
  paid_on date,
  base app.base_value,
  category_id text,
  category_source text,
  tags text[],
  note text,
  external_id text,
  id text,
  existing_id text
);
comment on type app.expense_draft is 'An item of log_expenses on its way into the books: id when it is to be written, existing_id when it is there already.';

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

create function app.parse_expense_item(context app.context, item jsonb, field text, create_missing_categories boolean) returns app.expense_draft
language plpgsql volatile set search_path = '' as $$
declare
  draft app.expense_draft;
  category app.category_choice;
begin
  draft.name := app.clean_text(item ->> 'name');
  if draft.name is null then
    perform app.fail('invalid_argument.expense_without_name', field => parse_expense_item.field || '.name');
  end if;
  draft.payee := app.clean_text(item ->> 'payee');
  draft.currency := coalesce(item ->> 'currency', context.base_currency);
  draft.amount_minor := app.parse_amount(item ->> 'amount', draft.currency, field || '.amount');
  draft.direction := case when (item ->> 'is_refund')::boolean then 'refund' else 'out' end;
  draft.paid_on := app.parse_paid_on(context, coalesce(item ->> 'date', 'today'), field || '.date');
  draft.base := app.value_in_base(context.base_currency, draft.amount_minor, draft.currency, draft.paid_on);
  draft.tags := app.clean_tags(item -> 'tags', field || '.tags');
  draft.note := nullif(btrim(item ->> 'note'), '');
  draft.external_id := nullif(btrim(item ->> 'external_id'), '');
  category := app.choose_category(context, item ->> 'category', draft.payee, draft.name, field || '.category', create_missing_categories);
  draft.category_id := category.id;
  draft.category_source := category.source;
  return draft;
end
$$;
comment on function app.parse_expense_item is 'One item as it would be written; field is its place in the arguments, for errors.';

create function app.parse_expense_items(context app.context, items jsonb, create_missing_categories boolean) returns app.expense_draft[]
language plpgsql volatile set search_path = '' as $$
declare
  drafts app.expense_draft[] := '{}';
  invalid jsonb := '[]';
  item jsonb;
  index int;
  problem text;
  first jsonb;
begin
  for item, index in select i.value, i.ordinality - 1 from jsonb_array_elements(items) with ordinality as i loop
    begin
      drafts := drafts || app.parse_expense_item(context, item, format('items[%s]', index), create_missing_categories);
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
comment on function app.parse_expense_items is 'All items as they would be written; when some cannot be, the error is that of the first and details.results lists each.';

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

create function app.find_same_payment(draft app.expense_draft) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    -- A payment of a bill counts too: who marks the rent paid and then logs it has paid it once.
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.paid_on = draft.paid_on and p.amount_minor = draft.amount_minor and p.currency = draft.currency and p.direction = draft.direction
      and p.deleted_at is null and e.label = lower(coalesce(draft.payee, draft.name))
    order by p.entry desc
    limit 1
  );
end
$$;
comment on function app.find_same_payment is
  'The expense or bill payment in the books of the same day, amount, currency, direction and payee (name, where there is no payee), else null.';

create function app.describe_drafts(context app.context, drafts app.expense_draft[], is_preview boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'results', (
      select jsonb_agg(jsonb_build_object(
        'index', d.ordinality - 1,
        'status', case when d.id is null then 'duplicate' else 'created' end,
        'id', case when not is_preview then d.id end,
        'existing_id', d.existing_id,
        'name', d.name,
        'date', d.paid_on,
        'amount', app.format_minor(d.amount_minor, c.exponent),
        'currency', d.currency,
        'category', category.name,
        'category_source', d.category_source,
        'base_amount', app.format_minor((d.base).base_minor, base.exponent)
      ) order by d.ordinality)
      from unnest(drafts) with ordinality as d
      join app.currencies as c on c.code = d.currency
      join app.currencies as base on base.code = context.base_currency
      left join app.categories as category on category.id = d.category_id
    ),
    'totals_by_currency', (
      select coalesce(jsonb_object_agg(sums.currency, app.format_minor(sums.net, c.exponent)), '{}')
      from (
        select d.currency, sum(case d.direction when 'out' then d.amount_minor else -d.amount_minor end) as net
        from unnest(drafts) as d
        where d.id is not null
        group by d.currency
      ) as sums
      join app.currencies as c on c.code = sums.currency
    )
  );
end
$$;
comment on function app.describe_drafts is 'Data of log_expenses: {results, totals_by_currency}; the totals are of what is written.';

create function app.warn_of_drafts(context app.context, drafts app.expense_draft[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  skipped text[];
  unrated text[];
  early text[];
  warnings jsonb := '[]';
begin
  select array_agg(d.name order by d.ordinality) filter (where d.id is null),
    array_agg(distinct d.currency) filter (where d.id is not null and (d.base).base_minor is null),
    array_agg(d.name order by d.ordinality) filter (where d.id is not null and d.paid_on > context.today)
  into skipped, unrated, early
  from unnest(drafts) with ordinality as d;
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
  drafts app.expense_draft[] := app.parse_expense_items(
    context, arguments -> 'items', coalesce((arguments ->> 'create_missing_categories')::boolean, false)
  );
  known_id text;
  data jsonb;
begin
  -- Judged against the books as they were before the call: two equal items in one call are two expenses, but an external id stands for one.
  for i in 1..cardinality(drafts) loop
    known_id := coalesce(
      app.find_external(drafts[i].external_id),
      (select d.id from unnest(drafts[:i - 1]) as d where d.external_id = drafts[i].external_id and d.id is not null)
    );
    drafts[i].existing_id := coalesce(known_id, app.find_same_payment(drafts[i]));
    if drafts[i].existing_id is null or is_duplicate_allowed then
      drafts[i].id := app.new_id('exp');
      drafts[i].existing_id := null;
      if known_id is not null then
        drafts[i].external_id := null;
      end if;
    end if;
  end loop;

  insert into app.expenses (id, organization_id, kind, name, payee, category_id, tags, note, external_id, created_by)
  select d.id, context.organization_id, 'one_off', d.name, d.payee, d.category_id, d.tags, d.note, d.external_id, context.actor_id
  from unnest(drafts) with ordinality as d
  where d.id is not null
  order by d.ordinality;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, paid_on, base_currency, base_minor, fx_rate, fx_rate_on, fx_source, paid_by
  )
  select context.organization_id, d.id, d.direction, d.amount_minor, d.currency, d.paid_on,
    (d.base).base_currency, (d.base).base_minor, (d.base).fx_rate, (d.base).fx_rate_on, (d.base).fx_source, context.actor_id
  from unnest(drafts) with ordinality as d
  where d.id is not null
  order by d.ordinality;

  data := app.describe_drafts(context, drafts, coalesce((arguments ->> 'dry_run')::boolean, false));
  return jsonb_build_object(
    'data', data, 'warnings', app.warn_of_drafts(context, drafts),
    'facts', jsonb_build_object(
      'written', (
        select coalesce(jsonb_agg(jsonb_build_object('name', d.name, 'is_refund', d.direction = 'refund') order by d.ordinality), '[]')
        from unnest(drafts) with ordinality as d
        where d.id is not null
      ),
      'totals_by_currency', data -> 'totals_by_currency'
    )
  );
end
$$;
comment on function app.log_expenses is 'Tool log_expenses: data {results, totals_by_currency}.';

revoke all on function
  app.parse_paid_on, app.parse_expense_item, app.parse_expense_items, app.find_external, app.find_same_payment, app.describe_drafts,
  app.warn_of_drafts, app.log_expenses
  from public, anon;
grant execute on function
  app.parse_paid_on, app.parse_expense_item, app.parse_expense_items, app.find_external, app.find_same_payment, app.describe_drafts,
  app.warn_of_drafts, app.log_expenses
  to authenticated, service_role;
