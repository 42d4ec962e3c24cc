-- Sends digests: claims a batch under a lease, sends it after commit, and settles it with that lease. A batch that may
-- have reached the mail service keeps its members and their contents, so that the service recognizes a retry by its
-- key. A batch that certainly did not reach it is dissolved.

create or replace function jobs.open_batch(size int, at timestamptz, out batch_id uuid, out set_aside uuid)
  returns record
language plpgsql volatile set search_path = '' as $$
declare
  digest_ids uuid[];
  digest_id uuid;
  contents jsonb[];
  reminded bigint[];
  told bigint[];
begin
  batch_id := gen_random_uuid();
  loop
    select array_agg(d.id order by d.next_attempt_at, d.id) into digest_ids
    from (
      select d.id, d.next_attempt_at from jobs.reminder_digests as d
      where d.status = 'pending' and d.batch_id is null and d.next_attempt_at <= at and not d.sent_alone
      order by d.next_attempt_at, d.id
      limit size
      for update skip locked
    ) as d;
    if digest_ids is null then
      select array_agg(d.id) into digest_ids
      from (
        select d.id from jobs.reminder_digests as d
        where d.status = 'pending' and d.batch_id is null and d.next_attempt_at <= at
        order by d.next_attempt_at, d.id
        limit 1
        for update skip locked
      ) as d;
    end if;
    exit when digest_ids is null;

    contents := '{}';
    foreach digest_id in array digest_ids loop
      begin
        select array_append(contents, jobs.describe_digest(d, at)) into contents
          from jobs.reminder_digests as d where d.id = digest_id;
      -- Includes a timeout; the batch then takes the digests described so far.
      exception when query_canceled or others then
        exit;
      end;
    end loop;
    if contents = '{}' then
      -- This batch used all its time; others must not wait for it.
      set_aside := digest_ids[1];
      update jobs.reminder_digests as d
      set next_attempt_at = at + interval '1 hour', attempts = d.attempts + 1, failure_code = 'not_described'
      where d.id = set_aside;
      exit;
    end if;
    digest_ids := digest_ids[:cardinality(contents)];
    reminded := array(select jsonb_array_elements_text(c -> 'reminds_of')::bigint from unnest(contents) as c);
    told := array(select jsonb_array_elements_text(c -> 'tells_of')::bigint from unnest(contents) as c);

    insert into jobs.reminder_batches (id, leased_at, next_attempt_at) values (batch_id, at, at);
    update jobs.reminder_digests as d set batch_id = open_batch.batch_id,
      content = said.content - '{reminds_of,tells_of}'::text[],
      attempts = d.attempts + 1
    from unnest(digest_ids, contents) as said (id, content)
    where d.id = said.id and said.content is not null;
    -- The digest is empty, or its recipient no longer wants or may get mail. Its log rows are free for another day.
    delete from jobs.reminder_digests as d where d.id = any (digest_ids) and d.batch_id is null;
    delete from jobs.reminder_log as l
    where l.digest_id = any (digest_ids) and not exists (select from unnest(reminded) as r (id) where r.id = l.id);
    delete from jobs.notice_log as l
    where l.digest_id = any (digest_ids) and not exists (select from unnest(told) as t (id) where t.id = l.id);
    if exists (select from jobs.reminder_digests as d where d.batch_id = open_batch.batch_id) then
      return;
    end if;
    delete from jobs.reminder_batches as b where b.id = batch_id;
  end loop;
  batch_id := null;
end
$$;
comment on function jobs.open_batch is
  'Combines pending digests into a batch and stores their content; null when there are none. set_aside: a digest that '
  'could not be described, postponed by an hour.';

create or replace function public.claim_reminders(size int, at timestamptz) returns jsonb
-- JIT compilation of the budget sums takes longer than running them.
language plpgsql volatile set search_path = '' set jit = off as $$
declare
  token constant uuid := gen_random_uuid();
  opened constant record := jobs.open_batch(size, at);
  chosen uuid := opened.batch_id;
  suspended uuid[];
begin
  if opened.set_aside is not null then
    return jsonb_build_object('set_aside', opened.set_aside);
  end if;
  -- New batches come first, so that a batch that crashes its sender doesn't block the others.
  if chosen is null then
    select b.id into chosen
    from jobs.reminder_batches as b
    where b.next_attempt_at <= at and not jobs.is_unknown(b, at)
    order by b.next_attempt_at
    limit 1
    for update skip locked;
    update jobs.reminder_batches as b
    set attempts = b.attempts + 1,
      unsure_since = case when b.lease_token is null then b.unsure_since else coalesce(b.unsure_since, b.leased_at) end
    where b.id = chosen;
    -- A recipient who was suspended or left an organization in the digest gets no second attempt, although the first
    -- may not have arrived.
    with closed as (
      update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null,
        content = null
      where d.batch_id = chosen and d.status = 'pending' and (
        not identity.is_active(d.recipient_id, at) or exists (
          select from jsonb_array_elements(d.content -> 'organizations') as o
          where not exists (
            select from identity.memberships as m
            where m.organization_id = o ->> 'id' and m.user_id = d.recipient_id and m.mails <> 'none'
          )
        )
      )
      returning d.id
    )
    select array_agg(c.id) into suspended from closed as c;
    perform jobs.void_log(suspended, at);
  end if;
  -- The lease is longer than a run may take.
  update jobs.reminder_batches as b
  set lease_token = token, leased_at = at, next_attempt_at = at + interval '90 seconds'
  where b.id = chosen;
  return (
    select jsonb_build_object(
      'id', b.id, 'lease_token', b.lease_token, 'attempts', b.attempts,
      'digests', (
        -- Null if all recipients have left, which ends the batch.
        select
          coalesce(
          jsonb_agg(jsonb_build_object('id', d.id, 'recipient_id', d.recipient_id, 'content', d.content) order by d.id),
          '[]')
        from jobs.reminder_digests as d
        where d.batch_id = b.id and d.status = 'pending'
      )
    )
    from jobs.reminder_batches as b
    where b.id = chosen
  );
end
$$;
comment on function public.claim_reminders is
  'Leases a batch of digests for 90 seconds: '
  '{"id","lease_token","attempts","digests":[{"id","recipient_id","content"}]}, or null for none. {"set_aside": id} '
  'means that a digest could not be described and waits for an hour; call again.';

create or replace function jobs.stop_digests_of(organization_id text, user_id uuid, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
declare
  stopped uuid[];
begin
  -- Digests without content will be described with the person's new rights. Described ones contain data that the person
  -- could see before, so they get no second attempt, although the first may not have arrived.
  with closed as (
    update jobs.reminder_digests as d set status = 'unknown', closed_at = at, batch_id = null, content = null
    where d.recipient_id = stop_digests_of.user_id and d.status = 'pending' and d.batch_id is not null
      and exists (
        select from jsonb_array_elements(d.content -> 'organizations') as o
        where o ->> 'id' = stop_digests_of.organization_id
      )
    returning d.id
  )
  select array_agg(c.id) into stopped from closed as c;
  perform jobs.void_log(stopped, at);
end
$$;
comment on function jobs.stop_digests_of is
  'Ends waiting mails to a member that were created before the member lost a role in an organization.';
