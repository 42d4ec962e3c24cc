/** Exports without a header line. */
import type { BareLayout } from "./layout.ts";

const dutch = { decimal: ",", currency: "EUR" } as const;

export const BARE: readonly BareLayout[] = [{
  name: "Wells Fargo",
  cells: [/^\d\d?\/\d\d?\/\d{4}$/, /^-?[\d,]*\.\d\d$/, /^\*$/, /^\d*$/, /./],
  places: { date: 0, amount: 1, name: 4 },
  ...{ dates: "MDY", decimal: ".", currency: "USD" },
  spends: "negative",
}, {
  name: "ABN AMRO, TAB",
  cells: [
    /^[A-Z0-9]{6,34}$/,
    /^[A-Z]{3}$/,
    /^\d{8}$/,
    /^-?[\d.]+,\d\d$/,
    /^-?[\d.]+,\d\d$/,
    /^\d{8}$/,
    /^[+-]?[\d.]+,\d\d$/,
    /./,
  ],
  places: { account: 0, currency: 1, date: 2, balance: 4, amount: 6, name: 7 },
  ...dutch,
  ...{ dates: "YMD", spends: "negative" },
}, {
  name: "Triodos",
  cells: [
    ...[/^\d\d-\d\d-\d{4}$/, /^[A-Z]{2}\d\d[A-Z]{4}\d+$/, /^[\d.]+,\d\d$/, /^(Debet|Credit)$/, /^/, /^/, /^\w{2,3}$/],
    ...[/^/, /^-?[\d.]+,\d\d$/],
  ],
  places: { date: 0, account: 1, amount: 2, direction: 3, payee: 4, counter_account: 5, type: 6, name: 7, balance: 8 },
  ...dutch,
  dates: "DMY",
}, {
  // Each balance precedes its row.
  name: "ASN Bank",
  cells: [
    ...[/^\d\d-\d\d-\d{4}$/, /^[A-Z]{2}\d\d[A-Z]{4}\d+$/, /^\w*$/, /^/, /^/, /^/, /^/, /^[A-Z]{3}$/, /^-?\d+\.\d\d$/],
    ...[
      /^[A-Z]{3}$/,
      /^-?\d+\.\d\d$/,
      /^\d\d-\d\d-\d{4}$/,
      /^\d\d-\d\d-\d{4}$/,
      /^\d+$/,
      /^[A-Z]{3}$/,
      /^/,
      /^/,
      /^/,
      /^/,
    ],
  ],
  places: { date: 0, account: 1, counter_account: 2, payee: 3, currency: 9, amount: 10, name: 17 },
  ...{ dates: "DMY", decimal: ".", currency: "EUR", spends: "negative" },
}];
