-- Categories: what an organization starts with, how a name that was typed is found, and what is assumed when none was given.
-- "Uncategorized" is no category but the absence of one, and may be asked for by that name.

create table app.category_keywords (
  keyword text primary key constraint category_keywords_keyword_format check (keyword ~ '^[a-z]{3,20}$'),
  category text not null constraint category_keywords_category_length check (length(category) between 1 and 60)
);
comment on table app.category_keywords is 'A word in the name or payee of an expense, and the category that it points to where the organization has one of that name.';
alter table app.category_keywords enable row level security;
create policy "Signed-in people can read the category keywords" on app.category_keywords
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.category_keywords to authenticated, service_role;

insert into app.category_keywords (category, keyword)
  select lists.category, regexp_split_to_table(lists.keywords, '\s+')
  from (values
    ('Food', 'lunch dinner breakfast brunch coffee cafe restaurant pizza burger sushi takeaway takeout snack drinks bar pub bakery starbucks mcdonalds swiggy zomato doordash'),
    ('Groceries', 'grocery groceries supermarket vegetables fruit milk bread lidl aldi tesco walmart carrefour rewe edeka bigbasket'),
    ('Housing', 'rent mortgage furniture ikea plumber cleaning repair'),
    ('Utilities', 'electricity power gas water heating waste'),
    ('Internet and phone', 'internet broadband wifi phone mobile sim telekom vodafone verizon airtel jio'),
    ('Transport', 'taxi cab uber lyft bolt ola bus metro subway tram train parking toll fuel petrol diesel gasoline car bicycle'),
    ('Travel', 'flight airline hotel hostel airbnb booking visa luggage ryanair lufthansa indigo'),
    ('Health', 'doctor dentist pharmacy medicine hospital gym fitness optician therapy'),
    ('Insurance', 'insurance premium'),
    ('Shopping', 'clothes shoes electronics amazon flipkart zalando'),
    ('Subscriptions', 'subscription netflix spotify disney youtube icloud audible patreon membership'),
    ('Software', 'software hosting domain github openai anthropic vercel digitalocean figma adobe notion slack'),
    ('Entertainment', 'movie cinema concert theatre theater museum game games steam'),
    ('Education', 'course tuition school university books book udemy training'),
    ('Gifts', 'gift present flowers donation charity'),
    ('Taxes and fees', 'tax taxes fee fees fine bank')
  ) as lists (category, keywords);

create function app.create_default_categories(organization_id text, at timestamptz) returns void
language plpgsql set search_path = '' as $$
begin
  insert into app.categories as c (organization_id, name, created_at, updated_at)
  select distinct create_default_categories.organization_id, k.category, create_default_categories.at, create_default_categories.at
  from app.category_keywords as k
  on conflict do nothing;
end
$$;
comment on function app.create_default_categories is 'The categories that a new organization starts with: those that the keywords point to.';

create function app.text_likeness(one text, other text) returns numeric
language plpgsql immutable set search_path = '' as $$
declare
  a constant text := lower(one);
  b constant text := lower(other);
begin
  if strpos(' ' || a, ' ' || b) > 0 or strpos(' ' || b, ' ' || a) > 0 then
    return 1;
  end if;
  -- Shared pairs of neighbouring letters, word ends included (Dice's coefficient).
  return (
    with one_pairs as (select distinct substr(' ' || a || ' ', i, 2) as pair from generate_series(1, length(a) + 1) as i),
      other_pairs as (select distinct substr(' ' || b || ' ', i, 2) as pair from generate_series(1, length(b) + 1) as i)
    select 2.0 * count(*) / ((select count(*) from one_pairs) + (select count(*) from other_pairs))
    from one_pairs join other_pairs using (pair)
  );
end
$$;
comment on function app.text_likeness is 'How alike two names are, 0 to 1; 1 when a word of one begins with the other.';

create function app.suggest_categories(name text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select l.name
    -- Nobody keeps more apart; each costs a comparison, and many names may be asked for at once.
    from (select a.name from app.categories as a where a.archived_at is null order by a.created_at desc, a.id limit 200) as c
    cross join lateral (
      select c.name, app.text_likeness(c.name, suggest_categories.name) as likeness, exists (
        select from app.category_keywords as k
        where k.category = c.name and k.keyword = any (regexp_split_to_array(lower(suggest_categories.name), '[^[:alnum:]]+'))
      ) as is_meant
      offset 0
    ) as l
    -- What only shares some letters was not meant.
    where l.is_meant or l.likeness >= 0.4
    order by l.is_meant desc, l.likeness desc, l.name
    limit 3
  );
end
$$;
comment on function app.suggest_categories is 'Up to three categories that may be meant by a name that is none, the likeliest first.';

create function app.fail_without_category(name text, field text, is_filter boolean default true) returns void
language plpgsql stable set search_path = '' as $$
begin
  perform app.fail('category_not_found', jsonb_build_object(
    'name', name,
    -- How a new one would be made, where one may.
    'make_by', case when is_filter then null when starts_with(field, 'items') then 'create_missing_categories' else 'update_settings' end,
    'details', jsonb_build_object('suggestions', app.suggest_categories(name))
  ), field);
end
$$;
comment on function app.fail_without_category is 'Ends the tool with category_not_found and what may have been meant; what is only looked for is not to be made.';

create function app.find_category(context app.context, name text, field text, create_missing boolean default false) returns text
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := app.clean_text(name);
  found app.categories;
begin
  select * into found from app.categories as c where c.organization_id = context.organization_id and lower(c.name) = lower(wanted);
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
    insert into app.categories as c (organization_id, name) values (context.organization_id, wanted) returning c.id into found.id;
  end if;
  return found.id;
end
$$;
comment on function app.find_category is
  'Id of the category of this name in whatever case; null for Uncategorized or a blank name; else category_not_found with suggestions, or a new category.';

create type app.category_choice as (
  id text,
  source text
);
comment on type app.category_choice is 'A category, null for none, and why: given, payee_history, keyword or none.';

create function app.choose_category(context app.context, given text, payee text, name text, field text, create_missing boolean default false)
returns app.category_choice
language plpgsql volatile set search_path = '' as $$
declare
  choice app.category_choice;
begin
  if app.clean_text(given) is not null then
    return (app.find_category(context, given, field, create_missing), 'given')::app.category_choice;
  end if;
  select c.id, 'payee_history' into choice
  from app.expenses as e
  join app.categories as c on c.id = e.category_id and c.archived_at is null
  where e.match_key = lower(coalesce(choose_category.payee, choose_category.name)) and e.deleted_at is null
  order by e.recorded_seq desc
  limit 1;
  if not found then
    -- What the thing is says more than who sold it, and a longer word more than a shorter one.
    select c.id, 'keyword' into choice
    from (values (choose_category.name, 1), (choose_category.payee, 2)) as texts (text, rank)
    cross join regexp_split_to_table(lower(texts.text), '[^[:alnum:]]+') as word
    join app.category_keywords as k on k.keyword in (word, rtrim(word, 's'))
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
  'The category that was given, else the last one of the same payee (or name, where there is no payee), else the one a keyword points to, else none.';

revoke all on function
  app.create_default_categories, app.text_likeness, app.suggest_categories, app.fail_without_category, app.find_category, app.choose_category from public, anon;
revoke all on function app.create_default_categories from authenticated;
grant execute on function
  app.text_likeness, app.suggest_categories, app.fail_without_category, app.find_category, app.choose_category to authenticated, service_role;
grant execute on function app.create_default_categories to service_role;
