create or replace function public.call_tool(token_hash text, resource text, tool text, arguments jsonb, at timestamptz,
  limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  kind constant text := case when app.is_write(tool) then 'write' else 'read' end;
  principal constant jsonb := app.authenticate(token_hash, resource, kind, limits, at);
  result jsonb;
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  end if;
  -- auth.uid() reads the one or the other, depending on the platform's age.
  perform set_config('request.jwt.claims', (principal -> 'claims')::text, true),
    set_config('request.jwt.claim.sub', principal #>> '{claims,sub}', true);
  result := app.run_tool(tool, coalesce(arguments, '{}'), at);
  if result is null then
    -- No member any more since the token was looked at.
    return '{"outcome": "invalid_token"}';
  end if;
  if tool = 'decide_proposal' and (result ->> 'ok')::boolean then
    -- Somebody else's write: here the service acts again, which the person's role could not.
    result := app.decide_as_assistant(result, (principal #>> '{claims,sub}')::uuid, at);
  end if;
  perform app.count_request(principal #>> '{claims,grant_id}', kind, limits, at);
  if kind = 'read' then
    -- The transaction writes only this count, so it commits asynchronously. A server crash loses the counts of its last
    -- second.
    perform set_config('synchronous_commit', 'off', true);
    perform app.count_read(principal -> 'claims', tool, at);
  end if;
  return principal - 'claims' - 'organization' || jsonb_build_object('result', result);
end
$$;
comment on function public.call_tool is
  'Authenticates a bearer and runs one tool, in one call: {outcome, result?, first_use_in_hour?}; result is the '
  'tool''s envelope. first_use_in_hour asks for record_use after the answer: once an hour a grant, so that no call of '
  'a tool writes the grant.';

create or replace function public.call_long_tool(token_hash text, resource text, tool text, arguments jsonb,
  at timestamptz, limits jsonb default null) returns jsonb
-- PostgREST gives a call the timeout of its function: https://docs.postgrest.org/en/v12/references/transactions.html
language plpgsql volatile set search_path = '' set statement_timeout = '55s' as $$
begin
  return public.call_tool(token_hash, resource, tool, arguments, at, limits);
end
$$;
comment on function public.call_long_tool is
  'The same for what may take longer than other statements may: publishing an import of many rows, or undoing one.';

-- From here on the person acts, not the service: the role is set on entry and restored by itself. It is added last,
-- since setting it asks for `authenticated`'s right to execute; no function that leads here may be SECURITY DEFINER,
-- where roles cannot be set.
alter function app.run_tool set role = 'authenticated';
-- Compiling a statement takes longer than running it in any tool.
alter function app.run_tool set jit = off;
revoke all on function app.count_request from authenticated;
