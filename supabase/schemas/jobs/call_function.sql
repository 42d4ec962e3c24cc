-- Calls a function on schedule, with its address and the scheduler's secret from the vault.

create or replace function jobs.call_function(slug text) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  site constant text := btrim(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'project_url'));
  -- The first secret of a list is in use; functions accept the others during a rotation.
  secret constant text := btrim(split_part(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'cron_secret'), ',', 1));
begin
  if coalesce(site, '') = '' or coalesce(secret, '') = '' then
    raise exception 'cannot call %: the vault has no %', slug,
      case when coalesce(site, '') = '' then 'project_url' else 'cron_secret' end
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  begin
    -- The secret goes in a header, because intermediate servers log the URL.
    return net.http_get(
      url := site || '/functions/v1/' || slug,
      headers := jsonb_build_object('Authorization', 'Bearer ' || secret),
      -- The platform ends a call after 60 seconds.
      timeout_milliseconds := 65000
    );
  exception when others then
    -- Raises only the code: pg_cron stores whole errors, and those of pg_net quote the row with the header.
    raise exception 'cannot call %: pg_net did not take the request (%)', slug, sqlstate;
  end;
end
$$;
comment on function jobs.call_function is
  'Requests the call of a scheduled function, by its slug. Returns the id of the request, whose answer is in '
  'net._http_response.';
revoke all on function jobs.call_function from service_role;
