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
  -- One composite key replaces a key on the id and a unique pair. This saves an index on the most written table.
  primary key (id, organization_id),
  unique (expense_id, organization_id, scheduled_on),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint expense_occurrences_closed_dated check ((status = 'open') = (closed_at is null))
);
comment on table app.expense_occurrences is
  'One due date of a bill: expected, then paid or skipped. Rows exist up to the current due date; later dates are '
  'computed.';
comment on column app.expense_occurrences.scheduled_on is
  'The date by the schedule alone; it identifies the occurrence.';
comment on column app.expense_occurrences.currency is
  'Copied from the bill, without a foreign key of its own: checking it again slows down the job that creates '
  'occurrences by a tenth.';
comment on column app.expense_occurrences.due_on is 'The scheduled date after the weekend rule.';
comment on column app.expense_occurrences.paid_minor is
  'Derived: payments less refunds, so that reading the open amount needs no join.';
comment on column app.expense_occurrences.expected_minor is 'Null until the amount of a variable bill is known.';
create index expense_occurrences_open_idx on app.expense_occurrences (organization_id, due_on) where status = 'open';
-- Finds due dates by day across all organizations.
create index expense_occurrences_due_idx on app.expense_occurrences (due_on, expense_id) where status = 'open';
create index expense_occurrences_unknown_idx on app.expense_occurrences (due_on, expense_id)
  where status = 'open' and expected_minor is null;
-- Finds occurrences whose snoozed reminder is due.
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
  tax_minor bigint,
  tax_percent numeric(6, 3) constraint payments_tax_percent_range check (tax_percent between 0 and 100),
  reimbursement text constraint payments_reimbursement_known check (reimbursement in ('open', 'done')),
  reimbursed_by text constraint payments_reimbursed_by_length check (length(reimbursed_by) between 1 and 120),
  reimbursed_on date,
  split_id text collate "C"
    constraint payments_split_id_format check (split_id ~ '^spl_[0-9a-z]+$' and length(split_id) between 12 and 36),
  -- A small part's share of the charge may round to zero.
  charged_minor bigint
    constraint payments_charged_minor_range check (charged_minor between 0 and 1000000000000000),
  charged_currency text references app.currencies (code),
  base_currency text not null,
  base_minor bigint,
  sort_minor bigint not null generated always as (coalesce(base_minor, amount_minor)) stored,
  fx_rate numeric(20, 10) constraint payments_fx_rate_positive check (fx_rate > 0),
  fx_rate_on date,
  fx_source text,
  is_final boolean not null default false,
  note text constraint payments_note_length check (length(note) between 1 and 2000),
  source text not null default 'assistant'
    constraint payments_source_known check (source in ('assistant', 'import', 'autopay')),
  is_estimate boolean not null default false,
  paid_by uuid,
  recorded_by uuid,
  sharing jsonb constraint payments_sharing_shape check (app.is_sharing(sharing)),
  stands_alone boolean not null default false,
  merged_into text collate "C",
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id) references app.expense_occurrences (id, organization_id),
  foreign key (merged_into, organization_id) references app.payments (id, organization_id) on delete cascade,
  constraint payments_merged_is_deleted check (merged_into is null or deleted_at is not null),
  -- Changing the base currency updates every payment. Payments written concurrently wait for it.
  foreign key (organization_id, base_currency) references identity.organizations (id, base_currency)
    on update cascade on delete cascade,
  constraint payments_tax_within_amount check (tax_minor between 0 and amount_minor),
  constraint payments_tax_percent_has_tax check (tax_percent is null or tax_minor is not null),
  constraint payments_reimbursement_is_whole check (
    (reimbursed_by is null or reimbursement is not null)
    and (reimbursed_on is null) = (reimbursement is distinct from 'done')
  ),
  constraint payments_charged_is_whole check ((charged_minor is null) = (charged_currency is null)),
  constraint payments_rate_is_whole check (
    (fx_rate is null) = (fx_rate_on is null) and (fx_rate is null) = (fx_source is null)
    and (fx_rate is null or base_minor is not null)
  )
);
comment on table app.payments is 'Money paid or refunded. All totals are sums of this table.';
comment on column app.payments.tax_minor is 'The tax included in the amount, in the same direction.';
comment on column app.payments.tax_percent is 'In percent of the net amount; null when several rates or none apply.';
comment on column app.payments.reimbursement is
  'Whether a third party repays the payment: open, then done. It still counts as spending; money that came back is a '
  'refund.';
comment on column app.payments.split_id is
  'Common to all parts of one payment split over several categories; the parts add up to it.';
comment on column app.payments.charged_minor is
  'The amount that the bank charged in another currency, if given. The value is then derived from it.';
comment on column app.payments.base_minor is
  'Derived, like all base_ and fx_ columns: the value in the organization''s base currency, used in every answer and '
  'total. Null without a rate, never converted 1:1.';
comment on column app.payments.is_final is
  'Derived: whether the value is final. It isn''t while the day''s rate is unpublished or not fetched.';
comment on column app.payments.is_estimate is
  'Recorded automatically with the amount known so far; a statement or a person corrects it.';
comment on column app.payments.sharing is
  'The sharing of the payment (app.is_sharing); app.payment_shares holds the amount of each member.';
comment on column app.payments.recorded_by is 'The person who recorded it; null for an automatic payment.';
comment on column app.payments.stands_alone is
  'Whether a person confirmed that this is not the payment that it resembles. Paying a bill does not link such a '
  'payment.';
comment on column app.payments.merged_into is
  'The payment that replaced this duplicate in a merge. The duplicate is deleted, but still recognized when it is '
  'logged or imported again.';
comment on column app.payments.sort_minor is 'Sort key for payments in several currencies: their value.';
comment on column app.payments.category_id is
  'Derived: the category of the expense or bill, so that one index serves totals by category.';
comment on column app.payments.recorded_seq is 'Increases with every payment recorded; orders the payments of a day.';
-- Analyze early: an organization's first large import changes its share of the table at once.
alter table app.payments set (autovacuum_analyze_scale_factor = 0.02);

-- Finds the latest payments and the payments of a period. The included columns answer totals without the table.
create index payments_newest_idx
  on app.payments (organization_id, paid_on, recorded_seq) include (
    currency, direction, amount_minor, category_id, base_minor, fx_rate_on, fx_source, is_final, charged_minor,
    charged_currency, tax_minor, expense_id
  )
  where deleted_at is null;
create index payments_largest_idx on app.payments (organization_id, sort_minor, recorded_seq) where deleted_at is null;
create index payments_expense_id_idx on app.payments (expense_id, organization_id);
create index payments_occurrence_id_idx on app.payments (occurrence_id, organization_id);
create index payments_merged_into_idx on app.payments (merged_into, organization_id);
create index payments_merged_on_idx on app.payments (organization_id, paid_on) where merged_into is not null;
create index payments_currency_idx on app.payments (currency);
create index payments_charged_currency_idx on app.payments (charged_currency);
-- organization_id comes last, because foreign key checks are planned once, maybe on an empty table. Such a plan might
-- use an index that starts with organization_id instead of one on the id.
create index payments_base_currency_idx on app.payments (base_currency, organization_id);
create index payments_estimates_idx on app.payments (organization_id, paid_on)
  where is_estimate and deleted_at is null;
create index payments_reimbursement_idx on app.payments (organization_id, paid_on)
  where reimbursement is not null and deleted_at is null;
create index payments_split_id_idx on app.payments (split_id) where split_id is not null;
create index payments_pending_idx on app.payments (paid_on, id) where not is_final;
