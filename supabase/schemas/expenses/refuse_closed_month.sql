-- Payments and income in a closed month cannot change until it is reopened. Triggers cover tools, undo and jobs.

-- security definer, for the reason given at app.refuse_closed_month.
create or replace function app.hold_organization(organization_id text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform from identity.organizations as o where o.id = hold_organization.organization_id for share;
end
$$;
comment on function app.hold_organization is
  'Locks the organization in the same way as recording a payment. Callers that lock a provider link call this first: '
  'ending a plan locks the organization before its links.';

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
  elsif tg_table_name = 'incomes' then
    if tg_op <> 'INSERT' and old.deleted_at is null then
      days := days || old.received_on;
    end if;
    if tg_op <> 'DELETE' and new.deleted_at is null then
      days := days || new.received_on;
    end if;
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

create trigger refuse_closed_month before insert or delete on app.incomes
  for each row execute function app.refuse_closed_month();
create trigger refuse_closed_month_on_update before update on app.incomes
  for each row when (new.version <> old.version) execute function app.refuse_closed_month();
create trigger refuse_closed_month before insert or delete on app.payments
  for each row execute function app.refuse_closed_month();
-- The name sorts after bump_version, which increments the version unless only derived columns changed. So a new rate or
-- base currency can still revalue payments in a closed month.
create trigger refuse_closed_month_on_update before update on app.payments
  for each row when (new.version <> old.version) execute function app.refuse_closed_month();
-- A bill's name and category aren't part of a month; payments keep their own category (app.propagate_category).
create trigger refuse_closed_month_on_update before update on app.expenses
  for each row when (new.kind = 'one_off' and new.version <> old.version) execute function app.refuse_closed_month();
