create or replace function app.find_duplicates(context app.context, wanted_key text default null)
  returns table (rank date, finding jsonb)
language sql stable
begin atomic
  -- Groups instead of joining: compares each bill with the previous one of the same payee, frequency and currency.
  -- Their names are the same, or their amounts are the same now or were within the last year.
  select null::date, jsonb_build_object(
    'bill_id', two.id, 'name', two.name, 'other_bill_id', one.id, 'other_name', one.name,
    'amount',
    app.format_minor(two.amount_minor, (select c.exponent from app.currencies as c where c.code = two.currency)),
    'currency', two.currency,
    'other_amount', case when one.amount_minor <> two.amount_minor
      then
        app.format_minor(one.amount_minor,
        (select c.exponent from app.currencies as c where c.code = two.currency)) end,
    'schedule', app.describe_schedule(two)
  )
  from (
    select distinct on (t.id) t.id, t.earlier_id
    from (
      select b.id, lag(b.id) over same as earlier_id, same.minor
      from app.expenses as b
      cross join lateral (
        select b.amount_minor as minor, null as name where b.amount_minor is not null
        union
        select o.expected_minor as minor, null as name
        from app.expense_occurrences as o
        where b.version > 1 and o.expense_id = b.id and o.amount_source = 'rule' and o.expected_minor is not null
          and o.currency = b.currency and o.scheduled_on >= ((context).today - interval '1 year')::date
        union all
        select null as minor, lower(b.name) as name
      ) as same
      where b.organization_id = (context).organization_id and b.kind = 'bill' and b.status = 'active'
        and b.deleted_at is null and b.frequency <> 'once'
        and (wanted_key is null or b.match_key = wanted_key)
      window same as (
        partition by b.match_key, b.frequency, b.every, b.currency, same.minor, same.name order by b.recorded_seq
      )
    ) as t
    where t.earlier_id is not null
    order by t.id, t.minor nulls last
  ) as pair
  cross join lateral (select * from app.expenses as b where b.id = pair.id offset 0) as two
  cross join lateral (select * from app.expenses as b where b.id = pair.earlier_id offset 0) as one;
end;
comment on function app.find_duplicates is
  'Returns active bills that duplicate an earlier one: they have the same payee, frequency and currency, and the same '
  'name or (now or within a year) the same amount. The later bill comes first. wanted_key limits them to one payee '
  '(match_key).';

create or replace function app.find_provider_trouble(context app.context) returns table (rank date, finding jsonb)
language sql stable
begin atomic
  select l.last_success_period, jsonb_build_object(
    'bill_id', b.id, 'name', b.name, 'provider', app.provider_name(l), 'account', l.account_label, 'status', f.status,
    'last_success_period', to_char(l.last_success_period, 'YYYY-MM'), 'kind', f.kind,
    'needs_review', case when f.kind = 'needs_review' then app.describe_link(context, l) -> 'needs_review' end,
    'missing_period', case when f.kind = 'amount_missing' then to_char(month.start, 'YYYY-MM') end
  )
  from app.provider_links as l
  join app.expenses as b on b.id = l.expense_id and b.deleted_at is null
  cross join lateral (select (date_trunc('month', (context).today) - interval '1 month')::date as start) as month
  left join lateral app.open_question(l) as q on true
  cross join lateral (select app.link_status(l, (context).at) as status) as s
  cross join lateral (
    select s.status, case
      when s.status in ('needs_reauth', 'paused', 'paused_by_plan') then s.status
      when s.status = 'active' and l.consecutive_failures > 0 then 'failed'
      when (q.statement).id is not null then 'needs_review'
      -- Amounts are fetched daily until the 10th. After that, an amount is missing if a date of this month waits for
      -- it.
      when s.status = 'active' and extract(day from (context).today) > 10
        and l.created_at < month.start + interval '1 month 10 days'
        and coalesce(l.last_success_period < month.start, true) and exists (
          select from app.expense_occurrences as o
          where o.expense_id = b.id and o.status = 'open' and o.expected_minor is null
            and o.scheduled_on >= month.start + interval '1 month'
              and o.scheduled_on < month.start + interval '2 months'
        ) then 'amount_missing'
    end as kind
  ) as f
  where l.organization_id = (context).organization_id and l.status <> 'revoked' and b.status = 'active'
    and b.amount_mode = 'variable' and f.kind is not null;
end;
comment on function app.find_provider_trouble is
  'Returns provider links of variable bills that need attention, by kind: needs_reauth, paused, paused_by_plan, '
  'failed, needs_review (the provider''s amount was not applied) or amount_missing (no statement by the 10th).';
