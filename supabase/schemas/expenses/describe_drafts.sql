create or replace function app.shown_id(payment_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.id = payment_id
  );
end
$$;
comment on function app.shown_id is
  'Returns the id that people see for a payment: that of a one-off expense, or the payment''s own for a bill.';

create or replace function app.former_payments(day date)
returns
  table (kept_id text, expense_id text, amount_minor bigint, currency text, direction text, recorded_seq bigint)
language sql stable
begin atomic
  select p.merged_into, p.expense_id, p.amount_minor, p.currency, p.direction, p.recorded_seq
  from app.payments as p
  where p.paid_on = day and p.merged_into is not null
    and exists (select from app.payments as k where k.id = p.merged_into and k.deleted_at is null)
  union all
  select (array_agg(p.id order by p.recorded_seq))[1], (array_agg(p.expense_id order by p.recorded_seq))[1],
    sum(p.amount_minor)::bigint, p.currency, p.direction, min(p.recorded_seq)
  from (
    -- Ordered like the index by day: in a plan made on an empty table, other indexes look as cheap.
    select p.* from app.payments as p
    where p.paid_on = day and p.deleted_at is null and p.split_id is not null
    order by p.recorded_seq offset 0
  ) as p
  group by p.split_id, p.currency, p.direction;
end;
comment on function app.former_payments is
  'Returns payments in a form that statements still use and the books don''t: merged payments, and splits as one '
  'payment. Each comes with the payment that replaced it.';

create or replace function app.find_external(external_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    (
      select e.id
      from app.expenses as e
      where e.external_id = find_external.external_id and e.source = 'assistant' and e.deleted_at is null
      order by e.recorded_seq desc
      limit 1
    ),
    (
      select app.shown_id(k.id)
      from app.payments as p
      join app.payments as k on k.id = p.merged_into and k.deleted_at is null
      join app.expenses as e on e.id = p.expense_id
      where p.merged_into is not null and e.external_id = find_external.external_id and e.source = 'assistant'
      order by p.recorded_seq desc
      limit 1
    )
  );
end
$$;
comment on function app.find_external is
  'Returns the expense with this external id, or the record that it was merged into; null when there is none.';

create or replace function app.find_same_payment(draft jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    -- Include bill payments: logging the rent after marking it paid would count it twice.
    select app.shown_id(p.kept_id)
    from (
      (
        select p.id as kept_id, p.recorded_seq
        from app.payments as p
        join app.expenses as e on e.id = p.expense_id
        where p.paid_on = (draft ->> 'paid_on')::date and p.amount_minor = (draft ->> 'amount_minor')::bigint
          and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
          and p.deleted_at is null and e.match_key = draft ->> 'match_key'
        order by p.recorded_seq desc
        limit 1
      )
      union all
      select p.kept_id, p.recorded_seq
      from app.former_payments((draft ->> 'paid_on')::date) as p
      -- A lateral look-up, because a join would sum the day's splits again for each expense of this name.
      cross join lateral (select e.match_key from app.expenses as e where e.id = p.expense_id offset 0) as e
      where p.amount_minor = (draft ->> 'amount_minor')::bigint
        and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
        and e.match_key = draft ->> 'match_key'
      union all
      (
        -- The same expense without its payee, or a bank row of the same day or up to five days later.
        select p.id, p.recorded_seq
        from (
          -- Ordered like the index by day: in a plan made on an empty table, other indexes look as cheap.
          select near.* from app.payments as near
          where near.paid_on between (draft ->> 'paid_on')::date and (draft ->> 'paid_on')::date + 5
            and near.amount_minor = (draft ->> 'amount_minor')::bigint
            and near.currency = draft ->> 'currency' and near.direction = draft ->> 'direction'
            and near.deleted_at is null and near.split_id is null
          order by near.paid_on, near.recorded_seq offset 0
        ) as p
        cross join lateral (
          select one.name, one.payee from app.expenses as one
          where one.id = p.expense_id and one.kind = 'one_off'
          offset 0
        ) as e
        where case when p.source = 'import'
            then app.names_agree(draft ->> 'name', draft ->> 'payee', e.name, e.payee, true)
            else p.paid_on = (draft ->> 'paid_on')::date and lower(e.name) = lower(draft ->> 'name')
              and (e.payee is null or not draft ? 'payee') end
        order by p.recorded_seq desc
        limit 1
      )
    ) as p
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_same_payment is
  'Returns the expense or bill payment with the same day, amount, currency, direction and payee (or name, without a '
  'payee). Also matches a similarly named bank row up to five days later. Returns null when there is none.';

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
      reimbursement text, paid_by uuid, sharing jsonb
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
