-- Pages of the books for an export: visible, undeleted records of each kind after a key. Amounts are decimals, negative
-- for refunds. Current members are named by address.

create or replace function app.export_payments(after jsonb, from_on date, to_on date, at_most int)
  returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
begin
  return query
  select jsonb_build_array(p.paid_on, p.recorded_seq), jsonb_build_object(
    'id', p.id,
    'kind', case when p.direction = 'refund' then 'refund' when starts_with(p.expense_id, 'bill_') then 'bill_payment'
      else 'one_off' end,
    'date', p.paid_on, 'name', e.name, 'payee', e.payee, 'category', category.name, 'category_id', p.category_id,
    'tags', e.tags, 'note', case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, 'url', e.url,
    'amount', app.format_minor(d.sign * p.amount_minor, c.exponent),
    'tax', app.format_minor(d.sign * p.tax_minor, c.exponent), 'tax_percent', trim_scale(p.tax_percent)::text,
    'net', app.format_minor(d.sign * (p.amount_minor - p.tax_minor), c.exponent), 'currency', p.currency
  ) || jsonb_build_object(
    'charged_amount', app.format_minor(d.sign * p.charged_minor, charged.exponent),
    'charged_currency', p.charged_currency,
    'base_amount', app.format_minor(d.sign * p.base_minor, base.exponent), 'base_currency', p.base_currency,
    'fx_rate', trim_scale(p.fx_rate)::text, 'fx_rate_on', p.fx_rate_on, 'fx_source', p.fx_source,
    'is_final', p.is_final, 'is_estimate', p.is_estimate,
    'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
    'split_id', app.shown_split_id(p), 'document_ids', array(
      select f.id
      from app.documents_of(p.expense_id, p.occurrence_id, p.split_id, p.organization_id) as f
      order by f.recorded_seq
    ),
    'expense_id', case when not starts_with(p.expense_id, 'bill_') then p.expense_id end,
    'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end,
    'occurrence_id', p.occurrence_id, 'paid_by', person.email,
    'shared', app.describe_shares(p.id), 'source', p.source, 'version', p.version,
    'created_at', p.created_at, 'updated_at', p.updated_at
  )
  from app.payments as p
  join app.currencies as c on c.code = p.currency
  join app.currencies as base on base.code = p.base_currency
  cross join lateral (select case p.direction when 'out' then 1 else -1 end) as d (sign)
  left join app.currencies as charged on charged.code = p.charged_currency
  left join app.expenses as e on e.id = p.expense_id
  left join app.categories as category on category.id = p.category_id
  left join identity.profiles as person on person.user_id = p.paid_by
  where p.organization_id = (select identity.current_organization_id()) and p.deleted_at is null
    and (from_on is null or p.paid_on >= from_on) and (to_on is null or p.paid_on <= to_on)
    and (after is null or (p.paid_on, p.recorded_seq) > ((after ->> 0)::date, (after ->> 1)::bigint))
  order by p.paid_on, p.recorded_seq
  limit at_most;
end
$$;
comment on function app.export_payments is
  'Returns the payments of a period, oldest first, with fields of their expense or bill. All totals are sums of these '
  'rows.';

create or replace function app.export_bills(after text, at_most int) returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
begin
  return query
  select to_jsonb(e.id), jsonb_build_object(
    'id', e.id, 'name', e.name, 'payee', e.payee, 'category', category.name, 'category_id', e.category_id,
    'tags', e.tags, 'note', e.note, 'url', e.url,
    'amount_mode', e.amount_mode, 'amount', app.format_minor(e.amount_minor, c.exponent), 'currency', e.currency,
    'earlier_amount', app.format_amount(e.earlier_minor, e.currency), 'price_from', e.price_from,
    'share_percent', trim_scale(e.share_bp / 100.0)::text,
    'frequency', e.frequency, 'every', e.every, 'anchor_on', e.anchor_on, 'month_days', e.month_days,
    'weekend_rule', e.weekend_rule, 'ends_on', e.ends_on, 'ends_after', e.ends_after, 'tracked_from', e.tracked_from,
    'next_due', e.next_due
  ) || jsonb_build_object(
    'autopay', e.autopay, 'trial_ends_on', e.trial_ends_on, 'renews_on', e.renews_on, 'notice_days', e.notice_days,
    'contract', e.contract,
    'status', e.status, 'paused_until', e.paused_until, 'reminder_enabled', e.reminder_enabled, 'remind_days_before',
    e.remind_days_before,
    'remind_again', e.remind_again, 'assignee', assignee.email, 'paid_by', app.member_name(e.payer_id), 'shared',
    app.describe_sharing(e.sharing), 'created_by', person.email, 'version', e.version,
    'created_at', e.created_at, 'updated_at', e.updated_at
  )
  from app.expenses as e
  join app.currencies as c on c.code = e.currency
  left join app.categories as category on category.id = e.category_id
  left join identity.profiles as person on person.user_id = e.created_by
  left join identity.profiles as assignee on assignee.user_id = e.assignee_id
  where e.organization_id = (select identity.current_organization_id()) and e.kind = 'bill' and e.deleted_at is null
    and (after is null or e.id > after)
  order by e.id
  limit at_most;
end
$$;

create or replace function app.export_books(part text, after jsonb, at_most int) returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  organization constant text := identity.current_organization_id();
  last_id constant text := after #>> '{}';
begin
  case part
    when 'categories' then return query
      select to_jsonb(c.id), jsonb_build_object(
        'id', c.id, 'name', c.name, 'is_private', c.is_private, 'archived_at', c.archived_at, 'version', c.version,
        'created_at', c.created_at, 'updated_at', c.updated_at
      )
      from app.categories as c
      where c.organization_id = organization and (last_id is null or c.id > last_id)
      order by c.id
      limit at_most;
    when 'expenses' then return query
      select to_jsonb(e.id), jsonb_build_object(
        'id', e.id, 'name', e.name, 'payee', e.payee, 'category', category.name, 'category_id', e.category_id,
        'tags', e.tags, 'note', e.note, 'url', e.url, 'source', e.source, 'external_id', e.external_id,
        'created_by', person.email, 'version', e.version, 'created_at', e.created_at, 'updated_at', e.updated_at
      )
      from app.expenses as e
      left join app.categories as category on category.id = e.category_id
      left join identity.profiles as person on person.user_id = e.created_by
      where e.organization_id = organization and e.kind = 'one_off' and e.deleted_at is null
        and (last_id is null or e.id > last_id)
      order by e.id
      limit at_most;
    when 'occurrences' then return query
      select jsonb_build_array(o.expense_id, o.scheduled_on), jsonb_build_object(
        'id', o.id, 'bill_id', o.expense_id, 'bill', e.name, 'scheduled_on', o.scheduled_on, 'due_on', o.due_on,
        'expected_amount', app.format_minor(o.expected_minor, c.exponent),
        'paid_amount', app.format_minor(o.paid_minor, c.exponent), 'currency', o.currency,
        'amount_source', o.amount_source, 'status', o.status, 'snoozed_until', o.snoozed_until,
        'closed_at', o.closed_at, 'version', o.version, 'created_at', o.created_at, 'updated_at', o.updated_at
      )
      from app.expense_occurrences as o
      join app.expenses as e on e.id = o.expense_id
      join app.currencies as c on c.code = o.currency
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and o.organization_id = organization
        and (after is null or e.id >= (after ->> 0))
        and (after is null or (o.expense_id, o.scheduled_on) > ((after ->> 0), (after ->> 1)::date))
      order by o.expense_id, o.scheduled_on
      limit at_most;
    when 'settlements' then return query
      select to_jsonb(t.id), jsonb_build_object(
        'id', t.id, 'date', t.paid_on, 'from', app.member_name(t.from_id), 'to', app.member_name(t.to_id),
        'amount', app.format_minor(t.amount_minor, c.exponent), 'currency', t.currency, 'note', t.note,
        'version', t.version, 'created_at', t.created_at, 'updated_at', t.updated_at
      )
      from app.settlements as t
      join app.currencies as c on c.code = t.currency
      where t.organization_id = organization and t.deleted_at is null and (last_id is null or t.id > last_id)
      order by t.id
      limit at_most;
    when 'documents' then return query
      select to_jsonb(d.id), jsonb_build_object(
        'id', d.id, 'name', d.name, 'type', d.type, 'size', d.size, 'added_by', person.email,
        'record_id', d.expense_id, 'record', e.name, 'occurrence_id', d.occurrence_id, 'facts', d.facts,
        'layout', d.layout, 'version', d.version, 'created_at', d.created_at, 'updated_at', d.updated_at
      )
      from app.documents as d
      left join app.expenses as e on e.id = d.expense_id
      left join identity.profiles as person on person.user_id = d.added_by
      where d.organization_id = organization and d.deleted_at is null and (last_id is null or d.id > last_id)
      order by d.id
      limit at_most;
    -- Read files one at a time, since a file can have ten megabytes.
    when 'document_files' then return query
      select to_jsonb(d.id), jsonb_build_object(
        'id', d.id, 'name', d.name, 'content', translate(encode(f.content, 'base64'), E'\n', '')
      )
      from app.documents as d
      join app.document_files as f on f.document_id = d.id
      where d.organization_id = organization and d.deleted_at is null and (last_id is null or d.id > last_id)
      order by d.id
      limit 1;
    when 'payee_rules' then return query
      select to_jsonb(r.id), jsonb_build_object(
        'id', r.id, 'payee', r.payee, 'category', category.name, 'category_id', r.category_id, 'version', r.version,
        'created_at', r.created_at, 'updated_at', r.updated_at
      )
      from app.payee_rules as r
      left join app.categories as category on category.id = r.category_id
      where r.organization_id = organization and r.deleted_at is null and (last_id is null or r.id > last_id)
      order by r.id
      limit at_most;
    when 'budgets' then return query
      select to_jsonb(b.id), jsonb_build_object(
        'id', b.id, 'category', category.name, 'category_id', b.category_id, 'per', b.per,
        'amount', app.format_minor(b.amount_minor, c.exponent), 'currency', b.currency,
        'carries_over', b.carries_over, 'starts_on', b.starts_on,
        'opening_amount', app.format_minor(b.opening_minor, c.exponent), 'version', b.version,
        'created_at', b.created_at, 'updated_at', b.updated_at
      )
      from app.budgets as b
      join app.currencies as c on c.code = b.currency
      left join app.categories as category on category.id = b.category_id
      where b.organization_id = organization and b.deleted_at is null and (last_id is null or b.id > last_id)
        -- Skip budgets of hidden categories, because they would reveal them.
        and (b.category_id is null or category.id is not null)
      order by b.id
      limit at_most;
    when 'exchange_rates' then return query
      select jsonb_build_array(u.rate_on, u.from_currency, u.source, u.rate), jsonb_build_object(
        'from_currency', u.from_currency, 'to_currency', u.to_currency, 'rate_on', u.rate_on, 'source', u.source,
        'rate', trim_scale(u.rate)::text
      )
      from (
        select distinct coalesce(p.charged_currency, p.currency) as from_currency, p.base_currency as to_currency,
          p.fx_rate_on as rate_on, p.fx_source as source, p.fx_rate as rate
        from app.payments as p
        where p.organization_id = organization and p.deleted_at is null and p.fx_rate is not null
      ) as u
      where after is null or (u.rate_on, u.from_currency, u.source, u.rate)
        > ((after ->> 0)::date, (after ->> 1), (after ->> 2), (after ->> 3)::numeric)
      order by u.rate_on, u.from_currency, u.source, u.rate
      limit at_most;
  end case;
end
$$;
comment on function app.export_books is
  'Returns a page of categories, one-off expenses, due dates, settlements, documents, their files, payee rules, '
  'budgets, or the rates that valued payments.';
