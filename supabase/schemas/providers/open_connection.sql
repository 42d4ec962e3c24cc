-- Connects a bill to its provider, on the page behind the link of update_bill, and lets the account page pause, resume
-- or remove a link. The functions check credentials; this file checks rights and stores rows.

create or replace function app.judge_connection(user_id uuid, bill_id text, at timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  bill app.expenses;
  organization identity.organizations;
  described jsonb;
  refusal jsonb;
begin
  select e.* into bill from app.expenses as e where e.id = bill_id and e.kind = 'bill' and e.deleted_at is null;
  select o.* into organization
  from identity.organizations as o
  join identity.memberships as m on m.organization_id = o.id and m.user_id = judge_connection.user_id
  where o.id = bill.organization_id and app.member_sees(bill, m);
  -- Bills of other people look like bills that do not exist.
  if organization.id is null then
    return '{"outcome":"unknown_bill"}';
  end if;
  refusal := identity.refuse_deleting(organization.id, user_id, at);
  if refusal is not null then
    return refusal;
  end if;
  described := jsonb_build_object(
    'bill', bill.name, 'organization', organization.name, 'organization_id', organization.id,
    'owner_email', (select p.email from identity.profiles as p where p.user_id = organization.owner_id),
    'state', identity.describe_state(organization.id, user_id, at)
  );
  return described || jsonb_build_object('outcome', case
    when organization.owner_id <> user_id then 'not_owner'
    when bill.status not in ('active', 'paused') then 'ended'
    when bill.amount_mode <> 'variable' then 'not_variable'
    when not identity.organization_has_feature(organization.id, 'bills:variable', at) then 'feature_not_in_plan'
    else 'open'
  end);
end
$$;
comment on function app.judge_connection is
  'Returns whether a person may connect a bill now: {"outcome": open, unknown_bill, not_owner, ended, not_variable or '
  'feature_not_in_plan}, with the bill, its organization and its owner unless the bill is unknown. Also returns '
  'identity.refuse_deleting.';

create or replace function public.open_connection(user_id uuid, bill_id text, provider_key text, quotas jsonb,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  judged constant jsonb := app.judge_connection(user_id, bill_id, at);
  link app.provider_links;
  wait integer;
begin
  if judged ->> 'outcome' <> 'open' then
    return judged;
  end if;
  wait := oauth.draw_quotas(quotas, at);
  if wait > 0 then
    return oauth.limited(wait);
  end if;
  select l.* into link from app.provider_links as l where l.expense_id = bill_id and l.status <> 'revoked';
  return judged || jsonb_build_object(
    'link', case when link.id is not null then jsonb_build_object(
      'provider_key', link.provider_key, 'account_label', link.account_label, 'status', link.status
    ) end,
    'link_id', case when link.provider_key = provider_key then link.id else app.new_id('lnk') end
  );
end
$$;
comment on function public.open_connection is
  'Returns the connect page''s data about a bill: app.judge_connection and, when it is open, the current "link" or '
  'null, and "link_id" for sealing the credential. Trying a credential draws from quotas.';
revoke all on function app.judge_connection from authenticated;
