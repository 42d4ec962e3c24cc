create or replace function app.rank_spending(spending app.spending, dimensions text[], top int, target text,
  is_compared boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  times constant text[] := array['month', 'week', 'day'];
  is_time_1 constant boolean := dimensions[1] = any (times);
  is_time_2 constant boolean := coalesce(dimensions[2] = any (times), false);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  rest constant jsonb := '{"none": "rest"}';
  category_names constant jsonb := case when 'category' = any (dimensions)
    then (select jsonb_object_agg(c.id, c.name) from app.categories as c) end;
begin
  return (
    with named as materialized (
      select g.*, app.group_label(dimensions[1], g.key_1, g.spelling_1, category_names) as name_1,
        case when dimensions[2] is not null
          then app.group_label(dimensions[2], g.key_2, g.spelling_2, category_names) end as name_2
      from unnest(spending.groups) as g
    ),
    heads as (
      -- Groups are ranked by everything but time: periods form a sequence and are never folded.
      select n.*,
        concat_ws(E'\n', case when not is_time_1 then n.name_1 #>> '{}' end,
        case when not is_time_2 then n.name_2 #>> '{}' end) collate "C" as head
      from named as n
    ),
    placed as (
      select p.*, dense_rank() over (order by p.head_minor desc, p.head) > top as is_rest
      from (select h.*, sum(h.minor) over (partition by h.head) as head_minor from heads as h) as p
    ),
    folded as (
      select p.is_rest, f.name_1, f.name_2,
        max(p.head_minor) filter (where not p.is_rest) as head_minor, min(p.head) filter (where not p.is_rest) as head,
        sum(p.minor) as minor, sum(p.count) as count, sum(p.upcoming_minor) as upcoming_minor,
        sum(p.earlier_minor) as earlier_minor
      from placed as p
      cross join lateral (
        select case when p.is_rest and not is_time_1 then null else p.name_1 end as name_1,
          case when p.is_rest and not is_time_2 then null else p.name_2 end as name_2
      ) as f
      group by p.is_rest, f.name_1, f.name_2
    ),
    ordered as (
      select f.*, row_number() over (order by
        case when is_time_1 then f.name_1 #>> '{}' end, f.is_rest,
        case when not is_time_1 then f.head_minor end desc, case when not is_time_1 then f.head end,
        case when is_time_2 then f.name_2 #>> '{}' end, f.minor desc, f.head
      ) as place
      from folded as f
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'group', case
        when s.name_1 is null and s.name_2 is null then jsonb_build_array(rest)
        when cardinality(dimensions) = 1 then jsonb_build_array(s.name_1)
        else jsonb_build_array(coalesce(s.name_1, rest), coalesce(s.name_2, rest))
      end,
      'amount', app.format_minor(s.minor, exponent),
      'count', s.count,
      'spent', app.format_minor(s.minor - s.upcoming_minor, exponent),
      'upcoming', app.format_minor(s.upcoming_minor, exponent),
      'previous', case when is_compared then app.format_minor(s.earlier_minor, exponent) end,
      'change_percent',
      case when is_compared then round((s.minor - s.earlier_minor) * 100 / nullif(abs(s.earlier_minor), 0), 1) end
    ) order by s.place), '[]')
    from ordered as s
  );
end
$$;
comment on function app.rank_spending is
  'Returns rows of summarize_spending: the largest groups, the others as {none: "rest"}, and periods in chronological '
  'order. With upcoming dates, amount is spent and upcoming together.';
