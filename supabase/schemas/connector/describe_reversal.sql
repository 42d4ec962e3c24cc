-- undo_change: reverts one earlier write completely, from the rows that the capture trigger stored. An undo is itself a
-- change, so undoing it restores the first change.

create type app.reversal as (
  id text,
  subject jsonb,
  verb text,
  fields text[]
);
comment on type app.reversal is
  'Describes the effect of an undo on one row: its id, its name for people as {kind, name?, …}, and whether it was '
  'removed, restored or had columns reverted.';

create or replace function app.describe_reversal(table_name text, kept jsonb, wanted jsonb, current jsonb)
  returns app.reversal
language plpgsql stable set search_path = '' as $$
declare
  latest constant jsonb := coalesce(current, kept, wanted);
  is_gone constant boolean := wanted is null or coalesce(wanted ->> 'deleted_at', wanted ->> 'archived_at') is not null;
  was_gone constant boolean := kept is null or coalesce(kept ->> 'deleted_at', kept ->> 'archived_at') is not null;
  reversal app.reversal;
  expense app.expenses;
begin
  select * into expense from app.expenses as e where e.id = latest ->> 'expense_id';
  reversal.id :=
    case when table_name = 'expense_occurrences' or expense.kind = 'one_off' then expense.id else latest ->> 'id' end;
  reversal.subject := case
    when table_name = 'categories' then jsonb_build_object('kind', 'category', 'name', latest -> 'name')
    when table_name = 'payee_rules' then jsonb_build_object('kind', 'payee_rule', 'name', latest -> 'payee')
    when table_name = 'settlements' then jsonb_build_object(
      'kind', 'settlement', 'currency', latest -> 'currency',
      'amount', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency')
    )
    when table_name = 'balances' then jsonb_build_object(
      'kind', 'balance', 'currency', latest -> 'currency',
      'name', (select a.name from app.accounts as a where a.id = latest ->> 'account_id'),
      'amount', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency')
    )
    when table_name = 'incomes' then jsonb_build_object(
      'kind', 'income', 'name', latest -> 'name', 'currency', latest -> 'currency',
      'amount', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency')
    )
    when table_name = 'documents' then jsonb_build_object('kind', 'document', 'name', latest -> 'name')
    when table_name = 'settings' then jsonb_build_object('kind', 'settings')
    when table_name = 'budgets' then jsonb_build_object(
      'kind', 'budget', 'per', latest -> 'per',
      'category', (select c.name from app.categories as c where c.id = latest ->> 'category_id')
    )
    when table_name = 'expense_occurrences' then
      jsonb_build_object('kind', 'date', 'name', expense.name, 'due_on', latest -> 'due_on')
    when expense.kind = 'bill' then jsonb_build_object(
      'kind', 'payment', 'name', expense.name, 'currency', latest -> 'currency',
      'amount', app.format_amount((latest ->> 'amount_minor')::numeric, latest ->> 'currency')
    )
    else jsonb_build_object('kind', 'expense', 'name', coalesce(expense.name, latest ->> 'name'))
  end;
  reversal.verb := case
    when table_name = 'expense_occurrences' then coalesce(wanted ->> 'status', 'open')
    when is_gone and not was_gone then 'removed'
    when was_gone and not is_gone then 'restored'
  end;
  reversal.fields := array(
    select key
    from jsonb_object_keys(wanted) as key
    where wanted -> key is distinct from kept -> key and key <> all (app.derived_columns(table_name))
  );
  return reversal;
end
$$;
comment on function app.describe_reversal is
  'Returns the reversal of one row, from its current, captured and wanted values.';

create or replace function app.describe_current(current jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if current is null or current ->> 'deleted_at' is not null then
    return '{"deleted":true}';
  end if;
  if current ? 'timezone' then
    return current - '{id,mails}'::text[];
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'name', current ->> 'name', 'amount',
    app.format_amount(coalesce(current ->> 'amount_minor', current ->> 'expected_minor')::numeric,
      current ->> 'currency'),
    'currency', current ->> 'currency', 'date', coalesce(current ->> 'paid_on', current ->> 'received_on'), 'due_on',
    coalesce(current ->> 'due_on', current ->> 'next_due'),
    'payee', current ->> 'payee', 'status', current ->> 'status'
  ));
end
$$;
comment on function app.describe_current is 'Returns the current state of a row that blocks an undo.';

create or replace function app.change_facts(change app.change_sets) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('tool', change.tool, 'facts', change.facts);
end
$$;
comment on function app.change_facts is 'Returns the facts of a change for its description: {tool, facts}.';
