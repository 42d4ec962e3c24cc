-- Members of an organization: their roles, and how they leave.

create or replace function public.read_members(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  state constant jsonb := identity.describe_state(organization_id, user_id, at);
  manages constant boolean := identity.member_may(organization_id, user_id, 'members:manage')
    and state ->> 'deletes_at' is null;
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'role', own.role, 'may_manage', manages, 'state', state,
      'may_grow', identity.may_grow(o.id, at),
      'country', (select p.country from identity.profiles as p where p.user_id = own.user_id),
      'members', (
        select jsonb_agg(jsonb_build_object(
          'user_id', m.user_id, 'email', p.email, 'role', m.role, 'sees_private', m.sees_private,
          'may_change', m.user_id <> own.user_id and m.role <> 'owner' and o.deletes_at is null
            and identity.may_give_role(o.id, own.user_id, m.role, at)
        ) order by m.role <> 'owner', p.email, m.user_id)
        from identity.memberships as m
        join identity.profiles as p on p.user_id = m.user_id
        where m.organization_id = o.id
      ),
      'invitations', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', i.id, 'address', i.address, 'role', i.role, 'expires_at', i.expires_at, 'is_expired',
          i.expires_at <= at, 'may_change', identity.may_give_role(o.id, own.user_id, i.role, at)
        ) order by i.created_at desc, i.id)
        from identity.invitations as i
        where manages and i.organization_id = o.id and i.accepted_at is null and i.withdrawn_at is null
      ), '[]'),
      'handover', (
        select jsonb_build_object('id', h.id, 'from', f.email, 'to', t.email, 'to_me', h.to_id = own.user_id,
          'expires_at', h.expires_at)
        from identity.handovers as h
        join identity.profiles as f on f.user_id = h.from_id
        join identity.profiles as t on t.user_id = h.to_id
        where h.organization_id = o.id and h.expires_at > at and own.user_id in (h.from_id, h.to_id)
      )
    )
    from identity.organizations as o
    join identity.memberships as own on own.organization_id = o.id and own.user_id = read_members.user_id
    where o.id = read_members.organization_id and identity.is_active(own.user_id, at)
  );
end
$$;
comment on function public.read_members is
  'The members of an organization as one of them sees them. Includes open invitations for people who may invite, and a '
  'hand-over that the person can confirm or withdraw. Null for everybody else.';

create or replace function public.change_member_role(
  user_id uuid, organization_id text, member_id uuid, role text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  member identity.memberships;
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  select * into member from identity.memberships as m
  where m.organization_id = change_member_role.organization_id and m.user_id = member_id
    and identity.member_may(m.organization_id, change_member_role.user_id, 'members:manage');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  -- Only a hand-over changes the owner's role, and nobody changes their own.
  if member.role = 'owner' or member_id = user_id
    or not identity.may_give_role(organization_id, user_id, member.role, at)
    or not identity.may_give_role(organization_id, user_id, role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  if member.role = role then
    return '{"outcome":"changed"}';
  end if;
  update identity.memberships as m set role = change_member_role.role, sees_private = false
  where m.organization_id = change_member_role.organization_id and m.user_id = member_id;
  perform identity.withdraw_invitations_of(organization_id, member_id, at);
  perform jobs.stop_digests_of(organization_id, member_id, at);
  perform identity.record_event('member.role_changed', user_id, organization_id,
    jsonb_build_object('member_id', member_id, 'role', role), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_member_role is
  'Makes a member a manager, member or viewer: outcome changed, not_allowed, or unknown (also without the right to '
  'manage members).';

create or replace function public.open_private(
  user_id uuid, organization_id text, member_id uuid, sees_private boolean, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  if not exists (
    select from identity.organizations as o
    where o.id = open_private.organization_id and o.owner_id = open_private.user_id
  ) then
    return '{"outcome":"unknown"}';
  end if;
  update identity.memberships as m set sees_private = open_private.sees_private
  where m.organization_id = open_private.organization_id and m.user_id = member_id and m.role = 'viewer';
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  if not sees_private then
    perform jobs.stop_digests_of(organization_id, member_id, at);
  end if;
  perform identity.record_event('member.private_changed', user_id, organization_id,
    jsonb_build_object('member_id', member_id, 'sees_private', sees_private), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.open_private is
  'Opens private categories to a viewer, or closes them, for the owner only: outcome changed or unknown.';

create or replace function identity.may_remove(organization_id text, user_id uuid, member_id uuid, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from identity.memberships as m
    where m.organization_id = may_remove.organization_id and m.user_id = member_id and m.role <> 'owner'
      and (m.user_id = may_remove.user_id and identity.is_active(m.user_id, at)
        or identity.may_give_role(m.organization_id, may_remove.user_id, m.role, at))
  );
end
$$;
comment on function identity.may_remove is
  'Whether a person may remove a member, or leave: anybody but the owner leaves, and nobody removes the owner.';

create or replace function public.read_removal(user_id uuid, organization_id text, member_id uuid, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not identity.may_remove(organization_id, user_id, member_id, at) then
    return null;
  end if;
  return (
    select jsonb_build_object(
      'organization_name', o.name, 'email', p.email,
      -- Names only for people who see everything, because names can reveal private records.
      'assigned', (
        select count(*) from app.expenses as e
        where e.organization_id = o.id and e.assignee_id = member_id and e.deleted_at is null
          and app.member_sees(e, reader)
      ),
      'apps', (
        select count(*) from oauth.grants as g
        where g.organization_id = o.id and g.user_id = member_id and g.revoked_at is null and g.expires_at > at
      ),
      'balances', app.balances_of(o.id, member_id),
      'waiting', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', w.id, 'tool', w.tool, 'facts', w.facts, 'effects', w.effects -> 'effects',
          'effects_count', w.effects -> 'effects_count', 'created_at', w.created_at
        ) order by w.created_at), '[]')
        from app.proposals as w
        where w.organization_id = o.id and w.actor_id = member_id and w.state = 'pending' and w.expires_at > at
      ),
      'country', own.country, 'timezone', own.timezone,
      'has_calendar', exists (
        select from identity.calendar_feeds as f where f.organization_id = o.id and f.user_id = member_id
      ),
      'imports', (
        select count(*) from app.import_batches as b
        where b.organization_id = o.id and b.actor_id = member_id and b.state <> 'committed'
      ),
      'links', (
        select count(*)
        from app.provider_links as l join app.expenses as e on e.id = l.expense_id
        where l.organization_id = o.id and l.status <> 'revoked' and app.member_sees(e, reader)
      ),
      'proposals', (
        select count(*)
        from app.provider_statements as s
        join app.provider_links as l on l.id = s.link_id
        join app.expenses as e on e.id = l.expense_id
        where s.organization_id = o.id and s.status = 'needs_review' and app.member_sees(e, reader)
      ),
      'invitations', (
        select count(*) from identity.invitations as i
        where i.organization_id = o.id and i.invited_by = member_id and i.accepted_at is null
          and i.withdrawn_at is null and i.expires_at > at
      )
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = member_id
    join identity.memberships as reader on reader.organization_id = o.id and reader.user_id = read_removal.user_id
    join identity.profiles as own on own.user_id = reader.user_id
    where o.id = read_removal.organization_id
  );
end
$$;
comment on function public.read_removal is
  'What removing a member would end and keep, as counts; their balances and waiting proposals in full. Null without '
  'the right to remove them.';

create or replace function identity.hold_memberships(organization_ids text[], member_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select distinct o.id from unnest(organization_ids) as o (id) order by o.id);
  held text;
begin
  -- Locks the books and bills before the members, in the order of closing a month.
  foreach held in array ids loop
    perform pg_advisory_xact_lock(app.books_key(held));
  end loop;
  perform from app.expenses as e
  where e.organization_id = any (ids) and e.assignee_id = member_id
  order by e.id for no key update;
  foreach held in array ids loop
    perform identity.lock_members(held);
  end loop;
end
$$;
comment on function identity.hold_memberships is
  'Locks the rows that identity.end_membership changes in these organizations, so that no tool assigns anything to the '
  'member meanwhile.';

create or replace function identity.end_membership(organization_id text, member_id uuid, by_id uuid, at timestamptz)
  returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  unassigned bigint;
begin
  update app.expenses as e set assignee_id = null, updated_at = at
  where e.organization_id = end_membership.organization_id and e.assignee_id = member_id;
  get diagnostics unassigned = row_count;
  delete from app.import_batches as b
  where b.organization_id = end_membership.organization_id and b.actor_id = member_id and b.state <> 'committed';
  delete from app.idempotency_keys as k
  where k.organization_id = end_membership.organization_id and k.actor_id = member_id;
  -- The membership takes along grants, tokens, the calendar and a pending hand-over, so that none returns with the
  -- person.
  -- Ends the grants before the proposals, as for any ended grant.
  delete from identity.memberships as m
  where m.organization_id = end_membership.organization_id and m.user_id = member_id;
  perform app.withdraw_proposals_of(organization_id, member_id, by_id, at);
  perform jobs.stop_digests_of(organization_id, member_id, at);
  perform identity.withdraw_invitations_of(organization_id, member_id, at);
  return unassigned;
end
$$;
comment on function identity.end_membership is
  'Ends a membership locked by identity.hold_memberships, with the member''s grants, calendar, waiting imports, '
  'proposals, invitations and mails. Returns how many of their assigned bills are now unassigned.';

-- Fails fast on the books lock: only an import holds it this long, and the page can be submitted again.
create or replace function public.remove_member(user_id uuid, organization_id text, member_id uuid, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' set lock_timeout = '5s' as $$
declare
  refusal constant jsonb := identity.refuse_deleting(organization_id, user_id, at);
  unassigned bigint;
begin
  -- A member may still leave.
  if refusal is not null and member_id <> user_id then
    return refusal;
  end if;
  if not identity.may_remove(organization_id, user_id, member_id, at) then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.hold_memberships(array[organization_id], member_id);
  if not identity.may_remove(organization_id, user_id, member_id, at) then
    return '{"outcome":"unknown"}';
  end if;
  unassigned := identity.end_membership(organization_id, member_id, user_id, at);
  perform identity.record_event(case when user_id = member_id then 'member.left' else 'member.removed' end, user_id,
    organization_id, jsonb_build_object('member_id', member_id, 'unassigned', unassigned), at);
  return '{"outcome":"removed"}';
end
$$;
comment on function public.remove_member is
  'Removes a member with everything that identity.end_membership ends; also for leaving. Outcome removed, or unknown '
  '(also without the right).';
