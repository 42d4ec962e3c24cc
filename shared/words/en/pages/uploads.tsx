/** @jsxImportSource hono/jsx */
/** The page that accepts a bank's file, and its report about the file. */
import type { Child } from "hono/jsx";
import { effects, refusals } from "../import_expenses.ts";
import { leftOut } from "../left_out.ts";
import { count } from "../phrases.ts";

export const upload = {
  title: "Upload a statement or documents",
  lead: (organization: Child) => (
    <>
      It goes to the books of{" "}
      {organization}. Nothing is paid. Documents are attached if their bill or payment is certain. Your assistant shows
      you what it found in a statement, and adds nothing until you agree.
    </>
  ),
  label: "One file from your bank, or invoices and receipts",
  how: "Drop them here or choose them. On a phone, save them to the device first.",
  formats: "From your bank: CSV, TSV, Excel (XLSX), OFX, QFX, QIF, MT940, or camt.052, 053 or 054, from any bank",
  documents:
    "Invoices and receipts: PDF, pictures (JPEG, PNG, HEIC), saved emails (EML), or e-invoices in XML, including inside a PDF (ZUGFeRD, Factur-X). Up to 20 at once, 25 MB in total",
  sizes: "Up to 10 MB per file. One statement per link, up to 50,000 rows",
  kept:
    "Your assistant never gets the file itself, only what was read from it. We delete a statement within a day and keep invoices and receipts with your books.",
  submit: "Upload",
  sending: "Uploading…",
  reading: "Uploaded. Reading it now…",
  broken: "It couldn’t be sent. Press Upload to try again.",
};

/** Why a file was not accepted. */
export const uploadFailures = {
  chooseAnother: "Nothing was saved. Choose a file to try again.",
  noFile: "No file was chosen.",
  unreadable: "This file can’t be read.",
  /** Keyed by code, like the tool's answer about a file's text. */
  reasons: refusals,
};

export const uploaded = {
  underWayTitle: "Your file is uploaded",
  readTitle: "We’ve read your file",
  committedTitle: "This file is in your books",
  say: "Go back to your assistant and say: “It’s uploaded.”",
  another: "To send another file, ask your assistant for a new link.",
  /** @param part "40%" */
  progress: (part: string): string => `${part} read and compared with your books.`,
  /** For browsers without scripts, whose users must continue by hand. */
  orHere: "Your assistant continues from there, or you can continue here.",
  asksFirst: "Your assistant has a question before we can read it.",
  noneReadable: "None of its rows can be read. Ask your assistant why.",
  allClosed: (first: string, last: string): string =>
    `All its rows are from ${first === last ? first : `${first} to ${last}`}, and ${
      first === last ? "that month is" : "those months are"
    } closed in your books, so nothing can be added. Your assistant can say who may reopen ${
      first === last ? "it" : "them"
    }.`,
  goOn: "Continue",
  file: "File",
  organization: "Organization",
  account: "Account",
  expenses: "New expenses",
  period: "Period",
  days: (first: Child, last: Child) => <>{first} to {last}</>,
  total: "Total",
  pays: (bills: number): string => `Pays ${count(bills, "bill")}`,
  corrects: (estimates: number): string => `Corrects ${count(estimates, "estimate")}`,
  removes: (transfers: number): string => `Removes ${count(transfers, "transfer")}`,
  effects,
  known: "In your books already",
  leftOut: "Left out",
  kinds: leftOut,
  unreadable: "Can’t be read",
  rows: (rows: number, shown: string): string => count(rows, "row", undefined, shown),
  questions: "Questions",
  asks: (questions: number, shown: string): string => count(questions, "question", undefined, shown),
  first: "First expenses",
  refund: "refund",
};

export const uploadRefusals = {
  unknown: {
    title: "This link doesn’t work",
    message: "It’s more than 30 minutes old, or it’s for somebody else. Ask your assistant for a new one.",
  },
  refused: {
    title: "You can’t add files there now",
    message: "You’re no longer in that organization, or its plan doesn’t include connecting an assistant.",
  },
  used: {
    title: "This link has already been used",
    message: "A link takes one file, so this one wasn’t read. To send it too, ask your assistant for a new link.",
  },
  seeRead: "See what was read",
};
