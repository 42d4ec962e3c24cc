-- The content of a digest, described when it is claimed, from the current data. Each organization is read as the
-- recipient under row-level security, so a missing condition can't reveal other people's bills.

create or replace function app.describe_statement(occurrence_id text, recipient identity.profiles, out fetched jsonb,
  out not_taken jsonb) returns record
language plpgsql stable strict set search_path = '' as $$
declare
  occurrence app.expense_occurrences;
  statement app.provider_statements;
  link app.provider_links;
  is_taken boolean;
  told jsonb;
begin
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence_id;
  -- The statement that supplied the amount, or a valid one with another amount, unless somebody has set the amount
  -- since.
  select * into statement
  from app.provider_statements as s
  where s.occurrence_id = occurrence.id and s.organization_id = occurrence.organization_id and case
    when s.amount_minor = occurrence.expected_minor and s.currency = occurrence.currency
      then occurrence.amount_source = 'provider' and s.status <> 'ignored'
    else s.status = 'needs_review'
      and not (occurrence.amount_source = 'override' and occurrence.updated_at >= s.fetched_at)
      -- Skip providers whose connection to the bill has ended.
      and exists (select from app.provider_links as l where l.id = s.link_id and l.status <> 'revoked')
  end
  order by (s.amount_minor = occurrence.expected_minor and s.currency = occurrence.currency) is true, s.fetched_at desc
  limit 1;
  if not found then
    return;
  end if;
  select * into link from app.provider_links as l where l.id = statement.link_id;
  is_taken := statement.amount_minor = occurrence.expected_minor and statement.currency = occurrence.currency;
  if is_taken is not true then
    -- The bill's currency may have changed since.
    statement.usual_minor := app.usual_statement(occurrence);
  end if;
  told := jsonb_build_object(
    'on', (statement.fetched_at at time zone recipient.timezone)::date, 'provider', app.provider_name(link), 'currency',
    statement.currency,
    'amount',
    case when not recipient.hide_amounts_in_email
      then app.format_amount(statement.amount_minor, statement.currency) end,
    'usual', case when not recipient.hide_amounts_in_email and statement.currency = occurrence.currency
      then app.format_amount(statement.usual_minor, statement.currency) end
  );
  if is_taken then
    fetched := told;
  else
    not_taken := told;
  end if;
end
$$;
comment on function app.describe_statement is
  'Returns a provider''s statement for a due date, {on, provider, amount, currency, usual}: fetched when it became the '
  'amount, not_taken when it needs a review.';
