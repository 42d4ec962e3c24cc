create table identity.reviewers (
  user_id uuid primary key references auth.users (id) on delete cascade,
  organization_id text collate "C" not null unique references identity.organizations (id) on delete cascade,
  code_hash bytea not null unique constraint reviewers_code_hash_sha256 check (octet_length(code_hash) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  constraint reviewers_short check (expires_at > created_at and expires_at <= created_at + interval '60 days')
);
comment on table identity.reviewers is
  'Reviewers of directories, who sign in with a code from us instead of a mail. Only the operator adds them. An '
  'expired or revoked reviewer is inactive (identity.is_active).';
comment on column identity.reviewers.code_hash is 'SHA-256 of a random code of 130 bits.';
alter table identity.reviewers enable row level security;
grant select on identity.reviewers to service_role;

create or replace function identity.is_review_over(user_id uuid, at timestamptz) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- security definer, because the access token hook calls it. The answer is only yes or no.
  return exists (
    select from identity.reviewers as r
    where r.user_id = is_review_over.user_id
      and (r.expires_at <= is_review_over.at or r.revoked_at <= is_review_over.at)
  );
end
$$;
comment on function identity.is_review_over is 'Whether a person is a reviewer whose access expired or was revoked.';
revoke all on function identity.is_review_over from service_role;
grant execute on function identity.is_review_over to supabase_auth_admin;

create or replace function identity.keep_reviewer_in() returns trigger
language plpgsql set search_path = '' as $$
begin
  if exists (
    select from identity.reviewers as r
    where r.user_id = new.user_id and r.organization_id <> new.organization_id
  ) then
    raise exception 'a reviewer belongs to one organization' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
comment on function identity.keep_reviewer_in is 'Refuses a reviewer''s membership in any other organization.';
create trigger keep_reviewer_in before insert or update of user_id, organization_id on identity.memberships
  for each row execute function identity.keep_reviewer_in();

create or replace function public.open_review(code_hash text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  reviewer record;
begin
  select r.user_id, r.organization_id, p.email into reviewer
  from identity.reviewers as r
  join identity.profiles as p on p.user_id = r.user_id
  where r.code_hash = decode(open_review.code_hash, 'hex') and identity.is_active(r.user_id, at);
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('review.signed_in', reviewer.user_id, reviewer.organization_id, '{}', at);
  return jsonb_build_object('outcome', 'open', 'user_id', reviewer.user_id, 'email', reviewer.email);
end
$$;
comment on function public.open_review is
  'Returns the person that a reviewer''s code signs in, and records the sign-in: {"outcome":"open","user_id","email"}. '
  'Returns {"outcome":"unknown"} for an unknown, expired or revoked code.';
