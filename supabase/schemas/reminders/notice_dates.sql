-- Notices about a bill besides its due dates, from the bill's own dates. Each has a window of days, so that a later run
-- makes up for a missed one.

create or replace function app.notice_dates(bill app.expenses, today date, lead_days int)
returns table (kind text, about_on date, tell_on date)
language sql stable rows 1
begin atomic
  select 'trial' as kind, (bill).trial_ends_on,
    (bill).trial_ends_on - case when (bill).trial_ends_on - today <= 1 then 1 else 7 end
  where (bill).trial_ends_on between today and today + 7
  union all
  select 'trial_charged' as kind, (bill).trial_ends_on, (bill).trial_ends_on
  from (
    select case when (bill).trial_ends_on between today - 45 and today
      then (app.first_charge(bill, (bill).trial_ends_on)).paid_on end as paid_on
  ) as p
  where p.paid_on between today - 14 and today
  union all
  select 'cancel_by' as kind, (c.exit).cancel_by,
    (c.exit).cancel_by - case when (c.exit).cancel_by - today <= 3 then 3 else 14 end
  from (
    select case when (bill).notice_days is not null or (bill).contract is not null
      then app.next_exit(bill, today) end as exit
  ) as c
  where (c.exit).cancel_by <= today + 14 and (c.exit).ends_term
  union all
  -- While the contract can still be cancelled, the last day to cancel replaces the renewal.
  select 'renewal' as kind, r.renews_on, r.renews_on - 14
  from (
    select case when (bill).renews_on is not null or (bill).contract is not null
      then app.next_renewal(bill, today) end as renews_on
  ) as r
  where r.renews_on <= today + 14 and coalesce(app.cancel_by(bill, r.renews_on) < today, true)
    and app.term_months(bill) > 2
  union all
  -- Dates of a yearly bill after the first one count as renewals. Inside the lead days, the reminder replaces the
  -- notice.
  select 'renewal' as kind, (bill).next_due, (bill).next_due - 14
  where (bill).frequency = 'yearly' and app.first_renewal(bill) is null
    and (bill).next_due > app.due_on((bill).anchor_on, (bill).weekend_rule)
    and (bill).next_due between today + lead_days + 1 and today + 14
  union all
  -- Providers are asked until the 10th; daily charges get no notice.
  select 'awaited' as kind, a.due_on, a.due_on + 1
  from app.usual_amount((bill).id, (bill).amount_minor, (bill).currency) as usual
  cross join lateral app.awaited_dates((bill).id, (bill).autopay, (bill).next_due, usual.minor, today) as awaited
  cross join lateral unnest(awaited.dates) as a (due_on)
  where (bill).autopay and (bill).amount_mode = 'variable' and not ((bill).frequency = 'daily' and (bill).every = 1)
    and a.due_on >= today - 14
    and (
      extract(day from today) > 10 or a.due_on < date_trunc('month', today)
      or not exists (select from app.provider_links as l where l.expense_id = (bill).id and l.status = 'active')
    )
  union all
  select 'price_rise' as kind, (bill).next_due, (bill).next_due - 7
  from app.expense_occurrences as c
  cross join lateral (
    select o.expected_minor, o.currency
    from app.expense_occurrences as o
    where o.organization_id = (bill).organization_id and o.expense_id = (bill).id and o.scheduled_on < c.scheduled_on
      and o.status <> 'skipped' and o.amount_source = 'rule'
    order by o.scheduled_on desc
    limit 1
  ) as earlier
  where (bill).version > 1 and (bill).amount_mode = 'fixed' and (bill).next_due between today and today + 7
    and c.organization_id = (bill).organization_id and c.expense_id = (bill).id
    and c.scheduled_on between (bill).next_due - 2 and (bill).next_due + 2
    and c.due_on = (bill).next_due and c.status = 'open' and c.amount_source = 'rule'
    and c.currency = earlier.currency and c.expected_minor > earlier.expected_minor;
end;
comment on function app.notice_dates is
  'Returns the notices about a bill on a day: kind (trial, trial_charged, cancel_by, renewal, price_rise, awaited), '
  'the date concerned, and the first day of the notice. lead_days: the lead time of its due dates.';
