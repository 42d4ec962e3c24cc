-- Shared costs: the payer, and the members who share. The rule is a column of the shared record, so that undo, previews
-- and proposals cover it. app.payment_shares derives each member's share to the minor unit.

create or replace function app.is_sharing(sharing jsonb) returns boolean
language plpgsql immutable strict set search_path = '' as $$
begin
  return sharing ->> 'how' in ('equally', 'shares', 'amounts')
    and jsonb_array_length(sharing -> 'parts') in (select generate_series(1, 50))
    and not exists (
      select from jsonb_array_elements(sharing -> 'parts') as p
      where (p.value ->> 'member_id')::uuid is null or coalesce((p.value ->> 'weight')::numeric, 0) < 1
        or (p.value ->> 'weight')::numeric > 1000000000000000
    );
end
$$;
comment on function app.is_sharing is
  'Whether a value has the form {how: equally, shares or amounts, parts: [{member_id, weight}]}. The weight of an '
  'amount is its minor units.';

create or replace function app.share_amount(amount_minor bigint, paid_by uuid, sharing jsonb)
  returns table (member_id uuid, minor bigint)
language plpgsql immutable set search_path = '' as $$
begin
  return query
    with parts as (
      select (p.value ->> 'member_id')::uuid as member_id, (p.value ->> 'weight')::numeric as weight
      from jsonb_array_elements(sharing -> 'parts') as p
    ), others as (
      select p.member_id, div(amount_minor * p.weight, t.weight)::bigint as minor
      from parts as p
      cross join (select sum(a.weight) as weight from parts as a) as t
      where p.member_id <> paid_by
    )
    select o.member_id, o.minor from others as o
    union all
    select paid_by, amount_minor - coalesce((select sum(o.minor) from others as o), 0)::bigint;
end
$$;
comment on function app.share_amount is
  'Returns each member''s share of an amount, by weight, rounded down. The remainder goes to the payer, even without '
  'a share.';
