-- Reads the names of income: their sort, and the words that identify the payer.

create or replace function app.income_sort(name text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  text constant text := app.fold_text(name);
begin
  return case
    when text ~ app.earned_words() then 'salary'
    when text ~ ('\m(tax(es)? (refund|return)|steuer(ruck)?erstattung|finanzamt|tax office|hmrc|irs|impots?|dgfip|'
      || 'agencia tributaria|belastingdienst|urzad skarbowy)\M') then 'tax_refund'
    when text ~ '\m(rent(al)?|miete|mieteinnahmen?|loyers?|alquiler|affitto|aluguel|czynsz|huur)\M' then 'rent'
    else 'other'
  end;
end
$$;
comment on function app.income_sort is 'Classifies an income by its name: salary, tax_refund, rent or other.';

create or replace function app.sort_words(sort text) returns text
language sql immutable
  return replace(sort, '_', ' ');
comment on function app.sort_words is 'Returns the search words for a sort of income, such as "tax refund".';

create or replace function app.month_words() returns text
language plpgsql immutable set search_path = '' as $$
begin
  return 'jan(uary?)?|feb(ruary?)?|mar(ch|z)?|apr(il)?|ma[iy]|jun[ei]?|jul[iy]?|aug(ust)?|'
    || 'sept?(ember)?|o[ck]t(ober)?|nov(ember)?|de[cz](ember)?|'
    || 'janvier|fevrier|mars|avril|juin|juillet|aout|septembre|octobre|novembre|decembre|enero|febrero|marzo|'
    || 'abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|'
    || 'giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro|marco|maio|junho|julho|setembro|outubro|'
    || 'novembro|dezembro|januari|februari|maart|mei|augustus|stycz(en|nia)|lut(y|ego)|mar(zec|ca)|'
    || 'kwie(cien|tnia)|maja|czerw(iec|ca)|lip(iec|ca)|sierp(ien|nia)|wrzes(ien|nia)|pazdziernika?|listopada?|'
    || 'grud(zien|nia)';
end
$$;
comment on function app.month_words is 'Returns the pattern of the names of months, for folded words.';

create or replace function app.without_months(words text[]) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  kept text[];
begin
  if array_to_string(words, ' ') !~ ('\m(' || app.month_words() || ')\M') then
    return words;
  end if;
  kept := array(
    select w.word from unnest(words) with ordinality as w (word, place)
    where w.word !~ ('^(' || app.month_words() || ')$') order by w.place
  );
  return case when kept = '{}' then words else kept end;
end
$$;
comment on function app.without_months is
  'Returns the words of a name (app.descriptor_words) without months: "Rent May" and "Rent June" have one payee.';

create or replace function app.rhythm_name(name text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  months constant text := '^(d[''’])?(' || app.month_words() || ')$';
  -- These are first names, too.
  people constant text := '^(jan|mai|may|april|june|august)$';
  dates constant text := '^((0?[1-9]|1[0-2])[/.-](20)?[2-4]\d|20\d\d[/.-](0?[1-9]|1[0-2]))$';
  years constant text := '^(20\d\d|[''’]\d\d)$';
  links constant text := '^(for|of|in|im|fur|vom|de|del|do|di|za|voor|pour|per)$';
  words constant text[] := regexp_split_to_array(btrim(rhythm_name.name), '\s+');
  plain constant text[] := array(
    select btrim(app.fold_text(w.word), '.,;:()[]-') from unnest(words) with ordinality as w (word, place)
    order by w.place
  );
  kept text[] := '{}';
  is_dropped boolean := false;
begin
  for i in 1..cardinality(words) loop
    is_dropped := plain[i] ~ dates
      or plain[i] ~ months and (plain[i] !~ people or coalesce(plain[i + 1] ~ years, i = cardinality(words)))
      or plain[i] ~ years and (is_dropped or coalesce(plain[i + 1] ~ months, false));
    if not is_dropped then
      kept := kept || words[i];
    elsif app.fold_text(kept[cardinality(kept)]) ~ links then
      kept := kept[:cardinality(kept) - 1];
    end if;
  end loop;
  return coalesce(nullif(btrim(array_to_string(kept, ' '), ' ,;:-/('), ''), rhythm_name.name);
end
$$;
comment on function app.rhythm_name is
  'Returns the name of a rhythm without its month: "Salary" for "Salary October 2026".';

create or replace function app.payer_words(name text) returns text[]
language plpgsql immutable set search_path = '' as $$
declare
  -- Owners, and words that say nothing about the payer.
  others constant text := '\m(my|our|his|her|their|the|from|for|of|in|on|to|and|main|second|job|mein|unser|vom|von|im|'
    || 'und|fur|de|du|des|del|di|do|da|van|voor|pour|por|per|bonus|month(ly)?|income|net|nett?o|gross|brutto|payment|'
    || 'deposit|transfer|zahlung)\M|\S+''s\M|\S*\d\S*';
  legal_forms constant text := '\m(gmbh|mbh|ag|kg|ohg|inc|ltd|llc|plc|corp|sarl|srl|spa|nv|bv)\M';
begin
  return app.descriptor_words(btrim(regexp_replace(
    app.fold_text(name),
    app.earned_words() || '|\m(' || app.month_words() || ')\M|' || others || '|' || legal_forms, ' ', 'g'
  )));
end
$$;
comment on function app.payer_words is
  'Returns the words of an income''s name that identify its payer; none for "My October salary".';

create or replace function app.income_words(name text) returns text[]
language sql immutable
  return app.payer_words(regexp_replace(name, '[''’]s\M', '', 'g'));
comment on function app.income_words is
  'Returns the words of an income''s name that identify its payer or its earner: "ben" for "Ben''s salary".';

create type app.income_name as (
  words text[],
  payer_words text[]
);
comment on type app.income_name is
  'The words of an income''s name (app.income_words), and those that identify its payer.';

create or replace function app.read_income_name(name text) returns app.income_name
language plpgsql immutable set search_path = '' as $$
begin
  return row(app.income_words(name), app.payer_words(name));
end
$$;
comment on function app.read_income_name is 'Returns the words of an income''s name.';

create or replace function app.may_be_same_payer(one app.income_name, other app.income_name) returns boolean
language sql immutable
  return (one).words = '{}' or (other).words = '{}' or (one).words && (other).words
    or app.compare_names((one).words, (other).words) > 0
    -- "Ben's salary" doesn't name a payer.
    or ((one).payer_words = '{}') <> ((other).payer_words = '{}');
comment on function app.may_be_same_payer is
  'Whether two names of income may mean the same payer: they share a word, or one of them doesn''t name a payer.';

create or replace function app.may_share_payer(one text, other text) returns boolean
language sql immutable
  return app.may_be_same_payer(app.read_income_name(one), app.read_income_name(other));
comment on function app.may_share_payer is 'Calls app.may_be_same_payer with two names as text.';
