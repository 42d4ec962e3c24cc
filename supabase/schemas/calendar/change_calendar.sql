create or replace function public.create_calendar(user_id uuid, organization_id text, token_hash text, at timestamptz)
  returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  if not identity.organization_has_feature(organization_id, 'ai:connector', at) then
    return '{"outcome":"refused"}';
  end if;
  insert into identity.calendar_feeds as f (organization_id, user_id, token_hash, created_at)
  select m.organization_id, m.user_id, decode(create_calendar.token_hash, 'hex'), at
  from identity.memberships as m
  where m.organization_id = create_calendar.organization_id and m.user_id = create_calendar.user_id
  -- The later of two concurrent requests wins, because the browser shows its address.
  on conflict on constraint calendar_feeds_pkey do update
    set token_hash = excluded.token_hash, show_amounts = false, created_at = excluded.created_at
    where f.created_at <= excluded.created_at;
  if not found then
    return '{"outcome":"refused"}';
  end if;
  perform identity.record_event('calendar.created', user_id, organization_id, '{}', at);
  return '{"outcome":"created"}';
end
$$;
comment on function public.create_calendar is
  'Creates a calendar address without amounts and ends the previous one. Returns {"outcome":"created"}, or '
  '{"outcome":"refused"} without membership or feature, and for the earlier of two concurrent requests.';

create or replace function public.change_calendar(user_id uuid, organization_id text, show_amounts boolean,
  at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  update identity.calendar_feeds as f set show_amounts = change_calendar.show_amounts
  where f.organization_id = change_calendar.organization_id and f.user_id = change_calendar.user_id;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('calendar.changed', user_id, organization_id,
    jsonb_build_object('show_amounts', show_amounts), at);
  return '{"outcome":"changed"}';
end
$$;
comment on function public.change_calendar is
  'Shows or hides the amounts in a person''s calendar. Returns {"outcome":"changed"} or {"outcome":"unknown"}.';

create or replace function public.end_calendar(user_id uuid, organization_id text, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from identity.calendar_feeds as f
  where f.organization_id = end_calendar.organization_id and f.user_id = end_calendar.user_id;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  perform identity.record_event('calendar.ended', user_id, organization_id, '{}', at);
  return '{"outcome":"ended"}';
end
$$;
comment on function public.end_calendar is
  'Ends a person''s calendar address. Returns {"outcome":"ended"} or {"outcome":"unknown"}.';
