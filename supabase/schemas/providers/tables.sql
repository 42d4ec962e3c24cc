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
  unique (id, organization_id),
  foreign key (expense_id, organization_id) references app.expenses (id, organization_id) on delete cascade
);
comment on table app.provider_links is
  'Where a variable bill''s amount comes from. The label is masked; the credential is not kept here.';
create unique index provider_links_one_per_bill_idx on app.provider_links (expense_id) where status <> 'revoked';
create index provider_links_expense_id_idx on app.provider_links (expense_id, organization_id);
