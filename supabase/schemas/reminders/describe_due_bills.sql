create or replace function app.describe_due_bills(
  recipient identity.profiles, member identity.memberships, organization identity.organizations,
  reminded jobs.reminder_log[], noticed jobs.notice_log[],
  at timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  base_exponent constant int := (select c.exponent from app.currencies as c where c.code = organization.base_currency);
  base_per_euro constant numeric := (app.find_rate(organization.base_currency, today)).per_euro;
  -- Limits, one for overdue and one for upcoming bills.
  max_listed constant int := 100;
begin
  return (
    with open_dates as (
      -- Check again, because it may have been paid, snoozed or changed since the digest was created.
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source,
        c.currency, l.log_id
      from (
        -- Lists the date once, though several reminders may be due.
        select t.expense_id, t.due_on, max(t.log_id) as log_id
        from (
          select l.expense_id, l.due_on, l.id as log_id from unnest(reminded) as l
          union all
          select l.expense_id, l.about_on, null from unnest(noticed) as l
          where l.kind in ('due', 'reminder', 'snoozed')
        ) as t
        group by t.expense_id, t.due_on
      ) as l
      join app.expenses as e on e.id = l.expense_id and e.deleted_at is null
        and e.reminder_enabled and app.concerns(e, member)
      join app.expense_occurrences as c on c.organization_id = organization.id and c.expense_id = e.id
        and c.due_on = l.due_on and c.status = 'open'
      where l.due_on >= today and (c.snoozed_until is null or c.snoozed_until <= today)
      union all
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source,
        c.currency, l.id
      from app.expense_occurrences as c
      join app.expenses as e on e.id = c.expense_id and e.deleted_at is null
        and e.reminder_enabled and app.concerns(e, member)
      left join unnest(reminded) as l on l.expense_id = c.expense_id and l.due_on = c.due_on
        and l.snoozed_until = c.snoozed_until
      where c.organization_id = organization.id and c.status = 'open' and c.due_on < today
        and (c.snoozed_until is null or c.snoozed_until <= today)
          and app.is_paid_by_autopay(e, c.due_on, today) is not true
            and not (app.awaits_amount(e) and c.expected_minor is null)
    ), lines as (
      -- A bill has one entry for its upcoming dates and one for its overdue dates. A partly paid date in an earlier
      -- currency has its own entry.
      select d.expense_id as id, d.due_on < today as is_overdue, d.currency, min(d.due_on) as due_on,
        min(d.scheduled_on) as scheduled_on, count(*) as dates,
        case when not recipient.hide_amounts_in_email and count(*) = count(d.expected_minor)
          then sum(d.expected_minor - d.paid_minor) end as minor,
        bool_and(d.amount_source = 'rule') as is_by_rule, count(*) > count(d.expected_minor) as needs_amount,
        case when count(*) = 1 then min(d.id) end as occurrence_id
      from open_dates as d
      group by d.expense_id, d.due_on < today, d.currency
    ), placed as (
      select l.*, e.name, e.autopay, e.amount_mode, e.frequency = 'daily' and e.every = 1 as is_daily,
        case when e.assignee_id <> recipient.user_id then app.assignee_name(e) end as assignee,
        row_number() over (partition by l.is_overdue order by l.due_on, e.name, l.id) as place
      from lines as l
      join app.expenses as e on e.id = l.id
    ), rates as (
      select c.code, c.exponent, r.per_euro, r.rate_on
      from app.currencies as c
      left join lateral app.rates_as_of(c.code, today) as r on c.code <> organization.base_currency
      where c.code in (select p.currency from placed as p)
    ), valued as (
      select p.*, r.exponent, r.rate_on,
        case when p.currency = organization.base_currency then p.minor
          else app.convert_minor(p.minor, r.per_euro, r.exponent, base_per_euro, base_exponent) end as base_minor
      from placed as p
      join rates as r on r.code = p.currency
    ), listed as (
      select v.*, earlier.minor as earlier_minor, said.*
      from (select v.* from valued as v where v.place <= max_listed offset 0) as v
      left join lateral (
        select o.expected_minor as minor
        from app.expense_occurrences as o
        where o.organization_id = organization.id and o.expense_id = v.id and o.scheduled_on < v.scheduled_on
          and o.status = 'paid' and o.currency = v.currency
          and o.expected_minor is not null and not recipient.hide_amounts_in_email
        order by o.scheduled_on desc
        limit 1
      ) as earlier on true
      -- Look up only for a single date, because a statement covers one date.
      left join lateral app.describe_statement(
        case when v.amount_mode = 'variable' and v.dates = 1 then v.occurrence_id end, recipient) as said on true
    )
    select jsonb_build_object(
      'bills', (
        select jsonb_agg(jsonb_build_object(
          'bill_id', v.id, 'name', v.name, 'due_on', v.due_on, 'days', v.due_on - today, 'dates', v.dates, 'autopay',
          v.autopay, 'is_daily', v.is_daily, 'assignee', v.assignee,
          'currency', v.currency, 'amount', app.format_minor(v.minor, v.exponent), 'needs_amount', v.needs_amount,
          'is_estimate',
          v.amount_mode = 'estimated' and v.is_by_rule,
          'fetched', v.fetched, 'not_taken', v.not_taken,
          'earlier_amount', app.format_minor(v.earlier_minor, v.exponent),
          'base_amount',
          case when v.currency <> organization.base_currency then app.format_minor(v.base_minor, base_exponent) end
        ) order by v.due_on, v.name, v.id)
        from listed as v
      ),
      'unlisted', jsonb_build_object(
        'overdue', count(*) filter (where v.is_overdue and v.place > max_listed),
        'due', count(*) filter (where not v.is_overdue and v.place > max_listed),
        'due_until', max(v.due_on) filter (where not v.is_overdue and v.place > max_listed)
      ),
      'total', case when count(*) = count(v.base_minor) then app.format_minor(sum(v.base_minor), base_exponent) end,
      'rates_on', min(v.rate_on),
      'tells_of', (
        select coalesce(jsonb_agg(l.id), '[]') from unnest(noticed) as l
        where exists (select from open_dates as d where d.expense_id = l.expense_id and d.due_on = l.about_on)
          and l.kind in ('overdue', 'due', 'reminder', 'snoozed')
      ),
      'reminds_of', (select coalesce(jsonb_agg(d.log_id), '[]') from open_dates as d where d.log_id is not null)
    )
    from valued as v
    having count(*) > 0
  );
end
$$;
comment on function app.describe_due_bills is
  'Returns the bills of one organization in a member''s digest: reminders and overdue bills. It lists a limited number '
  'by name; counts and total are complete. reminds_of and tells_of: their log rows. Null without bills.';

-- Runs as the recipient, not as the service, like app.run_tool.
alter function app.describe_reconnects set role = 'authenticated';
alter function app.describe_due_bills set role = 'authenticated';

create or replace function jobs.act_as(person jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- auth.uid() reads one of these two settings, depending on the platform's version.
  perform set_config('request.jwt.claims', person::text, true),
    set_config('request.jwt.claim.sub', coalesce(person ->> 'sub', ''), true);
end
$$;
comment on function jobs.act_as is
  'Sets the person for functions that run as signed-in people: the claims of a request, or {} for nobody.';
