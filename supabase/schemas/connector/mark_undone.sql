create or replace function app.mark_undone(target app.change_sets, undo_id text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.change_sets as s set undoes = target.id where s.id = undo_id;
  -- Undoing an undo restores the first change, and so on down the chain.
  loop
    update app.change_sets as s set undone_by = undo_id where s.id = target.id;
    exit when target.undoes is null;
    undo_id := case when undo_id is null then target.id end;
    select * into target from app.change_sets as s where s.id = target.undoes;
  end loop;
end
$$;
comment on function app.mark_undone is
  'Notes that a change no longer stands, and whatever follows from that for the changes it had undone.';

create or replace function app.fail_undo(target app.change_sets, conflicts app.kept_row[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  rows jsonb;
begin
  -- One row for each record that people see.
  select jsonb_agg(jsonb_build_object('id', r.id, 'subject', r.subject, 'current', r.current)
    order by r.place) into rows
  from (
    select d.id, (array_agg(d.subject order by d.subject ->> 'due_on' nulls first))[1] as subject,
      jsonb_object_agg(f.key, f.value) as current, min(x.place) as place
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
