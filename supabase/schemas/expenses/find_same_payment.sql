create or replace function app.former_payments(day date)
returns
  table (kept_id text, expense_id text, amount_minor bigint, currency text, direction text, recorded_seq bigint)
language sql stable
begin atomic
  select p.merged_into, p.expense_id, p.amount_minor, p.currency, p.direction, p.recorded_seq
  from app.payments as p
  where p.paid_on = day and p.merged_into is not null
    and exists (select from app.payments as k where k.id = p.merged_into and k.deleted_at is null)
  union all
  select (array_agg(p.id order by p.recorded_seq))[1], (array_agg(p.expense_id order by p.recorded_seq))[1],
    sum(p.amount_minor)::bigint, p.currency, p.direction, min(p.recorded_seq)
  from (
    -- Order like the index by day, because a plan made on an empty table might use another index.
    select p.* from app.payments as p
    where p.paid_on = day and p.deleted_at is null and p.split_id is not null
    order by p.recorded_seq offset 0
  ) as p
  group by p.split_id, p.currency, p.direction;
end;
comment on function app.former_payments is
  'Returns payments in a form that statements still use and the books don''t: merged payments, and splits as one '
  'payment. Each comes with the payment that replaced it.';

create or replace function app.find_external(external_id text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(
    (
      select e.id
      from app.expenses as e
      where e.external_id = find_external.external_id and e.source = 'assistant' and e.deleted_at is null
      order by e.recorded_seq desc
      limit 1
    ),
    (
      select app.shown_id(k.id)
      from app.payments as p
      join app.payments as k on k.id = p.merged_into and k.deleted_at is null
      join app.expenses as e on e.id = p.expense_id
      where p.merged_into is not null and e.external_id = find_external.external_id and e.source = 'assistant'
      order by p.recorded_seq desc
      limit 1
    )
  );
end
$$;
comment on function app.find_external is
  'Returns the expense with this external id, or the record that replaced it in a merge; null when there is none.';

-- Planned once per session, since planning under row-level security takes longer than the lookup.
create or replace function app.find_same_payment(draft jsonb) returns text
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
begin
  return (
    -- Include bill payments, because logging the rent after marking it paid would count it twice.
    select app.shown_id(p.kept_id)
    from (
      (
        select p.id as kept_id, p.recorded_seq
        from app.payments as p
        join app.expenses as e on e.id = p.expense_id
        where p.paid_on = (draft ->> 'paid_on')::date and p.amount_minor = (draft ->> 'amount_minor')::bigint
          and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
          and p.deleted_at is null and e.match_key = draft ->> 'match_key'
        order by p.recorded_seq desc
        limit 1
      )
      union all
      select p.kept_id, p.recorded_seq
      from app.former_payments((draft ->> 'paid_on')::date) as p
      -- Look up laterally, because a join would sum the day's splits again for each expense of this name.
      cross join lateral (select e.match_key from app.expenses as e where e.id = p.expense_id offset 0) as e
      where p.amount_minor = (draft ->> 'amount_minor')::bigint
        and p.currency = draft ->> 'currency' and p.direction = draft ->> 'direction'
        and e.match_key = draft ->> 'match_key'
      union all
      (
        -- The same expense without its payee, or a bank row of the same day or up to five days later.
        select p.id, p.recorded_seq
        from (
          -- Order like the index by day, because a plan made on an empty table might use another index.
          select near.* from app.payments as near
          where near.paid_on between (draft ->> 'paid_on')::date and (draft ->> 'paid_on')::date + 5
            and near.amount_minor = (draft ->> 'amount_minor')::bigint
            and near.currency = draft ->> 'currency' and near.direction = draft ->> 'direction'
            and near.deleted_at is null and near.split_id is null
          order by near.paid_on, near.recorded_seq offset 0
        ) as p
        cross join lateral (
          select one.name, one.payee from app.expenses as one
          where one.id = p.expense_id and one.kind = 'one_off'
          offset 0
        ) as e
        where case when p.source = 'import'
            then app.names_agree(draft ->> 'name', draft ->> 'payee', e.name, e.payee, true)
            else p.paid_on = (draft ->> 'paid_on')::date and lower(e.name) = lower(draft ->> 'name')
              and (e.payee is null or not draft ? 'payee') end
        order by p.recorded_seq desc
        limit 1
      )
    ) as p
    order by p.recorded_seq desc
    limit 1
  );
end
$$;
comment on function app.find_same_payment is
  'Returns the expense or bill payment with the same day, amount, currency, direction and payee (or name, without a '
  'payee). Also matches a similarly named bank row up to five days later. Returns null when there is none.';
