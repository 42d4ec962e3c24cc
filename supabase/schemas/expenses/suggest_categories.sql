-- Initial categories, keywords, and suggestions for unknown names. "Uncategorized" means no category, and callers can
-- request it by that name.

create table app.category_keywords (
  keyword text primary key constraint category_keywords_keyword_format check (keyword ~ '^[a-z]{3,20}$'),
  category text not null constraint category_keywords_category_length check (length(category) between 1 and 60)
);
comment on table app.category_keywords is
  'A word in an expense''s name or payee that suggests a category, if the organization has one of that name.';
alter table app.category_keywords enable row level security;
create policy "Signed-in people can read the category keywords" on app.category_keywords
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.category_keywords to authenticated, service_role;

insert into app.category_keywords (category, keyword)
  select lists.category, regexp_split_to_table(lists.keywords, '\s+')
  from (values
    ('Food',
      'lunch dinner breakfast brunch coffee cafe restaurant pizza burger sushi takeaway takeout snack drinks bar pub '
      'bakery starbucks mcdonalds swiggy zomato doordash'),
    ('Groceries',
      'grocery groceries supermarket vegetables fruit milk bread lidl aldi tesco walmart carrefour rewe edeka '
      'bigbasket'),
    ('Housing', 'rent mortgage furniture ikea plumber cleaning repair'),
    ('Utilities', 'electricity power gas water heating waste'),
    ('Internet and phone', 'internet broadband wifi phone mobile sim telekom vodafone verizon airtel jio'),
    ('Transport',
      'taxi cab uber lyft bolt ola bus metro subway tram train parking toll fuel petrol diesel gasoline car bicycle'),
    ('Travel', 'flight airline hotel hostel airbnb booking luggage ryanair lufthansa indigo'),
    ('Health', 'doctor dentist pharmacy medicine hospital gym fitness optician therapy'),
    ('Insurance', 'insurance'),
    ('Shopping', 'clothes shoes electronics amazon flipkart zalando'),
    ('Subscriptions', 'subscription netflix spotify disney youtube icloud audible patreon membership'),
    ('Software', 'software hosting domain github openai anthropic vercel digitalocean figma adobe notion slack'),
    ('Entertainment', 'movie cinema concert theatre theater museum game games steam'),
    ('Education', 'course tuition school university books book udemy training'),
    ('Gifts', 'gift present flowers donation charity'),
    ('Taxes and fees', 'tax taxes fee fees fine bank')
  ) as lists (category, keywords);

create or replace function app.create_default_categories(organization_id text, at timestamptz) returns void
language plpgsql set search_path = '' as $$
begin
  insert into app.categories as c (organization_id, name, created_at, updated_at)
  select distinct create_default_categories.organization_id, k.category, create_default_categories.at,
    create_default_categories.at
  from app.category_keywords as k
  on conflict do nothing;
end
$$;
comment on function app.create_default_categories is
  'Creates the initial categories of a new organization: those that have keywords.';

create or replace function app.text_likeness(one text, other text) returns numeric
language plpgsql immutable set search_path = '' as $$
declare
  a constant text := lower(one);
  b constant text := lower(other);
begin
  if strpos(' ' || a, ' ' || b) > 0 or strpos(' ' || b, ' ' || a) > 0 then
    return 1;
  end if;
  -- Dice's coefficient over pairs of adjacent letters, word ends included.
  return (
    with one_pairs
      as (select distinct substr(' ' || a || ' ', i, 2) as pair from generate_series(1, length(a) + 1) as i),
      other_pairs as (select distinct substr(' ' || b || ' ', i, 2) as pair from generate_series(1, length(b) + 1) as i)
    select 2.0 * count(*) / ((select count(*) from one_pairs) + (select count(*) from other_pairs))
    from one_pairs join other_pairs using (pair)
  );
end
$$;
comment on function app.text_likeness is
  'Returns the similarity of two names, from 0 to 1; 1 when a word of one begins with the other.';

create or replace function app.suggest_categories(name text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select l.name
    -- The limit bounds the comparisons: one call may ask about many names.
    from (select a.name from app.categories as a where a.archived_at is null order by a.created_at desc, a.id limit 200)
      as c
    cross join lateral (
      select c.name, app.text_likeness(c.name, suggest_categories.name) as likeness, exists (
        select from app.category_keywords as k
        where k.category = c.name
          and k.keyword = any (regexp_split_to_array(lower(suggest_categories.name), '[^[:alnum:]]+'))
      ) as is_meant
      offset 0
    ) as l
    -- Below 0.4, names merely share some letters.
    where l.is_meant or l.likeness >= 0.4
    order by l.is_meant desc, l.likeness desc, l.name
    limit 3
  );
end
$$;
comment on function app.suggest_categories is
  'Returns up to three categories similar to an unknown name, the most likely first.';
revoke all on function app.create_default_categories from authenticated;
