create or replace function app.account_key(context app.context, name text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return encode(sha256(convert_to(context.organization_id || ' ' || account_key.name, 'UTF8')), 'hex');
end
$$;
comment on function app.account_key is
  'Returns the SHA-256 (hex) of the organization and a name: the number of an account, otherwise its name in the '
  'export or the name that a person gave it.';

create or replace function app.number_key(context app.context, number text) returns text
language sql immutable
  return app.account_key(context, nullif(upper(regexp_replace(number, '[^[:alnum:]]+', '', 'g')), ''));
comment on function app.number_key is 'Returns the key of the account with a number, however the file spaces it.';

create or replace function app.make_account(context app.context, name text, key text, facts jsonb) returns text
language plpgsql volatile set search_path = '' as $$
declare
  max_accounts constant int := 100;
  account_id text;
begin
  if (select count(*) from app.accounts as a where a.organization_id = context.organization_id) >= max_accounts then
    perform app.fail('invalid_argument.too_many_accounts', jsonb_build_object('most', max_accounts), 'account');
  end if;
  for i in 1..max_accounts + 1 loop
    insert into app.accounts (organization_id, name, key, kind, currency)
    select context.organization_id,
      case i when 1 then left(make_account.name, 60) else left(make_account.name, 54) || format(' (%s)', i) end,
      make_account.key, case when facts ->> 'kind' = 'card' then 'card' else 'account' end,
      (select c.code from app.currencies as c where c.code = facts ->> 'currency')
    -- Another account may have the key or the name.
    on conflict do nothing;
    select a.id into account_id from app.accounts as a
    where a.organization_id = context.organization_id and a.key = make_account.key;
    exit when found;
  end loop;
  return account_id;
end
$$;
comment on function app.make_account is
  'Returns the account with a key, created under an unused name if missing. Ends the tool with invalid_argument at 100 '
  'accounts.';

create or replace function app.find_account(context app.context, given text, facts jsonb) returns text
language plpgsql volatile set search_path = '' as $$
declare
  wanted constant text := app.clean_text(given);
  number constant text := nullif(upper(regexp_replace(facts ->> 'number', '[^[:alnum:]]+', '', 'g')), '');
  export constant text := app.clean_text(left(facts ->> 'name', 40));
  key_of_file constant text := app.account_key(context, coalesce(number, lower(export)));
  key_of_name constant text := app.account_key(context, 'named ' || lower(wanted));
  account app.accounts;
begin
  select * into account from app.accounts as a
  where a.organization_id = context.organization_id
    and case when wanted is null then a.key = key_of_file
      else a.id = wanted or lower(a.name) = lower(wanted) end;
  if found then
    -- The account's next file is then recognized by its number.
    update app.accounts as a set key = key_of_file, updated_at = context.at
    where a.id = account.id and a.key = key_of_name and number is not null
      and not exists (
        select from app.accounts as other
        where other.organization_id = context.organization_id and other.key = key_of_file
      );
    return account.id;
  elsif wanted ~ '^acc_[0-9a-z]+$' then
    perform app.fail('not_found.account', jsonb_build_object('id', wanted), 'account');
  elsif wanted is not null then
    return app.make_account(context, wanted, key_of_name, facts);
  elsif key_of_file is not null then
    -- Most formats already include the end of the account number in the name.
    return app.make_account(
      context,
      case when strpos(upper(export), right(number, 4)) > 0 then export
        else concat_ws(' ', export, '…' || right(number, 4)) end,
      key_of_file, facts
    );
  end if;
  return null;
end
$$;
comment on function app.find_account is
  'Returns the account given by id or name, otherwise the one named in the file, which is created if new. Returns null '
  'without either, because a list of expenses has no account. Ends the tool with not_found for an unknown id.';
