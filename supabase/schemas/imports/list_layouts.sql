-- Answers about statement layouts, by header line, so that the next statement of the account raises no questions.

create or replace function app.learned_of(account_id text, header text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    (select a.answers #> array[md5(header), 'answers'] from app.accounts as a where a.id = learned_of.account_id), '{}'
  );
end
$$;
comment on function app.learned_of is
  'Returns a person''s answers about files of an account with this header line; {} for none.';

create or replace function app.remember_layout(context app.context, batch app.import_batches) returns void
language plpgsql volatile set search_path = '' as $$
declare
  max_headers constant int := 20;
  said constant jsonb := (batch.read -> 'given') || (batch.read -> 'answers');
  header constant text := batch.read ->> 'header';
begin
  if said = '{}' or header is null then
    return;
  end if;
  update app.accounts as a
  set updated_at = context.at, answers = (
    select jsonb_object_agg(kept.key, kept.value)
    from (
      select l.key, l.value
      from jsonb_each(a.answers || jsonb_build_object(md5(header), jsonb_build_object(
        'header', left(header, 300), 'at', context.at,
        'answers', coalesce(a.answers #> array[md5(header), 'answers'], '{}') || said
      ))) as l
      order by l.value ->> 'at' desc, l.key
      limit max_headers
    ) as kept
  )
  where a.id = batch.account_id and not coalesce(a.answers #> array[md5(header), 'answers'], '{}') @> said;
end
$$;
comment on function app.remember_layout is
  'Stores the answers about an import''s columns and conventions for its account and header line. Keeps the latest 20 '
  'header lines per account.';

create or replace function app.list_layouts(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', concat(a.id, '.', l.key), 'account', a.name, 'header', l.value -> 'header',
      'answers', l.value -> 'answers', 'confirmed_at', l.value -> 'at'
    ) order by a.name, l.key), '[]')
    from app.accounts as a
    cross join jsonb_each(a.answers) as l
    where a.organization_id = context.organization_id and app.sees_account(a)
  );
end
$$;
comment on function app.list_layouts is
  'Returns the explained header lines of accounts that the person sees: [{id, account, header, answers, '
  'confirmed_at}].';

create or replace function app.forget_layouts(context app.context, ids jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  wanted text;
begin
  for wanted in select i from jsonb_array_elements_text(ids) as i loop
    update app.accounts as a set answers = a.answers - split_part(wanted, '.', 2), updated_at = context.at
    where a.organization_id = context.organization_id and a.id = split_part(wanted, '.', 1)
      and a.answers ? split_part(wanted, '.', 2) and app.sees_account(a);
    if not found then
      perform app.fail('not_found.layout', jsonb_build_object('id', left(wanted, 80)), 'forget_layouts');
    end if;
  end loop;
end
$$;
comment on function app.forget_layouts is
  'Deletes the answers about header lines, so that the next statement asks again. Ends the tool with not_found for an '
  'unknown id.';
