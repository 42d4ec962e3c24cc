-- list_expenses: what left and what came back, row by row, with totals over the whole filter whatever the page.

create type app.expense_filter as (
  from_on date,
  to_on date,
  query text,
  category_ids text[],
  tags text[],
  payee text,
  min_amount numeric,
  max_amount numeric,
  currency text,
  kind text
);
comment on type app.expense_filter is
  'Which payments are meant. Texts are in lower case, Uncategorized is the empty category id, amounts are major units of each payment''s own currency.';

create function app.parse_expense_filter(context app.context, arguments jsonb) returns app.expense_filter
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter;
  wanted text;
  category_id text;
begin
  filter.from_on := app.parse_date(context, arguments ->> 'from', 'from');
  filter.to_on := app.parse_date(context, arguments ->> 'to', 'to');
  if filter.from_on > filter.to_on then
    perform app.fail('invalid_argument.period_backwards', jsonb_build_object('from', filter.from_on, 'to', filter.to_on), 'to');
  end if;
  filter.query := lower(app.clean_text(arguments ->> 'query'));
  filter.payee := lower(app.clean_text(arguments ->> 'payee'));
  filter.kind := arguments ->> 'kind';
  filter.currency := arguments ->> 'currency';
  if filter.currency is not null then
    perform app.currency_exponent(filter.currency, 'currency');
  end if;
  filter.min_amount := (arguments ->> 'min_amount')::numeric;
  filter.max_amount := (arguments ->> 'max_amount')::numeric;
  if filter.min_amount > filter.max_amount then
    perform app.fail('invalid_argument.amounts_backwards', field => 'max_amount');
  end if;
  filter.tags := array(select lower(t) from unnest(nullif(app.clean_tags(arguments -> 'tags', 'tags'), '{}')) as t);
  for wanted in select app.clean_text(c) from jsonb_array_elements_text(arguments -> 'categories') as c loop
    -- Archived ones included: what was spent on them stays in the books.
    select c.id into category_id from app.categories as c where lower(c.name) = lower(wanted);
    if category_id is null and lower(wanted) <> 'uncategorized' then
      perform app.fail_without_category(wanted, 'categories');
    end if;
    filter.category_ids := filter.category_ids || coalesce(category_id, '');
  end loop;
  return filter;
end
$$;
comment on function app.parse_expense_filter is 'The filter arguments of list_expenses and summarize_spending.';

-- The next two were parsed when they were created, so that no search_path changes their meaning, and are inlined into the query that asks:
-- a condition that is not set is gone before planning, and with the last condition on a joined table so is the join. A condition that is set
-- is false without the joined row, and says so, that the planner may begin there.

create function app.matches_filter(filter app.expense_filter, category_id text, tags text[], match_key text, name text, payee text, note text, payment_note text)
returns boolean
language sql stable
  return ((filter).category_ids is null or coalesce(category_id, '') = any ((filter).category_ids))
    and ((filter).payee is null or match_key = (filter).payee)
    and ((filter).tags = '{}' or lower(tags::text)::text[] && (filter).tags)
    and ((filter).query is null or name is not null and strpos(lower(concat_ws(E'\n', name, payee, note, payment_note)), (filter).query) > 0);
comment on function app.matches_filter is 'Whether an expense or bill is one that a filter asks for.';

create function app.find_payments(filter app.expense_filter)
returns table (
  payment_id text, recorded_seq bigint, paid_on date, currency text, direction text, amount_minor bigint, sort_minor bigint, paid_by uuid,
  expense_id text, name text, payee text, category_id text, tags text[], note text, url text, version int
)
language sql stable
begin atomic
  select p.id, p.recorded_seq, p.paid_on, p.currency, p.direction, p.amount_minor, p.sort_minor, p.paid_by,
    p.expense_id, e.name, e.payee, p.category_id, e.tags,
    case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, e.url,
    -- What is shown as one row counts the changes to both of its rows.
    case when starts_with(p.expense_id, 'bill_') then p.version else e.version + p.version - 1 end
  from app.payments as p
  left join app.expenses as e on e.id = p.expense_id
  left join app.currencies as c on c.code = p.currency
  where p.deleted_at is null
    and ((filter).from_on is null or p.paid_on >= (filter).from_on)
    and ((filter).to_on is null or p.paid_on <= (filter).to_on)
    and ((filter).currency is null or p.currency = (filter).currency)
    and ((filter).kind is null or (filter).kind = case
      when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment' else 'one_off'
    end)
    and ((filter).min_amount is null or p.amount_minor >= (filter).min_amount * 10::numeric ^ c.exponent)
    and ((filter).max_amount is null or p.amount_minor <= (filter).max_amount * 10::numeric ^ c.exponent)
    and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note);
end;
comment on function app.find_payments is 'Payments in the books that a filter lets through, with the expense or bill that each belongs to.';

create function app.list_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set random_page_cost = 1.1 as $$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  is_csv constant boolean := coalesce(arguments ->> 'format' = 'csv', false);
  is_by_amount constant boolean := coalesce(arguments ->> 'sort' = 'amount', false);
  is_ascending constant boolean := coalesce(arguments ->> 'order' = 'asc', false);
  page_size constant int := coalesce((arguments ->> 'limit')::int, case when is_csv then 500 else 25 end);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_expenses', arguments - 'cursor' - 'limit');
  key constant jsonb := app.read_cursor(scope, arguments ->> 'cursor', case when is_by_amount then 'bigint'::regtype else 'date' end);
  page jsonb[];
  next_cursor text;
  total_count bigint;
  totals jsonb;
begin
  -- Put together from fixed words alone. An order that an index can follow cannot be a parameter. Matches that only the text of each row can
  -- tell are found once; others are counted in one index and read, page by page, along another.
  execute format(
    $query$
      with matching as %5$s (
        select p.*, %1$s as sort_key from app.find_payments($1) as p
      ),
      sums as (
        select m.currency, count(*) as count, sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end) as net
        from matching as m
        group by m.currency
      ),
      page as (
        select m.*
        from matching as m
        where $2 is null or (m.sort_key, m.recorded_seq) %3$s (($2 ->> 0)::%4$s, ($2 ->> 1)::bigint)
        order by m.sort_key %2$s, m.recorded_seq %2$s
        limit $3 + 1
      )
      select
        (select coalesce(sum(s.count), 0) from sums as s),
        (
          select coalesce(jsonb_object_agg(s.currency, app.format_minor(s.net, c.exponent)), '{}')
          from sums as s join app.currencies as c on c.code = s.currency
        ),
        array(
          select jsonb_build_object(
            'id', case when starts_with(p.expense_id, 'bill_') then p.payment_id else p.expense_id end,
            'kind', case when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment' else 'one_off' end,
            'date', p.paid_on, 'name', p.name, 'payee', p.payee, 'category', category.name, 'tags', nullif(p.tags, '{}'), 'note', p.note, 'url', p.url,
            'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
            'base_amount', app.format_minor(value.base_minor, base.exponent),
            'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end, 'version', p.version,
            -- Where it stands in the order.
            'key', jsonb_build_array(p.sort_key, p.recorded_seq)
          )
          from page as p
          join app.currencies as c on c.code = p.currency
          join app.currencies as base on base.code = $4
          left join app.categories as category on category.id = p.category_id
          cross join app.value_in_base($4, p.amount_minor, p.currency, p.paid_on) as value
          order by p.sort_key %2$s, p.recorded_seq %2$s
        )
    $query$,
    case when is_by_amount then 'p.sort_minor' else 'p.paid_on' end,
    case when is_ascending then 'asc' else 'desc' end,
    case when is_ascending then '>' else '<' end,
    case when is_by_amount then 'bigint' else 'date' end,
    case when num_nonnulls(filter.payee, filter.query) > 0 or filter.tags <> '{}' then 'materialized' else 'not materialized' end
  ) into total_count, totals, page using filter, key, page_size, context.base_currency;

  if cardinality(page) > page_size then
    page := page[:page_size];
    next_cursor := app.write_cursor(scope, page[page_size] -> 'key');
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(case when is_csv then 'csv' else 'rows' end, (
      select coalesce(jsonb_agg(r.shown - 'key' order by r.place), '[]')
      from unnest(page) with ordinality as r (shown, place)
    )),
    'next_cursor', next_cursor, 'total_count', total_count, 'totals_by_currency', totals
  );
end
$$;
comment on function app.list_expenses is
  'Tool list_expenses: data {rows}, or the same rows as {csv} for a file to be written of, with totals of all that match.';

revoke all on function
  app.parse_expense_filter, app.matches_filter, app.find_payments, app.list_expenses from public, anon;
grant execute on function
  app.parse_expense_filter, app.matches_filter, app.find_payments, app.list_expenses to authenticated, service_role;
