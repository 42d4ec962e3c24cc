-- settle_up: settlements between members for shared costs, and their balances.

create or replace function app.sum_balances(organization_id text)
  returns table (from_id uuid, to_id uuid, currency text, minor bigint)
language plpgsql stable set search_path = '' as $$
begin
  return query
    select case when b.net > 0 then b.one else b.other end, case when b.net > 0 then b.other else b.one end, b.currency,
      abs(b.net)::bigint
    from (
      select least(o.from_id, o.to_id) as one, greatest(o.from_id, o.to_id) as other, o.currency,
        sum(case when o.from_id < o.to_id then o.minor else -o.minor end) as net
      from (
        select s.member_id as from_id, s.paid_by as to_id, s.currency, s.minor
        from app.payment_shares as s
        where s.member_id <> s.paid_by and s.organization_id = sum_balances.organization_id
        union all
        select t.to_id, t.from_id, t.currency, t.amount_minor
        from app.settlements as t
        where t.deleted_at is null and t.organization_id = sum_balances.organization_id
      ) as o
      group by 1, 2, 3
    ) as b
    where b.net <> 0
    order by b.currency, abs(b.net) desc, b.one, b.other;
end
$$;
comment on function app.sum_balances is
  'Returns the debts between members, by currency, from the rows that the person sees: net per pair, without zero.';

create or replace function app.list_balances() returns table (from_id uuid, to_id uuid, currency text, minor bigint)
language plpgsql stable set search_path = '' as $$
begin
  return query select * from app.sum_balances(identity.current_organization_id());
end
$$;
comment on function app.list_balances is 'Returns the current organization''s balances that the person may see.';

create or replace function app.balances_of(organization_id text, user_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'owes', b.from_id = balances_of.user_id, 'currency', b.currency,
      'who', app.member_name(case b.from_id when balances_of.user_id then b.to_id else b.from_id end),
      'amount', app.format_amount(b.minor, b.currency)
    ) order by b.place), '[]')
    from app.sum_balances(organization_id) with ordinality as b (from_id, to_id, currency, minor, place)
    where balances_of.user_id in (b.from_id, b.to_id)
  );
end
$$;
comment on function app.balances_of is
  'Returns a person''s debts and claims in an organization, for the service: [{owes, who, currency, amount}].';
revoke all on function app.balances_of from authenticated;

create or replace function app.name_parties(ids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  -- security definer: people see only members' profiles, but a debt keeps showing the name of a former member.
  return (
    select coalesce(jsonb_object_agg(n.id, coalesce(
      n.email, case when n.nameless > 1 then 'former member ' || left(n.id::text, 4) end
    )), '{}')
    from (
      select i.id, p.email, count(*) filter (where p.email is null) over () as nameless
      from (select distinct unnest(ids) as id) as i
      left join identity.profiles as p on p.user_id = i.id
      where exists (
        select from app.payment_shares as s
        where s.organization_id = identity.current_organization_id() and i.id in (s.member_id, s.paid_by)
      ) or exists (
        select from app.settlements as t
        where t.organization_id = identity.current_organization_id() and i.id in (t.from_id, t.to_id)
      )
    ) as n
  );
end
$$;
comment on function app.name_parties is
  'Returns the addresses of people with shared costs in the current organization, by id. A deleted account has no '
  'address: null, or "former member 3f2a" when there are several.';

create or replace function app.describe_balances() returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  names constant jsonb := app.name_parties(array(
    select b.from_id from app.list_balances() as b union select b.to_id from app.list_balances() as b
    union select t.from_id from app.settlements as t union select t.to_id from app.settlements as t
  ));
begin
  return jsonb_build_object('balances', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'from', names -> b.from_id::text, 'to', names -> b.to_id::text,
      'amount', app.format_amount(b.minor, b.currency), 'currency', b.currency
    ))), '[]')
    from app.list_balances() as b
  ), 'settlements', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', t.id, 'from', names -> t.from_id::text, 'to', names -> t.to_id::text,
      'amount', app.format_amount(t.amount_minor, t.currency), 'currency', t.currency, 'date', t.paid_on, 'note', t.note
    )) order by t.paid_on desc, t.recorded_seq desc), '[]')
    from (
      select * from app.settlements as t where t.deleted_at is null order by t.paid_on desc, t.recorded_seq desc
        limit 10
    ) as t
  ));
end
$$;
comment on function app.describe_balances is
  'Returns {balances: [{from?, to?, amount, currency}], settlements: the last ten}; from owes to. A deleted account '
  'has no name.';

create or replace function app.describe_own_balances(recipient identity.profiles) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The books page lists them all.
  max_listed constant int := 10;
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'owes', b.from_id = recipient.user_id, 'who', app.name_parties(array[o.id]) -> o.id::text,
      'currency', b.currency,
      'amount', case when not recipient.hide_amounts_in_email then app.format_amount(b.minor, b.currency) end
    ) order by b.place), '[]')
    from (
      select * from app.list_balances() with ordinality as l (from_id, to_id, currency, minor, place)
      where recipient.user_id in (l.from_id, l.to_id) order by l.place limit max_listed
    ) as b
    cross join lateral (select case b.from_id when recipient.user_id then b.to_id else b.from_id end as id) as o
  );
end
$$;
comment on function app.describe_own_balances is
  'Returns a person''s balances for their digest: [{owes, who, currency, amount}]; who is null for a deleted account, '
  'amount null when hidden.';
-- Runs as the digest's recipient.
alter function app.describe_own_balances set role = 'authenticated';

create or replace function app.find_party(context app.context, wanted text, field text) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  said constant text := regexp_replace(lower(app.clean_text(wanted)), '^(a|the) former', 'former');
  former constant jsonb := app.name_parties(array(
    select distinct p.id from app.list_balances() as b cross join lateral (values (b.from_id), (b.to_id)) as p (id)
    where not exists (select from identity.memberships as m where m.user_id = p.id)
  ));
  members constant text[] := array(
    select lower(app.member_name(m.user_id)) from identity.memberships as m
    where strpos(lower(app.member_name(m.user_id)), said) > 0
  );
  found jsonb;
begin
  if former = '{}' or said is null or said = 'me' or said = any (members) then
    return app.find_member(context, app.clean_text(wanted), field);
  end if;
  -- The best match wins: a name as shown in answers, then any former member, then a part of an address.
  select jsonb_agg(jsonb_build_object('id', n.id, 'name', n.name)) into found
  from (
    select n.id, n.name, rank() over (order by n.place) as place
    from (
      select f.key as id, f.value as name, case
          when said in (lower(f.value), 'former member ' || left(f.key, 4)) then 1
          when said = 'former member' and f.value is null then 1
          when said = 'former member' then 2
          when strpos(lower(f.value), said) > 0 then 3
        end as place
      from jsonb_each_text(former) as f
    ) as n
    where n.place is not null
  ) as n
  where n.place = 1;
  if jsonb_array_length(found) = 1 and members = '{}' then
    return found #>> '{0,id}';
  elsif found is null then
    return app.find_member(context, app.clean_text(wanted), field);
  end if;
  perform app.fail('not_found.member', jsonb_build_object('member', wanted, 'details', jsonb_build_object(
    'members', to_jsonb(members) || jsonb_path_query_array(found, '$[*].name')
  )), find_party.field);
  return null;
end
$$;
comment on function app.find_party is
  'Returns a member, or a former one with a balance, by displayed name, "former member" or part of the address. Ends '
  'the tool with not_found and candidates.';

create or replace function app.choose_parties(context app.context, arguments jsonb, out from_id uuid, out to_id uuid)
language plpgsql stable set search_path = '' as $$
declare
  sole record;
begin
  from_id := app.find_party(context, arguments ->> 'from', 'from');
  to_id := app.find_party(context, arguments ->> 'to', 'to');
  if num_nonnulls(from_id, to_id) = 0 then
    select count(distinct (b.from_id, b.to_id)) as pairs, min(b.from_id::text)::uuid as payer,
      min(b.to_id::text)::uuid as payee
    into sole
    from app.list_balances() as b
    where context.actor_id in (b.from_id, b.to_id);
    if sole.pairs <> 1 then
      perform app.fail('invalid_argument.settle_with_whom', app.describe_balances() - 'settlements', 'to');
    end if;
    from_id := sole.payer;
    to_id := sole.payee;
  end if;
  from_id := coalesce(from_id, context.actor_id);
  to_id := coalesce(to_id, context.actor_id);
  if from_id = to_id then
    perform app.fail('invalid_argument.settle_with_whom', app.describe_balances() - 'settlements', 'to');
  end if;
  if context.actor_id not in (from_id, to_id) and not identity.may('settings:write') then
    perform app.fail('forbidden_role.settle_others', app.list_who_may('settings:write'));
  end if;
end
$$;
comment on function app.choose_parties is
  'Returns the giver and the receiver. A missing one is the caller. If both are missing, they are the only pair that '
  'includes the caller.';

create or replace function app.settle_up(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  parties constant record := app.choose_parties(context, arguments);
  day constant date := app.parse_paid_on(context, coalesce(arguments ->> 'date', 'today'), 'date');
  currencies constant text[] := array(
    select b.currency from app.list_balances() as b
    where b.from_id = parties.from_id and b.to_id = parties.to_id
      and b.currency = coalesce(arguments ->> 'currency', b.currency)
  );
  code constant text := coalesce(
    arguments ->> 'currency', case when cardinality(currencies) = 1 then currencies[1] end,
    case when arguments ? 'amount' and currencies = '{}' then context.base_currency end
  );
  owed constant bigint := (
    select b.minor from app.list_balances() as b
    where b.from_id = parties.from_id and b.to_id = parties.to_id and b.currency = code
  );
  minor constant bigint := coalesce(
    case when arguments ? 'amount' and code is not null
      then app.parse_amount(arguments ->> 'amount', code, 'amount') end,
    owed
  );
  known constant jsonb := app.name_parties(array[parties.from_id, parties.to_id]);
  names constant jsonb := jsonb_build_object(
    'from', coalesce(app.member_name(parties.from_id), known ->> parties.from_id::text),
    'to', coalesce(app.member_name(parties.to_id), known ->> parties.to_id::text)
  );
  facts jsonb;
  same_id text;
  settlement_id text;
begin
  if cardinality(currencies) > 1 and code is null then
    perform app.fail('invalid_argument.settle_which_currency', names || jsonb_build_object('currencies', currencies),
      'currency');
  end if;
  if minor is null then
    perform app.fail('invalid_argument.nothing_owed',
      names || jsonb_build_object('currency', code) || (app.describe_balances() - 'settlements'), 'amount');
  end if;
  if arguments ->> 'on_duplicate' is distinct from 'allow' then
    same_id := (
      select t.id from app.settlements as t
      where t.from_id = parties.from_id and t.to_id = parties.to_id and t.deleted_at is null
        and (t.amount_minor, t.currency, t.paid_on) = (minor, code, day)
      order by t.recorded_seq desc
      limit 1
    );
  end if;
  facts := names || jsonb_build_object(
    'amount', app.format_amount(minor, code), 'currency', code, 'date', day
  );
  if same_id is null then
    insert into app.settlements as t (
      organization_id, from_id, to_id, amount_minor, currency, paid_on, note, created_by
    ) values (
      context.organization_id, parties.from_id, parties.to_id, minor, code,
      day, nullif(btrim(arguments ->> 'note'), ''), context.actor_id
    ) returning t.id into settlement_id;
  end if;
  return jsonb_build_object(
    'data', jsonb_build_object('settlement', jsonb_strip_nulls(facts || jsonb_build_object(
      'status', case when same_id is not null then 'duplicate' when (arguments ->> 'dry_run')::boolean
        then 'would_create' else 'created' end,
      'note', nullif(btrim(arguments ->> 'note'), ''),
      'id', coalesce(same_id, case when (arguments ->> 'dry_run')::boolean is not true then settlement_id end)
    )), 'balances', app.describe_balances() -> 'balances'),
    'warnings', case when same_id is not null then jsonb_build_array(app.warning('duplicate.settlement', facts))
      when minor > coalesce(owed, 0) then jsonb_build_array(app.warning('more_than_owed', facts
        || jsonb_build_object('owed', app.format_amount(coalesce(owed, 0), code))))
      else '[]' end,
    'facts', facts
  );
end
$$;
comment on function app.settle_up is
  'Tool settle_up. Returns data {settlement {status, id?, from?, to?, amount, currency, date}, balances: after it}. '
  'Without an amount, it settles the whole balance.';
