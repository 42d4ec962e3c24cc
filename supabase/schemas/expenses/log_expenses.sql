create or replace function app.warn_of_drafts(context app.context, drafts jsonb) returns jsonb
-- No nested loops: expecting few payments, the planner would scan all of them for each draft.
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
declare
  skipped text[];
  likely jsonb;
  unrated record;
  early text[];
  moved text[];
  earned text[];
  first_day date;
  last_day date;
  warnings jsonb := '[]';
begin
  select array_agg(d.name order by d.place) filter (where d.existing_id is not null),
    jsonb_agg(jsonb_build_object('name', d.name, 'bill', d.bill) order by d.place) filter (where d.bill is not null),
    array_agg(d.name order by d.place) filter (where d.id is not null and d.paid_on > context.today),
    array_agg(d.name order by d.place) filter (where d.id is not null and app.is_own_transfer(d.name)),
    -- As refunds, these names are income.
    array_agg(d.name order by d.place) filter (
      where d.id is not null and d.direction = 'out' and app.is_income(d.name, c.name, true)
    ),
    min(d.paid_on), max(d.paid_on)
  into skipped, likely, early, moved, earned, first_day, last_day
  from jsonb_to_recordset(drafts) as d (
    place int, id text, existing_id text, bill jsonb, name text, paid_on date, direction text, category_id text
  )
  left join app.categories as c on c.id = d.category_id;
  select array_agg(distinct p.currency order by p.currency) filter (where p.base_minor is null) as currencies,
    coalesce(bool_or(not p.is_final) filter (where p.base_minor is null), false) as is_awaited,
    coalesce(bool_or(not p.is_final) filter (where p.base_minor is not null), false) as is_pending,
    min(p.paid_on) filter (where not p.is_final and p.base_minor is not null) as since
  into unrated
  from jsonb_to_recordset(drafts) as d (id text)
  join app.payments as p on p.expense_id = d.id and p.organization_id = context.organization_id
    and p.deleted_at is null and p.paid_on between first_day and last_day;
  if skipped is not null then
    warnings := warnings || app.warning('duplicate.expenses', jsonb_build_object('names', skipped));
  end if;
  if likely is not null then
    warnings := warnings || app.warning('likely_bill', jsonb_build_object('items', likely));
  end if;
  if early is not null then
    warnings := warnings
      || app.warning('dated_tomorrow', jsonb_build_object('names', early, 'date', context.today + 1));
  end if;
  if moved is not null then
    warnings := warnings || app.warning('own_transfer', jsonb_build_object('names', moved));
  end if;
  if earned is not null then
    warnings := warnings || app.warning('like_income', jsonb_build_object('names', earned));
  end if;
  if unrated.currencies is not null then
    warnings := warnings || app.warning('rate_missing.of_day', jsonb_build_object(
      'currencies', unrated.currencies, 'into', context.base_currency, 'is_awaited', unrated.is_awaited
    ));
  end if;
  return warnings || app.warn_of_pending(unrated.is_pending, context.base_currency, unrated.since);
end
$$;
comment on function app.warn_of_drafts is
  'Returns warnings about duplicates, likely bills, future days, transfers between own accounts, salaries, and amounts '
  'without a final value in the base currency.';

create or replace function app.warn_of_resemblance(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  bills jsonb;
  others jsonb;
begin
  select jsonb_agg(jsonb_build_object(
    'name', b.name, 'paid_on', (
      select max(p.paid_on) from app.payments as p where p.expense_id = b.id and p.deleted_at is null
    ), 'next_due', b.next_due
  ) order by d.place) into bills
  from jsonb_to_recordset(drafts) as d (place int, id text, name text, direction text, stands_alone boolean)
  join app.expenses as b
    on b.organization_id = context.organization_id and b.kind = 'bill' and b.status = 'active'
      and b.deleted_at is null and app.fold_text(b.name) = app.fold_text(d.name)
  where d.id is not null and d.direction = 'out' and d.stands_alone is null;
  select jsonb_agg(jsonb_build_object(
    'name', d.name, 'other', e.name, 'by', app.member_name(o.recorded_by), 'amount',
    app.format_amount(o.amount_minor, o.currency), 'currency', o.currency
  ) order by d.place) into others
  from jsonb_to_recordset(drafts) as d (
    place int, id text, name text, direction text, paid_on date, amount_minor bigint, currency text,
    stands_alone boolean
  )
  cross join lateral (
    select p.* from app.payments as p
    where p.organization_id = context.organization_id and p.paid_on = d.paid_on and p.deleted_at is null
      and p.amount_minor = d.amount_minor and p.currency = d.currency and p.direction = d.direction
      and p.recorded_by <> context.actor_id
    order by p.recorded_seq limit 1
  ) as o
  cross join lateral (select x.name from app.expenses as x where x.id = o.expense_id offset 0) as e
  where d.id is not null and d.direction = 'out' and d.stands_alone is null;
  return case when bills is null then '[]' else app.warning('named_like_bill', jsonb_build_object('bills', bills)) end
    || case when others is null then '[]'
      else app.warning('recorded_by_another', jsonb_build_object('items', others)) end;
end
$$;
comment on function app.warn_of_resemblance is
  'Warnings about logged items that have the name of a bill, or the amount and day of another member''s record.';

create or replace function app.log_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  is_duplicate_allowed constant boolean := coalesce(arguments ->> 'on_duplicate' = 'allow', false);
  drafts jsonb[] := app.parse_expense_items(
    context, arguments -> 'items', coalesce((arguments ->> 'create_missing_categories')::boolean, false)
  );
  last_closed constant date := (
    select o.closed_through from identity.organizations as o where o.id = context.organization_id
  );
  -- Ids assigned by this call, by external id.
  own_ids jsonb := '{}';
  closed jsonb := '[]';
  known_id text;
  existing_id text;
  bill jsonb;
  written jsonb;
  totals jsonb;
begin
  perform app.refresh_passed_bills(context);
  -- Compare with the books before the call: two equal items in one call are two expenses. An external id is unique,
  -- even within a call.
  for i in 1..cardinality(drafts) loop
    known_id := case when drafts[i] ->> 'external_id' is not null
      then coalesce(app.find_external(drafts[i] ->> 'external_id'), own_ids ->> (drafts[i] ->> 'external_id')) end;
    existing_id := coalesce(known_id, app.find_same_payment(drafts[i]));
    if existing_id is not null and not is_duplicate_allowed then
      drafts[i] := drafts[i] || jsonb_build_object('existing_id', existing_id);
      continue;
    end if;
    bill := case when known_id is null then app.find_likely_bill(context, drafts[i]) end;
    if bill is not null and not is_duplicate_allowed then
      drafts[i] := drafts[i] || jsonb_build_object('bill', bill);
      continue;
    elsif bill is not null then
      drafts[i] := drafts[i] || '{"stands_alone": true}';
    end if;
    if (drafts[i] ->> 'paid_on')::date <= last_closed then
      closed := closed || jsonb_build_object(
        'index', i - 1, 'status', 'invalid', 'name', drafts[i] -> 'name', 'error', jsonb_build_object(
          'code', 'month_closed', 'params', app.closed_month((drafts[i] ->> 'paid_on')::date),
          'field', format('items[%s].date', i - 1)
        )
      );
    end if;
    drafts[i] := app.identify_parts(drafts[i] || jsonb_build_object('id', app.new_id('exp')));
    if known_id is not null then
      drafts[i] := drafts[i] - 'external_id';
    elsif drafts[i] ? 'external_id' then
      own_ids := own_ids || jsonb_build_object(drafts[i] ->> 'external_id', drafts[i] -> 'id');
    end if;
  end loop;
  if closed <> '[]' then
    perform app.fail_items(closed, cardinality(drafts));
  end if;

  written := jsonb_path_query_array(to_jsonb(drafts), '$[*] ? (exists(@.id))');
  perform app.write_expenses(context, (
    select coalesce(jsonb_agg(part order by d.ordinality), '[]')
    from jsonb_array_elements(written) with ordinality as d
    cross join lateral app.draft_parts(d.value) as part
  ), 'assistant');
  totals := app.total_drafts(written);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'results', app.describe_drafts(context, to_jsonb(drafts), coalesce((arguments ->> 'dry_run')::boolean, false)),
      'totals_by_currency', totals
    ),
    'warnings', app.warn_of_drafts(context, to_jsonb(drafts)) || app.warn_of_resemblance(context, to_jsonb(drafts)),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(written),
      -- Names of the first few items are enough for readers.
      'written', (
        select
          coalesce(jsonb_agg(jsonb_build_object('name', d -> 'name', 'is_refund', d ->> 'direction' = 'refund')), '[]')
        from jsonb_array_elements(jsonb_path_query_array(written, '$[0 to 3]')) as d
      ),
      'totals_by_currency', totals
    )
  );
end
$$;
comment on function app.log_expenses is
  'Tool log_expenses. Returns data {results, totals_by_currency}; the totals cover written items.';
