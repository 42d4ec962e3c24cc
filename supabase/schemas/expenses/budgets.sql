create table app.budgets (
  id text collate "C" primary key default app.new_id('bud')
    constraint budgets_id_format check (id ~ '^bud_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  category_id text collate "C",
  per text not null constraint budgets_per_known check (per in ('month', 'year')),
  amount_minor bigint not null
    constraint budgets_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  carries_over boolean not null default false,
  starts_on date not null constraint budgets_starts_on_first check (extract(day from starts_on) = 1),
  opening_minor bigint not null default 0,
  deleted_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  foreign key (category_id, organization_id) references app.categories (id, organization_id)
);
comment on table app.budgets is
  'A limit on the spending of each month or year in one category, or in all when category_id is null.';
comment on column app.budgets.starts_on is
  'The first month or year with the current settings; carry-over starts here.';
comment on column app.budgets.opening_minor is
  'The carry-over at the start of the current settings; negative when overspent. A new limit doesn''t change earlier '
  'months.';
create unique index budgets_one_each_idx on app.budgets (organization_id, coalesce(category_id, ''), per)
  where deleted_at is null;
create index budgets_organization_id_idx on app.budgets (organization_id);
create index budgets_category_id_idx on app.budgets (category_id, organization_id);
create index budgets_currency_idx on app.budgets (currency);
