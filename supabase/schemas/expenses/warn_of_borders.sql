create or replace function app.warn_of_borders(filter app.expense_filter, period app.period, earlier app.period)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  days_apart constant int := 7;
  names text[];
begin
  select array_agg(distinct e.name order by e.name) into names
  from unnest(array[period.from_on, period.to_on, earlier.from_on, earlier.to_on]) as border
  cross join lateral jsonb_populate_record(filter, jsonb_build_object(
    'from_on', border - days_apart, 'to_on', border + days_apart
  )) as near
  cross join lateral app.find_payments(near) as f
  join app.payments as p on p.id = f.payment_id
  join app.expense_occurrences as o on o.id = p.occurrence_id and o.organization_id = p.organization_id
  join app.expenses as e on e.id = p.expense_id
  where abs(p.paid_on - o.due_on) <= days_apart and (
    (p.paid_on between period.from_on and period.to_on) <> (o.due_on between period.from_on and period.to_on)
    or (p.paid_on between earlier.from_on and earlier.to_on) <> (o.due_on between earlier.from_on and earlier.to_on)
  );
  return case when names is null then '[]' else jsonb_build_array(
    app.warning('paid_across_border', jsonb_build_object('names', names))
  ) end;
end
$$;
comment on function app.warn_of_borders is
  'Returns a warning about bills that were paid in one of two compared periods and due outside it, up to a week apart.';
