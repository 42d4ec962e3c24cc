create or replace function public.keep_provider_answer(link_id text, lease_token uuid, period date, answer jsonb,
  at timestamptz, is_last boolean default true) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  organization constant text :=
    (select l.organization_id from app.provider_links as l where l.id = link_id);
  link app.provider_links;
  context app.context;
  change text;
  kept jsonb;
begin
  perform set_config('app.at', at::text, true);
  -- Write in turn with other writers of the organization, like app.run_tool. Nobody waits for this answer, so it can
  -- take the lock late.
  perform pg_advisory_xact_lock(app.books_key(organization));
  perform app.hold_organization(organization);
  select * into link from app.provider_links as l
  where l.id = link_id and l.lease_token = keep_provider_answer.lease_token and l.status = 'active'
  for update;
  if not found then
    return '{"outcome": "lost"}';
  end if;
  context := jobs.provider_context(organization, at);
  change := app.begin_change(context, 'provider_sync');
  kept := app.keep_answer(context, link, period, answer, false, is_last);
  perform app.finish_change(change, jsonb_build_object(
    'provider', coalesce(answer ->> 'provider_name', app.provider_name(link)), 'bill', kept
  ));
  return jsonb_build_object('outcome', 'kept', 'status', kept ->> 'status', 'code', kept ->> 'code');
end
$$;
comment on function public.keep_provider_answer is
  'Stores the result of querying a leased link, as app.keep_answer does, as a separate change: {outcome: "kept", '
  'status, code?}, or {outcome: "lost"} when another run holds the lease or the link has ended. The last answer ends '
  'the lease.';
