-- Tables of the books: categories, expenses and bills, occurrences, payments, exchange rates, provider links, and all
-- changes to them.
-- Invariants: composite keys keep rows from pointing into another organization. Money is in positive minor units, with
-- a column for its direction. A bill always has a schedule, a one-off expense never. An occurrence has closed_at
-- exactly when it is not open.
-- Ids used in joins have the collation "C": lookups under the collation of a language cost three times as much.

create table app.categories (
  id text collate "C" primary key default app.new_id('cat')
    constraint categories_id_format check (id ~ '^cat_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null constraint categories_name_length check (length(btrim(name)) between 1 and 60),
  archived_at timestamptz,
  is_private boolean not null default false,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id)
);
comment on table app.categories is 'Spending categories, in the organization''s own words.';
comment on column app.categories.is_private is
  'Whether the category and its records are visible only with the right books:private.';
-- A private and a shared category may have the same name. Otherwise a conflict would reveal the hidden one.
create unique index categories_name_idx on app.categories (organization_id, lower(name), is_private);

create table app.expenses (
  id text collate "C" primary key
    constraint expenses_id_format check (id ~ '^(exp|bill)_[0-9a-z]+$' and length(id) between 12 and 37),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  kind text not null constraint expenses_kind_known check (kind in ('one_off', 'bill')),
  name text not null constraint expenses_name_length check (length(btrim(name)) between 1 and 120),
  payee text constraint expenses_payee_length check (length(payee) between 1 and 120),
  match_key text not null generated always as (lower(coalesce(payee, name))) stored,
  category_id text collate "C",
  tags text[] not null default '{}' constraint expenses_tags_count check (cardinality(tags) <= 10),
  note text constraint expenses_note_length check (length(note) between 1 and 2000),
  url text constraint expenses_url_shape check (length(url) <= 2000 and url ~ '^https?://[^\s/?#@\\]+([/?#]\S*)?$'),

  amount_mode text constraint expenses_amount_mode_known check (amount_mode in ('fixed', 'estimated', 'variable')),
  amount_minor bigint constraint expenses_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  earlier_minor bigint constraint expenses_earlier_minor_range check (earlier_minor between 1 and 1000000000000000),
  price_from date,
  currency text references app.currencies (code),
  share_bp int not null default 10000 constraint expenses_share_bp_range check (share_bp between 1 and 10000),
  frequency text
    constraint expenses_frequency_known check (frequency in ('once', 'daily', 'weekly', 'monthly', 'yearly')),
  every smallint constraint expenses_every_range check (every between 1 and 120),
  anchor_on date,
  month_days smallint[] constraint expenses_month_days_shape check (
    month_days is null or (
      frequency = 'monthly' and cardinality(month_days) between 1 and 4
      and (
        -1 <= all (month_days) and 31 >= all (month_days) and not 0 = any (month_days)
        or 101 <= all (month_days) and 507 >= all (month_days)
      )
    )
  ),
  weekend_rule text constraint expenses_weekend_rule_known check (weekend_rule in ('none', 'before', 'after')),
  ends_on date,
  ends_after int constraint expenses_ends_after_range check (ends_after between 1 and 1200),
  tracked_from date,
  next_due date,
  autopay boolean not null default false,
  trial_ends_on date,
  renews_on date,
  notice_days smallint constraint expenses_notice_days_range check (notice_days between 0 and 365),
  status text constraint expenses_status_known check (status in ('active', 'paused', 'ended', 'cancelled')),
  reminder_enabled boolean not null default false,
  remind_days_before smallint constraint expenses_remind_days_before_range check (remind_days_before between 0 and 90),
  remind_again smallint[] not null default '{}'
    constraint expenses_remind_again_shape check (
      cardinality(remind_again) <= 4 and 0 <= all (remind_again) and remind_days_before > all (remind_again)
    ),
  assignee_id uuid,
  payer_id uuid,
  sharing jsonb constraint expenses_sharing_shape check (app.is_sharing(sharing)),

  source text not null default 'assistant'
    constraint expenses_source_known check (source in ('assistant', 'import', 'provider')),
  external_id text constraint expenses_external_id_length check (length(external_id) between 1 and 128),
  created_by uuid,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  paused_until date,
  contract jsonb constraint expenses_contract_shape check (app.is_contract(contract)),

  -- In this order, the index also finds all rows of an organization. If there were a separate index for that, the
  -- planner would sometimes use it to look up both columns, especially on tables without statistics.
  unique (organization_id, id),
  foreign key (category_id, organization_id) references app.categories (id, organization_id),
  constraint expenses_id_says_kind check ((kind = 'bill') = (id like 'bill\_%')),
  constraint expenses_one_off_has_no_schedule check (
    kind = 'bill' or (
      amount_mode is null and amount_minor is null and earlier_minor is null and currency is null and frequency is null
        and every is null
        and anchor_on is null and month_days is null
      and weekend_rule is null and ends_on is null and ends_after is null and tracked_from is null and next_due is null
        and status is null and paused_until is null and not reminder_enabled and payer_id is null and sharing is null
        and contract is null
    )
  ),
  constraint expenses_bill_has_schedule check (
    kind = 'one_off' or (
      amount_mode is not null and currency is not null and frequency is not null and every is not null
        and anchor_on is not null
      and weekend_rule is not null and tracked_from is not null and status is not null
    )
  ),
  constraint expenses_bill_has_amount check (kind = 'one_off' or amount_mode = 'variable' or amount_minor is not null),
  constraint expenses_earlier_price_while_stopped check (
    (earlier_minor is null) = (price_from is null) and (price_from is null or status in ('paused', 'cancelled'))
  ),
  constraint expenses_only_active_has_due check (status = 'active' or next_due is null),
  constraint expenses_ends_after_start check (ends_on >= anchor_on)
) with (fillfactor = 85);
comment on table app.expenses is
  'A one-off expense or a recurring bill. Payments are in payments, due dates in expense_occurrences.';
comment on column app.expenses.url is
  'A link to the receipt or the order: http or https, without user name or password.';
comment on column app.expenses.earlier_minor is
  'The amount of a paused or cancelled bill until price_from, if a later price was set. An active bill keeps it in its '
  'dates, which a pause deletes.';
comment on column app.expenses.price_from is
  'The first due date with amount_minor, if a paused or cancelled bill has an earlier_minor.';
comment on column app.expenses.anchor_on is
  'First scheduled date. Every later date is computed from this one, never from the previous date.';
comment on column app.expenses.month_days is
  'Days of the month, -1 for the last, or weekdays of the month (app.month_weekday). Null means the day of anchor_on.';
comment on column app.expenses.tracked_from is
  'Scheduled dates before this day are not tracked: they are neither open nor overdue.';
comment on column app.expenses.paused_until is
  'The active bill counts as paused until this day, and nothing is due earlier; tracked_from has the same day.';
comment on column app.expenses.next_due is
  'Derived, kept by app.refresh_bill: due date of the earliest open occurrence on or after today in the owner''s zone.';
comment on column app.expenses.share_bp is
  'The organization''s share in hundredths of a percent; payments keep the full amount.';
comment on column app.expenses.remind_again is
  'Days before the due date for further reminders, largest first; each is less than remind_days_before.';
comment on column app.expenses.assignee_id is
  'The member responsible for the bill, who also gets its reminders. Ignored after they leave the organization.';
comment on column app.expenses.payer_id is 'The member who usually pays the bill; payments record the actual payer.';
comment on column app.expenses.sharing is
  'The sharing of a bill''s future payments (app.is_sharing). Amounts act as proportions when a different total is '
  'paid.';
comment on column app.expenses.contract is
  'The recorded facts of a bill''s contract (app.is_contract), never guessed. renews_on and notice_days are other '
  'forms of its term and notice.';
comment on column app.expenses.external_id is
  'The caller''s own id for the expense, unique per source, author and category.';
comment on column app.expenses.match_key is
  'The payee, or the name without one, in lower case: equal keys mean the same expense. A column, because an index on '
  'an expression isn''t used under row-level security.';
comment on column app.expenses.recorded_seq is
  'Increases with every record, regardless of the clock; orders records by time of recording.';
-- Unique per author and category: a conflict with a hidden row must not reveal it.
create unique index expenses_external_id_idx
  on app.expenses (organization_id, source, external_id, created_by, coalesce(category_id, '')) nulls not distinct
  where external_id is not null and deleted_at is null;
create index expenses_category_id_idx on app.expenses (category_id, organization_id);
create index expenses_currency_idx on app.expenses (currency);
-- Finds active bills. Leaves out next_due: as long as no index contains it, rolling a bill is a heap-only (HOT) update.
create index expenses_active_idx on app.expenses (organization_id)
  where kind = 'bill' and status = 'active' and deleted_at is null;
create index expenses_bills_idx on app.expenses (organization_id, status, recorded_seq)
  where kind = 'bill' and deleted_at is null;
-- Finds the latest category of a payee or name.
create index expenses_match_key_idx on app.expenses (organization_id, match_key, recorded_seq) where deleted_at is null;
