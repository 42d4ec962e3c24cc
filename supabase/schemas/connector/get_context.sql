create or replace function app.get_context(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  included constant jsonb := coalesce(
    arguments -> 'include', case when arguments ? 'changes' then '[]' else '["categories", "settings"]' end::jsonb
  );
  organization identity.organizations;
  counting_plan text;
  plans_enabled constant boolean := billing.plans_enabled();
  is_trial boolean;
  snapshot_on constant date := app.rates_snapshot((context.at at time zone 'utc')::date);
  data jsonb;
begin
  select * into strict organization from identity.organizations as o where o.id = context.organization_id;
  counting_plan := identity.effective_plan(organization, context.at);
  is_trial := plans_enabled and context.at < organization.trial_ends_at
    and (organization.plan, organization.plan_status) <> ('team', 'active');
  data := jsonb_build_object(
    'user', jsonb_build_object(
      'id', context.actor_id, 'email', app.member_name(context.actor_id),
      'client', app.plain_words(context.client_name, 60)
    ),
    'role', context.role, 'read_only', case when not identity.may('books:write') then true end,
    'plan', jsonb_build_object(
      'name', case when is_trial or not plans_enabled then 'team' else organization.plan end,
      'status', case when is_trial and organization.plan_status = 'canceled' or not plans_enabled then 'active'
        else organization.plan_status end,
      'trial_ends_on', case when is_trial then (organization.trial_ends_at at time zone context.timezone)::date end
    ),
    'features', (
      select coalesce(jsonb_agg(f.feature order by f.feature), '[]')
      from billing.plan_features as f
      where f.plan = counting_plan
    ),
    'fx_as_of', coalesce(snapshot_on, (select max(f.rate_on) from app.fx_rates as f))
  );
  data := data || jsonb_strip_nulls(jsonb_build_object('proposals', app.list_open_proposals(context)));
  if included ? 'categories' then
    data := data || jsonb_build_object('categories', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', c.id, 'name', c.name)
          || case when c.is_private then '{"private":true}' else '{}' end::jsonb
        order by lower(c.name), c.is_private
      ), '[]')
      from app.categories as c
      where c.archived_at is null
    ));
  end if;
  if included ? 'payees' then
    data := data || jsonb_build_object('payees', app.list_payees(), 'payee_rules', app.list_payee_rules());
  end if;
  if included ? 'settings' then
    data := data || jsonb_build_object('settings', app.read_settings(context));
  end if;
  if included ? 'recent_changes' or arguments ? 'changes' then
    data := data || app.list_changes(
      context,
      jsonb_strip_nulls(jsonb_build_object('limit', arguments -> 'changes_limit'))
        || coalesce(arguments -> 'changes', '{}')
    );
  end if;
  if included ? 'provider_links' then
    data := data || jsonb_build_object('provider_links', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', l.id, 'bill_id', l.expense_id, 'name', e.name, 'provider', app.provider_name(l), 'account',
        l.account_label, 'status', app.link_status(l, context.at),
        'last_success_period', to_char(l.last_success_period, 'YYYY-MM')
      ) order by e.name, l.id), '[]')
      from app.provider_links as l
      join app.expenses as e on e.id = l.expense_id
      where l.status <> 'revoked' and e.deleted_at is null
    ));
  end if;
  if included ? 'budgets' then
    data := data || jsonb_build_object('budgets', app.describe_budgets(context, context.today, null));
  end if;
  if included ? 'balances' then
    data := data || app.describe_balances() || jsonb_build_object('accounts', app.describe_accounts(context));
  end if;
  if included ? 'members' then
    data := data || jsonb_build_object('members', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.user_id, 'email', app.member_name(m.user_id), 'role', m.role
      ) order by m.created_at, m.user_id), '[]')
      from identity.memberships as m
    ));
  end if;
  return jsonb_build_object('data', data, 'warnings', app.plan_warnings(context)
    || case when included ? 'balances' then app.warn_of_own_only() else '[]' end || case
    when included ? 'balances' and not identity.sees_everything()
      and exists (
        select from app.accounts as a where a.organization_id = context.organization_id and app.sees_account(a)
      )
      then jsonb_build_array(app.warning('balances_hidden')) else '[]' end::jsonb || case
    when snapshot_on is null then '[]'
    else jsonb_build_array(
      app.warning('rate_snapshot', jsonb_build_object('into', context.base_currency, 'of', snapshot_on))
    )
  end::jsonb);
end
$$;
comment on function app.get_context is
  'Tool get_context. Returns data {user, role, read_only?, plan, features, fx_as_of?} and the requested lists: '
  'without include, the categories and settings.';
