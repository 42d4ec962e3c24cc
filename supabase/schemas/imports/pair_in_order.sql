-- Pairs similar rows and entries by day: as many as possible, then the nearest. With a coffee a day, booked one day
-- later, a greedy choice would pair each with the next day's and leave the first and the last unpaired.

create or replace function app.pair_in_order(rows int, entries int, costs int[], skips int[]) returns int[]
language plpgsql immutable set search_path = '' as $$
declare
  -- The cost of an unpaired row, which exceeds any saving by better pairs.
  alone constant int := 10000;
  width constant int := entries + 1;
  -- Minimum cost of pairing the first n rows with the first m entries, at [n * width + m + 1].
  least_costs int[] := array_fill(0, array[(rows + 1) * (entries + 1)]);
  pairs int[] := array_fill(null::int, array[rows]);
  i int := rows;
  j int := entries;
begin
  for m in 1..entries loop
    least_costs[m + 1] := least_costs[m] + skips[m];
  end loop;
  for n in 1..rows loop
    least_costs[n * width + 1] := n * alone;
    for m in 1..entries loop
      -- least() ignores null, the cost of an impossible pair.
      least_costs[n * width + m + 1] := least(
        least_costs[(n - 1) * width + m + 1] + alone, least_costs[n * width + m] + skips[m],
        least_costs[(n - 1) * width + m] + costs[(n - 1) * entries + m]
      );
    end loop;
  end loop;
  while i > 0 and j > 0 loop
    -- Among equal rows, pair the first ones.
    if least_costs[i * width + j + 1] = least_costs[(i - 1) * width + j + 1] + alone then
      i := i - 1;
    elsif least_costs[i * width + j + 1] = least_costs[i * width + j] + skips[j] then
      j := j - 1;
    else
      pairs[i] := j;
      i := i - 1;
      j := j - 1;
    end if;
  end loop;
  return pairs;
end
$$;
comment on function app.pair_in_order is
  'Returns the entry paired with each row, or null. Pairs don''t cross. Their number is the largest possible, and '
  'their cost the lowest. costs are listed row by row, null for impossible pairs; skips are the costs of unpaired '
  'entries.';
