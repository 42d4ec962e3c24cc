-- The connector's database side: one call authenticates a bearer, becomes the person under row-level security, runs one tool and answers its envelope.
-- What every tool shares is here once: the context, change sets, dry runs, idempotency keys. It knows no tool but by name.
-- A tool is `app.<tool>(context app.context, arguments jsonb) returns jsonb` and answers {data, warnings?, next_cursor?, total_count?, totals_by_currency?},
-- a writing one also {facts}: what it did, as facts from which TypeScript makes the words of the list of recent changes.

create type app.context as (
  organization_id text,
  organization_name text,
  base_currency text,
  owner_id uuid,
  timezone text,
  today date,
  at timestamptz,
  actor_id uuid,
  role text,
  client_name text
);
comment on type app.context is 'For whom and when a tool runs; today is the calendar date in the owner''s zone.';

create function app.read_context(at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (read_context.at at time zone p.timezone)::date, read_context.at,
    m.user_id, m.role, auth.jwt() ->> 'client_name'
  into context
  from identity.organizations as o
  join identity.profiles as p on p.user_id = o.owner_id
  join identity.memberships as m on m.organization_id = o.id and m.user_id = (select auth.uid())
  where o.id = (select identity.current_organization_id());
  return context;
end
$$;
comment on function app.read_context is 'The context of the running request, read as the person; null when they are no member of its organization.';

-- Changes

create function app.begin_change(context app.context, tool text) returns text
language plpgsql set search_path = '' as $$
declare
  change text;
begin
  insert into app.change_sets (organization_id, actor_id, client_name, tool)
  values (context.organization_id, context.actor_id, context.client_name, begin_change.tool)
  returning id into change;
  perform set_config('app.change_id', change, true);
  return change;
end
$$;
comment on function app.begin_change is 'Opens a change set: from here on the capture trigger records every row that is written.';

create function app.finish_change(change text, facts jsonb) returns text
language plpgsql set search_path = '' as $$
begin
  perform set_config('app.change_id', '', true);
  if exists (select from app.change_items as i where i.change_id = change) then
    update app.change_sets as s set facts = finish_change.facts where s.id = change;
    return change;
  end if;
  delete from app.change_sets as s where s.id = change;
  return null;
end
$$;
comment on function app.finish_change is
  'Closes a change set; one that wrote nothing leaves no trace and answers null. One that wrote must say what it did: null breaks a constraint.';

-- Running a tool

create function app.is_write(tool text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return tool not in ('get_context', 'list_expenses', 'summarize_spending', 'show_spending_chart', 'list_bills', 'review_bills');
end
$$;
comment on function app.is_write is 'Whether a tool changes the books; a tool that is not known to read counts as a write.';

create function app.dispatch_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
begin
  case tool
    when 'get_context' then return app.get_context(context, arguments);
    when 'list_expenses' then return app.list_expenses(context, arguments);
    when 'summarize_spending' then return app.summarize_spending(context, arguments);
    when 'show_spending_chart' then return app.show_spending_chart(context, arguments);
    when 'list_bills' then return app.list_bills(context, arguments);
    when 'review_bills' then return app.review_bills(context, arguments);
    when 'log_expenses' then return app.log_expenses(context, arguments);
    when 'import_expenses' then return app.import_expenses(context, arguments);
    when 'update_expenses' then return app.update_expenses(context, arguments);
    when 'add_bill' then return app.add_bill(context, arguments);
    when 'update_bill' then return app.update_bill(context, arguments);
    when 'mark_bill_paid' then return app.mark_bill_paid(context, arguments);
    when 'sync_bill_amounts' then return app.sync_bill_amounts(context, arguments);
    -- No tool of a client: what the connector fetched for the one above.
    when 'store_bill_amounts' then return app.store_bill_amounts(context, arguments);
    when 'delete_records' then return app.delete_records(context, arguments);
    when 'undo_change' then return app.undo_change(context, arguments);
    when 'update_settings' then return app.update_settings(context, arguments);
  end case;
end
$$;
comment on function app.dispatch_tool is 'The tools by name; an unknown name is an error of the caller.';

create function app.perform_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  change text;
  result jsonb;
begin
  if not app.is_write(tool) then
    return app.dispatch_tool(context, tool, arguments);
  end if;
  change := app.begin_change(context, tool);
  result := app.dispatch_tool(context, tool, arguments);
  change := app.finish_change(change, result -> 'facts');
  -- A tool that did its work in an earlier call names the change of that one itself.
  return result - 'facts' || jsonb_build_object('change_id', coalesce(change, result ->> 'change_id'));
end
$$;
comment on function app.perform_tool is 'A tool, inside a change set when it writes.';

create function app.preview_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  preview text;
begin
  -- The tool really runs, so a preview cannot differ from the write; leaving the block by an error takes everything back.
  raise exception using errcode = 'EX002', detail = app.perform_tool(context, tool, arguments)::text;
exception when sqlstate 'EX002' then
  get stacked diagnostics preview = pg_exception_detail;
  return preview::jsonb - 'change_id' || jsonb_build_object(
    'warnings', coalesce(preview::jsonb -> 'warnings', '[]') || app.warning('dry_run')
  );
end
$$;
comment on function app.preview_tool is 'What a tool would do (dry_run); writes nothing.';

create function app.perform_once(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  own_key constant text := arguments ->> 'idempotency_key';
  own_hash constant bytea := sha256(convert_to(arguments::text, 'UTF8'));
  earlier app.idempotency_keys;
  result jsonb;
begin
  select * into earlier from app.idempotency_keys as k
  where k.organization_id = context.organization_id and k.actor_id = context.actor_id and k.tool = perform_once.tool and k.key = own_key
    and k.expires_at > context.at
    -- What was undone since is asked for anew.
    and not exists (select from app.change_sets as s where s.id = k.result ->> 'change_id' and s.undone_by is not null);
  if found then
    if earlier.arguments_hash <> own_hash then
      perform app.fail('idempotency_conflict', field => 'idempotency_key');
    end if;
    return earlier.result || jsonb_build_object('replayed', true);
  end if;
  result := app.perform_tool(context, tool, arguments);
  insert into app.idempotency_keys as k (organization_id, actor_id, tool, key, arguments_hash, result, expires_at)
  values (context.organization_id, context.actor_id, tool, own_key, own_hash, result, context.at + interval '24 hours')
  on conflict on constraint idempotency_keys_pkey do update
    set arguments_hash = excluded.arguments_hash, result = excluded.result, expires_at = excluded.expires_at;
  return result;
end
$$;
comment on function app.perform_once is
  'A tool whose call carries an idempotency key: the same key and arguments answer the first result, as long as what it wrote was not undone.';

create function app.books_key(organization_id text) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return hashtextextended('books of ' || books_key.organization_id, 0);
end
$$;
comment on function app.books_key is 'The advisory lock of an organization: whoever holds it is the only one who writes in its books.';

create function app.lock_books(organization_id text) returns void
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
begin
  perform pg_advisory_xact_lock(app.books_key(lock_books.organization_id));
exception when lock_not_available then
  -- Who waits holds a connection that everybody else needs as well.
  perform app.fail('busy');
end
$$;
comment on function app.lock_books is 'Makes this transaction the only one that writes in an organization; ends the tool with busy when another one takes long.';

create function app.run_tool(tool text, arguments jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  if app.is_write(tool) then
    -- One write at a time in an organization: of two equal calls the second sees what the first wrote, a version that was checked cannot
    -- change before the write, and the numbers of changes rise in the order in which they take effect. Different organizations never wait.
    perform app.lock_books(identity.current_organization_id());
  end if;
  -- After the lock: whoever held it may have changed the currency, the time zone or who is a member.
  context := app.read_context(at);
  if context.organization_id is null then
    return null;
  end if;
  result := case
    when (arguments ->> 'dry_run')::boolean then app.preview_tool(context, tool, arguments)
    when arguments ? 'idempotency_key' then app.perform_once(context, tool, arguments)
    else app.perform_tool(context, tool, arguments)
  end;
  if app.is_write(tool) then
    -- A write, or the undo of one, may have set the time zone or the currency that the answer names.
    context := app.read_context(at);
  end if;
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
  'Runs one tool as the person of the request''s claims, under row-level security, and answers its envelope; null for who is no member.';

-- The database's API of the connector

create function app.quota_key(grant_id text, kind text) returns text
language sql immutable set search_path = '' as $$
  select 'connector_' || kind || ':' || grant_id
$$;
comment on function app.quota_key is 'The bucket of what a grant reads or writes. A new access token of the grant is no new bucket.';

create function app.authenticate(token_hash text, resource text, kind text, limits jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal record;
  organization identity.organizations;
  wait integer := 0;
begin
  select * into principal from oauth.resolve_access_token(decode(authenticate.token_hash, 'hex'), resource, at);
  if principal.outcome is distinct from 'ok' then
    -- Only a token that was never ours is a guess. One that has expired or was revoked must hear that it did, however many others of the same
    -- hosted client come from the same address; and who holds a good one never comes here.
    if limits is not null and not exists (select from oauth.tokens as t where t.token_hash = decode(authenticate.token_hash, 'hex')) then
      wait := oauth.draw_quotas(limits -> 'caller', at);
    end if;
    return case when wait = 0 then '{"outcome": "invalid_token"}' else oauth.limited(wait) end;
  end if;
  if limits -> kind is not null then
    wait := oauth.wait_for_bucket(
      app.quota_key(principal.grant_id::text, kind), (limits #>> array[kind, 'at_most'])::integer, (limits #>> array[kind, 'seconds'])::double precision, at
    );
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  select * into strict organization from identity.organizations as o where o.id = principal.organization_id;
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
  'Who a bearer token speaks for at an instant, by its SHA-256 in hex: outcome ok, invalid_token, feature_not_in_plan or limited. kind: read or write.
   limits: {"caller": quotas, "read": {"at_most","seconds"}, "write": …}; null limits nothing.';

create function app.count_request(grant_id text, kind text, limits jsonb, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if limits -> kind is not null then
    perform oauth.draw_from_bucket(
      app.quota_key(grant_id, kind), (limits #>> array[kind, 'at_most'])::integer, (limits #>> array[kind, 'seconds'])::double precision, at
    );
  end if;
end
$$;
comment on function app.count_request is
  'Counts what a grant was given. It comes last in its transaction: the row stays locked until the end of that, and calls of one client must not wait for
   each other''s tools. So what is under way at the same time is not counted yet; that is as exact as this limit needs to be.';

create function public.authenticate_bearer(token_hash text, resource text, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal constant jsonb := app.authenticate(token_hash, resource, 'read', limits, at);
begin
  if principal ->> 'outcome' = 'ok' then
    perform app.count_request(principal #>> '{claims,grant_id}', 'read', limits, at);
  end if;
  return principal - 'claims';
end
$$;
comment on function public.authenticate_bearer is
  'For requests that run no tool: {outcome: ok | invalid_token | feature_not_in_plan | limited, organization?, plan?, required_plan?, retry_after?, first_use_in_hour?}.';

create function public.call_tool(token_hash text, resource text, tool text, arguments jsonb, at timestamptz, limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  kind constant text := case when app.is_write(tool) then 'write' else 'read' end;
  principal constant jsonb := app.authenticate(token_hash, resource, kind, limits, at);
  result jsonb;
begin
  if principal ->> 'outcome' <> 'ok' then
    return principal;
  end if;
  -- auth.uid() reads the one or the other, depending on the platform's age.
  perform set_config('request.jwt.claims', (principal -> 'claims')::text, true),
    set_config('request.jwt.claim.sub', principal #>> '{claims,sub}', true);
  result := app.run_tool(tool, coalesce(arguments, '{}'), at);
  if result is null then
    -- No member any more since the token was looked at.
    return '{"outcome": "invalid_token"}';
  end if;
  perform app.count_request(principal #>> '{claims,grant_id}', kind, limits, at);
  return principal - 'claims' - 'organization' || jsonb_build_object('result', result);
end
$$;
comment on function public.call_tool is
  'Authenticates a bearer and runs one tool, in one call: {outcome, result?, first_use_in_hour?}; result is the tool''s envelope. first_use_in_hour asks for
   record_use after the answer: once an hour a grant, so that no call of a tool writes the grant.';

revoke all on function public.authenticate_bearer, public.call_tool, app.authenticate, app.count_request, app.quota_key from public, anon, authenticated;
grant execute on function public.authenticate_bearer, public.call_tool, app.authenticate, app.count_request, app.quota_key to service_role;

revoke all on function
  app.read_context, app.begin_change, app.finish_change, app.is_write, app.dispatch_tool, app.perform_tool, app.preview_tool, app.perform_once,
  app.books_key, app.lock_books, app.run_tool
  from public, anon;
grant execute on function
  app.read_context, app.begin_change, app.finish_change, app.is_write, app.dispatch_tool, app.perform_tool, app.preview_tool, app.perform_once,
  app.books_key, app.lock_books, app.run_tool
  to authenticated, service_role;

-- From here on the person acts, not the service: the role is set on entry and restored by itself. It is added last, since setting it asks
-- for `authenticated`'s right to execute; no function that leads here may be SECURITY DEFINER, where roles cannot be set.
alter function app.run_tool set role = 'authenticated';
-- Compiling a statement takes longer than running it in any tool.
alter function app.run_tool set jit = off;
