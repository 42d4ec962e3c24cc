-- Finds the records of update_expenses and delete_records, and requires confirmation before many change.

create or replace function app.find_records(context app.context, arguments jsonb) returns text[]
language plpgsql volatile set search_path = '' as $$
declare
  filter app.expense_filter;
  max_found constant int := 500;
  found_ids text[];
begin
  if (arguments ? 'ids') = (arguments ? 'filter') or arguments -> 'filter' = '{}' then
    perform app.fail('invalid_argument.ids_or_filter', field => 'ids');
  end if;
  if arguments ? 'ids' then
    return array(select jsonb_array_elements_text(arguments -> 'ids'));
  end if;
  filter := app.parse_expense_filter(context, arguments -> 'filter');
  -- Find, lock and find again: concurrent changes may have moved records out of the filter.
  for turn in 1..2 loop
    -- Bill payments take their fields from the bill.
    found_ids := array(
      select p.expense_id from app.find_payments(filter) as p where not starts_with(p.expense_id, 'bill_')
      order by p.paid_on desc, p.recorded_seq desc limit max_found + 1
    );
    perform from app.expenses as e where e.id = any (found_ids) order by e.id for no key update;
  end loop;
  if found_ids = '{}' then
    perform app.fail('not_found.by_filter', field => 'filter');
  end if;
  if cardinality(found_ids) > max_found then
    perform app.fail('invalid_argument.too_many_records', jsonb_build_object('most', max_found), 'filter');
  end if;
  return found_ids;
end
$$;
comment on function app.find_records is
  'Returns the ids of the records to change: the given ids, or the one-off expenses that match a filter of '
  'list_expenses, latest first and locked. Ends the tool with not_found when none match, and with invalid_argument '
  'above 500.';

create or replace function app.weigh_records(ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      -- A bill counts as one record plus one for each payment; an expense and its payment count as one.
      'count', case when starts_with(ids[1], 'bill_') then 1 + count(*) else cardinality(ids) end,
      'minor', coalesce(sum(p.minor), 0),
      'unknown', array_agg(distinct p.currency) filter (where p.minor is null)
    )
    from (
      select p.currency, p.base_minor as minor
      from app.payments as p
      where p.expense_id = any (ids) and p.deleted_at is null
    ) as p
  );
end
$$;
comment on function app.weigh_records is
  'Returns {count, minor, unknown}: the number of records, the sum of their values in minor units of the base '
  'currency, and the currencies without a value.';

create or replace function app.confirm_records(context app.context, arguments jsonb, ids text[], action text)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_count constant int := 20;
  max_total constant int := 1000;
  weight constant jsonb := app.weigh_records(ids);
  total constant text := app.format_amount((weight ->> 'minor')::numeric, context.base_currency);
  wanted constant jsonb := jsonb_build_object('count', weight -> 'count', 'total', total);
begin
  if not arguments ? 'filter' and (action = 'update' or (
    -- Deleting a bill with payments changes totals.
    not (starts_with(ids[1], 'bill_') and (weight ->> 'count')::int > 1)
    and (weight ->> 'count')::int <= max_count and total::numeric <= max_total and weight ->> 'unknown' is null
  )) then
    return null;
  end if;
  if coalesce((arguments ->> 'dry_run')::boolean, false) or (
    (arguments #>> '{confirm,count}')::int = (weight ->> 'count')::int
    and (arguments #>> '{confirm,total}')::numeric = total::numeric
  ) then
    return wanted;
  end if;
  perform app.fail('confirmation_required', jsonb_build_object(
    'action', action, 'count', weight -> 'count', 'amount', total, 'currency', context.base_currency,
    'unknown', weight -> 'unknown',
    'details', jsonb_build_object('confirm', wanted, 'currency', context.base_currency)
  ), 'confirm');
end
$$;
comment on function app.confirm_records is
  'Returns the confirmation {count, total} that the caller must repeat, or null when none is required. Every filter '
  'and every large deletion requires one; action is update or delete. Ends the tool with confirmation_required when it '
  'is missing or different.';

create or replace function app.warn_of_unfound(context app.context, args jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when args ? 'filter'
    then app.warn_of_unvalued(app.parse_expense_filter(context, args -> 'filter')) else '[]' end;
end
$$;
comment on function app.warn_of_unfound is 'Returns warnings about payments that the filter could not compare.';

create or replace function app.first_few(rows jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  max_shown constant int := 10;
  few_shown constant int := 3;
begin
  return case when jsonb_array_length(rows) <= max_shown then rows
    else jsonb_path_query_array(rows, '$[0 to $n]', jsonb_build_object('n', few_shown - 1)) end;
end
$$;
comment on function app.first_few is
  'Returns the first few rows if there are many, because all of them would fill the conversation.';
