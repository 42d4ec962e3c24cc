-- Changes one date of a bill, or its provider connection, for update_bill.

create or replace function app.change_occurrence(context app.context, bill app.expenses, change jsonb)
  returns app.expense_occurrences
language plpgsql volatile set search_path = '' as $$
declare
  action constant text := change ->> 'action';
  day constant date := app.parse_due_on(context, bill, change ->> 'due_on', 'occurrence.due_on');
  snooze_until constant date := app.parse_date(context, change ->> 'snooze_until', 'occurrence.snooze_until');
  occurrence app.expense_occurrences := app.find_occurrence(bill, day, 'occurrence.due_on');
  amount_minor constant bigint := app.parse_amount(change ->> 'amount', occurrence.currency, 'occurrence.amount');
  paid constant bigint := app.paid_minor(occurrence.id);
begin
  if occurrence.status = 'paid' and action <> 'reopen' then
    perform app.fail_already_paid(
      'already_paid.to_reopen', bill,
      (select p from app.payments as p where p.occurrence_id = occurrence.id and p.deleted_at is null
        order by p.recorded_seq desc limit 1),
      occurrence.due_on, field => 'occurrence.due_on'
    );
  elsif occurrence.status = 'skipped' and action in ('snooze', 'set_amount') then
    perform app.fail(
      'invalid_argument.skipped_to_reopen', jsonb_build_object('name', bill.name, 'due_on', occurrence.due_on),
      'occurrence.due_on'
    );
  elsif action = 'skip' and paid <> 0 then
    perform app.fail('invalid_argument.skip_partly_paid', jsonb_build_object(
      'name', bill.name, 'due_on', occurrence.due_on, 'amount', app.format_amount(paid, occurrence.currency),
      'currency',
      occurrence.currency
    ), 'occurrence.action');
  elsif action = 'set_amount' and amount_minor is null then
    perform app.fail('invalid_argument.date_amount_missing', field => 'occurrence.amount');
  elsif action = 'snooze' and snooze_until is null then
    perform app.fail('invalid_argument.snooze_until_missing', field => 'occurrence.snooze_until');
  elsif action = 'snooze' and snooze_until <= context.today then
    perform app.fail('date_out_of_range.not_in_future', jsonb_build_object('date', snooze_until),
      'occurrence.snooze_until');
  end if;

  case action
    when 'skip' then
      update app.expense_occurrences as o set status = 'skipped', closed_at = context.at
        where o.id = occurrence.id and o.status = 'open';
    when 'snooze' then
      update app.expense_occurrences as o set snoozed_until = snooze_until
        where o.id = occurrence.id and o.snoozed_until is distinct from snooze_until;
    when 'set_amount' then
      update app.expense_occurrences as o
      set expected_minor = greatest(amount_minor, paid), amount_source = 'override',
        status = case when paid >= amount_minor then 'paid' else 'open' end,
        closed_at = case when paid >= amount_minor then context.at end
      where o.id = occurrence.id
        and (o.expected_minor is distinct from amount_minor or o.amount_source <> 'override' or paid >= amount_minor);
      perform app.pay_awaited(bill, occurrence, context.today);
    when 'reopen' then
      update app.payments as p set deleted_at = context.at
        where p.occurrence_id = occurrence.id and p.deleted_at is null and occurrence.status = 'paid';
      update app.expense_occurrences as o
      set status = 'open', closed_at = null, snoozed_until = null,
        -- The real amount had replaced the estimate, so restore the estimate.
        expected_minor
          = case when o.status = 'paid' and bill.amount_mode <> 'fixed' and o.amount_source = 'override'
          then app.rule_amount(bill) else o.expected_minor end,
        amount_source
          = case when o.status = 'paid' and bill.amount_mode <> 'fixed' and o.amount_source = 'override' then 'rule'
          else o.amount_source end
      where o.id = occurrence.id and o.status <> 'open';
  end case;
  perform app.refresh_bill(bill.id, context.today);
  select * into occurrence from app.expense_occurrences as o where o.id = occurrence.id;
  return occurrence;
end
$$;
comment on function app.change_occurrence is
  'Skips, snoozes, prices or reopens one date of a bill. Reopening a paid date removes its payments from the books. A '
  'date that is already in the requested state stays unchanged.';

-- Any member may store a provider's answer, but only owners may end a connection.
create policy "Members can note answers of providers, owners can end a link" on app.provider_links
  for update to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_expense(expense_id))
    and (
      status in ('active', 'needs_reauth')
      or (select identity.may('providers:manage'))
    )
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or app.sees_expense(expense_id))
    and (
      status in ('active', 'needs_reauth')
      or status = 'revoked' and (select identity.may('providers:manage'))
    )
  );
grant update (status, updated_at) on app.provider_links to authenticated;

create or replace function app.change_provider(context app.context, bill app.expenses, change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  link app.provider_links;
begin
  if not identity.may('providers:manage') then
    perform app.fail('forbidden_role.provider', app.list_who_may('providers:manage'), 'provider');
  end if;
  select * into link from app.provider_links as l where l.expense_id = bill.id and l.status <> 'revoked';
  if change ->> 'action' = 'disconnect' then
    update app.provider_links as l set status = 'revoked', updated_at = context.at where l.id = link.id;
    if found then
      -- List the connection as not reversible, because the credential is deleted with the link.
      insert into app.change_items (change_id, organization_id, table_name, row_id, before)
      values (current_setting('app.change_id'), context.organization_id, 'provider_links', link.id, to_jsonb(link));
    end if;
    return null;
  end if;
  if not identity.organization_has_feature(context.organization_id, 'bills:variable', context.at) then
    perform app.fail('feature_not_in_plan.providers', jsonb_build_object(
      'organization', context.organization_name,
      'details', jsonb_build_object('feature', 'bills:variable', 'required_plan', 'team')
    ), 'provider');
  end if;
  if bill.amount_mode <> 'variable' then
    perform app.fail('invalid_argument.not_variable', jsonb_build_object('name', bill.name), 'provider');
  end if;
  return jsonb_strip_nulls(jsonb_build_object('bill', bill.id, 'provider', app.clean_text(change ->> 'provider')));
end
$$;
comment on function app.change_provider is
  'Ends the connection of a bill to its provider, or returns the data of the connect page: {bill, provider?}, without '
  'secrets.';
