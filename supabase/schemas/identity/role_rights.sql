-- The rights of roles, as one table that policies and functions read. Invariants: every role that can write can read;
-- the owner has every right.

create table identity.role_rights (
  role text not null constraint role_rights_role_known check (role in ('owner', 'manager', 'member', 'viewer')),
  "right" text not null constraint role_rights_right_known check ("right" in (
    'books:write', 'books:private', 'books:export', 'settings:write', 'members:manage', 'providers:manage',
    'plan:manage', 'organization:manage', 'approvals:decide', 'approvals:manage'
  )),
  primary key (role, "right")
);
comment on table identity.role_rights is
  'The rights of each role beyond reading, one per row. docs/roles.md shows them to people.';
alter table identity.role_rights enable row level security;
create policy "Signed-in people can read what a role may do" on identity.role_rights
  for select to authenticated using ((select auth.uid()) is not null);
grant select on identity.role_rights to authenticated, service_role;

insert into identity.role_rights (role, "right") values
  ('owner', 'books:write'),
  ('owner', 'books:private'),
  ('owner', 'books:export'),
  ('owner', 'settings:write'),
  ('owner', 'members:manage'),
  ('owner', 'providers:manage'),
  ('owner', 'plan:manage'),
  ('owner', 'organization:manage'),
  ('owner', 'approvals:decide'),
  ('owner', 'approvals:manage'),
  ('manager', 'books:write'),
  ('manager', 'books:private'),
  ('manager', 'books:export'),
  ('manager', 'settings:write'),
  ('manager', 'members:manage'),
  ('manager', 'approvals:decide'),
  ('member', 'books:write'),
  ('viewer', 'books:export');
