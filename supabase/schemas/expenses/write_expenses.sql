create or replace function app.write_expenses(context app.context, drafts jsonb, source text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into app.expenses (id, organization_id, kind, name, payee, category_id, tags, note, url, source, external_id,
    created_by)
  select d.id, context.organization_id, 'one_off', d.name, d.payee, d.category_id, d.tags, d.note, d.url,
    write_expenses.source, d.external_id, coalesce(d.created_by, context.actor_id)
  from jsonb_populate_recordset(null::app.expenses, drafts) with ordinality as d
  order by d.ordinality;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, charged_minor, charged_currency, paid_on, tax_minor,
    tax_percent, reimbursement, reimbursed_by, reimbursed_on, split_id, source, paid_by, recorded_by, sharing,
    stands_alone
  )
  select context.organization_id, d.id, d.direction, d.amount_minor, d.currency, d.charged_minor, d.charged_currency,
    d.paid_on, d.tax_minor, d.tax_percent, d.reimbursement, d.reimbursed_by, d.reimbursed_on, d.split_id,
    write_expenses.source, coalesce(d.paid_by, context.actor_id),
    coalesce(d.recorded_by, context.actor_id), d.sharing, coalesce(d.stands_alone, false)
  from jsonb_populate_recordset(null::app.payments, drafts) with ordinality as d
  order by d.ordinality;
end
$$;
comment on function app.write_expenses is
  'Inserts drafts that have an id, each as an expense and its payment, in order. Only this function creates one-off '
  'expenses; undo restores stored rows.';
