/** A hint to the planner in supabase/schemas: a setting, a fence, or a different join than the result needs. */
export const HINT =
  /\s+set (?:plan_cache_mode|enable_\w+|random_page_cost|jit)\s+=\s+[\w.']+|\s+offset 0\b|\b(?:not )?materialized (?=\()|\bfull (?=join\b)/g;
