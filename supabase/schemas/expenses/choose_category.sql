create or replace function app.fail_without_category(name text, field text, is_filter boolean default true) returns void
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 40;
  suggestions constant text[] := app.suggest_categories(name);
begin
  perform app.fail('category_not_found', jsonb_build_object(
    'name', name,
    -- The argument or tool that can create the category, if the caller may create one here.
    'make_by',
    case when is_filter then null when starts_with(field, 'items') then 'create_missing_categories'
      else 'update_settings' end,
    'details', jsonb_build_object('suggestions', suggestions) || case
      -- Names in another language resemble none, so list the existing categories instead.
      when suggestions = '{}' then jsonb_build_object('categories', array(
        select c.name from app.categories as c where c.archived_at is null order by lower(c.name) limit most
      ))
      else '{}' end
  ), field);
end
$$;
comment on function app.fail_without_category is
  'Ends the tool with category_not_found and similar categories, or the existing ones if none is similar. Filters '
  'never create a category.';

create or replace function app.find_category(context app.context, name text, field text,
  create_missing boolean default false) returns text
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := app.clean_text(name);
  found app.categories;
begin
  select * into found from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(wanted)
        order by c.is_private desc limit 1;
  if found.id is not null and found.archived_at is null then
    return found.id;
  end if;
  if wanted is null or (found.id is null and lower(wanted) = 'uncategorized') then
    return null;
  end if;
  if found.id is not null and not coalesce(create_missing, false) then
    perform app.fail('category_not_found.archived', jsonb_build_object(
      'name', found.name, 'details', jsonb_build_object('suggestions', app.suggest_categories(wanted))
    ), field);
  elsif not coalesce(create_missing, false) then
    perform app.fail_without_category(wanted, field, false);
  end if;
  if found.id is not null then
    update app.categories as c set archived_at = null where c.id = found.id;
  else
    insert into app.categories as c (organization_id, name) values (context.organization_id, wanted)
      returning c.id into found.id;
  end if;
  return found.id;
end
$$;
comment on function app.find_category is
  'Returns the id of the category with this name, ignoring case and preferring a private one; null for Uncategorized '
  'or a blank name. Creates a missing category on request, else ends the tool with category_not_found.';

create type app.category_choice as (
  id text,
  source text
);
comment on type app.category_choice is
  'A category, or null for none, and its source: given, payee_rule, payee_history, keyword or none.';

create or replace function app.choose_category(context app.context, given text, payee text, name text, field text,
  create_missing boolean default false)
returns app.category_choice
language plpgsql volatile set search_path = '' as $$
declare
  -- Computed up front: under row-level security, an expression with coalesce can't use an index.
  wanted_key constant text := lower(coalesce(choose_category.payee, choose_category.name));
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
  if not found then
    -- The name is a better hint than the payee, and a longer keyword better than a shorter one.
    select c.id, 'keyword' into choice
    from (values (choose_category.name, 1), (choose_category.payee, 2)) as texts (text, rank)
    -- Find the matching keywords first: a plain join looks up the category of every keyword.
    cross join lateral (
      select k.keyword, k.category
      from app.category_keywords as k
      where k.keyword = any (array(
        select unnest(array[word, rtrim(word, 's')])
        from regexp_split_to_table(lower(texts.text), '[^[:alnum:]]+') as word
      ))
      offset 0
    ) as k
    join app.categories as c on lower(c.name) = lower(k.category) and c.archived_at is null
    order by texts.rank, length(k.keyword) desc, k.keyword
    limit 1;
  end if;
  if not found then
    choice.source := 'none';
  end if;
  return choice;
end
$$;
comment on function app.choose_category is
  'Returns the chosen category, the first of: the given one, a payee rule''s, that of the latest expense with the same '
  'payee (or name, without a payee), a keyword''s, none.';
