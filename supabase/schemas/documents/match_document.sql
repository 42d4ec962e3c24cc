-- Matches a document to a record of the books. A match is certain if payee, amount and date agree. A weaker match
-- becomes a question, and a document without candidates is new.

create type app.document_match as (
  expense_id text,
  occurrence_id text,
  due_on date,
  day date,
  name text,
  amount_minor bigint,
  currency text,
  tier int,
  gap int
);
comment on type app.document_match is
  'A record that a document may belong to. tier: 1 an open date of a bill and 2 a payment, both certain; 3 and 4 the '
  'same, but likely. gap: days between it and the document.';

create or replace function app.document_minor(document app.documents) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return nullif(app.statement_minor(
    coalesce(document.facts ->> 'payable', document.facts ->> 'gross'), document.facts ->> 'currency'
  ), 0);
end
$$;
comment on function app.document_minor is
  'Returns the amount to pay in a document, in minor units; null when it states no amount or is already paid.';

create or replace function app.match_key_of(match app.document_match) returns text
language sql immutable
  return concat_ws(':', (match).expense_id, (match).occurrence_id);
comment on function app.match_key_of is 'Returns the key of a record, or of a bill''s date, in app.documents.declined.';

create or replace function app.find_open_dates_for(context app.context, document app.documents, words text[])
  returns setof app.document_match
language plpgsql stable set search_path = '' as $$
declare
  minor constant bigint := app.document_minor(document);
  said_due constant date := document.facts ->> 'due_on';
  issued constant date := coalesce((document.facts ->> 'issued_on')::date, said_due);
begin
  return query
    select b.id, o.id, o.due_on, o.due_on, b.name, coalesce(o.expected_minor, o.usual), o.currency,
      case when b.likeness > 1 and o.fits and o.is_near then 1
        when b.likeness > 1 and (o.fits or o.is_near) or o.expected_minor = minor and o.is_near then 3 end,
      abs(o.due_on - coalesce(said_due, issued))
    from (
      select e.id, e.name, e.amount_mode,
        greatest(app.compare_names(words, app.descriptor_words(coalesce(e.payee, e.name))),
          app.compare_names(words, app.descriptor_words(e.name))) as likeness
      from app.expenses as e
      where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      offset 0
    ) as b
    cross join lateral (
      select w.*,
        w.due_on between coalesce(said_due - 7, issued - 3) and coalesce(said_due + 7, issued + 45) as is_near,
        case
          when minor is null then false
          when w.expected_minor = minor then true
          when b.amount_mode = 'fixed' then false
          else w.usual is null or abs(minor - w.usual) <= w.usual * 0.4
        end as fits
      from (
        select one.*, app.usual_statement(one) as usual
        from app.expense_occurrences as one
        where one.organization_id = context.organization_id and one.expense_id = b.id and one.status = 'open'
          and one.paid_minor = 0 and one.currency = document.facts ->> 'currency'
          and one.due_on between issued - 31 and coalesce(said_due + 31, issued + 62)
        offset 0
      ) as w
      offset 0
    ) as o
    where b.likeness > 0;
end
$$;
comment on function app.find_open_dates_for is
  'Returns open dates of bills that a document may belong to. An amount matches if it is the expected one or, for a '
  'bill without a fixed one, at most 40 percent from the usual one.';

create or replace function app.find_payments_for(context app.context, document app.documents, words text[])
  returns setof app.document_match
language plpgsql stable set search_path = '' as $$
declare
  minor constant bigint := app.document_minor(document);
  said_due constant date := document.facts ->> 'due_on';
  issued constant date := coalesce((document.facts ->> 'issued_on')::date, said_due);
  wanted constant text := case document.facts ->> 'kind' when 'credit_note' then 'refund' else 'out' end;
begin
  return query
    select e.id, p.occurrence_id, e.due_on, p.paid_on, e.name, minor, p.currency,
      case when e.likeness > 1 then 2 else 4 end,
      least(abs(p.paid_on - issued), abs(p.paid_on - coalesce(said_due, issued)))
    from (
      select w.*
      from (
        -- Ordered like the index by day: in a plan made on an empty table, other indexes look as cheap.
        select near.*, sum(near.amount_minor) over (partition by coalesce(near.split_id, near.id)) as whole,
          row_number() over (partition by coalesce(near.split_id, near.id) order by near.recorded_seq) as part
        from (
          select near.* from app.payments as near
          where near.organization_id = context.organization_id and near.deleted_at is null
            and near.paid_on between issued - 5 and coalesce(said_due, issued) + 45
            and (near.amount_minor = minor or near.split_id is not null)
            and near.currency = document.facts ->> 'currency' and near.direction = wanted
          order by near.paid_on, near.recorded_seq offset 0
        ) as near
      ) as w
      -- One receipt covers all parts of a split.
      where w.whole = minor and w.part = 1
    ) as p
    cross join lateral (
      select x.id, x.name, (select o.due_on from app.expense_occurrences as o where o.id = p.occurrence_id) as due_on,
        greatest(app.compare_names(words, app.descriptor_words(coalesce(x.payee, x.name))),
          app.compare_names(words, app.descriptor_words(x.name))) as likeness
      from app.expenses as x where x.id = p.expense_id
      offset 0
    ) as e
    -- Equal payments to another seller don't count.
    where e.likeness > 0
      -- A payment that has a document isn't waiting for another.
      and not exists (
        select from app.documents_of(p.expense_id, p.occurrence_id, p.split_id, p.organization_id) as d
        where d.id <> document.id
      );
end
$$;
comment on function app.find_payments_for is
  'Returns payments, and splits as a whole, with a document''s amount, from five days before the document until 45 '
  'days after its due date.';

create or replace function app.match_document(context app.context, document app.documents)
  returns app.document_match[]
language plpgsql stable set search_path = '' as $$
declare
  words constant text[] := app.descriptor_words(coalesce(document.facts ->> 'payee', ''));
  likely app.document_match[];
  certain app.document_match[];
  step int;
begin
  if document.payee_key is null or document.facts ->> 'currency' is null
    or coalesce(document.facts ->> 'issued_on', document.facts ->> 'due_on') is null then
    return '{}';
  end if;
  -- The same invoice as PDF and as XML belongs to the same record.
  select array[jsonb_populate_record(null::app.document_match, jsonb_build_object(
    'expense_id', d.expense_id, 'occurrence_id', d.occurrence_id, 'name', e.name, 'tier', 0, 'gap', 0
  ))] into likely
  from app.documents as d
  join app.expenses as e on e.id = d.expense_id
  where d.organization_id = context.organization_id and d.payee_key = document.payee_key and d.deleted_at is null
    and d.id <> document.id and d.facts ->> 'number' = document.facts ->> 'number'
    and app.document_minor(d) = app.document_minor(document)
  order by d.recorded_seq
  limit 1;
  if likely is not null and app.match_key_of(likely[1]) <> all (document.declined) then
    return likely;
  end if;
  likely := array(
    select m
    from (
      -- A credit note pays no bill.
      select * from app.find_open_dates_for(context, document, words)
      where document.facts ->> 'kind' is distinct from 'credit_note'
      union all
      select * from app.find_payments_for(context, document, words)
    ) as m
    where m.tier is not null and app.match_key_of(m) <> all (document.declined)
    order by m.tier, m.gap, m.expense_id, m.occurrence_id
  );
  foreach step in array array[1, 2] loop
    certain := array(select m from unnest(likely) as m where (m).tier = step);
    -- Take the nearest date of one bill. Between two bills, or two equally near payments, a person decides.
    if certain <> '{}' then
      return case when not exists (
        select from unnest(certain[2:]) as m
        where (m).expense_id <> (certain[1]).expense_id and (step = 1 or (m).gap <= (certain[1]).gap)
      ) then certain[1:1] else array(
        select jsonb_populate_record(m, jsonb_build_object('tier', (m).tier + 2)) from unnest(certain[:3]) as m
      ) end;
    end if;
  end loop;
  return likely[:3];
end
$$;
comment on function app.match_document is
  'Returns the record of a document if the match is certain (tier 1 or 2), or up to three candidates. Empty for a new '
  'document, and for one without payee, currency or date.';
