-- The least that rolling can cost: a bare table with its key and one index, one statement that moves what is due and writes a row for each.
create table public.floor_bill (
  id bigint primary key, anchor_on date not null, next_due date not null, amount_minor bigint not null, active boolean not null default true
) with (fillfactor = 85);
create table public.floor_reminder (bill_id bigint, due_on date, amount_minor bigint, created_at timestamptz default now(), primary key (bill_id, due_on));
insert into public.floor_bill (id, anchor_on, next_due, amount_minor)
select row_number() over (order by id), anchor_on, next_due, amount_minor from app.expenses;
create index floor_bill_due_idx on public.floor_bill (next_due) where active;
