-- Payments in a closed month cannot change until it is reopened. Triggers on payments and expenses cover tools, undo
-- and jobs.

create or replace function app.month_name(day date) returns text
language sql immutable set search_path = ''
  return to_char(day, 'YYYY-MM');
comment on function app.month_name is 'Returns the month of a day as YYYY-MM.';

create or replace function app.is_closed(organization_id text, day date) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from identity.organizations as o
    where o.id = is_closed.organization_id and o.closed_through >= is_closed.day
  );
end
$$;
comment on function app.is_closed is
  'Whether a day lies in a closed month. For callers that skip such days instead of failing.';

create or replace function app.closed_month(day date) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object(
    'month', app.month_name(day), 'reopened_by', app.month_name((day - interval '1 month')::date)
  );
end
$$;
comment on function app.closed_month is
  'Returns error parameters for a day in a closed month: {month, reopened_by}. The second is the last month that can '
  'stay closed.';

-- security definer, for the reason given at app.refuse_closed_month.
create or replace function app.hold_organization(organization_id text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform from identity.organizations as o where o.id = hold_organization.organization_id for share;
end
$$;
comment on function app.hold_organization is
  'Takes the lock on the organization that recording a payment takes. Callers that lock a provider link call this '
  'first: ending a plan locks the organization before its links.';

create or replace function app.is_relabeling(before jsonb, after jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  -- Generated columns are still null in a before trigger.
  ignored constant text[] := '{note,tags,category_id,version,updated_at,match_key,sort_minor}';
begin
  return before - ignored = after - ignored
    -- Members' totals leave out private categories.
    and not exists (
      select from app.categories as c
      where c.id in (before ->> 'category_id', after ->> 'category_id')
        and c.is_private and before -> 'category_id' <> after -> 'category_id'
    );
end
$$;
comment on function app.is_relabeling is
  'Whether an update of a payment or expense changes only its note, tags or category, and leaves every monthly total '
  'as it was.';

-- security definer: under row-level security only the owner can lock an organization. The lock is shared, so writers
-- don't block each other. A month closes before or after a write, never during it.
create or replace function app.refuse_closed_month() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
declare
  organization_id constant text := coalesce(new.organization_id, old.organization_id);
  days date[];
  organization record;
  day date;
  is_relabeling boolean := false;
begin
  if tg_table_name = 'expenses' then
    -- Look up by expense first: without statistics, the planner expects few undeleted payments and reads all of them.
    days := array(
      select p.paid_on
      from (select p.* from app.payments as p where p.expense_id = new.id offset 0) as p
      where p.deleted_at is null
    );
  else
    if tg_op <> 'INSERT' and old.deleted_at is null then
      days := days || old.paid_on;
    end if;
    if tg_op <> 'DELETE' and new.deleted_at is null then
      days := days || new.paid_on;
    end if;
  end if;
  if days <> '{}' then
    select o.closed_through, o.relabel_closed into organization from identity.organizations as o
    where o.id = organization_id for share;
    select min(d) into day from unnest(days) as d where d <= organization.closed_through;
    if day is not null then
      is_relabeling := tg_op = 'UPDATE' and app.is_relabeling(to_jsonb(old), to_jsonb(new));
      if not (is_relabeling and organization.relabel_closed) then
        perform app.fail('month_closed', app.closed_month(day)
          || case when is_relabeling then '{"is_label":true}' else '{}' end::jsonb);
      end if;
    end if;
  end if;
  return coalesce(new, old);
end
$$;
comment on function app.refuse_closed_month is
  'Rejects changes to payments in a closed month, and to their expenses, with month_closed. Allows relabeling if the '
  'organization does.';
revoke all on function app.refuse_closed_month from authenticated;

create trigger refuse_closed_month before insert or delete on app.payments
  for each row execute function app.refuse_closed_month();
-- The name sorts after bump_version, which increments the version unless only derived columns changed. So a new rate or
-- base currency can still revalue payments in a closed month.
create trigger refuse_closed_month_on_update before update on app.payments
  for each row when (new.version <> old.version) execute function app.refuse_closed_month();
-- A bill's name and category aren't part of a month; payments keep their own category (app.propagate_category).
create trigger refuse_closed_month_on_update before update on app.expenses
  for each row when (new.kind = 'one_off' and new.version <> old.version) execute function app.refuse_closed_month();

create or replace function app.parse_closed_through(context app.context, month text) returns date
language plpgsql stable set search_path = '' as $$
begin
  if month ~ '^--(0[1-9]|1[0-2])$' then
    -- Without a year, the latest such month that has ended.
    month := extract(year from context.today)::int - (right(month, 2)::int >= extract(month from context.today))::int
      || right(month, 3);
  end if;
  if month = '' then
    return null;
  elsif month !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or month >= app.month_name(context.today) then
    perform app.fail('date_out_of_range.month_not_over', jsonb_build_object('month', left(month, 40)),
      'closed_through');
  end if;
  return ((month || '-01')::date + interval '1 month')::date - 1;
end
$$;
comment on function app.parse_closed_through is
  'Returns the last day of the last month to close; null for a blank argument, which closes none. Ends the tool with '
  'date_out_of_range when the month has not ended.';

create or replace function app.prepare_closing(context app.context, closed_through date) returns void
language plpgsql volatile set search_path = '' as $$
declare
  waiting record;
begin
  -- Record automatic payments up to today first, since they belong to the month. Lock bills before the organization, as
  -- every writer does.
  perform app.refresh_bill(b.id, context.today)
  from (
    select e.id from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active' and e.autopay
      and e.deleted_at is null and e.next_due < context.today
    order by e.id
  ) as b;
  perform from identity.organizations as o where o.id = context.organization_id for no key update;
  -- Final values change only with the base currency.
  select count(*) as count, min(p.paid_on) as since into waiting
  from app.payments as p
  where not p.is_final and p.paid_on <= closed_through and p.deleted_at is null;
  if waiting.count > 0 then
    perform app.fail('values_pending', jsonb_build_object(
      'count', waiting.count, 'since', waiting.since, 'month', app.month_name(closed_through)
    ), 'closed_through');
  end if;
end
$$;
comment on function app.prepare_closing is
  'Records due automatic payments, then locks the organization against other writers. Ends the tool with '
  'values_pending while a value in these months waits for its daily rate.';

create or replace function app.list_open_dates(context app.context, until date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('name', e.name, 'due_on', o.due_on) order by o.due_on, e.name)
    from app.passed_occurrences(context) as o
    join app.expenses as e on e.id = o.expense_id
    where o.due_on <= until
  );
end
$$;
comment on function app.list_open_dates is
  'Returns the unpaid due dates of bills up to a day: [{name, due_on}]; null for none.';
