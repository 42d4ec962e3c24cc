-- Rolls a bill forward to today. Every tool that changes a bill does this first; a job does it daily. tracked_from is
-- the scheduled date of the first occurrence due on or after the day the bill was added. An earlier first due date only
-- anchors the schedule, because earlier dates were settled elsewhere. A one-time bill is always tracked.

create or replace function app.materialize_occurrences(bill app.expenses, first int, last int) returns void
language plpgsql volatile set search_path = '' as $$
declare
  change constant text := current_setting('app.change_id', true);
begin
  -- These rows aren't part of any user's change: they follow from the schedule and the calendar, and undoing a payment
  -- must not remove a due date.
  perform set_config('app.change_id', '', true);
  insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
  select bill.organization_id, bill.id, s.scheduled_on, s.due_on, app.rule_amount(bill), bill.currency
  from app.scheduled_dates(bill, first, last) as s
  where not exists (select from app.expense_occurrences as o
    where o.expense_id = bill.id and o.scheduled_on = s.scheduled_on);
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.materialize_occurrences is
  'Creates the missing rows among these numbers of a bill''s schedule.';

create or replace function app.pay_occurrence(
  occurrence app.expense_occurrences, amount_minor bigint, paid_on date, source text, paid_by uuid default null,
  note text default null, is_estimate boolean default false, recorded_by uuid default null,
  spending app.payments default null
) returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  payment app.payments;
begin
  insert into app.payments as p (
    organization_id, expense_id, occurrence_id, amount_minor, currency, paid_on, note, source, paid_by, recorded_by,
    sharing, is_estimate
  ) select
    occurrence.organization_id, occurrence.expense_id, occurrence.id, pay_occurrence.amount_minor, occurrence.currency,
    pay_occurrence.paid_on, pay_occurrence.note, pay_occurrence.source,
    who.payer, pay_occurrence.recorded_by,
    case when who.payer is not null then app.share_among_members(e.sharing, e.organization_id) end,
    pay_occurrence.is_estimate
  from app.expenses as e
  cross join lateral (
    select coalesce(
      pay_occurrence.paid_by, spending.paid_by, app.if_member(e.payer_id, e.organization_id), pay_occurrence.recorded_by
    ) as payer
    offset 0
  ) as who
  where e.id = occurrence.expense_id
  returning p.* into payment;
  if spending.id is not null then
    perform app.take_over(payment, spending);
    select * into payment from app.payments as p where p.id = payment.id;
  end if;
  return payment;
end
$$;
comment on function app.pay_occurrence is
  'Records a payment for an occurrence and merges a matching one-off expense into it. The payer is the named person, '
  'otherwise the expense''s payer, the bill''s payer or the author. The caller decides whether the occurrence is '
  'closed.';

create or replace function app.paid_minor(occurrence_id text) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (select o.paid_minor from app.expense_occurrences as o where o.id = paid_minor.occurrence_id);
end
$$;
comment on function app.paid_minor is 'Returns the sum of an occurrence''s payments less refunds.';

create or replace function app.record_autopay(bill app.expenses, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  outer_change constant text := current_setting('app.change_id', true);
  change text;
  occurrence app.expense_occurrences;
  is_estimate boolean;
  expected bigint;
  remaining bigint;
  spending app.payments;
  apart app.payments;
begin
  for occurrence in
    select * from app.expense_occurrences as o
    where o.expense_id = bill.id and o.status = 'open' and app.is_paid_by_autopay(bill, o.due_on, today)
      -- A date in a closed month waits for a person to pay it.
      and not app.is_closed(o.organization_id, o.due_on)
    order by o.scheduled_on
  loop
    expected := coalesce(
      occurrence.expected_minor,
      (select u.minor from app.usual_amount(bill.id, bill.amount_minor, bill.currency) as u)
    );
    continue when expected is null;
    remaining := expected - occurrence.paid_minor;
    spending := case when remaining > 0 then app.find_spending(bill, occurrence, null, array[occurrence.due_on]) end;
    continue when app.is_closed(occurrence.organization_id, spending.paid_on);
    apart := case when remaining > 0 and spending.id is null
      then app.find_spending(bill, occurrence, null, array[occurrence.due_on], false) end;
    if spending.currency = occurrence.currency then
      remaining := spending.amount_minor;
      expected := occurrence.paid_minor + remaining;
    end if;
    is_estimate := spending.id is null and bill.amount_mode <> 'fixed'
      and (occurrence.expected_minor is null or occurrence.amount_source = 'rule');
    -- Open a separate change, so that people can undo it without the change that happened to roll the bill.
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    select o.id, coalesce(auth.uid(), o.owner_id), 'autopay', jsonb_strip_nulls(jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on,
      'amount', app.format_amount(expected, occurrence.currency), 'currency', occurrence.currency,
      'is_estimate', nullif(is_estimate, false), 'linked_on', spending.paid_on,
      'apart_on', apart.paid_on
    ))
    from identity.organizations as o
    where o.id = bill.organization_id
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    if remaining > 0 then
      perform app.pay_occurrence(
        occurrence, remaining, coalesce(spending.paid_on, occurrence.due_on), 'autopay', is_estimate => is_estimate,
        spending => spending
      );
    end if;
    update app.expense_occurrences as o set status = 'paid', closed_at = app.instant(), expected_minor = expected
      where o.id = occurrence.id;
  end loop;
  perform set_config('app.change_id', coalesce(outer_change, ''), true);
end
$$;
comment on function app.record_autopay is
  'Records the open occurrences that count as paid (app.is_paid_by_autopay) as paid on their due dates, with their '
  'known or latest amount. Each becomes a change that can be undone. Occurrences without any amount wait.';

create or replace function app.pay_awaited(bill app.expenses, occurrence app.expense_occurrences, today date)
  returns void
language plpgsql volatile set search_path = '' as $$
declare
  spending app.payments;
begin
  -- After the undo of an automatic payment, a person must pay the date.
  if bill.autopay and occurrence.status = 'open' and occurrence.expected_minor is null and occurrence.due_on < today
    and not app.is_closed(occurrence.organization_id, occurrence.due_on) and not exists (
      select from app.payments as p where p.occurrence_id = occurrence.id and p.source = 'autopay'
    ) then
    select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;
    if occurrence.status = 'open' and occurrence.expected_minor > occurrence.paid_minor then
      spending := app.find_spending(bill, occurrence, null, array[occurrence.due_on]);
      if app.is_closed(occurrence.organization_id, spending.paid_on) then
        return;
      end if;
      perform app.pay_occurrence(
        occurrence, occurrence.expected_minor - occurrence.paid_minor, coalesce(spending.paid_on, occurrence.due_on),
        'autopay', spending => spending
      );
      update app.expense_occurrences as o set status = 'paid', closed_at = app.instant() where o.id = occurrence.id;
    end if;
  end if;
end
$$;
comment on function app.pay_awaited is
  'Records the automatic payment of a passed date that waited for its amount and now has one. Takes the previous '
  'state of the date as an argument.';

create or replace function app.refresh_bill(bill_id text, today date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  change constant text := current_setting('app.change_id', true);
  bill app.expenses;
  current_index int;
  upcoming_due date;
  is_over boolean;
begin
  -- An approved proposal runs as of its own day, but bills roll to the current day.
  if nullif(current_setting('app.proposal_id', true), '') is not null then
    today := greatest(today, (
      select (app.instant() at time zone p.timezone)::date from identity.profiles as p where p.user_id = auth.uid()
    ));
  end if;
  select * into bill from app.expenses as e
  where e.id = refresh_bill.bill_id and e.kind = 'bill' and e.status in ('active', 'ended') and e.deleted_at is null
  for no key update;
  if not found then
    return;
  end if;
  select i into current_index from app.open_indexes(bill, today, 1) as i;
  -- Start at the first tracked date, not at the last roll, to recreate missing rows.
  perform app.materialize_occurrences(bill, app.schedule_index(bill, bill.tracked_from),
    coalesce(current_index, app.last_index(bill)));
  -- A reopened date that was settled in an earlier currency of the bill is due in the bill's current currency.
  update app.expense_occurrences as o
  set currency = bill.currency, expected_minor = app.rule_amount(bill), amount_source = 'rule'
  where o.expense_id = bill.id and o.status = 'open' and o.currency <> bill.currency and o.paid_minor = 0;
  perform app.record_autopay(bill, today);

  -- A one-time bill does not roll: it is due on its day until it is paid. A reopened automatic one is overdue until
  -- somebody pays it.
  select
    min(o.due_on) filter (
      where o.due_on >= today or bill.frequency = 'once' and not (bill.autopay and bill.amount_minor is not null)
    ),
    current_index is null and count(*) = 0
  into upcoming_due, is_over
  from app.expense_occurrences as o
  where o.expense_id = bill.id and o.status = 'open';
  perform set_config('app.change_id', '', true);
  update app.expenses as e set next_due = upcoming_due, status = case when is_over then 'ended' else 'active' end
  where e.id = bill.id
    and (e.next_due, e.status) is distinct from (upcoming_due, case when is_over then 'ended' else 'active' end);
  perform set_config('app.change_id', coalesce(change, ''), true);
end
$$;
comment on function app.refresh_bill is
  'Brings a bill up to date as of a day: its rows, automatic payments and next_due. Ends it when no scheduled date is '
  'left and none is open. Overdue dates keep a bill active. Locks the bill; leaves paused and cancelled ones alone.';
