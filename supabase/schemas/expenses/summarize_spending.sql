create or replace function app.warn_of_unsettled(context app.context, filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  warnings jsonb := '[]';
  estimates jsonb;
  awaited text[];
begin
  select jsonb_build_object('count', sum(s.count), 'totals_by_currency',
    jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))) into estimates
  from (
    select p.currency, count(*) as count, sum(p.amount_minor) as minor
    -- These payments are few and have their own index.
    from (
      select p.* from app.payments as p
      where p.organization_id = context.organization_id and p.is_estimate and p.deleted_at is null
        and p.paid_on between filter.from_on and filter.to_on
      offset 0
    ) as p
    join app.expenses as e on e.id = p.expense_id
    where (filter.currency is null or p.currency = filter.currency)
      and (filter.member_id is null or p.paid_by = filter.member_id) and filter.recorded_by is null
      and app.is_amount_within(filter, p.amount_minor, p.currency, p.base_minor, p.base_currency)
      and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note)
    group by p.currency
  ) as s
  where coalesce(filter.kind, 'bill_payment') = 'bill_payment';
  if (estimates ->> 'count')::int > 0 then
    warnings := warnings || app.warning('amount_estimated', estimates);
  end if;
  select array_agg(distinct e.name) into awaited
  from (
    -- Find the few bills that may wait first, to avoid computing the amounts of all automatic bills.
    select distinct o.expense_id
    from app.expense_occurrences as o
    where o.organization_id = context.organization_id and o.status = 'open' and o.expected_minor is null
      and o.due_on < context.today and o.due_on between filter.from_on and filter.to_on
  ) as open
  cross join lateral (select e.* from app.expenses as e where e.id = open.expense_id offset 0) as e
  cross join lateral app.usual_amount(e.id, e.amount_minor, e.currency) as usual
  cross join lateral app.awaited_dates(e.id, e.autopay, e.next_due, usual.minor, context.today) as a
  where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active'
    and e.deleted_at is null and e.autopay and e.amount_mode = 'variable'
    and coalesce(filter.kind, 'bill_payment') = 'bill_payment'
    and num_nonnulls(filter.member_id, filter.recorded_by, filter.min_minor, filter.max_minor) = 0
    and (filter.currency is null or e.currency = filter.currency)
    and app.matches_filter(filter, e.category_id, e.tags, e.match_key, e.name, e.payee, e.note, null)
    and exists (select from unnest(a.dates) as day where day between filter.from_on and filter.to_on);
  if awaited is not null then
    warnings := warnings || app.warning('amount_awaited', jsonb_build_object('names', awaited));
  end if;
  return warnings;
end
$$;
comment on function app.warn_of_unsettled is
  'Returns warnings about amounts in a period that will change: automatic payments recorded with an estimate, and '
  'automatic payments missing from the total because their amount is unknown.';

create type app.key_sum as (
  key text,
  minor numeric
);
comment on type app.key_sum is 'The sum of a group with a key of app.group_key.';

create or replace function app.average_sums(context app.context, period app.period, unit text, sums app.key_sum[],
  begin_on date, exponent int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A part of a month lacks its salary or its rent.
  step constant interval := '1 ' || unit;
  since constant date := date_trunc(unit, greatest(period.from_on - 1 + step, begin_on));
  until constant date := date_trunc(unit, (least(period.to_on, context.today) + 1)::timestamp);
  units constant int := (select count(*) from generate_series(since::timestamp, until - step, step));
begin
  return (
    select jsonb_build_object(
      'per', unit, 'amount', app.format_minor(round(coalesce(sum(s.minor), 0) / units), exponent), 'of', units,
      'since', since
    )
    from unnest(sums) as s
    where s.key >= left(since::text, length(s.key)) and s.key < left(until::text, length(s.key))
    having units > 1 and sums is not null
  );
end
$$;
comment on function app.average_sums is
  'Returns the average of the complete months, weeks or days of a period, from the first with a record: {per, amount, '
  'of, since}; null for fewer than two.';

create or replace function app.tax_in(filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  sums constant app.payment_sum[] := case when app.is_plain(filter) then app.sum_plain_payments(filter)
    else array(
      select (p.currency, count(*), null, count(p.tax_minor),
        sum(case p.direction when 'out' then p.tax_minor else -p.tax_minor end),
        count(*) filter (where p.direction = 'refund' and p.tax_minor is null))::app.payment_sum
      from app.find_payments(filter) as p group by p.currency
    ) end;
begin
  return app.describe_tax(sums);
end
$$;
comment on function app.tax_in is 'Returns the tax in the payments that match a filter, by currency; null for none.';

create or replace function app.sum_reimbursed(context app.context, filter app.expense_filter, target text, exponent int)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(f.reimbursement, app.format_minor(s.minor, exponent))
    -- These payments are few and have their own index.
    from (
      select distinct p.reimbursement from app.payments as p
      where p.organization_id = context.organization_id and p.reimbursement is not null and p.deleted_at is null
        and p.paid_on between filter.from_on and filter.to_on
        and p.reimbursement = coalesce(filter.reimbursement, p.reimbursement)
      offset 0
    ) as f
    cross join lateral
      jsonb_populate_record(filter, jsonb_build_object('reimbursement', f.reimbursement)) as reimbursed
    cross join lateral app.sum_spending(context, reimbursed, null, null, array['currency'], target) as spending
    cross join lateral (select sum(g.once_minor) as minor from unnest(spending.groups) as g) as s
    where s.minor is not null
  );
end
$$;
comment on function app.sum_reimbursed is
  'Returns the parts of a total that a third party reimburses: {open?, done?}, or null. They stay in the total.';

create or replace function app.summarize_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  -- With upcoming dates a period is complete, so compare it with a complete one.
  earlier constant app.period :=
    case when (arguments ->> 'include_upcoming')::boolean then app.earlier_period(period, arguments ->> 'compare')
    else app.compared_period(period, arguments ->> 'compare', context.today) end;
  is_compared constant boolean := earlier.from_on is not null;
  books_begin constant date := case when is_compared then app.books_begin(earlier) end;
  -- Any other filter makes the rows incomparable with budgets.
  is_about_categories constant boolean := filter.tags = '{}' and num_nonnulls(
    filter.words, filter.payee, filter.member_id, filter.borne_by, filter.recorded_by, filter.not_category_ids,
    filter.min_minor,
    filter.max_minor,
    filter.currency, filter.kind, filter.reimbursement
  ) = 0;
  dimensions constant text[] := array(
    select d.value
      from jsonb_array_elements_text(coalesce(arguments -> 'group_by', '["category"]')) with ordinality as d
    group by d.value order by min(d.ordinality)
  );
  -- With borne_by, a shared payment is in several groups, so totals are summed without that dimension.
  summed constant text[] := coalesce(nullif(array_remove(dimensions, 'borne_by'), '{}'), array['currency']);
  unit constant text := (select d from unnest(dimensions) as d where d in ('month', 'week', 'day') limit 1);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  own_begin date;
  expected jsonb;
  unknown_amounts text[];
  estimated record;
  spending app.spending;
  overall app.spending;
  rows jsonb;
  warnings jsonb := '[]';
  total jsonb;
begin
  if arguments ->> 'kind' in ('income', 'net') then
    return app.summarize_income(context, arguments);
  end if;
  filter.pattern := app.word_in_languages(arguments ->> 'query');
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  -- People who see only their own records don't see the shares of others.
  if 'borne_by' = any (dimensions) and identity.sees_own_only() then
    filter.borne_by := coalesce(filter.borne_by, context.actor_id);
  end if;
  if 'recorded_by' = any (dimensions) and (arguments ->> 'include_upcoming')::boolean then
    perform app.fail('invalid_argument.upcoming_unrecorded', field => 'include_upcoming');
  end if;
  if (arguments ->> 'include_upcoming')::boolean and coalesce(filter.kind, 'bill_payment') = 'bill_payment'
    and coalesce(filter.reimbursement, 'none') = 'none' then
    expected := app.list_expected(context, filter);
    select array_agg(distinct x.name) into unknown_amounts
    from jsonb_to_recordset(expected) as x (name text, expected_minor bigint)
    where x.expected_minor is null;
    with estimates as (
      select x.*
      from jsonb_to_recordset(expected) as x (name text, expected_minor bigint, currency text, is_estimate boolean)
      where x.is_estimate and x.expected_minor is not null
    )
    select array(select distinct x.name from estimates as x order by x.name) as names,
      array(
        select (x.currency, sum(x.expected_minor))::app.money_sum from estimates as x group by x.currency
      ) as sums
    into estimated;
  end if;
  spending := app.sum_spending(context, filter, earlier, expected, dimensions, target);
  overall := case when 'borne_by' = any (dimensions)
    then app.sum_spending(context, filter, earlier, expected, summed, target) else spending end;
  rows := app.rank_spending(spending, dimensions, coalesce((arguments ->> 'top')::int, 20), target, is_compared);
  if jsonb_array_length(rows) > 1000 then
    perform app.fail('invalid_argument.too_many_rows', jsonb_build_object('count', jsonb_array_length(rows)),
      'group_by');
  end if;

  if period.from_on > context.today
    and not coalesce((arguments ->> 'include_upcoming')::boolean, false) then
    warnings := warnings || app.warning('period_ahead', jsonb_build_object('from', period.from_on));
  -- A running month is always incomplete, so don't warn.
  elsif not is_compared and period.from_on < date_trunc('month', context.today) then
    own_begin := app.books_begin(period);
    if own_begin is not null then
      warnings := warnings || app.warning('books_begin.inside', jsonb_build_object(
        'on', own_begin, 'from', period.from_on, 'to', period.to_on
      ));
    end if;
  end if;
  if books_begin is not null then
    rows :=
      (select coalesce(jsonb_agg(r.value - 'change_percent' order by r.ordinality), '[]')
      from jsonb_array_elements(rows) with ordinality as r);
    warnings := warnings || app.warning(
      'books_begin', jsonb_build_object('on', books_begin, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  elsif is_compared and period.to_on > context.today
    and not coalesce((arguments ->> 'include_upcoming')::boolean, false) then
    warnings := warnings || app.warning(
      'period_running', jsonb_build_object('until', period.to_on, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  end if;

  select jsonb_build_object(
    'amount', app.format_minor(coalesce(sum(g.once_minor), 0), exponent), 'currency', target, 'count',
    coalesce(sum(g.once_count), 0),
    'spent', app.format_minor(sum(g.once_minor) - sum(g.once_upcoming_minor), exponent),
    'upcoming', app.format_minor(sum(g.once_upcoming_minor), exponent),
    'previous', case when is_compared then app.format_minor(coalesce(sum(g.once_earlier_minor), 0), exponent) end,
    'change_percent', case when is_compared and books_begin is null then
      round((sum(g.once_minor) - sum(g.once_earlier_minor)) * 100 / nullif(abs(sum(g.once_earlier_minor)), 0), 1)
    end,
    'average', app.average_sums(context, period, unit, array_agg((
      case unit when summed[1] then g.key_1 when summed[2] then g.key_2 end, g.once_minor
    )::app.key_sum), (
      select p.paid_on from app.payments as p where p.deleted_at is null order by p.paid_on limit 1
    ), exponent),
    'reimbursement', app.sum_reimbursed(context, filter, target, exponent)
  ) into total
  from unnest(overall.groups) as g;
  if filter.reimbursement is null and total -> 'reimbursement' <> 'null' then
    warnings := warnings || app.warning('reimbursed_included', (total -> 'reimbursement') || jsonb_build_object(
      'currency', target
    ));
  end if;
  if 'tag' = any (dimensions) and exists (select from unnest(spending.groups) as g where g.count > g.once_count) then
    warnings := warnings || app.warning('tags_overlap');
  end if;
  if spending.is_partial then
    warnings := warnings || app.warning('rate_missing.of_payments', jsonb_build_object('into', target));
  end if;
  if expected is not null then
    warnings := warnings || app.warn_of_estimates(estimated.names, estimated.sums);
  end if;
  if unknown_amounts is not null then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', unknown_amounts));
  end if;

  warnings := warnings || app.warn_of_unsettled(context, filter) || app.warn_of_disproven(context, filter)
    || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
    || app.warn_of_unvalued(filter) || app.warn_of_own_only() || app.warn_of_missed(filter)
    || case when is_compared and books_begin is null then app.warn_of_borders(filter, period, earlier) else '[]' end;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on) || case when is_compared then
        jsonb_build_object('previous', jsonb_build_object('from', earlier.from_on, 'to', earlier.to_on)) else '{}' end,
      'rows', rows,
      'total', total,
      'budgets', case when is_about_categories then
        app.describe_budgets(context, greatest(period.from_on, least(context.today, period.to_on)), filter.category_ids)
      end,
      'fx', jsonb_build_object(
        'sources', spending.sources, 'as_of', spending.as_of
      ),
      'unconverted', spending.unconverted,
      'tax_by_currency', case when filter.borne_by is null then app.tax_in(filter) end,
      'no_match', case when rows = '[]' then app.find_near_matches(filter) end
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.summarize_spending is
  'Tool summarize_spending. Returns data {period, rows, total, budgets?, fx, unconverted, tax_by_currency?, '
  'no_match?}.';
