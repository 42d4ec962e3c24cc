create or replace function app.month_name(day date) returns text
language sql immutable set search_path = ''
  return to_char(day, 'YYYY-MM');
comment on function app.month_name is 'Returns the month of a day as YYYY-MM.';

create or replace function app.is_closed(organization_id text, day date) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from identity.organizations as o
    where o.id = is_closed.organization_id and o.closed_through >= is_closed.day
  );
end
$$;
comment on function app.is_closed is
  'Whether a day lies in a closed month. For callers that skip such days instead of failing.';

create or replace function app.closed_month(day date) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object(
    'month', app.month_name(day), 'reopened_by', app.month_name((day - interval '1 month')::date)
  );
end
$$;
comment on function app.closed_month is
  'Returns error parameters for a day in a closed month: {month, reopened_by}. reopened_by is the last month that can '
  'stay closed.';
