create table app.expense_occurrences (
  id text collate "C" default app.new_id('occ')
    constraint expense_occurrences_id_format check (id ~ '^occ_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  scheduled_on date not null,
  due_on date not null,
  expected_minor bigint
    constraint expense_occurrences_expected_minor_range check (expected_minor between 1 and 1000000000000000),
  currency text not null,
  amount_source text not null default 'rule'
    constraint expense_occurrences_amount_source_known check (amount_source in ('rule', 'override', 'provider')),
  status text not null default 'open'
    constraint expense_occurrences_status_known check (status in ('open', 'paid', 'skipped')),
  snoozed_until date,
  paid_minor bigint not null default 0,
  closed_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  -- Not of the id alone and of both besides: the table with the most writes has one index fewer.
  primary key (id, organization_id),
  unique (expense_id, organization_id, scheduled_on),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint expense_occurrences_closed_dated check ((status = 'open') = (closed_at is null))
);
comment on table app.expense_occurrences is
  'One due date of a bill: expected, then paid or skipped. Rows exist up to the current due date; later dates are '
  'computed.';
comment on column app.expense_occurrences.scheduled_on is 'Identity: the date by the schedule alone.';
comment on column app.expense_occurrences.currency is
  'Copied from the bill, whose currency is checked: checking it again takes the job that makes occurrences a tenth '
  'longer.';
comment on column app.expense_occurrences.due_on is 'The scheduled date after the weekend rule.';
comment on column app.expense_occurrences.paid_minor is
  'Derived: what was paid of it less what came back, so that what is open is read without the payments.';
comment on column app.expense_occurrences.expected_minor is 'Null while the amount of a variable bill is not known.';
create index expense_occurrences_open_idx on app.expense_occurrences (organization_id, due_on) where status = 'open';
-- What is due on a day, whoever's it is?
create index expense_occurrences_due_idx on app.expense_occurrences (due_on, expense_id) where status = 'open';
-- What is to be reminded of again on a day?
create index expense_occurrences_snoozed_until_idx on app.expense_occurrences (snoozed_until)
  where status = 'open' and snoozed_until is not null;

create table app.payments (
  id text collate "C" primary key default app.new_id('pay')
    constraint payments_id_format check (id ~ '^pay_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  occurrence_id text collate "C",
  category_id text collate "C",
  direction text not null default 'out' constraint payments_direction_known check (direction in ('out', 'refund')),
  amount_minor bigint not null
    constraint payments_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  paid_on date not null,
  base_currency text references app.currencies (code),
  base_minor bigint,
  sort_minor bigint not null generated always as (coalesce(base_minor, amount_minor)) stored,
  fx_rate numeric(20, 10) constraint payments_fx_rate_positive check (fx_rate > 0),
  fx_rate_on date,
  fx_source text,
  note text constraint payments_note_length check (length(note) between 1 and 2000),
  source text not null default 'assistant'
    constraint payments_source_known check (source in ('assistant', 'import', 'autopay')),
  paid_by uuid,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id) references app.expense_occurrences (id, organization_id),
  constraint payments_base_is_whole check (
    (base_minor is null) = (fx_rate is null) and (base_minor is null) = (base_currency is null)
    and (base_minor is null) = (fx_rate_on is null) and (base_minor is null) = (fx_source is null)
  )
);
comment on table app.payments is 'Money that left or came back: the only table that totals are made of.';
comment on column app.payments.base_minor is
  'The amount in the organization''s base currency at the rate of the payment date; null when no rate was known, never '
  '1:1.';
comment on column app.payments.sort_minor is
  'What payments of several currencies are ordered by: their value when they were recorded.';
comment on column app.payments.category_id is
  'Derived: the category of the expense or bill, so that totals by category are read from one index.';
comment on column app.payments.recorded_seq is
  'Counts up in the order of recording: the order of payments within a day.';
-- What was paid lately, and how much in a time? The included columns answer totals without the table.
create index payments_newest_idx
  on app.payments (organization_id, paid_on, recorded_seq) include (currency, direction, amount_minor, category_id)
  where deleted_at is null;
-- What were the largest?
create index payments_largest_idx on app.payments (organization_id, sort_minor, recorded_seq) where deleted_at is null;
create index payments_expense_id_idx on app.payments (expense_id, organization_id);
create index payments_occurrence_id_idx on app.payments (occurrence_id, organization_id);
create index payments_currency_idx on app.payments (currency);
create index payments_base_currency_idx on app.payments (base_currency);
