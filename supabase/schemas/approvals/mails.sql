-- Mails to one person about one proposal (pending or decided) or about their removal. The sender determines the
-- recipients when it runs. Claiming a mail inserts its row, so that it is sent once.

create table app.mails (
  id bigint generated always as identity primary key,
  proposal_id text collate "C" references app.proposals (id) on delete cascade,
  event_id bigint references identity.audit_events (id) on delete cascade,
  user_id uuid not null,
  kind text not null constraint mails_kind_known check (
    kind in ('asked', 'reminded', 'decided', 'settled', 'removed')
  ),
  attempts int not null default 0,
  leased_until timestamptz not null,
  sent_at timestamptz,
  constraint mails_once unique nulls not distinct (proposal_id, event_id, user_id, kind),
  constraint mails_about_one
    check (num_nonnulls(proposal_id, event_id) = 1 and (kind = 'removed') = (event_id is not null))
);
comment on table app.mails is
  'Mails about proposals and removals that a sender has claimed or sent. If a sender dies, its lease expires.';
comment on column app.mails.kind is
  'asked and reminded: to people who can decide; decided: to the proposer; settled: to the others who got asked; '
  'removed: to the former member.';
create index mails_user_id_idx on app.mails (user_id, sent_at);
create index mails_leased_until_idx on app.mails (leased_until) where sent_at is null;
create index mails_event_id_idx on app.mails (event_id);
-- Finds recent removals.
create index audit_events_removed_idx on identity.audit_events (at) where event = 'member.removed';
alter table app.mails enable row level security;
grant select, insert, update, delete on app.mails to service_role;

create or replace function app.find_due_mails(about text, at timestamptz)
  returns table (proposal_id text, event_id bigint, user_id uuid, kind text)
language plpgsql stable set search_path = '' as $$
declare
  -- Mails expire if they are not sent within two days.
  since constant timestamptz := at - interval '2 days';
begin
  return query
    with proposals as (
      select p as proposal, p.id, p.actor_id, p.decided_by, p.expires_at,
        case when p.state = 'pending' and p.expires_at <= at then 'expired' else p.state end as state,
        coalesce(p.decided_at, p.expires_at) as settled_at
      from app.proposals as p
      where p.expires_at > since and (about is null or about in (p.id, p.organization_id))
    ), asked as (
      select w.proposal_id, w.user_id, w.sent_at from app.mails as w where w.kind = 'asked' and w.sent_at is not null
    )
    select p.id, null::bigint, a.user_id, 'asked'
    from proposals as p
    cross join lateral app.find_approvers((p.proposal).organization_id, (p.proposal).approver, p.actor_id) as who (ids)
    -- Without another approver, the proposer decides.
    cross join lateral unnest(case who.ids when '{}' then array[p.actor_id] else who.ids end) as a (user_id)
    where p.state = 'pending' and app.may_decide(p.proposal, a.user_id, 'page')
    union all
    select p.id, null, a.user_id, 'reminded'
    from proposals as p
    join asked as a on a.proposal_id = p.id and a.sent_at <= at - interval '1 day'
    where p.state = 'pending' and p.expires_at <= at + interval '2 days'
      and app.may_decide(p.proposal, a.user_id, 'page')
    union all
    select p.id, null, p.actor_id, 'decided'
    from proposals as p
    where p.state in ('approved', 'refused', 'stale', 'expired') and p.decided_by is distinct from p.actor_id
      and p.settled_at > since
    union all
    select p.id, null, a.user_id, 'settled'
    from proposals as p
    join asked as a on a.proposal_id = p.id and a.user_id <> p.actor_id
    where p.state <> 'pending' and p.decided_by is distinct from a.user_id and p.settled_at > since
      and identity.member_may((p.proposal).organization_id, a.user_id, 'approvals:decide')
    union all
    select null, e.id, (e.detail ->> 'member_id')::uuid, 'removed'
    from identity.audit_events as e
    where e.event = 'member.removed' and e.at > since and (about is null or about = e.organization_id);
end
$$;
comment on function app.find_due_mails is
  'Returns the recipients and kinds of due mails, including mails already sent. about limits them to one proposal or '
  'organization.';
revoke all on function app.find_due_mails from authenticated;

create or replace function app.describe_removal(event_id bigint, reader identity.profiles) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'organization', o.name, 'by', app.member_name(e.actor_id), 'country', reader.country,
      'balances', app.balances_of(o.id, reader.user_id),
      'withdrawn', (
        select count(*) from app.proposals as p
        where p.organization_id = o.id and p.actor_id = reader.user_id and p.state = 'withdrawn' and p.decided_at = e.at
      )
    )
    from identity.audit_events as e
    join identity.organizations as o on o.id = e.organization_id
    where e.id = describe_removal.event_id
  );
end
$$;
comment on function app.describe_removal is
  'Returns a removal for the former member: {organization, by, country, balances, withdrawn: the number of '
  'proposals}.';
revoke all on function app.describe_removal from authenticated;

create or replace function app.may_be_asked(proposal_id text, user_id uuid, at timestamptz) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  most_an_hour constant int := 10;
begin
  return (
    select count(*)
    from app.mails as w
    join app.proposals as p on p.id = w.proposal_id
    where w.user_id = may_be_asked.user_id and w.kind = 'asked'
      and (w.sent_at > at - interval '1 hour' or w.sent_at is null and w.leased_until > at)
      and p.organization_id = (select q.organization_id from app.proposals as q where q.id = may_be_asked.proposal_id)
  ) < most_an_hour;
end
$$;
comment on function app.may_be_asked is
  'Whether a person may get another mail about an organization within this hour. The limit protects against '
  'assistants that propose and withdraw repeatedly. Further proposals appear on the person''s page, and are mailed '
  'later if still pending.';
revoke all on function app.may_be_asked from authenticated;

create or replace function public.claim_mails(about text, at_most int, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  lease constant interval := '2 minutes';
  claimed jsonb;
begin
  perform set_config('app.at', at::text, true);
    with open as (
      select d.*
      from app.find_due_mails(about, at) as d
      left join app.proposals as p on p.id = d.proposal_id
      left join identity.audit_events as e on e.id = d.event_id
      left join identity.organizations as o on o.id = coalesce(p.organization_id, e.organization_id)
      left join identity.memberships as m on m.organization_id = o.id and m.user_id = d.user_id
      where identity.is_active(d.user_id, claim_mails.at)
        -- A removed person gets the mail unless they are a member again.
        and case d.kind when 'removed' then o.id is not null and m.user_id is null
          else o.deletes_at is null and m.user_id is not null end
        and not exists (
          select from app.mails as w
          where (w.proposal_id = d.proposal_id or w.event_id = d.event_id) and w.user_id = d.user_id
            and w.kind = d.kind and (w.sent_at is not null or w.leased_until > claim_mails.at)
        )
        and (d.kind <> 'asked' or app.may_be_asked(d.proposal_id, d.user_id, claim_mails.at))
      order by d.proposal_id, d.event_id, d.kind, d.user_id
      limit at_most
    ), taken as (
      insert into app.mails as w (proposal_id, event_id, user_id, kind, attempts, leased_until)
      select o.proposal_id, o.event_id, o.user_id, o.kind, 1, claim_mails.at + lease from open as o
      on conflict on constraint mails_once do update
        set attempts = w.attempts + 1, leased_until = excluded.leased_until
        -- The second of two concurrent senders finds the mail claimed.
        where w.sent_at is null and w.leased_until <= at
      returning w.*
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', c.id::text, 'kind', c.kind, 'to', p.email, 'hides_amounts', p.hide_amounts_in_email
    ) || case c.kind when 'removed'
      then jsonb_build_object('removal', app.describe_removal(c.event_id, p))
      else jsonb_build_object('proposal', app.describe_proposal(q, c.user_id, at))
    end order by c.id), '[]') into claimed
    from taken as c
    join identity.profiles as p on p.user_id = c.user_id
    left join app.proposals as q on q.id = c.proposal_id;
  return claimed;
end
$$;
comment on function public.claim_mails is
  'Mails (about one proposal or organization, or all when null) for one sender, leased for two minutes: [{id, kind: '
  'asked | reminded | decided | settled | removed, to, hides_amounts, proposal? | removal?}].';

create or replace function app.next_attempt(attempts int, at timestamptz) returns timestamptz
language sql immutable
  return at + interval '5 minutes' * least(3 ^ (attempts - 1), 144);
comment on function app.next_attempt is
  'Returns the time of the next attempt for a mail or an event after this many attempts: exponential backoff, up to '
  'half a day.';
revoke all on function app.next_attempt from authenticated;

create or replace function public.settle_mail(mail_id text, is_sent boolean, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.mails as w
  set sent_at = case when is_sent then at end,
    leased_until = case when is_sent then at else app.next_attempt(w.attempts, at) end
  where w.id = mail_id::bigint and w.sent_at is null;
end
$$;
comment on function public.settle_mail is
  'Records that the mail service accepted a mail, or that it must be retried later.';
