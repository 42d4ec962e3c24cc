create or replace function app.sum_up_update(context app.context, bill app.expenses, old app.expenses, arguments jsonb,
  occurrence app.expense_occurrences)
returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The stored bill; its displayed state may not have changed yet.
  fields constant jsonb := (
    select jsonb_agg(distinct f.field order by f.field)
    from jsonb_each(to_jsonb(bill)) as b
    cross join lateral (
      select case
        when b.key in ('name', 'payee', 'tags', 'note', 'currency', 'autopay', 'amount_mode') then b.key
        when b.key in ('trial_ends_on', 'renews_on', 'notice_days', 'contract') then b.key
        when b.key = 'category_id' then 'category'
        when b.key = 'assignee_id' then 'assignee'
        when b.key = 'payer_id' then 'paid_by'
        when b.key = 'sharing' then 'shared'
        when b.key = 'amount_minor' then 'amount'
        when b.key = 'share_bp' then 'my_share_percent'
        when b.key in ('frequency', 'every', 'anchor_on', 'month_days', 'weekend_rule', 'ends_on', 'ends_after')
          then 'schedule'
        when b.key in ('reminder_enabled', 'remind_days_before', 'remind_again') then 'reminder'
      end as field
    ) as f
    where f.field is not null and b.value is distinct from to_jsonb(old) -> b.key
  );
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', bill.name,
    'status', case when app.status_on(bill, context.today) <> app.status_on(old, context.today)
      then nullif(app.status_on(bill, context.today), case when arguments ? 'pause_until' then 'paused' end) end,
    'fields', case when arguments ? 'set' then fields end,
    'from', case when arguments ? 'set' then app.parse_date(context, arguments ->> 'apply_from', 'apply_from') end,
    'occurrence', case when arguments ? 'occurrence' then jsonb_build_object(
      'action', arguments #>> '{occurrence,action}', 'due_on', occurrence.due_on, 'until', occurrence.snoozed_until,
      'amount', app.format_amount(occurrence.expected_minor, occurrence.currency), 'currency', occurrence.currency
    ) end,
    'paused_until', app.parse_date(context, arguments ->> 'pause_until', 'pause_until'),
    'is_disconnected', case when arguments #>> '{provider,action}' = 'disconnect' then true end
  ));
end
$$;
comment on function app.sum_up_update is
  'Returns the changes made to a bill: {name, status?, fields?, from?, occurrence? {action, due_on, until?, amount?, '
  'currency}, is_disconnected?}.';

create or replace function app.update_bill(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- If a split was removed, report that the old bill had none.
  unshared constant jsonb := '{"shared":{"between":[]}}';
  old app.expenses := app.find_bill(context, arguments);
  bill app.expenses;
  occurrence app.expense_occurrences;
  connect jsonb;
  shown_before jsonb;
  shown jsonb;
  before jsonb;
begin
  perform from app.expenses as e where e.id = old.id for no key update;
  select * into old from app.expenses as e where e.id = old.id;
  perform app.check_bill_update(context, old, arguments);
  perform app.refresh_bill(old.id, context.today);
  select * into old from app.expenses as e where e.id = old.id;
  shown_before := app.describe_bills(context, array[old.id]) -> 0;

  if arguments ?| array['set', 'pause_until'] then
    perform app.apply_changes(
      context, old,
      coalesce(arguments -> 'set', '{}') || case when arguments ? 'pause_until'
        then jsonb_build_object('status', 'active', 'pause_until', arguments -> 'pause_until') else '{}' end,
      app.parse_date(context, arguments ->> 'apply_from', 'apply_from')
    );
  end if;
  select * into bill from app.expenses as e where e.id = old.id;
  if arguments ? 'occurrence' then
    occurrence := app.change_occurrence(context, bill, arguments -> 'occurrence');
  end if;
  if arguments ? 'provider' then
    connect := app.change_provider(context, bill, arguments -> 'provider');
  end if;
  select * into bill from app.expenses as e where e.id = old.id;
  shown := app.describe_bills(context, array[bill.id]) -> 0;
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') into before from jsonb_each(unshared || shown_before) as b
    where b.value is distinct from (unshared || shown) -> b.key;
  return jsonb_build_object(
    'data',
    jsonb_build_object('bill', shown, 'before', before, 'occurrences', app.describe_touched(bill.id, occurrence.id),
      'connect', connect),
    'warnings', app.warn_of_update(context, bill, old, arguments, occurrence),
    'facts', app.sum_up_update(context, bill, old, arguments, occurrence)
  );
end
$$;
comment on function app.update_bill is
  'Tool update_bill. Returns data {bill, before, occurrences, connect?}. before has the old values of changed fields; '
  'the connector turns connect into connect_url.';
