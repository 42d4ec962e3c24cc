-- The connector's database side: one call authenticates a bearer token, becomes the person under row-level security,
-- runs one tool and returns its envelope. This file defines the context and the change sets that tools share. A tool is
-- `app.<tool>(context app.context, arguments jsonb) returns jsonb`, stable if it only reads, and returns {data,
-- warnings?, next_cursor?, total_count?, totals_by_currency?}. A writing tool also returns {facts} for the list of
-- recent changes, which TypeScript phrases.

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
comment on type app.context is
  'The person, organization and time of a tool call; today is the calendar date in the owner''s zone.';

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
  'Returns the context of the running request, read as the person; null without membership in its organization.';

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
  'Opens a change set: from now on, the capture trigger records every written row.';

create or replace function app.finish_change(change text, facts jsonb) returns text
language plpgsql set search_path = '' as $$
begin
  perform set_config('app.change_id', '', true);
  if exists (select from app.change_items as i where i.change_id = change) then
    update app.change_sets as s set facts = finish_change.facts where s.id = change;
    return change;
  elsif app.has_items(change) then
    -- Otherwise nobody could review a change that hides the row from its author, and the author could not undo it.
    perform app.fail('forbidden_role.out_of_sight', app.list_who_may('settings:write'));
  end if;
  delete from app.change_sets as s where s.id = change;
  return null;
end
$$;
comment on function app.finish_change is
  'Closes a change set; without writes it deletes the set and returns null. A set with writes must have facts (null '
  'violates a constraint) and must still be visible to its author.';

create or replace function app.is_write(tool text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return not exists (
    select from pg_catalog.pg_proc as p
    where p.oid = to_regprocedure(format('app.%I(app.context, jsonb)', tool)) and p.provolatile = 's'
  );
end
$$;
comment on function app.is_write is
  'Whether a tool changes the books. Stable functions don''t; an unknown name counts as a write.';

create or replace function app.dispatch_tool(context app.context, tool text, arguments jsonb) returns jsonb
language plpgsql set search_path = '' as $$
declare
  result jsonb;
begin
  -- Helper functions have other parameter names. tool_registry_test.ts compares the remaining functions with the
  -- contracts.
  execute format('select app.%I(context => $1, arguments => $2)', tool) into result using context, arguments;
  return result;
end
$$;
comment on function app.dispatch_tool is 'Runs a tool by its name. An unknown name is the caller''s error.';
