-- The log of changes in get_context, each with its author, time and client.

create or replace function app.rows_of_record(record text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  max_rows constant int := 1000;
  wanted constant text := lower(app.clean_text(record));
  words constant text[] := app.word_patterns(record);
  expense_ids text[];
begin
  if wanted ~ '^[a-z]{2,5}_[0-9a-z]{8,32}$' then
    expense_ids := array[wanted];
  else
    -- Includes deleted records, because their deletion is a change.
    expense_ids := array(
      select e.id from app.expenses as e
      where app.fold_text(concat_ws(' ', e.name, e.payee)) like all (words)
      order by e.kind = 'bill' desc, e.recorded_seq desc limit max_rows
    ) || array(select c.id from app.categories as c where lower(c.name) = wanted);
  end if;
  return expense_ids || array(
    select p.id from app.payments as p where p.expense_id = any (expense_ids) order by p.recorded_seq desc
      limit max_rows
  ) || array(
    select p.expense_id from app.payments as p where p.id = any (expense_ids) and not starts_with(p.expense_id, 'bill_')
  ) || array(
    select o.id from app.expense_occurrences as o where o.expense_id = any (expense_ids) limit max_rows
  );
end
$$;
comment on function app.rows_of_record is
  'Returns the ids of the rows that belong to a record, given by its id or a part of its name or payee.';

create or replace function app.find_paid_by(context app.context, member_id uuid, from_on date, to_on date) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'log_begins', (
        select (s.created_at at time zone context.timezone)::date from app.change_sets as s
        where s.organization_id = context.organization_id and not s.is_emptied
        order by s.recorded_seq limit 1
      ),
      'paid_by_member', jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'count', r.count, 'recorded_by', app.member_name(r.recorded_by)
      )) order by r.count desc, r.recorded_by)
    ))
    from (
      select p.recorded_by, count(*) as count
      from app.payments as p
      where p.organization_id = context.organization_id and p.deleted_at is null and p.paid_by = member_id
        and p.paid_on between from_on and coalesce(to_on, context.today)
      group by p.recorded_by
    ) as r
  );
end
$$;
comment on function app.find_paid_by is
  'Explains why a member has no changes: {log_begins?, paid_by_member? [{count, recorded_by?}]}. log_begins is the day '
  'of the first stored change, paid_by_member the member''s payments of these days that others recorded.';

create or replace function app.list_changes(context app.context, wanted jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- A filter by client, person or record searches only this many of the latest changes.
  most_looked constant int := 2000;
  most_effects constant int := 3;
  automatic constant text[] := array['autopay', 'provider_sync'];
  from_on constant date := app.parse_date(context, wanted ->> 'from', 'changes.from', true);
  to_on constant date := app.parse_date(context, wanted ->> 'to', 'changes.to', true);
  member_id constant uuid := app.find_member(context, app.clean_text(wanted ->> 'member'), 'changes.member');
  client constant text := lower(app.clean_text(wanted ->> 'client'));
  row_ids constant text[] := case when wanted ? 'record' then app.rows_of_record(wanted ->> 'record') end;
  kept_since constant date :=
    ((context.at - app.kept_for('change_contents')) at time zone context.timezone)::date;
  changes jsonb;
  all_count int;
begin
  if from_on > to_on then
    perform app.fail('invalid_argument.period_backwards', jsonb_build_object('from', from_on, 'to', to_on),
      'changes.to');
  end if;
  with looked as (
    select s.* from app.change_sets as s
    where s.organization_id = context.organization_id and not s.is_emptied
      and (from_on is null or s.created_at >= from_on::timestamp at time zone context.timezone)
      and (to_on is null or s.created_at < (to_on + 1)::timestamp at time zone context.timezone)
    order by s.recorded_seq desc
    limit most_looked
  ), found as (
    select l.id, l.recorded_seq from looked as l
    where (member_id is null or l.actor_id = member_id and l.tool <> all (automatic))
      and case
        when client is null then true
        when client = 'other' then l.client_name is not null
          and (l.client_name, l.actor_id) is distinct from (context.client_name, context.actor_id)
        else strpos(lower(l.client_name), client) > 0
      end
      and (row_ids is null or exists (
        select from app.change_items as i
        where i.change_id = l.id
          and (i.row_id = any (row_ids) or coalesce(i.after, i.before) ->> 'expense_id' = any (row_ids))
      ))
  )
  select (select count(*) from found), (
    select coalesce(jsonb_agg(jsonb_build_object(
      'change_id', s.id, 'facts', s.facts, 'tool', s.tool,
      'at', to_char(s.created_at at time zone context.timezone, 'YYYY-MM-DD HH24:MI'),
      'by', case when s.tool <> all (automatic) then app.member_name(s.actor_id) end,
      -- Anybody can register a client under any name, and other members' assistants read it here.
      'client', app.plain_words(s.client_name, 60),
      'is_page', nullif(s.client_name is null and s.tool <> all (automatic), false), 'undone', s.undone_by is not null
    ) || app.read_effects(s.id, most_effects) order by s.recorded_seq desc), '[]')
    from (
      select f.id from found as f order by f.recorded_seq desc limit coalesce((wanted ->> 'limit')::int, 10)
    ) as f
    join app.change_sets as s on s.id = f.id
  )
  into all_count, changes;
  return jsonb_build_object('recent_changes', changes) || jsonb_strip_nulls(jsonb_build_object(
    'more_changes', nullif(all_count - jsonb_array_length(changes), 0),
    'changes_kept_since', case when from_on < kept_since then kept_since end,
    'no_match', case when all_count = 0 and member_id is not null
      then app.find_paid_by(context, member_id, coalesce(from_on, kept_since), to_on)
    when row_ids = '{}' then jsonb_build_object('unknown_record', app.clean_text(wanted ->> 'record'))
      || coalesce(app.find_near_bills(context, app.word_patterns(wanted ->> 'record')), '{}') end
  ));
end
$$;
comment on function app.list_changes is
  'Returns the latest changes of all members that match a filter {from?, to?, member?, client?, record?, limit?}, '
  'within the undo period: {recent_changes, more_changes?, changes_kept_since?, no_match?}. client "other" selects '
  'other assistants.';
