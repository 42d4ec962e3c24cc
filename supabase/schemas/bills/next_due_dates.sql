create or replace function app.future_occurrences(context app.context, last_day date, bill_ids text[] default null)
returns table (expense_id text, scheduled_on date, due_on date, expected_minor bigint, currency text)
language sql stable
begin atomic
  select (f.bill).id, s.scheduled_on, s.due_on, app.rule_amount(f.bill), (f.bill).currency
  from app.future_spans(context, last_day, bill_ids) as f
  -- Look up each bill, because the planner would guess the row count of a join.
  cross join lateral (
    select coalesce(array_agg(o.scheduled_on), '{}') as dates
    from app.expense_occurrences as o
    where o.expense_id = (f.bill).id and o.scheduled_on >= f.first_day and o.scheduled_on < f.end_day
    offset 0
  ) as known
  cross join lateral app.scheduled_dates(f.bill, f.first, f.last) as s
  where s.scheduled_on <> all (known.dates);
end;
comment on function app.future_occurrences is
  'Returns the dates after the current one of each active bill until a day, except those paid or skipped in advance.';

create or replace function app.future_counts(context app.context, last_day date, bill_ids text[] default null)
  returns table (expense_id text, dates bigint)
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return query
    select (f.bill).id, f.last - f.first + 1 - known.dates
    from app.future_spans(context, last_day, bill_ids) as f
    cross join lateral (
      select count(*) as dates
      from app.expense_occurrences as o
      where o.expense_id = (f.bill).id and o.scheduled_on >= f.first_day and o.scheduled_on < f.end_day
        and app.schedule_index(f.bill, o.scheduled_on) between f.first and f.last
        -- Exclude dates of an earlier schedule, which have other numbers.
        and app.schedule_index(f.bill, o.scheduled_on + 1) > app.schedule_index(f.bill, o.scheduled_on)
      offset 0
    ) as known
    where f.last - f.first + 1 > known.dates;
end
$$;
comment on function app.future_counts is
  'Returns the number of dates in app.future_occurrences for each bill, without computing them.';

create or replace function app.expected_in_period(context app.context, first_day date, last_day date)
returns table (expense_id text, category_id text, payee text, due_on date, expected_minor bigint, currency text,
  is_estimate boolean)
language sql stable
begin atomic
  select b.id, b.category_id, coalesce(b.payee, b.name), e.due_on, coalesce(e.minor, usual.minor),
    case when e.minor is null then b.currency else e.currency end,
    e.minor is null or b.amount_mode = 'estimated' and e.is_by_rule
  from (
    select o.expense_id, o.due_on, o.remaining_minor as minor, o.currency, o.is_by_rule
    from app.open_occurrences(context) as o
    union all
    select f.expense_id, f.due_on, f.expected_minor, f.currency, true
      from app.future_occurrences(context, last_day) as f
  ) as e
  join app.expenses as b on b.id = e.expense_id
  cross join lateral app.usual_amount(b.id, b.amount_minor, b.currency) as usual
  where (first_day is null or e.due_on >= first_day) and e.due_on <= last_day;
end;
comment on function app.expected_in_period is
  'Returns the unpaid amounts of all active bills'' due dates from first_day (null: including overdue ones) to '
  'last_day, in the date''s currency. A variable bill has its usual amount, or null if unknown. is_estimate: the '
  'amount is usual, or the bill''s amount is estimated. Chart, summary and list use the same function.';

create or replace function app.next_due_dates(context app.context, bill app.expenses, wanted int) returns date[]
language plpgsql stable set search_path = '' as $$
begin
  if bill.status <> 'active' then
    return '{}';
  end if;
  return array(
    select coalesce(o.due_on, app.due_on(app.scheduled_on(bill, n), bill.weekend_rule)) as due_on
    from app.open_indexes(bill, context.today, wanted) as n
    left join app.expense_occurrences as o on o.expense_id = bill.id and o.scheduled_on = app.scheduled_on(bill, n)
    union all
    -- The remaining dates of the earlier schedule.
    select o.due_on
    from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= context.today
      and o.scheduled_on < bill.tracked_from
    order by due_on
    limit wanted
  );
end
$$;
comment on function app.next_due_dates is
  'Returns the next due dates of a bill, from today, that are not paid or skipped; empty if the bill isn''t active.';
