-- Notices about balances that are expected to fall below the limit, once for each fall.

create or replace function jobs.new_low_balances(user_id uuid, organization_id text, at timestamptz)
  returns jobs.notice_log[]
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone 'utc')::date;
  -- The expected day of the same fall moves from day to day. An overdue one moves until a newer balance is known.
  days constant int := 7;
begin
  return array(
    select jsonb_populate_record(null::jobs.notice_log, jsonb_build_object(
      'account_id', b.account_id, 'kind', 'low_balance', 'about_on', b.due_on, 'tell_on', today
    ))
    from app.expect_low_balances(at) as b
    join identity.organizations as o on o.id = new_low_balances.organization_id
    where not exists (
      select from jobs.notice_log as l
      join jobs.reminder_digests as d on d.id = l.digest_id
        and coalesce(l.sent_at, d.created_at) >= o.low_balance_since
      where l.organization_id = o.id and l.recipient_id = new_low_balances.user_id and l.kind = 'low_balance'
        and l.account_id is not distinct from b.account_id and l.voided_at is null
        and l.about_on between least(today - days, b.covered_on) and b.due_on + days
    )
  );
end
$$;
comment on function jobs.new_low_balances is
  'Returns the coming falls of balances that no digest of a person mentions. A fall is new if it is more than 7 days '
  'earlier than the mentioned one. It is also new if the mentioned one passed more than 7 days ago and before the last '
  'balance.';

create or replace function app.describe_low_notices(recipient identity.profiles, member identity.memberships,
  organization identity.organizations, noticed jobs.notice_log[], at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone recipient.timezone)::date;
  shows_amounts constant boolean := not recipient.hide_amounts_in_email;
begin
  if not (app.hears_all(member) and exists (select from unnest(noticed) as l where l.kind = 'low_balance')) then
    return null;
  end if;
  return (
    -- Forecast again, because payments may have come since the digest was created.
    select jsonb_build_object(
      'notices', jsonb_agg(jsonb_build_object(
        'kind', 'low_balance', 'name', coalesce(b.account, organization.name),
        'is_total', case when b.account_id is null then true end,
        'on', b.due_on, 'days', b.due_on - today, 'assignee', null, 'currency', b.currency,
        'frequency', 'once', 'every', 1, 'term_years', 1, 'is_contract', false, 'renews_on', null,
        'amount', case when shows_amounts then app.format_amount(b.likely, b.currency) end,
        'earlier_amount', null,
        'low', case when shows_amounts then app.format_amount(b.low, b.currency) end,
        'limit', case when shows_amounts then app.format_amount(b.limit_minor, b.currency) end
      ) order by b.due_on, b.account nulls last),
      'tells_of', jsonb_path_query_array(jsonb_agg(l.ids), '$[*][*]')
    )
    from app.expect_low_balances(at) as b
    join (
      select l.account_id, array_agg(l.id) as ids from unnest(noticed) as l
      where l.kind = 'low_balance' group by l.account_id
    ) as l on l.account_id is not distinct from b.account_id
    having count(*) > 0
  );
end
$$;
comment on function app.describe_low_notices is
  'Returns the notices about balances of one organization in a digest: {notices, tells_of: their log rows}. Null '
  'without any.';
alter function app.describe_low_notices set role = 'authenticated';
