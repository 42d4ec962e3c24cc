-- The payments that match a filter.

-- The next three functions have parsed bodies, so that search_path can't change their meaning, and are inlined into the
-- calling query. Unset conditions disappear before planning, together with joins that nothing else uses. Set conditions
-- explicitly reject missing joined rows, so that the planner can start at the joined table.

create or replace function app.names_word(name text, payee text, note text, words text[], pattern text) returns boolean
language sql stable
  return app.fold_text(concat_ws(' ', name, payee, note)) like all (words)
    or pattern is not null and app.fold_text(concat_ws(' ', name, payee, note)) ~ pattern;
comment on function app.names_word is
  'Whether the text of an expense or bill has all words of a query, or its word in another language.';

create or replace function app.matches_filter(filter app.expense_filter, category_id text, tags text[], match_key text,
  name text, payee text, note text, payment_note text)
returns boolean
language sql stable
  return ((filter).category_ids is null or coalesce(category_id, '') = any ((filter).category_ids))
    and ((filter).not_category_ids is null or coalesce(category_id, '') <> all ((filter).not_category_ids))
    and ((filter).payee is null or match_key = (filter).payee)
    and ((filter).tags = '{}' or lower(tags::text)::text[] && (filter).tags)
    and ((filter).words is null or name is not null
      and app.names_word(name, payee, concat_ws(' ', note, payment_note), (filter).words, (filter).pattern));
comment on function app.matches_filter is 'Whether an expense or bill matches a filter.';

create or replace function app.is_amount_within(filter app.expense_filter, minor bigint, currency text,
  base_minor bigint,
  base_currency text) returns boolean
language sql stable
  return (filter).min_minor is null and (filter).max_minor is null
    or case (filter).amount_currency when currency then minor when base_currency then base_minor end
      between coalesce((filter).min_minor, 0) and coalesce((filter).max_minor, 'infinity')
    or minor between ((filter).own_bounds -> currency ->> 0)::numeric
      and ((filter).own_bounds -> currency ->> 1)::numeric;
comment on function app.is_amount_within is
  'Whether an amount is within a filter''s bounds, by its value in the filter''s currency or as charged.';

create or replace function app.kind_of_payment(direction text, expense_id text) returns text
language sql immutable
  return case when direction = 'refund' then 'refund' when starts_with(expense_id, 'bill_') then 'bill_payment'
    else 'one_off' end;
comment on function app.kind_of_payment is 'Returns refund, bill_payment or one_off.';

create or replace function app.find_payments(filter app.expense_filter)
returns table (
  payment_id text, recorded_seq bigint, paid_on date, currency text, direction text, amount_minor bigint,
  base_minor bigint, fx_rate_on date, fx_source text, is_final boolean, charged_minor bigint, charged_currency text,
  sort_minor bigint, paid_by uuid, recorded_by uuid, tax_minor bigint, expense_id text, name text, payee text,
  category_id text, tags text[]
)
language sql stable
begin atomic
  select p.id, p.recorded_seq, p.paid_on, p.currency, p.direction, p.amount_minor, p.base_minor, p.fx_rate_on,
    p.fx_source, p.is_final, p.charged_minor, p.charged_currency, p.sort_minor, p.paid_by, p.recorded_by, p.tax_minor,
    p.expense_id, e.name, e.payee, p.category_id, e.tags
  from app.payments as p
  left join app.expenses as e on e.id = p.expense_id
  where p.deleted_at is null
    and ((filter).from_on is null or p.paid_on >= (filter).from_on)
    and ((filter).to_on is null or p.paid_on <= (filter).to_on)
    and ((filter).currency is null or p.currency = (filter).currency)
    and ((filter).kind is null or (filter).kind = app.kind_of_payment(p.direction, p.expense_id))
    and ((filter).reimbursement is null or coalesce(p.reimbursement, 'none') = (filter).reimbursement)
    and ((filter).member_id is null or p.paid_by = (filter).member_id)
    and ((filter).recorded_by is null or p.recorded_by = (filter).recorded_by)
    and ((filter).borne_by is null or p.sharing is null and p.paid_by = (filter).borne_by or exists (
      select from app.payment_shares as s
      where s.payment_id = p.id and s.member_id = (filter).borne_by and s.minor <> 0
    ))
    and ((filter).has_document is null or (filter).has_document = exists (
      select from app.documents_of(p.expense_id, p.occurrence_id, p.split_id, p.organization_id)
    ))
    and app.is_amount_within(filter, p.amount_minor, p.currency, p.base_minor, p.base_currency)
    and app.matches_filter(filter, p.category_id, e.tags, e.match_key, e.name, e.payee, e.note, p.note);
end;
comment on function app.find_payments is
  'Returns the undeleted payments that match a filter, each with its expense or bill.';
