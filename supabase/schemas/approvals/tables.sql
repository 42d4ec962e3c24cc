-- Approval rules of organizations, and the writes that wait for approval. Invariants: only the answer of a proposal
-- changes, and only once; the approver saw the effects, and an approved run writes exactly these. Organizations without
-- rules skip all of this.

create table app.approval_rules (
  id text collate "C" primary key default app.new_id('rule')
    constraint approval_rules_id_format check (id ~ '^rule_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  tool text,
  roles text[] not null constraint approval_rules_roles_known check (
    cardinality(roles) >= 1 and cardinality(roles) <= 3 and roles <@ array['owner', 'manager', 'member']
  ),
  over_minor bigint constraint approval_rules_over_minor_range check (over_minor between 0 and 1000000000000000),
  currency text references app.currencies (code),
  over_records int constraint approval_rules_over_records_range check (over_records between 0 and 1000000),
  approver text not null constraint approval_rules_approver_known check (approver in ('manager', 'owner')),
  created_at timestamptz not null default app.instant(),
  constraint approval_rules_amount_has_currency check ((over_minor is null) = (currency is null))
);
comment on table app.approval_rules is
  'Writes that need approval, by tool (null: any) and role. With an amount or a number of records, only larger writes '
  'need it; a person''s writes add up over 24 hours.';
comment on column app.approval_rules.approver is
  'The people who can approve: everybody with the right approvals:decide, or only the owner.';
create index approval_rules_organization_id_idx on app.approval_rules (organization_id);
create index approval_rules_currency_idx on app.approval_rules (currency);

create table app.proposals (
  id text collate "C" primary key default app.new_id('prop')
    constraint proposals_id_format check (id ~ '^prop_[0-9a-z]+$' and length(id) between 12 and 37),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  grant_id uuid,
  client_name text,
  tool text not null,
  arguments jsonb not null,
  proposed_on date not null,
  reasons jsonb not null,
  approver text not null constraint proposals_approver_known check (approver in ('manager', 'owner')),
  facts jsonb not null,
  effects jsonb not null,
  fingerprint text not null,
  hash text not null,
  state text not null default 'pending' constraint proposals_state_known check (
    state in ('pending', 'approved', 'refused', 'withdrawn', 'stale')
  ),
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  decided_through text constraint proposals_decided_through_known check (decided_through in ('page', 'assistant')),
  change_id text collate "C" references app.change_sets (id) on delete set null,
  problem jsonb,
  result jsonb,
  constraint proposals_decided_once check ((state = 'pending') = (decided_at is null))
);
comment on table app.proposals is
  'Writes that wait or waited for approval: the request, its proposer and its exact effects.';
comment on column app.proposals.proposed_on is
  'The day of the proposal, from which relative days such as "yesterday" count.';
comment on column app.proposals.reasons is 'The rules that the write exceeds, as returned by app.judge_moved.';
comment on column app.proposals.facts is 'The facts of the change, which TypeScript turns into a description.';
comment on column app.proposals.effects is 'The effects on each record, before and after, as in app.read_effects.';
comment on column app.proposals.fingerprint is
  'A hash of the rows that the write would add and replace, without values that differ in each run. The approved run '
  'must produce the same hash.';
comment on column app.proposals.hash is
  'A hash of the whole proposal. An answer repeats it to identify the version that the person saw.';
comment on column app.proposals.problem is
  'The error code of an approved write that failed; proposer_gone if the proposal was withdrawn with its proposer.';
comment on column app.proposals.result is 'The tool''s answer to the write.';
create index proposals_organization_id_idx on app.proposals (organization_id, created_at desc);
create index proposals_pending_idx on app.proposals (organization_id, actor_id) where state = 'pending';
create index proposals_grant_id_idx on app.proposals (grant_id) where state = 'pending';
create index proposals_change_id_idx on app.proposals (change_id);
create index proposals_expires_at_idx on app.proposals (expires_at);

-- Finds the writes of a person within a day.
create index change_sets_actor_id_idx on app.change_sets (organization_id, actor_id, created_at);

alter table app.approval_rules enable row level security;
alter table app.proposals enable row level security;
create policy "Members can read what their organization wants approved" on app.approval_rules
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "People can read their proposals, and those they may decide" on app.proposals
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (actor_id = (select auth.uid()) or (select identity.may('approvals:decide')))
  );
create policy "People can propose" on app.proposals
  for insert to authenticated with check (
    organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid())
    and state = 'pending' and (select identity.may('books:write'))
  );
grant select on app.approval_rules to authenticated;
grant select, insert on app.proposals to authenticated;
grant update (moved) on app.change_sets to authenticated;
grant select, insert, update, delete on app.approval_rules, app.proposals to service_role;
