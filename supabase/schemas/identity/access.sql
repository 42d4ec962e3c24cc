-- Row-level security of identity: people reach only their token's organization.

alter table identity.profiles enable row level security;
alter table identity.organizations enable row level security;
alter table identity.memberships enable row level security;
alter table identity.audit_events enable row level security;

create policy "People can read the profiles of their organization" on identity.profiles
  for select to authenticated using (
    user_id in (select m.user_id from identity.memberships as m
      where m.organization_id = (select identity.current_organization_id()))
  );
create policy "People can change their own profile" on identity.profiles
  for update to authenticated using (user_id = (select auth.uid()) and (select identity.may('books:write')));
create policy "Members can read their organization" on identity.organizations
  for select to authenticated using (id = (select identity.current_organization_id()));
create policy "Members can read the members of their organization" on identity.memberships
  for select to authenticated using (organization_id = (select identity.current_organization_id()));
create policy "Members can change their own membership" on identity.memberships
  for update to authenticated using (
    organization_id = (select identity.current_organization_id()) and user_id = (select auth.uid())
    and (select identity.may('books:write'))
  );
create policy "Owners and managers can change their organization" on identity.organizations
  for update to authenticated
  using (id = (select identity.current_organization_id()) and (select identity.may('settings:write')));

grant select, insert, update, delete on identity.profiles, identity.organizations, identity.memberships to service_role;
grant select, insert on identity.audit_events to service_role;
grant select on identity.profiles, identity.organizations, identity.memberships to authenticated;
grant update (timezone, email_enabled, default_lead_days, hide_amounts_in_email, updated_at) on identity.profiles
  to authenticated;
grant update (
  base_currency, closed_through, own_only, relabel_closed, datev, low_balance_minor, low_balance_currency,
  low_balance_since, updated_at
) on identity.organizations to authenticated;
grant update (mails) on identity.memberships to authenticated;
