-- reconcile: records that only the bank has, and records that only the books have.

create or replace function app.sees_account(account app.accounts) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return identity.sees_everything()
    or exists (select from app.statement_lines as l where l.account_id = account.id)
    or exists (select from app.import_batches as b where b.account_id = account.id)
    or exists (select from app.balances as b where b.account_id = account.id);
end
$$;
comment on function app.sees_account is
  'Whether the person sees a line or balance of an account, or is importing a file for it. The name of an account can '
  'be as private as its lines.';

create or replace function app.require_account(context app.context, wanted text, field text) returns app.accounts
language plpgsql stable set search_path = '' as $$
declare
  names constant text[] := array(
    select a.name from app.accounts as a
    where a.organization_id = context.organization_id and app.sees_account(a)
    order by lower(a.name) limit 20
  );
  account app.accounts;
begin
  select * into account from app.accounts as a
  where a.organization_id = context.organization_id
    and (a.id = wanted or lower(a.name) = lower(app.clean_text(wanted)) or wanted is null and cardinality(names) = 1)
    and app.sees_account(a);
  if not found then
    perform app.fail('not_found.statement_account', jsonb_strip_nulls(jsonb_build_object(
      'name', left(wanted, 60), 'names', names, 'is_own_only', nullif(identity.sees_own_only(), false)
    )), field);
  end if;
  return account;
end
$$;
comment on function app.require_account is
  'Returns the account with a name or id, without one the only account. Ends the tool with not_found and the names '
  'that the person sees.';

create or replace function app.sum_by_currency(amounts jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency)), '{}')
    from (
      select a.currency, sum(a.minor) as minor from jsonb_to_recordset(amounts) as a (currency text, minor bigint)
      group by a.currency
    ) as s
  );
end
$$;
comment on function app.sum_by_currency is 'Adds up amounts [{currency, minor}] by currency: {"EUR": "12.00"}.';

create or replace function app.negate_amounts(amounts jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(a || jsonb_build_object('minor', -(a ->> 'minor')::bigint)), '[]')
    from jsonb_array_elements(amounts) as a
  );
end
$$;
comment on function app.negate_amounts is 'Returns amounts [{currency, minor}] with the opposite sign.';

create or replace function app.sum_transfers(account_id text, first date, last date, patterns text[] default null)
  returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  most constant int := 20;
  max_days_apart constant int := 5;
  kinds constant text[] := array['own_transfer', 'savings', 'exchange', 'top_up', 'card_payment'];
begin
  return (
    with halves as (
      select l.*, null::text as other_id
      from app.statement_lines as l
      where l.organization_id = identity.current_organization_id() and l.kind = any (kinds)
        and l.other_half_id is null and l.booked_on between first and last
        and not exists (select from app.statement_lines as o where o.other_half_id = l.id)
      union all
      -- Count only the half that leaves an account.
      select o.*, i.account_id
      from (
        select l.id, l.other_half_id from app.statement_lines as l
        where l.organization_id = identity.current_organization_id() and l.other_half_id is not null
          and l.booked_on between first - max_days_apart and last + max_days_apart
        union all
        select l.other_half_id, l.id from app.statement_lines as l
        where l.organization_id = identity.current_organization_id() and l.other_half_id is not null
          and l.booked_on between first - max_days_apart and last + max_days_apart
      ) as pair (out_id, in_id)
      join app.statement_lines as o on o.id = pair.out_id and o.direction = 'out'
      join app.statement_lines as i on i.id = pair.in_id and i.direction <> 'out'
      -- Each account may book its half on another day.
      where case when i.account_id = sum_transfers.account_id then i.booked_on else o.booked_on end
        between first and last
    )
    select jsonb_agg(t.told order by t.latest desc, t.told ->> 'from', t.told ->> 'to')
    from (
      select max(h.booked_on) as latest, jsonb_strip_nulls(jsonb_build_object(
        'from', case when h.direction = 'out' then a.name else min(h.kind) end,
        'to', case when h.direction = 'out' then coalesce(b.name, min(h.kind)) else a.name end,
        'count', count(*), 'amount', app.format_amount(sum(h.amount_minor), h.currency), 'currency', h.currency
      )) as told
      from halves as h
      join app.accounts as a on a.id = h.account_id
      left join app.accounts as b on b.id = h.other_id
      where (sum_transfers.account_id is null or sum_transfers.account_id in (h.account_id, h.other_id))
        and (patterns is null or app.fold_text(concat_ws(' ', h.text, b.name, h.kind)) like all (patterns))
      group by a.name, b.name, case when b.name is null then h.kind end, h.direction, h.currency
      order by 1 desc
      limit most
    ) as t
  );
end
$$;
comment on function app.sum_transfers is
  'Returns the totals of transfers between own accounts in a period: [{from, to, count, amount, currency}]. from and '
  'to are accounts, or the kind of line if no statement shows the other account. At most 20.';

create or replace function app.reconcile(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  most constant int := 100;
  account constant app.accounts := app.require_account(context, arguments ->> 'account', 'account');
  first_day date := app.parse_date(context, arguments ->> 'from', 'from');
  last_day date := app.parse_date(context, arguments ->> 'to', 'to');
  -- Banks book nothing on some days.
  quiet_days constant int := 7;
  income_days constant int := 5;
  first_line date;
  last_line date;
  account_currency constant text := coalesce(account.currency, (
    select l.currency from app.statement_lines as l where l.account_id = account.id
    group by l.currency order by count(*) desc, l.currency limit 1
  ), context.base_currency);
  bank jsonb;
  books jsonb;
  found record;
begin
  select min(l.booked_on), max(l.booked_on) into first_line, last_line
  from app.statement_lines as l
  where l.account_id = account.id;
  first_day := coalesce(first_day, first_line);
  last_day := coalesce(last_day, last_line);
  if last_day < first_day then
    perform app.fail('invalid_argument.period_backwards', jsonb_build_object('from', first_day, 'to', last_day), 'to');
  end if;
  with lines as materialized (
    select l.*, paid.ids
    from app.statement_lines as l
    cross join lateral (
      -- A merged payment counts as the payment that replaced it.
      select array_agg(coalesce(p.merged_into, p.id)) as ids
      from app.statement_links as k
      join app.payments as p on p.id = k.payment_id
      where k.line_id = l.id and (p.deleted_at is null
        or exists (select from app.payments as o where o.id = p.merged_into and o.deleted_at is null))
      offset 0
    ) as paid
    where l.account_id = account.id and l.booked_on between first_day and last_day
      and (l.kind in ('expense', 'refund', 'unreadable')
        or l.kind = 'income' and l.direction = 'refund' and l.amount_minor > 0
        and l.id not in (
          select i.line_id from app.incomes as i
          where i.organization_id = context.organization_id and i.deleted_at is null and i.line_id is not null
        ) and not exists (
          select from app.incomes as i
          where i.organization_id = context.organization_id and i.deleted_at is null and i.line_id is null
            and i.received_on between l.booked_on - income_days and l.booked_on + income_days
            and i.amount_minor = l.amount_minor and i.currency = l.currency
        ))
      and l.other_half_id is null
      and not exists (select from app.statement_lines as o where o.other_half_id = l.id)
  ), linked as (
    select p.id, coalesce(p.merged_into, p.id) as standing
    from app.statement_links as k join app.payments as p on p.id = k.payment_id
    where k.organization_id = context.organization_id
  ), loose as (
    -- A payment without a charge is listed in its own currency.
    select p.*, case when p.charged_currency = account_currency and p.currency <> account_currency then p.charged_minor
        else p.amount_minor end as minor,
      case when account_currency in (p.currency, p.charged_currency) then account_currency else p.currency end
        as in_currency
    from app.payments as p

    where p.organization_id = context.organization_id and p.paid_on between first_day and last_day
      and p.deleted_at is null
      and (account_currency in (p.currency, p.charged_currency) or p.charged_currency is null)
      and p.id not in (select l.id from linked as l union all select l.standing from linked as l)
  ), counted (id, minor, currency) as (
    select p.id, case
        when p.currency = l.currency then p.amount_minor
        when p.charged_currency = l.currency then p.charged_minor
      end * case p.direction when 'out' then 1 else -1 end as minor, l.currency
    from (select distinct u.id, l.currency from lines as l cross join lateral unnest(l.ids) as u (id)) as l
    join app.payments as p on p.id = l.id
    where l.currency in (p.currency, p.charged_currency)
    union all
    -- A payment recorded only in another currency counts with the amount on its line.
    select l.id, case l.direction when 'out' then l.amount_minor else -l.amount_minor end, l.currency
    from lines as l
    where not exists (
      select from app.payments as p where p.id = any (l.ids) and l.currency in (p.currency, p.charged_currency)
    ) and l.ids is not null
  ), undocumented as materialized (
    select p.id
    from app.payments as p
    where p.id in (select unnest(l.ids) from lines as l union all select o.id from loose as o)
      and not exists (
        select from app.documents_of(p.expense_id, p.occurrence_id, p.split_id, p.organization_id)
      )
  )
  select
    (
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'date', b.booked_on, 'text', b.text, 'amount',
        case when b.kind <> 'unreadable' then app.format_amount(b.amount_minor, b.currency) end,
        'currency', b.currency, 'kind', b.kind, 'skipped', nullif(b.is_skipped, false)
      )) order by b.booked_on, b.id)
      from (select * from lines as l where l.ids is null order by l.booked_on, l.id limit most) as b
    ) as bank_only,
    (select count(*) from lines as l where l.ids is null) as bank_count,
    (
      select jsonb_agg(jsonb_build_object(
        'id', app.shown_id(b.id), 'date', b.paid_on, 'name', e.name, 'amount',
        app.format_amount(b.minor, b.in_currency),
        'currency', b.in_currency, 'is_refund', case b.direction when 'refund' then true end,
        'paid_by', case when b.paid_by is distinct from context.actor_id then app.member_name(b.paid_by) end,
        'has_document', nullif(b.id not in (select u.id from undocumented as u), false)
      ) order by b.paid_on, b.recorded_seq)
      from (select * from loose as p order by p.paid_on, p.recorded_seq limit most) as b
      cross join lateral (select e.name from app.expenses as e where e.id = b.expense_id offset 0) as e
    ) as books_only,
    (select count(*) from loose) as books_count,
    (select count(*) from lines as l where l.ids is not null) as linked_count,
    (select count(*) from undocumented) as undocumented_count,
    (
      select jsonb_agg(jsonb_build_object('currency', l.currency, 'minor',
        case l.direction when 'out' then l.amount_minor else -l.amount_minor end))
      from lines as l where l.kind <> 'income'
    ) as bank,
    (
      select jsonb_agg(jsonb_build_object('currency', l.currency, 'minor', l.amount_minor))
      from lines as l where l.kind = 'income'
    ) as income,
    (select jsonb_agg(jsonb_build_object('currency', c.currency, 'minor', c.minor)) from counted as c) as counted,
    (
      select jsonb_agg(jsonb_build_object('currency', p.in_currency, 'minor',
        case p.direction when 'out' then p.minor else -p.minor end))
      from loose as p
    ) as loose
  into found;
  bank := coalesce(found.bank, '[]');
  books := coalesce(found.counted, '[]') || coalesce(found.loose, '[]');
  return jsonb_build_object('data', jsonb_build_object(
    'account', account.name, 'from', first_day, 'to', last_day, 'bank_only', coalesce(found.bank_only, '[]'),
    'books_only', coalesce(found.books_only, '[]'),
    -- The balance includes records that the person may not see.
    'balance', case when identity.sees_everything() then account.balance - 'change_id' end,
    'balances', app.describe_balance_rows(account.id, first_day, last_day),
    'bank_only_count', found.bank_count, 'books_only_count', found.books_count, 'linked_count', found.linked_count,
    'without_document_count', found.undocumented_count,
    'transfers', coalesce(app.sum_transfers(account.id, first_day, last_day), '[]'),
    'totals', jsonb_build_object(
      'bank', app.sum_by_currency(bank), 'books', app.sum_by_currency(books),
      'difference', app.sum_by_currency(bank || app.negate_amounts(books))
    )
  ), 'warnings', case when found.bank is not null and found.loose is not null
    then jsonb_build_array(app.warning('account_unknown', jsonb_build_object(
      'account', account.name, 'count', found.books_count, 'totals', app.sum_by_currency(found.loose),
      'difference', app.sum_by_currency(bank || app.negate_amounts(coalesce(found.counted, '[]')))
    ))) else '[]' end || case
    when first_line is null or first_day < first_line - quiet_days
      or least(last_day, context.today) > last_line + quiet_days
    then jsonb_build_array(app.warning('no_statement', jsonb_build_object(
      'account', account.name, 'first', first_line, 'last', last_line, 'is_own_only', identity.sees_own_only()
    ))) else '[]' end || case when found.income is not null then jsonb_build_array(app.warning('income_in_bank_only',
      jsonb_build_object(
        'count', jsonb_array_length(found.income), 'totals', app.sum_by_currency(found.income)
      ))) else '[]' end
    || case when not identity.sees_everything() and first_line is not null
    then jsonb_build_array(app.warning('lines_partly_known', jsonb_build_object('account', account.name)))
    else '[]' end || app.warn_of_own_only() || app.warn_of_gaps(account, first_day, last_day)
    || case when arguments ? 'to' then app.warn_of_unknown_balance(context, account, last_day) else '[]' end);
end
$$;
comment on function app.reconcile is
  'Tool reconcile. Returns data {account, from, to, bank_only, books_only, their counts, linked_count, '
  'without_document_count: payments in either without a document, balance?, balances, transfers, totals}, and warns '
  'when no statement covers the period, its balances differ, or the balance of its last day is unknown. bank_only '
  'includes income, but totals compare only spending.';
