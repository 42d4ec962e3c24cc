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
  gap int,
  is_usual boolean
);
comment on type app.document_match is
  'A possible record of a document. tier: 1 an open date of a bill and 2 a payment, both certain; 3 and 4 the same, '
  'but likely; 0 the record of the same invoice. gap: days between it and the document. is_usual: the amount is the '
  'bill''s usual one, because the date has none yet.';

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

-- An invoice may name its seller only in a picture or a letterhead.
create or replace function app.names_in(document app.documents) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return case when document.payee_key is null then array(
    select concat(' ', array_to_string(app.descriptor_words(n), ' '), ' ')
    from jsonb_array_elements_text(document.layout -> 'names') as n
  ) else '{}' end;
end
$$;
comment on function app.names_in is
  'Returns the words of each name in a document whose payee is unknown, with spaces around them.';

create or replace function app.is_named_in(names text[], value text) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  -- Legal forms, which a letterhead may omit.
  words constant text[] := array(
    select w from unnest(app.descriptor_words(value)) as w
    where w not in ('gmbh', 'mbh', 'sarl', 'srl', 'spa', 'ltd', 'inc', 'llc', 'plc')
  );
begin
  return length(array_to_string(words, '')) > 3 and exists (
    select from unnest(names) as n where not exists (
      select from unnest(words) as w where n not like concat('% ', w, ' %')
    )
  );
end
$$;
comment on function app.is_named_in is 'Whether one of app.names_in has all words of a name.';

create or replace function app.payee_likeness(document app.documents, names text[], record app.expenses) returns int
language plpgsql immutable set search_path = '' as $$
declare
  words constant text[] := string_to_array(document.payee_key, ' ');
begin
  return case
    when document.payee_key is not null then greatest(
      app.compare_names(words, app.descriptor_words(coalesce(record.payee, record.name))),
      app.compare_names(words, app.descriptor_words(record.name))
    )
    when app.is_named_in(names, coalesce(record.payee, record.name)) then 2
    else 0
  end;
end
$$;
comment on function app.payee_likeness is
  'Compares a document''s payee with a record''s, like app.compare_names. For an unknown payee, returns 2 if the '
  'document names the record''s payee.';

create or replace function app.find_open_dates_for(context app.context, document app.documents)
  returns setof app.document_match
language plpgsql stable set search_path = '' as $$
declare
  minor constant bigint := app.document_minor(document);
  names constant text[] := app.names_in(document);
  is_reminder constant boolean := document.facts ->> 'kind' is not distinct from 'reminder';
  -- A reminder sets a new day for paying a date that has passed.
  said_due constant date := case when not is_reminder then document.facts ->> 'due_on' end;
  dated constant date := coalesce(document.facts ->> 'issued_on', document.facts ->> 'due_on');
  issued constant date := coalesce(dated, (document.created_at at time zone context.timezone)::date);
  first_day constant date := issued - case when is_reminder then 100 else 31 end;
  last_day constant date := case when is_reminder then issued when dated is null then issued + 31
    else coalesce(said_due + 31, issued + 62) end;
begin
  return query
    select b.id, o.id, o.due_on, o.due_on, b.name, coalesce(o.expected_minor, o.usual), o.currency,
      case
        -- Several dates may be late, so a reminder without a known number is a question.
        when not is_reminder and b.likeness > 1 and o.fits and o.is_near and (b.is_sure or o.expected_minor = minor)
          and not exists (
            -- A second invoice for a date is a part of the amount or a correction.
            select from app.documents_of(b.id, o.id, null, o.organization_id) as other where other.id <> document.id
          ) then 1
        when b.likeness > 1 and (o.fits or o.is_near)
          or (b.likeness > 0 or document.payee_key is null) and o.expected_minor = minor
            and (o.is_near or dated is null) then 3
      end,
      abs(o.due_on - coalesce(said_due, issued)), o.expected_minor is null
    from (
      select e.id, e.name, e.amount_mode, app.payee_likeness(document, names, e) as likeness,
        document.payee_key is not null or exists (
          -- A person attached such a document before.
          select from app.documents as d
          where d.expense_id = e.id and d.organization_id = e.organization_id and d.deleted_at is null
            and not d.facts ? 'payee' and d.id <> document.id
        ) as is_sure
      from app.expenses as e
      where e.organization_id = context.organization_id and e.kind = 'bill' and e.deleted_at is null
      offset 0
    ) as b
    cross join lateral (
      select w.*,
        dated is not null and w.due_on between
          case when is_reminder then first_day else coalesce(said_due - 7, issued - 3) end
          and case when is_reminder then last_day else coalesce(said_due + 7, issued + 45) end as is_near,
        case
          when minor is null or w.currency is distinct from document.facts ->> 'currency' then false
          when w.expected_minor = minor then true
          when b.amount_mode = 'fixed' or is_reminder then false
          else w.usual is null or abs(minor - w.usual) <= w.usual * 0.4
        end as fits
      from (
        select one.*, app.usual_statement(one) as usual
        from app.expense_occurrences as one
        where one.organization_id = context.organization_id and one.expense_id = b.id and one.status = 'open'
          and one.paid_minor = 0 and one.due_on between first_day and last_day
          -- A payee may invoice in another currency; then only a person can match the amounts.
          and (one.currency = document.facts ->> 'currency' or b.likeness > 1)
        offset 0
      ) as w
      offset 0
    ) as o
    where b.likeness > 0 or document.payee_key is null;
end
$$;
comment on function app.find_open_dates_for is
  'Returns open dates of bills that a document may match. An amount matches if it is the expected one or, for a bill '
  'without a fixed one, within 40 percent of the usual one. For an unknown payee, an equal amount is enough for a '
  'question. A reminder belongs to a date that passed.';

create or replace function app.find_payments_for(context app.context, document app.documents)
  returns setof app.document_match
language plpgsql stable set search_path = '' as $$
declare
  minor constant bigint := app.document_minor(document);
  names constant text[] := app.names_in(document);
  is_reminder constant boolean := document.facts ->> 'kind' is not distinct from 'reminder';
  said_due constant date := document.facts ->> 'due_on';
  dated constant date := coalesce(document.facts ->> 'issued_on', document.facts ->> 'due_on');
  issued constant date := coalesce(dated, (document.created_at at time zone context.timezone)::date);
  wanted constant text := case document.facts ->> 'kind' when 'credit_note' then 'refund' else 'out' end;
begin
  return query
    select e.id, p.occurrence_id, e.due_on, p.paid_on, e.name, minor, p.currency,
      case when e.likeness > 1 and dated is not null and not is_reminder then 2 else 4 end,
      least(abs(p.paid_on - issued), abs(p.paid_on - coalesce(said_due, issued))), false
    from (
      select w.*
      from (
        -- Order like the index by day, because a plan made on an empty table might use another index.
        select near.*, sum(near.amount_minor) over (partition by coalesce(near.split_id, near.id)) as whole,
          row_number() over (partition by coalesce(near.split_id, near.id) order by near.recorded_seq) as part
        from (
          select near.* from app.payments as near
          where near.organization_id = context.organization_id and near.deleted_at is null
            and near.paid_on between issued - case when is_reminder then 100 when dated is null then 60 else 5 end
              and coalesce(said_due, issued) + 45
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
        app.payee_likeness(document, names, x) as likeness
      from app.expenses as x where x.id = p.expense_id
      offset 0
    ) as e
    -- Equal payments to another seller don't count.
    where (e.likeness > 0 or document.payee_key is null)
      -- A payment that has a document can only get a reminder in addition.
      and (is_reminder or not exists (
        select from app.documents_of(p.expense_id, p.occurrence_id, p.split_id, p.organization_id) as d
        where d.id <> document.id
      ));
end
$$;
comment on function app.find_payments_for is
  'Returns payments, and splits as a whole, with a document''s amount, from five days before the document until 45 '
  'days after its due date; earlier ones for a reminder and for a document without a date.';

create or replace function app.match_document(context app.context, document app.documents)
  returns app.document_match[]
language plpgsql stable set search_path = '' as $$
declare
  is_reminder constant boolean := document.facts ->> 'kind' is not distinct from 'reminder';
  likely app.document_match[];
  certain app.document_match[];
  step int;
begin
  -- The same invoice as PDF and as XML belongs to the same record, and so does its reminder, with or without a fee.
  select array[jsonb_populate_record(null::app.document_match, jsonb_build_object(
    'expense_id', d.expense_id, 'occurrence_id', d.occurrence_id, 'name', e.name, 'tier', 0, 'gap', 0
  ))] into likely
  from app.documents as d
  join app.expenses as e on e.id = d.expense_id
  where d.organization_id = context.organization_id and d.payee_key = document.payee_key and d.deleted_at is null
    and d.id <> document.id and d.facts ->> 'number' = document.facts ->> 'number' and e.deleted_at is null
    and (is_reminder or app.document_minor(d) = app.document_minor(document))
  order by d.recorded_seq
  limit 1;
  if likely is not null and app.match_key_of(likely[1]) <> all (document.declined) then
    return likely;
  end if;
  likely := array(
    select m
    from (
      -- A credit note never belongs to an open date.
      select * from app.find_open_dates_for(context, document)
      where document.facts ->> 'kind' is distinct from 'credit_note'
      union all
      select * from app.find_payments_for(context, document)
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
  'Returns the record of a document if the match is certain (tier 0 to 2), or up to three candidates; empty for a new '
  'document.';
