-- The payees, the settings, and the end of the plan, for get_context.

create or replace function app.list_payees() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      coalesce(
      jsonb_agg(jsonb_build_object('name', p.payee, 'category', c.name) order by p.paid_on desc, p.recorded_seq desc),
      '[]')
    from (
      select distinct on (lower(e.payee)) e.payee, e.category_id, latest.paid_on, latest.recorded_seq
      from (select p.expense_id, p.paid_on, p.recorded_seq from app.payments as p where p.deleted_at is null
        order by p.paid_on desc, p.recorded_seq desc limit 1000) as latest
      join app.expenses as e on e.id = latest.expense_id
      where e.payee is not null
      order by lower(e.payee), latest.paid_on desc, latest.recorded_seq desc
    ) as p
    left join app.categories as c on c.id = p.category_id
  );
end
$$;
comment on function app.list_payees is
  'Returns the payees of the last 1000 payments, latest first, each with its category.';

create or replace function app.read_settings(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'timezone', p.timezone, 'base_currency', context.base_currency,
      'reminders', jsonb_build_object(
        'email_enabled', own.email_enabled, 'email',
        case when own.reminder_email_confirmed_at is not null then own.reminder_email else own.email end,
        'default_days_before', p.default_lead_days, 'hide_amounts_in_email', own.hide_amounts_in_email,
        'my_mails', (select m.mails from identity.memberships as m
          where m.organization_id = context.organization_id and m.user_id = context.actor_id)
      )
    ) || case when o.closed_through is null then '{}'
      else jsonb_build_object('closed_through', app.month_name(o.closed_through)) end
      || case when o.low_balance_minor is null then '{}' else jsonb_build_object('low_balance_limit',
        jsonb_build_object('amount', app.format_amount(o.low_balance_minor, o.low_balance_currency), 'currency',
        o.low_balance_currency)) end
      || case when o.own_only then '{"own_only":true}' else '{}' end::jsonb
      || case when o.relabel_closed then '{"relabel_closed":true}' else '{}' end::jsonb
    from identity.profiles as p
    join identity.organizations as o on o.id = context.organization_id
    -- Only the person sees their own mail settings.
    join identity.profiles as own on own.user_id = context.actor_id
    where p.user_id = context.owner_id
  );
end
$$;
comment on function app.read_settings is
  'Returns the settings that update_settings can change: the organization''s, and the person''s own mail preferences.';

create or replace function app.plan_warnings(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      coalesce(
      jsonb_agg(
      app.warning(case e.reason when 'trial' then 'plan_ending.trial' when 'past_due' then 'plan_ending.past_due'
        else 'plan_ending.canceled' end, jsonb_build_object(
      'plan', e.plan, 'ends_on', (e.ends_at at time zone context.timezone)::date, 'organization', o.name, 'features',
      to_jsonb(e.features)
        )) order by e.ends_at), '[]')
    from identity.organizations as o
    cross join lateral billing.plan_endings(o, context.at, context.at + interval '7 days') as e
    where o.id = context.organization_id
  );
end
$$;
comment on function app.plan_warnings is
  'Returns warnings about a trial or grace period that ends within a week, unless another plan includes its features.';
