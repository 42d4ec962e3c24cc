-- Every call runs most of these functions, so they are planned once per session: planning under row-level security
-- takes longer than their queries.

create or replace function app.warn_of_drafts(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  skipped text[];
  likely jsonb;
  unrated record;
  early text[];
  moved text[];
  cash text[];
  earned text[];
  refunded text[];
  warnings jsonb := '[]';
begin
  select array_agg(d.name order by d.place) filter (where d.existing_id is not null),
    jsonb_agg(jsonb_build_object('name', d.name, 'bill', d.bill) order by d.place) filter (where d.bill is not null),
    array_agg(d.name order by d.place) filter (where d.id is not null and d.paid_on > context.today),
    array_agg(d.name order by d.place) filter (where d.id is not null and app.is_own_transfer(d.name)),
    array_agg(d.name order by d.place) filter (
      where d.id is not null and d.direction = 'out' and app.is_cash_withdrawal(d.name)
    ),
    -- A refund with such a name is income.
    array_agg(d.name order by d.place) filter (
      where d.id is not null and d.direction = 'out' and app.is_income(d.name, c.name, true)
        and not app.is_cash_withdrawal(d.name)
    ),
    array_agg(d.name order by d.place) filter (
      where d.id is not null and d.direction = 'out' and app.is_money_back(d.name)
    )
  into skipped, likely, early, moved, cash, earned, refunded
  from jsonb_to_recordset(drafts) as d (
    place int, id text, existing_id text, bill jsonb, name text, paid_on date, direction text, category_id text
  )
  left join app.categories as c on c.id = d.category_id;
  select array_agg(distinct p.currency order by p.currency) filter (where p.base_minor is null) as currencies,
    coalesce(bool_or(not p.is_final) filter (where p.base_minor is null), false) as is_awaited,
    coalesce(bool_or(not p.is_final) filter (where p.base_minor is not null), false) as is_pending,
    min(p.paid_on) filter (where not p.is_final and p.base_minor is not null) as since
  into unrated
  from jsonb_to_recordset(drafts) as d (id text)
  cross join lateral (
    select x.* from app.payments as x where x.expense_id = d.id and x.deleted_at is null offset 0
  ) as p;
  if skipped is not null then
    warnings := warnings || app.warning('duplicate.expenses', jsonb_build_object('names', skipped));
  end if;
  if likely is not null then
    warnings := warnings || app.warning('likely_bill', jsonb_build_object('items', likely));
  end if;
  if early is not null then
    warnings := warnings
      || app.warning('dated_tomorrow', jsonb_build_object('names', early, 'date', context.today + 1));
  end if;
  if moved is not null then
    warnings := warnings || app.warning('own_transfer', jsonb_build_object('names', moved));
  end if;
  if cash is not null then
    warnings := warnings || app.warning('cash_withdrawn.logged', jsonb_build_object('names', cash));
  end if;
  if earned is not null then
    warnings := warnings || app.warning('like_income', jsonb_build_object('names', earned));
  end if;
  if refunded is not null then
    warnings := warnings || app.warning('like_refund', jsonb_build_object('names', refunded));
  end if;
  if unrated.currencies is not null then
    warnings := warnings || app.warning('rate_missing.of_day', jsonb_build_object(
      'currencies', unrated.currencies, 'into', context.base_currency, 'is_awaited', unrated.is_awaited
    ));
  end if;
  return warnings || app.warn_of_pending(unrated.is_pending, context.base_currency, unrated.since);
end
$$;
comment on function app.warn_of_drafts is
  'Returns warnings about duplicates, likely bills, future days, transfers between own accounts, cash, salaries, '
  'refunds, and amounts without a final value in the base currency.';

create or replace function app.warn_of_amounts(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  times constant int := 100;
  least_minor constant bigint := 100000;
  ids constant text[] := array(select d ->> 'id' from jsonb_array_elements(drafts) as d where d ->> 'id' is not null);
  large jsonb;
  largest bigint;
begin
  select jsonb_object_agg(p.expense_id, p.sort_minor) into large
  from app.payments as p
  where p.expense_id = any (ids) and p.deleted_at is null and p.sort_minor > times * least_minor;
  if large is null then
    return '[]';
  end if;
  largest := (
    select p.sort_minor from app.payments as p
    where p.organization_id = context.organization_id and p.deleted_at is null and p.expense_id <> all (ids)
    order by p.sort_minor desc
    limit 1
  );
  return (
    select case when count(*) = 0 then '[]' else jsonb_build_array(
      app.warning('amount_unusual', jsonb_build_object('names', jsonb_agg(d.name order by d.place)))
    ) end
    from jsonb_to_recordset(drafts) as d (place int, id text, name text)
    where (large ->> d.id)::bigint > times * greatest(largest, least_minor) and largest is not null
  );
end
$$;
comment on function app.warn_of_amounts is
  'Returns a warning about new expenses of more than a hundred times the largest earlier one.';

create or replace function app.warn_of_resemblance(context app.context, drafts jsonb, is_duplicate_allowed boolean)
  returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  alone constant jsonb :=
    jsonb_path_query_array(drafts, '$[*] ? (exists(@.id) && @.direction == "out" && !exists(@.stands_alone))');
  own_ids constant text[] := array(
    select part ->> 'id' from jsonb_array_elements(drafts) as d cross join lateral app.draft_parts(d.value) as part
    where part ? 'id'
  );
  bills jsonb;
  others jsonb;
begin
  select jsonb_agg(jsonb_build_object(
    'name', b.name, 'paid_on', (
      select max(p.paid_on) from app.payments as p where p.expense_id = b.id and p.deleted_at is null
    ), 'next_due', b.next_due
  ) order by d.place) into bills
  from jsonb_to_recordset(alone) as d (place int, name text, payee text, amount_minor bigint, currency text)
  join app.expenses as b
    on b.organization_id = context.organization_id and b.kind = 'bill' and b.status = 'active'
      and b.deleted_at is null and case
        when app.fold_text(b.name) = app.fold_text(d.name) then true
        -- Compare the payee, or a name like "Rent December". A different amount means another purchase from the payee.
        when b.currency = d.currency
          and app.same_amount(d.amount_minor, b.amount_minor, case b.amount_mode when 'fixed' then 0 else 10 end)
          then app.names_agree(d.name, d.payee, b.name, b.payee, false)
      end;
  select jsonb_agg(jsonb_build_object(
    'name', d.name, 'other', o.name, 'by', o.recorder, 'amount',
    app.format_amount(o.amount_minor, o.currency), 'currency', o.currency
  ) order by d.place) into others
  from jsonb_to_recordset(alone) as d (
    place int, name text, payee text, direction text, paid_on date, amount_minor bigint, currency text,
    charged_minor bigint, charged_currency text
  )
  cross join lateral (
    select e.name, p.amount_minor, p.currency,
      case when p.recorded_by <> context.actor_id then app.member_name(p.recorded_by) end as recorder
    from app.payments as p
    cross join lateral (select x.name, x.payee from app.expenses as x where x.id = p.expense_id offset 0) as e
    where p.organization_id = context.organization_id and p.paid_on = d.paid_on and p.deleted_at is null
      and p.direction = d.direction and p.expense_id <> all (own_ids)
      and (
        (p.amount_minor, p.currency) = (d.amount_minor, d.currency)
        or (p.charged_minor, p.charged_currency) = (d.amount_minor, d.currency)
        or (p.amount_minor, p.currency) = (d.charged_minor, d.charged_currency)
      )
      and (
        p.recorded_by <> context.actor_id
        or not is_duplicate_allowed and app.names_resemble(d.name, d.payee, e.name, e.payee)
      )
    order by p.recorded_seq limit 1
  ) as o;
  return case when bills is null then '[]' else app.warning('named_like_bill', jsonb_build_object('bills', bills)) end
    || case when others is null then '[]'
      else app.warning('resembles_another', jsonb_build_object('items', others)) end;
end
$$;
comment on function app.warn_of_resemblance is
  'Returns warnings about logged items that share the name of a bill, its amount and payee, or the amount and day of '
  'another member''s record or of a similarly named one.';

create or replace function app.warn_of_refunds(context app.context, drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  refunds constant jsonb := jsonb_path_query_array(drafts, '$[*] ? (exists(@.id) && @.direction == "refund")');
  unknown jsonb;
  owed jsonb;
  members jsonb;
begin
  if refunds = '[]' then
    return '[]';
  end if;
  -- Compare any word of four or more letters that an expense also has, because people name refunds freely.
  select jsonb_agg(d.name order by d.place) into unknown
  from jsonb_to_recordset(refunds) as d (place int, name text, payee text)
  where not exists (
    select from app.expenses as e
    where e.organization_id = context.organization_id and e.deleted_at is null
      and app.fold_text(concat_ws(' ', e.name, e.payee)) like any (
        select '%' || w.word || '%'
        from regexp_split_to_table(app.fold_text(concat_ws(' ', d.name, d.payee)), '[^[:alnum:]]+') as w (word)
        where length(w.word) > 3
      )
      and exists (
        select from app.payments as p where p.expense_id = e.id and p.direction = 'out' and p.deleted_at is null
      )
  );
  select jsonb_agg(jsonb_build_object(
    'name', d.name, 'other', o.name, 'id', o.expense_id, 'by', o.reimbursed_by,
    'amount', app.format_amount(o.amount_minor, o.currency), 'currency', o.currency
  ) order by d.place) into owed
  from jsonb_to_recordset(refunds) as d (place int, name text, payee text, amount_minor bigint, currency text)
  cross join lateral (
    select p.expense_id, p.reimbursed_by, p.amount_minor, p.currency, e.name
    from app.payments as p
    cross join lateral (select x.name, x.payee from app.expenses as x where x.id = p.expense_id offset 0) as e
    where p.organization_id = context.organization_id and p.reimbursement = 'open' and p.deleted_at is null
      and ((p.amount_minor, p.currency) = (d.amount_minor, d.currency)
        or app.names_resemble(d.name, d.payee, e.name, coalesce(p.reimbursed_by, e.payee)))
    order by (p.amount_minor, p.currency) = (d.amount_minor, d.currency) desc, p.recorded_seq limit 1
  ) as o;
  select jsonb_agg(jsonb_build_object('name', d.name, 'member', m.email) order by d.place) into members
  from jsonb_to_recordset(refunds) as d (place int, name text, payee text)
  cross join lateral (
    select p.email from identity.memberships as o
    join identity.profiles as p on p.user_id = o.user_id
    where o.organization_id = context.organization_id and o.user_id <> context.actor_id
      and app.descriptor_words(split_part(p.email, '@', 1)) <@ app.descriptor_words(concat_ws(' ', d.name, d.payee))
    order by p.email limit 1
  ) as m;
  return case when unknown is null then '[]'
      else app.warning('refund_of_nothing', jsonb_build_object('names', unknown)) end
    || case when owed is null then '[]' else app.warning('refund_of_reimbursed', jsonb_build_object('items', owed)) end
    || case when members is null then '[]'
      else app.warning('refund_of_member', jsonb_build_object('items', members)) end;
end
$$;
comment on function app.warn_of_refunds is
  'Returns warnings about logged refunds without a matching payment, refunds that resemble an open reimbursement, and '
  'refunds named after another member.';

create or replace function app.warn_of_budgets(context app.context, written jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  thresholds constant int[] := array[80, 100];
  reached jsonb;
begin
  if written = '[]' or not exists (
    select from app.budgets as b where b.organization_id = context.organization_id and b.deleted_at is null
  ) then
    return '[]';
  end if;
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'category', s.category, 'per', (s.budget).per, 'spent', app.format_amount(s.spent_minor, (s.budget).currency),
    'limit', app.format_amount(s.available_minor, (s.budget).currency), 'currency', (s.budget).currency
  )) order by (s.budget).per, lower(s.category) nulls first) into reached
  from app.read_budgets(context, context.today) as s
  cross join lateral (
    select sum(case p.direction when 'out' then value.minor else -value.minor end) as minor
    from jsonb_array_elements(written) as d
    cross join lateral app.draft_parts(d.value) as part
    cross join lateral (select w.* from app.payments as w where w.expense_id = part ->> 'id' offset 0) as p
    -- A budget keeps its currency even if the base currency changes.
    cross join lateral (select case when (s.budget).currency = context.base_currency then p.base_minor else (
      app.value_in_base(
        (s.budget).currency, p.amount_minor, p.currency, p.paid_on, p.charged_minor, p.charged_currency
      )
    ).base_minor end as minor) as value
    where p.paid_on between s.from_on and s.to_on and p.deleted_at is null
      and ((s.budget).category_id is null or p.category_id = (s.budget).category_id)
  ) as added
  -- Warn only if these items reached a threshold or went further over the limit.
  where added.minor > 0 and s.spent_minor > s.available_minor or exists (
    select from unnest(thresholds) as percent
    where (s.spent_minor - added.minor) * 100 < s.available_minor * percent
      and s.spent_minor * 100 >= s.available_minor * percent
  );
  return case when reached is null then '[]'
    else app.warning('budget_reached', jsonb_build_object('budgets', reached)) end;
end
$$;
comment on function app.warn_of_budgets is
  'Returns a warning about budgets of the current month and year that the logged items brought to 80 or 100 percent, '
  'or further over the limit.';
