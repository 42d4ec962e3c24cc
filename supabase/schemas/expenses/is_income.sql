-- Words for money that is not spending, folded (app.fold_text) and in the languages of the statements.

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
  'Whether a name means moving money to or from a savings account, or between own accounts; its fees are spending.';

create or replace function app.is_cash_withdrawal(name text) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  withdrawals constant text := '\m(' || replace(array_to_string(array[
    'atms?', 'cash_?(withdrawals?|withdrawn|machine|point|dispenser)', '^cash$', '^bargeld$',
    '^(withdrawals?|abhebung(en)?)$', 'geld(ausgabe)?automat(en|s)?', 'gaa_(nr|[0-9]+)', '^gaa$', 'ga_nr[0-9]*',
    'bar(geld)?(auszahlung|abhebung|bezug|behebung|verfugung)(en)?',
    '(auszahlung|abhebung|bezug)_(am_|vom_)?automat(en)?',
    '(z|am|vom)_bankomat(u|en)?', 'ban[ck]omat(behebung|bezug)', 'bezug_(am_)?(ban[ck]omat|postomat)',
    'geldautomaat', '(geld|kas)opname', 'opname_contant(en)?', 'gea,?_(nr|betaalpas)',
    'retrait_(dab|gab|cb|d.?especes|especes|d.argent|(par_)?carte|automatique|au_distributeur)',
    'cajero(_automatico)?', '(reintegro|retiro)_(de_|en_)?(cajero|efectivo)',
    '(retirada|disposicion|extraccion)_(de_)?efectivo', 'prelievo(_(contante|contanti|bancomat|atm))?', 'prelevamento',
    'levantamento_(atm|mb|multibanco|(de_)?(numerario|dinheiro))', 'saque',
    'wyp[lł]at[ay]_(gotowki|(z_)?bankomat(u|owa)?|w_bankomacie)',
    'minibank', 'kontant(uttak|uttag|h(ae|æ)vning)', 'kateisnosto', 'vyber_(hotovosti|z_bankomatu)',
    'keszpenz_?felvetel', 'retragere_(de_)?(numerar|atm)', 'para_cekme', 'nakit_cekimi?'
  ], '|'), '_', ' ') || ')\M';
  costs constant text := '\m(fees?|charges?|gebuhr(en)?|entgelte?|frais|comision(es)?|commission(s|i|e)?|prowizj[ae]|'
    || 'op[lł]at[ay]|kosten|taxas?)\M';
  text constant text := app.fold_text(name);
begin
  return text ~ withdrawals and text !~ costs;
end
$$;
comment on function app.is_cash_withdrawal is 'Whether a name means a cash withdrawal; its fee is spending.';

create or replace function app.earned_words() returns text
language plpgsql immutable set search_path = '' as $$
begin
  -- Pensions and interest count only under their plain names, because "Pension" also means a guest house, and banks
  -- refund interest.
  return '\m(' || replace(array_to_string(array[
    'salar(y|ies)', 'wages?', 'pay_?che(ck|que)', 'gehalt', 'lohn', 'salaire', 'paie', 'paye', 'sueldo', 'salario',
    'nomina', 'stipendio', 'pensj[aei]', 'wyp[lł]at[aey]', 'wynagrodzenie', 'ordenado', 'vencimento', 'salaris', 'loon',
    '^(my_|meine_|mi_|ma_|a_minha_|moja_)?(pension|rente|retraite|pensione|pensao|emerytura)$',
    '^(interest|zinsen|intereses|interets|interessi|odsetki|juros)$'
  ], '|'), '_', ' ') || ')\M';
end
$$;
comment on function app.earned_words is 'Returns the pattern of names of pay, pensions and interest, for folded text.';

create or replace function app.is_income(name text, category text, is_refund boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  -- A business gets refunds of salaries that it paid, so such a refund in another category isn't income.
  earned constant text := app.earned_words();
  received constant text := '\m(' || replace(array_to_string(array[
    'got', 'received', 'earned', 'arrived', 'bekommen', 'erhalten', 'gekriegt', 'bekam', 'erhielt', 'eingegangen',
    'cobre', 'cobr(ado|amos)', 'recib(i|ido|imos)', 'me_(pagaron|ingresaron|han_pagado)', 'recu', 'touche', 'percu',
    'wp[lł]yne[lł][ao]', 'dosta[lł](em|am)', 'otrzyma[lł](em|am)', 'przysz[lł][ao]', 'recebi(do|mos)?',
    'ganhei', 'caiu', 'ricevuto', 'arrivato', 'incassato', 'ontvangen', 'gekregen'
  ], '|'), '_', ' ') || ')\M';
  given constant text := '\m(' || replace(array_to_string(array[
    'child_benefits?', 'kindergeld', 'elterngeld', 'allocations?_familiales?', 'assegno_unico',
    'dividend(s|en?|e|os?|i)?',
    'dividendes', 'dywidend[ay]', '^(a_|the_)?(gift|present)_from', '^(ein_)?geschenk_vo[nm]', '^prezent_od',
    '^(un_)?cadeau_de_(ma|mon|mes|la_part|mamie|papi|maman|papa)',
    '^(un_)?regalo_de_(mi|mis|la_abuela|el_abuelo|mama|papa)', '^(un_)?regalo_d(a|ai|al|alla|i)_(nonn[aio]|mamma|papa)',
    '^(um_)?presente_d[aeo]_(minha|meu|avo|vovo|mae|pai)'
  ], '|'), '_', ' ') || ')\M';
  income constant text := '^(income|earnings|einkommen|einnahmen?|revenus?|ingresos?|entrate)$';
  text constant text := app.fold_text(name);
  sort constant text := app.fold_text(category);
begin
  return coalesce(sort ~ income, false) or text ~ earned and text ~ received
    or coalesce(is_refund, false) and (text ~ earned and coalesce(sort ~ earned, true) or text ~ given);
end
$$;
comment on function app.is_income is
  'Whether money was earned: in a category of income, under a name such as "got my salary", or as a refund named like '
  'a salary, a benefit or a gift.';

create or replace function app.is_money_back(name text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return app.fold_text(name) ~ (
    '\m(refund(s|ed)?|money back|cash ?back|reimbursements?|(ruck)?erstattung(en)?|gutschrift|'
    || 'remboursements?|avoir|reembolsos?|devolucion(es)?|rimbors[oi]|zwrot|terugbetaling|estorno)\M');
end
$$;
comment on function app.is_money_back is 'Whether a name means that a seller returned money.';
