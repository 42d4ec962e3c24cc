create or replace function app.find_document(context app.context, document_id text) returns app.documents
language plpgsql stable set search_path = '' as $$
declare
  document app.documents;
begin
  select * into document from app.documents as d
  where d.id = find_document.document_id and d.organization_id = context.organization_id and d.deleted_at is null;
  if not found then
    perform app.fail('not_found.document', jsonb_build_object('id', document_id), 'document_id');
  end if;
  return document;
end
$$;
comment on function app.find_document is
  'Returns a document that the person sees; ends the tool with not_found otherwise.';

create or replace function app.find_document_target(context app.context, document app.documents, arguments jsonb)
  returns app.document_match
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := arguments ->> 'to';
  day constant date := app.parse_date(context, arguments ->> 'due_on', 'due_on');
  near constant date := coalesce(document.facts ->> 'due_on', document.facts ->> 'issued_on', context.today::text);
  target app.document_match;
  bill app.expenses;
  occurrence app.expense_occurrences;
begin
  if starts_with(wanted, 'pay_') then
    select p.expense_id, p.occurrence_id into target.expense_id, target.occurrence_id from app.payments as p
    where p.id = wanted and p.organization_id = context.organization_id and p.deleted_at is null;
  elsif starts_with(wanted, 'exp_') then
    select e.id into target.expense_id from app.expenses as e
    where e.id = wanted and e.organization_id = context.organization_id and e.kind = 'one_off'
      and e.deleted_at is null;
  else
    bill := app.require_bill(context, wanted);
    perform app.refresh_bill(bill.id, context.today);
    if day is not null then
      occurrence := app.find_occurrence(bill, day);
    else
      select * into occurrence from app.expense_occurrences as o
      where o.expense_id = bill.id
      order by abs(o.due_on - near), o.due_on
      limit 1;
    end if;
    target.expense_id := bill.id;
    target.occurrence_id := occurrence.id;
  end if;
  if target.expense_id is null then
    perform app.fail('not_found.document_target', jsonb_build_object('id', wanted), 'to');
  end if;
  return target;
end
$$;
comment on function app.find_document_target is
  'Returns the record that the arguments name: an expense, a payment, or a bill''s date (due_on, otherwise the '
  'one nearest to the document''s date).';

create or replace function app.file_document(context app.context, document app.documents, target app.document_match)
  returns app.documents
language plpgsql volatile set search_path = '' as $$
declare
  minor constant bigint := app.document_minor(document);
  bill app.expenses;
  occurrence app.expense_occurrences;
begin
  select * into bill from app.expenses as e where e.id = target.expense_id for no key update;
  update app.documents as d set expense_id = bill.id, occurrence_id = target.occurrence_id,
    payee_key = case when d.facts ? 'payee' then d.payee_key else nullif(
      array_to_string(app.descriptor_words(coalesce(bill.payee, bill.name)), ' '), ''
    ) end
  where d.id = document.id
  returning d.* into document;
  select * into occurrence from app.expense_occurrences as o where o.id = target.occurrence_id;
  if bill.amount_mode <> 'fixed' and occurrence.status = 'open' and occurrence.paid_minor = 0
    and occurrence.currency = document.facts ->> 'currency' and minor is distinct from occurrence.expected_minor
    and minor is not null and coalesce(document.facts ->> 'kind', '') not in ('credit_note', 'reminder')
    -- If a date has two invoices, only a person knows whether both are due.
    and not exists (
      select from app.documents_of(bill.id, occurrence.id, null, document.organization_id) as other
      where other.id <> document.id
    ) then
    perform app.change_occurrence(context, bill, jsonb_build_object(
      'action', 'set_amount', 'due_on', occurrence.due_on, 'amount',
      app.format_amount(minor, occurrence.currency)
    ));
  end if;
  return document;
end
$$;
comment on function app.file_document is
  'Attaches a document. An open date of a bill without a fixed amount takes the document''s amount, unless the date '
  'has another document. If the document''s payee is unknown, stores the record''s. Never records a payment.';

create or replace function app.decline_document(context app.context, document app.documents) returns app.documents
language plpgsql volatile set search_path = '' as $$
declare
  refused constant text[] := case when document.expense_id is not null
    then array[concat_ws(':', document.expense_id, document.occurrence_id)]
    else array(select app.match_key_of(m) from unnest(app.match_document(context, document)) as m) end;
  declined app.documents;
begin
  -- After detaching, the document belongs to this person, because otherwise it might be invisible to everybody.
  update app.documents as d
  set expense_id = null, occurrence_id = null, declined = d.declined || refused,
    payee_key = case when d.facts ? 'payee' then d.payee_key end,
    added_by = case when d.expense_id is null then d.added_by else context.actor_id end
  where d.id = document.id and (refused <> '{}' or d.expense_id is not null)
  returning d.* into declined;
  -- Without a record or a candidate, there is nothing to store.
  return case when declined.id is null then document else declined end;
end
$$;
comment on function app.decline_document is 'Stores that a document does not belong to its record or to any candidate.';

create or replace function app.write_document_dates(context app.context, document app.documents) returns void
language plpgsql volatile set search_path = '' as $$
declare
  names constant text[] := app.names_in(document);
  due constant date := case when document.facts ->> 'kind' is distinct from 'reminder'
    then document.facts ->> 'due_on' end;
  change constant text := current_setting('app.change_id', true);
  bill app.expenses;
  n int;
begin
  -- These rows aren't part of a change: they follow from the schedule, and an undo leaves them alone.
  perform set_config('app.change_id', '', true);
  for bill in
    select e.* from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      and e.status = 'active' and due >= context.today
      and 1 < app.payee_likeness(document, names, e)
    order by e.id
    for no key update
  loop
    n := greatest(app.schedule_index(bill, greatest(due - 4, bill.tracked_from)), app.due_index(bill, context.today));
    if n <= coalesce(app.last_index(bill), n)
      and app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) between due - 7 and due + 7 then
      perform app.materialize_occurrences(bill, n, n);
    end if;
  end loop;
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.write_document_dates is
  'Creates the row of a bill''s date that a document names, because an invoice can arrive before the previous date is '
  'paid.';

create or replace function app.attach_document(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  document app.documents;
  matches app.document_match[];
  told jsonb;
begin
  case arguments ->> 'step'
    when 'start' then
      return jsonb_build_object('data', app.run_import_step(context, 'start', '{}'));
    -- The service downloads a file only for a person who may add it.
    when 'take' then
      return '{"data": {}}';
    when 'keep' then
      document := app.keep_document(context, arguments);
      return jsonb_build_object('data', jsonb_build_object('document', app.describe_document(context, document)));
    else null;
  end case;
  document := app.find_document(context, arguments ->> 'document_id');
  document := app.confirm_facts(document, arguments -> 'said');
  if arguments ->> 'to' = 'none' then
    document := app.decline_document(context, document);
  elsif arguments ? 'to' then
    document := app.confirm_amount(
      app.file_document(context, document, app.find_document_target(context, document, arguments))
    );
  elsif document.expense_id is null then
    perform app.refresh_passed_bills(context);
    perform app.write_document_dates(context, document);
    matches := app.match_document(context, document);
    if (matches[1]).tier < 3 then
      document := app.file_document(context, document, matches[1]);
    end if;
  end if;
  told := app.describe_document(context, document);
  return jsonb_build_object(
    'data', jsonb_build_object('document', told),
    'warnings', case when told ? 'iban_was' then jsonb_build_array(app.warning('iban_changed', jsonb_build_object(
      'payee', document.facts -> 'payee', 'iban', document.facts -> 'iban', 'was', told -> 'iban_was'
    ))) else '[]' end,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'document', document.name, 'said', arguments -> 'said', 'to', told #> '{filed,name}',
      'due_on', told #> '{filed,due_on}'
    ))
  );
end
$$;
comment on function app.attach_document is
  'Tool attach_document. Without arguments, returns data {upload}, a link. With a document, attaches it to the given '
  'record, otherwise to its certain match, and returns data {document}. Only our own code passes step and said; said '
  'has the facts that a person read in the document.';
