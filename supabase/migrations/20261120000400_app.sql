-- What the product keeps: categories, expenses and bills, occurrences, payments, exchange rates, provider links, and every change made to them.
-- Invariants: no row points into another organization (composite keys); money is positive minor units, its direction a column;
-- a one-off expense has no schedule and a bill always has one; an occurrence is closed exactly when it is not open.
-- Ids that rows are joined by compare as bytes: under a language's rules a lookup costs three times as much, and no id is in a language.

create table app.categories (
  id text collate "C" primary key default app.new_id('cat') constraint categories_id_format check (id ~ '^cat_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null constraint categories_name_length check (length(btrim(name)) between 1 and 60),
  archived_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id)
);
comment on table app.categories is 'What money is spent on, in the organization''s own words.';
create unique index categories_name_idx on app.categories (organization_id, lower(name));

create table app.expenses (
  id text collate "C" primary key constraint expenses_id_format check (id ~ '^(exp|bill)_[0-9a-z]+$' and length(id) between 12 and 37),
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
  currency text references app.currencies (code),
  share_bp int not null default 10000 constraint expenses_share_bp_range check (share_bp between 1 and 10000),
  frequency text constraint expenses_frequency_known check (frequency in ('once', 'daily', 'weekly', 'monthly', 'yearly')),
  every smallint constraint expenses_every_range check (every between 1 and 120),
  anchor_on date,
  month_days smallint[] constraint expenses_month_days_shape check (
    month_days is null or (
      frequency = 'monthly' and cardinality(month_days) between 1 and 4
      and -1 <= all (month_days) and 31 >= all (month_days) and not 0 = any (month_days)
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

  source text not null default 'assistant' constraint expenses_source_known check (source in ('assistant', 'import', 'provider')),
  external_id text constraint expenses_external_id_length check (length(external_id) between 1 and 128),
  created_by uuid,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),

  unique (id, organization_id),
  foreign key (category_id, organization_id) references app.categories (id, organization_id),
  constraint expenses_id_says_kind check ((kind = 'bill') = (id like 'bill\_%')),
  constraint expenses_one_off_has_no_schedule check (
    kind = 'bill' or (
      amount_mode is null and amount_minor is null and currency is null and frequency is null and every is null and anchor_on is null and month_days is null
      and weekend_rule is null and ends_on is null and ends_after is null and tracked_from is null and next_due is null and status is null and not reminder_enabled
    )
  ),
  constraint expenses_bill_has_schedule check (
    kind = 'one_off' or (
      amount_mode is not null and currency is not null and frequency is not null and every is not null and anchor_on is not null
      and weekend_rule is not null and tracked_from is not null and status is not null
    )
  ),
  constraint expenses_bill_has_amount check (kind = 'one_off' or amount_mode = 'variable' or amount_minor is not null),
  constraint expenses_ended_has_no_due check (status in ('active', 'paused') or next_due is null),
  constraint expenses_ends_after_start check (ends_on >= anchor_on)
) with (fillfactor = 85);
comment on table app.expenses is 'An expense that happened once, or a bill that comes again. What was paid is in payments, what is due in expense_occurrences.';
comment on column app.expenses.url is 'A link to the receipt or the order: http or https, without a name or password in it.';
comment on column app.expenses.anchor_on is 'First scheduled date; every later one is counted from here, never from the one before.';
comment on column app.expenses.month_days is 'Days of the month, -1 for the last; null: the day of the anchor.';
comment on column app.expenses.tracked_from is 'Scheduled dates before this day were never ours to watch and are neither open nor overdue.';
comment on column app.expenses.next_due is 'Due date of the earliest open occurrence on or after today in the owner''s zone; derived, kept by app.refresh_bill.';
comment on column app.expenses.share_bp is 'The organization''s share in hundredths of a percent; payments keep the full amount.';
comment on column app.expenses.external_id is 'The caller''s own id of the thing, unique per source.';
comment on column app.expenses.match_key is
  'To whom the money goes, else what for: what makes two expenses the same. A column, since under row-level security no index on an expression is used.';
comment on column app.expenses.recorded_seq is 'Counts up in the order of recording: which of two came later, whatever the clock said.';
create unique index expenses_external_id_idx on app.expenses (organization_id, source, external_id) where external_id is not null and deleted_at is null;
create index expenses_organization_id_idx on app.expenses (organization_id);
create index expenses_category_id_idx on app.expenses (category_id, organization_id);
create index expenses_currency_idx on app.expenses (currency);
-- Which bills are active? Not by next_due: a bill that rolls moves within its page, and no index, as long as none has the date in it.
create index expenses_active_idx on app.expenses (organization_id) where kind = 'bill' and status = 'active' and deleted_at is null;
-- Which bills are there at all?
create index expenses_bills_idx on app.expenses (organization_id, status, recorded_seq) where kind = 'bill' and deleted_at is null;
-- Which category did this payee, or a thing of this name, have last time?
create index expenses_match_key_idx on app.expenses (organization_id, match_key, recorded_seq) where deleted_at is null;

create table app.expense_occurrences (
  id text collate "C" default app.new_id('occ') constraint expense_occurrences_id_format check (id ~ '^occ_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  scheduled_on date not null,
  due_on date not null,
  expected_minor bigint constraint expense_occurrences_expected_minor_range check (expected_minor between 1 and 1000000000000000),
  currency text not null,
  amount_source text not null default 'rule' constraint expense_occurrences_amount_source_known check (amount_source in ('rule', 'override', 'provider')),
  status text not null default 'open' constraint expense_occurrences_status_known check (status in ('open', 'paid', 'skipped')),
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
comment on table app.expense_occurrences is 'One due date of a bill: expected, then paid or skipped. Rows exist up to the current due date; later dates are computed.';
comment on column app.expense_occurrences.scheduled_on is 'Identity: the date by the schedule alone.';
comment on column app.expense_occurrences.currency is
  'Copied from the bill, whose currency is checked: checking it again takes the job that makes occurrences a tenth longer.';
comment on column app.expense_occurrences.due_on is 'The scheduled date after the weekend rule.';
comment on column app.expense_occurrences.paid_minor is 'Derived: what was paid of it less what came back, so that what is open is read without the payments.';
comment on column app.expense_occurrences.expected_minor is 'Null while the amount of a variable bill is not known.';
create index expense_occurrences_open_idx on app.expense_occurrences (organization_id, due_on) where status = 'open';
-- What is due on a day, whoever's it is?
create index expense_occurrences_due_idx on app.expense_occurrences (due_on, expense_id) where status = 'open';
-- What is to be reminded of again on a day?
create index expense_occurrences_snoozed_until_idx on app.expense_occurrences (snoozed_until) where status = 'open' and snoozed_until is not null;

create table app.payments (
  id text collate "C" primary key default app.new_id('pay') constraint payments_id_format check (id ~ '^pay_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  occurrence_id text collate "C",
  category_id text collate "C",
  direction text not null default 'out' constraint payments_direction_known check (direction in ('out', 'refund')),
  amount_minor bigint not null constraint payments_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  paid_on date not null,
  base_currency text references app.currencies (code),
  base_minor bigint,
  sort_minor bigint not null generated always as (coalesce(base_minor, amount_minor)) stored,
  fx_rate numeric(20, 10) constraint payments_fx_rate_positive check (fx_rate > 0),
  fx_rate_on date,
  fx_source text,
  note text constraint payments_note_length check (length(note) between 1 and 2000),
  source text not null default 'assistant' constraint payments_source_known check (source in ('assistant', 'import', 'autopay')),
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
comment on column app.payments.base_minor is 'The amount in the organization''s base currency at the rate of the payment date; null when no rate was known, never 1:1.';
comment on column app.payments.sort_minor is 'What payments of several currencies are ordered by: their value when they were recorded.';
comment on column app.payments.category_id is 'Derived: the category of the expense or bill, so that totals by category are read from one index.';
comment on column app.payments.recorded_seq is 'Counts up in the order of recording: the order of payments within a day.';
-- What was paid lately, and how much in a time? The included columns answer totals without the table.
create index payments_newest_idx on app.payments (organization_id, paid_on, recorded_seq) include (currency, direction, amount_minor, category_id) where deleted_at is null;
-- What were the largest?
create index payments_largest_idx on app.payments (organization_id, sort_minor, recorded_seq) where deleted_at is null;
create index payments_expense_id_idx on app.payments (expense_id, organization_id);
create index payments_occurrence_id_idx on app.payments (occurrence_id, organization_id);
create index payments_currency_idx on app.payments (currency);
create index payments_base_currency_idx on app.payments (base_currency);

create table app.fx_rates (
  quote text not null references app.currencies (code),
  rate_on date not null,
  source text not null constraint fx_rates_source_length check (length(source) between 1 and 40),
  rate numeric(20, 10) not null constraint fx_rates_rate_positive check (rate > 0),
  fetched_at timestamptz not null default app.instant(),
  primary key (quote, rate_on, source)
);
comment on table app.fx_rates is 'How much of a currency one euro bought on a day, by source. Never updated in place.';

create table app.provider_links (
  id text collate "C" primary key default app.new_id('lnk') constraint provider_links_id_format check (id ~ '^lnk_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  provider_key text not null constraint provider_links_provider_key_format check (provider_key ~ '^[a-z0-9_]{2,40}$'),
  account_label text not null constraint provider_links_account_label_length check (length(account_label) between 1 and 120),
  status text not null default 'pending' constraint provider_links_status_known check (status in ('pending', 'active', 'needs_reauth', 'paused', 'revoked')),
  last_success_period date constraint provider_links_last_success_period_first check (extract(day from last_success_period) = 1),
  last_error_code text,
  consecutive_failures int not null default 0,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade
);
comment on table app.provider_links is 'Where a variable bill''s amount comes from. The label is masked; the credential is not kept here.';
create unique index provider_links_one_per_bill_idx on app.provider_links (expense_id) where status <> 'revoked';
create index provider_links_expense_id_idx on app.provider_links (expense_id, organization_id);

create table app.change_sets (
  id text collate "C" primary key default app.new_id('chg') constraint change_sets_id_format check (id ~ '^chg_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  client_name text,
  tool text not null,
  facts jsonb not null default '{}',
  undoes text references app.change_sets (id) on delete set null,
  undone_by text references app.change_sets (id) on delete set null,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant()
);
comment on table app.change_sets is 'One write of one tool, by whom and with which client; undone as a whole or not at all.';
comment on column app.change_sets.facts is 'What it did, by tool: counts, names, totals by currency. Words are made of it when it is shown.';
comment on column app.change_sets.recorded_seq is 'Counts up in the order of recording: the latest change is the one with the highest.';
create index change_sets_newest_idx on app.change_sets (organization_id, recorded_seq);
create index change_sets_undoes_idx on app.change_sets (undoes);
create index change_sets_undone_by_idx on app.change_sets (undone_by);

create table app.change_items (
  change_id text not null references app.change_sets (id) on delete cascade,
  position bigint generated always as identity,
  organization_id text collate "C" not null,
  table_name text not null constraint change_items_table_name_known check (
    table_name in ('categories', 'expenses', 'expense_occurrences', 'payments', 'provider_links', 'settings')
  ),
  row_id text not null,
  before jsonb,
  after jsonb,
  primary key (change_id, position)
);
comment on table app.change_items is 'Each row of a change as it was and as it became. Written by the capture trigger; by a tool only what is no row that it could put back: settings and ended provider links.';

create table app.idempotency_keys (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  tool text not null,
  key text not null constraint idempotency_keys_key_length check (length(key) between 8 and 128),
  arguments_hash bytea not null,
  result jsonb not null,
  expires_at timestamptz not null,
  primary key (organization_id, actor_id, tool, key)
);
comment on table app.idempotency_keys is 'First result of a call that carried a key, for 24 hours.';
create index idempotency_keys_expires_at_idx on app.idempotency_keys (expires_at);

-- Columns that follow from other rows or from the calendar, and what counts their changes.
create function app.derived_columns(table_name text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array['next_due', 'version', 'updated_at'] || case table_name
    when 'payments' then array['category_id', 'sort_minor']
    when 'expenses' then array['match_key']
    when 'expense_occurrences' then array['paid_minor']
    else '{}'
  end;
end
$$;

-- A version says that somebody changed a row: derived columns do not count.
create function app.bump_version() returns trigger
language plpgsql set search_path = '' as $$
declare
  derived constant text[] := app.derived_columns(tg_table_name);
begin
  if to_jsonb(new) - derived is distinct from to_jsonb(old) - derived then
    new.version := old.version + 1;
    new.updated_at := app.instant();
  end if;
  return new;
end
$$;

-- Records what a tool's write did, whatever tool it is: nothing can be written in a change and escape its undo.
create function app.capture_change() returns trigger
language plpgsql set search_path = '' as $$
declare
  change text := nullif(current_setting('app.change_id', true), '');
begin
  -- An unchanged version means that only derived columns moved: nothing that anybody did.
  if change is not null and (tg_op <> 'UPDATE' or new.version <> old.version) then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    values (
      change, coalesce(new.organization_id, old.organization_id), tg_table_name, coalesce(new.id, old.id),
      case when tg_op <> 'INSERT' then to_jsonb(old) end,
      case when tg_op <> 'DELETE' then to_jsonb(new) end
    );
  end if;
  return null;
end
$$;
create function app.copy_category() returns trigger
language plpgsql set search_path = '' as $$
begin
  select e.category_id into new.category_id from app.expenses as e where e.id = new.expense_id;
  return new;
end
$$;

create function app.propagate_category() returns trigger
language plpgsql set search_path = '' as $$
begin
  update app.payments as p set category_id = new.category_id where p.expense_id = new.id and p.category_id is distinct from new.category_id;
  return null;
end
$$;

create function app.sync_paid_minor() returns trigger
language plpgsql set search_path = '' as $$
declare
  touched text;
begin
  foreach touched in array array_remove(array[case when tg_op <> 'DELETE' then new.occurrence_id end, case when tg_op <> 'INSERT' then old.occurrence_id end], null) loop
    update app.expense_occurrences as o set paid_minor = paid.minor
    from (
      select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)::bigint as minor
      from app.payments as p
      where p.occurrence_id = touched and p.deleted_at is null
    ) as paid
    where o.id = touched and o.paid_minor <> paid.minor;
  end loop;
  return null;
end
$$;

revoke all on function app.derived_columns, app.bump_version, app.capture_change, app.copy_category, app.propagate_category, app.sync_paid_minor from public, anon;
grant execute on function app.derived_columns, app.bump_version, app.capture_change, app.copy_category, app.propagate_category, app.sync_paid_minor to authenticated, service_role;

create trigger copy_category before insert on app.payments for each row execute function app.copy_category();
create trigger sync_paid_minor after insert or delete or update of occurrence_id, amount_minor, direction, deleted_at on app.payments
  for each row execute function app.sync_paid_minor();
create trigger propagate_category after update of category_id on app.expenses for each row execute function app.propagate_category();

do $$
declare
  tracked text;
  columns text;
begin
  foreach tracked in array array['categories', 'expenses', 'expense_occurrences', 'payments'] loop
    -- Updates of derived columns alone, such as rolling a million bills, are nobody's change and need not be looked at.
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) into columns
    from pg_attribute as a
    where a.attrelid = ('app.' || tracked)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and a.attname <> all (app.derived_columns(tracked));
    execute format('create trigger bump_version before update of %s on app.%I for each row execute function app.bump_version()', columns, tracked);
    execute format(
      $trigger$create trigger capture_change after insert or delete or update of %s on app.%I for each row
        when (nullif(current_setting('app.change_id', true), '') is not null) execute function app.capture_change()$trigger$, columns, tracked
    );
  end loop;
end
$$;

-- Access: members reach the rows of the organization their token is bound to, and nothing else.
alter table app.categories enable row level security;
alter table app.expenses enable row level security;
alter table app.expense_occurrences enable row level security;
alter table app.payments enable row level security;
alter table app.fx_rates enable row level security;
alter table app.provider_links enable row level security;
alter table app.change_sets enable row level security;
alter table app.change_items enable row level security;
alter table app.idempotency_keys enable row level security;

create policy "Members can use their organization's categories" on app.categories
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can use their organization's expenses" on app.expenses
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can use their organization's occurrences" on app.expense_occurrences
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can use their organization's payments" on app.payments
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Signed-in people can read the exchange rates" on app.fx_rates
  for select to authenticated using ((select auth.uid()) is not null);
create policy "Members can read their organization's provider links" on app.provider_links
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can read their organization's changes" on app.change_sets
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can record their own changes" on app.change_sets
  for insert to authenticated
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "Members can describe and undo their organization's changes" on app.change_sets
  for update to authenticated
  using (organization_id = (select identity.current_organization_id()))
  with check (organization_id = (select identity.current_organization_id()));
create policy "Members can drop a change of theirs that wrote nothing" on app.change_sets
  for delete to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "Members can read their organization's change items" on app.change_items
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can record items of their organization's changes" on app.change_items
  for insert to authenticated with check (organization_id = (select identity.current_organization_id()));
create policy "People can use their own idempotency keys" on app.idempotency_keys
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));

grant select, insert, update, delete on
  app.categories, app.expenses, app.expense_occurrences, app.payments, app.fx_rates, app.provider_links,
  app.change_sets, app.change_items, app.idempotency_keys to service_role;
grant select, insert, update, delete on app.categories, app.expenses, app.expense_occurrences, app.payments, app.idempotency_keys to authenticated;
grant select on app.fx_rates, app.provider_links to authenticated;
grant select, insert, update (facts, undoes, undone_by), delete on app.change_sets to authenticated;
grant select, insert on app.change_items to authenticated;
