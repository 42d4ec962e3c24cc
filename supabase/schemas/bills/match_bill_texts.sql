-- Texts of charges that name a bill.

create or replace function app.match_bill_texts(bill_ids text[], bill_texts text[], texts text[])
  returns table (bill_id text, text text)
language plpgsql stable set search_path = '' set jit = 'off' as $$
begin
  return query
    with bills as materialized (
      select distinct n.id, app.descriptor_words(n.text) as words
      from unnest(bill_ids, bill_texts) as n (id, text)
      where n.text is not null
    ), charges as materialized (
      select c.text, app.descriptor_words(c.text) as words
      from (select distinct u.text from unnest(texts) as u (text)) as c
      where c.text is not null
    ), pairs as materialized (
      -- Comparing names is slow, so compare only names that share the start of a word.
      select distinct b.words as bill_words, c.words
      from (select x.words, left(k.word, 4) as start from bills as x, unnest(x.words) as k (word)) as b
      join (
        select distinct x.words, left(k.word, 4) as start from charges as x, unnest(x.words) as k (word)
      ) as c on c.start = b.start
    )
    select i.id, c.text
    from (
      select p.words, array_agg(distinct b.id) as ids
      from pairs as p
      join bills as b on b.words = p.bill_words
      where app.compare_names(p.words, p.bill_words) > 1
      group by p.words
      -- A text that fits more bills is too vague.
      having count(distinct b.id) <= 5
    ) as m
    cross join unnest(m.ids) as i (id)
    join charges as c on c.words = m.words;
end
$$;
comment on function app.match_bill_texts is
  'Returns the texts of charges that name a bill, with the bill; none for a text that fits more than five bills. '
  'bill_texts has the names and payees of bill_ids, in the same order.';
