-- Rows and entries that are alike are paired by their days: as many as possible, then the nearest. The coffee of each
-- day, booked a day later, must not take the one of the day after and leave the first and the last alone.

create or replace function app.pair_in_order(rows int, entries int, costs int[], skips int[]) returns int[]
language plpgsql immutable set search_path = '' as $$
declare
  -- More than any better pairs can save.
  alone constant int := 10000;
  width constant int := entries + 1;
  -- The least cost of the first so many rows with the first so many entries.
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
      -- Least passes over null, a pair that cannot be.
      least_costs[n * width + m + 1] := least(
        least_costs[(n - 1) * width + m + 1] + alone, least_costs[n * width + m] + skips[m],
        least_costs[(n - 1) * width + m] + costs[(n - 1) * entries + m]
      );
    end loop;
  end loop;
  while i > 0 and j > 0 loop
    -- Of equal rows the first ones are paired.
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
  'Of each row the entry it is paired with, or null: none crosses another, as many as possible, at the least cost. '
  'costs are row by row, null cannot be paired; skips are what leaving an entry alone costs.';
