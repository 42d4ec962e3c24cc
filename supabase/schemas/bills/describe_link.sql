-- A bill's provider connection for answers: its name, its status, and amounts that need a review.

create or replace function app.link_status(link app.provider_links, at timestamptz) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when link.resumes_as is not null
      or link.status in ('pending', 'active', 'needs_reauth')
        and not identity.organization_has_feature(link.organization_id, 'bills:variable', link_status.at)
      then 'paused_by_plan'
    else link.status
  end;
end
$$;
comment on function app.link_status is
  'Returns the status of a link, or paused_by_plan while the organization''s plan does not include fetching.';

create or replace function app.rejudge_statement(statement app.provider_statements, occurrence app.expense_occurrences)
  returns app.provider_statements
language plpgsql stable set search_path = '' as $$
begin
  statement.usual_minor := app.usual_statement(occurrence);
  statement.reason :=
    app.judge_statement(occurrence, statement.amount_minor, statement.currency, statement.usual_minor);
  return statement;
end
$$;
comment on function app.rejudge_statement is
  'Returns a statement with its current reason and usual amount. They change when its date is reopened, a payment is '
  'undone, or the bill''s currency changes.';

create or replace function app.open_question(link app.provider_links)
  returns table (statement app.provider_statements, occurrence app.expense_occurrences)
language sql stable rows 1
begin atomic
  select j, o
  from app.provider_statements as s
  join app.expense_occurrences as o on o.id = s.occurrence_id
  cross join lateral app.rejudge_statement(s, o) as j
  where s.link_id = (link).id and s.status = 'needs_review'
    -- A person who set the amount or paid has answered the review.
    and not (o.amount_source = 'override' and o.updated_at >= s.fetched_at)
    and case
      when o.status = 'open'
        then j.reason is not null or o.expected_minor is distinct from s.amount_minor and o.amount_source <> 'override'
      -- A settled date needs no review. Until the next statement, answers report that the amounts differ.
      else s.reason in ('paid', 'skipped') and j.reason = s.reason and s.period = (link).last_success_period
    end
  order by s.period desc
  limit 1;
end;
comment on function app.open_question is
  'Returns the latest statement of a link that needs a review, with its due date; null without one. reason: the '
  'obstacle to applying it; null if it could now be applied.';

create or replace function app.describe_link(context app.context, link app.provider_links) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  question record;
begin
  select * into question from app.open_question(link);
  return jsonb_strip_nulls(jsonb_build_object(
    'name', app.provider_name(link), 'status', app.link_status(link, context.at),
    'needs_review', case when question is not null then jsonb_build_object(
      'due_on', (question.occurrence).due_on, 'amount',
      app.format_amount((question.statement).amount_minor, (question.statement).currency),
      'period', to_char((question.statement).period, 'YYYY-MM'),
      'currency', (question.statement).currency, 'reason', (question.statement).reason,
      'usual', app.format_amount((question.statement).usual_minor, (question.statement).currency)
    ) end
  ));
end
$$;
comment on function app.describe_link is
  'Returns a link as tools show it: {name, status, needs_review?: {due_on, amount, currency, reason?, usual?}}. '
  'needs_review has the provider''s unapplied amount; without a reason, sync_bill_amounts applies it.';
