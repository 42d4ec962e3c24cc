-- Documents: invoices and receipts that people add, each attached to at most one record of the books. Invariants: a
-- document is as visible as its record; an unattached one is visible only to the person who added it, the owner and
-- managers. Its bytes are written once, in the transaction of its row, and never change. Adding or attaching a document
-- never records a payment.

create table app.documents (
  id text collate "C" primary key default app.new_id('doc')
    constraint documents_id_format check (id ~ '^doc_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  added_by uuid not null,
  hash text not null constraint documents_hash_format check (hash ~ '^[0-9a-f]{64}$'),
  name text not null constraint documents_name_length check (length(btrim(name)) between 1 and 120),
  type text not null constraint documents_type_format check (type ~ '^[a-z]+/[a-z0-9.+-]{1,60}$'),
  size int not null constraint documents_size_range check (size between 1 and 10485760),
  facts jsonb not null default '{}' constraint documents_facts_size check (length(facts::text) <= 20000),
  payee_key text constraint documents_payee_key_length check (length(payee_key) <= 500),
  expense_id text collate "C",
  occurrence_id text collate "C",
  declined text[] not null default '{}' constraint documents_declined_count check (cardinality(declined) <= 100),
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  layout jsonb constraint documents_layout_size check (length(layout::text) <= 40000),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id) references app.expense_occurrences (id, organization_id)
    on delete set null (occurrence_id),
  constraint documents_occurrence_has_bill check (occurrence_id is null or expense_id is not null)
);
comment on table app.documents is
  'Invoices and receipts, each file once per person who can see it. Two people who can''t see each other''s documents '
  'each have their own copy, so that neither learns about the other''s.';
comment on column app.documents.facts is 'The facts read from it (shared/documents/facts.ts); empty for a picture.';
comment on column app.documents.payee_key is
  'The words of the payee''s name (app.descriptor_words), which find earlier documents. If the payee could not be '
  'read, the words come from documents with the same account, or from the record.';
comment on column app.documents.expense_id is 'The document''s expense or bill; null until the record is known.';
comment on column app.documents.occurrence_id is 'The bill''s date, for a document of a bill.';
comment on column app.documents.layout is
  'The possible places of missing facts, and those that a person confirmed (app.confirm_facts): {iban?, tax_id?, '
  'places, names?: texts that may contain an unknown payee, confirmed?: the labels of facts, remembered?: for each '
  'fact from confirmed labels, the time of the confirmation}.';
comment on column app.documents.declined is
  'Records that a person declined for it (app.match_key_of), so that nobody is asked again.';
create unique index documents_once_idx on app.documents (organization_id, hash, added_by) where deleted_at is null;
create index documents_newest_idx on app.documents (organization_id, recorded_seq);
create index documents_waiting_idx on app.documents (created_at) where expense_id is null and deleted_at is null;
create index documents_confirmed_idx on app.documents (organization_id, recorded_seq)
  where layout ? 'confirmed' and deleted_at is null;
create index documents_payee_key_idx on app.documents (organization_id, payee_key) where deleted_at is null;
create index documents_expense_id_idx on app.documents (expense_id, organization_id);
create index documents_occurrence_id_idx on app.documents (occurrence_id, organization_id);

create table app.document_files (
  document_id text collate "C" primary key,
  organization_id text collate "C" not null,
  content bytea not null,
  foreign key (document_id, organization_id) references app.documents (id, organization_id) on delete cascade
);
comment on table app.document_files is
  'The bytes of documents, apart from the rows that lists read. Stored in the database, so that rights, backups, '
  'deletion and transactions cover them.';
create index document_files_document_id_idx on app.document_files (document_id, organization_id);

alter table app.documents enable row level security;
alter table app.document_files enable row level security;
create policy "Members can use documents of records that they see" on app.documents
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      -- An unattached document may be private.
      expense_id is null and (added_by = (select auth.uid()) or (select identity.may('settings:write')))
      or expense_id is not null and ((select identity.sees_everything()) or app.sees_expense(expense_id))
    )
  );
create policy "Members can use the bytes of documents that they see" on app.document_files
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and exists (select from app.documents as d where d.id = document_id)
  );
grant select, insert, update on app.documents to authenticated;
grant select, insert on app.document_files to authenticated;
grant select, insert, update, delete on app.documents, app.document_files to service_role;
