create or replace function app.describe_reversals(reversed app.kept_row[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 100;
begin
  return (
    with things as (
      -- People see an expense and its payment as one record.
      select r.*,
        case when starts_with(coalesce(r.before, r.after) ->> 'expense_id', 'exp_')
        then coalesce(r.before, r.after) ->> 'expense_id' else r.row_id end as thing
      from unnest(reversed) with ordinality as r (table_name, row_id, before, after, current, place)
    ), listed as (
      select t.thing, min(t.place) as place from things as t group by t.thing order by place desc limit max_listed
    ), described as (
      select d.id, d.subject, max(d.verb) as verb, jsonb_agg(distinct field) filter (where field is not null) as fields,
        min(t.place) as place
      from listed as l
      join things as t on t.thing = l.thing
      cross join lateral app.describe_reversal(t.table_name, t.after, t.before, t.current) as d
      left join lateral unnest(d.fields) as field on true
      group by d.id, d.subject
    )
    select jsonb_build_object(
      'reversed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', d.id, 'subject', d.subject, 'verb', d.verb, 'fields', d.fields
        ) order by d.place desc), '[]')
        from described as d
      ),
      'reversed_count', (select nullif(count(distinct t.thing), (select count(*) from listed)) from things as t)
    )
  );
end
$$;
comment on function app.describe_reversals is
  'Returns the reverted records, {reversed, reversed_count}: at most 100, and the count if there were more.';
