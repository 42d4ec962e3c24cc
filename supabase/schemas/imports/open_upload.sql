create or replace function public.open_upload(user_id uuid, import_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization_id text;
  answer jsonb;
begin
  -- The link names only the import, so that it doesn't reveal its organization.
  select b.organization_id into organization_id
  from app.import_batches as b
  where b.id = open_upload.import_id and b.actor_id = open_upload.user_id;
  if not found then
    return '{"outcome": "unknown"}';
  end if;
  answer := public.run_page_tool(
    open_upload.user_id, organization_id, 'import_expenses',
    jsonb_build_object('step', 'open', 'import_id', open_upload.import_id), at
  );
  -- Only members get ok.
  if answer ->> 'outcome' = 'ok' then
    answer := answer || jsonb_build_object('state', identity.describe_state(organization_id, user_id, at));
  end if;
  return answer;
end
$$;
comment on function public.open_upload is
  'Returns a signed-in person''s import, for the page that takes its file: {outcome: ok | refused | unknown, result?, '
  'state?}. result is the envelope of import_expenses with step open, state identity.describe_state.';
