create or replace function app.undo_change(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rows_at_once constant int := 2000;
  is_long constant boolean := app.is_long('undo_change', arguments);
  target app.change_sets;
  batch record;
  rows app.kept_row[];
  differing app.kept_row[];
  removed text[];
  expense_ids text[];
  conflicts app.kept_row[] := '{}';
  reversal app.kept_row;
  reversed app.kept_row[] := '{}';
  kept jsonb := '[]';
  described jsonb;
begin
  if is_long then
    perform app.lock_imports(context.organization_id);
  end if;
  target := app.find_change_to_undo(context, arguments ->> 'change_id');
  -- Locks bills before their dates, like all writers. The rolling job skips locked rows, so nothing waits for it.
  -- Without the books lock, each expense is locked before its payments.
  perform
  from app.expenses as e
  where e.id in (
    select t.expense_id
    from (
      select case i.table_name when 'expenses' then i.row_id else coalesce(i.before, i.after) ->> 'expense_id' end
        as expense_id
      from app.change_items as i
      where i.change_id = target.id
      offset 0
    ) as t
    where is_long or starts_with(t.expense_id, 'bill_')
  ) and (is_long or e.kind = 'bill')
  order by e.id
  for no key update;

  -- Go in reverse order, to delete the last created row first and to restore referenced rows before their references.
  -- Consecutive rows of one kind are one step.
  for batch in
    with touched as (
      select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before,
        (array_agg(i.after order by i.position desc))[1] as after,
        max(i.position) as position
      from app.change_items as i
      where i.change_id = target.id
      group by i.table_name, i.row_id
    ), steps as (
      select t.*, (coalesce(t.before, t.after) ->> 'recorded_seq')::bigint as recorded_seq,
        row_number() over (order by t.position desc)
        - row_number() over (partition by t.table_name, t.before is null order by t.position desc) as step
      from touched as t
      where t.before is not null or t.after is not null
    )
    , pages as (
      select s.*, (row_number() over (
        partition by s.table_name, s.before is null, s.step order by s.recorded_seq desc, s.position desc
      ) - 1) / rows_at_once as page
      from steps as s
    )
    -- Sort by recording order within a step, so that the answer lists its effects in that order.
    select s.table_name, s.before is null as is_new,
      array_agg(s.row_id order by s.recorded_seq desc, s.position desc) as ids,
      array_agg(s.before order by s.recorded_seq desc, s.position desc) as befores,
      array_agg(s.after order by s.recorded_seq desc, s.position desc) as afters
    from pages as s
    group by s.table_name, s.before is null, s.step, s.page
    order by max(max(s.position)) over (partition by s.table_name, s.before is null, s.step) desc, s.page
  loop
    if batch.table_name = 'provider_links' then
      select kept || jsonb_agg(jsonb_build_object(
        'id', w.row_id, 'why', 'connection_ended', 'subject',
        jsonb_build_object('kind', 'connection', 'name', w.before ->> 'provider_key')
      )) into kept
      from unnest(batch.ids, batch.befores) as w (row_id, before);
      continue;
    end if;
    select
      array_agg((batch.table_name, w.row_id, w.before, w.after, c.current)::app.kept_row order by w.place),
      array_agg((batch.table_name, w.row_id, w.before, w.after, c.current)::app.kept_row order by w.place) filter (
        where not c.is_same)
    into rows, differing
    from unnest(batch.ids, batch.befores, batch.afters) with ordinality as w (row_id, before, after, place)
    join app.compare_rows(batch.table_name, batch.ids, batch.afters) as c on c.row_id = w.row_id;
    expense_ids := expense_ids || array(
      select distinct case batch.table_name when 'expenses' then r.row_id
        else coalesce(r.before, r.after) ->> 'expense_id' end from unnest(rows) as r
    );
    conflicts := conflicts || differing;
    continue when conflicts <> '{}';
    if batch.is_new then
      removed := app.remove_rows(batch.table_name, batch.ids);
      if cardinality(removed) < cardinality(batch.ids) then
        kept := kept || (
          select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'why', 'in_use', 'subject', d.subject)), '[]')
          from unnest(rows) as r
          cross join lateral app.describe_reversal(r.table_name, r.after, r.before, r.current) as d
          where r.row_id <> all (removed)
        );
        rows := array(
          select (r.table_name, r.row_id, r.before, r.after, r.current)::app.kept_row
          from unnest(rows) with ordinality as r
          where r.row_id = any (removed)
          order by r.ordinality
        );
      end if;
    else
      perform app.write_rows(batch.table_name, batch.ids, batch.befores);
    end if;
    -- Append one by one, which extends the array in place. Joining arrays would copy the earlier reversals.
    foreach reversal in array rows loop
      reversed := reversed || reversal;
    end loop;
  end loop;

  -- After the undo, a statement's rows can be imported again.
  delete from app.statement_lines as l where l.change_id = target.id;
  update app.accounts as a set balance = null
  where a.organization_id = context.organization_id and a.balance ->> 'change_id' = target.id;
  if target.facts ->> 'verb' = 'undid' then
    kept := kept || (
      select coalesce(jsonb_agg(jsonb_build_object('id', b.account_id, 'why', 'lines_gone', 'subject',
        jsonb_build_object('kind', 'statement', 'name', a.name))), '[]')
      from app.import_batches as b
      join app.accounts as a on a.id = b.account_id
      where b.change_id = target.undoes
    );
  end if;
  described := app.describe_reversals(reversed);
  if is_long then
    -- Other writers wait only from here on, because the rows were locked one by one.
    perform app.lock_books_last(context.organization_id);
  end if;
  if conflicts = '{}' then
    conflicts := array(
      -- A bill cannot be removed while later payments stay.
      select ('payments', p.id, to_jsonb(p), to_jsonb(p), to_jsonb(p))::app.kept_row
      from (select distinct id from unnest(expense_ids) as id) as x
      -- Look up each row, because the planner cannot estimate the number of rows that an undo changes.
      cross join lateral (select e.deleted_at from app.expenses as e where e.id = x.id offset 0) as e
      cross join lateral (select p.* from app.payments as p where p.expense_id = x.id offset 0) as p
      where e.deleted_at is not null and p.deleted_at is null
      order by p.recorded_seq
    ) || array(
      -- A partial payment can't be undone either, once a later payment has settled the date.
      select ('expense_occurrences', o.id, to_jsonb(o), to_jsonb(o), to_jsonb(o))::app.kept_row
      from (
        select distinct coalesce(i.before, i.after) ->> 'occurrence_id' as id from app.change_items as i
          where i.change_id = target.id and i.table_name = 'payments'
      ) as x
      cross join lateral (select o.* from app.expense_occurrences as o where o.id = x.id offset 0) as o
      where o.status = 'paid' and o.paid_minor < o.expected_minor
      order by o.due_on
    ) || array(
      -- Adding a record that has since absorbed another one can't be undone either, because neither would remain.
      select ('payments', p.id, to_jsonb(p), to_jsonb(p), to_jsonb(p))::app.kept_row
      from app.change_items as i
      join app.payments as p on p.merged_into = i.row_id
      where i.change_id = target.id and i.table_name = 'payments' and i.before is null
      order by p.recorded_seq
    );
  end if;
  if conflicts <> '{}' then
    perform app.fail_undo(target, conflicts);
  end if;
  perform app.mark_undone(target, current_setting('app.change_id', true));
  perform app.restore_bill(
    i.row_id, target.created_at, bool_or(i.before ->> 'status' is distinct from i.after ->> 'status'), context.today
  )
  from app.change_items as i
  where i.change_id = target.id and i.table_name = 'expenses' and starts_with(i.row_id, 'bill_')
  group by i.row_id;
  perform app.refresh_bill(b.id, context.today)
    from (select distinct id from unnest(expense_ids) as id where starts_with(id, 'bill_') order by id) as b;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'undone',
      jsonb_build_object('change_id', target.id, 'change', app.change_facts(target), 'by',
        app.member_name(target.actor_id)),
      'not_reversible', kept
    ) || described,
    'facts', case
      when target.undoes is null then jsonb_build_object('verb', 'undid', 'change', app.change_facts(target))
      else jsonb_build_object(
        'verb', case target.facts ->> 'verb' when 'undid' then 'redid' else 'undid' end, 'change',
        target.facts -> 'change'
      )
    end
  );
exception
  when unique_violation then
    -- A restored row can violate a unique constraint before app.find_conflicts reports the change that created the
    -- other row.
    conflicts := app.find_conflicts(target.id);
    if conflicts <> '{}' then
      perform app.fail_undo(target, conflicts);
    end if;
    perform app.fail('undo_conflict.name_taken', jsonb_build_object('change', app.change_facts(target)), 'change_id');
  when insufficient_privilege then
    -- The bill would return to its former assignee, who is hidden from this person.
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'), 'change_id');
end
$$;
comment on function app.undo_change is 'Tool undo_change: data {undone, reversed, reversed_count?, not_reversible}.';
