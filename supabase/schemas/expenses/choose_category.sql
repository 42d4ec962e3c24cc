create type app.category_choice as (
  id text,
  source text
);
comment on type app.category_choice is
  'A category, or null for none, and its source: given, payee_rule, payee_history, keyword or none.';

create or replace function app.choose_category(context app.context, given text, payee text, name text, field text,
  create_missing boolean default false)
returns app.category_choice
language plpgsql volatile set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  -- Compute the key up front: under row-level security, an expression with coalesce can't use an index.
  wanted_key constant text := lower(coalesce(choose_category.payee, choose_category.name));
  hinted text[];
  choice app.category_choice;
begin
  if app.clean_text(given) is not null then
    return (app.find_category(context, given, field, create_missing), 'given')::app.category_choice;
  end if;
  choice := (app.find_payee_rule(context, payee, name), 'payee_rule')::app.category_choice;
  if choice.id is not null then
    return choice;
  end if;
  select c.id, 'payee_history' into choice
  from app.expenses as e
  join app.categories as c on c.id = e.category_id and c.archived_at is null
  where e.match_key = wanted_key and e.deleted_at is null
    -- The category of a split part doesn't describe the whole payment.
    and not exists (select from app.payments as p where p.expense_id = e.id and p.split_id is not null)
  order by e.recorded_seq desc
  limit 1;
  if found then
    return choice;
  end if;
  -- The name is a better hint than the payee, and a longer keyword better than a shorter one.
  hinted := array(
    select lower(k.category)
    from (values (choose_category.name, 1), (choose_category.payee, 2)) as texts (text, rank)
    cross join lateral (
      select k.keyword, k.category
      from app.category_keywords as k
      where k.keyword = any (array(
        select unnest(array[word, rtrim(word, 's')])
        from regexp_split_to_table(lower(texts.text), '[^[:alnum:]]+') as word
      ))
      offset 0
    ) as k
    order by texts.rank, length(k.keyword) desc, k.keyword
  );
  -- A join with categories takes ten times as long, even without a keyword.
  if hinted <> '{}' then
    select c.id, 'keyword' into choice
    from app.categories as c
    where lower(c.name) = any (hinted) and c.archived_at is null
    order by array_position(hinted, lower(c.name))
    limit 1;
  end if;
  if choice.id is null then
    choice.source := 'none';
  end if;
  return choice;
end
$$;
comment on function app.choose_category is
  'Returns the chosen category, the first of: the given one, a payee rule''s, the latest expense''s with the same '
  'payee (or name, without a payee), a keyword''s, none.';
