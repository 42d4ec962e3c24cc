create or replace function app.change_category(context app.context, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  action constant text := change ->> 'action';
  wanted constant text := app.clean_text(change ->> 'name');
  new_name constant text := app.clean_text(change ->> 'new_name');
  category app.categories;
  target app.categories;
  moved int;
  moved_income int;
  merged_id text;
  merged_name text;
  left_bills text[];
  -- As for an import, there is a limit, because undo stores every moved record.
  max_moved constant int := 2000;
begin
  if wanted is null or app.means_uncategorized(case action when 'create' then wanted else new_name end) then
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
      select * into target from app.categories as c
        where c.organization_id = context.organization_id and lower(c.name) = lower(new_name);
      select * into category from app.categories as c
        where c.organization_id = context.organization_id and lower(c.name) = lower(wanted)
        order by c.is_private desc limit 1;
      if category.id is null and target.id is not null then
        -- A repeated request: the category already has the new name.
        category := target;
      elsif target.id is not null and target.id <> category.id then
        perform app.fail('duplicate.category', jsonb_build_object('name', target.name), 'category.new_name');
      else
        category := app.require_category(context, wanted, 'category.name');
        update app.categories as c set name = new_name where c.id = category.id and c.name <> new_name;
      end if;
    when 'merge' then
      category := app.require_category(context, wanted, 'category.name');
      merged_id := category.id;
      target := app.require_category(context, change ->> 'into', 'category.into');
      if target.archived_at is not null or target.id = category.id then
        perform app.fail(
          'invalid_argument.cannot_merge', jsonb_build_object('name', category.name, 'into', target.name),
          'category.into'
        );
      end if;
      select count(*) into moved
        from (
          select from app.expenses as e where e.category_id = category.id and e.deleted_at is null
          union all
          select from app.incomes as i where i.category_id = category.id and i.deleted_at is null
          limit max_moved + 1
        ) as r;
      if moved > max_moved then
        perform app.fail('invalid_argument.too_many_to_merge', jsonb_build_object(
          'most', max_moved, 'name', category.name, 'into', target.name
        ), 'category.name');
      end if;
      perform from app.expenses as e where e.category_id = category.id and e.deleted_at is null
      order by e.id for no key update;
      update app.expenses as e set category_id = target.id where e.category_id = category.id and e.deleted_at is null;
      get diagnostics moved = row_count;
      -- Like spending, income in a closed month makes the merge fail.
      update app.incomes as i set category_id = target.id
        where i.category_id = category.id and i.deleted_at is null;
      get diagnostics moved_income = row_count;
      -- A private and a shared category may each have a rule for the same words.
      update app.payee_rules as r set deleted_at = context.at
        where r.category_id = category.id and r.deleted_at is null and exists (
          select from app.payee_rules as o
          where o.category_id = target.id and o.words = r.words and o.deleted_at is null
        );
      update app.payee_rules as r set category_id = target.id
        where r.category_id = category.id and r.deleted_at is null;
      update app.categories as c set archived_at = context.at where c.id = category.id and c.archived_at is null;
      merged_name := category.name;
      category := target;
    when 'archive' then
      category := app.require_category(context, wanted, 'category.name');
      update app.categories as c set archived_at = context.at where c.id = category.id and c.archived_at is null;
      left_bills := array(
        select e.name from app.expenses as e
        where e.category_id = category.id and e.kind = 'bill' and e.status in ('active', 'paused')
          and e.deleted_at is null order by e.recorded_seq
      );
    when 'make_private', 'make_shared' then
      if not identity.may('settings:write') then
        perform app.fail('forbidden_role.private_category', app.list_who_may('settings:write'));
      end if;
      category := app.require_category(context, wanted, 'category.name', nullif(action = 'make_private', false));
      if exists (
        select from app.categories as c
        where c.organization_id = context.organization_id and lower(c.name) = lower(category.name)
          and c.id <> category.id and c.is_private = (action = 'make_private')
      ) then
        perform app.fail('duplicate.category', jsonb_build_object('name', category.name), 'category.name');
      end if;
      update app.categories as c set is_private = (action = 'make_private')
        where c.id = category.id and c.is_private <> (action = 'make_private');
  end case;
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'id', c.id, 'name', c.name, 'private', case when c.is_private then true end, 'archived',
      case when c.archived_at is not null then true end, 'moved', moved,
      'moved_income', nullif(moved_income, 0), 'left_bills', to_jsonb(nullif(left_bills, '{}')),
      'facts',
      jsonb_build_object('action', action, 'name',
        coalesce(merged_name, case action when 'rename' then wanted else c.name end), 'into', c.name, 'moved', moved,
        'moved_income', nullif(moved_income, 0),
        'about', array_remove(array[c.id, merged_id], null))
    ))
    from app.categories as c
    where c.id = category.id
  );
end
$$;
comment on function app.change_category is
  'Creates, renames, merges (at most 2,000 expenses and incomes) or archives a category, makes it private or shares '
  'it. Returns {id, name, private?, archived?, moved?, moved_income?, left_bills?, facts}. Archived categories keep '
  'their spending; deleted expenses keep their category.';

create or replace function app.count_values(organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'moved', count(*), 'without_rate', count(*) filter (where p.base_minor is null),
      'pending', count(*) filter (where not p.is_final)
    )
    from app.payments as p
    where p.organization_id = count_values.organization_id and p.deleted_at is null
  );
end
$$;
comment on function app.count_values is
  'Counts the organization''s payments: {moved, without_rate, pending}. moved counts all, without_rate those without a '
  'value in the base currency, pending those that wait for a rate.';

create or replace function app.update_settings(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  uncategorized bigint;
  closed_before constant date := (
    select o.closed_through from identity.organizations as o where o.id = context.organization_id
  );
  category constant jsonb :=
    case when arguments ? 'category' then app.change_category(context, arguments -> 'category') end;
  changed constant jsonb := app.change_preferences(context, arguments);
  budget jsonb;
  rules jsonb;
  revalued jsonb;
  open_dates jsonb;
  warnings jsonb := '[]';
  sets_limit constant boolean := coalesce(arguments ->> 'low_balance_limit', '') <> '';
  known app.forecast_position[];
  unwatched jsonb;
begin
  select * into context from app.read_context(context.at);
  if arguments ? 'budget' then
    budget := app.change_budget(context, arguments -> 'budget');
  end if;
  if arguments ? 'payee_rules' then
    rules := app.change_payee_rules(context, arguments -> 'payee_rules');
  end if;
  if arguments ? 'forget_layouts' then
    perform app.forget_layouts(context, arguments -> 'forget_layouts');
  end if;
  if (arguments #>> '{reminders,email_enabled}' = 'true' or arguments #>> '{reminders,my_mails}' <> 'none'
      or arguments ->> 'low_balance_limit' <> '')
    and not identity.organization_has_feature(context.organization_id, 'reminders:email', context.at) then
    warnings := warnings
      || app.warning('reminders_inactive', jsonb_build_object('organization', context.organization_name));
  end if;
  if (arguments #>> '{reminders,my_mails}' <> 'none' or sets_limit)
    and arguments #>> '{reminders,email_enabled}' is distinct from 'false'
    and exists (select from identity.profiles as p where p.user_id = context.actor_id and not p.email_enabled) then
    warnings := warnings || app.warning('mails_off', '{}');
  end if;
  if arguments #>> '{reminders,email_enabled}' = 'false' then
    warnings := warnings || app.warning('mails_off.now', '{}');
  end if;
  if sets_limit then
    -- The forecast ignores older balances.
    known := array(
      select p::app.forecast_position from app.find_positions(context) as p where p.covered_on >= context.today - 45
    );
    unwatched := app.describe_unwatched(context, known);
    if not exists (select from unnest(known) as p where p.kind = 'account') then
      warnings := warnings || app.warning('no_balance_yet');
    elsif unwatched <> '{}' then
      warnings := warnings || app.warning('balances_unwatched', unwatched);
    end if;
  end if;
  if changed ? 'base_currency' then
    revalued := app.count_values(context.organization_id);
    warnings := warnings
      || app.warning('revalued', revalued || jsonb_build_object('currency', context.base_currency));
  end if;
  open_dates := case when changed ->> 'closed_through' <> ''
    then app.list_open_dates(context, (changed ->> 'closed_through')::date) end;
  if open_dates is not null then
    warnings := warnings || app.warning('open_in_closed_month', jsonb_build_object('dates', open_dates));
  end if;
  if changed ->> 'closed_through' <> '' then
    uncategorized := (
      select count(*) from app.payments as p
      where p.category_id is null and p.deleted_at is null
        and p.paid_on between coalesce(closed_before + 1, '-infinity') and (changed ->> 'closed_through')::date
    );
    if uncategorized > 0 then
      warnings := warnings || app.warning('uncategorized_in_closed_month', jsonb_build_object('count', uncategorized));
    end if;
  end if;
  if changed ? 'closed_through'
    and closed_before > coalesce(nullif(changed ->> 'closed_through', '')::date, '-infinity') then
    warnings := warnings
      || app.warning('months_reopened', jsonb_build_object('closed_through', app.month_name(closed_before)));
  end if;
  if arguments #>> '{category,action}' = 'make_private' then
    warnings := warnings || app.warning('category_private', jsonb_build_object('name', category -> 'name'));
  end if;
  if category ? 'left_bills' then
    warnings := warnings || app.warning('category_in_use', jsonb_build_object(
      'category', category -> 'name', 'names', category -> 'left_bills'
    ));
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'settings', app.read_settings(context), 'category', category - array['facts', 'left_bills'],
      'budgets', case when budget is not null then coalesce(app.describe_budgets(context, context.today), '[]') end,
      'payee_rules', case when rules is not null then app.list_payee_rules() end, 'revalued', revalued,
      'layouts', case when arguments ? 'forget_layouts' then app.list_layouts(context) end
    ),
    'warnings', warnings,
    'facts', jsonb_strip_nulls(jsonb_build_object(
      'changed', nullif(changed, '{}'), 'category', category -> 'facts', 'budget', budget,
      'payee_rules', rules
    ))
  );
end
$$;
comment on function app.update_settings is
  'Tool update_settings. Returns data {settings, category?, budgets?, payee_rules?, revalued?, layouts?}.';
