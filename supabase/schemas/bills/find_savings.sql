-- review_bills: trials that became charges, and charges that stopped after a confirmed cancellation.

create or replace function app.first_charge(bill app.expenses, since date) returns app.payments
language plpgsql stable set search_path = '' as $$
declare
  payment app.payments;
begin
  select p.* into payment from app.payments as p
  where p.organization_id = bill.organization_id and p.expense_id = bill.id and p.deleted_at is null
    and p.direction = 'out' and p.paid_on >= since
  order by p.paid_on, p.recorded_seq
  limit 1;
  return payment;
end
$$;
comment on function app.first_charge is 'Returns the first payment of a bill since a day.';

create or replace function app.is_assumed(payment app.payments) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return payment.source = 'autopay'
    and not exists (select from app.statement_links as k where k.payment_id = payment.id)
    and not exists (select from app.payments as p where p.merged_into = payment.id);
end
$$;
comment on function app.is_assumed is
  'Whether a payment was recorded automatically, and neither a statement nor a person''s record shows it.';

create or replace function app.find_charged_trials(context app.context) returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' as $$
declare
  days constant int := 45;
begin
  return query
    select p.paid_on, jsonb_build_object(
      'bill_id', b.id, 'name', b.name, 'trial_ends_on', b.trial_ends_on, 'charged_on', p.paid_on,
      'amount', app.format_amount(p.amount_minor, p.currency), 'currency', p.currency,
      'is_assumed', case when app.is_assumed(p) then true end,
      'schedule', app.describe_schedule(b)
    )
    from app.expenses as b
    cross join lateral app.first_charge(b, b.trial_ends_on) as p
    where b.organization_id = context.organization_id and b.kind = 'bill' and b.status = 'active'
      and b.deleted_at is null and b.trial_ends_on between context.today - 2 * days and context.today
      and p.paid_on between context.today - days and context.today;
end
$$;
comment on function app.find_charged_trials is
  'Returns active bills whose trial became a charge within 45 days; is_assumed: paid automatically, without a '
  'statement.';

create or replace function app.contract_end(bill app.expenses) returns date
language sql immutable
  return case when (bill).contract ? 'confirmed_on' then coalesce(
    (bill).ends_on, case when (bill).status in ('cancelled', 'ended')
      then greatest(((bill).contract ->> 'leave_on')::date, ((bill).contract ->> 'confirmed_on')::date) end
  ) end;
comment on function app.contract_end is
  'Returns the last day of a contract with a confirmed cancellation: as recorded; otherwise, for an ended bill, the '
  'last day that the letter requested or the day of the confirmation, whichever is later.';

create or replace function app.find_savings(context app.context, since date)
  returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' as $$
declare
  -- A charge may be booked some days early or late.
  days constant int := 10;
  year_days constant int := 380;
  most_dates constant int := 400;
begin
  return query
    with ended as (
      select b as bill, b.id, b.name, b.currency, b.amount_mode, app.contract_end(b) as ends_on, u.minor
      from app.expenses as b
      cross join lateral app.usual_amount(b.id, b.amount_minor, b.currency) as u
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and app.contract_end(b) between since and context.today - 1
    ), paid as (
      -- The account of the contract's latest payment in a statement, otherwise of the latest similar line.
      select e.*, coalesce(l.account_id, like_it.account_id) as account_id
      from ended as e
      left join lateral (
        select l.account_id
        from app.payments as p
        join app.statement_links as k on k.payment_id = p.id
        join app.statement_lines as l on l.id = k.line_id
        where p.expense_id = e.id and p.deleted_at is null and identity.sees_everything()
        order by p.paid_on desc, p.recorded_seq desc
        limit 1
      ) as l on true
      left join lateral (
        select n.account_id
        from app.statement_lines as n
        where l.account_id is null and identity.sees_everything() and n.organization_id = context.organization_id
          and n.booked_on between e.ends_on - year_days and context.today and n.direction = 'out'
          and n.currency = e.currency and app.same_amount(n.amount_minor, e.minor, 30)
          and app.names_agree(n.text, null, e.name, (e.bill).payee, false)
        order by n.booked_on desc, n.id
        limit 1
      ) as like_it on true
    ), lines as (
      select e.id, n.id as line_id, n.booked_on, n.direction, n.amount_minor, n.currency,
        n.direction = 'out' and n.booked_on > e.ends_on
          and app.names_resemble(n.text, null, e.name, (e.bill).payee)
          -- A payment for another bill, or for a date due by the end, isn't a new charge.
          and not exists (
            select from app.statement_links as k
            join app.payments as p on p.id = k.payment_id and p.deleted_at is null
            left join app.expense_occurrences as o on o.id = p.occurrence_id
            where k.line_id = n.id and (starts_with(p.expense_id, 'bill_') and p.expense_id <> e.id
              or o.expense_id = e.id and o.due_on <= e.ends_on)
          ) as resembles,
        n.amount_minor = e.minor and n.currency = e.currency as costs_the_same
      from paid as e
      join app.statement_lines as n on n.account_id = e.account_id and n.booked_on >= e.ends_on - days
    ), later_payments as (
      select l.bill_id as id, l.paid_on from app.list_later_charges(context, since) as l
    ), booked as (
      -- Group lines by day, so that due dates join them by hash instead of scanning every line.
      select x.id, x.day, bool_or(x.is_line) as has_line, bool_or(x.is_charge) as is_charged
      from (
        select n.id, n.booked_on as day, true as is_line,
          n.booked_on > e.ends_on and n.direction = 'out' and (n.costs_the_same or n.resembles) as is_charge
        from lines as n
        join ended as e on e.id = n.id
        union all
        select p.id, p.paid_on, false, true from later_payments as p
      ) as x
      group by x.id, x.day
    ), dates as (
      select e.id, d.due_on,
        bool_or(b.has_line and b.day <= d.due_on) and bool_or(b.has_line and b.day >= d.due_on)
          and l.last_on >= d.due_on + days as is_covered,
        bool_or(b.is_charged) as is_charged
      from paid as e
      cross join lateral (
        -- Compute the dates as if the contract had continued.
        select jsonb_populate_record(e.bill, '{"ends_on": null, "ends_after": null}') as bill
      ) as endless
      cross join lateral app.due_index(endless.bill, e.ends_on + 1) as first
      cross join lateral app.scheduled_dates(endless.bill, first,
        least(app.due_index(endless.bill, context.today) - 1, first + most_dates)) as d
      cross join generate_series(-days, days) as away
      left join booked as b on b.id = e.id and b.day = d.due_on + away
      left join (select n.id, max(n.booked_on) as last_on from lines as n group by n.id) as l on l.id = e.id
      where d.due_on > e.ends_on and (e.bill).frequency <> 'once'
      group by e.id, d.due_on, l.last_on
    ), saved as (
      select d.id, count(*) filter (where d.is_covered and not coalesce(d.is_charged, false)) as proven,
        count(*) filter (where not coalesce(d.is_covered or d.is_charged, false)) as unproven,
        min(d.due_on) filter (where d.is_covered and not coalesce(d.is_charged, false)) as since_on
      from dates as d
      group by d.id
    )
    select e.ends_on, jsonb_build_object(
      'bill_id', e.id, 'name', e.name, 'ended_on', e.ends_on, 'payments', s.proven, 'unproven', nullif(s.unproven, 0),
      'since', s.since_on, 'amount', app.format_amount(e.minor, e.currency),
      'saved', case when s.proven > 0 then app.format_amount(s.proven * e.minor, e.currency) end,
      'currency', e.currency, 'is_estimate', case when e.amount_mode <> 'fixed' then true end,
      'account', (select a.name from app.accounts as a where a.id = e.account_id),
      'statements_to', (select max(n.booked_on) from lines as n where n.id = e.id)
    )
    from paid as e
    join saved as s on s.id = e.id
    where e.minor is not null and s.proven + s.unproven > 0;
end
$$;
comment on function app.find_savings is
  'Returns contracts whose confirmed end has passed, with the due dates since then without a charge in the statements '
  'of the paying account. unproven is the number of dates that no statement covers.';
