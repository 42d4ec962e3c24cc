-- To hide lines of hidden payments, policies need access to all rows. So these functions run as definer, limited to the
-- current organization, and return only ids.

create or replace function app.list_line_records()
  returns table (line_id text, expense_id text, category_id text, income_id text)
language plpgsql stable security definer set search_path = '' as $$
begin
  return query
    select k.line_id, p.expense_id, p.category_id, null::text
    from app.statement_links as k
    join app.payments as p on p.id = k.payment_id
    where k.organization_id = identity.current_organization_id()
    union all
    select i.line_id, null, null, i.id from app.incomes as i
    where i.organization_id = identity.current_organization_id() and i.line_id is not null;
end
$$;
comment on function app.list_line_records is
  'Returns the ids of the paid expenses and bills, and of the income, of the organization''s statement lines.';

create or replace function app.forget_line() returns trigger
language plpgsql set search_path = '' as $$
begin
  update app.statement_lines as l set is_forgotten = true where l.id = old.line_id and not l.is_forgotten;
  return null;
end
$$;
comment on function app.forget_line is
  'Marks a statement line as forgotten when its income or a payment linked to it is purged.';
create trigger forget_line after delete on app.statement_links
  for each row execute function app.forget_line();

create or replace function app.list_hidden_lines() returns setof text
language plpgsql stable set search_path = '' as $$
begin
  return query
    select r.line_id from app.list_line_records() as r
    -- The same rule as the policy on app.payments, which is slower because it runs once per payment.
    where r.category_id = any ((select app.list_hidden_categories())::text[])
      or r.expense_id is not null and not exists (select from app.expenses as e where e.id = r.expense_id)
      or r.income_id is not null and not exists (select from app.incomes as i where i.id = r.income_id);
end
$$;
comment on function app.list_hidden_lines is
  'Returns the ids of the lines with a payment or income that the person may not see. The policy reads them once per '
  'statement: a look-up per line took minutes for a few hundred lines.';

create or replace function app.list_own_lines() returns setof text
language plpgsql stable set search_path = '' as $$
begin
  return query select r.line_id from app.list_line_records() as r where identity.sees_own_only();
end
$$;
comment on function app.list_own_lines is
  'Returns the ids of the lines with a payment or income, for people who see only their own records.';

create or replace function app.has_imported(line app.statement_lines) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (select from app.change_sets as s where s.id = line.change_id and s.actor_id = auth.uid());
end
$$;
comment on function app.has_imported is 'Whether the person imported a line.';

-- A person sees a line if they see all its payments and income. If a payment was purged, only the importer sees the
-- line. The same applies to a line without payments if members see only their own records.
create policy "Members can use their organization's statement lines" on app.statement_lines
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and (
      (select identity.sees_everything())
      or id not in (select app.list_hidden_lines())
        and (
          not is_forgotten and (not (select identity.sees_own_only()) or id in (select app.list_own_lines()))
          or app.has_imported(statement_lines)
        )
    )
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
