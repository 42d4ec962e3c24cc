-- settle_up: what one member gave another for shared costs; and what they owe each other.

create or replace function app.list_balances() returns table (from_id uuid, to_id uuid, currency text, minor bigint)
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
        where s.member_id <> s.paid_by and s.organization_id = (select identity.current_organization_id())
        union all
        select t.to_id, t.from_id, t.currency, t.amount_minor
        from app.settlements as t
        where t.deleted_at is null and t.organization_id = (select identity.current_organization_id())
      ) as o
      group by 1, 2, 3
    ) as b
    where b.net <> 0
    order by b.currency, abs(b.net) desc, b.one, b.other;
end
$$;
comment on function app.list_balances is
  'Who owes whom how much, in each currency, as far as the person may know: never both ways, never nothing.';

create or replace function app.describe_balances() returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('balances', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'from', app.member_name(b.from_id), 'to', app.member_name(b.to_id),
      'amount', app.format_amount(b.minor, b.currency), 'currency', b.currency
    ))), '[]')
    from app.list_balances() as b
  ), 'settlements', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', t.id, 'from', app.member_name(t.from_id), 'to', app.member_name(t.to_id),
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
  '{balances: [{from?, to?, amount, currency}], settlements: the last ten}: from owes to; a former member has no name.';

create or replace function app.describe_own_balances(recipient identity.profiles) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- The page of the books has all.
  max_listed constant int := 10;
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'owes', b.owes, 'who', app.member_name(b.other_id), 'currency', b.currency,
      'amount', case when not recipient.hide_amounts_in_email then app.format_amount(b.minor, b.currency) end
    ) order by b.place), '[]')
    from (
      select l.place, l.currency, l.minor, l.from_id = recipient.user_id as owes,
        case l.from_id when recipient.user_id then l.to_id else l.from_id end as other_id
      from app.list_balances() with ordinality as l (from_id, to_id, currency, minor, place)
      where recipient.user_id in (l.from_id, l.to_id)
      order by l.place
      limit max_listed
    ) as b
  );
end
$$;
comment on function app.describe_own_balances is
  'What somebody owes and is owed, for their digest: [{owes, who, currency, amount}]; who is null for a former member, '
  'amount where it is hidden.';
-- As the person whose digest it is.
alter function app.describe_own_balances set role = 'authenticated';

create or replace function app.find_party(context app.context, wanted text, field text) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  former uuid[];
begin
  if lower(app.clean_text(wanted)) is distinct from 'former member' then
    return app.find_member(context, app.clean_text(wanted), field);
  end if;
  former := array(
    select distinct p.id from app.list_balances() as b cross join lateral (values (b.from_id), (b.to_id)) as p (id)
    where not exists (select from identity.memberships as m where m.user_id = p.id)
  );
  if cardinality(former) <> 1 then
    perform app.fail('not_found.member', jsonb_build_object('member', wanted, 'details', jsonb_build_object(
      'members', (select jsonb_agg(app.member_name(m.user_id) order by m.created_at) from identity.memberships as m)
    )), find_party.field);
  end if;
  return former[1];
end
$$;
comment on function app.find_party is
  'A member, or the only former one who owes or is owed, called "former member".';

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
  'Who gave and who got: one left out is the caller; both left out, the one pair that the caller is of.';

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
  names constant jsonb := jsonb_build_object(
    'from', app.member_name(parties.from_id), 'to', app.member_name(parties.to_id)
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
  'Tool settle_up: data {settlement {status, id?, from?, to?, amount, currency, date}, balances: what is owed then}. '
  'Without an amount the whole balance.';
