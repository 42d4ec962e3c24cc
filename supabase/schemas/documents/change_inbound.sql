create or replace function app.is_members_address(organization_id text, address text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from identity.memberships as m
    join identity.profiles as p on p.user_id = m.user_id
    where m.organization_id = is_members_address.organization_id and lower(p.email) = address
  );
end
$$;
comment on function app.is_members_address is 'Whether a member signs in with an address, in lower case.';

create or replace function public.read_inbound(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most_read constant int := 20;
begin
  if not identity.member_may(organization_id, user_id, 'settings:write') or not identity.is_active(user_id, at) then
    return '{"outcome": "unknown"}';
  end if;
  return jsonb_build_object(
    'outcome', 'ok', 'id', organization_id,
    'state', identity.describe_state(organization_id, user_id, at),
    'country', (select p.country from identity.profiles as p where p.user_id = read_inbound.user_id),
    'token', (select a.token from app.inbound_addresses as a where a.organization_id = read_inbound.organization_id),
    'senders', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'address', s.address, 'is_accepted', s.is_accepted, 'decided_by', (
          select p.email from identity.profiles as p where p.user_id = s.decided_by
        )
      ) order by s.address), '[]')
      from app.inbound_senders as s
      where s.organization_id = read_inbound.organization_id
    ),
    'mails', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.id, 'state', m.state, 'sender', m.sender, 'subject', m.subject, 'size', m.size,
        'received_at', m.received_at, 'is_proven', m.is_proven, 'verdicts', m.verdicts,
        'is_members', app.is_members_address(m.organization_id, m.sender),
        'documents', to_jsonb(m.documents), 'refusals', to_jsonb(m.refusals)
      ) order by m.received_at desc, m.id), '[]')
      from (
        select w.* from app.inbound_mails as w
        where w.organization_id = read_inbound.organization_id
          and (w.state = 'waiting' or w.id in (
            select n.id from app.inbound_mails as n
            where n.organization_id = read_inbound.organization_id and n.state <> 'waiting'
              -- Dropped mail and mail that could not be fetched have no sender.
              and (n.sender <> '' or n.state = 'failed')
            order by n.received_at desc limit most_read
          ))
      ) as m
    )
  );
end
$$;
comment on function public.read_inbound is
  'Returns the data of the page about an organization''s mail, for people who may change its settings: {outcome: ok | '
  'unknown, id, state, country, token, senders: [{address, is_accepted, decided_by}], mails: [{id, state, sender, '
  'subject, size, received_at, is_proven, verdicts, is_members, documents, refusals}]}: all waiting mails, and the '
  'newest others.';

create or replace function app.accept_mail(user_id uuid, mail app.inbound_mails, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- Members still have to prove their own address, so only this mail is accepted.
  if not app.is_members_address(mail.organization_id, mail.sender) and mail.sender <> '' then
    insert into app.inbound_senders as s (organization_id, address, is_accepted, is_proven, decided_by, decided_at)
    values (mail.organization_id, mail.sender, true, mail.is_proven, user_id, at)
    on conflict on constraint inbound_senders_pkey do update
      -- Accepting one unproven mail does not remove the requirement for proof.
      set is_accepted = true, is_proven = excluded.is_proven or s.is_accepted and s.is_proven,
        decided_by = excluded.decided_by, decided_at = excluded.decided_at;
  end if;
  update app.inbound_mails as m
  set state = 'accepted', accepted_by = user_id, attempts = 0, leased_until = at
  where m.organization_id = mail.organization_id and m.state = 'waiting' and (
    m.id = mail.id
    or app.find_mail_reader(m.organization_id, m.sender, m.is_proven, at) = user_id and m.sender = mail.sender
  );
end
$$;
comment on function app.accept_mail is
  'Accepts a waiting mail and the sender''s other waiting mail, and remembers the sender. The mail is read with this '
  'person''s rights.';

create or replace function app.block_mail(user_id uuid, mail app.inbound_mails, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_members constant boolean := app.is_members_address(mail.organization_id, mail.sender);
begin
  if not is_members and mail.sender <> '' then
    insert into app.inbound_senders as s (organization_id, address, is_accepted, is_proven, decided_by, decided_at)
    values (mail.organization_id, mail.sender, false, false, user_id, at)
    on conflict on constraint inbound_senders_pkey do update
      set is_accepted = false, is_proven = false, decided_by = excluded.decided_by, decided_at = excluded.decided_at;
  end if;
  -- The rows stay, without the mail's content, to recognize a second delivery.
  update app.inbound_mails as m
  set state = 'read', content = null, sender = '', subject = '', verdicts = '{}'
  where m.organization_id = mail.organization_id and m.state = 'waiting'
    and (m.id = mail.id or m.sender = mail.sender and not is_members);
end
$$;
comment on function app.block_mail is
  'Drops a waiting mail and the sender''s other waiting mail, and blocks the sender. A member can''t be blocked, so '
  'only the mail is dropped.';

create or replace function public.change_inbound(user_id uuid, organization_id text, action text, target text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  refusal constant jsonb := identity.refuse_change(organization_id, user_id, at);
  mail app.inbound_mails;
begin
  if not identity.member_may(organization_id, user_id, 'settings:write') or not identity.is_active(user_id, at) then
    return '{"outcome": "unknown"}';
  elsif refusal is not null then
    return refusal;
  end if;
  perform from app.inbound_addresses as a where a.organization_id = change_inbound.organization_id for update;
  case action
    when 'rotate' then
      insert into app.inbound_addresses as a (organization_id, token, created_at)
      values (organization_id, left(replace(gen_random_uuid()::text, '-', ''), 20), at)
      on conflict on constraint inbound_addresses_pkey do update
        set token = excluded.token, created_at = excluded.created_at;
    when 'forget' then
      delete from app.inbound_senders as s
      where s.organization_id = change_inbound.organization_id and s.address = target;
    else
      select * into mail from app.inbound_mails as m
      where m.organization_id = change_inbound.organization_id and m.id = target and m.state = 'waiting'
      for update;
      if not found then
        return '{"outcome": "gone"}';
      elsif action = 'accept' then
        perform app.accept_mail(user_id, mail, at);
      else
        perform app.block_mail(user_id, mail, at);
      end if;
  end case;
  perform identity.record_event('inbound.' || action, user_id, organization_id, '{}', at);
  return '{"outcome": "changed"}';
end
$$;
comment on function public.change_inbound is
  'Changes an organization''s mail address and senders, for people who may change settings. action: rotate, accept or '
  'block (target: a waiting mail), or forget (target: a sender). Returns {outcome: changed | gone | unknown}; gone '
  'means that the mail no longer waits.';
revoke all on function app.is_members_address, app.accept_mail, app.block_mail from authenticated;
