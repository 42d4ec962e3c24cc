set local lock_timeout = '10s';
set local statement_timeout = '60s';
set local check_function_bodies = off;

ALTER TABLE "app"."payments" SET (autovacuum_analyze_scale_factor=0.02);

ALTER TABLE "identity"."organizations" ADD COLUMN "relabel_closed" boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION app.books_begin(earlier app.period)
 RETURNS date
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  first_on constant date :=
    (select p.paid_on from app.payments as p where p.deleted_at is null order by p.paid_on limit 1);
begin
  -- Tolerate a gap of up to a tenth of the period.
  return case when first_on > earlier.from_on + (earlier.to_on - earlier.from_on + 1) / 10 then first_on end;
end
$function$;

CREATE OR REPLACE FUNCTION app.capture_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  change text := nullif(current_setting('app.change_id', true), '');
begin
  -- An unchanged version means that only derived columns changed.
  if change is not null and (tg_op <> 'UPDATE' or new.version <> old.version) then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    values (
      change, coalesce(new.organization_id, old.organization_id), tg_table_name, coalesce(new.id, old.id),
      case when tg_op <> 'INSERT' then to_jsonb(old) end,
      case when tg_op <> 'DELETE' then to_jsonb(new) end
    );
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION app.change_payee_rules(context app.context, rules jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  -- Every logged or imported expense is compared with every rule.
  max_rules constant int := 200;
  rule jsonb;
  place int;
  wanted text;
  category text;
  field text;
  found_id text;
  kept_id text;
  changed jsonb := '[]';
begin
  for rule, place in select r.value, r.ordinality - 1 from jsonb_array_elements(rules) with ordinality as r loop
    wanted := app.clean_text(rule ->> 'payee');
    category := app.clean_text(rule ->> 'category');
    field := format('payee_rules[%s]', place);
    if coalesce(app.payee_words(wanted), '') = '' then
      perform app.fail('invalid_argument.rule_without_payee', field => field || '.payee');
    end if;
    if category is null then
      update app.payee_rules as r set deleted_at = context.at
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.deleted_at is null;
      if not found then
        perform app.fail('not_found.payee_rule', jsonb_build_object('payee', wanted), field || '.payee');
      end if;
    else
      found_id := app.find_category(context, category, field || '.category');
      if found_id is null then
        perform app.fail_without_category(category, field || '.category');
      end if;
      -- Keep one rule for these words, preferably one that already has this category.
      select r.id into kept_id from app.payee_rules as r
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted) and r.deleted_at is null
      order by r.category_id = found_id desc, r.created_at, r.id
      limit 1;
      if kept_id is null then
        insert into app.payee_rules as r (organization_id, payee, category_id)
        values (context.organization_id, wanted, found_id);
      end if;
      update app.payee_rules as r set deleted_at = context.at
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.deleted_at is null and r.id <> kept_id;
      update app.payee_rules as r set payee = wanted, category_id = found_id
      where r.id = kept_id and (r.payee, r.category_id) is distinct from (wanted, found_id);
    end if;
    changed := changed || jsonb_strip_nulls(jsonb_build_object(
      'payee', wanted, 'category', category,
      'about', case when category is not null then array[found_id] end
    ));
  end loop;
  if (select count(*) from app.payee_rules as r where r.deleted_at is null) > max_rules then
    perform app.fail('invalid_argument.too_many_rules', jsonb_build_object('most', max_rules), 'payee_rules');
  end if;
  return changed;
end
$function$;

CREATE OR REPLACE FUNCTION app.change_payment(context app.context, payment app.payments, changes jsonb)
 RETURNS app.payments
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  old constant app.payments := payment;
begin
  -- A new currency without a new amount keeps the figure, if that currency has as many decimals.
  payment.amount_minor := app.parse_amount(
    coalesce(changes ->> 'amount', app.format_amount(payment.amount_minor, payment.currency)),
    coalesce(changes ->> 'currency', payment.currency),
    'set.amount'
  );
  payment.currency := coalesce(changes ->> 'currency', payment.currency);
  payment.direction := case (changes ->> 'is_refund')::boolean when true then 'refund' when false then 'out'
    else payment.direction end;
  payment.paid_on := coalesce(app.parse_paid_on(context, changes ->> 'date', 'set.date'), payment.paid_on);
  if changes ? 'charged' then
    select c.minor, c.charged_currency into payment.charged_minor, payment.charged_currency
    from app.parse_charged(context, changes -> 'charged', payment.currency, 'set.charged') as c;
  elsif changes ? 'currency' and payment.currency in (payment.charged_currency, context.base_currency) then
    payment.charged_minor := null;
    payment.charged_currency := null;
  end if;
  if changes ?| array['tax', 'tax_percent'] then
    select t.minor, t.rate into payment.tax_minor, payment.tax_percent
    from app.parse_tax(changes, payment.amount_minor, payment.currency, 'set') as t;
  elsif payment.tax_minor is not null
    and (payment.amount_minor, payment.currency) <> (old.amount_minor, old.currency) then
    -- A tax with a percentage keeps the percentage; any other keeps its amount.
    select t.minor, t.rate into payment.tax_minor, payment.tax_percent
    from app.parse_tax(
      case when payment.tax_percent is not null then jsonb_build_object('tax_percent', payment.tax_percent)
        else jsonb_build_object('tax', app.format_amount(payment.tax_minor, old.currency)) end,
      payment.amount_minor, payment.currency, 'set'
    ) as t;
  end if;
  payment.paid_by := coalesce(app.parse_payer(context, changes ->> 'paid_by', 'set.paid_by'), payment.paid_by);
  if changes ? 'shared' then
    payment.sharing :=
      app.parse_sharing(context, changes -> 'shared', payment.amount_minor, payment.currency, 'set.shared');
  elsif payment.sharing ->> 'how' = 'amounts'
    and (payment.amount_minor, payment.currency) <> (old.amount_minor, old.currency) then
    perform app.fail('invalid_argument.shares_do_not_add_up', jsonb_build_object(
      'sum', app.format_amount(old.amount_minor, old.currency),
      'amount', app.format_amount(payment.amount_minor, payment.currency), 'currency', payment.currency
    ), 'set.shared');
  end if;
  if changes ?| array['shared', 'paid_by'] then
    perform app.check_shared(payment.sharing, payment.paid_by, (
      select e.category_id from app.expenses as e where e.id = payment.expense_id
    ), 'set.shared');
  end if;
  select r.* into payment.reimbursement, payment.reimbursed_by, payment.reimbursed_on
  from app.parse_reimbursement(
    context, changes, 'set', payment.reimbursement, payment.reimbursed_by, payment.reimbursed_on
  ) as r;
  return payment;
end
$function$;

CREATE OR REPLACE FUNCTION app.change_preferences(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  reminders constant jsonb := coalesce(arguments -> 'reminders', '{}');
  closed_through constant date := app.parse_closed_through(context, arguments ->> 'closed_through');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(arguments ->> 'timezone'), 'base_currency', arguments -> 'base_currency', 'own_only',
    arguments -> 'own_only', 'relabel_closed', arguments -> 'relabel_closed', 'email_enabled',
    reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email',
    reminders -> 'hide_amounts_in_email',
    'mails',
    case when reminders ? 'my_mails' then jsonb_build_object(context.actor_id, reminders -> 'my_mails') end
  )) || case when arguments ? 'closed_through' then jsonb_build_object('closed_through', closed_through)
    else '{}' end;
  before constant jsonb := app.read_preferences(context.organization_id);
begin
  if wanted = '{}' then
    return '{}';
  end if;
  if context.role <> 'owner' and wanted - 'mails' - app.shared_preferences() <> '{}' then
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  elsif wanted ?| app.shared_preferences() and not identity.may('settings:write') then
    perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
  end if;
  if wanted ? 'timezone' and not identity.is_timezone(wanted ->> 'timezone') then
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)),
      'timezone');
  end if;
  if wanted ? 'base_currency' then
    perform app.currency_exponent(wanted ->> 'base_currency', 'base_currency');
  end if;
  if closed_through > coalesce((before ->> 'closed_through')::date, '-infinity') then
    perform app.prepare_closing(context, closed_through);
  end if;
  perform app.write_preferences(context.organization_id, wanted);
  return (
    -- That no month is closed any more is a fact as well, and no fact is null.
    select coalesce(jsonb_object_agg(w.key, case
      when w.key = 'mails' then reminders -> 'my_mails' when w.value = 'null' then '""' else w.value end), '{}')
    from jsonb_each(wanted) as w
    where not before -> w.key @> w.value
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.chart_spending(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  chart constant text := coalesce(arguments ->> 'chart', 'by_category');
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  days constant int := period.to_on - period.from_on + 1;
  earlier constant app.period := app.compared_period(period, 'previous_period', context.today);
  books_begin constant date := app.books_begin(earlier);
  -- Null when dates are given.
  period_name constant text :=
    case when not arguments ?| array['from', 'to'] then coalesce(arguments ->> 'period', 'this_month') end;
  -- The step of the time axis: days for about six weeks, weeks for half a year, else months.
  unit constant text := case when chart <> 'by_category' then
    case when days <= 45 then 'day' when days <= 186 then 'week' else 'month' end
  end;
  -- Budgets apply to one whole month or calendar year only.
  budgeted constant text := case when chart = 'by_category' then case app.whole_months(period)
    when 1 then 'month' when 12 then case when extract(month from period.from_on) = 1 then 'year' end end end;
  dimensions constant text[] := array_remove(array[case when chart <> 'over_time' then 'category' end, unit], null);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  spending app.spending;
  sums record;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  spending := app.sum_spending(context, filter, earlier, null, dimensions, target);
  select coalesce(sum(g.once_minor), 0) as minor, coalesce(sum(g.once_count), 0) as count,
    coalesce(sum(g.once_earlier_minor), 0) as earlier_minor, array_agg(g) filter (where g.count > 0) as drawn
  into sums
  from unnest(spending.groups) as g;
  spending.groups := sums.drawn;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', chart,
      'today', context.today,
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'name', period_name),
      'currency', target,
      'unit', unit,
      'rows',
      app.rank_spending(spending, dimensions, case chart when 'by_category' then 12 else 5 end, target, false),
      'total',
      jsonb_build_object('amount', app.format_minor(sums.minor, exponent), 'currency', target, 'count', sums.count),
      'compared', case when sums.earlier_minor > 0 and books_begin is null then jsonb_build_object(
        'from', earlier.from_on, 'to', earlier.to_on, 'amount', app.format_minor(sums.earlier_minor, exponent)
      ) end,
      'budgets', case when budgeted is not null then (
        select jsonb_agg(b.value)
        from jsonb_array_elements(app.describe_budgets(context, period.from_on, filter.category_ids)) as b
        where b.value ->> 'per' = budgeted and b.value ->> 'currency' = target
      ) end,
      -- Explains a missing comparison.
      'books_begin', case when sums.earlier_minor > 0 then books_begin end,
      'unconverted', spending.unconverted
    ),
    'warnings', case
      when spending.unconverted = '[]' then '[]'::jsonb
      else jsonb_build_array(app.warning('rate_missing.of_chart', jsonb_build_object('into', target)))
    end || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.chart_upcoming_bills(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  -- 30 days from now unless dates are given: on the 30th, "this month" would show one day.
  last_day constant date := coalesce(filter.to_on, greatest(filter.from_on, context.today) + 30);
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  into_exponent constant int := app.currency_exponent(target, 'in_currency');
  into_rate constant app.rate := app.find_rate(target, context.today);
  max_lines constant int := 60;
  due record;
  warnings jsonb := '[]';
begin
  if last_day > context.today + 3660 then
    perform app.fail('date_out_of_range.chart_too_long', jsonb_build_object('date', last_day, 'years', 10), 'to');
  end if;
  with expected as materialized (
    select x.expense_id, b.name, b.frequency = 'daily' as is_daily, x.due_on, x.currency, x.expected_minor,
      x.is_estimate,
      case x.currency when target then x.expected_minor
        else app.convert_minor(x.expected_minor, rate.per_euro, c.exponent, into_rate.per_euro, into_exponent) end
        as minor
    from app.expected_in_period(context, filter.from_on, last_day) as x
    join app.expenses as b on b.id = x.expense_id
    join app.currencies as c on c.code = x.currency
    left join lateral app.rates_as_of(x.currency, context.today) as rate on x.currency <> target
    where filter.category_ids is null or coalesce(x.category_id, '') = any (filter.category_ids)
  ), lines as (
    -- Daily bills share one line: a month of breakfast rolls would bury the rent.
    select e.expense_id, e.name, min(e.due_on) as due_on, max(e.due_on) as last_on, count(*) as dates,
      sum(e.minor) as minor, bool_or(e.is_estimate) as is_estimate
    from expected as e
    where e.minor is not null
    group by e.expense_id, e.name, e.due_on < context.today, case when not e.is_daily then e.due_on end
  )
  select
    array(
      select jsonb_build_object('bill_id', s.expense_id, 'label', s.name, 'x', s.due_on, 'to', s.last_on,
        'dates', s.dates, 'y', app.format_minor(s.minor, into_exponent), 'is_estimate', s.is_estimate)
      from lines as s
      order by s.due_on, s.name, s.expense_id
      limit max_lines
    ) as shown,
    (select coalesce(sum(e.minor), 0) from expected as e) as minor,
    (select sum(e.minor) from expected as e where e.is_estimate) as estimated_minor,
    array(select distinct e.name from expected as e where e.is_estimate and e.expected_minor is not null
      order by e.name)
      as estimated_names,
    array(
      select (e.currency, sum(e.expected_minor))::app.money_sum from expected as e
      where e.is_estimate and e.expected_minor is not null group by e.currency
    ) as estimated_sums,
    (select count(*) from lines) as line_count,
    (select coalesce(sum(l.dates), 0) from lines as l) as count,
    (select coalesce(sum(l.dates), 0) from lines as l where l.due_on < context.today) as overdue_count,
    (select min(l.due_on) from lines as l) as first_on,
    array(select distinct e.name from expected as e where e.expected_minor is null order by e.name) as unknown_amounts,
    (
      select
        coalesce(
        jsonb_agg(
        jsonb_build_object('currency', u.currency, 'amount', app.format_amount(u.minor, u.currency), 'count', u.count)
        order by u.currency), '[]')
      from (
        select e.currency, sum(e.expected_minor) as minor, count(*) as count from expected as e
        where e.minor is null and e.expected_minor is not null group by e.currency
      ) as u
    ) as unconverted
  into due;
  if due.unconverted <> '[]' then
    warnings := warnings || app.warning('rate_missing.of_upcoming', jsonb_build_object('into', target));
  end if;
  warnings := warnings || app.warn_of_estimates(due.estimated_names, due.estimated_sums);
  if due.unknown_amounts <> '{}' then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', due.unknown_amounts));
  end if;
  if due.line_count > max_lines then
    warnings := warnings || app.warning('truncated', jsonb_build_object('shown', max_lines, 'lines', due.line_count));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'chart', 'upcoming_bills',
      'period',
      jsonb_build_object('from', least(due.first_on, coalesce(filter.from_on, context.today)), 'to', last_day),
      'today', context.today,
      'currency', target,
      'unit', 'day',
      'lines', due.shown,
      'total',
      jsonb_build_object('amount', app.format_minor(due.minor, into_exponent), 'currency', target, 'count', due.count,
        'overdue', due.overdue_count, 'estimated', app.format_minor(due.estimated_minor, into_exponent)),
      'unconverted', due.unconverted,
      'unknown_amounts', to_jsonb(due.unknown_amounts)
    ),
    'warnings', warnings
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.choose_category(context app.context, given text, payee text, name text, field text, create_missing boolean DEFAULT false)
 RETURNS app.category_choice
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  -- Computed up front: under row-level security, an expression with coalesce can't use an index.
  wanted_key constant text := lower(coalesce(choose_category.payee, choose_category.name));
  choice app.category_choice;
begin
  if app.clean_text(given) is not null then
    return (app.find_category(context, given, field, create_missing), 'given')::app.category_choice;
  end if;
  choice := (app.find_payee_rule(context, payee, name), 'payee_rule')::app.category_choice;
  if choice.id is not null then
    return choice;
  end if;
  select c.id, 'payee_history' into choice
  from app.expenses as e
  join app.categories as c on c.id = e.category_id and c.archived_at is null
  where e.match_key = wanted_key and e.deleted_at is null
    -- The category of a split part doesn't describe the whole payment.
    and not exists (select from app.payments as p where p.expense_id = e.id and p.split_id is not null)
  order by e.recorded_seq desc
  limit 1;
  if not found then
    -- The name is a better hint than the payee, and a longer keyword better than a shorter one.
    select c.id, 'keyword' into choice
    from (values (choose_category.name, 1), (choose_category.payee, 2)) as texts (text, rank)
    -- Find the matching keywords first: a plain join looks up the category of every keyword.
    cross join lateral (
      select k.keyword, k.category
      from app.category_keywords as k
      where k.keyword = any (array(
        select unnest(array[word, rtrim(word, 's')])
        from regexp_split_to_table(lower(texts.text), '[^[:alnum:]]+') as word
      ))
      offset 0
    ) as k
    join app.categories as c on lower(c.name) = lower(k.category) and c.archived_at is null
    order by texts.rank, length(k.keyword) desc, k.keyword
    limit 1;
  end if;
  if not found then
    choice.source := 'none';
  end if;
  return choice;
end
$function$;

CREATE OR REPLACE FUNCTION app.compared_period(period app.period, compare text, today date)
 RETURNS app.period
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
declare
  earlier app.period := app.earlier_period(period, compare);
begin
  if today >= period.from_on and today < period.to_on then
    -- Align days of the month, and month ends with month ends. Dates on the 1st or the last day then fall into both
    -- periods or neither.
    earlier.to_on :=
      least(earlier.to_on, greatest((today - earlier.shift)::date, (today + 1 - earlier.shift)::date - 1));
  end if;
  return earlier;
end
$function$;

CREATE OR REPLACE FUNCTION app.confirm_records(context app.context, arguments jsonb, ids text[], action text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  max_count constant int := 20;
  max_total constant int := 1000;
  weight constant jsonb := app.weigh_records(ids);
  total constant text := app.format_amount((weight ->> 'minor')::numeric, context.base_currency);
  wanted constant jsonb := jsonb_build_object('count', weight -> 'count', 'total', total);
begin
  if not arguments ? 'filter' and (action = 'update' or (
    -- Deleting a bill with payments changes totals.
    not (starts_with(ids[1], 'bill_') and (weight ->> 'count')::int > 1)
    and (weight ->> 'count')::int <= max_count and total::numeric <= max_total and weight ->> 'unknown' is null
  )) then
    return null;
  end if;
  if coalesce((arguments ->> 'dry_run')::boolean, false) or (
    (arguments #>> '{confirm,count}')::int = (weight ->> 'count')::int
    and (arguments #>> '{confirm,total}')::numeric = total::numeric
  ) then
    return wanted;
  end if;
  perform app.fail('confirmation_required', jsonb_build_object(
    'action', action, 'count', weight -> 'count', 'amount', total, 'currency', context.base_currency,
    'unknown', weight -> 'unknown',
    'details', jsonb_build_object('confirm', wanted, 'currency', context.base_currency)
  ), 'confirm');
end
$function$;

CREATE OR REPLACE FUNCTION app.delete_records(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  ids constant text[] := app.find_records(context, arguments);
  names text[];
  payments jsonb;
  confirmed jsonb;
  warnings jsonb := '[]';
begin
  if cardinality(ids) > 1 and exists (select from unnest(ids) as id where starts_with(id, 'bill_')) then
    perform app.fail('invalid_argument.bill_among_others', field => 'ids');
  end if;
  perform app.require_records(context, ids);
  -- People see the records that they share, but may delete only those that they recorded or look after.
  if identity.sees_own_only() and exists (
    select from app.expenses as e
    where e.id = any (ids) and (select auth.uid()) not in (e.created_by, e.assignee_id) is not false
  ) then
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'), 'ids');
  end if;
  if starts_with(ids[1], 'bill_') then
    perform app.refresh_bill(ids[1], context.today);
  end if;
  perform app.check_expected(context, ids, coalesce(arguments -> 'expected', '[]'));
  confirmed := app.confirm_records(context, arguments, ids, 'delete');

  if starts_with(ids[1], 'bill_') then
    select
      jsonb_build_object('count', coalesce(sum(s.count), 0), 'totals',
      coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net, s.currency)), '{}'))
    into payments
    from (
      select p.currency, count(*) as count,
        sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) as net
      from app.payments as p
      where p.expense_id = ids[1] and p.deleted_at is null
      group by p.currency
    ) as s;
    if payments ->> 'count' <> '0' then
      warnings := warnings || app.warning('payments_deleted', payments);
    end if;
  end if;
  update app.payments as p set deleted_at = context.at where p.expense_id = any (ids) and p.deleted_at is null;
  update app.expenses as e set deleted_at = context.at where e.id = any (ids);
  warnings := warnings || app.warn_of_parts(ids);
  names := array(select e.name from app.expenses as e where e.id = any (ids) order by array_position(ids, e.id));
  return jsonb_build_object(
    'data', jsonb_build_object(
      'deleted', app.first_few((
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'id', e.id, 'name', e.name, 'payee', e.payee,
          'amount', app.format_amount(p.amount_minor, p.currency), 'currency', p.currency, 'date', p.paid_on,
          'payments', payments
        )) order by array_position(ids, e.id))
        from app.expenses as e
        left join app.payments as p
          on p.expense_id = e.id and p.deleted_at = context.at and not starts_with(e.id, 'bill_')
        where e.id = any (ids)
      )),
      'count', cardinality(ids),
      'restorable_until', ((context.at + app.kept_for('deleted_records')) at time zone context.timezone)::date,
      'confirm', case when (arguments ->> 'dry_run')::boolean then confirmed end
    ),
    'warnings', warnings || app.warn_of_unfound(context, arguments),
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'count', cardinality(names), 'names', to_jsonb(names[:4]), 'reason', app.clean_text(arguments ->> 'reason')
    ))
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.describe_payments(context app.context, payment_ids text[], sort_column text)
 RETURNS jsonb[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
begin
  return array(
    select jsonb_build_object(
      'id', case when starts_with(p.expense_id, 'bill_') then p.id else p.expense_id end,
      'kind', app.kind_of_payment(p.direction, p.expense_id),
      'date', p.paid_on, 'name', e.name, 'payee', e.payee, 'category', category.name, 'tags', nullif(e.tags, '{}'),
      'note', case when starts_with(p.expense_id, 'bill_') then p.note else e.note end, 'url', e.url,
      'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency,
      'charged', case when p.charged_minor is not null then jsonb_build_object(
        'amount', app.format_amount(p.charged_minor, p.charged_currency), 'currency', p.charged_currency
      ) end,
      'tax', app.format_minor(p.tax_minor, c.exponent), 'tax_percent', trim_scale(p.tax_percent),
      'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
      'split_id', app.shown_split_id(p), 'base_amount', app.format_minor(p.base_minor, base.exponent),
      'is_estimate', nullif(p.is_estimate, false),
      'shared', case when p.sharing is not null then app.describe_shares(p.id) end,
      'bill_id', case when starts_with(p.expense_id, 'bill_') then p.expense_id end,
      -- An expense and its payment appear as one row, so their changes count together.
      'version', case when starts_with(p.expense_id, 'bill_') then p.version else e.version + p.version - 1 end,
      -- The position in the sort order, for cursors.
      'key', jsonb_build_array(
        case sort_column when 'paid_on' then to_jsonb(p.paid_on) when 'sort_minor' then to_jsonb(p.sort_minor)
          when 'recorded_seq' then to_jsonb(p.recorded_seq)
          else to_jsonb(p.amount_minor) end,
        p.recorded_seq
      ),
      'pending_on', case when not p.is_final and p.base_minor is not null then p.paid_on end
    )
    from unnest(payment_ids) with ordinality as ids (id, place)
    join app.payments as p on p.id = ids.id
    join app.expenses as e on e.id = p.expense_id
    join app.currencies as c on c.code = p.currency
    join app.currencies as base on base.code = context.base_currency
    left join app.categories as category on category.id = p.category_id
    order by ids.place
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.earlier_period(period app.period, compare text)
 RETURNS app.period
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
declare
  shift constant interval := case compare when 'same_period_last_year' then interval '1 year'
    when 'previous_period' then period.shift end;
begin
  return case when shift is not null then (
    (period.from_on - shift)::date,
    least(
      period.from_on - 1,
      case
        -- A whole step ends the day before this period, even if the 31st shifts into a shorter month.
        when (period.from_on + shift)::date = period.to_on + 1 then period.from_on - 1
        -- Month ends shift to month ends, and the whole of February stays whole in leap years.
        when extract(day from period.from_on) = 1
          then greatest((period.to_on - shift)::date, (period.to_on + 1 - shift)::date - 1)
        else (period.to_on - shift)::date
      end
    ),
    shift
  )::app.period end;
end
$function$;

CREATE OR REPLACE FUNCTION app.export_organization(part text, after jsonb, at_most integer)
 RETURNS TABLE(key jsonb, shown jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  organization constant text := identity.current_organization_id();
begin
  case part
    when 'settings' then return query
      select to_jsonb(o.id), jsonb_build_object(
        'id', o.id, 'name', o.name, 'base_currency', o.base_currency, 'timezone', p.timezone,
        'closed_through', o.closed_through, 'own_only', o.own_only, 'relabel_closed', o.relabel_closed,
        'plan', identity.effective_plan(o, app.instant()), 'trial_ends_at', o.trial_ends_at,
        'created_at', o.created_at
      )
      from identity.organizations as o
      join identity.profiles as p on p.user_id = o.owner_id
      where o.id = organization and after is null;
    when 'members' then return query
      select to_jsonb(m.user_id), jsonb_build_object(
        'email', p.email, 'role', m.role, 'sees_private', m.sees_private, 'mails', m.mails, 'since', m.created_at
      )
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      where m.organization_id = organization and (after is null or m.user_id > (after #>> '{}')::uuid)
      order by m.user_id
      limit at_most;
    when 'changes' then return query
      select to_jsonb(s.recorded_seq), jsonb_build_object(
        'id', s.id, 'at', s.created_at, 'by', p.email, 'client', s.client_name, 'tool', s.tool, 'facts', s.facts,
        'undoes', s.undoes, 'undone_by', s.undone_by
      )
      from app.change_sets as s
      left join identity.profiles as p on p.user_id = s.actor_id
      where s.organization_id = organization and (after is null or s.recorded_seq > (after #>> '{}')::bigint)
      order by s.recorded_seq
      limit at_most;
  end case;
end
$function$;

CREATE OR REPLACE FUNCTION app.export_statements(part text, after jsonb, at_most integer)
 RETURNS TABLE(key jsonb, shown jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
    when 'statement_lines' then return query
      select jsonb_build_array(l.booked_on, l.id), jsonb_build_object(
        'id', l.id, 'account_id', l.account_id, 'account', a.name, 'booked_on', l.booked_on, 'text', l.text,
        'kind', case when l.kind in ('expense', 'refund') and (l.other_half_id is not null
          or exists (select from app.statement_lines as o where o.other_half_id = l.id)) then 'own_transfer'
          else l.kind end,
        'amount', app.format_minor(case l.direction when 'out' then 1 else -1 end * l.amount_minor, c.exponent),
        'currency', l.currency, 'is_skipped', l.is_skipped,
        -- "offset 0", since on tables that were never analyzed a join reads all payments for each line.
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
$function$;

CREATE OR REPLACE FUNCTION app.fail_without_category(name text, field text, is_filter boolean DEFAULT true)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  most constant int := 40;
  suggestions constant text[] := app.suggest_categories(name);
begin
  perform app.fail('category_not_found', jsonb_build_object(
    'name', name,
    -- The argument or tool that can create the category, if the caller may create one here.
    'make_by',
    case when is_filter then null when starts_with(field, 'items') then 'create_missing_categories'
      else 'update_settings' end,
    'details', jsonb_build_object('suggestions', suggestions) || case
      -- Names in another language resemble none, so list the existing categories instead.
      when suggestions = '{}' then jsonb_build_object('categories', array(
        select c.name from app.categories as c where c.archived_at is null order by lower(c.name) limit most
      ))
      else '{}' end
  ), field);
end
$function$;

CREATE OR REPLACE FUNCTION app.find_filter_categories(names jsonb, field text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  ids text[];
  category_id text;
  wanted text;
begin
  for wanted in select app.clean_text(n) from jsonb_array_elements_text(names) as n loop
    -- Include archived categories, whose spending stays in the books.
    select c.id into category_id from app.categories as c where lower(c.name) = lower(wanted)
    order by c.is_private desc limit 1;
    if category_id is null and lower(wanted) <> 'uncategorized' then
      perform app.fail_without_category(wanted, field);
    end if;
    ids := ids || coalesce(category_id, '');
  end loop;
  return ids;
end
$function$;

CREATE OR REPLACE FUNCTION app.find_member(context app.context, wanted text, field text)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  near jsonb;
begin
  if wanted is null or lower(wanted) = 'me' then
    return case when wanted is not null then context.actor_id end;
  end if;
  select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email) order by m.email) into near
  from (
    select m.user_id, m.email, rank() over (order by lower(m.email) <> lower(wanted)) as place
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where strpos(lower(m.email), lower(wanted)) > 0
  ) as m
  where m.place = 1;
  if near is null then
    -- "Benjamin" means ben@… if only one address fits.
    select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email)) into near
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where length(split_part(m.email, '@', 1)) >= 3 and starts_with(lower(wanted), lower(split_part(m.email, '@', 1)))
      and strpos(wanted, '@') = 0;
  end if;
  if jsonb_array_length(near) = 1 then
    return near #>> '{0,id}';
  end if;
  perform app.fail('not_found.member', jsonb_build_object(
    'member', wanted,
    'details', jsonb_build_object('members', coalesce(
      jsonb_path_query_array(near, '$[*].email'),
      (select jsonb_agg(app.member_name(m.user_id) order by m.created_at) from identity.memberships as m)
    ))
  ), field);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION app.find_payee_rule(context app.context, payee text, name text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  by_payee constant text := app.payee_words(payee) || ' ';
  by_name constant text := app.payee_words(name) || ' ';
begin
  return (
    select c.id
    from app.payee_rules as r
    join app.categories as c on c.id = r.category_id and c.archived_at is null
    where r.organization_id = context.organization_id and r.deleted_at is null
      and (starts_with(by_payee, r.words || ' ') or starts_with(by_name, r.words || ' '))
    -- Prefer the private category: a person who can't see it made the other rule for these words.
    order by length(r.words) desc, r.words, c.is_private desc, r.created_at desc, r.id
    limit 1
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.find_records(context app.context, arguments jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  filter app.expense_filter;
  max_found constant int := 500;
  found_ids text[];
begin
  if (arguments ? 'ids') = (arguments ? 'filter') or arguments -> 'filter' = '{}' then
    perform app.fail('invalid_argument.ids_or_filter', field => 'ids');
  end if;
  if arguments ? 'ids' then
    return array(select jsonb_array_elements_text(arguments -> 'ids'));
  end if;
  filter := app.parse_expense_filter(context, arguments -> 'filter');
  -- Find, lock and find again: concurrent changes may have moved records out of the filter.
  for turn in 1..2 loop
    -- Bill payments take their fields from the bill.
    found_ids := array(
      select p.expense_id from app.find_payments(filter) as p where not starts_with(p.expense_id, 'bill_')
      order by p.paid_on desc, p.recorded_seq desc limit max_found + 1
    );
    perform from app.expenses as e where e.id = any (found_ids) order by e.id for no key update;
  end loop;
  if found_ids = '{}' then
    perform app.fail('not_found.by_filter', field => 'filter');
  end if;
  if cardinality(found_ids) > max_found then
    perform app.fail('invalid_argument.too_many_records', jsonb_build_object('most', max_found), 'filter');
  end if;
  return found_ids;
end
$function$;

CREATE OR REPLACE FUNCTION app.find_same_payment(draft jsonb)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION app.is_long(tool text, arguments jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  many constant int := 1000;
  target_id text := arguments ->> 'change_id';
begin
  if tool <> 'undo_change' then
    return tool = 'import_expenses';
  end if;
  if target_id is null then
    -- The latest change of this connection, as in app.find_latest_change.
    target_id := app.find_own_latest((auth.jwt() ->> 'grant_id')::uuid);
  end if;
  -- The undo of an import waits for imports first, because a commit locks lines whose other halves it has.
  return exists (select from app.change_sets as s where s.id = target_id and s.tool = 'import_expenses')
    or exists (select from app.change_items as i where i.change_id = target_id offset many);
end
$function$;

CREATE OR REPLACE FUNCTION app.is_relabeling(before jsonb, after jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  -- Generated columns are still null in a before trigger.
  ignored constant text[] := '{note,tags,category_id,version,updated_at,match_key,sort_minor}';
begin
  return before - ignored = after - ignored
    -- Members' totals leave out private categories.
    and not exists (
      select from app.categories as c
      where c.id in (before ->> 'category_id', after ->> 'category_id')
        and c.is_private and before -> 'category_id' <> after -> 'category_id'
    );
end
$function$;

CREATE OR REPLACE FUNCTION app.list_expenses(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET random_page_cost TO '1.1'
AS $function$
declare
  filter constant app.expense_filter := app.parse_expense_filter(context, arguments);
  is_csv constant boolean := coalesce(arguments ->> 'format' = 'csv', false);
  is_by_amount constant boolean := coalesce(arguments ->> 'sort' = 'amount', false);
  -- Amounts in one currency sort by amount, those in several by value.
  is_by_day constant boolean := coalesce(arguments ->> 'sort', 'date') = 'date';
  sort_column constant text :=
    case when is_by_day then 'paid_on' when not is_by_amount then 'recorded_seq' when filter.currency is null
    then 'sort_minor'
    else 'amount_minor' end;
  is_ascending constant boolean := coalesce(arguments ->> 'order' = 'asc', false);
  page_size constant int := coalesce((arguments ->> 'limit')::int, case when is_csv then 500 else 25 end);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_expenses', arguments - 'cursor' - 'limit');
  key constant jsonb :=
    app.read_cursor(scope, arguments ->> 'cursor', case when is_by_day then 'date'::regtype else 'bigint' end);
  sums app.payment_sum[];
  payment_ids text[];
  page jsonb[];
  next_cursor text;
  cursors text[];
  total_count bigint;
  totals jsonb;
  pending_since date;
begin
  if app.is_plain(filter) and is_by_day and not is_ascending then
    sums := app.sum_plain_payments(filter);
    payment_ids := app.list_plain_payments(filter, key, page_size);
  else
    -- Built from fixed words only: an order that an index can follow cannot be a parameter. Text and tag matches are
    -- materialized, since only each row can tell them. Other matches are counted in one index and paged along another.
    execute format(
      $query$
        with matching as %5$s (
          select p.*, p.%1$s as sort_key from app.find_payments($1) as p
        )
        select
          array(
            select (
              m.currency, count(*), sum(case m.direction when 'out' then m.amount_minor else -m.amount_minor end),
              count(m.tax_minor), sum(case m.direction when 'out' then m.tax_minor else -m.tax_minor end)
            )::app.payment_sum
            from matching as m
            group by m.currency
          ),
          array(
            select m.payment_id
            from matching as m
            where $2 is null or (m.sort_key, m.recorded_seq) %3$s (($2 ->> 0)::%4$s, ($2 ->> 1)::bigint)
            order by m.sort_key %2$s, m.recorded_seq %2$s
            limit $3 + 1
          )
      $query$,
      sort_column,
      case when is_ascending then 'asc' else 'desc' end,
      case when is_ascending then '>' else '<' end,
      case when is_by_day then 'date' else 'bigint' end,
      case when num_nonnulls(filter.payee, filter.words) > 0 or filter.tags <> '{}' then 'materialized'
        else 'not materialized' end
    ) into sums, payment_ids using filter, key, page_size;
  end if;
  select coalesce(sum(s.count), 0),
    coalesce(jsonb_object_agg(s.currency, app.format_amount(s.net_minor, s.currency)), '{}')
  into total_count, totals
  from unnest(sums) as s;

  page := app.describe_payments(context, payment_ids[:page_size], sort_column);
  if cardinality(payment_ids) > page_size then
    next_cursor := app.write_cursor(scope, page[page_size] -> 'key');
  end if;
  cursors := array(select app.write_cursor(scope, r -> 'key') from unnest(page) as r);
  pending_since := (select min((r ->> 'pending_on')::date) from unnest(page) as r);
  return jsonb_build_object(
    'data', jsonb_build_object(case when is_csv then 'csv' else 'rows' end, (
      select coalesce(jsonb_agg(r.shown - array['key', 'pending_on'] order by r.place), '[]')
      from unnest(page) with ordinality as r (shown, place)
    ), 'tax_by_currency', app.describe_tax(sums),
      'no_match', case when total_count = 0 and key is null then app.find_near_matches(filter) end),
    'next_cursor', next_cursor, 'total_count', total_count, 'totals_by_currency', totals,
    'page', jsonb_build_object('list', case when is_csv then 'csv' else 'rows' end, 'cursors', cursors),
    -- Without limit and cursor, the file holds every match. Fixed dates keep it the same on any day.
    'file', case when is_csv and not arguments ?| array['limit', 'cursor'] then jsonb_build_object(
      'user_id', context.actor_id,
      'filter', jsonb_strip_nulls((arguments - 'format') || jsonb_build_object(
        'from', filter.from_on, 'to', filter.to_on
      ))
    ) end,
    'warnings', app.warn_of_pending(pending_since is not null, context.base_currency, pending_since)
      || app.warn_of_unvalued(filter)
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.list_known_lines(account_id text, first date, last date)
 RETURNS SETOF app.statement_lines
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return query
    select l.* from app.statement_lines as l
    where l.account_id = list_known_lines.account_id and l.organization_id = identity.current_organization_id()
      and l.booked_on between list_known_lines.first and list_known_lines.last
      -- Lines that the books rejected, as in a closed month, can still be imported.
      and (l.kind not in ('expense', 'refund', 'unreadable') or l.is_skipped or l.is_forgotten
        or l.other_half_id is not null
        or exists (select from app.statement_lines as o where o.other_half_id = l.id)
        or exists (select from app.statement_links as k where k.line_id = l.id));
end
$function$;

CREATE OR REPLACE FUNCTION app.list_plain_payments(filter app.expense_filter, key jsonb, page_size integer)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
declare
  from_on constant date := coalesce(filter.from_on, '-infinity');
  to_on constant date := coalesce(filter.to_on, 'infinity');
  wanted_currency constant text := filter.currency;
  wanted_kind constant text := filter.kind;
  category_ids constant text[] := filter.category_ids;
  not_category_ids constant text[] := filter.not_category_ids;
  -- Give the index one upper bound, or it may start at the wrong one: the key of the page, or the last day on the first
  -- page.
  is_first constant boolean := coalesce((key ->> 0)::date > to_on, true);
  after_on constant date := case when is_first then to_on else (key ->> 0)::date end;
  after_seq constant bigint := case when is_first then 9223372036854775807 else (key ->> 1)::bigint end;
begin
  return array(
    select p.id
    from app.payments as p
    where p.deleted_at is null and p.paid_on >= from_on and (p.paid_on, p.recorded_seq) < (after_on, after_seq)
      and (wanted_currency is null or p.currency = wanted_currency)
      and (wanted_kind is null or wanted_kind = app.kind_of_payment(p.direction, p.expense_id))
      and (category_ids is null or coalesce(p.category_id, '') = any (category_ids))
      and (not_category_ids is null or coalesce(p.category_id, '') <> all (not_category_ids))
    order by p.paid_on desc, p.recorded_seq desc
    limit page_size + 1
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.log_expenses(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  is_duplicate_allowed constant boolean := coalesce(arguments ->> 'on_duplicate' = 'allow', false);
  drafts jsonb[] := app.parse_expense_items(
    context, arguments -> 'items', coalesce((arguments ->> 'create_missing_categories')::boolean, false)
  );
  last_closed constant date := (
    select o.closed_through from identity.organizations as o where o.id = context.organization_id
  );
  -- Ids assigned by this call, by external id.
  own_ids jsonb := '{}';
  closed jsonb := '[]';
  known_id text;
  existing_id text;
  bill jsonb;
  written jsonb;
  totals jsonb;
begin
  perform app.refresh_passed_bills(context);
  -- Compare with the books before the call: two equal items in one call are two expenses. An external id is unique,
  -- even within a call.
  for i in 1..cardinality(drafts) loop
    known_id := case when drafts[i] ->> 'external_id' is not null
      then coalesce(app.find_external(drafts[i] ->> 'external_id'), own_ids ->> (drafts[i] ->> 'external_id')) end;
    existing_id := coalesce(known_id, app.find_same_payment(drafts[i]));
    if existing_id is not null and not is_duplicate_allowed then
      drafts[i] := drafts[i] || jsonb_build_object('existing_id', existing_id);
      continue;
    end if;
    bill := case when known_id is null then app.find_likely_bill(context, drafts[i]) end;
    if bill is not null and not is_duplicate_allowed then
      drafts[i] := drafts[i] || jsonb_build_object('bill', bill);
      continue;
    elsif bill is not null then
      drafts[i] := drafts[i] || '{"stands_alone": true}';
    end if;
    if (drafts[i] ->> 'paid_on')::date <= last_closed then
      closed := closed || jsonb_build_object(
        'index', i - 1, 'status', 'invalid', 'name', drafts[i] -> 'name', 'error', jsonb_build_object(
          'code', 'month_closed', 'params', app.closed_month((drafts[i] ->> 'paid_on')::date),
          'field', format('items[%s].date', i - 1)
        )
      );
    end if;
    drafts[i] := app.identify_parts(drafts[i] || jsonb_build_object('id', app.new_id('exp')));
    if known_id is not null then
      drafts[i] := drafts[i] - 'external_id';
    elsif drafts[i] ? 'external_id' then
      own_ids := own_ids || jsonb_build_object(drafts[i] ->> 'external_id', drafts[i] -> 'id');
    end if;
  end loop;
  if closed <> '[]' then
    perform app.fail_items(closed, cardinality(drafts));
  end if;

  written := jsonb_path_query_array(to_jsonb(drafts), '$[*] ? (exists(@.id))');
  perform app.write_expenses(context, (
    select coalesce(jsonb_agg(part order by d.ordinality), '[]')
    from jsonb_array_elements(written) with ordinality as d
    cross join lateral app.draft_parts(d.value) as part
  ), 'assistant');
  totals := app.total_drafts(written);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'results', app.describe_drafts(context, to_jsonb(drafts), coalesce((arguments ->> 'dry_run')::boolean, false)),
      'totals_by_currency', totals
    ),
    'warnings', app.warn_of_drafts(context, to_jsonb(drafts)),
    'facts', jsonb_build_object(
      'count', jsonb_array_length(written),
      -- Names of the first few items are enough for readers.
      'written', (
        select
          coalesce(jsonb_agg(jsonb_build_object('name', d -> 'name', 'is_refund', d ->> 'direction' = 'refund')), '[]')
        from jsonb_array_elements(jsonb_path_query_array(written, '$[0 to 3]')) as d
      ),
      'totals_by_currency', totals
    )
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.match_known_rows(context app.context, batch app.import_batches, first integer, last integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_nestloop TO 'off'
AS $function$
declare
  days constant text[] := array(
    select distinct r.draft ->> 'paid_on' from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.draft is not null
  );
begin
  update app.import_rows as r
  set match = jsonb_build_object('state', case when found.is_transfer then 'transfer' else 'known' end,
    'line_id', found.id, 'payment_ids', array(
    select k.payment_id from app.statement_links as k join app.payments as p on p.id = k.payment_id
    where k.line_id = found.id and p.deleted_at is null
    ))
  from (
    select s.line, l.id, l.kind = 'own_transfer' or l.other_half_id is not null or exists (
        select from app.statement_lines as o where o.other_half_id = l.id
    ) as is_transfer,
      row_number() over (partition by s.line order by l.text = s.text desc, l.nth = s.nth desc, l.nth, l.id)
        as choice,
      row_number() over (partition by l.id order by l.text = s.text desc, l.nth = s.nth desc, s.line)
        as turn
    from app.statement_rows(context, batch, days) as s
    join (
      select k.* from app.list_known_lines(
        batch.account_id, (select min(d::date) from unnest(days) as d), (select max(d::date) from unnest(days) as d)
      ) as k
      offset 0
    ) as l on l.booked_on = s.booked_on and l.amount_minor = s.amount_minor and l.currency = s.currency
      and l.direction = s.direction
    where l.text = s.text and l.nth = s.nth
      -- In another export the bank says it in other words.
      or l.text <> s.text and app.compare_names(app.descriptor_words(l.text), app.descriptor_words(s.text)) > 1
  ) as found
  where r.import_id = batch.id and r.line = found.line and r.line between first and last and r.draft is not null
    and not r.is_skipped and r.match is null and found.choice = 1 and found.turn = 1;
end
$function$;

CREATE OR REPLACE FUNCTION app.name_parties(ids uuid[])
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Security definer: people see only members' profiles, but a debt keeps the name of a former member known.
  return (
    select coalesce(jsonb_object_agg(n.id, coalesce(
      n.email, case when n.nameless > 1 then 'former member ' || left(n.id::text, 4) end
    )), '{}')
    from (
      select i.id, p.email, count(*) filter (where p.email is null) over () as nameless
      from (select distinct unnest(ids) as id) as i
      left join identity.profiles as p on p.user_id = i.id
      where exists (
        select from app.payment_shares as s
        where s.organization_id = identity.current_organization_id() and i.id in (s.member_id, s.paid_by)
      ) or exists (
        select from app.settlements as t
        where t.organization_id = identity.current_organization_id() and i.id in (t.from_id, t.to_id)
      )
    ) as n
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.pair_halves(context app.context, batch app.import_batches, first integer, last integer)
 RETURNS TABLE(line integer, half_id text, is_spending boolean, is_sure boolean, payment_ids text[])
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_nestloop TO 'off'
AS $function$
#variable_conflict use_column
declare
  days constant int := 5;
  most constant int := 5000;
  first_day date;
  last_day date;
  halves app.statement_lines[];
  found record;
  used_lines int[] := '{}';
  used_halves text[] := '{}';
begin
  select min(d.day)::date - days, max(d.day)::date + days into first_day, last_day
  from (
    select substring(coalesce(r.draft ->> 'paid_on', r.item ->> 'date') from '^\d{4}-\d\d-\d\d$') as day
    from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.error is null
  ) as d;
  halves := array(select l from app.list_free_halves(context, batch, first_day, last_day) as l);
  if halves = '{}' then
    return;
  end if;
  for found in
    with taken as materialized (
      select r.match ->> 'half_id' as id from app.import_rows as r
      where r.import_id = batch.id and r.match ? 'half_id'
    ), free as materialized (
      select (h).*, a.name as account_name
      from unnest(halves) as h
      join app.accounts as a on a.id = (h).account_id
      where (h).id not in (select t.id from taken as t)
    ), staged as materialized (
      select s.*, s.kind in ('expense', 'refund') as is_spending
      from app.statement_rows(context, batch, array(
        select d::date::text from generate_series(first_day, last_day, interval '1 day') as d
      )) as s
      where not s.is_skipped
        and case when s.kind in ('expense', 'refund')
          then s.draft is not null and s.line between first and last
            and (s.match is null or s.match = '{"state": "new"}')
          else s.match is null and s.kind in ('own_transfer', 'savings', 'top_up', 'card_payment', 'income') end
    ), pairs as materialized (
      select s.line, s.is_spending, f.id,
        exists (select from app.statement_links as k where k.line_id = f.id) as is_booked,
        s.kind = 'income' or f.kind = 'income' as is_income, abs(s.booked_on - f.booked_on) as gap,
        app.compare_names(app.descriptor_words(f.account_name), app.descriptor_words(s.text)) > 0 as is_named
      from staged as s
      join free as f on f.amount_minor = s.amount_minor and f.currency = s.currency and f.direction <> s.direction
      where abs(s.booked_on - f.booked_on) <= days
        and not (s.is_spending and f.kind in ('expense', 'refund'))
        and not (s.kind = 'income' and f.kind = 'income')
        -- A line that was imported before has found its half by then.
        and (s.is_spending or not exists (
          select from app.statement_lines as l
          where l.account_id = batch.account_id and l.booked_on = s.booked_on and l.amount_minor = s.amount_minor
            and l.currency = s.currency and l.direction = s.direction and l.text = s.text
        ))
    ), counted as (
      select p.*, count(*) filter (where p.is_spending and not p.is_named) over (partition by p.id) as rivals
      from pairs as p
      -- Income of the same amount does not make a purchase a transfer.
      where not (p.is_booked and p.is_income)
    )
    select c.*, case when c.is_booked then app.list_removable(context, c.id) end as removes
    from counted as c
    order by c.is_spending or c.is_booked, c.is_named desc, c.is_booked, c.is_income, c.gap, c.line, c.id
    limit most
  loop
    continue when found.line = any (used_lines) or found.id = any (used_halves)
      or found.is_booked and found.removes is null;
    line := found.line;
    half_id := found.id;
    is_spending := found.is_spending;
    is_sure := not found.is_booked and not (found.is_spending and found.is_income)
      and (not found.is_spending or found.is_named or found.rivals < 2);
    payment_ids := found.removes;
    used_lines := used_lines || line;
    -- Several rows that may be the same half are all asked about.
    if is_sure or found.is_booked then
      used_halves := used_halves || half_id;
    end if;
    return next;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION app.parse_closed_through(context app.context, month text)
 RETURNS date
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  if month ~ '^--(0[1-9]|1[0-2])$' then
    -- Without a year, the latest such month that has ended.
    month := extract(year from context.today)::int - (right(month, 2)::int >= extract(month from context.today))::int
      || right(month, 3);
  end if;
  if month = '' then
    return null;
  elsif month !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or month >= app.month_name(context.today) then
    perform app.fail('date_out_of_range.month_not_over', jsonb_build_object('month', left(month, 40)),
      'closed_through');
  end if;
  return ((month || '-01')::date + interval '1 month')::date - 1;
end
$function$;

CREATE OR REPLACE FUNCTION app.parse_expense_filter(context app.context, arguments jsonb)
 RETURNS app.expense_filter
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  filter app.expense_filter;
  base_exponent int;
begin
  filter.from_on := app.parse_date(context, arguments ->> 'from', 'from', true);
  filter.to_on := app.parse_date(context, arguments ->> 'to', 'to', true);
  if filter.from_on > filter.to_on then
    perform app.fail('invalid_argument.period_backwards',
      jsonb_build_object('from', filter.from_on, 'to', filter.to_on), 'to');
  end if;
  filter.words := app.word_patterns(arguments ->> 'query');
  filter.payee := lower(app.clean_text(arguments ->> 'payee'));
  filter.kind := arguments ->> 'kind';
  filter.reimbursement := arguments ->> 'reimbursement';
  filter.currency := arguments ->> 'currency';
  filter.amount_currency := coalesce(filter.currency, context.base_currency);
  base_exponent := app.currency_exponent(filter.amount_currency, 'currency');
  filter.min_minor := (arguments ->> 'min_amount')::numeric * 10::numeric ^ base_exponent;
  filter.max_minor := (arguments ->> 'max_amount')::numeric * 10::numeric ^ base_exponent;
  if filter.min_minor > filter.max_minor then
    perform app.fail('invalid_argument.amounts_backwards', field => 'max_amount');
  end if;
  -- Two bounds find an amount as charged, in any currency. A single bound compares values, since 1,280 JPY isn't more
  -- than 1,000 EUR.
  if num_nonnulls(filter.min_minor, filter.max_minor) = 2 then
    filter.own_bounds := (
      select jsonb_object_agg(c.code, jsonb_build_array(
        filter.min_minor * 10::numeric ^ (c.exponent - base_exponent),
        filter.max_minor * 10::numeric ^ (c.exponent - base_exponent)
      ))
      from app.currencies as c
    );
  end if;
  filter.tags := array(select lower(t) from unnest(nullif(app.clean_tags(arguments -> 'tags', 'tags'), '{}')) as t);
  filter.category_ids := app.find_filter_categories(arguments -> 'categories', 'categories');
  filter.not_category_ids := app.find_filter_categories(arguments -> 'not_categories', 'not_categories');
  filter.member_id := app.find_member(context, app.clean_text(arguments ->> 'member'), 'member');
  filter.borne_by := app.find_member(context, app.clean_text(arguments ->> 'borne_by'), 'borne_by');
  filter.recorded_by := app.find_member(context, app.clean_text(arguments ->> 'recorded_by'), 'recorded_by');
  return filter;
end
$function$;

CREATE OR REPLACE FUNCTION app.parse_period(context app.context, arguments jsonb, filter app.expense_filter)
 RETURNS app.period
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  period app.period;
begin
  -- Allow dates that merely repeat the period.
  if arguments ? 'period' and num_nonnulls(filter.from_on, filter.to_on) > 0 then
    period := app.named_period(arguments ->> 'period', context.today);
    if coalesce(filter.from_on, period.from_on) = period.from_on and coalesce(filter.to_on, period.to_on) = period.to_on
    then
      return period;
    end if;
    perform app.fail('invalid_argument.period_and_dates', field => 'period');
  end if;
  if num_nonnulls(filter.from_on, filter.to_on) = 0 then
    return app.named_period(coalesce(arguments ->> 'period', 'this_month'), context.today);
  end if;
  period.to_on := coalesce(filter.to_on, greatest(context.today, filter.from_on));
  period.from_on := coalesce(
    filter.from_on,
    (select p.paid_on from app.payments as p where p.deleted_at is null and p.paid_on <= filter.to_on order by p.paid_on
      limit 1),
    filter.to_on
  );
  if period.to_on - period.from_on > 3660 then
    perform app.fail(
      'date_out_of_range.period_too_long', jsonb_build_object('from', period.from_on, 'to', period.to_on, 'years', 10),
      'from'
    );
  end if;
  period.shift := app.step_of_days(period.from_on, period.to_on, context.today);
  return period;
end
$function$;

CREATE OR REPLACE FUNCTION app.prepare_closing(context app.context, closed_through date)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  waiting record;
begin
  -- Record automatic payments up to today first, since they belong to the month. Lock bills before the organization, as
  -- every writer does.
  perform app.refresh_bill(b.id, context.today)
  from (
    select e.id from app.expenses as e
    where e.organization_id = context.organization_id and e.kind = 'bill' and e.status = 'active' and e.autopay
      and e.deleted_at is null and e.next_due < context.today
    order by e.id
  ) as b;
  perform from identity.organizations as o where o.id = context.organization_id for no key update;
  -- Final values change only with the base currency.
  select count(*) as count, min(p.paid_on) as since into waiting
  from app.payments as p
  where not p.is_final and p.paid_on <= closed_through and p.deleted_at is null;
  if waiting.count > 0 then
    perform app.fail('values_pending', jsonb_build_object(
      'count', waiting.count, 'since', waiting.since, 'month', app.month_name(closed_through)
    ), 'closed_through');
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION app.propagate_category()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  update app.payments as p set category_id = new.category_id
    where p.expense_id = new.id and p.category_id is distinct from new.category_id
      -- Bill payments in closed months keep their category.
      and not (new.kind = 'bill' and app.is_closed(p.organization_id, p.paid_on));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION app.rank_spending(spending app.spending, dimensions text[], top integer, target text, is_compared boolean)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  times constant text[] := array['month', 'week', 'day'];
  is_time_1 constant boolean := dimensions[1] = any (times);
  is_time_2 constant boolean := coalesce(dimensions[2] = any (times), false);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  rest constant jsonb := '{"none": "rest"}';
  category_names constant jsonb := case when 'category' = any (dimensions)
    then (select jsonb_object_agg(c.id, c.name) from app.categories as c) end;
begin
  return (
    with named as materialized (
      select g.*, app.group_label(dimensions[1], g.key_1, g.spelling_1, category_names) as name_1,
        case when dimensions[2] is not null
          then app.group_label(dimensions[2], g.key_2, g.spelling_2, category_names) end as name_2
      from unnest(spending.groups) as g
    ),
    heads as (
      -- Groups are ranked by everything but time: periods form a sequence and are never folded.
      select n.*,
        concat_ws(E'\n', case when not is_time_1 then n.name_1 #>> '{}' end,
        case when not is_time_2 then n.name_2 #>> '{}' end) collate "C" as head
      from named as n
    ),
    placed as (
      select p.*, dense_rank() over (order by p.head_minor desc, p.head) > top as is_rest
      from (select h.*, sum(h.minor) over (partition by h.head) as head_minor from heads as h) as p
    ),
    folded as (
      select p.is_rest, f.name_1, f.name_2,
        max(p.head_minor) filter (where not p.is_rest) as head_minor, min(p.head) filter (where not p.is_rest) as head,
        sum(p.minor) as minor, sum(p.count) as count, sum(p.upcoming_minor) as upcoming_minor,
        sum(p.earlier_minor) as earlier_minor
      from placed as p
      cross join lateral (
        select case when p.is_rest and not is_time_1 then null else p.name_1 end as name_1,
          case when p.is_rest and not is_time_2 then null else p.name_2 end as name_2
      ) as f
      group by p.is_rest, f.name_1, f.name_2
    ),
    ordered as (
      select f.*, row_number() over (order by
        case when is_time_1 then f.name_1 #>> '{}' end, f.is_rest,
        case when not is_time_1 then f.head_minor end desc, case when not is_time_1 then f.head end,
        case when is_time_2 then f.name_2 #>> '{}' end, f.minor desc, f.head
      ) as place
      from folded as f
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'group', case
        when s.name_1 is null and s.name_2 is null then jsonb_build_array(rest)
        when cardinality(dimensions) = 1 then jsonb_build_array(s.name_1)
        else jsonb_build_array(coalesce(s.name_1, rest), coalesce(s.name_2, rest))
      end,
      'amount', app.format_minor(s.minor, exponent),
      'count', s.count,
      'upcoming', app.format_minor(s.upcoming_minor, exponent),
      'previous', case when is_compared then app.format_minor(s.earlier_minor, exponent) end,
      'change_percent',
      case when is_compared then round((s.minor - s.earlier_minor) * 100 / nullif(abs(s.earlier_minor), 0), 1) end
    ) order by s.place), '[]')
    from ordered as s
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.read_budgets(context app.context, day date, category_ids text[] DEFAULT NULL::text[])
 RETURNS SETOF app.budget_state
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  everything constant app.expense_filter := app.parse_expense_filter(context, '{}');
begin
  return query
    with live as (
      select b as budget, b.currency, b.category_id, b.per, b.amount_minor, b.carries_over, b.opening_minor,
        c.name as category,
        date_trunc(b.per, day)::date as from_on,
        (date_trunc(b.per, day) + ('1 ' || b.per)::interval)::date - 1 as to_on,
        date_trunc(b.per, b.starts_on)::date as counted_from
      from app.budgets as b
      left join app.categories as c on c.id = b.category_id
      where b.deleted_at is null and c.archived_at is null
        and (category_ids is null or b.category_id = any (category_ids))
        -- Earlier settings are not stored, so before its first change a budget reports the current limit.
        and (date_trunc(b.per, day) >= b.starts_on
          or b.starts_on <= (b.created_at at time zone context.timezone)::date)
    ),
    -- Sum each period once, however many budgets it has.
    windows as (
      select l.currency, l.from_on, l.to_on from live as l
      union
      select l.currency, l.counted_from, l.from_on - 1 from live as l
      where l.carries_over and l.counted_from < l.from_on
    ),
    sums as materialized (
      select w.currency, w.from_on, w.to_on, s.groups, s.is_partial
      from windows as w
      cross join lateral
        jsonb_populate_record(everything, jsonb_build_object('from_on', w.from_on, 'to_on', w.to_on)) as f
      cross join lateral app.sum_spending(context, f, null, null, array['category'], w.currency) as s
    ),
    spent as (
      select l.budget, s.to_on < l.from_on as is_past, s.is_partial and (
          -- In the base currency, the category of each unconverted payment is known.
          l.category_id is null or l.currency <> context.base_currency or exists (
            select from app.payments as p
            where p.category_id = l.category_id and p.paid_on between s.from_on and s.to_on and p.base_minor is null
              and p.deleted_at is null
          )
      ) as is_partial, (
          select coalesce(sum(g.minor), 0) from unnest(s.groups) as g
          where l.category_id is null or g.key_1 = l.category_id
      ) as minor
      from live as l
      join sums as s on s.currency = l.currency
        and (s.from_on, s.to_on) in ((l.from_on, l.to_on), (l.counted_from, l.from_on - 1))
    )
    select l.budget, l.category, l.from_on, l.to_on, carried.minor, s.minor,
      l.amount_minor + coalesce(carried.minor, 0),
      s.is_partial
    from live as l
    cross join lateral (
      select sum(s.minor) filter (where not s.is_past) as minor,
        coalesce(sum(s.minor) filter (where s.is_past), 0) as past_minor, bool_or(s.is_partial) as is_partial
      from spent as s where (s.budget).id = (l.budget).id
    ) as s
    cross join lateral (
      select case when l.carries_over and l.counted_from <= l.from_on then l.opening_minor + l.amount_minor * (
        case l.per when 'year' then extract(year from l.from_on) - extract(year from l.counted_from)
        else app.month_of(l.from_on) - app.month_of(l.counted_from) end
      ) - s.past_minor end as minor
    ) as carried;
end
$function$;

CREATE OR REPLACE FUNCTION app.read_preferences(organization_id text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'timezone', p.timezone, 'base_currency', o.base_currency, 'own_only', o.own_only,
      'relabel_closed', o.relabel_closed, 'email_enabled', p.email_enabled,
      'default_lead_days', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email, 'closed_through',
      o.closed_through,
      'mails', (select jsonb_object_agg(m.user_id, m.mails) from identity.memberships as m where m.organization_id
        = o.id)
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = read_preferences.organization_id
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.read_settings(context app.context)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return (
    select jsonb_build_object(
      'timezone', p.timezone, 'base_currency', context.base_currency,
      'reminders', jsonb_build_object(
        'email_enabled', own.email_enabled, 'email',
        case when own.reminder_email_confirmed_at is not null then own.reminder_email else own.email end,
        'default_days_before', p.default_lead_days, 'hide_amounts_in_email', own.hide_amounts_in_email,
        'my_mails', (select m.mails from identity.memberships as m
          where m.organization_id = context.organization_id and m.user_id = context.actor_id)
      )
    ) || case when o.closed_through is null then '{}'
      else jsonb_build_object('closed_through', app.month_name(o.closed_through)) end
      || case when o.own_only then '{"own_only":true}' else '{}' end::jsonb
      || case when o.relabel_closed then '{"relabel_closed":true}' else '{}' end::jsonb
    from identity.profiles as p
    join identity.organizations as o on o.id = context.organization_id
    -- Only the person sees their own mail settings.
    join identity.profiles as own on own.user_id = context.actor_id
    where p.user_id = context.owner_id
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.refuse_closed_month()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  organization_id constant text := coalesce(new.organization_id, old.organization_id);
  days date[];
  organization record;
  day date;
  is_relabeling boolean := false;
begin
  if tg_table_name = 'expenses' then
    -- Look up by expense first: without statistics, the planner expects few undeleted payments and reads all of them.
    days := array(
      select p.paid_on
      from (select p.* from app.payments as p where p.expense_id = new.id offset 0) as p
      where p.deleted_at is null
    );
  else
    if tg_op <> 'INSERT' and old.deleted_at is null then
      days := days || old.paid_on;
    end if;
    if tg_op <> 'DELETE' and new.deleted_at is null then
      days := days || new.paid_on;
    end if;
  end if;
  if days <> '{}' then
    select o.closed_through, o.relabel_closed into organization from identity.organizations as o
    where o.id = organization_id for share;
    select min(d) into day from unnest(days) as d where d <= organization.closed_through;
    if day is not null then
      is_relabeling := tg_op = 'UPDATE' and app.is_relabeling(to_jsonb(old), to_jsonb(new));
      if not (is_relabeling and organization.relabel_closed) then
        perform app.fail('month_closed', app.closed_month(day)
          || case when is_relabeling then '{"is_label":true}' else '{}' end::jsonb);
      end if;
    end if;
  end if;
  return coalesce(new, old);
end
$function$;

CREATE OR REPLACE FUNCTION app.refuse_income(item jsonb, field text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  -- A refunded salary in any other category belongs to an employer, so it isn't income. Tax refunds reduce expenses.
  earned constant text :=
    '\m(salary|salaries|wages|pay ?check|gehalt|lohn|salaire|sueldo|salario|stipendio|n[oó]mina)\M';
  income constant text := '^(income|earnings|einkommen|einnahmen?|revenus?|ingresos?|entrate)$';
  category constant text := lower(app.clean_text(item ->> 'category'));
begin
  if category ~ income or (item ->> 'is_refund')::boolean and lower(item ->> 'name') ~ earned
    and coalesce(category ~ earned, true) then
    perform app.fail('invalid_argument.income', jsonb_build_object('name', app.clean_text(item ->> 'name')), field);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION app.require_records(context app.context, ids text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  missing text[];
  deleted text[];
begin
  -- Jobs write concurrently, so lock the affected rows first.
  perform from app.expenses as e where e.id = any (ids) order by e.id for no key update;
  missing := array(
    select wanted.id
    from unnest(ids) with ordinality as wanted (id, place)
    where not exists (select from app.expenses as e where e.id = wanted.id and e.deleted_at is null)
    order by wanted.place
  );
  if missing = '{}' then
    return;
  end if;
  deleted :=
    array(select e.name from app.expenses as e where e.id = any (missing) order by array_position(missing, e.id));
  perform app.fail('not_found.records', jsonb_build_object(
    'missing', missing, 'asked', cardinality(ids), 'deleted', deleted, 'organization', context.organization_name,
    'details', jsonb_build_object('ids', missing)
  ), 'ids');
end
$function$;

CREATE OR REPLACE FUNCTION app.shared_preferences()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
RETURN ARRAY['base_currency'::text, 'closed_through'::text, 'own_only'::text, 'relabel_closed'::text];

CREATE OR REPLACE FUNCTION app.statement_rows(context app.context, batch app.import_batches, days text[] DEFAULT NULL::text[])
 RETURNS TABLE(line integer, kind text, booked_on date, text text, direction text, amount_minor bigint, currency text, nth bigint, is_skipped boolean, match jsonb, draft jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
#variable_conflict use_column
declare
  home constant text := coalesce(
    batch.read ->> 'default_currency', app.account_currency(context, batch.account_id), context.base_currency
  );
  -- Of a row without a readable day.
  last_day constant text := case when days is null then (
    select max(coalesce(r.draft ->> 'paid_on', substring(r.item ->> 'date' from '^\d{4}-\d\d-\d\d$')))
    from app.import_rows as r
    where r.import_id = batch.id
  ) end;
begin
  return query
    with staged as (
      select r.line, r.kind, r.is_skipped, r.match, r.draft, r.error is not null as is_bad,
        coalesce(
          substring(b.item ->> 'date' from '^\d{4}-\d\d-\d\d$'), r.draft ->> 'paid_on',
          case when r.error is not null then last_day end
        ) as day,
        left(coalesce(nullif(b.item ->> 'text', ''), b.item ->> 'name', r.kind), 500) as text,
        -- What the account was charged is its line, whatever the price tag said.
        case when b.item #> '{charged,amount}' is not null then b.item -> 'charged' else b.item end as money,
        coalesce(
          case b.item ->> 'direction' when 'out' then 'out' when 'in' then 'refund' end,
          case r.kind when 'refund' then 'refund' end, 'out'
        ) as direction
      from app.import_rows as r
      -- Corrected or not, the line is the bank's.
      cross join lateral (select coalesce(r.item -> 'as_read', r.item) as item) as b
      where r.import_id = batch.id
        and (days is null or coalesce(r.draft ->> 'paid_on', r.item ->> 'date') = any (days))
    ), named as (
      select s.*, case when c.code ~ '^[A-Z]{3}$' then c.code else app.currency_of_sign(c.code, home) end as currency
      from staged as s
      cross join lateral (
        select coalesce(nullif(s.money ->> 'currency', ''), s.draft ->> 'currency', home) as code
      ) as c
    ), valued as (
      select n.*, coalesce(
        case when n.money ->> 'amount' ~ '^\d{1,12}(\.\d{1,4})?$'
          then trunc((n.money ->> 'amount')::numeric * 10::numeric ^ c.exponent)::bigint end,
        (n.draft ->> 'amount_minor')::bigint, case when n.is_bad then 0 end
      ) as amount_minor
      from named as n
      join app.currencies as c on c.code = n.currency
    )
    select v.line,
      -- A half remains spending, because an undo may take the other half along.
      case when v.match ->> 'state' = 'transfer' and not v.match ? 'half_id' and v.kind in ('expense', 'refund')
          then 'own_transfer'
        when v.is_bad and v.amount_minor = 0 then 'unreadable'
          else v.kind end, v.day::date, v.text, v.direction, v.amount_minor, v.currency,
      row_number() over (
        partition by v.day, v.amount_minor, v.currency, v.direction, v.text order by v.line
      ),
      v.is_skipped, v.match, v.draft
    from valued as v
    where v.day is not null and v.amount_minor <= 1000000000000000
      -- Nothing moved.
      and (not v.is_bad or v.money ->> 'amount' ~ '[1-9]' or not v.money ? 'amount');
end
$function$;

CREATE OR REPLACE FUNCTION app.step_of_days(from_on date, to_on date, today date)
 RETURNS interval
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
declare
  next_on constant date := to_on + 1;
  borders constant int := (extract(year from next_on) - extract(year from from_on)) * 12
    + extract(month from next_on) - extract(month from from_on);
  is_whole constant boolean := from_on + make_interval(months => borders) = next_on;
  months constant int := borders + case when is_whole then 0 else 1 end;
begin
  return case
    when extract(day from from_on) <> 1 and not is_whole then make_interval(days => next_on - from_on)
    -- A year to date. January alone counts as a month to date, and complete past months as months.
    when extract(doy from from_on) = 1 and months between 2 and 12 and (not is_whole or to_on = today)
      then interval '1 year'
    -- Monthly due dates then fall into both periods equally often.
    else make_interval(months => months)
  end;
end
$function$;

CREATE OR REPLACE FUNCTION app.suggest_categories(name text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return array(
    select l.name
    -- The limit bounds the comparisons: one call may ask about many names.
    from (select a.name from app.categories as a where a.archived_at is null order by a.created_at desc, a.id limit 200)
      as c
    cross join lateral (
      select c.name, app.text_likeness(c.name, suggest_categories.name) as likeness, exists (
        select from app.category_keywords as k
        where k.category = c.name
          and k.keyword = any (regexp_split_to_array(lower(suggest_categories.name), '[^[:alnum:]]+'))
      ) as is_meant
      offset 0
    ) as l
    -- Below 0.4, names merely share some letters.
    where l.is_meant or l.likeness >= 0.4
    order by l.is_meant desc, l.likeness desc, l.name
    limit 3
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.summarize_spending(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  -- With upcoming dates a period is complete and is compared with a complete one.
  earlier constant app.period :=
    case when (arguments ->> 'include_upcoming')::boolean then app.earlier_period(period, arguments ->> 'compare')
    else app.compared_period(period, arguments ->> 'compare', context.today) end;
  is_compared constant boolean := earlier.from_on is not null;
  books_begin constant date := case when is_compared then app.books_begin(earlier) end;
  -- Only then do a budget and the rows speak of the same spending.
  is_about_categories constant boolean := filter.tags = '{}' and num_nonnulls(
    filter.words, filter.payee, filter.member_id, filter.borne_by, filter.recorded_by, filter.not_category_ids,
    filter.min_minor,
    filter.max_minor,
    filter.currency, filter.kind, filter.reimbursement
  ) = 0;
  dimensions constant text[] := array(
    select d.value
      from jsonb_array_elements_text(coalesce(arguments -> 'group_by', '["category"]')) with ordinality as d
    group by d.value order by min(d.ordinality)
  );
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  expected jsonb;
  unknown_amounts text[];
  estimated record;
  spending app.spending;
  -- Shares of one payment are in several groups, so totals are summed without them.
  overall app.spending;
  rows jsonb;
  warnings jsonb := '[]';
  total jsonb;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  -- They do not see what others bear.
  if 'borne_by' = any (dimensions) and identity.sees_own_only() then
    filter.borne_by := coalesce(filter.borne_by, context.actor_id);
  end if;
  if (filter.borne_by is not null or dimensions && array['borne_by', 'recorded_by'])
    and (arguments ->> 'include_upcoming')::boolean then
    perform app.fail('invalid_argument.upcoming_unshared', field => 'include_upcoming');
  end if;
  if (arguments ->> 'include_upcoming')::boolean and coalesce(filter.kind, 'bill_payment') = 'bill_payment'
    and coalesce(filter.reimbursement, 'none') = 'none' then
    expected := app.list_expected(context, filter);
    select array_agg(distinct x.name) into unknown_amounts
    from jsonb_to_recordset(expected) as x (name text, expected_minor bigint)
    where x.expected_minor is null;
    with estimates as (
      select x.*
      from jsonb_to_recordset(expected) as x (name text, expected_minor bigint, currency text, is_estimate boolean)
      where x.is_estimate and x.expected_minor is not null
    )
    select array(select distinct x.name from estimates as x order by x.name) as names,
      array(
        select (x.currency, sum(x.expected_minor))::app.money_sum from estimates as x group by x.currency
      ) as sums
    into estimated;
  end if;
  spending := app.sum_spending(context, filter, earlier, expected, dimensions, target);
  overall := case when 'borne_by' = any (dimensions)
    then app.sum_spending(context, filter, earlier, expected, array['currency'], target) else spending end;
  rows := app.rank_spending(spending, dimensions, coalesce((arguments ->> 'top')::int, 20), target, is_compared);
  if jsonb_array_length(rows) > 1000 then
    perform app.fail('invalid_argument.too_many_rows', jsonb_build_object('count', jsonb_array_length(rows)),
      'group_by');
  end if;

  if books_begin is not null then
    rows :=
      (select coalesce(jsonb_agg(r.value - 'change_percent' order by r.ordinality), '[]')
      from jsonb_array_elements(rows) with ordinality as r);
    warnings := warnings || app.warning(
      'books_begin', jsonb_build_object('on', books_begin, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  elsif is_compared and period.to_on > context.today
    and not coalesce((arguments ->> 'include_upcoming')::boolean, false) then
    warnings := warnings || app.warning(
      'period_running', jsonb_build_object('until', period.to_on, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  end if;

  select jsonb_build_object(
    'amount', app.format_minor(coalesce(sum(g.once_minor), 0), exponent), 'currency', target, 'count',
    coalesce(sum(g.once_count), 0),
    'upcoming', app.format_minor(sum(g.once_upcoming_minor), exponent),
    'previous', case when is_compared then app.format_minor(coalesce(sum(g.once_earlier_minor), 0), exponent) end,
    'change_percent', case when is_compared and books_begin is null then
      round((sum(g.once_minor) - sum(g.once_earlier_minor)) * 100 / nullif(abs(sum(g.once_earlier_minor)), 0), 1)
    end,
    'average', app.average_spending(context, period, dimensions, sum(g.once_minor), exponent)
  ) into total
  from unnest(overall.groups) as g;
  if 'tag' = any (dimensions) and exists (select from unnest(spending.groups) as g where g.count > g.once_count) then
    warnings := warnings || app.warning('tags_overlap');
  end if;
  if spending.is_partial then
    warnings := warnings || app.warning('rate_missing.of_payments', jsonb_build_object('into', target));
  end if;
  if expected is not null then
    warnings := warnings || app.warn_of_estimates(estimated.names, estimated.sums);
  end if;
  if unknown_amounts is not null then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', unknown_amounts));
  end if;

  warnings := warnings || app.warn_of_unsettled(context, filter)
    || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
    || app.warn_of_unvalued(filter)
    || case when is_compared and books_begin is null then app.warn_of_borders(filter, period, earlier) else '[]' end;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on) || case when is_compared then
        jsonb_build_object('previous', jsonb_build_object('from', earlier.from_on, 'to', earlier.to_on)) else '{}' end,
      'rows', rows,
      'total', total,
      'budgets', case when is_about_categories then
        app.describe_budgets(context, greatest(period.from_on, least(context.today, period.to_on)), filter.category_ids)
      end,
      'fx', jsonb_build_object(
        'sources', spending.sources, 'as_of', spending.as_of
      ),
      'unconverted', spending.unconverted,
      'tax_by_currency', case when filter.borne_by is null then app.tax_in(filter) end,
      'no_match', case when rows = '[]' then app.find_near_matches(filter) end
    ),
    'warnings', warnings
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.take_over(kept app.payments, gone app.payments)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  source app.expenses;
begin
  select * into source from app.expenses as e where e.id = gone.expense_id;
  update app.expenses as e
  set note = coalesce(e.note, source.note), url = coalesce(e.url, source.url),
    category_id = coalesce(e.category_id, source.category_id),
    tags = app.clean_tags(to_jsonb(e.tags) || to_jsonb(source.tags), 'merge_into')
  where e.id = kept.expense_id and e.kind = 'one_off';
  update app.payments as p set note = coalesce(p.note, source.note)
  from app.expenses as e
  where p.id = kept.id and e.id = p.expense_id and e.kind = 'bill';
  -- If the currencies differ, the other record's amount is what the bank charged.
  update app.payments as p
  set charged_minor = case when gone.currency <> p.currency then gone.amount_minor else gone.charged_minor end,
    charged_currency = case when gone.currency <> p.currency then gone.currency else gone.charged_currency end
  -- The bank charges a split as a whole, so its parts can't take over a charge.
  where p.id = kept.id and p.charged_minor is null and p.split_id is null and p.currency <> p.base_currency
    and (gone.currency <> p.currency or gone.charged_minor is not null);
  update app.payments as p
  set reimbursement = gone.reimbursement, reimbursed_by = gone.reimbursed_by, reimbursed_on = gone.reimbursed_on
  where p.id = kept.id and p.occurrence_id is null and p.reimbursement is null and gone.reimbursement is not null;
  update app.payments as p set tax_minor = gone.tax_minor, tax_percent = gone.tax_percent
  where p.id = kept.id and p.occurrence_id is null and p.tax_minor is null and gone.tax_minor is not null
    and (p.amount_minor, p.currency) = (gone.amount_minor, gone.currency);
  update app.payments as p set paid_by = gone.paid_by, sharing = gone.sharing
  where p.id = kept.id and p.sharing is null and gone.sharing is not null;
  update app.payments as p set merged_into = kept.id where p.merged_into = gone.id;
  update app.payments as p set merged_into = kept.id, deleted_at = app.instant() where p.id = gone.id;
  update app.expenses as e set deleted_at = app.instant() where e.id = gone.expense_id;
end
$function$;

CREATE OR REPLACE FUNCTION app.text_likeness(one text, other text)
 RETURNS numeric
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
declare
  a constant text := lower(one);
  b constant text := lower(other);
begin
  if strpos(' ' || a, ' ' || b) > 0 or strpos(' ' || b, ' ' || a) > 0 then
    return 1;
  end if;
  -- Dice's coefficient over pairs of adjacent letters, word ends included.
  return (
    with one_pairs
      as (select distinct substr(' ' || a || ' ', i, 2) as pair from generate_series(1, length(a) + 1) as i),
      other_pairs as (select distinct substr(' ' || b || ' ', i, 2) as pair from generate_series(1, length(b) + 1) as i)
    select 2.0 * count(*) / ((select count(*) from one_pairs) + (select count(*) from other_pairs))
    from one_pairs join other_pairs using (pair)
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.update_expenses(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  -- merge_expenses reads its own ids.
  asked constant text[] :=
    case when not arguments ? 'merge_into' then app.find_records(context, arguments) end;
  changes constant jsonb := coalesce(arguments -> 'set', '{}');
  is_split constant boolean := changes ? 'split' and cardinality(asked) = 1;
  -- Splitting a part again replaces its whole split.
  ids constant text[] := case when is_split then coalesce(nullif(app.find_split(asked[1]), '{}'), asked) else asked end;
  removed_tags constant text[] := array(
    select lower(t) from unnest(app.clean_tags(arguments -> 'remove_tags', 'remove_tags')) as t
  );
  confirmed jsonb;
  new_category_id text;
  before jsonb;
  stale record;
  updated jsonb;
  changed text[];
begin
  if arguments ? 'merge_into' then
    return app.merge_expenses(context, arguments);
  end if;
  perform app.check_update(arguments, asked);
  perform app.require_records(context, ids);
  confirmed := app.confirm_records(context, arguments, ids, 'update');
  select b.* into stale from app.read_expenses(asked) as b
    where b.version <> (arguments ->> 'expected_version')::numeric;
  if found then
    perform app.fail('stale_version', jsonb_build_object(
      'name', stale.name, 'version', stale.version,
      'details', jsonb_build_object('id', stale.id, 'version', stale.version, 'current', stale.fields)
    ), 'expected_version');
  end if;
  if changes ? 'category' then
    new_category_id := app.find_category(context, changes ->> 'category', 'set.category');
  end if;
  if changes ?| array['is_refund', 'category', 'name'] then
    perform app.refuse_income(b.fields || changes, 'set') from app.read_expenses(asked) as b;
  end if;

  select jsonb_object_agg(b.id, b.fields) into before from app.read_expenses(ids) as b;
  update app.expenses as e
  set name = coalesce(app.clean_text(changes ->> 'name'), e.name),
    payee = case when changes ? 'payee' then app.clean_text(changes ->> 'payee') else e.payee end,
    category_id = case when changes ? 'category' then new_category_id else e.category_id end,
    note = case when changes ? 'note' then nullif(btrim(changes ->> 'note'), '') else e.note end,
    url = case when changes ? 'url' then app.parse_url(changes ->> 'url', 'set.url') else e.url end,
    tags = app.clean_tags((
      select coalesce(jsonb_agg(t.value order by t.ordinality), '[]')
      from jsonb_array_elements_text(coalesce(changes -> 'tags', to_jsonb(e.tags))) with ordinality as t
      where lower(app.clean_text(t.value)) <> all (removed_tags)
    ) || coalesce(arguments -> 'add_tags', '[]'), 'add_tags')
  where e.id = any (ids);
  if is_split then
    perform app.split_payment(context, ids, changes);
  elsif changes - array['name', 'category', 'payee', 'note', 'url', 'tags'] <> '{}' then
    perform app.update_payments(context, ids, changes);
  end if;

  select
    jsonb_agg((
      -- These fields identify the expense, so they appear even when unchanged.
      select coalesce(jsonb_object_agg(f.key, f.value), '{}')
      from jsonb_each(a.fields) as f
      where f.key in ('name', 'amount', 'currency', 'date') and not new.fields ? f.key
    ) || jsonb_build_object('id', a.id, 'before', old.fields, 'after', new.fields, 'version', a.version)
      order by array_position(ids, a.id)),
    array_agg(a.name order by array_position(ids, a.id)) filter (where old.fields <> new.fields)
  into updated, changed
  from app.read_expenses(ids) as a
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(before -> a.id) as f where f.value is distinct from a.fields -> f.key
  ) as old
  cross join lateral (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}') as fields
    from jsonb_each(a.fields) as f where f.value is distinct from before -> a.id -> f.key
  ) as new;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'updated', app.first_few(updated),
      'split', case when is_split then app.describe_split(app.find_split(ids[1])) end,
      'count', coalesce(cardinality(changed), 0),
      'confirm', case when (arguments ->> 'dry_run')::boolean then confirmed end
    ),
    'warnings', app.warn_of_unfound(context, arguments),
    'facts', jsonb_build_object('count', cardinality(changed), 'names', to_jsonb(changed[:4]), 'fields', (
      select jsonb_agg(distinct key)
      from jsonb_array_elements(updated) as u
      cross join jsonb_object_keys((u -> 'before') || (u -> 'after')) as key
      -- Shares change with the amount and the payer; name them only when the caller changed them.
      where key <> 'shared' or changes ? 'shared'
    ))
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.weigh_records(ids text[])
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return (
    select jsonb_build_object(
      -- A bill counts as one record plus one for each payment; an expense and its payment count as one.
      'count', case when starts_with(ids[1], 'bill_') then 1 + count(*) else cardinality(ids) end,
      'minor', coalesce(sum(p.minor), 0),
      'unknown', array_agg(distinct p.currency) filter (where p.minor is null)
    )
    from (
      select p.currency, p.base_minor as minor
      from app.payments as p
      where p.expense_id = any (ids) and p.deleted_at is null
    ) as p
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.write_preferences(organization_id text, wanted jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  before constant jsonb := app.read_preferences(organization_id);
  change constant text := nullif(current_setting('app.change_id', true), '');
  after jsonb;
begin
  -- Without the right to it nothing is written: row-level security passes over it. The base
  -- currency reaches every payment by its foreign key, and values it anew.
  update identity.profiles as p
  set timezone = coalesce(wanted ->> 'timezone', p.timezone),
    email_enabled = coalesce((wanted ->> 'email_enabled')::boolean, p.email_enabled),
    default_lead_days = coalesce((wanted ->> 'default_lead_days')::smallint, p.default_lead_days),
    hide_amounts_in_email = coalesce((wanted ->> 'hide_amounts_in_email')::boolean, p.hide_amounts_in_email),
    updated_at = app.instant()
  from identity.organizations as o
  where o.id = write_preferences.organization_id and p.user_id = o.owner_id and p.user_id = (select auth.uid())
    and not before @> wanted;
  update identity.organizations as o set base_currency = wanted ->> 'base_currency', updated_at = app.instant()
  where o.id = write_preferences.organization_id and o.base_currency <> wanted ->> 'base_currency';
  update identity.organizations as o
  set own_only = coalesce((wanted ->> 'own_only')::boolean, o.own_only),
    relabel_closed = coalesce((wanted ->> 'relabel_closed')::boolean, o.relabel_closed), updated_at = app.instant()
  where o.id = write_preferences.organization_id
    and (o.own_only <> (wanted ->> 'own_only')::boolean or o.relabel_closed <> (wanted ->> 'relabel_closed')::boolean);
  update identity.memberships as m set mails = wanted -> 'mails' ->> m.user_id::text
  where m.organization_id = write_preferences.organization_id and m.user_id = (select auth.uid())
    and m.mails <> wanted -> 'mails' ->> m.user_id::text;
  update identity.organizations as o
  set closed_through = (wanted ->> 'closed_through')::date, updated_at = app.instant()
  where o.id = write_preferences.organization_id and wanted ? 'closed_through'
    and o.closed_through is distinct from (wanted ->> 'closed_through')::date;
  after := app.read_preferences(organization_id);
  if wanted ? 'mails' and not after -> 'mails' @> (wanted -> 'mails') then
    perform app.fail('forbidden_role.mails');
  end if;
  if not after @> (wanted - 'mails') then
    if after @> (wanted - app.shared_preferences()) then
      perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
    end if;
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  end if;
  if change is not null and after <> before then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    select change, write_preferences.organization_id, 'settings', write_preferences.organization_id,
      jsonb_object_agg(b.key, app.narrow_mails(b.value, b.key, wanted)),
      jsonb_object_agg(b.key, app.narrow_mails(after -> b.key, b.key, wanted))
    from jsonb_each(before) as b
    where b.value is distinct from after -> b.key;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION app.write_statement_lines(context app.context, batch app.import_batches)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_nestloop TO 'off'
AS $function$
declare
  change constant text := nullif(current_setting('app.change_id', true), '');
  first_day date;
  last_day date;
  missing int;
begin
  select min((r.draft ->> 'paid_on')::date), max((r.draft ->> 'paid_on')::date) into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id and r.draft is not null;
  -- What can be read by now is a line of its own.
  delete from app.statement_lines as l
  where l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.kind = 'unreadable'
    and exists (
      select from app.import_rows as r
      where r.import_id = batch.id and r.error is null and coalesce(r.item -> 'as_read', r.item) ->> 'text' = l.text
    );
  with staged as materialized (
    -- What is to be written once more is a line that is there.
    select s.*, coalesce(s.match ->> 'line_id', l.id) as known_id,
      coalesce(s.match ->> 'line_id', l.id, app.new_id('lin')) as id
    from app.statement_rows(context, batch) as s
    -- Kept by an import before the books could take it.
    left join app.statement_lines as l
      on l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.booked_on = s.booked_on
        and l.amount_minor = s.amount_minor and l.currency = s.currency and l.direction = s.direction
        and l.text = s.text and l.nth = s.nth and not l.is_skipped and not l.is_forgotten
        and not exists (select from app.statement_links as k where k.line_id = l.id)
    where s.match ->> 'state' is distinct from 'known'
  ), written as (
    insert into app.statement_lines (
      id, organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency, nth, is_skipped,
      other_half_id, change_id
    )
    select s.id, batch.organization_id, batch.account_id, s.booked_on, s.text, s.kind, s.direction, s.amount_minor,
      s.currency, s.nth, s.is_skipped, s.match ->> 'half_id', change
    from staged as s
    where batch.account_id is not null and s.known_id is null
    on conflict do nothing
    returning id
  ), counted as (
    update app.statement_lines as l
    set is_skipped = false, other_half_id = coalesce(l.other_half_id, s.match ->> 'half_id')
    from staged as s
    where l.id = s.known_id and not s.is_skipped
    returning l.id
  ), paid as (
    -- All at once: looked up for each row, the planner walks all payments where it takes them for few.
    select s.id as line_id, p.id
    from staged as s
    cross join lateral jsonb_array_elements_text(s.match -> 'payment_ids') as k (id)
    join app.payments as p on p.id = k.id
    where s.match ->> 'state' = 'linked' and not s.is_skipped
    union all
    select s.id, p.id
    from staged as s
    cross join lateral (
      select s.draft ->> 'id' union select part ->> 'id' from jsonb_array_elements(s.draft -> 'parts') as part
    ) as d (id)
    join app.payments as p
      on p.expense_id = d.id and p.organization_id = batch.organization_id
        and p.paid_on between first_day and last_day and p.deleted_at is null
    where s.match ->> 'state' = 'new' and not s.is_skipped
  ), linked as (
    insert into app.statement_links (line_id, payment_id, organization_id)
    select w.id, p.id, batch.organization_id
    from (select id from written union all select id from counted) as w
    join paid as p on p.line_id = w.id
    returning line_id
  )
  select count(*) into missing
  from staged as s
  -- A new row without an id is of a closed month: the bank has it, and the books do not.
  where batch.account_id is not null and s.match is not null and not s.is_skipped
    and (s.match ->> 'state' <> 'new' or s.draft ? 'id') and s.match ->> 'state' <> 'transfer'
    and s.kind in ('expense', 'refund')
    and not exists (select from linked as l where l.line_id = s.id);
  return missing;
end
$function$;

CREATE OR REPLACE FUNCTION public.ping()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return jsonb_build_object('schema', 2);
end
$function$;

COMMENT ON COLUMN "app"."budgets"."opening_minor" IS 'The carry-over when the current settings began; negative when overspent. A new limit doesn''t change earlier months.';

COMMENT ON COLUMN "app"."expense_occurrences"."currency" IS 'Copied from the bill, without a foreign key of its own: checking it again slows down the job that creates occurrences by a tenth.';

COMMENT ON COLUMN "app"."expense_occurrences"."expected_minor" IS 'Null until the amount of a variable bill is known.';

COMMENT ON COLUMN "app"."expense_occurrences"."paid_minor" IS 'Derived: payments less refunds, so that reading the open amount needs no join.';

COMMENT ON COLUMN "app"."expense_occurrences"."scheduled_on" IS 'The date by the schedule alone; it identifies the occurrence.';

COMMENT ON COLUMN "app"."fx_days"."attempts" IS 'Number of days on which the rates were requested; several attempts on one day count once.';

COMMENT ON COLUMN "app"."payments"."base_minor" IS 'Derived, like all base_ and fx_ columns: the value in the organization''s base currency, used in every answer and total. Null without a rate, never converted 1:1.';

COMMENT ON COLUMN "app"."payments"."category_id" IS 'Derived: the category of the expense or bill, so that one index serves totals by category.';

COMMENT ON COLUMN "app"."payments"."charged_minor" IS 'The amount that the bank charged in another currency, if given. The value is then derived from it.';

COMMENT ON COLUMN "app"."payments"."is_estimate" IS 'Recorded automatically with the amount known so far; a statement or a person corrects it.';

COMMENT ON COLUMN "app"."payments"."is_final" IS 'Derived: whether the value is final. It isn''t while the day''s rate is unpublished or not fetched.';

COMMENT ON COLUMN "app"."payments"."merged_into" IS 'The payment that this duplicate was merged into. This one is deleted, but still recognized when it is logged or imported again.';

COMMENT ON COLUMN "app"."payments"."recorded_by" IS 'The person who recorded it; null for an automatic payment.';

COMMENT ON COLUMN "app"."payments"."recorded_seq" IS 'Increases with every payment recorded; orders the payments of a day.';

COMMENT ON COLUMN "app"."payments"."reimbursement" IS 'Whether somebody repays the payment: open until they do, then done. It still counts as spending; money that came back is a refund.';

COMMENT ON COLUMN "app"."payments"."sharing" IS 'How the payment is shared (app.is_sharing); app.payment_shares holds the amount of each member.';

COMMENT ON COLUMN "app"."payments"."sort_minor" IS 'Sort key for payments in several currencies: their value.';

COMMENT ON COLUMN "app"."payments"."split_id" IS 'Common to all parts of one payment split over several categories; the parts add up to it.';

COMMENT ON COLUMN "app"."payments"."stands_alone" IS 'A person confirmed that this isn''t the payment it resembles, so paying a bill does not link it.';

COMMENT ON COLUMN "app"."payments"."tax_minor" IS 'The tax included in the amount, in the same direction.';

COMMENT ON COLUMN "app"."payments"."tax_percent" IS 'In percent of the net amount; null when several rates or none apply.';

COMMENT ON COLUMN "identity"."organizations"."relabel_closed" IS 'Whether notes, tags and categories may change in closed months (app.is_relabeling).';

COMMENT ON FUNCTION "app"."books_begin"(app.period) IS 'Returns the day of the first payment when it is too late for a comparison with an earlier period, else null.';

COMMENT ON FUNCTION "app"."bump_version"() IS 'Increments the version. Triggers call it only when a column that isn''t derived changes.';

COMMENT ON FUNCTION "app"."change_budget"(app.context, jsonb) IS 'Sets or removes the budget of a category, or of all spending, in the base currency. Returns its facts: {action, category?, per, about?, amount?, currency?}.';

COMMENT ON FUNCTION "app"."change_payee_rules"(app.context, jsonb) IS 'Saves payee rules, and removes those given without a category. Returns their facts: [{payee, category?, about?}].';

COMMENT ON FUNCTION "app"."change_payment"(app.context, app.payments, jsonb) IS 'Returns the payment of a one-off expense with the requested changes. Does not write it.';

COMMENT ON FUNCTION "app"."chart_spending"(app.context, jsonb) IS 'Returns a chart of spending by category, over time, or both, with rows of app.rank_spending.';

COMMENT ON FUNCTION "app"."chart_upcoming_bills"(app.context, jsonb) IS 'Returns a chart of overdue and upcoming bill dates at today''s rates.';

COMMENT ON FUNCTION "app"."check_expected"(app.context, text[], jsonb) IS 'Ends the tool with expectation_mismatch when an amount or date differs from the one shown to the person. For a bill, these are its amount and next due date.';

COMMENT ON FUNCTION "app"."check_update"(jsonb, text[]) IS 'Ends the tool with invalid_argument when the arguments break a rule that the schema of update_expenses can''t express.';

COMMENT ON FUNCTION "app"."choose_category"(app.context, text, text, text, text, boolean) IS 'Returns the given category, else that of a payee rule, else the latest with the same payee (or the same name, without a payee), else that of a keyword, else none.';

COMMENT ON FUNCTION "app"."closed_month"(date) IS 'Returns error parameters for a day in a closed month: {month, reopened_by}. The second is the last month that can stay closed.';

COMMENT ON FUNCTION "app"."compared_period"(app.period, text, date) IS 'Returns the period to compare spending with. For a running period, it covers the same elapsed days.';

COMMENT ON FUNCTION "app"."confirm_records"(app.context, jsonb, text[], text) IS 'Returns the confirmation {count, total} that the caller must repeat, or null when none is required. Every filter and every large deletion requires one; action is update or delete. Ends the tool with confirmation_required when it is missing or different.';

COMMENT ON FUNCTION "app"."create_default_categories"(text, timestamp with time zone) IS 'Creates the initial categories of a new organization: those that have keywords.';

COMMENT ON FUNCTION "app"."delete_records"(app.context, jsonb) IS 'Tool delete_records. Returns data {deleted, count, restorable_until, confirm?}. deleted lists only the first few if there are many; confirm {count, total} is the confirmation that a preview requires. Payments are deleted and restored with their expense; bills report payments {count, totals}.';

COMMENT ON FUNCTION "app"."describe_budgets"(app.context, date, text[]) IS 'Returns app.read_budgets in the format of the contract: [{category?, per, from, to, amount, currency, carried?, spent, left, used_percent?, is_partial?}], or null for none.';

COMMENT ON FUNCTION "app"."describe_drafts"(app.context, jsonb, boolean) IS 'Returns the outcome of each item of log_expenses.';

COMMENT ON FUNCTION "app"."describe_payments"(app.context, text[], text) IS 'Returns rows of list_expenses in the order of the ids, each with its sort key and the day whose rate it waits for.';

COMMENT ON FUNCTION "app"."describe_tax"(app.payment_sum[]) IS 'Returns the tax by currency: {currency: {amount, count}}; null when no payment states one.';

COMMENT ON FUNCTION "app"."earlier_period"(app.period, text) IS 'Returns the period to compare with: the previous one, or the same days a year earlier; null for none.';

COMMENT ON FUNCTION "app"."fail_items"(jsonb, integer) IS 'Ends the call with the error of its first invalid item. invalid is [{index, status: invalid, name, error}], and details.results lists all of it.';

COMMENT ON FUNCTION "app"."fail_without_category"(text, text, boolean) IS 'Ends the tool with category_not_found and similar categories, or the existing ones if none is similar. Filters never create a category.';

COMMENT ON FUNCTION "app"."find_category"(app.context, text, text, boolean) IS 'Returns the id of the category with this name, ignoring case and preferring a private one; null for Uncategorized or a blank name. Creates a missing category on request, else ends the tool with category_not_found.';

COMMENT ON FUNCTION "app"."find_external"(text) IS 'Returns the expense with this external id, or the record that it was merged into; null when there is none.';

COMMENT ON FUNCTION "app"."find_filter_categories"(jsonb, text) IS 'Returns the ids of the categories that a filter names; null when it names none.';

COMMENT ON FUNCTION "app"."find_kept"(app.context, jsonb, text[]) IS 'Returns the payment to keep, of a one-off expense or a bill, and locks all rows involved. Ends the tool when it is missing or the records can''t be merged.';

COMMENT ON FUNCTION "app"."find_member"(app.context, text, text) IS 'Returns the member with this address, or the only one whose address contains the text; null for null. Ends the tool with not_found and candidates.';

COMMENT ON FUNCTION "app"."find_near_matches"(app.expense_filter) IS 'Returns suggestions when a filter finds nothing: matches in other months, similar payees and categories, and matches in other currencies. Returns null when there are none.';

COMMENT ON FUNCTION "app"."find_own_latest"(uuid) IS 'Returns the person''s latest change through a connection, even if its subject has been hidden from them since. Otherwise "undo that" would revert an earlier change.';

COMMENT ON FUNCTION "app"."find_payee_rule"(app.context, text, text) IS 'Returns the category of the longest rule that a payee or name begins with; null when no rule applies.';

COMMENT ON FUNCTION "app"."find_payments"(app.expense_filter) IS 'Returns the undeleted payments that match a filter, each with its expense or bill.';

COMMENT ON FUNCTION "app"."find_records"(app.context, jsonb) IS 'Returns the ids of the records to change: the given ids, or the one-off expenses that match a filter of list_expenses, latest first and locked. Ends the tool with not_found when none match, and with invalid_argument above 500.';

COMMENT ON FUNCTION "app"."find_same_payment"(jsonb) IS 'Returns the expense or bill payment with the same day, amount, currency, direction and payee (or name, without a payee). Also matches a similarly named bank row up to five days later. Returns null when there is none.';

COMMENT ON FUNCTION "app"."first_few"(jsonb) IS 'Returns the first few rows if there are many; all of them would fill the conversation.';

COMMENT ON FUNCTION "app"."forget_line"() IS 'Marks a statement line as forgotten when a payment linked to it is purged.';

COMMENT ON FUNCTION "app"."former_payments"(date) IS 'Returns payments in a form that statements still use and the books don''t: merged payments, and splits as one payment. Each comes with the payment that replaced it.';

COMMENT ON FUNCTION "app"."group_key"(text, text, text, text, date, text, uuid, uuid, uuid) IS 'Returns the key that groups a payment: an id where there is one, the Monday of a week, or null for no value.';

COMMENT ON FUNCTION "app"."group_label"(text, text, text, jsonb) IS 'Returns the label of a group: a category''s name, a member''s address, or one typed spelling. {none: dimension} means no value, {none: "former_member"} a former member.';

COMMENT ON FUNCTION "app"."guard_private"() IS 'Rejects making a category private or public, by a call or an undo, without the right settings:write.';

COMMENT ON FUNCTION "app"."has_items"(text) IS 'Whether a change wrote anything, including rows hidden from the person.';

COMMENT ON FUNCTION "app"."hold_organization"(text) IS 'Takes the lock on the organization that recording a payment takes. Callers that lock a provider link call this first: ending a plan locks the organization before its links.';

COMMENT ON FUNCTION "app"."is_amount_within"(app.expense_filter, bigint, text, bigint, text) IS 'Whether an amount is within a filter''s bounds, by its value in the filter''s currency or as charged.';

COMMENT ON FUNCTION "app"."is_closed"(text, date) IS 'Whether a day lies in a closed month. For callers that skip such days instead of failing.';

COMMENT ON FUNCTION "app"."is_party"(app.expenses, uuid) IS 'Whether a member pays or shares a bill by its current settings, which apply to later payments only.';

COMMENT ON FUNCTION "app"."is_plain"(app.expense_filter) IS 'Whether a filter has only days, categories, a currency or a kind, which the index of payments by day contains.';

COMMENT ON FUNCTION "app"."is_relabeling"(jsonb, jsonb) IS 'Whether an update of a payment or expense changes only its note, tags or category, and leaves every monthly total as it was.';

COMMENT ON FUNCTION "app"."kind_of_payment"(text, text) IS 'Returns refund, bill_payment or one_off.';

COMMENT ON FUNCTION "app"."list_expenses"(app.context, jsonb) IS 'Tool list_expenses. Returns data {rows, tax_by_currency?, no_match?}, or {csv} in place of rows for a file, with totals of all matches. page has a cursor for each row, for presenters that can show only some. file has the user and filter for a complete file.';

COMMENT ON FUNCTION "app"."list_hidden_categories"() IS 'Returns the ids of private categories that the person may not see. Policies call it once per statement; a subquery in each policy made every statement slower to plan.';

COMMENT ON FUNCTION "app"."list_known_lines"(text, date, date) IS 'Returns the lines of an account that are already handled, including hidden ones. A person who has the file sees the line anyway, and it must not be imported twice. The matched record is not revealed.';

COMMENT ON FUNCTION "app"."list_line_payments"(text) IS 'Returns the ids of the payments linked to a statement line.';

COMMENT ON FUNCTION "app"."list_open_dates"(app.context, date) IS 'Returns the unpaid due dates of bills up to a day: [{name, due_on}]; null for none.';

COMMENT ON FUNCTION "app"."list_payee_rules"() IS 'Returns the organization''s payee rules: [{payee, category}].';

COMMENT ON FUNCTION "app"."list_plain_payments"(app.expense_filter, jsonb, integer) IS 'Returns the ids of the next page for a filter that passes app.is_plain, latest first, plus one more to detect a further page.';

COMMENT ON FUNCTION "app"."list_shared_expenses"() IS 'Returns the ids of the expenses and bills that the person has a share in.';

COMMENT ON FUNCTION "app"."list_subjects"(app.change_sets) IS 'Returns the ids of the expenses, categories and settlements that a change concerns, before and after it. Includes records that others were merged into, and categories that its facts mention.';

COMMENT ON FUNCTION "app"."list_who_may"(text) IS 'Returns the people to ask for an action beyond one''s role: {who: up to two addresses of the owner and a manager with the right}.';

COMMENT ON FUNCTION "app"."log_expenses"(app.context, jsonb) IS 'Tool log_expenses. Returns data {results, totals_by_currency}; the totals cover written items.';

COMMENT ON FUNCTION "app"."matches_filter"(app.expense_filter, text, text[], text, text, text, text, text) IS 'Whether an expense or bill matches a filter.';

COMMENT ON FUNCTION "app"."member_sees"(app.expenses, identity.memberships) IS 'Whether a member sees an expense or bill, for pages that the service reads on their behalf. Applies the same conditions as the policies.';

COMMENT ON FUNCTION "app"."merge_expenses"(app.context, jsonb) IS 'Tool update_expenses with merge_into. Returns data {updated, count, merged}: the changes to the kept record, and the deleted records as they were.';

COMMENT ON FUNCTION "app"."month_name"(date) IS 'Returns the month of a day as YYYY-MM.';

COMMENT ON FUNCTION "app"."named_period"(text, date) IS 'Returns the period that a word such as last_month means on a day. this_ and last_ mean whole weeks, months, quarters or years; last_30_days and the like end on that day.';

COMMENT ON FUNCTION "app"."parse_closed_through"(app.context, text) IS 'Returns the last day of the last month to close; null for a blank argument, which closes none. Ends the tool with date_out_of_range when the month has not ended.';

COMMENT ON FUNCTION "app"."parse_expense_filter"(app.context, jsonb) IS 'Returns the filter from the arguments of list_expenses or summarize_spending.';

COMMENT ON FUNCTION "app"."parse_expense_item"(app.context, jsonb, text, boolean) IS 'Returns one item as a draft. field is its path in the arguments, for errors.';

COMMENT ON FUNCTION "app"."parse_expense_items"(app.context, jsonb, boolean) IS 'Returns all items as drafts; ends the call when any is invalid.';

COMMENT ON FUNCTION "app"."parse_paid_on"(app.context, text, text) IS 'Returns the day of a payment. Allows 10 years back, and one day ahead for people in time zones ahead of the owner''s; otherwise ends the tool with date_out_of_range.';

COMMENT ON FUNCTION "app"."parse_period"(app.context, jsonb, app.expense_filter) IS 'Returns the requested period, by default this month. from alone ends today; to alone starts at the first payment.';

COMMENT ON FUNCTION "app"."parse_url"(text, text) IS 'Returns a link argument; null when blank. Ends the tool with invalid_argument when it isn''t an http(s) link.';

COMMENT ON FUNCTION "app"."payee_words"(text) IS 'Returns the words of a payee or name in lower case, without accents and punctuation, separated by single spaces.';

COMMENT ON FUNCTION "app"."prepare_closing"(app.context, date) IS 'Records due automatic payments, then locks the organization against other writers. Ends the tool with values_pending while a value in these months waits for its daily rate.';

COMMENT ON FUNCTION "app"."rank_spending"(app.spending, text[], integer, text, boolean) IS 'Returns rows of summarize_spending: the largest groups, the others as {none: "rest"}, and periods in chronological order.';

COMMENT ON FUNCTION "app"."read_budgets"(app.context, date, text[]) IS 'Returns the budgets of these categories in the month or year of a day. Null returns all budgets, including the one for all spending. Omits budgets that had other settings then.';

COMMENT ON FUNCTION "app"."read_expenses"(text[]) IS 'Returns one-off expenses as list_expenses shows them, with their versions.';

COMMENT ON FUNCTION "app"."read_kept"(text) IS 'Returns the fields of a record that a merge reports.';

COMMENT ON FUNCTION "app"."refuse_closed_month"() IS 'Rejects changes to payments in a closed month, and to their expenses, with month_closed. Allows relabeling if the organization does.';

COMMENT ON FUNCTION "app"."refuse_income"(jsonb, text) IS 'Ends the tool with invalid_argument when an item is income: it has an income category, or is a salary sent as a refund.';

COMMENT ON FUNCTION "app"."refuse_reader"(text) IS 'Ends a writing tool with forbidden_role when the person''s role is read-only.';

COMMENT ON FUNCTION "app"."require_records"(app.context, text[]) IS 'Locks expenses and bills by id. Ends the tool with not_found when one is missing.';

COMMENT ON FUNCTION "app"."sees_change"(app.change_sets) IS 'Whether the person sees everything that a change concerns. Its facts name all of it, so a change is shown completely or not at all. After its contents are purged, only its author sees it.';

COMMENT ON FUNCTION "app"."sees_expense"(text) IS 'Whether the person sees an expense or bill. Policies on dependent rows use it where few rows are read. A subquery there would slow down every statement, even for people who see everything.';

COMMENT ON FUNCTION "app"."sees_line"(app.statement_lines) IS 'Whether the person sees all payments of a line. If a payment was purged, only the importer of the line sees it. The same holds for a line without payments where members see only their own records.';

COMMENT ON FUNCTION "app"."shown_id"(text) IS 'Returns the id that people see for a payment: that of a one-off expense, or the payment''s own for a bill.';

COMMENT ON FUNCTION "app"."step_of_days"(date, date, date) IS 'Returns the distance between a period and the one to compare it with. A year to date shifts by a year, and whole months from any day by as many months. A period that starts on the 1st shifts by the months it touches, any other by its days.';

COMMENT ON FUNCTION "app"."suggest_categories"(text) IS 'Returns up to three categories similar to an unknown name, the most likely first.';

COMMENT ON FUNCTION "app"."sum_plain_payments"(app.expense_filter) IS 'Returns the sums by currency for a filter that passes app.is_plain.';

COMMENT ON FUNCTION "app"."take_over"(app.payments, app.payments) IS 'Merges one payment into another, which takes over missing fields and earlier merges.';

COMMENT ON FUNCTION "app"."text_likeness"(text, text) IS 'Returns how similar two names are, from 0 to 1; 1 when a word of one begins with the other.';

COMMENT ON FUNCTION "app"."total_drafts"(jsonb) IS 'Returns net sums by currency, with refunds subtracted: {"EUR": "12.00"}.';

COMMENT ON FUNCTION "app"."update_expenses"(app.context, jsonb) IS 'Tool update_expenses. Returns data {updated, split?, count, confirm?, merged?}: the changed fields before and after, of the first few records only if there are many. count is the number of changed records; confirm is what a preview asks the caller to repeat.';

COMMENT ON FUNCTION "app"."update_payments"(app.context, text[], jsonb) IS 'Updates the payments of one-off expenses. Properties shared by all parts of a split change in all of them.';

COMMENT ON FUNCTION "app"."warn_of_drafts"(app.context, jsonb) IS 'Returns warnings about duplicates, likely bills, future days, and amounts without a final value in the base currency.';

COMMENT ON FUNCTION "app"."warn_of_unfound"(app.context, jsonb) IS 'Returns warnings about payments that the filter could not compare.';

COMMENT ON FUNCTION "app"."warn_of_unvalued"(app.expense_filter) IS 'Returns a warning about payments that cannot be compared with a filter''s amounts because no rate is known.';

COMMENT ON FUNCTION "app"."weigh_records"(text[]) IS 'Returns {count, minor, unknown}: the number of records, the sum of their values in minor units of the base currency, and the currencies without a value.';

COMMENT ON FUNCTION "app"."whole_months"(app.period) IS 'Returns the number of calendar months in a period; null unless it consists of whole months.';

COMMENT ON FUNCTION "app"."write_expenses"(app.context, jsonb, text) IS 'Inserts drafts that have an id, each as an expense and its payment, in order. Only this function creates one-off expenses; undo restores stored rows.';

COMMENT ON TABLE "app"."budgets" IS 'A limit on the spending of each month or year in one category, or in all when category_id is null.';

COMMENT ON TABLE "app"."category_keywords" IS 'A word in an expense''s name or payee that suggests a category, if the organization has one of that name.';

COMMENT ON TABLE "app"."fx_days" IS 'Days whose rates were requested. A settled day gets no more rates; if it has none, the latest earlier rates apply.';

COMMENT ON TABLE "app"."fx_rates" IS 'The amount of a currency that one euro bought on a day, by source. Rows are never updated in place.';

COMMENT ON TABLE "app"."payments" IS 'Money paid or refunded. All totals are sums of this table.';

COMMENT ON TYPE "app"."budget_state" IS 'A budget in one of its months or years. available_minor is the limit plus any carry-over; is_partial means that some payments cannot be converted.';

COMMENT ON TYPE "app"."category_choice" IS 'A category, or null for none, and its source: given, payee_rule, payee_history, keyword or none.';

COMMENT ON TYPE "app"."expense_filter" IS 'A parsed filter. words are patterns for folded text; other text is in lower case. An empty category id means Uncategorized. Amounts are minor units of amount_currency, compared with the value of each payment; own_bounds holds them as [least, most] in minor units of every currency.';

COMMENT ON TYPE "app"."payment_sum" IS 'Sums of the payments in one currency, with refunds subtracted, and the tax of those that state one.';

COMMENT ON TYPE "app"."period" IS 'A range of days, both ends included. shift is the distance to the previous period; in an earlier period, its own distance from the period compared.';

COMMENT ON TYPE "app"."spending" IS 'All groups, the amounts that could not be converted, and whether any period has such amounts. Also the sources and day of the rates, and the first day whose values are not final.';

COMMENT ON TYPE "app"."spending_group" IS 'Sums of one group in minor units of the target currency. Earlier sums belong to the period compared with; upcoming sums are included in minor.';

REVOKE ALL ON FUNCTION "app"."is_relabeling"(jsonb, jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "app"."is_relabeling"(jsonb, jsonb) TO "authenticated", "postgres", "service_role";

REVOKE ALL ("relabel_closed") ON TABLE "identity"."organizations" FROM "authenticated";

GRANT UPDATE ("relabel_closed") ON TABLE "identity"."organizations" TO "authenticated";
