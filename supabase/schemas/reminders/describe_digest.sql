create or replace function jobs.describe_digest(digest jobs.reminder_digests, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  owner identity.profiles;
  organization identity.organizations;
  section jsonb;
  sections jsonb := '[]';
  reminds_of jsonb := '[]';
  reconnects jsonb := '[]';
begin
  select p.* into owner from identity.profiles as p where p.user_id = digest.owner_id;
  if not owner.email_enabled or identity.reminder_address(owner) = owner.refused_email
    or not identity.is_active(owner.user_id, at) then
    return null;
  end if;
  for organization in
    select o.* from identity.organizations as o
    where o.owner_id = digest.owner_id and o.reminders_enabled
      and identity.organization_has_feature(o.id, 'reminders:email', at)
    order by o.name, o.id
  loop
    perform jobs.act_as(
      jsonb_build_object('sub', owner.user_id, 'role', 'authenticated', 'organization_id', organization.id));
    section := app.describe_due_bills(owner, organization, array(
      select l from jobs.reminder_log as l
        where l.digest_id = digest.id and l.organization_id = organization.id and l.voided_at is null
    ), at);
    if section is not null then
      sections := sections || (section - 'reminds_of');
      reminds_of := reminds_of || (section -> 'reminds_of');
    end if;
    if identity.organization_has_feature(organization.id, 'bills:variable', at) then
      reconnects := reconnects || app.describe_reconnects(organization);
    end if;
  end loop;
  perform jobs.act_as('{}');
  -- What else is overdue, or has to be connected again, is said on the way; alone it sends nothing.
  if reminds_of = '[]' then
    return null;
  end if;
  return jsonb_build_object(
    'address', identity.reminder_address(owner), 'country', owner.country, 'today',
    (at at time zone owner.timezone)::date,
    'hides_amounts', owner.hide_amounts_in_email, 'organizations', sections, 'reconnect',
    jsonb_path_query_array(reconnects, '$[0 to 19]'),
    'reminds_of', reminds_of
  );
end
$$;
comment on function jobs.describe_digest is
  'What a digest says at an instant: to whom, and the bills by organization; reminds_of: the rows of the log that it '
  'stands for. Null when it has nothing to say, or nobody to say it to.';
