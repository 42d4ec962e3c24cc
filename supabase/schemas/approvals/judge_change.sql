create or replace function app.tools_of_change(change_id text) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  -- Taking something back, or doing it again, is as much as doing it.
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
comment on function app.tools_of_change is 'The tool of a change, and of an undo also those of what it undoes.';

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
    -- What nobody can value may be anything.
    when unknown <> '{}' then limited || jsonb_build_object('reason', 'unconvertible', 'currencies', unknown)
    when total > rule.over_minor then limited || jsonb_build_object(
      'reason', 'amount', 'total', app.format_amount(total, rule.currency)
    )
  end;
end
$$;
comment on function app.exceeds_amount is
  'Why sums are more than a rule lets pass, in its currency at the rates of a day: {reason: amount | unconvertible, '
  '…}; null '
  'when they are not.';

create or replace function app.judge_moved(context app.context, tools text[], moved jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  rule app.approval_rules;
  day record;
  count bigint;
  sums jsonb;
  reason jsonb;
  reasons jsonb := '[]';
begin
  for rule in
    select * from app.approval_rules as r
    where r.organization_id = context.organization_id and context.role = any (r.roles) order by r.created_at, r.id
  loop
    -- A deletion is one whatever tool makes it, and so is a change of the settings.
    continue when not (
      rule.tool is null or rule.tool = any (tools) or rule.tool = 'delete_records' and (moved ->> 'gone')::bigint > 0
      or rule.tool = 'update_settings' and (moved ->> 'settings')::bigint > 0
    );
    count := 0;
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
      continue when not (
        rule.tool is null or rule.tool = any (day.tools)
        or rule.tool = 'delete_records' and (day.moved ->> 'gone')::bigint > 0
        or rule.tool = 'update_settings' and (day.moved ->> 'settings')::bigint > 0
      );
      count := count + app.counted_records(rule, day.moved);
      sums := app.add_sums(sums, day.moved -> 'sums');
    end loop;
    reason := null;
    if rule.over_minor is null and rule.over_records is null then
      reason := jsonb_build_object('reason', 'any');
    end if;
    if reason is null and rule.over_minor is not null then
      reason := app.exceeds_amount(sums, rule, context.today);
    end if;
    if reason is null and rule.over_records is not null
      and count + app.counted_records(rule, moved) > rule.over_records then
      reason := jsonb_build_object(
        'reason', 'records', 'records', count + app.counted_records(rule, moved), 'limit', rule.over_records
      );
    end if;
    if reason is not null then
      reasons := reasons || (reason || jsonb_build_object('approver', rule.approver));
    end if;
  end loop;
  return reasons;
end
$$;
comment on function app.judge_moved is
  'Which rules a write of tools that moved so much exceeds, with what its person wrote in the last 24 hours without '
  'approval: [{reason: any | records | amount | unconvertible, approver, …}].';

create or replace function app.counted_records(rule app.approval_rules, moved jsonb) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return (moved ->> case rule.tool when 'delete_records' then 'gone' when 'update_settings' then 'settings'
    else 'records' end)::bigint;
end
$$;
comment on function app.counted_records is 'The records of a change that a rule counts: of a deletion those that went.';
