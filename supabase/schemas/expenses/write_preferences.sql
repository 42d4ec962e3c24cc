-- update_settings: the owner's preferences, and the categories, which are everybody's. Every change of either can be
-- undone: categories by their rows, preferences as if they were one row of the organization (read_preferences), of
-- which a change keeps only what it changed.

create or replace function app.read_preferences(organization_id text) returns jsonb
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
comment on function app.read_preferences is
  'What of the owner and the organization update_settings can change, as one row with the organization''s id.';

create or replace function app.write_preferences(organization_id text, wanted jsonb) returns void
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
  where o.id = write_preferences.organization_id and p.user_id = o.owner_id and p.user_id = (select auth.uid())
    and not before @> wanted;
  update identity.organizations as o set base_currency = wanted ->> 'base_currency', updated_at = app.instant()
  where o.id = write_preferences.organization_id and o.owner_id = (select auth.uid())
    and o.base_currency <> wanted ->> 'base_currency';
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
comment on function app.write_preferences is
  'Sets the preferences that are given, and keeps for the undo what changed; ends the tool with forbidden_role for '
  'whoever is not the owner.';

create or replace function app.fail_without_ownership() returns void
language plpgsql stable set search_path = '' as $$
begin
  perform app.fail('forbidden_role.settings');
end
$$;
comment on function app.fail_without_ownership is 'Ends the tool because it is the owner''s to do.';

create or replace function app.change_preferences(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  reminders constant jsonb := coalesce(arguments -> 'reminders', '{}');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(arguments ->> 'timezone'), 'base_currency', arguments -> 'base_currency', 'email_enabled',
    reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email',
    reminders -> 'hide_amounts_in_email'
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
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)),
      'timezone');
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
comment on function app.change_preferences is
  'Sets the preferences in the arguments of update_settings; answers what changed, as {name: new value}.';

create or replace function app.require_category(context app.context, name text, field text) returns app.categories
language plpgsql stable set search_path = '' as $$
declare
  category app.categories;
begin
  select * into category from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(require_category.name));
  if not found then
    perform app.fail_without_category(app.clean_text(require_category.name), field);
  end if;
  return category;
end
$$;
comment on function app.require_category is
  'The category of a name, archived or not; ends the tool with category_not_found when there is none.';
