-- Accounts: what the identity pages read and change, one function a page view or change.
-- The pages decide nothing: expected outcomes come back as {"outcome": …} and every change leaves an audit event.

create function identity.record_event(event text, actor_id uuid, organization_id text, detail jsonb, at timestamptz) returns void
language plpgsql set search_path = '' as $$
begin
  insert into identity.audit_events (at, actor_id, organization_id, event, detail)
  values (record_event.at, record_event.actor_id, record_event.organization_id, record_event.event, record_event.detail);
end
$$;
comment on function identity.record_event is 'Adds one line to the audit trail.';
revoke all on function identity.record_event from public, anon;
grant execute on function identity.record_event to service_role;

-- Onboarding

create function public.read_onboarding(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'onboarded', exists (select from identity.profiles as p where p.user_id = read_onboarding.user_id and p.country is not null),
    'currencies', (select jsonb_agg(c.code order by c.code) from app.currencies as c)
  );
end
$$;
comment on function public.read_onboarding is 'Whether a person has been through onboarding ("onboarded") and the currencies that can be chosen there.';

create function public.note_sign_in(user_id uuid, email text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p
  set email = note_sign_in.email,
    -- Its own address needs no confirmation by mail: the identity provider has asked there.
    reminder_email = nullif(p.reminder_email, note_sign_in.email),
    reminder_email_confirmed_at = case when p.reminder_email <> note_sign_in.email then p.reminder_email_confirmed_at end,
    -- A mail server that refused the old address knows nothing of the new one.
    refused_email = nullif(p.refused_email, p.email), refused_at = case when p.refused_email <> p.email then p.refused_at end,
    updated_at = note_sign_in.at
  where p.user_id = note_sign_in.user_id and p.email <> note_sign_in.email;
  if found then
    perform identity.record_event('account.address_changed', user_id, null, '{}', note_sign_in.at);
  end if;
  return jsonb_build_object('onboarded', exists (
    select from identity.profiles as p where p.user_id = note_sign_in.user_id and p.country is not null
  ));
end
$$;
comment on function public.note_sign_in is
  'Takes over the address that somebody signed in with, where it is another than the last time: {"onboarded": whether they have been through onboarding}.';

create function public.complete_onboarding(
  user_id uuid, email text, country text, organization_name text, timezone text, base_currency text, reminder_email text, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  gets_trial boolean;
  new_organization_id text;
begin
  if not exists (select from app.currencies as c where c.code = complete_onboarding.base_currency) then
    return '{"outcome":"invalid","field":"base_currency"}';
  end if;
  if not identity.is_timezone(complete_onboarding.timezone) then
    return '{"outcome":"invalid","field":"timezone"}';
  end if;

  -- Once: whoever gives the profile its country creates the rest. A second press waits for the row and finds it taken.
  insert into identity.profiles as p (user_id, email, country, timezone, reminder_email, trial_started_at, created_at, updated_at)
  values (
    complete_onboarding.user_id, complete_onboarding.email, complete_onboarding.country, complete_onboarding.timezone,
    nullif(complete_onboarding.reminder_email, complete_onboarding.email), complete_onboarding.at, complete_onboarding.at, complete_onboarding.at
  )
  on conflict on constraint profiles_pkey do update
    set country = excluded.country, timezone = excluded.timezone, reminder_email = excluded.reminder_email, updated_at = excluded.updated_at,
      trial_started_at = coalesce(p.trial_started_at, excluded.trial_started_at)
    where p.country is null
  returning p.trial_started_at = complete_onboarding.at into gets_trial;
  if not found then
    return '{"outcome":"already"}';
  end if;

  insert into identity.organizations (name, base_currency, trial_ends_at, owner_id, created_at, updated_at)
  values (
    btrim(complete_onboarding.organization_name), complete_onboarding.base_currency, case when gets_trial then complete_onboarding.at + interval '14 days' end,
    complete_onboarding.user_id, complete_onboarding.at, complete_onboarding.at
  )
  returning id into new_organization_id;
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (new_organization_id, complete_onboarding.user_id, 'owner', complete_onboarding.at);
  perform app.create_default_categories(new_organization_id, complete_onboarding.at);
  perform identity.record_event('account.created', complete_onboarding.user_id, new_organization_id, jsonb_build_object('trial', gets_trial), complete_onboarding.at);
  return jsonb_build_object('outcome', 'created', 'organization_id', new_organization_id);
end
$$;
comment on function public.complete_onboarding is
  'Creates profile, organization, membership and categories, once a person: {"outcome":"created","organization_id"}, {"outcome":"already"} or {"outcome":"invalid","field"}.';

create function identity.is_timezone(name text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- Places only. `at time zone` would also take offsets, POSIX rules and abbreviations, which mean another place to each (IST) or forget the summer (BST).
  return name = 'UTC' or (strpos(name, '/') > 0 and exists (select from pg_catalog.pg_timezone_names as z where z.name = is_timezone.name));
end
$$;
comment on function identity.is_timezone is 'Whether the database knows an IANA time zone of a place by this name; UTC is one.';
revoke all on function identity.is_timezone from public, anon;
grant execute on function identity.is_timezone to authenticated, service_role;

-- Account

create function public.read_account(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'profile', jsonb_build_object(
        'email', p.email, 'country', p.country, 'timezone', p.timezone, 'email_enabled', p.email_enabled, 'default_lead_days', p.default_lead_days,
        'reminder_email', p.reminder_email, 'reminder_email_confirmed', p.reminder_email_confirmed_at is not null,
        'refused_email', p.refused_email
      ),
      'organizations', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', o.id, 'name', o.name, 'role', m.role, 'base_currency', o.base_currency, 'plan', o.plan, 'plan_status', o.plan_status,
          'reminders_enabled', o.reminders_enabled, 'effective_plan', identity.effective_plan(o, read_account.at), 'trial_ends_at', o.trial_ends_at,
          'is_trial', coalesce(read_account.at < o.trial_ends_at, false), 'grace_ends_at', o.past_due_since + interval '7 days',
          'second_plan', o.second_plan, 'second_grace_ends_at', o.second_past_due_since + interval '7 days',
          'period_ends_at', case when o.plan_status = 'canceled' then (s.clock).occurred_at else s.period_ends_at end,
          'features_off', (
            select coalesce(jsonb_agg(distinct f.feature), '[]')
            from billing.plan_features as f
            where not identity.organization_has_feature(o.id, f.feature, read_account.at)
          )
        ) order by m.created_at, o.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        -- Of a plan that was set by hand none is paid for.
        left join lateral (select * from billing.subscriptions_with_a_say(o, read_account.at) limit 1) as s on s.status = o.plan_status
        where m.user_id = p.user_id
      ), '[]'),
      'connected_apps', public.list_connected_apps(p.user_id, read_account.at),
      'grant_alerts', public.list_grant_alerts(p.user_id),
      'provider_links', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', l.id, 'provider_key', l.provider_key, 'account_label', l.account_label,
          'status', app.link_status(l, read_account.at), 'bill', e.name, 'bill_id', e.id,
          'bill_is_over', e.deleted_at is not null or e.status not in ('active', 'paused'), 'bill_is_variable', e.amount_mode = 'variable',
          'organization', o.name, 'role', m.role, 'last_success_period', l.last_success_period
        ) order by o.name, e.name, l.id)
        from identity.memberships as m
        join identity.organizations as o on o.id = m.organization_id
        join app.provider_links as l on l.organization_id = o.id and l.status <> 'revoked'
        join app.expenses as e on e.id = l.expense_id
        where m.user_id = p.user_id
      ), '[]'),
      'connectable_bills', coalesce((
        select jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name, 'organization', b.organization) order by b.organization, b.name, b.id)
        from (
          select e.id, e.name, o.name as organization
          from identity.organizations as o
          join app.expenses as e on e.organization_id = o.id
          where o.owner_id = p.user_id and e.kind = 'bill' and e.deleted_at is null and e.status = 'active' and e.amount_mode = 'variable'
            and identity.organization_has_feature(o.id, 'bills:variable', read_account.at)
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
comment on function public.read_account is 'Everything the account page shows of a person; null before onboarding.';

create function public.change_country(user_id uuid, country text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p set country = change_country.country, updated_at = change_country.at
  where p.user_id = change_country.user_id and p.country is not null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('account.country_changed', user_id, null, '{}', change_country.at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_country is
  'Where a person lives now; currency and time zone stay as they are: {"outcome":"changed"}, or {"outcome":"unknown"} before onboarding.';

create function public.rename_organization(user_id uuid, organization_id text, name text, at timestamptz) returns jsonb
language plpgsql set search_path = '' as $$
begin
  update identity.organizations as o set name = btrim(rename_organization.name), updated_at = rename_organization.at
  where o.id = rename_organization.organization_id and o.owner_id = rename_organization.user_id;
  if not found then
    return '{"outcome":"not_owner"}';
  end if;
  perform identity.record_event('organization.renamed', user_id, organization_id, '{}', rename_organization.at);
  return '{"outcome":"renamed"}';
end
$$;
comment on function public.rename_organization is 'Gives an organization another name, for its owner only: {"outcome":"renamed"} or {"outcome":"not_owner"}.';

create function public.update_reminders(
  user_id uuid, reminder_email text, timezone text, default_lead_days integer, email_enabled boolean, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  unconfirmed text;
begin
  if not identity.is_timezone(update_reminders.timezone) then
    return '{"outcome":"invalid","field":"timezone"}';
  end if;
  update identity.profiles as p
  set timezone = update_reminders.timezone,
    default_lead_days = update_reminders.default_lead_days,
    email_enabled = update_reminders.email_enabled,
    reminder_email = nullif(update_reminders.reminder_email, p.email),
    -- A confirmation belongs to the address it was given for.
    reminder_email_confirmed_at = case when update_reminders.reminder_email = p.reminder_email then p.reminder_email_confirmed_at end,
    -- Whoever saves an address again wants it tried again.
    refused_email = null, refused_at = null,
    updated_at = update_reminders.at
  where p.user_id = update_reminders.user_id
  returning case when p.reminder_email_confirmed_at is null then p.reminder_email end into unconfirmed;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('reminders.changed', user_id, null, jsonb_build_object('email_enabled', email_enabled), update_reminders.at);
  return jsonb_build_object('outcome', 'updated', 'unconfirmed', unconfirmed);
end
$$;
comment on function public.update_reminders is
  'Changes when and where reminders go: {"outcome":"updated","unconfirmed": address that must be confirmed first, or null}, {"outcome":"invalid","field"} or {"outcome":"unknown"}.';

create function public.confirm_reminder_email(user_id uuid, reminder_email text, at timestamptz) returns jsonb
language plpgsql set search_path = '' as $$
begin
  update identity.profiles as p
  set reminder_email_confirmed_at = coalesce(p.reminder_email_confirmed_at, confirm_reminder_email.at),
    refused_email = null, refused_at = null, updated_at = confirm_reminder_email.at
  where p.user_id = confirm_reminder_email.user_id and p.reminder_email = confirm_reminder_email.reminder_email;
  if not found then
    return '{"outcome":"stale"}';
  end if;
  perform identity.record_event('reminders.address_confirmed', user_id, null, '{}', confirm_reminder_email.at);
  return '{"outcome":"confirmed"}';
end
$$;
comment on function public.confirm_reminder_email is 'Confirms the reminder address while it is still the one that was asked for: {"outcome":"confirmed"} or {"outcome":"stale"}.';

revoke all on function
  public.read_onboarding, public.note_sign_in, public.complete_onboarding, public.read_account,
  public.change_country, public.rename_organization, public.update_reminders, public.confirm_reminder_email
  from public, anon, authenticated;
grant execute on function
  public.read_onboarding, public.note_sign_in, public.complete_onboarding, public.read_account,
  public.change_country, public.rename_organization, public.update_reminders, public.confirm_reminder_email
  to service_role;
