-- Rules for recurring income, and whether the books show the same income already.

create or replace function app.spell_rhythm(frequency text, every int) returns text
language sql immutable
  return case frequency || '/' || every
    when 'weekly/2' then 'biweekly' when 'monthly/3' then 'quarterly' else frequency end;
comment on function app.spell_rhythm is 'Returns the name of a rhythm, as in log_expenses.';

create or replace function app.is_expected(context app.context, rule app.incomes) returns boolean
language sql immutable
  -- A forecast ignores older balances.
  return coalesce((rule).ends_on >= (context).today - 45, true);
comment on function app.is_expected is 'Whether income of a rule may still arrive.';

create or replace function app.find_similar_incomes(context app.context, first_day date, last_day date)
  returns table (rule_id text, other_id text, name text, day date, minor bigint, currency text, source text)
language plpgsql stable set search_path = '' as $$
declare
  days constant int := 5;
  percent constant int := 10;
  named_percent constant int := 50;
  known_days constant int := 62;
begin
  return query
    with expected as materialized (
      select e.*, i.sort, i.recorded_seq, app.income_words(i.name) as words
      from app.expected_incomes(context, first_day, last_day) as e
      join app.incomes as i on i.id = e.income_id
    ), matched as materialized (
      select distinct m.rule_id from app.match_income_rules(context, context.today - known_days) as m
    )
    select distinct on (u.income_id, o.income_id) u.income_id, o.income_id, o.name, o.day, o.likely, o.currency,
      o.source
    from expected as u
    join expected as o on o.currency = u.currency and o.sort = u.sort and o.day between u.day - days and u.day + days
      and o.income_id <> u.income_id and (o.source = 'found' or o.recorded_seq < u.recorded_seq)
    where u.source = 'said'
      -- Skip rules that already count their own payer's income.
      and (o.source = 'said' or u.income_id not in (select m.rule_id from matched as m))
      and (
        app.same_amount(u.likely, o.likely, named_percent)
          and (u.words = '{}' or o.words = '{}' or app.compare_names(u.words, o.words) >= 2)
        or o.source = 'found' and app.same_amount(u.likely, o.likely, percent)
      )
    order by u.income_id, o.income_id, o.day;
end
$$;
comment on function app.find_similar_incomes is
  'Pairs rules with other expected income that may be the same. Both have a nearby date in the period and a similar '
  'amount. The names may mean the same payer, or one comes from a statement.';

create or replace function app.add_income_rule(context app.context, income app.incomes, rhythm text, first_on date)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  known_days constant int := 62;
  same app.incomes;
  rule jsonb;
  others jsonb;
  known jsonb;
  alike jsonb;
begin
  income.received_on := null;
  income.frequency :=
    case when rhythm = 'biweekly' then 'weekly' when rhythm in ('quarterly', 'once') then 'monthly' else rhythm end;
  income.every := case rhythm when 'biweekly' then 2 when 'quarterly' then 3 else 1 end;
  income.anchor_on := first_on;
  income.ends_on := case rhythm when 'once' then first_on end;
  select i.* into same from app.incomes as i
  where i.organization_id = context.organization_id and i.anchor_on is not null and i.deleted_at is null
    and lower(i.name) = lower(income.name) and i.currency = income.currency and i.amount_minor = income.amount_minor
    and (i.frequency, i.every) = (income.frequency, income.every) and i.ends_on is not distinct from income.ends_on
    and app.dates_between(
      app.income_schedule(i.frequency, i.every, least(i.anchor_on, first_on), null),
      greatest(i.anchor_on, first_on), greatest(i.anchor_on, first_on)
    ) <> '{}'
  order by i.recorded_seq limit 1;
  if found then
    return jsonb_build_object('rule', app.describe_income(context, same), 'is_new', false);
  end if;
  insert into app.incomes as i (
    organization_id, name, sort, category_id, amount_minor, currency, frequency, every, anchor_on, ends_on,
    note, source, created_by, creator_sees
  ) values (
    context.organization_id, income.name, income.sort, income.category_id, income.amount_minor, income.currency,
    income.frequency, income.every, income.anchor_on, income.ends_on, income.note, 'assistant', context.actor_id,
    income.creator_sees
  ) returning i.* into income;
  rule := app.describe_income(context, income);
  with nearby as materialized (
    select s.* from app.find_similar_incomes(
      context, context.today, greatest(context.today, first_on) + app.income_days(income.frequency, income.every)
    ) as s
    where s.rule_id = income.id
  )
  select (
    select coalesce(jsonb_agg(app.describe_income(context, i) order by i.recorded_seq), '[]')
    from app.incomes as i
    where i.organization_id = context.organization_id and i.anchor_on is not null and i.deleted_at is null
      and i.id <> income.id and app.is_expected(context, i)
      and (lower(i.name) = lower(income.name) or i.id in (select s.other_id from nearby as s))
  ), (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', income.id, 'name', income.name, 'other', s.name, 'day', s.day,
      'amount', app.format_amount(s.minor, s.currency), 'currency', s.currency
    ) order by s.day, s.name), '[]')
    from nearby as s
    where s.source = 'found'
  ) into others, alike;
  known := (
    select jsonb_build_array(jsonb_build_object(
      'name', income.name, 'other', r.name, 'day', r.received_on,
      'amount', app.format_amount(r.amount_minor, r.currency), 'currency', r.currency
    ))
    from app.match_income_rules(context, context.today - known_days) as m
    join app.incomes as r on r.id = m.id
    -- Skip the income that the person stated together with the rule.
    where m.rule_id = income.id and lower(r.name) <> lower(income.name)
    order by r.received_on desc, r.recorded_seq desc
    limit 1
  );
  return jsonb_build_object(
    'rule', rule, 'is_new', true, 'others', others, 'alike', alike, 'known', coalesce(known, '[]')
  );
end
$$;
comment on function app.add_income_rule is
  'Stores a rule for recurring income, unless an equal one exists: {rule, is_new, others?: rules with the same name or '
  'possibly for the same income, alike?: income expected from statements that may be the same, known?: the latest '
  'income assigned to the rule}.';
