set local lock_timeout = '10s';
set local statement_timeout = '60s';
set local check_function_bodies = off;

ALTER TABLE "app"."payments" SET (autovacuum_analyze_scale_factor=0.02);

CREATE OR REPLACE FUNCTION app.name_parties(ids uuid[])
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Security definer: people see only members' profiles, but a debt keeps the name of a former member known.
  return (
    select coalesce(jsonb_object_agg(n.id, coalesce(
      n.email, case when n.nameless > 1 then 'former member ' || left(n.id::text, 4) end
    )), '{}')
    from (
      select i.id, p.email, count(*) filter (where p.email is null) over () as nameless
      from (select distinct unnest(ids) as id) as i
      left join identity.profiles as p on p.user_id = i.id
      where exists (
        select from app.payment_shares as s
        where s.organization_id = identity.current_organization_id() and i.id in (s.member_id, s.paid_by)
      ) or exists (
        select from app.settlements as t
        where t.organization_id = identity.current_organization_id() and i.id in (t.from_id, t.to_id)
      )
    ) as n
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.summarize_spending(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  -- With upcoming dates a period is complete and is compared with a complete one.
  earlier constant app.period :=
    case when (arguments ->> 'include_upcoming')::boolean then app.earlier_period(period, arguments ->> 'compare')
    else app.compared_period(period, arguments ->> 'compare', context.today) end;
  is_compared constant boolean := earlier.from_on is not null;
  books_begin constant date := case when is_compared then app.books_begin(earlier) end;
  -- Only then do a budget and the rows speak of the same spending.
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
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  expected jsonb;
  unknown_amounts text[];
  estimated record;
  spending app.spending;
  -- Shares of one payment are in several groups, so totals are summed without them.
  overall app.spending;
  rows jsonb;
  warnings jsonb := '[]';
  total jsonb;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  -- They do not see what others bear.
  if 'borne_by' = any (dimensions) and identity.sees_own_only() then
    filter.borne_by := coalesce(filter.borne_by, context.actor_id);
  end if;
  if (filter.borne_by is not null or dimensions && array['borne_by', 'recorded_by'])
    and (arguments ->> 'include_upcoming')::boolean then
    perform app.fail('invalid_argument.upcoming_unshared', field => 'include_upcoming');
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
    then app.sum_spending(context, filter, earlier, expected, array['currency'], target) else spending end;
  rows := app.rank_spending(spending, dimensions, coalesce((arguments ->> 'top')::int, 20), target, is_compared);
  if jsonb_array_length(rows) > 1000 then
    perform app.fail('invalid_argument.too_many_rows', jsonb_build_object('count', jsonb_array_length(rows)),
      'group_by');
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
    'upcoming', app.format_minor(sum(g.once_upcoming_minor), exponent),
    'previous', case when is_compared then app.format_minor(coalesce(sum(g.once_earlier_minor), 0), exponent) end,
    'change_percent', case when is_compared and books_begin is null then
      round((sum(g.once_minor) - sum(g.once_earlier_minor)) * 100 / nullif(abs(sum(g.once_earlier_minor)), 0), 1)
    end,
    'average', app.average_spending(context, period, dimensions, sum(g.once_minor), exponent)
  ) into total
  from unnest(overall.groups) as g;
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

  warnings := warnings || app.warn_of_unsettled(context, filter)
    || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
    || app.warn_of_unvalued(filter)
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
$function$;

CREATE OR REPLACE FUNCTION public.ping()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return jsonb_build_object('schema', 2);
end
$function$;
