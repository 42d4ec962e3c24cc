-- What a digest says: described when it is claimed, by what is true then. Each organization is read as its owner, under row-level security:
-- a condition that is missing here puts nobody else's bills into a mail.

create function app.describe_statement(occurrence_id text, owner identity.profiles, out fetched jsonb, out not_taken jsonb) returns record
language plpgsql stable strict set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  statement app.provider_statements;
  link app.provider_links;
  is_taken boolean;
  told jsonb;
begin
  select * into occurrence from app.expense_occurrences as o where o.id = describe_statement.occurrence_id;
  -- The one that its amount came from, or the one that counts and is not its amount, as far as nobody set it since.
  select * into statement
  from app.provider_statements as s
  where s.occurrence_id = occurrence.id and s.organization_id = occurrence.organization_id and case
    when s.amount_minor = occurrence.expected_minor and s.currency = occurrence.currency then occurrence.amount_source = 'provider' and s.status <> 'ignored'
    else s.status = 'needs_review' and not (occurrence.amount_source = 'override' and occurrence.updated_at >= s.fetched_at)
      -- A provider that the bill is no longer connected to asks nothing.
      and exists (select from app.provider_links as l where l.id = s.link_id and l.status <> 'revoked')
  end
  order by (s.amount_minor = occurrence.expected_minor and s.currency = occurrence.currency) is true, s.fetched_at desc
  limit 1;
  if not found then
    return;
  end if;
  select * into link from app.provider_links as l where l.id = statement.link_id;
  is_taken := statement.amount_minor = occurrence.expected_minor and statement.currency = occurrence.currency;
  if is_taken is not true then
    -- The bill's currency may have changed since.
    statement.usual_minor := app.usual_statement(occurrence);
  end if;
  told := jsonb_build_object(
    'on', (statement.fetched_at at time zone owner.timezone)::date, 'provider', app.provider_name(link), 'currency', statement.currency,
    'amount', case when not owner.hide_amounts_in_email then app.format_amount(statement.amount_minor, statement.currency) end,
    'usual', case when not owner.hide_amounts_in_email and statement.currency = occurrence.currency
      then app.format_amount(statement.usual_minor, statement.currency) end
  );
  if is_taken then
    fetched := told;
  else
    not_taken := told;
  end if;
end
$$;
comment on function app.describe_statement is
  'What a provider said of a due date, {on, provider, amount, currency, usual}: fetched when it is the amount, not_taken when somebody has to look at it.';

create function app.describe_reconnects(organization identity.organizations) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The others are said once these are connected.
  max_listed constant int := 20;
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(r) order by r.name, r.bill_id), '[]')
    from (
      select b.id as bill_id, b.name, organization.id as organization_id, organization.name as organization, l.provider_key,
        app.provider_name(l) as provider
      from app.provider_links as l
      join app.expenses as b on b.id = l.expense_id and b.status = 'active' and b.amount_mode = 'variable' and b.deleted_at is null
      where l.organization_id = organization.id and l.status = 'needs_reauth'
      order by b.name, b.id
      limit max_listed
    ) as r
  );
end
$$;
comment on function app.describe_reconnects is 'The variable bills of an organization whose provider no longer accepts the credential.';

create function app.describe_due_bills(
  owner identity.profiles, organization identity.organizations, reminded jobs.reminder_log[], at timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  today constant date := (at at time zone owner.timezone)::date;
  base_exponent constant int := (select c.exponent from app.currencies as c where c.code = organization.base_currency);
  base_per_euro constant numeric := (app.find_rate(organization.base_currency, today)).per_euro;
  -- Of what is overdue, and as many of what falls due: a mail is no list of everything.
  max_listed constant int := 100;
begin
  return (
    with open_dates as (
      -- Still due: it may have been paid, snoozed or changed since the digest was made.
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source, l.id as log_id
      from unnest(reminded) as l
      join app.expenses as e on e.id = l.expense_id and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      join app.expense_occurrences as c on c.organization_id = organization.id and c.expense_id = e.id and c.due_on = l.due_on and c.status = 'open'
      where l.due_on >= today and (c.snoozed_until is null or c.snoozed_until <= today)
      union all
      select c.id, c.expense_id, c.due_on, c.scheduled_on, c.expected_minor, c.paid_minor, c.amount_source, l.id
      from app.expense_occurrences as c
      join app.expenses as e on e.id = c.expense_id and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
      left join unnest(reminded) as l on l.expense_id = c.expense_id and l.due_on = c.due_on and l.snoozed_until = c.snoozed_until
      where c.organization_id = organization.id and c.status = 'open' and c.due_on < today
        and (c.snoozed_until is null or c.snoozed_until <= today) and app.is_paid_by_autopay(e, c.due_on, today) is not true
    ), lines as (
      -- One for what falls due of a bill, one for what is overdue of it.
      select d.expense_id as id, d.due_on < today as is_overdue, min(d.due_on) as due_on, min(d.scheduled_on) as scheduled_on, count(*) as dates,
        case when not owner.hide_amounts_in_email and count(*) = count(d.expected_minor) then sum(d.expected_minor - d.paid_minor) end as minor,
        bool_and(d.amount_source = 'rule') as is_by_rule, case when count(*) = 1 then min(d.id) end as occurrence_id
      from open_dates as d
      group by d.expense_id, d.due_on < today
    ), placed as (
      select l.*, e.name, e.currency, e.autopay, e.amount_mode, e.frequency = 'daily' and e.every = 1 as is_daily,
        row_number() over (partition by l.is_overdue order by l.due_on, e.name, l.id) as place
      from lines as l
      join app.expenses as e on e.id = l.id
    ), rates as (
      select c.code, c.exponent, r.per_euro, r.rate_on
      from app.currencies as c
      left join lateral app.rates_as_of(c.code, today) as r on c.code <> organization.base_currency
      where c.code in (select p.currency from placed as p)
    ), valued as (
      select p.*, r.exponent, r.rate_on,
        case when p.currency = organization.base_currency then p.minor
          else app.convert_minor(p.minor, r.per_euro, r.exponent, base_per_euro, base_exponent) end as base_minor
      from placed as p
      join rates as r on r.code = p.currency
    ), listed as (
      select v.*, earlier.minor as earlier_minor, said.*
      from (select v.* from valued as v where v.place <= max_listed offset 0) as v
      left join lateral (
        select o.expected_minor as minor
        from app.expense_occurrences as o
        where o.organization_id = organization.id and o.expense_id = v.id and o.scheduled_on < v.scheduled_on and o.status = 'paid' and o.currency = v.currency
          and o.expected_minor is not null and not owner.hide_amounts_in_email
        order by o.scheduled_on desc
        limit 1
      ) as earlier on true
      -- Of a single date only: which of several would a statement be about?
      left join lateral app.describe_statement(case when v.amount_mode = 'variable' and v.dates = 1 then v.occurrence_id end, owner) as said on true
    )
    select jsonb_build_object(
      'id', organization.id, 'name', organization.name, 'base_currency', organization.base_currency,
      'bills', (
        select jsonb_agg(jsonb_build_object(
          'bill_id', v.id, 'name', v.name, 'due_on', v.due_on, 'days', v.due_on - today, 'dates', v.dates, 'autopay', v.autopay, 'is_daily', v.is_daily,
          'currency', v.currency, 'amount', app.format_minor(v.minor, v.exponent), 'is_estimate', v.amount_mode = 'estimated' and v.is_by_rule,
          'fetched', v.fetched, 'not_taken', v.not_taken,
          'earlier_amount', app.format_minor(v.earlier_minor, v.exponent),
          'base_amount', case when v.currency <> organization.base_currency then app.format_minor(v.base_minor, base_exponent) end
        ) order by v.due_on, v.name, v.id)
        from listed as v
      ),
      'unlisted', jsonb_build_object(
        'overdue', count(*) filter (where v.is_overdue and v.place > max_listed),
        'due', count(*) filter (where not v.is_overdue and v.place > max_listed),
        'due_until', max(v.due_on) filter (where not v.is_overdue and v.place > max_listed)
      ),
      'total', case when count(*) = count(v.base_minor) then app.format_minor(sum(v.base_minor), base_exponent) end,
      'rates_on', min(v.rate_on),
      'reminds_of', (select coalesce(jsonb_agg(d.log_id), '[]') from open_dates as d where d.log_id is not null)
    )
    from valued as v
    having count(*) > 0
  );
end
$$;
comment on function app.describe_due_bills is
  'The bills of one organization that a digest tells of: what it reminds of and what is overdue; the first by name, all in the counts and the total. reminds_of: their rows of the log. Null when there are none.';

revoke all on function app.describe_statement, app.describe_reconnects, app.describe_due_bills from public, anon;
grant execute on function app.describe_statement, app.describe_reconnects, app.describe_due_bills to authenticated, service_role;
-- The owner reads, not the service, as in app.run_tool.
alter function app.describe_reconnects set role = 'authenticated';
alter function app.describe_due_bills set role = 'authenticated';

create function jobs.act_as(person jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- auth.uid() reads the one or the other, depending on the platform's age.
  perform set_config('request.jwt.claims', person::text, true), set_config('request.jwt.claim.sub', coalesce(person ->> 'sub', ''), true);
end
$$;
comment on function jobs.act_as is 'Whom functions that run as signed-in people read for from here on: the claims of a request, {} for nobody.';

create function jobs.describe_digest(digest jobs.reminder_digests, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  owner identity.profiles;
  organization identity.organizations;
  section jsonb;
  sections jsonb := '[]';
  reminds_of jsonb := '[]';
  reconnects jsonb := '[]';
begin
  select p.* into owner from identity.profiles as p where p.user_id = digest.owner_id;
  if not owner.email_enabled or identity.reminder_address(owner) = owner.refused_email or not identity.is_active(owner.user_id, at) then
    return null;
  end if;
  for organization in
    select o.* from identity.organizations as o
    where o.owner_id = digest.owner_id and o.reminders_enabled and identity.organization_has_feature(o.id, 'reminders:email', describe_digest.at)
    order by o.name, o.id
  loop
    perform jobs.act_as(jsonb_build_object('sub', owner.user_id, 'role', 'authenticated', 'organization_id', organization.id));
    section := app.describe_due_bills(owner, organization, array(
      select l from jobs.reminder_log as l where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
    ), at);
    if section is not null then
      sections := sections || (section - 'reminds_of');
      reminds_of := reminds_of || (section -> 'reminds_of');
    end if;
    if identity.organization_has_feature(organization.id, 'bills:variable', at) then
      reconnects := reconnects || app.describe_reconnects(organization);
    end if;
  end loop;
  perform jobs.act_as('{}');
  -- What else is overdue, or has to be connected again, is said on the way; alone it sends nothing.
  if reminds_of = '[]' then
    return null;
  end if;
  return jsonb_build_object(
    'address', identity.reminder_address(owner), 'country', owner.country, 'today', (at at time zone owner.timezone)::date,
    'hides_amounts', owner.hide_amounts_in_email, 'organizations', sections, 'reconnect', jsonb_path_query_array(reconnects, '$[0 to 19]'),
    'reminds_of', reminds_of
  );
end
$$;
comment on function jobs.describe_digest is 'What a digest says at an instant: to whom, and the bills by organization; reminds_of: the rows of the log that it stands for. Null when it has nothing to say, or nobody to say it to.';

revoke all on function jobs.act_as, jobs.describe_digest from public, anon, authenticated;
grant execute on function jobs.act_as, jobs.describe_digest to service_role;
