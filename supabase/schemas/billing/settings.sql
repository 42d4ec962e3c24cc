-- The operator's settings for plans. Invariants: there is always exactly one row, and no request writes it, so that API
-- callers cannot give themselves a paid plan.

create table billing.settings (
  is_only boolean primary key default true constraint settings_one_row check (is_only),
  plans_enabled boolean
);
comment on table billing.settings is
  'One row, changed by the operator as the owner of the database; no API role may write it.';
comment on column billing.settings.plans_enabled is
  'Whether plans limit features. False: all features are available, and pages don''t mention plans. Null: the operator '
  'has not decided; starting or deploying with a CHECKOUT_URL sets it to true.';
alter table billing.settings enable row level security;
create policy "Signed-in people can read whether there are plans" on billing.settings
  for select to authenticated using ((select auth.uid()) is not null);
grant select on billing.settings to authenticated, service_role;
insert into billing.settings (plans_enabled) values (null);

create or replace function billing.plans_enabled() returns boolean
-- Security definer, because a connector call queries it as the service and as the person, and each change of role
-- replans the query.
language plpgsql stable security definer set search_path = '' as $$
begin
  return coalesce((select s.plans_enabled from billing.settings as s), false);
end
$$;
comment on function billing.plans_enabled is 'Whether plans limit the features of organizations.';
grant execute on function billing.plans_enabled to authenticated;
