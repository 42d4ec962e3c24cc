-- The organization of the current request. Consent binds a token to one organization, so it can't reach the person's
-- other organizations.
create or replace function identity.find_organization_id() returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
begin
  -- security definer, because the policy of memberships calls it and would recurse forever as the caller.
  return (
    select m.organization_id
    from identity.memberships as m
    where m.organization_id = claims ->> 'organization_id' and m.user_id = (claims ->> 'sub')::uuid
      and identity.is_active(m.user_id, app.instant())
  );
end
$$;
comment on function identity.find_organization_id is
  'Returns the organization of the request''s claims, read from the tables; null unless the person is an active '
  'member.';

-- Every policy needs the rights of the same person. identity.note_standing() looks them up once per tool and after each
-- wait, and stores them in a setting next to the claims. The setting is as trustworthy as the claims, because the same
-- roles can write both.
create or replace function identity.is_standing_noted() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return nullif(current_setting('app.standing_of', true), '') = current_setting('request.jwt.claims', true);
end
$$;
comment on function identity.is_standing_noted is
  'Whether the setting holds the rights of the person in the request''s claims; null or false when they must be looked '
  'up.';

create or replace function identity.current_organization_id() returns text
language plpgsql stable set search_path = '' as $$
begin
  if identity.is_standing_noted() then
    return current_setting('app.member_of');
  end if;
  return identity.find_organization_id();
end
$$;
comment on function identity.current_organization_id is
  'Returns the organization of the request''s claims; null unless the person is an active member.';
grant execute on function identity.current_organization_id, identity.find_organization_id, identity.is_standing_noted
  to authenticated;
