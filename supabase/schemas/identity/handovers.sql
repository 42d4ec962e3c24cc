-- Hands an organization over to a new owner. There is always exactly one owner, who is a member.

create table identity.handovers (
  organization_id text collate "C" primary key,
  from_id uuid not null,
  to_id uuid not null,
  id uuid not null default gen_random_uuid() unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint handovers_from_fkey foreign key (organization_id, from_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint handovers_to_fkey foreign key (organization_id, to_id)
    references identity.memberships (organization_id, user_id) on delete cascade,
  constraint handovers_of_two_people check (from_id <> to_id)
);
comment on table identity.handovers is
  'Pending hand-overs, one per organization: the owner, and the member who has to confirm.';
comment on column identity.handovers.id is
  'Identifies this proposal, so that an outdated page cannot confirm a later one.';
create index handovers_from_idx on identity.handovers (organization_id, from_id);
create index handovers_to_idx on identity.handovers (organization_id, to_id);
alter table identity.handovers enable row level security;
grant select, insert, update, delete on identity.handovers to service_role;

create or replace function public.propose_owner(
  user_id uuid, organization_id text, member_id uuid, at timestamptz
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
    where o.id = propose_owner.organization_id and o.owner_id = propose_owner.user_id
      -- A person whose account is being deleted cannot become owner.
      and identity.hold_account(o.owner_id)
  ) or not exists (
    select from identity.memberships as m
    where m.organization_id = propose_owner.organization_id and m.user_id = member_id and m.role <> 'owner'
      and identity.is_active(m.user_id, at)
  ) then
    return '{"outcome":"unknown"}';
  end if;
  -- A new offer replaces the previous one.
  delete from identity.handovers as h where h.organization_id = propose_owner.organization_id;
  insert into identity.handovers (organization_id, from_id, to_id, created_at, expires_at)
  values (organization_id, user_id, member_id, at, at + interval '7 days');
  perform identity.record_event('organization.handover_proposed', user_id, organization_id,
    jsonb_build_object('member_id', member_id), at);
  return (
    select jsonb_build_object('outcome', 'proposed', 'address', p.email, 'organization_name', o.name)
    from identity.organizations as o
    join identity.profiles as p on p.user_id = member_id
    where o.id = propose_owner.organization_id
  );
end
$$;
comment on function public.propose_owner is
  'Asks a member to take over an organization within 7 days, replacing an earlier request; for its owner only: '
  '{"outcome":"proposed","address","organization_name"} or {"outcome":"unknown"}.';

create or replace function public.end_handover(user_id uuid, organization_id text, handover_id uuid, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ended identity.handovers;
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  delete from identity.handovers as h
  where h.organization_id = end_handover.organization_id and h.id = handover_id
    and end_handover.user_id in (h.from_id, h.to_id)
  returning h.* into ended;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event(
    case when ended.from_id = user_id then 'organization.handover_withdrawn' else 'organization.handover_declined' end,
    user_id, organization_id, '{}', at
  );
  return '{"outcome":"ended"}';
end
$$;
comment on function public.end_handover is 'Withdraws or declines a pending hand-over: outcome ended or unknown.';

create or replace function public.accept_handover(user_id uuid, organization_id text, handover_id uuid,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  accepted identity.handovers;
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  -- Works once, and only while the person who made the offer is still the owner.
  delete from identity.handovers as h
  where h.organization_id = accept_handover.organization_id and h.id = handover_id and h.to_id = user_id
    and h.expires_at > at and identity.is_active(h.to_id, at)
    and h.from_id = (select o.owner_id from identity.organizations as o where o.id = h.organization_id)
  returning h.* into accepted;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  -- Demote first, so that there is never a second owner.
  update identity.memberships as m set role = 'manager'
  where m.organization_id = accept_handover.organization_id and m.user_id = accepted.from_id;
  update identity.memberships as m set role = 'owner', sees_private = false
  where m.organization_id = accept_handover.organization_id and m.user_id = accepted.to_id;
  update identity.organizations as o set owner_id = accepted.to_id, updated_at = at
  where o.id = accept_handover.organization_id;
  perform identity.withdraw_invitations_of(organization_id, accepted.from_id, at);
  perform jobs.stop_digests_of(organization_id, accepted.from_id, at);
  perform identity.record_event('organization.handed_over', user_id, organization_id,
    jsonb_build_object('from', accepted.from_id), at);
  return '{"outcome":"accepted"}';
end
$$;
comment on function public.accept_handover is
  'Makes the asked member the owner and the owner a manager, once: outcome accepted or unknown.';
