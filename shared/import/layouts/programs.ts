/** Exports of programs that keep expenses, including our own. */
import type { Layout } from "./layout.ts";

export const PROGRAMS: Layout[] = [
  {
    name: "list_expenses",
    columns: {
      ...{ type: "kind", date: "date", name: "name", payee: "payee?", category: "category?", note: "note?" },
      ...{ url: "url?", amount: "amount", currency: "currency", tax: "tax?" },
    },
    ...{ dates: "YMD", decimal: ".", spends: "positive", isList: true },
    types: { expense: "one off|bill payment", refund: "refund" },
  },
  {
    name: "Firefly III",
    columns: {
      ...{ date: "date", direction: "type", amount: "amount", currency: "currency code", name: "description" },
      ...{ payee: "destination name", category: "category", note: "notes" },
    },
    also: "journal id|source name",
    ...{ dates: "YMD", decimal: "." },
    isList: true,
  },
  {
    name: "Actual",
    columns: {
      ...{ account: "account", date: "date", payee: "payee", name: "payee|notes", note: "notes", category: "category" },
      ...{ amount: "amount", counter_account: "payee" },
    },
    also: "cleared",
    ...{ dates: "YMD", decimal: ".", spends: "negative", isList: true, hasSpendingCategories: true },
    texts: { balance: "starting balance", split: "split into" },
    categories: { income: "income|starting balances" },
  },
  {
    name: "YNAB",
    columns: {
      ...{ account: "account", date: "date", payee: "payee", name: "payee|memo", note: "memo" },
      ...{ category: "category|category group category?", out: "outflow", in: "inflow" },
    },
    also: "cleared",
    ...{ isList: true, hasSpendingCategories: true },
    texts: { own_transfer: "transfer", balance: "starting balance|reconciliation balance adjustment" },
    categories: { income: "ready to assign|inflow ready to assign|to be budgeted|inflow to be budgeted" },
  },
  {
    name: "ezBookkeeping",
    columns: {
      ...{ date: "time", direction: "type", type: "type", category: "sub category|category", amount: "amount" },
      ...{ currency: "account currency", name: "description|sub category|category" },
    },
    also: "timezone|account2",
    ...{ dates: "YMD", decimal: "." },
    ...{ isMinusOpposite: true, isList: true },
    types: { balance: "balance modification", refund: "refund" },
  },
  {
    name: "Sure",
    columns: {
      ...{ date: "date", account: "account name", amount: "amount", name: "name", category: "category" },
      ...{ note: "notes", currency: "currency" },
    },
    also: "tags",
    ...{ dates: "YMD", decimal: ".", spends: "positive", isList: true, hasSpendingCategories: true },
    categories: { income: "income|salary" },
  },
  { name: "Wallos", columns: { name: "name" }, also: "next payment|payment method|price", refused: "bills" },
];
