-- Demo data, for development only: two organizations with a year and a half of records, the same on every machine on the
-- same day. All dates are relative to today, and all values come from hashes, never from random(). Does nothing if the demo
-- users exist.
--
--   demo@example.com    owns the household (plan team), with member@example.com as a member
--   other@example.com   owns the studio (plan pro) and is not a member of the household

-- A deterministic number from 0 to 1 for a text.
create or replace function pg_temp.draw(key text) returns numeric
language sql immutable as $$ select ('x' || left(md5(key), 8))::bit(32)::bigint / 4294967296.0 $$;

-- A person of the identity provider; its tables have different columns in the embedded stack and in the real service.
create or replace function pg_temp.add_user(id uuid, email text, at timestamptz) returns void
language plpgsql as $$
declare
  target text;
  known jsonb;
  columns text;
begin
  for target, known in
    values
      ('users', jsonb_build_object(
        'id', id, 'instance_id', '00000000-0000-0000-0000-000000000000', 'aud', 'authenticated', 'role', 'authenticated', 'email', email,
        'email_confirmed_at', at, 'created_at', at, 'updated_at', at, 'is_sso_user', false, 'is_anonymous', false,
        'raw_app_meta_data', jsonb_build_object('provider', 'email', 'providers', jsonb_build_array('email')), 'raw_user_meta_data', '{}'::jsonb,
        -- The real service cannot read these when they are null.
        'encrypted_password', '', 'confirmation_token', '', 'recovery_token', '', 'email_change', '', 'email_change_token_new', '',
        'email_change_token_current', '', 'phone_change', '', 'phone_change_token', '', 'reauthentication_token', ''
      )),
      ('identities', jsonb_build_object(
        'id', id, 'user_id', id, 'provider', 'email', 'provider_id', id, 'created_at', at, 'updated_at', at, 'last_sign_in_at', at,
        'identity_data', jsonb_build_object('sub', id, 'email', email, 'email_verified', true, 'phone_verified', false)
      ))
  loop
    select string_agg(quote_ident(c.column_name), ', ') into columns
    from information_schema.columns as c
    where c.table_schema = 'auth' and c.table_name = target and c.is_generated = 'NEVER' and known ? c.column_name;
    continue when columns is null;
    execute format('insert into auth.%1$I (%2$s) select %2$s from jsonb_populate_record(null::auth.%1$I, $1)', target, columns) using known;
  end loop;
end
$$;

-- One-off expenses at a given average interval, with amounts in a range, smaller ones more often.
create or replace function pg_temp.add_expenses(
  organization text, payers uuid[], name text, payee text, category text, currency text, lowest bigint, highest bigint,
  days_apart numeric, first_day date, last_day date, tags text[] default '{}', direction text default 'out'
) returns void
language plpgsql as $$
declare
  habit constant text := concat_ws('|', organization, name, payee);
  days constant date[] := array(
    select day::date from generate_series(first_day::timestamp, last_day, '1 day') as day where pg_temp.draw(habit || day) < 1 / days_apart
  );
begin
  insert into app.expenses as e (id, organization_id, kind, name, payee, category_id, tags, created_by, created_at, updated_at)
  select 'exp_' || left(md5(habit || day), 12), organization, 'one_off', add_expenses.name, add_expenses.payee,
    (select c.id from app.categories as c where c.organization_id = organization and c.name = category), add_expenses.tags,
    payers[1 + floor(pg_temp.draw('who' || habit || day) * cardinality(payers))::int], day + time '18:00', day + time '18:00'
  from unnest(days) as day;
  insert into app.payments (
    organization_id, expense_id, direction, amount_minor, currency, paid_on, paid_by, created_at, updated_at
  )
  select e.organization_id, e.id, add_expenses.direction, drawn.amount_minor, add_expenses.currency, day, e.created_by, e.created_at, e.created_at
  from unnest(days) as day
  join app.expenses as e on e.id = 'exp_' || left(md5(habit || day), 12)
  cross join lateral (select (lowest + round((highest - lowest) * power(pg_temp.draw('amount' || habit || day), 2)))::bigint as amount_minor) as drawn;
end
$$;

-- The payments of a bill until yesterday: a row and a payment for each date, at the price of that day.
create or replace function pg_temp.add_history(bill app.expenses, payers uuid[], today date, last_day date, old_minor bigint, price_from date) returns void
language plpgsql as $$
begin
  insert into app.expense_occurrences (
    organization_id, expense_id, scheduled_on, due_on, expected_minor, currency, amount_source, status, closed_at, created_at, updated_at
  )
  select bill.organization_id, bill.id, s.scheduled_on, s.due_on,
    case
      when bill.amount_mode = 'fixed' then case when s.due_on < price_from then old_minor else bill.amount_minor end
      -- Winters cost more.
      else round(coalesce(bill.amount_minor, old_minor) * (1 + 0.25 * cos((extract(doy from s.due_on) - 15) / 58.1) + 0.2 * (pg_temp.draw(bill.id || s.due_on) - 0.5)))
    end,
    bill.currency, case bill.amount_mode when 'fixed' then 'rule' when 'estimated' then 'override' else 'provider' end,
    'paid', s.due_on + time '09:00', s.due_on - time '09:00', s.due_on + time '09:00'
  from app.scheduled_dates(bill, app.schedule_index(bill, bill.tracked_from), least(app.due_index(bill, last_day) - 1, app.last_index(bill))) as s;
  insert into app.payments (
    organization_id, expense_id, occurrence_id, amount_minor, currency, paid_on, source, paid_by, created_at, updated_at
  )
  select o.organization_id, o.expense_id, o.id, o.expected_minor, o.currency, paid.paid_on,
    case when bill.autopay then 'autopay' else 'assistant' end,
    case when not bill.autopay then payers[1 + floor(pg_temp.draw('who' || bill.id || o.due_on) * cardinality(payers))::int] end,
    paid.paid_on + time '09:00', paid.paid_on + time '09:00'
  from app.expense_occurrences as o
  -- People pay a day or two early or late, but within the month, so that no month has two rents. Automatic payments are
  -- on time.
  cross join lateral (
    select least(today, (date_trunc('month', o.due_on) + interval '1 month' - interval '1 day')::date, greatest(
      date_trunc('month', o.due_on)::date,
      o.due_on + case when bill.autopay then 0 else floor(pg_temp.draw('when' || bill.id || o.due_on) * 4)::int - 2 end
    )) as paid_on
  ) as paid
  where o.expense_id = bill.id
  order by o.due_on;
end
$$;

create or replace function pg_temp.add_rates(start_on date, today date) returns void
language plpgsql as $$
begin
  -- Invented exchange rates: a calm year and a short wave around a usual rate, on weekdays. The demo's payments keep their
  -- values; the rates are deleted at the end, because other books must not use them.

  insert into app.fx_rates (quote, rate_on, source, rate, fetched_at)
  select q.quote, day::date, 'demo', round(q.usual * (
      1 + 0.030 * sin(extract(epoch from day) / 86400 / 58.1 + pg_temp.draw(q.quote) * 6) + 0.006 * sin(extract(epoch from day) / 86400 / 5.3 + pg_temp.draw(q.quote) * 6)
    )::numeric, q.decimals), day + time '15:00'
  from (values
    ('USD', 1.1350, 4), ('GBP', 0.8590, 5), ('INR', 96.40, 4), ('JPY', 168.20, 2), ('CHF', 0.9420, 4), ('SEK', 11.0200, 4),
    ('DKK', 7.4610, 4), ('PLN', 4.2510, 4), ('CAD', 1.5820, 4), ('AUD', 1.7640, 4), ('KWD', 0.34820, 5), ('AED', 4.1680, 4)
  ) as q (quote, usual, decimals)
  cross join generate_series(start_on - interval '1 month', today, '1 day') as day
  where extract(isodow from day) < 6;
  insert into app.fx_days (day, settled_at)
  select day::date, 'infinity' from generate_series(start_on - interval '1 month', today, '1 day') as day
  on conflict do nothing;
end
$$;

-- Only the rows of add_rates().
create or replace function pg_temp.drop_rates() returns void
language plpgsql as $$
begin
  delete from app.fx_rates where source = 'demo';
  delete from app.fx_days where settled_at = 'infinity';
end
$$;

-- A household of two people with a year and a half of records. mark distinguishes the ids of several households.
create or replace function pg_temp.add_household(household text, name text, mark text, owner uuid, owner_email text, member uuid, member_email text)
returns void
language plpgsql as $$
declare
  today constant date := (now() at time zone 'Europe/Berlin')::date;
  month_end constant date := date_trunc('month', today) + interval '1 month' - interval '1 day';
  start_on constant date := date_trunc('month', today) - interval '18 months';
  start_at constant timestamptz := start_on + time '08:00';
  family constant uuid[] := array[owner, member];
  -- Due in three days, or on the last day of the month if that is earlier, so that it is open this month on any day.
  rent_on constant date := least(today + 3, month_end);
  bill app.expenses;
begin
  perform pg_temp.add_user(owner, owner_email, start_at), pg_temp.add_user(member, member_email, start_at);
  insert into identity.profiles (user_id, email, country, timezone, trial_started_at, created_at, updated_at) values
    (owner, owner_email, 'DE', 'Europe/Berlin', start_at, start_at, start_at),
    (member, member_email, 'ES', 'Europe/Madrid', start_at, start_at, start_at);
  insert into identity.organizations (id, name, base_currency, plan, owner_id, created_at, updated_at)
  values (household, add_household.name, 'EUR', 'team', owner, start_at, start_at);
  insert into identity.memberships (organization_id, user_id, role, created_at)
  values (household, owner, 'owner', start_at), (household, member, 'member', start_at);
  perform app.create_default_categories(household, start_at);

  -- The household's spending between its bills

  perform pg_temp.add_expenses(household, family, e.name, e.payee, e.category, e.currency, e.lowest, e.highest, e.days_apart, start_on, today)
  from (values
    ('Groceries', 'Edeka', 'Groceries', 'EUR', 1890, 11800, 4),
    ('Groceries', 'Lidl', 'Groceries', 'EUR', 1240, 6900, 6),
    ('Market vegetables', 'Saturday market', 'Groceries', 'EUR', 850, 3200, 9),
    ('Lunch', 'Canteen', 'Food', 'EUR', 690, 1450, 4),
    ('Dinner', 'Trattoria Limone', 'Food', 'EUR', 3400, 9800, 17),
    ('Coffee', 'Corner Cafe', 'Food', 'EUR', 320, 880, 5),
    ('Tram tickets', 'City transport', 'Transport', 'EUR', 320, 1200, 9),
    ('Fuel', 'Aral', 'Transport', 'EUR', 4100, 8200, 19),
    ('Pharmacy', 'Linden Apotheke', 'Health', 'EUR', 495, 4200, 24),
    ('Clothes', 'Zalando', 'Shopping', 'EUR', 2900, 15900, 31),
    ('Household goods', 'IKEA', 'Housing', 'EUR', 1990, 24900, 58),
    ('Books', 'Bookshop on the square', 'Education', 'EUR', 990, 4800, 38),
    ('Cinema', 'Lichtspielhaus', 'Entertainment', 'EUR', 1100, 3600, 34),
    ('Birthday present', 'Toy shop', 'Gifts', 'EUR', 1500, 6900, 52),
    ('Ebook', 'Amazon', 'Shopping', 'USD', 499, 1999, 44),
    ('Video games', 'Steam', 'Entertainment', 'USD', 999, 5999, 90),
    ('School supplies for the niece', 'Paperworks', 'Gifts', 'INR', 90000, 420000, 95)
  ) as e (name, payee, category, currency, lowest, highest, days_apart);
  perform pg_temp.add_expenses(household, family, e.name, e.payee, e.category, 'EUR', e.lowest, e.highest, e.days_apart, start_on, today, '{returned}', 'refund')
  from (values ('Returned clothes', 'Zalando', 'Shopping', 2900, 8900, 95), ('Returned lamp', 'IKEA', 'Housing', 2900, 5900, 200)) as e (name, payee, category, lowest, highest, days_apart);
  perform pg_temp.add_expenses(
    household, family, e.name, e.payee, e.category, e.currency, e.lowest, e.highest, e.days_apart, today - e.days_ago, today - e.days_ago + e.days - 1, array['trip', e.tag]
  )
  from (values
    ('Hotel', 'Ryokan Sakura', 'Travel', 'JPY', 18000, 32000, 1.3, 230, 9, 'japan'), ('Ramen', 'Menya', 'Food', 'JPY', 950, 2400, 1.1, 230, 9, 'japan'),
    ('Train', 'Japan Rail', 'Travel', 'JPY', 1200, 14000, 1.6, 230, 9, 'japan'), ('Temple and tea', 'Kyoto gardens', 'Entertainment', 'JPY', 500, 3000, 1.8, 230, 9, 'japan'),
    ('Hotel', 'Bloomsbury Rooms', 'Travel', 'GBP', 14000, 18900, 1.2, 122, 4, 'london'), ('Theatre', 'West End', 'Entertainment', 'GBP', 4500, 9900, 2, 122, 4, 'london'),
    ('Fish and chips', 'Harbour Kitchen', 'Food', 'GBP', 1450, 3900, 1.3, 122, 4, 'london'), ('Ski pass', 'Bergbahnen', 'Travel', 'CHF', 7900, 9500, 1.3, 300, 6, 'alps'),
    ('Fondue', 'Alpenblick', 'Food', 'CHF', 3800, 9200, 1.5, 300, 6, 'alps'), ('Hut', 'Berghaus', 'Travel', 'CHF', 11000, 16000, 1.2, 300, 6, 'alps')
  ) as e (name, payee, category, currency, lowest, highest, days_apart, days_ago, days, tag);

  -- The household's 25 bills

  insert into app.expenses (
    id, organization_id, kind, name, payee, category_id, amount_mode, amount_minor, currency, frequency, every, anchor_on, month_days, weekend_rule, autopay,
    tracked_from, status, reminder_enabled, created_by, created_at, updated_at
  )
  select 'bill_' || mark || lpad(b.number::text, 8, '0'), household, 'bill', b.name, b.payee, c.id, b.mode, b.minor, b.currency, b.frequency, b.every, b.anchor_on,
    b.month_days, b.weekend_rule, b.autopay, greatest(b.anchor_on, start_on), 'active', true, owner, start_at, start_at
  from (values
    (1, 'Rent', 'Hausverwaltung Nord', 'Housing', 'fixed', 145000, 'EUR', 'monthly', 1, app.month_day(app.month_of(start_on), extract(day from rent_on)::int), array[case rent_on when month_end then -1 else extract(day from rent_on) end]::smallint[], 'none', false),
    (2, 'Electricity', 'Stadtwerke', 'Utilities', 'estimated', 8400, 'EUR', 'monthly', 1, start_on + 11, null, 'after', false),
    (3, 'Heating', 'Stadtwerke', 'Utilities', 'estimated', 14800, 'EUR', 'monthly', 2, start_on + 24, null, 'after', false),
    (4, 'Water', 'City waterworks', 'Utilities', 'fixed', 9640, 'EUR', 'monthly', 3, start_on + 1, null, 'after', false),
    (5, 'Internet', 'Fibernet', 'Internet and phone', 'fixed', 4499, 'EUR', 'monthly', 1, start_on + 4, array[5]::smallint[], 'after', true),
    (6, 'Mobile phones', 'Wave Mobile', 'Internet and phone', 'fixed', 2998, 'EUR', 'monthly', 1, start_on + 17, null, 'none', true),
    (7, 'Netflix', null, 'Subscriptions', 'fixed', 1799, 'EUR', 'monthly', 1, start_on + 7, null, 'none', true),
    (8, 'Music family plan', 'Spotify', 'Subscriptions', 'fixed', 1799, 'EUR', 'monthly', 1, start_on + 20, null, 'none', true),
    (9, 'Cloud hosting', 'DigitalOcean', 'Software', 'variable', null, 'USD', 'monthly', 1, start_on + 1, null, 'none', true),
    (10, 'Health insurance', 'Familienkasse', 'Insurance', 'fixed', 41280, 'EUR', 'monthly', 1, (start_on + interval '1 month' - interval '1 day')::date, array[-1]::smallint[], 'before', true),
    (11, 'Car insurance', 'Allsafe', 'Insurance', 'fixed', 48600, 'EUR', 'yearly', 1, (today + 48 - interval '1 year')::date, null, 'none', false),
    (12, 'Car lease', 'Autobank', 'Transport', 'fixed', 25900, 'EUR', 'monthly', 1, start_on + 14, null, 'after', true),
    (13, 'Gym', 'Fit and Well', 'Health', 'fixed', 1990, 'EUR', 'weekly', 2, start_on + (12 - extract(isodow from start_on)::int) % 7, null, 'none', true),
    (14, 'Cleaning help', 'Sparkle', 'Housing', 'fixed', 6000, 'EUR', 'weekly', 1, start_on + (11 - extract(isodow from start_on)::int) % 7, null, 'none', false),
    (15, 'Breakfast rolls', 'Bakery Sonne', 'Groceries', 'fixed', 380, 'EUR', 'daily', 1, today - 40, null, 'none', true),
    (16, 'Nanny', 'Kinderzeit', 'Education', 'fixed', 45000, 'EUR', 'monthly', 1, start_on, array[1, 15]::smallint[], 'before', false),
    (17, 'Japanese lessons', 'Nihongo Online', 'Education', 'fixed', 6600, 'JPY', 'monthly', 1, start_on + 19, null, 'none', false),
    (18, 'Storage unit', 'Gulf Storage', 'Housing', 'fixed', 12500, 'KWD', 'monthly', 3, start_on + 9, null, 'none', false),
    (19, 'Broadcasting fee', 'Beitragsservice', 'Taxes and fees', 'fixed', 5508, 'EUR', 'monthly', 3, (start_on + interval '1 month 14 days')::date, null, 'none', true),
    (20, 'Family domain name', 'Nameworks', 'Software', 'fixed', 1400, 'USD', 'yearly', 1, date '2024-02-29', null, 'none', true),
    (21, 'Cinema at home', 'Filmhaus Plus', 'Subscriptions', 'fixed', 999, 'EUR', 'monthly', 1, today + 6, null, 'none', true),
    (22, 'Garden magazine', 'Greenleaf', 'Subscriptions', 'fixed', 590, 'EUR', 'monthly', 1, start_on + 9, null, 'none', true),
    (23, 'Language app', 'Parla', 'Education', 'fixed', 1299, 'EUR', 'monthly', 1, start_on + 12, null, 'none', true),
    (24, 'Sofa instalments', 'IKEA', 'Housing', 'fixed', 8250, 'EUR', 'monthly', 1, (start_on + interval '6 months 2 days')::date, null, 'none', true),
    (25, 'Dentist invoice', 'Dental practice Mitte', 'Health', 'fixed', 18040, 'EUR', 'once', 1, today - 6, null, 'none', false)
  ) as b (number, name, payee, category, mode, minor, currency, frequency, every, anchor_on, month_days, weekend_rule, autopay)
  join app.categories as c on c.organization_id = household and c.name = b.category;
  update app.expenses set renews_on = today + 48, notice_days = 30 where id = 'bill_' || mark || '00000011';
  update app.expenses set ends_after = 36 where id = 'bill_' || mark || '00000012';
  update app.expenses set ends_on = today + 25 where id = 'bill_' || mark || '00000015';
  update app.expenses set share_bp = 5000, remind_days_before = 5 where id = 'bill_' || mark || '00000016';
  update app.expenses set trial_ends_on = today + 5 where id = 'bill_' || mark || '00000021';
  update app.expenses set ends_after = 6 where id = 'bill_' || mark || '00000024';
  update app.expenses set remind_days_before = 14 where id in ('bill_' || mark || '00000011', 'bill_' || mark || '00000020');
  -- Its credential is sealed under a key that no file contains: the embedded stack adds it, and elsewhere a person enters it on
  -- the connect page.
  insert into app.provider_links (
    id, organization_id, expense_id, provider_key, provider_name, account_label, status, created_at, updated_at
  )
  values ('lnk_' || mark || '00000001', household, 'bill_' || mark || '00000009', 'digitalocean', 'DigitalOcean', 'Team …4f2a', 'active', start_at, start_at);

  for bill in select * from app.expenses as e where e.organization_id = household and e.kind = 'bill' and e.frequency <> 'once' order by e.id loop
    perform pg_temp.add_history(
      bill, family, today,
      (today - case bill.name when 'Garden magazine' then interval '5 months' when 'Language app' then interval '2 months' else interval '0' end)::date,
      case bill.name when 'Rent' then 139500 when 'Netflix' then 1599 when 'Internet' then 3999 when 'Cloud hosting' then 4300 else bill.amount_minor end,
      (today - case bill.name when 'Rent' then interval '7 months' when 'Netflix' then interval '5 months' else interval '10 months' end)::date
    );
  end loop;
  -- The provider's amount for each month: due on the 2nd of the next one, and fetched that morning.
  insert into app.provider_statements (
    organization_id, link_id, period, amount_minor, currency, payload_sha256, status, usual_minor, occurrence_id, fetched_at
  )
  select o.organization_id, 'lnk_' || mark || '00000001', (date_trunc('month', o.due_on) - interval '1 month')::date, o.expected_minor, o.currency,
    encode(sha256(convert_to(o.expected_minor || '|' || o.currency || '|', 'UTF8')), 'hex'), 'applied', app.usual_statement(o), o.id,
    date_trunc('month', o.due_on) + interval '1 day 6 hours'
  from app.expense_occurrences as o
  where o.expense_id = 'bill_' || mark || '00000009' and o.amount_source = 'provider';
  update app.provider_links as l
  set (last_success_period, asked_at) = (select max(s.period), max(s.fetched_at) from app.provider_statements as s where s.link_id = l.id)
  where l.id = 'lnk_' || mark || '00000001';
  update app.expenses set status = 'cancelled' where id = 'bill_' || mark || '00000022';
  update app.expenses set status = 'paused' where id = 'bill_' || mark || '00000023';
  perform app.refresh_bill(e.id, today) from app.expenses as e where e.organization_id = household and e.kind = 'bill';
end
$$;

-- The demo itself
do $$
declare
  other constant uuid := '00000000-0000-4000-8000-00000000de02';
  studio constant text := 'org_demo00000002';
  today constant date := (now() at time zone 'Europe/Berlin')::date;
  start_on constant date := date_trunc('month', today) - interval '18 months';
  start_at constant timestamptz := start_on + time '08:00';
  bill app.expenses;
begin
  if exists (select from auth.users as u where u.email = 'demo@example.com') then
    return;
  end if;
  insert into billing.billing_plans (provider_plan_id, plan) values ('plan_demo_pro', 'pro'), ('plan_demo_team', 'team')
  on conflict do nothing;
  perform pg_temp.add_rates(start_on, today);
  perform pg_temp.add_household(
    'org_demo00000001', 'Garden Street household', 'demo', '00000000-0000-4000-8000-00000000de01', 'demo@example.com',
    '00000000-0000-4000-8000-00000000de03', 'member@example.com'
  );

  -- The studio, in another country and invisible to the others

  perform pg_temp.add_user(other, 'other@example.com', start_at);
  insert into identity.profiles (user_id, email, country, timezone, trial_started_at, created_at, updated_at)
  values (other, 'other@example.com', 'IN', 'Asia/Kolkata', start_at, start_at, start_at);
  insert into identity.organizations (id, name, base_currency, plan, owner_id, created_at, updated_at)
  values (studio, 'Banyan Studio', 'INR', 'pro', other, start_at, start_at);
  insert into identity.memberships (organization_id, user_id, role, created_at) values (studio, other, 'owner', start_at);
  perform app.create_default_categories(studio, start_at);

  perform pg_temp.add_expenses(studio, array[other], e.name, e.payee, e.category, e.currency, e.lowest, e.highest, e.days_apart, (today - interval '6 months')::date, today)
  from (values
    ('Team lunch', 'Swiggy', 'Food', 'INR', 45000, 210000, 8), ('Cab', 'Ola', 'Transport', 'INR', 18000, 76000, 7), ('Paper and ink', 'Stationery House', 'Shopping', 'INR', 60000, 480000, 25),
    ('Fonts', 'Type Foundry', 'Software', 'USD', 2900, 12900, 60)
  ) as e (name, payee, category, currency, lowest, highest, days_apart);
  insert into app.expenses (
    id, organization_id, kind, name, payee, category_id, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, autopay,
    tracked_from, status, reminder_enabled, created_by, created_at, updated_at
  )
  select 'bill_demo' || lpad(b.number::text, 8, '0'), studio, 'bill', b.name, b.payee, c.id, b.mode, b.minor, b.currency, b.frequency, 1, b.anchor_on, 'none', b.autopay,
    b.anchor_on, 'active', true, other, start_at, start_at
  from (values
    (101, 'Studio rent', 'Indiranagar Estates', 'Housing', 'fixed', 6500000, 'INR', 'monthly', (date_trunc('month', today) - interval '6 months 26 days')::date, false),
    (102, 'Broadband', 'Airtel', 'Internet and phone', 'fixed', 119900, 'INR', 'monthly', (date_trunc('month', today) - interval '6 months 20 days')::date, true),
    (103, 'Electricity', 'City power', 'Utilities', 'estimated', 420000, 'INR', 'monthly', (date_trunc('month', today) - interval '6 months 15 days')::date, false),
    (104, 'Design suite', 'Figma', 'Software', 'fixed', 4500, 'USD', 'monthly', (date_trunc('month', today) - interval '6 months 10 days')::date, true)
  ) as b (number, name, payee, category, mode, minor, currency, frequency, anchor_on, autopay)
  join app.categories as c on c.organization_id = studio and c.name = b.category;
  for bill in select * from app.expenses as e where e.organization_id = studio and e.kind = 'bill' order by e.id loop
    perform pg_temp.add_history(bill, array[other], today, today, bill.amount_minor, start_on);
  end loop;
  perform app.refresh_bill(e.id, today) from app.expenses as e where e.organization_id = studio and e.kind = 'bill';

  perform pg_temp.drop_rates();
end
$$;

drop function pg_temp.add_household, pg_temp.add_rates, pg_temp.drop_rates, pg_temp.add_history, pg_temp.add_expenses, pg_temp.add_user, pg_temp.draw;
