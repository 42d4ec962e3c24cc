-- The calendar feed: open dates of the coming year, read as the person who owns the address.

create or replace function app.list_calendar(show_amounts boolean, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  context constant app.context := app.read_context(at);
  -- Limits the feed, because an app reads all of it each time.
  most_overdue constant int := 100;
  most_to_come constant int := 500;
  last_day date := context.today + 365;
  nearer_day date;
begin
  if context.organization_id is null then
    return null;
  end if;
  -- Stop before a whole year if the feed is full, which is 5 times as fast with 5,000 bills.
  foreach nearer_day in array array[context.today + 31, context.today + 92] loop
    if (select sum(f.dates) from app.future_counts(context, nearer_day) as f) > most_to_come then
      last_day := nearer_day;
      exit;
    end if;
  end loop;
  return (
    with open_dates as (
      select o.expense_id, o.due_on, o.remaining_minor, o.currency, o.is_by_rule
      from app.open_occurrences(context) as o
      union all
      select f.expense_id, f.due_on, f.expected_minor, f.currency, true
      from app.future_occurrences(context, last_day) as f
      where f.due_on <= last_day
    ), days as (
      -- The weekend rule may move several dates of a bill to one day; merge them.
      select d.expense_id, d.due_on, count(*) as dates, sum(d.remaining_minor) as known_minor,
        count(*) filter (where d.remaining_minor is null) as unknown, bool_or(d.is_by_rule) as is_by_rule,
        min(d.currency) as currency, count(distinct d.currency) > 1 as is_mixed,
        d.due_on < context.today as is_overdue,
        row_number() over (
          partition by d.due_on < context.today order by abs(d.due_on - context.today), d.expense_id
        ) as place
      from open_dates as d
      group by d.expense_id, d.due_on
    ), shown as (
      select d.*, b.name, b.autopay, greatest(b.updated_at, kept.changed_at) as changed_at,
        -- Amounts in two currencies cannot be added.
        case when d.unknown = 0 and not d.is_mixed then d.known_minor
          when not d.is_mixed and d.currency = b.currency then coalesce(d.known_minor, 0) + d.unknown * usual.minor end
          as minor,
        d.unknown > 0 or b.amount_mode = 'estimated' and d.is_by_rule as is_estimate
      from (
        select * from days as d
        where d.place <= case when d.is_overdue then most_overdue else most_to_come end
      ) as d
      join app.expenses as b on b.id = d.expense_id
      cross join lateral app.usual_amount(b.id, b.amount_minor, b.currency) as usual
      left join lateral (
        select max(o.updated_at) as changed_at
        from app.expense_occurrences as o
        where o.organization_id = context.organization_id and o.expense_id = d.expense_id and o.due_on = d.due_on
          -- The index is on scheduled_on, which the weekend rule moves by two days at most.
          and o.scheduled_on between d.due_on - 4 and d.due_on + 4
      ) as kept on true
    )
    select jsonb_build_object(
      'organization', context.organization_name,
      'country', (select p.country from identity.profiles as p where p.user_id = context.actor_id),
      'is_cut', last_day < context.today + 365
        or exists (select from days as d where d.place > most_to_come and not d.is_overdue),
      'dates', coalesce(jsonb_agg(jsonb_build_object(
        'bill_id', s.expense_id, 'name', s.name, 'due_on', s.due_on, 'dates', s.dates, 'autopay', s.autopay,
        'changed_at', s.changed_at
      ) || case when show_amounts and s.minor is not null then jsonb_build_object(
        'amount', app.format_amount(s.minor, s.currency), 'currency', s.currency, 'is_estimate', s.is_estimate
      ) else '{}' end order by s.due_on, s.name, s.expense_id), '[]')
    )
    from shown as s
  );
end
$$;
comment on function app.list_calendar is
  'Returns overdue dates and those due within a year, in the organization of the request''s claims, nearest first: '
  '{organization, country, is_cut, dates: [{bill_id, name, due_on, dates, autopay, changed_at, amount?, currency?, '
  'is_estimate?}]}. Returns null without a membership.';

create or replace function public.read_calendar(token_hash text, limits jsonb, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  feed identity.calendar_feeds;
  wait integer := 0;
  calendar jsonb;
begin
  select * into feed from identity.calendar_feeds as f where f.token_hash = decode(read_calendar.token_hash, 'hex');
  if feed.user_id is null then
    wait := oauth.draw_quotas(limits -> 'caller', at);
    return case when wait = 0 then '{"outcome": "unknown"}' else oauth.limited(wait) end;
  end if;
  if limits ? 'feed' then
    wait := oauth.draw_from_bucket(
      format('calendar_feed:%s:%s', feed.organization_id, feed.user_id), (limits #>> '{feed,at_most}')::integer,
      (limits #>> '{feed,seconds}')::double precision, at
    );
    if wait > 0 then
      return oauth.limited(wait);
    end if;
  end if;
  if not identity.organization_has_feature(feed.organization_id, 'ai:connector', at) then
    return '{"outcome": "unknown"}';
  end if;
  perform set_config('app.at', at::text, true),
    set_config('request.jwt.claims', jsonb_build_object(
      'sub', feed.user_id, 'role', 'authenticated', 'organization_id', feed.organization_id
    )::text, true),
    set_config('request.jwt.claim.sub', feed.user_id::text, true);
  calendar := app.list_calendar(feed.show_amounts, at);
  return case when calendar is null then '{"outcome": "unknown"}'
    else jsonb_build_object('outcome', 'ok', 'calendar', calendar) end;
end
$$;
comment on function public.read_calendar is
  'Returns the calendar for the SHA-256 (hex) of an address''s token, read as its owner under row-level security: '
  '{outcome: ok | unknown | limited, calendar?, retry_after?}. Each read checks membership, suspension and plan, and '
  'fails like an unknown token without them. limits: {"caller": quotas of wrong tokens, "feed": '
  '{"at_most","seconds"}}.';

-- Runs as the person, like app.run_tool.
alter function app.list_calendar set role = 'authenticated';
alter function app.list_calendar set jit = off;
