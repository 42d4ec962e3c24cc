create or replace function app.describe_new_documents(recipient identity.profiles, member identity.memberships,
  after timestamptz, until timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('came', count(*), 'waiting', count(*) filter (where d.expense_id is null))
    from app.documents as d
    where d.organization_id = member.organization_id and d.deleted_at is null
      and d.created_at > after and d.created_at <= until
      and (member.role = 'owner' or member.mails = 'all' or d.added_by = recipient.user_id)
    having count(*) > 0
  );
end
$$;
comment on function app.describe_new_documents is
  'Returns the documents added between two digests that the recipient sees: {came, waiting: the unattached ones}; '
  'null for none.';
-- Runs as the digest's recipient.
alter function app.describe_new_documents set role = 'authenticated';
