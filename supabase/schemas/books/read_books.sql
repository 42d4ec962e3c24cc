-- Composes the books page from the answers of tools to the person, without computing sums itself.

create or replace function public.read_books(user_id uuid, organization_id text, month_on date, searched text,
  cursor text, paid text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  latest constant jsonb := '{"limit": 20}';
  mine jsonb;
  chosen record;
  first_day date;
  state jsonb;
  bills jsonb;
  spending jsonb;
  income jsonb;
  balances jsonb;
  documents jsonb;
  expenses jsonb;
begin
  mine := case when identity.is_active(user_id, at) then identity.list_organizations(user_id) else '[]' end;
  select o.id, o.name, o.base_currency, reader.country, (read_books.at at time zone owner.timezone)::date as today
  into chosen
  from identity.memberships as m
  join identity.organizations as o on o.id = m.organization_id
  join identity.profiles as owner on owner.user_id = o.owner_id
  join identity.profiles as reader on reader.user_id = m.user_id
  where m.user_id = read_books.user_id and mine <> '[]'
    and o.id = coalesce(read_books.organization_id, mine #>> '{0,id}');
  if not found then
    return jsonb_build_object('outcome', 'unknown', 'organizations', mine);
  end if;
  state := identity.describe_state(chosen.id, user_id, at);
  first_day := date_trunc('month', coalesce(month_on, chosen.today));
  perform app.act_as(user_id, chosen.id);
  -- Searches and later pages show expenses only.
  if searched is null and cursor is null then
    bills := app.run_tool('list_bills', '{"due_within_days": 30, "limit": 100}', at);
    spending := app.run_tool('summarize_spending', jsonb_build_object(
      'from', first_day, 'to', (first_day + interval '1 month' - interval '1 day')::date, 'compare', 'previous_period'
    ), at);
    income := app.run_tool('summarize_spending', jsonb_build_object(
      'kind', 'income', 'from', first_day, 'to', (first_day + interval '1 month' - interval '1 day')::date, 'group_by',
      '["month"]'::jsonb
    ), at);
    balances := app.run_tool('get_context', '{"include": ["balances"]}', at);
    documents := app.run_tool('list_documents', '{"needs_attention": true}', at);
  end if;
  expenses := app.run_tool('list_expenses', latest || jsonb_strip_nulls(jsonb_build_object(
    'query', searched, 'cursor', cursor
  )), at);
  if expenses is null then
    return jsonb_build_object('outcome', 'unknown', 'organizations', mine);
  end if;
  return jsonb_build_object(
    'outcome', 'found', 'organizations', mine, 'organization', jsonb_build_object('id', chosen.id, 'name', chosen.name),
    'base_currency', chosen.base_currency, 'country', chosen.country, 'today', chosen.today, 'month', first_day,
    'state', state, 'may_write', (state ->> 'writes')::boolean and (state ->> 'takes_changes')::boolean,
    'may_export', identity.member_may(chosen.id, user_id, 'books:export'),
    'bills', bills, 'spending', spending, 'income', income, 'balances', balances, 'documents', documents,
    'expenses', expenses,
    -- Show only a change that this person made within the last day.
    'paid', (
      select jsonb_build_object('change_id', s.id, 'facts', s.facts, 'is_undone', s.undone_by is not null)
      from app.change_sets as s
      where s.id = read_books.paid and s.organization_id = chosen.id and s.actor_id = read_books.user_id
        and s.tool = 'mark_bill_paid' and s.created_at > at - interval '1 day'
    )
  );
end
$$;
comment on function public.read_books is
  'Returns the given organization at a glance, or the person''s first one if null: {outcome: found | unknown, '
  'organizations, organization, base_currency, country, today, month, state, may_write, may_export, bills?, spending?, '
  'income?, balances?, documents?, expenses, paid?}. bills, spending, income, balances, documents and expenses are the '
  'envelopes of list_bills, summarize_spending (twice), get_context, list_documents and list_expenses.';
