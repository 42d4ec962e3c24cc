/** @jsxImportSource hono/jsx */
/** Uploaded invoices and receipts. */
import type { Child } from "hono/jsx";
import { documentRefusals, doubts } from "../documents.ts";
import { count } from "../phrases.ts";

interface Reasons {
  [code: string]: ((params: never) => string) | undefined;
}

/** Why a document was not stored. */
export const noRoom =
  "This organization’s documents use all the storage in its plan, so this one wasn’t saved. Change the " +
  "plan, or delete records you don’t need: their documents are deleted after 30 days.";

export const documents = {
  title: "Document",
  takenTitle: (kept: number): string => kept === 0 ? "No document was saved" : `${count(kept, "document")} received`,
  takenLead: (organization: Child) => <>For {organization}. Nothing was paid.</>,
  more: "Upload more",
  open: "Open this document",
  toBooks: "Back to the books",
  download: "Download the file",
  addedOn: (day: Child, by?: Child) => (by ? <>Added on {day} by {by}</> : <>Added on {day}</>),
  payee: "From",
  number: "Number",
  amount: "To pay",
  issuedOn: "Dated",
  dueOn: "Due",
  belongsTo: "Belongs to",
  due: (day: Child) => <>due {day}</>,
  states: {
    filed: "",
    question: "Not decided yet",
    new: "Nothing that you see in the books matches it. Your assistant can record or attach it.",
    unread: "Nothing could be read from it. Your assistant can attach it.",
  },
  /** Why a document is not attached. */
  short: {
    filed: "",
    question: "Needs your answer",
    new: "Matches nothing in your books",
    unread: "Nothing could be read",
  },
  question: "Which of these does it belong to?",
  noneOfThese: "None of these",
  takeOff: "Detach",
  missing: {
    lead: "Some facts could not be read with certainty. If you choose them here, the next document from this sender " +
      "will be read the same way.",
    none: "Leave empty",
    save: "Save",
  },
  remembered: (day: Child) => <>(found by a label confirmed on {day})</>,
  ibanChanged: (payee: Child | undefined, iban: Child, was: Child) => (
    <>
      <strong>Stop before you pay.</strong> {payee ?? "This document"} now asks to be paid into a different account:
      {" "}
      {iban}, not {was} as before. This is a common kind of fraud. Call them on a number that you already have.
    </>
  ),
  /** The state of the document's record. */
  recordDeleted:
    "Its record was deleted, and this document will be deleted with it after 30 days, unless you detach it here.",
  differs: (amount: string): string =>
    `Its record says ${amount}, which was not changed. If both are right, two invoices are due.`,
  copyOf: (link: Child) => <>This is the same invoice as {link}.</>,
  refused: "That didn’t work: the books have changed since, or you can’t change them.",
  doubtful: "Something in this document doesn’t add up. Check it before you pay.",
  /** The amounts that do not add up, by code. */
  doubts: doubts as Reasons,
  unreadable: "This file can’t be read, so it wasn’t saved. Statements are uploaded one by one.",
  /** Why a file was not stored, by code. */
  refusals: { ...documentRefusals, document_quota: () => noRoom } as Reasons,
};
