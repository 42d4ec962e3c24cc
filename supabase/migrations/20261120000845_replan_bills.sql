-- What a changed bill means for its dates: a new schedule, a new price, a pause. What was paid, skipped or partly paid stays as it was.
--
-- Rows due before tracked_from belong to earlier schedules of the bill and are left alone; from there on every open row is on the schedule.

create function app.change_schedule(context app.context, old app.expenses, changes jsonb, next_open date) returns app.expenses
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses := old;
  first_due constant date := app.parse_date(context, changes ->> 'first_due', 'set.first_due');
  is_other_rhythm boolean;
begin
  bill.frequency := coalesce(changes ->> 'frequency', old.frequency);
  bill.every := case
    when bill.frequency = 'once' then 1
    when changes ? 'every' then (changes ->> 'every')::int
    when bill.frequency = old.frequency then old.every
    else 1
  end;
  bill.weekend_rule := coalesce(changes ->> 'weekend_rule', old.weekend_rule);
  is_other_rhythm := (bill.frequency, bill.every) is distinct from (old.frequency, old.every);
  bill.month_days := case
    when changes ? 'month_days' then app.parse_month_days(changes -> 'month_days')
    when bill.frequency = 'monthly' and first_due is null then old.month_days
  end;
  if bill.month_days is not null and bill.frequency <> 'monthly' then
    perform app.fail(
      'invalid_argument.month_days_not_monthly', jsonb_build_object('frequency', bill.frequency), 'set.month_days'
    );
  end if;
  bill.anchor_on := coalesce(first_due, case when is_other_rhythm then next_open end, old.anchor_on);
  -- The 31st stays the last day of the month, though the next one is the 28th.
  if is_other_rhythm and first_due is null and bill.month_days is null and (old.frequency, bill.frequency) = ('monthly', 'monthly')
    and extract(day from bill.anchor_on) <> extract(day from old.anchor_on) then
    bill.month_days := array[extract(day from old.anchor_on)::smallint];
  end if;
  if bill.month_days is not null then
    bill.anchor_on := app.first_month_day(bill);
  end if;
  if bill.frequency = 'once' then
    bill.ends_on := null;
    bill.ends_after := null;
    return bill;
  end if;
  bill.ends_on := coalesce(app.parse_date(context, changes ->> 'ends_on', 'set.ends_on'), old.ends_on);
  bill.ends_after := coalesce(
    (changes ->> 'ends_after')::int,
    -- As many times as were left, when the counting begins anew.
    case when bill.anchor_on > old.anchor_on and is_other_rhythm and old.ends_after is not null
      then greatest(1, old.ends_after - app.schedule_index(old, bill.anchor_on)) else old.ends_after end
  );
  if bill.ends_on < bill.anchor_on then
    perform app.fail('invalid_argument.ends_before_first_due', jsonb_build_object(
      'name', bill.name, 'ends_on', bill.ends_on, 'first_due', bill.anchor_on
    ), 'set.ends_on');
  end if;
  return bill;
end
$$;
comment on function app.change_schedule is
  'A bill with the schedule fields of a change, not yet written; next_open is its next scheduled date that is open. A new rhythm counts from there unless first_due says from where.';

create function app.same_schedule(one app.expenses, other app.expenses) returns boolean
language sql immutable
  return ((one).frequency, (one).every, (one).anchor_on, (one).month_days, (one).weekend_rule, (one).ends_on, (one).ends_after)
    is not distinct from ((other).frequency, (other).every, (other).anchor_on, (other).month_days, (other).weekend_rule, (other).ends_on, (other).ends_after);
comment on function app.same_schedule is 'Whether two bills are due on the same days.';

create function app.watch_from(bill app.expenses, day date) returns date
language sql immutable
  return case when (bill).frequency = 'once' then (bill).anchor_on else app.scheduled_on(bill, app.due_index(bill, day)) end;
comment on function app.watch_from is 'tracked_from of a bill of which nothing before a day is ours to watch; a one-time bill is watched in any case.';

create function app.is_scheduled(bill app.expenses, day date) returns boolean
language sql immutable
  return coalesce(
    app.scheduled_on(bill, app.schedule_index(bill, day)) = day and app.schedule_index(bill, day) <= coalesce(app.last_index(bill), app.schedule_index(bill, day)),
    false
  );
comment on function app.is_scheduled is 'Whether the schedule of a bill has a day.';

create function app.replan_bill(bill app.expenses, first_day date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  is_live constant boolean := bill.status in ('active', 'ended');
begin
  update app.expense_occurrences as o set due_on = app.due_on(o.scheduled_on, bill.weekend_rule)
  where o.expense_id = bill.id and o.status = 'open' and o.scheduled_on >= bill.tracked_from and app.is_scheduled(bill, o.scheduled_on)
    and o.due_on <> app.due_on(o.scheduled_on, bill.weekend_rule);
  delete from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open' and o.due_on >= first_day
    and not (is_live and app.is_scheduled(bill, o.scheduled_on))
    and not exists (select from app.payments as p where p.occurrence_id = o.id);
  -- A payment that was taken back still names its date, which therefore cannot go.
  update app.expense_occurrences as o set status = 'skipped', closed_at = app.instant()
  where o.expense_id = bill.id and o.status = 'open' and o.due_on >= first_day
    and not (is_live and app.is_scheduled(bill, o.scheduled_on)) and app.paid_minor(o.id) = 0;
end
$$;
comment on function app.replan_bill is
  'Takes away the open dates from a day on that a bill does not have: of an active one those off its schedule, of a paused or cancelled one all. Partly paid ones stay.';

create function app.reprice_bill(bill app.expenses, from_day date, made_since timestamptz default null) returns void
language plpgsql volatile set search_path = '' as $$
begin
  with priced as (
    select o.id, paid.minor as paid_minor,
      case
        when o.amount_source <> 'rule' and o.currency = bill.currency then greatest(o.expected_minor, nullif(paid.minor, 0))
        when app.rule_amount(bill) is null then case when paid.minor > 0 then o.expected_minor end
        else greatest(app.rule_amount(bill), paid.minor)
      end as expected_minor
    from app.expense_occurrences as o
    cross join lateral (select app.paid_minor(o.id) as minor) as paid
    where o.expense_id = bill.id and o.status = 'open' and o.due_on >= from_day and (made_since is null or o.created_at >= made_since)
  )
  update app.expense_occurrences as o
  set expected_minor = p.expected_minor, currency = bill.currency,
    amount_source = case when o.currency = bill.currency then o.amount_source else 'rule' end,
    -- Nothing remains of a date whose amount fell to what was paid of it.
    status = case when p.expected_minor = p.paid_minor then 'paid' else 'open' end,
    closed_at = case when p.expected_minor = p.paid_minor then app.instant() end
  from priced as p
  where o.id = p.id and ((o.expected_minor, o.currency) is distinct from (p.expected_minor, bill.currency) or p.expected_minor = p.paid_minor);
end
$$;
comment on function app.reprice_bill is
  'Gives the open dates of a bill that are due from a day on (and made since an instant) its amount and currency; an amount set for one date or fetched from a provider stands.';

create function app.restore_bill(bill_id text, changed_at timestamptz, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
begin
  select * into bill from app.expenses as e where e.id = restore_bill.bill_id and e.kind = 'bill' and e.deleted_at is null;
  if found then
    perform app.replan_bill(bill, case when bill.status in ('active', 'ended') then app.due_on(bill.tracked_from, bill.weekend_rule) else today end);
    -- Dates that came up after the change have its price; what had another before was put back row by row.
    perform app.reprice_bill(bill, '-infinity', changed_at);
  end if;
end
$$;
comment on function app.restore_bill is 'Makes the dates of a bill follow from it again, after a change of it was taken back.';

revoke all on function
  app.change_schedule, app.same_schedule, app.watch_from, app.is_scheduled, app.replan_bill, app.reprice_bill, app.restore_bill from public, anon;
grant execute on function
  app.change_schedule, app.same_schedule, app.watch_from, app.is_scheduled, app.replan_bill, app.reprice_bill, app.restore_bill
  to authenticated, service_role;
