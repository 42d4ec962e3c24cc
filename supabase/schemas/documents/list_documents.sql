create or replace function app.read_document(context app.context, document_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  document constant app.documents := app.find_document(context, document_id);
begin
  return jsonb_build_object('data', jsonb_build_object('file', (
    select jsonb_build_object('name', document.name, 'type', document.type,
      'content', translate(encode(f.content, 'base64'), E'\n', ''))
    from app.document_files as f
    where f.document_id = document.id
  )));
end
$$;
comment on function app.read_document is
  'Returns the bytes of a document: data {file: {name, type, content in base64}}.';

create or replace function app.list_documents(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 25;
  wanted constant text[] := app.word_patterns(arguments ->> 'query');
  is_filed constant boolean := arguments ->> 'is_filed';
  listed app.documents[];
  warnings jsonb := '[]';
begin
  if (arguments ->> 'content')::boolean then
    return app.read_document(context, arguments ->> 'document_id');
  end if;
  listed := array(
    select d
    from app.documents as d
    where d.organization_id = context.organization_id and d.deleted_at is null
      and (not arguments ? 'document_id' or d.id = arguments ->> 'document_id')
      and (is_filed is null or (d.expense_id is not null) = is_filed)
      and (not coalesce((arguments ->> 'needs_attention')::boolean, false) or app.needs_attention(d))
      and (wanted is null or app.fold_text(concat_ws(
        ' ', d.name, d.facts ->> 'payee', d.facts ->> 'number',
        (select e.name from app.expenses as e where e.id = d.expense_id)
      )) like all (wanted))
    order by d.recorded_seq desc
  );
  if not arguments ? 'document_id' then
    warnings := app.warn_of_mail(context);
  end if;
  if cardinality(listed) > most then
    warnings := warnings || jsonb_build_array(app.warning('documents_more', jsonb_build_object(
      'shown', most, 'count', cardinality(listed)
    )));
  end if;
  return jsonb_build_object('warnings', warnings, 'data', jsonb_build_object(
    'documents', (
      select coalesce(jsonb_agg(app.describe_document(context, d) || case when (arguments ->> 'places')::boolean
        then jsonb_build_object('places', app.describe_places(d)) else '{}' end), '[]')
      from unnest(listed[:most]) as d
    ),
    'count', cardinality(listed)
  ));
end
$$;
comment on function app.list_documents is
  'Tool list_documents: data {documents: [as app.describe_document], count}, newest first, at most 25 of count. Only '
  'our own code asks for places (app.describe_places), for needs_attention, and for content: data {file}.';
