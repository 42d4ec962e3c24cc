-- OAuth: registered clients, consents and grants, spent codes and valid tokens. Invariants: neither tokens nor codes
-- are stored, only SHA-256 digests and code ids; a grant cannot outlive its membership, nor a token its grant; a code
-- is redeemed once; a refresh token has one successor. Row-level security is on without policies: only the service uses
-- these tables.

create table oauth.clients (
  client_id text primary key
    constraint clients_client_id_format check (client_id ~ '^(client_|https://)' and octet_length(client_id) <= 512),
  client_name text not null constraint clients_client_name_length check (length(client_name) between 1 and 200),
  redirect_uris text[] not null
    constraint clients_redirect_uris_count check (cardinality(redirect_uris) between 1 and 10),
  registered_by text constraint clients_registered_by_length check (length(registered_by) <= 100),
  created_at timestamptz not null,
  granted_at timestamptz,
  -- Anybody can store these rows. A row stays under 4 kB, including its indexes and the id of a document's client,
  -- which is stored in four places.
  constraint clients_metadata_size
    check (octet_length(client_name) + octet_length(array_to_string(redirect_uris, '')) <= 2048),
  constraint clients_registered_by_forgotten check (granted_at is null or registered_by is null)
);
comment on table oauth.clients is
  'Public clients: self-registered (RFC 7591), or known by their published metadata. They have no secret, and their '
  'metadata is unverified.';
comment on column oauth.clients.client_id is
  'client_… as issued at registration, or the https URL of a metadata document, whose host vouches for its contents.';
comment on column oauth.clients.client_name is 'The client''s self-given name, without control and direction marks.';
comment on column oauth.clients.redirect_uris is
  'Compared exactly, except for the port of http on loopback (RFC 8252 section 7.3).';
comment on column oauth.clients.registered_by is
  'Keyed hash of the caller whose limit includes it until somebody authorizes it; null if no limit does.';
comment on column oauth.clients.granted_at is
  'The first authorization. Until then, newer clients may displace it (oauth.make_room), and it is purged within a '
  'week; afterwards it stays.';
create index clients_oldest_ungranted_idx on oauth.clients (created_at) where granted_at is null;
create index clients_registered_by_idx on oauth.clients (registered_by, created_at) where granted_at is null;

create table oauth.ungranted_counts (
  caller text collate "C",
  part integer,
  kept integer not null,
  primary key (caller, part)
);
comment on table oauth.ungranted_counts is
  'The number of stored clients without authorization, in total and per caller. Counting them at each registration '
  'would cost most during a flood.';
comment on column oauth.ungranted_counts.caller is
  'As clients.registered_by; * for all clients, including those without a caller.';
comment on column oauth.ungranted_counts.part is
  'Each count is split into parts for a few sessions each, so that registrations do not queue. A single part may be '
  'negative.';

create table oauth.grants (
  id uuid primary key default gen_random_uuid(),
  client_id text not null constraint grants_client_id_fkey references oauth.clients (client_id) on delete cascade,
  user_id uuid not null,
  organization_id text collate "C" not null,
  redirect_uri text not null,
  resource text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revocation_reason text constraint grants_revocation_reason_known
    check (
      revocation_reason
      in ('code_replayed', 'refresh_token_replayed', 'revoked_by_client', 'revoked_by_user', 'too_many')),
  alert_seen_at timestamptz,
  access text not null default 'write' constraint grants_access_known check (access in ('read', 'write')),
  may_subscribe boolean not null default true,
  constraint grants_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint grants_revocation_explained check ((revoked_at is null) = (revocation_reason is null))
);
comment on table oauth.grants is
  'One consent: the access of one client to one organization for one person. A client can have several grants.';
comment on column oauth.grants.redirect_uri is
  'The redirect URI of the code; distinguishes installations of one client on the account page.';
comment on column oauth.grants.resource is
  'The canonical resource identifier; tokens are valid only for it (RFC 8707).';
comment on column oauth.grants.expires_at is 'The end of every token of the grant, regardless of refreshes.';
comment on column oauth.grants.last_used_at is
  'The client''s last request to the connector, to within an hour; null before the first.';
comment on column oauth.grants.revocation_reason is
  'too_many: the longest idle grant ended when its person connected more than 20 clients to the organization.';
comment on column oauth.grants.access is
  'The access that the person allows: read, or write, which includes reading. Both use the single scope.';
comment on column oauth.grants.may_subscribe is
  'Whether it may have event subscriptions; false after its person stopped them, so that its next renewal is refused.';
comment on column oauth.grants.alert_seen_at is 'The time when the person dismissed the alert about a replay.';
create index grants_client_id_idx on oauth.grants (client_id);
-- Finds a person's active grants; most grants end up revoked.
create index grants_membership_idx on oauth.grants (user_id, organization_id, revoked_at);

create table oauth.consents (
  id uuid primary key,
  user_id uuid not null,
  organization_id text collate "C" not null,
  approved_at timestamptz not null,
  access text not null default 'write' constraint consents_access_known check (access in ('read', 'write')),
  constraint consents_membership_fkey foreign key (organization_id, user_id)
    references identity.memberships (organization_id, user_id) on delete cascade
);
comment on table oauth.consents is
  'Consent pages that a person answered with Allow, so that a second click gets the same answer or none. Not needed '
  'after an hour.';
comment on column oauth.consents.id is 'The id of the signed page, and of the resulting authorization code.';
comment on column oauth.consents.access is 'The access of the grant for the code.';
create index consents_membership_idx on oauth.consents (user_id, organization_id);

create table oauth.used_codes (
  id uuid primary key,
  used_at timestamptz,
  wrong_verifiers smallint not null default 0
    constraint used_codes_wrong_verifiers_range check (wrong_verifiers between 0 and 5),
  -- The constraint is deferred, because the statement that spends the code decides races and comes first. The grant
  -- follows in the same transaction.
  grant_id uuid
    constraint used_codes_grant_id_fkey references oauth.grants (id) on delete set null deferrable initially deferred,
  code_expires_at timestamptz not null
);
comment on table oauth.used_codes is
  'Authorization codes that were redeemed or had failed proofs. The codes themselves are signed and self-contained.';
comment on column oauth.used_codes.wrong_verifiers is 'Failed PKCE proofs; the fifth burns the code.';
comment on column oauth.used_codes.grant_id is 'The grant of the first redemption; a replay ends it.';
comment on column oauth.used_codes.code_expires_at is
  'After that, the signature alone rejects the code, and the row can be deleted.';
create index used_codes_grant_id_idx on oauth.used_codes (grant_id);

create table oauth.tokens (
  token_hash bytea primary key constraint tokens_token_hash_length check (octet_length(token_hash) = 32),
  kind text not null constraint tokens_kind_known check (kind in ('access', 'refresh')),
  grant_id uuid not null constraint tokens_grant_id_fkey references oauth.grants (id) on delete cascade,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  rotated_at timestamptz,
  successor_hash bytea constraint tokens_successor_hash_length check (octet_length(successor_hash) = 32),
  constraint tokens_rotation_complete check ((rotated_at is null) = (successor_hash is null)),
  constraint tokens_rotation_of_refresh check (kind = 'refresh' or rotated_at is null)
);
comment on table oauth.tokens is 'Bearer tokens by SHA-256. The grant has the person and organization.';
comment on column oauth.tokens.rotated_at is
  'The time of a refresh token''s exchange; afterwards only a retry within the grace period succeeds.';
comment on column oauth.tokens.successor_hash is
  'The successor of a refresh token, which the function derives again from the presented one.';
create index tokens_grant_id_idx on oauth.tokens (grant_id);

alter table oauth.clients enable row level security;
alter table oauth.ungranted_counts enable row level security;
alter table oauth.grants enable row level security;
alter table oauth.consents enable row level security;
alter table oauth.used_codes enable row level security;
alter table oauth.tokens enable row level security;
grant select, insert, update, delete
  on oauth.clients, oauth.ungranted_counts, oauth.grants, oauth.consents, oauth.used_codes, oauth.tokens
  to service_role;
