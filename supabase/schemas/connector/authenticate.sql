create or replace function app.is_long(tool text, arguments jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  many constant int := 1000;
  target_id text := arguments ->> 'change_id';
begin
  if tool <> 'undo_change' then
    return tool = 'import_expenses';
  end if;
  if target_id is null then
    -- The latest of this connection, as app.find_latest_change has it.
    target_id := app.find_own_latest((auth.jwt() ->> 'grant_id')::uuid);
  end if;
  return exists (select from app.change_items as i where i.change_id = target_id offset many);
end
$$;
comment on function app.is_long is
  'Whether a write may take so long that nobody else may wait for all of it: an import, or the undo of one.';

create or replace function app.run_tool(tool text, arguments jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  perform identity.note_standing();
  if app.is_write(tool) then
    -- Before anything runs, and again after the wait: a role may have changed meanwhile.
    perform app.refuse_reader(tool);
    -- One write at a time in an organization: of two equal calls the second sees what the first wrote, a version that
    -- was checked cannot change before the write, and the numbers of changes rise in the order in which they take
    -- effect. Different organizations never wait. What is long takes its turn itself, when most of it is done.
    if not app.is_long(tool, arguments) then
      perform app.lock_books(identity.current_organization_id());
    end if;
  end if;
  -- After the lock: whoever held it may have changed the currency, the time zone or who is a member.
  context := app.read_context(at);
  if context.organization_id is null then
    return null;
  end if;
  if app.is_write(tool) then
    perform app.refuse_reader(tool);
  end if;
  result := case
    when (arguments ->> 'dry_run')::boolean then app.preview_tool(context, tool, arguments)
    when arguments ? 'idempotency_key' then app.perform_once(context, tool, arguments)
    else app.perform_judged(context, tool, arguments)
  end;
  if app.is_write(tool) then
    -- A write, or the undo of one, may have set the time zone or the currency that the answer names.
    context := app.read_context(at);
  end if;
  perform set_config('app.standing_of', '', true);
  return jsonb_strip_nulls(jsonb_build_object(
    'ok', true,
    'context', jsonb_build_object(
      'organization', jsonb_build_object('id', context.organization_id, 'name', context.organization_name),
      'today', context.today, 'timezone', context.timezone, 'base_currency', context.base_currency
    ),
    'warnings', '[]'::jsonb
  ) || result);
exception when sqlstate 'EX001' then
  get stacked diagnostics problem = pg_exception_detail;
  return jsonb_build_object('ok', false, 'error', problem::jsonb);
end
$$;
comment on function app.run_tool is
  'Runs one tool as the person of the request''s claims, under row-level security, and answers its envelope; null for '
  'who is no member.';

-- The database's API of the connector

create or replace function app.quota_key(grant_id text, kind text) returns text
language sql immutable set search_path = '' as $$
  select 'connector_' || kind || ':' || grant_id
$$;
comment on function app.quota_key is
  'The bucket of what a grant reads or writes. A new access token of the grant is no new bucket.';

create or replace function app.authenticate(token_hash text, resource text, kind text, limits jsonb, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal record;
  organization identity.organizations;
  wait integer := 0;
begin
  perform set_config('application_name', app.request_name(), true);
  select * into principal from oauth.resolve_access_token(decode(authenticate.token_hash, 'hex'), resource, at);
  if principal.outcome is distinct from 'ok' then
    -- Only a token that was never ours is a guess. One that has expired or was revoked must hear that it did, however
    -- many others of the same hosted client come from the same address; and who holds a good one never comes here.
    if limits is not null
      and not exists (select from oauth.tokens as t where t.token_hash = decode(authenticate.token_hash, 'hex')) then
      wait := oauth.draw_quotas(limits -> 'caller', at);
    end if;
    return case when wait = 0 then '{"outcome": "invalid_token"}' else oauth.limited(wait) end;
  end if;
  if limits -> kind is not null then
    wait := oauth.wait_for_bucket(
      app.quota_key(principal.grant_id::text, kind), (limits #>> array[kind, 'at_most'])::integer,
      (limits #>> array[kind, 'seconds'])::double precision, at
    );
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  select * into strict organization from identity.organizations as o where o.id = principal.organization_id;
  if organization.deletes_at is not null then
    perform app.count_request(principal.grant_id::text, kind, limits, at);
    return jsonb_build_object(
      'outcome', 'organization_deleting', 'deletes_on', (organization.deletes_at at time zone 'UTC')::date,
      'organization', jsonb_build_object('id', organization.id, 'name', organization.name)
    );
  end if;
  if not identity.organization_has_feature(organization.id, 'ai:connector', at) then
    perform app.count_request(principal.grant_id::text, kind, limits, at);
    return jsonb_build_object(
      'outcome', 'feature_not_in_plan', 'required_plan', 'pro', 'plan', identity.effective_plan(organization, at),
      'organization', jsonb_build_object('id', organization.id, 'name', organization.name)
    );
  end if;
  return jsonb_build_object(
    'outcome', 'ok',
    'organization', jsonb_build_object('id', organization.id, 'name', organization.name),
    'claims', jsonb_build_object(
      'sub', principal.user_id, 'role', 'authenticated', 'organization_id', organization.id,
      'grant_id', principal.grant_id, 'client_name', principal.client_name
    )
  ) || case
    when principal.last_used_at > at - interval '1 hour' then '{}'
    else '{"first_use_in_hour": true}'
  end::jsonb;
end
$$;
comment on function app.authenticate is
  'Who a bearer token speaks for at an instant, by its SHA-256 in hex: outcome ok, invalid_token, feature_not_in_plan, '
  'organization_deleting or limited. kind: read or write. limits: {"caller": quotas, "read": {"at_most","seconds"}, '
  '"write": …}; null limits '
  'nothing.';
revoke all on function app.authenticate, app.quota_key from authenticated;
