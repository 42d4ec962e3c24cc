-- sync_bill_amounts: fetching amounts from providers takes two database calls. The first leases the links that may be
-- queried, so that no other run queries them at the same time and none is queried twice in an hour. The second stores
-- the results.

create or replace function app.describe_unasked(context app.context, bill app.expenses, link app.provider_links,
  statement_month date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  provider constant text := app.provider_name(link);
  -- The owner's month may begin before the providers' month, which is in UTC.
  is_over constant boolean := statement_month + interval '1 month' <= context.at at time zone 'UTC';
begin
  return (
    select
      jsonb_build_object('bill_id', bill.id, 'name', bill.name, 'status', u.status, 'said',
      app.sync_fact(u.code, jsonb_build_object(
      'name', bill.name, 'provider', provider, 'status', bill.status, 'month', to_char(statement_month, 'YYYY-MM')
      )))
    from (
      select case
        when link.id is null then array['failed', 'not_connected']
        when link.status = 'needs_reauth' then array['needs_reauth', 'auth']
        when link.status <> 'active' then array['failed', 'connection_not_ready']
        when bill.status <> 'active' then array['failed', 'bill_inactive']
        when bill.amount_mode <> 'variable' then array['failed', 'same_amount_not_asked']
        when not is_over then array['not_ready', 'not_ready']
        when link.ask_after > context.at then array['failed', 'rate_limited']
        when link.leased_until > context.at then array['unchanged', 'being_asked']
        when link.asked_at > context.at - interval '1 hour' then array['unchanged', 'asked_lately']
        else array['unchanged', 'not_asked_yet']
      end as kind
    ) as k
    cross join lateral (select k.kind[1] as status, k.kind[2] as code) as u
  );
end
$$;
comment on function app.describe_unasked is
  'Returns the answer for a bill whose provider this call does not query: {bill_id, name, status, said}.';

create or replace function app.sync_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text[] := array(select jsonb_array_elements_text(arguments -> 'bill_ids'));
  due_month constant text := coalesce(arguments ->> 'period', to_char(context.today, 'YYYY-MM'));
  -- The statement's month: the one before the due date.
  statement_month date;
  missing text;
  asked text[] := '{}';
  result jsonb;
begin
  if not identity.organization_has_feature(context.organization_id, 'bills:variable', context.at) then
    perform app.fail('feature_not_in_plan.providers', jsonb_build_object(
      'organization', context.organization_name,
      'details', jsonb_build_object('feature', 'bills:variable', 'required_plan', 'team')
    ));
  end if;
  if due_month !~ '^(199\d|20\d\d)-(0[1-9]|1[0-2])$' or due_month > to_char(context.today, 'YYYY-MM') then
    perform app.fail('date_out_of_range.month_to_come', jsonb_build_object('month', due_month), 'period');
  end if;
  statement_month := (due_month || '-01')::date - interval '1 month';
  select w into missing from unnest(wanted) as w
  where not exists (select from app.expenses as e where e.id = w and e.kind = 'bill' and e.deleted_at is null);
  if found then
    perform app.fail(
      'not_found.bill', jsonb_build_object('id', missing, 'organization', context.organization_name), 'bill_ids'
    );
  end if;

  if wanted = '{}' and not exists (
    select from app.provider_links as l
    join app.expenses as e on e.id = l.expense_id
    where l.organization_id = context.organization_id and l.status <> 'revoked' and e.deleted_at is null
  ) then
    perform app.fail('not_found.connection', jsonb_build_object('organization', context.organization_name));
  end if;

  -- Choose once, as a list of ids. Otherwise the plan might choose again for each link, and skip links that it has just
  -- leased.
  with chosen as materialized (
    select c.id
    from app.provider_links as c
    join app.expenses as e on e.id = c.expense_id
    where c.organization_id = context.organization_id and c.status = 'active'
      and (wanted = '{}' or c.expense_id = any (wanted))
      and e.status = 'active' and e.amount_mode = 'variable' and e.deleted_at is null
        and statement_month + interval '1 month' <= context.at at time zone 'UTC'
      and (c.asked_at is null or c.asked_at <= context.at - interval '1 hour')
      and (c.ask_after is null or c.ask_after <= context.at)
        and (c.leased_until is null or c.leased_until <= context.at)
    order by c.asked_at nulls first, c.id
    limit 20
    for update of c skip locked
  ), free as (
    update app.provider_links as l
    -- The answers set asked_at, not this step. If the second call fails, links then wait only until their lease ends,
    -- not an hour.
    set lease_token = gen_random_uuid(), leased_until = context.at + interval '90 seconds',
      backlog = case when arguments ? 'period' then l.backlog else app.missing_months(l, statement_month) end
    from chosen as c
    where l.id = c.id
    returning l.id
  )
  select coalesce(array_agg(id), '{}') into asked from free;

  select jsonb_build_object(
    'bills', coalesce(jsonb_agg(app.describe_unasked(context, e, l, statement_month) order by e.name collate "C", e.id)
      filter (where l.id is null or l.id <> all (asked)), '[]'),
    'pending', (
      select jsonb_agg(to_jsonb(p) - array['name', 'place'] order by p.place, p.name collate "C", p.link_id)
      from (
        select e.name, l.id as link_id, l.provider_key, l.lease_token, m.period, m.place
        from app.provider_links as l
        join app.expenses as e on e.id = l.expense_id
        cross join lateral unnest(
          statement_month || case when arguments ? 'period' then '{}' else l.backlog end
        ) with ordinality as m (period, place)
        where l.id = any (asked)
        order by m.place, e.name collate "C", l.id
        limit 60
      ) as p
    )
  ) into result
  from app.expenses as e
  left join app.provider_links as l on l.expense_id = e.id and l.status <> 'revoked'
  where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
    and (e.id = any (wanted) or wanted = '{}' and l.id is not null);
  return jsonb_build_object('data', result);
end
$$;
comment on function app.sync_bill_amounts is
  'First call of tool sync_bill_amounts. Returns data {bills, pending? [{link_id, provider_key, lease_token, '
  'period}]}; period is the first day of a statement''s month. Without the argument period, pending includes earlier '
  'months without an amount. bills has the answers for links that are not queried. At most 20 links and 60 months are '
  'pending at once.';

create or replace function app.store_bill_amounts(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bills jsonb := coalesce(arguments -> 'bills', '[]');
  result jsonb;
  stored jsonb;
  link app.provider_links;
  updated text[] := '{}';
  is_last boolean;
begin
  perform from app.expenses as e
  where e.id in (
    select l.expense_id
    from jsonb_array_elements(arguments -> 'results') as r join app.provider_links as l on l.id = r ->> 'link_id'
  )
  order by e.id for no key update;
  perform app.hold_organization(context.organization_id);
  for result, is_last in
    select r.value, row_number() over (partition by r.value ->> 'link_id' order by r.place desc) = 1
    from jsonb_array_elements(arguments -> 'results') with ordinality as r (value, place)
    order by r.place
  loop
    select * into link from app.provider_links as l
    where l.id = result ->> 'link_id' and l.lease_token = (result ->> 'lease_token')::uuid and l.status = 'active'
    for update;
    if found then
      stored := app.keep_answer(context, link, (result ->> 'period')::date, result -> 'answer', true,
        is_last) - array['code', 'reason'];
    else
      -- Another call took the lease or the connection ended meanwhile.
      select jsonb_build_object(
        'bill_id', e.id, 'name', e.name, 'status', 'failed', 'said',
        app.sync_fact('connection_changed', jsonb_build_object('name', e.name))
      )
      into stored
      from app.provider_links as l join app.expenses as e on e.id = l.expense_id
      where l.id = result ->> 'link_id';
    end if;
    bills := bills || stored;
    if stored ->> 'status' = 'updated' and stored ->> 'name' <> all (updated) then
      updated := updated || (stored ->> 'name');
    end if;
  end loop;
  return jsonb_build_object('data', jsonb_build_object('bills', bills), 'facts', jsonb_build_object('names', updated));
end
$$;
comment on function app.store_bill_amounts is
  'Second call of tool sync_bill_amounts, with the results of the queries: results [{link_id, lease_token, period, '
  'answer}], answer in the form of app.keep_answer. Returns data {bills}.';
