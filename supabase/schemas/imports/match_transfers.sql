-- Handles the halves of transfers in an import: leaves them out, asks about them, or removes them from the books.

create or replace function app.match_transfers(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  update app.import_rows as r
  set match = case
    -- Neither half counts as spending.
    when not p.is_spending and p.payment_ids is null
      then jsonb_build_object('state', 'transfer', 'half_id', p.half_id)
    when p.is_sure then jsonb_build_object('state', 'transfer', 'half_id', p.half_id, 'candidates', c.candidates)
    else jsonb_build_object('state', 'likely', 'candidates', c.candidates)
  end
  from app.pair_halves(context, batch, first, last) as p
  cross join lateral (
    select jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
      'id', coalesce(app.shown_id(p.payment_ids[1]), 'transfer'), 'state', 'transfer', 'half_id', l.id,
      'payment_ids', to_jsonb(p.payment_ids), 'date', l.booked_on, 'amount',
      app.format_amount(l.amount_minor, l.currency),
      'currency', l.currency, 'account', a.name, 'name', coalesce((
        select e.name
        from app.payments as paid
        join app.expenses as e on e.id = paid.expense_id
        where paid.id = p.payment_ids[1]
      ), left(l.text, 120))
    ))) as candidates
    from app.statement_lines as l
    join app.accounts as a on a.id = l.account_id
    where l.id = p.half_id
  ) as c
  where r.import_id = batch.id and r.line = p.line;
end
$$;
comment on function app.match_transfers is
  'Matches rows with the other halves of their transfers. Certain halves are left out. Uncertain halves become '
  'questions, and so do expenses that a match turns into transfers.';

create or replace function app.ask_of_own_accounts(context app.context, batch app.import_batches, first int, last int)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  members constant text[] := array['and', 'und'] || array(
    select unnest(m.own) from app.list_member_words(context) as m
  );
begin
  with open as materialized (
    select r.line, app.number_key(context, r.item ->> 'counter_account') as key, r.item ->> 'text' as text,
      r.item ? 'may_be_own' as is_own,
      case when r.kind = 'income' then app.descriptor_words(r.item ->> 'text') end as words,
      case when r.kind = 'income' then app.descriptor_words(coalesce(r.item ->> 'payee', r.item ->> 'name')) end
        as payer
    from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and not r.is_skipped
      and (r.kind in ('expense', 'refund') and r.draft is not null
        or r.kind = 'income' and batch.account_id is not null)
      and (r.match is null
        or r.match ->> 'state' = 'likely' and not r.match -> 'candidates' @> '[{"state": "transfer"}]')
  ), others as materialized (
    select a.id, a.key, app.descriptor_words(a.name) as words from app.accounts as a
    where a.organization_id = context.organization_id and a.id is distinct from batch.account_id
  ), named as materialized (
    select o.line, a.id as account_id from open as o
    join others as a on a.key = o.key
      or a.words <@ o.words and a.words <> '{}' and app.income_sort(o.text) <> 'salary'
  ), seen as materialized (
    select a.id from app.accounts as a where a.id in (select n.account_id from named as n) and app.sees_account(a)
  )
  update app.import_rows as r
  set match = coalesce(r.match, '{"state":"likely","candidates":[]}')
    || jsonb_build_object('candidates', coalesce(r.match -> 'candidates', '[]')
      || jsonb_build_array(jsonb_build_object('id', 'transfer', 'state', 'transfer')))
  where r.import_id = batch.id and r.line in (
    -- The text of a salary may name its earner, but its payer is another.
    select o.line from open as o where o.is_own or o.payer <@ members and o.payer <> '{}'
    union all
    select n.line from named as n join seen as s on s.id = n.account_id
  );
end
$$;
comment on function app.ask_of_own_accounts is
  'Asks whether rows are transfers if only their text suggests it: the number of one of the accounts, its owner''s '
  'name, or a card issuer; for income, also an account''s name, and a payer with a member''s name.';

create or replace function app.find_changed_halves(context app.context, batch app.import_batches) returns int[]
language plpgsql stable set search_path = '' as $$
declare
  first constant int := (select min(r.line) from app.import_rows as r where r.import_id = batch.id);
begin
  return array(
    select p.line from app.pair_halves(context, batch, first, batch.staged_through) as p
    union
    select r.line
    from app.import_rows as r
    cross join lateral (
      select r.match ->> 'half_id' as id union select c ->> 'half_id'
        from jsonb_array_elements(r.match -> 'candidates') as c
    ) as half
    where r.import_id = batch.id and half.id is not null and not exists (
      select from app.statement_lines as l
      where l.id = half.id and l.other_half_id is null
        and not exists (select from app.statement_lines as o where o.other_half_id = l.id)
    )
  );
end
$$;
comment on function app.find_changed_halves is
  'Returns the lines of an import whose other half has appeared, disappeared or been matched since the last matching.';

create or replace function app.remove_transfers(context app.context, batch app.import_batches) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text[] := array(
    select jsonb_array_elements_text(r.match -> 'payment_ids') as id from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' = 'transfer' and r.match ? 'half_id'
    order by 1
  );
  halves constant text[] := array(
    select r.match ->> 'half_id' from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' = 'transfer' and r.match ? 'half_id'
  );
  kept int;
  removed text[];
begin
  -- A concurrent undo may have deleted the other half's line.
  perform from app.statement_lines as l where l.id = any (halves) order by l.id for key share;
  get diagnostics kept = row_count;
  if wanted = '{}' or kept < cardinality(halves) then
    return kept < cardinality(halves);
  end if;
  perform from app.expenses as e
  where e.id in (select p.expense_id from app.payments as p where p.id = any (wanted))
  order by e.id for no key update;
  with gone as (
    update app.payments as p set deleted_at = context.at
    where p.id = any (wanted) and p.deleted_at is null and p.split_id is null and p.merged_into is null
    returning p.expense_id
  )
  select array_agg(g.expense_id) into removed from gone as g;
  update app.expenses as e set deleted_at = context.at where e.id = any (removed) and e.deleted_at is null;
  return coalesce(cardinality(removed), 0) < cardinality(wanted);
end
$$;
comment on function app.remove_transfers is
  'Deletes expenses that are halves of transfers. Returns whether any of them, or a half''s line, has changed since '
  'matching.';

create or replace function app.describe_transfers(batch app.import_batches, lines jsonb, count int) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when count > 0 then jsonb_build_array(jsonb_build_object(
    'kind', 'other_half', 'count', count, 'lines', jsonb_path_query_array(lines, '$[0 to 19]'), 'totals', (
      select jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))
      from (
        select coalesce(r.draft, r.item) ->> 'currency' as currency, sum(coalesce(
            (r.draft ->> 'amount_minor')::bigint, app.statement_minor(r.item ->> 'amount', r.item ->> 'currency')
        )) as minor
        from app.import_rows as r
        where r.import_id = batch.id and r.match ->> 'state' = 'transfer'
          and (r.draft is not null or r.kind = 'income') and not r.is_skipped
        group by 1
      ) as s
    )
  )) else '[]' end;
end
$$;
comment on function app.describe_transfers is
  'Returns the halves of transfers as a kind of left-out rows: [{kind, count, totals, lines}].';
