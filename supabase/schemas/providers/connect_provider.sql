create or replace function public.connect_provider(
  user_id uuid, bill_id text, provider_key text, provider_name text, link_id text, account_label text, envelope jsonb,
  at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  judged constant jsonb := app.judge_connection(user_id, bill_id, at);
  link app.provider_links;
begin
  if judged ->> 'outcome' <> 'open' then
    return judged;
  end if;
  -- A concurrent connection of the same bill waits here, or at the bill's only link.
  select l.* into link from app.provider_links as l where l.expense_id = bill_id and l.status <> 'revoked' for update;
  if link.provider_key = provider_key and link.id <> link_id
    or link.id is distinct from link_id
      and exists (select from app.provider_links as l where l.id = link_id) then
    return '{"outcome":"moved"}';
  end if;
  if link.id = link_id then
    -- A running request with the old credential loses its lease, so its result is dropped, and the new credential can
    -- be used immediately.
    update app.provider_links as l
    set status = 'active', resumes_as = null, provider_name = connect_provider.provider_name,
      account_label = connect_provider.account_label,
      last_error_code = null, consecutive_failures = 0, asked_at = null, ask_after = null, lease_token = null,
      leased_until = null,
      updated_at = at
    where l.id = link.id;
  else
    update app.provider_links as l set status = 'revoked', updated_at = at where l.id = link.id;
    insert into app.provider_links (id, organization_id, expense_id, provider_key, provider_name, account_label, status,
      created_at, updated_at)
    values (
      link_id, judged ->> 'organization_id', bill_id, provider_key,
      provider_name,
      account_label, 'active', at, at
    )
    on conflict (expense_id) where status <> 'revoked' do nothing;
    if not found then
      return '{"outcome":"moved"}';
    end if;
  end if;
  insert into app.provider_credentials as c (link_id, envelope, updated_at)
  values (link_id, envelope, at)
  on conflict on constraint provider_credentials_pkey do update set envelope = excluded.envelope,
    updated_at = excluded.updated_at;
  perform identity.record_event(
    case when link.id = link_id then 'provider.reconnected' else 'provider.connected' end, user_id,
      judged ->> 'organization_id',
    jsonb_strip_nulls(jsonb_build_object(
      'link', link_id, 'bill', bill_id, 'provider', provider_key,
      'replaced', case when link.id <> link_id then link.id end
    )), at
  );
  return judged || '{"outcome":"connected"}';
end
$$;
comment on function public.connect_provider is
  'Stores a tested credential, sealed for link_id. A bill''s link to the same provider gets it, and a link to another '
  'provider ends. {"outcome":"connected"}, the outcomes of app.judge_connection, or "moved" when somebody connected '
  'the bill meanwhile, so that the credential has to be sealed for another link.';

create or replace function public.change_provider_link(user_id uuid, link_id text, action text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  link app.provider_links;
  refusal jsonb;
begin
  select l.* into link
  from app.provider_links as l
  join identity.memberships as m on m.organization_id = l.organization_id and m.user_id = change_provider_link.user_id
  where l.id = link_id
  for update of l;
  if link.id is null then
    return '{"outcome":"unknown_link"}';
  end if;
  refusal := identity.refuse_deleting(link.organization_id, user_id, at);
  if refusal is not null then
    return refusal;
  elsif not exists (select from identity.organizations as o
    where o.id = link.organization_id and o.owner_id = user_id) then
    return '{"outcome":"not_owner"}';
  elsif link.status = 'revoked' then
    return '{"outcome":"ended"}';
  end if;
  case action
    when 'pause' then
      -- Includes links that the plan has paused, so that the next payment doesn't resume them.
      update app.provider_links as l set status = 'paused', resumes_as = null, updated_at = at
      where l.id = link.id and (l.status <> 'paused' or l.resumes_as is not null);
    when 'resume' then
      if link.resumes_as is not null then
        return '{"outcome":"paused_by_plan"}';
      end if;
      update app.provider_links as l
      set status = case when exists (select from app.provider_credentials as c where c.link_id = l.id) then 'active'
        else 'needs_reauth' end,
        updated_at = at
      where l.id = link.id and l.status = 'paused';
    when 'remove' then
      update app.provider_links as l set status = 'revoked', updated_at = at where l.id = link.id;
  end case;
  if found then
    perform identity.record_event(
      case action when 'pause' then 'provider.paused' when 'resume' then 'provider.resumed' else 'provider.removed' end,
        user_id, link.organization_id,
      jsonb_build_object('link', link.id, 'bill', link.expense_id, 'provider', link.provider_key),
      at
    );
  end if;
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_provider_link is
  'Pauses, resumes or removes a link (action), for the owner of its organization: {"outcome":"changed"}, also if '
  'nothing changed; "ended" for a removed link, "paused_by_plan" when only the plan can resume it, "not_owner" or '
  '"unknown_link"; or identity.refuse_deleting.';
