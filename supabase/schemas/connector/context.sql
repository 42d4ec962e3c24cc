-- The connector's database side: one call authenticates a bearer token, becomes the person under row-level security,
-- runs one tool and returns its envelope.
-- This file has the context and the change sets that tools share.
-- A tool is `app.<tool>(context app.context, arguments jsonb) returns jsonb` and returns {data, warnings?,
-- next_cursor?, total_count?, totals_by_currency?}. A writing tool also returns {facts}, from which TypeScript words
-- the list of recent changes.

create type app.context as (
  organization_id text,
  organization_name text,
  base_currency text,
  owner_id uuid,
  timezone text,
  today date,
  at timestamptz,
  actor_id uuid,
  role text,
  client_name text,
  grant_id uuid
);
comment on type app.context is 'For whom and when a tool runs; today is the calendar date in the owner''s zone.';

create or replace function app.read_context(at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (read_context.at at time zone p.timezone)::date,
    read_context.at,
    m.user_id, m.role, auth.jwt() ->> 'client_name', (auth.jwt() ->> 'grant_id')::uuid
  into context
  from identity.organizations as o
  join identity.profiles as p on p.user_id = o.owner_id
  join identity.memberships as m on m.organization_id = o.id and m.user_id = (select auth.uid())
  where o.id = (select identity.current_organization_id());
  return context;
end
$$;
comment on function app.read_context is
  'The context of the running request, read as the person; null without membership in its organization.';

-- Changes

create or replace function app.begin_change(context app.context, tool text) returns text
language plpgsql set search_path = '' as $$
declare
  change text;
begin
  insert into app.change_sets (organization_id, actor_id, grant_id, client_name, tool, proposal_id)
  values (
    context.organization_id, context.actor_id, context.grant_id, context.client_name, begin_change.tool,
    nullif(current_setting('app.proposal_id', true), '')
  )
  returning id into change;
  perform set_config('app.change_id', change, true);
  return change;
end
$$;
comment on function app.begin_change is
  'Opens a change set: from here on the capture trigger records every row that is written.';

create or replace function app.finish_change(change text, facts jsonb) returns text
language plpgsql set search_path = '' as $$
begin
  perform set_config('app.change_id', '', true);
  if exists (select from app.change_items as i where i.change_id = change) then
    update app.change_sets as s set facts = finish_change.facts where s.id = change;
    return change;
  elsif app.has_items(change) then
    -- The write made the row invisible to its author, so it could be neither reviewed nor undone.
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'));
  end if;
  delete from app.change_sets as s where s.id = change;
  return null;
end
$$;
comment on function app.finish_change is
  'Closes a change set; without writes it deletes the set and returns null. A set with writes must have facts (null '
  'violates a constraint) and must still be visible to its author.';

-- Running a tool

create or replace function app.is_write(tool text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return tool
    not in ('get_context', 'list_expenses', 'summarize_spending', 'show_spending_chart', 'list_bills', 'review_bills',
      'reconcile');
end
$$;
comment on function app.is_write is
  'Whether a tool changes the books; a tool that is not known to read counts as a write.';

create or replace function app.dispatch_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
begin
  case tool
    when 'get_context' then return app.get_context(context, arguments);
    when 'list_expenses' then return app.list_expenses(context, arguments);
    when 'summarize_spending' then return app.summarize_spending(context, arguments);
    when 'show_spending_chart' then return app.show_spending_chart(context, arguments);
    when 'list_bills' then return app.list_bills(context, arguments);
    when 'review_bills' then return app.review_bills(context, arguments);
    when 'reconcile' then return app.reconcile(context, arguments);
    when 'log_expenses' then return app.log_expenses(context, arguments);
    when 'import_expenses' then return app.import_expenses(context, arguments);
    when 'update_expenses' then return app.update_expenses(context, arguments);
    when 'add_bill' then return app.add_bill(context, arguments);
    when 'update_bill' then return app.update_bill(context, arguments);
    when 'mark_bill_paid' then return app.mark_bill_paid(context, arguments);
    when 'sync_bill_amounts' then return app.sync_bill_amounts(context, arguments);
    -- Not a client's tool: stores the connector's fetched answers for the one above.
    when 'store_bill_amounts' then return app.store_bill_amounts(context, arguments);
    when 'delete_records' then return app.delete_records(context, arguments);
    when 'undo_change' then return app.undo_change(context, arguments);
    when 'update_settings' then return app.update_settings(context, arguments);
    when 'settle_up' then return app.settle_up(context, arguments);
    when 'decide_proposal' then return app.decide_proposal(context, arguments);
  end case;
end
$$;
comment on function app.dispatch_tool is 'The tools by name; an unknown name is an error of the caller.';
