-- list_bills: recurring bills with their open dates and costs; one bill with its history on request.

create type app.money_sum as (
  currency text,
  minor numeric
);
comment on type app.money_sum is 'A total in one currency.';

create or replace function app.convert_sums(sums app.money_sum[], into_currency text, day date, out minor numeric,
  out unconverted text[]) returns record
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  into_exponent constant int := app.currency_exponent(into_currency, 'in_currency');
begin
  select coalesce(sum(v.minor), 0), array_agg(v.currency order by v.currency) filter (where v.minor is null)
  into minor, unconverted
  from (
    select s.currency, case s.currency when into_currency then s.minor else app.convert_minor(
      round(s.minor), f.per_euro, c.exponent, t.per_euro, into_exponent
    ) end as minor
    from unnest(sums) as s
    -- Look up each code, because a join reads all currencies for each total.
    left join lateral (
      select o.exponent from app.currencies as o where o.code = s.currency offset 0
    ) as c on s.currency <> into_currency
    left join lateral app.rates_as_of(s.currency, day) as f on s.currency <> into_currency
    left join lateral app.rates_as_of(into_currency, day) as t on s.currency <> into_currency
  ) as v;
end
$$;
comment on function app.convert_sums is
  'Converts totals of several currencies into one at the rates of a day, and lists the currencies without a rate.';

create or replace function app.describe_sums(sums app.money_sum[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency)), '{}')
    from unnest(sums) as s);
end
$$;
comment on function app.describe_sums is 'Returns totals by currency: {"EUR": "12.00"}.';

create or replace function app.describe_sum(context app.context, sums app.money_sum[], estimated app.money_sum[],
  into_currency text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  exponent constant int := app.currency_exponent(into_currency, 'in_currency');
  converted constant record := app.convert_sums(sums, into_currency, context.today);
  others constant text[] := array(
    select s.currency from unnest(sums) as s
    where s.currency <> all (into_currency || coalesce(converted.unconverted, '{}')) and s.minor <> 0
    order by s.currency
  );
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'amount', app.format_minor(converted.minor, exponent),
    'currency', into_currency,
    'estimated', case when estimated is not null
      then app.format_minor((app.convert_sums(estimated, into_currency, context.today)).minor, exponent) end,
    'converted_from', nullif(others, '{}')
  ));
end
$$;
comment on function app.describe_sum is
  'Returns a total in one currency at today''s rates: {amount, currency, estimated?, converted_from?}. converted_from '
  'lists the other currencies in the total.';

create or replace function app.warn_of_estimates(names text[], sums app.money_sum[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when names <> '{}' and sums <> '{}' then app.warning('amount_estimated.to_come', jsonb_build_object(
    'names', names, 'totals_by_currency', app.describe_sums(sums)
  )) else '[]' end;
end
$$;
comment on function app.warn_of_estimates is
  'Returns a warning that a total contains estimated amounts, with the names of their bills and their sums by '
  'currency.';

create or replace function app.describe_bill_history(context app.context, bill app.expenses) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  exponent constant int := app.currency_exponent(bill.currency, 'currency');
  payments jsonb;
  pending_since date;
  price_changes jsonb;
begin
  select jsonb_agg(jsonb_build_object(
    'id', p.id, 'paid_on', p.paid_on, 'due_on', p.due_on, 'amount', app.format_minor(p.amount_minor, c.exponent),
    'currency', p.currency,
    'base_amount', app.format_amount(p.base_minor, p.base_currency), 'source', p.source, 'is_estimate',
    nullif(p.is_estimate, false), 'amount_from', p.amount_from, 'note', p.note,
    'has_document', nullif(exists (
      select from app.documents as d where d.occurrence_id = p.occurrence_id and d.deleted_at is null
    ), false)
  ) order by p.paid_on desc, p.recorded_seq desc),
    min(p.paid_on) filter (where not p.is_final and p.base_minor is not null)
  into payments, pending_since
  from (
    select p.*, o.due_on, case when o.amount_source = 'provider' then (
      select app.provider_name(l)
      from app.provider_statements as s
      join app.provider_links as l on l.id = s.link_id
      where s.occurrence_id = o.id and s.organization_id = o.organization_id and s.status = 'applied'
      order by s.fetched_at desc
      limit 1
    ) end as amount_from
    from app.payments as p
    left join app.expense_occurrences as o on o.id = p.occurrence_id
    where p.expense_id = bill.id and p.deleted_at is null
    order by p.paid_on desc, p.recorded_seq desc
    limit 12
  ) as p
  join app.currencies as c on c.code = p.currency;
  -- Only a fixed price can change, because other amounts vary anyway. A price set for one date isn't a price change.
  if bill.amount_mode = 'fixed' then
    select jsonb_agg(jsonb_build_object(
      'due_on', o.due_on, 'old', app.format_minor(o.old_minor, exponent), 'new',
      app.format_minor(o.expected_minor, exponent),
      'change_percent', round((o.expected_minor - o.old_minor) * 100.0 / o.old_minor, 1)
    ) order by o.due_on desc) into price_changes
    from (
      select o.due_on, o.expected_minor, lag(o.expected_minor) over (order by o.scheduled_on) as old_minor
      from app.expense_occurrences as o
      where o.expense_id = bill.id and o.amount_source = 'rule' and o.currency = bill.currency
    ) as o
    where o.expected_minor <> o.old_minor;
  end if;
  return jsonb_build_object(
    'payments', coalesce(payments, '[]'),
    'warnings', app.warn_of_pending(pending_since is not null, context.base_currency, pending_since),
    'price_changes', coalesce(price_changes, '[]'),
    'next_dates', app.next_due_dates(context, bill, 6)
  );
end
$$;
comment on function app.describe_bill_history is
  'Returns one bill''s last 12 payments (amount_from is the provider of the amount), its next 6 due dates, and each '
  'change of its fixed price with its first due date. Warns when a value is not final.';
