-- Stores each incoming statement line as income, exactly once.

create or replace function app.list_line_incomes(line_id text) returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select i.id from app.incomes as i
    where i.line_id = list_line_incomes.line_id and i.organization_id = identity.current_organization_id()
  );
end
$$;
comment on function app.list_line_incomes is
  'Returns the ids of a statement line''s income, even if it is hidden or deleted.';

create trigger forget_line after delete on app.incomes
  for each row when (old.line_id is not null) execute function app.forget_line();

create or replace function app.find_income_category(context app.context, payer text, received_on date) returns text
language plpgsql stable set search_path = '' as $$
declare
  days constant int := 420;
  words constant text[] := app.income_words(payer);
  name_words constant text[] := app.without_months(app.descriptor_words(payer));
begin
  return (
    with named as materialized (
      -- Comparing names is slow, and the names of one payer often differ only in a date.
      select distinct on (t.text) t.text, c.id, i.updated_at, i.recorded_seq
      from app.incomes as i
      join app.categories as c on c.id = i.category_id and c.archived_at is null
      cross join lateral (
        select coalesce(nullif(btrim(regexp_replace(i.name, '\S*\d\S*', '', 'g')), ''), i.name) as text
      ) as t
      where i.organization_id = context.organization_id and i.deleted_at is null
        and (i.received_on is null or abs(i.received_on - find_income_category.received_on) <= days)
      order by t.text, i.updated_at desc, i.recorded_seq desc
    )
    select n.id
    from named as n
    where app.compare_names(app.income_words(n.text), words) >= 2
      -- "Salary May" names no payer.
      or app.without_months(app.descriptor_words(n.text)) = name_words
    order by n.updated_at desc, n.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_income_category is
  'Returns the category that a person last gave to income of a payer, so that a private salary stays private.';

create or replace function app.find_private_income_category(payee text, name text, payer text, received_on date)
  returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  context app.context;
begin
  context.organization_id := identity.current_organization_id();
  return (
    select c.id from app.categories as c
    where c.organization_id = context.organization_id and c.is_private and c.id = coalesce(
      app.find_payee_rule(context, payee, find_private_income_category.name),
      app.find_income_category(context, payer, received_on)
    )
  );
end
$$;
comment on function app.find_private_income_category is
  'Returns the private category of a payer''s income in the current organization, even if the person may not see it; '
  'null for none.';

create or replace function app.choose_income_category(context app.context, payee text, name text, payer text,
  received_on date) returns text
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    case when not identity.sees_everything() then
      app.find_private_income_category(payee, name, payer, received_on) end,
    app.find_payee_rule(context, payee, name),
    app.find_income_category(context, payer, received_on)
  );
end
$$;
comment on function app.choose_income_category is
  'Returns the category of a payer''s income: a payee rule''s, otherwise the one last given to income of the payer. '
  'Chooses a private category for people who may not see it, so that their entries don''t make the income public.';

create or replace function app.keep_income(context app.context, batch app.import_batches, line app.statement_lines,
  item jsonb) returns text
language plpgsql volatile set search_path = '' as $$
declare
  days constant int := 5;
  said_name constant text := coalesce(app.clean_text(item ->> 'name'), line.text);
  -- "Salary, Work GmbH", as in app.log_incomes().
  payer constant text := left(case when strpos(lower(said_name), lower(app.clean_text(item ->> 'payee'))) > 0
    then said_name else concat_ws(', ', said_name, app.clean_text(item ->> 'payee')) end, 120);
  words constant text[] := app.descriptor_words(payer);
  line_sort constant text := app.income_sort(concat_ws(' ', payer, item ->> 'name', item ->> 'text'));
  category text;
  said app.incomes;
  is_closed boolean;
  is_taken boolean;
begin
  if app.is_closed(context.organization_id, line.booked_on) then
    return 'closed';
  end if;
  category := app.choose_income_category(context, item ->> 'payee', item ->> 'name', payer, line.booked_on);
  select i.* into said from app.incomes as i
  where i.organization_id = context.organization_id and i.deleted_at is null and i.line_id is null
    and i.received_on between line.booked_on - days and line.booked_on + days
    and i.currency = line.currency
    and (
      i.amount_minor = line.amount_minor
      -- People state rounded amounts.
      or abs(i.amount_minor - line.amount_minor) * 20 <= line.amount_minor
      and (
        app.compare_names(app.descriptor_words(i.name), words) >= 2
        or i.sort <> 'other' and i.sort = line_sort and app.may_share_payer(i.name, payer)
      )
    )
  order by i.amount_minor = line.amount_minor desc,
    app.compare_names(app.descriptor_words(i.name), words) desc, abs(i.amount_minor - line.amount_minor),
    abs(i.received_on - line.booked_on), i.recorded_seq
  limit 1;
  if found then
    is_closed := app.is_closed(context.organization_id, said.received_on);
    is_taken := said.category_id is null and not is_closed
      and (said.created_by = context.actor_id or not app.is_hidden_category(category));
    update app.incomes as i
    set line_id = line.id,
      -- The line may be the first to name a payer whose income is private.
      category_id = case when is_taken then category else said.category_id end,
      creator_sees = said.creator_sees or is_taken and app.is_hidden_category(category),
      account_id = case when is_closed then said.account_id else batch.account_id end,
      amount_minor = case when is_closed then said.amount_minor else line.amount_minor end
    where i.id = said.id;
    return 'linked';
  end if;
  insert into app.incomes (
    organization_id, name, sort, category_id, account_id, line_id, amount_minor, currency, received_on, source,
    created_by, creator_sees
  ) values (
    context.organization_id, payer, line_sort, category, batch.account_id, line.id, line.amount_minor, line.currency,
    line.booked_on, 'import', context.actor_id, app.is_hidden_category(category)
  );
  return 'created';
end
$$;
comment on function app.keep_income is
  'Stores the income of a line, or links income that a person recorded up to five days before or after; in open months '
  'the statement''s amount replaces the recorded one. Returns created, linked or closed.';

create or replace function app.keep_incomes(context app.context, batch app.import_batches) returns jsonb
language plpgsql volatile set search_path = '' set enable_nestloop = 'off' as $$
declare
  kept jsonb;
  removed int;
begin
  -- Another account's statement shows that the money came from that account.
  update app.incomes as i set deleted_at = context.at
  where i.source = 'import' and i.deleted_at is null and not app.is_closed(context.organization_id, i.received_on)
    and i.line_id in (
      select r.match ->> 'half_id' from app.import_rows as r
      where r.import_id = batch.id and r.match ->> 'state' = 'transfer' and r.match ? 'half_id'
    );
  get diagnostics removed = row_count;
  with lines as materialized (
    select l as line, r.item
    from app.statement_rows(context, batch) as s
    join app.statement_lines as l
      on l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.booked_on = s.booked_on
        and l.amount_minor = s.amount_minor and l.currency = s.currency and l.direction = s.direction
        and (l.id = s.match ->> 'line_id' or l.text = s.text and l.nth = s.nth)
    join app.import_rows as r on r.import_id = batch.id and r.line = s.line
    where s.kind = 'income' and s.direction = 'refund' and s.amount_minor > 0 and not s.is_skipped
      and s.match ->> 'state' is distinct from 'transfer'
      and l.kind = 'income' and l.other_half_id is null and not l.is_forgotten
      and not exists (select from app.statement_lines as o where o.other_half_id = l.id)
      and app.list_line_incomes(l.id) = '{}'
    order by l.booked_on, l.id
  ), results as materialized (
    select app.keep_income(context, batch, n.line, n.item) as outcome, (n.line).amount_minor as minor,
      (n.line).currency as currency
    from lines as n
  )
  select jsonb_strip_nulls(jsonb_build_object(
    'created', nullif(count(*) filter (where r.outcome = 'created'), 0),
    'linked', nullif(count(*) filter (where r.outcome = 'linked'), 0),
    'closed', nullif(count(*) filter (where r.outcome = 'closed'), 0),
    'removed', nullif(removed, 0),
    'totals', (
      select jsonb_object_agg(t.currency, app.format_amount(t.minor, t.currency))
      from (
        select c.currency, sum(c.minor) as minor from results as c where c.outcome = 'created' group by c.currency
      ) as t
    )
  )) into kept
  from results as r;
  return nullif(kept, '{}');
end
$$;
comment on function app.keep_incomes is
  'Stores the income of a committed import: {created?, linked?, closed?, removed?, totals? of the created ones}, or '
  'null. removed counts transfers between the organization''s own accounts.';
