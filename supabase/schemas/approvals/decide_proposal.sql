-- Answers a proposal once. The answer comes from another person who saw the effects. An approved proposal runs with its
-- proposer's current rights, and only if its effects still equal the shown ones.

create or replace function app.told_effects(told jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select jsonb_agg(e.effect - 'id' order by e.place)
    from jsonb_array_elements(told -> 'effects') with ordinality as e (effect, place)
  );
end
$$;
comment on function app.told_effects is
  'Returns the effects of a proposal with the names of referenced rows instead of their ids, which differ in each run.';

create or replace function app.run_approved(proposal app.proposals, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  context := app.read_context(at);
  if context.organization_id is null then
    return jsonb_build_object('ok', false, 'error', jsonb_build_object('code', 'proposer_gone'));
  end if;
  perform app.refuse_reader();
  -- "Yesterday" counts from the day of the proposal.
  context.today := proposal.proposed_on;
  if proposal.tool = 'import_expenses' and proposal.fingerprint is distinct from
    app.foresee_import(context, proposal.arguments) ->> 'fingerprint' then
    -- The import was corrected, answered or published meanwhile, or its rows now match other records.
    perform app.fail('not_decided.stale');
  end if;
  perform set_config('app.proposal_id', proposal.id, true);
  result := app.perform_tool(context, proposal.tool, proposal.arguments);
  perform set_config('app.proposal_id', '', true);
  if proposal.tool <> 'import_expenses' and (
    proposal.fingerprint is distinct from app.fingerprint_change(result ->> 'change_id')
    or app.told_effects(proposal.effects) is distinct from
      app.told_effects(app.read_effects(result ->> 'change_id', 100))
  ) then
    perform app.fail('not_decided.stale');
  end if;
  return jsonb_build_object('ok', true) || result;
exception when sqlstate 'EX001' then
  get stacked diagnostics problem = pg_exception_detail;
  if problem::jsonb ->> 'code' = 'busy' then
    -- The write may succeed in a moment, so the proposal stays pending.
    raise;
  end if;
  return jsonb_build_object('ok', false, 'error', problem::jsonb);
end
$$;
comment on function app.run_approved is
  'Runs an approved proposal as its proposer, the person of the request''s claims. Returns the tool''s envelope, or '
  '{ok: false, error} when it fails or its effects differ from the shown ones; then nothing is written.';

create or replace function app.may_decide(proposal app.proposals, user_id uuid, through text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return identity.member_may(proposal.organization_id, user_id, 'approvals:decide')
    and identity.is_active(user_id, app.instant())
    -- Like any write, this needs a plan with the feature. No plan includes it while the organization is being deleted.
    and identity.organization_has_feature(proposal.organization_id, 'ai:connector', app.instant())
    and (proposal.approver = 'manager' or exists (
      select from identity.memberships as m
      where m.organization_id = proposal.organization_id and m.user_id = may_decide.user_id and m.role = 'owner'
    ))
    and case when proposal.actor_id = user_id
      -- People can't decide their own proposals unless nobody else can. Then they decide on the page, which no
      -- assistant can reach.
      then through = 'page' and app.find_approvers(proposal.organization_id, proposal.approver, user_id) = '{}'
      else through = 'page' or exists (
        select from identity.organizations as o
        where o.id = proposal.organization_id and o.assistants_may_approve
      )
    end;
end
$$;
comment on function app.may_decide is
  'Whether a person may approve or refuse a proposal, on the page or through one of their assistants.';
revoke all on function app.may_decide, app.run_approved from authenticated;

create or replace function app.settle_proposal(proposal_id text, user_id uuid, through text, hash text, decision text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  claims constant text := current_setting('request.jwt.claims', true);
  sub constant text := current_setting('request.jwt.claim.sub', true);
  proposal app.proposals;
  answer jsonb;
  refusal jsonb;
begin
  select * into proposal from app.proposals as p where p.id = settle_proposal.proposal_id;
  if not found or identity.member_may(proposal.organization_id, user_id, 'approvals:decide') is not true
    and proposal.actor_id is distinct from user_id then
    return '{"outcome": "unknown"}';
  end if;
  -- public.call_tool has already checked this for tool calls.
  refusal := case when through = 'page' then identity.refuse_deleting(proposal.organization_id, user_id, at) end;
  if refusal is not null then
    return refusal;
  end if;
  -- Locks the books first, like every write, then the proposal, so that only one of two concurrent answers counts.
  perform app.lock_books(proposal.organization_id);
  select * into proposal from app.proposals as p where p.id = settle_proposal.proposal_id for update;
  if not found then
    return '{"outcome": "unknown"}';
  elsif proposal.state <> 'pending' then
    return jsonb_build_object('outcome', 'already', 'state', proposal.state);
  elsif proposal.expires_at <= at then
    return '{"outcome": "expired"}';
  elsif proposal.hash <> settle_proposal.hash then
    return '{"outcome": "changed"}';
  elsif decision = 'withdraw' and proposal.actor_id <> user_id
    or decision <> 'withdraw' and not app.may_decide(proposal, user_id, through) then
    return jsonb_build_object('outcome', 'not_allowed', 'why', case
      when decision = 'withdraw' then 'others'
      when app.may_decide(proposal, user_id, 'page') then 'page'
      when proposal.actor_id = user_id then 'own'
      else proposal.approver
    end);
  end if;
  if decision = 'approve' then
    perform set_config('request.jwt.claims', jsonb_strip_nulls(jsonb_build_object(
        'sub', proposal.actor_id, 'role', 'authenticated', 'organization_id', proposal.organization_id,
        'grant_id', proposal.grant_id, 'client_name', proposal.client_name
    ))::text, true),
      set_config('request.jwt.claim.sub', proposal.actor_id::text, true);
    answer := app.run_approved(proposal, at);
    perform set_config('request.jwt.claims', claims, true), set_config('request.jwt.claim.sub', sub, true);
  end if;
  update app.proposals as p
  set state = case decision when 'refuse' then 'refused' when 'withdraw' then 'withdrawn'
      else case when (answer ->> 'ok')::boolean then 'approved' else 'stale' end end,
    decided_at = at, decided_by = user_id, decided_through = through, change_id = answer ->> 'change_id',
    problem = answer -> 'error', result = case when (answer ->> 'ok')::boolean then answer - 'facts' end
  where p.id = proposal.id
  returning * into proposal;
  perform identity.record_event('approval.' || proposal.state, user_id, proposal.organization_id, jsonb_build_object(
    'proposal_id', proposal.id, 'tool', proposal.tool, 'proposer_id', proposal.actor_id, 'through', through
  ), at);
  return jsonb_strip_nulls(jsonb_build_object(
    'outcome', proposal.state, 'organization_id', proposal.organization_id, 'change_id', proposal.change_id,
    'problem', proposal.problem, 'result', proposal.result
  ));
exception when sqlstate 'EX001' then
  -- Only a lock timeout can fail here.
  return '{"outcome": "busy"}';
end
$$;
comment on function app.settle_proposal is
  'Answers a proposal. Returns {outcome: approved | refused | withdrawn | stale, change_id?, problem?, result?}. Other '
  'outcomes: unknown, already, expired, changed (another hash), busy, not_allowed, or the result of '
  'identity.refuse_deleting. not_allowed has why: the person withdraws another person''s proposal, decides their own, '
  'must decide on the page, or may not approve it.';
revoke all on function app.settle_proposal from authenticated;

create or replace function public.decide_proposal(user_id uuid, proposal_id text, hash text, decision text,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('app.at', at::text, true);
  return app.settle_proposal(proposal_id, user_id, 'page', hash, decision, at)
    - array['result', 'organization_id', 'why'];
end
$$;
comment on function public.decide_proposal is
  'Answers a proposal from its page. decision: approve, refuse or withdraw; hash identifies the version that the page '
  'showed. Returns the outcomes of app.settle_proposal.';

create or replace function app.decide_proposal(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- Runs as the person, so a hidden proposal counts as missing. public.call_tool then decides as the service.
  if not exists (select from app.proposals as p where p.id = decide_proposal.arguments ->> 'proposal_id') then
    perform app.fail('not_found.proposal', jsonb_build_object(
      'id', arguments -> 'proposal_id', 'organization', context.organization_name
    ), 'proposal_id');
  end if;
  return jsonb_build_object('data', jsonb_build_object('decides', arguments));
end
$$;
comment on function app.decide_proposal is
  'Tool decide_proposal. Returns {decides}: the proposal that public.call_tool then decides. The person must see it.';

create or replace function app.decide_as_assistant(envelope jsonb, user_id uuid, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  arguments constant jsonb := envelope #> '{data,decides}';
  decided constant jsonb := app.settle_proposal(
    arguments ->> 'proposal_id', user_id, 'assistant', arguments ->> 'hash', arguments ->> 'decision', at
  );
  outcome constant text := decided ->> 'outcome';
begin
  if outcome in ('approved', 'refused', 'withdrawn') then
    return envelope || jsonb_strip_nulls(jsonb_build_object(
      'data', jsonb_build_object(
        'proposal_id', arguments -> 'proposal_id', 'state', outcome, 'written', decided #> '{result,data}'
      ),
      'change_id', decided -> 'change_id'
    ));
  end if;
  return jsonb_build_object('ok', false, 'error', case outcome
    when 'busy' then '{"code": "busy"}'
    else jsonb_build_object('code', 'not_decided.' || outcome, 'params', decided - 'outcome'
      -- The message links to the proposal's page.
      || case when decided ->> 'why' in ('page', 'own')
        then jsonb_build_object('details', jsonb_build_object('proposal_id', arguments -> 'proposal_id')) else '{}' end)
  end);
end
$$;
comment on function app.decide_as_assistant is
  'Returns the answer of decide_proposal after app.decide_proposal found the proposal.';
revoke all on function app.decide_as_assistant from authenticated;

alter function app.run_approved set role = 'authenticated';
alter function app.run_approved set jit = off;

create or replace function app.withdraw_proposals_of(
  organization_id text, member_id uuid, by_id uuid, at timestamptz
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.proposals as p
  set state = 'withdrawn', decided_at = at, decided_by = by_id, problem = '{"code": "proposer_gone"}'
  where p.organization_id = withdraw_proposals_of.organization_id and p.actor_id = member_id and p.state = 'pending';
end
$$;
comment on function app.withdraw_proposals_of is
  'Withdraws the proposals of a member who leaves or is removed.';
revoke all on function app.withdraw_proposals_of from authenticated;

create or replace function app.withdraw_proposals_through(grant_id uuid, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.proposals as p
  set state = 'withdrawn', decided_at = at, decided_by = p.actor_id
  where p.grant_id = withdraw_proposals_through.grant_id and p.state = 'pending';
end
$$;
comment on function app.withdraw_proposals_through is
  'Withdraws the proposals of a disconnected app. decided_through is null, because no page or tool decided.';
revoke all on function app.withdraw_proposals_through from authenticated;
