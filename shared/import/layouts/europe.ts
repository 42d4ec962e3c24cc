/** Exports of banks in the euro area and Switzerland. */
import type { Layout } from "./layout.ts";

const german = { dates: "DMY", decimal: ",", spends: "negative", currency: "EUR" } as const;
const dutch = { decimal: ",", currency: "EUR" } as const;

export const EUROPE: Layout[] = [
  {
    name: "N26",
    columns: {
      ...{ original_amount: "original amount?", original_currency: "original currency?" },
      ...{ date: "booking date", amount: "amount", payee: "partner name" },
      ...{ name: "payment reference", type: "type" },
    },
    also: "value date|partner iban",
    ...{ dates: "YMD", decimal: ".", spends: "negative", currency: "EUR" },
    types: { refund: "presentment refund|card refund|direct debit reversal", income: "income|credit transfer|reward" },
    texts: { savings: "from main account to|to main account from|main account|moved to|moved from" },
  },
  {
    name: "N26, older",
    columns: {
      ...{ original_amount: "amount#2?", original_currency: "type foreign currency?" },
      ...{ date: "date", amount: "amount", payee: "payee" },
      ...{ name: "payment reference", type: "transaction type" },
    },
    also: "account number",
    ...{ dates: "YMD", decimal: ".", spends: "negative", currency: "EUR" },
    types: { refund: "mastercard refund|card refund", income: "income|n26 referral" },
    texts: { savings: "from main account to|to main account from|main account|moved to|moved from" },
  },
  {
    name: "N26, German",
    columns: {
      ...{ original_amount: "betrag#2?", original_currency: "fremdwahrung?" },
      ...{ date: "datum", amount: "betrag", payee: "empfanger" },
      ...{ name: "verwendungszweck", type: "transaktionstyp" },
    },
    also: "kontonummer",
    ...{ dates: "YMD", decimal: ".", spends: "negative", currency: "EUR" },
    types: { income: "gutschrift" },
    texts: { savings: "von hauptkonto nach|nach hauptkonto von|hauptkonto" },
  },
  {
    name: "Revolut",
    columns: {
      ...{ type: "type", account: "product", date: "started date", name: "description", amount: "amount", fee: "fee" },
      ...{ currency: "currency", state: "state", balance: "balance" },
    },
    also: "completed date",
    ...{ dates: "YMD", decimal: ".", spends: "negative" },
    types: {
      exchange: "exchange",
      top_up: "topup|top up",
      refund: "card refund|refund",
      income: "reward|cashback|interest",
    },
    texts: {
      savings:
        "to pocket|from pocket|pocket withdrawal|to vault|to savings|from savings|to eur vault|to instant access",
      own_transfer: "balance migration|to investment account|from investment account|to revolut joint",
    },
  },
  {
    name: "Wise",
    columns: {
      ...{ date: "date", amount: "amount", currency: "currency", balance: "running balance", name: "description" },
      ...{ payee: "merchant|payee name", note: "payment reference", type: "transaction details type?" },
    },
    also: "exchange from|exchange to",
    ...{ dates: "DMY", decimal: ".", spends: "negative" },
    types: { exchange: "conversion", top_up: "money added", income: "deposit|balance cashback" },
    texts: { exchange: "converted", top_up: "topped up", income: "received money", refund: "refund" },
  },
  {
    name: "Wise, all transactions",
    columns: {
      ...{ date: "created on", state: "status", direction: "direction", amount: "source amount" },
      ...{ currency: "source currency", fee: "source fee amount", payee: "target name", name: "target name" },
      ...{ note: "reference", original_amount: "target amount?", original_currency: "target currency?" },
    },
    also: "finished on|target amount",
    ...{ dates: "YMD", decimal: "." },
    states: { reverted: "refunded" },
  },
  {
    name: "ING, Netherlands",
    columns: {
      ...{
        date: "datum",
        payee: "naam omschrijving",
        name: "naam omschrijving",
        amount: "bedrag",
        note: "mededelingen",
      },
      ...{ direction: "af bij", account: "rekening", counter_account: "tegenrekening", type: "mutatiesoort" },
      balance: "saldo na mutatie?",
    },
    ...dutch,
    dates: "YMD",
  },
  {
    name: "ING, Netherlands, English",
    columns: {
      ...{ date: "date", payee: "name description", name: "name description", amount: "amount", note: "notifications" },
      ...{ direction: "debit credit", account: "account", counter_account: "counterparty", type: "transaction type" },
      balance: "resulting balance?",
    },
    ...dutch,
    dates: "YMD",
  },
  {
    name: "ING, Germany",
    columns: {
      ...{ date: "buchung", payee: "auftraggeber empfanger", name: "verwendungszweck|buchungstext" },
      ...{ type: "buchungstext", amount: "betrag", balance: "saldo", currency: "wahrung#2" },
    },
    ...german,
    types: { income: "gehalt rente" },
  },
  {
    name: "ING, Germany, without balance",
    columns: {
      ...{ date: "buchung", payee: "auftraggeber empfanger", name: "verwendungszweck|buchungstext" },
      ...{ type: "buchungstext", amount: "betrag", currency: "wahrung" },
    },
    ...german,
    types: { income: "gehalt rente" },
  },
  {
    name: "Sparkasse, CAMT",
    columns: {
      ...{ account: "auftragskonto", date: "buchungstag", type: "buchungstext", name: "verwendungszweck|buchungstext" },
      ...{ payee: "beguenstigter zahlungspflichtiger", counter_account: "kontonummer iban|kontonummer" },
      ...{ amount: "betrag", currency: "waehrung", state: "info" },
    },
    ...german,
    types: { income: "lohn gehalt", refund: "retoure|rucklastschrift" },
  },
  {
    name: "DKB",
    columns: {
      ...{ date: "buchungsdatum", state: "status", payee: "zahlungsempfanger in", name: "verwendungszweck" },
      payer: "zahlungspflichtige r?",
      ...{ type: "umsatztyp", counter_account: "iban?", amount: "betrag" },
    },
    ...german,
  },
  {
    name: "DKB, card",
    columns: {
      ...{ date: "belegdatum", state: "status", name: "beschreibung", type: "umsatztyp", amount: "betrag" },
      ...{ currency: "", original_amount: "fremdwahrungsbetrag" },
    },
    also: "fremdwahrungsbetrag",
    ...german,
    isCard: true,
    types: { card_payment: "ausgleich|einzahlung|lastschrift" },
  },
  {
    name: "Comdirect",
    columns: {
      date: "buchungstag",
      state: "buchungstag",
      type: "vorgang",
      name: "buchungstext",
      amount: "umsatz in eur",
    },
    also: "wertstellung",
    ...german,
    types: { card_payment: "visa umsatz monatsabrechnung|kartenabrechnung" },
  },
  {
    name: "Comdirect, card",
    columns: {
      date: "buchungstag",
      state: "buchungstag",
      type: "vorgang",
      name: "buchungstext",
      amount: "umsatz in eur",
    },
    also: "umsatztag|referenz",
    ...german,
    isCard: true,
    types: { card_payment: "kreditkartenabrechnung|visa kartenabrechnung|ausgleich" },
  },
  {
    name: "Deutsche Bank",
    columns: {
      ...{ date: "buchungstag", type: "umsatzart", payee: "begunstigter auftraggeber", name: "verwendungszweck" },
      ...{ counter_account: "iban kontonummer|iban", out: "soll", in: "haben", currency: "wahrung" },
    },
    also: "wert",
    ...german,
  },
  {
    name: "Deutsche Bank, English",
    columns: {
      ...{ date: "booking date", type: "transaction type", payee: "beneficiary originator", name: "payment details" },
      ...{ counter_account: "iban", out: "debit", in: "credit", currency: "currency" },
    },
    currency: "EUR",
  },
  {
    name: "ABN AMRO",
    columns: {
      ...{ account: "accountnumber", currency: "mutationcode", date: "transactiondate", amount: "amount" },
      ...{ name: "description", balance: "endsaldo" },
    },
    also: "startsaldo",
    ...dutch,
    ...{ dates: "YMD", spends: "negative" },
  },
  {
    name: "ABN AMRO, Dutch",
    columns: {
      ...{ account: "rekeningnummer", currency: "muntsoort", date: "transactiedatum", amount: "transactiebedrag" },
      ...{ name: "omschrijving", balance: "eindsaldo" },
    },
    ...dutch,
    ...{ dates: "YMD", spends: "negative" },
  },
  {
    name: "Rabobank",
    columns: {
      ...{ account: "iban bban", currency: "munt", date: "datum", amount: "bedrag", balance: "saldo na trn" },
      ...{ counter_account: "tegenrekening iban bban", payee: "naam tegenpartij", type: "code" },
      ...{ name: "omschrijving 1|naam tegenpartij", note: "omschrijving 2?" },
    },
    ...dutch,
    ...{ dates: "YMD", spends: "negative" },
    types: { own_transfer: "tb" },
  },
  {
    name: "bunq",
    columns: {
      ...{ date: "date", amount: "amount", account: "account", counter_account: "counterparty", payee: "name" },
      ...{ name: "description|name" },
    },
    also: "interest date",
    ...{ dates: "YMD", spends: "negative", currency: "EUR" },
  },
  {
    name: "BBVA",
    columns: {
      ...{ date: "fecha", name: "concepto", note: "observaciones", type: "movimiento", amount: "importe" },
      ...{ currency: "divisa", balance: "disponible" },
    },
    also: "f valor",
    ...{ dates: "DMY", spends: "negative", currency: "EUR" },
  },
  {
    name: "UBS",
    columns: {
      ...{ date: "buchungsdatum|abschlussdatum", currency: "wahrung", out: "belastung", in: "gutschrift" },
      ...{ name: "beschreibung1", note: "beschreibung2", balance: "saldo" },
    },
    also: "abschlussdatum",
    ...{ decimal: ".", currency: "CHF" },
  },
  {
    name: "UBS, English",
    columns: {
      ...{ date: "booking date|trade date", currency: "currency", out: "debit", in: "credit", name: "description1" },
      ...{ note: "description2", balance: "balance" },
    },
    also: "trade date",
    ...{ decimal: ".", currency: "CHF" },
  },
  {
    name: "UBS, card",
    columns: {
      ...{ date: "einkaufsdatum", name: "buchungstext", out: "belastung", in: "gutschrift", currency: "wahrung" },
      account: "kartennummer",
    },
    also: "branche",
    ...{ dates: "DMY", decimal: ".", currency: "CHF" },
    isCard: true,
  },
];

/** ABN AMRO's TAB file. */
