create or replace function public.update_reminders(
  user_id uuid, reminder_email text, timezone text, default_lead_days integer, email_enabled boolean, at timestamptz
) returns jsonb
language plpgsql set search_path = '' as $$
declare
  unconfirmed text;
begin
  if not identity.is_timezone(timezone) then
    return '{"outcome":"invalid","field":"timezone"}';
  end if;
  update identity.profiles as p
  set timezone = update_reminders.timezone,
    default_lead_days = update_reminders.default_lead_days,
    email_enabled = update_reminders.email_enabled,
    reminder_email = nullif(update_reminders.reminder_email, p.email),
    -- A confirmation applies to one address only.
    reminder_email_confirmed_at
      = case when update_reminders.reminder_email = p.reminder_email then p.reminder_email_confirmed_at end,
    -- Saving an address again allows mails to it again.
    refused_email = null, refused_at = null,
    updated_at = at
  where p.user_id = update_reminders.user_id
  returning case when p.reminder_email_confirmed_at is null then p.reminder_email end into unconfirmed;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('reminders.changed', user_id, null, jsonb_build_object('email_enabled', email_enabled),
    at);
  return jsonb_build_object('outcome', 'updated', 'unconfirmed', unconfirmed);
end
$$;
comment on function public.update_reminders is
  'Changes the time and address of reminders: {"outcome":"updated","unconfirmed": address that needs confirmation, or '
  'null}, {"outcome":"invalid","field"} or {"outcome":"unknown"}.';

create or replace function public.confirm_reminder_email(user_id uuid, reminder_email text, at timestamptz)
  returns jsonb
language plpgsql set search_path = '' as $$
begin
  update identity.profiles as p
  set reminder_email_confirmed_at = coalesce(p.reminder_email_confirmed_at, at),
    refused_email = null, refused_at = null, updated_at = at
  where p.user_id = confirm_reminder_email.user_id and p.reminder_email = confirm_reminder_email.reminder_email;
  if not found then
    return '{"outcome":"stale"}';
  end if;
  perform identity.record_event('reminders.address_confirmed', user_id, null, '{}', at);
  return '{"outcome":"confirmed"}';
end
$$;
comment on function public.confirm_reminder_email is
  'Confirms the reminder address if it is still the requested one: {"outcome":"confirmed"} or {"outcome":"stale"}.';
