-- Keeping the rates that the job fetched. Whether a set is believed is decided before it comes here; nothing is ever
-- updated in place.

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
  'The newest rate of every currency: {"rates_on": the newest day, or null, "per_euro": {"USD":"1.0944000000"}}.';

create or replace function public.store_rates(source text, published_on date, per_euro jsonb, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  added int;
begin
  -- The digits of the source as they are: text to numeric.
  insert into app.fx_rates (quote, rate_on, source, rate, fetched_at)
  select c.code, published_on, source, r.value::numeric, at
  from jsonb_each_text(per_euro) as r
  join app.currencies as c on c.code = r.key
  on conflict on constraint fx_rates_pkey do nothing;
  get diagnostics added = row_count;
  return jsonb_build_object('added', added);
end
$$;
comment on function public.store_rates is
  'Keeps one day''s rates of a source, {"USD":"1.0944"} per euro, where they are not kept already: {"added": how '
  'many}.';
