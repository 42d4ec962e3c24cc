create or replace function app.most_document_bytes(plan text) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return case plan when 'team' then 2000 when 'pro' then 500 else 100 end * 1024::bigint * 1024;
end
$$;
comment on function app.most_document_bytes is
  'Returns the number of bytes that an organization''s plan allows for documents.';

-- security definer: the quota includes documents that are hidden from the person.
create or replace function app.room_for_documents(at timestamptz) returns bigint
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select app.most_document_bytes(identity.effective_plan(o, at)) - coalesce((
      select sum(d.size) from app.documents as d where d.organization_id = o.id and d.deleted_at is null
    ), 0)
    from identity.organizations as o
    where o.id = identity.current_organization_id()
  );
end
$$;
comment on function app.room_for_documents is
  'Returns the number of bytes left for the organization''s documents; negative after a change to a smaller plan.';

create or replace function app.find_payee_key(context app.context, iban text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case when count(distinct d.payee_key) = 1 then min(d.payee_key) end
    from app.documents as d
    where d.organization_id = context.organization_id and d.deleted_at is null and d.expense_id is not null
      and d.facts ->> 'iban' = find_payee_key.iban
  );
end
$$;
comment on function app.find_payee_key is
  'Returns the payee of the attached documents with the same account; null for none and for several.';

create or replace function app.keep_document(context app.context, arguments jsonb) returns app.documents
language plpgsql volatile set search_path = '' as $$
declare
  content constant bytea := decode(arguments ->> 'content', 'base64');
  content_hash constant text := encode(sha256(content), 'hex');
  facts constant jsonb := arguments -> 'facts';
  document app.documents;
begin
  -- A new document leaves the books unchanged, so there is nothing to undo.
  perform set_config('app.change_id', '', true);
  select * into document
  from app.documents as d
  where d.organization_id = context.organization_id and d.hash = content_hash and d.deleted_at is null
  order by d.recorded_seq
  limit 1;
  if found then
    return document;
  end if;
  if octet_length(content) > app.room_for_documents(context.at) then
    perform app.fail('document_quota');
  end if;
  insert into app.documents as d (organization_id, added_by, hash, name, type, size, facts, payee_key, layout)
  values (
    context.organization_id, context.actor_id, content_hash, left(arguments ->> 'name', 120), arguments ->> 'type',
    octet_length(content), facts,
    coalesce(
      nullif(array_to_string(app.descriptor_words(coalesce(facts ->> 'payee', '')), ' '), ''),
      app.find_payee_key(context, facts ->> 'iban')
    ), arguments -> 'layout'
  )
  returning d.* into document;
  if document.layout is not null then
    update app.documents as d
    set (facts, layout) = (select a.facts, a.layout from app.apply_layouts(document) as a)
    where d.id = document.id
    returning d.* into document;
  end if;
  insert into app.document_files (document_id, organization_id, content)
  values (document.id, document.organization_id, content);
  return document;
end
$$;
comment on function app.keep_document is
  'Step keep of attach_document: stores {content in base64, name, type, facts, layout?} once, with the facts that '
  'confirmed layouts add. Repeated content returns the existing document, also in concurrent calls, because writers of '
  'one organization take turns.';
