-- The gate for writes: a write that exceeds its organization's limits is rolled back and stored as a proposal. The
-- proposal records the effects measured before the rollback.

create or replace function app.fingerprint_change(change_id text) returns text
language plpgsql stable set search_path = '' as $$
declare
  unsteady constant text[] := array[
    'id', 'version', 'created_at', 'updated_at', 'recorded_seq', 'split_id', 'closed_at', 'deleted_at', 'archived_at'
  ];
  content text;
  place int := 0;
  new_id text;
begin
  with net as (
    select i.table_name, i.row_id, min(i.position) as position, (array_agg(i.before order by i.position))[1] as before,
      (array_agg(i.after order by i.position desc))[1] as after
    from app.change_items as i
    where i.change_id = fingerprint_change.change_id
    group by i.table_name, i.row_id
  )
  select jsonb_agg(jsonb_build_array(
    n.table_name, n.row_id,
    jsonb_strip_nulls(n.before - unsteady - app.derived_columns(n.table_name)),
    coalesce(n.before ->> 'deleted_at', n.before ->> 'archived_at') is not null,
    jsonb_strip_nulls(n.after - unsteady - app.derived_columns(n.table_name)),
    coalesce(n.after ->> 'deleted_at', n.after ->> 'archived_at') is not null
  ) order by n.position)::text into content
  from net as n;
  -- New records get new ids in each run.
  for new_id in
    select i.row_id from app.change_items as i
    where i.change_id = fingerprint_change.change_id and i.table_name <> 'settings'
    group by i.row_id having bool_or(i.before is null) order by min(i.position)
  loop
    place := place + 1;
    content := replace(content, '"' || new_id || '"', '"' || place || '"');
  end loop;
  return encode(sha256(convert_to(coalesce(content, ''), 'UTF8')), 'hex');
end
$$;
comment on function app.fingerprint_change is
  'Returns a hash that is equal for changes that read and write equal rows. It ignores ids, times, counters and '
  'derived values. It also ignores empty values, so that an upgrade can add a column.';

create or replace function app.find_approvers(organization_id text, approver text, except_id uuid) returns uuid[]
language plpgsql stable security definer set search_path = '' as $$
begin
  -- security definer: members cannot read the tables with suspensions.
  return array(
    select m.user_id
    from identity.memberships as m
    join identity.role_rights as r on r.role = m.role and r."right" = 'approvals:decide'
    where m.organization_id = find_approvers.organization_id and m.user_id <> except_id
      and (approver = 'manager' or m.role = 'owner') and identity.is_active(m.user_id, app.instant())
    order by m.role = 'owner' desc, m.created_at, m.user_id
  );
end
$$;
comment on function app.find_approvers is
  'Returns the people who may approve a person''s proposal, except that person; empty if there is nobody else.';

create or replace function app.answer_proposal(proposal app.proposals) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  asked constant text[] := array(
    select p.email from unnest(app.find_approvers(proposal.organization_id, proposal.approver, proposal.actor_id))
      with ordinality as a (user_id, place)
    join identity.profiles as p on p.user_id = a.user_id
    order by a.place
  );
begin
  return jsonb_build_object('ok', false, 'proposal_id', proposal.id, 'error', jsonb_build_object(
    'code', 'awaiting_approval', 'params', jsonb_build_object(
      'asked', to_jsonb(asked), 'reasons', proposal.reasons, 'details', jsonb_build_object(
        'proposal_id', proposal.id, 'asked', to_jsonb(asked), 'expires_at', proposal.expires_at
      )
    )
  ));
end
$$;
comment on function app.answer_proposal is
  'Returns the answer for a call that waits for approval. It is an error, so that no assistant mistakes it for '
  'success.';

create or replace function app.propose(context app.context, tool text, arguments jsonb, would jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  days constant int := 7;
  most_pending constant int := 50;
  asked_for constant jsonb := arguments - 'idempotency_key';
  proposal app.proposals;
begin
  select * into proposal from app.proposals as p
  where p.organization_id = context.organization_id and p.actor_id = context.actor_id and p.state = 'pending'
    and p.tool = propose.tool and p.arguments = asked_for
    and p.fingerprint = would ->> 'fingerprint';
  if found then
    return app.answer_proposal(proposal);
  end if;
  if (
    select count(*) from app.proposals as p
    where p.organization_id = context.organization_id and p.actor_id = context.actor_id and p.state = 'pending'
      and p.expires_at > context.at
  ) >= most_pending then
    perform app.fail('too_many_proposals', jsonb_build_object('most', most_pending));
  end if;
  proposal.id := app.new_id('prop');
  insert into app.proposals (
    id, organization_id, actor_id, grant_id, client_name, tool, arguments, proposed_on, reasons, approver, facts,
    effects, fingerprint, hash, created_at, expires_at
  ) values (
    proposal.id, context.organization_id, context.actor_id, context.grant_id, context.client_name, tool, asked_for,
    context.today, would -> 'reasons',
    case when would -> 'reasons' @> '[{"approver": "owner"}]' then 'owner' else 'manager' end,
    would -> 'facts', would -> 'effects', would ->> 'fingerprint',
    encode(sha256(convert_to(jsonb_build_array(
      proposal.id, context.actor_id, tool, asked_for, context.today, would -> 'fingerprint', would -> 'effects'
    )::text, 'UTF8')), 'hex'),
    context.at, context.at + days * interval '1 day'
  )
  returning * into proposal;
  if tool = 'import_expenses' then
    -- Keeps the file as long as the proposal.
    update app.import_batches as b set expires_at = greatest(b.expires_at, proposal.expires_at)
      where b.id = arguments ->> 'import_id';
  end if;
  return app.answer_proposal(proposal);
end
$$;
comment on function app.propose is
  'Stores a rolled-back write as a proposal, or returns the existing one if it is the same. would: {reasons, facts, '
  'effects, fingerprint}.';

create or replace function app.perform_judged(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- The maximum number of rows to write and roll back in order to show all effects.
  few constant int := 1000;
  change text;
  result jsonb;
  measured jsonb;
  would jsonb;
  foreseen jsonb;
  kept text;
begin
  -- Provider answers come from a job, not a person, so they need no approval.
  if not app.is_write(tool) or tool = 'store_bill_amounts' or not exists (
    select from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles)
  ) then
    return app.perform_tool(context, tool, arguments);
  end if;
  if tool = 'import_expenses' and arguments ? 'expected_count' then
    foreseen := app.foresee_import(context, arguments);
    if foreseen -> 'reasons' <> '[]' and (foreseen #>> '{facts,count}')::int > few then
      return app.propose(context, tool, arguments, foreseen);
    end if;
  end if;
  begin
    result := app.perform_tool(context, tool, arguments);
    change := result ->> 'change_id';
    -- The earlier call judged its own writes.
    if change is not null and (result ->> 'replayed')::boolean is not true then
      measured := app.measure_change(change);
      perform set_config('app.judged_change', change, true);
      would := jsonb_build_object('reasons', app.judge_moved(context, app.tools_of_change(change), measured));
      if would -> 'reasons' <> '[]' then
        raise exception using errcode = 'EX003', detail = (would || jsonb_build_object(
          'facts', (select s.facts from app.change_sets as s where s.id = change),
          'effects', app.read_effects(change, 100), 'fingerprint', app.fingerprint_change(change)
        ))::text;
      end if;
      update app.change_sets as s set moved = measured where s.id = change;
    end if;
    return result;
  exception when sqlstate 'EX003' then
    get stacked diagnostics kept = pg_exception_detail;
  end;
  would := kept::jsonb;
  if tool = 'import_expenses' then
    -- An approved import is compared with the rows of its file.
    would := would || jsonb_build_object('fingerprint', app.foresee_import(context, arguments) -> 'fingerprint');
  end if;
  return app.propose(context, tool, arguments, would);
end
$$;
comment on function app.perform_judged is
  'Runs a tool. If its write needs approval, rolls the write back and stores a proposal instead.';

create or replace function app.preview_judged(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  result jsonb := app.perform_tool(context, tool, arguments);
  change constant text := result ->> 'change_id';
  reasons jsonb;
begin
  if change is null or not exists (
    select from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles)
  ) then
    return result;
  end if;
  perform set_config('app.judged_change', change, true);
  reasons := app.judge_moved(context, app.tools_of_change(change), app.measure_change(change));
  if reasons <> '[]' then
    result := result || jsonb_build_object('warnings', coalesce(result -> 'warnings', '[]')
      || app.warning('needs_approval', jsonb_build_object('reasons', reasons)));
  end if;
  return result;
end
$$;
comment on function app.preview_judged is
  'Previews a tool like app.preview_tool, and adds a warning if the write needs approval.';
