create or replace function public.change_country(user_id uuid, country text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p set country = change_country.country, updated_at = at
  where p.user_id = change_country.user_id and p.country is not null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('account.country_changed', user_id, null, '{}', at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_country is
  'Changes a person''s country; currency and time zone stay: {"outcome":"changed"}, or {"outcome":"unknown"} before '
  'onboarding.';
grant execute on function identity.is_timezone to authenticated;
