-- Matches one row with several expenses of a day, or several rows of a day with one expense.

create type app.sum_item as (
  id text,
  day date,
  amount_minor bigint,
  currency text,
  direction text,
  name text,
  grouped_by text
);
comment on type app.sum_item is
  'A statement row or a payment that may be a sum or part of one. Parts of one sum have the same grouped_by.';

create or replace function app.list_sums(amounts bigint[]) returns table (places int[], total bigint)
language plpgsql immutable set search_path = '' as $$
begin
  return query
    with recursive sums as (
      select array[i] as places, amounts[i] as total from generate_subscripts(amounts, 1) as i
      union all
      select s.places || i, s.total + amounts[i]
      from sums as s
      cross join generate_subscripts(amounts, 1) as i
      where i > s.places[cardinality(s.places)] and cardinality(s.places) < 4
    )
    -- Combinations of the same amounts are interchangeable.
    select min(s.places), s.total
    from sums as s
    where cardinality(s.places) > 1
    group by s.total
    having count(distinct array(select amounts[p] from unnest(s.places) as p order by 1)) = 1;
end
$$;
comment on function app.list_sums is
  'Returns the sums of two to four of these amounts, each with the places of its parts. Leaves out ambiguous sums, '
  'which several sets of amounts produce.';

create or replace function app.find_sums(wholes app.sum_item[], parts app.sum_item[])
  returns table (whole_id text, part_ids text[])
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  days constant int := 5;
  -- Larger groups of one payee and day are skipped.
  most constant int := 6;
  found record;
  used text[] := '{}';
begin
  for found in
    with crowds as materialized (
      select (p).day, (p).currency, (p).direction, array_agg((p).id order by (p).id) as ids,
        array_agg((p).amount_minor order by (p).id) as amounts, array_agg(distinct (p).name) as names
      from unnest(parts) as p
      group by (p).day, (p).currency, (p).direction, (p).grouped_by
      having count(*) between 2 and most
    ), sums as materialized (
      select c.day, c.currency, c.direction, c.names, s.total, array(select c.ids[p] from unnest(s.places) as p) as ids
      from crowds as c
      cross join lateral app.list_sums(c.amounts) as s
    )
    select (w).id as whole, s.ids
    from unnest(wholes) as w
    join sums as s on s.total = (w).amount_minor and s.currency = (w).currency and s.direction = (w).direction
    where abs((w).day - s.day) <= days and not exists (
      select from unnest(s.names) as n
      where app.compare_names(app.descriptor_words(n), app.descriptor_words((w).name)) < 2
    )
    order by (w).day, (w).id, abs((w).day - s.day), cardinality(s.ids), s.ids
  loop
    if not used && (found.whole || found.ids) then
      used := used || found.whole || found.ids;
      whole_id := found.whole;
      part_ids := found.ids;
      return next;
    end if;
  end loop;
end
$$;
comment on function app.find_sums is
  'Returns the wholes that are the sum of two to four parts. The parts share a day within five days of the whole, and '
  'their names agree with it.';

create or replace function app.match_sums(context app.context, batch app.import_batches, first int, last int,
  taken text[]) returns void
-- The caller turns nested loops off. One is needed here, and its penalty would hide the cost difference between
-- indexes.
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan'
  set enable_nestloop = 'on' as $$
declare
  days constant int := 5;
  lines app.sum_item[] := array(
    select i::app.sum_item
    from (
      select r.line::text as id, d.paid_on as day, d.amount_minor, d.currency, d.direction,
        coalesce(d.payee, d.name) as name, split_part(lower(coalesce(d.payee, d.name)), ' ', 1) as grouped_by
      from app.import_rows as r
      cross join lateral jsonb_to_record(r.draft) as d (
        paid_on date, amount_minor bigint, currency text, direction text, name text, payee text
      )
      where r.import_id = batch.id and r.line between first and last and r.draft is not null and not r.is_skipped
        and r.match is null and r.kind in ('expense', 'refund')
    ) as i
  );
  -- Use values instead of subqueries, so that the planner knows that there are few days.
  first_day constant date := (select min((l).day) from unnest(lines) as l) - days;
  last_day constant date := (select max((l).day) from unnest(lines) as l) + days;
  paid app.sum_item[];
begin
  if lines = '{}' then
    return;
  end if;
  paid := array(
    select i::app.sum_item
    from (
      select p.id, p.paid_on as day, p.amount_minor, p.currency, p.direction, coalesce(e.payee, e.name) as name,
        e.match_key as grouped_by
      from app.payments as p
      cross join lateral (
        select e.name, e.payee, e.match_key from app.expenses as e where e.id = p.expense_id offset 0
      ) as e
      where p.organization_id = context.organization_id and p.deleted_at is null and p.split_id is null
        and not p.is_estimate
        and p.paid_on between first_day and last_day
        and not exists (select from app.statement_links as k where k.payment_id = p.id)
        and p.id <> all (taken)
    ) as i
  );
  update app.import_rows as r
  set match = jsonb_build_object('state', 'linked', 'payment_ids', s.part_ids)
  from app.find_sums(lines, paid) as s
  where r.import_id = batch.id and r.line = s.whole_id::int;
  update app.import_rows as r
  set match = jsonb_build_object('state', 'linked', 'payment_ids', jsonb_build_array(s.whole_id))
  from app.find_sums(
    paid, array(
      select l from unnest(lines) as l
      where exists (select from app.import_rows as o
        where o.import_id = batch.id and o.line = (l).id::int and o.match is null)
    )
  ) as s
  where r.import_id = batch.id and r.line = any (s.part_ids::int[]);
end
$$;
comment on function app.match_sums is
  'Links rows that sum several payments of a day to the same payee, and rows of a day that add up to one payment. '
  'taken: payments that are already matched.';
