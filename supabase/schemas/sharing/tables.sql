create table app.payment_shares (
  payment_id text collate "C" not null,
  organization_id text collate "C" not null,
  expense_id text collate "C" not null,
  member_id uuid not null,
  paid_by uuid not null,
  currency text not null,
  minor bigint not null,
  primary key (payment_id, organization_id, member_id),
  foreign key (payment_id, organization_id) references app.payments (id, organization_id) on delete cascade
);
comment on table app.payment_shares is
  'Derived by app.derive_shares: each member''s part of a shared payment, negative for a refund. The shares of a '
  'payment add up to it.';
create index payment_shares_owed_idx
  on app.payment_shares (organization_id, currency) include (member_id, paid_by, minor)
  where member_id <> paid_by;
-- Finds a person's shares.
create index payment_shares_member_id_idx on app.payment_shares (expense_id, member_id);

create table app.settlements (
  id text collate "C" primary key default app.new_id('set')
    constraint settlements_id_format check (id ~ '^set_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  from_id uuid not null,
  to_id uuid not null,
  amount_minor bigint not null
    constraint settlements_amount_minor_range check (amount_minor between 1 and 1000000000000000),
  currency text not null references app.currencies (code),
  paid_on date not null,
  note text constraint settlements_note_length check (length(note) between 1 and 2000),
  created_by uuid not null,
  version int not null default 1,
  deleted_at timestamptz,
  recorded_seq bigint not null generated always as identity,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  constraint settlements_between_two check (from_id <> to_id)
);
comment on table app.settlements is
  'Money that one member gave another for shared costs. Not counted as spending or in any total.';
create index settlements_organization_id_idx on app.settlements (organization_id, currency);
create index settlements_currency_idx on app.settlements (currency);

-- security definer: a payment by any member changes the shares of all members.
create or replace function app.derive_shares() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  delete from app.payment_shares as s where s.payment_id = new.id;
  if new.sharing is not null and new.paid_by is not null and new.deleted_at is null then
    insert into app.payment_shares (payment_id, organization_id, expense_id, member_id, paid_by, currency, minor)
    select new.id, new.organization_id, new.expense_id, s.member_id, new.paid_by, new.currency,
      case new.direction when 'refund' then -s.minor else s.minor end
    from app.share_amount(new.amount_minor, new.paid_by, new.sharing) as s;
  end if;
  return null;
end
$$;
comment on function app.derive_shares is 'Updates app.payment_shares of a payment.';
create trigger derive_shares_of_new after insert on app.payments
  for each row when (new.sharing is not null) execute function app.derive_shares();
create trigger derive_shares after update of sharing, paid_by, amount_minor, currency, direction, deleted_at
  on app.payments
  for each row when (old.sharing is not null or new.sharing is not null) execute function app.derive_shares();

alter table app.payment_shares enable row level security;
alter table app.settlements enable row level security;
-- A balance reveals no payments. Only people who see everything see balances between other members.
create policy "Members can read what they bear or paid" on app.payment_shares
  for select to authenticated using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or member_id = (select auth.uid()) or paid_by = (select auth.uid()))
  );
create policy "Members can use their settlements, and managers all of them" on app.settlements
  for all to authenticated
  using (
    organization_id = (select identity.current_organization_id())
    and ((select identity.sees_everything()) or (select auth.uid()) in (from_id, to_id))
  )
  with check (
    organization_id = (select identity.current_organization_id())
    and ((select identity.may('settings:write')) or (select auth.uid()) in (from_id, to_id))
  );
grant select on app.payment_shares to authenticated;
grant select, insert, update on app.settlements to authenticated;
grant select, insert, update, delete on app.payment_shares, app.settlements to service_role;
