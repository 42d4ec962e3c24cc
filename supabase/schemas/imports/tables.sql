-- Tables of imports: accounts, files with their rows until they are committed, and statement lines with their payments.

create table app.accounts (
  id text collate "C" primary key default app.new_id('acc')
    constraint accounts_id_format check (id ~ '^acc_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null constraint accounts_name_length check (length(btrim(name)) between 1 and 60),
  key text not null constraint accounts_key_length check (length(key) between 1 and 120),
  kind text not null default 'account' constraint accounts_kind_known check (kind in ('account', 'card')),
  currency text references app.currencies (code),
  answers jsonb not null default '{}',
  balance jsonb,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id)
);
comment on table app.accounts is 'Accounts and cards with imported statements.';
comment on column app.accounts.key is
  'Identifies the account in files: a hash of its number, otherwise of its name, never the number itself.';
comment on column app.accounts.answers is
  'A person''s answers about its files, by the hash of their header line: {<hash>: {header, answers, at}}, with '
  'answers such as {amount: "Txn Amt", negative_is_expense: false}.';
comment on column app.accounts.balance is
  'The balances in its latest statement: {from, to, opening?, closing, currency, proven?, change_id}. proven: the '
  'lines add up from the opening to the closing balance.';
create unique index accounts_key_idx on app.accounts (organization_id, key);
create unique index accounts_name_idx on app.accounts (organization_id, lower(name));
create index accounts_currency_idx on app.accounts (currency);

create table app.import_batches (
  id text collate "C" primary key default app.new_id('imp')
    constraint import_batches_id_format check (id ~ '^imp_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  account_id text collate "C",
  state text not null
    constraint import_batches_state_known check (state in ('waiting', 'reading', 'matching', 'ready', 'committed')),
  file text constraint import_batches_file_length check (length(file) <= 12000000),
  read jsonb not null default '{}',
  row_count int not null default 0 constraint import_batches_row_count_range check (row_count between 0 and 50000),
  staged_through int not null default 0,
  matched_through int not null default 0,
  change_id text collate "C" references app.change_sets (id) on delete set null,
  result jsonb,
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null,
  unique (id, organization_id),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id)
);
comment on table app.import_batches is
  'A file being imported, kept for 24 hours, with its state and the result of its commit.';
comment on column app.import_batches.file is 'The text of the file, for reading it again after answers.';
comment on column app.import_batches.read is
  'The result of reading the file: {name?, encoding?, mapping, default_currency?, answers, questions, warnings, '
  'left_out, balances?}.';
comment on column app.import_batches.staged_through is 'The last line that is staged in import_rows.';
comment on column app.import_batches.result is 'The result of the commit, for repeated calls; null before.';
create index import_batches_organization_id_idx on app.import_batches (organization_id);
create index import_batches_account_id_idx on app.import_batches (account_id, organization_id);
create index import_batches_change_id_idx on app.import_batches (change_id);
create index import_batches_expires_at_idx on app.import_batches (expires_at);

create table app.import_rows (
  import_id text collate "C" not null,
  organization_id text collate "C" not null,
  line int not null,
  kind text not null default 'expense' constraint import_rows_kind_length check (length(kind) between 1 and 20),
  item jsonb not null,
  draft jsonb,
  error jsonb,
  is_skipped boolean not null default false,
  match jsonb,
  -- organization_id comes second, as row-level security filters by it. The foreign key then needs no separate index.
  primary key (import_id, organization_id, line),
  foreign key (import_id, organization_id) references app.import_batches (id, organization_id) on delete cascade
);
-- Finds matched rows, which each pass of matching needs. The index is partial because most rows are unmatched.
create index import_rows_found_idx on app.import_rows (import_id, organization_id)
  where match ->> 'state' in ('known', 'linked', 'transfer');
comment on table app.import_rows is
  'A row of a file before it is in the books. It appears only in answers about its import.';
comment on column app.import_rows.kind is 'expense, refund, or the kind of left-out row.';
comment on column app.import_rows.item is
  'The row as read: an item of log_expenses with the bank''s text. {name, amount, currency, charged?, date, payee?, '
  'category?, note?, url?, is_refund?, tax?, text?, balance?, may_be_own?, counter_account?, subject?}.';
comment on column app.import_rows.draft is 'The item as parsed by app.parse_expense_item; null with an error.';
comment on column app.import_rows.match is
  'The match in the books: {state: known | linked | transfer | likely | new, payment_ids?, bill_id?, due_on?, '
  'half_id?, candidates?, answer?}.';

create table app.statement_lines (
  id text collate "C" primary key default app.new_id('lin')
    constraint statement_lines_id_format check (id ~ '^lin_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  account_id text collate "C" not null,
  booked_on date not null,
  text text not null constraint statement_lines_text_length check (length(text) between 1 and 500),
  kind text not null constraint statement_lines_kind_length check (length(kind) between 1 and 20),
  direction text not null constraint statement_lines_direction_known check (direction in ('out', 'refund')),
  amount_minor bigint not null
    constraint statement_lines_amount_minor_range check (amount_minor between 0 and 1000000000000000),
  currency text not null references app.currencies (code),
  nth smallint not null default 1,
  is_skipped boolean not null default false,
  is_forgotten boolean not null default false,
  other_half_id text collate "C",
  change_id text collate "C" references app.change_sets (id) on delete set null,
  created_at timestamptz not null default app.instant(),
  answered jsonb,
  unique (id, organization_id),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id) on delete cascade,
  foreign key (other_half_id, organization_id) references app.statement_lines (id, organization_id)
    on delete set null (other_half_id)
);
comment on table app.statement_lines is
  'Each line of a committed statement once, including skipped, left-out and unreadable ones.';
comment on column app.statement_lines.nth is 'The number of the line among equal lines of a day, from 1.';
comment on column app.statement_lines.direction is 'As in payments: refund means incoming money.';
comment on column app.statement_lines.is_forgotten is
  'Whether a payment of the line was purged, so that its visibility can no longer be checked.';
comment on column app.statement_lines.other_half_id is
  'The line of another account that is the same transfer. Only the later line refers to the other.';
comment on column app.statement_lines.change_id is 'The change that added the line; undoing it deletes the line.';
comment on column app.statement_lines.answered is
  'A person''s answer about the line, for later lines like it (app.describe_answer); null without a question.';
-- A line in two overlapping files is stored once.
create unique index statement_lines_once_idx
  on app.statement_lines (account_id, booked_on, amount_minor, currency, direction, md5(text), nth);
create index statement_lines_organization_id_idx on app.statement_lines (organization_id, booked_on);
create index statement_lines_account_id_idx on app.statement_lines (account_id, organization_id);
create index statement_lines_currency_idx on app.statement_lines (currency);
create index statement_lines_other_half_id_idx on app.statement_lines (other_half_id, organization_id);
create index statement_lines_answered_idx on app.statement_lines (account_id, organization_id)
  where answered is not null;
create index statement_lines_change_id_idx on app.statement_lines (change_id);

create table app.statement_links (
  line_id text collate "C" not null,
  payment_id text collate "C" not null,
  organization_id text collate "C" not null,
  primary key (line_id, payment_id),
  foreign key (line_id, organization_id) references app.statement_lines (id, organization_id) on delete cascade,
  foreign key (payment_id, organization_id) references app.payments (id, organization_id) on delete cascade
);
comment on table app.statement_links is
  'The payments of statement lines. A line may be one payment, several of a day, or part of one.';
create index statement_links_line_id_idx on app.statement_links (line_id, organization_id);
create index statement_links_payment_id_idx on app.statement_links (payment_id, organization_id);

create table app.balances (
  id text collate "C" primary key default app.new_id('bal')
    constraint balances_id_format check (id ~ '^bal_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  account_id text collate "C" not null,
  true_on date not null,
  amount_minor bigint not null
    constraint balances_amount_minor_range check (amount_minor between -1000000000000000 and 1000000000000000),
  currency text not null references app.currencies (code),
  source text not null constraint balances_source_known check (source in ('statement', 'person')),
  created_by uuid not null,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id) on delete cascade
);
comment on table app.balances is
  'Balances of accounts at the end of a day, from a statement or a person; negative for a debt.';
-- Each person has their own row, so that other people's rows don't affect the result of an import.
create unique index balances_once_idx on app.balances (account_id, true_on, currency, source, created_by)
  where deleted_at is null;
create index balances_organization_id_idx on app.balances (organization_id);
create index balances_account_id_idx on app.balances (account_id, organization_id);
create index balances_currency_idx on app.balances (currency);

alter table app.accounts enable row level security;
alter table app.balances enable row level security;
alter table app.import_batches enable row level security;
alter table app.import_rows enable row level security;
alter table app.statement_lines enable row level security;
alter table app.statement_links enable row level security;
create policy "Members can use their organization's accounts" on app.accounts
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()));
-- A balance reflects every payment of its account.
create policy "Who sees everything can use balances, others what they said" on app.balances
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or created_by = (select auth.uid()))
  );
create policy "People can use their own imports" on app.import_batches
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "People can use the rows of their own imports" on app.import_rows
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and import_id in (select b.id from app.import_batches as b)
  );
create policy "Members can use their organization's statement links" on app.statement_links
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.payments as p where p.id = payment_id)
    )
  );
grant select, insert, update, delete on
  app.accounts, app.balances, app.import_batches, app.import_rows, app.statement_lines, app.statement_links
    to service_role;
grant select, insert, update, delete on
  app.accounts, app.balances, app.import_batches, app.import_rows, app.statement_lines, app.statement_links
    to authenticated;
