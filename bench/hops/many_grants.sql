-- A person with 2,000 grants, of which 20 are live, the maximum; a person with a single grant; and a client with grants
-- of 2,000 people.

insert into auth.users (id, email)
select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'grants' || n || '@example.com' from generate_series(1, 2002) as n;
insert into identity.profiles (user_id, email, country) select u.id, u.email, 'DE' from auth.users as u where u.email like 'grants%';
insert into identity.organizations (id, name, base_currency, plan, owner_id)
select 'org_g' || lpad(n::text, 11, '0'), 'Grants ' || n, 'EUR', 'pro', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
from generate_series(1, 2002) as n;
insert into identity.memberships (organization_id, user_id, role)
select o.id, o.owner_id, 'owner' from identity.organizations as o where o.id like 'org\_g%';
insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at) values
  ('client_with_one', 'One', '{http://127.0.0.1:9/callback}', now(), now()),
  ('client_with_many', 'Many', '{http://127.0.0.1:9/callback}', now(), now());

insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at, revoked_at, revocation_reason)
select 'client_with_one', m.user_id, m.organization_id, 'http://127.0.0.1:9/callback', 'https://expenses.example/api/mcp',
  now() - interval '1 day', now() + interval '90 days', case when n > 19 then now() end, case when n > 19 then 'too_many' end
from identity.memberships as m cross join generate_series(1, 2000) as n where m.organization_id = 'org_g00000000001';
insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
select case m.organization_id when 'org_g00000000002' then 'client_with_one' else 'client_with_many' end, m.user_id, m.organization_id,
  'http://127.0.0.1:9/callback', 'https://expenses.example/api/mcp', now() - interval '1 day', now() + interval '90 days'
from identity.memberships as m where m.organization_id like 'org\_g%' and m.organization_id <> 'org_g00000000001';
analyze;
