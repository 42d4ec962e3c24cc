-- review_bills: trials that end, and contracts to cancel in time.

create or replace function app.find_trials(context app.context, horizon_days int)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select b.trial_ends_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'trial_ends_on', b.trial_ends_on, 'days_left', b.trial_ends_on - (context).today,
    'amount', app.format_minor(b.amount_minor, c.exponent), 'currency', b.currency,
    'schedule', app.describe_schedule(b)
  )
  from app.expenses as b
  join app.currencies as c on c.code = b.currency
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null
    and b.trial_ends_on between (context).today and (context).today + horizon_days;
end;
comment on function app.find_trials is 'Returns bills whose trial ends within this many days.';

create or replace function app.find_cancel_dates(context app.context, horizon_days int)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select coalesce(missed.day, e.cancel_by, r.renews_on), jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'cancel_by', e.cancel_by,
    'renews_on', case when e.leaves_on is null then r.renews_on
      when app.term_months(b) <> 0 then e.leaves_on end,
    'ends_on', case when b.contract ? 'notice' or coalesce(app.term_months(b), 0) = 0 then e.leaves_on - 1 end,
    'days_left', e.cancel_by - (context).today, 'form', b.contract -> 'form',
    'drafted_on', b.contract -> 'drafted_on',
    'missed_on', missed.day, 'leave_on', case when missed.day is not null then b.contract -> 'leave_on' end,
    'missing', case when e.leaves_on is null then to_jsonb(m.missing) end
  )
  from app.expenses as b
  cross join lateral app.next_exit(b, (context).today) as e
  cross join lateral (
    select case when e.leaves_on is null then app.next_renewal(b, (context).today) end as renews_on
  ) as r
  cross join lateral (select app.missing_of_contract(b, (context).today) as missing) as m
  left join lateral (
    -- The letter had to arrive by this day.
    select app.cancel_by(b, (b.contract ->> 'leave_on')::date + 1) as day
    where b.contract ? 'drafted_on' and app.is_running(b)
  ) as missed on missed.day < (context).today
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null and (b.renews_on is not null or b.contract is not null)
    and (
      missed.day is not null
      or e.cancel_by <= (context).today + case when e.ends_term then horizon_days else least(horizon_days, 3) end
        -- A contract that can end on any day has no last day to cancel.
        and (e.ends_term or split_part(coalesce(b.contract ->> 'notice', ''), ' to ', 2) <> 'day')
      or e.leaves_on is null and m.missing <> '{}' and case when r.renews_on is not null
        then r.renews_on <= (context).today + horizon_days
        else b.contract ?| array['started_on', 'term_months', 'renewal_months', 'notice'] end
    );
end;
comment on function app.find_cancel_dates is
  'Returns contracts whose last day to cancel is within this many days, contracts whose last day is unknown, and '
  'drafted letters whose last day passed without a confirmation (missed_on). missing lists the unrecorded facts '
  '(app.missing_of_contract). Contracts that end a month or two after any notice are listed in the last three days '
  'only.';
