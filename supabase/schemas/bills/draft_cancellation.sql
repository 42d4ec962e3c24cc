create or replace function app.draft_cancellation(context app.context, arguments jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  bill app.expenses := app.find_bill(context, arguments);
  leave_on date := app.parse_date(context, arguments ->> 'leave_on', 'leave_on');
  running app.expenses;
  exit app.contract_exit;
  ends_on date;
  cancel_by date;
  is_possible boolean := true;
  warnings jsonb := '[]';
begin
  perform from app.expenses as e where e.id = bill.id for no key update;
  select * into bill from app.expenses as e where e.id = bill.id;
  if bill.contract ? 'confirmed_on' then
    perform app.fail('invalid_argument.cancellation_confirmed', jsonb_build_object(
      'name', bill.name, 'confirmed_on', bill.contract -> 'confirmed_on', 'ends_on', bill.ends_on
    ), 'bill_id');
  end if;
  if leave_on < context.today then
    perform app.fail('date_out_of_range.leave_in_past', jsonb_build_object('date', leave_on), 'leave_on');
  end if;
  if arguments ? 'contract' then
    bill := app.change_bill(context, bill, jsonb_build_object('contract', arguments -> 'contract'));
  end if;
  running := bill;
  if bill.status <> 'active' then
    -- The paused or cancelled bill has no further dates, but its contract continues.
    running.status := 'active';
    running.ends_on := null;
  end if;
  exit := app.next_exit(running, context.today);
  ends_on := coalesce(leave_on, exit.leaves_on - 1);
  cancel_by := coalesce(app.cancel_by(bill, ends_on + 1), exit.cancel_by);
  if leave_on is not null and exit.leaves_on is not null then
    is_possible := (app.next_exit(running, cancel_by)).leaves_on = leave_on + 1 and cancel_by >= context.today;
    if not coalesce(is_possible, false) then
      cancel_by := exit.cancel_by;
      warnings := warnings || app.warning('other_end', jsonb_build_object(
        'name', bill.name, 'leave_on', leave_on, 'ends_on', exit.leaves_on - 1, 'cancel_by', exit.cancel_by
      ));
    end if;
  end if;
  warnings := warnings || app.warn_of_contract(running, context.today);
  bill.contract := coalesce(bill.contract, '{}') - 'leave_on'
    || jsonb_strip_nulls(jsonb_build_object('drafted_on', context.today, 'leave_on', ends_on));
  perform app.write_bill(bill);
  return jsonb_build_object(
    'data', jsonb_build_object(
      'bill', app.describe_bills(context, array[bill.id]) -> 0,
      'letter', jsonb_strip_nulls(jsonb_build_object(
        'language', coalesce(arguments ->> 'language', 'en'), 'today', context.today, 'name', bill.name,
        'payee', bill.payee, 'ends_on', ends_on,
        'is_in_time', is_possible and exit.leaves_on is not null and cancel_by >= context.today,
        'is_active', bill.status = 'active', 'cancel_by', cancel_by, 'form', bill.contract -> 'form',
        'address', bill.contract -> 'address', 'customer_number', bill.contract -> 'customer_number',
        'sender', arguments -> 'sender', 'words', arguments -> 'words'
      ))
    ),
    'warnings', warnings,
    'facts', jsonb_build_object('name', bill.name)
  );
end
$$;
comment on function app.draft_cancellation is
  'Tool draft_cancellation: stores the day of the draft and the requested last day. Data {bill, letter: the facts for '
  'the connector''s text}.';
