create or replace function app.warn_of_borders(filter app.expense_filter, period app.period, earlier app.period)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  days_apart constant int := 7;
  undated constant app.expense_filter := jsonb_populate_record(filter, '{"from_on": null, "to_on": null}');
  names text[];
begin
  select array_agg(distinct a.name order by a.name) into names
  from (
    select p.id, e.name
    -- Compute the days first, because an index can't serve a subtraction under row-level security.
    from (
      select distinct b.day - days_apart as from_on, b.day + days_apart - 1 as to_on
      from unnest(array[period.from_on, period.to_on + 1, earlier.from_on, earlier.to_on + 1]) as b (day)
    ) as near
    -- The offsets fix the order of the steps: few payments are near a border, and even fewer are across it.
    cross join lateral (
      select p.* from app.payments as p
      where p.deleted_at is null and p.paid_on between near.from_on and near.to_on
      offset 0
    ) as p
    cross join lateral (
      select o.due_on from app.expense_occurrences as o
      where o.id = p.occurrence_id and o.organization_id = p.organization_id
      offset 0
    ) as o
    cross join lateral (select e.name from app.expenses as e where e.id = p.expense_id offset 0) as e
    where abs(p.paid_on - o.due_on) <= days_apart and (
      (p.paid_on between period.from_on and period.to_on) <> (o.due_on between period.from_on and period.to_on)
      or (p.paid_on between earlier.from_on and earlier.to_on) <> (o.due_on between earlier.from_on and earlier.to_on)
    )
    offset 0
  ) as a
  where exists (select from app.find_payments(undated) as f where f.payment_id = a.id);
  return case when names is null then '[]' else jsonb_build_array(
    app.warning('paid_across_border', jsonb_build_object('names', names))
  ) end;
end
$$;
comment on function app.warn_of_borders is
  'Returns a warning about bills that were paid in one of two compared periods and due outside it, up to a week apart.';
