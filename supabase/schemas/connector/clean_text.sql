create or replace function app.clean_text(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return nullif(btrim(regexp_replace(value, '\s+', ' ', 'g')), '');
end
$$;
comment on function app.clean_text is 'Returns a typed text as one line with single spaces; null for a blank text.';

create or replace function app.fold_text(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  if octet_length(value) = length(value) then
    return lower(value);
  end if;
  return regexp_replace(replace(normalize(lower(value), nfkd), 'ß', 'ss'), '[\u0300-\u036f]+', '', 'g');
end
$$;
comment on function app.fold_text is 'Returns a text in lower case and without accents.';

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
  'Returns patterns that match folded text with all words of a query in any order; null without words.';

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
  'Returns the beginning of a name that a stranger chose, as one line of words without invisible characters, markup '
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
  'Returns tags as typed, each once regardless of case, in the order of their first mention.';
