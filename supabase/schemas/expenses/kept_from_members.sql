-- Hides changes about hidden rows, and statement lines of hidden payments, from members. Policies can't decide this
-- without access to all rows. So these functions run as definer, within the current organization, and return ids.

create or replace function app.list_subjects(change app.change_sets) returns table (expense_id text,
  category_id text, settlement_id text)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    with kept as (
      select i.table_name, i.row_id, v.row
      from app.change_items as i
      cross join lateral (values (i.before), (i.after)) as v (row)
      where i.change_id = change.id and i.organization_id = identity.current_organization_id()
    )
    select case k.table_name when 'expenses' then k.row_id else k.row ->> 'expense_id' end,
      case k.table_name when 'categories' then k.row_id else k.row ->> 'category_id' end,
      case k.table_name when 'settlements' then k.row_id end
    from kept as k
    union
    select p.expense_id, p.category_id, null
    from kept as k
    join app.payments as p on p.id = k.row ->> 'merged_into'
    union
    select null, named.id #>> '{}', null
    from jsonb_path_query(change.facts, '$.**.about[*]') as named (id);
end
$$;
comment on function app.list_subjects is
  'Returns the ids of the expenses, categories and settlements that a change concerns, before and after it. Includes '
  'records that others were merged into, and categories that its facts mention.';

create or replace function app.sees_change(change app.change_sets) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- A change whose contents were purged has no subject left.
  if change.is_emptied then
    return change.actor_id = auth.uid();
  end if;
  return not exists (
    select from app.list_subjects(change) as s
    where s.expense_id is not null and not exists (select from app.expenses as e where e.id = s.expense_id)
      or s.category_id is not null and not exists (select from app.categories as c where c.id = s.category_id)
      or s.settlement_id is not null and not exists (select from app.settlements as t where t.id = s.settlement_id)
  );
end
$$;
comment on function app.sees_change is
  'Whether the person sees everything that a change concerns. Its facts name every record, so a change is shown '
  'completely or not at all. After its contents are purged, only its author sees it.';

create or replace function app.has_items(change_id text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  return exists (
    select from app.change_items as i
    where i.change_id = has_items.change_id and i.organization_id = identity.current_organization_id()
  );
end
$$;
comment on function app.has_items is 'Whether a change wrote anything, including rows hidden from the person.';

create or replace function app.find_own_latest(grant_id uuid) returns text
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select s.id from app.change_sets as s
    where s.organization_id = identity.current_organization_id() and s.actor_id = auth.uid()
      and s.grant_id is not distinct from find_own_latest.grant_id and s.tool not in ('autopay', 'provider_sync')
      and s.id is distinct from nullif(current_setting('app.change_id', true), '') and not s.is_emptied
    order by s.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_own_latest is
  'Returns the person''s latest change through a connection, even if its subject has been hidden from them since. '
  'Otherwise "undo that" would revert an earlier change.';

create or replace function app.list_line_payments(line_id text) returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select k.payment_id from app.statement_links as k
    where k.line_id = list_line_payments.line_id and k.organization_id = identity.current_organization_id()
  );
end
$$;
comment on function app.list_line_payments is 'Returns the ids of the payments linked to a statement line.';

create or replace function app.forget_line() returns trigger
language plpgsql set search_path = '' as $$
begin
  update app.statement_lines as l set is_forgotten = true where l.id = old.line_id and not l.is_forgotten;
  return null;
end
$$;
comment on function app.forget_line is 'Marks a statement line as forgotten when a payment linked to it is purged.';
create trigger forget_line after delete on app.statement_links
  for each row execute function app.forget_line();

create or replace function app.sees_line(line app.statement_lines) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  payment_ids constant text[] := app.list_line_payments(line.id);
begin
  if exists (
    select from unnest(payment_ids) as l (id) where not exists (select from app.payments as p where p.id = l.id)
  ) then
    return false;
  end if;
  return not line.is_forgotten and (payment_ids <> '{}' or not identity.sees_own_only())
    or exists (select from app.change_sets as s where s.id = line.change_id and s.actor_id = auth.uid());
end
$$;
comment on function app.sees_line is
  'Whether the person sees all payments of a line. If a payment was purged, only the importer of the line sees it. The '
  'same holds for a line without payments where members see only their own records.';

create policy "Members can use their organization's statement lines" on app.statement_lines
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_line(statement_lines))
  );

create or replace function app.list_known_lines(account_id text, first date, last date)
  returns setof app.statement_lines
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select l.* from app.statement_lines as l
    where l.account_id = list_known_lines.account_id and l.organization_id = identity.current_organization_id()
      and l.booked_on between list_known_lines.first and list_known_lines.last
      -- Lines that the books rejected, as in a closed month, can still be imported.
      and (l.kind not in ('expense', 'refund', 'unreadable') or l.is_skipped or l.is_forgotten
        or l.other_half_id is not null
        or exists (select from app.statement_lines as o where o.other_half_id = l.id)
        or exists (select from app.statement_links as k where k.line_id = l.id));
end
$$;
comment on function app.list_known_lines is
  'Returns the lines of an account that are already handled, including hidden ones. A person who has the file sees the '
  'line anyway, and it must not be imported twice. The matched record is not revealed.';

create or replace function app.guard_private() returns trigger
language plpgsql set search_path = '' as $$
begin
  if current_user = 'authenticated' and new.is_private is distinct from (case tg_op when 'UPDATE' then old.is_private
    else false end) and not identity.may('settings:write') then
    perform app.fail('forbidden_role.private_category', app.list_who_may('settings:write'));
  end if;
  return new;
end
$$;
comment on function app.guard_private is
  'Rejects making a category private or public, by a call or an undo, without the right settings:write.';
create trigger guard_private before insert or update of is_private on app.categories
  for each row execute function app.guard_private();

create or replace function app.list_who_may(wanted text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('who', (
    select jsonb_agg(w.email) from (
      select p.email
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      join identity.role_rights as r on r.role = m.role and r."right" = wanted
      where m.organization_id = identity.current_organization_id() and m.role in ('owner', 'manager')
      order by m.role = 'owner' desc, m.created_at, m.user_id
      limit 2
    ) as w
  ));
end
$$;
comment on function app.list_who_may is
  'Returns the people to ask for an action beyond one''s role: {who: up to two addresses of the owner and a manager '
  'with the right}.';

create or replace function app.refuse_reader(tool text) returns void
language plpgsql stable set search_path = '' as $$
begin
  if app.is_write(tool) and not identity.may('books:write') and identity.current_organization_id() is not null then
    perform app.fail('forbidden_role.read_only', app.list_who_may('books:write'));
  end if;
end
$$;
comment on function app.refuse_reader is
  'Ends a writing tool with forbidden_role when the person''s role is read-only.';

create or replace function app.member_sees(expense app.expenses, member identity.memberships) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (
    identity.member_may(member.organization_id, member.user_id, 'books:private')
    or not exists (select from app.categories as c where c.id = expense.category_id and c.is_private)
  ) and (
    member.role <> 'member' or member.user_id in (expense.created_by, expense.assignee_id)
    or app.is_party(expense, member.user_id)
    or exists (
      select from app.payment_shares as s where s.expense_id = expense.id and s.member_id = member.user_id
    )
    or not exists (select from identity.organizations as o where o.id = member.organization_id and o.own_only)
  );
end
$$;
comment on function app.member_sees is
  'Whether a member sees an expense or bill, for pages that the service reads on their behalf. Applies the same '
  'conditions as the policies.';
revoke all on function app.member_sees from authenticated;
