/** Words by which statements tell lines apart, plain as by `plainHeader`, in the eight languages of header_words.ts. */
import type { Direction, Kind } from "./statement.ts";

/** A column is the direction when each of its cells is one of these. */
export const DIRECTION_WORDS: Record<Direction | "own_transfer" | "exchange" | "balance", string> = {
  out: "debit dr d dbit af soll s ausgabe ausgaben ausgang belastung lastschrift expense expenses expenditure " +
    "withdrawal outflow out debet depense gasto cargo uscita addebito uitgave despesa saida debito wydatek obciazenie " +
    "minus",
  in: "credit cr c crdt bij haben h einnahme einnahmen eingang gutschrift income deposit inflow in revenu recette " +
    "ingreso abono entrata accredito inkomsten receita entrada credito przychod uznanie wplyw plus",
  own_transfer: "transfer umbuchung umbuchungen transfert transferencia trasferimento overboeking transferencia",
  exchange: "neutral",
  balance: "reconciliation",
};

/** Cells of a state column; all others of a known export are a problem of their row. */
export const STATE_WORDS: Record<"pending" | "reverted" | "declined" | "expense", string[]> = {
  pending: [
    ...["pending", "on hold", "hold", "held", "authorised", "authorized", "processing", "in progress"],
    ...["umsatz vorgemerkt", "vorgemerkt", "ausstehend", "offen", "in bearbeitung", "en attente", "en cours"],
    ...["pendiente", "retenido", "in attesa", "in sospeso", "in behandeling", "gereserveerd", "pendente"],
    ...["oczekujaca", "oczekujace", "w toku", "blokada", "temporary hold", "pdng"],
  ],
  reverted: [
    ...["reverted", "reversed", "voided", "cancelled", "canceled", "storniert", "annule", "annulee", "cancelado"],
    ...["cancelada", "anulado", "annullato", "stornato", "geannuleerd", "teruggedraaid", "anulowana", "anulowano"],
  ],
  declined: [
    ...["declined", "failed", "denied", "rejected", "expired", "abgelehnt", "fehlgeschlagen", "refuse", "refusee"],
    ...["echoue", "rechazado", "rechazada", "rifiutato", "geweigerd", "mislukt", "recusado", "recusada", "odrzucona"],
  ],
  expense: [
    ...["completed", "complete", "posted", "cleared", "settled", "booked", "success", "successful", "done", "book"],
    ...["gebucht", "umsatz gebucht", "abgeschlossen", "partially refunded", "refunded", "reconciled", "not cleared"],
    ...["uncleared", "termine", "effectue", "completado", "completato", "voltooid", "concluido", "zrealizowana"],
    ...["zakonczona", "aktiv", "paid", "bezahlt", "returned", "teilweise zuruckgezahlt", "zuruckgezahlt"],
  ],
};

/** Whole words or phrases of a line's text; `in` and `out` hold only for money in that direction. */
export const TEXT_WORDS: { kind: Kind; only?: Direction; words: string[] }[] = [
  {
    kind: "balance",
    words: [
      ...["beginning balance", "opening balance", "starting balance", "closing balance", "ending balance"],
      ...["balance brought forward", "balance carried forward", "anfangssaldo", "endsaldo", "saldovortrag"],
      ...["alter saldo", "neuer saldo", "solde initial", "ancien solde", "saldo anterior", "saldo iniziale"],
    ],
  },
  {
    kind: "exchange",
    words: [
      ...["currency exchange", "currency conversion", "exchanged to", "wahrungsumrechnung", "devisentausch"],
      ...["conversion de devises", "cambio de divisas", "cambio valuta", "conversione di valuta", "valutawissel"],
      ...["conversao de moeda", "wymiana walut"],
    ],
  },
  {
    kind: "savings",
    words: [
      ...[
        "savings account",
        "to savings",
        "from savings",
        "savings transfer",
        "pot transfer",
        "to vault",
        "from vault",
      ],
      ...["to pocket", "from pocket", "pocket withdrawal", "sparkonto", "tagesgeldkonto", "oranje spaarrekening"],
      ...["spaarrekening", "livret a", "compte epargne", "cuenta de ahorro", "conto di risparmio", "conta poupanca"],
      ...["konto oszczednosciowe", "rachunek oszczednosciowy"],
    ],
  },
  {
    kind: "own_transfer",
    words: [
      ...["between own accounts", "between your own accounts", "own account transfer", "internal transfer"],
      ...["online transfer to chk", "online transfer from chk", "transfer to checking", "transfer from checking"],
      ...["umbuchung", "eigenubertrag", "virement interne", "virement entre mes comptes", "traspaso propio"],
      ...["traspaso entre cuentas", "giroconto", "tussen eigen rekeningen", "eigen rekening"],
      ...["transferencia entre contas proprias", "przelew wlasny", "przelew miedzy wlasnymi rachunkami"],
    ],
  },
  {
    kind: "refund",
    only: "in",
    words: [
      ...["refund", "refunded", "reversal", "chargeback", "merchandise return", "erstattung"],
      ...["ruckerstattung", "retoure", "storno", "ruckzahlung", "remboursement", "reembolso", "devolucion", "rimborso"],
      ...["terugbetaling", "retour", "estorno", "zwrot"],
    ],
  },
  {
    kind: "card_payment",
    only: "in",
    words: [
      ...["payment thank you", "autopay payment", "payment received", "automatic payment", "autopay pymt"],
      ...["mobile payment", "online payment thank you", "online payment", "electronic payment", "direct debit payment"],
      ...["internet payment", "ach deposit internet transfer", "zahlung erhalten", "zahlungseingang kreditkarte"],
      ...["ausgleich kreditkarte", "einzahlung kreditkarte", "lastschrift kreditkarte", "paiement recu"],
      ...["prelevement recu", "pago recibido", "pagamento ricevuto", "betaling ontvangen", "pagamento recebido"],
      ...["splata karty"],
    ],
  },
  {
    kind: "card_payment",
    only: "out",
    words: [
      ...["credit card payment", "payment to chase card", "credit crd autopay", "credit crd epay", "crcardpmt"],
      ...[
        "american express ach pmt",
        "amex epayment",
        "applecard gsbank payment",
        "citi autopay",
        "discover e payment",
      ],
      ...["kreditkartenabrechnung", "kreditkarten abrechnung", "visa monatsabrechnung", "visa kartenabrechnung"],
      ...["mastercard abrechnung", "ausgleich kreditkarte", "paiement carte de credit", "liquidacion tarjeta"],
      ...["pago tarjeta de credito", "addebito carta di credito", "afrekening creditcard", "splata karty kredytowej"],
    ],
  },
  { kind: "top_up", only: "in", words: ["topped up account", "top up by", "bank deposit to pp account"] },
];

/** Words of money that is earned; a list of expenses has none. */
export const INCOME_WORDS = [
  ...["salary", "payroll", "wages", "direct deposit", "interest paid", "dividend", "gehalt", "lohn", "bezuge"],
  ...["gehalt rente", "salaire", "nomina", "stipendio", "salaris", "salario", "wynagrodzenie", "pensja", "income"],
];

/** Texts by which a card's list says that its bill was paid, whatever the sign of the amount. */
export const PAYMENT_WORDS = [
  ...["payment received", "payment thank you", "payment thank", "autopay payment", "autopay pymt", "autopay thank you"],
  ...["thank you for your payment", "zahlung erhalten", "gutschrift lastschrift", "danke fur ihre zahlung"],
  ...["paiement recu", "prelevement recu", "merci de votre paiement", "pago recibido", "gracias por su pago"],
  ...["pagamento ricevuto", "betaling ontvangen", "pagamento recebido", "splata karty", "betaling mottatt"],
  ...["indbetaling modtaget", "inbetalning mottagen", "maksu vastaanotettu", "platba prijata", "fizetes koszonjuk"],
];

/**
 * Who takes money for a card's bill, an account or a depot of the person's own. A bank account's row to one of these is
 * asked about; none of them is a shop.
 */
export const OWN_ACCOUNT_WORDS = [
  ...["american express", "amex", "axp", "barclaycard", "barclays", "advanzia", "gebuhrfrei mastercard", "diners club"],
  ...["capital one", "chase card", "chase credit", "citi card", "discover card", "synchrony bank", "hanseatic bank"],
  ...["viseca", "swisscard", "cembra", "international card services", "ics cards", "visa abrechnung"],
  ...["mastercard abrechnung", "kreditkarte abrechnung", "kreditkartenabrechnung", "credit card bill"],
  ...["card settlement", "revolut", "wise", "trade republic", "scalable capital", "vivid money", "bunq", "monzo"],
  ...["etoro", "degiro", "interactive brokers"],
];
