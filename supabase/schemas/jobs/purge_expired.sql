-- Scheduled work inside the database: what is past its time is removed once a day. The jobs that run in functions come
-- with those.

-- Hosted projects have the extensions and create them here; the embedded stack brings stand-ins of the same functions,
-- and where neither is, a schedule that never runs would be worse than a migration that fails. Being available is not
-- enough: pg_cron must also be preloaded.
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
language plpgsql volatile set search_path = '' as $$
declare
  removed jsonb := '{}';
  count bigint;
  target text;
  condition text;
begin
  for target, condition in
    values
      ('app.idempotency_keys', 'expires_at < $1'),
      ('app.import_batches', 'expires_at < $1'),
      -- Whom somebody once invited is nobody's business for longer than it takes to explain an old link.
      ('identity.invitations', 'expires_at < $1 - interval ''30 days'''),
      ('identity.handovers', 'expires_at < $1'),
      -- A code and a consent page are good for minutes and a signature refuses them afterwards; tokens keep answering a
      -- replay for a while.
      ('oauth.used_codes', 'code_expires_at < $1 - interval ''1 day'''),
      ('oauth.consents', 'approved_at < $1 - interval ''1 day'''),
      ('oauth.tokens', 'expires_at < $1 - interval ''7 days'''),
      -- Of a replay its person must have heard before it is forgotten; an alert that nobody looks at for half a year
      -- will not be.
      ('oauth.grants', 'least(expires_at, revoked_at) < $1 - interval ''30 days''
        and (coalesce(revocation_reason, '''') not like ''%_replayed''
        or alert_seen_at is not null or revoked_at < $1 - interval ''180 days'')'),
      -- Documents of clients are read again when they are wanted; a bucket that is full says nothing.
      ('oauth.client_documents', 'fresh_until < $1 - interval ''1 day'''),
      ('oauth.rate_buckets', 'full_at < $1'),
      ('identity.attempts', 'not $1 - interval ''1 day'' < any (attempted_at)'),
      -- 30 days to undo a change and to restore what was deleted. A bill takes its occurrences and payments with it.
      ('app.change_sets', 'created_at < $1 - interval ''30 days'''),
      -- What was merged is known again for as long as the payment that stayed, and goes with it.
      ('app.payments', 'deleted_at < $1 - interval ''30 days'' and merged_into is null'),
      ('app.expenses', 'deleted_at < $1 - interval ''30 days''
        and not exists (select from app.payments as p where p.expense_id = expenses.id and p.merged_into is not null)'),
      ('jobs.job_runs', 'finished_at < $1 - interval ''90 days'''),
      -- With their log. Longer than a year, so that the last reminder of a yearly bill is still known when the next one
      -- goes out.
      ('jobs.reminder_digests', 'created_at < $1 - interval ''400 days'''),
      ('cron.job_run_details', 'end_time < $1 - interval ''7 days'''),
      -- Never authorized: a client asks within minutes, and one that comes back later registers again. Six days and the
      -- day between two runs are seven. Last of all, since every registration waits for their count while this holds
      -- it.
      ('oauth.clients', 'granted_at is null and created_at < $1 - interval ''6 days''
        and not exists (select from oauth.grants as g where g.client_id = clients.client_id)')
  loop
    execute
      format('delete from %1$s where ctid = any (array(select ctid from %1$s where %2$s limit $2))', target, condition)
      using at, most;
    get diagnostics count = row_count;
    removed := removed || jsonb_build_object(target, count);
  end loop;
  return removed;
end
$$;
comment on function jobs.purge_expired is
  'Removes what is past its time at an instant, of each table at most so many rows (with what hangs on them), so that '
  'no run holds its locks for long; answers how many by table.';

-- Six times, for what one run leaves.
select cron.schedule('purge-expired', '7-57/10 3 * * *', 'select jobs.purge_expired(now())');
