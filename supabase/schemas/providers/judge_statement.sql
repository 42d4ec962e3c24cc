-- Applies a provider's statements, for the job and the tool alike. A month's statement becomes the amount of the due
-- date in the following month. It never changes a paid date, and a large difference needs a person's review.

create or replace function app.statement_minor(amount text, currency text) returns bigint
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return (
    select a.minor
    from app.currencies as c
    cross join lateral (select amount::numeric * 10::numeric ^ c.exponent as minor
      where amount ~ '^\d{1,16}(\.\d{1,16})?$') as a
    where c.code = currency and a.minor = trunc(a.minor) and a.minor <= 1000000000000000
  );
end
$$;
comment on function app.statement_minor is
  'Returns the amount of a statement in minor units; null if it is negative, too large, too precise or in an unknown '
  'currency.';

create or replace function app.usual_statement(occurrence app.expense_occurrences) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select round(percentile_cont(0.5) within group (order by o.expected_minor)::numeric)
    from (
      select o.expected_minor
      from app.expense_occurrences as o
      where o.expense_id = occurrence.expense_id and o.id <> occurrence.id and o.currency = occurrence.currency
        and o.expected_minor is not null and o.status <> 'skipped'
      order by abs(o.scheduled_on - occurrence.scheduled_on), o.scheduled_on
      limit 6
    ) as o
  );
end
$$;
comment on function app.usual_statement is
  'Returns the median of the six amounts nearest to a due date; null when none is known.';

create or replace function app.judge_statement(occurrence app.expense_occurrences, amount_minor bigint, currency text,
  usual_minor bigint) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when occurrence.id is null then 'not_due'
    when occurrence.expected_minor = amount_minor and occurrence.currency = currency
      and occurrence.status <> 'skipped' then null
    when occurrence.status <> 'open' then occurrence.status
    when currency <> occurrence.currency then 'other_currency'
    when amount_minor = 0 then 'nothing_to_pay'
    when occurrence.paid_minor > amount_minor then 'paid'
    when abs(amount_minor - usual_minor) > usual_minor * 0.4 then 'unusual'
  end;
end
$$;
comment on function app.judge_statement is
  'Returns the reason that a statement must be reviewed before it can become the amount of a due date; null without '
  'one.';

create or replace function app.find_statement_date(bill app.expenses, kept app.provider_statements, due_month date)
  returns app.expense_occurrences
language plpgsql stable set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
begin
  select * into occurrence
  from app.expense_occurrences as o
  -- Use the schedule: a date that the weekend rule moves into another month still belongs to its own month. The bill
  -- may have become a fixed one while the provider answered.
  where o.expense_id = bill.id and bill.amount_mode = 'variable' and bill.deleted_at is null
    and o.scheduled_on >= due_month and o.scheduled_on < due_month + interval '1 month'
  -- A corrected statement concerns the same date as the first one.
  order by o.id is distinct from kept.occurrence_id, o.status <> 'open', o.due_on
  limit 1;
  return occurrence;
end
$$;
comment on function app.find_statement_date is
  'Returns the date of a bill in a month for a statement: the date of the earlier statement, otherwise the first open '
  'one; null when the bill is not due in that month or needs no fetched amounts.';

create or replace function app.write_statement_date(context app.context, bill app.expenses, due_month date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- A past date has its row, or is earlier than the first tracked date.
  n constant int :=
    greatest(app.schedule_index(bill, greatest(due_month, bill.tracked_from)), app.due_index(bill, context.today));
begin
  if bill.status = 'active' and bill.amount_mode = 'variable' and bill.deleted_at is null
    and n <= coalesce(app.last_index(bill), n) and app.scheduled_on(bill, n) < due_month + interval '1 month' then
    perform app.materialize_occurrences(bill, n, n);
  end if;
end
$$;
comment on function app.write_statement_date is
  'Creates the missing row of a bill''s date in a month. Such a date follows the current one, which the weekend rule '
  'moved into that month, or whose day is still in the previous month.';

create or replace function app.missing_months(link app.provider_links, last_month date) returns date[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select distinct m.month
    from app.expense_occurrences as o
    cross join lateral (select (date_trunc('month', o.scheduled_on) - interval '1 month')::date as month) as m
    where o.organization_id = link.organization_id and o.expense_id = link.expense_id
      -- Eleven months and the last one make a year.
      and o.scheduled_on >= last_month - interval '10 months' and o.scheduled_on < last_month + interval '1 month'
      and (
        o.status = 'open' and o.expected_minor is null
        or o.status = 'paid' and exists (
          select from app.payments as p where p.occurrence_id = o.id and p.is_estimate and p.deleted_at is null
        )
      )
      -- A repeated statement changes nothing, even if a person has changed the amount since. But its date may have been
      -- recreated.
      and not exists (
        select from app.provider_statements as s
        where s.link_id = link.id and s.period = m.month
          and (s.status = 'ignored' or s.status <> 'superseded' and s.occurrence_id is not null)
      )
    order by m.month desc
  );
end
$$;
comment on function app.missing_months is
  'Returns months, latest first, among the eleven before the last one. In each, a date of the bill waits for its '
  'statement, because it has no amount or was paid with an estimate.';

create or replace function app.sync_fact(code text, params jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('code', code, 'params', jsonb_strip_nulls(params));
end
$$;
comment on function app.sync_fact is
  'Returns the result of querying a provider, as a code from a closed list with its facts, which TypeScript phrases.';
