create or replace function app.expected_payer(bill app.expenses) returns uuid
language plpgsql stable set search_path = '' as $$
begin
  return coalesce(app.if_member(bill.payer_id, bill.organization_id),
    case when not bill.autopay then bill.created_by end);
end
$$;
comment on function app.expected_payer is 'Returns the future payer of a bill; null when autopay has no payer.';

create or replace function app.expected_shares(bill app.expenses, whole_minor bigint)
  returns table (member_id uuid, minor bigint)
language plpgsql stable set search_path = '' as $$
declare
  payer constant uuid := app.expected_payer(bill);
  sharing constant jsonb :=
    case when payer is not null then app.share_among_members(bill.sharing, bill.organization_id) end;
begin
  if sharing is null then
    return query select payer, whole_minor;
  else
    return query select s.member_id, s.minor from app.share_amount(whole_minor, payer, sharing) as s;
  end if;
end
$$;
comment on function app.expected_shares is
  'Returns each member''s share of a bill''s upcoming amount; empty when autopay has no payer.';

create or replace function app.list_expected(context app.context, filter app.expense_filter) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_agg(to_jsonb(x) || jsonb_build_object('name', e.name, 'expected_minor', borne.minor))
    from app.expected_in_period(context, filter.from_on, filter.to_on) as x
    join app.expenses as e on e.id = x.expense_id
    cross join lateral (
      select x.expected_minor as minor where filter.borne_by is null
      union all
      -- A share of an unknown amount is unknown too.
      select s.minor from app.expected_shares(e, x.expected_minor) as s
      where s.member_id = filter.borne_by and s.minor is distinct from 0
      offset 0
    ) as borne
    where (filter.currency is null or x.currency = filter.currency)
      and (filter.member_id is null or app.expected_payer(e) = filter.member_id) and filter.recorded_by is null
      and case when x.expected_minor is null then num_nonnulls(filter.min_minor, filter.max_minor) = 0
        else app.is_amount_within(filter, x.expected_minor, x.currency, (app.value_in_base(
          filter.amount_currency, x.expected_minor, x.currency, least(x.due_on, context.today)
        )).base_minor, filter.amount_currency) end
      and app.matches_filter(filter, e.category_id, e.tags, e.match_key, e.name, e.payee, e.note, null)
  );
end
$$;
comment on function app.list_expected is
  'Returns the upcoming dates of bills that match a filter: rows of app.expected_in_period with the bill''s name, and '
  'only the share of filter.borne_by; null for none.';
