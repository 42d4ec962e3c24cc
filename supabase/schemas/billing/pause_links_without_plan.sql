-- Provider links follow the plan. The end of a plan pauses them without deleting them, and the next payment resumes
-- them. A plan that ends during the trial pauses nothing; after the trial app.link_status stops fetching.

create or replace function app.pause_links_without_plan() returns trigger
language plpgsql set search_path = '' as $$
begin
  if new.plan_status = 'canceled' and coalesce(new.trial_ends_at <= new.updated_at, true) then
    update app.provider_links as l
    set resumes_as = l.status, status = 'paused', updated_at = new.updated_at
    where l.organization_id = new.id and l.status in ('pending', 'active', 'needs_reauth');
  else
    update app.provider_links as l
    set status = l.resumes_as, resumes_as = null, updated_at = new.updated_at
    where l.organization_id = new.id and l.status = 'paused' and l.resumes_as is not null;
  end if;
  return null;
end
$$;

create trigger pause_links_without_plan after update of plan_status on identity.organizations
  for each row
    when (old.plan_status is distinct from new.plan_status and 'canceled' in (old.plan_status, new.plan_status))
  execute function app.pause_links_without_plan();
revoke all on function app.pause_links_without_plan from authenticated, service_role;
