-- Words of money that is no spending, folded (app.fold_text) and in the languages of the statements.

create or replace function app.is_own_transfer(name text) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  accounts constant text := '\m(' || replace(array_to_string(array[
    'savings_accounts?', '(in)?to_(my_|our_)?savings', 'sparkonto', 'sparbuch', 'tagesgeld(konto)?', 'festgeld(konto)?',
    'cuentas?_de_ahorros?', 'comptes?_d?.?epargne', 'livret_a', 'livret_d.epargne', '(sur|vers)_(le|mon|un)_livret',
    'kont[aoe]_oszczednosciowe(go)?', 'rachun(ek|ku)_oszczednosciow(y|ego)', 'conto_(di_)?risparmio', 'conto_deposito',
    'conta_poupanca', '(para|na)_(a_|minha_)?poupanca', 'spaarrekening',
    'between_(my_|our_)?(own_)?accounts', 'zwischen_(meinen_|unseren_|eigenen_)(eigenen_)?konten',
    'entre_(mis|nuestras)_cuentas', 'entre_(mes|nos)_comptes',
    'miedzy_(moimi|w[lł]asnymi|naszymi)_(kontami|rachunkami)',
    'entre_(as_)?(minhas_|nossas_)contas'
  ], '|'), '_', ' ') || ')\M';
  costs constant text := '\m(' || replace(array_to_string(array[
    'fees?', 'charges?', 'tax(es)?', 'interest', 'gebuhr(en)?', 'entgelte?', 'kosten', 'steuern?', 'zinsen',
    'comision(es)?', 'cuota', 'impuestos?', 'interes(es)?', 'frais', 'impots?', 'interets', 'op[lł]at[ay]',
    'prowizj[ae]',
    'podatek', 'odsetki', 'commissioni?', 'canone', 'imposta', 'interessi', 'taxas?', 'tarifas?', 'comissao',
    'impostos?',
    'juros', 'rente', 'belasting'
  ], '|'), '_', ' ') || ')\M';
  text constant text := app.fold_text(name);
begin
  return text ~ accounts and text !~ costs;
end
$$;
comment on function app.is_own_transfer is
  'Whether a name says that money moved to or from a savings account, or between own accounts; its fees are spending.';
