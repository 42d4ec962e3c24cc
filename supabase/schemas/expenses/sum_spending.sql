create type app.spending_cell as (
  part text,
  is_first boolean,
  key_1 text,
  key_2 text,
  spelling_1 text,
  spelling_2 text,
  currency text,
  net_minor numeric,
  count bigint,
  value_minor numeric,
  value_count bigint,
  valueless_minor numeric,
  fx_source text,
  fx_rate_on date,
  pending_since date,
  rated_currency text,
  rate_on date,
  rated_amounts bigint[]
);
comment on type app.spending_cell is
  'Payments of one part (current, earlier or upcoming) and one group with the same valuation. Has their sum, the '
  'converted part with its rates, and each unconverted amount, because amounts are rounded one by one. is_first is '
  'false when another tag already counts the payment.';

-- The statement is planned once per session, because planning took three times as long as summing a month. A generic
-- plan doesn't know the question, so the settings force a scan of the one useful index without sorting.
create or replace function app.sum_plain_cells(filter app.expense_filter, earlier app.period, dimensions text[],
  target text) returns app.spending_cell[]
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort
    = off as $$
declare
  is_by_time constant boolean := dimensions && array['month', 'week', 'day'];
  wanted_currency constant text := filter.currency;
  wanted_kind constant text := filter.kind;
  category_ids constant text[] := filter.category_ids;
  not_category_ids constant text[] := filter.not_category_ids;
begin
  return array(
    select c::app.spending_cell
    from (
      select w.part, true as is_first,
        app.group_key(dimensions[1], s.category_id, null, null, s.on_day, s.currency, null, null, null) as key_1,
        app.group_key(dimensions[2], s.category_id, null, null, s.on_day, s.currency, null, null, null) as key_2,
        null as spelling_1, null as spelling_2, s.currency, d.sign * s.minor as net_minor, s.count,
        d.sign * case when s.currency = target then s.minor else s.base_minor end as value_minor,
        case when s.currency = target then s.count else s.base_count end as value_count,
        case when s.currency = target then 0 else coalesce(d.sign * s.valueless_minor, 0) end as valueless_minor,
        s.fx_source, s.fx_rate_on, s.pending_since, null as rated_currency, null as rate_on, null as rated_amounts
      from (
        values ('current', filter.from_on, filter.to_on, interval '0'),
          ('earlier', earlier.from_on, earlier.to_on, earlier.shift)
      ) as w (part, from_on, to_on, shift)
      -- Sums each part separately, so that the index can find its days.
      cross join lateral (
        select p.category_id, p.currency, p.direction, p.fx_source,
          case when is_by_time then (p.paid_on + w.shift)::date end as on_day,
          sum(p.amount_minor) as minor, count(*) as count, sum(p.base_minor) as base_minor,
          count(p.base_minor) as base_count, sum(p.amount_minor) filter (where p.base_minor is null) as valueless_minor,
          max(p.fx_rate_on) as fx_rate_on,
          min(p.paid_on) filter (where not p.is_final and p.base_minor is not null) as pending_since
        from app.payments as p
        where p.deleted_at is null and p.paid_on between w.from_on and w.to_on
          and (wanted_currency is null or p.currency = wanted_currency)
          and (wanted_kind is null or wanted_kind = app.kind_of_payment(p.direction, p.expense_id))
          and (category_ids is null or coalesce(p.category_id, '') = any (category_ids))
          and (not_category_ids is null or coalesce(p.category_id, '') <> all (not_category_ids))
        group by 1, 2, 3, 4, 5
      ) as s
      cross join lateral (select case s.direction when 'out' then 1 else -1 end as sign) as d
    ) as c
  );
end
$$;
comment on function app.sum_plain_cells is
  'Returns cells in the base currency, for a question that the index of payments by day can answer.';

create or replace function app.part_of(minor bigint, share bigint, whole bigint) returns bigint
language sql immutable
  return case when share is null then minor else round(minor::numeric * share / whole)::bigint end;
comment on function app.part_of is 'Returns an amount times share / whole, or the amount itself without a share.';

-- Custom plans, because the actual values usually exclude most rows. The groups always fit a hash.
create or replace function app.sum_cells(
  context app.context, filter app.expense_filter, earlier app.period, expected jsonb, dimensions text[], target text
) returns app.spending_cell[]
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_custom_plan set random_page_cost = 1.1 set enable_mergejoin = off set enable_sort
    = off as $$
declare
  is_tagged constant boolean := 'tag' = any (dimensions);
  -- Stored values are in the base currency only.
  is_base constant boolean := target = context.base_currency;
  bearer constant uuid := filter.borne_by;
  is_by_bearer constant boolean := 'borne_by' = any (dimensions);
  earlier_filter app.expense_filter := filter;
  cells app.spending_cell[];
begin
  earlier_filter.from_on := earlier.from_on;
  earlier_filter.to_on := earlier.to_on;
  with payments as not materialized (
    select p.part, (p.paid_on + p.shift)::date as on_day, p.paid_on as rate_on, p.currency,
      case p.direction when 'out' then 1 else -1 end as sign,
      app.part_of(p.amount_minor, share.minor, p.amount_minor) as amount_minor,
      -- The bank's charge replaces the amount if a rate is needed.
      app.part_of(case when p.currency = target then p.amount_minor when is_base then p.base_minor
        when p.charged_currency = target then p.charged_minor end, share.minor, p.amount_minor) as value_minor,
      case when not is_base and p.currency <> target and p.charged_currency is distinct from target
        then coalesce(p.charged_currency, p.currency) end as rated_currency,
      case when not is_base then app.part_of(coalesce(p.charged_minor, p.amount_minor), share.minor, p.amount_minor)
      end as rated_minor,
      case when is_base then p.fx_source end as fx_source, case when is_base then p.fx_rate_on end as fx_rate_on,
      is_base and not p.is_final and p.base_minor is not null as is_pending,
      p.category_id, coalesce(p.payee, p.name) as payee, case when is_tagged then p.tags end as tags,
      p.paid_by as member_id, p.recorded_by as recorder_id, coalesce(share.member_id, p.paid_by) as bearer_id
    from (
      select 'current' as part, interval '0' as shift, f.* from app.find_payments(filter) as f
      union all
      select 'earlier', earlier.shift, f.* from app.find_payments(earlier_filter) as f where earlier.from_on is not null
    ) as p
    left join lateral (
      select s.member_id, abs(s.minor) as minor from app.payment_shares as s
      where (bearer is not null or is_by_bearer) and s.payment_id = p.payment_id and s.minor <> 0
        and (bearer is null or s.member_id = bearer)
      offset 0
    ) as share on true
    union all
    -- Future dates have no rate yet, so use today's.
    select 'upcoming', x.due_on, least(x.due_on, context.today), x.currency, 1, share.minor,
      case when x.currency = target then share.minor end, case when x.currency <> target then x.currency end,
      share.minor, null, null, false,
      e.category_id, coalesce(e.payee, e.name), case when is_tagged then e.tags end, app.expected_payer(e),
      null, share.member_id
    from jsonb_to_recordset(expected) as x (expense_id text, due_on date, expected_minor bigint, currency text)
    join app.expenses as e on e.id = x.expense_id
    -- With borne_by, app.list_expected returns only that person's shares.
    cross join lateral (
      select s.member_id, s.minor from app.expected_shares(e, x.expected_minor) as s
      where bearer is null and is_by_bearer and s.minor <> 0
      union all
      select bearer, x.expected_minor where bearer is not null or not is_by_bearer
      offset 0
    ) as share
    where expected is not null and x.expected_minor is not null
  ),
  -- The planner recognizes that one of the two halves is empty.
  moves as (
    select p.*, null as tag, true as is_first from payments as p where not is_tagged
    union all
    select p.*, t.tag, coalesce(t.position, 1) = 1 from payments as p
      left join lateral unnest(p.tags) with ordinality as t (tag, position) on true where is_tagged
  )
  select array_agg(c::app.spending_cell) into cells
  from (
    select c.part, c.is_first, c.key_1, c.key_2, min(c.spelling_1 collate "C") as spelling_1,
      min(c.spelling_2 collate "C") as spelling_2, c.currency, sum(c.sign * c.amount_minor) as net_minor,
      count(*) as count, sum(c.sign * c.value_minor) as value_minor, count(c.value_minor) as value_count,
      coalesce(sum(c.sign * c.amount_minor) filter (where c.value_minor is null), 0) as valueless_minor,
      c.fx_source, max(c.fx_rate_on) as fx_rate_on, min(c.pending_on) as pending_since, c.rated_currency, c.rate_on,
      array_agg(c.sign * c.rated_minor) filter (where c.rated_currency is not null) as rated_amounts
    from (
      select m.part, m.is_first, m.currency, case when m.is_pending then m.rate_on end as pending_on,
        app.group_key(dimensions[1], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id,
          m.recorder_id, m.bearer_id) as key_1,
        app.group_key(dimensions[2], m.category_id, m.payee, m.tag, m.on_day, m.currency, m.member_id,
          m.recorder_id, m.bearer_id) as key_2,
        case dimensions[1] when 'payee' then m.payee when 'tag' then m.tag end as spelling_1,
        case dimensions[2] when 'payee' then m.payee when 'tag' then m.tag end as spelling_2,
        case when m.rated_currency is not null then m.rate_on end as rate_on,
        m.rated_currency, m.rated_minor, m.sign, m.amount_minor, m.value_minor, m.fx_source, m.fx_rate_on
      from moves as m
    ) as c
    group by c.part, c.is_first, c.key_1, c.key_2, c.currency, c.rated_currency, c.rate_on, c.fx_source
  ) as c;
  return cells;
end
$$;
comment on function app.sum_cells is 'Returns the cells of any question. expected: as in app.sum_spending.';

create or replace function app.sum_spending(
  context app.context, filter app.expense_filter, earlier app.period, expected jsonb, dimensions text[], target text
) returns app.spending
language plpgsql stable set search_path = ''
  set plan_cache_mode = force_generic_plan set enable_nestloop = off set enable_mergejoin = off as $$
declare
  cells constant app.spending_cell[] := case
    when app.is_plain(filter) and target = context.base_currency and expected is null
      and dimensions <@ array['category', 'currency', 'month', 'week', 'day']
      then app.sum_plain_cells(filter, earlier, dimensions, target)
    else app.sum_cells(context, filter, earlier, expected, dimensions, target) end;
  spending app.spending;
begin
  with cells as materialized (
    select * from unnest(cells)
  ),
  rated_days as materialized (
    select c.rated_currency, c.rate_on, bool_or(c.part <> 'upcoming') as is_paid
    from cells as c
    where c.rated_currency is not null
    group by c.rated_currency, c.rate_on
  ),
  rates as materialized (
    select d.rated_currency, d.rate_on, t.per_euro * 10::numeric ^ into_currency.exponent as numerator,
      f.per_euro * 10::numeric ^ c.exponent as denominator,
      least(f.rate_on, t.rate_on) as as_of, array[f.source, t.source] as sources,
      d.is_paid and (
        'snapshot' in (f.source, t.source)
        or least(f.rate_on, t.rate_on) < d.rate_on
        and not exists (select from app.fx_days as s where s.day = d.rate_on and s.settled_at is not null)
      ) as is_pending
    from rated_days as d
    join app.currencies as c on c.code = d.rated_currency
    join app.currencies as into_currency on into_currency.code = target
    cross join lateral app.rates_as_of(d.rated_currency, d.rate_on) as f
    cross join lateral app.rates_as_of(target, d.rate_on) as t
  ),
  valued as materialized (
    select c.*, r.numerator, r.denominator,
      case when r.numerator is not null then c.count else c.value_count end as valued_count
    from cells as c
    left join rates as r on r.rated_currency = c.rated_currency and r.rate_on = c.rate_on
  ),
  unconverted as (
    select v.currency, sum(v.valueless_minor) as minor, sum(v.count - v.valued_count) as count
    from valued as v
    where v.part <> 'earlier' and v.is_first and v.valued_count < v.count
    group by v.currency
  ),
  sums as (
    select v.key_1, v.key_2, v.part, v.is_first, v.spelling_1, v.spelling_2,
      -- A payment without a rate is missing from both the sum and its count.
      case when v.rated_currency is null then v.value_minor else (
        select sum(sign(n.minor) * app.scale_minor(abs(n.minor), v.numerator, v.denominator))
        from unnest(v.rated_amounts) as n (minor)
      ) end as minor,
      v.valued_count as count
    from valued as v
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
    exists (select from valued as v where v.valued_count < v.count),
    array(
      select distinct s.name
      from (
        select unnest(r.sources) as name from rates as r
        union all
        select unnest(string_to_array(c.fx_source, '+')) from cells as c
      ) as s
      where s.name is not null order by s.name
    ),
    greatest((select max(r.as_of) from rates as r), (select max(c.fx_rate_on) from cells as c)),
    least(
      (select min(c.pending_since) from cells as c), (select min(r.rate_on) from rates as r where r.is_pending)
    )
  into spending;
  return spending;
end
$$;
comment on function app.sum_spending is
  'Returns the sums of payments in the target currency, grouped by up to two dimensions. expected holds rows of '
  'app.expected_in_period, or null.';
