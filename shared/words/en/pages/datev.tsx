/** @jsxImportSource hono/jsx */
/** The page of the DATEV accounts, and the texts among the DATEV files. */
import type { Child } from "hono/jsx";
import type { DatevWords } from "../../../export/datev_files.ts";
import { count } from "../phrases.ts";

export const datev = {
  title: "DATEV accounts",
  heading: (organization: Child) => <>DATEV accounts of {organization}</>,
  lead:
    "With these accounts, your accountant’s folder includes a DATEV booking batch (EXTF) for each month. Ask your accountant for the numbers.",
  saved: "The accounts are saved.",
  problems: {
    intro: "Nothing was saved yet. Check the marked fields.",
    consultant: "Enter a number from 1001 to 9999999.",
    client: "Enter a number from 1 to 99999.",
    chart: "Choose a chart of accounts.",
    yearStarts: "Choose a month.",
    account: "Enter four digits.",
    taxKey: "Enter up to four digits.",
  },
  otherCurrency: (currency: string) =>
    `Your main currency is ${currency}. DATEV usually expects euros, so ask your accountant first.`,
  client: "Your accountant’s numbers",
  consultantNumber: "Consultant number",
  consultantReason: "Beraternummer: the number of your tax adviser at DATEV.",
  clientNumber: "Client number",
  clientReason: "Mandantennummer: your number with your tax adviser.",
  chart: "Chart of accounts",
  charts: { "03": "SKR03", "04": "SKR04" },
  chartReason: "Account numbers have four digits.",
  yearStarts: "First month of the financial year",
  months: [
    ...["January", "February", "March", "April", "May", "June", "July"],
    ...["August", "September", "October", "November", "December"],
  ],
  yes: "Yes",
  no: "No",
  locks: "Lock the bookings of closed months on import (Festschreibung)",
  counter: "Bank, cash and taxes",
  paidFrom: "Bank or cash account",
  paidFromReason: "All payments are booked against it, for example 1200 (SKR03) or 1800 (SKR04).",
  clearing: "Fallback account",
  clearingReason:
    "Optional, for categories without an account. Otherwise the batch leaves out their payments and a file lists them.",
  taxKey: (rate: string) => `Tax key for ${rate}`,
  taxKeyReason:
    "Optional BU-Schlüssel. Leave it empty if your accounts compute input tax themselves (Automatikkonten).",
  accounts: "Expense accounts",
  accountsReason: "One account for each category. Several categories may share an account.",
  missing: (categories: Child, clearing: string | undefined) => (
    <>
      Categories without an account: {categories}. {clearing
        ? `Their payments are booked on account ${clearing} and listed in a file.`
        : "Their payments are left out of the batch and listed in a file."}
    </>
  ),
  archived: (name: string) => `${name} (archived)`,
  save: "Save the accounts",
  unset: "Nobody has set the accounts yet.",
  readOnly: "The owner and managers can change these accounts.",
  none: "None",
  back: "Back to the export",
};

const REMARKS: DatevWords["remarks"] = {
  no_account: "Left out: its category has no account",
  no_value: "Left out: it has no value in the main currency yet",
  amount: "Left out: DATEV takes no such amount",
  clearing: "On the clearing account: its category has no account",
  tax: "Booked without a tax key: no key fits its tax",
};

export const datevFiles: DatevWords = {
  remarks: REMARKS,
  about: ({ booked, counterAccount, clearing, remarks, categories }) =>
    [
      `${count(booked, "booking")} for DATEV, against account ${counterAccount}.`,
      "Each file EXTF_Buchungsstapel_<month>.csv is a batch to import. Amounts are in the main currency; foreign " +
      "amounts, documents and ids are in the additional information of a booking.",
      ...remarks.map(({ remark, count: payments }) => `${REMARKS[remark]}: ${count(payments, "payment")}.`),
      ...(categories.length > 0
        ? [
          `Categories without an account: ${categories.map(({ name, count }) => `${name} (${count})`).join(", ")}. ` +
          (clearing ? `Their payments are on account ${clearing}.` : "Their payments are not in the batch."),
        ]
        : []),
      ...(remarks.length > 0 ? ["remarks.csv lists these payments."] : []),
      "",
    ].join("\r\n"),
};
