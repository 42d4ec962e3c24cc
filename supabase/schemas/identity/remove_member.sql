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
  'Whether a person may remove a member or leave: everybody except the owner may leave, and nobody may remove the '
  'owner.';

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
      'state', identity.describe_state(o.id, read_removal.user_id, at),
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
  'Returns counts of the items that a member''s removal would end or keep, the member''s balances and pending '
  'proposals, and "state" from identity.describe_state. Null without the right to remove them.';

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
  -- Deleting the membership also deletes grants, tokens, the calendar and a pending hand-over, so a person who joins
  -- again starts without them. Ends the grants before the proposals, as for any ended grant.
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
  'proposals, invitations and mails. Returns the number of bills that are now unassigned.';

-- Fails fast on the books lock: only an import holds it this long, and the page can be submitted again.
create or replace function public.remove_member(user_id uuid, organization_id text, member_id uuid, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' set lock_timeout = '5s' as $$
declare
  refusal constant jsonb := identity.refuse_deleting(organization_id, user_id, at);
  unassigned bigint;
begin
  -- A member may still leave while the organization is being deleted.
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
  'Removes a member and everything listed at identity.end_membership. Members also use it to leave. Outcome removed, '
  'or unknown (also without the right).';
