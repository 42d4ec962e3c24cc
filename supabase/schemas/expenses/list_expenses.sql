create or replace function app.list_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set random_page_cost = 1.1 as $$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  is_csv constant boolean := coalesce(arguments ->> 'format' = 'csv', false);
  is_by_amount constant boolean := coalesce(arguments ->> 'sort' = 'amount', false);
  is_ascending constant boolean := coalesce(arguments ->> 'order' = 'asc', false);
  page_size constant int := coalesce((arguments ->> 'limit')::int, case when is_csv then 500 else 25 end);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_expenses', arguments - 'cursor' - 'limit');
  key constant jsonb :=
    app.read_cursor(scope, arguments ->> 'cursor', case when is_by_amount then 'bigint'::regtype else 'date' end);
  page jsonb[];
  next_cursor text;
  cursors text[];
  total_count bigint;
  totals jsonb;
  taxes jsonb;
  pending_since date;
begin
  -- Put together from fixed words alone. An order that an index can follow cannot be a parameter. Matches that only the
  -- text of each row can tell are found once; others are counted in one index and read, page by page, along another.
  execute format(
    $query$
      with matching as %5$s (
        select p.*, %1$s as sort_key from app.find_payments($1) as p
      ),
      sums as (
        select m.currency, count(*) as count,
          sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end) as net,
          count(m.tax_minor) as taxed,
          sum(case m.direction when 'out' then m.tax_minor else -m.tax_minor end) as tax
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
        (
          select jsonb_object_agg(s.currency, jsonb_build_object(
            'amount', app.format_minor(s.tax, c.exponent), 'count', s.taxed
          ))
          from sums as s join app.currencies as c on c.code = s.currency
          where s.taxed > 0
        ),
        array(
          select jsonb_build_object(
            'id', case when starts_with(p.expense_id, 'bill_') then p.payment_id else p.expense_id end,
            'kind',
            case when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
              else 'one_off' end,
            'date', p.paid_on, 'name', p.name, 'payee', p.payee, 'category', category.name, 'tags',
            nullif(p.tags, '{}'), 'note', p.note, 'url', p.url,
            'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
            'charged', case when p.charged_minor is not null then jsonb_build_object(
              'amount', app.format_amount(p.charged_minor, p.charged_currency), 'currency', p.charged_currency
            ) end,
            'tax', app.format_minor(p.tax_minor, c.exponent), 'tax_percent', trim_scale(p.tax_percent),
            'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
            'split_id', p.split_id, 'base_amount', app.format_minor(p.base_minor, base.exponent),
            -- Asked of a page, not of all that match.
            'is_estimate', (select true from app.payments as e where e.id = p.payment_id and e.is_estimate),
            'shared', app.describe_shares(p.payment_id),
            'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end, 'version', p.version,
            -- Where it stands in the order.
            'key', jsonb_build_array(p.sort_key, p.recorded_seq),
            'pending_on', case when not p.is_final and p.base_minor is not null then p.paid_on end
          )
          from page as p
          join app.currencies as c on c.code = p.currency
          join app.currencies as base on base.code = $4
          left join app.categories as category on category.id = p.category_id
          order by p.sort_key %2$s, p.recorded_seq %2$s
        )
    $query$,
    case when is_by_amount then 'p.sort_minor' else 'p.paid_on' end,
    case when is_ascending then 'asc' else 'desc' end,
    case when is_ascending then '>' else '<' end,
    case when is_by_amount then 'bigint' else 'date' end,
    case when num_nonnulls(filter.payee, filter.query) > 0 or filter.tags <> '{}' then 'materialized'
      else 'not materialized' end
  ) into total_count, totals, taxes, page using filter, key, page_size, context.base_currency;

  if cardinality(page) > page_size then
    page := page[:page_size];
    next_cursor := app.write_cursor(scope, page[page_size] -> 'key');
  end if;
  cursors := array(select app.write_cursor(scope, r -> 'key') from unnest(page) as r);
  pending_since := (select min((r ->> 'pending_on')::date) from unnest(page) as r);
  return jsonb_build_object(
    'data', jsonb_build_object(case when is_csv then 'csv' else 'rows' end, (
      select coalesce(jsonb_agg(r.shown - array['key', 'pending_on'] order by r.place), '[]')
      from unnest(page) with ordinality as r (shown, place)
    ), 'tax_by_currency', taxes),
    'next_cursor', next_cursor, 'total_count', total_count, 'totals_by_currency', totals,
    'page', jsonb_build_object('list', case when is_csv then 'csv' else 'rows' end, 'cursors', cursors),
    -- Without a page of its own a file is all that matches, whatever day it is read.
    'file', case when is_csv and not arguments ?| array['limit', 'cursor'] then jsonb_build_object(
      'user_id', context.actor_id,
      'filter', jsonb_strip_nulls((arguments - 'format') || jsonb_build_object(
        'from', filter.from_on, 'to', filter.to_on
      ))
    ) end,
    'warnings', app.warn_of_pending(pending_since is not null, context.base_currency, pending_since)
      || app.warn_of_unvalued(filter)
  );
end
$$;
comment on function app.list_expenses is
  'Tool list_expenses: data {rows, tax_by_currency?}, or the same rows as {csv} for a file to be written of, with '
  'totals of all that '
  'match. page has a cursor for each row, for who can show only some; file says who asked for all of what.';
