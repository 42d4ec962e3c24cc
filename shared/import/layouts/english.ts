/** Exports of banks, cards and wallets in the United Kingdom and the United States, and of similar ones elsewhere. */
import type { Layout } from "./layout.ts";

const british = { dates: "DMY", decimal: ".", currency: "GBP" } as const;
const american = { dates: "MDY", decimal: ".", currency: "USD" } as const;
const PAYMENTS = "automatic conversion|general currency conversion|currency conversion|allgemeine wahrungsumrechnung";
const PAYPAL_TYPES = {
  exchange: PAYMENTS,
  top_up:
    "bank deposit to pp account|general credit card deposit|credit card deposit|bankgutschrift auf paypal konto|" +
    "allgemeine gutschrift auf kreditkarte|add funds from a bank account",
  own_transfer: "general withdrawal|user initiated withdrawal|withdraw funds to a bank account|allgemeine abbuchung|" +
    "von nutzer eingeleitete abbuchung|transfer to bank",
  refund: "payment refund|refund|ruckzahlung|payment reversal|chargeback",
  pending: "general authorization|account hold for open authorization|hold on balance for dispute investigation|" +
    "allgemeine autorisierung|einbehaltung fur offene autorisierung|kontoeinbehaltung fur offene autorisierung",
  reverted: "reversal of general account hold|void of authorization|ruckbuchung allgemeiner kontoeinbehaltung",
} as const;

export const ENGLISH: Layout[] = [
  {
    name: "PayPal",
    columns: {
      ...{ date: "date", payee: "name", name: "item title?|subject?|name", type: "type", state: "status" },
      ...{ currency: "currency", amount: "net|total", balance: "" },
    },
    also: "time|timezone|transaction id",
    spends: "negative",
    types: PAYPAL_TYPES,
  },
  {
    name: "PayPal, German",
    columns: {
      ...{ date: "datum", payee: "name", name: "artikelbezeichnung?|betreff?|name", type: "typ", state: "status" },
      ...{ currency: "wahrung", amount: "netto", balance: "" },
    },
    also: "uhrzeit|zeitzone|transaktionscode",
    ...{ dates: "DMY", decimal: ",", spends: "negative" },
    types: PAYPAL_TYPES,
  },
  {
    name: "Monzo",
    columns: {
      ...{
        date: "date",
        type: "type",
        payee: "name",
        name: "name|description",
        category: "category",
        amount: "amount",
      },
      ...{ currency: "currency", note: "notes and tags" },
      ...{ original_amount: "local amount", original_currency: "local currency?" },
    },
    also: "transaction id|local amount",
    ...british,
    spends: "negative",
    types: { savings: "pot transfer|pot", own_transfer: "monzo transfer between accounts", top_up: "topup|top up" },
    categories: { income: "income", savings: "savings" },
  },
  {
    name: "Starling",
    columns: {
      ...{ date: "date", payee: "counter party", name: "counter party|reference", note: "reference", type: "type" },
      ...{ amount: "amount", balance: "balance", category: "spending category?" },
    },
    ...british,
    spends: "negative",
    types: { own_transfer: "internal transfer", savings: "spaces|goal transfer|savings goal" },
    categories: { savings: "saving", income: "income" },
  },
  {
    name: "Barclays",
    columns: { date: "date", account: "account", amount: "amount", type: "subcategory", name: "memo" },
    also: "number",
    ...british,
    spends: "negative",
  },
  {
    name: "HSBC, United Kingdom",
    columns: {
      ...{ date: "date", type: "type", name: "merchant description", amount: "debit credit", balance: "balance" },
    },
    ...british,
    spends: "negative",
  },
  {
    name: "HSBC, United Kingdom, two columns",
    columns: { date: "date", type: "type", name: "description", out: "paid out", in: "paid in", balance: "balance" },
    ...british,
  },
  {
    name: "Chase, card",
    columns: {
      ...{ date: "transaction date", name: "description", category: "category", type: "type", amount: "amount" },
      ...{ note: "memo?" },
    },
    also: "post date",
    ...american,
    ...{ spends: "negative", isCard: true },
    types: { card_payment: "payment", refund: "return|reversal" },
  },
  {
    name: "Chase, checking",
    columns: {
      ...{ date: "posting date", name: "description", amount: "amount", type: "type", balance: "balance" },
    },
    also: "details",
    ...american,
    spends: "negative",
    types: { own_transfer: "acct xfer", card_payment: "loan pmt" },
  },
  {
    name: "American Express, United States",
    columns: { date: "date", name: "description", amount: "amount", category: "category?", account: "account?" },
    also: "card member|city state|zip code",
    ...american,
    ...{ spends: "positive", isCard: true },
  },
  {
    name: "American Express, English",
    columns: { date: "date", name: "description", amount: "amount", category: "category?", account: "account" },
    also: "card member",
    ...{ decimal: ".", spends: "positive", isCard: true },
  },
  {
    name: "American Express, Germany",
    columns: { date: "datum", name: "beschreibung", amount: "betrag", account: "konto?" },
    also: "karteninhaber",
    ...{ dates: "DMY", decimal: ",", spends: "positive", currency: "EUR", isCard: true },
  },
  {
    name: "American Express, Germany, with details",
    columns: { date: "datum", name: "beschreibung", amount: "betrag" },
    also: "erweiterte details|erscheint auf ihrer abrechnung als",
    ...{ dates: "DMY", decimal: ",", spends: "positive", currency: "EUR", isCard: true },
  },
  {
    name: "Bank of America, checking",
    columns: { date: "date", name: "description", amount: "amount", balance: "running bal" },
    ...american,
    spends: "negative",
  },
  {
    name: "Bank of America, card",
    columns: { date: "posted date", payee: "payee", name: "payee", amount: "amount" },
    also: "reference number|address",
    ...american,
    ...{ spends: "negative", isCard: true },
  },
  {
    name: "Capital One, card",
    columns: {
      ...{ date: "transaction date", name: "description", category: "category", out: "debit", in: "credit" },
      account: "card no",
    },
    also: "posted date",
    ...{ decimal: ".", currency: "USD", isCard: true },
    categories: { card_payment: "payment credit|payment" },
  },
  {
    name: "Capital One, checking",
    columns: {
      ...{ date: "transaction date", name: "transaction description", direction: "transaction type" },
      ...{ amount: "transaction amount", balance: "balance", account: "account number" },
    },
    ...american,
  },
  {
    name: "Citi, card",
    columns: { state: "status", date: "date", name: "description", out: "debit", in: "credit" },
    also: "member name",
    ...american,
    isCard: true,
  },
  {
    name: "Venmo",
    columns: {
      ...{
        date: "datetime",
        payer: "from",
        payee: "to",
        name: "note",
        type: "type",
        state: "status",
        amount: "amount",
      },
    },
    also: "funding source|destination",
    ...{ dates: "YMD", decimal: ".", currency: "USD", spends: "negative" },
    states: { expense: "issued" },
    types: { own_transfer: "standard transfer|instant transfer" },
  },
  {
    name: "Apple Card",
    columns: {
      ...{ date: "transaction date", name: "merchant|description", payee: "merchant", note: "description" },
      ...{ category: "category", type: "type", amount: "amount" },
    },
    also: "clearing date",
    ...american,
    ...{ spends: "positive", isCard: true },
    types: { card_payment: "payment", refund: "credit|refund|return" },
  },
];
