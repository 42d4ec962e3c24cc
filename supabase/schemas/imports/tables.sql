-- What imports keep: the accounts that statements are of, a file on its way into the books with its rows, and
-- afterwards the lines of statements with the payments that they are.

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
comment on table app.accounts is 'The accounts and cards that statements are of.';
comment on column app.accounts.key is
  'How files say which account they are of: the hash of its number and the export''s name, never the number.';
comment on column app.accounts.answers is
  'What a person answered about its files, by the hash of their header line: {<hash>: {header, answers, at}}, with '
  'answers such as {amount: "Txn Amt", negative_is_expense: false}.';
comment on column app.accounts.balance is
  'What its latest statement says it had: {from, to, opening?, closing, currency, proven?, change_id}; proven: the '
  'lines lead from the one to the other.';
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
  'A file on its way into the books, for 24 hours: asked for, read, matched, ready, and what committing it answered.';
comment on column app.import_batches.file is 'The file''s text, so that it can be read again after answers.';
comment on column app.import_batches.read is
  'What reading it said of the whole: {name?, encoding?, mapping, default_currency?, answers, questions, warnings, '
  'left_out, balances?}.';
comment on column app.import_batches.staged_through is 'The last line whose rows are in import_rows.';
comment on column app.import_batches.result is
  'What committing answered, so that a repeated call answers it again; null before.';
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
  -- The organization second, as row-level security asks for it: so the foreign key needs no index of its own.
  primary key (import_id, organization_id, line),
  foreign key (import_id, organization_id) references app.import_batches (id, organization_id) on delete cascade
);
-- Finds matched rows. Partial, because each pass of matching needs it and most rows are unmatched.
create index import_rows_found_idx on app.import_rows (import_id, organization_id)
  where match ->> 'state' in ('known', 'linked', 'transfer');
comment on table app.import_rows is
  'A row of a file before it is in the books: seen by no answer but those of its import.';
comment on column app.import_rows.kind is 'expense, refund, or the kind of left-out row.';
comment on column app.import_rows.item is
  'As read, an item of log_expenses with text, the bank''s words for it: {name, amount, currency, charged?, date, '
  'payee?, category?, note?, url?, is_refund?, tax?, text?, balance?, may_be_own?, counter_account?, subject?}.';
comment on column app.import_rows.draft is 'The item as app.parse_expense_item read it; null with an error.';
comment on column app.import_rows.match is
  'What it is in the books: {state: known | linked | transfer | likely | new, payment_ids?, bill_id?, due_on?, '
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
  unique (id, organization_id),
  foreign key (account_id, organization_id) references app.accounts (id, organization_id) on delete cascade,
  foreign key (other_half_id, organization_id) references app.statement_lines (id, organization_id)
    on delete set null (other_half_id)
);
comment on table app.statement_lines is
  'Each line of a committed statement once, if it is spending or a refund, including skipped ones.';
comment on column app.statement_lines.nth is 'Of several equal lines of a day the first, the second, and so on.';
comment on column app.statement_lines.direction is 'As payments have it: refund is money that came in.';
comment on column app.statement_lines.is_forgotten is
  'Whether a payment that it was is gone for good, so that nobody knows any more from whom it is kept.';
comment on column app.statement_lines.other_half_id is
  'The line of another account that is the same transfer; only the later of the two names the other.';
comment on column app.statement_lines.change_id is 'The change that brought it, whose undo takes it along.';
-- A line that comes again, in a file that overlaps, is the same one.
create unique index statement_lines_once_idx
  on app.statement_lines (account_id, booked_on, amount_minor, currency, direction, md5(text), nth);
create index statement_lines_organization_id_idx on app.statement_lines (organization_id, booked_on);
create index statement_lines_account_id_idx on app.statement_lines (account_id, organization_id);
create index statement_lines_currency_idx on app.statement_lines (currency);
create index statement_lines_other_half_id_idx on app.statement_lines (other_half_id, organization_id);
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
  'Which payments a line of a statement is: one, several of a day, or one with other lines.';
create index statement_links_line_id_idx on app.statement_links (line_id, organization_id);
create index statement_links_payment_id_idx on app.statement_links (payment_id, organization_id);

alter table app.accounts enable row level security;
alter table app.import_batches enable row level security;
alter table app.import_rows enable row level security;
alter table app.statement_lines enable row level security;
alter table app.statement_links enable row level security;
create policy "Members can use their organization's accounts" on app.accounts
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()));
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
  app.accounts, app.import_batches, app.import_rows, app.statement_lines, app.statement_links to service_role;
grant select, insert, update, delete on
  app.accounts, app.import_batches, app.import_rows, app.statement_lines, app.statement_links to authenticated;
