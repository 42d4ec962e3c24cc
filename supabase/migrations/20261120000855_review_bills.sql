-- review_bills: what is worth saying about the bills, found by rules. A section shows 50 findings at most;
-- counts say how many there are.

create function app.change_percent(old_minor numeric, new_minor numeric) returns numeric
language sql immutable
  return round((new_minor - old_minor) * 100.0 / old_minor, 1);
comment on function app.change_percent is 'By how much an amount differs from another, in percent with one decimal.';

create function app.find_overdue(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select min(o.due_on), jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'due_on', min(o.due_on), 'days_overdue', (context).today - min(o.due_on), 'dates', count(*),
    'amount', app.format_minor(sum(o.remaining_minor), c.exponent), 'currency', b.currency
  )
  from app.passed_occurrences(context) as o
  join app.expenses as b on b.id = o.expense_id
  join app.currencies as c on c.code = b.currency
  where o.due_on < (context).today
  group by b.id, b.name, b.currency, c.exponent;
end;
comment on function app.find_overdue is 'Bills with open dates that have passed; amount is what remains of all of them.';

create function app.find_price_rises(context app.context, since date) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select p.from_on, jsonb_build_object(
    'bill_id', p.id, 'name', p.name, 'old', app.format_minor(p.old_minor, c.exponent), 'new', app.format_minor(p.new_minor, c.exponent),
    'currency', p.currency, 'change_percent', app.change_percent(p.old_minor, p.new_minor), 'since', p.from_on,
    'upcoming', case when p.from_on > (context).today then true end
  )
  from (
    select distinct on (b.id) b.id, b.name, b.currency, r.old_minor, r.new_minor, r.from_on
    from app.expenses as b
    cross join lateral (
      select * from (
        select o.due_on, o.status, o.expected_minor, o.currency,
          lag(o.expected_minor) over dates as old_minor, lag(o.currency) over dates as old_currency, lead(o.scheduled_on) over dates is null as is_last
        from app.expense_occurrences as o
        where o.expense_id = b.id and o.amount_source = 'rule' and o.expected_minor is not null
          and o.scheduled_on >= (since - interval '13 months')::date
        window dates as (order by o.scheduled_on)
      ) as o
      where (o.is_last or o.expected_minor > o.old_minor) and o.currency = b.currency
    ) as o
    cross join lateral (
      select o.old_minor, o.expected_minor as new_minor, o.due_on as from_on
      where o.expected_minor > o.old_minor and o.currency = o.old_currency and o.due_on >= since
      union all
      -- Set already, and not yet on any date that is written down.
      select o.expected_minor, b.amount_minor, app.next_price_from(b, (context).today)
      where o.is_last and o.status = 'open' and o.due_on >= (context).today and o.expected_minor < b.amount_minor
    ) as r
    where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null and b.amount_mode = 'fixed'
      -- What nobody ever changed costs what it always did.
      and b.version > 1
      and r.from_on is not null
    order by b.id, r.from_on desc
  ) as p
  join app.currencies as c on c.code = p.currency;
end;
comment on function app.find_price_rises is 'The latest rise of each fixed price that took effect since a day, or that is set and takes effect later (upcoming).';

create function app.find_unusual_amounts(context app.context, since date) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  -- Three amounts make a habit; 40 % from their median is out of it.
  select l.due_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'due_on', l.due_on, 'amount', app.format_minor(l.expected_minor, c.exponent),
    'usual', app.format_minor(u.usual_minor, c.exponent), 'currency', b.currency, 'change_percent', app.change_percent(u.usual_minor, l.expected_minor)
  )
  from app.expenses as b
  join app.currencies as c on c.code = b.currency
  cross join lateral (
    select o.id, o.due_on, o.expected_minor, o.scheduled_on
    from app.expense_occurrences as o
    where o.expense_id = b.id and o.status <> 'skipped' and o.expected_minor is not null and o.currency = b.currency and o.due_on >= since
      and (o.amount_source <> 'rule' or b.amount_mode = 'variable')
    order by o.scheduled_on desc
    limit 1
  ) as l
  cross join lateral (
    select round(percentile_cont(0.5) within group (order by o.expected_minor)::numeric) as usual_minor, count(*) as amounts
    from app.expense_occurrences as o
    where o.expense_id = b.id and o.status <> 'skipped' and o.expected_minor is not null and o.currency = b.currency and o.scheduled_on < l.scheduled_on
      and o.due_on >= since
  ) as u
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null and b.amount_mode <> 'fixed'
    and u.amounts >= 3 and abs(l.expected_minor - u.usual_minor) > u.usual_minor * 0.4;
end;
comment on function app.find_unusual_amounts is 'Bills whose amounts differ, and whose latest is far from the median of those before it since a day.';

create function app.find_duplicates(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  -- Grouped and not joined: each bill is compared with the one before it of the same payee, rhythm and currency, and with the first of the same name.
  select null::date, jsonb_build_object(
    'bill_id', two.id, 'name', two.name, 'other_bill_id', one.id, 'other_name', one.name,
    'amount', app.format_minor(two.amount_minor, (select c.exponent from app.currencies as c where c.code = two.currency)), 'currency', two.currency,
    'other_amount', case when one.amount_minor <> two.amount_minor
      then app.format_minor(one.amount_minor, (select c.exponent from app.currencies as c where c.code = two.currency)) end,
    'schedule', app.describe_schedule(two)
  )
  from (
    select b.id, coalesce(
      lag(b.id) over (partition by b.match_key, b.frequency, b.every, b.currency, b.amount_minor order by b.recorded_seq),
      lag(b.id) over (partition by b.match_key, b.frequency, b.every, b.currency, lower(b.name) order by b.recorded_seq)
    ) as earlier_id
    from app.expenses as b
    where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null and b.frequency <> 'once'
  ) as pair
  cross join lateral (select * from app.expenses as b where b.id = pair.id offset 0) as two
  cross join lateral (select * from app.expenses as b where b.id = pair.earlier_id offset 0) as one
  where pair.earlier_id is not null and (two.amount_minor is not null or lower(two.name) = lower(one.name));
end;
comment on function app.find_duplicates is 'Active bills of the same payee, rhythm and currency as an earlier one that has the same amount or the same name; the later one is named first.';

create function app.find_trials(context app.context, horizon_days int) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select b.trial_ends_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'trial_ends_on', b.trial_ends_on, 'days_left', b.trial_ends_on - (context).today,
    'amount', app.format_minor(b.amount_minor, c.exponent), 'currency', b.currency,
    'schedule', app.describe_schedule(b)
  )
  from app.expenses as b
  join app.currencies as c on c.code = b.currency
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null
    and b.trial_ends_on between (context).today and (context).today + horizon_days;
end;
comment on function app.find_trials is 'Bills whose trial ends within so many days.';

create function app.find_cancel_dates(context app.context, horizon_days int) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select d.cancel_by, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'cancel_by', d.cancel_by, 'renews_on', b.renews_on, 'days_left', d.cancel_by - (context).today
  )
  from app.expenses as b
  cross join lateral (select b.renews_on - coalesce(b.notice_days, 0)::int as cancel_by) as d
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active' and b.deleted_at is null
    and d.cancel_by between (context).today and (context).today + horizon_days;
end;
comment on function app.find_cancel_dates is 'Bills that renew, and can be ended for the last time within so many days.';

create function app.find_provider_trouble(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select l.last_success_period, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'provider', app.provider_name(l), 'account', l.account_label, 'status', f.status,
    'last_success_period', to_char(l.last_success_period, 'YYYY-MM'), 'kind', f.kind,
    'needs_review', case when f.kind = 'needs_review' then app.describe_link(context, l) -> 'needs_review' end,
    'missing_period', case when f.kind = 'amount_missing' then to_char(month.start, 'YYYY-MM') end
  )
  from app.provider_links as l
  join app.expenses as b on b.id = l.expense_id and b.deleted_at is null
  cross join lateral (select (date_trunc('month', (context).today) - interval '1 month')::date as start) as month
  left join lateral app.open_question(l) as q on true
  cross join lateral (select app.link_status(l, (context).at) as status) as s
  cross join lateral (
    select s.status, case
      when s.status in ('needs_reauth', 'paused', 'paused_by_plan') then s.status
      when s.status = 'active' and l.consecutive_failures > 0 then 'failed'
      when (q.statement).id is not null then 'needs_review'
      -- Asked for daily until the 10th; what has not come by then is missed, where a date of this month waits for it.
      when s.status = 'active' and extract(day from (context).today) > 10 and l.created_at < month.start + interval '1 month 10 days'
        and coalesce(l.last_success_period < month.start, true) and exists (
          select from app.expense_occurrences as o
          where o.expense_id = b.id and o.status = 'open' and o.expected_minor is null
            and o.scheduled_on >= month.start + interval '1 month' and o.scheduled_on < month.start + interval '2 months'
        ) then 'amount_missing'
    end as kind
  ) as f
  where l.organization_id = (context).organization_id and l.status <> 'revoked' and b.status = 'active' and b.amount_mode = 'variable' and f.kind is not null;
end;
comment on function app.find_provider_trouble is
  'Provider links of variable bills that need somebody, by kind: needs_reauth, paused, paused_by_plan, failed, needs_review (what the provider says was not taken over) or amount_missing (no statement by the 10th).';

create function app.review_bills(context app.context, arguments jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  horizon_days constant int := coalesce((arguments ->> 'horizon_days')::int, 45);
  since constant date := context.today - make_interval(months => coalesce((arguments ->> 'lookback_months')::int, 12));
  data jsonb;
begin
  with findings as (
    select 'overdue' as section, f.* from app.find_overdue(context) as f
    union all
    select 'price_rises', f.* from app.find_price_rises(context, since) as f
    union all
    select 'unusual_amounts', f.* from app.find_unusual_amounts(context, since) as f
    union all
    select 'possible_duplicates', f.* from app.find_duplicates(context) as f
    union all
    select 'trials_ending', f.* from app.find_trials(context, horizon_days) as f
    union all
    select 'cancel_by', f.* from app.find_cancel_dates(context, horizon_days) as f
    union all
    select 'provider_attention', f.* from app.find_provider_trouble(context) as f
  ), placed as (
    select *, row_number() over (
      partition by section
      -- What has been is told from the latest, what is to come from the nearest.
      order by case when section in ('price_rises', 'unusual_amounts') then (context.today - rank)::int else (rank - context.today)::int end,
        finding ->> 'name' collate "C", finding ->> 'bill_id' collate "C", finding ->> 'other_bill_id' collate "C"
    ) as place
    from findings
  ), sections as (
    select name, coalesce(f.findings, '[]') as findings, coalesce(f.count, 0) as count
    from unnest(array['overdue', 'price_rises', 'unusual_amounts', 'possible_duplicates', 'trials_ending', 'cancel_by', 'provider_attention']) as name
    left join (
      select section, jsonb_agg(jsonb_strip_nulls(finding) order by place) filter (where place <= 50) as findings, count(*) as count
      from placed
      group by section
    ) as f on f.section = name
  )
  select jsonb_object_agg(name, findings) || jsonb_build_object('counts', jsonb_object_agg(name, count)) into data from sections;
  return jsonb_build_object('data', data);
end
$$;
comment on function app.review_bills is
  'Tool review_bills: data {overdue, price_rises, unusual_amounts, possible_duplicates, trials_ending, cancel_by, provider_attention, counts}.';

revoke all on function
  app.change_percent, app.find_overdue, app.find_price_rises, app.find_unusual_amounts, app.find_duplicates, app.find_trials, app.find_cancel_dates,
  app.find_provider_trouble, app.review_bills from public, anon;
grant execute on function
  app.change_percent, app.find_overdue, app.find_price_rises, app.find_unusual_amounts, app.find_duplicates, app.find_trials, app.find_cancel_dates,
  app.find_provider_trouble, app.review_bills to authenticated, service_role;
