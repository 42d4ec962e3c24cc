-- Warns about statement rows that count as spending although the money may not be spent yet. The preview lists them.

create or replace function app.names_member(own text[], name text) returns boolean
language plpgsql immutable strict set search_path = '' as $$
declare
  words constant text[] := app.descriptor_words(name);
begin
  -- A shop's name may contain a first name, so a first name alone needs a short text.
  return own <@ words and (cardinality(own) > 1 or cardinality(words) <= 2);
end
$$;
comment on function app.names_member is
  'Whether a statement''s text is a name whose words appear in the person''s address.';

create or replace function app.list_member_words(context app.context) returns table (name text, own text[])
language plpgsql stable set search_path = '' as $$
begin
  return query
    select m.email, array(
      select w.word from regexp_split_to_table(app.fold_text(split_part(m.email, '@', 1)), '[^a-z]+') as w (word)
      where length(w.word) > 2
    )
    from (
      select app.member_name(s.user_id) as email from identity.memberships as s
      where s.organization_id = context.organization_id
    ) as m;
end
$$;
comment on function app.list_member_words is
  'Returns the members of the organization with the words of their addresses: {name, own}. own may be empty.';

create or replace function app.warn_of_unspent(context app.context, batch app.import_batches, new_lines jsonb)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  most constant int := 10;
  cash jsonb;
  given jsonb;
begin
  with spent as materialized (
    select r.line, r.draft ->> 'name' as name, r.draft ->> 'payee' as payee, r.draft ->> 'currency' as currency,
      (r.draft ->> 'amount_minor')::bigint as minor
    from jsonb_array_elements_text(new_lines) as l
    join app.import_rows as r on r.import_id = batch.id and r.line = l::int
    where r.draft ->> 'direction' = 'out'
  ), texts as materialized (
    -- Read each text once, because reading one takes longer than finding its rows.
    select s.name, s.payee, app.fold_text(concat_ws(' ', s.name, s.payee)) as folded
    from spent as s
    group by s.name, s.payee
  ), members as materialized (
    select m.name as email, m.own from app.list_member_words(context) as m
  ), machines as materialized (
    select s.line, s.currency, s.minor
    from texts as t
    join spent as s on s.name = t.name and s.payee is not distinct from t.payee
    where app.is_cash_withdrawal(t.folded)
  ), people as materialized (
    select distinct on (s.line) s.line, s.name, s.minor, s.currency, m.email as member
    from members as m
    join texts as t on strpos(t.folded, m.own[1]) > 0
      and (app.names_member(m.own, t.payee) or app.names_member(m.own, t.name))
    join spent as s on s.name = t.name and s.payee is not distinct from t.payee
    order by s.line, m.email
  )
  select (
    select jsonb_build_object('count', sum(c.count), 'totals', jsonb_object_agg(c.currency, c.total), 'lines', (
      select jsonb_agg(f.line order by f.line) from (select m.line from machines as m order by m.line limit most) as f
    ))
    from (
      select m.currency, count(*) as count, app.format_amount(sum(m.minor), m.currency) as total
      from machines as m
      group by m.currency
    ) as c
    having count(*) > 0
  ), (
    select jsonb_build_object('count', (select count(*) from people), 'rows', jsonb_agg(jsonb_build_object(
      'line', p.line, 'name', p.name, 'member', p.member, 'amount', app.format_amount(p.minor, p.currency),
      'currency', p.currency
    ) order by p.line))
    from (select * from people as p order by p.line limit most) as p
    having count(*) > 0
  ) into cash, given;
  return case when cash is null then '[]'::jsonb else jsonb_build_array(app.warning('cash_withdrawn.in_file', cash)) end
    || case when given is null then '[]'::jsonb else jsonb_build_array(app.warning('paid_to_member', given)) end;
end
$$;
comment on function app.warn_of_unspent is
  'Returns warnings about new rows of an import that are cash withdrawals or payments to a member.';
