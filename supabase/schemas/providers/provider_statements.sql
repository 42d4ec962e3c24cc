-- Statements from providers: one row for each link, month and content. judge_statement.sql applies them to due
-- dates.

create table app.provider_statements (
  id text collate "C" primary key default app.new_id('stm')
    constraint provider_statements_id_format check (id ~ '^stm_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  link_id text collate "C" not null,
  period date not null constraint provider_statements_period_first check (extract(day from period) = 1),
  amount_minor bigint not null
    constraint provider_statements_amount_minor_range check (amount_minor between 0 and 1000000000000000),
  currency text not null references app.currencies (code),
  due_on date,
  payload_sha256 text not null
    constraint provider_statements_payload_sha256_format check (payload_sha256 ~ '^[0-9a-f]{64}$'),
  status text not null
    constraint provider_statements_status_known check (status in ('applied', 'needs_review', 'superseded', 'ignored')),
  reason text
    constraint provider_statements_reason_known
    check (reason in ('unusual', 'other_currency', 'paid', 'skipped', 'nothing_to_pay', 'not_due')),
  usual_minor bigint,
  occurrence_id text collate "C",
  fetched_at timestamptz not null,
  unique (link_id, period, payload_sha256),
  foreign key (link_id, organization_id) references app.provider_links (id, organization_id) on delete cascade,
  foreign key (occurrence_id, organization_id)
    references app.expense_occurrences (id, organization_id) on delete set null (occurrence_id),
  constraint provider_statements_reason_given check (status = 'superseded' or (status = 'applied') = (reason is null))
);
comment on table app.provider_statements is
  'Amounts that a provider reported for a month. At most one per link and month counts and supersedes the others.';
comment on column app.provider_statements.period is
  'The calendar month of consumption in UTC, as its first day; the bill is due in the following month.';
comment on column app.provider_statements.due_on is
  'The provider''s due date, if it names one; the bill keeps its own dates.';
comment on column app.provider_statements.payload_sha256 is
  'Hex digest of amount, currency and due date; detects repeated statements.';
comment on column app.provider_statements.status is
  'applied: the occurrence has this amount. needs_review: shown but not applied, for the reason given. ignored: no due '
  'date exists. superseded: another statement counts.';
comment on column app.provider_statements.usual_minor is 'The median amount that the comparison used.';
create unique index provider_statements_one_counts_idx on app.provider_statements (link_id, period)
  where status <> 'superseded';
create index provider_statements_link_id_idx on app.provider_statements (link_id, organization_id);
create index provider_statements_occurrence_id_idx on app.provider_statements (occurrence_id, organization_id);
create index provider_statements_currency_idx on app.provider_statements (currency);

alter table app.provider_statements enable row level security;
create policy "Members can read their organization's statements" on app.provider_statements
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  );
create policy "Members can keep what providers say" on app.provider_statements
  for insert to authenticated with check (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  );
create policy "Members can say which statement counts" on app.provider_statements
  for update to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or link_id in (select l.id from app.provider_links as l)
    )
  );
grant select, insert, update, delete on app.provider_statements to service_role;
grant select, insert, update (status, reason, usual_minor, occurrence_id, fetched_at) on app.provider_statements
  to authenticated;
