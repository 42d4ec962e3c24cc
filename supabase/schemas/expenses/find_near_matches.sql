create or replace function app.fold_text(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return regexp_replace(normalize(lower(value), nfkd), '[\u0300-\u036f]+', '', 'g');
end
$$;
comment on function app.fold_text is 'A text in lower case and without accents.';

create or replace function app.find_near_matches(filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  most constant int := 3;
  words constant text[] :=
    regexp_split_to_array(app.fold_text(nullif(concat_ws(' ', filter.payee, filter.query), '')), '\s+');
  base_exponent constant int := app.currency_exponent(filter.amount_currency, 'currency');
  wider app.expense_filter := filter;
  periods jsonb;
  named jsonb;
  amounts jsonb;
begin
  wider.from_on := null;
  wider.to_on := null;
  if num_nonnulls(filter.from_on, filter.to_on) > 0 then
    select jsonb_agg(m.month order by m.name desc) into periods
    from (
      select s.name, jsonb_build_object('month', s.name, 'count', sum(s.count), 'totals_by_currency',
        jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))) as month
      from (
        select app.month_name(p.paid_on) as name, p.currency, count(*) as count,
          sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) as minor
        from app.find_payments(wider) as p
        group by 1, 2
      ) as s
      group by s.name
      order by s.name desc
      limit most
    ) as m;
  end if;
  if words is not null then
    wider.payee := null;
    wider.query := null;
    select jsonb_agg(n.name order by n.last_on desc) into named
    from (
      select coalesce(p.payee, p.name) as name, max(p.paid_on) as last_on
      from app.find_payments(wider) as p
      where not exists (
        select from unnest(words) as w (word)
        where strpos(app.fold_text(concat_ws(' ', p.name, p.payee, p.note)), w.word) = 0
      )
      group by 1
      order by 2 desc
      limit most
    ) as n;
  end if;
  if num_nonnulls(filter.min_minor, filter.max_minor) > 0 and filter.currency is null then
    wider := filter;
    wider.min_minor := null;
    wider.max_minor := null;
    select jsonb_agg(a.found order by a.paid_on desc) into amounts
    from (
      select p.paid_on, jsonb_build_object('name', p.name, 'date', p.paid_on,
        'amount', app.format_minor(p.amount_minor, c.exponent), 'currency', p.currency) as found
      from app.find_payments(wider) as p
      join app.currencies as c on c.code = p.currency
      where p.currency <> filter.amount_currency
        and p.amount_minor / 10::numeric ^ c.exponent
          between coalesce(filter.min_minor / 10::numeric ^ base_exponent, 0)
            and coalesce(filter.max_minor / 10::numeric ^ base_exponent, 'infinity')
      order by p.paid_on desc, p.recorded_seq desc
      limit most
    ) as a;
  end if;
  return nullif(jsonb_strip_nulls(jsonb_build_object(
    'other_periods', periods, 'similar_names', named, 'in_own_currency', amounts
  )), '{}');
end
$$;
comment on function app.find_near_matches is
  'What would match where a filter finds nothing: the same in other months, names with its words in any order, and '
  'amounts that are within its bounds in their own currencies; null when nothing would.';
