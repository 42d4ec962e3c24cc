create or replace function app.check_expected(context app.context, ids text[], expected jsonb) returns void
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
  'Ends the tool with expectation_mismatch when an amount or date differs from the one the person saw. For a bill, it '
  'compares the amount and the next due date.';

create or replace function app.warn_of_balances(before jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  after constant jsonb := app.describe_balances() -> 'balances';
  was constant jsonb := (
    select jsonb_agg(b) from jsonb_array_elements(before) as b where not after @> jsonb_build_array(b)
  );
  is_now constant jsonb := (
    select jsonb_agg(a) from jsonb_array_elements(after) as a where not before @> jsonb_build_array(a)
  );
begin
  return case when before is null or num_nonnulls(was, is_now) = 0 then '[]'
    else jsonb_build_array(app.warning('balances_change', jsonb_strip_nulls(
      jsonb_build_object('was', was, 'is_now', is_now)
    ))) end;
end
$$;
comment on function app.warn_of_balances is
  'Returns a warning with the balances that a deletion changes, before and after the deletion. before has the balances '
  'of app.describe_balances; null when nothing shared is deleted.';

create or replace function app.delete_records(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := app.find_records(context, arguments);
  names text[];
  payments jsonb;
  confirmed jsonb;
  warnings jsonb := '[]';
  balances jsonb;
  documents int;
begin
  if app.is_about_income(arguments) then
    return app.delete_incomes(context, arguments);
  end if;
  if cardinality(ids) > 1 and exists (select from unnest(ids) as id where starts_with(id, 'bill_')) then
    perform app.fail('invalid_argument.bill_among_others', field => 'ids');
  end if;
  perform app.require_records(context, ids);
  -- People see records that they share, but may delete only those that they recorded or are responsible for.
  if identity.sees_own_only() and exists (
    select from app.expenses as e
    where e.id = any (ids) and (select auth.uid()) not in (e.created_by, e.assignee_id) is not false
  ) then
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'), 'ids');
  end if;
  if starts_with(ids[1], 'bill_') then
    perform app.refresh_bill(ids[1], context.today);
  end if;
  perform app.check_expected(context, ids, coalesce(arguments -> 'expected', '[]'));
  confirmed := app.confirm_records(context, arguments, ids, 'delete');

  if starts_with(ids[1], 'bill_') then
    select
      jsonb_build_object('count', coalesce(sum(s.count), 0), 'totals',
      coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}'))
    into payments
    from (
      select p.currency, count(*) as count,
        sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) as net
      from app.payments as p
      where p.expense_id = ids[1] and p.deleted_at is null
      group by p.currency
    ) as s;
    if payments ->> 'count' <> '0' then
      warnings := warnings || app.warning('payments_deleted', payments);
    end if;
  end if;
  select count(*) into documents
  from app.documents as d
  where d.expense_id = any (ids) and d.organization_id = context.organization_id and d.deleted_at is null;
  if documents > 0 then
    warnings := warnings || app.warning('documents_deleted', jsonb_build_object('count', documents));
  end if;
  if exists (select from app.payment_shares as s where s.expense_id = any (ids) and s.member_id <> s.paid_by) then
    balances := app.describe_balances() -> 'balances';
  end if;
  update app.payments as p set deleted_at = context.at where p.expense_id = any (ids) and p.deleted_at is null;
  update app.expenses as e set deleted_at = context.at where e.id = any (ids);
  warnings := warnings || app.warn_of_parts(ids) || app.warn_of_balances(balances);
  names := array(select e.name from app.expenses as e where e.id = any (ids) order by array_position(ids, e.id));
  return jsonb_build_object(
    'data', jsonb_build_object(
      'deleted', app.first_few((
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'id', e.id, 'name', e.name, 'payee', e.payee,
          'amount', app.format_amount(p.amount_minor, p.currency), 'currency', p.currency, 'date', p.paid_on,
          'payments', payments
        )) order by array_position(ids, e.id))
        from app.expenses as e
        left join app.payments as p
          on p.expense_id = e.id and p.deleted_at = context.at and not starts_with(e.id, 'bill_')
        where e.id = any (ids)
      )),
      'count', cardinality(ids),
      'restorable_until', ((context.at + app.kept_for('deleted_records')) at time zone context.timezone)::date,
      'confirm', case when (arguments ->> 'dry_run')::boolean then confirmed end
    ),
    'warnings', warnings || app.warn_of_unfound(context, arguments),
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'count', cardinality(names), 'names', to_jsonb(names[:4]), 'reason', app.clean_text(arguments ->> 'reason')
    ))
  );
end
$$;
comment on function app.delete_records is
  'Tool delete_records. Returns data {deleted, count, restorable_until, confirm?}. deleted lists only the first few if '
  'there are many; confirm {count, total} is the confirmation that a preview requires. Payments are deleted and '
  'restored with their expense; bills report payments {count, totals}.';
