-- Scheduled in the database: deletes expired data once a day.

-- Hosted projects create the extensions here; the embedded stack has stand-ins with the same functions. Without either,
-- the migration fails, because the schedule would never run. pg_cron must also be preloaded.
do $$
begin
  if to_regprocedure('cron.schedule(text, text, text)') is null
    and exists (select from pg_available_extensions where name = 'pg_cron') then
    create extension if not exists pg_cron;
  end if;
  if to_regprocedure('net.http_get(text, jsonb, jsonb, integer)') is null
    and exists (select from pg_available_extensions where name = 'pg_net') then
    create extension if not exists pg_net with schema extensions;
  end if;
  if to_regprocedure('cron.schedule(text, text, text)') is null
    or to_regprocedure('net.http_get(text, jsonb, jsonb, integer)') is null then
    raise exception 'This database has no pg_cron or no pg_net, which the scheduled jobs need'
      using hint = 'Enable both extensions, or start the embedded stack, which brings stand-ins.';
  end if;
end
$$;

create or replace function jobs.purge_expired(at timestamptz, most int default 50000) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  removed jsonb := '{}';
  count bigint;
  what text;
  target text;
  condition text;
begin
  -- security definer, so that the role purger can do only this. $1 is the instant before which rows have expired.
  for what, target, condition in
    values
      -- The expiry stored in these rows also comes from app.retention.
      (null, 'app.idempotency_keys', 'expires_at < $1'),
      (null, 'app.import_batches', 'expires_at < $1'),
      -- Invited addresses are personal data, so they stay only while an old link may need an explanation.
      ('invitations', 'identity.invitations', 'expires_at < $1'),
      (null, 'identity.handovers', 'expires_at < $1'),
      -- The signatures of codes and consent pages expire after minutes; tokens still detect a replay for a while.
      ('used_codes', 'oauth.used_codes', 'code_expires_at < $1'),
      ('consents', 'oauth.consents', 'approved_at < $1'),
      ('tokens', 'oauth.tokens', 'expires_at < $1'),
      -- A person must see the alert of a replay before it is deleted, or half a year must have passed.
      ('grants', 'oauth.grants', 'least(expires_at, revoked_at) < $1
        and (coalesce(revocation_reason, '''') not like ''%_replayed'' or alert_seen_at is not null)'),
      ('unseen_alerts', 'oauth.grants', 'revoked_at < $1'),
      -- Client documents are fetched again on demand, and a full bucket equals a missing one.
      ('client_documents', 'oauth.client_documents', 'fresh_until < $1'),
      (null, 'oauth.rate_buckets', 'full_at < $1'),
      ('attempts', 'identity.attempts', 'not $1 <= any (attempted_at)'),
      -- A change loses its items when it can no longer be undone; the change itself stays for the audit. Items first,
      -- so that a large import may take several runs.
      ('change_contents', 'app.change_items', 'change_id in (
        select s.id from app.change_sets as s where not s.is_emptied and s.created_at < $1
      )'),
      ('changes', 'app.change_sets', 'created_at < $1'),
      -- Deleting a bill also deletes its occurrences and payments. A merged record is kept for duplicate checks as long
      -- as the payment that replaced it.
      ('deleted_records', 'app.payments', 'deleted_at < $1 and merged_into is null'),
      ('deleted_records', 'app.expenses', 'deleted_at < $1
        and not exists (select from app.payments as p where p.expense_id = expenses.id and p.merged_into is not null)'),
      ('deleted_records', 'app.balances', 'deleted_at < $1'),
      ('deleted_records', 'app.incomes', 'deleted_at < $1'),
      -- A document that is attached to a record is deleted with it.
      ('deleted_records', 'app.documents', 'deleted_at < $1'),
      ('documents', 'app.documents', 'expense_id is null and created_at < $1'),
      -- Includes mails that wait for a decision; documents read from a mail stay.
      ('inbound_mails', 'app.inbound_mails', 'received_at < $1'),
      ('proposals', 'app.proposals', 'expires_at < $1'),
      -- Mails about proposals cascade from them.
      ('proposals', 'app.mails', 'event_id is not null and leased_until < $1'),
      ('events', 'app.events', 'created_at < $1'),
      (null, 'app.event_subscriptions', 'expires_at < $1'),
      ('tool_reads', 'app.tool_reads', 'day < ($1 at time zone ''UTC'')::date'),
      ('job_runs', 'jobs.job_runs', 'finished_at < $1'),
      -- Cascades to their log. Kept for over a year, so that the next reminder of a yearly bill finds the last one.
      ('digests', 'jobs.reminder_digests', 'created_at < $1'),
      -- The subscription keeps an event's effect, and its clock refuses a repeated event.
      ('payment_events', 'billing.payment_events', 'received_at < $1'),
      ('cron_runs', 'cron.job_run_details', 'end_time < $1'),
      -- Clients that nobody authorized. Real ones are authorized within minutes, or register again. With daily runs,
      -- the others stay for at most seven days. This table comes last, because registrations wait for the lock on its
      -- counts.
      ('clients', 'oauth.clients', 'granted_at is null and created_at < $1
        and not exists (select from oauth.grants as g where g.client_id = clients.client_id)')
  loop
    execute
      format('delete from %1$s where ctid = any (array(select ctid from %1$s where %2$s limit $2))', target, condition)
      using at - case when what is null then interval '0' else app.kept_for(what) end, most;
    get diagnostics count = row_count;
    removed := removed || jsonb_build_object(target, count + coalesce((removed ->> target)::bigint, 0));
  end loop;
  update app.change_sets as s set facts = '{}', is_emptied = true
  where s.id = any (array(
    select c.id from app.change_sets as c
    where not c.is_emptied and c.created_at < at - app.kept_for('change_contents')
      and not exists (select from app.change_items as i where i.change_id = c.id)
    order by c.created_at
    limit most
  ));
  get diagnostics count = row_count;
  return removed || jsonb_build_object('emptied_changes', count);
end
$$;
comment on function jobs.purge_expired is
  'Deletes expired rows, a limited number per table (plus dependent rows), so that no run holds its locks for long. '
  'Returns the deleted rows by table, and the number of changes that lost their contents.';
