create or replace function app.describe_notices(recipient identity.profiles, member identity.memberships,
  organization identity.organizations, noticed jobs.notice_log[], at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  shows_amounts constant boolean := not recipient.hide_amounts_in_email;
  -- All are counted, but a mail lists only the first.
  max_listed constant int := 50;
begin
  return (
    with notices as (
      -- Check again, because it may have been changed since the digest was created.
      select l.id as log_id, l.kind, l.about_on, e as bill, c.exponent,
        row_number() over (order by l.about_on, e.name, e.id, l.kind) as place
      from unnest(noticed) as l
      join app.expenses as e on e.id = l.expense_id and e.organization_id = organization.id and e.status = 'active'
        and e.deleted_at is null and e.reminder_enabled and app.concerns(e, member)
      join app.currencies as c on c.code = e.currency
      where exists (
        select from app.notice_dates(e, today, -1) as n where n.kind = l.kind and n.about_on = l.about_on
      )
    )
    select jsonb_build_object(
      'notices', jsonb_agg(jsonb_build_object(
        'kind', n.kind, 'bill_id', (n.bill).id, 'name', (n.bill).name, 'on', n.about_on, 'days', n.about_on - today,
        'assignee', case when (n.bill).assignee_id <> recipient.user_id then app.assignee_name(n.bill) end,
        'currency', (n.bill).currency, 'frequency', (n.bill).frequency, 'every', (n.bill).every,
        'term_years', app.term_years(n.bill), 'term_months', app.term_months(n.bill),
        'is_contract', app.first_renewal(n.bill) is not null,
        'renews_on', case when n.kind = 'cancel_by' then exit.leaves_on end,
        'ends_on', case when n.kind = 'cancel_by'
          and ((n.bill).contract ? 'notice' or coalesce(app.term_months(n.bill), 0) = 0) then exit.leaves_on - 1 end,
        'form', case when n.kind = 'cancel_by' then (n.bill).contract -> 'form' end,
        'amount', case when shows_amounts then app.format_minor(a.minor, n.exponent) end,
        'earlier_amount', case when shows_amounts then app.format_minor(a.earlier_minor, n.exponent) end,
        'is_assumed', case when n.kind = 'trial_charged'
          then app.is_assumed(app.first_charge(n.bill, n.about_on)) end
      ) order by n.place) filter (where n.place <= max_listed),
      'unlisted', count(*) filter (where n.place > max_listed),
      'tells_of', jsonb_agg(n.log_id)
    )
    from notices as n
    cross join lateral app.next_exit(n.bill, n.about_on) as exit
    cross join lateral app.usual_amount((n.bill).id, (n.bill).amount_minor, (n.bill).currency) as usual
    cross join lateral (
      select o.minor, o.earlier_minor
      from (
        select c.expected_minor as minor, (
          select o.expected_minor from app.expense_occurrences as o
          where o.organization_id = c.organization_id and o.expense_id = c.expense_id
            and o.scheduled_on < c.scheduled_on and o.status <> 'skipped' and o.amount_source = 'rule'
          order by o.scheduled_on desc
          limit 1
        ) as earlier_minor
        from app.expense_occurrences as c
        where n.kind = 'price_rise' and c.organization_id = organization.id and c.expense_id = (n.bill).id
          and c.due_on = n.about_on
        union all
        select p.amount_minor, null from app.first_charge(n.bill, n.about_on) as p
        where n.kind = 'trial_charged' and p.currency = (n.bill).currency
        union all
        -- The cost of missing the deadline is the whole term.
        select case when n.kind in ('cancel_by', 'renewal') and ((n.bill).contract ? 'renewal_months'
            or (n.bill).frequency not in ('once', 'yearly'))
          -- Without another term, there is no amount to report.
          then round(usual.minor * nullif(app.term_months(n.bill), 0)
            * app.times_a_month((n.bill).frequency, (n.bill).every, cardinality((n.bill).month_days)))
          else usual.minor end, null
        where n.kind not in ('price_rise', 'trial_charged')
      ) as o
      limit 1
    ) as a
    having count(*) > 0
  );
end
$$;
comment on function app.describe_notices is
  'Returns the notices about bills of one organization, besides due dates: {notices, unlisted, tells_of: their log '
  'rows}. A contract''s amount is that of its next term. Null without notices.';
alter function app.describe_notices set role = 'authenticated';
