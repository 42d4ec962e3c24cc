create or replace function app.count_request(grant_id text, kind text, limits jsonb, at timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if limits -> kind is not null then
    perform oauth.draw_from_bucket(
      app.quota_key(grant_id, kind), (limits #>> array[kind, 'at_most'])::integer,
      (limits #>> array[kind, 'seconds'])::double precision, at
    );
  end if;
end
$$;
comment on function app.count_request is
  'Counts a request of a grant. It runs last in its transaction, because the row stays locked until commit, and calls '
  'of one client must not wait for each other''s tools. So concurrent calls are counted late, which is exact enough.';

create or replace function public.authenticate_bearer(token_hash text, resource text, at timestamptz,
  limits jsonb default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  principal jsonb := app.authenticate(token_hash, resource, 'read', limits, at);
begin
  if principal ->> 'outcome' = 'ok' then
    perform set_config('request.jwt.claims', (principal -> 'claims')::text, true),
      set_config('request.jwt.claim.sub', principal #>> '{claims,sub}', true), set_config('app.at', at::text, true);
    principal := principal || jsonb_strip_nulls(jsonb_build_object(
      'grant_id', principal #> '{claims,grant_id}', 'barred_by', identity.barred_by()
    ));
    perform app.count_request(principal #>> '{claims,grant_id}', 'read', limits, at);
  end if;
  return principal - 'claims';
end
$$;
comment on function public.authenticate_bearer is
  'Authenticates a request that runs no tool: {outcome: ok | invalid_token | feature_not_in_plan | '
  'organization_deleting | limited, organization?, plan?, required_plan?, deletes_on?, retry_after?, '
  'first_use_in_hour?, grant_id?, barred_by?}. identity.barred_by supplies barred_by.';
