-- Pages of bank and provider statements for an export, without credentials and the keys that recognize files.

create or replace function app.export_statements(part text, after jsonb, at_most int)
  returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  organization constant text := identity.current_organization_id();
  last_id constant text := after #>> '{}';
begin
  case part
    when 'accounts' then return query
      select to_jsonb(a.id), jsonb_build_object(
        'id', a.id, 'name', a.name, 'kind', a.kind, 'currency', a.currency, 'answers', a.answers,
        'balance', case when (select identity.sees_everything()) then a.balance end, 'created_at', a.created_at,
        'updated_at', a.updated_at
      )
      from app.accounts as a
      where a.organization_id = organization and (last_id is null or a.id > last_id) and app.sees_account(a)
      order by a.id
      limit at_most;
    when 'balances' then return query
      select to_jsonb(b.id), jsonb_build_object(
        'id', b.id, 'account_id', b.account_id, 'account', a.name, 'true_on', b.true_on,
        'amount', app.format_minor(b.amount_minor, c.exponent), 'currency', b.currency, 'source', b.source,
        'version', b.version, 'created_at', b.created_at, 'updated_at', b.updated_at
      )
      from app.balances as b
      join app.accounts as a on a.id = b.account_id
      join app.currencies as c on c.code = b.currency
      where b.organization_id = organization and b.deleted_at is null and (last_id is null or b.id > last_id)
      order by b.id
      limit at_most;
    when 'incomes' then return query
      select to_jsonb(i.id), jsonb_build_object(
        'id', i.id, 'name', i.name, 'sort', i.sort, 'received_on', i.received_on,
        'amount', app.format_minor(i.amount_minor, c.exponent), 'currency', i.currency,
        'category', g.name, 'category_id', i.category_id, 'account_id', i.account_id, 'line_id', i.line_id,
        'frequency', i.frequency, 'every', i.every, 'anchor_on', i.anchor_on, 'ends_on', i.ends_on, 'note', i.note,
        'source', i.source, 'version', i.version, 'created_at', i.created_at, 'updated_at', i.updated_at
      )
      from app.incomes as i
      join app.currencies as c on c.code = i.currency
      left join app.categories as g on g.id = i.category_id
      where i.organization_id = organization and i.deleted_at is null and (last_id is null or i.id > last_id)
      order by i.id
      limit at_most;
    when 'statement_lines' then return query
      select jsonb_build_array(l.booked_on, l.id), jsonb_build_object(
        'id', l.id, 'account_id', l.account_id, 'account', a.name, 'booked_on', l.booked_on, 'text', l.text,
        'kind', case when l.kind in ('expense', 'refund') and (l.other_half_id is not null
          or exists (select from app.statement_lines as o where o.other_half_id = l.id)) then 'own_transfer'
          else l.kind end,
        'amount', app.format_minor(case l.direction when 'out' then 1 else -1 end * l.amount_minor, c.exponent),
        'currency', l.currency, 'is_skipped', l.is_skipped,
        -- offset 0: on tables without statistics, a join reads all payments for each line.
        'payment_ids', array(
          select k.payment_id
          from app.statement_links as k
          cross join lateral (select p.deleted_at from app.payments as p where p.id = k.payment_id offset 0) as p
          where k.line_id = l.id and p.deleted_at is null
          order by k.payment_id
        ),
        'change_id', l.change_id, 'created_at', l.created_at
      )
      from app.statement_lines as l
      join app.accounts as a on a.id = l.account_id
      join app.currencies as c on c.code = l.currency
      where l.organization_id = organization
        and (after is null or (l.booked_on, l.id) > ((after ->> 0)::date, (after ->> 1)))
      order by l.booked_on, l.id
      limit at_most;
    when 'provider_links' then return query
      select to_jsonb(k.id), jsonb_build_object(
        'id', k.id, 'bill_id', k.expense_id, 'bill', e.name, 'provider', k.provider_key,
        'provider_name', k.provider_name, 'account', k.account_label, 'status', k.status,
        'last_success_period', k.last_success_period, 'asked_at', k.asked_at,
        'created_at', k.created_at, 'updated_at', k.updated_at
      )
      from app.expenses as e
      join app.provider_links as k on k.expense_id = e.id
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and k.organization_id = organization and (last_id is null or k.id > last_id)
      order by k.id
      limit at_most;
    when 'provider_statements' then return query
      select to_jsonb(s.id), jsonb_build_object(
        'id', s.id, 'link_id', s.link_id, 'bill_id', k.expense_id, 'period', s.period,
        'amount', app.format_minor(s.amount_minor, c.exponent), 'currency', s.currency, 'due_on', s.due_on,
        'status', s.status, 'reason', s.reason, 'usual_amount', app.format_minor(s.usual_minor, c.exponent),
        'occurrence_id', s.occurrence_id, 'fetched_at', s.fetched_at
      )
      from app.expenses as e
      join app.provider_links as k on k.expense_id = e.id
      join app.provider_statements as s on s.link_id = k.id
      join app.currencies as c on c.code = s.currency
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and k.organization_id = organization and s.organization_id = organization
        and (last_id is null or s.id > last_id)
      order by s.id
      limit at_most;
  end case;
end
$$;
comment on function app.export_statements is
  'Returns a page of accounts, balances, income, statement lines with the ids of their payments, provider links, or '
  'provider statements.';
