-- undo_change: takes one earlier write back as a whole, from the rows that the capture trigger kept of it. An undo is a change like any other:
-- its rows are kept as well, so that undoing it brings the first change back.

create type app.reversal as (
  id text,
  subject jsonb,
  verb text,
  fields text[]
);
comment on type app.reversal is
  'What taking back a change does to one row: the id and the thing that people know it by, {kind, name?, …}, and what happens to it, or which fields go back.';

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
    when table_name = 'categories' then jsonb_build_object('kind', 'category', 'name', latest -> 'name')
    when table_name = 'settings' then jsonb_build_object('kind', 'settings')
    when table_name = 'expense_occurrences' then
      jsonb_build_object('kind', 'date', 'name', expense.name, 'due_on', latest -> 'due_on')
    when expense.kind = 'bill' then jsonb_build_object(
      'kind', 'payment', 'name', expense.name, 'currency', latest -> 'currency',
      'amount', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency')
    )
    else jsonb_build_object('kind', 'expense', 'name', coalesce(expense.name, latest ->> 'name'))
  end;
  reversal.verb := case
    when table_name = 'expense_occurrences' then coalesce(wanted ->> 'status', 'open')
    when is_gone and not was_gone then 'removed'
    when was_gone and not is_gone then 'restored'
  end;
  reversal.fields := array(
    select case key when 'paid_on' then 'date' else regexp_replace(key, '_(minor|id|on)$', '') end
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

create function app.change_facts(change app.change_sets) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('tool', change.tool, 'facts', change.facts);
end
$$;
comment on function app.change_facts is 'A change as facts, of which words are made: {tool, facts}.';

create function app.find_change_to_undo(context app.context, change_id text) returns app.change_sets
language plpgsql stable set search_path = '' as $$
declare
  target app.change_sets;
begin
  if change_id is null then
    -- "Undo that": neither an undo, nor what was paid or fetched automatically on the way.
    select * into target from app.change_sets as s
    where s.actor_id = context.actor_id and s.undoes is null and s.undone_by is null and s.tool not in ('undo_change', 'autopay', 'provider_sync')
    order by s.recorded_seq desc
    limit 1;
    if not found then
      perform app.fail('not_found.own_change', jsonb_build_object('organization', context.organization_name), 'change_id');
    end if;
  else
    select * into target from app.change_sets as s where s.id = find_change_to_undo.change_id;
    if not found then
      perform app.fail(
        'not_found.change', jsonb_build_object('id', change_id, 'organization', context.organization_name), 'change_id'
      );
    end if;
  end if;
  if target.undone_by is not null then
    perform app.fail('undo_conflict.undone_already', jsonb_build_object(
      'change', app.change_facts(target), 'details', jsonb_build_object('undone_by', target.undone_by)
    ), 'change_id');
  end if;
  if target.created_at < context.at - interval '30 days' then
    perform app.fail('undo_expired', jsonb_build_object('change', app.change_facts(target), 'days', 30), 'change_id');
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

create function app.fail_undo(target app.change_sets, conflicts app.kept_row[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  rows jsonb;
begin
  -- One row for what people see as one thing.
  select jsonb_agg(jsonb_build_object('id', r.id, 'subject', r.subject, 'current', r.current) order by r.place) into rows
  from (
    select d.id, (array_agg(d.subject order by d.subject ->> 'due_on' nulls first))[1] as subject, jsonb_object_agg(f.key, f.value) as current, min(x.place) as place
    from unnest(conflicts[:100]) with ordinality as x (table_name, row_id, before, after, current, place)
    cross join lateral app.describe_reversal(x.table_name, x.after, x.before, x.current) as d
    cross join jsonb_each(app.describe_current(x.current)) as f
    group by d.id
  ) as r;
  perform app.fail('undo_conflict.changed_since', jsonb_build_object(
    'change', app.change_facts(target), 'details', jsonb_build_object('rows', rows)
  ), 'change_id');
end
$$;
comment on function app.fail_undo is 'Ends the tool with undo_conflict and what stands in the way, as it is now.';

create function app.describe_reversals(reversed app.kept_row[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  max_listed constant int := 100;
begin
  return (
    with things as (
      -- An expense and its payment are one thing to people.
      select r.*, case when starts_with(coalesce(r.before, r.after) ->> 'expense_id', 'exp_') then coalesce(r.before, r.after) ->> 'expense_id' else r.row_id end as thing
      from unnest(reversed) with ordinality as r (table_name, row_id, before, after, current, place)
    ), listed as (
      select t.thing, min(t.place) as place from things as t group by t.thing order by place desc limit max_listed
    ), described as (
      select d.id, d.subject, max(d.verb) as verb, jsonb_agg(distinct field) filter (where field is not null) as fields, min(t.place) as place
      from listed as l
      join things as t on t.thing = l.thing
      cross join lateral app.describe_reversal(t.table_name, t.after, t.before, t.current) as d
      left join lateral unnest(d.fields) as field on true
      group by d.id, d.subject
    )
    select jsonb_build_object(
      'reversed', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', d.id, 'subject', d.subject, 'verb', d.verb, 'fields', d.fields
        ) order by d.place desc), '[]')
        from described as d
      ),
      'reversed_count', (select nullif(count(distinct t.thing), (select count(*) from listed)) from things as t)
    )
  );
end
$$;
comment on function app.describe_reversals is 'What was taken back, {reversed, reversed_count}: at most 100 are listed, and the count is there when there were more.';

create function app.undo_change(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  target constant app.change_sets := app.find_change_to_undo(context, arguments ->> 'change_id');
  batch record;
  rows app.kept_row[];
  differing app.kept_row[];
  removed text[];
  expense_ids text[];
  conflicts app.kept_row[] := '{}';
  reversed app.kept_row[] := '{}';
  kept jsonb := '[]';
begin
  -- A bill before its dates, as everybody locks them: the job that rolls bills waits for nobody, and must not be waited for half-way.
  perform
  from app.expenses as e
  where e.id in (
    select case i.table_name when 'expenses' then i.row_id else coalesce(i.before, i.after) ->> 'expense_id' end
    from app.change_items as i
    where i.change_id = target.id
  ) and e.kind = 'bill'
  order by e.id
  for update;

  -- Backwards: what was made last goes first, and what others refer to comes back before them. Rows of one kind that follow each other are one step.
  for batch in
    with touched as (
      select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before, (array_agg(i.after order by i.position desc))[1] as after,
        max(i.position) as position
      from app.change_items as i
      where i.change_id = target.id
      group by i.table_name, i.row_id
    ), steps as (
      select t.*, (coalesce(t.before, t.after) ->> 'recorded_seq')::bigint as recorded_seq, row_number() over (order by t.position desc)
        - row_number() over (partition by t.table_name, t.before is null order by t.position desc) as step
      from touched as t
      where t.before is not null or t.after is not null
    )
    -- Within a step as they were recorded, so that what was taken back in one is told in the order of the books.
    select s.table_name, s.before is null as is_new, array_agg(s.row_id order by s.recorded_seq desc, s.position desc) as ids,
      array_agg(s.before order by s.recorded_seq desc, s.position desc) as befores, array_agg(s.after order by s.recorded_seq desc, s.position desc) as afters
    from steps as s
    group by s.table_name, s.before is null, s.step
    order by max(s.position) desc
  loop
    if batch.table_name = 'provider_links' then
      select kept || jsonb_agg(jsonb_build_object(
        'id', w.row_id, 'why', 'connection_ended', 'subject', jsonb_build_object('kind', 'connection', 'name', w.before ->> 'provider_key')
      )) into kept
      from unnest(batch.ids, batch.befores) as w (row_id, before);
      continue;
    end if;
    select
      array_agg((batch.table_name, w.row_id, w.before, w.after, c.current)::app.kept_row order by w.place),
      array_agg((batch.table_name, w.row_id, w.before, w.after, c.current)::app.kept_row order by w.place) filter (where not c.is_same)
    into rows, differing
    from unnest(batch.ids, batch.befores, batch.afters) with ordinality as w (row_id, before, after, place)
    join app.compare_rows(batch.table_name, batch.ids, batch.afters) as c on c.row_id = w.row_id;
    expense_ids := expense_ids || array(
      select distinct case batch.table_name when 'expenses' then r.row_id else coalesce(r.before, r.after) ->> 'expense_id' end from unnest(rows) as r
    );
    conflicts := conflicts || differing;
    continue when conflicts <> '{}';
    if batch.is_new then
      removed := app.remove_rows(batch.table_name, batch.ids);
      reversed := reversed || array(
        select (r.table_name, r.row_id, r.before, r.after, r.current)::app.kept_row
        from unnest(rows) with ordinality as r
        where r.row_id = any (removed)
        order by r.ordinality
      );
      kept := kept || (
        select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'why', 'in_use', 'subject', d.subject)), '[]')
        from unnest(rows) as r
        cross join lateral app.describe_reversal(r.table_name, r.after, r.before, r.current) as d
        where r.row_id <> all (removed)
      );
    else
      perform app.write_rows(batch.table_name, batch.ids, batch.befores);
      reversed := reversed || rows;
    end if;
  end loop;

  if conflicts = '{}' then
    conflicts := array(
      -- A bill cannot go while money that was paid for it since stays.
      select ('payments', p.id, to_jsonb(p), to_jsonb(p), to_jsonb(p))::app.kept_row
      from (select distinct id from unnest(expense_ids) as id) as x
      -- Looked up one by one: of how many an undo touched the planner knows nothing.
      cross join lateral (select e.deleted_at from app.expenses as e where e.id = x.id offset 0) as e
      cross join lateral (select p.* from app.payments as p where p.expense_id = x.id and p.deleted_at is null offset 0) as p
      where e.deleted_at is not null
      order by p.recorded_seq
    ) || array(
      -- Nor can a part of what was paid for a date, when a later payment settled the date on the strength of it.
      select ('expense_occurrences', o.id, to_jsonb(o), to_jsonb(o), to_jsonb(o))::app.kept_row
      from (
        select distinct coalesce(i.before, i.after) ->> 'occurrence_id' as id from app.change_items as i where i.change_id = target.id and i.table_name = 'payments'
      ) as x
      cross join lateral (select o.* from app.expense_occurrences as o where o.id = x.id offset 0) as o
      where o.status = 'paid' and o.paid_minor < o.expected_minor
      order by o.due_on
    );
  end if;
  if conflicts <> '{}' then
    perform app.fail_undo(target, conflicts);
  end if;
  perform app.mark_undone(target, current_setting('app.change_id', true));
  perform app.restore_bill(i.row_id, target.created_at, context.today) from app.change_items as i where i.change_id = target.id and i.table_name = 'expenses' and starts_with(i.row_id, 'bill_');
  perform app.refresh_bill(b.id, context.today) from (select distinct id from unnest(expense_ids) as id where starts_with(id, 'bill_') order by id) as b;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'undone', jsonb_build_object('change_id', target.id, 'change', app.change_facts(target), 'by', app.member_name(target.actor_id)),
      'not_reversible', kept
    ) || app.describe_reversals(reversed),
    -- Undoing an undo does the first change again.
    'facts', case
      when target.undoes is null then jsonb_build_object('verb', 'undid', 'change', app.change_facts(target))
      else jsonb_build_object(
        'verb', case target.facts ->> 'verb' when 'undid' then 'redid' else 'undid' end, 'change', target.facts -> 'change'
      )
    end
  );
exception when unique_violation then
  perform app.fail('undo_conflict.name_taken', jsonb_build_object('change', app.change_facts(target)), 'change_id');
end
$$;
comment on function app.undo_change is 'Tool undo_change: data {undone, reversed, reversed_count?, not_reversible}.';

revoke all on function
  app.describe_reversal, app.describe_current, app.change_facts, app.find_change_to_undo, app.mark_undone, app.fail_undo, app.describe_reversals, app.undo_change from public, anon;
grant execute on function
  app.describe_reversal, app.describe_current, app.change_facts, app.find_change_to_undo, app.mark_undone, app.fail_undo, app.describe_reversals, app.undo_change to authenticated, service_role;
