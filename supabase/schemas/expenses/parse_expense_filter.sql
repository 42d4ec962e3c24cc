-- The filter of list_expenses and summarize_spending, and the payments that match it.

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
  recorded_by uuid
);
comment on type app.expense_filter is
  'A parsed filter. words are patterns for folded text; other text is in lower case. An empty category id means '
  'Uncategorized. Amounts are minor units of amount_currency, compared with the value of each payment; own_bounds '
  'holds them as [least, most] in minor units of every currency.';

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
    if category_id is null and lower(wanted) <> 'uncategorized' then
      perform app.fail_without_category(wanted, field);
    end if;
    ids := ids || coalesce(category_id, '');
  end loop;
  return ids;
end
$$;
comment on function app.find_filter_categories is
  'Returns the ids of the categories that a filter names; null when it names none.';

create or replace function app.find_member(context app.context, wanted text, field text) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  near jsonb;
begin
  if wanted is null or lower(wanted) = 'me' then
    return case when wanted is not null then context.actor_id end;
  end if;
  select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email) order by m.email) into near
  from (
    select m.user_id, m.email, rank() over (order by lower(m.email) <> lower(wanted)) as place
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where strpos(lower(m.email), lower(wanted)) > 0
  ) as m
  where m.place = 1;
  if near is null then
    -- "Benjamin" means ben@… if only one address fits.
    select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email)) into near
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where length(split_part(m.email, '@', 1)) >= 3 and starts_with(lower(wanted), lower(split_part(m.email, '@', 1)))
      and strpos(wanted, '@') = 0;
  end if;
  if jsonb_array_length(near) = 1 then
    return near #>> '{0,id}';
  end if;
  perform app.fail('not_found.member', jsonb_build_object(
    'member', wanted,
    'details', jsonb_build_object('members', coalesce(
      jsonb_path_query_array(near, '$[*].email'),
      (select jsonb_agg(app.member_name(m.user_id) order by m.created_at) from identity.memberships as m)
    ))
  ), field);
  return null;
end
$$;
comment on function app.find_member is
  'Returns the member with this address, or the only one whose address contains the text; null for null. Ends the tool '
  'with not_found and candidates.';

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
    filter.reimbursement
  ) = 0;
end
$$;
comment on function app.is_plain is
  'Whether a filter has only days, categories, a currency or a kind, which the index of payments by day contains.';

-- The next three functions have parsed bodies, so that search_path can't change their meaning, and are inlined into the
-- calling query. Unset conditions disappear before planning, and an unused join with them. Set conditions reject a
-- missing joined row explicitly, so that the planner can start at the joined table.

create or replace function app.matches_filter(filter app.expense_filter, category_id text, tags text[], match_key text,
  name text, payee text, note text, payment_note text)
returns boolean
language sql stable
  return ((filter).category_ids is null or coalesce(category_id, '') = any ((filter).category_ids))
    and ((filter).not_category_ids is null or coalesce(category_id, '') <> all ((filter).not_category_ids))
    and ((filter).payee is null or match_key = (filter).payee)
    and ((filter).tags = '{}' or lower(tags::text)::text[] && (filter).tags)
    and ((filter).words is null or name is not null
      and app.fold_text(concat_ws(' ', name, payee, note, payment_note)) like all ((filter).words));
comment on function app.matches_filter is 'Whether an expense or bill matches a filter.';

create or replace function app.is_amount_within(filter app.expense_filter, minor bigint, currency text,
  base_minor bigint,
  base_currency text) returns boolean
language sql stable
  return (filter).min_minor is null and (filter).max_minor is null
    or case (filter).amount_currency when currency then minor when base_currency then base_minor end
      between coalesce((filter).min_minor, 0) and coalesce((filter).max_minor, 'infinity')
    or minor between ((filter).own_bounds -> currency ->> 0)::numeric
      and ((filter).own_bounds -> currency ->> 1)::numeric;
comment on function app.is_amount_within is
  'Whether an amount is within a filter''s bounds, by its value in the filter''s currency or as charged.';

create or replace function app.kind_of_payment(direction text, expense_id text) returns text
language sql immutable
  return case when direction = 'refund' then 'refund' when starts_with(expense_id, 'bill_') then 'bill_payment'
    else 'one_off' end;
comment on function app.kind_of_payment is 'Returns refund, bill_payment or one_off.';

create or replace function app.find_payments(filter app.expense_filter)
returns table (
  payment_id text, recorded_seq bigint, paid_on date, currency text, direction text, amount_minor bigint,
  base_minor bigint, fx_rate_on date, fx_source text, is_final boolean, charged_minor bigint, charged_currency text,
  sort_minor bigint, paid_by uuid, recorded_by uuid, tax_minor bigint, tax_percent numeric, reimbursement text,
  reimbursed_by text,
  reimbursed_on date, split_id text,
  expense_id text, name text, payee text, category_id text, tags text[], note text, url text, version int
)
language sql stable
begin atomic
  select p.id, p.recorded_seq, p.paid_on, p.currency, p.direction, p.amount_minor, p.base_minor,
    p.fx_rate_on, p.fx_source, p.is_final, p.charged_minor, p.charged_currency, p.sort_minor, p.paid_by, p.recorded_by,
    p.tax_minor,
    p.tax_percent, p.reimbursement, p.reimbursed_by, p.reimbursed_on, p.split_id,
    p.expense_id, e.name, e.payee, p.category_id, e.tags,
    case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, e.url,
    -- An expense and its payment appear as one row, so their changes count together.
    case when starts_with(p.expense_id, 'bill_') then p.version else e.version + p.version - 1 end
  from app.payments as p
  left join app.expenses as e on e.id = p.expense_id
  where p.deleted_at is null
    and ((filter).from_on is null or p.paid_on >= (filter).from_on)
    and ((filter).to_on is null or p.paid_on <= (filter).to_on)
    and ((filter).currency is null or p.currency = (filter).currency)
    and ((filter).kind is null or (filter).kind = app.kind_of_payment(p.direction, p.expense_id))
    and ((filter).reimbursement is null or coalesce(p.reimbursement, 'none') = (filter).reimbursement)
    and ((filter).member_id is null or p.paid_by = (filter).member_id)
    and ((filter).recorded_by is null or p.recorded_by = (filter).recorded_by)
    and ((filter).borne_by is null or p.sharing is null and p.paid_by = (filter).borne_by or exists (
      select from app.payment_shares as s
      where s.payment_id = p.id and s.member_id = (filter).borne_by and s.minor <> 0
    ))
    and app.is_amount_within(filter, p.amount_minor, p.currency, p.base_minor, p.base_currency)
    and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note);
end;
comment on function app.find_payments is
  'Returns the undeleted payments that match a filter, each with its expense or bill.';

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
