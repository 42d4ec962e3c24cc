-- The renewals of a contract and the last days to cancel before each, counted from one recorded renewal.

create or replace function app.term_years(bill app.expenses) returns int
language sql immutable
  return case when (bill).frequency = 'yearly' then (bill).every else 1 end;
comment on function app.term_years is
  'The renewal term of a contract: the bill''s period if it is yearly or longer, otherwise one year.';

create or replace function app.next_renewal(bill app.expenses, day date) returns date
language sql immutable
begin atomic
  select r.renews_on
  from (
    select extract(year from day)::int - extract(year from (bill).renews_on)::int as years, app.term_years(bill) as term
  ) as t
  cross join lateral (
    -- Count from the first renewal, so that 29 February returns.
    select ((bill).renews_on + make_interval(years => greatest(t.years / t.term, 0) * t.term))::date as latest,
      ((bill).renews_on + make_interval(years => (greatest(t.years / t.term, 0) + 1) * t.term))::date as following
  ) as n
  cross join lateral (select case when n.latest >= day then n.latest else n.following end as renews_on) as r
  where (bill).status = 'active' and r.renews_on <= coalesce((bill).ends_on, 'infinity');
end;
comment on function app.next_renewal is
  'Returns the first renewal of an active bill on or after a day; null if it no longer renews or no renewal was '
  'recorded.';

create or replace function app.next_cancel_by(bill app.expenses, today date) returns date
language sql immutable
  return app.next_renewal(bill, today + (bill).notice_days) - (bill).notice_days;
comment on function app.next_cancel_by is
  'Returns the next last day to cancel a bill before its next term; null without a known notice period.';
