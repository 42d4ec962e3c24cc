-- Matches rows of a statement with the books: certain matches are linked, likely ones become questions, and the other
-- rows are new. The strongest evidence is used first, and no row or entry is matched twice.

create or replace function app.describe_entry(entry app.book_entry) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', coalesce(entry.bill_id, app.shown_id(entry.payment_ids[1])),
    'name', (select e.name from app.expenses as e where e.id = entry.expense_id), 'date', entry.day,
    'amount', app.format_amount(entry.amount_minor, entry.currency), 'currency', entry.currency,
    'payment_ids', to_jsonb(entry.payment_ids), 'bill_id', entry.bill_id, 'due_on', entry.due_on
  ));
end
$$;
comment on function app.describe_entry is
  'Returns an entry as a candidate of a question: {id, name, date, amount, currency, payment_ids | bill_id, due_on}.';

create or replace function app.taken_entries(batch app.import_batches) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select jsonb_array_elements_text(r.match -> 'payment_ids') from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' in ('known', 'linked', 'transfer')
    union
    select (r.match ->> 'bill_id') || ':' || (r.match ->> 'due_on') from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' in ('known', 'linked', 'transfer')
      and r.match ->> 'state' = 'linked' and r.match ? 'bill_id'
  );
end
$$;
comment on function app.taken_entries is
  'Returns the payments and due dates that are already linked with rows of an import.';

create or replace function app.write_matches(batch app.import_batches, pairs app.match_pair[], chosen app.match_pair[])
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan'
  set enable_nestloop = 'off' as $$
declare
  -- Alternatives for a row are unmatched entries. For a certain pair, they must be equally close and have another name.
  others constant app.match_pair[] := array(
    select p
    from unnest(pairs) as p
    join unnest(chosen) as c on (c).line = (p).line
    where ((p).entry).key <> ((c).entry).key
      and ((c).tier > 5 or (p).gap <= (c).gap and (p).entry_name <> (c).entry_name)
      and not exists (select from unnest(chosen) as o where ((o).entry).key = ((p).entry).key)
  );
begin
  update app.import_rows as r
  set match = jsonb_strip_nulls(jsonb_build_object(
    -- Without an account, there are no lines to link, so a repeated record counts as known.
    'state', case when c.tier = 1 and batch.account_id is null then 'known' else 'linked' end, 'payment_ids',
    to_jsonb((c.entry).payment_ids), 'bill_id', (c.entry).bill_id,
    'due_on', (c.entry).due_on
  ))
  from unnest(chosen) as c
  where r.import_id = batch.id and r.line = c.line and c.tier < 6
    and not exists (select from unnest(others) as o where (o).line = c.line);
  update app.import_rows as r
  set match = jsonb_build_object('state', 'likely', 'candidates', found.candidates)
  from (
    select p.line, jsonb_agg(app.describe_entry(p.entry) order by p.place) as candidates
    from (
      select a.line, a.entry, row_number() over (partition by a.line order by a.turn, a.gap, (a.entry).seq) as place
      from (
        select (c).line, (c).entry, (c).gap, 1 as turn from unnest(chosen) as c
        where (c).tier > 5 or exists (select from unnest(others) as o where (o).line = (c).line)
        union all
        select (o).line, (o).entry, (o).gap, 2 from unnest(others) as o
      ) as a
    ) as p
    where p.place <= 3
    group by p.line
  ) as found
  where r.import_id = batch.id and r.line = found.line and r.match is null;
end
$$;
comment on function app.write_matches is 'Stores the chosen pairs: linked, or likely with other candidates.';

create or replace function app.match_import_rows(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan'
  set enable_nestloop = 'off' as $$
declare
  pairs app.match_pair[];
  near app.match_pair[];
  -- The row with an entry's name; null for several rows.
  named jsonb;
  taken text[];
  gone text[];
  lines int[];
  step int;
begin
  update app.import_rows as r set match = null
  where r.import_id = batch.id and r.line between first and last and r.match is not null;
  perform app.refresh_passed_bills(context);
  perform app.match_known_rows(context, batch, first, last);
  pairs := app.find_pairs(context, batch, first, last);
  select coalesce(jsonb_object_agg(n.key, n.line), '{}') into named
  from (
    select ((o).entry).key as key, case when min((o).line) = max((o).line) then min((o).line) end as line
    from unnest(pairs) as o
    where (o).tier < 7
    group by ((o).entry).key
  ) as n;
  -- If another row has the entry's name, an equal amount or a shared word alone raises no question.
  pairs := array(
    select p from unnest(pairs) as p
    where (p).tier < 7 or not named ? ((p).entry).key or named -> ((p).entry).key = to_jsonb((p).line)
  );
  foreach step in array array[1, 2, 3, 4, 5, 6, 7, 8] loop
    taken := app.taken_entries(batch);
    if step = 5 then
      perform app.match_transfers(context, batch, first, last);
      perform app.match_sums(context, batch, first, last, taken);
      continue;
    end if;
    gone := array(
      select distinct ((p).entry).key
      from unnest(pairs) as p
      cross join lateral unnest(((p).entry).key || coalesce(((p).entry).payment_ids, '{}')) as u (id)
      join unnest(taken) as t (id) on t.id = u.id
    );
    lines := array(
      select r.line from app.import_rows as r
      where r.import_id = batch.id and r.line between first and last and r.match is null
    );
    pairs := array(
      select p
      from unnest(pairs) as p
      join unnest(lines) as l (line) on l.line = (p).line
      left join unnest(gone) as g (key) on g.key = ((p).entry).key
      where g.key is null
    );
    near := array(select p from unnest(pairs) as p where (p).tier = step);
    if near <> '{}' then
      perform app.write_matches(batch, near, app.assign_pairs(near));
    end if;
  end loop;
  perform app.ask_of_own_accounts(context, batch, first, last);
  perform app.recall_answers(context, batch, first, last);
  update app.import_rows as r set match = '{"state": "new"}'
  where r.import_id = batch.id and r.line between first and last and r.match is null and r.draft is not null
    and not r.is_skipped and r.kind in ('expense', 'refund');
end
$$;
comment on function app.match_import_rows is
  'Matches the rows between two lines of an import with the books, as known, linked, transfer, likely or new.';
