-- summarize_spending: totals of a period in one currency, grouped, ranked and compared. Each payment counts by its
-- value, into another currency than the base one converted at the rate of its own day and rounded once; what cannot be
-- converted is named, never counted as if it were the other currency. Refunds subtract.

-- Parsed when it was created, and inlined: with a constant dimension one branch is left.
create or replace function app.group_key(dimension text, category_id text, payee text, tag text, on_day date,
  currency text, member_id uuid, recorder_id uuid, bearer_id uuid) returns text
language sql stable
  return case dimension
    when 'category' then category_id
    when 'payee' then lower(payee)
    when 'tag' then lower(tag)
    when 'month' then to_char(on_day::timestamp, 'YYYY-MM')
    when 'week' then to_char(date_trunc('week', on_day::timestamp), 'YYYY-MM-DD')
    when 'day' then to_char(on_day::timestamp, 'YYYY-MM-DD')
    when 'currency' then currency
    when 'member' then member_id::text
    when 'recorded_by' then recorder_id::text
    when 'borne_by' then bearer_id::text
  end;
comment on function app.group_key is
  'What a payment is grouped by: ids where there are some, weeks by their Monday; null for none.';

create or replace function app.group_label(dimension text, key text, spelling text, category_names jsonb)
  returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  name text;
begin
  case dimension
    when 'category' then
      name := category_names ->> key;
    when 'member', 'recorded_by', 'borne_by' then
      name := (select p.email from identity.profiles as p where p.user_id = key::uuid);
    else
      name := coalesce(spelling, key);
  end case;
  return coalesce(to_jsonb(name),
    jsonb_build_object('none',
    case when dimension in ('member', 'recorded_by', 'borne_by')
      then case when key is null then 'member' else 'former_member' end else dimension end));
end
$$;
comment on function app.group_label is
  'The label of a group, in one of its typed spellings, categories by id; {none: dimension} for no value, {none: '
  '"former_member"} for former members.';

create type app.spending_group as (
  key_1 text,
  key_2 text,
  spelling_1 text,
  spelling_2 text,
  minor numeric,
  count bigint,
  upcoming_minor numeric,
  earlier_minor numeric,
  earlier_count bigint,
  -- The same without what other tags of the same payment count already.
  once_minor numeric,
  once_count bigint,
  once_upcoming_minor numeric,
  once_earlier_minor numeric
);
comment on type app.spending_group is
  'Sums of one group in minor units of the target currency; earlier ones are of the period compared with, upcoming '
  'ones are part of minor.';

create type app.spending as (
  groups app.spending_group[],
  unconverted jsonb,
  is_partial boolean,
  sources text[],
  as_of date,
  pending_since date
);
comment on type app.spending is
  'All groups of a question, what could not be converted, whether that is so in any period, and by which rates the '
  'rest was, and since when values are not final.';
