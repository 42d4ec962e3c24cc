-- Calendar feeds: addresses that return a person's due dates. Invariants: only the SHA-256 of the token is stored; a
-- person has one address per organization; the address ends with the membership. Row-level security is on without
-- policies: only the service reads the table.

create table identity.calendar_feeds (
  organization_id text collate "C" not null,
  user_id uuid not null,
  token_hash bytea not null unique constraint calendar_feeds_token_hash_length check (octet_length(token_hash) = 32),
  show_amounts boolean not null default false,
  created_at timestamptz not null,
  primary key (organization_id, user_id),
  constraint calendar_feeds_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade
);
comment on table identity.calendar_feeds is
  'Calendar feed addresses. Each read checks whether the address is still valid.';
comment on column identity.calendar_feeds.show_amounts is
  'Whether the calendar shows amounts; off by default, because calendars are often shared.';
create index calendar_feeds_user_id_idx on identity.calendar_feeds (user_id);
alter table identity.calendar_feeds enable row level security;
grant select, insert, update, delete on identity.calendar_feeds to service_role;
