create or replace function app.provider_name(link app.provider_links) returns text
language sql immutable
  return coalesce((link).provider_name, (link).provider_key);
comment on function app.provider_name is 'Returns the display name of a link''s provider.';
