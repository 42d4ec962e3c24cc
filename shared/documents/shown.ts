/** A document in the form that `app.describe_document` returns to pages. */
import * as z from "zod/mini";
import { Said } from "../words/message.ts";

const Text = z.optional(z.string());

export const ShownDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  added_on: z.string(),
  added_by: Text,
  state: z.enum(["filed", "question", "new", "unread"]),
  read: z.object({
    payee: Text,
    number: Text,
    issued_on: Text,
    due_on: Text,
    gross: Text,
    payable: Text,
    currency: Text,
    iban: Text,
  }),
  /** The facts found beside labels that a person confirmed, with the day. */
  remembered: z.optional(z.record(z.string(), z.string())),
  doubts: z.optional(z.array(Said)),
  filed: z.optional(z.object({ id: z.string(), name: z.string(), due_on: Text })),
  record: z.optional(z.object({
    status: Text,
    amount: Text,
    currency: Text,
    paid_on: Text,
    differs: z.optional(z.boolean()),
  })),
  copy_of: z.optional(z.object({ id: z.string(), name: z.string() })),
  candidates: z.optional(z.array(z.object({
    id: z.string(),
    name: z.string(),
    due_on: Text,
    date: Text,
    amount: Text,
    currency: Text,
  }))),
  iban_was: Text,
  /** Labeled values that may be its missing facts; only on its own page. */
  places: z.optional(z.nullable(z.record(
    z.string(),
    z.array(z.object({ label: z.string(), value: z.string(), currency: Text })),
  ))),
});
export type ShownDocument = z.infer<typeof ShownDocument>;
