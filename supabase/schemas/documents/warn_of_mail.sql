-- security definer: only the service reads these tables. It returns numbers and codes, never a sender's text.
create or replace function app.warn_of_mail(context app.context) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  is_decider constant boolean := identity.member_may(context.organization_id, context.actor_id, 'settings:write');
  waiting int;
  refused int;
  reasons jsonb;
begin
  select count(*) into waiting
  from app.inbound_mails as m
  where m.organization_id = context.organization_id and m.state = 'waiting' and is_decider;
  select count(distinct m.id), jsonb_agg(distinct r.code) into refused, reasons
  from app.inbound_mails as m
  cross join unnest(m.refusals) as r (code)
  where m.organization_id = context.organization_id and m.received_at > context.at - interval '3 days'
    and (is_decider or m.accepted_by = context.actor_id);
  return case when waiting > 0
    then jsonb_build_array(app.warning('mails_waiting', jsonb_build_object('count', waiting))) else '[]' end
    || case when refused > 0 then jsonb_build_array(app.warning('mails_not_kept', jsonb_build_object(
      'count', refused, 'reasons', reasons
    ))) else '[]' end;
end
$$;
comment on function app.warn_of_mail is
  'Returns warnings about mail that list_documents cannot show. People who may decide are warned about waiting mail '
  'and about mail of the last three days that was not stored. The person who sent or accepted such mail is warned, '
  'too.';
