-- Transfers between accounts of the same books. Each account's statement has one half: the same amount in the opposite
-- direction. Neither half is spending, regardless of its text.

create or replace function app.list_free_halves(context app.context, batch app.import_batches, first_day date,
  last_day date) returns setof app.statement_lines
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  -- Ignore further lines with the same amount on one day.
  most constant int := 5;
begin
  return query
    select l.*
    from app.statement_lines as l
    where l.id in (
      select f.id
      from (
        select o.id, row_number() over (
            partition by o.booked_on, o.amount_minor, o.currency, o.direction, o.kind in ('expense', 'refund', 'income')
            order by o.id
        ) as nth
        from app.statement_lines as o
        where o.organization_id = context.organization_id and o.booked_on between first_day and last_day
          and o.account_id is distinct from batch.account_id and not o.is_skipped and not o.is_forgotten
          and o.kind in ('own_transfer', 'savings', 'top_up', 'card_payment', 'income', 'expense', 'refund')
          and o.other_half_id is null
          and not exists (select from app.statement_lines as other where other.other_half_id = o.id)
          -- People who don't see all of the books use only statements that they imported themselves.
          and (identity.sees_everything() or exists (
            select from app.change_sets as s where s.id = o.change_id and s.actor_id = auth.uid()
          ))
      ) as f
      where f.nth <= most
    );
end
$$;
comment on function app.list_free_halves is
  'Returns lines of other accounts that may be half of a transfer and have no other half yet.';

create or replace function app.list_removable(context app.context, line_id text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  found record;
begin
  select array_agg(p.id) as ids, bool_and(
    p.deleted_at is null and p.split_id is null and p.merged_into is null and e.kind = 'one_off'
    and not app.is_closed(context.organization_id, p.paid_on)
    and (not identity.sees_own_only() or (select auth.uid()) in (e.created_by, e.assignee_id))
  ) as is_free into found
  from app.statement_links as k
  left join app.payments as p on p.id = k.payment_id
  left join app.expenses as e on e.id = p.expense_id
  where k.line_id = list_removable.line_id;
  return case when found.is_free and cardinality(found.ids) = 1 then found.ids end;
end
$$;
comment on function app.list_removable is
  'Returns the payment of a line, as an array, if the import may remove it; null for bills, parts of a split, merged '
  'payments, closed months, and expenses of others under "own only".';

create or replace function app.are_evident_halves(in_texts text[], in_account text, out_text text, out_account text,
  members text[]) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  in_words constant text[] := app.descriptor_words(in_texts[1]);
  out_words constant text[] := app.descriptor_words(out_text);
begin
  return app.compare_names(app.descriptor_words(out_account), in_words) > 0
    or app.compare_names(app.descriptor_words(in_account), out_words) > 0
    or app.compare_names(out_words, in_words) > 1
    or exists (
      select from unnest(members) as m
      cross join unnest(in_texts || out_text) as t (text)
      where app.names_member(string_to_array(m, ' '), t.text)
    );
end
$$;
comment on function app.are_evident_halves is
  'Whether texts of an income and an expense of the same amount show a transfer: they name the other account or a '
  'member, or agree.';

create or replace function app.pair_halves(context app.context, batch app.import_batches, first int, last int)
returns
  table (line int, half_id text, is_spending boolean, is_sure boolean, payment_ids text[])
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' set enable_nestloop = 'off' as $$
#variable_conflict use_column
declare
  days constant int := 5;
  most constant int := 5000;
  first_day date;
  last_day date;
  halves app.statement_lines[];
  found record;
  members constant text[] := array(
    select array_to_string(m.own, ' ') from app.list_member_words(context) as m where m.own <> '{}'
  );
  used_lines int[] := '{}';
  used_halves text[] := '{}';
  -- Without an account, the name is empty and agrees with no text.
  own_name constant text := coalesce((select a.name from app.accounts as a where a.id = batch.account_id), '');
begin
  select min(d.day)::date - days, max(d.day)::date + days into first_day, last_day
  from (
    select substring(coalesce(r.draft ->> 'paid_on', r.item ->> 'date') from '^\d{4}-\d\d-\d\d$') as day
    from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.error is null
  ) as d;
  halves := array(select l from app.list_free_halves(context, batch, first_day, last_day) as l);
  if halves = '{}' then
    return;
  end if;
  for found in
    with taken as materialized (
      select r.match ->> 'half_id' as id from app.import_rows as r
      where r.import_id = batch.id and r.match ? 'half_id'
    ), free as materialized (
      select (h).*, a.name as account_name, a.key as account_key
      from unnest(halves) as h
      join app.accounts as a on a.id = (h).account_id
      where (h).id not in (select t.id from taken as t)
    ), staged as materialized (
      select s.*, s.kind in ('expense', 'refund') as is_spending, r.item
      from app.statement_rows(context, batch, array(
        select d::date::text from generate_series(first_day, last_day, interval '1 day') as d
      )) as s
      left join app.import_rows as r on r.import_id = batch.id and r.line = s.line and r.kind = 'income'
      where not s.is_skipped
        and case when s.kind in ('expense', 'refund')
          then s.draft is not null and s.line between first and last
            and (s.match is null or s.match = '{"state": "new"}')
          -- The other half of an answered transfer may appear later.
          else (s.match is null
            or s.match @> '{"state": "transfer"}' and s.match ? 'answer' and not s.match ? 'half_id')
            and s.kind in ('own_transfer', 'savings', 'top_up', 'card_payment', 'income') end
    ), pairs as materialized (
      select s.line, s.is_spending, f.id,
        exists (select from app.statement_links as k where k.line_id = f.id) as is_booked,
        s.kind = 'income' or f.kind = 'income' as is_income, abs(s.booked_on - f.booked_on) as gap,
        app.compare_names(app.descriptor_words(f.account_name), app.descriptor_words(s.text)) > 0 as is_named,
        case when s.kind = 'income' and f.kind = 'expense' then
          f.account_key = app.number_key(context, s.item ->> 'counter_account')
          or app.are_evident_halves(
            array[s.text, s.item ->> 'payee', s.item ->> 'name'], own_name, f.text, f.account_name, members
          )
        end is true as is_evident
      from staged as s
      join free as f on f.amount_minor = s.amount_minor and f.currency = s.currency and f.direction <> s.direction
      where abs(s.booked_on - f.booked_on) <= days
        and not (s.is_spending and f.kind in ('expense', 'refund'))
        and not (s.kind = 'income' and f.kind = 'income')
        -- A line imported earlier was compared with these halves at that time.
        and (s.is_spending or not exists (
          select from app.statement_lines as l
          where l.account_id = batch.account_id and l.booked_on = s.booked_on and l.amount_minor = s.amount_minor
            and l.currency = s.currency and l.direction = s.direction and l.text = s.text
        ))
    ), counted as (
      select p.*, count(*) filter (where p.is_spending and not p.is_named) over (partition by p.id) as rivals
      from pairs as p
      -- Income of the same amount doesn't turn a purchase into a transfer, unless a name or number suggests it. Without
      -- an account, income isn't stored.
      where not (p.is_booked and p.is_income) or p.is_evident and batch.account_id is not null
    )
    select c.*, case when c.is_booked then app.list_removable(context, c.id) end as removes
    from counted as c
    order by c.is_spending or c.is_booked, c.is_named desc, c.is_booked, c.is_income, c.gap, c.line, c.id
    limit most
  loop
    continue when found.line = any (used_lines) or found.id = any (used_halves)
      or found.is_booked and found.removes is null;
    line := found.line;
    half_id := found.id;
    is_spending := found.is_spending;
    is_sure := not found.is_booked and not (found.is_spending and found.is_income)
      and (not found.is_spending or found.is_named or found.rivals < 2);
    payment_ids := found.removes;
    used_lines := used_lines || line;
    -- Ask about all rows that may match the same half.
    if is_sure or found.is_booked then
      used_halves := used_halves || half_id;
    end if;
    return next;
  end loop;
end
$$;
comment on function app.pair_halves is
  'Returns rows that are, or may be, the other half of a transfer. At most one half counts as spending; payment_ids '
  'are payments that turn out to be transfers. Rows named like the other account come first, then the nearest days.';
