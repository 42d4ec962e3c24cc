-- Mail that people forward to an organization's own address. Invariants: an address belongs to one organization, a
-- replaced address to none; a mail is stored once per organization; the service reads mail only with the rights of the
-- person who sent or accepted it. Row-level security is on without policies: only the service reads these tables, for
-- people who may decide.

create table app.inbound_addresses (
  organization_id text collate "C" primary key references identity.organizations (id) on delete cascade,
  token text collate "C" not null unique constraint inbound_addresses_token_format check (token ~ '^[0-9a-f]{20}$'),
  created_at timestamptz not null,
  last_read_at timestamptz
);
comment on table app.inbound_addresses is
  'The address for an organization''s mail: in+<token>@<the domain of INBOUND_URL>. A new token ends the previous one.';
comment on column app.inbound_addresses.last_read_at is
  'The last time a run claimed this organization''s mail; organizations take turns.';
alter table app.inbound_addresses enable row level security;
grant select, insert, update, delete on app.inbound_addresses to service_role;

create table app.inbound_senders (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  address text collate "C" not null constraint inbound_senders_address_length check (length(address) between 3 and 320),
  is_accepted boolean not null,
  is_proven boolean not null,
  decided_by uuid not null,
  decided_at timestamptz not null,
  primary key (organization_id, address)
);
comment on table app.inbound_senders is 'Senders, other than members, that a person accepted or blocked.';
comment on column app.inbound_senders.address is 'In lower case.';
comment on column app.inbound_senders.is_proven is
  'Whether the accepted mail proved its sender; later mail from this address then needs proof, too.';
comment on column app.inbound_senders.decided_by is 'The member whose rights apply when accepted mail is read.';
alter table app.inbound_senders enable row level security;
grant select, insert, update, delete on app.inbound_senders to service_role;

create table app.inbound_mails (
  id text collate "C" primary key default app.new_id('mail')
    constraint inbound_mails_id_format check (id ~ '^mail_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  provider_id text not null constraint inbound_mails_provider_id_length check (length(provider_id) between 1 and 200),
  state text not null constraint inbound_mails_state_known check (
    state in ('arrived', 'waiting', 'accepted', 'read', 'failed')
  ),
  sender text not null default '' constraint inbound_mails_sender_length check (length(sender) <= 320),
  subject text not null default '' constraint inbound_mails_subject_length check (length(subject) <= 200),
  verdicts jsonb not null default '{}' constraint inbound_mails_verdicts_size check (length(verdicts::text) <= 1000),
  is_proven boolean not null default false,
  size int not null default 0 constraint inbound_mails_size_range check (size between 0 and 10485760),
  content bytea,
  accepted_by uuid,
  attempts int not null default 0,
  leased_until timestamptz not null,
  parts_done int not null default 0,
  documents text[] not null default '{}',
  refusals text[] not null default '{}',
  received_at timestamptz not null,
  unique (organization_id, provider_id),
  constraint inbound_mails_accepted_by_person check (state <> 'accepted' or accepted_by is not null)
);
comment on table app.inbound_mails is
  'Raw mail until a run reads it. The row remains for its retention period to recognize a second delivery.';
comment on column app.inbound_mails.provider_id is 'The mail service''s id, or the hash of the content.';
comment on column app.inbound_mails.state is
  'arrived: its content is still with the mail service; waiting: for a person''s decision; accepted: to be read; '
  'read; failed.';
comment on column app.inbound_mails.verdicts is
  'The mail service''s checks: {spf?, dkim?, dmarc?}, each pass, fail or another word.';
comment on column app.inbound_mails.is_proven is
  'Whether the address in From is proven: DMARC passed, or SPF or DKIM for its own domain.';
comment on column app.inbound_mails.parts_done is 'The number of attachments read so far.';
comment on column app.inbound_mails.documents is 'Ids of the documents stored from this mail.';
comment on column app.inbound_mails.refusals is 'Error codes of the attachments that were not stored.';
create index inbound_mails_newest_idx on app.inbound_mails (organization_id, received_at);
create index inbound_mails_received_at_idx on app.inbound_mails (received_at);
create index inbound_mails_waiting_idx on app.inbound_mails (organization_id) where state = 'waiting';
create index inbound_mails_to_read_idx on app.inbound_mails (leased_until) where state in ('arrived', 'accepted');
alter table app.inbound_mails enable row level security;
grant select, insert, update, delete on app.inbound_mails to service_role;
