create or replace function public.create_organization(user_id uuid, name text, base_currency text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most_owned constant int := case when exists (
    select from identity.reviewers as r where r.user_id = create_organization.user_id
  ) then 1 else 20 end;
  gets_trial boolean;
  is_leaving boolean;
  new_id text;
begin
  if not exists (select from app.currencies as c where c.code = base_currency) then
    return '{"outcome":"invalid","field":"base_currency"}';
  end if;
  -- The lock makes a second click wait for the first, so that a person gets one trial.
  select p.trial_started_at is null, p.deletes_at is not null into gets_trial, is_leaving
  from identity.profiles as p
  where p.user_id = create_organization.user_id and p.country is not null and identity.is_active(p.user_id, at)
  for no key update;
  if not found then
    return '{"outcome":"unknown"}';
  elsif is_leaving then
    return '{"outcome":"leaving"}';
  end if;
  select o.id into new_id
  from identity.organizations as o
  where o.owner_id = user_id and o.name = btrim(create_organization.name)
    and o.base_currency = create_organization.base_currency and o.created_at > at - interval '1 minute';
  if found then
    return jsonb_build_object('outcome', 'created', 'organization_id', new_id);
  end if;
  if (select count(*) from identity.organizations as o where o.owner_id = user_id) >= most_owned then
    return jsonb_build_object('outcome', 'too_many', 'most', most_owned);
  end if;
  new_id := identity.found_organization(user_id, name, base_currency, gets_trial, at);
  if gets_trial then
    update identity.profiles as p set trial_started_at = at where p.user_id = create_organization.user_id;
  end if;
  perform identity.record_event('organization.created', user_id, new_id, jsonb_build_object('trial', gets_trial), at);
  return jsonb_build_object('outcome', 'created', 'organization_id', new_id);
end
$$;
comment on function public.create_organization is
  'Creates another organization of a person, with a trial if they never had one. Resubmitting the form does not create '
  'another one. {"outcome":"created","organization_id"}, {"outcome":"invalid","field"}, too_many, leaving while their '
  'account is being deleted, or unknown before onboarding.';

create or replace function public.read_new_organization(user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'country', p.country,
      'gets_trial', case when billing.plans_enabled() then p.trial_started_at is null end,
      'currencies', (select jsonb_agg(c.code order by c.code) from app.currencies as c)
    )
    from identity.profiles as p
    where p.user_id = read_new_organization.user_id and p.country is not null
      and p.deletes_at is null and identity.is_active(p.user_id, at)
  );
end
$$;
comment on function public.read_new_organization is
  'Returns a person''s data for the form of another organization: {"country","gets_trial": null without '
  'plans,"currencies"}; null before onboarding, and while the account is being deleted.';
