-- Splits one payment over several categories. The parts are records with a common split_id, so lists, charts, budgets
-- and sums need no special case. Amounts, tax and charge of the parts add up to the minor unit.

create or replace function app.spread_minor(whole_minor bigint, weights bigint[]) returns bigint[]
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select array_agg(s.minor + case when s.turn <= whole_minor - s.given then 1 else 0 end order by s.place)
    from (
      select w.place, w.minor, sum(w.minor) over () as given,
        row_number() over (order by w.lost desc, w.place) as turn
      from (
        select u.place, div(whole_minor * u.weight::numeric, t.weight) as minor,
          mod(whole_minor * u.weight::numeric, t.weight) as lost
        from unnest(weights) with ordinality as u (weight, place)
        cross join (select sum(w) as weight from unnest(weights) as w) as t
      ) as w
    ) as s
    where whole_minor is not null
  );
end
$$;
comment on function app.spread_minor is
  'Distributes an amount by weights: each share is rounded down, and the remainder goes to the largest fractions. '
  'Returns null for null.';

create or replace function app.parse_split(context app.context, parts jsonb, whole jsonb, field text,
  create_missing_categories boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  whole_minor constant bigint := whole ->> 'amount_minor';
  currency constant text := whole ->> 'currency';
  amounts bigint[] := '{}';
  taxes bigint[];
  charges bigint[];
  given_minor numeric;
  rest int;
  part jsonb;
  result jsonb := '[]';
begin
  for i in 1..jsonb_array_length(parts) loop
    amounts := amounts
      || app.parse_amount(parts -> (i - 1) ->> 'amount', currency, format('%s[%s].amount', field, i - 1));
  end loop;
  rest := array_position(amounts, null);
  given_minor := (select coalesce(sum(a), 0) from unnest(amounts) as a);
  if cardinality(array_positions(amounts, null)) > 1 then
    perform app.fail('invalid_argument.split_without_amounts', field => parse_split.field);
  end if;
  if given_minor > whole_minor or (rest is null) <> (given_minor = whole_minor) then
    perform app.fail('invalid_argument.split_does_not_add_up', jsonb_build_object(
      'sum', app.format_amount(given_minor, currency), 'amount', app.format_amount(whole_minor, currency),
      'currency', currency, 'difference', app.format_amount(abs(whole_minor - given_minor), currency),
      'is_over', given_minor > whole_minor
    ), parse_split.field);
  end if;
  if rest is not null then
    amounts[rest] := whole_minor - given_minor;
  end if;
  taxes := app.spread_minor((whole ->> 'tax_minor')::bigint, amounts);
  charges := app.spread_minor((whole ->> 'charged_minor')::bigint, amounts);
  for i in 1..cardinality(amounts) loop
    part := parts -> (i - 1);
    result := result || jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
      'amount_minor', amounts[i], 'tax_minor', taxes[i], 'charged_minor', charges[i],
      'note', coalesce(nullif(btrim(part ->> 'note'), ''), whole ->> 'note'),
      'category_id', case when app.clean_text(part ->> 'category') is null then whole ->> 'category_id'
        else app.find_category(
          context, part ->> 'category', format('%s[%s].category', field, i - 1), create_missing_categories
        )
      end
    )));
  end loop;
  return result;
end
$$;
comment on function app.parse_split is
  'Returns the parts of a draft with their own fields: [{amount_minor, category_id?, note?, tax_minor?, '
  'charged_minor?}]. One part may omit its amount and gets the rest. Ends the tool with invalid_argument when the '
  'amounts don''t add up.';

create or replace function app.draft_parts(draft jsonb) returns setof jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- A part has its own category and note, never the original's. Only the first part keeps the external id.
  return query
    select draft - 'parts' - case p.ordinality when 1 then array['category_id', 'note']
      else array['category_id', 'note', 'external_id'] end || p.value
    from jsonb_array_elements(draft -> 'parts') with ordinality as p
    where draft ? 'parts'
    union all
    select draft where not draft ? 'parts';
end
$$;
comment on function app.draft_parts is 'Returns the drafts to write for a draft: its parts, or the draft itself.';

create or replace function app.identify_parts(draft jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not draft ? 'parts' then
    return draft;
  end if;
  return draft || jsonb_build_object(
    'split_id', case when jsonb_array_length(draft -> 'parts') > 1 then app.new_id('spl') end,
    'parts', (
      select jsonb_agg(p.value || jsonb_build_object(
        'id', case p.ordinality when 1 then draft ->> 'id' else app.new_id('exp') end
      ) order by p.ordinality)
      from jsonb_array_elements(draft -> 'parts') with ordinality as p
    )
  );
end
$$;
comment on function app.identify_parts is
  'Returns a draft whose parts have ids. The first part gets the id of the draft.';

create or replace function app.find_split(expense_id text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select other.expense_id
    from app.payments as p
    join app.payments as other on other.id = p.id or other.split_id = p.split_id
    where p.expense_id = find_split.expense_id and p.deleted_at is null and other.deleted_at is null
    order by other.recorded_seq
  );
end
$$;
comment on function app.find_split is
  'Returns the expense ids of all parts of an expense''s split, or its own id alone.';

create or replace function app.shown_split_id(part app.payments) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case when part.split_id is not null and exists (
    select from app.payments as other
    where other.split_id = part.split_id and other.id <> part.id and other.deleted_at is null
  ) then part.split_id end;
end
$$;
comment on function app.shown_split_id is
  'Returns the split id of a payment if the person sees another part of it. Otherwise the id would reveal hidden '
  'parts.';

create or replace function app.leave_split(ids text[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.payments as p set split_id = null
  where p.expense_id = any (ids) and p.deleted_at is null and p.split_id is not null
    and app.shown_split_id(p) is null;
end
$$;
comment on function app.leave_split is
  'Detaches payments from their split if the person sees no other part. Call it before changing a part alone.';

create or replace function app.split_payment(context app.context, ids text[], changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_reimbursement constant boolean := changes ?| array['reimbursement', 'reimbursed_by', 'reimbursed_on'];
  whole app.payments;
  expense app.expenses;
  parts jsonb;
  rates numeric[];
  drafts jsonb;
begin
  select p.* into strict whole from app.payments as p where p.expense_id = ids[1] and p.deleted_at is null;
  select e.* into strict expense from app.expenses as e where e.id = ids[1];
  select sum(p.amount_minor), sum(p.tax_minor), sum(p.charged_minor), array_agg(distinct p.tax_percent)
  into whole.amount_minor, whole.tax_minor, whole.charged_minor, rates
  from app.payments as p
  where p.expense_id = any (ids) and p.deleted_at is null;
  whole.tax_percent := case when cardinality(rates) = 1 then rates[1] end;
  whole := app.change_payment(context, whole, changes);
  parts := app.parse_split(context, changes -> 'split', to_jsonb(whole) || jsonb_build_object(
    'category_id', expense.category_id, 'note', null
  ), 'set.split', false);
  whole.split_id := case when jsonb_array_length(parts) > 1 then coalesce(whole.split_id, app.new_id('spl')) end;

  update app.expenses as e
  set category_id = p.value ->> 'category_id', note = coalesce(p.value ->> 'note', e.note)
  from jsonb_array_elements(parts) with ordinality as p
  where e.id = ids[p.ordinality];
  update app.payments as p
  set amount_minor = part.amount_minor, currency = whole.currency, paid_on = whole.paid_on,
    direction = whole.direction, charged_minor = part.charged_minor, charged_currency = whole.charged_currency,
    tax_minor = part.tax_minor, tax_percent = whole.tax_percent, split_id = whole.split_id,
    paid_by = case when changes ? 'paid_by' then whole.paid_by else p.paid_by end,
    sharing = case when changes ? 'shared' then whole.sharing else p.sharing end,
    reimbursement = case when is_reimbursement then whole.reimbursement else p.reimbursement end,
    reimbursed_by = case when is_reimbursement then whole.reimbursed_by else p.reimbursed_by end,
    reimbursed_on = case when is_reimbursement then whole.reimbursed_on else p.reimbursed_on end
  from jsonb_array_elements(parts) with ordinality as v
  cross join lateral jsonb_populate_record(null::app.payments, v.value) as part
  where p.expense_id = ids[v.ordinality] and p.deleted_at is null;
  update app.documents as d set expense_id = ids[1]
  where d.expense_id = any (ids[jsonb_array_length(parts) + 1:]) and d.deleted_at is null;
  update app.payments as p set deleted_at = context.at
  where p.expense_id = any (ids[jsonb_array_length(parts) + 1:]) and p.deleted_at is null;
  update app.expenses as e set deleted_at = context.at
  where e.id = any (ids[jsonb_array_length(parts) + 1:]);

  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'name', expense.name, 'payee', expense.payee, 'tags', expense.tags, 'note', expense.note, 'url', expense.url,
    'created_by', expense.created_by, 'direction', whole.direction, 'currency', whole.currency,
    'charged_currency', whole.charged_currency, 'paid_on', whole.paid_on, 'tax_percent', whole.tax_percent,
    'reimbursement', whole.reimbursement, 'reimbursed_by', whole.reimbursed_by,
    'reimbursed_on', whole.reimbursed_on, 'split_id', whole.split_id, 'paid_by', whole.paid_by, 'recorded_by',
    whole.recorded_by,
    'sharing', whole.sharing
  )) || p.value || jsonb_build_object('id', app.new_id('exp')) order by p.ordinality) into drafts
  from jsonb_array_elements(parts) with ordinality as p
  where p.ordinality > cardinality(ids);
  if drafts is not null then
    perform app.write_expenses(context, drafts, whole.source);
    -- The bank's line covers all parts, so link the new ones too.
    insert into app.statement_links (line_id, payment_id, organization_id)
    select distinct k.line_id, p.id, k.organization_id
    from app.statement_links as k
    join app.payments as linked on linked.id = k.payment_id and linked.expense_id = any (ids)
    cross join app.payments as p
    where p.expense_id in (select d ->> 'id' from jsonb_array_elements(drafts) as d);
  end if;
end
$$;
comment on function app.split_payment is
  'Splits a one-off expense, or an existing split again, into the parts in changes. Existing records keep their ids, '
  'missing ones are added, and surplus ones are deleted. A single part ends the split.';

create or replace function app.describe_split(ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', p.expense_id, 'category', category.name, 'amount', app.format_amount(p.amount_minor, p.currency),
      'currency', p.currency, 'tax', app.format_amount(p.tax_minor, p.currency),
      'base_amount', app.format_amount(p.base_minor, p.base_currency), 'note', e.note
    )) order by p.recorded_seq)
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    left join app.categories as category on category.id = p.category_id
    where p.expense_id = any (ids) and p.deleted_at is null
  );
end
$$;
comment on function app.describe_split is 'Returns the parts of a split as tools report them.';

create or replace function app.warn_of_parts(ids text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  left_over record;
begin
  select array_agg(distinct e.name) as names, count(*) as count into left_over
  from app.payments as p
  join app.expenses as e on e.id = p.expense_id
  where p.deleted_at is null
    and p.split_id in (select gone.split_id from app.payments as gone where gone.expense_id = any (ids));
  return case when left_over.count > 0 then jsonb_build_array(app.warning('split_left_over', to_jsonb(left_over)))
    else '[]'::jsonb end;
end
$$;
comment on function app.warn_of_parts is 'Returns a warning when other parts of a deleted record''s split remain.';
