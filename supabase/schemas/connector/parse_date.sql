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
  'Returns the day near today for MM-DD. If several are possible, ends the tool and asks for the year.';

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
  'Returns the date of a weekday name: the last one for payments, otherwise the next. If today is that weekday, ends '
  'the tool with a question.';

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
  if value ~ '^(this|last|next)_' and field ~ '(^|[.])(from|to)$' then
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
  'Returns a date argument as a calendar date of the owner. A payment''s date must not be in the future. Null stays '
  'null.';
