-- Documents and mail that wait for a person cause one digest, on the day after they arrived.

create or replace function jobs.last_told(recipient_id uuid, before date, at timestamptz) returns timestamptz
language sql stable
begin atomic
  select greatest(at - interval '31 days', max(d.created_at))
  from jobs.reminder_digests as d
  where d.recipient_id = last_told.recipient_id and d.local_on < last_told.before and d.status = 'sent';
end;
comment on function jobs.last_told is
  'Returns the time of a person''s last digest before a day, at most 31 days ago. That digest covered everything until '
  'then.';

create or replace function jobs.find_waiting(at timestamptz)
  returns table (organization_id text, user_id uuid, came_at timestamptz)
language plpgsql stable set search_path = '' as $$
begin
  return query
    select d.organization_id, m.user_id, d.created_at
    from app.documents as d
    join identity.memberships as m on m.organization_id = d.organization_id and app.hears_all(m)
    where d.expense_id is null and d.deleted_at is null and d.created_at > at - interval '31 days'
      and (d.added_by = m.user_id or identity.member_may(d.organization_id, m.user_id, 'settings:write'))
    union all
    select w.organization_id, m.user_id, w.received_at
    from app.inbound_mails as w
    join identity.memberships as m on m.organization_id = w.organization_id and app.hears_all(m)
    where w.state = 'waiting' and identity.member_may(w.organization_id, m.user_id, 'settings:write');
end
$$;
comment on function jobs.find_waiting is
  'Returns the unattached documents and the mail to accept or block, for each person who may decide and gets mail '
  'about all bills.';

create or replace function jobs.collect_documents(at timestamptz) returns int
language plpgsql volatile set search_path = '' as $$
declare
  recipient identity.profiles;
  digest_count int := 0;
begin
  for recipient in
    select p.*
    from identity.profiles as p
    where p.user_id in (
      select w.user_id
      from jobs.find_waiting(at) as w
      cross join lateral (
        select q as person, (at at time zone q.timezone)::date as today, q.timezone
        from identity.profiles as q where q.user_id = w.user_id
        offset 0
      ) as q
      where (w.came_at at time zone q.timezone)::date < q.today
        and w.came_at > jobs.last_told(w.user_id, q.today, at)
        and jobs.wants_mail(q.person) and identity.is_active(w.user_id, at)
        and identity.organization_has_feature(w.organization_id, 'reminders:email', at)
        and not exists (
          select from jobs.reminder_digests as d
          where d.recipient_id = w.user_id and (d.created_at at time zone q.timezone)::date >= q.today
        )
    )
    order by p.user_id
  loop
    digest_count := digest_count + (jobs.open_digest(recipient, at) is not null)::int;
  end loop;
  return digest_count;
end
$$;
comment on function jobs.collect_documents is
  'Creates a digest for each person without one today if a document or mail has waited since an earlier day and no '
  'digest mentioned it. Returns their number.';
