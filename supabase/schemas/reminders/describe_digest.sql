create or replace function jobs.describe_digest(digest jobs.reminder_digests, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  recipient identity.profiles;
  place record;
  organization identity.organizations;
  member identity.memberships;
  noticed jobs.notice_log[];
  due jsonb;
  told jsonb;
  used jsonb;
  lows jsonb;
  ending jsonb;
  came jsonb;
  mails jsonb;
  is_news boolean;
  needs_decision boolean := false;
  sections jsonb := '[]';
  reminds_of jsonb := '[]';
  tells_of jsonb := '[]';
  reconnects jsonb := '[]';
  -- The first digest of a month lists the balances of shared costs.
  is_first constant boolean := not exists (
    select from jobs.reminder_digests as d
    where d.recipient_id = digest.recipient_id and d.local_on < digest.local_on
      and d.local_on >= date_trunc('month', digest.local_on)
  );
  last_told constant timestamptz := jobs.last_told(digest.recipient_id, digest.local_on, at);
begin
  select p.* into recipient from identity.profiles as p where p.user_id = digest.recipient_id;
  if not recipient.email_enabled or identity.reminder_address(recipient) = recipient.refused_email
    or not identity.is_active(recipient.user_id, at) then
    return null;
  end if;
  for place in
    select o as organization, m as member, identity.organization_has_feature(o.id, 'reminders:email', at) as reminds
    from identity.memberships as m
    join identity.organizations as o on o.id = m.organization_id
    where m.user_id = digest.recipient_id and m.mails <> 'none' and (
      identity.organization_has_feature(o.id, 'reminders:email', at)
      or exists (
        select from jobs.notice_log as l
        where l.digest_id = digest.id and l.organization_id = o.id and l.kind = 'plan_end' and l.voided_at is null
      )
    )
    order by o.name, o.id
  loop
    organization := place.organization;
    member := place.member;
    perform jobs.act_as(
      jsonb_build_object('sub', recipient.user_id, 'role', 'authenticated', 'organization_id', organization.id));
    noticed := array(
      select l from jobs.notice_log as l
        where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
    );
    due := null;
    told := null;
    used := null;
    lows := null;
    came := null;
    mails := null;
    -- In other organizations, only the end of their plan is announced.
    if place.reminds then
      due := app.describe_due_bills(recipient, member, organization, array(
        select l from jobs.reminder_log as l
          where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
      ), noticed, at);
      told := app.describe_notices(recipient, member, organization, noticed, at);
      used := app.describe_budget_notices(recipient, member, noticed, at);
      lows := app.describe_low_notices(recipient, member, organization, noticed, at);
      came := app.describe_new_documents(recipient, member, last_told, digest.created_at);
      mails := jobs.describe_waiting_mails(recipient, member, last_told, digest.created_at);
    end if;
    is_news := coalesce(app.hears_all(member) and (came ->> 'waiting')::int > 0, false)
      or coalesce((mails ->> 'is_new')::boolean, false);
    needs_decision := needs_decision or is_news;
    ending := jobs.describe_plan_end(recipient, member, organization, noticed, at);
    if coalesce(due, told, used, lows) is not null or (ending ->> 'is_day')::boolean or is_news then
      sections := sections || jsonb_build_object(
        'id', organization.id, 'name', organization.name, 'hears',
        case when member.role = 'owner' then 'owner' else member.mails end, 'base_currency', organization.base_currency,
          'bills',
        coalesce(due -> 'bills', '[]'), 'unlisted',
        coalesce(due -> 'unlisted', '{"overdue":0,"due":0,"due_until":null}'), 'total', due -> 'total', 'rates_on',
        due -> 'rates_on',
        'notices', coalesce(lows -> 'notices', '[]') || coalesce(told -> 'notices', '[]'),
        'unlisted_notices', coalesce(told -> 'unlisted', '0'),
        'budgets', coalesce(used -> 'budgets', '[]'), 'unlisted_budgets', coalesce(used -> 'unlisted', '0'),
        'balances', case when is_first then app.describe_own_balances(recipient) else '[]' end,
        'documents', came, 'mails', mails - 'is_new',
        'plan_end', ending - 'tells_of'
      );
      reminds_of := reminds_of || coalesce(due -> 'reminds_of', '[]');
      tells_of := tells_of || coalesce(due -> 'tells_of', '[]') || coalesce(told -> 'tells_of', '[]')
        || coalesce(used -> 'tells_of', '[]') || coalesce(lows -> 'tells_of', '[]')
        || coalesce(ending -> 'tells_of', '[]');
    end if;
    if member.role = 'owner' and identity.organization_has_feature(organization.id, 'bills:variable', at) then
      reconnects := reconnects || app.describe_reconnects(organization);
    end if;
  end loop;
  perform jobs.act_as('{}');
  -- Other overdue bills, broken connections and attached documents are added to a digest; alone they cause none.
  if reminds_of = '[]' and tells_of = '[]' and not needs_decision then
    return null;
  end if;
  return jsonb_build_object(
    'address', identity.reminder_address(recipient), 'country', recipient.country, 'today',
    (at at time zone recipient.timezone)::date,
    'hides_amounts', recipient.hide_amounts_in_email, 'organizations', sections, 'reconnect',
    jsonb_path_query_array(reconnects, '$[0 to 19]'),
    'reminds_of', reminds_of, 'tells_of', tells_of
  );
end
$$;
comment on function jobs.describe_digest is
  'Returns the content of a digest at an instant: its recipient and bills by organization; reminds_of and tells_of: '
  'the log rows it covers. Null without content or recipient.';
