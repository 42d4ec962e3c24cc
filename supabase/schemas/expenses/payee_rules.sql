create or replace function app.payee_words(value text) returns text
language sql immutable
  return btrim(regexp_replace(
    regexp_replace(lower(normalize(value, nfkd)), '[\u0300-\u036f]+', '', 'g'), '[[:space:][:punct:]]+', ' ', 'g'
  ));
comment on function app.payee_words is
  'Returns the words of a payee or name in lower case, without accents and punctuation, separated by single spaces.';

create table app.payee_rules (
  id text collate "C" primary key default app.new_id('rul')
    constraint payee_rules_id_format check (id ~ '^rul_[0-9a-z]+$' and length(id) between 12 and 36),
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  payee text not null constraint payee_rules_payee_length check (length(payee) between 1 and 120),
  words text not null generated always as (app.payee_words(payee)) stored
    constraint payee_rules_words_given check (words <> ''),
  category_id text collate "C",
  deleted_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default app.instant(),
  updated_at timestamptz not null default app.instant(),
  foreign key (category_id, organization_id) references app.categories (id, organization_id)
);
comment on table app.payee_rules is
  'The default category of payments whose payee or name begins with these words; without a category, these payments '
  'are never proposed as a bill.';
-- A person who can't see a rule with a private category may add another for the same words.
create unique index payee_rules_one_each_idx on app.payee_rules (organization_id, words, category_id)
  where deleted_at is null;
create index payee_rules_organization_id_idx on app.payee_rules (organization_id);
create index payee_rules_category_id_idx on app.payee_rules (category_id, organization_id);
