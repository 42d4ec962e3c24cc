-- The job that fetches amounts leases one link at a time, queries the provider after commit, and settles the link with
-- its lease. If the job dies, the lease expires and another run queries again.

create or replace function jobs.lost_its_occurrence(statement app.provider_statements) returns boolean
language sql immutable
  return (statement).status in ('applied', 'needs_review') and (statement).occurrence_id is null;
comment on function jobs.lost_its_occurrence is
  'Whether a statement has lost its date: the date was recreated without the amount, because the bill was resumed or '
  'is now due on another day.';

create or replace function jobs.lacks_month(link app.provider_links, period date) returns boolean
language sql stable
begin atomic
  select (link).last_success_period is null or (link).last_success_period < lacks_month.period or exists (
    select from app.provider_statements as s
    where s.link_id = (link).id and s.period = lacks_month.period and s.status <> 'superseded'
      and jobs.lost_its_occurrence(s)
  );
end;
comment on function jobs.lacks_month is
  'Whether a link has no statement of the last month yet, or one that has lost its date.';

create or replace function jobs.may_fetch(organization_id text, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  -- The job queries on the owner's behalf, with the owner's credential.
  return identity.organization_has_feature(organization_id, 'bills:variable', at)
    and identity.is_active((select o.owner_id from identity.organizations as o where o.id = organization_id),
      at);
end
$$;
comment on function jobs.may_fetch is
  'Whether the job may query the providers of an organization: its plan includes it, and its owner is not suspended.';

create or replace function public.claim_provider_link(period date, again boolean, before timestamptz, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  claimed app.provider_links;
begin
  update app.provider_links as l
  -- The lease is longer than a provider's timeout plus the time to store the answer.
  set asked_at = at, lease_token = gen_random_uuid(),
    leased_until = at + interval '90 seconds',
    backlog = case when again then l.backlog else array(
      select m.month
      from unnest(app.missing_months(l, period)) with ordinality as m (month, place)
      where l.asked_at is null or l.asked_at < (period + interval '1 month') at time zone 'UTC'
        or m.month = any (l.backlog)
      order by m.place
    ) end
  where l.id = (
    select c.id
    from app.provider_links as c
    join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.amount_mode = 'variable'
      and e.deleted_at is null
    where c.status = 'active' and (c.asked_at is null or c.asked_at < before)
      and (c.leased_until is null or c.leased_until <= at)
        and (c.ask_after is null or c.ask_after <= at)
      and (again or jobs.lacks_month(c, period) or c.backlog <> '{}')
      and jobs.may_fetch(c.organization_id, at)
    order by c.asked_at nulls first, c.id
    limit 1
    for update of c skip locked
  )
  returning l.* into claimed;
  return case when claimed.id is not null then jsonb_build_object(
    'link_id', claimed.id, 'provider_key', claimed.provider_key, 'lease_token', claimed.lease_token,
    'periods', case when again then array[period]
      when jobs.lacks_month(claimed, period) then period || claimed.backlog else claimed.backlog end,
    'envelope', (select c.envelope from app.provider_credentials as c where c.link_id = claimed.id)
  ) end;
end
$$;
comment on function public.claim_provider_link is
  'Leases the link that was queried least recently, before an instant, among links that lack the month''s statement or '
  'one of their backlog, or whose statement lost its date. again also includes links that have their statement. '
  'Returns {link_id, provider_key, lease_token, periods: months to query in this order, envelope}; null without one. '
  'Only links that satisfy jobs.may_fetch.';

create or replace function jobs.provider_context(organization_id text, at timestamptz) returns app.context
language plpgsql stable set search_path = '' as $$
declare
  context app.context;
begin
  select o.id, o.name, o.base_currency, o.owner_id, p.timezone, (at at time zone p.timezone)::date,
    at, o.owner_id, 'owner', null, null
  into strict context
  from identity.organizations as o
  join identity.profiles as p on p.user_id = o.owner_id
  where o.id = organization_id;
  return context;
end
$$;
comment on function jobs.provider_context is
  'Returns the job''s context for storing an answer: the owner, on their day.';
