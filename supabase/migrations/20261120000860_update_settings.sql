-- update_settings: the owner's preferences, and the categories, which are everybody's. Every change of either can be undone: categories by their
-- rows, preferences as if they were one row of the organization (read_preferences), of which a change keeps only what it changed.

create function app.read_preferences(organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'timezone', p.timezone, 'base_currency', o.base_currency, 'email_enabled', p.email_enabled,
      'default_lead_days', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = read_preferences.organization_id
  );
end
$$;
comment on function app.read_preferences is 'What of the owner and the organization update_settings can change, as one row with the organization''s id.';

create function app.write_preferences(organization_id text, wanted jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  before constant jsonb := app.read_preferences(organization_id);
  change constant text := nullif(current_setting('app.change_id', true), '');
  after jsonb;
begin
  -- Without the rights of an owner nothing is written: row-level security passes over what is not one's own.
  update identity.profiles as p
  set timezone = coalesce(wanted ->> 'timezone', p.timezone),
    email_enabled = coalesce((wanted ->> 'email_enabled')::boolean, p.email_enabled),
    default_lead_days = coalesce((wanted ->> 'default_lead_days')::smallint, p.default_lead_days),
    hide_amounts_in_email = coalesce((wanted ->> 'hide_amounts_in_email')::boolean, p.hide_amounts_in_email),
    updated_at = app.instant()
  from identity.organizations as o
  where o.id = write_preferences.organization_id and p.user_id = o.owner_id and p.user_id = (select auth.uid()) and not before @> wanted;
  update identity.organizations as o set base_currency = wanted ->> 'base_currency', updated_at = app.instant()
  where o.id = write_preferences.organization_id and o.owner_id = (select auth.uid()) and o.base_currency <> wanted ->> 'base_currency';
  after := app.read_preferences(organization_id);
  if not after @> wanted then
    perform app.fail_without_ownership();
  end if;
  if change is not null and after <> before then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    select change, write_preferences.organization_id, 'settings', write_preferences.organization_id,
      jsonb_object_agg(b.key, b.value), jsonb_object_agg(b.key, after -> b.key)
    from jsonb_each(before) as b
    where b.value is distinct from after -> b.key;
  end if;
end
$$;
comment on function app.write_preferences is 'Sets the preferences that are given, and keeps for the undo what changed; ends the tool with forbidden_role for whoever is not the owner.';

create function app.fail_without_ownership() returns void
language plpgsql stable set search_path = '' as $$
begin
  perform app.fail('forbidden_role.settings');
end
$$;
comment on function app.fail_without_ownership is 'Ends the tool because it is the owner''s to do.';

create function app.change_preferences(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  reminders constant jsonb := coalesce(arguments -> 'reminders', '{}');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(arguments ->> 'timezone'), 'base_currency', arguments -> 'base_currency', 'email_enabled', reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email', reminders -> 'hide_amounts_in_email'
  ));
  before constant jsonb := app.read_preferences(context.organization_id);
begin
  if wanted = '{}' then
    return '{}';
  end if;
  if context.role <> 'owner' then
    perform app.fail_without_ownership();
  end if;
  if wanted ? 'timezone' and not identity.is_timezone(wanted ->> 'timezone') then
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)), 'timezone');
  end if;
  if wanted ? 'base_currency' then
    perform app.currency_exponent(wanted ->> 'base_currency', 'base_currency');
  end if;
  perform app.write_preferences(context.organization_id, wanted);
  return (
    select coalesce(jsonb_object_agg(w.key, w.value), '{}')
    from jsonb_each(wanted) as w
    where before -> w.key <> w.value
  );
end
$$;
comment on function app.change_preferences is 'Sets the preferences in the arguments of update_settings; answers what changed, as {name: new value}.';

create function app.require_category(context app.context, name text, field text) returns app.categories
language plpgsql stable set search_path = '' as $$
declare
  category app.categories;
begin
  select * into category from app.categories as c where c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(require_category.name));
  if not found then
    perform app.fail_without_category(app.clean_text(require_category.name), field);
  end if;
  return category;
end
$$;
comment on function app.require_category is 'The category of a name, archived or not; ends the tool with category_not_found when there is none.';

create function app.change_category(context app.context, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  action constant text := change ->> 'action';
  wanted constant text := app.clean_text(change ->> 'name');
  new_name constant text := app.clean_text(change ->> 'new_name');
  category app.categories;
  target app.categories;
  moved int;
  merged_name text;
  left_bills text[];
  -- As many as an import writes: all of them are kept for the undo.
  max_moved constant int := 2000;
begin
  if wanted is null or lower(coalesce(case action when 'create' then wanted else new_name end, '')) = 'uncategorized' then
    perform app.fail('invalid_argument.category_without_name', field => 'category.name');
  elsif action = 'rename' and new_name is null then
    perform app.fail('invalid_argument.new_name_missing', jsonb_build_object('name', wanted), 'category.new_name');
  elsif action = 'merge' and app.clean_text(change ->> 'into') is null then
    perform app.fail('invalid_argument.merge_target_missing', jsonb_build_object('name', wanted), 'category.into');
  end if;

  case action
    when 'create' then
      category.id := app.find_category(context, wanted, 'category.name', true);
    when 'rename' then
      select * into target from app.categories as c where c.organization_id = context.organization_id and lower(c.name) = lower(new_name);
      select * into category from app.categories as c where c.organization_id = context.organization_id and lower(c.name) = lower(wanted);
      if category.id is null and target.id is not null then
        -- Asked for again after it was done.
        category := target;
      elsif target.id is not null and target.id <> category.id then
        perform app.fail('duplicate.category', jsonb_build_object('name', target.name), 'category.new_name');
      else
        category := app.require_category(context, wanted, 'category.name');
        update app.categories as c set name = new_name where c.id = category.id and c.name <> new_name;
      end if;
    when 'merge' then
      category := app.require_category(context, wanted, 'category.name');
      target := app.require_category(context, change ->> 'into', 'category.into');
      if target.archived_at is not null or target.id = category.id then
        perform app.fail(
          'invalid_argument.cannot_merge', jsonb_build_object('name', category.name, 'into', target.name), 'category.into'
        );
      end if;
      select count(*) into moved from (select from app.expenses as e where e.category_id = category.id and e.deleted_at is null limit max_moved + 1) as e;
      if moved > max_moved then
        perform app.fail('invalid_argument.too_many_to_merge', jsonb_build_object(
          'most', max_moved, 'name', category.name, 'into', target.name
        ), 'category.name');
      end if;
      update app.expenses as e set category_id = target.id where e.category_id = category.id and e.deleted_at is null;
      get diagnostics moved = row_count;
      update app.categories as c set archived_at = context.at where c.id = category.id and c.archived_at is null;
      merged_name := category.name;
      category := target;
    when 'archive' then
      category := app.require_category(context, wanted, 'category.name');
      update app.categories as c set archived_at = context.at where c.id = category.id and c.archived_at is null;
      left_bills := array(
        select e.name from app.expenses as e
        where e.category_id = category.id and e.kind = 'bill' and e.status in ('active', 'paused') and e.deleted_at is null order by e.recorded_seq
      );
  end case;
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'id', c.id, 'name', c.name, 'archived', case when c.archived_at is not null then true end, 'moved', moved,
      'left_bills', to_jsonb(nullif(left_bills, '{}')),
      'facts', jsonb_build_object('action', action, 'name', coalesce(merged_name, case action when 'rename' then wanted else c.name end), 'into', c.name, 'moved', moved)
    ))
    from app.categories as c
    where c.id = category.id
  );
end
$$;
comment on function app.change_category is
  'Creates, renames, merges (at most 2,000 expenses) or archives a category: {id, name, archived?, moved?, left_bills?, facts}. What was spent in an archived one stays there; deleted expenses keep theirs.';

create function app.update_settings(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  category constant jsonb := case when arguments ? 'category' then app.change_category(context, arguments -> 'category') end;
  changed constant jsonb := app.change_preferences(context, arguments);
  warnings jsonb := '[]';
begin
  select * into context from app.read_context(context.at);
  if arguments #>> '{reminders,email_enabled}' = 'true' and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if changed ? 'base_currency' then
    warnings := warnings || app.warning('from_now_on', jsonb_build_object('currency', context.base_currency));
  end if;
  if category ? 'left_bills' then
    warnings := warnings || app.warning('category_in_use', jsonb_build_object(
      'category', category -> 'name', 'names', category -> 'left_bills'
    ));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object('settings', app.read_settings(context), 'category', category - array['facts', 'left_bills']),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object('changed', nullif(changed, '{}'), 'category', category -> 'facts'))
  );
end
$$;
comment on function app.update_settings is 'Tool update_settings: data {settings, category?}.';

revoke all on function
  app.read_preferences, app.write_preferences, app.fail_without_ownership, app.change_preferences, app.require_category, app.change_category,
  app.update_settings from public, anon;
grant execute on function
  app.read_preferences, app.write_preferences, app.fail_without_ownership, app.change_preferences, app.require_category, app.change_category,
  app.update_settings to authenticated, service_role;
