create or replace function app.act_as(user_id uuid, organization_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('application_name', app.request_name(), true);
  -- auth.uid() reads one of these two settings, depending on the platform's version.
  perform set_config('request.jwt.claims', jsonb_build_object(
      'sub', user_id, 'role', 'authenticated', 'organization_id', organization_id
  )::text, true),
    set_config('request.jwt.claim.sub', user_id::text, true);
end
$$;
comment on function app.act_as is
  'Sets the signed-in person of a page, without an app, as the caller of functions that run as people.';
revoke all on function app.act_as from authenticated;

create or replace function public.run_page_tool(user_id uuid, organization_id text, tool text, arguments jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb;
begin
  -- The books stay readable without a plan.
  if app.is_write(tool) and not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return coalesce(identity.refuse_change(organization_id, user_id, at), '{"outcome": "refused"}');
  end if;
  perform app.act_as(user_id, organization_id);
  result := app.run_tool(tool, arguments, at);
  -- The membership ended or the person was suspended after the page was shown.
  return case when result is null then '{"outcome": "refused"}'
    else jsonb_build_object('outcome', 'ok', 'result', result) end;
end
$$;
comment on function public.run_page_tool is
  'Runs a tool for a page, as its signed-in person under row-level security: {outcome: ok | refused, result?}. Each '
  'call checks the rights again; result is the tool''s envelope. A write without a plan that includes the connector '
  'returns identity.refuse_change.';
