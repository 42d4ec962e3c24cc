create or replace function app.find_payee_rule(context app.context, payee text, name text) returns text
language plpgsql stable set search_path = '' as $$
declare
  by_payee constant text := app.payee_words(payee) || ' ';
  by_name constant text := app.payee_words(name) || ' ';
begin
  return (
    select c.id
    from app.payee_rules as r
    join app.categories as c on c.id = r.category_id and c.archived_at is null
    where r.organization_id = context.organization_id and r.deleted_at is null
      and (starts_with(by_payee, r.words || ' ') or starts_with(by_name, r.words || ' '))
    -- Prefer the private category: a person who can't see it created the other rule for these words.
    order by length(r.words) desc, r.words, c.is_private desc, r.created_at desc, r.id
    limit 1
  );
end
$$;
comment on function app.find_payee_rule is
  'Returns the category of the longest rule whose words begin a payee or name; null when no rule applies.';

create or replace function app.list_payee_rules() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'payee', r.payee, 'category', c.name, 'no_bill', case when r.category_id is null then true end
    )) order by r.words, c.name), '[]')
    from app.payee_rules as r
    left join app.categories as c on c.id = r.category_id
    where r.deleted_at is null
  );
end
$$;
comment on function app.list_payee_rules is 'Returns the organization''s payee rules: [{payee, category?, no_bill?}].';

create or replace function app.list_no_bills() returns setof text
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    with hidden as materialized (
      select app.payee_words(k.match_key) || ' ' as words
      from (
        select distinct e.match_key from app.expenses as e
        where not identity.sees_everything() and e.organization_id = identity.current_organization_id()
          and (e.category_id = any ((select app.list_hidden_categories())::text[])
            or identity.sees_own_only() and auth.uid() is distinct from e.created_by
            and auth.uid() is distinct from e.assignee_id)
      ) as k
    )
    select r.words from app.payee_rules as r
    where r.organization_id = identity.current_organization_id() and r.category_id is null and r.deleted_at is null
      and not exists (select from hidden as h where starts_with(h.words, r.words || ' '));
end
$$;
comment on function app.list_no_bills is
  'Returns the words of payees that are never proposed as a bill. A member may not see these rules, but they hold for '
  'the whole organization, unless the payee also has records that the member may not see.';

create or replace function app.change_payee_rules(context app.context, rules jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Every logged or imported expense is compared with every rule.
  max_rules constant int := 200;
  rule jsonb;
  place int;
  wanted text;
  category text;
  field text;
  found_id text;
  kept_id text;
  changed jsonb := '[]';
begin
  for rule, place in select r.value, r.ordinality - 1 from jsonb_array_elements(rules) with ordinality as r loop
    wanted := app.clean_text(rule ->> 'payee');
    category := app.clean_text(rule ->> 'category');
    field := format('payee_rules[%s]', place);
    if coalesce(app.payee_words(wanted), '') = '' then
      perform app.fail('invalid_argument.rule_without_payee', field => field || '.payee');
    end if;
    if (rule ->> 'no_bill')::boolean then
      if not identity.sees_everything() then
        perform app.fail('forbidden_role.no_bill', app.list_who_may('books:private'), field || '.no_bill');
      end if;
      insert into app.payee_rules as r (organization_id, payee)
      select context.organization_id, wanted
      where not exists (
        select from app.payee_rules as r
        where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
          and r.category_id is null and r.deleted_at is null
      );
    elsif category is null then
      update app.payee_rules as r set deleted_at = context.at
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.deleted_at is null;
      if not found then
        perform app.fail('not_found.payee_rule', jsonb_build_object('payee', wanted), field || '.payee');
      end if;
    end if;
    if category is not null then
      found_id := app.find_category(context, category, field || '.category');
      if found_id is null then
        perform app.fail_without_category(category, field || '.category');
      end if;
      -- Keep one rule for these words, preferably one that already has this category.
      select r.id into kept_id from app.payee_rules as r
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.category_id is not null and r.deleted_at is null
      order by r.category_id = found_id desc, r.created_at, r.id
      limit 1;
      if kept_id is null then
        insert into app.payee_rules as r (organization_id, payee, category_id)
        values (context.organization_id, wanted, found_id);
      end if;
      update app.payee_rules as r set deleted_at = context.at
      where r.organization_id = context.organization_id and r.words = app.payee_words(wanted)
        and r.deleted_at is null and r.category_id is not null and r.id <> kept_id;
      update app.payee_rules as r set payee = wanted, category_id = found_id
      where r.id = kept_id and (r.payee, r.category_id) is distinct from (wanted, found_id);
    end if;
    changed := changed || jsonb_strip_nulls(jsonb_build_object(
      'payee', wanted, 'category', category, 'no_bill', nullif((rule ->> 'no_bill')::boolean, false),
      'about', case when category is not null then array[found_id] end
    ));
  end loop;
  if (select count(*) from app.payee_rules as r where r.deleted_at is null) > max_rules then
    perform app.fail('invalid_argument.too_many_rules', jsonb_build_object('most', max_rules), 'payee_rules');
  end if;
  return changed;
end
$$;
comment on function app.change_payee_rules is
  'Saves payee rules, and removes those given without a category and without no_bill. Returns their facts: [{payee, '
  'category?, no_bill?, about?}].';
