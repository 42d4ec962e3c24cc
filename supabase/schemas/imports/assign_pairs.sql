create or replace function app.group_pairs(pairs app.match_pair[]) returns table (label int, members app.match_pair[])
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  lines int[] := array(select (p).line from unnest(pairs) as p);
  keys constant text[] := array(select ((p).entry).key from unnest(pairs) as p);
  labels int[] := lines;
  spread int[];
begin
  -- Pairs that share a row or an entry belong together. Each round spreads the labels one step further.
  for round in 1..400 loop
    spread := array(
      select min(e.label) over (partition by e.line)
      from (
        select u.place, u.line, min(u.label) over (partition by u.key) as label
        from unnest(lines, keys, labels) with ordinality as u (line, key, label, place)
      ) as e
      order by e.place
    );
    exit when spread = labels;
    labels := spread;
  end loop;
  return query
    select l.label, array_agg(p.pair order by (p.pair).row_day, (p.pair).line)
    from unnest(labels) with ordinality as l (label, place)
    join (select u as pair, row_number() over () as place from unnest(pairs) as u) as p on p.place = l.place
    group by l.label;
end
$$;
comment on function app.group_pairs is 'Returns pairs in groups, so that no two groups share a row or an entry.';

create or replace function app.assign_pairs(pairs app.match_pair[]) returns app.match_pair[]
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  -- Bounds the work on days with many equal rows.
  most constant int := 300;
  days constant int := 5;
  chosen app.match_pair[];
  crowded app.match_pair[];
  members app.match_pair[];
  part app.match_pair[];
  lines int[];
  keys text[];
  costs int[];
  skips int[];
  found int[];
begin
  -- Most pairs have no competing pair.
  chosen := array(
    select p
    from unnest(pairs) as p
    join (
      select (u).line from unnest(pairs) as u group by 1 having count(*) = 1
    ) as l on l.line = (p).line
    join (
      select ((u).entry).key from unnest(pairs) as u group by 1 having count(*) = 1
    ) as k on k.key = ((p).entry).key
  );
  crowded := array(
    select p from unnest(pairs) as p
    where not exists (select from unnest(chosen) as c where (c).line = (p).line)
  );
  for members in select g.members from app.group_pairs(crowded) as g order by g.label loop
    loop
      lines := array(select (m).line from unnest(members) as m group by 1 order by min((m).row_day), 1 limit most);
      exit when lines = '{}';
      part := array(select m from unnest(members) as m where (m).line = any (lines));
      keys := array(
        select ((m).entry).key from unnest(part) as m
        group by 1 order by min(((m).entry).day), min(((m).entry).seq), 1
      );
      costs := array(
        select min((m).cost)
        from unnest(lines) with ordinality as l (line, i)
        cross join unnest(keys) with ordinality as k (key, j)
        left join unnest(part) as m on (m).line = l.line and ((m).entry).key = k.key
        group by l.i, k.j
        order by l.i, k.j
      );
      -- Leaving an old entry unmatched costs more, because the bank should have booked it already.
      skips := array(
        select 60 * greatest(0, least(latest.row_day - min(((m).entry).day), days))
        from unnest(keys) with ordinality as k (key, j)
        join unnest(part) as m on ((m).entry).key = k.key
        cross join (select max((m).row_day) as row_day from unnest(part) as m) as latest
        group by k.j, latest.row_day
        order by k.j
      );
      found := app.pair_in_order(cardinality(lines), cardinality(keys), costs, skips);
      part := array(
        select distinct on (l.line) m
        from unnest(lines, found) as l (line, j)
        join unnest(part) as m on (m).line = l.line and ((m).entry).key = keys[l.j]
        order by l.line, (m).cost
      );
      chosen := chosen || part;
      members := array(
        select m from unnest(members) as m
        where (m).line <> all (lines) and ((m).entry).key <> all (array(select ((p).entry).key from unnest(part) as p))
      );
    end loop;
  end loop;
  return chosen;
end
$$;
comment on function app.assign_pairs is 'Returns the chosen pairs, with each row and each entry used once.';
