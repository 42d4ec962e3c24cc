-- update_expenses and delete_records: change what is in the books. All that is named or nothing; what was changed since
-- it was shown stays.

create or replace function app.read_expenses(ids text[]) returns table (id text, name text, fields jsonb, version int)
language sql stable
begin atomic
  select e.id, e.name, jsonb_strip_nulls(jsonb_build_object(
    'name', e.name, 'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency, 'date', p.paid_on,
    'payee', e.payee,
    'category', category.name, 'tags', nullif(e.tags, '{}'), 'note', e.note, 'url', e.url
  )), e.version + p.version - 1
  from unnest(ids) as wanted (id)
  join app.expenses as e on e.id = wanted.id and e.kind = 'one_off' and e.deleted_at is null
  join app.payments as p on p.expense_id = e.id and p.deleted_at is null
  join app.currencies as c on c.code = p.currency
  left join app.categories as category on category.id = e.category_id;
end;
comment on function app.read_expenses is 'One-off expenses as list_expenses shows them, and their versions.';

create or replace function app.require_records(context app.context, ids text[]) returns void
language plpgsql volatile set search_path = '' as $$
declare
  missing text[];
  deleted text[];
begin
  -- Jobs write beside the tools: what is about to change holds still from here on.
  perform from app.expenses as e where e.id = any (ids) order by e.id for update;
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
  'Locks expenses and bills by id; ends the tool with not_found when one is not there.';

create or replace function app.check_update(arguments jsonb, ids text[]) returns void
language plpgsql stable set search_path = '' as $$
declare
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
begin
  if changes = '{}' and app.clean_tags(arguments -> 'add_tags', 'add_tags') = '{}' then
    perform app.fail('invalid_argument.nothing_to_change', field => 'set');
  end if;
  if changes ? 'name' and app.clean_text(changes ->> 'name') is null then
    perform app.fail('invalid_argument.expense_without_name', field => 'set.name');
  end if;
  if cardinality(ids) > 1 and changes - array['category', 'payee', 'note', 'url', 'tags'] <> '{}' then
    perform app.fail('invalid_argument.one_at_a_time', field => 'set');
  end if;
  if cardinality(ids) > 1 and arguments ? 'expected_version' then
    perform app.fail('invalid_argument.version_of_several', field => 'expected_version');
  end if;
end
$$;
comment on function app.check_update is 'What the contract of update_expenses says in words.';

create or replace function app.update_payment(context app.context, expense_id text, changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  base app.base_value;
begin
  select * into strict payment from app.payments as p
    where p.expense_id = update_payment.expense_id and p.deleted_at is null for update;
  -- A new currency without a new amount: the same figures, where that currency has as many decimals.
  payment.amount_minor := app.parse_amount(
    coalesce(changes ->> 'amount', app.format_amount(payment.amount_minor, payment.currency)),
    coalesce(changes ->> 'currency', payment.currency),
    'set.amount'
  );
  payment.currency := coalesce(changes ->> 'currency', payment.currency);
  payment.paid_on := coalesce(app.parse_paid_on(context, changes ->> 'date', 'set.date'), payment.paid_on);
  base := app.value_in_base(context.base_currency, payment.amount_minor, payment.currency, payment.paid_on);
  update app.payments as p
  set amount_minor = payment.amount_minor, currency = payment.currency, paid_on = payment.paid_on,
    base_currency = base.base_currency,
    base_minor = base.base_minor, fx_rate = base.fx_rate, fx_rate_on = base.fx_rate_on, fx_source = base.fx_source
  where p.id = payment.id
    and (p.amount_minor, p.currency, p.paid_on) is distinct from (payment.amount_minor, payment.currency,
      payment.paid_on);
end
$$;
comment on function app.update_payment is
  'Gives the payment of a one-off expense the amount, currency and date that are to change.';

create or replace function app.update_expenses(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(arguments -> 'ids'));
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
  new_category_id text;
  before jsonb;
  stale record;
  updated jsonb;
  changed text[];
begin
  perform app.check_update(arguments, ids);
  perform app.require_records(context, ids);
  select b.* into stale from app.read_expenses(ids) as b where b.version <> (arguments ->> 'expected_version')::numeric;
  if found then
    perform app.fail('stale_version', jsonb_build_object(
      'name', stale.name, 'version', stale.version,
      'details', jsonb_build_object('id', stale.id, 'version', stale.version, 'current', stale.fields)
    ), 'expected_version');
  end if;
  if changes ? 'category' then
    new_category_id := app.find_category(context, changes ->> 'category', 'set.category');
  end if;

  select jsonb_object_agg(b.id, b.fields) into before from app.read_expenses(ids) as b;
  update app.expenses as e
  set name = coalesce(app.clean_text(changes ->> 'name'), e.name),
    payee = case when changes ? 'payee' then app.clean_text(changes ->> 'payee') else e.payee end,
    category_id = case when changes ? 'category' then new_category_id else e.category_id end,
    note = case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else e.note end,
    url = case when changes ? 'url' then app.parse_url(changes ->> 'url', 'set.url') else e.url end,
    tags
      = app.clean_tags(coalesce(changes -> 'tags', to_jsonb(e.tags)) || coalesce(arguments -> 'add_tags', '[]'),
      'add_tags')
  where e.id = any (ids);
  if changes ?| array['amount', 'currency', 'date'] then
    perform app.update_payment(context, ids[1], changes);
  end if;

  select
    jsonb_agg(jsonb_build_object('id', a.id, 'before', old.fields, 'after', new.fields, 'version', a.version)
      order by array_position(ids, a.id)),
    array_agg(a.name order by array_position(ids, a.id)) filter (where old.fields <> new.fields)
  into updated, changed
  from app.read_expenses(ids) as a
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(before -> a.id) as f where f.value is distinct from a.fields -> f.key
  ) as old
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(a.fields) as f where f.value is distinct from before -> a.id -> f.key
  ) as new;
  return jsonb_build_object(
    'data', jsonb_build_object('updated', updated),
    'facts', jsonb_build_object('count', cardinality(changed), 'names', to_jsonb(changed[:4]), 'fields', (
      select jsonb_agg(distinct key)
      from jsonb_array_elements(updated) as u
      cross join jsonb_object_keys((u -> 'before') || (u -> 'after')) as key
    ))
  );
end
$$;
comment on function app.update_expenses is
  'Tool update_expenses: data {updated}, each with the fields that changed, before and after.';
