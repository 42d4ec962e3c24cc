create or replace function app.find_external(external_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    select e.id
    from app.expenses as e
    where e.external_id = find_external.external_id and e.source = 'assistant' and e.deleted_at is null
  );
end
$$;
comment on function app.find_external is 'The expense in the books with this external id, else null.';

create or replace function app.find_same_payment(draft jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return (
    -- A payment of a bill counts too: who marks the rent paid and then logs it has paid it once.
    select case e.kind when 'bill' then p.id else e.id end
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    where p.paid_on = (draft ->> 'paid_on')::date and p.amount_minor = (draft ->> 'amount_minor')::bigint
      and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
      and p.deleted_at is null and e.match_key = draft ->> 'match_key'
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_same_payment is
  'The expense or bill payment in the books of the same day, amount, currency, direction and payee (name, where there '
  'is no payee), else null.';

create or replace function app.write_expenses(context app.context, drafts jsonb, source text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into app.expenses (id, organization_id, kind, name, payee, category_id, tags, note, url, source, external_id,
    created_by)
  select d.id, context.organization_id, 'one_off', d.name, d.payee, d.category_id, d.tags, d.note, d.url,
    write_expenses.source, d.external_id, context.actor_id
  from jsonb_populate_recordset(null::app.expenses, drafts) with ordinality as d
  order by d.ordinality;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, paid_on, base_currency, base_minor, fx_rate,
    fx_rate_on, fx_source, source, paid_by
  )
  select context.organization_id, d.id, d.direction, d.amount_minor, d.currency, d.paid_on,
    d.base_currency, d.base_minor, d.fx_rate, d.fx_rate_on, d.fx_source, write_expenses.source, context.actor_id
  from jsonb_populate_recordset(null::app.payments, drafts) with ordinality as d
  order by d.ordinality;
end
$$;
comment on function app.write_expenses is
  'Writes drafts that have an id, each as an expense and its payment, in their order: the only writer of new one-off '
  'expenses (undo puts kept rows back).';

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
comment on function app.total_drafts is 'Sums by currency, refunds subtracted: {"EUR": "12.00"}.';

create or replace function app.describe_drafts(context app.context, drafts jsonb, is_preview boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(jsonb_build_object(
      'index', d.place,
      'status', case when d.id is null then 'duplicate' else 'created' end,
      'id', case when not is_preview then d.id end,
      'existing_id', d.existing_id,
      'name', d.name,
      'date', d.paid_on,
      'amount', app.format_minor(d.amount_minor, c.exponent),
      'currency', d.currency,
      'category', category.name,
      'category_source', d.category_source,
      'base_amount', app.format_minor(d.base_minor, base.exponent)
    ) order by d.place)
    from jsonb_to_recordset(drafts) as d (
      place int, id text, existing_id text, name text, paid_on date, amount_minor bigint, currency text,
      category_id text, category_source text, base_minor bigint
    )
    join app.currencies as c on c.code = d.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = d.category_id
  );
end
$$;
comment on function app.describe_drafts is 'What becomes of each item of log_expenses.';
