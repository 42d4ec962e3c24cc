/** Words of `attach_document` and `list_documents`. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import { findWords } from "../codes.ts";
import type { Refusal } from "../message.ts";
import { documentRefusals, doubts } from "./documents.ts";
import { and, count } from "./phrases.ts";

/** Why a file is not stored. @param reason its code */
const refused = ({ reason, ...params }: { reason: string }): string =>
  findWords(documentRefusals, reason, () => "It is not an invoice or a receipt that can be read.")(params);

/** The limits that a refusal code does not name. */
const LIMITS: Record<string, Record<string, number>> = {
  "invalid_argument.document_too_large": { most_mb: 10 },
  "invalid_argument.document_pdf_long": { most: 200 },
  "invalid_argument.document_mail_complex": { most: 20 },
};

/** Why a mail's attachment is not stored. */
const notKept = (reason: string): string =>
  reason === "document_quota"
    ? "The documents use all the storage in the plan."
    : refused({ reason, ...LIMITS[reason] });

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
    hint: "Change the plan, or delete records that are not needed: their documents are deleted after 30 days.",
  }),
  "invalid_argument.document_not_named": (): Refusal => ({
    message: "No document was named.",
    hint: "Give document_id; list_documents has the ids.",
  }),
  "invalid_argument.file_and_document_id": (): Refusal => ({
    message: "file adds a new document, and document_id names a stored one.",
    hint: "Give one of them.",
  }),
  "invalid_argument.file_address": (): Refusal => ({
    message: "This address is not one of the file hosts that the service knows. Nothing was stored.",
    hint: "Call attach_document without arguments, and give the user the link to upload.",
  }),
  "invalid_argument.file_not_fetched": (): Refusal => ({
    message: "The file could not be downloaded; its address may have expired. Nothing was stored.",
    hint: "Call again with the file, or without arguments for a link to upload it.",
  }),
  "invalid_argument.document_refused": (facts: { reason: string }): Refusal => ({
    message: `Nothing was stored. ${refused(facts)}`,
    hint: Object.hasOwn(documentRefusals, facts.reason)
      ? "Tell the user; they can attach the repaired file here."
      : "A bank's statement belongs to import_expenses.",
  }),
};

export const warnings = {
  "documents_more": ({ shown, count: all }: { shown: number; count: number }): string =>
    `Only the newest ${shown} of ${all} documents are listed. Narrow them with query or is_filed.`,
  "mails_waiting": ({ count: mails }: { count: number }): string =>
    `${count(mails, "email")} ${mails === 1 ? "waits" : "wait"} until this user accepts or blocks the sender on the ` +
    "organization's mail page; this list leaves out their contents.",
  "mails_not_kept": ({ count: mails, reasons = [] }: { count: number; reasons?: string[] }): string =>
    `${count(mails, "email")} of the last 3 days could not be stored, or only in part. ${
      [...new Set(reasons.map((reason) => notKept(reason)))].join(" ")
    }`,
  "document_left_out": ({ name, ...facts }: { name: string; reason: string }): string =>
    `"${name}" was not stored. ${refused(facts)}`,
  "document_not_attached": (
    { name, document_id, reason }: { name: string; document_id: string; reason: string },
  ): string =>
    `"${name}" is stored as ${document_id}, but not attached${
      reason === "awaiting_approval"
        ? " yet: its amount needs approval."
        : ". Call attach_document with document_id to see why."
    }`,
  "document_place_unused": ({ fields }: { fields: string[] }): string =>
    `${and(fields)} ${fields.length === 1 ? "was" : "were"} not used, because the file has several documents.`,
  "iban_changed": ({ payee, iban, was }: { payee?: string; iban: string; was: string }): string =>
    `ALERT: this document${
      payee ? ` of ${payee}` : ""
    } asks for payment to a different account than earlier ones: ${iban} instead of ${was}. Such a ` +
    "change is a common kind of fraud. Tell the user at once, before anything is paid, to call the payee on a known number.",
};

export const documents = {
  doubts,
  /** The next step, by state. */
  hints: {
    filed: "It is attached.",
    copy: "It is attached as a copy of the document in copy_of: the same invoice.",
    differs: "Its amount differs from its record's, which was not changed. Tell the user both amounts and ask which " +
      "is right; there may be two invoices for one date.",
    deleted: "Its record was deleted, and it will be deleted with it after 30 days. Tell the user; undo_change " +
      "restores the record, and attach_document moves the document to another one.",
    question: "Ask the user which candidate it belongs to, then call attach_document with to: its id, or none.",
    new:
      "Nothing that this user sees in the books matches. Ask whether to record it as proposal says, then attach it " +
      "to the new id.",
    partial: "Too little could be read to find its record or to add one. Do not assume that it is new: look with " +
      "list_expenses and list_bills, ask the user, then call attach_document with to.",
    unread: "Nothing could be read from it. Ask the user what it belongs to, then call attach_document with to.",
  },
  /** @param facts the days of confirmation, by fact */
  remembered: (facts: Record<string, string>): string =>
    `Found by labels that a person confirmed: ${
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
