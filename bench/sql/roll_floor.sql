-- The minimum cost of rolling: a bare table with its key and one index, and one statement (roll_floor_day.sql). The mix
-- is that of bills.sql: one bill in 20 is yearly, one in 7 of the rest weekly, the others monthly, with reminders 1, 3
-- or 7 days ahead. 4.66 % of them are due on 20 November 2026.
create table public.floor_bill (
  id bigint primary key, account_id bigint not null, title text not null, amount_cents bigint not null, currency char(3) not null,
  unit text not null check (unit in ('day', 'week', 'month', 'year')), every smallint not null check (every between 1 and 365),
  anchor date not null, next_due date not null, remind_days smallint not null, remind_on date not null, reminded_due date, active boolean not null default true
) with (fillfactor = 85);
create table public.floor_reminder (
  bill_id bigint not null, due_date date not null, account_id bigint not null, amount_cents bigint not null, currency char(3) not null,
  created_at timestamptz not null default now(), sent_at timestamptz, primary key (bill_id, due_date)
);

create function public.floor_months(anchor date, step int, day date) returns int language sql immutable as $$
  select step * greatest(0, (date_part('year', day)::int * 12 + date_part('month', day)::int - date_part('year', anchor)::int * 12 - date_part('month', anchor)::int) / step)
$$;
create function public.floor_next(anchor date, unit text, every int, day date) returns date language sql immutable as $$
  select case unit
    when 'day' then anchor + every * greatest(0, (day - anchor + every - 1) / every)
    when 'week' then anchor + 7 * every * greatest(0, (day - anchor + 7 * every - 1) / (7 * every))
    else case
      when (anchor + make_interval(months => public.floor_months(anchor, case unit when 'year' then 12 * every else every end, day)))::date >= day
        then (anchor + make_interval(months => public.floor_months(anchor, case unit when 'year' then 12 * every else every end, day)))::date
      else (anchor + make_interval(months => (case unit when 'year' then 12 * every else every end)
        + public.floor_months(anchor, case unit when 'year' then 12 * every else every end, day)))::date
    end
  end
$$;
insert into public.floor_bill (id, account_id, title, amount_cents, currency, unit, every, anchor, next_due, remind_days, remind_on)
select n, 1 + n % 100000, 'bill ' || n, 100 + n::bigint * 7919 % 20000, 'EUR', unit, 1, anchor, next_due, remind_days, next_due - remind_days
from (
  select n, case when n % 20 = 0 then 'year' when n % 7 = 0 then 'week' else 'month' end as unit, (array[1, 3, 7])[1 + n % 3]::smallint as remind_days
  from generate_series(1, :bills) as n
) as b,
lateral (select date '2026-11-20' + remind_days + (hashint8(n) & 2147483647) % case unit when 'year' then 365 when 'week' then 7 else 30 end as next_due) as d,
lateral (
  select case unit when 'year' then (next_due - interval '1 year')::date when 'week' then next_due - 70 else (next_due - interval '14 months')::date end as anchor
) as a;
update public.floor_bill set next_due = public.floor_next(anchor, unit, every, next_due), remind_on = public.floor_next(anchor, unit, every, next_due) - remind_days
where public.floor_next(anchor, unit, every, next_due) <> next_due;
create index floor_bill_due_idx on public.floor_bill (remind_on) where active;
