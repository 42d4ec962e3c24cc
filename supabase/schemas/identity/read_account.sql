create or replace function identity.is_timezone(name text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- Accept names of places only. `at time zone` would also accept offsets, POSIX rules and abbreviations, which are
  -- ambiguous (IST) or ignore summer time (BST).
  return name = 'UTC'
    or (strpos(name, '/') > 0
    and exists (select from pg_catalog.pg_timezone_names as z where z.name = is_timezone.name));
end
$$;
comment on function identity.is_timezone is
  'Whether the database knows an IANA time zone of this name; UTC also counts.';

create or replace function public.read_account(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'profile', jsonb_build_object(
        'email', p.email, 'country', p.country, 'timezone', p.timezone, 'email_enabled', p.email_enabled,
        'default_lead_days', p.default_lead_days,
        'reminder_email', p.reminder_email, 'reminder_email_confirmed', p.reminder_email_confirmed_at is not null,
        'refused_email', p.refused_email, 'deletes_at', p.deletes_at
      ),
      'organizations', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', o.id, 'name', o.name, 'role', m.role, 'deletes_at', o.deletes_at, 'base_currency', o.base_currency,
          'plan', o.plan, 'plan_status',
          o.plan_status,
          'mails', m.mails, 'effective_plan', identity.effective_plan(o, at),
          'trial_ends_at', o.trial_ends_at,
          'is_trial', coalesce(at < o.trial_ends_at, false), 'rights', (
            select coalesce(jsonb_agg(r."right" order by r."right"), '[]')
            from identity.role_rights as r
            where r.role = m.role
          ),
          'owner_email', (select w.email from identity.profiles as w where w.user_id = o.owner_id),
          'grace_ends_at', billing.grace_ends_at(o.past_due_since), 'second_plan', o.second_plan,
          'second_grace_ends_at', billing.grace_ends_at(o.second_past_due_since),
          'period_ends_at', case when o.plan_status = 'canceled' then (s.clock).occurred_at else s.period_ends_at end,
          'features_off', (
            select coalesce(jsonb_agg(distinct f.feature), '[]')
            from billing.plan_features as f
            where not identity.organization_has_feature(o.id, f.feature, at)
          ),
          'proposals_waiting', (
            select count(*)
            from app.proposals as q
            where q.organization_id = o.id and q.state = 'pending' and q.expires_at > at
              and app.may_decide(q, p.user_id, 'page')
          ),
          'calendar', (
            select jsonb_build_object('show_amounts', f.show_amounts, 'created_at', f.created_at)
            from identity.calendar_feeds as f
            where f.organization_id = o.id and f.user_id = p.user_id
          )
        ) order by m.created_at, o.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        -- A plan set by hand has no subscription.
        left join lateral (select * from billing.subscriptions_with_a_say(o, at) limit 1) as s on s.status
          = o.plan_status
        where m.user_id = p.user_id
      ), '[]'),
      'plans_enabled', billing.plans_enabled(),
      'plan_features', (
        select jsonb_object_agg(f.plan, f.features)
        from (
          select t.plan, jsonb_agg(t.feature order by t.feature) as features
          from billing.plan_features as t
          group by t.plan
        ) as f
      ),
      'first_steps', jsonb_build_object(
        'app', exists (select from oauth.grants as g where g.user_id = p.user_id),
        'expense', exists (
          select
          from identity.memberships as m
          join app.expenses as e on e.organization_id = m.organization_id
          where m.user_id = p.user_id and e.kind = 'one_off'
        ),
        'bill', exists (
          select
          from identity.memberships as m
          join app.expenses as e on e.organization_id = m.organization_id
          where m.user_id = p.user_id and e.kind = 'bill'
        )
      ),
      'connected_apps', public.list_connected_apps(p.user_id, at),
      'grant_alerts', public.list_grant_alerts(p.user_id),
      'provider_links', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', l.id, 'provider_key', l.provider_key, 'account_label', l.account_label,
          'status', app.link_status(l, at), 'bill', e.name, 'bill_id', e.id,
          'bill_is_over', e.deleted_at is not null or e.status not in ('active', 'paused'), 'bill_is_variable',
          e.amount_mode = 'variable',
          'organization', o.name, 'organization_id', o.id, 'role', m.role, 'last_success_period', l.last_success_period
        ) order by o.name, e.name, l.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        join app.provider_links as l on l.organization_id = o.id and l.status <> 'revoked'
        join app.expenses as e on e.id = l.expense_id and app.member_sees(e, m)
        where m.user_id = p.user_id and o.deletes_at is null
      ), '[]'),
      'connectable_bills', coalesce((
        select jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name, 'organization', b.organization)
          order by b.organization, b.name, b.id)
        from (
          select e.id, e.name, o.name as organization
          from identity.organizations as o
          join app.expenses as e on e.organization_id = o.id
          where o.owner_id = p.user_id and o.deletes_at is null and e.kind = 'bill' and e.deleted_at is null
            and e.status = 'active'
            and e.amount_mode = 'variable'
            and identity.organization_has_feature(o.id, 'bills:variable', at)
            and not exists (select from app.provider_links as l where l.expense_id = e.id and l.status <> 'revoked')
          order by e.recorded_seq desc
          limit 20
        ) as b
      ), '[]')
    )
    from identity.profiles as p
    where p.user_id = read_account.user_id and p.country is not null
  );
end
$$;
comment on function public.read_account is 'Returns all data of the account page for a person; null before onboarding.';
