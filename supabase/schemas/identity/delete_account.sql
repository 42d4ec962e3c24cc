create or replace function public.read_deletion(user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'country', (select p.country from identity.profiles as p where p.user_id = read_deletion.user_id),
    'deletes_at', (select p.deletes_at from identity.profiles as p where p.user_id = read_deletion.user_id),
    'plans', billing.plans_enabled(),
    'organizations', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', o.id, 'name', o.name, 'is_owner', o.owner_id = m.user_id, 'deletes_at', o.deletes_at,
        'is_paid', o.plan <> 'free', 'members', (
          select count(*) from identity.memberships as c where c.organization_id = o.id and c.user_id <> m.user_id
        ),
        'may_delete', identity.member_may(o.id, m.user_id, 'organization:manage'),
        'writes', identity.member_may(o.id, m.user_id, 'books:write'),
        'exports', identity.member_may(o.id, m.user_id, 'books:export')
      ) order by m.created_at, o.id), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = read_deletion.user_id
    )
  );
end
$$;
comment on function public.read_deletion is
  'Returns the data of the deletion pages: {"country","deletes_at","plans": whether plans are on,"organizations": '
  '[{"id","name","is_owner","deletes_at","is_paid","members","may_delete","writes","exports"}]}.';

-- Fails fast instead of waiting for the books of several organizations; the page can be submitted again.
create or replace function public.delete_account(user_id uuid, email text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' set lock_timeout = '5s' as $$
declare
  leaves_at constant timestamptz := at + app.kept_for('deleted_accounts');
  -- Organizations scheduled for deletion, which remain theirs until then.
  left_ids constant text[] := array(
    select m.organization_id from identity.memberships as m
    where m.user_id = delete_account.user_id and m.role <> 'owner'
    order by m.organization_id
  );
  organization_id text;
begin
  -- Includes people who never finished onboarding.
  insert into identity.profiles (user_id, email, created_at, updated_at) values (user_id, email, at, at)
  on conflict on constraint profiles_pkey do nothing;
  perform identity.hold_memberships(left_ids, user_id);
  -- Locks the person after the organizations, in the same order as adding members, so that no member joins
  -- concurrently.
  perform from identity.profiles as p where p.user_id = delete_account.user_id for update;
  if exists (
    select from identity.organizations as o where o.owner_id = delete_account.user_id and o.deletes_at is null
  ) then
    return '{"outcome": "owner"}';
  end if;
  update identity.profiles as p set deletes_at = leaves_at, updated_at = at
  where p.user_id = delete_account.user_id and p.deletes_at is null;
  if not found then
    return '{"outcome": "already"}';
  end if;
  for organization_id in
    select m.organization_id from identity.memberships as m
    where m.user_id = delete_account.user_id and m.role <> 'owner'
    order by m.organization_id
  loop
    if organization_id <> all (left_ids) then
      -- They joined this organization during the wait; the next attempt locks it.
      raise exception using errcode = 'lock_not_available', message = 'joined_meanwhile';
    end if;
    perform identity.end_membership(organization_id, user_id, user_id, at);
  end loop;
  delete from oauth.grants as g where g.user_id = delete_account.user_id;
  -- Otherwise they could later accept and become a mere member of the organization.
  delete from identity.handovers as h where h.from_id = delete_account.user_id;
  perform identity.record_event('account.deletion_asked', user_id, null, '{}', at);
  return jsonb_build_object('outcome', 'scheduled', 'deletes_at', leaves_at);
end
$$;
comment on function public.delete_account is
  'Schedules the deletion of a person after the grace period, and ends their memberships and connections at once: '
  '{"outcome":"scheduled","deletes_at"}, or outcome already, or owner while they own an organization that stays.';

create or replace function public.keep_account(user_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.profiles as p set deletes_at = null, updated_at = at
  where p.user_id = keep_account.user_id and p.deletes_at > at;
  if not found then
    return '{"outcome": "already"}';
  end if;
  perform identity.record_event('account.deletion_stopped', user_id, null, '{}', at);
  return '{"outcome": "kept"}';
end
$$;
comment on function public.keep_account is
  'Cancels the deletion of an account: {"outcome":"kept"}, or outcome already. Memberships that ended stay ended.';
