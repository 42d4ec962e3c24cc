-- Policies can't decide who sees lines of hidden payments without access to all rows. So these functions run as
-- definer, within the current organization, and return ids.

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
comment on function app.forget_line is
  'Marks a statement line as forgotten when its income or a payment linked to it is purged.';
create trigger forget_line after delete on app.statement_links
  for each row execute function app.forget_line();

create or replace function app.sees_line(line app.statement_lines) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  payment_ids constant text[] := app.list_line_payments(line.id);
  income_ids constant text[] := app.list_line_incomes(line.id);
begin
  if exists (
    select from unnest(payment_ids) as l (id) where not exists (select from app.payments as p where p.id = l.id)
  ) or exists (
    select from unnest(income_ids) as l (id) where not exists (select from app.incomes as i where i.id = l.id)
  ) then
    return false;
  end if;
  return not line.is_forgotten and (payment_ids || income_ids <> '{}' or not identity.sees_own_only())
    or exists (select from app.change_sets as s where s.id = line.change_id and s.actor_id = auth.uid());
end
$$;
comment on function app.sees_line is
  'Whether the person sees all payments of a line. If a payment was purged, only the line''s importer sees the line. '
  'The same applies to a line without payments if members see only their own records.';

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
