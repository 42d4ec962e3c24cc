-- review_bills: finds problems and changes in bills by fixed rules. A section lists at most 50 findings; counts are
-- complete.

create or replace function app.change_percent(old_minor numeric, new_minor numeric) returns numeric
language sql immutable
  return round((new_minor - old_minor) * 100.0 / old_minor, 1);
comment on function app.change_percent is 'Returns the difference between two amounts in percent, with one decimal.';

create or replace function app.find_overdue(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select min(o.due_on), jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'due_on', min(o.due_on), 'days_overdue', (context).today - min(o.due_on), 'dates',
    count(*),
    'amount', app.format_minor(sum(o.remaining_minor), c.exponent), 'currency', c.code,
    'is_estimate', nullif(b.amount_mode = 'estimated' and bool_or(o.is_by_rule), false)
  )
  from app.passed_occurrences(context) as o
  join app.expenses as b on b.id = o.expense_id
  join app.currencies as c on c.code = o.currency
  where o.due_on < (context).today
  group by b.id, b.name, b.amount_mode, c.code, c.exponent;
end;
comment on function app.find_overdue is 'Returns bills with open past dates, by currency; amount is the open total.';

create or replace function app.find_price_rises(context app.context, since date)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select x.from_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'old', app.format_minor(x.old_minor, c.exponent), 'new',
    app.format_minor(x.new_minor, c.exponent),
    'currency', b.currency, 'change_percent', app.change_percent(x.old_minor, x.new_minor), 'since', x.from_on,
    'more_a_year', app.format_minor(round((x.new_minor - x.old_minor) * 12
      * app.times_a_month(b.frequency, b.every, cardinality(b.month_days))), c.exponent),
    'upcoming', case when x.from_on > (context).today then true end,
    'recorded', case when b.amount_minor < x.new_minor then app.format_minor(b.amount_minor, c.exponent) end
  )
  from (
    select distinct on (b.id) b.id, r.old_minor, r.new_minor, r.from_on
    from app.expenses as b
    cross join lateral (
      select * from (
        select o.due_on, o.scheduled_on, o.status, o.expected_minor, o.currency,
          lag(o.expected_minor) over dates as old_minor, lag(o.currency) over dates as old_currency,
          lag(o.scheduled_on) over dates as old_on, lag(o.scheduled_on, 2) over dates as older_on,
          lead(o.scheduled_on) over dates is null as is_last
        from app.expense_occurrences as o
        where o.expense_id = b.id and o.amount_source = 'rule' and o.expected_minor is not null
          and o.scheduled_on >= (since - interval '13 months')::date
        window dates as (order by o.scheduled_on)
      ) as o
      where (o.is_last or o.expected_minor > o.old_minor) and o.currency = b.currency
    ) as o
    cross join lateral (
      select o.old_minor, o.expected_minor as new_minor, o.due_on as from_on, o.scheduled_on as new_on, o.old_on,
        o.old_on - o.older_on as old_days
      where o.expected_minor > o.old_minor and o.currency = o.old_currency and o.due_on >= since
      union all
      -- The price is set but no stored date has it yet.
      select o.expected_minor, b.amount_minor, app.next_price_from(b, (context).today), null::date, o.scheduled_on,
        o.scheduled_on - o.old_on
      where o.is_last and o.status = 'open' and o.due_on >= (context).today and o.expected_minor < b.amount_minor
    ) as r
    where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
      and b.deleted_at is null and b.amount_mode = 'fixed'
      and b.version > 1
      and r.from_on is not null
      -- The price fell again.
      and r.new_minor <= b.amount_minor
      -- A yearly price is not a rise over a monthly one: the earlier dates had another frequency.
      and not coalesce(
        not app.is_scheduled(b, r.old_on) and (r.new_on is null or app.is_scheduled(b, r.new_on))
          and coalesce(r.old_days, coalesce(r.new_on, r.from_on) - r.old_on)
            * app.times_a_month(b.frequency, b.every, cardinality(b.month_days)) < 21,
        false
      )
    order by b.id, r.from_on desc
  ) as p
  full join app.find_charged_rises(context, since) as k on k.bill_id = p.id
  -- A price is often corrected after the first charge with it.
  cross join lateral (
    select k.bill_id is not null and (p.id is null or case
      when k.new_minor = p.new_minor then k.from_on <= p.from_on
      else k.from_on > p.from_on end) as is_charged
  ) as which
  cross join lateral (
    select case when which.is_charged then k.bill_id else p.id end as id,
      case when which.is_charged then k.old_minor else p.old_minor end as old_minor,
      case when which.is_charged then k.new_minor else p.new_minor end as new_minor,
      case when which.is_charged then k.from_on else p.from_on end as from_on
  ) as x
  join app.expenses as b on b.id = x.id
  join app.currencies as c on c.code = b.currency
  where x.from_on >= since
    -- A bill that once had the new price costs less again.
    and (b.amount_minor >= x.new_minor or not exists (
      select from app.expense_occurrences as o
      where o.expense_id = b.id and o.amount_source = 'rule' and o.expected_minor >= x.new_minor
    ));
end;
comment on function app.find_price_rises is
  'Returns the latest rise of each fixed price that took effect since a day and still applies, or that takes effect '
  'later (upcoming). The rise comes from charges (app.find_charged_rises), otherwise from the prices that people set. '
  'recorded: the bill''s amount, if it does not include the rise.';

create or replace function app.find_unusual_amounts(context app.context, since date)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  -- A median needs three amounts. An amount more than 40 % away from it is unusual.
  select l.due_on, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'due_on', l.due_on, 'amount', app.format_minor(l.expected_minor, c.exponent),
    'usual', app.format_minor(u.usual_minor, c.exponent), 'currency', b.currency, 'change_percent',
    app.change_percent(u.usual_minor, l.expected_minor)
  )
  from app.expenses as b
  join app.currencies as c on c.code = b.currency
  cross join lateral (
    select o.id, o.due_on, o.expected_minor, o.scheduled_on
    from app.expense_occurrences as o
    where o.expense_id = b.id and o.status <> 'skipped' and o.expected_minor is not null and o.currency = b.currency
      and o.due_on >= since
      and (o.amount_source <> 'rule' or b.amount_mode = 'variable')
    order by o.scheduled_on desc
    limit 1
  ) as l
  cross join lateral (
    select round(percentile_cont(0.5) within group (order by o.expected_minor)::numeric) as usual_minor,
      count(*) as amounts
    from app.expense_occurrences as o
    where o.expense_id = b.id and o.status <> 'skipped' and o.expected_minor is not null and o.currency = b.currency
      and o.scheduled_on < l.scheduled_on
      and o.due_on >= since
  ) as u
  where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
    and b.deleted_at is null and b.amount_mode <> 'fixed'
    and u.amounts >= 3 and abs(l.expected_minor - u.usual_minor) > u.usual_minor * 0.4;
end;
comment on function app.find_unusual_amounts is
  'Returns bills with varying amounts whose latest amount is far from the median of the previous ones since a day.';

create or replace function app.find_double_charges(context app.context, since date)
  returns table (rank date, finding jsonb)
language plpgsql stable set search_path = '' as $$
declare
  most_days constant int := 45;
begin
  return query
    with bills as materialized (
      -- The next date may be paid up to a quarter of the period early.
      select b.id, b.name, b.payee, b.recorded_seq, least(
          b.every * case b.frequency when 'daily' then 1 when 'weekly' then 7 when 'monthly' then 28 else 365 end
            * 0.75,
          most_days
      ) as days
      from app.expenses as b
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and b.frequency <> 'once'
    ), paid as materialized (
      select p.id, p.expense_id, p.occurrence_id, p.amount_minor, p.currency, p.paid_on, p.recorded_seq, p.stands_alone
      from app.payments as p
      where p.organization_id = context.organization_id and p.deleted_at is null and p.direction = 'out'
        and p.split_id is null and p.paid_on >= since
    ), candidates as materialized (
      -- Most payments have no equal one nearby, so skip reading their expenses.
      select p.*, case when p.occurrence_id is null then count(*) over near > 1
        else count(*) filter (where p.occurrence_id is null) over near > 0 end as has_neighbor
      from (
        select p.*, null::bigint as parts from paid as p
        union all
        -- A date paid in parts.
        select max(p.id), p.expense_id, p.occurrence_id, sum(p.amount_minor)::bigint, p.currency, max(p.paid_on),
          max(p.recorded_seq), bool_or(p.stands_alone), count(*)
        from paid as p
        where p.occurrence_id is not null
        group by p.expense_id, p.occurrence_id, p.currency
        having count(*) > 1
      ) as p
      window near as (
        partition by p.currency, p.amount_minor order by p.paid_on
        range between make_interval(days => most_days) preceding and make_interval(days => most_days) following
      )
    ), texts as materialized (
      select c.id, c.paid_on, c.amount_minor, c.currency, c.occurrence_id, c.recorded_seq, c.stands_alone,
        c.parts, t.text
      from candidates as c
      join app.expenses as e on e.id = c.expense_id
      cross join lateral (values (e.name), (e.payee)) as t (text)
      where c.has_neighbor and t.text is not null
    ), bill_texts as materialized (
      select b.*, t.text from bills as b cross join lateral (values (b.name), (b.payee)) as t (text)
      where t.text is not null
    ), words as materialized (
      select t.text, array_to_string(app.descriptor_words(t.text), ' ') as key
      from (select b.text from bill_texts as b union select p.text from texts as p) as t
    ), known as (
      select distinct on (w.key) w.key, b.id, b.name, b.days
      from bill_texts as b
      join words as w on w.text = b.text
      order by w.key, b.days, b.recorded_seq
    ), spelled as materialized (
      -- "Rent December" is a payment of the rent.
      select w.text, coalesce(
          (select k.key from known as k where k.key = w.key),
          (select k.key from known as k where starts_with(w.key, k.key || ' ') order by length(k.key) desc limit 1),
          w.key
      ) as key
      from words as w
    ), charges as (
      select p.*, w.key, lag(p.id) over near as other_id, lag(p.paid_on) over near as other_on,
        lag(p.occurrence_id) over near as other_occurrence_id, lag(p.parts) over near as other_parts,
        p.stands_alone or lag(p.stands_alone) over near as is_confirmed
      from texts as p
      join spelled as w on w.text = p.text
      window near as (partition by w.key, p.currency, p.amount_minor order by p.paid_on, p.recorded_seq)
    )
    select distinct on (c.id) c.paid_on, jsonb_build_object(
      'bill_id', k.id, 'name', k.name, 'amount', app.format_amount(c.amount_minor, c.currency), 'currency', c.currency,
      'first_on', c.other_on, 'second_on', c.paid_on,
      'ids', case when coalesce(c.parts, c.other_parts) is null
        then jsonb_build_array(app.shown_id(c.other_id), app.shown_id(c.id))
        else jsonb_build_array(app.shown_id(case when c.parts is null then c.id else c.other_id end)) end,
      'parts', coalesce(c.parts, c.other_parts),
      'is_confirmed', nullif(c.is_confirmed, false)
    )
    from charges as c
    join known as k on k.key = c.key
    -- Two payments on one day can pay two dates, if one of them was overdue.
    where c.other_id <> c.id and (c.occurrence_id is null or c.other_occurrence_id is null)
      and c.paid_on - c.other_on < k.days
      -- The payee refunded the charge.
      and not exists (
        select from app.payments as r
        cross join lateral (select e.name, e.payee from app.expenses as e where e.id = r.expense_id offset 0) as e
        where r.organization_id = context.organization_id and r.direction = 'refund' and r.deleted_at is null
          and r.amount_minor = c.amount_minor and r.currency = c.currency and r.paid_on >= c.other_on
          and k.key in (
            array_to_string(app.descriptor_words(e.payee), ' '), array_to_string(app.descriptor_words(e.name), ' ')
          )
      )
    order by c.id, k.days;
end
$$;
comment on function app.find_double_charges is
  'Returns pairs of equal payments to the payee of a recurring bill, less than three quarters of its period and at '
  'most 45 days apart. At most one of the two pays a date of the bill. If that date was paid in parts, parts is their '
  'number and ids contains only the other payment. is_confirmed: a person confirmed both. Leaves out charges that the '
  'payee refunded.';
