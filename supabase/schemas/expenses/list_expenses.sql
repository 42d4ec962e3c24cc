create type app.payment_sum as (
  currency text,
  count bigint,
  net_minor numeric,
  taxed_count bigint,
  tax_minor numeric,
  untaxed_refunds bigint
);
comment on type app.payment_sum is
  'Sums of the payments in one currency, with refunds subtracted; the tax of payments with a recorded tax, and the '
  'number of refunds without one.';

-- The most common filters are planned once per session, since planning took as long as everything else. A generic plan
-- doesn't know the filter, so the settings of the next two functions force an index scan in order.

create or replace function app.sum_plain_payments(filter app.expense_filter) returns app.payment_sum[]
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort
    = off as $$
declare
  from_on constant date := coalesce(filter.from_on, '-infinity');
  to_on constant date := coalesce(filter.to_on, 'infinity');
  wanted_currency constant text := filter.currency;
  wanted_kind constant text := filter.kind;
  category_ids constant text[] := filter.category_ids;
  not_category_ids constant text[] := filter.not_category_ids;
begin
  return array(
    select (
      p.currency, count(*), sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end),
      count(p.tax_minor), sum(case p.direction when 'out' then p.tax_minor else -p.tax_minor end),
      count(*) filter (where p.direction = 'refund' and p.tax_minor is null)
    )::app.payment_sum
    from app.payments as p
    where p.deleted_at is null and p.paid_on between from_on and to_on
      and (wanted_currency is null or p.currency = wanted_currency)
      and (wanted_kind is null or wanted_kind = app.kind_of_payment(p.direction, p.expense_id))
      and (category_ids is null or coalesce(p.category_id, '') = any (category_ids))
      and (not_category_ids is null or coalesce(p.category_id, '') <> all (not_category_ids))
    group by p.currency
  );
end
$$;
comment on function app.sum_plain_payments is 'Returns the sums by currency for a filter that passes app.is_plain.';

create or replace function app.describe_tax(sums app.payment_sum[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(s.currency, jsonb_strip_nulls(jsonb_build_object(
      'amount', app.format_amount(s.tax_minor, s.currency), 'count', s.taxed_count,
      'without_tax', nullif(s.count - s.taxed_count, 0), 'refunds_without_tax', nullif(s.untaxed_refunds, 0)
    )))
    from unnest(sums) as s
    where s.taxed_count > 0
  );
end
$$;
comment on function app.describe_tax is
  'Returns the tax by currency: {currency: {amount, count, without_tax?, refunds_without_tax?}}; null when no payment '
  'states one. The last two count payments without a recorded tax.';

create or replace function app.list_plain_payments(filter app.expense_filter, key jsonb, page_size int) returns text[]
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort
    = off as $$
declare
  from_on constant date := coalesce(filter.from_on, '-infinity');
  to_on constant date := coalesce(filter.to_on, 'infinity');
  wanted_currency constant text := filter.currency;
  wanted_kind constant text := filter.kind;
  category_ids constant text[] := filter.category_ids;
  not_category_ids constant text[] := filter.not_category_ids;
  -- Use only one upper bound: the key of the page or, on the first page, the last day. With two, the index may start
  -- at the wrong one.
  is_first constant boolean := coalesce((key ->> 0)::date > to_on, true);
  after_on constant date := case when is_first then to_on else (key ->> 0)::date end;
  after_seq constant bigint := case when is_first then 9223372036854775807 else (key ->> 1)::bigint end;
begin
  return array(
    select p.id
    from app.payments as p
    where p.deleted_at is null and p.paid_on >= from_on and (p.paid_on, p.recorded_seq) < (after_on, after_seq)
      and (wanted_currency is null or p.currency = wanted_currency)
      and (wanted_kind is null or wanted_kind = app.kind_of_payment(p.direction, p.expense_id))
      and (category_ids is null or coalesce(p.category_id, '') = any (category_ids))
      and (not_category_ids is null or coalesce(p.category_id, '') <> all (not_category_ids))
    order by p.paid_on desc, p.recorded_seq desc
    limit page_size + 1
  );
end
$$;
comment on function app.list_plain_payments is
  'Returns the ids of the next page for a filter that passes app.is_plain, latest first, plus one more to detect a '
  'further page.';

create or replace function app.describe_payments(context app.context, payment_ids text[], sort_column text)
  returns jsonb[]
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  is_shared constant boolean := (select count(*) > 1 from identity.memberships as m
    where m.organization_id = context.organization_id);
begin
  return array(
    select jsonb_build_object(
      'id', case when starts_with(p.expense_id, 'bill_') then p.id else p.expense_id end,
      'kind', app.kind_of_payment(p.direction, p.expense_id),
      'date', p.paid_on, 'name', e.name, 'payee', e.payee, 'category', category.name, 'tags', nullif(e.tags, '{}'),
      'note', case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, 'url', e.url,
      'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
      'charged', case when p.charged_minor is not null then jsonb_build_object(
        'amount', app.format_amount(p.charged_minor, p.charged_currency), 'currency', p.charged_currency
      ) end,
      'tax', app.format_minor(p.tax_minor, c.exponent), 'tax_percent', trim_scale(p.tax_percent),
      'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
      'split_id', app.shown_split_id(p), 'has_document', nullif(exists (
        select from app.documents_of(p.expense_id, p.occurrence_id, p.split_id, p.organization_id)
      ), false), 'base_amount', app.format_minor(p.base_minor, base.exponent),
      'is_estimate', nullif(p.is_estimate, false),
      -- Null if several people could have paid and none was named.
      'paid_by', case when p.paid_by <> context.actor_id then app.member_name(p.paid_by)
        when p.paid_by is null and is_shared then '' end,
      'shared', case when p.sharing is not null then app.describe_shares(p.id) end,
      'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end,
      -- An expense and its payment appear as one row, so their changes count together.
      'version', case when starts_with(p.expense_id, 'bill_') then p.version else e.version + p.version - 1 end,
      'key', jsonb_build_array(
        case sort_column when 'paid_on' then to_jsonb(p.paid_on) when 'recorded_seq' then to_jsonb(p.recorded_seq)
          -- Refunds sort below every amount, larger ones lower.
          else to_jsonb(case p.direction when 'out' then amount.minor else -1 - amount.minor end) end,
        p.recorded_seq
      ),
      'pending_on', case when not p.is_final and p.base_minor is not null then p.paid_on end
    )
    from unnest(payment_ids) with ordinality as ids (id, place)
    join app.payments as p on p.id = ids.id
    join app.expenses as e on e.id = p.expense_id
    join app.currencies as c on c.code = p.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = p.category_id
    cross join lateral (
      select case sort_column when 'sort_minor' then p.sort_minor else p.amount_minor end as minor
    ) as amount
    order by ids.place
  );
end
$$;
comment on function app.describe_payments is
  'Returns rows of list_expenses in the order of the ids, each with its sort key and the day of its pending rate.';

create or replace function app.list_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set random_page_cost = 1.1 as $$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  is_csv constant boolean := coalesce(arguments ->> 'format' = 'csv', false);
  is_by_amount constant boolean := coalesce(arguments ->> 'sort' = 'amount', false);
  -- Amounts in one currency sort by amount, those in several by value.
  is_by_day constant boolean := coalesce(arguments ->> 'sort', 'date') = 'date';
  sort_column constant text :=
    case when is_by_day then 'paid_on' when not is_by_amount then 'recorded_seq' when filter.currency is null
    then 'sort_minor'
    else 'amount_minor' end;
  is_ascending constant boolean := coalesce(arguments ->> 'order' = 'asc', false);
  page_size constant int := coalesce((arguments ->> 'limit')::int, case when is_csv then 500 else 25 end);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_expenses', arguments - 'cursor' - 'limit');
  key constant jsonb :=
    app.read_cursor(scope, arguments ->> 'cursor', case when is_by_day then 'date'::regtype else 'bigint' end);
  sums app.payment_sum[];
  payment_ids text[];
  page jsonb[];
  next_cursor text;
  cursors text[];
  total_count bigint;
  totals jsonb;
  pending_since date;
begin
  if arguments ->> 'kind' = 'income' then
    return app.list_incomes(context, arguments);
  end if;
  filter.pattern := app.word_in_languages(arguments ->> 'query');
  if app.is_plain(filter) and is_by_day and not is_ascending then
    sums := app.sum_plain_payments(filter);
    payment_ids := app.list_plain_payments(filter, key, page_size);
  elsif is_by_amount then
    -- Read expenses from the largest, then refunds from the smallest, or the reverse. Each part follows the index, and
    -- the second is read only if the page reaches it.
    execute format(
      $query$
        with matching as %2$s (
          select p.*, p.%1$s as sort_key from app.find_payments($1) as p
        ), nearer as (
          select array(
            select m.payment_id
            from matching as m
            where m.direction = $4 and ($5 is null or $5 = $4 and (m.sort_key, m.recorded_seq) < ($6, $7))
            order by m.sort_key desc, m.recorded_seq desc
            limit $3 + 1
          ) as ids
        )
        select
          array(
            select (
              m.currency, count(*), sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end),
              count(m.tax_minor), sum(case m.direction when 'out' then m.tax_minor else -m.tax_minor end),
              count(*) filter (where m.direction = 'refund' and m.tax_minor is null)
            )::app.payment_sum
            from matching as m
            group by m.currency
          ),
          n.ids || case when cardinality(n.ids) <= $3 then array(
            select m.payment_id
            from matching as m
            where m.direction = $2 and ($5 is distinct from $2 or (m.sort_key, m.recorded_seq) > ($6, $7))
            order by m.sort_key, m.recorded_seq
            limit $3 + 1 - cardinality(n.ids)
          ) else '{}' end
        from nearer as n
      $query$,
      sort_column,
      case when num_nonnulls(filter.payee, filter.words) > 0 or filter.tags <> '{}' then 'materialized'
        else 'not materialized' end
    ) into sums, payment_ids
    using filter, case when is_ascending then 'out' else 'refund' end, page_size,
      case when is_ascending then 'refund' else 'out' end,
      case when (key ->> 0)::bigint < 0 then 'refund' when key is not null then 'out' end,
      case when (key ->> 0)::bigint < 0 then -1 - (key ->> 0)::bigint else (key ->> 0)::bigint end,
      (key ->> 1)::bigint;
  else
    -- Build the query from fixed words only, because an order that an index can follow cannot be a parameter. Text and
    -- tag matches are materialized, because they must be checked row by row. Other matches are counted in one index and
    -- paged along another.
    execute format(
      $query$
        with matching as %5$s (
          select p.*, p.%1$s as sort_key from app.find_payments($1) as p
        )
        select
          array(
            select (
              m.currency, count(*), sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end),
              count(m.tax_minor), sum(case m.direction when 'out' then m.tax_minor else -m.tax_minor end),
              count(*) filter (where m.direction = 'refund' and m.tax_minor is null)
            )::app.payment_sum
            from matching as m
            group by m.currency
          ),
          array(
            select m.payment_id
            from matching as m
            where $2 is null or (m.sort_key, m.recorded_seq) %3$s (($2 ->> 0)::%4$s, ($2 ->> 1)::bigint)
            order by m.sort_key %2$s, m.recorded_seq %2$s
            limit $3 + 1
          )
      $query$,
      sort_column,
      case when is_ascending then 'asc' else 'desc' end,
      case when is_ascending then '>' else '<' end,
      case when is_by_day then 'date' else 'bigint' end,
      case when num_nonnulls(filter.payee, filter.words) > 0 or filter.tags <> '{}' then 'materialized'
        else 'not materialized' end
    ) into sums, payment_ids using filter, key, page_size;
  end if;
  select coalesce(sum(s.count), 0),
    coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net_minor, s.currency)), '{}')
  into total_count, totals
  from unnest(sums) as s;

  page := app.describe_payments(context, payment_ids[:page_size], sort_column);
  if cardinality(payment_ids) > page_size then
    next_cursor := app.write_cursor(scope, page[page_size] -> 'key');
  end if;
  cursors := array(select app.write_cursor(scope, r -> 'key') from unnest(page) as r);
  pending_since := (select min((r ->> 'pending_on')::date) from unnest(page) as r);
  return jsonb_build_object(
    'data', jsonb_build_object(case when is_csv then 'csv' else 'rows' end, (
      select coalesce(jsonb_agg(r.shown - array['key', 'pending_on'] order by r.place), '[]')
      from unnest(page) with ordinality as r (shown, place)
    ), 'tax_by_currency', app.describe_tax(sums),
      'no_match', case when total_count = 0 and key is null then app.find_near_matches(filter) end),
    'next_cursor', next_cursor, 'total_count', total_count, 'totals_by_currency', totals,
    'page', jsonb_build_object('list', case when is_csv then 'csv' else 'rows' end, 'cursors', cursors),
    -- Without limit and cursor, the file contains all matches. Absolute dates keep the file the same on any later day.
    'file', case when is_csv and not arguments ?| array['limit', 'cursor'] then jsonb_build_object(
      'user_id', context.actor_id,
      'filter', jsonb_strip_nulls((arguments - 'format') || jsonb_build_object(
        'from', filter.from_on, 'to', filter.to_on
      ))
    ) end,
    'warnings', app.warn_of_pending(pending_since is not null, context.base_currency, pending_since)
      || app.warn_of_unvalued(filter) || app.warn_of_own_only()
      || case when key is null then app.warn_of_missed(filter) || app.warn_of_disproven(context, filter) else '[]' end
  );
end
$$;
comment on function app.list_expenses is
  'Tool list_expenses. Returns data {rows, tax_by_currency?, no_match?}, or {csv} in place of rows for a file, with '
  'totals of all matches. page has a cursor for each row, for presenters that can show only some. file has the user '
  'and filter for a complete file.';
