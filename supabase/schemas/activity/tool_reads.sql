-- Reads by apps, counted by tool and day. The contents of answers are not stored.

create table app.tool_reads (
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  user_id uuid not null,
  grant_id uuid not null,
  client_name text,
  day date not null,
  tool text not null,
  count int not null default 1,
  primary key (grant_id, day, tool)
);
comment on table app.tool_reads is 'The number of calls of a reading tool by a grant, per UTC day.';
create index tool_reads_organization_id_idx on app.tool_reads (organization_id, day);
create index tool_reads_day_idx on app.tool_reads (day);
alter table app.tool_reads enable row level security;
create policy "People can see what their apps read, and managers what all do" on app.tool_reads
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and (user_id = (select auth.uid()) or (select identity.may('members:manage')))
  );
grant select on app.tool_reads to authenticated;
grant select, insert (organization_id, user_id, grant_id, client_name, day, tool), update (count) on app.tool_reads
  to service_role;

create or replace function app.count_read(claims jsonb, tool text, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into app.tool_reads as r (organization_id, user_id, grant_id, client_name, day, tool)
  values (
    claims ->> 'organization_id', (claims ->> 'sub')::uuid, (claims ->> 'grant_id')::uuid, claims ->> 'client_name',
    (at at time zone 'UTC')::date, tool
  )
  on conflict on constraint tool_reads_pkey do update set count = r.count + 1;
end
$$;
comment on function app.count_read is
  'Counts a read. Called last in its transaction, for the same reason as app.count_request.';
revoke all on function app.count_read from authenticated;
