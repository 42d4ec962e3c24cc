/** A document's facts about a payment. Uncertain facts are absent. */
import * as z from "zod/mini";
import type { Layout } from "./text/places.ts";
import { type RefusalFacts, Said } from "../words/message.ts";

/** A decimal string with all decimals of the document's currency. */
const Amount = z.string();
/** YYYY-MM-DD. */
const Day = z.string();

const Tax = z.object({
  /** In percent, without trailing zeros: "19", "7.7", "0". */
  rate: z.string(),
  net: Amount,
  tax: Amount,
});

export const DocumentFacts = z.object({
  kind: z.enum(["invoice", "credit_note", "receipt", "reminder", "other"]),
  /** The source of the facts; "image": the reader extracted nothing. */
  format: z.enum(["ubl", "cii", "fatturapa", "pdf", "mail", "image"]),
  /** The seller, under the registered name. */
  payee: z.optional(z.string()),
  payee_tax_id: z.optional(z.string()),
  /** The id that the payee gave its customer. */
  customer_number: z.optional(z.string()),
  number: z.optional(z.string()),
  issued_on: z.optional(Day),
  due_on: z.optional(Day),
  /** The period of delivery or service, both days included. */
  period: z.optional(z.object({ from: z.optional(Day), to: z.optional(Day) })),
  /** ISO 4217. */
  currency: z.optional(z.string()),
  /**
   * A credit note's amounts are positive, although the payee owes them. Amounts that do not add up to the cent are
   * absent, and a question reports them.
   */
  net: z.optional(Amount),
  taxes: z.optional(z.array(Tax)),
  gross: z.optional(Amount),
  /** The amount due after prepayments and rounding; zero if paid, negative if overpaid. */
  payable: z.optional(Amount),
  /** Without spaces, with a valid checksum. */
  iban: z.optional(z.string()),
  /** ISO 11649 or a Swiss QR reference, without spaces, with a valid checksum. */
  creditor_reference: z.optional(z.string()),
  questions: z.array(Said),
});
export type DocumentFacts = z.infer<typeof DocumentFacts>;

/** One document of a file: the file itself, or an attachment of a mail. */
export interface ReadDocument {
  /** The name of the file. */
  name: string;
  /** The media type according to the content, whatever the file's name. */
  type: string;
  bytes: Uint8Array;
  /** The facts, or the reason for a refusal. */
  facts?: DocumentFacts;
  /** Places that may contain the missing facts. */
  layout?: Layout;
  refusal?: RefusalFacts;
}
