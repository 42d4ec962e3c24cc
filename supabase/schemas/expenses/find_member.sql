create or replace function app.find_member(context app.context, wanted text, field text) returns uuid
language plpgsql stable set search_path = '' as $$
declare
  near jsonb;
begin
  if wanted is null or lower(wanted) = 'me' then
    return case when wanted is not null then context.actor_id end;
  end if;
  select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email) order by m.email) into near
  from (
    select m.user_id, m.email, rank() over (order by lower(m.email) <> lower(wanted)) as place
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where strpos(lower(m.email), lower(wanted)) > 0
  ) as m
  where m.place = 1;
  if near is null then
    -- "Benjamin" means ben@… if only one address fits.
    select jsonb_agg(jsonb_build_object('id', m.user_id, 'email', m.email)) into near
    from (select m.user_id, app.member_name(m.user_id) as email from identity.memberships as m) as m
    where length(split_part(m.email, '@', 1)) >= 3 and starts_with(lower(wanted), lower(split_part(m.email, '@', 1)))
      and strpos(wanted, '@') = 0;
  end if;
  if jsonb_array_length(near) = 1 then
    return near #>> '{0,id}';
  end if;
  perform app.fail('not_found.member', jsonb_build_object(
    'member', wanted,
    'several', case when jsonb_array_length(near) > 1 then jsonb_path_query_array(near, '$[*].email') end,
    'details', jsonb_build_object('members', coalesce(
      jsonb_path_query_array(near, '$[*].email'),
      (select jsonb_agg(app.member_name(m.user_id) order by m.created_at) from identity.memberships as m)
    ))
  ), field);
  return null;
end
$$;
comment on function app.find_member is
  'Returns the member with this address, or the only one whose address contains the text; null for null. Ends the tool '
  'with not_found and candidates.';
