-- Exports of the books, for roles with the right books:export, on every plan. When a membership ends, the next page is
-- refused.

create or replace function app.read_export_page(part text, after jsonb, from_on date, to_on date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  rows_at_once constant int := 1000;
  organization constant text := identity.current_organization_id();
  page record;
begin
  if organization is null then
    return null;
  end if;
  case
    when part = 'payments' then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_payments(after, from_on, to_on, rows_at_once) with ordinality as e (key, shown, place);
    when part = 'bills' then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_bills(after #>> '{}', rows_at_once) with ordinality as e (key, shown, place);
    when part in ('accounts', 'balances', 'incomes', 'statement_lines', 'provider_links', 'provider_statements') then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_statements(part, after, rows_at_once) with ordinality as e (key, shown, place);
    when part in ('settings', 'members', 'changes') then
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_organization(part, after, rows_at_once) with ordinality as e (key, shown, place);
    else
      select array_agg(e.shown order by e.place) as rows, (array_agg(e.key order by e.place desc))[1] as last_key
      into page
      from app.export_books(part, after, rows_at_once) with ordinality as e (key, shown, place);
  end case;
  return jsonb_build_object(
    'rows', coalesce(to_jsonb(page.rows), '[]'),
    'next', case when cardinality(page.rows) = case part when 'document_files' then 1 else rows_at_once end
      then page.last_key end,
    'latest_change', (
      select s.id from app.change_sets as s where s.organization_id = organization
      order by s.recorded_seq desc limit 1
    )
  );
end
$$;
comment on function app.read_export_page is
  'Returns a page of one part of the books, as the person in the request''s claims sees it: {rows, next, '
  'latest_change}. Returns null without an active membership.';

create or replace function public.open_export(user_id uuid, organization_id text, wanted text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization record;
begin
  select o.name, o.base_currency, o.datev, o.closed_through,
    (open_export.at at time zone p.timezone)::date as today into organization
  from identity.memberships as m
  join identity.organizations as o on o.id = m.organization_id
  join identity.profiles as p on p.user_id = o.owner_id
  where m.organization_id = open_export.organization_id and m.user_id = open_export.user_id
    and identity.is_active(m.user_id, open_export.at);
  if not found then
    return '{"outcome": "unknown"}';
  end if;
  if not identity.member_may(organization_id, user_id, 'books:export') then
    return '{"outcome": "refused"}';
  end if;
  if wanted is not null then
    insert into identity.audit_events (at, actor_id, organization_id, event, detail)
    values (
      open_export.at, open_export.user_id, open_export.organization_id, 'books.exported',
      jsonb_build_object('what', wanted)
    );
  end if;
  return jsonb_build_object(
    'outcome', 'ok', 'organization', jsonb_build_object(
      'name', organization.name, 'today', organization.today, 'closed_through', organization.closed_through,
      'base_currency', organization.base_currency, 'datev', organization.datev,
      'may_change', identity.member_may(organization_id, user_id, 'settings:write'),
      'state', identity.describe_state(organization_id, user_id, open_export.at)
    )
  );
end
$$;
comment on function public.open_export is
  'Whether a person may export an organization''s books: {outcome: ok | refused | unknown, organization?: {name, '
  'today, closed_through, base_currency, datev, may_change, state}}. Adds the request to the audit trail.';

create or replace function public.read_export(user_id uuid, organization_id text, part text, after jsonb, from_on date,
  to_on date, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  page jsonb;
begin
  if not identity.member_may(organization_id, user_id, 'books:export') then
    return '{"outcome": "refused"}';
  end if;
  perform app.act_as(user_id, organization_id), set_config('app.at', at::text, true);
  page := app.read_export_page(part, after, from_on, to_on);
  return case when page is null then '{"outcome": "refused"}'
    else jsonb_build_object('outcome', 'ok', 'page', page) end;
end
$$;
comment on function public.read_export is
  'Returns a page of an export, read as the person under row-level security: {outcome: ok | refused, page?}. Each page '
  'checks the rights again. Works on every plan.';

-- Runs as the person, not as the service, like app.run_tool.
alter function app.read_export_page set role = 'authenticated';
alter function app.read_export_page set jit = off;
