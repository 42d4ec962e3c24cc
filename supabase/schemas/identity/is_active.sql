create or replace function identity.is_active(user_id uuid, at timestamptz) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- security definer, because on the platform only `postgres` can read auth.users. The answer is only yes or no.
  return exists (
    select from auth.users as u
    where u.id = is_active.user_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until <= is_active.at)
  ) and not identity.is_review_over(user_id, at);
end
$$;
comment on function identity.is_active is
  'Whether a person is active at an instant: neither banned nor deleted, nor a reviewer whose access is over. Every '
  'check uses this function. An inactive person has no access and gets no mail. Their grants and memberships stay, so '
  'everything works again after the ban.';
