alter table oauth.clients enable row level security;
alter table oauth.ungranted_counts enable row level security;
alter table oauth.grants enable row level security;
alter table oauth.consents enable row level security;
alter table oauth.used_codes enable row level security;
alter table oauth.tokens enable row level security;
grant select, insert, update, delete
  on oauth.clients, oauth.ungranted_counts, oauth.grants, oauth.consents, oauth.used_codes, oauth.tokens
  to service_role;
