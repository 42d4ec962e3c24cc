-- Foundation: schemas and their rights, ids, the instant of a request, currencies. `public` contains only functions
-- (the database's API for `service_role`). Tables are in other schemas, which are not exposed.

-- Everybody can execute new functions unless the global default is revoked; the `in schema` form would change nothing.
alter default privileges revoke execute on functions from public;
-- The platform may grant new objects in `public` to the API roles by default.
alter default privileges in schema public revoke all on functions from anon, authenticated;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;

create schema identity;
create schema oauth;
create schema billing;
create schema app;
create schema jobs;
comment on schema identity is 'People, organizations, memberships, the audit trail.';
comment on schema oauth is 'Clients, grants, used codes and hashed tokens of the authorization server. Service only.';
comment on schema billing is 'Plans, their features, and the payment provider''s events.';
comment on schema app is 'Expenses, bills, payments and the changes made to them; the connector''s tools.';
comment on schema jobs is 'Scheduled work.';

grant usage on schema identity, oauth, billing, app, jobs to service_role;
-- Tools run as `authenticated` under row-level security; these schemas contain the data that they may see.
grant usage on schema identity, billing, app to authenticated;

-- A function's schema determines its execution rights; the few exceptions are marked.
alter default privileges in schema public, identity, oauth, billing, jobs grant execute on functions to service_role;
alter default privileges in schema app grant execute on functions to authenticated, service_role;

create sequence app.id_number;
grant usage on sequence app.id_number to authenticated, service_role;

create or replace function app.new_id_bits() returns bigint
language sql volatile
  -- The time comes first, in 32nds of a second since 2024 (35 bits, 34 years). So rows created together are adjacent in
  -- every index, and reading a month of a large organization needs only a few neighboring pages. Then comes a counter
  -- (25 bits), which makes ids unique and is multiplied so that ids reveal no counts.
  return ((((date_part('epoch', clock_timestamp()) - 1704067200) * 32)::bigint & 34359738367) << 25)
    | (((nextval('app.id_number') & 33554431) * 20241203) & 33554431);
comment on function app.new_id_bits is 'Returns the 60 bits of a new public id, in the form of app.spell_id().';

create or replace function app.spell_id(prefix text, bits bigint) returns text
language sql immutable
  return prefix || '_' || lpad(to_hex(bits), 15, '0');
comment on function app.spell_id is
  'Returns an id of 60 bits as text: the prefix, an underscore and 15 hexadecimal digits.';

create or replace function app.new_id(prefix text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  bits constant bigint := app.new_id_bits();
begin
  return app.spell_id(prefix, bits);
end
$$;
comment on function app.new_id is
  'Returns a new public id, ordered by creation time. It is an identifier, not a secret.';

create or replace function app.instant() returns timestamptz
language sql stable
  return coalesce(nullif(current_setting('app.at', true), '')::timestamptz, now());
comment on function app.instant is
  'Returns the instant of the running request from its function (setting app.at), otherwise the transaction''s own.';

create or replace function app.request_name() returns text
language sql stable
  -- Inlined into callers, so it costs almost nothing.
  return 'request ' || (current_setting('request.headers', true)::json ->> 'x-request-id');
comment on function app.request_name is
  'Returns the id of the running transaction''s request; null without one. As application_name, it appears in the '
  'database''s log and in pg_stat_activity until the transaction ends.';
revoke all on function app.request_name from authenticated;

create table app.currencies (
  code text primary key constraint currencies_code_format check (code ~ '^[A-Z]{3}$'),
  exponent smallint not null constraint currencies_exponent_range check (exponent between 0 and 4)
);
comment on table app.currencies is 'ISO 4217 currencies in use and the number of decimals of each.';
alter table app.currencies enable row level security;
create policy "Signed-in people can read the currencies" on app.currencies
  for select to authenticated using ((select auth.uid()) is not null);
grant select on app.currencies to authenticated, service_role;

insert into app.currencies (code, exponent)
  select
    regexp_split_to_table(
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC
    CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR
    JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD
    NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN
    SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG', '\s+'), 2
  union all
  select regexp_split_to_table('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', '\s+'), 0
  union all
  select regexp_split_to_table('BHD IQD JOD KWD LYD OMR TND', '\s+'), 3
  union all
  select regexp_split_to_table('CLF UYW', '\s+'), 4;
