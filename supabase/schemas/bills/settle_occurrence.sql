create or replace function app.parse_due_on(context app.context, bill app.expenses, value text, field text)
  returns date
language plpgsql stable set search_path = '' as $$
declare
  wanted constant text := case
    when value ~ '^(this|last|next)_month$' then to_char((app.named_period(value, context.today)).from_on, 'YYYY-MM')
    when value ~ '^(\d{4}|-)-\d\d$' then value
  end;
  found_on date;
begin
  if wanted is null then
    return app.parse_date(context, value, field);
  end if;
  select d.due_on into found_on
  from (
    select m::date as first_on, (m + interval '1 month')::date as next_on
    from generate_series(
      date_trunc('year', context.today::timestamp) - interval '9 years', context.today + interval '2 years', '1 month'
    ) as m
    where wanted in (to_char(m, 'YYYY-MM'), to_char(m, '--MM'))
  ) as month
  cross join lateral app.scheduled_dates(
    bill, app.due_index(bill, month.first_on),
    least(app.last_index(bill), app.due_index(bill, month.next_on) - 1)
  ) as d
  left join app.expense_occurrences as o on o.expense_id = bill.id and o.scheduled_on = d.scheduled_on
  -- A month without a year means the one with an open date, otherwise the nearest one.
  order by o.status is distinct from 'open', abs(month.first_on - context.today), o.status is not null, d.due_on
  limit 1;
  if found_on is null then
    perform app.fail_not_due(bill, wanted, field);
  end if;
  return found_on;
end
$$;
comment on function app.parse_due_on is
  'Parses the argument for a bill''s due date: a date, or a month (YYYY-MM, --MM, this_month, last_month) with one '
  'open date.';

create or replace function app.find_occurrence(bill app.expenses, day date, field text default 'due_on')
  returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  n int := app.due_index(bill, day);
begin
  -- A person may name the scheduled date of a due date that the weekend rule has moved.
  if app.due_on(app.scheduled_on(bill, n), bill.weekend_rule) is distinct from day then
    n := app.schedule_index(bill, day);
  end if;
  if bill.status in ('active', 'ended') and n <= coalesce(app.last_index(bill), n)
    and day in (app.scheduled_on(bill, n), app.due_on(app.scheduled_on(bill, n), bill.weekend_rule)) then
    perform app.materialize_occurrences(bill, n, n);
  end if;
  select * into occurrence
  from app.expense_occurrences as o
  where o.expense_id = bill.id and day in (o.due_on, o.scheduled_on)
  order by o.status <> 'open', o.due_on <> day, o.scheduled_on
  limit 1;
  if not found then
    perform app.fail_not_due(bill, day::text, field);
  end if;
  return occurrence;
end
$$;
comment on function app.find_occurrence is
  'Returns the occurrence of a bill on a day, created if the schedule has that day; otherwise ends the tool with the '
  'open dates.';

create or replace function app.settle_occurrence(context app.context, bill app.expenses,
  occurrence app.expense_occurrences, given_minor bigint, paid_on date, note text, paid_by uuid,
  spending app.payments default null)
returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  paid constant bigint := app.paid_minor(occurrence.id);
  remaining constant bigint := occurrence.expected_minor - paid;
  -- The charge replaces an estimate; a fixed price, an amount set by hand or a fetched one stays.
  is_exact constant boolean := occurrence.expected_minor is not null
    and (bill.amount_mode = 'fixed' or occurrence.amount_source <> 'rule');
  charged_minor constant bigint := coalesce(
    given_minor, case when spending.currency = occurrence.currency then spending.amount_minor end, remaining
  );
  payment app.payments;
begin
  if charged_minor is null then
    perform app.fail(
      'invalid_argument.amount_unknown', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on), 'amount'
    );
  elsif is_exact and charged_minor > remaining then
    perform app.fail('overpayment', jsonb_build_object(
      'name', bill.name, 'whole', app.format_amount(paid + charged_minor, occurrence.currency),
      'due_on', occurrence.due_on, 'remaining', app.format_amount(remaining, occurrence.currency),
      'currency', occurrence.currency,
      'details', jsonb_build_object(
        'due_on', occurrence.due_on, 'remaining', app.format_amount(remaining, occurrence.currency),
        'currency', occurrence.currency
      )
    ), 'amount');
  end if;
  payment :=
    app.pay_occurrence(
      occurrence, charged_minor, paid_on, 'assistant', paid_by, note, recorded_by => context.actor_id,
      spending => spending
    );
  if not is_exact or charged_minor = remaining then
    update app.expense_occurrences as o
    set status = 'paid', closed_at = context.at, expected_minor = paid + charged_minor,
      amount_source
        = case when is_exact or paid + charged_minor = o.expected_minor then o.amount_source else 'override' end
    where o.id = occurrence.id;
  end if;
  return payment;
end
$$;
comment on function app.settle_occurrence is
  'Pays an occurrence: the unpaid rest or a given amount. A smaller amount leaves it open.';
