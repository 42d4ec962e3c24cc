-- Stores balances, from statements and people.

create or replace function app.write_balance(context app.context, account_id text, true_on date, minor bigint,
  currency text, source text, out id text, out status text)
language plpgsql volatile set search_path = '' as $$
declare
  known app.balances;
begin
  select * into known from app.balances as b
  where b.account_id = write_balance.account_id and b.true_on = write_balance.true_on
    and b.currency = write_balance.currency and b.source = write_balance.source
    and b.created_by = context.actor_id and b.deleted_at is null;
  id := known.id;
  status := case when known.id is null then 'created' when known.amount_minor = minor then 'duplicate'
    else 'updated' end;
  if status = 'updated' then
    -- Insert a new row, because the latest row counts if several people stated a balance.
    update app.balances as b set deleted_at = app.instant() where b.id = known.id;
  end if;
  if status <> 'duplicate' then
    insert into app.balances as b (
      organization_id, account_id, true_on, amount_minor, currency, source, created_by
    ) values (
      context.organization_id, write_balance.account_id, write_balance.true_on, minor, write_balance.currency,
      write_balance.source, context.actor_id
    ) returning b.id into write_balance.id;
  end if;
end
$$;
comment on function app.write_balance is
  'Stores a balance. The status is created, updated (this person stated another amount for the day) or duplicate.';

create or replace function app.keep_balance(context app.context, batch app.import_batches) returns void
language plpgsql volatile set search_path = '' as $$
declare
  said constant jsonb := batch.read -> 'balances';
  home constant text := coalesce(
    said ->> 'currency', batch.read ->> 'default_currency', app.account_currency(context, batch.account_id),
    context.base_currency
  );
  minor constant numeric := (
    select trunc((said ->> 'closing')::numeric * 10::numeric ^ c.exponent) from app.currencies as c where c.code = home
  );
begin
  update app.accounts as a
  set balance = said || jsonb_build_object(
    'from', file.first_day, 'to', file.last_day, 'change_id', current_setting('app.change_id', true)
  )
  from (
    select min(r.draft ->> 'paid_on') as first_day, max(r.draft ->> 'paid_on') as last_day
    from app.import_rows as r
    where r.import_id = batch.id
  ) as file
  where a.id = batch.account_id and said ? 'closing' and (a.balance is null or a.balance ->> 'to' <= file.last_day);
  if batch.account_id is not null and said ? 'closing_on' and abs(minor) <= 1000000000000000
    and (said ->> 'closing_on')::date <= context.today + 1
    -- An older file of the same day may lack later lines of that day.
    and (not exists (
      select from app.balances as b
      where b.account_id = batch.account_id and b.true_on = (said ->> 'closing_on')::date and b.currency = home
        and b.source = 'statement' and b.deleted_at is null
    ) or exists (
      select from app.statement_lines as l
      where l.account_id = batch.account_id and l.booked_on = (said ->> 'closing_on')::date
        and l.change_id = current_setting('app.change_id', true)
    )) then
    perform app.write_balance(
      context, batch.account_id, (said ->> 'closing_on')::date, minor::bigint, home, 'statement'
    );
  end if;
end
$$;
comment on function app.keep_balance is
  'Stores the closing balance of an import, and updates the account''s balances unless a later statement is known.';
