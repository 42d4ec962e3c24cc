/** Words of `attach_document` and `list_documents`. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Refusal } from "../message.ts";
import { doubts } from "./documents.ts";

export const refusals = {
  "not_found.document": ({ id }: { id: string }): Refusal => ({
    message: `There is no document ${id}.`,
    hint: "list_documents lists the documents.",
  }),
  "not_found.document_target": ({ id }: { id: string }): Refusal => ({
    message: `There is no expense, bill or payment ${id}.`,
    hint: "list_expenses and list_bills have the ids.",
  }),
  "document_quota": (): Refusal => ({
    message: "This organization's documents use all the storage that its plan includes, so this one was not stored.",
    hint: "Delete unneeded documents on the documents page, or change the plan.",
  }),
  "invalid_argument.document_not_named": (): Refusal => ({
    message: "No document was named.",
    hint: "Give document_id; list_documents has the ids.",
  }),
};

export const warnings = {
  "iban_changed": ({ payee, iban, was }: { payee: string; iban: string; was: string }): string =>
    `ALERT: this document of ${payee} asks for payment to a different account than earlier ones: ${iban} instead of ${was}. Such a ` +
    "change is a common kind of fraud. Tell the user at once, before anything is paid, to call the payee on a known number.",
};

export const documents = {
  doubts,
  /** The next step, by state. */
  hints: {
    filed: "It is attached.",
    question: "Ask the user which candidate it belongs to, then call attach_document with to: its id, or none.",
    new: "Nothing in the books matches. Ask whether to record it as proposal says, then attach it to the new id.",
    unread: "Nothing could be read from it. Ask the user what it belongs to, then call attach_document with to.",
  },
  /** @param facts the days of confirmation, by fact */
  remembered: (facts: Record<string, string>): string =>
    `Read by labels that a person confirmed: ${
      Object.entries(facts).map(([fact, day]) => `${fact} (on ${day})`).join(", ")
    }.`,
  ibanAlert: "The account to pay differs from earlier documents of this payee. Tell the user before anything is paid.",
};

export const changes = {
  attach_document: (
    { document, to, due_on, said }: { document: string; to?: string; due_on?: string; said?: unknown },
    { date }: EffectFormat = DATA_FORMAT,
  ): string =>
    to
      ? `Attached document ${document} to ${to}${due_on ? ` due ${date(due_on)}` : ""}`
      : said
      ? `Recorded facts of document ${document}`
      : `Recorded which records document ${document} does not belong to`,
};
