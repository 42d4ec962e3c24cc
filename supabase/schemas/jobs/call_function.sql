-- How a schedule reaches a function: by its address and the scheduler's secret, both out of the vault.

create or replace function jobs.call_function(slug text) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  site constant text := btrim(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'project_url'));
  -- The first of a list is the one in use; the others are accepted while it is being changed.
  secret constant text := btrim(split_part(
    (select s.decrypted_secret from vault.decrypted_secrets as s where s.name = 'cron_secret'), ',', 1));
begin
  if coalesce(site, '') = '' or coalesce(secret, '') = '' then
    raise exception 'cannot call %: the vault has no %', slug,
      case when coalesce(site, '') = '' then 'project_url' else 'cron_secret' end
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  begin
    -- In a header: an address ends up in the logs of every server on the way.
    return net.http_get(
      url := site || '/functions/v1/' || slug,
      headers := jsonb_build_object('Authorization', 'Bearer ' || secret),
      -- The platform ends a call after 60 s.
      timeout_milliseconds := 65000
    );
  exception when others then
    -- pg_cron keeps whole errors in cron.job_run_details, and those of pg_net quote the row with the header in it:
    -- only the code may leave.
    raise exception 'cannot call %: pg_net did not take the request (%)', slug, sqlstate;
  end;
end
$$;
comment on function jobs.call_function is
  'Asks for a scheduled function to be called, by its slug; answers the id of the request, whose answer '
  'net._http_response has.';
revoke all on function jobs.call_function from service_role;
