-- Measures a change for approval limits. It reads the written rows, never the arguments, so that every way to the same
-- effect counts the same.

create or replace function app.add_sums(sums jsonb, further jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.key, s.minor), '{}')
    from (
      select a.key, sum(a.value::numeric) as minor
      from (select * from jsonb_each_text(sums) union all select * from jsonb_each_text(further)) as a
      group by a.key
    ) as s
  );
end
$$;
comment on function app.add_sums is 'Adds up minor units by currency.';

create or replace function app.worth_of(kept jsonb, usual_minor bigint default null)
  returns table (currency text, minor numeric)
language plpgsql stable set search_path = '' as $$
declare
  sign constant int := case kept ->> 'direction' when 'refund' then -1 else 1 end;
  asked constant bigint :=
    coalesce((kept ->> 'amount_minor')::bigint, case when kept is not null then usual_minor end);
  charged constant bigint := (kept ->> 'charged_minor')::bigint;
  asked_as_charged constant bigint := case when charged is not null then (app.value_in_base(
    kept ->> 'charged_currency', asked, kept ->> 'currency', app.instant()::date
  )).base_minor end;
begin
  -- The larger of the entered and the charged amount counts, or both if they can't be compared.
  if charged is null or asked_as_charged is null or asked_as_charged > charged then
    return query select kept ->> 'currency', sign * asked::numeric where asked is not null;
  end if;
  if charged is not null and (asked_as_charged is null or asked_as_charged <= charged) then
    return query select kept ->> 'charged_currency', sign * charged::numeric;
  end if;
end
$$;
comment on function app.worth_of is
  'Returns the amount of a captured row, negative for refunds, zero for a missing row.';

create or replace function app.measure_change(change_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A change of payer or shares puts the whole amount at stake.
  passing_on constant text[] := array['paid_by', 'payer_id', 'sharing', 'from_id', 'to_id'];
  -- A change of payee, due date, autopay, counted period or reimbursement puts the whole amount at stake, even if the
  -- amount stays the same.
  terms constant text[] := array[
    'autopay', 'status', 'payee', 'amount_mode', 'paid_on', 'frequency', 'every', 'anchor_on', 'month_days',
    'weekend_rule', 'ends_on', 'ends_after',
    'reimbursement', 'reimbursed_by'
  ];
begin
  return (
    with net as (
      select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before,
        (array_agg(i.after order by i.position desc))[1] as after
      from app.change_items as i
      where i.change_id = measure_change.change_id
      group by i.table_name, i.row_id
    ), seen as (
      select n.table_name, n.row_id,
        case when coalesce(n.before ->> 'deleted_at', n.before ->> 'archived_at') is null then n.before end as was,
        case when coalesce(n.after ->> 'deleted_at', n.after ->> 'archived_at') is null then n.after end as becomes,
        case when starts_with(coalesce(n.after, n.before) ->> 'expense_id', 'exp_')
        then coalesce(n.after, n.before) ->> 'expense_id' else n.row_id end as thing,
        exists (select from unnest(passing_on) as key where n.before -> key is distinct from n.after -> key)
          as is_passed_on,
        exists (select from unnest(terms) as key where n.before -> key is distinct from n.after -> key) as is_restated
      from net as n
      where n.before is distinct from n.after
    ), moved as (
      -- A row counts with its amount and direction, and a missing row as zero. If the currency changes, both values
      -- count.
      select m.currency, sum(m.minor) as minor
      from seen as s
      left join lateral app.usual_amount(s.row_id, null, s.was ->> 'currency') as usual_before
        on s.is_restated and s.table_name = 'expenses'
      left join lateral app.usual_amount(s.row_id, null, s.becomes ->> 'currency') as usual_after
        on s.is_restated and s.table_name = 'expenses'
      cross join lateral (
        select coalesce(b.currency, a.currency) as currency, case
          when s.was is null or s.becomes is null then abs(coalesce(a.minor, b.minor))
          when s.is_passed_on then abs(coalesce(a.minor, 0)) + abs(coalesce(b.minor, 0))
          when s.is_restated then greatest(abs(a.minor), abs(b.minor), abs(a.minor - b.minor))
          else abs(coalesce(a.minor, 0) - coalesce(b.minor, 0)) end as minor
        from app.worth_of(s.was, usual_before.minor) as b
        full join app.worth_of(s.becomes, usual_after.minor) as a on a.currency = b.currency
      ) as m
      where s.table_name in ('payments', 'expenses', 'settlements')
      group by m.currency
    ), taxed as (
      -- Tax can be claimed back, so it counts too.
      select s.becomes ->> 'currency' as currency,
        abs(coalesce((s.becomes ->> 'tax_minor')::numeric, 0) - coalesce((s.was ->> 'tax_minor')::numeric, 0)) as minor
      from seen as s
      where s.table_name = 'payments' and s.was is not null and s.becomes is not null
    ), priced as (
      -- An autopay bill pays an amount set for one date without asking anybody. Amounts derived from the bill's own
      -- amount count with the bill.
      select s.becomes ->> 'currency' as currency,
        abs((s.becomes ->> 'expected_minor')::numeric - coalesce((s.was ->> 'expected_minor')::numeric, 0)) as minor,
        exists (select from app.expenses as e where e.id = s.becomes ->> 'expense_id' and e.autopay) as is_automatic
      from seen as s
      where s.table_name = 'expense_occurrences' and s.becomes ->> 'status' = 'open'
        and s.becomes ->> 'amount_source' = 'override'
        and s.becomes -> 'expected_minor' is distinct from s.was -> 'expected_minor'
      union all
      -- Skipping a date, or undoing the skip, puts the amount of the date at stake.
      select k.kept ->> 'currency', (k.kept ->> 'expected_minor')::numeric, false
      from seen as s
      cross join lateral (select coalesce(s.becomes, s.was) as kept) as k
      where s.table_name = 'expense_occurrences'
        and coalesce(s.was ->> 'status', 'open') is distinct from coalesce(s.becomes ->> 'status', 'open')
        and 'skipped' in (s.was ->> 'status', s.becomes ->> 'status')
    ), things as (
      select s.thing, bool_or(s.was is not null) as was_there, bool_or(s.becomes is not null) as is_there,
        bool_or(s.table_name in ('settings', 'categories', 'budgets', 'payee_rules')) as is_setting,
        bool_or((s.becomes ->> 'autopay')::boolean and (
          (s.was ->> 'autopay')::boolean is not true
          or s.becomes ->> 'status' = 'active' and (
            s.is_restated
            or (s.was -> 'amount_minor', s.was -> 'currency')
              is distinct from (s.becomes -> 'amount_minor', s.becomes -> 'currency')
          )
        )) as is_automated
      from seen as s
      group by s.thing
      having bool_or(s.was is not null or s.becomes is not null)
    ), acts as (
      select case when t.is_setting then 'update_settings' else case split_part(t.thing, '_', 1)
        when 'exp' then case when t.is_there then case when t.was_there then 'update_expenses' else 'log_expenses' end
          end
        when 'bill' then case when t.is_there then case when t.was_there then 'update_bill' else 'add_bill' end end
        -- A bill and its payments count as one record.
        when 'pay' then case when t.is_there then 'mark_bill_paid' end
        when 'set' then case when t.is_there then 'settle_up' end
        when 'inc' then case when t.is_there then case when t.was_there then 'update_expenses' else 'log_expenses' end
          end
        when 'bal' then case when t.is_there then 'log_expenses' end
        end end as act
      from things as t
      union all
      select 'delete_records' from things as t where not t.is_there
      union all
      select 'mark_bill_paid' from things as t where t.is_automated
      union all
      select 'mark_bill_paid' from priced as p where p.is_automatic
    )
    select jsonb_build_object(
      'records', (select count(*) from things),
      'acts', (
        select coalesce(jsonb_object_agg(a.act, a.things), '{}')
        from (select a.act, count(*) as things from acts as a where a.act is not null group by a.act) as a
      ),
      'sums', (
        select coalesce(jsonb_object_agg(a.currency, a.minor), '{}')
        from (
          select m.currency, sum(m.minor) as minor
          from (
            select * from moved
            union all
            select p.currency, p.minor from priced as p
            union all
            select t.currency, t.minor from taxed as t
          ) as m
          where m.minor <> 0
          group by m.currency
        ) as a
      )
    )
  );
end
$$;
comment on function app.measure_change is
  'Returns the size of a change: {records, acts: count by tool, sums: minor units by currency}.';
