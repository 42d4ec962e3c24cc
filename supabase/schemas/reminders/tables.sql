-- Reminders: the bills with a due reminder, their digests, and the log that prevents duplicates.

-- Finds bills that set an unusually long lead time.
create index expenses_long_lead_idx on app.expenses (id)
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and remind_days_before > 7;
create index profiles_long_lead_idx on identity.profiles (user_id) where default_lead_days > 7;

-- Finds ending trials, contracts that renew or can be cancelled, and yearly bills.
create or replace function app.day_of_year(day date) returns int
language sql immutable
  return (extract(month from day)::int - 1) * 31 + extract(day from day)::int - 1;
comment on function app.day_of_year is
  'Returns a day of the year as if every month had 31 days, so that a date has the same number in every year.';
create index expenses_trial_ends_on_idx on app.expenses (trial_ends_on)
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and trial_ends_on is not null;
create index expenses_renewal_day_idx on app.expenses (app.day_of_year(renews_on))
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and renews_on is not null;
create index expenses_cancel_day_idx on app.expenses (app.day_of_year(renews_on - notice_days))
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and notice_days is not null;
create index expenses_contract_idx on app.expenses (id)
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and contract is not null;
create index expenses_yearly_day_idx on app.expenses (app.day_of_year(anchor_on))
  where kind = 'bill' and status = 'active' and deleted_at is null and reminder_enabled and frequency = 'yearly'
    and renews_on is null;

create or replace function identity.reminder_address(profile identity.profiles) returns text
language sql immutable
  return case when (profile).reminder_email_confirmed_at is not null then (profile).reminder_email else (profile).email
    end;
comment on function identity.reminder_address is
  'Returns a person''s address for reminders: the chosen one once it is confirmed, until then the sign-in address.';

create table jobs.reminder_batches (
  id uuid primary key,
  lease_token uuid,
  leased_at timestamptz not null,
  next_attempt_at timestamptz not null,
  attempts int not null default 1,
  unsure_since timestamptz
);
comment on table jobs.reminder_batches is
  'Digests that are sent together: always the same digests with the same text, until their outcome is known.';
comment on column jobs.reminder_batches.lease_token is
  'Identifies the sender. If it is still set after next_attempt_at, the sender has died, and its progress is unknown.';
comment on column jobs.reminder_batches.unsure_since is 'The time of the first attempt without an answer.';
create index reminder_batches_next_attempt_at_idx on jobs.reminder_batches (next_attempt_at);

create table jobs.reminder_digests (
  id uuid primary key default gen_random_uuid(),
  recipient_id uuid not null references identity.profiles (user_id) on delete cascade,
  local_on date not null,
  status text not null default 'pending'
    constraint reminder_digests_status_known check (status in ('pending', 'sent', 'dead', 'unknown')),
  batch_id uuid references jobs.reminder_batches (id) on delete set null,
  content jsonb,
  sent_alone boolean not null default false,
  attempts int not null default 0,
  next_attempt_at timestamptz not null,
  failure_code text,
  created_at timestamptz not null,
  closed_at timestamptz,
  unique (recipient_id, local_on),
  constraint reminder_digests_closed_dated check ((status = 'pending') = (closed_at is null))
);
comment on table jobs.reminder_digests is
  'One mail to a person about due bills in all their organizations; at most one per local day.';
comment on column jobs.reminder_digests.local_on is
  'The recipient''s date when it was created; one day after the previous one if they travelled back to a date that '
  'already had its digest.';
comment on column jobs.reminder_digests.status is
  'dead: permanently refused; unknown: sent, without an answer for a day.';
comment on column jobs.reminder_digests.content is
  'Recipient and content of the mail, from the first attempt until its outcome is known.';
-- Finds expired digests.
create index reminder_digests_created_at_idx on jobs.reminder_digests (created_at);
create index reminder_digests_batch_id_idx on jobs.reminder_digests (batch_id);
create index reminder_digests_pending_idx on jobs.reminder_digests (next_attempt_at, id)
  where status = 'pending' and batch_id is null;

create table jobs.reminder_log (
  id bigint primary key generated always as identity,
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  due_on date not null,
  snoozed_until date,
  digest_id uuid not null references jobs.reminder_digests (id) on delete cascade,
  sent_at timestamptz,
  voided_at timestamptz,
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint reminder_log_sent_or_void check (sent_at is null or voided_at is null)
);
comment on table jobs.reminder_log is
  'One row for each expense, due date and snooze day in a digest to the owner; sent when sent_at is set. Voided rows '
  'don''t count.';
comment on column jobs.reminder_log.snoozed_until is
  'The new day of a postponed reminder; null if it was not postponed.';
create unique index reminder_log_once_idx
  on jobs.reminder_log (expense_id, due_on, snoozed_until) nulls not distinct where voided_at is null;
create index reminder_log_expense_id_idx on jobs.reminder_log (expense_id, organization_id);
create index reminder_log_digest_id_idx on jobs.reminder_log (digest_id);

create table jobs.notice_log (
  id bigint primary key generated always as identity,
  recipient_id uuid not null references identity.profiles (user_id) on delete cascade,
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  expense_id text collate "C",
  budget_id text collate "C" references app.budgets (id) on delete cascade,
  kind text not null
    constraint notice_log_kind_known check (
      kind in (
        'trial', 'trial_charged', 'cancel_by', 'renewal', 'price_rise', 'awaited', 'overdue', 'due', 'reminder',
        'snoozed', 'budget_80', 'budget_100', 'plan_end', 'low_balance'
      )
    ),
  about_on date not null,
  tell_on date not null,
  digest_id uuid not null references jobs.reminder_digests (id) on delete cascade,
  sent_at timestamptz,
  voided_at timestamptz,
  account_id text collate "C",
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  foreign key (account_id, organization_id) references app.accounts (id, organization_id) on delete cascade,
  constraint notice_log_account_low check (account_id is null or kind = 'low_balance'),
  constraint notice_log_sent_or_void check (sent_at is null or voided_at is null),
  constraint notice_log_about_one check ((budget_id is not null) = (kind in ('budget_80', 'budget_100'))
    and (expense_id is not null) = (kind not in ('budget_80', 'budget_100', 'plan_end', 'low_balance')))
);
comment on table jobs.notice_log is
  'One row for each one-time notice about a bill, budget, balance or plan and its date. Voided rows don''t count.';
comment on column jobs.notice_log.kind is
  'reminder and snoozed: sent to a member; the owner''s are in the reminder log.';
comment on column jobs.notice_log.about_on is
  'For a budget, the first day of its month or year; for a balance, the expected day of its fall.';
comment on column jobs.notice_log.account_id is 'The account whose balance falls; null for all accounts together.';
comment on column jobs.notice_log.tell_on is 'The earliest time for sending it; a date may have several notices.';
create unique index notice_log_once_idx on jobs.notice_log (expense_id, recipient_id, kind, about_on, tell_on)
  where voided_at is null;
create unique index notice_log_budget_once_idx on jobs.notice_log (budget_id, recipient_id, kind, about_on)
  where voided_at is null;
create unique index notice_log_plan_end_once_idx on jobs.notice_log (organization_id, recipient_id, about_on)
  where kind = 'plan_end' and voided_at is null;
create unique index notice_log_low_balance_once_idx
  on jobs.notice_log (organization_id, recipient_id, account_id, about_on, tell_on) nulls not distinct
  where kind = 'low_balance' and voided_at is null;
create index notice_log_account_id_idx on jobs.notice_log (account_id, organization_id);
create index notice_log_organization_id_idx on jobs.notice_log (organization_id);
create index notice_log_budget_id_idx on jobs.notice_log (budget_id);
create index notice_log_expense_id_idx on jobs.notice_log (expense_id, organization_id);
create index notice_log_recipient_id_idx on jobs.notice_log (recipient_id);
create index notice_log_digest_id_idx on jobs.notice_log (digest_id);

alter table jobs.reminder_batches enable row level security;
alter table jobs.reminder_digests enable row level security;
alter table jobs.reminder_log enable row level security;
alter table jobs.notice_log enable row level security;
grant select, insert, update, delete on
  jobs.reminder_batches, jobs.reminder_digests, jobs.reminder_log, jobs.notice_log to service_role;
