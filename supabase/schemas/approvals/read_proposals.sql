-- Proposals and rules for pages. The service reads them for the signed-in person, so each function filters explicitly.

create or replace function app.describe_proposal(proposal app.proposals, user_id uuid, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
    'id', proposal.id, 'hash', proposal.hash,
    'organization', (select jsonb_build_object('id', o.id, 'name', o.name) from identity.organizations as o
      where o.id = proposal.organization_id),
    'state', case when proposal.state = 'pending' and proposal.expires_at <= at then 'expired'
      else proposal.state end,
    'tool', proposal.tool, 'facts', proposal.facts, 'effects', proposal.effects -> 'effects',
    'effects_count', proposal.effects -> 'effects_count', 'reasons', proposal.reasons,
    'country', reader.country, 'timezone', reader.timezone, 'approver', proposal.approver,
    'proposer', app.member_name(proposal.actor_id), 'is_mine', proposal.actor_id = reader.user_id,
    'client_name', proposal.client_name, 'created_at', proposal.created_at, 'expires_at', proposal.expires_at,
    'asked', (
      select coalesce(jsonb_agg(p.email order by a.place), '[]')
      from unnest(app.find_approvers(proposal.organization_id, proposal.approver, proposal.actor_id))
        with ordinality as a (user_id, place)
      join identity.profiles as p on p.user_id = a.user_id
    ),
    'may_decide', app.may_decide(proposal, reader.user_id, 'page'), 'may_withdraw',
    proposal.actor_id = reader.user_id
      and identity.refuse_deleting(proposal.organization_id, reader.user_id, app.instant()) is null,
    'decided_by', app.member_name(proposal.decided_by), 'decided_at', proposal.decided_at,
    'decided_through', proposal.decided_through, 'change_id', proposal.change_id,
    'problem', proposal.problem -> 'code'
    )
    from identity.profiles as reader
    where reader.user_id = describe_proposal.user_id
  );
end
$$;
comment on function app.describe_proposal is
  'Describes a proposal for a person who can see it: {id, hash, organization, state, tool, facts, effects, '
  'effects_count, reasons, country, timezone, proposer, is_mine, client_name, created_at, expires_at, asked, '
  'may_decide, may_withdraw, decided_by?, …}.';

create or replace function app.sees_proposal(proposal app.proposals, user_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return identity.member_may(proposal.organization_id, user_id, 'approvals:decide')
    or proposal.actor_id = user_id and exists (
      select from identity.memberships as m
      where m.organization_id = proposal.organization_id and m.user_id = sees_proposal.user_id
    );
end
$$;
comment on function app.sees_proposal is
  'Whether a member sees a proposal: their own, or all if they may decide. The policy of app.proposals has the same '
  'rule.';
revoke all on function app.describe_proposal, app.sees_proposal from authenticated;

create or replace function public.read_proposal(user_id uuid, proposal_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  proposal app.proposals;
begin
  select * into proposal from app.proposals as p where p.id = read_proposal.proposal_id;
  if not found or not app.sees_proposal(proposal, user_id) or not identity.is_active(user_id, at) then
    return '{"outcome": "unknown"}';
  end if;
  return jsonb_build_object(
    'outcome', 'found', 'proposal', app.describe_proposal(proposal, user_id, at),
    'state', identity.describe_state(proposal.organization_id, user_id, at)
  );
end
$$;
comment on function public.read_proposal is
  'Returns a proposal for its page: {outcome: found | unknown, proposal?, state?}. Only its proposer and people who '
  'can decide it get more than unknown.';

create or replace function public.read_proposals(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 100;
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'state', identity.describe_state(o.id, reader.user_id, at),
      'country', reader.country, 'timezone', reader.timezone, 'proposals', (
        select coalesce(jsonb_agg(
          app.describe_proposal(p, reader.user_id, at) - 'hash' || jsonb_build_object(
            'effects', jsonb_path_query_array(p.effects -> 'effects', '$[0 to 2]')
          ) order by p.created_at desc
        ), '[]')
        from (
          select * from app.proposals as p
          where p.organization_id = o.id and p.created_at > at - interval '30 days'
            and app.sees_proposal(p, reader.user_id)
          order by p.created_at desc
          limit most
        ) as p
      )
    )
    from identity.organizations as o
    join identity.memberships as m on m.organization_id = o.id and m.user_id = read_proposals.user_id
    join identity.profiles as reader on reader.user_id = m.user_id
    where o.id = read_proposals.organization_id and identity.is_active(m.user_id, at)
  );
end
$$;
comment on function public.read_proposals is
  'Returns the proposals of the last 30 days that a person can see, newest first, each with its first effects: {id, '
  'name, state, country, timezone, proposals}; null without a membership.';

create or replace function public.read_approval_policy(user_id uuid, organization_id text, at timestamptz)
  returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'name', o.name, 'country', reader.country, 'base_currency', o.base_currency,
      'may_change', o.deletes_at is null and identity.member_may(o.id, reader.user_id, 'approvals:manage'),
      'assistants_may_approve', o.assistants_may_approve, 'rules', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', r.id, 'tool', r.tool, 'roles', to_jsonb(r.roles), 'over_records', r.over_records,
          'over', app.format_amount(r.over_minor, r.currency), 'currency', r.currency, 'approver', r.approver
        ) order by r.created_at, r.id), '[]')
        from app.approval_rules as r
        where r.organization_id = o.id
      )
    )
    from identity.organizations as o
    join identity.profiles as reader on reader.user_id = read_approval_policy.user_id
    where o.id = read_approval_policy.organization_id and identity.is_active(reader.user_id, at)
      and identity.member_may(o.id, reader.user_id, 'approvals:decide')
  );
end
$$;
comment on function public.read_approval_policy is
  'Returns the approval rules of an organization, for people who can decide proposals: {id, name, country, '
  'base_currency, may_change, assistants_may_approve, rules: [{id, tool, roles, over, currency, over_records, '
  'approver}]}; null for others.';

create or replace function public.change_approval_policy(user_id uuid, organization_id text, rules jsonb,
  assistants_may_approve boolean, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  most constant int := 20;
begin
  if not identity.is_active(user_id, at) or not identity.member_may(organization_id, user_id, 'approvals:decide') then
    return '{"outcome": "unknown"}';
  elsif not identity.member_may(organization_id, user_id, 'approvals:manage') then
    return '{"outcome": "not_allowed"}';
  end if;
  perform set_config('app.at', at::text, true);
  -- The lock makes a concurrent write see either the old policy or the new one.
  perform app.lock_books(organization_id);
  if jsonb_array_length(rules) > most then
    return jsonb_build_object('outcome', 'too_many', 'most', most);
  end if;
  delete from app.approval_rules as r where r.organization_id = change_approval_policy.organization_id;
  insert into app.approval_rules (organization_id, tool, roles, over_minor, currency, over_records, approver,
    created_at)
  select change_approval_policy.organization_id, r ->> 'tool',
    array(select jsonb_array_elements_text(r -> 'roles')),
    ((r ->> 'over')::numeric * 10::numeric ^ c.exponent)::bigint, c.code, (r ->> 'over_records')::int,
    r ->> 'approver', at + place * interval '1 microsecond'
  from jsonb_array_elements(rules) with ordinality as x (r, place)
  left join app.currencies as c on c.code = r ->> 'currency';
  update identity.organizations as o
  set assistants_may_approve = change_approval_policy.assistants_may_approve, updated_at = at
  where o.id = change_approval_policy.organization_id;
  perform identity.record_event('approval.policy_changed', user_id, organization_id,
    jsonb_build_object('rules', rules, 'assistants_may_approve', assistants_may_approve), at);
  return '{"outcome": "changed"}';
exception
  when sqlstate 'EX001' then
    return '{"outcome": "busy"}';
  when check_violation or not_null_violation or invalid_text_representation or numeric_value_out_of_range then
    return jsonb_build_object('outcome', 'invalid', 'field', 'rules');
end
$$;
comment on function public.change_approval_policy is
  'Replaces the approval rules of an organization, for people with the right approvals:manage: outcome changed, '
  'unknown, not_allowed, invalid, too_many or busy. rules: in the format of public.read_approval_policy.';

create or replace function app.list_open_proposals(context app.context) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 20;
begin
  return (
    select jsonb_agg(jsonb_build_object(
      'id', p.id, 'hash', p.hash, 'by', app.member_name(p.actor_id), 'change',
      jsonb_build_object('tool', p.tool, 'facts', p.facts),
      'effects', jsonb_path_query_array(p.effects -> 'effects', '$[0 to 9]'),
      'effects_count', p.effects -> 'effects_count', 'asked_at', p.created_at, 'expires_at', p.expires_at,
      'is_own', p.actor_id = context.actor_id
    ) order by p.created_at)
    from (
      select * from app.proposals as p
      where p.organization_id = context.organization_id and p.state = 'pending' and p.expires_at > context.at
      order by p.created_at desc
      limit most
    ) as p
  );
end
$$;
comment on function app.list_open_proposals is
  'Returns the pending proposals that the person''s policies show; null without any.';
