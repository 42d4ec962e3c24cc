create or replace function app.parse_closed_through(context app.context, month text) returns date
language plpgsql stable set search_path = '' as $$
begin
  if month ~ '^--(0[1-9]|1[0-2])$' then
    -- Without a year, take the latest such month that has ended.
    month := extract(year from context.today)::int - (right(month, 2)::int >= extract(month from context.today))::int
      || right(month, 3);
  end if;
  if month = '' then
    return null;
  elsif month !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or month >= app.month_name(context.today) then
    perform app.fail('date_out_of_range.month_not_over', jsonb_build_object('month', left(month, 40)),
      'closed_through');
  end if;
  return ((month || '-01')::date + interval '1 month')::date - 1;
end
$$;
comment on function app.parse_closed_through is
  'Returns the last day of the last month to close; null for a blank argument, which closes none. Ends the tool with '
  'date_out_of_range when the month has not ended.';

create or replace function app.prepare_closing(context app.context, closed_through date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  waiting record;
begin
  -- Record automatic payments up to today first, since they belong to the month. Lock bills before the organization, as
  -- every writer does.
  perform app.refresh_bill(b.id, context.today)
  from (
    select e.id from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active' and e.autopay
      and e.deleted_at is null and e.next_due < context.today
    order by e.id
  ) as b;
  perform from identity.organizations as o where o.id = context.organization_id for no key update;
  -- Final values change only with the base currency.
  select count(*) as count, min(p.paid_on) as since into waiting
  from app.payments as p
  where not p.is_final and p.paid_on <= closed_through and p.deleted_at is null;
  if waiting.count > 0 then
    perform app.fail('values_pending', jsonb_build_object(
      'count', waiting.count, 'since', waiting.since, 'month', app.month_name(closed_through)
    ), 'closed_through');
  end if;
end
$$;
comment on function app.prepare_closing is
  'Records due automatic payments, then locks the organization against other writers. Ends the tool with '
  'values_pending while a value in these months waits for its daily rate.';

create or replace function app.list_open_dates(context app.context, until date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('name', e.name, 'due_on', o.due_on) order by o.due_on, e.name)
    from app.passed_occurrences(context) as o
    join app.expenses as e on e.id = o.expense_id
    where o.due_on <= until
  );
end
$$;
comment on function app.list_open_dates is
  'Returns the unpaid due dates of bills up to a day: [{name, due_on}]; null for none.';
