create table app.provider_links (
  id text collate "C" primary key default app.new_id('lnk')
    constraint provider_links_id_format check (id ~ '^lnk_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  provider_key text not null constraint provider_links_provider_key_format check (provider_key ~ '^[a-z0-9_]{2,40}$'),
  account_label text not null
    constraint provider_links_account_label_length check (length(account_label) between 1 and 120),
  status text not null default 'pending'
    constraint provider_links_status_known check (status in ('pending', 'active', 'needs_reauth', 'paused', 'revoked')),
  last_success_period date
    constraint provider_links_last_success_period_first check (extract(day from last_success_period) = 1),
  last_error_code text,
  consecutive_failures int not null default 0,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  provider_name text
    constraint provider_links_provider_name_length check (length(provider_name) between 1 and 60),
  asked_at timestamptz,
  ask_after timestamptz,
  backlog date[] not null default '{}',
  lease_token uuid,
  leased_until timestamptz,
  resumes_as text
    constraint provider_links_resumes_as_known check (resumes_as in ('pending', 'active', 'needs_reauth')),
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade,
  constraint provider_links_resumes_when_paused check (resumes_as is null or status in ('paused', 'revoked'))
);
comment on table app.provider_links is
  'The source of a variable bill''s amount. The label is masked; the credential is stored elsewhere.';
comment on column app.provider_links.provider_name is
  'The provider''s display name, as its adapter reported it at the last query or connection.';
comment on column app.provider_links.asked_at is 'The time of the last query, regardless of its result.';
comment on column app.provider_links.ask_after is 'The end of the pause that the provider requested.';
comment on column app.provider_links.backlog is
  'Months before the last one, by their first day, that still have to be queried because their dates have no amount. '
  'Set at the first query in a month.';
comment on column app.provider_links.lease_token is
  'The lease of the running request; only its holder may settle the link. After leased_until the holder counts as '
  'dead.';
comment on column app.provider_links.last_success_period is 'The latest month with a statement, as its first day.';
comment on column app.provider_links.resumes_as is
  'The status before the plan ended, while the link is paused for that reason. Null when a person paused it; then '
  'payments don''t resume it.';
create unique index provider_links_one_per_bill_idx on app.provider_links (expense_id) where status <> 'revoked';
create index provider_links_expense_id_idx on app.provider_links (expense_id, organization_id);
create index provider_links_organization_id_idx on app.provider_links (organization_id);
-- Finds the least recently queried links.
create index provider_links_asked_at_idx on app.provider_links (asked_at nulls first, id) where status = 'active';
grant
  update (provider_name, asked_at, ask_after, backlog, lease_token, leased_until, last_success_period,
  last_error_code, consecutive_failures)
  on app.provider_links to authenticated;
