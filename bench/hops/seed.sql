-- The callers in bench/sections/endpoints.ts: 2,048 people with an organization each, one registered client, and 8,000
-- unpaid organizations on the free plan. These are in addition to the organization of large_organization.sql.

insert into auth.users (id, email)
select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'person' || n || '@example.com' from generate_series(1, 2048) as n;
insert into identity.profiles (user_id, email, country, timezone)
select u.id, u.email, 'DE', 'Europe/Berlin' from auth.users as u where u.email like 'person%';
insert into identity.organizations (id, name, base_currency, plan, owner_id)
select 'org_p' || lpad(n::text, 11, '0'), 'Household ' || n, 'EUR', 'pro', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
from generate_series(1, 2048) as n;
insert into identity.memberships (organization_id, user_id, role)
select o.id, o.owner_id, 'owner' from identity.organizations as o where o.id like 'org\_p%';
select app.create_default_categories(o.id, now()) from identity.organizations as o where o.id like 'org\_p%';

insert into identity.organizations (id, name, base_currency, plan, owner_id)
select 'org_w' || lpad(n::text, 11, '0'), 'Customer ' || n, 'EUR', 'free', '00000000-0000-4000-8000-000000000001'
from generate_series(1, 8000) as n;
insert into billing.billing_plans (provider_plan_id, plan) values ('plan_00000000000001', 'pro');

insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at)
values ('client_benchmark0000000000000', 'Benchmark', '{http://127.0.0.1:9/callback}', now(), now());
analyze;
