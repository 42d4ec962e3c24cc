create or replace function app.fail_already_undone(target app.change_sets) returns void
language plpgsql stable set search_path = '' as $$
declare
  root app.change_sets := target;
  earlier app.change_sets;
begin
  -- If the named change is an undo, go back to the change that it reverted.
  while root.undoes is not null loop
    select * into root from app.change_sets as s where s.id = root.undoes;
  end loop;
  -- A repeated "undo that" must not undo an earlier change. The error names that change.
  select * into earlier from app.change_sets as s
  where s.organization_id = root.organization_id and s.actor_id = root.actor_id
    and s.grant_id is not distinct from root.grant_id and s.recorded_seq < root.recorded_seq
    and s.tool not in ('autopay', 'provider_sync') and s.undoes is null and s.undone_by is null and not s.is_emptied
  order by s.recorded_seq desc
  limit 1;
  perform app.fail(
    case when root.undone_by is null then 'already_undone.and_redone'
      when earlier.id is not null then 'already_undone.with_earlier'
      else 'already_undone' end,
    jsonb_build_object(
      'change', app.change_facts(root),
      'details', jsonb_strip_nulls(jsonb_build_object(
        'change_id', root.id, 'undone_by', root.undone_by, 'earlier',
        case when earlier.id is not null and root.undone_by is not null
          then jsonb_build_object('change_id', earlier.id, 'change', app.change_facts(earlier)) end
      ))
    ), 'change_id'
  );
end
$$;
comment on function app.fail_already_undone is
  'Ends the tool with already_undone for a change that was undone (and possibly redone), and names the previous '
  'change.';

create or replace function app.find_latest_change(context app.context) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  max_minutes constant int := 30;
  latest app.change_sets;
begin
  -- Skips automatic payments and fetches. Undos count: "undo that" after an undo is a retry, and must not revert an
  -- earlier change.
  select * into latest from app.change_sets as s where s.id = app.find_own_latest(context.grant_id);
  if not found then
    perform app.fail('not_found.own_change', jsonb_build_object('organization', context.organization_name),
      'change_id');
  elsif latest.undoes is not null then
    perform app.fail_already_undone(latest);
  elsif latest.created_at < context.at - max_minutes * interval '1 minute' and latest.undone_by is null then
    perform app.fail('not_found.recent_change', jsonb_build_object(
      'change', app.change_facts(latest), 'minutes', max_minutes,
      'details', jsonb_build_object('change_id', latest.id)
    ), 'change_id');
  end if;
  return latest;
end
$$;
comment on function app.find_latest_change is
  'Returns the change meant by "undo that": the latest change of this connection within half an hour, unless it is an '
  'undo.';

create or replace function app.find_change_to_undo(context app.context, change_id text) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  days constant int := extract(day from app.kept_for('change_contents'));
  target app.change_sets;
begin
  if change_id is null then
    target := app.find_latest_change(context);
  else
    select * into target from app.change_sets as s where s.id = find_change_to_undo.change_id;
    if not found then
      perform app.fail(
        'not_found.change', jsonb_build_object('id', change_id, 'organization', context.organization_name), 'change_id'
      );
    end if;
  end if;
  if target.is_emptied then
    perform app.fail('undo_expired.emptied', jsonb_build_object('days', days), 'change_id');
  end if;
  if target.undone_by is not null then
    perform app.fail('already_undone', jsonb_build_object(
      'change', app.change_facts(target),
      'details', jsonb_build_object('change_id', target.id, 'undone_by', target.undone_by)
    ), 'change_id');
  end if;
  if target.created_at < context.at - app.kept_for('change_contents') then
    perform app.fail('undo_expired', jsonb_build_object('change', app.change_facts(target), 'days', days), 'change_id');
  end if;
  return target;
end
$$;
comment on function app.find_change_to_undo is
  'Returns the change to undo: the named one, otherwise the latest of this connection.';
