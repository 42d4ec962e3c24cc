/** Words for balances and sums in rows above, below and between a statement's lines, as written or plain. */

export const OPENING_WORDS = [
  ...["opening balance", "beginning balance", "starting balance", "balance brought forward", "previous balance"],
  ...["alter kontostand", "anfangssaldo", "alter saldo", "saldovortrag", "anfangsbestand", "solde initial"],
  ...["ancien solde", "solde précédent", "report solde", "saldo inicial", "saldo anterior", "saldo iniziale"],
  ...["saldo precedente", "beginsaldo", "vorig saldo", "saldo początkowe", "poprzednie saldo", "ingående saldo"],
  ...["inngående saldo", "primosaldo", "primo saldo", "alkusaldo", "počáteční zůstatek", "počiatočný zostatok"],
  ...["nyitó egyenleg", "sold initial", "početno stanje", "prethodno stanje", "začetno stanje", "входящий остаток"],
  ...["остаток на начало", "вхідний залишок", "начално салдо", "αρχικό υπόλοιπο", "devir bakiye", "açılış bakiyesi"],
  ...["algsaldo", "pradinis likutis", "sākuma atlikums", "số dư đầu kỳ", "số dư đầu", "saldo awal", "baki awal"],
  ...["繰越残高", "前月繰越", "前期繰越", "期初余额", "期初餘額", "上期余额", "기초잔액", "이월잔액", "ยอดยกมา"],
];

export const CLOSING_WORDS = [
  ...["closing balance", "ending balance", "balance carried forward", "new balance", "neuer kontostand", "endsaldo"],
  ...["neuer saldo", "schlusssaldo", "endbestand", "solde final", "nouveau solde", "saldo final", "saldo finale"],
  ...["nuovo saldo", "eindsaldo", "nieuw saldo", "saldo końcowe", "utgående saldo", "ultimosaldo", "ultimo saldo"],
  ...["loppusaldo", "konečný zůstatek", "konečný zostatok", "záró egyenleg", "sold final", "završno stanje"],
  ...["konačno stanje", "končno stanje", "исходящий остаток", "остаток на конец", "вихідний залишок", "крайно салдо"],
  ...["τελικό υπόλοιπο", "kapanış bakiyesi", "lõppsaldo", "galutinis likutis", "beigu atlikums", "số dư cuối kỳ"],
  ...["số dư cuối", "saldo akhir", "baki akhir", "次月繰越", "次期繰越", "期末余额", "期末餘額", "기말잔액", "ยอดยกไป"],
];

/** Only next to a table, because a shop may have this name. */
export const BALANCE_WORDS = [
  ...["balance", "current balance", "available balance", "kontostand", "saldo", "solde", "egyenleg", "zůstatek"],
  ...["zostatok", "stanje", "sold", "остаток", "залишок", "салдо", "υπόλοιπο", "bakiye", "jääk", "likutis", "atlikums"],
  ...["số dư", "残高", "余额", "餘額", "잔액", "ยอดคงเหลือ", "mutasi debet", "mutasi kredit", "mutasi"],
];
