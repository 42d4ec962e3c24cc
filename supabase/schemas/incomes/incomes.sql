-- Income: money that a person or the organization earned. It is never stored as a payment, so totals of spending
-- exclude it.

create table app.incomes (
  id text collate "C" primary key default app.new_id('inc')
    constraint incomes_id_format check (id ~ '^inc_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null constraint incomes_name_length check (length(btrim(name)) between 1 and 120),
  sort text not null constraint incomes_sort_known check (sort in ('salary', 'tax_refund', 'rent', 'other')),
  category_id text collate "C",
  account_id text collate "C",
  line_id text collate "C",
  amount_minor bigint not null
    constraint incomes_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  received_on date,
  frequency text constraint incomes_frequency_known check (frequency in ('weekly', 'monthly', 'yearly')),
  every smallint constraint incomes_every_range check (every between 1 and 120),
  anchor_on date,
  ends_on date,
  note text constraint incomes_note_length check (length(note) between 1 and 2000),
  source text not null constraint incomes_source_known check (source in ('assistant', 'import')),
  created_by uuid not null,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  creator_sees boolean not null default false,
  foreign key (category_id, organization_id) references app.categories (id, organization_id),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id)
    on delete set null (account_id),
  foreign key (line_id, organization_id) references app.statement_lines (id, organization_id)
    on delete set null (line_id),
  constraint incomes_received_or_expected check (
    (received_on is null) = (anchor_on is not null) and (anchor_on is null) = (frequency is null)
    and (anchor_on is null) = (every is null) and (anchor_on is not null or ends_on is null)
  ),
  constraint incomes_ends_after_start check (ends_on >= anchor_on)
);
comment on table app.incomes is
  'Money received or, with anchor_on, a rule for the dates of expected income. Totals exclude rules.';
comment on column app.incomes.name is 'The payer, or a description.';
comment on column app.incomes.category_id is 'Optional; a private category hides the income.';
comment on column app.incomes.creator_sees is
  'Whether the creator sees the income although its private category is hidden from them.';
comment on column app.incomes.line_id is
  'Derived: the statement line that shows the income. Undo skips this column, because it may delete the line.';
comment on column app.incomes.anchor_on is
  'The first expected date. Every later one is computed from it (app.scheduled_on).';
-- A line becomes at most one income, even after that income is deleted.
create unique index incomes_line_id_idx on app.incomes (line_id, organization_id);
create index incomes_received_on_idx on app.incomes (organization_id, received_on, recorded_seq);
create index incomes_category_id_idx on app.incomes (category_id, organization_id);
create index incomes_account_id_idx on app.incomes (account_id, organization_id);
create index incomes_currency_idx on app.incomes (currency);

alter table app.incomes enable row level security;
create policy "Members can use their organization's income" on app.incomes
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or (category_id is null or category_id <> all ((select app.list_hidden_categories())::text[]))
        and (not (select identity.sees_own_only()) or (select auth.uid()) = created_by)
      or creator_sees and (select auth.uid()) = created_by
    )
  );
grant select, insert, update, delete on app.incomes to authenticated, service_role;
