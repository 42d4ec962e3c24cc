-- Invitations to an organization, each with a role and an inviter. Invariants: an address has one open invitation per
-- organization; only the SHA-256 of the link's token is stored; an invitation is accepted once, by a person who signs
-- in with the invited address, while the inviter still has the right. Row-level security is on without policies: only
-- the service reads the table.

create table identity.invitations (
  id text collate "C" primary key default app.new_id('inv')
    constraint invitations_id_format check (id ~ '^inv_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  address text not null
    constraint invitations_address_format
      check (address = lower(address) and address like '_%@_%' and length(address) <= 320),
  role text not null constraint invitations_role_known check (role in ('manager', 'member', 'viewer')),
  invited_by uuid not null references identity.profiles (user_id) on delete cascade,
  token_hash bytea not null unique constraint invitations_token_hash_length check (octet_length(token_hash) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  withdrawn_at timestamptz,
  constraint invitations_settled_once check (accepted_at is null or withdrawn_at is null)
);
comment on table identity.invitations is
  'Invitations to organizations by mail. Resending an invitation creates a new link and invalidates the previous one.';
comment on column identity.invitations.address is
  'In lower case. The link works only for a person who signs in with this address.';
create index invitations_organization_id_idx on identity.invitations (organization_id);
create index invitations_invited_by_idx on identity.invitations (invited_by);
create unique index invitations_open_idx on identity.invitations (organization_id, address)
  where accepted_at is null and withdrawn_at is null;
alter table identity.invitations enable row level security;
grant select, insert, update, delete on identity.invitations to service_role;

create or replace function identity.may_grow(organization_id text, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from identity.organizations as o
    where o.id = may_grow.organization_id and o.deletes_at is null and identity.effective_plan(o, at) = 'team'
  );
end
$$;
comment on function identity.may_grow is
  'Whether an organization''s plan allows further members at an instant; false while it is being deleted. Every check '
  'uses this function. Existing members stay on any plan.';

create or replace function public.may_sign_up(email text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('may',
    exists (
      select from identity.invitations as i
      where i.address = lower(may_sign_up.email) and i.accepted_at is null and i.withdrawn_at is null
        and i.expires_at > at
    )
    or exists (
      select from identity.profiles as p
      join identity.memberships as m on m.user_id = p.user_id
      where lower(p.email) = lower(may_sign_up.email)
    )
    or not exists (select from identity.organizations)
  );
end
$$;
comment on function public.may_sign_up is
  'Returns {"may"}, whether an address may sign up by invitation: true with an open invitation, for members, and while '
  'there is no organization yet.';

create or replace function identity.may_give_role(organization_id text, user_id uuid, role text, at timestamptz)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return role in ('manager', 'member', 'viewer')
    and identity.is_active(user_id, at)
    and identity.member_may(organization_id, user_id, 'members:manage')
    and exists (
      select from identity.organizations as o
      where o.id = may_give_role.organization_id and o.deletes_at is null
        and (role <> 'manager' or o.owner_id = may_give_role.user_id)
    );
end
$$;
comment on function identity.may_give_role is
  'Whether a person may give or take a role in an organization: only the owner may appoint managers, and nobody may '
  'change roles during deletion.';

create or replace function identity.lock_members(organization_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from identity.organizations as o where o.id = lock_members.organization_id for no key update;
end
$$;
comment on function identity.lock_members is
  'Makes this transaction the only writer of an organization''s members. Every such change calls it first.';

create or replace function identity.hold_members(organization_id text, user_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform identity.lock_members(organization_id);
  return identity.refuse_deleting(organization_id, user_id, at);
end
$$;
comment on function identity.hold_members is
  'identity.lock_members for a person who changes members. Returns identity.refuse_deleting, whose result stays valid '
  'until the transaction ends.';

create or replace function public.invite_member(
  user_id uuid, organization_id text, address text, role text, token_hash text, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most_open constant int := 20;
  invited constant text := lower(address);
  new_hash constant bytea := decode(token_hash, 'hex');
  refusal constant jsonb := identity.hold_members(organization_id, user_id, at);
begin
  if refusal is not null then
    return refusal;
  end if;
  if not identity.may_give_role(organization_id, user_id, role, at) then
    return '{"outcome":"not_allowed"}';
  end if;
  if not identity.may_grow(organization_id, at) then
    return '{"outcome":"plan"}';
  end if;
  if exists (
    select from identity.memberships as m
    join identity.profiles as p on p.user_id = m.user_id
    where m.organization_id = invite_member.organization_id and lower(p.email) = invited
  ) then
    return '{"outcome":"already_member"}';
  end if;
  -- A repeated invitation replaces the link and the role instead of adding a second one.
  update identity.invitations as i
  set role = invite_member.role, invited_by = user_id, token_hash = new_hash,
    created_at = at, expires_at = at + interval '7 days'
  where i.organization_id = invite_member.organization_id and i.address = invited
    and i.accepted_at is null and i.withdrawn_at is null
    and identity.may_give_role(i.organization_id, user_id, i.role, at);
  if not found then
    if exists (
      select from identity.invitations as i
      where i.organization_id = invite_member.organization_id and i.address = invited
        and i.accepted_at is null and i.withdrawn_at is null
    ) then
      -- A person who may not withdraw a manager's invitation can't change it either.
      return '{"outcome":"not_allowed"}';
    end if;
    if (
      select count(*) from identity.invitations as i
      where i.organization_id = invite_member.organization_id
        and i.accepted_at is null and i.withdrawn_at is null and i.expires_at > at
    ) >= most_open then
      return jsonb_build_object('outcome', 'too_many', 'most', most_open);
    end if;
    insert into identity.invitations (organization_id, address, role, invited_by, token_hash, created_at, expires_at)
    values (organization_id, invited, role, user_id, new_hash, at, at + interval '7 days');
  end if;
  perform identity.record_event('member.invited', user_id, organization_id, jsonb_build_object('role', role), at);
  return jsonb_build_object('outcome', 'invited', 'organization_name',
    (select o.name from identity.organizations as o where o.id = invite_member.organization_id));
end
$$;
comment on function public.invite_member is
  'Invites an address to an organization for 7 days. A repeated invitation invalidates the previous link. '
  '{"outcome":"invited","organization_name"}, or outcome not_allowed, plan, already_member or too_many.';

create or replace function identity.hold_invitation(user_id uuid, invitation_id text, at timestamptz,
  out organization_id text, out address text, out role text, out refusal jsonb)
language plpgsql volatile set search_path = '' as $$
begin
  select i.organization_id, i.address, i.role into organization_id, address, role
  from identity.invitations as i
  where i.id = invitation_id and identity.member_may(i.organization_id, user_id, 'members:manage');
  if not found then
    refusal := '{"outcome":"unknown"}';
    return;
  end if;
  refusal := identity.hold_members(organization_id, user_id, at);
  if refusal is null and not identity.may_give_role(organization_id, user_id, role, at) then
    refusal := '{"outcome":"not_allowed"}';
  end if;
end
$$;
comment on function identity.hold_invitation is
  'Returns facts about an invitation that a person wants to change, or the outcome of a refusal: unknown, not_allowed, '
  'or one of identity.hold_members. Holds the organization''s members until the end of the transaction.';

create or replace function public.resend_invitation(user_id uuid, invitation_id text, token_hash text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  checked constant record := identity.hold_invitation(user_id, invitation_id, at);
begin
  if checked.refusal is not null then
    return checked.refusal;
  end if;
  if not identity.may_grow(checked.organization_id, at) then
    return '{"outcome":"plan"}';
  end if;
  update identity.invitations as i
  set invited_by = user_id, token_hash = decode(resend_invitation.token_hash, 'hex'), created_at = at,
    expires_at = at + interval '7 days'
  where i.id = invitation_id and i.accepted_at is null and i.withdrawn_at is null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('member.invited', user_id, checked.organization_id,
    jsonb_build_object('role', checked.role, 'again', true), at);
  return jsonb_build_object('outcome', 'invited', 'address', checked.address, 'role', checked.role, 'organization_name',
    (select o.name from identity.organizations as o where o.id = checked.organization_id));
end
$$;
comment on function public.resend_invitation is
  'Gives an open or expired invitation a new link and 7 more days, and invalidates the previous link: '
  '{"outcome":"invited","address","role","organization_name"}, or outcome unknown, not_allowed or plan.';

create or replace function public.withdraw_invitation(user_id uuid, invitation_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  checked constant record := identity.hold_invitation(user_id, invitation_id, at);
begin
  if checked.refusal is not null then
    return checked.refusal;
  end if;
  update identity.invitations as i set withdrawn_at = at
  where i.id = invitation_id and i.accepted_at is null and i.withdrawn_at is null;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('member.invitation_withdrawn', user_id, checked.organization_id, '{}', at);
  return '{"outcome":"withdrawn"}';
end
$$;
comment on function public.withdraw_invitation is
  'Ends an invitation before it is accepted: outcome withdrawn, not_allowed, or unknown (also if it has ended).';

create or replace function identity.withdraw_invitations_of(organization_id text, user_id uuid, at timestamptz)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  update identity.invitations as i set withdrawn_at = at
  where i.organization_id = withdraw_invitations_of.organization_id and i.invited_by = user_id
    and i.accepted_at is null and i.withdrawn_at is null
    and not identity.may_give_role(i.organization_id, user_id, i.role, at);
end
$$;
comment on function identity.withdraw_invitations_of is
  'Ends the invitations of a member who lost the right to send them; called whenever a member loses a role.';
