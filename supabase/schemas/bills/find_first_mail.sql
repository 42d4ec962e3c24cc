-- The recipients of a new bill's reminders, and the day of the first one.

create or replace function app.find_asker(context app.context, wishes jsonb) returns uuid
language plpgsql stable set search_path = '' as $$
begin
  return (
    select m.user_id
    from identity.memberships as m
    where m.organization_id = context.organization_id and m.user_id = context.actor_id and m.mails <> 'none'
      and not app.hears_all(m)
      and ((wishes ->> 'reminder_enabled')::boolean is true
        or wishes ?| array['remind_days_before', 'remind_again'])
  );
end
$$;
comment on function app.find_asker is
  'Returns the person who requests reminders for a bill and would get none unless the bill is assigned to them; '
  'otherwise null.';

create or replace function app.had_digest(user_id uuid, day date) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- security definer, because only the service can read digests. The answer is yes or no, and only for the request's
  -- organization.
  return exists (
    select from jobs.reminder_digests as d
    join identity.profiles as p on p.user_id = d.recipient_id
    join identity.memberships as m on m.user_id = p.user_id
      and m.organization_id = identity.find_organization_id()
    where d.recipient_id = had_digest.user_id and (d.created_at at time zone p.timezone)::date >= day
  );
end
$$;
comment on function app.had_digest is 'Whether a person''s digest of a day already exists; a day has at most one.';

create or replace function app.find_first_mail(context app.context, bill app.expenses, out user_id uuid,
  out first_on date)
  returns record
language plpgsql stable set search_path = '' as $$
declare
  -- The job runs at 08:00 UTC, and again until 11:55.
  midnight constant timestamp := date_trunc('day', context.at at time zone 'UTC');
  run_at constant timestamptz := case
    when context.at at time zone 'UTC' > midnight + interval '11 hours 55 minutes' then midnight + interval '32 hours'
    else greatest(context.at at time zone 'UTC', midnight + interval '8 hours')
  end at time zone 'UTC';
  recipient identity.profiles;
  earliest date;
  later date;
begin
  select p.* into recipient
  from identity.memberships as m
  join identity.profiles as p on p.user_id = m.user_id
  where m.organization_id = context.organization_id and app.concerns(bill, m) and p.email_enabled
  order by m.user_id = context.actor_id desc, m.user_id = bill.assignee_id desc nulls last, m.role = 'owner' desc
  limit 1;
  if not found then
    return;
  end if;
  user_id := recipient.user_id;
  earliest := (run_at at time zone recipient.timezone)::date;
  earliest := earliest + app.had_digest(user_id, earliest)::int;
  first_on := greatest(
    bill.next_due - coalesce(bill.remind_days_before, recipient.default_lead_days), earliest
  );
  if first_on > bill.next_due then
    -- That date gets no further reminder. The next mail comes when it is overdue, or for the next date.
    later := (app.next_due_dates(context, bill, 2))[2];
    first_on := least(
      case when not bill.autopay and not (bill.frequency = 'daily' and bill.every = 1) then bill.next_due + 3 end,
      case when later is not null then
        greatest(later - coalesce(bill.remind_days_before, recipient.default_lead_days), earliest)
      end
    );
  end if;
end
$$;
comment on function app.find_first_mail is
  'Returns the recipient of the first mail about a bill (the requesting person, if they get mail) and its day in their '
  'time zone.';
