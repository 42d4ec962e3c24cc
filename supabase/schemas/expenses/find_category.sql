create or replace function app.means_uncategorized(name text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return lower(name) ~ '^(uncategori[sz]ed|none|(no|without)[ _-]?category)$';
end
$$;
comment on function app.means_uncategorized is
  'Whether a text means having no category; an existing category of that name takes precedence.';

create or replace function app.is_sentence(name text) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  words constant int := cardinality(regexp_split_to_array(btrim(name), '\s+'));
begin
  return words >= 7 or (words >= 3 and name ~* '\m(please|bitte|por favor|s.il (te|vous) pla.t|per favore)\M')
    or (words >= 4 and exists (
      select from app.categories as c
      where c.archived_at is null and strpos(' ' || lower(is_sentence.name) || ' ', ' ' || lower(c.name) || ' ') > 0
    ));
end
$$;
comment on function app.is_sentence is
  'Whether a category argument is a request, such as "put it under food please", instead of a name.';

create or replace function app.fail_without_category(name text, field text, is_filter boolean default true,
  is_private boolean default null) returns void
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 40;
  suggestions constant text[] := app.suggest_categories(name);
begin
  perform app.fail(case when is_private is not true and app.is_sentence(name) then 'category_not_found.sentence'
    else 'category_not_found' end, jsonb_build_object(
    'name', name, 'is_private', is_private,
    -- The argument or tool that can create the category, if the caller may create one here.
    'make_by',
    case when is_filter then null when starts_with(field, 'items') then 'create_missing_categories'
      else 'update_settings' end,
    'details', jsonb_build_object('suggestions', suggestions) || case
      -- A name in another language resembles no category, so list the existing ones instead.
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
  if wanted is null or (found.id is null and app.means_uncategorized(wanted)) then
    return null;
  end if;
  -- Texts in a file or in update_settings are always names, however long.
  if found.id is null and field not in ('create_missing_categories', 'category.name') and app.is_sentence(wanted) then
    perform app.fail_without_category(wanted, field, false);
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
  'or a blank name. Creates a missing category on request; otherwise ends the tool with category_not_found.';
