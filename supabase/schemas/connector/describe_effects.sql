-- The effects of a change on rows, before and after, in users' terms, for pages and proposals. undo_change reports its
-- effects in the same form, without values.

create or replace function app.describe_datev(datev jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return datev || jsonb_build_object('accounts', (
    select jsonb_object_agg(coalesce(c.name, 'uncategorized'), a.value)
    from jsonb_each(datev -> 'accounts') as a
    left join app.categories as c on c.id = a.key
    where c.id is not null or a.key = 'none'
  ));
end
$$;
comment on function app.describe_datev is 'Returns the accounts of a DATEV export by the names of visible categories.';

create or replace function app.describe_value(kept jsonb, key text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- Reminders are on by default.
  if coalesce(kept -> key, 'null') in ('null', 'false', '[]', '{}')
    and not (key = 'reminder_enabled' and kept ->> 'kind' = 'bill') then
    return null;
  end if;
  return case
    when key in ('amount_minor', 'expected_minor', 'tax_minor', 'opening_minor') then jsonb_build_object(
      'amount', app.format_amount((kept ->> key)::numeric, kept ->> 'currency'), 'currency', kept -> 'currency'
    )
    when key = 'charged_minor' then jsonb_build_object(
      'amount', app.format_amount((kept ->> key)::numeric, kept ->> 'charged_currency'),
      'currency', kept -> 'charged_currency'
    )
    when key = 'category_id' then jsonb_build_object(
      'category', (select c.name from app.categories as c where c.id = kept ->> key)
    )
    when key = 'share_bp' then jsonb_build_object('percent', trim_scale((kept ->> key)::numeric / 100))
    when key = 'tax_percent' then jsonb_build_object('percent', kept -> key)
    when key = 'month_days' then jsonb_build_object('days', app.describe_month_days(
      app.schedule_days(jsonb_populate_record(null::app.expenses, kept))
    ))
    when key = 'sharing' then jsonb_build_object('shared', app.describe_sharing(kept -> key))
    when key = 'low_balance_limit' then app.describe_low_balance_limit(kept ->> key)
    when key = 'datev' then app.describe_datev((kept ->> key)::jsonb)
    when key in ('assignee_id', 'created_by', 'payer_id', 'paid_by', 'from_id', 'to_id')
      then jsonb_build_object('person', app.member_name((kept ->> key)::uuid))
    when key = 'direction' then case kept ->> key when 'refund' then to_jsonb(true) end
    else kept -> key
  end;
end
$$;
comment on function app.describe_value is
  'Returns a column of a captured row in the user''s terms: {amount, currency}, {category}, {person}, {shared}, '
  '{percent}, {days}, otherwise the value itself; null without a value.';

create or replace function app.describe_effects(touched app.kept_row[], at_most int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Added and deleted records show these fields. Changed records show every changed column.
  telling constant text[] := array[
    'amount_minor', 'amount_mode', 'is_estimate', 'currency', 'charged_minor', 'expected_minor', 'paid_on', 'due_on',
    'status', 'paused_until', 'anchor_on', 'frequency', 'every', 'month_days', 'weekend_rule', 'ends_on', 'ends_after',
    'trial_ends_on', 'renews_on', 'notice_days', 'contract', 'autopay', 'payee', 'category_id', 'is_private', 'tags',
    'note', 'url', 'per', 'starts_on', 'carries_over', 'opening_minor', 'direction', 'tax_minor', 'tax_percent',
    'reimbursement', 'reimbursed_by', 'reimbursed_on', 'share_bp', 'payer_id', 'sharing', 'from_id', 'to_id',
    'assignee_id', 'true_on', 'reminder_enabled', 'remind_days_before', 'remind_again', 'snoozed_until',
    'received_on'
  ];
  -- Added and deleted records leave out default values.
  usual constant jsonb :=
    '{"amount_mode":"fixed","every":1,"weekend_rule":"none","share_bp":10000,"status":"open","opening_minor":0,
      "reminder_enabled":true}';
  untold constant text[] := array[
    'id', 'organization_id', 'created_at', 'recorded_seq', 'kind', 'source', 'expense_id', 'occurrence_id', 'split_id',
    'scheduled_on', 'amount_source', 'closed_at', 'tracked_from', 'earlier_minor', 'price_from', 'charged_currency',
    'deleted_at', 'archived_at',
    'created_by', 'recorded_by', 'external_id', 'added_by', 'declined', 'facts', 'hash', 'payee_key', 'size', 'type',
    'account_id'
  ];
begin
  return (
    with things as (
      select r.*,
        -- People see an expense and its payment as one record.
        case when starts_with(coalesce(r.after, r.before) ->> 'expense_id', 'exp_')
        then coalesce(r.after, r.before) ->> 'expense_id' else r.row_id end as thing,
        r.before is null or coalesce(r.before ->> 'deleted_at', r.before ->> 'archived_at') is not null as was_gone,
        r.after is null or coalesce(r.after ->> 'deleted_at', r.after ->> 'archived_at') is not null as is_gone
      from unnest(touched) with ordinality as r (table_name, row_id, before, after, current, place)
    ), told as (
      select t.*, d.subject, f.key, app.describe_value(v.was, f.key) as was, app.describe_value(v.becomes, f.key)
        as becomes
      from things as t
      -- A soft-deleted row counts as missing.
      cross join lateral (
        select case when not t.was_gone then t.before end as was, case when not t.is_gone then t.after end as becomes
      ) as v
      cross join lateral (values (coalesce(t.after, t.before))) as k (kept)
      cross join lateral app.describe_reversal(t.table_name, t.after, t.before, k.kept) as d
      left join lateral (
        select key from jsonb_object_keys(k.kept) as key
        where key <> all (app.derived_columns(t.table_name) || untold)
          -- Equal figures in different currencies are different amounts.
          and (
            v.was -> key is distinct from v.becomes -> key
            or key in ('amount_minor', 'expected_minor', 'tax_minor', 'opening_minor')
              and v.was -> 'currency' is distinct from v.becomes -> 'currency'
            or key = 'charged_minor' and v.was -> 'charged_currency' is distinct from v.becomes -> 'charged_currency'
          )
          -- A due date is named by its day.
          and not (key = 'due_on' and t.table_name = 'expense_occurrences' and (t.was_gone or t.is_gone))
          -- The amount includes the currency.
          and not (
            key = 'currency'
            and coalesce(k.kept ->> 'amount_minor', k.kept ->> 'expected_minor') is not null
          )
          and (
            not (t.was_gone or t.is_gone)
            or key = any (telling) and k.kept -> key is distinct from usual -> key
              and not (key = 'status' and k.kept ->> key = 'active')
            or key = 'paid_by' and k.kept ->> 'sharing' is not null
          )
      ) as f on true
      where t.thing in (select w.thing from things as w group by w.thing order by min(w.place) limit at_most)
        -- Only derived columns changed.
        and (f.key is not null or t.was_gone <> t.is_gone)
    ), fields as (
      -- A payment repeats fields of its expense.
      select distinct on (t.thing, t.key) t.thing, t.key, t.was, t.becomes
      from told as t
      where t.was is distinct from t.becomes
      order by t.thing, t.key, t.table_name = 'expenses' desc, t.place
    )
    select jsonb_build_object(
      'effects', coalesce(jsonb_agg(shown.effect order by shown.place), '[]'),
      'effects_count', (select count(distinct t.thing) from things as t)
    )
    from (
      select min(t.place) as place, jsonb_strip_nulls(jsonb_build_object(
        'id', t.thing,
        'subject', (array_agg(t.subject order by t.table_name = 'expenses' desc, t.place))[1],
        'verb', case when bool_and(t.was_gone) and not bool_and(t.is_gone) then 'added'
          when bool_and(t.is_gone) and not bool_and(t.was_gone) then 'deleted' end,
        'fields', (
          select jsonb_agg(jsonb_build_object('field', f.key, 'before', f.was, 'after', f.becomes)
            order by array_position(telling, f.key), f.key)
          from fields as f where f.thing = t.thing
        )
      )) as effect
      from told as t
      group by t.thing
    ) as shown
  );
end
$$;
comment on function app.describe_effects is
  'Returns the effects on rows, {effects: [{id, subject, verb? (added or deleted), fields?: [{field, before?, '
  'after?}]}], effects_count}. effects is cut to a limit; effects_count is complete.';

create or replace function app.read_effects(change_id text, at_most int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A record rarely has more than three rows.
  rows_read constant int := at_most * 4;
  told jsonb;
begin
  with items as (
    select i.* from app.change_items as i where i.change_id = read_effects.change_id order by i.position
      limit rows_read
  ), folded as (
    select i.table_name, i.row_id, (array_agg(i.before order by i.position))[1] as before,
      (array_agg(i.after order by i.position desc))[1] as after, min(i.position) as position
    from items as i
    group by i.table_name, i.row_id
  )
  select app.describe_effects(
    coalesce(array_agg((r.table_name, r.row_id, r.before, r.after, null)::app.kept_row order by r.position), '{}'),
    at_most
  ) into told
  from folded as r;
  if (select count(*) from (
    select from app.change_items as i where i.change_id = read_effects.change_id limit rows_read + 1
  ) as i) > rows_read then
    -- Read more rows than the limit, because a record can have several.
    told := told || jsonb_build_object('effects_count', (
      select count(distinct case when starts_with(coalesce(i.after, i.before) ->> 'expense_id', 'exp_')
        then coalesce(i.after, i.before) ->> 'expense_id' else i.row_id end)
      from app.change_items as i
      where i.change_id = read_effects.change_id
    ));
  end if;
  return told;
end
$$;
comment on function app.read_effects is
  'Returns the effects of a change in the format of app.describe_effects: each row before the whole change and after '
  'it.';
