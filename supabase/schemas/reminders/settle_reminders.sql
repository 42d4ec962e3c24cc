create or replace function public.settle_reminders(
  batch_id uuid, lease_token uuid, results jsonb, is_last boolean, retry_at timestamptz, at timestamptz
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  batch jobs.reminder_batches;
  digest_count int;
  reminder_count int;
begin
  perform set_config('app.at', at::text, true);
  select * into batch from jobs.reminder_batches as b
  where b.id = batch_id and b.lease_token = settle_reminders.lease_token
  for update;
  if not found then
    return '{"outcome":"lost"}';
  end if;

  with said as (
    select r ->> 'id' as id, r ->> 'outcome' as outcome, r ->> 'code' as code,
      coalesce((r ->> 'refused')::boolean, false) as refused,
      coalesce((r ->> 'alone')::boolean, false) as alone
    from jsonb_array_elements(results) as r
  ), refused as (
    update identity.profiles as p set refused_email = d.content ->> 'address', refused_at = at
    from said as s
    join jobs.reminder_digests as d on d.id = s.id::uuid
    where s.refused and d.batch_id = batch.id and p.user_id = d.recipient_id
      and identity.reminder_address(p) = d.content ->> 'address'
    returning identity.record_event('reminders.address_refused', p.user_id, null, '{}', at)
  ), closed as (
    update jobs.reminder_digests as d
    set status = s.outcome, closed_at = at, failure_code = s.code, batch_id = null, content = null
    from said as s
    where d.id = s.id::uuid and d.batch_id = batch.id and d.status = 'pending' and s.outcome in ('sent', 'dead')
    returning d.id, d.status
  ), held as (
    -- These were certainly not accepted, so they may be sent in another batch. If a service permanently rejects the
    -- mails of a key, it never accepted them under that key.
    update jobs.reminder_digests as d
    set batch_id = null, content = null, next_attempt_at = retry_at, failure_code = s.code, sent_alone = d.sent_alone
      or s.alone
    from said as s
    where d.id = s.id::uuid and d.batch_id = batch.id and d.status = 'pending' and s.outcome = 'held'
      and (batch.unsure_since is null or s.alone)
    returning d.id
  ), logged as (
    update jobs.reminder_log as l
    set sent_at = case c.status when 'sent' then at end,
      voided_at = case c.status when 'dead' then at end
    from closed as c
    where l.digest_id = c.id and l.voided_at is null
    returning c.status
  ), told as (
    update jobs.notice_log as l
    set sent_at = case c.status when 'sent' then at end,
      voided_at = case c.status when 'dead' then at end
    from closed as c
    where l.digest_id = c.id and l.voided_at is null
    returning c.status
  )
  select (select count(*) from closed where status = 'sent'),
    (select count(*) from (select status from logged union all select status from told) as l where status = 'sent')
  into digest_count, reminder_count
  from (select count(*) from held) as h, (select count(*) from refused) as r;

  if not exists (select from jobs.reminder_digests as d where d.batch_id = batch.id) then
    delete from jobs.reminder_batches as b where b.id = batch.id;
  elsif is_last then
    update jobs.reminder_batches as b
    set lease_token = null, next_attempt_at = retry_at, unsure_since = case
        when exists (select from jsonb_array_elements(results) as r where r ->> 'outcome' = 'unsure')
          then coalesce(b.unsure_since, b.leased_at)
        else b.unsure_since
      end
    where b.id = batch.id;
  end if;
  return jsonb_build_object('outcome', 'settled', 'digests', digest_count, 'reminders', reminder_count);
end
$$;
comment on function public.settle_reminders is
  'Records the outcome of digests in a leased batch, each {"id","outcome": sent, dead, held (certainly not accepted) '
  'or unsure,"code","refused","alone"}: {"outcome":"settled","digests","reminders": numbers sent}, or '
  '{"outcome":"lost"} when another sender holds the lease. With is_last the lease ends, and the other digests wait '
  'until retry_at.';

create or replace function public.count_waiting_reminders(at timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*)
    from jobs.reminder_digests as d
    left join jobs.reminder_batches as b on b.id = d.batch_id
    where d.status = 'pending' and (b.lease_token is null or b.next_attempt_at <= at)
  );
end
$$;
comment on function public.count_waiting_reminders is
  'Returns the number of digests that wait for a later run, without those that another run is sending.';
