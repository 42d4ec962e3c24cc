-- Income and net income in summarize_spending.

create type app.income_group as (
  key_1 text,
  key_2 text,
  label_1 text,
  label_2 text,
  minor numeric,
  count bigint
);
comment on type app.income_group is 'Income of a group, in minor units of the target currency.';

create or replace function app.income_key(income app.incomes, dimension text) returns text
language sql immutable
  return case dimension
    when 'category' then coalesce((income).category_id, (income).sort)
    when 'payee' then coalesce(nullif(array_to_string(app.payer_words((income).name), ' '), ''), lower((income).name))
    when 'recorded_by' then (income).created_by::text
    else app.group_key(
      dimension, null, null, null, (income).received_on, (income).currency, null, null, null
    )
  end;
comment on function app.income_key is 'Returns the key that groups an income: without a category, its sort.';

create or replace function app.label_income(dimension text, key text, name text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when dimension = 'category' then coalesce(
      (select to_jsonb(c.name) from app.categories as c where c.id = key), jsonb_build_object('none', key)
    )
    when dimension = 'payee' then to_jsonb(app.rhythm_name(name))
    else app.group_label(dimension, key, null, '{}')
  end;
end
$$;
comment on function app.label_income is 'Returns the label of a group of income; {none: sort} without a category.';

create or replace function app.check_income_question(request jsonb, dimensions text[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  is_net constant boolean := request ->> 'kind' = 'net';
  other text;
begin
  perform app.refuse_income_fields(
    request - array(
      select a.key from jsonb_each_text(request) as a where (a.key, a.value) in (('compare', 'none'))
    ),
    array['kind', 'from', 'to', 'period', 'currency', 'group_by', 'in_currency', 'top'] || case when is_net then '{}'
      else array['query', 'categories', 'not_categories', 'payee', 'recorded_by'] end, null
  );
  select d into other from unnest(dimensions) as d
  where d <> all (case when is_net then array['month', 'week', 'day']
    else array['category', 'payee', 'month', 'week', 'day', 'currency', 'recorded_by'] end)
  limit 1;
  if found then
    perform app.fail('invalid_argument.income_group', jsonb_build_object('group', other, 'is_net', is_net), 'group_by');
  end if;
end
$$;
comment on function app.check_income_question is
  'Ends the tool with invalid_argument for a filter or group that does not apply to income.';

create or replace function app.warn_of_expected_income(context app.context, from_on date, to_on date,
  words text[] default null) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 5;
  -- app.list_income_notes() looks back equally far.
  past_days constant int := 45;
  -- Longer ago, even income that stopped is left out.
  most_days constant int := 110;
begin
  return (
    with found as (
      select e.*, case when e.source = 'stopped' then 'stopped' when e.day < context.today then 'late' else 'ahead' end
        as state
      from app.expected_incomes(context, greatest(from_on, context.today - past_days), to_on) as e
      where (words is null
          or app.fold_text(concat_ws(' ', e.name, app.sort_words(app.income_sort(e.name)))) like all (words))
        -- Late income may be in the books, hidden from this person.
        and (e.day >= context.today or identity.sees_everything())
        and to_on >= context.today - most_days
    ), placed as (
      select f.*, row_number() over (partition by f.state order by f.day, f.name) as place from found as f
    )
    select coalesce(jsonb_agg(w.said order by w.state desc), '[]')
    from (
      select p.state, app.warning(
        case p.state when 'stopped' then 'income_stopped' when 'late' then 'income_late' else 'income_expected' end,
        jsonb_build_object('count', count(*), 'items', jsonb_agg(jsonb_build_object(
          'name', p.name, 'day', p.day, 'amount', app.format_amount(p.likely, p.currency), 'currency', p.currency
        ) order by p.place) filter (where p.place <= most))
      ) as said
      from placed as p
      group by p.state
    ) as w
  );
end
$$;
comment on function app.warn_of_expected_income is
  'Warns of income that is not in the books: regular until it stopped, expected in the last weeks of a period, or '
  'still expected in it. words: patterns that the name or sort must match.';

create or replace function app.warn_of_income(context app.context, period app.period, filter app.expense_filter)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  first_on constant date := (
    select min(i.received_on) from app.incomes as i
    where i.organization_id = context.organization_id and i.deleted_at is null
  );
begin
  return app.warn_of_hidden_income()
    -- For people who don't see all income, the first record says nothing about the others.
    || case when not identity.sees_everything() then '[]'
      when first_on is null or first_on > period.to_on
        then jsonb_build_array(app.warning('income_unknown'))
      when first_on > period.from_on + 31
        then jsonb_build_array(app.warning('income_begins', jsonb_build_object('on', first_on)))
      else '[]' end
    || case when num_nonnulls(filter.category_ids, filter.not_category_ids, filter.recorded_by) = 0
      then app.warn_of_expected_income(
        context, period.from_on, period.to_on, filter.words || app.word_patterns(filter.payee)
      ) else '[]' end;
end
$$;
comment on function app.warn_of_income is
  'Returns warnings about income that is unknown: hidden, before the first record, or expected in the period.';

create or replace function app.summarize_income(context app.context, request jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Older halves that were never asked about are not worth their look-up.
  recent_days constant int := 100;
  is_net constant boolean := request ->> 'kind' = 'net';
  asked constant text[] := array(
    select d.value
    from jsonb_array_elements_text(coalesce(request -> 'group_by', '["category"]')) with ordinality as d
    group by d.value order by min(d.ordinality)
  );
  -- Net income has no category.
  dimensions constant text[] := case when is_net and asked = array['category'] then array['month'] else asked end;
  target constant text := coalesce(request ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  filter app.expense_filter := app.parse_expense_filter(context, request - 'kind');
  period constant app.period := app.parse_period(context, request, filter);
  top constant int := coalesce((request ->> 'top')::int, 20);
  spending app.spending;
  groups app.income_group[];
  unconverted jsonb;
  rows jsonb;
  total jsonb;
begin
  perform app.check_income_question(request, dimensions);
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  if is_net then
    spending := app.sum_spending(context, filter, null, null, dimensions, target);
  end if;
  with valued as materialized (
    select i.currency, i.amount_minor, i.name, app.income_key(i, dimensions[1]) as key_1,
      app.income_key(i, dimensions[2]) as key_2,
      (app.value_in_base(target, i.amount_minor, i.currency, i.received_on)).base_minor as minor
    from app.find_incomes(filter) as i
  )
  select array(
    select (v.key_1, v.key_2, min(v.name), min(v.name), sum(v.minor), count(*))::app.income_group
    from valued as v
    where v.minor is not null
    group by v.key_1, v.key_2
  ), (
    select coalesce(jsonb_agg(jsonb_build_object(
      'currency', u.currency, 'amount', app.format_amount(u.minor, u.currency), 'count', u.count
    ) order by u.currency), '[]')
    from (
      select v.currency, sum(v.amount_minor) as minor, count(*) as count from valued as v where v.minor is null
      group by v.currency
    ) as u
  ) into groups, unconverted;
  with cells as (
    select i.key_1, i.key_2, i.label_1, i.minor as income, 0::numeric as spent, i.count from unnest(groups) as i
    union all
    select g.key_1, g.key_2, null, 0, g.once_minor, 0 from unnest(spending.groups) as g
  ), sums as (
    select c.key_1, c.key_2, min(c.label_1) as label, sum(c.income) as income, sum(c.spent) as spent,
      sum(c.count) as count
    from cells as c
    group by c.key_1, c.key_2
  ), ranked as (
    -- Periods in order, others by amount.
    select s.*, row_number() over (
      order by case when dimensions[1] in ('month', 'week', 'day') then s.key_1 end, s.income desc, s.key_1, s.key_2
    ) as place
    from sums as s
  ), folded as (
    select r.key_1, r.key_2, r.label, r.income, r.spent, r.count, r.place, false as is_rest
    from ranked as r
    where r.place <= top or dimensions[1] in ('month', 'week', 'day')
    union all
    select null, null, null, sum(r.income), sum(r.spent), sum(r.count), top + 1, true
    from ranked as r
    where r.place > top and dimensions[1] not in ('month', 'week', 'day')
    having count(*) > 0
  ), shown as (
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'group', case when r.is_rest then '[{"none": "rest"}]'
        when dimensions[2] is null then jsonb_build_array(app.label_income(dimensions[1], r.key_1, r.label))
        else jsonb_build_array(
          app.label_income(dimensions[1], r.key_1, r.label), app.label_income(dimensions[2], r.key_2, r.label)
        ) end,
      'amount', app.format_minor(r.income - r.spent, exponent), 'count', case when not is_net then r.count end,
      'income', case when is_net then app.format_minor(r.income, exponent) end,
      'spending', case when is_net then app.format_minor(r.spent, exponent) end
    )) order by r.place) as rows
    from folded as r
  )
  select coalesce(n.rows, '[]'), (
    select jsonb_strip_nulls(jsonb_build_object(
      'amount', app.format_minor(coalesce(sum(s.income - s.spent), 0), exponent), 'currency', target,
      'count', case when not is_net then coalesce(sum(s.count), 0) end,
      'income', case when is_net then app.format_minor(coalesce(sum(s.income), 0), exponent) end,
      'spending', case when is_net then app.format_minor(coalesce(sum(s.spent), 0), exponent) end,
      'average', app.average_sums(context, period, case when is_net then dimensions[1] end,
        array_agg((s.key_1, s.income - s.spent)::app.key_sum),
        left(min(s.key_1) filter (where is_net) || '-01', 10)::date, exponent)
    ))
    from sums as s
  ) into rows, total
  from shown as n;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on), 'rows', rows, 'total', total,
      'unconverted', unconverted || coalesce(spending.unconverted, '[]')
    ),
    'warnings', app.warn_of_own_only() || app.warn_of_income(context, period, filter)
      || case when unconverted = '[]' and not coalesce(spending.is_partial, false) then '[]'
        else jsonb_build_array(app.warning('rate_missing.of_payments', jsonb_build_object('into', target))) end
      || case when is_net then jsonb_build_array(app.warning('net_is_income_less_spending'))
        || app.warn_of_unpaired(context, greatest(period.from_on, context.today - recent_days)) else '[]' end
  );
end
$$;
comment on function app.summarize_income is
  'Returns income, or income less spending with kind net, for summarize_spending: {period, rows, total, unconverted}. '
  'Each amount is converted at the rate of its day.';
