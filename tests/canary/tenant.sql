-- In addition to the access fixture, for the canary: bills that are due, overdue, to be connected and to be
-- reconnected, valid tokens, and unfinished imports.

update identity.profiles set country = 'DE', refused_at = '2026-01-01', refused_email = 'gone@example.com' where user_id = '00000000-0000-4000-8000-00000000000b';
update oauth.grants set expires_at = '2027-06-01' where id = '00000000-0000-4000-8000-000000000001';
update identity.calendar_feeds set token_hash = 'calendar-hash' where user_id = '00000000-0000-4000-8000-00000000000b';
insert into auth.users (id, email) values ('00000000-0000-4000-8000-00000000000e', 'viewer@example.com');
insert into identity.profiles (user_id, email, country) values ('00000000-0000-4000-8000-00000000000e', 'viewer@example.com', 'DE');
insert into identity.memberships (organization_id, user_id, role) values ('org_00000000000a', '00000000-0000-4000-8000-00000000000e', 'viewer');
update identity.handovers set to_id = '00000000-0000-4000-8000-00000000000e' where organization_id = 'org_00000000000a';
update identity.invitations set token_hash = 'invitation-hash' where id = 'inv_00000000000a';
insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at) values
  ('access-hash', 'access', '00000000-0000-4000-8000-000000000001', '2026-11-20', '2027-01-01'),
  ('refresh-hash', 'refresh', '00000000-0000-4000-8000-000000000001', '2026-11-20', '2027-01-01');
insert into app.expenses (
  id, organization_id, kind, name, payee, note, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due,
  status, reminder_enabled
) values
  ('bill_00000000000b', 'org_00000000000a', 'bill', 'Phone', 'Phone company', 'In the post', 'fixed', 1500, 'EUR', 'monthly', 1, '2026-01-22', 'none',
    '2026-01-22', '2026-11-22', 'active', true),
  ('bill_00000000000c', 'org_00000000000a', 'bill', 'Water', null, null, 'variable', null, 'EUR', 'monthly', 1, '2026-01-22', 'none', '2026-01-22',
    '2026-12-22', 'active', true),
  ('bill_00000000000d', 'org_00000000000a', 'bill', 'Power', null, null, 'variable', null, 'EUR', 'monthly', 1, '2026-01-23', 'none', '2026-01-23',
    '2026-11-23', 'active', true);
insert into app.expense_occurrences (id, organization_id, expense_id, scheduled_on, due_on, expected_minor, currency) values
  ('occ_00000000000b', 'org_00000000000a', 'bill_00000000000b', '2026-11-22', '2026-11-22', 1500, 'EUR'),
  ('occ_00000000000c', 'org_00000000000a', 'bill_00000000000b', '2026-10-22', '2026-10-22', 1500, 'EUR'),
  ('occ_00000000000d', 'org_00000000000a', 'bill_00000000000d', '2026-11-23', '2026-11-23', 1700, 'EUR');
insert into app.provider_links (id, organization_id, expense_id, provider_key, account_label, status) values
  ('lnk_00000000000d', 'org_00000000000a', 'bill_00000000000d', 'openai', 'Account', 'needs_reauth');
insert into app.payments (id, organization_id, expense_id, amount_minor, currency, paid_on) values
  ('pay_00000000000b', 'org_00000000000a', 'bill_00000000000b', 1500, 'EUR', '2026-11-10');
insert into app.expenses (id, organization_id, kind, name, payee, category_id) values
  ('exp_00000000000e', 'org_00000000000a', 'one_off', 'Bread', 'Baker', 'cat_00000000000a');
insert into app.payments (id, organization_id, expense_id, amount_minor, currency, paid_on) values
  ('pay_00000000000e', 'org_00000000000a', 'exp_00000000000e', 350, 'EUR', '2026-11-12');
insert into app.import_batches (id, organization_id, actor_id, account_id, state, file, read, row_count, expires_at) values
  ('imp_00000000000c', 'org_00000000000a', '00000000-0000-4000-8000-00000000000b', 'acc_00000000000a', 'waiting', null, '{}', 0, '2027-01-01'),
  ('imp_00000000000d', 'org_00000000000a', '00000000-0000-4000-8000-00000000000b', 'acc_00000000000a', 'reading', 'a', '{"name": "a", "revision": 1}', 1, '2027-01-01');
update app.proposals set expires_at = '2027-01-01', created_at = '2026-11-20',
  effects = '{"effects": [{"id": "exp_00000000000e", "subject": {"kind": "expense", "name": "Bread"}, "verb": "deleted"}], "effects_count": 1}',
  facts = '{"count": 1, "written": [{"name": "Bread", "is_refund": false}], "totals_by_currency": {"EUR": "3.50"}}'
  where id = 'prop_00000000000a';
update app.approval_rules set over_minor = 100000000, currency = 'EUR' where id = 'rule_00000000000a';
update app.change_sets set facts = '{"count": 1, "written": [{"name": "Bread", "is_refund": false}], "totals_by_currency": {"EUR": "3.50"}}'
  where id = 'chg_00000000000a';
-- A forecast starts from a recent balance.
update app.balances set true_on = '2026-11-19' where organization_id = 'org_00000000000a';
