-- summarize_spending: totals of a period in one currency, grouped, ranked and compared. Each payment is converted at the rate of its own day and
-- rounded once; what cannot be converted is named, never counted as if it were the other currency. Refunds subtract.

-- Parsed when it was created, and inlined: with a constant dimension one branch is left.
create function app.group_key(dimension text, category_id text, payee text, tag text, on_day date, currency text, member_id uuid) returns text
language sql stable
  return case dimension
    when 'category' then category_id
    when 'payee' then lower(payee)
    when 'tag' then lower(tag)
    when 'month' then to_char(on_day::timestamp, 'YYYY-MM')
    when 'week' then to_char(date_trunc('week', on_day::timestamp), 'YYYY-MM-DD')
    when 'day' then to_char(on_day::timestamp, 'YYYY-MM-DD')
    when 'currency' then currency
    when 'member' then member_id::text
  end;
comment on function app.group_key is 'What a payment is grouped by: ids where there are some, weeks by their Monday; null for none.';

create function app.group_label(dimension text, key text, spelling text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  name text;
begin
  case dimension
    when 'category' then
      name := (select c.name from app.categories as c where c.id = key);
    when 'member' then
      name := (select p.email from identity.profiles as p where p.user_id = key::uuid);
    else
      name := coalesce(spelling, key);
  end case;
  return coalesce(to_jsonb(name), jsonb_build_object('none', case when dimension = 'member' and key is not null then 'former_member' else dimension end));
end
$$;
comment on function app.group_label is
  'What a group is called, spelling being one of those that were typed; {none: dimension} for what has no such thing, {none: "former_member"} for who has left.';

create type app.spending_group as (
  key_1 text,
  key_2 text,
  spelling_1 text,
  spelling_2 text,
  minor numeric,
  count bigint,
  upcoming_minor numeric,
  earlier_minor numeric,
  earlier_count bigint,
  -- The same without what other tags of the same payment count already.
  once_minor numeric,
  once_count bigint,
  once_upcoming_minor numeric,
  once_earlier_minor numeric
);
comment on type app.spending_group is 'Sums of one group in minor units of the target currency; earlier ones are of the period compared with, upcoming ones are part of minor.';

create type app.spending as (
  groups app.spending_group[],
  unconverted jsonb,
  is_partial boolean,
  sources text[],
  as_of date
);
comment on type app.spending is 'All groups of a question, what could not be converted, whether that is so in any period, and by which rates the rest was.';

-- Planned for the values at hand; its tables are in memory as far as they are asked for, and its rates and groups always fit a hash.
create function app.sum_spending(
  context app.context, filter app.expense_filter, earlier app.period, expected jsonb, dimensions text[], target text
) returns app.spending
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_custom_plan set random_page_cost = 1.1 set enable_mergejoin = off set enable_sort = off as $$
declare
  is_tagged constant boolean := 'tag' = any (dimensions);
  earlier_filter app.expense_filter := filter;
  spending app.spending;
begin
  earlier_filter.from_on := earlier.from_on;
  earlier_filter.to_on := earlier.to_on;
  with payments as not materialized (
    select 'current' as part, p.paid_on as on_day, p.paid_on as rate_on, p.currency, case p.direction when 'out' then 1 else -1 end as sign,
      p.amount_minor, p.category_id, coalesce(p.payee, p.name) as payee, case when is_tagged then p.tags end as tags, p.paid_by as member_id
    from app.find_payments(filter) as p
    union all
    select 'earlier', (p.paid_on + earlier.shift)::date, p.paid_on, p.currency, case p.direction when 'out' then 1 else -1 end,
      p.amount_minor, p.category_id, coalesce(p.payee, p.name), case when is_tagged then p.tags end, p.paid_by
    from app.find_payments(earlier_filter) as p
    where earlier.from_on is not null
    union all
    -- What is still to come has no rate yet; today's is the nearest.
    select 'upcoming', x.due_on, least(x.due_on, context.today), x.currency, 1,
      x.expected_minor, e.category_id, coalesce(e.payee, e.name), case when is_tagged then e.tags end, e.created_by
    from jsonb_to_recordset(expected) as x (expense_id text, due_on date, expected_minor bigint, currency text)
    join app.expenses as e on e.id = x.expense_id
    join app.currencies as c on c.code = x.currency
    where expected is not null and x.expected_minor is not null
      and (filter.currency is null or x.currency = filter.currency)
      and (filter.min_amount is null or x.expected_minor >= filter.min_amount * 10::numeric ^ c.exponent)
      and (filter.max_amount is null or x.expected_minor <= filter.max_amount * 10::numeric ^ c.exponent)
      and app.matches_filter(filter, e.category_id, e.tags, e.match_key, e.name, e.payee, e.note, null)
  ),
  -- One of the two halves is nothing, as the planner sees.
  moves as (
    select p.*, null as tag, true as is_first from payments as p where not is_tagged
    union all
    select p.*, t.tag, coalesce(t.position, 1) = 1 from payments as p left join lateral unnest(p.tags) with ordinality as t (tag, position) on true where is_tagged
  ),
  -- What is in the target currency needs no rate; of what is not, each amount is kept, since each is rounded by itself.
  cells as materialized (
    select c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rate_on, min(c.spelling_1 collate "C") as spelling_1,
      min(c.spelling_2 collate "C") as spelling_2, sum(c.net_minor) as net_minor, count(*) as count,
      array_agg(c.net_minor) filter (where c.currency <> target) as net_amounts
    from (
      select m.part, m.is_first, m.currency,
        app.group_key(dimensions[1], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id) as key_1,
        app.group_key(dimensions[2], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id) as key_2,
        case dimensions[1] when 'payee' then m.payee when 'tag' then m.tag end as spelling_1,
        case dimensions[2] when 'payee' then m.payee when 'tag' then m.tag end as spelling_2,
        case when m.currency <> target then m.rate_on end as rate_on,
        m.sign * m.amount_minor as net_minor
      from moves as m
    ) as c
    group by c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rate_on
  ),
  foreign_days as materialized (
    select c.currency, c.rate_on,
      sum(c.net_minor) filter (where c.part <> 'earlier' and c.is_first) as minor,
      sum(c.count) filter (where c.part <> 'earlier' and c.is_first) as count
    from cells as c
    where c.currency <> target
    group by c.currency, c.rate_on
  ),
  rates as materialized (
    select d.currency, d.rate_on, t.per_euro * 10::numeric ^ into_currency.exponent as numerator, f.per_euro * 10::numeric ^ c.exponent as denominator,
      least(f.rate_on, t.rate_on) as as_of, array[f.source, t.source] as sources
    from foreign_days as d
    join app.currencies as c on c.code = d.currency
    join app.currencies as into_currency on into_currency.code = target
    cross join lateral app.rates_as_of(d.currency, d.rate_on) as f
    cross join lateral app.rates_as_of(target, d.rate_on) as t
  ),
  unconverted as (
    select d.currency, sum(d.minor) as minor, sum(d.count) as count
    from foreign_days as d
    where d.count > 0 and not exists (select from rates as r where r.currency = d.currency and r.rate_on = d.rate_on)
    group by d.currency
  ),
  sums as (
    select c.key_1, c.key_2, c.part, c.is_first, min(c.spelling_1 collate "C") as spelling_1, min(c.spelling_2 collate "C") as spelling_2,
      -- Without a rate there is no value, in the sum and in its count.
      sum(case when c.currency = target then c.net_minor else sign(n.minor) * app.scale_minor(abs(n.minor), r.numerator, r.denominator) end) as minor,
      sum(case when c.currency = target then c.count when r.currency is not null then 1 else 0 end) as count
    from cells as c
    left join rates as r on r.currency = c.currency and r.rate_on = c.rate_on
    left join lateral unnest(c.net_amounts) as n (minor) on true
    group by c.key_1, c.key_2, c.part, c.is_first
  ),
  groups as (
    select s.key_1, s.key_2, min(s.spelling_1 collate "C") as spelling_1, min(s.spelling_2 collate "C") as spelling_2,
      coalesce(sum(s.minor) filter (where s.part <> 'earlier'), 0) as minor,
      coalesce(sum(s.count) filter (where s.part <> 'earlier'), 0) as count,
      sum(s.minor) filter (where s.part = 'upcoming') as upcoming_minor,
      coalesce(sum(s.minor) filter (where s.part = 'earlier'), 0) as earlier_minor,
      coalesce(sum(s.count) filter (where s.part = 'earlier'), 0) as earlier_count,
      coalesce(sum(s.minor) filter (where s.part <> 'earlier' and s.is_first), 0) as once_minor,
      coalesce(sum(s.count) filter (where s.part <> 'earlier' and s.is_first), 0) as once_count,
      sum(s.minor) filter (where s.part = 'upcoming' and s.is_first) as once_upcoming_minor,
      coalesce(sum(s.minor) filter (where s.part = 'earlier' and s.is_first), 0) as once_earlier_minor
    from sums as s
    group by s.key_1, s.key_2
  )
  select
    array(select g::app.spending_group from groups as g where g.count > 0 or g.earlier_count > 0),
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'currency', u.currency, 'amount', app.format_minor(u.minor, c.exponent), 'count', u.count
      ) order by u.currency), '[]')
      from unconverted as u join app.currencies as c on c.code = u.currency
    ),
    (select count(*) from foreign_days) > (select count(*) from rates),
    array(select distinct s from rates as r cross join unnest(r.sources) as s where s is not null order by s),
    (select max(r.as_of) from rates as r)
  into spending;
  return spending;
end
$$;
comment on function app.sum_spending is
  'Sums by up to two dimensions, each payment converted to the target at the rate of its day; expected are rows of app.expected_in_period, or null.';

create function app.rank_spending(spending app.spending, dimensions text[], top int, target text, is_compared boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  times constant text[] := array['month', 'week', 'day'];
  is_time_1 constant boolean := dimensions[1] = any (times);
  is_time_2 constant boolean := coalesce(dimensions[2] = any (times), false);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  rest constant jsonb := '{"none": "rest"}';
begin
  return (
    with named as (
      select g.*, app.group_label(dimensions[1], g.key_1, g.spelling_1) as name_1,
        case when dimensions[2] is not null then app.group_label(dimensions[2], g.key_2, g.spelling_2) end as name_2
      from unnest(spending.groups) as g
    ),
    heads as (
      -- What competes for a place: everything but time, whose groups are a sequence and are never folded.
      select n.*, concat_ws(E'\n', case when not is_time_1 then n.name_1 #>> '{}' end, case when not is_time_2 then n.name_2 #>> '{}' end) collate "C" as head
      from named as n
    ),
    placed as (
      select p.*, dense_rank() over (order by p.head_minor desc, p.head) > top as is_rest
      from (select h.*, sum(h.minor) over (partition by h.head) as head_minor from heads as h) as p
    ),
    folded as (
      select p.is_rest, f.name_1, f.name_2,
        max(p.head_minor) filter (where not p.is_rest) as head_minor, min(p.head) filter (where not p.is_rest) as head,
        sum(p.minor) as minor, sum(p.count) as count, sum(p.upcoming_minor) as upcoming_minor, sum(p.earlier_minor) as earlier_minor
      from placed as p
      cross join lateral (
        select case when p.is_rest and not is_time_1 then null else p.name_1 end as name_1,
          case when p.is_rest and not is_time_2 then null else p.name_2 end as name_2
      ) as f
      group by p.is_rest, f.name_1, f.name_2
    ),
    ordered as (
      select f.*, sum(f.minor) over () as total_minor, row_number() over (order by
        case when is_time_1 then f.name_1 #>> '{}' end, f.is_rest,
        case when not is_time_1 then f.head_minor end desc, case when not is_time_1 then f.head end,
        case when is_time_2 then f.name_2 #>> '{}' end, f.minor desc, f.head
      ) as place
      from folded as f
    ),
    -- Tenths of a percent that add up to 100: rounded down, and what is left goes to those that lost most.
    shares as (
      select o.*, floor(o.exact) as tenths,
        row_number() over (order by o.exact - floor(o.exact) desc, o.place) as turn, 1000 - sum(floor(o.exact)) over () as left_over
      from (select o.*, case when o.total_minor > 0 then o.minor * 1000 / o.total_minor end as exact from ordered as o) as o
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'group', case
        when s.name_1 is null and s.name_2 is null then jsonb_build_array(rest)
        when cardinality(dimensions) = 1 then jsonb_build_array(s.name_1)
        else jsonb_build_array(coalesce(s.name_1, rest), coalesce(s.name_2, rest))
      end,
      'amount', app.format_minor(s.minor, exponent),
      'share_percent', round((s.tenths + case when s.turn <= s.left_over then 1 else 0 end) / 10, 1),
      'count', s.count,
      'upcoming', app.format_minor(s.upcoming_minor, exponent),
      'previous', case when is_compared then app.format_minor(s.earlier_minor, exponent) end,
      'change_percent', case when is_compared then round((s.minor - s.earlier_minor) * 100 / nullif(abs(s.earlier_minor), 0), 1) end
    ) order by s.place), '[]')
    from shares as s
  );
end
$$;
comment on function app.rank_spending is
  'Rows of summarize_spending: the largest groups, the rest as one ({none: "rest"}), periods of time in their order; shares are of what the rows add up to.';

create function app.summarize_spending(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  -- With what is still to come a period is whole, and compared with a whole one.
  earlier constant app.period := case when (arguments ->> 'include_upcoming')::boolean then app.earlier_period(period, arguments ->> 'compare')
    else app.compared_period(period, arguments ->> 'compare', context.today) end;
  is_compared constant boolean := earlier.from_on is not null;
  books_begin constant date := case when is_compared then app.books_begin(period, earlier) end;
  dimensions constant text[] := array(
    select d.value from jsonb_array_elements_text(coalesce(arguments -> 'group_by', '["category"]')) with ordinality as d
    group by d.value order by min(d.ordinality)
  );
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  expected jsonb;
  unknown_amounts text[];
  spending app.spending;
  rows jsonb;
  warnings jsonb := '[]';
  total jsonb;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  if (arguments ->> 'include_upcoming')::boolean and coalesce(filter.kind, 'bill_payment') = 'bill_payment' then
    select jsonb_agg(to_jsonb(x)) into expected from app.expected_in_period(context, period.from_on, period.to_on) as x;
    select array_agg(distinct e.name) into unknown_amounts
    from jsonb_to_recordset(expected) as x (expense_id text, expected_minor bigint)
    join app.expenses as e on e.id = x.expense_id
    where x.expected_minor is null;
  end if;
  spending := app.sum_spending(context, filter, earlier, expected, dimensions, target);
  rows := app.rank_spending(spending, dimensions, coalesce((arguments ->> 'top')::int, 20), target, is_compared);
  if jsonb_array_length(rows) > 1000 then
    perform app.fail('invalid_argument.too_many_rows', jsonb_build_object('count', jsonb_array_length(rows)), 'group_by');
  end if;

  if books_begin is not null then
    rows := (select coalesce(jsonb_agg(r.value - 'change_percent' order by r.ordinality), '[]') from jsonb_array_elements(rows) with ordinality as r);
    warnings := warnings || app.warning(
      'books_begin', jsonb_build_object('on', books_begin, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  elsif is_compared and period.to_on > context.today and not coalesce((arguments ->> 'include_upcoming')::boolean, false) then
    warnings := warnings || app.warning(
      'period_running', jsonb_build_object('until', period.to_on, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  end if;

  select jsonb_build_object(
    'amount', app.format_minor(coalesce(sum(g.once_minor), 0), exponent), 'currency', target, 'count', coalesce(sum(g.once_count), 0),
    'upcoming', app.format_minor(sum(g.once_upcoming_minor), exponent),
    'previous', case when is_compared then app.format_minor(coalesce(sum(g.once_earlier_minor), 0), exponent) end,
    'change_percent', case when is_compared and books_begin is null then
      round((sum(g.once_minor) - sum(g.once_earlier_minor)) * 100 / nullif(abs(sum(g.once_earlier_minor)), 0), 1)
    end
  ) into total
  from unnest(spending.groups) as g;
  if 'tag' = any (dimensions) and exists (select from unnest(spending.groups) as g where g.count > g.once_count) then
    warnings := warnings || app.warning('tags_overlap');
  end if;
  if spending.is_partial then
    warnings := warnings || app.warning('rate_missing.of_payments', jsonb_build_object('into', target));
  end if;
  if unknown_amounts is not null then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', unknown_amounts));
  end if;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on) || case when is_compared then
        jsonb_build_object('previous', jsonb_build_object('from', earlier.from_on, 'to', earlier.to_on)) else '{}' end,
      'rows', rows,
      'total', total,
      'fx', jsonb_build_object(
        'sources', spending.sources, 'as_of', spending.as_of
      ),
      'unconverted', spending.unconverted
    ),
    'warnings', warnings
  );
end
$$;
comment on function app.summarize_spending is 'Tool summarize_spending: data {period, rows, total, fx, unconverted}.';

revoke all on function app.group_key, app.group_label, app.sum_spending, app.rank_spending, app.summarize_spending from public, anon;
grant execute on function app.group_key, app.group_label, app.sum_spending, app.rank_spending, app.summarize_spending to authenticated, service_role;
