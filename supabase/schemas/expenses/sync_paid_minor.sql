-- security definer: the sum covers all payments, including those hidden from the writer.
create or replace function app.sync_paid_minor() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  touched text;
begin
  foreach touched in array
    array_remove(
    array[case when tg_op <> 'DELETE' then new.occurrence_id end,
    case when tg_op <> 'INSERT' then old.occurrence_id end], null) loop
    update app.expense_occurrences as o set paid_minor = paid.minor
    from (
      select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)::bigint as minor
      from app.payments as p
      where p.occurrence_id = touched and p.deleted_at is null
    ) as paid
    where o.id = touched and o.paid_minor <> paid.minor;
  end loop;
  return null;
end
$$;

create trigger copy_category before insert on app.payments for each row execute function app.copy_category();
create trigger sync_paid_minor after insert or delete or update of occurrence_id, amount_minor, direction,
  deleted_at on app.payments
  for each row execute function app.sync_paid_minor();
create trigger propagate_category after update of category_id on app.expenses
  for each row execute function app.propagate_category();
