-- How much a change moved: what limits are held against. Read from the rows that were written, never from what was
-- asked for, so that every way to the same effect counts the same.

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
comment on function app.add_sums is 'Minor units by currency, added up.';

create or replace function app.measure_change(change_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
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
        -- Whoever else pays or bears it owes all of it anew.
        n.before is not null and n.after is not null and (
          n.before ->> 'paid_by', n.before ->> 'payer_id', n.before -> 'sharing', n.before ->> 'from_id',
          n.before ->> 'to_id'
        ) is distinct from (
          n.after ->> 'paid_by', n.after ->> 'payer_id', n.after -> 'sharing', n.after ->> 'from_id',
          n.after ->> 'to_id'
        ) as is_passed_on
      from net as n
      where n.before is distinct from n.after
    ), moved as (
      -- A row of money is worth its amount and its direction; one that is not there, nothing. Of two currencies both
      -- count.
      select m.currency, sum(m.minor) as minor
      from seen as s
      cross join lateral (
        select w.currency, w.minor
        from (
          select coalesce(b.currency, a.currency) as currency,
            case when s.is_passed_on then abs(coalesce(a.minor, 0)) + abs(coalesce(b.minor, 0))
              else abs(coalesce(a.minor, 0) - coalesce(b.minor, 0)) end as minor
          from (
            select s.was ->> 'currency' as currency, (s.was ->> 'amount_minor')::numeric
              * case s.was ->> 'direction' when 'refund' then -1 else 1 end as minor
            where s.was ->> 'amount_minor' is not null
          ) as b
          full join (
            select s.becomes ->> 'currency' as currency, (s.becomes ->> 'amount_minor')::numeric
              * case s.becomes ->> 'direction' when 'refund' then -1 else 1 end as minor
            where s.becomes ->> 'amount_minor' is not null
          ) as a on a.currency = b.currency
        ) as w
        where w.minor <> 0
      ) as m
      where s.table_name in ('payments', 'expenses', 'settlements')
      group by m.currency
    ), priced as (
      -- What somebody says of a date is paid without anybody where that is automatic. What follows from the bill's own
      -- amount counts there.
      select s.becomes ->> 'currency' as currency,
        abs((s.becomes ->> 'expected_minor')::numeric - coalesce((s.was ->> 'expected_minor')::numeric, 0)) as minor
      from seen as s
      where s.table_name = 'expense_occurrences' and s.becomes ->> 'status' = 'open'
        and s.becomes ->> 'amount_source' = 'override'
        and s.becomes -> 'expected_minor' is distinct from s.was -> 'expected_minor'
    )
    select jsonb_build_object(
      'records', (select count(distinct s.thing) from seen as s where s.was is not null or s.becomes is not null),
      'gone', (
        select count(*) from (
          select from seen as s group by s.thing having bool_and(s.becomes is null) and bool_or(s.was is not null)
        ) as gone
      ),
      'settings', (
        select count(distinct s.thing) from seen as s
        where s.table_name in ('settings', 'categories', 'budgets', 'payee_rules')
      ),
      'sums', (
        select coalesce(jsonb_object_agg(a.currency, a.minor), '{}')
        from (
          select m.currency, sum(m.minor) as minor
          from (select * from moved union all select * from priced) as m
          where m.minor <> 0
          group by m.currency
        ) as a
      )
    )
  );
end
$$;
comment on function app.measure_change is
  'What a change moved: {records, gone, settings (of these, what is no expense or bill), sums: minor units by '
  'currency}.';
