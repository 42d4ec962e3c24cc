create or replace function app.parse_reimbursement(
  context app.context, given jsonb, field text, inout reimbursement text default null,
  inout reimbursed_by text default null, inout reimbursed_on date default null
) returns record
language plpgsql stable set search_path = '' as $$
declare
  new_by constant text := app.clean_text(given ->> 'reimbursed_by');
  new_on constant date := app.parse_paid_on(context, given ->> 'reimbursed_on', field || '.reimbursed_on');
begin
  reimbursement := case when given ? 'reimbursement' then nullif(given ->> 'reimbursement', 'none')
    when new_on is not null then 'done' when new_by is not null then coalesce(reimbursement, 'open')
    else reimbursement end;
  if reimbursement is distinct from 'done' and new_on is not null or reimbursement is null and new_by is not null then
    perform app.fail('invalid_argument.reimbursement_contradicts', jsonb_build_object(
      'status', given ->> 'reimbursement'
    ), parse_reimbursement.field || '.reimbursement');
  end if;
  reimbursed_by := case when reimbursement is not null and given ? 'reimbursed_by' then new_by
    when reimbursement is not null then reimbursed_by end;
  reimbursed_on := case when reimbursement = 'done' then coalesce(new_on, reimbursed_on, context.today) end;
end
$$;
comment on function app.parse_reimbursement is
  'Returns a reimbursement from {reimbursement?, reimbursed_by?, reimbursed_on?}. A name alone means open, a day means '
  'done. Missing arguments keep their values; done without a day means today. Ends the tool with invalid_argument on a '
  'contradiction.';

create or replace function app.warn_of_reimbursed(ids text[]) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_generic_plan' as $$
declare
  whole jsonb;
begin
  select jsonb_build_object(
    'count', sum(s.count), 'totals', jsonb_object_agg(s.currency, app.format_amount(s.minor, s.currency))
  ) into whole
  from (
    select p.currency, count(*) as count, sum(p.amount_minor) as minor
    from unnest(ids) as wanted (id)
    cross join lateral (
      select x.* from app.payments as x where x.expense_id = wanted.id and x.deleted_at is null offset 0
    ) as p
    where p.reimbursement = 'done'
    group by p.currency
  ) as s
  having count(*) > 0;
  return case when whole is null then '[]' else app.warning('reimbursed_in_full', whole) end;
end
$$;
comment on function app.warn_of_reimbursed is
  'Warns that expenses marked as reimbursed by this call count as reimbursed in full.';
