-- Layouts that a person confirmed: the labels next to facts that reading left empty. They are part of the document, so
-- they share its visibility, serve only its organization, and are deleted with it or by an undo.

create or replace function app.place_kind(field text) returns text
language sql immutable
  return case field when 'gross' then 'amount' when 'number' then 'number' else 'day' end;
comment on function app.place_kind is 'Returns the kind of a place that contains a fact of a document.';

create or replace function app.is_same_seller(one app.documents, other app.documents) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  ids constant text[] := array[one.layout ->> 'iban', one.layout ->> 'tax_id', one.payee_key];
  others constant text[] := array[other.layout ->> 'iban', other.layout ->> 'tax_id', other.payee_key];
begin
  return (
    select coalesce(bool_and(i.id = i.other), false)
    from unnest(ids, others) as i (id, other)
    where i.id is not null and i.other is not null
  );
end
$$;
comment on function app.is_same_seller is
  'Whether two documents share an account, a tax number or a name, and differ in none of them.';

create or replace function app.find_labels(document app.documents, field text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select d.layout -> 'confirmed' -> field
    from app.documents as d
    where d.organization_id = document.organization_id and d.id <> document.id and d.deleted_at is null
      and d.layout -> 'confirmed' ? field and d.facts ->> 'kind' = document.facts ->> 'kind'
      and app.is_same_seller(d, document)
    order by d.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_labels is
  'Returns the last confirmation of a fact in a document of this kind and seller: {keys, is_largest, at}.';

create or replace function app.read_place(document app.documents, field text, labels jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  place jsonb;
begin
  select p into place
  from jsonb_array_elements(document.layout -> 'places') as p
  where p ->> 'kind' = app.place_kind(field) and labels -> 'keys' ? (p ->> 'key')
  limit 1;
  -- Each label must occur once, and all must agree.
  return case when (
    select count(*) = jsonb_array_length(labels -> 'keys') and count(distinct p ->> 'key') = count(*)
      and bool_and(p ->> 'kind' = app.place_kind(field) and p ->> 'value' = place ->> 'value')
    from jsonb_array_elements(document.layout -> 'places') as p
    where labels -> 'keys' ? (p ->> 'key')
  ) and coalesce((place ->> 'is_largest')::boolean, false) = coalesce((labels ->> 'is_largest')::boolean, false)
    then place end;
end
$$;
comment on function app.read_place is
  'Returns the place at confirmed labels; null unless each label occurs once and all have the same value. An amount '
  'must be the largest of its document if and only if the confirmed amount was.';

create or replace function app.take_fact(facts jsonb, field text, place jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  taken constant jsonb := facts || jsonb_build_object(field, place -> 'value') || case field
    when 'gross' then jsonb_build_object('currency', place -> 'currency') else '{}' end;
begin
  if facts ? field or place is null or field = 'gross' and (
    not place ? 'currency' or (place ->> 'value')::numeric <= 0
    or facts ->> 'currency' <> place ->> 'currency'
  ) or taken ->> 'due_on' < taken ->> 'issued_on' then
    return facts;
  end if;
  return taken || jsonb_build_object('questions', (
    select coalesce(jsonb_agg(q), '[]') from jsonb_array_elements(facts -> 'questions') as q
    where q ->> 'code' <> all (case field when 'gross' then array['totals_unclear', 'currency_unclear']
      when 'due_on' then array['several_due_dates'] else '{}' end)
  ));
end
$$;
comment on function app.take_fact is
  'Returns the facts with the value of a place. Ignores it if the fact is known, the amount has no certain currency, '
  'or the due date would precede the document.';

create or replace function app.apply_layouts(document app.documents) returns app.documents
language plpgsql stable set search_path = '' as $$
declare
  field text;
  labels jsonb;
  facts jsonb;
begin
  foreach field in array array['gross', 'number', 'issued_on', 'due_on'] loop
    labels := app.find_labels(document, field);
    facts := app.take_fact(document.facts, field, app.read_place(document, field, labels));
    if facts <> document.facts then
      document.facts := facts;
      -- Earlier confirmations have no day.
      if labels ? 'at' then
        document.layout := document.layout || jsonb_build_object('remembered',
          coalesce(document.layout -> 'remembered', '{}') || jsonb_build_object(field, labels -> 'at'));
      end if;
    end if;
  end loop;
  return document;
end
$$;
comment on function app.apply_layouts is
  'Returns a new document with its facts completed by the confirmed layouts of its seller. Its layout names the '
  'completed facts.';

create or replace function app.confirm_facts(document app.documents, said jsonb) returns app.documents
language plpgsql volatile set search_path = '' as $$
declare
  field text;
  place jsonb;
  keys jsonb;
  earlier jsonb;
  known jsonb := document.facts;
  confirmed jsonb := coalesce(document.layout -> 'confirmed', '{}');
begin
  for field in select f.key from jsonb_each_text(said) as f order by f.key loop
    continue when field <> all (array['gross', 'number', 'issued_on', 'due_on']);
    select p into place
    from jsonb_array_elements(document.layout -> 'places') as p
    where p ->> 'kind' = app.place_kind(field) and p ->> 'value' = said ->> field
    order by (p ->> 'is_largest')::boolean desc nulls last
    limit 1;
    continue when place is null or app.take_fact(known, field, place) = known;
    keys := (
      select jsonb_agg(p -> 'key') from jsonb_array_elements(document.layout -> 'places') as p
      where p ->> 'kind' = app.place_kind(field) and p ->> 'value' = said ->> field
    );
    -- The next confirmation drops a label that had the same value by chance.
    earlier := app.find_labels(document, field) -> 'keys';
    keys := coalesce((
      select jsonb_agg(k) from jsonb_array_elements(keys) as k where earlier @> jsonb_build_array(k)
    ), keys);
    known := app.take_fact(known, field, place);
    confirmed := confirmed || jsonb_build_object(field, jsonb_strip_nulls(jsonb_build_object(
      'keys', keys, 'is_largest', place -> 'is_largest', 'at', app.instant()
    )));
  end loop;
  if known <> document.facts then
    update app.documents as d
    set facts = known, layout = d.layout || jsonb_build_object('confirmed', confirmed)
    where d.id = document.id
    returning d.* into document;
  end if;
  return document;
end
$$;
comment on function app.confirm_facts is
  'Stores facts of a document that a person gave, {gross, number, issued_on, due_on}, if reading left them empty and '
  'the document has them next to a label. Remembers the label.';

create or replace function app.confirm_amount(document app.documents) returns app.documents
language plpgsql volatile set search_path = '' as $$
declare
  paid record;
begin
  if document.facts ? 'gross' or document.layout is null then
    return document;
  end if;
  select sum(p.amount_minor)::bigint as minor, min(p.currency) as currency into paid
  from app.payments as p
  where p.organization_id = document.organization_id and p.deleted_at is null and (
    p.expense_id = document.expense_id and p.occurrence_id is not distinct from document.occurrence_id
    or p.split_id in (
      select own.split_id from app.payments as own
      where own.expense_id = document.expense_id and own.deleted_at is null
    )
  )
  having count(distinct p.currency) = 1;
  -- A coincidental amount is hardly ever the largest one.
  return case when exists (
    select from jsonb_array_elements(document.layout -> 'places') as p
    where p ->> 'kind' = 'amount' and (p ->> 'is_largest')::boolean and p ->> 'currency' = paid.currency
      and p ->> 'value' = app.format_amount(paid.minor, paid.currency)
  ) then app.confirm_facts(document, jsonb_build_object(
    'gross', app.format_amount(paid.minor, paid.currency)
  )) else document end;
end
$$;
comment on function app.confirm_amount is
  'Confirms the largest amount of a document that a person attached, if its record was paid with exactly this amount.';

create or replace function app.describe_places(document app.documents) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(f.field, f.places)
    from (
      select f.field, jsonb_agg(p.place - '{kind,key,is_largest}'::text[] order by p.ordinality) as places
      from unnest(array['gross', 'number', 'issued_on', 'due_on']) as f (field)
      join jsonb_array_elements(document.layout -> 'places') with ordinality as p (place, ordinality)
        on p.place ->> 'kind' = app.place_kind(f.field)
      where app.take_fact(document.facts, f.field, p.place) <> document.facts
      group by f.field
    ) as f
  );
end
$$;
comment on function app.describe_places is
  'Returns the places that may have the missing facts of a document: {field: [{label, value, currency?}]}. Pages show '
  'them; assistants don''t get them, because a sender chooses the words.';
