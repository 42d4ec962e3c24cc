-- Finds the plan endings that cost an organization features, for the warnings of get_context and for mails.

create or replace function billing.plan_endings(organization identity.organizations, first timestamptz,
  until timestamptz) returns table (reason text, plan text, ends_at timestamptz, features text[])
language plpgsql stable set search_path = '' as $$
begin
  return query
    select e.reason, e.plan, e.ends_at, lost.features
    from (
      values ('trial', 'team', organization.trial_ends_at),
        ('past_due', organization.plan, billing.grace_ends_at(organization.past_due_since)),
        ('past_due', organization.second_plan, billing.grace_ends_at(organization.second_past_due_since)),
        ('canceled', 'team', organization.plan_ended_at)
    ) as e (reason, plan, ends_at)
    cross join lateral (
      select array_agg(f.feature order by f.feature) as features
      from billing.plan_features as f
      -- The organization's row no longer names the plan of a canceled subscription.
      where f.plan = case when e.reason = 'canceled' then e.plan
          else identity.effective_plan(organization, e.ends_at - interval '1 microsecond') end
        and not identity.organization_has_feature(organization.id, f.feature, e.ends_at)
    ) as lost
    where e.ends_at > first and e.ends_at <= until and organization.deletes_at is null and lost.features is not null;
end
$$;
comment on function billing.plan_endings is
  'Returns the ends of a trial, grace period or canceled subscription between two instants, with the features lost at '
  'each. Leaves out ends that a later payment undid.';
grant execute on function billing.plan_endings to authenticated;
