-- undo_change: takes one earlier write back as a whole, from the rows that the capture trigger kept of it. An undo is a change like any other:
-- its rows are kept as well, so that undoing it brings the first change back.

create type app.reversal as (
  id text,
  subject text,
  verb text,
  fields text[]
);
comment on type app.reversal is 'What taking back a change does to one row: the id and the name that people know it by, and what happens to it, or which fields go back.';

create function app.describe_reversal(table_name text, kept jsonb, wanted jsonb, current jsonb) returns app.reversal
language plpgsql stable set search_path = '' as $$
declare
  latest constant jsonb := coalesce(current, kept, wanted);
  is_gone constant boolean := wanted is null or coalesce(wanted ->> 'deleted_at', wanted ->> 'archived_at') is not null;
  was_gone constant boolean := kept is null or coalesce(kept ->> 'deleted_at', kept ->> 'archived_at') is not null;
  reversal app.reversal;
  expense app.expenses;
begin
  select * into expense from app.expenses as e where e.id = latest ->> 'expense_id';
  reversal.id := case when table_name = 'expense_occurrences' or expense.kind = 'one_off' then expense.id else latest ->> 'id' end;
  reversal.subject := case
    when table_name = 'categories' then 'Category ' || (latest ->> 'name')
    when table_name = 'settings' then 'Settings'
    when table_name = 'expense_occurrences' then format('%s due %s', expense.name, latest ->> 'due_on')
    when expense.kind = 'bill' then format(
      'Payment of %s %s for %s', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency'), latest ->> 'currency', expense.name
    )
    else coalesce(expense.name, latest ->> 'name')
  end;
  reversal.verb := case
    when table_name = 'expense_occurrences' then 'is ' || coalesce(wanted ->> 'status', 'open') || ' again'
    when is_gone and not was_gone then 'removed'
    when was_gone and not is_gone then 'restored'
  end;
  reversal.fields := array(
    select case key when 'paid_on' then 'date' else replace(regexp_replace(key, '_(minor|id|on)$', ''), '_', ' ') end
    from jsonb_object_keys(wanted) as key
    where wanted -> key is distinct from kept -> key and key <> all (app.derived_columns(table_name)) and key !~ '^(base|fx)_'
  );
  return reversal;
end
$$;
comment on function app.describe_reversal is 'What becomes of a row that is now current, was kept by the change that goes, and is wanted as it was before.';

create function app.describe_current(current jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if current is null or current ->> 'deleted_at' is not null then
    return '{"deleted":true}';
  end if;
  if current ? 'timezone' then
    return current - 'id';
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'name', current ->> 'name', 'amount', app.format_amount(coalesce(current ->> 'amount_minor', current ->> 'expected_minor')::numeric, current ->> 'currency'),
    'currency', current ->> 'currency', 'date', current ->> 'paid_on', 'due_on', coalesce(current ->> 'due_on', current ->> 'next_due'),
    'payee', current ->> 'payee', 'status', current ->> 'status'
  ));
end
$$;
comment on function app.describe_current is 'What stands in the way of an undo, as it is now.';

create function app.find_change_to_undo(context app.context, change_id text) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  target app.change_sets;
begin
  if change_id is null then
    -- "Undo that": neither an undo, nor what was paid or fetched automatically on the way.
    select * into target from app.change_sets as s
    where s.actor_id = context.actor_id and s.undoes is null and s.undone_by is null and s.tool not in ('undo_change', 'autopay', 'provider_sync')
    order by s.entry desc
    limit 1;
    if not found then
      perform app.fail(
        'not_found', format('You have changed nothing in %s that could be undone.', context.organization_name), 'change_id',
        'get_context with include recent_changes lists the changes of everybody.'
      );
    end if;
  else
    select * into target from app.change_sets as s where s.id = find_change_to_undo.change_id;
    if not found then
      perform app.fail(
        'not_found', format('There is no change %s in %s.', change_id, context.organization_name), 'change_id',
        'get_context with include recent_changes lists the changes.'
      );
    end if;
  end if;
  if target.undone_by is not null then
    perform app.fail(
      'undo_conflict', format('"%s" has been undone already.', target.summary), 'change_id', 'To do it again, undo change details.undone_by.',
      jsonb_build_object('undone_by', target.undone_by)
    );
  end if;
  if target.created_at < context.at - interval '30 days' then
    perform app.fail('undo_expired', format('"%s" is more than 30 days ago and can no longer be undone.', target.summary), 'change_id', 'Make the change by hand instead.');
  end if;
  return target;
end
$$;
comment on function app.find_change_to_undo is 'The change that is meant: the one named, else the caller''s latest that still stands.';

create function app.mark_undone(target app.change_sets, undo_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.change_sets as s set undoes = target.id where s.id = undo_id;
  -- When an undo is undone, what it had undone stands again, and so on down the chain.
  loop
    update app.change_sets as s set undone_by = undo_id where s.id = target.id;
    exit when target.undoes is null;
    undo_id := case when undo_id is null then target.id end;
    select * into target from app.change_sets as s where s.id = target.undoes;
  end loop;
end
$$;
comment on function app.mark_undone is 'Notes that a change no longer stands, and whatever follows from that for the changes it had undone.';

create function app.fail_undo(target app.change_sets, conflicts jsonb) returns void
language plpgsql stable set search_path = '' as $$
declare
  rows jsonb;
  subjects text[];
begin
  -- One row for what people see as one thing.
  select
    jsonb_agg(jsonb_build_object('id', r.id, 'what', r.subject, 'current', r.current) order by r.place),
    array_agg(r.subject order by r.place)
  into rows, subjects
  from (
    select x ->> 'id' as id, min(x ->> 'subject') as subject, jsonb_object_agg(f.key, f.value) as current, min(x.place) as place
    from jsonb_array_elements(conflicts) with ordinality as x (x, place)
    cross join jsonb_each(x -> 'current') as f
    group by x ->> 'id'
  ) as r;
  perform app.fail(
    'undo_conflict', format('"%s" cannot be undone, because it was changed since: %s. Nothing was changed.', target.summary, app.list_names(subjects)), 'change_id',
    'Undo the later change first, or make this one by hand.', jsonb_build_object('rows', rows)
  );
end
$$;
comment on function app.fail_undo is 'Ends the tool with undo_conflict and what stands in the way, as it is now.';

create function app.undo_change(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  target constant app.change_sets := app.find_change_to_undo(context, arguments ->> 'change_id');
  touched record;
  current jsonb;
  reversal app.reversal;
  expense_id text;
  expense_ids text[] := '{}';
  conflicts jsonb := '[]';
  reversed app.reversal[] := '{}';
  kept jsonb := '[]';
begin
  -- Backwards: what was made last goes first, and what others refer to comes back before them.
  for touched in
    select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before, (array_agg(i.after order by i.position desc))[1] as after
    from app.change_items as i
    where i.change_id = target.id
    group by i.table_name, i.row_id
    order by max(i.position) desc
  loop
    continue when touched.before is null and touched.after is null;
    if touched.table_name = 'provider_links' then
      kept := kept || jsonb_build_object('id', touched.row_id, 'what', format(
        'The connection to %s stays ended: it has to be made again', coalesce(touched.before ->> 'provider_name', touched.before ->> 'provider_key')
      ));
      continue;
    end if;
    current := app.read_row(touched.table_name, touched.row_id);
    reversal := app.describe_reversal(touched.table_name, touched.after, touched.before, current);
    if not app.same_content(touched.table_name, touched.after, current) then
      conflicts := conflicts || jsonb_build_object('id', reversal.id, 'subject', reversal.subject, 'current', app.describe_current(current));
    elsif touched.before is not null then
      perform app.write_row(touched.table_name, touched.row_id, touched.before);
      reversed := array_append(reversed, reversal);
    elsif app.remove_row(touched.table_name, touched.row_id) then
      reversed := array_append(reversed, reversal);
    else
      kept := kept || jsonb_build_object('id', reversal.id, 'what', reversal.subject || ' stays: other expenses use it');
    end if;
    expense_id := case touched.table_name when 'expenses' then touched.row_id else coalesce(touched.before, touched.after) ->> 'expense_id' end;
    expense_ids := array_append(expense_ids, expense_id);
  end loop;

  if conflicts = '[]' then
    -- A bill cannot go while money that was paid for it since stays.
    select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'subject', described.subject, 'current', app.describe_current(to_jsonb(p))) order by p.entry), '[]')
    into conflicts
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id and e.deleted_at is not null
    cross join lateral app.describe_reversal('payments', to_jsonb(p), to_jsonb(p), to_jsonb(p)) as described
    where p.expense_id = any (expense_ids) and p.deleted_at is null;
  end if;
  if conflicts <> '[]' then
    perform app.fail_undo(target, conflicts);
  end if;
  perform app.mark_undone(target, current_setting('app.change_id', true));
  perform app.restore_bill(i.row_id, target.created_at, context.today) from app.change_items as i where i.change_id = target.id and i.table_name = 'expenses' and starts_with(i.row_id, 'bill_');
  perform app.refresh_bill(b.id, context.today) from (select distinct id from unnest(expense_ids) as id where starts_with(id, 'bill_') order by id) as b;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'undone', jsonb_build_object('change_id', target.id, 'summary', target.summary, 'by', app.member_name(target.actor_id)),
      'reversed', (
        select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'what', coalesce(r.subject || ' ' || r.verb, r.subject || ': ' || r.fields || ' set back')) order by r.place desc), '[]')
        from (
          -- An expense and its payment are one thing to people.
          select x.id, x.subject, max(x.verb) as verb, string_agg(distinct field, ', ') as fields, min(x.ordinality) as place
          from unnest(reversed) with ordinality as x
          left join lateral unnest(x.fields) as field on true
          group by x.id, x.subject
        ) as r
      ),
      'not_reversible', kept
    ),
    'summary', case
      when target.undoes is null then 'Undid: ' || target.summary
      when target.summary like 'Undid: %' then 'Redid: ' || substr(target.summary, 8)
      else 'Undid: ' || substr(target.summary, 8)
    end
  );
exception when unique_violation then
  perform app.fail(
    'undo_conflict', format('"%s" cannot be undone: something with the same name or external id was added since. Nothing was changed.', target.summary), 'change_id',
    'Rename or delete the newer one first.'
  );
end
$$;
comment on function app.undo_change is 'Tool undo_change: data {undone, reversed, not_reversible}.';

revoke all on function
  app.describe_reversal, app.describe_current, app.find_change_to_undo, app.mark_undone, app.fail_undo, app.undo_change from public, anon;
grant execute on function
  app.describe_reversal, app.describe_current, app.find_change_to_undo, app.mark_undone, app.fail_undo, app.undo_change to authenticated, service_role;
