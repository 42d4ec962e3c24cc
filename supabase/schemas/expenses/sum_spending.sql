-- Planned for the values at hand; its tables are in memory as far as they are asked for, and its rates and groups
-- always fit a hash.
create or replace function app.sum_spending(
  context app.context, filter app.expense_filter, earlier app.period, expected jsonb, dimensions text[], target text
) returns app.spending
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_custom_plan set random_page_cost = 1.1 set enable_mergejoin = off set enable_sort
    = off as $$
declare
  is_tagged constant boolean := 'tag' = any (dimensions);
  earlier_filter app.expense_filter := filter;
  spending app.spending;
begin
  earlier_filter.from_on := earlier.from_on;
  earlier_filter.to_on := earlier.to_on;
  with payments as not materialized (
    select 'current' as part, p.paid_on as on_day, p.paid_on as rate_on, p.currency,
      case p.direction when 'out' then 1 else -1 end as sign,
      p.amount_minor, p.category_id, coalesce(p.payee, p.name) as payee, case when is_tagged then p.tags end as tags,
      p.paid_by as member_id
    from app.find_payments(filter) as p
    union all
    select 'earlier', (p.paid_on + earlier.shift)::date, p.paid_on, p.currency,
      case p.direction when 'out' then 1 else -1 end,
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
    select p.*, t.tag, coalesce(t.position, 1) = 1 from payments as p
      left join lateral unnest(p.tags) with ordinality as t (tag, position) on true where is_tagged
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
    select d.currency, d.rate_on, t.per_euro * 10::numeric ^ into_currency.exponent as numerator,
      f.per_euro * 10::numeric ^ c.exponent as denominator,
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
    select c.key_1, c.key_2, c.part, c.is_first, min(c.spelling_1 collate "C") as spelling_1,
      min(c.spelling_2 collate "C") as spelling_2,
      -- Without a rate there is no value, in the sum and in its count.
      sum(
        case when c.currency = target then c.net_minor
        else sign(n.minor) * app.scale_minor(abs(n.minor), r.numerator, r.denominator) end) as minor,
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
  'Sums by up to two dimensions, each payment converted to the target at the rate of its day; expected are rows of '
  'app.expected_in_period, or null.';
