-- The version of the schema: its number of migrations. Functions of version N also work with N - 1 and N + 1, so
-- functions and schema don't have to change at the same moment.

create or replace function public.ping() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('schema', 2);
end
$$;
comment on function public.ping is 'Returns the version of the schema, for the health check.';
