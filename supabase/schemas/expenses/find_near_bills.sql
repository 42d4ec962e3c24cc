create or replace function app.find_near_bills(context app.context, drafts jsonb) returns jsonb
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
      where p.paid_on between first_day and last_day and p.deleted_at is null and p.direction = 'out'
        and starts_with(p.expense_id, 'bill_')
      union all
      select o.expense_id, o.expected_minor, o.currency, o.due_on, false
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open'
        and o.due_on between first_day and last_day
    ), near as (
      select distinct on (d.place) d.*, k.day, k.is_paid, b.id as bill_id, b.name as bill
      from jsonb_to_recordset(drafts) as d (
        place int, name text, payee text, direction text, amount_minor bigint, currency text, paid_on date,
        existing_id text
      )
      join known as k on k.amount_minor = d.amount_minor and k.currency = d.currency
        and k.day between d.paid_on - days and d.paid_on + days
      join app.expenses as b on b.id = k.expense_id and b.status <> 'cancelled' and b.deleted_at is null
      where d.existing_id is null and d.direction = 'out'
        -- What comes every few days is near to anything of its amount, unless it is called alike.
        and (b.frequency not in ('daily', 'weekly')
          or app.text_likeness(b.name, d.name) > 0.5
            or app.text_likeness(coalesce(b.payee, b.name), coalesce(d.payee, d.name)) > 0.5)
      order by d.place, app.text_likeness(b.name, d.name) desc, abs(k.day - d.paid_on), k.is_paid desc, b.id
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'line', n.place, 'date', n.paid_on, 'name', n.name, 'amount', app.format_amount(n.amount_minor, n.currency),
      'currency', n.currency, 'bill_id', n.bill_id, 'bill', n.bill,
      case when n.is_paid then 'paid_on' else 'due_on' end, n.day
    ) order by n.place), '[]')
    from near as n
  );
end
$$;
comment on function app.find_near_bills is
  'Rows that may be the payment of a bill which is in the books on another day or still open: [{line, date, name, '
  'amount, currency, bill_id, bill, paid_on or due_on}].';

create or replace function app.list_unknown_categories(context app.context, items jsonb) returns jsonb
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
comment on function app.list_unknown_categories is
  'Category names in rows that are none of the organization''s, those of most rows first: [{name, rows}].';

create or replace function app.describe_unknown_categories(unknown jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 20;
  -- Each is compared with every category.
  max_suggested constant int := 10;
begin
  return jsonb_build_object(
    'unknown_categories', (
      select coalesce(jsonb_agg(
        u.value
          || case when u.ordinality <= max_suggested
          then jsonb_build_object('suggestions', app.suggest_categories(u.value ->> 'name')) else '{}' end
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
  'The first of the unknown categories and how many there are, {unknown_categories: [{name, rows, suggestions?}], '
  'unknown_categories_count}; for the very first what may have been meant.';

create or replace function app.drafts_to_write(drafts jsonb, arguments jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case when arguments ->> 'on_duplicate' = 'allow' then drafts
    else jsonb_path_query_array(drafts, '$[*] ? (!exists(@.existing_id))') end;
end
$$;
comment on function app.drafts_to_write is
  'The drafts of a file that go into the books: without those that are there, unless the caller wants them twice.';
