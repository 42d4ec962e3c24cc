-- Moves the bills due on a day to their next date, counted from the anchor, and writes a row for each.
with rolled as (
  update public.floor_bill set
    reminded_due = case when next_due >= :today then next_due else public.floor_next(anchor, unit, every, :today) end,
    next_due = public.floor_next(anchor, unit, every, greatest(next_due, :today + remind_days) + 1),
    remind_on = public.floor_next(anchor, unit, every, greatest(next_due, :today + remind_days) + 1) - remind_days
  where active and remind_on <= :today
  returning id, reminded_due, account_id, amount_cents, currency
)
insert into public.floor_reminder (bill_id, due_date, account_id, amount_cents, currency)
select id, reminded_due, account_id, amount_cents, currency from rolled on conflict do nothing;
