-- Clients that publish their metadata at an https URL, which is their id: the last fetched metadata and its expiry. The
-- function fetches documents. The call that reads the stored metadata also decides whether a fetch is due and within
-- the limits.

create table oauth.client_documents (
  client_id text primary key
    constraint client_documents_client_id_fkey references oauth.clients (client_id) on delete cascade,
  fetched_at timestamptz not null,
  fresh_until timestamptz not null,
  constraint client_documents_fresh_for_a_while
    check (fresh_until between fetched_at + interval '5 minutes' and fetched_at + interval '24 hours')
);
comment on table oauth.client_documents is
  'The fetch times of clients'' metadata documents. The metadata is stored with the client; failed or invalid fetches '
  'store nothing.';
comment on column oauth.client_documents.fresh_until is
  'Follows the caching headers of the document, between 5 minutes and 24 hours. If the document can''t be fetched '
  'again, the stored metadata serves existing users of the client for another 24 hours.';
alter table oauth.client_documents enable row level security;
grant select, insert, update, delete on oauth.client_documents to service_role;

create or replace function public.open_document_consent(
  client_id text, user_id uuid, quotas jsonb, at timestamptz, page_quotas jsonb default null,
  known_quotas jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  fresh_until timestamptz;
  wait integer := oauth.draw_quotas(page_quotas, at);
begin
  if wait > 0 then
    return oauth.limited(wait);
  end if;
  select d.fresh_until into fresh_until from oauth.client_documents as d
    where d.client_id = open_document_consent.client_id;
  if fresh_until is null or fresh_until <= at then
    -- A flood of new documents does not use up the quota of connected clients.
    wait := oauth.draw_quotas(case
      when exists (select from oauth.clients as c
        where c.client_id = open_document_consent.client_id and c.granted_at is not null) then known_quotas
      else quotas
    end, at);
  end if;
  return oauth.consent_of(client_id, user_id, at) || jsonb_build_object(
    'document', case when fresh_until > at then 'fresh' when wait = 0 then 'due' else 'limited' end,
    'retry_after', wait,
    'serves_stale', coalesce(fresh_until + interval '24 hours' > at, false) and exists (
      select from oauth.grants as g
      where g.client_id = open_document_consent.client_id and g.revoked_at is null and g.expires_at > at
    )
  );
end
$$;
comment on function public.open_document_consent is
  'Like open_consent, for a client whose id is the URL of its metadata, with the state of its document: fresh; due: '
  'fetch it now, with the quotas drawn (known_quotas when somebody has connected the client); or limited: don''t '
  'fetch it for retry_after seconds. serves_stale: the stored metadata may be used if fetching fails.';

create or replace function public.store_client_document(
  client_id text, client_name text, redirect_uris text[], fresh_until timestamptz, user_id uuid, at timestamptz,
  room jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wait integer;
begin
  if not exists (select from oauth.clients as c where c.client_id = store_client_document.client_id) then
    wait := oauth.make_room(room, at);
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  insert into oauth.clients as c (client_id, client_name, redirect_uris, registered_by, created_at)
  values (client_id, client_name, redirect_uris, room ->> 'caller', at)
  on conflict on constraint clients_pkey do update set client_name = excluded.client_name,
    redirect_uris = excluded.redirect_uris
  where (c.client_name, c.redirect_uris) is distinct from (excluded.client_name, excluded.redirect_uris);
  insert into oauth.client_documents (client_id, fetched_at, fresh_until) values (client_id, at, fresh_until)
  on conflict on constraint client_documents_pkey do update set fetched_at = excluded.fetched_at,
    fresh_until = excluded.fresh_until;
  return oauth.consent_of(client_id, user_id, at);
end
$$;
comment on function public.store_client_document is
  'Stores a client''s metadata document, for a new client only if oauth.make_room finds room. Returns the result of '
  'open_consent. Its grants stay; new requests follow the new metadata.';
