-- summarize_spending: totals of a period in one currency, grouped, ranked and compared. Payments count by their base
-- value, or are converted at their own day's rate and rounded once. Amounts that cannot be converted are listed,
-- never added 1:1. Refunds subtract.

-- A parsed body can be inlined: with a constant dimension, only one branch remains.
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
  'Returns the key that groups a payment: an id where there is one, the Monday of a week, or null for no value.';

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
  'Returns the label of a group: a category''s name, a member''s address, or one of the spellings. {none: dimension} '
  'means no value, {none: "former_member"} a former member.';

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
  -- The same sums, with each payment counted once even if it has several tags.
  once_minor numeric,
  once_count bigint,
  once_upcoming_minor numeric,
  once_earlier_minor numeric
);
comment on type app.spending_group is
  'Sums of one group in minor units of the target currency. Earlier sums belong to the compared period; upcoming sums '
  'are included in minor.';

create type app.spending as (
  groups app.spending_group[],
  unconverted jsonb,
  is_partial boolean,
  sources text[],
  as_of date,
  pending_since date
);
comment on type app.spending is
  'All groups, the amounts that could not be converted, and whether any period has such amounts. Also the sources and '
  'day of the rates, and the first day whose values are not final.';
