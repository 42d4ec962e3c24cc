-- Events for the subscriptions of apps: one row per event, written in the transaction that causes it.

create table app.events (
  id text collate "C" primary key default app.new_id('evt')
    constraint events_id_format check (id ~ '^evt_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  user_id uuid references identity.profiles (user_id) on delete cascade,
  name text not null constraint events_name_known check (
    name in (
      'bill.due', 'bill.overdue', 'price.rose', 'budget.reached_80', 'budget.reached_100', 'import.asked',
      'proposal.waiting', 'proposal.decided', 'digest.sent', 'document.added'
    )
  ),
  about text[] not null constraint events_about_something check (cardinality(about) > 0),
  created_at timestamptz not null default app.instant()
);
comment on table app.events is
  'The outbox of the MCP events extension. Contains names of events and ids only, no text that a person wrote.';
comment on column app.events.user_id is 'The person whose apps get the event; null for everybody who sees its subject.';
comment on column app.events.about is 'The ids of bills, budgets, an import, a proposal or a document.';
create index events_place_idx on app.events (organization_id, name, created_at, id);
create index events_created_at_idx on app.events (created_at);
create index events_user_id_idx on app.events (user_id);
alter table app.events enable row level security;
grant select, insert, update, delete on app.events to service_role;

create table app.event_subscriptions (
  id text collate "C" primary key
    constraint event_subscriptions_id_format check (id ~ '^sub_[0-9a-f]+$' and length(id) between 12 and 36),
  grant_id uuid not null references oauth.grants (id) on delete cascade,
  name text not null,
  url text not null constraint event_subscriptions_url_https check (url like 'https://%' and length(url) <= 2048),
  secret jsonb not null,
  place_at timestamptz not null,
  place_id text collate "C" not null default '',
  attempts int not null default 0,
  leased_until timestamptz not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
comment on table app.event_subscriptions is
  'An app''s subscription to one kind of event. Its events are sent in order, so one place in the outbox separates '
  'sent from unsent ones.';
comment on column app.event_subscriptions.secret is
  'The signing secret, encrypted like a provider credential and bound to this id.';
comment on column app.event_subscriptions.attempts is 'The number of failed attempts to send the next event.';
comment on column app.event_subscriptions.leased_until is
  'The end of the lease of the next event''s sender, or of the wait after a failure.';
create index event_subscriptions_grant_id_idx on app.event_subscriptions (grant_id);
create index event_subscriptions_leased_until_idx on app.event_subscriptions (leased_until);
create index event_subscriptions_expires_at_idx on app.event_subscriptions (expires_at);
alter table app.event_subscriptions enable row level security;
grant select, insert, update, delete on app.event_subscriptions to service_role;
