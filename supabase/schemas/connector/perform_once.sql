create or replace function app.perform_tool(context app.context, tool text, arguments jsonb) returns jsonb
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
  -- A tool that did its work in an earlier call returns that call's change.
  return result - 'facts' || jsonb_build_object('change_id', coalesce(change, result ->> 'change_id'));
end
$$;
comment on function app.perform_tool is 'Runs a tool. A write runs inside a change set.';

create or replace function app.preview_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  preview text;
begin
  -- The tool really runs, so a preview cannot differ from the write; the error that leaves the block rolls everything
  -- back.
  raise exception using errcode = 'EX002', detail = app.preview_judged(context, tool, arguments)::text;
exception when sqlstate 'EX002' then
  get stacked diagnostics preview = pg_exception_detail;
  return preview::jsonb - 'change_id' || jsonb_build_object(
    'warnings', coalesce(preview::jsonb -> 'warnings', '[]') || app.warning('dry_run')
  );
end
$$;
comment on function app.preview_tool is 'Returns the effect of a tool without writing it (dry_run).';

create or replace function app.perform_once(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  own_key constant text := arguments ->> 'idempotency_key';
  own_hash constant bytea := sha256(convert_to(arguments::text, 'UTF8'));
  earlier app.idempotency_keys;
  result jsonb;
begin
  select * into earlier from app.idempotency_keys as k
  where k.organization_id = context.organization_id and k.actor_id = context.actor_id and k.tool = perform_once.tool
    and k.key = own_key
    and k.expires_at > context.at
    -- A repeated key runs again if its change was undone since. The key of an undo keeps its first result.
    and (perform_once.tool = 'undo_change'
      or not exists (select from app.change_sets as s
      where s.id = k.result ->> 'change_id' and s.undone_by is not null));
  if found then
    if earlier.arguments_hash <> own_hash then
      perform app.fail('idempotency_conflict', field => 'idempotency_key');
    end if;
    return coalesce((
      -- The proposal may have been approved since.
      select coalesce(p.result, case
        when p.state <> 'pending' then jsonb_build_object('ok', false, 'error', jsonb_build_object(
          'code', 'not_decided.already', 'params', jsonb_build_object('state', p.state)
        ))
        when p.expires_at <= context.at then jsonb_build_object('ok', false, 'error', jsonb_build_object(
          'code', 'not_decided.expired'
        ))
        else app.answer_proposal(p)
      end)
      from app.proposals as p
      where p.id = earlier.result ->> 'proposal_id'
    ), earlier.result) || jsonb_build_object('replayed', true);
  end if;
  result := app.perform_judged(context, tool, arguments);
  insert into app.idempotency_keys as k (organization_id, actor_id, tool, key, arguments_hash, result, expires_at)
  values (context.organization_id, context.actor_id, tool, own_key, own_hash, result,
    context.at + app.kept_for('idempotency_keys'))
  on conflict on constraint idempotency_keys_pkey do update
    set arguments_hash = excluded.arguments_hash, result = excluded.result, expires_at = excluded.expires_at;
  return result;
end
$$;
comment on function app.perform_once is
  'Runs a call with an idempotency key: the same key and arguments return the first result, unless its change was '
  'undone.';

create or replace function app.books_key(organization_id text) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return hashtextextended('books of ' || books_key.organization_id, 0);
end
$$;
comment on function app.books_key is
  'Returns the key of an organization''s advisory lock. The holder of the lock is the organization''s only writer.';

create or replace function app.lock_books(organization_id text) returns void
language plpgsql volatile set search_path = '' set lock_timeout = '2s' as $$
begin
  perform pg_advisory_xact_lock(app.books_key(lock_books.organization_id));
  if identity.is_standing_noted() then
    -- The previous lock holder may have changed this person's rights.
    perform identity.note_standing();
    perform app.refuse_reader();
  end if;
exception when lock_not_available then
  -- A waiting call holds a database connection that others need.
  perform app.fail('busy');
end
$$;
comment on function app.lock_books is
  'Makes this transaction the only writer of an organization. Ends the tool with busy when another writer takes too '
  'long.';

create or replace function app.lock_books_last(organization_id text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- The attempts take two seconds in total.
  attempts_left int := 100;
begin
  while not pg_try_advisory_xact_lock(app.books_key(lock_books_last.organization_id)) loop
    attempts_left := attempts_left - 1;
    if attempts_left = 0 then
      perform app.fail('busy');
    end if;
    perform pg_sleep(0.02);
  end loop;
  perform app.lock_books(lock_books_last.organization_id);
end
$$;
comment on function app.lock_books_last is
  'app.lock_books for transactions that already hold row locks. It polls instead of waiting, because the lock''s '
  'holder may wait for these rows.';
