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
  'Which payments are meant. Texts are in lower case, Uncategorized is the empty category id, amounts are major units '
  'of each payment''s own currency.';

create or replace function app.parse_expense_filter(context app.context, arguments jsonb) returns app.expense_filter
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter;
  wanted text;
  category_id text;
begin
  filter.from_on := app.parse_date(context, arguments ->> 'from', 'from');
  filter.to_on := app.parse_date(context, arguments ->> 'to', 'to');
  if filter.from_on > filter.to_on then
    perform app.fail('invalid_argument.period_backwards',
      jsonb_build_object('from', filter.from_on, 'to', filter.to_on), 'to');
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

-- The next two were parsed when they were created, so that no search_path changes their meaning, and are inlined into
-- the query that asks:
-- a condition that is not set is gone before planning, and with the last condition on a joined table so is the join. A
-- condition that is set is false without the joined row, and says so, that the planner may begin there.

create or replace function app.matches_filter(filter app.expense_filter, category_id text, tags text[], match_key text,
  name text, payee text, note text, payment_note text)
returns boolean
language sql stable
  return ((filter).category_ids is null or coalesce(category_id, '') = any ((filter).category_ids))
    and ((filter).payee is null or match_key = (filter).payee)
    and ((filter).tags = '{}' or lower(tags::text)::text[] && (filter).tags)
    and ((filter).query is null or name is not null
      and strpos(lower(concat_ws(E'\n', name, payee, note, payment_note)), (filter).query) > 0);
comment on function app.matches_filter is 'Whether an expense or bill is one that a filter asks for.';

create or replace function app.find_payments(filter app.expense_filter)
returns table (
  payment_id text, recorded_seq bigint, paid_on date, currency text, direction text, amount_minor bigint,
  sort_minor bigint, paid_by uuid,
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
      when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
        else 'one_off'
    end)
    and ((filter).min_amount is null or p.amount_minor >= (filter).min_amount * 10::numeric ^ c.exponent)
    and ((filter).max_amount is null or p.amount_minor <= (filter).max_amount * 10::numeric ^ c.exponent)
    and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note);
end;
comment on function app.find_payments is
  'Payments in the books that a filter lets through, with the expense or bill that each belongs to.';
