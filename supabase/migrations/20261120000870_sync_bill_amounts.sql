-- sync_bill_amounts: the database's part of fetching amounts from providers, in two calls. The first says which links may be asked now and
-- notes that they are, so that none is asked twice in an hour; the second keeps what came. What is asked is nobody's business here.

alter table app.provider_links add column asked_at timestamptz;
comment on column app.provider_links.asked_at is 'When the provider was asked last, whatever came of it.';
grant update (asked_at, last_success_period, last_error_code, consecutive_failures) on app.provider_links to authenticated;

create function app.sync_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text[] := array(select jsonb_array_elements_text(arguments -> 'bill_ids'));
  period constant text := coalesce(arguments ->> 'period', to_char(context.today, 'YYYY-MM'));
  missing text;
  asked text[];
  result jsonb;
begin
  if not identity.organization_has_feature(context.organization_id, 'bills:variable', context.at) then
    perform app.fail(
      'feature_not_in_plan', format('The plan of %s does not include amounts that are fetched from providers.', context.organization_name), null,
      'Amounts can be entered by hand with update_bill, or when a bill is paid. The team plan includes fetching.',
      '{"feature": "bills:variable", "required_plan": "team"}'
    );
  end if;
  if period !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or period > to_char(context.today, 'YYYY-MM') then
    perform app.fail('date_out_of_range', format('%s is not a month that has begun.', period), 'period', 'Give YYYY-MM, or leave it out for this month.');
  end if;
  select w into missing from unnest(wanted) as w
  where not exists (select from app.expenses as e where e.id = w and e.kind = 'bill' and e.deleted_at is null);
  if found then
    perform app.fail('not_found', format('There is no bill %s in %s.', missing, context.organization_name), 'bill_ids', 'Find the bill with list_bills.');
  end if;

  with free as (
    update app.provider_links as l set asked_at = context.at
    where l.organization_id = context.organization_id and l.status = 'active' and (wanted = '{}' or l.expense_id = any (wanted))
      and (l.asked_at is null or l.asked_at <= context.at - interval '1 hour')
      and exists (select from app.expenses as e where e.id = l.expense_id and e.status = 'active' and e.deleted_at is null)
      and l.id in (
        select c.id from app.provider_links as c
        where c.organization_id = context.organization_id and c.status = 'active'
        order by c.asked_at nulls first, c.id
        limit case when wanted = '{}' then 20 end
      )
    returning l.id
  )
  select coalesce(array_agg(id), '{}') into asked from free;

  select jsonb_build_object(
    'bills', coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'bill_id', e.id, 'name', e.name,
      'status', case l.status when 'needs_reauth' then 'needs_reauth' when 'active' then 'unchanged' else 'failed' end,
      'text', case
        when l.status = 'active' then format('The amount of %s was asked for less than an hour ago.', e.name)
        when l.status = 'needs_reauth' then format('The connection of %s to %s has to be made again by the owner.', e.name, l.provider_key)
        when l.id is not null then format('The connection of %s to %s is not ready.', e.name, l.provider_key)
        else format('%s is not connected to a provider.', e.name)
      end
    )) order by e.name collate "C", e.id) filter (where l.id is null or l.id <> all (asked)), '[]'),
    'pending', coalesce(jsonb_agg(jsonb_build_object(
      'link_id', l.id, 'provider', l.provider_key, 'account', l.account_label, 'period', period
    ) order by e.name collate "C", e.id) filter (where l.id = any (asked)), '[]')
  ) into result
  from app.expenses as e
  left join app.provider_links as l on l.expense_id = e.id and l.status <> 'revoked'
  where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null and (e.id = any (wanted) or wanted = '{}' and l.id is not null);
  return jsonb_build_object('data', result, 'summary', 'Asked providers');
end
$$;
comment on function app.sync_bill_amounts is
  'First call of tool sync_bill_amounts: data {bills, pending [{link_id, provider, account, period}]}. bills is the answer for those that are not asked, 20 at most are at once.';

create function app.store_bill_amount(context app.context, result jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  first_day constant date := ((result ->> 'period') || '-01')::date;
  link app.provider_links;
  bill app.expenses;
  occurrence app.expense_occurrences;
  amount_minor bigint;
  usual_minor bigint;
  answer jsonb;
begin
  select * into strict link from app.provider_links as l where l.id = result ->> 'link_id';
  select * into strict bill from app.expenses as e where e.id = link.expense_id;
  answer := jsonb_build_object('bill_id', bill.id, 'name', bill.name);
  update app.provider_links as l
  set last_error_code = case when result ->> 'outcome' in ('statement', 'not_ready') then null else coalesce(result ->> 'code', result ->> 'outcome') end,
    consecutive_failures = case when result ->> 'outcome' in ('statement', 'not_ready') then 0 else l.consecutive_failures + 1 end,
    last_success_period = case when result ->> 'outcome' = 'statement' then greatest(l.last_success_period, first_day) else l.last_success_period end,
    -- Once may be an accident of theirs.
    status = case when result ->> 'outcome' = 'auth_error' and l.consecutive_failures > 0 then 'needs_reauth' else l.status end,
    updated_at = context.at
  where l.id = link.id
  returning l.* into link;
  if result ->> 'outcome' <> 'statement' then
    return answer || jsonb_build_object(
      'status', case when result ->> 'outcome' = 'not_ready' then 'not_ready' when link.status = 'needs_reauth' then 'needs_reauth' else 'failed' end,
      'text', case
        when result ->> 'outcome' = 'not_ready' then format('%s has no statement for %s yet.', link.provider_key, result ->> 'period')
        when link.status = 'needs_reauth' then format('The connection of %s to %s has to be made again by the owner.', bill.name, link.provider_key)
        when result ->> 'code' = 'no_adapter' then format('Amounts cannot be fetched from %s yet; enter the amount of %s by hand.', link.provider_key, bill.name)
        else format('The amount of %s could not be fetched from %s. Try again in an hour.', bill.name, link.provider_key)
      end
    );
  end if;

  perform app.refresh_bill(bill.id, context.today);
  amount_minor := app.parse_amount(result ->> 'amount', result ->> 'currency', 'amount');
  select * into occurrence from app.expense_occurrences as o
  where o.expense_id = bill.id and o.due_on >= first_day and o.due_on < first_day + interval '1 month'
  order by o.status <> 'open', o.due_on limit 1;
  select round(percentile_cont(0.5) within group (order by o.expected_minor)::numeric) into usual_minor
  from (
    select o.expected_minor from app.expense_occurrences as o
    where o.expense_id = bill.id and o.expected_minor is not null and o.currency = bill.currency and o.status <> 'skipped' and o.id is distinct from occurrence.id
    order by o.scheduled_on desc limit 6
  ) as o;
  answer := answer || jsonb_strip_nulls(jsonb_build_object(
    'due_on', occurrence.due_on, 'old', app.format_amount(occurrence.expected_minor, occurrence.currency),
    'new', app.format_amount(amount_minor, result ->> 'currency'), 'currency', result ->> 'currency', 'usual', app.format_amount(usual_minor, bill.currency)
  ));
  if occurrence.id is null then
    return answer || jsonb_build_object('status', 'unchanged', 'text', format('%s is not due in %s.', bill.name, result ->> 'period'));
  elsif occurrence.expected_minor = amount_minor and occurrence.currency = result ->> 'currency' then
    return answer || jsonb_build_object('status', 'unchanged', 'text', format('The amount of %s is as it was.', bill.name));
  elsif occurrence.status <> 'open' or result ->> 'currency' <> bill.currency or app.paid_minor(occurrence.id) > amount_minor
    or abs(amount_minor - usual_minor) > usual_minor * 0.4 then
    return answer || jsonb_build_object('status', 'needs_review', 'text', format(
      '%s says %s %s for %s due %s, which %s. It was not taken over; to do so, set the amount of that date with update_bill.',
      link.provider_key, result ->> 'currency', app.format_amount(amount_minor, result ->> 'currency'), bill.name, occurrence.due_on,
      case
        when occurrence.status <> 'open' then 'is ' || occurrence.status || ' already'
        when result ->> 'currency' <> bill.currency then 'is another currency than the bill''s'
        else 'is far from the usual'
      end
    ));
  end if;
  update app.expense_occurrences as o
  set expected_minor = amount_minor, amount_source = 'provider',
    status = case when app.paid_minor(o.id) = amount_minor then 'paid' else 'open' end,
    closed_at = case when app.paid_minor(o.id) = amount_minor then context.at end
  where o.id = occurrence.id;
  perform app.refresh_bill(bill.id, context.today);
  return answer || jsonb_build_object('status', 'updated', 'text', format(
    '%s due %s is %s %s.', bill.name, occurrence.due_on, bill.currency, app.format_amount(amount_minor, bill.currency)
  ));
end
$$;
comment on function app.store_bill_amount is
  'Keeps what a provider said of one link and month. An amount is taken over for an open date of that month unless it is more than 40 % off the median of the six before, in another currency, or paid already.';

create function app.store_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bills jsonb := coalesce(arguments -> 'bills', '[]');
  result jsonb;
  stored jsonb;
  updated text[] := '{}';
begin
  for result in select * from jsonb_array_elements(arguments -> 'results') loop
    stored := app.store_bill_amount(context, result);
    bills := bills || stored;
    if stored ->> 'status' = 'updated' then
      updated := updated || (stored ->> 'name');
    end if;
  end loop;
  return jsonb_build_object('data', jsonb_build_object('bills', bills), 'summary', 'Fetched amounts: ' || app.list_names(updated));
end
$$;
comment on function app.store_bill_amounts is 'Second call of tool sync_bill_amounts, with the results of asking: data {bills}.';

revoke all on function app.sync_bill_amounts, app.store_bill_amount, app.store_bill_amounts from public, anon;
grant execute on function app.sync_bill_amounts, app.store_bill_amount, app.store_bill_amounts to authenticated, service_role;
