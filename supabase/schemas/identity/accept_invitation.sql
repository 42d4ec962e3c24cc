create or replace function identity.judge_invitation(
  invitation identity.invitations, user_id uuid, email text, at timestamptz
) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when (invitation).address <> lower(email) then 'for_another'
    when exists (
      select from identity.memberships as m
      where m.organization_id = (invitation).organization_id and m.user_id = judge_invitation.user_id
    ) then 'already_member'
    when exists (
      select from identity.profiles as p where p.user_id = judge_invitation.user_id and p.deletes_at is not null
    ) then 'leaving'
    when exists (select from identity.reviewers as r where r.user_id = judge_invitation.user_id) then 'withdrawn'
    when (invitation).accepted_at is not null then 'used'
    when (invitation).withdrawn_at is not null
      or not identity.may_give_role((invitation).organization_id, (invitation).invited_by, (invitation).role, at)
      then 'withdrawn'
    when (invitation).expires_at <= at then 'expired'
    when not identity.may_grow((invitation).organization_id, at) then 'plan'
    else 'open'
  end;
end
$$;
comment on function identity.judge_invitation is
  'Returns open if a person with this sign-in address may accept an invitation, otherwise the reason. Every check '
  'uses this function.';

create or replace function identity.mask_address(address text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return regexp_replace(address, '^(.)[^@]*@(.).*?(\.[^.]*)?$', '\1…@\2…\3');
end
$$;
comment on function identity.mask_address is
  'Returns a masked address that its owner recognizes but nobody else can read: a…@e….com.';

create or replace function public.read_invitation(token_hash text, user_id uuid, email text, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  invitation identity.invitations;
  judged text;
begin
  select * into invitation from identity.invitations as i
  where i.token_hash = decode(read_invitation.token_hash, 'hex');
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  judged := identity.judge_invitation(invitation, user_id, coalesce(email, invitation.address), at);
  if judged = 'for_another' then
    return jsonb_build_object('outcome', judged, 'masked_address', identity.mask_address(invitation.address));
  end if;
  return (
    select jsonb_build_object(
      'outcome', judged, 'organization_id', o.id, 'organization_name', o.name, 'inviter', p.email,
      'role', invitation.role, 'expires_at', invitation.expires_at, 'address', invitation.address,
      'onboarded', exists (
        select from identity.profiles as own
        where own.country is not null and case when read_invitation.user_id is null
          then lower(own.email) = invitation.address else own.user_id = read_invitation.user_id end
      )
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = invitation.invited_by
    where o.id = invitation.organization_id
  );
end
$$;
comment on function public.read_invitation is
  'Returns the data of the page behind an invitation''s link, for a signed-in person, or with null for a visitor '
  'without a session: '
  '{"outcome":"open","organization_id","organization_name","inviter","role","expires_at","address","onboarded"}, the '
  'same with outcome already_member, leaving, used, withdrawn, expired or plan, '
  '{"outcome":"for_another","masked_address"}, or {"outcome":"unknown"}.';

create or replace function public.accept_invitation(token_hash text, user_id uuid, email text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  own_hash constant bytea := decode(accept_invitation.token_hash, 'hex');
  invitation identity.invitations;
  judged text;
begin
  select * into invitation from identity.invitations as i where i.token_hash = own_hash;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.lock_members(invitation.organization_id);
  -- Read it again, because it may have been accepted, withdrawn or resent during the wait.
  select * into invitation from identity.invitations as i where i.token_hash = own_hash for no key update;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.hold_account(user_id);
  judged := identity.judge_invitation(invitation, user_id, email, at);
  if judged <> 'open' then
    return jsonb_build_object('outcome', judged) || case judged
      when 'for_another' then '{}' else jsonb_build_object('organization_id', invitation.organization_id) end;
  end if;
  if not exists (
    select from identity.profiles as p where p.user_id = accept_invitation.user_id and p.country is not null
  ) then
    return '{"outcome":"not_onboarded"}';
  end if;
  update identity.invitations as i set accepted_at = at where i.id = invitation.id;
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (invitation.organization_id, user_id, invitation.role, at);
  perform identity.record_event('member.joined', user_id, invitation.organization_id,
    jsonb_build_object('role', invitation.role, 'invited_by', invitation.invited_by), at);
  return jsonb_build_object('outcome', 'accepted', 'organization_id', invitation.organization_id);
end
$$;
comment on function public.accept_invitation is
  'Makes a person a member through an invitation to their sign-in address, once: '
  '{"outcome":"accepted","organization_id"}, not_onboarded, or the reason from read_invitation.';
