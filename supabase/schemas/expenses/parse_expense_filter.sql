-- The filter of list_expenses and summarize_spending.

create type app.expense_filter as (
  from_on date,
  to_on date,
  words text[],
  category_ids text[],
  not_category_ids text[],
  tags text[],
  payee text,
  member_id uuid,
  min_minor numeric,
  max_minor numeric,
  amount_currency text,
  currency text,
  kind text,
  reimbursement text,
  own_bounds jsonb,
  borne_by uuid,
  recorded_by uuid,
  has_document boolean,
  pattern text
);
comment on type app.expense_filter is
  'A parsed filter. words are patterns for folded text; other text is in lower case. An empty category id means '
  'Uncategorized. Amounts are minor units of amount_currency, compared with the value of each payment; own_bounds '
  'holds them as [least, most] in minor units of every currency. Text that matches pattern needs none of the words.';

create or replace function app.find_filter_categories(names jsonb, field text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  ids text[];
  category_id text;
  wanted text;
begin
  for wanted in select app.clean_text(n) from jsonb_array_elements_text(names) as n loop
    -- Include archived categories, whose spending stays in the books.
    select c.id into category_id from app.categories as c where lower(c.name) = lower(wanted)
    order by c.is_private desc limit 1;
    if category_id is null and not app.means_uncategorized(wanted) then
      perform app.fail_without_category(wanted, field);
    end if;
    ids := ids || coalesce(category_id, '');
  end loop;
  return ids;
end
$$;
comment on function app.find_filter_categories is 'Returns the ids of the categories in a filter; null without any.';

create or replace function app.parse_expense_filter(context app.context, arguments jsonb) returns app.expense_filter
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter;
  base_exponent int;
begin
  filter.from_on := app.parse_date(context, arguments ->> 'from', 'from', true);
  filter.to_on := app.parse_date(context, arguments ->> 'to', 'to', true);
  if filter.from_on > filter.to_on then
    perform app.fail('invalid_argument.period_backwards',
      jsonb_build_object('from', filter.from_on, 'to', filter.to_on), 'to');
  end if;
  filter.words := app.word_patterns(arguments ->> 'query');
  filter.payee := lower(app.clean_text(arguments ->> 'payee'));
  filter.kind := arguments ->> 'kind';
  filter.reimbursement := arguments ->> 'reimbursement';
  filter.has_document := arguments ->> 'has_document';
  filter.currency := arguments ->> 'currency';
  filter.amount_currency := coalesce(filter.currency, context.base_currency);
  base_exponent := app.currency_exponent(filter.amount_currency, 'currency');
  filter.min_minor := (arguments ->> 'min_amount')::numeric * 10::numeric ^ base_exponent;
  filter.max_minor := (arguments ->> 'max_amount')::numeric * 10::numeric ^ base_exponent;
  if filter.min_minor > filter.max_minor then
    perform app.fail('invalid_argument.amounts_backwards', field => 'max_amount');
  end if;
  -- Two bounds find an amount as charged, in any currency. A single bound compares values, since 1,280 JPY isn't more
  -- than 1,000 EUR.
  if num_nonnulls(filter.min_minor, filter.max_minor) = 2 then
    filter.own_bounds := (
      select jsonb_object_agg(c.code, jsonb_build_array(
        filter.min_minor * 10::numeric ^ (c.exponent - base_exponent),
        filter.max_minor * 10::numeric ^ (c.exponent - base_exponent)
      ))
      from app.currencies as c
    );
  end if;
  filter.tags := array(select lower(t) from unnest(nullif(app.clean_tags(arguments -> 'tags', 'tags'), '{}')) as t);
  filter.category_ids := app.find_filter_categories(arguments -> 'categories', 'categories');
  filter.not_category_ids := app.find_filter_categories(arguments -> 'not_categories', 'not_categories');
  filter.member_id := app.find_member(context, app.clean_text(arguments ->> 'member'), 'member');
  filter.borne_by := app.find_member(context, app.clean_text(arguments ->> 'borne_by'), 'borne_by');
  filter.recorded_by := app.find_member(context, app.clean_text(arguments ->> 'recorded_by'), 'recorded_by');
  return filter;
end
$$;
comment on function app.parse_expense_filter is
  'Returns the filter from the arguments of list_expenses or summarize_spending.';

create or replace function app.is_plain(filter app.expense_filter) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return filter.tags = '{}' and num_nonnulls(
    filter.words, filter.payee, filter.member_id, filter.borne_by, filter.recorded_by, filter.min_minor,
    filter.max_minor,
    filter.reimbursement, filter.has_document
  ) = 0;
end
$$;
comment on function app.is_plain is
  'Whether a filter has only days, categories, a currency or a kind, which the index of payments by day contains.';

create or replace function app.warn_of_unvalued(filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  without_amounts app.expense_filter := filter;
  unvalued int;
begin
  if num_nonnulls(filter.min_minor, filter.max_minor) = 0 then
    return '[]';
  end if;
  without_amounts.min_minor := null;
  without_amounts.max_minor := null;
  select count(*) into unvalued
  from app.find_payments(without_amounts) as p
  where p.base_minor is null and p.currency <> filter.amount_currency
    and app.is_amount_within(filter, p.amount_minor, p.currency, null, p.currency) is not true;
  return case when unvalued = 0 then '[]' else jsonb_build_array(
    app.warning('rate_missing.of_filter', jsonb_build_object('count', unvalued, 'into', filter.amount_currency))
  ) end;
end
$$;
comment on function app.warn_of_unvalued is
  'Returns a warning about payments that cannot be compared with a filter''s amounts because no rate is known.';
