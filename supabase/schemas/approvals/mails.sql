-- Mails about proposals: to whoever is asked, and to the proposer once there is an answer. Who has to hear is worked
-- out when somebody sends; a row is made when a mail is taken on, so that it goes once.

create table app.proposal_mails (
  id bigint generated always as identity primary key,
  proposal_id text collate "C" not null references app.proposals (id) on delete cascade,
  user_id uuid not null,
  kind text not null constraint proposal_mails_kind_known check (kind in ('asked', 'decided')),
  attempts int not null default 0,
  leased_until timestamptz not null,
  sent_at timestamptz,
  unique (proposal_id, user_id, kind)
);
comment on table app.proposal_mails is
  'Which mails about proposals somebody is sending, or sent. A sender that dies leaves a lease that ends.';
create index proposal_mails_leased_until_idx on app.proposal_mails (leased_until) where sent_at is null;
alter table app.proposal_mails enable row level security;
grant select, insert, update, delete on app.proposal_mails to service_role;

create or replace function public.claim_proposal_mails(proposal_id text, at_most int, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  lease constant interval := '2 minutes';
  claimed jsonb;
begin
  perform set_config('app.at', at::text, true);
    with due as (
      select p.id, a.user_id, 'asked' as kind
      from app.proposals as p
      cross join lateral app.find_approvers(p.organization_id, p.approver, p.actor_id) as who (ids)
      -- Who has nobody to ask is asked.
      cross join lateral unnest(case who.ids when '{}' then array[p.actor_id] else who.ids end) as a (user_id)
      where p.state = 'pending' and p.expires_at > at
        and (claim_proposal_mails.proposal_id is null or p.id = claim_proposal_mails.proposal_id)
      union all
      select p.id, p.actor_id, 'decided'
      from app.proposals as p
      where p.state in ('approved', 'refused', 'stale') and p.decided_by <> p.actor_id
        and p.decided_at > at - interval '2 days'
        and (claim_proposal_mails.proposal_id is null or p.id = claim_proposal_mails.proposal_id)
      union all
      -- Nobody answered in time.
      select p.id, p.actor_id, 'decided'
      from app.proposals as p
      where p.state = 'pending' and p.expires_at <= at and p.expires_at > at - interval '2 days'
        and (claim_proposal_mails.proposal_id is null or p.id = claim_proposal_mails.proposal_id)
    ), open as (
      select d.*
      from due as d
      where exists (
          select from app.proposals as p
          join identity.memberships as m on m.organization_id = p.organization_id and m.user_id = d.user_id
          join identity.organizations as o on o.id = p.organization_id and o.deletes_at is null
          where p.id = d.id and identity.is_active(d.user_id, at)
      )
        and not exists (
          select from app.proposal_mails as w
          where w.proposal_id = d.id and w.user_id = d.user_id and w.kind = d.kind
            and (w.sent_at is not null or w.leased_until > at)
        )
      order by d.id, d.kind, d.user_id
      limit at_most
    ), taken as (
      insert into app.proposal_mails as w (proposal_id, user_id, kind, attempts, leased_until)
      select o.id, o.user_id, o.kind, 1, at + lease from open as o
      on conflict on constraint proposal_mails_proposal_id_user_id_kind_key do update
        set attempts = w.attempts + 1, leased_until = excluded.leased_until
        -- Of two senders at once the second finds it taken.
        where w.sent_at is null and w.leased_until <= at
      returning w.*
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', c.id::text, 'kind', c.kind, 'to', p.email, 'hides_amounts', p.hide_amounts_in_email,
      'proposal', app.describe_proposal(q, c.user_id, at)
    ) order by c.id), '[]') into claimed
    from taken as c
    join app.proposals as q on q.id = c.proposal_id
    join identity.profiles as p on p.user_id = c.user_id;
  return claimed;
end
$$;
comment on function public.claim_proposal_mails is
  'Mails about proposals (one, or all when null) for one sender, leased for two minutes: [{id, kind: asked | decided, '
  'to, hides_amounts, proposal}].';

create or replace function public.settle_proposal_mail(mail_id text, is_sent boolean, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update app.proposal_mails as w
  set sent_at = case when is_sent then at end,
    -- Later each time, up to half a day, for as long as there is anything to tell.
    leased_until = case when is_sent then at else at + interval '5 minutes' * least(3 ^ (w.attempts - 1), 144) end
  where w.id = mail_id::bigint and w.sent_at is null;
end
$$;
comment on function public.settle_proposal_mail is
  'Notes that a mail was taken by the mail service, or that it is to be tried again, not at once.';
