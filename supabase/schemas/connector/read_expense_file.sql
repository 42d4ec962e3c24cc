create or replace function public.read_expense_file(user_id uuid, organization_id text, arguments jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rows_at_once constant int := 2000;
  result jsonb;
begin
  if not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return '{"outcome": "refused"}';
  end if;
  perform app.act_as(user_id, organization_id);
  result := app.run_tool(
    'list_expenses', arguments || jsonb_build_object('format', 'csv', 'limit', rows_at_once), at
  );
  -- The membership ended or the person was suspended after the link was created.
  return case when result is null then '{"outcome": "refused"}'
    else jsonb_build_object('outcome', 'ok', 'result', result - 'page') end;
end
$$;
comment on function public.read_expense_file is
  'Returns a part of a file of expenses, read as a signed-in person under row-level security: {outcome: ok | refused, '
  'result?}. Each part checks the rights again; result is the envelope of list_expenses.';
