create or replace function app.tools_of_change(change_id text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  -- Undoing and redoing a change count like the change itself.
  return array(
    with recursive undone as (
      select s.tool, s.undoes from app.change_sets as s where s.id = change_id
      union all
      select s.tool, s.undoes from undone as u join app.change_sets as s on s.id = u.undoes
    )
    select distinct u.tool from undone as u
  );
end
$$;
comment on function app.tools_of_change is
  'Returns the tool of a change; for an undo, also the tools of the undone changes.';

create or replace function app.exceeds_amount(sums jsonb, rule app.approval_rules, day date) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  total numeric := 0;
  limited constant jsonb := jsonb_build_object(
    'limit', app.format_amount(rule.over_minor, rule.currency), 'currency', rule.currency
  );
  unknown text[] := '{}';
  part record;
begin
  for part in
    select s.key as currency, app.convert_minor(s.value::numeric, f.per_euro, c.exponent, t.per_euro, l.exponent)
      as minor, s.value::numeric as own
    from jsonb_each_text(sums) as s
    join app.currencies as c on c.code = s.key
    join app.currencies as l on l.code = rule.currency
    left join lateral app.rates_as_of(c.code, day) as f on true
    left join lateral app.rates_as_of(l.code, day) as t on true
  loop
    if part.currency = rule.currency then
      total := total + part.own;
    elsif part.minor is null then
      unknown := unknown || part.currency;
    else
      total := total + part.minor;
    end if;
  end loop;
  return case
    -- An amount without a known value counts as exceeding every limit.
    when unknown <> '{}' then limited || jsonb_build_object('reason', 'unconvertible', 'currencies', unknown)
    when total > rule.over_minor then limited || jsonb_build_object(
      'reason', 'amount', 'total', app.format_amount(total, rule.currency)
    )
  end;
end
$$;
comment on function app.exceeds_amount is
  'Compares sums with a rule in its currency at the rates of a day. Returns {reason: amount | unconvertible, …} if '
  'they exceed it, otherwise null.';

create or replace function app.counted_records(rule app.approval_rules, tools text[], moved jsonb) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  acted constant bigint := (moved #>> array['acts', rule.tool])::bigint;
begin
  return case
    when rule.tool is null then (moved ->> 'records')::bigint
    -- These tools count only the records that they delete or set.
    when rule.tool in ('delete_records', 'update_settings')
      then coalesce(acted, case when rule.tool = any (tools) then 0 end)
    when rule.tool = any (tools) then (moved ->> 'records')::bigint
    else acted
  end;
end
$$;
comment on function app.counted_records is
  'Returns the number of records that a change counts for a rule; null when the rule doesn''t apply. A rule about a '
  'tool applies to the same effects by any tool.';

create or replace function app.judge_moved(context app.context, tools text[], moved jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  rule app.approval_rules;
  day record;
  own bigint;
  counted bigint;
  count bigint;
  sums jsonb;
  reason jsonb;
  reasons jsonb := '[]';
begin
  for rule in
    select * from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles) order by r.created_at, r.id
  loop
    own := app.counted_records(rule, tools, moved);
    continue when own is null;
    count := own;
    sums := moved -> 'sums';
    for day in
      select coalesce(s.moved, app.measure_change(s.id)) as moved, app.tools_of_change(s.id) as tools
      from app.change_sets as s
      where s.organization_id = context.organization_id and s.actor_id = context.actor_id
        and s.created_at > context.at - interval '24 hours' and s.proposal_id is null
        and s.id is distinct from nullif(current_setting('app.judged_change', true), '')
        and (rule.over_minor is not null or rule.over_records is not null)
        and s.tool not in ('autopay', 'provider_sync', 'store_bill_amounts')
    loop
      counted := app.counted_records(rule, day.tools, day.moved);
      continue when counted is null;
      count := count + counted;
      sums := app.add_sums(sums, day.moved -> 'sums');
    end loop;
    reason := null;
    if rule.over_minor is null and rule.over_records is null then
      reason := jsonb_build_object('reason', 'any');
    end if;
    if reason is null and rule.over_minor is not null then
      reason := app.exceeds_amount(sums, rule, context.today);
    end if;
    if reason is null and rule.over_records is not null and count > rule.over_records then
      reason := jsonb_build_object('reason', 'records', 'records', count, 'limit', rule.over_records);
    end if;
    if reason is not null then
      reasons := reasons || (reason || jsonb_build_object('approver', rule.approver));
    end if;
  end loop;
  return reasons;
end
$$;
comment on function app.judge_moved is
  'Returns the rules that a write and the person''s unapproved writes of the last 24 hours exceed in total: [{reason: '
  'any | records | amount | unconvertible, approver, …}].';
