create or replace function app.list_hidden_categories() returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select c.id from app.categories as c
    where c.organization_id = identity.current_organization_id() and c.is_private
      and not identity.may('books:private')
  );
end
$$;
comment on function app.list_hidden_categories is
  'Returns the ids of private categories that the person may not see. Policies call it once per statement; a subquery '
  'in each policy made every statement slower to plan.';

create or replace function app.is_hidden_category(id text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(is_hidden_category.id = any (app.list_hidden_categories()), false);
end
$$;
comment on function app.is_hidden_category is 'Whether a category is private and hidden from the person.';

create or replace function app.warn_of_own_only() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when identity.sees_own_only() then jsonb_build_array(app.warning('own_records_only')) else '[]' end;
end
$$;
comment on function app.warn_of_own_only is
  'Returns a warning for people who see only their own records. It does not reveal whether other records exist.';

-- rows 1: a larger estimate makes looking up one expense seem expensive in every plan.
create or replace function app.list_shared_expenses() returns setof text
language plpgsql stable security definer rows 1 set search_path = '' as $$
begin
  return query
    select s.expense_id from app.payment_shares as s
    where s.organization_id = identity.current_organization_id() and s.member_id = auth.uid();
end
$$;
comment on function app.list_shared_expenses is 'Returns the ids of the expenses and bills that the person shares.';

create or replace function app.is_party(bill app.expenses, member_id uuid) returns boolean
language sql immutable
  return coalesce((bill).payer_id = member_id, false) or coalesce(
    (bill).sharing -> 'parts' @> jsonb_build_array(jsonb_build_object('member_id', member_id)), false
  );
comment on function app.is_party is
  'Whether a member pays or shares a bill by its current settings, which apply to later payments only.';

create or replace function app.sees_expense(expense_id text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (select from app.expenses as e where e.id = sees_expense.expense_id);
end
$$;
comment on function app.sees_expense is
  'Whether the person sees an expense or bill. Policies on dependent rows use it where few rows are read. A subquery '
  'there would slow down every statement, even for people who see everything.';
