create or replace function app.settle_estimate(estimate app.payments, amount_minor bigint)
  returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.payments as p
  set amount_minor = settle_estimate.amount_minor, is_estimate = false,
    tax_minor = app.follow_tax(p.tax_minor, p.tax_percent, settle_estimate.amount_minor)
  where p.id = estimate.id;
end
$$;
comment on function app.settle_estimate is 'Changes a payment with an estimate to the real amount.';

create or replace function app.keep_statement(context app.context, link app.provider_links, bill app.expenses,
  period date, said jsonb, is_asked_for boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  due_month constant date := period + interval '1 month';
  statement app.provider_statements;
  kept app.provider_statements;
  occurrence app.expense_occurrences;
  old_minor bigint;
  is_new boolean;
  lost_its_occurrence boolean;
  is_taken boolean;
  found_date app.expense_occurrences;
  estimate app.payments;
begin
  statement.amount_minor := app.statement_minor(said ->> 'amount', said ->> 'currency');
  statement.currency := said ->> 'currency';
  statement.due_on := said ->> 'due_on';
  statement.payload_sha256 := encode(sha256(convert_to(
    concat_ws('|', statement.amount_minor, statement.currency, coalesce(statement.due_on::text, '')), 'UTF8'
  )), 'hex');
  perform app.refresh_bill(bill.id, context.today);
  select * into kept from app.provider_statements as s
  where s.link_id = link.id and s.period = keep_statement.period and s.status <> 'superseded' for update;
  occurrence := app.find_statement_date(bill, kept, due_month);
  if occurrence.id is null then
    perform app.write_statement_date(context, bill, due_month);
    occurrence := app.find_statement_date(bill, kept, due_month);
  end if;
  old_minor := occurrence.expected_minor;
  found_date := occurrence;
  select * into estimate from app.payments as p
  where p.occurrence_id = occurrence.id and p.is_estimate and p.deleted_at is null
    and p.amount_minor = occurrence.paid_minor and occurrence.status = 'paid'
    -- A closed month keeps its amount, and a mail reports the difference.
    and not app.is_closed(p.organization_id, p.paid_on);
  if estimate.id is not null then
    -- An estimate does not block the real amount.
    occurrence.status := 'open';
    occurrence.paid_minor := 0;
  end if;
  statement := app.rejudge_statement(statement, occurrence);
  is_new := kept.payload_sha256 is distinct from statement.payload_sha256;
  lost_its_occurrence := kept.id is not null and kept.occurrence_id is null;
  -- A person's decision also applies to a repeated statement, unless a person requests the amount or the date has been
  -- recreated since.
  is_taken := statement.reason is null
    and (occurrence.expected_minor is distinct from statement.amount_minor or estimate.id is not null)
    and (is_new or (is_asked_for or lost_its_occurrence) and occurrence.amount_source <> 'override');
  if is_new or is_taken or lost_its_occurrence and kept.status <> 'ignored' then
    update app.provider_statements as s set status = 'superseded', reason = null where s.id = kept.id and is_new;
    insert into app.provider_statements as s (
      organization_id, link_id, period, amount_minor, currency, due_on, payload_sha256, status, reason, usual_minor,
      occurrence_id, fetched_at
    ) values (
      link.organization_id, link.id, period, statement.amount_minor, statement.currency,
      statement.due_on, statement.payload_sha256,
      case statement.reason when 'not_due' then 'ignored'
        else case when statement.reason is null then 'applied' else 'needs_review' end end,
      statement.reason, statement.usual_minor, occurrence.id, context.at
    )
    on conflict on constraint provider_statements_link_id_period_payload_sha256_key do update
      set status = excluded.status, reason = excluded.reason, usual_minor = excluded.usual_minor,
        occurrence_id = excluded.occurrence_id, fetched_at = excluded.fetched_at;
  end if;
  if is_taken then
    if estimate.id is not null then
      perform app.settle_estimate(estimate, statement.amount_minor);
    end if;
    update app.expense_occurrences as o
    set expected_minor = statement.amount_minor, amount_source = 'provider',
      status = case when o.paid_minor = statement.amount_minor then 'paid' else 'open' end,
      closed_at = case when o.paid_minor = statement.amount_minor then context.at end
    where o.id = occurrence.id;
    perform app.pay_awaited(bill, found_date, context.today);
    perform app.refresh_bill(bill.id, context.today);
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'status',
    case when is_taken then 'updated' when statement.reason is null or statement.reason = 'not_due' then 'unchanged'
      else 'needs_review' end,
    'due_on', occurrence.due_on, 'old', app.format_amount(old_minor, occurrence.currency),
    'new', app.format_amount(statement.amount_minor, statement.currency), 'currency', statement.currency,
    'usual', app.format_amount(statement.usual_minor, occurrence.currency), 'reason', statement.reason,
    'said', case
      when is_taken and estimate.id is not null then
        app.sync_fact('corrected', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on))
      when is_taken then app.sync_fact('taken', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on))
      when bill.amount_mode <> 'variable' then app.sync_fact('same_amount', jsonb_build_object('name', bill.name))
      when statement.reason = 'not_due' then
        app.sync_fact('not_due', jsonb_build_object('name', bill.name, 'month', to_char(due_month, 'YYYY-MM')))
      when statement.reason is not null then app.sync_fact('question', jsonb_build_object(
        'name', bill.name, 'provider', app.provider_name(link), 'reason', statement.reason
      ))
      when occurrence.expected_minor is distinct from statement.amount_minor then
        app.sync_fact('set_by_hand', jsonb_build_object('name', bill.name))
      else app.sync_fact('unchanged', jsonb_build_object('name', bill.name))
    end
  ));
end
$$;
comment on function app.keep_statement is
  'Stores a statement {amount, currency, due_on?} of a month and applies its amount unless app.judge_statement '
  'objects: {status: updated, unchanged or needs_review, due_on?, old?, new, currency, usual?, reason?, said}. A '
  'repeated statement changes nothing, unless a person requests it.';

create or replace function app.keep_answer(context app.context, link app.provider_links, period date, answer jsonb,
  is_asked_for boolean, is_last boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Null for an answer with a statement.
  code constant text := case
    when answer ->> 'outcome' <> 'statement' then coalesce(answer ->> 'code', 'upstream')
    when app.statement_minor(answer ->> 'amount', answer ->> 'currency') is null then 'bad_shape'
  end;
  -- The latest month determines the link's status.
  is_current constant boolean := period >= date_trunc('month', context.at at time zone 'UTC') - interval '1 month';
  bill app.expenses;
begin
  update app.provider_links as l
  set provider_name = coalesce(answer ->> 'provider_name', l.provider_name),
    last_success_period
      = case when code is null then greatest(l.last_success_period, period) else l.last_success_period end,
    last_error_code = case when is_current then code else l.last_error_code end,
    consecutive_failures = case when not is_current then l.consecutive_failures
      when code is null or code = 'not_ready' then 0 else l.consecutive_failures + 1 end,
    backlog
      = case when code is null or code = 'not_ready' then array_remove(l.backlog, period) else l.backlog end,
    status = case when code = 'auth' then 'needs_reauth' else l.status end,
    -- Wait until the next run at the latest, or an hour if the provider gives no time.
    ask_after
      = case when code = 'rate_limited'
      then context.at + least(coalesce((answer ->> 'retry_after')::int, 3600), 82800) * interval '1 second' end,
    asked_at = context.at, lease_token = case when not is_last then l.lease_token end,
    leased_until = case when not is_last then l.leased_until end, updated_at = context.at
  where l.id = link.id
  returning l.* into link;
  select * into strict bill from app.expenses as e where e.id = link.expense_id;
  return jsonb_build_object('bill_id', bill.id, 'name', bill.name) || case
    when code is null then app.keep_statement(context, link, bill, period, answer, is_asked_for)
    else jsonb_build_object(
      'status', case code when 'not_ready' then 'not_ready' when 'auth' then 'needs_reauth' else 'failed' end, 'code',
      code,
      'said', app.sync_fact(
        case when code in ('not_ready', 'auth', 'rate_limited', 'no_adapter') then code else 'failed' end,
        jsonb_build_object('name', bill.name, 'provider', app.provider_name(link), 'month', to_char(period, 'YYYY-MM'))
      )
    )
  end;
end
$$;
comment on function app.keep_answer is
  'Stores the result of querying a provider for a month, {outcome: "statement", amount, currency, due_on?} or '
  '{outcome: "failed", code, retry_after?}: {bill_id, name, status, said, …}. The caller must hold the lease; the '
  'last result ends it.';
