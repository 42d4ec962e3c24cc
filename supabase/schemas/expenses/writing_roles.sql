-- Restrictive policies: viewers can't write, even if a table's other policies allow it.

do $$
declare
  written text;
begin
  foreach written in array array[
    'accounts', 'balances', 'budgets', 'categories', 'change_items', 'change_sets', 'document_files', 'documents',
    'expense_occurrences', 'expenses',
    'idempotency_keys', 'import_batches', 'import_rows', 'incomes', 'payee_rules', 'payments', 'provider_links',
    'provider_statements', 'settlements', 'statement_lines', 'statement_links'
  ] loop
    execute format($policy$
      create policy "Only roles that may write add rows" on app.%I as restrictive
        for insert to authenticated with check ((select identity.may('books:write')))$policy$, written);
    execute format($policy$
      create policy "Only roles that may write change rows" on app.%I as restrictive
        for update to authenticated using ((select identity.may('books:write')))$policy$, written);
    execute format($policy$
      create policy "Only roles that may write remove rows" on app.%I as restrictive
        for delete to authenticated using ((select identity.may('books:write')))$policy$, written);
  end loop;
end
$$;
