-- update_settings: preferences of the owner and the organization, each member's mails, and the shared categories. All
-- changes can be undone: categories through their rows, preferences as one row of the organization (read_preferences).
-- A change stores only the changed preferences.

create or replace function app.read_preferences(organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'timezone', p.timezone, 'base_currency', o.base_currency, 'own_only', o.own_only,
      'relabel_closed', o.relabel_closed, 'email_enabled', p.email_enabled,
      'default_lead_days', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email, 'closed_through',
      -- Store it as text, so that undo_change compares the whole value.
      o.closed_through, 'datev', o.datev::text,
      'low_balance_limit', o.low_balance_minor || ' ' || o.low_balance_currency,
      'mails', (select jsonb_object_agg(m.user_id, m.mails) from identity.memberships as m where m.organization_id
        = o.id)
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = read_preferences.organization_id
  );
end
$$;
comment on function app.read_preferences is
  'Returns the preferences of the owner, the organization and its members'' mails that update_settings can change, as '
  'one row with the organization''s id.';

create or replace function app.shared_preferences() returns text[]
language sql immutable
  return array['base_currency', 'closed_through', 'own_only', 'relabel_closed', 'datev', 'low_balance_limit'];
comment on function app.shared_preferences is
  'Returns the preferences that belong to the organization rather than its owner. Changing them requires the right '
  'settings:write.';

create or replace function app.narrow_mails(value jsonb, key text, wanted jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return case when key <> 'mails' then value else (
    select jsonb_object_agg(m.key, m.value) from jsonb_each(value) as m where wanted -> 'mails' ? m.key
  ) end;
end
$$;
comment on function app.narrow_mails is
  'Returns the value of a preference. For mails, returns only the members that a change concerns.';

create or replace function app.write_preferences(organization_id text, wanted jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  before constant jsonb := app.read_preferences(organization_id);
  change constant text := nullif(current_setting('app.change_id', true), '');
  after jsonb;
begin
  -- Row-level security silently skips updates without the right, so compare the result below. A new base currency
  -- cascades to every payment and revalues it.
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
  where o.id = write_preferences.organization_id and o.base_currency <> wanted ->> 'base_currency';
  update identity.organizations as o
  set own_only = coalesce((wanted ->> 'own_only')::boolean, o.own_only),
    relabel_closed = coalesce((wanted ->> 'relabel_closed')::boolean, o.relabel_closed), updated_at = app.instant()
  where o.id = write_preferences.organization_id
    and (o.own_only <> (wanted ->> 'own_only')::boolean or o.relabel_closed <> (wanted ->> 'relabel_closed')::boolean);
  update identity.memberships as m set mails = wanted -> 'mails' ->> m.user_id::text
  where m.organization_id = write_preferences.organization_id and m.user_id = (select auth.uid())
    and m.mails <> wanted -> 'mails' ->> m.user_id::text;
  update identity.organizations as o
  set closed_through = (wanted ->> 'closed_through')::date, updated_at = app.instant()
  where o.id = write_preferences.organization_id and wanted ? 'closed_through'
    and o.closed_through is distinct from (wanted ->> 'closed_through')::date;
  update identity.organizations as o set datev = (wanted ->> 'datev')::jsonb, updated_at = app.instant()
  where o.id = write_preferences.organization_id and wanted ? 'datev'
    and o.datev is distinct from (wanted ->> 'datev')::jsonb;
  update identity.organizations as o
  set low_balance_minor = split_part(wanted ->> 'low_balance_limit', ' ', 1)::bigint,
    low_balance_currency = split_part(wanted ->> 'low_balance_limit', ' ', 2), low_balance_since = app.instant(),
    updated_at = app.instant()
  where o.id = write_preferences.organization_id and wanted ? 'low_balance_limit'
    and before ->> 'low_balance_limit' is distinct from wanted ->> 'low_balance_limit';
  after := app.read_preferences(organization_id);
  if wanted ? 'mails' and not after -> 'mails' @> (wanted -> 'mails') then
    perform app.fail('forbidden_role.mails');
  end if;
  if not after @> (wanted - 'mails') then
    if after @> (wanted - app.shared_preferences()) then
      perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
    end if;
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  end if;
  if change is not null and after <> before then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    select change, write_preferences.organization_id, 'settings', write_preferences.organization_id,
      jsonb_object_agg(b.key, app.narrow_mails(b.value, b.key, wanted)),
      jsonb_object_agg(b.key, app.narrow_mails(after -> b.key, b.key, wanted))
    from jsonb_each(before) as b
    where b.value is distinct from after -> b.key;
  end if;
end
$$;
comment on function app.write_preferences is
  'Sets the given preferences, and stores the changed ones for undo. Ends the tool with forbidden_role when the person '
  'may not set one of them.';

create or replace function app.parse_low_balance_limit(context app.context, args jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  limit_text constant text := nullif(args ->> 'low_balance_limit', '');
  currency constant text := coalesce(args ->> 'base_currency', context.base_currency);
begin
  return case
    -- A limit of 0 warns of an overdraft; other amounts must not be zero.
    when limit_text ~ '^0+(\.0{1,4})?$' then '0'
    else app.parse_amount(limit_text, currency, 'low_balance_limit')::text end || ' ' || currency;
end
$$;
comment on function app.parse_low_balance_limit is
  'Returns the limit in the arguments of update_settings, in minor units of the base currency: "50000 EUR". Returns '
  'null for an empty one.';

create or replace function app.describe_low_balance_limit(stored text) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object(
    'amount', app.format_amount(split_part(stored, ' ', 1)::numeric, split_part(stored, ' ', 2)),
    'currency', split_part(stored, ' ', 2)
  )
  where stored is not null;
end;
comment on function app.describe_low_balance_limit is
  'Returns {amount, currency} for the limit in app.read_preferences; null without one.';

create or replace function app.change_preferences(context app.context, args jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  reminders constant jsonb := coalesce(args -> 'reminders', '{}');
  closed_through constant date := app.parse_closed_through(context, args ->> 'closed_through');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(args ->> 'timezone'), 'base_currency', args -> 'base_currency', 'own_only',
    args -> 'own_only', 'relabel_closed', args -> 'relabel_closed', 'email_enabled',
    reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email',
    reminders -> 'hide_amounts_in_email',
    'mails',
    case when reminders ? 'my_mails' then jsonb_build_object(context.actor_id, reminders -> 'my_mails') end,
    -- Only the page sends it, because the contract of the tool does not list it.
    'datev', (args -> 'datev')::text
  )) || case when args ? 'closed_through' then jsonb_build_object('closed_through', closed_through)
    else '{}' end || case when args ? 'low_balance_limit'
      then jsonb_build_object('low_balance_limit', app.parse_low_balance_limit(context, args)) else '{}' end;
  before constant jsonb := app.read_preferences(context.organization_id);
begin
  if wanted = '{}' then
    return '{}';
  end if;
  if context.role <> 'owner' and wanted - 'mails' - app.shared_preferences() <> '{}' then
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  elsif wanted ?| app.shared_preferences() and not identity.may('settings:write') then
    perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
  end if;
  if wanted ? 'timezone' and not identity.is_timezone(wanted ->> 'timezone') then
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)),
      'timezone');
  end if;
  if wanted ? 'base_currency' then
    perform app.currency_exponent(wanted ->> 'base_currency', 'base_currency');
  end if;
  if closed_through > coalesce((before ->> 'closed_through')::date, '-infinity') then
    perform app.prepare_closing(context, closed_through);
  end if;
  perform app.write_preferences(context.organization_id, wanted);
  return (
    -- Reopening all months is a change too, so it has a fact that isn't null.
    select coalesce(jsonb_object_agg(w.key, case
      when w.key = 'mails' then reminders -> 'my_mails'
        when w.key = 'datev' then 'true' when w.value = 'null' then '""'
        when w.key = 'low_balance_limit' then app.describe_low_balance_limit(w.value #>> '{}') else w.value end), '{}')
    from jsonb_each(wanted) as w
    where not before -> w.key @> w.value
  );
end
$$;
comment on function app.change_preferences is
  'Sets the preferences in the arguments of update_settings. Returns those that changed, as {name: new value}.';

create or replace function app.require_category(context app.context, name text, field text,
  is_private boolean default null) returns app.categories
language plpgsql stable set search_path = '' as $$
declare
  category app.categories;
begin
  select * into category from app.categories as c
    where c.organization_id = context.organization_id and lower(c.name) = lower(app.clean_text(require_category.name))
    order by c.is_private desc limit 1;
  if not found then
    perform app.fail_without_category(app.clean_text(require_category.name), field, is_private => is_private);
  end if;
  return category;
end
$$;
comment on function app.require_category is
  'Returns the category with a name, archived or not. Ends the tool with category_not_found when there is none.';
