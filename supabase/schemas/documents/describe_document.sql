create or replace function app.describe_match(match app.document_match) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', match.expense_id, 'name', match.name, 'due_on', match.due_on,
    'date', case when match.due_on is null then match.day end,
    'paid_on', case when match.due_on is not null and match.tier in (2, 4) then match.day end,
    case when match.is_usual then 'usual_amount' else 'amount' end,
    app.format_amount(match.amount_minor, match.currency), 'currency', match.currency,
    'ends_on', (select e.ends_on from app.expenses as e where e.id = match.expense_id)
  ));
end
$$;
comment on function app.describe_match is
  'Returns a candidate: {id, name, due_on | date, paid_on?, amount? | usual_amount?, currency, ends_on? of a bill}.';

create or replace function app.describe_record(document app.documents) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  record app.expenses;
  said constant bigint := app.document_minor(document);
  paid record;
  minor bigint;
begin
  select * into record from app.expenses as e where e.id = document.expense_id;
  select * into occurrence from app.expense_occurrences as o where o.id = document.occurrence_id;
  select sum(p.amount_minor)::bigint as minor, min(p.currency) as currency, max(p.paid_on) as day into paid
  from app.payments as p
  where p.organization_id = document.organization_id and p.deleted_at is null and (
    p.expense_id = record.id and p.occurrence_id is not distinct from occurrence.id
      and (record.kind <> 'bill' or occurrence.id is not null)
    or p.split_id in (
      select own.split_id from app.payments as own
      where own.expense_id = record.id and own.deleted_at is null and occurrence.id is null
    )
  );
  minor := case when occurrence.status = 'open' then occurrence.expected_minor else paid.minor end;
  return jsonb_strip_nulls(jsonb_build_object(
    'status', case when record.deleted_at is not null then 'deleted' when occurrence.id is not null
      then occurrence.status when record.kind <> 'bill' then 'paid' end,
    'amount', app.format_amount(minor, coalesce(occurrence.currency, paid.currency)),
    'currency', case when minor is not null then coalesce(occurrence.currency, paid.currency) end,
    'paid_on', case when occurrence.id is null or occurrence.status <> 'open' then paid.day end,
    'differs', case when record.deleted_at is null and minor is distinct from coalesce(said, minor)
      and document.facts ->> 'currency' = coalesce(occurrence.currency, paid.currency) then true end
  ));
end
$$;
comment on function app.describe_record is
  'Returns the record of an attached document: {status: open | paid | skipped | deleted, amount?, currency?, paid_on?, '
  'differs? if the document has another amount}.';

create or replace function app.find_copied(document app.documents) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('id', d.id, 'name', d.name)
    from app.documents as d
    where d.expense_id = document.expense_id and d.organization_id = document.organization_id
      and d.occurrence_id is not distinct from document.occurrence_id and d.deleted_at is null
      and d.recorded_seq < document.recorded_seq and d.facts ->> 'number' = document.facts ->> 'number'
      and d.facts ->> 'kind' = document.facts ->> 'kind'
      and app.document_minor(d) is not distinct from app.document_minor(document)
    order by d.recorded_seq
    limit 1
  );
end
$$;
comment on function app.find_copied is 'Returns the first document with the same number and amount at its record.';

create or replace function app.changed_iban(document app.documents) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case when bool_and(d.iban <> document.facts ->> 'iban')
      then (array_agg(d.iban order by d.recorded_seq desc))[1] end
    from (
      select d.recorded_seq, d.facts ->> 'iban' as iban, d.occurrence_id,
        first_value(d.facts ->> 'iban') over (order by d.recorded_seq) as first_iban
      from app.documents as d
      where d.organization_id = document.organization_id and d.deleted_at is null and d.expense_id is not null
        and d.recorded_seq < document.recorded_seq and d.facts ? 'iban'
        and (d.payee_key = document.payee_key or d.expense_id = document.expense_id)
    ) as d
    -- A new account counts as known only after a payment, so that a second fraudulent invoice raises the doubt again.
    where d.iban = d.first_iban or not exists (
      select from app.expense_occurrences as o where o.id = d.occurrence_id and o.status = 'open'
    )
  );
end
$$;
comment on function app.changed_iban is
  'Returns the IBAN in earlier documents of the same payee or record, if this document has a different one; null for '
  'the first document and for a known account. An account counts as known once a date with it is no longer open.';

create or replace function app.needs_attention(document app.documents) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  if document.expense_id is null or document.occurrence_id is null then
    return document.expense_id is null;
  end if;
  return document.facts ? 'iban' and exists (
    select from app.expense_occurrences as o
    join app.expenses as e on e.id = o.expense_id
    where o.id = document.occurrence_id and o.status = 'open' and e.deleted_at is null
  ) and app.changed_iban(document) is not null;
end
$$;
comment on function app.needs_attention is
  'Whether a document is unattached, or belongs to an unpaid date and names a different account.';

create or replace function app.open_doubts(document app.documents) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The facts contain at most this many accounts, so a longer list may be incomplete.
  most_named constant int := 3;
  known text[];
begin
  if not document.facts -> 'questions' @> '[{"code": "several_ibans"}]' then
    return nullif(document.facts -> 'questions', '[]');
  end if;
  known := array(
    select i.iban
    from app.documents as d
    cross join lateral (
      select d.facts ->> 'iban' as iban
      union all
      select jsonb_array_elements_text(q -> 'params' -> 'ibans')
      from jsonb_array_elements(d.facts -> 'questions') as q
      where q ->> 'code' = 'several_ibans'
    ) as i
    where d.organization_id = document.organization_id and d.deleted_at is null and d.expense_id is not null
      and d.recorded_seq < document.recorded_seq and d.payee_key = document.payee_key and i.iban is not null
  );
  return (
    select jsonb_agg(q order by place)
    from jsonb_array_elements(document.facts -> 'questions') with ordinality as w (q, place)
    where q ->> 'code' <> 'several_ibans' or jsonb_array_length(q -> 'params' -> 'ibans') > most_named
      or exists (
        select from jsonb_array_elements_text(q -> 'params' -> 'ibans') as i (iban) where i.iban <> all (known)
      )
  );
end
$$;
comment on function app.open_doubts is
  'Returns the doubts about a document. Several accounts raise no doubt if earlier documents of its payee, attached by '
  'a person or a certain match, contain them all.';

create or replace function app.propose_record(context app.context, document app.documents) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  said constant jsonb := jsonb_build_object(
    'name', document.facts -> 'payee', 'amount', app.format_amount(
      app.document_minor(document), document.facts ->> 'currency'
    ), 'currency', document.facts -> 'currency'
  );
  due_on constant text := document.facts ->> 'due_on';
begin
  return case
    when said ->> 'amount' is null or not document.facts ? 'payee' then null
    when document.facts ->> 'kind' = 'credit_note' or due_on is null then jsonb_build_object(
      'tool', 'log_expenses', 'arguments', jsonb_build_object('items', jsonb_build_array(said || jsonb_strip_nulls(
        jsonb_build_object('date', document.facts -> 'issued_on',
          'is_refund', case document.facts ->> 'kind' when 'credit_note' then true end)
      )))
    )
    else jsonb_build_object('tool', 'add_bill', 'arguments', said || jsonb_build_object(
      'frequency', 'once', 'first_due', due_on
    ))
  end;
end
$$;
comment on function app.propose_record is
  'Returns the call that would record the document: as a one-time bill, or as an expense if it has no due date; null '
  'without a payee and an amount.';

create or replace function app.describe_document(context app.context, document app.documents) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  matches app.document_match[] :=
    case when document.expense_id is null then app.match_document(context, document) end;
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', document.id, 'name', document.name, 'type', document.type,
    'added_on', (document.created_at at time zone context.timezone)::date,
    'added_by', app.member_name(document.added_by),
    'state', case when document.expense_id is not null then 'filed' when matches <> '{}' then 'question'
      when document.facts ?| array['payee', 'gross', 'payable'] then 'new' else 'unread' end,
    'read', document.facts - '{format,questions,taxes,period,net,payee_tax_id,customer_number}'::text[],
    'remembered', (
      select jsonb_object_agg(r.key, (r.value::timestamptz at time zone context.timezone)::date)
      from jsonb_each_text(document.layout -> 'remembered') as r
    ),
    'doubts', app.open_doubts(document),
    'filed', (
      select jsonb_build_object('id', e.id, 'name', e.name, 'due_on', (
        select o.due_on from app.expense_occurrences as o where o.id = document.occurrence_id
      ))
      from app.expenses as e where e.id = document.expense_id
    ),
    'record', case when document.expense_id is not null then app.describe_record(document) end,
    'copy_of', app.find_copied(document),
    'candidates', (select nullif(jsonb_agg(app.describe_match(m)), '[]') from unnest(matches) as m),
    'proposal', case when matches = '{}' then app.propose_record(context, document) end,
    'iban_was', app.changed_iban(document)
  ));
end
$$;
comment on function app.describe_document is
  'Returns a document: {id, name, type, added_on, added_by, state: filed | question | new | unread, read, remembered?, '
  'doubts?, filed?, record?, copy_of?, candidates?, proposal?, iban_was?}. remembered: the facts of a confirmed '
  'layout, with its date. candidates also contains a certain match of app.match_document, until the document is filed.';
