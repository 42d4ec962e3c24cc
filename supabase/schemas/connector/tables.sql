create table app.change_sets (
  id text collate "C" primary key default app.new_id('chg')
    constraint change_sets_id_format check (id ~ '^chg_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  grant_id uuid,
  client_name text,
  tool text not null,
  facts jsonb not null default '{}',
  undoes text collate "C" references app.change_sets (id) on delete set null,
  undone_by text collate "C" references app.change_sets (id) on delete set null,
  is_emptied boolean not null default false,
  proposal_id text collate "C",
  moved jsonb,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant()
);
comment on column app.change_sets.proposal_id is
  'The proposal that was approved, if any; it may have been purged since.';
comment on column app.change_sets.moved is
  'The size of the change (app.measure_change), if it was checked against limits.';
comment on table app.change_sets is
  'One write by one tool, with its person and client; undone completely or not at all.';
comment on column app.change_sets.grant_id is
  'The connection that made it, for "undo that"; it may have been purged since.';
comment on column app.change_sets.facts is
  'Its effects, by tool: counts, names, totals by currency. TypeScript turns them into sentences. about has the ids of '
  'the categories that the facts mention, even if the change did not touch them (app.list_subjects).';
comment on column app.change_sets.recorded_seq is
  'Increases in the order of recording: the latest change has the highest number.';
create index change_sets_newest_idx on app.change_sets (organization_id, recorded_seq);
create index change_sets_grant_id_idx on app.change_sets (grant_id, recorded_seq) where grant_id is not null;
comment on column app.change_sets.is_emptied is
  'Whether it is too old to undo: its rows and facts are deleted; author, time and tool stay.';
create index change_sets_full_idx on app.change_sets (created_at) where not is_emptied;
create index change_sets_created_at_idx on app.change_sets (created_at);
create index change_sets_undoes_idx on app.change_sets (undoes);
create index change_sets_undone_by_idx on app.change_sets (undone_by);

create table app.change_items (
  change_id text collate "C" not null references app.change_sets (id) on delete cascade,
  position bigint generated always as identity,
  organization_id text collate "C" not null,
  table_name text not null constraint change_items_table_name_known check (
    table_name
      in ('balances', 'budgets', 'categories', 'documents', 'expenses', 'expense_occurrences', 'incomes', 'payee_rules',
      'payments', 'provider_links', 'settings', 'settlements')
  ),
  row_id text not null,
  before jsonb,
  after jsonb,
  primary key (change_id, position)
);
comment on table app.change_items is
  'Each row of a change before and after. The capture trigger writes it; tools add only effects without a captured '
  'row: settings and ended provider links.';

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
comment on table app.idempotency_keys is
  'The first result of a call with a key, stored as long as app.retention specifies.';
create index idempotency_keys_expires_at_idx on app.idempotency_keys (expires_at);

-- Columns derived from other rows or the calendar, and version counters.
create or replace function app.derived_columns(table_name text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array['next_due', 'version', 'updated_at'] || case table_name
    when 'payments' then array['category_id', 'sort_minor', 'base_currency', 'base_minor', 'fx_rate', 'fx_rate_on',
      'fx_source', 'is_final']
    when 'expenses' then array['match_key']
    when 'payee_rules' then array['words']
    when 'incomes' then array['line_id']
    when 'expense_occurrences' then array['paid_minor']
    else '{}'
  end;
end
$$;
