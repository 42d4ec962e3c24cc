create or replace function app.member_sees(expense app.expenses, member identity.memberships) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    identity.member_may(member.organization_id, member.user_id, 'books:private')
    or not exists (select from app.categories as c where c.id = expense.category_id and c.is_private)
  ) and (
    member.role <> 'member' or member.user_id in (expense.created_by, expense.assignee_id)
    or app.is_party(expense, member.user_id)
    or exists (
      select from app.payment_shares as s where s.expense_id = expense.id and s.member_id = member.user_id
    )
    or not exists (select from identity.organizations as o where o.id = member.organization_id and o.own_only)
  );
end
$$;
comment on function app.member_sees is
  'Whether a member sees an expense or bill, for pages that the service renders. Applies the same conditions as the '
  'policies.';
revoke all on function app.member_sees from authenticated;
