-- The functions return expected outcomes as {"outcome": …} and leave decisions about pages to the callers. Every change
-- adds an audit event.

create or replace function public.read_onboarding(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'onboarded',
    exists (select from identity.profiles as p where p.user_id = read_onboarding.user_id and p.country is not null),
    'currencies', (select jsonb_agg(c.code order by c.code) from app.currencies as c)
  );
end
$$;
comment on function public.read_onboarding is
  'Returns whether a person has completed onboarding ("onboarded"), and the available currencies.';

create or replace function public.note_sign_in(user_id uuid, email text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p
  set email = note_sign_in.email,
    -- The account's own address needs no confirmation, because the identity provider has confirmed it.
    reminder_email = nullif(p.reminder_email, note_sign_in.email),
    reminder_email_confirmed_at
      = case when p.reminder_email <> note_sign_in.email then p.reminder_email_confirmed_at end,
    -- A refusal of the old address says nothing about the new one.
    refused_email = nullif(p.refused_email, p.email),
    refused_at = case when p.refused_email <> p.email then p.refused_at end,
    updated_at = at
  where p.user_id = note_sign_in.user_id and p.email <> note_sign_in.email;
  if found then
    perform identity.record_event('account.address_changed', user_id, null, '{}', at);
  end if;
  return jsonb_build_object(
    'onboarded',
    exists (select from identity.profiles as p where p.user_id = note_sign_in.user_id and p.country is not null)
  ) || case
    when exists (select from identity.profiles as p where p.user_id = note_sign_in.user_id and p.deletes_at is not null)
      then '{"leaving": true}'
    else '{}'
  end::jsonb;
end
$$;
comment on function public.note_sign_in is
  'Stores the person''s sign-in address if it changed. Returns {"onboarded": whether they have completed onboarding, '
  '"leaving": whether their account is being deleted}.';

create or replace function identity.found_organization(
  owner_id uuid, name text, base_currency text, gets_trial boolean, at timestamptz
) returns text
language plpgsql volatile set search_path = '' as $$
declare
  new_id text;
begin
  insert into identity.organizations (name, base_currency, trial_ends_at, owner_id, created_at, updated_at)
  values (
    btrim(name), base_currency,
    case when gets_trial then at + interval '14 days' end,
    owner_id, at, at
  )
  returning id into new_id;
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (new_id, owner_id, 'owner', at);
  perform app.create_default_categories(new_id, at);
  return new_id;
end
$$;
comment on function identity.found_organization is
  'Creates an organization with its owner and its default categories. Returns its id.';

create or replace function public.complete_onboarding(
  user_id uuid, email text, country text, organization_name text, timezone text, base_currency text,
  reminder_email text, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  gets_trial boolean;
  new_organization_id text;
begin
  if organization_name is not null
    and not exists (select from app.currencies as c where c.code = base_currency) then
    return '{"outcome":"invalid","field":"base_currency"}';
  end if;
  if not identity.is_timezone(timezone) then
    return '{"outcome":"invalid","field":"timezone"}';
  end if;

  -- Runs once: the call that sets the profile's country creates the rest. A concurrent call waits for the row, then
  -- finds the country set.
  insert into identity.profiles
    as p (user_id, email, country, timezone, reminder_email, trial_started_at, created_at, updated_at)
  values (
    user_id, email, country, timezone,
    nullif(reminder_email, email), case when organization_name is not null then at end,
    at, at
  )
  on conflict on constraint profiles_pkey do update
    set country = excluded.country, timezone = excluded.timezone, reminder_email = excluded.reminder_email,
      updated_at = excluded.updated_at,
      trial_started_at = coalesce(p.trial_started_at, excluded.trial_started_at)
    where p.country is null and p.deletes_at is null
  returning coalesce(p.trial_started_at = at, false) into gets_trial;
  if not found then
    return case when identity.hold_account(user_id) then '{"outcome":"already"}' else '{"outcome":"leaving"}' end;
  end if;

  if organization_name is not null then
    new_organization_id := identity.found_organization(user_id, organization_name, base_currency, gets_trial, at);
  end if;
  perform identity.record_event('account.created', user_id, new_organization_id,
    jsonb_build_object('trial', gets_trial), at);
  return jsonb_build_object('outcome', 'created', 'organization_id', new_organization_id);
end
$$;
comment on function public.complete_onboarding is
  'Creates profile, organization, membership and categories, once per person: {"outcome":"created","organization_id"}, '
  '{"outcome":"already"}, {"outcome":"leaving"} while the account is being deleted, or {"outcome":"invalid","field"}. '
  'Without a name (an invited person) it creates no organization and keeps their trial for a later one.';
