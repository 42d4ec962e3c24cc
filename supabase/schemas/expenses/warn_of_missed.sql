-- Finds records that a filter by words or category misses: those with the word in another language, and those without a
-- category.

create or replace function app.word_in_languages(query text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  word constant text := app.fold_text(app.clean_text(query));
begin
  -- List only words that mean nothing else in another language, because totals include their matches.
  return case
    when word ~ ('^(insurances?|versicherung(en)?|assurances?|seguros?|assicurazion[ei]|verzekering(en)?|'
      || 'ubezpieczeni[ea])$')
      then '\minsurances?\M|versicherung|\massurances?\M|\mseguros\M|\mseguros? d|assicurazion|verzekering|ubezpieczeni'
    when word ~ '^(electricity|strom|electricite|electricidad|elettricita|elektriciteit|stroom|eletricidade)$'
      then 'electricity|electricite|electricidad|elettricita|elektriciteit|eletricidade|elektrizitat|\mstroom\M|'
        || '\m(oko)?strom(abschlag|rechnung|kosten)?\M'
  end;
end
$$;
comment on function app.word_in_languages is
  'Returns a pattern for folded text with a word in the languages of statements; null for most words.';

create or replace function app.find_missed(filter app.expense_filter, besides app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  most constant int := 500;
  most_names constant int := 6;
begin
  return (
    with found as materialized (
      select coalesce(p.payee, p.name) as name, p.currency,
        case p.direction when 'out' then p.amount_minor else -p.amount_minor end as minor
      from app.find_payments(filter) as p
      where besides is null or not exists (
        select from app.find_payments(besides) as o where o.payment_id = p.payment_id
      )
      order by p.paid_on desc, p.recorded_seq desc
      limit most + 1
    )
    select jsonb_build_object(
      'count', count(*), 'names', array(
        select f.name from found as f group by f.name order by sum(abs(f.minor)) desc, f.name limit most_names
      ), 'name_count', count(distinct f.name)
    ) || case when count(*) > most then jsonb_build_object('count', most, 'is_least', true)
      else jsonb_build_object('totals_by_currency', (
        select jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))
        from (select o.currency, sum(o.minor) as minor from found as o group by o.currency) as s
      )) end
    from found as f
    having count(*) > 0
  );
end
$$;
comment on function app.find_missed is
  'Returns the payments that match one filter but not another: {count, is_least?, totals_by_currency?, names, '
  'name_count}, from the latest 500; null for none.';

create or replace function app.warn_of_missed(filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 3;
  wider app.expense_filter := filter;
  narrower app.expense_filter := filter;
  missed jsonb;
  category record;
  warnings jsonb := '[]';
begin
  if filter.category_ids is not null then
    if '' = any (filter.category_ids) then
      return '[]';
    end if;
    wider.category_ids := array[''];
    missed := app.find_missed(wider, null);
    return case when missed is null then '[]' else jsonb_build_array(
      app.warning('uncategorized_left_out', missed)
    ) end;
  elsif filter.words is null then
    return '[]';
  end if;
  wider.words := null;
  wider.pattern := null;
  for category in
    select c.id, c.name from app.categories as c
    where c.organization_id = identity.current_organization_id()
      and (app.fold_text(c.name) like all (filter.words)
        or filter.pattern is not null and app.fold_text(c.name) ~ filter.pattern)
    order by c.archived_at is not null, c.name
    limit most
  loop
    wider.category_ids := array[category.id];
    narrower.category_ids := wider.category_ids;
    missed := app.find_missed(wider, narrower);
    if missed is not null then
      warnings := warnings || app.warning('category_left_out', missed || jsonb_build_object('name', category.name));
    end if;
  end loop;
  return warnings;
end
$$;
comment on function app.warn_of_missed is
  'Returns warnings about payments that a filter by category or words misses: those without a category, and those of a '
  'category whose name contains the words.';

create or replace function app.warn_of_missed_bills(context app.context, wanted_status text, category_id text,
  words text[], pattern text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 10;
begin
  return (
    select coalesce(jsonb_agg(app.warning(
      case when category_id is null then 'category_left_out.bills' else 'uncategorized_left_out.bills' end,
      jsonb_build_object('name', s.category, 'names', s.names, 'count', s.count)
    ) order by s.category), '[]')
    from (
      select c.name as category, (array_agg(b.name order by lower(b.name)))[:most] as names, count(*) as count
      from app.expenses as b
      left join app.categories as c on c.id = b.category_id
      where b.organization_id = context.organization_id and b.kind = 'bill' and b.deleted_at is null
        and (wanted_status is null or app.status_on(b, context.today) = wanted_status)
        and case when warn_of_missed_bills.category_id is not null
          then b.category_id is null and (words is null or app.names_word(b.name, b.payee, b.note, words, pattern))
          else app.names_word(c.name, null, null, words, pattern)
            and not app.names_word(b.name, b.payee, b.note, words, pattern) end
      group by c.name
    ) as s
  );
end
$$;
comment on function app.warn_of_missed_bills is
  'Returns warnings about bills that a filter misses: those without a category, or those of a category whose name '
  'contains the words.';
