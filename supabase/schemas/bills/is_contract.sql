create or replace function app.is_contract(contract jsonb) returns boolean
language plpgsql immutable strict set search_path = '' as $$
begin
  return jsonb_typeof(contract) = 'object' and contract <> '{}' and contract - array[
      'started_on', 'term_months', 'renewal_months', 'notice', 'form', 'customer_number', 'address', 'drafted_on',
      'leave_on', 'confirmed_on'
  ] = '{}'
    and not exists (
      select from jsonb_each_text(contract) as f where f.key like '%\_on' and f.value !~ '^\d{4}-\d\d-\d\d$'
    )
    and coalesce((contract ->> 'term_months')::int between 0 and 240, true)
    and coalesce((contract ->> 'renewal_months')::int between 0 and 240, true)
    and coalesce(contract ->> 'notice' ~ '^[0-9]{1,3} (days|weeks|months)( to (term|month|quarter|day))?$', true)
    and coalesce(contract ->> 'form' in ('letter', 'email', 'online', 'any'), true)
    and coalesce(length(contract ->> 'customer_number') between 1 and 60, true)
    and coalesce(length(contract ->> 'address') between 1 and 300, true);
end
$$;
comment on function app.is_contract is
  'Whether a value has the form {started_on?, term_months? (0: no minimum term), renewal_months? (0: continues until '
  'it is cancelled), notice? ("3 months to quarter"), form?, customer_number?, address?, drafted_on?, leave_on?: the '
  'last day requested by the letter, confirmed_on?}. An empty object and other keys are invalid.';
