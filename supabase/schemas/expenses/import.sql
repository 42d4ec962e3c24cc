-- import_expenses: rows of a file into the books in two steps. The first keeps what was read for a day and shows it;
-- the second writes all of it as one change, when the caller says the count and the totals it was shown. Reading the
-- file itself is done before: here are only its rows.

create table app.import_batches (
  id text collate "C" primary key default app.new_id('imp')
    constraint import_batches_id_format check (id ~ '^imp_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  actor_id uuid not null,
  rows jsonb not null constraint import_batches_rows_count check (jsonb_array_length(rows) between 1 and 2000),
  change_id text references app.change_sets (id) on delete set null,
  result jsonb,
  created_at timestamptz not null default app.instant(),
  expires_at timestamptz not null
);
comment on table app.import_batches is
  'Rows of a file that were shown and wait for a yes, for 24 hours; after it, what the import answered.';
comment on column app.import_batches.rows is
  'Items as log_expenses takes them, each with its line in the file: [{line, name, amount, currency, date, payee?, '
  'category?, note?, url?, is_refund?}].';
comment on column app.import_batches.result is
  'What committing answered, so that a repeated call answers it again; null before.';
create index import_batches_organization_id_idx on app.import_batches (organization_id);
create index import_batches_change_id_idx on app.import_batches (change_id);
create index import_batches_expires_at_idx on app.import_batches (expires_at);

alter table app.import_batches enable row level security;
create policy "People can use their own imports" on app.import_batches
  for all to authenticated
  using (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()))
  with check (organization_id = (select identity.current_organization_id()) and actor_id = (select auth.uid()));
grant select, insert, update, delete on app.import_batches to service_role;
grant select, insert, update (change_id, result) on app.import_batches to authenticated;

create or replace function app.currency_of_sign(sign text, home text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  users constant text[] := case sign
    when '$'
      then
      array['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'TWD', 'MXN', 'ARS', 'CLP', 'COP', 'UYU', 'JMD', 'TTD', 'BBD',
      'BSD', 'BZD', 'FJD']
    when '¥' then array['JPY', 'CNY']
    when 'kr' then array['SEK', 'NOK', 'DKK', 'ISK']
    when 'Rs' then array['INR', 'PKR', 'LKR', 'NPR', 'MUR']
  end;
begin
  return case when users is null then sign when home = any (users) then home else users[1] end;
end
$$;
comment on function app.currency_of_sign is
  'The currency that a sign shared by several stands for: the one at home if it uses the sign, else its best-known; '
  'anything else as it is.';

create or replace function app.read_import_rows(
  context app.context, items jsonb, create_missing_categories boolean, out drafts jsonb, out bad jsonb
) returns record
language plpgsql volatile set search_path = '' as $$
declare
  good jsonb[] := '{}';
  refused jsonb[] := '{}';
  item jsonb;
  problem text;
begin
  for item in select i from jsonb_array_elements(items) as i loop
    begin
      good := good
        || (app.parse_expense_item(context, item, 'csv', create_missing_categories)
        || jsonb_build_object('place', item -> 'line'));
    exception when sqlstate 'EX001' then
      get stacked diagnostics problem = pg_exception_detail;
      refused := refused || jsonb_build_object('line', item -> 'line', 'error', problem::jsonb);
    end;
  end loop;
  drafts := to_jsonb(good);
  bad := to_jsonb(refused);
end
$$;
comment on function app.read_import_rows is
  'Rows as drafts whose place is their line, and those that cannot be, with why: [{line, error}].';

create or replace function app.find_imported(drafts jsonb) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
begin
  return (
    with incoming as (
      -- Two equal lines are two expenses: the second one is in the books only when the books have two.
      select i.draft, d.*,
        row_number() over (partition by d.paid_on, d.amount_minor, d.currency, d.direction, d.match_key
        order by d.place) as nth
      from jsonb_array_elements(drafts) as i (draft)
      cross join lateral jsonb_to_record(i.draft)
        as d (place int, paid_on date, amount_minor bigint, currency text, direction text, match_key text)
    ), keys as (
      select distinct i.paid_on, i.amount_minor, i.currency, i.direction from incoming as i
    ), known as (
      select k.paid_on, k.amount_minor, k.currency, k.direction, e.match_key,
        case e.kind when 'bill' then p.id else e.id end as id,
        row_number() over (partition by k.paid_on, k.amount_minor, k.currency, k.direction, e.match_key
          order by p.recorded_seq) as nth
      from (select distinct k.paid_on from keys as k) as d
      -- Day by day, since the planner cannot know how few days of all the payments a file is about.
      cross join lateral (select p.* from app.payments as p
        where p.paid_on = d.paid_on and p.deleted_at is null offset 0) as p
      join keys as k
        on k.paid_on = p.paid_on and k.amount_minor = p.amount_minor and k.currency = p.currency
          and k.direction = p.direction
      cross join lateral (select e.* from app.expenses as e where e.id = p.expense_id offset 0) as e
    )
    select
      coalesce(jsonb_agg(i.draft || jsonb_strip_nulls(jsonb_build_object('existing_id', k.id)) order by i.place), '[]')
    from incoming as i
    left join known as k
      on k.paid_on = i.paid_on and k.amount_minor = i.amount_minor and k.currency = i.currency
      and k.direction = i.direction and k.match_key = i.match_key and k.nth = i.nth
  );
end
$$;
comment on function app.find_imported is
  'The drafts, each with the id of the expense or payment in the books that it repeats, if any: by the rule of '
  'log_expenses, counted.';
