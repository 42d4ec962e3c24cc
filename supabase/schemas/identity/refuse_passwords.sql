-- The identity provider's custom access token hook. It runs before each access token, at sign-in and at every refresh,
-- and can reject it.

create or replace function identity.refuse_passwords(event jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- Anybody can sign up a stranger's address with a password, and the identity provider keeps the password when the
  -- stranger confirms the address with our link. Checks amr too: a password session older than this hook is refreshed
  -- as token_refresh.
  if event ->> 'authentication_method' = 'password' or event @? '$.claims.amr[*] ? (@.method == "password")' then
    return '{"error": {"http_code": 403, "message": "Sign in with a link or code we email you."}}';
  end if;
  if identity.is_review_over((event ->> 'user_id')::uuid, now()) then
    return '{"error": {"http_code": 403, "message": "This access for a review has ended."}}';
  end if;
  return event;
end
$$;
comment on function identity.refuse_passwords is
  'Custom access token hook. Returns the event {user_id, claims, authentication_method} unchanged, or {"error": '
  '{"http_code", "message"}} for a session started with a password, or of a reviewer whose access is over.';

grant usage on schema identity to supabase_auth_admin;
revoke all on function identity.refuse_passwords from service_role;
grant execute on function identity.refuse_passwords to supabase_auth_admin;
