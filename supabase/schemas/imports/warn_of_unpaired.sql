create or replace function app.warn_of_unpaired(context app.context, since date) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  days constant int := 5;
  most constant int := 5;
  members constant text[] := array(
    select array_to_string(m.own, ' ') from app.list_member_words(context) as m where m.own <> '{}'
  );
begin
  return (
    with free as materialized (
      select l.* from app.statement_lines as l
      where l.organization_id = context.organization_id and l.booked_on >= since and not l.is_skipped
        and l.kind in ('expense', 'income', 'own_transfer') and l.other_half_id is null
        and l.answered ->> 'is' is distinct from 'new' and identity.sees_everything()
        and not exists (select from app.statement_lines as o where o.other_half_id = l.id)
    )
    select case when count(*) = 0 then '[]'::jsonb else jsonb_build_array(app.warning('halves_counted',
      jsonb_build_object('pairs', jsonb_agg(p.pair))
    )) end
    from (
      select jsonb_build_object(
        'name', left(o.text, 80), 'date', o.booked_on, 'account', a.name, 'currency', o.currency,
        'amount', app.format_amount(o.amount_minor, o.currency), 'ids', array_remove(array[e.id, i.id], null)
      ) as pair
      from free as o
      join free as c on c.amount_minor = o.amount_minor and c.currency = o.currency and c.account_id <> o.account_id
      join app.accounts as a on a.id = c.account_id
      join app.accounts as b on b.id = o.account_id
      join app.statement_links as k on k.line_id = o.id
      join app.payments as p on p.id = k.payment_id and p.deleted_at is null
      join app.expenses as e on e.id = p.expense_id and e.kind = 'one_off'
      left join app.incomes as i on i.line_id = c.id and i.deleted_at is null
      where o.kind = 'expense' and o.direction = 'out' and c.direction = 'refund'
        and (c.kind = 'own_transfer' or i.id is not null) and abs(o.booked_on - c.booked_on) <= days
        and app.are_evident_halves(array[c.text, i.name], a.name, o.text, b.name, members)
      order by o.booked_on desc, o.id
      limit most
    ) as p
  );
end
$$;
comment on function app.warn_of_unpaired is
  'Warns people who see everything of expenses that seem to be transfers, because somebody who may not see them '
  'imported the other half: {pairs: [{name, date, amount, currency, account of the other half, ids}]}, at most five.';
