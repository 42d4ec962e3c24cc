create or replace function app.get_context(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  included constant jsonb := coalesce(arguments -> 'include', '["categories", "settings"]');
  data jsonb;
begin
  select jsonb_build_object(
    'user', jsonb_build_object('id', context.actor_id, 'email', app.member_name(context.actor_id)),
    'role', context.role, 'read_only', case when not identity.may('books:write') then true end,
    'plan', jsonb_build_object(
      'name', case when t.adds or not t.plans_enabled then 'team' else o.plan end,
      'status', case when t.adds and o.plan_status = 'canceled' or not t.plans_enabled then 'active'
        else o.plan_status end,
      'trial_ends_on', case when t.adds then (o.trial_ends_at at time zone context.timezone)::date end
    ),
    'features', (
      select coalesce(jsonb_agg(f.feature order by f.feature), '[]')
      from billing.plan_features as f
      where f.plan = identity.effective_plan(o, context.at)
    ),
    'fx_as_of', (
      select max(latest.rate_on)
      from app.currencies as c
      cross join lateral (select f.rate_on from app.fx_rates as f where f.quote = c.code order by f.rate_on desc
        limit 1) as latest
    )
  ) into data
  from identity.organizations as o
  cross join lateral (
    select e.plans_enabled,
      e.plans_enabled and context.at < o.trial_ends_at and (o.plan, o.plan_status) <> ('team', 'active') as adds
    from (select billing.plans_enabled()) as e (plans_enabled)
  ) as t
  where o.id = context.organization_id;

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
  if included ? 'recent_changes' then
    data := data
      || jsonb_build_object('recent_changes', app.list_changes(coalesce((arguments ->> 'changes_limit')::int, 10)));
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
  if included ? 'balances' then
    data := data || app.describe_balances();
  end if;
  if included ? 'members' then
    data := data || jsonb_build_object('members', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', m.user_id, 'email', app.member_name(m.user_id), 'role', m.role
      ) order by m.created_at, m.user_id), '[]')
      from identity.memberships as m
    ));
  end if;
  return jsonb_build_object('data', data, 'warnings', app.plan_warnings(context));
end
$$;
comment on function app.get_context is
  'Tool get_context: data {user, role, read_only?, plan, features, fx_as_of?} and the lists asked for: without include '
  'the '
  'categories and settings.';
