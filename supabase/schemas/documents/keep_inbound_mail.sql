create or replace function app.find_mail_reader(organization_id text, sender text, is_proven boolean, at timestamptz)
  returns uuid
language plpgsql stable set search_path = '' as $$
declare
  member uuid;
  known app.inbound_senders;
  reader uuid;
begin
  select m.user_id into member
  from identity.memberships as m
  join identity.profiles as p on p.user_id = m.user_id
  where m.organization_id = find_mail_reader.organization_id and lower(p.email) = sender;
  if found then
    -- Anybody can write a member's address into From.
    reader := case when is_proven then member end;
  else
    select * into known from app.inbound_senders as s
    where s.organization_id = find_mail_reader.organization_id and s.address = sender and s.is_accepted
      and (find_mail_reader.is_proven or not s.is_proven);
    reader := known.decided_by;
  end if;
  return case when identity.member_may(organization_id, reader, 'books:write')
    and identity.is_active(reader, at) then reader end;
end
$$;
comment on function app.find_mail_reader is
  'Returns the member whose rights apply when a mail is read: its sender, or the member who accepted the sender, if '
  'they may write. Null if a person has to decide.';

create or replace function app.room_for_mail(organization_id text, at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select app.most_document_bytes(identity.effective_plan(o, at)) - coalesce((
      select sum(d.size) from app.documents as d where d.organization_id = o.id and d.deleted_at is null
    ), 0) - coalesce((
      select sum(m.size) from app.inbound_mails as m where m.organization_id = o.id and m.content is not null
    ), 0)
    from identity.organizations as o
    where o.id = room_for_mail.organization_id
  );
end
$$;
comment on function app.room_for_mail is
  'Returns the number of bytes left for an organization''s mail, in addition to its documents.';

create or replace function app.place_mail(mail app.inbound_mails, at timestamptz) returns app.inbound_mails
language plpgsql stable set search_path = '' as $$
declare
  most_waiting constant int := 50;
  most_accepted constant int := 100;
  reader constant uuid := app.find_mail_reader(mail.organization_id, mail.sender, mail.is_proven, at);
  refusal text;
begin
  mail.accepted_by := reader;
  mail.state := case when reader is null then 'waiting' else 'accepted' end;
  if mail.size > app.room_for_mail(mail.organization_id, at) then
    refusal := 'document_quota';
  elsif (case when reader is null then most_waiting else most_accepted end) <= (
    select count(*) from app.inbound_mails as m where m.organization_id = mail.organization_id and m.state = mail.state
  ) then
    refusal := 'mail_quota';
  end if;
  if exists (
    select from app.inbound_senders as s
    where s.organization_id = mail.organization_id and s.address = mail.sender and not s.is_accepted
  ) or reader is null and refusal is not null then
    -- Drop mail beyond the limits, so that strangers can't fill the list or the storage.
    return null;
  elsif refusal is not null then
    mail.state := 'failed';
    mail.content := null;
    mail.refusals := array[refusal];
  end if;
  return mail;
end
$$;
comment on function app.place_mail is
  'Returns an arrived mail with its state and reader; null to drop it.';

create or replace function app.parse_mail(mail jsonb, content text) returns app.inbound_mails
language plpgsql immutable set search_path = '' as $$
declare
  parsed app.inbound_mails;
begin
  parsed.content := decode(parse_mail.content, 'base64');
  parsed.size := octet_length(parsed.content);
  parsed.sender := lower(mail ->> 'sender');
  parsed.subject := mail ->> 'subject';
  parsed.verdicts := mail -> 'verdicts';
  parsed.is_proven := (mail ->> 'is_proven')::boolean;
  return parsed;
end
$$;
comment on function app.parse_mail is
  'Returns a mail from {sender, subject, verdicts, is_proven} and its base64 content.';

create or replace function public.keep_inbound_mail(tokens text[], provider_id text, mail jsonb, content text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most_arrived constant int := 500;
  address app.inbound_addresses;
  kept app.inbound_mails;
  kept_count int := 0;
  postponed_count int := 0;
begin
  for address in
    select * from app.inbound_addresses as a where a.token = any (tokens)
    order by a.organization_id
    -- Process one mail of an organization at a time, so that none is counted twice.
    for update
  loop
    continue when exists (
      select from app.inbound_mails as m
      where m.organization_id = address.organization_id and m.provider_id = keep_inbound_mail.provider_id
    );
    if content is null then
      if most_arrived <= (
        select count(*) from app.inbound_mails as m
        where m.organization_id = address.organization_id and m.state = 'arrived'
      ) then
        postponed_count := postponed_count + 1;
        continue;
      end if;
      insert into app.inbound_mails (organization_id, provider_id, state, leased_until, received_at)
      values (address.organization_id, provider_id, 'arrived', at, at);
    else
      kept := app.parse_mail(mail, content);
      kept.organization_id := address.organization_id;
      kept := app.place_mail(kept, at);
      continue when kept is null;
      insert into app.inbound_mails (organization_id, provider_id, state, sender, subject, verdicts, is_proven, size,
        content, accepted_by, refusals, leased_until, received_at)
      values (kept.organization_id, provider_id, kept.state, kept.sender, kept.subject, kept.verdicts, kept.is_proven,
        kept.size, kept.content, kept.accepted_by, coalesce(kept.refusals, '{}'), at, at);
    end if;
    kept_count := kept_count + 1;
  end loop;
  return jsonb_build_object('kept', kept_count, 'postponed', postponed_count);
end
$$;
comment on function public.keep_inbound_mail is
  'Stores a mail once for each organization with one of the tokens; a job fetches missing content. Returns {kept, '
  'postponed}, the numbers of organizations; postponed ones have too much unfetched mail. mail and content are those '
  'of app.parse_mail.';

create or replace function public.fill_inbound_mail(mail_id text, attempt int, mail jsonb, content text, at timestamptz)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  arrived app.inbound_mails;
  filled app.inbound_mails;
begin
  select * into arrived from app.inbound_mails as m where m.id = mail_id;
  perform from app.inbound_addresses as a where a.organization_id = arrived.organization_id for update;
  select * into arrived from app.inbound_mails as m
  where m.id = mail_id and m.state = 'arrived' and m.attempts = attempt
  for no key update;
  if not found then
    return;
  end if;
  filled := app.parse_mail(mail, content);
  filled.organization_id := arrived.organization_id;
  filled := app.place_mail(filled, at);
  update app.inbound_mails as m
  set state = coalesce(filled.state, 'read'), sender = coalesce(filled.sender, ''),
    subject = coalesce(filled.subject, ''), verdicts = coalesce(filled.verdicts, '{}'),
    is_proven = coalesce(filled.is_proven, false), size = coalesce(filled.size, 0), content = filled.content,
    accepted_by = filled.accepted_by, refusals = coalesce(filled.refusals, '{}'), attempts = 0, leased_until = at
  where m.id = mail_id;
end
$$;
comment on function public.fill_inbound_mail is
  'Stores a fetched mail''s content. A dropped mail is stored as read, without its content. An attempt whose lease '
  'expired changes nothing.';
revoke all on function app.find_mail_reader, app.room_for_mail, app.place_mail, app.parse_mail from authenticated;
