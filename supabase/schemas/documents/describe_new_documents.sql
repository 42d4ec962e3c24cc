create or replace function app.describe_new_documents(recipient identity.profiles, member identity.memberships,
  after timestamptz, until timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('came', count(*), 'waiting', count(*) filter (where app.needs_attention(d)))
    from app.documents as d
    where d.organization_id = member.organization_id and d.deleted_at is null
      and d.created_at > after and d.created_at <= until
      and (member.role = 'owner' or member.mails = 'all' or d.added_by = recipient.user_id)
    having count(*) > 0
  );
end
$$;
comment on function app.describe_new_documents is
  'Returns the documents added between two digests that the recipient sees: {came, waiting: those that need '
  'attention}, or null for none.';
-- Runs as the digest's recipient.
alter function app.describe_new_documents set role = 'authenticated';

create or replace function jobs.describe_waiting_mails(recipient identity.profiles, member identity.memberships,
  after timestamptz, until timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- Only the service reads these tables.
  return case when app.hears_all(member) and identity.member_may(
    member.organization_id, member.user_id, 'settings:write'
  ) then (
    select jsonb_build_object(
      'count', count(*), 'is_new', bool_or(m.received_at > after),
      'until', ((min(m.received_at) + app.kept_for('inbound_mails')) at time zone recipient.timezone)::date
    )
    from app.inbound_mails as m
    where m.organization_id = member.organization_id and m.state = 'waiting' and m.received_at <= until
    having count(*) > 0
  ) end;
end
$$;
comment on function jobs.describe_waiting_mails is
  'Returns the mail that waits for a decision at the time of a digest: {count, is_new: some arrived since the last '
  'digest, until: the day when the first is deleted}; null if none waits, and for people who may not decide.';
