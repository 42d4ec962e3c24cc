create or replace function app.shown_id(payment_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.id = payment_id
  );
end
$$;
comment on function app.shown_id is
  'Returns the id that people see for a payment: a one-off expense''s, or the payment''s own for a bill.';
