create or replace function app.find_organizations_with_mail(at timestamptz) returns setof text
language plpgsql stable set search_path = '' as $$
begin
  return query
    select a.organization_id
    from app.inbound_addresses as a
    where a.organization_id in (
      select m.organization_id from app.inbound_mails as m
      where m.state in ('arrived', 'accepted') and m.leased_until <= at
    )
    order by a.last_read_at nulls first, a.organization_id;
end
$$;
comment on function app.find_organizations_with_mail is
  'Returns organizations with accepted or unfetched mail that no run is reading, in the order of their turns.';

create or replace function app.has_mail_to_read(at timestamptz) returns boolean
language sql stable
  return exists (
    select from app.find_organizations_with_mail(at) as o (id)
    where identity.organization_has_feature(o.id, 'ai:connector', at)
  );
comment on function app.has_mail_to_read is 'Whether an organization that accepts changes has mail to read.';

create or replace function app.claim_organizations_mail(organization_id text, at timestamptz) returns app.inbound_mails
language plpgsql volatile set search_path = '' as $$
declare
  lease constant interval := '2 minutes';
  -- The mail service may be down for days: fifteen attempts take five days.
  most_attempts constant jsonb := '{"accepted": 5, "arrived": 15}';
  mail app.inbound_mails;
begin
  loop
    select * into mail
    from app.inbound_mails as m
    where m.organization_id = claim_organizations_mail.organization_id and m.leased_until <= at
      and m.state in ('arrived', 'accepted')
    -- Fetch nothing while accepted mail waits for reading.
    order by m.state, m.leased_until, m.id
    limit 1
    for no key update skip locked;
    if not found then
      return null;
    end if;
    if mail.attempts >= (most_attempts ->> mail.state)::int then
      -- Give up, because each attempt may have crashed the process.
      update app.inbound_mails as m set state = 'failed', content = null,
        refusals = m.refusals || case mail.state when 'arrived' then 'not_fetched' else 'gave_up' end
      where m.id = mail.id;
    elsif mail.state = 'accepted' and not (
      identity.member_may(mail.organization_id, mail.accepted_by, 'books:write')
      and identity.is_active(mail.accepted_by, at)
    ) then
      update app.inbound_mails as m set state = 'waiting', accepted_by = null where m.id = mail.id;
    else
      update app.inbound_mails as m set attempts = m.attempts + 1, leased_until = at + lease where m.id = mail.id
      returning * into mail;
      return mail;
    end if;
  end loop;
end
$$;
comment on function app.claim_organizations_mail is
  'Returns an organization''s next mail to read, leased for two minutes; null when none waits.';

create or replace function public.claim_inbound_mail(at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization text;
  mail app.inbound_mails;
begin
  for organization in select app.find_organizations_with_mail(at) loop
    continue when not identity.organization_has_feature(organization, 'ai:connector', at);
    mail := app.claim_organizations_mail(organization, at);
    continue when mail.id is null;
    -- An organization that is receiving mail right now keeps its turn, because others must not wait for its lock.
    update app.inbound_addresses as a set last_read_at = at
    where a.organization_id in (
      select w.organization_id from app.inbound_addresses as w where w.organization_id = organization
      for no key update skip locked
    );
    return jsonb_build_object(
      'id', mail.id, 'organization_id', mail.organization_id, 'provider_id', mail.provider_id,
      'user_id', mail.accepted_by, 'subject', mail.subject, 'attempt', mail.attempts,
      'parts_done', mail.parts_done, 'content', translate(encode(mail.content, 'base64'), E'\n', '')
    );
  end loop;
  return null;
end
$$;
comment on function public.claim_inbound_mail is
  'Claims the next mail to read, leased for two minutes: {id, organization_id, provider_id, user_id, subject, '
  'attempt, parts_done, content}; content is null if it must be fetched first. Returns null if none waits. '
  'Organizations take turns. Mail of a person who lost the right to write waits for another person''s decision. Mail '
  'fails after five attempts to read it or fifteen to fetch it.';

create or replace function public.settle_inbound_mail(mail_id text, attempt int, parts_done int, outcome text,
  documents text[], refusals text[], at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.inbound_mails as m
  set state = case outcome when 'read' then 'read' when 'refused' then 'waiting' else m.state end,
    accepted_by = case when outcome <> 'refused' then m.accepted_by end,
    content = case when outcome <> 'read' then m.content end,
    parts_done = settle_inbound_mail.parts_done,
    documents = m.documents || settle_inbound_mail.documents,
    refusals = (m.refusals || settle_inbound_mail.refusals)[:20],
    attempts = case when outcome = 'failed' then m.attempts else 0 end,
    leased_until = case when outcome = 'failed' then app.next_attempt(m.attempts, at) else at end
  where m.id = mail_id and m.attempts = attempt and m.state in ('arrived', 'accepted')
    and m.parts_done <= settle_inbound_mail.parts_done;
end
$$;
comment on function public.settle_inbound_mail is
  'Records the outcome of a claimed mail: read, more (attachments remain), refused (the person lost the right to '
  'write) or failed (a later run retries it). An attempt whose lease expired changes nothing.';
revoke all on function app.find_organizations_with_mail, app.has_mail_to_read, app.claim_organizations_mail
  from authenticated;
