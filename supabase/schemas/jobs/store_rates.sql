-- Stores the rates that the job fetched. The job has validated each set; rows are never updated.

create or replace function public.read_newest_rates() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select
      jsonb_build_object('rates_on', max(r.rate_on), 'per_euro',
      coalesce(jsonb_object_agg(c.code, r.rate::text) filter (where r.rate is not null), '{}'))
    from app.currencies as c
    cross join lateral (
      select f.rate_on, f.rate from app.fx_rates as f where f.quote = c.code and f.source in ('ecb', 'frankfurter')
      order by f.rate_on desc, f.source <> 'ecb'
      limit 1
    ) as r
  );
end
$$;
comment on function public.read_newest_rates is
  'Returns the newest rate of every currency: {"rates_on": the newest day, or null, "per_euro": '
  '{"USD":"1.0944000000"}}.';

create or replace function public.store_rates(source text, published_on date, per_euro jsonb, days jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  added int;
begin
  -- Casts text to numeric to keep the source's digits.
  insert into app.fx_rates (quote, rate_on, source, rate, fetched_at)
  select c.code, coalesce((days ->> r.key)::date, published_on), source, r.value::numeric, at
  from jsonb_each_text(per_euro) as r
  join app.currencies as c on c.code = r.key
  where r.value::numeric > 0
  on conflict on constraint fx_rates_pkey do nothing;
  get diagnostics added = row_count;
  return jsonb_build_object('added', added);
end
$$;
comment on function public.store_rates is
  'Stores one day''s missing rates of a source, {"USD":"1.0944"} per euro; days contains the day of each rate from '
  'another day. Returns {"added": number}.';

create or replace function public.find_days_to_rate(at timestamptz, size int) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone 'utc')::date;
begin
  return (
    select coalesce(jsonb_agg(d.day order by d.attempted_at nulls first, d.day desc), '[]')
    from (
      select w.day, f.attempted_at
      from (
        select distinct p.paid_on as day from app.payments as p
        where not p.is_final and p.paid_on < today and p.deleted_at is null
        union
        -- Upcoming dates use the newest rates, even if the books have none.
        select today - 1
      ) as w
      left join app.fx_days as f on f.day = w.day
      where f.settled_at is null
      order by f.attempted_at nulls first, w.day desc
      limit size
    ) as d
  );
end
$$;
comment on function public.find_days_to_rate is
  'Returns yesterday, and past days with payments that wait for a rate, unless settled: least recently requested '
  'first, then newest. Across all organizations.';

create or replace function public.read_rates_of_day(day date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_object_agg(c.code, r.per_euro::text), '{}')
    from app.currencies as c cross join lateral app.rates_as_of(c.code, read_rates_of_day.day) as r
    -- A snapshot is too far from other days to validate their rates.
    where c.code <> 'EUR' and r.source <> 'snapshot'
  );
end
$$;
comment on function public.read_rates_of_day is 'Returns the rates that apply on a day: {"USD":"1.0944000000"}.';

create or replace function public.settle_day(day date, is_answered boolean, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  max_attempts constant int := 10;
  today constant date := (at at time zone 'utc')::date;
  settled timestamptz;
begin
  insert into app.fx_days as d (day, attempts, attempted_at)
  values (settle_day.day, 1, at)
  on conflict on constraint fx_days_pkey do update
    set attempts = d.attempts + ((d.attempted_at at time zone 'utc')::date is distinct from today)::int,
      attempted_at = at;
  update app.fx_days as d set settled_at = at
  where d.day = settle_day.day and d.settled_at is null
    and (
      is_answered
      -- Days covered only by a snapshot are requested until a source answers.
      or d.attempts >= max_attempts and not exists (select from app.fx_rates as r where r.source = 'snapshot')
    );
  select d.settled_at into settled from app.fx_days as d where d.day = settle_day.day;
  return jsonb_build_object('settled', settled is not null);
end
$$;
comment on function public.settle_day is
  'Records a request of a day''s rates. The day is settled once the sources answered, or after ten days of requests: '
  '{"settled": true or false}.';

create or replace function public.settle_values(after jsonb, size int) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids text[];
  last_one jsonb;
  settled int;
begin
  select array_agg(w.id order by w.paid_on, w.id),
    (array_agg(jsonb_build_array(w.paid_on, w.id) order by w.paid_on desc, w.id desc))[1]
  into ids, last_one
  from (
    select p.id, p.paid_on from app.payments as p
    where not p.is_final and (after is null or (p.paid_on, p.id) > ((after ->> 0)::date, after ->> 1))
    order by p.paid_on, p.id
    limit size
  ) as w;
  -- Writes only new values. A concurrent change values its own rows.
  ids := array(
    select p.id
    from app.payments as p
    cross join lateral app.value_in_base(
      p.base_currency, p.amount_minor, p.currency, p.paid_on, p.charged_minor, p.charged_currency
    ) as value
    where p.id = any (ids) and (p.base_minor, p.fx_rate, p.fx_rate_on, p.fx_source, p.is_final) is distinct from
      (value.base_minor, value.fx_rate, value.fx_rate_on, value.fx_source, value.is_final)
    order by p.id for update of p skip locked
  );
  -- The trigger values a payment without a final value on every write.
  with written as (
    update app.payments as p set is_final = false where p.id = any (ids) returning p.is_final
  )
  select count(*) into settled from written as w where w.is_final;
  return jsonb_build_object('settled', settled, 'next', last_one);
end
$$;
comment on function public.settle_values is
  'Revalues a page of the payments of all organizations that wait for their day''s rate: {settled: number of payments '
  'that no longer wait, next: start of the next page, null after the last}.';
