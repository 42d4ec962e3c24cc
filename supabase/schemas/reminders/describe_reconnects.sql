create or replace function app.describe_reconnects(organization identity.organizations) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- List only the first; once these are connected, the next mail lists the others.
  max_listed constant int := 20;
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(r) order by r.name, r.bill_id), '[]')
    from (
      select b.id as bill_id, b.name, organization.id as organization_id, organization.name as organization,
        l.provider_key,
        app.provider_name(l) as provider
      from app.provider_links as l
      join app.expenses as b on b.id = l.expense_id and b.status = 'active' and b.amount_mode = 'variable'
        and b.deleted_at is null
      where l.organization_id = organization.id and l.status = 'needs_reauth'
      order by b.name, b.id
      limit max_listed
    ) as r
  );
end
$$;
comment on function app.describe_reconnects is
  'Returns the variable bills of an organization whose provider no longer accepts the credential.';
