-- One rule finds recorded spending for one-off expenses, bills and automatic payments, in any order. Two records are
-- the same spending when their amounts are equal, their names or payees agree, and their days are at most five apart.
-- The rule ignores records that the person must not see.

create or replace function app.names_agree(one_name text, one_payee text, other_name text, other_payee text,
  payees_decide boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  one text;
  other text;
  one_number text;
  other_number text;
begin
  foreach one in array array_remove(
    case when payees_decide and one_payee is not null and other_payee is not null then array[one_payee]
      else array[one_name, one_payee] end, null
  ) loop
    foreach other in array array_remove(
      case when payees_decide and one_payee is not null and other_payee is not null then array[other_payee]
        else array[other_name, other_payee] end, null
    ) loop
      one_number := regexp_replace(one, '[^0-9]+', '', 'g');
      other_number := regexp_replace(other, '[^0-9]+', '', 'g');
      -- "Loan 1" differs from "Loan 2", but statements also contain meaningless numbers.
      if ('' in (one_number, other_number) or one_number = other_number)
        and app.compare_names(app.descriptor_words(one), app.descriptor_words(other)) > 1 then
        return true;
      end if;
    end loop;
  end loop;
  return false;
end
$$;
comment on function app.names_agree is
  'Whether two records have the same name: all words of the shorter name or payee are in the other''s. payees_decide: '
  'if both have a payee, names don''t count.';

create or replace function app.names_resemble(one_name text, one_payee text, other_name text, other_payee text)
  returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select
    from unnest(array_remove(array[one_name, one_payee], null)) as one
    cross join unnest(array_remove(array[other_name, other_payee], null)) as other
    where app.compare_names(app.descriptor_words(one), app.descriptor_words(other)) > 0
  );
end
$$;
comment on function app.names_resemble is
  'Whether two records share a word of their names or payees. That is enough for a question, but not for '
  'app.names_agree.';

create or replace function app.refresh_passed_bills(context app.context) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- Lock all bills before the first payment, which locks the organization.
  passed constant text[] := array(
    select e.id from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active'
      and e.deleted_at is null and e.next_due < context.today
    order by e.id for no key update
  );
begin
  perform app.refresh_bill(b.id, context.today) from unnest(passed) as b (id);
end
$$;
comment on function app.refresh_passed_bills is
  'Records automatic payments that are due by today, so that later checks compare with payments, not open dates.';

create or replace function app.find_likely_bill(context app.context, draft jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  days constant int := 5;
  -- People pay overdue bills late.
  overdue_days constant int := 31;
  estimate_percent constant int := 10;
  day constant date := (draft ->> 'paid_on')::date;
begin
  if draft ->> 'direction' <> 'out' then
    return null;
  end if;
  return (
    -- Each step follows ids: on tables that were never analyzed, joins walk all expenses.
    with forms as materialized (
      select (draft ->> 'amount_minor')::bigint as minor, draft ->> 'currency' as currency
      union all
      select (draft ->> 'charged_minor')::bigint, draft ->> 'charged_currency' where draft ? 'charged_minor'
    ), found as materialized (
      select p.expense_id as bill_id, o.due_on, p.amount_minor as minor, p.currency, p.paid_on,
        abs(p.paid_on - day) as gap
      from (
        -- Order like the index by day, because a plan made on an empty table might use another index.
        select near.* from app.payments as near
        where near.organization_id = context.organization_id and near.paid_on between day - days and day + days
          and near.deleted_at is null and near.direction = 'out' and near.occurrence_id is not null
        order by near.paid_on, near.recorded_seq offset 0
      ) as p
      join forms as f on f.minor = p.amount_minor and f.currency = p.currency
      cross join lateral (
        select paid.due_on from app.expense_occurrences as paid where paid.id = p.occurrence_id offset 0
      ) as o
      union all
      select o.expense_id, o.due_on, m.minor, o.currency, null, abs(o.due_on - day)
      from app.expense_occurrences as o
      cross join lateral (
        select e.* from app.expenses as e
        where e.id = o.expense_id and e.deleted_at is null and e.status in ('active', 'ended')
        offset 0
      ) as b
      cross join lateral (
        select coalesce(o.expected_minor - o.paid_minor, case when o.currency = b.currency then u.minor end) as minor
        from app.usual_amount(b.id, b.amount_minor, b.currency) as u
      ) as m
      where o.organization_id = context.organization_id and o.status = 'open'
        and o.due_on between day - overdue_days and day + days
        and exists (
          select from forms as f
          where f.currency = o.currency and (m.minor is null or f.minor = m.minor
            or b.amount_mode <> 'fixed' and o.amount_source = 'rule'
              and app.same_amount(f.minor, m.minor, estimate_percent))
        )
    )
    select jsonb_strip_nulls(jsonb_build_object(
      'id', b.id, 'name', b.name, 'due_on', f.due_on, 'amount', app.format_amount(f.minor, f.currency),
      'currency', f.currency, 'paid_on', f.paid_on
    ))
    from found as f
    cross join lateral (select e.* from app.expenses as e where e.id = f.bill_id offset 0) as b
    where app.names_agree(draft ->> 'name', draft ->> 'payee', b.name, b.payee, false)
    order by f.gap, f.paid_on is not null, f.due_on, b.recorded_seq
    limit 1
  );
end
$$;
comment on function app.find_likely_bill is
  'Returns the open or paid date of a bill that a one-off expense seems to pay: {id, name, due_on, amount?, currency, '
  'paid_on?}, or null.';

create or replace function app.split_minor(split_id text) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select sum(p.amount_minor) from app.payments as p where p.split_id = split_minor.split_id and p.deleted_at is null
  );
end
$$;
comment on function app.split_minor is 'Returns the sum of a split''s parts.';

create or replace function app.find_spending(bill app.expenses, occurrence app.expense_occurrences, given_minor bigint,
  days date[], is_linkable boolean default true) returns app.payments
language plpgsql stable set search_path = '' as $$
declare
  around constant int := 5;
  -- A fixed price, and an amount from a person or provider, are exact.
  percent constant int := case when given_minor is null and bill.amount_mode <> 'fixed'
    and (occurrence.expected_minor is null or occurrence.amount_source = 'rule') then 10 else 0 end;
  minor constant bigint := coalesce(given_minor, occurrence.expected_minor - occurrence.paid_minor, (
    select u.minor from app.usual_amount(bill.id, bill.amount_minor, bill.currency) as u
    where occurrence.currency = bill.currency
  ));
  spending app.payments;
begin
  select p.* into spending
  from (
    select near.* from app.payments as near
    where near.organization_id = bill.organization_id and near.deleted_at is null and near.direction = 'out'
      and near.paid_on between (select min(d) from unnest(days) as d) - around
        and (select max(d) from unnest(days) as d) + around
      -- Bill payments can't be split or reimbursed.
      and (near.split_id is null and near.reimbursement is null) = is_linkable and not near.stands_alone
    order by near.paid_on, near.recorded_seq offset 0
  ) as p
  cross join lateral (
    select paid.* from app.expenses as paid where paid.id = p.expense_id and paid.kind = 'one_off' offset 0
  ) as e
  cross join lateral (
    select case when p.split_id is null then p.amount_minor else app.split_minor(p.split_id) end as spent offset 0
  ) as whole
  join identity.organizations as o on o.id = p.organization_id
  where exists (select from unnest(days) as d where abs(p.paid_on - d) <= around)
    and (p.currency = occurrence.currency and (minor is null or app.same_amount(whole.spent, minor, percent))
      or p.charged_currency = occurrence.currency and p.charged_minor = minor)
    and coalesce((select c.is_private from app.categories as c where c.id = e.category_id), false)
      = coalesce((select c.is_private from app.categories as c where c.id = bill.category_id), false)
    and (not o.own_only or e.created_by = bill.created_by)
    and app.names_agree(e.name, e.payee, bill.name, bill.payee, true)
  order by (select min(abs(p.paid_on - d)) from unnest(days) as d), p.recorded_seq
  limit 1;
  return spending;
end
$$;
comment on function app.find_spending is
  'Returns the one-off expense that pays a bill''s date: with the given or expected amount, near one of the given '
  'days. All null without one, or if the expense and the bill are visible to different people. is_linkable is false '
  'for an expense that is split or reimbursed.';

create or replace function app.describe_spending(bill app.expenses, due_on date, spending app.payments) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', bill.name, 'due_on', due_on, 'id', spending.expense_id,
    'apart', case when spending.split_id is not null then 'split'
      when spending.reimbursement is not null then 'reimbursed' end,
    'expense', (select e.name from app.expenses as e where e.id = spending.expense_id),
    'amount', app.format_amount(
      case when spending.split_id is null then spending.amount_minor else app.split_minor(spending.split_id) end,
      spending.currency
    ),
    'currency', spending.currency, 'paid_on', spending.paid_on
  ));
end
$$;
comment on function app.describe_spending is
  'Returns the one-off expense that app.find_spending found for a date of a bill: {name, due_on, id, apart?, expense, '
  'amount, currency, paid_on}.';
