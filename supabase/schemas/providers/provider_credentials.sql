-- Credentials of provider links: ciphertext that only the functions can decrypt, bound to its link
-- (shared/credentials), and deleted when the link ends. No signed-in person can read credentials, not even their own.

create table app.provider_credentials (
  link_id text collate "C" primary key references app.provider_links (id) on delete cascade,
  envelope jsonb not null constraint provider_credentials_envelope_shape check (
    envelope ?& array['key_id', 'alg', 'nonce', 'data'] and envelope ->> 'key_id' ~ '^[0-9a-f]{8}$'
      and length(envelope ->> 'nonce') = 16
  ),
  updated_at timestamptz not null
);
comment on table app.provider_credentials is
  'The credential of a provider link, encrypted under a key derived for this link: {"key_id","alg","nonce","data"}. '
  'Deleted when the link ends.';
alter table app.provider_credentials enable row level security;
grant select, insert, update, delete on app.provider_credentials to service_role;

-- security definer: signed-in owners also end links (tool update_bill) but must not access credentials. It only deletes
-- the credential of the ended row.
create or replace function app.forget_credential() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from app.provider_credentials as c where c.link_id = new.id;
  return null;
end
$$;
comment on function app.forget_credential is 'Deletes the credential of a link that has ended.';

create trigger forget_credential after update of status on app.provider_links
  for each row when (new.status = 'revoked') execute function app.forget_credential();

-- security definer: people's calls and the schedule both fire it, and only the service writes events.
create or replace function app.note_refused_credential() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform identity.record_event('provider.refused', null, new.organization_id, jsonb_build_object(
    'link', new.id, 'bill', new.expense_id, 'provider', new.provider_key
  ), new.updated_at);
  return null;
end
$$;
comment on function app.note_refused_credential is
  'Records that a provider no longer accepts the credential of a link.';

-- A paused link that resumes without a credential was not rejected by its provider.
create trigger note_refused_credential after update of status on app.provider_links
  for each row when (new.status = 'needs_reauth' and old.status not in ('needs_reauth', 'paused'))
  execute function app.note_refused_credential();

create or replace function public.read_provider_credentials(link_ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('link_id', c.link_id, 'envelope', c.envelope)), '[]')
    from app.provider_credentials as c
    where c.link_id = any (link_ids)
  );
end
$$;
comment on function public.read_provider_credentials is
  'Returns the envelopes of these links: [{"link_id","envelope"}]; a link without one is left out.';

create or replace function public.find_stale_credentials(key_id text, after text, at_most int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      coalesce(jsonb_agg(jsonb_build_object('link_id', c.link_id, 'envelope', c.envelope) order by c.link_id), '[]')
    from (
      select c.link_id, c.envelope
      from app.provider_credentials as c
      where c.link_id > after and c.envelope ->> 'key_id' <> find_stale_credentials.key_id
      order by c.link_id
      limit at_most
    ) as c
  );
end
$$;
comment on function public.find_stale_credentials is
  'Returns envelopes sealed with a different key, of links of any status, starting after a link: '
  '[{"link_id","envelope"}].';

create or replace function public.reseal_provider_credential(link_id text, replaced jsonb, envelope jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update app.provider_credentials as c set envelope = reseal_provider_credential.envelope,
    updated_at = at
  where c.link_id = reseal_provider_credential.link_id and c.envelope = replaced;
  return jsonb_build_object('outcome', case when found then 'resealed' else 'changed' end);
end
$$;
comment on function public.reseal_provider_credential is
  'Stores the same credential under the current key: {"outcome":"resealed"}, or "changed" when the envelope was '
  'replaced after it was read or the link ended.';
revoke all on function app.forget_credential, app.note_refused_credential from authenticated, service_role;
