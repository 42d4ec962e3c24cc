/** Doubts about a document, and reasons to refuse a file. */

/** Keyed by check of `shared/documents/invoice/settle.ts`. */
const CHECKS: Record<string, string> = {
  line: "a line",
  lines: "the sum of its lines",
  allowances: "its allowances",
  charges: "its charges",
  rate: "a tax rate",
  tax_net: "an amount before tax",
  tax: "its tax",
  taxes: "its tax",
  net: "its total before tax",
  gross: "its total",
  prepaid: "what was paid before",
  payable: "what is left to pay",
};

/** Keyed by code of `DocumentFacts.questions`. */
export const doubts = {
  totals_differ: (
    { check, written, computed }: { check?: string; written?: string; computed?: string },
  ): string =>
    `${sentence(CHECKS[check ?? ""] ?? "an amount")} ${
      written && computed ? `says ${written}, but adds up to ${computed}` : "is missing or unreadable"
    }. No amount was taken from this document: ask the sender.`,
  totals_unclear: ({ amounts }: { amounts?: string[] }): string =>
    `It names several totals${amounts ? `: ${amounts.join(", ")}` : ""}. None was used; check the document.`,
  currency_unclear: ({ currencies }: { currencies?: string[] }): string =>
    currencies && currencies.length > 1
      ? `Its amounts are in several currencies: ${currencies.join(", ")}. None was used; check the document.`
      : "Its currency is not certain, so no amount was taken: look at the document.",
  paid_to_other: ({ name }: { name?: string }): string =>
    `The payment goes to somebody other than the seller: ${name}. Check that this is right before you pay.`,
  several_due_dates: ({ days }: { days?: string[] }): string =>
    `It names several due dates: ${(days ?? []).join(", ")}. Look at the document.`,
  several_ibans: ({ ibans }: { ibans?: string[] }): string =>
    `It names several accounts: ${(ibans ?? []).join(", ")}. Look at the document before you pay.`,
  several_invoices: ({ count }: { count?: number }): string =>
    `The file has ${count} invoices, so none was read. Upload each as a separate file.`,
  credit_note_negative: ({ gross }: { gross?: string }): string =>
    `It is a credit note for a negative amount, ${gross}. Ask the sender whether you have to pay or get money back.`,
};

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** Why a file is not stored, and the next step, by code. */
export const documentRefusals = {
  "invalid_argument.document_too_large": ({ most_mb }: { most_mb: number }): string =>
    `This file is larger than ${most_mb} MB. Scan it again with fewer colors, or split it.`,
  "invalid_argument.document_pdf_encrypted": (): string =>
    "This PDF is protected by a password. Open it, print it into a new PDF, and upload that one.",
  "invalid_argument.document_pdf_active": (): string =>
    "This PDF contains a script or a program, which an invoice never needs. If you know who sent it, open it in a browser, print it into a new PDF, and upload that one.",
  "invalid_argument.document_pdf_complex": (): string =>
    "This PDF unpacks to more than an invoice can hold. Print the pages that you need into a new PDF, and upload that one.",
  "invalid_argument.document_pdf_long": ({ most }: { most: number }): string =>
    `This PDF has more than ${most} pages. Print the pages that you need into a new PDF, and upload that one.`,
  "invalid_argument.document_pdf_broken": (): string =>
    "This PDF is damaged. Download it again, or print it into a new PDF and upload that one.",
  "invalid_argument.document_winmail": (): string =>
    "This is Outlook’s winmail.dat, which only Outlook can open. Ask the sender for the invoice as a PDF, or forward the mail from Outlook in HTML format.",
  "invalid_argument.document_archive": (): string =>
    "This is an archive or an office document, which we can’t open. Unpack it, or save it as PDF, and upload that.",
  "invalid_argument.document_mail_complex": ({ most }: { most: number }): string =>
    `This mail has more than ${most} attachments, many mails within it, or a very long text. Save the invoices from it, and upload those.`,
};
