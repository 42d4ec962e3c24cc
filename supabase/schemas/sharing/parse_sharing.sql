create or replace function app.list_sharers() returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select m.user_id
    from identity.memberships as m
    where exists (select from identity.role_rights as r where r.role = m.role and r."right" = 'books:write')
    order by m.created_at, m.user_id
  );
end
$$;
comment on function app.list_sharers is
  'Returns the members who may share costs: those whose role can write, in order of joining.';

create or replace function app.parse_sharing(
  context app.context, given jsonb, amount_minor bigint, currency text, field text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  how constant text :=
    case when given ? 'amounts' then 'amounts' when given ? 'shares' then 'shares' else 'equally' end;
  can_share constant uuid[] := app.list_sharers();
  members uuid[];
  weights numeric[];
begin
  if given -> 'between' = '[]' then
    return null;
  end if;
  if not given ? 'between' then
    members := can_share;
  else
    for i in 1..jsonb_array_length(given -> 'between') loop
      members := members || app.find_member(
        context, app.clean_text(given -> 'between' ->> (i - 1)), format('%s.between[%s]', field, i - 1)
      );
      if members[i] is null or members[i] <> all (can_share) then
        perform app.fail('invalid_argument.cannot_share', jsonb_build_object('who', app.member_name(members[i])),
          format('%s.between[%s]', field, i - 1));
      end if;
    end loop;
  end if;
  if cardinality(members) <> (select count(distinct m) from unnest(members) as m) then
    perform app.fail('invalid_argument.shared_twice', field => parse_sharing.field || '.between');
  end if;
  weights := case how
    when 'equally' then array_fill(1::numeric, array[cardinality(members)])
    when 'shares' then array(
      select s.value::numeric from jsonb_array_elements_text(given -> 'shares') with ordinality as s
        order by s.ordinality
    )
    else array(
      select app.parse_amount(a.value, parse_sharing.currency, parse_sharing.field || '.amounts')
      from jsonb_array_elements_text(given -> 'amounts') with ordinality as a
      order by a.ordinality
    )
  end;
  if cardinality(weights) <> cardinality(members) or given ?& array['shares', 'amounts'] then
    perform app.fail('invalid_argument.shares_do_not_match', jsonb_build_object(
      'people', cardinality(members), 'given', cardinality(weights)
    ), parse_sharing.field);
  end if;
  if how = 'amounts' and (select sum(w) from unnest(weights) as w) is distinct from amount_minor then
    perform app.fail('invalid_argument.shares_do_not_add_up', jsonb_build_object(
      'sum', app.format_amount((select sum(w) from unnest(weights) as w), currency),
      'amount', app.format_amount(amount_minor, currency), 'currency', currency
    ), parse_sharing.field || '.amounts');
  end if;
  return jsonb_build_object('how', how, 'parts', (
    select jsonb_agg(jsonb_build_object('member_id', p.member_id, 'weight', p.weight) order by p.place)
    from unnest(members, weights) with ordinality as p (member_id, weight, place)
  ));
end
$$;
comment on function app.parse_sharing is
  'Parses the shares of an amount from {between?: members, shares?: weights, amounts?}. By default, all members who '
  'can write share equally; null for an empty list of members.';

create or replace function app.parse_payer(context app.context, given text, field text) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  payer constant uuid := app.find_member(context, app.clean_text(given), field);
begin
  if payer is not null and payer <> all (app.list_sharers()) then
    perform app.fail('invalid_argument.cannot_share', jsonb_build_object('who', app.member_name(payer)), field);
  end if;
  return payer;
end
$$;
comment on function app.parse_payer is 'Returns the member who paid, by address or part of it; null stays null.';

create or replace function app.find_excluded(category_id text, members uuid[]) returns text
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select p.email
    from app.categories as c
    join unnest(members) as m (id) on not identity.member_may(c.organization_id, m.id, 'books:private')
    join identity.profiles as p on p.user_id = m.id
    where c.id = find_excluded.category_id and c.is_private
      and c.organization_id = identity.current_organization_id()
    order by p.email
    limit 1
  );
end
$$;
comment on function app.find_excluded is
  'Returns one of these members who cannot see a private category; null if all can.';

create or replace function app.check_shared(sharing jsonb, paid_by uuid, category_id text, field text) returns void
language plpgsql stable set search_path = '' as $$
declare
  excluded text;
begin
  if sharing is null then
    return;
  end if;
  excluded := app.find_excluded(category_id, array(
    select (p.value ->> 'member_id')::uuid from jsonb_array_elements(sharing -> 'parts') as p
    union select check_shared.paid_by where check_shared.paid_by is not null
  ));
  if excluded is not null then
    perform app.fail('invalid_argument.shared_in_private', jsonb_build_object('who', excluded), field);
  end if;
end
$$;
comment on function app.check_shared is
  'Ends a tool that would share a record in a private category with a member who cannot see the category.';

create or replace function app.describe_sharing(sharing jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('how', sharing -> 'how', 'between', jsonb_agg(jsonb_build_object(
      'member', app.member_name((p.value ->> 'member_id')::uuid), 'weight', p.value -> 'weight'
    ) order by p.ordinality))
    from jsonb_array_elements(sharing -> 'parts') with ordinality as p
    where sharing is not null
    having count(*) > 0
  );
end
$$;
comment on function app.describe_sharing is
  'Describes a split for answers: {how, between: [{member?, weight}]}; a former member has no name.';

create or replace function app.describe_shares(payment_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('paid_by', app.member_name(min(s.paid_by::text)::uuid), 'shares', jsonb_agg(
      jsonb_build_object('member', app.member_name(s.member_id), 'amount', app.format_amount(s.minor, s.currency))
      order by s.member_id <> s.paid_by, s.member_id
    ))
    from app.payment_shares as s
    where s.payment_id = describe_shares.payment_id
    having count(*) > 0
  );
end
$$;
comment on function app.describe_shares is
  'Returns each member''s part of a payment that the person may see: {paid_by?, shares: [{member?, amount}]}.';
