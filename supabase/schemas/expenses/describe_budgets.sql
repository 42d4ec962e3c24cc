create type app.budget_state as (
  budget app.budgets,
  category text,
  from_on date,
  to_on date,
  carried_minor numeric,
  spent_minor numeric,
  available_minor numeric,
  is_partial boolean
);
comment on type app.budget_state is
  'A budget in one of its months or years. available_minor is the limit plus any carry-over; is_partial means that '
  'some payments cannot be converted.';

create or replace function app.read_budgets(context app.context, day date, category_ids text[] default null)
  returns setof app.budget_state
language plpgsql stable set search_path = '' as $$
declare
  everything constant app.expense_filter := app.parse_expense_filter(context, '{}');
begin
  return query
    with live as (
      select b as budget, b.currency, b.category_id, b.per, b.amount_minor, b.carries_over, b.opening_minor,
        c.name as category,
        date_trunc(b.per, day)::date as from_on,
        (date_trunc(b.per, day) + ('1 ' || b.per)::interval)::date - 1 as to_on,
        date_trunc(b.per, b.starts_on)::date as counted_from
      from app.budgets as b
      left join app.categories as c on c.id = b.category_id
      where b.deleted_at is null and c.archived_at is null
        and (category_ids is null or b.category_id = any (category_ids))
        -- Earlier settings are not stored, so before its first change, a budget reports the current limit.
        and (date_trunc(b.per, day) >= b.starts_on
          or b.starts_on <= (b.created_at at time zone context.timezone)::date)
    ),
    -- Sum each period once, however many budgets it has.
    windows as (
      select l.currency, l.from_on, l.to_on from live as l
      union
      select l.currency, l.counted_from, l.from_on - 1 from live as l
      where l.carries_over and l.counted_from < l.from_on
    ),
    sums as materialized (
      select w.currency, w.from_on, w.to_on, s.groups, s.is_partial
      from windows as w
      cross join lateral
        jsonb_populate_record(everything, jsonb_build_object('from_on', w.from_on, 'to_on', w.to_on)) as f
      cross join lateral app.sum_spending(context, f, null, null, array['category'], w.currency) as s
    ),
    spent as (
      select l.budget, s.to_on < l.from_on as is_past, s.is_partial and (
          -- A budget in the base currency is partial only if a payment of its own category is unconverted.
          l.category_id is null or l.currency <> context.base_currency or exists (
            select from app.payments as p
            where p.category_id = l.category_id and p.paid_on between s.from_on and s.to_on and p.base_minor is null
              and p.deleted_at is null
          )
      ) as is_partial, (
          select coalesce(sum(g.minor), 0) from unnest(s.groups) as g
          where l.category_id is null or g.key_1 = l.category_id
      ) as minor
      from live as l
      join sums as s on s.currency = l.currency
        and (s.from_on, s.to_on) in ((l.from_on, l.to_on), (l.counted_from, l.from_on - 1))
    )
    select l.budget, l.category, l.from_on, l.to_on, carried.minor, s.minor,
      l.amount_minor + coalesce(carried.minor, 0),
      s.is_partial
    from live as l
    cross join lateral (
      select sum(s.minor) filter (where not s.is_past) as minor,
        coalesce(sum(s.minor) filter (where s.is_past), 0) as past_minor, bool_or(s.is_partial) as is_partial
      from spent as s where (s.budget).id = (l.budget).id
    ) as s
    cross join lateral (
      select case when l.carries_over and l.counted_from <= l.from_on then l.opening_minor + l.amount_minor * (
        case l.per when 'year' then extract(year from l.from_on) - extract(year from l.counted_from)
        else app.month_of(l.from_on) - app.month_of(l.counted_from) end
      ) - s.past_minor end as minor
    ) as carried;
end
$$;
comment on function app.read_budgets is
  'Returns the budgets of these categories in the month or year of a day. Null returns all budgets, including the one '
  'for all spending. Omits budgets that had different settings then.';

create or replace function app.describe_budgets(context app.context, day date, category_ids text[] default null)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'category', s.category, 'per', (s.budget).per, 'from', s.from_on, 'to', s.to_on,
      'amount', app.format_minor((s.budget).amount_minor, c.exponent), 'currency', c.code,
      'carried', app.format_minor(s.carried_minor, c.exponent),
      'spent', app.format_minor(s.spent_minor, c.exponent),
      'left', app.format_minor(s.available_minor - s.spent_minor, c.exponent),
      'used_percent', case when s.available_minor > 0 then trunc(s.spent_minor * 100 / s.available_minor) end,
      'is_partial', case when s.is_partial then true end,
      'set_on', case when added.day > s.to_on then added.day end
    )) order by (s.budget).per, lower(s.category) nulls first)
    from app.read_budgets(context, day, category_ids) as s
    join app.currencies as c on c.code = (s.budget).currency
    cross join lateral (select ((s.budget).created_at at time zone context.timezone)::date as day) as added
  );
end
$$;
comment on function app.describe_budgets is
  'Returns app.read_budgets in the format of the contract: [{category?, per, from, to, amount, currency, carried?, '
  'spent, left, used_percent?, is_partial?, set_on?}], or null for none. set_on is the day of a budget that was set '
  'after the period.';

create or replace function app.change_budget(context app.context, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  unit constant text := coalesce(change ->> 'per', 'month');
  category constant app.categories :=
    case when change ? 'category' then app.require_category(context, change ->> 'category', 'budget.category') end;
  first_day constant date := date_trunc(unit, context.today::timestamp)::date;
  minor constant bigint := app.parse_amount(change ->> 'amount', context.base_currency, 'budget.amount');
  budget app.budgets;
  carries_over boolean;
  opening bigint;
begin
  if category.archived_at is not null then
    perform app.fail_without_category(category.name, 'budget.category');
  end if;
  select * into budget from app.budgets as b
  where b.organization_id = context.organization_id and b.category_id is not distinct from category.id
    and b.per = unit and b.deleted_at is null
  for no key update;
  if change ->> 'action' = 'remove' then
    if budget.id is null then
      perform app.fail('not_found.budget', jsonb_build_object('category', category.name, 'per', unit),
        'budget.category');
    end if;
    update app.budgets as b set deleted_at = context.at where b.id = budget.id;
  elsif minor is null then
    perform app.fail('invalid_argument.budget_amount_missing', field => 'budget.amount');
  else
    carries_over := coalesce((change ->> 'carry_over')::boolean, budget.carries_over, false);
    if carries_over and budget.carries_over and budget.currency = context.base_currency then
      select s.carried_minor into opening
      from app.read_budgets(context, context.today, case when category.id is not null then array[category.id] end) as s
      where (s.budget).id = budget.id;
    end if;
    insert into app.budgets as b (organization_id, category_id, per, amount_minor, currency, carries_over, starts_on,
      opening_minor)
    values (
      context.organization_id, category.id, unit, minor, context.base_currency, carries_over, first_day,
      coalesce(opening, 0)
    )
    on conflict (organization_id, coalesce(category_id, ''), per) where deleted_at is null
    do update set amount_minor = excluded.amount_minor, currency = excluded.currency,
      carries_over = excluded.carries_over, starts_on = excluded.starts_on, opening_minor = excluded.opening_minor
    where (b.amount_minor, b.currency, b.carries_over)
      is distinct from (excluded.amount_minor, excluded.currency, excluded.carries_over);
  end if;
  return jsonb_strip_nulls(jsonb_build_object('action', change ->> 'action', 'category', category.name, 'per', unit,
      'about', case when category.id is not null then array[category.id] end)
    || case when change ->> 'action' = 'set'
      then jsonb_build_object(
        'amount', app.format_amount(minor, context.base_currency), 'currency', context.base_currency
      )
      else '{}' end);
end
$$;
comment on function app.change_budget is
  'Sets or removes the budget of a category, or of all spending, in the base currency. Returns its facts: {action, '
  'category?, per, about?, amount?, currency?}.';
