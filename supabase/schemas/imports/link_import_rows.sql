-- A commit stores each statement line once, with its payments. It also pays matched due dates, corrects estimates to
-- the bank's amount, and adds charges to foreign payments.

create or replace function app.pay_matched_date(context app.context, row_match jsonb, draft jsonb, line_minor bigint,
  line_currency text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
  occurrence app.expense_occurrences;
  automatic app.payments;
  payment app.payments;
  minor bigint;
begin
  perform from app.expenses as e where e.id = row_match ->> 'bill_id' for no key update;
  perform app.refresh_bill(row_match ->> 'bill_id', context.today);
  select * into bill from app.expenses as e where e.id = row_match ->> 'bill_id' and e.deleted_at is null;
  if found then
    occurrence := app.find_occurrence(bill, (row_match ->> 'due_on')::date, 'import_id');
  end if;
  automatic := app.latest_payment(occurrence.id);
  if occurrence.status = 'paid' and automatic.source = 'autopay' then
    -- An automatic payment was recorded after the preview.
    return automatic.id;
  elsif occurrence.status is distinct from 'open' then
    perform app.fail('expectation_mismatch.books_changed', field => 'import_id');
  end if;
  minor := case bill.currency when draft ->> 'currency' then (draft ->> 'amount_minor')::bigint
    when line_currency then line_minor end;
  -- A person confirmed another amount, so the date of a fixed bill has this amount.
  update app.expense_occurrences as o
  set expected_minor = o.paid_minor + minor, amount_source = 'override'
  where o.id = occurrence.id and bill.amount_mode = 'fixed' and o.expected_minor <> o.paid_minor + minor;
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;
  payment := app.settle_occurrence(context, bill, occurrence, minor, (draft ->> 'paid_on')::date, null, null);
  update app.payments as p
  set tax_minor = (draft ->> 'tax_minor')::bigint, tax_percent = (draft ->> 'tax_percent')::numeric
  where p.id = payment.id and draft ? 'tax_minor' and p.currency = draft ->> 'currency';
  return payment.id;
end
$$;
comment on function app.pay_matched_date is
  'Pays the date of a bill with the bank''s amount and tax on the bank''s day; in another currency, with the date''s '
  'own amount. Returns the payment''s id. Ends the tool with expectation_mismatch when the date is no longer open.';

create or replace function app.correct_matched(context app.context, payment_ids text[], line_minor bigint,
  line_currency text) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  bill app.expenses;
  occurrence app.expense_occurrences;
begin
  select * into payment from app.payments as p where p.id = payment_ids[1];
  if app.is_closed(context.organization_id, payment.paid_on) then
    return;
  end if;
  if payment.currency = line_currency and payment.amount_minor = line_minor and not payment.is_estimate then
    return;
  end if;
  -- A bill's payment shares its record with all other dates, so only this date is corrected.
  if (payment.is_estimate or starts_with(payment.expense_id, 'bill_')) and cardinality(payment_ids) = 1
    and payment.currency = line_currency then
    select * into bill from app.expenses as e where e.id = payment.expense_id for no key update;
    select * into occurrence from app.expense_occurrences as o where o.id = payment.occurrence_id;
    if occurrence.paid_minor = payment.amount_minor then
      perform app.correct_payment(bill, occurrence, line_minor, null, null);
    end if;
  elsif payment.currency = line_currency and cardinality(payment_ids) = 1 then
    -- A person confirmed the match, so the difference is a tip.
    perform app.update_payments(context, array[payment.expense_id], jsonb_build_object(
      'amount', app.format_amount(line_minor, line_currency)
    ));
  elsif payment.currency <> line_currency and payment.currency <> context.base_currency then
    update app.payments as p
    set charged_minor = s.minor, charged_currency = line_currency
    from (
      select array_agg(p.id order by p.id) as ids,
        app.spread_minor(line_minor, array_agg(p.amount_minor order by p.id)) as shares
      from app.payments as p
      where p.id = any (payment_ids)
    ) as w
    cross join lateral unnest(w.ids, w.shares) as s (id, minor)
    where p.id = s.id and (p.charged_minor, p.charged_currency) is distinct from (s.minor, line_currency);
  end if;
end
$$;
comment on function app.correct_matched is
  'Corrects payments from their statement line: the amount of an estimate, the tip of a confirmed match, and the '
  'charge in another currency. Leaves payments in a closed month alone.';

create or replace function app.refuse_matched_twice(batch app.import_batches) returns void
language plpgsql stable set search_path = '' as $$
declare
  twice record;
begin
  select array_agg(r.line order by r.line) as lines into twice
  from app.import_rows as r
  left join lateral jsonb_array_elements_text(r.match -> 'payment_ids') as w (id) on true
  where r.import_id = batch.id and not r.is_skipped
    and (r.match ->> 'state' = 'linked' or r.match ->> 'state' = 'transfer' and r.match ? 'half_id')
  group by coalesce(w.id, r.match ->> 'half_id', (r.match ->> 'bill_id') || (r.match ->> 'due_on'))
  -- Only answers are checked: matching itself may link several rows to one payment (app.match_sums).
  having count(*) > 1 and bool_or(r.match ? 'answer')
  order by 1
  limit 1;
  if found then
    perform app.fail('invalid_argument.matched_twice', jsonb_build_object('lines', twice.lines), 'answers');
  end if;
end
$$;
comment on function app.refuse_matched_twice is
  'Ends the tool with invalid_argument when a person''s answer matches two rows to the same record.';

-- Avoid nested loops: the planner has no statistics about newly staged rows.
create or replace function app.write_statement_lines(context app.context, batch app.import_batches) returns int
language plpgsql volatile set search_path = '' set enable_nestloop = 'off' as $$
declare
  change constant text := nullif(current_setting('app.change_id', true), '');
  first_day date;
  last_day date;
  missing int;
begin
  select min((r.draft ->> 'paid_on')::date), max((r.draft ->> 'paid_on')::date) into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id and r.draft is not null;
  -- Rows that can be read now get their own lines.
  delete from app.statement_lines as l
  where l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.kind = 'unreadable'
    and exists (
      select from app.import_rows as r
      where r.import_id = batch.id and r.error is null and coalesce(r.item -> 'as_read', r.item) ->> 'text' = l.text
    );
  with staged as materialized (
    -- A row that is written again keeps its existing line.
    select s.*, coalesce(s.match ->> 'line_id', l.id) as known_id,
      coalesce(s.match ->> 'line_id', l.id, app.new_id('lin')) as id
    from app.statement_rows(context, batch) as s
    -- An earlier import stored this line without a payment, because the books did not accept it.
    left join app.statement_lines as l
      on l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.booked_on = s.booked_on
        and l.amount_minor = s.amount_minor and l.currency = s.currency and l.direction = s.direction
        and l.text = s.text and l.nth = s.nth and not l.is_skipped and not l.is_forgotten
        and not exists (select from app.statement_links as k where k.line_id = l.id)
    where s.match ->> 'state' is distinct from 'known'
  ), written as (
    insert into app.statement_lines (
      id, organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency, nth, is_skipped,
      other_half_id, change_id, answered
    )
    select s.id, batch.organization_id, batch.account_id, s.booked_on, s.text, s.kind, s.direction, s.amount_minor,
      s.currency, s.nth, s.is_skipped, s.match ->> 'half_id', change, app.describe_answer(s.match)
    from staged as s
    where batch.account_id is not null and s.known_id is null
    on conflict do nothing
    returning id
  ), counted as (
    update app.statement_lines as l
    set is_skipped = false, other_half_id = coalesce(l.other_half_id, s.match ->> 'half_id')
    from staged as s
    where l.id = s.known_id and not s.is_skipped
    returning l.id
  ), paid as (
    -- Use one join: expecting few rows, the planner would scan all payments for each.
    select s.id as line_id, p.id
    from staged as s
    cross join lateral jsonb_array_elements_text(s.match -> 'payment_ids') as k (id)
    join app.payments as p on p.id = k.id
    where s.match ->> 'state' = 'linked' and not s.is_skipped
    union all
    select s.id, p.id
    from staged as s
    cross join lateral (
      select s.draft ->> 'id' union select part ->> 'id' from jsonb_array_elements(s.draft -> 'parts') as part
    ) as d (id)
    join app.payments as p
      on p.expense_id = d.id and p.organization_id = batch.organization_id
        and p.paid_on between first_day and last_day and p.deleted_at is null
    where s.match ->> 'state' = 'new' and not s.is_skipped
  ), linked as (
    insert into app.statement_links (line_id, payment_id, organization_id)
    select w.id, p.id, batch.organization_id
    from (select id from written union all select id from counted) as w
    join paid as p on p.line_id = w.id
    returning line_id
  )
  select count(*) into missing
  from staged as s
  -- A new row without an id is in a closed month. It has a line but no payment.
  where batch.account_id is not null and s.match is not null and not s.is_skipped
    and (s.match ->> 'state' <> 'new' or s.draft ? 'id') and s.match ->> 'state' <> 'transfer'
    and s.kind in ('expense', 'refund')
    and not exists (select from linked as l where l.line_id = s.id);
  return missing;
end
$$;
comment on function app.write_statement_lines is
  'Writes an import''s rows as statement lines and links their payments. Returns the number of lines that should have '
  'a payment but don''t.';

create or replace function app.lock_import_bills(batch app.import_batches) returns void
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  perform
  from app.expenses as e
  where e.id in (
    select r.match ->> 'bill_id'
    from app.import_rows as r
    where r.import_id = batch.id and r.match ->> 'state' = 'linked'
    union all
    select p.expense_id
    from app.import_rows as r
    cross join lateral jsonb_array_elements_text(r.match -> 'payment_ids') as w (id)
    join app.payments as p on p.id = w.id
    where r.import_id = batch.id and r.match ->> 'state' = 'linked'
      and (p.occurrence_id is not null or r.match ? 'answer')
  )
  order by e.id for no key update;
end
$$;
comment on function app.lock_import_bills is
  'Locks the bills and expenses that an import pays or corrects, before it writes the first payment.';

create or replace function app.link_import_rows(context app.context, batch app.import_batches) returns void
language plpgsql volatile set search_path = '' set enable_nestloop = 'off' as $$
declare
  matched record;
  payment_id text;
begin
  perform app.refuse_matched_twice(batch);
  -- Lock bills in the order that every writer uses.
  for matched in
    select s.line, s.draft, s.amount_minor, s.currency, s.match, array_agg(p.id) as ids
    from app.statement_rows(context, batch) as s
    left join lateral jsonb_array_elements_text(s.match -> 'payment_ids') as k (id) on true
    left join app.payments as p on p.id = k.id
    where not s.is_skipped and s.match ->> 'state' = 'linked'
    group by s.line, s.draft, s.amount_minor, s.currency, s.match
    having s.match ? 'bill_id' or bool_or(p.is_estimate or p.currency <> s.currency
      or s.match ? 'answer' and p.amount_minor <> s.amount_minor)
    order by s.match ->> 'bill_id', s.line
  loop
    if matched.match ? 'bill_id' then
      payment_id := app.pay_matched_date(
        context, matched.match, matched.draft, matched.amount_minor, matched.currency
      );
      matched.ids := array[payment_id];
      update app.import_rows as r
      set match = matched.match || jsonb_build_object('payment_ids', matched.ids)
      where r.import_id = batch.id and r.line = matched.line;
    end if;
    perform app.correct_matched(context, matched.ids, matched.amount_minor, matched.currency);
  end loop;
  perform app.refresh_bill(b.id, context.today)
  from (
    select distinct r.match ->> 'bill_id' as id from app.import_rows as r
    where r.import_id = batch.id and r.match ? 'bill_id' and not r.is_skipped
    order by 1
  ) as b;

  if app.remove_transfers(context, batch) or app.write_statement_lines(context, batch) > 0 then
    perform app.fail('expectation_mismatch.books_changed', field => 'import_id');
  end if;
end
$$;
comment on function app.link_import_rows is
  'Stores the rows of a committed import as lines of the account, linked with their payments. These are existing '
  'payments, newly paid dates, and new expenses, whose draft has the id. Ends the tool with expectation_mismatch when '
  'the books have changed since matching.';
