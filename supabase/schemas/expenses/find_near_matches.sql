create or replace function app.find_near_matches(filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  most constant int := 3;
  most_names constant int := 300;
  wanted constant text := nullif(
    concat_ws(' ', filter.payee, translate(array_to_string(filter.words, ' '), '%\', '')), ''
  );
  wider app.expense_filter := filter;
  periods jsonb;
  named jsonb;
  amounts jsonb;
  near jsonb;
  transfers jsonb;
  transfer_totals jsonb;
  most_listed constant int := 30;
  first_on constant date := (
    select p.paid_on from app.payments as p
    where p.organization_id = identity.current_organization_id() and p.deleted_at is null
    order by p.paid_on limit 1
  );
begin
  wider.from_on := null;
  wider.to_on := null;
  if num_nonnulls(filter.from_on, filter.to_on) > 0 then
    select jsonb_agg(m.month order by m.name desc) into periods
    from (
      select s.name, jsonb_build_object('month', s.name, 'count', sum(s.count), 'totals_by_currency',
        jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))) as month
      from (
        select app.month_name(p.paid_on) as name, p.currency, count(*) as count,
          sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) as minor
        from app.find_payments(wider) as p
        group by 1, 2
      ) as s
      group by s.name
      order by s.name desc
      limit most
    ) as m;
  end if;
  if filter.payee is not null then
    wider.payee := null;
    wider.pattern := null;
    wider.words := filter.words || app.word_patterns(filter.payee);
    select jsonb_agg(n.name order by n.last_on desc) into named
    from (
      select coalesce(p.payee, p.name) as name, max(p.paid_on) as last_on
      from app.find_payments(wider) as p
      group by 1
      order by 2 desc
      limit most
    ) as n;
  end if;
  if wanted is not null and num_nonnulls(periods, named) = 0 then
    wider.words := null;
    select jsonb_agg(n.name order by n.likeness desc, n.name) into named
    from (
      select l.name, l.likeness
      from (
        select coalesce(p.payee, p.name) as name, max(p.paid_on) as last_on
        from app.find_payments(wider) as p
        group by 1
        order by 2 desc
        limit most_names
      ) as p
      cross join lateral (
        select p.name, app.text_likeness(app.fold_text(p.name), app.fold_text(wanted)) as likeness offset 0
      ) as l
      where l.likeness >= 0.5
      order by l.likeness desc, l.name
      limit most
    ) as n;
  end if;
  if filter.currency is not null then
    wider := filter;
    wider.currency := null;
    select jsonb_agg(a.found order by a.paid_on desc) into amounts
    from (
      select p.paid_on, jsonb_build_object('name', p.name, 'date', p.paid_on,
        'amount', app.format_amount(p.amount_minor, p.currency), 'currency', p.currency) as found
      from app.find_payments(wider) as p
      order by p.paid_on desc, p.recorded_seq desc
      limit most
    ) as a;
  end if;
  if wanted is not null then
    select jsonb_agg(t.found order by t.booked_on desc) into transfers
    from (
      select l.booked_on, jsonb_build_object('date', l.booked_on, 'text', left(l.text, 80), 'account', a.name,
        'amount', app.format_amount(case l.direction when 'out' then -l.amount_minor else l.amount_minor end,
          l.currency), 'currency', l.currency) as found
      from app.statement_lines as l
      join app.accounts as a on a.id = l.account_id
      where l.organization_id = identity.current_organization_id()
        and (l.kind in ('own_transfer', 'savings', 'exchange', 'top_up', 'card_payment') or l.other_half_id is not null)
        and l.booked_on between coalesce(filter.from_on, '-infinity') and coalesce(filter.to_on, 'infinity')
        and app.fold_text(l.text) like all (filter.words || app.word_patterns(filter.payee))
      order by l.booked_on desc, l.id
      limit most
    ) as t;
    if transfers is not null then
      transfer_totals := app.sum_transfers(null, coalesce(filter.from_on, '-infinity'),
        coalesce(filter.to_on, 'infinity'), filter.words || app.word_patterns(filter.payee));
    end if;
  end if;
  near := nullif(jsonb_strip_nulls(jsonb_build_object(
    -- Transfers between own accounts aren't spending.
    'own_transfers_left_out', transfers, 'own_transfer_totals', transfer_totals,
    -- The period ends before the first payment in the books.
    'books_begin', case when filter.to_on < first_on then first_on end,
    'other_periods', periods, 'similar_names', named, 'other_currencies', amounts,
    'similar_categories', case when wanted is not null and num_nonnulls(periods, named, filter.category_ids) = 0
      then to_jsonb(nullif(app.suggest_categories(wanted), '{}')) end
  )), '{}');
  if near is null and wanted is not null then
    -- The word may be in another language than the books.
    near := jsonb_build_object('nothing_resembles', wanted) || jsonb_strip_nulls(jsonb_build_object(
      'bills', (
        select jsonb_agg(distinct b.name)
        from (
          select e.name from app.expenses as e
          where e.organization_id = identity.current_organization_id() and e.kind = 'bill' and e.deleted_at is null
          order by e.status = 'active' desc, e.recorded_seq desc limit most_listed
        ) as b
      ),
      'categories', (
        select jsonb_agg(c.name order by lower(c.name))
        from (
          select c.name from app.categories as c where c.archived_at is null order by c.created_at desc, c.id
            limit most_listed
        ) as c
      )
    ));
  end if;
  return near;
end
$$;
comment on function app.find_near_matches is
  'Returns suggestions for a filter without results: matches in other months and currencies, similar payees and '
  'categories, transfers between own accounts, and the first day of the books after the period. Lists bills and '
  'categories when no name resembles the words; returns null without words.';
