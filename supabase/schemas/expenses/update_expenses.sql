-- update_expenses and delete_records change all named records or none. They fail when a record changed since it was
-- shown.

create or replace function app.read_expenses(ids text[]) returns table (id text, name text, fields jsonb, version int)
language sql stable
begin atomic
  select e.id, e.name, jsonb_strip_nulls(jsonb_build_object(
    'name', e.name, 'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
    'charged', case when p.charged_minor is not null then jsonb_build_object(
      'amount', app.format_minor(p.charged_minor, taken.exponent), 'currency', p.charged_currency
    ) end,
    'date', p.paid_on, 'payee', e.payee,
    'category', category.name, 'tags', nullif(e.tags, '{}'), 'note', e.note, 'url', e.url,
    'is_refund', case when p.direction = 'refund' then true end, 'tax', app.format_minor(p.tax_minor, c.exponent),
    'tax_percent', trim_scale(p.tax_percent), 'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by,
    'reimbursed_on', p.reimbursed_on, 'split_id', app.shown_split_id(p), 'paid_by', app.member_name(p.paid_by),
    'shared',
    app.describe_shares(p.id)
  )), e.version + p.version - 1
  from unnest(ids) as wanted (id)
  join app.expenses as e on e.id = wanted.id and e.kind = 'one_off' and e.deleted_at is null
  join app.payments as p on p.expense_id = e.id and p.deleted_at is null
  join app.currencies as c on c.code = p.currency
  left join app.currencies as taken on taken.code = p.charged_currency
  left join app.categories as category on category.id = e.category_id;
end;
comment on function app.read_expenses is 'Returns one-off expenses as list_expenses shows them, with their versions.';

create or replace function app.require_records(context app.context, ids text[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  missing text[];
  deleted text[];
begin
  -- Jobs write concurrently, so lock the affected rows first.
  perform from app.expenses as e where e.id = any (ids) order by e.id for no key update;
  missing := array(
    select wanted.id
    from unnest(ids) with ordinality as wanted (id, place)
    where not exists (select from app.expenses as e where e.id = wanted.id and e.deleted_at is null)
    order by wanted.place
  );
  if missing = '{}' then
    return;
  end if;
  deleted :=
    array(select e.name from app.expenses as e where e.id = any (missing) order by array_position(missing, e.id));
  perform app.fail('not_found.records', jsonb_build_object(
    'missing', missing, 'asked', cardinality(ids), 'deleted', deleted, 'organization', context.organization_name,
    'details', jsonb_build_object('ids', missing)
  ), 'ids');
end
$$;
comment on function app.require_records is
  'Locks expenses and bills by id. Ends the tool with not_found when one is missing.';

create or replace function app.check_update(arguments jsonb, ids text[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
begin
  if changes = '{}' and app.clean_tags(arguments -> 'add_tags', 'add_tags') = '{}'
    and app.clean_tags(arguments -> 'remove_tags', 'remove_tags') = '{}' then
    perform app.fail('invalid_argument.nothing_to_change', field => 'set');
  end if;
  if changes ? 'name' and app.clean_text(changes ->> 'name') is null then
    perform app.fail('invalid_argument.expense_without_name', field => 'set.name');
  end if;
  if cardinality(ids) > 1 and changes - array[
    'category', 'payee', 'note', 'url', 'tags', 'reimbursement', 'reimbursed_by', 'reimbursed_on', 'paid_by', 'shared'
  ] <> '{}' then
    perform app.fail('invalid_argument.one_at_a_time', field => 'set');
  end if;
  if cardinality(ids) > 1 and arguments ? 'expected_version' then
    perform app.fail('invalid_argument.version_of_several', field => 'expected_version');
  end if;
end
$$;
comment on function app.check_update is
  'Ends the tool with invalid_argument when the arguments break a rule that the schema of update_expenses can''t '
  'express.';

create or replace function app.change_payment(context app.context, payment app.payments, changes jsonb)
  returns app.payments
language plpgsql stable set search_path = '' as $$
declare
  old constant app.payments := payment;
begin
  -- A new currency without a new amount keeps the figure, if both currencies have the same number of decimals.
  payment.amount_minor := app.parse_amount(
    coalesce(changes ->> 'amount', app.format_amount(payment.amount_minor, payment.currency)),
    coalesce(changes ->> 'currency', payment.currency),
    'set.amount'
  );
  payment.currency := coalesce(changes ->> 'currency', payment.currency);
  payment.direction := case (changes ->> 'is_refund')::boolean when true then 'refund' when false then 'out'
    else payment.direction end;
  payment.paid_on := coalesce(app.parse_paid_on(context, changes ->> 'date', 'set.date'), payment.paid_on);
  if changes ? 'charged' then
    select c.minor, c.charged_currency into payment.charged_minor, payment.charged_currency
    from app.parse_charged(context, changes -> 'charged', payment.currency, 'set.charged') as c;
  elsif changes ? 'currency' and payment.currency in (payment.charged_currency, context.base_currency) then
    payment.charged_minor := null;
    payment.charged_currency := null;
  end if;
  if changes ?| array['tax', 'tax_percent'] then
    select t.minor, t.rate into payment.tax_minor, payment.tax_percent
    from app.parse_tax(changes, payment.amount_minor, payment.currency, 'set') as t;
  elsif payment.tax_minor is not null
    and (payment.amount_minor, payment.currency) <> (old.amount_minor, old.currency) then
    -- A tax with a percentage keeps the percentage; any other keeps its amount.
    select t.minor, t.rate into payment.tax_minor, payment.tax_percent
    from app.parse_tax(
      case when payment.tax_percent is not null then jsonb_build_object('tax_percent', payment.tax_percent)
        else jsonb_build_object('tax', app.format_amount(payment.tax_minor, old.currency)) end,
      payment.amount_minor, payment.currency, 'set'
    ) as t;
  end if;
  payment.paid_by := coalesce(app.parse_payer(context, changes ->> 'paid_by', 'set.paid_by'), payment.paid_by);
  if changes ? 'shared' then
    payment.sharing :=
      app.parse_sharing(context, changes -> 'shared', payment.amount_minor, payment.currency, 'set.shared');
  elsif payment.sharing ->> 'how' = 'amounts'
    and (payment.amount_minor, payment.currency) <> (old.amount_minor, old.currency) then
    perform app.fail('invalid_argument.shares_do_not_add_up', jsonb_build_object(
      'sum', app.format_amount(old.amount_minor, old.currency),
      'amount', app.format_amount(payment.amount_minor, payment.currency), 'currency', payment.currency
    ), 'set.shared');
  end if;
  if changes ?| array['shared', 'paid_by'] then
    perform app.check_shared(payment.sharing, payment.paid_by, (
      select e.category_id from app.expenses as e where e.id = payment.expense_id
    ), 'set.shared');
  end if;
  select r.* into payment.reimbursement, payment.reimbursed_by, payment.reimbursed_on
  from app.parse_reimbursement(
    context, changes, 'set', payment.reimbursement, payment.reimbursed_by, payment.reimbursed_on
  ) as r;
  return payment;
end
$$;
comment on function app.change_payment is
  'Returns the payment of a one-off expense with the requested changes. Does not write it.';

create or replace function app.update_payments(context app.context, ids text[], changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  changed app.payments;
  of_whole constant text[] := array['amount', 'currency', 'date', 'is_refund', 'charged'];
begin
  if changes ?| of_whole then
    perform app.leave_split(ids);
  end if;
  for payment in
    select p.* from app.payments as p where p.expense_id = any (ids) and p.deleted_at is null order by p.id for update
  loop
    if payment.split_id is not null and changes ?| of_whole then
      perform app.fail('invalid_argument.part_of_split', jsonb_build_object(
        'parts', cardinality(app.find_split(payment.expense_id)),
        'details', jsonb_build_object('split', app.describe_split(app.find_split(payment.expense_id)))
      ), 'set');
    end if;
    changed := app.change_payment(context, payment, changes);
    continue when changed = payment;
    update app.payments as p
    set amount_minor = changed.amount_minor, currency = changed.currency, paid_on = changed.paid_on,
      direction = changed.direction, charged_minor = changed.charged_minor,
      charged_currency = changed.charged_currency, tax_minor = changed.tax_minor, tax_percent = changed.tax_percent,
      reimbursement = changed.reimbursement, reimbursed_by = changed.reimbursed_by,
      reimbursed_on = changed.reimbursed_on, paid_by = changed.paid_by, sharing = changed.sharing
    where p.id = payment.id;
  end loop;
end
$$;
comment on function app.update_payments is
  'Updates the payments of one-off expenses. Properties shared by all parts of a split change in all of them.';

create or replace function app.update_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- merge_expenses reads its own ids.
  asked constant text[] :=
    case when not arguments ? 'merge_into' then app.find_records(context, arguments) end;
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
  is_split constant boolean := changes ? 'split' and cardinality(asked) = 1;
  -- Splitting a part again replaces its whole split.
  ids constant text[] := case when is_split then coalesce(nullif(app.find_split(asked[1]), '{}'), asked) else asked end;
  removed_tags constant text[] := array(
    select lower(t) from unnest(app.clean_tags(arguments -> 'remove_tags', 'remove_tags')) as t
  );
  confirmed jsonb;
  new_category_id text;
  before jsonb;
  stale record;
  updated jsonb;
  changed text[];
  reimbursed text[];
  warnings jsonb := '[]';
begin
  if app.is_about_income(arguments) then
    return app.update_incomes(context, arguments);
  elsif arguments ? 'merge_into' then
    return app.merge_expenses(context, arguments);
  end if;
  perform app.check_update(arguments, asked);
  perform app.require_records(context, ids);
  confirmed := app.confirm_records(context, arguments, ids, 'update');
  select b.* into stale from app.read_expenses(asked) as b
    where b.version <> (arguments ->> 'expected_version')::numeric;
  if found then
    perform app.fail('stale_version', jsonb_build_object(
      'name', stale.name, 'version', stale.version,
      'details', jsonb_build_object('id', stale.id, 'version', stale.version, 'current', stale.fields)
    ), 'expected_version');
  end if;
  if changes ? 'category' then
    new_category_id := app.find_category(context, changes ->> 'category', 'set.category');
  end if;
  if changes ?| array['is_refund', 'category', 'name'] then
    perform app.refuse_income(b.fields || changes, 'set') from app.read_expenses(asked) as b;
  end if;

  select jsonb_object_agg(b.id, b.fields) into before from app.read_expenses(ids) as b;
  update app.expenses as e
  set name = coalesce(app.clean_text(changes ->> 'name'), e.name),
    payee = case when changes ? 'payee' then app.clean_text(changes ->> 'payee') else e.payee end,
    category_id = case when changes ? 'category' then new_category_id else e.category_id end,
    note = case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else e.note end,
    url = case when changes ? 'url' then app.parse_url(changes ->> 'url', 'set.url') else e.url end,
    tags = app.clean_tags((
      select coalesce(jsonb_agg(t.value order by t.ordinality), '[]')
      from jsonb_array_elements_text(coalesce(changes -> 'tags', to_jsonb(e.tags))) with ordinality as t
      where lower(app.clean_text(t.value)) <> all (removed_tags)
    ) || coalesce(arguments -> 'add_tags', '[]'), 'add_tags')
  where e.id = any (ids);
  if is_split then
    perform app.split_payment(context, ids, changes);
  elsif changes - array['name', 'category', 'payee', 'note', 'url', 'tags'] <> '{}' then
    perform app.update_payments(context, ids, changes);
  end if;

  select
    jsonb_agg((
      -- These fields identify the expense, so they appear even when unchanged.
      select coalesce(jsonb_object_agg(f.key, f.value), '{}')
      from jsonb_each(a.fields) as f
      where f.key in ('name', 'amount', 'currency', 'date') and not new.fields ? f.key
    ) || jsonb_build_object('id', a.id, 'before', old.fields, 'after', new.fields, 'version', a.version)
      order by array_position(ids, a.id)),
    array_agg(a.name order by array_position(ids, a.id)) filter (where old.fields <> new.fields),
    array_agg(a.id) filter (where new.fields ->> 'reimbursement' = 'done')
  into updated, changed, reimbursed
  from app.read_expenses(ids) as a
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(before -> a.id) as f where f.value is distinct from a.fields -> f.key
  ) as old
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(a.fields) as f where f.value is distinct from before -> a.id -> f.key
  ) as new;
  -- Splitting alone needs no warning, because it changes only the parts.
  if changes ?| array['amount', 'currency'] and not changes ? 'charged'
    and updated #> '{0,before}' ?| array['amount', 'currency'] then
    select app.warn_of_charge(sum(p.charged_minor)::bigint, min(p.charged_currency), 'set.charged') into warnings
    from app.payments as p
    where p.expense_id = any (ids || case when is_split then app.find_split(ids[1]) end) and p.deleted_at is null;
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'updated', app.first_few(updated),
      'split', case when is_split then app.describe_split(app.find_split(ids[1])) end,
      'count', coalesce(cardinality(changed), 0),
      'confirm', case when (arguments ->> 'dry_run')::boolean then confirmed end
    ),
    'warnings', app.warn_of_unfound(context, arguments) || warnings || app.warn_of_reimbursed(reimbursed),
    'facts', jsonb_build_object('count', cardinality(changed), 'names', to_jsonb(changed[:4]), 'fields', (
      select jsonb_agg(distinct key)
      from jsonb_array_elements(updated) as u
      cross join jsonb_object_keys((u -> 'before') || (u -> 'after')) as key
      -- Shares change with the amount and the payer; name them only when the caller changed them.
      where key <> 'shared' or changes ? 'shared'
    ))
  );
end
$$;
comment on function app.update_expenses is
  'Tool update_expenses. Returns data {updated, split?, count, confirm?, merged?}: the changed fields before and '
  'after, of the first few records only if there are many. count is the number of changed records; confirm is the '
  'confirmation that a preview requires.';
