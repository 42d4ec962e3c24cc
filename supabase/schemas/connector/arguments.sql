-- Reads arguments and builds answers: errors, text, dates, amounts and cursors. The contract has checked the arguments;
-- this file checks them against the calendar, the currencies and the owner's day.

create or replace function app.fail(code text, params jsonb default '{}', field text default null) returns void
language plpgsql set search_path = '' as $$
begin
  raise exception using errcode = 'EX001', message = fail.code, detail = jsonb_strip_nulls(
    jsonb_build_object('code', fail.code, 'params', fail.params, 'field', fail.field)
  )::text;
end
$$;
comment on function app.fail is
  'Ends the tool and rolls back everything it wrote. The code is from a closed list; its first part is public '
  '(invalid_argument.tags_too_many). params are the facts for the message in shared/words; params.details go to the '
  'client.';

create or replace function app.warning(code text, params jsonb default '{}') returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return jsonb_build_object('code', warning.code, 'params', jsonb_strip_nulls(warning.params));
end
$$;
comment on function app.warning is
  'A warning beside the result: a code from a closed list, and the facts for its message.';

-- Text

create or replace function app.clean_text(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(btrim(regexp_replace(value, '\s+', ' ', 'g')), '');
end
$$;
comment on function app.clean_text is 'One line of typed text with single spaces; blank is null.';

create or replace function app.fold_text(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  if octet_length(value) = length(value) then
    return lower(value);
  end if;
  return regexp_replace(replace(normalize(lower(value), nfkd), 'ß', 'ss'), '[\u0300-\u036f]+', '', 'g');
end
$$;
comment on function app.fold_text is 'A text in lower case and without accents.';

create or replace function app.word_patterns(query text) returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select array_agg('%' || regexp_replace(w.word, '([\\%_])', '\\\1', 'g') || '%')
    from regexp_split_to_table(app.fold_text(app.clean_text(query)), '\s+') as w (word)
    where w.word <> ''
  );
end
$$;
comment on function app.word_patterns is
  'What a folded text has to be like to have all words of a query, in any order; null without words.';

create or replace function app.plain_words(value text, at_most int) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(rtrim(left(btrim(regexp_replace(regexp_replace(
    value,
    -- Invisible and direction-changing characters: format characters, variation selectors, tags.
    '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f'
    '\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]', '', 'g'
  ), '[\s\u0001-\u001f\u007f-\u009f<>{}[\]`*#|~"\\]+', ' ', 'g')), at_most)), '');
end
$$;
comment on function app.plain_words is
  'The first characters of a stranger''s name for something, as one line of words without invisible characters, markup '
  'or quotes. Null if nothing legible is left.';

create or replace function app.clean_tags(tags jsonb, field text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  cleaned text[];
begin
  select coalesce(array_agg(t.tag order by t.position), '{}') into cleaned
  from (
    select distinct on (lower(app.clean_text(t.tag))) app.clean_text(t.tag) as tag, t.position
    from jsonb_array_elements_text(coalesce(tags, '[]')) with ordinality as t (tag, position)
    order by lower(app.clean_text(t.tag)), t.position
  ) as t
  where t.tag is not null;
  if cardinality(cleaned) > 10 then
    perform app.fail('invalid_argument.tags_too_many', jsonb_build_object('count', cardinality(cleaned), 'most', 10),
      field);
  end if;
  return cleaned;
end
$$;
comment on function app.clean_tags is
  'Tags as typed, each once whatever its case, in the order of their first mention.';

-- Dates

create or replace function app.nearest_day(context app.context, month_and_day text, field text, is_past boolean)
  returns date
language plpgsql stable set search_path = '' as $$
declare
  days constant date[] := array(
    select context.today + d from generate_series(-366, 366) as d
    where to_char(context.today + d, 'MM-DD') = month_and_day order by abs(d)
  );
begin
  if days = '{}' then
    perform app.fail('date_out_of_range.no_such_day', jsonb_build_object('value', month_and_day), field);
  end if;
  -- A day more than a season away may be in last year or next year.
  if abs(days[1] - context.today) > 92 or (is_past and days[1] > context.today + 1) then
    perform app.fail('date_out_of_range.which_year', jsonb_build_object(
      'days', (select jsonb_agg(d order by d) from unnest(days) as d)
    ), field);
  end if;
  return days[1];
end
$$;
comment on function app.nearest_day is
  'The day that MM-DD means near today, where only one can be meant; else ends the tool and asks for the year.';

create or replace function app.nearest_weekday(context app.context, word text, field text, is_past boolean) returns date
language plpgsql stable set search_path = '' as $$
declare
  isodow constant int := array_position(
    array['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
    regexp_replace(word, '^(last|next)_', '')
  );
  ahead constant int := (isodow - extract(isodow from context.today)::int + 7) % 7;
begin
  case
    when word like 'next%' then return context.today + coalesce(nullif(ahead, 0), 7);
    when word like 'last%' then return context.today + ahead - 7;
    when ahead = 0 then
      perform app.fail('date_out_of_range.which_weekday', jsonb_build_object(
        'days', jsonb_build_array(context.today, context.today + case when is_past then -7 else 7 end)
      ), field);
    else null;
  end case;
  return context.today + ahead - case when is_past then 7 else 0 end;
end
$$;
comment on function app.nearest_weekday is
  'The date of a weekday name: the last one for payments, else the next. On that weekday itself, ends the tool with a '
  'question.';

create or replace function app.parse_date(context app.context, value text, field text, is_past boolean default false)
  returns date
language plpgsql stable set search_path = '' as $$
begin
  if value ~ '^(199\d|20\d\d)-\d\d-\d\d$' then
    return value::date;
  end if;
  if value ~ '^--\d\d-\d\d$' then
    return app.nearest_day(context, substr(value, 3), field, is_past);
  end if;
  if value ~ '^((last|next)_)?(mon|tues|wednes|thurs|fri|satur|sun)day$' then
    return app.nearest_weekday(context, value, field, is_past);
  end if;
  if value ~ '^(this|last)_' and field ~ '(^|[.])(from|to)$' then
    return case when field ~ 'from$' then (app.named_period(value, context.today)).from_on
      else (app.named_period(value, context.today)).to_on end;
  end if;
  case value
    when 'today' then return context.today;
    when 'yesterday' then return context.today - 1;
    when 'tomorrow' then return context.today + 1;
    else null;
  end case;
  if value is not null then
    perform app.fail('date_out_of_range.not_a_date', jsonb_build_object('value', left(value, 40)), field);
  end if;
  return null;
exception when datetime_field_overflow then
  perform app.fail('date_out_of_range.no_such_day', jsonb_build_object('value', value), field);
end
$$;
comment on function app.parse_date is
  'A date argument as a calendar date of the owner, one of the past if it is that of a payment; null stays null.';

-- Amounts

create or replace function app.currency_exponent(code text, field text) returns smallint
language plpgsql stable set search_path = '' as $$
declare
  found_exponent smallint;
begin
  select c.exponent into found_exponent from app.currencies as c where c.code = currency_exponent.code;
  if not found then
    perform app.fail('currency_unknown', jsonb_build_object('currency', code), field);
  end if;
  return found_exponent;
end
$$;
comment on function app.currency_exponent is
  'Number of decimals of a currency; ends the tool with currency_unknown for an unknown code.';
