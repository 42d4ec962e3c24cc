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
  balances jsonb;
  incomes jsonb;
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
        'index', drafts[i] -> 'place', 'status', 'invalid', 'name', drafts[i] -> 'name', 'error', jsonb_build_object(
          'code', 'month_closed', 'params', app.closed_month((drafts[i] ->> 'paid_on')::date),
          'field', format('items[%s].date', drafts[i] ->> 'place')
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
    perform app.fail_items(closed, jsonb_array_length(arguments -> 'items'));
  end if;

  written := jsonb_path_query_array(to_jsonb(drafts), '$[*] ? (exists(@.id))');
  perform app.write_expenses(context, (
    select coalesce(jsonb_agg(part order by d.ordinality), '[]')
    from jsonb_array_elements(written) with ordinality as d
    cross join lateral app.draft_parts(d.value) as part
  ), 'assistant');
  totals := app.total_drafts(written);
  balances := app.log_balances(
    context, arguments -> 'items', coalesce((arguments ->> 'dry_run')::boolean, false), is_duplicate_allowed
  );
  incomes := app.log_incomes(context, arguments);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'results', (
        select jsonb_agg(r.value order by (r.value ->> 'index')::int)
        from jsonb_array_elements((balances -> 'results') || (incomes -> 'results') || coalesce(app.describe_drafts(
          context, to_jsonb(drafts), coalesce((arguments ->> 'dry_run')::boolean, false)
        ), '[]')) as r
      ),
      'totals_by_currency', totals
    ),
    'warnings',
    app.warn_of_drafts(context, to_jsonb(drafts)) || app.warn_of_amounts(context, to_jsonb(drafts))
      || app.warn_of_resemblance(context, to_jsonb(drafts), is_duplicate_allowed)
      || app.warn_of_refunds(context, to_jsonb(drafts)) || (balances -> 'warnings') || (incomes -> 'warnings')
      || app.warn_of_budgets(context, written) || app.warn_of_reimbursed(array(
        select part ->> 'id' from jsonb_array_elements(written) as d cross join lateral app.draft_parts(d.value) as part
      )),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(written),
      -- Names of the first few items are enough for readers.
      'written', (
        select
          coalesce(jsonb_agg(jsonb_build_object('name', d -> 'name', 'is_refund', d ->> 'direction' = 'refund')), '[]')
        from jsonb_array_elements(jsonb_path_query_array(written, '$[0 to 3]')) as d
      ),
      'totals_by_currency', totals
    ) || (balances -> 'facts') || (incomes -> 'facts')
  );
end
$$;
comment on function app.log_expenses is
  'Tool log_expenses. Returns data {results, totals_by_currency}; the totals cover written items.';
