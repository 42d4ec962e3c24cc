create or replace function public.pay_due_date(user_id uuid, organization_id text, bill_id text, due_on date,
  shown text, amount text, idempotency_key text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill jsonb;
  is_open boolean;
  due text;
begin
  -- Check membership first, so that a stranger cannot hold the lock.
  if not exists (
    select from identity.memberships as m
    where m.organization_id = pay_due_date.organization_id and m.user_id = pay_due_date.user_id
  ) then
    return '{"outcome": "unknown"}';
  end if;
  -- The second of two requests waits here and sees the first one's payment.
  perform app.lock_books(organization_id);
  bill := public.run_page_tool(user_id, organization_id, 'list_bills', jsonb_build_object('bill_id', bill_id), at);
  if bill ->> 'outcome' <> 'ok' or not (bill #>> '{result,ok}')::boolean then
    return '{"outcome": "unknown"}';
  end if;
  bill := bill #> '{result,data,bills,0}';
  select true, d.amount into is_open, due
  from (
    select (o ->> 'due_on')::date as due_on, o ->> 'amount' as amount
    from jsonb_array_elements(bill -> 'overdue') as o
    union all
    select (a #>> '{}')::date, null from jsonb_array_elements(bill -> 'awaiting_amount') as a
    union all
    select (bill ->> 'next_due')::date, coalesce(bill ->> 'remaining', bill ->> 'amount')
  ) as d
  where d.due_on = pay_due_date.due_on
  limit 1;
  if is_open is null then
    -- The date was paid, skipped or moved after the page was shown. Otherwise the tool would correct the existing
    -- payment.
    return '{"outcome": "already"}';
  elsif due is distinct from shown then
    return '{"outcome": "changed"}';
  end if;
  return public.run_page_tool(user_id, organization_id, 'mark_bill_paid', jsonb_strip_nulls(jsonb_build_object(
    'bill_id', bill_id, 'due_on', due_on, 'amount', amount, 'idempotency_key', idempotency_key
  )), at);
exception when sqlstate 'EX001' then
  return '{"outcome": "busy"}';
end
$$;
comment on function public.pay_due_date is
  'Pays the due date that a page showed. Returns the result of public.run_page_tool for mark_bill_paid, or {outcome: '
  'unknown | already | changed | busy}. already: the date is not open; changed: its amount differs from the shown one '
  '(null if none was shown).';
