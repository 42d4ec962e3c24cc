-- A bill's payer and sharing apply only while these people are members.

create or replace function app.if_member(user_id uuid, organization_id text) returns uuid
language plpgsql stable set search_path = '' as $$
begin
  return (
    select m.user_id from identity.memberships as m
    where m.organization_id = if_member.organization_id and m.user_id = if_member.user_id
  );
end
$$;
comment on function app.if_member is 'Returns the person, or null after their membership has ended.';

create or replace function app.share_among_members(sharing jsonb, organization_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case when count(*) = jsonb_array_length(sharing -> 'parts') then sharing
      when count(*) > 1 then jsonb_set(sharing, '{parts}', jsonb_agg(p.value order by p.ordinality)) end
    from jsonb_array_elements(sharing -> 'parts') with ordinality as p
    where app.if_member((p.value ->> 'member_id')::uuid, share_among_members.organization_id) is not null
  );
end
$$;
comment on function app.share_among_members is
  'Returns the shares of an amount among the remaining members, who bear the former members'' parts in proportion. '
  'Null if only one member remains.';
