create or replace function app.mark_undone(target app.change_sets, undo_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.change_sets as s set undoes = target.id where s.id = undo_id;
  -- Undoing an undo restores the first change, and so on along the chain.
  loop
    update app.change_sets as s set undone_by = undo_id where s.id = target.id;
    exit when target.undoes is null;
    undo_id := case when undo_id is null then target.id end;
    select * into target from app.change_sets as s where s.id = target.undoes;
  end loop;
end
$$;
comment on function app.mark_undone is 'Marks a change as undone, and updates the changes that it had reverted.';

create or replace function app.find_conflicts(change_id text) returns app.kept_row[]
language plpgsql volatile set search_path = '' as $$
begin
  return array(
    select (t.table_name, c.row_id, null, t.afters[array_position(t.ids, c.row_id)], c.current)::app.kept_row
    from (
      select r.table_name, array_agg(r.row_id order by r.position) as ids,
        array_agg(r.after order by r.position) as afters, max(r.position) as position
      from (
        select i.table_name, i.row_id, (array_agg(i.after order by i.position desc))[1] as after,
          max(i.position) as position
        from app.change_items as i
        where i.change_id = find_conflicts.change_id and i.table_name <> 'provider_links'
        group by i.table_name, i.row_id
      ) as r
      group by r.table_name
    ) as t
    cross join lateral app.compare_rows(t.table_name, t.ids, t.afters) as c
    where not c.is_same
    order by t.position
  );
end
$$;
comment on function app.find_conflicts is 'Returns the rows of a change that have changed since.';

create or replace function app.fail_undo(target app.change_sets, conflicts app.kept_row[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  rows jsonb;
  later app.change_sets;
begin
  -- Return one row per record as people see it.
  select jsonb_agg(jsonb_build_object('id', r.id, 'subject', r.subject, 'current', r.current)
    order by r.place) into rows
  from (
    select d.id, (array_agg(d.subject order by d.subject ->> 'due_on' nulls first))[1] as subject,
      -- A bill counts as deleted only if its own row is, not if some of its dates are.
      jsonb_object_agg(f.key, f.value) - case when bool_or(f.key <> 'deleted') then 'deleted' else '' end as current,
      min(x.place) as place
    from unnest(conflicts[:100]) with ordinality as x (table_name, row_id, before, after, current, place)
    cross join lateral app.describe_reversal(x.table_name, x.after, x.before, x.current) as d
    cross join jsonb_each(app.describe_current(x.current)) as f
    group by d.id
  ) as r;
  -- A change and its undo, both made since, cancel each other out.
  select * into later
  from app.change_sets as s
  where s.organization_id = target.organization_id and s.recorded_seq > target.recorded_seq
    and s.id is distinct from current_setting('app.change_id', true) and s.undone_by is null and not s.is_emptied
    and not exists (
      select from app.change_sets as u where u.id = s.undoes and u.recorded_seq > target.recorded_seq
    )
    and exists (
      select from app.change_items as i
      where i.change_id = s.id and i.row_id in (select x.row_id from unnest(conflicts) as x)
    )
  order by s.recorded_seq desc
  limit 1;
  perform app.fail('undo_conflict.changed_since', jsonb_build_object(
    'change', app.change_facts(target), 'details', jsonb_strip_nulls(jsonb_build_object(
      'later', case when later.id is not null
        then jsonb_build_object('change_id', later.id, 'change', app.change_facts(later)) end
    )) || jsonb_build_object('rows', rows)
  ), 'change_id');
end
$$;
comment on function app.fail_undo is
  'Ends the tool with undo_conflict, the current state of the rows that block the undo, and their latest change.';
