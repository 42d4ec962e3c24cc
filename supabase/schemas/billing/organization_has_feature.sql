create or replace function billing.grace_ends_at(past_due_since timestamptz) returns timestamptz
language sql immutable
  return past_due_since + interval '7 days';
comment on function billing.grace_ends_at is
  'Returns the end of the grace period of an overdue plan; null when no payment is overdue.';

create or replace function identity.effective_plan(organization identity.organizations, at timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  if not billing.plans_enabled() then
    return 'team';
  end if;
  -- Names sort in the order of the plans, and greatest() ignores nulls.
  return greatest(
    case when organization.plan_status <> 'past_due' or at < billing.grace_ends_at(organization.past_due_since)
      then organization.plan else 'free' end,
    case when at < billing.grace_ends_at(organization.second_past_due_since) then organization.second_plan end,
    case when at < organization.trial_ends_at then 'team' end
  );
end
$$;
comment on function identity.effective_plan is
  'Returns the plan whose features apply at an instant: the best of the paid plan, a past-due plan in its grace '
  'period, and a running trial; the largest when plans are off.';

create or replace function identity.organization_has_feature(organization_id text, feature text, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
declare
  organization identity.organizations;
  counting_plan text;
begin
  select * into organization from identity.organizations as o where o.id = organization_id and o.deletes_at is null;
  if not found then
    return false;
  end if;
  counting_plan := identity.effective_plan(organization, at);
  return exists (
    select from billing.plan_features as f
    where f.plan = counting_plan and f.feature = organization_has_feature.feature
  );
end
$$;
comment on function identity.organization_has_feature is
  'Whether an organization''s plan includes a feature at an instant; false while it is being deleted. Every check uses '
  'this function.';
grant execute on function identity.effective_plan, identity.organization_has_feature, billing.grace_ends_at
  to authenticated;
