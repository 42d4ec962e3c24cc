create or replace function public.find_client(client_id text, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return oauth.refuse('found', client_id, limits, at);
end
$$;
comment on function public.find_client is
  'Looks up the client of a request that will be rejected anyway: outcome found or unknown_client.';
