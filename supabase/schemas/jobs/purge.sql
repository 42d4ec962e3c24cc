-- The purge of deleted organizations and accounts, and the only role that may run it. Invariants: it removes only data
-- past its grace period, in pages; each run continues after the previous one, even if that was killed; no caller of our
-- functions, not even service_role, can run it or delete the same data.

-- A role without a login. Its only right is to execute the functions below, which delete data past its grace period.
do $$
begin
  create role purger nologin noinherit;
exception when duplicate_object or unique_violation then
  null; -- Roles are shared by all databases of a server.
end
$$;
grant purger to postgres;
grant usage on schema jobs to purger;

create or replace function jobs.purge_organizations(at timestamptz, most int default 50000) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  gone text[] := '{}';
  rows_left int := most;
  organization record;
  target text;
  condition text;
  count int;
begin
  <<organizations>>
  for organization in
    -- Skips an organization during a write; the next run takes it.
    select o.id from identity.organizations as o where o.deletes_at <= at order by o.deletes_at, o.id
    for update skip locked
  loop
    continue when not pg_try_advisory_xact_lock(app.books_key(organization.id));
    -- Payment events lock the subscription before the organization.
    continue when (select count(*) from billing.subscriptions as s where s.organization_id = organization.id) > (
      select count(*) from (
        select from billing.subscriptions as s where s.organization_id = organization.id for update skip locked
      ) as free
    );
    -- Triggers on closed months would reject these deletions.
    update identity.organizations as o set closed_through = null
    where o.id = organization.id and o.closed_through is not null;
    -- Referenced rows are deleted last; dependent rows cascade.
    for target, condition in
      values
        ('app.change_items', 'change_id in (select s.id from app.change_sets as s where s.organization_id = $1)'),
        ('app.change_sets', 'organization_id = $1'),
        ('app.import_rows', 'organization_id = $1'),
        ('app.import_batches', 'organization_id = $1'),
        ('app.statement_links', 'organization_id = $1'),
        ('app.statement_lines', 'organization_id = $1'),
        ('app.provider_statements', 'organization_id = $1'),
        ('app.provider_links', 'organization_id = $1'),
        ('app.events', 'organization_id = $1'),
        ('jobs.reminder_log', 'organization_id = $1'),
        ('jobs.notice_log', 'organization_id = $1'),
        ('app.document_files', 'organization_id = $1'),
        ('app.documents', 'organization_id = $1'),
        ('app.payments', 'organization_id = $1'),
        ('app.expense_occurrences', 'organization_id = $1'),
        ('app.expenses', 'organization_id = $1'),
        ('app.idempotency_keys', 'organization_id = $1'),
        ('billing.payment_events', '$1 in (organization_id, claimed_organization_id)
          or subscription_id in (select s.id from billing.subscriptions as s where s.organization_id = $1)')
    loop
      execute
        format('delete from %1$s where ctid = any (array(select ctid from %1$s where %2$s limit $2))', target,
          condition)
        using organization.id, rows_left;
      get diagnostics count = row_count;
      rows_left := rows_left - count;
      exit organizations when rows_left <= 0;
    end loop;
    -- Few rows are left now, and they cascade from the organization or its members.
    update jobs.reminder_digests as d set content = null
    where exists (
      select from jsonb_array_elements(d.content -> 'organizations') as o where o ->> 'id' = organization.id
    );
    delete from identity.organizations as o where o.id = organization.id;
    perform identity.record_event('organization.deleted', null, organization.id, '{}', at);
    update identity.audit_events as e set detail = '{}' where e.organization_id = organization.id and e.detail <> '{}';
    gone := gone || organization.id;
  end loop;
  return jsonb_build_object('organizations', cardinality(gone), 'rows', most - greatest(rows_left, 0));
end
$$;
comment on function jobs.purge_organizations is
  'Deletes organizations whose grace period is over, at most this many rows: {"organizations": number deleted, '
  '"rows"}. A larger organization takes several runs.';

create or replace function jobs.purge_people(at timestamptz, most int default 500) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  person record;
  gone int := 0;
begin
  for person in
    select p.user_id, p.email from identity.profiles as p
    where p.deletes_at <= at
      -- Wait for people who became an owner meanwhile, or whose organization is not purged yet.
      and not exists (select from identity.organizations as o where o.owner_id = p.user_id)
    order by p.deletes_at, p.user_id
    limit most
    for update skip locked
  loop
    -- The identity provider's log has addresses and no foreign key. Not every version has this table.
    if to_regclass('auth.audit_log_entries') is not null then
      execute
        'delete from auth.audit_log_entries where payload ->> ''actor_id'' = $1 or payload #>> ''{traits,user_id}'' = '
        '$1'
      using person.user_id::text;
    end if;
    if to_regclass('auth.flow_state') is not null then
      execute 'delete from auth.flow_state where user_id = $1' using person.user_id;
    end if;
    delete from identity.invitations as i where i.address = lower(person.email);
    delete from app.tool_reads as t where t.user_id = person.user_id;
    -- Cascades to the profile, and through it to memberships, grants, calendars and mails.
    delete from auth.users as u where u.id = person.user_id;
    delete from identity.profiles as p where p.user_id = person.user_id;
    perform identity.record_event('account.deleted', person.user_id, null, '{}', at);
    update identity.audit_events as e set detail = '{}' where e.actor_id = person.user_id and e.detail <> '{}';
    gone := gone + 1;
  end loop;
  return jsonb_build_object('people', gone);
end
$$;
comment on function jobs.purge_people is
  'Deletes people whose grace period is over, with their identity-provider data: {"people": number deleted}.';

create or replace function jobs.end_reviews(at timestamptz) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  review record;
  ended int := 0;
begin
  for review in
    select r.user_id, r.organization_id, least(r.expires_at, r.revoked_at) as over_at
    from identity.reviewers as r
    join identity.organizations as o on o.id = r.organization_id
    where o.deletes_at is null and identity.is_review_over(r.user_id, at)
    for no key update of o skip locked
  loop
    perform oauth.end_grant(g.id, 'revoked_by_user', at)
    from oauth.grants as g
    where g.organization_id = review.organization_id and g.revoked_at is null;
    update identity.organizations as o set deletes_at = review.over_at + app.kept_for('deleted_organizations')
    where o.id = review.organization_id;
    -- The reviewer and the demo member. People whom the reviewer invited keep their accounts.
    update identity.profiles as p set deletes_at = review.over_at + app.kept_for('deleted_accounts')
    from identity.memberships as m
    where m.organization_id = review.organization_id and m.user_id = p.user_id and p.deletes_at is null
      and (p.user_id = review.user_id or p.email like '%@review.invalid');
    perform identity.record_event('review.ended', null, review.organization_id, '{}', at);
    ended := ended + 1;
  end loop;
  return jsonb_build_object('reviews', ended);
end
$$;
comment on function jobs.end_reviews is
  'Schedules the deletion of organizations whose reviewer''s access expired or was revoked, with their people, after '
  'the usual grace period: {"reviews": number}.';

-- Revoke the right, so that not even the service can run the purge early.
revoke all on function jobs.purge_expired, jobs.purge_organizations, jobs.purge_people, jobs.end_reviews
  from service_role;
grant execute on function jobs.purge_expired, jobs.purge_organizations, jobs.purge_people, jobs.end_reviews to purger;

create or replace function jobs.purge(at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jobs.end_reviews(at) || jobs.purge_organizations(at) || jobs.purge_people(at) || jobs.purge_expired(at);
end
$$;
comment on function jobs.purge is 'Ends reviews and runs all three purges, as the role purger. Returns their results.';
revoke all on function jobs.purge from service_role;
grant execute on function jobs.purge to purger;
-- Set the role last, as for app.run_tool, because it requires the role's right to execute.
alter function jobs.purge set role = 'purger';

-- Six runs a night, so that later runs finish the work.
select cron.schedule('purge-expired', '7-57/10 3 * * *', 'select jobs.purge(now())');
