/** @jsxImportSource hono/jsx */
/** The export page, and the descriptions of the files in the archive. */
import type { Child } from "hono/jsx";

export const exportBooks = {
  title: "Export",
  heading: (organization: Child) => <>Export the books of {organization}</>,
  lead: "Your data is yours: take it with you, keep a copy, or pass it to your accountant.",
  payments: "For your accountant",
  paymentsAbout:
    "Every payment in a period as a CSV file: date, payee, category, net, tax and gross, and what it’s worth in your main currency. Refunds are negative. Net and tax are empty where no tax was noted. The folder adds the same for Beancount and hledger, a DATEV batch for each month once its accounts are set, and the documents with an index.",
  openMonths: "Include months that aren’t closed yet",
  downloadFolder: "Download folder",
  notClosed: (closed: Child) => (
    <>
      {closed ? <>The books are closed through {closed} only</> : "No month of the books is closed"}, so amounts of this
      period can still change. Close its months first, or tick the box above the button.
    </>
  ),
  period: "Period",
  periods: {
    this_month: "This month",
    last_month: "Last month",
    this_quarter: "This quarter",
    last_quarter: "Last quarter",
    this_year: "This year",
    last_year: "Last year",
  },
  from: "First day",
  to: "Last day",
  daysReason: "For any other period, fill in both days. They replace the period above.",
  downloadPayments: "Download CSV",
  datev: "DATEV accounts",
  datevUnset: "Nobody has set the accounts yet, so the folder has no DATEV batch.",
  datevSet: (chart: string, paidFrom: string) =>
    `The folder has a DATEV batch for each month: SKR${chart}, booked against account ${paidFrom}.`,
  setDatev: "Set the DATEV accounts",
  changeDatev: "Change the DATEV accounts",
  showDatev: "Show the DATEV accounts",
  noPayments: (first: Child, last: Child) => (
    <>There are no payments from {first} to {last}, so there is nothing to download. Choose another period.</>
  ),
  everything: "Everything",
  everythingAbout:
    "One ZIP file with expenses, bills, due dates, payments, categories, budgets, payee rules, statements, documents, exchange rates, members, settings and changes. Each comes as CSV for spreadsheets and as JSON Lines for programs, with a README and a schema.",
  everythingHow:
    "It doesn’t include passwords, keys or anything deleted. Large books take a minute. If the download stops, start it again.",
  downloadEverything: "Download everything",
  seen: "The files contain what you’re allowed to see, not what others keep private.",
};

export const exportRefusals = {
  refused: {
    title: "You can’t export these books",
    message: "The owner, managers and viewers can. Your assistant can still give you a CSV of the expenses you see.",
  },
  unknown: {
    title: "There’s nothing to export here",
    message: "You’re not in that organization, or the address is wrong.",
  },
};

interface ReadmeFacts {
  organization: string;
  madeAt: string;
  files: readonly { name: string; about: string }[];
}

const ABOUT = {
  settings: "The organization: its main currency, time zone and plan",
  members: "Members, their roles, and when they joined",
  categories: "Categories of spending",
  expenses: "One-off expenses. Their amounts are in payments",
  bills: "Recurring bills: their amounts, schedules and reminders",
  occurrences: "Due dates of bills: expected, then paid or skipped",
  payments: "Every payment and refund: the basis of all totals",
  settlements: "Money that members gave each other for shared costs",
  documents: "Invoices and receipts, what was read from them, and what they belong to. The files are in documents/",
  payee_rules: "Which payee belongs in which category",
  budgets: "Monthly and yearly limits on spending",
  accounts: "Accounts and cards with imported statements",
  balances: "Balances of accounts at the end of a day, from a statement or a person",
  incomes: "Money received, and rules for recurring income. Totals of spending exclude it",
  statement_lines: "Lines of those statements, each with its payment",
  provider_links: "Bills whose amounts come from a provider. Keys are not exported",
  provider_statements: "Monthly amounts that providers reported",
  exchange_rates: "Exchange rates used for payments",
  changes: "Every change: who made it, with which app, and its facts",
};

export const exportFiles = {
  /** The descriptions of parts, in schema.json and the README. */
  files: ABOUT,
  readme: ({ organization, madeAt, files }: ReadmeFacts): string =>
    `The books of ${organization}
Exported on ${madeAt}

FILES

Each of these comes twice: as .jsonl, with one JSON object on each line, and as .csv.

${files.map(({ name, about }) => `  ${name.padEnd(20)} ${about}.`).join("\n")}

  schema.json          A JSON Schema of each kind of record.
  manifest.json        How many records each file has, and when the export began and ended.
                       If it is missing, the download broke off: export again.

AMOUNTS

Amounts are decimals in units of their currency, such as 14.50 EUR or 1200 JPY, never cents. In JSON they are
strings, so that no digit is lost. A refund is negative, and so is a statement line for money that came in. A
missing value is null in JSON and empty in CSV.

In CSV, text that a spreadsheet would run as a formula begins with an apostrophe. Lists are joined by semicolons,
and objects are JSON.

DATES

A day is YYYY-MM-DD, in the time zone that settings names. A point in time is ISO 8601 with its offset from UTC.

TOTALS

Payments are the basis of every total, including those your assistant tells you. To add up
several currencies, use base_amount: what the payment was worth in the main currency on its day, at the bank's
charge or else at the rate beside it. It is empty while no rate is known, and such a payment is in no total of the
main currency. It may still change slightly while is_final is false.

amount is what was paid, tax included; net is amount less tax, where tax was noted. A reimbursement does not
make an amount smaller: the money that came back is a refund of its own. The parts of a split payment share a
split_id, and each is a payment. share_percent of a bill is information: payments have the full amount.

ONE MOMENT

The books are read page by page, so a change made during the export may be in one file and not in another. If
manifest.json says changed_meanwhile, export again for a copy of one moment. Each line of payments has been read in
one step, with its expense or bill, category and value.

WHAT IS NOT IN IT

Deleted records, uploaded files, keys and other credentials, and whatever your role doesn't let you see.
`,
};
