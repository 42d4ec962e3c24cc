create or replace function public.open_document(user_id uuid, document_id text, content boolean,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization_id text;
  answer jsonb;
begin
  -- The link names only the document, so that it doesn't reveal its organization.
  select d.organization_id into organization_id
  from app.documents as d
  join identity.memberships as m on m.organization_id = d.organization_id and m.user_id = open_document.user_id
  where d.id = open_document.document_id;
  if not found then
    return '{"outcome": "unknown"}';
  end if;
  answer := public.run_page_tool(
    open_document.user_id, organization_id, 'list_documents',
    jsonb_build_object('document_id', open_document.document_id, 'content', open_document.content,
      'places', true), at
  );
  -- Only members get ok. The state is for the page's tabs, which a file doesn't need.
  if answer ->> 'outcome' = 'ok' and not content then
    answer := answer || jsonb_build_object('state', identity.describe_state(organization_id, user_id, at));
  end if;
  return answer;
end
$$;
comment on function public.open_document is
  'Returns a document for a signed-in person, or its bytes: {outcome: ok | refused | unknown, result?, state?}. result '
  'is the envelope of list_documents: empty, or an error with content, when the person does not see the document. '
  'state is identity.describe_state.';
