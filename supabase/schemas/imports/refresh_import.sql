create or replace function app.oldest_running() returns bigint
language plpgsql volatile set search_path = '' as $$
begin
  return pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
end
$$;
comment on function app.oldest_running is
  'Returns the id of the oldest running transaction. From here on, all earlier ones are visible.';

create or replace function app.list_recent_payments(context app.context, batch app.import_batches, since bigint)
  returns jsonb
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  days constant int := 5;
  first_day date;
  last_day date;
begin
  select min((r.draft ->> 'paid_on')::date) - days, max((r.draft ->> 'paid_on')::date) + days into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id;
  return (
    select coalesce(jsonb_agg(p.id || ':' || p.xmin), '[]')
    from app.payments as p
    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.deleted_at is null and age(p.xmin) <= pg_current_xact_id()::text::bigint - list_recent_payments.since
  );
end
$$;
comment on function app.list_recent_payments is
  'Returns the visible payments near the days of an import that transaction "since" or a later one wrote: ["id:xmin"].';

create or replace function app.match_import_page(context app.context, batch app.import_batches)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  page_rows constant int := 2000;
  seen constant bigint := app.oldest_running();
  recent constant jsonb := case batch.matched_through when 0 then app.list_recent_payments(context, batch, seen) end;
  last int;
begin
  if batch.state <> 'matching' then
    return batch;
  end if;
  select max(page.line) into last
  from (
    select r.line from app.import_rows as r
    where r.import_id = batch.id and r.line > batch.matched_through
    order by r.line
    limit page_rows
  ) as page;
  if last is not null then
    perform app.match_import_rows(context, batch, batch.matched_through + 1, last);
    perform app.answer_import_rows(batch, batch.matched_through + 1, last);
  end if;
  update app.import_batches as b
  set matched_through = coalesce(last, b.staged_through),
    state = case when last < b.staged_through then 'matching' else 'ready' end,
    read
      = case batch.matched_through when 0 then b.read || jsonb_build_object('seen', seen, 'recent', recent) else b.read
      end
  where b.id = batch.id
  returning b.* into batch;
  return batch;
end
$$;
comment on function app.match_import_page is 'Step match: matches the next page of rows with the books.';

create or replace function app.find_changed_rows(context app.context, batch app.import_batches, is_published boolean)
  returns int[]
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan'
  -- The planner has no statistics about newly staged rows.
  set enable_nestloop = off as $$
declare
  days constant int := 5;
  -- Transaction ids wrap around, so compare their ages.
  since constant bigint := pg_current_xact_id()::text::bigint - (batch.read ->> 'seen')::bigint;
  matched constant text[] := array(
    select jsonb_array_elements_text(r.match -> 'payment_ids') from app.import_rows as r
    where r.import_id = batch.id and r.match ? 'payment_ids'
      -- Payments removed as transfers are deleted by now.
      and not (is_published and r.match ->> 'state' = 'transfer')
  );
  recent constant text[] := array(select jsonb_array_elements_text(batch.read -> 'recent'));
  first_day date;
  last_day date;
  touched text[];
  changed text[];
begin
  select min((r.draft ->> 'paid_on')::date) - days, max((r.draft ->> 'paid_on')::date) + days into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id;
  touched := array(
    select p.id from app.payments as p
    where p.id = any (matched) and (p.deleted_at is not null
      or not is_published and age(p.xmin) <= since and p.id || ':' || p.xmin <> all (recent))
  );
  changed := array(
    select p.id from app.payments as p
    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.deleted_at is null and age(p.xmin) <= since and p.id || ':' || p.xmin <> all (recent)
      -- app.lock_imports keeps other imports from publishing now.
      and (not is_published or p.source <> 'import' and p.id <> all (matched))
  );
  return array(
    select r.line
    from app.import_rows as r
    where touched <> '{}' and r.import_id = batch.id and r.match -> 'payment_ids' ?| touched
    union
    select r.line
    from app.import_rows as r
    join app.payments as p
      on p.id = any (changed) and p.amount_minor = (r.draft ->> 'amount_minor')::bigint
        and p.currency = r.draft ->> 'currency'
        and p.paid_on between (r.draft ->> 'paid_on')::date - days and (r.draft ->> 'paid_on')::date + days
    where changed <> '{}' and r.import_id = batch.id
    union
    select r.line
    from app.import_rows as r
    join app.payments as p on p.id = any (changed) and p.expense_id = r.match ->> 'bill_id'
    where changed <> '{}' and r.import_id = batch.id
  );
end
$$;
comment on function app.find_changed_rows is
  'Returns the lines of an import whose match may be outdated, because others wrote or deleted payments since. Once '
  'the import is published, its own writes don''t count.';

create or replace function app.refresh_import(context app.context, batch app.import_batches)
  returns app.import_batches
language plpgsql volatile set search_path = '' as $$
declare
  seen constant bigint := app.oldest_running();
  recent constant jsonb := app.list_recent_payments(context, batch, seen);
  lines constant int[] := app.find_changed_rows(context, batch, false) || app.find_changed_halves(context, batch);
begin
  perform app.match_lines(context, batch, lines);
  update app.import_batches as b set read = b.read || jsonb_build_object('seen', seen, 'recent', recent)
  where b.id = batch.id
  returning b.* into batch;
  return batch;
end
$$;
comment on function app.refresh_import is 'Matches rows again where the books have changed since.';

create or replace function app.match_lines(context app.context, batch app.import_batches, lines int[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- Above this number, all rows between the first and the last are matched again, because matches depend on each other.
  few constant int := 20;
  page_rows constant int := 2000;
  part record;
begin
  update app.import_rows as r set match = null where r.import_id = batch.id and r.line = any (lines);
  for part in
    select min(r.line) as first, max(r.line) as last
    from (
      select chosen.line, row_number() over (order by chosen.line) - 1 as place
      from app.import_rows as chosen
      where chosen.import_id = batch.id
        and case when cardinality(lines) <= few then chosen.line = any (lines)
          else chosen.line between (select min(l) from unnest(lines) as l) and (select max(l) from unnest(lines) as l)
        end
    ) as r
    group by r.place / case when cardinality(lines) <= few then 1 else page_rows end
    order by 1
  loop
    perform app.match_import_rows(context, batch, part.first, part.last);
    perform app.answer_import_rows(batch, part.first, part.last);
  end loop;
end
$$;
comment on function app.match_lines is 'Matches these lines again.';
