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
  -- auth.uid() reads one of these two settings, depending on the platform's version.
  perform set_config('request.jwt.claims', (principal -> 'claims')::text, true),
    set_config('request.jwt.claim.sub', principal #>> '{claims,sub}', true);
  result := app.run_tool(tool, coalesce(arguments, '{}'), at);
  if result is null then
    -- The membership ended after the token was checked.
    return '{"outcome": "invalid_token"}';
  end if;
  if result #>> '{error,code}' = 'insufficient_scope' then
    perform app.count_request(principal #>> '{claims,grant_id}', kind, limits, at);
    return jsonb_build_object(
      'outcome', 'insufficient_scope', 'grant_id', principal #> '{claims,grant_id}', 'organization',
      principal -> 'organization'
    );
  end if;
  if tool = 'decide_proposal' and (result ->> 'ok')::boolean then
    -- A proposal runs another person's write, which needs the service role again.
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
  'tool''s envelope. Also returns the outcomes of app.authenticate, and insufficient_scope {grant_id, organization} '
  'for a write by a read-only app. If first_use_in_hour is true, the caller calls record_use after the answer, so '
  'that no tool call writes the grant.';

create or replace function public.call_long_tool(token_hash text, resource text, tool text, arguments jsonb,
  at timestamptz, limits jsonb default null) returns jsonb
-- PostgREST gives a call the timeout of its function: https://docs.postgrest.org/en/v12/references/transactions.html
language plpgsql volatile set search_path = '' set statement_timeout = '55s' as $$
begin
  return public.call_tool(token_hash, resource, tool, arguments, at, limits);
end
$$;
comment on function public.call_long_tool is
  'Like public.call_tool, for tools that may take longer than the statement timeout: publishing an import of many '
  'rows, or undoing one.';

-- The function sets this role on entry, so it acts as the person and not as the service, and PostgreSQL restores the
-- role afterwards. Set last, because it requires `authenticated`'s right to execute. No caller may be SECURITY DEFINER,
-- where roles cannot be set.
alter function app.run_tool set role = 'authenticated';
-- In every tool, JIT compilation takes longer than running the statement.
alter function app.run_tool set jit = off;
revoke all on function app.count_request from authenticated;
