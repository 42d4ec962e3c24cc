create or replace function identity.hold_account(user_id uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  stays boolean;
begin
  -- The weakest lock that conflicts with public.delete_account, so that the second of two concurrent calls sees the
  -- first.
  select p.deletes_at is null into stays
  from identity.profiles as p where p.user_id = hold_account.user_id for key share;
  return coalesce(stays, true);
end
$$;
comment on function identity.hold_account is
  'Prevents the deletion of a person''s account until the transaction ends; false when the deletion is already '
  'scheduled. Functions that create organizations, add members or connect apps call it first.';
