-- Compares names as cards write them: "LIDL SAGT DANKE 4411", "UBER *TRIP", "SQ *BLUE BOTTLE", "AMZN Mktp DE*2K3".

create or replace function app.descriptor_words(value text) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  -- Payment processors and kinds of booking, which precede the payee's name.
  processors constant text :=
    '^(?:paypal|pp|ppl|sq|square|sumup|zettle|izettle|iz|tst|sp|stripe|klarna|mollie|adyen|payu)'
    || '(?:\seurope)?(?:\ss\s?a\s?r\s?l)?(?:\set\scie)?(?:\ss\s?c\s?a)?\s?[*:.]\s?';
  -- Capturing groups would take several times as long.
  bookings constant text := '^(?:(?:pos|ec|visa|debit|card|purchase|payment|contactless|kartenzahlung|lastschrift|'
    || 'paiement|carte|cb|compra|pagamento|betaling) )+';
  -- Words that subscriptions and rides add to a name.
  extras constant text[] := array['subscr', 'subscription', 'membership', 'plus', 'premium', 'pro', 'abo', 'monthly',
    'trip', 'ride', 'rides', 'online', 'order', 'bestellung', 'invoice', 'rechnung', 'bill'];
  plain text := translate(lower(normalize(left(value, 500), nfkd)), 'ß''’&', 's');
  words text[];
  kept text[] := '{}';
  word text;
begin
  plain := regexp_replace(plain, '[\u0300-\u036f]+', '', 'g');
  plain := regexp_replace(btrim(plain), bookings, '');
  plain := regexp_replace(regexp_replace(plain, '\s+', ' ', 'g'), processors, '');
  plain := regexp_replace(plain, '^paypal .* (?:einkauf bei|purchase at|achat chez|compra en|aankoop bij) ', '');
  -- The top-level domain of a web address isn't part of a name.
  plain := regexp_replace(plain, '\.(?:com|net|org|io|co|app|de|fr|es|it|nl|at|ch|uk|eu|in)\M', ' ', 'g');
  words := array_remove(regexp_split_to_array(plain, '[^[:alnum:]]+'), '');
  if words[1] = 'the' and cardinality(words) > 1 then
    words := words[2:];
  end if;
  -- Numbers belong to branches, cards and bookings. Short words after the first are countries or legal forms.
  foreach word in array words loop
    exit when cardinality(kept) = 8;
    if word !~ '[0-9]' and (kept = '{}' or length(word) > 2 and word <> all (extras)) then
      kept := kept || word;
    end if;
  end loop;
  return case when kept = '{}' then words[1:8] else kept end;
end
$$;
comment on function app.descriptor_words is
  'Returns the distinguishing words of a name, at most eight, in lower case: without accents, payment processor, '
  'numbers and codes.';

create or replace function app.same_word(one text, other text) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  short constant text := case when length(one) < length(other) then one else other end;
  long constant text := case when length(one) < length(other) then other else one end;
begin
  return one = other
    -- Truncated or without vowels: "netfli", "amzn".
    or length(short) >= 5 and starts_with(long, short)
    or length(short) >= 4 and left(long, 1) || regexp_replace(substr(long, 2), '[aeiou]', '', 'g') = short
    or length(short) >= 6 and left(short, 2) = left(long, 2) and app.text_likeness(one, other) >= 0.75;
end
$$;
comment on function app.same_word is 'Whether two words of names match, allowing for spellings on statements.';

create or replace function app.compare_names(one text[], other text[]) returns int
language plpgsql immutable set search_path = '' as $$
declare
  short constant text[] := case when cardinality(one) <= cardinality(other) then one else other end;
  long constant text[] := case when cardinality(one) <= cardinality(other) then other else one end;
  joined constant text := array_to_string(short, '');
  word text;
  place int;
  first_place int;
  found int := 0;
  is_shared boolean := false;
begin
  if cardinality(short) = 0 then
    return 0;
  elsif one = other then
    return 3;
  end if;
  foreach word in array short loop
    place := array_position(long, word);
    for i in 1..cardinality(long) loop
      exit when place is not null;
      place := case when app.same_word(word, long[i]) then i end;
    end loop;
    if place is not null then
      found := found + 1;
      first_place := coalesce(first_place, place);
      is_shared := is_shared or length(word) > 3;
    end if;
  end loop;
  if found = cardinality(short) and (first_place <= 2 or found > 1)
    or length(joined) >= 5 and starts_with(array_to_string(long, ''), joined) then
    return 2;
  end if;
  return case when is_shared then 1 else 0 end;
end
$$;
comment on function app.compare_names is
  'Rates the agreement of two names by their words: 3 if all words agree, 2 if all words of the shorter name do, 1 if '
  'some do, 0 if none does.';
