set local lock_timeout = '10s';
set local statement_timeout = '60s';
set local check_function_bodies = off;

ALTER TABLE "app"."payments" SET (autovacuum_analyze_scale_factor=0.02);

ALTER TABLE "identity"."organizations" ADD COLUMN "relabel_closed" boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION app.change_preferences(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  reminders constant jsonb := coalesce(arguments -> 'reminders', '{}');
  closed_through constant date := app.parse_closed_through(context, arguments ->> 'closed_through');
  wanted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'timezone', btrim(arguments ->> 'timezone'), 'base_currency', arguments -> 'base_currency', 'own_only',
    arguments -> 'own_only', 'relabel_closed', arguments -> 'relabel_closed', 'email_enabled',
    reminders -> 'email_enabled',
    'default_lead_days', reminders -> 'default_days_before', 'hide_amounts_in_email',
    reminders -> 'hide_amounts_in_email',
    'mails',
    case when reminders ? 'my_mails' then jsonb_build_object(context.actor_id, reminders -> 'my_mails') end
  )) || case when arguments ? 'closed_through' then jsonb_build_object('closed_through', closed_through)
    else '{}' end;
  before constant jsonb := app.read_preferences(context.organization_id);
begin
  if wanted = '{}' then
    return '{}';
  end if;
  if context.role <> 'owner' and wanted - 'mails' - app.shared_preferences() <> '{}' then
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  elsif wanted ?| app.shared_preferences() and not identity.may('settings:write') then
    perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
  end if;
  if wanted ? 'timezone' and not identity.is_timezone(wanted ->> 'timezone') then
    perform app.fail('invalid_argument.not_a_timezone', jsonb_build_object('value', left(wanted ->> 'timezone', 40)),
      'timezone');
  end if;
  if wanted ? 'base_currency' then
    perform app.currency_exponent(wanted ->> 'base_currency', 'base_currency');
  end if;
  if closed_through > coalesce((before ->> 'closed_through')::date, '-infinity') then
    perform app.prepare_closing(context, closed_through);
  end if;
  perform app.write_preferences(context.organization_id, wanted);
  return (
    -- That no month is closed any more is a fact as well, and no fact is null.
    select coalesce(jsonb_object_agg(w.key, case
      when w.key = 'mails' then reminders -> 'my_mails' when w.value = 'null' then '""' else w.value end), '{}')
    from jsonb_each(wanted) as w
    where not before -> w.key @> w.value
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.export_organization(part text, after jsonb, at_most integer)
 RETURNS TABLE(key jsonb, shown jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  organization constant text := identity.current_organization_id();
begin
  case part
    when 'settings' then return query
      select to_jsonb(o.id), jsonb_build_object(
        'id', o.id, 'name', o.name, 'base_currency', o.base_currency, 'timezone', p.timezone,
        'closed_through', o.closed_through, 'own_only', o.own_only, 'relabel_closed', o.relabel_closed,
        'plan', identity.effective_plan(o, app.instant()), 'trial_ends_at', o.trial_ends_at,
        'created_at', o.created_at
      )
      from identity.organizations as o
      join identity.profiles as p on p.user_id = o.owner_id
      where o.id = organization and after is null;
    when 'members' then return query
      select to_jsonb(m.user_id), jsonb_build_object(
        'email', p.email, 'role', m.role, 'sees_private', m.sees_private, 'mails', m.mails, 'since', m.created_at
      )
      from identity.memberships as m
      join identity.profiles as p on p.user_id = m.user_id
      where m.organization_id = organization and (after is null or m.user_id > (after #>> '{}')::uuid)
      order by m.user_id
      limit at_most;
    when 'changes' then return query
      select to_jsonb(s.recorded_seq), jsonb_build_object(
        'id', s.id, 'at', s.created_at, 'by', p.email, 'client', s.client_name, 'tool', s.tool, 'facts', s.facts,
        'undoes', s.undoes, 'undone_by', s.undone_by
      )
      from app.change_sets as s
      left join identity.profiles as p on p.user_id = s.actor_id
      where s.organization_id = organization and (after is null or s.recorded_seq > (after #>> '{}')::bigint)
      order by s.recorded_seq
      limit at_most;
  end case;
end
$function$;

CREATE OR REPLACE FUNCTION app.export_statements(part text, after jsonb, at_most integer)
 RETURNS TABLE(key jsonb, shown jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  organization constant text := identity.current_organization_id();
  last_id constant text := after #>> '{}';
begin
  case part
    when 'accounts' then return query
      select to_jsonb(a.id), jsonb_build_object(
        'id', a.id, 'name', a.name, 'kind', a.kind, 'currency', a.currency, 'answers', a.answers,
        'balance', case when (select identity.sees_everything()) then a.balance end, 'created_at', a.created_at,
        'updated_at', a.updated_at
      )
      from app.accounts as a
      where a.organization_id = organization and (last_id is null or a.id > last_id) and app.sees_account(a)
      order by a.id
      limit at_most;
    when 'statement_lines' then return query
      select jsonb_build_array(l.booked_on, l.id), jsonb_build_object(
        'id', l.id, 'account_id', l.account_id, 'account', a.name, 'booked_on', l.booked_on, 'text', l.text,
        'kind', case when l.kind in ('expense', 'refund') and (l.other_half_id is not null
          or exists (select from app.statement_lines as o where o.other_half_id = l.id)) then 'own_transfer'
          else l.kind end,
        'amount', app.format_minor(case l.direction when 'out' then 1 else -1 end * l.amount_minor, c.exponent),
        'currency', l.currency, 'is_skipped', l.is_skipped,
        -- "offset 0", since on tables that were never analyzed a join reads all payments for each line.
        'payment_ids', array(
          select k.payment_id
          from app.statement_links as k
          cross join lateral (select p.deleted_at from app.payments as p where p.id = k.payment_id offset 0) as p
          where k.line_id = l.id and p.deleted_at is null
          order by k.payment_id
        ),
        'change_id', l.change_id, 'created_at', l.created_at
      )
      from app.statement_lines as l
      join app.accounts as a on a.id = l.account_id
      join app.currencies as c on c.code = l.currency
      where l.organization_id = organization
        and (after is null or (l.booked_on, l.id) > ((after ->> 0)::date, (after ->> 1)))
      order by l.booked_on, l.id
      limit at_most;
    when 'provider_links' then return query
      select to_jsonb(k.id), jsonb_build_object(
        'id', k.id, 'bill_id', k.expense_id, 'bill', e.name, 'provider', k.provider_key,
        'provider_name', k.provider_name, 'account', k.account_label, 'status', k.status,
        'last_success_period', k.last_success_period, 'asked_at', k.asked_at,
        'created_at', k.created_at, 'updated_at', k.updated_at
      )
      from app.expenses as e
      join app.provider_links as k on k.expense_id = e.id
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and k.organization_id = organization and (last_id is null or k.id > last_id)
      order by k.id
      limit at_most;
    when 'provider_statements' then return query
      select to_jsonb(s.id), jsonb_build_object(
        'id', s.id, 'link_id', s.link_id, 'bill_id', k.expense_id, 'period', s.period,
        'amount', app.format_minor(s.amount_minor, c.exponent), 'currency', s.currency, 'due_on', s.due_on,
        'status', s.status, 'reason', s.reason, 'usual_amount', app.format_minor(s.usual_minor, c.exponent),
        'occurrence_id', s.occurrence_id, 'fetched_at', s.fetched_at
      )
      from app.expenses as e
      join app.provider_links as k on k.expense_id = e.id
      join app.provider_statements as s on s.link_id = k.id
      join app.currencies as c on c.code = s.currency
      where e.organization_id = organization and e.kind = 'bill' and e.deleted_at is null
        and k.organization_id = organization and s.organization_id = organization
        and (last_id is null or s.id > last_id)
      order by s.id
      limit at_most;
  end case;
end
$function$;

CREATE OR REPLACE FUNCTION app.is_long(tool text, arguments jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  many constant int := 1000;
  target_id text := arguments ->> 'change_id';
begin
  if tool <> 'undo_change' then
    return tool = 'import_expenses';
  end if;
  if target_id is null then
    -- The latest change of this connection, as in app.find_latest_change.
    target_id := app.find_own_latest((auth.jwt() ->> 'grant_id')::uuid);
  end if;
  -- The undo of an import waits for imports first, because a commit locks lines whose other halves it has.
  return exists (select from app.change_sets as s where s.id = target_id and s.tool = 'import_expenses')
    or exists (select from app.change_items as i where i.change_id = target_id offset many);
end
$function$;

CREATE OR REPLACE FUNCTION app.is_relabeling(before jsonb, after jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  -- Generated columns have no value yet.
  ignored constant text[] := '{note,tags,category_id,version,updated_at,match_key,sort_minor}';
begin
  return before - ignored = after - ignored
    -- Members' totals leave private categories out.
    and not exists (
      select from app.categories as c
      where c.id in (before ->> 'category_id', after ->> 'category_id')
        and c.is_private and before -> 'category_id' <> after -> 'category_id'
    );
end
$function$;

CREATE OR REPLACE FUNCTION app.list_known_lines(account_id text, first date, last date)
 RETURNS SETOF app.statement_lines
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return query
    select l.* from app.statement_lines as l
    where l.account_id = list_known_lines.account_id and l.organization_id = identity.current_organization_id()
      and l.booked_on between list_known_lines.first and list_known_lines.last
      -- A line that the books could not take, as in a closed month, may still come into them.
      and (l.kind not in ('expense', 'refund', 'unreadable') or l.is_skipped or l.is_forgotten
        or l.other_half_id is not null
        or exists (select from app.statement_lines as o where o.other_half_id = l.id)
        or exists (select from app.statement_links as k where k.line_id = l.id));
end
$function$;

CREATE OR REPLACE FUNCTION app.match_known_rows(context app.context, batch app.import_batches, first integer, last integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_nestloop TO 'off'
AS $function$
declare
  days constant text[] := array(
    select distinct r.draft ->> 'paid_on' from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.draft is not null
  );
begin
  update app.import_rows as r
  set match = jsonb_build_object('state', case when found.is_transfer then 'transfer' else 'known' end,
    'line_id', found.id, 'payment_ids', array(
    select k.payment_id from app.statement_links as k join app.payments as p on p.id = k.payment_id
    where k.line_id = found.id and p.deleted_at is null
    ))
  from (
    select s.line, l.id, l.kind = 'own_transfer' or l.other_half_id is not null or exists (
        select from app.statement_lines as o where o.other_half_id = l.id
    ) as is_transfer,
      row_number() over (partition by s.line order by l.text = s.text desc, l.nth = s.nth desc, l.nth, l.id)
        as choice,
      row_number() over (partition by l.id order by l.text = s.text desc, l.nth = s.nth desc, s.line)
        as turn
    from app.statement_rows(context, batch, days) as s
    join (
      select k.* from app.list_known_lines(
        batch.account_id, (select min(d::date) from unnest(days) as d), (select max(d::date) from unnest(days) as d)
      ) as k
      offset 0
    ) as l on l.booked_on = s.booked_on and l.amount_minor = s.amount_minor and l.currency = s.currency
      and l.direction = s.direction
    where l.text = s.text and l.nth = s.nth
      -- In another export the bank says it in other words.
      or l.text <> s.text and app.compare_names(app.descriptor_words(l.text), app.descriptor_words(s.text)) > 1
  ) as found
  where r.import_id = batch.id and r.line = found.line and r.line between first and last and r.draft is not null
    and not r.is_skipped and r.match is null and found.choice = 1 and found.turn = 1;
end
$function$;

CREATE OR REPLACE FUNCTION app.name_parties(ids uuid[])
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Security definer: people see only members' profiles, but a debt keeps the name of a former member known.
  return (
    select coalesce(jsonb_object_agg(n.id, coalesce(
      n.email, case when n.nameless > 1 then 'former member ' || left(n.id::text, 4) end
    )), '{}')
    from (
      select i.id, p.email, count(*) filter (where p.email is null) over () as nameless
      from (select distinct unnest(ids) as id) as i
      left join identity.profiles as p on p.user_id = i.id
      where exists (
        select from app.payment_shares as s
        where s.organization_id = identity.current_organization_id() and i.id in (s.member_id, s.paid_by)
      ) or exists (
        select from app.settlements as t
        where t.organization_id = identity.current_organization_id() and i.id in (t.from_id, t.to_id)
      )
    ) as n
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.pair_halves(context app.context, batch app.import_batches, first integer, last integer)
 RETURNS TABLE(line integer, half_id text, is_spending boolean, is_sure boolean, payment_ids text[])
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_nestloop TO 'off'
AS $function$
#variable_conflict use_column
declare
  days constant int := 5;
  most constant int := 5000;
  first_day date;
  last_day date;
  halves app.statement_lines[];
  found record;
  used_lines int[] := '{}';
  used_halves text[] := '{}';
begin
  select min(d.day)::date - days, max(d.day)::date + days into first_day, last_day
  from (
    select substring(coalesce(r.draft ->> 'paid_on', r.item ->> 'date') from '^\d{4}-\d\d-\d\d$') as day
    from app.import_rows as r
    where r.import_id = batch.id and r.line between first and last and r.error is null
  ) as d;
  halves := array(select l from app.list_free_halves(context, batch, first_day, last_day) as l);
  if halves = '{}' then
    return;
  end if;
  for found in
    with taken as materialized (
      select r.match ->> 'half_id' as id from app.import_rows as r
      where r.import_id = batch.id and r.match ? 'half_id'
    ), free as materialized (
      select (h).*, a.name as account_name
      from unnest(halves) as h
      join app.accounts as a on a.id = (h).account_id
      where (h).id not in (select t.id from taken as t)
    ), staged as materialized (
      select s.*, s.kind in ('expense', 'refund') as is_spending
      from app.statement_rows(context, batch, array(
        select d::date::text from generate_series(first_day, last_day, interval '1 day') as d
      )) as s
      where not s.is_skipped
        and case when s.kind in ('expense', 'refund')
          then s.draft is not null and s.line between first and last
            and (s.match is null or s.match = '{"state": "new"}')
          else s.match is null and s.kind in ('own_transfer', 'savings', 'top_up', 'card_payment', 'income') end
    ), pairs as materialized (
      select s.line, s.is_spending, f.id,
        exists (select from app.statement_links as k where k.line_id = f.id) as is_booked,
        s.kind = 'income' or f.kind = 'income' as is_income, abs(s.booked_on - f.booked_on) as gap,
        app.compare_names(app.descriptor_words(f.account_name), app.descriptor_words(s.text)) > 0 as is_named
      from staged as s
      join free as f on f.amount_minor = s.amount_minor and f.currency = s.currency and f.direction <> s.direction
      where abs(s.booked_on - f.booked_on) <= days
        and not (s.is_spending and f.kind in ('expense', 'refund'))
        and not (s.kind = 'income' and f.kind = 'income')
        -- A line that was imported before has found its half by then.
        and (s.is_spending or not exists (
          select from app.statement_lines as l
          where l.account_id = batch.account_id and l.booked_on = s.booked_on and l.amount_minor = s.amount_minor
            and l.currency = s.currency and l.direction = s.direction and l.text = s.text
        ))
    ), counted as (
      select p.*, count(*) filter (where p.is_spending and not p.is_named) over (partition by p.id) as rivals
      from pairs as p
      -- Income of the same amount does not make a purchase a transfer.
      where not (p.is_booked and p.is_income)
    )
    select c.*, case when c.is_booked then app.list_removable(context, c.id) end as removes
    from counted as c
    order by c.is_spending or c.is_booked, c.is_named desc, c.is_booked, c.is_income, c.gap, c.line, c.id
    limit most
  loop
    continue when found.line = any (used_lines) or found.id = any (used_halves)
      or found.is_booked and found.removes is null;
    line := found.line;
    half_id := found.id;
    is_spending := found.is_spending;
    is_sure := not found.is_booked and not (found.is_spending and found.is_income)
      and (not found.is_spending or found.is_named or found.rivals < 2);
    payment_ids := found.removes;
    used_lines := used_lines || line;
    -- Several rows that may be the same half are all asked about.
    if is_sure or found.is_booked then
      used_halves := used_halves || half_id;
    end if;
    return next;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION app.read_preferences(organization_id text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return (
    select jsonb_build_object(
      'id', o.id, 'timezone', p.timezone, 'base_currency', o.base_currency, 'own_only', o.own_only,
      'relabel_closed', o.relabel_closed, 'email_enabled', p.email_enabled,
      'default_lead_days', p.default_lead_days, 'hide_amounts_in_email', p.hide_amounts_in_email, 'closed_through',
      o.closed_through,
      'mails', (select jsonb_object_agg(m.user_id, m.mails) from identity.memberships as m where m.organization_id
        = o.id)
    )
    from identity.organizations as o
    join identity.profiles as p on p.user_id = o.owner_id
    where o.id = read_preferences.organization_id
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.read_settings(context app.context)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return (
    select jsonb_build_object(
      'timezone', p.timezone, 'base_currency', context.base_currency,
      'reminders', jsonb_build_object(
        'email_enabled', own.email_enabled, 'email',
        case when own.reminder_email_confirmed_at is not null then own.reminder_email else own.email end,
        'default_days_before', p.default_lead_days, 'hide_amounts_in_email', own.hide_amounts_in_email,
        'my_mails', (select m.mails from identity.memberships as m
          where m.organization_id = context.organization_id and m.user_id = context.actor_id)
      )
    ) || case when o.closed_through is null then '{}'
      else jsonb_build_object('closed_through', app.month_name(o.closed_through)) end
      || case when o.own_only then '{"own_only":true}' else '{}' end::jsonb
      || case when o.relabel_closed then '{"relabel_closed":true}' else '{}' end::jsonb
    from identity.profiles as p
    join identity.organizations as o on o.id = context.organization_id
    -- Only the person sees their own mail settings.
    join identity.profiles as own on own.user_id = context.actor_id
    where p.user_id = context.owner_id
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.refuse_closed_month()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  organization_id constant text := coalesce(new.organization_id, old.organization_id);
  days date[];
  organization record;
  day date;
  is_relabeling boolean := false;
begin
  if tg_table_name = 'expenses' then
    -- By the expense first: of a table without statistics the planner takes hardly any row to be undeleted, and reads
    -- all of those instead.
    days := array(
      select p.paid_on
      from (select p.* from app.payments as p where p.expense_id = new.id offset 0) as p
      where p.deleted_at is null
    );
  else
    if tg_op <> 'INSERT' and old.deleted_at is null then
      days := days || old.paid_on;
    end if;
    if tg_op <> 'DELETE' and new.deleted_at is null then
      days := days || new.paid_on;
    end if;
  end if;
  if days <> '{}' then
    select o.closed_through, o.relabel_closed into organization from identity.organizations as o
    where o.id = organization_id for share;
    select min(d) into day from unnest(days) as d where d <= organization.closed_through;
    if day is not null then
      is_relabeling := tg_op = 'UPDATE' and app.is_relabeling(to_jsonb(old), to_jsonb(new));
      if not (is_relabeling and organization.relabel_closed) then
        perform app.fail('month_closed', app.closed_month(day)
          || case when is_relabeling then '{"is_label":true}' else '{}' end::jsonb);
      end if;
    end if;
  end if;
  return coalesce(new, old);
end
$function$;

CREATE OR REPLACE FUNCTION app.shared_preferences()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
RETURN ARRAY['base_currency'::text, 'closed_through'::text, 'own_only'::text, 'relabel_closed'::text];

CREATE OR REPLACE FUNCTION app.statement_rows(context app.context, batch app.import_batches, days text[] DEFAULT NULL::text[])
 RETURNS TABLE(line integer, kind text, booked_on date, text text, direction text, amount_minor bigint, currency text, nth bigint, is_skipped boolean, match jsonb, draft jsonb)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
#variable_conflict use_column
declare
  home constant text := coalesce(
    batch.read ->> 'default_currency', app.account_currency(context, batch.account_id), context.base_currency
  );
  -- Of a row without a readable day.
  last_day constant text := case when days is null then (
    select max(coalesce(r.draft ->> 'paid_on', substring(r.item ->> 'date' from '^\d{4}-\d\d-\d\d$')))
    from app.import_rows as r
    where r.import_id = batch.id
  ) end;
begin
  return query
    with staged as (
      select r.line, r.kind, r.is_skipped, r.match, r.draft, r.error is not null as is_bad,
        coalesce(
          substring(b.item ->> 'date' from '^\d{4}-\d\d-\d\d$'), r.draft ->> 'paid_on',
          case when r.error is not null then last_day end
        ) as day,
        left(coalesce(nullif(b.item ->> 'text', ''), b.item ->> 'name', r.kind), 500) as text,
        -- What the account was charged is its line, whatever the price tag said.
        case when b.item #> '{charged,amount}' is not null then b.item -> 'charged' else b.item end as money,
        coalesce(
          case b.item ->> 'direction' when 'out' then 'out' when 'in' then 'refund' end,
          case r.kind when 'refund' then 'refund' end, 'out'
        ) as direction
      from app.import_rows as r
      -- Corrected or not, the line is the bank's.
      cross join lateral (select coalesce(r.item -> 'as_read', r.item) as item) as b
      where r.import_id = batch.id
        and (days is null or coalesce(r.draft ->> 'paid_on', r.item ->> 'date') = any (days))
    ), named as (
      select s.*, case when c.code ~ '^[A-Z]{3}$' then c.code else app.currency_of_sign(c.code, home) end as currency
      from staged as s
      cross join lateral (
        select coalesce(nullif(s.money ->> 'currency', ''), s.draft ->> 'currency', home) as code
      ) as c
    ), valued as (
      select n.*, coalesce(
        case when n.money ->> 'amount' ~ '^\d{1,12}(\.\d{1,4})?$'
          then trunc((n.money ->> 'amount')::numeric * 10::numeric ^ c.exponent)::bigint end,
        (n.draft ->> 'amount_minor')::bigint, case when n.is_bad then 0 end
      ) as amount_minor
      from named as n
      join app.currencies as c on c.code = n.currency
    )
    select v.line,
      -- A half remains spending, because an undo may take the other half along.
      case when v.match ->> 'state' = 'transfer' and not v.match ? 'half_id' and v.kind in ('expense', 'refund')
          then 'own_transfer'
        when v.is_bad and v.amount_minor = 0 then 'unreadable'
          else v.kind end, v.day::date, v.text, v.direction, v.amount_minor, v.currency,
      row_number() over (
        partition by v.day, v.amount_minor, v.currency, v.direction, v.text order by v.line
      ),
      v.is_skipped, v.match, v.draft
    from valued as v
    where v.day is not null and v.amount_minor <= 1000000000000000
      -- Nothing moved.
      and (not v.is_bad or v.money ->> 'amount' ~ '[1-9]' or not v.money ? 'amount');
end
$function$;

CREATE OR REPLACE FUNCTION app.summarize_spending(context app.context, arguments jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
declare
  filter app.expense_filter := app.parse_expense_filter(context, arguments);
  period constant app.period := app.parse_period(context, arguments, filter);
  -- With upcoming dates a period is complete and is compared with a complete one.
  earlier constant app.period :=
    case when (arguments ->> 'include_upcoming')::boolean then app.earlier_period(period, arguments ->> 'compare')
    else app.compared_period(period, arguments ->> 'compare', context.today) end;
  is_compared constant boolean := earlier.from_on is not null;
  books_begin constant date := case when is_compared then app.books_begin(earlier) end;
  -- Only then do a budget and the rows speak of the same spending.
  is_about_categories constant boolean := filter.tags = '{}' and num_nonnulls(
    filter.words, filter.payee, filter.member_id, filter.borne_by, filter.recorded_by, filter.not_category_ids,
    filter.min_minor,
    filter.max_minor,
    filter.currency, filter.kind, filter.reimbursement
  ) = 0;
  dimensions constant text[] := array(
    select d.value
      from jsonb_array_elements_text(coalesce(arguments -> 'group_by', '["category"]')) with ordinality as d
    group by d.value order by min(d.ordinality)
  );
  target constant text := coalesce(arguments ->> 'in_currency', context.base_currency);
  exponent constant int := app.currency_exponent(target, 'in_currency');
  expected jsonb;
  unknown_amounts text[];
  estimated record;
  spending app.spending;
  -- Shares of one payment are in several groups, so totals are summed without them.
  overall app.spending;
  rows jsonb;
  warnings jsonb := '[]';
  total jsonb;
begin
  filter.from_on := period.from_on;
  filter.to_on := period.to_on;
  -- They do not see what others bear.
  if 'borne_by' = any (dimensions) and identity.sees_own_only() then
    filter.borne_by := coalesce(filter.borne_by, context.actor_id);
  end if;
  if (filter.borne_by is not null or dimensions && array['borne_by', 'recorded_by'])
    and (arguments ->> 'include_upcoming')::boolean then
    perform app.fail('invalid_argument.upcoming_unshared', field => 'include_upcoming');
  end if;
  if (arguments ->> 'include_upcoming')::boolean and coalesce(filter.kind, 'bill_payment') = 'bill_payment'
    and coalesce(filter.reimbursement, 'none') = 'none' then
    expected := app.list_expected(context, filter);
    select array_agg(distinct x.name) into unknown_amounts
    from jsonb_to_recordset(expected) as x (name text, expected_minor bigint)
    where x.expected_minor is null;
    with estimates as (
      select x.*
      from jsonb_to_recordset(expected) as x (name text, expected_minor bigint, currency text, is_estimate boolean)
      where x.is_estimate and x.expected_minor is not null
    )
    select array(select distinct x.name from estimates as x order by x.name) as names,
      array(
        select (x.currency, sum(x.expected_minor))::app.money_sum from estimates as x group by x.currency
      ) as sums
    into estimated;
  end if;
  spending := app.sum_spending(context, filter, earlier, expected, dimensions, target);
  overall := case when 'borne_by' = any (dimensions)
    then app.sum_spending(context, filter, earlier, expected, array['currency'], target) else spending end;
  rows := app.rank_spending(spending, dimensions, coalesce((arguments ->> 'top')::int, 20), target, is_compared);
  if jsonb_array_length(rows) > 1000 then
    perform app.fail('invalid_argument.too_many_rows', jsonb_build_object('count', jsonb_array_length(rows)),
      'group_by');
  end if;

  if books_begin is not null then
    rows :=
      (select coalesce(jsonb_agg(r.value - 'change_percent' order by r.ordinality), '[]')
      from jsonb_array_elements(rows) with ordinality as r);
    warnings := warnings || app.warning(
      'books_begin', jsonb_build_object('on', books_begin, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  elsif is_compared and period.to_on > context.today
    and not coalesce((arguments ->> 'include_upcoming')::boolean, false) then
    warnings := warnings || app.warning(
      'period_running', jsonb_build_object('until', period.to_on, 'from', earlier.from_on, 'to', earlier.to_on)
    );
  end if;

  select jsonb_build_object(
    'amount', app.format_minor(coalesce(sum(g.once_minor), 0), exponent), 'currency', target, 'count',
    coalesce(sum(g.once_count), 0),
    'upcoming', app.format_minor(sum(g.once_upcoming_minor), exponent),
    'previous', case when is_compared then app.format_minor(coalesce(sum(g.once_earlier_minor), 0), exponent) end,
    'change_percent', case when is_compared and books_begin is null then
      round((sum(g.once_minor) - sum(g.once_earlier_minor)) * 100 / nullif(abs(sum(g.once_earlier_minor)), 0), 1)
    end,
    'average', app.average_spending(context, period, dimensions, sum(g.once_minor), exponent)
  ) into total
  from unnest(overall.groups) as g;
  if 'tag' = any (dimensions) and exists (select from unnest(spending.groups) as g where g.count > g.once_count) then
    warnings := warnings || app.warning('tags_overlap');
  end if;
  if spending.is_partial then
    warnings := warnings || app.warning('rate_missing.of_payments', jsonb_build_object('into', target));
  end if;
  if expected is not null then
    warnings := warnings || app.warn_of_estimates(estimated.names, estimated.sums);
  end if;
  if unknown_amounts is not null then
    warnings := warnings || app.warning('amount_missing.to_come', jsonb_build_object('names', unknown_amounts));
  end if;

  warnings := warnings || app.warn_of_unsettled(context, filter)
    || app.warn_of_pending(spending.pending_since is not null, target, spending.pending_since)
    || app.warn_of_unvalued(filter)
    || case when is_compared and books_begin is null then app.warn_of_borders(filter, period, earlier) else '[]' end;

  return jsonb_build_object(
    'data', jsonb_build_object(
      'period', jsonb_build_object('from', period.from_on, 'to', period.to_on) || case when is_compared then
        jsonb_build_object('previous', jsonb_build_object('from', earlier.from_on, 'to', earlier.to_on)) else '{}' end,
      'rows', rows,
      'total', total,
      'budgets', case when is_about_categories then
        app.describe_budgets(context, greatest(period.from_on, least(context.today, period.to_on)), filter.category_ids)
      end,
      'fx', jsonb_build_object(
        'sources', spending.sources, 'as_of', spending.as_of
      ),
      'unconverted', spending.unconverted,
      'tax_by_currency', case when filter.borne_by is null then app.tax_in(filter) end,
      'no_match', case when rows = '[]' then app.find_near_matches(filter) end
    ),
    'warnings', warnings
  );
end
$function$;

CREATE OR REPLACE FUNCTION app.write_preferences(organization_id text, wanted jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  before constant jsonb := app.read_preferences(organization_id);
  change constant text := nullif(current_setting('app.change_id', true), '');
  after jsonb;
begin
  -- Without the right to it nothing is written: row-level security passes over it. The base
  -- currency reaches every payment by its foreign key, and values it anew.
  update identity.profiles as p
  set timezone = coalesce(wanted ->> 'timezone', p.timezone),
    email_enabled = coalesce((wanted ->> 'email_enabled')::boolean, p.email_enabled),
    default_lead_days = coalesce((wanted ->> 'default_lead_days')::smallint, p.default_lead_days),
    hide_amounts_in_email = coalesce((wanted ->> 'hide_amounts_in_email')::boolean, p.hide_amounts_in_email),
    updated_at = app.instant()
  from identity.organizations as o
  where o.id = write_preferences.organization_id and p.user_id = o.owner_id and p.user_id = (select auth.uid())
    and not before @> wanted;
  update identity.organizations as o set base_currency = wanted ->> 'base_currency', updated_at = app.instant()
  where o.id = write_preferences.organization_id and o.base_currency <> wanted ->> 'base_currency';
  update identity.organizations as o
  set own_only = coalesce((wanted ->> 'own_only')::boolean, o.own_only),
    relabel_closed = coalesce((wanted ->> 'relabel_closed')::boolean, o.relabel_closed), updated_at = app.instant()
  where o.id = write_preferences.organization_id
    and (o.own_only <> (wanted ->> 'own_only')::boolean or o.relabel_closed <> (wanted ->> 'relabel_closed')::boolean);
  update identity.memberships as m set mails = wanted -> 'mails' ->> m.user_id::text
  where m.organization_id = write_preferences.organization_id and m.user_id = (select auth.uid())
    and m.mails <> wanted -> 'mails' ->> m.user_id::text;
  update identity.organizations as o
  set closed_through = (wanted ->> 'closed_through')::date, updated_at = app.instant()
  where o.id = write_preferences.organization_id and wanted ? 'closed_through'
    and o.closed_through is distinct from (wanted ->> 'closed_through')::date;
  after := app.read_preferences(organization_id);
  if wanted ? 'mails' and not after -> 'mails' @> (wanted -> 'mails') then
    perform app.fail('forbidden_role.mails');
  end if;
  if not after @> (wanted - 'mails') then
    if after @> (wanted - app.shared_preferences()) then
      perform app.fail('forbidden_role.settings', app.list_who_may('settings:write'));
    end if;
    perform app.fail('forbidden_role.owner_settings', app.list_who_may('organization:manage'));
  end if;
  if change is not null and after <> before then
    insert into app.change_items (change_id, organization_id, table_name, row_id, before, after)
    select change, write_preferences.organization_id, 'settings', write_preferences.organization_id,
      jsonb_object_agg(b.key, app.narrow_mails(b.value, b.key, wanted)),
      jsonb_object_agg(b.key, app.narrow_mails(after -> b.key, b.key, wanted))
    from jsonb_each(before) as b
    where b.value is distinct from after -> b.key;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION app.write_statement_lines(context app.context, batch app.import_batches)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
 SET enable_nestloop TO 'off'
AS $function$
declare
  change constant text := nullif(current_setting('app.change_id', true), '');
  first_day date;
  last_day date;
  missing int;
begin
  select min((r.draft ->> 'paid_on')::date), max((r.draft ->> 'paid_on')::date) into first_day, last_day
  from app.import_rows as r
  where r.import_id = batch.id and r.draft is not null;
  -- What can be read by now is a line of its own.
  delete from app.statement_lines as l
  where l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.kind = 'unreadable'
    and exists (
      select from app.import_rows as r
      where r.import_id = batch.id and r.error is null and coalesce(r.item -> 'as_read', r.item) ->> 'text' = l.text
    );
  with staged as materialized (
    -- What is to be written once more is a line that is there.
    select s.*, coalesce(s.match ->> 'line_id', l.id) as known_id,
      coalesce(s.match ->> 'line_id', l.id, app.new_id('lin')) as id
    from app.statement_rows(context, batch) as s
    -- Kept by an import before the books could take it.
    left join app.statement_lines as l
      on l.account_id = batch.account_id and l.organization_id = batch.organization_id and l.booked_on = s.booked_on
        and l.amount_minor = s.amount_minor and l.currency = s.currency and l.direction = s.direction
        and l.text = s.text and l.nth = s.nth and not l.is_skipped and not l.is_forgotten
        and not exists (select from app.statement_links as k where k.line_id = l.id)
    where s.match ->> 'state' is distinct from 'known'
  ), written as (
    insert into app.statement_lines (
      id, organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency, nth, is_skipped,
      other_half_id, change_id
    )
    select s.id, batch.organization_id, batch.account_id, s.booked_on, s.text, s.kind, s.direction, s.amount_minor,
      s.currency, s.nth, s.is_skipped, s.match ->> 'half_id', change
    from staged as s
    where batch.account_id is not null and s.known_id is null
    on conflict do nothing
    returning id
  ), counted as (
    update app.statement_lines as l
    set is_skipped = false, other_half_id = coalesce(l.other_half_id, s.match ->> 'half_id')
    from staged as s
    where l.id = s.known_id and not s.is_skipped
    returning l.id
  ), paid as (
    -- All at once: looked up for each row, the planner walks all payments where it takes them for few.
    select s.id as line_id, p.id
    from staged as s
    cross join lateral jsonb_array_elements_text(s.match -> 'payment_ids') as k (id)
    join app.payments as p on p.id = k.id
    where s.match ->> 'state' = 'linked' and not s.is_skipped
    union all
    select s.id, p.id
    from staged as s
    cross join lateral (
      select s.draft ->> 'id' union select part ->> 'id' from jsonb_array_elements(s.draft -> 'parts') as part
    ) as d (id)
    join app.payments as p
      on p.expense_id = d.id and p.organization_id = batch.organization_id
        and p.paid_on between first_day and last_day and p.deleted_at is null
    where s.match ->> 'state' = 'new' and not s.is_skipped
  ), linked as (
    insert into app.statement_links (line_id, payment_id, organization_id)
    select w.id, p.id, batch.organization_id
    from (select id from written union all select id from counted) as w
    join paid as p on p.line_id = w.id
    returning line_id
  )
  select count(*) into missing
  from staged as s
  -- A new row without an id is of a closed month: the bank has it, and the books do not.
  where batch.account_id is not null and s.match is not null and not s.is_skipped
    and (s.match ->> 'state' <> 'new' or s.draft ? 'id') and s.match ->> 'state' <> 'transfer'
    and s.kind in ('expense', 'refund')
    and not exists (select from linked as l where l.line_id = s.id);
  return missing;
end
$function$;

CREATE OR REPLACE FUNCTION public.ping()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return jsonb_build_object('schema', 2);
end
$function$;

COMMENT ON COLUMN "identity"."organizations"."relabel_closed" IS 'Whether notes, tags and categories may change in closed months (app.is_relabeling).';

COMMENT ON FUNCTION "app"."is_relabeling"(jsonb, jsonb) IS 'Whether an update of a payment or an expense changes only its note, tags or category, and no total of a month.';

COMMENT ON FUNCTION "app"."refuse_closed_month"() IS 'Rejects changes to payments in a closed month and to their expenses, apart from labels where the organization allows them.';

REVOKE ALL ON FUNCTION "app"."is_relabeling"(jsonb, jsonb) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "app"."is_relabeling"(jsonb, jsonb) TO "authenticated", "postgres", "service_role";

REVOKE ALL ("relabel_closed") ON TABLE "identity"."organizations" FROM "authenticated";

GRANT UPDATE ("relabel_closed") ON TABLE "identity"."organizations" TO "authenticated";
