create or replace function app.export_organization(part text, after jsonb, at_most int)
  returns table (key jsonb, shown jsonb)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  organization constant text := identity.current_organization_id();
begin
  case part
    when 'settings' then return query
      select to_jsonb(o.id), jsonb_build_object(
        'id', o.id, 'name', o.name, 'base_currency', o.base_currency, 'timezone', p.timezone,
        'closed_through', o.closed_through, 'own_only', o.own_only, 'relabel_closed', o.relabel_closed,
        'low_balance_limit', app.format_amount(o.low_balance_minor, o.low_balance_currency),
        'low_balance_currency', o.low_balance_currency,
        -- Leave out the categories that the person does not see.
        'datev', o.datev || jsonb_build_object('accounts', (
          select coalesce(jsonb_object_agg(a.key, a.value), '{}')
          from jsonb_each(o.datev -> 'accounts') as a
          where a.key = 'none' or exists (select from app.categories as c where c.id = a.key)
        )),
        'plan', identity.effective_plan(o, app.instant()), 'trial_ends_at', o.trial_ends_at,
        'created_at', o.created_at
      )
      from identity.organizations as o
      join identity.profiles as p on p.user_id = o.owner_id
      where o.id = organization and after is null;
    when 'members' then return query
      select to_jsonb(m.user_id), jsonb_build_object(
        'email', p.email, 'role', m.role, 'sees_private', m.sees_private, 'mails', m.mails, 'since', m.created_at
      )
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      where m.organization_id = organization and (after is null or m.user_id > (after #>> '{}')::uuid)
      order by m.user_id
      limit at_most;
    when 'changes' then return query
      select to_jsonb(s.recorded_seq), jsonb_build_object(
        'id', s.id, 'at', s.created_at, 'by', p.email, 'client', s.client_name, 'tool', s.tool, 'facts', s.facts,
        'undoes', s.undoes, 'undone_by', s.undone_by
      )
      from app.change_sets as s
      left join identity.profiles as p on p.user_id = s.actor_id
      where s.organization_id = organization and (after is null or s.recorded_seq > (after #>> '{}')::bigint)
      order by s.recorded_seq
      limit at_most;
  end case;
end
$$;
comment on function app.export_organization is
  'Returns a page of the settings, the members by address, or the changes with their facts.';
