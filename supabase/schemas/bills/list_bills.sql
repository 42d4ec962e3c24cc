create or replace function app.sum_open_dates(context app.context, bill_id text, until date) returns app.money_sum[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select (o.currency, sum(o.remaining_minor))::app.money_sum
    from app.open_occurrences(context, array[bill_id]) as o
    where o.due_on <= until and o.remaining_minor is not null
    group by o.currency
  );
end
$$;
comment on function app.sum_open_dates is
  'Returns the unpaid amounts of a bill''s open dates until a day, by currency.';

create or replace function app.find_near_bills(context app.context, words text[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 60;
begin
  return (
    with bills as (
      select b.name, app.status_on(b, context.today) as status, b.recorded_seq,
        app.fold_text(concat_ws(' ', b.name, b.payee, b.note)) like all (words) as has_words
      from app.expenses as b
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
    )
    select jsonb_build_object('bills', jsonb_agg(b.bill order by b.recorded_seq))
      || case when max(b.total) > most then jsonb_build_object('bill_count', max(b.total)) else '{}' end
    from (
      select b.recorded_seq, count(*) over () as total, jsonb_build_object('name', b.name, 'status', b.status) as bill
      from bills as b
      where b.has_words or not exists (select from bills as o where o.has_words)
      order by b.status <> 'active', b.recorded_seq desc
      limit most
    ) as b
    having count(*) > 0
  );
end
$$;
comment on function app.find_near_bills is
  'Returns suggestions when no bill matches the words: {bills, bill_count?}. bills has the matching bills in another '
  'status, otherwise all bills, active and new ones first. bill_count is present if bills is cut.';

create or replace function app.list_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  bill constant app.expenses :=
    case when arguments ? 'bill_id' then app.require_bill(context, arguments ->> 'bill_id') end;
  wanted_ids constant text[] := case when bill.id is not null then array[bill.id] end;
  -- An id identifies the bill, so other filters do not apply.
  filter constant jsonb := case when bill.id is null then arguments else '{"status": "all"}' end;
  wanted_status constant text := nullif(coalesce(filter ->> 'status', 'active'), 'all');
  -- Open dates of a paused or cancelled bill are due like others.
  listed constant text[] :=
    case when wanted_status = 'active' then array['active', 'paused', 'cancelled'] else array[wanted_status] end;
  wanted_state constant text := filter ->> 'state';
  words constant text[] := app.word_patterns(filter ->> 'query');
  pattern constant text := app.word_in_languages(filter ->> 'query');
  wanted_category constant text := app.clean_text(filter ->> 'category');
  -- Include archived categories, whose bills continue.
  wanted_category_id constant text :=
    (select c.id from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(wanted_category)
    order by c.is_private desc limit 1);
  within_days constant int := (filter ->> 'due_within_days')::int;
  due_within constant date := context.today + within_days;
  until constant date :=
    coalesce(due_within, date_trunc('month', context.today) + interval '1 month' - interval '1 day');
  has_document constant boolean := filter ->> 'has_document';
  into_currency constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  default_lead_days constant int := app.default_lead_days(context);
  page_size constant int := coalesce((arguments ->> 'limit')::int, 25);
  scope constant jsonb := jsonb_build_array(context.organization_id, 'list_bills', arguments - 'cursor' - 'limit');
  key constant jsonb := app.read_cursor(scope, arguments ->> 'cursor');
  page record;
  due record;
  yearly record;
  data jsonb;
  warnings jsonb := '[]';
  cursors text[];
begin
  if wanted_category_id is null and not app.means_uncategorized(wanted_category) then
    perform app.fail_without_category(wanted_category, 'category');
  end if;
  with open_bills as (
    select o.expense_id, min(o.due_on) as earliest_due,
      min(o.due_on) filter (where o.due_on >= context.today) as next_due,
      -- Reads the values of the next date as the minimum of an array that starts with its dates, because an ordered
      -- aggregate would sort all rows first.
      (min(array[o.due_on - context.today, o.scheduled_on - context.today, (o.expected_minor is not null)::int])
        filter (where o.due_on >= context.today))[3] = 1 as is_amount_known,
      -- The cost of the next date by the bill's rule, without later price changes.
      (min(array[o.due_on - context.today, o.scheduled_on - context.today, o.expected_minor])
        filter (where o.due_on >= context.today and o.is_by_rule and o.remaining_minor = o.expected_minor))[3]
        as price_minor,
      count(*) filter (where o.due_on <= until) as due_count,
      sum(o.remaining_minor) filter (where o.due_on <= until) as due_minor,
      count(*) filter (where o.due_on <= until and o.remaining_minor is null) as unknown,
      sum(o.remaining_minor) filter (where o.due_on <= until and o.is_by_rule) as by_rule_minor,
      -- Only partly paid dates keep a former currency.
      array_agg(o.currency) filter (where o.due_on <= until and o.remaining_minor <> o.expected_minor)
        as partly_paid_in,
      max(o.future_dates) as future_dates
    from (
      select o.expense_id, o.scheduled_on, o.due_on, o.expected_minor,
        o.expected_minor - o.paid_minor as remaining_minor, o.currency, o.amount_source = 'rule' as is_by_rule,
        0 as future_dates
      from app.expense_occurrences as o
      where o.organization_id = context.organization_id and o.status = 'open' and o.due_on >= context.today
        and (wanted_ids is null or o.expense_id = any (wanted_ids))
      union all
      select p.expense_id, p.scheduled_on, p.due_on, p.expected_minor, p.remaining_minor, p.currency,
        p.is_by_rule, 0
        from app.passed_occurrences(context, wanted_ids) as p
      union all
      select f.expense_id, null, null, null, null, null, null, f.dates
        from app.future_counts(context, until, wanted_ids) as f
    ) as o
    group by o.expense_id
  ), matched as (
    select b.id, b.name, b.recorded_seq, b.currency, coalesce(o.earliest_due, 'infinity') as sort_on,
      b.frequency, b.every, b.month_days, b.dates_left,
      case when b.shown_status = 'active' then usual.minor end as usual_minor,
      b.amount_mode <> 'fixed' as is_vague,
      coalesce(o.due_count + o.future_dates, 0) as due_count, mixed.sums as mixed_sums,
      -- A date without an amount counts with the usual one, which is an estimate.
      case when coalesce(own.minor, nullif(o.future_dates, 0) * b.rule_minor, vague.dates * usual.minor) is not null
        then coalesce(own.minor, 0) + coalesce(o.future_dates * b.rule_minor, 0)
        + coalesce(vague.dates * usual.minor, 0) end as due_minor,
      nullif(
        coalesce(vague.dates * usual.minor, 0)
        + case when b.amount_mode = 'estimated' and mixed.sums is null
          then coalesce(o.by_rule_minor, 0) + coalesce(o.future_dates * b.rule_minor, 0) else 0 end, 0
      ) as estimated_minor,
      case when usual.minor is null then coalesce(vague.dates, 0) else 0 end as unknown
    from (
      select b.id, b.name, b.recorded_seq, b.currency, b.status, b.frequency, b.every,
        cardinality(b.month_days) as month_days, b.amount_mode,
        b.amount_minor, b.price_from, b.earlier_minor,
        app.rule_amount(b) as rule_minor, b.autopay, b.next_due,
        coalesce(b.remind_days_before, default_lead_days) as lead_days,
        app.status_on(b, context.today) as shown_status,
        case when num_nonnulls(b.ends_on, b.ends_after) > 0 then greatest(
          app.last_index(b) + 1 - app.due_index(b, greatest(context.today, b.next_due)), 0
        ) end as dates_left
      from app.expenses as b
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and (wanted_ids is null or b.id = any (wanted_ids))
        and (wanted_status is null or app.status_on(b, context.today) = any (listed))
        and (words is null or app.names_word(b.name, b.payee, b.note, words, pattern))
        and (wanted_category is null or b.category_id is not distinct from wanted_category_id)
      offset 0
    ) as b
    left join open_bills as o on o.expense_id = b.id
    cross join lateral (
      select case when b.currency <> any (o.partly_paid_in) then app.sum_open_dates(context, b.id, until) end as sums
    ) as mixed
    cross join lateral (
      select case when mixed.sums is null then o.due_minor
        else (select s.minor from unnest(mixed.sums) as s where s.currency = b.currency) end as minor
    ) as own
    cross join lateral (
      select nullif(o.unknown + case when b.rule_minor is null then o.future_dates else 0 end, 0) as dates
    ) as vague
    cross join lateral app.usual_amount(
      b.id,
      case when b.price_from > context.today then b.earlier_minor
        when b.amount_mode = 'fixed' then coalesce(o.price_minor, b.amount_minor) else b.amount_minor end,
      b.currency
    ) as usual
    cross join lateral app.this_month(b.id, b.autopay, b.next_due, o.earliest_due, context.today) as this_month
    where (wanted_status is null or b.shown_status = wanted_status or o.earliest_due is not null)
      and (due_within is null or coalesce(o.earliest_due, 'infinity') <= due_within)
      and (has_document is null or has_document = app.has_date_document(b.id, o.earliest_due))
      and (wanted_state is null or wanted_state = app.bill_state(
        b.shown_status, o.earliest_due, o.next_due, o.is_amount_known, context.today, b.lead_days,
        this_month.is_settled,
        within_days,
        (select a.dates
          from app.awaited_dates(b.id, b.autopay and b.status = 'active', b.next_due, usual.minor, context.today) as a)
          is not null
      ))
  ), sums as (
    -- Compute dates per month once per schedule, not per bill. A bill that ends costs only its remaining dates.
    select r.currency, sum(r.count) as count,
      sum(r.usual_minor * least(r.times, r.dates_left)) as monthly_minor,
      sum(r.usual_minor * least(r.times * 12, r.dates_left)) as yearly_minor,
      sum(r.vague_minor * least(r.times, r.dates_left)) as vague_monthly_minor,
      sum(r.vague_minor * least(r.times * 12, r.dates_left)) as vague_yearly_minor,
      sum(r.due_minor) as due_minor, sum(r.estimated_minor) as estimated_minor, sum(r.unknown) as unknown
    from (
      select m.currency, app.times_a_month(m.frequency, m.every, m.month_days) as times,
        m.dates_left, count(*) as count,
        sum(m.usual_minor) as usual_minor, sum(m.usual_minor) filter (where m.is_vague) as vague_minor,
        sum(m.due_minor) as due_minor, sum(m.estimated_minor) as estimated_minor, sum(m.unknown) as unknown
      from matched as m
      group by m.currency, m.frequency, m.every, m.month_days, m.dates_left
      union all
      select s.currency, null, null, 0, null, null, s.minor, null, 0
      from matched as m
      cross join lateral unnest(m.mixed_sums) as s
      where s.currency <> m.currency
    ) as r
    group by r.currency
  )
  select
    array(
      select (m.id, m.sort_on, m.recorded_seq, m.due_count, m.due_minor)::app.bill_position
      from matched as m
      where key is null or (m.sort_on, m.recorded_seq) > ((key ->> 0)::date, (key ->> 1)::bigint)
      order by m.sort_on, m.recorded_seq
      limit page_size + 1
    ) as rows,
    coalesce(sum(s.count), 0) as total_count,
    array_agg((s.currency, s.due_minor)::app.money_sum) filter (where s.due_minor is not null) as due_sums,
    array_agg((s.currency, s.monthly_minor)::app.money_sum) filter (where s.monthly_minor is not null) as monthly_sums,
    array_agg((s.currency, s.yearly_minor)::app.money_sum) filter (where s.monthly_minor is not null) as yearly_sums,
    array_agg((s.currency, s.vague_monthly_minor)::app.money_sum) filter (where s.vague_monthly_minor is not null)
      as vague_monthly_sums,
    array_agg((s.currency, s.vague_yearly_minor)::app.money_sum) filter (where s.vague_yearly_minor is not null)
      as vague_yearly_sums,
    array_agg((s.currency, s.estimated_minor)::app.money_sum) filter (where s.estimated_minor is not null)
      as estimated_sums,
    array(select m.name from matched as m where m.estimated_minor is not null order by m.sort_on, m.recorded_seq)
      as estimated_names,
    sum(s.unknown) as unknown_amounts
  into page
  from sums as s;

  due := app.convert_sums(page.due_sums, into_currency, context.today);
  yearly := app.convert_sums(page.yearly_sums, into_currency, context.today);
  if due.unconverted is not null or yearly.unconverted is not null then
    warnings := warnings || app.warning('rate_missing.of_bills', jsonb_build_object(
      'into', into_currency,
      'currencies', array(select distinct c from unnest(due.unconverted || yearly.unconverted) as c order by c)
    ));
  end if;
  warnings := warnings || app.warn_of_estimates(page.estimated_names, page.estimated_sums);
  if page.unknown_amounts > 0 then
    warnings := warnings || app.warning('amount_missing.of_dates', jsonb_build_object('count', page.unknown_amounts));
  end if;
  data := jsonb_build_object('bills', app.describe_bills(
    context, array(select r.id from unnest(page.rows[:page_size]) with ordinality as r order by r.ordinality),
    within_days,
    -- The dates in the total. A bill appears once, even with several dates in the window.
    case when bill.id is null then page.rows[:page_size] end
  ));
  data := data || jsonb_build_object(
    'totals', jsonb_build_object(
      'due', app.describe_sum(context, page.due_sums, page.estimated_sums, into_currency)
        || jsonb_build_object('until', until)
    -- Omit the total of the due bills, because readers would take it for the total of all bills.
    ) || case when num_nonnulls(within_days, wanted_state, has_document) > 0 then '{}' else jsonb_build_object(
      'monthly', app.describe_sum(context, page.monthly_sums, page.vague_monthly_sums, into_currency),
      'yearly', app.describe_sum(context, page.yearly_sums, page.vague_yearly_sums, into_currency)
    ) end
  );
  if page.total_count = 0 and words is not null then
    data := data || jsonb_strip_nulls(jsonb_build_object('no_match', app.find_near_bills(context, words)));
  end if;
  if key is null and (wanted_category_id is not null or words is not null and wanted_category is null) then
    warnings := warnings || app.warn_of_missed_bills(context, wanted_status, wanted_category_id, words, pattern);
  end if;
  if bill.id is not null then
    data := data || app.describe_bill_history(context, bill);
    warnings := warnings || (data -> 'warnings');
    data := data - 'warnings';
  end if;
  cursors := array(
    select app.write_cursor(scope, jsonb_build_array(r.sort_on, r.recorded_seq))
    from unnest(page.rows[:page_size]) with ordinality as r order by r.ordinality
  );
  return jsonb_build_object(
    'data', data, 'warnings', warnings || app.warn_of_own_only(), 'total_count', page.total_count,
    'totals_by_currency', app.describe_sums(page.due_sums),
    'next_cursor', case when cardinality(page.rows) > page_size then cursors[page_size] end,
    'page', jsonb_build_object('list', 'bills', 'cursors', cursors)
  );
end
$$;
comment on function app.list_bills is
  'Tool list_bills: data {bills, totals {due, monthly?, yearly?}, no_match?}, with bill_id also its history. Totals '
  'cover all matches; monthly and yearly are absent when the filter is about dates. due counts bills that are overdue '
  'or due until the end of the window (without one, of the calendar month). estimated is its estimated part, '
  'converted_from names its other currencies, and due_in_window {count, amount} is a bill''s part.';
