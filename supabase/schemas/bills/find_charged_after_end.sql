-- review_bills: charges after the end of a bill, linked to the bill or resembling its charges.

create or replace function app.ended_on(bill app.expenses, timezone text) returns date
language sql stable
  return coalesce(app.contract_end(bill), case (bill).status
    when 'cancelled' then least((bill).ends_on, ((bill).updated_at at time zone timezone)::date)
    when 'ended' then coalesce((bill).ends_on, ((bill).updated_at at time zone timezone)::date)
    else (bill).ends_on
  end);
comment on function app.ended_on is
  'Returns the last day of a bill, or null if it has not ended: the end of a contract with a confirmed cancellation, '
  'otherwise the recorded end or the day of the bill''s last change.';

create or replace function app.list_later_charges(context app.context, since date)
  returns table (bill_id text, ended_on date, payment_id text, paid_on date, amount_minor bigint, currency text)
language plpgsql stable set search_path = '' as $$
declare
  -- The last charge may be booked some days late. A recorded end is exact.
  days constant int := 10;
  -- Limits the run time for large organizations, at the cost of their oldest days.
  most_rows constant int := 50000;
  first_day date;
begin
  select greatest(since, min(app.ended_on(b, context.timezone) + 1)) into first_day
  from app.expenses as b
  where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
    and b.frequency <> 'once' and app.ended_on(b, context.timezone) < context.today;
  if first_day is null then
    return;
  end if;
  return query
    with bills as materialized (
      select b.id, b.status, b.name, b.payee, b.amount_mode, b.currency, u.minor,
        case when e.ended_on < context.today then e.ended_on end as ended_on,
        case when b.ends_on is null and not coalesce(b.contract ? 'confirmed_on', false) then days else 0 end as late
      from app.expenses as b
      cross join lateral app.usual_amount(b.id, b.amount_minor, b.currency) as u
      cross join lateral (select app.ended_on(b, context.timezone) as ended_on) as e
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and b.frequency <> 'once'
    ), paid as materialized (
      select p.id, p.expense_id, p.occurrence_id, p.paid_on, p.amount_minor, p.currency, e.name, e.payee
      from (
        select p.* from app.payments as p
        where p.organization_id = context.organization_id and p.deleted_at is null and p.direction = 'out'
          and p.split_id is null and p.source <> 'autopay' and p.paid_on between first_day and context.today
        order by p.paid_on desc, p.recorded_seq desc
        limit most_rows
      ) as p
      cross join lateral (select x.name, x.payee from app.expenses as x where x.id = p.expense_id offset 0) as e
    ), paid_texts as materialized (
      select p.id, t.text
      from paid as p
      cross join lateral (values (p.name), (p.payee)) as t (text)
      where t.text is not null and not starts_with(p.expense_id, 'bill_')
    ), alike as materialized (
      select m.bill_id as id, m.text
      from app.match_bill_texts(
        array(select b.id from bills as b) || array(select b.id from bills as b),
        array(select b.name from bills as b) || array(select b.payee from bills as b),
        array(select t.text from paid_texts as t)
      ) as m
    ), named as materialized (
      select a.id as bill_id, t.id as payment_id
      from alike as a
      join paid_texts as t on t.text = a.text
    ), matches as materialized (
      select distinct b.id as bill_id, b.status, b.ended_on, b.late, p.id, p.paid_on, p.amount_minor, p.currency
      from named as n
      join bills as b on b.id = n.bill_id
      join paid as p on p.id = n.payment_id and p.currency = b.currency
      where b.amount_mode <> 'fixed' or app.same_amount(p.amount_minor, b.minor, 30)
    )
    select b.id, b.ended_on, p.id, p.paid_on, p.amount_minor, p.currency
    from bills as b
    join paid as p on p.expense_id = b.id
    where p.paid_on > b.ended_on and not exists (
      select from app.expense_occurrences as o where o.id = p.occurrence_id and o.due_on <= b.ended_on
    )
    union
    select m.bill_id, m.ended_on, m.id, m.paid_on, m.amount_minor, m.currency
    from matches as m
    -- Another bill that has not ended covers the charge.
    where m.paid_on > m.ended_on + m.late and m.id not in (
      select o.id from matches as o where o.status in ('active', 'paused') and o.ended_on is null
    );
end
$$;
comment on function app.list_later_charges is
  'Returns the charges since a day that follow the end of a bill: its payments for later dates, and expenses with its '
  'name and a similar amount. Leaves out charges that an ongoing bill covers.';

create or replace function app.find_charged_after_end(context app.context, since date)
  returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' as $$
begin
  return query
    select c.last_on, jsonb_build_object(
      'bill_id', b.id, 'name', b.name, 'ended_on', c.ended_on, 'confirmed_on', b.contract -> 'confirmed_on',
      'charges', c.charges, 'last_on', c.last_on, 'amount', app.format_amount(c.minor, c.currency),
      'currency', c.currency
    )
    from (
      select l.bill_id, l.ended_on, count(*) as charges, max(l.paid_on) as last_on,
        (array_agg(l.amount_minor order by l.paid_on desc, l.payment_id desc))[1] as minor,
        (array_agg(l.currency order by l.paid_on desc, l.payment_id desc))[1] as currency
      from app.list_later_charges(context, since) as l
      group by l.bill_id, l.ended_on
    ) as c
    join app.expenses as b on b.id = c.bill_id;
end
$$;
comment on function app.find_charged_after_end is
  'Returns ended bills whose payee still charges; see app.list_later_charges.';
