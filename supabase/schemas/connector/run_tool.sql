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
    -- The latest change of this connection, as app.find_latest_change defines it.
    target_id := app.find_own_latest((auth.jwt() ->> 'grant_id')::uuid);
  end if;
  -- Undoing an import waits for other imports, because publishing one can lock lines whose other halves the undo
  -- deletes.
  return exists (select from app.change_sets as s where s.id = target_id and s.tool = 'import_expenses')
    or exists (select from app.change_items as i where i.change_id = target_id offset many);
end
$$;
comment on function app.is_long is
  'Whether a write takes too long to hold the books lock throughout: an import, its undo, or a large undo.';

create or replace function app.run_tool(tool text, arguments jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  is_write constant boolean := app.is_write(tool);
  context app.context;
  result jsonb;
  problem text;
begin
  perform set_config('app.at', at::text, true);
  perform identity.note_standing();
  if is_write then
    perform app.refuse_reader();
    -- Writes of one organization are serialized. The second of two equal calls sees the writes of the first, a checked
    -- version cannot change before the write, and change numbers follow the order of effect. Organizations don't wait
    -- for each other. Long writes take the lock at their end.
    if not app.is_long(tool, arguments) then
      perform app.lock_books(identity.current_organization_id());
    end if;
  end if;
  -- Read after the lock is taken, because its previous holder may have changed the currency, time zone or members.
  context := app.read_context(at);
  if context.organization_id is null then
    return null;
  end if;
  result := case
    when (arguments ->> 'dry_run')::boolean then app.preview_tool(context, tool, arguments)
    when arguments ? 'idempotency_key' then app.perform_once(context, tool, arguments)
    else app.perform_judged(context, tool, arguments)
  end;
  if is_write then
    -- This write may have changed the time zone or currency that the answer uses.
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
  'Runs one tool as the person of the request''s claims under row-level security and returns its envelope; null '
  'without a membership.';
