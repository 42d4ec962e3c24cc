-- Ends reminders from a mail: all, those of one organization, or those of one bill. A signed link allows the first two
-- for the person it names. The third ends a bill's reminders for everybody, so only its signed-in owner can do it. The
-- functions check that the named record belongs to the person.

create or replace function public.read_unsubscribing(user_id uuid, with_bills boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('email_enabled', p.email_enabled, 'organizations', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', o.id, 'name', o.name, 'mails', m.mails)
          || case when with_bills then jsonb_build_object('bills', (
            select
              coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name) order by b.next_due, b.name, b.id),
              '[]')
            from (
              select e.id, e.name, e.next_due from app.expenses as e
              where e.organization_id = o.id and m.role = 'owner' and e.kind = 'bill' and e.status = 'active'
                and e.deleted_at is null and e.reminder_enabled
              order by e.next_due, e.name, e.id
              limit 200
            ) as b
          )) else '{}' end
        order by o.name, o.id
      ), '[]')
      from identity.memberships as m
      join identity.organizations as o on o.id = m.organization_id
      where m.user_id = p.user_id
    ))
    from identity.profiles as p
    where p.user_id = read_unsubscribing.user_id
  );
end
$$;
comment on function public.read_unsubscribing is
  'Returns the mails that a person can turn off: {"email_enabled","organizations":[{"id","name","mails"}]}, optionally '
  'with "bills":[{"id","name"}], those with reminders in organizations that they own; null for an unknown person.';

create or replace function public.unsubscribe(user_id uuid, scope text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses;
  change text;
begin
  case
    when scope = 'all' then
      update identity.profiles as p set email_enabled = false, updated_at = at
        where p.user_id = unsubscribe.user_id;
    when scope like 'org\_%' then
      update identity.memberships as m set mails = 'none'
      where m.organization_id = scope and m.user_id = unsubscribe.user_id;
    else
      select e.* into bill
      from app.expenses as e
      join identity.organizations as o on o.id = e.organization_id
      where e.id = scope and o.owner_id = unsubscribe.user_id and e.deleted_at is null;
  end case;
  if not found then
    return '{"outcome":"unknown"}';
  end if;

  if bill.reminder_enabled then
    -- An ordinary change, which the assistant can undo.
    perform set_config('app.at', at::text, true);
    insert into app.change_sets as s (organization_id, actor_id, tool, facts)
    values (bill.organization_id, user_id, 'unsubscribe', jsonb_build_object('name', bill.name))
    returning s.id into change;
    perform set_config('app.change_id', change, true);
    update app.expenses as e set reminder_enabled = false where e.id = bill.id;
    perform set_config('app.change_id', '', true);
  end if;
  perform identity.record_event(
    'reminders.unsubscribed', user_id, coalesce(bill.organization_id, case when scope like 'org\_%' then scope end),
    jsonb_build_object('scope', scope), at
  );
  return '{"outcome":"unsubscribed"}';
end
$$;
comment on function public.unsubscribe is
  'Ends reminders to a person: scope is "all", or the id of an organization of theirs or of a bill that they own: '
  '{"outcome":"unsubscribed"} or {"outcome":"unknown"}.';

create or replace function public.choose_mails(user_id uuid, organization_id text, mails text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.memberships as m set mails = choose_mails.mails
  where m.organization_id = choose_mails.organization_id and m.user_id = choose_mails.user_id;
  if not found then
    return '{"outcome":"not_member"}';
  end if;
  perform identity.record_event('reminders.mails_chosen', user_id, organization_id,
    jsonb_build_object('mails', mails), at);
  return '{"outcome":"chosen"}';
end
$$;
comment on function public.choose_mails is
  'Sets a member''s choice of mails about the bills of an organization (mine, all or none): {"outcome":"chosen"} or '
  '{"outcome":"not_member"}.';
