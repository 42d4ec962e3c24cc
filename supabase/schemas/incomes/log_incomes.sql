-- Income among the items of log_expenses.

create or replace function app.refuse_income_fields(item jsonb, allowed text[], field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  others constant text[] := array(
    select i.key from jsonb_each(item) as i
    where i.key <> all (allowed) and i.value not in ('null', 'false', '[]', '""', '{}') order by i.key
  );
begin
  if others <> '{}' then
    perform app.fail(
      'invalid_argument.income_fields',
      jsonb_build_object('fields', others, 'taken', array_remove(allowed, 'kind')), concat_ws('.', field, others[1])
    );
  end if;
end
$$;
comment on function app.refuse_income_fields is 'Ends the tool with invalid_argument for a field that income lacks.';

create or replace function app.parse_received_on(context app.context, value text, field text, is_rule boolean,
  may_be_ahead boolean default false) returns date
language plpgsql stable set search_path = '' as $$
declare
  most constant interval := '5 years';
  day constant date := app.parse_date(context, value, field, not is_rule);
begin
  if day > context.today + 1 and not (is_rule or may_be_ahead) or day > context.today + most then
    perform app.fail('date_out_of_range.income_ahead', jsonb_build_object('date', day), field);
  end if;
  return case when day > context.today + 1 then day else app.parse_paid_on(context, value, field) end;
end
$$;
comment on function app.parse_received_on is
  'Returns the day of an income. It may be in the future for a rule or for expected income.';

create or replace function app.find_same_income(context app.context, income app.incomes, before_seq bigint) returns text
language plpgsql stable set search_path = '' as $$
declare
  days constant int := 5;
begin
  return (
    select i.id
    from app.incomes as i
    where i.organization_id = context.organization_id and i.deleted_at is null and i.recorded_seq <= before_seq
      and i.received_on between income.received_on - days and income.received_on + days
      and i.currency = income.currency
      and (
        i.amount_minor = income.amount_minor and i.received_on = income.received_on
        and lower(i.name) = lower(income.name)
        -- A statement has the payer's name and the exact amount, while people use their own names and round amounts.
        or (i.source = 'import' or i.line_id is not null)
        and (
          i.amount_minor = income.amount_minor
          or abs(i.amount_minor - income.amount_minor) * 20 <= i.amount_minor
          and (
            app.compare_names(app.descriptor_words(i.name), app.descriptor_words(income.name)) >= 2
            or i.sort <> 'other' and i.sort = income.sort and app.may_share_payer(i.name, income.name)
          )
        )
      )
    order by i.amount_minor = income.amount_minor desc, i.received_on = income.received_on desc, i.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_same_income is
  'Returns the income with the same name, amount and day. Otherwise returns income from a statement up to five days '
  'before or after. It has the same amount, or a similar name or the same sort and an amount within 5 percent. Names '
  'of different payers never match, even with the same sort.';

create or replace function app.describe_income(context app.context, income app.incomes) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  schedule constant app.expenses :=
    app.income_schedule(income.frequency, income.every, income.anchor_on, income.ends_on);
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', income.id, 'kind', 'income', 'name', income.name, 'date', income.received_on,
    'amount', app.format_amount(income.amount_minor, income.currency), 'currency', income.currency,
    'base_amount', case when income.currency <> context.base_currency and income.received_on is not null then
      app.format_amount((app.value_in_base(
        context.base_currency, income.amount_minor, income.currency, income.received_on
      )).base_minor, context.base_currency) end,
    'sort', income.sort, 'category', (select c.name from app.categories as c where c.id = income.category_id),
    'note', income.note, 'account', (select a.name from app.accounts as a where a.id = income.account_id),
    'repeats', case when income.ends_on = income.anchor_on then 'once'
      else app.spell_rhythm(income.frequency, income.every) end,
    'next_on', case when income.anchor_on is not null then (
      app.dates_between(schedule, context.today, (context.today + interval '5 years')::date)
    )[1] end,
    'version', income.version
  ));
end
$$;
comment on function app.describe_income is
  'Returns an income for answers. A rule has repeats and next_on in place of date.';

create or replace function app.log_income(context app.context, item jsonb, field text, before_seq bigint,
  request jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  payer constant text := app.clean_text(item ->> 'payee');
  payer_words constant text[] := case when payer is not null then app.payer_words(payer) end;
  day constant date := app.parse_received_on(
    context, coalesce(item ->> 'date', 'today'), field || '.date', item ->> 'repeats' is not null, true
  );
  rhythm constant text := coalesce(item ->> 'repeats', case when day > context.today + 1 then 'once' end);
  income app.incomes;
  same_id text;
  added jsonb;
  shown jsonb;
begin
  perform app.refuse_income_fields(item, array[
    'name', 'amount', 'kind', 'currency', 'date', 'payee', 'category', 'note', 'repeats'
  ], field);
  income.name := app.clean_text(item ->> 'name');
  if income.name is null then
    perform app.fail('invalid_argument.expense_without_name', field => field || '.name');
  end if;
  if strpos(lower(income.name), lower(payer)) = 0
    and not (payer_words <> '{}' and payer_words <@ app.payer_words(income.name)) then
    income.name := left(income.name || ', ' || payer, 120);
  end if;
  income.currency := coalesce(item ->> 'currency', context.base_currency);
  income.amount_minor := app.parse_amount(item ->> 'amount', income.currency, field || '.amount');
  income.sort := app.income_sort(concat_ws(' ', income.name, item ->> 'category'));
  income.category_id := coalesce(app.find_category(
    context, item ->> 'category', field || '.category', (request ->> 'create_missing_categories')::boolean
  ), app.choose_income_category(context, payer, app.clean_text(item ->> 'name'), income.name, day));
  income.creator_sees := app.is_hidden_category(income.category_id);
  income.note := nullif(btrim(item ->> 'note'), '');
  income.received_on := day;
  if rhythm is null or day <= context.today then
    if request ->> 'on_duplicate' is distinct from 'allow' then
      same_id := app.find_same_income(context, income, before_seq);
    end if;
    if same_id is null then
      insert into app.incomes as i (
        organization_id, name, sort, category_id, amount_minor, currency, received_on, note, source, created_by,
        creator_sees
      ) values (
        context.organization_id, income.name, income.sort, income.category_id, income.amount_minor, income.currency,
        income.received_on, income.note, 'assistant', context.actor_id, income.creator_sees
      ) returning i.* into income;
    else
      select i.* into income from app.incomes as i where i.id = same_id;
    end if;
    shown := app.describe_income(context, income);
  end if;
  if rhythm is not null then
    added := app.add_income_rule(context, income, rhythm, day);
    shown := coalesce(shown || jsonb_build_object('rule', (added -> 'rule') - 'kind'), added -> 'rule');
  end if;
  return jsonb_build_object(
    'result', case when shown ->> 'id' = same_id or not (added ->> 'is_new')::boolean and not shown ? 'rule'
        then jsonb_build_object('existing_id', shown -> 'id') || (shown - 'id') else shown end
      || jsonb_build_object('status', case
        when coalesce((added ->> 'is_new')::boolean, false) or shown ->> 'date' is not null and same_id is null
        then 'created' else 'duplicate' end),
    'added', added
  );
end
$$;
comment on function app.log_income is
  'Stores an income and, with repeats, a rule for the next ones: {result, added?: by app.add_income_rule}. A rule that '
  'begins later is stored alone. Income of a later day becomes a rule for this day alone.';

create or replace function app.log_incomes(context app.context, request jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  is_preview constant boolean := coalesce((request ->> 'dry_run')::boolean, false);
  before_seq constant bigint := (
    select coalesce(max(i.recorded_seq), 0) from app.incomes as i
    where i.organization_id = context.organization_id
  );
  logged jsonb;
  results jsonb := '[]';
  added jsonb := '[]';
  item jsonb;
  index int;
begin
  for item, index in
    select i.value, i.ordinality - 1 from jsonb_array_elements(request -> 'items') with ordinality as i
    where i.value ->> 'kind' = 'income'
  loop
    logged := app.log_income(context, item, format('items[%s]', index), before_seq, request);
    results := results || ((logged -> 'result') || jsonb_build_object('index', index) || case
      when is_preview and logged #>> '{result,status}' = 'created'
        then '{"status":"would_create","id":null}' else '{}' end::jsonb);
    added := added || jsonb_build_array(logged -> 'added');
  end loop;
  return jsonb_build_object(
    'results', results,
    'warnings', case when not jsonb_path_exists(added, '$[*].others[*]') then '[]'
        else jsonb_build_array(app.warning('income_expected_twice', jsonb_build_object(
          'rules', jsonb_path_query_array(added, '$[*].others[*]')
        ))) end
      || case when not jsonb_path_exists(added, '$[*].alike[*]') then '[]'
        else jsonb_build_array(app.warning('income_alike', jsonb_build_object(
          'items', jsonb_path_query_array(added, '$[*].alike[*]')
        ))) end
      || case when not jsonb_path_exists(added, '$[*].known[*]') then '[]'
        else jsonb_build_array(app.warning('income_known', jsonb_build_object(
          'items', jsonb_path_query_array(added, '$[*].known[*]')
        ))) end
      || case when not jsonb_path_exists(results, '$[*] ? (@.repeats == "once")') then '[]'
        else jsonb_build_array(app.warning('income_planned', jsonb_build_object(
          'names', jsonb_path_query_array(results, '$[*] ? (@.repeats == "once").name')
        ))) end
      || case when not jsonb_path_exists(results, '$[*] ? (@.status == "duplicate")') then '[]'
        else jsonb_build_array(app.warning('duplicate.income', jsonb_build_object(
          'names', jsonb_path_query_array(results, '$[*] ? (@.status == "duplicate").name')
        ))) end,
    'facts', coalesce((
      select jsonb_build_object('incomes', jsonb_agg(jsonb_build_object(
        'name', r -> 'name', 'date', coalesce(r -> 'date', r -> 'next_on'), 'amount', r -> 'amount',
        'currency', r -> 'currency', 'repeats', coalesce(r #> '{rule,repeats}', r -> 'repeats')
      )))
      from jsonb_path_query(results, '$[0 to 3] ? (@.status != "duplicate")') as r
      having count(*) > 0
    ), '{}')
  );
end
$$;
comment on function app.log_incomes is
  'Stores the income among the items of log_expenses: {results, warnings, facts}.';
