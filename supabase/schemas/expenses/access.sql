-- Row-level security: members reach only the rows of their token's organization.
alter table app.budgets enable row level security;
alter table app.categories enable row level security;
alter table app.expenses enable row level security;
alter table app.expense_occurrences enable row level security;
alter table app.payee_rules enable row level security;
alter table app.payments enable row level security;
alter table app.fx_rates enable row level security;
alter table app.fx_days enable row level security;
alter table app.provider_links enable row level security;
alter table app.change_sets enable row level security;
alter table app.change_items enable row level security;
alter table app.idempotency_keys enable row level security;

-- Two things can be hidden from a person (identity.sees_everything): private categories with their contents, and
-- records of others where members see only their own. Rows that depend on an expense are as visible as the expense.
create policy "Members can use their organization's budgets" on app.budgets
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or category_id is null or category_id <> all ((select app.list_hidden_categories())::text[])
    )
  );
create policy "Members can use their organization's categories" on app.categories
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (not is_private or (select identity.may('books:private')))
  );
create policy "Members can use their organization's expenses" on app.expenses
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or (category_id is null or category_id <> all ((select app.list_hidden_categories())::text[]))
        and (
          not (select identity.sees_own_only())
          or (select auth.uid()) in (created_by, assignee_id)
          or app.is_party(expenses, (select auth.uid()))
          or id in (select app.list_shared_expenses())
        )
    )
  );
create policy "Members can use their organization's occurrences" on app.expense_occurrences
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or app.sees_expense(expense_id)
    )
  );
create policy "Members can use their organization's payee rules" on app.payee_rules
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or category_id <> all ((select app.list_hidden_categories())::text[])
    )
  );
create policy "Members can use their organization's payments" on app.payments
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      -- Check the category first: private rows then cost no look-up and reveal less through timing.
      or (category_id is null or category_id <> all ((select app.list_hidden_categories())::text[]))
        and exists (select from app.expenses as e where e.id = expense_id)
    )
  );
create policy "Signed-in people can read the exchange rates" on app.fx_rates
  for select to authenticated using ((select auth.uid()) is not null);
create policy "Signed-in people can read which days are settled" on app.fx_days
  for select to authenticated using ((select auth.uid()) is not null);
create policy "Members can read their organization's provider links" on app.provider_links
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or app.sees_expense(expense_id)
    )
  );
create policy "Members can read their organization's changes" on app.change_sets
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(change_sets))
  );
create policy "Members can record their own changes" on app.change_sets
  for insert to authenticated
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
create policy "Members can describe and undo their organization's changes" on app.change_sets
  for update to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(change_sets))
  );
create policy "Members can drop a change of theirs that wrote nothing" on app.change_sets
  for delete to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_change(change_sets))
    and actor_id = (select auth.uid())
  );
create policy "Members can read their organization's change items" on app.change_items
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or exists (select from app.change_sets as s where s.id = change_id)
    )
  );
create policy "Members can record items of their organization's changes" on app.change_items
  for insert to authenticated with check (organization_id = (select identity.current_organization_id()));
create policy "People can use their own idempotency keys" on app.idempotency_keys
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));

grant select, insert, update, delete on
  app.budgets, app.categories, app.expenses, app.expense_occurrences, app.payee_rules, app.payments, app.fx_rates,
  app.fx_days, app.provider_links, app.idempotency_keys to service_role;
grant select, insert, update, delete on
  app.budgets, app.categories, app.expenses, app.expense_occurrences, app.payee_rules, app.payments,
  app.idempotency_keys
    to authenticated;
grant select on app.fx_rates, app.fx_days, app.provider_links to authenticated;
grant select, insert, update (facts, undoes, undone_by), delete on app.change_sets to authenticated;
-- No role that serves requests can change or delete past events (activity/refuse_alteration.sql).
grant select, insert, update (facts, undoes, undone_by, moved), delete on app.change_sets to service_role;
grant select, insert on app.change_items to authenticated, service_role;
