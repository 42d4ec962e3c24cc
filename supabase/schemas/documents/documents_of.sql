-- Returns a set instead of a boolean, so that the planner inlines it into the calling query.
create or replace function app.documents_of(expense_id text, occurrence_id text, split_id text, organization_id text)
  returns table (id text, recorded_seq bigint)
language sql stable rows 1
begin atomic
  select d.id, d.recorded_seq
  from app.documents as d
  where d.expense_id = documents_of.expense_id and d.organization_id = documents_of.organization_id
    and d.occurrence_id is not distinct from documents_of.occurrence_id and d.deleted_at is null
  union all
  select d.id, d.recorded_seq
  from app.payments as other
  join app.documents as d on d.expense_id = other.expense_id and d.organization_id = other.organization_id
  -- Few payments are split. For others, this condition skips the whole branch.
  where documents_of.split_id is not null and other.split_id = documents_of.split_id
    and other.organization_id = documents_of.organization_id and other.expense_id <> documents_of.expense_id
    and other.deleted_at is null and d.deleted_at is null;
end;
comment on function app.documents_of is
  'Returns the documents of a payment: those of its expense and of all parts of its split, or of its bill''s date.';
