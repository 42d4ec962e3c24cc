-- Expected income: the dates of rules that people recorded, and of payers who paid regularly.

create or replace function app.income_schedule(frequency text, every int, anchor_on date, ends_on date,
  month_day int default null) returns app.expenses
language sql immutable
  return jsonb_populate_record(null::app.expenses, jsonb_build_object(
    'frequency', frequency, 'every', every, 'anchor_on', anchor_on, 'ends_on', ends_on,
    'month_days', case when frequency = 'monthly' and month_day is not null then array[month_day] end,
    'weekend_rule', 'none'
  ));
comment on function app.income_schedule is
  'Returns the schedule of an income in the form that the functions for bill schedules take.';

create or replace function app.dates_between(schedule app.expenses, first_day date, last_day date) returns date[]
language plpgsql immutable set search_path = '' as $$
begin
  return array(
    select s.scheduled_on
    from app.scheduled_dates(schedule, app.schedule_index(schedule, first_day), least(
      app.schedule_index(schedule, last_day + 1) - 1, app.last_index(schedule)
    )) as s
  );
end
$$;
comment on function app.dates_between is 'Returns the dates of a schedule in a period.';

create or replace function app.income_days(frequency text, every int) returns int
language sql immutable
  return every * case frequency when 'weekly' then 7 when 'monthly' then 31 else 366 end;
comment on function app.income_days is 'Returns the longest time between two dates of a rhythm, in days.';

create or replace function app.earlier_schedule(rule app.incomes) returns app.expenses
language plpgsql immutable set search_path = '' as $$
begin
  if rule.ends_on = rule.anchor_on then
    return app.income_schedule(rule.frequency, rule.every, rule.anchor_on, rule.ends_on);
  end if;
  return app.income_schedule(rule.frequency, rule.every, case rule.frequency
    when 'weekly' then rule.anchor_on - 1120 * rule.every
    when 'monthly' then
      app.month_day(app.month_of(rule.anchor_on) - 36 * rule.every, extract(day from rule.anchor_on)::int)
    else (rule.anchor_on - make_interval(years => 3 * rule.every))::date
  end, rule.ends_on, extract(day from rule.anchor_on)::int);
end
$$;
comment on function app.earlier_schedule is
  'Returns a rule''s schedule extended three years into the past, where statements may show the same income. One-time '
  'income has only its own day.';

create or replace function app.match_income_rules(context app.context, since date)
  returns table (id text, rule_id text)
language plpgsql stable set search_path = '' as $$
declare
  -- Banks book some days early or late.
  days constant int := 5;
  percent constant int := 10;
  named_percent constant int := 50;
  pair record;
  taken text[] := '{}';
  payers text[] := '{}';
begin
  for pair in
    with rules as materialized (
      select i.id, i.amount_minor, i.currency, i.recorded_seq, coalesce(i.ends_on = i.anchor_on, false) as is_once,
        app.read_income_name(i.name) as name,
        app.dates_between(app.earlier_schedule(i), since - days, context.today + days + 1) as dates
      from app.incomes as i
      where i.organization_id = context.organization_id and i.anchor_on is not null and i.deleted_at is null
    ), pairs as materialized (
      select r.id, r.received_on, u.id as rule_id, u.name as rule_name, u.recorded_seq,
        abs(u.amount_minor - r.amount_minor) as difference,
        app.same_amount(u.amount_minor, r.amount_minor, percent) as is_similar, near.day,
        -- The line names the payer, even if the income has a name of its own.
        regexp_replace(concat_ws(' ', r.name, case when near.day is not null then
          (select l.text from app.statement_lines as l where l.id = r.line_id) end), '\S*\d\S*', '', 'g') as text
      from rules as u
      join app.incomes as r on r.organization_id = context.organization_id and r.received_on >= since
        and r.deleted_at is null and r.currency = u.currency
      left join lateral (
        select d.day from unnest(u.dates) as d (day)
        where d.day between r.received_on - days and r.received_on + days
        order by abs(d.day - r.received_on) limit 1
      ) as near on true
      where app.same_amount(u.amount_minor, r.amount_minor, named_percent)
        -- A bonus is not the salary of the same payer.
        and (not u.is_once or near.day is not null and app.same_amount(u.amount_minor, r.amount_minor, percent))
    ), names as materialized (
      select t.text, app.read_income_name(t.text) as name from (select distinct p.text from pairs as p) as t
    ), ranked as materialized (
      select p.id, p.rule_id, p.rule_id || p.day as rule_day, (n.name).words as words, row_number() over (
        order by a.agree desc, p.difference, abs(p.day - p.received_on), p.received_on, p.recorded_seq desc
      ) as place
      from pairs as p
      join names as n on n.text = p.text
      cross join lateral (select app.compare_names((p.rule_name).words, (n.name).words) as agree offset 0) as a
      where a.agree >= 2 or p.day is not null and p.is_similar and app.may_be_same_payer(p.rule_name, n.name)
    ), payers as materialized (
      select r.rule_id, r.words, r.rule_id || r.words::text as payer,
        array_agg(r.rule_day) filter (where r.rule_day is not null) as days
      from ranked as r
      where r.words <> '{}'
      group by r.rule_id, r.words
    ), rivals as materialized (
      select p.rule_id, p.words, array_agg(o.payer) as others
      from payers as p
      join payers as o on o.rule_id = p.rule_id and o.words <> p.words and o.days && p.days
      group by p.rule_id, p.words
    )
    select r.id, r.rule_id, r.rule_day, r.rule_id || r.words::text as payer, coalesce(o.others, '{}') as others
    from ranked as r
    left join rivals as o on o.rule_id = r.rule_id and o.words = r.words
    order by r.place
  loop
    -- Each date takes one income; another one on that day is a bonus or from another payer.
    continue when array[pair.id, pair.rule_day] && taken
      -- If several payers pay on the same dates, the rule has only one of them.
      or pair.others && payers;
    taken := taken || array_remove(array[pair.id, pair.rule_day], null);
    payers := payers || pair.payer;
    id := pair.id;
    rule_id := pair.rule_id;
    return next;
  end loop;
end
$$;
comment on function app.match_income_rules is
  'Returns the rule of each income received since a day, even before the rule''s first date. The rule has the same '
  'payer; otherwise it has a nearby date, a similar amount, and a name that may mean the same payer. If several payers '
  'pay on the same dates, only the best match counts.';

create or replace function app.find_income_rhythms(context app.context) returns table (
  income_id text, name text, account_id text, schedule app.expenses, since date, amounts bigint[], currency text,
  is_over boolean
)
language plpgsql stable set search_path = '' set jit = 'off' as $$
declare
  -- The period contains three yearly incomes.
  kept_days constant int := 800;
  least_often constant int := 3;
  told_days constant int := 93;
begin
  return query
    with received as materialized (
      select i.*, array_to_string(app.without_months(app.descriptor_words(i.name)), ' ') collate "C" as key
      from app.incomes as i
      where i.organization_id = context.organization_id and i.deleted_at is null
        and i.received_on between context.today - kept_days and context.today
        and i.id not in (select m.id from app.match_income_rules(context, context.today - kept_days) as m)
    ), steps as materialized (
      -- Group by payer (stream 0), and by payer and amount, because a bonus interrupts the rhythm of a salary.
      select r.*, s.stream, r.received_on - lag(r.received_on) over (
        partition by r.key, r.currency, s.stream order by r.received_on, r.recorded_seq
      ) as gap
      from received as r
      cross join lateral (values (0::bigint), (r.amount_minor)) as s (stream)
      where r.key <> ''
    ), rhythms as materialized (
      select s.*, app.find_rhythm(s.gap) as rhythm,
        -- The possible rhythms, assuming up to three missed dates in between.
        array[app.find_rhythm(s.gap / 2), app.find_rhythm(s.gap / 3), app.find_rhythm(s.gap / 4)] as missed_rhythms
      from steps as s
    ), placed as materialized (
      select r.*, row_number() over latest as place,
        case when nth_value(r.rhythm, 2) over latest = any (first_value(r.missed_rhythms) over latest)
          then nth_value(r.rhythm, 2) over latest else first_value(r.rhythm) over latest end as last_rhythm
      from rhythms as r
      window latest as (
        partition by r.key, r.currency, r.stream order by r.received_on desc, r.recorded_seq desc
        rows between unbounded preceding and unbounded following
      )
    ), kept as materialized (
      select p.*, p.rhythm is not distinct from p.last_rhythm as is_regular,
        p.last_rhythm = any (p.missed_rhythms) and (
        lag(p.rhythm) over (partition by p.key, p.currency, p.stream order by p.place) = p.last_rhythm or p.place = 1
        ) as is_after_missed
      from placed as p
      where p.last_rhythm is not null
    ), runs as materialized (
      -- The first income of a run has a different gap before it, or none.
      select k.*, min(k.place) filter (where not k.is_regular and k.is_after_missed is not true) over (
        partition by k.key, k.currency, k.stream
      ) as length
      from kept as k
    ), found as materialized (
      select r.key, r.currency, r.stream, split_part(r.last_rhythm, '/', 1) as frequency,
        split_part(r.last_rhythm, '/', 2)::int as every, max(r.received_on) as last_on,
        (array_agg(r.id order by r.place))[1] as id, (array_agg(r.name order by r.place))[1] as name,
        (array_agg(r.account_id order by r.place))[1] as account_id,
        array_agg(r.amount_minor order by r.place) as amounts,
        mode() within group (order by extract(day from r.received_on)::int) as day
      from runs as r
      where r.place <= r.length
      group by r.key, r.currency, r.stream, r.last_rhythm, r.length
      -- Allow at most one irregular gap for every two regular ones.
      having count(*) filter (where r.is_regular and r.place < r.length)
        >= greatest(least_often - 1, 2 * count(*) filter (where not r.is_regular and r.place < r.length))
    )
    select f.id, app.rhythm_name(f.name), f.account_id,
      app.income_schedule(f.frequency, f.every, a.anchor_on, null, f.day), f.last_on, f.amounts, f.currency,
      f.last_on < context.today - 10 - app.income_days(f.frequency, f.every)
    from found as f
    -- A weekend moves an income due on the 31st into the next month.
    cross join lateral (
      select d.day as anchor_on
      from generate_series(-1, 1) as g (step)
      cross join lateral (
        select case f.frequency when 'monthly' then app.month_day(app.month_of(f.last_on) + g.step, f.day)
          else f.last_on end as day
      ) as d
      order by abs(d.day - f.last_on)
      limit 1
    ) as a
    where f.last_on >= context.today - 10 - told_days - app.income_days(f.frequency, f.every)
      and not (f.stream > 0 and exists (
        select from found as o where o.key = f.key and o.currency = f.currency and o.stream = 0
      ));
end
$$;
comment on function app.find_income_rhythms is
  'Returns income without a rule that came regularly at least three times: its latest record, its schedule from the '
  'latest date, and its amounts, the latest first. Up to three missed dates in a row do not end the rhythm. is_over: '
  'the next date passed more than ten days ago; after three more months, it is left out.';

create or replace function app.expected_incomes(context app.context, first_day date, last_day date)
  returns table (income_id text, name text, account_id text, day date, low bigint, likely bigint, high bigint,
  currency text, source text)
language plpgsql stable set search_path = '' as $$
declare
  days constant int := 5;
  kept_days constant int := 420;
  -- The range of the latest amounts.
  recent constant int := 6;
begin
  return query
    with matched as materialized (
      select m.rule_id, r.received_on, r.amount_minor, r.account_id, row_number() over (
        partition by m.rule_id order by r.received_on desc, r.recorded_seq desc
      ) as place
      from app.match_income_rules(context, context.today - kept_days) as m
      join app.incomes as r on r.id = m.id
    ), rules as (
      select i.id, i.name, i.anchor_on, coalesce(i.account_id, (
          select m.account_id from matched as m where m.rule_id = i.id and m.account_id is not null
          order by m.place limit 1
      )) as account_id,
        app.earlier_schedule(i) as schedule, (
          select m.received_on + days from matched as m
          where m.rule_id = i.id and m.place = 1
            and m.received_on >= context.today - 10 - app.income_days(i.frequency, i.every)
        ) as running_on,
        -- An amount stated by a person applies until the next income.
        coalesce((
          select m.amount_minor from matched as m
          where m.rule_id = i.id and m.place = 1 and m.received_on > (i.updated_at at time zone context.timezone)::date
        ), i.amount_minor) as likely, i.currency,
        (select m.amount_minor from matched as m where m.rule_id = i.id and m.place = 1) as latest
      from app.incomes as i
      where i.organization_id = context.organization_id and i.anchor_on is not null and i.deleted_at is null
    )
    select u.id, u.name, u.account_id, d.day,
      least(sum.likely, range.low), sum.likely, greatest(sum.likely, range.high), u.currency, 'said'
    from rules as u
    cross join lateral (
      select min(m.amount_minor) as low, max(m.amount_minor) as high
      from matched as m
      where m.rule_id = u.id and m.place <= recent
    ) as range
    cross join lateral unnest(app.dates_between(u.schedule, first_day, last_day)) as d (day)
    -- Half a week at most, so that one wage does not count for two weeks.
    cross join lateral (
      select case when (u.schedule).frequency = 'weekly' and (u.schedule).every = 1 then 3 else days end as days
    ) as near
    -- Before its first date, a rule expects the amount of the income that is already arriving.
    cross join lateral (select case when d.day < u.anchor_on then u.latest else u.likely end as likely) as sum
    where (d.day >= u.anchor_on or d.day > u.running_on) and not exists (
      select from matched as m
      where m.rule_id = u.id and m.received_on between d.day - near.days and d.day + near.days
    )
    union all
    select f.income_id, f.name, f.account_id, d.day, range.low, f.amounts[1], range.high, f.currency,
      case when f.is_over then 'stopped' else 'found' end
    from app.find_income_rhythms(context) as f
    cross join lateral (
      select min(a.minor) as low, max(a.minor) as high from unnest(f.amounts[:recent]) as a (minor)
    ) as range
    cross join lateral unnest(case
      when not f.is_over then app.dates_between(f.schedule, greatest(first_day, f.since + days + 1), last_day)
      when app.dates_between(f.schedule, f.since + days + 1, least(last_day, context.today)) <> '{}' and not exists (
        select from app.incomes as i
        where i.organization_id = context.organization_id and i.deleted_at is null and i.received_on > f.since
          and app.compare_names(app.income_words(i.name), app.income_words(f.name)) >= 2
      ) then array[f.since] end) as d (day)
    order by 4, 1;
end
$$;
comment on function app.expected_incomes is
  'Returns the dates in a period whose expected income was not received within five days, with the lowest and highest '
  'of the latest six amounts. source: said (by a person) or found (from at least three regular incomes); income_id is '
  'the rule or the latest income. Also returns the latest income of regular payers who stopped before the last day of '
  'the period, with the source stopped.';
