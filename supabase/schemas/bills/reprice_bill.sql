create or replace function app.replan_bill(bill app.expenses, first_day date, made_since timestamptz default null)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_live constant boolean := bill.status in ('active', 'ended');
  gone text[];
begin
  update app.expense_occurrences as o set due_on = app.due_on(o.scheduled_on, bill.weekend_rule)
  where o.expense_id = bill.id and o.status = 'open' and o.scheduled_on >= bill.tracked_from
    and app.is_scheduled(bill, o.scheduled_on)
    and o.due_on <> app.due_on(o.scheduled_on, bill.weekend_rule);
  gone := array(
    select o.id from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and o.paid_minor = 0
      and (o.due_on >= first_day or o.created_at >= made_since)
      and not (is_live and app.is_scheduled(bill, o.scheduled_on) and o.due_on >= coalesce(bill.paused_until, o.due_on))
  );
  -- Detach undone payments, which would keep the date from being deleted. A resumed bill gets the date again.
  update app.payments as p set occurrence_id = null where p.occurrence_id = any (gone) and p.deleted_at is not null;
  delete from app.expense_occurrences as o where o.id = any (gone);
end
$$;
comment on function app.replan_bill is
  'Removes open dates, from a day on (or created since an instant), that a bill no longer has. An active bill loses '
  'dates that are off its schedule or before the end of its pause; a paused or cancelled one loses all. Partly paid '
  'dates stay.';

create or replace function app.reprice_bill(bill app.expenses, from_day date, made_since timestamptz default null)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  with priced as (
    select o.id, paid.minor as paid_minor,
      case
        when o.amount_source <> 'rule' and o.currency = bill.currency
          then greatest(o.expected_minor, nullif(paid.minor, 0))
        when app.rule_amount(bill) is null then case when paid.minor > 0 then o.expected_minor end
        else greatest(app.rule_amount(bill), paid.minor)
      end as expected_minor
    from app.expense_occurrences as o
    cross join lateral (select app.paid_minor(o.id) as minor) as paid
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= from_day
      and (made_since is null or o.created_at >= made_since)
  )
  update app.expense_occurrences as o
  set expected_minor = p.expected_minor, currency = bill.currency,
    amount_source = case when o.currency = bill.currency then o.amount_source else 'rule' end,
    -- A date is settled when its amount drops to the paid sum.
    status = case when p.expected_minor = p.paid_minor then 'paid' else 'open' end,
    closed_at = case when p.expected_minor = p.paid_minor then app.instant() end
  from priced as p
  where o.id = p.id
    and ((o.expected_minor, o.currency) is distinct from (p.expected_minor, bill.currency)
    or p.expected_minor = p.paid_minor);
end
$$;
comment on function app.reprice_bill is
  'Sets the bill''s amount and currency on its open dates that are due from a day on (and created since an instant). '
  'An amount set for one date or fetched from a provider stays.';

create or replace function app.restore_bill(bill_id text, changed_at timestamptz, is_other_status boolean, today date)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
begin
  select * into bill from app.expenses as e
    where e.id = restore_bill.bill_id and e.kind = 'bill' and e.deleted_at is null;
  if found then
    if bill.status in ('active', 'ended') then
      perform app.replan_bill(bill, least(
        app.due_on(bill.tracked_from, bill.weekend_rule), case when bill.paused_until > today then today end
      ));
    else
      -- A bill paused again counts as paused throughout, so dates in between were not due.
      perform app.replan_bill(bill, today, case when is_other_status then changed_at end);
    end if;
    -- Dates created after the change have its price. The undo has restored other dates row by row.
    perform app.reprice_bill(bill, '-infinity', changed_at);
  end if;
end
$$;
comment on function app.restore_bill is
  'Recomputes a bill''s dates after one of its changes was undone.';
