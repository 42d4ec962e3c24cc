-- Merges two records of one expense, such as a voice entry and the bank's row of the next day. The kept record keeps
-- its amount and date and takes over missing fields. The other is deleted, but still recognized when it is logged or
-- imported again.

create or replace function app.read_kept(payment_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'name', e.name, 'amount', app.format_amount(p.amount_minor, p.currency), 'currency', p.currency,
      'charged', case when p.charged_minor is not null then jsonb_build_object(
        'amount', app.format_amount(p.charged_minor, p.charged_currency), 'currency', p.charged_currency
      ) end,
      'tax', app.format_amount(p.tax_minor, p.currency), 'tax_percent', trim_scale(p.tax_percent),
      'reimbursement', p.reimbursement, 'reimbursed_by', p.reimbursed_by, 'reimbursed_on', p.reimbursed_on,
      'date', p.paid_on, 'category', c.name, 'tags', nullif(e.tags, '{}'),
      'note', case e.kind when 'bill' then p.note else e.note end, 'url', e.url
    ))
    from app.payments as p
    join app.expenses as e on e.id = p.expense_id
    left join app.categories as c on c.id = e.category_id
    where p.id = payment_id
  );
end
$$;
comment on function app.read_kept is 'Returns the fields that a merge reports.';

create or replace function app.find_kept(context app.context, arguments jsonb, ids text[]) returns app.payments
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := arguments ->> 'merge_into';
  kept app.payments;
  other text;
begin
  if ids = '{}' or arguments - array['ids', 'merge_into', 'dry_run'] <> '{}' then
    perform app.fail('invalid_argument.merge_alone', field => 'merge_into');
  end if;
  select * into kept from app.payments as p
  where (p.id = wanted or p.expense_id = wanted and starts_with(wanted, 'exp_')) and p.deleted_at is null;
  if wanted = any (ids) or kept.expense_id = any (ids) then
    perform app.fail('invalid_argument.merge_into_itself', field => 'merge_into');
  end if;
  perform app.require_records(context, ids || coalesce(kept.expense_id, wanted));
  select e.name into other from app.payments as p join app.expenses as e on e.id = p.expense_id
  where p.expense_id = any (ids) and p.deleted_at is null and p.direction <> kept.direction;
  if found then
    perform app.fail('invalid_argument.merge_refund', jsonb_build_object('name', other), 'merge_into');
  end if;
  select e.name into other from app.payments as p join app.expenses as e on e.id = p.expense_id
  where p.expense_id = any (ids) and p.deleted_at is null and p.reimbursement is not null
    and kept.occurrence_id is not null;
  if found then
    perform app.fail('invalid_argument.merge_reimbursed', jsonb_build_object('name', other), 'ids');
  end if;
  perform app.leave_split(ids);
  select e.name into other from app.payments as p join app.expenses as e on e.id = p.expense_id
  where p.expense_id = any (ids) and p.deleted_at is null and p.split_id is not null;
  if found then
    perform app.fail('invalid_argument.merge_part', jsonb_build_object('name', other), 'ids');
  end if;
  select * into kept from app.payments as p where p.id = kept.id for update;
  return kept;
end
$$;
comment on function app.find_kept is
  'Returns the payment to keep, of a one-off expense or a bill, and locks all rows involved. Ends the tool when it is '
  'missing or the records can''t be merged.';

create or replace function app.take_over(kept app.payments, gone app.payments) returns void
language plpgsql volatile set search_path = '' as $$
declare
  source app.expenses;
begin
  select * into source from app.expenses as e where e.id = gone.expense_id;
  update app.expenses as e
  set note = coalesce(e.note, source.note), url = coalesce(e.url, source.url),
    category_id = coalesce(e.category_id, source.category_id),
    tags = app.clean_tags(to_jsonb(e.tags) || to_jsonb(source.tags), 'merge_into')
  where e.id = kept.expense_id and e.kind = 'one_off';
  -- A bill's link and tags belong to all its payments, so the note takes the other record's link and tags.
  update app.payments as p
  set note = left(nullif(concat_ws(E'\n', coalesce(p.note, source.note), source.url, (
    select string_agg('#' || t.tag, ' ' order by t.place)
    from unnest(source.tags) with ordinality as t (tag, place)
    where not exists (select from unnest(e.tags) as own (tag) where lower(own.tag) = lower(t.tag))
  )), ''), 2000)
  from app.expenses as e
  where p.id = kept.id and e.id = p.expense_id and e.kind = 'bill';
  -- If the currencies differ, the other record holds the bank's charge.
  update app.payments as p
  set charged_minor = case when gone.currency <> p.currency then gone.amount_minor else gone.charged_minor end,
    charged_currency = case when gone.currency <> p.currency then gone.currency else gone.charged_currency end
  -- The bank charges a split as a whole, so its parts can't take over a charge.
  where p.id = kept.id and p.charged_minor is null and p.split_id is null and p.currency <> p.base_currency
    and (gone.currency <> p.currency or gone.charged_minor is not null);
  update app.payments as p
  set reimbursement = gone.reimbursement, reimbursed_by = gone.reimbursed_by, reimbursed_on = gone.reimbursed_on
  where p.id = kept.id and p.occurrence_id is null and p.reimbursement is null and gone.reimbursement is not null;
  -- Skip the tax if the amounts differ in the same currency.
  update app.payments as p
  set tax_minor = app.scale_minor(gone.tax_minor, p.amount_minor, gone.amount_minor), tax_percent = gone.tax_percent
  where p.id = kept.id and p.tax_minor is null and gone.tax_minor is not null
    and (p.amount_minor = gone.amount_minor or p.currency <> gone.currency);
  update app.payments as p set paid_by = gone.paid_by, sharing = gone.sharing
  where p.id = kept.id and p.sharing is null and gone.sharing is not null;
  update app.documents as d set expense_id = kept.expense_id, occurrence_id = kept.occurrence_id
  where d.expense_id = gone.expense_id and d.occurrence_id is not distinct from gone.occurrence_id
    and d.deleted_at is null;
  update app.payments as p set merged_into = kept.id where p.merged_into = gone.id;
  update app.payments as p set merged_into = kept.id, deleted_at = app.instant() where p.id = gone.id;
  update app.expenses as e set deleted_at = app.instant() where e.id = gone.expense_id;
end
$$;
comment on function app.take_over is
  'Merges one payment into another, which takes over missing fields and earlier merges.';

create or replace function app.merge_expenses(context app.context, args jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  ids constant text[] := array(select jsonb_array_elements_text(coalesce(args -> 'ids', '[]')));
  kept constant app.payments := app.find_kept(context, args, ids);
  before constant jsonb := app.read_kept(kept.id);
  gone app.payments[] := array(
    select p from app.payments as p where p.expense_id = any (ids) and p.deleted_at is null
    order by array_position(ids, p.expense_id)
  );
  one app.payments;
  merged jsonb := '[]';
  after jsonb;
  other jsonb;
begin
  foreach one in array gone loop
    merged := merged || (jsonb_build_object('id', one.expense_id) || app.read_kept(one.id));
    perform app.take_over(kept, one);
  end loop;
  after := app.read_kept(kept.id);
  select jsonb_build_object('name', m.value -> 'name', 'amount', m.value -> 'amount', 'currency', m.value -> 'currency')
  into other
  from jsonb_array_elements(merged) with ordinality as m
  where m.value -> 'currency' = after -> 'currency' and m.value -> 'amount' <> after -> 'amount'
  order by m.ordinality
  limit 1;
  return jsonb_build_object(
    'data', jsonb_build_object(
      'updated', jsonb_build_array(jsonb_build_object(
        'id', app.shown_id(kept.id),
        'before', (select coalesce(jsonb_object_agg(f.key, f.value), '{}') from jsonb_each(before) as f
          where f.value is distinct from after -> f.key),
        'after', (select coalesce(jsonb_object_agg(f.key, f.value), '{}') from jsonb_each(after) as f
          where f.value is distinct from before -> f.key),
        'version', (
          select e.version + p.version - 1 from app.expenses as e join app.payments as p on p.expense_id = e.id
            where p.id = kept.id
        )
      )),
      'count', jsonb_array_length(merged), 'merged', merged
    ),
    'warnings',
    case when other is null then '[]'::jsonb
      else jsonb_build_array(app.warning('merged_unequal', other || jsonb_build_object(
      'kept', after -> 'amount'
      ))) end,
    'facts', jsonb_build_object(
      'count', jsonb_array_length(merged), 'names', jsonb_path_query_array(merged, '$[0 to 3].name'),
      'into', after -> 'name'
    )
  );
end
$$;
comment on function app.merge_expenses is
  'Tool update_expenses with merge_into. Returns data {updated, count, merged}: the changes to the kept record, and '
  'the deleted records as they were.';
