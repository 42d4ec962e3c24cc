-- Rules for all our objects. Each is followed by a violation, which hygiene_test.ts plants to prove that the rule
-- reports it.

select no_plan();

create schema rules;

-- Our schemas are those that migrations created, and public.
create view rules.schemas as
  select oid, nspname as name from pg_namespace where nspname in ('public', 'identity', 'oauth', 'billing', 'app', 'jobs');

create view rules.relations as
  select c.oid, c.oid::regclass::text as name, c.relkind, c.relrowsecurity, c.relacl, c.relowner, c.reloptions, s.name as schema
  from pg_class as c join rules.schemas as s on s.oid = c.relnamespace;

create view rules.functions as
  select p.oid, p.oid::regprocedure::text as signature, s.name || '.' || p.proname as name, p.proacl, p.proowner, p.proconfig, p.prosecdef,
    p.provolatile, coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as source, p.prosqlbody is not null as is_resolved, s.name as schema
  from pg_proc as p join rules.schemas as s on s.oid = p.pronamespace
  where not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e');

create view rules.policies as
  select format('%s on %s.%s', policyname, schemaname, tablename) as name, policyname, roles, cmd, qual, with_check
  from pg_policies join rules.schemas as s on s.name = schemaname;

-- Row-level security

select is_empty($$ select name from rules.relations where relkind in ('r', 'p') and not relrowsecurity $$,
  'row-level security is on in every table');
-- planted: create table app.planted (id int)

select is_empty($$ select name from rules.policies where 'public' = any (roles) $$,
  'every policy names its roles');
-- planted: create policy "Planted for everybody" on app.fx_rates for select using ((select auth.uid()) is not null)

select is_empty($$ select name from rules.policies where 'true' in (qual, with_check) $$,
  'no policy has an unconditional rule');
-- planted: create policy "Planted without a condition" on app.fx_rates for select to authenticated using (true)

-- Without a WITH CHECK, PostgreSQL applies USING to new rows.
select is_empty($$ select name from rules.policies where qual = with_check $$,
  'no policy repeats its USING condition as WITH CHECK');
-- planted: create policy "Planted twice" on app.fx_rates for update to authenticated using ((select auth.uid()) is not null) with check ((select auth.uid()) is not null)

select is_empty($$
    select name from rules.policies
    where regexp_replace(concat_ws(' ', qual, with_check), 'SELECT (auth\.(uid|jwt)|identity\.(current_organization_id|sees_everything|sees_own_only|may)|app\.list_(hidden_categories|shared_expenses))\(', '', 'g')
      ~ '(auth\.(uid|jwt)|current_organization_id|sees_everything|sees_own_only|identity\.may|list_(hidden_categories|shared_expenses))\(' $$,
  'policies look up the person once per statement, not once per row');
-- planted: create policy "Planted row by row" on app.fx_rates for select to authenticated using (auth.uid() is not null)

-- A name of more than 62 letters is cut off.
select is_empty($$ select name from rules.policies where policyname !~ '^[A-Z][a-z-]+( [[:alnum:]'',-]+){2,}$' or length(policyname) = 63 $$,
  'policies are named as sentences');
-- planted: create policy fx_select on app.fx_rates for select to authenticated using ((select auth.uid()) is not null)

-- Functions

select is_empty($$ select signature from rules.functions where not is_resolved and not coalesce(proconfig @> array['search_path=""'], false) $$,
  'every function has a pinned search_path, or names resolved at creation');
-- planted: create function public.planted() returns int language sql security definer as 'select 1'

-- The setting also affects foreign key checks, which would then be planned again for each row.
select is_empty($$
    select signature from rules.functions
    where proconfig @> array['plan_cache_mode=force_custom_plan'] and source ~* '\minsert into\M' $$,
  'no function that inserts rows forces custom plans');
-- planted: create function app.planted() returns void language plpgsql set search_path = '' set plan_cache_mode = 'force_custom_plan' as 'begin insert into app.fx_rates default values; end'

select is_empty($$ select signature from rules.functions where prosecdef and name not in ('identity.is_active', 'identity.find_organization_id', 'identity.find_standing', 'billing.plans_enabled', 'app.list_hidden_categories', 'app.list_shared_expenses', 'app.room_for_documents', 'app.warn_of_mail', 'app.forget_credential', 'app.note_refused_credential', 'app.refuse_closed_month', 'app.hold_organization',
      'app.sync_paid_minor', 'app.derive_shares', 'app.find_excluded', 'app.list_subjects', 'app.list_own_subjects', 'app.find_own_latest', 'app.has_items', 'app.find_approvers', 'app.name_parties', 'app.list_line_records', 'app.list_line_incomes', 'app.list_no_bills', 'app.find_private_income_category', 'app.list_known_lines', 'app.had_digest',
      'identity.is_review_over', 'app.has_app', 'app.emit_reminders', 'app.emit_notices', 'app.emit_digest', 'app.emit_proposal', 'app.emit_import', 'app.emit_document',
      'jobs.end_reviews', 'jobs.purge_expired', 'jobs.purge_organizations', 'jobs.purge_people', 'public.check_schedule') $$,
  'a function runs as its owner only when it is listed here');
-- planted: create function public.planted() returns int language sql security definer set search_path = '' as 'select 1'

select is_empty($$
    select signature from rules.functions where provolatile <> 'v' and source ~* '\m(insert\s+into|delete\s+from|update\s+\w+\.\w+)\M' $$,
  'every function that writes is volatile: the API runs the others read-only');
-- planted: create function app.planted() returns void language plpgsql stable set search_path = '' as 'begin delete from app.fx_rates where true; end'

select is_empty($$
    select signature from rules.functions,
      regexp_matches(source, '\m(?:delete\s+from|update\s+\w+\.\w+(?:\s+as\s+\w+)?\s+set)\M[^;]*', 'gi') as statement
    where statement[1] !~* '\mwhere\M' $$,
  'every update and delete has a condition');
-- planted: create function app.planted() returns void language plpgsql set search_path = '' as 'begin delete from app.fx_rates; end'

select is_empty($$
    select signature from rules.functions
    where source ~* '\m(now\(\)|current_timestamp|current_date|clock_timestamp|statement_timestamp|localtimestamp)'
      and name not in ('app.instant', 'app.new_id_bits', 'identity.refuse_passwords', 'public.check_schedule')
      -- Measures how long its page takes.
      and name <> 'jobs.collect_budgets' $$,
  'functions take the instant as an argument instead of asking the database');
-- planted: create function app.planted() returns timestamptz language sql stable set search_path = '' as 'select now()'

-- Grants

select is_empty($$
    select signature from rules.functions,
      lateral aclexplode(coalesce(proacl, acldefault('f', proowner))) as a
    where a.grantee = 0 $$,
  'no function is executable by everybody');
-- planted: create function app.planted() returns int language sql set search_path = '' as 'select 1'; grant execute on function app.planted to public

select is_empty($$
    select signature from rules.functions where has_function_privilege('anon', oid, 'execute')
    union all
    select name from rules.relations
    where relkind in ('r', 'p', 'v', 'm', 'S') and (
      case when relkind = 'S' then has_sequence_privilege('anon', oid, 'usage, select, update')
      else has_table_privilege('anon', oid, 'select, insert, update, delete, truncate, references, trigger')
        or has_any_column_privilege('anon', oid, 'select, insert, update, references') end)
    union all
    select name from rules.schemas where name <> 'public' and has_schema_privilege('anon', oid, 'usage, create') $$,
  'anon has no rights on our objects');
-- planted: grant select on app.currencies to anon

select is_empty($$ select signature from rules.functions where schema = 'public' and has_function_privilege('authenticated', oid, 'execute') $$,
  'only the service may execute the functions of the API');
-- planted: create function public.planted() returns int language sql set search_path = '' as 'select 1'; grant execute on function public.planted to authenticated

select is_empty($$ select signature from rules.functions where schema = 'public' and not has_function_privilege('service_role', oid, 'execute') $$,
  'the service may execute every function of the API');
-- planted: create function public.planted() returns int language sql set search_path = '' as 'select 1'; revoke all on function public.planted from service_role

select is_empty($$
    select format('%s: %s to %s', r.name, a.privilege_type, a.grantee::regrole)
    from rules.relations as r, lateral aclexplode(r.relacl) as a
    where a.grantee in ('anon'::regrole, 'authenticated'::regrole, 'service_role'::regrole)
      and (a.privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'DELETE') or r.relkind = 'S' or a.is_grantable)
      -- A role that inserts a row needs its next number.
      and not (r.name = 'app.id_number' and a.privilege_type = 'USAGE') $$,
  'the API roles have only the intended rights');
-- planted: grant truncate on app.fx_rates to authenticated

select is_empty($$
    select r.name || ' to ' || role from rules.relations as r, unnest(array['authenticated', 'service_role']) as role
    where r.relkind in ('r', 'p') and has_any_column_privilege(role, r.oid, 'update') and not has_table_privilege(role, r.oid, 'select')
      or r.relkind in ('r', 'p') and has_table_privilege(role, r.oid, 'delete') and not has_table_privilege(role, r.oid, 'select') $$,
  'roles that may change rows may read them');
-- planted: revoke select on app.fx_rates from service_role

select is_empty($$
    select format('%s in %s: %s', d.defaclobjtype, coalesce(n.nspname, 'every schema'), coalesce(nullif(a.grantee, 0)::regrole::text, 'public'))
    from pg_default_acl as d left join pg_namespace as n on n.oid = d.defaclnamespace, lateral aclexplode(d.defaclacl) as a
    where d.defaclrole = current_user::regrole and (n.nspname is null or n.oid in (select oid from rules.schemas))
      and a.grantee <> d.defaclrole and a.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE', 'EXECUTE')
      and not (d.defaclobjtype = 'f' and n.nspname is not null and a.grantee = 'service_role'::regrole)
      and not (d.defaclobjtype = 'f' and n.nspname = 'app' and a.grantee = 'authenticated'::regrole) $$,
  'default grants cover only functions: all for the service, those of app for signed-in people');
-- planted: alter default privileges in schema public grant execute on functions to anon

select is_empty($$
    select name from rules.functions
    where has_function_privilege('service_role', oid, 'execute') = (name in (
      'app.forget_credential', 'app.note_refused_credential', 'app.pause_links_without_plan', 'identity.is_review_over', 'identity.refuse_passwords', 'jobs.call_function', 'jobs.fill_vault',
      'jobs.end_reviews', 'jobs.purge', 'jobs.purge_expired', 'jobs.purge_organizations', 'jobs.purge_people', 'jobs.vault_matches')) $$,
  'the service may execute every function except these');
-- planted: create function app.planted() returns int language sql as 'select 1'; revoke all on function app.planted from service_role

select is_empty($$
    select name from rules.functions
    where proowner <> (select nspowner from pg_namespace where nspname = 'app') $$,
  'one role owns the schemas and every function, since default rights depend on the creating role');
-- planted: create function app.planted() returns int language sql as 'select 1'; grant create on schema app to service_role; alter function app.planted() owner to service_role

select isnt_empty($$
    select from pg_default_acl as d
    where d.defaclrole = current_user::regrole and d.defaclnamespace = 0 and d.defaclobjtype = 'f'
      and not exists (select from aclexplode(d.defaclacl) as a where a.grantee = 0) $$,
  'a new function is not executable by everybody');
-- planted: alter default privileges grant execute on functions to public

-- Shape

select is_empty($$ select name from rules.relations where schema = 'public' $$, 'public holds functions only');
-- planted: create view public.planted as select 1 as id

select is_empty($$ select name from rules.relations where relkind = 'v' and not coalesce(reloptions @> array['security_invoker=true'], false) $$,
  'views run with the rights of the caller');
-- planted: create view billing.planted as select 1 as id

select is_empty($$
    select format('%s (%s)', k.conrelid::regclass, k.conname)
    from pg_constraint as k join rules.relations as r on r.oid = k.conrelid
    where k.contype = 'f' and not exists (
      select from pg_index as i
      where i.indrelid = k.conrelid and i.indpred is null
        and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] <@ k.conkey
    ) $$,
  'every foreign key has an index that starts with its columns');
-- planted: create table app.planted (organization_id text references identity.organizations (id))

select is_empty($$
    select format('%s (%s)', k.conrelid::regclass, k.conname)
    from pg_constraint as k join rules.relations as n on n.oid = k.conrelid
    cross join lateral unnest(k.conkey, k.confkey) as pair (own, referenced)
    join pg_attribute as o on o.attrelid = k.conrelid and o.attnum = pair.own
    join pg_attribute as r on r.attrelid = k.confrelid and r.attnum = pair.referenced
    where k.contype = 'f' and o.attcollation <> r.attcollation $$,
  'a foreign key has the collation of its target, so that its indexes serve comparisons');
-- planted: create table app.planted (organization_id text references identity.organizations (id))

select is_empty($$ select name from rules.relations where relkind in ('r', 'p', 'v') and obj_description(oid, 'pg_class') is null $$,
  'every table has a comment');
-- planted: create table app.planted (id int)

select is_empty($$ select signature from rules.functions where schema = 'public' and obj_description(oid, 'pg_proc') is null $$,
  'every function of the API has a comment');
-- planted: create function public.planted() returns int language sql set search_path = '' as 'select 1'

select is_empty($$
    select r.name || '.' || a.attname || ' ' || format_type(a.atttypid, null)
    from pg_attribute as a join rules.relations as r on r.oid = a.attrelid
    where r.relkind = 'r' and a.attnum > 0 and not a.attisdropped and (
      a.attname like '%\_at' and format_type(a.atttypid, null) not in ('timestamp with time zone', 'timestamp with time zone[]')
      or a.attname like '%\_on' and format_type(a.atttypid, null) <> 'date'
      or a.attname like '%\_minor' and format_type(a.atttypid, null) <> 'bigint') $$,
  'names show the type: _at an instant, _on a day, _minor an amount');
-- planted: create table app.planted (paid_on timestamptz)

select is_empty($$
    select format('%s.%s by %s', t.tgrelid::regclass, a.attname, t.tgname)
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where t.tgname in ('bump_version', 'capture_change') and c.relnamespace = 'app'::regnamespace
      and a.attname <> all (app.derived_columns(c.relname)) and a.attnum <> all (t.tgattr::int2[]) $$,
  'the version changes with every column that is not derived');
-- planted: alter table app.expenses add column planted int

select is_empty($$
    select signature from rules.functions
    where source ~* '\minsert\s+into\s+app\.(expenses|payments)\M'
      and name not in ('app.write_expenses', 'app.add_bill', 'app.pay_occurrence') $$,
  'one writer per table: one-off expenses with their payments, bills, payments of bills');
-- planted: create function app.planted() returns void language plpgsql set search_path = '' as 'begin insert into app.expenses (id) values (null); end'

select * from finish();
