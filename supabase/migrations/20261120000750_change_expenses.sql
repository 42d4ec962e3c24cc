-- update_expenses and delete_records: change what is in the books. All that is named or nothing; what was changed since it was shown stays.

create function app.read_expenses(ids text[]) returns table (id text, name text, fields jsonb, version int)
language sql stable
begin atomic
  select e.id, e.name, jsonb_strip_nulls(jsonb_build_object(
    'name', e.name, 'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency, 'date', p.paid_on, 'payee', e.payee,
    'category', category.name, 'tags', nullif(e.tags, '{}'), 'note', e.note, 'url', e.url
  )), e.version + p.version - 1
  from unnest(ids) as wanted (id)
  join app.expenses as e on e.id = wanted.id and e.kind = 'one_off' and e.deleted_at is null
  join app.payments as p on p.expense_id = e.id and p.deleted_at is null
  join app.currencies as c on c.code = p.currency
  left join app.categories as category on category.id = e.category_id;
end;
comment on function app.read_expenses is 'One-off expenses as list_expenses shows them, and their versions.';

create function app.require_records(context app.context, ids text[]) returns void
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
  deleted := array(select e.name from app.expenses as e where e.id = any (missing) order by array_position(missing, e.id));
  perform app.fail('not_found.records', jsonb_build_object(
    'missing', missing, 'asked', cardinality(ids), 'deleted', deleted, 'organization', context.organization_name,
    'details', jsonb_build_object('ids', missing)
  ), 'ids');
end
$$;
comment on function app.require_records is 'Locks expenses and bills by id; ends the tool with not_found when one is not there.';

create function app.check_update(arguments jsonb, ids text[]) returns void
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

create function app.update_payment(context app.context, expense_id text, changes jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
  base app.base_value;
begin
  select * into strict payment from app.payments as p where p.expense_id = update_payment.expense_id and p.deleted_at is null for update;
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
  set amount_minor = payment.amount_minor, currency = payment.currency, paid_on = payment.paid_on, base_currency = base.base_currency,
    base_minor = base.base_minor, fx_rate = base.fx_rate, fx_rate_on = base.fx_rate_on, fx_source = base.fx_source
  where p.id = payment.id
    and (p.amount_minor, p.currency, p.paid_on) is distinct from (payment.amount_minor, payment.currency, payment.paid_on);
end
$$;
comment on function app.update_payment is 'Gives the payment of a one-off expense the amount, currency and date that are to change.';

create function app.update_expenses(context app.context, arguments jsonb) returns jsonb
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
    tags = app.clean_tags(coalesce(changes -> 'tags', to_jsonb(e.tags)) || coalesce(arguments -> 'add_tags', '[]'), 'add_tags')
  where e.id = any (ids);
  if changes ?| array['amount', 'currency', 'date'] then
    perform app.update_payment(context, ids[1], changes);
  end if;

  select
    jsonb_agg(jsonb_build_object('id', a.id, 'before', old.fields, 'after', new.fields, 'version', a.version) order by array_position(ids, a.id)),
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
comment on function app.update_expenses is 'Tool update_expenses: data {updated}, each with the fields that changed, before and after.';

create function app.check_expected(context app.context, ids text[], expected jsonb) returns void
language plpgsql stable set search_path = '' as $$
declare
  stray text;
  mismatches jsonb;
begin
  select x ->> 'id' into stray from jsonb_array_elements(expected) as x where x ->> 'id' <> all (ids);
  if found then
    perform app.fail('invalid_argument.expected_of_another', jsonb_build_object('id', stray), 'expected');
  end if;
  select jsonb_agg(jsonb_build_object(
    'id', e.id, 'name', e.name, 'expected', x - 'id',
    'current', jsonb_build_object('amount', shown.amount, 'currency', shown.currency, 'date', shown.on_day)
  )) into mismatches
  from jsonb_array_elements(expected) as x
  join app.expenses as e on e.id = x ->> 'id'
  left join app.payments as p on p.expense_id = e.id and e.kind = 'one_off' and p.deleted_at is null
  cross join lateral (
    select coalesce(p.currency, e.currency) as currency, coalesce(p.paid_on, e.next_due) as on_day,
      app.format_amount(coalesce(p.amount_minor, e.amount_minor), coalesce(p.currency, e.currency)) as amount
  ) as shown
  where (x ? 'amount' and (x ->> 'amount')::numeric is distinct from shown.amount::numeric)
    or (x ? 'date' and app.parse_date(context, x ->> 'date', 'expected') is distinct from shown.on_day);
  if mismatches is not null then
    perform app.fail('expectation_mismatch.of_record', jsonb_build_object(
      'name', mismatches #> '{0,name}', 'current', mismatches #> '{0,current}',
      'details', jsonb_build_object('mismatches', mismatches)
    ), 'expected');
  end if;
end
$$;
comment on function app.check_expected is
  'Ends the tool with expectation_mismatch when an amount or date differs from what the person was shown; of a bill that is its amount and next due date.';

create function app.delete_records(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(arguments -> 'ids'));
  names text[];
  payments jsonb;
  warnings jsonb := '[]';
begin
  if cardinality(ids) > 1 and exists (select from unnest(ids) as id where starts_with(id, 'bill_')) then
    perform app.fail('invalid_argument.bill_among_others', field => 'ids');
  end if;
  perform app.require_records(context, ids);
  if starts_with(ids[1], 'bill_') then
    perform app.refresh_bill(ids[1], context.today);
  end if;
  perform app.check_expected(context, ids, coalesce(arguments -> 'expected', '[]'));

  if starts_with(ids[1], 'bill_') then
    select jsonb_build_object('count', coalesce(sum(s.count), 0), 'totals', coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}'))
    into payments
    from (
      select p.currency, count(*) as count, sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) as net
      from app.payments as p
      where p.expense_id = ids[1] and p.deleted_at is null
      group by p.currency
    ) as s;
    if payments ->> 'count' <> '0' then
      warnings := warnings || app.warning('payments_deleted', payments);
    end if;
  end if;
  update app.payments as p set deleted_at = context.at where p.expense_id = any (ids) and p.deleted_at is null;
  update app.expenses as e set deleted_at = context.at where e.id = any (ids);
  names := array(select e.name from app.expenses as e where e.id = any (ids) order by array_position(ids, e.id));
  return jsonb_build_object(
    'data', jsonb_build_object(
      'deleted', (
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', e.id, 'name', e.name, 'payments', payments)) order by array_position(ids, e.id))
        from app.expenses as e where e.id = any (ids)
      ),
      'restorable_until', ((context.at + interval '30 days') at time zone context.timezone)::date
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'count', cardinality(names), 'names', to_jsonb(names[:4]), 'reason', app.clean_text(arguments ->> 'reason')
    ))
  );
end
$$;
comment on function app.delete_records is 'Tool delete_records: data {deleted, restorable_until}. Payments go with what they paid for, and come back with it; of a bill their number and totals are told: payments {count, totals}.';

revoke all on function
  app.read_expenses, app.require_records, app.check_update, app.update_payment, app.update_expenses, app.check_expected, app.delete_records from public, anon;
grant execute on function
  app.read_expenses, app.require_records, app.check_update, app.update_payment, app.update_expenses, app.check_expected, app.delete_records
  to authenticated, service_role;
