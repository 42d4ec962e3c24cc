create or replace function app.total_drafts(drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}')
    from (
      select d.currency, sum(case d.direction when 'out' then d.amount_minor else -d.amount_minor end) as net
      from jsonb_to_recordset(drafts) as d (currency text, direction text, amount_minor bigint)
      group by d.currency
    ) as s
  );
end
$$;
comment on function app.total_drafts is 'Returns net sums by currency, with refunds subtracted: {"EUR": "12.00"}.';

create or replace function app.describe_drafts(context app.context, drafts jsonb, is_preview boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object(
      'index', d.place,
      'status', case when d.bill is not null then 'likely_bill' when d.id is null then 'duplicate'
        when is_preview then 'would_create' else 'created' end,
      'id', case when not is_preview then d.id end,
      'existing_id', d.existing_id,
      'bill', d.bill,
      'name', d.name,
      'date', d.paid_on,
      'amount', app.format_minor(d.amount_minor, c.exponent),
      'currency', d.currency,
      'is_refund', nullif(d.direction = 'refund', false),
      'tax', app.format_minor(d.tax_minor, c.exponent),
      'tax_percent', trim_scale(d.tax_percent),
      'split', own.parts,
      'tags', nullif(i.draft -> 'tags', '[]'),
      'reimbursement', d.reimbursement,
      'reimbursed_by', d.reimbursed_by,
      'reimbursed_on', d.reimbursed_on,
      'paid_by', case when d.paid_by <> context.actor_id then app.member_name(d.paid_by) end,
      'shared', case when d.sharing is not null then coalesce(
        case when own.parts is null then (
          select app.describe_shares(p.id) from app.payments as p where p.expense_id = d.id and p.deleted_at is null
        ) end,
        app.describe_sharing(d.sharing)
      ) end,
      'category', category.name,
      'category_source', case when own.parts is null then d.category_source end,
      'base_amount', app.format_minor(own.base_minor, base.exponent)
    ) order by d.place)
    from jsonb_array_elements(drafts) as i (draft)
    cross join lateral jsonb_to_record(i.draft) as d (
      place int, id text, existing_id text, bill jsonb, name text, paid_on date, direction text, amount_minor bigint,
      currency text,
      category_id text, category_source text, tax_minor bigint, tax_percent numeric,
      reimbursement text, reimbursed_by text, reimbursed_on date, paid_by uuid, sharing jsonb
    )
    join app.currencies as c on c.code = d.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = d.category_id and not i.draft ? 'parts'
    cross join lateral (
      select sum(value.base_minor) as base_minor,
        case when i.draft ? 'parts' then jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'id', case when not is_preview then part.id end, 'category', its.name,
          'amount', app.format_minor(part.amount_minor, c.exponent),
          'tax', app.format_minor(part.tax_minor, c.exponent),
          'base_amount', app.format_minor(value.base_minor, base.exponent), 'note', part.note
        )) order by p.place) end as parts
      from app.draft_parts(i.draft) with ordinality as p (draft, place)
      cross join lateral jsonb_to_record(p.draft) as part (
        id text, category_id text, note text, amount_minor bigint, tax_minor bigint, charged_minor bigint,
        charged_currency text
      )
      cross join lateral app.value_in_base(
        context.base_currency, part.amount_minor, d.currency, d.paid_on, part.charged_minor, part.charged_currency
      ) as value
      left join app.categories as its on its.id = part.category_id
    ) as own
  );
end
$$;
comment on function app.describe_drafts is 'Returns the outcome of each item of log_expenses.';
