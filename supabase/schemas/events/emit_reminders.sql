-- security definer in all of these: people's tools cause events but may not write the outbox.

create or replace function app.has_app(user_id uuid, organization_id text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  return exists (
    select from oauth.grants as g
    where g.user_id = has_app.user_id and g.organization_id = has_app.organization_id and g.revoked_at is null
  );
end
$$;
comment on function app.has_app is
  'Whether a person connected an app to an organization; without one, no events are written.';
revoke all on function app.has_app from authenticated;

create or replace function app.emit_reminders() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into app.events (organization_id, user_id, name, about)
  select a.organization_id, d.recipient_id, 'bill.due', array_agg(distinct a.expense_id)
  from added as a
  join jobs.reminder_digests as d on d.id = a.digest_id
  where app.has_app(d.recipient_id, a.organization_id)
  group by a.organization_id, d.recipient_id;
  return null;
end
$$;
comment on function app.emit_reminders is 'Emits an owner''s new reminders.';

create or replace function app.emit_notices() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into app.events (organization_id, user_id, name, about)
  select a.organization_id, a.recipient_id, n.name, array_agg(distinct coalesce(a.expense_id, a.budget_id))
  from added as a
  join (
    values ('reminder', 'bill.due'), ('snoozed', 'bill.due'), ('due', 'bill.due'), ('overdue', 'bill.overdue'),
      ('price_rise', 'price.rose'), ('budget_80', 'budget.reached_80'), ('budget_100', 'budget.reached_100')
  ) as n (kind, name) on n.kind = a.kind
  where app.has_app(a.recipient_id, a.organization_id)
  group by a.organization_id, a.recipient_id, n.name;
  return null;
end
$$;
comment on function app.emit_notices is 'Emits a person''s new notices about bills and budgets.';

create or replace function app.emit_digest() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into app.events (organization_id, user_id, name, about)
  select l.organization_id, new.recipient_id, 'digest.sent', array_agg(distinct l.id)
  from (
    select r.organization_id, r.expense_id as id from jobs.reminder_log as r
    where r.digest_id = new.id and r.voided_at is null
    union all
    select n.organization_id, coalesce(n.expense_id, n.budget_id) from jobs.notice_log as n
    where n.digest_id = new.id and n.voided_at is null
  ) as l
  where l.id is not null and app.has_app(new.recipient_id, l.organization_id)
  group by l.organization_id;
  return null;
end
$$;
comment on function app.emit_digest is 'Emits an event about a sent digest, for each organization in it.';

create or replace function app.emit_proposal() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into app.events (organization_id, name, about)
  values (new.organization_id, case when new.state = 'pending' then 'proposal.waiting' else 'proposal.decided' end,
    array[new.id]);
  return null;
end
$$;
comment on function app.emit_proposal is 'Emits an event about a pending or decided proposal.';

create or replace function app.emit_import() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if coalesce(new.read -> 'questions', '[]') <> '[]' or exists (
    select from app.import_rows as r
      where r.import_id = new.id and r.organization_id = new.organization_id and r.match ->> 'state' = 'likely'
  ) then
    insert into app.events (organization_id, user_id, name, about)
    values (new.organization_id, new.actor_id, 'import.asked', array[new.id]);
  end if;
  return null;
end
$$;
comment on function app.emit_import is 'Emits an event about a statement that was read and has questions.';

create or replace function app.emit_document() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into app.events (organization_id, name, about)
  select new.organization_id, 'document.added', array[new.id]
  where exists (
    select from oauth.grants as g where g.organization_id = new.organization_id and g.revoked_at is null
  );
  return null;
end
$$;
comment on function app.emit_document is 'Emits an event about a new document, to everybody who sees it.';
revoke all on function app.emit_reminders, app.emit_notices, app.emit_digest, app.emit_proposal, app.emit_import,
  app.emit_document
  from authenticated;

create trigger emit_reminders after insert on jobs.reminder_log
  referencing new table as added for each statement execute function app.emit_reminders();
create trigger emit_notices after insert on jobs.notice_log
  referencing new table as added for each statement execute function app.emit_notices();
create trigger emit_digest after update of status on jobs.reminder_digests
  for each row when (old.status <> 'sent' and new.status = 'sent') execute function app.emit_digest();
create trigger emit_waiting_proposal after insert on app.proposals
  for each row when (new.state = 'pending') execute function app.emit_proposal();
create trigger emit_decided_proposal after update of state on app.proposals
  for each row when (old.state = 'pending' and new.state <> 'pending') execute function app.emit_proposal();
create trigger emit_import after update of state on app.import_batches
  for each row when (old.state <> 'ready' and new.state = 'ready') execute function app.emit_import();
create trigger emit_document after insert on app.documents
  for each row execute function app.emit_document();
