-- The version of the schema: how many migrations it takes. Functions of version N also work on N - 1 and N + 1, so that
-- functions and schema need not change at the same moment.

create or replace function public.ping() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('schema', 2);
end
$$;
comment on function public.ping is 'Answers with the version of the schema: the health check asks.';
