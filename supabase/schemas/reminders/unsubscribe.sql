-- Ending reminders from a mail: all of them, those of one organization, or of one bill. Whoever holds the signed link
-- may end the first two; bills are for its owner's eyes. The functions check that what is named is the owner's.

create or replace function public.read_unsubscribing(owner_id uuid, with_bills boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('email_enabled', p.email_enabled, 'organizations', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', o.id, 'name', o.name, 'reminders_enabled', o.reminders_enabled)
          || case when with_bills then jsonb_build_object('bills', (
            select
              coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name) order by b.next_due, b.name, b.id),
              '[]')
            from (
              select e.id, e.name, e.next_due from app.expenses as e
              where e.organization_id = o.id and e.kind = 'bill' and e.status = 'active' and e.deleted_at is null
                and e.reminder_enabled
              order by e.next_due, e.name, e.id
              limit 200
            ) as b
          )) else '{}' end
        order by o.name, o.id
      ), '[]')
      from identity.organizations as o
      where o.owner_id = p.user_id
    ))
    from identity.profiles as p
    where p.user_id = owner_id
  );
end
$$;
comment on function public.read_unsubscribing is
  'What an owner can end: {"email_enabled","organizations":[{"id","name","reminders_enabled"}]}, each organization '
  'with its reminding "bills":[{"id","name"}] if asked for; null when there is no such person.';

create or replace function public.unsubscribe(owner_id uuid, scope text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
  change text;
begin
  case
    when scope = 'all' then
      update identity.profiles as p set email_enabled = false, updated_at = at
        where p.user_id = owner_id;
    when scope like 'org\_%' then
      update identity.organizations as o set reminders_enabled = false, updated_at = at
      where o.id = scope and o.owner_id = unsubscribe.owner_id;
    else
      select e.* into bill
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      where e.id = scope and o.owner_id = unsubscribe.owner_id and e.deleted_at is null;
  end case;
  if not found then
    return '{"outcome":"unknown"}';
  end if;

  if bill.reminder_enabled then
    -- A change like any other, which the assistant can undo.
    perform set_config('app.at', at::text, true);
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    values (bill.organization_id, owner_id, 'unsubscribe', jsonb_build_object('name', bill.name))
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    update app.expenses as e set reminder_enabled = false where e.id = bill.id;
    perform set_config('app.change_id', '', true);
  end if;
  perform identity.record_event(
    'reminders.unsubscribed', owner_id, coalesce(bill.organization_id, case when scope like 'org\_%' then scope end),
    jsonb_build_object('scope', scope), at
  );
  return '{"outcome":"unsubscribed"}';
end
$$;
comment on function public.unsubscribe is
  'Ends reminders: scope is "all", or the id of an organization or a bill of the owner''s: {"outcome":"unsubscribed"} '
  'or {"outcome":"unknown"}.';

create or replace function public.resume_reminders(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.organizations as o set reminders_enabled = true, updated_at = at
  where o.id = organization_id and o.owner_id = user_id;
  if not found then
    return '{"outcome":"not_owner"}';
  end if;
  perform identity.record_event('reminders.resumed', user_id, organization_id, '{}', at);
  return '{"outcome":"resumed"}';
end
$$;
comment on function public.resume_reminders is
  'Reminds the owner of an organization''s bills again: {"outcome":"resumed"} or {"outcome":"not_owner"}.';
