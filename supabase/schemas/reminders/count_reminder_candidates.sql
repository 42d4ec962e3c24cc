create or replace function public.count_reminder_candidates(at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(sum(c.bills), 0)
    from (
      select e.organization_id, count(*) as bills
      from app.expenses as e
      where e.kind = 'bill' and e.status = 'active' and e.deleted_at is null and e.reminder_enabled
        and e.next_due is not null
      group by 1
    ) as c
    where identity.organization_has_feature(c.organization_id, 'reminders:email', at)
  );
end
$$;
comment on function public.count_reminder_candidates is
  'Returns the number of active expenses with reminders and a next due date, in organizations whose plan includes '
  'reminder mails.';
