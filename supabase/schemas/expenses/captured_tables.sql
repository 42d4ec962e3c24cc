-- Adds versions to these tables, and records their changes for undo.

do $$
declare
  tracked text;
  columns text;
  difference text;
begin
  foreach tracked in array array['budgets', 'categories', 'expenses', 'expense_occurrences', 'payee_rules', 'payments',
    'settlements', 'documents', 'balances', 'incomes']
    loop
    -- Skip updates of derived columns only, such as rolling a million bills. Columns are compared one by one: comparing
    -- whole rows as jsonb took a quarter of the time of a large undo.
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
      string_agg(format('old.%1$I is distinct from new.%1$I', a.attname), ' or ' order by a.attnum)
    into columns, difference
    from pg_attribute as a
    where a.attrelid = ('app.' || tracked)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and a.attname <> all (app.derived_columns(tracked));
    execute format(
      'create trigger bump_version before update of %s on app.%I for each row when (%s)
        execute function app.bump_version()', columns, tracked, difference
    );
    execute format(
      $trigger$create trigger capture_change after insert or delete or update of %s on app.%I for each row
        when (nullif(current_setting('app.change_id', true), '') is not null) execute
          function app.capture_change()$trigger$, columns, tracked
    );
  end loop;
end
$$;
